; 80 instructions, 497 bytes, 0 spills, 0 of them in inner loops
0000  mov rax,[rdi+10h]
0004  mov rcx,[rdi+18h]
0008  mov rdx,[rdi+20h]
000c  nop word [rax+rax]
0015  nop word [rax+rax]
001e  nop word [rax+rax]
0027  nop word [rax+rax]
0030  nop word [rax+rax]
0039  nop dword [rax]
0040  mov rsi,[rdi]
0043  mov r8,[rdi+8]
0047  mov r9,[rax]
004a  add r8,r9
004d  vpmovzxbd ymm0,[rcx+0Ch]
0053  vpmovzxbd ymm1,[rcx+2Ch]
0059  vpmovzxbd ymm2,[rcx+4Ch]
005f  vpmovzxbd ymm3,[rcx+6Ch]
0065  vpmovzxbd ymm4,[rcx+8Ch]
006e  vpmovzxbd ymm5,[rcx+0ACh]
0077  movzx r9d,byte [rcx+2Ah]
007c  vmovd xmm6,r9d
0081  vpbroadcastd ymm6,xmm6
0086  vmovups ymm7,[rel 200h]
008e  vpand ymm6,ymm6,ymm7
0092  vpcmpeqd ymm6,ymm6,ymm7
0096  movzx r9d,byte [rcx+4Ah]
009b  vmovd xmm7,r9d
00a0  vpbroadcastd ymm7,xmm7
00a5  vmovups ymm8,[rel 200h]
00ad  vpand ymm7,ymm7,ymm8
00b2  vpcmpeqd ymm7,ymm7,ymm8
00b7  movzx r9d,byte [rcx+6Ah]
00bc  vmovd xmm8,r9d
00c1  vpbroadcastd ymm8,xmm8
00c6  vmovups ymm9,[rel 200h]
00ce  vpand ymm8,ymm8,ymm9
00d3  vpcmpeqd ymm8,ymm8,ymm9
00d8  movzx r9d,byte [rcx+8Ah]
00e0  vmovd xmm9,r9d
00e5  vpbroadcastd ymm9,xmm9
00ea  vmovups ymm10,[rel 200h]
00f2  vpand ymm9,ymm9,ymm10
00f7  vpcmpeqd ymm9,ymm9,ymm10
00fc  movzx r9d,byte [rcx+0AAh]
0104  vmovd xmm10,r9d
0109  vpbroadcastd ymm10,xmm10
010e  vmovups ymm11,[rel 200h]
0116  vpand ymm10,ymm10,ymm11
011b  vpcmpeqd ymm10,ymm10,ymm11
0120  mov r9,[rdi+28h]
0124  nop word [rax+rax]
012d  nop word [rax+rax]
0136  nop word [rax+rax]
013f  nop
0140  mov r10,[rcx]
0143  vmovups ymm11,[rsi+r10]
0149  vpermd ymm11,ymm0,ymm11
014e  mov r10,[rcx+20h]
0152  vmovups ymm12,[rsi+r10]
0158  vpermd ymm12,ymm1,ymm12
015d  vblendvps ymm11,ymm11,ymm12,ymm6
0163  mov r10,[rcx+40h]
0167  vmovups ymm12,[rsi+r10]
016d  vpermd ymm12,ymm2,ymm12
0172  vblendvps ymm11,ymm11,ymm12,ymm7
0178  mov r10,[rcx+60h]
017c  vmovups ymm12,[rsi+r10]
0182  vpermd ymm12,ymm3,ymm12
0187  vblendvps ymm11,ymm11,ymm12,ymm8
018d  mov r10,[rcx+80h]
0194  vmovups ymm12,[rsi+r10]
019a  vpermd ymm12,ymm4,ymm12
019f  vblendvps ymm11,ymm11,ymm12,ymm9
01a5  mov r10,[rcx+0A0h]
01ac  vmovups ymm12,[rsi+r10]
01b2  vpermd ymm12,ymm5,ymm12
01b7  vblendvps ymm11,ymm11,ymm12,ymm10
01bd  vmovups [r8],ymm11
01c2  mov r10,[rdi+30h]
01c6  add rsi,r10
01c9  mov r10,[rdi+38h]
01cd  add r8,r10
01d0  dec r9
01d3  jne near 140h
01d9  add rax,10h
01dd  add rcx,0C0h
01e4  dec rdx
01e7  jne near 40h
01ed  vzeroupper
01f0  ret
