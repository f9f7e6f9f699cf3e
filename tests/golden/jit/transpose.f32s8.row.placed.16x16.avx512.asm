; 590 instructions, 3538 bytes, 0 spills, 0 of them in inner loops
0000  push rbx
0001  push rbp
0002  push r12
0004  mov rax,[rdi]
0007  mov rcx,[rdi+18h]
000b  mov rdx,[rdi+8]
000f  mov rsi,[rdi+20h]
0013  mov rsi,[rdi+88h]
001a  mov r8,[rdi+0A0h]
0021  mov r9,[rdi+40h]
0025  test r9,r9
0028  jle near 57Eh
002e  nop word [rax+rax]
0037  nop word [rax+rax]
0040  mov r10,[rdi+30h]
0044  mov r11,[rdi+38h]
0048  mov r11,rax
004b  vmovups zmm0,[r11]
0051  prefetcht0 [r11+r10]
0056  add r11,rdx
0059  vmovups zmm1,[r11]
005f  prefetcht0 [r11+r10]
0064  add r11,rdx
0067  vmovups zmm2,[r11]
006d  prefetcht0 [r11+r10]
0072  add r11,rdx
0075  vmovups zmm3,[r11]
007b  prefetcht0 [r11+r10]
0080  add r11,rdx
0083  vmovups zmm4,[r11]
0089  prefetcht0 [r11+r10]
008e  add r11,rdx
0091  vmovups zmm5,[r11]
0097  prefetcht0 [r11+r10]
009c  add r11,rdx
009f  vmovups zmm6,[r11]
00a5  prefetcht0 [r11+r10]
00aa  add r11,rdx
00ad  vmovups zmm7,[r11]
00b3  prefetcht0 [r11+r10]
00b8  add r11,rdx
00bb  vmovups zmm8,[r11]
00c1  prefetcht0 [r11+r10]
00c6  add r11,rdx
00c9  vmovups zmm9,[r11]
00cf  prefetcht0 [r11+r10]
00d4  add r11,rdx
00d7  vmovups zmm10,[r11]
00dd  prefetcht0 [r11+r10]
00e2  add r11,rdx
00e5  vmovups zmm11,[r11]
00eb  prefetcht0 [r11+r10]
00f0  add r11,rdx
00f3  vmovups zmm12,[r11]
00f9  prefetcht0 [r11+r10]
00fe  add r11,rdx
0101  vmovups zmm13,[r11]
0107  prefetcht0 [r11+r10]
010c  add r11,rdx
010f  vmovups zmm14,[r11]
0115  prefetcht0 [r11+r10]
011a  add r11,rdx
011d  vmovups zmm15,[r11]
0123  prefetcht0 [r11+r10]
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
02cb  vmovups zmm4,[rsi]
02d1  mov r10,rcx
02d4  vdivps zmm11,zmm11,zmm4
02da  mov r11,[r8]
02dd  vcmpordps k1,zmm11,zmm11
02e4  vminps zmm11{k1}{z},zmm11,[rel 0DD4h]{1to16}
02ee  vcvtps2dq zmm11,zmm11
02f4  vpmovsdb [r10+r11],zmm11
02fb  vdivps zmm6,zmm6,zmm4
0301  mov r11,[r8+8]
0305  vcmpordps k1,zmm6,zmm6
030c  vminps zmm6{k1}{z},zmm6,[rel 0DD4h]{1to16}
0316  vcvtps2dq zmm6,zmm6
031c  vpmovsdb [r10+r11],zmm6
0323  vdivps zmm6,zmm13,zmm4
0329  mov r11,[r8+10h]
032d  vcmpordps k1,zmm6,zmm6
0334  vminps zmm6{k1}{z},zmm6,[rel 0DD4h]{1to16}
033e  vcvtps2dq zmm6,zmm6
0344  vpmovsdb [r10+r11],zmm6
034b  vdivps zmm6,zmm8,zmm4
0351  mov r11,[r8+18h]
0355  vcmpordps k1,zmm6,zmm6
035c  vminps zmm6{k1}{z},zmm6,[rel 0DD4h]{1to16}
0366  vcvtps2dq zmm6,zmm6
036c  vpmovsdb [r10+r11],zmm6
0373  vdivps zmm6,zmm15,zmm4
0379  mov r11,[r8+20h]
037d  vcmpordps k1,zmm6,zmm6
0384  vminps zmm6{k1}{z},zmm6,[rel 0DD4h]{1to16}
038e  vcvtps2dq zmm6,zmm6
0394  vpmovsdb [r10+r11],zmm6
039b  vdivps zmm6,zmm10,zmm4
03a1  mov r11,[r8+28h]
03a5  vcmpordps k1,zmm6,zmm6
03ac  vminps zmm6{k1}{z},zmm6,[rel 0DD4h]{1to16}
03b6  vcvtps2dq zmm6,zmm6
03bc  vpmovsdb [r10+r11],zmm6
03c3  vdivps zmm6,zmm16,zmm4
03c9  mov r11,[r8+30h]
03cd  vcmpordps k1,zmm6,zmm6
03d4  vminps zmm6{k1}{z},zmm6,[rel 0DD4h]{1to16}
03de  vcvtps2dq zmm6,zmm6
03e4  vpmovsdb [r10+r11],zmm6
03eb  vdivps zmm6,zmm12,zmm4
03f1  mov r11,[r8+38h]
03f5  vcmpordps k1,zmm6,zmm6
03fc  vminps zmm6{k1}{z},zmm6,[rel 0DD4h]{1to16}
0406  vcvtps2dq zmm6,zmm6
040c  vpmovsdb [r10+r11],zmm6
0413  vdivps zmm6,zmm14,zmm4
0419  mov r11,[r8+40h]
041d  vcmpordps k1,zmm6,zmm6
0424  vminps zmm6{k1}{z},zmm6,[rel 0DD4h]{1to16}
042e  vcvtps2dq zmm6,zmm6
0434  vpmovsdb [r10+r11],zmm6
043b  vdivps zmm6,zmm7,zmm4
0441  mov r11,[r8+48h]
0445  vcmpordps k1,zmm6,zmm6
044c  vminps zmm6{k1}{z},zmm6,[rel 0DD4h]{1to16}
0456  vcvtps2dq zmm6,zmm6
045c  vpmovsdb [r10+r11],zmm6
0463  vdivps zmm2,zmm2,zmm4
0469  mov r11,[r8+50h]
046d  vcmpordps k1,zmm2,zmm2
0474  vminps zmm2{k1}{z},zmm2,[rel 0DD4h]{1to16}
047e  vcvtps2dq zmm2,zmm2
0484  vpmovsdb [r10+r11],zmm2
048b  vdivps zmm2,zmm9,zmm4
0491  mov r11,[r8+58h]
0495  vcmpordps k1,zmm2,zmm2
049c  vminps zmm2{k1}{z},zmm2,[rel 0DD4h]{1to16}
04a6  vcvtps2dq zmm2,zmm2
04ac  vpmovsdb [r10+r11],zmm2
04b3  vdivps zmm2,zmm3,zmm4
04b9  mov r11,[r8+60h]
04bd  vcmpordps k1,zmm2,zmm2
04c4  vminps zmm2{k1}{z},zmm2,[rel 0DD4h]{1to16}
04ce  vcvtps2dq zmm2,zmm2
04d4  vpmovsdb [r10+r11],zmm2
04db  vdivps zmm1,zmm1,zmm4
04e1  mov r11,[r8+68h]
04e5  vcmpordps k1,zmm1,zmm1
04ec  vminps zmm1{k1}{z},zmm1,[rel 0DD4h]{1to16}
04f6  vcvtps2dq zmm1,zmm1
04fc  vpmovsdb [r10+r11],zmm1
0503  vdivps zmm1,zmm5,zmm4
0509  mov r11,[r8+70h]
050d  vcmpordps k1,zmm1,zmm1
0514  vminps zmm1{k1}{z},zmm1,[rel 0DD4h]{1to16}
051e  vcvtps2dq zmm1,zmm1
0524  vpmovsdb [r10+r11],zmm1
052b  vdivps zmm0,zmm0,zmm4
0531  mov r11,[r8+78h]
0535  vcmpordps k1,zmm0,zmm0
053c  vminps zmm0{k1}{z},zmm0,[rel 0DD4h]{1to16}
0546  vcvtps2dq zmm0,zmm0
054c  vpmovsdb [r10+r11],zmm0
0553  mov r10,[rdi+10h]
0557  add rax,r10
055a  mov r10,[rdi+28h]
055e  add rcx,r10
0561  mov r10,[rdi+98h]
0568  add rsi,r10
056b  mov r10,[rdi+0A8h]
0572  add r8,r10
0575  dec r9
0578  jne near 40h
057e  mov r9,[rdi+48h]
0582  mov r10,[rdi+50h]
0586  mov r11,[rdi+60h]
058a  mov rbx,[rdi+70h]
058e  test r9,r9
0591  jle near 0DCAh
0597  nop word [rax+rax]
05a0  nop word [rax+rax]
05a9  nop word [rax+rax]
05b2  nop word [rax+rax]
05bb  nop dword [rax+rax]
05c0  vpbroadcastd zmm0,r11d
05c6  vpcmpnled k1,zmm0,[rel 0E00h]
05d1  vpbroadcastd zmm0,ebx
05d7  vpcmpnled k2,zmm0,[rel 0E00h]
05e2  mov rbp,rax
05e5  vpxord zmm0,zmm0,zmm0
05eb  cmp r10,0
05ef  jle near 602h
05f5  vmovups zmm1{k1}{z},[rbp]
05fc  vmovups zmm0,zmm1
0602  add rbp,rdx
0605  vpxord zmm1,zmm1,zmm1
060b  cmp r10,1
060f  jle near 622h
0615  vmovups zmm2{k1}{z},[rbp]
061c  vmovups zmm1,zmm2
0622  add rbp,rdx
0625  vpxord zmm2,zmm2,zmm2
062b  cmp r10,2
062f  jle near 642h
0635  vmovups zmm3{k1}{z},[rbp]
063c  vmovups zmm2,zmm3
0642  add rbp,rdx
0645  vpxord zmm3,zmm3,zmm3
064b  cmp r10,3
064f  jle near 662h
0655  vmovups zmm4{k1}{z},[rbp]
065c  vmovups zmm3,zmm4
0662  add rbp,rdx
0665  vpxord zmm4,zmm4,zmm4
066b  cmp r10,4
066f  jle near 682h
0675  vmovups zmm5{k1}{z},[rbp]
067c  vmovups zmm4,zmm5
0682  add rbp,rdx
0685  vpxord zmm5,zmm5,zmm5
068b  cmp r10,5
068f  jle near 6A2h
0695  vmovups zmm6{k1}{z},[rbp]
069c  vmovups zmm5,zmm6
06a2  add rbp,rdx
06a5  vpxord zmm6,zmm6,zmm6
06ab  cmp r10,6
06af  jle near 6C2h
06b5  vmovups zmm7{k1}{z},[rbp]
06bc  vmovups zmm6,zmm7
06c2  add rbp,rdx
06c5  vpxord zmm7,zmm7,zmm7
06cb  cmp r10,7
06cf  jle near 6E2h
06d5  vmovups zmm8{k1}{z},[rbp]
06dc  vmovups zmm7,zmm8
06e2  add rbp,rdx
06e5  vpxord zmm8,zmm8,zmm8
06eb  cmp r10,8
06ef  jle near 702h
06f5  vmovups zmm9{k1}{z},[rbp]
06fc  vmovups zmm8,zmm9
0702  add rbp,rdx
0705  vpxord zmm9,zmm9,zmm9
070b  cmp r10,9
070f  jle near 722h
0715  vmovups zmm10{k1}{z},[rbp]
071c  vmovups zmm9,zmm10
0722  add rbp,rdx
0725  vpxord zmm10,zmm10,zmm10
072b  cmp r10,0Ah
072f  jle near 742h
0735  vmovups zmm11{k1}{z},[rbp]
073c  vmovups zmm10,zmm11
0742  add rbp,rdx
0745  vpxord zmm11,zmm11,zmm11
074b  cmp r10,0Bh
074f  jle near 762h
0755  vmovups zmm12{k1}{z},[rbp]
075c  vmovups zmm11,zmm12
0762  add rbp,rdx
0765  vpxord zmm12,zmm12,zmm12
076b  cmp r10,0Ch
076f  jle near 782h
0775  vmovups zmm13{k1}{z},[rbp]
077c  vmovups zmm12,zmm13
0782  add rbp,rdx
0785  vpxord zmm13,zmm13,zmm13
078b  cmp r10,0Dh
078f  jle near 7A2h
0795  vmovups zmm14{k1}{z},[rbp]
079c  vmovups zmm13,zmm14
07a2  add rbp,rdx
07a5  vpxord zmm14,zmm14,zmm14
07ab  cmp r10,0Eh
07af  jle near 7C2h
07b5  vmovups zmm15{k1}{z},[rbp]
07bc  vmovups zmm14,zmm15
07c2  add rbp,rdx
07c5  vpxord zmm15,zmm15,zmm15
07cb  cmp r10,0Fh
07cf  jle near 7E2h
07d5  vmovups zmm16{k1}{z},[rbp]
07dc  vmovups zmm15,zmm16
07e2  add rbp,rdx
07e5  vunpcklps zmm16,zmm0,zmm1
07eb  vunpckhps zmm0,zmm0,zmm1
07f1  vunpcklps zmm1,zmm2,zmm3
07f7  vunpckhps zmm2,zmm2,zmm3
07fd  vunpcklpd zmm3,zmm16,zmm1
0803  vunpckhpd zmm1,zmm16,zmm1
0809  vunpcklpd zmm16,zmm0,zmm2
080f  vunpckhpd zmm0,zmm0,zmm2
0815  vunpcklps zmm2,zmm4,zmm5
081b  vunpckhps zmm4,zmm4,zmm5
0821  vunpcklps zmm5,zmm6,zmm7
0827  vunpckhps zmm6,zmm6,zmm7
082d  vunpcklpd zmm7,zmm2,zmm5
0833  vunpckhpd zmm2,zmm2,zmm5
0839  vunpcklpd zmm5,zmm4,zmm6
083f  vunpckhpd zmm4,zmm4,zmm6
0845  vunpcklps zmm6,zmm8,zmm9
084b  vunpckhps zmm8,zmm8,zmm9
0851  vunpcklps zmm9,zmm10,zmm11
0857  vunpckhps zmm10,zmm10,zmm11
085d  vunpcklpd zmm11,zmm6,zmm9
0863  vunpckhpd zmm6,zmm6,zmm9
0869  vunpcklpd zmm9,zmm8,zmm10
086f  vunpckhpd zmm8,zmm8,zmm10
0875  vunpcklps zmm10,zmm12,zmm13
087b  vunpckhps zmm12,zmm12,zmm13
0881  vunpcklps zmm13,zmm14,zmm15
0887  vunpckhps zmm14,zmm14,zmm15
088d  vunpcklpd zmm15,zmm10,zmm13
0893  vunpckhpd zmm10,zmm10,zmm13
0899  vunpcklpd zmm13,zmm12,zmm14
089f  vunpckhpd zmm12,zmm12,zmm14
08a5  vshuff32x4 zmm14,zmm3,zmm7,88h
08ac  vshuff32x4 zmm17,zmm11,zmm15,88h
08b3  vshuff32x4 zmm3,zmm3,zmm7,0DDh
08ba  vshuff32x4 zmm7,zmm11,zmm15,0DDh
08c1  vshuff32x4 zmm11,zmm14,zmm17,88h
08c8  vshuff32x4 zmm14,zmm14,zmm17,0DDh
08cf  vshuff32x4 zmm15,zmm3,zmm7,88h
08d6  vshuff32x4 zmm3,zmm3,zmm7,0DDh
08dd  vshuff32x4 zmm7,zmm1,zmm2,88h
08e4  vshuff32x4 zmm17,zmm6,zmm10,88h
08eb  vshuff32x4 zmm1,zmm1,zmm2,0DDh
08f2  vshuff32x4 zmm2,zmm6,zmm10,0DDh
08f9  vshuff32x4 zmm6,zmm7,zmm17,88h
0900  vshuff32x4 zmm7,zmm7,zmm17,0DDh
0907  vshuff32x4 zmm10,zmm1,zmm2,88h
090e  vshuff32x4 zmm1,zmm1,zmm2,0DDh
0915  vshuff32x4 zmm2,zmm16,zmm5,88h
091c  vshuff32x4 zmm17,zmm9,zmm13,88h
0923  vshuff32x4 zmm5,zmm16,zmm5,0DDh
092a  vshuff32x4 zmm9,zmm9,zmm13,0DDh
0931  vshuff32x4 zmm13,zmm2,zmm17,88h
0938  vshuff32x4 zmm2,zmm2,zmm17,0DDh
093f  vshuff32x4 zmm16,zmm5,zmm9,88h
0946  vshuff32x4 zmm5,zmm5,zmm9,0DDh
094d  vshuff32x4 zmm9,zmm0,zmm4,88h
0954  vshuff32x4 zmm17,zmm8,zmm12,88h
095b  vshuff32x4 zmm0,zmm0,zmm4,0DDh
0962  vshuff32x4 zmm4,zmm8,zmm12,0DDh
0969  vshuff32x4 zmm8,zmm9,zmm17,88h
0970  vshuff32x4 zmm9,zmm9,zmm17,0DDh
0977  vshuff32x4 zmm12,zmm0,zmm4,88h
097e  vshuff32x4 zmm0,zmm0,zmm4,0DDh
0985  vpbroadcastd zmm4,r10d
098b  vpcmpnled k1,zmm4,[rel 0E00h]
0996  vmovups zmm4{k1}{z},[rsi]
099c  mov rbp,rcx
099f  cmp r11,0
09a3  jle near 9DDh
09a9  vdivps zmm11,zmm11,zmm4
09af  vpxord zmm17,zmm17,zmm17
09b5  vblendmps zmm11{k1},zmm17,zmm11
09bb  mov r12,[r8]
09be  vcmpordps k3,zmm11,zmm11
09c5  vminps zmm11{k3}{z},zmm11,[rel 0DD4h]{1to16}
09cf  vcvtps2dq zmm11,zmm11
09d5  vpmovsdb [rbp+r12]{k2},zmm11
09dd  cmp r11,1
09e1  jle near 0A1Ch
09e7  vdivps zmm6,zmm6,zmm4
09ed  vpxord zmm11,zmm11,zmm11
09f3  vblendmps zmm6{k1},zmm11,zmm6
09f9  mov r12,[r8+8]
09fd  vcmpordps k3,zmm6,zmm6
0a04  vminps zmm6{k3}{z},zmm6,[rel 0DD4h]{1to16}
0a0e  vcvtps2dq zmm6,zmm6
0a14  vpmovsdb [rbp+r12]{k2},zmm6
0a1c  cmp r11,2
0a20  jle near 0A5Bh
0a26  vdivps zmm6,zmm13,zmm4
0a2c  vpxord zmm11,zmm11,zmm11
0a32  vblendmps zmm6{k1},zmm11,zmm6
0a38  mov r12,[r8+10h]
0a3c  vcmpordps k3,zmm6,zmm6
0a43  vminps zmm6{k3}{z},zmm6,[rel 0DD4h]{1to16}
0a4d  vcvtps2dq zmm6,zmm6
0a53  vpmovsdb [rbp+r12]{k2},zmm6
0a5b  cmp r11,3
0a5f  jle near 0A9Ah
0a65  vdivps zmm6,zmm8,zmm4
0a6b  vpxord zmm8,zmm8,zmm8
0a71  vblendmps zmm6{k1},zmm8,zmm6
0a77  mov r12,[r8+18h]
0a7b  vcmpordps k3,zmm6,zmm6
0a82  vminps zmm6{k3}{z},zmm6,[rel 0DD4h]{1to16}
0a8c  vcvtps2dq zmm6,zmm6
0a92  vpmovsdb [rbp+r12]{k2},zmm6
0a9a  cmp r11,4
0a9e  jle near 0AD9h
0aa4  vdivps zmm6,zmm15,zmm4
0aaa  vpxord zmm8,zmm8,zmm8
0ab0  vblendmps zmm6{k1},zmm8,zmm6
0ab6  mov r12,[r8+20h]
0aba  vcmpordps k3,zmm6,zmm6
0ac1  vminps zmm6{k3}{z},zmm6,[rel 0DD4h]{1to16}
0acb  vcvtps2dq zmm6,zmm6
0ad1  vpmovsdb [rbp+r12]{k2},zmm6
0ad9  cmp r11,5
0add  jle near 0B18h
0ae3  vdivps zmm6,zmm10,zmm4
0ae9  vpxord zmm8,zmm8,zmm8
0aef  vblendmps zmm6{k1},zmm8,zmm6
0af5  mov r12,[r8+28h]
0af9  vcmpordps k3,zmm6,zmm6
0b00  vminps zmm6{k3}{z},zmm6,[rel 0DD4h]{1to16}
0b0a  vcvtps2dq zmm6,zmm6
0b10  vpmovsdb [rbp+r12]{k2},zmm6
0b18  cmp r11,6
0b1c  jle near 0B57h
0b22  vdivps zmm6,zmm16,zmm4
0b28  vpxord zmm8,zmm8,zmm8
0b2e  vblendmps zmm6{k1},zmm8,zmm6
0b34  mov r12,[r8+30h]
0b38  vcmpordps k3,zmm6,zmm6
0b3f  vminps zmm6{k3}{z},zmm6,[rel 0DD4h]{1to16}
0b49  vcvtps2dq zmm6,zmm6
0b4f  vpmovsdb [rbp+r12]{k2},zmm6
0b57  cmp r11,7
0b5b  jle near 0B96h
0b61  vdivps zmm6,zmm12,zmm4
0b67  vpxord zmm8,zmm8,zmm8
0b6d  vblendmps zmm6{k1},zmm8,zmm6
0b73  mov r12,[r8+38h]
0b77  vcmpordps k3,zmm6,zmm6
0b7e  vminps zmm6{k3}{z},zmm6,[rel 0DD4h]{1to16}
0b88  vcvtps2dq zmm6,zmm6
0b8e  vpmovsdb [rbp+r12]{k2},zmm6
0b96  cmp r11,8
0b9a  jle near 0BD5h
0ba0  vdivps zmm6,zmm14,zmm4
0ba6  vpxord zmm8,zmm8,zmm8
0bac  vblendmps zmm6{k1},zmm8,zmm6
0bb2  mov r12,[r8+40h]
0bb6  vcmpordps k3,zmm6,zmm6
0bbd  vminps zmm6{k3}{z},zmm6,[rel 0DD4h]{1to16}
0bc7  vcvtps2dq zmm6,zmm6
0bcd  vpmovsdb [rbp+r12]{k2},zmm6
0bd5  cmp r11,9
0bd9  jle near 0C14h
0bdf  vdivps zmm6,zmm7,zmm4
0be5  vpxord zmm7,zmm7,zmm7
0beb  vblendmps zmm6{k1},zmm7,zmm6
0bf1  mov r12,[r8+48h]
0bf5  vcmpordps k3,zmm6,zmm6
0bfc  vminps zmm6{k3}{z},zmm6,[rel 0DD4h]{1to16}
0c06  vcvtps2dq zmm6,zmm6
0c0c  vpmovsdb [rbp+r12]{k2},zmm6
0c14  cmp r11,0Ah
0c18  jle near 0C53h
0c1e  vdivps zmm2,zmm2,zmm4
0c24  vpxord zmm6,zmm6,zmm6
0c2a  vblendmps zmm2{k1},zmm6,zmm2
0c30  mov r12,[r8+50h]
0c34  vcmpordps k3,zmm2,zmm2
0c3b  vminps zmm2{k3}{z},zmm2,[rel 0DD4h]{1to16}
0c45  vcvtps2dq zmm2,zmm2
0c4b  vpmovsdb [rbp+r12]{k2},zmm2
0c53  cmp r11,0Bh
0c57  jle near 0C92h
0c5d  vdivps zmm2,zmm9,zmm4
0c63  vpxord zmm6,zmm6,zmm6
0c69  vblendmps zmm2{k1},zmm6,zmm2
0c6f  mov r12,[r8+58h]
0c73  vcmpordps k3,zmm2,zmm2
0c7a  vminps zmm2{k3}{z},zmm2,[rel 0DD4h]{1to16}
0c84  vcvtps2dq zmm2,zmm2
0c8a  vpmovsdb [rbp+r12]{k2},zmm2
0c92  cmp r11,0Ch
0c96  jle near 0CD1h
0c9c  vdivps zmm2,zmm3,zmm4
0ca2  vpxord zmm3,zmm3,zmm3
0ca8  vblendmps zmm2{k1},zmm3,zmm2
0cae  mov r12,[r8+60h]
0cb2  vcmpordps k3,zmm2,zmm2
0cb9  vminps zmm2{k3}{z},zmm2,[rel 0DD4h]{1to16}
0cc3  vcvtps2dq zmm2,zmm2
0cc9  vpmovsdb [rbp+r12]{k2},zmm2
0cd1  cmp r11,0Dh
0cd5  jle near 0D10h
0cdb  vdivps zmm1,zmm1,zmm4
0ce1  vpxord zmm2,zmm2,zmm2
0ce7  vblendmps zmm1{k1},zmm2,zmm1
0ced  mov r12,[r8+68h]
0cf1  vcmpordps k3,zmm1,zmm1
0cf8  vminps zmm1{k3}{z},zmm1,[rel 0DD4h]{1to16}
0d02  vcvtps2dq zmm1,zmm1
0d08  vpmovsdb [rbp+r12]{k2},zmm1
0d10  cmp r11,0Eh
0d14  jle near 0D4Fh
0d1a  vdivps zmm1,zmm5,zmm4
0d20  vpxord zmm2,zmm2,zmm2
0d26  vblendmps zmm1{k1},zmm2,zmm1
0d2c  mov r12,[r8+70h]
0d30  vcmpordps k3,zmm1,zmm1
0d37  vminps zmm1{k3}{z},zmm1,[rel 0DD4h]{1to16}
0d41  vcvtps2dq zmm1,zmm1
0d47  vpmovsdb [rbp+r12]{k2},zmm1
0d4f  cmp r11,0Fh
0d53  jle near 0D8Eh
0d59  vdivps zmm0,zmm0,zmm4
0d5f  vpxord zmm1,zmm1,zmm1
0d65  vblendmps zmm0{k1},zmm1,zmm0
0d6b  mov r12,[r8+78h]
0d6f  vcmpordps k1,zmm0,zmm0
0d76  vminps zmm0{k1}{z},zmm0,[rel 0DD4h]{1to16}
0d80  vcvtps2dq zmm0,zmm0
0d86  vpmovsdb [rbp+r12]{k2},zmm0
0d8e  mov rbp,[rdi+10h]
0d92  add rax,rbp
0d95  mov rbp,[rdi+28h]
0d99  add rcx,rbp
0d9c  mov rbp,[rdi+98h]
0da3  add rsi,rbp
0da6  mov rbp,[rdi+0A8h]
0dad  add r8,rbp
0db0  mov rbp,[rdi+58h]
0db4  mov r12,[rdi+68h]
0db8  sub r10,rbp
0dbb  sub r11,r12
0dbe  sub rbx,rbp
0dc1  dec r9
0dc4  jne near 5C0h
0dca  pop r12
0dcc  pop rbp
0dcd  pop rbx
0dce  vzeroupper
0dd1  ret
