; 142 instructions, 938 bytes, 0 spills, 0 of them in inner loops
0000  push rbx
0001  push rbp
0002  push r12
0004  push r13
0006  push r14
0008  mov rax,[rdi+20h]
000c  mov rcx,[rdi]
000f  mov rdx,[rdi+8]
0013  mov rsi,[rdi+10h]
0017  mov r8,[rdi+18h]
001b  mov r9,[rdi+28h]
001f  mov r10,[rdi+38h]
0023  nop word [rax+rax]
002c  nop word [rax+rax]
0035  nop word [rax+rax]
003e  xchg ax,ax
0040  mov r11d,0
0046  mov rbx,[rdi+50h]
004a  nop word [rax+rax]
0053  nop word [rax+rax]
005c  nop word [rax+rax]
0065  nop word [rax+rax]
006e  nop word [rax+rax]
0077  nop word [rax+rax]
0080  mov rbp,[rdi+78h]
0084  mov r12,[rdi+80h]
008b  mov r13,[rdi+88h]
0092  mov r14,[rdi+90h]
0099  vmovups zmm0,[rbp+r11*4]
00a1  vmovups zmm1,[r12+r11*4]
00a8  vmovups zmm2,[r13+r11*4]
00b0  vmovups zmm3,[r14+r11*4]
00b7  vmovups zmm4,[rbp+r11*4+40h]
00bf  vmovups zmm5,[r12+r11*4+40h]
00c7  vmovups zmm6,[r13+r11*4+40h]
00cf  vmovups zmm7,[r14+r11*4+40h]
00d7  vmovups zmm8,[rbp+r11*4+80h]
00df  vmovups zmm9,[r12+r11*4+80h]
00e7  vmovups zmm10,[r13+r11*4+80h]
00ef  vmovups zmm11,[r14+r11*4+80h]
00f7  vmovups zmm12,[rbp+r11*4+0C0h]
00ff  vmovups zmm13,[r12+r11*4+0C0h]
0107  vmovups zmm14,[r13+r11*4+0C0h]
010f  vmovups zmm15,[r14+r11*4+0C0h]
0117  vmovups zmm16,[rbp+r11*4+100h]
011f  vmovups zmm17,[r12+r11*4+100h]
0127  vmovups zmm18,[r13+r11*4+100h]
012f  vmovups zmm19,[r14+r11*4+100h]
0137  vmovups zmm20,[rbp+r11*4+140h]
013f  vmovups zmm21,[r12+r11*4+140h]
0147  vmovups zmm22,[r13+r11*4+140h]
014f  vmovups zmm23,[r14+r11*4+140h]
0157  vmovups zmm24,[rbp+r11*4+180h]
015f  vmovups zmm25,[r12+r11*4+180h]
0167  vmovups zmm26,[r13+r11*4+180h]
016f  vmovups zmm27,[r14+r11*4+180h]
0177  mov rbp,[rdi+30h]
017b  test rbp,rbp
017e  jle near 360h
0184  nop word [rax+rax]
018d  nop word [rax+rax]
0196  nop word [rax+rax]
019f  nop word [rax+rax]
01a8  nop word [rax+rax]
01b1  nop word [rax+rax]
01ba  nop word [rax+rax]
01c0  vmovups zmm28,[rcx]
01c6  vsubps zmm28,zmm28,zmm0
01cc  vmovups zmm29,[rdx]
01d2  kmovw k1,[r8]
01d7  vpxord zmm30,zmm30,zmm30
01dd  vblendmps zmm29{k1},zmm30,zmm29
01e3  vfmadd213ps zmm28,zmm2,zmm3
01e9  vfmadd231ps zmm28,zmm29,zmm1
01ef  vmovups [rsi],zmm28
01f5  vmovups zmm28,[rcx+40h]
01fc  vsubps zmm28,zmm28,zmm4
0202  vmovups zmm29,[rdx+40h]
0209  kmovw k1,[r8+2]
020f  vpxord zmm30,zmm30,zmm30
0215  vblendmps zmm29{k1},zmm30,zmm29
021b  vfmadd213ps zmm28,zmm6,zmm7
0221  vfmadd231ps zmm28,zmm29,zmm5
0227  vmovups [rsi+40h],zmm28
022e  vmovups zmm28,[rcx+80h]
0235  vsubps zmm28,zmm28,zmm8
023b  vmovups zmm29,[rdx+80h]
0242  kmovw k1,[r8+4]
0248  vpxord zmm30,zmm30,zmm30
024e  vblendmps zmm29{k1},zmm30,zmm29
0254  vfmadd213ps zmm28,zmm10,zmm11
025a  vfmadd231ps zmm28,zmm29,zmm9
0260  vmovups [rsi+80h],zmm28
0267  vmovups zmm28,[rcx+0C0h]
026e  vsubps zmm28,zmm28,zmm12
0274  vmovups zmm29,[rdx+0C0h]
027b  kmovw k1,[r8+6]
0281  vpxord zmm30,zmm30,zmm30
0287  vblendmps zmm29{k1},zmm30,zmm29
028d  vfmadd213ps zmm28,zmm14,zmm15
0293  vfmadd231ps zmm28,zmm29,zmm13
0299  vmovups [rsi+0C0h],zmm28
02a0  vmovups zmm28,[rcx+100h]
02a7  vsubps zmm28,zmm28,zmm16
02ad  vmovups zmm29,[rdx+100h]
02b4  kmovw k1,[r8+8]
02ba  vpxord zmm30,zmm30,zmm30
02c0  vblendmps zmm29{k1},zmm30,zmm29
02c6  vfmadd213ps zmm28,zmm18,zmm19
02cc  vfmadd231ps zmm28,zmm29,zmm17
02d2  vmovups [rsi+100h],zmm28
02d9  vmovups zmm28,[rcx+140h]
02e0  vsubps zmm28,zmm28,zmm20
02e6  vmovups zmm29,[rdx+140h]
02ed  kmovw k1,[r8+0Ah]
02f3  vpxord zmm30,zmm30,zmm30
02f9  vblendmps zmm29{k1},zmm30,zmm29
02ff  vfmadd213ps zmm28,zmm22,zmm23
0305  vfmadd231ps zmm28,zmm29,zmm21
030b  vmovups [rsi+140h],zmm28
0312  vmovups zmm28,[rcx+180h]
0319  vsubps zmm28,zmm28,zmm24
031f  vmovups zmm29,[rdx+180h]
0326  kmovw k1,[r8+0Ch]
032c  vpxord zmm30,zmm30,zmm30
0332  vblendmps zmm29{k1},zmm30,zmm29
0338  vfmadd213ps zmm28,zmm26,zmm27
033e  vfmadd231ps zmm28,zmm29,zmm25
0344  vmovups [rsi+180h],zmm28
034b  add rcx,rax
034e  add rdx,rax
0351  add rsi,rax
0354  add r8,r9
0357  dec rbp
035a  jne near 1C0h
0360  mov rbp,[rdi+58h]
0364  add rcx,rbp
0367  add rdx,rbp
036a  add rsi,rbp
036d  mov rbp,[rdi+60h]
0371  add r8,rbp
0374  add r11,70h
0378  dec rbx
037b  jne near 80h
0381  mov r11,[rdi+40h]
0385  add rcx,r11
0388  add rdx,r11
038b  add rsi,r11
038e  mov r11,[rdi+48h]
0392  add r8,r11
0395  dec r10
0398  jne near 40h
039e  pop r14
03a0  pop r13
03a2  pop r12
03a4  pop rbp
03a5  pop rbx
03a6  vzeroupper
03a9  ret
