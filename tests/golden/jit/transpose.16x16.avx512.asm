; 394 instructions, 2136 bytes, 0 spills, 0 of them in inner loops
0000  push rbx
0001  mov rax,[rdi]
0004  mov rcx,[rdi+18h]
0008  mov rdx,[rdi+8]
000c  mov rsi,[rdi+20h]
0010  mov r8,[rdi+30h]
0014  test r8,r8
0017  jle near 31Dh
001d  nop word [rax+rax]
0026  nop word [rax+rax]
002f  nop word [rax+rax]
0038  nop dword [rax+rax]
0040  mov r9,rax
0043  vmovups zmm0,[r9]
0049  add r9,rdx
004c  vmovups zmm1,[r9]
0052  add r9,rdx
0055  vmovups zmm2,[r9]
005b  add r9,rdx
005e  vmovups zmm3,[r9]
0064  add r9,rdx
0067  vmovups zmm4,[r9]
006d  add r9,rdx
0070  vmovups zmm5,[r9]
0076  add r9,rdx
0079  vmovups zmm6,[r9]
007f  add r9,rdx
0082  vmovups zmm7,[r9]
0088  add r9,rdx
008b  vmovups zmm8,[r9]
0091  add r9,rdx
0094  vmovups zmm9,[r9]
009a  add r9,rdx
009d  vmovups zmm10,[r9]
00a3  add r9,rdx
00a6  vmovups zmm11,[r9]
00ac  add r9,rdx
00af  vmovups zmm12,[r9]
00b5  add r9,rdx
00b8  vmovups zmm13,[r9]
00be  add r9,rdx
00c1  vmovups zmm14,[r9]
00c7  add r9,rdx
00ca  vmovups zmm15,[r9]
00d0  add r9,rdx
00d3  mov r9,rcx
00d6  vunpcklps zmm16,zmm0,zmm1
00dc  vunpckhps zmm0,zmm0,zmm1
00e2  vunpcklps zmm1,zmm2,zmm3
00e8  vunpckhps zmm2,zmm2,zmm3
00ee  vunpcklpd zmm3,zmm16,zmm1
00f4  vunpckhpd zmm1,zmm16,zmm1
00fa  vunpcklpd zmm16,zmm0,zmm2
0100  vunpckhpd zmm0,zmm0,zmm2
0106  vunpcklps zmm2,zmm4,zmm5
010c  vunpckhps zmm4,zmm4,zmm5
0112  vunpcklps zmm5,zmm6,zmm7
0118  vunpckhps zmm6,zmm6,zmm7
011e  vunpcklpd zmm7,zmm2,zmm5
0124  vunpckhpd zmm2,zmm2,zmm5
012a  vunpcklpd zmm5,zmm4,zmm6
0130  vunpckhpd zmm4,zmm4,zmm6
0136  vunpcklps zmm6,zmm8,zmm9
013c  vunpckhps zmm8,zmm8,zmm9
0142  vunpcklps zmm9,zmm10,zmm11
0148  vunpckhps zmm10,zmm10,zmm11
014e  vunpcklpd zmm11,zmm6,zmm9
0154  vunpckhpd zmm6,zmm6,zmm9
015a  vunpcklpd zmm9,zmm8,zmm10
0160  vunpckhpd zmm8,zmm8,zmm10
0166  vunpcklps zmm10,zmm12,zmm13
016c  vunpckhps zmm12,zmm12,zmm13
0172  vunpcklps zmm13,zmm14,zmm15
0178  vunpckhps zmm14,zmm14,zmm15
017e  vunpcklpd zmm15,zmm10,zmm13
0184  vunpckhpd zmm10,zmm10,zmm13
018a  vunpcklpd zmm13,zmm12,zmm14
0190  vunpckhpd zmm12,zmm12,zmm14
0196  vshuff32x4 zmm14,zmm3,zmm7,88h
019d  vshuff32x4 zmm17,zmm11,zmm15,88h
01a4  vshuff32x4 zmm3,zmm3,zmm7,0DDh
01ab  vshuff32x4 zmm7,zmm11,zmm15,0DDh
01b2  vshuff32x4 zmm11,zmm14,zmm17,88h
01b9  vshuff32x4 zmm14,zmm14,zmm17,0DDh
01c0  vshuff32x4 zmm15,zmm3,zmm7,88h
01c7  vshuff32x4 zmm3,zmm3,zmm7,0DDh
01ce  vshuff32x4 zmm7,zmm1,zmm2,88h
01d5  vshuff32x4 zmm17,zmm6,zmm10,88h
01dc  vshuff32x4 zmm1,zmm1,zmm2,0DDh
01e3  vshuff32x4 zmm2,zmm6,zmm10,0DDh
01ea  vshuff32x4 zmm6,zmm7,zmm17,88h
01f1  vshuff32x4 zmm7,zmm7,zmm17,0DDh
01f8  vshuff32x4 zmm10,zmm1,zmm2,88h
01ff  vshuff32x4 zmm1,zmm1,zmm2,0DDh
0206  vshuff32x4 zmm2,zmm16,zmm5,88h
020d  vshuff32x4 zmm17,zmm9,zmm13,88h
0214  vshuff32x4 zmm5,zmm16,zmm5,0DDh
021b  vshuff32x4 zmm9,zmm9,zmm13,0DDh
0222  vshuff32x4 zmm13,zmm2,zmm17,88h
0229  vshuff32x4 zmm2,zmm2,zmm17,0DDh
0230  vshuff32x4 zmm16,zmm5,zmm9,88h
0237  vshuff32x4 zmm5,zmm5,zmm9,0DDh
023e  vshuff32x4 zmm9,zmm0,zmm4,88h
0245  vshuff32x4 zmm17,zmm8,zmm12,88h
024c  vshuff32x4 zmm0,zmm0,zmm4,0DDh
0253  vshuff32x4 zmm4,zmm8,zmm12,0DDh
025a  vshuff32x4 zmm8,zmm9,zmm17,88h
0261  vshuff32x4 zmm9,zmm9,zmm17,0DDh
0268  vshuff32x4 zmm12,zmm0,zmm4,88h
026f  vshuff32x4 zmm0,zmm0,zmm4,0DDh
0276  vmovups [r9],zmm11
027c  add r9,rsi
027f  vmovups [r9],zmm6
0285  add r9,rsi
0288  vmovups [r9],zmm13
028e  add r9,rsi
0291  vmovups [r9],zmm8
0297  add r9,rsi
029a  vmovups [r9],zmm15
02a0  add r9,rsi
02a3  vmovups [r9],zmm10
02a9  add r9,rsi
02ac  vmovups [r9],zmm16
02b2  add r9,rsi
02b5  vmovups [r9],zmm12
02bb  add r9,rsi
02be  vmovups [r9],zmm14
02c4  add r9,rsi
02c7  vmovups [r9],zmm7
02cd  add r9,rsi
02d0  vmovups [r9],zmm2
02d6  add r9,rsi
02d9  vmovups [r9],zmm9
02df  add r9,rsi
02e2  vmovups [r9],zmm3
02e8  add r9,rsi
02eb  vmovups [r9],zmm1
02f1  add r9,rsi
02f4  vmovups [r9],zmm5
02fa  add r9,rsi
02fd  vmovups [r9],zmm0
0303  add r9,rsi
0306  mov r9,[rdi+10h]
030a  add rax,r9
030d  mov r9,[rdi+28h]
0311  add rcx,r9
0314  dec r8
0317  jne near 40h
031d  mov r8,[rdi+38h]
0321  mov r9,[rdi+40h]
0325  mov r10,[rdi+50h]
0329  test r8,r8
032c  jle near 853h
0332  nop word [rax+rax]
033b  nop dword [rax+rax]
0340  mov r11,0FFFFFFFFFFFFFFFFh
034a  bzhi r11,r11,r10
034f  kmovq k1,r11
0354  mov r11,0FFFFFFFFFFFFFFFFh
035e  bzhi r11,r11,r9
0363  kmovq k2,r11
0368  mov r11,rax
036b  vpxord zmm0,zmm0,zmm0
0371  cmp r9,0
0375  jle near 387h
037b  vmovups zmm1{k1}{z},[r11]
0381  vmovups zmm0,zmm1
0387  add r11,rdx
038a  vpxord zmm1,zmm1,zmm1
0390  cmp r9,1
0394  jle near 3A6h
039a  vmovups zmm2{k1}{z},[r11]
03a0  vmovups zmm1,zmm2
03a6  add r11,rdx
03a9  vpxord zmm2,zmm2,zmm2
03af  cmp r9,2
03b3  jle near 3C5h
03b9  vmovups zmm3{k1}{z},[r11]
03bf  vmovups zmm2,zmm3
03c5  add r11,rdx
03c8  vpxord zmm3,zmm3,zmm3
03ce  cmp r9,3
03d2  jle near 3E4h
03d8  vmovups zmm4{k1}{z},[r11]
03de  vmovups zmm3,zmm4
03e4  add r11,rdx
03e7  vpxord zmm4,zmm4,zmm4
03ed  cmp r9,4
03f1  jle near 403h
03f7  vmovups zmm5{k1}{z},[r11]
03fd  vmovups zmm4,zmm5
0403  add r11,rdx
0406  vpxord zmm5,zmm5,zmm5
040c  cmp r9,5
0410  jle near 422h
0416  vmovups zmm6{k1}{z},[r11]
041c  vmovups zmm5,zmm6
0422  add r11,rdx
0425  vpxord zmm6,zmm6,zmm6
042b  cmp r9,6
042f  jle near 441h
0435  vmovups zmm7{k1}{z},[r11]
043b  vmovups zmm6,zmm7
0441  add r11,rdx
0444  vpxord zmm7,zmm7,zmm7
044a  cmp r9,7
044e  jle near 460h
0454  vmovups zmm8{k1}{z},[r11]
045a  vmovups zmm7,zmm8
0460  add r11,rdx
0463  vpxord zmm8,zmm8,zmm8
0469  cmp r9,8
046d  jle near 47Fh
0473  vmovups zmm9{k1}{z},[r11]
0479  vmovups zmm8,zmm9
047f  add r11,rdx
0482  vpxord zmm9,zmm9,zmm9
0488  cmp r9,9
048c  jle near 49Eh
0492  vmovups zmm10{k1}{z},[r11]
0498  vmovups zmm9,zmm10
049e  add r11,rdx
04a1  vpxord zmm10,zmm10,zmm10
04a7  cmp r9,0Ah
04ab  jle near 4BDh
04b1  vmovups zmm11{k1}{z},[r11]
04b7  vmovups zmm10,zmm11
04bd  add r11,rdx
04c0  vpxord zmm11,zmm11,zmm11
04c6  cmp r9,0Bh
04ca  jle near 4DCh
04d0  vmovups zmm12{k1}{z},[r11]
04d6  vmovups zmm11,zmm12
04dc  add r11,rdx
04df  vpxord zmm12,zmm12,zmm12
04e5  cmp r9,0Ch
04e9  jle near 4FBh
04ef  vmovups zmm13{k1}{z},[r11]
04f5  vmovups zmm12,zmm13
04fb  add r11,rdx
04fe  vpxord zmm13,zmm13,zmm13
0504  cmp r9,0Dh
0508  jle near 51Ah
050e  vmovups zmm14{k1}{z},[r11]
0514  vmovups zmm13,zmm14
051a  add r11,rdx
051d  vpxord zmm14,zmm14,zmm14
0523  cmp r9,0Eh
0527  jle near 539h
052d  vmovups zmm15{k1}{z},[r11]
0533  vmovups zmm14,zmm15
0539  add r11,rdx
053c  vpxord zmm15,zmm15,zmm15
0542  cmp r9,0Fh
0546  jle near 558h
054c  vmovups zmm16{k1}{z},[r11]
0552  vmovups zmm15,zmm16
0558  add r11,rdx
055b  mov r11,rcx
055e  vunpcklps zmm16,zmm0,zmm1
0564  vunpckhps zmm0,zmm0,zmm1
056a  vunpcklps zmm1,zmm2,zmm3
0570  vunpckhps zmm2,zmm2,zmm3
0576  vunpcklpd zmm3,zmm16,zmm1
057c  vunpckhpd zmm1,zmm16,zmm1
0582  vunpcklpd zmm16,zmm0,zmm2
0588  vunpckhpd zmm0,zmm0,zmm2
058e  vunpcklps zmm2,zmm4,zmm5
0594  vunpckhps zmm4,zmm4,zmm5
059a  vunpcklps zmm5,zmm6,zmm7
05a0  vunpckhps zmm6,zmm6,zmm7
05a6  vunpcklpd zmm7,zmm2,zmm5
05ac  vunpckhpd zmm2,zmm2,zmm5
05b2  vunpcklpd zmm5,zmm4,zmm6
05b8  vunpckhpd zmm4,zmm4,zmm6
05be  vunpcklps zmm6,zmm8,zmm9
05c4  vunpckhps zmm8,zmm8,zmm9
05ca  vunpcklps zmm9,zmm10,zmm11
05d0  vunpckhps zmm10,zmm10,zmm11
05d6  vunpcklpd zmm11,zmm6,zmm9
05dc  vunpckhpd zmm6,zmm6,zmm9
05e2  vunpcklpd zmm9,zmm8,zmm10
05e8  vunpckhpd zmm8,zmm8,zmm10
05ee  vunpcklps zmm10,zmm12,zmm13
05f4  vunpckhps zmm12,zmm12,zmm13
05fa  vunpcklps zmm13,zmm14,zmm15
0600  vunpckhps zmm14,zmm14,zmm15
0606  vunpcklpd zmm15,zmm10,zmm13
060c  vunpckhpd zmm10,zmm10,zmm13
0612  vunpcklpd zmm13,zmm12,zmm14
0618  vunpckhpd zmm12,zmm12,zmm14
061e  vshuff32x4 zmm14,zmm3,zmm7,88h
0625  vshuff32x4 zmm17,zmm11,zmm15,88h
062c  vshuff32x4 zmm3,zmm3,zmm7,0DDh
0633  vshuff32x4 zmm7,zmm11,zmm15,0DDh
063a  vshuff32x4 zmm11,zmm14,zmm17,88h
0641  vshuff32x4 zmm14,zmm14,zmm17,0DDh
0648  vshuff32x4 zmm15,zmm3,zmm7,88h
064f  vshuff32x4 zmm3,zmm3,zmm7,0DDh
0656  vshuff32x4 zmm7,zmm1,zmm2,88h
065d  vshuff32x4 zmm17,zmm6,zmm10,88h
0664  vshuff32x4 zmm1,zmm1,zmm2,0DDh
066b  vshuff32x4 zmm2,zmm6,zmm10,0DDh
0672  vshuff32x4 zmm6,zmm7,zmm17,88h
0679  vshuff32x4 zmm7,zmm7,zmm17,0DDh
0680  vshuff32x4 zmm10,zmm1,zmm2,88h
0687  vshuff32x4 zmm1,zmm1,zmm2,0DDh
068e  vshuff32x4 zmm2,zmm16,zmm5,88h
0695  vshuff32x4 zmm17,zmm9,zmm13,88h
069c  vshuff32x4 zmm5,zmm16,zmm5,0DDh
06a3  vshuff32x4 zmm9,zmm9,zmm13,0DDh
06aa  vshuff32x4 zmm13,zmm2,zmm17,88h
06b1  vshuff32x4 zmm2,zmm2,zmm17,0DDh
06b8  vshuff32x4 zmm16,zmm5,zmm9,88h
06bf  vshuff32x4 zmm5,zmm5,zmm9,0DDh
06c6  vshuff32x4 zmm9,zmm0,zmm4,88h
06cd  vshuff32x4 zmm17,zmm8,zmm12,88h
06d4  vshuff32x4 zmm0,zmm0,zmm4,0DDh
06db  vshuff32x4 zmm4,zmm8,zmm12,0DDh
06e2  vshuff32x4 zmm8,zmm9,zmm17,88h
06e9  vshuff32x4 zmm9,zmm9,zmm17,0DDh
06f0  vshuff32x4 zmm12,zmm0,zmm4,88h
06f7  vshuff32x4 zmm0,zmm0,zmm4,0DDh
06fe  cmp r10,0
0702  jle near 70Eh
0708  vmovups [r11]{k2},zmm11
070e  add r11,rsi
0711  cmp r10,1
0715  jle near 721h
071b  vmovups [r11]{k2},zmm6
0721  add r11,rsi
0724  cmp r10,2
0728  jle near 734h
072e  vmovups [r11]{k2},zmm13
0734  add r11,rsi
0737  cmp r10,3
073b  jle near 747h
0741  vmovups [r11]{k2},zmm8
0747  add r11,rsi
074a  cmp r10,4
074e  jle near 75Ah
0754  vmovups [r11]{k2},zmm15
075a  add r11,rsi
075d  cmp r10,5
0761  jle near 76Dh
0767  vmovups [r11]{k2},zmm10
076d  add r11,rsi
0770  cmp r10,6
0774  jle near 780h
077a  vmovups [r11]{k2},zmm16
0780  add r11,rsi
0783  cmp r10,7
0787  jle near 793h
078d  vmovups [r11]{k2},zmm12
0793  add r11,rsi
0796  cmp r10,8
079a  jle near 7A6h
07a0  vmovups [r11]{k2},zmm14
07a6  add r11,rsi
07a9  cmp r10,9
07ad  jle near 7B9h
07b3  vmovups [r11]{k2},zmm7
07b9  add r11,rsi
07bc  cmp r10,0Ah
07c0  jle near 7CCh
07c6  vmovups [r11]{k2},zmm2
07cc  add r11,rsi
07cf  cmp r10,0Bh
07d3  jle near 7DFh
07d9  vmovups [r11]{k2},zmm9
07df  add r11,rsi
07e2  cmp r10,0Ch
07e6  jle near 7F2h
07ec  vmovups [r11]{k2},zmm3
07f2  add r11,rsi
07f5  cmp r10,0Dh
07f9  jle near 805h
07ff  vmovups [r11]{k2},zmm1
0805  add r11,rsi
0808  cmp r10,0Eh
080c  jle near 818h
0812  vmovups [r11]{k2},zmm5
0818  add r11,rsi
081b  cmp r10,0Fh
081f  jle near 82Bh
0825  vmovups [r11]{k2},zmm0
082b  add r11,rsi
082e  mov r11,[rdi+10h]
0832  add rax,r11
0835  mov r11,[rdi+28h]
0839  add rcx,r11
083c  mov r11,[rdi+48h]
0840  mov rbx,[rdi+58h]
0844  sub r9,r11
0847  sub r10,rbx
084a  dec r8
084d  jne near 340h
0853  pop rbx
0854  vzeroupper
0857  ret
