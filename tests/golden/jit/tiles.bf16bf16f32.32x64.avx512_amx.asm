; 166 instructions, 975 bytes, 23 spills, 0 of them in inner loops
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
002d  mov ecx,100h
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
0146  tileloadd tmm6,[r10+rcx]
014c  tdpbf16ps tmm0,tmm4,tmm6
0151  tileloadd tmm7,[r10+rcx+40h]
0158  tdpbf16ps tmm1,tmm4,tmm7
015d  add r11,r14
0160  tileloadd tmm5,[rbp+r12]
0167  tdpbf16ps tmm2,tmm5,tmm6
016c  tdpbf16ps tmm3,tmm5,tmm7
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
01e9  tilezero tmm0
01ee  tilezero tmm1
01f3  tilezero tmm2
01f8  tilezero tmm3
01fd  mov r8,[rdi+8]
0201  mov r9,[rdi+10h]
0205  test r9,r9
0208  jle near 300h
020e  nop word [rax+rax]
0217  nop word [rax+rax]
0220  nop word [rax+rax]
0229  nop word [rax+rax]
0232  nop word [rax+rax]
023b  nop dword [rax+rax]
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
0268  mov r13,[rdi+20h]
026c  mov r14,[rdi+28h]
0270  mov r15,[rdi+30h]
0274  test r13,r13
0277  jle near 2F7h
027d  nop dword [rax]
0280  tileloadd tmm4,[r11+rbx]
0286  tileloadd tmm6,[r10+rcx+80h]
0290  tdpbf16ps tmm0,tmm4,tmm6
0295  tileloadd tmm7,[r10+rcx+0C0h]
029f  tdpbf16ps tmm1,tmm4,tmm7
02a4  add r11,r14
02a7  tileloadd tmm5,[rbp+r12]
02ae  tdpbf16ps tmm2,tmm5,tmm6
02b3  tdpbf16ps tmm3,tmm5,tmm7
02b8  add rbp,r14
02bb  add r10,r15
02be  prefetcht1 [rdx]
02c1  prefetcht1 [rdx+40h]
02c5  prefetcht1 [rdx+80h]
02cc  prefetcht1 [rdx+0C0h]
02d3  prefetcht1 [rdx+100h]
02da  prefetcht1 [rdx+140h]
02e1  prefetcht1 [rdx+180h]
02e8  prefetcht1 [rdx+1C0h]
02ef  add rdx,rsi
02f2  dec r13
02f5  jne short 280h
02f7  dec r9
02fa  jne near 240h
0300  mov r8,[rsp+0C0h]
0308  lea r8,[r8+80h]
030f  mov r9,[rdi+78h]
0313  add r9,r8
0316  mov r10,[rdi+70h]
031a  tilestored [r8+r10],tmm0
0320  tilestored [r8+r10+40h],tmm1
0327  tilestored [r9+r10],tmm2
032d  tilestored [r9+r10+40h],tmm3
0334  mov r8,[rdi+48h]
0338  mov r9,[rsp+100h]
0340  add r9,r8
0343  mov [rsp+100h],r9
034b  mov r8,[rsp+0C0h]
0353  add r8,100h
035a  mov [rsp+0C0h],r8
0362  mov r8,[rsp+80h]
036a  dec r8
036d  mov [rsp+80h],r8
0375  jne near 0C0h
037b  mov r8,[rdi+38h]
037f  mov r9,[rdi+58h]
0383  mov r10,[rdi+60h]
0387  mov [rsp+100h],r8
038f  add rax,r9
0392  mov r8,[rsp+40h]
0397  add r8,r10
039a  mov [rsp+40h],r8
039f  mov r8,[rsp+40h]
03a4  mov [rsp+0C0h],r8
03ac  mov r8,[rsp]
03b0  dec r8
03b3  mov [rsp],r8
03b7  jne near 80h
03bd  add rsp,140h
03c4  pop r15
03c6  pop r14
03c8  pop r13
03ca  pop r12
03cc  pop rbp
03cd  pop rbx
03ce  ret
