; 117 instructions, 750 bytes, 0 spills, 0 of them in inner loops
0000  push rbx
0001  push rbp
0002  push r12
0004  push r13
0006  push r14
0008  vpxord zmm0,zmm0,zmm0
000e  vpxord zmm1,zmm1,zmm1
0014  vpxord zmm2,zmm2,zmm2
001a  vpxord zmm3,zmm3,zmm3
0020  vpxord zmm4,zmm4,zmm4
0026  vpxord zmm5,zmm5,zmm5
002c  vpxord zmm6,zmm6,zmm6
0032  vpxord zmm7,zmm7,zmm7
0038  mov rax,[rdi]
003b  mov rcx,[rdi+8]
003f  test rcx,rcx
0042  jle near 295h
0048  nop word [rax+rax]
0051  nop word [rax+rax]
005a  nop word [rax+rax]
0063  nop word [rax+rax]
006c  nop word [rax+rax]
0075  nop word [rax+rax]
007e  xchg ax,ax
0080  mov rdx,[rdi+18h]
0084  mov rsi,[rax]
0087  add rdx,rsi
008a  mov rsi,[rax+8]
008e  mov r8,[rax+10h]
0092  mov r9,[rax+18h]
0096  mov r10,[rax+20h]
009a  mov r11,[rax+28h]
009e  mov rbx,[rax+30h]
00a2  mov rbp,[rax+38h]
00a6  mov r12,[rax+40h]
00aa  add rax,48h
00ae  mov r13d,0
00b4  mov r14,[rdi+10h]
00b8  shr r14,2
00bc  test r14,r14
00bf  jle near 228h
00c5  nop word [rax+rax]
00ce  nop word [rax+rax]
00d7  nop word [rax+rax]
00e0  nop word [rax+rax]
00e9  nop word [rax+rax]
00f2  nop word [rax+rax]
00fb  nop dword [rax+rax]
0100  vmovups zmm8,[rdx]
0106  vfmadd231ps zmm0,zmm8,[rsi+r13]{1to16}
010d  vfmadd231ps zmm1,zmm8,[r8+r13]{1to16}
0114  vfmadd231ps zmm2,zmm8,[r9+r13]{1to16}
011b  vfmadd231ps zmm3,zmm8,[r10+r13]{1to16}
0122  vfmadd231ps zmm4,zmm8,[r11+r13]{1to16}
0129  vfmadd231ps zmm5,zmm8,[rbx+r13]{1to16}
0130  vfmadd231ps zmm6,zmm8,[rbp+r13]{1to16}
0138  vfmadd231ps zmm7,zmm8,[r12+r13]{1to16}
013f  vmovups zmm8,[rdx+40h]
0146  vfmadd231ps zmm0,zmm8,[rsi+r13+4]{1to16}
014e  vfmadd231ps zmm1,zmm8,[r8+r13+4]{1to16}
0156  vfmadd231ps zmm2,zmm8,[r9+r13+4]{1to16}
015e  vfmadd231ps zmm3,zmm8,[r10+r13+4]{1to16}
0166  vfmadd231ps zmm4,zmm8,[r11+r13+4]{1to16}
016e  vfmadd231ps zmm5,zmm8,[rbx+r13+4]{1to16}
0176  vfmadd231ps zmm6,zmm8,[rbp+r13+4]{1to16}
017e  vfmadd231ps zmm7,zmm8,[r12+r13+4]{1to16}
0186  vmovups zmm8,[rdx+80h]
018d  vfmadd231ps zmm0,zmm8,[rsi+r13+8]{1to16}
0195  vfmadd231ps zmm1,zmm8,[r8+r13+8]{1to16}
019d  vfmadd231ps zmm2,zmm8,[r9+r13+8]{1to16}
01a5  vfmadd231ps zmm3,zmm8,[r10+r13+8]{1to16}
01ad  vfmadd231ps zmm4,zmm8,[r11+r13+8]{1to16}
01b5  vfmadd231ps zmm5,zmm8,[rbx+r13+8]{1to16}
01bd  vfmadd231ps zmm6,zmm8,[rbp+r13+8]{1to16}
01c5  vfmadd231ps zmm7,zmm8,[r12+r13+8]{1to16}
01cd  vmovups zmm8,[rdx+0C0h]
01d4  vfmadd231ps zmm0,zmm8,[rsi+r13+0Ch]{1to16}
01dc  vfmadd231ps zmm1,zmm8,[r8+r13+0Ch]{1to16}
01e4  vfmadd231ps zmm2,zmm8,[r9+r13+0Ch]{1to16}
01ec  vfmadd231ps zmm3,zmm8,[r10+r13+0Ch]{1to16}
01f4  vfmadd231ps zmm4,zmm8,[r11+r13+0Ch]{1to16}
01fc  vfmadd231ps zmm5,zmm8,[rbx+r13+0Ch]{1to16}
0204  vfmadd231ps zmm6,zmm8,[rbp+r13+0Ch]{1to16}
020c  vfmadd231ps zmm7,zmm8,[r12+r13+0Ch]{1to16}
0214  add r13,10h
0218  add rdx,100h
021f  dec r14
0222  jne near 100h
0228  mov r14,[rdi+10h]
022c  and r14,3
0230  test r14,r14
0233  jle near 28Ch
0239  nop dword [rax]
0240  vmovups zmm8,[rdx]
0246  vfmadd231ps zmm0,zmm8,[rsi+r13]{1to16}
024d  vfmadd231ps zmm1,zmm8,[r8+r13]{1to16}
0254  vfmadd231ps zmm2,zmm8,[r9+r13]{1to16}
025b  vfmadd231ps zmm3,zmm8,[r10+r13]{1to16}
0262  vfmadd231ps zmm4,zmm8,[r11+r13]{1to16}
0269  vfmadd231ps zmm5,zmm8,[rbx+r13]{1to16}
0270  vfmadd231ps zmm6,zmm8,[rbp+r13]{1to16}
0278  vfmadd231ps zmm7,zmm8,[r12+r13]{1to16}
027f  add r13,4
0283  add rdx,40h
0287  dec r14
028a  jne short 240h
028c  dec rcx
028f  jne near 80h
0295  mov rax,[rdi+20h]
0299  mov rdi,[rdi+28h]
029d  vmovups [rax],zmm0
02a3  add rax,rdi
02a6  vmovups [rax],zmm1
02ac  add rax,rdi
02af  vmovups [rax],zmm2
02b5  add rax,rdi
02b8  vmovups [rax],zmm3
02be  add rax,rdi
02c1  vmovups [rax],zmm4
02c7  add rax,rdi
02ca  vmovups [rax],zmm5
02d0  add rax,rdi
02d3  vmovups [rax],zmm6
02d9  add rax,rdi
02dc  vmovups [rax],zmm7
02e2  pop r14
02e4  pop r13
02e6  pop r12
02e8  pop rbp
02e9  pop rbx
02ea  vzeroupper
02ed  ret
