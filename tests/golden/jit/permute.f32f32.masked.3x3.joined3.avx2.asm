; 141 instructions, 781 bytes, 0 spills, 0 of them in inner loops
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
0062  vmovups ymm1,[rel 3C0h]
006a  vpand ymm0,ymm0,ymm1
006e  vpcmpeqd ymm0,ymm0,ymm1
0072  vmaskmovps ymm0,ymm0,[rdx+r8]
0078  mov r8,[rsi+8]
007c  mov r9,[rdi+30h]
0080  movzx r9d,byte [r9+2]
0085  vmovd xmm1,r9d
008a  vpbroadcastd ymm1,xmm1
008f  vmovups ymm2,[rel 3C0h]
0097  vpand ymm1,ymm1,ymm2
009b  vpcmpeqd ymm1,ymm1,ymm2
009f  vmaskmovps ymm1,ymm1,[rdx+r8]
00a5  mov rsi,[rsi+10h]
00a9  mov r8,[rdi+30h]
00ad  movzx r8d,byte [r8+4]
00b2  vmovd xmm2,r8d
00b7  vpbroadcastd ymm2,xmm2
00bc  vmovups ymm3,[rel 3C0h]
00c4  vpand ymm2,ymm2,ymm3
00c8  vpcmpeqd ymm2,ymm2,ymm3
00cc  vmaskmovps ymm2,ymm2,[rdx+rsi]
00d2  vmovups ymm3,[rel 320h]
00da  vpermd ymm4,ymm3,ymm0
00df  vpermd ymm5,ymm3,ymm1
00e4  movzx edx,byte [rel 340h]
00eb  vmovd xmm6,edx
00ef  vpbroadcastd ymm6,xmm6
00f4  vmovups ymm7,[rel 3C0h]
00fc  vpand ymm6,ymm6,ymm7
0100  vpcmpeqd ymm6,ymm6,ymm7
0104  vblendvps ymm4,ymm4,ymm5,ymm6
010a  vpermd ymm3,ymm3,ymm2
010f  movzx edx,byte [rel 342h]
0116  vmovd xmm5,edx
011a  vpbroadcastd ymm5,xmm5
011f  vmovups ymm6,[rel 3C0h]
0127  vpand ymm5,ymm5,ymm6
012b  vpcmpeqd ymm5,ymm5,ymm6
012f  vblendvps ymm3,ymm4,ymm3,ymm5
0135  vmovups ymm4,[rel 360h]
013d  vpermd ymm5,ymm4,ymm0
0142  vpermd ymm6,ymm4,ymm1
0147  movzx edx,byte [rel 342h]
014e  vmovd xmm7,edx
0152  vpbroadcastd ymm7,xmm7
0157  vmovups ymm8,[rel 3C0h]
015f  vpand ymm7,ymm7,ymm8
0164  vpcmpeqd ymm7,ymm7,ymm8
0169  vblendvps ymm5,ymm5,ymm6,ymm7
016f  vpermd ymm4,ymm4,ymm2
0174  movzx edx,byte [rel 380h]
017b  vmovd xmm6,edx
017f  vpbroadcastd ymm6,xmm6
0184  vmovups ymm7,[rel 3C0h]
018c  vpand ymm6,ymm6,ymm7
0190  vpcmpeqd ymm6,ymm6,ymm7
0194  vblendvps ymm4,ymm5,ymm4,ymm6
019a  vmovups ymm5,[rel 3A0h]
01a2  vpermd ymm0,ymm5,ymm0
01a7  vpermd ymm1,ymm5,ymm1
01ac  movzx edx,byte [rel 380h]
01b3  vmovd xmm6,edx
01b7  vpbroadcastd ymm6,xmm6
01bc  vmovups ymm7,[rel 3C0h]
01c4  vpand ymm6,ymm6,ymm7
01c8  vpcmpeqd ymm6,ymm6,ymm7
01cc  vblendvps ymm0,ymm0,ymm1,ymm6
01d2  vpermd ymm1,ymm5,ymm2
01d7  movzx edx,byte [rel 340h]
01de  vmovd xmm2,edx
01e2  vpbroadcastd ymm2,xmm2
01e7  vmovups ymm5,[rel 3C0h]
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
0221  vmovups ymm2,[rel 3C0h]
0229  vpand ymm1,ymm1,ymm2
022d  vpcmpeqd ymm1,ymm1,ymm2
0231  vmovmskps r9d,ymm1
0235  cmp r9,0FFh
023c  jne near 248h
0242  vmovups [rdx+r8],ymm3
0248  cmp r9,0FFh
024f  je near 25Bh
0255  vmaskmovps [rdx+r8],ymm1,ymm3
025b  mov r8,[rsi+8]
025f  mov r9,[rdi+38h]
0263  movzx r9d,byte [r9+2]
0268  vmovd xmm1,r9d
026d  vpbroadcastd ymm1,xmm1
0272  vmovups ymm2,[rel 3C0h]
027a  vpand ymm1,ymm1,ymm2
027e  vpcmpeqd ymm1,ymm1,ymm2
0282  vmovmskps r9d,ymm1
0286  cmp r9,0FFh
028d  jne near 299h
0293  vmovups [rdx+r8],ymm4
0299  cmp r9,0FFh
02a0  je near 2ACh
02a6  vmaskmovps [rdx+r8],ymm1,ymm4
02ac  mov rsi,[rsi+10h]
02b0  mov r8,[rdi+38h]
02b4  movzx r8d,byte [r8+4]
02b9  vmovd xmm1,r8d
02be  vpbroadcastd ymm1,xmm1
02c3  vmovups ymm2,[rel 3C0h]
02cb  vpand ymm1,ymm1,ymm2
02cf  vpcmpeqd ymm1,ymm1,ymm2
02d3  vmovmskps r8d,ymm1
02d7  cmp r8,0FFh
02de  jne near 2E9h
02e4  vmovups [rdx+rsi],ymm0
02e9  cmp r8,0FFh
02f0  je near 2FCh
02f6  vmaskmovps [rdx+rsi],ymm1,ymm0
02fc  add rax,10h
0300  dec rcx
0303  jne near 40h
0309  vzeroupper
030c  ret
