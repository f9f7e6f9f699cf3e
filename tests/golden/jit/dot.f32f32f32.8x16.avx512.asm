; 171 instructions, 1117 bytes, 22 spills, 0 of them in inner loops
0000  push rbx
0001  push rbp
0002  push r12
0004  push r13
0006  push r14
0008  push r15
000a  sub rsp,180h
0011  mov rax,[rdi]
0014  mov rcx,[rdi+8]
0018  mov [rsp],rcx
001c  nop word [rax+rax]
0025  nop word [rax+rax]
002e  nop word [rax+rax]
0037  nop word [rax+rax]
0040  mov rcx,rax
0043  mov edx,0
0048  mov [rsp+100h],rdx
0050  mov rdx,[rax+8]
0054  mov [rsp+40h],rdx
0059  nop word [rax+rax]
0062  nop word [rax+rax]
006b  nop word [rax+rax]
0074  nop word [rax+rax]
007d  nop dword [rax]
0080  mov rdx,[rdi+20h]
0084  mov [rsp+140h],rdx
008c  mov edx,0
0091  mov [rsp+0C0h],rdx
0099  mov rdx,[rdi+10h]
009d  mov [rsp+80h],rdx
00a5  nop word [rax+rax]
00ae  nop word [rax+rax]
00b7  nop word [rax+rax]
00c0  vpxord zmm0,zmm0,zmm0
00c6  vpxord zmm1,zmm1,zmm1
00cc  vpxord zmm2,zmm2,zmm2
00d2  vpxord zmm3,zmm3,zmm3
00d8  vpxord zmm4,zmm4,zmm4
00de  vpxord zmm5,zmm5,zmm5
00e4  vpxord zmm6,zmm6,zmm6
00ea  vpxord zmm7,zmm7,zmm7
00f0  mov rcx,rax
00f3  mov rdx,[rax]
00f6  add rcx,68h
00fa  test rdx,rdx
00fd  jle near 356h
0103  nop word [rax+rax]
010c  nop word [rax+rax]
0115  nop word [rax+rax]
011e  nop word [rax+rax]
0127  nop word [rax+rax]
0130  nop word [rax+rax]
0139  nop dword [rax]
0140  mov rsi,[rcx]
0143  mov r8,[rsp+140h]
014b  add rsi,r8
014e  mov r8,[rcx+8]
0152  mov r9,[rcx+10h]
0156  mov r10,[rcx+18h]
015a  mov r11,[rcx+20h]
015e  mov rbx,[rcx+28h]
0162  mov rbp,[rcx+30h]
0166  mov r12,[rcx+38h]
016a  mov r13,[rcx+40h]
016e  add rcx,48h
0172  mov r14,[rax+18h]
0176  mov r15,[rsp+100h]
017e  imul r14,r15
0182  mov r15,[rdi+30h]
0186  add r14,r15
0189  mov r15,[rdi+18h]
018d  shr r15,2
0191  test r15,r15
0194  jle near 2E9h
019a  nop word [rax+rax]
01a3  nop word [rax+rax]
01ac  nop word [rax+rax]
01b5  nop word [rax+rax]
01be  xchg ax,ax
01c0  vmovups zmm8,[rsi]
01c6  vfmadd231ps zmm0,zmm8,[r8+r14]{1to16}
01cd  vfmadd231ps zmm1,zmm8,[r9+r14]{1to16}
01d4  vfmadd231ps zmm2,zmm8,[r10+r14]{1to16}
01db  vfmadd231ps zmm3,zmm8,[r11+r14]{1to16}
01e2  vfmadd231ps zmm4,zmm8,[rbx+r14]{1to16}
01e9  vfmadd231ps zmm5,zmm8,[rbp+r14]{1to16}
01f1  vfmadd231ps zmm6,zmm8,[r12+r14]{1to16}
01f8  vfmadd231ps zmm7,zmm8,[r13+r14]{1to16}
0200  vmovups zmm8,[rsi+40h]
0207  vfmadd231ps zmm0,zmm8,[r8+r14+4]{1to16}
020f  vfmadd231ps zmm1,zmm8,[r9+r14+4]{1to16}
0217  vfmadd231ps zmm2,zmm8,[r10+r14+4]{1to16}
021f  vfmadd231ps zmm3,zmm8,[r11+r14+4]{1to16}
0227  vfmadd231ps zmm4,zmm8,[rbx+r14+4]{1to16}
022f  vfmadd231ps zmm5,zmm8,[rbp+r14+4]{1to16}
0237  vfmadd231ps zmm6,zmm8,[r12+r14+4]{1to16}
023f  vfmadd231ps zmm7,zmm8,[r13+r14+4]{1to16}
0247  vmovups zmm8,[rsi+80h]
024e  vfmadd231ps zmm0,zmm8,[r8+r14+8]{1to16}
0256  vfmadd231ps zmm1,zmm8,[r9+r14+8]{1to16}
025e  vfmadd231ps zmm2,zmm8,[r10+r14+8]{1to16}
0266  vfmadd231ps zmm3,zmm8,[r11+r14+8]{1to16}
026e  vfmadd231ps zmm4,zmm8,[rbx+r14+8]{1to16}
0276  vfmadd231ps zmm5,zmm8,[rbp+r14+8]{1to16}
027e  vfmadd231ps zmm6,zmm8,[r12+r14+8]{1to16}
0286  vfmadd231ps zmm7,zmm8,[r13+r14+8]{1to16}
028e  vmovups zmm8,[rsi+0C0h]
0295  vfmadd231ps zmm0,zmm8,[r8+r14+0Ch]{1to16}
029d  vfmadd231ps zmm1,zmm8,[r9+r14+0Ch]{1to16}
02a5  vfmadd231ps zmm2,zmm8,[r10+r14+0Ch]{1to16}
02ad  vfmadd231ps zmm3,zmm8,[r11+r14+0Ch]{1to16}
02b5  vfmadd231ps zmm4,zmm8,[rbx+r14+0Ch]{1to16}
02bd  vfmadd231ps zmm5,zmm8,[rbp+r14+0Ch]{1to16}
02c5  vfmadd231ps zmm6,zmm8,[r12+r14+0Ch]{1to16}
02cd  vfmadd231ps zmm7,zmm8,[r13+r14+0Ch]{1to16}
02d5  add r14,10h
02d9  add rsi,100h
02e0  dec r15
02e3  jne near 1C0h
02e9  mov r15,[rdi+18h]
02ed  and r15,3
02f1  test r15,r15
02f4  jle near 34Dh
02fa  nop word [rax+rax]
0300  vmovups zmm8,[rsi]
0306  vfmadd231ps zmm0,zmm8,[r8+r14]{1to16}
030d  vfmadd231ps zmm1,zmm8,[r9+r14]{1to16}
0314  vfmadd231ps zmm2,zmm8,[r10+r14]{1to16}
031b  vfmadd231ps zmm3,zmm8,[r11+r14]{1to16}
0322  vfmadd231ps zmm4,zmm8,[rbx+r14]{1to16}
0329  vfmadd231ps zmm5,zmm8,[rbp+r14]{1to16}
0331  vfmadd231ps zmm6,zmm8,[r12+r14]{1to16}
0338  vfmadd231ps zmm7,zmm8,[r13+r14]{1to16}
0340  add r14,4
0344  add rsi,40h
0348  dec r15
034b  jne short 300h
034d  dec rdx
0350  jne near 140h
0356  mov rdx,[rdi+38h]
035a  mov rsi,[rax+10h]
035e  mov r8,[rdi+40h]
0362  mov r9,[rsp+100h]
036a  imul r8,r9
036e  add rdx,rsi
0371  add rdx,r8
0374  mov rsi,[rsp+0C0h]
037c  lea rdx,[rdx+rsi*4]
0380  mov rsi,[rdi+40h]
0384  vmovups [rdx],zmm0
038a  add rdx,rsi
038d  vmovups [rdx],zmm1
0393  add rdx,rsi
0396  vmovups [rdx],zmm2
039c  add rdx,rsi
039f  vmovups [rdx],zmm3
03a5  add rdx,rsi
03a8  vmovups [rdx],zmm4
03ae  add rdx,rsi
03b1  vmovups [rdx],zmm5
03b7  add rdx,rsi
03ba  vmovups [rdx],zmm6
03c0  add rdx,rsi
03c3  vmovups [rdx],zmm7
03c9  mov rdx,[rdi+28h]
03cd  mov rsi,[rsp+140h]
03d5  add rsi,rdx
03d8  mov [rsp+140h],rsi
03e0  mov rdx,[rsp+0C0h]
03e8  add rdx,10h
03ec  mov [rsp+0C0h],rdx
03f4  mov rdx,[rsp+80h]
03fc  dec rdx
03ff  mov [rsp+80h],rdx
0407  jne near 0C0h
040d  mov rdx,[rsp+100h]
0415  add rdx,8
0419  mov [rsp+100h],rdx
0421  mov rdx,[rsp+40h]
0426  dec rdx
0429  mov [rsp+40h],rdx
042e  jne near 80h
0434  mov rax,rcx
0437  mov rcx,[rsp]
043b  dec rcx
043e  mov [rsp],rcx
0442  jne near 40h
0448  add rsp,180h
044f  pop r15
0451  pop r14
0453  pop r13
0455  pop r12
0457  pop rbp
0458  pop rbx
0459  vzeroupper
045c  ret
