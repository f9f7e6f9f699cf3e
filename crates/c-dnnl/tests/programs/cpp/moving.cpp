// Reorder, concat, sum and shuffle: data moved, converted and combined.
#include "common.hpp"

namespace {

// The element of a blocked descriptor at a logical position, by its own strides and blocks.
memory::dim physical(const md &desc, dims at) {
    const dims strides = desc.get_strides(), blocks = desc.get_inner_blks(), which = desc.get_inner_idxs();
    memory::dim inner = 0, scale = 1;
    dims in_block(at.size(), 1);
    for (size_t i = blocks.size(); i-- > 0;) {
        const size_t d = size_t(which[i]);
        inner += at[d] / in_block[d] % blocks[i] * scale;
        scale *= blocks[i];
        in_block[d] *= blocks[i];
    }
    memory::dim o = desc.get_submemory_offset() + inner;
    for (size_t d = 0; d < at.size(); d++)
        o += at[d] / in_block[d] * strides[d];
    return o;
}

// Every element goes where the layout says, and the padding is zero.
void layouts() {
    const dims d = {5, 19, 3, 4};
    const values x = some(volume(d), 1);
    for (auto t :
            {tag::abcd, tag::acdb, tag::bacd, tag::dcab, tag::aBcd16b, tag::aBcd8b, tag::ABcd16b16a, tag::ABcd4a4b, tag::ABcd8a16b2a}) {
        const md desc(d, dt::f32, t);
        memory from = put(plain(d), x), to(desc, the_engine());
        const size_t elements = desc.get_size() / sizeof(float);
        auto *data = to.map_data<float>();
        for (size_t i = 0; i < elements; i++)
            data[i] = NAN;
        to.unmap_data(data);
        reorder r(from, to);
        r.execute(the_stream(), from, to);
        the_stream().wait();
        data = to.map_data<float>();
        std::vector<bool> filled(elements);
        bool right = true;
        each(d, [&](const dims &at) {
            const memory::dim p = physical(desc, at);
            filled[p] = true;
            right = right && data[p] == float(x[offset(d, at)]);
        });
        CHECK(right);
        bool zero = true;
        for (size_t i = 0; i < elements; i++)
            zero = zero && (filled[i] || data[i] == 0);
        CHECK(zero);
        to.unmap_data(data);
        NEAR_ALL(get(to), x, 0, "reorder there and back");
    }
}

void conversions() {
    const dims d = {3, 40};
    values x = integers(120, 1, 60);
    for (auto &v : x)
        v *= 2.75;
    struct {
        dt type;
        double least, most;
        bool integral;
    } rows[] = {
            {dt::s8, -128, 127, true}, {dt::u8, 0, 255, true}, {dt::s32, -1e9, 1e9, true}, {dt::s4, -8, 7, true}, {dt::u4, 0, 15, true}};
    for (const auto &r : rows) {
        values want = x;
        for (auto &v : want)
            v = std::min(r.most, std::max(r.least, std::nearbyint(v)));
        memory m = put(plain(d, r.type), x);
        CHECK(m.get_desc().get_data_type() == r.type);
        NEAR_ALL(get(m), want, 0, "conversion to integers");
    }
    NEAR_ALL(get(put(plain(d, dt::bf16), x)), x, 1.0 / 256, "conversion to bf16");
    NEAR_ALL(get(put(plain(d, dt::f16), x)), x, 1.0 / 2048, "conversion to f16");
}

// dst = (src - zero_src) * scale_src / scale_dst + zero_dst, on top of what was there.
void attributes() {
    const dims d = {2, 6, 3};
    const values x = integers(36, 1, 30), old = integers(36, 2, 9), scales = {0.5, 1, 2, 0.25, 4, 1};
    primitive_attr attr;
    attr.set_scales_mask(DNNL_ARG_SRC, 2);
    attr.set_zero_points_mask(DNNL_ARG_SRC, 0);
    attr.set_zero_points_mask(DNNL_ARG_DST, 0);
    post_ops ops;
    ops.append_sum(2.0f);
    attr.set_post_ops(ops);
    reorder::primitive_desc pd(the_engine(), plain(d, dt::s8), the_engine(), plain(d, dt::s32), attr);
    auto zero_point = [](int v) {
        memory m({{1}, dt::s32, tag::a}, the_engine());
        poke(m, v);
        return m;
    };
    memory dst = put(plain(d, dt::s32), old);
    run(reorder(pd),
            {{DNNL_ARG_FROM, put(plain(d, dt::s8), x)}, {DNNL_ARG_TO, dst}, {DNNL_ARG_ATTR_SCALES | DNNL_ARG_SRC, put(plain({6}), scales)},
                    {DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_SRC, zero_point(4)}, {DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_DST, zero_point(-1)}});
    values want(36);
    for (size_t i = 0; i < want.size(); i++)
        want[i] = std::nearbyint((x[i] - 4) * scales[i / 3 % 6] + 2 * old[i] - 1);
    NEAR_ALL(get(dst), want, 1e-6, "reorder with attributes");
    using pd_t = reorder::primitive_desc;
    THROWS(dnnl_invalid_arguments, pd_t(the_engine(), plain(d), the_engine(), plain({2, 6, 4})));
    THROWS(dnnl_invalid_arguments, pd_t(the_engine(), plain(d), the_engine(), open(d)));
    CHECK(pd.get_src_engine() == the_engine() && pd.get_dst_engine() == the_engine());
}

// A part of a larger tensor is read and written in place.
void submemory() {
    const dims whole = {4, 6}, part = {2, 3}, at = {1, 2};
    const values x = some(24, 1), y = some(6, 2);
    const md desc = plain(whole).submemory_desc(part, at);
    memory m = put(plain(whole), x);
    memory window(desc, the_engine(), m.get_data_handle());
    values want;
    each(part, [&](const dims &p) { want.push_back(x[offset(whole, {p[0] + at[0], p[1] + at[1]})]); });
    NEAR_ALL(get(window), want, 0, "submemory read");
    memory source = put(plain(part), y);
    run(reorder(source, window), {{DNNL_ARG_FROM, source}, {DNNL_ARG_TO, window}});
    values all = x;
    each(part, [&](const dims &p) { all[offset(whole, {p[0] + at[0], p[1] + at[1]})] = y[offset(part, p)]; });
    NEAR_ALL(get(m), all, 0, "submemory written");
}

void concats() {
    for (int axis = 0; axis < 3; axis++) {
        std::vector<md> descs;
        std::vector<values> parts;
        dims d = {2, 3, 4}, total = d;
        total[axis] = 0;
        for (int i = 0; i < 3; i++) {
            d[axis] = 2 + i;
            total[axis] += d[axis];
            descs.push_back(plain(d));
            parts.push_back(some(volume(d), i));
        }
        for (bool given : {false, true}) {
            concat::primitive_desc pd = given ? concat::primitive_desc(the_engine(), md(total, dt::bf16, tag::acb), axis, descs)
                                              : concat::primitive_desc(the_engine(), axis, descs);
            CHECK(pd.dst_desc().get_dims() == total);
            arguments args;
            values want(volume(total));
            memory::dim before = 0;
            for (int i = 0; i < 3; i++) {
                args[DNNL_ARG_MULTIPLE_SRC + i] = put(descs[i], parts[i]);
                CHECK(pd.src_desc(i) == descs[i]);
                each(descs[i].get_dims(), [&](const dims &at) {
                    dims to = at;
                    to[axis] += before;
                    want[offset(total, to)] = parts[i][offset(descs[i].get_dims(), at)];
                });
                before += descs[i].get_dims()[axis];
            }
            NEAR_ALL(run_for(concat(pd), args, DNNL_ARG_DST, pd.dst_desc()), want, given ? 1.0 / 128 : 0, "concat");
        }
    }
    using pd_t = concat::primitive_desc;
    GUARDED_THROWS(pd_t(the_engine(), 2, {plain({2, 3}), plain({2, 3})}));
    THROWS(dnnl_invalid_arguments, pd_t(the_engine(), 0, {plain({2, 3}), plain({2, 4})}));
    THROWS(dnnl_invalid_arguments, pd_t(the_engine(), 0, std::vector<md>()));
    THROWS(dnnl_invalid_arguments, pd_t(the_engine(), plain({5, 3}), 0, {plain({2, 3}), plain({2, 3})}));
}

void sums() {
    const dims d = {2, 3, 5};
    const std::vector<float> scales = {0.5f, -2, 1};
    const std::vector<md> descs = {plain(d), md(d, dt::f32, tag::acb), plain(d)};
    arguments args;
    values want(30, 0);
    for (int i = 0; i < 3; i++) {
        const values x = some(30, i);
        args[DNNL_ARG_MULTIPLE_SRC + i] = put(descs[i], x);
        for (size_t j = 0; j < want.size(); j++)
            want[j] += scales[i] * x[j];
    }
    sum::primitive_desc pd(the_engine(), scales, descs), given(the_engine(), md(d, dt::f32, tag::bac), scales, descs);
    NEAR_ALL(run_for(sum(pd), args, DNNL_ARG_DST, pd.dst_desc()), want, 1e-6, "sum");
    NEAR_ALL(run_for(sum(given), args, DNNL_ARG_DST, given.dst_desc()), want, 1e-6, "sum into a given layout");
    using pd_t = sum::primitive_desc;
    THROWS(dnnl_invalid_arguments, pd_t(the_engine(), {1, 1}, {plain({2, 3}), plain({2, 4})}));
}

void shuffles() {
    const dims d = {2, 12, 3};
    const values x = some(72, 1);
    for (int axis : {1, 0, 2}) {
        const int size = axis == 1 ? 4 : int(d[axis]);
        values want(72);
        each(d, [&](const dims &at) {
            dims to = at;
            const memory::dim columns = d[axis] / size;
            to[axis] = at[axis] % size * columns + at[axis] / size;
            want[offset(d, to)] = x[offset(d, at)];
        });
        shuffle_forward::primitive_desc fwd(the_engine(), prop_kind::forward_training, plain(d), open(d), axis, size);
        CHECK(fwd.get_axis() == axis && fwd.get_group_size() == size);
        NEAR_ALL(run_for(shuffle_forward(fwd), {{DNNL_ARG_SRC, put(plain(d), x)}}, DNNL_ARG_DST, fwd.dst_desc()), want, 0,
                "shuffle forward");
        shuffle_backward::primitive_desc bwd(the_engine(), open(d), plain(d), axis, size, fwd);
        NEAR_ALL(run_for(shuffle_backward(bwd), {{DNNL_ARG_DIFF_DST, put(plain(d), want)}}, DNNL_ARG_DIFF_SRC, bwd.diff_src_desc()), x, 0,
                "shuffle backward");
    }
    using pd_t = shuffle_forward::primitive_desc;
    THROWS(dnnl_invalid_arguments, pd_t(the_engine(), prop_kind::forward_training, plain(d), plain(d), 1, 5));
    THROWS(dnnl_invalid_arguments, pd_t(the_engine(), prop_kind::forward_training, plain(d), plain(d), 3, 1));
}

} // namespace

void area_moving() {
    layouts();
    conversions();
    attributes();
    submemory();
    concats();
    sums();
    shuffles();
}
