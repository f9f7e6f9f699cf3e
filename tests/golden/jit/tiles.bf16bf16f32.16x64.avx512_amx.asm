; 97 instructions, 561 bytes, 10 spills, 0 of them in inner loops
0000  push rbx
0001  push rbp
0002  push r12
0004  push r13
0006  push r14
0008  push r15
000a  sub rsp,0C0h
0011  mov rax,[rdi+10h]
0015  mov rcx,[rdi+30h]
0019  mov rdx,[rdi+68h]
001d  mov esi,100h
0022  mov r8,[rdi+80h]
0029  mov r9,[rdi+88h]
0030  mov r10,[rdi+48h]
0034  mov [rsp],r10
0038  mov r10,rdx
003b  mov [rsp+40h],r10
0040  mov r10,[rdi+38h]
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
0094  mov r10,[rdi]
0097  mov r11,[rdi+8]
009b  test r11,r11
009e  jle near 198h
00a4  nop word [rax+rax]
00ad  nop word [rax+rax]
00b6  nop word [rax+rax]
00bf  nop
00c0  mov rbx,[r10]
00c3  add rbx,rcx
00c6  mov rbp,[r10+8]
00ca  mov r12,[r10+10h]
00ce  add r10,28h
00d2  add rbp,rax
00d5  mov r13,[rdi+18h]
00d9  test r13,r13
00dc  jle near 18Fh
00e2  nop word [rax+rax]
00eb  nop word [rax+rax]
00f4  nop word [rax+rax]
00fd  nop dword [rax]
0100  mov r14,[rdi+20h]
0104  mov r15,[rdi+28h]
0108  tileloadd tmm4,[rbp+r12]
010f  add rbp,r14
0112  tileloadd tmm5,[rbx+rsi]
0118  tileloadd tmm6,[rbx+rsi+40h]
011f  tdpbf16ps tmm0,tmm4,tmm5
0124  tileloadd tmm7,[rbx+rsi+80h]
012e  tdpbf16ps tmm1,tmm4,tmm6
0133  tileloadd tmm5,[rbx+rsi+0C0h]
013d  tdpbf16ps tmm2,tmm4,tmm7
0142  tdpbf16ps tmm3,tmm4,tmm5
0147  add rbx,r15
014a  prefetcht1 [r8]
014e  prefetcht1 [r8+40h]
0153  prefetcht1 [r8+80h]
015b  prefetcht1 [r8+0C0h]
0163  prefetcht1 [r8+100h]
016b  prefetcht1 [r8+140h]
0173  prefetcht1 [r8+180h]
017b  prefetcht1 [r8+1C0h]
0183  add r8,r9
0186  dec r13
0189  jne near 100h
018f  dec r11
0192  jne near 0C0h
0198  lea r10,[rdx]
019b  mov r11,[rdi+70h]
019f  tilestored [r10+r11],tmm0
01a5  tilestored [r10+r11+40h],tmm1
01ac  tilestored [r10+r11+80h],tmm2
01b6  tilestored [r10+r11+0C0h],tmm3
01c0  mov r10,[rdi+40h]
01c4  add rcx,r10
01c7  add rdx,100h
01ce  mov r10,[rsp+80h]
01d6  dec r10
01d9  mov [rsp+80h],r10
01e1  jne near 80h
01e7  mov r10,[rdi+58h]
01eb  mov r11,[rdi+50h]
01ef  mov rbx,[rdi+60h]
01f3  add rcx,r10
01f6  add rax,r11
01f9  mov r10,[rsp+40h]
01fe  add r10,rbx
0201  mov [rsp+40h],r10
0206  mov r10,[rsp+40h]
020b  mov rdx,r10
020e  mov r10,[rsp]
0212  dec r10
0215  mov [rsp],r10
0219  jne near 40h
021f  add rsp,0C0h
0226  pop r15
0228  pop r14
022a  pop r13
022c  pop r12
022e  pop rbp
022f  pop rbx
0230  ret
