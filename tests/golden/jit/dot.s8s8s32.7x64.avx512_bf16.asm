; 295 instructions, 1940 bytes, 18 spills, 0 of them in inner loops
0000  push rbx
0001  push rbp
0002  push r12
0004  push r13
0006  push r14
0008  push r15
000a  sub rsp,140h
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
0084  mov esi,0
0089  mov [rsp+0C0h],rsi
0091  mov rsi,[rdi+10h]
0095  mov [rsp+80h],rsi
009d  nop word [rax+rax]
00a6  nop word [rax+rax]
00af  nop word [rax+rax]
00b8  nop dword [rax+rax]
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
0150  vpxord zmm24,zmm24,zmm24
0156  vpxord zmm25,zmm25,zmm25
015c  vpxord zmm26,zmm26,zmm26
0162  vpxord zmm27,zmm27,zmm27
0168  mov rcx,rax
016b  mov rsi,[rax]
016e  add rcx,60h
0172  test rsi,rsi
0175  jle near 613h
017b  nop dword [rax+rax]
0180  mov r8,[rcx]
0183  add r8,rdx
0186  mov r9,[rcx+8]
018a  mov r10,[rcx+10h]
018e  mov r11,[rcx+18h]
0192  mov rbx,[rcx+20h]
0196  mov rbp,[rcx+28h]
019a  mov r12,[rcx+30h]
019e  mov r13,[rcx+38h]
01a2  add rcx,40h
01a6  mov r14,[rax+18h]
01aa  mov r15,[rsp+100h]
01b2  imul r14,r15
01b6  mov r15,[rdi+30h]
01ba  add r14,r15
01bd  mov r15,[rdi+18h]
01c1  shr r15,1
01c5  test r15,r15
01c8  jle near 48Ch
01ce  nop word [rax+rax]
01d7  nop word [rax+rax]
01e0  nop word [rax+rax]
01e9  nop word [rax+rax]
01f2  nop word [rax+rax]
01fb  nop dword [rax+rax]
0200  vmovups zmm28,[r8+40h]
0207  vmovups zmm29,[r8+80h]
020e  vmovups zmm30,[r8+0C0h]
0215  vpbroadcastd zmm31,[r9+r14]
021c  vpxord zmm31,zmm31,[rel 7C0h]
0226  vpdpbusd zmm0,zmm31,[r8]
022c  vpdpbusd zmm1,zmm31,zmm28
0232  vpdpbusd zmm2,zmm31,zmm29
0238  vpdpbusd zmm3,zmm31,zmm30
023e  vpbroadcastd zmm31,[r10+r14]
0245  vpxord zmm31,zmm31,[rel 7C0h]
024f  vpdpbusd zmm4,zmm31,[r8]
0255  vpdpbusd zmm5,zmm31,zmm28
025b  vpdpbusd zmm6,zmm31,zmm29
0261  vpdpbusd zmm7,zmm31,zmm30
0267  vpbroadcastd zmm31,[r11+r14]
026e  vpxord zmm31,zmm31,[rel 7C0h]
0278  vpdpbusd zmm8,zmm31,[r8]
027e  vpdpbusd zmm9,zmm31,zmm28
0284  vpdpbusd zmm10,zmm31,zmm29
028a  vpdpbusd zmm11,zmm31,zmm30
0290  vpbroadcastd zmm31,[rbx+r14]
0297  vpxord zmm31,zmm31,[rel 7C0h]
02a1  vpdpbusd zmm12,zmm31,[r8]
02a7  vpdpbusd zmm13,zmm31,zmm28
02ad  vpdpbusd zmm14,zmm31,zmm29
02b3  vpdpbusd zmm15,zmm31,zmm30
02b9  vpbroadcastd zmm31,[rbp+r14]
02c1  vpxord zmm31,zmm31,[rel 7C0h]
02cb  vpdpbusd zmm16,zmm31,[r8]
02d1  vpdpbusd zmm17,zmm31,zmm28
02d7  vpdpbusd zmm18,zmm31,zmm29
02dd  vpdpbusd zmm19,zmm31,zmm30
02e3  vpbroadcastd zmm31,[r12+r14]
02ea  vpxord zmm31,zmm31,[rel 7C0h]
02f4  vpdpbusd zmm20,zmm31,[r8]
02fa  vpdpbusd zmm21,zmm31,zmm28
0300  vpdpbusd zmm22,zmm31,zmm29
0306  vpdpbusd zmm23,zmm31,zmm30
030c  vpbroadcastd zmm31,[r13+r14]
0314  vpxord zmm31,zmm31,[rel 7C0h]
031e  vpdpbusd zmm24,zmm31,[r8]
0324  vpdpbusd zmm25,zmm31,zmm28
032a  vpdpbusd zmm26,zmm31,zmm29
0330  vpdpbusd zmm27,zmm31,zmm30
0336  vmovups zmm28,[r8+140h]
033d  vmovups zmm29,[r8+180h]
0344  vmovups zmm30,[r8+1C0h]
034b  vpbroadcastd zmm31,[r9+r14+4]
0353  vpxord zmm31,zmm31,[rel 7C0h]
035d  vpdpbusd zmm0,zmm31,[r8+100h]
0364  vpdpbusd zmm1,zmm31,zmm28
036a  vpdpbusd zmm2,zmm31,zmm29
0370  vpdpbusd zmm3,zmm31,zmm30
0376  vpbroadcastd zmm31,[r10+r14+4]
037e  vpxord zmm31,zmm31,[rel 7C0h]
0388  vpdpbusd zmm4,zmm31,[r8+100h]
038f  vpdpbusd zmm5,zmm31,zmm28
0395  vpdpbusd zmm6,zmm31,zmm29
039b  vpdpbusd zmm7,zmm31,zmm30
03a1  vpbroadcastd zmm31,[r11+r14+4]
03a9  vpxord zmm31,zmm31,[rel 7C0h]
03b3  vpdpbusd zmm8,zmm31,[r8+100h]
03ba  vpdpbusd zmm9,zmm31,zmm28
03c0  vpdpbusd zmm10,zmm31,zmm29
03c6  vpdpbusd zmm11,zmm31,zmm30
03cc  vpbroadcastd zmm31,[rbx+r14+4]
03d4  vpxord zmm31,zmm31,[rel 7C0h]
03de  vpdpbusd zmm12,zmm31,[r8+100h]
03e5  vpdpbusd zmm13,zmm31,zmm28
03eb  vpdpbusd zmm14,zmm31,zmm29
03f1  vpdpbusd zmm15,zmm31,zmm30
03f7  vpbroadcastd zmm31,[rbp+r14+4]
03ff  vpxord zmm31,zmm31,[rel 7C0h]
0409  vpdpbusd zmm16,zmm31,[r8+100h]
0410  vpdpbusd zmm17,zmm31,zmm28
0416  vpdpbusd zmm18,zmm31,zmm29
041c  vpdpbusd zmm19,zmm31,zmm30
0422  vpbroadcastd zmm31,[r12+r14+4]
042a  vpxord zmm31,zmm31,[rel 7C0h]
0434  vpdpbusd zmm20,zmm31,[r8+100h]
043b  vpdpbusd zmm21,zmm31,zmm28
0441  vpdpbusd zmm22,zmm31,zmm29
0447  vpdpbusd zmm23,zmm31,zmm30
044d  vpbroadcastd zmm31,[r13+r14+4]
0455  vpxord zmm31,zmm31,[rel 7C0h]
045f  vpdpbusd zmm24,zmm31,[r8+100h]
0466  vpdpbusd zmm25,zmm31,zmm28
046c  vpdpbusd zmm26,zmm31,zmm29
0472  vpdpbusd zmm27,zmm31,zmm30
0478  add r14,8
047c  add r8,200h
0483  dec r15
0486  jne near 200h
048c  mov r15,[rdi+18h]
0490  and r15,1
0494  test r15,r15
0497  jle near 60Ah
049d  nop word [rax+rax]
04a6  nop word [rax+rax]
04af  nop word [rax+rax]
04b8  nop dword [rax+rax]
04c0  vmovups zmm28,[r8+40h]
04c7  vmovups zmm29,[r8+80h]
04ce  vmovups zmm30,[r8+0C0h]
04d5  vpbroadcastd zmm31,[r9+r14]
04dc  vpxord zmm31,zmm31,[rel 7C0h]
04e6  vpdpbusd zmm0,zmm31,[r8]
04ec  vpdpbusd zmm1,zmm31,zmm28
04f2  vpdpbusd zmm2,zmm31,zmm29
04f8  vpdpbusd zmm3,zmm31,zmm30
04fe  vpbroadcastd zmm31,[r10+r14]
0505  vpxord zmm31,zmm31,[rel 7C0h]
050f  vpdpbusd zmm4,zmm31,[r8]
0515  vpdpbusd zmm5,zmm31,zmm28
051b  vpdpbusd zmm6,zmm31,zmm29
0521  vpdpbusd zmm7,zmm31,zmm30
0527  vpbroadcastd zmm31,[r11+r14]
052e  vpxord zmm31,zmm31,[rel 7C0h]
0538  vpdpbusd zmm8,zmm31,[r8]
053e  vpdpbusd zmm9,zmm31,zmm28
0544  vpdpbusd zmm10,zmm31,zmm29
054a  vpdpbusd zmm11,zmm31,zmm30
0550  vpbroadcastd zmm31,[rbx+r14]
0557  vpxord zmm31,zmm31,[rel 7C0h]
0561  vpdpbusd zmm12,zmm31,[r8]
0567  vpdpbusd zmm13,zmm31,zmm28
056d  vpdpbusd zmm14,zmm31,zmm29
0573  vpdpbusd zmm15,zmm31,zmm30
0579  vpbroadcastd zmm31,[rbp+r14]
0581  vpxord zmm31,zmm31,[rel 7C0h]
058b  vpdpbusd zmm16,zmm31,[r8]
0591  vpdpbusd zmm17,zmm31,zmm28
0597  vpdpbusd zmm18,zmm31,zmm29
059d  vpdpbusd zmm19,zmm31,zmm30
05a3  vpbroadcastd zmm31,[r12+r14]
05aa  vpxord zmm31,zmm31,[rel 7C0h]
05b4  vpdpbusd zmm20,zmm31,[r8]
05ba  vpdpbusd zmm21,zmm31,zmm28
05c0  vpdpbusd zmm22,zmm31,zmm29
05c6  vpdpbusd zmm23,zmm31,zmm30
05cc  vpbroadcastd zmm31,[r13+r14]
05d4  vpxord zmm31,zmm31,[rel 7C0h]
05de  vpdpbusd zmm24,zmm31,[r8]
05e4  vpdpbusd zmm25,zmm31,zmm28
05ea  vpdpbusd zmm26,zmm31,zmm29
05f0  vpdpbusd zmm27,zmm31,zmm30
05f6  add r14,4
05fa  add r8,100h
0601  dec r15
0604  jne near 4C0h
060a  dec rsi
060d  jne near 180h
0613  mov rsi,[rdi+38h]
0617  mov r8,[rax+10h]
061b  mov r9,[rdi+40h]
061f  mov r10,[rsp+100h]
0627  imul r9,r10
062b  add rsi,r8
062e  add rsi,r9
0631  mov r8,[rsp+0C0h]
0639  lea rsi,[rsi+r8*4]
063d  mov r8,[rdi+40h]
0641  vmovups [rsi],zmm0
0647  vmovups [rsi+40h],zmm1
064e  vmovups [rsi+80h],zmm2
0655  vmovups [rsi+0C0h],zmm3
065c  add rsi,r8
065f  vmovups [rsi],zmm4
0665  vmovups [rsi+40h],zmm5
066c  vmovups [rsi+80h],zmm6
0673  vmovups [rsi+0C0h],zmm7
067a  add rsi,r8
067d  vmovups [rsi],zmm8
0683  vmovups [rsi+40h],zmm9
068a  vmovups [rsi+80h],zmm10
0691  vmovups [rsi+0C0h],zmm11
0698  add rsi,r8
069b  vmovups [rsi],zmm12
06a1  vmovups [rsi+40h],zmm13
06a8  vmovups [rsi+80h],zmm14
06af  vmovups [rsi+0C0h],zmm15
06b6  add rsi,r8
06b9  vmovups [rsi],zmm16
06bf  vmovups [rsi+40h],zmm17
06c6  vmovups [rsi+80h],zmm18
06cd  vmovups [rsi+0C0h],zmm19
06d4  add rsi,r8
06d7  vmovups [rsi],zmm20
06dd  vmovups [rsi+40h],zmm21
06e4  vmovups [rsi+80h],zmm22
06eb  vmovups [rsi+0C0h],zmm23
06f2  add rsi,r8
06f5  vmovups [rsi],zmm24
06fb  vmovups [rsi+40h],zmm25
0702  vmovups [rsi+80h],zmm26
0709  vmovups [rsi+0C0h],zmm27
0710  mov rsi,[rdi+28h]
0714  add rdx,rsi
0717  mov rsi,[rsp+0C0h]
071f  add rsi,40h
0723  mov [rsp+0C0h],rsi
072b  mov rsi,[rsp+80h]
0733  dec rsi
0736  mov [rsp+80h],rsi
073e  jne near 0C0h
0744  mov rdx,[rsp+100h]
074c  add rdx,7
0750  mov [rsp+100h],rdx
0758  mov rdx,[rsp+40h]
075d  dec rdx
0760  mov [rsp+40h],rdx
0765  jne near 80h
076b  mov rax,rcx
076e  mov rcx,[rsp]
0772  dec rcx
0775  mov [rsp],rcx
0779  jne near 40h
077f  add rsp,140h
0786  pop r15
0788  pop r14
078a  pop r13
078c  pop r12
078e  pop rbp
078f  pop rbx
0790  vzeroupper
0793  ret
