; 256 instructions, 1406 bytes, 18 spills, 0 of them in inner loops
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
0127  vpbroadcastd ymm0,[rel 580h]
0130  vpbroadcastd ymm1,[rel 580h]
0139  vpbroadcastd ymm2,[rel 580h]
0142  vpbroadcastd ymm3,[rel 580h]
014b  vpxor ymm4,ymm4,ymm4
014f  vpxor ymm5,ymm5,ymm5
0153  vpxor ymm6,ymm6,ymm6
0157  vpxor ymm7,ymm7,ymm7
015b  mov r12,r9
015e  mov r13,[r8+10h]
0162  test r13,r13
0165  jle near 387h
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
019f  vpbroadcastd ymm9,[rel 584h]
01a8  vaddps ymm9,ymm8,ymm9
01ad  vpbroadcastd ymm10,[rel 588h]
01b6  vaddps ymm10,ymm8,ymm10
01bb  vmovups ymm11,[r14]
01c0  vmaxps ymm12,ymm0,ymm11
01c5  vcmpunordps ymm11,ymm11,ymm11
01cb  vblendvps ymm11,ymm12,ymm0,ymm11
01d1  vcmpneqps ymm12,ymm11,ymm0
01d6  vmovups ymm0,ymm11
01db  vblendvps ymm4,ymm4,ymm8,ymm12
01e1  vmovups ymm11,[r14+rax]
01e7  vmaxps ymm12,ymm0,ymm11
01ec  vcmpunordps ymm11,ymm11,ymm11
01f2  vblendvps ymm11,ymm12,ymm0,ymm11
01f8  vcmpneqps ymm12,ymm11,ymm0
01fd  vmovups ymm0,ymm11
0202  vblendvps ymm4,ymm4,ymm9,ymm12
0208  vmovups ymm11,[r14+rax*2]
020e  vmaxps ymm12,ymm1,ymm11
0213  vcmpunordps ymm13,ymm11,ymm11
0219  vblendvps ymm12,ymm12,ymm1,ymm13
021f  vcmpneqps ymm13,ymm12,ymm1
0224  vmovups ymm1,ymm12
0229  vblendvps ymm5,ymm5,ymm8,ymm13
022f  vmaxps ymm12,ymm0,ymm11
0234  vcmpunordps ymm11,ymm11,ymm11
023a  vblendvps ymm11,ymm12,ymm0,ymm11
0240  vcmpneqps ymm12,ymm11,ymm0
0245  vmovups ymm0,ymm11
024a  vblendvps ymm4,ymm4,ymm10,ymm12
0250  vmovups ymm11,[r14+rcx]
0256  vmaxps ymm12,ymm1,ymm11
025b  vcmpunordps ymm11,ymm11,ymm11
0261  vblendvps ymm11,ymm12,ymm1,ymm11
0267  vcmpneqps ymm12,ymm11,ymm1
026c  vmovups ymm1,ymm11
0271  vblendvps ymm5,ymm5,ymm9,ymm12
0277  vmovups ymm11,[r14+rax*4]
027d  vmaxps ymm12,ymm2,ymm11
0282  vcmpunordps ymm13,ymm11,ymm11
0288  vblendvps ymm12,ymm12,ymm2,ymm13
028e  vcmpneqps ymm13,ymm12,ymm2
0293  vmovups ymm2,ymm12
0298  vblendvps ymm6,ymm6,ymm8,ymm13
029e  vmaxps ymm12,ymm1,ymm11
02a3  vcmpunordps ymm11,ymm11,ymm11
02a9  vblendvps ymm11,ymm12,ymm1,ymm11
02af  vcmpneqps ymm12,ymm11,ymm1
02b4  vmovups ymm1,ymm11
02b9  vblendvps ymm5,ymm5,ymm10,ymm12
02bf  add r14,rdx
02c2  vmovups ymm11,[r14]
02c7  vmaxps ymm12,ymm2,ymm11
02cc  vcmpunordps ymm11,ymm11,ymm11
02d2  vblendvps ymm11,ymm12,ymm2,ymm11
02d8  vcmpneqps ymm12,ymm11,ymm2
02dd  vmovups ymm2,ymm11
02e2  vblendvps ymm6,ymm6,ymm9,ymm12
02e8  vmovups ymm11,[r14+rax]
02ee  vmaxps ymm12,ymm3,ymm11
02f3  vcmpunordps ymm13,ymm11,ymm11
02f9  vblendvps ymm12,ymm12,ymm3,ymm13
02ff  vcmpneqps ymm13,ymm12,ymm3
0304  vmovups ymm3,ymm12
0309  vblendvps ymm7,ymm7,ymm8,ymm13
030f  vmaxps ymm8,ymm2,ymm11
0314  vcmpunordps ymm11,ymm11,ymm11
031a  vblendvps ymm8,ymm8,ymm2,ymm11
0320  vcmpneqps ymm11,ymm8,ymm2
0325  vmovups ymm2,ymm8
032a  vblendvps ymm6,ymm6,ymm10,ymm11
0330  vmovups ymm8,[r14+rax*2]
0336  vmaxps ymm11,ymm3,ymm8
033b  vcmpunordps ymm8,ymm8,ymm8
0341  vblendvps ymm8,ymm11,ymm3,ymm8
0347  vcmpneqps ymm11,ymm8,ymm3
034c  vmovups ymm3,ymm8
0351  vblendvps ymm7,ymm7,ymm9,ymm11
0357  vmovups ymm8,[r14+rcx]
035d  vmaxps ymm9,ymm3,ymm8
0362  vcmpunordps ymm8,ymm8,ymm8
0368  vblendvps ymm8,ymm9,ymm3,ymm8
036e  vcmpneqps ymm9,ymm8,ymm3
0373  vmovups ymm3,ymm8
0378  vblendvps ymm7,ymm7,ymm10,ymm9
037e  dec r13
0381  jne near 180h
0387  mov r12,[rdi+80h]
038e  mov r13,rbx
0391  vcmpordps ymm8,ymm4,ymm4
0396  vpand ymm8,ymm8,ymm4
039a  vpbroadcastd ymm4,[rel 58Ch]
03a3  vmaxps ymm8,ymm8,ymm4
03a7  vpbroadcastd ymm4,[rel 590h]
03b0  vminps ymm8,ymm8,ymm4
03b4  vcvtps2dq ymm8,ymm8
03b9  vpackssdw ymm4,ymm8,ymm8
03be  vpermq ymm4,ymm4,8
03c4  vpackuswb xmm4,xmm4,xmm4
03c8  vmovq [r13],xmm4
03ce  add r13,r12
03d1  vcmpordps ymm4,ymm5,ymm5
03d6  vpand ymm4,ymm4,ymm5
03da  vpbroadcastd ymm5,[rel 58Ch]
03e3  vmaxps ymm4,ymm4,ymm5
03e7  vpbroadcastd ymm5,[rel 590h]
03f0  vminps ymm4,ymm4,ymm5
03f4  vcvtps2dq ymm4,ymm4
03f8  vpackssdw ymm4,ymm4,ymm4
03fc  vpermq ymm4,ymm4,8
0402  vpackuswb xmm4,xmm4,xmm4
0406  vmovq [r13],xmm4
040c  add r13,r12
040f  vcmpordps ymm4,ymm6,ymm6
0414  vpand ymm4,ymm4,ymm6
0418  vpbroadcastd ymm5,[rel 58Ch]
0421  vmaxps ymm4,ymm4,ymm5
0425  vpbroadcastd ymm5,[rel 590h]
042e  vminps ymm4,ymm4,ymm5
0432  vcvtps2dq ymm4,ymm4
0436  vpackssdw ymm4,ymm4,ymm4
043a  vpermq ymm4,ymm4,8
0440  vpackuswb xmm4,xmm4,xmm4
0444  vmovq [r13],xmm4
044a  add r13,r12
044d  vcmpordps ymm4,ymm7,ymm7
0452  vpand ymm4,ymm4,ymm7
0456  vpbroadcastd ymm5,[rel 58Ch]
045f  vmaxps ymm4,ymm4,ymm5
0463  vpbroadcastd ymm5,[rel 590h]
046c  vminps ymm4,ymm4,ymm5
0470  vcvtps2dq ymm4,ymm4
0474  vpackssdw ymm4,ymm4,ymm4
0478  vpermq ymm4,ymm4,8
047e  vpackuswb xmm4,xmm4,xmm4
0482  vmovq [r13],xmm4
0488  add r13,r12
048b  mov r12,rsi
048e  mov r13,r11
0491  mov r14,[rdi+58h]
0495  mov r15,r13
0498  vmovups [r15],ymm0
049d  add r15,r14
04a0  vmovups [r15],ymm1
04a5  add r15,r14
04a8  vmovups [r15],ymm2
04ad  add r15,r14
04b0  vmovups [r15],ymm3
04b5  add r15,r14
04b8  add r12,8
04bc  mov r12,[rdi+68h]
04c0  add r13,r12
04c3  mov r12,[rdi+40h]
04c7  add r10,r12
04ca  mov r12,[rdi+60h]
04ce  add r11,r12
04d1  mov r12,[rdi+88h]
04d8  add rbx,r12
04db  dec rbp
04de  jne near 100h
04e4  mov r10,[r8+10h]
04e8  mov r11d,20h
04ee  imul r10,r11
04f2  add r9,r10
04f5  add r8,20h
04f9  mov r10,[rsp+100h]
0501  dec r10
0504  mov [rsp+100h],r10
050c  jne near 0C0h
0512  mov r8,[rdi+48h]
0516  mov r9,[rsp+40h]
051b  add r9,r8
051e  mov [rsp+40h],r9
0523  mov r8,[rdi+70h]
0527  mov r9,[rsp+80h]
052f  add r9,r8
0532  mov [rsp+80h],r9
053a  mov r8,[rdi+90h]
0541  mov r9,[rsp+0C0h]
0549  add r9,r8
054c  mov [rsp+0C0h],r9
0554  add rsi,8
0558  mov r8,[rsp]
055c  dec r8
055f  mov [rsp],r8
0563  jne near 80h
0569  add rsp,140h
0570  pop r15
0572  pop r14
0574  pop r13
0576  pop r12
0578  pop rbp
0579  pop rbx
057a  vzeroupper
057d  ret
