; 343 instructions, 1708 bytes, 0 spills, 0 of them in inner loops
0000  push rbx
0001  push rbp
0002  push r12
0004  push r13
0006  sub rsp,80h
000d  mov rax,[rdi+8]
0011  mov rcx,[rdi+10h]
0015  mov rdx,[rdi+28h]
0019  mov rsi,[rdi+20h]
001d  lea r8,[rsp]
0021  add r8,3Fh
0025  and r8,0FFFFFFFFFFFFFFC0h
0029  mov r9,rax
002c  add r9,rax
002f  add r9,rax
0032  vpbroadcastd ymm0,[rel 6ACh]
003b  vpbroadcastd ymm1,[rel 6B0h]
0044  vpbroadcastd ymm2,[rel 6B4h]
004d  nop word [rax+rax]
0056  nop word [rax+rax]
005f  nop word [rax+rax]
0068  nop word [rax+rax]
0071  nop word [rax+rax]
007a  nop word [rax+rax]
0080  mov r10,[rdi]
0083  mov r11,[rdi+18h]
0087  mov rbx,[rsi]
008a  add r10,rbx
008d  mov rbx,[rsi+8]
0091  add r11,rbx
0094  mov rbx,[rdi+58h]
0098  mov rbp,[rdi+30h]
009c  mov r12,[rdi+68h]
00a0  cmp rcx,4
00a4  jl near 223h
00aa  mov r13,rbp
00ad  test r13,r13
00b0  jle near 223h
00b6  nop word [rax+rax]
00bf  nop
00c0  vmovups ymm3,[rbx]
00c4  vpxor ymm4,ymm4,ymm4
00c8  vmovups ymm5,[r10]
00cd  vdivps ymm5,ymm5,ymm3
00d1  vcmpordps ymm6,ymm5,ymm5
00d6  vpand ymm6,ymm6,ymm5
00da  vminps ymm6,ymm6,[rel 6C0h]
00e2  vcvtps2dq ymm6,ymm6
00e6  vpackssdw ymm5,ymm6,ymm6
00ea  vpermq ymm5,ymm5,8
00f0  vpacksswb xmm5,xmm5,xmm5
00f4  vmovq [r8],xmm5
00f9  vpmovzxbd ymm5,[r8]
00fe  vpor ymm4,ymm4,ymm5
0102  vmovups ymm5,[r10+rax]
0108  vdivps ymm5,ymm5,ymm3
010c  vcmpordps ymm6,ymm5,ymm5
0111  vpand ymm6,ymm6,ymm5
0115  vminps ymm6,ymm6,[rel 6C0h]
011d  vcvtps2dq ymm6,ymm6
0121  vpackssdw ymm5,ymm6,ymm6
0125  vpermq ymm5,ymm5,8
012b  vpacksswb xmm5,xmm5,xmm5
012f  vmovq [r8],xmm5
0134  vpmovzxbd ymm5,[r8]
0139  vpmulld ymm5,ymm5,ymm0
013e  vpor ymm4,ymm4,ymm5
0142  vmovups ymm5,[r10+rax*2]
0148  vdivps ymm5,ymm5,ymm3
014c  vcmpordps ymm6,ymm5,ymm5
0151  vpand ymm6,ymm6,ymm5
0155  vminps ymm6,ymm6,[rel 6C0h]
015d  vcvtps2dq ymm6,ymm6
0161  vpackssdw ymm5,ymm6,ymm6
0165  vpermq ymm5,ymm5,8
016b  vpacksswb xmm5,xmm5,xmm5
016f  vmovq [r8],xmm5
0174  vpmovzxbd ymm5,[r8]
0179  vpmulld ymm5,ymm5,ymm1
017e  vpor ymm4,ymm4,ymm5
0182  vmovups ymm5,[r10+r9]
0188  vdivps ymm3,ymm5,ymm3
018c  vcmpordps ymm5,ymm3,ymm3
0191  vpand ymm5,ymm5,ymm3
0195  vminps ymm5,ymm5,[rel 6C0h]
019d  vcvtps2dq ymm5,ymm5
01a1  vpackssdw ymm3,ymm5,ymm5
01a5  vpermq ymm3,ymm3,8
01ab  vpacksswb xmm3,xmm3,xmm3
01af  vmovq [r8],xmm3
01b4  vpmovzxbd ymm3,[r8]
01b9  vpmulld ymm3,ymm3,ymm2
01be  vpor ymm4,ymm4,ymm3
01c2  vpbroadcastd ymm3,[rel 6B8h]
01cb  vmovups ymm5,[r12]
01d1  vpsllw ymm6,ymm3,8
01d6  vpsrlw ymm6,ymm6,8
01db  vpsllw ymm7,ymm4,8
01e0  vpsraw ymm7,ymm7,8
01e5  vpmaddwd ymm6,ymm6,ymm7
01e9  vpaddd ymm5,ymm5,ymm6
01ed  vpsrlw ymm3,ymm3,8
01f2  vpsraw ymm6,ymm4,8
01f7  vpmaddwd ymm3,ymm3,ymm6
01fb  vpaddd ymm5,ymm5,ymm3
01ff  vmovups [r12],ymm5
0205  vmovups [r11],ymm4
020a  add r10,20h
020e  add r11,20h
0212  add r12,20h
0216  add rbx,20h
021a  dec r13
021d  jne near 0C0h
0223  cmp rcx,4
0227  jge near 3CBh
022d  test rbp,rbp
0230  jle near 3CBh
0236  nop word [rax+rax]
023f  nop
0240  vmovups ymm3,[rbx]
0244  vpxor ymm4,ymm4,ymm4
0248  cmp rcx,0
024c  jle near 28Ch
0252  vmovups ymm5,[r10]
0257  vdivps ymm5,ymm5,ymm3
025b  vcmpordps ymm6,ymm5,ymm5
0260  vpand ymm6,ymm6,ymm5
0264  vminps ymm6,ymm6,[rel 6C0h]
026c  vcvtps2dq ymm6,ymm6
0270  vpackssdw ymm5,ymm6,ymm6
0274  vpermq ymm5,ymm5,8
027a  vpacksswb xmm5,xmm5,xmm5
027e  vmovq [r8],xmm5
0283  vpmovzxbd ymm5,[r8]
0288  vpor ymm4,ymm4,ymm5
028c  cmp rcx,1
0290  jle near 2D6h
0296  vmovups ymm5,[r10+rax]
029c  vdivps ymm5,ymm5,ymm3
02a0  vcmpordps ymm6,ymm5,ymm5
02a5  vpand ymm6,ymm6,ymm5
02a9  vminps ymm6,ymm6,[rel 6C0h]
02b1  vcvtps2dq ymm6,ymm6
02b5  vpackssdw ymm5,ymm6,ymm6
02b9  vpermq ymm5,ymm5,8
02bf  vpacksswb xmm5,xmm5,xmm5
02c3  vmovq [r8],xmm5
02c8  vpmovzxbd ymm5,[r8]
02cd  vpmulld ymm5,ymm5,ymm0
02d2  vpor ymm4,ymm4,ymm5
02d6  cmp rcx,2
02da  jle near 320h
02e0  vmovups ymm5,[r10+rax*2]
02e6  vdivps ymm5,ymm5,ymm3
02ea  vcmpordps ymm6,ymm5,ymm5
02ef  vpand ymm6,ymm6,ymm5
02f3  vminps ymm6,ymm6,[rel 6C0h]
02fb  vcvtps2dq ymm6,ymm6
02ff  vpackssdw ymm5,ymm6,ymm6
0303  vpermq ymm5,ymm5,8
0309  vpacksswb xmm5,xmm5,xmm5
030d  vmovq [r8],xmm5
0312  vpmovzxbd ymm5,[r8]
0317  vpmulld ymm5,ymm5,ymm1
031c  vpor ymm4,ymm4,ymm5
0320  cmp rcx,3
0324  jle near 36Ah
032a  vmovups ymm5,[r10+r9]
0330  vdivps ymm3,ymm5,ymm3
0334  vcmpordps ymm5,ymm3,ymm3
0339  vpand ymm5,ymm5,ymm3
033d  vminps ymm5,ymm5,[rel 6C0h]
0345  vcvtps2dq ymm5,ymm5
0349  vpackssdw ymm3,ymm5,ymm5
034d  vpermq ymm3,ymm3,8
0353  vpacksswb xmm3,xmm3,xmm3
0357  vmovq [r8],xmm3
035c  vpmovzxbd ymm3,[r8]
0361  vpmulld ymm3,ymm3,ymm2
0366  vpor ymm4,ymm4,ymm3
036a  vpbroadcastd ymm3,[rel 6B8h]
0373  vmovups ymm5,[r12]
0379  vpsllw ymm6,ymm3,8
037e  vpsrlw ymm6,ymm6,8
0383  vpsllw ymm7,ymm4,8
0388  vpsraw ymm7,ymm7,8
038d  vpmaddwd ymm6,ymm6,ymm7
0391  vpaddd ymm5,ymm5,ymm6
0395  vpsrlw ymm3,ymm3,8
039a  vpsraw ymm6,ymm4,8
039f  vpmaddwd ymm3,ymm3,ymm6
03a3  vpaddd ymm5,ymm5,ymm3
03a7  vmovups [r12],ymm5
03ad  vmovups [r11],ymm4
03b2  add r10,20h
03b6  add r11,20h
03ba  add r12,20h
03be  add rbx,20h
03c2  dec rbp
03c5  jne near 240h
03cb  mov rbp,[rdi+40h]
03cf  cmp rbp,0
03d3  jle near 68Eh
03d9  mov r13,[rdi+38h]
03dd  vmovd xmm3,r13d
03e2  vpbroadcastd ymm3,xmm3
03e7  vpcmpgtd ymm3,ymm3,[rel 6E0h]
03ef  vmovd xmm4,ebp
03f3  vpbroadcastd ymm4,xmm4
03f8  vpcmpgtd ymm4,ymm4,[rel 6E0h]
0400  vmaskmovps ymm5,ymm3,[rbx]
0405  vpxor ymm6,ymm6,ymm6
0409  cmp rcx,0
040d  jle near 45Ah
0413  vmaskmovps ymm7,ymm3,[r10]
0418  vdivps ymm7,ymm7,ymm5
041c  vcmpordps ymm8,ymm7,ymm7
0421  vpand ymm8,ymm8,ymm7
0425  vminps ymm8,ymm8,[rel 6C0h]
042d  vcvtps2dq ymm8,ymm8
0432  vpackssdw ymm7,ymm8,ymm8
0437  vpermq ymm7,ymm7,8
043d  vpacksswb xmm7,xmm7,xmm7
0441  vmovq [r8],xmm7
0446  vpmovzxbd ymm7,[r8]
044b  vpxor ymm8,ymm8,ymm8
0450  vblendvps ymm7,ymm8,ymm7,ymm3
0456  vpor ymm6,ymm6,ymm7
045a  cmp rcx,1
045e  jle near 4B1h
0464  vmaskmovps ymm7,ymm3,[r10+rax]
046a  vdivps ymm7,ymm7,ymm5
046e  vcmpordps ymm8,ymm7,ymm7
0473  vpand ymm8,ymm8,ymm7
0477  vminps ymm8,ymm8,[rel 6C0h]
047f  vcvtps2dq ymm8,ymm8
0484  vpackssdw ymm7,ymm8,ymm8
0489  vpermq ymm7,ymm7,8
048f  vpacksswb xmm7,xmm7,xmm7
0493  vmovq [r8],xmm7
0498  vpmovzxbd ymm7,[r8]
049d  vpxor ymm8,ymm8,ymm8
04a2  vblendvps ymm7,ymm8,ymm7,ymm3
04a8  vpmulld ymm7,ymm7,ymm0
04ad  vpor ymm6,ymm6,ymm7
04b1  cmp rcx,2
04b5  jle near 508h
04bb  vmaskmovps ymm7,ymm3,[r10+rax*2]
04c1  vdivps ymm7,ymm7,ymm5
04c5  vcmpordps ymm8,ymm7,ymm7
04ca  vpand ymm8,ymm8,ymm7
04ce  vminps ymm8,ymm8,[rel 6C0h]
04d6  vcvtps2dq ymm8,ymm8
04db  vpackssdw ymm7,ymm8,ymm8
04e0  vpermq ymm7,ymm7,8
04e6  vpacksswb xmm7,xmm7,xmm7
04ea  vmovq [r8],xmm7
04ef  vpmovzxbd ymm7,[r8]
04f4  vpxor ymm8,ymm8,ymm8
04f9  vblendvps ymm7,ymm8,ymm7,ymm3
04ff  vpmulld ymm7,ymm7,ymm1
0504  vpor ymm6,ymm6,ymm7
0508  cmp rcx,3
050c  jle near 55Ch
0512  vmaskmovps ymm7,ymm3,[r10+r9]
0518  vdivps ymm5,ymm7,ymm5
051c  vcmpordps ymm7,ymm5,ymm5
0521  vpand ymm7,ymm7,ymm5
0525  vminps ymm7,ymm7,[rel 6C0h]
052d  vcvtps2dq ymm7,ymm7
0531  vpackssdw ymm5,ymm7,ymm7
0535  vpermq ymm5,ymm5,8
053b  vpacksswb xmm5,xmm5,xmm5
053f  vmovq [r8],xmm5
0544  vpmovzxbd ymm5,[r8]
0549  vpxor ymm7,ymm7,ymm7
054d  vblendvps ymm3,ymm7,ymm5,ymm3
0553  vpmulld ymm3,ymm3,ymm2
0558  vpor ymm6,ymm6,ymm3
055c  vpbroadcastd ymm3,[rel 6B8h]
0565  vmaskmovps ymm5,ymm4,[r12]
056b  vpsllw ymm7,ymm3,8
0570  vpsrlw ymm7,ymm7,8
0575  vpsllw ymm8,ymm6,8
057a  vpsraw ymm8,ymm8,8
0580  vpmaddwd ymm7,ymm7,ymm8
0585  vpaddd ymm5,ymm5,ymm7
0589  vpsrlw ymm3,ymm3,8
058e  vpsraw ymm7,ymm6,8
0593  vpmaddwd ymm3,ymm3,ymm7
0597  vpaddd ymm5,ymm5,ymm3
059b  vmovmskps r10d,ymm4
059f  cmp r10,0FFh
05a6  jne near 5B2h
05ac  vmovups [r12],ymm5
05b2  cmp r10,0FFh
05b9  je near 614h
05bf  lea rbx,[r12]
05c3  mov rbp,r10
05c6  vmovups xmm3,xmm5
05ca  and r10,8
05ce  je near 5E6h
05d4  vmovups [rbx],xmm3
05d8  vextracti128 xmm3,ymm5,1
05de  add rbx,10h
05e2  shr rbp,4
05e6  mov r10,rbp
05e9  and r10,2
05ed  je near 603h
05f3  vmovq [rbx],xmm3
05f7  vunpckhpd xmm3,xmm3,xmm3
05fb  add rbx,8
05ff  shr rbp,2
0603  mov r10,rbp
0606  and r10,1
060a  je near 614h
0610  vmovd [rbx],xmm3
0614  vmovmskps r10d,ymm4
0618  cmp r10,0FFh
061f  jne near 62Ah
0625  vmovups [r11],ymm6
062a  cmp r10,0FFh
0631  je near 68Eh
0637  lea r11,[r11]
063a  mov rbx,r10
063d  vmovups xmm3,xmm6
0641  and r10,8
0645  je near 65Eh
064b  vmovups [r11],xmm3
0650  vextracti128 xmm3,ymm6,1
0656  add r11,10h
065a  shr rbx,4
065e  mov r10,rbx
0661  and r10,2
0665  je near 67Ch
066b  vmovq [r11],xmm3
0670  vunpckhpd xmm3,xmm3,xmm3
0674  add r11,8
0678  shr rbx,2
067c  mov r10,rbx
067f  and r10,1
0683  je near 68Eh
0689  vmovd [r11],xmm3
068e  add rsi,10h
0692  dec rdx
0695  jne near 80h
069b  add rsp,80h
06a2  pop r13
06a4  pop r12
06a6  pop rbp
06a7  pop rbx
06a8  vzeroupper
06ab  ret
