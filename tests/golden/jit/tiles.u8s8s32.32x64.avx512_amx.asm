; 168 instructions, 998 bytes, 24 spills, 0 of them in inner loops
0000  push rbx
0001  push rbp
0002  push r12
0004  push r13
0006  push r14
0008  push r15
000a  sub rsp,140h
0011  mov rax,[rdi+10h]
0015  mov rcx,[rdi+30h]
0019  mov [rsp+100h],rcx
0021  mov rcx,[rdi+68h]
0025  mov [rsp+0C0h],rcx
002d  mov ecx,100h
0032  mov rdx,[rdi+80h]
0039  mov rsi,[rdi+88h]
0040  mov r8,[rdi+48h]
0044  mov [rsp],r8
0048  mov r8,[rsp+0C0h]
0050  mov [rsp+40h],r8
0055  nop word [rax+rax]
005e  nop word [rax+rax]
0067  nop word [rax+rax]
0070  nop word [rax+rax]
0079  nop dword [rax]
0080  mov r8,[rdi+38h]
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
00d4  mov r8,[rdi]
00d7  mov r9,[rdi+8]
00db  test r9,r9
00de  jle near 1C1h
00e4  nop word [rax+rax]
00ed  nop word [rax+rax]
00f6  nop word [rax+rax]
00ff  nop
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
0128  mov r13,[rdi+18h]
012c  test r13,r13
012f  jle near 1B8h
0135  nop word [rax+rax]
013e  xchg ax,ax
0140  mov r14,[rdi+20h]
0144  mov r15,[rdi+28h]
0148  tileloadd tmm4,[r11+rbx]
014e  add r11,r14
0151  tileloadd tmm6,[r10+rcx]
0157  tileloadd tmm7,[r10+rcx+40h]
015e  tdpbusd tmm0,tmm4,tmm6
0163  tileloadd tmm5,[rbp+r12]
016a  add rbp,r14
016d  tdpbusd tmm1,tmm4,tmm7
0172  tdpbusd tmm2,tmm5,tmm6
0177  tdpbusd tmm3,tmm5,tmm7
017c  add r10,r15
017f  prefetcht1 [rdx]
0182  prefetcht1 [rdx+40h]
0186  prefetcht1 [rdx+80h]
018d  prefetcht1 [rdx+0C0h]
0194  prefetcht1 [rdx+100h]
019b  prefetcht1 [rdx+140h]
01a2  prefetcht1 [rdx+180h]
01a9  prefetcht1 [rdx+1C0h]
01b0  add rdx,rsi
01b3  dec r13
01b6  jne short 140h
01b8  dec r9
01bb  jne near 100h
01c1  mov r8,[rsp+0C0h]
01c9  lea r8,[r8]
01cc  mov r9,[rdi+78h]
01d0  add r9,r8
01d3  mov r10,[rdi+70h]
01d7  tilestored [r8+r10],tmm0
01dd  tilestored [r8+r10+40h],tmm1
01e4  tilestored [r9+r10],tmm2
01ea  tilestored [r9+r10+40h],tmm3
01f1  tilezero tmm0
01f6  tilezero tmm1
01fb  tilezero tmm2
0200  tilezero tmm3
0205  mov r8,[rdi]
0208  mov r9,[rdi+8]
020c  test r9,r9
020f  jle near 30Ch
0215  nop word [rax+rax]
021e  nop word [rax+rax]
0227  nop word [rax+rax]
0230  nop word [rax+rax]
0239  nop dword [rax]
0240  mov r10,[r8]
0243  mov r11,[rsp+100h]
024b  add r10,r11
024e  mov r11,[r8+8]
0252  mov rbx,[r8+10h]
0256  mov rbp,[r8+18h]
025a  mov r12,[r8+20h]
025e  add r8,28h
0262  add r11,rax
0265  add rbp,rax
0268  mov r13,[rdi+18h]
026c  test r13,r13
026f  jle near 303h
0275  nop word [rax+rax]
027e  xchg ax,ax
0280  mov r14,[rdi+20h]
0284  mov r15,[rdi+28h]
0288  tileloadd tmm4,[r11+rbx]
028e  add r11,r14
0291  tileloadd tmm6,[r10+rcx+80h]
029b  tileloadd tmm7,[r10+rcx+0C0h]
02a5  tdpbusd tmm0,tmm4,tmm6
02aa  tileloadd tmm5,[rbp+r12]
02b1  add rbp,r14
02b4  tdpbusd tmm1,tmm4,tmm7
02b9  tdpbusd tmm2,tmm5,tmm6
02be  tdpbusd tmm3,tmm5,tmm7
02c3  add r10,r15
02c6  prefetcht1 [rdx]
02c9  prefetcht1 [rdx+40h]
02cd  prefetcht1 [rdx+80h]
02d4  prefetcht1 [rdx+0C0h]
02db  prefetcht1 [rdx+100h]
02e2  prefetcht1 [rdx+140h]
02e9  prefetcht1 [rdx+180h]
02f0  prefetcht1 [rdx+1C0h]
02f7  add rdx,rsi
02fa  dec r13
02fd  jne near 280h
0303  dec r9
0306  jne near 240h
030c  mov r8,[rsp+0C0h]
0314  lea r8,[r8+80h]
031b  mov r9,[rdi+78h]
031f  add r9,r8
0322  mov r10,[rdi+70h]
0326  tilestored [r8+r10],tmm0
032c  tilestored [r8+r10+40h],tmm1
0333  tilestored [r9+r10],tmm2
0339  tilestored [r9+r10+40h],tmm3
0340  mov r8,[rdi+40h]
0344  mov r9,[rsp+100h]
034c  add r9,r8
034f  mov [rsp+100h],r9
0357  mov r8,[rsp+0C0h]
035f  add r8,100h
0366  mov [rsp+0C0h],r8
036e  mov r8,[rsp+80h]
0376  dec r8
0379  mov [rsp+80h],r8
0381  jne near 0C0h
0387  mov r8,[rdi+58h]
038b  mov r9,[rdi+50h]
038f  mov r10,[rdi+60h]
0393  mov r11,[rsp+100h]
039b  add r11,r8
039e  mov [rsp+100h],r11
03a6  add rax,r9
03a9  mov r8,[rsp+40h]
03ae  add r8,r10
03b1  mov [rsp+40h],r8
03b6  mov r8,[rsp+40h]
03bb  mov [rsp+0C0h],r8
03c3  mov r8,[rsp]
03c7  dec r8
03ca  mov [rsp],r8
03ce  jne near 80h
03d4  add rsp,140h
03db  pop r15
03dd  pop r14
03df  pop r13
03e1  pop r12
03e3  pop rbp
03e4  pop rbx
03e5  ret
