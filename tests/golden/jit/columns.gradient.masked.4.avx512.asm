; 95 instructions, 574 bytes, 0 spills, 0 of them in inner loops
0000  push rbx
0001  push rbp
0002  mov rax,[rdi+20h]
0006  mov ecx,0
000b  mov rdx,[rdi+38h]
000f  nop word [rax+rax]
0018  nop word [rax+rax]
0021  nop word [rax+rax]
002a  nop word [rax+rax]
0033  nop word [rax+rax]
003c  nop dword [rax]
0040  mov rsi,[rdi+50h]
0044  mov r8,[rdi+58h]
0048  mov r9,[rdi+60h]
004c  mov r10,[rdi+68h]
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
00e3  mov r10,[rdi+18h]
00e7  mov r11,rcx
00ea  shr r11,3
00ee  add r10,r11
00f1  mov r11,[rdi+28h]
00f5  mov rbx,[rdi+30h]
00f9  mov rbp,[rdi+48h]
00fd  nop dword [rax]
0100  prefetcht0 [rsi+rbp]
0104  prefetcht0 [r8+rbp]
0109  vmovups zmm16,[rsi]
010f  vsubps zmm16,zmm16,zmm0
0115  vmovups zmm17,[r8]
011b  kmovw k1,[r10]
0120  vpxord zmm18,zmm18,zmm18
0126  vblendmps zmm17{k1},zmm18,zmm17
012c  vfmadd213ps zmm16,zmm2,zmm3
0132  vfmadd231ps zmm16,zmm17,zmm1
0138  vmovups [r9],zmm16
013e  prefetcht0 [rsi+rbp+40h]
0143  prefetcht0 [r8+rbp+40h]
0149  vmovups zmm16,[rsi+40h]
0150  vsubps zmm16,zmm16,zmm4
0156  vmovups zmm17,[r8+40h]
015d  kmovw k1,[r10+2]
0163  vpxord zmm18,zmm18,zmm18
0169  vblendmps zmm17{k1},zmm18,zmm17
016f  vfmadd213ps zmm16,zmm6,zmm7
0175  vfmadd231ps zmm16,zmm17,zmm5
017b  vmovups [r9+40h],zmm16
0182  prefetcht0 [rsi+rbp+80h]
018a  prefetcht0 [r8+rbp+80h]
0193  vmovups zmm16,[rsi+80h]
019a  vsubps zmm16,zmm16,zmm8
01a0  vmovups zmm17,[r8+80h]
01a7  kmovw k1,[r10+4]
01ad  vpxord zmm18,zmm18,zmm18
01b3  vblendmps zmm17{k1},zmm18,zmm17
01b9  vfmadd213ps zmm16,zmm10,zmm11
01bf  vfmadd231ps zmm16,zmm17,zmm9
01c5  vmovups [r9+80h],zmm16
01cc  prefetcht0 [rsi+rbp+0C0h]
01d4  prefetcht0 [r8+rbp+0C0h]
01dd  vmovups zmm16,[rsi+0C0h]
01e4  vsubps zmm16,zmm16,zmm12
01ea  vmovups zmm17,[r8+0C0h]
01f1  kmovw k1,[r10+6]
01f7  vpxord zmm18,zmm18,zmm18
01fd  vblendmps zmm17{k1},zmm18,zmm17
0203  vfmadd213ps zmm16,zmm14,zmm15
0209  vfmadd231ps zmm16,zmm17,zmm13
020f  vmovups [r9+0C0h],zmm16
0216  add rsi,rax
0219  add r8,rax
021c  add r9,rax
021f  add r10,r11
0222  dec rbx
0225  jne near 100h
022b  add rcx,40h
022f  dec rdx
0232  jne near 40h
0238  pop rbp
0239  pop rbx
023a  vzeroupper
023d  ret
