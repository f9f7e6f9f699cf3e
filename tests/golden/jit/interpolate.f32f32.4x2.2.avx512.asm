; 86 instructions, 483 bytes, 0 spills, 0 of them in inner loops
0000  push rbx
0001  push rbp
0002  push r12
0004  push r13
0006  push r14
0008  push r15
000a  mov rax,[rdi+10h]
000e  mov rcx,[rdi+18h]
0012  mov rdx,[rdi+20h]
0016  nop word [rax+rax]
001f  nop word [rax+rax]
0028  nop word [rax+rax]
0031  nop word [rax+rax]
003a  nop word [rax+rax]
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
006b  mov r10,[rax+20h]
006f  mov r11,[rdi]
0072  add r10,r11
0075  vpbroadcastd zmm2,[rax+28h]
007c  mov r11,[rax+30h]
0080  mov rbx,[rdi]
0083  add r11,rbx
0086  vpbroadcastd zmm3,[rax+38h]
008d  mov rbx,[rdi+28h]
0091  mov rbp,[rdi+30h]
0095  mov r12,[rdi+38h]
0099  mov r13,[rdi+40h]
009d  mov r14,[rdi+48h]
00a1  nop word [rax+rax]
00aa  nop word [rax+rax]
00b3  nop word [rax+rax]
00bc  nop dword [rax]
00c0  mov r15,[rbp]
00c4  vmovups zmm4,[rsi+r15]
00cb  vmulps zmm4,zmm4,zmm0
00d1  vmovups zmm5,[r9+r15]
00d8  vfmadd231ps zmm4,zmm5,zmm1
00de  vmovups zmm5,[r10+r15]
00e5  vfmadd231ps zmm4,zmm5,zmm2
00eb  vmovups zmm5,[r11+r15]
00f2  vfmadd231ps zmm4,zmm5,zmm3
00f8  mov r15,[rbp+8]
00fc  vmovups zmm5,[rsi+r15]
0103  vmulps zmm5,zmm5,zmm0
0109  vmovups zmm6,[r9+r15]
0110  vfmadd231ps zmm5,zmm6,zmm1
0116  vmovups zmm6,[r10+r15]
011d  vfmadd231ps zmm5,zmm6,zmm2
0123  vmovups zmm6,[r11+r15]
012a  vfmadd231ps zmm5,zmm6,zmm3
0130  vpxord zmm6,zmm6,zmm6
0136  vpmovzxbd zmm7,[r12]
013d  vpermd zmm7,zmm7,zmm4
0143  kmovw k1,[r12+22h]
014a  vpmovzxbd zmm8,[r12+12h]
0155  vpermd zmm8,zmm8,zmm5
015b  vblendmps zmm7{k1},zmm7,zmm8
0161  vfmadd231ps zmm6,zmm7,[r13]
0168  vpmovzxbd zmm7,[r12+24h]
0173  vpermd zmm4,zmm7,zmm4
0179  kmovw k1,[r12+46h]
0180  vpmovzxbd zmm7,[r12+36h]
018b  vpermd zmm5,zmm7,zmm5
0191  vblendmps zmm4{k1},zmm4,zmm5
0197  vfmadd231ps zmm6,zmm4,[r13+40h]
019e  mov r15,[rbx]
01a1  vmovups [r8+r15],zmm6
01a8  add rbx,8
01ac  add rbp,10h
01b0  add r12,48h
01b4  add r13,80h
01bb  dec r14
01be  jne near 0C0h
01c4  add rcx,8
01c8  add rax,40h
01cc  dec rdx
01cf  jne near 40h
01d5  pop r15
01d7  pop r14
01d9  pop r13
01db  pop r12
01dd  pop rbp
01de  pop rbx
01df  vzeroupper
01e2  ret
