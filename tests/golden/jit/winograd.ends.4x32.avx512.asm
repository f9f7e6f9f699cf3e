; 318 instructions, 2165 bytes, 0 spills, 0 of them in inner loops
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
0040  vpbroadcastd zmm0,[rel 878h]
004a  vpbroadcastd zmm1,[rel 87Ch]
0054  vpbroadcastd zmm2,[rel 880h]
005e  vpbroadcastd zmm3,[rel 884h]
0068  vpbroadcastd zmm4,[rel 888h]
0072  vpbroadcastd zmm5,[rel 88Ch]
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
00d1  prefetcht1 [rbx+r9]
00d6  add rbx,rsi
00d9  vmovups zmm7,[rbx]
00df  prefetcht1 [rbx+r9]
00e4  add rbx,rsi
00e7  vmovups zmm8,[rbx]
00ed  prefetcht1 [rbx+r9]
00f2  add rbx,rsi
00f5  prefetcht1 [rbx+r9]
00fa  add rbx,rsi
00fd  vmovups zmm9,[rbx]
0103  prefetcht1 [rbx+r9]
0108  add rbx,rsi
010b  vmovups zmm10,[rbx]
0111  prefetcht1 [rbx+r9]
0116  add rbx,rsi
0119  prefetcht1 [rbx+r9]
011e  add rbx,rsi
0121  vmovups zmm11,[rbx]
0127  prefetcht1 [rbx+r9]
012c  add rbx,rsi
012f  vmulps zmm12,zmm6,zmm0
0135  vfmadd231ps zmm12,zmm10,zmm2
013b  vmovups zmm13,zmm12
0141  vfmadd231ps zmm13,zmm8,zmm1
0147  vfnmadd231ps zmm12,zmm8,zmm1
014d  vmulps zmm14,zmm6,zmm3
0153  vfmadd231ps zmm14,zmm10,zmm5
0159  vmovups zmm15,zmm14
015f  vfmadd231ps zmm15,zmm8,zmm4
0165  vfnmadd231ps zmm14,zmm8,zmm4
016b  vmovups [r10],zmm6
0171  vmovups [r10+800h],zmm13
0178  vmovups [r10+1000h],zmm12
017f  vmovups [r10+1800h],zmm15
0186  vmovups [r10+2000h],zmm14
0190  vmovups [r10+2800h],zmm10
019a  vmulps zmm6,zmm7,zmm0
01a0  vfmadd231ps zmm6,zmm11,zmm2
01a6  vmovups zmm8,zmm6
01ac  vfmadd231ps zmm8,zmm9,zmm1
01b2  vfnmadd231ps zmm6,zmm9,zmm1
01b8  vmulps zmm10,zmm7,zmm3
01be  vfmadd231ps zmm10,zmm11,zmm5
01c4  vmovups zmm12,zmm10
01ca  vfmadd231ps zmm12,zmm9,zmm4
01d0  vfnmadd231ps zmm10,zmm9,zmm4
01d6  vmovups [r10+3000h],zmm7
01e0  vmovups [r10+3800h],zmm8
01ea  vmovups [r10+4000h],zmm6
01f4  vmovups [r10+4800h],zmm12
01fe  vmovups [r10+5000h],zmm10
0208  vmovups [r10+5800h],zmm11
0212  mov rbx,rcx
0215  vmovups zmm6,[rbx+40h]
021c  prefetcht1 [rbx+r9+40h]
0222  add rbx,rsi
0225  prefetcht1 [rbx+r9+40h]
022b  add rbx,rsi
022e  vmovups zmm7,[rbx+40h]
0235  prefetcht1 [rbx+r9+40h]
023b  add rbx,rsi
023e  vmovups zmm8,[rbx+40h]
0245  prefetcht1 [rbx+r9+40h]
024b  add rbx,rsi
024e  prefetcht1 [rbx+r9+40h]
0254  add rbx,rsi
0257  vmovups zmm9,[rbx+40h]
025e  prefetcht1 [rbx+r9+40h]
0264  add rbx,rsi
0267  vmovups zmm10,[rbx+40h]
026e  prefetcht1 [rbx+r9+40h]
0274  add rbx,rsi
0277  prefetcht1 [rbx+r9+40h]
027d  add rbx,rsi
0280  vmovups zmm11,[rbx+40h]
0287  prefetcht1 [rbx+r9+40h]
028d  add rbx,rsi
0290  vmulps zmm12,zmm6,zmm0
0296  vfmadd231ps zmm12,zmm10,zmm2
029c  vmovups zmm13,zmm12
02a2  vfmadd231ps zmm13,zmm8,zmm1
02a8  vfnmadd231ps zmm12,zmm8,zmm1
02ae  vmulps zmm14,zmm6,zmm3
02b4  vfmadd231ps zmm14,zmm10,zmm5
02ba  vmovups zmm15,zmm14
02c0  vfmadd231ps zmm15,zmm8,zmm4
02c6  vfnmadd231ps zmm14,zmm8,zmm4
02cc  vmovups [r10+40h],zmm6
02d3  vmovups [r10+840h],zmm13
02da  vmovups [r10+1040h],zmm12
02e1  vmovups [r10+1840h],zmm15
02e8  vmovups [r10+2040h],zmm14
02f2  vmovups [r10+2840h],zmm10
02fc  vmulps zmm6,zmm7,zmm0
0302  vfmadd231ps zmm6,zmm11,zmm2
0308  vmovups zmm8,zmm6
030e  vfmadd231ps zmm8,zmm9,zmm1
0314  vfnmadd231ps zmm6,zmm9,zmm1
031a  vmulps zmm10,zmm7,zmm3
0320  vfmadd231ps zmm10,zmm11,zmm5
0326  vmovups zmm12,zmm10
032c  vfmadd231ps zmm12,zmm9,zmm4
0332  vfnmadd231ps zmm10,zmm9,zmm4
0338  vmovups [r10+3040h],zmm7
0342  vmovups [r10+3840h],zmm8
034c  vmovups [r10+4040h],zmm6
0356  vmovups [r10+4840h],zmm12
0360  vmovups [r10+5040h],zmm10
036a  vmovups [r10+5840h],zmm11
0374  add rcx,r8
0377  add r10,80h
037e  dec r11
0381  jne near 0C0h
0387  mov rsi,[rdi+30h]
038b  mov r8,rax
038e  mov r9,[rdi+38h]
0392  mov r10d,0Ch
0398  nop word [rax+rax]
03a1  nop word [rax+rax]
03aa  nop word [rax+rax]
03b3  nop word [rax+rax]
03bc  nop dword [rax]
03c0  mov r11,r8
03c3  mov rbx,r9
03c6  mov rbp,[rdi+50h]
03ca  test rbp,rbp
03cd  jle near 659h
03d3  nop word [rax+rax]
03dc  nop word [rax+rax]
03e5  nop word [rax+rax]
03ee  nop word [rax+rax]
03f7  nop word [rax+rax]
0400  vmovups zmm0,[rbx]
0406  vmovups zmm1,[rbx+40h]
040d  vmovups zmm2,[rbx+80h]
0414  vmovups zmm3,[rbx+0C0h]
041b  vmovups zmm4,[rbx+100h]
0422  vmovups zmm5,[rbx+140h]
0429  vmovups zmm6,[rbx+180h]
0430  vmovups zmm7,[rbx+1C0h]
0437  mov r12,r11
043a  mov r13,rsi
043d  mov r14d,4
0443  nop word [rax+rax]
044c  nop word [rax+rax]
0455  nop word [rax+rax]
045e  nop word [rax+rax]
0467  nop word [rax+rax]
0470  nop word [rax+rax]
0479  nop dword [rax]
0480  vmovups zmm8,[r13]
0487  vmovups zmm9,[r13+40h]
048e  vpbroadcastd zmm10,[r12]
0495  vfmadd231ps zmm0,zmm10,zmm8
049b  vfmadd231ps zmm1,zmm10,zmm9
04a1  vpbroadcastd zmm10,[r12+40h]
04a9  vfmadd231ps zmm2,zmm10,zmm8
04af  vfmadd231ps zmm3,zmm10,zmm9
04b5  vpbroadcastd zmm10,[r12+80h]
04bd  vfmadd231ps zmm4,zmm10,zmm8
04c3  vfmadd231ps zmm5,zmm10,zmm9
04c9  vpbroadcastd zmm10,[r12+0C0h]
04d1  vfmadd231ps zmm6,zmm10,zmm8
04d7  vfmadd231ps zmm7,zmm10,zmm9
04dd  vmovups zmm8,[r13+80h]
04e4  vmovups zmm9,[r13+0C0h]
04eb  vpbroadcastd zmm10,[r12+4]
04f3  vfmadd231ps zmm0,zmm10,zmm8
04f9  vfmadd231ps zmm1,zmm10,zmm9
04ff  vpbroadcastd zmm10,[r12+44h]
0507  vfmadd231ps zmm2,zmm10,zmm8
050d  vfmadd231ps zmm3,zmm10,zmm9
0513  vpbroadcastd zmm10,[r12+84h]
051b  vfmadd231ps zmm4,zmm10,zmm8
0521  vfmadd231ps zmm5,zmm10,zmm9
0527  vpbroadcastd zmm10,[r12+0C4h]
052f  vfmadd231ps zmm6,zmm10,zmm8
0535  vfmadd231ps zmm7,zmm10,zmm9
053b  vmovups zmm8,[r13+100h]
0542  vmovups zmm9,[r13+140h]
0549  vpbroadcastd zmm10,[r12+8]
0551  vfmadd231ps zmm0,zmm10,zmm8
0557  vfmadd231ps zmm1,zmm10,zmm9
055d  vpbroadcastd zmm10,[r12+48h]
0565  vfmadd231ps zmm2,zmm10,zmm8
056b  vfmadd231ps zmm3,zmm10,zmm9
0571  vpbroadcastd zmm10,[r12+88h]
0579  vfmadd231ps zmm4,zmm10,zmm8
057f  vfmadd231ps zmm5,zmm10,zmm9
0585  vpbroadcastd zmm10,[r12+0C8h]
058d  vfmadd231ps zmm6,zmm10,zmm8
0593  vfmadd231ps zmm7,zmm10,zmm9
0599  vmovups zmm8,[r13+180h]
05a0  vmovups zmm9,[r13+1C0h]
05a7  vpbroadcastd zmm10,[r12+0Ch]
05af  vfmadd231ps zmm0,zmm10,zmm8
05b5  vfmadd231ps zmm1,zmm10,zmm9
05bb  vpbroadcastd zmm10,[r12+4Ch]
05c3  vfmadd231ps zmm2,zmm10,zmm8
05c9  vfmadd231ps zmm3,zmm10,zmm9
05cf  vpbroadcastd zmm10,[r12+8Ch]
05d7  vfmadd231ps zmm4,zmm10,zmm8
05dd  vfmadd231ps zmm5,zmm10,zmm9
05e3  vpbroadcastd zmm10,[r12+0CCh]
05eb  vfmadd231ps zmm6,zmm10,zmm8
05f1  vfmadd231ps zmm7,zmm10,zmm9
05f7  add r12,10h
05fb  add r13,200h
0602  dec r14
0605  jne near 480h
060b  vmovups [rbx],zmm0
0611  vmovups [rbx+40h],zmm1
0618  vmovups [rbx+80h],zmm2
061f  vmovups [rbx+0C0h],zmm3
0626  vmovups [rbx+100h],zmm4
062d  vmovups [rbx+140h],zmm5
0634  vmovups [rbx+180h],zmm6
063b  vmovups [rbx+1C0h],zmm7
0642  add rbx,200h
0649  add r11,100h
0650  dec rbp
0653  jne near 400h
0659  mov rbp,[rdi+58h]
065d  test rbp,rbp
0660  jle near 83Bh
0666  nop word [rax+rax]
066f  nop word [rax+rax]
0678  nop dword [rax+rax]
0680  vmovups zmm0,[rbx]
0686  vmovups zmm1,[rbx+40h]
068d  vmovups zmm2,[rbx+80h]
0694  vmovups zmm3,[rbx+0C0h]
069b  vmovups zmm4,[rbx+100h]
06a2  vmovups zmm5,[rbx+140h]
06a9  mov r12,r11
06ac  mov r13,rsi
06af  mov r14d,4
06b5  nop word [rax+rax]
06be  xchg ax,ax
06c0  vmovups zmm6,[r13]
06c7  vmovups zmm7,[r13+40h]
06ce  vpbroadcastd zmm8,[r12]
06d5  vfmadd231ps zmm0,zmm8,zmm6
06db  vfmadd231ps zmm1,zmm8,zmm7
06e1  vpbroadcastd zmm8,[r12+40h]
06e9  vfmadd231ps zmm2,zmm8,zmm6
06ef  vfmadd231ps zmm3,zmm8,zmm7
06f5  vpbroadcastd zmm8,[r12+80h]
06fd  vfmadd231ps zmm4,zmm8,zmm6
0703  vfmadd231ps zmm5,zmm8,zmm7
0709  vmovups zmm6,[r13+80h]
0710  vmovups zmm7,[r13+0C0h]
0717  vpbroadcastd zmm8,[r12+4]
071f  vfmadd231ps zmm0,zmm8,zmm6
0725  vfmadd231ps zmm1,zmm8,zmm7
072b  vpbroadcastd zmm8,[r12+44h]
0733  vfmadd231ps zmm2,zmm8,zmm6
0739  vfmadd231ps zmm3,zmm8,zmm7
073f  vpbroadcastd zmm8,[r12+84h]
0747  vfmadd231ps zmm4,zmm8,zmm6
074d  vfmadd231ps zmm5,zmm8,zmm7
0753  vmovups zmm6,[r13+100h]
075a  vmovups zmm7,[r13+140h]
0761  vpbroadcastd zmm8,[r12+8]
0769  vfmadd231ps zmm0,zmm8,zmm6
076f  vfmadd231ps zmm1,zmm8,zmm7
0775  vpbroadcastd zmm8,[r12+48h]
077d  vfmadd231ps zmm2,zmm8,zmm6
0783  vfmadd231ps zmm3,zmm8,zmm7
0789  vpbroadcastd zmm8,[r12+88h]
0791  vfmadd231ps zmm4,zmm8,zmm6
0797  vfmadd231ps zmm5,zmm8,zmm7
079d  vmovups zmm6,[r13+180h]
07a4  vmovups zmm7,[r13+1C0h]
07ab  vpbroadcastd zmm8,[r12+0Ch]
07b3  vfmadd231ps zmm0,zmm8,zmm6
07b9  vfmadd231ps zmm1,zmm8,zmm7
07bf  vpbroadcastd zmm8,[r12+4Ch]
07c7  vfmadd231ps zmm2,zmm8,zmm6
07cd  vfmadd231ps zmm3,zmm8,zmm7
07d3  vpbroadcastd zmm8,[r12+8Ch]
07db  vfmadd231ps zmm4,zmm8,zmm6
07e1  vfmadd231ps zmm5,zmm8,zmm7
07e7  add r12,10h
07eb  add r13,200h
07f2  dec r14
07f5  jne near 6C0h
07fb  vmovups [rbx],zmm0
0801  vmovups [rbx+40h],zmm1
0808  vmovups [rbx+80h],zmm2
080f  vmovups [rbx+0C0h],zmm3
0816  vmovups [rbx+100h],zmm4
081d  vmovups [rbx+140h],zmm5
0824  add rbx,180h
082b  add r11,0C0h
0832  dec rbp
0835  jne near 680h
083b  add rsi,800h
0842  mov r11,[rdi+8]
0846  add r8,r11
0849  mov r11,[rdi+40h]
084d  add r9,r11
0850  dec r10
0853  jne near 3C0h
0859  mov rsi,[rdi+10h]
085d  add rax,rsi
0860  dec rdx
0863  jne near 40h
0869  pop r14
086b  pop r13
086d  pop r12
086f  pop rbp
0870  pop rbx
0871  vzeroupper
0874  ret
