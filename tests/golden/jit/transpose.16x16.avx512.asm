; 392 instructions, 2130 bytes, 0 spills, 0 of them in inner loops
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
032c  jle near 84Dh
0332  nop word [rax+rax]
033b  nop dword [rax+rax]
0340  vpbroadcastd zmm0,r10d
0346  vpcmpnled k1,zmm0,[rel 880h]
0351  vpbroadcastd zmm0,r9d
0357  vpcmpnled k2,zmm0,[rel 880h]
0362  mov r11,rax
0365  vpxord zmm0,zmm0,zmm0
036b  cmp r9,0
036f  jle near 381h
0375  vmovups zmm1{k1}{z},[r11]
037b  vmovups zmm0,zmm1
0381  add r11,rdx
0384  vpxord zmm1,zmm1,zmm1
038a  cmp r9,1
038e  jle near 3A0h
0394  vmovups zmm2{k1}{z},[r11]
039a  vmovups zmm1,zmm2
03a0  add r11,rdx
03a3  vpxord zmm2,zmm2,zmm2
03a9  cmp r9,2
03ad  jle near 3BFh
03b3  vmovups zmm3{k1}{z},[r11]
03b9  vmovups zmm2,zmm3
03bf  add r11,rdx
03c2  vpxord zmm3,zmm3,zmm3
03c8  cmp r9,3
03cc  jle near 3DEh
03d2  vmovups zmm4{k1}{z},[r11]
03d8  vmovups zmm3,zmm4
03de  add r11,rdx
03e1  vpxord zmm4,zmm4,zmm4
03e7  cmp r9,4
03eb  jle near 3FDh
03f1  vmovups zmm5{k1}{z},[r11]
03f7  vmovups zmm4,zmm5
03fd  add r11,rdx
0400  vpxord zmm5,zmm5,zmm5
0406  cmp r9,5
040a  jle near 41Ch
0410  vmovups zmm6{k1}{z},[r11]
0416  vmovups zmm5,zmm6
041c  add r11,rdx
041f  vpxord zmm6,zmm6,zmm6
0425  cmp r9,6
0429  jle near 43Bh
042f  vmovups zmm7{k1}{z},[r11]
0435  vmovups zmm6,zmm7
043b  add r11,rdx
043e  vpxord zmm7,zmm7,zmm7
0444  cmp r9,7
0448  jle near 45Ah
044e  vmovups zmm8{k1}{z},[r11]
0454  vmovups zmm7,zmm8
045a  add r11,rdx
045d  vpxord zmm8,zmm8,zmm8
0463  cmp r9,8
0467  jle near 479h
046d  vmovups zmm9{k1}{z},[r11]
0473  vmovups zmm8,zmm9
0479  add r11,rdx
047c  vpxord zmm9,zmm9,zmm9
0482  cmp r9,9
0486  jle near 498h
048c  vmovups zmm10{k1}{z},[r11]
0492  vmovups zmm9,zmm10
0498  add r11,rdx
049b  vpxord zmm10,zmm10,zmm10
04a1  cmp r9,0Ah
04a5  jle near 4B7h
04ab  vmovups zmm11{k1}{z},[r11]
04b1  vmovups zmm10,zmm11
04b7  add r11,rdx
04ba  vpxord zmm11,zmm11,zmm11
04c0  cmp r9,0Bh
04c4  jle near 4D6h
04ca  vmovups zmm12{k1}{z},[r11]
04d0  vmovups zmm11,zmm12
04d6  add r11,rdx
04d9  vpxord zmm12,zmm12,zmm12
04df  cmp r9,0Ch
04e3  jle near 4F5h
04e9  vmovups zmm13{k1}{z},[r11]
04ef  vmovups zmm12,zmm13
04f5  add r11,rdx
04f8  vpxord zmm13,zmm13,zmm13
04fe  cmp r9,0Dh
0502  jle near 514h
0508  vmovups zmm14{k1}{z},[r11]
050e  vmovups zmm13,zmm14
0514  add r11,rdx
0517  vpxord zmm14,zmm14,zmm14
051d  cmp r9,0Eh
0521  jle near 533h
0527  vmovups zmm15{k1}{z},[r11]
052d  vmovups zmm14,zmm15
0533  add r11,rdx
0536  vpxord zmm15,zmm15,zmm15
053c  cmp r9,0Fh
0540  jle near 552h
0546  vmovups zmm16{k1}{z},[r11]
054c  vmovups zmm15,zmm16
0552  add r11,rdx
0555  mov r11,rcx
0558  vunpcklps zmm16,zmm0,zmm1
055e  vunpckhps zmm0,zmm0,zmm1
0564  vunpcklps zmm1,zmm2,zmm3
056a  vunpckhps zmm2,zmm2,zmm3
0570  vunpcklpd zmm3,zmm16,zmm1
0576  vunpckhpd zmm1,zmm16,zmm1
057c  vunpcklpd zmm16,zmm0,zmm2
0582  vunpckhpd zmm0,zmm0,zmm2
0588  vunpcklps zmm2,zmm4,zmm5
058e  vunpckhps zmm4,zmm4,zmm5
0594  vunpcklps zmm5,zmm6,zmm7
059a  vunpckhps zmm6,zmm6,zmm7
05a0  vunpcklpd zmm7,zmm2,zmm5
05a6  vunpckhpd zmm2,zmm2,zmm5
05ac  vunpcklpd zmm5,zmm4,zmm6
05b2  vunpckhpd zmm4,zmm4,zmm6
05b8  vunpcklps zmm6,zmm8,zmm9
05be  vunpckhps zmm8,zmm8,zmm9
05c4  vunpcklps zmm9,zmm10,zmm11
05ca  vunpckhps zmm10,zmm10,zmm11
05d0  vunpcklpd zmm11,zmm6,zmm9
05d6  vunpckhpd zmm6,zmm6,zmm9
05dc  vunpcklpd zmm9,zmm8,zmm10
05e2  vunpckhpd zmm8,zmm8,zmm10
05e8  vunpcklps zmm10,zmm12,zmm13
05ee  vunpckhps zmm12,zmm12,zmm13
05f4  vunpcklps zmm13,zmm14,zmm15
05fa  vunpckhps zmm14,zmm14,zmm15
0600  vunpcklpd zmm15,zmm10,zmm13
0606  vunpckhpd zmm10,zmm10,zmm13
060c  vunpcklpd zmm13,zmm12,zmm14
0612  vunpckhpd zmm12,zmm12,zmm14
0618  vshuff32x4 zmm14,zmm3,zmm7,88h
061f  vshuff32x4 zmm17,zmm11,zmm15,88h
0626  vshuff32x4 zmm3,zmm3,zmm7,0DDh
062d  vshuff32x4 zmm7,zmm11,zmm15,0DDh
0634  vshuff32x4 zmm11,zmm14,zmm17,88h
063b  vshuff32x4 zmm14,zmm14,zmm17,0DDh
0642  vshuff32x4 zmm15,zmm3,zmm7,88h
0649  vshuff32x4 zmm3,zmm3,zmm7,0DDh
0650  vshuff32x4 zmm7,zmm1,zmm2,88h
0657  vshuff32x4 zmm17,zmm6,zmm10,88h
065e  vshuff32x4 zmm1,zmm1,zmm2,0DDh
0665  vshuff32x4 zmm2,zmm6,zmm10,0DDh
066c  vshuff32x4 zmm6,zmm7,zmm17,88h
0673  vshuff32x4 zmm7,zmm7,zmm17,0DDh
067a  vshuff32x4 zmm10,zmm1,zmm2,88h
0681  vshuff32x4 zmm1,zmm1,zmm2,0DDh
0688  vshuff32x4 zmm2,zmm16,zmm5,88h
068f  vshuff32x4 zmm17,zmm9,zmm13,88h
0696  vshuff32x4 zmm5,zmm16,zmm5,0DDh
069d  vshuff32x4 zmm9,zmm9,zmm13,0DDh
06a4  vshuff32x4 zmm13,zmm2,zmm17,88h
06ab  vshuff32x4 zmm2,zmm2,zmm17,0DDh
06b2  vshuff32x4 zmm16,zmm5,zmm9,88h
06b9  vshuff32x4 zmm5,zmm5,zmm9,0DDh
06c0  vshuff32x4 zmm9,zmm0,zmm4,88h
06c7  vshuff32x4 zmm17,zmm8,zmm12,88h
06ce  vshuff32x4 zmm0,zmm0,zmm4,0DDh
06d5  vshuff32x4 zmm4,zmm8,zmm12,0DDh
06dc  vshuff32x4 zmm8,zmm9,zmm17,88h
06e3  vshuff32x4 zmm9,zmm9,zmm17,0DDh
06ea  vshuff32x4 zmm12,zmm0,zmm4,88h
06f1  vshuff32x4 zmm0,zmm0,zmm4,0DDh
06f8  cmp r10,0
06fc  jle near 708h
0702  vmovups [r11]{k2},zmm11
0708  add r11,rsi
070b  cmp r10,1
070f  jle near 71Bh
0715  vmovups [r11]{k2},zmm6
071b  add r11,rsi
071e  cmp r10,2
0722  jle near 72Eh
0728  vmovups [r11]{k2},zmm13
072e  add r11,rsi
0731  cmp r10,3
0735  jle near 741h
073b  vmovups [r11]{k2},zmm8
0741  add r11,rsi
0744  cmp r10,4
0748  jle near 754h
074e  vmovups [r11]{k2},zmm15
0754  add r11,rsi
0757  cmp r10,5
075b  jle near 767h
0761  vmovups [r11]{k2},zmm10
0767  add r11,rsi
076a  cmp r10,6
076e  jle near 77Ah
0774  vmovups [r11]{k2},zmm16
077a  add r11,rsi
077d  cmp r10,7
0781  jle near 78Dh
0787  vmovups [r11]{k2},zmm12
078d  add r11,rsi
0790  cmp r10,8
0794  jle near 7A0h
079a  vmovups [r11]{k2},zmm14
07a0  add r11,rsi
07a3  cmp r10,9
07a7  jle near 7B3h
07ad  vmovups [r11]{k2},zmm7
07b3  add r11,rsi
07b6  cmp r10,0Ah
07ba  jle near 7C6h
07c0  vmovups [r11]{k2},zmm2
07c6  add r11,rsi
07c9  cmp r10,0Bh
07cd  jle near 7D9h
07d3  vmovups [r11]{k2},zmm9
07d9  add r11,rsi
07dc  cmp r10,0Ch
07e0  jle near 7ECh
07e6  vmovups [r11]{k2},zmm3
07ec  add r11,rsi
07ef  cmp r10,0Dh
07f3  jle near 7FFh
07f9  vmovups [r11]{k2},zmm1
07ff  add r11,rsi
0802  cmp r10,0Eh
0806  jle near 812h
080c  vmovups [r11]{k2},zmm5
0812  add r11,rsi
0815  cmp r10,0Fh
0819  jle near 825h
081f  vmovups [r11]{k2},zmm0
0825  add r11,rsi
0828  mov r11,[rdi+10h]
082c  add rax,r11
082f  mov r11,[rdi+28h]
0833  add rcx,r11
0836  mov r11,[rdi+48h]
083a  mov rbx,[rdi+58h]
083e  sub r9,r11
0841  sub r10,rbx
0844  dec r8
0847  jne near 340h
084d  pop rbx
084e  vzeroupper
0851  ret
