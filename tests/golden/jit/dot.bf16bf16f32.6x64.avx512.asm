; 360 instructions, 2354 bytes, 0 spills, 0 of them in inner loops
0000  push rbx
0001  push rbp
0002  push r12
0004  vpxord zmm0,zmm0,zmm0
000a  vpxord zmm1,zmm1,zmm1
0010  vpxord zmm2,zmm2,zmm2
0016  vpxord zmm3,zmm3,zmm3
001c  vpxord zmm4,zmm4,zmm4
0022  vpxord zmm5,zmm5,zmm5
0028  vpxord zmm6,zmm6,zmm6
002e  vpxord zmm7,zmm7,zmm7
0034  vpxord zmm8,zmm8,zmm8
003a  vpxord zmm9,zmm9,zmm9
0040  vpxord zmm10,zmm10,zmm10
0046  vpxord zmm11,zmm11,zmm11
004c  vpxord zmm12,zmm12,zmm12
0052  vpxord zmm13,zmm13,zmm13
0058  vpxord zmm14,zmm14,zmm14
005e  vpxord zmm15,zmm15,zmm15
0064  vpxord zmm16,zmm16,zmm16
006a  vpxord zmm17,zmm17,zmm17
0070  vpxord zmm18,zmm18,zmm18
0076  vpxord zmm19,zmm19,zmm19
007c  vpxord zmm20,zmm20,zmm20
0082  vpxord zmm21,zmm21,zmm21
0088  vpxord zmm22,zmm22,zmm22
008e  vpxord zmm23,zmm23,zmm23
0094  mov rax,[rdi]
0097  mov rcx,[rdi+8]
009b  test rcx,rcx
009e  jle near 871h
00a4  nop word [rax+rax]
00ad  nop word [rax+rax]
00b6  nop word [rax+rax]
00bf  nop
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
00ef  shr r12,1
00f3  test r12,r12
00f6  jle near 5CAh
00fc  nop dword [rax]
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
0221  vpandd zmm24,zmm24,[rel 940h]
022b  vmovups zmm25,[rdx+40h]
0232  vpandd zmm25,zmm25,[rel 940h]
023c  vmovups zmm26,[rdx+80h]
0243  vpandd zmm26,zmm26,[rel 940h]
024d  vmovups zmm27,[rdx+0C0h]
0254  vpandd zmm27,zmm27,[rel 940h]
025e  vpbroadcastd zmm28,[rsi+rbp]
0265  vpandd zmm28,zmm28,[rel 940h]
026f  vfmadd231ps zmm0,zmm28,zmm24
0275  vfmadd231ps zmm1,zmm28,zmm25
027b  vfmadd231ps zmm2,zmm28,zmm26
0281  vfmadd231ps zmm3,zmm28,zmm27
0287  vpbroadcastd zmm28,[r8+rbp]
028e  vpandd zmm28,zmm28,[rel 940h]
0298  vfmadd231ps zmm4,zmm28,zmm24
029e  vfmadd231ps zmm5,zmm28,zmm25
02a4  vfmadd231ps zmm6,zmm28,zmm26
02aa  vfmadd231ps zmm7,zmm28,zmm27
02b0  vpbroadcastd zmm28,[r9+rbp]
02b7  vpandd zmm28,zmm28,[rel 940h]
02c1  vfmadd231ps zmm8,zmm28,zmm24
02c7  vfmadd231ps zmm9,zmm28,zmm25
02cd  vfmadd231ps zmm10,zmm28,zmm26
02d3  vfmadd231ps zmm11,zmm28,zmm27
02d9  vpbroadcastd zmm28,[r10+rbp]
02e0  vpandd zmm28,zmm28,[rel 940h]
02ea  vfmadd231ps zmm12,zmm28,zmm24
02f0  vfmadd231ps zmm13,zmm28,zmm25
02f6  vfmadd231ps zmm14,zmm28,zmm26
02fc  vfmadd231ps zmm15,zmm28,zmm27
0302  vpbroadcastd zmm28,[r11+rbp]
0309  vpandd zmm28,zmm28,[rel 940h]
0313  vfmadd231ps zmm16,zmm28,zmm24
0319  vfmadd231ps zmm17,zmm28,zmm25
031f  vfmadd231ps zmm18,zmm28,zmm26
0325  vfmadd231ps zmm19,zmm28,zmm27
032b  vpbroadcastd zmm28,[rbx+rbp]
0332  vpandd zmm28,zmm28,[rel 940h]
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
047d  vpandd zmm24,zmm24,[rel 940h]
0487  vmovups zmm25,[rdx+140h]
048e  vpandd zmm25,zmm25,[rel 940h]
0498  vmovups zmm26,[rdx+180h]
049f  vpandd zmm26,zmm26,[rel 940h]
04a9  vmovups zmm27,[rdx+1C0h]
04b0  vpandd zmm27,zmm27,[rel 940h]
04ba  vpbroadcastd zmm28,[rsi+rbp+4]
04c2  vpandd zmm28,zmm28,[rel 940h]
04cc  vfmadd231ps zmm0,zmm28,zmm24
04d2  vfmadd231ps zmm1,zmm28,zmm25
04d8  vfmadd231ps zmm2,zmm28,zmm26
04de  vfmadd231ps zmm3,zmm28,zmm27
04e4  vpbroadcastd zmm28,[r8+rbp+4]
04ec  vpandd zmm28,zmm28,[rel 940h]
04f6  vfmadd231ps zmm4,zmm28,zmm24
04fc  vfmadd231ps zmm5,zmm28,zmm25
0502  vfmadd231ps zmm6,zmm28,zmm26
0508  vfmadd231ps zmm7,zmm28,zmm27
050e  vpbroadcastd zmm28,[r9+rbp+4]
0516  vpandd zmm28,zmm28,[rel 940h]
0520  vfmadd231ps zmm8,zmm28,zmm24
0526  vfmadd231ps zmm9,zmm28,zmm25
052c  vfmadd231ps zmm10,zmm28,zmm26
0532  vfmadd231ps zmm11,zmm28,zmm27
0538  vpbroadcastd zmm28,[r10+rbp+4]
0540  vpandd zmm28,zmm28,[rel 940h]
054a  vfmadd231ps zmm12,zmm28,zmm24
0550  vfmadd231ps zmm13,zmm28,zmm25
0556  vfmadd231ps zmm14,zmm28,zmm26
055c  vfmadd231ps zmm15,zmm28,zmm27
0562  vpbroadcastd zmm28,[r11+rbp+4]
056a  vpandd zmm28,zmm28,[rel 940h]
0574  vfmadd231ps zmm16,zmm28,zmm24
057a  vfmadd231ps zmm17,zmm28,zmm25
0580  vfmadd231ps zmm18,zmm28,zmm26
0586  vfmadd231ps zmm19,zmm28,zmm27
058c  vpbroadcastd zmm28,[rbx+rbp+4]
0594  vpandd zmm28,zmm28,[rel 940h]
059e  vfmadd231ps zmm20,zmm28,zmm24
05a4  vfmadd231ps zmm21,zmm28,zmm25
05aa  vfmadd231ps zmm22,zmm28,zmm26
05b0  vfmadd231ps zmm23,zmm28,zmm27
05b6  add rbp,8
05ba  add rdx,200h
05c1  dec r12
05c4  jne near 100h
05ca  mov r12,[rdi+10h]
05ce  and r12,1
05d2  test r12,r12
05d5  jle near 868h
05db  nop word [rax+rax]
05e4  nop word [rax+rax]
05ed  nop word [rax+rax]
05f6  nop word [rax+rax]
05ff  nop
0600  vmovups zmm24,[rdx]
0606  vpslld zmm24,zmm24,10h
060d  vmovups zmm25,[rdx+40h]
0614  vpslld zmm25,zmm25,10h
061b  vmovups zmm26,[rdx+80h]
0622  vpslld zmm26,zmm26,10h
0629  vmovups zmm27,[rdx+0C0h]
0630  vpslld zmm27,zmm27,10h
0637  vpbroadcastd zmm28,[rsi+rbp]
063e  vpslld zmm28,zmm28,10h
0645  vfmadd231ps zmm0,zmm28,zmm24
064b  vfmadd231ps zmm1,zmm28,zmm25
0651  vfmadd231ps zmm2,zmm28,zmm26
0657  vfmadd231ps zmm3,zmm28,zmm27
065d  vpbroadcastd zmm28,[r8+rbp]
0664  vpslld zmm28,zmm28,10h
066b  vfmadd231ps zmm4,zmm28,zmm24
0671  vfmadd231ps zmm5,zmm28,zmm25
0677  vfmadd231ps zmm6,zmm28,zmm26
067d  vfmadd231ps zmm7,zmm28,zmm27
0683  vpbroadcastd zmm28,[r9+rbp]
068a  vpslld zmm28,zmm28,10h
0691  vfmadd231ps zmm8,zmm28,zmm24
0697  vfmadd231ps zmm9,zmm28,zmm25
069d  vfmadd231ps zmm10,zmm28,zmm26
06a3  vfmadd231ps zmm11,zmm28,zmm27
06a9  vpbroadcastd zmm28,[r10+rbp]
06b0  vpslld zmm28,zmm28,10h
06b7  vfmadd231ps zmm12,zmm28,zmm24
06bd  vfmadd231ps zmm13,zmm28,zmm25
06c3  vfmadd231ps zmm14,zmm28,zmm26
06c9  vfmadd231ps zmm15,zmm28,zmm27
06cf  vpbroadcastd zmm28,[r11+rbp]
06d6  vpslld zmm28,zmm28,10h
06dd  vfmadd231ps zmm16,zmm28,zmm24
06e3  vfmadd231ps zmm17,zmm28,zmm25
06e9  vfmadd231ps zmm18,zmm28,zmm26
06ef  vfmadd231ps zmm19,zmm28,zmm27
06f5  vpbroadcastd zmm28,[rbx+rbp]
06fc  vpslld zmm28,zmm28,10h
0703  vfmadd231ps zmm20,zmm28,zmm24
0709  vfmadd231ps zmm21,zmm28,zmm25
070f  vfmadd231ps zmm22,zmm28,zmm26
0715  vfmadd231ps zmm23,zmm28,zmm27
071b  vmovups zmm24,[rdx]
0721  vpandd zmm24,zmm24,[rel 940h]
072b  vmovups zmm25,[rdx+40h]
0732  vpandd zmm25,zmm25,[rel 940h]
073c  vmovups zmm26,[rdx+80h]
0743  vpandd zmm26,zmm26,[rel 940h]
074d  vmovups zmm27,[rdx+0C0h]
0754  vpandd zmm27,zmm27,[rel 940h]
075e  vpbroadcastd zmm28,[rsi+rbp]
0765  vpandd zmm28,zmm28,[rel 940h]
076f  vfmadd231ps zmm0,zmm28,zmm24
0775  vfmadd231ps zmm1,zmm28,zmm25
077b  vfmadd231ps zmm2,zmm28,zmm26
0781  vfmadd231ps zmm3,zmm28,zmm27
0787  vpbroadcastd zmm28,[r8+rbp]
078e  vpandd zmm28,zmm28,[rel 940h]
0798  vfmadd231ps zmm4,zmm28,zmm24
079e  vfmadd231ps zmm5,zmm28,zmm25
07a4  vfmadd231ps zmm6,zmm28,zmm26
07aa  vfmadd231ps zmm7,zmm28,zmm27
07b0  vpbroadcastd zmm28,[r9+rbp]
07b7  vpandd zmm28,zmm28,[rel 940h]
07c1  vfmadd231ps zmm8,zmm28,zmm24
07c7  vfmadd231ps zmm9,zmm28,zmm25
07cd  vfmadd231ps zmm10,zmm28,zmm26
07d3  vfmadd231ps zmm11,zmm28,zmm27
07d9  vpbroadcastd zmm28,[r10+rbp]
07e0  vpandd zmm28,zmm28,[rel 940h]
07ea  vfmadd231ps zmm12,zmm28,zmm24
07f0  vfmadd231ps zmm13,zmm28,zmm25
07f6  vfmadd231ps zmm14,zmm28,zmm26
07fc  vfmadd231ps zmm15,zmm28,zmm27
0802  vpbroadcastd zmm28,[r11+rbp]
0809  vpandd zmm28,zmm28,[rel 940h]
0813  vfmadd231ps zmm16,zmm28,zmm24
0819  vfmadd231ps zmm17,zmm28,zmm25
081f  vfmadd231ps zmm18,zmm28,zmm26
0825  vfmadd231ps zmm19,zmm28,zmm27
082b  vpbroadcastd zmm28,[rbx+rbp]
0832  vpandd zmm28,zmm28,[rel 940h]
083c  vfmadd231ps zmm20,zmm28,zmm24
0842  vfmadd231ps zmm21,zmm28,zmm25
0848  vfmadd231ps zmm22,zmm28,zmm26
084e  vfmadd231ps zmm23,zmm28,zmm27
0854  add rbp,4
0858  add rdx,100h
085f  dec r12
0862  jne near 600h
0868  dec rcx
086b  jne near 0C0h
0871  mov rax,[rdi+20h]
0875  mov rdi,[rdi+28h]
0879  vmovups [rax],zmm0
087f  vmovups [rax+40h],zmm1
0886  vmovups [rax+80h],zmm2
088d  vmovups [rax+0C0h],zmm3
0894  add rax,rdi
0897  vmovups [rax],zmm4
089d  vmovups [rax+40h],zmm5
08a4  vmovups [rax+80h],zmm6
08ab  vmovups [rax+0C0h],zmm7
08b2  add rax,rdi
08b5  vmovups [rax],zmm8
08bb  vmovups [rax+40h],zmm9
08c2  vmovups [rax+80h],zmm10
08c9  vmovups [rax+0C0h],zmm11
08d0  add rax,rdi
08d3  vmovups [rax],zmm12
08d9  vmovups [rax+40h],zmm13
08e0  vmovups [rax+80h],zmm14
08e7  vmovups [rax+0C0h],zmm15
08ee  add rax,rdi
08f1  vmovups [rax],zmm16
08f7  vmovups [rax+40h],zmm17
08fe  vmovups [rax+80h],zmm18
0905  vmovups [rax+0C0h],zmm19
090c  add rax,rdi
090f  vmovups [rax],zmm20
0915  vmovups [rax+40h],zmm21
091c  vmovups [rax+80h],zmm22
0923  vmovups [rax+0C0h],zmm23
092a  pop r12
092c  pop rbp
092d  pop rbx
092e  vzeroupper
0931  ret
