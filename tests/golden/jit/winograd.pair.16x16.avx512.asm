; 348 instructions, 2652 bytes, 0 spills, 0 of them in inner loops
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
0040  vpbroadcastd zmm0,[rel 0A5Ch]
004a  vpbroadcastd zmm1,[rel 0A60h]
0054  vpbroadcastd zmm2,[rel 0A64h]
005e  vpbroadcastd zmm3,[rel 0A68h]
0068  vpbroadcastd zmm4,[rel 0A6Ch]
0072  vpbroadcastd zmm5,[rel 0A70h]
007c  vpbroadcastd zmm6,[rdi+60h]
0083  vpbroadcastd zmm7,[rdi+64h]
008a  vpbroadcastd zmm8,[rdi+68h]
0091  mov rsi,[rdi+20h]
0095  mov r8,[rdi+28h]
0099  mov r9,r8
009c  shl r9,4
00a0  mov r10,[rdi+30h]
00a4  mov r11d,10h
00aa  nop word [rax+rax]
00b3  nop word [rax+rax]
00bc  nop dword [rax]
00c0  mov rbx,rcx
00c3  vmovups zmm9,[rbx]
00c9  prefetcht1 [rbx+r9]
00ce  add rbx,rsi
00d1  vmovups zmm10,[rbx]
00d7  prefetcht1 [rbx+r9]
00dc  add rbx,rsi
00df  vmovups zmm11,[rbx]
00e5  prefetcht1 [rbx+r9]
00ea  add rbx,rsi
00ed  vmulps zmm9,zmm9,zmm6
00f3  vfmadd231ps zmm9,zmm11,zmm8
00f9  vmovups zmm11,zmm9
00ff  vfmadd231ps zmm11,zmm10,zmm7
0105  vfnmadd231ps zmm9,zmm10,zmm7
010b  vmovups zmm10,[rbx]
0111  prefetcht1 [rbx+r9]
0116  add rbx,rsi
0119  vmovups zmm12,[rbx]
011f  prefetcht1 [rbx+r9]
0124  add rbx,rsi
0127  vmovups zmm13,[rbx]
012d  prefetcht1 [rbx+r9]
0132  add rbx,rsi
0135  vmulps zmm10,zmm10,zmm6
013b  vfmadd231ps zmm10,zmm13,zmm8
0141  vmovups zmm13,zmm10
0147  vfmadd231ps zmm13,zmm12,zmm7
014d  vfnmadd231ps zmm10,zmm12,zmm7
0153  vmovups zmm12,[rbx]
0159  prefetcht1 [rbx+r9]
015e  add rbx,rsi
0161  vmovups zmm14,[rbx]
0167  prefetcht1 [rbx+r9]
016c  add rbx,rsi
016f  vmovups zmm15,[rbx]
0175  prefetcht1 [rbx+r9]
017a  add rbx,rsi
017d  vmulps zmm12,zmm12,zmm6
0183  vfmadd231ps zmm12,zmm15,zmm8
0189  vmovups zmm15,zmm12
018f  vfmadd231ps zmm15,zmm14,zmm7
0195  vfnmadd231ps zmm12,zmm14,zmm7
019b  vmulps zmm14,zmm11,zmm0
01a1  vfmadd231ps zmm14,zmm15,zmm2
01a7  vmovups zmm16,zmm14
01ad  vfmadd231ps zmm16,zmm13,zmm1
01b3  vfnmadd231ps zmm14,zmm13,zmm1
01b9  vmulps zmm17,zmm11,zmm3
01bf  vfmadd231ps zmm17,zmm15,zmm5
01c5  vmovups zmm18,zmm17
01cb  vfmadd231ps zmm18,zmm13,zmm4
01d1  vfnmadd231ps zmm17,zmm13,zmm4
01d7  vmovups [r10],zmm11
01dd  vmovups [r10+400h],zmm16
01e4  vmovups [r10+800h],zmm14
01eb  vmovups [r10+0C00h],zmm18
01f2  vmovups [r10+1000h],zmm17
01f9  vmovups [r10+1400h],zmm15
0200  vmulps zmm11,zmm9,zmm0
0206  vfmadd231ps zmm11,zmm12,zmm2
020c  vmovups zmm13,zmm11
0212  vfmadd231ps zmm13,zmm10,zmm1
0218  vfnmadd231ps zmm11,zmm10,zmm1
021e  vmulps zmm14,zmm9,zmm3
0224  vfmadd231ps zmm14,zmm12,zmm5
022a  vmovups zmm15,zmm14
0230  vfmadd231ps zmm15,zmm10,zmm4
0236  vfnmadd231ps zmm14,zmm10,zmm4
023c  vmovups [r10+1800h],zmm9
0243  vmovups [r10+1C00h],zmm13
024a  vmovups [r10+2000h],zmm11
0254  vmovups [r10+2400h],zmm15
025e  vmovups [r10+2800h],zmm14
0268  vmovups [r10+2C00h],zmm12
0272  add rcx,r8
0275  add r10,40h
0279  dec r11
027c  jne near 0C0h
0282  mov rsi,[rdi+30h]
0286  mov r8,rax
0289  mov r9,[rdi+38h]
028d  mov r10d,0Ch
0293  nop word [rax+rax]
029c  nop word [rax+rax]
02a5  nop word [rax+rax]
02ae  nop word [rax+rax]
02b7  nop word [rax+rax]
02c0  mov r11,r8
02c3  mov rbx,r9
02c6  mov rbp,[rdi+50h]
02ca  test rbp,rbp
02cd  jle near 695h
02d3  nop word [rax+rax]
02dc  nop word [rax+rax]
02e5  nop word [rax+rax]
02ee  nop word [rax+rax]
02f7  nop word [rax+rax]
0300  vmovups zmm0,[rbx]
0306  vmovups zmm1,[rbx+40h]
030d  vmovups zmm2,[rbx+80h]
0314  vmovups zmm3,[rbx+0C0h]
031b  vmovups zmm4,[rbx+100h]
0322  vmovups zmm5,[rbx+140h]
0329  vmovups zmm6,[rbx+180h]
0330  vmovups zmm7,[rbx+1C0h]
0337  vmovups zmm8,[rbx+200h]
033e  vmovups zmm9,[rbx+240h]
0345  vmovups zmm10,[rbx+280h]
034c  vmovups zmm11,[rbx+2C0h]
0353  vmovups zmm12,[rbx+300h]
035a  vmovups zmm13,[rbx+340h]
0361  vmovups zmm14,[rbx+380h]
0368  vmovups zmm15,[rbx+3C0h]
036f  mov r12,r11
0372  mov r13,rsi
0375  mov r14d,4
037b  nop dword [rax+rax]
0380  vmovups zmm16,[r13]
0387  vfmadd231ps zmm0,zmm16,[r12]{1to16}
038e  vfmadd231ps zmm1,zmm16,[r12+40h]{1to16}
0396  vfmadd231ps zmm2,zmm16,[r12+80h]{1to16}
039e  vfmadd231ps zmm3,zmm16,[r12+0C0h]{1to16}
03a6  vfmadd231ps zmm4,zmm16,[r12+100h]{1to16}
03ae  vfmadd231ps zmm5,zmm16,[r12+140h]{1to16}
03b6  vfmadd231ps zmm6,zmm16,[r12+180h]{1to16}
03be  vfmadd231ps zmm7,zmm16,[r12+1C0h]{1to16}
03c6  vfmadd231ps zmm8,zmm16,[r12+200h]{1to16}
03d1  vfmadd231ps zmm9,zmm16,[r12+240h]{1to16}
03dc  vfmadd231ps zmm10,zmm16,[r12+280h]{1to16}
03e7  vfmadd231ps zmm11,zmm16,[r12+2C0h]{1to16}
03f2  vfmadd231ps zmm12,zmm16,[r12+300h]{1to16}
03fd  vfmadd231ps zmm13,zmm16,[r12+340h]{1to16}
0408  vfmadd231ps zmm14,zmm16,[r12+380h]{1to16}
0413  vfmadd231ps zmm15,zmm16,[r12+3C0h]{1to16}
041e  vmovups zmm16,[r13+40h]
0425  vfmadd231ps zmm0,zmm16,[r12+4]{1to16}
042d  vfmadd231ps zmm1,zmm16,[r12+44h]{1to16}
0435  vfmadd231ps zmm2,zmm16,[r12+84h]{1to16}
043d  vfmadd231ps zmm3,zmm16,[r12+0C4h]{1to16}
0445  vfmadd231ps zmm4,zmm16,[r12+104h]{1to16}
044d  vfmadd231ps zmm5,zmm16,[r12+144h]{1to16}
0455  vfmadd231ps zmm6,zmm16,[r12+184h]{1to16}
045d  vfmadd231ps zmm7,zmm16,[r12+1C4h]{1to16}
0465  vfmadd231ps zmm8,zmm16,[r12+204h]{1to16}
0470  vfmadd231ps zmm9,zmm16,[r12+244h]{1to16}
047b  vfmadd231ps zmm10,zmm16,[r12+284h]{1to16}
0486  vfmadd231ps zmm11,zmm16,[r12+2C4h]{1to16}
0491  vfmadd231ps zmm12,zmm16,[r12+304h]{1to16}
049c  vfmadd231ps zmm13,zmm16,[r12+344h]{1to16}
04a7  vfmadd231ps zmm14,zmm16,[r12+384h]{1to16}
04b2  vfmadd231ps zmm15,zmm16,[r12+3C4h]{1to16}
04bd  vmovups zmm16,[r13+80h]
04c4  vfmadd231ps zmm0,zmm16,[r12+8]{1to16}
04cc  vfmadd231ps zmm1,zmm16,[r12+48h]{1to16}
04d4  vfmadd231ps zmm2,zmm16,[r12+88h]{1to16}
04dc  vfmadd231ps zmm3,zmm16,[r12+0C8h]{1to16}
04e4  vfmadd231ps zmm4,zmm16,[r12+108h]{1to16}
04ec  vfmadd231ps zmm5,zmm16,[r12+148h]{1to16}
04f4  vfmadd231ps zmm6,zmm16,[r12+188h]{1to16}
04fc  vfmadd231ps zmm7,zmm16,[r12+1C8h]{1to16}
0504  vfmadd231ps zmm8,zmm16,[r12+208h]{1to16}
050f  vfmadd231ps zmm9,zmm16,[r12+248h]{1to16}
051a  vfmadd231ps zmm10,zmm16,[r12+288h]{1to16}
0525  vfmadd231ps zmm11,zmm16,[r12+2C8h]{1to16}
0530  vfmadd231ps zmm12,zmm16,[r12+308h]{1to16}
053b  vfmadd231ps zmm13,zmm16,[r12+348h]{1to16}
0546  vfmadd231ps zmm14,zmm16,[r12+388h]{1to16}
0551  vfmadd231ps zmm15,zmm16,[r12+3C8h]{1to16}
055c  vmovups zmm16,[r13+0C0h]
0563  vfmadd231ps zmm0,zmm16,[r12+0Ch]{1to16}
056b  vfmadd231ps zmm1,zmm16,[r12+4Ch]{1to16}
0573  vfmadd231ps zmm2,zmm16,[r12+8Ch]{1to16}
057b  vfmadd231ps zmm3,zmm16,[r12+0CCh]{1to16}
0583  vfmadd231ps zmm4,zmm16,[r12+10Ch]{1to16}
058b  vfmadd231ps zmm5,zmm16,[r12+14Ch]{1to16}
0593  vfmadd231ps zmm6,zmm16,[r12+18Ch]{1to16}
059b  vfmadd231ps zmm7,zmm16,[r12+1CCh]{1to16}
05a3  vfmadd231ps zmm8,zmm16,[r12+20Ch]{1to16}
05ae  vfmadd231ps zmm9,zmm16,[r12+24Ch]{1to16}
05b9  vfmadd231ps zmm10,zmm16,[r12+28Ch]{1to16}
05c4  vfmadd231ps zmm11,zmm16,[r12+2CCh]{1to16}
05cf  vfmadd231ps zmm12,zmm16,[r12+30Ch]{1to16}
05da  vfmadd231ps zmm13,zmm16,[r12+34Ch]{1to16}
05e5  vfmadd231ps zmm14,zmm16,[r12+38Ch]{1to16}
05f0  vfmadd231ps zmm15,zmm16,[r12+3CCh]{1to16}
05fb  add r12,10h
05ff  add r13,100h
0606  dec r14
0609  jne near 380h
060f  vmovups [rbx],zmm0
0615  vmovups [rbx+40h],zmm1
061c  vmovups [rbx+80h],zmm2
0623  vmovups [rbx+0C0h],zmm3
062a  vmovups [rbx+100h],zmm4
0631  vmovups [rbx+140h],zmm5
0638  vmovups [rbx+180h],zmm6
063f  vmovups [rbx+1C0h],zmm7
0646  vmovups [rbx+200h],zmm8
064d  vmovups [rbx+240h],zmm9
0654  vmovups [rbx+280h],zmm10
065b  vmovups [rbx+2C0h],zmm11
0662  vmovups [rbx+300h],zmm12
0669  vmovups [rbx+340h],zmm13
0670  vmovups [rbx+380h],zmm14
0677  vmovups [rbx+3C0h],zmm15
067e  add rbx,400h
0685  add r11,400h
068c  dec rbp
068f  jne near 300h
0695  mov rbp,[rdi+58h]
0699  test rbp,rbp
069c  jle near 0A22h
06a2  nop word [rax+rax]
06ab  nop word [rax+rax]
06b4  nop word [rax+rax]
06bd  nop dword [rax]
06c0  vmovups zmm0,[rbx]
06c6  vmovups zmm1,[rbx+40h]
06cd  vmovups zmm2,[rbx+80h]
06d4  vmovups zmm3,[rbx+0C0h]
06db  vmovups zmm4,[rbx+100h]
06e2  vmovups zmm5,[rbx+140h]
06e9  vmovups zmm6,[rbx+180h]
06f0  vmovups zmm7,[rbx+1C0h]
06f7  vmovups zmm8,[rbx+200h]
06fe  vmovups zmm9,[rbx+240h]
0705  vmovups zmm10,[rbx+280h]
070c  vmovups zmm11,[rbx+2C0h]
0713  vmovups zmm12,[rbx+300h]
071a  vmovups zmm13,[rbx+340h]
0721  vmovups zmm14,[rbx+380h]
0728  mov r12,r11
072b  mov r13,rsi
072e  mov r14d,4
0734  nop word [rax+rax]
073d  nop dword [rax]
0740  vmovups zmm15,[r13]
0747  vfmadd231ps zmm0,zmm15,[r12]{1to16}
074e  vfmadd231ps zmm1,zmm15,[r12+40h]{1to16}
0756  vfmadd231ps zmm2,zmm15,[r12+80h]{1to16}
075e  vfmadd231ps zmm3,zmm15,[r12+0C0h]{1to16}
0766  vfmadd231ps zmm4,zmm15,[r12+100h]{1to16}
076e  vfmadd231ps zmm5,zmm15,[r12+140h]{1to16}
0776  vfmadd231ps zmm6,zmm15,[r12+180h]{1to16}
077e  vfmadd231ps zmm7,zmm15,[r12+1C0h]{1to16}
0786  vfmadd231ps zmm8,zmm15,[r12+200h]{1to16}
0791  vfmadd231ps zmm9,zmm15,[r12+240h]{1to16}
079c  vfmadd231ps zmm10,zmm15,[r12+280h]{1to16}
07a7  vfmadd231ps zmm11,zmm15,[r12+2C0h]{1to16}
07b2  vfmadd231ps zmm12,zmm15,[r12+300h]{1to16}
07bd  vfmadd231ps zmm13,zmm15,[r12+340h]{1to16}
07c8  vfmadd231ps zmm14,zmm15,[r12+380h]{1to16}
07d3  vmovups zmm15,[r13+40h]
07da  vfmadd231ps zmm0,zmm15,[r12+4]{1to16}
07e2  vfmadd231ps zmm1,zmm15,[r12+44h]{1to16}
07ea  vfmadd231ps zmm2,zmm15,[r12+84h]{1to16}
07f2  vfmadd231ps zmm3,zmm15,[r12+0C4h]{1to16}
07fa  vfmadd231ps zmm4,zmm15,[r12+104h]{1to16}
0802  vfmadd231ps zmm5,zmm15,[r12+144h]{1to16}
080a  vfmadd231ps zmm6,zmm15,[r12+184h]{1to16}
0812  vfmadd231ps zmm7,zmm15,[r12+1C4h]{1to16}
081a  vfmadd231ps zmm8,zmm15,[r12+204h]{1to16}
0825  vfmadd231ps zmm9,zmm15,[r12+244h]{1to16}
0830  vfmadd231ps zmm10,zmm15,[r12+284h]{1to16}
083b  vfmadd231ps zmm11,zmm15,[r12+2C4h]{1to16}
0846  vfmadd231ps zmm12,zmm15,[r12+304h]{1to16}
0851  vfmadd231ps zmm13,zmm15,[r12+344h]{1to16}
085c  vfmadd231ps zmm14,zmm15,[r12+384h]{1to16}
0867  vmovups zmm15,[r13+80h]
086e  vfmadd231ps zmm0,zmm15,[r12+8]{1to16}
0876  vfmadd231ps zmm1,zmm15,[r12+48h]{1to16}
087e  vfmadd231ps zmm2,zmm15,[r12+88h]{1to16}
0886  vfmadd231ps zmm3,zmm15,[r12+0C8h]{1to16}
088e  vfmadd231ps zmm4,zmm15,[r12+108h]{1to16}
0896  vfmadd231ps zmm5,zmm15,[r12+148h]{1to16}
089e  vfmadd231ps zmm6,zmm15,[r12+188h]{1to16}
08a6  vfmadd231ps zmm7,zmm15,[r12+1C8h]{1to16}
08ae  vfmadd231ps zmm8,zmm15,[r12+208h]{1to16}
08b9  vfmadd231ps zmm9,zmm15,[r12+248h]{1to16}
08c4  vfmadd231ps zmm10,zmm15,[r12+288h]{1to16}
08cf  vfmadd231ps zmm11,zmm15,[r12+2C8h]{1to16}
08da  vfmadd231ps zmm12,zmm15,[r12+308h]{1to16}
08e5  vfmadd231ps zmm13,zmm15,[r12+348h]{1to16}
08f0  vfmadd231ps zmm14,zmm15,[r12+388h]{1to16}
08fb  vmovups zmm15,[r13+0C0h]
0902  vfmadd231ps zmm0,zmm15,[r12+0Ch]{1to16}
090a  vfmadd231ps zmm1,zmm15,[r12+4Ch]{1to16}
0912  vfmadd231ps zmm2,zmm15,[r12+8Ch]{1to16}
091a  vfmadd231ps zmm3,zmm15,[r12+0CCh]{1to16}
0922  vfmadd231ps zmm4,zmm15,[r12+10Ch]{1to16}
092a  vfmadd231ps zmm5,zmm15,[r12+14Ch]{1to16}
0932  vfmadd231ps zmm6,zmm15,[r12+18Ch]{1to16}
093a  vfmadd231ps zmm7,zmm15,[r12+1CCh]{1to16}
0942  vfmadd231ps zmm8,zmm15,[r12+20Ch]{1to16}
094d  vfmadd231ps zmm9,zmm15,[r12+24Ch]{1to16}
0958  vfmadd231ps zmm10,zmm15,[r12+28Ch]{1to16}
0963  vfmadd231ps zmm11,zmm15,[r12+2CCh]{1to16}
096e  vfmadd231ps zmm12,zmm15,[r12+30Ch]{1to16}
0979  vfmadd231ps zmm13,zmm15,[r12+34Ch]{1to16}
0984  vfmadd231ps zmm14,zmm15,[r12+38Ch]{1to16}
098f  add r12,10h
0993  add r13,100h
099a  dec r14
099d  jne near 740h
09a3  vmovups [rbx],zmm0
09a9  vmovups [rbx+40h],zmm1
09b0  vmovups [rbx+80h],zmm2
09b7  vmovups [rbx+0C0h],zmm3
09be  vmovups [rbx+100h],zmm4
09c5  vmovups [rbx+140h],zmm5
09cc  vmovups [rbx+180h],zmm6
09d3  vmovups [rbx+1C0h],zmm7
09da  vmovups [rbx+200h],zmm8
09e1  vmovups [rbx+240h],zmm9
09e8  vmovups [rbx+280h],zmm10
09ef  vmovups [rbx+2C0h],zmm11
09f6  vmovups [rbx+300h],zmm12
09fd  vmovups [rbx+340h],zmm13
0a04  vmovups [rbx+380h],zmm14
0a0b  add rbx,3C0h
0a12  add r11,3C0h
0a19  dec rbp
0a1c  jne near 6C0h
0a22  add rsi,400h
0a29  mov r11,[rdi+8]
0a2d  add r8,r11
0a30  mov r11,[rdi+40h]
0a34  add r9,r11
0a37  dec r10
0a3a  jne near 2C0h
0a40  mov rsi,[rdi+10h]
0a44  add rax,rsi
0a47  dec rdx
0a4a  jne near 40h
0a50  pop r14
0a52  pop r13
0a54  pop r12
0a56  pop rbp
0a57  pop rbx
0a58  vzeroupper
0a5b  ret
