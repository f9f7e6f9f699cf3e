; 431 instructions, 1984 bytes, 0 spills, 0 of them in inner loops
0000  push rbx
0001  push rbp
0002  push r12
0004  push r13
0006  mov rax,[rdi]
0009  mov rcx,[rdi+18h]
000d  mov rdx,[rdi+8]
0011  mov rsi,[rdi+20h]
0015  mov r8,[rdi+40h]
0019  test r8,r8
001c  jle near 1A5h
0022  nop word [rax+rax]
002b  nop word [rax+rax]
0034  nop word [rax+rax]
003d  nop dword [rax]
0040  mov r9,[rdi+30h]
0044  mov r10,[rdi+38h]
0048  mov r11,rax
004b  vmovups ymm0,[r11]
0050  prefetcht0 [r11+r9]
0055  add r11,rdx
0058  vmovups ymm1,[r11]
005d  prefetcht0 [r11+r9]
0062  add r11,rdx
0065  vmovups ymm2,[r11]
006a  prefetcht0 [r11+r9]
006f  add r11,rdx
0072  vmovups ymm3,[r11]
0077  prefetcht0 [r11+r9]
007c  add r11,rdx
007f  vmovups ymm4,[r11]
0084  prefetcht0 [r11+r9]
0089  add r11,rdx
008c  vmovups ymm5,[r11]
0091  prefetcht0 [r11+r9]
0096  add r11,rdx
0099  vmovups ymm6,[r11]
009e  prefetcht0 [r11+r9]
00a3  add r11,rdx
00a6  vmovups ymm7,[r11]
00ab  prefetcht0 [r11+r9]
00b0  add r11,rdx
00b3  vunpcklps ymm8,ymm0,ymm1
00b7  vunpckhps ymm0,ymm0,ymm1
00bb  vunpcklps ymm1,ymm2,ymm3
00bf  vunpckhps ymm2,ymm2,ymm3
00c3  vunpcklpd ymm3,ymm8,ymm1
00c7  vunpckhpd ymm1,ymm8,ymm1
00cb  vunpcklpd ymm8,ymm0,ymm2
00cf  vunpckhpd ymm0,ymm0,ymm2
00d3  vunpcklps ymm2,ymm4,ymm5
00d7  vunpckhps ymm4,ymm4,ymm5
00db  vunpcklps ymm5,ymm6,ymm7
00df  vunpckhps ymm6,ymm6,ymm7
00e3  vunpcklpd ymm7,ymm2,ymm5
00e7  vunpckhpd ymm2,ymm2,ymm5
00eb  vunpcklpd ymm5,ymm4,ymm6
00ef  vunpckhpd ymm4,ymm4,ymm6
00f3  vperm2f128 ymm6,ymm3,ymm7,20h
00f9  vperm2f128 ymm3,ymm3,ymm7,31h
00ff  vperm2f128 ymm7,ymm1,ymm2,20h
0105  vperm2f128 ymm1,ymm1,ymm2,31h
010b  vperm2f128 ymm2,ymm8,ymm5,20h
0111  vperm2f128 ymm5,ymm8,ymm5,31h
0117  vperm2f128 ymm8,ymm0,ymm4,20h
011d  vperm2f128 ymm0,ymm0,ymm4,31h
0123  mov r9,rcx
0126  vmovups [r9],ymm6
012b  prefetchw [r9+r10]
0130  add r9,rsi
0133  vmovups [r9],ymm7
0138  prefetchw [r9+r10]
013d  add r9,rsi
0140  vmovups [r9],ymm2
0145  prefetchw [r9+r10]
014a  add r9,rsi
014d  vmovups [r9],ymm8
0152  prefetchw [r9+r10]
0157  add r9,rsi
015a  vmovups [r9],ymm3
015f  prefetchw [r9+r10]
0164  add r9,rsi
0167  vmovups [r9],ymm1
016c  prefetchw [r9+r10]
0171  add r9,rsi
0174  vmovups [r9],ymm5
0179  prefetchw [r9+r10]
017e  add r9,rsi
0181  vmovups [r9],ymm0
0186  prefetchw [r9+r10]
018b  add r9,rsi
018e  mov r9,[rdi+10h]
0192  add rax,r9
0195  mov r9,[rdi+28h]
0199  add rcx,r9
019c  dec r8
019f  jne near 40h
01a5  mov r8,[rdi+48h]
01a9  mov r9,[rdi+50h]
01ad  mov r10,[rdi+60h]
01b1  mov r11,[rdi+70h]
01b5  test r8,r8
01b8  jle near 7B6h
01be  xchg ax,ax
01c0  vmovd xmm0,r10d
01c5  vpbroadcastd ymm0,xmm0
01ca  vpcmpgtd ymm0,ymm0,[rel 7C0h]
01d2  vmovd xmm1,r11d
01d7  vpbroadcastd ymm1,xmm1
01dc  vpcmpgtd ymm1,ymm1,[rel 7C0h]
01e4  mov rbx,rax
01e7  vpxor ymm2,ymm2,ymm2
01eb  cmp r9,0
01ef  jle near 1FEh
01f5  vmaskmovps ymm3,ymm0,[rbx]
01fa  vmovups ymm2,ymm3
01fe  add rbx,rdx
0201  vpxor ymm3,ymm3,ymm3
0205  cmp r9,1
0209  jle near 218h
020f  vmaskmovps ymm4,ymm0,[rbx]
0214  vmovups ymm3,ymm4
0218  add rbx,rdx
021b  vpxor ymm4,ymm4,ymm4
021f  cmp r9,2
0223  jle near 232h
0229  vmaskmovps ymm5,ymm0,[rbx]
022e  vmovups ymm4,ymm5
0232  add rbx,rdx
0235  vpxor ymm5,ymm5,ymm5
0239  cmp r9,3
023d  jle near 24Ch
0243  vmaskmovps ymm6,ymm0,[rbx]
0248  vmovups ymm5,ymm6
024c  add rbx,rdx
024f  vpxor ymm6,ymm6,ymm6
0253  cmp r9,4
0257  jle near 266h
025d  vmaskmovps ymm7,ymm0,[rbx]
0262  vmovups ymm6,ymm7
0266  add rbx,rdx
0269  vpxor ymm7,ymm7,ymm7
026d  cmp r9,5
0271  jle near 281h
0277  vmaskmovps ymm8,ymm0,[rbx]
027c  vmovups ymm7,ymm8
0281  add rbx,rdx
0284  vpxor ymm8,ymm8,ymm8
0289  cmp r9,6
028d  jle near 29Dh
0293  vmaskmovps ymm9,ymm0,[rbx]
0298  vmovups ymm8,ymm9
029d  add rbx,rdx
02a0  vpxor ymm9,ymm9,ymm9
02a5  cmp r9,7
02a9  jle near 2B8h
02af  vmaskmovps ymm0,ymm0,[rbx]
02b4  vmovups ymm9,ymm0
02b8  add rbx,rdx
02bb  vunpcklps ymm0,ymm2,ymm3
02bf  vunpckhps ymm2,ymm2,ymm3
02c3  vunpcklps ymm3,ymm4,ymm5
02c7  vunpckhps ymm4,ymm4,ymm5
02cb  vunpcklpd ymm5,ymm0,ymm3
02cf  vunpckhpd ymm0,ymm0,ymm3
02d3  vunpcklpd ymm3,ymm2,ymm4
02d7  vunpckhpd ymm2,ymm2,ymm4
02db  vunpcklps ymm4,ymm6,ymm7
02df  vunpckhps ymm6,ymm6,ymm7
02e3  vunpcklps ymm7,ymm8,ymm9
02e8  vunpckhps ymm8,ymm8,ymm9
02ed  vunpcklpd ymm9,ymm4,ymm7
02f1  vunpckhpd ymm4,ymm4,ymm7
02f5  vunpcklpd ymm7,ymm6,ymm8
02fa  vunpckhpd ymm6,ymm6,ymm8
02ff  vperm2f128 ymm8,ymm5,ymm9,20h
0305  vperm2f128 ymm5,ymm5,ymm9,31h
030b  vperm2f128 ymm9,ymm0,ymm4,20h
0311  vperm2f128 ymm0,ymm0,ymm4,31h
0317  vperm2f128 ymm4,ymm3,ymm7,20h
031d  vperm2f128 ymm3,ymm3,ymm7,31h
0323  vperm2f128 ymm7,ymm2,ymm6,20h
0329  vperm2f128 ymm2,ymm2,ymm6,31h
032f  vmovd xmm6,r9d
0334  vpbroadcastd ymm6,xmm6
0339  vpcmpgtd ymm6,ymm6,[rel 7C0h]
0341  mov rbx,rcx
0344  cmp r10,0
0348  jle near 3CBh
034e  vmovmskps ebp,ymm1
0352  cmp rbp,0FFh
0359  jne near 363h
035f  vmovups [rbx],ymm8
0363  cmp rbp,0FFh
036a  je near 3CBh
0370  lea r12,[rbx]
0373  mov r13,rbp
0376  vmovups xmm6,xmm8
037b  and rbp,8
037f  je near 399h
0385  vmovups [r12],xmm6
038b  vextracti128 xmm6,ymm8,1
0391  add r12,10h
0395  shr r13,4
0399  mov rbp,r13
039c  and rbp,2
03a0  je near 3B8h
03a6  vmovq [r12],xmm6
03ac  vunpckhpd xmm6,xmm6,xmm6
03b0  add r12,8
03b4  shr r13,2
03b8  mov rbp,r13
03bb  and rbp,1
03bf  je near 3CBh
03c5  vmovd [r12],xmm6
03cb  add rbx,rsi
03ce  cmp r10,1
03d2  jle near 455h
03d8  vmovmskps ebp,ymm1
03dc  cmp rbp,0FFh
03e3  jne near 3EDh
03e9  vmovups [rbx],ymm9
03ed  cmp rbp,0FFh
03f4  je near 455h
03fa  lea r12,[rbx]
03fd  mov r13,rbp
0400  vmovups xmm6,xmm9
0405  and rbp,8
0409  je near 423h
040f  vmovups [r12],xmm6
0415  vextracti128 xmm6,ymm9,1
041b  add r12,10h
041f  shr r13,4
0423  mov rbp,r13
0426  and rbp,2
042a  je near 442h
0430  vmovq [r12],xmm6
0436  vunpckhpd xmm6,xmm6,xmm6
043a  add r12,8
043e  shr r13,2
0442  mov rbp,r13
0445  and rbp,1
0449  je near 455h
044f  vmovd [r12],xmm6
0455  add rbx,rsi
0458  cmp r10,2
045c  jle near 4DEh
0462  vmovmskps ebp,ymm1
0466  cmp rbp,0FFh
046d  jne near 477h
0473  vmovups [rbx],ymm4
0477  cmp rbp,0FFh
047e  je near 4DEh
0484  lea r12,[rbx]
0487  mov r13,rbp
048a  vmovups xmm6,xmm4
048e  and rbp,8
0492  je near 4ACh
0498  vmovups [r12],xmm6
049e  vextracti128 xmm6,ymm4,1
04a4  add r12,10h
04a8  shr r13,4
04ac  mov rbp,r13
04af  and rbp,2
04b3  je near 4CBh
04b9  vmovq [r12],xmm6
04bf  vunpckhpd xmm6,xmm6,xmm6
04c3  add r12,8
04c7  shr r13,2
04cb  mov rbp,r13
04ce  and rbp,1
04d2  je near 4DEh
04d8  vmovd [r12],xmm6
04de  add rbx,rsi
04e1  cmp r10,3
04e5  jle near 567h
04eb  vmovmskps ebp,ymm1
04ef  cmp rbp,0FFh
04f6  jne near 500h
04fc  vmovups [rbx],ymm7
0500  cmp rbp,0FFh
0507  je near 567h
050d  lea r12,[rbx]
0510  mov r13,rbp
0513  vmovups xmm4,xmm7
0517  and rbp,8
051b  je near 535h
0521  vmovups [r12],xmm4
0527  vextracti128 xmm4,ymm7,1
052d  add r12,10h
0531  shr r13,4
0535  mov rbp,r13
0538  and rbp,2
053c  je near 554h
0542  vmovq [r12],xmm4
0548  vunpckhpd xmm4,xmm4,xmm4
054c  add r12,8
0550  shr r13,2
0554  mov rbp,r13
0557  and rbp,1
055b  je near 567h
0561  vmovd [r12],xmm4
0567  add rbx,rsi
056a  cmp r10,4
056e  jle near 5F0h
0574  vmovmskps ebp,ymm1
0578  cmp rbp,0FFh
057f  jne near 589h
0585  vmovups [rbx],ymm5
0589  cmp rbp,0FFh
0590  je near 5F0h
0596  lea r12,[rbx]
0599  mov r13,rbp
059c  vmovups xmm4,xmm5
05a0  and rbp,8
05a4  je near 5BEh
05aa  vmovups [r12],xmm4
05b0  vextracti128 xmm4,ymm5,1
05b6  add r12,10h
05ba  shr r13,4
05be  mov rbp,r13
05c1  and rbp,2
05c5  je near 5DDh
05cb  vmovq [r12],xmm4
05d1  vunpckhpd xmm4,xmm4,xmm4
05d5  add r12,8
05d9  shr r13,2
05dd  mov rbp,r13
05e0  and rbp,1
05e4  je near 5F0h
05ea  vmovd [r12],xmm4
05f0  add rbx,rsi
05f3  cmp r10,5
05f7  jle near 679h
05fd  vmovmskps ebp,ymm1
0601  cmp rbp,0FFh
0608  jne near 612h
060e  vmovups [rbx],ymm0
0612  cmp rbp,0FFh
0619  je near 679h
061f  lea r12,[rbx]
0622  mov r13,rbp
0625  vmovups xmm4,xmm0
0629  and rbp,8
062d  je near 647h
0633  vmovups [r12],xmm4
0639  vextracti128 xmm4,ymm0,1
063f  add r12,10h
0643  shr r13,4
0647  mov rbp,r13
064a  and rbp,2
064e  je near 666h
0654  vmovq [r12],xmm4
065a  vunpckhpd xmm4,xmm4,xmm4
065e  add r12,8
0662  shr r13,2
0666  mov rbp,r13
0669  and rbp,1
066d  je near 679h
0673  vmovd [r12],xmm4
0679  add rbx,rsi
067c  cmp r10,6
0680  jle near 702h
0686  vmovmskps ebp,ymm1
068a  cmp rbp,0FFh
0691  jne near 69Bh
0697  vmovups [rbx],ymm3
069b  cmp rbp,0FFh
06a2  je near 702h
06a8  lea r12,[rbx]
06ab  mov r13,rbp
06ae  vmovups xmm0,xmm3
06b2  and rbp,8
06b6  je near 6D0h
06bc  vmovups [r12],xmm0
06c2  vextracti128 xmm0,ymm3,1
06c8  add r12,10h
06cc  shr r13,4
06d0  mov rbp,r13
06d3  and rbp,2
06d7  je near 6EFh
06dd  vmovq [r12],xmm0
06e3  vunpckhpd xmm0,xmm0,xmm0
06e7  add r12,8
06eb  shr r13,2
06ef  mov rbp,r13
06f2  and rbp,1
06f6  je near 702h
06fc  vmovd [r12],xmm0
0702  add rbx,rsi
0705  cmp r10,7
0709  jle near 78Bh
070f  vmovmskps ebp,ymm1
0713  cmp rbp,0FFh
071a  jne near 724h
0720  vmovups [rbx],ymm2
0724  cmp rbp,0FFh
072b  je near 78Bh
0731  lea r12,[rbx]
0734  mov r13,rbp
0737  vmovups xmm0,xmm2
073b  and rbp,8
073f  je near 759h
0745  vmovups [r12],xmm0
074b  vextracti128 xmm0,ymm2,1
0751  add r12,10h
0755  shr r13,4
0759  mov rbp,r13
075c  and rbp,2
0760  je near 778h
0766  vmovq [r12],xmm0
076c  vunpckhpd xmm0,xmm0,xmm0
0770  add r12,8
0774  shr r13,2
0778  mov rbp,r13
077b  and rbp,1
077f  je near 78Bh
0785  vmovd [r12],xmm0
078b  add rbx,rsi
078e  mov rbx,[rdi+10h]
0792  add rax,rbx
0795  mov rbx,[rdi+28h]
0799  add rcx,rbx
079c  mov rbx,[rdi+58h]
07a0  mov rbp,[rdi+68h]
07a4  sub r9,rbx
07a7  sub r10,rbp
07aa  sub r11,rbx
07ad  dec r8
07b0  jne near 1C0h
07b6  pop r13
07b8  pop r12
07ba  pop rbp
07bb  pop rbx
07bc  vzeroupper
07bf  ret
