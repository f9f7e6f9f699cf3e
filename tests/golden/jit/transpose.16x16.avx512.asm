; 432 instructions, 2343 bytes, 0 spills, 0 of them in inner loops
0000  push rbx
0001  push rbp
0002  mov rax,[rdi]
0005  mov rcx,[rdi+18h]
0009  mov rdx,[rdi+8]
000d  mov rsi,[rdi+20h]
0011  mov r8,[rdi+40h]
0015  test r8,r8
0018  jle near 3C5h
001e  nop word [rax+rax]
0027  nop word [rax+rax]
0030  nop word [rax+rax]
0039  nop dword [rax]
0040  mov r9,[rdi+30h]
0044  mov r10,[rdi+38h]
0048  mov r11,rax
004b  vmovups zmm0,[r11]
0051  prefetcht0 [r11+r9]
0056  add r11,rdx
0059  vmovups zmm1,[r11]
005f  prefetcht0 [r11+r9]
0064  add r11,rdx
0067  vmovups zmm2,[r11]
006d  prefetcht0 [r11+r9]
0072  add r11,rdx
0075  vmovups zmm3,[r11]
007b  prefetcht0 [r11+r9]
0080  add r11,rdx
0083  vmovups zmm4,[r11]
0089  prefetcht0 [r11+r9]
008e  add r11,rdx
0091  vmovups zmm5,[r11]
0097  prefetcht0 [r11+r9]
009c  add r11,rdx
009f  vmovups zmm6,[r11]
00a5  prefetcht0 [r11+r9]
00aa  add r11,rdx
00ad  vmovups zmm7,[r11]
00b3  prefetcht0 [r11+r9]
00b8  add r11,rdx
00bb  vmovups zmm8,[r11]
00c1  prefetcht0 [r11+r9]
00c6  add r11,rdx
00c9  vmovups zmm9,[r11]
00cf  prefetcht0 [r11+r9]
00d4  add r11,rdx
00d7  vmovups zmm10,[r11]
00dd  prefetcht0 [r11+r9]
00e2  add r11,rdx
00e5  vmovups zmm11,[r11]
00eb  prefetcht0 [r11+r9]
00f0  add r11,rdx
00f3  vmovups zmm12,[r11]
00f9  prefetcht0 [r11+r9]
00fe  add r11,rdx
0101  vmovups zmm13,[r11]
0107  prefetcht0 [r11+r9]
010c  add r11,rdx
010f  vmovups zmm14,[r11]
0115  prefetcht0 [r11+r9]
011a  add r11,rdx
011d  vmovups zmm15,[r11]
0123  prefetcht0 [r11+r9]
0128  add r11,rdx
012b  vunpcklps zmm16,zmm0,zmm1
0131  vunpckhps zmm0,zmm0,zmm1
0137  vunpcklps zmm1,zmm2,zmm3
013d  vunpckhps zmm2,zmm2,zmm3
0143  vunpcklpd zmm3,zmm16,zmm1
0149  vunpckhpd zmm1,zmm16,zmm1
014f  vunpcklpd zmm16,zmm0,zmm2
0155  vunpckhpd zmm0,zmm0,zmm2
015b  vunpcklps zmm2,zmm4,zmm5
0161  vunpckhps zmm4,zmm4,zmm5
0167  vunpcklps zmm5,zmm6,zmm7
016d  vunpckhps zmm6,zmm6,zmm7
0173  vunpcklpd zmm7,zmm2,zmm5
0179  vunpckhpd zmm2,zmm2,zmm5
017f  vunpcklpd zmm5,zmm4,zmm6
0185  vunpckhpd zmm4,zmm4,zmm6
018b  vunpcklps zmm6,zmm8,zmm9
0191  vunpckhps zmm8,zmm8,zmm9
0197  vunpcklps zmm9,zmm10,zmm11
019d  vunpckhps zmm10,zmm10,zmm11
01a3  vunpcklpd zmm11,zmm6,zmm9
01a9  vunpckhpd zmm6,zmm6,zmm9
01af  vunpcklpd zmm9,zmm8,zmm10
01b5  vunpckhpd zmm8,zmm8,zmm10
01bb  vunpcklps zmm10,zmm12,zmm13
01c1  vunpckhps zmm12,zmm12,zmm13
01c7  vunpcklps zmm13,zmm14,zmm15
01cd  vunpckhps zmm14,zmm14,zmm15
01d3  vunpcklpd zmm15,zmm10,zmm13
01d9  vunpckhpd zmm10,zmm10,zmm13
01df  vunpcklpd zmm13,zmm12,zmm14
01e5  vunpckhpd zmm12,zmm12,zmm14
01eb  vshuff32x4 zmm14,zmm3,zmm7,88h
01f2  vshuff32x4 zmm17,zmm11,zmm15,88h
01f9  vshuff32x4 zmm3,zmm3,zmm7,0DDh
0200  vshuff32x4 zmm7,zmm11,zmm15,0DDh
0207  vshuff32x4 zmm11,zmm14,zmm17,88h
020e  vshuff32x4 zmm14,zmm14,zmm17,0DDh
0215  vshuff32x4 zmm15,zmm3,zmm7,88h
021c  vshuff32x4 zmm3,zmm3,zmm7,0DDh
0223  vshuff32x4 zmm7,zmm1,zmm2,88h
022a  vshuff32x4 zmm17,zmm6,zmm10,88h
0231  vshuff32x4 zmm1,zmm1,zmm2,0DDh
0238  vshuff32x4 zmm2,zmm6,zmm10,0DDh
023f  vshuff32x4 zmm6,zmm7,zmm17,88h
0246  vshuff32x4 zmm7,zmm7,zmm17,0DDh
024d  vshuff32x4 zmm10,zmm1,zmm2,88h
0254  vshuff32x4 zmm1,zmm1,zmm2,0DDh
025b  vshuff32x4 zmm2,zmm16,zmm5,88h
0262  vshuff32x4 zmm17,zmm9,zmm13,88h
0269  vshuff32x4 zmm5,zmm16,zmm5,0DDh
0270  vshuff32x4 zmm9,zmm9,zmm13,0DDh
0277  vshuff32x4 zmm13,zmm2,zmm17,88h
027e  vshuff32x4 zmm2,zmm2,zmm17,0DDh
0285  vshuff32x4 zmm16,zmm5,zmm9,88h
028c  vshuff32x4 zmm5,zmm5,zmm9,0DDh
0293  vshuff32x4 zmm9,zmm0,zmm4,88h
029a  vshuff32x4 zmm17,zmm8,zmm12,88h
02a1  vshuff32x4 zmm0,zmm0,zmm4,0DDh
02a8  vshuff32x4 zmm4,zmm8,zmm12,0DDh
02af  vshuff32x4 zmm8,zmm9,zmm17,88h
02b6  vshuff32x4 zmm9,zmm9,zmm17,0DDh
02bd  vshuff32x4 zmm12,zmm0,zmm4,88h
02c4  vshuff32x4 zmm0,zmm0,zmm4,0DDh
02cb  mov r9,rcx
02ce  vmovups [r9],zmm11
02d4  prefetchw [r9+r10]
02d9  add r9,rsi
02dc  vmovups [r9],zmm6
02e2  prefetchw [r9+r10]
02e7  add r9,rsi
02ea  vmovups [r9],zmm13
02f0  prefetchw [r9+r10]
02f5  add r9,rsi
02f8  vmovups [r9],zmm8
02fe  prefetchw [r9+r10]
0303  add r9,rsi
0306  vmovups [r9],zmm15
030c  prefetchw [r9+r10]
0311  add r9,rsi
0314  vmovups [r9],zmm10
031a  prefetchw [r9+r10]
031f  add r9,rsi
0322  vmovups [r9],zmm16
0328  prefetchw [r9+r10]
032d  add r9,rsi
0330  vmovups [r9],zmm12
0336  prefetchw [r9+r10]
033b  add r9,rsi
033e  vmovups [r9],zmm14
0344  prefetchw [r9+r10]
0349  add r9,rsi
034c  vmovups [r9],zmm7
0352  prefetchw [r9+r10]
0357  add r9,rsi
035a  vmovups [r9],zmm2
0360  prefetchw [r9+r10]
0365  add r9,rsi
0368  vmovups [r9],zmm9
036e  prefetchw [r9+r10]
0373  add r9,rsi
0376  vmovups [r9],zmm3
037c  prefetchw [r9+r10]
0381  add r9,rsi
0384  vmovups [r9],zmm1
038a  prefetchw [r9+r10]
038f  add r9,rsi
0392  vmovups [r9],zmm5
0398  prefetchw [r9+r10]
039d  add r9,rsi
03a0  vmovups [r9],zmm0
03a6  prefetchw [r9+r10]
03ab  add r9,rsi
03ae  mov r9,[rdi+10h]
03b2  add rax,r9
03b5  mov r9,[rdi+28h]
03b9  add rcx,r9
03bc  dec r8
03bf  jne near 40h
03c5  mov r8,[rdi+48h]
03c9  mov r9,[rdi+50h]
03cd  mov r10,[rdi+60h]
03d1  mov r11,[rdi+70h]
03d5  test r8,r8
03d8  jle near 921h
03de  nop word [rax+rax]
03e7  nop word [rax+rax]
03f0  nop word [rax+rax]
03f9  nop dword [rax]
0400  vpbroadcastd zmm0,r10d
0406  vpcmpnled k1,zmm0,[rel 940h]
0411  vpbroadcastd zmm0,r11d
0417  vpcmpnled k2,zmm0,[rel 940h]
0422  mov rbx,rax
0425  vpxord zmm0,zmm0,zmm0
042b  cmp r9,0
042f  jle near 441h
0435  vmovups zmm1{k1}{z},[rbx]
043b  vmovups zmm0,zmm1
0441  add rbx,rdx
0444  vpxord zmm1,zmm1,zmm1
044a  cmp r9,1
044e  jle near 460h
0454  vmovups zmm2{k1}{z},[rbx]
045a  vmovups zmm1,zmm2
0460  add rbx,rdx
0463  vpxord zmm2,zmm2,zmm2
0469  cmp r9,2
046d  jle near 47Fh
0473  vmovups zmm3{k1}{z},[rbx]
0479  vmovups zmm2,zmm3
047f  add rbx,rdx
0482  vpxord zmm3,zmm3,zmm3
0488  cmp r9,3
048c  jle near 49Eh
0492  vmovups zmm4{k1}{z},[rbx]
0498  vmovups zmm3,zmm4
049e  add rbx,rdx
04a1  vpxord zmm4,zmm4,zmm4
04a7  cmp r9,4
04ab  jle near 4BDh
04b1  vmovups zmm5{k1}{z},[rbx]
04b7  vmovups zmm4,zmm5
04bd  add rbx,rdx
04c0  vpxord zmm5,zmm5,zmm5
04c6  cmp r9,5
04ca  jle near 4DCh
04d0  vmovups zmm6{k1}{z},[rbx]
04d6  vmovups zmm5,zmm6
04dc  add rbx,rdx
04df  vpxord zmm6,zmm6,zmm6
04e5  cmp r9,6
04e9  jle near 4FBh
04ef  vmovups zmm7{k1}{z},[rbx]
04f5  vmovups zmm6,zmm7
04fb  add rbx,rdx
04fe  vpxord zmm7,zmm7,zmm7
0504  cmp r9,7
0508  jle near 51Ah
050e  vmovups zmm8{k1}{z},[rbx]
0514  vmovups zmm7,zmm8
051a  add rbx,rdx
051d  vpxord zmm8,zmm8,zmm8
0523  cmp r9,8
0527  jle near 539h
052d  vmovups zmm9{k1}{z},[rbx]
0533  vmovups zmm8,zmm9
0539  add rbx,rdx
053c  vpxord zmm9,zmm9,zmm9
0542  cmp r9,9
0546  jle near 558h
054c  vmovups zmm10{k1}{z},[rbx]
0552  vmovups zmm9,zmm10
0558  add rbx,rdx
055b  vpxord zmm10,zmm10,zmm10
0561  cmp r9,0Ah
0565  jle near 577h
056b  vmovups zmm11{k1}{z},[rbx]
0571  vmovups zmm10,zmm11
0577  add rbx,rdx
057a  vpxord zmm11,zmm11,zmm11
0580  cmp r9,0Bh
0584  jle near 596h
058a  vmovups zmm12{k1}{z},[rbx]
0590  vmovups zmm11,zmm12
0596  add rbx,rdx
0599  vpxord zmm12,zmm12,zmm12
059f  cmp r9,0Ch
05a3  jle near 5B5h
05a9  vmovups zmm13{k1}{z},[rbx]
05af  vmovups zmm12,zmm13
05b5  add rbx,rdx
05b8  vpxord zmm13,zmm13,zmm13
05be  cmp r9,0Dh
05c2  jle near 5D4h
05c8  vmovups zmm14{k1}{z},[rbx]
05ce  vmovups zmm13,zmm14
05d4  add rbx,rdx
05d7  vpxord zmm14,zmm14,zmm14
05dd  cmp r9,0Eh
05e1  jle near 5F3h
05e7  vmovups zmm15{k1}{z},[rbx]
05ed  vmovups zmm14,zmm15
05f3  add rbx,rdx
05f6  vpxord zmm15,zmm15,zmm15
05fc  cmp r9,0Fh
0600  jle near 612h
0606  vmovups zmm16{k1}{z},[rbx]
060c  vmovups zmm15,zmm16
0612  add rbx,rdx
0615  vunpcklps zmm16,zmm0,zmm1
061b  vunpckhps zmm0,zmm0,zmm1
0621  vunpcklps zmm1,zmm2,zmm3
0627  vunpckhps zmm2,zmm2,zmm3
062d  vunpcklpd zmm3,zmm16,zmm1
0633  vunpckhpd zmm1,zmm16,zmm1
0639  vunpcklpd zmm16,zmm0,zmm2
063f  vunpckhpd zmm0,zmm0,zmm2
0645  vunpcklps zmm2,zmm4,zmm5
064b  vunpckhps zmm4,zmm4,zmm5
0651  vunpcklps zmm5,zmm6,zmm7
0657  vunpckhps zmm6,zmm6,zmm7
065d  vunpcklpd zmm7,zmm2,zmm5
0663  vunpckhpd zmm2,zmm2,zmm5
0669  vunpcklpd zmm5,zmm4,zmm6
066f  vunpckhpd zmm4,zmm4,zmm6
0675  vunpcklps zmm6,zmm8,zmm9
067b  vunpckhps zmm8,zmm8,zmm9
0681  vunpcklps zmm9,zmm10,zmm11
0687  vunpckhps zmm10,zmm10,zmm11
068d  vunpcklpd zmm11,zmm6,zmm9
0693  vunpckhpd zmm6,zmm6,zmm9
0699  vunpcklpd zmm9,zmm8,zmm10
069f  vunpckhpd zmm8,zmm8,zmm10
06a5  vunpcklps zmm10,zmm12,zmm13
06ab  vunpckhps zmm12,zmm12,zmm13
06b1  vunpcklps zmm13,zmm14,zmm15
06b7  vunpckhps zmm14,zmm14,zmm15
06bd  vunpcklpd zmm15,zmm10,zmm13
06c3  vunpckhpd zmm10,zmm10,zmm13
06c9  vunpcklpd zmm13,zmm12,zmm14
06cf  vunpckhpd zmm12,zmm12,zmm14
06d5  vshuff32x4 zmm14,zmm3,zmm7,88h
06dc  vshuff32x4 zmm17,zmm11,zmm15,88h
06e3  vshuff32x4 zmm3,zmm3,zmm7,0DDh
06ea  vshuff32x4 zmm7,zmm11,zmm15,0DDh
06f1  vshuff32x4 zmm11,zmm14,zmm17,88h
06f8  vshuff32x4 zmm14,zmm14,zmm17,0DDh
06ff  vshuff32x4 zmm15,zmm3,zmm7,88h
0706  vshuff32x4 zmm3,zmm3,zmm7,0DDh
070d  vshuff32x4 zmm7,zmm1,zmm2,88h
0714  vshuff32x4 zmm17,zmm6,zmm10,88h
071b  vshuff32x4 zmm1,zmm1,zmm2,0DDh
0722  vshuff32x4 zmm2,zmm6,zmm10,0DDh
0729  vshuff32x4 zmm6,zmm7,zmm17,88h
0730  vshuff32x4 zmm7,zmm7,zmm17,0DDh
0737  vshuff32x4 zmm10,zmm1,zmm2,88h
073e  vshuff32x4 zmm1,zmm1,zmm2,0DDh
0745  vshuff32x4 zmm2,zmm16,zmm5,88h
074c  vshuff32x4 zmm17,zmm9,zmm13,88h
0753  vshuff32x4 zmm5,zmm16,zmm5,0DDh
075a  vshuff32x4 zmm9,zmm9,zmm13,0DDh
0761  vshuff32x4 zmm13,zmm2,zmm17,88h
0768  vshuff32x4 zmm2,zmm2,zmm17,0DDh
076f  vshuff32x4 zmm16,zmm5,zmm9,88h
0776  vshuff32x4 zmm5,zmm5,zmm9,0DDh
077d  vshuff32x4 zmm9,zmm0,zmm4,88h
0784  vshuff32x4 zmm17,zmm8,zmm12,88h
078b  vshuff32x4 zmm0,zmm0,zmm4,0DDh
0792  vshuff32x4 zmm4,zmm8,zmm12,0DDh
0799  vshuff32x4 zmm8,zmm9,zmm17,88h
07a0  vshuff32x4 zmm9,zmm9,zmm17,0DDh
07a7  vshuff32x4 zmm12,zmm0,zmm4,88h
07ae  vshuff32x4 zmm0,zmm0,zmm4,0DDh
07b5  vpbroadcastd zmm4,r9d
07bb  vpcmpnled k1,zmm4,[rel 940h]
07c6  mov rbx,rcx
07c9  cmp r10,0
07cd  jle near 7D9h
07d3  vmovups [rbx]{k2},zmm11
07d9  add rbx,rsi
07dc  cmp r10,1
07e0  jle near 7ECh
07e6  vmovups [rbx]{k2},zmm6
07ec  add rbx,rsi
07ef  cmp r10,2
07f3  jle near 7FFh
07f9  vmovups [rbx]{k2},zmm13
07ff  add rbx,rsi
0802  cmp r10,3
0806  jle near 812h
080c  vmovups [rbx]{k2},zmm8
0812  add rbx,rsi
0815  cmp r10,4
0819  jle near 825h
081f  vmovups [rbx]{k2},zmm15
0825  add rbx,rsi
0828  cmp r10,5
082c  jle near 838h
0832  vmovups [rbx]{k2},zmm10
0838  add rbx,rsi
083b  cmp r10,6
083f  jle near 84Bh
0845  vmovups [rbx]{k2},zmm16
084b  add rbx,rsi
084e  cmp r10,7
0852  jle near 85Eh
0858  vmovups [rbx]{k2},zmm12
085e  add rbx,rsi
0861  cmp r10,8
0865  jle near 871h
086b  vmovups [rbx]{k2},zmm14
0871  add rbx,rsi
0874  cmp r10,9
0878  jle near 884h
087e  vmovups [rbx]{k2},zmm7
0884  add rbx,rsi
0887  cmp r10,0Ah
088b  jle near 897h
0891  vmovups [rbx]{k2},zmm2
0897  add rbx,rsi
089a  cmp r10,0Bh
089e  jle near 8AAh
08a4  vmovups [rbx]{k2},zmm9
08aa  add rbx,rsi
08ad  cmp r10,0Ch
08b1  jle near 8BDh
08b7  vmovups [rbx]{k2},zmm3
08bd  add rbx,rsi
08c0  cmp r10,0Dh
08c4  jle near 8D0h
08ca  vmovups [rbx]{k2},zmm1
08d0  add rbx,rsi
08d3  cmp r10,0Eh
08d7  jle near 8E3h
08dd  vmovups [rbx]{k2},zmm5
08e3  add rbx,rsi
08e6  cmp r10,0Fh
08ea  jle near 8F6h
08f0  vmovups [rbx]{k2},zmm0
08f6  add rbx,rsi
08f9  mov rbx,[rdi+10h]
08fd  add rax,rbx
0900  mov rbx,[rdi+28h]
0904  add rcx,rbx
0907  mov rbx,[rdi+58h]
090b  mov rbp,[rdi+68h]
090f  sub r9,rbx
0912  sub r10,rbp
0915  sub r11,rbx
0918  dec r8
091b  jne near 400h
0921  pop rbp
0922  pop rbx
0923  vzeroupper
0926  ret
