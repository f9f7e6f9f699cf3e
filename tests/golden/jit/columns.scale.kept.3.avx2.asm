; 68 instructions, 372 bytes, 0 spills, 0 of them in inner loops
0000  push rbx
0001  push rbp
0002  mov rax,[rdi+20h]
0006  mov rcx,[rdi]
0009  mov rdx,[rdi+10h]
000d  mov rsi,[rdi+18h]
0011  mov r8,[rdi+28h]
0015  mov r9d,0
001b  mov r10,[rdi+38h]
001f  nop word [rax+rax]
0028  nop word [rax+rax]
0031  nop word [rax+rax]
003a  nop word [rax+rax]
0040  mov r11,[rdi+60h]
0044  mov rbx,[rdi+68h]
0048  mov rbp,[rdi+70h]
004c  vmovups ymm0,[r11+r9*4]
0052  vmovups ymm1,[rbx+r9*4]
0058  vmovups ymm2,[rbp+r9*4]
005f  vmovups ymm3,[r11+r9*4+20h]
0066  vmovups ymm4,[rbx+r9*4+20h]
006d  vmovups ymm5,[rbp+r9*4+20h]
0074  vmovups ymm6,[r11+r9*4+40h]
007b  vmovups ymm7,[rbx+r9*4+40h]
0082  vmovups ymm8,[rbp+r9*4+40h]
0089  mov r11,[rdi+30h]
008d  test r11,r11
0090  jle near 150h
0096  nop word [rax+rax]
009f  nop word [rax+rax]
00a8  nop word [rax+rax]
00b1  nop word [rax+rax]
00ba  nop word [rax+rax]
00c0  vmovups ymm9,[rcx]
00c4  vsubps ymm9,ymm9,ymm0
00c8  vfmadd213ps ymm9,ymm1,ymm2
00cd  vpxor ymm10,ymm10,ymm10
00d2  vmaxps ymm9,ymm10,ymm9
00d7  vcmpneqps ymm10,ymm9,ymm10
00dd  vmovmskps ebx,ymm10
00e2  mov [rsi],bl
00e4  vmovups [rdx],ymm9
00e8  vmovups ymm9,[rcx+20h]
00ed  vsubps ymm9,ymm9,ymm3
00f1  vfmadd213ps ymm9,ymm4,ymm5
00f6  vpxor ymm10,ymm10,ymm10
00fb  vmaxps ymm9,ymm10,ymm9
0100  vcmpneqps ymm10,ymm9,ymm10
0106  vmovmskps ebx,ymm10
010b  mov [rsi+1],bl
010e  vmovups [rdx+20h],ymm9
0113  vmovups ymm9,[rcx+40h]
0118  vsubps ymm9,ymm9,ymm6
011c  vfmadd213ps ymm9,ymm7,ymm8
0121  vpxor ymm10,ymm10,ymm10
0126  vmaxps ymm9,ymm10,ymm9
012b  vcmpneqps ymm10,ymm9,ymm10
0131  vmovmskps ebx,ymm10
0136  mov [rsi+2],bl
0139  vmovups [rdx+40h],ymm9
013e  add rcx,rax
0141  add rdx,rax
0144  add rsi,r8
0147  dec r11
014a  jne near 0C0h
0150  mov r11,[rdi+40h]
0154  add rcx,r11
0157  add rdx,r11
015a  mov r11,[rdi+48h]
015e  add rsi,r11
0161  add r9,18h
0165  dec r10
0168  jne near 40h
016e  pop rbp
016f  pop rbx
0170  vzeroupper
0173  ret
