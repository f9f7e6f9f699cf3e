; 312 instructions, 2101 bytes, 0 spills, 0 of them in inner loops
0000  push rbx
0001  push rbp
0002  push r12
0004  push r13
0006  push r14
0008  mov rax,[rdi]
000b  mov rcx,[rdi+18h]
000f  mov rdx,[rdi+48h]
0013  nop word [rax+rax]
001c  nop word [rax+rax]
0025  nop word [rax+rax]
002e  nop word [rax+rax]
0037  nop word [rax+rax]
0040  vpbroadcastd zmm0,[rel 838h]
004a  vpbroadcastd zmm1,[rel 83Ch]
0054  vpbroadcastd zmm2,[rel 840h]
005e  vpbroadcastd zmm3,[rel 844h]
0068  vpbroadcastd zmm4,[rel 848h]
0072  vpbroadcastd zmm5,[rel 84Ch]
007c  mov rsi,[rdi+20h]
0080  mov r8,[rdi+28h]
0084  mov r9,r8
0087  shl r9,4
008b  mov r10,[rdi+30h]
008f  mov r11d,10h
0095  nop word [rax+rax]
009e  nop word [rax+rax]
00a7  nop word [rax+rax]
00b0  nop word [rax+rax]
00b9  nop dword [rax]
00c0  mov rbx,rcx
00c3  vmovups zmm6,[rbx]
00c9  prefetcht1 [rbx+r9]
00ce  add rbx,rsi
00d1  add rbx,rsi
00d4  vmovups zmm7,[rbx]
00da  prefetcht1 [rbx+r9]
00df  add rbx,rsi
00e2  vmovups zmm8,[rbx]
00e8  prefetcht1 [rbx+r9]
00ed  add rbx,rsi
00f0  add rbx,rsi
00f3  vmovups zmm9,[rbx]
00f9  prefetcht1 [rbx+r9]
00fe  add rbx,rsi
0101  vmovups zmm10,[rbx]
0107  prefetcht1 [rbx+r9]
010c  add rbx,rsi
010f  add rbx,rsi
0112  vmovups zmm11,[rbx]
0118  prefetcht1 [rbx+r9]
011d  add rbx,rsi
0120  vmulps zmm12,zmm6,zmm0
0126  vfmadd231ps zmm12,zmm10,zmm2
012c  vmovups zmm13,zmm12
0132  vfmadd231ps zmm13,zmm8,zmm1
0138  vfnmadd231ps zmm12,zmm8,zmm1
013e  vmulps zmm14,zmm6,zmm3
0144  vfmadd231ps zmm14,zmm10,zmm5
014a  vmovups zmm15,zmm14
0150  vfmadd231ps zmm15,zmm8,zmm4
0156  vfnmadd231ps zmm14,zmm8,zmm4
015c  vmovups [r10],zmm6
0162  vmovups [r10+800h],zmm13
0169  vmovups [r10+1000h],zmm12
0170  vmovups [r10+1800h],zmm15
0177  vmovups [r10+2000h],zmm14
0181  vmovups [r10+2800h],zmm10
018b  vmulps zmm6,zmm7,zmm0
0191  vfmadd231ps zmm6,zmm11,zmm2
0197  vmovups zmm8,zmm6
019d  vfmadd231ps zmm8,zmm9,zmm1
01a3  vfnmadd231ps zmm6,zmm9,zmm1
01a9  vmulps zmm10,zmm7,zmm3
01af  vfmadd231ps zmm10,zmm11,zmm5
01b5  vmovups zmm12,zmm10
01bb  vfmadd231ps zmm12,zmm9,zmm4
01c1  vfnmadd231ps zmm10,zmm9,zmm4
01c7  vmovups [r10+3000h],zmm7
01d1  vmovups [r10+3800h],zmm8
01db  vmovups [r10+4000h],zmm6
01e5  vmovups [r10+4800h],zmm12
01ef  vmovups [r10+5000h],zmm10
01f9  vmovups [r10+5800h],zmm11
0203  mov rbx,rcx
0206  vmovups zmm6,[rbx+40h]
020d  prefetcht1 [rbx+r9+40h]
0213  add rbx,rsi
0216  add rbx,rsi
0219  vmovups zmm7,[rbx+40h]
0220  prefetcht1 [rbx+r9+40h]
0226  add rbx,rsi
0229  vmovups zmm8,[rbx+40h]
0230  prefetcht1 [rbx+r9+40h]
0236  add rbx,rsi
0239  add rbx,rsi
023c  vmovups zmm9,[rbx+40h]
0243  prefetcht1 [rbx+r9+40h]
0249  add rbx,rsi
024c  vmovups zmm10,[rbx+40h]
0253  prefetcht1 [rbx+r9+40h]
0259  add rbx,rsi
025c  add rbx,rsi
025f  vmovups zmm11,[rbx+40h]
0266  prefetcht1 [rbx+r9+40h]
026c  add rbx,rsi
026f  vmulps zmm12,zmm6,zmm0
0275  vfmadd231ps zmm12,zmm10,zmm2
027b  vmovups zmm13,zmm12
0281  vfmadd231ps zmm13,zmm8,zmm1
0287  vfnmadd231ps zmm12,zmm8,zmm1
028d  vmulps zmm14,zmm6,zmm3
0293  vfmadd231ps zmm14,zmm10,zmm5
0299  vmovups zmm15,zmm14
029f  vfmadd231ps zmm15,zmm8,zmm4
02a5  vfnmadd231ps zmm14,zmm8,zmm4
02ab  vmovups [r10+40h],zmm6
02b2  vmovups [r10+840h],zmm13
02b9  vmovups [r10+1040h],zmm12
02c0  vmovups [r10+1840h],zmm15
02c7  vmovups [r10+2040h],zmm14
02d1  vmovups [r10+2840h],zmm10
02db  vmulps zmm6,zmm7,zmm0
02e1  vfmadd231ps zmm6,zmm11,zmm2
02e7  vmovups zmm8,zmm6
02ed  vfmadd231ps zmm8,zmm9,zmm1
02f3  vfnmadd231ps zmm6,zmm9,zmm1
02f9  vmulps zmm10,zmm7,zmm3
02ff  vfmadd231ps zmm10,zmm11,zmm5
0305  vmovups zmm12,zmm10
030b  vfmadd231ps zmm12,zmm9,zmm4
0311  vfnmadd231ps zmm10,zmm9,zmm4
0317  vmovups [r10+3040h],zmm7
0321  vmovups [r10+3840h],zmm8
032b  vmovups [r10+4040h],zmm6
0335  vmovups [r10+4840h],zmm12
033f  vmovups [r10+5040h],zmm10
0349  vmovups [r10+5840h],zmm11
0353  add rcx,r8
0356  add r10,80h
035d  dec r11
0360  jne near 0C0h
0366  mov rsi,[rdi+30h]
036a  mov r8,rax
036d  mov r9,[rdi+38h]
0371  mov r10d,0Ch
0377  nop word [rax+rax]
0380  mov r11,r8
0383  mov rbx,r9
0386  mov rbp,[rdi+50h]
038a  test rbp,rbp
038d  jle near 619h
0393  nop word [rax+rax]
039c  nop word [rax+rax]
03a5  nop word [rax+rax]
03ae  nop word [rax+rax]
03b7  nop word [rax+rax]
03c0  vmovups zmm0,[rbx]
03c6  vmovups zmm1,[rbx+40h]
03cd  vmovups zmm2,[rbx+80h]
03d4  vmovups zmm3,[rbx+0C0h]
03db  vmovups zmm4,[rbx+100h]
03e2  vmovups zmm5,[rbx+140h]
03e9  vmovups zmm6,[rbx+180h]
03f0  vmovups zmm7,[rbx+1C0h]
03f7  mov r12,r11
03fa  mov r13,rsi
03fd  mov r14d,4
0403  nop word [rax+rax]
040c  nop word [rax+rax]
0415  nop word [rax+rax]
041e  nop word [rax+rax]
0427  nop word [rax+rax]
0430  nop word [rax+rax]
0439  nop dword [rax]
0440  vmovups zmm8,[r13]
0447  vmovups zmm9,[r13+40h]
044e  vpbroadcastd zmm10,[r12]
0455  vfmadd231ps zmm0,zmm10,zmm8
045b  vfmadd231ps zmm1,zmm10,zmm9
0461  vpbroadcastd zmm10,[r12+40h]
0469  vfmadd231ps zmm2,zmm10,zmm8
046f  vfmadd231ps zmm3,zmm10,zmm9
0475  vpbroadcastd zmm10,[r12+80h]
047d  vfmadd231ps zmm4,zmm10,zmm8
0483  vfmadd231ps zmm5,zmm10,zmm9
0489  vpbroadcastd zmm10,[r12+0C0h]
0491  vfmadd231ps zmm6,zmm10,zmm8
0497  vfmadd231ps zmm7,zmm10,zmm9
049d  vmovups zmm8,[r13+80h]
04a4  vmovups zmm9,[r13+0C0h]
04ab  vpbroadcastd zmm10,[r12+4]
04b3  vfmadd231ps zmm0,zmm10,zmm8
04b9  vfmadd231ps zmm1,zmm10,zmm9
04bf  vpbroadcastd zmm10,[r12+44h]
04c7  vfmadd231ps zmm2,zmm10,zmm8
04cd  vfmadd231ps zmm3,zmm10,zmm9
04d3  vpbroadcastd zmm10,[r12+84h]
04db  vfmadd231ps zmm4,zmm10,zmm8
04e1  vfmadd231ps zmm5,zmm10,zmm9
04e7  vpbroadcastd zmm10,[r12+0C4h]
04ef  vfmadd231ps zmm6,zmm10,zmm8
04f5  vfmadd231ps zmm7,zmm10,zmm9
04fb  vmovups zmm8,[r13+100h]
0502  vmovups zmm9,[r13+140h]
0509  vpbroadcastd zmm10,[r12+8]
0511  vfmadd231ps zmm0,zmm10,zmm8
0517  vfmadd231ps zmm1,zmm10,zmm9
051d  vpbroadcastd zmm10,[r12+48h]
0525  vfmadd231ps zmm2,zmm10,zmm8
052b  vfmadd231ps zmm3,zmm10,zmm9
0531  vpbroadcastd zmm10,[r12+88h]
0539  vfmadd231ps zmm4,zmm10,zmm8
053f  vfmadd231ps zmm5,zmm10,zmm9
0545  vpbroadcastd zmm10,[r12+0C8h]
054d  vfmadd231ps zmm6,zmm10,zmm8
0553  vfmadd231ps zmm7,zmm10,zmm9
0559  vmovups zmm8,[r13+180h]
0560  vmovups zmm9,[r13+1C0h]
0567  vpbroadcastd zmm10,[r12+0Ch]
056f  vfmadd231ps zmm0,zmm10,zmm8
0575  vfmadd231ps zmm1,zmm10,zmm9
057b  vpbroadcastd zmm10,[r12+4Ch]
0583  vfmadd231ps zmm2,zmm10,zmm8
0589  vfmadd231ps zmm3,zmm10,zmm9
058f  vpbroadcastd zmm10,[r12+8Ch]
0597  vfmadd231ps zmm4,zmm10,zmm8
059d  vfmadd231ps zmm5,zmm10,zmm9
05a3  vpbroadcastd zmm10,[r12+0CCh]
05ab  vfmadd231ps zmm6,zmm10,zmm8
05b1  vfmadd231ps zmm7,zmm10,zmm9
05b7  add r12,10h
05bb  add r13,200h
05c2  dec r14
05c5  jne near 440h
05cb  vmovups [rbx],zmm0
05d1  vmovups [rbx+40h],zmm1
05d8  vmovups [rbx+80h],zmm2
05df  vmovups [rbx+0C0h],zmm3
05e6  vmovups [rbx+100h],zmm4
05ed  vmovups [rbx+140h],zmm5
05f4  vmovups [rbx+180h],zmm6
05fb  vmovups [rbx+1C0h],zmm7
0602  add rbx,200h
0609  add r11,100h
0610  dec rbp
0613  jne near 3C0h
0619  mov rbp,[rdi+58h]
061d  test rbp,rbp
0620  jle near 7FBh
0626  nop word [rax+rax]
062f  nop word [rax+rax]
0638  nop dword [rax+rax]
0640  vmovups zmm0,[rbx]
0646  vmovups zmm1,[rbx+40h]
064d  vmovups zmm2,[rbx+80h]
0654  vmovups zmm3,[rbx+0C0h]
065b  vmovups zmm4,[rbx+100h]
0662  vmovups zmm5,[rbx+140h]
0669  mov r12,r11
066c  mov r13,rsi
066f  mov r14d,4
0675  nop word [rax+rax]
067e  xchg ax,ax
0680  vmovups zmm6,[r13]
0687  vmovups zmm7,[r13+40h]
068e  vpbroadcastd zmm8,[r12]
0695  vfmadd231ps zmm0,zmm8,zmm6
069b  vfmadd231ps zmm1,zmm8,zmm7
06a1  vpbroadcastd zmm8,[r12+40h]
06a9  vfmadd231ps zmm2,zmm8,zmm6
06af  vfmadd231ps zmm3,zmm8,zmm7
06b5  vpbroadcastd zmm8,[r12+80h]
06bd  vfmadd231ps zmm4,zmm8,zmm6
06c3  vfmadd231ps zmm5,zmm8,zmm7
06c9  vmovups zmm6,[r13+80h]
06d0  vmovups zmm7,[r13+0C0h]
06d7  vpbroadcastd zmm8,[r12+4]
06df  vfmadd231ps zmm0,zmm8,zmm6
06e5  vfmadd231ps zmm1,zmm8,zmm7
06eb  vpbroadcastd zmm8,[r12+44h]
06f3  vfmadd231ps zmm2,zmm8,zmm6
06f9  vfmadd231ps zmm3,zmm8,zmm7
06ff  vpbroadcastd zmm8,[r12+84h]
0707  vfmadd231ps zmm4,zmm8,zmm6
070d  vfmadd231ps zmm5,zmm8,zmm7
0713  vmovups zmm6,[r13+100h]
071a  vmovups zmm7,[r13+140h]
0721  vpbroadcastd zmm8,[r12+8]
0729  vfmadd231ps zmm0,zmm8,zmm6
072f  vfmadd231ps zmm1,zmm8,zmm7
0735  vpbroadcastd zmm8,[r12+48h]
073d  vfmadd231ps zmm2,zmm8,zmm6
0743  vfmadd231ps zmm3,zmm8,zmm7
0749  vpbroadcastd zmm8,[r12+88h]
0751  vfmadd231ps zmm4,zmm8,zmm6
0757  vfmadd231ps zmm5,zmm8,zmm7
075d  vmovups zmm6,[r13+180h]
0764  vmovups zmm7,[r13+1C0h]
076b  vpbroadcastd zmm8,[r12+0Ch]
0773  vfmadd231ps zmm0,zmm8,zmm6
0779  vfmadd231ps zmm1,zmm8,zmm7
077f  vpbroadcastd zmm8,[r12+4Ch]
0787  vfmadd231ps zmm2,zmm8,zmm6
078d  vfmadd231ps zmm3,zmm8,zmm7
0793  vpbroadcastd zmm8,[r12+8Ch]
079b  vfmadd231ps zmm4,zmm8,zmm6
07a1  vfmadd231ps zmm5,zmm8,zmm7
07a7  add r12,10h
07ab  add r13,200h
07b2  dec r14
07b5  jne near 680h
07bb  vmovups [rbx],zmm0
07c1  vmovups [rbx+40h],zmm1
07c8  vmovups [rbx+80h],zmm2
07cf  vmovups [rbx+0C0h],zmm3
07d6  vmovups [rbx+100h],zmm4
07dd  vmovups [rbx+140h],zmm5
07e4  add rbx,180h
07eb  add r11,0C0h
07f2  dec rbp
07f5  jne near 640h
07fb  add rsi,800h
0802  mov r11,[rdi+8]
0806  add r8,r11
0809  mov r11,[rdi+40h]
080d  add r9,r11
0810  dec r10
0813  jne near 380h
0819  mov rsi,[rdi+10h]
081d  add rax,rsi
0820  dec rdx
0823  jne near 40h
0829  pop r14
082b  pop r13
082d  pop r12
082f  pop rbp
0830  pop rbx
0831  vzeroupper
0834  ret
