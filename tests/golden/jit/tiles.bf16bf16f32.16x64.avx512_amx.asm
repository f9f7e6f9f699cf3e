; 60 instructions, 336 bytes, 0 spills, 0 of them in inner loops
0000  push rbx
0001  push rbp
0002  push r12
0004  push r13
0006  push r14
0008  mov rax,[rdi+38h]
000c  mov rcx,[rdi+50h]
0010  mov rdx,[rdi+58h]
0014  mov esi,100h
0019  mov r8,[rdi+40h]
001d  nop word [rax+rax]
0026  nop word [rax+rax]
002f  nop word [rax+rax]
0038  nop dword [rax+rax]
0040  tilezero tmm0
0045  tilezero tmm1
004a  tilezero tmm2
004f  tilezero tmm3
0054  mov r9,[rdi+8]
0058  mov r10,[rdi+10h]
005c  test r10,r10
005f  jle near 10Fh
0065  nop word [rax+rax]
006e  nop word [rax+rax]
0077  nop word [rax+rax]
0080  mov r11,[r9]
0083  add r11,rax
0086  mov rbx,[r9+8]
008a  mov rbp,[r9+10h]
008e  add r9,28h
0092  mov r12,[rdi+18h]
0096  add rbx,r12
0099  mov r12,[rdi+20h]
009d  mov r13,[rdi+28h]
00a1  mov r14,[rdi+30h]
00a5  test r12,r12
00a8  jle near 106h
00ae  nop word [rax+rax]
00b7  nop word [rax+rax]
00c0  tileloadd tmm4,[rbx+rbp]
00c6  tileloadd tmm5,[r11+rsi]
00cc  tdpbf16ps tmm0,tmm4,tmm5
00d1  tileloadd tmm6,[r11+rsi+40h]
00d8  tdpbf16ps tmm1,tmm4,tmm6
00dd  tileloadd tmm7,[r11+rsi+80h]
00e7  tdpbf16ps tmm2,tmm4,tmm7
00ec  tileloadd tmm5,[r11+rsi+0C0h]
00f6  tdpbf16ps tmm3,tmm4,tmm5
00fb  add rbx,r13
00fe  add r11,r14
0101  dec r12
0104  jne short 0C0h
0106  dec r10
0109  jne near 80h
010f  tilestored [rcx+rdx],tmm0
0115  tilestored [rcx+rdx+40h],tmm1
011c  tilestored [rcx+rdx+80h],tmm2
0126  tilestored [rcx+rdx+0C0h],tmm3
0130  mov r9,[rdi+48h]
0134  add rax,r9
0137  add rcx,100h
013e  dec r8
0141  jne near 40h
0147  pop r14
0149  pop r13
014b  pop r12
014d  pop rbp
014e  pop rbx
014f  ret
