; 160 instructions, 796 bytes, 23 spills, 0 of them in inner loops
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
002a  mov ecx,100h
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
00c6  tileloadd tmm6,[r10+rcx]
00cc  tdpbf16ps tmm0,tmm4,tmm6
00d1  tileloadd tmm7,[r10+rcx+40h]
00d8  tdpbf16ps tmm1,tmm4,tmm7
00dd  add r11,r14
00e0  tileloadd tmm5,[rbp+r12]
00e7  tdpbf16ps tmm2,tmm5,tmm6
00ec  tdpbf16ps tmm3,tmm5,tmm7
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
0186  mov r8,[rdi+60h]
018a  mov r9,[rsp+80h]
0192  add r8,r9
0195  tilezero tmm0
019a  tilezero tmm1
019f  tilezero tmm2
01a4  tilezero tmm3
01a9  mov r8,[rdi+8]
01ad  mov r9,[rdi+10h]
01b1  test r9,r9
01b4  jle near 280h
01ba  nop word [rax+rax]
01c0  mov r10,[r8]
01c3  add r10,rax
01c6  mov r11,[r8+8]
01ca  mov rbx,[r8+10h]
01ce  mov rbp,[r8+18h]
01d2  mov r12,[r8+20h]
01d6  add r8,28h
01da  mov r13,[rdi+18h]
01de  add r11,r13
01e1  add rbp,r13
01e4  mov r13,[rdi+20h]
01e8  mov r14,[rdi+28h]
01ec  mov r15,[rdi+30h]
01f0  test r13,r13
01f3  jle near 277h
01f9  nop dword [rax]
0200  tileloadd tmm4,[r11+rbx]
0206  tileloadd tmm6,[r10+rcx+80h]
0210  tdpbf16ps tmm0,tmm4,tmm6
0215  tileloadd tmm7,[r10+rcx+0C0h]
021f  tdpbf16ps tmm1,tmm4,tmm7
0224  add r11,r14
0227  tileloadd tmm5,[rbp+r12]
022e  tdpbf16ps tmm2,tmm5,tmm6
0233  tdpbf16ps tmm3,tmm5,tmm7
0238  add rbp,r14
023b  add r10,r15
023e  prefetcht1 [rdx]
0241  prefetcht1 [rdx+40h]
0245  prefetcht1 [rdx+80h]
024c  prefetcht1 [rdx+0C0h]
0253  prefetcht1 [rdx+100h]
025a  prefetcht1 [rdx+140h]
0261  prefetcht1 [rdx+180h]
0268  prefetcht1 [rdx+1C0h]
026f  add rdx,rsi
0272  dec r13
0275  jne short 200h
0277  dec r9
027a  jne near 1C0h
0280  mov r8,[rdi+60h]
0284  mov r9,[rsp+80h]
028c  add r8,r9
028f  mov r9,[rsp+80h]
0297  mov r10,[rsp+40h]
029c  tilestored [r9+r10+80h],tmm0
02a6  mov r9,[rsp+80h]
02ae  mov r10,[rsp+40h]
02b3  tilestored [r9+r10+0C0h],tmm1
02bd  mov r9,[rsp+40h]
02c2  tilestored [r8+r9+80h],tmm2
02cc  mov r9,[rsp+40h]
02d1  tilestored [r8+r9+0C0h],tmm3
02db  mov r8,[rdi+48h]
02df  add rax,r8
02e2  mov r8,[rsp+80h]
02ea  add r8,100h
02f1  mov [rsp+80h],r8
02f9  mov r8,[rsp]
02fd  dec r8
0300  mov [rsp],r8
0304  jne near 40h
030a  add rsp,0C0h
0311  pop r15
0313  pop r14
0315  pop r13
0317  pop r12
0319  pop rbp
031a  pop rbx
031b  ret
