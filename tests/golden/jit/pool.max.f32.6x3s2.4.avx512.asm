; 281 instructions, 1787 bytes, 11 spills, 0 of them in inner loops
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
0175  vpbroadcastd zmm0,[rel 6FCh]
017f  vpbroadcastd zmm1,[rel 6FCh]
0189  vpbroadcastd zmm2,[rel 6FCh]
0193  vpbroadcastd zmm3,[rel 6FCh]
019d  vpbroadcastd zmm4,[rel 6FCh]
01a7  vpbroadcastd zmm5,[rel 6FCh]
01b1  vpbroadcastd zmm6,[rel 6FCh]
01bb  vpbroadcastd zmm7,[rel 6FCh]
01c5  vpbroadcastd zmm8,[rel 6FCh]
01cf  vpbroadcastd zmm9,[rel 6FCh]
01d9  vpbroadcastd zmm10,[rel 6FCh]
01e3  vpbroadcastd zmm11,[rel 6FCh]
01ed  vpbroadcastd zmm12,[rel 6FCh]
01f7  vpbroadcastd zmm13,[rel 6FCh]
0201  vpbroadcastd zmm14,[rel 6FCh]
020b  vpbroadcastd zmm15,[rel 6FCh]
0215  vpbroadcastd zmm16,[rel 6FCh]
021f  vpbroadcastd zmm17,[rel 6FCh]
0229  vpbroadcastd zmm18,[rel 6FCh]
0233  vpbroadcastd zmm19,[rel 6FCh]
023d  vpbroadcastd zmm20,[rel 6FCh]
0247  vpbroadcastd zmm21,[rel 6FCh]
0251  vpbroadcastd zmm22,[rel 6FCh]
025b  vpbroadcastd zmm23,[rel 6FCh]
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
0559  vmovups [rbx],zmm0
055f  mov r12,[rdi+68h]
0563  mov r13,rbx
0566  add r13,r12
0569  vmovups [r13],zmm1
0570  add r13,r12
0573  vmovups [r13],zmm2
057a  add r13,r12
057d  vmovups [r13],zmm3
0584  add r13,r12
0587  vmovups [r13],zmm4
058e  add r13,r12
0591  vmovups [r13],zmm5
0598  mov r12,rsi
059b  mov r13,rbx
059e  add r12,10h
05a2  mov r14,[rdi+78h]
05a6  add r13,r14
05a9  vmovups [r13],zmm6
05b0  mov r14,[rdi+68h]
05b4  mov r15,r13
05b7  add r15,r14
05ba  vmovups [r15],zmm7
05c0  add r15,r14
05c3  vmovups [r15],zmm8
05c9  add r15,r14
05cc  vmovups [r15],zmm9
05d2  add r15,r14
05d5  vmovups [r15],zmm10
05db  add r15,r14
05de  vmovups [r15],zmm11
05e4  add r12,10h
05e8  mov r14,[rdi+78h]
05ec  add r13,r14
05ef  vmovups [r13],zmm12
05f6  mov r14,[rdi+68h]
05fa  mov r15,r13
05fd  add r15,r14
0600  vmovups [r15],zmm13
0606  add r15,r14
0609  vmovups [r15],zmm14
060f  add r15,r14
0612  vmovups [r15],zmm15
0618  add r15,r14
061b  vmovups [r15],zmm16
0621  add r15,r14
0624  vmovups [r15],zmm17
062a  add r12,10h
062e  mov r12,[rdi+78h]
0632  add r13,r12
0635  vmovups [r13],zmm18
063c  mov r12,[rdi+68h]
0640  add r13,r12
0643  vmovups [r13],zmm19
064a  add r13,r12
064d  vmovups [r13],zmm20
0654  add r13,r12
0657  vmovups [r13],zmm21
065e  add r13,r12
0661  vmovups [r13],zmm22
0668  add r13,r12
066b  vmovups [r13],zmm23
0672  mov r12,[rdi+48h]
0676  add r11,r12
0679  mov r12,[rdi+70h]
067d  add rbx,r12
0680  dec rbp
0683  jne near 0C0h
0689  mov r11,[r8+10h]
068d  mov ebx,18h
0692  imul r11,rbx
0696  add r9,r11
0699  add r8,20h
069d  dec r10
06a0  jne near 80h
06a6  mov r8,[rdi+58h]
06aa  mov r9,[rsp+40h]
06af  add r9,r8
06b2  mov [rsp+40h],r9
06b7  mov r8,[rdi+80h]
06be  mov r9,[rsp+80h]
06c6  add r9,r8
06c9  mov [rsp+80h],r9
06d1  add rsi,40h
06d5  mov r8,[rsp]
06d9  dec r8
06dc  mov [rsp],r8
06e0  jne near 40h
06e6  add rsp,0C0h
06ed  pop r15
06ef  pop r14
06f1  pop r13
06f3  pop r12
06f5  pop rbp
06f6  pop rbx
06f7  vzeroupper
06fa  ret
