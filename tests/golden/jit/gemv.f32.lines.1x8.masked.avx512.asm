; 77 instructions, 433 bytes, 0 spills, 0 of them in inner loops
0000  push rbx
0001  mov rax,[rdi+48h]
0005  vpbroadcastd zmm0,eax
000b  vpcmpnled k1,zmm0,[rel 1C0h]
0016  mov rax,[rdi]
0019  mov rcx,[rdi+8]
001d  mov rdx,[rdi+20h]
0021  lea rsi,[rdx+rdx*2]
0025  mov r8,rcx
0028  lea r9,[rcx+rdx*4]
002c  add r9,rdx
002f  mov r10,[rdi+30h]
0033  test r10,r10
0036  jle near 1ACh
003c  nop dword [rax]
0040  mov r11,[rdi+10h]
0044  mov r8,rcx
0047  lea rbx,[rcx+rdx*4]
004b  mov r9,rbx
004e  add r9,rdx
0051  mov rbx,[rdi+38h]
0055  test rbx,rbx
0058  jle near 10Eh
005e  nop word [rax+rax]
0067  nop word [rax+rax]
0070  nop word [rax+rax]
0079  nop dword [rax]
0080  vmovups zmm0,[r8]
0086  vmovups zmm1,[r8+rdx]
008d  vmovups zmm2,[r8+rdx*2]
0094  vmovups zmm3,[r8+rsi]
009b  vmovups zmm4,[r8+rdx*4]
00a2  vmovups zmm5,[r9]
00a8  vmovups zmm6,[r9+rdx]
00af  vmovups zmm7,[r9+rdx*2]
00b6  vmovups zmm8,[r11]
00bc  vfmadd231ps zmm8,zmm0,[rax]{1to16}
00c2  vfmadd231ps zmm8,zmm1,[rax+4]{1to16}
00c9  vfmadd231ps zmm8,zmm2,[rax+8]{1to16}
00d0  vfmadd231ps zmm8,zmm3,[rax+0Ch]{1to16}
00d7  vfmadd231ps zmm8,zmm4,[rax+10h]{1to16}
00de  vfmadd231ps zmm8,zmm5,[rax+14h]{1to16}
00e5  vfmadd231ps zmm8,zmm6,[rax+18h]{1to16}
00ec  vfmadd231ps zmm8,zmm7,[rax+1Ch]{1to16}
00f3  vmovups [r11],zmm8
00f9  add r11,40h
00fd  add r8,40h
0101  add r9,40h
0105  dec rbx
0108  jne near 80h
010e  vmovups zmm0{k1}{z},[r8]
0114  vmovups zmm1{k1}{z},[r8+rdx]
011b  vmovups zmm2{k1}{z},[r8+rdx*2]
0122  vmovups zmm3{k1}{z},[r8+rsi]
0129  vmovups zmm4{k1}{z},[r8+rdx*4]
0130  vmovups zmm5{k1}{z},[r9]
0136  vmovups zmm6{k1}{z},[r9+rdx]
013d  vmovups zmm7{k1}{z},[r9+rdx*2]
0144  vmovups zmm8,[r11]
014a  vfmadd231ps zmm8,zmm0,[rax]{1to16}
0150  vfmadd231ps zmm8,zmm1,[rax+4]{1to16}
0157  vfmadd231ps zmm8,zmm2,[rax+8]{1to16}
015e  vfmadd231ps zmm8,zmm3,[rax+0Ch]{1to16}
0165  vfmadd231ps zmm8,zmm4,[rax+10h]{1to16}
016c  vfmadd231ps zmm8,zmm5,[rax+14h]{1to16}
0173  vfmadd231ps zmm8,zmm6,[rax+18h]{1to16}
017a  vfmadd231ps zmm8,zmm7,[rax+1Ch]{1to16}
0181  vmovups [r11],zmm8
0187  add rcx,rdx
018a  add rcx,rdx
018d  add rcx,rdx
0190  add rcx,rdx
0193  add rcx,rdx
0196  add rcx,rdx
0199  add rcx,rdx
019c  add rcx,rdx
019f  add rax,20h
01a3  dec r10
01a6  jne near 40h
01ac  pop rbx
01ad  vzeroupper
01b0  ret
