; 342 instructions, 1868 bytes, 18 spills, 0 of them in inner loops
0000  push rbx
0001  push rbp
0002  push r12
0004  push r13
0006  push r14
0008  push r15
000a  sub rsp,140h
0011  mov rax,[rdi+58h]
0015  vmovd xmm0,eax
0019  vpbroadcastd ymm0,xmm0
001e  vpcmpgtd ymm0,ymm0,[rel 760h]
0026  mov rax,[rdi+50h]
002a  mov rcx,[rdi]
002d  mov rdx,[rdi+8]
0031  mov [rsp],rdx
0035  nop word [rax+rax]
003e  xchg ax,ax
0040  mov rdx,rcx
0043  mov esi,0
0048  mov [rsp+100h],rsi
0050  mov rsi,[rcx+8]
0054  mov [rsp+40h],rsi
0059  nop word [rax+rax]
0062  nop word [rax+rax]
006b  nop word [rax+rax]
0074  nop word [rax+rax]
007d  nop dword [rax]
0080  mov rsi,[rdi+20h]
0084  mov r8d,0
008a  mov [rsp+0C0h],r8
0092  mov r8,[rdi+10h]
0096  mov [rsp+80h],r8
009e  nop word [rax+rax]
00a7  nop word [rax+rax]
00b0  nop word [rax+rax]
00b9  nop dword [rax]
00c0  vpxor ymm1,ymm1,ymm1
00c4  vpxor ymm2,ymm2,ymm2
00c8  vpxor ymm3,ymm3,ymm3
00cc  vpxor ymm4,ymm4,ymm4
00d0  vpxor ymm5,ymm5,ymm5
00d4  vpxor ymm6,ymm6,ymm6
00d8  vpxor ymm7,ymm7,ymm7
00dc  vpxor ymm8,ymm8,ymm8
00e1  vpxor ymm9,ymm9,ymm9
00e6  vpxor ymm10,ymm10,ymm10
00eb  vpxor ymm11,ymm11,ymm11
00f0  vpxor ymm12,ymm12,ymm12
00f5  mov rdx,rcx
00f8  mov r8,[rcx]
00fb  add rdx,58h
00ff  test r8,r8
0102  jle near 382h
0108  nop word [rax+rax]
0111  nop word [rax+rax]
011a  nop word [rax+rax]
0123  nop word [rax+rax]
012c  nop word [rax+rax]
0135  nop word [rax+rax]
013e  xchg ax,ax
0140  mov r9,[rdx]
0143  add r9,rsi
0146  mov r10,[rdx+8]
014a  mov r11,[rdx+10h]
014e  mov rbx,[rdx+18h]
0152  mov rbp,[rdx+20h]
0156  mov r12,[rdx+28h]
015a  mov r13,[rdx+30h]
015e  add rdx,38h
0162  mov r14,[rcx+18h]
0166  mov r15,[rsp+100h]
016e  imul r14,r15
0172  mov r15,[rdi+30h]
0176  add r14,r15
0179  mov r15,[rdi+18h]
017d  shr r15,1
0181  test r15,r15
0184  jle near 2B1h
018a  nop word [rax+rax]
0193  nop word [rax+rax]
019c  nop word [rax+rax]
01a5  nop word [rax+rax]
01ae  nop word [rax+rax]
01b7  nop word [rax+rax]
01c0  vmovups ymm13,[r9]
01c5  vmaskmovps ymm14,ymm0,[r9+20h]
01cb  vpbroadcastd ymm15,[r10+r14]
01d1  vfmadd231ps ymm1,ymm15,ymm13
01d6  vfmadd231ps ymm2,ymm15,ymm14
01db  vpbroadcastd ymm15,[r11+r14]
01e1  vfmadd231ps ymm3,ymm15,ymm13
01e6  vfmadd231ps ymm4,ymm15,ymm14
01eb  vpbroadcastd ymm15,[rbx+r14]
01f1  vfmadd231ps ymm5,ymm15,ymm13
01f6  vfmadd231ps ymm6,ymm15,ymm14
01fb  vpbroadcastd ymm15,[rbp+r14]
0202  vfmadd231ps ymm7,ymm15,ymm13
0207  vfmadd231ps ymm8,ymm15,ymm14
020c  vpbroadcastd ymm15,[r12+r14]
0212  vfmadd231ps ymm9,ymm15,ymm13
0217  vfmadd231ps ymm10,ymm15,ymm14
021c  vpbroadcastd ymm15,[r13+r14]
0223  vfmadd231ps ymm11,ymm15,ymm13
0228  vfmadd231ps ymm12,ymm15,ymm14
022d  add r9,rax
0230  vmovups ymm13,[r9]
0235  vmaskmovps ymm14,ymm0,[r9+20h]
023b  vpbroadcastd ymm15,[r10+r14+4]
0242  vfmadd231ps ymm1,ymm15,ymm13
0247  vfmadd231ps ymm2,ymm15,ymm14
024c  vpbroadcastd ymm15,[r11+r14+4]
0253  vfmadd231ps ymm3,ymm15,ymm13
0258  vfmadd231ps ymm4,ymm15,ymm14
025d  vpbroadcastd ymm15,[rbx+r14+4]
0264  vfmadd231ps ymm5,ymm15,ymm13
0269  vfmadd231ps ymm6,ymm15,ymm14
026e  vpbroadcastd ymm15,[rbp+r14+4]
0275  vfmadd231ps ymm7,ymm15,ymm13
027a  vfmadd231ps ymm8,ymm15,ymm14
027f  vpbroadcastd ymm15,[r12+r14+4]
0286  vfmadd231ps ymm9,ymm15,ymm13
028b  vfmadd231ps ymm10,ymm15,ymm14
0290  vpbroadcastd ymm15,[r13+r14+4]
0297  vfmadd231ps ymm11,ymm15,ymm13
029c  vfmadd231ps ymm12,ymm15,ymm14
02a1  add r9,rax
02a4  add r14,8
02a8  dec r15
02ab  jne near 1C0h
02b1  mov r15,[rdi+18h]
02b5  and r15,1
02b9  test r15,r15
02bc  jle near 379h
02c2  nop word [rax+rax]
02cb  nop word [rax+rax]
02d4  nop word [rax+rax]
02dd  nop word [rax+rax]
02e6  nop word [rax+rax]
02ef  nop word [rax+rax]
02f8  nop dword [rax+rax]
0300  vmovups ymm13,[r9]
0305  vmaskmovps ymm14,ymm0,[r9+20h]
030b  vpbroadcastd ymm15,[r10+r14]
0311  vfmadd231ps ymm1,ymm15,ymm13
0316  vfmadd231ps ymm2,ymm15,ymm14
031b  vpbroadcastd ymm15,[r11+r14]
0321  vfmadd231ps ymm3,ymm15,ymm13
0326  vfmadd231ps ymm4,ymm15,ymm14
032b  vpbroadcastd ymm15,[rbx+r14]
0331  vfmadd231ps ymm5,ymm15,ymm13
0336  vfmadd231ps ymm6,ymm15,ymm14
033b  vpbroadcastd ymm15,[rbp+r14]
0342  vfmadd231ps ymm7,ymm15,ymm13
0347  vfmadd231ps ymm8,ymm15,ymm14
034c  vpbroadcastd ymm15,[r12+r14]
0352  vfmadd231ps ymm9,ymm15,ymm13
0357  vfmadd231ps ymm10,ymm15,ymm14
035c  vpbroadcastd ymm15,[r13+r14]
0363  vfmadd231ps ymm11,ymm15,ymm13
0368  vfmadd231ps ymm12,ymm15,ymm14
036d  add r9,rax
0370  add r14,4
0374  dec r15
0377  jne short 300h
0379  dec r8
037c  jne near 140h
0382  mov r8,[rdi+38h]
0386  mov r9,[rcx+10h]
038a  mov r10,[rdi+40h]
038e  mov r11,[rsp+100h]
0396  imul r10,r11
039a  add r8,r9
039d  add r8,r10
03a0  mov r9,[rsp+0C0h]
03a8  lea r8,[r8+r9*4]
03ac  mov r9,[rdi+40h]
03b0  vmovups [r8],ymm1
03b5  vmovmskps r10d,ymm0
03b9  cmp r10,0FFh
03c0  jne near 3CCh
03c6  vmovups [r8+20h],ymm2
03cc  cmp r10,0FFh
03d3  je near 431h
03d9  lea r11,[r8+20h]
03dd  mov rbx,r10
03e0  vmovups xmm1,xmm2
03e4  and r10,8
03e8  je near 401h
03ee  vmovups [r11],xmm1
03f3  vextracti128 xmm1,ymm2,1
03f9  add r11,10h
03fd  shr rbx,4
0401  mov r10,rbx
0404  and r10,2
0408  je near 41Fh
040e  vmovq [r11],xmm1
0413  vunpckhpd xmm1,xmm1,xmm1
0417  add r11,8
041b  shr rbx,2
041f  mov r10,rbx
0422  and r10,1
0426  je near 431h
042c  vmovd [r11],xmm1
0431  add r8,r9
0434  vmovups [r8],ymm3
0439  vmovmskps r10d,ymm0
043d  cmp r10,0FFh
0444  jne near 450h
044a  vmovups [r8+20h],ymm4
0450  cmp r10,0FFh
0457  je near 4B5h
045d  lea r11,[r8+20h]
0461  mov rbx,r10
0464  vmovups xmm1,xmm4
0468  and r10,8
046c  je near 485h
0472  vmovups [r11],xmm1
0477  vextracti128 xmm1,ymm4,1
047d  add r11,10h
0481  shr rbx,4
0485  mov r10,rbx
0488  and r10,2
048c  je near 4A3h
0492  vmovq [r11],xmm1
0497  vunpckhpd xmm1,xmm1,xmm1
049b  add r11,8
049f  shr rbx,2
04a3  mov r10,rbx
04a6  and r10,1
04aa  je near 4B5h
04b0  vmovd [r11],xmm1
04b5  add r8,r9
04b8  vmovups [r8],ymm5
04bd  vmovmskps r10d,ymm0
04c1  cmp r10,0FFh
04c8  jne near 4D4h
04ce  vmovups [r8+20h],ymm6
04d4  cmp r10,0FFh
04db  je near 539h
04e1  lea r11,[r8+20h]
04e5  mov rbx,r10
04e8  vmovups xmm1,xmm6
04ec  and r10,8
04f0  je near 509h
04f6  vmovups [r11],xmm1
04fb  vextracti128 xmm1,ymm6,1
0501  add r11,10h
0505  shr rbx,4
0509  mov r10,rbx
050c  and r10,2
0510  je near 527h
0516  vmovq [r11],xmm1
051b  vunpckhpd xmm1,xmm1,xmm1
051f  add r11,8
0523  shr rbx,2
0527  mov r10,rbx
052a  and r10,1
052e  je near 539h
0534  vmovd [r11],xmm1
0539  add r8,r9
053c  vmovups [r8],ymm7
0541  vmovmskps r10d,ymm0
0545  cmp r10,0FFh
054c  jne near 558h
0552  vmovups [r8+20h],ymm8
0558  cmp r10,0FFh
055f  je near 5BEh
0565  lea r11,[r8+20h]
0569  mov rbx,r10
056c  vmovups xmm1,xmm8
0571  and r10,8
0575  je near 58Eh
057b  vmovups [r11],xmm1
0580  vextracti128 xmm1,ymm8,1
0586  add r11,10h
058a  shr rbx,4
058e  mov r10,rbx
0591  and r10,2
0595  je near 5ACh
059b  vmovq [r11],xmm1
05a0  vunpckhpd xmm1,xmm1,xmm1
05a4  add r11,8
05a8  shr rbx,2
05ac  mov r10,rbx
05af  and r10,1
05b3  je near 5BEh
05b9  vmovd [r11],xmm1
05be  add r8,r9
05c1  vmovups [r8],ymm9
05c6  vmovmskps r10d,ymm0
05ca  cmp r10,0FFh
05d1  jne near 5DDh
05d7  vmovups [r8+20h],ymm10
05dd  cmp r10,0FFh
05e4  je near 643h
05ea  lea r11,[r8+20h]
05ee  mov rbx,r10
05f1  vmovups xmm1,xmm10
05f6  and r10,8
05fa  je near 613h
0600  vmovups [r11],xmm1
0605  vextracti128 xmm1,ymm10,1
060b  add r11,10h
060f  shr rbx,4
0613  mov r10,rbx
0616  and r10,2
061a  je near 631h
0620  vmovq [r11],xmm1
0625  vunpckhpd xmm1,xmm1,xmm1
0629  add r11,8
062d  shr rbx,2
0631  mov r10,rbx
0634  and r10,1
0638  je near 643h
063e  vmovd [r11],xmm1
0643  add r8,r9
0646  vmovups [r8],ymm11
064b  vmovmskps r9d,ymm0
064f  cmp r9,0FFh
0656  jne near 662h
065c  vmovups [r8+20h],ymm12
0662  cmp r9,0FFh
0669  je near 6C8h
066f  lea r8,[r8+20h]
0673  mov r10,r9
0676  vmovups xmm1,xmm12
067b  and r9,8
067f  je near 698h
0685  vmovups [r8],xmm1
068a  vextracti128 xmm1,ymm12,1
0690  add r8,10h
0694  shr r10,4
0698  mov r9,r10
069b  and r9,2
069f  je near 6B6h
06a5  vmovq [r8],xmm1
06aa  vunpckhpd xmm1,xmm1,xmm1
06ae  add r8,8
06b2  shr r10,2
06b6  mov r9,r10
06b9  and r9,1
06bd  je near 6C8h
06c3  vmovd [r8],xmm1
06c8  mov r8,[rdi+28h]
06cc  add rsi,r8
06cf  mov r8,[rsp+0C0h]
06d7  add r8,10h
06db  mov [rsp+0C0h],r8
06e3  mov r8,[rsp+80h]
06eb  dec r8
06ee  mov [rsp+80h],r8
06f6  jne near 0C0h
06fc  mov rsi,[rsp+100h]
0704  add rsi,6
0708  mov [rsp+100h],rsi
0710  mov rsi,[rsp+40h]
0715  dec rsi
0718  mov [rsp+40h],rsi
071d  jne near 80h
0723  mov rcx,rdx
0726  mov rdx,[rsp]
072a  dec rdx
072d  mov [rsp],rdx
0731  jne near 40h
0737  add rsp,140h
073e  pop r15
0740  pop r14
0742  pop r13
0744  pop r12
0746  pop rbp
0747  pop rbx
0748  vzeroupper
074b  ret
