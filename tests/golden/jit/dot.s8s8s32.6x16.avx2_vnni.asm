; 198 instructions, 1104 bytes, 13 spills, 0 of them in inner loops
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
00f4  vpbroadcastd ymm12,[rel 450h]
00fd  mov rcx,rax
0100  mov r8,[rax]
0103  add rcx,58h
0107  test r8,r8
010a  jle near 365h
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
016a  mov r15,[rdi+18h]
016e  shr r15,1
0172  test r15,r15
0175  jle near 2AFh
017b  nop dword [rax+rax]
0180  vmovups ymm13,[r9]
0185  vmovups ymm14,[r9+20h]
018b  vpbroadcastd ymm15,[r10+r14]
0191  vpxor ymm15,ymm12,ymm15
0196  vpdpbusd ymm0,ymm15,ymm13
019b  vpdpbusd ymm1,ymm15,ymm14
01a0  vpbroadcastd ymm15,[r11+r14]
01a6  vpxor ymm15,ymm12,ymm15
01ab  vpdpbusd ymm2,ymm15,ymm13
01b0  vpdpbusd ymm3,ymm15,ymm14
01b5  vpbroadcastd ymm15,[rbx+r14]
01bb  vpxor ymm15,ymm12,ymm15
01c0  vpdpbusd ymm4,ymm15,ymm13
01c5  vpdpbusd ymm5,ymm15,ymm14
01ca  vpbroadcastd ymm15,[rbp+r14]
01d1  vpxor ymm15,ymm12,ymm15
01d6  vpdpbusd ymm6,ymm15,ymm13
01db  vpdpbusd ymm7,ymm15,ymm14
01e0  vpbroadcastd ymm15,[r12+r14]
01e6  vpxor ymm15,ymm12,ymm15
01eb  vpdpbusd ymm8,ymm15,ymm13
01f0  vpdpbusd ymm9,ymm15,ymm14
01f5  vpbroadcastd ymm15,[r13+r14]
01fc  vpxor ymm15,ymm12,ymm15
0201  vpdpbusd ymm10,ymm15,ymm13
0206  vpdpbusd ymm11,ymm15,ymm14
020b  vmovups ymm13,[r9+40h]
0211  vmovups ymm14,[r9+60h]
0217  vpbroadcastd ymm15,[r10+r14+4]
021e  vpxor ymm15,ymm12,ymm15
0223  vpdpbusd ymm0,ymm15,ymm13
0228  vpdpbusd ymm1,ymm15,ymm14
022d  vpbroadcastd ymm15,[r11+r14+4]
0234  vpxor ymm15,ymm12,ymm15
0239  vpdpbusd ymm2,ymm15,ymm13
023e  vpdpbusd ymm3,ymm15,ymm14
0243  vpbroadcastd ymm15,[rbx+r14+4]
024a  vpxor ymm15,ymm12,ymm15
024f  vpdpbusd ymm4,ymm15,ymm13
0254  vpdpbusd ymm5,ymm15,ymm14
0259  vpbroadcastd ymm15,[rbp+r14+4]
0260  vpxor ymm15,ymm12,ymm15
0265  vpdpbusd ymm6,ymm15,ymm13
026a  vpdpbusd ymm7,ymm15,ymm14
026f  vpbroadcastd ymm15,[r12+r14+4]
0276  vpxor ymm15,ymm12,ymm15
027b  vpdpbusd ymm8,ymm15,ymm13
0280  vpdpbusd ymm9,ymm15,ymm14
0285  vpbroadcastd ymm15,[r13+r14+4]
028c  vpxor ymm15,ymm12,ymm15
0291  vpdpbusd ymm10,ymm15,ymm13
0296  vpdpbusd ymm11,ymm15,ymm14
029b  add r14,8
029f  add r9,80h
02a6  dec r15
02a9  jne near 180h
02af  mov r15,[rdi+18h]
02b3  and r15,1
02b7  test r15,r15
02ba  jle near 35Ch
02c0  vmovups ymm13,[r9]
02c5  vmovups ymm14,[r9+20h]
02cb  vpbroadcastd ymm15,[r10+r14]
02d1  vpxor ymm15,ymm12,ymm15
02d6  vpdpbusd ymm0,ymm15,ymm13
02db  vpdpbusd ymm1,ymm15,ymm14
02e0  vpbroadcastd ymm15,[r11+r14]
02e6  vpxor ymm15,ymm12,ymm15
02eb  vpdpbusd ymm2,ymm15,ymm13
02f0  vpdpbusd ymm3,ymm15,ymm14
02f5  vpbroadcastd ymm15,[rbx+r14]
02fb  vpxor ymm15,ymm12,ymm15
0300  vpdpbusd ymm4,ymm15,ymm13
0305  vpdpbusd ymm5,ymm15,ymm14
030a  vpbroadcastd ymm15,[rbp+r14]
0311  vpxor ymm15,ymm12,ymm15
0316  vpdpbusd ymm6,ymm15,ymm13
031b  vpdpbusd ymm7,ymm15,ymm14
0320  vpbroadcastd ymm15,[r12+r14]
0326  vpxor ymm15,ymm12,ymm15
032b  vpdpbusd ymm8,ymm15,ymm13
0330  vpdpbusd ymm9,ymm15,ymm14
0335  vpbroadcastd ymm15,[r13+r14]
033c  vpxor ymm15,ymm12,ymm15
0341  vpdpbusd ymm10,ymm15,ymm13
0346  vpdpbusd ymm11,ymm15,ymm14
034b  add r14,4
034f  add r9,40h
0353  dec r15
0356  jne near 2C0h
035c  dec r8
035f  jne near 140h
0365  mov r8,[rdi+30h]
0369  mov r9,[rax+10h]
036d  mov r10,[rdi+38h]
0371  imul r10,rdx
0375  add r8,r9
0378  add r8,r10
037b  mov r9,[rsp+0C0h]
0383  lea r8,[r8+r9*4]
0387  mov r9,[rdi+38h]
038b  vmovups [r8],ymm0
0390  vmovups [r8+20h],ymm1
0396  add r8,r9
0399  vmovups [r8],ymm2
039e  vmovups [r8+20h],ymm3
03a4  add r8,r9
03a7  vmovups [r8],ymm4
03ac  vmovups [r8+20h],ymm5
03b2  add r8,r9
03b5  vmovups [r8],ymm6
03ba  vmovups [r8+20h],ymm7
03c0  add r8,r9
03c3  vmovups [r8],ymm8
03c8  vmovups [r8+20h],ymm9
03ce  add r8,r9
03d1  vmovups [r8],ymm10
03d6  vmovups [r8+20h],ymm11
03dc  mov r8,[rdi+28h]
03e0  add rsi,r8
03e3  mov r8,[rsp+0C0h]
03eb  add r8,10h
03ef  mov [rsp+0C0h],r8
03f7  mov r8,[rsp+80h]
03ff  dec r8
0402  mov [rsp+80h],r8
040a  jne near 0C0h
0410  add rdx,6
0414  mov rsi,[rsp+40h]
0419  dec rsi
041c  mov [rsp+40h],rsi
0421  jne near 80h
0427  mov rax,rcx
042a  mov rcx,[rsp]
042e  dec rcx
0431  mov [rsp],rcx
0435  jne near 40h
043b  add rsp,100h
0442  pop r15
0444  pop r14
0446  pop r13
0448  pop r12
044a  pop rbp
044b  pop rbx
044c  vzeroupper
044f  ret
