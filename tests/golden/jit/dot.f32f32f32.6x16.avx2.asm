; 140 instructions, 669 bytes, 0 spills, 0 of them in inner loops
0000  push rbx
0001  push rbp
0002  push r12
0004  push r13
0006  mov rax,[rdi+40h]
000a  vmovd xmm0,eax
000e  vpbroadcastd ymm0,xmm0
0013  vpcmpgtd ymm0,ymm0,[rel 2A0h]
001b  mov rax,[rdi+38h]
001f  vpxor ymm1,ymm1,ymm1
0023  vpxor ymm2,ymm2,ymm2
0027  vpxor ymm3,ymm3,ymm3
002b  vpxor ymm4,ymm4,ymm4
002f  vpxor ymm5,ymm5,ymm5
0033  vpxor ymm6,ymm6,ymm6
0037  vpxor ymm7,ymm7,ymm7
003b  vpxor ymm8,ymm8,ymm8
0040  vpxor ymm9,ymm9,ymm9
0045  vpxor ymm10,ymm10,ymm10
004a  vpxor ymm11,ymm11,ymm11
004f  vpxor ymm12,ymm12,ymm12
0054  mov rcx,[rdi]
0057  mov rdx,[rdi+8]
005b  test rdx,rdx
005e  jle near 240h
0064  nop word [rax+rax]
006d  nop word [rax+rax]
0076  nop word [rax+rax]
007f  nop
0080  mov rsi,[rdi+18h]
0084  mov r8,[rcx]
0087  add rsi,r8
008a  mov r8,[rcx+8]
008e  mov r9,[rcx+10h]
0092  mov r10,[rcx+18h]
0096  mov r11,[rcx+20h]
009a  mov rbx,[rcx+28h]
009e  mov rbp,[rcx+30h]
00a2  add rcx,38h
00a6  mov r12d,0
00ac  mov r13,[rdi+10h]
00b0  shr r13,1
00b4  test r13,r13
00b7  jle near 1AEh
00bd  nop dword [rax]
00c0  vmovups ymm13,[rsi]
00c4  vmaskmovps ymm14,ymm0,[rsi+20h]
00ca  vpbroadcastd ymm15,[r8+r12]
00d0  vfmadd231ps ymm1,ymm15,ymm13
00d5  vfmadd231ps ymm2,ymm15,ymm14
00da  vpbroadcastd ymm15,[r9+r12]
00e0  vfmadd231ps ymm3,ymm15,ymm13
00e5  vfmadd231ps ymm4,ymm15,ymm14
00ea  vpbroadcastd ymm15,[r10+r12]
00f0  vfmadd231ps ymm5,ymm15,ymm13
00f5  vfmadd231ps ymm6,ymm15,ymm14
00fa  vpbroadcastd ymm15,[r11+r12]
0100  vfmadd231ps ymm7,ymm15,ymm13
0105  vfmadd231ps ymm8,ymm15,ymm14
010a  vpbroadcastd ymm15,[rbx+r12]
0110  vfmadd231ps ymm9,ymm15,ymm13
0115  vfmadd231ps ymm10,ymm15,ymm14
011a  vpbroadcastd ymm15,[rbp+r12]
0121  vfmadd231ps ymm11,ymm15,ymm13
0126  vfmadd231ps ymm12,ymm15,ymm14
012b  add rsi,rax
012e  vmovups ymm13,[rsi]
0132  vmaskmovps ymm14,ymm0,[rsi+20h]
0138  vpbroadcastd ymm15,[r8+r12+4]
013f  vfmadd231ps ymm1,ymm15,ymm13
0144  vfmadd231ps ymm2,ymm15,ymm14
0149  vpbroadcastd ymm15,[r9+r12+4]
0150  vfmadd231ps ymm3,ymm15,ymm13
0155  vfmadd231ps ymm4,ymm15,ymm14
015a  vpbroadcastd ymm15,[r10+r12+4]
0161  vfmadd231ps ymm5,ymm15,ymm13
0166  vfmadd231ps ymm6,ymm15,ymm14
016b  vpbroadcastd ymm15,[r11+r12+4]
0172  vfmadd231ps ymm7,ymm15,ymm13
0177  vfmadd231ps ymm8,ymm15,ymm14
017c  vpbroadcastd ymm15,[rbx+r12+4]
0183  vfmadd231ps ymm9,ymm15,ymm13
0188  vfmadd231ps ymm10,ymm15,ymm14
018d  vpbroadcastd ymm15,[rbp+r12+4]
0194  vfmadd231ps ymm11,ymm15,ymm13
0199  vfmadd231ps ymm12,ymm15,ymm14
019e  add rsi,rax
01a1  add r12,8
01a5  dec r13
01a8  jne near 0C0h
01ae  mov r13,[rdi+10h]
01b2  and r13,1
01b6  test r13,r13
01b9  jle near 237h
01bf  nop
01c0  vmovups ymm13,[rsi]
01c4  vmaskmovps ymm14,ymm0,[rsi+20h]
01ca  vpbroadcastd ymm15,[r8+r12]
01d0  vfmadd231ps ymm1,ymm15,ymm13
01d5  vfmadd231ps ymm2,ymm15,ymm14
01da  vpbroadcastd ymm15,[r9+r12]
01e0  vfmadd231ps ymm3,ymm15,ymm13
01e5  vfmadd231ps ymm4,ymm15,ymm14
01ea  vpbroadcastd ymm15,[r10+r12]
01f0  vfmadd231ps ymm5,ymm15,ymm13
01f5  vfmadd231ps ymm6,ymm15,ymm14
01fa  vpbroadcastd ymm15,[r11+r12]
0200  vfmadd231ps ymm7,ymm15,ymm13
0205  vfmadd231ps ymm8,ymm15,ymm14
020a  vpbroadcastd ymm15,[rbx+r12]
0210  vfmadd231ps ymm9,ymm15,ymm13
0215  vfmadd231ps ymm10,ymm15,ymm14
021a  vpbroadcastd ymm15,[rbp+r12]
0221  vfmadd231ps ymm11,ymm15,ymm13
0226  vfmadd231ps ymm12,ymm15,ymm14
022b  add rsi,rax
022e  add r12,4
0232  dec r13
0235  jne short 1C0h
0237  dec rdx
023a  jne near 80h
0240  mov rax,[rdi+20h]
0244  mov rdi,[rdi+28h]
0248  vmovups [rax],ymm1
024c  vmaskmovps [rax+20h],ymm0,ymm2
0252  add rax,rdi
0255  vmovups [rax],ymm3
0259  vmaskmovps [rax+20h],ymm0,ymm4
025f  add rax,rdi
0262  vmovups [rax],ymm5
0266  vmaskmovps [rax+20h],ymm0,ymm6
026c  add rax,rdi
026f  vmovups [rax],ymm7
0273  vmaskmovps [rax+20h],ymm0,ymm8
0279  add rax,rdi
027c  vmovups [rax],ymm9
0280  vmaskmovps [rax+20h],ymm0,ymm10
0286  add rax,rdi
0289  vmovups [rax],ymm11
028d  vmaskmovps [rax+20h],ymm0,ymm12
0293  pop r13
0295  pop r12
0297  pop rbp
0298  pop rbx
0299  vzeroupper
029c  ret
