; 156 instructions, 994 bytes, 0 spills, 0 of them in inner loops
0000  vpxor ymm0,ymm0,ymm0
0004  vpxor ymm1,ymm1,ymm1
0008  vpxor ymm2,ymm2,ymm2
000c  vpxor ymm3,ymm3,ymm3
0010  vpxor ymm4,ymm4,ymm4
0014  vpxor ymm5,ymm5,ymm5
0018  vpxor ymm6,ymm6,ymm6
001c  vpxor ymm7,ymm7,ymm7
0020  vpxor ymm8,ymm8,ymm8
0025  vpxor ymm9,ymm9,ymm9
002a  vpxor ymm10,ymm10,ymm10
002f  vpxor ymm11,ymm11,ymm11
0034  mov rax,[rdi]
0037  mov rcx,[rdi+8]
003b  test rcx,rcx
003e  jle near 391h
0044  nop word [rax+rax]
004d  nop word [rax+rax]
0056  nop word [rax+rax]
005f  nop word [rax+rax]
0068  nop word [rax+rax]
0071  nop word [rax+rax]
007a  nop word [rax+rax]
0080  mov rdx,[rax]
0083  mov rsi,[rax+8]
0087  add rax,10h
008b  mov r8,[rdi+10h]
008f  test r8,r8
0092  jle near 2C2h
0098  nop word [rax+rax]
00a1  nop word [rax+rax]
00aa  nop word [rax+rax]
00b3  nop word [rax+rax]
00bc  nop dword [rax]
00c0  vmovups ymm12,[rsi]
00c4  vmovups ymm13,[rsi+20h]
00c9  vpbroadcastd ymm14,[rdx]
00ce  vfmadd231ps ymm0,ymm14,ymm12
00d3  vfmadd231ps ymm1,ymm14,ymm13
00d8  vpbroadcastd ymm14,[rdx+400h]
00e1  vfmadd231ps ymm2,ymm14,ymm12
00e6  vfmadd231ps ymm3,ymm14,ymm13
00eb  vpbroadcastd ymm14,[rdx+800h]
00f4  vfmadd231ps ymm4,ymm14,ymm12
00f9  vfmadd231ps ymm5,ymm14,ymm13
00fe  vpbroadcastd ymm14,[rdx+0C00h]
0107  vfmadd231ps ymm6,ymm14,ymm12
010c  vfmadd231ps ymm7,ymm14,ymm13
0111  vpbroadcastd ymm14,[rdx+1000h]
011a  vfmadd231ps ymm8,ymm14,ymm12
011f  vfmadd231ps ymm9,ymm14,ymm13
0124  vpbroadcastd ymm14,[rdx+1400h]
012d  vfmadd231ps ymm10,ymm14,ymm12
0132  vfmadd231ps ymm11,ymm14,ymm13
0137  vmovups ymm12,[rsi+40h]
013c  vmovups ymm13,[rsi+60h]
0141  vpbroadcastd ymm14,[rdx+4]
0147  vfmadd231ps ymm0,ymm14,ymm12
014c  vfmadd231ps ymm1,ymm14,ymm13
0151  vpbroadcastd ymm14,[rdx+404h]
015a  vfmadd231ps ymm2,ymm14,ymm12
015f  vfmadd231ps ymm3,ymm14,ymm13
0164  vpbroadcastd ymm14,[rdx+804h]
016d  vfmadd231ps ymm4,ymm14,ymm12
0172  vfmadd231ps ymm5,ymm14,ymm13
0177  vpbroadcastd ymm14,[rdx+0C04h]
0180  vfmadd231ps ymm6,ymm14,ymm12
0185  vfmadd231ps ymm7,ymm14,ymm13
018a  vpbroadcastd ymm14,[rdx+1004h]
0193  vfmadd231ps ymm8,ymm14,ymm12
0198  vfmadd231ps ymm9,ymm14,ymm13
019d  vpbroadcastd ymm14,[rdx+1404h]
01a6  vfmadd231ps ymm10,ymm14,ymm12
01ab  vfmadd231ps ymm11,ymm14,ymm13
01b0  vmovups ymm12,[rsi+80h]
01b8  vmovups ymm13,[rsi+0A0h]
01c0  vpbroadcastd ymm14,[rdx+8]
01c6  vfmadd231ps ymm0,ymm14,ymm12
01cb  vfmadd231ps ymm1,ymm14,ymm13
01d0  vpbroadcastd ymm14,[rdx+408h]
01d9  vfmadd231ps ymm2,ymm14,ymm12
01de  vfmadd231ps ymm3,ymm14,ymm13
01e3  vpbroadcastd ymm14,[rdx+808h]
01ec  vfmadd231ps ymm4,ymm14,ymm12
01f1  vfmadd231ps ymm5,ymm14,ymm13
01f6  vpbroadcastd ymm14,[rdx+0C08h]
01ff  vfmadd231ps ymm6,ymm14,ymm12
0204  vfmadd231ps ymm7,ymm14,ymm13
0209  vpbroadcastd ymm14,[rdx+1008h]
0212  vfmadd231ps ymm8,ymm14,ymm12
0217  vfmadd231ps ymm9,ymm14,ymm13
021c  vpbroadcastd ymm14,[rdx+1408h]
0225  vfmadd231ps ymm10,ymm14,ymm12
022a  vfmadd231ps ymm11,ymm14,ymm13
022f  vmovups ymm12,[rsi+0C0h]
0237  vmovups ymm13,[rsi+0E0h]
023f  vpbroadcastd ymm14,[rdx+0Ch]
0245  vfmadd231ps ymm0,ymm14,ymm12
024a  vfmadd231ps ymm1,ymm14,ymm13
024f  vpbroadcastd ymm14,[rdx+40Ch]
0258  vfmadd231ps ymm2,ymm14,ymm12
025d  vfmadd231ps ymm3,ymm14,ymm13
0262  vpbroadcastd ymm14,[rdx+80Ch]
026b  vfmadd231ps ymm4,ymm14,ymm12
0270  vfmadd231ps ymm5,ymm14,ymm13
0275  vpbroadcastd ymm14,[rdx+0C0Ch]
027e  vfmadd231ps ymm6,ymm14,ymm12
0283  vfmadd231ps ymm7,ymm14,ymm13
0288  vpbroadcastd ymm14,[rdx+100Ch]
0291  vfmadd231ps ymm8,ymm14,ymm12
0296  vfmadd231ps ymm9,ymm14,ymm13
029b  vpbroadcastd ymm14,[rdx+140Ch]
02a4  vfmadd231ps ymm10,ymm14,ymm12
02a9  vfmadd231ps ymm11,ymm14,ymm13
02ae  add rdx,10h
02b2  add rsi,100h
02b9  dec r8
02bc  jne near 0C0h
02c2  mov r8,[rdi+18h]
02c6  test r8,r8
02c9  jle near 388h
02cf  nop word [rax+rax]
02d8  nop word [rax+rax]
02e1  nop word [rax+rax]
02ea  nop word [rax+rax]
02f3  nop word [rax+rax]
02fc  nop dword [rax]
0300  vmovups ymm12,[rsi]
0304  vmovups ymm13,[rsi+20h]
0309  vpbroadcastd ymm14,[rdx]
030e  vfmadd231ps ymm0,ymm14,ymm12
0313  vfmadd231ps ymm1,ymm14,ymm13
0318  vpbroadcastd ymm14,[rdx+400h]
0321  vfmadd231ps ymm2,ymm14,ymm12
0326  vfmadd231ps ymm3,ymm14,ymm13
032b  vpbroadcastd ymm14,[rdx+800h]
0334  vfmadd231ps ymm4,ymm14,ymm12
0339  vfmadd231ps ymm5,ymm14,ymm13
033e  vpbroadcastd ymm14,[rdx+0C00h]
0347  vfmadd231ps ymm6,ymm14,ymm12
034c  vfmadd231ps ymm7,ymm14,ymm13
0351  vpbroadcastd ymm14,[rdx+1000h]
035a  vfmadd231ps ymm8,ymm14,ymm12
035f  vfmadd231ps ymm9,ymm14,ymm13
0364  vpbroadcastd ymm14,[rdx+1400h]
036d  vfmadd231ps ymm10,ymm14,ymm12
0372  vfmadd231ps ymm11,ymm14,ymm13
0377  add rdx,4
037b  add rsi,40h
037f  dec r8
0382  jne near 300h
0388  dec rcx
038b  jne near 80h
0391  mov rax,[rdi+20h]
0395  mov rdi,[rdi+28h]
0399  vmovups [rax],ymm0
039d  vmovups [rax+20h],ymm1
03a2  add rax,rdi
03a5  vmovups [rax],ymm2
03a9  vmovups [rax+20h],ymm3
03ae  add rax,rdi
03b1  vmovups [rax],ymm4
03b5  vmovups [rax+20h],ymm5
03ba  add rax,rdi
03bd  vmovups [rax],ymm6
03c1  vmovups [rax+20h],ymm7
03c6  add rax,rdi
03c9  vmovups [rax],ymm8
03cd  vmovups [rax+20h],ymm9
03d2  add rax,rdi
03d5  vmovups [rax],ymm10
03d9  vmovups [rax+20h],ymm11
03de  vzeroupper
03e1  ret
