; 27 instructions, 195 bytes, 0 spills, 0 of them in inner loops
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
004d  kmovw k1,[rax+8]
0052  vpmovzxbd zmm0,[rcx+0Ch]
005c  mov r9,[rdi+28h]
0060  nop word [rax+rax]
0069  nop word [rax+rax]
0072  nop word [rax+rax]
007b  nop dword [rax+rax]
0080  mov r10,[rcx]
0083  kmovw k2,[rcx+8]
0088  vmovups zmm1{k2}{z},[rsi+r10]
008f  vpermd zmm1,zmm0,zmm1
0095  vmovups [r8]{k1},zmm1
009b  mov r10,[rdi+30h]
009f  add rsi,r10
00a2  mov r10,[rdi+38h]
00a6  add r8,r10
00a9  dec r9
00ac  jne short 80h
00ae  add rax,10h
00b2  add rcx,20h
00b6  dec rdx
00b9  jne near 40h
00bf  vzeroupper
00c2  ret
