; 149 instructions, 909 bytes, 0 spills, 0 of them in inner loops
0000  vpxor ymm0,ymm0,ymm0
0004  vpxor ymm1,ymm1,ymm1
0008  vpxor ymm2,ymm2,ymm2
000c  vpxor ymm3,ymm3,ymm3
0010  vpxor ymm4,ymm4,ymm4
0014  vpxor ymm5,ymm5,ymm5
0018  vpxor ymm6,ymm6,ymm6
001c  vpxor ymm7,ymm7,ymm7
0020  vpxor ymm8,ymm8,ymm8
0025  vpxor ymm9,ymm9,ymm9
002a  vpxor ymm10,ymm10,ymm10
002f  vpxor ymm11,ymm11,ymm11
0034  mov rax,[rdi]
0037  mov rcx,[rdi+8]
003b  test rcx,rcx
003e  jle near 340h
0044  nop word [rax+rax]
004d  nop word [rax+rax]
0056  nop word [rax+rax]
005f  nop word [rax+rax]
0068  nop word [rax+rax]
0071  nop word [rax+rax]
007a  nop word [rax+rax]
0080  mov rdx,[rax]
0083  mov rsi,[rax+8]
0087  add rax,10h
008b  mov r8,[rdi+10h]
008f  test r8,r8
0092  jle near 29Ah
0098  nop word [rax+rax]
00a1  nop word [rax+rax]
00aa  nop word [rax+rax]
00b3  nop word [rax+rax]
00bc  nop dword [rax]
00c0  vmovups ymm12,[rsi]
00c4  vmovups ymm13,[rsi+20h]
00c9  vmovups ymm14,[rsi+40h]
00ce  vpbroadcastd ymm15,[rdx]
00d3  vpdpbusd ymm0,ymm15,ymm12
00d8  vpdpbusd ymm1,ymm15,ymm13
00dd  vpdpbusd ymm2,ymm15,ymm14
00e2  vpbroadcastd ymm15,[rdx+400h]
00eb  vpdpbusd ymm3,ymm15,ymm12
00f0  vpdpbusd ymm4,ymm15,ymm13
00f5  vpdpbusd ymm5,ymm15,ymm14
00fa  vpbroadcastd ymm15,[rdx+800h]
0103  vpdpbusd ymm6,ymm15,ymm12
0108  vpdpbusd ymm7,ymm15,ymm13
010d  vpdpbusd ymm8,ymm15,ymm14
0112  vpbroadcastd ymm15,[rdx+0C00h]
011b  vpdpbusd ymm9,ymm15,ymm12
0120  vpdpbusd ymm10,ymm15,ymm13
0125  vpdpbusd ymm11,ymm15,ymm14
012a  vmovups ymm12,[rsi+60h]
012f  vmovups ymm13,[rsi+80h]
0137  vmovups ymm14,[rsi+0A0h]
013f  vpbroadcastd ymm15,[rdx+4]
0145  vpdpbusd ymm0,ymm15,ymm12
014a  vpdpbusd ymm1,ymm15,ymm13
014f  vpdpbusd ymm2,ymm15,ymm14
0154  vpbroadcastd ymm15,[rdx+404h]
015d  vpdpbusd ymm3,ymm15,ymm12
0162  vpdpbusd ymm4,ymm15,ymm13
0167  vpdpbusd ymm5,ymm15,ymm14
016c  vpbroadcastd ymm15,[rdx+804h]
0175  vpdpbusd ymm6,ymm15,ymm12
017a  vpdpbusd ymm7,ymm15,ymm13
017f  vpdpbusd ymm8,ymm15,ymm14
0184  vpbroadcastd ymm15,[rdx+0C04h]
018d  vpdpbusd ymm9,ymm15,ymm12
0192  vpdpbusd ymm10,ymm15,ymm13
0197  vpdpbusd ymm11,ymm15,ymm14
019c  vmovups ymm12,[rsi+0C0h]
01a4  vmovups ymm13,[rsi+0E0h]
01ac  vmovups ymm14,[rsi+100h]
01b4  vpbroadcastd ymm15,[rdx+8]
01ba  vpdpbusd ymm0,ymm15,ymm12
01bf  vpdpbusd ymm1,ymm15,ymm13
01c4  vpdpbusd ymm2,ymm15,ymm14
01c9  vpbroadcastd ymm15,[rdx+408h]
01d2  vpdpbusd ymm3,ymm15,ymm12
01d7  vpdpbusd ymm4,ymm15,ymm13
01dc  vpdpbusd ymm5,ymm15,ymm14
01e1  vpbroadcastd ymm15,[rdx+808h]
01ea  vpdpbusd ymm6,ymm15,ymm12
01ef  vpdpbusd ymm7,ymm15,ymm13
01f4  vpdpbusd ymm8,ymm15,ymm14
01f9  vpbroadcastd ymm15,[rdx+0C08h]
0202  vpdpbusd ymm9,ymm15,ymm12
0207  vpdpbusd ymm10,ymm15,ymm13
020c  vpdpbusd ymm11,ymm15,ymm14
0211  vmovups ymm12,[rsi+120h]
0219  vmovups ymm13,[rsi+140h]
0221  vmovups ymm14,[rsi+160h]
0229  vpbroadcastd ymm15,[rdx+0Ch]
022f  vpdpbusd ymm0,ymm15,ymm12
0234  vpdpbusd ymm1,ymm15,ymm13
0239  vpdpbusd ymm2,ymm15,ymm14
023e  vpbroadcastd ymm15,[rdx+40Ch]
0247  vpdpbusd ymm3,ymm15,ymm12
024c  vpdpbusd ymm4,ymm15,ymm13
0251  vpdpbusd ymm5,ymm15,ymm14
0256  vpbroadcastd ymm15,[rdx+80Ch]
025f  vpdpbusd ymm6,ymm15,ymm12
0264  vpdpbusd ymm7,ymm15,ymm13
0269  vpdpbusd ymm8,ymm15,ymm14
026e  vpbroadcastd ymm15,[rdx+0C0Ch]
0277  vpdpbusd ymm9,ymm15,ymm12
027c  vpdpbusd ymm10,ymm15,ymm13
0281  vpdpbusd ymm11,ymm15,ymm14
0286  add rdx,10h
028a  add rsi,180h
0291  dec r8
0294  jne near 0C0h
029a  mov r8,[rdi+18h]
029e  test r8,r8
02a1  jle near 337h
02a7  nop word [rax+rax]
02b0  nop word [rax+rax]
02b9  nop dword [rax]
02c0  vmovups ymm12,[rsi]
02c4  vmovups ymm13,[rsi+20h]
02c9  vmovups ymm14,[rsi+40h]
02ce  vpbroadcastd ymm15,[rdx]
02d3  vpdpbusd ymm0,ymm15,ymm12
02d8  vpdpbusd ymm1,ymm15,ymm13
02dd  vpdpbusd ymm2,ymm15,ymm14
02e2  vpbroadcastd ymm15,[rdx+400h]
02eb  vpdpbusd ymm3,ymm15,ymm12
02f0  vpdpbusd ymm4,ymm15,ymm13
02f5  vpdpbusd ymm5,ymm15,ymm14
02fa  vpbroadcastd ymm15,[rdx+800h]
0303  vpdpbusd ymm6,ymm15,ymm12
0308  vpdpbusd ymm7,ymm15,ymm13
030d  vpdpbusd ymm8,ymm15,ymm14
0312  vpbroadcastd ymm15,[rdx+0C00h]
031b  vpdpbusd ymm9,ymm15,ymm12
0320  vpdpbusd ymm10,ymm15,ymm13
0325  vpdpbusd ymm11,ymm15,ymm14
032a  add rdx,4
032e  add rsi,60h
0332  dec r8
0335  jne short 2C0h
0337  dec rcx
033a  jne near 80h
0340  mov rax,[rdi+20h]
0344  mov rdi,[rdi+28h]
0348  vmovups [rax],ymm0
034c  vmovups [rax+20h],ymm1
0351  vmovups [rax+40h],ymm2
0356  add rax,rdi
0359  vmovups [rax],ymm3
035d  vmovups [rax+20h],ymm4
0362  vmovups [rax+40h],ymm5
0367  add rax,rdi
036a  vmovups [rax],ymm6
036e  vmovups [rax+20h],ymm7
0373  vmovups [rax+40h],ymm8
0378  add rax,rdi
037b  vmovups [rax],ymm9
037f  vmovups [rax+20h],ymm10
0384  vmovups [rax+40h],ymm11
0389  vzeroupper
038c  ret
