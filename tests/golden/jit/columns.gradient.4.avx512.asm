; 73 instructions, 502 bytes, 0 spills, 0 of them in inner loops
0000  mov rax,[rdi+18h]
0004  mov ecx,0
0009  mov rdx,[rdi+28h]
000d  nop word [rax+rax]
0016  nop word [rax+rax]
001f  nop word [rax+rax]
0028  nop word [rax+rax]
0031  nop word [rax+rax]
003a  nop word [rax+rax]
0040  mov rsi,[rdi+40h]
0044  mov r8,[rdi+48h]
0048  mov r9,[rdi+50h]
004c  mov r10,[rdi+58h]
0050  vmovups zmm0,[rsi+rcx*4]
0057  vmovups zmm1,[r8+rcx*4]
005e  vmovups zmm2,[r9+rcx*4]
0065  vmovups zmm3,[r10+rcx*4]
006c  vmovups zmm4,[rsi+rcx*4+40h]
0074  vmovups zmm5,[r8+rcx*4+40h]
007c  vmovups zmm6,[r9+rcx*4+40h]
0084  vmovups zmm7,[r10+rcx*4+40h]
008c  vmovups zmm8,[rsi+rcx*4+80h]
0094  vmovups zmm9,[r8+rcx*4+80h]
009c  vmovups zmm10,[r9+rcx*4+80h]
00a4  vmovups zmm11,[r10+rcx*4+80h]
00ac  vmovups zmm12,[rsi+rcx*4+0C0h]
00b4  vmovups zmm13,[r8+rcx*4+0C0h]
00bc  vmovups zmm14,[r9+rcx*4+0C0h]
00c4  vmovups zmm15,[r10+rcx*4+0C0h]
00cc  mov rsi,[rdi]
00cf  lea rsi,[rsi+rcx*4]
00d3  mov r8,[rdi+8]
00d7  lea r8,[r8+rcx*4]
00db  mov r9,[rdi+10h]
00df  lea r9,[r9+rcx*4]
00e3  mov r10,[rdi+20h]
00e7  mov r11,[rdi+38h]
00eb  nop word [rax+rax]
00f4  nop word [rax+rax]
00fd  nop dword [rax]
0100  prefetcht0 [rsi+r11]
0105  prefetcht0 [r8+r11]
010a  vmovups zmm16,[rsi]
0110  vsubps zmm16,zmm16,zmm0
0116  vmovups zmm17,[r8]
011c  vfmadd213ps zmm16,zmm2,zmm3
0122  vfmadd231ps zmm16,zmm17,zmm1
0128  vmovups [r9],zmm16
012e  prefetcht0 [rsi+r11+40h]
0134  prefetcht0 [r8+r11+40h]
013a  vmovups zmm16,[rsi+40h]
0141  vsubps zmm16,zmm16,zmm4
0147  vmovups zmm17,[r8+40h]
014e  vfmadd213ps zmm16,zmm6,zmm7
0154  vfmadd231ps zmm16,zmm17,zmm5
015a  vmovups [r9+40h],zmm16
0161  prefetcht0 [rsi+r11+80h]
016a  prefetcht0 [r8+r11+80h]
0173  vmovups zmm16,[rsi+80h]
017a  vsubps zmm16,zmm16,zmm8
0180  vmovups zmm17,[r8+80h]
0187  vfmadd213ps zmm16,zmm10,zmm11
018d  vfmadd231ps zmm16,zmm17,zmm9
0193  vmovups [r9+80h],zmm16
019a  prefetcht0 [rsi+r11+0C0h]
01a3  prefetcht0 [r8+r11+0C0h]
01ac  vmovups zmm16,[rsi+0C0h]
01b3  vsubps zmm16,zmm16,zmm12
01b9  vmovups zmm17,[r8+0C0h]
01c0  vfmadd213ps zmm16,zmm14,zmm15
01c6  vfmadd231ps zmm16,zmm17,zmm13
01cc  vmovups [r9+0C0h],zmm16
01d3  add rsi,rax
01d6  add r8,rax
01d9  add r9,rax
01dc  dec r10
01df  jne near 100h
01e5  add rcx,40h
01e9  dec rdx
01ec  jne near 40h
01f2  vzeroupper
01f5  ret
