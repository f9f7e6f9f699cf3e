; 97 instructions, 764 bytes, 0 spills, 0 of them in inner loops
0000  mov rax,[rdi+20h]
0004  mov rcx,[rdi]
0007  mov rdx,[rdi+38h]
000b  nop word [rax+rax]
0014  nop word [rax+rax]
001d  nop word [rax+rax]
0026  nop word [rax+rax]
002f  nop word [rax+rax]
0038  nop dword [rax+rax]
0040  mov esi,0
0045  mov r8,[rdi+50h]
0049  nop word [rax+rax]
0052  nop word [rax+rax]
005b  nop word [rax+rax]
0064  nop word [rax+rax]
006d  nop word [rax+rax]
0076  nop word [rax+rax]
007f  nop
0080  mov r9,[rdi+78h]
0084  mov r10,[rdi+80h]
008b  mov r11,[rdi+88h]
0092  vmovups zmm0,[r9+rsi*4]
0099  vmovups zmm1,[r10+rsi*4]
00a0  vmovups zmm2,[r11+rsi*4]
00a7  vmovups zmm3,[r9+rsi*4+40h]
00af  vmovups zmm4,[r10+rsi*4+40h]
00b7  vmovups zmm5,[r11+rsi*4+40h]
00bf  vmovups zmm6,[r9+rsi*4+80h]
00c7  vmovups zmm7,[r10+rsi*4+80h]
00cf  vmovups zmm8,[r11+rsi*4+80h]
00d7  vmovups zmm9,[r9+rsi*4+0C0h]
00df  vmovups zmm10,[r10+rsi*4+0C0h]
00e7  vmovups zmm11,[r11+rsi*4+0C0h]
00ef  vmovups zmm12,[r9+rsi*4+100h]
00f7  vmovups zmm13,[r10+rsi*4+100h]
00ff  vmovups zmm14,[r11+rsi*4+100h]
0107  vmovups zmm15,[r9+rsi*4+140h]
010f  vmovups zmm16,[r10+rsi*4+140h]
0117  vmovups zmm17,[r11+rsi*4+140h]
011f  vmovups zmm18,[r9+rsi*4+180h]
0127  vmovups zmm19,[r10+rsi*4+180h]
012f  vmovups zmm20,[r11+rsi*4+180h]
0137  vmovups zmm21,[r9+rsi*4+1C0h]
013f  vmovups zmm22,[r10+rsi*4+1C0h]
0147  vmovups zmm23,[r11+rsi*4+1C0h]
014f  mov r11,[rdi+30h]
0153  test r11,r11
0156  jle near 253h
015c  nop word [rax+rax]
0165  nop word [rax+rax]
016e  nop word [rax+rax]
0177  nop word [rax+rax]
0180  vmovups zmm24,[rcx]
0186  vsubps zmm24,zmm24,zmm2
018c  vaddps zmm0,zmm0,zmm24
0192  vfmadd231ps zmm1,zmm24,zmm24
0198  vmovups zmm24,[rcx+40h]
019f  vsubps zmm24,zmm24,zmm5
01a5  vaddps zmm3,zmm3,zmm24
01ab  vfmadd231ps zmm4,zmm24,zmm24
01b1  vmovups zmm24,[rcx+80h]
01b8  vsubps zmm24,zmm24,zmm8
01be  vaddps zmm6,zmm6,zmm24
01c4  vfmadd231ps zmm7,zmm24,zmm24
01ca  vmovups zmm24,[rcx+0C0h]
01d1  vsubps zmm24,zmm24,zmm11
01d7  vaddps zmm9,zmm9,zmm24
01dd  vfmadd231ps zmm10,zmm24,zmm24
01e3  vmovups zmm24,[rcx+100h]
01ea  vsubps zmm24,zmm24,zmm14
01f0  vaddps zmm12,zmm12,zmm24
01f6  vfmadd231ps zmm13,zmm24,zmm24
01fc  vmovups zmm24,[rcx+140h]
0203  vsubps zmm24,zmm24,zmm17
0209  vaddps zmm15,zmm15,zmm24
020f  vfmadd231ps zmm16,zmm24,zmm24
0215  vmovups zmm24,[rcx+180h]
021c  vsubps zmm24,zmm24,zmm20
0222  vaddps zmm18,zmm18,zmm24
0228  vfmadd231ps zmm19,zmm24,zmm24
022e  vmovups zmm24,[rcx+1C0h]
0235  vsubps zmm24,zmm24,zmm23
023b  vaddps zmm21,zmm21,zmm24
0241  vfmadd231ps zmm22,zmm24,zmm24
0247  add rcx,rax
024a  dec r11
024d  jne near 180h
0253  mov r11,[rdi+58h]
0257  add rcx,r11
025a  vmovups [r9+rsi*4],zmm0
0261  vmovups [r9+rsi*4+40h],zmm3
0269  vmovups [r9+rsi*4+80h],zmm6
0271  vmovups [r9+rsi*4+0C0h],zmm9
0279  vmovups [r9+rsi*4+100h],zmm12
0281  vmovups [r9+rsi*4+140h],zmm15
0289  vmovups [r9+rsi*4+180h],zmm18
0291  vmovups [r9+rsi*4+1C0h],zmm21
0299  vmovups [r10+rsi*4],zmm1
02a0  vmovups [r10+rsi*4+40h],zmm4
02a8  vmovups [r10+rsi*4+80h],zmm7
02b0  vmovups [r10+rsi*4+0C0h],zmm10
02b8  vmovups [r10+rsi*4+100h],zmm13
02c0  vmovups [r10+rsi*4+140h],zmm16
02c8  vmovups [r10+rsi*4+180h],zmm19
02d0  vmovups [r10+rsi*4+1C0h],zmm22
02d8  add rsi,80h
02df  dec r8
02e2  jne near 80h
02e8  mov rsi,[rdi+40h]
02ec  add rcx,rsi
02ef  dec rdx
02f2  jne near 40h
02f8  vzeroupper
02fb  ret
