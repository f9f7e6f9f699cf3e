; 92 instructions, 544 bytes, 0 spills, 0 of them in inner loops
0000  push rbx
0001  push rbp
0002  push r12
0004  push r13
0006  mov rax,[rdi+20h]
000a  mov rcx,[rdi]
000d  mov rdx,[rdi+8]
0011  mov rsi,[rdi+10h]
0015  mov r8,[rdi+18h]
0019  mov r9,[rdi+28h]
001d  mov r10d,0
0023  mov r11,[rdi+38h]
0027  nop word [rax+rax]
0030  nop word [rax+rax]
0039  nop dword [rax]
0040  mov rbx,[rdi+60h]
0044  mov rbp,[rdi+68h]
0048  mov r12,[rdi+70h]
004c  mov r13,[rdi+78h]
0050  vmovups zmm0,[rbx+r10*4]
0057  vmovups zmm1,[rbp+r10*4]
005f  vmovups zmm2,[r12+r10*4]
0066  vmovups zmm3,[r13+r10*4]
006e  vmovups zmm4,[rbx+r10*4+40h]
0076  vmovups zmm5,[rbp+r10*4+40h]
007e  vmovups zmm6,[r12+r10*4+40h]
0086  vmovups zmm7,[r13+r10*4+40h]
008e  vmovups zmm8,[rbx+r10*4+80h]
0096  vmovups zmm9,[rbp+r10*4+80h]
009e  vmovups zmm10,[r12+r10*4+80h]
00a6  vmovups zmm11,[r13+r10*4+80h]
00ae  vmovups zmm12,[rbx+r10*4+0C0h]
00b6  vmovups zmm13,[rbp+r10*4+0C0h]
00be  vmovups zmm14,[r12+r10*4+0C0h]
00c6  vmovups zmm15,[r13+r10*4+0C0h]
00ce  mov rbx,[rdi+30h]
00d2  test rbx,rbx
00d5  jle near 1F5h
00db  nop word [rax+rax]
00e4  nop word [rax+rax]
00ed  nop word [rax+rax]
00f6  nop word [rax+rax]
00ff  nop
0100  vmovups zmm16,[rcx]
0106  vsubps zmm16,zmm16,zmm0
010c  vmovups zmm17,[rdx]
0112  kmovw k1,[r8]
0117  vpxord zmm18,zmm18,zmm18
011d  vblendmps zmm17{k1},zmm18,zmm17
0123  vfmadd213ps zmm16,zmm2,zmm3
0129  vfmadd231ps zmm16,zmm17,zmm1
012f  vmovups [rsi],zmm16
0135  vmovups zmm16,[rcx+40h]
013c  vsubps zmm16,zmm16,zmm4
0142  vmovups zmm17,[rdx+40h]
0149  kmovw k1,[r8+2]
014f  vpxord zmm18,zmm18,zmm18
0155  vblendmps zmm17{k1},zmm18,zmm17
015b  vfmadd213ps zmm16,zmm6,zmm7
0161  vfmadd231ps zmm16,zmm17,zmm5
0167  vmovups [rsi+40h],zmm16
016e  vmovups zmm16,[rcx+80h]
0175  vsubps zmm16,zmm16,zmm8
017b  vmovups zmm17,[rdx+80h]
0182  kmovw k1,[r8+4]
0188  vpxord zmm18,zmm18,zmm18
018e  vblendmps zmm17{k1},zmm18,zmm17
0194  vfmadd213ps zmm16,zmm10,zmm11
019a  vfmadd231ps zmm16,zmm17,zmm9
01a0  vmovups [rsi+80h],zmm16
01a7  vmovups zmm16,[rcx+0C0h]
01ae  vsubps zmm16,zmm16,zmm12
01b4  vmovups zmm17,[rdx+0C0h]
01bb  kmovw k1,[r8+6]
01c1  vpxord zmm18,zmm18,zmm18
01c7  vblendmps zmm17{k1},zmm18,zmm17
01cd  vfmadd213ps zmm16,zmm14,zmm15
01d3  vfmadd231ps zmm16,zmm17,zmm13
01d9  vmovups [rsi+0C0h],zmm16
01e0  add rcx,rax
01e3  add rdx,rax
01e6  add rsi,rax
01e9  add r8,r9
01ec  dec rbx
01ef  jne near 100h
01f5  mov rbx,[rdi+40h]
01f9  add rcx,rbx
01fc  add rdx,rbx
01ff  add rsi,rbx
0202  mov rbx,[rdi+48h]
0206  add r8,rbx
0209  add r10,40h
020d  dec r11
0210  jne near 40h
0216  pop r13
0218  pop r12
021a  pop rbp
021b  pop rbx
021c  vzeroupper
021f  ret
