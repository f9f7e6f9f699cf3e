; 40 instructions, 323 bytes, 0 spills, 0 of them in inner loops
0000  mov rax,[rdi+18h]
0004  mov ecx,0
0009  mov rdx,[rdi+28h]
000d  nop word [rax+rax]
0016  nop word [rax+rax]
001f  nop word [rax+rax]
0028  nop word [rax+rax]
0031  nop word [rax+rax]
003a  nop word [rax+rax]
0040  mov rsi,[rdi+38h]
0044  mov r8,[rdi+40h]
0048  vmovups zmm0,[rsi+rcx*4]
004f  vmovups zmm1,[r8+rcx*4]
0056  vmovups zmm2,[rsi+rcx*4+40h]
005e  vmovups zmm3,[r8+rcx*4+40h]
0066  vmovups zmm4,[rsi+rcx*4+80h]
006e  vmovups zmm5,[r8+rcx*4+80h]
0076  vmovups zmm6,[rsi+rcx*4+0C0h]
007e  vmovups zmm7,[r8+rcx*4+0C0h]
0086  mov r8,[rdi]
0089  lea r8,[r8+rcx*4]
008d  mov r9,[rdi+20h]
0091  nop word [rax+rax]
009a  nop word [rax+rax]
00a3  nop word [rax+rax]
00ac  nop word [rax+rax]
00b5  nop word [rax+rax]
00be  xchg ax,ax
00c0  vmovups zmm8,[r8]
00c6  vsubps zmm8,zmm8,zmm1
00cc  vfmadd231ps zmm0,zmm8,zmm8
00d2  vmovups zmm8,[r8+40h]
00d9  vsubps zmm8,zmm8,zmm3
00df  vfmadd231ps zmm2,zmm8,zmm8
00e5  vmovups zmm8,[r8+80h]
00ec  vsubps zmm8,zmm8,zmm5
00f2  vfmadd231ps zmm4,zmm8,zmm8
00f8  vmovups zmm8,[r8+0C0h]
00ff  vsubps zmm8,zmm8,zmm7
0105  vfmadd231ps zmm6,zmm8,zmm8
010b  add r8,rax
010e  dec r9
0111  jne short 0C0h
0113  vmovups [rsi+rcx*4],zmm0
011a  vmovups [rsi+rcx*4+40h],zmm2
0122  vmovups [rsi+rcx*4+80h],zmm4
012a  vmovups [rsi+rcx*4+0C0h],zmm6
0132  add rcx,40h
0136  dec rdx
0139  jne near 40h
013f  vzeroupper
0142  ret
