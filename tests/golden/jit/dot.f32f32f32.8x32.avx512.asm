; 178 instructions, 1044 bytes, 0 spills, 0 of them in inner loops
0000  push rbx
0001  push rbp
0002  push r12
0004  push r13
0006  push r14
0008  mov rax,[rdi+40h]
000c  vpbroadcastd zmm0,eax
0012  vpcmpnled k1,zmm0,[rel 440h]
001d  mov rax,[rdi+20h]
0021  mov rcx,[rdi+28h]
0025  vmovups zmm0,[rax]
002b  vmovups zmm1{k1}{z},[rax+40h]
0032  add rax,rcx
0035  vmovups zmm2,[rax]
003b  vmovups zmm3{k1}{z},[rax+40h]
0042  add rax,rcx
0045  vmovups zmm4,[rax]
004b  vmovups zmm5{k1}{z},[rax+40h]
0052  add rax,rcx
0055  vmovups zmm6,[rax]
005b  vmovups zmm7{k1}{z},[rax+40h]
0062  add rax,rcx
0065  vmovups zmm8,[rax]
006b  vmovups zmm9{k1}{z},[rax+40h]
0072  add rax,rcx
0075  vmovups zmm10,[rax]
007b  vmovups zmm11{k1}{z},[rax+40h]
0082  add rax,rcx
0085  vmovups zmm12,[rax]
008b  vmovups zmm13{k1}{z},[rax+40h]
0092  add rax,rcx
0095  vmovups zmm14,[rax]
009b  vmovups zmm15{k1}{z},[rax+40h]
00a2  mov rax,[rdi]
00a5  mov rcx,[rdi+8]
00a9  test rcx,rcx
00ac  jle near 383h
00b2  nop word [rax+rax]
00bb  nop dword [rax+rax]
00c0  mov rdx,[rdi+18h]
00c4  mov rsi,[rax]
00c7  add rdx,rsi
00ca  mov rsi,[rax+8]
00ce  mov r8,[rax+10h]
00d2  mov r9,[rax+18h]
00d6  mov r10,[rax+20h]
00da  mov r11,[rax+28h]
00de  mov rbx,[rax+30h]
00e2  mov rbp,[rax+38h]
00e6  mov r12,[rax+40h]
00ea  add rax,48h
00ee  mov r13d,0
00f4  mov r14,[rdi+10h]
00f8  shr r14,1
00fc  test r14,r14
00ff  jle near 2A8h
0105  nop word [rax+rax]
010e  nop word [rax+rax]
0117  nop word [rax+rax]
0120  nop word [rax+rax]
0129  nop word [rax+rax]
0132  nop word [rax+rax]
013b  nop dword [rax+rax]
0140  vmovups zmm16,[rdx]
0146  vmovups zmm17,[rdx+40h]
014d  vpbroadcastd zmm18,[rsi+r13]
0154  vfmadd231ps zmm0,zmm18,zmm16
015a  vfmadd231ps zmm1,zmm18,zmm17
0160  vpbroadcastd zmm18,[r8+r13]
0167  vfmadd231ps zmm2,zmm18,zmm16
016d  vfmadd231ps zmm3,zmm18,zmm17
0173  vpbroadcastd zmm18,[r9+r13]
017a  vfmadd231ps zmm4,zmm18,zmm16
0180  vfmadd231ps zmm5,zmm18,zmm17
0186  vpbroadcastd zmm18,[r10+r13]
018d  vfmadd231ps zmm6,zmm18,zmm16
0193  vfmadd231ps zmm7,zmm18,zmm17
0199  vpbroadcastd zmm18,[r11+r13]
01a0  vfmadd231ps zmm8,zmm18,zmm16
01a6  vfmadd231ps zmm9,zmm18,zmm17
01ac  vpbroadcastd zmm18,[rbx+r13]
01b3  vfmadd231ps zmm10,zmm18,zmm16
01b9  vfmadd231ps zmm11,zmm18,zmm17
01bf  vpbroadcastd zmm18,[rbp+r13]
01c7  vfmadd231ps zmm12,zmm18,zmm16
01cd  vfmadd231ps zmm13,zmm18,zmm17
01d3  vpbroadcastd zmm18,[r12+r13]
01da  vfmadd231ps zmm14,zmm18,zmm16
01e0  vfmadd231ps zmm15,zmm18,zmm17
01e6  vmovups zmm16,[rdx+80h]
01ed  vmovups zmm17,[rdx+0C0h]
01f4  vpbroadcastd zmm18,[rsi+r13+4]
01fc  vfmadd231ps zmm0,zmm18,zmm16
0202  vfmadd231ps zmm1,zmm18,zmm17
0208  vpbroadcastd zmm18,[r8+r13+4]
0210  vfmadd231ps zmm2,zmm18,zmm16
0216  vfmadd231ps zmm3,zmm18,zmm17
021c  vpbroadcastd zmm18,[r9+r13+4]
0224  vfmadd231ps zmm4,zmm18,zmm16
022a  vfmadd231ps zmm5,zmm18,zmm17
0230  vpbroadcastd zmm18,[r10+r13+4]
0238  vfmadd231ps zmm6,zmm18,zmm16
023e  vfmadd231ps zmm7,zmm18,zmm17
0244  vpbroadcastd zmm18,[r11+r13+4]
024c  vfmadd231ps zmm8,zmm18,zmm16
0252  vfmadd231ps zmm9,zmm18,zmm17
0258  vpbroadcastd zmm18,[rbx+r13+4]
0260  vfmadd231ps zmm10,zmm18,zmm16
0266  vfmadd231ps zmm11,zmm18,zmm17
026c  vpbroadcastd zmm18,[rbp+r13+4]
0274  vfmadd231ps zmm12,zmm18,zmm16
027a  vfmadd231ps zmm13,zmm18,zmm17
0280  vpbroadcastd zmm18,[r12+r13+4]
0288  vfmadd231ps zmm14,zmm18,zmm16
028e  vfmadd231ps zmm15,zmm18,zmm17
0294  add r13,8
0298  add rdx,100h
029f  dec r14
02a2  jne near 140h
02a8  mov r14,[rdi+10h]
02ac  and r14,1
02b0  test r14,r14
02b3  jle near 37Ah
02b9  nop dword [rax]
02c0  vmovups zmm16,[rdx]
02c6  vmovups zmm17,[rdx+40h]
02cd  vpbroadcastd zmm18,[rsi+r13]
02d4  vfmadd231ps zmm0,zmm18,zmm16
02da  vfmadd231ps zmm1,zmm18,zmm17
02e0  vpbroadcastd zmm18,[r8+r13]
02e7  vfmadd231ps zmm2,zmm18,zmm16
02ed  vfmadd231ps zmm3,zmm18,zmm17
02f3  vpbroadcastd zmm18,[r9+r13]
02fa  vfmadd231ps zmm4,zmm18,zmm16
0300  vfmadd231ps zmm5,zmm18,zmm17
0306  vpbroadcastd zmm18,[r10+r13]
030d  vfmadd231ps zmm6,zmm18,zmm16
0313  vfmadd231ps zmm7,zmm18,zmm17
0319  vpbroadcastd zmm18,[r11+r13]
0320  vfmadd231ps zmm8,zmm18,zmm16
0326  vfmadd231ps zmm9,zmm18,zmm17
032c  vpbroadcastd zmm18,[rbx+r13]
0333  vfmadd231ps zmm10,zmm18,zmm16
0339  vfmadd231ps zmm11,zmm18,zmm17
033f  vpbroadcastd zmm18,[rbp+r13]
0347  vfmadd231ps zmm12,zmm18,zmm16
034d  vfmadd231ps zmm13,zmm18,zmm17
0353  vpbroadcastd zmm18,[r12+r13]
035a  vfmadd231ps zmm14,zmm18,zmm16
0360  vfmadd231ps zmm15,zmm18,zmm17
0366  add r13,4
036a  add rdx,80h
0371  dec r14
0374  jne near 2C0h
037a  dec rcx
037d  jne near 0C0h
0383  mov rax,[rdi+20h]
0387  mov rdi,[rdi+28h]
038b  vmovups [rax],zmm0
0391  vmovups [rax+40h]{k1},zmm1
0398  add rax,rdi
039b  vmovups [rax],zmm2
03a1  vmovups [rax+40h]{k1},zmm3
03a8  add rax,rdi
03ab  vmovups [rax],zmm4
03b1  vmovups [rax+40h]{k1},zmm5
03b8  add rax,rdi
03bb  vmovups [rax],zmm6
03c1  vmovups [rax+40h]{k1},zmm7
03c8  add rax,rdi
03cb  vmovups [rax],zmm8
03d1  vmovups [rax+40h]{k1},zmm9
03d8  add rax,rdi
03db  vmovups [rax],zmm10
03e1  vmovups [rax+40h]{k1},zmm11
03e8  add rax,rdi
03eb  vmovups [rax],zmm12
03f1  vmovups [rax+40h]{k1},zmm13
03f8  add rax,rdi
03fb  vmovups [rax],zmm14
0401  vmovups [rax+40h]{k1},zmm15
0408  pop r14
040a  pop r13
040c  pop r12
040e  pop rbp
040f  pop rbx
0410  vzeroupper
0413  ret
