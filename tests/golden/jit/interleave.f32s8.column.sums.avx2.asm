; 381 instructions, 1916 bytes, 0 spills, 0 of them in inner loops
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
0032  vpbroadcastd ymm0,[rel 77Ch]
003b  vpbroadcastd ymm1,[rel 780h]
0044  vpbroadcastd ymm2,[rel 784h]
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
00a0  test rbp,rbp
00a3  jle near 359h
00a9  nop word [rax+rax]
00b2  nop word [rax+rax]
00bb  nop dword [rax+rax]
00c0  vmovups ymm3,[rbx]
00c4  vpxor ymm4,ymm4,ymm4
00c8  cmp rcx,4
00cc  jl near 1CCh
00d2  vmovups ymm5,[r10]
00d7  vdivps ymm5,ymm5,ymm3
00db  vcmpordps ymm6,ymm5,ymm5
00e0  vpand ymm6,ymm6,ymm5
00e4  vminps ymm6,ymm6,[rel 7A0h]
00ec  vcvtps2dq ymm6,ymm6
00f0  vpackssdw ymm5,ymm6,ymm6
00f4  vpermq ymm5,ymm5,8
00fa  vpacksswb xmm5,xmm5,xmm5
00fe  vmovq [r8],xmm5
0103  vpmovzxbd ymm5,[r8]
0108  vpor ymm4,ymm4,ymm5
010c  vmovups ymm5,[r10+rax]
0112  vdivps ymm5,ymm5,ymm3
0116  vcmpordps ymm6,ymm5,ymm5
011b  vpand ymm6,ymm6,ymm5
011f  vminps ymm6,ymm6,[rel 7A0h]
0127  vcvtps2dq ymm6,ymm6
012b  vpackssdw ymm5,ymm6,ymm6
012f  vpermq ymm5,ymm5,8
0135  vpacksswb xmm5,xmm5,xmm5
0139  vmovq [r8],xmm5
013e  vpmovzxbd ymm5,[r8]
0143  vpmulld ymm5,ymm5,ymm0
0148  vpor ymm4,ymm4,ymm5
014c  vmovups ymm5,[r10+rax*2]
0152  vdivps ymm5,ymm5,ymm3
0156  vcmpordps ymm6,ymm5,ymm5
015b  vpand ymm6,ymm6,ymm5
015f  vminps ymm6,ymm6,[rel 7A0h]
0167  vcvtps2dq ymm6,ymm6
016b  vpackssdw ymm5,ymm6,ymm6
016f  vpermq ymm5,ymm5,8
0175  vpacksswb xmm5,xmm5,xmm5
0179  vmovq [r8],xmm5
017e  vpmovzxbd ymm5,[r8]
0183  vpmulld ymm5,ymm5,ymm1
0188  vpor ymm4,ymm4,ymm5
018c  vmovups ymm5,[r10+r9]
0192  vdivps ymm5,ymm5,ymm3
0196  vcmpordps ymm6,ymm5,ymm5
019b  vpand ymm6,ymm6,ymm5
019f  vminps ymm6,ymm6,[rel 7A0h]
01a7  vcvtps2dq ymm6,ymm6
01ab  vpackssdw ymm5,ymm6,ymm6
01af  vpermq ymm5,ymm5,8
01b5  vpacksswb xmm5,xmm5,xmm5
01b9  vmovq [r8],xmm5
01be  vpmovzxbd ymm5,[r8]
01c3  vpmulld ymm5,ymm5,ymm2
01c8  vpor ymm4,ymm4,ymm5
01cc  cmp rcx,4
01d0  jge near 2F8h
01d6  cmp rcx,0
01da  jle near 21Ah
01e0  vmovups ymm5,[r10]
01e5  vdivps ymm5,ymm5,ymm3
01e9  vcmpordps ymm6,ymm5,ymm5
01ee  vpand ymm6,ymm6,ymm5
01f2  vminps ymm6,ymm6,[rel 7A0h]
01fa  vcvtps2dq ymm6,ymm6
01fe  vpackssdw ymm5,ymm6,ymm6
0202  vpermq ymm5,ymm5,8
0208  vpacksswb xmm5,xmm5,xmm5
020c  vmovq [r8],xmm5
0211  vpmovzxbd ymm5,[r8]
0216  vpor ymm4,ymm4,ymm5
021a  cmp rcx,1
021e  jle near 264h
0224  vmovups ymm5,[r10+rax]
022a  vdivps ymm5,ymm5,ymm3
022e  vcmpordps ymm6,ymm5,ymm5
0233  vpand ymm6,ymm6,ymm5
0237  vminps ymm6,ymm6,[rel 7A0h]
023f  vcvtps2dq ymm6,ymm6
0243  vpackssdw ymm5,ymm6,ymm6
0247  vpermq ymm5,ymm5,8
024d  vpacksswb xmm5,xmm5,xmm5
0251  vmovq [r8],xmm5
0256  vpmovzxbd ymm5,[r8]
025b  vpmulld ymm5,ymm5,ymm0
0260  vpor ymm4,ymm4,ymm5
0264  cmp rcx,2
0268  jle near 2AEh
026e  vmovups ymm5,[r10+rax*2]
0274  vdivps ymm5,ymm5,ymm3
0278  vcmpordps ymm6,ymm5,ymm5
027d  vpand ymm6,ymm6,ymm5
0281  vminps ymm6,ymm6,[rel 7A0h]
0289  vcvtps2dq ymm6,ymm6
028d  vpackssdw ymm5,ymm6,ymm6
0291  vpermq ymm5,ymm5,8
0297  vpacksswb xmm5,xmm5,xmm5
029b  vmovq [r8],xmm5
02a0  vpmovzxbd ymm5,[r8]
02a5  vpmulld ymm5,ymm5,ymm1
02aa  vpor ymm4,ymm4,ymm5
02ae  cmp rcx,3
02b2  jle near 2F8h
02b8  vmovups ymm5,[r10+r9]
02be  vdivps ymm3,ymm5,ymm3
02c2  vcmpordps ymm5,ymm3,ymm3
02c7  vpand ymm5,ymm5,ymm3
02cb  vminps ymm5,ymm5,[rel 7A0h]
02d3  vcvtps2dq ymm5,ymm5
02d7  vpackssdw ymm3,ymm5,ymm5
02db  vpermq ymm3,ymm3,8
02e1  vpacksswb xmm3,xmm3,xmm3
02e5  vmovq [r8],xmm3
02ea  vpmovzxbd ymm3,[r8]
02ef  vpmulld ymm3,ymm3,ymm2
02f4  vpor ymm4,ymm4,ymm3
02f8  vpbroadcastd ymm3,[rel 788h]
0301  vmovups ymm5,[r12]
0307  vpsllw ymm6,ymm3,8
030c  vpsrlw ymm6,ymm6,8
0311  vpsllw ymm7,ymm4,8
0316  vpsraw ymm7,ymm7,8
031b  vpmaddwd ymm6,ymm6,ymm7
031f  vpaddd ymm5,ymm5,ymm6
0323  vpsrlw ymm3,ymm3,8
0328  vpsraw ymm6,ymm4,8
032d  vpmaddwd ymm3,ymm3,ymm6
0331  vpaddd ymm5,ymm5,ymm3
0335  vmovups [r12],ymm5
033b  vmovups [r11],ymm4
0340  add r10,20h
0344  add r11,20h
0348  add r12,20h
034c  add rbx,20h
0350  dec rbp
0353  jne near 0C0h
0359  mov rbp,[rdi+40h]
035d  cmp rbp,0
0361  jle near 75Eh
0367  mov r13,[rdi+38h]
036b  vmovd xmm3,r13d
0370  vpbroadcastd ymm3,xmm3
0375  vpcmpgtd ymm3,ymm3,[rel 7C0h]
037d  vmovd xmm4,ebp
0381  vpbroadcastd ymm4,xmm4
0386  vpcmpgtd ymm4,ymm4,[rel 7C0h]
038e  vmaskmovps ymm5,ymm3,[rbx]
0393  vpxor ymm6,ymm6,ymm6
0397  cmp rcx,4
039b  jl near 4CFh
03a1  vmaskmovps ymm7,ymm3,[r10]
03a6  vdivps ymm7,ymm7,ymm5
03aa  vcmpordps ymm8,ymm7,ymm7
03af  vpand ymm8,ymm8,ymm7
03b3  vminps ymm8,ymm8,[rel 7A0h]
03bb  vcvtps2dq ymm8,ymm8
03c0  vpackssdw ymm7,ymm8,ymm8
03c5  vpermq ymm7,ymm7,8
03cb  vpacksswb xmm7,xmm7,xmm7
03cf  vmovq [r8],xmm7
03d4  vpmovzxbd ymm7,[r8]
03d9  vpxor ymm8,ymm8,ymm8
03de  vblendvps ymm7,ymm8,ymm7,ymm3
03e4  vpor ymm6,ymm6,ymm7
03e8  vmaskmovps ymm7,ymm3,[r10+rax]
03ee  vdivps ymm7,ymm7,ymm5
03f2  vcmpordps ymm8,ymm7,ymm7
03f7  vpand ymm8,ymm8,ymm7
03fb  vminps ymm8,ymm8,[rel 7A0h]
0403  vcvtps2dq ymm8,ymm8
0408  vpackssdw ymm7,ymm8,ymm8
040d  vpermq ymm7,ymm7,8
0413  vpacksswb xmm7,xmm7,xmm7
0417  vmovq [r8],xmm7
041c  vpmovzxbd ymm7,[r8]
0421  vpxor ymm8,ymm8,ymm8
0426  vblendvps ymm7,ymm8,ymm7,ymm3
042c  vpmulld ymm7,ymm7,ymm0
0431  vpor ymm6,ymm6,ymm7
0435  vmaskmovps ymm7,ymm3,[r10+rax*2]
043b  vdivps ymm7,ymm7,ymm5
043f  vcmpordps ymm8,ymm7,ymm7
0444  vpand ymm8,ymm8,ymm7
0448  vminps ymm8,ymm8,[rel 7A0h]
0450  vcvtps2dq ymm8,ymm8
0455  vpackssdw ymm7,ymm8,ymm8
045a  vpermq ymm7,ymm7,8
0460  vpacksswb xmm7,xmm7,xmm7
0464  vmovq [r8],xmm7
0469  vpmovzxbd ymm7,[r8]
046e  vpxor ymm8,ymm8,ymm8
0473  vblendvps ymm7,ymm8,ymm7,ymm3
0479  vpmulld ymm7,ymm7,ymm1
047e  vpor ymm6,ymm6,ymm7
0482  vmaskmovps ymm7,ymm3,[r10+r9]
0488  vdivps ymm7,ymm7,ymm5
048c  vcmpordps ymm8,ymm7,ymm7
0491  vpand ymm8,ymm8,ymm7
0495  vminps ymm8,ymm8,[rel 7A0h]
049d  vcvtps2dq ymm8,ymm8
04a2  vpackssdw ymm7,ymm8,ymm8
04a7  vpermq ymm7,ymm7,8
04ad  vpacksswb xmm7,xmm7,xmm7
04b1  vmovq [r8],xmm7
04b6  vpmovzxbd ymm7,[r8]
04bb  vpxor ymm8,ymm8,ymm8
04c0  vblendvps ymm7,ymm8,ymm7,ymm3
04c6  vpmulld ymm7,ymm7,ymm2
04cb  vpor ymm6,ymm6,ymm7
04cf  cmp rcx,4
04d3  jge near 62Ch
04d9  cmp rcx,0
04dd  jle near 52Ah
04e3  vmaskmovps ymm7,ymm3,[r10]
04e8  vdivps ymm7,ymm7,ymm5
04ec  vcmpordps ymm8,ymm7,ymm7
04f1  vpand ymm8,ymm8,ymm7
04f5  vminps ymm8,ymm8,[rel 7A0h]
04fd  vcvtps2dq ymm8,ymm8
0502  vpackssdw ymm7,ymm8,ymm8
0507  vpermq ymm7,ymm7,8
050d  vpacksswb xmm7,xmm7,xmm7
0511  vmovq [r8],xmm7
0516  vpmovzxbd ymm7,[r8]
051b  vpxor ymm8,ymm8,ymm8
0520  vblendvps ymm7,ymm8,ymm7,ymm3
0526  vpor ymm6,ymm6,ymm7
052a  cmp rcx,1
052e  jle near 581h
0534  vmaskmovps ymm7,ymm3,[r10+rax]
053a  vdivps ymm7,ymm7,ymm5
053e  vcmpordps ymm8,ymm7,ymm7
0543  vpand ymm8,ymm8,ymm7
0547  vminps ymm8,ymm8,[rel 7A0h]
054f  vcvtps2dq ymm8,ymm8
0554  vpackssdw ymm7,ymm8,ymm8
0559  vpermq ymm7,ymm7,8
055f  vpacksswb xmm7,xmm7,xmm7
0563  vmovq [r8],xmm7
0568  vpmovzxbd ymm7,[r8]
056d  vpxor ymm8,ymm8,ymm8
0572  vblendvps ymm7,ymm8,ymm7,ymm3
0578  vpmulld ymm7,ymm7,ymm0
057d  vpor ymm6,ymm6,ymm7
0581  cmp rcx,2
0585  jle near 5D8h
058b  vmaskmovps ymm7,ymm3,[r10+rax*2]
0591  vdivps ymm7,ymm7,ymm5
0595  vcmpordps ymm8,ymm7,ymm7
059a  vpand ymm8,ymm8,ymm7
059e  vminps ymm8,ymm8,[rel 7A0h]
05a6  vcvtps2dq ymm8,ymm8
05ab  vpackssdw ymm7,ymm8,ymm8
05b0  vpermq ymm7,ymm7,8
05b6  vpacksswb xmm7,xmm7,xmm7
05ba  vmovq [r8],xmm7
05bf  vpmovzxbd ymm7,[r8]
05c4  vpxor ymm8,ymm8,ymm8
05c9  vblendvps ymm7,ymm8,ymm7,ymm3
05cf  vpmulld ymm7,ymm7,ymm1
05d4  vpor ymm6,ymm6,ymm7
05d8  cmp rcx,3
05dc  jle near 62Ch
05e2  vmaskmovps ymm7,ymm3,[r10+r9]
05e8  vdivps ymm5,ymm7,ymm5
05ec  vcmpordps ymm7,ymm5,ymm5
05f1  vpand ymm7,ymm7,ymm5
05f5  vminps ymm7,ymm7,[rel 7A0h]
05fd  vcvtps2dq ymm7,ymm7
0601  vpackssdw ymm5,ymm7,ymm7
0605  vpermq ymm5,ymm5,8
060b  vpacksswb xmm5,xmm5,xmm5
060f  vmovq [r8],xmm5
0614  vpmovzxbd ymm5,[r8]
0619  vpxor ymm7,ymm7,ymm7
061d  vblendvps ymm3,ymm7,ymm5,ymm3
0623  vpmulld ymm3,ymm3,ymm2
0628  vpor ymm6,ymm6,ymm3
062c  vpbroadcastd ymm3,[rel 788h]
0635  vmaskmovps ymm5,ymm4,[r12]
063b  vpsllw ymm7,ymm3,8
0640  vpsrlw ymm7,ymm7,8
0645  vpsllw ymm8,ymm6,8
064a  vpsraw ymm8,ymm8,8
0650  vpmaddwd ymm7,ymm7,ymm8
0655  vpaddd ymm5,ymm5,ymm7
0659  vpsrlw ymm3,ymm3,8
065e  vpsraw ymm7,ymm6,8
0663  vpmaddwd ymm3,ymm3,ymm7
0667  vpaddd ymm5,ymm5,ymm3
066b  vmovmskps r10d,ymm4
066f  cmp r10,0FFh
0676  jne near 682h
067c  vmovups [r12],ymm5
0682  cmp r10,0FFh
0689  je near 6E4h
068f  lea rbx,[r12]
0693  mov rbp,r10
0696  vmovups xmm3,xmm5
069a  and r10,8
069e  je near 6B6h
06a4  vmovups [rbx],xmm3
06a8  vextracti128 xmm3,ymm5,1
06ae  add rbx,10h
06b2  shr rbp,4
06b6  mov r10,rbp
06b9  and r10,2
06bd  je near 6D3h
06c3  vmovq [rbx],xmm3
06c7  vunpckhpd xmm3,xmm3,xmm3
06cb  add rbx,8
06cf  shr rbp,2
06d3  mov r10,rbp
06d6  and r10,1
06da  je near 6E4h
06e0  vmovd [rbx],xmm3
06e4  vmovmskps r10d,ymm4
06e8  cmp r10,0FFh
06ef  jne near 6FAh
06f5  vmovups [r11],ymm6
06fa  cmp r10,0FFh
0701  je near 75Eh
0707  lea r11,[r11]
070a  mov rbx,r10
070d  vmovups xmm3,xmm6
0711  and r10,8
0715  je near 72Eh
071b  vmovups [r11],xmm3
0720  vextracti128 xmm3,ymm6,1
0726  add r11,10h
072a  shr rbx,4
072e  mov r10,rbx
0731  and r10,2
0735  je near 74Ch
073b  vmovq [r11],xmm3
0740  vunpckhpd xmm3,xmm3,xmm3
0744  add r11,8
0748  shr rbx,2
074c  mov r10,rbx
074f  and r10,1
0753  je near 75Eh
0759  vmovd [r11],xmm3
075e  add rsi,10h
0762  dec rdx
0765  jne near 80h
076b  add rsp,80h
0772  pop r13
0774  pop r12
0776  pop rbp
0777  pop rbx
0778  vzeroupper
077b  ret
