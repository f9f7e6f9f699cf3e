; 89 instructions, 571 bytes, 0 spills, 0 of them in inner loops
0000  vmovups zmm0,[rel 240h]
000a  vpxord zmm1,zmm1,zmm1
0010  vpxord zmm2,zmm2,zmm2
0016  vpxord zmm3,zmm3,zmm3
001c  vpxord zmm4,zmm4,zmm4
0022  vpxord zmm5,zmm5,zmm5
0028  vpxord zmm6,zmm6,zmm6
002e  vpxord zmm7,zmm7,zmm7
0034  vpxord zmm8,zmm8,zmm8
003a  mov rax,[rdi+8]
003e  mov rcx,[rdi+20h]
0042  mov rdx,[rdi]
0045  lea rcx,[rcx+rcx*2]
0049  mov rcx,[rdi+38h]
004d  test rcx,rcx
0050  jle near 1DEh
0056  nop word [rax+rax]
005f  nop word [rax+rax]
0068  nop word [rax+rax]
0071  nop word [rax+rax]
007a  nop word [rax+rax]
0080  vmovups zmm9,[rax]
0086  vmovups zmm10,[rax+40h]
008d  vmovups zmm11,[rax+80h]
0094  vmovups zmm12,[rax+0C0h]
009b  vpbroadcastd zmm13,[rdx]
00a1  vpermw zmm14,zmm9,zmm0
00a7  vdpbf16ps zmm1,zmm13,zmm14
00ad  vpermw zmm14,zmm10,zmm0
00b3  vdpbf16ps zmm2,zmm13,zmm14
00b9  vpermw zmm14,zmm11,zmm0
00bf  vdpbf16ps zmm3,zmm13,zmm14
00c5  vpermw zmm14,zmm12,zmm0
00cb  vdpbf16ps zmm4,zmm13,zmm14
00d1  vpbroadcastd zmm13,[rdx+4]
00d8  vpsrlw zmm14,zmm9,4
00df  vpermw zmm14,zmm14,zmm0
00e5  vdpbf16ps zmm5,zmm13,zmm14
00eb  vpsrlw zmm14,zmm10,4
00f2  vpermw zmm14,zmm14,zmm0
00f8  vdpbf16ps zmm6,zmm13,zmm14
00fe  vpsrlw zmm14,zmm11,4
0105  vpermw zmm14,zmm14,zmm0
010b  vdpbf16ps zmm7,zmm13,zmm14
0111  vpsrlw zmm14,zmm12,4
0118  vpermw zmm14,zmm14,zmm0
011e  vdpbf16ps zmm8,zmm13,zmm14
0124  vpbroadcastd zmm13,[rdx+8]
012b  vpsrlw zmm14,zmm9,8
0132  vpermw zmm14,zmm14,zmm0
0138  vdpbf16ps zmm1,zmm13,zmm14
013e  vpsrlw zmm14,zmm10,8
0145  vpermw zmm14,zmm14,zmm0
014b  vdpbf16ps zmm2,zmm13,zmm14
0151  vpsrlw zmm14,zmm11,8
0158  vpermw zmm14,zmm14,zmm0
015e  vdpbf16ps zmm3,zmm13,zmm14
0164  vpsrlw zmm14,zmm12,8
016b  vpermw zmm14,zmm14,zmm0
0171  vdpbf16ps zmm4,zmm13,zmm14
0177  vpbroadcastd zmm13,[rdx+0Ch]
017e  vpsrlw zmm9,zmm9,0Ch
0185  vpermw zmm9,zmm9,zmm0
018b  vdpbf16ps zmm5,zmm13,zmm9
0191  vpsrlw zmm9,zmm10,0Ch
0198  vpermw zmm9,zmm9,zmm0
019e  vdpbf16ps zmm6,zmm13,zmm9
01a4  vpsrlw zmm9,zmm11,0Ch
01ab  vpermw zmm9,zmm9,zmm0
01b1  vdpbf16ps zmm7,zmm13,zmm9
01b7  vpsrlw zmm9,zmm12,0Ch
01be  vpermw zmm9,zmm9,zmm0
01c4  vdpbf16ps zmm8,zmm13,zmm9
01ca  add rdx,10h
01ce  add rax,100h
01d5  dec rcx
01d8  jne near 80h
01de  vaddps zmm1,zmm1,zmm5
01e4  vaddps zmm2,zmm2,zmm6
01ea  vaddps zmm3,zmm3,zmm7
01f0  vaddps zmm4,zmm4,zmm8
01f6  mov rax,[rdi+10h]
01fa  mov rdi,[rdi+28h]
01fe  vaddps zmm1,zmm1,[rax]
0204  vmovups [rax],zmm1
020a  vaddps zmm2,zmm2,[rax+40h]
0211  vmovups [rax+40h],zmm2
0218  vaddps zmm3,zmm3,[rax+80h]
021f  vmovups [rax+80h],zmm3
0226  vaddps zmm4,zmm4,[rax+0C0h]
022d  vmovups [rax+0C0h],zmm4
0234  add rax,rdi
0237  vzeroupper
023a  ret
