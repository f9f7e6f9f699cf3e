; 37 instructions, 213 bytes, 0 spills, 0 of them in inner loops
0000  push rbx
0001  mov rax,[rdi]
0004  mov rcx,[rdi+28h]
0008  mov rdx,[rdi+30h]
000c  mov rsi,[rdi+10h]
0010  mov r8,[rdi+20h]
0014  vpbroadcastd zmm0,r8d
001a  vpcmpnled k1,zmm0,[rel 100h]
0025  mov r9,[rdi+8]
0029  nop word [rax+rax]
0032  nop word [rax+rax]
003b  nop dword [rax+rax]
0040  mov r10,[rax]
0043  mov r11,rcx
0046  mov rbx,[rdi+18h]
004a  add r10,rsi
004d  test rbx,rbx
0050  jle near 99h
0056  nop word [rax+rax]
005f  nop word [rax+rax]
0068  nop word [rax+rax]
0071  nop word [rax+rax]
007a  nop word [rax+rax]
0080  vmovups zmm0,[r10]
0086  vmovups [r11],zmm0
008c  add r10,40h
0090  add r11,40h
0094  dec rbx
0097  jne short 80h
0099  vmovups zmm0{k1}{z},[r10]
009f  vmovups [r11],zmm0
00a5  lea r10,[r10+r8*4]
00a9  lea r11,[r11+r8*4]
00ad  movzx ebx,byte [r10+2]
00b2  shl rbx,10h
00b6  movzx r10d,word [r10]
00ba  add r10,rbx
00bd  mov [r11],r10
00c0  add rax,8
00c4  add rcx,rdx
00c7  dec r9
00ca  jne near 40h
00d0  pop rbx
00d1  vzeroupper
00d4  ret
