#!/usr/bin/env python3
"""libcudnn.so.9 of oxidnn on its CUDA engine, with PyTorch's memory and streams: usage tests/gpu/cudnn.py LIBCUDNN [times]

Calls the classic functions and plans of the backend interface (also with scalars by value) through ctypes on PyTorch's tensors, on the default stream and on
another one, and compares with PyTorch on the CPU in double precision. Fails if a result is wrong. `times` adds the time of each convolution beside PyTorch's cuDNN.
Needs a GPU and PyTorch; LIBCUDNN (target/release/libcudnn.so) may be built anywhere.
"""
import ctypes
import os
import sys

os.environ.setdefault("OXIDNN_CUDNN_ENGINE", "cuda")
import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402

# RTLD_LOCAL: PyTorch has a library of the same name, and symbols of this one must not reach it.
lib = ctypes.CDLL(os.path.abspath(sys.argv[1]), mode=os.RTLD_NOW | os.RTLD_LOCAL)
TYPES = {torch.float32: 0, torch.float16: 2, torch.bfloat16: 9}
EXACT, DEFAULT = 3, 0  # cudnnMathType_t: default math rounds f32 to TF32
BOUNDS = {torch.float32: 2e-5, torch.float16: 4e-3, torch.bfloat16: 3e-2}
NHWC, NCHW = torch.channels_last, torch.contiguous_format
failed = checks = 0


def ok(status, what):
    if status != 0:
        text = ctypes.create_string_buffer(4096)
        lib.cudnnGetLastErrorString(text, ctypes.c_size_t(4096))
        raise RuntimeError(f"{what}: {status}: {text.value.decode()}")


def call(name, *args):
    ok(getattr(lib, name)(*args), name)


def created(kind):
    made = ctypes.c_void_p()
    call(f"cudnnCreate{kind}", ctypes.byref(made))
    return made


def ints(values):
    return (ctypes.c_int * len(values))(*values)


def tensor(t):
    d = created("TensorDescriptor")
    call("cudnnSetTensorNdDescriptor", d, TYPES[t.dtype], t.dim(), ints(t.shape), ints(t.stride()))
    return d


def weights(t):
    d = created("FilterDescriptor")
    last = t.is_contiguous(memory_format=NHWC) and not t.is_contiguous()
    call("cudnnSetFilterNdDescriptor", d, TYPES[t.dtype], 1 if last else 0, t.dim(), ints(t.shape))
    return d


def at(t):
    return ctypes.c_void_p(t.data_ptr())


ONE, ZERO = ctypes.byref(ctypes.c_float(1)), ctypes.byref(ctypes.c_float(0))


def attempt(what, run):
    """A call that may be refused: that is a failure of its own."""
    global failed
    try:
        return run()
    except RuntimeError as why:
        failed += 1
        print(f"FAILED: {what}: {why}")


def compare(what, got, wanted, math=EXACT):
    global failed, checks
    checks += 1
    bound = BOUNDS[got.dtype if math == EXACT else torch.float16] * max(1.0, wanted.abs().max().item())
    worst = (got.double().cpu() - wanted).abs().max().item()
    if not worst <= bound:
        failed += 1
        print(f"FAILED: {what}: {worst:.3g} off, {bound:.3g} allowed")


def random(shape, dtype, layout=NCHW):
    x = torch.randn(shape, dtype=torch.float32, device="cuda").to(dtype)
    return x.contiguous(memory_format=layout) if len(shape) == 4 else x


class Convolution:
    def __init__(self, handle, x, w, y, stride, padding, groups, math=EXACT):
        self.handle, self.t = handle, (x, w, y)
        self.d = tensor(x), weights(w), tensor(y)
        self.conv = created("ConvolutionDescriptor")
        call("cudnnSetConvolutionNdDescriptor", self.conv, 2, ints([padding] * 2), ints([stride] * 2), ints([1, 1]), 1, 0)
        call("cudnnSetConvolutionGroupCount", self.conv, groups)
        call("cudnnSetConvolutionMathType", self.conv, math)

    def space(self, name, *descs):
        size = ctypes.c_size_t()
        call(name, self.handle, *descs, 1, ctypes.byref(size))
        return torch.full((max(1, size.value),), 255, dtype=torch.uint8, device="cuda"), size

    def run(self, which, x, w, y):
        (xd, wd, yd), c = self.d, self.conv
        if which == "forward":
            space, size = self.space("cudnnGetConvolutionForwardWorkspaceSize", xd, wd, c, yd)
            run = lambda: call("cudnnConvolutionForward", self.handle, ONE, xd, at(x), wd, at(w), c, 1, at(space), size, ZERO, yd, at(y))  # noqa: E731
        elif which == "data":
            space, size = self.space("cudnnGetConvolutionBackwardDataWorkspaceSize", wd, yd, c, xd)
            run = lambda: call("cudnnConvolutionBackwardData", self.handle, ONE, wd, at(w), yd, at(y), c, 1, at(space), size, ZERO, xd, at(x))  # noqa: E731
        else:
            space, size = self.space("cudnnGetConvolutionBackwardFilterWorkspaceSize", xd, yd, c, wd)
            run = lambda: call("cudnnConvolutionBackwardFilter", self.handle, ONE, xd, at(x), yd, at(y), c, 1, at(space), size, ZERO, wd, at(w))  # noqa: E731
        run()
        return run


def timed(run):
    for _ in range(3):
        run()
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    for _ in range(50):
        run()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / 50 * 1e3


def race(handle, what, tensors, window, wanted):
    """All passes beside PyTorch's, which may round f32 to TF32 too."""
    x, w, out, dy = tensors
    stride, padding, groups = window
    c = Convolution(handle, x, w, out, stride, padding, groups, DEFAULT)
    gradient = lambda mask: torch.ops.aten.convolution_backward(dy, x, w, None, [stride] * 2, [padding] * 2, [1, 1], False, [0, 0], groups, mask)  # noqa: E731
    passes = [("forward", (x, w, out), lambda: F.conv2d(x, w, stride=stride, padding=padding, groups=groups)),
              ("data", (torch.empty_like(x), w, dy), lambda: gradient([True, False, False])),
              ("filter", (x, torch.empty_like(w), dy), lambda: gradient([False, True, False]))]
    for which, given, theirs in passes:
        run = attempt(f"{what} {which}", lambda: c.run(which, *given))
        if run is None:
            continue
        if which == "forward":
            compare(what, out, wanted, DEFAULT)
        print(f"{what} {which}: {timed(run):.1f} us, PyTorch's cuDNN {timed(theirs):.1f} us")


def convolutions(handle, times):
    shapes = [((2, 16, 14, 14), (24, 16, 3, 3), 1, 1, 1), ((2, 16, 15, 13), (32, 16, 1, 1), 2, 0, 1), ((1, 8, 9, 9), (8, 1, 3, 3), 1, 1, 8)]
    large = [((32, 64, 56, 56), (64, 64, 3, 3), 1, 1, 1), ((32, 256, 14, 14), (512, 256, 1, 1), 2, 0, 1)]
    for xs, ws, stride, padding, groups in shapes + (large if times else []):
        for dtype in TYPES:
            for layout in NCHW, NHWC:
                x, w = random(xs, dtype, layout), random(ws, dtype, layout)
                wide = [x.double().cpu(), w.double().cpu()]
                y = F.conv2d(*wide, stride=stride, padding=padding, groups=groups)
                dy = random(tuple(y.shape), dtype, layout)
                out = torch.full_like(dy, float("nan"))
                what = f"convolution {xs} {ws} {dtype} {'NHWC' if layout == NHWC else 'NCHW'}"
                if times and xs[0] == 32:
                    race(handle, what, (x, w, out, dy), (stride, padding, groups), y)
                    continue
                c = Convolution(handle, x, w, out, stride, padding, groups)
                if attempt(what, lambda: c.run("forward", x, w, out)) is None:
                    continue
                compare(what, out, y)
                dx, dw = torch.full_like(x, float("nan")), torch.full_like(w, float("nan"))
                attempt(what + " by data", lambda: c.run("data", dx, w, dy))
                attempt(what + " by weights", lambda: c.run("filter", x, dw, dy))
                wide = [t.requires_grad_() for t in wide]
                F.conv2d(*wide, stride=stride, padding=padding, groups=groups).backward(dy.double().cpu())
                compare(what + " by data", dx, wide[0].grad)
                compare(what + " by weights", dw, wide[1].grad)


def others(handle):
    for dtype in TYPES:
        x = random((3, 8, 6, 6), dtype, NHWC)
        y, d = torch.full_like(x, float("nan")), tensor(x)
        attempt("cudnnSoftmaxForward", lambda: call("cudnnSoftmaxForward", handle, 1, 1, ONE, d, at(x), ZERO, d, at(y)))
        compare(f"softmax {dtype}", y, torch.softmax(x.double().cpu(), 1))
        act = created("ActivationDescriptor")
        call("cudnnSetActivationDescriptor", act, 2, 1, ctypes.c_double(0))
        attempt("cudnnActivationForward", lambda: call("cudnnActivationForward", handle, act, ONE, d, at(x), ZERO, d, at(y)))
        compare(f"tanh {dtype}", y, torch.tanh(x.double().cpu()))
        pool, half = created("PoolingDescriptor"), torch.full((3, 8, 3, 3), float("nan"), dtype=dtype, device="cuda").contiguous(memory_format=NHWC)
        call("cudnnSetPooling2dDescriptor", pool, 0, 1, 2, 2, 0, 0, 2, 2)
        attempt("cudnnPoolingForward", lambda: call("cudnnPoolingForward", handle, pool, ONE, d, at(x), ZERO, tensor(half), at(half)))
        compare(f"maxima {dtype}", half, F.max_pool2d(x.double().cpu(), 2))
        p = [torch.rand(8, device="cuda") + 0.5 for _ in range(4)]
        stats = tensor(p[0].view(1, 8, 1, 1))
        attempt("cudnnBatchNormalizationForwardInference", lambda: call("cudnnBatchNormalizationForwardInference", handle, 1, ONE, ZERO, d, at(x), d, at(y), stats, *[at(v) for v in p], ctypes.c_double(1e-5)))
        scale, bias, mean, var = [v.double().cpu() for v in p]
        compare(f"batch normalisation {dtype}", y, F.batch_norm(x.double().cpu(), mean, var, scale, bias, eps=1e-5))
        other = random((1, 8, 1, 1), dtype)
        y.copy_(x)
        attempt("cudnnAddTensor", lambda: call("cudnnAddTensor", handle, ONE, tensor(other), at(other), ONE, d, at(y)))
        compare(f"sum {dtype}", y, x.double().cpu() + other.double().cpu())


# Elements of attributes by their type: handle, data type, boolean, int64, address, mode, descriptor, kinds of normalisation.
HANDLE, DTYPE, BOOLEAN, INT64, ADDRESS, MODE, DESCRIPTOR, NORM_MODE, NORM_PHASE = 0, 1, 2, 3, 6, 14, 15, 27, 28


class Descriptor:
    """A descriptor of the backend interface: its type, and attributes as (number, type of elements, elements)."""

    def __init__(self, kind, *attributes, finalize=True):
        self.at, self.kept = ctypes.c_void_p(), attributes
        call("cudnnBackendCreateDescriptor", kind, ctypes.byref(self.at))
        for name, elements, values in attributes:
            values = values if isinstance(values, (list, tuple)) else [values]
            number = {INT64: ctypes.c_int64, BOOLEAN: ctypes.c_bool, HANDLE: ctypes.c_void_p, ADDRESS: ctypes.c_void_p, DESCRIPTOR: ctypes.c_void_p}.get(elements, ctypes.c_int)
            values = [v.at if isinstance(v, Descriptor) else v for v in values]
            values = [v.value if isinstance(v, ctypes.c_void_p) else v for v in values]
            call("cudnnBackendSetAttribute", self.at, name, elements, ctypes.c_int64(len(values)), (number * len(values))(*values))
        if finalize:
            call("cudnnBackendFinalize", self.at)

    def __del__(self):
        lib.cudnnBackendDestroyDescriptor(self.at)


def described(uid, shape, by_value=False):
    """A tensor of single precision in row-major order."""
    strides = [1] * len(shape)
    for i in reversed(range(len(shape) - 1)):
        strides[i] = strides[i + 1] * shape[i + 1]
    return Descriptor(17, (901, DTYPE, 0), (902, INT64, list(shape)), (903, INT64, strides), (906, INT64, uid), (900, INT64, 4), (908, BOOLEAN, by_value))


def planned(handle, operation, engine):
    graph = Descriptor(15, (800, HANDLE, handle), (801, DESCRIPTOR, operation))
    config = Descriptor(3, (300, DESCRIPTOR, Descriptor(2, (1300, DESCRIPTOR, graph), (1301, INT64, engine))))
    return Descriptor(5, (400, HANDLE, handle), (401, DESCRIPTOR, config))


def execute(handle, plan, places):
    """Executes with a workspace full of NaN; `places` are addresses by unique id."""
    size = ctypes.c_int64()
    call("cudnnBackendGetAttribute", plan.at, 402, INT64, ctypes.c_int64(1), None, ctypes.byref(size))
    space = torch.full((max(1, size.value),), 255, dtype=torch.uint8, device="cuda")
    pack = Descriptor(16, (1003, ADDRESS, space.data_ptr()), (1001, ADDRESS, list(places.values())), (1000, INT64, list(places)))
    call("cudnnBackendExecute", handle, plan.at, pack.at)
    torch.cuda.current_stream().synchronize()


def by_value(handle):
    """Graphs that read numbers of the host's: a factor, and an epsilon. Other numbers come with the next execution of the same plan."""
    x, y = torch.randn(8, 32, 64, device="cuda"), torch.empty(8, 32, 64, device="cuda")
    product = Descriptor(0, (0, MODE, 1), (1, DTYPE, 0))
    times = Descriptor(13, (750, DESCRIPTOR, product), (751, DESCRIPTOR, described(1, x.shape)), (752, DESCRIPTOR, described(2, (1, 1, 1), True)),
                       (753, DESCRIPTOR, described(3, x.shape)))
    scale, bias = torch.randn(1, 1, 64, device="cuda"), torch.randn(1, 1, 64, device="cuda")
    mean, inverse = torch.empty(8, 32, 1, device="cuda"), torch.empty(8, 32, 1, device="cuda")
    norm = Descriptor(29, (2000, NORM_MODE, 0), (2001, NORM_PHASE, 1), (2002, DESCRIPTOR, described(1, x.shape)), (2003, DESCRIPTOR, described(4, mean.shape)),
                      (2004, DESCRIPTOR, described(5, mean.shape)), (2005, DESCRIPTOR, described(6, scale.shape)), (2006, DESCRIPTOR, described(7, scale.shape)),
                      (2007, DESCRIPTOR, described(8, (1, 1, 1), True)), (2013, DESCRIPTOR, described(3, x.shape)))
    for engine in range(3):
        multiply, normalise = planned(handle, times, engine), planned(handle, norm, engine)
        for value in (2.5, -0.75, 2.5):
            number = ctypes.c_float(value)
            y.fill_(float("nan"))
            attempt(f"a factor by value on engine {engine}", lambda: execute(handle, multiply, {1: x.data_ptr(), 2: ctypes.addressof(number), 3: y.data_ptr()}))
            compare(f"a factor by value on engine {engine}", y, x.double().cpu() * value)
        for value in (1e-5, 0.5, 1e-5):
            number = ctypes.c_float(value)
            y.fill_(float("nan"))
            given = {1: x, 3: y, 4: mean, 5: inverse, 6: scale, 7: bias}
            places = {uid: t.data_ptr() for uid, t in given.items()} | {8: ctypes.addressof(number)}
            attempt(f"an epsilon by value on engine {engine}", lambda: execute(handle, normalise, places))
            wide = x.double().cpu()
            compare(f"an epsilon by value on engine {engine}", y, F.layer_norm(wide, (64,), scale.double().cpu().view(64), bias.double().cpu().view(64), value))
            compare("its mean", mean, wide.mean(2, keepdim=True))


def ragged(handle):
    """Batches of different lengths, one behind the other: 3 of 2 heads with 5, 1 and 3 rows of 8, nothing behind them written."""
    lengths, heads, rows, size = [5, 1, 3], 2, 5, 8
    for dtype in TYPES:
        for wide in False, True:
            count = torch.tensor([0] + lengths).cumsum(0)
            places = (count if wide else count.int() * heads * size).cuda()
            used = int(count[-1]) * heads * size
            x, y = torch.randn(used, device="cuda").to(dtype), torch.full((used + 16,), float("nan"), device="cuda").to(dtype)
            offsets = Descriptor(17, (901, DTYPE, 10 if wide else 4), (902, INT64, [4, 1, 1, 1]), (903, INT64, [1, 1, 1, 1]), (906, INT64, 5), (900, INT64, 8 if wide else 4))
            of = lambda uid: Descriptor(17, (901, DTYPE, TYPES[dtype]), (902, INT64, [3, heads, rows, size]), (903, INT64, [rows * heads * size, size, heads * size, 1]),  # noqa: E731
                                        (906, INT64, uid), (900, INT64, 16), (913, DESCRIPTOR, offsets), (914, INT64, heads * size if wide else 1))
            tanh = Descriptor(13, (750, DESCRIPTOR, Descriptor(0, (0, MODE, 101), (1, DTYPE, 0))), (751, DESCRIPTOR, of(1)), (753, DESCRIPTOR, of(2)))
            what = f"ragged batches {dtype}, offsets of {64 if wide else 32} bits"
            attempt(what, lambda: execute(handle, planned(handle, tanh, 0), {1: x.data_ptr(), 2: y.data_ptr(), 5: places.data_ptr()}))
            compare(what, y[:used], torch.tanh(x.double().cpu()))
            compare(what + ", memory behind it", y[used:].isnan().float(), torch.ones(16))


def main():
    handle = created("")
    convolutions(handle, "times" in sys.argv)
    others(handle)
    by_value(handle)
    ragged(handle)
    # What comes before and behind on another stream is in order with the calls.
    stream = torch.cuda.Stream()
    call("cudnnSetStream", handle, ctypes.c_void_p(stream.cuda_stream))
    with torch.cuda.stream(stream):
        others(handle)
        convolutions(handle, False)
        x = random((1 << 24,), torch.float32).view(1, 1, 4096, 4096)
        wanted = x[..., :64].double().cpu()
        for _ in range(5):
            x.add_(1)
            call("cudnnScaleTensor", handle, tensor(x), at(x), ctypes.byref(ctypes.c_float(2)))
            wanted = (wanted + 1) * 2
        y = x.clone()
    stream.synchronize()
    call("cudnnSetStream", handle, ctypes.c_void_p(0))
    others(handle)
    compare("sums and products in turn", y[..., :64].contiguous(), wanted)
    # A graph of calls, replayed.
    w, a = random((16, 16, 3, 3), torch.float16, NHWC), random((4, 16, 28, 28), torch.float16, NHWC)
    out = torch.zeros((4, 16, 28, 28), dtype=torch.float16, device="cuda").contiguous(memory_format=NHWC)
    c = Convolution(handle, a, w, out, 1, 1, 1)
    run = c.run("forward", a, w, out)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        call("cudnnSetStream", handle, ctypes.c_void_p(stream.cuda_stream))
        run()
    a.copy_(random((4, 16, 28, 28), torch.float16, NHWC))
    graph.replay()
    torch.cuda.synchronize()
    compare("a graph with new data", out, F.conv2d(a.double().cpu(), w.double().cpu(), padding=1))
    call("cudnnDestroy", handle)
    print(f"{checks} checks, {failed} failed")
    return failed != 0


sys.exit(main())
