; 214 instructions, 1262 bytes, 13 spills, 0 of them in inner loops
0000  push rbx
0001  push rbp
0002  push r12
0004  push r13
0006  push r14
0008  push r15
000a  sub rsp,100h
0011  mov rax,[rdi]
0014  mov rcx,[rdi+8]
0018  mov [rsp],rcx
001c  nop word [rax+rax]
0025  nop word [rax+rax]
002e  nop word [rax+rax]
0037  nop word [rax+rax]
0040  mov rcx,rax
0043  mov edx,0
0048  mov rsi,[rax+8]
004c  mov [rsp+40h],rsi
0051  nop word [rax+rax]
005a  nop word [rax+rax]
0063  nop word [rax+rax]
006c  nop word [rax+rax]
0075  nop word [rax+rax]
007e  xchg ax,ax
0080  mov rsi,[rdi+20h]
0084  mov r8d,0
008a  mov [rsp+0C0h],r8
0092  mov r8,[rdi+10h]
0096  mov [rsp+80h],r8
009e  nop word [rax+rax]
00a7  nop word [rax+rax]
00b0  nop word [rax+rax]
00b9  nop dword [rax]
00c0  vpxor ymm0,ymm0,ymm0
00c4  vpxor ymm1,ymm1,ymm1
00c8  vpxor ymm2,ymm2,ymm2
00cc  vpxor ymm3,ymm3,ymm3
00d0  vpxor ymm4,ymm4,ymm4
00d4  vpxor ymm5,ymm5,ymm5
00d8  vpxor ymm6,ymm6,ymm6
00dc  vpxor ymm7,ymm7,ymm7
00e0  vpxor ymm8,ymm8,ymm8
00e5  vpxor ymm9,ymm9,ymm9
00ea  vpxor ymm10,ymm10,ymm10
00ef  vpxor ymm11,ymm11,ymm11
00f4  mov rcx,rax
00f7  mov r8,[rax]
00fa  add rcx,58h
00fe  test r8,r8
0101  jle near 403h
0107  nop word [rax+rax]
0110  nop word [rax+rax]
0119  nop word [rax+rax]
0122  nop word [rax+rax]
012b  nop word [rax+rax]
0134  nop word [rax+rax]
013d  nop dword [rax]
0140  mov r9,[rcx]
0143  add r9,rsi
0146  mov r10,[rcx+8]
014a  mov r11,[rcx+10h]
014e  mov rbx,[rcx+18h]
0152  mov rbp,[rcx+20h]
0156  mov r12,[rcx+28h]
015a  mov r13,[rcx+30h]
015e  add rcx,38h
0162  mov r14,[rax+18h]
0166  imul r14,rdx
016a  mov r15,[rdi+30h]
016e  add r14,r15
0171  mov r15,[rdi+18h]
0175  shr r15,1
0179  test r15,r15
017c  jle near 32Bh
0182  nop word [rax+rax]
018b  nop word [rax+rax]
0194  nop word [rax+rax]
019d  nop word [rax+rax]
01a6  nop word [rax+rax]
01af  nop word [rax+rax]
01b8  nop dword [rax+rax]
01c0  vmovups ymm12,[r9]
01c5  vpbroadcastd ymm13,[r10+r14]
01cb  vpmaddwd ymm14,ymm13,ymm12
01d0  vpmaddwd ymm13,ymm13,[r9+20h]
01d6  vpaddd ymm0,ymm0,ymm14
01db  vpbroadcastd ymm14,[r11+r14]
01e1  vpmaddwd ymm15,ymm14,ymm12
01e6  vpaddd ymm1,ymm1,ymm13
01eb  vpmaddwd ymm13,ymm14,[r9+20h]
01f1  vpaddd ymm2,ymm2,ymm15
01f6  vpbroadcastd ymm14,[rbx+r14]
01fc  vpmaddwd ymm15,ymm14,ymm12
0201  vpaddd ymm3,ymm3,ymm13
0206  vpmaddwd ymm13,ymm14,[r9+20h]
020c  vpaddd ymm4,ymm4,ymm15
0211  vpbroadcastd ymm14,[rbp+r14]
0218  vpmaddwd ymm15,ymm14,ymm12
021d  vpaddd ymm5,ymm5,ymm13
0222  vpmaddwd ymm13,ymm14,[r9+20h]
0228  vpaddd ymm6,ymm6,ymm15
022d  vpbroadcastd ymm14,[r12+r14]
0233  vpmaddwd ymm15,ymm14,ymm12
0238  vpaddd ymm7,ymm7,ymm13
023d  vpmaddwd ymm13,ymm14,[r9+20h]
0243  vpaddd ymm8,ymm8,ymm15
0248  vpbroadcastd ymm14,[r13+r14]
024f  vpmaddwd ymm12,ymm14,ymm12
0254  vpaddd ymm9,ymm9,ymm13
0259  vpmaddwd ymm13,ymm14,[r9+20h]
025f  vpaddd ymm10,ymm10,ymm12
0264  vpaddd ymm11,ymm11,ymm13
0269  vmovups ymm12,[r9+40h]
026f  vpbroadcastd ymm13,[r10+r14+4]
0276  vpmaddwd ymm14,ymm13,ymm12
027b  vpmaddwd ymm13,ymm13,[r9+60h]
0281  vpaddd ymm0,ymm0,ymm14
0286  vpbroadcastd ymm14,[r11+r14+4]
028d  vpmaddwd ymm15,ymm14,ymm12
0292  vpaddd ymm1,ymm1,ymm13
0297  vpmaddwd ymm13,ymm14,[r9+60h]
029d  vpaddd ymm2,ymm2,ymm15
02a2  vpbroadcastd ymm14,[rbx+r14+4]
02a9  vpmaddwd ymm15,ymm14,ymm12
02ae  vpaddd ymm3,ymm3,ymm13
02b3  vpmaddwd ymm13,ymm14,[r9+60h]
02b9  vpaddd ymm4,ymm4,ymm15
02be  vpbroadcastd ymm14,[rbp+r14+4]
02c5  vpmaddwd ymm15,ymm14,ymm12
02ca  vpaddd ymm5,ymm5,ymm13
02cf  vpmaddwd ymm13,ymm14,[r9+60h]
02d5  vpaddd ymm6,ymm6,ymm15
02da  vpbroadcastd ymm14,[r12+r14+4]
02e1  vpmaddwd ymm15,ymm14,ymm12
02e6  vpaddd ymm7,ymm7,ymm13
02eb  vpmaddwd ymm13,ymm14,[r9+60h]
02f1  vpaddd ymm8,ymm8,ymm15
02f6  vpbroadcastd ymm14,[r13+r14+4]
02fd  vpmaddwd ymm12,ymm14,ymm12
0302  vpaddd ymm9,ymm9,ymm13
0307  vpmaddwd ymm13,ymm14,[r9+60h]
030d  vpaddd ymm10,ymm10,ymm12
0312  vpaddd ymm11,ymm11,ymm13
0317  add r14,8
031b  add r9,80h
0322  dec r15
0325  jne near 1C0h
032b  mov r15,[rdi+18h]
032f  and r15,1
0333  test r15,r15
0336  jle near 3FAh
033c  nop dword [rax]
0340  vmovups ymm12,[r9]
0345  vpbroadcastd ymm13,[r10+r14]
034b  vpmaddwd ymm14,ymm13,ymm12
0350  vpmaddwd ymm13,ymm13,[r9+20h]
0356  vpaddd ymm0,ymm0,ymm14
035b  vpbroadcastd ymm14,[r11+r14]
0361  vpmaddwd ymm15,ymm14,ymm12
0366  vpaddd ymm1,ymm1,ymm13
036b  vpmaddwd ymm13,ymm14,[r9+20h]
0371  vpaddd ymm2,ymm2,ymm15
0376  vpbroadcastd ymm14,[rbx+r14]
037c  vpmaddwd ymm15,ymm14,ymm12
0381  vpaddd ymm3,ymm3,ymm13
0386  vpmaddwd ymm13,ymm14,[r9+20h]
038c  vpaddd ymm4,ymm4,ymm15
0391  vpbroadcastd ymm14,[rbp+r14]
0398  vpmaddwd ymm15,ymm14,ymm12
039d  vpaddd ymm5,ymm5,ymm13
03a2  vpmaddwd ymm13,ymm14,[r9+20h]
03a8  vpaddd ymm6,ymm6,ymm15
03ad  vpbroadcastd ymm14,[r12+r14]
03b3  vpmaddwd ymm15,ymm14,ymm12
03b8  vpaddd ymm7,ymm7,ymm13
03bd  vpmaddwd ymm13,ymm14,[r9+20h]
03c3  vpaddd ymm8,ymm8,ymm15
03c8  vpbroadcastd ymm14,[r13+r14]
03cf  vpmaddwd ymm12,ymm14,ymm12
03d4  vpaddd ymm9,ymm9,ymm13
03d9  vpmaddwd ymm13,ymm14,[r9+20h]
03df  vpaddd ymm10,ymm10,ymm12
03e4  vpaddd ymm11,ymm11,ymm13
03e9  add r14,4
03ed  add r9,40h
03f1  dec r15
03f4  jne near 340h
03fa  dec r8
03fd  jne near 140h
0403  mov r8,[rdi+38h]
0407  mov r9,[rax+10h]
040b  mov r10,[rdi+40h]
040f  imul r10,rdx
0413  add r8,r9
0416  add r8,r10
0419  mov r9,[rsp+0C0h]
0421  lea r8,[r8+r9*4]
0425  mov r9,[rdi+40h]
0429  vmovups [r8],ymm0
042e  vmovups [r8+20h],ymm1
0434  add r8,r9
0437  vmovups [r8],ymm2
043c  vmovups [r8+20h],ymm3
0442  add r8,r9
0445  vmovups [r8],ymm4
044a  vmovups [r8+20h],ymm5
0450  add r8,r9
0453  vmovups [r8],ymm6
0458  vmovups [r8+20h],ymm7
045e  add r8,r9
0461  vmovups [r8],ymm8
0466  vmovups [r8+20h],ymm9
046c  add r8,r9
046f  vmovups [r8],ymm10
0474  vmovups [r8+20h],ymm11
047a  mov r8,[rdi+28h]
047e  add rsi,r8
0481  mov r8,[rsp+0C0h]
0489  add r8,10h
048d  mov [rsp+0C0h],r8
0495  mov r8,[rsp+80h]
049d  dec r8
04a0  mov [rsp+80h],r8
04a8  jne near 0C0h
04ae  add rdx,6
04b2  mov rsi,[rsp+40h]
04b7  dec rsi
04ba  mov [rsp+40h],rsi
04bf  jne near 80h
04c5  mov rax,rcx
04c8  mov rcx,[rsp]
04cc  dec rcx
04cf  mov [rsp],rcx
04d3  jne near 40h
04d9  add rsp,100h
04e0  pop r15
04e2  pop r14
04e4  pop r13
04e6  pop r12
04e8  pop rbp
04e9  pop rbx
04ea  vzeroupper
04ed  ret
