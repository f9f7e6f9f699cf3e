; 220 instructions, 1004 bytes, 0 spills, 0 of them in inner loops
0000  push rbx
0001  mov rax,[rdi]
0004  mov rcx,[rdi+18h]
0008  mov rdx,[rdi+8]
000c  mov rsi,[rdi+20h]
0010  mov r8,[rdi+40h]
0014  test r8,r8
0017  jle near 1A5h
001d  nop word [rax+rax]
0026  nop word [rax+rax]
002f  nop word [rax+rax]
0038  nop dword [rax+rax]
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
00b3  mov r9,rcx
00b6  vunpcklps ymm8,ymm0,ymm1
00ba  vunpckhps ymm0,ymm0,ymm1
00be  vunpcklps ymm1,ymm2,ymm3
00c2  vunpckhps ymm2,ymm2,ymm3
00c6  vunpcklpd ymm3,ymm8,ymm1
00ca  vunpckhpd ymm1,ymm8,ymm1
00ce  vunpcklpd ymm8,ymm0,ymm2
00d2  vunpckhpd ymm0,ymm0,ymm2
00d6  vunpcklps ymm2,ymm4,ymm5
00da  vunpckhps ymm4,ymm4,ymm5
00de  vunpcklps ymm5,ymm6,ymm7
00e2  vunpckhps ymm6,ymm6,ymm7
00e6  vunpcklpd ymm7,ymm2,ymm5
00ea  vunpckhpd ymm2,ymm2,ymm5
00ee  vunpcklpd ymm5,ymm4,ymm6
00f2  vunpckhpd ymm4,ymm4,ymm6
00f6  vperm2f128 ymm6,ymm3,ymm7,20h
00fc  vperm2f128 ymm3,ymm3,ymm7,31h
0102  vperm2f128 ymm7,ymm1,ymm2,20h
0108  vperm2f128 ymm1,ymm1,ymm2,31h
010e  vperm2f128 ymm2,ymm8,ymm5,20h
0114  vperm2f128 ymm5,ymm8,ymm5,31h
011a  vperm2f128 ymm8,ymm0,ymm4,20h
0120  vperm2f128 ymm0,ymm0,ymm4,31h
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
01b1  test r8,r8
01b4  jle near 3E7h
01ba  nop word [rax+rax]
01c0  vmovd xmm0,r10d
01c5  vpbroadcastd ymm0,xmm0
01ca  vpcmpgtd ymm0,ymm0,[rel 400h]
01d2  vmovd xmm1,r9d
01d7  vpbroadcastd ymm1,xmm1
01dc  vpcmpgtd ymm1,ymm1,[rel 400h]
01e4  mov r11,rax
01e7  vpxor ymm2,ymm2,ymm2
01eb  cmp r9,0
01ef  jle near 1FEh
01f5  vmaskmovps ymm3,ymm0,[r11]
01fa  vmovups ymm2,ymm3
01fe  add r11,rdx
0201  vpxor ymm3,ymm3,ymm3
0205  cmp r9,1
0209  jle near 218h
020f  vmaskmovps ymm4,ymm0,[r11]
0214  vmovups ymm3,ymm4
0218  add r11,rdx
021b  vpxor ymm4,ymm4,ymm4
021f  cmp r9,2
0223  jle near 232h
0229  vmaskmovps ymm5,ymm0,[r11]
022e  vmovups ymm4,ymm5
0232  add r11,rdx
0235  vpxor ymm5,ymm5,ymm5
0239  cmp r9,3
023d  jle near 24Ch
0243  vmaskmovps ymm6,ymm0,[r11]
0248  vmovups ymm5,ymm6
024c  add r11,rdx
024f  vpxor ymm6,ymm6,ymm6
0253  cmp r9,4
0257  jle near 266h
025d  vmaskmovps ymm7,ymm0,[r11]
0262  vmovups ymm6,ymm7
0266  add r11,rdx
0269  vpxor ymm7,ymm7,ymm7
026d  cmp r9,5
0271  jle near 281h
0277  vmaskmovps ymm8,ymm0,[r11]
027c  vmovups ymm7,ymm8
0281  add r11,rdx
0284  vpxor ymm8,ymm8,ymm8
0289  cmp r9,6
028d  jle near 29Dh
0293  vmaskmovps ymm9,ymm0,[r11]
0298  vmovups ymm8,ymm9
029d  add r11,rdx
02a0  vpxor ymm9,ymm9,ymm9
02a5  cmp r9,7
02a9  jle near 2B8h
02af  vmaskmovps ymm0,ymm0,[r11]
02b4  vmovups ymm9,ymm0
02b8  add r11,rdx
02bb  mov r11,rcx
02be  vunpcklps ymm0,ymm2,ymm3
02c2  vunpckhps ymm2,ymm2,ymm3
02c6  vunpcklps ymm3,ymm4,ymm5
02ca  vunpckhps ymm4,ymm4,ymm5
02ce  vunpcklpd ymm5,ymm0,ymm3
02d2  vunpckhpd ymm0,ymm0,ymm3
02d6  vunpcklpd ymm3,ymm2,ymm4
02da  vunpckhpd ymm2,ymm2,ymm4
02de  vunpcklps ymm4,ymm6,ymm7
02e2  vunpckhps ymm6,ymm6,ymm7
02e6  vunpcklps ymm7,ymm8,ymm9
02eb  vunpckhps ymm8,ymm8,ymm9
02f0  vunpcklpd ymm9,ymm4,ymm7
02f4  vunpckhpd ymm4,ymm4,ymm7
02f8  vunpcklpd ymm7,ymm6,ymm8
02fd  vunpckhpd ymm6,ymm6,ymm8
0302  vperm2f128 ymm8,ymm5,ymm9,20h
0308  vperm2f128 ymm5,ymm5,ymm9,31h
030e  vperm2f128 ymm9,ymm0,ymm4,20h
0314  vperm2f128 ymm0,ymm0,ymm4,31h
031a  vperm2f128 ymm4,ymm3,ymm7,20h
0320  vperm2f128 ymm3,ymm3,ymm7,31h
0326  vperm2f128 ymm7,ymm2,ymm6,20h
032c  vperm2f128 ymm2,ymm2,ymm6,31h
0332  cmp r10,0
0336  jle near 341h
033c  vmaskmovps [r11],ymm1,ymm8
0341  add r11,rsi
0344  cmp r10,1
0348  jle near 353h
034e  vmaskmovps [r11],ymm1,ymm9
0353  add r11,rsi
0356  cmp r10,2
035a  jle near 365h
0360  vmaskmovps [r11],ymm1,ymm4
0365  add r11,rsi
0368  cmp r10,3
036c  jle near 377h
0372  vmaskmovps [r11],ymm1,ymm7
0377  add r11,rsi
037a  cmp r10,4
037e  jle near 389h
0384  vmaskmovps [r11],ymm1,ymm5
0389  add r11,rsi
038c  cmp r10,5
0390  jle near 39Bh
0396  vmaskmovps [r11],ymm1,ymm0
039b  add r11,rsi
039e  cmp r10,6
03a2  jle near 3ADh
03a8  vmaskmovps [r11],ymm1,ymm3
03ad  add r11,rsi
03b0  cmp r10,7
03b4  jle near 3BFh
03ba  vmaskmovps [r11],ymm1,ymm2
03bf  add r11,rsi
03c2  mov r11,[rdi+10h]
03c6  add rax,r11
03c9  mov r11,[rdi+28h]
03cd  add rcx,r11
03d0  mov r11,[rdi+58h]
03d4  mov rbx,[rdi+68h]
03d8  sub r9,r11
03db  sub r10,rbx
03de  dec r8
03e1  jne near 1C0h
03e7  pop rbx
03e8  vzeroupper
03eb  ret
