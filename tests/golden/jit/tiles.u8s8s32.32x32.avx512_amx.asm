; 88 instructions, 417 bytes, 7 spills, 0 of them in inner loops
0000  push rbx
0001  push rbp
0002  push r12
0004  push r13
0006  push r14
0008  push r15
000a  sub rsp,80h
0011  mov rax,[rdi+38h]
0015  mov rcx,[rdi+50h]
0019  mov [rsp+40h],rcx
001e  mov ecx,80h
0023  mov rdx,[rdi+68h]
0027  mov rsi,[rdi+70h]
002b  mov r8,[rdi+40h]
002f  mov [rsp],r8
0033  nop word [rax+rax]
003c  nop dword [rax]
0040  tilezero tmm0
0045  tilezero tmm1
004a  tilezero tmm2
004f  tilezero tmm3
0054  mov r8,[rdi+8]
0058  mov r9,[rdi+10h]
005c  test r9,r9
005f  jle near 139h
0065  nop word [rax+rax]
006e  nop word [rax+rax]
0077  nop word [rax+rax]
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
0139  mov r8,[rsp+40h]
013e  lea r8,[r8]
0141  mov r9,[rdi+60h]
0145  add r9,r8
0148  mov r10,[rdi+58h]
014c  tilestored [r8+r10],tmm0
0152  tilestored [r8+r10+40h],tmm1
0159  tilestored [r9+r10],tmm2
015f  tilestored [r9+r10+40h],tmm3
0166  mov r8,[rdi+48h]
016a  add rax,r8
016d  mov r8,[rsp+40h]
0172  add r8,80h
0179  mov [rsp+40h],r8
017e  mov r8,[rsp]
0182  dec r8
0185  mov [rsp],r8
0189  jne near 40h
018f  add rsp,80h
0196  pop r15
0198  pop r14
019a  pop r13
019c  pop r12
019e  pop rbp
019f  pop rbx
01a0  ret
