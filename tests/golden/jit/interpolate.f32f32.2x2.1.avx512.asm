; 53 instructions, 266 bytes, 0 spills, 0 of them in inner loops
0000  push rbx
0001  push rbp
0002  push r12
0004  push r13
0006  mov rax,[rdi+10h]
000a  mov rcx,[rdi+18h]
000e  mov rdx,[rdi+20h]
0012  nop word [rax+rax]
001b  nop word [rax+rax]
0024  nop word [rax+rax]
002d  nop word [rax+rax]
0036  nop word [rax+rax]
003f  nop
0040  mov rsi,[rcx]
0043  mov r8,[rdi+8]
0047  add r8,rsi
004a  mov rsi,[rax]
004d  mov r9,[rdi]
0050  add rsi,r9
0053  vpbroadcastd zmm0,[rax+8]
005a  mov r9,[rax+10h]
005e  mov r10,[rdi]
0061  add r9,r10
0064  vpbroadcastd zmm1,[rax+18h]
006b  mov r10,[rdi+28h]
006f  mov r11,[rdi+30h]
0073  mov rbx,[rdi+38h]
0077  mov rbp,[rdi+40h]
007b  mov r12,[rdi+48h]
007f  nop
0080  mov r13,[r11]
0083  vmovups zmm2,[rsi+r13]
008a  vmulps zmm2,zmm2,zmm0
0090  vmovups zmm3,[r9+r13]
0097  vfmadd231ps zmm2,zmm3,zmm1
009d  vpxord zmm3,zmm3,zmm3
00a3  vpmovzxbd zmm4,[rbx]
00a9  vpermd zmm4,zmm4,zmm2
00af  vfmadd231ps zmm3,zmm4,[rbp]
00b6  vpmovzxbd zmm4,[rbx+12h]
00c0  vpermd zmm2,zmm4,zmm2
00c6  vfmadd231ps zmm3,zmm2,[rbp+40h]
00cd  mov r13,[r10]
00d0  vmovups [r8+r13],zmm3
00d7  add r10,8
00db  add r11,8
00df  add rbx,24h
00e3  add rbp,80h
00ea  dec r12
00ed  jne short 80h
00ef  add rcx,8
00f3  add rax,20h
00f7  dec rdx
00fa  jne near 40h
0100  pop r13
0102  pop r12
0104  pop rbp
0105  pop rbx
0106  vzeroupper
0109  ret
