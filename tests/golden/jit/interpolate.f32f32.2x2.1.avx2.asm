; 53 instructions, 249 bytes, 0 spills, 0 of them in inner loops
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
0053  vpbroadcastd ymm0,[rax+8]
0059  mov r9,[rax+10h]
005d  mov r10,[rdi]
0060  add r9,r10
0063  vpbroadcastd ymm1,[rax+18h]
0069  mov r10,[rdi+28h]
006d  mov r11,[rdi+30h]
0071  mov rbx,[rdi+38h]
0075  mov rbp,[rdi+40h]
0079  mov r12,[rdi+48h]
007d  nop dword [rax]
0080  mov r13,[r11]
0083  vmovups ymm2,[rsi+r13]
0089  vmulps ymm2,ymm2,ymm0
008d  vmovups ymm3,[r9+r13]
0093  vfmadd231ps ymm2,ymm3,ymm1
0098  vpxor ymm3,ymm3,ymm3
009c  vpmovzxbd ymm4,[rbx]
00a1  vpermd ymm4,ymm4,ymm2
00a6  vfmadd231ps ymm3,ymm4,[rbp]
00ac  vpmovzxbd ymm4,[rbx+12h]
00b2  vpermd ymm2,ymm4,ymm2
00b7  vfmadd231ps ymm3,ymm2,[rbp+40h]
00bd  mov r13,[r10]
00c0  vmovups [r8+r13],ymm3
00c6  add r10,8
00ca  add r11,8
00ce  add rbx,24h
00d2  add rbp,80h
00d9  dec r12
00dc  jne short 80h
00de  add rcx,8
00e2  add rax,20h
00e6  dec rdx
00e9  jne near 40h
00ef  pop r13
00f1  pop r12
00f3  pop rbp
00f4  pop rbx
00f5  vzeroupper
00f8  ret
