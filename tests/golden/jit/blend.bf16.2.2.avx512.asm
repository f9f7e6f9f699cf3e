; 70 instructions, 432 bytes, 0 spills, 0 of them in inner loops
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
0080  vpxord zmm0,zmm0,zmm0
0086  vpxord zmm1,zmm1,zmm1
008c  mov r11,[rdi]
008f  mov rbx,[rdi+8]
0093  test rbx,rbx
0096  jle near 15Ah
009c  nop word [rax+rax]
00a5  nop word [rax+rax]
00ae  nop word [rax+rax]
00b7  nop word [rax+rax]
00c0  mov rbp,[r11]
00c3  mov r12,r8
00c6  add rbp,rax
00c9  mov r13,[r12]
00cd  add r13,rbp
00d0  vpbroadcastd zmm2,[r11+8]
00d7  vmulps zmm2,zmm2,[r12+8]{1to16}
00df  vpmovzxwd zmm3,[r13]
00e6  vpslld zmm3,zmm3,10h
00ed  vfmadd231ps zmm0,zmm3,zmm2
00f3  vpmovzxwd zmm3,[r13+20h]
00fa  vpslld zmm3,zmm3,10h
0101  vfmadd231ps zmm1,zmm3,zmm2
0107  add r12,10h
010b  mov r13,[r12]
010f  add r13,rbp
0112  vpbroadcastd zmm2,[r11+8]
0119  vmulps zmm2,zmm2,[r12+8]{1to16}
0121  vpmovzxwd zmm3,[r13]
0128  vpslld zmm3,zmm3,10h
012f  vfmadd231ps zmm0,zmm3,zmm2
0135  vpmovzxwd zmm3,[r13+20h]
013c  vpslld zmm3,zmm3,10h
0143  vfmadd231ps zmm1,zmm3,zmm2
0149  add r12,10h
014d  add r11,10h
0151  dec rbx
0154  jne near 0C0h
015a  add r8,20h
015e  mov r11,rdx
0161  mov rbx,r9
0164  mov rbp,[rdi+60h]
0168  vmovups [rbx],zmm0
016e  add r11,10h
0172  add rbx,rbp
0175  vmovups [rbx],zmm1
017b  mov r11,[rdi+50h]
017f  add r9,r11
0182  dec r10
0185  jne near 80h
018b  mov r8,[rdi+40h]
018f  add rax,r8
0192  mov r8,[rdi+58h]
0196  add rcx,r8
0199  add rdx,20h
019d  dec rsi
01a0  jne near 40h
01a6  pop r13
01a8  pop r12
01aa  pop rbp
01ab  pop rbx
01ac  vzeroupper
01af  ret
