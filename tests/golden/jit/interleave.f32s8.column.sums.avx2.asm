; 379 instructions, 1972 bytes, 0 spills, 0 of them in inner loops
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
0032  vpbroadcastd ymm0,[rel 7B4h]
003b  vpbroadcastd ymm1,[rel 7B8h]
0044  vpbroadcastd ymm2,[rel 7BCh]
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
0094  mov rbx,[rdi+50h]
0098  mov rbp,[rdi+30h]
009c  mov r12,[rdi+58h]
00a0  test rbp,rbp
00a3  jle near 3E9h
00a9  nop word [rax+rax]
00b2  nop word [rax+rax]
00bb  nop dword [rax+rax]
00c0  vmovups ymm3,[rbx]
00c4  vpxor ymm4,ymm4,ymm4
00c8  cmp rcx,4
00cc  jl near 214h
00d2  vmovups ymm5,[r10]
00d7  vdivps ymm5,ymm5,ymm3
00db  vcmpordps ymm6,ymm5,ymm5
00e0  vpand ymm6,ymm6,ymm5
00e4  vpbroadcastd ymm5,[rel 7C4h]
00ed  vmaxps ymm6,ymm6,ymm5
00f1  vpbroadcastd ymm5,[rel 7C8h]
00fa  vminps ymm6,ymm6,ymm5
00fe  vcvtps2dq ymm6,ymm6
0102  vpackssdw ymm5,ymm6,ymm6
0106  vpermq ymm5,ymm5,8
010c  vpacksswb xmm5,xmm5,xmm5
0110  vmovq [r8],xmm5
0115  vpmovzxbd ymm5,[r8]
011a  vpor ymm4,ymm4,ymm5
011e  vmovups ymm5,[r10+rax]
0124  vdivps ymm5,ymm5,ymm3
0128  vcmpordps ymm6,ymm5,ymm5
012d  vpand ymm6,ymm6,ymm5
0131  vpbroadcastd ymm5,[rel 7C4h]
013a  vmaxps ymm6,ymm6,ymm5
013e  vpbroadcastd ymm5,[rel 7C8h]
0147  vminps ymm6,ymm6,ymm5
014b  vcvtps2dq ymm6,ymm6
014f  vpackssdw ymm5,ymm6,ymm6
0153  vpermq ymm5,ymm5,8
0159  vpacksswb xmm5,xmm5,xmm5
015d  vmovq [r8],xmm5
0162  vpmovzxbd ymm5,[r8]
0167  vpmulld ymm5,ymm5,ymm0
016c  vpor ymm4,ymm4,ymm5
0170  vmovups ymm5,[r10+rax*2]
0176  vdivps ymm5,ymm5,ymm3
017a  vcmpordps ymm6,ymm5,ymm5
017f  vpand ymm6,ymm6,ymm5
0183  vpbroadcastd ymm5,[rel 7C4h]
018c  vmaxps ymm6,ymm6,ymm5
0190  vpbroadcastd ymm5,[rel 7C8h]
0199  vminps ymm6,ymm6,ymm5
019d  vcvtps2dq ymm6,ymm6
01a1  vpackssdw ymm5,ymm6,ymm6
01a5  vpermq ymm5,ymm5,8
01ab  vpacksswb xmm5,xmm5,xmm5
01af  vmovq [r8],xmm5
01b4  vpmovzxbd ymm5,[r8]
01b9  vpmulld ymm5,ymm5,ymm1
01be  vpor ymm4,ymm4,ymm5
01c2  vmovups ymm5,[r10+r9]
01c8  vdivps ymm5,ymm5,ymm3
01cc  vcmpordps ymm6,ymm5,ymm5
01d1  vpand ymm6,ymm6,ymm5
01d5  vpbroadcastd ymm5,[rel 7C4h]
01de  vmaxps ymm6,ymm6,ymm5
01e2  vpbroadcastd ymm5,[rel 7C8h]
01eb  vminps ymm6,ymm6,ymm5
01ef  vcvtps2dq ymm6,ymm6
01f3  vpackssdw ymm5,ymm6,ymm6
01f7  vpermq ymm5,ymm5,8
01fd  vpacksswb xmm5,xmm5,xmm5
0201  vmovq [r8],xmm5
0206  vpmovzxbd ymm5,[r8]
020b  vpmulld ymm5,ymm5,ymm2
0210  vpor ymm4,ymm4,ymm5
0214  cmp rcx,4
0218  jge near 388h
021e  cmp rcx,0
0222  jle near 274h
0228  vmovups ymm5,[r10]
022d  vdivps ymm5,ymm5,ymm3
0231  vcmpordps ymm6,ymm5,ymm5
0236  vpand ymm6,ymm6,ymm5
023a  vpbroadcastd ymm5,[rel 7C4h]
0243  vmaxps ymm6,ymm6,ymm5
0247  vpbroadcastd ymm5,[rel 7C8h]
0250  vminps ymm6,ymm6,ymm5
0254  vcvtps2dq ymm6,ymm6
0258  vpackssdw ymm5,ymm6,ymm6
025c  vpermq ymm5,ymm5,8
0262  vpacksswb xmm5,xmm5,xmm5
0266  vmovq [r8],xmm5
026b  vpmovzxbd ymm5,[r8]
0270  vpor ymm4,ymm4,ymm5
0274  cmp rcx,1
0278  jle near 2D0h
027e  vmovups ymm5,[r10+rax]
0284  vdivps ymm5,ymm5,ymm3
0288  vcmpordps ymm6,ymm5,ymm5
028d  vpand ymm6,ymm6,ymm5
0291  vpbroadcastd ymm5,[rel 7C4h]
029a  vmaxps ymm6,ymm6,ymm5
029e  vpbroadcastd ymm5,[rel 7C8h]
02a7  vminps ymm6,ymm6,ymm5
02ab  vcvtps2dq ymm6,ymm6
02af  vpackssdw ymm5,ymm6,ymm6
02b3  vpermq ymm5,ymm5,8
02b9  vpacksswb xmm5,xmm5,xmm5
02bd  vmovq [r8],xmm5
02c2  vpmovzxbd ymm5,[r8]
02c7  vpmulld ymm5,ymm5,ymm0
02cc  vpor ymm4,ymm4,ymm5
02d0  cmp rcx,2
02d4  jle near 32Ch
02da  vmovups ymm5,[r10+rax*2]
02e0  vdivps ymm5,ymm5,ymm3
02e4  vcmpordps ymm6,ymm5,ymm5
02e9  vpand ymm6,ymm6,ymm5
02ed  vpbroadcastd ymm5,[rel 7C4h]
02f6  vmaxps ymm6,ymm6,ymm5
02fa  vpbroadcastd ymm5,[rel 7C8h]
0303  vminps ymm6,ymm6,ymm5
0307  vcvtps2dq ymm6,ymm6
030b  vpackssdw ymm5,ymm6,ymm6
030f  vpermq ymm5,ymm5,8
0315  vpacksswb xmm5,xmm5,xmm5
0319  vmovq [r8],xmm5
031e  vpmovzxbd ymm5,[r8]
0323  vpmulld ymm5,ymm5,ymm1
0328  vpor ymm4,ymm4,ymm5
032c  cmp rcx,3
0330  jle near 388h
0336  vmovups ymm5,[r10+r9]
033c  vdivps ymm3,ymm5,ymm3
0340  vcmpordps ymm5,ymm3,ymm3
0345  vpand ymm5,ymm5,ymm3
0349  vpbroadcastd ymm3,[rel 7C4h]
0352  vmaxps ymm5,ymm5,ymm3
0356  vpbroadcastd ymm3,[rel 7C8h]
035f  vminps ymm5,ymm5,ymm3
0363  vcvtps2dq ymm5,ymm5
0367  vpackssdw ymm3,ymm5,ymm5
036b  vpermq ymm3,ymm3,8
0371  vpacksswb xmm3,xmm3,xmm3
0375  vmovq [r8],xmm3
037a  vpmovzxbd ymm3,[r8]
037f  vpmulld ymm3,ymm3,ymm2
0384  vpor ymm4,ymm4,ymm3
0388  vpbroadcastd ymm3,[rel 7C0h]
0391  vmovups ymm5,[r12]
0397  vpsllw ymm6,ymm3,8
039c  vpsrlw ymm6,ymm6,8
03a1  vpsllw ymm7,ymm4,8
03a6  vpsraw ymm7,ymm7,8
03ab  vpmaddwd ymm6,ymm6,ymm7
03af  vpaddd ymm5,ymm5,ymm6
03b3  vpsrlw ymm3,ymm3,8
03b8  vpsraw ymm6,ymm4,8
03bd  vpmaddwd ymm3,ymm3,ymm6
03c1  vpaddd ymm5,ymm5,ymm3
03c5  vmovups [r12],ymm5
03cb  vmovups [r11],ymm4
03d0  add r10,20h
03d4  add r11,20h
03d8  add r12,20h
03dc  add rbx,20h
03e0  dec rbp
03e3  jne near 0C0h
03e9  mov rbp,[rdi+40h]
03ed  cmp rbp,0
03f1  jle near 796h
03f7  mov r13,[rdi+38h]
03fb  vmovd xmm3,r13d
0400  vpbroadcastd ymm3,xmm3
0405  vpcmpgtd ymm3,ymm3,[rel 7E0h]
040d  vmovd xmm4,ebp
0411  vpbroadcastd ymm4,xmm4
0416  vpcmpgtd ymm4,ymm4,[rel 7E0h]
041e  vmaskmovps ymm5,ymm3,[rbx]
0423  vpxor ymm6,ymm6,ymm6
0427  cmp rcx,4
042b  jl near 5A7h
0431  vmaskmovps ymm7,ymm3,[r10]
0436  vdivps ymm7,ymm7,ymm5
043a  vcmpordps ymm8,ymm7,ymm7
043f  vpand ymm8,ymm8,ymm7
0443  vpbroadcastd ymm7,[rel 7C4h]
044c  vmaxps ymm8,ymm8,ymm7
0450  vpbroadcastd ymm7,[rel 7C8h]
0459  vminps ymm8,ymm8,ymm7
045d  vcvtps2dq ymm8,ymm8
0462  vpackssdw ymm7,ymm8,ymm8
0467  vpermq ymm7,ymm7,8
046d  vpacksswb xmm7,xmm7,xmm7
0471  vmovq [r8],xmm7
0476  vpmovzxbd ymm7,[r8]
047b  vpxor ymm8,ymm8,ymm8
0480  vblendvps ymm7,ymm8,ymm7,ymm3
0486  vpor ymm6,ymm6,ymm7
048a  vmaskmovps ymm7,ymm3,[r10+rax]
0490  vdivps ymm7,ymm7,ymm5
0494  vcmpordps ymm8,ymm7,ymm7
0499  vpand ymm8,ymm8,ymm7
049d  vpbroadcastd ymm7,[rel 7C4h]
04a6  vmaxps ymm8,ymm8,ymm7
04aa  vpbroadcastd ymm7,[rel 7C8h]
04b3  vminps ymm8,ymm8,ymm7
04b7  vcvtps2dq ymm8,ymm8
04bc  vpackssdw ymm7,ymm8,ymm8
04c1  vpermq ymm7,ymm7,8
04c7  vpacksswb xmm7,xmm7,xmm7
04cb  vmovq [r8],xmm7
04d0  vpmovzxbd ymm7,[r8]
04d5  vpxor ymm8,ymm8,ymm8
04da  vblendvps ymm7,ymm8,ymm7,ymm3
04e0  vpmulld ymm7,ymm7,ymm0
04e5  vpor ymm6,ymm6,ymm7
04e9  vmaskmovps ymm7,ymm3,[r10+rax*2]
04ef  vdivps ymm7,ymm7,ymm5
04f3  vcmpordps ymm8,ymm7,ymm7
04f8  vpand ymm8,ymm8,ymm7
04fc  vpbroadcastd ymm7,[rel 7C4h]
0505  vmaxps ymm8,ymm8,ymm7
0509  vpbroadcastd ymm7,[rel 7C8h]
0512  vminps ymm8,ymm8,ymm7
0516  vcvtps2dq ymm8,ymm8
051b  vpackssdw ymm7,ymm8,ymm8
0520  vpermq ymm7,ymm7,8
0526  vpacksswb xmm7,xmm7,xmm7
052a  vmovq [r8],xmm7
052f  vpmovzxbd ymm7,[r8]
0534  vpxor ymm8,ymm8,ymm8
0539  vblendvps ymm7,ymm8,ymm7,ymm3
053f  vpmulld ymm7,ymm7,ymm1
0544  vpor ymm6,ymm6,ymm7
0548  vmaskmovps ymm7,ymm3,[r10+r9]
054e  vdivps ymm7,ymm7,ymm5
0552  vcmpordps ymm8,ymm7,ymm7
0557  vpand ymm8,ymm8,ymm7
055b  vpbroadcastd ymm7,[rel 7C4h]
0564  vmaxps ymm8,ymm8,ymm7
0568  vpbroadcastd ymm7,[rel 7C8h]
0571  vminps ymm8,ymm8,ymm7
0575  vcvtps2dq ymm8,ymm8
057a  vpackssdw ymm7,ymm8,ymm8
057f  vpermq ymm7,ymm7,8
0585  vpacksswb xmm7,xmm7,xmm7
0589  vmovq [r8],xmm7
058e  vpmovzxbd ymm7,[r8]
0593  vpxor ymm8,ymm8,ymm8
0598  vblendvps ymm7,ymm8,ymm7,ymm3
059e  vpmulld ymm7,ymm7,ymm2
05a3  vpor ymm6,ymm6,ymm7
05a7  cmp rcx,4
05ab  jge near 74Ch
05b1  cmp rcx,0
05b5  jle near 614h
05bb  vmaskmovps ymm7,ymm3,[r10]
05c0  vdivps ymm7,ymm7,ymm5
05c4  vcmpordps ymm8,ymm7,ymm7
05c9  vpand ymm8,ymm8,ymm7
05cd  vpbroadcastd ymm7,[rel 7C4h]
05d6  vmaxps ymm8,ymm8,ymm7
05da  vpbroadcastd ymm7,[rel 7C8h]
05e3  vminps ymm8,ymm8,ymm7
05e7  vcvtps2dq ymm8,ymm8
05ec  vpackssdw ymm7,ymm8,ymm8
05f1  vpermq ymm7,ymm7,8
05f7  vpacksswb xmm7,xmm7,xmm7
05fb  vmovq [r8],xmm7
0600  vpmovzxbd ymm7,[r8]
0605  vpxor ymm8,ymm8,ymm8
060a  vblendvps ymm7,ymm8,ymm7,ymm3
0610  vpor ymm6,ymm6,ymm7
0614  cmp rcx,1
0618  jle near 67Dh
061e  vmaskmovps ymm7,ymm3,[r10+rax]
0624  vdivps ymm7,ymm7,ymm5
0628  vcmpordps ymm8,ymm7,ymm7
062d  vpand ymm8,ymm8,ymm7
0631  vpbroadcastd ymm7,[rel 7C4h]
063a  vmaxps ymm8,ymm8,ymm7
063e  vpbroadcastd ymm7,[rel 7C8h]
0647  vminps ymm8,ymm8,ymm7
064b  vcvtps2dq ymm8,ymm8
0650  vpackssdw ymm7,ymm8,ymm8
0655  vpermq ymm7,ymm7,8
065b  vpacksswb xmm7,xmm7,xmm7
065f  vmovq [r8],xmm7
0664  vpmovzxbd ymm7,[r8]
0669  vpxor ymm8,ymm8,ymm8
066e  vblendvps ymm7,ymm8,ymm7,ymm3
0674  vpmulld ymm7,ymm7,ymm0
0679  vpor ymm6,ymm6,ymm7
067d  cmp rcx,2
0681  jle near 6E6h
0687  vmaskmovps ymm7,ymm3,[r10+rax*2]
068d  vdivps ymm7,ymm7,ymm5
0691  vcmpordps ymm8,ymm7,ymm7
0696  vpand ymm8,ymm8,ymm7
069a  vpbroadcastd ymm7,[rel 7C4h]
06a3  vmaxps ymm8,ymm8,ymm7
06a7  vpbroadcastd ymm7,[rel 7C8h]
06b0  vminps ymm8,ymm8,ymm7
06b4  vcvtps2dq ymm8,ymm8
06b9  vpackssdw ymm7,ymm8,ymm8
06be  vpermq ymm7,ymm7,8
06c4  vpacksswb xmm7,xmm7,xmm7
06c8  vmovq [r8],xmm7
06cd  vpmovzxbd ymm7,[r8]
06d2  vpxor ymm8,ymm8,ymm8
06d7  vblendvps ymm7,ymm8,ymm7,ymm3
06dd  vpmulld ymm7,ymm7,ymm1
06e2  vpor ymm6,ymm6,ymm7
06e6  cmp rcx,3
06ea  jle near 74Ch
06f0  vmaskmovps ymm7,ymm3,[r10+r9]
06f6  vdivps ymm5,ymm7,ymm5
06fa  vcmpordps ymm7,ymm5,ymm5
06ff  vpand ymm7,ymm7,ymm5
0703  vpbroadcastd ymm5,[rel 7C4h]
070c  vmaxps ymm7,ymm7,ymm5
0710  vpbroadcastd ymm5,[rel 7C8h]
0719  vminps ymm7,ymm7,ymm5
071d  vcvtps2dq ymm7,ymm7
0721  vpackssdw ymm5,ymm7,ymm7
0725  vpermq ymm5,ymm5,8
072b  vpacksswb xmm5,xmm5,xmm5
072f  vmovq [r8],xmm5
0734  vpmovzxbd ymm5,[r8]
0739  vpxor ymm7,ymm7,ymm7
073d  vblendvps ymm3,ymm7,ymm5,ymm3
0743  vpmulld ymm3,ymm3,ymm2
0748  vpor ymm6,ymm6,ymm3
074c  vpbroadcastd ymm3,[rel 7C0h]
0755  vmaskmovps ymm5,ymm4,[r12]
075b  vpsllw ymm7,ymm3,8
0760  vpsrlw ymm7,ymm7,8
0765  vpsllw ymm8,ymm6,8
076a  vpsraw ymm8,ymm8,8
0770  vpmaddwd ymm7,ymm7,ymm8
0775  vpaddd ymm5,ymm5,ymm7
0779  vpsrlw ymm3,ymm3,8
077e  vpsraw ymm7,ymm6,8
0783  vpmaddwd ymm3,ymm3,ymm7
0787  vpaddd ymm5,ymm5,ymm3
078b  vmaskmovps [r12],ymm4,ymm5
0791  vmaskmovps [r11],ymm4,ymm6
0796  add rsi,10h
079a  dec rdx
079d  jne near 80h
07a3  add rsp,80h
07aa  pop r13
07ac  pop r12
07ae  pop rbp
07af  pop rbx
07b0  vzeroupper
07b3  ret
