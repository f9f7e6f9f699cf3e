; 81 instructions, 451 bytes, 0 spills, 0 of them in inner loops
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
0158  mov rbp,[rdi+50h]
015c  mov r12,rbx
015f  vmovups [r12],ymm0
0165  add r12,rbp
0168  add r11,8
016c  mov rbp,[rdi+60h]
0170  add rbx,rbp
0173  mov rbp,[rdi+50h]
0177  mov r12,rbx
017a  vmovups [r12],ymm1
0180  add r12,rbp
0183  add r11,8
0187  mov r11,[rdi+60h]
018b  add rbx,r11
018e  mov r11,[rdi+50h]
0192  add r9,r11
0195  dec r10
0198  jne near 80h
019e  mov r8,[rdi+40h]
01a2  add rax,r8
01a5  mov r8,[rdi+58h]
01a9  add rcx,r8
01ac  add rdx,10h
01b0  dec rsi
01b3  jne near 40h
01b9  pop r13
01bb  pop r12
01bd  pop rbp
01be  pop rbx
01bf  vzeroupper
01c2  ret
