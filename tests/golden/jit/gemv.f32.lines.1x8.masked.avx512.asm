; 85 instructions, 483 bytes, 0 spills, 0 of them in inner loops
0000  push rbx
0001  mov rax,[rdi+48h]
0005  vpbroadcastd zmm0,eax
000b  vpcmpnled k1,zmm0,[rel 200h]
0016  mov rax,[rdi]
0019  mov rcx,[rdi+8]
001d  mov rdx,[rdi+20h]
0021  lea rsi,[rdx+rdx*2]
0025  mov r8,rcx
0028  lea r9,[rcx+rdx*4]
002c  add r9,rdx
002f  mov r10,[rdi+30h]
0033  test r10,r10
0036  jle near 1DEh
003c  nop dword [rax]
0040  mov r11,[rdi+10h]
0044  mov r8,rcx
0047  lea rbx,[rcx+rdx*4]
004b  mov r9,rbx
004e  add r9,rdx
0051  vpbroadcastd zmm0,[rax]
0057  vpbroadcastd zmm1,[rax+4]
005e  vpbroadcastd zmm2,[rax+8]
0065  vpbroadcastd zmm3,[rax+0Ch]
006c  vpbroadcastd zmm4,[rax+10h]
0073  vpbroadcastd zmm5,[rax+14h]
007a  vpbroadcastd zmm6,[rax+18h]
0081  vpbroadcastd zmm7,[rax+1Ch]
0088  mov rbx,[rdi+38h]
008c  test rbx,rbx
008f  jle near 147h
0095  nop word [rax+rax]
009e  nop word [rax+rax]
00a7  nop word [rax+rax]
00b0  nop word [rax+rax]
00b9  nop dword [rax]
00c0  vmovups zmm8,[r8]
00c6  vmovups zmm9,[r8+rdx]
00cd  vmovups zmm10,[r8+rdx*2]
00d4  vmovups zmm11,[r8+rsi]
00db  vmovups zmm12,[r8+rdx*4]
00e2  vmovups zmm13,[r9]
00e8  vmovups zmm14,[r9+rdx]
00ef  vmovups zmm15,[r9+rdx*2]
00f6  vmovups zmm16,[r11]
00fc  vfmadd231ps zmm16,zmm8,zmm0
0102  vfmadd231ps zmm16,zmm9,zmm1
0108  vfmadd231ps zmm16,zmm10,zmm2
010e  vfmadd231ps zmm16,zmm11,zmm3
0114  vfmadd231ps zmm16,zmm12,zmm4
011a  vfmadd231ps zmm16,zmm13,zmm5
0120  vfmadd231ps zmm16,zmm14,zmm6
0126  vfmadd231ps zmm16,zmm15,zmm7
012c  vmovups [r11],zmm16
0132  add r11,40h
0136  add r8,40h
013a  add r9,40h
013e  dec rbx
0141  jne near 0C0h
0147  vmovups zmm8{k1}{z},[r8]
014d  vmovups zmm9{k1}{z},[r8+rdx]
0154  vmovups zmm10{k1}{z},[r8+rdx*2]
015b  vmovups zmm11{k1}{z},[r8+rsi]
0162  vmovups zmm12{k1}{z},[r8+rdx*4]
0169  vmovups zmm13{k1}{z},[r9]
016f  vmovups zmm14{k1}{z},[r9+rdx]
0176  vmovups zmm15{k1}{z},[r9+rdx*2]
017d  vmovups zmm16,[r11]
0183  vfmadd231ps zmm16,zmm8,zmm0
0189  vfmadd231ps zmm16,zmm9,zmm1
018f  vfmadd231ps zmm16,zmm10,zmm2
0195  vfmadd231ps zmm16,zmm11,zmm3
019b  vfmadd231ps zmm16,zmm12,zmm4
01a1  vfmadd231ps zmm16,zmm13,zmm5
01a7  vfmadd231ps zmm16,zmm14,zmm6
01ad  vfmadd231ps zmm16,zmm15,zmm7
01b3  vmovups [r11],zmm16
01b9  add rcx,rdx
01bc  add rcx,rdx
01bf  add rcx,rdx
01c2  add rcx,rdx
01c5  add rcx,rdx
01c8  add rcx,rdx
01cb  add rcx,rdx
01ce  add rcx,rdx
01d1  add rax,20h
01d5  dec r10
01d8  jne near 40h
01de  pop rbx
01df  vzeroupper
01e2  ret
