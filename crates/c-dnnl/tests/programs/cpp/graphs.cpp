// The graph interface: logical tensors, tensors, ops, partitions, compiled partitions, settings; values against plain loops.
#include <algorithm>
#include <cstdlib>

#include "common.hpp"
#include "oneapi/dnnl/dnnl_graph.hpp"

using namespace dnnl::graph;
using lt = logical_tensor;
using ltype = lt::layout_type;
using lprop = lt::property_type;
using g_dims = lt::dims;

namespace {

const auto f32 = lt::data_type::f32;

lt strided(size_t id, const g_dims &d) { return lt(id, f32, d, ltype::strided); }

void logical_tensors() {
    const lt a = strided(1, {2, 3, 4});
    EQUAL(a.get_id(), 1);
    CHECK((a.get_dims() == g_dims {2, 3, 4}) && (a.get_strides() == g_dims {12, 4, 1}));
    EQUAL(a.get_mem_size(), 96);
    CHECK(a.get_layout_type() == ltype::strided && a.get_data_type() == f32 && a.get_property_type() == lprop::undef);
    CHECK(a.is_equal(lt(1, f32, {2, 3, 4}, g_dims {12, 4, 1})));
    CHECK(!a.is_equal(lt(1, f32, {2, 3, 4}, g_dims {12, 1, 3})));
    CHECK(!a.is_equal(strided(1, {2, 3, 5})));
    dnnl_graph_logical_tensor_t c;
    OK(dnnl_graph_logical_tensor_init(&c, 7, dnnl_f32, 2, dnnl_graph_layout_type_any, dnnl_graph_tensor_property_constant));
    EQUAL(c.id, 7);
    EQUAL(c.dims[1], DNNL_GRAPH_UNKNOWN_DIM);
    EQUAL(c.property, dnnl_graph_tensor_property_constant);
    INVALID(dnnl_graph_logical_tensor_init(nullptr, 7, dnnl_f32, 2, dnnl_graph_layout_type_any, dnnl_graph_tensor_property_undef));
    INVALID(dnnl_graph_logical_tensor_init(&c, 7, dnnl_f32, 13, dnnl_graph_layout_type_any, dnnl_graph_tensor_property_undef));
    size_t size = 0;
    INVALID(dnnl_graph_logical_tensor_get_mem_size(nullptr, &size));
    INVALID(dnnl_graph_logical_tensor_get_mem_size(&c, nullptr));
    uint8_t equal = 7;
    INVALID(dnnl_graph_logical_tensor_is_equal(&c, nullptr, &equal));
    OK(dnnl_graph_logical_tensor_is_equal(&c, &c, &equal));
    EQUAL(equal, 1);
}

int allocations = 0;
void *allocate(size_t size, size_t alignment) {
    allocations++;
    void *p = nullptr;
    return posix_memalign(&p, std::max(alignment, sizeof(void *)), size) == 0 ? p : nullptr;
}
void release(void *p) { std::free(p); }

void tensors() {
    allocator own(allocate, release), usual;
    engine e = make_engine_with_allocator(engine::kind::cpu, 0, own);
    CHECK(e.get_kind() == engine::kind::cpu);
    tensor t(strided(3, {4, 4}), e);
    CHECK(t.get_data_handle() != nullptr && allocations > 0);
    CHECK(t.get_engine() == e && t.get_logical_tensor().get_id() == 3);
    float mine[16];
    t.set_data_handle(mine);
    CHECK(t.get_data_handle() == mine);
    tensor given(strided(4, {4, 4}), e, mine);
    CHECK(given.get_data_handle() == mine);

    const lt scalar(5, lt::data_type::s32, 0, ltype::strided, lprop::host_scalar);
    int32_t value = 11;
    tensor s = tensor::make_scalar_tensor(scalar, &value);
    EQUAL(s.get_logical_tensor().get_id(), 5);
    void *handle = mine;
    OK(dnnl_graph_tensor_get_data_handle(s.get(), &handle));
    CHECK(handle == nullptr);
    INVALID(dnnl_graph_tensor_set_data_handle(s.get(), mine));
    dnnl_graph_tensor_t none = nullptr;
    dnnl_graph_logical_tensor_t c;
    OK(dnnl_graph_logical_tensor_init(&c, 7, dnnl_f32, 0, dnnl_graph_layout_type_strided, dnnl_graph_tensor_property_undef));
    INVALID(dnnl_graph_tensor_create(nullptr, &c, e.get(), mine));
    INVALID(dnnl_graph_tensor_create(&none, nullptr, e.get(), mine));
    INVALID(dnnl_graph_allocator_destroy(nullptr));
    OK(dnnl_graph_tensor_destroy(nullptr));
}

void ops() {
    op relu(6, op::kind::ReLU, "relu");
    size_t id = 0;
    dnnl_graph_op_kind_t kind = dnnl_graph_op_abs;
    OK(dnnl_graph_op_get_id(relu.get(), &id));
    OK(dnnl_graph_op_get_kind(relu.get(), &kind));
    EQUAL(id, 6);
    EQUAL(kind, dnnl_graph_op_relu);
    INVALID(dnnl_graph_op_get_id(nullptr, &id));
    INVALID(dnnl_graph_op_get_kind(relu.get(), nullptr));
    dnnl_graph_op_t none = nullptr;
    INVALID(dnnl_graph_op_create(nullptr, 1, dnnl_graph_op_relu, "x"));
    INVALID(dnnl_graph_op_create(&none, 1, dnnl_graph_op_relu, nullptr));
    INVALID(dnnl_graph_op_add_input(nullptr, nullptr));
    INVALID(dnnl_graph_op_add_output(relu.get(), nullptr));
    OK(dnnl_graph_op_destroy(nullptr));
}

// The schema of an op is checked when it is added.
void schema() {
    dnnl::graph::graph g(engine::kind::cpu);
    op no_attributes(0, op::kind::Elu, {strided(0, {2, 3})}, {strided(1, {2, 3})}, "elu");
    EQUAL(int(g.add_op(no_attributes, false)), int(dnnl::graph::status::invalid_graph_op));
    op no_output(1, op::kind::ReLU, {strided(0, {2, 3})}, std::vector<lt>(), "relu");
    EQUAL(int(g.add_op(no_output, false)), int(dnnl::graph::status::invalid_graph_op));
    op unknown_attribute(2, op::kind::ReLU, {strided(0, {2, 3})}, {strided(1, {2, 3})}, "relu");
    unknown_attribute.set_attr<float>(op::attr::alpha, 1.0f);
    EQUAL(int(g.add_op(unknown_attribute, false)), int(dnnl::graph::status::invalid_graph_op));
    op good(3, op::kind::Elu, {strided(0, {2, 3})}, {strided(1, {2, 3})}, "elu");
    good.set_attr<float>(op::attr::alpha, 0.5f);
    EQUAL(int(g.add_op(good, false)), int(dnnl::graph::status::success));
    // The length of a text is that of one text to C programs, whatever the text's own.
    op pool(5, op::kind::MaxPool, {strided(7, {1, 1, 4, 4})}, {strided(8, {1, 1, 2, 2})}, "pool");
    pool.set_attr<std::vector<int64_t>>(op::attr::kernel, {2, 2});
    pool.set_attr<std::vector<int64_t>>(op::attr::strides, {2, 2});
    pool.set_attr<std::vector<int64_t>>(op::attr::pads_begin, {0, 0});
    pool.set_attr<std::vector<int64_t>>(op::attr::pads_end, {0, 0});
    OK(dnnl_graph_op_set_attr_str(pool.get(), dnnl_graph_op_attr_data_format, "NCX", 1));
    EQUAL(int(g.add_op(pool, false)), int(dnnl::graph::status::success));
    CHECK(!g.is_finalized());
    INVALID(dnnl_graph_add_op(g.get(), nullptr));
    g.finalize();
    CHECK(g.is_finalized());
    op late(4, op::kind::ReLU, {strided(1, {2, 3})}, {strided(2, {2, 3})}, "relu");
    EQUAL(int(g.add_op(late, false)), int(dnnl::graph::status::invalid_graph));
}

// Compiles and executes the one op of a partition; the values of its first output.
values run_one(
        const partition &p, const engine &e, stream &s, const std::vector<lt> &inputs, std::vector<lt> outputs, std::vector<values> data) {
    compiled_partition cp = p.compile(inputs, outputs, e);
    std::vector<std::vector<float>> buffers;
    std::vector<tensor> in, out;
    for (size_t i = 0; i < inputs.size(); i++) {
        buffers.emplace_back(data[i].begin(), data[i].end());
        in.emplace_back(inputs[i], e, buffers.back().data());
    }
    const lt result = cp.query_logical_tensor(outputs[0].get_id());
    std::vector<float> y(result.get_mem_size() / sizeof(float), NAN);
    out.emplace_back(result, e, y.data());
    cp.execute(s, in, out);
    s.wait();
    return values(y.begin(), y.end());
}

values run_op(op &o, const std::vector<lt> &inputs, const lt &output, const std::vector<values> &data) {
    dnnl::graph::graph g(engine::kind::cpu);
    g.add_op(o);
    g.finalize();
    const std::vector<partition> all = g.get_partitions(partition::policy::fusion);
    EQUAL(all.size(), 1);
    const partition &p = all.at(0);
    CHECK(p.is_supported());
    EQUAL(p.get_ops_num(), 1);
    CHECK(p.get_engine_kind() == engine::kind::cpu);
    EQUAL(p.get_input_ports().size(), inputs.size());
    EQUAL(p.get_output_ports().size(), 1);
    return run_one(p, the_engine(), the_stream(), inputs, {output}, data);
}

void single_ops() {
    const values x = some(24, 1), y = some(24, 2), row = some(4, 3);
    const lt a = strided(0, {2, 3, 4}), b = strided(1, {2, 3, 4}), r = strided(1, {4}), out = strided(9, {2, 3, 4});
    struct unary {
        op::kind kind;
        std::function<double(double)> f;
    };
    for (const auto &u : std::vector<unary> {{op::kind::ReLU, [](double v) { return std::max(v, 0.0); }},
                 {op::kind::Abs, [](double v) { return std::fabs(v); }}, {op::kind::Tanh, [](double v) { return std::tanh(v); }},
                 {op::kind::Square, [](double v) { return v * v; }}, {op::kind::Exp, [](double v) { return std::exp(v); }},
                 {op::kind::Sigmoid, [](double v) { return 1 / (1 + std::exp(-v)); }}}) {
        op o(10, u.kind, {a}, {out}, "unary");
        values want;
        for (double v : x)
            want.push_back(u.f(v));
        NEAR_ALL(run_op(o, {a}, out, {x}), want, 1e-5, "an op of one operand");
    }
    struct binary_op {
        op::kind kind;
        std::function<double(double, double)> f;
    };
    for (const auto &u : std::vector<binary_op> {{op::kind::Add, [](double v, double w) { return v + w; }},
                 {op::kind::Multiply, [](double v, double w) { return v * w; }},
                 {op::kind::Subtract, [](double v, double w) { return v - w; }},
                 {op::kind::Maximum, [](double v, double w) { return std::max(v, w); }},
                 {op::kind::Minimum, [](double v, double w) { return std::min(v, w); }}}) {
        op same(10, u.kind, {a, b}, {out}, "binary"), broadcast(11, u.kind, {a, r}, {out}, "binary");
        values want, spread;
        for (size_t i = 0; i < x.size(); i++) {
            want.push_back(u.f(x[i], y[i]));
            spread.push_back(u.f(x[i], row[i % 4]));
        }
        NEAR_ALL(run_op(same, {a, b}, out, {x, y}), want, 1e-6, "an op of two operands");
        NEAR_ALL(run_op(broadcast, {a, r}, out, {x, row}), spread, 1e-6, "an op with a broadcast operand");
    }
    op softmax(10, op::kind::SoftMax, {a}, {out}, "softmax");
    softmax.set_attr<int64_t>(op::attr::axis, 2);
    values want(24);
    for (int line = 0; line < 6; line++) {
        double sum = 0;
        for (int i = 0; i < 4; i++)
            sum += std::exp(x[line * 4 + i]);
        for (int i = 0; i < 4; i++)
            want[line * 4 + i] = std::exp(x[line * 4 + i]) / sum;
    }
    NEAR_ALL(run_op(softmax, {a}, out, {x}), want, 1e-5, "softmax as a graph");
}

void products() {
    const lt a = strided(0, {3, 5}), b = strided(1, {4, 5}), bias = strided(2, {4}), out = strided(9, {3, 4});
    const values x = integers(15, 1, 4), w = integers(20, 2, 4), add = integers(4, 3, 4);
    op o(10, op::kind::MatMul, {a, b, bias}, {out}, "matmul");
    o.set_attr<bool>(op::attr::transpose_b, true);
    values want(12);
    for (int m = 0; m < 3; m++)
        for (int n = 0; n < 4; n++) {
            want[m * 4 + n] = add[n];
            for (int k = 0; k < 5; k++)
                want[m * 4 + n] += x[m * 5 + k] * w[n * 5 + k];
        }
    NEAR_ALL(run_op(o, {a, b, bias}, out, {x, w, add}), want, 1e-6, "matmul as a graph");

    const lt image = strided(0, {1, 2, 4, 4}), filter = strided(1, {3, 2, 3, 3}), result = strided(9, {1, 3, 4, 4});
    const values pixels = integers(32, 1, 4), k = integers(54, 2, 3);
    op c(11, op::kind::Convolution, {image, filter}, {result}, "convolution");
    c.set_attr<std::vector<int64_t>>(op::attr::strides, {1, 1});
    c.set_attr<std::vector<int64_t>>(op::attr::pads_begin, {1, 1});
    c.set_attr<std::vector<int64_t>>(op::attr::pads_end, {1, 1});
    c.set_attr<std::vector<int64_t>>(op::attr::dilations, {1, 1});
    c.set_attr<std::string>(op::attr::data_format, "NCX");
    c.set_attr<std::string>(op::attr::weights_format, "OIX");
    values y(48, 0);
    each({3, 4, 4}, [&](const dims &o) {
        each({2, 3, 3}, [&](const dims &f) {
            const memory::dim h = o[1] + f[1] - 1, v = o[2] + f[2] - 1;
            if (h < 0 || h > 3 || v < 0 || v > 3) return;
            y[offset({3, 4, 4}, o)] += pixels[f[0] * 16 + h * 4 + v] * k[((o[0] * 2 + f[0]) * 3 + f[1]) * 3 + f[2]];
        });
    });
    NEAR_ALL(run_op(c, {image, filter}, result, {pixels, k}), y, 1e-6, "convolution as a graph");
}

// matmul, add, relu: however they are partitioned, executed in order they give the same.
void several_partitions() {
    const lt a = strided(0, {3, 5}), b = strided(1, {5, 4}), c = strided(2, {3, 4}), d = strided(3, {4}), e = strided(4, {3, 4}),
             f = strided(5, {3, 4});
    dnnl::graph::graph g(engine::kind::cpu);
    g.add_op(op(0, op::kind::MatMul, {a, b}, {c}, "matmul"));
    g.add_op(op(1, op::kind::Add, {c, d}, {e}, "add"));
    g.add_op(op(2, op::kind::ReLU, {e}, {f}, "relu"));
    g.finalize();
    std::vector<values> data(6);
    data[0] = integers(15, 1, 4);
    data[1] = integers(20, 2, 4);
    data[3] = integers(4, 3, 4);
    size_t op_count = 0;
    std::vector<size_t> seen;
    for (const partition &p : g.get_partitions()) {
        CHECK(p.is_supported());
        op_count += p.get_ops_num();
        for (size_t id : p.get_ops())
            seen.push_back(id);
        std::vector<values> operands;
        for (const lt &port : p.get_input_ports())
            operands.push_back(data[port.get_id()]);
        CHECK(p.get_id() < size_t(-1));
        const std::vector<lt> outputs = p.get_output_ports();
        EQUAL(outputs.size(), 1);
        data[outputs[0].get_id()] = run_one(p, the_engine(), the_stream(), p.get_input_ports(), outputs, operands);
    }
    std::sort(seen.begin(), seen.end());
    EQUAL(op_count, 3);
    CHECK((seen == std::vector<size_t> {0, 1, 2}));
    values want(12);
    for (int m = 0; m < 3; m++)
        for (int n = 0; n < 4; n++) {
            double v = data[3][n];
            for (int k = 0; k < 5; k++)
                v += data[0][m * 5 + k] * data[1][k * 4 + n];
            want[m * 4 + n] = std::max(v, 0.0);
        }
    NEAR_ALL(data[5], want, 1e-6, "a graph of three ops");
}

void compiled() {
    const lt a = strided(0, {2, 3}), any(1, f32, 2, ltype::any);
    op relu(5, op::kind::ReLU, {a}, {any}, "relu");
    partition p(relu, engine::kind::cpu);
    CHECK(p.is_supported());
    compiled_partition cp = p.compile({a}, {any}, the_engine());
    const lt result = cp.query_logical_tensor(1);
    CHECK((result.get_dims() == g_dims {2, 3}));
    EQUAL(result.get_mem_size(), 24);
    for (const auto &pair : cp.get_inplace_ports())
        CHECK(pair.first == 0 && pair.second == 1);
    const lt scratch = cp.get_scratchpad_logical_tensor();
    CHECK(scratch.get_mem_size() < (size_t(1) << 30));
    float x[6] = {-1, 2, -3, 4, 0, 1}, y[6];
    tensor in(a, the_engine(), x), to(result, the_engine(), y);
    dnnl_graph_tensor_t list_in = in.get(), list_out = to.get();
    const_dnnl_graph_tensor_t inputs[] = {list_in}, outputs[] = {list_out};
    OK(dnnl_graph_compiled_partition_execute(cp.get(), the_stream().get(), 1, inputs, 1, outputs));
    the_stream().wait();
    CHECK(y[0] == 0 && y[1] == 2 && y[3] == 4 && y[5] == 1);
    OK(dnnl_graph_compiled_partition_execute_v2(cp.get(), the_stream().get(), 1, inputs, 1, outputs, nullptr));
    INVALID(dnnl_graph_compiled_partition_execute(nullptr, the_stream().get(), 1, inputs, 1, outputs));
    INVALID(dnnl_graph_compiled_partition_execute(cp.get(), nullptr, 1, inputs, 1, outputs));
    dnnl_graph_compiled_partition_t empty = nullptr;
    OK(dnnl_graph_compiled_partition_create(&empty, p.get()));
    OK(dnnl_graph_compiled_partition_destroy(empty));
    INVALID(dnnl_graph_compiled_partition_create(nullptr, p.get()));
}

void graphs() {
    dnnl::graph::graph g(engine::kind::cpu, fpmath_mode::bf16);
    fpmath_mode mode = fpmath_mode::strict;
    bool to_int = true;
    g.get_fpmath_mode(mode, to_int);
    CHECK(mode == fpmath_mode::bf16 && !to_int);
    g.set_fpmath_mode(fpmath_mode::f16, true);
    g.get_fpmath_mode(mode, to_int);
    CHECK(mode == fpmath_mode::f16 && to_int);
    size_t count = 0;
    STATUS(dnnl_invalid_graph, dnnl_graph_graph_filter(g.get(), dnnl_graph_partition_policy_fusion));
    g.finalize();
    OK(dnnl_graph_graph_filter(g.get(), dnnl_graph_partition_policy_debug));
    OK(dnnl_graph_graph_get_partition_num(g.get(), &count));
    EQUAL(count, 0);
    dnnl_graph_graph_t none = nullptr;
    GUARDED(dnnl_graph_graph_create(nullptr, dnnl_cpu));
    OK(dnnl_graph_graph_create(&none, dnnl_cpu));
    OK(dnnl_graph_graph_destroy(none));
    OK(dnnl_graph_graph_destroy(nullptr));
    INVALID(dnnl_graph_graph_finalize(nullptr));
    uint8_t finalized = 9;
    INVALID(dnnl_graph_graph_is_finalized(nullptr, &finalized));
    GUARDED(dnnl_graph_graph_get_partition_num(nullptr, &count));
    GUARDED(dnnl_graph_graph_get_partitions(g.get(), 1, nullptr));
}

// The same logical tensor said in two ways, and an op that eats its own output.
void contradictions() {
    dnnl::graph::graph g(engine::kind::cpu);
    g.add_op(op(0, op::kind::ReLU, {strided(0, {2, 3})}, {strided(1, {2, 3})}, "a"));
    g.add_op(op(1, op::kind::ReLU, {strided(1, {2, 4})}, {strided(2, {2, 4})}, "b"));
    STATUS(dnnl_invalid_graph, dnnl_graph_graph_finalize(g.get()));
}

void settings() {
    const int before = get_compiled_partition_cache_capacity();
    CHECK(before >= 0);
    set_compiled_partition_cache_capacity(5);
    EQUAL(get_compiled_partition_cache_capacity(), 5);
    set_compiled_partition_cache_capacity(before);
    INVALID(dnnl_graph_set_compiled_partition_cache_capacity(-1));
    INVALID(dnnl_graph_get_compiled_partition_cache_capacity(nullptr));
    EQUAL(get_constant_tensor_cache(), 0);
    set_constant_tensor_cache(1);
    EQUAL(get_constant_tensor_cache(), 1);
    set_constant_tensor_cache(0);
    set_constant_tensor_cache_capacity(engine::kind::cpu, 64);
    EQUAL(get_constant_tensor_cache_capacity(engine::kind::cpu), 64);
    set_constant_tensor_cache_capacity(engine::kind::cpu, 0);
    INVALID(dnnl_graph_set_constant_tensor_cache(-1));
    OK(dnnl_graph_set_dump_mode(dnnl_graph_dump_mode_none));
}

} // namespace

void area_graphs() {
    logical_tensors();
    tensors();
    ops();
    schema();
    single_ops();
    products();
    several_partitions();
    compiled();
    graphs();
    contradictions();
    settings();
}
