; 240 instructions, 1329 bytes, 0 spills, 0 of them in inner loops
0000  push rbx
0001  push rbp
0002  push r12
0004  vpxor ymm0,ymm0,ymm0
0008  vpxor ymm1,ymm1,ymm1
000c  vpxor ymm2,ymm2,ymm2
0010  vpxor ymm3,ymm3,ymm3
0014  vpxor ymm4,ymm4,ymm4
0018  vpxor ymm5,ymm5,ymm5
001c  vpxor ymm6,ymm6,ymm6
0020  vpxor ymm7,ymm7,ymm7
0024  vpxor ymm8,ymm8,ymm8
0029  vpxor ymm9,ymm9,ymm9
002e  vpxor ymm10,ymm10,ymm10
0033  vpxor ymm11,ymm11,ymm11
0038  mov rax,[rdi]
003b  mov rcx,[rdi+8]
003f  test rcx,rcx
0042  jle near 4DCh
0048  nop word [rax+rax]
0051  nop word [rax+rax]
005a  nop word [rax+rax]
0063  nop word [rax+rax]
006c  nop word [rax+rax]
0075  nop word [rax+rax]
007e  xchg ax,ax
0080  mov rdx,[rdi+18h]
0084  mov rsi,[rax]
0087  add rdx,rsi
008a  mov rsi,[rax+8]
008e  mov r8,[rax+10h]
0092  mov r9,[rax+18h]
0096  mov r10,[rax+20h]
009a  mov r11,[rax+28h]
009e  mov rbx,[rax+30h]
00a2  add rax,38h
00a6  mov ebp,0
00ab  mov r12,[rdi+10h]
00af  shr r12,1
00b3  test r12,r12
00b6  jle near 366h
00bc  nop dword [rax]
00c0  vmovups ymm12,[rdx]
00c4  vpslld ymm12,ymm12,10h
00ca  vmovups ymm13,[rdx+20h]
00cf  vpslld ymm13,ymm13,10h
00d5  vpbroadcastd ymm14,[rsi+rbp]
00db  vpslld ymm14,ymm14,10h
00e1  vfmadd231ps ymm0,ymm14,ymm12
00e6  vfmadd231ps ymm1,ymm14,ymm13
00eb  vpbroadcastd ymm14,[r8+rbp]
00f1  vpslld ymm14,ymm14,10h
00f7  vfmadd231ps ymm2,ymm14,ymm12
00fc  vfmadd231ps ymm3,ymm14,ymm13
0101  vpbroadcastd ymm14,[r9+rbp]
0107  vpslld ymm14,ymm14,10h
010d  vfmadd231ps ymm4,ymm14,ymm12
0112  vfmadd231ps ymm5,ymm14,ymm13
0117  vpbroadcastd ymm14,[r10+rbp]
011d  vpslld ymm14,ymm14,10h
0123  vfmadd231ps ymm6,ymm14,ymm12
0128  vfmadd231ps ymm7,ymm14,ymm13
012d  vpbroadcastd ymm14,[r11+rbp]
0133  vpslld ymm14,ymm14,10h
0139  vfmadd231ps ymm8,ymm14,ymm12
013e  vfmadd231ps ymm9,ymm14,ymm13
0143  vpbroadcastd ymm14,[rbx+rbp]
0149  vpslld ymm14,ymm14,10h
014f  vfmadd231ps ymm10,ymm14,ymm12
0154  vfmadd231ps ymm11,ymm14,ymm13
0159  vmovups ymm12,[rdx]
015d  vpand ymm12,ymm12,[rel 540h]
0165  vmovups ymm13,[rdx+20h]
016a  vpand ymm13,ymm13,[rel 540h]
0172  vpbroadcastd ymm14,[rsi+rbp]
0178  vpand ymm14,ymm14,[rel 540h]
0180  vfmadd231ps ymm0,ymm14,ymm12
0185  vfmadd231ps ymm1,ymm14,ymm13
018a  vpbroadcastd ymm14,[r8+rbp]
0190  vpand ymm14,ymm14,[rel 540h]
0198  vfmadd231ps ymm2,ymm14,ymm12
019d  vfmadd231ps ymm3,ymm14,ymm13
01a2  vpbroadcastd ymm14,[r9+rbp]
01a8  vpand ymm14,ymm14,[rel 540h]
01b0  vfmadd231ps ymm4,ymm14,ymm12
01b5  vfmadd231ps ymm5,ymm14,ymm13
01ba  vpbroadcastd ymm14,[r10+rbp]
01c0  vpand ymm14,ymm14,[rel 540h]
01c8  vfmadd231ps ymm6,ymm14,ymm12
01cd  vfmadd231ps ymm7,ymm14,ymm13
01d2  vpbroadcastd ymm14,[r11+rbp]
01d8  vpand ymm14,ymm14,[rel 540h]
01e0  vfmadd231ps ymm8,ymm14,ymm12
01e5  vfmadd231ps ymm9,ymm14,ymm13
01ea  vpbroadcastd ymm14,[rbx+rbp]
01f0  vpand ymm14,ymm14,[rel 540h]
01f8  vfmadd231ps ymm10,ymm14,ymm12
01fd  vfmadd231ps ymm11,ymm14,ymm13
0202  vmovups ymm12,[rdx+40h]
0207  vpslld ymm12,ymm12,10h
020d  vmovups ymm13,[rdx+60h]
0212  vpslld ymm13,ymm13,10h
0218  vpbroadcastd ymm14,[rsi+rbp+4]
021f  vpslld ymm14,ymm14,10h
0225  vfmadd231ps ymm0,ymm14,ymm12
022a  vfmadd231ps ymm1,ymm14,ymm13
022f  vpbroadcastd ymm14,[r8+rbp+4]
0236  vpslld ymm14,ymm14,10h
023c  vfmadd231ps ymm2,ymm14,ymm12
0241  vfmadd231ps ymm3,ymm14,ymm13
0246  vpbroadcastd ymm14,[r9+rbp+4]
024d  vpslld ymm14,ymm14,10h
0253  vfmadd231ps ymm4,ymm14,ymm12
0258  vfmadd231ps ymm5,ymm14,ymm13
025d  vpbroadcastd ymm14,[r10+rbp+4]
0264  vpslld ymm14,ymm14,10h
026a  vfmadd231ps ymm6,ymm14,ymm12
026f  vfmadd231ps ymm7,ymm14,ymm13
0274  vpbroadcastd ymm14,[r11+rbp+4]
027b  vpslld ymm14,ymm14,10h
0281  vfmadd231ps ymm8,ymm14,ymm12
0286  vfmadd231ps ymm9,ymm14,ymm13
028b  vpbroadcastd ymm14,[rbx+rbp+4]
0292  vpslld ymm14,ymm14,10h
0298  vfmadd231ps ymm10,ymm14,ymm12
029d  vfmadd231ps ymm11,ymm14,ymm13
02a2  vmovups ymm12,[rdx+40h]
02a7  vpand ymm12,ymm12,[rel 540h]
02af  vmovups ymm13,[rdx+60h]
02b4  vpand ymm13,ymm13,[rel 540h]
02bc  vpbroadcastd ymm14,[rsi+rbp+4]
02c3  vpand ymm14,ymm14,[rel 540h]
02cb  vfmadd231ps ymm0,ymm14,ymm12
02d0  vfmadd231ps ymm1,ymm14,ymm13
02d5  vpbroadcastd ymm14,[r8+rbp+4]
02dc  vpand ymm14,ymm14,[rel 540h]
02e4  vfmadd231ps ymm2,ymm14,ymm12
02e9  vfmadd231ps ymm3,ymm14,ymm13
02ee  vpbroadcastd ymm14,[r9+rbp+4]
02f5  vpand ymm14,ymm14,[rel 540h]
02fd  vfmadd231ps ymm4,ymm14,ymm12
0302  vfmadd231ps ymm5,ymm14,ymm13
0307  vpbroadcastd ymm14,[r10+rbp+4]
030e  vpand ymm14,ymm14,[rel 540h]
0316  vfmadd231ps ymm6,ymm14,ymm12
031b  vfmadd231ps ymm7,ymm14,ymm13
0320  vpbroadcastd ymm14,[r11+rbp+4]
0327  vpand ymm14,ymm14,[rel 540h]
032f  vfmadd231ps ymm8,ymm14,ymm12
0334  vfmadd231ps ymm9,ymm14,ymm13
0339  vpbroadcastd ymm14,[rbx+rbp+4]
0340  vpand ymm14,ymm14,[rel 540h]
0348  vfmadd231ps ymm10,ymm14,ymm12
034d  vfmadd231ps ymm11,ymm14,ymm13
0352  add rbp,8
0356  add rdx,80h
035d  dec r12
0360  jne near 0C0h
0366  mov r12,[rdi+10h]
036a  and r12,1
036e  test r12,r12
0371  jle near 4D3h
0377  nop word [rax+rax]
0380  vmovups ymm12,[rdx]
0384  vpslld ymm12,ymm12,10h
038a  vmovups ymm13,[rdx+20h]
038f  vpslld ymm13,ymm13,10h
0395  vpbroadcastd ymm14,[rsi+rbp]
039b  vpslld ymm14,ymm14,10h
03a1  vfmadd231ps ymm0,ymm14,ymm12
03a6  vfmadd231ps ymm1,ymm14,ymm13
03ab  vpbroadcastd ymm14,[r8+rbp]
03b1  vpslld ymm14,ymm14,10h
03b7  vfmadd231ps ymm2,ymm14,ymm12
03bc  vfmadd231ps ymm3,ymm14,ymm13
03c1  vpbroadcastd ymm14,[r9+rbp]
03c7  vpslld ymm14,ymm14,10h
03cd  vfmadd231ps ymm4,ymm14,ymm12
03d2  vfmadd231ps ymm5,ymm14,ymm13
03d7  vpbroadcastd ymm14,[r10+rbp]
03dd  vpslld ymm14,ymm14,10h
03e3  vfmadd231ps ymm6,ymm14,ymm12
03e8  vfmadd231ps ymm7,ymm14,ymm13
03ed  vpbroadcastd ymm14,[r11+rbp]
03f3  vpslld ymm14,ymm14,10h
03f9  vfmadd231ps ymm8,ymm14,ymm12
03fe  vfmadd231ps ymm9,ymm14,ymm13
0403  vpbroadcastd ymm14,[rbx+rbp]
0409  vpslld ymm14,ymm14,10h
040f  vfmadd231ps ymm10,ymm14,ymm12
0414  vfmadd231ps ymm11,ymm14,ymm13
0419  vmovups ymm12,[rdx]
041d  vpand ymm12,ymm12,[rel 540h]
0425  vmovups ymm13,[rdx+20h]
042a  vpand ymm13,ymm13,[rel 540h]
0432  vpbroadcastd ymm14,[rsi+rbp]
0438  vpand ymm14,ymm14,[rel 540h]
0440  vfmadd231ps ymm0,ymm14,ymm12
0445  vfmadd231ps ymm1,ymm14,ymm13
044a  vpbroadcastd ymm14,[r8+rbp]
0450  vpand ymm14,ymm14,[rel 540h]
0458  vfmadd231ps ymm2,ymm14,ymm12
045d  vfmadd231ps ymm3,ymm14,ymm13
0462  vpbroadcastd ymm14,[r9+rbp]
0468  vpand ymm14,ymm14,[rel 540h]
0470  vfmadd231ps ymm4,ymm14,ymm12
0475  vfmadd231ps ymm5,ymm14,ymm13
047a  vpbroadcastd ymm14,[r10+rbp]
0480  vpand ymm14,ymm14,[rel 540h]
0488  vfmadd231ps ymm6,ymm14,ymm12
048d  vfmadd231ps ymm7,ymm14,ymm13
0492  vpbroadcastd ymm14,[r11+rbp]
0498  vpand ymm14,ymm14,[rel 540h]
04a0  vfmadd231ps ymm8,ymm14,ymm12
04a5  vfmadd231ps ymm9,ymm14,ymm13
04aa  vpbroadcastd ymm14,[rbx+rbp]
04b0  vpand ymm14,ymm14,[rel 540h]
04b8  vfmadd231ps ymm10,ymm14,ymm12
04bd  vfmadd231ps ymm11,ymm14,ymm13
04c2  add rbp,4
04c6  add rdx,40h
04ca  dec r12
04cd  jne near 380h
04d3  dec rcx
04d6  jne near 80h
04dc  mov rax,[rdi+20h]
04e0  mov rdi,[rdi+28h]
04e4  vmovups [rax],ymm0
04e8  vmovups [rax+20h],ymm1
04ed  add rax,rdi
04f0  vmovups [rax],ymm2
04f4  vmovups [rax+20h],ymm3
04f9  add rax,rdi
04fc  vmovups [rax],ymm4
0500  vmovups [rax+20h],ymm5
0505  add rax,rdi
0508  vmovups [rax],ymm6
050c  vmovups [rax+20h],ymm7
0511  add rax,rdi
0514  vmovups [rax],ymm8
0518  vmovups [rax+20h],ymm9
051d  add rax,rdi
0520  vmovups [rax],ymm10
0524  vmovups [rax+20h],ymm11
0529  pop r12
052b  pop rbp
052c  pop rbx
052d  vzeroupper
0530  ret
