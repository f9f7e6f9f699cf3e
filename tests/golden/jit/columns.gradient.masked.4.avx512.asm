; 121 instructions, 697 bytes, 3 spills, 0 of them in inner loops
0000  push rbx
0001  push rbp
0002  push r12
0004  push r13
0006  push r14
0008  push r15
000a  sub rsp,40h
000e  mov rax,[rdi+20h]
0012  mov ecx,0
0017  mov rdx,[rdi+50h]
001b  mov [rsp],rdx
001f  nop word [rax+rax]
0028  nop word [rax+rax]
0031  nop word [rax+rax]
003a  nop word [rax+rax]
0040  mov rdx,[rdi+68h]
0044  mov rsi,[rdi+70h]
0048  mov r8,[rdi+78h]
004c  mov r9,[rdi+80h]
0053  vmovups zmm0,[rdx+rcx*4]
005a  vmovups zmm1,[rsi+rcx*4]
0061  vmovups zmm2,[r8+rcx*4]
0068  vmovups zmm3,[r9+rcx*4]
006f  vmovups zmm4,[rdx+rcx*4+40h]
0077  vmovups zmm5,[rsi+rcx*4+40h]
007f  vmovups zmm6,[r8+rcx*4+40h]
0087  vmovups zmm7,[r9+rcx*4+40h]
008f  vmovups zmm8,[rdx+rcx*4+80h]
0097  vmovups zmm9,[rsi+rcx*4+80h]
009f  vmovups zmm10,[r8+rcx*4+80h]
00a7  vmovups zmm11,[r9+rcx*4+80h]
00af  vmovups zmm12,[rdx+rcx*4+0C0h]
00b7  vmovups zmm13,[rsi+rcx*4+0C0h]
00bf  vmovups zmm14,[r8+rcx*4+0C0h]
00c7  vmovups zmm15,[r9+rcx*4+0C0h]
00cf  mov rdx,[rdi]
00d2  lea rdx,[rdx+rcx*4]
00d6  mov rsi,[rdi+8]
00da  lea rsi,[rsi+rcx*4]
00de  mov r8,[rdi+10h]
00e2  lea r8,[r8+rcx*4]
00e6  mov r9,[rdi+18h]
00ea  mov r10,rcx
00ed  shr r10,3
00f1  add r9,r10
00f4  mov r10,[rdi+28h]
00f8  mov r11,[rdi+38h]
00fc  mov rbx,[rdi+60h]
0100  mov rbp,[rdi+30h]
0104  mov r12,rdx
0107  mov r13,rsi
010a  mov r14,r8
010d  mov r15,r9
0110  nop word [rax+rax]
0119  nop word [rax+rax]
0122  nop word [rax+rax]
012b  nop word [rax+rax]
0134  nop word [rax+rax]
013d  nop dword [rax]
0140  prefetcht0 [r12+rbx]
0145  prefetcht0 [r13+rbx]
014b  vmovups zmm16,[r12]
0152  vsubps zmm16,zmm16,zmm0
0158  vmovups zmm17,[r13]
015f  kmovw k1,[r15]
0164  vpxord zmm18,zmm18,zmm18
016a  vblendmps zmm17{k1},zmm18,zmm17
0170  vfmadd213ps zmm16,zmm2,zmm3
0176  vfmadd231ps zmm16,zmm17,zmm1
017c  vmovups [r14],zmm16
0182  prefetcht0 [r12+rbx+40h]
0188  prefetcht0 [r13+rbx+40h]
018e  vmovups zmm16,[r12+40h]
0196  vsubps zmm16,zmm16,zmm4
019c  vmovups zmm17,[r13+40h]
01a3  kmovw k1,[r15+2]
01a9  vpxord zmm18,zmm18,zmm18
01af  vblendmps zmm17{k1},zmm18,zmm17
01b5  vfmadd213ps zmm16,zmm6,zmm7
01bb  vfmadd231ps zmm16,zmm17,zmm5
01c1  vmovups [r14+40h],zmm16
01c8  prefetcht0 [r12+rbx+80h]
01d1  prefetcht0 [r13+rbx+80h]
01da  vmovups zmm16,[r12+80h]
01e2  vsubps zmm16,zmm16,zmm8
01e8  vmovups zmm17,[r13+80h]
01ef  kmovw k1,[r15+4]
01f5  vpxord zmm18,zmm18,zmm18
01fb  vblendmps zmm17{k1},zmm18,zmm17
0201  vfmadd213ps zmm16,zmm10,zmm11
0207  vfmadd231ps zmm16,zmm17,zmm9
020d  vmovups [r14+80h],zmm16
0214  prefetcht0 [r12+rbx+0C0h]
021d  prefetcht0 [r13+rbx+0C0h]
0226  vmovups zmm16,[r12+0C0h]
022e  vsubps zmm16,zmm16,zmm12
0234  vmovups zmm17,[r13+0C0h]
023b  kmovw k1,[r15+6]
0241  vpxord zmm18,zmm18,zmm18
0247  vblendmps zmm17{k1},zmm18,zmm17
024d  vfmadd213ps zmm16,zmm14,zmm15
0253  vfmadd231ps zmm16,zmm17,zmm13
0259  vmovups [r14+0C0h],zmm16
0260  add r12,rax
0263  add r13,rax
0266  add r14,rax
0269  add r15,r10
026c  dec rbp
026f  jne near 140h
0275  mov rbp,[rdi+40h]
0279  add rdx,rbp
027c  add rsi,rbp
027f  add r8,rbp
0282  mov rbp,[rdi+48h]
0286  add r9,rbp
0289  dec r11
028c  jne near 100h
0292  add rcx,40h
0296  mov rdx,[rsp]
029a  dec rdx
029d  mov [rsp],rdx
02a1  jne near 40h
02a7  add rsp,40h
02ab  pop r15
02ad  pop r14
02af  pop r13
02b1  pop r12
02b3  pop rbp
02b4  pop rbx
02b5  vzeroupper
02b8  ret
