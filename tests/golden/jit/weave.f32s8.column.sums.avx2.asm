; 244 instructions, 1237 bytes, 0 spills, 0 of them in inner loops
0000  push rbx
0001  push rbp
0002  push r12
0004  sub rsp,80h
000b  mov rax,[rdi+8]
000f  mov rcx,[rdi+10h]
0013  mov rdx,[rdi+28h]
0017  mov rsi,[rdi+20h]
001b  lea r8,[rsp]
001f  add r8,3Fh
0023  and r8,0FFFFFFFFFFFFFFC0h
0027  nop word [rax+rax]
0030  nop word [rax+rax]
0039  nop dword [rax]
0040  mov r9,[rdi]
0043  mov r10,[rdi+18h]
0047  mov r11,[rsi]
004a  add r9,r11
004d  mov r11,[rsi+8]
0051  add r10,r11
0054  mov r11,[rdi+50h]
0058  mov rbx,[rdi+30h]
005c  mov rbp,[rdi+58h]
0060  test rbx,rbx
0063  jle near 27Dh
0069  nop word [rax+rax]
0072  nop word [rax+rax]
007b  nop dword [rax+rax]
0080  vmovups ymm0,[r11]
0085  vpxor ymm1,ymm1,ymm1
0089  mov r12,r9
008c  cmp rcx,0
0090  jle near 0E3h
0096  vmovups ymm2,[r12]
009c  vdivps ymm2,ymm2,ymm0
00a0  vcmpordps ymm3,ymm2,ymm2
00a5  vpand ymm3,ymm3,ymm2
00a9  vpbroadcastd ymm2,[rel 4E8h]
00b2  vmaxps ymm3,ymm3,ymm2
00b6  vpbroadcastd ymm2,[rel 4ECh]
00bf  vminps ymm3,ymm3,ymm2
00c3  vcvtps2dq ymm3,ymm3
00c7  vpackssdw ymm2,ymm3,ymm3
00cb  vpermq ymm2,ymm2,8
00d1  vpacksswb xmm2,xmm2,xmm2
00d5  vmovq [r8],xmm2
00da  vpmovzxbd ymm2,[r8]
00df  vpor ymm1,ymm1,ymm2
00e3  add r12,rax
00e6  cmp rcx,1
00ea  jle near 14Bh
00f0  vmovups ymm2,[r12]
00f6  vdivps ymm2,ymm2,ymm0
00fa  vcmpordps ymm3,ymm2,ymm2
00ff  vpand ymm3,ymm3,ymm2
0103  vpbroadcastd ymm2,[rel 4E8h]
010c  vmaxps ymm3,ymm3,ymm2
0110  vpbroadcastd ymm2,[rel 4ECh]
0119  vminps ymm3,ymm3,ymm2
011d  vcvtps2dq ymm3,ymm3
0121  vpackssdw ymm2,ymm3,ymm3
0125  vpermq ymm2,ymm2,8
012b  vpacksswb xmm2,xmm2,xmm2
012f  vmovq [r8],xmm2
0134  vpmovzxbd ymm2,[r8]
0139  vpbroadcastd ymm3,[rel 4D8h]
0142  vpmulld ymm2,ymm2,ymm3
0147  vpor ymm1,ymm1,ymm2
014b  add r12,rax
014e  cmp rcx,2
0152  jle near 1B3h
0158  vmovups ymm2,[r12]
015e  vdivps ymm2,ymm2,ymm0
0162  vcmpordps ymm3,ymm2,ymm2
0167  vpand ymm3,ymm3,ymm2
016b  vpbroadcastd ymm2,[rel 4E8h]
0174  vmaxps ymm3,ymm3,ymm2
0178  vpbroadcastd ymm2,[rel 4ECh]
0181  vminps ymm3,ymm3,ymm2
0185  vcvtps2dq ymm3,ymm3
0189  vpackssdw ymm2,ymm3,ymm3
018d  vpermq ymm2,ymm2,8
0193  vpacksswb xmm2,xmm2,xmm2
0197  vmovq [r8],xmm2
019c  vpmovzxbd ymm2,[r8]
01a1  vpbroadcastd ymm3,[rel 4DCh]
01aa  vpmulld ymm2,ymm2,ymm3
01af  vpor ymm1,ymm1,ymm2
01b3  add r12,rax
01b6  cmp rcx,3
01ba  jle near 21Bh
01c0  vmovups ymm2,[r12]
01c6  vdivps ymm0,ymm2,ymm0
01ca  vcmpordps ymm2,ymm0,ymm0
01cf  vpand ymm2,ymm2,ymm0
01d3  vpbroadcastd ymm0,[rel 4E8h]
01dc  vmaxps ymm2,ymm2,ymm0
01e0  vpbroadcastd ymm0,[rel 4ECh]
01e9  vminps ymm2,ymm2,ymm0
01ed  vcvtps2dq ymm2,ymm2
01f1  vpackssdw ymm0,ymm2,ymm2
01f5  vpermq ymm0,ymm0,8
01fb  vpacksswb xmm0,xmm0,xmm0
01ff  vmovq [r8],xmm0
0204  vpmovzxbd ymm0,[r8]
0209  vpbroadcastd ymm2,[rel 4E0h]
0212  vpmulld ymm0,ymm0,ymm2
0217  vpor ymm1,ymm1,ymm0
021b  add r12,rax
021e  vpbroadcastd ymm0,[rel 4E4h]
0227  vmovups ymm2,[rbp]
022c  vpsllw ymm3,ymm0,8
0231  vpsrlw ymm3,ymm3,8
0236  vpsllw ymm4,ymm1,8
023b  vpsraw ymm4,ymm4,8
0240  vpmaddwd ymm3,ymm3,ymm4
0244  vpaddd ymm2,ymm2,ymm3
0248  vpsrlw ymm0,ymm0,8
024d  vpsraw ymm3,ymm1,8
0252  vpmaddwd ymm0,ymm0,ymm3
0256  vpaddd ymm2,ymm2,ymm0
025a  vmovups [rbp],ymm2
025f  vmovups [r10],ymm1
0264  add r9,20h
0268  add r10,20h
026c  add rbp,20h
0270  add r11,20h
0274  dec rbx
0277  jne near 80h
027d  mov rbx,[rdi+40h]
0281  cmp rbx,0
0285  jle near 4B9h
028b  mov r12,[rdi+38h]
028f  vmovd xmm0,r12d
0294  vpbroadcastd ymm0,xmm0
0299  vpcmpgtd ymm0,ymm0,[rel 500h]
02a1  vmovd xmm1,ebx
02a5  vpbroadcastd ymm1,xmm1
02aa  vpcmpgtd ymm1,ymm1,[rel 500h]
02b2  vmaskmovps ymm2,ymm0,[r11]
02b7  vpxor ymm3,ymm3,ymm3
02bb  cmp rcx,0
02bf  jle near 31Bh
02c5  vmaskmovps ymm4,ymm0,[r9]
02ca  vdivps ymm4,ymm4,ymm2
02ce  vcmpordps ymm5,ymm4,ymm4
02d3  vpand ymm5,ymm5,ymm4
02d7  vpbroadcastd ymm4,[rel 4E8h]
02e0  vmaxps ymm5,ymm5,ymm4
02e4  vpbroadcastd ymm4,[rel 4ECh]
02ed  vminps ymm5,ymm5,ymm4
02f1  vcvtps2dq ymm5,ymm5
02f5  vpackssdw ymm4,ymm5,ymm5
02f9  vpermq ymm4,ymm4,8
02ff  vpacksswb xmm4,xmm4,xmm4
0303  vmovq [r8],xmm4
0308  vpmovzxbd ymm4,[r8]
030d  vpxor ymm5,ymm5,ymm5
0311  vblendvps ymm4,ymm5,ymm4,ymm0
0317  vpor ymm3,ymm3,ymm4
031b  add r9,rax
031e  cmp rcx,1
0322  jle near 38Ch
0328  vmaskmovps ymm4,ymm0,[r9]
032d  vdivps ymm4,ymm4,ymm2
0331  vcmpordps ymm5,ymm4,ymm4
0336  vpand ymm5,ymm5,ymm4
033a  vpbroadcastd ymm4,[rel 4E8h]
0343  vmaxps ymm5,ymm5,ymm4
0347  vpbroadcastd ymm4,[rel 4ECh]
0350  vminps ymm5,ymm5,ymm4
0354  vcvtps2dq ymm5,ymm5
0358  vpackssdw ymm4,ymm5,ymm5
035c  vpermq ymm4,ymm4,8
0362  vpacksswb xmm4,xmm4,xmm4
0366  vmovq [r8],xmm4
036b  vpmovzxbd ymm4,[r8]
0370  vpxor ymm5,ymm5,ymm5
0374  vblendvps ymm4,ymm5,ymm4,ymm0
037a  vpbroadcastd ymm5,[rel 4D8h]
0383  vpmulld ymm4,ymm4,ymm5
0388  vpor ymm3,ymm3,ymm4
038c  add r9,rax
038f  cmp rcx,2
0393  jle near 3FDh
0399  vmaskmovps ymm4,ymm0,[r9]
039e  vdivps ymm4,ymm4,ymm2
03a2  vcmpordps ymm5,ymm4,ymm4
03a7  vpand ymm5,ymm5,ymm4
03ab  vpbroadcastd ymm4,[rel 4E8h]
03b4  vmaxps ymm5,ymm5,ymm4
03b8  vpbroadcastd ymm4,[rel 4ECh]
03c1  vminps ymm5,ymm5,ymm4
03c5  vcvtps2dq ymm5,ymm5
03c9  vpackssdw ymm4,ymm5,ymm5
03cd  vpermq ymm4,ymm4,8
03d3  vpacksswb xmm4,xmm4,xmm4
03d7  vmovq [r8],xmm4
03dc  vpmovzxbd ymm4,[r8]
03e1  vpxor ymm5,ymm5,ymm5
03e5  vblendvps ymm4,ymm5,ymm4,ymm0
03eb  vpbroadcastd ymm5,[rel 4DCh]
03f4  vpmulld ymm4,ymm4,ymm5
03f9  vpor ymm3,ymm3,ymm4
03fd  add r9,rax
0400  cmp rcx,3
0404  jle near 46Eh
040a  vmaskmovps ymm4,ymm0,[r9]
040f  vdivps ymm2,ymm4,ymm2
0413  vcmpordps ymm4,ymm2,ymm2
0418  vpand ymm4,ymm4,ymm2
041c  vpbroadcastd ymm2,[rel 4E8h]
0425  vmaxps ymm4,ymm4,ymm2
0429  vpbroadcastd ymm2,[rel 4ECh]
0432  vminps ymm4,ymm4,ymm2
0436  vcvtps2dq ymm4,ymm4
043a  vpackssdw ymm2,ymm4,ymm4
043e  vpermq ymm2,ymm2,8
0444  vpacksswb xmm2,xmm2,xmm2
0448  vmovq [r8],xmm2
044d  vpmovzxbd ymm2,[r8]
0452  vpxor ymm4,ymm4,ymm4
0456  vblendvps ymm0,ymm4,ymm2,ymm0
045c  vpbroadcastd ymm2,[rel 4E0h]
0465  vpmulld ymm0,ymm0,ymm2
046a  vpor ymm3,ymm3,ymm0
046e  add r9,rax
0471  vpbroadcastd ymm0,[rel 4E4h]
047a  vmaskmovps ymm2,ymm1,[rbp]
0480  vpsllw ymm4,ymm0,8
0485  vpsrlw ymm4,ymm4,8
048a  vpsllw ymm5,ymm3,8
048f  vpsraw ymm5,ymm5,8
0494  vpmaddwd ymm4,ymm4,ymm5
0498  vpaddd ymm2,ymm2,ymm4
049c  vpsrlw ymm0,ymm0,8
04a1  vpsraw ymm4,ymm3,8
04a6  vpmaddwd ymm0,ymm0,ymm4
04aa  vpaddd ymm2,ymm2,ymm0
04ae  vmaskmovps [rbp],ymm1,ymm2
04b4  vmaskmovps [r10],ymm1,ymm3
04b9  add rsi,10h
04bd  dec rdx
04c0  jne near 40h
04c6  add rsp,80h
04cd  pop r12
04cf  pop rbp
04d0  pop rbx
04d1  vzeroupper
04d4  ret
