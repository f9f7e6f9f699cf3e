// Reshape, transpose, slice, concatenation; block-scaled quantisation; random numbers.
#include "raw.hpp"

void moving(cudnnHandle_t handle) {
    Floats x = numbers(120, 1), y(120, NOTHING), r(120);
    Ints d = {2, 3, 4, 5};
    D tx = tensor(1, d), ty = tensor(2, {4, 2, 5, 3});
    D t(CUDNN_BACKEND_OPERATION_TRANSPOSE_DESCRIPTOR);
    t.with(CUDNN_ATTR_OPERATION_TRANSPOSE_XDESC, tx).with(CUDNN_ATTR_OPERATION_TRANSPOSE_YDESC, ty);
    t.ints(CUDNN_ATTR_OPERATION_TRANSPOSE_PERMUTATION, {2, 0, 3, 1}).done();
    for (int i = 0; i < 120; i++) {
        int a = i / 30, b = i / 15 % 2, c = i / 3 % 5, e = i % 3;
        r[i] = x[((b * 3 + e) * 4 + a) * 5 + c];
    }
    run(handle, "transpose", {&t}, {{1, x.data()}, {2, y.data()}}, [&](const std::string &what) { close_to(what, y, r, 0); });
    D tz = tensor(3, {6, 20}), v(CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR);
    v.with(CUDNN_ATTR_OPERATION_RESHAPE_XDESC, tx).with(CUDNN_ATTR_OPERATION_RESHAPE_YDESC, tz).done();
    run(handle, "reshape", {&v}, {{1, x.data()}, {3, y.data()}}, [&](const std::string &what) { close_to(what, y, x, 0); });
    // Of an NHWC tensor, elements in the order of positions.
    D tl = tensor(4, d, {CUDNN_DATA_FLOAT, false, {60, 1, 15, 3}, false, 0, 1}), w(CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR);
    w.with(CUDNN_ATTR_OPERATION_RESHAPE_XDESC, tl).with(CUDNN_ATTR_OPERATION_RESHAPE_YDESC, tz);
    w.kind(CUDNN_ATTR_OPERATION_RESHAPE_MODE, CUDNN_TYPE_RESHAPE_MODE, CUDNN_RESHAPE_LOGICAL).done();
    for (int i = 0; i < 120; i++) r[i] = x[i / 60 * 60 + i / 20 % 3 + i / 5 % 4 * 15 + i % 5 * 3];
    run(handle, "logical reshape", {&w}, {{4, x.data()}, {3, y.data()}}, [&](const std::string &what) { close_to(what, y, r, 0); });
    D ts = tensor(5, {1, 2, 2, 2}), s(CUDNN_BACKEND_OPERATION_SLICE_DESCRIPTOR);
    s.with(CUDNN_ATTR_OPERATION_SLICE_XDESC, tx).with(CUDNN_ATTR_OPERATION_SLICE_YDESC, ts).ints(CUDNN_ATTR_OPERATION_SLICE_START_INDICES, {1, 0, 1, 0});
    s.ints(CUDNN_ATTR_OPERATION_SLICE_LIMIT_INDICES, {2, 3, 3, 4}).ints(CUDNN_ATTR_OPERATION_SLICE_STRIDES, {1, 2, 1, 3}).done();
    Floats part(8, NOTHING), rp(8);
    for (int i = 0; i < 8; i++) rp[i] = x[((3 + i / 4 * 2) * 4 + 1 + i / 2 % 2) * 5 + i % 2 * 3];
    run(handle, "slice", {&s}, {{1, x.data()}, {5, part.data()}}, [&](const std::string &what) { close_to(what, part, rp, 0); });
    D ta = tensor(6, {2, 1, 5}), tb = tensor(7, {2, 3, 5}), tc = tensor(8, {2, 4, 5}), c(CUDNN_BACKEND_OPERATION_CONCAT_DESCRIPTOR);
    c.ints(CUDNN_ATTR_OPERATION_CONCAT_AXIS, {1}).all(CUDNN_ATTR_OPERATION_CONCAT_INPUT_DESCS, {&ta, &tb}).with(CUDNN_ATTR_OPERATION_CONCAT_OUTPUT_DESC, tc).done();
    Floats a = numbers(10, 2), b = numbers(30, 3), joined(40, NOTHING), rj(40);
    for (int i = 0; i < 40; i++) rj[i] = i / 5 % 4 == 0 ? a[i / 20 * 5 + i % 5] : b[i / 20 * 15 + (i / 5 % 4 - 1) * 5 + i % 5];
    run(handle, "concat", {&c}, {{6, a.data()}, {7, b.data()}, {8, joined.data()}}, [&](const std::string &what) { close_to(what, joined, rj, 0); });
}

// The number that an E4M3 code stands for.
static double e4m3(int code) {
    int exponent = code >> 3 & 15, fraction = code & 7;
    return exponent ? std::ldexp(8 + fraction, exponent - 10) : std::ldexp(fraction, -9);
}

// Scales of blocks are rounded up, so that no value is clamped: by type of the values, its largest value, and the type of the scales.
static void rounded_scales(cudnnHandle_t handle) {
    struct {
        cudnnDataType_t values, scales;
        double top;
        int64_t size;
    } kinds[] = {{CUDNN_DATA_FP8_E4M3, CUDNN_DATA_FP8_E8M0, 448, 32}, {CUDNN_DATA_FP8_E5M2, CUDNN_DATA_FP8_E8M0, 57344, 32}, {CUDNN_DATA_FP4_E2M1, CUDNN_DATA_FP8_E4M3, 6, 16}};
    for (auto &kind : kinds) {
        const int blocks = 160;
        Ints d = {1, 1, blocks * kind.size}, sd = {1, 1, blocks};
        Floats x(blocks * kind.size);
        std::vector<int> expected(blocks);
        for (int b = 0; b < blocks; b++) {
            // Zeros; the exact multiples of the largest value; a little more; others.
            double scale = kind.scales == CUDNN_DATA_FP8_E8M0 ? std::ldexp(1, b % 40 - 20) : e4m3(b % 126 + 1), random = 0.5 + numbers(1, (unsigned)b)[0] / 8;
            float largest = (float)(b % 4 == 0 ? 0 : b % 4 == 1 ? kind.top * scale : b % 4 == 2 ? kind.top * scale * 1.001 : kind.top * scale * random);
            for (int64_t i = 0; i < kind.size; i++) x[b * kind.size + i] = largest * (i == 3 ? -1.0f : i == 5 ? 0.3f : 0.0f);
            if (kind.scales == CUDNN_DATA_FP8_E8M0) {
                expected[b] = 0;
                while (std::ldexp(kind.top, expected[b] - 127) < largest) expected[b]++;
            } else {
                expected[b] = 0;
                while (kind.top * e4m3(expected[b]) < largest * (1 - 1e-6)) expected[b]++;
                if (largest == 0) expected[b] = 7 << 3;
            }
        }
        std::vector<uint8_t> q(x.size()), s(blocks, 77);
        D tx = tensor(1, d), tq = tensor(2, d, {kind.values, false, {}, false, 0, 1}), ts = tensor(3, sd, {kind.scales, false, {}, false, 0, 1});
        D f(CUDNN_BACKEND_OPERATION_BLOCK_SCALE_QUANTIZE_DESCRIPTOR);
        f.with(CUDNN_ATTR_OPERATION_BLOCK_SCALE_QUANTIZE_XDESC, tx).with(CUDNN_ATTR_OPERATION_BLOCK_SCALE_QUANTIZE_YDESC, tq);
        f.with(CUDNN_ATTR_OPERATION_BLOCK_SCALE_QUANTIZE_SCALE_DESC, ts).kind(CUDNN_ATTR_OPERATION_BLOCK_SCALE_QUANTIZE_BLOCK_SIZE, CUDNN_TYPE_INT32, (int)kind.size);
        f.kind(CUDNN_ATTR_OPERATION_BLOCK_SCALE_QUANTIZE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT).done();
        run(handle, "quantize", {&f}, {{1, x.data()}, {2, q.data()}, {3, s.data()}}, [&](const std::string &what) {
            for (int b = 0; b < blocks; b++)
                if (s[b] != expected[b])
                    return check(false, what + ", type " + std::to_string(kind.values) + ": the scale of block " + std::to_string(b) + " is " + std::to_string(s[b]) + ", expected " + std::to_string(expected[b]));
            for (int b = 0; b < blocks; b += 4)
                for (int64_t i = 0; i < kind.size; i++)
                    if (kind.size == 32 && (q[b * kind.size + i] & 127)) return check(false, what + ": zeros");
            checks++;
        });
    }
}

// Quantised and dequantised: blocks of 32 8-bit values, with plain and tiled scales.
void blocks(cudnnHandle_t handle) {
    rounded_scales(handle);
    for (bool tiles : {false, true}) {
        Ints d = {1, 128, 128}, sd = {1, 128, 4};
        Floats x = numbers(128 * 128, 1), y(x.size(), NOTHING);
        for (size_t i = 0; i < x.size(); i++) x[i] *= std::exp2((float)(int)(i / 32 % 7) - 3);
        std::vector<uint8_t> q(x.size()), s(128 * 4, 0);
        TensorOf eight{CUDNN_DATA_FP8_E4M3, false, {}, false, 0, 1}, scales{CUDNN_DATA_FP8_E8M0, false, {}, false, tiles ? CUDNN_TENSOR_REORDERING_F8_128x4 : 0, 1};
        D tx = tensor(1, d), tq = tensor(2, d, eight), ts = tensor(3, sd, scales), ty = tensor(4, d);
        D f(CUDNN_BACKEND_OPERATION_BLOCK_SCALE_QUANTIZE_DESCRIPTOR);
        f.with(CUDNN_ATTR_OPERATION_BLOCK_SCALE_QUANTIZE_XDESC, tx).with(CUDNN_ATTR_OPERATION_BLOCK_SCALE_QUANTIZE_YDESC, tq);
        f.with(CUDNN_ATTR_OPERATION_BLOCK_SCALE_QUANTIZE_SCALE_DESC, ts).kind(CUDNN_ATTR_OPERATION_BLOCK_SCALE_QUANTIZE_BLOCK_SIZE, CUDNN_TYPE_INT32, 32);
        f.kind(CUDNN_ATTR_OPERATION_BLOCK_SCALE_QUANTIZE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT).done();
        D b(CUDNN_BACKEND_OPERATION_BLOCK_SCALE_DEQUANTIZE_DESCRIPTOR);
        b.with(CUDNN_ATTR_OPERATION_BLOCK_SCALE_DEQUANTIZE_XDESC, tq).with(CUDNN_ATTR_OPERATION_BLOCK_SCALE_DEQUANTIZE_YDESC, ty);
        b.with(CUDNN_ATTR_OPERATION_BLOCK_SCALE_DEQUANTIZE_SCALE_DESC, ts).kind(CUDNN_ATTR_OPERATION_BLOCK_SCALE_DEQUANTIZE_BLOCK_SIZE, CUDNN_TYPE_INT32, 32);
        b.kind(CUDNN_ATTR_OPERATION_BLOCK_SCALE_DEQUANTIZE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT).done();
        run(handle, "quantize", {&f}, {{1, x.data()}, {2, q.data()}, {3, s.data()}}, [&](const std::string &) {});
        run(handle, "dequantize", {&b}, {{2, q.data()}, {3, s.data()}, {4, y.data()}}, [&](const std::string &what) {
            for (size_t i = 0; i < x.size(); i++) {
                double largest = 0;
                for (size_t j = i / 32 * 32; j < i / 32 * 32 + 32; j++) largest = std::max(largest, (double)std::fabs(x[j]));
                if (!(std::fabs(x[i] - y[i]) <= largest / 8)) return check(false, what + ": element " + std::to_string(i));
            }
            checks++;
        });
        // Each scale is the least power of two that its block needs, at its place in the layout.
        for (int row = 0; row < 128; row++)
            for (int k = 0; k < 4; k++) {
                double largest = 0;
                for (int j = 0; j < 32; j++) largest = std::max(largest, (double)std::fabs(x[row * 128 + k * 32 + j]));
                int at = tiles ? row % 32 * 16 + row / 32 * 4 + k : row * 4 + k, expected = (int)std::ceil(std::log2(largest / 448)) + 127;
                if (computes() && s[at] != expected) return check(false, std::string(tiles ? "in tiles: " : "in rows: ") + "the scale of row " + std::to_string(row) + " is " + std::to_string(s[at]) + ", expected " + std::to_string(expected));
            }
    }
}

void random_numbers(cudnnHandle_t handle) {
    const int n = 20000;
    int64_t seed = 123, offset = 7;
    TensorOf value{CUDNN_DATA_INT64, false, {}, true, 0, 1};
    D ty = tensor(1, {n}), ts = tensor(2, {1}, value), to = tensor(3, {1}, value);
    for (int kind = 0; kind < 3; kind++) {
        D p(CUDNN_BACKEND_RNG_DESCRIPTOR), op(CUDNN_BACKEND_OPERATION_RNG_DESCRIPTOR);
        p.kind(CUDNN_ATTR_RNG_DISTRIBUTION, CUDNN_TYPE_RNG_DISTRIBUTION, kind).real(CUDNN_ATTR_RNG_BERNOULLI_DIST_PROBABILITY, 0.3);
        p.real(CUDNN_ATTR_RNG_UNIFORM_DIST_MINIMUM, -1).real(CUDNN_ATTR_RNG_UNIFORM_DIST_MAXIMUM, 3);
        p.real(CUDNN_ATTR_RNG_NORMAL_DIST_MEAN, 2).real(CUDNN_ATTR_RNG_NORMAL_DIST_STANDARD_DEVIATION, 0.5).done();
        op.with(CUDNN_ATTR_OPERATION_RNG_DESC, p).with(CUDNN_ATTR_OPERATION_RNG_YDESC, ty).with(CUDNN_ATTR_OPERATION_RNG_SEED, ts);
        op.with(CUDNN_ATTR_OPERATION_RNG_OFFSET_DESC, to).done();
        Floats y(n, NOTHING), first;
        double means[] = {0.3, 1, 2}, deviations[] = {std::sqrt(0.21), 4 / std::sqrt(12.0), 0.5};
        run(handle, "random numbers " + std::to_string(kind), {&op}, {{1, y.data()}, {2, &seed}, {3, &offset}}, [&](const std::string &what) {
            double mean = 0, square = 0;
            for (float v : y) mean += v / (double)n;
            for (float v : y) square += (v - mean) * (v - mean) / (double)n;
            check(std::fabs(mean - means[kind]) < 5 * deviations[kind] / std::sqrt((double)n), what + ": mean " + std::to_string(mean));
            check(std::fabs(std::sqrt(square) - deviations[kind]) < 0.05 * deviations[kind], what + ": deviation " + std::to_string(std::sqrt(square)));
            if (first.empty()) first = y;
            check(first == y, what + ": the same seed gives the same numbers");
        });
        seed++;
        D g = graph(handle, {&op});
        D plan = plan_of(handle, g, 1);
        is(execute(handle, plan, {{1, y.data()}, {2, &seed}, {3, &offset}}), CUDNN_STATUS_SUCCESS, "another seed");
        check(first != y, "another seed gives other numbers");
    }
}
