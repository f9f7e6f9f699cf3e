; 212 instructions, 982 bytes, 0 spills, 0 of them in inner loops
0000  push rbx
0001  mov rax,[rdi]
0004  mov rcx,[rdi+18h]
0008  mov rdx,[rdi+8]
000c  mov rsi,[rdi+20h]
0010  mov r8,[rdi+30h]
0014  test r8,r8
0017  jle near 14Dh
001d  nop word [rax+rax]
0026  nop word [rax+rax]
002f  nop word [rax+rax]
0038  nop dword [rax+rax]
0040  mov r9,rax
0043  vmovups ymm0,[r9]
0048  add r9,rdx
004b  vmovups ymm1,[r9]
0050  add r9,rdx
0053  vmovups ymm2,[r9]
0058  add r9,rdx
005b  vmovups ymm3,[r9]
0060  add r9,rdx
0063  vmovups ymm4,[r9]
0068  add r9,rdx
006b  vmovups ymm5,[r9]
0070  add r9,rdx
0073  vmovups ymm6,[r9]
0078  add r9,rdx
007b  vmovups ymm7,[r9]
0080  add r9,rdx
0083  mov r9,rcx
0086  vunpcklps ymm8,ymm0,ymm1
008a  vunpckhps ymm0,ymm0,ymm1
008e  vunpcklps ymm1,ymm2,ymm3
0092  vunpckhps ymm2,ymm2,ymm3
0096  vunpcklpd ymm3,ymm8,ymm1
009a  vunpckhpd ymm1,ymm8,ymm1
009e  vunpcklpd ymm8,ymm0,ymm2
00a2  vunpckhpd ymm0,ymm0,ymm2
00a6  vunpcklps ymm2,ymm4,ymm5
00aa  vunpckhps ymm4,ymm4,ymm5
00ae  vunpcklps ymm5,ymm6,ymm7
00b2  vunpckhps ymm6,ymm6,ymm7
00b6  vunpcklpd ymm7,ymm2,ymm5
00ba  vunpckhpd ymm2,ymm2,ymm5
00be  vunpcklpd ymm5,ymm4,ymm6
00c2  vunpckhpd ymm4,ymm4,ymm6
00c6  vperm2f128 ymm6,ymm3,ymm7,20h
00cc  vperm2f128 ymm3,ymm3,ymm7,31h
00d2  vperm2f128 ymm7,ymm1,ymm2,20h
00d8  vperm2f128 ymm1,ymm1,ymm2,31h
00de  vperm2f128 ymm2,ymm8,ymm5,20h
00e4  vperm2f128 ymm5,ymm8,ymm5,31h
00ea  vperm2f128 ymm8,ymm0,ymm4,20h
00f0  vperm2f128 ymm0,ymm0,ymm4,31h
00f6  vmovups [r9],ymm6
00fb  add r9,rsi
00fe  vmovups [r9],ymm7
0103  add r9,rsi
0106  vmovups [r9],ymm2
010b  add r9,rsi
010e  vmovups [r9],ymm8
0113  add r9,rsi
0116  vmovups [r9],ymm3
011b  add r9,rsi
011e  vmovups [r9],ymm1
0123  add r9,rsi
0126  vmovups [r9],ymm5
012b  add r9,rsi
012e  vmovups [r9],ymm0
0133  add r9,rsi
0136  mov r9,[rdi+10h]
013a  add rax,r9
013d  mov r9,[rdi+28h]
0141  add rcx,r9
0144  dec r8
0147  jne near 40h
014d  mov r8,[rdi+38h]
0151  mov r9,[rdi+40h]
0155  mov r10,[rdi+50h]
0159  test r8,r8
015c  jle near 3D1h
0162  nop word [rax+rax]
016b  nop word [rax+rax]
0174  nop word [rax+rax]
017d  nop dword [rax]
0180  mov r11,r10
0183  cmp r11,8
0187  jle near 195h
018d  mov ebx,8
0192  mov r11,rbx
0195  vmovd xmm0,r11d
019a  vpbroadcastd ymm0,xmm0
019f  vpcmpgtd ymm0,ymm0,[rel 3E0h]
01a7  mov r11,r9
01aa  cmp r11,8
01ae  jle near 1BCh
01b4  mov ebx,8
01b9  mov r11,rbx
01bc  vmovd xmm1,r11d
01c1  vpbroadcastd ymm1,xmm1
01c6  vpcmpgtd ymm1,ymm1,[rel 3E0h]
01ce  mov r11,rax
01d1  vpxor ymm2,ymm2,ymm2
01d5  cmp r9,0
01d9  jle near 1E8h
01df  vmaskmovps ymm3,ymm0,[r11]
01e4  vmovups ymm2,ymm3
01e8  add r11,rdx
01eb  vpxor ymm3,ymm3,ymm3
01ef  cmp r9,1
01f3  jle near 202h
01f9  vmaskmovps ymm4,ymm0,[r11]
01fe  vmovups ymm3,ymm4
0202  add r11,rdx
0205  vpxor ymm4,ymm4,ymm4
0209  cmp r9,2
020d  jle near 21Ch
0213  vmaskmovps ymm5,ymm0,[r11]
0218  vmovups ymm4,ymm5
021c  add r11,rdx
021f  vpxor ymm5,ymm5,ymm5
0223  cmp r9,3
0227  jle near 236h
022d  vmaskmovps ymm6,ymm0,[r11]
0232  vmovups ymm5,ymm6
0236  add r11,rdx
0239  vpxor ymm6,ymm6,ymm6
023d  cmp r9,4
0241  jle near 250h
0247  vmaskmovps ymm7,ymm0,[r11]
024c  vmovups ymm6,ymm7
0250  add r11,rdx
0253  vpxor ymm7,ymm7,ymm7
0257  cmp r9,5
025b  jle near 26Bh
0261  vmaskmovps ymm8,ymm0,[r11]
0266  vmovups ymm7,ymm8
026b  add r11,rdx
026e  vpxor ymm8,ymm8,ymm8
0273  cmp r9,6
0277  jle near 287h
027d  vmaskmovps ymm9,ymm0,[r11]
0282  vmovups ymm8,ymm9
0287  add r11,rdx
028a  vpxor ymm9,ymm9,ymm9
028f  cmp r9,7
0293  jle near 2A2h
0299  vmaskmovps ymm0,ymm0,[r11]
029e  vmovups ymm9,ymm0
02a2  add r11,rdx
02a5  mov r11,rcx
02a8  vunpcklps ymm0,ymm2,ymm3
02ac  vunpckhps ymm2,ymm2,ymm3
02b0  vunpcklps ymm3,ymm4,ymm5
02b4  vunpckhps ymm4,ymm4,ymm5
02b8  vunpcklpd ymm5,ymm0,ymm3
02bc  vunpckhpd ymm0,ymm0,ymm3
02c0  vunpcklpd ymm3,ymm2,ymm4
02c4  vunpckhpd ymm2,ymm2,ymm4
02c8  vunpcklps ymm4,ymm6,ymm7
02cc  vunpckhps ymm6,ymm6,ymm7
02d0  vunpcklps ymm7,ymm8,ymm9
02d5  vunpckhps ymm8,ymm8,ymm9
02da  vunpcklpd ymm9,ymm4,ymm7
02de  vunpckhpd ymm4,ymm4,ymm7
02e2  vunpcklpd ymm7,ymm6,ymm8
02e7  vunpckhpd ymm6,ymm6,ymm8
02ec  vperm2f128 ymm8,ymm5,ymm9,20h
02f2  vperm2f128 ymm5,ymm5,ymm9,31h
02f8  vperm2f128 ymm9,ymm0,ymm4,20h
02fe  vperm2f128 ymm0,ymm0,ymm4,31h
0304  vperm2f128 ymm4,ymm3,ymm7,20h
030a  vperm2f128 ymm3,ymm3,ymm7,31h
0310  vperm2f128 ymm7,ymm2,ymm6,20h
0316  vperm2f128 ymm2,ymm2,ymm6,31h
031c  cmp r10,0
0320  jle near 32Bh
0326  vmaskmovps [r11],ymm1,ymm8
032b  add r11,rsi
032e  cmp r10,1
0332  jle near 33Dh
0338  vmaskmovps [r11],ymm1,ymm9
033d  add r11,rsi
0340  cmp r10,2
0344  jle near 34Fh
034a  vmaskmovps [r11],ymm1,ymm4
034f  add r11,rsi
0352  cmp r10,3
0356  jle near 361h
035c  vmaskmovps [r11],ymm1,ymm7
0361  add r11,rsi
0364  cmp r10,4
0368  jle near 373h
036e  vmaskmovps [r11],ymm1,ymm5
0373  add r11,rsi
0376  cmp r10,5
037a  jle near 385h
0380  vmaskmovps [r11],ymm1,ymm0
0385  add r11,rsi
0388  cmp r10,6
038c  jle near 397h
0392  vmaskmovps [r11],ymm1,ymm3
0397  add r11,rsi
039a  cmp r10,7
039e  jle near 3A9h
03a4  vmaskmovps [r11],ymm1,ymm2
03a9  add r11,rsi
03ac  mov r11,[rdi+10h]
03b0  add rax,r11
03b3  mov r11,[rdi+28h]
03b7  add rcx,r11
03ba  mov r11,[rdi+48h]
03be  mov rbx,[rdi+58h]
03c2  sub r9,r11
03c5  sub r10,rbx
03c8  dec r8
03cb  jne near 180h
03d1  pop rbx
03d2  vzeroupper
03d5  ret
