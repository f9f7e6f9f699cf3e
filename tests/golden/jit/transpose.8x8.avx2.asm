; 568 instructions, 2624 bytes, 0 spills, 0 of them in inner loops
0000  push rbx
0001  push rbp
0002  push r12
0004  push r13
0006  mov rax,[rdi]
0009  mov rcx,[rdi+18h]
000d  mov rdx,[rdi+8]
0011  mov rsi,[rdi+20h]
0015  mov r8,[rdi+40h]
0019  mov r9,[rdi+0B0h]
0020  mov r10,[rdi+0B8h]
0027  cmp r9,8
002b  jge near 27Ah
0031  test r8,r8
0034  jle near 27Ah
003a  nop word [rax+rax]
0040  mov r11,[rdi+30h]
0044  mov r11,[rdi+38h]
0048  mov rbx,rax
004b  vpxor ymm0,ymm0,ymm0
004f  cmp r9,0
0053  jle near 61h
0059  vmovups ymm1,[rbx]
005d  vmovups ymm0,ymm1
0061  add rbx,rdx
0064  vpxor ymm1,ymm1,ymm1
0068  cmp r9,1
006c  jle near 7Ah
0072  vmovups ymm2,[rbx]
0076  vmovups ymm1,ymm2
007a  add rbx,rdx
007d  vpxor ymm2,ymm2,ymm2
0081  cmp r9,2
0085  jle near 93h
008b  vmovups ymm3,[rbx]
008f  vmovups ymm2,ymm3
0093  add rbx,rdx
0096  vpxor ymm3,ymm3,ymm3
009a  cmp r9,3
009e  jle near 0ACh
00a4  vmovups ymm4,[rbx]
00a8  vmovups ymm3,ymm4
00ac  add rbx,rdx
00af  vpxor ymm4,ymm4,ymm4
00b3  cmp r9,4
00b7  jle near 0C5h
00bd  vmovups ymm5,[rbx]
00c1  vmovups ymm4,ymm5
00c5  add rbx,rdx
00c8  vpxor ymm5,ymm5,ymm5
00cc  cmp r9,5
00d0  jle near 0DEh
00d6  vmovups ymm6,[rbx]
00da  vmovups ymm5,ymm6
00de  add rbx,rdx
00e1  vpxor ymm6,ymm6,ymm6
00e5  cmp r9,6
00e9  jle near 0F7h
00ef  vmovups ymm7,[rbx]
00f3  vmovups ymm6,ymm7
00f7  add rbx,rdx
00fa  vpxor ymm7,ymm7,ymm7
00fe  cmp r9,7
0102  jle near 111h
0108  vmovups ymm8,[rbx]
010c  vmovups ymm7,ymm8
0111  add rbx,rdx
0114  vunpcklps ymm8,ymm0,ymm1
0118  vunpckhps ymm0,ymm0,ymm1
011c  vunpcklps ymm1,ymm2,ymm3
0120  vunpckhps ymm2,ymm2,ymm3
0124  vunpcklpd ymm3,ymm8,ymm1
0128  vunpckhpd ymm1,ymm8,ymm1
012c  vunpcklpd ymm8,ymm0,ymm2
0130  vunpckhpd ymm0,ymm0,ymm2
0134  vunpcklps ymm2,ymm4,ymm5
0138  vunpckhps ymm4,ymm4,ymm5
013c  vunpcklps ymm5,ymm6,ymm7
0140  vunpckhps ymm6,ymm6,ymm7
0144  vunpcklpd ymm7,ymm2,ymm5
0148  vunpckhpd ymm2,ymm2,ymm5
014c  vunpcklpd ymm5,ymm4,ymm6
0150  vunpckhpd ymm4,ymm4,ymm6
0154  vperm2f128 ymm6,ymm3,ymm7,20h
015a  vperm2f128 ymm3,ymm3,ymm7,31h
0160  vperm2f128 ymm7,ymm1,ymm2,20h
0166  vperm2f128 ymm1,ymm1,ymm2,31h
016c  vperm2f128 ymm2,ymm8,ymm5,20h
0172  vperm2f128 ymm5,ymm8,ymm5,31h
0178  vperm2f128 ymm8,ymm0,ymm4,20h
017e  vperm2f128 ymm0,ymm0,ymm4,31h
0184  mov rbx,rcx
0187  vpxor ymm4,ymm4,ymm4
018b  vmovups [rbx],ymm6
018f  cmp r10,0
0193  jle near 19Eh
0199  vmovups [rbx+20h],ymm4
019e  prefetchw [rbx+r11]
01a3  add rbx,rsi
01a6  vmovups [rbx],ymm7
01aa  cmp r10,0
01ae  jle near 1B9h
01b4  vmovups [rbx+20h],ymm4
01b9  prefetchw [rbx+r11]
01be  add rbx,rsi
01c1  vmovups [rbx],ymm2
01c5  cmp r10,0
01c9  jle near 1D4h
01cf  vmovups [rbx+20h],ymm4
01d4  prefetchw [rbx+r11]
01d9  add rbx,rsi
01dc  vmovups [rbx],ymm8
01e0  cmp r10,0
01e4  jle near 1EFh
01ea  vmovups [rbx+20h],ymm4
01ef  prefetchw [rbx+r11]
01f4  add rbx,rsi
01f7  vmovups [rbx],ymm3
01fb  cmp r10,0
01ff  jle near 20Ah
0205  vmovups [rbx+20h],ymm4
020a  prefetchw [rbx+r11]
020f  add rbx,rsi
0212  vmovups [rbx],ymm1
0216  cmp r10,0
021a  jle near 225h
0220  vmovups [rbx+20h],ymm4
0225  prefetchw [rbx+r11]
022a  add rbx,rsi
022d  vmovups [rbx],ymm5
0231  cmp r10,0
0235  jle near 240h
023b  vmovups [rbx+20h],ymm4
0240  prefetchw [rbx+r11]
0245  add rbx,rsi
0248  vmovups [rbx],ymm0
024c  cmp r10,0
0250  jle near 25Bh
0256  vmovups [rbx+20h],ymm4
025b  prefetchw [rbx+r11]
0260  add rbx,rsi
0263  mov r11,[rdi+10h]
0267  add rax,r11
026a  mov r11,[rdi+28h]
026e  add rcx,r11
0271  dec r8
0274  jne near 40h
027a  test r8,r8
027d  jle near 425h
0283  nop word [rax+rax]
028c  nop word [rax+rax]
0295  nop word [rax+rax]
029e  nop word [rax+rax]
02a7  nop word [rax+rax]
02b0  nop word [rax+rax]
02b9  nop dword [rax]
02c0  mov r9,[rdi+30h]
02c4  mov r10,[rdi+38h]
02c8  mov r11,rax
02cb  vmovups ymm0,[r11]
02d0  prefetcht0 [r11+r9]
02d5  add r11,rdx
02d8  vmovups ymm1,[r11]
02dd  prefetcht0 [r11+r9]
02e2  add r11,rdx
02e5  vmovups ymm2,[r11]
02ea  prefetcht0 [r11+r9]
02ef  add r11,rdx
02f2  vmovups ymm3,[r11]
02f7  prefetcht0 [r11+r9]
02fc  add r11,rdx
02ff  vmovups ymm4,[r11]
0304  prefetcht0 [r11+r9]
0309  add r11,rdx
030c  vmovups ymm5,[r11]
0311  prefetcht0 [r11+r9]
0316  add r11,rdx
0319  vmovups ymm6,[r11]
031e  prefetcht0 [r11+r9]
0323  add r11,rdx
0326  vmovups ymm7,[r11]
032b  prefetcht0 [r11+r9]
0330  add r11,rdx
0333  vunpcklps ymm8,ymm0,ymm1
0337  vunpckhps ymm0,ymm0,ymm1
033b  vunpcklps ymm1,ymm2,ymm3
033f  vunpckhps ymm2,ymm2,ymm3
0343  vunpcklpd ymm3,ymm8,ymm1
0347  vunpckhpd ymm1,ymm8,ymm1
034b  vunpcklpd ymm8,ymm0,ymm2
034f  vunpckhpd ymm0,ymm0,ymm2
0353  vunpcklps ymm2,ymm4,ymm5
0357  vunpckhps ymm4,ymm4,ymm5
035b  vunpcklps ymm5,ymm6,ymm7
035f  vunpckhps ymm6,ymm6,ymm7
0363  vunpcklpd ymm7,ymm2,ymm5
0367  vunpckhpd ymm2,ymm2,ymm5
036b  vunpcklpd ymm5,ymm4,ymm6
036f  vunpckhpd ymm4,ymm4,ymm6
0373  vperm2f128 ymm6,ymm3,ymm7,20h
0379  vperm2f128 ymm3,ymm3,ymm7,31h
037f  vperm2f128 ymm7,ymm1,ymm2,20h
0385  vperm2f128 ymm1,ymm1,ymm2,31h
038b  vperm2f128 ymm2,ymm8,ymm5,20h
0391  vperm2f128 ymm5,ymm8,ymm5,31h
0397  vperm2f128 ymm8,ymm0,ymm4,20h
039d  vperm2f128 ymm0,ymm0,ymm4,31h
03a3  mov r9,rcx
03a6  vmovups [r9],ymm6
03ab  prefetchw [r9+r10]
03b0  add r9,rsi
03b3  vmovups [r9],ymm7
03b8  prefetchw [r9+r10]
03bd  add r9,rsi
03c0  vmovups [r9],ymm2
03c5  prefetchw [r9+r10]
03ca  add r9,rsi
03cd  vmovups [r9],ymm8
03d2  prefetchw [r9+r10]
03d7  add r9,rsi
03da  vmovups [r9],ymm3
03df  prefetchw [r9+r10]
03e4  add r9,rsi
03e7  vmovups [r9],ymm1
03ec  prefetchw [r9+r10]
03f1  add r9,rsi
03f4  vmovups [r9],ymm5
03f9  prefetchw [r9+r10]
03fe  add r9,rsi
0401  vmovups [r9],ymm0
0406  prefetchw [r9+r10]
040b  add r9,rsi
040e  mov r9,[rdi+10h]
0412  add rax,r9
0415  mov r9,[rdi+28h]
0419  add rcx,r9
041c  dec r8
041f  jne near 2C0h
0425  mov r8,[rdi+48h]
0429  mov r9,[rdi+50h]
042d  mov r10,[rdi+60h]
0431  mov r11,[rdi+70h]
0435  test r8,r8
0438  jle near 0A36h
043e  xchg ax,ax
0440  vmovd xmm0,r10d
0445  vpbroadcastd ymm0,xmm0
044a  vpcmpgtd ymm0,ymm0,[rel 0A40h]
0452  vmovd xmm1,r11d
0457  vpbroadcastd ymm1,xmm1
045c  vpcmpgtd ymm1,ymm1,[rel 0A40h]
0464  mov rbx,rax
0467  vpxor ymm2,ymm2,ymm2
046b  cmp r9,0
046f  jle near 47Eh
0475  vmaskmovps ymm3,ymm0,[rbx]
047a  vmovups ymm2,ymm3
047e  add rbx,rdx
0481  vpxor ymm3,ymm3,ymm3
0485  cmp r9,1
0489  jle near 498h
048f  vmaskmovps ymm4,ymm0,[rbx]
0494  vmovups ymm3,ymm4
0498  add rbx,rdx
049b  vpxor ymm4,ymm4,ymm4
049f  cmp r9,2
04a3  jle near 4B2h
04a9  vmaskmovps ymm5,ymm0,[rbx]
04ae  vmovups ymm4,ymm5
04b2  add rbx,rdx
04b5  vpxor ymm5,ymm5,ymm5
04b9  cmp r9,3
04bd  jle near 4CCh
04c3  vmaskmovps ymm6,ymm0,[rbx]
04c8  vmovups ymm5,ymm6
04cc  add rbx,rdx
04cf  vpxor ymm6,ymm6,ymm6
04d3  cmp r9,4
04d7  jle near 4E6h
04dd  vmaskmovps ymm7,ymm0,[rbx]
04e2  vmovups ymm6,ymm7
04e6  add rbx,rdx
04e9  vpxor ymm7,ymm7,ymm7
04ed  cmp r9,5
04f1  jle near 501h
04f7  vmaskmovps ymm8,ymm0,[rbx]
04fc  vmovups ymm7,ymm8
0501  add rbx,rdx
0504  vpxor ymm8,ymm8,ymm8
0509  cmp r9,6
050d  jle near 51Dh
0513  vmaskmovps ymm9,ymm0,[rbx]
0518  vmovups ymm8,ymm9
051d  add rbx,rdx
0520  vpxor ymm9,ymm9,ymm9
0525  cmp r9,7
0529  jle near 538h
052f  vmaskmovps ymm0,ymm0,[rbx]
0534  vmovups ymm9,ymm0
0538  add rbx,rdx
053b  vunpcklps ymm0,ymm2,ymm3
053f  vunpckhps ymm2,ymm2,ymm3
0543  vunpcklps ymm3,ymm4,ymm5
0547  vunpckhps ymm4,ymm4,ymm5
054b  vunpcklpd ymm5,ymm0,ymm3
054f  vunpckhpd ymm0,ymm0,ymm3
0553  vunpcklpd ymm3,ymm2,ymm4
0557  vunpckhpd ymm2,ymm2,ymm4
055b  vunpcklps ymm4,ymm6,ymm7
055f  vunpckhps ymm6,ymm6,ymm7
0563  vunpcklps ymm7,ymm8,ymm9
0568  vunpckhps ymm8,ymm8,ymm9
056d  vunpcklpd ymm9,ymm4,ymm7
0571  vunpckhpd ymm4,ymm4,ymm7
0575  vunpcklpd ymm7,ymm6,ymm8
057a  vunpckhpd ymm6,ymm6,ymm8
057f  vperm2f128 ymm8,ymm5,ymm9,20h
0585  vperm2f128 ymm5,ymm5,ymm9,31h
058b  vperm2f128 ymm9,ymm0,ymm4,20h
0591  vperm2f128 ymm0,ymm0,ymm4,31h
0597  vperm2f128 ymm4,ymm3,ymm7,20h
059d  vperm2f128 ymm3,ymm3,ymm7,31h
05a3  vperm2f128 ymm7,ymm2,ymm6,20h
05a9  vperm2f128 ymm2,ymm2,ymm6,31h
05af  vmovd xmm6,r9d
05b4  vpbroadcastd ymm6,xmm6
05b9  vpcmpgtd ymm6,ymm6,[rel 0A40h]
05c1  mov rbx,rcx
05c4  cmp r10,0
05c8  jle near 64Bh
05ce  vmovmskps ebp,ymm1
05d2  cmp rbp,0FFh
05d9  jne near 5E3h
05df  vmovups [rbx],ymm8
05e3  cmp rbp,0FFh
05ea  je near 64Bh
05f0  lea r12,[rbx]
05f3  mov r13,rbp
05f6  vmovups xmm6,xmm8
05fb  and rbp,8
05ff  je near 619h
0605  vmovups [r12],xmm6
060b  vextracti128 xmm6,ymm8,1
0611  add r12,10h
0615  shr r13,4
0619  mov rbp,r13
061c  and rbp,2
0620  je near 638h
0626  vmovq [r12],xmm6
062c  vunpckhpd xmm6,xmm6,xmm6
0630  add r12,8
0634  shr r13,2
0638  mov rbp,r13
063b  and rbp,1
063f  je near 64Bh
0645  vmovd [r12],xmm6
064b  add rbx,rsi
064e  cmp r10,1
0652  jle near 6D5h
0658  vmovmskps ebp,ymm1
065c  cmp rbp,0FFh
0663  jne near 66Dh
0669  vmovups [rbx],ymm9
066d  cmp rbp,0FFh
0674  je near 6D5h
067a  lea r12,[rbx]
067d  mov r13,rbp
0680  vmovups xmm6,xmm9
0685  and rbp,8
0689  je near 6A3h
068f  vmovups [r12],xmm6
0695  vextracti128 xmm6,ymm9,1
069b  add r12,10h
069f  shr r13,4
06a3  mov rbp,r13
06a6  and rbp,2
06aa  je near 6C2h
06b0  vmovq [r12],xmm6
06b6  vunpckhpd xmm6,xmm6,xmm6
06ba  add r12,8
06be  shr r13,2
06c2  mov rbp,r13
06c5  and rbp,1
06c9  je near 6D5h
06cf  vmovd [r12],xmm6
06d5  add rbx,rsi
06d8  cmp r10,2
06dc  jle near 75Eh
06e2  vmovmskps ebp,ymm1
06e6  cmp rbp,0FFh
06ed  jne near 6F7h
06f3  vmovups [rbx],ymm4
06f7  cmp rbp,0FFh
06fe  je near 75Eh
0704  lea r12,[rbx]
0707  mov r13,rbp
070a  vmovups xmm6,xmm4
070e  and rbp,8
0712  je near 72Ch
0718  vmovups [r12],xmm6
071e  vextracti128 xmm6,ymm4,1
0724  add r12,10h
0728  shr r13,4
072c  mov rbp,r13
072f  and rbp,2
0733  je near 74Bh
0739  vmovq [r12],xmm6
073f  vunpckhpd xmm6,xmm6,xmm6
0743  add r12,8
0747  shr r13,2
074b  mov rbp,r13
074e  and rbp,1
0752  je near 75Eh
0758  vmovd [r12],xmm6
075e  add rbx,rsi
0761  cmp r10,3
0765  jle near 7E7h
076b  vmovmskps ebp,ymm1
076f  cmp rbp,0FFh
0776  jne near 780h
077c  vmovups [rbx],ymm7
0780  cmp rbp,0FFh
0787  je near 7E7h
078d  lea r12,[rbx]
0790  mov r13,rbp
0793  vmovups xmm4,xmm7
0797  and rbp,8
079b  je near 7B5h
07a1  vmovups [r12],xmm4
07a7  vextracti128 xmm4,ymm7,1
07ad  add r12,10h
07b1  shr r13,4
07b5  mov rbp,r13
07b8  and rbp,2
07bc  je near 7D4h
07c2  vmovq [r12],xmm4
07c8  vunpckhpd xmm4,xmm4,xmm4
07cc  add r12,8
07d0  shr r13,2
07d4  mov rbp,r13
07d7  and rbp,1
07db  je near 7E7h
07e1  vmovd [r12],xmm4
07e7  add rbx,rsi
07ea  cmp r10,4
07ee  jle near 870h
07f4  vmovmskps ebp,ymm1
07f8  cmp rbp,0FFh
07ff  jne near 809h
0805  vmovups [rbx],ymm5
0809  cmp rbp,0FFh
0810  je near 870h
0816  lea r12,[rbx]
0819  mov r13,rbp
081c  vmovups xmm4,xmm5
0820  and rbp,8
0824  je near 83Eh
082a  vmovups [r12],xmm4
0830  vextracti128 xmm4,ymm5,1
0836  add r12,10h
083a  shr r13,4
083e  mov rbp,r13
0841  and rbp,2
0845  je near 85Dh
084b  vmovq [r12],xmm4
0851  vunpckhpd xmm4,xmm4,xmm4
0855  add r12,8
0859  shr r13,2
085d  mov rbp,r13
0860  and rbp,1
0864  je near 870h
086a  vmovd [r12],xmm4
0870  add rbx,rsi
0873  cmp r10,5
0877  jle near 8F9h
087d  vmovmskps ebp,ymm1
0881  cmp rbp,0FFh
0888  jne near 892h
088e  vmovups [rbx],ymm0
0892  cmp rbp,0FFh
0899  je near 8F9h
089f  lea r12,[rbx]
08a2  mov r13,rbp
08a5  vmovups xmm4,xmm0
08a9  and rbp,8
08ad  je near 8C7h
08b3  vmovups [r12],xmm4
08b9  vextracti128 xmm4,ymm0,1
08bf  add r12,10h
08c3  shr r13,4
08c7  mov rbp,r13
08ca  and rbp,2
08ce  je near 8E6h
08d4  vmovq [r12],xmm4
08da  vunpckhpd xmm4,xmm4,xmm4
08de  add r12,8
08e2  shr r13,2
08e6  mov rbp,r13
08e9  and rbp,1
08ed  je near 8F9h
08f3  vmovd [r12],xmm4
08f9  add rbx,rsi
08fc  cmp r10,6
0900  jle near 982h
0906  vmovmskps ebp,ymm1
090a  cmp rbp,0FFh
0911  jne near 91Bh
0917  vmovups [rbx],ymm3
091b  cmp rbp,0FFh
0922  je near 982h
0928  lea r12,[rbx]
092b  mov r13,rbp
092e  vmovups xmm0,xmm3
0932  and rbp,8
0936  je near 950h
093c  vmovups [r12],xmm0
0942  vextracti128 xmm0,ymm3,1
0948  add r12,10h
094c  shr r13,4
0950  mov rbp,r13
0953  and rbp,2
0957  je near 96Fh
095d  vmovq [r12],xmm0
0963  vunpckhpd xmm0,xmm0,xmm0
0967  add r12,8
096b  shr r13,2
096f  mov rbp,r13
0972  and rbp,1
0976  je near 982h
097c  vmovd [r12],xmm0
0982  add rbx,rsi
0985  cmp r10,7
0989  jle near 0A0Bh
098f  vmovmskps ebp,ymm1
0993  cmp rbp,0FFh
099a  jne near 9A4h
09a0  vmovups [rbx],ymm2
09a4  cmp rbp,0FFh
09ab  je near 0A0Bh
09b1  lea r12,[rbx]
09b4  mov r13,rbp
09b7  vmovups xmm0,xmm2
09bb  and rbp,8
09bf  je near 9D9h
09c5  vmovups [r12],xmm0
09cb  vextracti128 xmm0,ymm2,1
09d1  add r12,10h
09d5  shr r13,4
09d9  mov rbp,r13
09dc  and rbp,2
09e0  je near 9F8h
09e6  vmovq [r12],xmm0
09ec  vunpckhpd xmm0,xmm0,xmm0
09f0  add r12,8
09f4  shr r13,2
09f8  mov rbp,r13
09fb  and rbp,1
09ff  je near 0A0Bh
0a05  vmovd [r12],xmm0
0a0b  add rbx,rsi
0a0e  mov rbx,[rdi+10h]
0a12  add rax,rbx
0a15  mov rbx,[rdi+28h]
0a19  add rcx,rbx
0a1c  mov rbx,[rdi+58h]
0a20  mov rbp,[rdi+68h]
0a24  sub r9,rbx
0a27  sub r10,rbp
0a2a  sub r11,rbx
0a2d  dec r8
0a30  jne near 440h
0a36  pop r13
0a38  pop r12
0a3a  pop rbp
0a3b  pop rbx
0a3c  vzeroupper
0a3f  ret
