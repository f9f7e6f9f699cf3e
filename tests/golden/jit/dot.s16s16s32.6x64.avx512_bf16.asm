; 316 instructions, 1998 bytes, 13 spills, 0 of them in inner loops
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
015d  jle near 683h
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
01bc  jle near 4E5h
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
0214  vpbroadcastd zmm27,[r10+r14]
021b  vpmaddwd zmm28,zmm27,zmm24
0221  vpmaddwd zmm29,zmm27,zmm25
0227  vpaddd zmm0,zmm0,zmm28
022d  vpmaddwd zmm28,zmm27,zmm26
0233  vpaddd zmm1,zmm1,zmm29
0239  vpmaddwd zmm27,zmm27,[r9+0C0h]
0240  vpaddd zmm2,zmm2,zmm28
0246  vpbroadcastd zmm28,[r11+r14]
024d  vpmaddwd zmm29,zmm28,zmm24
0253  vpaddd zmm3,zmm3,zmm27
0259  vpmaddwd zmm27,zmm28,zmm25
025f  vpaddd zmm4,zmm4,zmm29
0265  vpmaddwd zmm29,zmm28,zmm26
026b  vpaddd zmm5,zmm5,zmm27
0271  vpmaddwd zmm27,zmm28,[r9+0C0h]
0278  vpaddd zmm6,zmm6,zmm29
027e  vpbroadcastd zmm28,[rbx+r14]
0285  vpmaddwd zmm29,zmm28,zmm24
028b  vpaddd zmm7,zmm7,zmm27
0291  vpmaddwd zmm27,zmm28,zmm25
0297  vpaddd zmm8,zmm8,zmm29
029d  vpmaddwd zmm29,zmm28,zmm26
02a3  vpaddd zmm9,zmm9,zmm27
02a9  vpmaddwd zmm27,zmm28,[r9+0C0h]
02b0  vpaddd zmm10,zmm10,zmm29
02b6  vpbroadcastd zmm28,[rbp+r14]
02be  vpmaddwd zmm29,zmm28,zmm24
02c4  vpaddd zmm11,zmm11,zmm27
02ca  vpmaddwd zmm27,zmm28,zmm25
02d0  vpaddd zmm12,zmm12,zmm29
02d6  vpmaddwd zmm29,zmm28,zmm26
02dc  vpaddd zmm13,zmm13,zmm27
02e2  vpmaddwd zmm27,zmm28,[r9+0C0h]
02e9  vpaddd zmm14,zmm14,zmm29
02ef  vpbroadcastd zmm28,[r12+r14]
02f6  vpmaddwd zmm29,zmm28,zmm24
02fc  vpaddd zmm15,zmm15,zmm27
0302  vpmaddwd zmm27,zmm28,zmm25
0308  vpaddd zmm16,zmm16,zmm29
030e  vpmaddwd zmm29,zmm28,zmm26
0314  vpaddd zmm17,zmm17,zmm27
031a  vpmaddwd zmm27,zmm28,[r9+0C0h]
0321  vpaddd zmm18,zmm18,zmm29
0327  vpbroadcastd zmm28,[r13+r14]
032f  vpmaddwd zmm24,zmm28,zmm24
0335  vpaddd zmm19,zmm19,zmm27
033b  vpmaddwd zmm25,zmm28,zmm25
0341  vpaddd zmm20,zmm20,zmm24
0347  vpmaddwd zmm24,zmm28,zmm26
034d  vpaddd zmm21,zmm21,zmm25
0353  vpmaddwd zmm25,zmm28,[r9+0C0h]
035a  vpaddd zmm22,zmm22,zmm24
0360  vpaddd zmm23,zmm23,zmm25
0366  vmovups zmm24,[r9+100h]
036d  vmovups zmm25,[r9+140h]
0374  vmovups zmm26,[r9+180h]
037b  vpbroadcastd zmm27,[r10+r14+4]
0383  vpmaddwd zmm28,zmm27,zmm24
0389  vpmaddwd zmm29,zmm27,zmm25
038f  vpaddd zmm0,zmm0,zmm28
0395  vpmaddwd zmm28,zmm27,zmm26
039b  vpaddd zmm1,zmm1,zmm29
03a1  vpmaddwd zmm27,zmm27,[r9+1C0h]
03a8  vpaddd zmm2,zmm2,zmm28
03ae  vpbroadcastd zmm28,[r11+r14+4]
03b6  vpmaddwd zmm29,zmm28,zmm24
03bc  vpaddd zmm3,zmm3,zmm27
03c2  vpmaddwd zmm27,zmm28,zmm25
03c8  vpaddd zmm4,zmm4,zmm29
03ce  vpmaddwd zmm29,zmm28,zmm26
03d4  vpaddd zmm5,zmm5,zmm27
03da  vpmaddwd zmm27,zmm28,[r9+1C0h]
03e1  vpaddd zmm6,zmm6,zmm29
03e7  vpbroadcastd zmm28,[rbx+r14+4]
03ef  vpmaddwd zmm29,zmm28,zmm24
03f5  vpaddd zmm7,zmm7,zmm27
03fb  vpmaddwd zmm27,zmm28,zmm25
0401  vpaddd zmm8,zmm8,zmm29
0407  vpmaddwd zmm29,zmm28,zmm26
040d  vpaddd zmm9,zmm9,zmm27
0413  vpmaddwd zmm27,zmm28,[r9+1C0h]
041a  vpaddd zmm10,zmm10,zmm29
0420  vpbroadcastd zmm28,[rbp+r14+4]
0428  vpmaddwd zmm29,zmm28,zmm24
042e  vpaddd zmm11,zmm11,zmm27
0434  vpmaddwd zmm27,zmm28,zmm25
043a  vpaddd zmm12,zmm12,zmm29
0440  vpmaddwd zmm29,zmm28,zmm26
0446  vpaddd zmm13,zmm13,zmm27
044c  vpmaddwd zmm27,zmm28,[r9+1C0h]
0453  vpaddd zmm14,zmm14,zmm29
0459  vpbroadcastd zmm28,[r12+r14+4]
0461  vpmaddwd zmm29,zmm28,zmm24
0467  vpaddd zmm15,zmm15,zmm27
046d  vpmaddwd zmm27,zmm28,zmm25
0473  vpaddd zmm16,zmm16,zmm29
0479  vpmaddwd zmm29,zmm28,zmm26
047f  vpaddd zmm17,zmm17,zmm27
0485  vpmaddwd zmm27,zmm28,[r9+1C0h]
048c  vpaddd zmm18,zmm18,zmm29
0492  vpbroadcastd zmm28,[r13+r14+4]
049a  vpmaddwd zmm24,zmm28,zmm24
04a0  vpaddd zmm19,zmm19,zmm27
04a6  vpmaddwd zmm25,zmm28,zmm25
04ac  vpaddd zmm20,zmm20,zmm24
04b2  vpmaddwd zmm24,zmm28,zmm26
04b8  vpaddd zmm21,zmm21,zmm25
04be  vpmaddwd zmm25,zmm28,[r9+1C0h]
04c5  vpaddd zmm22,zmm22,zmm24
04cb  vpaddd zmm23,zmm23,zmm25
04d1  add r14,8
04d5  add r9,200h
04dc  dec r15
04df  jne near 200h
04e5  mov r15,[rdi+18h]
04e9  and r15,1
04ed  test r15,r15
04f0  jle near 67Ah
04f6  nop word [rax+rax]
04ff  nop
0500  vmovups zmm24,[r9]
0506  vmovups zmm25,[r9+40h]
050d  vmovups zmm26,[r9+80h]
0514  vpbroadcastd zmm27,[r10+r14]
051b  vpmaddwd zmm28,zmm27,zmm24
0521  vpmaddwd zmm29,zmm27,zmm25
0527  vpaddd zmm0,zmm0,zmm28
052d  vpmaddwd zmm28,zmm27,zmm26
0533  vpaddd zmm1,zmm1,zmm29
0539  vpmaddwd zmm27,zmm27,[r9+0C0h]
0540  vpaddd zmm2,zmm2,zmm28
0546  vpbroadcastd zmm28,[r11+r14]
054d  vpmaddwd zmm29,zmm28,zmm24
0553  vpaddd zmm3,zmm3,zmm27
0559  vpmaddwd zmm27,zmm28,zmm25
055f  vpaddd zmm4,zmm4,zmm29
0565  vpmaddwd zmm29,zmm28,zmm26
056b  vpaddd zmm5,zmm5,zmm27
0571  vpmaddwd zmm27,zmm28,[r9+0C0h]
0578  vpaddd zmm6,zmm6,zmm29
057e  vpbroadcastd zmm28,[rbx+r14]
0585  vpmaddwd zmm29,zmm28,zmm24
058b  vpaddd zmm7,zmm7,zmm27
0591  vpmaddwd zmm27,zmm28,zmm25
0597  vpaddd zmm8,zmm8,zmm29
059d  vpmaddwd zmm29,zmm28,zmm26
05a3  vpaddd zmm9,zmm9,zmm27
05a9  vpmaddwd zmm27,zmm28,[r9+0C0h]
05b0  vpaddd zmm10,zmm10,zmm29
05b6  vpbroadcastd zmm28,[rbp+r14]
05be  vpmaddwd zmm29,zmm28,zmm24
05c4  vpaddd zmm11,zmm11,zmm27
05ca  vpmaddwd zmm27,zmm28,zmm25
05d0  vpaddd zmm12,zmm12,zmm29
05d6  vpmaddwd zmm29,zmm28,zmm26
05dc  vpaddd zmm13,zmm13,zmm27
05e2  vpmaddwd zmm27,zmm28,[r9+0C0h]
05e9  vpaddd zmm14,zmm14,zmm29
05ef  vpbroadcastd zmm28,[r12+r14]
05f6  vpmaddwd zmm29,zmm28,zmm24
05fc  vpaddd zmm15,zmm15,zmm27
0602  vpmaddwd zmm27,zmm28,zmm25
0608  vpaddd zmm16,zmm16,zmm29
060e  vpmaddwd zmm29,zmm28,zmm26
0614  vpaddd zmm17,zmm17,zmm27
061a  vpmaddwd zmm27,zmm28,[r9+0C0h]
0621  vpaddd zmm18,zmm18,zmm29
0627  vpbroadcastd zmm28,[r13+r14]
062f  vpmaddwd zmm24,zmm28,zmm24
0635  vpaddd zmm19,zmm19,zmm27
063b  vpmaddwd zmm25,zmm28,zmm25
0641  vpaddd zmm20,zmm20,zmm24
0647  vpmaddwd zmm24,zmm28,zmm26
064d  vpaddd zmm21,zmm21,zmm25
0653  vpmaddwd zmm25,zmm28,[r9+0C0h]
065a  vpaddd zmm22,zmm22,zmm24
0660  vpaddd zmm23,zmm23,zmm25
0666  add r14,4
066a  add r9,100h
0671  dec r15
0674  jne near 500h
067a  dec r8
067d  jne near 180h
0683  mov r8,[rdi+38h]
0687  mov r9,[rax+10h]
068b  mov r10,[rdi+40h]
068f  imul r10,rdx
0693  add r8,r9
0696  add r8,r10
0699  mov r9,[rsp+0C0h]
06a1  lea r8,[r8+r9*4]
06a5  mov r9,[rdi+40h]
06a9  vmovups [r8],zmm0
06af  vmovups [r8+40h],zmm1
06b6  vmovups [r8+80h],zmm2
06bd  vmovups [r8+0C0h],zmm3
06c4  add r8,r9
06c7  vmovups [r8],zmm4
06cd  vmovups [r8+40h],zmm5
06d4  vmovups [r8+80h],zmm6
06db  vmovups [r8+0C0h],zmm7
06e2  add r8,r9
06e5  vmovups [r8],zmm8
06eb  vmovups [r8+40h],zmm9
06f2  vmovups [r8+80h],zmm10
06f9  vmovups [r8+0C0h],zmm11
0700  add r8,r9
0703  vmovups [r8],zmm12
0709  vmovups [r8+40h],zmm13
0710  vmovups [r8+80h],zmm14
0717  vmovups [r8+0C0h],zmm15
071e  add r8,r9
0721  vmovups [r8],zmm16
0727  vmovups [r8+40h],zmm17
072e  vmovups [r8+80h],zmm18
0735  vmovups [r8+0C0h],zmm19
073c  add r8,r9
073f  vmovups [r8],zmm20
0745  vmovups [r8+40h],zmm21
074c  vmovups [r8+80h],zmm22
0753  vmovups [r8+0C0h],zmm23
075a  mov r8,[rdi+28h]
075e  add rsi,r8
0761  mov r8,[rsp+0C0h]
0769  add r8,40h
076d  mov [rsp+0C0h],r8
0775  mov r8,[rsp+80h]
077d  dec r8
0780  mov [rsp+80h],r8
0788  jne near 0C0h
078e  add rdx,6
0792  mov rsi,[rsp+40h]
0797  dec rsi
079a  mov [rsp+40h],rsi
079f  jne near 80h
07a5  mov rax,rcx
07a8  mov rcx,[rsp]
07ac  dec rcx
07af  mov [rsp],rcx
07b3  jne near 40h
07b9  add rsp,100h
07c0  pop r15
07c2  pop r14
07c4  pop r13
07c6  pop r12
07c8  pop rbp
07c9  pop rbx
07ca  vzeroupper
07cd  ret
