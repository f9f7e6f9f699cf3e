; 144 instructions, 748 bytes, 8 spills, 0 of them in inner loops
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
001e  mov ecx,100h
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
00c6  tileloadd tmm6,[r10+rcx]
00cc  tdpbssd tmm0,tmm4,tmm6
00d1  tileloadd tmm7,[r10+rcx+40h]
00d8  tdpbssd tmm1,tmm4,tmm7
00dd  add r11,r14
00e0  tileloadd tmm5,[rbp+r12]
00e7  tdpbssd tmm2,tmm5,tmm6
00ec  tdpbssd tmm3,tmm5,tmm7
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
0166  tilezero tmm0
016b  tilezero tmm1
0170  tilezero tmm2
0175  tilezero tmm3
017a  mov r8,[rdi+8]
017e  mov r9,[rdi+10h]
0182  test r9,r9
0185  jle near 280h
018b  nop word [rax+rax]
0194  nop word [rax+rax]
019d  nop word [rax+rax]
01a6  nop word [rax+rax]
01af  nop word [rax+rax]
01b8  nop dword [rax+rax]
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
0210  tdpbssd tmm0,tmm4,tmm6
0215  tileloadd tmm7,[r10+rcx+0C0h]
021f  tdpbssd tmm1,tmm4,tmm7
0224  add r11,r14
0227  tileloadd tmm5,[rbp+r12]
022e  tdpbssd tmm2,tmm5,tmm6
0233  tdpbssd tmm3,tmm5,tmm7
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
0280  mov r8,[rsp+40h]
0285  lea r8,[r8+80h]
028c  mov r9,[rdi+60h]
0290  add r9,r8
0293  mov r10,[rdi+58h]
0297  tilestored [r8+r10],tmm0
029d  tilestored [r8+r10+40h],tmm1
02a4  tilestored [r9+r10],tmm2
02aa  tilestored [r9+r10+40h],tmm3
02b1  mov r8,[rdi+48h]
02b5  add rax,r8
02b8  mov r8,[rsp+40h]
02bd  add r8,100h
02c4  mov [rsp+40h],r8
02c9  mov r8,[rsp]
02cd  dec r8
02d0  mov [rsp],r8
02d4  jne near 40h
02da  add rsp,80h
02e1  pop r15
02e3  pop r14
02e5  pop r13
02e7  pop r12
02e9  pop rbp
02ea  pop rbx
02eb  ret
