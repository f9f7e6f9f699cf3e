; 258 instructions, 1501 bytes, 15 spills, 0 of them in inner loops
0000  push rbx
0001  push rbp
0002  push r12
0004  push r13
0006  push r14
0008  push r15
000a  sub rsp,100h
0011  mov rax,[rdi+40h]
0015  lea rcx,[rax+rax*2]
0019  lea rcx,[rax+rax*4]
001d  mov rcx,[rdi+38h]
0021  mov [rsp+40h],rcx
0026  mov rcx,[rdi+60h]
002a  mov [rsp+80h],rcx
0032  mov rcx,[rdi+88h]
0039  mov [rsp+0C0h],rcx
0041  mov ecx,0
0046  mov rdx,[rdi+20h]
004a  mov [rsp],rdx
004e  nop word [rax+rax]
0057  nop word [rax+rax]
0060  nop word [rax+rax]
0069  nop word [rax+rax]
0072  nop word [rax+rax]
007b  nop dword [rax+rax]
0080  mov rdx,[rdi]
0083  mov rsi,[rdi+10h]
0087  mov r8,[rdi+8]
008b  mov r9,[rdi+90h]
0092  nop word [rax+rax]
009b  nop word [rax+rax]
00a4  nop word [rax+rax]
00ad  nop word [rax+rax]
00b6  nop word [rax+rax]
00bf  nop
00c0  mov r10,[rsp+40h]
00c5  mov r11,[rsp+80h]
00cd  mov rbx,[rdx]
00d0  add r11,rbx
00d3  mov rbx,[rsp+0C0h]
00db  mov rbp,[rdi+18h]
00df  nop word [rax+rax]
00e8  nop word [rax+rax]
00f1  nop word [rax+rax]
00fa  nop word [rax+rax]
0100  mov r12,[rdi+68h]
0104  mov r13,r11
0107  prefetchw [r13]
010c  prefetchw [r13+40h]
0111  add r13,r12
0114  prefetchw [r13]
0119  prefetchw [r13+40h]
011e  add r13,r12
0121  prefetchw [r13]
0126  prefetchw [r13+40h]
012b  add r13,r12
012e  prefetchw [r13]
0133  prefetchw [r13+40h]
0138  add r13,r12
013b  vpxord zmm0,zmm0,zmm0
0141  vpxord zmm1,zmm1,zmm1
0147  vpxord zmm2,zmm2,zmm2
014d  vpxord zmm3,zmm3,zmm3
0153  vpxord zmm4,zmm4,zmm4
0159  vpxord zmm5,zmm5,zmm5
015f  vpxord zmm6,zmm6,zmm6
0165  vpxord zmm7,zmm7,zmm7
016b  mov r12,rsi
016e  mov r13,[rdx+10h]
0172  test r13,r13
0175  jle near 4CAh
017b  nop dword [rax+rax]
0180  mov r14,[r12]
0184  add r14,r10
0187  mov r15,[r12+8]
018c  add r15,rbx
018f  vpbroadcastd zmm8,[r12+10h]
0197  vpaddd zmm9,zmm8,[rel 5E0h]{1to16}
01a1  vpaddd zmm10,zmm8,[rel 5E4h]{1to16}
01ab  vmovups zmm11,[r14]
01b1  vpmovzxbd zmm12,[r15]
01b7  vpcmpeqd k1,zmm12,zmm8
01be  vpxord zmm12,zmm12,zmm12
01c4  vblendmps zmm11{k1},zmm12,zmm11
01ca  vaddps zmm0,zmm0,zmm11
01d0  vmovups zmm11,[r14+40h]
01d7  vpmovzxbd zmm12,[r15+10h]
01de  vpcmpeqd k1,zmm12,zmm8
01e5  vpxord zmm12,zmm12,zmm12
01eb  vblendmps zmm11{k1},zmm12,zmm11
01f1  vaddps zmm4,zmm4,zmm11
01f7  add r14,rax
01fa  add r15,r9
01fd  vmovups zmm11,[r14]
0203  vpmovzxbd zmm12,[r15]
0209  vpcmpeqd k1,zmm12,zmm8
0210  vpxord zmm13,zmm13,zmm13
0216  vblendmps zmm13{k1},zmm13,zmm11
021c  vaddps zmm1,zmm1,zmm13
0222  vpcmpeqd k1,zmm12,zmm9
0229  vpxord zmm12,zmm12,zmm12
022f  vblendmps zmm11{k1},zmm12,zmm11
0235  vaddps zmm0,zmm0,zmm11
023b  vmovups zmm11,[r14+40h]
0242  vpmovzxbd zmm12,[r15+10h]
0249  vpcmpeqd k1,zmm12,zmm8
0250  vpxord zmm13,zmm13,zmm13
0256  vblendmps zmm13{k1},zmm13,zmm11
025c  vaddps zmm5,zmm5,zmm13
0262  vpcmpeqd k1,zmm12,zmm9
0269  vpxord zmm12,zmm12,zmm12
026f  vblendmps zmm11{k1},zmm12,zmm11
0275  vaddps zmm4,zmm4,zmm11
027b  add r14,rax
027e  add r15,r9
0281  vmovups zmm11,[r14]
0287  vpmovzxbd zmm12,[r15]
028d  vpcmpeqd k1,zmm12,zmm8
0294  vpxord zmm13,zmm13,zmm13
029a  vblendmps zmm13{k1},zmm13,zmm11
02a0  vaddps zmm2,zmm2,zmm13
02a6  vpcmpeqd k1,zmm12,zmm9
02ad  vpxord zmm13,zmm13,zmm13
02b3  vblendmps zmm13{k1},zmm13,zmm11
02b9  vaddps zmm1,zmm1,zmm13
02bf  vpcmpeqd k1,zmm12,zmm10
02c6  vpxord zmm12,zmm12,zmm12
02cc  vblendmps zmm11{k1},zmm12,zmm11
02d2  vaddps zmm0,zmm0,zmm11
02d8  vmovups zmm11,[r14+40h]
02df  vpmovzxbd zmm12,[r15+10h]
02e6  vpcmpeqd k1,zmm12,zmm8
02ed  vpxord zmm13,zmm13,zmm13
02f3  vblendmps zmm13{k1},zmm13,zmm11
02f9  vaddps zmm6,zmm6,zmm13
02ff  vpcmpeqd k1,zmm12,zmm9
0306  vpxord zmm13,zmm13,zmm13
030c  vblendmps zmm13{k1},zmm13,zmm11
0312  vaddps zmm5,zmm5,zmm13
0318  vpcmpeqd k1,zmm12,zmm10
031f  vpxord zmm12,zmm12,zmm12
0325  vblendmps zmm11{k1},zmm12,zmm11
032b  vaddps zmm4,zmm4,zmm11
0331  add r14,rax
0334  add r15,r9
0337  vmovups zmm11,[r14]
033d  vpmovzxbd zmm12,[r15]
0343  vpcmpeqd k1,zmm12,zmm8
034a  vpxord zmm13,zmm13,zmm13
0350  vblendmps zmm13{k1},zmm13,zmm11
0356  vaddps zmm3,zmm3,zmm13
035c  vpcmpeqd k1,zmm12,zmm9
0363  vpxord zmm13,zmm13,zmm13
0369  vblendmps zmm13{k1},zmm13,zmm11
036f  vaddps zmm2,zmm2,zmm13
0375  vpcmpeqd k1,zmm12,zmm10
037c  vpxord zmm12,zmm12,zmm12
0382  vblendmps zmm11{k1},zmm12,zmm11
0388  vaddps zmm1,zmm1,zmm11
038e  vmovups zmm11,[r14+40h]
0395  vpmovzxbd zmm12,[r15+10h]
039c  vpcmpeqd k1,zmm12,zmm8
03a3  vpxord zmm8,zmm8,zmm8
03a9  vblendmps zmm8{k1},zmm8,zmm11
03af  vaddps zmm7,zmm7,zmm8
03b5  vpcmpeqd k1,zmm12,zmm9
03bc  vpxord zmm8,zmm8,zmm8
03c2  vblendmps zmm8{k1},zmm8,zmm11
03c8  vaddps zmm6,zmm6,zmm8
03ce  vpcmpeqd k1,zmm12,zmm10
03d5  vpxord zmm8,zmm8,zmm8
03db  vblendmps zmm8{k1},zmm8,zmm11
03e1  vaddps zmm5,zmm5,zmm8
03e7  add r14,rax
03ea  add r15,r9
03ed  vmovups zmm8,[r14]
03f3  vpmovzxbd zmm11,[r15]
03f9  vpcmpeqd k1,zmm11,zmm9
0400  vpxord zmm12,zmm12,zmm12
0406  vblendmps zmm12{k1},zmm12,zmm8
040c  vaddps zmm3,zmm3,zmm12
0412  vpcmpeqd k1,zmm11,zmm10
0419  vpxord zmm11,zmm11,zmm11
041f  vblendmps zmm8{k1},zmm11,zmm8
0425  vaddps zmm2,zmm2,zmm8
042b  vmovups zmm8,[r14+40h]
0432  vpmovzxbd zmm11,[r15+10h]
0439  vpcmpeqd k1,zmm11,zmm9
0440  vpxord zmm9,zmm9,zmm9
0446  vblendmps zmm9{k1},zmm9,zmm8
044c  vaddps zmm7,zmm7,zmm9
0452  vpcmpeqd k1,zmm11,zmm10
0459  vpxord zmm9,zmm9,zmm9
045f  vblendmps zmm8{k1},zmm9,zmm8
0465  vaddps zmm6,zmm6,zmm8
046b  add r14,rax
046e  add r15,r9
0471  vmovups zmm8,[r14]
0477  vpmovzxbd zmm9,[r15]
047d  vpcmpeqd k1,zmm9,zmm10
0484  vpxord zmm9,zmm9,zmm9
048a  vblendmps zmm8{k1},zmm9,zmm8
0490  vaddps zmm3,zmm3,zmm8
0496  vmovups zmm8,[r14+40h]
049d  vpmovzxbd zmm9,[r15+10h]
04a4  vpcmpeqd k1,zmm9,zmm10
04ab  vpxord zmm9,zmm9,zmm9
04b1  vblendmps zmm8{k1},zmm9,zmm8
04b7  vaddps zmm7,zmm7,zmm8
04bd  add r12,18h
04c1  dec r13
04c4  jne near 180h
04ca  vmovups [r11],zmm0
04d0  mov r12,[rdi+68h]
04d4  mov r13,r11
04d7  add r13,r12
04da  vmovups [r13],zmm1
04e1  add r13,r12
04e4  vmovups [r13],zmm2
04eb  add r13,r12
04ee  vmovups [r13],zmm3
04f5  mov r12,rcx
04f8  mov r13,r11
04fb  add r12,10h
04ff  mov r12,[rdi+78h]
0503  add r13,r12
0506  vmovups [r13],zmm4
050d  mov r12,[rdi+68h]
0511  add r13,r12
0514  vmovups [r13],zmm5
051b  add r13,r12
051e  vmovups [r13],zmm6
0525  add r13,r12
0528  vmovups [r13],zmm7
052f  mov r12,[rdi+48h]
0533  add r10,r12
0536  mov r12,[rdi+70h]
053a  add r11,r12
053d  mov r12,[rdi+98h]
0544  add rbx,r12
0547  dec rbp
054a  jne near 100h
0550  mov r10,[rdx+10h]
0554  mov r11d,18h
055a  imul r10,r11
055e  add rsi,r10
0561  add rdx,20h
0565  dec r8
0568  jne near 0C0h
056e  mov rdx,[rdi+58h]
0572  mov rsi,[rsp+40h]
0577  add rsi,rdx
057a  mov [rsp+40h],rsi
057f  mov rdx,[rdi+80h]
0586  mov rsi,[rsp+80h]
058e  add rsi,rdx
0591  mov [rsp+80h],rsi
0599  mov rdx,[rdi+0A8h]
05a0  mov rsi,[rsp+0C0h]
05a8  add rsi,rdx
05ab  mov [rsp+0C0h],rsi
05b3  add rcx,20h
05b7  mov rdx,[rsp]
05bb  dec rdx
05be  mov [rsp],rdx
05c2  jne near 80h
05c8  add rsp,100h
05cf  pop r15
05d1  pop r14
05d3  pop r13
05d5  pop r12
05d7  pop rbp
05d8  pop rbx
05d9  vzeroupper
05dc  ret
