; 287 instructions, 1743 bytes, 13 spills, 0 of them in inner loops
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
0101  jle near 5E4h
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
016a  mov r15,[rdi+18h]
016e  shr r15,1
0172  test r15,r15
0175  jle near 432h
017b  nop dword [rax+rax]
0180  vmovups ymm12,[r9]
0185  vpslld ymm12,ymm12,10h
018b  vmovups ymm13,[r9+20h]
0191  vpslld ymm13,ymm13,10h
0197  vpbroadcastd ymm14,[r10+r14]
019d  vpslld ymm14,ymm14,10h
01a3  vfmadd231ps ymm0,ymm14,ymm12
01a8  vfmadd231ps ymm1,ymm14,ymm13
01ad  vpbroadcastd ymm14,[r11+r14]
01b3  vpslld ymm14,ymm14,10h
01b9  vfmadd231ps ymm2,ymm14,ymm12
01be  vfmadd231ps ymm3,ymm14,ymm13
01c3  vpbroadcastd ymm14,[rbx+r14]
01c9  vpslld ymm14,ymm14,10h
01cf  vfmadd231ps ymm4,ymm14,ymm12
01d4  vfmadd231ps ymm5,ymm14,ymm13
01d9  vpbroadcastd ymm14,[rbp+r14]
01e0  vpslld ymm14,ymm14,10h
01e6  vfmadd231ps ymm6,ymm14,ymm12
01eb  vfmadd231ps ymm7,ymm14,ymm13
01f0  vpbroadcastd ymm14,[r12+r14]
01f6  vpslld ymm14,ymm14,10h
01fc  vfmadd231ps ymm8,ymm14,ymm12
0201  vfmadd231ps ymm9,ymm14,ymm13
0206  vpbroadcastd ymm14,[r13+r14]
020d  vpslld ymm14,ymm14,10h
0213  vfmadd231ps ymm10,ymm14,ymm12
0218  vfmadd231ps ymm11,ymm14,ymm13
021d  vmovups ymm12,[r9]
0222  vpand ymm12,ymm12,[rel 6E0h]
022a  vmovups ymm13,[r9+20h]
0230  vpand ymm13,ymm13,[rel 6E0h]
0238  vpbroadcastd ymm14,[r10+r14]
023e  vpand ymm14,ymm14,[rel 6E0h]
0246  vfmadd231ps ymm0,ymm14,ymm12
024b  vfmadd231ps ymm1,ymm14,ymm13
0250  vpbroadcastd ymm14,[r11+r14]
0256  vpand ymm14,ymm14,[rel 6E0h]
025e  vfmadd231ps ymm2,ymm14,ymm12
0263  vfmadd231ps ymm3,ymm14,ymm13
0268  vpbroadcastd ymm14,[rbx+r14]
026e  vpand ymm14,ymm14,[rel 6E0h]
0276  vfmadd231ps ymm4,ymm14,ymm12
027b  vfmadd231ps ymm5,ymm14,ymm13
0280  vpbroadcastd ymm14,[rbp+r14]
0287  vpand ymm14,ymm14,[rel 6E0h]
028f  vfmadd231ps ymm6,ymm14,ymm12
0294  vfmadd231ps ymm7,ymm14,ymm13
0299  vpbroadcastd ymm14,[r12+r14]
029f  vpand ymm14,ymm14,[rel 6E0h]
02a7  vfmadd231ps ymm8,ymm14,ymm12
02ac  vfmadd231ps ymm9,ymm14,ymm13
02b1  vpbroadcastd ymm14,[r13+r14]
02b8  vpand ymm14,ymm14,[rel 6E0h]
02c0  vfmadd231ps ymm10,ymm14,ymm12
02c5  vfmadd231ps ymm11,ymm14,ymm13
02ca  vmovups ymm12,[r9+40h]
02d0  vpslld ymm12,ymm12,10h
02d6  vmovups ymm13,[r9+60h]
02dc  vpslld ymm13,ymm13,10h
02e2  vpbroadcastd ymm14,[r10+r14+4]
02e9  vpslld ymm14,ymm14,10h
02ef  vfmadd231ps ymm0,ymm14,ymm12
02f4  vfmadd231ps ymm1,ymm14,ymm13
02f9  vpbroadcastd ymm14,[r11+r14+4]
0300  vpslld ymm14,ymm14,10h
0306  vfmadd231ps ymm2,ymm14,ymm12
030b  vfmadd231ps ymm3,ymm14,ymm13
0310  vpbroadcastd ymm14,[rbx+r14+4]
0317  vpslld ymm14,ymm14,10h
031d  vfmadd231ps ymm4,ymm14,ymm12
0322  vfmadd231ps ymm5,ymm14,ymm13
0327  vpbroadcastd ymm14,[rbp+r14+4]
032e  vpslld ymm14,ymm14,10h
0334  vfmadd231ps ymm6,ymm14,ymm12
0339  vfmadd231ps ymm7,ymm14,ymm13
033e  vpbroadcastd ymm14,[r12+r14+4]
0345  vpslld ymm14,ymm14,10h
034b  vfmadd231ps ymm8,ymm14,ymm12
0350  vfmadd231ps ymm9,ymm14,ymm13
0355  vpbroadcastd ymm14,[r13+r14+4]
035c  vpslld ymm14,ymm14,10h
0362  vfmadd231ps ymm10,ymm14,ymm12
0367  vfmadd231ps ymm11,ymm14,ymm13
036c  vmovups ymm12,[r9+40h]
0372  vpand ymm12,ymm12,[rel 6E0h]
037a  vmovups ymm13,[r9+60h]
0380  vpand ymm13,ymm13,[rel 6E0h]
0388  vpbroadcastd ymm14,[r10+r14+4]
038f  vpand ymm14,ymm14,[rel 6E0h]
0397  vfmadd231ps ymm0,ymm14,ymm12
039c  vfmadd231ps ymm1,ymm14,ymm13
03a1  vpbroadcastd ymm14,[r11+r14+4]
03a8  vpand ymm14,ymm14,[rel 6E0h]
03b0  vfmadd231ps ymm2,ymm14,ymm12
03b5  vfmadd231ps ymm3,ymm14,ymm13
03ba  vpbroadcastd ymm14,[rbx+r14+4]
03c1  vpand ymm14,ymm14,[rel 6E0h]
03c9  vfmadd231ps ymm4,ymm14,ymm12
03ce  vfmadd231ps ymm5,ymm14,ymm13
03d3  vpbroadcastd ymm14,[rbp+r14+4]
03da  vpand ymm14,ymm14,[rel 6E0h]
03e2  vfmadd231ps ymm6,ymm14,ymm12
03e7  vfmadd231ps ymm7,ymm14,ymm13
03ec  vpbroadcastd ymm14,[r12+r14+4]
03f3  vpand ymm14,ymm14,[rel 6E0h]
03fb  vfmadd231ps ymm8,ymm14,ymm12
0400  vfmadd231ps ymm9,ymm14,ymm13
0405  vpbroadcastd ymm14,[r13+r14+4]
040c  vpand ymm14,ymm14,[rel 6E0h]
0414  vfmadd231ps ymm10,ymm14,ymm12
0419  vfmadd231ps ymm11,ymm14,ymm13
041e  add r14,8
0422  add r9,80h
0429  dec r15
042c  jne near 180h
0432  mov r15,[rdi+18h]
0436  and r15,1
043a  test r15,r15
043d  jle near 5DBh
0443  nop word [rax+rax]
044c  nop word [rax+rax]
0455  nop word [rax+rax]
045e  nop word [rax+rax]
0467  nop word [rax+rax]
0470  nop word [rax+rax]
0479  nop dword [rax]
0480  vmovups ymm12,[r9]
0485  vpslld ymm12,ymm12,10h
048b  vmovups ymm13,[r9+20h]
0491  vpslld ymm13,ymm13,10h
0497  vpbroadcastd ymm14,[r10+r14]
049d  vpslld ymm14,ymm14,10h
04a3  vfmadd231ps ymm0,ymm14,ymm12
04a8  vfmadd231ps ymm1,ymm14,ymm13
04ad  vpbroadcastd ymm14,[r11+r14]
04b3  vpslld ymm14,ymm14,10h
04b9  vfmadd231ps ymm2,ymm14,ymm12
04be  vfmadd231ps ymm3,ymm14,ymm13
04c3  vpbroadcastd ymm14,[rbx+r14]
04c9  vpslld ymm14,ymm14,10h
04cf  vfmadd231ps ymm4,ymm14,ymm12
04d4  vfmadd231ps ymm5,ymm14,ymm13
04d9  vpbroadcastd ymm14,[rbp+r14]
04e0  vpslld ymm14,ymm14,10h
04e6  vfmadd231ps ymm6,ymm14,ymm12
04eb  vfmadd231ps ymm7,ymm14,ymm13
04f0  vpbroadcastd ymm14,[r12+r14]
04f6  vpslld ymm14,ymm14,10h
04fc  vfmadd231ps ymm8,ymm14,ymm12
0501  vfmadd231ps ymm9,ymm14,ymm13
0506  vpbroadcastd ymm14,[r13+r14]
050d  vpslld ymm14,ymm14,10h
0513  vfmadd231ps ymm10,ymm14,ymm12
0518  vfmadd231ps ymm11,ymm14,ymm13
051d  vmovups ymm12,[r9]
0522  vpand ymm12,ymm12,[rel 6E0h]
052a  vmovups ymm13,[r9+20h]
0530  vpand ymm13,ymm13,[rel 6E0h]
0538  vpbroadcastd ymm14,[r10+r14]
053e  vpand ymm14,ymm14,[rel 6E0h]
0546  vfmadd231ps ymm0,ymm14,ymm12
054b  vfmadd231ps ymm1,ymm14,ymm13
0550  vpbroadcastd ymm14,[r11+r14]
0556  vpand ymm14,ymm14,[rel 6E0h]
055e  vfmadd231ps ymm2,ymm14,ymm12
0563  vfmadd231ps ymm3,ymm14,ymm13
0568  vpbroadcastd ymm14,[rbx+r14]
056e  vpand ymm14,ymm14,[rel 6E0h]
0576  vfmadd231ps ymm4,ymm14,ymm12
057b  vfmadd231ps ymm5,ymm14,ymm13
0580  vpbroadcastd ymm14,[rbp+r14]
0587  vpand ymm14,ymm14,[rel 6E0h]
058f  vfmadd231ps ymm6,ymm14,ymm12
0594  vfmadd231ps ymm7,ymm14,ymm13
0599  vpbroadcastd ymm14,[r12+r14]
059f  vpand ymm14,ymm14,[rel 6E0h]
05a7  vfmadd231ps ymm8,ymm14,ymm12
05ac  vfmadd231ps ymm9,ymm14,ymm13
05b1  vpbroadcastd ymm14,[r13+r14]
05b8  vpand ymm14,ymm14,[rel 6E0h]
05c0  vfmadd231ps ymm10,ymm14,ymm12
05c5  vfmadd231ps ymm11,ymm14,ymm13
05ca  add r14,4
05ce  add r9,40h
05d2  dec r15
05d5  jne near 480h
05db  dec r8
05de  jne near 140h
05e4  mov r8,[rdi+30h]
05e8  mov r9,[rax+10h]
05ec  mov r10,[rdi+38h]
05f0  imul r10,rdx
05f4  add r8,r9
05f7  add r8,r10
05fa  mov r9,[rsp+0C0h]
0602  lea r8,[r8+r9*4]
0606  mov r9,[rdi+38h]
060a  vmovups [r8],ymm0
060f  vmovups [r8+20h],ymm1
0615  add r8,r9
0618  vmovups [r8],ymm2
061d  vmovups [r8+20h],ymm3
0623  add r8,r9
0626  vmovups [r8],ymm4
062b  vmovups [r8+20h],ymm5
0631  add r8,r9
0634  vmovups [r8],ymm6
0639  vmovups [r8+20h],ymm7
063f  add r8,r9
0642  vmovups [r8],ymm8
0647  vmovups [r8+20h],ymm9
064d  add r8,r9
0650  vmovups [r8],ymm10
0655  vmovups [r8+20h],ymm11
065b  mov r8,[rdi+28h]
065f  add rsi,r8
0662  mov r8,[rsp+0C0h]
066a  add r8,10h
066e  mov [rsp+0C0h],r8
0676  mov r8,[rsp+80h]
067e  dec r8
0681  mov [rsp+80h],r8
0689  jne near 0C0h
068f  add rdx,6
0693  mov rsi,[rsp+40h]
0698  dec rsi
069b  mov [rsp+40h],rsi
06a0  jne near 80h
06a6  mov rax,rcx
06a9  mov rcx,[rsp]
06ad  dec rcx
06b0  mov [rsp],rcx
06b4  jne near 40h
06ba  add rsp,100h
06c1  pop r15
06c3  pop r14
06c5  pop r13
06c7  pop r12
06c9  pop rbp
06ca  pop rbx
06cb  vzeroupper
06ce  ret
