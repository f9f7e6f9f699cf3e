// Every operation with every type, layout, pair of scaling factors and mode, compared with loops. A setting may be refused only if cuDNN's documentation refuses
// it or does not mention it: each operation states which settings cuDNN documents. `program matrix` prints the counts.
#include "check.hpp"

#include <algorithm>
#include <array>

namespace {
enum Layout { NCHW, NHWC, ODD, VECT };
const int N = 2, H = 4, W = 3;
using At = std::array<int, 4>;

// The setting of a call.
struct Setting {
    cudnnDataType_t type;
    Layout layout;
    int mode;
    double alpha, beta;
    int channels() const { return type == CUDNN_DATA_INT8x32 ? 32 : 8; }
    bool is_real() const { return layout != VECT && (type == CUDNN_DATA_FLOAT || type == CUDNN_DATA_HALF || type == CUDNN_DATA_DOUBLE || type == CUDNN_DATA_BFLOAT16); }
    bool is_plain() const { return alpha == 1 && beta == 0; }
};

// The type of one element.
cudnnDataType_t element(cudnnDataType_t type) {
    return type == CUDNN_DATA_INT8x32 || type == CUDNN_DATA_INT8x4 ? CUDNN_DATA_INT8 : type == CUDNN_DATA_UINT8x4 ? CUDNN_DATA_UINT8 : type;
}

double least(cudnnDataType_t type) { return type == CUDNN_DATA_INT8 ? -128 : type == CUDNN_DATA_UINT8 ? 0 : type == CUDNN_DATA_INT32 ? -2147483648.0 : -INFINITY; }
double most(cudnnDataType_t type) { return type == CUDNN_DATA_INT8 ? 127 : type == CUDNN_DATA_UINT8 ? 255 : type == CUDNN_DATA_INT32 ? 2147483647.0 : INFINITY; }

// A tensor in a layout.
struct Grid {
    At dims;
    cudnnDataType_t type;
    int vector;
    At strides;
    Buffer buffer;
    cudnnTensorDescriptor_t desc = nullptr;

    static int lanes(cudnnDataType_t type, Layout layout) { return layout != VECT ? 1 : type == CUDNN_DATA_INT8x32 ? 32 : 4; }
    static At steps(const At &d, Layout layout) {
        const auto [n, c, h, w] = d;
        (void)n;
        if (layout == NHWC) return {h * w * c, 1, w * c, c};
        // Dimensions in another order, with gaps, whose contents must not change.
        if (layout == ODD) return {h * (2 * w + 1) + 3, (h * (2 * w + 1) + 3) * n, 2 * w + 1, 2};
        return {c * h * w, h * w, w, 1};
    }
    static size_t extent(const At &d, const At &s) { return size_t(1 + (d[0] - 1) * s[0] + (d[1] - 1) * s[1] + (d[2] - 1) * s[2] + (d[3] - 1) * s[3]); }
    Grid(cudnnDataType_t given, Layout layout, At dims)
        : dims(dims), type(element(given)), vector(lanes(given, layout)), strides(steps(dims, layout)), buffer(type, extent(dims, strides)) {
        OK(cudnnCreateTensorDescriptor(&desc));
        if (layout == VECT) OK(cudnnSetTensor4dDescriptor(desc, CUDNN_TENSOR_NCHW_VECT_C, given, dims[0], dims[1], dims[2], dims[3]));
        else OK(cudnnSetTensor4dDescriptorEx(desc, given, dims[0], dims[1], dims[2], dims[3], strides[0], strides[1], strides[2], strides[3]));
    }
    Grid(const Setting &s, At dims) : Grid(s.type, s.layout, dims) {}
    explicit Grid(const Setting &s) : Grid(s, {N, s.channels(), H, W}) {}
    Grid(const Grid &) = delete;
    ~Grid() { OK(cudnnDestroyTensorDescriptor(desc)); }
    size_t at(const At &p) const {
        if (vector > 1) return size_t((((p[0] * (dims[1] / vector) + p[1] / vector) * dims[2] + p[2]) * dims[3] + p[3]) * vector + p[1] % vector);
        return size_t(p[0] * strides[0] + p[1] * strides[1] + p[2] * strides[2] + p[3] * strides[3]);
    }
    double get(const At &p) const { return buffer.get(at(p)); }
    void *data() { return buffer.data(); }
    template <class F> void each(F f) const {
        for (int n = 0; n < dims[0]; n++)
            for (int c = 0; c < dims[1]; c++)
                for (int h = 0; h < dims[2]; h++)
                    for (int w = 0; w < dims[3]; w++) {
                        const At p{n, c, h, w};
                        f(p);
                    }
    }
    Grid &random(unsigned seed) {
        Buffer numbers(type, size_t(dims[0]) * dims[1] * dims[2] * dims[3]);
        numbers.random(seed);
        size_t i = 0;
        each([&](const At &p) { buffer.set(at(p), numbers.get(i++)); });
        return *this;
    }
    // The old contents of the result: values if `beta` is not 0, else NaN.
    Grid &before(const Setting &s) { return s.beta == 0 ? *this : random(77); }
};

std::string title;

// Compares a result with `alpha * right + beta * old`, and its gaps with their old contents.
void judge(const Setting &s, const Grid &got, const Buffer &before, const std::function<double(const At &)> &right, double scale = 4) {
    Buffer gaps = got.buffer;
    bool good = true;
    std::string first;
    got.each([&](const At &p) {
        double wanted = s.alpha * right(p) + (s.beta == 0 ? 0 : s.beta * before.get(got.at(p))), is = got.get(p);
        wanted = std::min(std::max(wanted, least(got.type)), most(got.type));
        bool whole = std::isfinite(most(got.type));
        bool fits = whole ? std::fabs(is - wanted) <= 0.5 + 1e-4 * std::fabs(wanted) : close(is, wanted, got.type, scale);
        if (!fits && good) first = ": " + std::to_string(is) + ", not " + std::to_string(wanted);
        good &= fits;
        std::memcpy(gaps.bytes.data() + got.at(p) * (gaps.bytes.size() / gaps.size()), before.bytes.data() + got.at(p) * (gaps.bytes.size() / gaps.size()), gaps.bytes.size() / gaps.size());
    });
    check(good, (title + first).c_str(), __FILE__, __LINE__);
    check(gaps.bytes == before.bytes, (title + ": what is between elements was written").c_str(), __FILE__, __LINE__);
}

using Status = cudnnStatus_t;
const Status FINE = CUDNN_STATUS_SUCCESS;

// A descriptor for the duration of a call.
template <class T> struct Own {
    T it = nullptr;
    Status (*end)(T);
    Own(Status (*make)(T *), Status (*end)(T)) : end(end) { OK(make(&it)); }
    Own(const Own &) = delete;
    ~Own() { OK(end(it)); }
    operator T() const { return it; }
};
#define OWN(Kind, name) Own<cudnn##Kind##Descriptor_t> name(cudnnCreate##Kind##Descriptor, cudnnDestroy##Kind##Descriptor)

struct Scaling {
    Factor a, b;
    explicit Scaling(const Setting &s) : a(s.alpha, s.type), b(s.beta, s.type) {}
};

Status add(const Setting &s) {
    const int c = s.mode == 2 && s.layout != VECT ? 1 : s.channels();
    Grid y(s), x(s, s.mode == 0 ? y.dims : At{1, c, 1, 1});
    x.random(1), y.before(s);
    Scaling f(s);
    Buffer old = y.buffer;
    Status status = cudnnAddTensor(handle(), f.a.data(), x.desc, x.data(), f.b.data(), y.desc, y.data());
    if (status == FINE) judge(s, y, old, [&](auto &p) { return x.get({x.dims[0] == 1 ? 0 : p[0], x.dims[1] == 1 ? 0 : p[1], x.dims[2] == 1 ? 0 : p[2], x.dims[3] == 1 ? 0 : p[3]}); });
    return status;
}

Status op_tensor(const Setting &s) {
    OWN(OpTensor, desc);
    OK(cudnnSetOpTensorDescriptor(desc, cudnnOpTensorOp_t(s.mode), s.type == CUDNN_DATA_DOUBLE ? s.type : CUDNN_DATA_FLOAT, CUDNN_PROPAGATE_NAN));
    Grid x(s), z(s), y(s);
    x.random(1), z.random(2), y.before(s);
    if (s.mode == CUDNN_OP_TENSOR_SQRT) x.each([&](auto &p) { x.buffer.set(x.at(p), std::fabs(x.get(p))); });
    Factor a(1, s.type), b(1.5, s.type), f(s.beta, s.type);
    Buffer old = y.buffer;
    Status status = cudnnOpTensor(handle(), desc, a.data(), x.desc, x.data(), b.data(), z.desc, z.data(), f.data(), y.desc, y.data());
    if (status != FINE) return status;
    judge({s.type, s.layout, s.mode, 1, s.beta}, y, old, [&](auto &p) {
        double v = x.get(p), w = 1.5 * z.get(p);
        return s.mode == 0 ? v + w : s.mode == 1 ? v * w : s.mode == 2 ? std::min(v, w) : s.mode == 3 ? std::max(v, w) : s.mode == 4 ? std::sqrt(v) : 1 - v;
    });
    return status;
}

Status scale(const Setting &s) {
    Grid y(s);
    y.random(1);
    Buffer old = y.buffer;
    Status status = cudnnScaleTensor(handle(), y.desc, y.data(), Scaling(s).a.data());
    if (status == FINE) judge({s.type, s.layout, 0, s.alpha, 0}, y, old, [&](auto &p) { return old.get(y.at(p)); });
    return status;
}

Status set(const Setting &s) {
    Grid y(s);
    Buffer value(element(s.type), 1), old = y.buffer;
    value.fill(3);
    Status status = cudnnSetTensor(handle(), y.desc, y.data(), value.data());
    if (status == FINE) judge({s.type, s.layout, 0, 1, 0}, y, old, [&](auto &) { return 3; });
    return status;
}

Status transform(const Setting &s) {
    const Layout to = s.mode == 0 ? s.layout : s.mode == 1 ? NCHW : s.mode == 2 ? NHWC : ODD;
    Grid x(s), y(to == VECT ? s.type : element(s.type), to, x.dims);
    x.random(1), y.before(s);
    Scaling f(s);
    Buffer old = y.buffer;
    Status status = cudnnTransformTensor(handle(), f.a.data(), x.desc, x.data(), f.b.data(), y.desc, y.data());
    if (status == FINE) judge(s, y, old, [&](auto &p) { return x.get(p); });
    return status;
}

double act(int mode, double v) {
    switch (mode) {
    case CUDNN_ACTIVATION_SIGMOID: return 1 / (1 + std::exp(-v));
    case CUDNN_ACTIVATION_RELU: return std::max(v, 0.0);
    case CUDNN_ACTIVATION_TANH: return std::tanh(v);
    case CUDNN_ACTIVATION_CLIPPED_RELU: return std::min(std::max(v, 0.0), 0.75);
    case CUDNN_ACTIVATION_ELU: return v > 0 ? v : 0.75 * (std::exp(v) - 1);
    case CUDNN_ACTIVATION_SWISH: return v / (1 + std::exp(-0.75 * v));
    default: return v;
    }
}

Status activation(const Setting &s, bool backward) {
    OWN(Activation, desc);
    OK(cudnnSetActivationDescriptor(desc, cudnnActivationMode_t(s.mode), CUDNN_NOT_PROPAGATE_NAN, 0.75));
    OK(cudnnSetActivationDescriptorSwishBeta(desc, 0.75));
    Grid x(s), y(s), dy(s);
    x.random(1), dy.random(2);
    Scaling f(s);
    if (!backward) {
        Buffer old = y.before(s).buffer;
        Status status = cudnnActivationForward(handle(), desc, f.a.data(), x.desc, x.data(), f.b.data(), y.desc, y.data());
        if (status == FINE) judge(s, y, old, [&](auto &p) { return act(s.mode, x.get(p)); });
        return status;
    }
    Grid dx(s);
    y.each([&](auto &p) { y.buffer.set(y.at(p), act(s.mode, x.get(p))); });
    Buffer old = dx.before(s).buffer;
    Status status = cudnnActivationBackward(handle(), desc, f.a.data(), y.desc, y.data(), dy.desc, dy.data(), x.desc, x.data(), f.b.data(), dx.desc, dx.data());
    if (status == FINE)
        judge(s, dx, old, [&](auto &p) {
            const double v = x.get(p), h = 1e-6;
            return (act(s.mode, v + h) - act(s.mode, v - h)) / (2 * h) * dy.get(p);
        }, s.type == CUDNN_DATA_DOUBLE ? 1e3 : 4);
    return status;
}
Status activation_forward(const Setting &s) { return activation(s, false); }
Status activation_backward(const Setting &s) { return activation(s, true); }

// Modes: algorithm, and instance or channel.
Status softmax(const Setting &s, bool backward) {
    auto algo = cudnnSoftmaxAlgorithm_t(s.mode / 2);
    auto mode = cudnnSoftmaxMode_t(s.mode % 2);
    Grid x(s), y(s), dy(s), dx(s);
    x.random(1), dy.random(2);
    const bool whole = mode == CUDNN_SOFTMAX_MODE_INSTANCE, log = algo == CUDNN_SOFTMAX_LOG;
    auto sum = [&](const At &p, auto f) {
        double all = 0;
        x.each([&](const At &q) { all += q[0] == p[0] && (whole || (q[2] == p[2] && q[3] == p[3])) ? f(q) : 0; });
        return all;
    };
    auto right = [&](const At &p) {
        double v = std::exp(x.get(p)) / sum(p, [&](auto &q) { return std::exp(x.get(q)); });
        return log ? std::log(v) : v;
    };
    Scaling f(s);
    if (!backward) {
        Buffer old = y.before(s).buffer;
        Status status = cudnnSoftmaxForward(handle(), algo, mode, f.a.data(), x.desc, x.data(), f.b.data(), y.desc, y.data());
        if (status == FINE) judge(s, y, old, right);
        return status;
    }
    y.each([&](auto &p) { y.buffer.set(y.at(p), right(p)); });
    Buffer old = dx.before(s).buffer;
    Status status = cudnnSoftmaxBackward(handle(), algo, mode, f.a.data(), y.desc, y.data(), dy.desc, dy.data(), f.b.data(), dx.desc, dx.data());
    if (status == FINE)
        judge(s, dx, old, [&](auto &p) {
            return log ? dy.get(p) - std::exp(y.get(p)) * sum(p, [&](auto &q) { return dy.get(q); })
                       : y.get(p) * (dy.get(p) - sum(p, [&](auto &q) { return dy.get(q) * y.get(q); }));
        }, 8);
    return status;
}
Status softmax_forward(const Setting &s) { return softmax(s, false); }
Status softmax_backward(const Setting &s) { return softmax(s, true); }

// Windows of 3x2, a row of padding, strides of 2 and 1.
Status pooling(const Setting &s, bool backward) {
    OWN(Pooling, desc);
    auto mode = cudnnPoolingMode_t(s.mode);
    OK(cudnnSetPooling2dDescriptor(desc, mode, CUDNN_NOT_PROPAGATE_NAN, 3, 2, 1, 0, 2, 1));
    Grid x(s), y(s, {N, s.channels(), 2, 2}), dy(s, y.dims), dx(s);
    x.random(1), dy.random(2);
    const bool maximum = mode == CUDNN_POOLING_MAX || mode == CUDNN_POOLING_MAX_DETERMINISTIC;
    std::vector<double> gradient(x.buffer.size(), 0);
    auto window = [&](const At &p) {
        double best = -INFINITY, all = 0;
        int inside = 0;
        At where{};
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 2; c++) {
                At q{p[0], p[1], p[2] * 2 - 1 + r, p[3] + c};
                if (q[2] < 0 || q[2] >= H || q[3] >= W) continue;
                inside++, all += x.get(q);
                if (x.get(q) > best) best = x.get(q), where = q;
            }
        const double share = mode == CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING ? 1.0 / 6 : 1.0 / inside;
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 2; c++) {
                At q{p[0], p[1], p[2] * 2 - 1 + r, p[3] + c};
                if (!maximum && q[2] >= 0 && q[2] < H && q[3] < W) gradient[x.at(q)] += share * dy.get(p);
            }
        if (maximum) gradient[x.at(where)] += dy.get(p);
        return maximum ? best : all * share;
    };
    Scaling f(s);
    if (!backward) {
        Buffer old = y.before(s).buffer;
        Status status = cudnnPoolingForward(handle(), desc, f.a.data(), x.desc, x.data(), f.b.data(), y.desc, y.data());
        if (status == FINE) judge(s, y, old, window);
        return status;
    }
    y.each([&](auto &p) { y.buffer.set(y.at(p), window(p)); });
    Buffer old = dx.before(s).buffer;
    Status status = cudnnPoolingBackward(handle(), desc, f.a.data(), y.desc, y.data(), dy.desc, dy.data(), x.desc, x.data(), f.b.data(), dx.desc, dx.data());
    if (status == FINE) judge(s, dx, old, [&](auto &p) { return gradient[x.at(p)]; });
    return status;
}
Status pooling_forward(const Setting &s) { return pooling(s, false); }
Status pooling_backward(const Setting &s) { return pooling(s, true); }

// Windows of three channels: k 2, alpha 0.5, beta 0.75.
Status lrn(const Setting &s, bool backward) {
    OWN(LRN, desc);
    OK(cudnnSetLRNDescriptor(desc, 3, 0.5, 0.75, 2));
    Grid x(s), y(s), dy(s), dx(s);
    x.random(1), dy.random(2);
    auto near = [&](const At &p, auto f) {
        for (int c = std::max(0, p[1] - 1); c <= std::min(x.dims[1] - 1, p[1] + 1); c++) f(At{p[0], c, p[2], p[3]});
    };
    auto base = [&](const At &p) {
        double squares = 0;
        near(p, [&](const At &q) { squares += x.get(q) * x.get(q); });
        return 2 + 0.5 / 3 * squares;
    };
    auto right = [&](const At &p) { return x.get(p) * std::pow(base(p), -0.75); };
    Scaling f(s);
    auto mode = CUDNN_LRN_CROSS_CHANNEL_DIM1;
    if (!backward) {
        Buffer old = y.before(s).buffer;
        Status status = cudnnLRNCrossChannelForward(handle(), desc, mode, f.a.data(), x.desc, x.data(), f.b.data(), y.desc, y.data());
        if (status == FINE) judge(s, y, old, right);
        return status;
    }
    y.each([&](auto &p) { y.buffer.set(y.at(p), right(p)); });
    Buffer old = dx.before(s).buffer;
    Status status = cudnnLRNCrossChannelBackward(handle(), desc, mode, f.a.data(), y.desc, y.data(), dy.desc, dy.data(), x.desc, x.data(), f.b.data(), dx.desc, dx.data());
    if (status == FINE)
        judge(s, dx, old, [&](auto &p) {
            double g = dy.get(p) * std::pow(base(p), -0.75);
            near(p, [&](const At &q) { g -= 2 * 0.5 / 3 * 0.75 * x.get(p) * dy.get(q) * x.get(q) * std::pow(base(q), -1.75); });
            return g;
        });
    return status;
}
Status lrn_forward(const Setting &s) { return lrn(s, false); }
Status lrn_backward(const Setting &s) { return lrn(s, true); }

// To one value per channel.
Status reduce(const Setting &s) {
    OWN(ReduceTensor, desc);
    OK(cudnnSetReduceTensorDescriptor(desc, cudnnReduceTensorOp_t(s.mode), s.type == CUDNN_DATA_DOUBLE ? s.type : CUDNN_DATA_FLOAT, CUDNN_NOT_PROPAGATE_NAN,
                                      CUDNN_REDUCE_TENSOR_NO_INDICES, CUDNN_32BIT_INDICES));
    Grid x(s), y(s, {1, s.channels(), 1, 1});
    x.random(1), y.before(s);
    size_t bytes = 0;
    Status status = cudnnGetReductionWorkspaceSize(handle(), desc, x.desc, y.desc, &bytes);
    if (status != FINE) return status;
    Workspace space(bytes);
    Scaling f(s);
    Buffer old = y.buffer;
    status = cudnnReduceTensor(handle(), desc, nullptr, 0, space.data(), bytes, f.a.data(), x.desc, x.data(), f.b.data(), y.desc, y.data());
    if (status != FINE) return status;
    judge(s, y, old, [&](auto &p) {
        double sum = 0, product = 1, kept = 1, low = INFINITY, high = -INFINITY, large = 0, absolute = 0, squares = 0;
        x.each([&](const At &q) {
            if (q[1] != p[1]) return;
            const double v = x.get(q);
            sum += v, product *= v, kept *= v == 0 ? 1 : v, low = std::min(low, v), high = std::max(high, v), large = std::max(large, std::fabs(v));
            absolute += std::fabs(v), squares += v * v;
        });
        const double all[] = {sum, product, low, high, large, sum / (N * H * W), absolute, std::sqrt(squares), kept};
        return all[s.mode];
    }, 24);
    return status;
}

// Statistics per channel or per element of a sample, in the type that cuDNN uses for them.
struct Moments {
    Grid scale, bias, mean, variance;
    static At shape(const Setting &s) { return s.mode == CUDNN_BATCHNORM_PER_ACTIVATION ? At{1, s.channels(), H, W} : At{1, s.channels(), 1, 1}; }
    static cudnnDataType_t type(const Setting &s) { return s.type == CUDNN_DATA_DOUBLE ? s.type : CUDNN_DATA_FLOAT; }
    explicit Moments(const Setting &s) : scale(type(s), NCHW, shape(s)), bias(type(s), NCHW, shape(s)), mean(type(s), NCHW, shape(s)), variance(type(s), NCHW, shape(s)) {
        scale.random(5), bias.random(6), mean.random(7), variance.random(8);
        variance.each([&](auto &p) { variance.buffer.set(variance.at(p), 0.5 + std::fabs(variance.get(p))); });
    }
    At of(const At &p) const { return scale.dims[2] == 1 ? At{0, p[1], 0, 0} : At{0, p[1], p[2], p[3]}; }
};
// Persistent statistics are the second mode's: mode 2 is CUDNN_BATCHNORM_SPATIAL_PERSISTENT.
Status norm_inference(const Setting &s) {
    Grid x(s), y(s);
    Moments m(s);
    Buffer old = (x.random(1), y.before(s).buffer);
    Scaling f(s);
    Status status = cudnnBatchNormalizationForwardInference(handle(), cudnnBatchNormMode_t(s.mode), f.a.data(), f.b.data(), x.desc, x.data(), y.desc, y.data(), m.scale.desc,
                                                            m.scale.data(), m.bias.data(), m.mean.data(), m.variance.data(), 1e-5);
    if (status == FINE)
        judge(s, y, old, [&](auto &p) { return (x.get(p) - m.mean.get(m.of(p))) / std::sqrt(m.variance.get(m.of(p)) + 1e-5) * m.scale.get(m.of(p)) + m.bias.get(m.of(p)); });
    return status;
}

Status norm_training(const Setting &s, bool backward) {
    Grid x(s), y(s), dy(s), dx(s);
    Moments m(s), kept(s);
    x.random(1), dy.random(2);
    const double count = s.mode == CUDNN_BATCHNORM_PER_ACTIVATION ? N : N * H * W;
    auto mean = [&](const At &p, auto f) {
        double all = 0;
        x.each([&](const At &q) { all += m.of(q) == m.of(p) ? f(q) : 0; });
        return all / count;
    };
    auto middle = [&](const At &p) { return mean(p, [&](auto &q) { return x.get(q); }); };
    auto inverse = [&](const At &p) {
        const double u = middle(p);
        return 1 / std::sqrt(mean(p, [&](auto &q) { return (x.get(q) - u) * (x.get(q) - u); }) + 1e-3);
    };
    Scaling f(s);
    Buffer old = y.before(s).buffer;
    auto mode = cudnnBatchNormMode_t(s.mode);
    Status status = cudnnBatchNormalizationForwardTraining(handle(), mode, f.a.data(), f.b.data(), x.desc, x.data(), y.desc, y.data(), m.scale.desc, m.scale.data(), m.bias.data(), 1,
                                                           m.mean.data(), m.variance.data(), 1e-3, kept.mean.data(), kept.variance.data());
    if (status != FINE) return status;
    if (!backward) {
        judge(s, y, old, [&](auto &p) { return (x.get(p) - middle(p)) * inverse(p) * m.scale.get(m.of(p)) + m.bias.get(m.of(p)); }, 16);
        return status;
    }
    old = dx.before(s).buffer;
    Factor one(1, s.type), zero(0, s.type);
    Grid dscale(Moments::type(s), NCHW, Moments::shape(s)), dbias(Moments::type(s), NCHW, Moments::shape(s));
    status = cudnnBatchNormalizationBackward(handle(), mode, f.a.data(), f.b.data(), one.data(), zero.data(), x.desc, x.data(), dy.desc, dy.data(), dx.desc, dx.data(), m.scale.desc,
                                             m.scale.data(), dscale.data(), dbias.data(), 1e-3, kept.mean.data(), kept.variance.data());
    if (status == FINE)
        judge(s, dx, old, [&](auto &p) {
            const double u = middle(p), v = inverse(p), sum = mean(p, [&](auto &q) { return dy.get(q); }), with = mean(p, [&](auto &q) { return dy.get(q) * (x.get(q) - u) * v; });
            return m.scale.get(m.of(p)) * v * (dy.get(p) - sum - (x.get(p) - u) * v * with);
        }, 32);
    return status;
}
Status norm_forward(const Setting &s) { return norm_training(s, false); }
Status norm_backward(const Setting &s) { return norm_training(s, true); }

Status dropout(const Setting &s) {
    OWN(Dropout, desc);
    size_t bytes = 0, kept = 0;
    OK(cudnnDropoutGetStatesSize(handle(), &bytes));
    Workspace states(bytes);
    OK(cudnnSetDropoutDescriptor(desc, handle(), 0.5f, states.data(), bytes, 7));
    Grid x(s), y(s), dy(s), dx(s);
    x.each([&](auto &p) { x.buffer.set(x.at(p), 1 + p[0] + p[3]); });
    dy.each([&](auto &p) { dy.buffer.set(dy.at(p), 2 + p[1]); });
    Buffer old = y.buffer;
    Status status = cudnnDropoutGetReserveSpaceSize(x.desc, &kept);
    if (status != FINE) return status;
    Workspace reserve(kept);
    status = cudnnDropoutForward(handle(), desc, x.desc, x.data(), y.desc, y.data(), reserve.data(), kept);
    if (status != FINE) return status;
    int dropped = 0, count = 0;
    y.each([&](auto &p) { dropped += y.get(p) == 0, count++; });
    check(dropped > count / 5 && dropped < count * 4 / 5, (title + ": a half is dropped").c_str(), __FILE__, __LINE__);
    judge({s.type, s.layout, 0, 1, 0}, y, old, [&](auto &p) { return y.get(p) == 0 ? 0 : 2 * x.get(p); });
    status = cudnnDropoutBackward(handle(), desc, dy.desc, dy.data(), dx.desc, dx.data(), reserve.data(), kept);
    if (status == FINE) judge({s.type, s.layout, 0, 1, 0}, dx, old, [&](auto &p) { return y.get(p) == 0 ? 0 : 2 * dy.get(p); });
    return status;
}

// The identity grid.
Status sampler(const Setting &s) {
    Own<cudnnSpatialTransformerDescriptor_t> desc(cudnnCreateSpatialTransformerDescriptor, cudnnDestroySpatialTransformerDescriptor);
    Grid x(s), y(s);
    const int dims[] = {N, s.channels(), H, W};
    Status status = cudnnSetSpatialTransformerNdDescriptor(desc, CUDNN_SAMPLER_BILINEAR, element(s.type), 4, dims);
    if (status != FINE) return status;
    Buffer grid(element(s.type), size_t(N) * H * W * 2), old = (x.random(1), y.before(s).buffer);
    for (int n = 0, i = 0; n < N; n++)
        for (int h = 0; h < H; h++)
            for (int w = 0; w < W; w++) grid.set(i++, 2.0 * w / (W - 1) - 1), grid.set(i++, 2.0 * h / (H - 1) - 1);
    Scaling f(s);
    status = cudnnSpatialTfSamplerForward(handle(), desc, f.a.data(), x.desc, x.data(), grid.data(), f.b.data(), y.desc, y.data());
    if (status == FINE) judge(s, y, old, [&](auto &p) { return x.get(p); }, 16);
    return status;
}

// A 3x2 convolution with a row of padding. Modes: cross-correlation or not, and groups of two.
struct Window {
    cudnnFilterDescriptor_t filter = nullptr;
    cudnnConvolutionDescriptor_t conv = nullptr;
    int k, c;
    Grid w;
    bool turned;
    Status status = FINE;
    explicit Window(const Setting &s) : k(s.channels()), c(s.mode == 2 && s.type != CUDNN_DATA_INT8x32 ? s.channels() / 2 : s.channels()), w(s.type, s.layout == ODD ? NCHW : s.layout, {k, c, 3, 2}), turned(s.mode == 0) {
        OK(cudnnCreateFilterDescriptor(&filter));
        OK(cudnnCreateConvolutionDescriptor(&conv));
        auto format = s.layout == VECT ? CUDNN_TENSOR_NCHW_VECT_C : s.layout == NHWC ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW;
        auto type = s.type == CUDNN_DATA_UINT8x4 ? CUDNN_DATA_INT8x4 : s.type;
        status = cudnnSetFilter4dDescriptor(filter, type, format, k, c, 3, 2);
        auto compute = s.type == CUDNN_DATA_DOUBLE ? s.type : s.is_real() ? CUDNN_DATA_FLOAT : CUDNN_DATA_INT32;
        OK(cudnnSetConvolution2dDescriptor(conv, 1, 0, 1, 1, 1, 1, turned ? CUDNN_CONVOLUTION : CUDNN_CROSS_CORRELATION, compute));
        OK(cudnnSetConvolutionGroupCount(conv, s.mode == 2 ? 2 : 1));
        OK(cudnnSetConvolutionMathType(conv, CUDNN_FMA_MATH));
        w.random(2);
    }
    Window(const Window &) = delete;
    ~Window() {
        OK(cudnnDestroyConvolutionDescriptor(conv));
        OK(cudnnDestroyFilterDescriptor(filter));
    }
    // Calls `f` with the positions of source, filter and result of each product.
    template <class F> void each(F f) const {
        for (int n = 0; n < N; n++)
            for (int o = 0; o < k; o++)
                for (int h = 0; h < H; h++)
                    for (int v = 0; v < W - 1; v++)
                        for (int i = 0; i < c; i++)
                            for (int r = 0; r < 3; r++)
                                for (int q = 0; q < 2; q++) {
                                    At from{n, o / (k / (w.dims[1] == k ? 1 : 2)) * c + i, h - 1 + r, v + q};
                                    if (from[2] >= 0 && from[2] < H) f(from, turned ? At{o, i, 2 - r, 1 - q} : At{o, i, r, q}, At{n, o, h, v});
                                }
    }
};

Status convolution(const Setting &s, int pass) {
    Window window(s);
    Grid x(s), y(s, {N, window.k, H, W - 1}), dw(s.type, s.layout == ODD ? NCHW : s.layout, window.w.dims);
    if (window.status != FINE) return window.status;
    if (pass != 1) x.random(1);
    if (pass != 0) y.random(3);
    Scaling f(s);
    Grid &result = pass == 0 ? y : pass == 1 ? x : dw;
    std::vector<double> sums(result.buffer.size(), 0);
    window.each([&](const At &from, const At &tap, const At &to) {
        if (pass == 0) sums[y.at(to)] += x.get(from) * window.w.get(tap);
        if (pass == 1) sums[x.at(from)] += y.get(to) * window.w.get(tap);
        if (pass == 2) sums[dw.at(tap)] += y.get(to) * x.get(from);
    });
    Buffer old = result.before(s).buffer;
    size_t bytes = 0;
    Status status;
    if (pass == 0) {
        auto algo = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM;
        status = cudnnGetConvolutionForwardWorkspaceSize(handle(), x.desc, window.filter, window.conv, y.desc, algo, &bytes);
        if (status != FINE) return status;
        Workspace space(bytes);
        status = cudnnConvolutionForward(handle(), f.a.data(), x.desc, x.data(), window.filter, window.w.data(), window.conv, algo, space.data(), bytes, f.b.data(), y.desc, y.data());
    } else if (pass == 1) {
        status = cudnnGetConvolutionBackwardDataWorkspaceSize(handle(), window.filter, y.desc, window.conv, x.desc, CUDNN_CONVOLUTION_BWD_DATA_ALGO_1, &bytes);
        if (status != FINE) return status;
        Workspace space(bytes);
        status = cudnnConvolutionBackwardData(handle(), f.a.data(), window.filter, window.w.data(), y.desc, y.data(), window.conv, CUDNN_CONVOLUTION_BWD_DATA_ALGO_1, space.data(), bytes,
                                              f.b.data(), x.desc, x.data());
    } else {
        status = cudnnGetConvolutionBackwardFilterWorkspaceSize(handle(), x.desc, y.desc, window.conv, window.filter, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1, &bytes);
        if (status != FINE) return status;
        Workspace space(bytes);
        status = cudnnConvolutionBackwardFilter(handle(), f.a.data(), x.desc, x.data(), y.desc, y.data(), window.conv, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1, space.data(), bytes, f.b.data(),
                                                window.filter, dw.data());
    }
    if (status == FINE) judge(s, result, old, [&](auto &p) { return sums[result.at(p)]; }, 64);
    return status;
}
Status forward(const Setting &s) { return convolution(s, 0); }
Status by_data(const Setting &s) { return convolution(s, 1); }
Status by_weights(const Setting &s) { return convolution(s, 2); }

Status by_bias(const Setting &s) {
    Grid y(s), b(s, {1, s.channels(), 1, 1});
    Buffer old = (y.random(1), b.before(s).buffer);
    Scaling f(s);
    Status status = cudnnConvolutionBackwardBias(handle(), f.a.data(), y.desc, y.data(), f.b.data(), b.desc, b.data());
    if (status == FINE)
        judge(s, b, old, [&](auto &p) {
            double all = 0;
            y.each([&](const At &q) { all += q[1] == p[1] ? y.get(q) : 0; });
            return all;
        }, 24);
    return status;
}

// y = relu(alpha1 * conv + alpha2 * z + bias), with the setting's `alpha` and `beta` as factors.
Status fused(const Setting &s) {
    Window window(s);
    Grid x(s), y(s, {N, window.k, H, W - 1}), z(s, y.dims), bias(s.is_real() ? s.type : CUDNN_DATA_FLOAT, NCHW, {1, window.k, 1, 1});
    OWN(Activation, relu);
    OK(cudnnSetActivationDescriptor(relu, CUDNN_ACTIVATION_RELU, CUDNN_NOT_PROPAGATE_NAN, 0));
    if (window.status != FINE) return window.status;
    x.random(1), z.random(3), bias.random(4);
    std::vector<double> sums(y.buffer.size(), 0);
    window.each([&](const At &from, const At &tap, const At &to) { sums[y.at(to)] += x.get(from) * window.w.get(tap); });
    auto algo = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM;
    size_t bytes = 0;
    Status status = cudnnGetConvolutionForwardWorkspaceSize(handle(), x.desc, window.filter, window.conv, y.desc, algo, &bytes);
    if (status != FINE) return status;
    Workspace space(bytes);
    Scaling f(s);
    Buffer old = y.buffer;
    status = cudnnConvolutionBiasActivationForward(handle(), f.a.data(), x.desc, x.data(), window.filter, window.w.data(), window.conv, algo, space.data(), bytes, f.b.data(), z.desc,
                                                   z.data(), bias.desc, bias.data(), relu, y.desc, y.data());
    if (status == FINE) judge({s.type, s.layout, 0, 1, 0}, y, old, [&](auto &p) { return std::max(0.0, s.alpha * sums[y.at(p)] + s.beta * z.get(p) + bias.get({0, p[1], 0, 0})); }, 64);
    return status;
}

// An operation, its number of modes, and the settings that cuDNN documents: floating-point types with any strides, and those listed here.
struct Operation {
    const char *name;
    Status (*run)(const Setting &);
    int modes;
    bool (*documented)(const Setting &);
};
bool real(const Setting &s) { return s.is_real(); }
bool bytes(const Setting &s) { return element(s.type) == CUDNN_DATA_INT8; }
// 8-bit types without scaling, and vectors of channels, as in forward convolution and pooling.
bool real_or_bytes(const Setting &s) { return real(s) || (bytes(s) && s.is_plain()); }
bool real_or_plain_bytes(const Setting &s) { return real(s) || (s.type == CUDNN_DATA_INT8 && s.is_plain()); }
bool any(const Setting &) { return true; }
// int8 convolutions: NHWC or vectors of channels, cross-correlation, no groups.
bool products(const Setting &s) { return real(s) || (bytes(s) && s.is_plain() && s.mode == 1 && (s.layout == NHWC || s.layout == VECT)); }

const Operation OPERATIONS[] = {
    {"AddTensor", add, 3, real},
    {"OpTensor", op_tensor, 6, real_or_plain_bytes},
    {"ScaleTensor", scale, 1, real},
    {"SetTensor", set, 1, any},
    {"TransformTensor", transform, 4, real_or_bytes},
    {"ActivationForward", activation_forward, 7, real},
    {"ActivationBackward", activation_backward, 7, real},
    {"SoftmaxForward", softmax_forward, 6, real},
    {"SoftmaxBackward", softmax_backward, 6, real},
    {"PoolingForward", pooling_forward, 4, real_or_bytes},
    {"PoolingBackward", pooling_backward, 4, real},
    {"LRNCrossChannelForward", lrn_forward, 1, real},
    {"LRNCrossChannelBackward", lrn_backward, 1, real},
    {"ReduceTensor", reduce, 9, real},
    {"BatchNormalizationForwardInference", norm_inference, 3, real},
    {"BatchNormalizationForwardTraining", norm_forward, 3, real},
    {"BatchNormalizationBackward", norm_backward, 3, real},
    {"Dropout", dropout, 1, real},
    {"SpatialTfSamplerForward", sampler, 1, real},
    {"ConvolutionForward", forward, 3, products},
    {"ConvolutionBackwardData", by_data, 3, real},
    {"ConvolutionBackwardFilter", by_weights, 3, real},
    {"ConvolutionBackwardBias", by_bias, 1, real},
    {"ConvolutionBiasActivationForward", fused, 3, products},
};

const char *const TYPES[] = {"float", "double", "half", "int8", "int32", "int8x4", "uint8", "uint8x4", "int8x32", "bfloat16"};
const char *const LAYOUTS[] = {"NCHW", "NHWC", "odd strides", "vectors"};

void matrix() {
    std::vector<std::pair<cudnnDataType_t, Layout>> kinds = {{CUDNN_DATA_INT8x4, VECT}, {CUDNN_DATA_UINT8x4, VECT}, {CUDNN_DATA_INT8x32, VECT}};
    for (auto type : {CUDNN_DATA_FLOAT, CUDNN_DATA_DOUBLE, CUDNN_DATA_HALF, CUDNN_DATA_BFLOAT16, CUDNN_DATA_INT8, CUDNN_DATA_UINT8, CUDNN_DATA_INT32})
        for (auto layout : {NCHW, NHWC, ODD}) kinds.push_back({type, layout});
    int ran = 0, beyond = 0, refused = 0;
    for (const auto &op : OPERATIONS) {
        int counts[3] = {0, 0, 0};
        for (auto [type, layout] : kinds)
            for (int mode = 0; mode < op.modes; mode++)
                for (auto [alpha, beta] : {std::pair{1.0, 0.0}, {2.0, 0.0}, {0.5, -1.0}, {1.0, 1.0}}) {
                    const Setting s{type, layout, mode, alpha, beta};
                    title = std::string(op.name) + " of " + TYPES[type] + " in " + LAYOUTS[layout] + ", mode " + std::to_string(mode) + ", alpha " + std::to_string(alpha) + ", beta " + std::to_string(beta);
                    Status status = op.run(s);
                    bool documented = op.documented(s);
                    if (status == FINE) counts[documented ? 0 : 1]++;
                    else {
                        counts[2]++;
                        check(!documented, (title + " is documented, and refused: " + last_error()).c_str(), __FILE__, __LINE__);
                        check(status / 1000 == 3 || status / 1000 == 2, (title + " is refused for the wrong reason: " + cudnnGetErrorString(status)).c_str(), __FILE__, __LINE__);
                    }
                }
        std::printf("%s: %d as documented, %d beyond that, %d refused\n", op.name, counts[0], counts[1], counts[2]);
        ran += counts[0], beyond += counts[1], refused += counts[2];
    }
    std::printf("all: %d as documented, %d beyond that, %d refused\n", ran, beyond, refused);
}
Area a("matrix", matrix);
} // namespace
