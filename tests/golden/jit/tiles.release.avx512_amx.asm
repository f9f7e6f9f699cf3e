; 2 instructions, 6 bytes, 0 spills, 0 of them in inner loops
0000  tilerelease
0005  ret
