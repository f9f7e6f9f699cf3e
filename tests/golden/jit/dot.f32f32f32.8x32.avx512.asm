; 240 instructions, 1411 bytes, 24 spills, 0 of them in inner loops
0000  push rbx
0001  push rbp
0002  push r12
0004  push r13
0006  push r14
0008  push r15
000a  sub rsp,180h
0011  mov rax,[rdi+58h]
0015  vpbroadcastd zmm0,eax
001b  vpcmpnled k1,zmm0,[rel 5C0h]
0026  mov rax,[rdi]
0029  mov rcx,[rdi+8]
002d  mov [rsp],rcx
0031  nop word [rax+rax]
003a  nop word [rax+rax]
0040  mov rcx,rax
0043  mov edx,0
0048  mov [rsp+140h],rdx
0050  mov rdx,[rax+8]
0054  mov [rsp+40h],rdx
0059  nop word [rax+rax]
0062  nop word [rax+rax]
006b  nop word [rax+rax]
0074  nop word [rax+rax]
007d  nop dword [rax]
0080  mov rdx,[rdi+20h]
0084  mov [rsp+100h],rdx
008c  mov edx,0
0091  mov [rsp+0C0h],rdx
0099  mov rdx,[rdi+10h]
009d  mov [rsp+80h],rdx
00a5  nop word [rax+rax]
00ae  nop word [rax+rax]
00b7  nop word [rax+rax]
00c0  mov rdx,[rdi+38h]
00c4  mov rsi,[rax+10h]
00c8  mov r8,[rdi+40h]
00cc  mov r9,[rsp+140h]
00d4  imul r8,r9
00d8  add rdx,rsi
00db  add rdx,r8
00de  mov rsi,[rsp+0C0h]
00e6  lea rdx,[rdx+rsi*4]
00ea  mov rsi,[rdi+40h]
00ee  vmovups zmm0,[rdx]
00f4  vmovups zmm1{k1}{z},[rdx+40h]
00fb  add rdx,rsi
00fe  vmovups zmm2,[rdx]
0104  vmovups zmm3{k1}{z},[rdx+40h]
010b  add rdx,rsi
010e  vmovups zmm4,[rdx]
0114  vmovups zmm5{k1}{z},[rdx+40h]
011b  add rdx,rsi
011e  vmovups zmm6,[rdx]
0124  vmovups zmm7{k1}{z},[rdx+40h]
012b  add rdx,rsi
012e  vmovups zmm8,[rdx]
0134  vmovups zmm9{k1}{z},[rdx+40h]
013b  add rdx,rsi
013e  vmovups zmm10,[rdx]
0144  vmovups zmm11{k1}{z},[rdx+40h]
014b  add rdx,rsi
014e  vmovups zmm12,[rdx]
0154  vmovups zmm13{k1}{z},[rdx+40h]
015b  add rdx,rsi
015e  vmovups zmm14,[rdx]
0164  vmovups zmm15{k1}{z},[rdx+40h]
016b  mov rcx,rax
016e  mov rdx,[rax]
0171  add rcx,68h
0175  test rdx,rdx
0178  jle near 444h
017e  xchg ax,ax
0180  mov rsi,[rcx]
0183  mov r8,[rsp+100h]
018b  add rsi,r8
018e  mov r8,[rcx+8]
0192  mov r9,[rcx+10h]
0196  mov r10,[rcx+18h]
019a  mov r11,[rcx+20h]
019e  mov rbx,[rcx+28h]
01a2  mov rbp,[rcx+30h]
01a6  mov r12,[rcx+38h]
01aa  mov r13,[rcx+40h]
01ae  add rcx,48h
01b2  mov r14,[rax+18h]
01b6  mov r15,[rsp+140h]
01be  imul r14,r15
01c2  mov r15,[rdi+30h]
01c6  add r14,r15
01c9  mov r15,[rdi+18h]
01cd  shr r15,1
01d1  test r15,r15
01d4  jle near 369h
01da  nop word [rax+rax]
01e3  nop word [rax+rax]
01ec  nop word [rax+rax]
01f5  nop word [rax+rax]
01fe  xchg ax,ax
0200  vmovups zmm16,[rsi]
0206  vmovups zmm17,[rsi+40h]
020d  vpbroadcastd zmm18,[r8+r14]
0214  vfmadd231ps zmm0,zmm18,zmm16
021a  vfmadd231ps zmm1,zmm18,zmm17
0220  vpbroadcastd zmm18,[r9+r14]
0227  vfmadd231ps zmm2,zmm18,zmm16
022d  vfmadd231ps zmm3,zmm18,zmm17
0233  vpbroadcastd zmm18,[r10+r14]
023a  vfmadd231ps zmm4,zmm18,zmm16
0240  vfmadd231ps zmm5,zmm18,zmm17
0246  vpbroadcastd zmm18,[r11+r14]
024d  vfmadd231ps zmm6,zmm18,zmm16
0253  vfmadd231ps zmm7,zmm18,zmm17
0259  vpbroadcastd zmm18,[rbx+r14]
0260  vfmadd231ps zmm8,zmm18,zmm16
0266  vfmadd231ps zmm9,zmm18,zmm17
026c  vpbroadcastd zmm18,[rbp+r14]
0274  vfmadd231ps zmm10,zmm18,zmm16
027a  vfmadd231ps zmm11,zmm18,zmm17
0280  vpbroadcastd zmm18,[r12+r14]
0287  vfmadd231ps zmm12,zmm18,zmm16
028d  vfmadd231ps zmm13,zmm18,zmm17
0293  vpbroadcastd zmm18,[r13+r14]
029b  vfmadd231ps zmm14,zmm18,zmm16
02a1  vfmadd231ps zmm15,zmm18,zmm17
02a7  vmovups zmm16,[rsi+80h]
02ae  vmovups zmm17,[rsi+0C0h]
02b5  vpbroadcastd zmm18,[r8+r14+4]
02bd  vfmadd231ps zmm0,zmm18,zmm16
02c3  vfmadd231ps zmm1,zmm18,zmm17
02c9  vpbroadcastd zmm18,[r9+r14+4]
02d1  vfmadd231ps zmm2,zmm18,zmm16
02d7  vfmadd231ps zmm3,zmm18,zmm17
02dd  vpbroadcastd zmm18,[r10+r14+4]
02e5  vfmadd231ps zmm4,zmm18,zmm16
02eb  vfmadd231ps zmm5,zmm18,zmm17
02f1  vpbroadcastd zmm18,[r11+r14+4]
02f9  vfmadd231ps zmm6,zmm18,zmm16
02ff  vfmadd231ps zmm7,zmm18,zmm17
0305  vpbroadcastd zmm18,[rbx+r14+4]
030d  vfmadd231ps zmm8,zmm18,zmm16
0313  vfmadd231ps zmm9,zmm18,zmm17
0319  vpbroadcastd zmm18,[rbp+r14+4]
0321  vfmadd231ps zmm10,zmm18,zmm16
0327  vfmadd231ps zmm11,zmm18,zmm17
032d  vpbroadcastd zmm18,[r12+r14+4]
0335  vfmadd231ps zmm12,zmm18,zmm16
033b  vfmadd231ps zmm13,zmm18,zmm17
0341  vpbroadcastd zmm18,[r13+r14+4]
0349  vfmadd231ps zmm14,zmm18,zmm16
034f  vfmadd231ps zmm15,zmm18,zmm17
0355  add r14,8
0359  add rsi,100h
0360  dec r15
0363  jne near 200h
0369  mov r15,[rdi+18h]
036d  and r15,1
0371  test r15,r15
0374  jle near 43Bh
037a  nop word [rax+rax]
0380  vmovups zmm16,[rsi]
0386  vmovups zmm17,[rsi+40h]
038d  vpbroadcastd zmm18,[r8+r14]
0394  vfmadd231ps zmm0,zmm18,zmm16
039a  vfmadd231ps zmm1,zmm18,zmm17
03a0  vpbroadcastd zmm18,[r9+r14]
03a7  vfmadd231ps zmm2,zmm18,zmm16
03ad  vfmadd231ps zmm3,zmm18,zmm17
03b3  vpbroadcastd zmm18,[r10+r14]
03ba  vfmadd231ps zmm4,zmm18,zmm16
03c0  vfmadd231ps zmm5,zmm18,zmm17
03c6  vpbroadcastd zmm18,[r11+r14]
03cd  vfmadd231ps zmm6,zmm18,zmm16
03d3  vfmadd231ps zmm7,zmm18,zmm17
03d9  vpbroadcastd zmm18,[rbx+r14]
03e0  vfmadd231ps zmm8,zmm18,zmm16
03e6  vfmadd231ps zmm9,zmm18,zmm17
03ec  vpbroadcastd zmm18,[rbp+r14]
03f4  vfmadd231ps zmm10,zmm18,zmm16
03fa  vfmadd231ps zmm11,zmm18,zmm17
0400  vpbroadcastd zmm18,[r12+r14]
0407  vfmadd231ps zmm12,zmm18,zmm16
040d  vfmadd231ps zmm13,zmm18,zmm17
0413  vpbroadcastd zmm18,[r13+r14]
041b  vfmadd231ps zmm14,zmm18,zmm16
0421  vfmadd231ps zmm15,zmm18,zmm17
0427  add r14,4
042b  add rsi,80h
0432  dec r15
0435  jne near 380h
043b  dec rdx
043e  jne near 180h
0444  mov rdx,[rdi+38h]
0448  mov rsi,[rax+10h]
044c  mov r8,[rdi+40h]
0450  mov r9,[rsp+140h]
0458  imul r8,r9
045c  add rdx,rsi
045f  add rdx,r8
0462  mov rsi,[rsp+0C0h]
046a  lea rdx,[rdx+rsi*4]
046e  mov rsi,[rdi+40h]
0472  vmovups [rdx],zmm0
0478  vmovups [rdx+40h]{k1},zmm1
047f  add rdx,rsi
0482  vmovups [rdx],zmm2
0488  vmovups [rdx+40h]{k1},zmm3
048f  add rdx,rsi
0492  vmovups [rdx],zmm4
0498  vmovups [rdx+40h]{k1},zmm5
049f  add rdx,rsi
04a2  vmovups [rdx],zmm6
04a8  vmovups [rdx+40h]{k1},zmm7
04af  add rdx,rsi
04b2  vmovups [rdx],zmm8
04b8  vmovups [rdx+40h]{k1},zmm9
04bf  add rdx,rsi
04c2  vmovups [rdx],zmm10
04c8  vmovups [rdx+40h]{k1},zmm11
04cf  add rdx,rsi
04d2  vmovups [rdx],zmm12
04d8  vmovups [rdx+40h]{k1},zmm13
04df  add rdx,rsi
04e2  vmovups [rdx],zmm14
04e8  vmovups [rdx+40h]{k1},zmm15
04ef  mov rdx,[rdi+28h]
04f3  mov rsi,[rsp+100h]
04fb  add rsi,rdx
04fe  mov [rsp+100h],rsi
0506  mov rdx,[rsp+0C0h]
050e  add rdx,20h
0512  mov [rsp+0C0h],rdx
051a  mov rdx,[rsp+80h]
0522  dec rdx
0525  mov [rsp+80h],rdx
052d  jne near 0C0h
0533  mov rdx,[rsp+140h]
053b  add rdx,8
053f  mov [rsp+140h],rdx
0547  mov rdx,[rsp+40h]
054c  dec rdx
054f  mov [rsp+40h],rdx
0554  jne near 80h
055a  mov rax,rcx
055d  mov rcx,[rsp]
0561  dec rcx
0564  mov [rsp],rcx
0568  jne near 40h
056e  add rsp,180h
0575  pop r15
0577  pop r14
0579  pop r13
057b  pop r12
057d  pop rbp
057e  pop rbx
057f  vzeroupper
0582  ret
