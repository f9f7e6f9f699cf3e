; 55 instructions, 382 bytes, 0 spills, 0 of them in inner loops
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
004d  vpmovzxbd zmm0,[rcx+0Ch]
0057  vpmovzxbd zmm1,[rcx+2Ch]
0061  vpmovzxbd zmm2,[rcx+4Ch]
006b  vpmovzxbd zmm3,[rcx+6Ch]
0075  vpmovzxbd zmm4,[rcx+8Ch]
007f  vpmovzxbd zmm5,[rcx+0ACh]
0089  kmovw k1,[rcx+2Ah]
008e  kmovw k2,[rcx+4Ah]
0093  kmovw k3,[rcx+6Ah]
0098  kmovw k4,[rcx+8Ah]
00a0  kmovw k5,[rcx+0AAh]
00a8  mov r9,[rdi+28h]
00ac  nop word [rax+rax]
00b5  nop word [rax+rax]
00be  xchg ax,ax
00c0  mov r10,[rcx]
00c3  vmovups zmm6,[rsi+r10]
00ca  vpermd zmm6,zmm0,zmm6
00d0  mov r10,[rcx+20h]
00d4  vmovups zmm7,[rsi+r10]
00db  vpermd zmm7,zmm1,zmm7
00e1  vblendmps zmm6{k1},zmm6,zmm7
00e7  mov r10,[rcx+40h]
00eb  vmovups zmm7,[rsi+r10]
00f2  vpermd zmm7,zmm2,zmm7
00f8  vblendmps zmm6{k2},zmm6,zmm7
00fe  mov r10,[rcx+60h]
0102  vmovups zmm7,[rsi+r10]
0109  vpermd zmm7,zmm3,zmm7
010f  vblendmps zmm6{k3},zmm6,zmm7
0115  mov r10,[rcx+80h]
011c  vmovups zmm7,[rsi+r10]
0123  vpermd zmm7,zmm4,zmm7
0129  vblendmps zmm6{k4},zmm6,zmm7
012f  mov r10,[rcx+0A0h]
0136  vmovups zmm7,[rsi+r10]
013d  vpermd zmm7,zmm5,zmm7
0143  vblendmps zmm6{k5},zmm6,zmm7
0149  vmovups [r8],zmm6
014f  mov r10,[rdi+30h]
0153  add rsi,r10
0156  mov r10,[rdi+38h]
015a  add r8,r10
015d  dec r9
0160  jne near 0C0h
0166  add rax,10h
016a  add rcx,0C0h
0171  dec rdx
0174  jne near 40h
017a  vzeroupper
017d  ret
