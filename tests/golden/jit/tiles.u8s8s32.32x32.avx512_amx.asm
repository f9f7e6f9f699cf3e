; 97 instructions, 455 bytes, 15 spills, 0 of them in inner loops
0000  push rbx
0001  push rbp
0002  push r12
0004  push r13
0006  push r14
0008  push r15
000a  sub rsp,0C0h
0011  mov rax,[rdi+38h]
0015  mov rcx,[rdi+50h]
0019  mov [rsp+80h],rcx
0021  mov rcx,[rdi+58h]
0025  mov [rsp+40h],rcx
002a  mov ecx,80h
002f  mov rdx,[rdi+68h]
0033  mov rsi,[rdi+70h]
0037  mov r8,[rdi+40h]
003b  mov [rsp],r8
003f  nop
0040  mov r8,[rdi+60h]
0044  mov r9,[rsp+80h]
004c  add r8,r9
004f  tilezero tmm0
0054  tilezero tmm1
0059  tilezero tmm2
005e  tilezero tmm3
0063  mov r8,[rdi+8]
0067  mov r9,[rdi+10h]
006b  test r9,r9
006e  jle near 139h
0074  nop word [rax+rax]
007d  nop dword [rax]
0080  mov r10,[r8]
0083  add r10,rax
0086  mov r11,[r8+8]
008a  mov rbx,[r8+10h]
008e  mov rbp,[r8+18h]
0092  mov r12,[r8+20h]
0096  add r8,28h
009a  mov r13,[rdi+18h]
009e  add r11,r13
00a1  add rbp,r13
00a4  mov r13,[rdi+20h]
00a8  mov r14,[rdi+28h]
00ac  mov r15,[rdi+30h]
00b0  test r13,r13
00b3  jle near 130h
00b9  nop dword [rax]
00c0  tileloadd tmm4,[r11+rbx]
00c6  tileloaddt1 tmm6,[r10+rcx]
00cc  tdpbusd tmm0,tmm4,tmm6
00d1  tileloaddt1 tmm7,[r10+rcx+40h]
00d8  tdpbusd tmm1,tmm4,tmm7
00dd  add r11,r14
00e0  tileloadd tmm5,[rbp+r12]
00e7  tdpbusd tmm2,tmm5,tmm6
00ec  tdpbusd tmm3,tmm5,tmm7
00f1  add rbp,r14
00f4  add r10,r15
00f7  prefetcht1 [rdx]
00fa  prefetcht1 [rdx+40h]
00fe  prefetcht1 [rdx+80h]
0105  prefetcht1 [rdx+0C0h]
010c  prefetcht1 [rdx+100h]
0113  prefetcht1 [rdx+140h]
011a  prefetcht1 [rdx+180h]
0121  prefetcht1 [rdx+1C0h]
0128  add rdx,rsi
012b  dec r13
012e  jne short 0C0h
0130  dec r9
0133  jne near 80h
0139  mov r8,[rdi+60h]
013d  mov r9,[rsp+80h]
0145  add r8,r9
0148  mov r9,[rsp+80h]
0150  mov r10,[rsp+40h]
0155  tilestored [r9+r10],tmm0
015b  mov r9,[rsp+80h]
0163  mov r10,[rsp+40h]
0168  tilestored [r9+r10+40h],tmm1
016f  mov r9,[rsp+40h]
0174  tilestored [r8+r9],tmm2
017a  mov r9,[rsp+40h]
017f  tilestored [r8+r9+40h],tmm3
0186  mov r8,[rdi+48h]
018a  add rax,r8
018d  mov r8,[rsp+80h]
0195  add r8,80h
019c  mov [rsp+80h],r8
01a4  mov r8,[rsp]
01a8  dec r8
01ab  mov [rsp],r8
01af  jne near 40h
01b5  add rsp,0C0h
01bc  pop r15
01be  pop r14
01c0  pop r13
01c2  pop r12
01c4  pop rbp
01c5  pop rbx
01c6  ret
