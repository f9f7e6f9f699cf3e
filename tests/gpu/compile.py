"""Compiles the kernels of crates/cuda/kernels with NVRTC and reads registers, spills and instructions; needs no GPU.

    python3 tests/gpu/compile.py [SOURCE...]

compiles the variants of VARIANTS (of the files named) and fails if one spills, lacks its instruction or does not compile.

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
    for word in ("HGMMA", "QGMMA", "IGMMA", "HMMA", "QMMA", "IMMA", "UTMALDG", "UTMASTG", "LDGSTS", "FFMA", "LDL", "STL"):
        count = len(re.findall(r"\b" + word + r"\b", sass))
        if count:
            found[word] = count
    return found


def tool(name):
    return find(f"nvidia/cu13/bin/{name}", f"/usr/local/cuda/bin/{name}") or name


BF16 = dict(A_TYPE="T_BF16", B_TYPE="T_BF16", C_TYPE="T_BF16")
TILE = dict(BF16, A_MN=0, B_MN=0, TILE_M=128, TILE_N=256, CONSUMERS=2, STAGES=4, CLUSTER_M=1, CLUSTER_N=1, SPLIT=1, STORE="STORE_TMA")
W4 = dict(TILE, STORE="STORE_DIRECT", PACKED_A=1, UNSIGNED=0, PAIRED=1)
ATTENTION = dict(BF16, HEAD=128, TILE_N=128, CONSUMERS=2, STAGES=2, CAUSAL=0, K_MN=0)
DEPTHWISE = dict(A_TYPE="T_BF16", C_TYPE="T_BF16", TAPS_H=3, TAPS_W=3, STEP=1, STRIP=7)
F32 = dict(SPATIAL=2, ALIGNED=1)
F32_TILES = dict(ROWS=16, WARPS_M=4, WARPS_N=2, BLOCKS=1), dict(ROWS=8, WARPS_M=2, WARPS_N=2, BLOCKS=3)
SM80 = dict(BF16, A_MN=0, B_MN=0, A_ALIGN=16, B_ALIGN=16, C_ALIGN=16, TILE=128)

# file, defines, architecture, instructions that must be there
VARIANTS = [
    ("gemm_sm90.cu", TILE, "sm_90a", "HGMMA UTMALDG UTMASTG"),
    ("gemm_sm90.cu", dict(TILE, CLUSTER_M=2), "sm_90a", "HGMMA UTMALDG UTMASTG"),
    ("gemm_sm90.cu", dict(TILE, CLUSTER_N=2), "sm_90a", "HGMMA UTMALDG UTMASTG"),
    ("gemm_sm90.cu", dict(TILE, A_MN=1, B_MN=1), "sm_90a", "HGMMA UTMALDG UTMASTG"),
    ("gemm_sm90.cu", dict(TILE, TILE_M=256, TILE_N=128), "sm_90a", "HGMMA UTMALDG UTMASTG"),
    ("gemm_sm90.cu", dict(TILE, TILE_M=192, TILE_N=128, CONSUMERS=3), "sm_90a", "HGMMA UTMALDG UTMASTG"),
    ("gemm_sm90.cu", dict(TILE, TILE_M=64, TILE_N=64, CONSUMERS=1, STAGES=8, SPLIT=4, STORE="STORE_DIRECT"), "sm_90a", "HGMMA UTMALDG"),
    ("gemm_sm90.cu", dict(TILE, STAGES=3, STORE="STORE_LINES"), "sm_90a", "HGMMA UTMALDG"),
    ("gemm_sm90.cu", dict(TILE, TILE_M=64, TILE_N=16, CONSUMERS=1, STAGES=10, SPLIT=2, STORE="STORE_TMA_TRANSPOSED"), "sm_90a", "HGMMA UTMALDG UTMASTG"),
    ("gemm_sm90.cu", dict(TILE, A_TYPE="T_TF32", B_TYPE="T_TF32", C_TYPE="T_F32"), "sm_90a", "HGMMA UTMALDG UTMASTG"),
    ("gemm_sm90.cu", dict(TILE, A_TYPE="T_E4M3", B_TYPE="T_E5M2", TILE_N=192, PROMOTE=4), "sm_90a", "QGMMA UTMALDG UTMASTG"),
    ("gemm_sm90.cu", dict(TILE, A_TYPE="T_U8", B_TYPE="T_S8", C_TYPE="T_S32"), "sm_90a", "IGMMA UTMALDG UTMASTG"),
    ("conv_sm90.cu", dict(TILE, TILE_N=128, STAGES=6), "sm_90a", "HGMMA UTMALDG UTMASTG"),
    ("conv_sm90.cu", dict(TILE, TILE_N=128, STAGES=4, SPATIAL=3, B_MN=1, STORE="STORE_ROWS"), "sm_90a", "HGMMA UTMALDG"),
    ("conv_weights_sm90.cu", dict(TILE, A_MN=1, B_MN=1, TILE_N=192, C_TYPE="T_F32"), "sm_90a", "HGMMA UTMALDG UTMASTG"),
    ("conv_window_sm90.cu", dict(TILE, TILE_N=64, STAGES=1, CHANNELS=4), "sm_90a", "HGMMA UTMALDG UTMASTG"),
    ("conv_window_sm90.cu", dict(TILE, TILE_N=64, STAGES=1, CHANNELS=8), "sm_90a", "HGMMA UTMALDG UTMASTG"),
    ("window_pack.cu", dict(CHANNELS=4), "sm_90a", ""),
    ("reduce_parts.cu", dict(C_TYPE="T_BF16", LANES=32), "sm_90a", ""),
    ("attention_sm90.cu", ATTENTION, "sm_90a", "HGMMA UTMALDG UTMASTG"),
    ("attention_sm90.cu", dict(ATTENTION, CAUSAL=1, K_MN=1), "sm_90a", "HGMMA UTMALDG UTMASTG"),
    ("attention_sm90.cu", dict(ATTENTION, HEAD=64, CONSUMERS=3, STAGES=3), "sm_90a", "HGMMA UTMALDG UTMASTG"),
    ("attention_sm90.cu", dict(ATTENTION, CONSUMERS=1, STAGES=3), "sm_90a", "HGMMA UTMALDG UTMASTG"),
    ("gemm_w4_sm90.cu", dict(W4, TILE_N=256, STAGES=6, SPLIT=4), "sm_90a", "HGMMA UTMALDG"),
    ("gemm_w4_sm90.cu", dict(W4, TILE_N=8, STAGES=16, SPLIT=2), "sm_90a", "HGMMA UTMALDG"),
    ("depthwise_sm90.cu", DEPTHWISE, "sm_90a", "UTMALDG"),
    ("depthwise_sm90.cu", dict(DEPTHWISE, A_TYPE="T_F32", C_TYPE="T_F32", STEP=2), "sm_90a", "UTMALDG"),
    ("depthwise_sm90.cu", dict(DEPTHWISE, TAPS_H=7, TAPS_W=7, STRIP=8), "sm_90a", "UTMALDG"),
    ("depthwise_weights_sm90.cu", dict(DEPTHWISE, ROWS=3), "sm_90a", "UTMALDG"),
    ("depthwise_weights_sm90.cu", dict(DEPTHWISE, ROWS=4, TAPS_W=7, STRIP=8), "sm_90a", "UTMALDG"),
    ("gemm_w4.cu", dict(BF16, SCALE_TYPE="T_BF16", UNSIGNED=0, ROWS=8, WIDTH=64, SPLIT=1), "sm_90a", "HMMA"),
    ("gemm_w4.cu", dict(BF16, SCALE_TYPE="T_BF16", UNSIGNED=1, ROWS=16, WIDTH=64, SPLIT=2), "sm_90a", "HMMA"),
    ("gemv.cu", dict(BF16, ROWS=1, COLUMNS=1), "sm_90a", ""),
    *[("gemm_sm80.cu", dict(SM80, **d), arch, "HMMA LDGSTS") for arch in ("sm_80", "sm_86", "sm_89", "sm_90a", "sm_100") for d in ({}, dict(A_MN=1, B_MN=1), dict(A_TYPE="T_TF32", B_TYPE="T_TF32", C_TYPE="T_F32"))],
    ("gemm_sm80.cu", dict(SM80, A_ALIGN=2, B_ALIGN=2, C_ALIGN=2), "sm_80", "HMMA"),
    ("gemm_sm80.cu", dict(SM80, A_ALIGN=8, B_ALIGN=8, C_ALIGN=8, TILE=64), "sm_80", "HMMA LDGSTS"),
    *[("conv_f32.cu", dict(F32, WALKS=w, C_ALIGN=1, **t), "sm_90a", "FFMA") for w in (1, 8) for t in F32_TILES],
    *[("conv_weights_f32.cu", dict(F32, **t), "sm_90a", "FFMA") for t in F32_TILES],
    ("gemm_sm80.cu", dict(SM80, A_TYPE="T_S8", B_TYPE="T_U8", C_TYPE="T_S32"), "sm_80", "IMMA LDGSTS"),
    ("gemm_sm80.cu", dict(SM80, A_TYPE="T_E4M3", B_TYPE="T_E4M3"), "sm_89", "QMMA LDGSTS"),
]


def main(wanted):
    import tempfile
    failed = 0
    for source, defines, arch, words in VARIANTS:
        if wanted and source not in wanted:
            continue
        try:
            data, text = compile_cubin(source, defines, arch)
            with tempfile.NamedTemporaryFile(suffix=".cubin") as f:
                f.write(data)
                f.flush()
                found = facts(f.name)
            spills = max([int(n) for n in re.findall(r"(\d+) bytes spill stores", text)] or [0])
            wrong = [f"{spills} bytes of registers spilled"] * (spills > 0) + ["no " + w for w in words.split() if w not in found]
        except RuntimeError as x:
            found, wrong = {}, [str(x)[:500]]
        failed += bool(wrong)
        print("WRONG" if wrong else "ok", source, arch, {k: v for k, v in defines.items()}, found, *wrong, flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(1 if main(sys.argv[1:]) else 0)
