; 54 instructions, 270 bytes, 0 spills, 0 of them in inner loops
0000  mov rax,[rdi]
0003  mov rcx,[rdi+8]
0007  mov rdx,[rdi+10h]
000b  mov rsi,[rdi+18h]
000f  mov rdi,[rdi+20h]
0013  vpbroadcastd ymm0,[rel 110h]
001c  test rdx,rdx
001f  jle near 10Ah
0025  nop word [rax+rax]
002e  nop word [rax+rax]
0037  nop word [rax+rax]
0040  vmovups ymm1,[rax]
0044  vpslld ymm2,ymm1,18h
0049  vpsrad ymm2,ymm2,18h
004e  vcvtdq2ps ymm2,ymm2
0052  vpslld ymm3,ymm1,10h
0057  vpsrad ymm3,ymm3,18h
005c  vcvtdq2ps ymm3,ymm3
0060  vpsrld ymm2,ymm2,10h
0065  vpand ymm3,ymm3,ymm0
0069  vpor ymm2,ymm2,ymm3
006d  vmovups [rcx],ymm2
0071  vpslld ymm2,ymm1,8
0076  vpsrad ymm2,ymm2,18h
007b  vcvtdq2ps ymm2,ymm2
007f  vpsrad ymm1,ymm1,18h
0084  vcvtdq2ps ymm1,ymm1
0088  vpsrld ymm2,ymm2,10h
008d  vpand ymm1,ymm1,ymm0
0091  vpor ymm1,ymm2,ymm1
0095  vmovups [rcx+40h],ymm1
009a  vmovups ymm1,[rax+20h]
009f  vpslld ymm2,ymm1,18h
00a4  vpsrad ymm2,ymm2,18h
00a9  vcvtdq2ps ymm2,ymm2
00ad  vpslld ymm3,ymm1,10h
00b2  vpsrad ymm3,ymm3,18h
00b7  vcvtdq2ps ymm3,ymm3
00bb  vpsrld ymm2,ymm2,10h
00c0  vpand ymm3,ymm3,ymm0
00c4  vpor ymm2,ymm2,ymm3
00c8  vmovups [rcx+20h],ymm2
00cd  vpslld ymm2,ymm1,8
00d2  vpsrad ymm2,ymm2,18h
00d7  vcvtdq2ps ymm2,ymm2
00db  vpsrad ymm1,ymm1,18h
00e0  vcvtdq2ps ymm1,ymm1
00e4  vpsrld ymm2,ymm2,10h
00e9  vpand ymm1,ymm1,ymm0
00ed  vpor ymm1,ymm2,ymm1
00f1  vmovups [rcx+60h],ymm1
00f6  add rax,40h
00fa  add rcx,80h
0101  dec rdx
0104  jne near 40h
010a  vzeroupper
010d  ret
