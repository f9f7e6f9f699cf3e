; 189 instructions, 1036 bytes, 0 spills, 0 of them in inner loops
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
0062  vmovups ymm1,[rel 4C0h]
006a  vpand ymm0,ymm0,ymm1
006e  vpcmpeqd ymm0,ymm0,ymm1
0072  vmaskmovps ymm0,ymm0,[rdx+r8]
0078  mov r8,[rsi+8]
007c  mov r9,[rdi+30h]
0080  movzx r9d,byte [r9+2]
0085  vmovd xmm1,r9d
008a  vpbroadcastd ymm1,xmm1
008f  vmovups ymm2,[rel 4C0h]
0097  vpand ymm1,ymm1,ymm2
009b  vpcmpeqd ymm1,ymm1,ymm2
009f  vmaskmovps ymm1,ymm1,[rdx+r8]
00a5  mov rsi,[rsi+10h]
00a9  mov r8,[rdi+30h]
00ad  movzx r8d,byte [r8+4]
00b2  vmovd xmm2,r8d
00b7  vpbroadcastd ymm2,xmm2
00bc  vmovups ymm3,[rel 4C0h]
00c4  vpand ymm2,ymm2,ymm3
00c8  vpcmpeqd ymm2,ymm2,ymm3
00cc  vmaskmovps ymm2,ymm2,[rdx+rsi]
00d2  vmovups ymm3,[rel 420h]
00da  vpermd ymm4,ymm3,ymm0
00df  vpermd ymm5,ymm3,ymm1
00e4  movzx edx,byte [rel 440h]
00eb  vmovd xmm6,edx
00ef  vpbroadcastd ymm6,xmm6
00f4  vmovups ymm7,[rel 4C0h]
00fc  vpand ymm6,ymm6,ymm7
0100  vpcmpeqd ymm6,ymm6,ymm7
0104  vblendvps ymm4,ymm4,ymm5,ymm6
010a  vpermd ymm3,ymm3,ymm2
010f  movzx edx,byte [rel 442h]
0116  vmovd xmm5,edx
011a  vpbroadcastd ymm5,xmm5
011f  vmovups ymm6,[rel 4C0h]
0127  vpand ymm5,ymm5,ymm6
012b  vpcmpeqd ymm5,ymm5,ymm6
012f  vblendvps ymm3,ymm4,ymm3,ymm5
0135  vmovups ymm4,[rel 460h]
013d  vpermd ymm5,ymm4,ymm0
0142  vpermd ymm6,ymm4,ymm1
0147  movzx edx,byte [rel 442h]
014e  vmovd xmm7,edx
0152  vpbroadcastd ymm7,xmm7
0157  vmovups ymm8,[rel 4C0h]
015f  vpand ymm7,ymm7,ymm8
0164  vpcmpeqd ymm7,ymm7,ymm8
0169  vblendvps ymm5,ymm5,ymm6,ymm7
016f  vpermd ymm4,ymm4,ymm2
0174  movzx edx,byte [rel 480h]
017b  vmovd xmm6,edx
017f  vpbroadcastd ymm6,xmm6
0184  vmovups ymm7,[rel 4C0h]
018c  vpand ymm6,ymm6,ymm7
0190  vpcmpeqd ymm6,ymm6,ymm7
0194  vblendvps ymm4,ymm5,ymm4,ymm6
019a  vmovups ymm5,[rel 4A0h]
01a2  vpermd ymm0,ymm5,ymm0
01a7  vpermd ymm1,ymm5,ymm1
01ac  movzx edx,byte [rel 480h]
01b3  vmovd xmm6,edx
01b7  vpbroadcastd ymm6,xmm6
01bc  vmovups ymm7,[rel 4C0h]
01c4  vpand ymm6,ymm6,ymm7
01c8  vpcmpeqd ymm6,ymm6,ymm7
01cc  vblendvps ymm0,ymm0,ymm1,ymm6
01d2  vpermd ymm1,ymm5,ymm2
01d7  movzx edx,byte [rel 440h]
01de  vmovd xmm2,edx
01e2  vpbroadcastd ymm2,xmm2
01e7  vmovups ymm5,[rel 4C0h]
01ef  vpand ymm2,ymm2,ymm5
01f3  vpcmpeqd ymm2,ymm2,ymm5
01f7  vblendvps ymm0,ymm0,ymm1,ymm2
01fd  mov rdx,[rdi+8]
0201  mov rsi,[rax+8]
0205  add rdx,rsi
0208  mov rsi,[rdi+28h]
020c  mov r8,[rsi]
020f  mov r9,[rdi+38h]
0213  movzx r9d,byte [r9]
0217  vmovd xmm1,r9d
021c  vpbroadcastd ymm1,xmm1
0221  vmovups ymm2,[rel 4C0h]
0229  vpand ymm1,ymm1,ymm2
022d  vpcmpeqd ymm1,ymm1,ymm2
0231  mov r9,[rdi+38h]
0235  movzx r9d,byte [r9]
0239  cmp r9,0FFh
0240  jl near 24Ch
0246  vmovups [rdx+r8],ymm3
024c  cmp r9,0FFh
0253  jge near 2AFh
0259  cmp r9,0
025d  jle near 2AFh
0263  mov r9,[rdi+38h]
0267  movzx r9d,byte [r9]
026b  vmovd xmm1,r9d
0270  vpbroadcastd ymm1,xmm1
0275  vmovups ymm2,[rel 4C0h]
027d  vpand ymm1,ymm1,ymm2
0281  vpcmpeqd ymm1,ymm1,ymm2
0285  vmovmskps r9d,ymm1
0289  cmp r9,0FFh
0290  jne near 29Ch
0296  vmovups [rdx+r8],ymm3
029c  cmp r9,0FFh
02a3  je near 2AFh
02a9  vmaskmovps [rdx+r8],ymm1,ymm3
02af  mov r8,[rsi+8]
02b3  mov r9,[rdi+38h]
02b7  movzx r9d,byte [r9+2]
02bc  vmovd xmm1,r9d
02c1  vpbroadcastd ymm1,xmm1
02c6  vmovups ymm2,[rel 4C0h]
02ce  vpand ymm1,ymm1,ymm2
02d2  vpcmpeqd ymm1,ymm1,ymm2
02d6  mov r9,[rdi+38h]
02da  movzx r9d,byte [r9+2]
02df  cmp r9,0FFh
02e6  jl near 2F2h
02ec  vmovups [rdx+r8],ymm4
02f2  cmp r9,0FFh
02f9  jge near 356h
02ff  cmp r9,0
0303  jle near 356h
0309  mov r9,[rdi+38h]
030d  movzx r9d,byte [r9+2]
0312  vmovd xmm1,r9d
0317  vpbroadcastd ymm1,xmm1
031c  vmovups ymm2,[rel 4C0h]
0324  vpand ymm1,ymm1,ymm2
0328  vpcmpeqd ymm1,ymm1,ymm2
032c  vmovmskps r9d,ymm1
0330  cmp r9,0FFh
0337  jne near 343h
033d  vmovups [rdx+r8],ymm4
0343  cmp r9,0FFh
034a  je near 356h
0350  vmaskmovps [rdx+r8],ymm1,ymm4
0356  mov rsi,[rsi+10h]
035a  mov r8,[rdi+38h]
035e  movzx r8d,byte [r8+4]
0363  vmovd xmm1,r8d
0368  vpbroadcastd ymm1,xmm1
036d  vmovups ymm2,[rel 4C0h]
0375  vpand ymm1,ymm1,ymm2
0379  vpcmpeqd ymm1,ymm1,ymm2
037d  mov r8,[rdi+38h]
0381  movzx r8d,byte [r8+4]
0386  cmp r8,0FFh
038d  jl near 398h
0393  vmovups [rdx+rsi],ymm0
0398  cmp r8,0FFh
039f  jge near 3FBh
03a5  cmp r8,0
03a9  jle near 3FBh
03af  mov r8,[rdi+38h]
03b3  movzx r8d,byte [r8+4]
03b8  vmovd xmm1,r8d
03bd  vpbroadcastd ymm1,xmm1
03c2  vmovups ymm2,[rel 4C0h]
03ca  vpand ymm1,ymm1,ymm2
03ce  vpcmpeqd ymm1,ymm1,ymm2
03d2  vmovmskps r8d,ymm1
03d6  cmp r8,0FFh
03dd  jne near 3E8h
03e3  vmovups [rdx+rsi],ymm0
03e8  cmp r8,0FFh
03ef  je near 3FBh
03f5  vmaskmovps [rdx+rsi],ymm1,ymm0
03fb  add rax,10h
03ff  dec rcx
0402  jne near 40h
0408  vzeroupper
040b  ret
