; 354 instructions, 2035 bytes, 0 spills, 0 of them in inner loops
0000  push rbx
0001  push rbp
0002  push r12
0004  push r13
0006  vpxor ymm0,ymm0,ymm0
000a  vpxor ymm1,ymm1,ymm1
000e  vpxor ymm2,ymm2,ymm2
0012  vpxor ymm3,ymm3,ymm3
0016  vpxor ymm4,ymm4,ymm4
001a  vpxor ymm5,ymm5,ymm5
001e  vpxor ymm6,ymm6,ymm6
0022  vpxor ymm7,ymm7,ymm7
0026  vpxor ymm8,ymm8,ymm8
002b  vpxor ymm9,ymm9,ymm9
0030  vpxor ymm10,ymm10,ymm10
0035  vpxor ymm11,ymm11,ymm11
003a  mov rax,[rdi]
003d  mov rcx,[rdi+8]
0041  test rcx,rcx
0044  jle near 79Ch
004a  nop word [rax+rax]
0053  nop word [rax+rax]
005c  nop word [rax+rax]
0065  nop word [rax+rax]
006e  nop word [rax+rax]
0077  nop word [rax+rax]
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
00af  mov r13,r12
00b2  shr r13,2
00b6  test r13,r13
00b9  jle near 61Eh
00bf  nop
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
015d  vpand ymm12,ymm12,[rel 800h]
0165  vmovups ymm13,[rdx+20h]
016a  vpand ymm13,ymm13,[rel 800h]
0172  vpbroadcastd ymm14,[rsi+rbp]
0178  vpand ymm14,ymm14,[rel 800h]
0180  vfmadd231ps ymm0,ymm14,ymm12
0185  vfmadd231ps ymm1,ymm14,ymm13
018a  vpbroadcastd ymm14,[r8+rbp]
0190  vpand ymm14,ymm14,[rel 800h]
0198  vfmadd231ps ymm2,ymm14,ymm12
019d  vfmadd231ps ymm3,ymm14,ymm13
01a2  vpbroadcastd ymm14,[r9+rbp]
01a8  vpand ymm14,ymm14,[rel 800h]
01b0  vfmadd231ps ymm4,ymm14,ymm12
01b5  vfmadd231ps ymm5,ymm14,ymm13
01ba  vpbroadcastd ymm14,[r10+rbp]
01c0  vpand ymm14,ymm14,[rel 800h]
01c8  vfmadd231ps ymm6,ymm14,ymm12
01cd  vfmadd231ps ymm7,ymm14,ymm13
01d2  vpbroadcastd ymm14,[r11+rbp]
01d8  vpand ymm14,ymm14,[rel 800h]
01e0  vfmadd231ps ymm8,ymm14,ymm12
01e5  vfmadd231ps ymm9,ymm14,ymm13
01ea  vpbroadcastd ymm14,[rbx+rbp]
01f0  vpand ymm14,ymm14,[rel 800h]
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
02a7  vpand ymm12,ymm12,[rel 800h]
02af  vmovups ymm13,[rdx+60h]
02b4  vpand ymm13,ymm13,[rel 800h]
02bc  vpbroadcastd ymm14,[rsi+rbp+4]
02c3  vpand ymm14,ymm14,[rel 800h]
02cb  vfmadd231ps ymm0,ymm14,ymm12
02d0  vfmadd231ps ymm1,ymm14,ymm13
02d5  vpbroadcastd ymm14,[r8+rbp+4]
02dc  vpand ymm14,ymm14,[rel 800h]
02e4  vfmadd231ps ymm2,ymm14,ymm12
02e9  vfmadd231ps ymm3,ymm14,ymm13
02ee  vpbroadcastd ymm14,[r9+rbp+4]
02f5  vpand ymm14,ymm14,[rel 800h]
02fd  vfmadd231ps ymm4,ymm14,ymm12
0302  vfmadd231ps ymm5,ymm14,ymm13
0307  vpbroadcastd ymm14,[r10+rbp+4]
030e  vpand ymm14,ymm14,[rel 800h]
0316  vfmadd231ps ymm6,ymm14,ymm12
031b  vfmadd231ps ymm7,ymm14,ymm13
0320  vpbroadcastd ymm14,[r11+rbp+4]
0327  vpand ymm14,ymm14,[rel 800h]
032f  vfmadd231ps ymm8,ymm14,ymm12
0334  vfmadd231ps ymm9,ymm14,ymm13
0339  vpbroadcastd ymm14,[rbx+rbp+4]
0340  vpand ymm14,ymm14,[rel 800h]
0348  vfmadd231ps ymm10,ymm14,ymm12
034d  vfmadd231ps ymm11,ymm14,ymm13
0352  vmovups ymm12,[rdx+80h]
035a  vpslld ymm12,ymm12,10h
0360  vmovups ymm13,[rdx+0A0h]
0368  vpslld ymm13,ymm13,10h
036e  vpbroadcastd ymm14,[rsi+rbp+8]
0375  vpslld ymm14,ymm14,10h
037b  vfmadd231ps ymm0,ymm14,ymm12
0380  vfmadd231ps ymm1,ymm14,ymm13
0385  vpbroadcastd ymm14,[r8+rbp+8]
038c  vpslld ymm14,ymm14,10h
0392  vfmadd231ps ymm2,ymm14,ymm12
0397  vfmadd231ps ymm3,ymm14,ymm13
039c  vpbroadcastd ymm14,[r9+rbp+8]
03a3  vpslld ymm14,ymm14,10h
03a9  vfmadd231ps ymm4,ymm14,ymm12
03ae  vfmadd231ps ymm5,ymm14,ymm13
03b3  vpbroadcastd ymm14,[r10+rbp+8]
03ba  vpslld ymm14,ymm14,10h
03c0  vfmadd231ps ymm6,ymm14,ymm12
03c5  vfmadd231ps ymm7,ymm14,ymm13
03ca  vpbroadcastd ymm14,[r11+rbp+8]
03d1  vpslld ymm14,ymm14,10h
03d7  vfmadd231ps ymm8,ymm14,ymm12
03dc  vfmadd231ps ymm9,ymm14,ymm13
03e1  vpbroadcastd ymm14,[rbx+rbp+8]
03e8  vpslld ymm14,ymm14,10h
03ee  vfmadd231ps ymm10,ymm14,ymm12
03f3  vfmadd231ps ymm11,ymm14,ymm13
03f8  vmovups ymm12,[rdx+80h]
0400  vpand ymm12,ymm12,[rel 800h]
0408  vmovups ymm13,[rdx+0A0h]
0410  vpand ymm13,ymm13,[rel 800h]
0418  vpbroadcastd ymm14,[rsi+rbp+8]
041f  vpand ymm14,ymm14,[rel 800h]
0427  vfmadd231ps ymm0,ymm14,ymm12
042c  vfmadd231ps ymm1,ymm14,ymm13
0431  vpbroadcastd ymm14,[r8+rbp+8]
0438  vpand ymm14,ymm14,[rel 800h]
0440  vfmadd231ps ymm2,ymm14,ymm12
0445  vfmadd231ps ymm3,ymm14,ymm13
044a  vpbroadcastd ymm14,[r9+rbp+8]
0451  vpand ymm14,ymm14,[rel 800h]
0459  vfmadd231ps ymm4,ymm14,ymm12
045e  vfmadd231ps ymm5,ymm14,ymm13
0463  vpbroadcastd ymm14,[r10+rbp+8]
046a  vpand ymm14,ymm14,[rel 800h]
0472  vfmadd231ps ymm6,ymm14,ymm12
0477  vfmadd231ps ymm7,ymm14,ymm13
047c  vpbroadcastd ymm14,[r11+rbp+8]
0483  vpand ymm14,ymm14,[rel 800h]
048b  vfmadd231ps ymm8,ymm14,ymm12
0490  vfmadd231ps ymm9,ymm14,ymm13
0495  vpbroadcastd ymm14,[rbx+rbp+8]
049c  vpand ymm14,ymm14,[rel 800h]
04a4  vfmadd231ps ymm10,ymm14,ymm12
04a9  vfmadd231ps ymm11,ymm14,ymm13
04ae  vmovups ymm12,[rdx+0C0h]
04b6  vpslld ymm12,ymm12,10h
04bc  vmovups ymm13,[rdx+0E0h]
04c4  vpslld ymm13,ymm13,10h
04ca  vpbroadcastd ymm14,[rsi+rbp+0Ch]
04d1  vpslld ymm14,ymm14,10h
04d7  vfmadd231ps ymm0,ymm14,ymm12
04dc  vfmadd231ps ymm1,ymm14,ymm13
04e1  vpbroadcastd ymm14,[r8+rbp+0Ch]
04e8  vpslld ymm14,ymm14,10h
04ee  vfmadd231ps ymm2,ymm14,ymm12
04f3  vfmadd231ps ymm3,ymm14,ymm13
04f8  vpbroadcastd ymm14,[r9+rbp+0Ch]
04ff  vpslld ymm14,ymm14,10h
0505  vfmadd231ps ymm4,ymm14,ymm12
050a  vfmadd231ps ymm5,ymm14,ymm13
050f  vpbroadcastd ymm14,[r10+rbp+0Ch]
0516  vpslld ymm14,ymm14,10h
051c  vfmadd231ps ymm6,ymm14,ymm12
0521  vfmadd231ps ymm7,ymm14,ymm13
0526  vpbroadcastd ymm14,[r11+rbp+0Ch]
052d  vpslld ymm14,ymm14,10h
0533  vfmadd231ps ymm8,ymm14,ymm12
0538  vfmadd231ps ymm9,ymm14,ymm13
053d  vpbroadcastd ymm14,[rbx+rbp+0Ch]
0544  vpslld ymm14,ymm14,10h
054a  vfmadd231ps ymm10,ymm14,ymm12
054f  vfmadd231ps ymm11,ymm14,ymm13
0554  vmovups ymm12,[rdx+0C0h]
055c  vpand ymm12,ymm12,[rel 800h]
0564  vmovups ymm13,[rdx+0E0h]
056c  vpand ymm13,ymm13,[rel 800h]
0574  vpbroadcastd ymm14,[rsi+rbp+0Ch]
057b  vpand ymm14,ymm14,[rel 800h]
0583  vfmadd231ps ymm0,ymm14,ymm12
0588  vfmadd231ps ymm1,ymm14,ymm13
058d  vpbroadcastd ymm14,[r8+rbp+0Ch]
0594  vpand ymm14,ymm14,[rel 800h]
059c  vfmadd231ps ymm2,ymm14,ymm12
05a1  vfmadd231ps ymm3,ymm14,ymm13
05a6  vpbroadcastd ymm14,[r9+rbp+0Ch]
05ad  vpand ymm14,ymm14,[rel 800h]
05b5  vfmadd231ps ymm4,ymm14,ymm12
05ba  vfmadd231ps ymm5,ymm14,ymm13
05bf  vpbroadcastd ymm14,[r10+rbp+0Ch]
05c6  vpand ymm14,ymm14,[rel 800h]
05ce  vfmadd231ps ymm6,ymm14,ymm12
05d3  vfmadd231ps ymm7,ymm14,ymm13
05d8  vpbroadcastd ymm14,[r11+rbp+0Ch]
05df  vpand ymm14,ymm14,[rel 800h]
05e7  vfmadd231ps ymm8,ymm14,ymm12
05ec  vfmadd231ps ymm9,ymm14,ymm13
05f1  vpbroadcastd ymm14,[rbx+rbp+0Ch]
05f8  vpand ymm14,ymm14,[rel 800h]
0600  vfmadd231ps ymm10,ymm14,ymm12
0605  vfmadd231ps ymm11,ymm14,ymm13
060a  add rbp,10h
060e  add rdx,100h
0615  dec r13
0618  jne near 0C0h
061e  and r12,3
0622  test r12,r12
0625  jle near 793h
062b  nop word [rax+rax]
0634  nop word [rax+rax]
063d  nop dword [rax]
0640  vmovups ymm12,[rdx]
0644  vpslld ymm12,ymm12,10h
064a  vmovups ymm13,[rdx+20h]
064f  vpslld ymm13,ymm13,10h
0655  vpbroadcastd ymm14,[rsi+rbp]
065b  vpslld ymm14,ymm14,10h
0661  vfmadd231ps ymm0,ymm14,ymm12
0666  vfmadd231ps ymm1,ymm14,ymm13
066b  vpbroadcastd ymm14,[r8+rbp]
0671  vpslld ymm14,ymm14,10h
0677  vfmadd231ps ymm2,ymm14,ymm12
067c  vfmadd231ps ymm3,ymm14,ymm13
0681  vpbroadcastd ymm14,[r9+rbp]
0687  vpslld ymm14,ymm14,10h
068d  vfmadd231ps ymm4,ymm14,ymm12
0692  vfmadd231ps ymm5,ymm14,ymm13
0697  vpbroadcastd ymm14,[r10+rbp]
069d  vpslld ymm14,ymm14,10h
06a3  vfmadd231ps ymm6,ymm14,ymm12
06a8  vfmadd231ps ymm7,ymm14,ymm13
06ad  vpbroadcastd ymm14,[r11+rbp]
06b3  vpslld ymm14,ymm14,10h
06b9  vfmadd231ps ymm8,ymm14,ymm12
06be  vfmadd231ps ymm9,ymm14,ymm13
06c3  vpbroadcastd ymm14,[rbx+rbp]
06c9  vpslld ymm14,ymm14,10h
06cf  vfmadd231ps ymm10,ymm14,ymm12
06d4  vfmadd231ps ymm11,ymm14,ymm13
06d9  vmovups ymm12,[rdx]
06dd  vpand ymm12,ymm12,[rel 800h]
06e5  vmovups ymm13,[rdx+20h]
06ea  vpand ymm13,ymm13,[rel 800h]
06f2  vpbroadcastd ymm14,[rsi+rbp]
06f8  vpand ymm14,ymm14,[rel 800h]
0700  vfmadd231ps ymm0,ymm14,ymm12
0705  vfmadd231ps ymm1,ymm14,ymm13
070a  vpbroadcastd ymm14,[r8+rbp]
0710  vpand ymm14,ymm14,[rel 800h]
0718  vfmadd231ps ymm2,ymm14,ymm12
071d  vfmadd231ps ymm3,ymm14,ymm13
0722  vpbroadcastd ymm14,[r9+rbp]
0728  vpand ymm14,ymm14,[rel 800h]
0730  vfmadd231ps ymm4,ymm14,ymm12
0735  vfmadd231ps ymm5,ymm14,ymm13
073a  vpbroadcastd ymm14,[r10+rbp]
0740  vpand ymm14,ymm14,[rel 800h]
0748  vfmadd231ps ymm6,ymm14,ymm12
074d  vfmadd231ps ymm7,ymm14,ymm13
0752  vpbroadcastd ymm14,[r11+rbp]
0758  vpand ymm14,ymm14,[rel 800h]
0760  vfmadd231ps ymm8,ymm14,ymm12
0765  vfmadd231ps ymm9,ymm14,ymm13
076a  vpbroadcastd ymm14,[rbx+rbp]
0770  vpand ymm14,ymm14,[rel 800h]
0778  vfmadd231ps ymm10,ymm14,ymm12
077d  vfmadd231ps ymm11,ymm14,ymm13
0782  add rbp,4
0786  add rdx,40h
078a  dec r12
078d  jne near 640h
0793  dec rcx
0796  jne near 80h
079c  mov rax,[rdi+20h]
07a0  mov rdi,[rdi+28h]
07a4  vmovups [rax],ymm0
07a8  vmovups [rax+20h],ymm1
07ad  add rax,rdi
07b0  vmovups [rax],ymm2
07b4  vmovups [rax+20h],ymm3
07b9  add rax,rdi
07bc  vmovups [rax],ymm4
07c0  vmovups [rax+20h],ymm5
07c5  add rax,rdi
07c8  vmovups [rax],ymm6
07cc  vmovups [rax+20h],ymm7
07d1  add rax,rdi
07d4  vmovups [rax],ymm8
07d8  vmovups [rax+20h],ymm9
07dd  add rax,rdi
07e0  vmovups [rax],ymm10
07e4  vmovups [rax+20h],ymm11
07e9  pop r13
07eb  pop r12
07ed  pop rbp
07ee  pop rbx
07ef  vzeroupper
07f2  ret
