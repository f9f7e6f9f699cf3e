; 242 instructions, 1322 bytes, 18 spills, 0 of them in inner loops
0000  push rbx
0001  push rbp
0002  push r12
0004  push r13
0006  push r14
0008  push r15
000a  sub rsp,140h
0011  mov rax,[rdi+38h]
0015  lea rcx,[rax+rax*2]
0019  lea rdx,[rax+rax*4]
001d  mov rsi,[rdi+30h]
0021  mov [rsp+40h],rsi
0026  mov rsi,[rdi+50h]
002a  mov [rsp+80h],rsi
0032  mov rsi,[rdi+78h]
0036  mov [rsp+0C0h],rsi
003e  mov esi,0
0043  mov r8,[rdi+20h]
0047  mov [rsp],r8
004b  nop word [rax+rax]
0054  nop word [rax+rax]
005d  nop word [rax+rax]
0066  nop word [rax+rax]
006f  nop word [rax+rax]
0078  nop dword [rax+rax]
0080  mov r8,[rdi]
0083  mov r9,[rdi+10h]
0087  mov r10,[rdi+8]
008b  mov [rsp+100h],r10
0093  nop word [rax+rax]
009c  nop word [rax+rax]
00a5  nop word [rax+rax]
00ae  nop word [rax+rax]
00b7  nop word [rax+rax]
00c0  mov r10,[rsp+40h]
00c5  mov r11,[rsp+80h]
00cd  mov rbx,[r8]
00d0  add r11,rbx
00d3  mov rbx,[rsp+0C0h]
00db  mov rbp,[r8+8]
00df  add rbx,rbp
00e2  mov rbp,[rdi+18h]
00e6  nop word [rax+rax]
00ef  nop word [rax+rax]
00f8  nop dword [rax+rax]
0100  mov r12,[rdi+58h]
0104  mov r13,r11
0107  prefetchw [r13]
010c  add r13,r12
010f  prefetchw [r13]
0114  add r13,r12
0117  prefetchw [r13]
011c  add r13,r12
011f  prefetchw [r13]
0124  add r13,r12
0127  vpbroadcastd ymm0,[rel 52Ch]
0130  vpbroadcastd ymm1,[rel 52Ch]
0139  vpbroadcastd ymm2,[rel 52Ch]
0142  vpbroadcastd ymm3,[rel 52Ch]
014b  vpxor ymm4,ymm4,ymm4
014f  vpxor ymm5,ymm5,ymm5
0153  vpxor ymm6,ymm6,ymm6
0157  vpxor ymm7,ymm7,ymm7
015b  mov r12,r9
015e  mov r13,[r8+10h]
0162  test r13,r13
0165  jle near 37Bh
016b  nop word [rax+rax]
0174  nop word [rax+rax]
017d  nop dword [rax]
0180  mov r14,[r12]
0184  add r14,r10
0187  mov r15,[r12+10h]
018c  vmovd xmm8,r15d
0191  vpbroadcastd ymm8,xmm8
0196  vcvtdq2ps ymm8,ymm8
019b  add r12,20h
019f  vaddps ymm9,ymm8,[rel 540h]
01a7  vaddps ymm10,ymm8,[rel 560h]
01af  vmovups ymm11,[r14]
01b4  vmaxps ymm12,ymm0,ymm11
01b9  vcmpunordps ymm11,ymm11,ymm11
01bf  vblendvps ymm11,ymm12,ymm0,ymm11
01c5  vcmpneqps ymm12,ymm11,ymm0
01ca  vmovups ymm0,ymm11
01cf  vblendvps ymm4,ymm4,ymm8,ymm12
01d5  vmovups ymm11,[r14+rax]
01db  vmaxps ymm12,ymm0,ymm11
01e0  vcmpunordps ymm11,ymm11,ymm11
01e6  vblendvps ymm11,ymm12,ymm0,ymm11
01ec  vcmpneqps ymm12,ymm11,ymm0
01f1  vmovups ymm0,ymm11
01f6  vblendvps ymm4,ymm4,ymm9,ymm12
01fc  vmovups ymm11,[r14+rax*2]
0202  vmaxps ymm12,ymm1,ymm11
0207  vcmpunordps ymm13,ymm11,ymm11
020d  vblendvps ymm12,ymm12,ymm1,ymm13
0213  vcmpneqps ymm13,ymm12,ymm1
0218  vmovups ymm1,ymm12
021d  vblendvps ymm5,ymm5,ymm8,ymm13
0223  vmaxps ymm12,ymm0,ymm11
0228  vcmpunordps ymm11,ymm11,ymm11
022e  vblendvps ymm11,ymm12,ymm0,ymm11
0234  vcmpneqps ymm12,ymm11,ymm0
0239  vmovups ymm0,ymm11
023e  vblendvps ymm4,ymm4,ymm10,ymm12
0244  vmovups ymm11,[r14+rcx]
024a  vmaxps ymm12,ymm1,ymm11
024f  vcmpunordps ymm11,ymm11,ymm11
0255  vblendvps ymm11,ymm12,ymm1,ymm11
025b  vcmpneqps ymm12,ymm11,ymm1
0260  vmovups ymm1,ymm11
0265  vblendvps ymm5,ymm5,ymm9,ymm12
026b  vmovups ymm11,[r14+rax*4]
0271  vmaxps ymm12,ymm2,ymm11
0276  vcmpunordps ymm13,ymm11,ymm11
027c  vblendvps ymm12,ymm12,ymm2,ymm13
0282  vcmpneqps ymm13,ymm12,ymm2
0287  vmovups ymm2,ymm12
028c  vblendvps ymm6,ymm6,ymm8,ymm13
0292  vmaxps ymm12,ymm1,ymm11
0297  vcmpunordps ymm11,ymm11,ymm11
029d  vblendvps ymm11,ymm12,ymm1,ymm11
02a3  vcmpneqps ymm12,ymm11,ymm1
02a8  vmovups ymm1,ymm11
02ad  vblendvps ymm5,ymm5,ymm10,ymm12
02b3  add r14,rdx
02b6  vmovups ymm11,[r14]
02bb  vmaxps ymm12,ymm2,ymm11
02c0  vcmpunordps ymm11,ymm11,ymm11
02c6  vblendvps ymm11,ymm12,ymm2,ymm11
02cc  vcmpneqps ymm12,ymm11,ymm2
02d1  vmovups ymm2,ymm11
02d6  vblendvps ymm6,ymm6,ymm9,ymm12
02dc  vmovups ymm11,[r14+rax]
02e2  vmaxps ymm12,ymm3,ymm11
02e7  vcmpunordps ymm13,ymm11,ymm11
02ed  vblendvps ymm12,ymm12,ymm3,ymm13
02f3  vcmpneqps ymm13,ymm12,ymm3
02f8  vmovups ymm3,ymm12
02fd  vblendvps ymm7,ymm7,ymm8,ymm13
0303  vmaxps ymm8,ymm2,ymm11
0308  vcmpunordps ymm11,ymm11,ymm11
030e  vblendvps ymm8,ymm8,ymm2,ymm11
0314  vcmpneqps ymm11,ymm8,ymm2
0319  vmovups ymm2,ymm8
031e  vblendvps ymm6,ymm6,ymm10,ymm11
0324  vmovups ymm8,[r14+rax*2]
032a  vmaxps ymm11,ymm3,ymm8
032f  vcmpunordps ymm8,ymm8,ymm8
0335  vblendvps ymm8,ymm11,ymm3,ymm8
033b  vcmpneqps ymm11,ymm8,ymm3
0340  vmovups ymm3,ymm8
0345  vblendvps ymm7,ymm7,ymm9,ymm11
034b  vmovups ymm8,[r14+rcx]
0351  vmaxps ymm9,ymm3,ymm8
0356  vcmpunordps ymm8,ymm8,ymm8
035c  vblendvps ymm8,ymm9,ymm3,ymm8
0362  vcmpneqps ymm9,ymm8,ymm3
0367  vmovups ymm3,ymm8
036c  vblendvps ymm7,ymm7,ymm10,ymm9
0372  dec r13
0375  jne near 180h
037b  mov r12,[rdi+80h]
0382  mov r13,rbx
0385  vcmpordps ymm8,ymm4,ymm4
038a  vpand ymm8,ymm8,ymm4
038e  vminps ymm8,ymm8,[rel 580h]
0396  vcvtps2dq ymm8,ymm8
039b  vpackssdw ymm4,ymm8,ymm8
03a0  vpermq ymm4,ymm4,8
03a6  vpackuswb xmm4,xmm4,xmm4
03aa  vmovq [r13],xmm4
03b0  add r13,r12
03b3  vcmpordps ymm4,ymm5,ymm5
03b8  vpand ymm4,ymm4,ymm5
03bc  vminps ymm4,ymm4,[rel 580h]
03c4  vcvtps2dq ymm4,ymm4
03c8  vpackssdw ymm4,ymm4,ymm4
03cc  vpermq ymm4,ymm4,8
03d2  vpackuswb xmm4,xmm4,xmm4
03d6  vmovq [r13],xmm4
03dc  add r13,r12
03df  vcmpordps ymm4,ymm6,ymm6
03e4  vpand ymm4,ymm4,ymm6
03e8  vminps ymm4,ymm4,[rel 580h]
03f0  vcvtps2dq ymm4,ymm4
03f4  vpackssdw ymm4,ymm4,ymm4
03f8  vpermq ymm4,ymm4,8
03fe  vpackuswb xmm4,xmm4,xmm4
0402  vmovq [r13],xmm4
0408  add r13,r12
040b  vcmpordps ymm4,ymm7,ymm7
0410  vpand ymm4,ymm4,ymm7
0414  vminps ymm4,ymm4,[rel 580h]
041c  vcvtps2dq ymm4,ymm4
0420  vpackssdw ymm4,ymm4,ymm4
0424  vpermq ymm4,ymm4,8
042a  vpackuswb xmm4,xmm4,xmm4
042e  vmovq [r13],xmm4
0434  add r13,r12
0437  mov r12,rsi
043a  mov r13,r11
043d  mov r14,[rdi+58h]
0441  mov r15,r13
0444  vmovups [r15],ymm0
0449  add r15,r14
044c  vmovups [r15],ymm1
0451  add r15,r14
0454  vmovups [r15],ymm2
0459  add r15,r14
045c  vmovups [r15],ymm3
0461  add r15,r14
0464  add r12,8
0468  mov r12,[rdi+68h]
046c  add r13,r12
046f  mov r12,[rdi+40h]
0473  add r10,r12
0476  mov r12,[rdi+60h]
047a  add r11,r12
047d  mov r12,[rdi+88h]
0484  add rbx,r12
0487  dec rbp
048a  jne near 100h
0490  mov r10,[r8+10h]
0494  mov r11d,20h
049a  imul r10,r11
049e  add r9,r10
04a1  add r8,20h
04a5  mov r10,[rsp+100h]
04ad  dec r10
04b0  mov [rsp+100h],r10
04b8  jne near 0C0h
04be  mov r8,[rdi+48h]
04c2  mov r9,[rsp+40h]
04c7  add r9,r8
04ca  mov [rsp+40h],r9
04cf  mov r8,[rdi+70h]
04d3  mov r9,[rsp+80h]
04db  add r9,r8
04de  mov [rsp+80h],r9
04e6  mov r8,[rdi+90h]
04ed  mov r9,[rsp+0C0h]
04f5  add r9,r8
04f8  mov [rsp+0C0h],r9
0500  add rsi,8
0504  mov r8,[rsp]
0508  dec r8
050b  mov [rsp],r8
050f  jne near 80h
0515  add rsp,140h
051c  pop r15
051e  pop r14
0520  pop r13
0522  pop r12
0524  pop rbp
0525  pop rbx
0526  vzeroupper
0529  ret
