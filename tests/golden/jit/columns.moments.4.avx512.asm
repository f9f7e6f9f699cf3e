; 56 instructions, 385 bytes, 0 spills, 0 of them in inner loops
0000  mov rax,[rdi+20h]
0004  mov rcx,[rdi]
0007  mov edx,0
000c  mov rsi,[rdi+38h]
0010  nop word [rax+rax]
0019  nop word [rax+rax]
0022  nop word [rax+rax]
002b  nop word [rax+rax]
0034  nop word [rax+rax]
003d  nop dword [rax]
0040  mov r8,[rdi+60h]
0044  mov r9,[rdi+68h]
0048  mov r10,[rdi+70h]
004c  vmovups zmm0,[r8+rdx*4]
0053  vmovups zmm1,[r9+rdx*4]
005a  vmovups zmm2,[r10+rdx*4]
0061  vmovups zmm3,[r8+rdx*4+40h]
0069  vmovups zmm4,[r9+rdx*4+40h]
0071  vmovups zmm5,[r10+rdx*4+40h]
0079  vmovups zmm6,[r8+rdx*4+80h]
0081  vmovups zmm7,[r9+rdx*4+80h]
0089  vmovups zmm8,[r10+rdx*4+80h]
0091  vmovups zmm9,[r8+rdx*4+0C0h]
0099  vmovups zmm10,[r9+rdx*4+0C0h]
00a1  vmovups zmm11,[r10+rdx*4+0C0h]
00a9  mov r10,[rdi+30h]
00ad  test r10,r10
00b0  jle near 12Bh
00b6  nop word [rax+rax]
00bf  nop
00c0  vmovups zmm12,[rcx]
00c6  vsubps zmm12,zmm12,zmm2
00cc  vaddps zmm0,zmm0,zmm12
00d2  vfmadd231ps zmm1,zmm12,zmm12
00d8  vmovups zmm12,[rcx+40h]
00df  vsubps zmm12,zmm12,zmm5
00e5  vaddps zmm3,zmm3,zmm12
00eb  vfmadd231ps zmm4,zmm12,zmm12
00f1  vmovups zmm12,[rcx+80h]
00f8  vsubps zmm12,zmm12,zmm8
00fe  vaddps zmm6,zmm6,zmm12
0104  vfmadd231ps zmm7,zmm12,zmm12
010a  vmovups zmm12,[rcx+0C0h]
0111  vsubps zmm12,zmm12,zmm11
0117  vaddps zmm9,zmm9,zmm12
011d  vfmadd231ps zmm10,zmm12,zmm12
0123  add rcx,rax
0126  dec r10
0129  jne short 0C0h
012b  mov r10,[rdi+40h]
012f  add rcx,r10
0132  vmovups [r8+rdx*4],zmm0
0139  vmovups [r8+rdx*4+40h],zmm3
0141  vmovups [r8+rdx*4+80h],zmm6
0149  vmovups [r8+rdx*4+0C0h],zmm9
0151  vmovups [r9+rdx*4],zmm1
0158  vmovups [r9+rdx*4+40h],zmm4
0160  vmovups [r9+rdx*4+80h],zmm7
0168  vmovups [r9+rdx*4+0C0h],zmm10
0170  add rdx,40h
0174  dec rsi
0177  jne near 40h
017d  vzeroupper
0180  ret
