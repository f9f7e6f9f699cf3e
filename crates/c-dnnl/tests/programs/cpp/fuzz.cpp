// Calls at random with hostile values: descriptors, attributes, primitives, executions. Any answer is right that is no crash, no hang and no access
// outside of a tensor, whose last byte lies before a page that nobody may touch. OXIDNN_FUZZ=SEED:COUNT makes more than the gate does.
#include "common.hpp"
#include "oxidnn_dnnl.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <sys/mman.h>
#include <unistd.h>

namespace {

uint64_t state = 1;
uint64_t first_of_round = 0;

// splitmix64
uint64_t next() {
    uint64_t z = state += 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

int64_t below(int64_t n) { return int64_t(next() % uint64_t(n)); }
bool one_in(int64_t n) { return below(n) == 0; }

template <typename T, size_t N>
T of(const T (&all)[N]) {
    return all[next() % N];
}

const int64_t absurd[] = {0, -1, DNNL_RUNTIME_DIM_VAL, INT64_MAX, INT64_MAX - 1, INT64_MIN + 1, 1LL << 31, 1LL << 32, 1LL << 40, 1LL << 62, -64};
const int64_t sizes[] = {1, 1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 32, 33};

// A size, now and then one that no tensor has.
int64_t size() { return one_in(60) ? of(absurd) : of(sizes); }

// A number of an enumeration with `n` values, now and then none of them.
int number(int n) { return one_in(80) ? int(below(5000)) - 50 : int(below(n)); }

dnnl_data_type_t type() {
    static const dnnl_data_type_t usual[] = {dnnl_f32, dnnl_f32, dnnl_f32, dnnl_bf16, dnnl_s8, dnnl_u8, dnnl_s32, dnnl_f16};
    return one_in(8) ? dnnl_data_type_t(number(20)) : of(usual);
}

using list = std::vector<dnnl_dim_t>;

// Handles that die with the round.
struct round_t {
    std::vector<dnnl_memory_desc_t> mds;
    std::vector<dnnl_memory_t> memories;
    std::vector<std::pair<void *, size_t>> pages;
    ~round_t() {
        for (auto m : memories)
            dnnl_memory_destroy(m);
        for (auto d : mds)
            dnnl_memory_desc_destroy(d);
        for (auto p : pages)
            munmap(p.first, p.second);
    }

    dnnl_memory_desc_t keep(dnnl_status_t status, const dnnl_memory_desc_t &md) {
        if (status != dnnl_success) return nullptr;
        mds.push_back(md);
        return md;
    }

    // A descriptor of these sizes in some layout; `open` where it may be left to the library.
    dnnl_memory_desc_t make(const list &wanted, dnnl_data_type_t t, bool open = false) {
        if (one_in(150)) return nullptr;
        list d = wanted;
        if (one_in(50) && !d.empty()) d[size_t(below(int64_t(d.size())))] = size();
        int n = one_in(100) ? int(below(16)) - 1 : int(d.size());
        d.resize(16, 1);
        dnnl_memory_desc_t md = nullptr;
        if (open && !one_in(3)) return keep(dnnl_memory_desc_create_with_tag(&md, n, d.data(), t, dnnl_format_tag_any), md);
        switch (below(8)) {
        case 0: {
            list strides(16, 1);
            int64_t step = 1;
            for (int i = std::min(n, 12) - 1; i >= 0; i--) {
                strides[size_t(i)] = one_in(20) ? size() : step;
                if (d[size_t(i)] > 0 && step < 1 << 20) step *= std::min<int64_t>(d[size_t(i)], 64) + below(2);
            }
            return keep(dnnl_memory_desc_create_with_strides(&md, n, d.data(), t, one_in(20) ? nullptr : strides.data()), md);
        }
        case 1: return keep(dnnl_memory_desc_create_with_tag(&md, n, d.data(), t, dnnl_format_tag_t(number(900))), md);
        case 2: {
            static const dnnl_format_tag_t last[] = {dnnl_a, dnnl_ab, dnnl_acb, dnnl_acdb, dnnl_acdeb};
            return keep(dnnl_memory_desc_create_with_tag(&md, n, d.data(), t, last[std::max(0, std::min(n, 5) - 1)]), md);
        }
        default:
            return keep(dnnl_memory_desc_create_with_strides(&md, n, d.data(), t, nullptr), md);
        }
    }

    // Memory of this descriptor, small enough to be touched; null otherwise.
    dnnl_memory_t memory(const_dnnl_memory_desc_t md) {
        const size_t bytes = dnnl_memory_desc_get_size(md);
        if (bytes > 64 << 10) return nullptr;
        const size_t page = 4096, whole = (bytes + page - 1) / page * page;
        char *at = static_cast<char *>(mmap(nullptr, whole + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        if (at == MAP_FAILED) return nullptr;
        mprotect(at + whole, page, PROT_NONE);
        pages.push_back({at, whole + page});
        char *data = at + whole - bytes;
        for (size_t i = 0; i < bytes; i += 4)
            data[i] = char(next());
        dnnl_memory_t m = nullptr;
        if (dnnl_memory_create(&m, md, the_engine().get(), one_in(40) ? nullptr : data) != dnnl_success) return nullptr;
        memories.push_back(m);
        return m;
    }
};

dnnl_post_ops_t post_ops(round_t &r, const list &dst) {
    dnnl_post_ops_t ops = nullptr;
    if (dnnl_post_ops_create(&ops) != dnnl_success) return nullptr;
    for (int64_t i = one_in(100) ? 40 : below(4); i > 0; i--)
        switch (below(6)) {
        case 0: dnnl_post_ops_append_sum(ops, one_in(9) ? 0.0f : 0.5f, one_in(9) ? 3 : 0, one_in(3) ? type() : dnnl_data_type_undef); break;
        case 1:
        case 2: {
            static const dnnl_alg_kind_t algs[] = {dnnl_eltwise_relu, dnnl_eltwise_tanh, dnnl_eltwise_clip, dnnl_eltwise_linear, dnnl_eltwise_swish};
            dnnl_post_ops_append_eltwise(ops, one_in(20) ? dnnl_alg_kind_t(number(0x40000)) : of(algs), one_in(20) ? NAN : 0.25f, 1.0f);
            break;
        }
        case 3: {
            list d = dst;
            for (auto &s : d)
                if (one_in(2)) s = 1;
            dnnl_post_ops_append_binary(ops, one_in(20) ? dnnl_alg_kind_t(number(0x40000)) : dnnl_binary_add, r.make(d, type()));
            break;
        }
        case 4: dnnl_post_ops_append_prelu(ops, number(4)); break;
        default: dnnl_post_ops_append_dw(ops, type(), type(), type(), 3, 1 + below(2), 1);
        }
    return ops;
}

dnnl_primitive_attr_t attributes(round_t &r, const list &dst) {
    dnnl_primitive_attr_t attr = nullptr;
    if (one_in(2) || dnnl_primitive_attr_create(&attr) != dnnl_success) return nullptr;
    static const int args[] = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST, DNNL_ARG_SRC_1, DNNL_ARG_MULTIPLE_SRC};
    if (one_in(2)) {
        dnnl_post_ops_t ops = post_ops(r, dst);
        dnnl_primitive_attr_set_post_ops(attr, ops);
        dnnl_post_ops_destroy(ops);
    }
    if (one_in(3)) dnnl_primitive_attr_set_scales_mask(attr, one_in(30) ? number(1 << 16) : of(args), number(4));
    if (one_in(8)) {
        const dnnl_dim_t groups[] = {size(), size(), 1, 1};
        dnnl_primitive_attr_set_scales(attr, of(args), number(8), number(3), groups, type());
    }
    if (one_in(5)) dnnl_primitive_attr_set_zero_points_mask(attr, of(args), number(4));
    if (one_in(4)) dnnl_primitive_attr_set_scratchpad_mode(attr, dnnl_scratchpad_mode_t(number(2)));
    if (one_in(6)) dnnl_primitive_attr_set_fpmath_mode(attr, dnnl_fpmath_mode_t(number(6)));
    if (one_in(6)) dnnl_primitive_attr_set_accumulation_mode(attr, dnnl_accumulation_mode_t(number(6)));
    if (one_in(8)) dnnl_primitive_attr_set_rounding(attr, DNNL_ARG_DST, dnnl_rounding_mode_t(number(2)));
    if (one_in(8)) dnnl_primitive_attr_set_dropout(attr, r.make(dst, dnnl_u8));
    return attr;
}

dnnl_prop_kind_t forward() {
    return one_in(60) ? dnnl_prop_kind_t(number(300)) : one_in(2) ? dnnl_forward_training : dnnl_forward_inference;
}

// A primitive descriptor of some operation; null where it is refused.
dnnl_primitive_desc_t describe(round_t &r) {
    dnnl_engine_t e = the_engine().get();
    dnnl_primitive_desc_t pd = nullptr;
    const int spatial = 1 + int(below(3));
    const dnnl_data_type_t t = type(), u = one_in(4) ? type() : t;
    list src = {size(), size()}, dst, strides, dilates, pads_l, pads_r, kernel;
    const int64_t groups = one_in(4) ? 2 : 1, oc = of(sizes) * groups;
    src[1] = one_in(60) ? src[1] : std::max<int64_t>(1, std::min<int64_t>(src[1], 64)) * groups;
    dst = {src[0], oc};
    for (int i = 0; i < spatial; i++) {
        src.push_back(size());
        kernel.push_back(1 + below(3));
        strides.push_back(one_in(60) ? size() : 1 + below(2));
        dilates.push_back(one_in(60) ? size() : below(2));
        pads_l.push_back(one_in(60) ? size() : below(2));
        pads_r.push_back(one_in(60) ? size() : below(2));
        const int64_t span = (kernel.back() - 1) * (std::min<int64_t>(std::max<int64_t>(dilates.back(), 0), 64) + 1) + 1;
        const int64_t in = std::min<int64_t>(std::max<int64_t>(src.back(), 0), 1 << 20);
        const int64_t stride = std::min<int64_t>(std::max<int64_t>(strides.back(), 1), 64);
        const int64_t room = in + std::min<int64_t>(std::max<int64_t>(pads_l.back(), 0), 64) + std::min<int64_t>(std::max<int64_t>(pads_r.back(), 0), 64) - span;
        dst.push_back(src.back() == DNNL_RUNTIME_DIM_VAL ? src.back() : room < 0 ? 1 : room / stride + 1);
    }
    list weights = {oc / groups, src[1] / groups};
    if (groups > 1 || one_in(5)) weights.insert(weights.begin(), groups);
    weights.insert(weights.end(), kernel.begin(), kernel.end());
    if (one_in(10)) {
        src[0] = dst[0] = DNNL_RUNTIME_DIM_VAL;
        if (one_in(2)) src.back() = dst.back() = DNNL_RUNTIME_DIM_VAL;
    }
    const list same = src, bias = {oc};
    const int operation = int(below(22));
    dnnl_primitive_attr_t attr = attributes(r, operation < 6 ? dst : same);
    const auto relu = one_in(8) ? dnnl_alg_kind_t(number(0x40000)) : one_in(2) ? dnnl_eltwise_relu : dnnl_eltwise_gelu_tanh;
    const unsigned flags = unsigned(one_in(3) ? number(64) : 0);
    auto any = [&](const list &d, dnnl_data_type_t of_type) { return r.make(d, of_type, true); };
    switch (operation) {
    case 0:
    case 1:
        dnnl_convolution_forward_primitive_desc_create(&pd, e, forward(), one_in(8) ? dnnl_alg_kind_t(number(20)) : dnnl_convolution_direct, any(src, t),
                any(weights, u), one_in(2) ? any(bias, u) : nullptr, any(dst, t), strides.data(), dilates.data(), pads_l.data(), pads_r.data(), attr);
        break;
    case 2:
        dnnl_convolution_backward_data_primitive_desc_create(&pd, e, dnnl_convolution_direct, any(src, t), any(weights, u), any(dst, t),
                strides.data(), dilates.data(), pads_l.data(), pads_r.data(), nullptr, attr);
        break;
    case 3:
        dnnl_convolution_backward_weights_primitive_desc_create(&pd, e, dnnl_convolution_direct, any(src, t), any(weights, u),
                one_in(2) ? any(bias, u) : nullptr, any(dst, t), strides.data(), dilates.data(), pads_l.data(), pads_r.data(), nullptr, attr);
        break;
    case 4:
        dnnl_deconvolution_forward_primitive_desc_create(&pd, e, forward(), dnnl_deconvolution_direct, any(dst, t), any(weights, u), nullptr, any(src, t),
                strides.data(), dilates.data(), pads_l.data(), pads_r.data(), attr);
        break;
    case 5: {
        list pooled = dst;
        pooled[1] = src[1];
        static const dnnl_alg_kind_t algs[] = {dnnl_pooling_max, dnnl_pooling_avg_include_padding, dnnl_pooling_avg_exclude_padding};
        dnnl_pooling_forward_primitive_desc_create(&pd, e, forward(), one_in(20) ? relu : of(algs), r.make(src, t), any(pooled, t), strides.data(),
                kernel.data(), dilates.data(), pads_l.data(), pads_r.data(), attr);
        break;
    }
    case 6: dnnl_eltwise_forward_primitive_desc_create(&pd, e, forward(), relu, r.make(same, t), any(same, u), 0.5f, 1.0f, attr); break;
    case 7: dnnl_eltwise_backward_primitive_desc_create(&pd, e, relu, any(same, t), any(same, t), r.make(same, u), 0.5f, 1.0f, nullptr, attr); break;
    case 8: {
        list other = same;
        for (auto &s : other)
            if (one_in(3)) s = 1;
        dnnl_binary_primitive_desc_create(&pd, e, one_in(4) ? dnnl_alg_kind_t(0x1fff0 + below(16)) : dnnl_binary_mul, r.make(same, t), r.make(other, u),
                any(same, t), attr);
        break;
    }
    case 9:
        dnnl_softmax_forward_primitive_desc_create(&pd, e, forward(), one_in(2) ? dnnl_softmax_accurate : dnnl_softmax_log, r.make(same, t), any(same, u),
                number(3), attr);
        break;
    case 10:
        dnnl_lrn_forward_primitive_desc_create(&pd, e, forward(), one_in(2) ? dnnl_lrn_across_channels : dnnl_lrn_within_channel, r.make(same, t),
                any(same, t), size(), 1.0f, 0.75f, 1.0f, attr);
        break;
    case 11: dnnl_batch_normalization_forward_primitive_desc_create(&pd, e, forward(), r.make(same, t), any(same, t), 1e-3f, flags, attr); break;
    case 12:
        dnnl_layer_normalization_forward_primitive_desc_create(&pd, e, forward(), r.make(same, t), any(same, u),
                one_in(2) ? nullptr : r.make(list(same.begin(), same.end() - 1), dnnl_f32), 1e-3f, flags, attr);
        break;
    case 13: dnnl_group_normalization_forward_primitive_desc_create(&pd, e, forward(), r.make(same, t), any(same, u), size(), 1e-3f, flags, attr); break;
    case 14: {
        list flat = {src[0], oc}, w = src;
        w[0] = oc;
        dnnl_inner_product_forward_primitive_desc_create(&pd, e, forward(), any(src, t), any(w, u), one_in(2) ? any(bias, u) : nullptr, any(flat, t), attr);
        break;
    }
    case 15:
    case 16: {
        const int64_t m = size(), n = size(), k = size(), b = one_in(2) ? 1 : size();
        list x = {m, k}, y = {k, n}, z = {m, n};
        if (one_in(2)) x.insert(x.begin(), b), y.insert(y.begin(), one_in(3) ? 1 : b), z.insert(z.begin(), b);
        dnnl_matmul_primitive_desc_create(&pd, e, any(x, t), any(y, u), nullptr, any(z, one_in(3) ? dnnl_f32 : t), attr);
        break;
    }
    case 17: {
        list less = same;
        for (auto &s : less)
            if (one_in(2)) s = 1;
        dnnl_reduction_primitive_desc_create(&pd, e, dnnl_alg_kind_t(int(dnnl_reduction_max) + int(below(10))), r.make(same, t), any(less, u), 2.0f, 1e-3f, attr);
        break;
    }
    case 18: {
        list more = same;
        for (size_t i = 2; i < more.size(); i++)
            more[i] = size();
        const float factors[] = {2.0f, 0.5f, NAN};
        dnnl_resampling_forward_primitive_desc_create(&pd, e, forward(), one_in(2) ? dnnl_resampling_linear : dnnl_resampling_nearest,
                one_in(9) ? factors : nullptr, r.make(same, t), any(more, u), attr);
        break;
    }
    case 19: {
        dnnl_memory_desc_t all[3] = {r.make(same, t), r.make(same, t), r.make(same, t)};
        const float scales[] = {1.0f, 0.5f, 2.0f};
        if (one_in(2))
            dnnl_sum_primitive_desc_create(&pd, e, one_in(2) ? nullptr : any(same, u), int(1 + below(3)), scales, all, attr);
        else
            dnnl_concat_primitive_desc_create(&pd, e, nullptr, int(1 + below(3)), number(4), all, attr);
        break;
    }
    case 20: dnnl_shuffle_forward_primitive_desc_create(&pd, e, forward(), r.make(same, t), any(same, t), number(4), size(), attr); break;
    default: dnnl_reorder_primitive_desc_create(&pd, r.make(same, t), e, r.make(same, u), e, attr);
    }
    dnnl_primitive_attr_destroy(attr);
    return pd;
}

// A panic inside the library is its fault, whatever the call was.
void fault(dnnl_primitive_desc_t pd, const char *what) {
    const char *text = nullptr;
    oxidnn_primitive_desc_explain(pd, &text);
    std::printf("%s of OXIDNN_FUZZ=%llu:1 failed: %s\n", what, (unsigned long long)first_of_round, text ? text : "");
    CHECK(!"a runtime error");
}

// Executes with memory as the descriptor asks for it, now and then of another kind, twice the same, or none.
void execute(round_t &r, dnnl_primitive_desc_t pd, dnnl_primitive_t primitive, const list &actual) {
    static const int all[] = {DNNL_ARG_SRC, DNNL_ARG_SRC_1, DNNL_ARG_SRC_2, DNNL_ARG_DST, DNNL_ARG_WEIGHTS, DNNL_ARG_BIAS, DNNL_ARG_MEAN,
            DNNL_ARG_VARIANCE, DNNL_ARG_SCALE, DNNL_ARG_SHIFT, DNNL_ARG_DIFF_SRC, DNNL_ARG_DIFF_DST, DNNL_ARG_DIFF_WEIGHTS, DNNL_ARG_DIFF_BIAS,
            DNNL_ARG_WORKSPACE, DNNL_ARG_SCRATCHPAD, DNNL_ARG_ATTR_SCALES | DNNL_ARG_SRC, DNNL_ARG_ATTR_SCALES | DNNL_ARG_WEIGHTS,
            DNNL_ARG_ATTR_SCALES | DNNL_ARG_DST, DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_SRC, DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_WEIGHTS,
            DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_DST, DNNL_ARG_ATTR_DROPOUT_MASK, DNNL_ARG_MULTIPLE_SRC, DNNL_ARG_MULTIPLE_SRC + 1,
            DNNL_ARG_MULTIPLE_SRC + 2, DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1, DNNL_ARG_ATTR_MULTIPLE_POST_OP(1) | DNNL_ARG_SRC_1,
            DNNL_ARG_ATTR_MULTIPLE_POST_OP(2) | DNNL_ARG_SRC_1, DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_WEIGHTS};
    std::vector<dnnl_exec_arg_t> args;
    for (int arg : all) {
        const_dnnl_memory_desc_t md = dnnl_primitive_desc_query_md(pd, dnnl_query_exec_arg_md, arg);
        int n = 0;
        if (md) dnnl_memory_desc_query(md, dnnl_query_ndims_s32, &n);
        if (!md || n == 0 || one_in(60)) continue;
        dnnl_memory_t m = nullptr;
        if (dnnl_memory_desc_get_size(md) == DNNL_RUNTIME_SIZE_VAL) {
            // Sizes that come now: those of some tensor of the right rank.
            const dnnl_dims_t *given = nullptr;
            dnnl_data_type_t t = dnnl_f32;
            dnnl_memory_desc_query(md, dnnl_query_dims, &given);
            dnnl_memory_desc_query(md, dnnl_query_data_type, &t);
            list d(*given, *given + n);
            for (size_t i = 0; i < d.size(); i++)
                if (d[i] == DNNL_RUNTIME_DIM_VAL) d[i] = one_in(60) ? size() : actual[i % actual.size()];
            dnnl_memory_desc_t known = r.make(d, t);
            if (known) m = r.memory(known);
        } else if (!one_in(40)) {
            m = r.memory(md);
        } else if (!r.memories.empty()) {
            m = r.memories[size_t(below(int64_t(r.memories.size())))];
        }
        if (m || one_in(20)) args.push_back({arg, m});
    }
    if (one_in(50)) args.push_back({number(1 << 16), args.empty() ? nullptr : args[0].memory});
    const dnnl_status_t first = dnnl_primitive_execute(primitive, the_stream().get(), int(args.size()), args.data());
    const dnnl_status_t last = dnnl_stream_wait(the_stream().get());
    if (first == dnnl_runtime_error || last == dnnl_runtime_error) fault(pd, "execution");
}

bool round() {
    round_t r;
    dnnl_primitive_desc_t pd = describe(r);
    if (!pd) return false;
    for (int64_t i = one_in(3) ? below(6) : 0; i > 0; i--)
        if (dnnl_primitive_desc_next_impl(pd) != dnnl_success) break;
    char buffer[64];
    int64_t consumption = 0;
    dnnl_primitive_desc_query(pd, dnnl_query_t(one_in(9) ? number(300) : int(dnnl_query_memory_consumption_s64)), 0, one_in(20) ? nullptr : (void *)buffer);
    dnnl_primitive_desc_query(pd, dnnl_query_memory_consumption_s64, 0, &consumption);
    dnnl_primitive_t primitive = nullptr;
    const dnnl_status_t created = consumption < 1 << 24 ? dnnl_primitive_create(&primitive, pd) : dnnl_unimplemented;
    if (created == dnnl_runtime_error) fault(pd, "creation");
    if (created == dnnl_success) {
        const list actual = {of(sizes), of(sizes), of(sizes), of(sizes), of(sizes)};
        for (int64_t i = 1 + below(2); i > 0; i--)
            execute(r, pd, primitive, actual);
    }
    if (one_in(2)) {
        dnnl_primitive_desc_destroy(pd);
        dnnl_primitive_destroy(primitive);
    } else {
        dnnl_primitive_destroy(primitive);
        dnnl_primitive_desc_destroy(pd);
    }
    return true;
}

// Says which round it was; the program ends as it would have.
void say(int signal) {
    char line[64];
    const int n = std::snprintf(line, sizeof line, "signal %d in the round of OXIDNN_FUZZ=%llu:1\n", signal, (unsigned long long)first_of_round);
    if (write(2, line, size_t(n)) < 0) _exit(1);
    std::signal(signal, SIG_DFL);
    std::raise(signal);
}

} // namespace

void area_fuzz() {
    const char *given = std::getenv("OXIDNN_FUZZ");
    const char *colon = given ? std::strchr(given, ':') : nullptr;
    const uint64_t seed = given && colon ? std::strtoull(given, nullptr, 10) : 1;
    const int64_t count = given ? std::atoll(colon ? colon + 1 : given) : 20000;
    for (int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGALRM, SIGFPE, SIGILL})
        std::signal(signal, say);
    int64_t made = 0;
    for (int64_t i = 0; i < count; i++) {
        // Each round has a seed of its own, so that one can be repeated alone.
        state = first_of_round = seed + uint64_t(i);
        alarm(600);
        made += round();
    }
    alarm(0);
    CHECK(count < 1000 || made * 20 > count);
    std::printf("%lld of %lld descriptions were taken\n", (long long)made, (long long)count);
}
