; 28 instructions, 181 bytes, 0 spills, 0 of them in inner loops
0000  mov rax,[rdi]
0003  mov rcx,[rdi+28h]
0007  mov rdx,[rdi+30h]
000b  mov rsi,[rdi+10h]
000f  mov r8,[rdi+20h]
0013  vpbroadcastd zmm0,r8d
0019  vpcmpnled k1,zmm0,[rel 0C0h]
0024  mov r8,[rdi+8]
0028  nop word [rax+rax]
0031  nop word [rax+rax]
003a  nop word [rax+rax]
0040  mov r9,[rax]
0043  mov r10,rcx
0046  mov r11,[rdi+18h]
004a  add r9,rsi
004d  test r11,r11
0050  jle near 99h
0056  nop word [rax+rax]
005f  nop word [rax+rax]
0068  nop word [rax+rax]
0071  nop word [rax+rax]
007a  nop word [rax+rax]
0080  vmovups zmm0,[r9]
0086  vmovups [r10],zmm0
008c  add r9,40h
0090  add r10,40h
0094  dec r11
0097  jne short 80h
0099  vmovups zmm0{k1}{z},[r9]
009f  vmovups [r10],zmm0
00a5  add rax,8
00a9  add rcx,rdx
00ac  dec r8
00af  jne short 40h
00b1  vzeroupper
00b4  ret
