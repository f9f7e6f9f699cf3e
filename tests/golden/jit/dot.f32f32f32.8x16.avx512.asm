; 193 instructions, 1138 bytes, 22 spills, 0 of them in inner loops
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
00fd  jle near 36Bh
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
0189  add r8,r14
018c  add r9,r14
018f  add r10,r14
0192  add r11,r14
0195  add rbx,r14
0198  add rbp,r14
019b  add r12,r14
019e  add r13,r14
01a1  mov r14,[rdi+18h]
01a5  shr r14,2
01a9  test r14,r14
01ac  jle near 2E9h
01b2  nop word [rax+rax]
01bb  nop dword [rax+rax]
01c0  vmovups zmm8,[rsi]
01c6  vfmadd231ps zmm0,zmm8,[r8]{1to16}
01cc  vfmadd231ps zmm1,zmm8,[r9]{1to16}
01d2  vfmadd231ps zmm2,zmm8,[r10]{1to16}
01d8  vfmadd231ps zmm3,zmm8,[r11]{1to16}
01de  vfmadd231ps zmm4,zmm8,[rbx]{1to16}
01e4  vfmadd231ps zmm5,zmm8,[rbp]{1to16}
01eb  vfmadd231ps zmm6,zmm8,[r12]{1to16}
01f2  vfmadd231ps zmm7,zmm8,[r13]{1to16}
01f9  vmovups zmm8,[rsi+40h]
0200  vfmadd231ps zmm0,zmm8,[r8+4]{1to16}
0207  vfmadd231ps zmm1,zmm8,[r9+4]{1to16}
020e  vfmadd231ps zmm2,zmm8,[r10+4]{1to16}
0215  vfmadd231ps zmm3,zmm8,[r11+4]{1to16}
021c  vfmadd231ps zmm4,zmm8,[rbx+4]{1to16}
0223  vfmadd231ps zmm5,zmm8,[rbp+4]{1to16}
022a  vfmadd231ps zmm6,zmm8,[r12+4]{1to16}
0232  vfmadd231ps zmm7,zmm8,[r13+4]{1to16}
0239  vmovups zmm8,[rsi+80h]
0240  vfmadd231ps zmm0,zmm8,[r8+8]{1to16}
0247  vfmadd231ps zmm1,zmm8,[r9+8]{1to16}
024e  vfmadd231ps zmm2,zmm8,[r10+8]{1to16}
0255  vfmadd231ps zmm3,zmm8,[r11+8]{1to16}
025c  vfmadd231ps zmm4,zmm8,[rbx+8]{1to16}
0263  vfmadd231ps zmm5,zmm8,[rbp+8]{1to16}
026a  vfmadd231ps zmm6,zmm8,[r12+8]{1to16}
0272  vfmadd231ps zmm7,zmm8,[r13+8]{1to16}
0279  vmovups zmm8,[rsi+0C0h]
0280  vfmadd231ps zmm0,zmm8,[r8+0Ch]{1to16}
0287  vfmadd231ps zmm1,zmm8,[r9+0Ch]{1to16}
028e  vfmadd231ps zmm2,zmm8,[r10+0Ch]{1to16}
0295  vfmadd231ps zmm3,zmm8,[r11+0Ch]{1to16}
029c  vfmadd231ps zmm4,zmm8,[rbx+0Ch]{1to16}
02a3  vfmadd231ps zmm5,zmm8,[rbp+0Ch]{1to16}
02aa  vfmadd231ps zmm6,zmm8,[r12+0Ch]{1to16}
02b2  vfmadd231ps zmm7,zmm8,[r13+0Ch]{1to16}
02b9  add r8,10h
02bd  add r9,10h
02c1  add r10,10h
02c5  add r11,10h
02c9  add rbx,10h
02cd  add rbp,10h
02d1  add r12,10h
02d5  add r13,10h
02d9  add rsi,100h
02e0  dec r14
02e3  jne near 1C0h
02e9  mov r14,[rdi+18h]
02ed  and r14,3
02f1  test r14,r14
02f4  jle near 362h
02fa  nop word [rax+rax]
0300  vmovups zmm8,[rsi]
0306  vfmadd231ps zmm0,zmm8,[r8]{1to16}
030c  vfmadd231ps zmm1,zmm8,[r9]{1to16}
0312  vfmadd231ps zmm2,zmm8,[r10]{1to16}
0318  vfmadd231ps zmm3,zmm8,[r11]{1to16}
031e  vfmadd231ps zmm4,zmm8,[rbx]{1to16}
0324  vfmadd231ps zmm5,zmm8,[rbp]{1to16}
032b  vfmadd231ps zmm6,zmm8,[r12]{1to16}
0332  vfmadd231ps zmm7,zmm8,[r13]{1to16}
0339  add r8,4
033d  add r9,4
0341  add r10,4
0345  add r11,4
0349  add rbx,4
034d  add rbp,4
0351  add r12,4
0355  add r13,4
0359  add rsi,40h
035d  dec r14
0360  jne short 300h
0362  dec rdx
0365  jne near 140h
036b  mov rdx,[rdi+38h]
036f  mov rsi,[rax+10h]
0373  mov r8,[rdi+40h]
0377  mov r9,[rsp+100h]
037f  imul r8,r9
0383  add rdx,rsi
0386  add rdx,r8
0389  mov rsi,[rsp+0C0h]
0391  lea rdx,[rdx+rsi*4]
0395  mov rsi,[rdi+40h]
0399  vmovups [rdx],zmm0
039f  add rdx,rsi
03a2  vmovups [rdx],zmm1
03a8  add rdx,rsi
03ab  vmovups [rdx],zmm2
03b1  add rdx,rsi
03b4  vmovups [rdx],zmm3
03ba  add rdx,rsi
03bd  vmovups [rdx],zmm4
03c3  add rdx,rsi
03c6  vmovups [rdx],zmm5
03cc  add rdx,rsi
03cf  vmovups [rdx],zmm6
03d5  add rdx,rsi
03d8  vmovups [rdx],zmm7
03de  mov rdx,[rdi+28h]
03e2  mov rsi,[rsp+140h]
03ea  add rsi,rdx
03ed  mov [rsp+140h],rsi
03f5  mov rdx,[rsp+0C0h]
03fd  add rdx,10h
0401  mov [rsp+0C0h],rdx
0409  mov rdx,[rsp+80h]
0411  dec rdx
0414  mov [rsp+80h],rdx
041c  jne near 0C0h
0422  mov rdx,[rsp+100h]
042a  add rdx,8
042e  mov [rsp+100h],rdx
0436  mov rdx,[rsp+40h]
043b  dec rdx
043e  mov [rsp+40h],rdx
0443  jne near 80h
0449  mov rax,rcx
044c  mov rcx,[rsp]
0450  dec rcx
0453  mov [rsp],rcx
0457  jne near 40h
045d  add rsp,180h
0464  pop r15
0466  pop r14
0468  pop r13
046a  pop r12
046c  pop rbp
046d  pop rbx
046e  vzeroupper
0471  ret
