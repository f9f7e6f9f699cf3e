; 192 instructions, 1157 bytes, 18 spills, 0 of them in inner loops
0000  push rbx
0001  push rbp
0002  push r12
0004  push r13
0006  push r14
0008  push r15
000a  sub rsp,140h
0011  mov rax,[rdi+58h]
0015  vmovd xmm0,eax
0019  vpbroadcastd ymm0,xmm0
001e  vpcmpgtd ymm0,ymm0,[rel 4A0h]
0026  mov rax,[rdi+50h]
002a  mov rcx,[rdi]
002d  mov rdx,[rdi+8]
0031  mov [rsp],rdx
0035  nop word [rax+rax]
003e  xchg ax,ax
0040  mov rdx,rcx
0043  mov esi,0
0048  mov [rsp+100h],rsi
0050  mov rsi,[rcx+8]
0054  mov [rsp+40h],rsi
0059  nop word [rax+rax]
0062  nop word [rax+rax]
006b  nop word [rax+rax]
0074  nop word [rax+rax]
007d  nop dword [rax]
0080  mov rsi,[rdi+20h]
0084  mov r8d,0
008a  mov [rsp+0C0h],r8
0092  mov r8,[rdi+10h]
0096  mov [rsp+80h],r8
009e  nop word [rax+rax]
00a7  nop word [rax+rax]
00b0  nop word [rax+rax]
00b9  nop dword [rax]
00c0  vpxor ymm1,ymm1,ymm1
00c4  vpxor ymm2,ymm2,ymm2
00c8  vpxor ymm3,ymm3,ymm3
00cc  vpxor ymm4,ymm4,ymm4
00d0  vpxor ymm5,ymm5,ymm5
00d4  vpxor ymm6,ymm6,ymm6
00d8  vpxor ymm7,ymm7,ymm7
00dc  vpxor ymm8,ymm8,ymm8
00e1  vpxor ymm9,ymm9,ymm9
00e6  vpxor ymm10,ymm10,ymm10
00eb  vpxor ymm11,ymm11,ymm11
00f0  vpxor ymm12,ymm12,ymm12
00f5  mov rdx,rcx
00f8  mov r8,[rcx]
00fb  add rdx,58h
00ff  test r8,r8
0102  jle near 382h
0108  nop word [rax+rax]
0111  nop word [rax+rax]
011a  nop word [rax+rax]
0123  nop word [rax+rax]
012c  nop word [rax+rax]
0135  nop word [rax+rax]
013e  xchg ax,ax
0140  mov r9,[rdx]
0143  add r9,rsi
0146  mov r10,[rdx+8]
014a  mov r11,[rdx+10h]
014e  mov rbx,[rdx+18h]
0152  mov rbp,[rdx+20h]
0156  mov r12,[rdx+28h]
015a  mov r13,[rdx+30h]
015e  add rdx,38h
0162  mov r14,[rcx+18h]
0166  mov r15,[rsp+100h]
016e  imul r14,r15
0172  mov r15,[rdi+30h]
0176  add r14,r15
0179  mov r15,[rdi+18h]
017d  shr r15,1
0181  test r15,r15
0184  jle near 2B1h
018a  nop word [rax+rax]
0193  nop word [rax+rax]
019c  nop word [rax+rax]
01a5  nop word [rax+rax]
01ae  nop word [rax+rax]
01b7  nop word [rax+rax]
01c0  vmovups ymm13,[r9]
01c5  vmaskmovps ymm14,ymm0,[r9+20h]
01cb  vpbroadcastd ymm15,[r10+r14]
01d1  vfmadd231ps ymm1,ymm15,ymm13
01d6  vfmadd231ps ymm2,ymm15,ymm14
01db  vpbroadcastd ymm15,[r11+r14]
01e1  vfmadd231ps ymm3,ymm15,ymm13
01e6  vfmadd231ps ymm4,ymm15,ymm14
01eb  vpbroadcastd ymm15,[rbx+r14]
01f1  vfmadd231ps ymm5,ymm15,ymm13
01f6  vfmadd231ps ymm6,ymm15,ymm14
01fb  vpbroadcastd ymm15,[rbp+r14]
0202  vfmadd231ps ymm7,ymm15,ymm13
0207  vfmadd231ps ymm8,ymm15,ymm14
020c  vpbroadcastd ymm15,[r12+r14]
0212  vfmadd231ps ymm9,ymm15,ymm13
0217  vfmadd231ps ymm10,ymm15,ymm14
021c  vpbroadcastd ymm15,[r13+r14]
0223  vfmadd231ps ymm11,ymm15,ymm13
0228  vfmadd231ps ymm12,ymm15,ymm14
022d  add r9,rax
0230  vmovups ymm13,[r9]
0235  vmaskmovps ymm14,ymm0,[r9+20h]
023b  vpbroadcastd ymm15,[r10+r14+4]
0242  vfmadd231ps ymm1,ymm15,ymm13
0247  vfmadd231ps ymm2,ymm15,ymm14
024c  vpbroadcastd ymm15,[r11+r14+4]
0253  vfmadd231ps ymm3,ymm15,ymm13
0258  vfmadd231ps ymm4,ymm15,ymm14
025d  vpbroadcastd ymm15,[rbx+r14+4]
0264  vfmadd231ps ymm5,ymm15,ymm13
0269  vfmadd231ps ymm6,ymm15,ymm14
026e  vpbroadcastd ymm15,[rbp+r14+4]
0275  vfmadd231ps ymm7,ymm15,ymm13
027a  vfmadd231ps ymm8,ymm15,ymm14
027f  vpbroadcastd ymm15,[r12+r14+4]
0286  vfmadd231ps ymm9,ymm15,ymm13
028b  vfmadd231ps ymm10,ymm15,ymm14
0290  vpbroadcastd ymm15,[r13+r14+4]
0297  vfmadd231ps ymm11,ymm15,ymm13
029c  vfmadd231ps ymm12,ymm15,ymm14
02a1  add r9,rax
02a4  add r14,8
02a8  dec r15
02ab  jne near 1C0h
02b1  mov r15,[rdi+18h]
02b5  and r15,1
02b9  test r15,r15
02bc  jle near 379h
02c2  nop word [rax+rax]
02cb  nop word [rax+rax]
02d4  nop word [rax+rax]
02dd  nop word [rax+rax]
02e6  nop word [rax+rax]
02ef  nop word [rax+rax]
02f8  nop dword [rax+rax]
0300  vmovups ymm13,[r9]
0305  vmaskmovps ymm14,ymm0,[r9+20h]
030b  vpbroadcastd ymm15,[r10+r14]
0311  vfmadd231ps ymm1,ymm15,ymm13
0316  vfmadd231ps ymm2,ymm15,ymm14
031b  vpbroadcastd ymm15,[r11+r14]
0321  vfmadd231ps ymm3,ymm15,ymm13
0326  vfmadd231ps ymm4,ymm15,ymm14
032b  vpbroadcastd ymm15,[rbx+r14]
0331  vfmadd231ps ymm5,ymm15,ymm13
0336  vfmadd231ps ymm6,ymm15,ymm14
033b  vpbroadcastd ymm15,[rbp+r14]
0342  vfmadd231ps ymm7,ymm15,ymm13
0347  vfmadd231ps ymm8,ymm15,ymm14
034c  vpbroadcastd ymm15,[r12+r14]
0352  vfmadd231ps ymm9,ymm15,ymm13
0357  vfmadd231ps ymm10,ymm15,ymm14
035c  vpbroadcastd ymm15,[r13+r14]
0363  vfmadd231ps ymm11,ymm15,ymm13
0368  vfmadd231ps ymm12,ymm15,ymm14
036d  add r9,rax
0370  add r14,4
0374  dec r15
0377  jne short 300h
0379  dec r8
037c  jne near 140h
0382  mov r8,[rdi+38h]
0386  mov r9,[rcx+10h]
038a  mov r10,[rdi+40h]
038e  mov r11,[rsp+100h]
0396  imul r10,r11
039a  add r8,r9
039d  add r8,r10
03a0  mov r9,[rsp+0C0h]
03a8  lea r8,[r8+r9*4]
03ac  mov r9,[rdi+40h]
03b0  vmovups [r8],ymm1
03b5  vmaskmovps [r8+20h],ymm0,ymm2
03bb  add r8,r9
03be  vmovups [r8],ymm3
03c3  vmaskmovps [r8+20h],ymm0,ymm4
03c9  add r8,r9
03cc  vmovups [r8],ymm5
03d1  vmaskmovps [r8+20h],ymm0,ymm6
03d7  add r8,r9
03da  vmovups [r8],ymm7
03df  vmaskmovps [r8+20h],ymm0,ymm8
03e5  add r8,r9
03e8  vmovups [r8],ymm9
03ed  vmaskmovps [r8+20h],ymm0,ymm10
03f3  add r8,r9
03f6  vmovups [r8],ymm11
03fb  vmaskmovps [r8+20h],ymm0,ymm12
0401  mov r8,[rdi+28h]
0405  add rsi,r8
0408  mov r8,[rsp+0C0h]
0410  add r8,10h
0414  mov [rsp+0C0h],r8
041c  mov r8,[rsp+80h]
0424  dec r8
0427  mov [rsp+80h],r8
042f  jne near 0C0h
0435  mov rsi,[rsp+100h]
043d  add rsi,6
0441  mov [rsp+100h],rsi
0449  mov rsi,[rsp+40h]
044e  dec rsi
0451  mov [rsp+40h],rsi
0456  jne near 80h
045c  mov rcx,rdx
045f  mov rdx,[rsp]
0463  dec rdx
0466  mov [rsp],rdx
046a  jne near 40h
0470  add rsp,140h
0477  pop r15
0479  pop r14
047b  pop r13
047d  pop r12
047f  pop rbp
0480  pop rbx
0481  vzeroupper
0484  ret
