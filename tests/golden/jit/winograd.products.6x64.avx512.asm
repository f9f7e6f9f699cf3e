; 408 instructions, 2776 bytes, 0 spills, 0 of them in inner loops
0000  push rbx
0001  push rbp
0002  push r12
0004  mov rax,[rdi]
0007  mov rcx,[rdi+18h]
000b  mov rdx,[rdi+30h]
000f  mov esi,24h
0014  nop word [rax+rax]
001d  nop word [rax+rax]
0026  nop word [rax+rax]
002f  nop word [rax+rax]
0038  nop dword [rax+rax]
0040  mov r8,rax
0043  mov r9,rdx
0046  mov r10,[rdi+48h]
004a  test r10,r10
004d  jle near 5CAh
0053  nop word [rax+rax]
005c  nop word [rax+rax]
0065  nop word [rax+rax]
006e  nop word [rax+rax]
0077  nop word [rax+rax]
0080  vpxord zmm0,zmm0,zmm0
0086  vpxord zmm1,zmm1,zmm1
008c  vpxord zmm2,zmm2,zmm2
0092  vpxord zmm3,zmm3,zmm3
0098  vpxord zmm4,zmm4,zmm4
009e  vpxord zmm5,zmm5,zmm5
00a4  vpxord zmm6,zmm6,zmm6
00aa  vpxord zmm7,zmm7,zmm7
00b0  vpxord zmm8,zmm8,zmm8
00b6  vpxord zmm9,zmm9,zmm9
00bc  vpxord zmm10,zmm10,zmm10
00c2  vpxord zmm11,zmm11,zmm11
00c8  vpxord zmm12,zmm12,zmm12
00ce  vpxord zmm13,zmm13,zmm13
00d4  vpxord zmm14,zmm14,zmm14
00da  vpxord zmm15,zmm15,zmm15
00e0  vpxord zmm16,zmm16,zmm16
00e6  vpxord zmm17,zmm17,zmm17
00ec  vpxord zmm18,zmm18,zmm18
00f2  vpxord zmm19,zmm19,zmm19
00f8  vpxord zmm20,zmm20,zmm20
00fe  vpxord zmm21,zmm21,zmm21
0104  vpxord zmm22,zmm22,zmm22
010a  vpxord zmm23,zmm23,zmm23
0110  mov r11,r8
0113  mov rbx,rcx
0116  mov rbp,[rdi+40h]
011a  nop word [rax+rax]
0123  nop word [rax+rax]
012c  nop word [rax+rax]
0135  nop word [rax+rax]
013e  xchg ax,ax
0140  mov r12d,4
0146  nop word [rax+rax]
014f  nop word [rax+rax]
0158  nop word [rax+rax]
0161  nop word [rax+rax]
016a  nop word [rax+rax]
0173  nop word [rax+rax]
017c  nop dword [rax]
0180  vmovups zmm24,[rbx]
0186  vmovups zmm25,[rbx+40h]
018d  vmovups zmm26,[rbx+80h]
0194  vmovups zmm27,[rbx+0C0h]
019b  vpbroadcastd zmm28,[r11]
01a1  vfmadd231ps zmm0,zmm28,zmm24
01a7  vfmadd231ps zmm1,zmm28,zmm25
01ad  vfmadd231ps zmm2,zmm28,zmm26
01b3  vfmadd231ps zmm3,zmm28,zmm27
01b9  vpbroadcastd zmm28,[r11+40h]
01c0  vfmadd231ps zmm4,zmm28,zmm24
01c6  vfmadd231ps zmm5,zmm28,zmm25
01cc  vfmadd231ps zmm6,zmm28,zmm26
01d2  vfmadd231ps zmm7,zmm28,zmm27
01d8  vpbroadcastd zmm28,[r11+80h]
01df  vfmadd231ps zmm8,zmm28,zmm24
01e5  vfmadd231ps zmm9,zmm28,zmm25
01eb  vfmadd231ps zmm10,zmm28,zmm26
01f1  vfmadd231ps zmm11,zmm28,zmm27
01f7  vpbroadcastd zmm28,[r11+0C0h]
01fe  vfmadd231ps zmm12,zmm28,zmm24
0204  vfmadd231ps zmm13,zmm28,zmm25
020a  vfmadd231ps zmm14,zmm28,zmm26
0210  vfmadd231ps zmm15,zmm28,zmm27
0216  vpbroadcastd zmm28,[r11+100h]
021d  vfmadd231ps zmm16,zmm28,zmm24
0223  vfmadd231ps zmm17,zmm28,zmm25
0229  vfmadd231ps zmm18,zmm28,zmm26
022f  vfmadd231ps zmm19,zmm28,zmm27
0235  vpbroadcastd zmm28,[r11+140h]
023c  vfmadd231ps zmm20,zmm28,zmm24
0242  vfmadd231ps zmm21,zmm28,zmm25
0248  vfmadd231ps zmm22,zmm28,zmm26
024e  vfmadd231ps zmm23,zmm28,zmm27
0254  vmovups zmm24,[rbx+100h]
025b  vmovups zmm25,[rbx+140h]
0262  vmovups zmm26,[rbx+180h]
0269  vmovups zmm27,[rbx+1C0h]
0270  vpbroadcastd zmm28,[r11+4]
0277  vfmadd231ps zmm0,zmm28,zmm24
027d  vfmadd231ps zmm1,zmm28,zmm25
0283  vfmadd231ps zmm2,zmm28,zmm26
0289  vfmadd231ps zmm3,zmm28,zmm27
028f  vpbroadcastd zmm28,[r11+44h]
0296  vfmadd231ps zmm4,zmm28,zmm24
029c  vfmadd231ps zmm5,zmm28,zmm25
02a2  vfmadd231ps zmm6,zmm28,zmm26
02a8  vfmadd231ps zmm7,zmm28,zmm27
02ae  vpbroadcastd zmm28,[r11+84h]
02b5  vfmadd231ps zmm8,zmm28,zmm24
02bb  vfmadd231ps zmm9,zmm28,zmm25
02c1  vfmadd231ps zmm10,zmm28,zmm26
02c7  vfmadd231ps zmm11,zmm28,zmm27
02cd  vpbroadcastd zmm28,[r11+0C4h]
02d4  vfmadd231ps zmm12,zmm28,zmm24
02da  vfmadd231ps zmm13,zmm28,zmm25
02e0  vfmadd231ps zmm14,zmm28,zmm26
02e6  vfmadd231ps zmm15,zmm28,zmm27
02ec  vpbroadcastd zmm28,[r11+104h]
02f3  vfmadd231ps zmm16,zmm28,zmm24
02f9  vfmadd231ps zmm17,zmm28,zmm25
02ff  vfmadd231ps zmm18,zmm28,zmm26
0305  vfmadd231ps zmm19,zmm28,zmm27
030b  vpbroadcastd zmm28,[r11+144h]
0312  vfmadd231ps zmm20,zmm28,zmm24
0318  vfmadd231ps zmm21,zmm28,zmm25
031e  vfmadd231ps zmm22,zmm28,zmm26
0324  vfmadd231ps zmm23,zmm28,zmm27
032a  vmovups zmm24,[rbx+200h]
0331  vmovups zmm25,[rbx+240h]
0338  vmovups zmm26,[rbx+280h]
033f  vmovups zmm27,[rbx+2C0h]
0346  vpbroadcastd zmm28,[r11+8]
034d  vfmadd231ps zmm0,zmm28,zmm24
0353  vfmadd231ps zmm1,zmm28,zmm25
0359  vfmadd231ps zmm2,zmm28,zmm26
035f  vfmadd231ps zmm3,zmm28,zmm27
0365  vpbroadcastd zmm28,[r11+48h]
036c  vfmadd231ps zmm4,zmm28,zmm24
0372  vfmadd231ps zmm5,zmm28,zmm25
0378  vfmadd231ps zmm6,zmm28,zmm26
037e  vfmadd231ps zmm7,zmm28,zmm27
0384  vpbroadcastd zmm28,[r11+88h]
038b  vfmadd231ps zmm8,zmm28,zmm24
0391  vfmadd231ps zmm9,zmm28,zmm25
0397  vfmadd231ps zmm10,zmm28,zmm26
039d  vfmadd231ps zmm11,zmm28,zmm27
03a3  vpbroadcastd zmm28,[r11+0C8h]
03aa  vfmadd231ps zmm12,zmm28,zmm24
03b0  vfmadd231ps zmm13,zmm28,zmm25
03b6  vfmadd231ps zmm14,zmm28,zmm26
03bc  vfmadd231ps zmm15,zmm28,zmm27
03c2  vpbroadcastd zmm28,[r11+108h]
03c9  vfmadd231ps zmm16,zmm28,zmm24
03cf  vfmadd231ps zmm17,zmm28,zmm25
03d5  vfmadd231ps zmm18,zmm28,zmm26
03db  vfmadd231ps zmm19,zmm28,zmm27
03e1  vpbroadcastd zmm28,[r11+148h]
03e8  vfmadd231ps zmm20,zmm28,zmm24
03ee  vfmadd231ps zmm21,zmm28,zmm25
03f4  vfmadd231ps zmm22,zmm28,zmm26
03fa  vfmadd231ps zmm23,zmm28,zmm27
0400  vmovups zmm24,[rbx+300h]
0407  vmovups zmm25,[rbx+340h]
040e  vmovups zmm26,[rbx+380h]
0415  vmovups zmm27,[rbx+3C0h]
041c  vpbroadcastd zmm28,[r11+0Ch]
0423  vfmadd231ps zmm0,zmm28,zmm24
0429  vfmadd231ps zmm1,zmm28,zmm25
042f  vfmadd231ps zmm2,zmm28,zmm26
0435  vfmadd231ps zmm3,zmm28,zmm27
043b  vpbroadcastd zmm28,[r11+4Ch]
0442  vfmadd231ps zmm4,zmm28,zmm24
0448  vfmadd231ps zmm5,zmm28,zmm25
044e  vfmadd231ps zmm6,zmm28,zmm26
0454  vfmadd231ps zmm7,zmm28,zmm27
045a  vpbroadcastd zmm28,[r11+8Ch]
0461  vfmadd231ps zmm8,zmm28,zmm24
0467  vfmadd231ps zmm9,zmm28,zmm25
046d  vfmadd231ps zmm10,zmm28,zmm26
0473  vfmadd231ps zmm11,zmm28,zmm27
0479  vpbroadcastd zmm28,[r11+0CCh]
0480  vfmadd231ps zmm12,zmm28,zmm24
0486  vfmadd231ps zmm13,zmm28,zmm25
048c  vfmadd231ps zmm14,zmm28,zmm26
0492  vfmadd231ps zmm15,zmm28,zmm27
0498  vpbroadcastd zmm28,[r11+10Ch]
049f  vfmadd231ps zmm16,zmm28,zmm24
04a5  vfmadd231ps zmm17,zmm28,zmm25
04ab  vfmadd231ps zmm18,zmm28,zmm26
04b1  vfmadd231ps zmm19,zmm28,zmm27
04b7  vpbroadcastd zmm28,[r11+14Ch]
04be  vfmadd231ps zmm20,zmm28,zmm24
04c4  vfmadd231ps zmm21,zmm28,zmm25
04ca  vfmadd231ps zmm22,zmm28,zmm26
04d0  vfmadd231ps zmm23,zmm28,zmm27
04d6  add r11,10h
04da  add rbx,400h
04e1  dec r12
04e4  jne near 180h
04ea  mov r12,[rdi+10h]
04ee  add r11,r12
04f1  mov r12,[rdi+28h]
04f5  add rbx,r12
04f8  sub r11,40h
04fc  sub rbx,1000h
0503  dec rbp
0506  jne near 140h
050c  vmovups [r9],zmm0
0512  vmovups [r9+40h],zmm1
0519  vmovups [r9+80h],zmm2
0520  vmovups [r9+0C0h],zmm3
0527  vmovups [r9+100h],zmm4
052e  vmovups [r9+140h],zmm5
0535  vmovups [r9+180h],zmm6
053c  vmovups [r9+1C0h],zmm7
0543  vmovups [r9+200h],zmm8
054a  vmovups [r9+240h],zmm9
0551  vmovups [r9+280h],zmm10
0558  vmovups [r9+2C0h],zmm11
055f  vmovups [r9+300h],zmm12
0566  vmovups [r9+340h],zmm13
056d  vmovups [r9+380h],zmm14
0574  vmovups [r9+3C0h],zmm15
057b  vmovups [r9+400h],zmm16
0582  vmovups [r9+440h],zmm17
0589  vmovups [r9+480h],zmm18
0590  vmovups [r9+4C0h],zmm19
0597  vmovups [r9+500h],zmm20
059e  vmovups [r9+540h],zmm21
05a5  vmovups [r9+580h],zmm22
05ac  vmovups [r9+5C0h],zmm23
05b3  add r9,600h
05ba  add r8,180h
05c1  dec r10
05c4  jne near 80h
05ca  mov r10,[rdi+50h]
05ce  test r10,r10
05d1  jle near 0AB2h
05d7  nop word [rax+rax]
05e0  nop word [rax+rax]
05e9  nop word [rax+rax]
05f2  nop word [rax+rax]
05fb  nop dword [rax+rax]
0600  vpxord zmm0,zmm0,zmm0
0606  vpxord zmm1,zmm1,zmm1
060c  vpxord zmm2,zmm2,zmm2
0612  vpxord zmm3,zmm3,zmm3
0618  vpxord zmm4,zmm4,zmm4
061e  vpxord zmm5,zmm5,zmm5
0624  vpxord zmm6,zmm6,zmm6
062a  vpxord zmm7,zmm7,zmm7
0630  vpxord zmm8,zmm8,zmm8
0636  vpxord zmm9,zmm9,zmm9
063c  vpxord zmm10,zmm10,zmm10
0642  vpxord zmm11,zmm11,zmm11
0648  vpxord zmm12,zmm12,zmm12
064e  vpxord zmm13,zmm13,zmm13
0654  vpxord zmm14,zmm14,zmm14
065a  vpxord zmm15,zmm15,zmm15
0660  vpxord zmm16,zmm16,zmm16
0666  vpxord zmm17,zmm17,zmm17
066c  vpxord zmm18,zmm18,zmm18
0672  vpxord zmm19,zmm19,zmm19
0678  mov r11,r8
067b  mov rbx,rcx
067e  mov rbp,[rdi+40h]
0682  nop word [rax+rax]
068b  nop word [rax+rax]
0694  nop word [rax+rax]
069d  nop word [rax+rax]
06a6  nop word [rax+rax]
06af  nop word [rax+rax]
06b8  nop dword [rax+rax]
06c0  mov r12d,4
06c6  nop word [rax+rax]
06cf  nop word [rax+rax]
06d8  nop word [rax+rax]
06e1  nop word [rax+rax]
06ea  nop word [rax+rax]
06f3  nop word [rax+rax]
06fc  nop dword [rax]
0700  vmovups zmm20,[rbx]
0706  vmovups zmm21,[rbx+40h]
070d  vmovups zmm22,[rbx+80h]
0714  vmovups zmm23,[rbx+0C0h]
071b  vpbroadcastd zmm24,[r11]
0721  vfmadd231ps zmm0,zmm24,zmm20
0727  vfmadd231ps zmm1,zmm24,zmm21
072d  vfmadd231ps zmm2,zmm24,zmm22
0733  vfmadd231ps zmm3,zmm24,zmm23
0739  vpbroadcastd zmm24,[r11+40h]
0740  vfmadd231ps zmm4,zmm24,zmm20
0746  vfmadd231ps zmm5,zmm24,zmm21
074c  vfmadd231ps zmm6,zmm24,zmm22
0752  vfmadd231ps zmm7,zmm24,zmm23
0758  vpbroadcastd zmm24,[r11+80h]
075f  vfmadd231ps zmm8,zmm24,zmm20
0765  vfmadd231ps zmm9,zmm24,zmm21
076b  vfmadd231ps zmm10,zmm24,zmm22
0771  vfmadd231ps zmm11,zmm24,zmm23
0777  vpbroadcastd zmm24,[r11+0C0h]
077e  vfmadd231ps zmm12,zmm24,zmm20
0784  vfmadd231ps zmm13,zmm24,zmm21
078a  vfmadd231ps zmm14,zmm24,zmm22
0790  vfmadd231ps zmm15,zmm24,zmm23
0796  vpbroadcastd zmm24,[r11+100h]
079d  vfmadd231ps zmm16,zmm24,zmm20
07a3  vfmadd231ps zmm17,zmm24,zmm21
07a9  vfmadd231ps zmm18,zmm24,zmm22
07af  vfmadd231ps zmm19,zmm24,zmm23
07b5  vmovups zmm20,[rbx+100h]
07bc  vmovups zmm21,[rbx+140h]
07c3  vmovups zmm22,[rbx+180h]
07ca  vmovups zmm23,[rbx+1C0h]
07d1  vpbroadcastd zmm24,[r11+4]
07d8  vfmadd231ps zmm0,zmm24,zmm20
07de  vfmadd231ps zmm1,zmm24,zmm21
07e4  vfmadd231ps zmm2,zmm24,zmm22
07ea  vfmadd231ps zmm3,zmm24,zmm23
07f0  vpbroadcastd zmm24,[r11+44h]
07f7  vfmadd231ps zmm4,zmm24,zmm20
07fd  vfmadd231ps zmm5,zmm24,zmm21
0803  vfmadd231ps zmm6,zmm24,zmm22
0809  vfmadd231ps zmm7,zmm24,zmm23
080f  vpbroadcastd zmm24,[r11+84h]
0816  vfmadd231ps zmm8,zmm24,zmm20
081c  vfmadd231ps zmm9,zmm24,zmm21
0822  vfmadd231ps zmm10,zmm24,zmm22
0828  vfmadd231ps zmm11,zmm24,zmm23
082e  vpbroadcastd zmm24,[r11+0C4h]
0835  vfmadd231ps zmm12,zmm24,zmm20
083b  vfmadd231ps zmm13,zmm24,zmm21
0841  vfmadd231ps zmm14,zmm24,zmm22
0847  vfmadd231ps zmm15,zmm24,zmm23
084d  vpbroadcastd zmm24,[r11+104h]
0854  vfmadd231ps zmm16,zmm24,zmm20
085a  vfmadd231ps zmm17,zmm24,zmm21
0860  vfmadd231ps zmm18,zmm24,zmm22
0866  vfmadd231ps zmm19,zmm24,zmm23
086c  vmovups zmm20,[rbx+200h]
0873  vmovups zmm21,[rbx+240h]
087a  vmovups zmm22,[rbx+280h]
0881  vmovups zmm23,[rbx+2C0h]
0888  vpbroadcastd zmm24,[r11+8]
088f  vfmadd231ps zmm0,zmm24,zmm20
0895  vfmadd231ps zmm1,zmm24,zmm21
089b  vfmadd231ps zmm2,zmm24,zmm22
08a1  vfmadd231ps zmm3,zmm24,zmm23
08a7  vpbroadcastd zmm24,[r11+48h]
08ae  vfmadd231ps zmm4,zmm24,zmm20
08b4  vfmadd231ps zmm5,zmm24,zmm21
08ba  vfmadd231ps zmm6,zmm24,zmm22
08c0  vfmadd231ps zmm7,zmm24,zmm23
08c6  vpbroadcastd zmm24,[r11+88h]
08cd  vfmadd231ps zmm8,zmm24,zmm20
08d3  vfmadd231ps zmm9,zmm24,zmm21
08d9  vfmadd231ps zmm10,zmm24,zmm22
08df  vfmadd231ps zmm11,zmm24,zmm23
08e5  vpbroadcastd zmm24,[r11+0C8h]
08ec  vfmadd231ps zmm12,zmm24,zmm20
08f2  vfmadd231ps zmm13,zmm24,zmm21
08f8  vfmadd231ps zmm14,zmm24,zmm22
08fe  vfmadd231ps zmm15,zmm24,zmm23
0904  vpbroadcastd zmm24,[r11+108h]
090b  vfmadd231ps zmm16,zmm24,zmm20
0911  vfmadd231ps zmm17,zmm24,zmm21
0917  vfmadd231ps zmm18,zmm24,zmm22
091d  vfmadd231ps zmm19,zmm24,zmm23
0923  vmovups zmm20,[rbx+300h]
092a  vmovups zmm21,[rbx+340h]
0931  vmovups zmm22,[rbx+380h]
0938  vmovups zmm23,[rbx+3C0h]
093f  vpbroadcastd zmm24,[r11+0Ch]
0946  vfmadd231ps zmm0,zmm24,zmm20
094c  vfmadd231ps zmm1,zmm24,zmm21
0952  vfmadd231ps zmm2,zmm24,zmm22
0958  vfmadd231ps zmm3,zmm24,zmm23
095e  vpbroadcastd zmm24,[r11+4Ch]
0965  vfmadd231ps zmm4,zmm24,zmm20
096b  vfmadd231ps zmm5,zmm24,zmm21
0971  vfmadd231ps zmm6,zmm24,zmm22
0977  vfmadd231ps zmm7,zmm24,zmm23
097d  vpbroadcastd zmm24,[r11+8Ch]
0984  vfmadd231ps zmm8,zmm24,zmm20
098a  vfmadd231ps zmm9,zmm24,zmm21
0990  vfmadd231ps zmm10,zmm24,zmm22
0996  vfmadd231ps zmm11,zmm24,zmm23
099c  vpbroadcastd zmm24,[r11+0CCh]
09a3  vfmadd231ps zmm12,zmm24,zmm20
09a9  vfmadd231ps zmm13,zmm24,zmm21
09af  vfmadd231ps zmm14,zmm24,zmm22
09b5  vfmadd231ps zmm15,zmm24,zmm23
09bb  vpbroadcastd zmm24,[r11+10Ch]
09c2  vfmadd231ps zmm16,zmm24,zmm20
09c8  vfmadd231ps zmm17,zmm24,zmm21
09ce  vfmadd231ps zmm18,zmm24,zmm22
09d4  vfmadd231ps zmm19,zmm24,zmm23
09da  add r11,10h
09de  add rbx,400h
09e5  dec r12
09e8  jne near 700h
09ee  mov r12,[rdi+10h]
09f2  add r11,r12
09f5  mov r12,[rdi+28h]
09f9  add rbx,r12
09fc  sub r11,40h
0a00  sub rbx,1000h
0a07  dec rbp
0a0a  jne near 6C0h
0a10  vmovups [r9],zmm0
0a16  vmovups [r9+40h],zmm1
0a1d  vmovups [r9+80h],zmm2
0a24  vmovups [r9+0C0h],zmm3
0a2b  vmovups [r9+100h],zmm4
0a32  vmovups [r9+140h],zmm5
0a39  vmovups [r9+180h],zmm6
0a40  vmovups [r9+1C0h],zmm7
0a47  vmovups [r9+200h],zmm8
0a4e  vmovups [r9+240h],zmm9
0a55  vmovups [r9+280h],zmm10
0a5c  vmovups [r9+2C0h],zmm11
0a63  vmovups [r9+300h],zmm12
0a6a  vmovups [r9+340h],zmm13
0a71  vmovups [r9+380h],zmm14
0a78  vmovups [r9+3C0h],zmm15
0a7f  vmovups [r9+400h],zmm16
0a86  vmovups [r9+440h],zmm17
0a8d  vmovups [r9+480h],zmm18
0a94  vmovups [r9+4C0h],zmm19
0a9b  add r9,500h
0aa2  add r8,140h
0aa9  dec r10
0aac  jne near 600h
0ab2  mov r8,[rdi+8]
0ab6  add rax,r8
0ab9  mov r8,[rdi+20h]
0abd  add rcx,r8
0ac0  mov r8,[rdi+38h]
0ac4  add rdx,r8
0ac7  dec rsi
0aca  jne near 40h
0ad0  pop r12
0ad2  pop rbp
0ad3  pop rbx
0ad4  vzeroupper
0ad7  ret
