; 35 instructions, 211 bytes, 0 spills, 0 of them in inner loops
0000  mov rax,[rdi]
0003  mov rcx,[rdi+8]
0007  mov rdx,[rdi+10h]
000b  mov rsi,[rdi+18h]
000f  mov rdi,[rdi+20h]
0013  nop word [rax+rax]
001c  nop word [rax+rax]
0025  nop word [rax+rax]
002e  nop word [rax+rax]
0037  nop word [rax+rax]
0040  mov r8,[rdx]
0043  mov r9,[rdx+8]
0047  movzx r10d,byte [rdx+10h]
004c  vmovd xmm0,r10d
0051  vpbroadcastd ymm0,xmm0
0056  vmovups ymm1,[rel 0E0h]
005e  vpand ymm0,ymm0,ymm1
0062  vpcmpeqd ymm0,ymm0,ymm1
0066  movzx r10d,byte [rdx+12h]
006b  vmovd xmm1,r10d
0070  vpbroadcastd ymm1,xmm1
0075  vmovups ymm2,[rel 0E0h]
007d  vpand ymm1,ymm1,ymm2
0081  vpcmpeqd ymm1,ymm1,ymm2
0085  vmaskmovps ymm0,ymm0,[rax+r8]
008b  vmovups ymm2,[rsi]
008f  vpermd ymm0,ymm2,ymm0
0094  vmovmskps r8d,ymm1
0098  cmp r8,0FFh
009f  jne near 0ABh
00a5  vmovups [rcx+r9],ymm0
00ab  cmp r8,0FFh
00b2  je near 0BEh
00b8  vmaskmovps [rcx+r9],ymm1,ymm0
00be  add rdx,18h
00c2  add rsi,40h
00c6  dec rdi
00c9  jne near 40h
00cf  vzeroupper
00d2  ret
