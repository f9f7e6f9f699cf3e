; 243 instructions, 1557 bytes, 0 spills, 0 of them in inner loops
0000  push rbx
0001  push rbp
0002  push r12
0004  push r13
0006  sub rsp,80h
000d  mov rax,[rdi+8]
0011  mov rcx,[rdi+10h]
0015  mov rdx,[rdi+28h]
0019  mov rsi,[rdi+20h]
001d  lea r8,[rsp]
0021  add r8,3Fh
0025  and r8,0FFFFFFFFFFFFFFC0h
0029  mov r9,rax
002c  add r9,rax
002f  add r9,rax
0032  vpbroadcastd zmm0,[rel 618h]
003c  vpbroadcastd zmm1,[rel 61Ch]
0046  vpbroadcastd zmm2,[rel 620h]
0050  nop word [rax+rax]
0059  nop word [rax+rax]
0062  nop word [rax+rax]
006b  nop word [rax+rax]
0074  nop word [rax+rax]
007d  nop dword [rax]
0080  mov r10,[rdi]
0083  mov r11,[rdi+18h]
0087  mov rbx,[rsi]
008a  add r10,rbx
008d  mov rbx,[rsi+8]
0091  add r11,rbx
0094  mov rbx,[rdi+58h]
0098  mov rbp,[rdi+30h]
009c  mov r12,[rdi+68h]
00a0  cmp rcx,4
00a4  jl near 22Eh
00aa  mov r13,rbp
00ad  test r13,r13
00b0  jle near 22Eh
00b6  nop word [rax+rax]
00bf  nop
00c0  vmovups zmm3,[rbx]
00c6  vpxord zmm4,zmm4,zmm4
00cc  vmovups zmm5,[r10]
00d2  vdivps zmm5,zmm5,zmm3
00d8  vcmpordps k1,zmm5,zmm5
00df  vminps zmm5{k1}{z},zmm5,[rel 628h]{1to16}
00e9  vcvtps2dq zmm5,zmm5
00ef  vpmovsdb [r8],zmm5
00f5  vpmovzxbd zmm5,[r8]
00fb  vpord zmm4,zmm4,zmm5
0101  vmovups zmm5,[r10+rax]
0108  vdivps zmm5,zmm5,zmm3
010e  vcmpordps k1,zmm5,zmm5
0115  vminps zmm5{k1}{z},zmm5,[rel 628h]{1to16}
011f  vcvtps2dq zmm5,zmm5
0125  vpmovsdb [r8],zmm5
012b  vpmovzxbd zmm5,[r8]
0131  vpmulld zmm5,zmm5,zmm0
0137  vpord zmm4,zmm4,zmm5
013d  vmovups zmm5,[r10+rax*2]
0144  vdivps zmm5,zmm5,zmm3
014a  vcmpordps k1,zmm5,zmm5
0151  vminps zmm5{k1}{z},zmm5,[rel 628h]{1to16}
015b  vcvtps2dq zmm5,zmm5
0161  vpmovsdb [r8],zmm5
0167  vpmovzxbd zmm5,[r8]
016d  vpmulld zmm5,zmm5,zmm1
0173  vpord zmm4,zmm4,zmm5
0179  vmovups zmm5,[r10+r9]
0180  vdivps zmm3,zmm5,zmm3
0186  vcmpordps k1,zmm3,zmm3
018d  vminps zmm3{k1}{z},zmm3,[rel 628h]{1to16}
0197  vcvtps2dq zmm3,zmm3
019d  vpmovsdb [r8],zmm3
01a3  vpmovzxbd zmm3,[r8]
01a9  vpmulld zmm3,zmm3,zmm2
01af  vpord zmm4,zmm4,zmm3
01b5  vpbroadcastd zmm3,[rel 624h]
01bf  vmovups zmm5,[r12]
01c6  vpsllw zmm6,zmm3,8
01cd  vpsrlw zmm6,zmm6,8
01d4  vpsllw zmm7,zmm4,8
01db  vpsraw zmm7,zmm7,8
01e2  vpmaddwd zmm6,zmm6,zmm7
01e8  vpaddd zmm5,zmm5,zmm6
01ee  vpsrlw zmm3,zmm3,8
01f5  vpsraw zmm6,zmm4,8
01fc  vpmaddwd zmm3,zmm3,zmm6
0202  vpaddd zmm5,zmm5,zmm3
0208  vmovups [r12],zmm5
020f  vmovups [r11],zmm4
0215  add r10,40h
0219  add r11,40h
021d  add r12,40h
0221  add rbx,40h
0225  dec r13
0228  jne near 0C0h
022e  cmp rcx,4
0232  jge near 416h
0238  test rbp,rbp
023b  jle near 416h
0241  nop word [rax+rax]
024a  nop word [rax+rax]
0253  nop word [rax+rax]
025c  nop word [rax+rax]
0265  nop word [rax+rax]
026e  nop word [rax+rax]
0277  nop word [rax+rax]
0280  vmovups zmm3,[rbx]
0286  vpxord zmm4,zmm4,zmm4
028c  cmp rcx,0
0290  jle near 2CBh
0296  vmovups zmm5,[r10]
029c  vdivps zmm5,zmm5,zmm3
02a2  vcmpordps k1,zmm5,zmm5
02a9  vminps zmm5{k1}{z},zmm5,[rel 628h]{1to16}
02b3  vcvtps2dq zmm5,zmm5
02b9  vpmovsdb [r8],zmm5
02bf  vpmovzxbd zmm5,[r8]
02c5  vpord zmm4,zmm4,zmm5
02cb  cmp rcx,1
02cf  jle near 311h
02d5  vmovups zmm5,[r10+rax]
02dc  vdivps zmm5,zmm5,zmm3
02e2  vcmpordps k1,zmm5,zmm5
02e9  vminps zmm5{k1}{z},zmm5,[rel 628h]{1to16}
02f3  vcvtps2dq zmm5,zmm5
02f9  vpmovsdb [r8],zmm5
02ff  vpmovzxbd zmm5,[r8]
0305  vpmulld zmm5,zmm5,zmm0
030b  vpord zmm4,zmm4,zmm5
0311  cmp rcx,2
0315  jle near 357h
031b  vmovups zmm5,[r10+rax*2]
0322  vdivps zmm5,zmm5,zmm3
0328  vcmpordps k1,zmm5,zmm5
032f  vminps zmm5{k1}{z},zmm5,[rel 628h]{1to16}
0339  vcvtps2dq zmm5,zmm5
033f  vpmovsdb [r8],zmm5
0345  vpmovzxbd zmm5,[r8]
034b  vpmulld zmm5,zmm5,zmm1
0351  vpord zmm4,zmm4,zmm5
0357  cmp rcx,3
035b  jle near 39Dh
0361  vmovups zmm5,[r10+r9]
0368  vdivps zmm3,zmm5,zmm3
036e  vcmpordps k1,zmm3,zmm3
0375  vminps zmm3{k1}{z},zmm3,[rel 628h]{1to16}
037f  vcvtps2dq zmm3,zmm3
0385  vpmovsdb [r8],zmm3
038b  vpmovzxbd zmm3,[r8]
0391  vpmulld zmm3,zmm3,zmm2
0397  vpord zmm4,zmm4,zmm3
039d  vpbroadcastd zmm3,[rel 624h]
03a7  vmovups zmm5,[r12]
03ae  vpsllw zmm6,zmm3,8
03b5  vpsrlw zmm6,zmm6,8
03bc  vpsllw zmm7,zmm4,8
03c3  vpsraw zmm7,zmm7,8
03ca  vpmaddwd zmm6,zmm6,zmm7
03d0  vpaddd zmm5,zmm5,zmm6
03d6  vpsrlw zmm3,zmm3,8
03dd  vpsraw zmm6,zmm4,8
03e4  vpmaddwd zmm3,zmm3,zmm6
03ea  vpaddd zmm5,zmm5,zmm3
03f0  vmovups [r12],zmm5
03f7  vmovups [r11],zmm4
03fd  add r10,40h
0401  add r11,40h
0405  add r12,40h
0409  add rbx,40h
040d  dec rbp
0410  jne near 280h
0416  mov rbp,[rdi+40h]
041a  cmp rbp,0
041e  jle near 5F7h
0424  mov r13,[rdi+38h]
0428  vpbroadcastd zmm3,r13d
042e  vpcmpnled k1,zmm3,[rel 640h]
0439  vpbroadcastd zmm3,ebp
043f  vpcmpnled k2,zmm3,[rel 640h]
044a  vmovups zmm3{k1}{z},[rbx]
0450  vpxord zmm4,zmm4,zmm4
0456  cmp rcx,0
045a  jle near 4A1h
0460  vmovups zmm5{k1}{z},[r10]
0466  vdivps zmm5,zmm5,zmm3
046c  vcmpordps k3,zmm5,zmm5
0473  vminps zmm5{k3}{z},zmm5,[rel 628h]{1to16}
047d  vcvtps2dq zmm5,zmm5
0483  vpmovsdb [r8],zmm5
0489  vpmovzxbd zmm5,[r8]
048f  vpxord zmm6,zmm6,zmm6
0495  vblendmps zmm5{k1},zmm6,zmm5
049b  vpord zmm4,zmm4,zmm5
04a1  cmp rcx,1
04a5  jle near 4F3h
04ab  vmovups zmm5{k1}{z},[r10+rax]
04b2  vdivps zmm5,zmm5,zmm3
04b8  vcmpordps k3,zmm5,zmm5
04bf  vminps zmm5{k3}{z},zmm5,[rel 628h]{1to16}
04c9  vcvtps2dq zmm5,zmm5
04cf  vpmovsdb [r8],zmm5
04d5  vpmovzxbd zmm5,[r8]
04db  vpxord zmm6,zmm6,zmm6
04e1  vblendmps zmm5{k1},zmm6,zmm5
04e7  vpmulld zmm5,zmm5,zmm0
04ed  vpord zmm4,zmm4,zmm5
04f3  cmp rcx,2
04f7  jle near 545h
04fd  vmovups zmm5{k1}{z},[r10+rax*2]
0504  vdivps zmm5,zmm5,zmm3
050a  vcmpordps k3,zmm5,zmm5
0511  vminps zmm5{k3}{z},zmm5,[rel 628h]{1to16}
051b  vcvtps2dq zmm5,zmm5
0521  vpmovsdb [r8],zmm5
0527  vpmovzxbd zmm5,[r8]
052d  vpxord zmm6,zmm6,zmm6
0533  vblendmps zmm5{k1},zmm6,zmm5
0539  vpmulld zmm5,zmm5,zmm1
053f  vpord zmm4,zmm4,zmm5
0545  cmp rcx,3
0549  jle near 597h
054f  vmovups zmm5{k1}{z},[r10+r9]
0556  vdivps zmm3,zmm5,zmm3
055c  vcmpordps k3,zmm3,zmm3
0563  vminps zmm3{k3}{z},zmm3,[rel 628h]{1to16}
056d  vcvtps2dq zmm3,zmm3
0573  vpmovsdb [r8],zmm3
0579  vpmovzxbd zmm3,[r8]
057f  vpxord zmm5,zmm5,zmm5
0585  vblendmps zmm3{k1},zmm5,zmm3
058b  vpmulld zmm3,zmm3,zmm2
0591  vpord zmm4,zmm4,zmm3
0597  vpbroadcastd zmm3,[rel 624h]
05a1  vmovups zmm5{k2}{z},[r12]
05a8  vpsllw zmm6,zmm3,8
05af  vpsrlw zmm6,zmm6,8
05b6  vpsllw zmm7,zmm4,8
05bd  vpsraw zmm7,zmm7,8
05c4  vpmaddwd zmm6,zmm6,zmm7
05ca  vpaddd zmm5,zmm5,zmm6
05d0  vpsrlw zmm3,zmm3,8
05d7  vpsraw zmm6,zmm4,8
05de  vpmaddwd zmm3,zmm3,zmm6
05e4  vpaddd zmm5,zmm5,zmm3
05ea  vmovups [r12]{k2},zmm5
05f1  vmovups [r11]{k2},zmm4
05f7  add rsi,10h
05fb  dec rdx
05fe  jne near 80h
0604  add rsp,80h
060b  pop r13
060d  pop r12
060f  pop rbp
0610  pop rbx
0611  vzeroupper
0614  ret
