; 96 instructions, 497 bytes, 0 spills, 0 of them in inner loops
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
0053  vpbroadcastd ymm0,[rax+8]
0059  mov r9,[rax+10h]
005d  mov r10,[rdi]
0060  add r9,r10
0063  vpbroadcastd ymm1,[rax+18h]
0069  mov r10,[rax+20h]
006d  mov r11,[rdi]
0070  add r10,r11
0073  vpbroadcastd ymm2,[rax+28h]
0079  mov r11,[rax+30h]
007d  mov rbx,[rdi]
0080  add r11,rbx
0083  vpbroadcastd ymm3,[rax+38h]
0089  mov rbx,[rdi+28h]
008d  mov rbp,[rdi+30h]
0091  mov r12,[rdi+38h]
0095  mov r13,[rdi+40h]
0099  mov r14,[rdi+48h]
009d  nop word [rax+rax]
00a6  nop word [rax+rax]
00af  nop word [rax+rax]
00b8  nop dword [rax+rax]
00c0  mov r15,[rbp]
00c4  vmovups ymm4,[rsi+r15]
00ca  vmulps ymm4,ymm4,ymm0
00ce  vmovups ymm5,[r9+r15]
00d4  vfmadd231ps ymm4,ymm5,ymm1
00d9  vmovups ymm5,[r10+r15]
00df  vfmadd231ps ymm4,ymm5,ymm2
00e4  vmovups ymm5,[r11+r15]
00ea  vfmadd231ps ymm4,ymm5,ymm3
00ef  mov r15,[rbp+8]
00f3  vmovups ymm5,[rsi+r15]
00f9  vmulps ymm5,ymm5,ymm0
00fd  vmovups ymm6,[r9+r15]
0103  vfmadd231ps ymm5,ymm6,ymm1
0108  vmovups ymm6,[r10+r15]
010e  vfmadd231ps ymm5,ymm6,ymm2
0113  vmovups ymm6,[r11+r15]
0119  vfmadd231ps ymm5,ymm6,ymm3
011e  vpxor ymm6,ymm6,ymm6
0122  vpmovzxbd ymm7,[r12]
0128  vpermd ymm7,ymm7,ymm4
012d  movzx r15d,byte [r12+22h]
0133  vmovd xmm8,r15d
0138  vpbroadcastd ymm8,xmm8
013d  vmovups ymm9,[rel 200h]
0145  vpand ymm8,ymm8,ymm9
014a  vpcmpeqd ymm8,ymm8,ymm9
014f  vpmovzxbd ymm9,[r12+12h]
0156  vpermd ymm9,ymm9,ymm5
015b  vblendvps ymm7,ymm7,ymm9,ymm8
0161  vfmadd231ps ymm6,ymm7,[r13]
0167  vpmovzxbd ymm7,[r12+24h]
016e  vpermd ymm4,ymm7,ymm4
0173  movzx r15d,byte [r12+46h]
0179  vmovd xmm7,r15d
017e  vpbroadcastd ymm7,xmm7
0183  vmovups ymm8,[rel 200h]
018b  vpand ymm7,ymm7,ymm8
0190  vpcmpeqd ymm7,ymm7,ymm8
0195  vpmovzxbd ymm8,[r12+36h]
019c  vpermd ymm5,ymm8,ymm5
01a1  vblendvps ymm4,ymm4,ymm5,ymm7
01a7  vfmadd231ps ymm6,ymm4,[r13+40h]
01ad  mov r15,[rbx]
01b0  vmovups [r8+r15],ymm6
01b6  add rbx,8
01ba  add rbp,10h
01be  add r12,48h
01c2  add r13,80h
01c9  dec r14
01cc  jne near 0C0h
01d2  add rcx,8
01d6  add rax,40h
01da  dec rdx
01dd  jne near 40h
01e3  pop r15
01e5  pop r14
01e7  pop r13
01e9  pop r12
01eb  pop rbp
01ec  pop rbx
01ed  vzeroupper
01f0  ret
