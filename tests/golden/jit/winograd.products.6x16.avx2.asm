; 260 instructions, 1662 bytes, 0 spills, 0 of them in inner loops
0000  push rbx
0001  push rbp
0002  push r12
0004  mov rax,[rdi]
0007  mov rcx,[rdi+18h]
000b  mov rdx,[rdi+30h]
000f  mov esi,24h
0014  nop word [rax+rax]
001d  nop word [rax+rax]
0026  nop word [rax+rax]
002f  nop word [rax+rax]
0038  nop dword [rax+rax]
0040  mov r8,rax
0043  mov r9,rdx
0046  mov r10,[rdi+48h]
004a  test r10,r10
004d  jle near 376h
0053  nop word [rax+rax]
005c  nop word [rax+rax]
0065  nop word [rax+rax]
006e  nop word [rax+rax]
0077  nop word [rax+rax]
0080  vpxor ymm0,ymm0,ymm0
0084  vpxor ymm1,ymm1,ymm1
0088  vpxor ymm2,ymm2,ymm2
008c  vpxor ymm3,ymm3,ymm3
0090  vpxor ymm4,ymm4,ymm4
0094  vpxor ymm5,ymm5,ymm5
0098  vpxor ymm6,ymm6,ymm6
009c  vpxor ymm7,ymm7,ymm7
00a0  vpxor ymm8,ymm8,ymm8
00a5  vpxor ymm9,ymm9,ymm9
00aa  vpxor ymm10,ymm10,ymm10
00af  vpxor ymm11,ymm11,ymm11
00b4  mov r11,r8
00b7  mov rbx,rcx
00ba  mov rbp,[rdi+40h]
00be  xchg ax,ax
00c0  mov r12d,2
00c6  nop word [rax+rax]
00cf  nop word [rax+rax]
00d8  nop word [rax+rax]
00e1  nop word [rax+rax]
00ea  nop word [rax+rax]
00f3  nop word [rax+rax]
00fc  nop dword [rax]
0100  vmovups ymm12,[rbx]
0104  vmovups ymm13,[rbx+20h]
0109  vpbroadcastd ymm14,[r11]
010e  vfmadd231ps ymm0,ymm14,ymm12
0113  vfmadd231ps ymm1,ymm14,ymm13
0118  vpbroadcastd ymm14,[r11+20h]
011e  vfmadd231ps ymm2,ymm14,ymm12
0123  vfmadd231ps ymm3,ymm14,ymm13
0128  vpbroadcastd ymm14,[r11+40h]
012e  vfmadd231ps ymm4,ymm14,ymm12
0133  vfmadd231ps ymm5,ymm14,ymm13
0138  vpbroadcastd ymm14,[r11+60h]
013e  vfmadd231ps ymm6,ymm14,ymm12
0143  vfmadd231ps ymm7,ymm14,ymm13
0148  vpbroadcastd ymm14,[r11+80h]
0151  vfmadd231ps ymm8,ymm14,ymm12
0156  vfmadd231ps ymm9,ymm14,ymm13
015b  vpbroadcastd ymm14,[r11+0A0h]
0164  vfmadd231ps ymm10,ymm14,ymm12
0169  vfmadd231ps ymm11,ymm14,ymm13
016e  vmovups ymm12,[rbx+40h]
0173  vmovups ymm13,[rbx+60h]
0178  vpbroadcastd ymm14,[r11+4]
017e  vfmadd231ps ymm0,ymm14,ymm12
0183  vfmadd231ps ymm1,ymm14,ymm13
0188  vpbroadcastd ymm14,[r11+24h]
018e  vfmadd231ps ymm2,ymm14,ymm12
0193  vfmadd231ps ymm3,ymm14,ymm13
0198  vpbroadcastd ymm14,[r11+44h]
019e  vfmadd231ps ymm4,ymm14,ymm12
01a3  vfmadd231ps ymm5,ymm14,ymm13
01a8  vpbroadcastd ymm14,[r11+64h]
01ae  vfmadd231ps ymm6,ymm14,ymm12
01b3  vfmadd231ps ymm7,ymm14,ymm13
01b8  vpbroadcastd ymm14,[r11+84h]
01c1  vfmadd231ps ymm8,ymm14,ymm12
01c6  vfmadd231ps ymm9,ymm14,ymm13
01cb  vpbroadcastd ymm14,[r11+0A4h]
01d4  vfmadd231ps ymm10,ymm14,ymm12
01d9  vfmadd231ps ymm11,ymm14,ymm13
01de  vmovups ymm12,[rbx+80h]
01e6  vmovups ymm13,[rbx+0A0h]
01ee  vpbroadcastd ymm14,[r11+8]
01f4  vfmadd231ps ymm0,ymm14,ymm12
01f9  vfmadd231ps ymm1,ymm14,ymm13
01fe  vpbroadcastd ymm14,[r11+28h]
0204  vfmadd231ps ymm2,ymm14,ymm12
0209  vfmadd231ps ymm3,ymm14,ymm13
020e  vpbroadcastd ymm14,[r11+48h]
0214  vfmadd231ps ymm4,ymm14,ymm12
0219  vfmadd231ps ymm5,ymm14,ymm13
021e  vpbroadcastd ymm14,[r11+68h]
0224  vfmadd231ps ymm6,ymm14,ymm12
0229  vfmadd231ps ymm7,ymm14,ymm13
022e  vpbroadcastd ymm14,[r11+88h]
0237  vfmadd231ps ymm8,ymm14,ymm12
023c  vfmadd231ps ymm9,ymm14,ymm13
0241  vpbroadcastd ymm14,[r11+0A8h]
024a  vfmadd231ps ymm10,ymm14,ymm12
024f  vfmadd231ps ymm11,ymm14,ymm13
0254  vmovups ymm12,[rbx+0C0h]
025c  vmovups ymm13,[rbx+0E0h]
0264  vpbroadcastd ymm14,[r11+0Ch]
026a  vfmadd231ps ymm0,ymm14,ymm12
026f  vfmadd231ps ymm1,ymm14,ymm13
0274  vpbroadcastd ymm14,[r11+2Ch]
027a  vfmadd231ps ymm2,ymm14,ymm12
027f  vfmadd231ps ymm3,ymm14,ymm13
0284  vpbroadcastd ymm14,[r11+4Ch]
028a  vfmadd231ps ymm4,ymm14,ymm12
028f  vfmadd231ps ymm5,ymm14,ymm13
0294  vpbroadcastd ymm14,[r11+6Ch]
029a  vfmadd231ps ymm6,ymm14,ymm12
029f  vfmadd231ps ymm7,ymm14,ymm13
02a4  vpbroadcastd ymm14,[r11+8Ch]
02ad  vfmadd231ps ymm8,ymm14,ymm12
02b2  vfmadd231ps ymm9,ymm14,ymm13
02b7  vpbroadcastd ymm14,[r11+0ACh]
02c0  vfmadd231ps ymm10,ymm14,ymm12
02c5  vfmadd231ps ymm11,ymm14,ymm13
02ca  add r11,10h
02ce  add rbx,100h
02d5  dec r12
02d8  jne near 100h
02de  mov r12,[rdi+10h]
02e2  add r11,r12
02e5  mov r12,[rdi+28h]
02e9  add rbx,r12
02ec  sub r11,20h
02f0  sub rbx,200h
02f7  dec rbp
02fa  jne near 0C0h
0300  vmovups [r9],ymm0
0305  vmovups [r9+20h],ymm1
030b  vmovups [r9+40h],ymm2
0311  vmovups [r9+60h],ymm3
0317  vmovups [r9+80h],ymm4
0320  vmovups [r9+0A0h],ymm5
0329  vmovups [r9+0C0h],ymm6
0332  vmovups [r9+0E0h],ymm7
033b  vmovups [r9+100h],ymm8
0344  vmovups [r9+120h],ymm9
034d  vmovups [r9+140h],ymm10
0356  vmovups [r9+160h],ymm11
035f  add r9,180h
0366  add r8,0C0h
036d  dec r10
0370  jne near 80h
0376  mov r10,[rdi+50h]
037a  test r10,r10
037d  jle near 658h
0383  nop word [rax+rax]
038c  nop word [rax+rax]
0395  nop word [rax+rax]
039e  nop word [rax+rax]
03a7  nop word [rax+rax]
03b0  nop word [rax+rax]
03b9  nop dword [rax]
03c0  vpxor ymm0,ymm0,ymm0
03c4  vpxor ymm1,ymm1,ymm1
03c8  vpxor ymm2,ymm2,ymm2
03cc  vpxor ymm3,ymm3,ymm3
03d0  vpxor ymm4,ymm4,ymm4
03d4  vpxor ymm5,ymm5,ymm5
03d8  vpxor ymm6,ymm6,ymm6
03dc  vpxor ymm7,ymm7,ymm7
03e0  vpxor ymm8,ymm8,ymm8
03e5  vpxor ymm9,ymm9,ymm9
03ea  mov r11,r8
03ed  mov rbx,rcx
03f0  mov rbp,[rdi+40h]
03f4  nop word [rax+rax]
03fd  nop dword [rax]
0400  mov r12d,2
0406  nop word [rax+rax]
040f  nop word [rax+rax]
0418  nop word [rax+rax]
0421  nop word [rax+rax]
042a  nop word [rax+rax]
0433  nop word [rax+rax]
043c  nop dword [rax]
0440  vmovups ymm10,[rbx]
0444  vmovups ymm11,[rbx+20h]
0449  vpbroadcastd ymm12,[r11]
044e  vfmadd231ps ymm0,ymm12,ymm10
0453  vfmadd231ps ymm1,ymm12,ymm11
0458  vpbroadcastd ymm12,[r11+20h]
045e  vfmadd231ps ymm2,ymm12,ymm10
0463  vfmadd231ps ymm3,ymm12,ymm11
0468  vpbroadcastd ymm12,[r11+40h]
046e  vfmadd231ps ymm4,ymm12,ymm10
0473  vfmadd231ps ymm5,ymm12,ymm11
0478  vpbroadcastd ymm12,[r11+60h]
047e  vfmadd231ps ymm6,ymm12,ymm10
0483  vfmadd231ps ymm7,ymm12,ymm11
0488  vpbroadcastd ymm12,[r11+80h]
0491  vfmadd231ps ymm8,ymm12,ymm10
0496  vfmadd231ps ymm9,ymm12,ymm11
049b  vmovups ymm10,[rbx+40h]
04a0  vmovups ymm11,[rbx+60h]
04a5  vpbroadcastd ymm12,[r11+4]
04ab  vfmadd231ps ymm0,ymm12,ymm10
04b0  vfmadd231ps ymm1,ymm12,ymm11
04b5  vpbroadcastd ymm12,[r11+24h]
04bb  vfmadd231ps ymm2,ymm12,ymm10
04c0  vfmadd231ps ymm3,ymm12,ymm11
04c5  vpbroadcastd ymm12,[r11+44h]
04cb  vfmadd231ps ymm4,ymm12,ymm10
04d0  vfmadd231ps ymm5,ymm12,ymm11
04d5  vpbroadcastd ymm12,[r11+64h]
04db  vfmadd231ps ymm6,ymm12,ymm10
04e0  vfmadd231ps ymm7,ymm12,ymm11
04e5  vpbroadcastd ymm12,[r11+84h]
04ee  vfmadd231ps ymm8,ymm12,ymm10
04f3  vfmadd231ps ymm9,ymm12,ymm11
04f8  vmovups ymm10,[rbx+80h]
0500  vmovups ymm11,[rbx+0A0h]
0508  vpbroadcastd ymm12,[r11+8]
050e  vfmadd231ps ymm0,ymm12,ymm10
0513  vfmadd231ps ymm1,ymm12,ymm11
0518  vpbroadcastd ymm12,[r11+28h]
051e  vfmadd231ps ymm2,ymm12,ymm10
0523  vfmadd231ps ymm3,ymm12,ymm11
0528  vpbroadcastd ymm12,[r11+48h]
052e  vfmadd231ps ymm4,ymm12,ymm10
0533  vfmadd231ps ymm5,ymm12,ymm11
0538  vpbroadcastd ymm12,[r11+68h]
053e  vfmadd231ps ymm6,ymm12,ymm10
0543  vfmadd231ps ymm7,ymm12,ymm11
0548  vpbroadcastd ymm12,[r11+88h]
0551  vfmadd231ps ymm8,ymm12,ymm10
0556  vfmadd231ps ymm9,ymm12,ymm11
055b  vmovups ymm10,[rbx+0C0h]
0563  vmovups ymm11,[rbx+0E0h]
056b  vpbroadcastd ymm12,[r11+0Ch]
0571  vfmadd231ps ymm0,ymm12,ymm10
0576  vfmadd231ps ymm1,ymm12,ymm11
057b  vpbroadcastd ymm12,[r11+2Ch]
0581  vfmadd231ps ymm2,ymm12,ymm10
0586  vfmadd231ps ymm3,ymm12,ymm11
058b  vpbroadcastd ymm12,[r11+4Ch]
0591  vfmadd231ps ymm4,ymm12,ymm10
0596  vfmadd231ps ymm5,ymm12,ymm11
059b  vpbroadcastd ymm12,[r11+6Ch]
05a1  vfmadd231ps ymm6,ymm12,ymm10
05a6  vfmadd231ps ymm7,ymm12,ymm11
05ab  vpbroadcastd ymm12,[r11+8Ch]
05b4  vfmadd231ps ymm8,ymm12,ymm10
05b9  vfmadd231ps ymm9,ymm12,ymm11
05be  add r11,10h
05c2  add rbx,100h
05c9  dec r12
05cc  jne near 440h
05d2  mov r12,[rdi+10h]
05d6  add r11,r12
05d9  mov r12,[rdi+28h]
05dd  add rbx,r12
05e0  sub r11,20h
05e4  sub rbx,200h
05eb  dec rbp
05ee  jne near 400h
05f4  vmovups [r9],ymm0
05f9  vmovups [r9+20h],ymm1
05ff  vmovups [r9+40h],ymm2
0605  vmovups [r9+60h],ymm3
060b  vmovups [r9+80h],ymm4
0614  vmovups [r9+0A0h],ymm5
061d  vmovups [r9+0C0h],ymm6
0626  vmovups [r9+0E0h],ymm7
062f  vmovups [r9+100h],ymm8
0638  vmovups [r9+120h],ymm9
0641  add r9,140h
0648  add r8,0A0h
064f  dec r10
0652  jne near 3C0h
0658  mov r8,[rdi+8]
065c  add rax,r8
065f  mov r8,[rdi+20h]
0663  add rcx,r8
0666  mov r8,[rdi+38h]
066a  add rdx,r8
066d  dec rsi
0670  jne near 40h
0676  pop r12
0678  pop rbp
0679  pop rbx
067a  vzeroupper
067d  ret
