; 266 instructions, 1621 bytes, 13 spills, 0 of them in inner loops
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
00f4  vpbroadcastd ymm12,[rel 658h]
00fd  mov rcx,rax
0100  mov r8,[rax]
0103  add rcx,58h
0107  test r8,r8
010a  jle near 56Ah
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
017c  jle near 3FEh
0182  nop word [rax+rax]
018b  nop word [rax+rax]
0194  nop word [rax+rax]
019d  nop word [rax+rax]
01a6  nop word [rax+rax]
01af  nop word [rax+rax]
01b8  nop dword [rax+rax]
01c0  vpbroadcastd ymm13,[r10+r14]
01c6  vpxor ymm13,ymm13,[rel 660h]
01ce  vpmaddubsw ymm14,ymm13,[r9]
01d3  vpmaddwd ymm14,ymm14,ymm12
01d8  vpmaddubsw ymm13,ymm13,[r9+20h]
01de  vpmaddwd ymm13,ymm13,ymm12
01e3  vpaddd ymm0,ymm0,ymm14
01e8  vpbroadcastd ymm14,[r11+r14]
01ee  vpxor ymm14,ymm14,[rel 660h]
01f6  vpmaddubsw ymm15,ymm14,[r9]
01fb  vpmaddwd ymm15,ymm15,ymm12
0200  vpaddd ymm1,ymm1,ymm13
0205  vpmaddubsw ymm13,ymm14,[r9+20h]
020b  vpmaddwd ymm13,ymm13,ymm12
0210  vpaddd ymm2,ymm2,ymm15
0215  vpbroadcastd ymm14,[rbx+r14]
021b  vpxor ymm14,ymm14,[rel 660h]
0223  vpmaddubsw ymm15,ymm14,[r9]
0228  vpmaddwd ymm15,ymm15,ymm12
022d  vpaddd ymm3,ymm3,ymm13
0232  vpmaddubsw ymm13,ymm14,[r9+20h]
0238  vpmaddwd ymm13,ymm13,ymm12
023d  vpaddd ymm4,ymm4,ymm15
0242  vpbroadcastd ymm14,[rbp+r14]
0249  vpxor ymm14,ymm14,[rel 660h]
0251  vpmaddubsw ymm15,ymm14,[r9]
0256  vpmaddwd ymm15,ymm15,ymm12
025b  vpaddd ymm5,ymm5,ymm13
0260  vpmaddubsw ymm13,ymm14,[r9+20h]
0266  vpmaddwd ymm13,ymm13,ymm12
026b  vpaddd ymm6,ymm6,ymm15
0270  vpbroadcastd ymm14,[r12+r14]
0276  vpxor ymm14,ymm14,[rel 660h]
027e  vpmaddubsw ymm15,ymm14,[r9]
0283  vpmaddwd ymm15,ymm15,ymm12
0288  vpaddd ymm7,ymm7,ymm13
028d  vpmaddubsw ymm13,ymm14,[r9+20h]
0293  vpmaddwd ymm13,ymm13,ymm12
0298  vpaddd ymm8,ymm8,ymm15
029d  vpbroadcastd ymm14,[r13+r14]
02a4  vpxor ymm14,ymm14,[rel 660h]
02ac  vpmaddubsw ymm15,ymm14,[r9]
02b1  vpmaddwd ymm15,ymm15,ymm12
02b6  vpaddd ymm9,ymm9,ymm13
02bb  vpmaddubsw ymm13,ymm14,[r9+20h]
02c1  vpmaddwd ymm13,ymm13,ymm12
02c6  vpaddd ymm10,ymm10,ymm15
02cb  vpaddd ymm11,ymm11,ymm13
02d0  vpbroadcastd ymm13,[r10+r14+4]
02d7  vpxor ymm13,ymm13,[rel 660h]
02df  vpmaddubsw ymm14,ymm13,[r9+40h]
02e5  vpmaddwd ymm14,ymm14,ymm12
02ea  vpmaddubsw ymm13,ymm13,[r9+60h]
02f0  vpmaddwd ymm13,ymm13,ymm12
02f5  vpaddd ymm0,ymm0,ymm14
02fa  vpbroadcastd ymm14,[r11+r14+4]
0301  vpxor ymm14,ymm14,[rel 660h]
0309  vpmaddubsw ymm15,ymm14,[r9+40h]
030f  vpmaddwd ymm15,ymm15,ymm12
0314  vpaddd ymm1,ymm1,ymm13
0319  vpmaddubsw ymm13,ymm14,[r9+60h]
031f  vpmaddwd ymm13,ymm13,ymm12
0324  vpaddd ymm2,ymm2,ymm15
0329  vpbroadcastd ymm14,[rbx+r14+4]
0330  vpxor ymm14,ymm14,[rel 660h]
0338  vpmaddubsw ymm15,ymm14,[r9+40h]
033e  vpmaddwd ymm15,ymm15,ymm12
0343  vpaddd ymm3,ymm3,ymm13
0348  vpmaddubsw ymm13,ymm14,[r9+60h]
034e  vpmaddwd ymm13,ymm13,ymm12
0353  vpaddd ymm4,ymm4,ymm15
0358  vpbroadcastd ymm14,[rbp+r14+4]
035f  vpxor ymm14,ymm14,[rel 660h]
0367  vpmaddubsw ymm15,ymm14,[r9+40h]
036d  vpmaddwd ymm15,ymm15,ymm12
0372  vpaddd ymm5,ymm5,ymm13
0377  vpmaddubsw ymm13,ymm14,[r9+60h]
037d  vpmaddwd ymm13,ymm13,ymm12
0382  vpaddd ymm6,ymm6,ymm15
0387  vpbroadcastd ymm14,[r12+r14+4]
038e  vpxor ymm14,ymm14,[rel 660h]
0396  vpmaddubsw ymm15,ymm14,[r9+40h]
039c  vpmaddwd ymm15,ymm15,ymm12
03a1  vpaddd ymm7,ymm7,ymm13
03a6  vpmaddubsw ymm13,ymm14,[r9+60h]
03ac  vpmaddwd ymm13,ymm13,ymm12
03b1  vpaddd ymm8,ymm8,ymm15
03b6  vpbroadcastd ymm14,[r13+r14+4]
03bd  vpxor ymm14,ymm14,[rel 660h]
03c5  vpmaddubsw ymm15,ymm14,[r9+40h]
03cb  vpmaddwd ymm15,ymm15,ymm12
03d0  vpaddd ymm9,ymm9,ymm13
03d5  vpmaddubsw ymm13,ymm14,[r9+60h]
03db  vpmaddwd ymm13,ymm13,ymm12
03e0  vpaddd ymm10,ymm10,ymm15
03e5  vpaddd ymm11,ymm11,ymm13
03ea  add r14,8
03ee  add r9,80h
03f5  dec r15
03f8  jne near 1C0h
03fe  mov r15,[rdi+18h]
0402  and r15,1
0406  test r15,r15
0409  jle near 561h
040f  nop word [rax+rax]
0418  nop word [rax+rax]
0421  nop word [rax+rax]
042a  nop word [rax+rax]
0433  nop word [rax+rax]
043c  nop dword [rax]
0440  vpbroadcastd ymm13,[r10+r14]
0446  vpxor ymm13,ymm13,[rel 660h]
044e  vpmaddubsw ymm14,ymm13,[r9]
0453  vpmaddwd ymm14,ymm14,ymm12
0458  vpmaddubsw ymm13,ymm13,[r9+20h]
045e  vpmaddwd ymm13,ymm13,ymm12
0463  vpaddd ymm0,ymm0,ymm14
0468  vpbroadcastd ymm14,[r11+r14]
046e  vpxor ymm14,ymm14,[rel 660h]
0476  vpmaddubsw ymm15,ymm14,[r9]
047b  vpmaddwd ymm15,ymm15,ymm12
0480  vpaddd ymm1,ymm1,ymm13
0485  vpmaddubsw ymm13,ymm14,[r9+20h]
048b  vpmaddwd ymm13,ymm13,ymm12
0490  vpaddd ymm2,ymm2,ymm15
0495  vpbroadcastd ymm14,[rbx+r14]
049b  vpxor ymm14,ymm14,[rel 660h]
04a3  vpmaddubsw ymm15,ymm14,[r9]
04a8  vpmaddwd ymm15,ymm15,ymm12
04ad  vpaddd ymm3,ymm3,ymm13
04b2  vpmaddubsw ymm13,ymm14,[r9+20h]
04b8  vpmaddwd ymm13,ymm13,ymm12
04bd  vpaddd ymm4,ymm4,ymm15
04c2  vpbroadcastd ymm14,[rbp+r14]
04c9  vpxor ymm14,ymm14,[rel 660h]
04d1  vpmaddubsw ymm15,ymm14,[r9]
04d6  vpmaddwd ymm15,ymm15,ymm12
04db  vpaddd ymm5,ymm5,ymm13
04e0  vpmaddubsw ymm13,ymm14,[r9+20h]
04e6  vpmaddwd ymm13,ymm13,ymm12
04eb  vpaddd ymm6,ymm6,ymm15
04f0  vpbroadcastd ymm14,[r12+r14]
04f6  vpxor ymm14,ymm14,[rel 660h]
04fe  vpmaddubsw ymm15,ymm14,[r9]
0503  vpmaddwd ymm15,ymm15,ymm12
0508  vpaddd ymm7,ymm7,ymm13
050d  vpmaddubsw ymm13,ymm14,[r9+20h]
0513  vpmaddwd ymm13,ymm13,ymm12
0518  vpaddd ymm8,ymm8,ymm15
051d  vpbroadcastd ymm14,[r13+r14]
0524  vpxor ymm14,ymm14,[rel 660h]
052c  vpmaddubsw ymm15,ymm14,[r9]
0531  vpmaddwd ymm15,ymm15,ymm12
0536  vpaddd ymm9,ymm9,ymm13
053b  vpmaddubsw ymm13,ymm14,[r9+20h]
0541  vpmaddwd ymm13,ymm13,ymm12
0546  vpaddd ymm10,ymm10,ymm15
054b  vpaddd ymm11,ymm11,ymm13
0550  add r14,4
0554  add r9,40h
0558  dec r15
055b  jne near 440h
0561  dec r8
0564  jne near 140h
056a  mov r8,[rdi+38h]
056e  mov r9,[rax+10h]
0572  mov r10,[rdi+40h]
0576  imul r10,rdx
057a  add r8,r9
057d  add r8,r10
0580  mov r9,[rsp+0C0h]
0588  lea r8,[r8+r9*4]
058c  mov r9,[rdi+40h]
0590  vmovups [r8],ymm0
0595  vmovups [r8+20h],ymm1
059b  add r8,r9
059e  vmovups [r8],ymm2
05a3  vmovups [r8+20h],ymm3
05a9  add r8,r9
05ac  vmovups [r8],ymm4
05b1  vmovups [r8+20h],ymm5
05b7  add r8,r9
05ba  vmovups [r8],ymm6
05bf  vmovups [r8+20h],ymm7
05c5  add r8,r9
05c8  vmovups [r8],ymm8
05cd  vmovups [r8+20h],ymm9
05d3  add r8,r9
05d6  vmovups [r8],ymm10
05db  vmovups [r8+20h],ymm11
05e1  mov r8,[rdi+28h]
05e5  add rsi,r8
05e8  mov r8,[rsp+0C0h]
05f0  add r8,10h
05f4  mov [rsp+0C0h],r8
05fc  mov r8,[rsp+80h]
0604  dec r8
0607  mov [rsp+80h],r8
060f  jne near 0C0h
0615  add rdx,6
0619  mov rsi,[rsp+40h]
061e  dec rsi
0621  mov [rsp+40h],rsi
0626  jne near 80h
062c  mov rax,rcx
062f  mov rcx,[rsp]
0633  dec rcx
0636  mov [rsp],rcx
063a  jne near 40h
0640  add rsp,100h
0647  pop r15
0649  pop r14
064b  pop r13
064d  pop r12
064f  pop rbp
0650  pop rbx
0651  vzeroupper
0654  ret
