; 407 instructions, 2688 bytes, 13 spills, 0 of them in inner loops
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
015d  jle near 935h
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
01b5  jle near 68Eh
01bb  nop dword [rax+rax]
01c0  vmovups zmm24,[r9]
01c6  vpslld zmm24,zmm24,10h
01cd  vmovups zmm25,[r9+40h]
01d4  vpslld zmm25,zmm25,10h
01db  vmovups zmm26,[r9+80h]
01e2  vpslld zmm26,zmm26,10h
01e9  vmovups zmm27,[r9+0C0h]
01f0  vpslld zmm27,zmm27,10h
01f7  vpbroadcastd zmm28,[r10+r14]
01fe  vpslld zmm28,zmm28,10h
0205  vfmadd231ps zmm0,zmm28,zmm24
020b  vfmadd231ps zmm1,zmm28,zmm25
0211  vfmadd231ps zmm2,zmm28,zmm26
0217  vfmadd231ps zmm3,zmm28,zmm27
021d  vpbroadcastd zmm28,[r11+r14]
0224  vpslld zmm28,zmm28,10h
022b  vfmadd231ps zmm4,zmm28,zmm24
0231  vfmadd231ps zmm5,zmm28,zmm25
0237  vfmadd231ps zmm6,zmm28,zmm26
023d  vfmadd231ps zmm7,zmm28,zmm27
0243  vpbroadcastd zmm28,[rbx+r14]
024a  vpslld zmm28,zmm28,10h
0251  vfmadd231ps zmm8,zmm28,zmm24
0257  vfmadd231ps zmm9,zmm28,zmm25
025d  vfmadd231ps zmm10,zmm28,zmm26
0263  vfmadd231ps zmm11,zmm28,zmm27
0269  vpbroadcastd zmm28,[rbp+r14]
0271  vpslld zmm28,zmm28,10h
0278  vfmadd231ps zmm12,zmm28,zmm24
027e  vfmadd231ps zmm13,zmm28,zmm25
0284  vfmadd231ps zmm14,zmm28,zmm26
028a  vfmadd231ps zmm15,zmm28,zmm27
0290  vpbroadcastd zmm28,[r12+r14]
0297  vpslld zmm28,zmm28,10h
029e  vfmadd231ps zmm16,zmm28,zmm24
02a4  vfmadd231ps zmm17,zmm28,zmm25
02aa  vfmadd231ps zmm18,zmm28,zmm26
02b0  vfmadd231ps zmm19,zmm28,zmm27
02b6  vpbroadcastd zmm28,[r13+r14]
02be  vpslld zmm28,zmm28,10h
02c5  vfmadd231ps zmm20,zmm28,zmm24
02cb  vfmadd231ps zmm21,zmm28,zmm25
02d1  vfmadd231ps zmm22,zmm28,zmm26
02d7  vfmadd231ps zmm23,zmm28,zmm27
02dd  vmovups zmm24,[r9]
02e3  vpandd zmm24,zmm24,[rel 0A80h]
02ed  vmovups zmm25,[r9+40h]
02f4  vpandd zmm25,zmm25,[rel 0A80h]
02fe  vmovups zmm26,[r9+80h]
0305  vpandd zmm26,zmm26,[rel 0A80h]
030f  vmovups zmm27,[r9+0C0h]
0316  vpandd zmm27,zmm27,[rel 0A80h]
0320  vpbroadcastd zmm28,[r10+r14]
0327  vpandd zmm28,zmm28,[rel 0A80h]
0331  vfmadd231ps zmm0,zmm28,zmm24
0337  vfmadd231ps zmm1,zmm28,zmm25
033d  vfmadd231ps zmm2,zmm28,zmm26
0343  vfmadd231ps zmm3,zmm28,zmm27
0349  vpbroadcastd zmm28,[r11+r14]
0350  vpandd zmm28,zmm28,[rel 0A80h]
035a  vfmadd231ps zmm4,zmm28,zmm24
0360  vfmadd231ps zmm5,zmm28,zmm25
0366  vfmadd231ps zmm6,zmm28,zmm26
036c  vfmadd231ps zmm7,zmm28,zmm27
0372  vpbroadcastd zmm28,[rbx+r14]
0379  vpandd zmm28,zmm28,[rel 0A80h]
0383  vfmadd231ps zmm8,zmm28,zmm24
0389  vfmadd231ps zmm9,zmm28,zmm25
038f  vfmadd231ps zmm10,zmm28,zmm26
0395  vfmadd231ps zmm11,zmm28,zmm27
039b  vpbroadcastd zmm28,[rbp+r14]
03a3  vpandd zmm28,zmm28,[rel 0A80h]
03ad  vfmadd231ps zmm12,zmm28,zmm24
03b3  vfmadd231ps zmm13,zmm28,zmm25
03b9  vfmadd231ps zmm14,zmm28,zmm26
03bf  vfmadd231ps zmm15,zmm28,zmm27
03c5  vpbroadcastd zmm28,[r12+r14]
03cc  vpandd zmm28,zmm28,[rel 0A80h]
03d6  vfmadd231ps zmm16,zmm28,zmm24
03dc  vfmadd231ps zmm17,zmm28,zmm25
03e2  vfmadd231ps zmm18,zmm28,zmm26
03e8  vfmadd231ps zmm19,zmm28,zmm27
03ee  vpbroadcastd zmm28,[r13+r14]
03f6  vpandd zmm28,zmm28,[rel 0A80h]
0400  vfmadd231ps zmm20,zmm28,zmm24
0406  vfmadd231ps zmm21,zmm28,zmm25
040c  vfmadd231ps zmm22,zmm28,zmm26
0412  vfmadd231ps zmm23,zmm28,zmm27
0418  vmovups zmm24,[r9+100h]
041f  vpslld zmm24,zmm24,10h
0426  vmovups zmm25,[r9+140h]
042d  vpslld zmm25,zmm25,10h
0434  vmovups zmm26,[r9+180h]
043b  vpslld zmm26,zmm26,10h
0442  vmovups zmm27,[r9+1C0h]
0449  vpslld zmm27,zmm27,10h
0450  vpbroadcastd zmm28,[r10+r14+4]
0458  vpslld zmm28,zmm28,10h
045f  vfmadd231ps zmm0,zmm28,zmm24
0465  vfmadd231ps zmm1,zmm28,zmm25
046b  vfmadd231ps zmm2,zmm28,zmm26
0471  vfmadd231ps zmm3,zmm28,zmm27
0477  vpbroadcastd zmm28,[r11+r14+4]
047f  vpslld zmm28,zmm28,10h
0486  vfmadd231ps zmm4,zmm28,zmm24
048c  vfmadd231ps zmm5,zmm28,zmm25
0492  vfmadd231ps zmm6,zmm28,zmm26
0498  vfmadd231ps zmm7,zmm28,zmm27
049e  vpbroadcastd zmm28,[rbx+r14+4]
04a6  vpslld zmm28,zmm28,10h
04ad  vfmadd231ps zmm8,zmm28,zmm24
04b3  vfmadd231ps zmm9,zmm28,zmm25
04b9  vfmadd231ps zmm10,zmm28,zmm26
04bf  vfmadd231ps zmm11,zmm28,zmm27
04c5  vpbroadcastd zmm28,[rbp+r14+4]
04cd  vpslld zmm28,zmm28,10h
04d4  vfmadd231ps zmm12,zmm28,zmm24
04da  vfmadd231ps zmm13,zmm28,zmm25
04e0  vfmadd231ps zmm14,zmm28,zmm26
04e6  vfmadd231ps zmm15,zmm28,zmm27
04ec  vpbroadcastd zmm28,[r12+r14+4]
04f4  vpslld zmm28,zmm28,10h
04fb  vfmadd231ps zmm16,zmm28,zmm24
0501  vfmadd231ps zmm17,zmm28,zmm25
0507  vfmadd231ps zmm18,zmm28,zmm26
050d  vfmadd231ps zmm19,zmm28,zmm27
0513  vpbroadcastd zmm28,[r13+r14+4]
051b  vpslld zmm28,zmm28,10h
0522  vfmadd231ps zmm20,zmm28,zmm24
0528  vfmadd231ps zmm21,zmm28,zmm25
052e  vfmadd231ps zmm22,zmm28,zmm26
0534  vfmadd231ps zmm23,zmm28,zmm27
053a  vmovups zmm24,[r9+100h]
0541  vpandd zmm24,zmm24,[rel 0A80h]
054b  vmovups zmm25,[r9+140h]
0552  vpandd zmm25,zmm25,[rel 0A80h]
055c  vmovups zmm26,[r9+180h]
0563  vpandd zmm26,zmm26,[rel 0A80h]
056d  vmovups zmm27,[r9+1C0h]
0574  vpandd zmm27,zmm27,[rel 0A80h]
057e  vpbroadcastd zmm28,[r10+r14+4]
0586  vpandd zmm28,zmm28,[rel 0A80h]
0590  vfmadd231ps zmm0,zmm28,zmm24
0596  vfmadd231ps zmm1,zmm28,zmm25
059c  vfmadd231ps zmm2,zmm28,zmm26
05a2  vfmadd231ps zmm3,zmm28,zmm27
05a8  vpbroadcastd zmm28,[r11+r14+4]
05b0  vpandd zmm28,zmm28,[rel 0A80h]
05ba  vfmadd231ps zmm4,zmm28,zmm24
05c0  vfmadd231ps zmm5,zmm28,zmm25
05c6  vfmadd231ps zmm6,zmm28,zmm26
05cc  vfmadd231ps zmm7,zmm28,zmm27
05d2  vpbroadcastd zmm28,[rbx+r14+4]
05da  vpandd zmm28,zmm28,[rel 0A80h]
05e4  vfmadd231ps zmm8,zmm28,zmm24
05ea  vfmadd231ps zmm9,zmm28,zmm25
05f0  vfmadd231ps zmm10,zmm28,zmm26
05f6  vfmadd231ps zmm11,zmm28,zmm27
05fc  vpbroadcastd zmm28,[rbp+r14+4]
0604  vpandd zmm28,zmm28,[rel 0A80h]
060e  vfmadd231ps zmm12,zmm28,zmm24
0614  vfmadd231ps zmm13,zmm28,zmm25
061a  vfmadd231ps zmm14,zmm28,zmm26
0620  vfmadd231ps zmm15,zmm28,zmm27
0626  vpbroadcastd zmm28,[r12+r14+4]
062e  vpandd zmm28,zmm28,[rel 0A80h]
0638  vfmadd231ps zmm16,zmm28,zmm24
063e  vfmadd231ps zmm17,zmm28,zmm25
0644  vfmadd231ps zmm18,zmm28,zmm26
064a  vfmadd231ps zmm19,zmm28,zmm27
0650  vpbroadcastd zmm28,[r13+r14+4]
0658  vpandd zmm28,zmm28,[rel 0A80h]
0662  vfmadd231ps zmm20,zmm28,zmm24
0668  vfmadd231ps zmm21,zmm28,zmm25
066e  vfmadd231ps zmm22,zmm28,zmm26
0674  vfmadd231ps zmm23,zmm28,zmm27
067a  add r14,8
067e  add r9,200h
0685  dec r15
0688  jne near 1C0h
068e  mov r15,[rdi+18h]
0692  and r15,1
0696  test r15,r15
0699  jle near 92Ch
069f  nop word [rax+rax]
06a8  nop word [rax+rax]
06b1  nop word [rax+rax]
06ba  nop word [rax+rax]
06c0  vmovups zmm24,[r9]
06c6  vpslld zmm24,zmm24,10h
06cd  vmovups zmm25,[r9+40h]
06d4  vpslld zmm25,zmm25,10h
06db  vmovups zmm26,[r9+80h]
06e2  vpslld zmm26,zmm26,10h
06e9  vmovups zmm27,[r9+0C0h]
06f0  vpslld zmm27,zmm27,10h
06f7  vpbroadcastd zmm28,[r10+r14]
06fe  vpslld zmm28,zmm28,10h
0705  vfmadd231ps zmm0,zmm28,zmm24
070b  vfmadd231ps zmm1,zmm28,zmm25
0711  vfmadd231ps zmm2,zmm28,zmm26
0717  vfmadd231ps zmm3,zmm28,zmm27
071d  vpbroadcastd zmm28,[r11+r14]
0724  vpslld zmm28,zmm28,10h
072b  vfmadd231ps zmm4,zmm28,zmm24
0731  vfmadd231ps zmm5,zmm28,zmm25
0737  vfmadd231ps zmm6,zmm28,zmm26
073d  vfmadd231ps zmm7,zmm28,zmm27
0743  vpbroadcastd zmm28,[rbx+r14]
074a  vpslld zmm28,zmm28,10h
0751  vfmadd231ps zmm8,zmm28,zmm24
0757  vfmadd231ps zmm9,zmm28,zmm25
075d  vfmadd231ps zmm10,zmm28,zmm26
0763  vfmadd231ps zmm11,zmm28,zmm27
0769  vpbroadcastd zmm28,[rbp+r14]
0771  vpslld zmm28,zmm28,10h
0778  vfmadd231ps zmm12,zmm28,zmm24
077e  vfmadd231ps zmm13,zmm28,zmm25
0784  vfmadd231ps zmm14,zmm28,zmm26
078a  vfmadd231ps zmm15,zmm28,zmm27
0790  vpbroadcastd zmm28,[r12+r14]
0797  vpslld zmm28,zmm28,10h
079e  vfmadd231ps zmm16,zmm28,zmm24
07a4  vfmadd231ps zmm17,zmm28,zmm25
07aa  vfmadd231ps zmm18,zmm28,zmm26
07b0  vfmadd231ps zmm19,zmm28,zmm27
07b6  vpbroadcastd zmm28,[r13+r14]
07be  vpslld zmm28,zmm28,10h
07c5  vfmadd231ps zmm20,zmm28,zmm24
07cb  vfmadd231ps zmm21,zmm28,zmm25
07d1  vfmadd231ps zmm22,zmm28,zmm26
07d7  vfmadd231ps zmm23,zmm28,zmm27
07dd  vmovups zmm24,[r9]
07e3  vpandd zmm24,zmm24,[rel 0A80h]
07ed  vmovups zmm25,[r9+40h]
07f4  vpandd zmm25,zmm25,[rel 0A80h]
07fe  vmovups zmm26,[r9+80h]
0805  vpandd zmm26,zmm26,[rel 0A80h]
080f  vmovups zmm27,[r9+0C0h]
0816  vpandd zmm27,zmm27,[rel 0A80h]
0820  vpbroadcastd zmm28,[r10+r14]
0827  vpandd zmm28,zmm28,[rel 0A80h]
0831  vfmadd231ps zmm0,zmm28,zmm24
0837  vfmadd231ps zmm1,zmm28,zmm25
083d  vfmadd231ps zmm2,zmm28,zmm26
0843  vfmadd231ps zmm3,zmm28,zmm27
0849  vpbroadcastd zmm28,[r11+r14]
0850  vpandd zmm28,zmm28,[rel 0A80h]
085a  vfmadd231ps zmm4,zmm28,zmm24
0860  vfmadd231ps zmm5,zmm28,zmm25
0866  vfmadd231ps zmm6,zmm28,zmm26
086c  vfmadd231ps zmm7,zmm28,zmm27
0872  vpbroadcastd zmm28,[rbx+r14]
0879  vpandd zmm28,zmm28,[rel 0A80h]
0883  vfmadd231ps zmm8,zmm28,zmm24
0889  vfmadd231ps zmm9,zmm28,zmm25
088f  vfmadd231ps zmm10,zmm28,zmm26
0895  vfmadd231ps zmm11,zmm28,zmm27
089b  vpbroadcastd zmm28,[rbp+r14]
08a3  vpandd zmm28,zmm28,[rel 0A80h]
08ad  vfmadd231ps zmm12,zmm28,zmm24
08b3  vfmadd231ps zmm13,zmm28,zmm25
08b9  vfmadd231ps zmm14,zmm28,zmm26
08bf  vfmadd231ps zmm15,zmm28,zmm27
08c5  vpbroadcastd zmm28,[r12+r14]
08cc  vpandd zmm28,zmm28,[rel 0A80h]
08d6  vfmadd231ps zmm16,zmm28,zmm24
08dc  vfmadd231ps zmm17,zmm28,zmm25
08e2  vfmadd231ps zmm18,zmm28,zmm26
08e8  vfmadd231ps zmm19,zmm28,zmm27
08ee  vpbroadcastd zmm28,[r13+r14]
08f6  vpandd zmm28,zmm28,[rel 0A80h]
0900  vfmadd231ps zmm20,zmm28,zmm24
0906  vfmadd231ps zmm21,zmm28,zmm25
090c  vfmadd231ps zmm22,zmm28,zmm26
0912  vfmadd231ps zmm23,zmm28,zmm27
0918  add r14,4
091c  add r9,100h
0923  dec r15
0926  jne near 6C0h
092c  dec r8
092f  jne near 180h
0935  mov r8,[rdi+30h]
0939  mov r9,[rax+10h]
093d  mov r10,[rdi+38h]
0941  imul r10,rdx
0945  add r8,r9
0948  add r8,r10
094b  mov r9,[rsp+0C0h]
0953  lea r8,[r8+r9*4]
0957  mov r9,[rdi+38h]
095b  vmovups [r8],zmm0
0961  vmovups [r8+40h],zmm1
0968  vmovups [r8+80h],zmm2
096f  vmovups [r8+0C0h],zmm3
0976  add r8,r9
0979  vmovups [r8],zmm4
097f  vmovups [r8+40h],zmm5
0986  vmovups [r8+80h],zmm6
098d  vmovups [r8+0C0h],zmm7
0994  add r8,r9
0997  vmovups [r8],zmm8
099d  vmovups [r8+40h],zmm9
09a4  vmovups [r8+80h],zmm10
09ab  vmovups [r8+0C0h],zmm11
09b2  add r8,r9
09b5  vmovups [r8],zmm12
09bb  vmovups [r8+40h],zmm13
09c2  vmovups [r8+80h],zmm14
09c9  vmovups [r8+0C0h],zmm15
09d0  add r8,r9
09d3  vmovups [r8],zmm16
09d9  vmovups [r8+40h],zmm17
09e0  vmovups [r8+80h],zmm18
09e7  vmovups [r8+0C0h],zmm19
09ee  add r8,r9
09f1  vmovups [r8],zmm20
09f7  vmovups [r8+40h],zmm21
09fe  vmovups [r8+80h],zmm22
0a05  vmovups [r8+0C0h],zmm23
0a0c  mov r8,[rdi+28h]
0a10  add rsi,r8
0a13  mov r8,[rsp+0C0h]
0a1b  add r8,40h
0a1f  mov [rsp+0C0h],r8
0a27  mov r8,[rsp+80h]
0a2f  dec r8
0a32  mov [rsp+80h],r8
0a3a  jne near 0C0h
0a40  add rdx,6
0a44  mov rsi,[rsp+40h]
0a49  dec rsi
0a4c  mov [rsp+40h],rsi
0a51  jne near 80h
0a57  mov rax,rcx
0a5a  mov rcx,[rsp]
0a5e  dec rcx
0a61  mov [rsp],rcx
0a65  jne near 40h
0a6b  add rsp,100h
0a72  pop r15
0a74  pop r14
0a76  pop r13
0a78  pop r12
0a7a  pop rbp
0a7b  pop rbx
0a7c  vzeroupper
0a7f  ret
