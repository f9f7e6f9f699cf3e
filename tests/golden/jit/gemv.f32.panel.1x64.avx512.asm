; 88 instructions, 614 bytes, 0 spills, 0 of them in inner loops
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
0046  jle near 17Eh
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
00a1  vfmadd231ps zmm0,zmm12,zmm8
00a7  vfmadd231ps zmm1,zmm12,zmm9
00ad  vfmadd231ps zmm2,zmm12,zmm10
00b3  vfmadd231ps zmm3,zmm12,zmm11
00b9  vmovups zmm8,[rax+100h]
00c0  vmovups zmm9,[rax+140h]
00c7  vmovups zmm10,[rax+180h]
00ce  vmovups zmm11,[rax+1C0h]
00d5  vpbroadcastd zmm12,[rdx+4]
00dc  vfmadd231ps zmm4,zmm12,zmm8
00e2  vfmadd231ps zmm5,zmm12,zmm9
00e8  vfmadd231ps zmm6,zmm12,zmm10
00ee  vfmadd231ps zmm7,zmm12,zmm11
00f4  vmovups zmm8,[rax+200h]
00fb  vmovups zmm9,[rax+240h]
0102  vmovups zmm10,[rax+280h]
0109  vmovups zmm11,[rax+2C0h]
0110  vpbroadcastd zmm12,[rdx+8]
0117  vfmadd231ps zmm0,zmm12,zmm8
011d  vfmadd231ps zmm1,zmm12,zmm9
0123  vfmadd231ps zmm2,zmm12,zmm10
0129  vfmadd231ps zmm3,zmm12,zmm11
012f  vmovups zmm8,[rax+300h]
0136  vmovups zmm9,[rax+340h]
013d  vmovups zmm10,[rax+380h]
0144  vmovups zmm11,[rax+3C0h]
014b  vpbroadcastd zmm12,[rdx+0Ch]
0152  vfmadd231ps zmm4,zmm12,zmm8
0158  vfmadd231ps zmm5,zmm12,zmm9
015e  vfmadd231ps zmm6,zmm12,zmm10
0164  vfmadd231ps zmm7,zmm12,zmm11
016a  add rdx,10h
016e  add rax,400h
0175  dec rcx
0178  jne near 80h
017e  mov rcx,[rdi+40h]
0182  test rcx,rcx
0185  jle near 209h
018b  nop word [rax+rax]
0194  nop word [rax+rax]
019d  nop word [rax+rax]
01a6  nop word [rax+rax]
01af  nop word [rax+rax]
01b8  nop dword [rax+rax]
01c0  vmovups zmm8,[rax]
01c6  vmovups zmm9,[rax+40h]
01cd  vmovups zmm10,[rax+80h]
01d4  vmovups zmm11,[rax+0C0h]
01db  vpbroadcastd zmm12,[rdx]
01e1  vfmadd231ps zmm0,zmm12,zmm8
01e7  vfmadd231ps zmm1,zmm12,zmm9
01ed  vfmadd231ps zmm2,zmm12,zmm10
01f3  vfmadd231ps zmm3,zmm12,zmm11
01f9  add rdx,4
01fd  add rax,100h
0204  dec rcx
0207  jne short 1C0h
0209  vaddps zmm0,zmm0,zmm4
020f  vaddps zmm1,zmm1,zmm5
0215  vaddps zmm2,zmm2,zmm6
021b  vaddps zmm3,zmm3,zmm7
0221  mov rax,[rdi+10h]
0225  mov rdi,[rdi+28h]
0229  vaddps zmm0,zmm0,[rax]
022f  vmovups [rax],zmm0
0235  vaddps zmm1,zmm1,[rax+40h]
023c  vmovups [rax+40h],zmm1
0243  vaddps zmm2,zmm2,[rax+80h]
024a  vmovups [rax+80h],zmm2
0251  vaddps zmm3,zmm3,[rax+0C0h]
0258  vmovups [rax+0C0h],zmm3
025f  add rax,rdi
0262  vzeroupper
0265  ret
