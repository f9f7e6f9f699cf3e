; 97 instructions, 553 bytes, 10 spills, 0 of them in inner loops
0000  push rbx
0001  push rbp
0002  push r12
0004  push r13
0006  push r14
0008  push r15
000a  sub rsp,0C0h
0011  mov rax,[rdi+18h]
0015  mov rcx,[rdi+38h]
0019  mov rdx,[rdi+68h]
001d  mov esi,100h
0022  mov r8,[rdi+80h]
0029  mov r9,[rdi+88h]
0030  mov r10,[rdi+50h]
0034  mov [rsp],r10
0038  mov r10,rdx
003b  mov [rsp+40h],r10
0040  mov r10,[rdi+40h]
0044  mov [rsp+80h],r10
004c  nop word [rax+rax]
0055  nop word [rax+rax]
005e  nop word [rax+rax]
0067  nop word [rax+rax]
0070  nop word [rax+rax]
0079  nop dword [rax]
0080  tilezero tmm0
0085  tilezero tmm1
008a  tilezero tmm2
008f  tilezero tmm3
0094  mov r10,[rdi+8]
0098  mov r11,[rdi+10h]
009c  test r11,r11
009f  jle near 190h
00a5  nop word [rax+rax]
00ae  nop word [rax+rax]
00b7  nop word [rax+rax]
00c0  mov rbx,[r10]
00c3  add rbx,rcx
00c6  mov rbp,[r10+8]
00ca  mov r12,[r10+10h]
00ce  add r10,28h
00d2  add rbp,rax
00d5  mov r13,[rdi+20h]
00d9  mov r14,[rdi+28h]
00dd  mov r15,[rdi+30h]
00e1  test r13,r13
00e4  jle near 187h
00ea  nop word [rax+rax]
00f3  nop word [rax+rax]
00fc  nop dword [rax]
0100  tileloadd tmm4,[rbp+r12]
0107  tileloadd tmm5,[rbx+rsi]
010d  tdpbf16ps tmm0,tmm4,tmm5
0112  tileloadd tmm6,[rbx+rsi+40h]
0119  tdpbf16ps tmm1,tmm4,tmm6
011e  tileloadd tmm7,[rbx+rsi+80h]
0128  tdpbf16ps tmm2,tmm4,tmm7
012d  tileloadd tmm5,[rbx+rsi+0C0h]
0137  tdpbf16ps tmm3,tmm4,tmm5
013c  add rbp,r14
013f  add rbx,r15
0142  prefetcht1 [r8]
0146  prefetcht1 [r8+40h]
014b  prefetcht1 [r8+80h]
0153  prefetcht1 [r8+0C0h]
015b  prefetcht1 [r8+100h]
0163  prefetcht1 [r8+140h]
016b  prefetcht1 [r8+180h]
0173  prefetcht1 [r8+1C0h]
017b  add r8,r9
017e  dec r13
0181  jne near 100h
0187  dec r11
018a  jne near 0C0h
0190  lea r10,[rdx]
0193  mov r11,[rdi+70h]
0197  tilestored [r10+r11],tmm0
019d  tilestored [r10+r11+40h],tmm1
01a4  tilestored [r10+r11+80h],tmm2
01ae  tilestored [r10+r11+0C0h],tmm3
01b8  mov r10,[rdi+48h]
01bc  add rcx,r10
01bf  add rdx,100h
01c6  mov r10,[rsp+80h]
01ce  dec r10
01d1  mov [rsp+80h],r10
01d9  jne near 80h
01df  mov r10,[rdi+38h]
01e3  mov r11,[rdi+58h]
01e7  mov rbx,[rdi+60h]
01eb  mov rcx,r10
01ee  add rax,r11
01f1  mov r10,[rsp+40h]
01f6  add r10,rbx
01f9  mov [rsp+40h],r10
01fe  mov r10,[rsp+40h]
0203  mov rdx,r10
0206  mov r10,[rsp]
020a  dec r10
020d  mov [rsp],r10
0211  jne near 40h
0217  add rsp,0C0h
021e  pop r15
0220  pop r14
0222  pop r13
0224  pop r12
0226  pop rbp
0227  pop rbx
0228  ret
