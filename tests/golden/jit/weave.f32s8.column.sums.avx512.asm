; 186 instructions, 1128 bytes, 0 spills, 0 of them in inner loops
0000  push rbx
0001  push rbp
0002  push r12
0004  sub rsp,80h
000b  mov rax,[rdi+8]
000f  mov rcx,[rdi+10h]
0013  mov rdx,[rdi+28h]
0017  mov rsi,[rdi+20h]
001b  lea r8,[rsp]
001f  add r8,3Fh
0023  and r8,0FFFFFFFFFFFFFFC0h
0027  nop word [rax+rax]
0030  nop word [rax+rax]
0039  nop dword [rax]
0040  mov r9,[rdi]
0043  mov r10,[rdi+18h]
0047  mov r11,[rsi]
004a  add r9,r11
004d  mov r11,[rsi+8]
0051  add r10,r11
0054  mov r11,[rdi+50h]
0058  mov rbx,[rdi+30h]
005c  mov rbp,[rdi+58h]
0060  test rbx,rbx
0063  jle near 244h
0069  nop word [rax+rax]
0072  nop word [rax+rax]
007b  nop dword [rax+rax]
0080  vmovups zmm0,[r11]
0086  vpxord zmm1,zmm1,zmm1
008c  mov r12,r9
008f  cmp rcx,0
0093  jle near 0CFh
0099  vmovups zmm2,[r12]
00a0  vdivps zmm2,zmm2,zmm0
00a6  vcmpordps k1,zmm2,zmm2
00ad  vminps zmm2{k1}{z},zmm2,[rel 478h]{1to16}
00b7  vcvtps2dq zmm2,zmm2
00bd  vpmovsdb [r8],zmm2
00c3  vpmovzxbd zmm2,[r8]
00c9  vpord zmm1,zmm1,zmm2
00cf  add r12,rax
00d2  cmp rcx,1
00d6  jle near 122h
00dc  vmovups zmm2,[r12]
00e3  vdivps zmm2,zmm2,zmm0
00e9  vcmpordps k1,zmm2,zmm2
00f0  vminps zmm2{k1}{z},zmm2,[rel 478h]{1to16}
00fa  vcvtps2dq zmm2,zmm2
0100  vpmovsdb [r8],zmm2
0106  vpmovzxbd zmm2,[r8]
010c  vpbroadcastd zmm3,[rel 468h]
0116  vpmulld zmm2,zmm2,zmm3
011c  vpord zmm1,zmm1,zmm2
0122  add r12,rax
0125  cmp rcx,2
0129  jle near 175h
012f  vmovups zmm2,[r12]
0136  vdivps zmm2,zmm2,zmm0
013c  vcmpordps k1,zmm2,zmm2
0143  vminps zmm2{k1}{z},zmm2,[rel 478h]{1to16}
014d  vcvtps2dq zmm2,zmm2
0153  vpmovsdb [r8],zmm2
0159  vpmovzxbd zmm2,[r8]
015f  vpbroadcastd zmm3,[rel 46Ch]
0169  vpmulld zmm2,zmm2,zmm3
016f  vpord zmm1,zmm1,zmm2
0175  add r12,rax
0178  cmp rcx,3
017c  jle near 1C8h
0182  vmovups zmm2,[r12]
0189  vdivps zmm0,zmm2,zmm0
018f  vcmpordps k1,zmm0,zmm0
0196  vminps zmm0{k1}{z},zmm0,[rel 478h]{1to16}
01a0  vcvtps2dq zmm0,zmm0
01a6  vpmovsdb [r8],zmm0
01ac  vpmovzxbd zmm0,[r8]
01b2  vpbroadcastd zmm2,[rel 470h]
01bc  vpmulld zmm0,zmm0,zmm2
01c2  vpord zmm1,zmm1,zmm0
01c8  add r12,rax
01cb  vpbroadcastd zmm0,[rel 474h]
01d5  vmovups zmm2,[rbp]
01dc  vpsllw zmm3,zmm0,8
01e3  vpsrlw zmm3,zmm3,8
01ea  vpsllw zmm4,zmm1,8
01f1  vpsraw zmm4,zmm4,8
01f8  vpmaddwd zmm3,zmm3,zmm4
01fe  vpaddd zmm2,zmm2,zmm3
0204  vpsrlw zmm0,zmm0,8
020b  vpsraw zmm3,zmm1,8
0212  vpmaddwd zmm0,zmm0,zmm3
0218  vpaddd zmm2,zmm2,zmm0
021e  vmovups [rbp],zmm2
0225  vmovups [r10],zmm1
022b  add r9,40h
022f  add r10,40h
0233  add rbp,40h
0237  add r11,40h
023b  dec rbx
023e  jne near 80h
0244  mov rbx,[rdi+40h]
0248  cmp rbx,0
024c  jle near 44Ch
0252  mov r12,[rdi+38h]
0256  vpbroadcastd zmm0,r12d
025c  vpcmpnled k1,zmm0,[rel 480h]
0267  vpbroadcastd zmm0,ebx
026d  vpcmpnled k2,zmm0,[rel 480h]
0278  vmovups zmm0{k1}{z},[r11]
027e  vpxord zmm1,zmm1,zmm1
0284  cmp rcx,0
0288  jle near 2CFh
028e  vmovups zmm2{k1}{z},[r9]
0294  vdivps zmm2,zmm2,zmm0
029a  vcmpordps k3,zmm2,zmm2
02a1  vminps zmm2{k3}{z},zmm2,[rel 478h]{1to16}
02ab  vcvtps2dq zmm2,zmm2
02b1  vpmovsdb [r8],zmm2
02b7  vpmovzxbd zmm2,[r8]
02bd  vpxord zmm3,zmm3,zmm3
02c3  vblendmps zmm2{k1},zmm3,zmm2
02c9  vpord zmm1,zmm1,zmm2
02cf  add r9,rax
02d2  cmp rcx,1
02d6  jle near 32Dh
02dc  vmovups zmm2{k1}{z},[r9]
02e2  vdivps zmm2,zmm2,zmm0
02e8  vcmpordps k3,zmm2,zmm2
02ef  vminps zmm2{k3}{z},zmm2,[rel 478h]{1to16}
02f9  vcvtps2dq zmm2,zmm2
02ff  vpmovsdb [r8],zmm2
0305  vpmovzxbd zmm2,[r8]
030b  vpxord zmm3,zmm3,zmm3
0311  vblendmps zmm2{k1},zmm3,zmm2
0317  vpbroadcastd zmm3,[rel 468h]
0321  vpmulld zmm2,zmm2,zmm3
0327  vpord zmm1,zmm1,zmm2
032d  add r9,rax
0330  cmp rcx,2
0334  jle near 38Bh
033a  vmovups zmm2{k1}{z},[r9]
0340  vdivps zmm2,zmm2,zmm0
0346  vcmpordps k3,zmm2,zmm2
034d  vminps zmm2{k3}{z},zmm2,[rel 478h]{1to16}
0357  vcvtps2dq zmm2,zmm2
035d  vpmovsdb [r8],zmm2
0363  vpmovzxbd zmm2,[r8]
0369  vpxord zmm3,zmm3,zmm3
036f  vblendmps zmm2{k1},zmm3,zmm2
0375  vpbroadcastd zmm3,[rel 46Ch]
037f  vpmulld zmm2,zmm2,zmm3
0385  vpord zmm1,zmm1,zmm2
038b  add r9,rax
038e  cmp rcx,3
0392  jle near 3E9h
0398  vmovups zmm2{k1}{z},[r9]
039e  vdivps zmm0,zmm2,zmm0
03a4  vcmpordps k3,zmm0,zmm0
03ab  vminps zmm0{k3}{z},zmm0,[rel 478h]{1to16}
03b5  vcvtps2dq zmm0,zmm0
03bb  vpmovsdb [r8],zmm0
03c1  vpmovzxbd zmm0,[r8]
03c7  vpxord zmm2,zmm2,zmm2
03cd  vblendmps zmm0{k1},zmm2,zmm0
03d3  vpbroadcastd zmm2,[rel 470h]
03dd  vpmulld zmm0,zmm0,zmm2
03e3  vpord zmm1,zmm1,zmm0
03e9  add r9,rax
03ec  vpbroadcastd zmm0,[rel 474h]
03f6  vmovups zmm2{k2}{z},[rbp]
03fd  vpsllw zmm3,zmm0,8
0404  vpsrlw zmm3,zmm3,8
040b  vpsllw zmm4,zmm1,8
0412  vpsraw zmm4,zmm4,8
0419  vpmaddwd zmm3,zmm3,zmm4
041f  vpaddd zmm2,zmm2,zmm3
0425  vpsrlw zmm0,zmm0,8
042c  vpsraw zmm3,zmm1,8
0433  vpmaddwd zmm0,zmm0,zmm3
0439  vpaddd zmm2,zmm2,zmm0
043f  vmovups [rbp]{k2},zmm2
0446  vmovups [r10]{k2},zmm1
044c  add rsi,10h
0450  dec rdx
0453  jne near 40h
0459  add rsp,80h
0460  pop r12
0462  pop rbp
0463  pop rbx
0464  vzeroupper
0467  ret
