"""Compiles the kernels of crates/cuda/kernels with NVRTC and reads registers, spills and instructions; needs no GPU.

    python3 tests/gpu/compile.py OUT [NAME...]

NVRTC comes from the system or from PyPI's nvidia-cuda-nvrtc (13.0.x), cuobjdump from PyPI's nvidia-cuda-cuobjdump with nvidia-cuda-nvdisasm."""
import ctypes, glob, os, re, subprocess, sys

HERE = os.path.dirname(os.path.abspath(__file__))
KERNELS = os.environ.get("KERNELS", os.path.join(HERE, "../../crates/cuda/kernels"))


def find(pattern, *fallbacks):
    for p in sys.path + ["/usr/local/cuda"]:
        for hit in glob.glob(os.path.join(p, pattern), recursive=True):
            return hit
    for f in fallbacks:
        if os.path.exists(f):
            return f
    return None


_nvrtc = None


def nvrtc():
    global _nvrtc
    if _nvrtc is None:
        path = find("nvidia/cu13/lib/libnvrtc.so.13", "/usr/local/cuda/lib64/libnvrtc.so.13") or "libnvrtc.so.13"
        builtins = glob.glob(os.path.join(os.path.dirname(path), "libnvrtc-builtins.so.*"))
        if builtins:
            ctypes.CDLL(builtins[0], mode=ctypes.RTLD_GLOBAL)   # NVRTC looks for it by name only
        _nvrtc = ctypes.CDLL(path)
    return _nvrtc


def compile_cubin(source, defines, arch="sm_90a", headers=None, name="kernel.cu"):
    """The cubin of a file of `KERNELS` with `-D` defines; `headers` replaces headers by name. Returns (cubin, log)."""
    lib = nvrtc()
    texts = {os.path.basename(p): open(p).read() for p in glob.glob(KERNELS + "/*.cuh")}
    texts.update(headers or {})
    names = list(texts)
    arr = lambda xs: (ctypes.c_char_p * len(xs))(*[x.encode() for x in xs])
    prog = ctypes.c_void_p()
    text = open(os.path.join(KERNELS, source)).read()
    check = lambda r, what: (_ for _ in ()).throw(RuntimeError(f"{what}: {r}\n{log(lib, prog)}")) if r else None
    check(lib.nvrtcCreateProgram(ctypes.byref(prog), text.encode(), source.encode(), len(names), arr([texts[n] for n in names]), arr(names)), "create")
    options = [f"--gpu-architecture={arch}", "--std=c++17", "-lineinfo", "--ptxas-options=-v"] + [f"-D{k}={v}" for k, v in defines.items()]
    r = lib.nvrtcCompileProgram(prog, len(options), arr(options))
    text = log(lib, prog)
    if r:
        raise RuntimeError(text)
    n = ctypes.c_size_t()
    lib.nvrtcGetCUBINSize(prog, ctypes.byref(n))
    buf = ctypes.create_string_buffer(n.value)
    lib.nvrtcGetCUBIN(prog, buf)
    lib.nvrtcDestroyProgram(ctypes.byref(prog))
    return buf.raw, text


def log(lib, prog):
    n = ctypes.c_size_t()
    lib.nvrtcGetProgramLogSize(prog, ctypes.byref(n))
    buf = ctypes.create_string_buffer(n.value)
    lib.nvrtcGetProgramLog(prog, buf)
    return buf.value.decode()


def facts(path, compiler_log=""):
    """Registers, spills and counts of telling instructions of a cubin."""
    found = dict(re.findall(r"(REG|STACK|LOCAL):(\d+)", subprocess.run([tool("cuobjdump"), "--dump-resource-usage", path], capture_output=True, text=True).stdout))
    sass = subprocess.run([tool("cuobjdump"), "--dump-sass", path], capture_output=True, text=True).stdout
    for word in ("HGMMA", "QGMMA", "IGMMA", "UTMALDG", "UTMASTG", "LDL", "STL", "HMMA", "LDGSTS"):
        count = len(re.findall(r"\b" + word + r"\b", sass))
        if count:
            found[word] = count
    return found


def tool(name):
    return find(f"nvidia/cu13/bin/{name}", f"/usr/local/cuda/bin/{name}") or name
