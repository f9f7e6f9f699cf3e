; 64 instructions, 444 bytes, 0 spills, 0 of them in inner loops
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
004c  mov r10,[rdi+50h]
0050  vmovups zmm0,[rsi+rcx*4]
0057  vmovups zmm1,[r8+rcx*4]
005e  vmovups zmm2,[r9+rcx*4]
0065  vmovups zmm3,[r10+rcx*4]
006c  vmovups zmm4,[rsi+rcx*4+40h]
0074  vmovups zmm5,[r8+rcx*4+40h]
007c  vmovups zmm6,[r9+rcx*4+40h]
0084  vmovups zmm7,[r10+rcx*4+40h]
008c  vmovups zmm8,[rsi+rcx*4+80h]
0094  vmovups zmm9,[r8+rcx*4+80h]
009c  vmovups zmm10,[r9+rcx*4+80h]
00a4  vmovups zmm11,[r10+rcx*4+80h]
00ac  vmovups zmm12,[rsi+rcx*4+0C0h]
00b4  vmovups zmm13,[r8+rcx*4+0C0h]
00bc  vmovups zmm14,[r9+rcx*4+0C0h]
00c4  vmovups zmm15,[r10+rcx*4+0C0h]
00cc  mov rsi,[rdi]
00cf  lea rsi,[rsi+rcx*4]
00d3  mov r8,[rdi+8]
00d7  lea r8,[r8+rcx*4]
00db  mov r9,[rdi+10h]
00df  lea r9,[r9+rcx*4]
00e3  mov r10,[rdi+20h]
00e7  nop word [rax+rax]
00f0  nop word [rax+rax]
00f9  nop dword [rax]
0100  vmovups zmm16,[rsi]
0106  vsubps zmm16,zmm16,zmm0
010c  vmovups zmm17,[r8]
0112  vfmadd213ps zmm16,zmm2,zmm3
0118  vfmadd231ps zmm16,zmm17,zmm1
011e  vmovups [r9],zmm16
0124  vmovups zmm16,[rsi+40h]
012b  vsubps zmm16,zmm16,zmm4
0131  vmovups zmm17,[r8+40h]
0138  vfmadd213ps zmm16,zmm6,zmm7
013e  vfmadd231ps zmm16,zmm17,zmm5
0144  vmovups [r9+40h],zmm16
014b  vmovups zmm16,[rsi+80h]
0152  vsubps zmm16,zmm16,zmm8
0158  vmovups zmm17,[r8+80h]
015f  vfmadd213ps zmm16,zmm10,zmm11
0165  vfmadd231ps zmm16,zmm17,zmm9
016b  vmovups [r9+80h],zmm16
0172  vmovups zmm16,[rsi+0C0h]
0179  vsubps zmm16,zmm16,zmm12
017f  vmovups zmm17,[r8+0C0h]
0186  vfmadd213ps zmm16,zmm14,zmm15
018c  vfmadd231ps zmm16,zmm17,zmm13
0192  vmovups [r9+0C0h],zmm16
0199  add rsi,rax
019c  add r8,rax
019f  add r9,rax
01a2  dec r10
01a5  jne near 100h
01ab  add rcx,40h
01af  dec rdx
01b2  jne near 40h
01b8  vzeroupper
01bb  ret
