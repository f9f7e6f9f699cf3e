; 245 instructions, 1535 bytes, 13 spills, 0 of them in inner loops
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
015d  jle near 4B4h
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
01aa  mov r15,[rdi+18h]
01ae  shr r15,1
01b2  test r15,r15
01b5  jle near 387h
01bb  nop dword [rax+rax]
01c0  vmovups zmm24,[r9]
01c6  vmovups zmm25,[r9+40h]
01cd  vmovups zmm26,[r9+80h]
01d4  vmovups zmm27,[r9+0C0h]
01db  vpbroadcastd zmm28,[r10+r14]
01e2  vpdpbusd zmm0,zmm28,zmm24
01e8  vpdpbusd zmm1,zmm28,zmm25
01ee  vpdpbusd zmm2,zmm28,zmm26
01f4  vpdpbusd zmm3,zmm28,zmm27
01fa  vpbroadcastd zmm28,[r11+r14]
0201  vpdpbusd zmm4,zmm28,zmm24
0207  vpdpbusd zmm5,zmm28,zmm25
020d  vpdpbusd zmm6,zmm28,zmm26
0213  vpdpbusd zmm7,zmm28,zmm27
0219  vpbroadcastd zmm28,[rbx+r14]
0220  vpdpbusd zmm8,zmm28,zmm24
0226  vpdpbusd zmm9,zmm28,zmm25
022c  vpdpbusd zmm10,zmm28,zmm26
0232  vpdpbusd zmm11,zmm28,zmm27
0238  vpbroadcastd zmm28,[rbp+r14]
0240  vpdpbusd zmm12,zmm28,zmm24
0246  vpdpbusd zmm13,zmm28,zmm25
024c  vpdpbusd zmm14,zmm28,zmm26
0252  vpdpbusd zmm15,zmm28,zmm27
0258  vpbroadcastd zmm28,[r12+r14]
025f  vpdpbusd zmm16,zmm28,zmm24
0265  vpdpbusd zmm17,zmm28,zmm25
026b  vpdpbusd zmm18,zmm28,zmm26
0271  vpdpbusd zmm19,zmm28,zmm27
0277  vpbroadcastd zmm28,[r13+r14]
027f  vpdpbusd zmm20,zmm28,zmm24
0285  vpdpbusd zmm21,zmm28,zmm25
028b  vpdpbusd zmm22,zmm28,zmm26
0291  vpdpbusd zmm23,zmm28,zmm27
0297  vmovups zmm24,[r9+100h]
029e  vmovups zmm25,[r9+140h]
02a5  vmovups zmm26,[r9+180h]
02ac  vmovups zmm27,[r9+1C0h]
02b3  vpbroadcastd zmm28,[r10+r14+4]
02bb  vpdpbusd zmm0,zmm28,zmm24
02c1  vpdpbusd zmm1,zmm28,zmm25
02c7  vpdpbusd zmm2,zmm28,zmm26
02cd  vpdpbusd zmm3,zmm28,zmm27
02d3  vpbroadcastd zmm28,[r11+r14+4]
02db  vpdpbusd zmm4,zmm28,zmm24
02e1  vpdpbusd zmm5,zmm28,zmm25
02e7  vpdpbusd zmm6,zmm28,zmm26
02ed  vpdpbusd zmm7,zmm28,zmm27
02f3  vpbroadcastd zmm28,[rbx+r14+4]
02fb  vpdpbusd zmm8,zmm28,zmm24
0301  vpdpbusd zmm9,zmm28,zmm25
0307  vpdpbusd zmm10,zmm28,zmm26
030d  vpdpbusd zmm11,zmm28,zmm27
0313  vpbroadcastd zmm28,[rbp+r14+4]
031b  vpdpbusd zmm12,zmm28,zmm24
0321  vpdpbusd zmm13,zmm28,zmm25
0327  vpdpbusd zmm14,zmm28,zmm26
032d  vpdpbusd zmm15,zmm28,zmm27
0333  vpbroadcastd zmm28,[r12+r14+4]
033b  vpdpbusd zmm16,zmm28,zmm24
0341  vpdpbusd zmm17,zmm28,zmm25
0347  vpdpbusd zmm18,zmm28,zmm26
034d  vpdpbusd zmm19,zmm28,zmm27
0353  vpbroadcastd zmm28,[r13+r14+4]
035b  vpdpbusd zmm20,zmm28,zmm24
0361  vpdpbusd zmm21,zmm28,zmm25
0367  vpdpbusd zmm22,zmm28,zmm26
036d  vpdpbusd zmm23,zmm28,zmm27
0373  add r14,8
0377  add r9,200h
037e  dec r15
0381  jne near 1C0h
0387  mov r15,[rdi+18h]
038b  and r15,1
038f  test r15,r15
0392  jle near 4ABh
0398  nop word [rax+rax]
03a1  nop word [rax+rax]
03aa  nop word [rax+rax]
03b3  nop word [rax+rax]
03bc  nop dword [rax]
03c0  vmovups zmm24,[r9]
03c6  vmovups zmm25,[r9+40h]
03cd  vmovups zmm26,[r9+80h]
03d4  vmovups zmm27,[r9+0C0h]
03db  vpbroadcastd zmm28,[r10+r14]
03e2  vpdpbusd zmm0,zmm28,zmm24
03e8  vpdpbusd zmm1,zmm28,zmm25
03ee  vpdpbusd zmm2,zmm28,zmm26
03f4  vpdpbusd zmm3,zmm28,zmm27
03fa  vpbroadcastd zmm28,[r11+r14]
0401  vpdpbusd zmm4,zmm28,zmm24
0407  vpdpbusd zmm5,zmm28,zmm25
040d  vpdpbusd zmm6,zmm28,zmm26
0413  vpdpbusd zmm7,zmm28,zmm27
0419  vpbroadcastd zmm28,[rbx+r14]
0420  vpdpbusd zmm8,zmm28,zmm24
0426  vpdpbusd zmm9,zmm28,zmm25
042c  vpdpbusd zmm10,zmm28,zmm26
0432  vpdpbusd zmm11,zmm28,zmm27
0438  vpbroadcastd zmm28,[rbp+r14]
0440  vpdpbusd zmm12,zmm28,zmm24
0446  vpdpbusd zmm13,zmm28,zmm25
044c  vpdpbusd zmm14,zmm28,zmm26
0452  vpdpbusd zmm15,zmm28,zmm27
0458  vpbroadcastd zmm28,[r12+r14]
045f  vpdpbusd zmm16,zmm28,zmm24
0465  vpdpbusd zmm17,zmm28,zmm25
046b  vpdpbusd zmm18,zmm28,zmm26
0471  vpdpbusd zmm19,zmm28,zmm27
0477  vpbroadcastd zmm28,[r13+r14]
047f  vpdpbusd zmm20,zmm28,zmm24
0485  vpdpbusd zmm21,zmm28,zmm25
048b  vpdpbusd zmm22,zmm28,zmm26
0491  vpdpbusd zmm23,zmm28,zmm27
0497  add r14,4
049b  add r9,100h
04a2  dec r15
04a5  jne near 3C0h
04ab  dec r8
04ae  jne near 180h
04b4  mov r8,[rdi+30h]
04b8  mov r9,[rax+10h]
04bc  mov r10,[rdi+38h]
04c0  imul r10,rdx
04c4  add r8,r9
04c7  add r8,r10
04ca  mov r9,[rsp+0C0h]
04d2  lea r8,[r8+r9*4]
04d6  mov r9,[rdi+38h]
04da  vmovups [r8],zmm0
04e0  vmovups [r8+40h],zmm1
04e7  vmovups [r8+80h],zmm2
04ee  vmovups [r8+0C0h],zmm3
04f5  add r8,r9
04f8  vmovups [r8],zmm4
04fe  vmovups [r8+40h],zmm5
0505  vmovups [r8+80h],zmm6
050c  vmovups [r8+0C0h],zmm7
0513  add r8,r9
0516  vmovups [r8],zmm8
051c  vmovups [r8+40h],zmm9
0523  vmovups [r8+80h],zmm10
052a  vmovups [r8+0C0h],zmm11
0531  add r8,r9
0534  vmovups [r8],zmm12
053a  vmovups [r8+40h],zmm13
0541  vmovups [r8+80h],zmm14
0548  vmovups [r8+0C0h],zmm15
054f  add r8,r9
0552  vmovups [r8],zmm16
0558  vmovups [r8+40h],zmm17
055f  vmovups [r8+80h],zmm18
0566  vmovups [r8+0C0h],zmm19
056d  add r8,r9
0570  vmovups [r8],zmm20
0576  vmovups [r8+40h],zmm21
057d  vmovups [r8+80h],zmm22
0584  vmovups [r8+0C0h],zmm23
058b  mov r8,[rdi+28h]
058f  add rsi,r8
0592  mov r8,[rsp+0C0h]
059a  add r8,40h
059e  mov [rsp+0C0h],r8
05a6  mov r8,[rsp+80h]
05ae  dec r8
05b1  mov [rsp+80h],r8
05b9  jne near 0C0h
05bf  add rdx,6
05c3  mov rsi,[rsp+40h]
05c8  dec rsi
05cb  mov [rsp+40h],rsi
05d0  jne near 80h
05d6  mov rax,rcx
05d9  mov rcx,[rsp]
05dd  dec rcx
05e0  mov [rsp],rcx
05e4  jne near 40h
05ea  add rsp,100h
05f1  pop r15
05f3  pop r14
05f5  pop r13
05f7  pop r12
05f9  pop rbp
05fa  pop rbx
05fb  vzeroupper
05fe  ret
