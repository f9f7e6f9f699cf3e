; 53 instructions, 433 bytes, 0 spills, 0 of them in inner loops
0000  push rbx
0001  mov rax,[rdi+20h]
0005  mov ecx,0
000a  mov rdx,[rdi+50h]
000e  nop word [rax+rax]
0017  nop word [rax+rax]
0020  nop word [rax+rax]
0029  nop word [rax+rax]
0032  nop word [rax+rax]
003b  nop dword [rax+rax]
0040  mov rsi,[rdi+68h]
0044  mov r8,[rdi+70h]
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
008d  mov r9,[rdi+38h]
0091  mov r10,[rdi+60h]
0095  nop word [rax+rax]
009e  nop word [rax+rax]
00a7  nop word [rax+rax]
00b0  nop word [rax+rax]
00b9  nop dword [rax]
00c0  mov r11,[rdi+30h]
00c4  mov rbx,r8
00c7  nop word [rax+rax]
00d0  nop word [rax+rax]
00d9  nop word [rax+rax]
00e2  nop word [rax+rax]
00eb  nop word [rax+rax]
00f4  nop word [rax+rax]
00fd  nop dword [rax]
0100  prefetcht0 [rbx+r10]
0105  vmovups zmm8,[rbx]
010b  vsubps zmm8,zmm8,zmm1
0111  vfmadd231ps zmm0,zmm8,zmm8
0117  prefetcht0 [rbx+r10+40h]
011d  vmovups zmm8,[rbx+40h]
0124  vsubps zmm8,zmm8,zmm3
012a  vfmadd231ps zmm2,zmm8,zmm8
0130  prefetcht0 [rbx+r10+80h]
0139  vmovups zmm8,[rbx+80h]
0140  vsubps zmm8,zmm8,zmm5
0146  vfmadd231ps zmm4,zmm8,zmm8
014c  prefetcht0 [rbx+r10+0C0h]
0155  vmovups zmm8,[rbx+0C0h]
015c  vsubps zmm8,zmm8,zmm7
0162  vfmadd231ps zmm6,zmm8,zmm8
0168  add rbx,rax
016b  dec r11
016e  jne short 100h
0170  mov r11,[rdi+40h]
0174  add r8,r11
0177  dec r9
017a  jne near 0C0h
0180  vmovups [rsi+rcx*4],zmm0
0187  vmovups [rsi+rcx*4+40h],zmm2
018f  vmovups [rsi+rcx*4+80h],zmm4
0197  vmovups [rsi+rcx*4+0C0h],zmm6
019f  add rcx,40h
01a3  dec rdx
01a6  jne near 40h
01ac  pop rbx
01ad  vzeroupper
01b0  ret
