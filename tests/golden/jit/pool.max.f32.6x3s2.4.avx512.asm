; 289 instructions, 1797 bytes, 11 spills, 0 of them in inner loops
0000  push rbx
0001  push rbp
0002  push r12
0004  push r13
0006  push r14
0008  push r15
000a  sub rsp,0C0h
0011  mov rax,[rdi+38h]
0015  lea rcx,[rax+rax*2]
0019  lea rdx,[rax+rax*4]
001d  mov rsi,[rdi+30h]
0021  mov [rsp+40h],rsi
0026  mov rsi,[rdi+50h]
002a  mov [rsp+80h],rsi
0032  mov esi,0
0037  mov r8,[rdi+20h]
003b  mov [rsp],r8
003f  nop
0040  mov r8,[rdi]
0043  mov r9,[rdi+10h]
0047  mov r10,[rdi+8]
004b  nop word [rax+rax]
0054  nop word [rax+rax]
005d  nop word [rax+rax]
0066  nop word [rax+rax]
006f  nop word [rax+rax]
0078  nop dword [rax+rax]
0080  mov r11,[rsp+40h]
0085  mov rbx,[rsp+80h]
008d  mov rbp,[r8]
0090  add rbx,rbp
0093  mov rbp,[rdi+18h]
0097  nop word [rax+rax]
00a0  nop word [rax+rax]
00a9  nop word [rax+rax]
00b2  nop word [rax+rax]
00bb  nop dword [rax+rax]
00c0  mov r12,[rdi+58h]
00c4  mov r13,rbx
00c7  prefetchw [r13]
00cc  prefetchw [r13+40h]
00d1  prefetchw [r13+80h]
00d9  prefetchw [r13+0C0h]
00e1  add r13,r12
00e4  prefetchw [r13]
00e9  prefetchw [r13+40h]
00ee  prefetchw [r13+80h]
00f6  prefetchw [r13+0C0h]
00fe  add r13,r12
0101  prefetchw [r13]
0106  prefetchw [r13+40h]
010b  prefetchw [r13+80h]
0113  prefetchw [r13+0C0h]
011b  add r13,r12
011e  prefetchw [r13]
0123  prefetchw [r13+40h]
0128  prefetchw [r13+80h]
0130  prefetchw [r13+0C0h]
0138  add r13,r12
013b  prefetchw [r13]
0140  prefetchw [r13+40h]
0145  prefetchw [r13+80h]
014d  prefetchw [r13+0C0h]
0155  add r13,r12
0158  prefetchw [r13]
015d  prefetchw [r13+40h]
0162  prefetchw [r13+80h]
016a  prefetchw [r13+0C0h]
0172  add r13,r12
0175  vpbroadcastd zmm0,[rel 708h]
017f  vpbroadcastd zmm1,[rel 708h]
0189  vpbroadcastd zmm2,[rel 708h]
0193  vpbroadcastd zmm3,[rel 708h]
019d  vpbroadcastd zmm4,[rel 708h]
01a7  vpbroadcastd zmm5,[rel 708h]
01b1  vpbroadcastd zmm6,[rel 708h]
01bb  vpbroadcastd zmm7,[rel 708h]
01c5  vpbroadcastd zmm8,[rel 708h]
01cf  vpbroadcastd zmm9,[rel 708h]
01d9  vpbroadcastd zmm10,[rel 708h]
01e3  vpbroadcastd zmm11,[rel 708h]
01ed  vpbroadcastd zmm12,[rel 708h]
01f7  vpbroadcastd zmm13,[rel 708h]
0201  vpbroadcastd zmm14,[rel 708h]
020b  vpbroadcastd zmm15,[rel 708h]
0215  vpbroadcastd zmm16,[rel 708h]
021f  vpbroadcastd zmm17,[rel 708h]
0229  vpbroadcastd zmm18,[rel 708h]
0233  vpbroadcastd zmm19,[rel 708h]
023d  vpbroadcastd zmm20,[rel 708h]
0247  vpbroadcastd zmm21,[rel 708h]
0251  vpbroadcastd zmm22,[rel 708h]
025b  vpbroadcastd zmm23,[rel 708h]
0265  mov r12,r9
0268  mov r13,[r8+10h]
026c  test r13,r13
026f  jle near 559h
0275  nop word [rax+rax]
027e  xchg ax,ax
0280  mov r14,[r12]
0284  add r14,r11
0287  add r12,20h
028b  vrangeps zmm0,zmm0,[r14],5
0292  vrangeps zmm6,zmm6,[r14+40h],5
029a  vrangeps zmm12,zmm12,[r14+80h],5
02a2  vrangeps zmm18,zmm18,[r14+0C0h],5
02aa  vrangeps zmm0,zmm0,[r14+rax],5
02b2  vrangeps zmm6,zmm6,[r14+rax+40h],5
02bb  vrangeps zmm12,zmm12,[r14+rax+80h],5
02c4  vrangeps zmm18,zmm18,[r14+rax+0C0h],5
02cd  vmovups zmm24,[r14+rax*2]
02d4  vrangeps zmm1,zmm1,zmm24,5
02db  vrangeps zmm0,zmm0,zmm24,5
02e2  vmovups zmm24,[r14+rax*2+40h]
02ea  vrangeps zmm7,zmm7,zmm24,5
02f1  vrangeps zmm6,zmm6,zmm24,5
02f8  vmovups zmm24,[r14+rax*2+80h]
0300  vrangeps zmm13,zmm13,zmm24,5
0307  vrangeps zmm12,zmm12,zmm24,5
030e  vmovups zmm24,[r14+rax*2+0C0h]
0316  vrangeps zmm19,zmm19,zmm24,5
031d  vrangeps zmm18,zmm18,zmm24,5
0324  vrangeps zmm1,zmm1,[r14+rcx],5
032c  vrangeps zmm7,zmm7,[r14+rcx+40h],5
0335  vrangeps zmm13,zmm13,[r14+rcx+80h],5
033e  vrangeps zmm19,zmm19,[r14+rcx+0C0h],5
0347  vmovups zmm24,[r14+rax*4]
034e  vrangeps zmm2,zmm2,zmm24,5
0355  vrangeps zmm1,zmm1,zmm24,5
035c  vmovups zmm24,[r14+rax*4+40h]
0364  vrangeps zmm8,zmm8,zmm24,5
036b  vrangeps zmm7,zmm7,zmm24,5
0372  vmovups zmm24,[r14+rax*4+80h]
037a  vrangeps zmm14,zmm14,zmm24,5
0381  vrangeps zmm13,zmm13,zmm24,5
0388  vmovups zmm24,[r14+rax*4+0C0h]
0390  vrangeps zmm20,zmm20,zmm24,5
0397  vrangeps zmm19,zmm19,zmm24,5
039e  add r14,rdx
03a1  vrangeps zmm2,zmm2,[r14],5
03a8  vrangeps zmm8,zmm8,[r14+40h],5
03b0  vrangeps zmm14,zmm14,[r14+80h],5
03b8  vrangeps zmm20,zmm20,[r14+0C0h],5
03c0  vmovups zmm24,[r14+rax]
03c7  vrangeps zmm3,zmm3,zmm24,5
03ce  vrangeps zmm2,zmm2,zmm24,5
03d5  vmovups zmm24,[r14+rax+40h]
03dd  vrangeps zmm9,zmm9,zmm24,5
03e4  vrangeps zmm8,zmm8,zmm24,5
03eb  vmovups zmm24,[r14+rax+80h]
03f3  vrangeps zmm15,zmm15,zmm24,5
03fa  vrangeps zmm14,zmm14,zmm24,5
0401  vmovups zmm24,[r14+rax+0C0h]
0409  vrangeps zmm21,zmm21,zmm24,5
0410  vrangeps zmm20,zmm20,zmm24,5
0417  vrangeps zmm3,zmm3,[r14+rax*2],5
041f  vrangeps zmm9,zmm9,[r14+rax*2+40h],5
0428  vrangeps zmm15,zmm15,[r14+rax*2+80h],5
0431  vrangeps zmm21,zmm21,[r14+rax*2+0C0h],5
043a  vmovups zmm24,[r14+rcx]
0441  vrangeps zmm4,zmm4,zmm24,5
0448  vrangeps zmm3,zmm3,zmm24,5
044f  vmovups zmm24,[r14+rcx+40h]
0457  vrangeps zmm10,zmm10,zmm24,5
045e  vrangeps zmm9,zmm9,zmm24,5
0465  vmovups zmm24,[r14+rcx+80h]
046d  vrangeps zmm16,zmm16,zmm24,5
0474  vrangeps zmm15,zmm15,zmm24,5
047b  vmovups zmm24,[r14+rcx+0C0h]
0483  vrangeps zmm22,zmm22,zmm24,5
048a  vrangeps zmm21,zmm21,zmm24,5
0491  vrangeps zmm4,zmm4,[r14+rax*4],5
0499  vrangeps zmm10,zmm10,[r14+rax*4+40h],5
04a2  vrangeps zmm16,zmm16,[r14+rax*4+80h],5
04ab  vrangeps zmm22,zmm22,[r14+rax*4+0C0h],5
04b4  add r14,rdx
04b7  vmovups zmm24,[r14]
04bd  vrangeps zmm5,zmm5,zmm24,5
04c4  vrangeps zmm4,zmm4,zmm24,5
04cb  vmovups zmm24,[r14+40h]
04d2  vrangeps zmm11,zmm11,zmm24,5
04d9  vrangeps zmm10,zmm10,zmm24,5
04e0  vmovups zmm24,[r14+80h]
04e7  vrangeps zmm17,zmm17,zmm24,5
04ee  vrangeps zmm16,zmm16,zmm24,5
04f5  vmovups zmm24,[r14+0C0h]
04fc  vrangeps zmm23,zmm23,zmm24,5
0503  vrangeps zmm22,zmm22,zmm24,5
050a  vrangeps zmm5,zmm5,[r14+rax],5
0512  vrangeps zmm11,zmm11,[r14+rax+40h],5
051b  vrangeps zmm17,zmm17,[r14+rax+80h],5
0524  vrangeps zmm23,zmm23,[r14+rax+0C0h],5
052d  vrangeps zmm5,zmm5,[r14+rax*2],5
0535  vrangeps zmm11,zmm11,[r14+rax*2+40h],5
053e  vrangeps zmm17,zmm17,[r14+rax*2+80h],5
0547  vrangeps zmm23,zmm23,[r14+rax*2+0C0h],5
0550  dec r13
0553  jne near 280h
0559  mov r12,rsi
055c  mov r13,rbx
055f  mov r14,[rdi+58h]
0563  mov r15,r13
0566  vmovups [r15],zmm0
056c  add r15,r14
056f  vmovups [r15],zmm1
0575  add r15,r14
0578  vmovups [r15],zmm2
057e  add r15,r14
0581  vmovups [r15],zmm3
0587  add r15,r14
058a  vmovups [r15],zmm4
0590  add r15,r14
0593  vmovups [r15],zmm5
0599  add r15,r14
059c  add r12,10h
05a0  mov r14,[rdi+68h]
05a4  add r13,r14
05a7  mov r14,[rdi+58h]
05ab  mov r15,r13
05ae  vmovups [r15],zmm6
05b4  add r15,r14
05b7  vmovups [r15],zmm7
05bd  add r15,r14
05c0  vmovups [r15],zmm8
05c6  add r15,r14
05c9  vmovups [r15],zmm9
05cf  add r15,r14
05d2  vmovups [r15],zmm10
05d8  add r15,r14
05db  vmovups [r15],zmm11
05e1  add r15,r14
05e4  add r12,10h
05e8  mov r14,[rdi+68h]
05ec  add r13,r14
05ef  mov r14,[rdi+58h]
05f3  mov r15,r13
05f6  vmovups [r15],zmm12
05fc  add r15,r14
05ff  vmovups [r15],zmm13
0605  add r15,r14
0608  vmovups [r15],zmm14
060e  add r15,r14
0611  vmovups [r15],zmm15
0617  add r15,r14
061a  vmovups [r15],zmm16
0620  add r15,r14
0623  vmovups [r15],zmm17
0629  add r15,r14
062c  add r12,10h
0630  mov r14,[rdi+68h]
0634  add r13,r14
0637  mov r14,[rdi+58h]
063b  mov r15,r13
063e  vmovups [r15],zmm18
0644  add r15,r14
0647  vmovups [r15],zmm19
064d  add r15,r14
0650  vmovups [r15],zmm20
0656  add r15,r14
0659  vmovups [r15],zmm21
065f  add r15,r14
0662  vmovups [r15],zmm22
0668  add r15,r14
066b  vmovups [r15],zmm23
0671  add r15,r14
0674  add r12,10h
0678  mov r12,[rdi+68h]
067c  add r13,r12
067f  mov r12,[rdi+40h]
0683  add r11,r12
0686  mov r12,[rdi+60h]
068a  add rbx,r12
068d  dec rbp
0690  jne near 0C0h
0696  mov r11,[r8+10h]
069a  mov ebx,20h
069f  imul r11,rbx
06a3  add r9,r11
06a6  add r8,20h
06aa  dec r10
06ad  jne near 80h
06b3  mov r8,[rdi+48h]
06b7  mov r9,[rsp+40h]
06bc  add r9,r8
06bf  mov [rsp+40h],r9
06c4  mov r8,[rdi+70h]
06c8  mov r9,[rsp+80h]
06d0  add r9,r8
06d3  mov [rsp+80h],r9
06db  add rsi,40h
06df  mov r8,[rsp]
06e3  dec r8
06e6  mov [rsp],r8
06ea  jne near 40h
06f0  add rsp,0C0h
06f7  pop r15
06f9  pop r14
06fb  pop r13
06fd  pop r12
06ff  pop rbp
0700  pop rbx
0701  vzeroupper
0704  ret
