; 426 instructions, 2322 bytes, 0 spills, 0 of them in inner loops
0000  push rbx
0001  mov rax,[rdi]
0004  mov rcx,[rdi+18h]
0008  mov rdx,[rdi+8]
000c  mov rsi,[rdi+20h]
0010  mov r8,[rdi+40h]
0014  test r8,r8
0017  jle near 3C5h
001d  nop word [rax+rax]
0026  nop word [rax+rax]
002f  nop word [rax+rax]
0038  nop dword [rax+rax]
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
012b  mov r9,rcx
012e  vunpcklps zmm16,zmm0,zmm1
0134  vunpckhps zmm0,zmm0,zmm1
013a  vunpcklps zmm1,zmm2,zmm3
0140  vunpckhps zmm2,zmm2,zmm3
0146  vunpcklpd zmm3,zmm16,zmm1
014c  vunpckhpd zmm1,zmm16,zmm1
0152  vunpcklpd zmm16,zmm0,zmm2
0158  vunpckhpd zmm0,zmm0,zmm2
015e  vunpcklps zmm2,zmm4,zmm5
0164  vunpckhps zmm4,zmm4,zmm5
016a  vunpcklps zmm5,zmm6,zmm7
0170  vunpckhps zmm6,zmm6,zmm7
0176  vunpcklpd zmm7,zmm2,zmm5
017c  vunpckhpd zmm2,zmm2,zmm5
0182  vunpcklpd zmm5,zmm4,zmm6
0188  vunpckhpd zmm4,zmm4,zmm6
018e  vunpcklps zmm6,zmm8,zmm9
0194  vunpckhps zmm8,zmm8,zmm9
019a  vunpcklps zmm9,zmm10,zmm11
01a0  vunpckhps zmm10,zmm10,zmm11
01a6  vunpcklpd zmm11,zmm6,zmm9
01ac  vunpckhpd zmm6,zmm6,zmm9
01b2  vunpcklpd zmm9,zmm8,zmm10
01b8  vunpckhpd zmm8,zmm8,zmm10
01be  vunpcklps zmm10,zmm12,zmm13
01c4  vunpckhps zmm12,zmm12,zmm13
01ca  vunpcklps zmm13,zmm14,zmm15
01d0  vunpckhps zmm14,zmm14,zmm15
01d6  vunpcklpd zmm15,zmm10,zmm13
01dc  vunpckhpd zmm10,zmm10,zmm13
01e2  vunpcklpd zmm13,zmm12,zmm14
01e8  vunpckhpd zmm12,zmm12,zmm14
01ee  vshuff32x4 zmm14,zmm3,zmm7,88h
01f5  vshuff32x4 zmm17,zmm11,zmm15,88h
01fc  vshuff32x4 zmm3,zmm3,zmm7,0DDh
0203  vshuff32x4 zmm7,zmm11,zmm15,0DDh
020a  vshuff32x4 zmm11,zmm14,zmm17,88h
0211  vshuff32x4 zmm14,zmm14,zmm17,0DDh
0218  vshuff32x4 zmm15,zmm3,zmm7,88h
021f  vshuff32x4 zmm3,zmm3,zmm7,0DDh
0226  vshuff32x4 zmm7,zmm1,zmm2,88h
022d  vshuff32x4 zmm17,zmm6,zmm10,88h
0234  vshuff32x4 zmm1,zmm1,zmm2,0DDh
023b  vshuff32x4 zmm2,zmm6,zmm10,0DDh
0242  vshuff32x4 zmm6,zmm7,zmm17,88h
0249  vshuff32x4 zmm7,zmm7,zmm17,0DDh
0250  vshuff32x4 zmm10,zmm1,zmm2,88h
0257  vshuff32x4 zmm1,zmm1,zmm2,0DDh
025e  vshuff32x4 zmm2,zmm16,zmm5,88h
0265  vshuff32x4 zmm17,zmm9,zmm13,88h
026c  vshuff32x4 zmm5,zmm16,zmm5,0DDh
0273  vshuff32x4 zmm9,zmm9,zmm13,0DDh
027a  vshuff32x4 zmm13,zmm2,zmm17,88h
0281  vshuff32x4 zmm2,zmm2,zmm17,0DDh
0288  vshuff32x4 zmm16,zmm5,zmm9,88h
028f  vshuff32x4 zmm5,zmm5,zmm9,0DDh
0296  vshuff32x4 zmm9,zmm0,zmm4,88h
029d  vshuff32x4 zmm17,zmm8,zmm12,88h
02a4  vshuff32x4 zmm0,zmm0,zmm4,0DDh
02ab  vshuff32x4 zmm4,zmm8,zmm12,0DDh
02b2  vshuff32x4 zmm8,zmm9,zmm17,88h
02b9  vshuff32x4 zmm9,zmm9,zmm17,0DDh
02c0  vshuff32x4 zmm12,zmm0,zmm4,88h
02c7  vshuff32x4 zmm0,zmm0,zmm4,0DDh
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
03d1  test r8,r8
03d4  jle near 90Dh
03da  nop word [rax+rax]
03e3  nop word [rax+rax]
03ec  nop word [rax+rax]
03f5  nop word [rax+rax]
03fe  xchg ax,ax
0400  vpbroadcastd zmm0,r10d
0406  vpcmpnled k1,zmm0,[rel 940h]
0411  vpbroadcastd zmm0,r9d
0417  vpcmpnled k2,zmm0,[rel 940h]
0422  mov r11,rax
0425  vpxord zmm0,zmm0,zmm0
042b  cmp r9,0
042f  jle near 441h
0435  vmovups zmm1{k1}{z},[r11]
043b  vmovups zmm0,zmm1
0441  add r11,rdx
0444  vpxord zmm1,zmm1,zmm1
044a  cmp r9,1
044e  jle near 460h
0454  vmovups zmm2{k1}{z},[r11]
045a  vmovups zmm1,zmm2
0460  add r11,rdx
0463  vpxord zmm2,zmm2,zmm2
0469  cmp r9,2
046d  jle near 47Fh
0473  vmovups zmm3{k1}{z},[r11]
0479  vmovups zmm2,zmm3
047f  add r11,rdx
0482  vpxord zmm3,zmm3,zmm3
0488  cmp r9,3
048c  jle near 49Eh
0492  vmovups zmm4{k1}{z},[r11]
0498  vmovups zmm3,zmm4
049e  add r11,rdx
04a1  vpxord zmm4,zmm4,zmm4
04a7  cmp r9,4
04ab  jle near 4BDh
04b1  vmovups zmm5{k1}{z},[r11]
04b7  vmovups zmm4,zmm5
04bd  add r11,rdx
04c0  vpxord zmm5,zmm5,zmm5
04c6  cmp r9,5
04ca  jle near 4DCh
04d0  vmovups zmm6{k1}{z},[r11]
04d6  vmovups zmm5,zmm6
04dc  add r11,rdx
04df  vpxord zmm6,zmm6,zmm6
04e5  cmp r9,6
04e9  jle near 4FBh
04ef  vmovups zmm7{k1}{z},[r11]
04f5  vmovups zmm6,zmm7
04fb  add r11,rdx
04fe  vpxord zmm7,zmm7,zmm7
0504  cmp r9,7
0508  jle near 51Ah
050e  vmovups zmm8{k1}{z},[r11]
0514  vmovups zmm7,zmm8
051a  add r11,rdx
051d  vpxord zmm8,zmm8,zmm8
0523  cmp r9,8
0527  jle near 539h
052d  vmovups zmm9{k1}{z},[r11]
0533  vmovups zmm8,zmm9
0539  add r11,rdx
053c  vpxord zmm9,zmm9,zmm9
0542  cmp r9,9
0546  jle near 558h
054c  vmovups zmm10{k1}{z},[r11]
0552  vmovups zmm9,zmm10
0558  add r11,rdx
055b  vpxord zmm10,zmm10,zmm10
0561  cmp r9,0Ah
0565  jle near 577h
056b  vmovups zmm11{k1}{z},[r11]
0571  vmovups zmm10,zmm11
0577  add r11,rdx
057a  vpxord zmm11,zmm11,zmm11
0580  cmp r9,0Bh
0584  jle near 596h
058a  vmovups zmm12{k1}{z},[r11]
0590  vmovups zmm11,zmm12
0596  add r11,rdx
0599  vpxord zmm12,zmm12,zmm12
059f  cmp r9,0Ch
05a3  jle near 5B5h
05a9  vmovups zmm13{k1}{z},[r11]
05af  vmovups zmm12,zmm13
05b5  add r11,rdx
05b8  vpxord zmm13,zmm13,zmm13
05be  cmp r9,0Dh
05c2  jle near 5D4h
05c8  vmovups zmm14{k1}{z},[r11]
05ce  vmovups zmm13,zmm14
05d4  add r11,rdx
05d7  vpxord zmm14,zmm14,zmm14
05dd  cmp r9,0Eh
05e1  jle near 5F3h
05e7  vmovups zmm15{k1}{z},[r11]
05ed  vmovups zmm14,zmm15
05f3  add r11,rdx
05f6  vpxord zmm15,zmm15,zmm15
05fc  cmp r9,0Fh
0600  jle near 612h
0606  vmovups zmm16{k1}{z},[r11]
060c  vmovups zmm15,zmm16
0612  add r11,rdx
0615  mov r11,rcx
0618  vunpcklps zmm16,zmm0,zmm1
061e  vunpckhps zmm0,zmm0,zmm1
0624  vunpcklps zmm1,zmm2,zmm3
062a  vunpckhps zmm2,zmm2,zmm3
0630  vunpcklpd zmm3,zmm16,zmm1
0636  vunpckhpd zmm1,zmm16,zmm1
063c  vunpcklpd zmm16,zmm0,zmm2
0642  vunpckhpd zmm0,zmm0,zmm2
0648  vunpcklps zmm2,zmm4,zmm5
064e  vunpckhps zmm4,zmm4,zmm5
0654  vunpcklps zmm5,zmm6,zmm7
065a  vunpckhps zmm6,zmm6,zmm7
0660  vunpcklpd zmm7,zmm2,zmm5
0666  vunpckhpd zmm2,zmm2,zmm5
066c  vunpcklpd zmm5,zmm4,zmm6
0672  vunpckhpd zmm4,zmm4,zmm6
0678  vunpcklps zmm6,zmm8,zmm9
067e  vunpckhps zmm8,zmm8,zmm9
0684  vunpcklps zmm9,zmm10,zmm11
068a  vunpckhps zmm10,zmm10,zmm11
0690  vunpcklpd zmm11,zmm6,zmm9
0696  vunpckhpd zmm6,zmm6,zmm9
069c  vunpcklpd zmm9,zmm8,zmm10
06a2  vunpckhpd zmm8,zmm8,zmm10
06a8  vunpcklps zmm10,zmm12,zmm13
06ae  vunpckhps zmm12,zmm12,zmm13
06b4  vunpcklps zmm13,zmm14,zmm15
06ba  vunpckhps zmm14,zmm14,zmm15
06c0  vunpcklpd zmm15,zmm10,zmm13
06c6  vunpckhpd zmm10,zmm10,zmm13
06cc  vunpcklpd zmm13,zmm12,zmm14
06d2  vunpckhpd zmm12,zmm12,zmm14
06d8  vshuff32x4 zmm14,zmm3,zmm7,88h
06df  vshuff32x4 zmm17,zmm11,zmm15,88h
06e6  vshuff32x4 zmm3,zmm3,zmm7,0DDh
06ed  vshuff32x4 zmm7,zmm11,zmm15,0DDh
06f4  vshuff32x4 zmm11,zmm14,zmm17,88h
06fb  vshuff32x4 zmm14,zmm14,zmm17,0DDh
0702  vshuff32x4 zmm15,zmm3,zmm7,88h
0709  vshuff32x4 zmm3,zmm3,zmm7,0DDh
0710  vshuff32x4 zmm7,zmm1,zmm2,88h
0717  vshuff32x4 zmm17,zmm6,zmm10,88h
071e  vshuff32x4 zmm1,zmm1,zmm2,0DDh
0725  vshuff32x4 zmm2,zmm6,zmm10,0DDh
072c  vshuff32x4 zmm6,zmm7,zmm17,88h
0733  vshuff32x4 zmm7,zmm7,zmm17,0DDh
073a  vshuff32x4 zmm10,zmm1,zmm2,88h
0741  vshuff32x4 zmm1,zmm1,zmm2,0DDh
0748  vshuff32x4 zmm2,zmm16,zmm5,88h
074f  vshuff32x4 zmm17,zmm9,zmm13,88h
0756  vshuff32x4 zmm5,zmm16,zmm5,0DDh
075d  vshuff32x4 zmm9,zmm9,zmm13,0DDh
0764  vshuff32x4 zmm13,zmm2,zmm17,88h
076b  vshuff32x4 zmm2,zmm2,zmm17,0DDh
0772  vshuff32x4 zmm16,zmm5,zmm9,88h
0779  vshuff32x4 zmm5,zmm5,zmm9,0DDh
0780  vshuff32x4 zmm9,zmm0,zmm4,88h
0787  vshuff32x4 zmm17,zmm8,zmm12,88h
078e  vshuff32x4 zmm0,zmm0,zmm4,0DDh
0795  vshuff32x4 zmm4,zmm8,zmm12,0DDh
079c  vshuff32x4 zmm8,zmm9,zmm17,88h
07a3  vshuff32x4 zmm9,zmm9,zmm17,0DDh
07aa  vshuff32x4 zmm12,zmm0,zmm4,88h
07b1  vshuff32x4 zmm0,zmm0,zmm4,0DDh
07b8  cmp r10,0
07bc  jle near 7C8h
07c2  vmovups [r11]{k2},zmm11
07c8  add r11,rsi
07cb  cmp r10,1
07cf  jle near 7DBh
07d5  vmovups [r11]{k2},zmm6
07db  add r11,rsi
07de  cmp r10,2
07e2  jle near 7EEh
07e8  vmovups [r11]{k2},zmm13
07ee  add r11,rsi
07f1  cmp r10,3
07f5  jle near 801h
07fb  vmovups [r11]{k2},zmm8
0801  add r11,rsi
0804  cmp r10,4
0808  jle near 814h
080e  vmovups [r11]{k2},zmm15
0814  add r11,rsi
0817  cmp r10,5
081b  jle near 827h
0821  vmovups [r11]{k2},zmm10
0827  add r11,rsi
082a  cmp r10,6
082e  jle near 83Ah
0834  vmovups [r11]{k2},zmm16
083a  add r11,rsi
083d  cmp r10,7
0841  jle near 84Dh
0847  vmovups [r11]{k2},zmm12
084d  add r11,rsi
0850  cmp r10,8
0854  jle near 860h
085a  vmovups [r11]{k2},zmm14
0860  add r11,rsi
0863  cmp r10,9
0867  jle near 873h
086d  vmovups [r11]{k2},zmm7
0873  add r11,rsi
0876  cmp r10,0Ah
087a  jle near 886h
0880  vmovups [r11]{k2},zmm2
0886  add r11,rsi
0889  cmp r10,0Bh
088d  jle near 899h
0893  vmovups [r11]{k2},zmm9
0899  add r11,rsi
089c  cmp r10,0Ch
08a0  jle near 8ACh
08a6  vmovups [r11]{k2},zmm3
08ac  add r11,rsi
08af  cmp r10,0Dh
08b3  jle near 8BFh
08b9  vmovups [r11]{k2},zmm1
08bf  add r11,rsi
08c2  cmp r10,0Eh
08c6  jle near 8D2h
08cc  vmovups [r11]{k2},zmm5
08d2  add r11,rsi
08d5  cmp r10,0Fh
08d9  jle near 8E5h
08df  vmovups [r11]{k2},zmm0
08e5  add r11,rsi
08e8  mov r11,[rdi+10h]
08ec  add rax,r11
08ef  mov r11,[rdi+28h]
08f3  add rcx,r11
08f6  mov r11,[rdi+58h]
08fa  mov rbx,[rdi+68h]
08fe  sub r9,r11
0901  sub r10,rbx
0904  dec r8
0907  jne near 400h
090d  pop rbx
090e  vzeroupper
0911  ret
