"""Checks and times the kernels of crates/cuda/kernels on a GPU against PyTorch (cuBLASLt, cuDNN) in the same process.

    python3 tests/gpu/kernels.py build DIR FILE...      cubins of all candidates (needs NVRTC, no GPU)
    python3 tests/gpu/kernels.py run DIR [--log L] [--check] FILE...    problem lines of suites; --check leaves the timing out

Every candidate of every problem runs on random data into an output full of NaN and is compared with a product in f32. A worker process does
the work; one that hangs for 20 s or dies is replaced, and its candidate counts as failed."""
import ctypes, hashlib, json, math, os, re, select, statistics, subprocess, sys, time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import compile as nv
import plans

# ---- the driver ------------------------------------------------------------------------------------------------------------------------


class Launch(ctypes.Structure):
    _fields_ = [("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3), ("shared", ctypes.c_uint), ("stream", ctypes.c_void_p), ("attrs", ctypes.c_void_p), ("count", ctypes.c_uint)]


class Attr(ctypes.Structure):
    _fields_ = [("id", ctypes.c_int), ("pad", ctypes.c_int), ("value", ctypes.c_uint * 16)]


_cuda = None


def cuda():
    global _cuda
    if _cuda is None:
        _cuda = ctypes.CDLL("libcuda.so.1")
    return _cuda


def ok(r, what):
    if r:
        s = ctypes.c_char_p()
        cuda().cuGetErrorName(r, ctypes.byref(s))
        raise RuntimeError(f"{what}: {s.value.decode() if s.value else r}")


class Kernel:
    def __init__(self, path, name, shared):
        module, self.f = ctypes.c_void_p(), ctypes.c_void_p()
        ok(cuda().cuModuleLoad(ctypes.byref(module), path.encode()), "load " + path)
        ok(cuda().cuModuleGetFunction(ctypes.byref(self.f), module, name.encode()), "function " + name)
        ok(cuda().cuFuncSetAttribute(self.f, 8, shared), "shared memory")
        if shared > 200:
            cuda().cuFuncSetAttribute(self.f, 14, 1)   # clusters beyond 8
        self.shared = shared

    def prepare(self, grid, block, cluster, params, overlap=True):
        """-> a function that launches on the current stream; `params` are bytes-like."""
        import torch
        holders = []
        for p in params:
            raw = ctypes.create_string_buffer(len(p) + 64)
            at = (ctypes.addressof(raw) + 63) & ~63
            ctypes.memmove(at, bytes(p), len(p))
            holders.append((raw, at))
        pointers = (ctypes.c_void_p * len(params))(*[h[1] for h in holders])
        attrs, n = (Attr * 2)(), 0
        if cluster > 1:
            attrs[n].id = 4
            attrs[n].value[0:3] = [cluster, 1, 1]
            n += 1
        if overlap:
            attrs[n].id = 6
            attrs[n].value[0] = 1
            n += 1
        grid = (grid, 1, 1) if isinstance(grid, int) else grid
        l = Launch((ctypes.c_uint * 3)(*grid), (ctypes.c_uint * 3)(block, 1, 1), self.shared, None, ctypes.cast(attrs, ctypes.c_void_p), n)

        def go():
            l.stream = torch.cuda.current_stream().cuda_stream
            ok(cuda().cuLaunchKernelEx(ctypes.byref(l), self.f, pointers, None), "launch")

        go.keep = (holders, attrs, self)
        return go


# ---- tensor maps -----------------------------------------------------------------------------------------------------------------------

# TMA rounds f32 to the nearest tf32 under this type (11); under 7 the tensor cores drop the low bits.
MAP_TYPE = {"T_U8": 0, "T_S8": 0, "T_E4M3": 0, "T_E5M2": 0, "T_S32": 3, "T_F16": 6, "T_F32": 7, "T_TF32": 11, "T_BF16": 9, "WORDS": 4}
SIZE = {"T_U8": 1, "T_S8": 1, "T_E4M3": 1, "T_E5M2": 1, "T_S32": 4, "T_F16": 2, "T_F32": 4, "T_TF32": 4, "T_BF16": 2, "WORDS": 8}


def tiled(kind, pointer, dims, strides, box, swizzle=3):
    """dims innermost first; strides in elements, that of the innermost left out."""
    raw = ctypes.create_string_buffer(192)
    at = (ctypes.addressof(raw) + 63) & ~63
    n = len(dims)
    u64, u32 = ctypes.c_uint64 * n, ctypes.c_uint32 * n
    by = [s * SIZE[kind] for s in strides] or [16]
    ok(cuda().cuTensorMapEncodeTiled(ctypes.c_void_p(at), MAP_TYPE[kind], n, ctypes.c_void_p(pointer), u64(*dims), (ctypes.c_uint64 * len(by))(*by), u32(*box), u32(*[1] * n), 0, swizzle, 2, 0),
       f"map dims {dims} strides {strides} box {box}")
    return ctypes.string_at(at, 128)


def im2col(kind, pointer, dims, lower, upper, channels, pixels, strides, swizzle=3):
    raw = ctypes.create_string_buffer(192)
    at = (ctypes.addressof(raw) + 63) & ~63
    n = len(dims)
    by, step = [], SIZE[kind]
    for d in dims[:-1]:
        step *= d
        by.append(step)
    ok(cuda().cuTensorMapEncodeIm2col(ctypes.c_void_p(at), MAP_TYPE[kind], n, ctypes.c_void_p(pointer), (ctypes.c_uint64 * n)(*dims), (ctypes.c_uint64 * len(by))(*by),
                                      (ctypes.c_int * len(lower))(*lower), (ctypes.c_int * len(upper))(*upper), channels, pixels, (ctypes.c_uint32 * n)(1, *strides, 1), 0, swizzle, 2, 0),
       f"im2col dims {dims} lower {lower} upper {upper}")
    return ctypes.string_at(at, 128)


def pack(*items):
    """ints as i32, ("p", x) as i64, floats as f32, aligned as C does."""
    out = b""
    for x in items:
        if isinstance(x, tuple):
            out += b"\0" * (-len(out) % 8) + int(x[1]).to_bytes(8, "little", signed=x[1] < 0)
        elif isinstance(x, float):
            out += bytes(ctypes.c_float(x))
        else:
            out += int(x).to_bytes(4, "little", signed=True)
    return out


# ---- cubins ----------------------------------------------------------------------------------------------------------------------------

EPILOGUES = {
    "": None,
    "bias_relu": ("const u16 *bias;", "return fmaxf(sum + Element<T_BF16>::load(__ldg(e.bias + column)), 0.0f);"),
    "bias_gelu_tanh": ("const u16 *bias;",
                       "float x = sum + Element<T_BF16>::load(__ldg(e.bias + column)), u = x * fmaf(x * x, -0.07135481f, -1.59576912f), t, r;"
                       " asm(\"ex2.approx.ftz.f32 %0, %1;\" : \"=f\"(t) : \"f\"(u * 1.44269504f));"
                       " asm(\"rcp.approx.ftz.f32 %0, %1;\" : \"=f\"(r) : \"f\"(0.25f * (t + 1.0f))); return 0.25f * x * r;"),
    "scale": ("float scale;", "return sum * e.scale;"),
}


def header(name):
    if not EPILOGUES[name]:
        return None
    fields, body = EPILOGUES[name]
    return {"epilogue.cuh": "#pragma once\n#include \"types.cuh\"\n#define HAS_EPILOGUE\nstruct Epilogue { %s };\n__device__ __forceinline__ float epilogue(float sum, const Epilogue &e, int batch, int row, int column) { %s }\n" % (fields, body)}


_sources = None


def sources():
    global _sources
    if _sources is None:
        import glob
        _sources = "".join(open(p).read() for p in sorted(glob.glob(nv.KERNELS + "/*.cu*")))
    return _sources


def cubin(folder, source, defines, epilogue=""):
    key = source[:-3] + "-" + hashlib.sha1((json.dumps([defines, EPILOGUES[epilogue]], sort_keys=True) + sources()).encode()).hexdigest()[:16]
    path = os.path.join(folder, key + ".cubin")
    if not os.path.exists(path):
        data, log = nv.compile_cubin(source, defines, headers=header(epilogue))
        spills = re.findall(r"(\d+) bytes spill stores", log)
        if spills and max(map(int, spills)) > 16:
            print(json.dumps(dict(spills=max(map(int, spills)), source=source, defines=defines)), flush=True)
        with open(path + str(os.getpid()), "wb") as f:
            f.write(data)
        os.replace(path + str(os.getpid()), path)
    return path


def shared_bytes(d):
    chunks = d["TILE_N"] * 128 if d["TILE_N"] < 64 else 16384
    return 1024 + d["STAGES"] * (d["TILE_M"] + d["TILE_N"]) * 128 + (0 if d["STORE"] == "STORE_DIRECT" else d["CONSUMERS"] * chunks) + 16 * (d["STAGES"] + 1)


def chunk_box(d):
    columns = d["TILE_N"] if d["SPLIT"] == 1 else max(8, d["TILE_N"] // d["SPLIT"])
    return [64, min(64, columns), 1] if d["STORE"] == "STORE_TMA_TRANSPOSED" else [128 // SIZE[d["C_TYPE"]], 64, 1]


def grid_of(d, tiles_m, tiles_n, batch):
    cm, cn = -(-tiles_m // d["CLUSTER_M"]), -(-tiles_n // d["CLUSTER_N"])
    clusters, size = cm * cn * batch, d["CLUSTER_M"] * d["CLUSTER_N"]
    return cm, cn, (clusters * d["SPLIT"] if d["SPLIT"] > 1 else min(clusters, 132 // size) * size)


def gemm(folder, v, a, b, c, epilogue="", args=(), parts=1):
    """C = A B for tensors (batch, M, K), (batch, K, N), (batch, M, N) of any of the two orders; `v` is a plan of plans.py."""
    d = dict(v)
    group, overlap = d.pop("GROUP", 8), d.pop("OVERLAP", True)
    if d.pop("SWAP", 0):
        a, b, c = b.transpose(1, 2), a.transpose(1, 2), c.transpose(1, 2)
    B, M, K = c.shape[0] // parts, a.shape[1], a.shape[2]
    N = b.shape[2]
    k = Kernel(cubin(folder, "gemm_sm90.cu", d, epilogue), "gemm_sm90", shared_bytes(d))
    tk = 128 // SIZE[d["A_TYPE"]]
    tm, tn = d["TILE_M"], d["TILE_N"]

    def operand(t, kind, mn, rows, sharers, lead):   # lead: index of the M or N dimension
        kd = 3 - lead
        if mn:
            return tiled(kind, t.data_ptr(), [t.shape[lead], t.shape[kd], t.shape[0]], [t.stride(kd), t.stride(0)], [64, tk, 1])
        return tiled(kind, t.data_ptr(), [t.shape[kd], t.shape[lead], t.shape[0]], [t.stride(lead), t.stride(0)], [tk, rows // sharers, 1])

    ma = operand(a, d["A_TYPE"], d["A_MN"], tm, d["CLUSTER_N"], 1)
    mb = operand(b, d["B_TYPE"], d["B_MN"], tn, d["CLUSTER_M"], 2)
    if d["STORE"] == "STORE_DIRECT":
        mc = bytes(128)
    elif d["STORE"] == "STORE_TMA":
        mc = tiled(d["C_TYPE"], c.data_ptr(), [N, M, c.shape[0]], [c.stride(1), c.stride(0)], chunk_box(d))
    else:
        mc = tiled(d["C_TYPE"], c.data_ptr(), [M, N, c.shape[0]], [c.stride(2), c.stride(0)], chunk_box(d))
    cm, cn, grid = grid_of(d, -(-M // tm), -(-N // tn), c.shape[0])
    stages = -(-(-(-K // tk)) // parts)
    p = pack(M, N, stages, parts, cm, cn, c.shape[0], group, B // a.shape[0], a.shape[0], B // b.shape[0], b.shape[0],
             ("p", c.data_ptr()), ("p", c.stride(1)), ("p", c.stride(2)), ("p", c.stride(0)), *(args or (0,)))
    size = d["CLUSTER_M"] * d["CLUSTER_N"] * d["SPLIT"]
    return k.prepare(grid, 128 * (1 + d["CONSUMERS"]), size, [ma, mb, mc, p], overlap)


def flip(q):
    return list(reversed(q))


def three(q, fill):
    return flip(q) + [fill] * (3 - len(q))


def planar(xs, ys, ks, stride, pad, dil):
    """1-D problems as 2-D ones of one row."""
    lead = [1] * max(0, 2 - len(xs))
    return lead + list(xs), lead + list(ys), lead + list(ks), lead + stride, [0] * len(lead) + pad, lead + dil


def launch_conv(folder, d, a, w, out, walk, epilogue="", args=()):
    """`walk`: sizes of the result, strides, first pixels, taps, tap_first, tap_step, tap_offset, filter, all innermost last; place (W, H, D, N) or None."""
    group, overlap = d.pop("GROUP", 8), d.pop("OVERLAP", True)
    sp = len(walk["size"])
    d["SPATIAL"] = sp
    k = Kernel(cubin(folder, "conv_sm90.cu", d, epilogue), "conv_sm90", shared_bytes(d))
    tk, tm, tn = 128 // SIZE[d["A_TYPE"]], d["TILE_M"], d["TILE_N"]
    N, C = a.shape[0], a.shape[-1]
    dims = list(a.shape[1:-1]) if a.dim() - 2 == sp else [1] + list(a.shape[1:-1])
    upper = [st + (o - 1) * s - (i - 1) for st, o, s, i in zip(walk["start"], walk["size"], walk["stride"], dims)]
    ma = im2col(d["A_TYPE"], a.data_ptr(), [C, *flip(dims), N], flip(walk["start"]), flip(upper), tk, tm, flip(walk["stride"]))
    taps, ic, oc = math.prod(walk["filter"]), w.shape[-1], w.shape[0]
    box = [64, 1, tk] if d["B_MN"] else [tk, 1, tn // d["CLUSTER_M"]]
    mb = tiled(d["B_TYPE"], w.data_ptr(), [ic, taps, oc], [ic, ic * taps], box)
    pixels, ch = N * math.prod(walk["size"]), out.shape[-1]
    mc = tiled(d["C_TYPE"], out.data_ptr(), [ch, pixels, 1], [ch, ch * pixels], chunk_box(d)) if d["STORE"] == "STORE_TMA" else bytes(128)
    cm, cn, grid = grid_of(d, -(-pixels // tm), -(-ch // tn), 1)
    empty, blocks = walk.get("empty", False), -(-C // tk)
    one = [*three([0] * sp if empty else walk["taps"], 1), *three(walk["tap_first"], 0), *three(walk["tap_step"], 1), *three(walk["tap_offset"], 1), 0, 0, 0, 1 if empty else math.prod(walk["taps"]) * blocks, ("p", walk.get("offset", 0))]
    walks = one + [("p", 0)] * 63 if d["STORE"] == "STORE_ROWS" else one
    p = pack(pixels, ch, -(-C // tk), *three(walk["filter"], 1), *three(walk["size"], 1), *three(walk["stride"], 1), *three(walk["start"], 0), cm, cn, 1, group, 0, *walks,
             ("p", out.data_ptr()), ("p", ch), ("p", 1), ("p", 0),
             *[("p", x) for x in walk.get("place", [0] * 4)], *(args or (0,)))
    return k.prepare(grid, 128 * (1 + d["CONSUMERS"]), d["CLUSTER_M"] * d["CLUSTER_N"] * d["SPLIT"], [ma, mb, mc, p], overlap)


def conv(folder, v, x, w, y, stride, pad, dil, epilogue="", args=()):
    """Forward: x (N, spatial, C), w (OC, taps, C), y (N, spatial, OC), contiguous; 1 to 3 spatial dimensions, innermost last."""
    xs, ys, ks, stride, pad, dil = planar(x.shape[1:-1], y.shape[1:-1], w.shape[1:-1], stride, pad, dil)
    n = len(ks)
    return launch_conv(folder, dict(v), x, w, y, dict(size=ys, stride=stride, start=[-p for p in pad], taps=ks, tap_first=[0] * n, tap_step=[1] * n, tap_offset=dil, filter=ks), epilogue, args)


def conv_backward_data(folder, v, dy, w, dx, stride, pad, dil):
    """One launch, or one for each residue of a strided convolution."""
    xs, ys, ks, stride, pad, dil = planar(dx.shape[1:-1], dy.shape[1:-1], w.shape[1:-1], stride, pad, dil)
    n, go = len(ks), []
    C = dx.shape[-1]
    steps = [C * math.prod(xs[i + 1:]) for i in range(n)]
    for r in range(math.prod(stride)):
        res, rest = [], r
        for s in reversed(stride):
            res.insert(0, rest % s)
            rest //= s
        size = [-(-(x - a) // s) for x, a, s in zip(xs, res, stride)]
        if not all(size):
            continue
        first, taps, start, step, offset = [], [], [], [], []
        for k, s, p, q, a in zip(ks, stride, pad, dil, res):
            mine = [t for t in range(k) if (a + p - t * q) % s == 0]   # the taps of this residue
            taps.append(len(mine))
            first.append(mine[-1] if mine else 0)
            start.append((a + p - mine[-1] * q) // s if mine else 0)
            step.append(mine[-2] - mine[-1] if len(mine) > 1 else -1)
            offset.append((mine[-1] - mine[-2]) * q // s if len(mine) > 1 else 1)
        d = dict(v)
        if math.prod(stride) > 1:
            d["STORE"] = "STORE_ROWS"
        walk = dict(size=size, stride=[1] * n, start=start, taps=taps if all(taps) else [1] * n, empty=not all(taps), tap_first=first, tap_step=step, tap_offset=offset, filter=ks,
                    offset=sum(a * t for a, t in zip(res, steps)), place=[s * t for s, t in zip(flip(stride), flip(steps))] + [0] * (3 - n) + [C * math.prod(xs)])
        go.append(launch_conv(folder, d, dy, w, dx, walk))

    def run():
        for g in go:
            g()

    return run


_workspaces = {}


def workspace(elements):
    """One workspace of each size, shared by all in stream order."""
    import torch
    if elements not in _workspaces:
        _workspaces[elements] = torch.empty(elements, device="cuda")
    return _workspaces[elements]


def reduce_parts(folder, parts, count, c, kind):
    m, n = c.shape
    k = Kernel(cubin(folder, "reduce_parts.cu", dict(C_TYPE=kind, LANES=8)), "reduce_parts", 0)
    return k.prepare(-(-m * n // 128), 256, 1, [pack(("p", parts.data_ptr()), count, m, n, ("p", c.data_ptr()), ("p", n), ("p", 1), 0)])


def conv_backward_weights(folder, v, x, dy, dw, stride, pad, dil):
    xs, ys, ks, stride, pad, dil = planar(x.shape[1:-1], dy.shape[1:-1], dw.shape[1:-1], stride, pad, dil)
    d = dict(v)
    parts = d.pop("PARTS")
    N, C, OC, sp = x.shape[0], x.shape[-1], dy.shape[-1], len(xs)
    pixels, n = N * math.prod(ys), math.prod(ks) * C
    flat = dw.view(OC, n)
    out = workspace(parts * OC * n) if parts > 1 else flat
    if parts > 1:
        d["C_TYPE"] = "T_F32"
    if d.pop("POINTWISE"):
        first = gemm(folder, d, dy.view(1, pixels, OC).transpose(1, 2), x.view(1, pixels, C), out.view(parts, OC, n), parts=parts)
    else:
        d["SPATIAL"] = sp
        k = Kernel(cubin(folder, "conv_weights_sm90.cu", d), "conv_weights_sm90", shared_bytes(d))
        start = [-p for p in pad]
        upper = [st + (o - 1) * s - (i - 1) for st, o, s, i in zip(start, ys, stride, xs)]
        ma = tiled(d["A_TYPE"], dy.data_ptr(), [OC, pixels, 1], [OC, OC * pixels], [64, 64, 1])
        mb = im2col(d["B_TYPE"], x.data_ptr(), [C, *flip(xs), N], flip(start), flip(upper), 64, 64, flip(stride))
        mc = tiled(d["C_TYPE"], out.data_ptr(), [n, OC, parts], [n, n * OC], chunk_box(d))
        cm, cn, grid = grid_of(d, -(-OC // d["TILE_M"]), -(-n // d["TILE_N"]), parts)
        p = pack(OC, n, -(-(-(-pixels // 64)) // parts), C // 64, *three(ks, 1), *three(dil, 1), *three(ys, 1), *three(stride, 1), *three(start, 0), cm, cn, parts, 8,
                 ("p", out.data_ptr()), ("p", n), ("p", 1), ("p", n * OC), 0)
        first = k.prepare(grid, 128 * (1 + d["CONSUMERS"]), 1, [ma, mb, mc, p])
    if parts == 1:
        return first
    second = reduce_parts(folder, out, parts, flat, v["C_TYPE"])

    def run():
        first()
        second()

    return run


def conv_window(folder, v, x, w, y, stride, pad, epilogue="", args=()):
    """Few input channels; x (N, H, W, C) with any strides."""
    import torch
    d = dict(v)
    N, H, W, C = x.shape
    OC, KH, KW, _ = w.shape
    OH, OW = y.shape[1:3]
    cp = d["CHANNELS"]
    per = 2 if cp == 4 else 1
    stages, phases, (across, down) = -(-KH // per), stride[1] // per, (8, 16)
    rows, positions, width, lines = (OH - 1) * stride[0] + KH, OW + (cp - 1) // phases, across + (cp - 1) // phases, (down - 1) * stride[0] + KH
    order = sorted(range(cp), key=lambda i: (i % phases, i))
    pieces = N * rows * phases * positions
    packed, wp = workspace(pieces * 4), torch.empty(OC * stages * per * 8 * cp, device="cuda", dtype=x.dtype)
    pk = cubin(folder, "window_pack.cu", dict(CHANNELS=cp))
    one = Kernel(pk, "window_pack", 0).prepare(-(-pieces // 256), 256, 1, [pack(("p", x.data_ptr()), ("p", packed.data_ptr()), C, W, H, pad[1], pad[0], positions, phases, rows, pieces, 0,
                                               ("p", x.stride(3)), ("p", x.stride(2)), ("p", x.stride(1)), ("p", x.stride(0)))])
    two = Kernel(pk, "window_weights", 0).prepare(-(-OC * stages * per * 8 // 256), 256, 1, [pack(("p", w.data_ptr()), ("p", wp.data_ptr()), OC, C, KW, KH, stages * per,
                                                  int.from_bytes(sum(p << 4 * i for i, p in enumerate(order)).to_bytes(4, "little"), "little", signed=True),
                                                  ("p", w.stride(0)), ("p", w.stride(3)), ("p", w.stride(2)), ("p", w.stride(1)))])
    ma = tiled("WORDS", packed.data_ptr(), [2 * positions, phases, rows, N], [2 * positions, 2 * positions * phases, 2 * positions * phases * rows], [2 * width, phases, lines, 1], 0)
    kk = stages * per * 8 * cp
    mb = tiled(d["A_TYPE"], wp.data_ptr(), [kk, OC, 1], [kk, kk * OC], [64, d["TILE_N"], 1])
    mc = tiled(d["A_TYPE"], y.data_ptr(), [OC, OW, OH, N], [OC, OC * OW, OC * OW * OH], [64, 8, 8, 1])
    tiles_w, tiles_h = -(-OW // across), -(-OH // down)
    tiles, columns, line = N * tiles_w * tiles_h, -(-OC // d["TILE_N"]), phases * width
    buffer = -(-line * lines * 16 // 128) * 128
    fixed = 34 * 1024 + stages * 8192
    resident = 2 if (115200 - fixed) // buffer >= 2 else 1
    buffers = min(4, (232448 // resident - 1024 - fixed) // buffer)
    k = Kernel(cubin(folder, "conv_window_sm90.cu", d, epilogue), "conv_window_sm90", fixed + buffers * buffer)
    p = pack(OC, columns, tiles, tiles_w, tiles_h, stride[0], KH, line, line * lines * 16, stride[0] * line, 8 * stride[0] * line, stages, buffers, buffer,
             *[i % phases * width + i // phases for i in order], ("p", y.data_ptr()), ("p", OC), ("p", 1), ("p", 0), *(args or (0,)))
    three_ = k.prepare(max(1, min(tiles, 132 * resident // columns)) * columns, 384, 1, [ma, mb, mc, p])

    def run():
        one()
        two()
        three_()

    run.keep = (wp, packed)
    return run


def attention(folder, v, q, k, o, val, causal_offset, scale, log_sum=None):
    """q (B, H, S, D), k (B, G, SK, D) of any of the two orders, val (B, G, SK, D), o as q."""
    d = dict(v)
    chunk = d.pop("CHUNK", None)
    B, H, S, D = q.shape
    G, SK = k.shape[1], k.shape[2]
    share = H // G
    if S == 1 and share > 1:   # decode: the heads of a group are queries of one head
        q, o = q.reshape(B, G, share, D), o.view(B, G, share, D)
        H, S, share = G, share, 1
    k_mn = int(k.stride(3) != 1)
    d["K_MN"] = k_mn
    rows, tn, head = 64 * d["CONSUMERS"], d["TILE_N"], d["HEAD"]
    kind, few = d["A_TYPE"], d.get("FEW", 0)
    loaded = 8 if few else rows
    shared = 1280 + head * 2 * (2 * loaded + 2 * d["STAGES"] * tn)
    if shared > 232448:
        shared -= head * 2 * rows
    kern = Kernel(cubin(folder, "attention_sm90.cu", d), "attention_sm90", shared)
    four = lambda t, box: tiled(kind, t.data_ptr(), [t.shape[3], t.shape[2], t.shape[1], t.shape[0]], [t.stride(2), t.stride(1), t.stride(0)], box)
    mq, mv, mo = four(q, [64, loaded, 1, 1]), four(val, [64, tn, 1, 1]), four(o, [64, 64, 1, 1])
    mk = four(k.transpose(2, 3), [64, head, 1, 1]) if k_mn else four(k, [64, tn, 1, 1])
    tiles = -(-S // rows)
    if chunk is None:
        chunk = plans.attention_chunk(d, B * H, tiles, rows, SK, D, share)
    p = pack(S, SK, H, B, share, tiles, chunk, causal_offset, float(scale), 0, ("p", 0), ("p", log_sum.data_ptr() if log_sum is not None else 0),
             *([("p", x) for x in (o.data_ptr(), o.stride(2), o.stride(1), o.stride(0), D)] if few else []))
    resident = 2 if d["CONSUMERS"] == 1 and (loaded * (1 + few) + d["STAGES"] * tn) * head * 2 <= 56 << 10 else 1
    work, slots = tiles * H * B, 132 * resident
    return kern.prepare(-(-work // -(-work // slots)) if few else min(slots, work), 128 * (1 + d["CONSUMERS"]), 1, [mq, mk, mv, mo, p])


def gemv(folder, v, a, b, c, epilogue="", args=()):
    """C = A B for up to 8 rows; b (batch, K, N) contiguous along K."""
    d = dict(v)
    d.pop("KERNEL")
    k = Kernel(cubin(folder, "gemv.cu", d, epilogue), "gemv", 0)
    B, M, N = c.shape
    p = pack(("p", a.data_ptr()), ("p", b.data_ptr()), ("p", c.data_ptr()), M, N, a.shape[2], ("p", a.stride(1)), ("p", b.stride(2)), ("p", c.stride(1)), ("p", c.stride(2)),
             ("p", a.stride(0)), ("p", b.stride(0)), ("p", c.stride(0)), *(args or (0,)))
    return k.prepare((-(-N // (4 * d["COLUMNS"])), B, 1), 128, 1, [p])


def gemm_sm80(folder, v, a, b, c, epilogue="", args=()):
    """As `gemm`, any alignment; a and b contiguous along one of their two dimensions."""
    d = dict(v)
    d.pop("KERNEL")
    k = Kernel(cubin(folder, "gemm_sm80.cu", d, epilogue), "gemm_sm80", 3 * 256 * d["TILE"])
    B, M, N = c.shape
    tm, tn = -(-M // d["TILE"]), -(-N // d["TILE"])
    p = pack(("p", a.data_ptr()), ("p", b.data_ptr()), ("p", c.data_ptr()), M, N, a.shape[2], tm, tn, 8, B // a.shape[0], a.shape[0], B // b.shape[0], b.shape[0],
             ("p", a.stride(2 if d["A_MN"] else 1)), ("p", b.stride(1 if d["B_MN"] else 2)), ("p", a.stride(0)), ("p", b.stride(0)), ("p", c.stride(1)), ("p", c.stride(2)), ("p", c.stride(0)), *(args or (0,)))
    return k.prepare((tm * tn, B, 1), 2 * d["TILE"], 1, [p])


def gemm_w4(folder, v, a, w, scales, c):
    """a (1, rows, K), w (K, N / 2) bytes, scales (groups, N), c (1, rows, N)."""
    import torch
    d = dict(v)
    d.pop("KERNEL", None)
    rows, K = a.shape[1:]
    N = c.shape[2]
    group = K // scales.shape[0]
    path = cubin(folder, "gemm_w4.cu" if "ROWS" in d else "gemm_w4_sm90.cu", d)
    if "ROWS" in d:
        p = pack(("p", a.data_ptr()), ("p", w.data_ptr()), ("p", scales.data_ptr()), ("p", c.data_ptr()), rows, N, K, group, ("p", a.stride(1)), ("p", w.stride(0)), ("p", scales.stride(0)), ("p", c.stride(1)), 0)
        return Kernel(path, "gemm_w4", d["ROWS"] * d["WIDTH"] * 36).prepare(-(-N // d["WIDTH"]) * d["SPLIT"], 256, d["SPLIT"], [p])
    bytes_of_stage = 4352 + d["TILE_N"] * 128 + 16
    ma = tiled(d["A_TYPE"], a.data_ptr(), [K, rows, 1], [a.stride(1), a.stride(0)], [64, d["TILE_N"], 1])
    mw = tiled("T_U8", w.data_ptr(), [N // 2, K, 1], [w.stride(0), w.stride(0) * K], [64, 64, 1], 2)
    ms = tiled(d["A_TYPE"], scales.data_ptr(), [N, scales.shape[0], 1], [scales.stride(0), scales.stride(0) * scales.shape[0]], [128, 1, 1], 0)
    cm, cn, grid = grid_of(d, -(-N // 128), -(-rows // d["TILE_N"]), 1)
    p = pack(N, rows, -(-K // 64), max(1, group // 64), cm, cn, 1, 8, ("p", c.data_ptr()), ("p", c.stride(1)), 0)
    return Kernel(path, "gemm_w4_sm90", 1040 + d["STAGES"] * bytes_of_stage).prepare(grid, 384, d["SPLIT"], [mw, ms, ma, p])


# ---- problems --------------------------------------------------------------------------------------------------------------------------


def options(line):
    words = line.split()
    o = {}
    for w in words[1:-1]:
        k, _, v = w[2:].partition("=")
        o[k.replace("-", "_")] = v or "true"
    return words[0][2:], o, words[-1]


KIND = {"bf16": "T_BF16", "f16": "T_F16", "f32": "T_F32", "s8": "T_S8", "u8": "T_U8", "s32": "T_S32", "f8_e4m3": "T_E4M3", "f8_e5m2": "T_E5M2"}


def describe(line):
    """What plans.py wants to know of a problem, or None."""
    driver, o, desc = options(line)
    if driver == "matmul" and ":s4:" in o["dt"]:
        a, b = [list(map(int, s.split("x"))) for s in desc.split(":")]
        t = KIND[o["dt"].split(":")[0]]
        return dict(op="w4", types=[t] * 3, batch=1, m=a[0], n=b[1], k=a[1], a_mn=0, b_mn=1, epilogue="")
    if driver == "matmul":
        dts = [KIND.get(t) for t in o["dt"].split(":")]
        dts = dts if len(dts) == 3 else dts * 3
        if None in dts:
            return None
        if dts[0] == "T_F32":
            if "tf32" not in o.get("attr_fpmath", ""):
                return None
            dts = ["T_TF32", "T_TF32", "T_F32"]
        a, b = [list(map(int, s.split("x"))) for s in desc.split(":")]
        epi = ""
        if "bia_dt" in o:
            epi = "bias_" + o["attr_post_ops"]
        if "attr_scales" in o:
            epi = "scale"
        bat = a[0] if len(a) == 3 else 1
        a_mn = o.get("stag", "ab") in ("ba", "acb")
        b_mn = o.get("wtag", "ab") in ("ab", "abc")
        if len(b) == 3:
            bat = max(bat, b[0])
        return dict(op="matmul", types=dts, batch=bat, batches=(a[0] if len(a) == 3 else 1, b[0] if len(b) == 3 else 1), m=a[-2], n=b[-1], k=a[-1], a_mn=int(a_mn), b_mn=int(b_mn), epilogue=epi)
    if driver == "conv":
        dts = [KIND.get(t) for t in o["dt"].split(":")]
        dts = dts if len(dts) == 3 else dts * 3
        if dts[0] == "T_F32":
            if "tf32" not in o.get("attr_fpmath", ""):
                return None
            dts = ["T_TF32", "T_TF32", "T_F32"]
        z = sizes(desc)
        if z["g"] > 1 or None in dts:
            return None
        way, small, nhwc = o.get("dir"), z["ic"] < 8, o.get("stag") == "axb"
        if way == "BWD_W" and z["ic"] % 64:
            return None
        if way != "FWD_I" and (small or not nhwc) or small and (SIZE[dts[0]] != 2 or z["oc"] % 8 or o.get("dtag") != o.get("stag") and not o["dtag"] == "axb") or not small and not nhwc:
            return None
        return dict(op="conv", way=way, small=small, nhwc=nhwc, pointwise=not small and set(z["k"] + z["s"]) == {1} and not any(z["p"]), types=dts, z=z, batch=1, m=z["mb"] * math.prod(z["o"]), n=z["oc"], k=z["ic"] * math.prod(z["k"]), a_mn=0, b_mn=0, epilogue="scale" if "attr_scales" in o else "")
    if driver == "sdpa":
        q, k, v = [list(map(int, s.split("x"))) for s in desc.split(":")]
        dt = KIND[o["dt"]]
        return dict(op="sdpa", types=[dt] * 3, batch=q[0] * q[1], m=q[2], n=k[3], k=q[3], q=q, kv=[k[0], k[1], k[3], k[2]], causal=int("causal" in o.get("mask", "none")), epilogue="")
    return None


def sizes(s):
    d = {k: int(v) for k, v in re.findall(r"([a-z]+?)_?(\d+)", s)}
    nd = 3 if "id" in d else 2 if "ih" in d else 1
    big = {}
    for p, default in (("i", None), ("o", None), ("k", 1), ("s", 1), ("d", 0), ("p", 0)):
        vals, last = [], default
        for a in "dhw"[3 - nd:]:
            last = d.get(p + a, last)
            vals.append(last)
        big[p] = vals
    big.update(mb=d.get("mb", 2), g=d.get("g", 1), ic=d["ic"], oc=d.get("oc", d["ic"]))
    big["o"] = [o if o else (i + 2 * p - (k - 1) * (q + 1) - 1) // t + 1 for i, o, k, t, q, p in zip(*[big[x] for x in "ioksdp"])]
    return big


class Problem:
    """Tensors of a problem, ours and the peer's way to compute it, and the truth."""

    def __init__(self, q, folder):
        import torch
        self.q, self.folder, t = q, folder, torch
        T = {"T_BF16": t.bfloat16, "T_F16": t.float16, "T_F32": t.float32, "T_TF32": t.float32, "T_S8": t.int8, "T_U8": t.uint8, "T_S32": t.int32, "T_E4M3": t.float8_e4m3fn, "T_E5M2": t.float8_e5m2}
        self.ta, self.tb, self.tc = [T[x] for x in q["types"]]
        size = lambda x: SIZE[x]
        B, M, N, K = q["batch"], q["m"], q["n"], q["k"]
        by = B * (M * K * size(q["types"][0]) + N * K * size(q["types"][1]) + M * N * size(q["types"][2]))
        if q["op"] == "conv":
            z = q["z"]
            by = z["mb"] * z["ic"] * math.prod(z["i"]) * size(q["types"][0]) + N * K * size(q["types"][1]) + M * N * size(q["types"][2])
        self.bytes, self.flops = by, 2 * B * M * N * K
        if q["op"] == "sdpa":
            self.bytes = 4 * (math.prod(q["q"]) + math.prod(q["kv"]))
            self.flops = 4 * B * M * N * K // (1 + q["causal"])
            by = self.bytes
        self.sets = [self.make() for _ in range(max(1, min(8, int(120e6 / by) + 1)))]

    def rnd(self, shape, dt):
        import torch
        if not dt.is_floating_point:
            return torch.randint(-8 if dt == torch.int8 else 0, 8, shape, device="cuda", dtype=dt)
        return torch.randn(shape, device="cuda").mul_(0.5).to(dt)

    def make(self):
        import torch
        q, B = self.q, self.q["batch"]
        if q["op"] == "sdpa":
            b, h, sk, d = q["kv"]
            return self.rnd(q["q"], self.ta), self.rnd(q["kv"], self.ta), torch.empty(q["q"], device="cuda", dtype=self.ta), self.rnd(q["kv"], self.ta)
        if q["op"] == "conv":
            z = q["z"]
            place = (lambda t: t) if q["nhwc"] else (lambda t: t.movedim(-1, 1).contiguous().movedim(1, -1))
            x, w = place(self.rnd([z["mb"], *z["i"], z["ic"]], self.ta)), place(self.rnd([z["oc"], *z["k"], z["ic"]], self.tb))
            y = self.rnd([z["mb"], *z["o"], z["oc"]], self.tc)
            return {"FWD_I": (x, w, y, None), "BWD_D": (y, w, x, None), "BWD_W": (y, x, w, None)}[q["way"]]
        M, N, K = q["m"], q["n"], q["k"]
        if q["op"] == "w4":
            w = torch.randint(0, 256, (K, N // 2), device="cuda", dtype=torch.uint8)
            return self.rnd([1, M, K], self.ta), (w, (torch.rand(K // 128, N, device="cuda") + 0.5).to(torch.bfloat16)), self.rnd([1, M, N], self.tc), None
        BA, BB = q["batches"]
        a = self.rnd([BA, K, M], self.ta).transpose(1, 2) if q["a_mn"] else self.rnd([BA, M, K], self.ta)
        b = self.rnd([BB, K, N], self.tb) if q["b_mn"] else self.rnd([BB, N, K], self.tb).transpose(1, 2)
        return a, b, self.rnd([B, M, N], self.tc), self.rnd([N], torch.bfloat16) if "bias" in q["epilogue"] else None

    def peer(self):
        import torch
        q, z = self.q, self.q.get("z")
        tf32 = q["types"][0] == "T_TF32"
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = tf32
        if q["op"] == "sdpa":
            return lambda s: torch.nn.functional.scaled_dot_product_attention(s[0], s[1], s[3], is_causal=bool(q["causal"]), enable_gqa=q["q"][1] != q["kv"][1])
        if q["op"] == "conv":
            if self.ta == torch.int8:
                return None
            perm = lambda t: t.movedim(-1, 1)
            dil = [a + 1 for a in z["d"]]
            if q["way"] != "FWD_I":
                mask = [q["way"] == "BWD_D", q["way"] == "BWD_W", False]
                xw = (lambda s: (s[2], s[1])) if mask[0] else (lambda s: (s[1], s[2]))
                return lambda s: torch.ops.aten.convolution_backward(perm(s[0]), *map(perm, xw(s)), None, z["s"], z["p"], dil, False, [0] * len(dil), 1, mask)
            return lambda s: torch.ops.aten.convolution(perm(s[0]), perm(s[1]), None, z["s"], z["p"], dil, False, [0] * len(dil), 1)
        if q["op"] == "w4":
            full = [self.rnd([q["k"], q["n"]], self.ta) for _ in range(4)]   # no counterpart there: 16-bit weights
            turn = [0]

            def product(s):
                turn[0] += 1
                return torch.matmul(s[0][0], full[turn[0] % 4])

            return product
        a = lambda s: (s[0][0], s[1][0]) if q["batch"] == 1 else (s[0], s[1])
        if self.ta == torch.int8:
            return lambda s: torch._int_mm(*a(s))
        if q["types"][0] == "T_E4M3":
            one = torch.tensor(0.5, device="cuda")
            return lambda s: torch._scaled_mm(*a(s), scale_a=one, scale_b=one, out_dtype=torch.bfloat16)
        if "bias" in q["epilogue"]:
            return lambda s: torch.ops.aten._addmm_activation(s[3], *a(s), use_gelu="gelu" in q["epilogue"])
        return lambda s: torch.matmul(*a(s))

    def truth(self, s):
        import torch
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
        q = self.q
        if q["op"] == "sdpa":
            f = s
            g = q["q"][1] // q["kv"][1]
            r = torch.empty(q["q"], device="cuda")
            for b in range(q["q"][0]):
                for h in range(q["q"][1]):
                    x = (f[0][b, h].float() @ f[1][b, h // g].float().T) * q["k"] ** -0.5
                    if q["causal"]:
                        x.masked_fill_(torch.ones_like(x, dtype=torch.bool).triu_(1), float("-inf"))
                    r[b, h] = torch.softmax(x, -1) @ f[3][b, h // g].float()
            return r
        if q["op"] == "conv" and q["way"] != "FWD_I":
            z, perm, mask = q["z"], lambda t: t.float().movedim(-1, 1), [q["way"] == "BWD_D", q["way"] == "BWD_W", False]
            x, w = (s[2], s[1]) if mask[0] else (s[1], s[2])
            r = torch.ops.aten.convolution_backward(perm(s[0]), perm(x), perm(w), None, z["s"], z["p"], [a + 1 for a in z["d"]], False, [0] * len(z["d"]), 1, mask)
            return r[0 if mask[0] else 1].movedim(1, -1)
        if q["op"] == "conv":
            z = q["z"]
            r = torch.ops.aten.convolution(s[0].float().movedim(-1, 1), s[1].float().movedim(-1, 1), None, z["s"], z["p"], [a + 1 for a in z["d"]], False, [0] * len(z["d"]), 1).movedim(1, -1)
        elif q["op"] == "w4":
            w, scales = s[1]
            four = torch.stack([w & 15, w >> 4], -1).reshape(q["k"], q["n"]).float()
            four = torch.where(four > 7, four - 16, four) * scales.float().repeat_interleave(128, 0)
            r = torch.matmul(s[0].float(), four)
        else:
            r = torch.matmul(s[0].float(), s[1].float())
        if s[3] is not None:
            r = r + s[3].float()
        if "relu" in q["epilogue"]:
            r = r.relu()
        if "gelu" in q["epilogue"]:
            r = torch.nn.functional.gelu(r, approximate="tanh")
        if q["epilogue"] == "scale":
            r = r * 0.25
        if self.tc in (torch.int8, torch.uint8):
            r = r.round().clamp(-128, 127)
        return r

    def ours(self, v, s):
        q = self.q
        if q["op"] == "sdpa":
            v = dict(v)
            k = s[1]
            if v.pop("K_MN", 0):
                k = k.transpose(2, 3).contiguous().transpose(2, 3)
            go = attention(self.folder, v, s[0], k, s[2], s[3], 0, q["k"] ** -0.5)
            go.k = k
            return go
        if q["op"] == "w4":
            return gemm_w4(self.folder, v, s[0], *s[1], s[2])
        args = (("p", s[3].data_ptr()),) if s[3] is not None else (0.25,) if q["epilogue"] == "scale" else ()
        if q["op"] == "conv" and q["small"]:
            return conv_window(self.folder, v, s[0], s[1], s[2], q["z"]["s"], q["z"]["p"], q["epilogue"], args)
        if q["op"] == "conv" and q["way"] == "BWD_D" and q["pointwise"]:
            rows = lambda t: t.view(1, -1, t.shape[-1])
            return gemm(self.folder, v, rows(s[0]), s[1].view(1, q["z"]["oc"], q["z"]["ic"]), rows(s[2]))
        if q["op"] == "conv" and q["way"] != "FWD_I":
            z = q["z"]
            f = conv_backward_data if q["way"] == "BWD_D" else conv_backward_weights
            return f(self.folder, v, *((s[0], s[1], s[2]) if q["way"] == "BWD_D" else (s[1], s[0], s[2])), z["s"], z["p"], [a + 1 for a in z["d"]])
        if q["op"] == "conv" and q["pointwise"]:
            rows = lambda t: t.view(1, -1, t.shape[-1])
            return gemm(self.folder, v, rows(s[0]), s[1].view(1, q["n"], q["k"]).transpose(1, 2), rows(s[2]), q["epilogue"], args)
        if q["op"] == "conv":
            z = q["z"]
            return conv(self.folder, v, s[0], s[1], s[2], z["s"], z["p"], [a + 1 for a in z["d"]], q["epilogue"], args)
        if v.get("KERNEL") == "sm80":
            return gemm_sm80(self.folder, v, s[0], s[1], s[2], q["epilogue"], args)
        if v.get("KERNEL") == "gemv":
            return gemv(self.folder, v, s[0], s[1], s[2], q["epilogue"], args)
        return gemm(self.folder, v, s[0], s[1], s[2], q["epilogue"], args)

    def check(self, v, want):
        """'' or what is wrong."""
        import torch
        s = self.sets[0]
        c = s[2]
        c.fill_(float("nan") if c.dtype.is_floating_point else 77)
        self.ours(v, s)()
        torch.cuda.synchronize()
        got = c.float()
        if not torch.isfinite(got).all():
            return f"{int((~torch.isfinite(got)).sum())} not written"
        err, rms = (got - want).abs(), want.pow(2).mean().sqrt()
        eps = {"T_BF16": 2**-8, "T_F16": 2**-11, "T_E4M3": 2**-4, "T_E5M2": 2**-3}.get(self.q["types"][2], 1e-6)
        acc = {"T_TF32": 5e-3, "T_E4M3": 5e-3, "T_E5M2": 5e-3, "T_BF16": 1e-4, "T_F16": 1e-4}.get(self.q["types"][0], 0)
        if self.q["op"] == "w4":
            acc = 1e-2   # weights times scales are rounded to 16 bits
        if self.q["op"] == "sdpa":
            acc, rms = 2e-2, want.pow(2).mean(-1, keepdim=True).sqrt()   # probabilities are rounded to 16 bits
        if "tanh" in self.q["epilogue"]:
            acc = 2e-3
        step = 0 if c.dtype.is_floating_point else 1.01 if self.q["op"] == "conv" else 0.51   # of a convolution in f32 the truth itself is rounded
        bad = (err > eps * want.abs() * 1.01 + acc * rms + step).sum()
        self.error = float((got - want).norm() / want.norm())
        return f"{int(bad)} of {got.numel()} wrong, error {self.error:.2e}, at {(err.flatten().argmax().item())}" if bad else ""


def measure(runs):
    """Milliseconds of one execution: median over replays of a graph of executions over sets of tensors."""
    import torch
    for r in runs:
        r()
    torch.cuda.synchronize()
    e = [torch.cuda.Event(enable_timing=True) for _ in range(2)]

    def span(go, reps):
        out = []
        for _ in range(reps):
            e[0].record()
            go()
            e[1].record()
            e[1].synchronize()
            out.append(e[0].elapsed_time(e[1]))
        return statistics.median(out)

    one = span(runs[0], 3)
    n = max(1, min(200, int(2.0 / max(one, 1e-3))))
    n = -(-n // len(runs)) * len(runs)
    g = torch.cuda.CUDAGraph()
    with torch.cuda.graph(g):
        for i in range(n):
            runs[i % len(runs)]()
    g.replay()
    torch.cuda.synchronize()
    return span(g.replay, 9) / n


# ---- the two processes -----------------------------------------------------------------------------------------------------------------


def read(files):
    out = []
    for f in files:
        for line in open(f):
            line = line.split("#")[0].strip()
            if line:
                q = describe(line)
                if q:
                    out.append((os.path.basename(f)[:-4], line, q))
    return out


def worker(folder, files, skip, check_only):
    import torch
    torch.backends.cudnn.benchmark = True
    say = lambda **k: print(json.dumps(k), flush=True)
    item = 0
    for suite, line, q in read(files):
        cands = plans.candidates(q)
        if item + len(cands) + 1 <= skip:
            item += len(cands) + 1
            continue
        p = Problem(q, folder)
        want = p.truth(p.sets[0])
        for v in [None] + cands:
            if item >= skip:
                say(begin=item, suite=suite, line=line, plan=v and plans.name(v))
                try:
                    if v is None:
                        f = p.peer()
                        ms = measure([lambda s=s: f(s) for s in p.sets]) if f and not check_only else None
                        say(end=item, suite=suite, line=line, plan="peer", ms=ms, tf=ms and p.flops / ms / 1e9, gbs=ms and p.bytes / ms / 1e6)
                    else:
                        wrong = p.check(v, want)
                        ms = None if wrong or check_only else measure([p.ours(v, s) for s in p.sets])
                        say(end=item, suite=suite, line=line, plan=plans.name(v), predicted=plans.predict(q, v), wrong=wrong, error=getattr(p, "error", None), ms=ms, tf=ms and p.flops / ms / 1e9, gbs=ms and p.bytes / ms / 1e6)
                except Exception as x:
                    say(end=item, suite=suite, line=line, plan=v and plans.name(v), wrong=f"{type(x).__name__}: {x}"[:300])
                    if "ERROR" in str(x) and "INVALID_VALUE" not in str(x) or "CUDA error" in str(x):
                        return
            item += 1
        del p, want
        torch.cuda.empty_cache()


def run(folder, files, log, check_only, limit):
    skip, results, stop = 0, [], time.time() + limit
    while time.time() < stop:
        w = subprocess.Popen([sys.executable, os.path.abspath(__file__), "worker", folder, str(skip), str(int(check_only)), *files], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        pending, buf, began, finished = None, b"", time.time(), False
        while time.time() < stop:
            ready, _, _ = select.select([w.stdout], [], [], 1)
            if ready:
                data = os.read(w.stdout.fileno(), 65536)
                if not data:
                    finished = pending is None
                    break
                buf += data
                *lines, buf = buf.split(b"\n")
                for l in lines:
                    try:
                        r = json.loads(l)
                    except ValueError:
                        print("  worker:", l.decode(errors="replace")[:300])
                        continue
                    began = time.time()
                    if "begin" in r:
                        pending = r
                    else:
                        pending, skip = None, r["end"] + 1
                        results.append(r)
                        log.write(json.dumps(r) + "\n")
                        log.flush()
            elif time.time() - began > (20 if pending else 40):
                break
        w.kill()
        w.wait()
        if finished:
            break
        if pending:
            r = dict(suite=pending["suite"], line=pending["line"], plan=pending["plan"], wrong="hung or died", end=pending["begin"])
            results.append(r)
            log.write(json.dumps(r) + "\n")
            skip = pending["begin"] + 1
    return results


def short(line):
    driver, o, desc = options(line)
    return " ".join([o["dt"], o.get("dir", ""), o.get("wtag", ""), o.get("attr_post_ops", ""), o.get("mask", ""), desc])


def report(results):
    groups = {}
    for r in results:
        groups.setdefault((r["suite"], r["line"]), []).append(r)
    sums = {}
    for (suite, line), rs in groups.items():
        peer = next((r["ms"] for r in rs if r["plan"] == "peer" and r.get("ms")), None)
        good = sorted([r for r in rs if r["plan"] != "peer" and r.get("ms")], key=lambda r: r["ms"])
        first = next((r for r in rs if r["plan"] != "peer"), None)
        bad = [r for r in rs if r.get("wrong")]
        if good:
            b = good[0]
            ratio = peer / b["ms"] if peer else float("nan")
            if peer:
                sums.setdefault(suite, []).append(ratio)
            print(f"{suite:16.16} {short(line):44.44} peer {1e3 * (peer or 0):8.1f} ours {1e3 * b['ms']:8.1f} us {b['tf']:6.0f} TF {b['gbs']:5.0f} GB/s x{ratio:.3f} {b['plan']}"
                  + (f" | planned {1e3 * first['ms']:.1f}" if first and first.get("ms") else ""))
            print("      " + "; ".join(f"{r['plan']} {1e3 * r['ms']:.1f} ({r['predicted']:.1f})" for r in good[1:7]))
        for r in bad:
            print(f"  WRONG {suite} {short(line)} {r['plan']}: {r['wrong']}")
    for s, xs in sums.items():
        print(f"geometric mean {s}: {math.exp(sum(map(math.log, xs)) / len(xs)):.3f} of {len(xs)}")
    print(f"{sum(1 for r in results if r['plan'] != 'peer' and not r.get('wrong'))} right, {sum(1 for r in results if r.get('wrong'))} wrong")


def build_one(job):
    folder, q = job
    for v in plans.candidates(q):
        d = {k: x for k, x in v.items() if k not in ("GROUP", "OVERLAP", "SWAP", "CHUNK", "PARTS", "POINTWISE")}
        source, plain = "gemm_sm90.cu", q["op"] == "conv" and not q["pointwise"]
        if v.get("KERNEL") in ("gemv", "sm80"):
            source = {"gemv": "gemv.cu", "sm80": "gemm_sm80.cu"}[d.pop("KERNEL")]
        elif q["op"] == "w4":
            d.pop("KERNEL")
            source = "gemm_w4.cu" if "ROWS" in d else "gemm_w4_sm90.cu"
        elif q["op"] == "sdpa":
            source = "attention_sm90.cu"
        elif plain and q["small"]:
            source = "conv_window_sm90.cu"
            cubin(folder, "window_pack.cu", dict(CHANNELS=d["CHANNELS"]))
        elif plain:
            source = "conv_weights_sm90.cu" if q["way"] == "BWD_W" else "conv_sm90.cu"
            d["SPATIAL"] = max(2, len(q["z"]["i"]))
            if q["way"] == "BWD_D" and math.prod(q["z"]["s"]) > 1:
                d["STORE"] = "STORE_ROWS"
        if v.get("PARTS", 1) > 1:
            cubin(folder, "reduce_parts.cu", dict(C_TYPE=d["C_TYPE"], LANES=8))
            d["C_TYPE"] = "T_F32"
        cubin(folder, source, d, q["epilogue"])


def build(folder, files):
    import multiprocessing
    os.makedirs(folder, exist_ok=True)
    with multiprocessing.Pool(os.cpu_count()) as pool:
        pool.map(build_one, [(folder, q) for _, _, q in read(files)], chunksize=1)


if __name__ == "__main__":
    mode, args = sys.argv[1], sys.argv[2:]
    if mode == "worker":
        worker(args[0], args[3:], int(args[1]), args[2] == "1")
    elif mode == "build":
        build(args[0], args[1:])
    else:
        check_only = "--check" in args
        args = [a for a in args if a != "--check"]
        log, limit = os.devnull, 1000
        for flag in ("--log", "--limit"):
            if flag in args:
                i = args.index(flag)
                if flag == "--log":
                    log = args[i + 1]
                else:
                    limit = float(args[i + 1])
                del args[i : i + 2]
        with open(log, "w") as f:
            report(run(args[0], args[1:], f, check_only, limit))
