; 164 instructions, 931 bytes, 7 spills, 0 of them in inner loops
0000  sub rsp,40h
0004  mov rax,[rdi+48h]
0008  vmovd xmm0,eax
000c  vpbroadcastd ymm0,xmm0
0011  vmovups [rsp],ymm0
0016  vmovups ymm0,[rsp]
001b  vpcmpgtd ymm0,ymm0,[rel 3C0h]
0023  vmovups [rsp],ymm0
0028  vpxor ymm0,ymm0,ymm0
002c  vpxor ymm1,ymm1,ymm1
0030  vpxor ymm2,ymm2,ymm2
0034  vpxor ymm3,ymm3,ymm3
0038  vpxor ymm4,ymm4,ymm4
003c  vpxor ymm5,ymm5,ymm5
0040  vpxor ymm6,ymm6,ymm6
0044  vpxor ymm7,ymm7,ymm7
0048  vpxor ymm8,ymm8,ymm8
004d  vpxor ymm9,ymm9,ymm9
0052  vpxor ymm10,ymm10,ymm10
0057  vpxor ymm11,ymm11,ymm11
005c  mov rax,[rdi+30h]
0060  lea rcx,[rax+rax*2]
0064  mov rdx,[rdi]
0067  mov rsi,[rdi+8]
006b  test rsi,rsi
006e  jle near 33Ah
0074  nop word [rax+rax]
007d  nop dword [rax]
0080  mov r8,[rdx]
0083  mov r9,[rdx+8]
0087  add rdx,10h
008b  mov r10,[rdi+10h]
008f  test r10,r10
0092  jle near 28Bh
0098  nop word [rax+rax]
00a1  nop word [rax+rax]
00aa  nop word [rax+rax]
00b3  nop word [rax+rax]
00bc  nop dword [rax]
00c0  vmovups ymm12,[r9]
00c5  vmovups ymm13,[r9+20h]
00cb  vmovups ymm14,[r9+40h]
00d1  vpbroadcastd ymm15,[r8]
00d6  vfmadd231ps ymm0,ymm15,ymm12
00db  vfmadd231ps ymm1,ymm15,ymm13
00e0  vfmadd231ps ymm2,ymm15,ymm14
00e5  vpbroadcastd ymm15,[r8+rax]
00eb  vfmadd231ps ymm3,ymm15,ymm12
00f0  vfmadd231ps ymm4,ymm15,ymm13
00f5  vfmadd231ps ymm5,ymm15,ymm14
00fa  vpbroadcastd ymm15,[r8+rax*2]
0100  vfmadd231ps ymm6,ymm15,ymm12
0105  vfmadd231ps ymm7,ymm15,ymm13
010a  vfmadd231ps ymm8,ymm15,ymm14
010f  vpbroadcastd ymm15,[r8+rcx]
0115  vfmadd231ps ymm9,ymm15,ymm12
011a  vfmadd231ps ymm10,ymm15,ymm13
011f  vfmadd231ps ymm11,ymm15,ymm14
0124  vmovups ymm12,[r9+60h]
012a  vmovups ymm13,[r9+80h]
0133  vmovups ymm14,[r9+0A0h]
013c  vpbroadcastd ymm15,[r8+4]
0142  vfmadd231ps ymm0,ymm15,ymm12
0147  vfmadd231ps ymm1,ymm15,ymm13
014c  vfmadd231ps ymm2,ymm15,ymm14
0151  vpbroadcastd ymm15,[r8+rax+4]
0158  vfmadd231ps ymm3,ymm15,ymm12
015d  vfmadd231ps ymm4,ymm15,ymm13
0162  vfmadd231ps ymm5,ymm15,ymm14
0167  vpbroadcastd ymm15,[r8+rax*2+4]
016e  vfmadd231ps ymm6,ymm15,ymm12
0173  vfmadd231ps ymm7,ymm15,ymm13
0178  vfmadd231ps ymm8,ymm15,ymm14
017d  vpbroadcastd ymm15,[r8+rcx+4]
0184  vfmadd231ps ymm9,ymm15,ymm12
0189  vfmadd231ps ymm10,ymm15,ymm13
018e  vfmadd231ps ymm11,ymm15,ymm14
0193  vmovups ymm12,[r9+0C0h]
019c  vmovups ymm13,[r9+0E0h]
01a5  vmovups ymm14,[r9+100h]
01ae  vpbroadcastd ymm15,[r8+8]
01b4  vfmadd231ps ymm0,ymm15,ymm12
01b9  vfmadd231ps ymm1,ymm15,ymm13
01be  vfmadd231ps ymm2,ymm15,ymm14
01c3  vpbroadcastd ymm15,[r8+rax+8]
01ca  vfmadd231ps ymm3,ymm15,ymm12
01cf  vfmadd231ps ymm4,ymm15,ymm13
01d4  vfmadd231ps ymm5,ymm15,ymm14
01d9  vpbroadcastd ymm15,[r8+rax*2+8]
01e0  vfmadd231ps ymm6,ymm15,ymm12
01e5  vfmadd231ps ymm7,ymm15,ymm13
01ea  vfmadd231ps ymm8,ymm15,ymm14
01ef  vpbroadcastd ymm15,[r8+rcx+8]
01f6  vfmadd231ps ymm9,ymm15,ymm12
01fb  vfmadd231ps ymm10,ymm15,ymm13
0200  vfmadd231ps ymm11,ymm15,ymm14
0205  vmovups ymm12,[r9+120h]
020e  vmovups ymm13,[r9+140h]
0217  vmovups ymm14,[r9+160h]
0220  vpbroadcastd ymm15,[r8+0Ch]
0226  vfmadd231ps ymm0,ymm15,ymm12
022b  vfmadd231ps ymm1,ymm15,ymm13
0230  vfmadd231ps ymm2,ymm15,ymm14
0235  vpbroadcastd ymm15,[r8+rax+0Ch]
023c  vfmadd231ps ymm3,ymm15,ymm12
0241  vfmadd231ps ymm4,ymm15,ymm13
0246  vfmadd231ps ymm5,ymm15,ymm14
024b  vpbroadcastd ymm15,[r8+rax*2+0Ch]
0252  vfmadd231ps ymm6,ymm15,ymm12
0257  vfmadd231ps ymm7,ymm15,ymm13
025c  vfmadd231ps ymm8,ymm15,ymm14
0261  vpbroadcastd ymm15,[r8+rcx+0Ch]
0268  vfmadd231ps ymm9,ymm15,ymm12
026d  vfmadd231ps ymm10,ymm15,ymm13
0272  vfmadd231ps ymm11,ymm15,ymm14
0277  add r8,10h
027b  add r9,180h
0282  dec r10
0285  jne near 0C0h
028b  mov r10,[rdi+18h]
028f  test r10,r10
0292  jle near 331h
0298  nop word [rax+rax]
02a1  nop word [rax+rax]
02aa  nop word [rax+rax]
02b3  nop word [rax+rax]
02bc  nop dword [rax]
02c0  vmovups ymm12,[r9]
02c5  vmovups ymm13,[r9+20h]
02cb  vmovups ymm14,[r9+40h]
02d1  vpbroadcastd ymm15,[r8]
02d6  vfmadd231ps ymm0,ymm15,ymm12
02db  vfmadd231ps ymm1,ymm15,ymm13
02e0  vfmadd231ps ymm2,ymm15,ymm14
02e5  vpbroadcastd ymm15,[r8+rax]
02eb  vfmadd231ps ymm3,ymm15,ymm12
02f0  vfmadd231ps ymm4,ymm15,ymm13
02f5  vfmadd231ps ymm5,ymm15,ymm14
02fa  vpbroadcastd ymm15,[r8+rax*2]
0300  vfmadd231ps ymm6,ymm15,ymm12
0305  vfmadd231ps ymm7,ymm15,ymm13
030a  vfmadd231ps ymm8,ymm15,ymm14
030f  vpbroadcastd ymm15,[r8+rcx]
0315  vfmadd231ps ymm9,ymm15,ymm12
031a  vfmadd231ps ymm10,ymm15,ymm13
031f  vfmadd231ps ymm11,ymm15,ymm14
0324  add r8,4
0328  add r9,60h
032c  dec r10
032f  jne short 2C0h
0331  dec rsi
0334  jne near 80h
033a  mov rax,[rdi+20h]
033e  mov rdi,[rdi+28h]
0342  vmovups [rax],ymm0
0346  vmovups [rax+20h],ymm1
034b  vmovups ymm0,[rsp]
0350  vmaskmovps [rax+40h],ymm0,ymm2
0356  add rax,rdi
0359  vmovups [rax],ymm3
035d  vmovups [rax+20h],ymm4
0362  vmovups ymm0,[rsp]
0367  vmaskmovps [rax+40h],ymm0,ymm5
036d  add rax,rdi
0370  vmovups [rax],ymm6
0374  vmovups [rax+20h],ymm7
0379  vmovups ymm0,[rsp]
037e  vmaskmovps [rax+40h],ymm0,ymm8
0384  add rax,rdi
0387  vmovups [rax],ymm9
038b  vmovups [rax+20h],ymm10
0390  vmovups ymm0,[rsp]
0395  vmaskmovps [rax+40h],ymm0,ymm11
039b  add rsp,40h
039f  vzeroupper
03a2  ret
