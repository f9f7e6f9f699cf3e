; 70 instructions, 375 bytes, 0 spills, 0 of them in inner loops
0000  push rbx
0001  push rbp
0002  mov rax,[rdi+20h]
0006  mov ecx,0
000b  mov rdx,[rdi+38h]
000f  nop word [rax+rax]
0018  nop word [rax+rax]
0021  nop word [rax+rax]
002a  nop word [rax+rax]
0033  nop word [rax+rax]
003c  nop dword [rax]
0040  mov rsi,[rdi+50h]
0044  mov r8,[rdi+58h]
0048  mov r9,[rdi+60h]
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
00a6  mov r11,[rdi+30h]
00aa  mov rbx,[rdi+48h]
00ae  nop word [rax+rax]
00b7  nop word [rax+rax]
00c0  prefetcht0 [rsi+rbx]
00c4  vmovups ymm9,[rsi]
00c8  vsubps ymm9,ymm9,ymm0
00cc  vfmadd213ps ymm9,ymm1,ymm2
00d1  vpxor ymm10,ymm10,ymm10
00d6  vmaxps ymm9,ymm10,ymm9
00db  vcmpneqps ymm10,ymm9,ymm10
00e1  vmovmskps ebp,ymm10
00e6  mov [r9],bpl
00e9  vmovups [r8],ymm9
00ee  prefetcht0 [rsi+rbx+20h]
00f3  vmovups ymm9,[rsi+20h]
00f8  vsubps ymm9,ymm9,ymm3
00fc  vfmadd213ps ymm9,ymm4,ymm5
0101  vpxor ymm10,ymm10,ymm10
0106  vmaxps ymm9,ymm10,ymm9
010b  vcmpneqps ymm10,ymm9,ymm10
0111  vmovmskps ebp,ymm10
0116  mov [r9+1],bpl
011a  vmovups [r8+20h],ymm9
0120  prefetcht0 [rsi+rbx+40h]
0125  vmovups ymm9,[rsi+40h]
012a  vsubps ymm9,ymm9,ymm6
012e  vfmadd213ps ymm9,ymm7,ymm8
0133  vpxor ymm10,ymm10,ymm10
0138  vmaxps ymm9,ymm10,ymm9
013d  vcmpneqps ymm10,ymm9,ymm10
0143  vmovmskps ebp,ymm10
0148  mov [r9+2],bpl
014c  vmovups [r8+40h],ymm9
0152  add rsi,rax
0155  add r8,rax
0158  add r9,r10
015b  dec r11
015e  jne near 0C0h
0164  add rcx,18h
0168  dec rdx
016b  jne near 40h
0171  pop rbp
0172  pop rbx
0173  vzeroupper
0176  ret
