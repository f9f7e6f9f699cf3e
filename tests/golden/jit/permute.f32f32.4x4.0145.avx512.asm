; 39 instructions, 251 bytes, 0 spills, 0 of them in inner loops
0000  mov rax,[rdi+10h]
0004  mov rcx,[rdi+18h]
0008  nop word [rax+rax]
0011  nop word [rax+rax]
001a  nop word [rax+rax]
0023  nop word [rax+rax]
002c  nop word [rax+rax]
0035  nop word [rax+rax]
003e  xchg ax,ax
0040  mov rdx,[rdi]
0043  mov rsi,[rax]
0046  add rdx,rsi
0049  mov rsi,[rdi+20h]
004d  mov r8,[rsi]
0050  vmovups zmm0,[rdx+r8]
0057  mov r8,[rsi+8]
005b  vmovups zmm1,[rdx+r8]
0062  mov r8,[rsi+10h]
0066  vmovups zmm2,[rdx+r8]
006d  mov rsi,[rsi+18h]
0071  vmovups zmm3,[rdx+rsi]
0078  vshuff32x4 zmm4,zmm0,zmm1,88h
007f  vshuff32x4 zmm0,zmm0,zmm1,0DDh
0086  vshuff32x4 zmm1,zmm2,zmm3,88h
008d  vshuff32x4 zmm2,zmm2,zmm3,0DDh
0094  vshuff32x4 zmm3,zmm4,zmm1,88h
009b  vshuff32x4 zmm1,zmm4,zmm1,0DDh
00a2  vshuff32x4 zmm4,zmm0,zmm2,88h
00a9  vshuff32x4 zmm0,zmm0,zmm2,0DDh
00b0  mov rdx,[rdi+8]
00b4  mov rsi,[rax+8]
00b8  add rdx,rsi
00bb  mov rsi,[rdi+28h]
00bf  mov r8,[rsi]
00c2  vmovups [rdx+r8],zmm3
00c9  mov r8,[rsi+8]
00cd  vmovups [rdx+r8],zmm4
00d4  mov r8,[rsi+10h]
00d8  vmovups [rdx+r8],zmm1
00df  mov rsi,[rsi+18h]
00e3  vmovups [rdx+rsi],zmm0
00ea  add rax,10h
00ee  dec rcx
00f1  jne near 40h
00f7  vzeroupper
00fa  ret
