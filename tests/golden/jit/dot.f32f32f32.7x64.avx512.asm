; 274 instructions, 1742 bytes, 18 spills, 0 of them in inner loops
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
0175  jle near 54Dh
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
01c8  jle near 400h
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
021c  vfmadd231ps zmm0,zmm31,[r8]
0222  vfmadd231ps zmm1,zmm31,zmm28
0228  vfmadd231ps zmm2,zmm31,zmm29
022e  vfmadd231ps zmm3,zmm31,zmm30
0234  vpbroadcastd zmm31,[r10+r14]
023b  vfmadd231ps zmm4,zmm31,[r8]
0241  vfmadd231ps zmm5,zmm31,zmm28
0247  vfmadd231ps zmm6,zmm31,zmm29
024d  vfmadd231ps zmm7,zmm31,zmm30
0253  vpbroadcastd zmm31,[r11+r14]
025a  vfmadd231ps zmm8,zmm31,[r8]
0260  vfmadd231ps zmm9,zmm31,zmm28
0266  vfmadd231ps zmm10,zmm31,zmm29
026c  vfmadd231ps zmm11,zmm31,zmm30
0272  vpbroadcastd zmm31,[rbx+r14]
0279  vfmadd231ps zmm12,zmm31,[r8]
027f  vfmadd231ps zmm13,zmm31,zmm28
0285  vfmadd231ps zmm14,zmm31,zmm29
028b  vfmadd231ps zmm15,zmm31,zmm30
0291  vpbroadcastd zmm31,[rbp+r14]
0299  vfmadd231ps zmm16,zmm31,[r8]
029f  vfmadd231ps zmm17,zmm31,zmm28
02a5  vfmadd231ps zmm18,zmm31,zmm29
02ab  vfmadd231ps zmm19,zmm31,zmm30
02b1  vpbroadcastd zmm31,[r12+r14]
02b8  vfmadd231ps zmm20,zmm31,[r8]
02be  vfmadd231ps zmm21,zmm31,zmm28
02c4  vfmadd231ps zmm22,zmm31,zmm29
02ca  vfmadd231ps zmm23,zmm31,zmm30
02d0  vpbroadcastd zmm31,[r13+r14]
02d8  vfmadd231ps zmm24,zmm31,[r8]
02de  vfmadd231ps zmm25,zmm31,zmm28
02e4  vfmadd231ps zmm26,zmm31,zmm29
02ea  vfmadd231ps zmm27,zmm31,zmm30
02f0  vmovups zmm28,[r8+140h]
02f7  vmovups zmm29,[r8+180h]
02fe  vmovups zmm30,[r8+1C0h]
0305  vpbroadcastd zmm31,[r9+r14+4]
030d  vfmadd231ps zmm0,zmm31,[r8+100h]
0314  vfmadd231ps zmm1,zmm31,zmm28
031a  vfmadd231ps zmm2,zmm31,zmm29
0320  vfmadd231ps zmm3,zmm31,zmm30
0326  vpbroadcastd zmm31,[r10+r14+4]
032e  vfmadd231ps zmm4,zmm31,[r8+100h]
0335  vfmadd231ps zmm5,zmm31,zmm28
033b  vfmadd231ps zmm6,zmm31,zmm29
0341  vfmadd231ps zmm7,zmm31,zmm30
0347  vpbroadcastd zmm31,[r11+r14+4]
034f  vfmadd231ps zmm8,zmm31,[r8+100h]
0356  vfmadd231ps zmm9,zmm31,zmm28
035c  vfmadd231ps zmm10,zmm31,zmm29
0362  vfmadd231ps zmm11,zmm31,zmm30
0368  vpbroadcastd zmm31,[rbx+r14+4]
0370  vfmadd231ps zmm12,zmm31,[r8+100h]
0377  vfmadd231ps zmm13,zmm31,zmm28
037d  vfmadd231ps zmm14,zmm31,zmm29
0383  vfmadd231ps zmm15,zmm31,zmm30
0389  vpbroadcastd zmm31,[rbp+r14+4]
0391  vfmadd231ps zmm16,zmm31,[r8+100h]
0398  vfmadd231ps zmm17,zmm31,zmm28
039e  vfmadd231ps zmm18,zmm31,zmm29
03a4  vfmadd231ps zmm19,zmm31,zmm30
03aa  vpbroadcastd zmm31,[r12+r14+4]
03b2  vfmadd231ps zmm20,zmm31,[r8+100h]
03b9  vfmadd231ps zmm21,zmm31,zmm28
03bf  vfmadd231ps zmm22,zmm31,zmm29
03c5  vfmadd231ps zmm23,zmm31,zmm30
03cb  vpbroadcastd zmm31,[r13+r14+4]
03d3  vfmadd231ps zmm24,zmm31,[r8+100h]
03da  vfmadd231ps zmm25,zmm31,zmm28
03e0  vfmadd231ps zmm26,zmm31,zmm29
03e6  vfmadd231ps zmm27,zmm31,zmm30
03ec  add r14,8
03f0  add r8,200h
03f7  dec r15
03fa  jne near 200h
0400  mov r15,[rdi+18h]
0404  and r15,1
0408  test r15,r15
040b  jle near 544h
0411  nop word [rax+rax]
041a  nop word [rax+rax]
0423  nop word [rax+rax]
042c  nop word [rax+rax]
0435  nop word [rax+rax]
043e  xchg ax,ax
0440  vmovups zmm28,[r8+40h]
0447  vmovups zmm29,[r8+80h]
044e  vmovups zmm30,[r8+0C0h]
0455  vpbroadcastd zmm31,[r9+r14]
045c  vfmadd231ps zmm0,zmm31,[r8]
0462  vfmadd231ps zmm1,zmm31,zmm28
0468  vfmadd231ps zmm2,zmm31,zmm29
046e  vfmadd231ps zmm3,zmm31,zmm30
0474  vpbroadcastd zmm31,[r10+r14]
047b  vfmadd231ps zmm4,zmm31,[r8]
0481  vfmadd231ps zmm5,zmm31,zmm28
0487  vfmadd231ps zmm6,zmm31,zmm29
048d  vfmadd231ps zmm7,zmm31,zmm30
0493  vpbroadcastd zmm31,[r11+r14]
049a  vfmadd231ps zmm8,zmm31,[r8]
04a0  vfmadd231ps zmm9,zmm31,zmm28
04a6  vfmadd231ps zmm10,zmm31,zmm29
04ac  vfmadd231ps zmm11,zmm31,zmm30
04b2  vpbroadcastd zmm31,[rbx+r14]
04b9  vfmadd231ps zmm12,zmm31,[r8]
04bf  vfmadd231ps zmm13,zmm31,zmm28
04c5  vfmadd231ps zmm14,zmm31,zmm29
04cb  vfmadd231ps zmm15,zmm31,zmm30
04d1  vpbroadcastd zmm31,[rbp+r14]
04d9  vfmadd231ps zmm16,zmm31,[r8]
04df  vfmadd231ps zmm17,zmm31,zmm28
04e5  vfmadd231ps zmm18,zmm31,zmm29
04eb  vfmadd231ps zmm19,zmm31,zmm30
04f1  vpbroadcastd zmm31,[r12+r14]
04f8  vfmadd231ps zmm20,zmm31,[r8]
04fe  vfmadd231ps zmm21,zmm31,zmm28
0504  vfmadd231ps zmm22,zmm31,zmm29
050a  vfmadd231ps zmm23,zmm31,zmm30
0510  vpbroadcastd zmm31,[r13+r14]
0518  vfmadd231ps zmm24,zmm31,[r8]
051e  vfmadd231ps zmm25,zmm31,zmm28
0524  vfmadd231ps zmm26,zmm31,zmm29
052a  vfmadd231ps zmm27,zmm31,zmm30
0530  add r14,4
0534  add r8,100h
053b  dec r15
053e  jne near 440h
0544  dec rsi
0547  jne near 180h
054d  mov rsi,[rdi+38h]
0551  mov r8,[rax+10h]
0555  mov r9,[rdi+40h]
0559  mov r10,[rsp+100h]
0561  imul r9,r10
0565  add rsi,r8
0568  add rsi,r9
056b  mov r8,[rsp+0C0h]
0573  lea rsi,[rsi+r8*4]
0577  mov r8,[rdi+40h]
057b  vmovups [rsi],zmm0
0581  vmovups [rsi+40h],zmm1
0588  vmovups [rsi+80h],zmm2
058f  vmovups [rsi+0C0h],zmm3
0596  add rsi,r8
0599  vmovups [rsi],zmm4
059f  vmovups [rsi+40h],zmm5
05a6  vmovups [rsi+80h],zmm6
05ad  vmovups [rsi+0C0h],zmm7
05b4  add rsi,r8
05b7  vmovups [rsi],zmm8
05bd  vmovups [rsi+40h],zmm9
05c4  vmovups [rsi+80h],zmm10
05cb  vmovups [rsi+0C0h],zmm11
05d2  add rsi,r8
05d5  vmovups [rsi],zmm12
05db  vmovups [rsi+40h],zmm13
05e2  vmovups [rsi+80h],zmm14
05e9  vmovups [rsi+0C0h],zmm15
05f0  add rsi,r8
05f3  vmovups [rsi],zmm16
05f9  vmovups [rsi+40h],zmm17
0600  vmovups [rsi+80h],zmm18
0607  vmovups [rsi+0C0h],zmm19
060e  add rsi,r8
0611  vmovups [rsi],zmm20
0617  vmovups [rsi+40h],zmm21
061e  vmovups [rsi+80h],zmm22
0625  vmovups [rsi+0C0h],zmm23
062c  add rsi,r8
062f  vmovups [rsi],zmm24
0635  vmovups [rsi+40h],zmm25
063c  vmovups [rsi+80h],zmm26
0643  vmovups [rsi+0C0h],zmm27
064a  mov rsi,[rdi+28h]
064e  add rdx,rsi
0651  mov rsi,[rsp+0C0h]
0659  add rsi,40h
065d  mov [rsp+0C0h],rsi
0665  mov rsi,[rsp+80h]
066d  dec rsi
0670  mov [rsp+80h],rsi
0678  jne near 0C0h
067e  mov rdx,[rsp+100h]
0686  add rdx,7
068a  mov [rsp+100h],rdx
0692  mov rdx,[rsp+40h]
0697  dec rdx
069a  mov [rsp+40h],rdx
069f  jne near 80h
06a5  mov rax,rcx
06a8  mov rcx,[rsp]
06ac  dec rcx
06af  mov [rsp],rcx
06b3  jne near 40h
06b9  add rsp,140h
06c0  pop r15
06c2  pop r14
06c4  pop r13
06c6  pop r12
06c8  pop rbp
06c9  pop rbx
06ca  vzeroupper
06cd  ret
