; 60 instructions, 379 bytes, 0 spills, 0 of them in inner loops
0000  mov rax,[rdi]
0003  mov rcx,[rdi+8]
0007  mov rdx,[rdi+10h]
000b  mov rdi,[rdi+18h]
000f  vmovups zmm0,[rdx]
0015  vmovups zmm1,[rdx+40h]
001c  vmovups zmm2,[rdx+80h]
0023  vmovups zmm3,[rdx+0C0h]
002a  mov rdx,rdi
002d  shr rdx,2
0031  test rdx,rdx
0034  jle near 105h
003a  nop word [rax+rax]
0040  vmovups zmm4,[rax]
0046  vmovups zmm5,[rax+40h]
004d  vmovups zmm6,[rax+80h]
0054  vmovups zmm7,[rax+0C0h]
005b  vpmovb2m k1,zmm4
0061  vmovups zmm8,zmm4
0067  vpermi2b zmm8,zmm0,zmm1
006d  vpermi2b zmm4,zmm2,zmm3
0073  vmovdqu8 zmm8{k1},zmm4
0079  vmovups [rcx],zmm8
007f  vpmovb2m k1,zmm5
0085  vmovups zmm4,zmm5
008b  vpermi2b zmm4,zmm0,zmm1
0091  vpermi2b zmm5,zmm2,zmm3
0097  vmovdqu8 zmm4{k1},zmm5
009d  vmovups [rcx+40h],zmm4
00a4  vpmovb2m k1,zmm6
00aa  vmovups zmm4,zmm6
00b0  vpermi2b zmm4,zmm0,zmm1
00b6  vpermi2b zmm6,zmm2,zmm3
00bc  vmovdqu8 zmm4{k1},zmm6
00c2  vmovups [rcx+80h],zmm4
00c9  vpmovb2m k1,zmm7
00cf  vmovups zmm4,zmm7
00d5  vpermi2b zmm4,zmm0,zmm1
00db  vpermi2b zmm7,zmm2,zmm3
00e1  vmovdqu8 zmm4{k1},zmm7
00e7  vmovups [rcx+0C0h],zmm4
00ee  add rax,100h
00f5  add rcx,100h
00fc  dec rdx
00ff  jne near 40h
0105  and rdi,3
0109  test rdi,rdi
010c  jle near 177h
0112  nop word [rax+rax]
011b  nop word [rax+rax]
0124  nop word [rax+rax]
012d  nop word [rax+rax]
0136  nop word [rax+rax]
013f  nop
0140  vmovups zmm4,[rax]
0146  vpmovb2m k1,zmm4
014c  vmovups zmm5,zmm4
0152  vpermi2b zmm5,zmm0,zmm1
0158  vpermi2b zmm4,zmm2,zmm3
015e  vmovdqu8 zmm5{k1},zmm4
0164  vmovups [rcx],zmm5
016a  add rax,40h
016e  add rcx,40h
0172  dec rdi
0175  jne short 140h
0177  vzeroupper
017a  ret
