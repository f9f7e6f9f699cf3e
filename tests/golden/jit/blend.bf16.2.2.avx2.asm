; 72 instructions, 416 bytes, 0 spills, 0 of them in inner loops
0000  push rbx
0001  push rbp
0002  push r12
0004  push r13
0006  mov rax,[rdi+38h]
000a  mov rcx,[rdi+48h]
000e  mov edx,0
0013  mov rsi,[rdi+28h]
0017  nop word [rax+rax]
0020  nop word [rax+rax]
0029  nop word [rax+rax]
0032  nop word [rax+rax]
003b  nop dword [rax+rax]
0040  mov r8,[rdi+10h]
0044  mov r9,rcx
0047  mov r10,[rdi+20h]
004b  nop word [rax+rax]
0054  nop word [rax+rax]
005d  nop word [rax+rax]
0066  nop word [rax+rax]
006f  nop word [rax+rax]
0078  nop dword [rax+rax]
0080  vpxor ymm0,ymm0,ymm0
0084  vpxor ymm1,ymm1,ymm1
0088  mov r11,[rdi]
008b  mov rbx,[rdi+8]
008f  test rbx,rbx
0092  jle near 14Eh
0098  nop word [rax+rax]
00a1  nop word [rax+rax]
00aa  nop word [rax+rax]
00b3  nop word [rax+rax]
00bc  nop dword [rax]
00c0  mov rbp,[r11]
00c3  mov r12,r8
00c6  add rbp,rax
00c9  mov r13,[r12]
00cd  add r13,rbp
00d0  vpbroadcastd ymm2,[r11+8]
00d6  vpbroadcastd ymm3,[r12+8]
00dd  vmulps ymm2,ymm2,ymm3
00e1  vpmovzxwd ymm3,[r13]
00e7  vpslld ymm3,ymm3,10h
00ec  vfmadd231ps ymm0,ymm3,ymm2
00f1  vpmovzxwd ymm3,[r13+10h]
00f7  vpslld ymm3,ymm3,10h
00fc  vfmadd231ps ymm1,ymm3,ymm2
0101  add r12,10h
0105  mov r13,[r12]
0109  add r13,rbp
010c  vpbroadcastd ymm2,[r11+8]
0112  vpbroadcastd ymm3,[r12+8]
0119  vmulps ymm2,ymm2,ymm3
011d  vpmovzxwd ymm3,[r13]
0123  vpslld ymm3,ymm3,10h
0128  vfmadd231ps ymm0,ymm3,ymm2
012d  vpmovzxwd ymm3,[r13+10h]
0133  vpslld ymm3,ymm3,10h
0138  vfmadd231ps ymm1,ymm3,ymm2
013d  add r12,10h
0141  add r11,10h
0145  dec rbx
0148  jne near 0C0h
014e  add r8,20h
0152  mov r11,rdx
0155  mov rbx,r9
0158  mov rbp,[rdi+60h]
015c  vmovups [rbx],ymm0
0160  add r11,8
0164  add rbx,rbp
0167  vmovups [rbx],ymm1
016b  mov r11,[rdi+50h]
016f  add r9,r11
0172  dec r10
0175  jne near 80h
017b  mov r8,[rdi+40h]
017f  add rax,r8
0182  mov r8,[rdi+58h]
0186  add rcx,r8
0189  add rdx,10h
018d  dec rsi
0190  jne near 40h
0196  pop r13
0198  pop r12
019a  pop rbp
019b  pop rbx
019c  vzeroupper
019f  ret
