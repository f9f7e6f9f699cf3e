; 248 instructions, 1445 bytes, 13 spills, 0 of them in inner loops
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
00f4  vpbroadcastd ymm12,[rel 5A8h]
00fd  mov rcx,rax
0100  mov r8,[rax]
0103  add rcx,58h
0107  test r8,r8
010a  jle near 4BAh
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
017c  jle near 39Eh
0182  nop word [rax+rax]
018b  nop word [rax+rax]
0194  nop word [rax+rax]
019d  nop word [rax+rax]
01a6  nop word [rax+rax]
01af  nop word [rax+rax]
01b8  nop dword [rax+rax]
01c0  vpbroadcastd ymm13,[r10+r14]
01c6  vpmaddubsw ymm14,ymm13,[r9]
01cb  vpmaddwd ymm14,ymm14,ymm12
01d0  vpmaddubsw ymm13,ymm13,[r9+20h]
01d6  vpmaddwd ymm13,ymm13,ymm12
01db  vpaddd ymm0,ymm0,ymm14
01e0  vpbroadcastd ymm14,[r11+r14]
01e6  vpmaddubsw ymm15,ymm14,[r9]
01eb  vpmaddwd ymm15,ymm15,ymm12
01f0  vpaddd ymm1,ymm1,ymm13
01f5  vpmaddubsw ymm13,ymm14,[r9+20h]
01fb  vpmaddwd ymm13,ymm13,ymm12
0200  vpaddd ymm2,ymm2,ymm15
0205  vpbroadcastd ymm14,[rbx+r14]
020b  vpmaddubsw ymm15,ymm14,[r9]
0210  vpmaddwd ymm15,ymm15,ymm12
0215  vpaddd ymm3,ymm3,ymm13
021a  vpmaddubsw ymm13,ymm14,[r9+20h]
0220  vpmaddwd ymm13,ymm13,ymm12
0225  vpaddd ymm4,ymm4,ymm15
022a  vpbroadcastd ymm14,[rbp+r14]
0231  vpmaddubsw ymm15,ymm14,[r9]
0236  vpmaddwd ymm15,ymm15,ymm12
023b  vpaddd ymm5,ymm5,ymm13
0240  vpmaddubsw ymm13,ymm14,[r9+20h]
0246  vpmaddwd ymm13,ymm13,ymm12
024b  vpaddd ymm6,ymm6,ymm15
0250  vpbroadcastd ymm14,[r12+r14]
0256  vpmaddubsw ymm15,ymm14,[r9]
025b  vpmaddwd ymm15,ymm15,ymm12
0260  vpaddd ymm7,ymm7,ymm13
0265  vpmaddubsw ymm13,ymm14,[r9+20h]
026b  vpmaddwd ymm13,ymm13,ymm12
0270  vpaddd ymm8,ymm8,ymm15
0275  vpbroadcastd ymm14,[r13+r14]
027c  vpmaddubsw ymm15,ymm14,[r9]
0281  vpmaddwd ymm15,ymm15,ymm12
0286  vpaddd ymm9,ymm9,ymm13
028b  vpmaddubsw ymm13,ymm14,[r9+20h]
0291  vpmaddwd ymm13,ymm13,ymm12
0296  vpaddd ymm10,ymm10,ymm15
029b  vpaddd ymm11,ymm11,ymm13
02a0  vpbroadcastd ymm13,[r10+r14+4]
02a7  vpmaddubsw ymm14,ymm13,[r9+40h]
02ad  vpmaddwd ymm14,ymm14,ymm12
02b2  vpmaddubsw ymm13,ymm13,[r9+60h]
02b8  vpmaddwd ymm13,ymm13,ymm12
02bd  vpaddd ymm0,ymm0,ymm14
02c2  vpbroadcastd ymm14,[r11+r14+4]
02c9  vpmaddubsw ymm15,ymm14,[r9+40h]
02cf  vpmaddwd ymm15,ymm15,ymm12
02d4  vpaddd ymm1,ymm1,ymm13
02d9  vpmaddubsw ymm13,ymm14,[r9+60h]
02df  vpmaddwd ymm13,ymm13,ymm12
02e4  vpaddd ymm2,ymm2,ymm15
02e9  vpbroadcastd ymm14,[rbx+r14+4]
02f0  vpmaddubsw ymm15,ymm14,[r9+40h]
02f6  vpmaddwd ymm15,ymm15,ymm12
02fb  vpaddd ymm3,ymm3,ymm13
0300  vpmaddubsw ymm13,ymm14,[r9+60h]
0306  vpmaddwd ymm13,ymm13,ymm12
030b  vpaddd ymm4,ymm4,ymm15
0310  vpbroadcastd ymm14,[rbp+r14+4]
0317  vpmaddubsw ymm15,ymm14,[r9+40h]
031d  vpmaddwd ymm15,ymm15,ymm12
0322  vpaddd ymm5,ymm5,ymm13
0327  vpmaddubsw ymm13,ymm14,[r9+60h]
032d  vpmaddwd ymm13,ymm13,ymm12
0332  vpaddd ymm6,ymm6,ymm15
0337  vpbroadcastd ymm14,[r12+r14+4]
033e  vpmaddubsw ymm15,ymm14,[r9+40h]
0344  vpmaddwd ymm15,ymm15,ymm12
0349  vpaddd ymm7,ymm7,ymm13
034e  vpmaddubsw ymm13,ymm14,[r9+60h]
0354  vpmaddwd ymm13,ymm13,ymm12
0359  vpaddd ymm8,ymm8,ymm15
035e  vpbroadcastd ymm14,[r13+r14+4]
0365  vpmaddubsw ymm15,ymm14,[r9+40h]
036b  vpmaddwd ymm15,ymm15,ymm12
0370  vpaddd ymm9,ymm9,ymm13
0375  vpmaddubsw ymm13,ymm14,[r9+60h]
037b  vpmaddwd ymm13,ymm13,ymm12
0380  vpaddd ymm10,ymm10,ymm15
0385  vpaddd ymm11,ymm11,ymm13
038a  add r14,8
038e  add r9,80h
0395  dec r15
0398  jne near 1C0h
039e  mov r15,[rdi+18h]
03a2  and r15,1
03a6  test r15,r15
03a9  jle near 4B1h
03af  nop word [rax+rax]
03b8  nop dword [rax+rax]
03c0  vpbroadcastd ymm13,[r10+r14]
03c6  vpmaddubsw ymm14,ymm13,[r9]
03cb  vpmaddwd ymm14,ymm14,ymm12
03d0  vpmaddubsw ymm13,ymm13,[r9+20h]
03d6  vpmaddwd ymm13,ymm13,ymm12
03db  vpaddd ymm0,ymm0,ymm14
03e0  vpbroadcastd ymm14,[r11+r14]
03e6  vpmaddubsw ymm15,ymm14,[r9]
03eb  vpmaddwd ymm15,ymm15,ymm12
03f0  vpaddd ymm1,ymm1,ymm13
03f5  vpmaddubsw ymm13,ymm14,[r9+20h]
03fb  vpmaddwd ymm13,ymm13,ymm12
0400  vpaddd ymm2,ymm2,ymm15
0405  vpbroadcastd ymm14,[rbx+r14]
040b  vpmaddubsw ymm15,ymm14,[r9]
0410  vpmaddwd ymm15,ymm15,ymm12
0415  vpaddd ymm3,ymm3,ymm13
041a  vpmaddubsw ymm13,ymm14,[r9+20h]
0420  vpmaddwd ymm13,ymm13,ymm12
0425  vpaddd ymm4,ymm4,ymm15
042a  vpbroadcastd ymm14,[rbp+r14]
0431  vpmaddubsw ymm15,ymm14,[r9]
0436  vpmaddwd ymm15,ymm15,ymm12
043b  vpaddd ymm5,ymm5,ymm13
0440  vpmaddubsw ymm13,ymm14,[r9+20h]
0446  vpmaddwd ymm13,ymm13,ymm12
044b  vpaddd ymm6,ymm6,ymm15
0450  vpbroadcastd ymm14,[r12+r14]
0456  vpmaddubsw ymm15,ymm14,[r9]
045b  vpmaddwd ymm15,ymm15,ymm12
0460  vpaddd ymm7,ymm7,ymm13
0465  vpmaddubsw ymm13,ymm14,[r9+20h]
046b  vpmaddwd ymm13,ymm13,ymm12
0470  vpaddd ymm8,ymm8,ymm15
0475  vpbroadcastd ymm14,[r13+r14]
047c  vpmaddubsw ymm15,ymm14,[r9]
0481  vpmaddwd ymm15,ymm15,ymm12
0486  vpaddd ymm9,ymm9,ymm13
048b  vpmaddubsw ymm13,ymm14,[r9+20h]
0491  vpmaddwd ymm13,ymm13,ymm12
0496  vpaddd ymm10,ymm10,ymm15
049b  vpaddd ymm11,ymm11,ymm13
04a0  add r14,4
04a4  add r9,40h
04a8  dec r15
04ab  jne near 3C0h
04b1  dec r8
04b4  jne near 140h
04ba  mov r8,[rdi+38h]
04be  mov r9,[rax+10h]
04c2  mov r10,[rdi+40h]
04c6  imul r10,rdx
04ca  add r8,r9
04cd  add r8,r10
04d0  mov r9,[rsp+0C0h]
04d8  lea r8,[r8+r9*4]
04dc  mov r9,[rdi+40h]
04e0  vmovups [r8],ymm0
04e5  vmovups [r8+20h],ymm1
04eb  add r8,r9
04ee  vmovups [r8],ymm2
04f3  vmovups [r8+20h],ymm3
04f9  add r8,r9
04fc  vmovups [r8],ymm4
0501  vmovups [r8+20h],ymm5
0507  add r8,r9
050a  vmovups [r8],ymm6
050f  vmovups [r8+20h],ymm7
0515  add r8,r9
0518  vmovups [r8],ymm8
051d  vmovups [r8+20h],ymm9
0523  add r8,r9
0526  vmovups [r8],ymm10
052b  vmovups [r8+20h],ymm11
0531  mov r8,[rdi+28h]
0535  add rsi,r8
0538  mov r8,[rsp+0C0h]
0540  add r8,10h
0544  mov [rsp+0C0h],r8
054c  mov r8,[rsp+80h]
0554  dec r8
0557  mov [rsp+80h],r8
055f  jne near 0C0h
0565  add rdx,6
0569  mov rsi,[rsp+40h]
056e  dec rsi
0571  mov [rsp+40h],rsi
0576  jne near 80h
057c  mov rax,rcx
057f  mov rcx,[rsp]
0583  dec rcx
0586  mov [rsp],rcx
058a  jne near 40h
0590  add rsp,100h
0597  pop r15
0599  pop r14
059b  pop r13
059d  pop r12
059f  pop rbp
05a0  pop rbx
05a1  vzeroupper
05a4  ret
