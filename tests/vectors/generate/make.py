"""Remake the vectors: `make.py` all of them, `make.py conv rnn` some (names of generator modules)."""

import importlib
import sys

MODULES = ["conv", "matmul", "norms", "windows", "pointwise", "movement", "reorder", "rnn", "sdpa"]

if __name__ == "__main__":
    for name in sys.argv[1:] or MODULES:
        importlib.import_module(name).main()
