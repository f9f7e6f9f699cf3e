; 538 instructions, 3572 bytes, 0 spills, 0 of them in inner loops
0000  push rbx
0001  push rbp
0002  push r12
0004  push r13
0006  vpxord zmm0,zmm0,zmm0
000c  vpxord zmm1,zmm1,zmm1
0012  vpxord zmm2,zmm2,zmm2
0018  vpxord zmm3,zmm3,zmm3
001e  vpxord zmm4,zmm4,zmm4
0024  vpxord zmm5,zmm5,zmm5
002a  vpxord zmm6,zmm6,zmm6
0030  vpxord zmm7,zmm7,zmm7
0036  vpxord zmm8,zmm8,zmm8
003c  vpxord zmm9,zmm9,zmm9
0042  vpxord zmm10,zmm10,zmm10
0048  vpxord zmm11,zmm11,zmm11
004e  vpxord zmm12,zmm12,zmm12
0054  vpxord zmm13,zmm13,zmm13
005a  vpxord zmm14,zmm14,zmm14
0060  vpxord zmm15,zmm15,zmm15
0066  vpxord zmm16,zmm16,zmm16
006c  vpxord zmm17,zmm17,zmm17
0072  vpxord zmm18,zmm18,zmm18
0078  vpxord zmm19,zmm19,zmm19
007e  vpxord zmm20,zmm20,zmm20
0084  vpxord zmm21,zmm21,zmm21
008a  vpxord zmm22,zmm22,zmm22
0090  vpxord zmm23,zmm23,zmm23
0096  mov rax,[rdi]
0099  mov rcx,[rdi+8]
009d  test rcx,rcx
00a0  jle near 0D31h
00a6  nop word [rax+rax]
00af  nop word [rax+rax]
00b8  nop dword [rax+rax]
00c0  mov rdx,[rdi+18h]
00c4  mov rsi,[rax]
00c7  add rdx,rsi
00ca  mov rsi,[rax+8]
00ce  mov r8,[rax+10h]
00d2  mov r9,[rax+18h]
00d6  mov r10,[rax+20h]
00da  mov r11,[rax+28h]
00de  mov rbx,[rax+30h]
00e2  add rax,38h
00e6  mov ebp,0
00eb  mov r12,[rdi+10h]
00ef  mov r13,r12
00f2  shr r13,2
00f6  test r13,r13
00f9  jle near 0A8Eh
00ff  nop
0100  vmovups zmm24,[rdx]
0106  vpslld zmm24,zmm24,10h
010d  vmovups zmm25,[rdx+40h]
0114  vpslld zmm25,zmm25,10h
011b  vmovups zmm26,[rdx+80h]
0122  vpslld zmm26,zmm26,10h
0129  vmovups zmm27,[rdx+0C0h]
0130  vpslld zmm27,zmm27,10h
0137  vpbroadcastd zmm28,[rsi+rbp]
013e  vpslld zmm28,zmm28,10h
0145  vfmadd231ps zmm0,zmm28,zmm24
014b  vfmadd231ps zmm1,zmm28,zmm25
0151  vfmadd231ps zmm2,zmm28,zmm26
0157  vfmadd231ps zmm3,zmm28,zmm27
015d  vpbroadcastd zmm28,[r8+rbp]
0164  vpslld zmm28,zmm28,10h
016b  vfmadd231ps zmm4,zmm28,zmm24
0171  vfmadd231ps zmm5,zmm28,zmm25
0177  vfmadd231ps zmm6,zmm28,zmm26
017d  vfmadd231ps zmm7,zmm28,zmm27
0183  vpbroadcastd zmm28,[r9+rbp]
018a  vpslld zmm28,zmm28,10h
0191  vfmadd231ps zmm8,zmm28,zmm24
0197  vfmadd231ps zmm9,zmm28,zmm25
019d  vfmadd231ps zmm10,zmm28,zmm26
01a3  vfmadd231ps zmm11,zmm28,zmm27
01a9  vpbroadcastd zmm28,[r10+rbp]
01b0  vpslld zmm28,zmm28,10h
01b7  vfmadd231ps zmm12,zmm28,zmm24
01bd  vfmadd231ps zmm13,zmm28,zmm25
01c3  vfmadd231ps zmm14,zmm28,zmm26
01c9  vfmadd231ps zmm15,zmm28,zmm27
01cf  vpbroadcastd zmm28,[r11+rbp]
01d6  vpslld zmm28,zmm28,10h
01dd  vfmadd231ps zmm16,zmm28,zmm24
01e3  vfmadd231ps zmm17,zmm28,zmm25
01e9  vfmadd231ps zmm18,zmm28,zmm26
01ef  vfmadd231ps zmm19,zmm28,zmm27
01f5  vpbroadcastd zmm28,[rbx+rbp]
01fc  vpslld zmm28,zmm28,10h
0203  vfmadd231ps zmm20,zmm28,zmm24
0209  vfmadd231ps zmm21,zmm28,zmm25
020f  vfmadd231ps zmm22,zmm28,zmm26
0215  vfmadd231ps zmm23,zmm28,zmm27
021b  vmovups zmm24,[rdx]
0221  vpandd zmm24,zmm24,[rel 0E00h]
022b  vmovups zmm25,[rdx+40h]
0232  vpandd zmm25,zmm25,[rel 0E00h]
023c  vmovups zmm26,[rdx+80h]
0243  vpandd zmm26,zmm26,[rel 0E00h]
024d  vmovups zmm27,[rdx+0C0h]
0254  vpandd zmm27,zmm27,[rel 0E00h]
025e  vpbroadcastd zmm28,[rsi+rbp]
0265  vpandd zmm28,zmm28,[rel 0E00h]
026f  vfmadd231ps zmm0,zmm28,zmm24
0275  vfmadd231ps zmm1,zmm28,zmm25
027b  vfmadd231ps zmm2,zmm28,zmm26
0281  vfmadd231ps zmm3,zmm28,zmm27
0287  vpbroadcastd zmm28,[r8+rbp]
028e  vpandd zmm28,zmm28,[rel 0E00h]
0298  vfmadd231ps zmm4,zmm28,zmm24
029e  vfmadd231ps zmm5,zmm28,zmm25
02a4  vfmadd231ps zmm6,zmm28,zmm26
02aa  vfmadd231ps zmm7,zmm28,zmm27
02b0  vpbroadcastd zmm28,[r9+rbp]
02b7  vpandd zmm28,zmm28,[rel 0E00h]
02c1  vfmadd231ps zmm8,zmm28,zmm24
02c7  vfmadd231ps zmm9,zmm28,zmm25
02cd  vfmadd231ps zmm10,zmm28,zmm26
02d3  vfmadd231ps zmm11,zmm28,zmm27
02d9  vpbroadcastd zmm28,[r10+rbp]
02e0  vpandd zmm28,zmm28,[rel 0E00h]
02ea  vfmadd231ps zmm12,zmm28,zmm24
02f0  vfmadd231ps zmm13,zmm28,zmm25
02f6  vfmadd231ps zmm14,zmm28,zmm26
02fc  vfmadd231ps zmm15,zmm28,zmm27
0302  vpbroadcastd zmm28,[r11+rbp]
0309  vpandd zmm28,zmm28,[rel 0E00h]
0313  vfmadd231ps zmm16,zmm28,zmm24
0319  vfmadd231ps zmm17,zmm28,zmm25
031f  vfmadd231ps zmm18,zmm28,zmm26
0325  vfmadd231ps zmm19,zmm28,zmm27
032b  vpbroadcastd zmm28,[rbx+rbp]
0332  vpandd zmm28,zmm28,[rel 0E00h]
033c  vfmadd231ps zmm20,zmm28,zmm24
0342  vfmadd231ps zmm21,zmm28,zmm25
0348  vfmadd231ps zmm22,zmm28,zmm26
034e  vfmadd231ps zmm23,zmm28,zmm27
0354  vmovups zmm24,[rdx+100h]
035b  vpslld zmm24,zmm24,10h
0362  vmovups zmm25,[rdx+140h]
0369  vpslld zmm25,zmm25,10h
0370  vmovups zmm26,[rdx+180h]
0377  vpslld zmm26,zmm26,10h
037e  vmovups zmm27,[rdx+1C0h]
0385  vpslld zmm27,zmm27,10h
038c  vpbroadcastd zmm28,[rsi+rbp+4]
0394  vpslld zmm28,zmm28,10h
039b  vfmadd231ps zmm0,zmm28,zmm24
03a1  vfmadd231ps zmm1,zmm28,zmm25
03a7  vfmadd231ps zmm2,zmm28,zmm26
03ad  vfmadd231ps zmm3,zmm28,zmm27
03b3  vpbroadcastd zmm28,[r8+rbp+4]
03bb  vpslld zmm28,zmm28,10h
03c2  vfmadd231ps zmm4,zmm28,zmm24
03c8  vfmadd231ps zmm5,zmm28,zmm25
03ce  vfmadd231ps zmm6,zmm28,zmm26
03d4  vfmadd231ps zmm7,zmm28,zmm27
03da  vpbroadcastd zmm28,[r9+rbp+4]
03e2  vpslld zmm28,zmm28,10h
03e9  vfmadd231ps zmm8,zmm28,zmm24
03ef  vfmadd231ps zmm9,zmm28,zmm25
03f5  vfmadd231ps zmm10,zmm28,zmm26
03fb  vfmadd231ps zmm11,zmm28,zmm27
0401  vpbroadcastd zmm28,[r10+rbp+4]
0409  vpslld zmm28,zmm28,10h
0410  vfmadd231ps zmm12,zmm28,zmm24
0416  vfmadd231ps zmm13,zmm28,zmm25
041c  vfmadd231ps zmm14,zmm28,zmm26
0422  vfmadd231ps zmm15,zmm28,zmm27
0428  vpbroadcastd zmm28,[r11+rbp+4]
0430  vpslld zmm28,zmm28,10h
0437  vfmadd231ps zmm16,zmm28,zmm24
043d  vfmadd231ps zmm17,zmm28,zmm25
0443  vfmadd231ps zmm18,zmm28,zmm26
0449  vfmadd231ps zmm19,zmm28,zmm27
044f  vpbroadcastd zmm28,[rbx+rbp+4]
0457  vpslld zmm28,zmm28,10h
045e  vfmadd231ps zmm20,zmm28,zmm24
0464  vfmadd231ps zmm21,zmm28,zmm25
046a  vfmadd231ps zmm22,zmm28,zmm26
0470  vfmadd231ps zmm23,zmm28,zmm27
0476  vmovups zmm24,[rdx+100h]
047d  vpandd zmm24,zmm24,[rel 0E00h]
0487  vmovups zmm25,[rdx+140h]
048e  vpandd zmm25,zmm25,[rel 0E00h]
0498  vmovups zmm26,[rdx+180h]
049f  vpandd zmm26,zmm26,[rel 0E00h]
04a9  vmovups zmm27,[rdx+1C0h]
04b0  vpandd zmm27,zmm27,[rel 0E00h]
04ba  vpbroadcastd zmm28,[rsi+rbp+4]
04c2  vpandd zmm28,zmm28,[rel 0E00h]
04cc  vfmadd231ps zmm0,zmm28,zmm24
04d2  vfmadd231ps zmm1,zmm28,zmm25
04d8  vfmadd231ps zmm2,zmm28,zmm26
04de  vfmadd231ps zmm3,zmm28,zmm27
04e4  vpbroadcastd zmm28,[r8+rbp+4]
04ec  vpandd zmm28,zmm28,[rel 0E00h]
04f6  vfmadd231ps zmm4,zmm28,zmm24
04fc  vfmadd231ps zmm5,zmm28,zmm25
0502  vfmadd231ps zmm6,zmm28,zmm26
0508  vfmadd231ps zmm7,zmm28,zmm27
050e  vpbroadcastd zmm28,[r9+rbp+4]
0516  vpandd zmm28,zmm28,[rel 0E00h]
0520  vfmadd231ps zmm8,zmm28,zmm24
0526  vfmadd231ps zmm9,zmm28,zmm25
052c  vfmadd231ps zmm10,zmm28,zmm26
0532  vfmadd231ps zmm11,zmm28,zmm27
0538  vpbroadcastd zmm28,[r10+rbp+4]
0540  vpandd zmm28,zmm28,[rel 0E00h]
054a  vfmadd231ps zmm12,zmm28,zmm24
0550  vfmadd231ps zmm13,zmm28,zmm25
0556  vfmadd231ps zmm14,zmm28,zmm26
055c  vfmadd231ps zmm15,zmm28,zmm27
0562  vpbroadcastd zmm28,[r11+rbp+4]
056a  vpandd zmm28,zmm28,[rel 0E00h]
0574  vfmadd231ps zmm16,zmm28,zmm24
057a  vfmadd231ps zmm17,zmm28,zmm25
0580  vfmadd231ps zmm18,zmm28,zmm26
0586  vfmadd231ps zmm19,zmm28,zmm27
058c  vpbroadcastd zmm28,[rbx+rbp+4]
0594  vpandd zmm28,zmm28,[rel 0E00h]
059e  vfmadd231ps zmm20,zmm28,zmm24
05a4  vfmadd231ps zmm21,zmm28,zmm25
05aa  vfmadd231ps zmm22,zmm28,zmm26
05b0  vfmadd231ps zmm23,zmm28,zmm27
05b6  vmovups zmm24,[rdx+200h]
05bd  vpslld zmm24,zmm24,10h
05c4  vmovups zmm25,[rdx+240h]
05cb  vpslld zmm25,zmm25,10h
05d2  vmovups zmm26,[rdx+280h]
05d9  vpslld zmm26,zmm26,10h
05e0  vmovups zmm27,[rdx+2C0h]
05e7  vpslld zmm27,zmm27,10h
05ee  vpbroadcastd zmm28,[rsi+rbp+8]
05f6  vpslld zmm28,zmm28,10h
05fd  vfmadd231ps zmm0,zmm28,zmm24
0603  vfmadd231ps zmm1,zmm28,zmm25
0609  vfmadd231ps zmm2,zmm28,zmm26
060f  vfmadd231ps zmm3,zmm28,zmm27
0615  vpbroadcastd zmm28,[r8+rbp+8]
061d  vpslld zmm28,zmm28,10h
0624  vfmadd231ps zmm4,zmm28,zmm24
062a  vfmadd231ps zmm5,zmm28,zmm25
0630  vfmadd231ps zmm6,zmm28,zmm26
0636  vfmadd231ps zmm7,zmm28,zmm27
063c  vpbroadcastd zmm28,[r9+rbp+8]
0644  vpslld zmm28,zmm28,10h
064b  vfmadd231ps zmm8,zmm28,zmm24
0651  vfmadd231ps zmm9,zmm28,zmm25
0657  vfmadd231ps zmm10,zmm28,zmm26
065d  vfmadd231ps zmm11,zmm28,zmm27
0663  vpbroadcastd zmm28,[r10+rbp+8]
066b  vpslld zmm28,zmm28,10h
0672  vfmadd231ps zmm12,zmm28,zmm24
0678  vfmadd231ps zmm13,zmm28,zmm25
067e  vfmadd231ps zmm14,zmm28,zmm26
0684  vfmadd231ps zmm15,zmm28,zmm27
068a  vpbroadcastd zmm28,[r11+rbp+8]
0692  vpslld zmm28,zmm28,10h
0699  vfmadd231ps zmm16,zmm28,zmm24
069f  vfmadd231ps zmm17,zmm28,zmm25
06a5  vfmadd231ps zmm18,zmm28,zmm26
06ab  vfmadd231ps zmm19,zmm28,zmm27
06b1  vpbroadcastd zmm28,[rbx+rbp+8]
06b9  vpslld zmm28,zmm28,10h
06c0  vfmadd231ps zmm20,zmm28,zmm24
06c6  vfmadd231ps zmm21,zmm28,zmm25
06cc  vfmadd231ps zmm22,zmm28,zmm26
06d2  vfmadd231ps zmm23,zmm28,zmm27
06d8  vmovups zmm24,[rdx+200h]
06df  vpandd zmm24,zmm24,[rel 0E00h]
06e9  vmovups zmm25,[rdx+240h]
06f0  vpandd zmm25,zmm25,[rel 0E00h]
06fa  vmovups zmm26,[rdx+280h]
0701  vpandd zmm26,zmm26,[rel 0E00h]
070b  vmovups zmm27,[rdx+2C0h]
0712  vpandd zmm27,zmm27,[rel 0E00h]
071c  vpbroadcastd zmm28,[rsi+rbp+8]
0724  vpandd zmm28,zmm28,[rel 0E00h]
072e  vfmadd231ps zmm0,zmm28,zmm24
0734  vfmadd231ps zmm1,zmm28,zmm25
073a  vfmadd231ps zmm2,zmm28,zmm26
0740  vfmadd231ps zmm3,zmm28,zmm27
0746  vpbroadcastd zmm28,[r8+rbp+8]
074e  vpandd zmm28,zmm28,[rel 0E00h]
0758  vfmadd231ps zmm4,zmm28,zmm24
075e  vfmadd231ps zmm5,zmm28,zmm25
0764  vfmadd231ps zmm6,zmm28,zmm26
076a  vfmadd231ps zmm7,zmm28,zmm27
0770  vpbroadcastd zmm28,[r9+rbp+8]
0778  vpandd zmm28,zmm28,[rel 0E00h]
0782  vfmadd231ps zmm8,zmm28,zmm24
0788  vfmadd231ps zmm9,zmm28,zmm25
078e  vfmadd231ps zmm10,zmm28,zmm26
0794  vfmadd231ps zmm11,zmm28,zmm27
079a  vpbroadcastd zmm28,[r10+rbp+8]
07a2  vpandd zmm28,zmm28,[rel 0E00h]
07ac  vfmadd231ps zmm12,zmm28,zmm24
07b2  vfmadd231ps zmm13,zmm28,zmm25
07b8  vfmadd231ps zmm14,zmm28,zmm26
07be  vfmadd231ps zmm15,zmm28,zmm27
07c4  vpbroadcastd zmm28,[r11+rbp+8]
07cc  vpandd zmm28,zmm28,[rel 0E00h]
07d6  vfmadd231ps zmm16,zmm28,zmm24
07dc  vfmadd231ps zmm17,zmm28,zmm25
07e2  vfmadd231ps zmm18,zmm28,zmm26
07e8  vfmadd231ps zmm19,zmm28,zmm27
07ee  vpbroadcastd zmm28,[rbx+rbp+8]
07f6  vpandd zmm28,zmm28,[rel 0E00h]
0800  vfmadd231ps zmm20,zmm28,zmm24
0806  vfmadd231ps zmm21,zmm28,zmm25
080c  vfmadd231ps zmm22,zmm28,zmm26
0812  vfmadd231ps zmm23,zmm28,zmm27
0818  vmovups zmm24,[rdx+300h]
081f  vpslld zmm24,zmm24,10h
0826  vmovups zmm25,[rdx+340h]
082d  vpslld zmm25,zmm25,10h
0834  vmovups zmm26,[rdx+380h]
083b  vpslld zmm26,zmm26,10h
0842  vmovups zmm27,[rdx+3C0h]
0849  vpslld zmm27,zmm27,10h
0850  vpbroadcastd zmm28,[rsi+rbp+0Ch]
0858  vpslld zmm28,zmm28,10h
085f  vfmadd231ps zmm0,zmm28,zmm24
0865  vfmadd231ps zmm1,zmm28,zmm25
086b  vfmadd231ps zmm2,zmm28,zmm26
0871  vfmadd231ps zmm3,zmm28,zmm27
0877  vpbroadcastd zmm28,[r8+rbp+0Ch]
087f  vpslld zmm28,zmm28,10h
0886  vfmadd231ps zmm4,zmm28,zmm24
088c  vfmadd231ps zmm5,zmm28,zmm25
0892  vfmadd231ps zmm6,zmm28,zmm26
0898  vfmadd231ps zmm7,zmm28,zmm27
089e  vpbroadcastd zmm28,[r9+rbp+0Ch]
08a6  vpslld zmm28,zmm28,10h
08ad  vfmadd231ps zmm8,zmm28,zmm24
08b3  vfmadd231ps zmm9,zmm28,zmm25
08b9  vfmadd231ps zmm10,zmm28,zmm26
08bf  vfmadd231ps zmm11,zmm28,zmm27
08c5  vpbroadcastd zmm28,[r10+rbp+0Ch]
08cd  vpslld zmm28,zmm28,10h
08d4  vfmadd231ps zmm12,zmm28,zmm24
08da  vfmadd231ps zmm13,zmm28,zmm25
08e0  vfmadd231ps zmm14,zmm28,zmm26
08e6  vfmadd231ps zmm15,zmm28,zmm27
08ec  vpbroadcastd zmm28,[r11+rbp+0Ch]
08f4  vpslld zmm28,zmm28,10h
08fb  vfmadd231ps zmm16,zmm28,zmm24
0901  vfmadd231ps zmm17,zmm28,zmm25
0907  vfmadd231ps zmm18,zmm28,zmm26
090d  vfmadd231ps zmm19,zmm28,zmm27
0913  vpbroadcastd zmm28,[rbx+rbp+0Ch]
091b  vpslld zmm28,zmm28,10h
0922  vfmadd231ps zmm20,zmm28,zmm24
0928  vfmadd231ps zmm21,zmm28,zmm25
092e  vfmadd231ps zmm22,zmm28,zmm26
0934  vfmadd231ps zmm23,zmm28,zmm27
093a  vmovups zmm24,[rdx+300h]
0941  vpandd zmm24,zmm24,[rel 0E00h]
094b  vmovups zmm25,[rdx+340h]
0952  vpandd zmm25,zmm25,[rel 0E00h]
095c  vmovups zmm26,[rdx+380h]
0963  vpandd zmm26,zmm26,[rel 0E00h]
096d  vmovups zmm27,[rdx+3C0h]
0974  vpandd zmm27,zmm27,[rel 0E00h]
097e  vpbroadcastd zmm28,[rsi+rbp+0Ch]
0986  vpandd zmm28,zmm28,[rel 0E00h]
0990  vfmadd231ps zmm0,zmm28,zmm24
0996  vfmadd231ps zmm1,zmm28,zmm25
099c  vfmadd231ps zmm2,zmm28,zmm26
09a2  vfmadd231ps zmm3,zmm28,zmm27
09a8  vpbroadcastd zmm28,[r8+rbp+0Ch]
09b0  vpandd zmm28,zmm28,[rel 0E00h]
09ba  vfmadd231ps zmm4,zmm28,zmm24
09c0  vfmadd231ps zmm5,zmm28,zmm25
09c6  vfmadd231ps zmm6,zmm28,zmm26
09cc  vfmadd231ps zmm7,zmm28,zmm27
09d2  vpbroadcastd zmm28,[r9+rbp+0Ch]
09da  vpandd zmm28,zmm28,[rel 0E00h]
09e4  vfmadd231ps zmm8,zmm28,zmm24
09ea  vfmadd231ps zmm9,zmm28,zmm25
09f0  vfmadd231ps zmm10,zmm28,zmm26
09f6  vfmadd231ps zmm11,zmm28,zmm27
09fc  vpbroadcastd zmm28,[r10+rbp+0Ch]
0a04  vpandd zmm28,zmm28,[rel 0E00h]
0a0e  vfmadd231ps zmm12,zmm28,zmm24
0a14  vfmadd231ps zmm13,zmm28,zmm25
0a1a  vfmadd231ps zmm14,zmm28,zmm26
0a20  vfmadd231ps zmm15,zmm28,zmm27
0a26  vpbroadcastd zmm28,[r11+rbp+0Ch]
0a2e  vpandd zmm28,zmm28,[rel 0E00h]
0a38  vfmadd231ps zmm16,zmm28,zmm24
0a3e  vfmadd231ps zmm17,zmm28,zmm25
0a44  vfmadd231ps zmm18,zmm28,zmm26
0a4a  vfmadd231ps zmm19,zmm28,zmm27
0a50  vpbroadcastd zmm28,[rbx+rbp+0Ch]
0a58  vpandd zmm28,zmm28,[rel 0E00h]
0a62  vfmadd231ps zmm20,zmm28,zmm24
0a68  vfmadd231ps zmm21,zmm28,zmm25
0a6e  vfmadd231ps zmm22,zmm28,zmm26
0a74  vfmadd231ps zmm23,zmm28,zmm27
0a7a  add rbp,10h
0a7e  add rdx,400h
0a85  dec r13
0a88  jne near 100h
0a8e  and r12,3
0a92  test r12,r12
0a95  jle near 0D28h
0a9b  nop word [rax+rax]
0aa4  nop word [rax+rax]
0aad  nop word [rax+rax]
0ab6  nop word [rax+rax]
0abf  nop
0ac0  vmovups zmm24,[rdx]
0ac6  vpslld zmm24,zmm24,10h
0acd  vmovups zmm25,[rdx+40h]
0ad4  vpslld zmm25,zmm25,10h
0adb  vmovups zmm26,[rdx+80h]
0ae2  vpslld zmm26,zmm26,10h
0ae9  vmovups zmm27,[rdx+0C0h]
0af0  vpslld zmm27,zmm27,10h
0af7  vpbroadcastd zmm28,[rsi+rbp]
0afe  vpslld zmm28,zmm28,10h
0b05  vfmadd231ps zmm0,zmm28,zmm24
0b0b  vfmadd231ps zmm1,zmm28,zmm25
0b11  vfmadd231ps zmm2,zmm28,zmm26
0b17  vfmadd231ps zmm3,zmm28,zmm27
0b1d  vpbroadcastd zmm28,[r8+rbp]
0b24  vpslld zmm28,zmm28,10h
0b2b  vfmadd231ps zmm4,zmm28,zmm24
0b31  vfmadd231ps zmm5,zmm28,zmm25
0b37  vfmadd231ps zmm6,zmm28,zmm26
0b3d  vfmadd231ps zmm7,zmm28,zmm27
0b43  vpbroadcastd zmm28,[r9+rbp]
0b4a  vpslld zmm28,zmm28,10h
0b51  vfmadd231ps zmm8,zmm28,zmm24
0b57  vfmadd231ps zmm9,zmm28,zmm25
0b5d  vfmadd231ps zmm10,zmm28,zmm26
0b63  vfmadd231ps zmm11,zmm28,zmm27
0b69  vpbroadcastd zmm28,[r10+rbp]
0b70  vpslld zmm28,zmm28,10h
0b77  vfmadd231ps zmm12,zmm28,zmm24
0b7d  vfmadd231ps zmm13,zmm28,zmm25
0b83  vfmadd231ps zmm14,zmm28,zmm26
0b89  vfmadd231ps zmm15,zmm28,zmm27
0b8f  vpbroadcastd zmm28,[r11+rbp]
0b96  vpslld zmm28,zmm28,10h
0b9d  vfmadd231ps zmm16,zmm28,zmm24
0ba3  vfmadd231ps zmm17,zmm28,zmm25
0ba9  vfmadd231ps zmm18,zmm28,zmm26
0baf  vfmadd231ps zmm19,zmm28,zmm27
0bb5  vpbroadcastd zmm28,[rbx+rbp]
0bbc  vpslld zmm28,zmm28,10h
0bc3  vfmadd231ps zmm20,zmm28,zmm24
0bc9  vfmadd231ps zmm21,zmm28,zmm25
0bcf  vfmadd231ps zmm22,zmm28,zmm26
0bd5  vfmadd231ps zmm23,zmm28,zmm27
0bdb  vmovups zmm24,[rdx]
0be1  vpandd zmm24,zmm24,[rel 0E00h]
0beb  vmovups zmm25,[rdx+40h]
0bf2  vpandd zmm25,zmm25,[rel 0E00h]
0bfc  vmovups zmm26,[rdx+80h]
0c03  vpandd zmm26,zmm26,[rel 0E00h]
0c0d  vmovups zmm27,[rdx+0C0h]
0c14  vpandd zmm27,zmm27,[rel 0E00h]
0c1e  vpbroadcastd zmm28,[rsi+rbp]
0c25  vpandd zmm28,zmm28,[rel 0E00h]
0c2f  vfmadd231ps zmm0,zmm28,zmm24
0c35  vfmadd231ps zmm1,zmm28,zmm25
0c3b  vfmadd231ps zmm2,zmm28,zmm26
0c41  vfmadd231ps zmm3,zmm28,zmm27
0c47  vpbroadcastd zmm28,[r8+rbp]
0c4e  vpandd zmm28,zmm28,[rel 0E00h]
0c58  vfmadd231ps zmm4,zmm28,zmm24
0c5e  vfmadd231ps zmm5,zmm28,zmm25
0c64  vfmadd231ps zmm6,zmm28,zmm26
0c6a  vfmadd231ps zmm7,zmm28,zmm27
0c70  vpbroadcastd zmm28,[r9+rbp]
0c77  vpandd zmm28,zmm28,[rel 0E00h]
0c81  vfmadd231ps zmm8,zmm28,zmm24
0c87  vfmadd231ps zmm9,zmm28,zmm25
0c8d  vfmadd231ps zmm10,zmm28,zmm26
0c93  vfmadd231ps zmm11,zmm28,zmm27
0c99  vpbroadcastd zmm28,[r10+rbp]
0ca0  vpandd zmm28,zmm28,[rel 0E00h]
0caa  vfmadd231ps zmm12,zmm28,zmm24
0cb0  vfmadd231ps zmm13,zmm28,zmm25
0cb6  vfmadd231ps zmm14,zmm28,zmm26
0cbc  vfmadd231ps zmm15,zmm28,zmm27
0cc2  vpbroadcastd zmm28,[r11+rbp]
0cc9  vpandd zmm28,zmm28,[rel 0E00h]
0cd3  vfmadd231ps zmm16,zmm28,zmm24
0cd9  vfmadd231ps zmm17,zmm28,zmm25
0cdf  vfmadd231ps zmm18,zmm28,zmm26
0ce5  vfmadd231ps zmm19,zmm28,zmm27
0ceb  vpbroadcastd zmm28,[rbx+rbp]
0cf2  vpandd zmm28,zmm28,[rel 0E00h]
0cfc  vfmadd231ps zmm20,zmm28,zmm24
0d02  vfmadd231ps zmm21,zmm28,zmm25
0d08  vfmadd231ps zmm22,zmm28,zmm26
0d0e  vfmadd231ps zmm23,zmm28,zmm27
0d14  add rbp,4
0d18  add rdx,100h
0d1f  dec r12
0d22  jne near 0AC0h
0d28  dec rcx
0d2b  jne near 0C0h
0d31  mov rax,[rdi+20h]
0d35  mov rdi,[rdi+28h]
0d39  vmovups [rax],zmm0
0d3f  vmovups [rax+40h],zmm1
0d46  vmovups [rax+80h],zmm2
0d4d  vmovups [rax+0C0h],zmm3
0d54  add rax,rdi
0d57  vmovups [rax],zmm4
0d5d  vmovups [rax+40h],zmm5
0d64  vmovups [rax+80h],zmm6
0d6b  vmovups [rax+0C0h],zmm7
0d72  add rax,rdi
0d75  vmovups [rax],zmm8
0d7b  vmovups [rax+40h],zmm9
0d82  vmovups [rax+80h],zmm10
0d89  vmovups [rax+0C0h],zmm11
0d90  add rax,rdi
0d93  vmovups [rax],zmm12
0d99  vmovups [rax+40h],zmm13
0da0  vmovups [rax+80h],zmm14
0da7  vmovups [rax+0C0h],zmm15
0dae  add rax,rdi
0db1  vmovups [rax],zmm16
0db7  vmovups [rax+40h],zmm17
0dbe  vmovups [rax+80h],zmm18
0dc5  vmovups [rax+0C0h],zmm19
0dcc  add rax,rdi
0dcf  vmovups [rax],zmm20
0dd5  vmovups [rax+40h],zmm21
0ddc  vmovups [rax+80h],zmm22
0de3  vmovups [rax+0C0h],zmm23
0dea  pop r13
0dec  pop r12
0dee  pop rbp
0def  pop rbx
0df0  vzeroupper
0df3  ret
