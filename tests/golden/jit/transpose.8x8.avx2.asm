; 227 instructions, 1026 bytes, 0 spills, 0 of them in inner loops
0000  push rbx
0001  push rbp
0002  mov rax,[rdi]
0005  mov rcx,[rdi+18h]
0009  mov rdx,[rdi+8]
000d  mov rsi,[rdi+20h]
0011  mov r8,[rdi+40h]
0015  test r8,r8
0018  jle near 1A5h
001e  nop word [rax+rax]
0027  nop word [rax+rax]
0030  nop word [rax+rax]
0039  nop dword [rax]
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
01b8  jle near 3FCh
01be  xchg ax,ax
01c0  vmovd xmm0,r10d
01c5  vpbroadcastd ymm0,xmm0
01ca  vpcmpgtd ymm0,ymm0,[rel 420h]
01d2  vmovd xmm1,r11d
01d7  vpbroadcastd ymm1,xmm1
01dc  vpcmpgtd ymm1,ymm1,[rel 420h]
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
0339  vpcmpgtd ymm6,ymm6,[rel 420h]
0341  mov rbx,rcx
0344  cmp r10,0
0348  jle near 353h
034e  vmaskmovps [rbx],ymm1,ymm8
0353  add rbx,rsi
0356  cmp r10,1
035a  jle near 365h
0360  vmaskmovps [rbx],ymm1,ymm9
0365  add rbx,rsi
0368  cmp r10,2
036c  jle near 377h
0372  vmaskmovps [rbx],ymm1,ymm4
0377  add rbx,rsi
037a  cmp r10,3
037e  jle near 389h
0384  vmaskmovps [rbx],ymm1,ymm7
0389  add rbx,rsi
038c  cmp r10,4
0390  jle near 39Bh
0396  vmaskmovps [rbx],ymm1,ymm5
039b  add rbx,rsi
039e  cmp r10,5
03a2  jle near 3ADh
03a8  vmaskmovps [rbx],ymm1,ymm0
03ad  add rbx,rsi
03b0  cmp r10,6
03b4  jle near 3BFh
03ba  vmaskmovps [rbx],ymm1,ymm3
03bf  add rbx,rsi
03c2  cmp r10,7
03c6  jle near 3D1h
03cc  vmaskmovps [rbx],ymm1,ymm2
03d1  add rbx,rsi
03d4  mov rbx,[rdi+10h]
03d8  add rax,rbx
03db  mov rbx,[rdi+28h]
03df  add rcx,rbx
03e2  mov rbx,[rdi+58h]
03e6  mov rbp,[rdi+68h]
03ea  sub r9,rbx
03ed  sub r10,rbp
03f0  sub r11,rbx
03f3  dec r8
03f6  jne near 1C0h
03fc  pop rbp
03fd  pop rbx
03fe  vzeroupper
0401  ret
