; 256 instructions, 1418 bytes, 18 spills, 0 of them in inner loops
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
0127  vpbroadcastd ymm0,[rel 58Ch]
0130  vpbroadcastd ymm1,[rel 58Ch]
0139  vpbroadcastd ymm2,[rel 58Ch]
0142  vpbroadcastd ymm3,[rel 58Ch]
014b  vpxor ymm4,ymm4,ymm4
014f  vpxor ymm5,ymm5,ymm5
0153  vpxor ymm6,ymm6,ymm6
0157  vpxor ymm7,ymm7,ymm7
015b  mov r12,r9
015e  mov r13,[r8+10h]
0162  test r13,r13
0165  jle near 393h
016b  nop word [rax+rax]
0174  nop word [rax+rax]
017d  nop dword [rax]
0180  mov r14,[r12]
0184  add r14,r10
0187  mov r15,[r12+10h]
018c  vmovd xmm8,r15d
0191  vpbroadcastd ymm8,xmm8
0196  vcvtdq2ps ymm8,ymm8
019b  add r12,18h
019f  vpbroadcastd ymm9,[rel 590h]
01a8  vaddps ymm9,ymm8,ymm9
01ad  vpbroadcastd ymm10,[rel 594h]
01b6  vaddps ymm10,ymm8,ymm10
01bb  vmovups ymm11,[r14]
01c0  vmaxps ymm12,ymm0,ymm11
01c5  vcmpunordps ymm13,ymm11,ymm11
01cb  vblendvps ymm12,ymm12,ymm0,ymm13
01d1  vcmpneqps ymm12,ymm12,ymm0
01d6  vblendvps ymm0,ymm0,ymm11,ymm12
01dc  vblendvps ymm4,ymm4,ymm8,ymm12
01e2  vmovups ymm11,[r14+rax]
01e8  vmaxps ymm12,ymm0,ymm11
01ed  vcmpunordps ymm13,ymm11,ymm11
01f3  vblendvps ymm12,ymm12,ymm0,ymm13
01f9  vcmpneqps ymm12,ymm12,ymm0
01fe  vblendvps ymm0,ymm0,ymm11,ymm12
0204  vblendvps ymm4,ymm4,ymm9,ymm12
020a  vmovups ymm11,[r14+rax*2]
0210  vmaxps ymm12,ymm1,ymm11
0215  vcmpunordps ymm13,ymm11,ymm11
021b  vblendvps ymm12,ymm12,ymm1,ymm13
0221  vcmpneqps ymm12,ymm12,ymm1
0226  vblendvps ymm1,ymm1,ymm11,ymm12
022c  vblendvps ymm5,ymm5,ymm8,ymm12
0232  vmaxps ymm12,ymm0,ymm11
0237  vcmpunordps ymm13,ymm11,ymm11
023d  vblendvps ymm12,ymm12,ymm0,ymm13
0243  vcmpneqps ymm12,ymm12,ymm0
0248  vblendvps ymm0,ymm0,ymm11,ymm12
024e  vblendvps ymm4,ymm4,ymm10,ymm12
0254  vmovups ymm11,[r14+rcx]
025a  vmaxps ymm12,ymm1,ymm11
025f  vcmpunordps ymm13,ymm11,ymm11
0265  vblendvps ymm12,ymm12,ymm1,ymm13
026b  vcmpneqps ymm12,ymm12,ymm1
0270  vblendvps ymm1,ymm1,ymm11,ymm12
0276  vblendvps ymm5,ymm5,ymm9,ymm12
027c  vmovups ymm11,[r14+rax*4]
0282  vmaxps ymm12,ymm2,ymm11
0287  vcmpunordps ymm13,ymm11,ymm11
028d  vblendvps ymm12,ymm12,ymm2,ymm13
0293  vcmpneqps ymm12,ymm12,ymm2
0298  vblendvps ymm2,ymm2,ymm11,ymm12
029e  vblendvps ymm6,ymm6,ymm8,ymm12
02a4  vmaxps ymm12,ymm1,ymm11
02a9  vcmpunordps ymm13,ymm11,ymm11
02af  vblendvps ymm12,ymm12,ymm1,ymm13
02b5  vcmpneqps ymm12,ymm12,ymm1
02ba  vblendvps ymm1,ymm1,ymm11,ymm12
02c0  vblendvps ymm5,ymm5,ymm10,ymm12
02c6  add r14,rdx
02c9  vmovups ymm11,[r14]
02ce  vmaxps ymm12,ymm2,ymm11
02d3  vcmpunordps ymm13,ymm11,ymm11
02d9  vblendvps ymm12,ymm12,ymm2,ymm13
02df  vcmpneqps ymm12,ymm12,ymm2
02e4  vblendvps ymm2,ymm2,ymm11,ymm12
02ea  vblendvps ymm6,ymm6,ymm9,ymm12
02f0  vmovups ymm11,[r14+rax]
02f6  vmaxps ymm12,ymm3,ymm11
02fb  vcmpunordps ymm13,ymm11,ymm11
0301  vblendvps ymm12,ymm12,ymm3,ymm13
0307  vcmpneqps ymm12,ymm12,ymm3
030c  vblendvps ymm3,ymm3,ymm11,ymm12
0312  vblendvps ymm7,ymm7,ymm8,ymm12
0318  vmaxps ymm8,ymm2,ymm11
031d  vcmpunordps ymm12,ymm11,ymm11
0323  vblendvps ymm8,ymm8,ymm2,ymm12
0329  vcmpneqps ymm8,ymm8,ymm2
032e  vblendvps ymm2,ymm2,ymm11,ymm8
0334  vblendvps ymm6,ymm6,ymm10,ymm8
033a  vmovups ymm8,[r14+rax*2]
0340  vmaxps ymm11,ymm3,ymm8
0345  vcmpunordps ymm12,ymm8,ymm8
034b  vblendvps ymm11,ymm11,ymm3,ymm12
0351  vcmpneqps ymm11,ymm11,ymm3
0356  vblendvps ymm3,ymm3,ymm8,ymm11
035c  vblendvps ymm7,ymm7,ymm9,ymm11
0362  vmovups ymm8,[r14+rcx]
0368  vmaxps ymm9,ymm3,ymm8
036d  vcmpunordps ymm11,ymm8,ymm8
0373  vblendvps ymm9,ymm9,ymm3,ymm11
0379  vcmpneqps ymm9,ymm9,ymm3
037e  vblendvps ymm3,ymm3,ymm8,ymm9
0384  vblendvps ymm7,ymm7,ymm10,ymm9
038a  dec r13
038d  jne near 180h
0393  mov r12,[rdi+80h]
039a  mov r13,rbx
039d  vcmpordps ymm8,ymm4,ymm4
03a2  vpand ymm8,ymm8,ymm4
03a6  vpbroadcastd ymm4,[rel 598h]
03af  vmaxps ymm8,ymm8,ymm4
03b3  vpbroadcastd ymm4,[rel 59Ch]
03bc  vminps ymm8,ymm8,ymm4
03c0  vcvtps2dq ymm8,ymm8
03c5  vpackssdw ymm4,ymm8,ymm8
03ca  vpermq ymm4,ymm4,8
03d0  vpackuswb xmm4,xmm4,xmm4
03d4  vmovq [r13],xmm4
03da  add r13,r12
03dd  vcmpordps ymm4,ymm5,ymm5
03e2  vpand ymm4,ymm4,ymm5
03e6  vpbroadcastd ymm5,[rel 598h]
03ef  vmaxps ymm4,ymm4,ymm5
03f3  vpbroadcastd ymm5,[rel 59Ch]
03fc  vminps ymm4,ymm4,ymm5
0400  vcvtps2dq ymm4,ymm4
0404  vpackssdw ymm4,ymm4,ymm4
0408  vpermq ymm4,ymm4,8
040e  vpackuswb xmm4,xmm4,xmm4
0412  vmovq [r13],xmm4
0418  add r13,r12
041b  vcmpordps ymm4,ymm6,ymm6
0420  vpand ymm4,ymm4,ymm6
0424  vpbroadcastd ymm5,[rel 598h]
042d  vmaxps ymm4,ymm4,ymm5
0431  vpbroadcastd ymm5,[rel 59Ch]
043a  vminps ymm4,ymm4,ymm5
043e  vcvtps2dq ymm4,ymm4
0442  vpackssdw ymm4,ymm4,ymm4
0446  vpermq ymm4,ymm4,8
044c  vpackuswb xmm4,xmm4,xmm4
0450  vmovq [r13],xmm4
0456  add r13,r12
0459  vcmpordps ymm4,ymm7,ymm7
045e  vpand ymm4,ymm4,ymm7
0462  vpbroadcastd ymm5,[rel 598h]
046b  vmaxps ymm4,ymm4,ymm5
046f  vpbroadcastd ymm5,[rel 59Ch]
0478  vminps ymm4,ymm4,ymm5
047c  vcvtps2dq ymm4,ymm4
0480  vpackssdw ymm4,ymm4,ymm4
0484  vpermq ymm4,ymm4,8
048a  vpackuswb xmm4,xmm4,xmm4
048e  vmovq [r13],xmm4
0494  add r13,r12
0497  mov r12,rsi
049a  mov r13,r11
049d  mov r14,[rdi+58h]
04a1  mov r15,r13
04a4  vmovups [r15],ymm0
04a9  add r15,r14
04ac  vmovups [r15],ymm1
04b1  add r15,r14
04b4  vmovups [r15],ymm2
04b9  add r15,r14
04bc  vmovups [r15],ymm3
04c1  add r15,r14
04c4  add r12,8
04c8  mov r12,[rdi+68h]
04cc  add r13,r12
04cf  mov r12,[rdi+40h]
04d3  add r10,r12
04d6  mov r12,[rdi+60h]
04da  add r11,r12
04dd  mov r12,[rdi+88h]
04e4  add rbx,r12
04e7  dec rbp
04ea  jne near 100h
04f0  mov r10,[r8+10h]
04f4  mov r11d,18h
04fa  imul r10,r11
04fe  add r9,r10
0501  add r8,20h
0505  mov r10,[rsp+100h]
050d  dec r10
0510  mov [rsp+100h],r10
0518  jne near 0C0h
051e  mov r8,[rdi+48h]
0522  mov r9,[rsp+40h]
0527  add r9,r8
052a  mov [rsp+40h],r9
052f  mov r8,[rdi+70h]
0533  mov r9,[rsp+80h]
053b  add r9,r8
053e  mov [rsp+80h],r9
0546  mov r8,[rdi+90h]
054d  mov r9,[rsp+0C0h]
0555  add r9,r8
0558  mov [rsp+0C0h],r9
0560  add rsi,8
0564  mov r8,[rsp]
0568  dec r8
056b  mov [rsp],r8
056f  jne near 80h
0575  add rsp,140h
057c  pop r15
057e  pop r14
0580  pop r13
0582  pop r12
0584  pop rbp
0585  pop rbx
0586  vzeroupper
0589  ret
