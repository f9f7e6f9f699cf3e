; 202 instructions, 940 bytes, 0 spills, 0 of them in inner loops
0000  push rbx
0001  mov rax,[rdi]
0004  mov rcx,[rdi+18h]
0008  mov rdx,[rdi+8]
000c  mov rsi,[rdi+20h]
0010  mov r8,[rdi+30h]
0014  test r8,r8
0017  jle near 14Dh
001d  nop word [rax+rax]
0026  nop word [rax+rax]
002f  nop word [rax+rax]
0038  nop dword [rax+rax]
0040  mov r9,rax
0043  vmovups ymm0,[r9]
0048  add r9,rdx
004b  vmovups ymm1,[r9]
0050  add r9,rdx
0053  vmovups ymm2,[r9]
0058  add r9,rdx
005b  vmovups ymm3,[r9]
0060  add r9,rdx
0063  vmovups ymm4,[r9]
0068  add r9,rdx
006b  vmovups ymm5,[r9]
0070  add r9,rdx
0073  vmovups ymm6,[r9]
0078  add r9,rdx
007b  vmovups ymm7,[r9]
0080  add r9,rdx
0083  mov r9,rcx
0086  vunpcklps ymm8,ymm0,ymm1
008a  vunpckhps ymm0,ymm0,ymm1
008e  vunpcklps ymm1,ymm2,ymm3
0092  vunpckhps ymm2,ymm2,ymm3
0096  vunpcklpd ymm3,ymm8,ymm1
009a  vunpckhpd ymm1,ymm8,ymm1
009e  vunpcklpd ymm8,ymm0,ymm2
00a2  vunpckhpd ymm0,ymm0,ymm2
00a6  vunpcklps ymm2,ymm4,ymm5
00aa  vunpckhps ymm4,ymm4,ymm5
00ae  vunpcklps ymm5,ymm6,ymm7
00b2  vunpckhps ymm6,ymm6,ymm7
00b6  vunpcklpd ymm7,ymm2,ymm5
00ba  vunpckhpd ymm2,ymm2,ymm5
00be  vunpcklpd ymm5,ymm4,ymm6
00c2  vunpckhpd ymm4,ymm4,ymm6
00c6  vperm2f128 ymm6,ymm3,ymm7,20h
00cc  vperm2f128 ymm3,ymm3,ymm7,31h
00d2  vperm2f128 ymm7,ymm1,ymm2,20h
00d8  vperm2f128 ymm1,ymm1,ymm2,31h
00de  vperm2f128 ymm2,ymm8,ymm5,20h
00e4  vperm2f128 ymm5,ymm8,ymm5,31h
00ea  vperm2f128 ymm8,ymm0,ymm4,20h
00f0  vperm2f128 ymm0,ymm0,ymm4,31h
00f6  vmovups [r9],ymm6
00fb  add r9,rsi
00fe  vmovups [r9],ymm7
0103  add r9,rsi
0106  vmovups [r9],ymm2
010b  add r9,rsi
010e  vmovups [r9],ymm8
0113  add r9,rsi
0116  vmovups [r9],ymm3
011b  add r9,rsi
011e  vmovups [r9],ymm1
0123  add r9,rsi
0126  vmovups [r9],ymm5
012b  add r9,rsi
012e  vmovups [r9],ymm0
0133  add r9,rsi
0136  mov r9,[rdi+10h]
013a  add rax,r9
013d  mov r9,[rdi+28h]
0141  add rcx,r9
0144  dec r8
0147  jne near 40h
014d  mov r8,[rdi+38h]
0151  mov r9,[rdi+40h]
0155  mov r10,[rdi+50h]
0159  test r8,r8
015c  jle near 3A7h
0162  nop word [rax+rax]
016b  nop word [rax+rax]
0174  nop word [rax+rax]
017d  nop dword [rax]
0180  vmovd xmm0,r10d
0185  vpbroadcastd ymm0,xmm0
018a  vpcmpgtd ymm0,ymm0,[rel 3C0h]
0192  vmovd xmm1,r9d
0197  vpbroadcastd ymm1,xmm1
019c  vpcmpgtd ymm1,ymm1,[rel 3C0h]
01a4  mov r11,rax
01a7  vpxor ymm2,ymm2,ymm2
01ab  cmp r9,0
01af  jle near 1BEh
01b5  vmaskmovps ymm3,ymm0,[r11]
01ba  vmovups ymm2,ymm3
01be  add r11,rdx
01c1  vpxor ymm3,ymm3,ymm3
01c5  cmp r9,1
01c9  jle near 1D8h
01cf  vmaskmovps ymm4,ymm0,[r11]
01d4  vmovups ymm3,ymm4
01d8  add r11,rdx
01db  vpxor ymm4,ymm4,ymm4
01df  cmp r9,2
01e3  jle near 1F2h
01e9  vmaskmovps ymm5,ymm0,[r11]
01ee  vmovups ymm4,ymm5
01f2  add r11,rdx
01f5  vpxor ymm5,ymm5,ymm5
01f9  cmp r9,3
01fd  jle near 20Ch
0203  vmaskmovps ymm6,ymm0,[r11]
0208  vmovups ymm5,ymm6
020c  add r11,rdx
020f  vpxor ymm6,ymm6,ymm6
0213  cmp r9,4
0217  jle near 226h
021d  vmaskmovps ymm7,ymm0,[r11]
0222  vmovups ymm6,ymm7
0226  add r11,rdx
0229  vpxor ymm7,ymm7,ymm7
022d  cmp r9,5
0231  jle near 241h
0237  vmaskmovps ymm8,ymm0,[r11]
023c  vmovups ymm7,ymm8
0241  add r11,rdx
0244  vpxor ymm8,ymm8,ymm8
0249  cmp r9,6
024d  jle near 25Dh
0253  vmaskmovps ymm9,ymm0,[r11]
0258  vmovups ymm8,ymm9
025d  add r11,rdx
0260  vpxor ymm9,ymm9,ymm9
0265  cmp r9,7
0269  jle near 278h
026f  vmaskmovps ymm0,ymm0,[r11]
0274  vmovups ymm9,ymm0
0278  add r11,rdx
027b  mov r11,rcx
027e  vunpcklps ymm0,ymm2,ymm3
0282  vunpckhps ymm2,ymm2,ymm3
0286  vunpcklps ymm3,ymm4,ymm5
028a  vunpckhps ymm4,ymm4,ymm5
028e  vunpcklpd ymm5,ymm0,ymm3
0292  vunpckhpd ymm0,ymm0,ymm3
0296  vunpcklpd ymm3,ymm2,ymm4
029a  vunpckhpd ymm2,ymm2,ymm4
029e  vunpcklps ymm4,ymm6,ymm7
02a2  vunpckhps ymm6,ymm6,ymm7
02a6  vunpcklps ymm7,ymm8,ymm9
02ab  vunpckhps ymm8,ymm8,ymm9
02b0  vunpcklpd ymm9,ymm4,ymm7
02b4  vunpckhpd ymm4,ymm4,ymm7
02b8  vunpcklpd ymm7,ymm6,ymm8
02bd  vunpckhpd ymm6,ymm6,ymm8
02c2  vperm2f128 ymm8,ymm5,ymm9,20h
02c8  vperm2f128 ymm5,ymm5,ymm9,31h
02ce  vperm2f128 ymm9,ymm0,ymm4,20h
02d4  vperm2f128 ymm0,ymm0,ymm4,31h
02da  vperm2f128 ymm4,ymm3,ymm7,20h
02e0  vperm2f128 ymm3,ymm3,ymm7,31h
02e6  vperm2f128 ymm7,ymm2,ymm6,20h
02ec  vperm2f128 ymm2,ymm2,ymm6,31h
02f2  cmp r10,0
02f6  jle near 301h
02fc  vmaskmovps [r11],ymm1,ymm8
0301  add r11,rsi
0304  cmp r10,1
0308  jle near 313h
030e  vmaskmovps [r11],ymm1,ymm9
0313  add r11,rsi
0316  cmp r10,2
031a  jle near 325h
0320  vmaskmovps [r11],ymm1,ymm4
0325  add r11,rsi
0328  cmp r10,3
032c  jle near 337h
0332  vmaskmovps [r11],ymm1,ymm7
0337  add r11,rsi
033a  cmp r10,4
033e  jle near 349h
0344  vmaskmovps [r11],ymm1,ymm5
0349  add r11,rsi
034c  cmp r10,5
0350  jle near 35Bh
0356  vmaskmovps [r11],ymm1,ymm0
035b  add r11,rsi
035e  cmp r10,6
0362  jle near 36Dh
0368  vmaskmovps [r11],ymm1,ymm3
036d  add r11,rsi
0370  cmp r10,7
0374  jle near 37Fh
037a  vmaskmovps [r11],ymm1,ymm2
037f  add r11,rsi
0382  mov r11,[rdi+10h]
0386  add rax,r11
0389  mov r11,[rdi+28h]
038d  add rcx,r11
0390  mov r11,[rdi+48h]
0394  mov rbx,[rdi+58h]
0398  sub r9,r11
039b  sub r10,rbx
039e  dec r8
03a1  jne near 180h
03a7  pop rbx
03a8  vzeroupper
03ab  ret
