; 89 instructions, 483 bytes, 0 spills, 0 of them in inner loops
0000  push rbx
0001  push rbp
0002  push r12
0004  push r13
0006  push r14
0008  push r15
000a  mov rax,[rdi+20h]
000e  mov ecx,0
0013  mov rdx,[rdi+50h]
0017  nop word [rax+rax]
0020  nop word [rax+rax]
0029  nop word [rax+rax]
0032  nop word [rax+rax]
003b  nop dword [rax+rax]
0040  mov rsi,[rdi+68h]
0044  mov r8,[rdi+70h]
0048  mov r9,[rdi+78h]
004c  vmovups ymm0,[rsi+rcx*4]
0051  vmovups ymm1,[r8+rcx*4]
0057  vmovups ymm2,[r9+rcx*4]
005d  vmovups ymm3,[rsi+rcx*4+20h]
0063  vmovups ymm4,[r8+rcx*4+20h]
006a  vmovups ymm5,[r9+rcx*4+20h]
0071  vmovups ymm6,[rsi+rcx*4+40h]
0077  vmovups ymm7,[r8+rcx*4+40h]
007e  vmovups ymm8,[r9+rcx*4+40h]
0085  mov rsi,[rdi]
0088  lea rsi,[rsi+rcx*4]
008c  mov r8,[rdi+10h]
0090  lea r8,[r8+rcx*4]
0094  mov r9,[rdi+18h]
0098  mov r10,rcx
009b  shr r10,3
009f  add r9,r10
00a2  mov r10,[rdi+28h]
00a6  mov r11,[rdi+38h]
00aa  mov rbx,[rdi+60h]
00ae  nop word [rax+rax]
00b7  nop word [rax+rax]
00c0  mov rbp,[rdi+30h]
00c4  mov r12,rsi
00c7  mov r13,r8
00ca  mov r14,r9
00cd  nop word [rax+rax]
00d6  nop word [rax+rax]
00df  nop word [rax+rax]
00e8  nop word [rax+rax]
00f1  nop word [rax+rax]
00fa  nop word [rax+rax]
0100  prefetcht0 [r12+rbx]
0105  vmovups ymm9,[r12]
010b  vsubps ymm9,ymm9,ymm0
010f  vfmadd213ps ymm9,ymm1,ymm2
0114  vpxor ymm10,ymm10,ymm10
0119  vmaxps ymm9,ymm10,ymm9
011e  vcmpneqps ymm10,ymm9,ymm10
0124  vmovmskps r15d,ymm10
0129  mov [r14],r15b
012c  vmovups [r13],ymm9
0132  prefetcht0 [r12+rbx+20h]
0138  vmovups ymm9,[r12+20h]
013f  vsubps ymm9,ymm9,ymm3
0143  vfmadd213ps ymm9,ymm4,ymm5
0148  vpxor ymm10,ymm10,ymm10
014d  vmaxps ymm9,ymm10,ymm9
0152  vcmpneqps ymm10,ymm9,ymm10
0158  vmovmskps r15d,ymm10
015d  mov [r14+1],r15b
0161  vmovups [r13+20h],ymm9
0167  prefetcht0 [r12+rbx+40h]
016d  vmovups ymm9,[r12+40h]
0174  vsubps ymm9,ymm9,ymm6
0178  vfmadd213ps ymm9,ymm7,ymm8
017d  vpxor ymm10,ymm10,ymm10
0182  vmaxps ymm9,ymm10,ymm9
0187  vcmpneqps ymm10,ymm9,ymm10
018d  vmovmskps r15d,ymm10
0192  mov [r14+2],r15b
0196  vmovups [r13+40h],ymm9
019c  add r12,rax
019f  add r13,rax
01a2  add r14,r10
01a5  dec rbp
01a8  jne near 100h
01ae  mov rbp,[rdi+40h]
01b2  add rsi,rbp
01b5  add r8,rbp
01b8  mov rbp,[rdi+48h]
01bc  add r9,rbp
01bf  dec r11
01c2  jne near 0C0h
01c8  add rcx,18h
01cc  dec rdx
01cf  jne near 40h
01d5  pop r15
01d7  pop r14
01d9  pop r13
01db  pop r12
01dd  pop rbp
01de  pop rbx
01df  vzeroupper
01e2  ret
