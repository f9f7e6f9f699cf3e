; 120 instructions, 617 bytes, 3 spills, 0 of them in inner loops
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
001f  mov r8,[rdi+40h]
0023  mov [rsp],r8
0027  nop word [rax+rax]
0030  nop word [rax+rax]
0039  nop dword [rax]
0040  mov r8,[rdi+60h]
0044  add r8,rcx
0047  tilezero tmm0
004c  tilezero tmm1
0051  tilezero tmm2
0056  tilezero tmm3
005b  mov r8,[rdi+8]
005f  mov r9,[rdi+10h]
0063  test r9,r9
0066  jle near 105h
006c  nop word [rax+rax]
0075  nop word [rax+rax]
007e  xchg ax,ax
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
00b3  jle near 0FCh
00b9  nop dword [rax]
00c0  tileloadd tmm4,[r11+rbx]
00c6  tileloadd tmm6,[r10+rsi]
00cc  tdpbssd tmm0,tmm4,tmm6
00d1  tileloadd tmm7,[r10+rsi+40h]
00d8  tdpbssd tmm1,tmm4,tmm7
00dd  add r11,r14
00e0  tileloadd tmm5,[rbp+r12]
00e7  tdpbssd tmm2,tmm5,tmm6
00ec  tdpbssd tmm3,tmm5,tmm7
00f1  add rbp,r14
00f4  add r10,r15
00f7  dec r13
00fa  jne short 0C0h
00fc  dec r9
00ff  jne near 80h
0105  mov r8,[rdi+60h]
0109  add r8,rcx
010c  tilestored [rcx+rdx],tmm0
0112  tilestored [rcx+rdx+40h],tmm1
0119  tilestored [r8+rdx],tmm2
011f  tilestored [r8+rdx+40h],tmm3
0126  mov r8,[rdi+60h]
012a  add r8,rcx
012d  tilezero tmm0
0132  tilezero tmm1
0137  tilezero tmm2
013c  tilezero tmm3
0141  mov r8,[rdi+8]
0145  mov r9,[rdi+10h]
0149  test r9,r9
014c  jle near 20Ch
0152  nop word [rax+rax]
015b  nop word [rax+rax]
0164  nop word [rax+rax]
016d  nop word [rax+rax]
0176  nop word [rax+rax]
017f  nop
0180  mov r10,[r8]
0183  add r10,rax
0186  mov r11,[r8+8]
018a  mov rbx,[r8+10h]
018e  mov rbp,[r8+18h]
0192  mov r12,[r8+20h]
0196  add r8,28h
019a  mov r13,[rdi+18h]
019e  add r11,r13
01a1  add rbp,r13
01a4  mov r13,[rdi+20h]
01a8  mov r14,[rdi+28h]
01ac  mov r15,[rdi+30h]
01b0  test r13,r13
01b3  jle near 203h
01b9  nop dword [rax]
01c0  tileloadd tmm4,[r11+rbx]
01c6  tileloadd tmm6,[r10+rsi+80h]
01d0  tdpbssd tmm0,tmm4,tmm6
01d5  tileloadd tmm7,[r10+rsi+0C0h]
01df  tdpbssd tmm1,tmm4,tmm7
01e4  add r11,r14
01e7  tileloadd tmm5,[rbp+r12]
01ee  tdpbssd tmm2,tmm5,tmm6
01f3  tdpbssd tmm3,tmm5,tmm7
01f8  add rbp,r14
01fb  add r10,r15
01fe  dec r13
0201  jne short 1C0h
0203  dec r9
0206  jne near 180h
020c  mov r8,[rdi+60h]
0210  add r8,rcx
0213  tilestored [rcx+rdx+80h],tmm0
021d  tilestored [rcx+rdx+0C0h],tmm1
0227  tilestored [r8+rdx+80h],tmm2
0231  tilestored [r8+rdx+0C0h],tmm3
023b  mov r8,[rdi+48h]
023f  add rax,r8
0242  add rcx,100h
0249  mov r8,[rsp]
024d  dec r8
0250  mov [rsp],r8
0254  jne near 40h
025a  add rsp,40h
025e  pop r15
0260  pop r14
0262  pop r13
0264  pop r12
0266  pop rbp
0267  pop rbx
0268  ret
