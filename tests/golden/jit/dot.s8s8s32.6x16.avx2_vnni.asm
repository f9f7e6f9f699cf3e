; 200 instructions, 1168 bytes, 13 spills, 0 of them in inner loops
0000  push rbx
0001  push rbp
0002  push r12
0004  push r13
0006  push r14
0008  push r15
000a  sub rsp,100h
0011  mov rax,[rdi]
0014  mov rcx,[rdi+8]
0018  mov [rsp],rcx
001c  nop word [rax+rax]
0025  nop word [rax+rax]
002e  nop word [rax+rax]
0037  nop word [rax+rax]
0040  mov rcx,rax
0043  mov edx,0
0048  mov rsi,[rax+8]
004c  mov [rsp+40h],rsi
0051  nop word [rax+rax]
005a  nop word [rax+rax]
0063  nop word [rax+rax]
006c  nop word [rax+rax]
0075  nop word [rax+rax]
007e  xchg ax,ax
0080  mov rsi,[rdi+20h]
0084  mov r8d,0
008a  mov [rsp+0C0h],r8
0092  mov r8,[rdi+10h]
0096  mov [rsp+80h],r8
009e  nop word [rax+rax]
00a7  nop word [rax+rax]
00b0  nop word [rax+rax]
00b9  nop dword [rax]
00c0  vpxor ymm0,ymm0,ymm0
00c4  vpxor ymm1,ymm1,ymm1
00c8  vpxor ymm2,ymm2,ymm2
00cc  vpxor ymm3,ymm3,ymm3
00d0  vpxor ymm4,ymm4,ymm4
00d4  vpxor ymm5,ymm5,ymm5
00d8  vpxor ymm6,ymm6,ymm6
00dc  vpxor ymm7,ymm7,ymm7
00e0  vpxor ymm8,ymm8,ymm8
00e5  vpxor ymm9,ymm9,ymm9
00ea  vpxor ymm10,ymm10,ymm10
00ef  vpxor ymm11,ymm11,ymm11
00f4  vpbroadcastd ymm12,[rel 490h]
00fd  mov rcx,rax
0100  mov r8,[rax]
0103  add rcx,58h
0107  test r8,r8
010a  jle near 3A5h
0110  nop word [rax+rax]
0119  nop word [rax+rax]
0122  nop word [rax+rax]
012b  nop word [rax+rax]
0134  nop word [rax+rax]
013d  nop dword [rax]
0140  mov r9,[rcx]
0143  add r9,rsi
0146  mov r10,[rcx+8]
014a  mov r11,[rcx+10h]
014e  mov rbx,[rcx+18h]
0152  mov rbp,[rcx+20h]
0156  mov r12,[rcx+28h]
015a  mov r13,[rcx+30h]
015e  add rcx,38h
0162  mov r14,[rax+18h]
0166  imul r14,rdx
016a  mov r15,[rdi+30h]
016e  add r14,r15
0171  mov r15,[rdi+18h]
0175  shr r15,1
0179  test r15,r15
017c  jle near 2EFh
0182  nop word [rax+rax]
018b  nop word [rax+rax]
0194  nop word [rax+rax]
019d  nop word [rax+rax]
01a6  nop word [rax+rax]
01af  nop word [rax+rax]
01b8  nop dword [rax+rax]
01c0  vmovups ymm13,[r9]
01c5  vmovups ymm14,[r9+20h]
01cb  vpbroadcastd ymm15,[r10+r14]
01d1  vpxor ymm15,ymm12,ymm15
01d6  vpdpbusd ymm0,ymm15,ymm13
01db  vpdpbusd ymm1,ymm15,ymm14
01e0  vpbroadcastd ymm15,[r11+r14]
01e6  vpxor ymm15,ymm12,ymm15
01eb  vpdpbusd ymm2,ymm15,ymm13
01f0  vpdpbusd ymm3,ymm15,ymm14
01f5  vpbroadcastd ymm15,[rbx+r14]
01fb  vpxor ymm15,ymm12,ymm15
0200  vpdpbusd ymm4,ymm15,ymm13
0205  vpdpbusd ymm5,ymm15,ymm14
020a  vpbroadcastd ymm15,[rbp+r14]
0211  vpxor ymm15,ymm12,ymm15
0216  vpdpbusd ymm6,ymm15,ymm13
021b  vpdpbusd ymm7,ymm15,ymm14
0220  vpbroadcastd ymm15,[r12+r14]
0226  vpxor ymm15,ymm12,ymm15
022b  vpdpbusd ymm8,ymm15,ymm13
0230  vpdpbusd ymm9,ymm15,ymm14
0235  vpbroadcastd ymm15,[r13+r14]
023c  vpxor ymm15,ymm12,ymm15
0241  vpdpbusd ymm10,ymm15,ymm13
0246  vpdpbusd ymm11,ymm15,ymm14
024b  vmovups ymm13,[r9+40h]
0251  vmovups ymm14,[r9+60h]
0257  vpbroadcastd ymm15,[r10+r14+4]
025e  vpxor ymm15,ymm12,ymm15
0263  vpdpbusd ymm0,ymm15,ymm13
0268  vpdpbusd ymm1,ymm15,ymm14
026d  vpbroadcastd ymm15,[r11+r14+4]
0274  vpxor ymm15,ymm12,ymm15
0279  vpdpbusd ymm2,ymm15,ymm13
027e  vpdpbusd ymm3,ymm15,ymm14
0283  vpbroadcastd ymm15,[rbx+r14+4]
028a  vpxor ymm15,ymm12,ymm15
028f  vpdpbusd ymm4,ymm15,ymm13
0294  vpdpbusd ymm5,ymm15,ymm14
0299  vpbroadcastd ymm15,[rbp+r14+4]
02a0  vpxor ymm15,ymm12,ymm15
02a5  vpdpbusd ymm6,ymm15,ymm13
02aa  vpdpbusd ymm7,ymm15,ymm14
02af  vpbroadcastd ymm15,[r12+r14+4]
02b6  vpxor ymm15,ymm12,ymm15
02bb  vpdpbusd ymm8,ymm15,ymm13
02c0  vpdpbusd ymm9,ymm15,ymm14
02c5  vpbroadcastd ymm15,[r13+r14+4]
02cc  vpxor ymm15,ymm12,ymm15
02d1  vpdpbusd ymm10,ymm15,ymm13
02d6  vpdpbusd ymm11,ymm15,ymm14
02db  add r14,8
02df  add r9,80h
02e6  dec r15
02e9  jne near 1C0h
02ef  mov r15,[rdi+18h]
02f3  and r15,1
02f7  test r15,r15
02fa  jle near 39Ch
0300  vmovups ymm13,[r9]
0305  vmovups ymm14,[r9+20h]
030b  vpbroadcastd ymm15,[r10+r14]
0311  vpxor ymm15,ymm12,ymm15
0316  vpdpbusd ymm0,ymm15,ymm13
031b  vpdpbusd ymm1,ymm15,ymm14
0320  vpbroadcastd ymm15,[r11+r14]
0326  vpxor ymm15,ymm12,ymm15
032b  vpdpbusd ymm2,ymm15,ymm13
0330  vpdpbusd ymm3,ymm15,ymm14
0335  vpbroadcastd ymm15,[rbx+r14]
033b  vpxor ymm15,ymm12,ymm15
0340  vpdpbusd ymm4,ymm15,ymm13
0345  vpdpbusd ymm5,ymm15,ymm14
034a  vpbroadcastd ymm15,[rbp+r14]
0351  vpxor ymm15,ymm12,ymm15
0356  vpdpbusd ymm6,ymm15,ymm13
035b  vpdpbusd ymm7,ymm15,ymm14
0360  vpbroadcastd ymm15,[r12+r14]
0366  vpxor ymm15,ymm12,ymm15
036b  vpdpbusd ymm8,ymm15,ymm13
0370  vpdpbusd ymm9,ymm15,ymm14
0375  vpbroadcastd ymm15,[r13+r14]
037c  vpxor ymm15,ymm12,ymm15
0381  vpdpbusd ymm10,ymm15,ymm13
0386  vpdpbusd ymm11,ymm15,ymm14
038b  add r14,4
038f  add r9,40h
0393  dec r15
0396  jne near 300h
039c  dec r8
039f  jne near 140h
03a5  mov r8,[rdi+38h]
03a9  mov r9,[rax+10h]
03ad  mov r10,[rdi+40h]
03b1  imul r10,rdx
03b5  add r8,r9
03b8  add r8,r10
03bb  mov r9,[rsp+0C0h]
03c3  lea r8,[r8+r9*4]
03c7  mov r9,[rdi+40h]
03cb  vmovups [r8],ymm0
03d0  vmovups [r8+20h],ymm1
03d6  add r8,r9
03d9  vmovups [r8],ymm2
03de  vmovups [r8+20h],ymm3
03e4  add r8,r9
03e7  vmovups [r8],ymm4
03ec  vmovups [r8+20h],ymm5
03f2  add r8,r9
03f5  vmovups [r8],ymm6
03fa  vmovups [r8+20h],ymm7
0400  add r8,r9
0403  vmovups [r8],ymm8
0408  vmovups [r8+20h],ymm9
040e  add r8,r9
0411  vmovups [r8],ymm10
0416  vmovups [r8+20h],ymm11
041c  mov r8,[rdi+28h]
0420  add rsi,r8
0423  mov r8,[rsp+0C0h]
042b  add r8,10h
042f  mov [rsp+0C0h],r8
0437  mov r8,[rsp+80h]
043f  dec r8
0442  mov [rsp+80h],r8
044a  jne near 0C0h
0450  add rdx,6
0454  mov rsi,[rsp+40h]
0459  dec rsi
045c  mov [rsp+40h],rsi
0461  jne near 80h
0467  mov rax,rcx
046a  mov rcx,[rsp]
046e  dec rcx
0471  mov [rsp],rcx
0475  jne near 40h
047b  add rsp,100h
0482  pop r15
0484  pop r14
0486  pop r13
0488  pop r12
048a  pop rbp
048b  pop rbx
048c  vzeroupper
048f  ret
