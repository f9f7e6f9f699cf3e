; 298 instructions, 2037 bytes, 0 spills, 0 of them in inner loops
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
0040  vpbroadcastd zmm0,[rel 7F8h]
004a  vpbroadcastd zmm1,[rel 7FCh]
0054  vpbroadcastd zmm2,[rel 800h]
005e  vpbroadcastd zmm3,[rel 804h]
0068  vpbroadcastd zmm4,[rel 808h]
0072  vpbroadcastd zmm5,[rel 80Ch]
007c  mov rsi,[rdi+20h]
0080  mov r8,[rdi+28h]
0084  mov r9,[rdi+30h]
0088  mov r10d,10h
008e  nop word [rax+rax]
0097  nop word [rax+rax]
00a0  nop word [rax+rax]
00a9  nop word [rax+rax]
00b2  nop word [rax+rax]
00bb  nop dword [rax+rax]
00c0  mov r11,rcx
00c3  vmovups zmm6,[r11]
00c9  add r11,rsi
00cc  add r11,rsi
00cf  vmovups zmm7,[r11]
00d5  add r11,rsi
00d8  vmovups zmm8,[r11]
00de  add r11,rsi
00e1  add r11,rsi
00e4  vmovups zmm9,[r11]
00ea  add r11,rsi
00ed  vmovups zmm10,[r11]
00f3  add r11,rsi
00f6  add r11,rsi
00f9  vmovups zmm11,[r11]
00ff  add r11,rsi
0102  vmulps zmm12,zmm6,zmm0
0108  vfmadd231ps zmm12,zmm10,zmm2
010e  vmovups zmm13,zmm12
0114  vfmadd231ps zmm13,zmm8,zmm1
011a  vfnmadd231ps zmm12,zmm8,zmm1
0120  vmulps zmm14,zmm6,zmm3
0126  vfmadd231ps zmm14,zmm10,zmm5
012c  vmovups zmm15,zmm14
0132  vfmadd231ps zmm15,zmm8,zmm4
0138  vfnmadd231ps zmm14,zmm8,zmm4
013e  vmovups [r9],zmm6
0144  vmovups [r9+800h],zmm13
014b  vmovups [r9+1000h],zmm12
0152  vmovups [r9+1800h],zmm15
0159  vmovups [r9+2000h],zmm14
0163  vmovups [r9+2800h],zmm10
016d  vmulps zmm6,zmm7,zmm0
0173  vfmadd231ps zmm6,zmm11,zmm2
0179  vmovups zmm8,zmm6
017f  vfmadd231ps zmm8,zmm9,zmm1
0185  vfnmadd231ps zmm6,zmm9,zmm1
018b  vmulps zmm10,zmm7,zmm3
0191  vfmadd231ps zmm10,zmm11,zmm5
0197  vmovups zmm12,zmm10
019d  vfmadd231ps zmm12,zmm9,zmm4
01a3  vfnmadd231ps zmm10,zmm9,zmm4
01a9  vmovups [r9+3000h],zmm7
01b3  vmovups [r9+3800h],zmm8
01bd  vmovups [r9+4000h],zmm6
01c7  vmovups [r9+4800h],zmm12
01d1  vmovups [r9+5000h],zmm10
01db  vmovups [r9+5800h],zmm11
01e5  mov r11,rcx
01e8  vmovups zmm6,[r11+40h]
01ef  add r11,rsi
01f2  add r11,rsi
01f5  vmovups zmm7,[r11+40h]
01fc  add r11,rsi
01ff  vmovups zmm8,[r11+40h]
0206  add r11,rsi
0209  add r11,rsi
020c  vmovups zmm9,[r11+40h]
0213  add r11,rsi
0216  vmovups zmm10,[r11+40h]
021d  add r11,rsi
0220  add r11,rsi
0223  vmovups zmm11,[r11+40h]
022a  add r11,rsi
022d  vmulps zmm12,zmm6,zmm0
0233  vfmadd231ps zmm12,zmm10,zmm2
0239  vmovups zmm13,zmm12
023f  vfmadd231ps zmm13,zmm8,zmm1
0245  vfnmadd231ps zmm12,zmm8,zmm1
024b  vmulps zmm14,zmm6,zmm3
0251  vfmadd231ps zmm14,zmm10,zmm5
0257  vmovups zmm15,zmm14
025d  vfmadd231ps zmm15,zmm8,zmm4
0263  vfnmadd231ps zmm14,zmm8,zmm4
0269  vmovups [r9+40h],zmm6
0270  vmovups [r9+840h],zmm13
0277  vmovups [r9+1040h],zmm12
027e  vmovups [r9+1840h],zmm15
0285  vmovups [r9+2040h],zmm14
028f  vmovups [r9+2840h],zmm10
0299  vmulps zmm6,zmm7,zmm0
029f  vfmadd231ps zmm6,zmm11,zmm2
02a5  vmovups zmm8,zmm6
02ab  vfmadd231ps zmm8,zmm9,zmm1
02b1  vfnmadd231ps zmm6,zmm9,zmm1
02b7  vmulps zmm10,zmm7,zmm3
02bd  vfmadd231ps zmm10,zmm11,zmm5
02c3  vmovups zmm12,zmm10
02c9  vfmadd231ps zmm12,zmm9,zmm4
02cf  vfnmadd231ps zmm10,zmm9,zmm4
02d5  vmovups [r9+3040h],zmm7
02df  vmovups [r9+3840h],zmm8
02e9  vmovups [r9+4040h],zmm6
02f3  vmovups [r9+4840h],zmm12
02fd  vmovups [r9+5040h],zmm10
0307  vmovups [r9+5840h],zmm11
0311  add rcx,r8
0314  add r9,80h
031b  dec r10
031e  jne near 0C0h
0324  mov rsi,[rdi+30h]
0328  mov r8,rax
032b  mov r9,[rdi+38h]
032f  mov r10d,0Ch
0335  nop word [rax+rax]
033e  xchg ax,ax
0340  mov r11,r8
0343  mov rbx,r9
0346  mov rbp,[rdi+50h]
034a  test rbp,rbp
034d  jle near 5D9h
0353  nop word [rax+rax]
035c  nop word [rax+rax]
0365  nop word [rax+rax]
036e  nop word [rax+rax]
0377  nop word [rax+rax]
0380  vmovups zmm0,[rbx]
0386  vmovups zmm1,[rbx+40h]
038d  vmovups zmm2,[rbx+80h]
0394  vmovups zmm3,[rbx+0C0h]
039b  vmovups zmm4,[rbx+100h]
03a2  vmovups zmm5,[rbx+140h]
03a9  vmovups zmm6,[rbx+180h]
03b0  vmovups zmm7,[rbx+1C0h]
03b7  mov r12,r11
03ba  mov r13,rsi
03bd  mov r14d,4
03c3  nop word [rax+rax]
03cc  nop word [rax+rax]
03d5  nop word [rax+rax]
03de  nop word [rax+rax]
03e7  nop word [rax+rax]
03f0  nop word [rax+rax]
03f9  nop dword [rax]
0400  vmovups zmm8,[r13]
0407  vmovups zmm9,[r13+40h]
040e  vpbroadcastd zmm10,[r12]
0415  vfmadd231ps zmm0,zmm10,zmm8
041b  vfmadd231ps zmm1,zmm10,zmm9
0421  vpbroadcastd zmm10,[r12+40h]
0429  vfmadd231ps zmm2,zmm10,zmm8
042f  vfmadd231ps zmm3,zmm10,zmm9
0435  vpbroadcastd zmm10,[r12+80h]
043d  vfmadd231ps zmm4,zmm10,zmm8
0443  vfmadd231ps zmm5,zmm10,zmm9
0449  vpbroadcastd zmm10,[r12+0C0h]
0451  vfmadd231ps zmm6,zmm10,zmm8
0457  vfmadd231ps zmm7,zmm10,zmm9
045d  vmovups zmm8,[r13+80h]
0464  vmovups zmm9,[r13+0C0h]
046b  vpbroadcastd zmm10,[r12+4]
0473  vfmadd231ps zmm0,zmm10,zmm8
0479  vfmadd231ps zmm1,zmm10,zmm9
047f  vpbroadcastd zmm10,[r12+44h]
0487  vfmadd231ps zmm2,zmm10,zmm8
048d  vfmadd231ps zmm3,zmm10,zmm9
0493  vpbroadcastd zmm10,[r12+84h]
049b  vfmadd231ps zmm4,zmm10,zmm8
04a1  vfmadd231ps zmm5,zmm10,zmm9
04a7  vpbroadcastd zmm10,[r12+0C4h]
04af  vfmadd231ps zmm6,zmm10,zmm8
04b5  vfmadd231ps zmm7,zmm10,zmm9
04bb  vmovups zmm8,[r13+100h]
04c2  vmovups zmm9,[r13+140h]
04c9  vpbroadcastd zmm10,[r12+8]
04d1  vfmadd231ps zmm0,zmm10,zmm8
04d7  vfmadd231ps zmm1,zmm10,zmm9
04dd  vpbroadcastd zmm10,[r12+48h]
04e5  vfmadd231ps zmm2,zmm10,zmm8
04eb  vfmadd231ps zmm3,zmm10,zmm9
04f1  vpbroadcastd zmm10,[r12+88h]
04f9  vfmadd231ps zmm4,zmm10,zmm8
04ff  vfmadd231ps zmm5,zmm10,zmm9
0505  vpbroadcastd zmm10,[r12+0C8h]
050d  vfmadd231ps zmm6,zmm10,zmm8
0513  vfmadd231ps zmm7,zmm10,zmm9
0519  vmovups zmm8,[r13+180h]
0520  vmovups zmm9,[r13+1C0h]
0527  vpbroadcastd zmm10,[r12+0Ch]
052f  vfmadd231ps zmm0,zmm10,zmm8
0535  vfmadd231ps zmm1,zmm10,zmm9
053b  vpbroadcastd zmm10,[r12+4Ch]
0543  vfmadd231ps zmm2,zmm10,zmm8
0549  vfmadd231ps zmm3,zmm10,zmm9
054f  vpbroadcastd zmm10,[r12+8Ch]
0557  vfmadd231ps zmm4,zmm10,zmm8
055d  vfmadd231ps zmm5,zmm10,zmm9
0563  vpbroadcastd zmm10,[r12+0CCh]
056b  vfmadd231ps zmm6,zmm10,zmm8
0571  vfmadd231ps zmm7,zmm10,zmm9
0577  add r12,10h
057b  add r13,200h
0582  dec r14
0585  jne near 400h
058b  vmovups [rbx],zmm0
0591  vmovups [rbx+40h],zmm1
0598  vmovups [rbx+80h],zmm2
059f  vmovups [rbx+0C0h],zmm3
05a6  vmovups [rbx+100h],zmm4
05ad  vmovups [rbx+140h],zmm5
05b4  vmovups [rbx+180h],zmm6
05bb  vmovups [rbx+1C0h],zmm7
05c2  add rbx,200h
05c9  add r11,100h
05d0  dec rbp
05d3  jne near 380h
05d9  mov rbp,[rdi+58h]
05dd  test rbp,rbp
05e0  jle near 7BBh
05e6  nop word [rax+rax]
05ef  nop word [rax+rax]
05f8  nop dword [rax+rax]
0600  vmovups zmm0,[rbx]
0606  vmovups zmm1,[rbx+40h]
060d  vmovups zmm2,[rbx+80h]
0614  vmovups zmm3,[rbx+0C0h]
061b  vmovups zmm4,[rbx+100h]
0622  vmovups zmm5,[rbx+140h]
0629  mov r12,r11
062c  mov r13,rsi
062f  mov r14d,4
0635  nop word [rax+rax]
063e  xchg ax,ax
0640  vmovups zmm6,[r13]
0647  vmovups zmm7,[r13+40h]
064e  vpbroadcastd zmm8,[r12]
0655  vfmadd231ps zmm0,zmm8,zmm6
065b  vfmadd231ps zmm1,zmm8,zmm7
0661  vpbroadcastd zmm8,[r12+40h]
0669  vfmadd231ps zmm2,zmm8,zmm6
066f  vfmadd231ps zmm3,zmm8,zmm7
0675  vpbroadcastd zmm8,[r12+80h]
067d  vfmadd231ps zmm4,zmm8,zmm6
0683  vfmadd231ps zmm5,zmm8,zmm7
0689  vmovups zmm6,[r13+80h]
0690  vmovups zmm7,[r13+0C0h]
0697  vpbroadcastd zmm8,[r12+4]
069f  vfmadd231ps zmm0,zmm8,zmm6
06a5  vfmadd231ps zmm1,zmm8,zmm7
06ab  vpbroadcastd zmm8,[r12+44h]
06b3  vfmadd231ps zmm2,zmm8,zmm6
06b9  vfmadd231ps zmm3,zmm8,zmm7
06bf  vpbroadcastd zmm8,[r12+84h]
06c7  vfmadd231ps zmm4,zmm8,zmm6
06cd  vfmadd231ps zmm5,zmm8,zmm7
06d3  vmovups zmm6,[r13+100h]
06da  vmovups zmm7,[r13+140h]
06e1  vpbroadcastd zmm8,[r12+8]
06e9  vfmadd231ps zmm0,zmm8,zmm6
06ef  vfmadd231ps zmm1,zmm8,zmm7
06f5  vpbroadcastd zmm8,[r12+48h]
06fd  vfmadd231ps zmm2,zmm8,zmm6
0703  vfmadd231ps zmm3,zmm8,zmm7
0709  vpbroadcastd zmm8,[r12+88h]
0711  vfmadd231ps zmm4,zmm8,zmm6
0717  vfmadd231ps zmm5,zmm8,zmm7
071d  vmovups zmm6,[r13+180h]
0724  vmovups zmm7,[r13+1C0h]
072b  vpbroadcastd zmm8,[r12+0Ch]
0733  vfmadd231ps zmm0,zmm8,zmm6
0739  vfmadd231ps zmm1,zmm8,zmm7
073f  vpbroadcastd zmm8,[r12+4Ch]
0747  vfmadd231ps zmm2,zmm8,zmm6
074d  vfmadd231ps zmm3,zmm8,zmm7
0753  vpbroadcastd zmm8,[r12+8Ch]
075b  vfmadd231ps zmm4,zmm8,zmm6
0761  vfmadd231ps zmm5,zmm8,zmm7
0767  add r12,10h
076b  add r13,200h
0772  dec r14
0775  jne near 640h
077b  vmovups [rbx],zmm0
0781  vmovups [rbx+40h],zmm1
0788  vmovups [rbx+80h],zmm2
078f  vmovups [rbx+0C0h],zmm3
0796  vmovups [rbx+100h],zmm4
079d  vmovups [rbx+140h],zmm5
07a4  add rbx,180h
07ab  add r11,0C0h
07b2  dec rbp
07b5  jne near 600h
07bb  add rsi,800h
07c2  mov r11,[rdi+8]
07c6  add r8,r11
07c9  mov r11,[rdi+40h]
07cd  add r9,r11
07d0  dec r10
07d3  jne near 340h
07d9  mov rsi,[rdi+10h]
07dd  add rax,rsi
07e0  dec rdx
07e3  jne near 40h
07e9  pop r14
07eb  pop r13
07ed  pop r12
07ef  pop rbp
07f0  pop rbx
07f1  vzeroupper
07f4  ret
