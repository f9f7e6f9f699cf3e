// Tensors, execution and comparison for the areas of the C++ program.
#include "common.hpp"

engine &the_engine() {
    // On a GPU where OXIDNN_TEST_ENGINE=gpu says so.
    static const char *kind = std::getenv("OXIDNN_TEST_ENGINE");
    static engine e(kind && !std::strcmp(kind, "gpu") ? engine::kind::gpu : engine::kind::cpu, 0);
    return e;
}

stream &the_stream() {
    static stream s(the_engine());
    return s;
}

static dims row_major(const dims &d) {
    dims strides(d.size(), 1);
    for (size_t i = d.size(); i-- > 1;)
        strides[i - 1] = strides[i] * std::max<memory::dim>(d[i], 1);
    return strides;
}

md plain(const dims &d, dt type) { return md(d, type, row_major(d)); }
md open(const dims &d, dt type) { return md(d, type, tag::any); }

values some(memory::dim count, int seed) {
    values v(count);
    for (memory::dim i = 0; i < count; i++)
        v[i] = double((i * 37 + seed * 11) % 97 - 48) / 32;
    return v;
}

values integers(memory::dim count, int seed, int scale) {
    values v(count);
    for (memory::dim i = 0; i < count; i++)
        v[i] = double((i * 31 + seed * 17) % (2 * scale + 1) - scale);
    return v;
}

static memory dense(const md &desc) { return memory(plain(desc.get_dims()), the_engine()); }

memory as(const memory &m, const md &desc) {
    if (m.get_desc() == desc) return m;
    memory target(desc, the_engine());
    run(reorder(m, target), {{DNNL_ARG_FROM, m}, {DNNL_ARG_TO, target}});
    return target;
}

memory put(const md &desc, const values &row_major_values) {
    memory staging = dense(desc);
    auto *data = staging.map_data<float>();
    for (size_t i = 0; i < row_major_values.size(); i++)
        data[i] = float(row_major_values[i]);
    staging.unmap_data(data);
    return as(staging, desc);
}

values get(const memory &m) {
    memory staging = as(m, plain(m.get_desc().get_dims()));
    auto *data = staging.map_data<float>();
    const values all(data, data + volume(m.get_desc().get_dims()));
    staging.unmap_data(data);
    return all;
}

void poke(const memory &m, int32_t value) {
    auto *data = m.map_data<int32_t>();
    *data = value;
    m.unmap_data(data);
}

void run(const primitive &p, const arguments &args) {
    p.execute(the_stream(), args);
    the_stream().wait();
}

values run_for(const primitive &p, arguments args, int output, const md &desc) {
    memory target(desc, the_engine());
    args[output] = target;
    run(p, args);
    return get(target);
}

void compare(const values &got, const values &want, double tolerance, const std::string &what, const char *file, int line) {
    if (got.size() != want.size())
        return count_equal((long long)got.size(), (long long)want.size(), (what + ": number of values").c_str(), file, line);
    for (size_t i = 0; i < got.size(); i++) {
        bool same = got[i] == want[i] || (std::isnan(got[i]) && std::isnan(want[i]));
        if (same || std::fabs(got[i] - want[i]) <= tolerance * std::max(1.0, std::fabs(want[i]))) continue;
        return count_near(got[i], want[i], tolerance, (what + " [" + std::to_string(i) + "]").c_str(), file, line);
    }
    count_check(true, what.c_str(), file, line);
}

dnnl_status_t thrown(const std::function<void()> &call) {
    try {
        call();
    } catch (const error &e) {
        return e.status;
    }
    return dnnl_success;
}

values gradient(const forward_fn &forward, values x, const values &weight) {
    values slope(x.size());
    auto loss = [&] {
        values y = forward(x);
        double sum = 0;
        for (size_t i = 0; i < y.size(); i++)
            sum += y[i] * weight[i];
        return sum;
    };
    for (size_t i = 0; i < x.size(); i++) {
        const double at = x[i], step = 1e-5;
        x[i] = at + step;
        double right = loss();
        x[i] = at - step;
        slope[i] = (right - loss()) / (2 * step);
        x[i] = at;
    }
    return slope;
}

void each(const dims &d, const std::function<void(const dims &)> &visit) {
    if (volume(d) == 0) return;
    dims at(d.size(), 0);
    while (true) {
        visit(at);
        size_t i = d.size();
        while (i > 0 && ++at[i - 1] == d[i - 1])
            at[--i] = 0;
        if (i == 0) return;
    }
}

memory::dim offset(const dims &d, const dims &at) {
    memory::dim o = 0;
    for (size_t i = 0; i < d.size(); i++)
        o = o * d[i] + at[i];
    return o;
}
