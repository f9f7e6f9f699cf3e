; 2 instructions, 6 bytes, 0 spills, 0 of them in inner loops
0000  tdpbf16ps tmm0,tmm4,tmm6
0005  ret
