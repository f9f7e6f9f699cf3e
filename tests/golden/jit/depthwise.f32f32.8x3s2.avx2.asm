; 157 instructions, 843 bytes, 14 spills, 0 of them in inner loops
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
0147  vpxor ymm0,ymm0,ymm0
014b  vpxor ymm1,ymm1,ymm1
014f  vpxor ymm2,ymm2,ymm2
0153  vpxor ymm3,ymm3,ymm3
0157  vpxor ymm4,ymm4,ymm4
015b  vpxor ymm5,ymm5,ymm5
015f  vpxor ymm6,ymm6,ymm6
0163  vpxor ymm7,ymm7,ymm7
0167  mov r12,r9
016a  mov r13,[r8+10h]
016e  test r13,r13
0171  jle near 25Eh
0177  nop word [rax+rax]
0180  mov r14,[r12]
0184  add r14,r11
0187  mov r15,[r12+8]
018c  add r15,rsi
018f  vmovups ymm8,[r15]
0194  vmovups ymm9,[r15+20h]
019a  vmovups ymm10,[r15+40h]
01a0  vfmadd231ps ymm0,ymm8,[r14]
01a5  vfmadd231ps ymm0,ymm9,[r14+rax]
01ab  vmovups ymm11,[r14+rax*2]
01b1  vfmadd231ps ymm1,ymm11,ymm8
01b6  vfmadd231ps ymm0,ymm11,ymm10
01bb  vfmadd231ps ymm1,ymm9,[r14+rcx]
01c1  vmovups ymm11,[r14+rax*4]
01c7  vfmadd231ps ymm2,ymm11,ymm8
01cc  vfmadd231ps ymm1,ymm11,ymm10
01d1  add r14,rdx
01d4  vfmadd231ps ymm2,ymm9,[r14]
01d9  vmovups ymm11,[r14+rax]
01df  vfmadd231ps ymm3,ymm11,ymm8
01e4  vfmadd231ps ymm2,ymm11,ymm10
01e9  vfmadd231ps ymm3,ymm9,[r14+rax*2]
01ef  vmovups ymm11,[r14+rcx]
01f5  vfmadd231ps ymm4,ymm11,ymm8
01fa  vfmadd231ps ymm3,ymm11,ymm10
01ff  vfmadd231ps ymm4,ymm9,[r14+rax*4]
0205  add r14,rdx
0208  vmovups ymm11,[r14]
020d  vfmadd231ps ymm5,ymm11,ymm8
0212  vfmadd231ps ymm4,ymm11,ymm10
0217  vfmadd231ps ymm5,ymm9,[r14+rax]
021d  vmovups ymm11,[r14+rax*2]
0223  vfmadd231ps ymm6,ymm11,ymm8
0228  vfmadd231ps ymm5,ymm11,ymm10
022d  vfmadd231ps ymm6,ymm9,[r14+rcx]
0233  vmovups ymm11,[r14+rax*4]
0239  vfmadd231ps ymm7,ymm11,ymm8
023e  vfmadd231ps ymm6,ymm11,ymm10
0243  add r14,rdx
0246  vfmadd231ps ymm7,ymm9,[r14]
024b  vfmadd231ps ymm7,ymm10,[r14+rax]
0251  add r12,18h
0255  dec r13
0258  jne near 180h
025e  vmovups [rbx],ymm0
0262  mov r12,[rdi+68h]
0266  mov r13,rbx
0269  add r13,r12
026c  vmovups [r13],ymm1
0272  add r13,r12
0275  vmovups [r13],ymm2
027b  add r13,r12
027e  vmovups [r13],ymm3
0284  add r13,r12
0287  vmovups [r13],ymm4
028d  add r13,r12
0290  vmovups [r13],ymm5
0296  add r13,r12
0299  vmovups [r13],ymm6
029f  add r13,r12
02a2  vmovups [r13],ymm7
02a8  mov r12,[rdi+48h]
02ac  add r11,r12
02af  mov r12,[rdi+70h]
02b3  add rbx,r12
02b6  dec rbp
02b9  jne near 100h
02bf  mov r11,[r8+10h]
02c3  mov ebx,18h
02c8  imul r11,rbx
02cc  add r9,r11
02cf  add r8,20h
02d3  dec r10
02d6  jne near 0C0h
02dc  mov r8,[rdi+58h]
02e0  mov r9,[rsp+80h]
02e8  add r9,r8
02eb  mov [rsp+80h],r9
02f3  mov r8,[rdi+80h]
02fa  mov r9,[rsp+0C0h]
0302  add r9,r8
0305  mov [rsp+0C0h],r9
030d  mov r8,[rdi+0A8h]
0314  add rsi,r8
0317  mov r8,[rsp]
031b  add r8,8
031f  mov [rsp],r8
0323  mov r8,[rsp+40h]
0328  dec r8
032b  mov [rsp+40h],r8
0330  jne near 80h
0336  add rsp,100h
033d  pop r15
033f  pop r14
0341  pop r13
0343  pop r12
0345  pop rbp
0346  pop rbx
0347  vzeroupper
034a  ret
