; 78 instructions, 415 bytes, 3 spills, 0 of them in inner loops
0000  push rbx
0001  push rbp
0002  push r12
0004  push r13
0006  push r14
0008  push r15
000a  sub rsp,40h
000e  mov rax,[rdi+38h]
0012  mov rcx,[rdi+50h]
0016  mov rdx,[rdi+58h]
001a  mov esi,100h
001f  mov r8,[rdi+68h]
0023  mov r9,[rdi+70h]
0027  mov r10,[rdi+40h]
002b  mov [rsp],r10
002f  nop word [rax+rax]
0038  nop dword [rax+rax]
0040  tilezero tmm0
0045  tilezero tmm1
004a  tilezero tmm2
004f  tilezero tmm3
0054  mov r10,[rdi+8]
0058  mov r11,[rdi+10h]
005c  test r11,r11
005f  jle near 150h
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
00a8  jle near 147h
00ae  nop word [rax+rax]
00b7  nop word [rax+rax]
00c0  tileloadd tmm4,[rbp+r12]
00c7  tileloadd tmm5,[rbx+rsi]
00cd  tdpbf16ps tmm0,tmm4,tmm5
00d2  tileloadd tmm6,[rbx+rsi+40h]
00d9  tdpbf16ps tmm1,tmm4,tmm6
00de  tileloadd tmm7,[rbx+rsi+80h]
00e8  tdpbf16ps tmm2,tmm4,tmm7
00ed  tileloadd tmm5,[rbx+rsi+0C0h]
00f7  tdpbf16ps tmm3,tmm4,tmm5
00fc  add rbp,r14
00ff  add rbx,r15
0102  prefetcht1 [r8]
0106  prefetcht1 [r8+40h]
010b  prefetcht1 [r8+80h]
0113  prefetcht1 [r8+0C0h]
011b  prefetcht1 [r8+100h]
0123  prefetcht1 [r8+140h]
012b  prefetcht1 [r8+180h]
0133  prefetcht1 [r8+1C0h]
013b  add r8,r9
013e  dec r13
0141  jne near 0C0h
0147  dec r11
014a  jne near 80h
0150  tilestored [rcx+rdx],tmm0
0156  tilestored [rcx+rdx+40h],tmm1
015d  tilestored [rcx+rdx+80h],tmm2
0167  tilestored [rcx+rdx+0C0h],tmm3
0171  mov r10,[rdi+48h]
0175  add rax,r10
0178  add rcx,100h
017f  mov r10,[rsp]
0183  dec r10
0186  mov [rsp],r10
018a  jne near 40h
0190  add rsp,40h
0194  pop r15
0196  pop r14
0198  pop r13
019a  pop r12
019c  pop rbp
019d  pop rbx
019e  ret
