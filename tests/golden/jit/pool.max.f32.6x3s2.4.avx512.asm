; 285 instructions, 1798 bytes, 11 spills, 0 of them in inner loops
0000  push rbx
0001  push rbp
0002  push r12
0004  push r13
0006  push r14
0008  push r15
000a  sub rsp,0C0h
0011  mov rax,[rdi+40h]
0015  lea rcx,[rax+rax*2]
0019  lea rdx,[rax+rax*4]
001d  mov rsi,[rdi+38h]
0021  mov [rsp+40h],rsi
0026  mov rsi,[rdi+60h]
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
00c0  mov r12,[rdi+68h]
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
0287  vrangeps zmm0,zmm0,[r14],5
028e  vrangeps zmm6,zmm6,[r14+40h],5
0296  vrangeps zmm12,zmm12,[r14+80h],5
029e  vrangeps zmm18,zmm18,[r14+0C0h],5
02a6  vrangeps zmm0,zmm0,[r14+rax],5
02ae  vrangeps zmm6,zmm6,[r14+rax+40h],5
02b7  vrangeps zmm12,zmm12,[r14+rax+80h],5
02c0  vrangeps zmm18,zmm18,[r14+rax+0C0h],5
02c9  vmovups zmm24,[r14+rax*2]
02d0  vrangeps zmm1,zmm1,zmm24,5
02d7  vrangeps zmm0,zmm0,zmm24,5
02de  vmovups zmm24,[r14+rax*2+40h]
02e6  vrangeps zmm7,zmm7,zmm24,5
02ed  vrangeps zmm6,zmm6,zmm24,5
02f4  vmovups zmm24,[r14+rax*2+80h]
02fc  vrangeps zmm13,zmm13,zmm24,5
0303  vrangeps zmm12,zmm12,zmm24,5
030a  vmovups zmm24,[r14+rax*2+0C0h]
0312  vrangeps zmm19,zmm19,zmm24,5
0319  vrangeps zmm18,zmm18,zmm24,5
0320  vrangeps zmm1,zmm1,[r14+rcx],5
0328  vrangeps zmm7,zmm7,[r14+rcx+40h],5
0331  vrangeps zmm13,zmm13,[r14+rcx+80h],5
033a  vrangeps zmm19,zmm19,[r14+rcx+0C0h],5
0343  vmovups zmm24,[r14+rax*4]
034a  vrangeps zmm2,zmm2,zmm24,5
0351  vrangeps zmm1,zmm1,zmm24,5
0358  vmovups zmm24,[r14+rax*4+40h]
0360  vrangeps zmm8,zmm8,zmm24,5
0367  vrangeps zmm7,zmm7,zmm24,5
036e  vmovups zmm24,[r14+rax*4+80h]
0376  vrangeps zmm14,zmm14,zmm24,5
037d  vrangeps zmm13,zmm13,zmm24,5
0384  vmovups zmm24,[r14+rax*4+0C0h]
038c  vrangeps zmm20,zmm20,zmm24,5
0393  vrangeps zmm19,zmm19,zmm24,5
039a  add r14,rdx
039d  vrangeps zmm2,zmm2,[r14],5
03a4  vrangeps zmm8,zmm8,[r14+40h],5
03ac  vrangeps zmm14,zmm14,[r14+80h],5
03b4  vrangeps zmm20,zmm20,[r14+0C0h],5
03bc  vmovups zmm24,[r14+rax]
03c3  vrangeps zmm3,zmm3,zmm24,5
03ca  vrangeps zmm2,zmm2,zmm24,5
03d1  vmovups zmm24,[r14+rax+40h]
03d9  vrangeps zmm9,zmm9,zmm24,5
03e0  vrangeps zmm8,zmm8,zmm24,5
03e7  vmovups zmm24,[r14+rax+80h]
03ef  vrangeps zmm15,zmm15,zmm24,5
03f6  vrangeps zmm14,zmm14,zmm24,5
03fd  vmovups zmm24,[r14+rax+0C0h]
0405  vrangeps zmm21,zmm21,zmm24,5
040c  vrangeps zmm20,zmm20,zmm24,5
0413  vrangeps zmm3,zmm3,[r14+rax*2],5
041b  vrangeps zmm9,zmm9,[r14+rax*2+40h],5
0424  vrangeps zmm15,zmm15,[r14+rax*2+80h],5
042d  vrangeps zmm21,zmm21,[r14+rax*2+0C0h],5
0436  vmovups zmm24,[r14+rcx]
043d  vrangeps zmm4,zmm4,zmm24,5
0444  vrangeps zmm3,zmm3,zmm24,5
044b  vmovups zmm24,[r14+rcx+40h]
0453  vrangeps zmm10,zmm10,zmm24,5
045a  vrangeps zmm9,zmm9,zmm24,5
0461  vmovups zmm24,[r14+rcx+80h]
0469  vrangeps zmm16,zmm16,zmm24,5
0470  vrangeps zmm15,zmm15,zmm24,5
0477  vmovups zmm24,[r14+rcx+0C0h]
047f  vrangeps zmm22,zmm22,zmm24,5
0486  vrangeps zmm21,zmm21,zmm24,5
048d  vrangeps zmm4,zmm4,[r14+rax*4],5
0495  vrangeps zmm10,zmm10,[r14+rax*4+40h],5
049e  vrangeps zmm16,zmm16,[r14+rax*4+80h],5
04a7  vrangeps zmm22,zmm22,[r14+rax*4+0C0h],5
04b0  add r14,rdx
04b3  vmovups zmm24,[r14]
04b9  vrangeps zmm5,zmm5,zmm24,5
04c0  vrangeps zmm4,zmm4,zmm24,5
04c7  vmovups zmm24,[r14+40h]
04ce  vrangeps zmm11,zmm11,zmm24,5
04d5  vrangeps zmm10,zmm10,zmm24,5
04dc  vmovups zmm24,[r14+80h]
04e3  vrangeps zmm17,zmm17,zmm24,5
04ea  vrangeps zmm16,zmm16,zmm24,5
04f1  vmovups zmm24,[r14+0C0h]
04f8  vrangeps zmm23,zmm23,zmm24,5
04ff  vrangeps zmm22,zmm22,zmm24,5
0506  vrangeps zmm5,zmm5,[r14+rax],5
050e  vrangeps zmm11,zmm11,[r14+rax+40h],5
0517  vrangeps zmm17,zmm17,[r14+rax+80h],5
0520  vrangeps zmm23,zmm23,[r14+rax+0C0h],5
0529  vrangeps zmm5,zmm5,[r14+rax*2],5
0531  vrangeps zmm11,zmm11,[r14+rax*2+40h],5
053a  vrangeps zmm17,zmm17,[r14+rax*2+80h],5
0543  vrangeps zmm23,zmm23,[r14+rax*2+0C0h],5
054c  add r12,18h
0550  dec r13
0553  jne near 280h
0559  mov r12,[rdi+68h]
055d  mov r13,rbx
0560  vmovups [r13],zmm0
0567  add r13,r12
056a  vmovups [r13],zmm1
0571  add r13,r12
0574  vmovups [r13],zmm2
057b  add r13,r12
057e  vmovups [r13],zmm3
0585  add r13,r12
0588  vmovups [r13],zmm4
058f  add r13,r12
0592  vmovups [r13],zmm5
0599  add r13,r12
059c  mov r12,rsi
059f  mov r13,rbx
05a2  add r12,10h
05a6  mov r14,[rdi+78h]
05aa  add r13,r14
05ad  mov r14,[rdi+68h]
05b1  mov r15,r13
05b4  vmovups [r15],zmm6
05ba  add r15,r14
05bd  vmovups [r15],zmm7
05c3  add r15,r14
05c6  vmovups [r15],zmm8
05cc  add r15,r14
05cf  vmovups [r15],zmm9
05d5  add r15,r14
05d8  vmovups [r15],zmm10
05de  add r15,r14
05e1  vmovups [r15],zmm11
05e7  add r15,r14
05ea  add r12,10h
05ee  mov r14,[rdi+78h]
05f2  add r13,r14
05f5  mov r14,[rdi+68h]
05f9  mov r15,r13
05fc  vmovups [r15],zmm12
0602  add r15,r14
0605  vmovups [r15],zmm13
060b  add r15,r14
060e  vmovups [r15],zmm14
0614  add r15,r14
0617  vmovups [r15],zmm15
061d  add r15,r14
0620  vmovups [r15],zmm16
0626  add r15,r14
0629  vmovups [r15],zmm17
062f  add r15,r14
0632  add r12,10h
0636  mov r12,[rdi+78h]
063a  add r13,r12
063d  mov r12,[rdi+68h]
0641  vmovups [r13],zmm18
0648  add r13,r12
064b  vmovups [r13],zmm19
0652  add r13,r12
0655  vmovups [r13],zmm20
065c  add r13,r12
065f  vmovups [r13],zmm21
0666  add r13,r12
0669  vmovups [r13],zmm22
0670  add r13,r12
0673  vmovups [r13],zmm23
067a  add r13,r12
067d  mov r12,[rdi+48h]
0681  add r11,r12
0684  mov r12,[rdi+70h]
0688  add rbx,r12
068b  dec rbp
068e  jne near 0C0h
0694  mov r11,[r8+10h]
0698  mov ebx,18h
069d  imul r11,rbx
06a1  add r9,r11
06a4  add r8,20h
06a8  dec r10
06ab  jne near 80h
06b1  mov r8,[rdi+58h]
06b5  mov r9,[rsp+40h]
06ba  add r9,r8
06bd  mov [rsp+40h],r9
06c2  mov r8,[rdi+80h]
06c9  mov r9,[rsp+80h]
06d1  add r9,r8
06d4  mov [rsp+80h],r9
06dc  add rsi,40h
06e0  mov r8,[rsp]
06e4  dec r8
06e7  mov [rsp],r8
06eb  jne near 40h
06f1  add rsp,0C0h
06f8  pop r15
06fa  pop r14
06fc  pop r13
06fe  pop r12
0700  pop rbp
0701  pop rbx
0702  vzeroupper
0705  ret
