; 212 instructions, 1216 bytes, 14 spills, 0 of them in inner loops
0000  push rbx
0001  push rbp
0002  push r12
0004  push r13
0006  push r14
0008  push r15
000a  sub rsp,100h
0011  mov rax,[rdi+20h]
0015  lea rcx,[rax+rax*2]
0019  lea rdx,[rax+rax*4]
001d  mov rsi,[rdi+18h]
0021  mov [rsp+80h],rsi
0029  mov rsi,[rdi+60h]
002d  mov [rsp+0C0h],rsi
0035  mov rsi,[rdi+50h]
0039  mov r8d,0
003f  mov [rsp],r8
0043  mov r8,[rdi+40h]
0047  mov [rsp+40h],r8
004c  nop word [rax+rax]
0055  nop word [rax+rax]
005e  nop word [rax+rax]
0067  nop word [rax+rax]
0070  nop word [rax+rax]
0079  nop dword [rax]
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
00d6  mov rbp,[rdi+38h]
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
01ce  mov r13,[r8+8]
01d2  test r13,r13
01d5  jle near 395h
01db  nop word [rax+rax]
01e4  nop word [rax+rax]
01ed  nop word [rax+rax]
01f6  nop word [rax+rax]
01ff  nop
0200  mov r14,[r12]
0204  mov r15,[r12+8]
0209  add r12,10h
020d  add r14,r11
0210  add r15,rsi
0213  vmovups zmm14,[r15]
0219  vmovups zmm15,[r15+40h]
0220  vmovups zmm16,[r15+80h]
0227  vfmadd231ps zmm0,zmm14,[r14]
022d  vmovups zmm17,[r14+rax]
0234  vfmadd231ps zmm1,zmm17,zmm14
023a  vfmadd231ps zmm0,zmm17,zmm15
0240  vmovups zmm17,[r14+rax*2]
0247  vfmadd231ps zmm2,zmm17,zmm14
024d  vfmadd231ps zmm1,zmm17,zmm15
0253  vfmadd231ps zmm0,zmm17,zmm16
0259  vmovups zmm17,[r14+rcx]
0260  vfmadd231ps zmm3,zmm17,zmm14
0266  vfmadd231ps zmm2,zmm17,zmm15
026c  vfmadd231ps zmm1,zmm17,zmm16
0272  vmovups zmm17,[r14+rax*4]
0279  vfmadd231ps zmm4,zmm17,zmm14
027f  vfmadd231ps zmm3,zmm17,zmm15
0285  vfmadd231ps zmm2,zmm17,zmm16
028b  add r14,rdx
028e  vmovups zmm17,[r14]
0294  vfmadd231ps zmm5,zmm17,zmm14
029a  vfmadd231ps zmm4,zmm17,zmm15
02a0  vfmadd231ps zmm3,zmm17,zmm16
02a6  vmovups zmm17,[r14+rax]
02ad  vfmadd231ps zmm6,zmm17,zmm14
02b3  vfmadd231ps zmm5,zmm17,zmm15
02b9  vfmadd231ps zmm4,zmm17,zmm16
02bf  vmovups zmm17,[r14+rax*2]
02c6  vfmadd231ps zmm7,zmm17,zmm14
02cc  vfmadd231ps zmm6,zmm17,zmm15
02d2  vfmadd231ps zmm5,zmm17,zmm16
02d8  vmovups zmm17,[r14+rcx]
02df  vfmadd231ps zmm8,zmm17,zmm14
02e5  vfmadd231ps zmm7,zmm17,zmm15
02eb  vfmadd231ps zmm6,zmm17,zmm16
02f1  vmovups zmm17,[r14+rax*4]
02f8  vfmadd231ps zmm9,zmm17,zmm14
02fe  vfmadd231ps zmm8,zmm17,zmm15
0304  vfmadd231ps zmm7,zmm17,zmm16
030a  add r14,rdx
030d  vmovups zmm17,[r14]
0313  vfmadd231ps zmm10,zmm17,zmm14
0319  vfmadd231ps zmm9,zmm17,zmm15
031f  vfmadd231ps zmm8,zmm17,zmm16
0325  vmovups zmm17,[r14+rax]
032c  vfmadd231ps zmm11,zmm17,zmm14
0332  vfmadd231ps zmm10,zmm17,zmm15
0338  vfmadd231ps zmm9,zmm17,zmm16
033e  vmovups zmm17,[r14+rax*2]
0345  vfmadd231ps zmm12,zmm17,zmm14
034b  vfmadd231ps zmm11,zmm17,zmm15
0351  vfmadd231ps zmm10,zmm17,zmm16
0357  vmovups zmm17,[r14+rcx]
035e  vfmadd231ps zmm13,zmm17,zmm14
0364  vfmadd231ps zmm12,zmm17,zmm15
036a  vfmadd231ps zmm11,zmm17,zmm16
0370  vmovups zmm14,[r14+rax*4]
0377  vfmadd231ps zmm13,zmm14,zmm15
037d  vfmadd231ps zmm12,zmm14,zmm16
0383  add r14,rdx
0386  vfmadd231ps zmm13,zmm16,[r14]
038c  dec r13
038f  jne near 200h
0395  mov r12,[rdi+68h]
0399  mov r13,rbx
039c  vmovups [r13],zmm0
03a3  add r13,r12
03a6  vmovups [r13],zmm1
03ad  add r13,r12
03b0  vmovups [r13],zmm2
03b7  add r13,r12
03ba  vmovups [r13],zmm3
03c1  add r13,r12
03c4  vmovups [r13],zmm4
03cb  add r13,r12
03ce  vmovups [r13],zmm5
03d5  add r13,r12
03d8  vmovups [r13],zmm6
03df  add r13,r12
03e2  vmovups [r13],zmm7
03e9  add r13,r12
03ec  vmovups [r13],zmm8
03f3  add r13,r12
03f6  vmovups [r13],zmm9
03fd  add r13,r12
0400  vmovups [r13],zmm10
0407  add r13,r12
040a  vmovups [r13],zmm11
0411  add r13,r12
0414  vmovups [r13],zmm12
041b  add r13,r12
041e  vmovups [r13],zmm13
0425  add r13,r12
0428  mov r12,[rdi+28h]
042c  add r11,r12
042f  mov r12,[rdi+70h]
0433  add rbx,r12
0436  dec rbp
0439  jne near 100h
043f  mov r11,[r8+8]
0443  shl r11,4
0447  add r9,r11
044a  add r8,10h
044e  dec r10
0451  jne near 0C0h
0457  mov r8,[rdi+30h]
045b  mov r9,[rsp+80h]
0463  add r9,r8
0466  mov [rsp+80h],r9
046e  mov r8,[rdi+78h]
0472  mov r9,[rsp+0C0h]
047a  add r9,r8
047d  mov [rsp+0C0h],r9
0485  mov r8,[rdi+58h]
0489  add rsi,r8
048c  mov r8,[rsp]
0490  add r8,10h
0494  mov [rsp],r8
0498  mov r8,[rsp+40h]
049d  dec r8
04a0  mov [rsp+40h],r8
04a5  jne near 80h
04ab  add rsp,100h
04b2  pop r15
04b4  pop r14
04b6  pop r13
04b8  pop r12
04ba  pop rbp
04bb  pop rbx
04bc  vzeroupper
04bf  ret
