; 153 instructions, 877 bytes, 0 spills, 0 of them in inner loops
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
0062  vmovups ymm1,[rel 400h]
006a  vpand ymm0,ymm0,ymm1
006e  vpcmpeqd ymm0,ymm0,ymm1
0072  vmaskmovps ymm0,ymm0,[rdx+r8]
0078  mov r8,[rsi+8]
007c  mov r9,[rdi+30h]
0080  movzx r9d,byte [r9+2]
0085  vmovd xmm1,r9d
008a  vpbroadcastd ymm1,xmm1
008f  vmovups ymm2,[rel 400h]
0097  vpand ymm1,ymm1,ymm2
009b  vpcmpeqd ymm1,ymm1,ymm2
009f  vmaskmovps ymm1,ymm1,[rdx+r8]
00a5  mov rsi,[rsi+10h]
00a9  mov r8,[rdi+30h]
00ad  movzx r8d,byte [r8+4]
00b2  vmovd xmm2,r8d
00b7  vpbroadcastd ymm2,xmm2
00bc  vmovups ymm3,[rel 400h]
00c4  vpand ymm2,ymm2,ymm3
00c8  vpcmpeqd ymm2,ymm2,ymm3
00cc  vmaskmovps ymm2,ymm2,[rdx+rsi]
00d2  vmovups ymm3,[rel 380h]
00da  vpermd ymm0,ymm3,ymm0
00df  vmovups ymm3,[rel 3A0h]
00e7  vpermd ymm1,ymm3,ymm1
00ec  vmovups ymm3,[rel 3C0h]
00f4  vpermd ymm2,ymm3,ymm2
00f9  vmovups ymm3,[rel 420h]
0101  vblendvps ymm3,ymm0,ymm1,ymm3
0107  vmovups ymm4,[rel 440h]
010f  vblendvps ymm3,ymm3,ymm2,ymm4
0115  vmovups ymm4,[rel 440h]
011d  vblendvps ymm4,ymm0,ymm1,ymm4
0123  vmovups ymm5,[rel 460h]
012b  vblendvps ymm4,ymm4,ymm2,ymm5
0131  vmovups ymm5,[rel 460h]
0139  vblendvps ymm0,ymm0,ymm1,ymm5
013f  vmovups ymm1,[rel 420h]
0147  vblendvps ymm0,ymm0,ymm2,ymm1
014d  mov rdx,[rdi+8]
0151  mov rsi,[rax+8]
0155  add rdx,rsi
0158  mov rsi,[rdi+28h]
015c  mov r8,[rsi]
015f  mov r9,[rdi+38h]
0163  movzx r9d,byte [r9]
0167  mov r10,[rdi+38h]
016b  movzx r10d,byte [r10]
016f  cmp r10,0FFh
0176  jl near 182h
017c  vmovups [rdx+r8],ymm3
0182  cmp r10,0FFh
0189  jge near 205h
018f  cmp r9,0
0193  jle near 205h
0199  cmp r9,0FFh
01a0  jl near 1ACh
01a6  vmovups [rdx+r8],ymm3
01ac  cmp r9,0FFh
01b3  jge near 205h
01b9  mov r9,[rdi+38h]
01bd  movzx r9d,byte [r9]
01c1  vmovd xmm1,r9d
01c6  vpbroadcastd ymm1,xmm1
01cb  vmovups ymm2,[rel 400h]
01d3  vpand ymm1,ymm1,ymm2
01d7  vpcmpeqd ymm1,ymm1,ymm2
01db  vmovmskps r9d,ymm1
01df  cmp r9,0FFh
01e6  jne near 1F2h
01ec  vmovups [rdx+r8],ymm3
01f2  cmp r9,0FFh
01f9  je near 205h
01ff  vmaskmovps [rdx+r8],ymm1,ymm3
0205  mov r8,[rsi+8]
0209  mov r9,[rdi+38h]
020d  movzx r9d,byte [r9+2]
0212  mov r10,[rdi+38h]
0216  movzx r10d,byte [r10+2]
021b  cmp r10,0FFh
0222  jl near 22Eh
0228  vmovups [rdx+r8],ymm4
022e  cmp r10,0FFh
0235  jge near 2B2h
023b  cmp r9,0
023f  jle near 2B2h
0245  cmp r9,0FFh
024c  jl near 258h
0252  vmovups [rdx+r8],ymm4
0258  cmp r9,0FFh
025f  jge near 2B2h
0265  mov r9,[rdi+38h]
0269  movzx r9d,byte [r9+2]
026e  vmovd xmm1,r9d
0273  vpbroadcastd ymm1,xmm1
0278  vmovups ymm2,[rel 400h]
0280  vpand ymm1,ymm1,ymm2
0284  vpcmpeqd ymm1,ymm1,ymm2
0288  vmovmskps r9d,ymm1
028c  cmp r9,0FFh
0293  jne near 29Fh
0299  vmovups [rdx+r8],ymm4
029f  cmp r9,0FFh
02a6  je near 2B2h
02ac  vmaskmovps [rdx+r8],ymm1,ymm4
02b2  mov rsi,[rsi+10h]
02b6  mov r8,[rdi+38h]
02ba  movzx r8d,byte [r8+4]
02bf  mov r9,[rdi+38h]
02c3  movzx r9d,byte [r9+4]
02c8  cmp r9,0FFh
02cf  jl near 2DAh
02d5  vmovups [rdx+rsi],ymm0
02da  cmp r9,0FFh
02e1  jge near 35Ch
02e7  cmp r8,0
02eb  jle near 35Ch
02f1  cmp r8,0FFh
02f8  jl near 303h
02fe  vmovups [rdx+rsi],ymm0
0303  cmp r8,0FFh
030a  jge near 35Ch
0310  mov r8,[rdi+38h]
0314  movzx r8d,byte [r8+4]
0319  vmovd xmm1,r8d
031e  vpbroadcastd ymm1,xmm1
0323  vmovups ymm2,[rel 400h]
032b  vpand ymm1,ymm1,ymm2
032f  vpcmpeqd ymm1,ymm1,ymm2
0333  vmovmskps r8d,ymm1
0337  cmp r8,0FFh
033e  jne near 349h
0344  vmovups [rdx+rsi],ymm0
0349  cmp r8,0FFh
0350  je near 35Ch
0356  vmaskmovps [rdx+rsi],ymm1,ymm0
035c  add rax,10h
0360  dec rcx
0363  jne near 40h
0369  vzeroupper
036c  ret
