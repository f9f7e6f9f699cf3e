; 2 instructions, 6 bytes, 0 spills, 0 of them in inner loops
0000  ldtilecfg [rdi]
0005  ret
