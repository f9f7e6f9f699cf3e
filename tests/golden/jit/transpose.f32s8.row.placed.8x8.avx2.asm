; 575 instructions, 2753 bytes, 0 spills, 0 of them in inner loops
0000  push rbx
0001  push rbp
0002  push r12
0004  push r13
0006  push r14
0008  push r15
000a  mov rax,[rdi]
000d  mov rcx,[rdi+18h]
0011  mov rdx,[rdi+8]
0015  mov rsi,[rdi+20h]
0019  mov rsi,[rdi+88h]
0020  mov r8,[rdi+0A0h]
0027  mov r9,[rdi+40h]
002b  test r9,r9
002e  jle near 2DEh
0034  nop word [rax+rax]
003d  nop dword [rax]
0040  mov r10,[rdi+30h]
0044  mov r11,[rdi+38h]
0048  mov r11,rax
004b  vmovups ymm0,[r11]
0050  prefetcht0 [r11+r10]
0055  add r11,rdx
0058  vmovups ymm1,[r11]
005d  prefetcht0 [r11+r10]
0062  add r11,rdx
0065  vmovups ymm2,[r11]
006a  prefetcht0 [r11+r10]
006f  add r11,rdx
0072  vmovups ymm3,[r11]
0077  prefetcht0 [r11+r10]
007c  add r11,rdx
007f  vmovups ymm4,[r11]
0084  prefetcht0 [r11+r10]
0089  add r11,rdx
008c  vmovups ymm5,[r11]
0091  prefetcht0 [r11+r10]
0096  add r11,rdx
0099  vmovups ymm6,[r11]
009e  prefetcht0 [r11+r10]
00a3  add r11,rdx
00a6  vmovups ymm7,[r11]
00ab  prefetcht0 [r11+r10]
00b0  add r11,rdx
00b3  vunpcklps ymm8,ymm0,ymm1
00b7  vunpckhps ymm0,ymm0,ymm1
00bb  vunpcklps ymm1,ymm2,ymm3
00bf  vunpckhps ymm2,ymm2,ymm3
00c3  vunpcklpd ymm3,ymm8,ymm1
00c7  vunpckhpd ymm1,ymm8,ymm1
00cb  vunpcklpd ymm8,ymm0,ymm2
00cf  vunpckhpd ymm0,ymm0,ymm2
00d3  vunpcklps ymm2,ymm4,ymm5
00d7  vunpckhps ymm4,ymm4,ymm5
00db  vunpcklps ymm5,ymm6,ymm7
00df  vunpckhps ymm6,ymm6,ymm7
00e3  vunpcklpd ymm7,ymm2,ymm5
00e7  vunpckhpd ymm2,ymm2,ymm5
00eb  vunpcklpd ymm5,ymm4,ymm6
00ef  vunpckhpd ymm4,ymm4,ymm6
00f3  vperm2f128 ymm6,ymm3,ymm7,20h
00f9  vperm2f128 ymm3,ymm3,ymm7,31h
00ff  vperm2f128 ymm7,ymm1,ymm2,20h
0105  vperm2f128 ymm1,ymm1,ymm2,31h
010b  vperm2f128 ymm2,ymm8,ymm5,20h
0111  vperm2f128 ymm5,ymm8,ymm5,31h
0117  vperm2f128 ymm8,ymm0,ymm4,20h
011d  vperm2f128 ymm0,ymm0,ymm4,31h
0123  vmovups ymm4,[rsi]
0127  mov r10,rcx
012a  vdivps ymm6,ymm6,ymm4
012e  mov r11,[r8]
0131  vcmpordps ymm9,ymm6,ymm6
0136  vpand ymm9,ymm9,ymm6
013a  vminps ymm9,ymm9,[rel 0AE0h]
0142  vcvtps2dq ymm9,ymm9
0147  vpackssdw ymm6,ymm9,ymm9
014c  vpermq ymm6,ymm6,8
0152  vpacksswb xmm6,xmm6,xmm6
0156  vmovq [r10+r11],xmm6
015c  vdivps ymm6,ymm7,ymm4
0160  mov r11,[r8+8]
0164  vcmpordps ymm7,ymm6,ymm6
0169  vpand ymm7,ymm7,ymm6
016d  vminps ymm7,ymm7,[rel 0AE0h]
0175  vcvtps2dq ymm7,ymm7
0179  vpackssdw ymm6,ymm7,ymm7
017d  vpermq ymm6,ymm6,8
0183  vpacksswb xmm6,xmm6,xmm6
0187  vmovq [r10+r11],xmm6
018d  vdivps ymm2,ymm2,ymm4
0191  mov r11,[r8+10h]
0195  vcmpordps ymm6,ymm2,ymm2
019a  vpand ymm6,ymm6,ymm2
019e  vminps ymm6,ymm6,[rel 0AE0h]
01a6  vcvtps2dq ymm6,ymm6
01aa  vpackssdw ymm2,ymm6,ymm6
01ae  vpermq ymm2,ymm2,8
01b4  vpacksswb xmm2,xmm2,xmm2
01b8  vmovq [r10+r11],xmm2
01be  vdivps ymm2,ymm8,ymm4
01c2  mov r11,[r8+18h]
01c6  vcmpordps ymm6,ymm2,ymm2
01cb  vpand ymm6,ymm6,ymm2
01cf  vminps ymm6,ymm6,[rel 0AE0h]
01d7  vcvtps2dq ymm6,ymm6
01db  vpackssdw ymm2,ymm6,ymm6
01df  vpermq ymm2,ymm2,8
01e5  vpacksswb xmm2,xmm2,xmm2
01e9  vmovq [r10+r11],xmm2
01ef  vdivps ymm2,ymm3,ymm4
01f3  mov r11,[r8+20h]
01f7  vcmpordps ymm3,ymm2,ymm2
01fc  vpand ymm3,ymm3,ymm2
0200  vminps ymm3,ymm3,[rel 0AE0h]
0208  vcvtps2dq ymm3,ymm3
020c  vpackssdw ymm2,ymm3,ymm3
0210  vpermq ymm2,ymm2,8
0216  vpacksswb xmm2,xmm2,xmm2
021a  vmovq [r10+r11],xmm2
0220  vdivps ymm1,ymm1,ymm4
0224  mov r11,[r8+28h]
0228  vcmpordps ymm2,ymm1,ymm1
022d  vpand ymm2,ymm2,ymm1
0231  vminps ymm2,ymm2,[rel 0AE0h]
0239  vcvtps2dq ymm2,ymm2
023d  vpackssdw ymm1,ymm2,ymm2
0241  vpermq ymm1,ymm1,8
0247  vpacksswb xmm1,xmm1,xmm1
024b  vmovq [r10+r11],xmm1
0251  vdivps ymm1,ymm5,ymm4
0255  mov r11,[r8+30h]
0259  vcmpordps ymm2,ymm1,ymm1
025e  vpand ymm2,ymm2,ymm1
0262  vminps ymm2,ymm2,[rel 0AE0h]
026a  vcvtps2dq ymm2,ymm2
026e  vpackssdw ymm1,ymm2,ymm2
0272  vpermq ymm1,ymm1,8
0278  vpacksswb xmm1,xmm1,xmm1
027c  vmovq [r10+r11],xmm1
0282  vdivps ymm0,ymm0,ymm4
0286  mov r11,[r8+38h]
028a  vcmpordps ymm1,ymm0,ymm0
028f  vpand ymm1,ymm1,ymm0
0293  vminps ymm1,ymm1,[rel 0AE0h]
029b  vcvtps2dq ymm1,ymm1
029f  vpackssdw ymm0,ymm1,ymm1
02a3  vpermq ymm0,ymm0,8
02a9  vpacksswb xmm0,xmm0,xmm0
02ad  vmovq [r10+r11],xmm0
02b3  mov r10,[rdi+10h]
02b7  add rax,r10
02ba  mov r10,[rdi+28h]
02be  add rcx,r10
02c1  mov r10,[rdi+98h]
02c8  add rsi,r10
02cb  mov r10,[rdi+0A8h]
02d2  add r8,r10
02d5  dec r9
02d8  jne near 40h
02de  mov r9,[rdi+48h]
02e2  mov r10,[rdi+50h]
02e6  mov r11,[rdi+60h]
02ea  mov rbx,[rdi+70h]
02ee  test r9,r9
02f1  jle near 0AB3h
02f7  nop word [rax+rax]
0300  vmovd xmm0,r11d
0305  vpbroadcastd ymm0,xmm0
030a  vpcmpgtd ymm0,ymm0,[rel 0B00h]
0312  vmovd xmm1,ebx
0316  vpbroadcastd ymm1,xmm1
031b  vpcmpgtd ymm1,ymm1,[rel 0B00h]
0323  mov rbp,rax
0326  vpxor ymm2,ymm2,ymm2
032a  cmp r10,0
032e  jle near 33Eh
0334  vmaskmovps ymm3,ymm0,[rbp]
033a  vmovups ymm2,ymm3
033e  add rbp,rdx
0341  vpxor ymm3,ymm3,ymm3
0345  cmp r10,1
0349  jle near 359h
034f  vmaskmovps ymm4,ymm0,[rbp]
0355  vmovups ymm3,ymm4
0359  add rbp,rdx
035c  vpxor ymm4,ymm4,ymm4
0360  cmp r10,2
0364  jle near 374h
036a  vmaskmovps ymm5,ymm0,[rbp]
0370  vmovups ymm4,ymm5
0374  add rbp,rdx
0377  vpxor ymm5,ymm5,ymm5
037b  cmp r10,3
037f  jle near 38Fh
0385  vmaskmovps ymm6,ymm0,[rbp]
038b  vmovups ymm5,ymm6
038f  add rbp,rdx
0392  vpxor ymm6,ymm6,ymm6
0396  cmp r10,4
039a  jle near 3AAh
03a0  vmaskmovps ymm7,ymm0,[rbp]
03a6  vmovups ymm6,ymm7
03aa  add rbp,rdx
03ad  vpxor ymm7,ymm7,ymm7
03b1  cmp r10,5
03b5  jle near 3C6h
03bb  vmaskmovps ymm8,ymm0,[rbp]
03c1  vmovups ymm7,ymm8
03c6  add rbp,rdx
03c9  vpxor ymm8,ymm8,ymm8
03ce  cmp r10,6
03d2  jle near 3E3h
03d8  vmaskmovps ymm9,ymm0,[rbp]
03de  vmovups ymm8,ymm9
03e3  add rbp,rdx
03e6  vpxor ymm9,ymm9,ymm9
03eb  cmp r10,7
03ef  jle near 3FFh
03f5  vmaskmovps ymm0,ymm0,[rbp]
03fb  vmovups ymm9,ymm0
03ff  add rbp,rdx
0402  vunpcklps ymm0,ymm2,ymm3
0406  vunpckhps ymm2,ymm2,ymm3
040a  vunpcklps ymm3,ymm4,ymm5
040e  vunpckhps ymm4,ymm4,ymm5
0412  vunpcklpd ymm5,ymm0,ymm3
0416  vunpckhpd ymm0,ymm0,ymm3
041a  vunpcklpd ymm3,ymm2,ymm4
041e  vunpckhpd ymm2,ymm2,ymm4
0422  vunpcklps ymm4,ymm6,ymm7
0426  vunpckhps ymm6,ymm6,ymm7
042a  vunpcklps ymm7,ymm8,ymm9
042f  vunpckhps ymm8,ymm8,ymm9
0434  vunpcklpd ymm9,ymm4,ymm7
0438  vunpckhpd ymm4,ymm4,ymm7
043c  vunpcklpd ymm7,ymm6,ymm8
0441  vunpckhpd ymm6,ymm6,ymm8
0446  vperm2f128 ymm8,ymm5,ymm9,20h
044c  vperm2f128 ymm5,ymm5,ymm9,31h
0452  vperm2f128 ymm9,ymm0,ymm4,20h
0458  vperm2f128 ymm0,ymm0,ymm4,31h
045e  vperm2f128 ymm4,ymm3,ymm7,20h
0464  vperm2f128 ymm3,ymm3,ymm7,31h
046a  vperm2f128 ymm7,ymm2,ymm6,20h
0470  vperm2f128 ymm2,ymm2,ymm6,31h
0476  vmovd xmm6,r10d
047b  vpbroadcastd ymm6,xmm6
0480  vpcmpgtd ymm6,ymm6,[rel 0B00h]
0488  vmaskmovps ymm10,ymm6,[rsi]
048d  mov rbp,rcx
0490  cmp r11,0
0494  jle near 551h
049a  vdivps ymm8,ymm8,ymm10
049f  vpxor ymm11,ymm11,ymm11
04a4  vblendvps ymm8,ymm11,ymm8,ymm6
04aa  mov r12,[r8]
04ad  vcmpordps ymm11,ymm8,ymm8
04b3  vpand ymm11,ymm11,ymm8
04b8  vminps ymm11,ymm11,[rel 0AE0h]
04c0  vcvtps2dq ymm11,ymm11
04c5  vpackssdw ymm8,ymm11,ymm11
04ca  vpermq ymm8,ymm8,8
04d0  vpacksswb xmm8,xmm8,xmm8
04d5  vmovmskps r13d,ymm1
04d9  cmp r13,0FFh
04e0  jne near 4EDh
04e6  vmovq [rbp+r12],xmm8
04ed  cmp r13,0FFh
04f4  je near 551h
04fa  lea r12,[rbp+r12]
04ff  mov r14,r13
0502  and r13,8
0506  je near 520h
050c  vmovd [r12],xmm8
0512  vshufps xmm8,xmm8,xmm8,1
0518  add r12,4
051c  shr r14,4
0520  vmovd r13d,xmm8
0525  mov r15,r14
0528  and r15,2
052c  je near 543h
0532  mov [r12],r13w
0537  shr r13,10h
053b  add r12,2
053f  shr r14,2
0543  and r14,1
0547  je near 551h
054d  mov [r12],r13b
0551  cmp r11,1
0555  jle near 613h
055b  vdivps ymm8,ymm9,ymm10
0560  vpxor ymm9,ymm9,ymm9
0565  vblendvps ymm8,ymm9,ymm8,ymm6
056b  mov r12,[r8+8]
056f  vcmpordps ymm9,ymm8,ymm8
0575  vpand ymm9,ymm9,ymm8
057a  vminps ymm9,ymm9,[rel 0AE0h]
0582  vcvtps2dq ymm9,ymm9
0587  vpackssdw ymm8,ymm9,ymm9
058c  vpermq ymm8,ymm8,8
0592  vpacksswb xmm8,xmm8,xmm8
0597  vmovmskps r13d,ymm1
059b  cmp r13,0FFh
05a2  jne near 5AFh
05a8  vmovq [rbp+r12],xmm8
05af  cmp r13,0FFh
05b6  je near 613h
05bc  lea r12,[rbp+r12]
05c1  mov r14,r13
05c4  and r13,8
05c8  je near 5E2h
05ce  vmovd [r12],xmm8
05d4  vshufps xmm8,xmm8,xmm8,1
05da  add r12,4
05de  shr r14,4
05e2  vmovd r13d,xmm8
05e7  mov r15,r14
05ea  and r15,2
05ee  je near 605h
05f4  mov [r12],r13w
05f9  shr r13,10h
05fd  add r12,2
0601  shr r14,2
0605  and r14,1
0609  je near 613h
060f  mov [r12],r13b
0613  cmp r11,2
0617  jle near 6D1h
061d  vdivps ymm4,ymm4,ymm10
0622  vpxor ymm8,ymm8,ymm8
0627  vblendvps ymm4,ymm8,ymm4,ymm6
062d  mov r12,[r8+10h]
0631  vcmpordps ymm8,ymm4,ymm4
0636  vpand ymm8,ymm8,ymm4
063a  vminps ymm8,ymm8,[rel 0AE0h]
0642  vcvtps2dq ymm8,ymm8
0647  vpackssdw ymm4,ymm8,ymm8
064c  vpermq ymm4,ymm4,8
0652  vpacksswb xmm4,xmm4,xmm4
0656  vmovmskps r13d,ymm1
065a  cmp r13,0FFh
0661  jne near 66Eh
0667  vmovq [rbp+r12],xmm4
066e  cmp r13,0FFh
0675  je near 6D1h
067b  lea r12,[rbp+r12]
0680  mov r14,r13
0683  and r13,8
0687  je near 6A0h
068d  vmovd [r12],xmm4
0693  vshufps xmm4,xmm4,xmm4,1
0698  add r12,4
069c  shr r14,4
06a0  vmovd r13d,xmm4
06a5  mov r15,r14
06a8  and r15,2
06ac  je near 6C3h
06b2  mov [r12],r13w
06b7  shr r13,10h
06bb  add r12,2
06bf  shr r14,2
06c3  and r14,1
06c7  je near 6D1h
06cd  mov [r12],r13b
06d1  cmp r11,3
06d5  jle near 78Ch
06db  vdivps ymm4,ymm7,ymm10
06e0  vpxor ymm7,ymm7,ymm7
06e4  vblendvps ymm4,ymm7,ymm4,ymm6
06ea  mov r12,[r8+18h]
06ee  vcmpordps ymm7,ymm4,ymm4
06f3  vpand ymm7,ymm7,ymm4
06f7  vminps ymm7,ymm7,[rel 0AE0h]
06ff  vcvtps2dq ymm7,ymm7
0703  vpackssdw ymm4,ymm7,ymm7
0707  vpermq ymm4,ymm4,8
070d  vpacksswb xmm4,xmm4,xmm4
0711  vmovmskps r13d,ymm1
0715  cmp r13,0FFh
071c  jne near 729h
0722  vmovq [rbp+r12],xmm4
0729  cmp r13,0FFh
0730  je near 78Ch
0736  lea r12,[rbp+r12]
073b  mov r14,r13
073e  and r13,8
0742  je near 75Bh
0748  vmovd [r12],xmm4
074e  vshufps xmm4,xmm4,xmm4,1
0753  add r12,4
0757  shr r14,4
075b  vmovd r13d,xmm4
0760  mov r15,r14
0763  and r15,2
0767  je near 77Eh
076d  mov [r12],r13w
0772  shr r13,10h
0776  add r12,2
077a  shr r14,2
077e  and r14,1
0782  je near 78Ch
0788  mov [r12],r13b
078c  cmp r11,4
0790  jle near 847h
0796  vdivps ymm4,ymm5,ymm10
079b  vpxor ymm5,ymm5,ymm5
079f  vblendvps ymm4,ymm5,ymm4,ymm6
07a5  mov r12,[r8+20h]
07a9  vcmpordps ymm5,ymm4,ymm4
07ae  vpand ymm5,ymm5,ymm4
07b2  vminps ymm5,ymm5,[rel 0AE0h]
07ba  vcvtps2dq ymm5,ymm5
07be  vpackssdw ymm4,ymm5,ymm5
07c2  vpermq ymm4,ymm4,8
07c8  vpacksswb xmm4,xmm4,xmm4
07cc  vmovmskps r13d,ymm1
07d0  cmp r13,0FFh
07d7  jne near 7E4h
07dd  vmovq [rbp+r12],xmm4
07e4  cmp r13,0FFh
07eb  je near 847h
07f1  lea r12,[rbp+r12]
07f6  mov r14,r13
07f9  and r13,8
07fd  je near 816h
0803  vmovd [r12],xmm4
0809  vshufps xmm4,xmm4,xmm4,1
080e  add r12,4
0812  shr r14,4
0816  vmovd r13d,xmm4
081b  mov r15,r14
081e  and r15,2
0822  je near 839h
0828  mov [r12],r13w
082d  shr r13,10h
0831  add r12,2
0835  shr r14,2
0839  and r14,1
083d  je near 847h
0843  mov [r12],r13b
0847  cmp r11,5
084b  jle near 902h
0851  vdivps ymm0,ymm0,ymm10
0856  vpxor ymm4,ymm4,ymm4
085a  vblendvps ymm0,ymm4,ymm0,ymm6
0860  mov r12,[r8+28h]
0864  vcmpordps ymm4,ymm0,ymm0
0869  vpand ymm4,ymm4,ymm0
086d  vminps ymm4,ymm4,[rel 0AE0h]
0875  vcvtps2dq ymm4,ymm4
0879  vpackssdw ymm0,ymm4,ymm4
087d  vpermq ymm0,ymm0,8
0883  vpacksswb xmm0,xmm0,xmm0
0887  vmovmskps r13d,ymm1
088b  cmp r13,0FFh
0892  jne near 89Fh
0898  vmovq [rbp+r12],xmm0
089f  cmp r13,0FFh
08a6  je near 902h
08ac  lea r12,[rbp+r12]
08b1  mov r14,r13
08b4  and r13,8
08b8  je near 8D1h
08be  vmovd [r12],xmm0
08c4  vshufps xmm0,xmm0,xmm0,1
08c9  add r12,4
08cd  shr r14,4
08d1  vmovd r13d,xmm0
08d6  mov r15,r14
08d9  and r15,2
08dd  je near 8F4h
08e3  mov [r12],r13w
08e8  shr r13,10h
08ec  add r12,2
08f0  shr r14,2
08f4  and r14,1
08f8  je near 902h
08fe  mov [r12],r13b
0902  cmp r11,6
0906  jle near 9BDh
090c  vdivps ymm0,ymm3,ymm10
0911  vpxor ymm3,ymm3,ymm3
0915  vblendvps ymm0,ymm3,ymm0,ymm6
091b  mov r12,[r8+30h]
091f  vcmpordps ymm3,ymm0,ymm0
0924  vpand ymm3,ymm3,ymm0
0928  vminps ymm3,ymm3,[rel 0AE0h]
0930  vcvtps2dq ymm3,ymm3
0934  vpackssdw ymm0,ymm3,ymm3
0938  vpermq ymm0,ymm0,8
093e  vpacksswb xmm0,xmm0,xmm0
0942  vmovmskps r13d,ymm1
0946  cmp r13,0FFh
094d  jne near 95Ah
0953  vmovq [rbp+r12],xmm0
095a  cmp r13,0FFh
0961  je near 9BDh
0967  lea r12,[rbp+r12]
096c  mov r14,r13
096f  and r13,8
0973  je near 98Ch
0979  vmovd [r12],xmm0
097f  vshufps xmm0,xmm0,xmm0,1
0984  add r12,4
0988  shr r14,4
098c  vmovd r13d,xmm0
0991  mov r15,r14
0994  and r15,2
0998  je near 9AFh
099e  mov [r12],r13w
09a3  shr r13,10h
09a7  add r12,2
09ab  shr r14,2
09af  and r14,1
09b3  je near 9BDh
09b9  mov [r12],r13b
09bd  cmp r11,7
09c1  jle near 0A77h
09c7  vdivps ymm0,ymm2,ymm10
09cc  vpxor ymm2,ymm2,ymm2
09d0  vblendvps ymm0,ymm2,ymm0,ymm6
09d6  mov r12,[r8+38h]
09da  vcmpordps ymm2,ymm0,ymm0
09df  vpand ymm2,ymm2,ymm0
09e3  vminps ymm2,ymm2,[rel 0AE0h]
09eb  vcvtps2dq ymm2,ymm2
09ef  vpackssdw ymm0,ymm2,ymm2
09f3  vpermq ymm0,ymm0,8
09f9  vpacksswb xmm0,xmm0,xmm0
09fd  vmovmskps r13d,ymm1
0a01  cmp r13,0FFh
0a08  jne near 0A15h
0a0e  vmovq [rbp+r12],xmm0
0a15  cmp r13,0FFh
0a1c  je near 0A77h
0a22  lea rbp,[rbp+r12]
0a27  mov r12,r13
0a2a  and r13,8
0a2e  je near 0A46h
0a34  vmovd [rbp],xmm0
0a39  vshufps xmm0,xmm0,xmm0,1
0a3e  add rbp,4
0a42  shr r12,4
0a46  vmovd r13d,xmm0
0a4b  mov r14,r12
0a4e  and r14,2
0a52  je near 0A69h
0a58  mov [rbp],r13w
0a5d  shr r13,10h
0a61  add rbp,2
0a65  shr r12,2
0a69  and r12,1
0a6d  je near 0A77h
0a73  mov [rbp],r13b
0a77  mov rbp,[rdi+10h]
0a7b  add rax,rbp
0a7e  mov rbp,[rdi+28h]
0a82  add rcx,rbp
0a85  mov rbp,[rdi+98h]
0a8c  add rsi,rbp
0a8f  mov rbp,[rdi+0A8h]
0a96  add r8,rbp
0a99  mov rbp,[rdi+58h]
0a9d  mov r12,[rdi+68h]
0aa1  sub r10,rbp
0aa4  sub r11,r12
0aa7  sub rbx,rbp
0aaa  dec r9
0aad  jne near 300h
0ab3  pop r15
0ab5  pop r14
0ab7  pop r13
0ab9  pop r12
0abb  pop rbp
0abc  pop rbx
0abd  vzeroupper
0ac0  ret
