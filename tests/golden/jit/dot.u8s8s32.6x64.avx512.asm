; 758 instructions, 4760 bytes, 18 spills, 0 of them in inner loops
0000  push rbx
0001  push rbp
0002  push r12
0004  push r13
0006  push r14
0008  push r15
000a  sub rsp,140h
0011  mov rax,[rdi]
0014  mov rcx,[rdi+8]
0018  mov [rsp],rcx
001c  nop word [rax+rax]
0025  nop word [rax+rax]
002e  nop word [rax+rax]
0037  nop word [rax+rax]
0040  mov rcx,rax
0043  mov edx,0
0048  mov [rsp+100h],rdx
0050  mov rdx,[rax+8]
0054  mov [rsp+40h],rdx
0059  nop word [rax+rax]
0062  nop word [rax+rax]
006b  nop word [rax+rax]
0074  nop word [rax+rax]
007d  nop dword [rax]
0080  mov rdx,[rdi+20h]
0084  mov esi,0
0089  mov [rsp+0C0h],rsi
0091  mov rsi,[rdi+10h]
0095  mov [rsp+80h],rsi
009d  nop word [rax+rax]
00a6  nop word [rax+rax]
00af  nop word [rax+rax]
00b8  nop dword [rax+rax]
00c0  vpxord zmm0,zmm0,zmm0
00c6  vpxord zmm1,zmm1,zmm1
00cc  vpxord zmm2,zmm2,zmm2
00d2  vpxord zmm3,zmm3,zmm3
00d8  vpxord zmm4,zmm4,zmm4
00de  vpxord zmm5,zmm5,zmm5
00e4  vpxord zmm6,zmm6,zmm6
00ea  vpxord zmm7,zmm7,zmm7
00f0  vpxord zmm8,zmm8,zmm8
00f6  vpxord zmm9,zmm9,zmm9
00fc  vpxord zmm10,zmm10,zmm10
0102  vpxord zmm11,zmm11,zmm11
0108  vpxord zmm12,zmm12,zmm12
010e  vpxord zmm13,zmm13,zmm13
0114  vpxord zmm14,zmm14,zmm14
011a  vpxord zmm15,zmm15,zmm15
0120  vpxord zmm16,zmm16,zmm16
0126  vpxord zmm17,zmm17,zmm17
012c  vpxord zmm18,zmm18,zmm18
0132  vpxord zmm19,zmm19,zmm19
0138  vpxord zmm20,zmm20,zmm20
013e  vpxord zmm21,zmm21,zmm21
0144  vpxord zmm22,zmm22,zmm22
014a  vpxord zmm23,zmm23,zmm23
0150  mov rcx,rax
0153  mov rsi,[rax]
0156  add rcx,58h
015a  test rsi,rsi
015d  jle near 1135h
0163  nop word [rax+rax]
016c  nop word [rax+rax]
0175  nop word [rax+rax]
017e  xchg ax,ax
0180  mov r8,[rcx]
0183  add r8,rdx
0186  mov r9,[rcx+8]
018a  mov r10,[rcx+10h]
018e  mov r11,[rcx+18h]
0192  mov rbx,[rcx+20h]
0196  mov rbp,[rcx+28h]
019a  mov r12,[rcx+30h]
019e  add rcx,38h
01a2  mov r13,[rax+18h]
01a6  mov r14,[rsp+100h]
01ae  imul r13,r14
01b2  mov r14,[rdi+30h]
01b6  add r13,r14
01b9  mov r14,[rdi+18h]
01bd  shr r14,1
01c1  test r14,r14
01c4  jle near 92Ch
01ca  nop word [rax+rax]
01d3  nop word [rax+rax]
01dc  nop word [rax+rax]
01e5  nop word [rax+rax]
01ee  nop word [rax+rax]
01f7  nop word [rax+rax]
0200  vmovups zmm24,[r8]
0206  vpsllw zmm24,zmm24,8
020d  vpsraw zmm24,zmm24,8
0214  vmovups zmm25,[r8+40h]
021b  vpsllw zmm25,zmm25,8
0222  vpsraw zmm25,zmm25,8
0229  vmovups zmm26,[r8+80h]
0230  vpsllw zmm26,zmm26,8
0237  vpsraw zmm26,zmm26,8
023e  vmovups zmm27,[r8+0C0h]
0245  vpsllw zmm27,zmm27,8
024c  vpsraw zmm27,zmm27,8
0253  vpbroadcastd zmm28,[r9+r13]
025a  vpandd zmm28,zmm28,[rel 12C0h]
0264  vpmaddwd zmm29,zmm28,zmm24
026a  vpaddd zmm0,zmm0,zmm29
0270  vpmaddwd zmm29,zmm28,zmm25
0276  vpaddd zmm1,zmm1,zmm29
027c  vpmaddwd zmm29,zmm28,zmm26
0282  vpaddd zmm2,zmm2,zmm29
0288  vpmaddwd zmm28,zmm28,zmm27
028e  vpaddd zmm3,zmm3,zmm28
0294  vpbroadcastd zmm28,[r10+r13]
029b  vpandd zmm28,zmm28,[rel 12C0h]
02a5  vpmaddwd zmm29,zmm28,zmm24
02ab  vpaddd zmm4,zmm4,zmm29
02b1  vpmaddwd zmm29,zmm28,zmm25
02b7  vpaddd zmm5,zmm5,zmm29
02bd  vpmaddwd zmm29,zmm28,zmm26
02c3  vpaddd zmm6,zmm6,zmm29
02c9  vpmaddwd zmm28,zmm28,zmm27
02cf  vpaddd zmm7,zmm7,zmm28
02d5  vpbroadcastd zmm28,[r11+r13]
02dc  vpandd zmm28,zmm28,[rel 12C0h]
02e6  vpmaddwd zmm29,zmm28,zmm24
02ec  vpaddd zmm8,zmm8,zmm29
02f2  vpmaddwd zmm29,zmm28,zmm25
02f8  vpaddd zmm9,zmm9,zmm29
02fe  vpmaddwd zmm29,zmm28,zmm26
0304  vpaddd zmm10,zmm10,zmm29
030a  vpmaddwd zmm28,zmm28,zmm27
0310  vpaddd zmm11,zmm11,zmm28
0316  vpbroadcastd zmm28,[rbx+r13]
031d  vpandd zmm28,zmm28,[rel 12C0h]
0327  vpmaddwd zmm29,zmm28,zmm24
032d  vpaddd zmm12,zmm12,zmm29
0333  vpmaddwd zmm29,zmm28,zmm25
0339  vpaddd zmm13,zmm13,zmm29
033f  vpmaddwd zmm29,zmm28,zmm26
0345  vpaddd zmm14,zmm14,zmm29
034b  vpmaddwd zmm28,zmm28,zmm27
0351  vpaddd zmm15,zmm15,zmm28
0357  vpbroadcastd zmm28,[rbp+r13]
035f  vpandd zmm28,zmm28,[rel 12C0h]
0369  vpmaddwd zmm29,zmm28,zmm24
036f  vpaddd zmm16,zmm16,zmm29
0375  vpmaddwd zmm29,zmm28,zmm25
037b  vpaddd zmm17,zmm17,zmm29
0381  vpmaddwd zmm29,zmm28,zmm26
0387  vpaddd zmm18,zmm18,zmm29
038d  vpmaddwd zmm28,zmm28,zmm27
0393  vpaddd zmm19,zmm19,zmm28
0399  vpbroadcastd zmm28,[r12+r13]
03a0  vpandd zmm28,zmm28,[rel 12C0h]
03aa  vpmaddwd zmm24,zmm28,zmm24
03b0  vpaddd zmm20,zmm20,zmm24
03b6  vpmaddwd zmm24,zmm28,zmm25
03bc  vpaddd zmm21,zmm21,zmm24
03c2  vpmaddwd zmm24,zmm28,zmm26
03c8  vpaddd zmm22,zmm22,zmm24
03ce  vpmaddwd zmm24,zmm28,zmm27
03d4  vpaddd zmm23,zmm23,zmm24
03da  vmovups zmm24,[r8]
03e0  vpsraw zmm24,zmm24,8
03e7  vmovups zmm25,[r8+40h]
03ee  vpsraw zmm25,zmm25,8
03f5  vmovups zmm26,[r8+80h]
03fc  vpsraw zmm26,zmm26,8
0403  vmovups zmm27,[r8+0C0h]
040a  vpsraw zmm27,zmm27,8
0411  vpbroadcastd zmm28,[r9+r13]
0418  vpsrlw zmm28,zmm28,8
041f  vpmaddwd zmm29,zmm28,zmm24
0425  vpaddd zmm0,zmm0,zmm29
042b  vpmaddwd zmm29,zmm28,zmm25
0431  vpaddd zmm1,zmm1,zmm29
0437  vpmaddwd zmm29,zmm28,zmm26
043d  vpaddd zmm2,zmm2,zmm29
0443  vpmaddwd zmm28,zmm28,zmm27
0449  vpaddd zmm3,zmm3,zmm28
044f  vpbroadcastd zmm28,[r10+r13]
0456  vpsrlw zmm28,zmm28,8
045d  vpmaddwd zmm29,zmm28,zmm24
0463  vpaddd zmm4,zmm4,zmm29
0469  vpmaddwd zmm29,zmm28,zmm25
046f  vpaddd zmm5,zmm5,zmm29
0475  vpmaddwd zmm29,zmm28,zmm26
047b  vpaddd zmm6,zmm6,zmm29
0481  vpmaddwd zmm28,zmm28,zmm27
0487  vpaddd zmm7,zmm7,zmm28
048d  vpbroadcastd zmm28,[r11+r13]
0494  vpsrlw zmm28,zmm28,8
049b  vpmaddwd zmm29,zmm28,zmm24
04a1  vpaddd zmm8,zmm8,zmm29
04a7  vpmaddwd zmm29,zmm28,zmm25
04ad  vpaddd zmm9,zmm9,zmm29
04b3  vpmaddwd zmm29,zmm28,zmm26
04b9  vpaddd zmm10,zmm10,zmm29
04bf  vpmaddwd zmm28,zmm28,zmm27
04c5  vpaddd zmm11,zmm11,zmm28
04cb  vpbroadcastd zmm28,[rbx+r13]
04d2  vpsrlw zmm28,zmm28,8
04d9  vpmaddwd zmm29,zmm28,zmm24
04df  vpaddd zmm12,zmm12,zmm29
04e5  vpmaddwd zmm29,zmm28,zmm25
04eb  vpaddd zmm13,zmm13,zmm29
04f1  vpmaddwd zmm29,zmm28,zmm26
04f7  vpaddd zmm14,zmm14,zmm29
04fd  vpmaddwd zmm28,zmm28,zmm27
0503  vpaddd zmm15,zmm15,zmm28
0509  vpbroadcastd zmm28,[rbp+r13]
0511  vpsrlw zmm28,zmm28,8
0518  vpmaddwd zmm29,zmm28,zmm24
051e  vpaddd zmm16,zmm16,zmm29
0524  vpmaddwd zmm29,zmm28,zmm25
052a  vpaddd zmm17,zmm17,zmm29
0530  vpmaddwd zmm29,zmm28,zmm26
0536  vpaddd zmm18,zmm18,zmm29
053c  vpmaddwd zmm28,zmm28,zmm27
0542  vpaddd zmm19,zmm19,zmm28
0548  vpbroadcastd zmm28,[r12+r13]
054f  vpsrlw zmm28,zmm28,8
0556  vpmaddwd zmm24,zmm28,zmm24
055c  vpaddd zmm20,zmm20,zmm24
0562  vpmaddwd zmm24,zmm28,zmm25
0568  vpaddd zmm21,zmm21,zmm24
056e  vpmaddwd zmm24,zmm28,zmm26
0574  vpaddd zmm22,zmm22,zmm24
057a  vpmaddwd zmm24,zmm28,zmm27
0580  vpaddd zmm23,zmm23,zmm24
0586  vmovups zmm24,[r8+100h]
058d  vpsllw zmm24,zmm24,8
0594  vpsraw zmm24,zmm24,8
059b  vmovups zmm25,[r8+140h]
05a2  vpsllw zmm25,zmm25,8
05a9  vpsraw zmm25,zmm25,8
05b0  vmovups zmm26,[r8+180h]
05b7  vpsllw zmm26,zmm26,8
05be  vpsraw zmm26,zmm26,8
05c5  vmovups zmm27,[r8+1C0h]
05cc  vpsllw zmm27,zmm27,8
05d3  vpsraw zmm27,zmm27,8
05da  vpbroadcastd zmm28,[r9+r13+4]
05e2  vpandd zmm28,zmm28,[rel 12C0h]
05ec  vpmaddwd zmm29,zmm28,zmm24
05f2  vpaddd zmm0,zmm0,zmm29
05f8  vpmaddwd zmm29,zmm28,zmm25
05fe  vpaddd zmm1,zmm1,zmm29
0604  vpmaddwd zmm29,zmm28,zmm26
060a  vpaddd zmm2,zmm2,zmm29
0610  vpmaddwd zmm28,zmm28,zmm27
0616  vpaddd zmm3,zmm3,zmm28
061c  vpbroadcastd zmm28,[r10+r13+4]
0624  vpandd zmm28,zmm28,[rel 12C0h]
062e  vpmaddwd zmm29,zmm28,zmm24
0634  vpaddd zmm4,zmm4,zmm29
063a  vpmaddwd zmm29,zmm28,zmm25
0640  vpaddd zmm5,zmm5,zmm29
0646  vpmaddwd zmm29,zmm28,zmm26
064c  vpaddd zmm6,zmm6,zmm29
0652  vpmaddwd zmm28,zmm28,zmm27
0658  vpaddd zmm7,zmm7,zmm28
065e  vpbroadcastd zmm28,[r11+r13+4]
0666  vpandd zmm28,zmm28,[rel 12C0h]
0670  vpmaddwd zmm29,zmm28,zmm24
0676  vpaddd zmm8,zmm8,zmm29
067c  vpmaddwd zmm29,zmm28,zmm25
0682  vpaddd zmm9,zmm9,zmm29
0688  vpmaddwd zmm29,zmm28,zmm26
068e  vpaddd zmm10,zmm10,zmm29
0694  vpmaddwd zmm28,zmm28,zmm27
069a  vpaddd zmm11,zmm11,zmm28
06a0  vpbroadcastd zmm28,[rbx+r13+4]
06a8  vpandd zmm28,zmm28,[rel 12C0h]
06b2  vpmaddwd zmm29,zmm28,zmm24
06b8  vpaddd zmm12,zmm12,zmm29
06be  vpmaddwd zmm29,zmm28,zmm25
06c4  vpaddd zmm13,zmm13,zmm29
06ca  vpmaddwd zmm29,zmm28,zmm26
06d0  vpaddd zmm14,zmm14,zmm29
06d6  vpmaddwd zmm28,zmm28,zmm27
06dc  vpaddd zmm15,zmm15,zmm28
06e2  vpbroadcastd zmm28,[rbp+r13+4]
06ea  vpandd zmm28,zmm28,[rel 12C0h]
06f4  vpmaddwd zmm29,zmm28,zmm24
06fa  vpaddd zmm16,zmm16,zmm29
0700  vpmaddwd zmm29,zmm28,zmm25
0706  vpaddd zmm17,zmm17,zmm29
070c  vpmaddwd zmm29,zmm28,zmm26
0712  vpaddd zmm18,zmm18,zmm29
0718  vpmaddwd zmm28,zmm28,zmm27
071e  vpaddd zmm19,zmm19,zmm28
0724  vpbroadcastd zmm28,[r12+r13+4]
072c  vpandd zmm28,zmm28,[rel 12C0h]
0736  vpmaddwd zmm24,zmm28,zmm24
073c  vpaddd zmm20,zmm20,zmm24
0742  vpmaddwd zmm24,zmm28,zmm25
0748  vpaddd zmm21,zmm21,zmm24
074e  vpmaddwd zmm24,zmm28,zmm26
0754  vpaddd zmm22,zmm22,zmm24
075a  vpmaddwd zmm24,zmm28,zmm27
0760  vpaddd zmm23,zmm23,zmm24
0766  vmovups zmm24,[r8+100h]
076d  vpsraw zmm24,zmm24,8
0774  vmovups zmm25,[r8+140h]
077b  vpsraw zmm25,zmm25,8
0782  vmovups zmm26,[r8+180h]
0789  vpsraw zmm26,zmm26,8
0790  vmovups zmm27,[r8+1C0h]
0797  vpsraw zmm27,zmm27,8
079e  vpbroadcastd zmm28,[r9+r13+4]
07a6  vpsrlw zmm28,zmm28,8
07ad  vpmaddwd zmm29,zmm28,zmm24
07b3  vpaddd zmm0,zmm0,zmm29
07b9  vpmaddwd zmm29,zmm28,zmm25
07bf  vpaddd zmm1,zmm1,zmm29
07c5  vpmaddwd zmm29,zmm28,zmm26
07cb  vpaddd zmm2,zmm2,zmm29
07d1  vpmaddwd zmm28,zmm28,zmm27
07d7  vpaddd zmm3,zmm3,zmm28
07dd  vpbroadcastd zmm28,[r10+r13+4]
07e5  vpsrlw zmm28,zmm28,8
07ec  vpmaddwd zmm29,zmm28,zmm24
07f2  vpaddd zmm4,zmm4,zmm29
07f8  vpmaddwd zmm29,zmm28,zmm25
07fe  vpaddd zmm5,zmm5,zmm29
0804  vpmaddwd zmm29,zmm28,zmm26
080a  vpaddd zmm6,zmm6,zmm29
0810  vpmaddwd zmm28,zmm28,zmm27
0816  vpaddd zmm7,zmm7,zmm28
081c  vpbroadcastd zmm28,[r11+r13+4]
0824  vpsrlw zmm28,zmm28,8
082b  vpmaddwd zmm29,zmm28,zmm24
0831  vpaddd zmm8,zmm8,zmm29
0837  vpmaddwd zmm29,zmm28,zmm25
083d  vpaddd zmm9,zmm9,zmm29
0843  vpmaddwd zmm29,zmm28,zmm26
0849  vpaddd zmm10,zmm10,zmm29
084f  vpmaddwd zmm28,zmm28,zmm27
0855  vpaddd zmm11,zmm11,zmm28
085b  vpbroadcastd zmm28,[rbx+r13+4]
0863  vpsrlw zmm28,zmm28,8
086a  vpmaddwd zmm29,zmm28,zmm24
0870  vpaddd zmm12,zmm12,zmm29
0876  vpmaddwd zmm29,zmm28,zmm25
087c  vpaddd zmm13,zmm13,zmm29
0882  vpmaddwd zmm29,zmm28,zmm26
0888  vpaddd zmm14,zmm14,zmm29
088e  vpmaddwd zmm28,zmm28,zmm27
0894  vpaddd zmm15,zmm15,zmm28
089a  vpbroadcastd zmm28,[rbp+r13+4]
08a2  vpsrlw zmm28,zmm28,8
08a9  vpmaddwd zmm29,zmm28,zmm24
08af  vpaddd zmm16,zmm16,zmm29
08b5  vpmaddwd zmm29,zmm28,zmm25
08bb  vpaddd zmm17,zmm17,zmm29
08c1  vpmaddwd zmm29,zmm28,zmm26
08c7  vpaddd zmm18,zmm18,zmm29
08cd  vpmaddwd zmm28,zmm28,zmm27
08d3  vpaddd zmm19,zmm19,zmm28
08d9  vpbroadcastd zmm28,[r12+r13+4]
08e1  vpsrlw zmm28,zmm28,8
08e8  vpmaddwd zmm24,zmm28,zmm24
08ee  vpaddd zmm20,zmm20,zmm24
08f4  vpmaddwd zmm24,zmm28,zmm25
08fa  vpaddd zmm21,zmm21,zmm24
0900  vpmaddwd zmm24,zmm28,zmm26
0906  vpaddd zmm22,zmm22,zmm24
090c  vpmaddwd zmm24,zmm28,zmm27
0912  vpaddd zmm23,zmm23,zmm24
0918  add r13,8
091c  add r8,200h
0923  dec r14
0926  jne near 200h
092c  mov r14,[rdi+18h]
0930  and r14,1
0934  test r14,r14
0937  jle near 0CDAh
093d  nop dword [rax]
0940  vmovups zmm24,[r8]
0946  vpsllw zmm24,zmm24,8
094d  vpsraw zmm24,zmm24,8
0954  vmovups zmm25,[r8+40h]
095b  vpsllw zmm25,zmm25,8
0962  vpsraw zmm25,zmm25,8
0969  vmovups zmm26,[r8+80h]
0970  vpsllw zmm26,zmm26,8
0977  vpsraw zmm26,zmm26,8
097e  vmovups zmm27,[r8+0C0h]
0985  vpsllw zmm27,zmm27,8
098c  vpsraw zmm27,zmm27,8
0993  vpbroadcastd zmm28,[r9+r13]
099a  vpandd zmm28,zmm28,[rel 12C0h]
09a4  vpmaddwd zmm29,zmm28,zmm24
09aa  vpaddd zmm0,zmm0,zmm29
09b0  vpmaddwd zmm29,zmm28,zmm25
09b6  vpaddd zmm1,zmm1,zmm29
09bc  vpmaddwd zmm29,zmm28,zmm26
09c2  vpaddd zmm2,zmm2,zmm29
09c8  vpmaddwd zmm28,zmm28,zmm27
09ce  vpaddd zmm3,zmm3,zmm28
09d4  vpbroadcastd zmm28,[r10+r13]
09db  vpandd zmm28,zmm28,[rel 12C0h]
09e5  vpmaddwd zmm29,zmm28,zmm24
09eb  vpaddd zmm4,zmm4,zmm29
09f1  vpmaddwd zmm29,zmm28,zmm25
09f7  vpaddd zmm5,zmm5,zmm29
09fd  vpmaddwd zmm29,zmm28,zmm26
0a03  vpaddd zmm6,zmm6,zmm29
0a09  vpmaddwd zmm28,zmm28,zmm27
0a0f  vpaddd zmm7,zmm7,zmm28
0a15  vpbroadcastd zmm28,[r11+r13]
0a1c  vpandd zmm28,zmm28,[rel 12C0h]
0a26  vpmaddwd zmm29,zmm28,zmm24
0a2c  vpaddd zmm8,zmm8,zmm29
0a32  vpmaddwd zmm29,zmm28,zmm25
0a38  vpaddd zmm9,zmm9,zmm29
0a3e  vpmaddwd zmm29,zmm28,zmm26
0a44  vpaddd zmm10,zmm10,zmm29
0a4a  vpmaddwd zmm28,zmm28,zmm27
0a50  vpaddd zmm11,zmm11,zmm28
0a56  vpbroadcastd zmm28,[rbx+r13]
0a5d  vpandd zmm28,zmm28,[rel 12C0h]
0a67  vpmaddwd zmm29,zmm28,zmm24
0a6d  vpaddd zmm12,zmm12,zmm29
0a73  vpmaddwd zmm29,zmm28,zmm25
0a79  vpaddd zmm13,zmm13,zmm29
0a7f  vpmaddwd zmm29,zmm28,zmm26
0a85  vpaddd zmm14,zmm14,zmm29
0a8b  vpmaddwd zmm28,zmm28,zmm27
0a91  vpaddd zmm15,zmm15,zmm28
0a97  vpbroadcastd zmm28,[rbp+r13]
0a9f  vpandd zmm28,zmm28,[rel 12C0h]
0aa9  vpmaddwd zmm29,zmm28,zmm24
0aaf  vpaddd zmm16,zmm16,zmm29
0ab5  vpmaddwd zmm29,zmm28,zmm25
0abb  vpaddd zmm17,zmm17,zmm29
0ac1  vpmaddwd zmm29,zmm28,zmm26
0ac7  vpaddd zmm18,zmm18,zmm29
0acd  vpmaddwd zmm28,zmm28,zmm27
0ad3  vpaddd zmm19,zmm19,zmm28
0ad9  vpbroadcastd zmm28,[r12+r13]
0ae0  vpandd zmm28,zmm28,[rel 12C0h]
0aea  vpmaddwd zmm24,zmm28,zmm24
0af0  vpaddd zmm20,zmm20,zmm24
0af6  vpmaddwd zmm24,zmm28,zmm25
0afc  vpaddd zmm21,zmm21,zmm24
0b02  vpmaddwd zmm24,zmm28,zmm26
0b08  vpaddd zmm22,zmm22,zmm24
0b0e  vpmaddwd zmm24,zmm28,zmm27
0b14  vpaddd zmm23,zmm23,zmm24
0b1a  vmovups zmm24,[r8]
0b20  vpsraw zmm24,zmm24,8
0b27  vmovups zmm25,[r8+40h]
0b2e  vpsraw zmm25,zmm25,8
0b35  vmovups zmm26,[r8+80h]
0b3c  vpsraw zmm26,zmm26,8
0b43  vmovups zmm27,[r8+0C0h]
0b4a  vpsraw zmm27,zmm27,8
0b51  vpbroadcastd zmm28,[r9+r13]
0b58  vpsrlw zmm28,zmm28,8
0b5f  vpmaddwd zmm29,zmm28,zmm24
0b65  vpaddd zmm0,zmm0,zmm29
0b6b  vpmaddwd zmm29,zmm28,zmm25
0b71  vpaddd zmm1,zmm1,zmm29
0b77  vpmaddwd zmm29,zmm28,zmm26
0b7d  vpaddd zmm2,zmm2,zmm29
0b83  vpmaddwd zmm28,zmm28,zmm27
0b89  vpaddd zmm3,zmm3,zmm28
0b8f  vpbroadcastd zmm28,[r10+r13]
0b96  vpsrlw zmm28,zmm28,8
0b9d  vpmaddwd zmm29,zmm28,zmm24
0ba3  vpaddd zmm4,zmm4,zmm29
0ba9  vpmaddwd zmm29,zmm28,zmm25
0baf  vpaddd zmm5,zmm5,zmm29
0bb5  vpmaddwd zmm29,zmm28,zmm26
0bbb  vpaddd zmm6,zmm6,zmm29
0bc1  vpmaddwd zmm28,zmm28,zmm27
0bc7  vpaddd zmm7,zmm7,zmm28
0bcd  vpbroadcastd zmm28,[r11+r13]
0bd4  vpsrlw zmm28,zmm28,8
0bdb  vpmaddwd zmm29,zmm28,zmm24
0be1  vpaddd zmm8,zmm8,zmm29
0be7  vpmaddwd zmm29,zmm28,zmm25
0bed  vpaddd zmm9,zmm9,zmm29
0bf3  vpmaddwd zmm29,zmm28,zmm26
0bf9  vpaddd zmm10,zmm10,zmm29
0bff  vpmaddwd zmm28,zmm28,zmm27
0c05  vpaddd zmm11,zmm11,zmm28
0c0b  vpbroadcastd zmm28,[rbx+r13]
0c12  vpsrlw zmm28,zmm28,8
0c19  vpmaddwd zmm29,zmm28,zmm24
0c1f  vpaddd zmm12,zmm12,zmm29
0c25  vpmaddwd zmm29,zmm28,zmm25
0c2b  vpaddd zmm13,zmm13,zmm29
0c31  vpmaddwd zmm29,zmm28,zmm26
0c37  vpaddd zmm14,zmm14,zmm29
0c3d  vpmaddwd zmm28,zmm28,zmm27
0c43  vpaddd zmm15,zmm15,zmm28
0c49  vpbroadcastd zmm28,[rbp+r13]
0c51  vpsrlw zmm28,zmm28,8
0c58  vpmaddwd zmm29,zmm28,zmm24
0c5e  vpaddd zmm16,zmm16,zmm29
0c64  vpmaddwd zmm29,zmm28,zmm25
0c6a  vpaddd zmm17,zmm17,zmm29
0c70  vpmaddwd zmm29,zmm28,zmm26
0c76  vpaddd zmm18,zmm18,zmm29
0c7c  vpmaddwd zmm28,zmm28,zmm27
0c82  vpaddd zmm19,zmm19,zmm28
0c88  vpbroadcastd zmm28,[r12+r13]
0c8f  vpsrlw zmm28,zmm28,8
0c96  vpmaddwd zmm24,zmm28,zmm24
0c9c  vpaddd zmm20,zmm20,zmm24
0ca2  vpmaddwd zmm24,zmm28,zmm25
0ca8  vpaddd zmm21,zmm21,zmm24
0cae  vpmaddwd zmm24,zmm28,zmm26
0cb4  vpaddd zmm22,zmm22,zmm24
0cba  vpmaddwd zmm24,zmm28,zmm27
0cc0  vpaddd zmm23,zmm23,zmm24
0cc6  add r13,4
0cca  add r8,100h
0cd1  dec r14
0cd4  jne near 940h
0cda  vmovups zmm24,[r8]
0ce0  vpsllw zmm24,zmm24,8
0ce7  vpsraw zmm24,zmm24,8
0cee  vmovups zmm25,[r8+40h]
0cf5  vpsllw zmm25,zmm25,8
0cfc  vpsraw zmm25,zmm25,8
0d03  vmovups zmm26,[r8+80h]
0d0a  vpsllw zmm26,zmm26,8
0d11  vpsraw zmm26,zmm26,8
0d18  vmovups zmm27,[r8+0C0h]
0d1f  vpsllw zmm27,zmm27,8
0d26  vpsraw zmm27,zmm27,8
0d2d  movzx r14d,byte [r9+r13+2]
0d33  shl r14,10h
0d37  movzx r15d,word [r9+r13]
0d3c  add r15,r14
0d3f  vpbroadcastd zmm28,r15d
0d45  vpandd zmm28,zmm28,[rel 12C0h]
0d4f  vpmaddwd zmm29,zmm28,zmm24
0d55  vpaddd zmm0,zmm0,zmm29
0d5b  vpmaddwd zmm29,zmm28,zmm25
0d61  vpaddd zmm1,zmm1,zmm29
0d67  vpmaddwd zmm29,zmm28,zmm26
0d6d  vpaddd zmm2,zmm2,zmm29
0d73  vpmaddwd zmm28,zmm28,zmm27
0d79  vpaddd zmm3,zmm3,zmm28
0d7f  movzx r14d,byte [r10+r13+2]
0d85  shl r14,10h
0d89  movzx r15d,word [r10+r13]
0d8e  add r15,r14
0d91  vpbroadcastd zmm28,r15d
0d97  vpandd zmm28,zmm28,[rel 12C0h]
0da1  vpmaddwd zmm29,zmm28,zmm24
0da7  vpaddd zmm4,zmm4,zmm29
0dad  vpmaddwd zmm29,zmm28,zmm25
0db3  vpaddd zmm5,zmm5,zmm29
0db9  vpmaddwd zmm29,zmm28,zmm26
0dbf  vpaddd zmm6,zmm6,zmm29
0dc5  vpmaddwd zmm28,zmm28,zmm27
0dcb  vpaddd zmm7,zmm7,zmm28
0dd1  movzx r14d,byte [r11+r13+2]
0dd7  shl r14,10h
0ddb  movzx r15d,word [r11+r13]
0de0  add r15,r14
0de3  vpbroadcastd zmm28,r15d
0de9  vpandd zmm28,zmm28,[rel 12C0h]
0df3  vpmaddwd zmm29,zmm28,zmm24
0df9  vpaddd zmm8,zmm8,zmm29
0dff  vpmaddwd zmm29,zmm28,zmm25
0e05  vpaddd zmm9,zmm9,zmm29
0e0b  vpmaddwd zmm29,zmm28,zmm26
0e11  vpaddd zmm10,zmm10,zmm29
0e17  vpmaddwd zmm28,zmm28,zmm27
0e1d  vpaddd zmm11,zmm11,zmm28
0e23  movzx r14d,byte [rbx+r13+2]
0e29  shl r14,10h
0e2d  movzx r15d,word [rbx+r13]
0e32  add r15,r14
0e35  vpbroadcastd zmm28,r15d
0e3b  vpandd zmm28,zmm28,[rel 12C0h]
0e45  vpmaddwd zmm29,zmm28,zmm24
0e4b  vpaddd zmm12,zmm12,zmm29
0e51  vpmaddwd zmm29,zmm28,zmm25
0e57  vpaddd zmm13,zmm13,zmm29
0e5d  vpmaddwd zmm29,zmm28,zmm26
0e63  vpaddd zmm14,zmm14,zmm29
0e69  vpmaddwd zmm28,zmm28,zmm27
0e6f  vpaddd zmm15,zmm15,zmm28
0e75  movzx r14d,byte [rbp+r13+2]
0e7b  shl r14,10h
0e7f  movzx r15d,word [rbp+r13]
0e85  add r15,r14
0e88  vpbroadcastd zmm28,r15d
0e8e  vpandd zmm28,zmm28,[rel 12C0h]
0e98  vpmaddwd zmm29,zmm28,zmm24
0e9e  vpaddd zmm16,zmm16,zmm29
0ea4  vpmaddwd zmm29,zmm28,zmm25
0eaa  vpaddd zmm17,zmm17,zmm29
0eb0  vpmaddwd zmm29,zmm28,zmm26
0eb6  vpaddd zmm18,zmm18,zmm29
0ebc  vpmaddwd zmm28,zmm28,zmm27
0ec2  vpaddd zmm19,zmm19,zmm28
0ec8  movzx r14d,byte [r12+r13+2]
0ece  shl r14,10h
0ed2  movzx r15d,word [r12+r13]
0ed7  add r15,r14
0eda  vpbroadcastd zmm28,r15d
0ee0  vpandd zmm28,zmm28,[rel 12C0h]
0eea  vpmaddwd zmm24,zmm28,zmm24
0ef0  vpaddd zmm20,zmm20,zmm24
0ef6  vpmaddwd zmm24,zmm28,zmm25
0efc  vpaddd zmm21,zmm21,zmm24
0f02  vpmaddwd zmm24,zmm28,zmm26
0f08  vpaddd zmm22,zmm22,zmm24
0f0e  vpmaddwd zmm24,zmm28,zmm27
0f14  vpaddd zmm23,zmm23,zmm24
0f1a  vmovups zmm24,[r8]
0f20  vpsraw zmm24,zmm24,8
0f27  vmovups zmm25,[r8+40h]
0f2e  vpsraw zmm25,zmm25,8
0f35  vmovups zmm26,[r8+80h]
0f3c  vpsraw zmm26,zmm26,8
0f43  vmovups zmm27,[r8+0C0h]
0f4a  vpsraw zmm27,zmm27,8
0f51  movzx r8d,byte [r9+r13+2]
0f57  shl r8,10h
0f5b  movzx r9d,word [r9+r13]
0f60  add r9,r8
0f63  vpbroadcastd zmm28,r9d
0f69  vpsrlw zmm28,zmm28,8
0f70  vpmaddwd zmm29,zmm28,zmm24
0f76  vpaddd zmm0,zmm0,zmm29
0f7c  vpmaddwd zmm29,zmm28,zmm25
0f82  vpaddd zmm1,zmm1,zmm29
0f88  vpmaddwd zmm29,zmm28,zmm26
0f8e  vpaddd zmm2,zmm2,zmm29
0f94  vpmaddwd zmm28,zmm28,zmm27
0f9a  vpaddd zmm3,zmm3,zmm28
0fa0  movzx r8d,byte [r10+r13+2]
0fa6  shl r8,10h
0faa  movzx r9d,word [r10+r13]
0faf  add r9,r8
0fb2  vpbroadcastd zmm28,r9d
0fb8  vpsrlw zmm28,zmm28,8
0fbf  vpmaddwd zmm29,zmm28,zmm24
0fc5  vpaddd zmm4,zmm4,zmm29
0fcb  vpmaddwd zmm29,zmm28,zmm25
0fd1  vpaddd zmm5,zmm5,zmm29
0fd7  vpmaddwd zmm29,zmm28,zmm26
0fdd  vpaddd zmm6,zmm6,zmm29
0fe3  vpmaddwd zmm28,zmm28,zmm27
0fe9  vpaddd zmm7,zmm7,zmm28
0fef  movzx r8d,byte [r11+r13+2]
0ff5  shl r8,10h
0ff9  movzx r9d,word [r11+r13]
0ffe  add r9,r8
1001  vpbroadcastd zmm28,r9d
1007  vpsrlw zmm28,zmm28,8
100e  vpmaddwd zmm29,zmm28,zmm24
1014  vpaddd zmm8,zmm8,zmm29
101a  vpmaddwd zmm29,zmm28,zmm25
1020  vpaddd zmm9,zmm9,zmm29
1026  vpmaddwd zmm29,zmm28,zmm26
102c  vpaddd zmm10,zmm10,zmm29
1032  vpmaddwd zmm28,zmm28,zmm27
1038  vpaddd zmm11,zmm11,zmm28
103e  movzx r8d,byte [rbx+r13+2]
1044  shl r8,10h
1048  movzx r9d,word [rbx+r13]
104d  add r9,r8
1050  vpbroadcastd zmm28,r9d
1056  vpsrlw zmm28,zmm28,8
105d  vpmaddwd zmm29,zmm28,zmm24
1063  vpaddd zmm12,zmm12,zmm29
1069  vpmaddwd zmm29,zmm28,zmm25
106f  vpaddd zmm13,zmm13,zmm29
1075  vpmaddwd zmm29,zmm28,zmm26
107b  vpaddd zmm14,zmm14,zmm29
1081  vpmaddwd zmm28,zmm28,zmm27
1087  vpaddd zmm15,zmm15,zmm28
108d  movzx r8d,byte [rbp+r13+2]
1093  shl r8,10h
1097  movzx r9d,word [rbp+r13]
109d  add r9,r8
10a0  vpbroadcastd zmm28,r9d
10a6  vpsrlw zmm28,zmm28,8
10ad  vpmaddwd zmm29,zmm28,zmm24
10b3  vpaddd zmm16,zmm16,zmm29
10b9  vpmaddwd zmm29,zmm28,zmm25
10bf  vpaddd zmm17,zmm17,zmm29
10c5  vpmaddwd zmm29,zmm28,zmm26
10cb  vpaddd zmm18,zmm18,zmm29
10d1  vpmaddwd zmm28,zmm28,zmm27
10d7  vpaddd zmm19,zmm19,zmm28
10dd  movzx r8d,byte [r12+r13+2]
10e3  shl r8,10h
10e7  movzx r9d,word [r12+r13]
10ec  add r9,r8
10ef  vpbroadcastd zmm28,r9d
10f5  vpsrlw zmm28,zmm28,8
10fc  vpmaddwd zmm24,zmm28,zmm24
1102  vpaddd zmm20,zmm20,zmm24
1108  vpmaddwd zmm24,zmm28,zmm25
110e  vpaddd zmm21,zmm21,zmm24
1114  vpmaddwd zmm24,zmm28,zmm26
111a  vpaddd zmm22,zmm22,zmm24
1120  vpmaddwd zmm24,zmm28,zmm27
1126  vpaddd zmm23,zmm23,zmm24
112c  dec rsi
112f  jne near 180h
1135  mov rsi,[rdi+38h]
1139  mov r8,[rax+10h]
113d  mov r9,[rdi+40h]
1141  mov r10,[rsp+100h]
1149  imul r9,r10
114d  add rsi,r8
1150  add rsi,r9
1153  mov r8,[rsp+0C0h]
115b  lea rsi,[rsi+r8*4]
115f  mov r8,[rdi+40h]
1163  vmovups [rsi],zmm0
1169  vmovups [rsi+40h],zmm1
1170  vmovups [rsi+80h],zmm2
1177  vmovups [rsi+0C0h],zmm3
117e  add rsi,r8
1181  vmovups [rsi],zmm4
1187  vmovups [rsi+40h],zmm5
118e  vmovups [rsi+80h],zmm6
1195  vmovups [rsi+0C0h],zmm7
119c  add rsi,r8
119f  vmovups [rsi],zmm8
11a5  vmovups [rsi+40h],zmm9
11ac  vmovups [rsi+80h],zmm10
11b3  vmovups [rsi+0C0h],zmm11
11ba  add rsi,r8
11bd  vmovups [rsi],zmm12
11c3  vmovups [rsi+40h],zmm13
11ca  vmovups [rsi+80h],zmm14
11d1  vmovups [rsi+0C0h],zmm15
11d8  add rsi,r8
11db  vmovups [rsi],zmm16
11e1  vmovups [rsi+40h],zmm17
11e8  vmovups [rsi+80h],zmm18
11ef  vmovups [rsi+0C0h],zmm19
11f6  add rsi,r8
11f9  vmovups [rsi],zmm20
11ff  vmovups [rsi+40h],zmm21
1206  vmovups [rsi+80h],zmm22
120d  vmovups [rsi+0C0h],zmm23
1214  mov rsi,[rdi+28h]
1218  add rdx,rsi
121b  mov rsi,[rsp+0C0h]
1223  add rsi,40h
1227  mov [rsp+0C0h],rsi
122f  mov rsi,[rsp+80h]
1237  dec rsi
123a  mov [rsp+80h],rsi
1242  jne near 0C0h
1248  mov rdx,[rsp+100h]
1250  add rdx,6
1254  mov [rsp+100h],rdx
125c  mov rdx,[rsp+40h]
1261  dec rdx
1264  mov [rsp+40h],rdx
1269  jne near 80h
126f  mov rax,rcx
1272  mov rcx,[rsp]
1276  dec rcx
1279  mov [rsp],rcx
127d  jne near 40h
1283  add rsp,140h
128a  pop r15
128c  pop r14
128e  pop r13
1290  pop r12
1292  pop rbp
1293  pop rbx
1294  vzeroupper
1297  ret
