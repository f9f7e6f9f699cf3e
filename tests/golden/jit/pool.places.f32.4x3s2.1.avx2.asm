; 312 instructions, 1735 bytes, 14 spills, 0 of them in inner loops
0000  push rbx
0001  push rbp
0002  push r12
0004  push r13
0006  push r14
0008  push r15
000a  sub rsp,180h
0011  mov rax,[rdi+40h]
0015  lea rcx,[rax+rax*2]
0019  lea rdx,[rax+rax*4]
001d  mov rsi,[rdi+38h]
0021  mov [rsp+100h],rsi
0029  mov rsi,[rdi+60h]
002d  mov [rsp+140h],rsi
0035  mov rsi,[rdi+88h]
003c  mov r8d,0
0042  mov [rsp+80h],r8
004a  mov r8,[rdi+20h]
004e  mov [rsp+0C0h],r8
0056  nop word [rax+rax]
005f  nop word [rax+rax]
0068  nop word [rax+rax]
0071  nop word [rax+rax]
007a  nop word [rax+rax]
0080  mov r8,[rdi]
0083  mov r9,[rdi+10h]
0087  mov r10,[rdi+8]
008b  nop word [rax+rax]
0094  nop word [rax+rax]
009d  nop word [rax+rax]
00a6  nop word [rax+rax]
00af  nop word [rax+rax]
00b8  nop dword [rax+rax]
00c0  mov r11,[rsp+100h]
00c8  mov rbx,[rsp+140h]
00d0  mov rbp,[r8]
00d3  add rbx,rbp
00d6  mov rbp,rsi
00d9  mov r12,[r8+8]
00dd  add rbp,r12
00e0  mov r12,[rdi+18h]
00e4  nop word [rax+rax]
00ed  nop word [rax+rax]
00f6  nop word [rax+rax]
00ff  nop
0100  mov r13,[rdi+68h]
0104  mov r14,rbx
0107  prefetchw [r14]
010b  add r14,r13
010e  prefetchw [r14]
0112  add r14,r13
0115  prefetchw [r14]
0119  add r14,r13
011c  prefetchw [r14]
0120  add r14,r13
0123  vpbroadcastd ymm0,[rel 6C8h]
012c  vpbroadcastd ymm1,[rel 6C8h]
0135  vpbroadcastd ymm2,[rel 6C8h]
013e  vpbroadcastd ymm3,[rel 6C8h]
0147  vpxor ymm4,ymm4,ymm4
014b  vpxor ymm5,ymm5,ymm5
014f  vpxor ymm6,ymm6,ymm6
0153  vpxor ymm7,ymm7,ymm7
0157  mov r13,r9
015a  mov r14,[r8+10h]
015e  test r14,r14
0161  jle near 295h
0167  nop word [rax+rax]
0170  nop word [rax+rax]
0179  nop dword [rax]
0180  mov r15,[r13]
0184  add r15,r11
0187  vpbroadcastd ymm8,[r13+10h]
018d  vaddps ymm9,ymm8,[rel 6E0h]
0195  vaddps ymm10,ymm8,[rel 700h]
019d  vmovups ymm11,[r15]
01a2  vcmpgt_oqps ymm12,ymm11,ymm0
01a7  vmaxps ymm0,ymm11,ymm0
01ab  vblendvps ymm4,ymm4,ymm8,ymm12
01b1  vmovups ymm11,[r15+rax]
01b7  vcmpgt_oqps ymm12,ymm11,ymm0
01bc  vmaxps ymm0,ymm11,ymm0
01c0  vblendvps ymm4,ymm4,ymm9,ymm12
01c6  vmovups ymm11,[r15+rax*2]
01cc  vcmpgt_oqps ymm12,ymm11,ymm1
01d1  vmaxps ymm1,ymm11,ymm1
01d5  vblendvps ymm5,ymm5,ymm8,ymm12
01db  vcmpgt_oqps ymm12,ymm11,ymm0
01e0  vmaxps ymm0,ymm11,ymm0
01e4  vblendvps ymm4,ymm4,ymm10,ymm12
01ea  vmovups ymm11,[r15+rcx]
01f0  vcmpgt_oqps ymm12,ymm11,ymm1
01f5  vmaxps ymm1,ymm11,ymm1
01f9  vblendvps ymm5,ymm5,ymm9,ymm12
01ff  vmovups ymm11,[r15+rax*4]
0205  vcmpgt_oqps ymm12,ymm11,ymm2
020a  vmaxps ymm2,ymm11,ymm2
020e  vblendvps ymm6,ymm6,ymm8,ymm12
0214  vcmpgt_oqps ymm12,ymm11,ymm1
0219  vmaxps ymm1,ymm11,ymm1
021d  vblendvps ymm5,ymm5,ymm10,ymm12
0223  add r15,rdx
0226  vmovups ymm11,[r15]
022b  vcmpgt_oqps ymm12,ymm11,ymm2
0230  vmaxps ymm2,ymm11,ymm2
0234  vblendvps ymm6,ymm6,ymm9,ymm12
023a  vmovups ymm11,[r15+rax]
0240  vcmpgt_oqps ymm12,ymm11,ymm3
0245  vmaxps ymm3,ymm11,ymm3
0249  vblendvps ymm7,ymm7,ymm8,ymm12
024f  vcmpgt_oqps ymm8,ymm11,ymm2
0254  vmaxps ymm2,ymm11,ymm2
0258  vblendvps ymm6,ymm6,ymm10,ymm8
025e  vmovups ymm8,[r15+rax*2]
0264  vcmpgt_oqps ymm11,ymm8,ymm3
0269  vmaxps ymm3,ymm8,ymm3
026d  vblendvps ymm7,ymm7,ymm9,ymm11
0273  vmovups ymm8,[r15+rcx]
0279  vcmpgt_oqps ymm9,ymm8,ymm3
027e  vmaxps ymm3,ymm8,ymm3
0282  vblendvps ymm7,ymm7,ymm10,ymm9
0288  add r13,18h
028c  dec r14
028f  jne near 180h
0295  vmovups ymm8,ymm0
0299  vminps ymm8,ymm8,ymm1
029d  vminps ymm8,ymm8,ymm2
02a1  vminps ymm8,ymm8,ymm3
02a5  vpbroadcastd ymm9,[rel 6C8h]
02ae  vcmpeqps ymm8,ymm8,ymm9
02b4  lea r13,[rsp]
02b8  add r13,3Fh
02bc  and r13,0FFFFFFFFFFFFFFC0h
02c0  vmovmskps r14d,ymm8
02c5  mov [r13],r14b
02c9  movzx r13d,byte [r13]
02ce  cmp r13,0
02d2  jle near 52Dh
02d8  vpbroadcastd ymm8,[rel 6D4h]
02e1  vmovups ymm0,ymm8
02e6  vmovups ymm1,ymm8
02eb  vmovups ymm2,ymm8
02f0  vmovups ymm3,ymm8
02f5  vpxor ymm4,ymm4,ymm4
02f9  vpxor ymm5,ymm5,ymm5
02fd  vpxor ymm6,ymm6,ymm6
0301  vpxor ymm7,ymm7,ymm7
0305  mov r13,r9
0308  mov r14,[r8+10h]
030c  test r14,r14
030f  jle near 52Dh
0315  nop word [rax+rax]
031e  nop word [rax+rax]
0327  nop word [rax+rax]
0330  nop word [rax+rax]
0339  nop dword [rax]
0340  mov r15,[r13]
0344  add r15,r11
0347  vpbroadcastd ymm8,[r13+10h]
034d  vaddps ymm9,ymm8,[rel 6E0h]
0355  vaddps ymm10,ymm8,[rel 700h]
035d  vmovups ymm11,[r15]
0362  vmaxps ymm12,ymm0,ymm11
0367  vcmpunordps ymm11,ymm11,ymm11
036d  vblendvps ymm11,ymm12,ymm0,ymm11
0373  vcmpneqps ymm12,ymm11,ymm0
0378  vmovups ymm0,ymm11
037d  vblendvps ymm4,ymm4,ymm8,ymm12
0383  vmovups ymm11,[r15+rax]
0389  vmaxps ymm12,ymm0,ymm11
038e  vcmpunordps ymm11,ymm11,ymm11
0394  vblendvps ymm11,ymm12,ymm0,ymm11
039a  vcmpneqps ymm12,ymm11,ymm0
039f  vmovups ymm0,ymm11
03a4  vblendvps ymm4,ymm4,ymm9,ymm12
03aa  vmovups ymm11,[r15+rax*2]
03b0  vmaxps ymm12,ymm1,ymm11
03b5  vcmpunordps ymm13,ymm11,ymm11
03bb  vblendvps ymm12,ymm12,ymm1,ymm13
03c1  vcmpneqps ymm13,ymm12,ymm1
03c6  vmovups ymm1,ymm12
03cb  vblendvps ymm5,ymm5,ymm8,ymm13
03d1  vmaxps ymm12,ymm0,ymm11
03d6  vcmpunordps ymm11,ymm11,ymm11
03dc  vblendvps ymm11,ymm12,ymm0,ymm11
03e2  vcmpneqps ymm12,ymm11,ymm0
03e7  vmovups ymm0,ymm11
03ec  vblendvps ymm4,ymm4,ymm10,ymm12
03f2  vmovups ymm11,[r15+rcx]
03f8  vmaxps ymm12,ymm1,ymm11
03fd  vcmpunordps ymm11,ymm11,ymm11
0403  vblendvps ymm11,ymm12,ymm1,ymm11
0409  vcmpneqps ymm12,ymm11,ymm1
040e  vmovups ymm1,ymm11
0413  vblendvps ymm5,ymm5,ymm9,ymm12
0419  vmovups ymm11,[r15+rax*4]
041f  vmaxps ymm12,ymm2,ymm11
0424  vcmpunordps ymm13,ymm11,ymm11
042a  vblendvps ymm12,ymm12,ymm2,ymm13
0430  vcmpneqps ymm13,ymm12,ymm2
0435  vmovups ymm2,ymm12
043a  vblendvps ymm6,ymm6,ymm8,ymm13
0440  vmaxps ymm12,ymm1,ymm11
0445  vcmpunordps ymm11,ymm11,ymm11
044b  vblendvps ymm11,ymm12,ymm1,ymm11
0451  vcmpneqps ymm12,ymm11,ymm1
0456  vmovups ymm1,ymm11
045b  vblendvps ymm5,ymm5,ymm10,ymm12
0461  add r15,rdx
0464  vmovups ymm11,[r15]
0469  vmaxps ymm12,ymm2,ymm11
046e  vcmpunordps ymm11,ymm11,ymm11
0474  vblendvps ymm11,ymm12,ymm2,ymm11
047a  vcmpneqps ymm12,ymm11,ymm2
047f  vmovups ymm2,ymm11
0484  vblendvps ymm6,ymm6,ymm9,ymm12
048a  vmovups ymm11,[r15+rax]
0490  vmaxps ymm12,ymm3,ymm11
0495  vcmpunordps ymm13,ymm11,ymm11
049b  vblendvps ymm12,ymm12,ymm3,ymm13
04a1  vcmpneqps ymm13,ymm12,ymm3
04a6  vmovups ymm3,ymm12
04ab  vblendvps ymm7,ymm7,ymm8,ymm13
04b1  vmaxps ymm8,ymm2,ymm11
04b6  vcmpunordps ymm11,ymm11,ymm11
04bc  vblendvps ymm8,ymm8,ymm2,ymm11
04c2  vcmpneqps ymm11,ymm8,ymm2
04c7  vmovups ymm2,ymm8
04cc  vblendvps ymm6,ymm6,ymm10,ymm11
04d2  vmovups ymm8,[r15+rax*2]
04d8  vmaxps ymm11,ymm3,ymm8
04dd  vcmpunordps ymm8,ymm8,ymm8
04e3  vblendvps ymm8,ymm11,ymm3,ymm8
04e9  vcmpneqps ymm11,ymm8,ymm3
04ee  vmovups ymm3,ymm8
04f3  vblendvps ymm7,ymm7,ymm9,ymm11
04f9  vmovups ymm8,[r15+rcx]
04ff  vmaxps ymm9,ymm3,ymm8
0504  vcmpunordps ymm8,ymm8,ymm8
050a  vblendvps ymm8,ymm9,ymm3,ymm8
0510  vcmpneqps ymm9,ymm8,ymm3
0515  vmovups ymm3,ymm8
051a  vblendvps ymm7,ymm7,ymm10,ymm9
0520  add r13,18h
0524  dec r14
0527  jne near 340h
052d  mov r13,[rdi+90h]
0534  mov r14,rbp
0537  vcmpordps ymm8,ymm4,ymm4
053c  vpand ymm8,ymm8,ymm4
0540  vminps ymm8,ymm8,[rel 720h]
0548  vcvtps2dq ymm8,ymm8
054d  vpackssdw ymm4,ymm8,ymm8
0552  vpermq ymm4,ymm4,8
0558  vpackuswb xmm4,xmm4,xmm4
055c  vmovq [r14],xmm4
0561  add r14,r13
0564  vcmpordps ymm4,ymm5,ymm5
0569  vpand ymm4,ymm4,ymm5
056d  vminps ymm4,ymm4,[rel 720h]
0575  vcvtps2dq ymm4,ymm4
0579  vpackssdw ymm4,ymm4,ymm4
057d  vpermq ymm4,ymm4,8
0583  vpackuswb xmm4,xmm4,xmm4
0587  vmovq [r14],xmm4
058c  add r14,r13
058f  vcmpordps ymm4,ymm6,ymm6
0594  vpand ymm4,ymm4,ymm6
0598  vminps ymm4,ymm4,[rel 720h]
05a0  vcvtps2dq ymm4,ymm4
05a4  vpackssdw ymm4,ymm4,ymm4
05a8  vpermq ymm4,ymm4,8
05ae  vpackuswb xmm4,xmm4,xmm4
05b2  vmovq [r14],xmm4
05b7  add r14,r13
05ba  vcmpordps ymm4,ymm7,ymm7
05bf  vpand ymm4,ymm4,ymm7
05c3  vminps ymm4,ymm4,[rel 720h]
05cb  vcvtps2dq ymm4,ymm4
05cf  vpackssdw ymm4,ymm4,ymm4
05d3  vpermq ymm4,ymm4,8
05d9  vpackuswb xmm4,xmm4,xmm4
05dd  vmovq [r14],xmm4
05e2  add r14,r13
05e5  mov r13,[rdi+68h]
05e9  mov r14,rbx
05ec  vmovups [r14],ymm0
05f1  add r14,r13
05f4  vmovups [r14],ymm1
05f9  add r14,r13
05fc  vmovups [r14],ymm2
0601  add r14,r13
0604  vmovups [r14],ymm3
0609  add r14,r13
060c  mov r13,[rdi+48h]
0610  add r11,r13
0613  mov r13,[rdi+70h]
0617  add rbx,r13
061a  mov r13,[rdi+98h]
0621  add rbp,r13
0624  dec r12
0627  jne near 100h
062d  mov r11,[r8+10h]
0631  mov ebx,18h
0636  imul r11,rbx
063a  add r9,r11
063d  add r8,20h
0641  dec r10
0644  jne near 0C0h
064a  mov r8,[rdi+58h]
064e  mov r9,[rsp+100h]
0656  add r9,r8
0659  mov [rsp+100h],r9
0661  mov r8,[rdi+80h]
0668  mov r9,[rsp+140h]
0670  add r9,r8
0673  mov [rsp+140h],r9
067b  mov r8,[rdi+0A8h]
0682  add rsi,r8
0685  mov r8,[rsp+80h]
068d  add r8,8
0691  mov [rsp+80h],r8
0699  mov r8,[rsp+0C0h]
06a1  dec r8
06a4  mov [rsp+0C0h],r8
06ac  jne near 80h
06b2  add rsp,180h
06b9  pop r15
06bb  pop r14
06bd  pop r13
06bf  pop r12
06c1  pop rbp
06c2  pop rbx
06c3  vzeroupper
06c6  ret
