; 45 instructions, 352 bytes, 0 spills, 0 of them in inner loops
0000  mov rax,[rdi+20h]
0004  mov ecx,0
0009  mov rdx,[rdi+38h]
000d  nop word [rax+rax]
0016  nop word [rax+rax]
001f  nop word [rax+rax]
0028  nop word [rax+rax]
0031  nop word [rax+rax]
003a  nop word [rax+rax]
0040  mov rsi,[rdi+50h]
0044  mov r8,[rdi+58h]
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
008d  mov r9,[rdi+30h]
0091  mov r10,[rdi+48h]
0095  nop word [rax+rax]
009e  nop word [rax+rax]
00a7  nop word [rax+rax]
00b0  nop word [rax+rax]
00b9  nop dword [rax]
00c0  prefetcht0 [r8+r10]
00c5  vmovups zmm8,[r8]
00cb  vsubps zmm8,zmm8,zmm1
00d1  vfmadd231ps zmm0,zmm8,zmm8
00d7  prefetcht0 [r8+r10+40h]
00dd  vmovups zmm8,[r8+40h]
00e4  vsubps zmm8,zmm8,zmm3
00ea  vfmadd231ps zmm2,zmm8,zmm8
00f0  prefetcht0 [r8+r10+80h]
00f9  vmovups zmm8,[r8+80h]
0100  vsubps zmm8,zmm8,zmm5
0106  vfmadd231ps zmm4,zmm8,zmm8
010c  prefetcht0 [r8+r10+0C0h]
0115  vmovups zmm8,[r8+0C0h]
011c  vsubps zmm8,zmm8,zmm7
0122  vfmadd231ps zmm6,zmm8,zmm8
0128  add r8,rax
012b  dec r9
012e  jne short 0C0h
0130  vmovups [rsi+rcx*4],zmm0
0137  vmovups [rsi+rcx*4+40h],zmm2
013f  vmovups [rsi+rcx*4+80h],zmm4
0147  vmovups [rsi+rcx*4+0C0h],zmm6
014f  add rcx,40h
0153  dec rdx
0156  jne near 40h
015c  vzeroupper
015f  ret
