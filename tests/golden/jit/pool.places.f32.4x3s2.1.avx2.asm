; 326 instructions, 1784 bytes, 18 spills, 0 of them in inner loops
0000  push rbx
0001  push rbp
0002  push r12
0004  push r13
0006  push r14
0008  push r15
000a  sub rsp,1C0h
0011  mov rax,[rdi+38h]
0015  lea rcx,[rax+rax*2]
0019  lea rdx,[rax+rax*4]
001d  mov rsi,[rdi+30h]
0021  mov [rsp+0C0h],rsi
0029  mov rsi,[rdi+50h]
002d  mov [rsp+100h],rsi
0035  mov rsi,[rdi+78h]
0039  mov [rsp+140h],rsi
0041  mov esi,0
0046  mov r8,[rdi+20h]
004a  mov [rsp+80h],r8
0052  nop word [rax+rax]
005b  nop word [rax+rax]
0064  nop word [rax+rax]
006d  nop word [rax+rax]
0076  nop word [rax+rax]
007f  nop
0080  mov r8,[rdi]
0083  mov r9,[rdi+10h]
0087  mov r10,[rdi+8]
008b  mov [rsp+180h],r10
0093  nop word [rax+rax]
009c  nop word [rax+rax]
00a5  nop word [rax+rax]
00ae  nop word [rax+rax]
00b7  nop word [rax+rax]
00c0  mov r10,[rsp+0C0h]
00c8  mov r11,[rsp+100h]
00d0  mov rbx,[r8]
00d3  add r11,rbx
00d6  mov rbx,[rsp+140h]
00de  mov rbp,[r8+8]
00e2  add rbx,rbp
00e5  mov rbp,[rdi+18h]
00e9  nop word [rax+rax]
00f2  nop word [rax+rax]
00fb  nop dword [rax+rax]
0100  mov r12,[rdi+58h]
0104  mov r13,r11
0107  prefetchw [r13]
010c  add r13,r12
010f  prefetchw [r13]
0114  add r13,r12
0117  prefetchw [r13]
011c  add r13,r12
011f  prefetchw [r13]
0124  add r13,r12
0127  vpbroadcastd ymm0,[rel 6F8h]
0130  vpbroadcastd ymm1,[rel 6F8h]
0139  vpbroadcastd ymm2,[rel 6F8h]
0142  vpbroadcastd ymm3,[rel 6F8h]
014b  vpxor ymm4,ymm4,ymm4
014f  vpxor ymm5,ymm5,ymm5
0153  vpxor ymm6,ymm6,ymm6
0157  vpxor ymm7,ymm7,ymm7
015b  mov r12,r9
015e  mov r13,[r8+10h]
0162  test r13,r13
0165  jle near 2A3h
016b  nop word [rax+rax]
0174  nop word [rax+rax]
017d  nop dword [rax]
0180  mov r14,[r12]
0184  add r14,r10
0187  mov r15,[r12+10h]
018c  vmovd xmm8,r15d
0191  vpbroadcastd ymm8,xmm8
0196  vcvtdq2ps ymm8,ymm8
019b  add r12,20h
019f  vaddps ymm9,ymm8,[rel 720h]
01a7  vaddps ymm10,ymm8,[rel 740h]
01af  vmovups ymm11,[r14]
01b4  vcmpgt_oqps ymm12,ymm11,ymm0
01b9  vmaxps ymm0,ymm11,ymm0
01bd  vblendvps ymm4,ymm4,ymm8,ymm12
01c3  vmovups ymm11,[r14+rax]
01c9  vcmpgt_oqps ymm12,ymm11,ymm0
01ce  vmaxps ymm0,ymm11,ymm0
01d2  vblendvps ymm4,ymm4,ymm9,ymm12
01d8  vmovups ymm11,[r14+rax*2]
01de  vcmpgt_oqps ymm12,ymm11,ymm1
01e3  vmaxps ymm1,ymm11,ymm1
01e7  vblendvps ymm5,ymm5,ymm8,ymm12
01ed  vcmpgt_oqps ymm12,ymm11,ymm0
01f2  vmaxps ymm0,ymm11,ymm0
01f6  vblendvps ymm4,ymm4,ymm10,ymm12
01fc  vmovups ymm11,[r14+rcx]
0202  vcmpgt_oqps ymm12,ymm11,ymm1
0207  vmaxps ymm1,ymm11,ymm1
020b  vblendvps ymm5,ymm5,ymm9,ymm12
0211  vmovups ymm11,[r14+rax*4]
0217  vcmpgt_oqps ymm12,ymm11,ymm2
021c  vmaxps ymm2,ymm11,ymm2
0220  vblendvps ymm6,ymm6,ymm8,ymm12
0226  vcmpgt_oqps ymm12,ymm11,ymm1
022b  vmaxps ymm1,ymm11,ymm1
022f  vblendvps ymm5,ymm5,ymm10,ymm12
0235  add r14,rdx
0238  vmovups ymm11,[r14]
023d  vcmpgt_oqps ymm12,ymm11,ymm2
0242  vmaxps ymm2,ymm11,ymm2
0246  vblendvps ymm6,ymm6,ymm9,ymm12
024c  vmovups ymm11,[r14+rax]
0252  vcmpgt_oqps ymm12,ymm11,ymm3
0257  vmaxps ymm3,ymm11,ymm3
025b  vblendvps ymm7,ymm7,ymm8,ymm12
0261  vcmpgt_oqps ymm8,ymm11,ymm2
0266  vmaxps ymm2,ymm11,ymm2
026a  vblendvps ymm6,ymm6,ymm10,ymm8
0270  vmovups ymm8,[r14+rax*2]
0276  vcmpgt_oqps ymm11,ymm8,ymm3
027b  vmaxps ymm3,ymm8,ymm3
027f  vblendvps ymm7,ymm7,ymm9,ymm11
0285  vmovups ymm8,[r14+rcx]
028b  vcmpgt_oqps ymm9,ymm8,ymm3
0290  vmaxps ymm3,ymm8,ymm3
0294  vblendvps ymm7,ymm7,ymm10,ymm9
029a  dec r13
029d  jne near 180h
02a3  vmovups ymm8,ymm0
02a7  vminps ymm8,ymm8,ymm1
02ab  vminps ymm8,ymm8,ymm2
02af  vminps ymm8,ymm8,ymm3
02b3  vpbroadcastd ymm9,[rel 6F8h]
02bc  vcmpeqps ymm8,ymm8,ymm9
02c2  lea r12,[rsp]
02c6  add r12,3Fh
02ca  and r12,0FFFFFFFFFFFFFFC0h
02ce  vmovmskps r13d,ymm8
02d3  mov [r12],r13b
02d7  movzx r12d,byte [r12]
02dc  cmp r12,0
02e0  jle near 53Bh
02e6  vpbroadcastd ymm8,[rel 704h]
02ef  vmovups ymm0,ymm8
02f4  vmovups ymm1,ymm8
02f9  vmovups ymm2,ymm8
02fe  vmovups ymm3,ymm8
0303  vpxor ymm4,ymm4,ymm4
0307  vpxor ymm5,ymm5,ymm5
030b  vpxor ymm6,ymm6,ymm6
030f  vpxor ymm7,ymm7,ymm7
0313  mov r12,r9
0316  mov r13,[r8+10h]
031a  test r13,r13
031d  jle near 53Bh
0323  nop word [rax+rax]
032c  nop word [rax+rax]
0335  nop word [rax+rax]
033e  xchg ax,ax
0340  mov r14,[r12]
0344  add r14,r10
0347  mov r15,[r12+10h]
034c  vmovd xmm8,r15d
0351  vpbroadcastd ymm8,xmm8
0356  vcvtdq2ps ymm8,ymm8
035b  add r12,20h
035f  vaddps ymm9,ymm8,[rel 720h]
0367  vaddps ymm10,ymm8,[rel 740h]
036f  vmovups ymm11,[r14]
0374  vmaxps ymm12,ymm0,ymm11
0379  vcmpunordps ymm11,ymm11,ymm11
037f  vblendvps ymm11,ymm12,ymm0,ymm11
0385  vcmpneqps ymm12,ymm11,ymm0
038a  vmovups ymm0,ymm11
038f  vblendvps ymm4,ymm4,ymm8,ymm12
0395  vmovups ymm11,[r14+rax]
039b  vmaxps ymm12,ymm0,ymm11
03a0  vcmpunordps ymm11,ymm11,ymm11
03a6  vblendvps ymm11,ymm12,ymm0,ymm11
03ac  vcmpneqps ymm12,ymm11,ymm0
03b1  vmovups ymm0,ymm11
03b6  vblendvps ymm4,ymm4,ymm9,ymm12
03bc  vmovups ymm11,[r14+rax*2]
03c2  vmaxps ymm12,ymm1,ymm11
03c7  vcmpunordps ymm13,ymm11,ymm11
03cd  vblendvps ymm12,ymm12,ymm1,ymm13
03d3  vcmpneqps ymm13,ymm12,ymm1
03d8  vmovups ymm1,ymm12
03dd  vblendvps ymm5,ymm5,ymm8,ymm13
03e3  vmaxps ymm12,ymm0,ymm11
03e8  vcmpunordps ymm11,ymm11,ymm11
03ee  vblendvps ymm11,ymm12,ymm0,ymm11
03f4  vcmpneqps ymm12,ymm11,ymm0
03f9  vmovups ymm0,ymm11
03fe  vblendvps ymm4,ymm4,ymm10,ymm12
0404  vmovups ymm11,[r14+rcx]
040a  vmaxps ymm12,ymm1,ymm11
040f  vcmpunordps ymm11,ymm11,ymm11
0415  vblendvps ymm11,ymm12,ymm1,ymm11
041b  vcmpneqps ymm12,ymm11,ymm1
0420  vmovups ymm1,ymm11
0425  vblendvps ymm5,ymm5,ymm9,ymm12
042b  vmovups ymm11,[r14+rax*4]
0431  vmaxps ymm12,ymm2,ymm11
0436  vcmpunordps ymm13,ymm11,ymm11
043c  vblendvps ymm12,ymm12,ymm2,ymm13
0442  vcmpneqps ymm13,ymm12,ymm2
0447  vmovups ymm2,ymm12
044c  vblendvps ymm6,ymm6,ymm8,ymm13
0452  vmaxps ymm12,ymm1,ymm11
0457  vcmpunordps ymm11,ymm11,ymm11
045d  vblendvps ymm11,ymm12,ymm1,ymm11
0463  vcmpneqps ymm12,ymm11,ymm1
0468  vmovups ymm1,ymm11
046d  vblendvps ymm5,ymm5,ymm10,ymm12
0473  add r14,rdx
0476  vmovups ymm11,[r14]
047b  vmaxps ymm12,ymm2,ymm11
0480  vcmpunordps ymm11,ymm11,ymm11
0486  vblendvps ymm11,ymm12,ymm2,ymm11
048c  vcmpneqps ymm12,ymm11,ymm2
0491  vmovups ymm2,ymm11
0496  vblendvps ymm6,ymm6,ymm9,ymm12
049c  vmovups ymm11,[r14+rax]
04a2  vmaxps ymm12,ymm3,ymm11
04a7  vcmpunordps ymm13,ymm11,ymm11
04ad  vblendvps ymm12,ymm12,ymm3,ymm13
04b3  vcmpneqps ymm13,ymm12,ymm3
04b8  vmovups ymm3,ymm12
04bd  vblendvps ymm7,ymm7,ymm8,ymm13
04c3  vmaxps ymm8,ymm2,ymm11
04c8  vcmpunordps ymm11,ymm11,ymm11
04ce  vblendvps ymm8,ymm8,ymm2,ymm11
04d4  vcmpneqps ymm11,ymm8,ymm2
04d9  vmovups ymm2,ymm8
04de  vblendvps ymm6,ymm6,ymm10,ymm11
04e4  vmovups ymm8,[r14+rax*2]
04ea  vmaxps ymm11,ymm3,ymm8
04ef  vcmpunordps ymm8,ymm8,ymm8
04f5  vblendvps ymm8,ymm11,ymm3,ymm8
04fb  vcmpneqps ymm11,ymm8,ymm3
0500  vmovups ymm3,ymm8
0505  vblendvps ymm7,ymm7,ymm9,ymm11
050b  vmovups ymm8,[r14+rcx]
0511  vmaxps ymm9,ymm3,ymm8
0516  vcmpunordps ymm8,ymm8,ymm8
051c  vblendvps ymm8,ymm9,ymm3,ymm8
0522  vcmpneqps ymm9,ymm8,ymm3
0527  vmovups ymm3,ymm8
052c  vblendvps ymm7,ymm7,ymm10,ymm9
0532  dec r13
0535  jne near 340h
053b  mov r12,[rdi+80h]
0542  mov r13,rbx
0545  vcmpordps ymm8,ymm4,ymm4
054a  vpand ymm8,ymm8,ymm4
054e  vminps ymm8,ymm8,[rel 760h]
0556  vcvtps2dq ymm8,ymm8
055b  vpackssdw ymm4,ymm8,ymm8
0560  vpermq ymm4,ymm4,8
0566  vpackuswb xmm4,xmm4,xmm4
056a  vmovq [r13],xmm4
0570  add r13,r12
0573  vcmpordps ymm4,ymm5,ymm5
0578  vpand ymm4,ymm4,ymm5
057c  vminps ymm4,ymm4,[rel 760h]
0584  vcvtps2dq ymm4,ymm4
0588  vpackssdw ymm4,ymm4,ymm4
058c  vpermq ymm4,ymm4,8
0592  vpackuswb xmm4,xmm4,xmm4
0596  vmovq [r13],xmm4
059c  add r13,r12
059f  vcmpordps ymm4,ymm6,ymm6
05a4  vpand ymm4,ymm4,ymm6
05a8  vminps ymm4,ymm4,[rel 760h]
05b0  vcvtps2dq ymm4,ymm4
05b4  vpackssdw ymm4,ymm4,ymm4
05b8  vpermq ymm4,ymm4,8
05be  vpackuswb xmm4,xmm4,xmm4
05c2  vmovq [r13],xmm4
05c8  add r13,r12
05cb  vcmpordps ymm4,ymm7,ymm7
05d0  vpand ymm4,ymm4,ymm7
05d4  vminps ymm4,ymm4,[rel 760h]
05dc  vcvtps2dq ymm4,ymm4
05e0  vpackssdw ymm4,ymm4,ymm4
05e4  vpermq ymm4,ymm4,8
05ea  vpackuswb xmm4,xmm4,xmm4
05ee  vmovq [r13],xmm4
05f4  add r13,r12
05f7  mov r12,rsi
05fa  mov r13,r11
05fd  mov r14,[rdi+58h]
0601  mov r15,r13
0604  vmovups [r15],ymm0
0609  add r15,r14
060c  vmovups [r15],ymm1
0611  add r15,r14
0614  vmovups [r15],ymm2
0619  add r15,r14
061c  vmovups [r15],ymm3
0621  add r15,r14
0624  add r12,8
0628  mov r12,[rdi+68h]
062c  add r13,r12
062f  mov r12,[rdi+40h]
0633  add r10,r12
0636  mov r12,[rdi+60h]
063a  add r11,r12
063d  mov r12,[rdi+88h]
0644  add rbx,r12
0647  dec rbp
064a  jne near 100h
0650  mov r10,[r8+10h]
0654  mov r11d,20h
065a  imul r10,r11
065e  add r9,r10
0661  add r8,20h
0665  mov r10,[rsp+180h]
066d  dec r10
0670  mov [rsp+180h],r10
0678  jne near 0C0h
067e  mov r8,[rdi+48h]
0682  mov r9,[rsp+0C0h]
068a  add r9,r8
068d  mov [rsp+0C0h],r9
0695  mov r8,[rdi+70h]
0699  mov r9,[rsp+100h]
06a1  add r9,r8
06a4  mov [rsp+100h],r9
06ac  mov r8,[rdi+90h]
06b3  mov r9,[rsp+140h]
06bb  add r9,r8
06be  mov [rsp+140h],r9
06c6  add rsi,8
06ca  mov r8,[rsp+80h]
06d2  dec r8
06d5  mov [rsp+80h],r8
06dd  jne near 80h
06e3  add rsp,1C0h
06ea  pop r15
06ec  pop r14
06ee  pop r13
06f0  pop r12
06f2  pop rbp
06f3  pop rbx
06f4  vzeroupper
06f7  ret
