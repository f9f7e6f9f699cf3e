; 74 instructions, 402 bytes, 0 spills, 0 of them in inner loops
0000  push rbx
0001  push rbp
0002  push r12
0004  push r13
0006  push r14
0008  push r15
000a  mov rax,[rdi+38h]
000e  mov rcx,[rdi+50h]
0012  mov edx,100h
0017  mov rsi,[rdi+68h]
001b  mov r8,[rdi+70h]
001f  mov r9,[rdi+40h]
0023  nop word [rax+rax]
002c  nop word [rax+rax]
0035  nop word [rax+rax]
003e  xchg ax,ax
0040  tilezero tmm0
0045  tilezero tmm1
004a  tilezero tmm2
004f  tilezero tmm3
0054  mov r10,[rdi+8]
0058  mov r11,[rdi+10h]
005c  test r11,r11
005f  jle near 148h
0065  nop word [rax+rax]
006e  nop word [rax+rax]
0077  nop word [rax+rax]
0080  mov rbx,[r10]
0083  add rbx,rax
0086  mov rbp,[r10+8]
008a  mov r12,[r10+10h]
008e  add r10,28h
0092  mov r13,[rdi+18h]
0096  add rbp,r13
0099  mov r13,[rdi+20h]
009d  mov r14,[rdi+28h]
00a1  mov r15,[rdi+30h]
00a5  test r13,r13
00a8  jle near 13Fh
00ae  nop word [rax+rax]
00b7  nop word [rax+rax]
00c0  tileloadd tmm4,[rbp+r12]
00c7  tileloadd tmm5,[rbx+rdx]
00cd  tdpbf16ps tmm0,tmm4,tmm5
00d2  tileloadd tmm6,[rbx+rdx+40h]
00d9  tdpbf16ps tmm1,tmm4,tmm6
00de  tileloadd tmm7,[rbx+rdx+80h]
00e8  tdpbf16ps tmm2,tmm4,tmm7
00ed  tileloadd tmm5,[rbx+rdx+0C0h]
00f7  tdpbf16ps tmm3,tmm4,tmm5
00fc  add rbp,r14
00ff  add rbx,r15
0102  prefetcht1 [rsi]
0105  prefetcht1 [rsi+40h]
0109  prefetcht1 [rsi+80h]
0110  prefetcht1 [rsi+0C0h]
0117  prefetcht1 [rsi+100h]
011e  prefetcht1 [rsi+140h]
0125  prefetcht1 [rsi+180h]
012c  prefetcht1 [rsi+1C0h]
0133  add rsi,r8
0136  dec r13
0139  jne near 0C0h
013f  dec r11
0142  jne near 80h
0148  lea r10,[rcx]
014b  mov r11,[rdi+58h]
014f  tilestored [r10+r11],tmm0
0155  tilestored [r10+r11+40h],tmm1
015c  tilestored [r10+r11+80h],tmm2
0166  tilestored [r10+r11+0C0h],tmm3
0170  mov r10,[rdi+48h]
0174  add rax,r10
0177  add rcx,100h
017e  dec r9
0181  jne near 40h
0187  pop r15
0189  pop r14
018b  pop r13
018d  pop r12
018f  pop rbp
0190  pop rbx
0191  ret
