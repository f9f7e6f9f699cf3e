; 349 instructions, 2267 bytes, 13 spills, 0 of them in inner loops
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
015d  jle near 790h
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
01bc  jle near 57Fh
01c2  nop word [rax+rax]
01cb  nop word [rax+rax]
01d4  nop word [rax+rax]
01dd  nop word [rax+rax]
01e6  nop word [rax+rax]
01ef  nop word [rax+rax]
01f8  nop dword [rax+rax]
0200  vcvtph2ps zmm24,[r9]
0206  vcvtph2ps zmm25,[r9+20h]
020d  vcvtph2ps zmm26,[r9+40h]
0214  vcvtph2ps zmm27,[r9+60h]
021b  vcvtph2psx zmm28,[r10+r14]{1to16}
0222  vfmadd231ps zmm0,zmm28,zmm24
0228  vfmadd231ps zmm1,zmm28,zmm25
022e  vfmadd231ps zmm2,zmm28,zmm26
0234  vfmadd231ps zmm3,zmm28,zmm27
023a  vcvtph2psx zmm28,[r11+r14]{1to16}
0241  vfmadd231ps zmm4,zmm28,zmm24
0247  vfmadd231ps zmm5,zmm28,zmm25
024d  vfmadd231ps zmm6,zmm28,zmm26
0253  vfmadd231ps zmm7,zmm28,zmm27
0259  vcvtph2psx zmm28,[rbx+r14]{1to16}
0260  vfmadd231ps zmm8,zmm28,zmm24
0266  vfmadd231ps zmm9,zmm28,zmm25
026c  vfmadd231ps zmm10,zmm28,zmm26
0272  vfmadd231ps zmm11,zmm28,zmm27
0278  vcvtph2psx zmm28,[rbp+r14]{1to16}
0280  vfmadd231ps zmm12,zmm28,zmm24
0286  vfmadd231ps zmm13,zmm28,zmm25
028c  vfmadd231ps zmm14,zmm28,zmm26
0292  vfmadd231ps zmm15,zmm28,zmm27
0298  vcvtph2psx zmm28,[r12+r14]{1to16}
029f  vfmadd231ps zmm16,zmm28,zmm24
02a5  vfmadd231ps zmm17,zmm28,zmm25
02ab  vfmadd231ps zmm18,zmm28,zmm26
02b1  vfmadd231ps zmm19,zmm28,zmm27
02b7  vcvtph2psx zmm28,[r13+r14]{1to16}
02bf  vfmadd231ps zmm20,zmm28,zmm24
02c5  vfmadd231ps zmm21,zmm28,zmm25
02cb  vfmadd231ps zmm22,zmm28,zmm26
02d1  vfmadd231ps zmm23,zmm28,zmm27
02d7  vcvtph2ps zmm24,[r9+80h]
02de  vcvtph2ps zmm25,[r9+0A0h]
02e5  vcvtph2ps zmm26,[r9+0C0h]
02ec  vcvtph2ps zmm27,[r9+0E0h]
02f3  vcvtph2psx zmm28,[r10+r14+2]{1to16}
02fb  vfmadd231ps zmm0,zmm28,zmm24
0301  vfmadd231ps zmm1,zmm28,zmm25
0307  vfmadd231ps zmm2,zmm28,zmm26
030d  vfmadd231ps zmm3,zmm28,zmm27
0313  vcvtph2psx zmm28,[r11+r14+2]{1to16}
031b  vfmadd231ps zmm4,zmm28,zmm24
0321  vfmadd231ps zmm5,zmm28,zmm25
0327  vfmadd231ps zmm6,zmm28,zmm26
032d  vfmadd231ps zmm7,zmm28,zmm27
0333  vcvtph2psx zmm28,[rbx+r14+2]{1to16}
033b  vfmadd231ps zmm8,zmm28,zmm24
0341  vfmadd231ps zmm9,zmm28,zmm25
0347  vfmadd231ps zmm10,zmm28,zmm26
034d  vfmadd231ps zmm11,zmm28,zmm27
0353  vcvtph2psx zmm28,[rbp+r14+2]{1to16}
035b  vfmadd231ps zmm12,zmm28,zmm24
0361  vfmadd231ps zmm13,zmm28,zmm25
0367  vfmadd231ps zmm14,zmm28,zmm26
036d  vfmadd231ps zmm15,zmm28,zmm27
0373  vcvtph2psx zmm28,[r12+r14+2]{1to16}
037b  vfmadd231ps zmm16,zmm28,zmm24
0381  vfmadd231ps zmm17,zmm28,zmm25
0387  vfmadd231ps zmm18,zmm28,zmm26
038d  vfmadd231ps zmm19,zmm28,zmm27
0393  vcvtph2psx zmm28,[r13+r14+2]{1to16}
039b  vfmadd231ps zmm20,zmm28,zmm24
03a1  vfmadd231ps zmm21,zmm28,zmm25
03a7  vfmadd231ps zmm22,zmm28,zmm26
03ad  vfmadd231ps zmm23,zmm28,zmm27
03b3  vcvtph2ps zmm24,[r9+100h]
03ba  vcvtph2ps zmm25,[r9+120h]
03c1  vcvtph2ps zmm26,[r9+140h]
03c8  vcvtph2ps zmm27,[r9+160h]
03cf  vcvtph2psx zmm28,[r10+r14+4]{1to16}
03d7  vfmadd231ps zmm0,zmm28,zmm24
03dd  vfmadd231ps zmm1,zmm28,zmm25
03e3  vfmadd231ps zmm2,zmm28,zmm26
03e9  vfmadd231ps zmm3,zmm28,zmm27
03ef  vcvtph2psx zmm28,[r11+r14+4]{1to16}
03f7  vfmadd231ps zmm4,zmm28,zmm24
03fd  vfmadd231ps zmm5,zmm28,zmm25
0403  vfmadd231ps zmm6,zmm28,zmm26
0409  vfmadd231ps zmm7,zmm28,zmm27
040f  vcvtph2psx zmm28,[rbx+r14+4]{1to16}
0417  vfmadd231ps zmm8,zmm28,zmm24
041d  vfmadd231ps zmm9,zmm28,zmm25
0423  vfmadd231ps zmm10,zmm28,zmm26
0429  vfmadd231ps zmm11,zmm28,zmm27
042f  vcvtph2psx zmm28,[rbp+r14+4]{1to16}
0437  vfmadd231ps zmm12,zmm28,zmm24
043d  vfmadd231ps zmm13,zmm28,zmm25
0443  vfmadd231ps zmm14,zmm28,zmm26
0449  vfmadd231ps zmm15,zmm28,zmm27
044f  vcvtph2psx zmm28,[r12+r14+4]{1to16}
0457  vfmadd231ps zmm16,zmm28,zmm24
045d  vfmadd231ps zmm17,zmm28,zmm25
0463  vfmadd231ps zmm18,zmm28,zmm26
0469  vfmadd231ps zmm19,zmm28,zmm27
046f  vcvtph2psx zmm28,[r13+r14+4]{1to16}
0477  vfmadd231ps zmm20,zmm28,zmm24
047d  vfmadd231ps zmm21,zmm28,zmm25
0483  vfmadd231ps zmm22,zmm28,zmm26
0489  vfmadd231ps zmm23,zmm28,zmm27
048f  vcvtph2ps zmm24,[r9+180h]
0496  vcvtph2ps zmm25,[r9+1A0h]
049d  vcvtph2ps zmm26,[r9+1C0h]
04a4  vcvtph2ps zmm27,[r9+1E0h]
04ab  vcvtph2psx zmm28,[r10+r14+6]{1to16}
04b3  vfmadd231ps zmm0,zmm28,zmm24
04b9  vfmadd231ps zmm1,zmm28,zmm25
04bf  vfmadd231ps zmm2,zmm28,zmm26
04c5  vfmadd231ps zmm3,zmm28,zmm27
04cb  vcvtph2psx zmm28,[r11+r14+6]{1to16}
04d3  vfmadd231ps zmm4,zmm28,zmm24
04d9  vfmadd231ps zmm5,zmm28,zmm25
04df  vfmadd231ps zmm6,zmm28,zmm26
04e5  vfmadd231ps zmm7,zmm28,zmm27
04eb  vcvtph2psx zmm28,[rbx+r14+6]{1to16}
04f3  vfmadd231ps zmm8,zmm28,zmm24
04f9  vfmadd231ps zmm9,zmm28,zmm25
04ff  vfmadd231ps zmm10,zmm28,zmm26
0505  vfmadd231ps zmm11,zmm28,zmm27
050b  vcvtph2psx zmm28,[rbp+r14+6]{1to16}
0513  vfmadd231ps zmm12,zmm28,zmm24
0519  vfmadd231ps zmm13,zmm28,zmm25
051f  vfmadd231ps zmm14,zmm28,zmm26
0525  vfmadd231ps zmm15,zmm28,zmm27
052b  vcvtph2psx zmm28,[r12+r14+6]{1to16}
0533  vfmadd231ps zmm16,zmm28,zmm24
0539  vfmadd231ps zmm17,zmm28,zmm25
053f  vfmadd231ps zmm18,zmm28,zmm26
0545  vfmadd231ps zmm19,zmm28,zmm27
054b  vcvtph2psx zmm28,[r13+r14+6]{1to16}
0553  vfmadd231ps zmm20,zmm28,zmm24
0559  vfmadd231ps zmm21,zmm28,zmm25
055f  vfmadd231ps zmm22,zmm28,zmm26
0565  vfmadd231ps zmm23,zmm28,zmm27
056b  add r14,8
056f  add r9,200h
0576  dec r15
0579  jne near 200h
057f  mov r15,[rdi+18h]
0583  and r15,1
0587  test r15,r15
058a  jle near 787h
0590  nop word [rax+rax]
0599  nop word [rax+rax]
05a2  nop word [rax+rax]
05ab  nop word [rax+rax]
05b4  nop word [rax+rax]
05bd  nop dword [rax]
05c0  vcvtph2ps zmm24,[r9]
05c6  vcvtph2ps zmm25,[r9+20h]
05cd  vcvtph2ps zmm26,[r9+40h]
05d4  vcvtph2ps zmm27,[r9+60h]
05db  vcvtph2psx zmm28,[r10+r14]{1to16}
05e2  vfmadd231ps zmm0,zmm28,zmm24
05e8  vfmadd231ps zmm1,zmm28,zmm25
05ee  vfmadd231ps zmm2,zmm28,zmm26
05f4  vfmadd231ps zmm3,zmm28,zmm27
05fa  vcvtph2psx zmm28,[r11+r14]{1to16}
0601  vfmadd231ps zmm4,zmm28,zmm24
0607  vfmadd231ps zmm5,zmm28,zmm25
060d  vfmadd231ps zmm6,zmm28,zmm26
0613  vfmadd231ps zmm7,zmm28,zmm27
0619  vcvtph2psx zmm28,[rbx+r14]{1to16}
0620  vfmadd231ps zmm8,zmm28,zmm24
0626  vfmadd231ps zmm9,zmm28,zmm25
062c  vfmadd231ps zmm10,zmm28,zmm26
0632  vfmadd231ps zmm11,zmm28,zmm27
0638  vcvtph2psx zmm28,[rbp+r14]{1to16}
0640  vfmadd231ps zmm12,zmm28,zmm24
0646  vfmadd231ps zmm13,zmm28,zmm25
064c  vfmadd231ps zmm14,zmm28,zmm26
0652  vfmadd231ps zmm15,zmm28,zmm27
0658  vcvtph2psx zmm28,[r12+r14]{1to16}
065f  vfmadd231ps zmm16,zmm28,zmm24
0665  vfmadd231ps zmm17,zmm28,zmm25
066b  vfmadd231ps zmm18,zmm28,zmm26
0671  vfmadd231ps zmm19,zmm28,zmm27
0677  vcvtph2psx zmm28,[r13+r14]{1to16}
067f  vfmadd231ps zmm20,zmm28,zmm24
0685  vfmadd231ps zmm21,zmm28,zmm25
068b  vfmadd231ps zmm22,zmm28,zmm26
0691  vfmadd231ps zmm23,zmm28,zmm27
0697  vcvtph2ps zmm24,[r9+80h]
069e  vcvtph2ps zmm25,[r9+0A0h]
06a5  vcvtph2ps zmm26,[r9+0C0h]
06ac  vcvtph2ps zmm27,[r9+0E0h]
06b3  vcvtph2psx zmm28,[r10+r14+2]{1to16}
06bb  vfmadd231ps zmm0,zmm28,zmm24
06c1  vfmadd231ps zmm1,zmm28,zmm25
06c7  vfmadd231ps zmm2,zmm28,zmm26
06cd  vfmadd231ps zmm3,zmm28,zmm27
06d3  vcvtph2psx zmm28,[r11+r14+2]{1to16}
06db  vfmadd231ps zmm4,zmm28,zmm24
06e1  vfmadd231ps zmm5,zmm28,zmm25
06e7  vfmadd231ps zmm6,zmm28,zmm26
06ed  vfmadd231ps zmm7,zmm28,zmm27
06f3  vcvtph2psx zmm28,[rbx+r14+2]{1to16}
06fb  vfmadd231ps zmm8,zmm28,zmm24
0701  vfmadd231ps zmm9,zmm28,zmm25
0707  vfmadd231ps zmm10,zmm28,zmm26
070d  vfmadd231ps zmm11,zmm28,zmm27
0713  vcvtph2psx zmm28,[rbp+r14+2]{1to16}
071b  vfmadd231ps zmm12,zmm28,zmm24
0721  vfmadd231ps zmm13,zmm28,zmm25
0727  vfmadd231ps zmm14,zmm28,zmm26
072d  vfmadd231ps zmm15,zmm28,zmm27
0733  vcvtph2psx zmm28,[r12+r14+2]{1to16}
073b  vfmadd231ps zmm16,zmm28,zmm24
0741  vfmadd231ps zmm17,zmm28,zmm25
0747  vfmadd231ps zmm18,zmm28,zmm26
074d  vfmadd231ps zmm19,zmm28,zmm27
0753  vcvtph2psx zmm28,[r13+r14+2]{1to16}
075b  vfmadd231ps zmm20,zmm28,zmm24
0761  vfmadd231ps zmm21,zmm28,zmm25
0767  vfmadd231ps zmm22,zmm28,zmm26
076d  vfmadd231ps zmm23,zmm28,zmm27
0773  add r14,4
0777  add r9,100h
077e  dec r15
0781  jne near 5C0h
0787  dec r8
078a  jne near 180h
0790  mov r8,[rdi+38h]
0794  mov r9,[rax+10h]
0798  mov r10,[rdi+40h]
079c  imul r10,rdx
07a0  add r8,r9
07a3  add r8,r10
07a6  mov r9,[rsp+0C0h]
07ae  lea r8,[r8+r9*4]
07b2  mov r9,[rdi+40h]
07b6  vmovups [r8],zmm0
07bc  vmovups [r8+40h],zmm1
07c3  vmovups [r8+80h],zmm2
07ca  vmovups [r8+0C0h],zmm3
07d1  add r8,r9
07d4  vmovups [r8],zmm4
07da  vmovups [r8+40h],zmm5
07e1  vmovups [r8+80h],zmm6
07e8  vmovups [r8+0C0h],zmm7
07ef  add r8,r9
07f2  vmovups [r8],zmm8
07f8  vmovups [r8+40h],zmm9
07ff  vmovups [r8+80h],zmm10
0806  vmovups [r8+0C0h],zmm11
080d  add r8,r9
0810  vmovups [r8],zmm12
0816  vmovups [r8+40h],zmm13
081d  vmovups [r8+80h],zmm14
0824  vmovups [r8+0C0h],zmm15
082b  add r8,r9
082e  vmovups [r8],zmm16
0834  vmovups [r8+40h],zmm17
083b  vmovups [r8+80h],zmm18
0842  vmovups [r8+0C0h],zmm19
0849  add r8,r9
084c  vmovups [r8],zmm20
0852  vmovups [r8+40h],zmm21
0859  vmovups [r8+80h],zmm22
0860  vmovups [r8+0C0h],zmm23
0867  mov r8,[rdi+28h]
086b  add rsi,r8
086e  mov r8,[rsp+0C0h]
0876  add r8,40h
087a  mov [rsp+0C0h],r8
0882  mov r8,[rsp+80h]
088a  dec r8
088d  mov [rsp+80h],r8
0895  jne near 0C0h
089b  add rdx,6
089f  mov rsi,[rsp+40h]
08a4  dec rsi
08a7  mov [rsp+40h],rsi
08ac  jne near 80h
08b2  mov rax,rcx
08b5  mov rcx,[rsp]
08b9  dec rcx
08bc  mov [rsp],rcx
08c0  jne near 40h
08c6  add rsp,100h
08cd  pop r15
08cf  pop r14
08d1  pop r13
08d3  pop r12
08d5  pop rbp
08d6  pop rbx
08d7  vzeroupper
08da  ret
