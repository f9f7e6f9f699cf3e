; 345 instructions, 1905 bytes, 14 spills, 0 of them in inner loops
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
0123  vpbroadcastd ymm0,[rel 774h]
012c  vpbroadcastd ymm1,[rel 774h]
0135  vpbroadcastd ymm2,[rel 774h]
013e  vpbroadcastd ymm3,[rel 774h]
0147  vpxor ymm4,ymm4,ymm4
014b  vpxor ymm5,ymm5,ymm5
014f  vpxor ymm6,ymm6,ymm6
0153  vpxor ymm7,ymm7,ymm7
0157  mov r13,r9
015a  mov r14,[r8+10h]
015e  cmp r14,0
0162  jle near 395h
0168  mov r15,[r13]
016c  add r15,r11
016f  vpbroadcastd ymm8,[r13+10h]
0175  vpaddd ymm9,ymm8,[rel 780h]
017d  vpaddd ymm10,ymm8,[rel 7A0h]
0185  vmovups ymm11,[r15]
018a  vmovups ymm0,ymm11
018f  vmovups ymm4,ymm8
0194  vmovups ymm11,[r15+rax]
019a  vcmpgt_oqps ymm12,ymm11,ymm0
019f  vmaxps ymm0,ymm11,ymm0
01a3  vblendvps ymm4,ymm4,ymm9,ymm12
01a9  vmovups ymm11,[r15+rax*2]
01af  vmovups ymm1,ymm11
01b4  vmovups ymm5,ymm8
01b9  vcmpgt_oqps ymm12,ymm11,ymm0
01be  vmaxps ymm0,ymm11,ymm0
01c2  vblendvps ymm4,ymm4,ymm10,ymm12
01c8  vmovups ymm11,[r15+rcx]
01ce  vcmpgt_oqps ymm12,ymm11,ymm1
01d3  vmaxps ymm1,ymm11,ymm1
01d7  vblendvps ymm5,ymm5,ymm9,ymm12
01dd  vmovups ymm11,[r15+rax*4]
01e3  vmovups ymm2,ymm11
01e8  vmovups ymm6,ymm8
01ed  vcmpgt_oqps ymm12,ymm11,ymm1
01f2  vmaxps ymm1,ymm11,ymm1
01f6  vblendvps ymm5,ymm5,ymm10,ymm12
01fc  add r15,rdx
01ff  vmovups ymm11,[r15]
0204  vcmpgt_oqps ymm12,ymm11,ymm2
0209  vmaxps ymm2,ymm11,ymm2
020d  vblendvps ymm6,ymm6,ymm9,ymm12
0213  vmovups ymm11,[r15+rax]
0219  vmovups ymm3,ymm11
021e  vmovups ymm7,ymm8
0223  vcmpgt_oqps ymm8,ymm11,ymm2
0228  vmaxps ymm2,ymm11,ymm2
022c  vblendvps ymm6,ymm6,ymm10,ymm8
0232  vmovups ymm8,[r15+rax*2]
0238  vcmpgt_oqps ymm11,ymm8,ymm3
023d  vmaxps ymm3,ymm8,ymm3
0241  vblendvps ymm7,ymm7,ymm9,ymm11
0247  vmovups ymm8,[r15+rcx]
024d  vcmpgt_oqps ymm9,ymm8,ymm3
0252  vmaxps ymm3,ymm8,ymm3
0256  vblendvps ymm7,ymm7,ymm10,ymm9
025c  add r13,18h
0260  add r14,0FFFFFFFFFFFFFFFFh
0264  test r14,r14
0267  jle near 395h
026d  nop word [rax+rax]
0276  nop word [rax+rax]
027f  nop
0280  mov r15,[r13]
0284  add r15,r11
0287  vpbroadcastd ymm8,[r13+10h]
028d  vpaddd ymm9,ymm8,[rel 780h]
0295  vpaddd ymm10,ymm8,[rel 7A0h]
029d  vmovups ymm11,[r15]
02a2  vcmpgt_oqps ymm12,ymm11,ymm0
02a7  vmaxps ymm0,ymm11,ymm0
02ab  vblendvps ymm4,ymm4,ymm8,ymm12
02b1  vmovups ymm11,[r15+rax]
02b7  vcmpgt_oqps ymm12,ymm11,ymm0
02bc  vmaxps ymm0,ymm11,ymm0
02c0  vblendvps ymm4,ymm4,ymm9,ymm12
02c6  vmovups ymm11,[r15+rax*2]
02cc  vcmpgt_oqps ymm12,ymm11,ymm1
02d1  vmaxps ymm1,ymm11,ymm1
02d5  vblendvps ymm5,ymm5,ymm8,ymm12
02db  vcmpgt_oqps ymm12,ymm11,ymm0
02e0  vmaxps ymm0,ymm11,ymm0
02e4  vblendvps ymm4,ymm4,ymm10,ymm12
02ea  vmovups ymm11,[r15+rcx]
02f0  vcmpgt_oqps ymm12,ymm11,ymm1
02f5  vmaxps ymm1,ymm11,ymm1
02f9  vblendvps ymm5,ymm5,ymm9,ymm12
02ff  vmovups ymm11,[r15+rax*4]
0305  vcmpgt_oqps ymm12,ymm11,ymm2
030a  vmaxps ymm2,ymm11,ymm2
030e  vblendvps ymm6,ymm6,ymm8,ymm12
0314  vcmpgt_oqps ymm12,ymm11,ymm1
0319  vmaxps ymm1,ymm11,ymm1
031d  vblendvps ymm5,ymm5,ymm10,ymm12
0323  add r15,rdx
0326  vmovups ymm11,[r15]
032b  vcmpgt_oqps ymm12,ymm11,ymm2
0330  vmaxps ymm2,ymm11,ymm2
0334  vblendvps ymm6,ymm6,ymm9,ymm12
033a  vmovups ymm11,[r15+rax]
0340  vcmpgt_oqps ymm12,ymm11,ymm3
0345  vmaxps ymm3,ymm11,ymm3
0349  vblendvps ymm7,ymm7,ymm8,ymm12
034f  vcmpgt_oqps ymm8,ymm11,ymm2
0354  vmaxps ymm2,ymm11,ymm2
0358  vblendvps ymm6,ymm6,ymm10,ymm8
035e  vmovups ymm8,[r15+rax*2]
0364  vcmpgt_oqps ymm11,ymm8,ymm3
0369  vmaxps ymm3,ymm8,ymm3
036d  vblendvps ymm7,ymm7,ymm9,ymm11
0373  vmovups ymm8,[r15+rcx]
0379  vcmpgt_oqps ymm9,ymm8,ymm3
037e  vmaxps ymm3,ymm8,ymm3
0382  vblendvps ymm7,ymm7,ymm10,ymm9
0388  add r13,18h
038c  dec r14
038f  jne near 280h
0395  vmovups ymm8,ymm0
0399  vaddps ymm8,ymm8,ymm1
039d  vaddps ymm8,ymm8,ymm2
03a1  vaddps ymm8,ymm8,ymm3
03a5  vcmpneqps ymm8,ymm8,ymm8
03ab  lea r13,[rsp]
03af  add r13,3Fh
03b3  and r13,0FFFFFFFFFFFFFFC0h
03b7  vmovmskps r14d,ymm8
03bc  mov [r13],r14b
03c0  movzx r13d,byte [r13]
03c5  cmp r13,0
03c9  jle near 62Dh
03cf  vpbroadcastd ymm8,[rel 774h]
03d8  vmovups ymm0,ymm8
03dd  vmovups ymm1,ymm8
03e2  vmovups ymm2,ymm8
03e7  vmovups ymm3,ymm8
03ec  vpxor ymm4,ymm4,ymm4
03f0  vpxor ymm5,ymm5,ymm5
03f4  vpxor ymm6,ymm6,ymm6
03f8  vpxor ymm7,ymm7,ymm7
03fc  mov r13,r9
03ff  mov r14,[r8+10h]
0403  test r14,r14
0406  jle near 62Dh
040c  nop word [rax+rax]
0415  nop word [rax+rax]
041e  nop word [rax+rax]
0427  nop word [rax+rax]
0430  nop word [rax+rax]
0439  nop dword [rax]
0440  mov r15,[r13]
0444  add r15,r11
0447  vpbroadcastd ymm8,[r13+10h]
044d  vpaddd ymm9,ymm8,[rel 780h]
0455  vpaddd ymm10,ymm8,[rel 7A0h]
045d  vmovups ymm11,[r15]
0462  vmaxps ymm12,ymm0,ymm11
0467  vcmpunordps ymm11,ymm11,ymm11
046d  vblendvps ymm11,ymm12,ymm0,ymm11
0473  vcmpneqps ymm12,ymm11,ymm0
0478  vmovups ymm0,ymm11
047d  vblendvps ymm4,ymm4,ymm8,ymm12
0483  vmovups ymm11,[r15+rax]
0489  vmaxps ymm12,ymm0,ymm11
048e  vcmpunordps ymm11,ymm11,ymm11
0494  vblendvps ymm11,ymm12,ymm0,ymm11
049a  vcmpneqps ymm12,ymm11,ymm0
049f  vmovups ymm0,ymm11
04a4  vblendvps ymm4,ymm4,ymm9,ymm12
04aa  vmovups ymm11,[r15+rax*2]
04b0  vmaxps ymm12,ymm1,ymm11
04b5  vcmpunordps ymm13,ymm11,ymm11
04bb  vblendvps ymm12,ymm12,ymm1,ymm13
04c1  vcmpneqps ymm13,ymm12,ymm1
04c6  vmovups ymm1,ymm12
04cb  vblendvps ymm5,ymm5,ymm8,ymm13
04d1  vmaxps ymm12,ymm0,ymm11
04d6  vcmpunordps ymm11,ymm11,ymm11
04dc  vblendvps ymm11,ymm12,ymm0,ymm11
04e2  vcmpneqps ymm12,ymm11,ymm0
04e7  vmovups ymm0,ymm11
04ec  vblendvps ymm4,ymm4,ymm10,ymm12
04f2  vmovups ymm11,[r15+rcx]
04f8  vmaxps ymm12,ymm1,ymm11
04fd  vcmpunordps ymm11,ymm11,ymm11
0503  vblendvps ymm11,ymm12,ymm1,ymm11
0509  vcmpneqps ymm12,ymm11,ymm1
050e  vmovups ymm1,ymm11
0513  vblendvps ymm5,ymm5,ymm9,ymm12
0519  vmovups ymm11,[r15+rax*4]
051f  vmaxps ymm12,ymm2,ymm11
0524  vcmpunordps ymm13,ymm11,ymm11
052a  vblendvps ymm12,ymm12,ymm2,ymm13
0530  vcmpneqps ymm13,ymm12,ymm2
0535  vmovups ymm2,ymm12
053a  vblendvps ymm6,ymm6,ymm8,ymm13
0540  vmaxps ymm12,ymm1,ymm11
0545  vcmpunordps ymm11,ymm11,ymm11
054b  vblendvps ymm11,ymm12,ymm1,ymm11
0551  vcmpneqps ymm12,ymm11,ymm1
0556  vmovups ymm1,ymm11
055b  vblendvps ymm5,ymm5,ymm10,ymm12
0561  add r15,rdx
0564  vmovups ymm11,[r15]
0569  vmaxps ymm12,ymm2,ymm11
056e  vcmpunordps ymm11,ymm11,ymm11
0574  vblendvps ymm11,ymm12,ymm2,ymm11
057a  vcmpneqps ymm12,ymm11,ymm2
057f  vmovups ymm2,ymm11
0584  vblendvps ymm6,ymm6,ymm9,ymm12
058a  vmovups ymm11,[r15+rax]
0590  vmaxps ymm12,ymm3,ymm11
0595  vcmpunordps ymm13,ymm11,ymm11
059b  vblendvps ymm12,ymm12,ymm3,ymm13
05a1  vcmpneqps ymm13,ymm12,ymm3
05a6  vmovups ymm3,ymm12
05ab  vblendvps ymm7,ymm7,ymm8,ymm13
05b1  vmaxps ymm8,ymm2,ymm11
05b6  vcmpunordps ymm11,ymm11,ymm11
05bc  vblendvps ymm8,ymm8,ymm2,ymm11
05c2  vcmpneqps ymm11,ymm8,ymm2
05c7  vmovups ymm2,ymm8
05cc  vblendvps ymm6,ymm6,ymm10,ymm11
05d2  vmovups ymm8,[r15+rax*2]
05d8  vmaxps ymm11,ymm3,ymm8
05dd  vcmpunordps ymm8,ymm8,ymm8
05e3  vblendvps ymm8,ymm11,ymm3,ymm8
05e9  vcmpneqps ymm11,ymm8,ymm3
05ee  vmovups ymm3,ymm8
05f3  vblendvps ymm7,ymm7,ymm9,ymm11
05f9  vmovups ymm8,[r15+rcx]
05ff  vmaxps ymm9,ymm3,ymm8
0604  vcmpunordps ymm8,ymm8,ymm8
060a  vblendvps ymm8,ymm9,ymm3,ymm8
0610  vcmpneqps ymm9,ymm8,ymm3
0615  vmovups ymm3,ymm8
061a  vblendvps ymm7,ymm7,ymm10,ymm9
0620  add r13,18h
0624  dec r14
0627  jne near 440h
062d  mov r13,[rdi+90h]
0634  mov r14,rbp
0637  vpackusdw ymm4,ymm4,ymm4
063c  vpermq ymm4,ymm4,8
0642  vpackuswb xmm4,xmm4,xmm4
0646  vmovq [r14],xmm4
064b  add r14,r13
064e  vpackusdw ymm4,ymm5,ymm5
0653  vpermq ymm4,ymm4,8
0659  vpackuswb xmm4,xmm4,xmm4
065d  vmovq [r14],xmm4
0662  add r14,r13
0665  vpackusdw ymm4,ymm6,ymm6
066a  vpermq ymm4,ymm4,8
0670  vpackuswb xmm4,xmm4,xmm4
0674  vmovq [r14],xmm4
0679  add r14,r13
067c  vpackusdw ymm4,ymm7,ymm7
0681  vpermq ymm4,ymm4,8
0687  vpackuswb xmm4,xmm4,xmm4
068b  vmovq [r14],xmm4
0690  add r14,r13
0693  vmovups [rbx],ymm0
0697  mov r13,[rdi+68h]
069b  mov r14,rbx
069e  add r14,r13
06a1  vmovups [r14],ymm1
06a6  add r14,r13
06a9  vmovups [r14],ymm2
06ae  add r14,r13
06b1  vmovups [r14],ymm3
06b6  mov r13,[rdi+48h]
06ba  add r11,r13
06bd  mov r13,[rdi+70h]
06c1  add rbx,r13
06c4  mov r13,[rdi+98h]
06cb  add rbp,r13
06ce  dec r12
06d1  jne near 100h
06d7  mov r11,[r8+10h]
06db  mov ebx,18h
06e0  imul r11,rbx
06e4  add r9,r11
06e7  add r8,20h
06eb  dec r10
06ee  jne near 0C0h
06f4  mov r8,[rdi+58h]
06f8  mov r9,[rsp+100h]
0700  add r9,r8
0703  mov [rsp+100h],r9
070b  mov r8,[rdi+80h]
0712  mov r9,[rsp+140h]
071a  add r9,r8
071d  mov [rsp+140h],r9
0725  mov r8,[rdi+0A8h]
072c  add rsi,r8
072f  mov r8,[rsp+80h]
0737  add r8,8
073b  mov [rsp+80h],r8
0743  mov r8,[rsp+0C0h]
074b  dec r8
074e  mov [rsp+0C0h],r8
0756  jne near 80h
075c  add rsp,180h
0763  pop r15
0765  pop r14
0767  pop r13
0769  pop r12
076b  pop rbp
076c  pop rbx
076d  vzeroupper
0770  ret
