; 289 instructions, 1807 bytes, 13 spills, 0 of them in inner loops
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
00f4  mov rcx,rax
00f7  mov r8,[rax]
00fa  add rcx,58h
00fe  test r8,r8
0101  jle near 624h
0107  nop word [rax+rax]
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
017c  jle near 472h
0182  nop word [rax+rax]
018b  nop word [rax+rax]
0194  nop word [rax+rax]
019d  nop word [rax+rax]
01a6  nop word [rax+rax]
01af  nop word [rax+rax]
01b8  nop dword [rax+rax]
01c0  vmovups ymm12,[r9]
01c5  vpslld ymm12,ymm12,10h
01cb  vmovups ymm13,[r9+20h]
01d1  vpslld ymm13,ymm13,10h
01d7  vpbroadcastd ymm14,[r10+r14]
01dd  vpslld ymm14,ymm14,10h
01e3  vfmadd231ps ymm0,ymm14,ymm12
01e8  vfmadd231ps ymm1,ymm14,ymm13
01ed  vpbroadcastd ymm14,[r11+r14]
01f3  vpslld ymm14,ymm14,10h
01f9  vfmadd231ps ymm2,ymm14,ymm12
01fe  vfmadd231ps ymm3,ymm14,ymm13
0203  vpbroadcastd ymm14,[rbx+r14]
0209  vpslld ymm14,ymm14,10h
020f  vfmadd231ps ymm4,ymm14,ymm12
0214  vfmadd231ps ymm5,ymm14,ymm13
0219  vpbroadcastd ymm14,[rbp+r14]
0220  vpslld ymm14,ymm14,10h
0226  vfmadd231ps ymm6,ymm14,ymm12
022b  vfmadd231ps ymm7,ymm14,ymm13
0230  vpbroadcastd ymm14,[r12+r14]
0236  vpslld ymm14,ymm14,10h
023c  vfmadd231ps ymm8,ymm14,ymm12
0241  vfmadd231ps ymm9,ymm14,ymm13
0246  vpbroadcastd ymm14,[r13+r14]
024d  vpslld ymm14,ymm14,10h
0253  vfmadd231ps ymm10,ymm14,ymm12
0258  vfmadd231ps ymm11,ymm14,ymm13
025d  vmovups ymm12,[r9]
0262  vpand ymm12,ymm12,[rel 720h]
026a  vmovups ymm13,[r9+20h]
0270  vpand ymm13,ymm13,[rel 720h]
0278  vpbroadcastd ymm14,[r10+r14]
027e  vpand ymm14,ymm14,[rel 720h]
0286  vfmadd231ps ymm0,ymm14,ymm12
028b  vfmadd231ps ymm1,ymm14,ymm13
0290  vpbroadcastd ymm14,[r11+r14]
0296  vpand ymm14,ymm14,[rel 720h]
029e  vfmadd231ps ymm2,ymm14,ymm12
02a3  vfmadd231ps ymm3,ymm14,ymm13
02a8  vpbroadcastd ymm14,[rbx+r14]
02ae  vpand ymm14,ymm14,[rel 720h]
02b6  vfmadd231ps ymm4,ymm14,ymm12
02bb  vfmadd231ps ymm5,ymm14,ymm13
02c0  vpbroadcastd ymm14,[rbp+r14]
02c7  vpand ymm14,ymm14,[rel 720h]
02cf  vfmadd231ps ymm6,ymm14,ymm12
02d4  vfmadd231ps ymm7,ymm14,ymm13
02d9  vpbroadcastd ymm14,[r12+r14]
02df  vpand ymm14,ymm14,[rel 720h]
02e7  vfmadd231ps ymm8,ymm14,ymm12
02ec  vfmadd231ps ymm9,ymm14,ymm13
02f1  vpbroadcastd ymm14,[r13+r14]
02f8  vpand ymm14,ymm14,[rel 720h]
0300  vfmadd231ps ymm10,ymm14,ymm12
0305  vfmadd231ps ymm11,ymm14,ymm13
030a  vmovups ymm12,[r9+40h]
0310  vpslld ymm12,ymm12,10h
0316  vmovups ymm13,[r9+60h]
031c  vpslld ymm13,ymm13,10h
0322  vpbroadcastd ymm14,[r10+r14+4]
0329  vpslld ymm14,ymm14,10h
032f  vfmadd231ps ymm0,ymm14,ymm12
0334  vfmadd231ps ymm1,ymm14,ymm13
0339  vpbroadcastd ymm14,[r11+r14+4]
0340  vpslld ymm14,ymm14,10h
0346  vfmadd231ps ymm2,ymm14,ymm12
034b  vfmadd231ps ymm3,ymm14,ymm13
0350  vpbroadcastd ymm14,[rbx+r14+4]
0357  vpslld ymm14,ymm14,10h
035d  vfmadd231ps ymm4,ymm14,ymm12
0362  vfmadd231ps ymm5,ymm14,ymm13
0367  vpbroadcastd ymm14,[rbp+r14+4]
036e  vpslld ymm14,ymm14,10h
0374  vfmadd231ps ymm6,ymm14,ymm12
0379  vfmadd231ps ymm7,ymm14,ymm13
037e  vpbroadcastd ymm14,[r12+r14+4]
0385  vpslld ymm14,ymm14,10h
038b  vfmadd231ps ymm8,ymm14,ymm12
0390  vfmadd231ps ymm9,ymm14,ymm13
0395  vpbroadcastd ymm14,[r13+r14+4]
039c  vpslld ymm14,ymm14,10h
03a2  vfmadd231ps ymm10,ymm14,ymm12
03a7  vfmadd231ps ymm11,ymm14,ymm13
03ac  vmovups ymm12,[r9+40h]
03b2  vpand ymm12,ymm12,[rel 720h]
03ba  vmovups ymm13,[r9+60h]
03c0  vpand ymm13,ymm13,[rel 720h]
03c8  vpbroadcastd ymm14,[r10+r14+4]
03cf  vpand ymm14,ymm14,[rel 720h]
03d7  vfmadd231ps ymm0,ymm14,ymm12
03dc  vfmadd231ps ymm1,ymm14,ymm13
03e1  vpbroadcastd ymm14,[r11+r14+4]
03e8  vpand ymm14,ymm14,[rel 720h]
03f0  vfmadd231ps ymm2,ymm14,ymm12
03f5  vfmadd231ps ymm3,ymm14,ymm13
03fa  vpbroadcastd ymm14,[rbx+r14+4]
0401  vpand ymm14,ymm14,[rel 720h]
0409  vfmadd231ps ymm4,ymm14,ymm12
040e  vfmadd231ps ymm5,ymm14,ymm13
0413  vpbroadcastd ymm14,[rbp+r14+4]
041a  vpand ymm14,ymm14,[rel 720h]
0422  vfmadd231ps ymm6,ymm14,ymm12
0427  vfmadd231ps ymm7,ymm14,ymm13
042c  vpbroadcastd ymm14,[r12+r14+4]
0433  vpand ymm14,ymm14,[rel 720h]
043b  vfmadd231ps ymm8,ymm14,ymm12
0440  vfmadd231ps ymm9,ymm14,ymm13
0445  vpbroadcastd ymm14,[r13+r14+4]
044c  vpand ymm14,ymm14,[rel 720h]
0454  vfmadd231ps ymm10,ymm14,ymm12
0459  vfmadd231ps ymm11,ymm14,ymm13
045e  add r14,8
0462  add r9,80h
0469  dec r15
046c  jne near 1C0h
0472  mov r15,[rdi+18h]
0476  and r15,1
047a  test r15,r15
047d  jle near 61Bh
0483  nop word [rax+rax]
048c  nop word [rax+rax]
0495  nop word [rax+rax]
049e  nop word [rax+rax]
04a7  nop word [rax+rax]
04b0  nop word [rax+rax]
04b9  nop dword [rax]
04c0  vmovups ymm12,[r9]
04c5  vpslld ymm12,ymm12,10h
04cb  vmovups ymm13,[r9+20h]
04d1  vpslld ymm13,ymm13,10h
04d7  vpbroadcastd ymm14,[r10+r14]
04dd  vpslld ymm14,ymm14,10h
04e3  vfmadd231ps ymm0,ymm14,ymm12
04e8  vfmadd231ps ymm1,ymm14,ymm13
04ed  vpbroadcastd ymm14,[r11+r14]
04f3  vpslld ymm14,ymm14,10h
04f9  vfmadd231ps ymm2,ymm14,ymm12
04fe  vfmadd231ps ymm3,ymm14,ymm13
0503  vpbroadcastd ymm14,[rbx+r14]
0509  vpslld ymm14,ymm14,10h
050f  vfmadd231ps ymm4,ymm14,ymm12
0514  vfmadd231ps ymm5,ymm14,ymm13
0519  vpbroadcastd ymm14,[rbp+r14]
0520  vpslld ymm14,ymm14,10h
0526  vfmadd231ps ymm6,ymm14,ymm12
052b  vfmadd231ps ymm7,ymm14,ymm13
0530  vpbroadcastd ymm14,[r12+r14]
0536  vpslld ymm14,ymm14,10h
053c  vfmadd231ps ymm8,ymm14,ymm12
0541  vfmadd231ps ymm9,ymm14,ymm13
0546  vpbroadcastd ymm14,[r13+r14]
054d  vpslld ymm14,ymm14,10h
0553  vfmadd231ps ymm10,ymm14,ymm12
0558  vfmadd231ps ymm11,ymm14,ymm13
055d  vmovups ymm12,[r9]
0562  vpand ymm12,ymm12,[rel 720h]
056a  vmovups ymm13,[r9+20h]
0570  vpand ymm13,ymm13,[rel 720h]
0578  vpbroadcastd ymm14,[r10+r14]
057e  vpand ymm14,ymm14,[rel 720h]
0586  vfmadd231ps ymm0,ymm14,ymm12
058b  vfmadd231ps ymm1,ymm14,ymm13
0590  vpbroadcastd ymm14,[r11+r14]
0596  vpand ymm14,ymm14,[rel 720h]
059e  vfmadd231ps ymm2,ymm14,ymm12
05a3  vfmadd231ps ymm3,ymm14,ymm13
05a8  vpbroadcastd ymm14,[rbx+r14]
05ae  vpand ymm14,ymm14,[rel 720h]
05b6  vfmadd231ps ymm4,ymm14,ymm12
05bb  vfmadd231ps ymm5,ymm14,ymm13
05c0  vpbroadcastd ymm14,[rbp+r14]
05c7  vpand ymm14,ymm14,[rel 720h]
05cf  vfmadd231ps ymm6,ymm14,ymm12
05d4  vfmadd231ps ymm7,ymm14,ymm13
05d9  vpbroadcastd ymm14,[r12+r14]
05df  vpand ymm14,ymm14,[rel 720h]
05e7  vfmadd231ps ymm8,ymm14,ymm12
05ec  vfmadd231ps ymm9,ymm14,ymm13
05f1  vpbroadcastd ymm14,[r13+r14]
05f8  vpand ymm14,ymm14,[rel 720h]
0600  vfmadd231ps ymm10,ymm14,ymm12
0605  vfmadd231ps ymm11,ymm14,ymm13
060a  add r14,4
060e  add r9,40h
0612  dec r15
0615  jne near 4C0h
061b  dec r8
061e  jne near 140h
0624  mov r8,[rdi+38h]
0628  mov r9,[rax+10h]
062c  mov r10,[rdi+40h]
0630  imul r10,rdx
0634  add r8,r9
0637  add r8,r10
063a  mov r9,[rsp+0C0h]
0642  lea r8,[r8+r9*4]
0646  mov r9,[rdi+40h]
064a  vmovups [r8],ymm0
064f  vmovups [r8+20h],ymm1
0655  add r8,r9
0658  vmovups [r8],ymm2
065d  vmovups [r8+20h],ymm3
0663  add r8,r9
0666  vmovups [r8],ymm4
066b  vmovups [r8+20h],ymm5
0671  add r8,r9
0674  vmovups [r8],ymm6
0679  vmovups [r8+20h],ymm7
067f  add r8,r9
0682  vmovups [r8],ymm8
0687  vmovups [r8+20h],ymm9
068d  add r8,r9
0690  vmovups [r8],ymm10
0695  vmovups [r8+20h],ymm11
069b  mov r8,[rdi+28h]
069f  add rsi,r8
06a2  mov r8,[rsp+0C0h]
06aa  add r8,10h
06ae  mov [rsp+0C0h],r8
06b6  mov r8,[rsp+80h]
06be  dec r8
06c1  mov [rsp+80h],r8
06c9  jne near 0C0h
06cf  add rdx,6
06d3  mov rsi,[rsp+40h]
06d8  dec rsi
06db  mov [rsp+40h],rsi
06e0  jne near 80h
06e6  mov rax,rcx
06e9  mov rcx,[rsp]
06ed  dec rcx
06f0  mov [rsp],rcx
06f4  jne near 40h
06fa  add rsp,100h
0701  pop r15
0703  pop r14
0705  pop r13
0707  pop r12
0709  pop rbp
070a  pop rbx
070b  vzeroupper
070e  ret
