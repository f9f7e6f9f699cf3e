; 409 instructions, 2752 bytes, 13 spills, 0 of them in inner loops
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
015d  jle near 975h
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
01bc  jle near 6CEh
01c2  nop word [rax+rax]
01cb  nop word [rax+rax]
01d4  nop word [rax+rax]
01dd  nop word [rax+rax]
01e6  nop word [rax+rax]
01ef  nop word [rax+rax]
01f8  nop dword [rax+rax]
0200  vmovups zmm24,[r9]
0206  vpslld zmm24,zmm24,10h
020d  vmovups zmm25,[r9+40h]
0214  vpslld zmm25,zmm25,10h
021b  vmovups zmm26,[r9+80h]
0222  vpslld zmm26,zmm26,10h
0229  vmovups zmm27,[r9+0C0h]
0230  vpslld zmm27,zmm27,10h
0237  vpbroadcastd zmm28,[r10+r14]
023e  vpslld zmm28,zmm28,10h
0245  vfmadd231ps zmm0,zmm28,zmm24
024b  vfmadd231ps zmm1,zmm28,zmm25
0251  vfmadd231ps zmm2,zmm28,zmm26
0257  vfmadd231ps zmm3,zmm28,zmm27
025d  vpbroadcastd zmm28,[r11+r14]
0264  vpslld zmm28,zmm28,10h
026b  vfmadd231ps zmm4,zmm28,zmm24
0271  vfmadd231ps zmm5,zmm28,zmm25
0277  vfmadd231ps zmm6,zmm28,zmm26
027d  vfmadd231ps zmm7,zmm28,zmm27
0283  vpbroadcastd zmm28,[rbx+r14]
028a  vpslld zmm28,zmm28,10h
0291  vfmadd231ps zmm8,zmm28,zmm24
0297  vfmadd231ps zmm9,zmm28,zmm25
029d  vfmadd231ps zmm10,zmm28,zmm26
02a3  vfmadd231ps zmm11,zmm28,zmm27
02a9  vpbroadcastd zmm28,[rbp+r14]
02b1  vpslld zmm28,zmm28,10h
02b8  vfmadd231ps zmm12,zmm28,zmm24
02be  vfmadd231ps zmm13,zmm28,zmm25
02c4  vfmadd231ps zmm14,zmm28,zmm26
02ca  vfmadd231ps zmm15,zmm28,zmm27
02d0  vpbroadcastd zmm28,[r12+r14]
02d7  vpslld zmm28,zmm28,10h
02de  vfmadd231ps zmm16,zmm28,zmm24
02e4  vfmadd231ps zmm17,zmm28,zmm25
02ea  vfmadd231ps zmm18,zmm28,zmm26
02f0  vfmadd231ps zmm19,zmm28,zmm27
02f6  vpbroadcastd zmm28,[r13+r14]
02fe  vpslld zmm28,zmm28,10h
0305  vfmadd231ps zmm20,zmm28,zmm24
030b  vfmadd231ps zmm21,zmm28,zmm25
0311  vfmadd231ps zmm22,zmm28,zmm26
0317  vfmadd231ps zmm23,zmm28,zmm27
031d  vmovups zmm24,[r9]
0323  vpandd zmm24,zmm24,[rel 0AC0h]
032d  vmovups zmm25,[r9+40h]
0334  vpandd zmm25,zmm25,[rel 0AC0h]
033e  vmovups zmm26,[r9+80h]
0345  vpandd zmm26,zmm26,[rel 0AC0h]
034f  vmovups zmm27,[r9+0C0h]
0356  vpandd zmm27,zmm27,[rel 0AC0h]
0360  vpbroadcastd zmm28,[r10+r14]
0367  vpandd zmm28,zmm28,[rel 0AC0h]
0371  vfmadd231ps zmm0,zmm28,zmm24
0377  vfmadd231ps zmm1,zmm28,zmm25
037d  vfmadd231ps zmm2,zmm28,zmm26
0383  vfmadd231ps zmm3,zmm28,zmm27
0389  vpbroadcastd zmm28,[r11+r14]
0390  vpandd zmm28,zmm28,[rel 0AC0h]
039a  vfmadd231ps zmm4,zmm28,zmm24
03a0  vfmadd231ps zmm5,zmm28,zmm25
03a6  vfmadd231ps zmm6,zmm28,zmm26
03ac  vfmadd231ps zmm7,zmm28,zmm27
03b2  vpbroadcastd zmm28,[rbx+r14]
03b9  vpandd zmm28,zmm28,[rel 0AC0h]
03c3  vfmadd231ps zmm8,zmm28,zmm24
03c9  vfmadd231ps zmm9,zmm28,zmm25
03cf  vfmadd231ps zmm10,zmm28,zmm26
03d5  vfmadd231ps zmm11,zmm28,zmm27
03db  vpbroadcastd zmm28,[rbp+r14]
03e3  vpandd zmm28,zmm28,[rel 0AC0h]
03ed  vfmadd231ps zmm12,zmm28,zmm24
03f3  vfmadd231ps zmm13,zmm28,zmm25
03f9  vfmadd231ps zmm14,zmm28,zmm26
03ff  vfmadd231ps zmm15,zmm28,zmm27
0405  vpbroadcastd zmm28,[r12+r14]
040c  vpandd zmm28,zmm28,[rel 0AC0h]
0416  vfmadd231ps zmm16,zmm28,zmm24
041c  vfmadd231ps zmm17,zmm28,zmm25
0422  vfmadd231ps zmm18,zmm28,zmm26
0428  vfmadd231ps zmm19,zmm28,zmm27
042e  vpbroadcastd zmm28,[r13+r14]
0436  vpandd zmm28,zmm28,[rel 0AC0h]
0440  vfmadd231ps zmm20,zmm28,zmm24
0446  vfmadd231ps zmm21,zmm28,zmm25
044c  vfmadd231ps zmm22,zmm28,zmm26
0452  vfmadd231ps zmm23,zmm28,zmm27
0458  vmovups zmm24,[r9+100h]
045f  vpslld zmm24,zmm24,10h
0466  vmovups zmm25,[r9+140h]
046d  vpslld zmm25,zmm25,10h
0474  vmovups zmm26,[r9+180h]
047b  vpslld zmm26,zmm26,10h
0482  vmovups zmm27,[r9+1C0h]
0489  vpslld zmm27,zmm27,10h
0490  vpbroadcastd zmm28,[r10+r14+4]
0498  vpslld zmm28,zmm28,10h
049f  vfmadd231ps zmm0,zmm28,zmm24
04a5  vfmadd231ps zmm1,zmm28,zmm25
04ab  vfmadd231ps zmm2,zmm28,zmm26
04b1  vfmadd231ps zmm3,zmm28,zmm27
04b7  vpbroadcastd zmm28,[r11+r14+4]
04bf  vpslld zmm28,zmm28,10h
04c6  vfmadd231ps zmm4,zmm28,zmm24
04cc  vfmadd231ps zmm5,zmm28,zmm25
04d2  vfmadd231ps zmm6,zmm28,zmm26
04d8  vfmadd231ps zmm7,zmm28,zmm27
04de  vpbroadcastd zmm28,[rbx+r14+4]
04e6  vpslld zmm28,zmm28,10h
04ed  vfmadd231ps zmm8,zmm28,zmm24
04f3  vfmadd231ps zmm9,zmm28,zmm25
04f9  vfmadd231ps zmm10,zmm28,zmm26
04ff  vfmadd231ps zmm11,zmm28,zmm27
0505  vpbroadcastd zmm28,[rbp+r14+4]
050d  vpslld zmm28,zmm28,10h
0514  vfmadd231ps zmm12,zmm28,zmm24
051a  vfmadd231ps zmm13,zmm28,zmm25
0520  vfmadd231ps zmm14,zmm28,zmm26
0526  vfmadd231ps zmm15,zmm28,zmm27
052c  vpbroadcastd zmm28,[r12+r14+4]
0534  vpslld zmm28,zmm28,10h
053b  vfmadd231ps zmm16,zmm28,zmm24
0541  vfmadd231ps zmm17,zmm28,zmm25
0547  vfmadd231ps zmm18,zmm28,zmm26
054d  vfmadd231ps zmm19,zmm28,zmm27
0553  vpbroadcastd zmm28,[r13+r14+4]
055b  vpslld zmm28,zmm28,10h
0562  vfmadd231ps zmm20,zmm28,zmm24
0568  vfmadd231ps zmm21,zmm28,zmm25
056e  vfmadd231ps zmm22,zmm28,zmm26
0574  vfmadd231ps zmm23,zmm28,zmm27
057a  vmovups zmm24,[r9+100h]
0581  vpandd zmm24,zmm24,[rel 0AC0h]
058b  vmovups zmm25,[r9+140h]
0592  vpandd zmm25,zmm25,[rel 0AC0h]
059c  vmovups zmm26,[r9+180h]
05a3  vpandd zmm26,zmm26,[rel 0AC0h]
05ad  vmovups zmm27,[r9+1C0h]
05b4  vpandd zmm27,zmm27,[rel 0AC0h]
05be  vpbroadcastd zmm28,[r10+r14+4]
05c6  vpandd zmm28,zmm28,[rel 0AC0h]
05d0  vfmadd231ps zmm0,zmm28,zmm24
05d6  vfmadd231ps zmm1,zmm28,zmm25
05dc  vfmadd231ps zmm2,zmm28,zmm26
05e2  vfmadd231ps zmm3,zmm28,zmm27
05e8  vpbroadcastd zmm28,[r11+r14+4]
05f0  vpandd zmm28,zmm28,[rel 0AC0h]
05fa  vfmadd231ps zmm4,zmm28,zmm24
0600  vfmadd231ps zmm5,zmm28,zmm25
0606  vfmadd231ps zmm6,zmm28,zmm26
060c  vfmadd231ps zmm7,zmm28,zmm27
0612  vpbroadcastd zmm28,[rbx+r14+4]
061a  vpandd zmm28,zmm28,[rel 0AC0h]
0624  vfmadd231ps zmm8,zmm28,zmm24
062a  vfmadd231ps zmm9,zmm28,zmm25
0630  vfmadd231ps zmm10,zmm28,zmm26
0636  vfmadd231ps zmm11,zmm28,zmm27
063c  vpbroadcastd zmm28,[rbp+r14+4]
0644  vpandd zmm28,zmm28,[rel 0AC0h]
064e  vfmadd231ps zmm12,zmm28,zmm24
0654  vfmadd231ps zmm13,zmm28,zmm25
065a  vfmadd231ps zmm14,zmm28,zmm26
0660  vfmadd231ps zmm15,zmm28,zmm27
0666  vpbroadcastd zmm28,[r12+r14+4]
066e  vpandd zmm28,zmm28,[rel 0AC0h]
0678  vfmadd231ps zmm16,zmm28,zmm24
067e  vfmadd231ps zmm17,zmm28,zmm25
0684  vfmadd231ps zmm18,zmm28,zmm26
068a  vfmadd231ps zmm19,zmm28,zmm27
0690  vpbroadcastd zmm28,[r13+r14+4]
0698  vpandd zmm28,zmm28,[rel 0AC0h]
06a2  vfmadd231ps zmm20,zmm28,zmm24
06a8  vfmadd231ps zmm21,zmm28,zmm25
06ae  vfmadd231ps zmm22,zmm28,zmm26
06b4  vfmadd231ps zmm23,zmm28,zmm27
06ba  add r14,8
06be  add r9,200h
06c5  dec r15
06c8  jne near 200h
06ce  mov r15,[rdi+18h]
06d2  and r15,1
06d6  test r15,r15
06d9  jle near 96Ch
06df  nop word [rax+rax]
06e8  nop word [rax+rax]
06f1  nop word [rax+rax]
06fa  nop word [rax+rax]
0700  vmovups zmm24,[r9]
0706  vpslld zmm24,zmm24,10h
070d  vmovups zmm25,[r9+40h]
0714  vpslld zmm25,zmm25,10h
071b  vmovups zmm26,[r9+80h]
0722  vpslld zmm26,zmm26,10h
0729  vmovups zmm27,[r9+0C0h]
0730  vpslld zmm27,zmm27,10h
0737  vpbroadcastd zmm28,[r10+r14]
073e  vpslld zmm28,zmm28,10h
0745  vfmadd231ps zmm0,zmm28,zmm24
074b  vfmadd231ps zmm1,zmm28,zmm25
0751  vfmadd231ps zmm2,zmm28,zmm26
0757  vfmadd231ps zmm3,zmm28,zmm27
075d  vpbroadcastd zmm28,[r11+r14]
0764  vpslld zmm28,zmm28,10h
076b  vfmadd231ps zmm4,zmm28,zmm24
0771  vfmadd231ps zmm5,zmm28,zmm25
0777  vfmadd231ps zmm6,zmm28,zmm26
077d  vfmadd231ps zmm7,zmm28,zmm27
0783  vpbroadcastd zmm28,[rbx+r14]
078a  vpslld zmm28,zmm28,10h
0791  vfmadd231ps zmm8,zmm28,zmm24
0797  vfmadd231ps zmm9,zmm28,zmm25
079d  vfmadd231ps zmm10,zmm28,zmm26
07a3  vfmadd231ps zmm11,zmm28,zmm27
07a9  vpbroadcastd zmm28,[rbp+r14]
07b1  vpslld zmm28,zmm28,10h
07b8  vfmadd231ps zmm12,zmm28,zmm24
07be  vfmadd231ps zmm13,zmm28,zmm25
07c4  vfmadd231ps zmm14,zmm28,zmm26
07ca  vfmadd231ps zmm15,zmm28,zmm27
07d0  vpbroadcastd zmm28,[r12+r14]
07d7  vpslld zmm28,zmm28,10h
07de  vfmadd231ps zmm16,zmm28,zmm24
07e4  vfmadd231ps zmm17,zmm28,zmm25
07ea  vfmadd231ps zmm18,zmm28,zmm26
07f0  vfmadd231ps zmm19,zmm28,zmm27
07f6  vpbroadcastd zmm28,[r13+r14]
07fe  vpslld zmm28,zmm28,10h
0805  vfmadd231ps zmm20,zmm28,zmm24
080b  vfmadd231ps zmm21,zmm28,zmm25
0811  vfmadd231ps zmm22,zmm28,zmm26
0817  vfmadd231ps zmm23,zmm28,zmm27
081d  vmovups zmm24,[r9]
0823  vpandd zmm24,zmm24,[rel 0AC0h]
082d  vmovups zmm25,[r9+40h]
0834  vpandd zmm25,zmm25,[rel 0AC0h]
083e  vmovups zmm26,[r9+80h]
0845  vpandd zmm26,zmm26,[rel 0AC0h]
084f  vmovups zmm27,[r9+0C0h]
0856  vpandd zmm27,zmm27,[rel 0AC0h]
0860  vpbroadcastd zmm28,[r10+r14]
0867  vpandd zmm28,zmm28,[rel 0AC0h]
0871  vfmadd231ps zmm0,zmm28,zmm24
0877  vfmadd231ps zmm1,zmm28,zmm25
087d  vfmadd231ps zmm2,zmm28,zmm26
0883  vfmadd231ps zmm3,zmm28,zmm27
0889  vpbroadcastd zmm28,[r11+r14]
0890  vpandd zmm28,zmm28,[rel 0AC0h]
089a  vfmadd231ps zmm4,zmm28,zmm24
08a0  vfmadd231ps zmm5,zmm28,zmm25
08a6  vfmadd231ps zmm6,zmm28,zmm26
08ac  vfmadd231ps zmm7,zmm28,zmm27
08b2  vpbroadcastd zmm28,[rbx+r14]
08b9  vpandd zmm28,zmm28,[rel 0AC0h]
08c3  vfmadd231ps zmm8,zmm28,zmm24
08c9  vfmadd231ps zmm9,zmm28,zmm25
08cf  vfmadd231ps zmm10,zmm28,zmm26
08d5  vfmadd231ps zmm11,zmm28,zmm27
08db  vpbroadcastd zmm28,[rbp+r14]
08e3  vpandd zmm28,zmm28,[rel 0AC0h]
08ed  vfmadd231ps zmm12,zmm28,zmm24
08f3  vfmadd231ps zmm13,zmm28,zmm25
08f9  vfmadd231ps zmm14,zmm28,zmm26
08ff  vfmadd231ps zmm15,zmm28,zmm27
0905  vpbroadcastd zmm28,[r12+r14]
090c  vpandd zmm28,zmm28,[rel 0AC0h]
0916  vfmadd231ps zmm16,zmm28,zmm24
091c  vfmadd231ps zmm17,zmm28,zmm25
0922  vfmadd231ps zmm18,zmm28,zmm26
0928  vfmadd231ps zmm19,zmm28,zmm27
092e  vpbroadcastd zmm28,[r13+r14]
0936  vpandd zmm28,zmm28,[rel 0AC0h]
0940  vfmadd231ps zmm20,zmm28,zmm24
0946  vfmadd231ps zmm21,zmm28,zmm25
094c  vfmadd231ps zmm22,zmm28,zmm26
0952  vfmadd231ps zmm23,zmm28,zmm27
0958  add r14,4
095c  add r9,100h
0963  dec r15
0966  jne near 700h
096c  dec r8
096f  jne near 180h
0975  mov r8,[rdi+38h]
0979  mov r9,[rax+10h]
097d  mov r10,[rdi+40h]
0981  imul r10,rdx
0985  add r8,r9
0988  add r8,r10
098b  mov r9,[rsp+0C0h]
0993  lea r8,[r8+r9*4]
0997  mov r9,[rdi+40h]
099b  vmovups [r8],zmm0
09a1  vmovups [r8+40h],zmm1
09a8  vmovups [r8+80h],zmm2
09af  vmovups [r8+0C0h],zmm3
09b6  add r8,r9
09b9  vmovups [r8],zmm4
09bf  vmovups [r8+40h],zmm5
09c6  vmovups [r8+80h],zmm6
09cd  vmovups [r8+0C0h],zmm7
09d4  add r8,r9
09d7  vmovups [r8],zmm8
09dd  vmovups [r8+40h],zmm9
09e4  vmovups [r8+80h],zmm10
09eb  vmovups [r8+0C0h],zmm11
09f2  add r8,r9
09f5  vmovups [r8],zmm12
09fb  vmovups [r8+40h],zmm13
0a02  vmovups [r8+80h],zmm14
0a09  vmovups [r8+0C0h],zmm15
0a10  add r8,r9
0a13  vmovups [r8],zmm16
0a19  vmovups [r8+40h],zmm17
0a20  vmovups [r8+80h],zmm18
0a27  vmovups [r8+0C0h],zmm19
0a2e  add r8,r9
0a31  vmovups [r8],zmm20
0a37  vmovups [r8+40h],zmm21
0a3e  vmovups [r8+80h],zmm22
0a45  vmovups [r8+0C0h],zmm23
0a4c  mov r8,[rdi+28h]
0a50  add rsi,r8
0a53  mov r8,[rsp+0C0h]
0a5b  add r8,40h
0a5f  mov [rsp+0C0h],r8
0a67  mov r8,[rsp+80h]
0a6f  dec r8
0a72  mov [rsp+80h],r8
0a7a  jne near 0C0h
0a80  add rdx,6
0a84  mov rsi,[rsp+40h]
0a89  dec rsi
0a8c  mov [rsp+40h],rsi
0a91  jne near 80h
0a97  mov rax,rcx
0a9a  mov rcx,[rsp]
0a9e  dec rcx
0aa1  mov [rsp],rcx
0aa5  jne near 40h
0aab  add rsp,100h
0ab2  pop r15
0ab4  pop r14
0ab6  pop r13
0ab8  pop r12
0aba  pop rbp
0abb  pop rbx
0abc  vzeroupper
0abf  ret
