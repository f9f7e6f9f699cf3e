; 751 instructions, 3889 bytes, 0 spills, 0 of them in inner loops
0000  push rbx
0001  push rbp
0002  push r12
0004  push r13
0006  push r14
0008  sub rsp,200h
000f  mov rax,[rdi]
0012  mov rcx,[rdi+18h]
0016  mov rdx,[rdi+8]
001a  mov rsi,[rdi+20h]
001e  mov rsi,[rdi+80h]
0025  mov r8,[rdi+90h]
002c  mov r9,[rdi+40h]
0030  test r9,r9
0033  jle near 36Eh
0039  nop dword [rax]
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
013a  vpbroadcastd ymm6,[rel 0F34h]
0143  vmaxps ymm9,ymm9,ymm6
0147  vpbroadcastd ymm6,[rel 0F38h]
0150  vminps ymm9,ymm9,ymm6
0154  vcvtps2dq ymm9,ymm9
0159  vpackssdw ymm6,ymm9,ymm9
015e  vpermq ymm6,ymm6,8
0164  vpacksswb xmm6,xmm6,xmm6
0168  vmovq [r10+r11],xmm6
016e  vdivps ymm6,ymm7,ymm4
0172  mov r11,[r8+8]
0176  vcmpordps ymm7,ymm6,ymm6
017b  vpand ymm7,ymm7,ymm6
017f  vpbroadcastd ymm6,[rel 0F34h]
0188  vmaxps ymm7,ymm7,ymm6
018c  vpbroadcastd ymm6,[rel 0F38h]
0195  vminps ymm7,ymm7,ymm6
0199  vcvtps2dq ymm7,ymm7
019d  vpackssdw ymm6,ymm7,ymm7
01a1  vpermq ymm6,ymm6,8
01a7  vpacksswb xmm6,xmm6,xmm6
01ab  vmovq [r10+r11],xmm6
01b1  vdivps ymm2,ymm2,ymm4
01b5  mov r11,[r8+10h]
01b9  vcmpordps ymm6,ymm2,ymm2
01be  vpand ymm6,ymm6,ymm2
01c2  vpbroadcastd ymm2,[rel 0F34h]
01cb  vmaxps ymm6,ymm6,ymm2
01cf  vpbroadcastd ymm2,[rel 0F38h]
01d8  vminps ymm6,ymm6,ymm2
01dc  vcvtps2dq ymm6,ymm6
01e0  vpackssdw ymm2,ymm6,ymm6
01e4  vpermq ymm2,ymm2,8
01ea  vpacksswb xmm2,xmm2,xmm2
01ee  vmovq [r10+r11],xmm2
01f4  vdivps ymm2,ymm8,ymm4
01f8  mov r11,[r8+18h]
01fc  vcmpordps ymm6,ymm2,ymm2
0201  vpand ymm6,ymm6,ymm2
0205  vpbroadcastd ymm2,[rel 0F34h]
020e  vmaxps ymm6,ymm6,ymm2
0212  vpbroadcastd ymm2,[rel 0F38h]
021b  vminps ymm6,ymm6,ymm2
021f  vcvtps2dq ymm6,ymm6
0223  vpackssdw ymm2,ymm6,ymm6
0227  vpermq ymm2,ymm2,8
022d  vpacksswb xmm2,xmm2,xmm2
0231  vmovq [r10+r11],xmm2
0237  vdivps ymm2,ymm3,ymm4
023b  mov r11,[r8+20h]
023f  vcmpordps ymm3,ymm2,ymm2
0244  vpand ymm3,ymm3,ymm2
0248  vpbroadcastd ymm2,[rel 0F34h]
0251  vmaxps ymm3,ymm3,ymm2
0255  vpbroadcastd ymm2,[rel 0F38h]
025e  vminps ymm3,ymm3,ymm2
0262  vcvtps2dq ymm3,ymm3
0266  vpackssdw ymm2,ymm3,ymm3
026a  vpermq ymm2,ymm2,8
0270  vpacksswb xmm2,xmm2,xmm2
0274  vmovq [r10+r11],xmm2
027a  vdivps ymm1,ymm1,ymm4
027e  mov r11,[r8+28h]
0282  vcmpordps ymm2,ymm1,ymm1
0287  vpand ymm2,ymm2,ymm1
028b  vpbroadcastd ymm1,[rel 0F34h]
0294  vmaxps ymm2,ymm2,ymm1
0298  vpbroadcastd ymm1,[rel 0F38h]
02a1  vminps ymm2,ymm2,ymm1
02a5  vcvtps2dq ymm2,ymm2
02a9  vpackssdw ymm1,ymm2,ymm2
02ad  vpermq ymm1,ymm1,8
02b3  vpacksswb xmm1,xmm1,xmm1
02b7  vmovq [r10+r11],xmm1
02bd  vdivps ymm1,ymm5,ymm4
02c1  mov r11,[r8+30h]
02c5  vcmpordps ymm2,ymm1,ymm1
02ca  vpand ymm2,ymm2,ymm1
02ce  vpbroadcastd ymm1,[rel 0F34h]
02d7  vmaxps ymm2,ymm2,ymm1
02db  vpbroadcastd ymm1,[rel 0F38h]
02e4  vminps ymm2,ymm2,ymm1
02e8  vcvtps2dq ymm2,ymm2
02ec  vpackssdw ymm1,ymm2,ymm2
02f0  vpermq ymm1,ymm1,8
02f6  vpacksswb xmm1,xmm1,xmm1
02fa  vmovq [r10+r11],xmm1
0300  vdivps ymm0,ymm0,ymm4
0304  mov r11,[r8+38h]
0308  vcmpordps ymm1,ymm0,ymm0
030d  vpand ymm1,ymm1,ymm0
0311  vpbroadcastd ymm0,[rel 0F34h]
031a  vmaxps ymm1,ymm1,ymm0
031e  vpbroadcastd ymm0,[rel 0F38h]
0327  vminps ymm1,ymm1,ymm0
032b  vcvtps2dq ymm1,ymm1
032f  vpackssdw ymm0,ymm1,ymm1
0333  vpermq ymm0,ymm0,8
0339  vpacksswb xmm0,xmm0,xmm0
033d  vmovq [r10+r11],xmm0
0343  mov r10,[rdi+10h]
0347  add rax,r10
034a  mov r10,[rdi+28h]
034e  add rcx,r10
0351  mov r10,[rdi+88h]
0358  add rsi,r10
035b  mov r10,[rdi+98h]
0362  add r8,r10
0365  dec r9
0368  jne near 40h
036e  mov r9,[rdi+48h]
0372  mov r10,[rdi+50h]
0376  mov r11,[rdi+60h]
037a  mov rbx,[rdi+70h]
037e  test r9,r9
0381  jle near 0F1Eh
0387  nop word [rax+rax]
0390  nop word [rax+rax]
0399  nop word [rax+rax]
03a2  nop word [rax+rax]
03ab  nop word [rax+rax]
03b4  nop word [rax+rax]
03bd  nop dword [rax]
03c0  vmovd xmm0,r11d
03c5  vpbroadcastd ymm0,xmm0
03ca  vpcmpgtd ymm0,ymm0,[rel 0F40h]
03d2  vmovd xmm1,ebx
03d6  vpbroadcastd ymm1,xmm1
03db  vpcmpgtd ymm1,ymm1,[rel 0F40h]
03e3  mov rbp,rax
03e6  vpxor ymm2,ymm2,ymm2
03ea  cmp r10,0
03ee  jle near 3FEh
03f4  vmaskmovps ymm3,ymm0,[rbp]
03fa  vmovups ymm2,ymm3
03fe  add rbp,rdx
0401  vpxor ymm3,ymm3,ymm3
0405  cmp r10,1
0409  jle near 419h
040f  vmaskmovps ymm4,ymm0,[rbp]
0415  vmovups ymm3,ymm4
0419  add rbp,rdx
041c  vpxor ymm4,ymm4,ymm4
0420  cmp r10,2
0424  jle near 434h
042a  vmaskmovps ymm5,ymm0,[rbp]
0430  vmovups ymm4,ymm5
0434  add rbp,rdx
0437  vpxor ymm5,ymm5,ymm5
043b  cmp r10,3
043f  jle near 44Fh
0445  vmaskmovps ymm6,ymm0,[rbp]
044b  vmovups ymm5,ymm6
044f  add rbp,rdx
0452  vpxor ymm6,ymm6,ymm6
0456  cmp r10,4
045a  jle near 46Ah
0460  vmaskmovps ymm7,ymm0,[rbp]
0466  vmovups ymm6,ymm7
046a  add rbp,rdx
046d  vpxor ymm7,ymm7,ymm7
0471  cmp r10,5
0475  jle near 486h
047b  vmaskmovps ymm8,ymm0,[rbp]
0481  vmovups ymm7,ymm8
0486  add rbp,rdx
0489  vpxor ymm8,ymm8,ymm8
048e  cmp r10,6
0492  jle near 4A3h
0498  vmaskmovps ymm9,ymm0,[rbp]
049e  vmovups ymm8,ymm9
04a3  add rbp,rdx
04a6  vpxor ymm9,ymm9,ymm9
04ab  cmp r10,7
04af  jle near 4BFh
04b5  vmaskmovps ymm0,ymm0,[rbp]
04bb  vmovups ymm9,ymm0
04bf  add rbp,rdx
04c2  vunpcklps ymm0,ymm2,ymm3
04c6  vunpckhps ymm2,ymm2,ymm3
04ca  vunpcklps ymm3,ymm4,ymm5
04ce  vunpckhps ymm4,ymm4,ymm5
04d2  vunpcklpd ymm5,ymm0,ymm3
04d6  vunpckhpd ymm0,ymm0,ymm3
04da  vunpcklpd ymm3,ymm2,ymm4
04de  vunpckhpd ymm2,ymm2,ymm4
04e2  vunpcklps ymm4,ymm6,ymm7
04e6  vunpckhps ymm6,ymm6,ymm7
04ea  vunpcklps ymm7,ymm8,ymm9
04ef  vunpckhps ymm8,ymm8,ymm9
04f4  vunpcklpd ymm9,ymm4,ymm7
04f8  vunpckhpd ymm4,ymm4,ymm7
04fc  vunpcklpd ymm7,ymm6,ymm8
0501  vunpckhpd ymm6,ymm6,ymm8
0506  vperm2f128 ymm8,ymm5,ymm9,20h
050c  vperm2f128 ymm5,ymm5,ymm9,31h
0512  vperm2f128 ymm9,ymm0,ymm4,20h
0518  vperm2f128 ymm0,ymm0,ymm4,31h
051e  vperm2f128 ymm4,ymm3,ymm7,20h
0524  vperm2f128 ymm3,ymm3,ymm7,31h
052a  vperm2f128 ymm7,ymm2,ymm6,20h
0530  vperm2f128 ymm2,ymm2,ymm6,31h
0536  vmovd xmm6,r10d
053b  vpbroadcastd ymm6,xmm6
0540  vpcmpgtd ymm6,ymm6,[rel 0F40h]
0548  vmaskmovps ymm10,ymm6,[rsi]
054d  mov rbp,rcx
0550  cmp r11,0
0554  jle near 671h
055a  vdivps ymm8,ymm8,ymm10
055f  vpxor ymm11,ymm11,ymm11
0564  vblendvps ymm8,ymm11,ymm8,ymm6
056a  mov r12,[r8]
056d  vcmpordps ymm11,ymm8,ymm8
0573  vpand ymm11,ymm11,ymm8
0578  vpbroadcastd ymm8,[rel 0F34h]
0581  vmaxps ymm11,ymm11,ymm8
0586  vpbroadcastd ymm8,[rel 0F38h]
058f  vminps ymm11,ymm11,ymm8
0594  vcvtps2dq ymm11,ymm11
0599  vpackssdw ymm8,ymm11,ymm11
059e  vpermq ymm8,ymm8,8
05a4  vpacksswb xmm8,xmm8,xmm8
05a9  vmovq [rsp],xmm8
05ae  vmovmskps r13d,ymm1
05b2  mov r14,r13
05b5  and r14,1
05b9  je near 5C9h
05bf  movzx r14d,byte [rsp]
05c4  mov [rbp+r12],r14b
05c9  mov r14,r13
05cc  and r14,2
05d0  je near 5E1h
05d6  movzx r14d,byte [rsp+1]
05dc  mov [rbp+r12+1],r14b
05e1  mov r14,r13
05e4  and r14,4
05e8  je near 5F9h
05ee  movzx r14d,byte [rsp+2]
05f4  mov [rbp+r12+2],r14b
05f9  mov r14,r13
05fc  and r14,8
0600  je near 611h
0606  movzx r14d,byte [rsp+3]
060c  mov [rbp+r12+3],r14b
0611  mov r14,r13
0614  and r14,10h
0618  je near 629h
061e  movzx r14d,byte [rsp+4]
0624  mov [rbp+r12+4],r14b
0629  mov r14,r13
062c  and r14,20h
0630  je near 641h
0636  movzx r14d,byte [rsp+5]
063c  mov [rbp+r12+5],r14b
0641  mov r14,r13
0644  and r14,40h
0648  je near 659h
064e  movzx r14d,byte [rsp+6]
0654  mov [rbp+r12+6],r14b
0659  and r13,80h
0660  je near 671h
0666  movzx r13d,byte [rsp+7]
066c  mov [rbp+r12+7],r13b
0671  cmp r11,1
0675  jle near 795h
067b  vdivps ymm8,ymm9,ymm10
0680  vpxor ymm9,ymm9,ymm9
0685  vblendvps ymm8,ymm9,ymm8,ymm6
068b  mov r12,[r8+8]
068f  vcmpordps ymm9,ymm8,ymm8
0695  vpand ymm9,ymm9,ymm8
069a  vpbroadcastd ymm8,[rel 0F34h]
06a3  vmaxps ymm9,ymm9,ymm8
06a8  vpbroadcastd ymm8,[rel 0F38h]
06b1  vminps ymm9,ymm9,ymm8
06b6  vcvtps2dq ymm9,ymm9
06bb  vpackssdw ymm8,ymm9,ymm9
06c0  vpermq ymm8,ymm8,8
06c6  vpacksswb xmm8,xmm8,xmm8
06cb  vmovq [rsp+40h],xmm8
06d1  vmovmskps r13d,ymm1
06d5  mov r14,r13
06d8  and r14,1
06dc  je near 6EDh
06e2  movzx r14d,byte [rsp+40h]
06e8  mov [rbp+r12],r14b
06ed  mov r14,r13
06f0  and r14,2
06f4  je near 705h
06fa  movzx r14d,byte [rsp+41h]
0700  mov [rbp+r12+1],r14b
0705  mov r14,r13
0708  and r14,4
070c  je near 71Dh
0712  movzx r14d,byte [rsp+42h]
0718  mov [rbp+r12+2],r14b
071d  mov r14,r13
0720  and r14,8
0724  je near 735h
072a  movzx r14d,byte [rsp+43h]
0730  mov [rbp+r12+3],r14b
0735  mov r14,r13
0738  and r14,10h
073c  je near 74Dh
0742  movzx r14d,byte [rsp+44h]
0748  mov [rbp+r12+4],r14b
074d  mov r14,r13
0750  and r14,20h
0754  je near 765h
075a  movzx r14d,byte [rsp+45h]
0760  mov [rbp+r12+5],r14b
0765  mov r14,r13
0768  and r14,40h
076c  je near 77Dh
0772  movzx r14d,byte [rsp+46h]
0778  mov [rbp+r12+6],r14b
077d  and r13,80h
0784  je near 795h
078a  movzx r13d,byte [rsp+47h]
0790  mov [rbp+r12+7],r13b
0795  cmp r11,2
0799  jle near 8CFh
079f  vdivps ymm4,ymm4,ymm10
07a4  vpxor ymm8,ymm8,ymm8
07a9  vblendvps ymm4,ymm8,ymm4,ymm6
07af  mov r12,[r8+10h]
07b3  vcmpordps ymm8,ymm4,ymm4
07b8  vpand ymm8,ymm8,ymm4
07bc  vpbroadcastd ymm4,[rel 0F34h]
07c5  vmaxps ymm8,ymm8,ymm4
07c9  vpbroadcastd ymm4,[rel 0F38h]
07d2  vminps ymm8,ymm8,ymm4
07d6  vcvtps2dq ymm8,ymm8
07db  vpackssdw ymm4,ymm8,ymm8
07e0  vpermq ymm4,ymm4,8
07e6  vpacksswb xmm4,xmm4,xmm4
07ea  vmovq [rsp+80h],xmm4
07f3  vmovmskps r13d,ymm1
07f7  mov r14,r13
07fa  and r14,1
07fe  je near 812h
0804  movzx r14d,byte [rsp+80h]
080d  mov [rbp+r12],r14b
0812  mov r14,r13
0815  and r14,2
0819  je near 82Dh
081f  movzx r14d,byte [rsp+81h]
0828  mov [rbp+r12+1],r14b
082d  mov r14,r13
0830  and r14,4
0834  je near 848h
083a  movzx r14d,byte [rsp+82h]
0843  mov [rbp+r12+2],r14b
0848  mov r14,r13
084b  and r14,8
084f  je near 863h
0855  movzx r14d,byte [rsp+83h]
085e  mov [rbp+r12+3],r14b
0863  mov r14,r13
0866  and r14,10h
086a  je near 87Eh
0870  movzx r14d,byte [rsp+84h]
0879  mov [rbp+r12+4],r14b
087e  mov r14,r13
0881  and r14,20h
0885  je near 899h
088b  movzx r14d,byte [rsp+85h]
0894  mov [rbp+r12+5],r14b
0899  mov r14,r13
089c  and r14,40h
08a0  je near 8B4h
08a6  movzx r14d,byte [rsp+86h]
08af  mov [rbp+r12+6],r14b
08b4  and r13,80h
08bb  je near 8CFh
08c1  movzx r13d,byte [rsp+87h]
08ca  mov [rbp+r12+7],r13b
08cf  cmp r11,3
08d3  jle near 0A06h
08d9  vdivps ymm4,ymm7,ymm10
08de  vpxor ymm7,ymm7,ymm7
08e2  vblendvps ymm4,ymm7,ymm4,ymm6
08e8  mov r12,[r8+18h]
08ec  vcmpordps ymm7,ymm4,ymm4
08f1  vpand ymm7,ymm7,ymm4
08f5  vpbroadcastd ymm4,[rel 0F34h]
08fe  vmaxps ymm7,ymm7,ymm4
0902  vpbroadcastd ymm4,[rel 0F38h]
090b  vminps ymm7,ymm7,ymm4
090f  vcvtps2dq ymm7,ymm7
0913  vpackssdw ymm4,ymm7,ymm7
0917  vpermq ymm4,ymm4,8
091d  vpacksswb xmm4,xmm4,xmm4
0921  vmovq [rsp+0C0h],xmm4
092a  vmovmskps r13d,ymm1
092e  mov r14,r13
0931  and r14,1
0935  je near 949h
093b  movzx r14d,byte [rsp+0C0h]
0944  mov [rbp+r12],r14b
0949  mov r14,r13
094c  and r14,2
0950  je near 964h
0956  movzx r14d,byte [rsp+0C1h]
095f  mov [rbp+r12+1],r14b
0964  mov r14,r13
0967  and r14,4
096b  je near 97Fh
0971  movzx r14d,byte [rsp+0C2h]
097a  mov [rbp+r12+2],r14b
097f  mov r14,r13
0982  and r14,8
0986  je near 99Ah
098c  movzx r14d,byte [rsp+0C3h]
0995  mov [rbp+r12+3],r14b
099a  mov r14,r13
099d  and r14,10h
09a1  je near 9B5h
09a7  movzx r14d,byte [rsp+0C4h]
09b0  mov [rbp+r12+4],r14b
09b5  mov r14,r13
09b8  and r14,20h
09bc  je near 9D0h
09c2  movzx r14d,byte [rsp+0C5h]
09cb  mov [rbp+r12+5],r14b
09d0  mov r14,r13
09d3  and r14,40h
09d7  je near 9EBh
09dd  movzx r14d,byte [rsp+0C6h]
09e6  mov [rbp+r12+6],r14b
09eb  and r13,80h
09f2  je near 0A06h
09f8  movzx r13d,byte [rsp+0C7h]
0a01  mov [rbp+r12+7],r13b
0a06  cmp r11,4
0a0a  jle near 0B3Dh
0a10  vdivps ymm4,ymm5,ymm10
0a15  vpxor ymm5,ymm5,ymm5
0a19  vblendvps ymm4,ymm5,ymm4,ymm6
0a1f  mov r12,[r8+20h]
0a23  vcmpordps ymm5,ymm4,ymm4
0a28  vpand ymm5,ymm5,ymm4
0a2c  vpbroadcastd ymm4,[rel 0F34h]
0a35  vmaxps ymm5,ymm5,ymm4
0a39  vpbroadcastd ymm4,[rel 0F38h]
0a42  vminps ymm5,ymm5,ymm4
0a46  vcvtps2dq ymm5,ymm5
0a4a  vpackssdw ymm4,ymm5,ymm5
0a4e  vpermq ymm4,ymm4,8
0a54  vpacksswb xmm4,xmm4,xmm4
0a58  vmovq [rsp+100h],xmm4
0a61  vmovmskps r13d,ymm1
0a65  mov r14,r13
0a68  and r14,1
0a6c  je near 0A80h
0a72  movzx r14d,byte [rsp+100h]
0a7b  mov [rbp+r12],r14b
0a80  mov r14,r13
0a83  and r14,2
0a87  je near 0A9Bh
0a8d  movzx r14d,byte [rsp+101h]
0a96  mov [rbp+r12+1],r14b
0a9b  mov r14,r13
0a9e  and r14,4
0aa2  je near 0AB6h
0aa8  movzx r14d,byte [rsp+102h]
0ab1  mov [rbp+r12+2],r14b
0ab6  mov r14,r13
0ab9  and r14,8
0abd  je near 0AD1h
0ac3  movzx r14d,byte [rsp+103h]
0acc  mov [rbp+r12+3],r14b
0ad1  mov r14,r13
0ad4  and r14,10h
0ad8  je near 0AECh
0ade  movzx r14d,byte [rsp+104h]
0ae7  mov [rbp+r12+4],r14b
0aec  mov r14,r13
0aef  and r14,20h
0af3  je near 0B07h
0af9  movzx r14d,byte [rsp+105h]
0b02  mov [rbp+r12+5],r14b
0b07  mov r14,r13
0b0a  and r14,40h
0b0e  je near 0B22h
0b14  movzx r14d,byte [rsp+106h]
0b1d  mov [rbp+r12+6],r14b
0b22  and r13,80h
0b29  je near 0B3Dh
0b2f  movzx r13d,byte [rsp+107h]
0b38  mov [rbp+r12+7],r13b
0b3d  cmp r11,5
0b41  jle near 0C74h
0b47  vdivps ymm0,ymm0,ymm10
0b4c  vpxor ymm4,ymm4,ymm4
0b50  vblendvps ymm0,ymm4,ymm0,ymm6
0b56  mov r12,[r8+28h]
0b5a  vcmpordps ymm4,ymm0,ymm0
0b5f  vpand ymm4,ymm4,ymm0
0b63  vpbroadcastd ymm0,[rel 0F34h]
0b6c  vmaxps ymm4,ymm4,ymm0
0b70  vpbroadcastd ymm0,[rel 0F38h]
0b79  vminps ymm4,ymm4,ymm0
0b7d  vcvtps2dq ymm4,ymm4
0b81  vpackssdw ymm0,ymm4,ymm4
0b85  vpermq ymm0,ymm0,8
0b8b  vpacksswb xmm0,xmm0,xmm0
0b8f  vmovq [rsp+140h],xmm0
0b98  vmovmskps r13d,ymm1
0b9c  mov r14,r13
0b9f  and r14,1
0ba3  je near 0BB7h
0ba9  movzx r14d,byte [rsp+140h]
0bb2  mov [rbp+r12],r14b
0bb7  mov r14,r13
0bba  and r14,2
0bbe  je near 0BD2h
0bc4  movzx r14d,byte [rsp+141h]
0bcd  mov [rbp+r12+1],r14b
0bd2  mov r14,r13
0bd5  and r14,4
0bd9  je near 0BEDh
0bdf  movzx r14d,byte [rsp+142h]
0be8  mov [rbp+r12+2],r14b
0bed  mov r14,r13
0bf0  and r14,8
0bf4  je near 0C08h
0bfa  movzx r14d,byte [rsp+143h]
0c03  mov [rbp+r12+3],r14b
0c08  mov r14,r13
0c0b  and r14,10h
0c0f  je near 0C23h
0c15  movzx r14d,byte [rsp+144h]
0c1e  mov [rbp+r12+4],r14b
0c23  mov r14,r13
0c26  and r14,20h
0c2a  je near 0C3Eh
0c30  movzx r14d,byte [rsp+145h]
0c39  mov [rbp+r12+5],r14b
0c3e  mov r14,r13
0c41  and r14,40h
0c45  je near 0C59h
0c4b  movzx r14d,byte [rsp+146h]
0c54  mov [rbp+r12+6],r14b
0c59  and r13,80h
0c60  je near 0C74h
0c66  movzx r13d,byte [rsp+147h]
0c6f  mov [rbp+r12+7],r13b
0c74  cmp r11,6
0c78  jle near 0DABh
0c7e  vdivps ymm0,ymm3,ymm10
0c83  vpxor ymm3,ymm3,ymm3
0c87  vblendvps ymm0,ymm3,ymm0,ymm6
0c8d  mov r12,[r8+30h]
0c91  vcmpordps ymm3,ymm0,ymm0
0c96  vpand ymm3,ymm3,ymm0
0c9a  vpbroadcastd ymm0,[rel 0F34h]
0ca3  vmaxps ymm3,ymm3,ymm0
0ca7  vpbroadcastd ymm0,[rel 0F38h]
0cb0  vminps ymm3,ymm3,ymm0
0cb4  vcvtps2dq ymm3,ymm3
0cb8  vpackssdw ymm0,ymm3,ymm3
0cbc  vpermq ymm0,ymm0,8
0cc2  vpacksswb xmm0,xmm0,xmm0
0cc6  vmovq [rsp+180h],xmm0
0ccf  vmovmskps r13d,ymm1
0cd3  mov r14,r13
0cd6  and r14,1
0cda  je near 0CEEh
0ce0  movzx r14d,byte [rsp+180h]
0ce9  mov [rbp+r12],r14b
0cee  mov r14,r13
0cf1  and r14,2
0cf5  je near 0D09h
0cfb  movzx r14d,byte [rsp+181h]
0d04  mov [rbp+r12+1],r14b
0d09  mov r14,r13
0d0c  and r14,4
0d10  je near 0D24h
0d16  movzx r14d,byte [rsp+182h]
0d1f  mov [rbp+r12+2],r14b
0d24  mov r14,r13
0d27  and r14,8
0d2b  je near 0D3Fh
0d31  movzx r14d,byte [rsp+183h]
0d3a  mov [rbp+r12+3],r14b
0d3f  mov r14,r13
0d42  and r14,10h
0d46  je near 0D5Ah
0d4c  movzx r14d,byte [rsp+184h]
0d55  mov [rbp+r12+4],r14b
0d5a  mov r14,r13
0d5d  and r14,20h
0d61  je near 0D75h
0d67  movzx r14d,byte [rsp+185h]
0d70  mov [rbp+r12+5],r14b
0d75  mov r14,r13
0d78  and r14,40h
0d7c  je near 0D90h
0d82  movzx r14d,byte [rsp+186h]
0d8b  mov [rbp+r12+6],r14b
0d90  and r13,80h
0d97  je near 0DABh
0d9d  movzx r13d,byte [rsp+187h]
0da6  mov [rbp+r12+7],r13b
0dab  cmp r11,7
0daf  jle near 0EE2h
0db5  vdivps ymm0,ymm2,ymm10
0dba  vpxor ymm2,ymm2,ymm2
0dbe  vblendvps ymm0,ymm2,ymm0,ymm6
0dc4  mov r12,[r8+38h]
0dc8  vcmpordps ymm2,ymm0,ymm0
0dcd  vpand ymm2,ymm2,ymm0
0dd1  vpbroadcastd ymm0,[rel 0F34h]
0dda  vmaxps ymm2,ymm2,ymm0
0dde  vpbroadcastd ymm0,[rel 0F38h]
0de7  vminps ymm2,ymm2,ymm0
0deb  vcvtps2dq ymm2,ymm2
0def  vpackssdw ymm0,ymm2,ymm2
0df3  vpermq ymm0,ymm0,8
0df9  vpacksswb xmm0,xmm0,xmm0
0dfd  vmovq [rsp+1C0h],xmm0
0e06  vmovmskps r13d,ymm1
0e0a  mov r14,r13
0e0d  and r14,1
0e11  je near 0E25h
0e17  movzx r14d,byte [rsp+1C0h]
0e20  mov [rbp+r12],r14b
0e25  mov r14,r13
0e28  and r14,2
0e2c  je near 0E40h
0e32  movzx r14d,byte [rsp+1C1h]
0e3b  mov [rbp+r12+1],r14b
0e40  mov r14,r13
0e43  and r14,4
0e47  je near 0E5Bh
0e4d  movzx r14d,byte [rsp+1C2h]
0e56  mov [rbp+r12+2],r14b
0e5b  mov r14,r13
0e5e  and r14,8
0e62  je near 0E76h
0e68  movzx r14d,byte [rsp+1C3h]
0e71  mov [rbp+r12+3],r14b
0e76  mov r14,r13
0e79  and r14,10h
0e7d  je near 0E91h
0e83  movzx r14d,byte [rsp+1C4h]
0e8c  mov [rbp+r12+4],r14b
0e91  mov r14,r13
0e94  and r14,20h
0e98  je near 0EACh
0e9e  movzx r14d,byte [rsp+1C5h]
0ea7  mov [rbp+r12+5],r14b
0eac  mov r14,r13
0eaf  and r14,40h
0eb3  je near 0EC7h
0eb9  movzx r14d,byte [rsp+1C6h]
0ec2  mov [rbp+r12+6],r14b
0ec7  and r13,80h
0ece  je near 0EE2h
0ed4  movzx r13d,byte [rsp+1C7h]
0edd  mov [rbp+r12+7],r13b
0ee2  mov rbp,[rdi+10h]
0ee6  add rax,rbp
0ee9  mov rbp,[rdi+28h]
0eed  add rcx,rbp
0ef0  mov rbp,[rdi+88h]
0ef7  add rsi,rbp
0efa  mov rbp,[rdi+98h]
0f01  add r8,rbp
0f04  mov rbp,[rdi+58h]
0f08  mov r12,[rdi+68h]
0f0c  sub r10,rbp
0f0f  sub r11,r12
0f12  sub rbx,rbp
0f15  dec r9
0f18  jne near 3C0h
0f1e  add rsp,200h
0f25  pop r14
0f27  pop r13
0f29  pop r12
0f2b  pop rbp
0f2c  pop rbx
0f2d  vzeroupper
0f30  ret
