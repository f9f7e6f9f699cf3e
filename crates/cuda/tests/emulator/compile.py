"""Compiles a kernel for the emulator (emulator.h): compile.py FOLDER NAME ARCHITECTURE OUT. Without arguments it precompiles ptx.h.

FOLDER has NAME.cu and its headers, among them options.cuh. The source is preprocessed, PTX and shared memory are replaced, and g++ makes a library of it. Only the
syntax of PTX is known here; ptx.h has a function for each instruction.
"""
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
FLAGS = ["-O1", "-w", "-std=c++20", "-fPIC", "-fvisibility=hidden", "-fpermissive", "-fno-strict-aliasing", "-fno-threadsafe-statics", "-fno-exceptions", "-fno-rtti",
         "-mavx2", "-mfma", "-mf16c", "-ffp-contract=fast", "-fno-tree-sra", "-fsanitize=thread", "--param", "tsan-instrument-func-entry-exit=0"]


def split(text, separator):
    """Splits where the separator is outside of strings and brackets."""
    parts, depth, start, quoted, i = [], 0, 0, False, 0
    while i < len(text):
        c = text[i]
        if quoted:
            i += c == "\\"
            quoted = c != '"'
        elif c == '"':
            quoted = True
        elif c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
        elif c == separator and depth == 0:
            # Not the two colons of a name.
            if separator == ":" and text[i - 1] not in ": \n\"')" and text[i + 1:i + 2] == ":":
                i += 1
            else:
                parts.append(text[start:i])
                start = i + 1
        i += 1
    return [part.strip() for part in parts + [text[start:]]]


def operands(text):
    """Pairs of constraint and expression."""
    return [re.match(r'"([^"]*)"\s*\((.*)\)$', part, re.S).groups() for part in split(text, ",") if part]


def operand(text, given):
    """One operand of an instruction as an expression of C++; `given` are those of the statement."""
    if text.startswith("{"):
        inner = split(text[1:-1], ",")
        results = all(given[int(i[1:])][0][0] in "=+" for i in inner if i.startswith("%"))
        return ("ptx::out(%s)" if results else "ptx::in(%s)") % ", ".join(("&" if results else "") + operand(i, given) for i in inner)
    if text.startswith("%%"):
        return "ptx::%s()" % text[2:]
    if text.startswith("%"):
        return "(%s)" % given[int(text[1:])][1]
    return "ptx::sink" if text == "_" else text


def instruction(text, given):
    """A statement of C++ for one instruction of PTX."""
    if text.startswith(".reg"):
        return "unsigned %s" % text.split()[2]
    name, _, rest = text.partition(" ")
    first, _, form = name.partition(".")
    # `[%1, {%2, %3}]` are two operands.
    rest = rest.replace("[", "").replace("]", "")
    return 'ptx::%s<"%s">(%s)' % (first, form, ", ".join(operand(o, given) for o in split(rest, ",") if o))


def statement(inside):
    """A statement of C++ for what is between the brackets of `asm`."""
    parts = split(inside, ":")
    text = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', parts[0])).replace("\\n", " ").strip()
    if text.startswith("{"):
        text = text[1:-1]
    given = [o for part in parts[1:3] for o in operands(part)]
    return "{ %s; }" % "; ".join(instruction(" ".join(i.split()), given) for i in text.split(";") if i.strip())


def without_asm(source):
    out, end = [], 0
    for begin in re.finditer(r"\basm\s*(?:volatile)?\s*\(", source):
        depth, i, quoted = 1, begin.end(), False
        while depth:
            c = source[i]
            if quoted:
                i += c == "\\"
                quoted = c != '"'
            elif c == '"':
                quoted = True
            else:
                depth += (c == "(") - (c == ")")
            i += 1
        out += [source[end:begin.start()], statement(source[begin.end():i - 1])]
        # The semicolon is left as an empty statement, but not before an `else`.
        end = re.compile(r"\s*;").match(source, i).end()
    return "".join(out + [source[end:]])


def shared_variables(declaration):
    """A declaration in shared memory as references to places there."""
    outside, align, kind, names = declaration.groups()
    align = align or "16"
    lines = []
    for name in split(names, ","):
        name, dims = re.match(r"(\w+)(.*)$", name, re.S).groups()
        if outside and declaration.string.count("{", 0, declaration.start()) > declaration.string.count("}", 0, declaration.start()):
            lines.append(f"{kind} *const {name} = emulator::Dynamic<{kind}>{{}};")
            continue
        if outside:
            # Outside of functions: the address depends on the thread.
            lines.append(f"const emulator::Dynamic<{kind}> {name}{{}};")
            continue
        shared_variables.count += 1
        lines.append(f"typedef {kind} emulated_{name}{dims}; emulated_{name} &{name} = *reinterpret_cast<emulated_{name} *>"
                     f"(emulator_static(emulator::Place<{shared_variables.count}, sizeof(emulated_{name}), {align}>::at));")
    return " ".join(lines)


shared_variables.count = 0


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit("\n".join(line for line in done.stderr.splitlines() if "error" in line)[:4000] or done.stderr[:4000])
    return done.stdout


def main(folder, name, architecture, out):
    folder = Path(folder)
    source = run(["g++", "-E", "-P", "-x", "c++", "-std=c++20", f"-D__CUDA_ARCH__={architecture}0", f"-I{folder}", "-include", f"{folder}/options.cuh", f"{folder}/{name}.cu"])
    source = re.sub(r"(extern\s+)?__shared__\s+(?:(?:__align__|alignas)\((\d+)\)\s*)?([\w:]+)\s+([^;]+);", shared_variables, without_asm(source))
    cpp = folder / "kernel.cpp"
    # `index` is a function of the C library, too.
    cpp.write_text(f'#include "ptx.h"\n#define index kernel_index\n{source}\n'
                   f'extern "C" __attribute__((visibility("default"))) void emulator_entry(void **p) {{ emulator::call(&{name}, p); }}\n')
    run(["g++", *FLAGS, f"-I{HERE}", "-c", str(cpp), "-o", f"{cpp}.o"])
    run(["g++", "-shared", f"{cpp}.o", "-o", out])


if __name__ == "__main__":
    if len(sys.argv) == 5:
        main(*sys.argv[1:])
    else:
        run(["g++", *FLAGS, "-x", "c++-header", str(HERE / "ptx.h"), "-o", str(HERE / "ptx.h.gch")])
