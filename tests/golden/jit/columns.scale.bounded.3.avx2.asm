; 51 instructions, 325 bytes, 0 spills, 0 of them in inner loops
0000  mov rax,[rdi+18h]
0004  mov ecx,0
0009  mov rdx,[rdi+28h]
000d  nop word [rax+rax]
0016  nop word [rax+rax]
001f  nop word [rax+rax]
0028  nop word [rax+rax]
0031  nop word [rax+rax]
003a  nop word [rax+rax]
0040  mov rsi,[rdi+40h]
0044  mov r8,[rdi+48h]
0048  mov r9,[rdi+50h]
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
0094  mov r9,[rdi+20h]
0098  mov r10,[rdi+38h]
009c  nop word [rax+rax]
00a5  nop word [rax+rax]
00ae  nop word [rax+rax]
00b7  nop word [rax+rax]
00c0  prefetcht0 [rsi+r10]
00c5  vmovups ymm9,[rsi]
00c9  vsubps ymm9,ymm9,ymm0
00cd  vfmadd213ps ymm9,ymm1,ymm2
00d2  vpxor ymm10,ymm10,ymm10
00d7  vmaxps ymm9,ymm10,ymm9
00dc  vmovups [r8],ymm9
00e1  prefetcht0 [rsi+r10+20h]
00e7  vmovups ymm9,[rsi+20h]
00ec  vsubps ymm9,ymm9,ymm3
00f0  vfmadd213ps ymm9,ymm4,ymm5
00f5  vpxor ymm10,ymm10,ymm10
00fa  vmaxps ymm9,ymm10,ymm9
00ff  vmovups [r8+20h],ymm9
0105  prefetcht0 [rsi+r10+40h]
010b  vmovups ymm9,[rsi+40h]
0110  vsubps ymm9,ymm9,ymm6
0114  vfmadd213ps ymm9,ymm7,ymm8
0119  vpxor ymm10,ymm10,ymm10
011e  vmaxps ymm9,ymm10,ymm9
0123  vmovups [r8+40h],ymm9
0129  add rsi,rax
012c  add r8,rax
012f  dec r9
0132  jne short 0C0h
0134  add rcx,18h
0138  dec rdx
013b  jne near 40h
0141  vzeroupper
0144  ret
