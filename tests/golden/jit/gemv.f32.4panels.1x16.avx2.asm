; 147 instructions, 872 bytes, 0 spills, 0 of them in inner loops
0000  vpxor ymm0,ymm0,ymm0
0004  vpxor ymm1,ymm1,ymm1
0008  vpxor ymm2,ymm2,ymm2
000c  vpxor ymm3,ymm3,ymm3
0010  vpxor ymm4,ymm4,ymm4
0014  vpxor ymm5,ymm5,ymm5
0018  vpxor ymm6,ymm6,ymm6
001c  vpxor ymm7,ymm7,ymm7
0020  mov rax,[rdi+8]
0024  mov rcx,[rdi+20h]
0028  mov rdx,[rdi]
002b  lea rsi,[rcx+rcx*2]
002f  mov r8,[rdi+38h]
0033  test r8,r8
0036  jle near 234h
003c  nop dword [rax]
0040  vmovups ymm8,[rax]
0044  vmovups ymm9,[rax+20h]
0049  vpbroadcastd ymm10,[rdx]
004e  vfmadd231ps ymm0,ymm10,ymm8
0053  vfmadd231ps ymm1,ymm10,ymm9
0058  vmovups ymm8,[rax+rcx]
005d  vmovups ymm9,[rax+rcx+20h]
0063  vpbroadcastd ymm10,[rdx]
0068  vfmadd231ps ymm2,ymm10,ymm8
006d  vfmadd231ps ymm3,ymm10,ymm9
0072  vmovups ymm8,[rax+rcx*2]
0077  vmovups ymm9,[rax+rcx*2+20h]
007d  vpbroadcastd ymm10,[rdx]
0082  vfmadd231ps ymm4,ymm10,ymm8
0087  vfmadd231ps ymm5,ymm10,ymm9
008c  vmovups ymm8,[rax+rsi]
0091  vmovups ymm9,[rax+rsi+20h]
0097  vpbroadcastd ymm10,[rdx]
009c  vfmadd231ps ymm6,ymm10,ymm8
00a1  vfmadd231ps ymm7,ymm10,ymm9
00a6  vmovups ymm8,[rax+40h]
00ab  vmovups ymm9,[rax+60h]
00b0  vpbroadcastd ymm10,[rdx+4]
00b6  vfmadd231ps ymm0,ymm10,ymm8
00bb  vfmadd231ps ymm1,ymm10,ymm9
00c0  vmovups ymm8,[rax+rcx+40h]
00c6  vmovups ymm9,[rax+rcx+60h]
00cc  vpbroadcastd ymm10,[rdx+4]
00d2  vfmadd231ps ymm2,ymm10,ymm8
00d7  vfmadd231ps ymm3,ymm10,ymm9
00dc  vmovups ymm8,[rax+rcx*2+40h]
00e2  vmovups ymm9,[rax+rcx*2+60h]
00e8  vpbroadcastd ymm10,[rdx+4]
00ee  vfmadd231ps ymm4,ymm10,ymm8
00f3  vfmadd231ps ymm5,ymm10,ymm9
00f8  vmovups ymm8,[rax+rsi+40h]
00fe  vmovups ymm9,[rax+rsi+60h]
0104  vpbroadcastd ymm10,[rdx+4]
010a  vfmadd231ps ymm6,ymm10,ymm8
010f  vfmadd231ps ymm7,ymm10,ymm9
0114  vmovups ymm8,[rax+80h]
011c  vmovups ymm9,[rax+0A0h]
0124  vpbroadcastd ymm10,[rdx+8]
012a  vfmadd231ps ymm0,ymm10,ymm8
012f  vfmadd231ps ymm1,ymm10,ymm9
0134  vmovups ymm8,[rax+rcx+80h]
013d  vmovups ymm9,[rax+rcx+0A0h]
0146  vpbroadcastd ymm10,[rdx+8]
014c  vfmadd231ps ymm2,ymm10,ymm8
0151  vfmadd231ps ymm3,ymm10,ymm9
0156  vmovups ymm8,[rax+rcx*2+80h]
015f  vmovups ymm9,[rax+rcx*2+0A0h]
0168  vpbroadcastd ymm10,[rdx+8]
016e  vfmadd231ps ymm4,ymm10,ymm8
0173  vfmadd231ps ymm5,ymm10,ymm9
0178  vmovups ymm8,[rax+rsi+80h]
0181  vmovups ymm9,[rax+rsi+0A0h]
018a  vpbroadcastd ymm10,[rdx+8]
0190  vfmadd231ps ymm6,ymm10,ymm8
0195  vfmadd231ps ymm7,ymm10,ymm9
019a  vmovups ymm8,[rax+0C0h]
01a2  vmovups ymm9,[rax+0E0h]
01aa  vpbroadcastd ymm10,[rdx+0Ch]
01b0  vfmadd231ps ymm0,ymm10,ymm8
01b5  vfmadd231ps ymm1,ymm10,ymm9
01ba  vmovups ymm8,[rax+rcx+0C0h]
01c3  vmovups ymm9,[rax+rcx+0E0h]
01cc  vpbroadcastd ymm10,[rdx+0Ch]
01d2  vfmadd231ps ymm2,ymm10,ymm8
01d7  vfmadd231ps ymm3,ymm10,ymm9
01dc  vmovups ymm8,[rax+rcx*2+0C0h]
01e5  vmovups ymm9,[rax+rcx*2+0E0h]
01ee  vpbroadcastd ymm10,[rdx+0Ch]
01f4  vfmadd231ps ymm4,ymm10,ymm8
01f9  vfmadd231ps ymm5,ymm10,ymm9
01fe  vmovups ymm8,[rax+rsi+0C0h]
0207  vmovups ymm9,[rax+rsi+0E0h]
0210  vpbroadcastd ymm10,[rdx+0Ch]
0216  vfmadd231ps ymm6,ymm10,ymm8
021b  vfmadd231ps ymm7,ymm10,ymm9
0220  add rdx,10h
0224  add rax,100h
022b  dec r8
022e  jne near 40h
0234  mov r8,[rdi+40h]
0238  test r8,r8
023b  jle near 2F3h
0241  nop word [rax+rax]
024a  nop word [rax+rax]
0253  nop word [rax+rax]
025c  nop word [rax+rax]
0265  nop word [rax+rax]
026e  nop word [rax+rax]
0277  nop word [rax+rax]
0280  vmovups ymm8,[rax]
0284  vmovups ymm9,[rax+20h]
0289  vpbroadcastd ymm10,[rdx]
028e  vfmadd231ps ymm0,ymm10,ymm8
0293  vfmadd231ps ymm1,ymm10,ymm9
0298  vmovups ymm8,[rax+rcx]
029d  vmovups ymm9,[rax+rcx+20h]
02a3  vpbroadcastd ymm10,[rdx]
02a8  vfmadd231ps ymm2,ymm10,ymm8
02ad  vfmadd231ps ymm3,ymm10,ymm9
02b2  vmovups ymm8,[rax+rcx*2]
02b7  vmovups ymm9,[rax+rcx*2+20h]
02bd  vpbroadcastd ymm10,[rdx]
02c2  vfmadd231ps ymm4,ymm10,ymm8
02c7  vfmadd231ps ymm5,ymm10,ymm9
02cc  vmovups ymm8,[rax+rsi]
02d1  vmovups ymm9,[rax+rsi+20h]
02d7  vpbroadcastd ymm10,[rdx]
02dc  vfmadd231ps ymm6,ymm10,ymm8
02e1  vfmadd231ps ymm7,ymm10,ymm9
02e6  add rdx,4
02ea  add rax,40h
02ee  dec r8
02f1  jne short 280h
02f3  mov rax,[rdi+10h]
02f7  mov rdi,[rdi+28h]
02fb  vaddps ymm0,ymm0,[rax]
02ff  vmovups [rax],ymm0
0303  vaddps ymm1,ymm1,[rax+20h]
0308  vmovups [rax+20h],ymm1
030d  vaddps ymm2,ymm2,[rax+40h]
0312  vmovups [rax+40h],ymm2
0317  vaddps ymm3,ymm3,[rax+60h]
031c  vmovups [rax+60h],ymm3
0321  vaddps ymm4,ymm4,[rax+80h]
0329  vmovups [rax+80h],ymm4
0331  vaddps ymm5,ymm5,[rax+0A0h]
0339  vmovups [rax+0A0h],ymm5
0341  vaddps ymm6,ymm6,[rax+0C0h]
0349  vmovups [rax+0C0h],ymm6
0351  vaddps ymm7,ymm7,[rax+0E0h]
0359  vmovups [rax+0E0h],ymm7
0361  add rax,rdi
0364  vzeroupper
0367  ret
