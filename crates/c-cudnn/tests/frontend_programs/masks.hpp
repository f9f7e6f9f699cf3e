// Attention with everything that the samples add to it: masks, lengths of sequences, ragged batches, pages, dropout by a given mask, slopes, windows, sinks.
#pragma once
#include "attention.hpp"
#include "common.hpp"

#include <limits>

namespace masks_area {
namespace {

using attention_area::floats;
using attention_area::half_graph;
using attention_area::halves;

const int B = 3, H = 4, G = 2, S = 5, T = 9, D = 16;
const float SCALE = 0.25f;
const Ints QD = {B, H, S, D}, KD = {B, G, T, D}, SD = {B, H, S, 1}, ONE = {B, 1, 1, 1};

const float NAN_ = std::numeric_limits<float>::quiet_NaN();

// What the reference may mask, add and drop.
struct Rules {
    std::vector<int> queries = std::vector<int>(B, S), keys = std::vector<int>(B, T);
    std::function<bool(int b, int i, int j)> sees = [](int, int, int) { return true; };
    std::function<double(int b, int h, int i, int j)> adds = [](int, int, int, int) { return 0.0; };
    std::function<double(int b, int h, int i, int j)> keeps = [](int, int, int, int) { return 1.0; };
    const Floats *sink = nullptr;
};

struct Tensors {
    Floats q = numbers(B * H * S * D, 1), k = numbers(B * G * T * D, 2), v = numbers(B * G * T * D, 3), o, stats;
    std::vector<__half> hq = halves(q), hk = halves(k), hv = halves(v), ho = std::vector<__half>(q.size());
    Floats got = Floats(B * H * S);

    explicit Tensors(const Rules &rules) : o(q.size()), stats(B * H * S) {
        // The memory of padding may hold anything.
        for (int r = 0; r < B * H * S * D; r++)
            if (r / D % S >= rules.queries[r / D / S / H]) hq[r] = __float2half(NAN_);
        for (int r = 0; r < B * G * T * D; r++)
            if (r / D % T >= rules.keys[r / D / T / G]) hk[r] = hv[r] = __float2half(NAN_);
        for (int b = 0; b < B; b++)
            for (int h = 0; h < H; h++)
                for (int i = 0; i < rules.queries[b]; i++) {
                    std::vector<double> p(T, -1e300);
                    int base = (b * G + h / (H / G)) * T * D, row = ((b * H + h) * S + i) * D;
                    double most = rules.sink ? (*rules.sink)[h] : -1e300, sum = 0;
                    for (int j = 0; j < rules.keys[b]; j++) {
                        if (!rules.sees(b, i, j)) continue;
                        double dot = 0;
                        for (int d = 0; d < D; d++) dot += (double)q[row + d] * k[base + j * D + d];
                        p[j] = dot * SCALE + rules.adds(b, h, i, j), most = std::max(most, p[j]);
                    }
                    if (rules.sink) sum += std::exp((*rules.sink)[h] - most);
                    for (auto &x : p) x = x == -1e300 ? 0 : std::exp(x - most), sum += x;
                    stats[(b * H + h) * S + i] = (float)(most + std::log(sum));
                    for (int j = 0; sum > 0 && j < T; j++)
                        for (int d = 0; d < D; d++) o[row + d] += (float)(p[j] / sum * rules.keeps(b, h, i, j) * v[base + j * D + d]);
                }
    }

    void judge(const std::string &what, const Rules &rules) {
        Floats out = floats(ho), wanted = o;
        // Rows of padding are not compared.
        for (int r = 0; r < B * H * S; r++)
            if (r % S >= rules.queries[r / S / H])
                for (int d = 0; d < D; d++) out[r * D + d] = wanted[r * D + d];
        close_to(what, out, wanted, 4e-3);
        std::fill(ho.begin(), ho.end(), __float2half(-77));
    }
};

// One graph of attention; `options` adds what is special, and binds its tensors.
void one(cudnnHandle_t handle, const std::string &name, const Rules &rules, const std::function<void(fe::graph::Graph &, fe::graph::SDPA_attributes &, Bound &)> &options, bool stats = true) {
    Tensors t(rules);
    auto g = half_graph();
    auto q = input(g, "q", QD), k = input(g, "k", KD), v = input(g, "v", KD);
    Bound bound = {{q, t.hq.data()}, {k, t.hk.data()}, {v, t.hv.data()}};
    auto how = fe::graph::SDPA_attributes().set_name("sdpa").set_generate_stats(stats).set_attn_scale(SCALE);
    options(g, how, bound);
    auto [o, s] = g.sdpa(q, k, v, how);
    o->set_output(true).set_dim(QD).set_stride(packed(QD));
    bound[o] = t.ho.data();
    if (stats) s->set_output(true).set_data_type(fe::DataType_t::FLOAT).set_dim(SD).set_stride(packed(SD)), bound[s] = t.got.data();
    run(handle, name, g, bound, [&](const std::string &what) {
        t.judge(what, rules);
        for (int r = 0; stats && r < B * H * S; r++)
            if (r % S < rules.queries[r / S / H] && !(std::fabs(t.got[r] - t.stats[r]) <= 4e-3 * (1 + std::fabs(t.stats[r])))) return check(false, what + ": statistics " + std::to_string(r));
    });
}

Tensor lengths(fe::graph::Graph &g, const char *name) {
    auto t = input(g, name, ONE);
    t->set_data_type(fe::DataType_t::INT32);
    return t;
}

void masks(cudnnHandle_t handle) {
    Rules last;
    last.sees = [](int, int i, int j) { return j - i <= T - S; };
    one(handle, "causal from the bottom right", last, [](auto &, auto &how, auto &) { how.set_causal_mask_bottom_right(true); });
    Rules window;
    window.sees = [](int, int i, int j) { return j <= i && j > i - 3; };
    one(handle, "a causal window of three", window, [](auto &, auto &how, auto &) { how.set_causal_mask(true).set_sliding_window_length(3); });
    Rules band;
    band.sees = [](int, int i, int j) { return j - i <= T - S + 1 && j - i > T - S - 3; };
    one(handle, "a band at the bottom right", band, [](auto &, auto &how, auto &) {
        how.set_diagonal_alignment(fe::DiagonalAlignment_t::BOTTOM_RIGHT).set_diagonal_band_left_bound(3).set_diagonal_band_right_bound(1);
    });
    Rules slopes;
    slopes.sees = [](int, int i, int j) { return j <= i; };
    slopes.adds = [](int, int h, int i, int j) { return std::exp2(-8.0 * (h + 1) / H) * (j - i); };
    one(handle, "slopes by distance", slopes, [](auto &, auto &how, auto &) { how.set_causal_mask(true).set_alibi_mask(true); });
}

void padded(cudnnHandle_t handle) {
    Rules rules;
    rules.queries = {5, 1, 3}, rules.keys = {9, 4, 7};
    std::vector<int32_t> q = {5, 1, 3}, k = {9, 4, 7};
    auto both = [&](fe::graph::Graph &g, fe::graph::SDPA_attributes &how, Bound &bound) {
        auto tq = lengths(g, "lengths of queries"), tk = lengths(g, "lengths of keys");
        how.set_padding_mask(true).set_seq_len_q(tq).set_seq_len_kv(tk);
        bound[tq] = q.data(), bound[tk] = k.data();
    };
    one(handle, "lengths of sequences", rules, both);
    Rules last = rules;
    last.sees = [&](int b, int i, int j) { return j - i <= k[b] - q[b]; };
    one(handle, "lengths, causal from the bottom right", last, [&](auto &g, auto &how, auto &bound) { both(g, how, bound), how.set_causal_mask_bottom_right(true); });
}

// The gradient of padded sequences, whose padding may hold anything: as with zeros there.
void padded_gradient(cudnnHandle_t handle) {
    std::vector<int32_t> lq = {5, 1, 3}, lk = {9, 4, 7};
    Floats first[3];
    for (float filling : {0.0f, NAN_}) {
        Rules rules;
        rules.queries = {5, 1, 3}, rules.keys = {9, 4, 7};
        Tensors t(rules);
        Floats stats = t.stats;
        auto ho = halves(t.o), hd = halves(numbers(B * H * S * D, 4));
        auto fill = [&](std::vector<__half> &v, int heads, int rows, const std::vector<int> &lengths) {
            for (int r = 0; r < (int)v.size(); r++)
                if (r / D % rows >= lengths[r / D / rows / heads]) v[r] = __float2half(filling);
        };
        fill(t.hq, H, S, rules.queries), fill(ho, H, S, rules.queries), fill(hd, H, S, rules.queries), fill(t.hk, G, T, rules.keys), fill(t.hv, G, T, rules.keys);
        for (int r = 0; r < B * H * S; r++)
            if (r % S >= rules.queries[r / S / H]) stats[r] = filling;
        std::vector<__half> dq(t.hq.size()), dk(t.hk.size()), dv(t.hv.size());
        auto g = half_graph();
        auto q = input(g, "q", QD), k = input(g, "k", KD), v = input(g, "v", KD), o = input(g, "o", QD), d = input(g, "do", QD), s = input(g, "stats", SD);
        s->set_data_type(fe::DataType_t::FLOAT);
        auto sq = lengths(g, "lengths of queries"), sk = lengths(g, "lengths of keys");
        auto how = fe::graph::SDPA_backward_attributes().set_name("sdpa_backward").set_attn_scale(SCALE).set_padding_mask(true).set_seq_len_q(sq).set_seq_len_kv(sk);
        auto [tq, tk, tv] = g.sdpa_backward(q, k, v, o, d, s, how);
        tq->set_output(true).set_dim(QD).set_stride(packed(QD));
        tk->set_output(true).set_dim(KD).set_stride(packed(KD)), tv->set_output(true).set_dim(KD).set_stride(packed(KD));
        run(handle, "gradient of padded sequences", g,
            {{q, t.hq.data()}, {k, t.hk.data()}, {v, t.hv.data()}, {o, ho.data()}, {d, hd.data()}, {s, stats.data()}, {sq, lq.data()}, {sk, lk.data()}, {tq, dq.data()}, {tk, dk.data()}, {tv, dv.data()}},
            [&](const std::string &what) {
                const std::vector<__half> *made[] = {&dq, &dk, &dv};
                for (int i = 0; i < 3; i++) {
                    if (first[i].empty()) first[i] = floats(*made[i]);
                    close_to(what + ": " + std::to_string(i), floats(*made[i]), first[i], 1e-2);
                }
            });
    }
}

// Dropout with the caller's mask, and a sink for each head.
void dropped(cudnnHandle_t handle) {
    std::vector<__half> mask(B * H * S * T);
    Floats values(mask.size()), sink = numbers(H, 9);
    for (size_t i = 0; i < mask.size(); i++) values[i] = i * 7919 % 10 < 7 ? 1.0f : 0.0f;
    mask = halves(values);
    float factor = 1 / 0.7f;
    Rules rules;
    rules.keeps = [&](int b, int h, int i, int j) { return values[((b * H + h) * S + i) * T + j] * factor; };
    one(handle, "dropout by a given mask", rules, [&](auto &g, auto &how, auto &bound) {
        auto m = input(g, "mask", {B, H, S, T});
        auto f = g.tensor(fe::graph::Tensor_attributes().set_name("factor").set_dim({1, 1, 1, 1}).set_stride({1, 1, 1, 1}).set_is_pass_by_value(true).set_data_type(fe::DataType_t::FLOAT));
        how.set_dropout(m, f);
        bound[m] = mask.data(), bound[f] = &factor;
    });
    Rules sunk;
    sunk.sink = &sink;
    one(handle, "a sink for each head", sunk, [&](auto &g, auto &how, auto &bound) {
        auto s = input(g, "sink", {1, H, 1, 1});
        s->set_data_type(fe::DataType_t::FLOAT);
        how.set_sink_token(s);
        bound[s] = sink.data();
    });
}

// Dropout by the generator: the same seed gives the same result, another one another, and about the given share is dropped.
void random(cudnnHandle_t handle) {
    Rules rules;
    Tensors t(rules);
    int64_t seed = 11, offset = 3;
    auto g = half_graph();
    auto q = input(g, "q", QD), k = input(g, "k", KD), v = input(g, "v", KD);
    auto number = [&](const char *name) {
        return g.tensor(fe::graph::Tensor_attributes().set_name(name).set_dim({1, 1, 1, 1}).set_stride({1, 1, 1, 1}).set_data_type(fe::DataType_t::INT64));
    };
    auto ts = number("seed"), to = number("offset"), dump = g.tensor(fe::graph::Tensor_attributes().set_name("dump").set_dim({B, H, S, T}).set_stride(packed({B, H, S, T})).set_data_type(fe::DataType_t::FLOAT));
    auto how = fe::graph::SDPA_attributes().set_name("sdpa").set_generate_stats(false).set_attn_scale(SCALE).set_dropout(0.3f, ts, to).set_rng_dump(dump);
    auto [o, s] = g.sdpa(q, k, v, how);
    o->set_output(true).set_dim(QD).set_stride(packed(QD));
    Floats kept(B * H * S * T), first;
    Bound bound = {{q, t.hq.data()}, {k, t.hk.data()}, {v, t.hv.data()}, {o, t.ho.data()}, {ts, &seed}, {to, &offset}, {dump, kept.data()}};
    run(handle, "dropout by the generator", g, bound, [&](const std::string &what) {
        int some = 0;
        for (float x : kept) some += x > 0;
        check(some > 0.6 * B * H * S * T && some < 0.8 * B * H * S * T, what + ": " + std::to_string(some) + " of " + std::to_string(kept.size()) + " are kept");
        if (first.empty()) first = kept;
        check(first == kept, what + ": the same seed gives the same mask");
        Rules dropped;
        dropped.keeps = [&](int b, int h, int i, int j) { return kept[((b * H + h) * S + i) * T + j] > 0 ? 1 / 0.7 : 0.0; };
        Tensors wanted(dropped);
        wanted.ho = t.ho;
        wanted.judge(what, dropped);
    });
}

// Sequences packed one behind the other.
void ragged(cudnnHandle_t handle) {
    Rules rules;
    rules.queries = {5, 1, 3}, rules.keys = {9, 4, 7};
    Tensors t(rules);
    std::vector<int32_t> lq = {5, 1, 3}, lk = {9, 4, 7}, oq(B + 1), ok(B + 1);
    for (int b = 0; b < B; b++) oq[b + 1] = oq[b] + lq[b] * H * D, ok[b + 1] = ok[b] + lk[b] * G * D;
    std::vector<__half> q(B * S * H * D), k(B * T * G * D), v(k.size()), o(q.size());
    for (int b = 0; b < B; b++) {
        for (int i = 0; i < lq[b]; i++)
            for (int h = 0; h < H; h++)
                for (int d = 0; d < D; d++) q[oq[b] + (i * H + h) * D + d] = t.hq[((b * H + h) * S + i) * D + d];
        for (int j = 0; j < lk[b]; j++)
            for (int h = 0; h < G; h++)
                for (int d = 0; d < D; d++) {
                    k[ok[b] + (j * G + h) * D + d] = t.hk[((b * G + h) * T + j) * D + d];
                    v[ok[b] + (j * G + h) * D + d] = t.hv[((b * G + h) * T + j) * D + d];
                }
    }
    auto g = half_graph();
    auto tq = input(g, "q", QD, {S * H * D, D, H * D, 1}), tk = input(g, "k", KD, {T * G * D, D, G * D, 1}), tv = input(g, "v", KD, {T * G * D, D, G * D, 1});
    auto places = [&](const char *name) {
        auto made = input(g, name, {B + 1, 1, 1, 1});
        made->set_data_type(fe::DataType_t::INT32);
        return made;
    };
    auto pq = places("places of queries"), pk = places("places of keys"), sq = lengths(g, "lengths of queries"), sk = lengths(g, "lengths of keys");
    tq->set_ragged_offset(pq), tk->set_ragged_offset(pk), tv->set_ragged_offset(pk);
    auto how = fe::graph::SDPA_attributes().set_name("sdpa").set_generate_stats(false).set_attn_scale(SCALE).set_padding_mask(true).set_seq_len_q(sq).set_seq_len_kv(sk);
    auto [to, ts] = g.sdpa(tq, tk, tv, how);
    to->set_output(true).set_dim(QD).set_stride({S * H * D, D, H * D, 1}).set_ragged_offset(pq);
    run(handle, "ragged batches", g,
        {{tq, q.data()}, {tk, k.data()}, {tv, v.data()}, {to, o.data()}, {pq, oq.data()}, {pk, ok.data()}, {sq, lq.data()}, {sk, lk.data()}}, [&](const std::string &what) {
            for (int b = 0; b < B; b++)
                for (int i = 0; i < lq[b]; i++)
                    for (int h = 0; h < H; h++)
                        for (int d = 0; d < D; d++) t.ho[((b * H + h) * S + i) * D + d] = o[oq[b] + (i * H + h) * D + d];
            t.judge(what, rules);
        });
    // Offsets below 0, and that decrease.
    Device workspace(g.get_workspace_size_plan_at_index(0));
    for (int32_t wrong : {-1, oq[1] - 1}) {
        auto bad = oq;
        bad[2] = wrong;
        Bound bound = {{tq, q.data()}, {tk, k.data()}, {tv, v.data()}, {to, o.data()}, {pq, bad.data()}, {pk, ok.data()}, {sq, lq.data()}, {sk, lk.data()}};
        check(g.execute_plan_at_index(handle, bound, workspace.p, 0).is_bad(), "offset " + std::to_string(wrong) + " is refused");
    }
}

// Keys and values in pages that a table lists.
void paged(cudnnHandle_t handle) {
    const int PAGE = 4, PAGES = 3, BLOCKS = B * PAGES + 2;
    Rules rules;
    rules.keys = {9, 4, 7};
    Tensors t(rules);
    std::vector<int32_t> lq(B, S), lk = {9, 4, 7}, table(B * PAGES);
    std::vector<__half> k(BLOCKS * G * PAGE * D, __float2half(NAN_)), v = k;
    for (int i = 0; i < B * PAGES; i++) table[i] = (i * 5 + 2) % BLOCKS;
    for (int b = 0; b < B; b++)
        for (int j = 0; j < T; j++)
            for (int h = 0; h < G; h++)
                for (int d = 0; d < D; d++) {
                    int at = ((table[b * PAGES + j / PAGE] * G + h) * PAGE + j % PAGE) * D + d, from = ((b * G + h) * T + j) * D + d;
                    k[at] = t.hk[from], v[at] = t.hv[from];
                }
    auto g = half_graph();
    auto tq = input(g, "q", QD), tk = input(g, "pages of keys", {BLOCKS, G, PAGE, D}), tv = input(g, "pages of values", {BLOCKS, G, PAGE, D});
    auto listed = [&](const char *name) {
        auto made = input(g, name, {B, 1, PAGES, 1});
        made->set_data_type(fe::DataType_t::INT32);
        return made;
    };
    auto pk = listed("table of keys"), pv = listed("table of values"), sq = lengths(g, "lengths of queries"), sk = lengths(g, "lengths of keys");
    auto how = fe::graph::SDPA_attributes().set_name("sdpa").set_generate_stats(false).set_attn_scale(SCALE).set_padding_mask(true).set_seq_len_q(sq).set_seq_len_kv(sk);
    how.set_paged_attention_k_table(pk).set_paged_attention_v_table(pv).set_paged_attention_max_seq_len_kv(T);
    auto [to, ts] = g.sdpa(tq, tk, tv, how);
    to->set_output(true).set_dim(QD).set_stride(packed(QD));
    run(handle, "pages", g, {{tq, t.hq.data()}, {tk, k.data()}, {tv, v.data()}, {to, t.ho.data()}, {pk, table.data()}, {pv, table.data()}, {sq, lq.data()}, {sk, lk.data()}},
        [&](const std::string &what) { t.judge(what, rules); });
}

}  // namespace

void all(cudnnHandle_t handle) {
    masks(handle);
    padded(handle);
    padded_gradient(handle);
    dropped(handle);
    random(handle);
    ragged(handle);
    paged(handle);
}
}  // namespace masks_area
