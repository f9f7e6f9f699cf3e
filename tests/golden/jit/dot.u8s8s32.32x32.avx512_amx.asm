; 52 instructions, 303 bytes, 0 spills, 0 of them in inner loops
0000  push rbx
0001  push rbp
0002  push r12
0004  ldtilecfg [rel 140h]
000d  mov rax,[rdi+18h]
0011  mov rcx,[rdi+20h]
0015  mov rdx,rcx
0018  shl rdx,4
001c  add rdx,rax
001f  tilezero tmm0
0024  tilezero tmm1
0029  tilezero tmm2
002e  tilezero tmm3
0033  mov rsi,[rdi+28h]
0037  mov r8d,80h
003d  mov r9,[rdi]
0040  mov r10,[rdi+8]
0044  test r10,r10
0047  jle near 10Bh
004d  nop word [rax+rax]
0056  nop word [rax+rax]
005f  nop word [rax+rax]
0068  nop word [rax+rax]
0071  nop word [rax+rax]
007a  nop word [rax+rax]
0080  mov r11,[r9]
0083  mov rbx,[r9+8]
0087  add r9,10h
008b  mov rbp,rsi
008e  shl rbp,4
0092  add rbp,r11
0095  mov r12,[rdi+10h]
0099  test r12,r12
009c  jle near 102h
00a2  nop word [rax+rax]
00ab  nop word [rax+rax]
00b4  nop word [rax+rax]
00bd  nop dword [rax]
00c0  tileloadd tmm6,[rbx+r8]
00c6  tileloadd tmm7,[rbx+r8+40h]
00cd  tileloadd tmm4,[r11+rsi]
00d3  tdpbusd tmm0,tmm4,tmm6
00d8  tdpbusd tmm1,tmm4,tmm7
00dd  add r11,40h
00e1  tileloadd tmm5,[rbp+rsi]
00e8  tdpbusd tmm2,tmm5,tmm6
00ed  tdpbusd tmm3,tmm5,tmm7
00f2  add rbp,40h
00f6  add rbx,800h
00fd  dec r12
0100  jne short 0C0h
0102  dec r10
0105  jne near 80h
010b  tilestored [rax+rcx],tmm0
0111  tilestored [rax+rcx+40h],tmm1
0118  tilestored [rdx+rcx],tmm2
011e  tilestored [rdx+rcx+40h],tmm3
0125  tilerelease
012a  pop r12
012c  pop rbp
012d  pop rbx
012e  ret
