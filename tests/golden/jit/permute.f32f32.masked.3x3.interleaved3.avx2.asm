; 153 instructions, 860 bytes, 0 spills, 0 of them in inner loops
0000  mov rax,[rdi+10h]
0004  mov rcx,[rdi+18h]
0008  nop word [rax+rax]
0011  nop word [rax+rax]
001a  nop word [rax+rax]
0023  nop word [rax+rax]
002c  nop word [rax+rax]
0035  nop word [rax+rax]
003e  xchg ax,ax
0040  mov rdx,[rdi]
0043  mov rsi,[rax]
0046  add rdx,rsi
0049  mov rsi,[rdi+20h]
004d  mov r8,[rsi]
0050  mov r9,[rdi+30h]
0054  movzx r9d,byte [r9]
0058  vmovd xmm0,r9d
005d  vpbroadcastd ymm0,xmm0
0062  vmovups ymm1,[rel 3E0h]
006a  vpand ymm0,ymm0,ymm1
006e  vpcmpeqd ymm0,ymm0,ymm1
0072  vmaskmovps ymm0,ymm0,[rdx+r8]
0078  mov r8,[rsi+8]
007c  mov r9,[rdi+30h]
0080  movzx r9d,byte [r9+2]
0085  vmovd xmm1,r9d
008a  vpbroadcastd ymm1,xmm1
008f  vmovups ymm2,[rel 3E0h]
0097  vpand ymm1,ymm1,ymm2
009b  vpcmpeqd ymm1,ymm1,ymm2
009f  vmaskmovps ymm1,ymm1,[rdx+r8]
00a5  mov rsi,[rsi+10h]
00a9  mov r8,[rdi+30h]
00ad  movzx r8d,byte [r8+4]
00b2  vmovd xmm2,r8d
00b7  vpbroadcastd ymm2,xmm2
00bc  vmovups ymm3,[rel 3E0h]
00c4  vpand ymm2,ymm2,ymm3
00c8  vpcmpeqd ymm2,ymm2,ymm3
00cc  vmaskmovps ymm2,ymm2,[rdx+rsi]
00d2  vmovups ymm3,[rel 360h]
00da  vpermd ymm0,ymm3,ymm0
00df  vmovups ymm3,[rel 380h]
00e7  vpermd ymm1,ymm3,ymm1
00ec  vmovups ymm3,[rel 3A0h]
00f4  vpermd ymm2,ymm3,ymm2
00f9  vmovups ymm3,[rel 400h]
0101  vblendvps ymm3,ymm0,ymm1,ymm3
0107  vmovups ymm4,[rel 420h]
010f  vblendvps ymm3,ymm3,ymm2,ymm4
0115  vmovups ymm4,[rel 420h]
011d  vblendvps ymm4,ymm0,ymm1,ymm4
0123  vmovups ymm5,[rel 440h]
012b  vblendvps ymm4,ymm4,ymm2,ymm5
0131  vmovups ymm5,[rel 440h]
0139  vblendvps ymm0,ymm0,ymm1,ymm5
013f  vmovups ymm1,[rel 400h]
0147  vblendvps ymm0,ymm0,ymm2,ymm1
014d  mov rdx,[rdi+8]
0151  mov rsi,[rax+8]
0155  add rdx,rsi
0158  mov rsi,[rdi+28h]
015c  mov r8,[rsi]
015f  mov r9,[rdi+38h]
0163  movzx r9d,byte [r9]
0167  vmovd xmm1,r9d
016c  vpbroadcastd ymm1,xmm1
0171  vmovups ymm2,[rel 3E0h]
0179  vpand ymm1,ymm1,ymm2
017d  vpcmpeqd ymm1,ymm1,ymm2
0181  mov r9,[rdi+38h]
0185  movzx r9d,byte [r9]
0189  cmp r9,0FFh
0190  jl near 19Ch
0196  vmovups [rdx+r8],ymm3
019c  cmp r9,0FFh
01a3  jge near 1FFh
01a9  cmp r9,0
01ad  jle near 1FFh
01b3  mov r9,[rdi+38h]
01b7  movzx r9d,byte [r9]
01bb  vmovd xmm1,r9d
01c0  vpbroadcastd ymm1,xmm1
01c5  vmovups ymm2,[rel 3E0h]
01cd  vpand ymm1,ymm1,ymm2
01d1  vpcmpeqd ymm1,ymm1,ymm2
01d5  vmovmskps r9d,ymm1
01d9  cmp r9,0FFh
01e0  jne near 1ECh
01e6  vmovups [rdx+r8],ymm3
01ec  cmp r9,0FFh
01f3  je near 1FFh
01f9  vmaskmovps [rdx+r8],ymm1,ymm3
01ff  mov r8,[rsi+8]
0203  mov r9,[rdi+38h]
0207  movzx r9d,byte [r9+2]
020c  vmovd xmm1,r9d
0211  vpbroadcastd ymm1,xmm1
0216  vmovups ymm2,[rel 3E0h]
021e  vpand ymm1,ymm1,ymm2
0222  vpcmpeqd ymm1,ymm1,ymm2
0226  mov r9,[rdi+38h]
022a  movzx r9d,byte [r9+2]
022f  cmp r9,0FFh
0236  jl near 242h
023c  vmovups [rdx+r8],ymm4
0242  cmp r9,0FFh
0249  jge near 2A6h
024f  cmp r9,0
0253  jle near 2A6h
0259  mov r9,[rdi+38h]
025d  movzx r9d,byte [r9+2]
0262  vmovd xmm1,r9d
0267  vpbroadcastd ymm1,xmm1
026c  vmovups ymm2,[rel 3E0h]
0274  vpand ymm1,ymm1,ymm2
0278  vpcmpeqd ymm1,ymm1,ymm2
027c  vmovmskps r9d,ymm1
0280  cmp r9,0FFh
0287  jne near 293h
028d  vmovups [rdx+r8],ymm4
0293  cmp r9,0FFh
029a  je near 2A6h
02a0  vmaskmovps [rdx+r8],ymm1,ymm4
02a6  mov rsi,[rsi+10h]
02aa  mov r8,[rdi+38h]
02ae  movzx r8d,byte [r8+4]
02b3  vmovd xmm1,r8d
02b8  vpbroadcastd ymm1,xmm1
02bd  vmovups ymm2,[rel 3E0h]
02c5  vpand ymm1,ymm1,ymm2
02c9  vpcmpeqd ymm1,ymm1,ymm2
02cd  mov r8,[rdi+38h]
02d1  movzx r8d,byte [r8+4]
02d6  cmp r8,0FFh
02dd  jl near 2E8h
02e3  vmovups [rdx+rsi],ymm0
02e8  cmp r8,0FFh
02ef  jge near 34Bh
02f5  cmp r8,0
02f9  jle near 34Bh
02ff  mov r8,[rdi+38h]
0303  movzx r8d,byte [r8+4]
0308  vmovd xmm1,r8d
030d  vpbroadcastd ymm1,xmm1
0312  vmovups ymm2,[rel 3E0h]
031a  vpand ymm1,ymm1,ymm2
031e  vpcmpeqd ymm1,ymm1,ymm2
0322  vmovmskps r8d,ymm1
0326  cmp r8,0FFh
032d  jne near 338h
0333  vmovups [rdx+rsi],ymm0
0338  cmp r8,0FFh
033f  je near 34Bh
0345  vmaskmovps [rdx+rsi],ymm1,ymm0
034b  add rax,10h
034f  dec rcx
0352  jne near 40h
0358  vzeroupper
035b  ret
