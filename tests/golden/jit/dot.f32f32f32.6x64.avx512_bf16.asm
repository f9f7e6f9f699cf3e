; 247 instructions, 1599 bytes, 13 spills, 0 of them in inner loops
0000  push rbx
0001  push rbp
0002  push r12
0004  push r13
0006  push r14
0008  push r15
000a  sub rsp,100h
0011  mov rax,[rdi]
0014  mov rcx,[rdi+8]
0018  mov [rsp],rcx
001c  nop word [rax+rax]
0025  nop word [rax+rax]
002e  nop word [rax+rax]
0037  nop word [rax+rax]
0040  mov rcx,rax
0043  mov edx,0
0048  mov rsi,[rax+8]
004c  mov [rsp+40h],rsi
0051  nop word [rax+rax]
005a  nop word [rax+rax]
0063  nop word [rax+rax]
006c  nop word [rax+rax]
0075  nop word [rax+rax]
007e  xchg ax,ax
0080  mov rsi,[rdi+20h]
0084  mov r8d,0
008a  mov [rsp+0C0h],r8
0092  mov r8,[rdi+10h]
0096  mov [rsp+80h],r8
009e  nop word [rax+rax]
00a7  nop word [rax+rax]
00b0  nop word [rax+rax]
00b9  nop dword [rax]
00c0  vpxord zmm0,zmm0,zmm0
00c6  vpxord zmm1,zmm1,zmm1
00cc  vpxord zmm2,zmm2,zmm2
00d2  vpxord zmm3,zmm3,zmm3
00d8  vpxord zmm4,zmm4,zmm4
00de  vpxord zmm5,zmm5,zmm5
00e4  vpxord zmm6,zmm6,zmm6
00ea  vpxord zmm7,zmm7,zmm7
00f0  vpxord zmm8,zmm8,zmm8
00f6  vpxord zmm9,zmm9,zmm9
00fc  vpxord zmm10,zmm10,zmm10
0102  vpxord zmm11,zmm11,zmm11
0108  vpxord zmm12,zmm12,zmm12
010e  vpxord zmm13,zmm13,zmm13
0114  vpxord zmm14,zmm14,zmm14
011a  vpxord zmm15,zmm15,zmm15
0120  vpxord zmm16,zmm16,zmm16
0126  vpxord zmm17,zmm17,zmm17
012c  vpxord zmm18,zmm18,zmm18
0132  vpxord zmm19,zmm19,zmm19
0138  vpxord zmm20,zmm20,zmm20
013e  vpxord zmm21,zmm21,zmm21
0144  vpxord zmm22,zmm22,zmm22
014a  vpxord zmm23,zmm23,zmm23
0150  mov rcx,rax
0153  mov r8,[rax]
0156  add rcx,58h
015a  test r8,r8
015d  jle near 4F4h
0163  nop word [rax+rax]
016c  nop word [rax+rax]
0175  nop word [rax+rax]
017e  xchg ax,ax
0180  mov r9,[rcx]
0183  add r9,rsi
0186  mov r10,[rcx+8]
018a  mov r11,[rcx+10h]
018e  mov rbx,[rcx+18h]
0192  mov rbp,[rcx+20h]
0196  mov r12,[rcx+28h]
019a  mov r13,[rcx+30h]
019e  add rcx,38h
01a2  mov r14,[rax+18h]
01a6  imul r14,rdx
01aa  mov r15,[rdi+30h]
01ae  add r14,r15
01b1  mov r15,[rdi+18h]
01b5  shr r15,1
01b9  test r15,r15
01bc  jle near 3C7h
01c2  nop word [rax+rax]
01cb  nop word [rax+rax]
01d4  nop word [rax+rax]
01dd  nop word [rax+rax]
01e6  nop word [rax+rax]
01ef  nop word [rax+rax]
01f8  nop dword [rax+rax]
0200  vmovups zmm24,[r9]
0206  vmovups zmm25,[r9+40h]
020d  vmovups zmm26,[r9+80h]
0214  vmovups zmm27,[r9+0C0h]
021b  vpbroadcastd zmm28,[r10+r14]
0222  vfmadd231ps zmm0,zmm28,zmm24
0228  vfmadd231ps zmm1,zmm28,zmm25
022e  vfmadd231ps zmm2,zmm28,zmm26
0234  vfmadd231ps zmm3,zmm28,zmm27
023a  vpbroadcastd zmm28,[r11+r14]
0241  vfmadd231ps zmm4,zmm28,zmm24
0247  vfmadd231ps zmm5,zmm28,zmm25
024d  vfmadd231ps zmm6,zmm28,zmm26
0253  vfmadd231ps zmm7,zmm28,zmm27
0259  vpbroadcastd zmm28,[rbx+r14]
0260  vfmadd231ps zmm8,zmm28,zmm24
0266  vfmadd231ps zmm9,zmm28,zmm25
026c  vfmadd231ps zmm10,zmm28,zmm26
0272  vfmadd231ps zmm11,zmm28,zmm27
0278  vpbroadcastd zmm28,[rbp+r14]
0280  vfmadd231ps zmm12,zmm28,zmm24
0286  vfmadd231ps zmm13,zmm28,zmm25
028c  vfmadd231ps zmm14,zmm28,zmm26
0292  vfmadd231ps zmm15,zmm28,zmm27
0298  vpbroadcastd zmm28,[r12+r14]
029f  vfmadd231ps zmm16,zmm28,zmm24
02a5  vfmadd231ps zmm17,zmm28,zmm25
02ab  vfmadd231ps zmm18,zmm28,zmm26
02b1  vfmadd231ps zmm19,zmm28,zmm27
02b7  vpbroadcastd zmm28,[r13+r14]
02bf  vfmadd231ps zmm20,zmm28,zmm24
02c5  vfmadd231ps zmm21,zmm28,zmm25
02cb  vfmadd231ps zmm22,zmm28,zmm26
02d1  vfmadd231ps zmm23,zmm28,zmm27
02d7  vmovups zmm24,[r9+100h]
02de  vmovups zmm25,[r9+140h]
02e5  vmovups zmm26,[r9+180h]
02ec  vmovups zmm27,[r9+1C0h]
02f3  vpbroadcastd zmm28,[r10+r14+4]
02fb  vfmadd231ps zmm0,zmm28,zmm24
0301  vfmadd231ps zmm1,zmm28,zmm25
0307  vfmadd231ps zmm2,zmm28,zmm26
030d  vfmadd231ps zmm3,zmm28,zmm27
0313  vpbroadcastd zmm28,[r11+r14+4]
031b  vfmadd231ps zmm4,zmm28,zmm24
0321  vfmadd231ps zmm5,zmm28,zmm25
0327  vfmadd231ps zmm6,zmm28,zmm26
032d  vfmadd231ps zmm7,zmm28,zmm27
0333  vpbroadcastd zmm28,[rbx+r14+4]
033b  vfmadd231ps zmm8,zmm28,zmm24
0341  vfmadd231ps zmm9,zmm28,zmm25
0347  vfmadd231ps zmm10,zmm28,zmm26
034d  vfmadd231ps zmm11,zmm28,zmm27
0353  vpbroadcastd zmm28,[rbp+r14+4]
035b  vfmadd231ps zmm12,zmm28,zmm24
0361  vfmadd231ps zmm13,zmm28,zmm25
0367  vfmadd231ps zmm14,zmm28,zmm26
036d  vfmadd231ps zmm15,zmm28,zmm27
0373  vpbroadcastd zmm28,[r12+r14+4]
037b  vfmadd231ps zmm16,zmm28,zmm24
0381  vfmadd231ps zmm17,zmm28,zmm25
0387  vfmadd231ps zmm18,zmm28,zmm26
038d  vfmadd231ps zmm19,zmm28,zmm27
0393  vpbroadcastd zmm28,[r13+r14+4]
039b  vfmadd231ps zmm20,zmm28,zmm24
03a1  vfmadd231ps zmm21,zmm28,zmm25
03a7  vfmadd231ps zmm22,zmm28,zmm26
03ad  vfmadd231ps zmm23,zmm28,zmm27
03b3  add r14,8
03b7  add r9,200h
03be  dec r15
03c1  jne near 200h
03c7  mov r15,[rdi+18h]
03cb  and r15,1
03cf  test r15,r15
03d2  jle near 4EBh
03d8  nop word [rax+rax]
03e1  nop word [rax+rax]
03ea  nop word [rax+rax]
03f3  nop word [rax+rax]
03fc  nop dword [rax]
0400  vmovups zmm24,[r9]
0406  vmovups zmm25,[r9+40h]
040d  vmovups zmm26,[r9+80h]
0414  vmovups zmm27,[r9+0C0h]
041b  vpbroadcastd zmm28,[r10+r14]
0422  vfmadd231ps zmm0,zmm28,zmm24
0428  vfmadd231ps zmm1,zmm28,zmm25
042e  vfmadd231ps zmm2,zmm28,zmm26
0434  vfmadd231ps zmm3,zmm28,zmm27
043a  vpbroadcastd zmm28,[r11+r14]
0441  vfmadd231ps zmm4,zmm28,zmm24
0447  vfmadd231ps zmm5,zmm28,zmm25
044d  vfmadd231ps zmm6,zmm28,zmm26
0453  vfmadd231ps zmm7,zmm28,zmm27
0459  vpbroadcastd zmm28,[rbx+r14]
0460  vfmadd231ps zmm8,zmm28,zmm24
0466  vfmadd231ps zmm9,zmm28,zmm25
046c  vfmadd231ps zmm10,zmm28,zmm26
0472  vfmadd231ps zmm11,zmm28,zmm27
0478  vpbroadcastd zmm28,[rbp+r14]
0480  vfmadd231ps zmm12,zmm28,zmm24
0486  vfmadd231ps zmm13,zmm28,zmm25
048c  vfmadd231ps zmm14,zmm28,zmm26
0492  vfmadd231ps zmm15,zmm28,zmm27
0498  vpbroadcastd zmm28,[r12+r14]
049f  vfmadd231ps zmm16,zmm28,zmm24
04a5  vfmadd231ps zmm17,zmm28,zmm25
04ab  vfmadd231ps zmm18,zmm28,zmm26
04b1  vfmadd231ps zmm19,zmm28,zmm27
04b7  vpbroadcastd zmm28,[r13+r14]
04bf  vfmadd231ps zmm20,zmm28,zmm24
04c5  vfmadd231ps zmm21,zmm28,zmm25
04cb  vfmadd231ps zmm22,zmm28,zmm26
04d1  vfmadd231ps zmm23,zmm28,zmm27
04d7  add r14,4
04db  add r9,100h
04e2  dec r15
04e5  jne near 400h
04eb  dec r8
04ee  jne near 180h
04f4  mov r8,[rdi+38h]
04f8  mov r9,[rax+10h]
04fc  mov r10,[rdi+40h]
0500  imul r10,rdx
0504  add r8,r9
0507  add r8,r10
050a  mov r9,[rsp+0C0h]
0512  lea r8,[r8+r9*4]
0516  mov r9,[rdi+40h]
051a  vmovups [r8],zmm0
0520  vmovups [r8+40h],zmm1
0527  vmovups [r8+80h],zmm2
052e  vmovups [r8+0C0h],zmm3
0535  add r8,r9
0538  vmovups [r8],zmm4
053e  vmovups [r8+40h],zmm5
0545  vmovups [r8+80h],zmm6
054c  vmovups [r8+0C0h],zmm7
0553  add r8,r9
0556  vmovups [r8],zmm8
055c  vmovups [r8+40h],zmm9
0563  vmovups [r8+80h],zmm10
056a  vmovups [r8+0C0h],zmm11
0571  add r8,r9
0574  vmovups [r8],zmm12
057a  vmovups [r8+40h],zmm13
0581  vmovups [r8+80h],zmm14
0588  vmovups [r8+0C0h],zmm15
058f  add r8,r9
0592  vmovups [r8],zmm16
0598  vmovups [r8+40h],zmm17
059f  vmovups [r8+80h],zmm18
05a6  vmovups [r8+0C0h],zmm19
05ad  add r8,r9
05b0  vmovups [r8],zmm20
05b6  vmovups [r8+40h],zmm21
05bd  vmovups [r8+80h],zmm22
05c4  vmovups [r8+0C0h],zmm23
05cb  mov r8,[rdi+28h]
05cf  add rsi,r8
05d2  mov r8,[rsp+0C0h]
05da  add r8,40h
05de  mov [rsp+0C0h],r8
05e6  mov r8,[rsp+80h]
05ee  dec r8
05f1  mov [rsp+80h],r8
05f9  jne near 0C0h
05ff  add rdx,6
0603  mov rsi,[rsp+40h]
0608  dec rsi
060b  mov [rsp+40h],rsi
0610  jne near 80h
0616  mov rax,rcx
0619  mov rcx,[rsp]
061d  dec rcx
0620  mov [rsp],rcx
0624  jne near 40h
062a  add rsp,100h
0631  pop r15
0633  pop r14
0635  pop r13
0637  pop r12
0639  pop rbp
063a  pop rbx
063b  vzeroupper
063e  ret
