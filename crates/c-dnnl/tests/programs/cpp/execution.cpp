// Creating and executing: scratchpads, wrong arguments, lifetimes, the cache, threads.
#include <atomic>
#include <thread>

#include "common.hpp"

namespace {

struct product {
    matmul::primitive_desc pd;
    arguments args;
    values want;
};

// A small matmul with its operands; `attr` may change how it is executed.
product make_product(const engine &e, const primitive_attr &attr = primitive_attr(), int seed = 1) {
    const memory::dim m = 13, n = 21, k = 17;
    const values a = integers(m * k, seed, 3), b = integers(k * n, seed + 1, 3);
    product p;
    p.pd = matmul::primitive_desc(e, plain({m, k}), plain({k, n}), plain({m, n}), attr);
    p.want.assign(m * n, 0);
    for (memory::dim i = 0; i < m; i++)
        for (memory::dim j = 0; j < n; j++)
            for (memory::dim l = 0; l < k; l++)
                p.want[i * n + j] += a[i * k + l] * b[l * n + j];
    auto filled = [&](const md &desc, const values &v) {
        memory x(desc, e);
        auto *data = x.map_data<float>();
        for (size_t i = 0; i < v.size(); i++)
            data[i] = float(v[i]);
        x.unmap_data(data);
        return x;
    };
    p.args = {{DNNL_ARG_SRC, filled(p.pd.src_desc(), a)}, {DNNL_ARG_WEIGHTS, filled(p.pd.weights_desc(), b)},
            {DNNL_ARG_DST, memory(p.pd.dst_desc(), e)}};
    return p;
}

bool holds(const arguments &args, const values &want) {
    const memory &dst = args.at(DNNL_ARG_DST);
    auto *data = dst.map_data<float>();
    bool same = true;
    for (size_t i = 0; i < want.size(); i++)
        same &= data[i] == float(want[i]);
    dst.unmap_data(data);
    return same;
}

// A convolution backward needs scratch in most implementations; both modes give the same bits.
void scratchpads() {
    const dims d = {4, 16, 10, 10}, w = {32, 16, 3, 3}, o = {4, 32, 8, 8};
    const values x = integers(volume(d), 1, 3), dy = integers(volume(o), 2, 3);
    values found[2];
    for (auto mode : {scratchpad_mode::library, scratchpad_mode::user}) {
        primitive_attr attr;
        attr.set_scratchpad_mode(mode);
        convolution_forward::primitive_desc fwd(the_engine(), prop_kind::forward_training, algorithm::convolution_direct, open(d), open(w),
                open(o), {1, 1}, {0, 0}, {0, 0}, attr);
        convolution_backward_weights::primitive_desc pd(
                the_engine(), algorithm::convolution_direct, open(d), open(w), open(o), {1, 1}, {0, 0}, {0, 0}, fwd, attr);
        CHECK(pd.get_primitive_attr().get_scratchpad_mode() == mode);
        arguments args = {{DNNL_ARG_SRC, put(pd.src_desc(), x)}, {DNNL_ARG_DIFF_DST, put(pd.diff_dst_desc(), dy)}};
        if (mode == scratchpad_mode::user) {
            CHECK(pd.query_s64(query::memory_consumption_s64) == 0);
            args[DNNL_ARG_SCRATCHPAD] = memory(pd.scratchpad_desc(), the_engine());
        } else {
            CHECK(pd.scratchpad_desc().is_zero());
        }
        found[int(mode)] = run_for(convolution_backward_weights(pd), args, DNNL_ARG_DIFF_WEIGHTS, pd.diff_weights_desc());
    }
    CHECK(found[0] == found[1]);
}

void wrong_arguments() {
    product p = make_product(the_engine());
    matmul m(p.pd);
    auto execute = [&](const std::vector<dnnl_exec_arg_t> &list) {
        return dnnl_primitive_execute(m.get(), the_stream().get(), int(list.size()), list.data());
    };
    const dnnl_memory_t a = p.args[DNNL_ARG_SRC].get(), b = p.args[DNNL_ARG_WEIGHTS].get(), c = p.args[DNNL_ARG_DST].get();
    OK(execute({{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}, {DNNL_ARG_DST, c}}));
    the_stream().wait();
    CHECK(holds(p.args, p.want));
    OK(execute({{DNNL_ARG_DST, c}, {DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}}));
    OK(execute({{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}, {DNNL_ARG_DST, c}, {DNNL_ARG_DIFF_SHIFT, c}}));
    INVALID(execute({{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}}));
    INVALID(execute({{DNNL_ARG_SRC, a}, {DNNL_ARG_DST, c}}));
    INVALID(execute({{DNNL_ARG_SRC, a}, {DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}, {DNNL_ARG_DST, c}}));
    INVALID(execute({{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}, {DNNL_ARG_DST, nullptr}}));

    engine other(engine::kind::cpu, 0);
    stream elsewhere(other);
    const std::vector<dnnl_exec_arg_t> list = {{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}, {DNNL_ARG_DST, c}};
    INVALID(dnnl_primitive_execute(m.get(), elsewhere.get(), 3, list.data()));
    THROWS(dnnl_invalid_arguments, m.execute(the_stream(), {{DNNL_ARG_SRC, p.args[DNNL_ARG_SRC]}}));
}

// Handles end in any order; what still lives keeps working.
void lifetimes() {
    product p = make_product(the_engine());
    matmul m(p.pd);
    p.pd = matmul::primitive_desc();
    run(m, p.args);
    CHECK(holds(p.args, p.want));
    md desc;
    {
        product q = make_product(the_engine());
        desc = q.pd.dst_desc();
    }
    CHECK((desc.get_dims() == dims {13, 21}));
    const_dnnl_primitive_desc_t own = m.get_primitive_desc();
    EQUAL(dnnl_primitive_desc_query_s32(own, dnnl_query_num_of_inputs_s32, 0), 2);
    CHECK(m.get_kind() == primitive::kind::matmul);
}

// An engine and descriptors that end before what was made of them.
void any_order_of_ends() {
    dnnl_engine_t e = nullptr;
    dnnl_stream_t s = nullptr;
    dnnl_primitive_t prim = nullptr;
    OK(dnnl_engine_create(&e, dnnl_cpu, 0));
    OK(dnnl_stream_create(&s, e, dnnl_stream_default_flags));
    arguments args;
    values want;
    {
        engine borrowed(e, true);
        product p = make_product(borrowed);
        OK(dnnl_primitive_create(&prim, p.pd.get()));
        args = p.args;
        want = p.want;
    }
    OK(dnnl_engine_destroy(e));
    std::vector<dnnl_exec_arg_t> list;
    for (const auto &a : args)
        list.push_back({a.first, a.second.get()});
    OK(dnnl_primitive_execute(prim, s, int(list.size()), list.data()));
    OK(dnnl_stream_wait(s));
    CHECK(holds(args, want));
    OK(dnnl_primitive_destroy(prim));
    OK(dnnl_stream_destroy(s));
}

// Primitives come out of the cache, leave it when it shrinks, and work without it.
void cache() {
    for (int capacity : {1024, 2, 0, 1024}) {
        set_primitive_cache_capacity(capacity);
        EQUAL(get_primitive_cache_capacity(), capacity);
        for (int i = 0; i < 3; i++) {
            product p = make_product(the_engine(), primitive_attr(), i);
            run(matmul(p.pd), p.args);
            CHECK(holds(p.args, p.want));
        }
    }
    THROWS(dnnl_invalid_arguments, set_primitive_cache_capacity(-3));
    THROWS(dnnl_unimplemented, matmul(make_product(the_engine()).pd).get_cache_blob());
    CHECK(make_product(the_engine()).pd.get_cache_blob_id().empty());
}

void zero_sizes() {
    matmul::primitive_desc pd(the_engine(), plain({0, 5}), plain({5, 4}), plain({0, 4}));
    run(matmul(pd),
            {{DNNL_ARG_SRC, memory(pd.src_desc(), the_engine())}, {DNNL_ARG_WEIGHTS, memory(pd.weights_desc(), the_engine())},
                    {DNNL_ARG_DST, memory(pd.dst_desc(), the_engine())}});
    EQUAL(pd.dst_desc().get_size(), 0);
    eltwise_forward::primitive_desc relu(
            the_engine(), prop_kind::forward_inference, algorithm::eltwise_relu, plain({2, 0, 3}), plain({2, 0, 3}));
    memory nothing(relu.src_desc(), the_engine());
    run(eltwise_forward(relu), {{DNNL_ARG_SRC, nothing}, {DNNL_ARG_DST, nothing}});
    CHECK(true);
}

// Each thread makes and executes its own: what oneDNN promises.
void threads_of_their_own() {
    std::atomic<int> wrong {0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; t++)
        threads.emplace_back([&wrong, t] {
            engine e(engine::kind::cpu, 0);
            stream s(e);
            for (int i = 0; i < 5; i++) {
                product p = make_product(e, primitive_attr(), t + i);
                matmul(p.pd).execute(s, p.args);
                s.wait();
                if (!holds(p.args, p.want)) wrong++;
            }
        });
    for (auto &t : threads)
        t.join();
    EQUAL(wrong, 0);
}

} // namespace

// Made on one thread, executed on others, many at once, with the library's scratchpad: what oneDNN forbids.
void area_concurrency() {
    any_order_of_ends();
    const dims d = {2, 16, 12, 12}, w = {16, 16, 3, 3};
    const values x = integers(volume(d), 1, 3), k = integers(volume(w), 2, 3);
    convolution_forward conv;
    convolution_forward::primitive_desc pd;
    std::thread([&] {
        pd = convolution_forward::primitive_desc(the_engine(), prop_kind::forward_inference, algorithm::convolution_direct, open(d),
                open(w), open(d), {1, 1}, {1, 1}, {1, 1});
        conv = convolution_forward(pd);
    }).join();
    memory src = put(pd.src_desc(), x), weights = put(pd.weights_desc(), k);
    const values want = run_for(conv, {{DNNL_ARG_SRC, src}, {DNNL_ARG_WEIGHTS, weights}}, DNNL_ARG_DST, pd.dst_desc());
    std::vector<memory> out;
    for (int t = 0; t < 8; t++)
        out.emplace_back(pd.dst_desc(), the_engine());
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; t++)
        threads.emplace_back([&, t] {
            stream s(the_engine());
            for (int i = 0; i < 20; i++) {
                conv.execute(t % 2 ? the_stream() : s, {{DNNL_ARG_SRC, src}, {DNNL_ARG_WEIGHTS, weights}, {DNNL_ARG_DST, out[t]}});
                s.wait();
            }
        });
    for (auto &t : threads)
        t.join();
    for (int t = 0; t < 8; t++)
        NEAR_ALL(get(out[t]), want, 0, "the same primitive on eight threads");
}

void area_execution() {
    scratchpads();
    wrong_arguments();
    lifetimes();
    cache();
    zero_sizes();
    threads_of_their_own();
}
