; 47 instructions, 308 bytes, 0 spills, 0 of them in inner loops
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
0048  mov r9,[rdi+48h]
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
0098  nop word [rax+rax]
00a1  nop word [rax+rax]
00aa  nop word [rax+rax]
00b3  nop word [rax+rax]
00bc  nop dword [rax]
00c0  vmovups ymm9,[rsi]
00c4  vsubps ymm9,ymm9,ymm0
00c8  vfmadd213ps ymm9,ymm1,ymm2
00cd  vpxor ymm10,ymm10,ymm10
00d2  vmaxps ymm9,ymm10,ymm9
00d7  vmovups [r8],ymm9
00dc  vmovups ymm9,[rsi+20h]
00e1  vsubps ymm9,ymm9,ymm3
00e5  vfmadd213ps ymm9,ymm4,ymm5
00ea  vpxor ymm10,ymm10,ymm10
00ef  vmaxps ymm9,ymm10,ymm9
00f4  vmovups [r8+20h],ymm9
00fa  vmovups ymm9,[rsi+40h]
00ff  vsubps ymm9,ymm9,ymm6
0103  vfmadd213ps ymm9,ymm7,ymm8
0108  vpxor ymm10,ymm10,ymm10
010d  vmaxps ymm9,ymm10,ymm9
0112  vmovups [r8+40h],ymm9
0118  add rsi,rax
011b  add r8,rax
011e  dec r9
0121  jne short 0C0h
0123  add rcx,18h
0127  dec rdx
012a  jne near 40h
0130  vzeroupper
0133  ret
