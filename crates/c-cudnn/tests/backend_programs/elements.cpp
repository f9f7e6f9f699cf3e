// Every pointwise mode, with broadcast, factors and parameters.
#include "raw.hpp"

#include <cstring>

using Two = std::function<double(double, double)>;

static D parameters(int mode, const std::map<int, double> &reals = {}, int axis = -1, int precision = CUDNN_DATA_FLOAT) {
    D p(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
    p.kind(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, mode);
    p.kind(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, precision);
    for (auto &r : reals) p.real(r.first, r.second);
    if (axis >= 0) p.ints(CUDNN_ATTR_POINTWISE_AXIS, {axis});
    p.done();
    return p;
}

static const Ints DIMS = {2, 3, 4, 5};

static void one(cudnnHandle_t handle, const std::string &name, int mode, const Floats &x, const std::function<double(double)> &f,
                const std::map<int, double> &reals = {}, double tolerance = 2e-5) {
    D p = parameters(mode, reals), tx = tensor(1, DIMS), ty = tensor(2, DIMS, {CUDNN_DATA_FLOAT, false, {60, 1, 15, 3}, false, 0, 1});
    D op(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    op.with(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, p).with(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, tx);
    op.with(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, ty).done();
    Floats y(x.size(), NOTHING), r(x.size());
    for (int n = 0, i = 0; n < 2; n++)
        for (int c = 0; c < 3; c++)
            for (int h = 0; h < 4; h++)
                for (int w = 0; w < 5; w++, i++) r[n * 60 + c + h * 15 + w * 3] = (float)f(x[i]);
    run(handle, name, {&op}, {{1, x.data()}, {2, y.data()}}, [&](const std::string &what) {
        close_to(what, y, r, tolerance);
        y.assign(y.size(), NOTHING);
    });
}

static void two(cudnnHandle_t handle, const std::string &name, int mode, const Floats &x, const Floats &b, const Ints &bd, const Two &f,
                float alpha1 = 1, float alpha2 = 1, double tolerance = 2e-5) {
    D p = parameters(mode), tx = tensor(1, DIMS), tb = tensor(2, bd), ty = tensor(3, DIMS);
    D op(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    op.with(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, p).with(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, tx);
    op.with(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, tb).with(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, ty);
    op.single(CUDNN_ATTR_OPERATION_POINTWISE_ALPHA1, alpha1).single(CUDNN_ATTR_OPERATION_POINTWISE_ALPHA2, alpha2).done();
    Floats y(x.size(), NOTHING), r(x.size());
    Ints bs = packed(bd);
    for (int n = 0, i = 0; n < 2; n++)
        for (int c = 0; c < 3; c++)
            for (int h = 0; h < 4; h++)
                for (int w = 0; w < 5; w++, i++) {
                    int64_t at[] = {n, c, h, w}, j = 0;
                    for (int d = 0; d < 4; d++) j += bd[d] == 1 ? 0 : at[d] * bs[d];
                    r[i] = (float)f((double)alpha1 * x[i], (double)alpha2 * b[j]);
                }
    run(handle, name, {&op}, {{1, x.data()}, {2, b.data()}, {3, y.data()}}, [&](const std::string &what) {
        close_to(what, y, r, tolerance);
        y.assign(y.size(), NOTHING);
    });
}

static void gradient(cudnnHandle_t handle, const std::string &name, int mode, const std::function<double(double)> &f,
                     const std::map<int, double> &reals = {}) {
    D p = parameters(mode, reals), tx = tensor(1, DIMS), tdy = tensor(2, DIMS), tdx = tensor(3, DIMS);
    D op(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    op.with(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, p).with(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, tx);
    op.with(CUDNN_ATTR_OPERATION_POINTWISE_DYDESC, tdy).with(CUDNN_ATTR_OPERATION_POINTWISE_DXDESC, tdx).done();
    Floats x = numbers(120, 5), dy = numbers(120, 6), dx(120, NOTHING), r(120);
    for (auto &v : x) v += 0.0003f;
    // The slope by central differences.
    for (size_t i = 0; i < x.size(); i++) r[i] = (float)(dy[i] * (f(x[i] + 1e-5) - f(x[i] - 1e-5)) / 2e-5);
    run(handle, name, {&op}, {{1, x.data()}, {2, dy.data()}, {3, dx.data()}}, [&](const std::string &what) {
        close_to(what, dx, r, 2e-4);
        dx.assign(dx.size(), NOTHING);
    });
}

static double gelu(double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }
static double gelu_tanh(double x) { return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); }

static void single(cudnnHandle_t h) {
    Floats x = numbers(120, 1), positive = x, wide = x, whole = x;
    for (auto &v : positive) v = std::fabs(v) + 0.1f;
    for (auto &v : wide) v *= 40;
    for (size_t i = 0; i < whole.size(); i += 3) whole[i] = (float)(int)(whole[i] * 5);
    one(h, "abs", CUDNN_POINTWISE_ABS, x, [](double v) { return std::fabs(v); });
    one(h, "ceil", CUDNN_POINTWISE_CEIL, whole, [](double v) { return std::ceil(v); });
    one(h, "floor", CUDNN_POINTWISE_FLOOR, whole, [](double v) { return std::floor(v); });
    one(h, "sin", CUDNN_POINTWISE_SIN, wide, [](double v) { return std::sin(v); });
    one(h, "cos", CUDNN_POINTWISE_COS, wide, [](double v) { return std::cos(v); });
    one(h, "tan", CUDNN_POINTWISE_TAN, x, [](double v) { return std::tan(v); }, {}, 1e-4);
    one(h, "exp", CUDNN_POINTWISE_EXP, x, [](double v) { return std::exp(v); });
    one(h, "log", CUDNN_POINTWISE_LOG, positive, [](double v) { return std::log(v); });
    one(h, "neg", CUDNN_POINTWISE_NEG, x, [](double v) { return -v; });
    one(h, "rsqrt", CUDNN_POINTWISE_RSQRT, positive, [](double v) { return 1 / std::sqrt(v); });
    one(h, "sqrt", CUDNN_POINTWISE_SQRT, positive, [](double v) { return std::sqrt(v); });
    one(h, "erf", CUDNN_POINTWISE_ERF, wide, [](double v) { return std::erf(v); });
    one(h, "erf near 0", CUDNN_POINTWISE_ERF, x, [](double v) { return std::erf(v); }, {}, 1e-6);
    one(h, "identity", CUDNN_POINTWISE_IDENTITY, x, [](double v) { return v; });
    one(h, "reciprocal", CUDNN_POINTWISE_RECIPROCAL, positive, [](double v) { return 1 / v; });
    one(h, "not", CUDNN_POINTWISE_LOGICAL_NOT, whole, [](double v) { return v == 0; });
    one(h, "relu", CUDNN_POINTWISE_RELU_FWD, x, [](double v) { return v > 0 ? v : 0; });
    one(h, "leaky relu", CUDNN_POINTWISE_RELU_FWD, x, [](double v) { return v > 0 ? v : 0.1 * v; }, {{CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP_SLOPE, 0.1}});
    one(h, "clipped relu", CUDNN_POINTWISE_RELU_FWD, x,
        [](double v) { return v < -0.5 ? -0.5 + 0.25 * (v + 0.5) : v > 1 ? 1 : v; },
        {{CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP, -0.5}, {CUDNN_ATTR_POINTWISE_RELU_UPPER_CLIP, 1}, {CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP_SLOPE, 0.25}});
    one(h, "tanh", CUDNN_POINTWISE_TANH_FWD, x, [](double v) { return std::tanh(v); });
    one(h, "sigmoid", CUDNN_POINTWISE_SIGMOID_FWD, x, [](double v) { return 1 / (1 + std::exp(-v)); });
    one(h, "elu", CUDNN_POINTWISE_ELU_FWD, x, [](double v) { return v > 0 ? v : 0.7 * std::expm1(v); }, {{CUDNN_ATTR_POINTWISE_ELU_ALPHA, 0.7}});
    one(h, "gelu", CUDNN_POINTWISE_GELU_FWD, x, gelu);
    one(h, "softplus", CUDNN_POINTWISE_SOFTPLUS_FWD, x, [](double v) { return std::log1p(std::exp(2 * v)) / 2; }, {{CUDNN_ATTR_POINTWISE_SOFTPLUS_BETA, 2}});
    one(h, "swish", CUDNN_POINTWISE_SWISH_FWD, x, [](double v) { return v / (1 + std::exp(-1.5 * v)); }, {{CUDNN_ATTR_POINTWISE_SWISH_BETA, 1.5}});
    one(h, "gelu by tanh", CUDNN_POINTWISE_GELU_APPROX_TANH_FWD, x, gelu_tanh);
}

static void pairs(cudnnHandle_t h) {
    Floats x = numbers(120, 2), b = numbers(120, 3), c = numbers(3, 4), whole = numbers(120, 7), exact = x;
    for (auto &v : b) v = v == 0 ? 1 : v;
    for (size_t i = 0; i < 120; i++) whole[i] = (float)(int)(whole[i] * 2);
    for (size_t i = 0; i < 120; i += 2) exact[i] = b[i];
    Ints full = DIMS, channel = {1, 3, 1, 1};
    two(h, "add", CUDNN_POINTWISE_ADD, x, b, full, [](double a, double v) { return a + v; });
    two(h, "add with factors", CUDNN_POINTWISE_ADD, x, c, channel, [](double a, double v) { return a + v; }, 2, -0.5f);
    two(h, "mul by channels", CUDNN_POINTWISE_MUL, x, c, channel, [](double a, double v) { return a * v; });
    two(h, "sub", CUDNN_POINTWISE_SUB, x, b, full, [](double a, double v) { return a - v; });
    two(h, "div", CUDNN_POINTWISE_DIV, x, b, full, [](double a, double v) { return a / v; });
    two(h, "max", CUDNN_POINTWISE_MAX, x, b, full, [](double a, double v) { return a > v ? a : v; });
    two(h, "min", CUDNN_POINTWISE_MIN, x, b, full, [](double a, double v) { return a < v ? a : v; });
    two(h, "add square", CUDNN_POINTWISE_ADD_SQUARE, x, b, full, [](double a, double v) { return a + v * v; });
    two(h, "mod", CUDNN_POINTWISE_MOD, x, b, full, [](double a, double v) { return std::fmod(a, v); });
    two(h, "floor mod", CUDNN_POINTWISE_FLOOR_MOD, x, b, full, [](double a, double v) { return a - std::floor(a / v) * v; });
    two(h, "pow", CUDNN_POINTWISE_POW, x, whole, full, [](double a, double v) { return std::pow(a, v); });
    two(h, "pow of fractions", CUDNN_POINTWISE_POW, x, b, full, [](double a, double v) { return std::pow(a, v); });
    two(h, "atan2", CUDNN_POINTWISE_ATAN2, x, b, full, [](double a, double v) { return std::atan2(a, v); });
    two(h, "eq", CUDNN_POINTWISE_CMP_EQ, exact, b, full, [](double a, double v) { return a == v; });
    two(h, "neq", CUDNN_POINTWISE_CMP_NEQ, exact, b, full, [](double a, double v) { return a != v; });
    two(h, "gt", CUDNN_POINTWISE_CMP_GT, exact, b, full, [](double a, double v) { return a > v; });
    two(h, "ge", CUDNN_POINTWISE_CMP_GE, exact, b, full, [](double a, double v) { return a >= v; });
    two(h, "lt", CUDNN_POINTWISE_CMP_LT, exact, b, full, [](double a, double v) { return a < v; });
    two(h, "le", CUDNN_POINTWISE_CMP_LE, exact, b, full, [](double a, double v) { return a <= v; });
    two(h, "and", CUDNN_POINTWISE_LOGICAL_AND, whole, whole, full, [](double a, double v) { return a != 0 && v != 0; });
    two(h, "or", CUDNN_POINTWISE_LOGICAL_OR, whole, c, channel, [](double a, double v) { return a != 0 || v != 0; });
}

static void gradients(cudnnHandle_t h) {
    gradient(h, "relu gradient", CUDNN_POINTWISE_RELU_BWD, [](double v) { return v > 0 ? v : 0; });
    gradient(h, "clipped relu gradient", CUDNN_POINTWISE_RELU_BWD, [](double v) { return v < -0.5 ? 0.25 * v : v > 1 ? 1 : v; },
             {{CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP, -0.5}, {CUDNN_ATTR_POINTWISE_RELU_UPPER_CLIP, 1}, {CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP_SLOPE, 0.25}});
    gradient(h, "tanh gradient", CUDNN_POINTWISE_TANH_BWD, [](double v) { return std::tanh(v); });
    gradient(h, "sigmoid gradient", CUDNN_POINTWISE_SIGMOID_BWD, [](double v) { return 1 / (1 + std::exp(-v)); });
    gradient(h, "elu gradient", CUDNN_POINTWISE_ELU_BWD, [](double v) { return v > 0 ? v : 0.7 * std::expm1(v); }, {{CUDNN_ATTR_POINTWISE_ELU_ALPHA, 0.7}});
    gradient(h, "gelu gradient", CUDNN_POINTWISE_GELU_BWD, gelu);
    gradient(h, "softplus gradient", CUDNN_POINTWISE_SOFTPLUS_BWD, [](double v) { return std::log1p(std::exp(2 * v)) / 2; }, {{CUDNN_ATTR_POINTWISE_SOFTPLUS_BETA, 2}});
    gradient(h, "swish gradient", CUDNN_POINTWISE_SWISH_BWD, [](double v) { return v / (1 + std::exp(-1.5 * v)); }, {{CUDNN_ATTR_POINTWISE_SWISH_BETA, 1.5}});
    gradient(h, "gelu by tanh gradient", CUDNN_POINTWISE_GELU_APPROX_TANH_BWD, gelu_tanh);
}

// x > b ? x : index, through virtual booleans, and through bit-packed booleans in the program's memory.
static void choices(cudnnHandle_t handle) {
    Floats x = numbers(120, 8), b = numbers(3, 9), y(120, NOTHING), r(120);
    std::vector<uint8_t> bits(15, 0xff), expected(15, 0);
    D pi = parameters(CUDNN_POINTWISE_GEN_INDEX, {}, 3), pc = parameters(CUDNN_POINTWISE_CMP_GT), ps = parameters(CUDNN_POINTWISE_BINARY_SELECT);
    D tx = tensor(1, DIMS), tb = tensor(2, {1, 3, 1, 1}), ty = tensor(3, DIMS), index = between(10, DIMS, CUDNN_DATA_INT32);
    D truth = between(11, DIMS, CUDNN_DATA_BOOLEAN), kept = tensor(4, DIMS, {CUDNN_DATA_BOOLEAN, false, {}, false, 0, 1});
    for (int i = 0; i < 120; i++) {
        bool more = x[i] > b[i / 20 % 3];
        r[i] = more ? x[i] : (float)(i % 5);
        if (more) expected[i / 8] = (uint8_t)(expected[i / 8] | 1 << i % 8);
    }
    auto op = [&](const D &p, const D *in, const D *other, const D *condition, const D &to) {
        D o(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
        o.with(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, p).with(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, *in);
        if (other) o.with(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, *other);
        if (condition) o.with(CUDNN_ATTR_OPERATION_POINTWISE_TDESC, *condition);
        o.with(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, to).done();
        return o;
    };
    D a = op(pi, &tx, nullptr, nullptr, index), c = op(pc, &tx, &tb, nullptr, truth), s = op(ps, &tx, &index, &truth, ty);
    // The order of operations does not matter.
    run(handle, "select", {&s, &c, &a}, {{1, x.data()}, {2, b.data()}, {3, y.data()}}, [&](const std::string &what) {
        close_to(what, y, r);
        y.assign(120, NOTHING);
    });
    D write = op(pc, &tx, &tb, nullptr, kept), read = op(ps, &tx, &index, &kept, ty);
    run(handle, "bits written", {&write}, {{1, x.data()}, {2, b.data()}, {4, bits.data()}}, [&](const std::string &what) {
        check(bits == expected, what);
        bits.assign(15, 0xff);
    });
    run(handle, "bits read", {&a, &read}, {{1, x.data()}, {3, y.data()}, {4, expected.data()}}, [&](const std::string &what) {
        close_to(what, y, r);
        y.assign(120, NOTHING);
    });
}

// Integers and doubles are not rounded to single precision.
static void types(cudnnHandle_t handle) {
    std::vector<int64_t> a = {1LL << 40, 3, -7, 123456789012LL}, b = {1, 2, 3, 4}, y(4, -1);
    D p = parameters(CUDNN_POINTWISE_ADD, {}, -1, CUDNN_DATA_INT64);
    TensorOf whole{CUDNN_DATA_INT64, false, {}, false, 0, 1};
    D ta = tensor(1, {1, 4}, whole), tb = tensor(2, {1, 4}, whole), ty = tensor(3, {1, 4}, whole);
    D op(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    op.with(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, p).with(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, ta);
    op.with(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, tb).with(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, ty).done();
    run(handle, "64 bits", {&op}, {{1, a.data()}, {2, b.data()}, {3, y.data()}}, [&](const std::string &what) {
        for (int i = 0; i < 4; i++) check(y[i] == a[i] + b[i], what);
    });
    std::vector<double> da = {1 + 1e-12, 2, 3, 4}, db = {1, 1, 1, 1}, dy(4);
    D pd = parameters(CUDNN_POINTWISE_SUB, {}, -1, CUDNN_DATA_DOUBLE);
    TensorOf real{CUDNN_DATA_DOUBLE, false, {}, false, 0, 1};
    D tda = tensor(1, {1, 4}, real), tdb = tensor(2, {1, 4}, real), tdy = tensor(3, {1, 4}, real);
    D od(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    od.with(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, pd).with(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, tda);
    od.with(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, tdb).with(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, tdy).done();
    run(handle, "doubles", {&od}, {{1, da.data()}, {2, db.data()}, {3, dy.data()}}, [&](const std::string &what) {
        for (int i = 0; i < 4; i++) check(dy[i] == da[i] - db[i], what);
    });
}

static int by_definition;

static void listen(cudnnSeverity_t, void *, const cudnnDebug_t *, const char *message) {
    by_definition += strstr(message, "ref:any") != nullptr;
}

// Functions in single precision that are composed of others have kernels for every step: the reference is a hundred times slower.
static void composed(cudnnHandle_t h) {
    Floats x = numbers(120, 1), b = numbers(120, 3), far = x;
    for (auto &v : b) v = v == 0 ? 1 : v;
    for (auto &v : far) v *= 40000;
    is(cudnnSetCallback(1 << CUDNN_SEV_INFO, nullptr, listen), CUDNN_STATUS_SUCCESS, "listen");
    one(h, "sin of large numbers", CUDNN_POINTWISE_SIN, far, [](double v) { return std::sin(v); });
    one(h, "cos of large numbers", CUDNN_POINTWISE_COS, far, [](double v) { return std::cos(v); });
    one(h, "tan composed", CUDNN_POINTWISE_TAN, x, [](double v) { return std::tan(v); }, {}, 1e-4);
    one(h, "erf composed", CUDNN_POINTWISE_ERF, x, [](double v) { return std::erf(v); }, {}, 1e-6);
    two(h, "pow composed", CUDNN_POINTWISE_POW, x, b, DIMS, [](double a, double v) { return std::pow(a, v); });
    two(h, "atan2 composed", CUDNN_POINTWISE_ATAN2, x, b, DIMS, [](double a, double v) { return std::atan2(a, v); });
    Floats odd = x, other = b;
    odd[3] = other[5] = odd[7] = other[7] = NAN;
    two(h, "atan2 of NaN", CUDNN_POINTWISE_ATAN2, odd, other, DIMS, [](double a, double v) { return std::atan2(a, v); });
    is(cudnnSetCallback(0, nullptr, nullptr), CUDNN_STATUS_SUCCESS, "listen no more");
    check(by_definition == 0, "composed functions have kernels");
}

void elements(cudnnHandle_t handle) {
    single(handle);
    pairs(handle);
    gradients(handle);
    choices(handle);
    types(handle);
    composed(handle);
}
