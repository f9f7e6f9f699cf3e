; 212 instructions, 1223 bytes, 14 spills, 0 of them in inner loops
0000  push rbx
0001  push rbp
0002  push r12
0004  push r13
0006  push r14
0008  push r15
000a  sub rsp,100h
0011  mov rax,[rdi+40h]
0015  lea rcx,[rax+rax*2]
0019  lea rdx,[rax+rax*4]
001d  mov rsi,[rdi+38h]
0021  mov [rsp+80h],rsi
0029  mov rsi,[rdi+60h]
002d  mov [rsp+0C0h],rsi
0035  mov rsi,[rdi+88h]
003c  mov r8d,0
0042  mov [rsp],r8
0046  mov r8,[rdi+20h]
004a  mov [rsp+40h],r8
004f  nop word [rax+rax]
0058  nop word [rax+rax]
0061  nop word [rax+rax]
006a  nop word [rax+rax]
0073  nop word [rax+rax]
007c  nop dword [rax]
0080  mov r8,[rdi]
0083  mov r9,[rdi+10h]
0087  mov r10,[rdi+8]
008b  nop word [rax+rax]
0094  nop word [rax+rax]
009d  nop word [rax+rax]
00a6  nop word [rax+rax]
00af  nop word [rax+rax]
00b8  nop dword [rax+rax]
00c0  mov r11,[rsp+80h]
00c8  mov rbx,[rsp+0C0h]
00d0  mov rbp,[r8]
00d3  add rbx,rbp
00d6  mov rbp,[rdi+18h]
00da  nop word [rax+rax]
00e3  nop word [rax+rax]
00ec  nop word [rax+rax]
00f5  nop word [rax+rax]
00fe  xchg ax,ax
0100  mov r12,[rdi+68h]
0104  mov r13,rbx
0107  prefetchw [r13]
010c  add r13,r12
010f  prefetchw [r13]
0114  add r13,r12
0117  prefetchw [r13]
011c  add r13,r12
011f  prefetchw [r13]
0124  add r13,r12
0127  prefetchw [r13]
012c  add r13,r12
012f  prefetchw [r13]
0134  add r13,r12
0137  prefetchw [r13]
013c  add r13,r12
013f  prefetchw [r13]
0144  add r13,r12
0147  prefetchw [r13]
014c  add r13,r12
014f  prefetchw [r13]
0154  add r13,r12
0157  prefetchw [r13]
015c  add r13,r12
015f  prefetchw [r13]
0164  add r13,r12
0167  prefetchw [r13]
016c  add r13,r12
016f  prefetchw [r13]
0174  add r13,r12
0177  vpxord zmm0,zmm0,zmm0
017d  vpxord zmm1,zmm1,zmm1
0183  vpxord zmm2,zmm2,zmm2
0189  vpxord zmm3,zmm3,zmm3
018f  vpxord zmm4,zmm4,zmm4
0195  vpxord zmm5,zmm5,zmm5
019b  vpxord zmm6,zmm6,zmm6
01a1  vpxord zmm7,zmm7,zmm7
01a7  vpxord zmm8,zmm8,zmm8
01ad  vpxord zmm9,zmm9,zmm9
01b3  vpxord zmm10,zmm10,zmm10
01b9  vpxord zmm11,zmm11,zmm11
01bf  vpxord zmm12,zmm12,zmm12
01c5  vpxord zmm13,zmm13,zmm13
01cb  mov r12,r9
01ce  mov r13,[r8+10h]
01d2  test r13,r13
01d5  jle near 395h
01db  nop word [rax+rax]
01e4  nop word [rax+rax]
01ed  nop word [rax+rax]
01f6  nop word [rax+rax]
01ff  nop
0200  mov r14,[r12]
0204  add r14,r11
0207  mov r15,[r12+8]
020c  add r15,rsi
020f  vmovups zmm14,[r15]
0215  vmovups zmm15,[r15+40h]
021c  vmovups zmm16,[r15+80h]
0223  vfmadd231ps zmm0,zmm14,[r14]
0229  vmovups zmm17,[r14+rax]
0230  vfmadd231ps zmm1,zmm17,zmm14
0236  vfmadd231ps zmm0,zmm17,zmm15
023c  vmovups zmm17,[r14+rax*2]
0243  vfmadd231ps zmm2,zmm17,zmm14
0249  vfmadd231ps zmm1,zmm17,zmm15
024f  vfmadd231ps zmm0,zmm17,zmm16
0255  vmovups zmm17,[r14+rcx]
025c  vfmadd231ps zmm3,zmm17,zmm14
0262  vfmadd231ps zmm2,zmm17,zmm15
0268  vfmadd231ps zmm1,zmm17,zmm16
026e  vmovups zmm17,[r14+rax*4]
0275  vfmadd231ps zmm4,zmm17,zmm14
027b  vfmadd231ps zmm3,zmm17,zmm15
0281  vfmadd231ps zmm2,zmm17,zmm16
0287  add r14,rdx
028a  vmovups zmm17,[r14]
0290  vfmadd231ps zmm5,zmm17,zmm14
0296  vfmadd231ps zmm4,zmm17,zmm15
029c  vfmadd231ps zmm3,zmm17,zmm16
02a2  vmovups zmm17,[r14+rax]
02a9  vfmadd231ps zmm6,zmm17,zmm14
02af  vfmadd231ps zmm5,zmm17,zmm15
02b5  vfmadd231ps zmm4,zmm17,zmm16
02bb  vmovups zmm17,[r14+rax*2]
02c2  vfmadd231ps zmm7,zmm17,zmm14
02c8  vfmadd231ps zmm6,zmm17,zmm15
02ce  vfmadd231ps zmm5,zmm17,zmm16
02d4  vmovups zmm17,[r14+rcx]
02db  vfmadd231ps zmm8,zmm17,zmm14
02e1  vfmadd231ps zmm7,zmm17,zmm15
02e7  vfmadd231ps zmm6,zmm17,zmm16
02ed  vmovups zmm17,[r14+rax*4]
02f4  vfmadd231ps zmm9,zmm17,zmm14
02fa  vfmadd231ps zmm8,zmm17,zmm15
0300  vfmadd231ps zmm7,zmm17,zmm16
0306  add r14,rdx
0309  vmovups zmm17,[r14]
030f  vfmadd231ps zmm10,zmm17,zmm14
0315  vfmadd231ps zmm9,zmm17,zmm15
031b  vfmadd231ps zmm8,zmm17,zmm16
0321  vmovups zmm17,[r14+rax]
0328  vfmadd231ps zmm11,zmm17,zmm14
032e  vfmadd231ps zmm10,zmm17,zmm15
0334  vfmadd231ps zmm9,zmm17,zmm16
033a  vmovups zmm17,[r14+rax*2]
0341  vfmadd231ps zmm12,zmm17,zmm14
0347  vfmadd231ps zmm11,zmm17,zmm15
034d  vfmadd231ps zmm10,zmm17,zmm16
0353  vmovups zmm17,[r14+rcx]
035a  vfmadd231ps zmm13,zmm17,zmm14
0360  vfmadd231ps zmm12,zmm17,zmm15
0366  vfmadd231ps zmm11,zmm17,zmm16
036c  vmovups zmm14,[r14+rax*4]
0373  vfmadd231ps zmm13,zmm14,zmm15
0379  vfmadd231ps zmm12,zmm14,zmm16
037f  add r14,rdx
0382  vfmadd231ps zmm13,zmm16,[r14]
0388  add r12,18h
038c  dec r13
038f  jne near 200h
0395  vmovups [rbx],zmm0
039b  mov r12,[rdi+68h]
039f  mov r13,rbx
03a2  add r13,r12
03a5  vmovups [r13],zmm1
03ac  add r13,r12
03af  vmovups [r13],zmm2
03b6  add r13,r12
03b9  vmovups [r13],zmm3
03c0  add r13,r12
03c3  vmovups [r13],zmm4
03ca  add r13,r12
03cd  vmovups [r13],zmm5
03d4  add r13,r12
03d7  vmovups [r13],zmm6
03de  add r13,r12
03e1  vmovups [r13],zmm7
03e8  add r13,r12
03eb  vmovups [r13],zmm8
03f2  add r13,r12
03f5  vmovups [r13],zmm9
03fc  add r13,r12
03ff  vmovups [r13],zmm10
0406  add r13,r12
0409  vmovups [r13],zmm11
0410  add r13,r12
0413  vmovups [r13],zmm12
041a  add r13,r12
041d  vmovups [r13],zmm13
0424  mov r12,[rdi+48h]
0428  add r11,r12
042b  mov r12,[rdi+70h]
042f  add rbx,r12
0432  dec rbp
0435  jne near 100h
043b  mov r11,[r8+10h]
043f  mov ebx,18h
0444  imul r11,rbx
0448  add r9,r11
044b  add r8,20h
044f  dec r10
0452  jne near 0C0h
0458  mov r8,[rdi+58h]
045c  mov r9,[rsp+80h]
0464  add r9,r8
0467  mov [rsp+80h],r9
046f  mov r8,[rdi+80h]
0476  mov r9,[rsp+0C0h]
047e  add r9,r8
0481  mov [rsp+0C0h],r9
0489  mov r8,[rdi+0A8h]
0490  add rsi,r8
0493  mov r8,[rsp]
0497  add r8,10h
049b  mov [rsp],r8
049f  mov r8,[rsp+40h]
04a4  dec r8
04a7  mov [rsp+40h],r8
04ac  jne near 80h
04b2  add rsp,100h
04b9  pop r15
04bb  pop r14
04bd  pop r13
04bf  pop r12
04c1  pop rbp
04c2  pop rbx
04c3  vzeroupper
04c6  ret
