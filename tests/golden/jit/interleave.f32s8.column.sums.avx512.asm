; 265 instructions, 1663 bytes, 0 spills, 0 of them in inner loops
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
0032  vpbroadcastd zmm0,[rel 680h]
003c  vpbroadcastd zmm1,[rel 684h]
0046  vpbroadcastd zmm2,[rel 688h]
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
00a0  test rbp,rbp
00a3  jle near 353h
00a9  nop word [rax+rax]
00b2  nop word [rax+rax]
00bb  nop dword [rax+rax]
00c0  vmovups zmm3,[rbx]
00c6  vpxord zmm4,zmm4,zmm4
00cc  cmp rcx,4
00d0  jl near 1BFh
00d6  vmovups zmm5,[r10]
00dc  vdivps zmm5,zmm5,zmm3
00e2  vcmpordps k1,zmm5,zmm5
00e9  vminps zmm5{k1}{z},zmm5,[rel 690h]{1to16}
00f3  vcvtps2dq zmm5,zmm5
00f9  vpmovsdb [r8],zmm5
00ff  vpmovzxbd zmm5,[r8]
0105  vpord zmm4,zmm4,zmm5
010b  vmovups zmm5,[r10+rax]
0112  vdivps zmm5,zmm5,zmm3
0118  vcmpordps k1,zmm5,zmm5
011f  vminps zmm5{k1}{z},zmm5,[rel 690h]{1to16}
0129  vcvtps2dq zmm5,zmm5
012f  vpmovsdb [r8],zmm5
0135  vpmovzxbd zmm5,[r8]
013b  vpmulld zmm5,zmm5,zmm0
0141  vpord zmm4,zmm4,zmm5
0147  vmovups zmm5,[r10+rax*2]
014e  vdivps zmm5,zmm5,zmm3
0154  vcmpordps k1,zmm5,zmm5
015b  vminps zmm5{k1}{z},zmm5,[rel 690h]{1to16}
0165  vcvtps2dq zmm5,zmm5
016b  vpmovsdb [r8],zmm5
0171  vpmovzxbd zmm5,[r8]
0177  vpmulld zmm5,zmm5,zmm1
017d  vpord zmm4,zmm4,zmm5
0183  vmovups zmm5,[r10+r9]
018a  vdivps zmm5,zmm5,zmm3
0190  vcmpordps k1,zmm5,zmm5
0197  vminps zmm5{k1}{z},zmm5,[rel 690h]{1to16}
01a1  vcvtps2dq zmm5,zmm5
01a7  vpmovsdb [r8],zmm5
01ad  vpmovzxbd zmm5,[r8]
01b3  vpmulld zmm5,zmm5,zmm2
01b9  vpord zmm4,zmm4,zmm5
01bf  cmp rcx,4
01c3  jge near 2DAh
01c9  cmp rcx,0
01cd  jle near 208h
01d3  vmovups zmm5,[r10]
01d9  vdivps zmm5,zmm5,zmm3
01df  vcmpordps k1,zmm5,zmm5
01e6  vminps zmm5{k1}{z},zmm5,[rel 690h]{1to16}
01f0  vcvtps2dq zmm5,zmm5
01f6  vpmovsdb [r8],zmm5
01fc  vpmovzxbd zmm5,[r8]
0202  vpord zmm4,zmm4,zmm5
0208  cmp rcx,1
020c  jle near 24Eh
0212  vmovups zmm5,[r10+rax]
0219  vdivps zmm5,zmm5,zmm3
021f  vcmpordps k1,zmm5,zmm5
0226  vminps zmm5{k1}{z},zmm5,[rel 690h]{1to16}
0230  vcvtps2dq zmm5,zmm5
0236  vpmovsdb [r8],zmm5
023c  vpmovzxbd zmm5,[r8]
0242  vpmulld zmm5,zmm5,zmm0
0248  vpord zmm4,zmm4,zmm5
024e  cmp rcx,2
0252  jle near 294h
0258  vmovups zmm5,[r10+rax*2]
025f  vdivps zmm5,zmm5,zmm3
0265  vcmpordps k1,zmm5,zmm5
026c  vminps zmm5{k1}{z},zmm5,[rel 690h]{1to16}
0276  vcvtps2dq zmm5,zmm5
027c  vpmovsdb [r8],zmm5
0282  vpmovzxbd zmm5,[r8]
0288  vpmulld zmm5,zmm5,zmm1
028e  vpord zmm4,zmm4,zmm5
0294  cmp rcx,3
0298  jle near 2DAh
029e  vmovups zmm5,[r10+r9]
02a5  vdivps zmm3,zmm5,zmm3
02ab  vcmpordps k1,zmm3,zmm3
02b2  vminps zmm3{k1}{z},zmm3,[rel 690h]{1to16}
02bc  vcvtps2dq zmm3,zmm3
02c2  vpmovsdb [r8],zmm3
02c8  vpmovzxbd zmm3,[r8]
02ce  vpmulld zmm3,zmm3,zmm2
02d4  vpord zmm4,zmm4,zmm3
02da  vpbroadcastd zmm3,[rel 68Ch]
02e4  vmovups zmm5,[r12]
02eb  vpsllw zmm6,zmm3,8
02f2  vpsrlw zmm6,zmm6,8
02f9  vpsllw zmm7,zmm4,8
0300  vpsraw zmm7,zmm7,8
0307  vpmaddwd zmm6,zmm6,zmm7
030d  vpaddd zmm5,zmm5,zmm6
0313  vpsrlw zmm3,zmm3,8
031a  vpsraw zmm6,zmm4,8
0321  vpmaddwd zmm3,zmm3,zmm6
0327  vpaddd zmm5,zmm5,zmm3
032d  vmovups [r12],zmm5
0334  vmovups [r11],zmm4
033a  add r10,40h
033e  add r11,40h
0342  add r12,40h
0346  add rbx,40h
034a  dec rbp
034d  jne near 0C0h
0353  mov rbp,[rdi+40h]
0357  cmp rbp,0
035b  jle near 661h
0361  mov r13,[rdi+38h]
0365  vpbroadcastd zmm3,r13d
036b  vpcmpnled k1,zmm3,[rel 6C0h]
0376  vpbroadcastd zmm3,ebp
037c  vpcmpnled k2,zmm3,[rel 6C0h]
0387  vmovups zmm3{k1}{z},[rbx]
038d  vpxord zmm4,zmm4,zmm4
0393  cmp rcx,4
0397  jl near 4B6h
039d  vmovups zmm5{k1}{z},[r10]
03a3  vdivps zmm5,zmm5,zmm3
03a9  vcmpordps k3,zmm5,zmm5
03b0  vminps zmm5{k3}{z},zmm5,[rel 690h]{1to16}
03ba  vcvtps2dq zmm5,zmm5
03c0  vpmovsdb [r8],zmm5
03c6  vpmovzxbd zmm5,[r8]
03cc  vpxord zmm6,zmm6,zmm6
03d2  vblendmps zmm5{k1},zmm6,zmm5
03d8  vpord zmm4,zmm4,zmm5
03de  vmovups zmm5{k1}{z},[r10+rax]
03e5  vdivps zmm5,zmm5,zmm3
03eb  vcmpordps k3,zmm5,zmm5
03f2  vminps zmm5{k3}{z},zmm5,[rel 690h]{1to16}
03fc  vcvtps2dq zmm5,zmm5
0402  vpmovsdb [r8],zmm5
0408  vpmovzxbd zmm5,[r8]
040e  vpxord zmm6,zmm6,zmm6
0414  vblendmps zmm5{k1},zmm6,zmm5
041a  vpmulld zmm5,zmm5,zmm0
0420  vpord zmm4,zmm4,zmm5
0426  vmovups zmm5{k1}{z},[r10+rax*2]
042d  vdivps zmm5,zmm5,zmm3
0433  vcmpordps k3,zmm5,zmm5
043a  vminps zmm5{k3}{z},zmm5,[rel 690h]{1to16}
0444  vcvtps2dq zmm5,zmm5
044a  vpmovsdb [r8],zmm5
0450  vpmovzxbd zmm5,[r8]
0456  vpxord zmm6,zmm6,zmm6
045c  vblendmps zmm5{k1},zmm6,zmm5
0462  vpmulld zmm5,zmm5,zmm1
0468  vpord zmm4,zmm4,zmm5
046e  vmovups zmm5{k1}{z},[r10+r9]
0475  vdivps zmm5,zmm5,zmm3
047b  vcmpordps k3,zmm5,zmm5
0482  vminps zmm5{k3}{z},zmm5,[rel 690h]{1to16}
048c  vcvtps2dq zmm5,zmm5
0492  vpmovsdb [r8],zmm5
0498  vpmovzxbd zmm5,[r8]
049e  vpxord zmm6,zmm6,zmm6
04a4  vblendmps zmm5{k1},zmm6,zmm5
04aa  vpmulld zmm5,zmm5,zmm2
04b0  vpord zmm4,zmm4,zmm5
04b6  cmp rcx,4
04ba  jge near 601h
04c0  cmp rcx,0
04c4  jle near 50Bh
04ca  vmovups zmm5{k1}{z},[r10]
04d0  vdivps zmm5,zmm5,zmm3
04d6  vcmpordps k3,zmm5,zmm5
04dd  vminps zmm5{k3}{z},zmm5,[rel 690h]{1to16}
04e7  vcvtps2dq zmm5,zmm5
04ed  vpmovsdb [r8],zmm5
04f3  vpmovzxbd zmm5,[r8]
04f9  vpxord zmm6,zmm6,zmm6
04ff  vblendmps zmm5{k1},zmm6,zmm5
0505  vpord zmm4,zmm4,zmm5
050b  cmp rcx,1
050f  jle near 55Dh
0515  vmovups zmm5{k1}{z},[r10+rax]
051c  vdivps zmm5,zmm5,zmm3
0522  vcmpordps k3,zmm5,zmm5
0529  vminps zmm5{k3}{z},zmm5,[rel 690h]{1to16}
0533  vcvtps2dq zmm5,zmm5
0539  vpmovsdb [r8],zmm5
053f  vpmovzxbd zmm5,[r8]
0545  vpxord zmm6,zmm6,zmm6
054b  vblendmps zmm5{k1},zmm6,zmm5
0551  vpmulld zmm5,zmm5,zmm0
0557  vpord zmm4,zmm4,zmm5
055d  cmp rcx,2
0561  jle near 5AFh
0567  vmovups zmm5{k1}{z},[r10+rax*2]
056e  vdivps zmm5,zmm5,zmm3
0574  vcmpordps k3,zmm5,zmm5
057b  vminps zmm5{k3}{z},zmm5,[rel 690h]{1to16}
0585  vcvtps2dq zmm5,zmm5
058b  vpmovsdb [r8],zmm5
0591  vpmovzxbd zmm5,[r8]
0597  vpxord zmm6,zmm6,zmm6
059d  vblendmps zmm5{k1},zmm6,zmm5
05a3  vpmulld zmm5,zmm5,zmm1
05a9  vpord zmm4,zmm4,zmm5
05af  cmp rcx,3
05b3  jle near 601h
05b9  vmovups zmm5{k1}{z},[r10+r9]
05c0  vdivps zmm3,zmm5,zmm3
05c6  vcmpordps k3,zmm3,zmm3
05cd  vminps zmm3{k3}{z},zmm3,[rel 690h]{1to16}
05d7  vcvtps2dq zmm3,zmm3
05dd  vpmovsdb [r8],zmm3
05e3  vpmovzxbd zmm3,[r8]
05e9  vpxord zmm5,zmm5,zmm5
05ef  vblendmps zmm3{k1},zmm5,zmm3
05f5  vpmulld zmm3,zmm3,zmm2
05fb  vpord zmm4,zmm4,zmm3
0601  vpbroadcastd zmm3,[rel 68Ch]
060b  vmovups zmm5{k2}{z},[r12]
0612  vpsllw zmm6,zmm3,8
0619  vpsrlw zmm6,zmm6,8
0620  vpsllw zmm7,zmm4,8
0627  vpsraw zmm7,zmm7,8
062e  vpmaddwd zmm6,zmm6,zmm7
0634  vpaddd zmm5,zmm5,zmm6
063a  vpsrlw zmm3,zmm3,8
0641  vpsraw zmm6,zmm4,8
0648  vpmaddwd zmm3,zmm3,zmm6
064e  vpaddd zmm5,zmm5,zmm3
0654  vmovups [r12]{k2},zmm5
065b  vmovups [r11]{k2},zmm4
0661  add rsi,10h
0665  dec rdx
0668  jne near 80h
066e  add rsp,80h
0675  pop r13
0677  pop r12
0679  pop rbp
067a  pop rbx
067b  vzeroupper
067e  ret
