; 43 instructions, 253 bytes, 0 spills, 0 of them in inner loops
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
004d  movzx r9d,byte [rax+8]
0052  vmovd xmm0,r9d
0057  vpbroadcastd ymm0,xmm0
005c  vmovups ymm1,[rel 100h]
0064  vpand ymm0,ymm0,ymm1
0068  vpcmpeqd ymm0,ymm0,ymm1
006c  vpmovzxbd ymm1,[rcx+0Ch]
0072  mov r9,[rdi+28h]
0076  nop word [rax+rax]
007f  nop
0080  mov r10,[rcx]
0083  movzx r11d,byte [rcx+8]
0088  vmovd xmm2,r11d
008d  vpbroadcastd ymm2,xmm2
0092  vmovups ymm3,[rel 100h]
009a  vpand ymm2,ymm2,ymm3
009e  vpcmpeqd ymm2,ymm2,ymm3
00a2  vmaskmovps ymm2,ymm2,[rsi+r10]
00a8  vpermd ymm2,ymm1,ymm2
00ad  vmovmskps r10d,ymm0
00b1  cmp r10,0FFh
00b8  jne near 0C3h
00be  vmovups [r8],ymm2
00c3  cmp r10,0FFh
00ca  je near 0D5h
00d0  vmaskmovps [r8],ymm0,ymm2
00d5  mov r10,[rdi+30h]
00d9  add rsi,r10
00dc  mov r10,[rdi+38h]
00e0  add r8,r10
00e3  dec r9
00e6  jne short 80h
00e8  add rax,10h
00ec  add rcx,20h
00f0  dec rdx
00f3  jne near 40h
00f9  vzeroupper
00fc  ret
