; 238 instructions, 1435 bytes, 0 spills, 0 of them in inner loops
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
0032  nop word [rax+rax]
003b  nop dword [rax+rax]
0040  mov r10,[rdi]
0043  mov r11,[rdi+18h]
0047  mov rbx,[rsi]
004a  add r10,rbx
004d  mov rbx,[rsi+8]
0051  add r11,rbx
0054  mov rbx,[rdi+58h]
0058  mov rbp,[rdi+30h]
005c  mov r12,[rdi+68h]
0060  cmp rcx,4
0064  jl near 1E5h
006a  mov r13,rbp
006d  test r13,r13
0070  jle near 1E5h
0076  nop word [rax+rax]
007f  nop
0080  vmovups zmm0,[rbx]
0086  vmovups zmm1,[r10]
008c  vdivps zmm1,zmm1,zmm0
0092  vcmpordps k1,zmm1,zmm1
0099  vminps zmm1{k1}{z},zmm1,[rel 5A0h]{1to16}
00a3  vcvtps2dq zmm1,zmm1
00a9  vpmovsdb [r8],zmm1
00af  vpmovzxbd zmm1,[r8]
00b5  vmovups zmm2,[r10+rax]
00bc  vdivps zmm2,zmm2,zmm0
00c2  vcmpordps k1,zmm2,zmm2
00c9  vminps zmm2{k1}{z},zmm2,[rel 5A0h]{1to16}
00d3  vcvtps2dq zmm2,zmm2
00d9  vpmovsdb [r8],zmm2
00df  vpmovzxbd zmm2,[r8]
00e5  vpslld zmm2,zmm2,8
00ec  vpord zmm1,zmm1,zmm2
00f2  vmovups zmm2,[r10+rax*2]
00f9  vdivps zmm2,zmm2,zmm0
00ff  vcmpordps k1,zmm2,zmm2
0106  vminps zmm2{k1}{z},zmm2,[rel 5A0h]{1to16}
0110  vcvtps2dq zmm2,zmm2
0116  vpmovsdb [r8],zmm2
011c  vpmovzxbd zmm2,[r8]
0122  vpslld zmm2,zmm2,10h
0129  vpord zmm1,zmm1,zmm2
012f  vmovups zmm2,[r10+r9]
0136  vdivps zmm0,zmm2,zmm0
013c  vcmpordps k1,zmm0,zmm0
0143  vminps zmm0{k1}{z},zmm0,[rel 5A0h]{1to16}
014d  vcvtps2dq zmm0,zmm0
0153  vpmovsdb [r8],zmm0
0159  vpmovzxbd zmm0,[r8]
015f  vpslld zmm0,zmm0,18h
0166  vpord zmm1,zmm1,zmm0
016c  vpbroadcastd zmm0,[rel 59Ch]
0176  vmovups zmm2,[r12]
017d  vpsllw zmm3,zmm0,8
0184  vpsrlw zmm3,zmm3,8
018b  vpsllw zmm4,zmm1,8
0192  vpsraw zmm4,zmm4,8
0199  vpmaddwd zmm3,zmm3,zmm4
019f  vpaddd zmm2,zmm2,zmm3
01a5  vpsrlw zmm0,zmm0,8
01ac  vpsraw zmm3,zmm1,8
01b3  vpmaddwd zmm0,zmm0,zmm3
01b9  vpaddd zmm2,zmm2,zmm0
01bf  vmovups [r12],zmm2
01c6  vmovups [r11],zmm1
01cc  add r10,40h
01d0  add r11,40h
01d4  add r12,40h
01d8  add rbx,40h
01dc  dec r13
01df  jne near 80h
01e5  cmp rcx,4
01e9  jge near 399h
01ef  test rbp,rbp
01f2  jle near 399h
01f8  nop dword [rax+rax]
0200  vmovups zmm0,[rbx]
0206  vpxord zmm1,zmm1,zmm1
020c  cmp rcx,0
0210  jle near 24Bh
0216  vmovups zmm2,[r10]
021c  vdivps zmm2,zmm2,zmm0
0222  vcmpordps k1,zmm2,zmm2
0229  vminps zmm2{k1}{z},zmm2,[rel 5A0h]{1to16}
0233  vcvtps2dq zmm2,zmm2
0239  vpmovsdb [r8],zmm2
023f  vpmovzxbd zmm2,[r8]
0245  vpord zmm1,zmm1,zmm2
024b  cmp rcx,1
024f  jle near 292h
0255  vmovups zmm2,[r10+rax]
025c  vdivps zmm2,zmm2,zmm0
0262  vcmpordps k1,zmm2,zmm2
0269  vminps zmm2{k1}{z},zmm2,[rel 5A0h]{1to16}
0273  vcvtps2dq zmm2,zmm2
0279  vpmovsdb [r8],zmm2
027f  vpmovzxbd zmm2,[r8]
0285  vpslld zmm2,zmm2,8
028c  vpord zmm1,zmm1,zmm2
0292  cmp rcx,2
0296  jle near 2D9h
029c  vmovups zmm2,[r10+rax*2]
02a3  vdivps zmm2,zmm2,zmm0
02a9  vcmpordps k1,zmm2,zmm2
02b0  vminps zmm2{k1}{z},zmm2,[rel 5A0h]{1to16}
02ba  vcvtps2dq zmm2,zmm2
02c0  vpmovsdb [r8],zmm2
02c6  vpmovzxbd zmm2,[r8]
02cc  vpslld zmm2,zmm2,10h
02d3  vpord zmm1,zmm1,zmm2
02d9  cmp rcx,3
02dd  jle near 320h
02e3  vmovups zmm2,[r10+r9]
02ea  vdivps zmm0,zmm2,zmm0
02f0  vcmpordps k1,zmm0,zmm0
02f7  vminps zmm0{k1}{z},zmm0,[rel 5A0h]{1to16}
0301  vcvtps2dq zmm0,zmm0
0307  vpmovsdb [r8],zmm0
030d  vpmovzxbd zmm0,[r8]
0313  vpslld zmm0,zmm0,18h
031a  vpord zmm1,zmm1,zmm0
0320  vpbroadcastd zmm0,[rel 59Ch]
032a  vmovups zmm2,[r12]
0331  vpsllw zmm3,zmm0,8
0338  vpsrlw zmm3,zmm3,8
033f  vpsllw zmm4,zmm1,8
0346  vpsraw zmm4,zmm4,8
034d  vpmaddwd zmm3,zmm3,zmm4
0353  vpaddd zmm2,zmm2,zmm3
0359  vpsrlw zmm0,zmm0,8
0360  vpsraw zmm3,zmm1,8
0367  vpmaddwd zmm0,zmm0,zmm3
036d  vpaddd zmm2,zmm2,zmm0
0373  vmovups [r12],zmm2
037a  vmovups [r11],zmm1
0380  add r10,40h
0384  add r11,40h
0388  add r12,40h
038c  add rbx,40h
0390  dec rbp
0393  jne near 200h
0399  mov rbp,[rdi+40h]
039d  cmp rbp,0
03a1  jle near 57Dh
03a7  mov r13,[rdi+38h]
03ab  vpbroadcastd zmm0,r13d
03b1  vpcmpnled k1,zmm0,[rel 5C0h]
03bc  vpbroadcastd zmm0,ebp
03c2  vpcmpnled k2,zmm0,[rel 5C0h]
03cd  vmovups zmm0{k1}{z},[rbx]
03d3  vpxord zmm1,zmm1,zmm1
03d9  cmp rcx,0
03dd  jle near 424h
03e3  vmovups zmm2{k1}{z},[r10]
03e9  vdivps zmm2,zmm2,zmm0
03ef  vcmpordps k3,zmm2,zmm2
03f6  vminps zmm2{k3}{z},zmm2,[rel 5A0h]{1to16}
0400  vcvtps2dq zmm2,zmm2
0406  vpmovsdb [r8],zmm2
040c  vpmovzxbd zmm2,[r8]
0412  vpxord zmm3,zmm3,zmm3
0418  vblendmps zmm2{k1},zmm3,zmm2
041e  vpord zmm1,zmm1,zmm2
0424  cmp rcx,1
0428  jle near 477h
042e  vmovups zmm2{k1}{z},[r10+rax]
0435  vdivps zmm2,zmm2,zmm0
043b  vcmpordps k3,zmm2,zmm2
0442  vminps zmm2{k3}{z},zmm2,[rel 5A0h]{1to16}
044c  vcvtps2dq zmm2,zmm2
0452  vpmovsdb [r8],zmm2
0458  vpmovzxbd zmm2,[r8]
045e  vpxord zmm3,zmm3,zmm3
0464  vblendmps zmm2{k1},zmm3,zmm2
046a  vpslld zmm2,zmm2,8
0471  vpord zmm1,zmm1,zmm2
0477  cmp rcx,2
047b  jle near 4CAh
0481  vmovups zmm2{k1}{z},[r10+rax*2]
0488  vdivps zmm2,zmm2,zmm0
048e  vcmpordps k3,zmm2,zmm2
0495  vminps zmm2{k3}{z},zmm2,[rel 5A0h]{1to16}
049f  vcvtps2dq zmm2,zmm2
04a5  vpmovsdb [r8],zmm2
04ab  vpmovzxbd zmm2,[r8]
04b1  vpxord zmm3,zmm3,zmm3
04b7  vblendmps zmm2{k1},zmm3,zmm2
04bd  vpslld zmm2,zmm2,10h
04c4  vpord zmm1,zmm1,zmm2
04ca  cmp rcx,3
04ce  jle near 51Dh
04d4  vmovups zmm2{k1}{z},[r10+r9]
04db  vdivps zmm0,zmm2,zmm0
04e1  vcmpordps k3,zmm0,zmm0
04e8  vminps zmm0{k3}{z},zmm0,[rel 5A0h]{1to16}
04f2  vcvtps2dq zmm0,zmm0
04f8  vpmovsdb [r8],zmm0
04fe  vpmovzxbd zmm0,[r8]
0504  vpxord zmm2,zmm2,zmm2
050a  vblendmps zmm0{k1},zmm2,zmm0
0510  vpslld zmm0,zmm0,18h
0517  vpord zmm1,zmm1,zmm0
051d  vpbroadcastd zmm0,[rel 59Ch]
0527  vmovups zmm2{k2}{z},[r12]
052e  vpsllw zmm3,zmm0,8
0535  vpsrlw zmm3,zmm3,8
053c  vpsllw zmm4,zmm1,8
0543  vpsraw zmm4,zmm4,8
054a  vpmaddwd zmm3,zmm3,zmm4
0550  vpaddd zmm2,zmm2,zmm3
0556  vpsrlw zmm0,zmm0,8
055d  vpsraw zmm3,zmm1,8
0564  vpmaddwd zmm0,zmm0,zmm3
056a  vpaddd zmm2,zmm2,zmm0
0570  vmovups [r12]{k2},zmm2
0577  vmovups [r11]{k2},zmm1
057d  add rsi,10h
0581  dec rdx
0584  jne near 40h
058a  add rsp,80h
0591  pop r13
0593  pop r12
0595  pop rbp
0596  pop rbx
0597  vzeroupper
059a  ret
