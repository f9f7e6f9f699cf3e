; 404 instructions, 2178 bytes, 0 spills, 0 of them in inner loops
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
032c  jle near 87Dh
0332  nop word [rax+rax]
033b  nop dword [rax+rax]
0340  mov r11,r10
0343  cmp r11,10h
0347  jle near 355h
034d  mov ebx,10h
0352  mov r11,rbx
0355  mov rbx,0FFFFFFFFFFFFFFFFh
035f  bzhi rbx,rbx,r11
0364  kmovq k1,rbx
0369  mov r11,r9
036c  cmp r11,10h
0370  jle near 37Eh
0376  mov ebx,10h
037b  mov r11,rbx
037e  mov rbx,0FFFFFFFFFFFFFFFFh
0388  bzhi rbx,rbx,r11
038d  kmovq k2,rbx
0392  mov r11,rax
0395  vpxord zmm0,zmm0,zmm0
039b  cmp r9,0
039f  jle near 3B1h
03a5  vmovups zmm1{k1}{z},[r11]
03ab  vmovups zmm0,zmm1
03b1  add r11,rdx
03b4  vpxord zmm1,zmm1,zmm1
03ba  cmp r9,1
03be  jle near 3D0h
03c4  vmovups zmm2{k1}{z},[r11]
03ca  vmovups zmm1,zmm2
03d0  add r11,rdx
03d3  vpxord zmm2,zmm2,zmm2
03d9  cmp r9,2
03dd  jle near 3EFh
03e3  vmovups zmm3{k1}{z},[r11]
03e9  vmovups zmm2,zmm3
03ef  add r11,rdx
03f2  vpxord zmm3,zmm3,zmm3
03f8  cmp r9,3
03fc  jle near 40Eh
0402  vmovups zmm4{k1}{z},[r11]
0408  vmovups zmm3,zmm4
040e  add r11,rdx
0411  vpxord zmm4,zmm4,zmm4
0417  cmp r9,4
041b  jle near 42Dh
0421  vmovups zmm5{k1}{z},[r11]
0427  vmovups zmm4,zmm5
042d  add r11,rdx
0430  vpxord zmm5,zmm5,zmm5
0436  cmp r9,5
043a  jle near 44Ch
0440  vmovups zmm6{k1}{z},[r11]
0446  vmovups zmm5,zmm6
044c  add r11,rdx
044f  vpxord zmm6,zmm6,zmm6
0455  cmp r9,6
0459  jle near 46Bh
045f  vmovups zmm7{k1}{z},[r11]
0465  vmovups zmm6,zmm7
046b  add r11,rdx
046e  vpxord zmm7,zmm7,zmm7
0474  cmp r9,7
0478  jle near 48Ah
047e  vmovups zmm8{k1}{z},[r11]
0484  vmovups zmm7,zmm8
048a  add r11,rdx
048d  vpxord zmm8,zmm8,zmm8
0493  cmp r9,8
0497  jle near 4A9h
049d  vmovups zmm9{k1}{z},[r11]
04a3  vmovups zmm8,zmm9
04a9  add r11,rdx
04ac  vpxord zmm9,zmm9,zmm9
04b2  cmp r9,9
04b6  jle near 4C8h
04bc  vmovups zmm10{k1}{z},[r11]
04c2  vmovups zmm9,zmm10
04c8  add r11,rdx
04cb  vpxord zmm10,zmm10,zmm10
04d1  cmp r9,0Ah
04d5  jle near 4E7h
04db  vmovups zmm11{k1}{z},[r11]
04e1  vmovups zmm10,zmm11
04e7  add r11,rdx
04ea  vpxord zmm11,zmm11,zmm11
04f0  cmp r9,0Bh
04f4  jle near 506h
04fa  vmovups zmm12{k1}{z},[r11]
0500  vmovups zmm11,zmm12
0506  add r11,rdx
0509  vpxord zmm12,zmm12,zmm12
050f  cmp r9,0Ch
0513  jle near 525h
0519  vmovups zmm13{k1}{z},[r11]
051f  vmovups zmm12,zmm13
0525  add r11,rdx
0528  vpxord zmm13,zmm13,zmm13
052e  cmp r9,0Dh
0532  jle near 544h
0538  vmovups zmm14{k1}{z},[r11]
053e  vmovups zmm13,zmm14
0544  add r11,rdx
0547  vpxord zmm14,zmm14,zmm14
054d  cmp r9,0Eh
0551  jle near 563h
0557  vmovups zmm15{k1}{z},[r11]
055d  vmovups zmm14,zmm15
0563  add r11,rdx
0566  vpxord zmm15,zmm15,zmm15
056c  cmp r9,0Fh
0570  jle near 582h
0576  vmovups zmm16{k1}{z},[r11]
057c  vmovups zmm15,zmm16
0582  add r11,rdx
0585  mov r11,rcx
0588  vunpcklps zmm16,zmm0,zmm1
058e  vunpckhps zmm0,zmm0,zmm1
0594  vunpcklps zmm1,zmm2,zmm3
059a  vunpckhps zmm2,zmm2,zmm3
05a0  vunpcklpd zmm3,zmm16,zmm1
05a6  vunpckhpd zmm1,zmm16,zmm1
05ac  vunpcklpd zmm16,zmm0,zmm2
05b2  vunpckhpd zmm0,zmm0,zmm2
05b8  vunpcklps zmm2,zmm4,zmm5
05be  vunpckhps zmm4,zmm4,zmm5
05c4  vunpcklps zmm5,zmm6,zmm7
05ca  vunpckhps zmm6,zmm6,zmm7
05d0  vunpcklpd zmm7,zmm2,zmm5
05d6  vunpckhpd zmm2,zmm2,zmm5
05dc  vunpcklpd zmm5,zmm4,zmm6
05e2  vunpckhpd zmm4,zmm4,zmm6
05e8  vunpcklps zmm6,zmm8,zmm9
05ee  vunpckhps zmm8,zmm8,zmm9
05f4  vunpcklps zmm9,zmm10,zmm11
05fa  vunpckhps zmm10,zmm10,zmm11
0600  vunpcklpd zmm11,zmm6,zmm9
0606  vunpckhpd zmm6,zmm6,zmm9
060c  vunpcklpd zmm9,zmm8,zmm10
0612  vunpckhpd zmm8,zmm8,zmm10
0618  vunpcklps zmm10,zmm12,zmm13
061e  vunpckhps zmm12,zmm12,zmm13
0624  vunpcklps zmm13,zmm14,zmm15
062a  vunpckhps zmm14,zmm14,zmm15
0630  vunpcklpd zmm15,zmm10,zmm13
0636  vunpckhpd zmm10,zmm10,zmm13
063c  vunpcklpd zmm13,zmm12,zmm14
0642  vunpckhpd zmm12,zmm12,zmm14
0648  vshuff32x4 zmm14,zmm3,zmm7,88h
064f  vshuff32x4 zmm17,zmm11,zmm15,88h
0656  vshuff32x4 zmm3,zmm3,zmm7,0DDh
065d  vshuff32x4 zmm7,zmm11,zmm15,0DDh
0664  vshuff32x4 zmm11,zmm14,zmm17,88h
066b  vshuff32x4 zmm14,zmm14,zmm17,0DDh
0672  vshuff32x4 zmm15,zmm3,zmm7,88h
0679  vshuff32x4 zmm3,zmm3,zmm7,0DDh
0680  vshuff32x4 zmm7,zmm1,zmm2,88h
0687  vshuff32x4 zmm17,zmm6,zmm10,88h
068e  vshuff32x4 zmm1,zmm1,zmm2,0DDh
0695  vshuff32x4 zmm2,zmm6,zmm10,0DDh
069c  vshuff32x4 zmm6,zmm7,zmm17,88h
06a3  vshuff32x4 zmm7,zmm7,zmm17,0DDh
06aa  vshuff32x4 zmm10,zmm1,zmm2,88h
06b1  vshuff32x4 zmm1,zmm1,zmm2,0DDh
06b8  vshuff32x4 zmm2,zmm16,zmm5,88h
06bf  vshuff32x4 zmm17,zmm9,zmm13,88h
06c6  vshuff32x4 zmm5,zmm16,zmm5,0DDh
06cd  vshuff32x4 zmm9,zmm9,zmm13,0DDh
06d4  vshuff32x4 zmm13,zmm2,zmm17,88h
06db  vshuff32x4 zmm2,zmm2,zmm17,0DDh
06e2  vshuff32x4 zmm16,zmm5,zmm9,88h
06e9  vshuff32x4 zmm5,zmm5,zmm9,0DDh
06f0  vshuff32x4 zmm9,zmm0,zmm4,88h
06f7  vshuff32x4 zmm17,zmm8,zmm12,88h
06fe  vshuff32x4 zmm0,zmm0,zmm4,0DDh
0705  vshuff32x4 zmm4,zmm8,zmm12,0DDh
070c  vshuff32x4 zmm8,zmm9,zmm17,88h
0713  vshuff32x4 zmm9,zmm9,zmm17,0DDh
071a  vshuff32x4 zmm12,zmm0,zmm4,88h
0721  vshuff32x4 zmm0,zmm0,zmm4,0DDh
0728  cmp r10,0
072c  jle near 738h
0732  vmovups [r11]{k2},zmm11
0738  add r11,rsi
073b  cmp r10,1
073f  jle near 74Bh
0745  vmovups [r11]{k2},zmm6
074b  add r11,rsi
074e  cmp r10,2
0752  jle near 75Eh
0758  vmovups [r11]{k2},zmm13
075e  add r11,rsi
0761  cmp r10,3
0765  jle near 771h
076b  vmovups [r11]{k2},zmm8
0771  add r11,rsi
0774  cmp r10,4
0778  jle near 784h
077e  vmovups [r11]{k2},zmm15
0784  add r11,rsi
0787  cmp r10,5
078b  jle near 797h
0791  vmovups [r11]{k2},zmm10
0797  add r11,rsi
079a  cmp r10,6
079e  jle near 7AAh
07a4  vmovups [r11]{k2},zmm16
07aa  add r11,rsi
07ad  cmp r10,7
07b1  jle near 7BDh
07b7  vmovups [r11]{k2},zmm12
07bd  add r11,rsi
07c0  cmp r10,8
07c4  jle near 7D0h
07ca  vmovups [r11]{k2},zmm14
07d0  add r11,rsi
07d3  cmp r10,9
07d7  jle near 7E3h
07dd  vmovups [r11]{k2},zmm7
07e3  add r11,rsi
07e6  cmp r10,0Ah
07ea  jle near 7F6h
07f0  vmovups [r11]{k2},zmm2
07f6  add r11,rsi
07f9  cmp r10,0Bh
07fd  jle near 809h
0803  vmovups [r11]{k2},zmm9
0809  add r11,rsi
080c  cmp r10,0Ch
0810  jle near 81Ch
0816  vmovups [r11]{k2},zmm3
081c  add r11,rsi
081f  cmp r10,0Dh
0823  jle near 82Fh
0829  vmovups [r11]{k2},zmm1
082f  add r11,rsi
0832  cmp r10,0Eh
0836  jle near 842h
083c  vmovups [r11]{k2},zmm5
0842  add r11,rsi
0845  cmp r10,0Fh
0849  jle near 855h
084f  vmovups [r11]{k2},zmm0
0855  add r11,rsi
0858  mov r11,[rdi+10h]
085c  add rax,r11
085f  mov r11,[rdi+28h]
0863  add rcx,r11
0866  mov r11,[rdi+48h]
086a  mov rbx,[rdi+58h]
086e  sub r9,r11
0871  sub r10,rbx
0874  dec r8
0877  jne near 340h
087d  pop rbx
087e  vzeroupper
0881  ret
