; 110 instructions, 644 bytes, 21 spills, 0 of them in inner loops
0000  push rbx
0001  push rbp
0002  push r12
0004  push r13
0006  push r14
0008  push r15
000a  sub rsp,140h
0011  mov rax,[rdi+18h]
0015  mov rcx,[rdi+38h]
0019  mov [rsp+100h],rcx
0021  mov rcx,[rdi+68h]
0025  mov [rsp+0C0h],rcx
002d  mov ecx,80h
0032  mov rdx,[rdi+80h]
0039  mov rsi,[rdi+88h]
0040  mov r8,[rdi+50h]
0044  mov [rsp],r8
0048  mov r8,[rsp+0C0h]
0050  mov [rsp+40h],r8
0055  nop word [rax+rax]
005e  nop word [rax+rax]
0067  nop word [rax+rax]
0070  nop word [rax+rax]
0079  nop dword [rax]
0080  mov r8,[rdi+40h]
0084  mov [rsp+80h],r8
008c  nop word [rax+rax]
0095  nop word [rax+rax]
009e  nop word [rax+rax]
00a7  nop word [rax+rax]
00b0  nop word [rax+rax]
00b9  nop dword [rax]
00c0  tilezero tmm0
00c5  tilezero tmm1
00ca  tilezero tmm2
00cf  tilezero tmm3
00d4  mov r8,[rdi+8]
00d8  mov r9,[rdi+10h]
00dc  test r9,r9
00df  jle near 1B9h
00e5  nop word [rax+rax]
00ee  nop word [rax+rax]
00f7  nop word [rax+rax]
0100  mov r10,[r8]
0103  mov r11,[rsp+100h]
010b  add r10,r11
010e  mov r11,[r8+8]
0112  mov rbx,[r8+10h]
0116  mov rbp,[r8+18h]
011a  mov r12,[r8+20h]
011e  add r8,28h
0122  add r11,rax
0125  add rbp,rax
0128  mov r13,[rdi+20h]
012c  mov r14,[rdi+28h]
0130  mov r15,[rdi+30h]
0134  test r13,r13
0137  jle near 1B0h
013d  nop dword [rax]
0140  tileloadd tmm4,[r11+rbx]
0146  tileloaddt1 tmm6,[r10+rcx]
014c  tdpbusd tmm0,tmm4,tmm6
0151  tileloaddt1 tmm7,[r10+rcx+40h]
0158  tdpbusd tmm1,tmm4,tmm7
015d  add r11,r14
0160  tileloadd tmm5,[rbp+r12]
0167  tdpbusd tmm2,tmm5,tmm6
016c  tdpbusd tmm3,tmm5,tmm7
0171  add rbp,r14
0174  add r10,r15
0177  prefetcht1 [rdx]
017a  prefetcht1 [rdx+40h]
017e  prefetcht1 [rdx+80h]
0185  prefetcht1 [rdx+0C0h]
018c  prefetcht1 [rdx+100h]
0193  prefetcht1 [rdx+140h]
019a  prefetcht1 [rdx+180h]
01a1  prefetcht1 [rdx+1C0h]
01a8  add rdx,rsi
01ab  dec r13
01ae  jne short 140h
01b0  dec r9
01b3  jne near 100h
01b9  mov r8,[rsp+0C0h]
01c1  lea r8,[r8]
01c4  mov r9,[rdi+78h]
01c8  add r9,r8
01cb  mov r10,[rdi+70h]
01cf  tilestored [r8+r10],tmm0
01d5  tilestored [r8+r10+40h],tmm1
01dc  tilestored [r9+r10],tmm2
01e2  tilestored [r9+r10+40h],tmm3
01e9  mov r8,[rdi+48h]
01ed  mov r9,[rsp+100h]
01f5  add r9,r8
01f8  mov [rsp+100h],r9
0200  mov r8,[rsp+0C0h]
0208  add r8,80h
020f  mov [rsp+0C0h],r8
0217  mov r8,[rsp+80h]
021f  dec r8
0222  mov [rsp+80h],r8
022a  jne near 0C0h
0230  mov r8,[rdi+38h]
0234  mov r9,[rdi+58h]
0238  mov r10,[rdi+60h]
023c  mov [rsp+100h],r8
0244  add rax,r9
0247  mov r8,[rsp+40h]
024c  add r8,r10
024f  mov [rsp+40h],r8
0254  mov r8,[rsp+40h]
0259  mov [rsp+0C0h],r8
0261  mov r8,[rsp]
0265  dec r8
0268  mov [rsp],r8
026c  jne near 80h
0272  add rsp,140h
0279  pop r15
027b  pop r14
027d  pop r13
027f  pop r12
0281  pop rbp
0282  pop rbx
0283  ret
