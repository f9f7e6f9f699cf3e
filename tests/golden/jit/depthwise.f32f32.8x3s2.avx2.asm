; 157 instructions, 837 bytes, 14 spills, 0 of them in inner loops
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
0147  vpxor ymm0,ymm0,ymm0
014b  vpxor ymm1,ymm1,ymm1
014f  vpxor ymm2,ymm2,ymm2
0153  vpxor ymm3,ymm3,ymm3
0157  vpxor ymm4,ymm4,ymm4
015b  vpxor ymm5,ymm5,ymm5
015f  vpxor ymm6,ymm6,ymm6
0163  vpxor ymm7,ymm7,ymm7
0167  mov r12,r9
016a  mov r13,[r8+8]
016e  test r13,r13
0171  jle near 25Eh
0177  nop word [rax+rax]
0180  mov r14,[r12]
0184  mov r15,[r12+8]
0189  add r12,10h
018d  add r14,r11
0190  add r15,rsi
0193  vmovups ymm8,[r15]
0198  vmovups ymm9,[r15+20h]
019e  vmovups ymm10,[r15+40h]
01a4  vfmadd231ps ymm0,ymm8,[r14]
01a9  vfmadd231ps ymm0,ymm9,[r14+rax]
01af  vmovups ymm11,[r14+rax*2]
01b5  vfmadd231ps ymm1,ymm11,ymm8
01ba  vfmadd231ps ymm0,ymm11,ymm10
01bf  vfmadd231ps ymm1,ymm9,[r14+rcx]
01c5  vmovups ymm11,[r14+rax*4]
01cb  vfmadd231ps ymm2,ymm11,ymm8
01d0  vfmadd231ps ymm1,ymm11,ymm10
01d5  add r14,rdx
01d8  vfmadd231ps ymm2,ymm9,[r14]
01dd  vmovups ymm11,[r14+rax]
01e3  vfmadd231ps ymm3,ymm11,ymm8
01e8  vfmadd231ps ymm2,ymm11,ymm10
01ed  vfmadd231ps ymm3,ymm9,[r14+rax*2]
01f3  vmovups ymm11,[r14+rcx]
01f9  vfmadd231ps ymm4,ymm11,ymm8
01fe  vfmadd231ps ymm3,ymm11,ymm10
0203  vfmadd231ps ymm4,ymm9,[r14+rax*4]
0209  add r14,rdx
020c  vmovups ymm11,[r14]
0211  vfmadd231ps ymm5,ymm11,ymm8
0216  vfmadd231ps ymm4,ymm11,ymm10
021b  vfmadd231ps ymm5,ymm9,[r14+rax]
0221  vmovups ymm11,[r14+rax*2]
0227  vfmadd231ps ymm6,ymm11,ymm8
022c  vfmadd231ps ymm5,ymm11,ymm10
0231  vfmadd231ps ymm6,ymm9,[r14+rcx]
0237  vmovups ymm11,[r14+rax*4]
023d  vfmadd231ps ymm7,ymm11,ymm8
0242  vfmadd231ps ymm6,ymm11,ymm10
0247  add r14,rdx
024a  vfmadd231ps ymm7,ymm9,[r14]
024f  vfmadd231ps ymm7,ymm10,[r14+rax]
0255  dec r13
0258  jne near 180h
025e  mov r12,[rdi+68h]
0262  mov r13,rbx
0265  vmovups [r13],ymm0
026b  add r13,r12
026e  vmovups [r13],ymm1
0274  add r13,r12
0277  vmovups [r13],ymm2
027d  add r13,r12
0280  vmovups [r13],ymm3
0286  add r13,r12
0289  vmovups [r13],ymm4
028f  add r13,r12
0292  vmovups [r13],ymm5
0298  add r13,r12
029b  vmovups [r13],ymm6
02a1  add r13,r12
02a4  vmovups [r13],ymm7
02aa  add r13,r12
02ad  mov r12,[rdi+28h]
02b1  add r11,r12
02b4  mov r12,[rdi+70h]
02b8  add rbx,r12
02bb  dec rbp
02be  jne near 100h
02c4  mov r11,[r8+8]
02c8  shl r11,4
02cc  add r9,r11
02cf  add r8,10h
02d3  dec r10
02d6  jne near 0C0h
02dc  mov r8,[rdi+30h]
02e0  mov r9,[rsp+80h]
02e8  add r9,r8
02eb  mov [rsp+80h],r9
02f3  mov r8,[rdi+78h]
02f7  mov r9,[rsp+0C0h]
02ff  add r9,r8
0302  mov [rsp+0C0h],r9
030a  mov r8,[rdi+58h]
030e  add rsi,r8
0311  mov r8,[rsp]
0315  add r8,8
0319  mov [rsp],r8
031d  mov r8,[rsp+40h]
0322  dec r8
0325  mov [rsp+40h],r8
032a  jne near 80h
0330  add rsp,100h
0337  pop r15
0339  pop r14
033b  pop r13
033d  pop r12
033f  pop rbp
0340  pop rbx
0341  vzeroupper
0344  ret
