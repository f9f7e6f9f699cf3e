; 104 instructions, 683 bytes, 0 spills, 0 of them in inner loops
0000  vpxord zmm0,zmm0,zmm0
0006  vpxord zmm1,zmm1,zmm1
000c  vpxord zmm2,zmm2,zmm2
0012  vpxord zmm3,zmm3,zmm3
0018  vpxord zmm4,zmm4,zmm4
001e  vpxord zmm5,zmm5,zmm5
0024  vpxord zmm6,zmm6,zmm6
002a  vpxord zmm7,zmm7,zmm7
0030  mov rax,[rdi+8]
0034  mov rcx,[rdi+20h]
0038  mov rdx,[rdi]
003b  lea rcx,[rcx+rcx*2]
003f  mov rcx,[rdi+38h]
0043  test rcx,rcx
0046  jle near 24Eh
004c  nop word [rax+rax]
0055  nop word [rax+rax]
005e  nop word [rax+rax]
0067  nop word [rax+rax]
0070  nop word [rax+rax]
0079  nop dword [rax]
0080  vmovups zmm8,[rax]
0086  vmovups zmm9,[rax+40h]
008d  vmovups zmm10,[rax+80h]
0094  vmovups zmm11,[rax+0C0h]
009b  vpbroadcastd zmm12,[rdx]
00a1  vpslld zmm13,zmm8,18h
00a8  vpsrad zmm13,zmm13,18h
00af  vcvtdq2ps zmm13,zmm13
00b5  vfmadd231ps zmm0,zmm12,zmm13
00bb  vpslld zmm13,zmm9,18h
00c2  vpsrad zmm13,zmm13,18h
00c9  vcvtdq2ps zmm13,zmm13
00cf  vfmadd231ps zmm1,zmm12,zmm13
00d5  vpslld zmm13,zmm10,18h
00dc  vpsrad zmm13,zmm13,18h
00e3  vcvtdq2ps zmm13,zmm13
00e9  vfmadd231ps zmm2,zmm12,zmm13
00ef  vpslld zmm13,zmm11,18h
00f6  vpsrad zmm13,zmm13,18h
00fd  vcvtdq2ps zmm13,zmm13
0103  vfmadd231ps zmm3,zmm12,zmm13
0109  vpbroadcastd zmm12,[rdx+4]
0110  vpslld zmm13,zmm8,10h
0117  vpsrad zmm13,zmm13,18h
011e  vcvtdq2ps zmm13,zmm13
0124  vfmadd231ps zmm4,zmm12,zmm13
012a  vpslld zmm13,zmm9,10h
0131  vpsrad zmm13,zmm13,18h
0138  vcvtdq2ps zmm13,zmm13
013e  vfmadd231ps zmm5,zmm12,zmm13
0144  vpslld zmm13,zmm10,10h
014b  vpsrad zmm13,zmm13,18h
0152  vcvtdq2ps zmm13,zmm13
0158  vfmadd231ps zmm6,zmm12,zmm13
015e  vpslld zmm13,zmm11,10h
0165  vpsrad zmm13,zmm13,18h
016c  vcvtdq2ps zmm13,zmm13
0172  vfmadd231ps zmm7,zmm12,zmm13
0178  vpbroadcastd zmm12,[rdx+8]
017f  vpslld zmm13,zmm8,8
0186  vpsrad zmm13,zmm13,18h
018d  vcvtdq2ps zmm13,zmm13
0193  vfmadd231ps zmm0,zmm12,zmm13
0199  vpslld zmm13,zmm9,8
01a0  vpsrad zmm13,zmm13,18h
01a7  vcvtdq2ps zmm13,zmm13
01ad  vfmadd231ps zmm1,zmm12,zmm13
01b3  vpslld zmm13,zmm10,8
01ba  vpsrad zmm13,zmm13,18h
01c1  vcvtdq2ps zmm13,zmm13
01c7  vfmadd231ps zmm2,zmm12,zmm13
01cd  vpslld zmm13,zmm11,8
01d4  vpsrad zmm13,zmm13,18h
01db  vcvtdq2ps zmm13,zmm13
01e1  vfmadd231ps zmm3,zmm12,zmm13
01e7  vpbroadcastd zmm12,[rdx+0Ch]
01ee  vpsrad zmm8,zmm8,18h
01f5  vcvtdq2ps zmm8,zmm8
01fb  vfmadd231ps zmm4,zmm12,zmm8
0201  vpsrad zmm8,zmm9,18h
0208  vcvtdq2ps zmm8,zmm8
020e  vfmadd231ps zmm5,zmm12,zmm8
0214  vpsrad zmm8,zmm10,18h
021b  vcvtdq2ps zmm8,zmm8
0221  vfmadd231ps zmm6,zmm12,zmm8
0227  vpsrad zmm8,zmm11,18h
022e  vcvtdq2ps zmm8,zmm8
0234  vfmadd231ps zmm7,zmm12,zmm8
023a  add rdx,10h
023e  add rax,100h
0245  dec rcx
0248  jne near 80h
024e  vaddps zmm0,zmm0,zmm4
0254  vaddps zmm1,zmm1,zmm5
025a  vaddps zmm2,zmm2,zmm6
0260  vaddps zmm3,zmm3,zmm7
0266  mov rax,[rdi+10h]
026a  mov rdi,[rdi+28h]
026e  vaddps zmm0,zmm0,[rax]
0274  vmovups [rax],zmm0
027a  vaddps zmm1,zmm1,[rax+40h]
0281  vmovups [rax+40h],zmm1
0288  vaddps zmm2,zmm2,[rax+80h]
028f  vmovups [rax+80h],zmm2
0296  vaddps zmm3,zmm3,[rax+0C0h]
029d  vmovups [rax+0C0h],zmm3
02a4  add rax,rdi
02a7  vzeroupper
02aa  ret
