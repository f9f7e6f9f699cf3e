; 337 instructions, 2588 bytes, 0 spills, 0 of them in inner loops
0000  push rbx
0001  push rbp
0002  push r12
0004  push r13
0006  push r14
0008  mov rax,[rdi]
000b  mov rcx,[rdi+18h]
000f  mov rdx,[rdi+48h]
0013  nop word [rax+rax]
001c  nop word [rax+rax]
0025  nop word [rax+rax]
002e  nop word [rax+rax]
0037  nop word [rax+rax]
0040  vpbroadcastd zmm0,[rel 0A1Ch]
004a  vpbroadcastd zmm1,[rel 0A20h]
0054  vpbroadcastd zmm2,[rel 0A24h]
005e  vpbroadcastd zmm3,[rel 0A28h]
0068  vpbroadcastd zmm4,[rel 0A2Ch]
0072  vpbroadcastd zmm5,[rel 0A30h]
007c  vpbroadcastd zmm6,[rdi+60h]
0083  vpbroadcastd zmm7,[rdi+64h]
008a  vpbroadcastd zmm8,[rdi+68h]
0091  mov rsi,[rdi+20h]
0095  mov r8,[rdi+28h]
0099  mov r9,[rdi+30h]
009d  mov r10d,10h
00a3  nop word [rax+rax]
00ac  nop word [rax+rax]
00b5  nop word [rax+rax]
00be  xchg ax,ax
00c0  mov r11,rcx
00c3  vmovups zmm9,[r11]
00c9  add r11,rsi
00cc  vmovups zmm10,[r11]
00d2  add r11,rsi
00d5  vmovups zmm11,[r11]
00db  add r11,rsi
00de  vmulps zmm9,zmm9,zmm6
00e4  vfmadd231ps zmm9,zmm11,zmm8
00ea  vmovups zmm11,zmm9
00f0  vfmadd231ps zmm11,zmm10,zmm7
00f6  vfnmadd231ps zmm9,zmm10,zmm7
00fc  vmovups zmm10,[r11]
0102  add r11,rsi
0105  vmovups zmm12,[r11]
010b  add r11,rsi
010e  vmovups zmm13,[r11]
0114  add r11,rsi
0117  vmulps zmm10,zmm10,zmm6
011d  vfmadd231ps zmm10,zmm13,zmm8
0123  vmovups zmm13,zmm10
0129  vfmadd231ps zmm13,zmm12,zmm7
012f  vfnmadd231ps zmm10,zmm12,zmm7
0135  vmovups zmm12,[r11]
013b  add r11,rsi
013e  vmovups zmm14,[r11]
0144  add r11,rsi
0147  vmovups zmm15,[r11]
014d  add r11,rsi
0150  vmulps zmm12,zmm12,zmm6
0156  vfmadd231ps zmm12,zmm15,zmm8
015c  vmovups zmm15,zmm12
0162  vfmadd231ps zmm15,zmm14,zmm7
0168  vfnmadd231ps zmm12,zmm14,zmm7
016e  vmulps zmm14,zmm11,zmm0
0174  vfmadd231ps zmm14,zmm15,zmm2
017a  vmovups zmm16,zmm14
0180  vfmadd231ps zmm16,zmm13,zmm1
0186  vfnmadd231ps zmm14,zmm13,zmm1
018c  vmulps zmm17,zmm11,zmm3
0192  vfmadd231ps zmm17,zmm15,zmm5
0198  vmovups zmm18,zmm17
019e  vfmadd231ps zmm18,zmm13,zmm4
01a4  vfnmadd231ps zmm17,zmm13,zmm4
01aa  vmovups [r9],zmm11
01b0  vmovups [r9+400h],zmm16
01b7  vmovups [r9+800h],zmm14
01be  vmovups [r9+0C00h],zmm18
01c5  vmovups [r9+1000h],zmm17
01cc  vmovups [r9+1400h],zmm15
01d3  vmulps zmm11,zmm9,zmm0
01d9  vfmadd231ps zmm11,zmm12,zmm2
01df  vmovups zmm13,zmm11
01e5  vfmadd231ps zmm13,zmm10,zmm1
01eb  vfnmadd231ps zmm11,zmm10,zmm1
01f1  vmulps zmm14,zmm9,zmm3
01f7  vfmadd231ps zmm14,zmm12,zmm5
01fd  vmovups zmm15,zmm14
0203  vfmadd231ps zmm15,zmm10,zmm4
0209  vfnmadd231ps zmm14,zmm10,zmm4
020f  vmovups [r9+1800h],zmm9
0216  vmovups [r9+1C00h],zmm13
021d  vmovups [r9+2000h],zmm11
0227  vmovups [r9+2400h],zmm15
0231  vmovups [r9+2800h],zmm14
023b  vmovups [r9+2C00h],zmm12
0245  add rcx,r8
0248  add r9,40h
024c  dec r10
024f  jne near 0C0h
0255  mov rsi,[rdi+30h]
0259  mov r8,rax
025c  mov r9,[rdi+38h]
0260  mov r10d,0Ch
0266  nop word [rax+rax]
026f  nop word [rax+rax]
0278  nop dword [rax+rax]
0280  mov r11,r8
0283  mov rbx,r9
0286  mov rbp,[rdi+50h]
028a  test rbp,rbp
028d  jle near 655h
0293  nop word [rax+rax]
029c  nop word [rax+rax]
02a5  nop word [rax+rax]
02ae  nop word [rax+rax]
02b7  nop word [rax+rax]
02c0  vmovups zmm0,[rbx]
02c6  vmovups zmm1,[rbx+40h]
02cd  vmovups zmm2,[rbx+80h]
02d4  vmovups zmm3,[rbx+0C0h]
02db  vmovups zmm4,[rbx+100h]
02e2  vmovups zmm5,[rbx+140h]
02e9  vmovups zmm6,[rbx+180h]
02f0  vmovups zmm7,[rbx+1C0h]
02f7  vmovups zmm8,[rbx+200h]
02fe  vmovups zmm9,[rbx+240h]
0305  vmovups zmm10,[rbx+280h]
030c  vmovups zmm11,[rbx+2C0h]
0313  vmovups zmm12,[rbx+300h]
031a  vmovups zmm13,[rbx+340h]
0321  vmovups zmm14,[rbx+380h]
0328  vmovups zmm15,[rbx+3C0h]
032f  mov r12,r11
0332  mov r13,rsi
0335  mov r14d,4
033b  nop dword [rax+rax]
0340  vmovups zmm16,[r13]
0347  vfmadd231ps zmm0,zmm16,[r12]{1to16}
034e  vfmadd231ps zmm1,zmm16,[r12+40h]{1to16}
0356  vfmadd231ps zmm2,zmm16,[r12+80h]{1to16}
035e  vfmadd231ps zmm3,zmm16,[r12+0C0h]{1to16}
0366  vfmadd231ps zmm4,zmm16,[r12+100h]{1to16}
036e  vfmadd231ps zmm5,zmm16,[r12+140h]{1to16}
0376  vfmadd231ps zmm6,zmm16,[r12+180h]{1to16}
037e  vfmadd231ps zmm7,zmm16,[r12+1C0h]{1to16}
0386  vfmadd231ps zmm8,zmm16,[r12+200h]{1to16}
0391  vfmadd231ps zmm9,zmm16,[r12+240h]{1to16}
039c  vfmadd231ps zmm10,zmm16,[r12+280h]{1to16}
03a7  vfmadd231ps zmm11,zmm16,[r12+2C0h]{1to16}
03b2  vfmadd231ps zmm12,zmm16,[r12+300h]{1to16}
03bd  vfmadd231ps zmm13,zmm16,[r12+340h]{1to16}
03c8  vfmadd231ps zmm14,zmm16,[r12+380h]{1to16}
03d3  vfmadd231ps zmm15,zmm16,[r12+3C0h]{1to16}
03de  vmovups zmm16,[r13+40h]
03e5  vfmadd231ps zmm0,zmm16,[r12+4]{1to16}
03ed  vfmadd231ps zmm1,zmm16,[r12+44h]{1to16}
03f5  vfmadd231ps zmm2,zmm16,[r12+84h]{1to16}
03fd  vfmadd231ps zmm3,zmm16,[r12+0C4h]{1to16}
0405  vfmadd231ps zmm4,zmm16,[r12+104h]{1to16}
040d  vfmadd231ps zmm5,zmm16,[r12+144h]{1to16}
0415  vfmadd231ps zmm6,zmm16,[r12+184h]{1to16}
041d  vfmadd231ps zmm7,zmm16,[r12+1C4h]{1to16}
0425  vfmadd231ps zmm8,zmm16,[r12+204h]{1to16}
0430  vfmadd231ps zmm9,zmm16,[r12+244h]{1to16}
043b  vfmadd231ps zmm10,zmm16,[r12+284h]{1to16}
0446  vfmadd231ps zmm11,zmm16,[r12+2C4h]{1to16}
0451  vfmadd231ps zmm12,zmm16,[r12+304h]{1to16}
045c  vfmadd231ps zmm13,zmm16,[r12+344h]{1to16}
0467  vfmadd231ps zmm14,zmm16,[r12+384h]{1to16}
0472  vfmadd231ps zmm15,zmm16,[r12+3C4h]{1to16}
047d  vmovups zmm16,[r13+80h]
0484  vfmadd231ps zmm0,zmm16,[r12+8]{1to16}
048c  vfmadd231ps zmm1,zmm16,[r12+48h]{1to16}
0494  vfmadd231ps zmm2,zmm16,[r12+88h]{1to16}
049c  vfmadd231ps zmm3,zmm16,[r12+0C8h]{1to16}
04a4  vfmadd231ps zmm4,zmm16,[r12+108h]{1to16}
04ac  vfmadd231ps zmm5,zmm16,[r12+148h]{1to16}
04b4  vfmadd231ps zmm6,zmm16,[r12+188h]{1to16}
04bc  vfmadd231ps zmm7,zmm16,[r12+1C8h]{1to16}
04c4  vfmadd231ps zmm8,zmm16,[r12+208h]{1to16}
04cf  vfmadd231ps zmm9,zmm16,[r12+248h]{1to16}
04da  vfmadd231ps zmm10,zmm16,[r12+288h]{1to16}
04e5  vfmadd231ps zmm11,zmm16,[r12+2C8h]{1to16}
04f0  vfmadd231ps zmm12,zmm16,[r12+308h]{1to16}
04fb  vfmadd231ps zmm13,zmm16,[r12+348h]{1to16}
0506  vfmadd231ps zmm14,zmm16,[r12+388h]{1to16}
0511  vfmadd231ps zmm15,zmm16,[r12+3C8h]{1to16}
051c  vmovups zmm16,[r13+0C0h]
0523  vfmadd231ps zmm0,zmm16,[r12+0Ch]{1to16}
052b  vfmadd231ps zmm1,zmm16,[r12+4Ch]{1to16}
0533  vfmadd231ps zmm2,zmm16,[r12+8Ch]{1to16}
053b  vfmadd231ps zmm3,zmm16,[r12+0CCh]{1to16}
0543  vfmadd231ps zmm4,zmm16,[r12+10Ch]{1to16}
054b  vfmadd231ps zmm5,zmm16,[r12+14Ch]{1to16}
0553  vfmadd231ps zmm6,zmm16,[r12+18Ch]{1to16}
055b  vfmadd231ps zmm7,zmm16,[r12+1CCh]{1to16}
0563  vfmadd231ps zmm8,zmm16,[r12+20Ch]{1to16}
056e  vfmadd231ps zmm9,zmm16,[r12+24Ch]{1to16}
0579  vfmadd231ps zmm10,zmm16,[r12+28Ch]{1to16}
0584  vfmadd231ps zmm11,zmm16,[r12+2CCh]{1to16}
058f  vfmadd231ps zmm12,zmm16,[r12+30Ch]{1to16}
059a  vfmadd231ps zmm13,zmm16,[r12+34Ch]{1to16}
05a5  vfmadd231ps zmm14,zmm16,[r12+38Ch]{1to16}
05b0  vfmadd231ps zmm15,zmm16,[r12+3CCh]{1to16}
05bb  add r12,10h
05bf  add r13,100h
05c6  dec r14
05c9  jne near 340h
05cf  vmovups [rbx],zmm0
05d5  vmovups [rbx+40h],zmm1
05dc  vmovups [rbx+80h],zmm2
05e3  vmovups [rbx+0C0h],zmm3
05ea  vmovups [rbx+100h],zmm4
05f1  vmovups [rbx+140h],zmm5
05f8  vmovups [rbx+180h],zmm6
05ff  vmovups [rbx+1C0h],zmm7
0606  vmovups [rbx+200h],zmm8
060d  vmovups [rbx+240h],zmm9
0614  vmovups [rbx+280h],zmm10
061b  vmovups [rbx+2C0h],zmm11
0622  vmovups [rbx+300h],zmm12
0629  vmovups [rbx+340h],zmm13
0630  vmovups [rbx+380h],zmm14
0637  vmovups [rbx+3C0h],zmm15
063e  add rbx,400h
0645  add r11,400h
064c  dec rbp
064f  jne near 2C0h
0655  mov rbp,[rdi+58h]
0659  test rbp,rbp
065c  jle near 9E2h
0662  nop word [rax+rax]
066b  nop word [rax+rax]
0674  nop word [rax+rax]
067d  nop dword [rax]
0680  vmovups zmm0,[rbx]
0686  vmovups zmm1,[rbx+40h]
068d  vmovups zmm2,[rbx+80h]
0694  vmovups zmm3,[rbx+0C0h]
069b  vmovups zmm4,[rbx+100h]
06a2  vmovups zmm5,[rbx+140h]
06a9  vmovups zmm6,[rbx+180h]
06b0  vmovups zmm7,[rbx+1C0h]
06b7  vmovups zmm8,[rbx+200h]
06be  vmovups zmm9,[rbx+240h]
06c5  vmovups zmm10,[rbx+280h]
06cc  vmovups zmm11,[rbx+2C0h]
06d3  vmovups zmm12,[rbx+300h]
06da  vmovups zmm13,[rbx+340h]
06e1  vmovups zmm14,[rbx+380h]
06e8  mov r12,r11
06eb  mov r13,rsi
06ee  mov r14d,4
06f4  nop word [rax+rax]
06fd  nop dword [rax]
0700  vmovups zmm15,[r13]
0707  vfmadd231ps zmm0,zmm15,[r12]{1to16}
070e  vfmadd231ps zmm1,zmm15,[r12+40h]{1to16}
0716  vfmadd231ps zmm2,zmm15,[r12+80h]{1to16}
071e  vfmadd231ps zmm3,zmm15,[r12+0C0h]{1to16}
0726  vfmadd231ps zmm4,zmm15,[r12+100h]{1to16}
072e  vfmadd231ps zmm5,zmm15,[r12+140h]{1to16}
0736  vfmadd231ps zmm6,zmm15,[r12+180h]{1to16}
073e  vfmadd231ps zmm7,zmm15,[r12+1C0h]{1to16}
0746  vfmadd231ps zmm8,zmm15,[r12+200h]{1to16}
0751  vfmadd231ps zmm9,zmm15,[r12+240h]{1to16}
075c  vfmadd231ps zmm10,zmm15,[r12+280h]{1to16}
0767  vfmadd231ps zmm11,zmm15,[r12+2C0h]{1to16}
0772  vfmadd231ps zmm12,zmm15,[r12+300h]{1to16}
077d  vfmadd231ps zmm13,zmm15,[r12+340h]{1to16}
0788  vfmadd231ps zmm14,zmm15,[r12+380h]{1to16}
0793  vmovups zmm15,[r13+40h]
079a  vfmadd231ps zmm0,zmm15,[r12+4]{1to16}
07a2  vfmadd231ps zmm1,zmm15,[r12+44h]{1to16}
07aa  vfmadd231ps zmm2,zmm15,[r12+84h]{1to16}
07b2  vfmadd231ps zmm3,zmm15,[r12+0C4h]{1to16}
07ba  vfmadd231ps zmm4,zmm15,[r12+104h]{1to16}
07c2  vfmadd231ps zmm5,zmm15,[r12+144h]{1to16}
07ca  vfmadd231ps zmm6,zmm15,[r12+184h]{1to16}
07d2  vfmadd231ps zmm7,zmm15,[r12+1C4h]{1to16}
07da  vfmadd231ps zmm8,zmm15,[r12+204h]{1to16}
07e5  vfmadd231ps zmm9,zmm15,[r12+244h]{1to16}
07f0  vfmadd231ps zmm10,zmm15,[r12+284h]{1to16}
07fb  vfmadd231ps zmm11,zmm15,[r12+2C4h]{1to16}
0806  vfmadd231ps zmm12,zmm15,[r12+304h]{1to16}
0811  vfmadd231ps zmm13,zmm15,[r12+344h]{1to16}
081c  vfmadd231ps zmm14,zmm15,[r12+384h]{1to16}
0827  vmovups zmm15,[r13+80h]
082e  vfmadd231ps zmm0,zmm15,[r12+8]{1to16}
0836  vfmadd231ps zmm1,zmm15,[r12+48h]{1to16}
083e  vfmadd231ps zmm2,zmm15,[r12+88h]{1to16}
0846  vfmadd231ps zmm3,zmm15,[r12+0C8h]{1to16}
084e  vfmadd231ps zmm4,zmm15,[r12+108h]{1to16}
0856  vfmadd231ps zmm5,zmm15,[r12+148h]{1to16}
085e  vfmadd231ps zmm6,zmm15,[r12+188h]{1to16}
0866  vfmadd231ps zmm7,zmm15,[r12+1C8h]{1to16}
086e  vfmadd231ps zmm8,zmm15,[r12+208h]{1to16}
0879  vfmadd231ps zmm9,zmm15,[r12+248h]{1to16}
0884  vfmadd231ps zmm10,zmm15,[r12+288h]{1to16}
088f  vfmadd231ps zmm11,zmm15,[r12+2C8h]{1to16}
089a  vfmadd231ps zmm12,zmm15,[r12+308h]{1to16}
08a5  vfmadd231ps zmm13,zmm15,[r12+348h]{1to16}
08b0  vfmadd231ps zmm14,zmm15,[r12+388h]{1to16}
08bb  vmovups zmm15,[r13+0C0h]
08c2  vfmadd231ps zmm0,zmm15,[r12+0Ch]{1to16}
08ca  vfmadd231ps zmm1,zmm15,[r12+4Ch]{1to16}
08d2  vfmadd231ps zmm2,zmm15,[r12+8Ch]{1to16}
08da  vfmadd231ps zmm3,zmm15,[r12+0CCh]{1to16}
08e2  vfmadd231ps zmm4,zmm15,[r12+10Ch]{1to16}
08ea  vfmadd231ps zmm5,zmm15,[r12+14Ch]{1to16}
08f2  vfmadd231ps zmm6,zmm15,[r12+18Ch]{1to16}
08fa  vfmadd231ps zmm7,zmm15,[r12+1CCh]{1to16}
0902  vfmadd231ps zmm8,zmm15,[r12+20Ch]{1to16}
090d  vfmadd231ps zmm9,zmm15,[r12+24Ch]{1to16}
0918  vfmadd231ps zmm10,zmm15,[r12+28Ch]{1to16}
0923  vfmadd231ps zmm11,zmm15,[r12+2CCh]{1to16}
092e  vfmadd231ps zmm12,zmm15,[r12+30Ch]{1to16}
0939  vfmadd231ps zmm13,zmm15,[r12+34Ch]{1to16}
0944  vfmadd231ps zmm14,zmm15,[r12+38Ch]{1to16}
094f  add r12,10h
0953  add r13,100h
095a  dec r14
095d  jne near 700h
0963  vmovups [rbx],zmm0
0969  vmovups [rbx+40h],zmm1
0970  vmovups [rbx+80h],zmm2
0977  vmovups [rbx+0C0h],zmm3
097e  vmovups [rbx+100h],zmm4
0985  vmovups [rbx+140h],zmm5
098c  vmovups [rbx+180h],zmm6
0993  vmovups [rbx+1C0h],zmm7
099a  vmovups [rbx+200h],zmm8
09a1  vmovups [rbx+240h],zmm9
09a8  vmovups [rbx+280h],zmm10
09af  vmovups [rbx+2C0h],zmm11
09b6  vmovups [rbx+300h],zmm12
09bd  vmovups [rbx+340h],zmm13
09c4  vmovups [rbx+380h],zmm14
09cb  add rbx,3C0h
09d2  add r11,3C0h
09d9  dec rbp
09dc  jne near 680h
09e2  add rsi,400h
09e9  mov r11,[rdi+8]
09ed  add r8,r11
09f0  mov r11,[rdi+40h]
09f4  add r9,r11
09f7  dec r10
09fa  jne near 280h
0a00  mov rsi,[rdi+10h]
0a04  add rax,rsi
0a07  dec rdx
0a0a  jne near 40h
0a10  pop r14
0a12  pop r13
0a14  pop r12
0a16  pop rbp
0a17  pop rbx
0a18  vzeroupper
0a1b  ret
