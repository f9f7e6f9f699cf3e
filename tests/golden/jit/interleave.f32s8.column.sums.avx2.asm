; 338 instructions, 1633 bytes, 0 spills, 0 of them in inner loops
0000  push rbx
0001  push rbp
0002  push r12
0004  push r13
0006  sub rsp,80h
000d  mov rax,[rdi+8]
0011  mov rcx,[rdi+10h]
0015  mov rdx,[rdi+28h]
0019  mov rsi,[rdi+20h]
001d  lea r8,[rsp]
0021  add r8,3Fh
0025  and r8,0FFFFFFFFFFFFFFC0h
0029  mov r9,rax
002c  add r9,rax
002f  add r9,rax
0032  nop word [rax+rax]
003b  nop dword [rax+rax]
0040  mov r10,[rdi]
0043  mov r11,[rdi+18h]
0047  mov rbx,[rsi]
004a  add r10,rbx
004d  mov rbx,[rsi+8]
0051  add r11,rbx
0054  mov rbx,[rdi+58h]
0058  mov rbp,[rdi+30h]
005c  mov r12,[rdi+68h]
0060  cmp rcx,4
0064  jl near 1DBh
006a  mov r13,rbp
006d  test r13,r13
0070  jle near 1DBh
0076  nop word [rax+rax]
007f  nop
0080  vmovups ymm0,[rbx]
0084  vmovups ymm1,[r10]
0089  vdivps ymm1,ymm1,ymm0
008d  vcmpordps ymm2,ymm1,ymm1
0092  vpand ymm2,ymm2,ymm1
0096  vminps ymm2,ymm2,[rel 680h]
009e  vcvtps2dq ymm2,ymm2
00a2  vpackssdw ymm1,ymm2,ymm2
00a6  vpermq ymm1,ymm1,8
00ac  vpacksswb xmm1,xmm1,xmm1
00b0  vmovq [r8],xmm1
00b5  vpmovzxbd ymm1,[r8]
00ba  vmovups ymm2,[r10+rax]
00c0  vdivps ymm2,ymm2,ymm0
00c4  vcmpordps ymm3,ymm2,ymm2
00c9  vpand ymm3,ymm3,ymm2
00cd  vminps ymm3,ymm3,[rel 680h]
00d5  vcvtps2dq ymm3,ymm3
00d9  vpackssdw ymm2,ymm3,ymm3
00dd  vpermq ymm2,ymm2,8
00e3  vpacksswb xmm2,xmm2,xmm2
00e7  vmovq [r8],xmm2
00ec  vpmovzxbd ymm2,[r8]
00f1  vpslld ymm2,ymm2,8
00f6  vpor ymm1,ymm1,ymm2
00fa  vmovups ymm2,[r10+rax*2]
0100  vdivps ymm2,ymm2,ymm0
0104  vcmpordps ymm3,ymm2,ymm2
0109  vpand ymm3,ymm3,ymm2
010d  vminps ymm3,ymm3,[rel 680h]
0115  vcvtps2dq ymm3,ymm3
0119  vpackssdw ymm2,ymm3,ymm3
011d  vpermq ymm2,ymm2,8
0123  vpacksswb xmm2,xmm2,xmm2
0127  vmovq [r8],xmm2
012c  vpmovzxbd ymm2,[r8]
0131  vpslld ymm2,ymm2,10h
0136  vpor ymm1,ymm1,ymm2
013a  vmovups ymm2,[r10+r9]
0140  vdivps ymm0,ymm2,ymm0
0144  vcmpordps ymm2,ymm0,ymm0
0149  vpand ymm2,ymm2,ymm0
014d  vminps ymm2,ymm2,[rel 680h]
0155  vcvtps2dq ymm2,ymm2
0159  vpackssdw ymm0,ymm2,ymm2
015d  vpermq ymm0,ymm0,8
0163  vpacksswb xmm0,xmm0,xmm0
0167  vmovq [r8],xmm0
016c  vpmovzxbd ymm0,[r8]
0171  vpslld ymm0,ymm0,18h
0176  vpor ymm1,ymm1,ymm0
017a  vpbroadcastd ymm0,[rel 664h]
0183  vmovups ymm2,[r12]
0189  vpsllw ymm3,ymm0,8
018e  vpsrlw ymm3,ymm3,8
0193  vpsllw ymm4,ymm1,8
0198  vpsraw ymm4,ymm4,8
019d  vpmaddwd ymm3,ymm3,ymm4
01a1  vpaddd ymm2,ymm2,ymm3
01a5  vpsrlw ymm0,ymm0,8
01aa  vpsraw ymm3,ymm1,8
01af  vpmaddwd ymm0,ymm0,ymm3
01b3  vpaddd ymm2,ymm2,ymm0
01b7  vmovups [r12],ymm2
01bd  vmovups [r11],ymm1
01c2  add r10,20h
01c6  add r11,20h
01ca  add r12,20h
01ce  add rbx,20h
01d2  dec r13
01d5  jne near 80h
01db  cmp rcx,4
01df  jge near 38Bh
01e5  test rbp,rbp
01e8  jle near 38Bh
01ee  nop word [rax+rax]
01f7  nop word [rax+rax]
0200  vmovups ymm0,[rbx]
0204  vpxor ymm1,ymm1,ymm1
0208  cmp rcx,0
020c  jle near 24Ch
0212  vmovups ymm2,[r10]
0217  vdivps ymm2,ymm2,ymm0
021b  vcmpordps ymm3,ymm2,ymm2
0220  vpand ymm3,ymm3,ymm2
0224  vminps ymm3,ymm3,[rel 680h]
022c  vcvtps2dq ymm3,ymm3
0230  vpackssdw ymm2,ymm3,ymm3
0234  vpermq ymm2,ymm2,8
023a  vpacksswb xmm2,xmm2,xmm2
023e  vmovq [r8],xmm2
0243  vpmovzxbd ymm2,[r8]
0248  vpor ymm1,ymm1,ymm2
024c  cmp rcx,1
0250  jle near 296h
0256  vmovups ymm2,[r10+rax]
025c  vdivps ymm2,ymm2,ymm0
0260  vcmpordps ymm3,ymm2,ymm2
0265  vpand ymm3,ymm3,ymm2
0269  vminps ymm3,ymm3,[rel 680h]
0271  vcvtps2dq ymm3,ymm3
0275  vpackssdw ymm2,ymm3,ymm3
0279  vpermq ymm2,ymm2,8
027f  vpacksswb xmm2,xmm2,xmm2
0283  vmovq [r8],xmm2
0288  vpmovzxbd ymm2,[r8]
028d  vpslld ymm2,ymm2,8
0292  vpor ymm1,ymm1,ymm2
0296  cmp rcx,2
029a  jle near 2E0h
02a0  vmovups ymm2,[r10+rax*2]
02a6  vdivps ymm2,ymm2,ymm0
02aa  vcmpordps ymm3,ymm2,ymm2
02af  vpand ymm3,ymm3,ymm2
02b3  vminps ymm3,ymm3,[rel 680h]
02bb  vcvtps2dq ymm3,ymm3
02bf  vpackssdw ymm2,ymm3,ymm3
02c3  vpermq ymm2,ymm2,8
02c9  vpacksswb xmm2,xmm2,xmm2
02cd  vmovq [r8],xmm2
02d2  vpmovzxbd ymm2,[r8]
02d7  vpslld ymm2,ymm2,10h
02dc  vpor ymm1,ymm1,ymm2
02e0  cmp rcx,3
02e4  jle near 32Ah
02ea  vmovups ymm2,[r10+r9]
02f0  vdivps ymm0,ymm2,ymm0
02f4  vcmpordps ymm2,ymm0,ymm0
02f9  vpand ymm2,ymm2,ymm0
02fd  vminps ymm2,ymm2,[rel 680h]
0305  vcvtps2dq ymm2,ymm2
0309  vpackssdw ymm0,ymm2,ymm2
030d  vpermq ymm0,ymm0,8
0313  vpacksswb xmm0,xmm0,xmm0
0317  vmovq [r8],xmm0
031c  vpmovzxbd ymm0,[r8]
0321  vpslld ymm0,ymm0,18h
0326  vpor ymm1,ymm1,ymm0
032a  vpbroadcastd ymm0,[rel 664h]
0333  vmovups ymm2,[r12]
0339  vpsllw ymm3,ymm0,8
033e  vpsrlw ymm3,ymm3,8
0343  vpsllw ymm4,ymm1,8
0348  vpsraw ymm4,ymm4,8
034d  vpmaddwd ymm3,ymm3,ymm4
0351  vpaddd ymm2,ymm2,ymm3
0355  vpsrlw ymm0,ymm0,8
035a  vpsraw ymm3,ymm1,8
035f  vpmaddwd ymm0,ymm0,ymm3
0363  vpaddd ymm2,ymm2,ymm0
0367  vmovups [r12],ymm2
036d  vmovups [r11],ymm1
0372  add r10,20h
0376  add r11,20h
037a  add r12,20h
037e  add rbx,20h
0382  dec rbp
0385  jne near 200h
038b  mov rbp,[rdi+40h]
038f  cmp rbp,0
0393  jle near 643h
0399  mov r13,[rdi+38h]
039d  vmovd xmm0,r13d
03a2  vpbroadcastd ymm0,xmm0
03a7  vpcmpgtd ymm0,ymm0,[rel 6A0h]
03af  vmovd xmm1,ebp
03b3  vpbroadcastd ymm1,xmm1
03b8  vpcmpgtd ymm1,ymm1,[rel 6A0h]
03c0  vmaskmovps ymm2,ymm0,[rbx]
03c5  vpxor ymm3,ymm3,ymm3
03c9  cmp rcx,0
03cd  jle near 417h
03d3  vmaskmovps ymm4,ymm0,[r10]
03d8  vdivps ymm4,ymm4,ymm2
03dc  vcmpordps ymm5,ymm4,ymm4
03e1  vpand ymm5,ymm5,ymm4
03e5  vminps ymm5,ymm5,[rel 680h]
03ed  vcvtps2dq ymm5,ymm5
03f1  vpackssdw ymm4,ymm5,ymm5
03f5  vpermq ymm4,ymm4,8
03fb  vpacksswb xmm4,xmm4,xmm4
03ff  vmovq [r8],xmm4
0404  vpmovzxbd ymm4,[r8]
0409  vpxor ymm5,ymm5,ymm5
040d  vblendvps ymm4,ymm5,ymm4,ymm0
0413  vpor ymm3,ymm3,ymm4
0417  cmp rcx,1
041b  jle near 46Bh
0421  vmaskmovps ymm4,ymm0,[r10+rax]
0427  vdivps ymm4,ymm4,ymm2
042b  vcmpordps ymm5,ymm4,ymm4
0430  vpand ymm5,ymm5,ymm4
0434  vminps ymm5,ymm5,[rel 680h]
043c  vcvtps2dq ymm5,ymm5
0440  vpackssdw ymm4,ymm5,ymm5
0444  vpermq ymm4,ymm4,8
044a  vpacksswb xmm4,xmm4,xmm4
044e  vmovq [r8],xmm4
0453  vpmovzxbd ymm4,[r8]
0458  vpxor ymm5,ymm5,ymm5
045c  vblendvps ymm4,ymm5,ymm4,ymm0
0462  vpslld ymm4,ymm4,8
0467  vpor ymm3,ymm3,ymm4
046b  cmp rcx,2
046f  jle near 4BFh
0475  vmaskmovps ymm4,ymm0,[r10+rax*2]
047b  vdivps ymm4,ymm4,ymm2
047f  vcmpordps ymm5,ymm4,ymm4
0484  vpand ymm5,ymm5,ymm4
0488  vminps ymm5,ymm5,[rel 680h]
0490  vcvtps2dq ymm5,ymm5
0494  vpackssdw ymm4,ymm5,ymm5
0498  vpermq ymm4,ymm4,8
049e  vpacksswb xmm4,xmm4,xmm4
04a2  vmovq [r8],xmm4
04a7  vpmovzxbd ymm4,[r8]
04ac  vpxor ymm5,ymm5,ymm5
04b0  vblendvps ymm4,ymm5,ymm4,ymm0
04b6  vpslld ymm4,ymm4,10h
04bb  vpor ymm3,ymm3,ymm4
04bf  cmp rcx,3
04c3  jle near 513h
04c9  vmaskmovps ymm4,ymm0,[r10+r9]
04cf  vdivps ymm2,ymm4,ymm2
04d3  vcmpordps ymm4,ymm2,ymm2
04d8  vpand ymm4,ymm4,ymm2
04dc  vminps ymm4,ymm4,[rel 680h]
04e4  vcvtps2dq ymm4,ymm4
04e8  vpackssdw ymm2,ymm4,ymm4
04ec  vpermq ymm2,ymm2,8
04f2  vpacksswb xmm2,xmm2,xmm2
04f6  vmovq [r8],xmm2
04fb  vpmovzxbd ymm2,[r8]
0500  vpxor ymm4,ymm4,ymm4
0504  vblendvps ymm0,ymm4,ymm2,ymm0
050a  vpslld ymm0,ymm0,18h
050f  vpor ymm3,ymm3,ymm0
0513  vpbroadcastd ymm0,[rel 664h]
051c  vmaskmovps ymm2,ymm1,[r12]
0522  vpsllw ymm4,ymm0,8
0527  vpsrlw ymm4,ymm4,8
052c  vpsllw ymm5,ymm3,8
0531  vpsraw ymm5,ymm5,8
0536  vpmaddwd ymm4,ymm4,ymm5
053a  vpaddd ymm2,ymm2,ymm4
053e  vpsrlw ymm0,ymm0,8
0543  vpsraw ymm4,ymm3,8
0548  vpmaddwd ymm0,ymm0,ymm4
054c  vpaddd ymm2,ymm2,ymm0
0550  vmovmskps r10d,ymm1
0554  cmp r10,0FFh
055b  jne near 567h
0561  vmovups [r12],ymm2
0567  cmp r10,0FFh
056e  je near 5C9h
0574  lea rbx,[r12]
0578  mov rbp,r10
057b  vmovups xmm0,xmm2
057f  and r10,8
0583  je near 59Bh
0589  vmovups [rbx],xmm0
058d  vextracti128 xmm0,ymm2,1
0593  add rbx,10h
0597  shr rbp,4
059b  mov r10,rbp
059e  and r10,2
05a2  je near 5B8h
05a8  vmovq [rbx],xmm0
05ac  vunpckhpd xmm0,xmm0,xmm0
05b0  add rbx,8
05b4  shr rbp,2
05b8  mov r10,rbp
05bb  and r10,1
05bf  je near 5C9h
05c5  vmovd [rbx],xmm0
05c9  vmovmskps r10d,ymm1
05cd  cmp r10,0FFh
05d4  jne near 5DFh
05da  vmovups [r11],ymm3
05df  cmp r10,0FFh
05e6  je near 643h
05ec  lea r11,[r11]
05ef  mov rbx,r10
05f2  vmovups xmm0,xmm3
05f6  and r10,8
05fa  je near 613h
0600  vmovups [r11],xmm0
0605  vextracti128 xmm0,ymm3,1
060b  add r11,10h
060f  shr rbx,4
0613  mov r10,rbx
0616  and r10,2
061a  je near 631h
0620  vmovq [r11],xmm0
0625  vunpckhpd xmm0,xmm0,xmm0
0629  add r11,8
062d  shr rbx,2
0631  mov r10,rbx
0634  and r10,1
0638  je near 643h
063e  vmovd [r11],xmm0
0643  add rsi,10h
0647  dec rdx
064a  jne near 40h
0650  add rsp,80h
0657  pop r13
0659  pop r12
065b  pop rbp
065c  pop rbx
065d  vzeroupper
0660  ret
