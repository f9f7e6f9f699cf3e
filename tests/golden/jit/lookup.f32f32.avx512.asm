; 19 instructions, 124 bytes, 0 spills, 0 of them in inner loops
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
0047  kmovw k1,[rdx+10h]
004c  kmovw k2,[rdx+12h]
0051  vmovups zmm0{k1}{z},[rax+r8]
0058  vmovups zmm1,[rsi]
005e  vpermd zmm0,zmm1,zmm0
0064  vmovups [rcx+r9]{k2},zmm0
006b  add rdx,18h
006f  add rsi,40h
0073  dec rdi
0076  jne short 40h
0078  vzeroupper
007b  ret
