; 151 instructions, 758 bytes, 0 spills, 0 of them in inner loops
0000  push rbx
0001  push rbp
0002  push r12
0004  vpbroadcastd ymm0,[rel 2F8h]
000d  vpxor ymm1,ymm1,ymm1
0011  vpxor ymm2,ymm2,ymm2
0015  vpxor ymm3,ymm3,ymm3
0019  vpxor ymm4,ymm4,ymm4
001d  vpxor ymm5,ymm5,ymm5
0021  vpxor ymm6,ymm6,ymm6
0025  vpxor ymm7,ymm7,ymm7
0029  vpxor ymm8,ymm8,ymm8
002e  vpxor ymm9,ymm9,ymm9
0033  vpxor ymm10,ymm10,ymm10
0038  vpxor ymm11,ymm11,ymm11
003d  vpxor ymm12,ymm12,ymm12
0042  mov rax,[rdi]
0045  mov rcx,[rdi+8]
0049  test rcx,rcx
004c  jle near 2A1h
0052  nop word [rax+rax]
005b  nop word [rax+rax]
0064  nop word [rax+rax]
006d  nop word [rax+rax]
0076  nop word [rax+rax]
007f  nop
0080  mov rdx,[rdi+18h]
0084  mov rsi,[rax]
0087  add rdx,rsi
008a  mov rsi,[rax+8]
008e  mov r8,[rax+10h]
0092  mov r9,[rax+18h]
0096  mov r10,[rax+20h]
009a  mov r11,[rax+28h]
009e  mov rbx,[rax+30h]
00a2  add rax,38h
00a6  mov ebp,0
00ab  mov r12,[rdi+10h]
00af  shr r12,1
00b3  test r12,r12
00b6  jle near 1E9h
00bc  nop dword [rax]
00c0  vmovups ymm13,[rdx]
00c4  vmovups ymm14,[rdx+20h]
00c9  vpbroadcastd ymm15,[rsi+rbp]
00cf  vpxor ymm15,ymm0,ymm15
00d4  vpdpbusd ymm1,ymm15,ymm13
00d9  vpdpbusd ymm2,ymm15,ymm14
00de  vpbroadcastd ymm15,[r8+rbp]
00e4  vpxor ymm15,ymm0,ymm15
00e9  vpdpbusd ymm3,ymm15,ymm13
00ee  vpdpbusd ymm4,ymm15,ymm14
00f3  vpbroadcastd ymm15,[r9+rbp]
00f9  vpxor ymm15,ymm0,ymm15
00fe  vpdpbusd ymm5,ymm15,ymm13
0103  vpdpbusd ymm6,ymm15,ymm14
0108  vpbroadcastd ymm15,[r10+rbp]
010e  vpxor ymm15,ymm0,ymm15
0113  vpdpbusd ymm7,ymm15,ymm13
0118  vpdpbusd ymm8,ymm15,ymm14
011d  vpbroadcastd ymm15,[r11+rbp]
0123  vpxor ymm15,ymm0,ymm15
0128  vpdpbusd ymm9,ymm15,ymm13
012d  vpdpbusd ymm10,ymm15,ymm14
0132  vpbroadcastd ymm15,[rbx+rbp]
0138  vpxor ymm15,ymm0,ymm15
013d  vpdpbusd ymm11,ymm15,ymm13
0142  vpdpbusd ymm12,ymm15,ymm14
0147  vmovups ymm13,[rdx+40h]
014c  vmovups ymm14,[rdx+60h]
0151  vpbroadcastd ymm15,[rsi+rbp+4]
0158  vpxor ymm15,ymm0,ymm15
015d  vpdpbusd ymm1,ymm15,ymm13
0162  vpdpbusd ymm2,ymm15,ymm14
0167  vpbroadcastd ymm15,[r8+rbp+4]
016e  vpxor ymm15,ymm0,ymm15
0173  vpdpbusd ymm3,ymm15,ymm13
0178  vpdpbusd ymm4,ymm15,ymm14
017d  vpbroadcastd ymm15,[r9+rbp+4]
0184  vpxor ymm15,ymm0,ymm15
0189  vpdpbusd ymm5,ymm15,ymm13
018e  vpdpbusd ymm6,ymm15,ymm14
0193  vpbroadcastd ymm15,[r10+rbp+4]
019a  vpxor ymm15,ymm0,ymm15
019f  vpdpbusd ymm7,ymm15,ymm13
01a4  vpdpbusd ymm8,ymm15,ymm14
01a9  vpbroadcastd ymm15,[r11+rbp+4]
01b0  vpxor ymm15,ymm0,ymm15
01b5  vpdpbusd ymm9,ymm15,ymm13
01ba  vpdpbusd ymm10,ymm15,ymm14
01bf  vpbroadcastd ymm15,[rbx+rbp+4]
01c6  vpxor ymm15,ymm0,ymm15
01cb  vpdpbusd ymm11,ymm15,ymm13
01d0  vpdpbusd ymm12,ymm15,ymm14
01d5  add rbp,8
01d9  add rdx,80h
01e0  dec r12
01e3  jne near 0C0h
01e9  mov r12,[rdi+10h]
01ed  and r12,1
01f1  test r12,r12
01f4  jle near 298h
01fa  nop word [rax+rax]
0200  vmovups ymm13,[rdx]
0204  vmovups ymm14,[rdx+20h]
0209  vpbroadcastd ymm15,[rsi+rbp]
020f  vpxor ymm15,ymm0,ymm15
0214  vpdpbusd ymm1,ymm15,ymm13
0219  vpdpbusd ymm2,ymm15,ymm14
021e  vpbroadcastd ymm15,[r8+rbp]
0224  vpxor ymm15,ymm0,ymm15
0229  vpdpbusd ymm3,ymm15,ymm13
022e  vpdpbusd ymm4,ymm15,ymm14
0233  vpbroadcastd ymm15,[r9+rbp]
0239  vpxor ymm15,ymm0,ymm15
023e  vpdpbusd ymm5,ymm15,ymm13
0243  vpdpbusd ymm6,ymm15,ymm14
0248  vpbroadcastd ymm15,[r10+rbp]
024e  vpxor ymm15,ymm0,ymm15
0253  vpdpbusd ymm7,ymm15,ymm13
0258  vpdpbusd ymm8,ymm15,ymm14
025d  vpbroadcastd ymm15,[r11+rbp]
0263  vpxor ymm15,ymm0,ymm15
0268  vpdpbusd ymm9,ymm15,ymm13
026d  vpdpbusd ymm10,ymm15,ymm14
0272  vpbroadcastd ymm15,[rbx+rbp]
0278  vpxor ymm15,ymm0,ymm15
027d  vpdpbusd ymm11,ymm15,ymm13
0282  vpdpbusd ymm12,ymm15,ymm14
0287  add rbp,4
028b  add rdx,40h
028f  dec r12
0292  jne near 200h
0298  dec rcx
029b  jne near 80h
02a1  mov rax,[rdi+20h]
02a5  mov rdi,[rdi+28h]
02a9  vmovups [rax],ymm1
02ad  vmovups [rax+20h],ymm2
02b2  add rax,rdi
02b5  vmovups [rax],ymm3
02b9  vmovups [rax+20h],ymm4
02be  add rax,rdi
02c1  vmovups [rax],ymm5
02c5  vmovups [rax+20h],ymm6
02ca  add rax,rdi
02cd  vmovups [rax],ymm7
02d1  vmovups [rax+20h],ymm8
02d6  add rax,rdi
02d9  vmovups [rax],ymm9
02dd  vmovups [rax+20h],ymm10
02e2  add rax,rdi
02e5  vmovups [rax],ymm11
02e9  vmovups [rax+20h],ymm12
02ee  pop r12
02f0  pop rbp
02f1  pop rbx
02f2  vzeroupper
02f5  ret
