; 78 instructions, 467 bytes, 0 spills, 0 of them in inner loops
0000  push rbx
0001  push rbp
0002  push r12
0004  mov rax,[rdi+20h]
0008  mov rcx,[rdi]
000b  mov rdx,[rdi+10h]
000f  mov rsi,[rdi+18h]
0013  mov r8,[rdi+28h]
0017  mov r9,[rdi+38h]
001b  nop word [rax+rax]
0024  nop word [rax+rax]
002d  nop word [rax+rax]
0036  nop word [rax+rax]
003f  nop
0040  mov r10d,0
0046  mov r11,[rdi+50h]
004a  nop word [rax+rax]
0053  nop word [rax+rax]
005c  nop word [rax+rax]
0065  nop word [rax+rax]
006e  nop word [rax+rax]
0077  nop word [rax+rax]
0080  mov rbx,[rdi+78h]
0084  mov rbp,[rdi+80h]
008b  mov r12,[rdi+88h]
0092  vmovups ymm0,[rbx+r10*4]
0098  vmovups ymm1,[rbp+r10*4]
009f  vmovups ymm2,[r12+r10*4]
00a5  vmovups ymm3,[rbx+r10*4+20h]
00ac  vmovups ymm4,[rbp+r10*4+20h]
00b3  vmovups ymm5,[r12+r10*4+20h]
00ba  vmovups ymm6,[rbx+r10*4+40h]
00c1  vmovups ymm7,[rbp+r10*4+40h]
00c8  vmovups ymm8,[r12+r10*4+40h]
00cf  mov rbx,[rdi+30h]
00d3  test rbx,rbx
00d6  jle near 193h
00dc  nop word [rax+rax]
00e5  nop word [rax+rax]
00ee  nop word [rax+rax]
00f7  nop word [rax+rax]
0100  vmovups ymm9,[rcx]
0104  vsubps ymm9,ymm9,ymm0
0108  vfmadd213ps ymm9,ymm1,ymm2
010d  vpxor ymm10,ymm10,ymm10
0112  vmaxps ymm9,ymm10,ymm9
0117  vcmpneqps ymm10,ymm9,ymm10
011d  vmovmskps ebp,ymm10
0122  mov [rsi],bpl
0125  vmovups [rdx],ymm9
0129  vmovups ymm9,[rcx+20h]
012e  vsubps ymm9,ymm9,ymm3
0132  vfmadd213ps ymm9,ymm4,ymm5
0137  vpxor ymm10,ymm10,ymm10
013c  vmaxps ymm9,ymm10,ymm9
0141  vcmpneqps ymm10,ymm9,ymm10
0147  vmovmskps ebp,ymm10
014c  mov [rsi+1],bpl
0150  vmovups [rdx+20h],ymm9
0155  vmovups ymm9,[rcx+40h]
015a  vsubps ymm9,ymm9,ymm6
015e  vfmadd213ps ymm9,ymm7,ymm8
0163  vpxor ymm10,ymm10,ymm10
0168  vmaxps ymm9,ymm10,ymm9
016d  vcmpneqps ymm10,ymm9,ymm10
0173  vmovmskps ebp,ymm10
0178  mov [rsi+2],bpl
017c  vmovups [rdx+40h],ymm9
0181  add rcx,rax
0184  add rdx,rax
0187  add rsi,r8
018a  dec rbx
018d  jne near 100h
0193  mov rbx,[rdi+58h]
0197  add rcx,rbx
019a  add rdx,rbx
019d  mov rbx,[rdi+60h]
01a1  add rsi,rbx
01a4  add r10,18h
01a8  dec r11
01ab  jne near 80h
01b1  mov r10,[rdi+40h]
01b5  add rcx,r10
01b8  add rdx,r10
01bb  mov r10,[rdi+48h]
01bf  add rsi,r10
01c2  dec r9
01c5  jne near 40h
01cb  pop r12
01cd  pop rbp
01ce  pop rbx
01cf  vzeroupper
01d2  ret
