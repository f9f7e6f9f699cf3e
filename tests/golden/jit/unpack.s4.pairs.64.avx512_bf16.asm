; 62 instructions, 409 bytes, 0 spills, 0 of them in inner loops
0000  vmovups zmm0,[rel 1C0h]
000a  mov rax,[rdi]
000d  mov rcx,[rdi+8]
0011  mov rdx,[rdi+10h]
0015  mov rsi,[rdi+18h]
0019  mov rdi,[rdi+20h]
001d  test rdx,rdx
0020  jle near 195h
0026  nop word [rax+rax]
002f  nop word [rax+rax]
0038  nop dword [rax+rax]
0040  vmovups zmm1,[rax]
0046  vpermw zmm2,zmm1,zmm0
004c  vmovups [rcx],zmm2
0052  vpsrlw zmm2,zmm1,4
0059  vpermw zmm2,zmm2,zmm0
005f  vmovups [rcx+100h],zmm2
0066  vpsrlw zmm2,zmm1,8
006d  vpermw zmm2,zmm2,zmm0
0073  vmovups [rcx+200h],zmm2
007a  vpsrlw zmm1,zmm1,0Ch
0081  vpermw zmm1,zmm1,zmm0
0087  vmovups [rcx+300h],zmm1
008e  vmovups zmm1,[rax+40h]
0095  vpermw zmm2,zmm1,zmm0
009b  vmovups [rcx+40h],zmm2
00a2  vpsrlw zmm2,zmm1,4
00a9  vpermw zmm2,zmm2,zmm0
00af  vmovups [rcx+140h],zmm2
00b6  vpsrlw zmm2,zmm1,8
00bd  vpermw zmm2,zmm2,zmm0
00c3  vmovups [rcx+240h],zmm2
00ca  vpsrlw zmm1,zmm1,0Ch
00d1  vpermw zmm1,zmm1,zmm0
00d7  vmovups [rcx+340h],zmm1
00de  vmovups zmm1,[rax+80h]
00e5  vpermw zmm2,zmm1,zmm0
00eb  vmovups [rcx+80h],zmm2
00f2  vpsrlw zmm2,zmm1,4
00f9  vpermw zmm2,zmm2,zmm0
00ff  vmovups [rcx+180h],zmm2
0106  vpsrlw zmm2,zmm1,8
010d  vpermw zmm2,zmm2,zmm0
0113  vmovups [rcx+280h],zmm2
011a  vpsrlw zmm1,zmm1,0Ch
0121  vpermw zmm1,zmm1,zmm0
0127  vmovups [rcx+380h],zmm1
012e  vmovups zmm1,[rax+0C0h]
0135  vpermw zmm2,zmm1,zmm0
013b  vmovups [rcx+0C0h],zmm2
0142  vpsrlw zmm2,zmm1,4
0149  vpermw zmm2,zmm2,zmm0
014f  vmovups [rcx+1C0h],zmm2
0156  vpsrlw zmm2,zmm1,8
015d  vpermw zmm2,zmm2,zmm0
0163  vmovups [rcx+2C0h],zmm2
016a  vpsrlw zmm1,zmm1,0Ch
0171  vpermw zmm1,zmm1,zmm0
0177  vmovups [rcx+3C0h],zmm1
017e  add rax,100h
0185  add rcx,400h
018c  dec rdx
018f  jne near 40h
0195  vzeroupper
0198  ret
