// Graphs as training programs have them: a step of an attention block, forward and backward in partitions, against differences; the caller's
// allocator; one partition compiled for many sizes; one compiled partition on many threads; threads that neither created nor compiled.
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "common.hpp"
#include "oneapi/dnnl/dnnl_graph.hpp"

using namespace dnnl::graph;
using lt = logical_tensor;
using g_dims = lt::dims;

namespace {

const auto f32 = lt::data_type::f32;

// Sizes: batch, heads, tokens, numbers of a head.
constexpr memory::dim B = 2, H = 2, S = 5, D = 4;

// The values of tensors by their numbers.
using tensors_t = std::map<size_t, std::vector<float>>;

// A graph that grows operation by operation; sizes of results are inferred.
struct net {
    dnnl::graph::graph g {dnnl::engine::kind::cpu};
    size_t ops = 0;

    lt given(size_t id, const g_dims &d) { return lt(id, f32, d, lt::layout_type::strided); }
    lt made(size_t id, int rank) { return lt(id, f32, rank, lt::layout_type::strided); }

    lt add(op::kind kind, const std::vector<lt> &in, size_t out, int rank, const std::function<void(op &)> &attributes = {}) {
        const lt result = made(out, rank);
        op o(ops++, kind, in, {result}, "op");
        if (attributes) attributes(o);
        g.add_op(o);
        return result;
    }

    lt matmul(const lt &a, const lt &b, size_t out, bool turn_a = false, bool turn_b = false) {
        return add(op::kind::MatMul, {a, b}, out, 4, [&](op &o) {
            o.set_attr<bool>(op::attr::transpose_a, turn_a);
            o.set_attr<bool>(op::attr::transpose_b, turn_b);
        });
    }

    lt sum(const lt &x, size_t out, int rank, const std::vector<int64_t> &axes, bool keep) {
        return add(op::kind::ReduceSum, {x}, out, rank, [&](op &o) {
            o.set_attr<std::vector<int64_t>>(op::attr::axes, axes);
            o.set_attr<bool>(op::attr::keep_dims, keep);
        });
    }

    // Executes all partitions in order, on what is known, and adds what they compute; the number of partitions.
    size_t run(tensors_t &known) {
        g.finalize();
        const std::vector<partition> all = g.get_partitions();
        std::map<size_t, lt> described;
        for (const partition &p : all) {
            CHECK(p.is_supported());
            std::vector<lt> inputs, outputs = p.get_output_ports();
            for (const lt &port : p.get_input_ports())
                inputs.push_back(described.count(port.get_id()) ? described.at(port.get_id()) : port);
            compiled_partition cp = p.compile(inputs, outputs, the_engine());
            std::vector<tensor> in, out;
            for (const lt &port : inputs)
                in.emplace_back(port, the_engine(), known.at(port.get_id()).data());
            for (const lt &port : outputs) {
                const lt result = cp.query_logical_tensor(port.get_id());
                described.emplace(port.get_id(), result);
                known[port.get_id()].assign(result.get_mem_size() / sizeof(float), NAN);
                out.emplace_back(result, the_engine(), known[port.get_id()].data());
            }
            cp.execute(the_stream(), in, out);
            the_stream().wait();
        }
        return all.size();
    }
};

// Numbers of tensors.
enum : size_t { X, WQ, WK, WV, WO, SCALE, MASK, DY, Q, K, V, Y, O, STATS, DX, DWQ, DWK, DWV, DWO, NEXT = 100 };

const g_dims DATA {B, H, S, D}, WEIGHTS {D, D}, MASKS {1, 1, S, S};
const double FACTOR = 0.5;

std::vector<float> narrow(const values &v) { return {v.begin(), v.end()}; }
values wide(const std::vector<float> &v) { return {v.begin(), v.end()}; }

// `y = softmax(scale * q k^T + mask) v Wo` with `q = x Wq` and so on, in partitions.
size_t forward(tensors_t &t) {
    net n;
    const lt x = n.given(X, DATA);
    const lt q = n.matmul(x, n.given(WQ, WEIGHTS), Q), k = n.matmul(x, n.given(WK, WEIGHTS), K), v = n.matmul(x, n.given(WV, WEIGHTS), V);
    lt s = n.matmul(q, k, NEXT, false, true);
    s = n.add(op::kind::Multiply, {s, n.given(SCALE, {1})}, NEXT + 1, 4);
    s = n.add(op::kind::Add, {s, n.given(MASK, MASKS)}, NEXT + 2, 4);
    const lt p = n.made(NEXT + 3, 4), stats = n.made(STATS, 4);
    op softmax(n.ops++, op::kind::SoftMax, {s}, {p, stats}, "softmax");
    softmax.set_attr<int64_t>(op::attr::axis, -1);
    softmax.set_attr<std::string>(op::attr::mode, "inf_as_zero");
    n.g.add_op(softmax);
    const lt o = n.matmul(p, v, O);
    // What backward needs leaves the graph.
    for (const lt &kept : {q, k, v, o})
        n.g.add_op(op(n.ops++, op::kind::End, {kept}, std::vector<lt>(), "kept"));
    n.matmul(o, n.given(WO, WEIGHTS), Y);
    n.g.finalize();
    // End computes nothing: partitions of it are left out.
    const std::vector<partition> all = n.g.get_partitions();
    std::map<size_t, lt> described;
    size_t count = 0;
    for (const partition &part : all) {
        if (part.get_output_ports().empty()) continue;
        count++;
        CHECK(part.is_supported());
        std::vector<lt> inputs, outputs = part.get_output_ports();
        for (const lt &port : part.get_input_ports())
            inputs.push_back(described.count(port.get_id()) ? described.at(port.get_id()) : port);
        compiled_partition cp = part.compile(inputs, outputs, the_engine());
        std::vector<tensor> in, out;
        for (const lt &port : inputs)
            in.emplace_back(port, the_engine(), t.at(port.get_id()).data());
        for (const lt &port : outputs) {
            const lt result = cp.query_logical_tensor(port.get_id());
            described.emplace(port.get_id(), result);
            t[port.get_id()].assign(result.get_mem_size() / sizeof(float), NAN);
            out.emplace_back(result, the_engine(), t[port.get_id()].data());
        }
        cp.execute(the_stream(), in, out);
        the_stream().wait();
    }
    return count;
}

// The gradients of everything that is learnt, and of `x`.
size_t backward(tensors_t &t) {
    net n;
    size_t next = NEXT;
    const lt x = n.given(X, DATA), dy = n.given(DY, DATA), o = n.given(O, DATA), q = n.given(Q, DATA), k = n.given(K, DATA),
             v = n.given(V, DATA), stats = n.given(STATS, {B, H, S, 1}), scale = n.given(SCALE, {1});
    const lt g_o = n.matmul(dy, n.given(WO, WEIGHTS), next++, false, true);
    n.sum(n.matmul(o, dy, next++, true), DWO, 2, {0, 1}, false);
    lt s = n.matmul(q, k, next++, false, true);
    s = n.add(op::kind::Multiply, {s, scale}, next++, 4);
    s = n.add(op::kind::Add, {s, n.given(MASK, MASKS)}, next++, 4);
    s = n.add(op::kind::Subtract, {s, stats}, next++, 4);
    const lt p = n.add(op::kind::Exp, {s}, next++, 4);
    const lt dv = n.matmul(p, g_o, next++, true);
    const lt dp = n.matmul(g_o, v, next++, false, true);
    const lt products = n.add(op::kind::Multiply, {o, g_o}, next++, 4);
    const lt c = n.sum(products, next++, 4, {-1}, true);
    lt ds = n.add(op::kind::Subtract, {dp, c}, next++, 4);
    ds = n.add(op::kind::Multiply, {ds, p}, next++, 4);
    ds = n.add(op::kind::Multiply, {ds, scale}, next++, 4);
    const lt dq = n.matmul(ds, k, next++), dk = n.matmul(ds, q, next++, true);
    n.sum(n.matmul(x, dq, next++, true), DWQ, 2, {0, 1}, false);
    n.sum(n.matmul(x, dk, next++, true), DWK, 2, {0, 1}, false);
    n.sum(n.matmul(x, dv, next++, true), DWV, 2, {0, 1}, false);
    const lt a = n.matmul(dq, n.given(WQ, WEIGHTS), next++, false, true), b = n.matmul(dk, n.given(WK, WEIGHTS), next++, false, true),
             e = n.matmul(dv, n.given(WV, WEIGHTS), next++, false, true);
    n.add(op::kind::Add, {n.add(op::kind::Add, {a, b}, next++, 4), e}, DX, 4);
    return n.run(t);
}

// `a b` for each head, of `rows` by `depth` and `depth` by `columns`; one `b` for all heads where it has the numbers of one.
values times(const values &a, const values &b, memory::dim rows, memory::dim depth, memory::dim columns, bool turn_b = false) {
    const memory::dim heads = B * H, shared = (memory::dim)b.size() == depth * columns ? 0 : 1;
    values y(heads * rows * columns, 0);
    for (memory::dim h = 0; h < heads; h++)
        for (memory::dim r = 0; r < rows; r++)
            for (memory::dim c = 0; c < columns; c++)
                for (memory::dim i = 0; i < depth; i++) {
                    const memory::dim at = turn_b ? c * depth + i : i * columns + c;
                    y[(h * rows + r) * columns + c] += a[(h * rows + r) * depth + i] * b[shared * h * depth * columns + at];
                }
    return y;
}

// The block in plain loops.
values plainly(std::map<size_t, values> t) {
    const values q = times(t[X], t[WQ], S, D, D), k = times(t[X], t[WK], S, D, D), v = times(t[X], t[WV], S, D, D);
    values s = times(q, k, S, D, S, true);
    for (size_t row = 0; row < s.size() / S; row++) {
        double sum = 0;
        for (memory::dim i = 0; i < S; i++) {
            double &at = s[row * S + i];
            at = std::exp(at * FACTOR + t[MASK][row % S * S + i]);
            sum += at;
        }
        for (memory::dim i = 0; i < S; i++)
            s[row * S + i] /= sum;
    }
    return times(times(s, v, S, S, D), t[WO], S, D, D);
}

void training_step() {
    std::map<size_t, values> exact;
    exact[X] = some(volume(DATA), 1);
    exact[DY] = some(volume(DATA), 2);
    exact[SCALE] = {FACTOR};
    for (size_t w : {WQ, WK, WV, WO})
        exact[w] = some(volume(WEIGHTS), 3 + (int)w);
    // Queries see no keys behind them.
    exact[MASK] = values(S * S, 0);
    for (memory::dim i = 0; i < S; i++)
        for (memory::dim j = i + 1; j < S; j++)
            exact[MASK][i * S + j] = -INFINITY;
    tensors_t t;
    for (const auto &entry : exact)
        t[entry.first] = narrow(entry.second);
    const size_t here = forward(t);
    NEAR_ALL(wide(t[Y]), plainly(exact), 1e-4, "the attention block");
    const size_t there = backward(t);
    if (is_ours()) CHECK(here <= 6 && there <= 14);
    const std::pair<size_t, size_t> gradients[] = {{X, DX}, {WQ, DWQ}, {WK, DWK}, {WV, DWV}, {WO, DWO}};
    for (const auto &g : gradients) {
        const auto moved = [&](const values &v) {
            auto all = exact;
            all[g.first] = v;
            return plainly(all);
        };
        NEAR_ALL(wide(t[g.second]), gradient(moved, exact[g.first], exact[DY]), 2e-3, "a gradient of the attention block");
    }
    // A step against the gradients makes the loss smaller.
    const auto loss = [&] {
        double sum = 0;
        for (size_t i = 0; i < t[Y].size(); i++)
            sum += t[Y][i] * exact[DY][i];
        return sum;
    };
    const double before = loss();
    for (const auto &g : gradients)
        if (g.first != X)
            for (size_t i = 0; i < t[g.first].size(); i++)
                t[g.first][i] -= 1e-3f * t[g.second][i];
    forward(t);
    CHECK(loss() < before);
}

// An allocator that knows what it gave.
std::mutex lock;
std::set<void *> lent;
int given_out = 0, taken_back = 0, strange = 0;

void *allocate(size_t size, size_t alignment) {
    void *p = nullptr;
    if (posix_memalign(&p, std::max(alignment, sizeof(void *)), std::max(size, size_t(1))) != 0) return nullptr;
    std::lock_guard<std::mutex> held(lock);
    lent.insert(p);
    given_out++;
    return p;
}

void release(void *p) {
    if (!p) return;
    std::lock_guard<std::mutex> held(lock);
    if (lent.erase(p)) taken_back++;
    else strange++;
    std::free(p);
}

// A product, a function of its sums, their softmax: with intermediate results. Sizes of the rows are not known.
partition rows_partition() {
    net n;
    const lt x(0, f32, {DNNL_GRAPH_UNKNOWN_DIM, 48}, lt::layout_type::strided), w = n.given(1, {48, 32});
    const lt scores(2, f32, 2, lt::layout_type::strided), out(3, f32, 2, lt::layout_type::strided);
    n.g.add_op(op(0, op::kind::MatMul, {x, w}, {scores}, "product"));
    n.g.add_op(op(1, op::kind::GELU, {scores}, {out}, "function"));
    n.g.finalize();
    const std::vector<partition> all = n.g.get_partitions();
    EQUAL(all.size(), 1);
    return all.at(0);
}

values rows_plainly(const values &x, const values &w, memory::dim rows) {
    values y(rows * 32, 0);
    for (memory::dim r = 0; r < rows; r++)
        for (memory::dim c = 0; c < 32; c++) {
            double &at = y[r * 32 + c];
            for (memory::dim i = 0; i < 48; i++)
                at += x[r * 48 + i] * w[i * 32 + c];
            at *= 0.5 * (1 + std::erf(at / std::sqrt(2.0)));
        }
    return y;
}

compiled_partition rows_compiled(const partition &p, memory::dim rows, const dnnl::engine &e) {
    const lt x(0, f32, {rows, 48}, lt::layout_type::strided), w(1, f32, {48, 32}, lt::layout_type::strided);
    return p.compile({x, w}, {lt(3, f32, 2, lt::layout_type::strided)}, e);
}

void many_sizes() {
    const partition p = rows_partition();
    const values w = some(48 * 32, 2);
    std::vector<float> weights = narrow(w);
    for (memory::dim rows = 1; rows <= 20; rows++) {
        compiled_partition cp = rows_compiled(p, rows, the_engine());
        const lt result = cp.query_logical_tensor(3);
        CHECK((result.get_dims() == g_dims {rows, 32}));
        const values x = some(rows * 48, 3 + (int)rows);
        std::vector<float> data = narrow(x), y(rows * 32, NAN);
        cp.execute(the_stream(),
                {tensor(lt(0, f32, {rows, 48}, lt::layout_type::strided), the_engine(), data.data()),
                        tensor(lt(1, f32, {48, 32}, lt::layout_type::strided), the_engine(), weights.data())},
                {tensor(result, the_engine(), y.data())});
        the_stream().wait();
        NEAR_ALL(wide(y), rows_plainly(x, w, rows), 1e-4, "a partition compiled for one of many sizes");
    }
}

void allocations() {
    {
        allocator own(allocate, release);
        dnnl::engine e = make_engine_with_allocator(dnnl::engine::kind::cpu, 0, own);
        dnnl::stream s(e);
        net n;
        const lt x = n.given(0, {64, 64}), w = n.given(1, {64, 64}), y = n.made(2, 2), z = n.made(3, 2), u = n.made(4, 2);
        n.g.add_op(op(0, op::kind::MatMul, {x, w}, {y}, "a"));
        op softmax(1, op::kind::SoftMax, {y}, {z}, "b");
        softmax.set_attr<int64_t>(op::attr::axis, -1);
        n.g.add_op(softmax);
        n.g.add_op(op(2, op::kind::MatMul, {z, w}, {u}, "c"));
        n.g.finalize();
        tensor tx(x, e), tw(w, e);
        for (const tensor &t : {tx, tw})
            std::fill_n(static_cast<float *>(t.get_data_handle()), 64 * 64, 0.125f);
        std::map<size_t, tensor> at {{0, tx}, {1, tw}};
        for (const partition &p : n.g.get_partitions()) {
            std::vector<lt> inputs;
            for (const lt &port : p.get_input_ports())
                inputs.push_back(at.at(port.get_id()).get_logical_tensor());
            compiled_partition cp = p.compile(inputs, p.get_output_ports(), e);
            std::vector<const_dnnl_graph_tensor_t> in, out;
            for (const lt &port : p.get_input_ports())
                in.push_back(at.at(port.get_id()).get());
            for (const lt &port : p.get_output_ports()) {
                const tensor room(cp.query_logical_tensor(port.get_id()), e);
                at.emplace(port.get_id(), room);
                out.push_back(room.get());
            }
            const size_t bytes = cp.get_scratchpad_logical_tensor().get_mem_size();
            std::vector<char> scratch(bytes + 64);
            char *aligned = scratch.data() + (64 - (size_t)scratch.data() % 64) % 64;
            const tensor pad(cp.get_scratchpad_logical_tensor(), e, aligned);
            // Without a scratchpad what is taken is given back; with one nothing is taken.
            OK(dnnl_graph_compiled_partition_execute(cp.get(), s.get(), in.size(), in.data(), out.size(), out.data()));
            s.wait();
            const size_t held = lent.size();
            const int before = given_out;
            for (int i = 0; i < 3; i++)
                OK(dnnl_graph_compiled_partition_execute_v2(
                        cp.get(), s.get(), in.size(), in.data(), out.size(), out.data(), bytes ? pad.get() : nullptr));
            s.wait();
            if (bytes) EQUAL(given_out, before);
            EQUAL(lent.size(), held);
        }
    }
    EQUAL(lent.size(), 0);
    EQUAL(given_out, taken_back);
    EQUAL(strange, 0);
    CHECK(given_out > 0);
}

void threads() {
    const partition p = rows_partition();
    constexpr memory::dim rows = 33;
    const values w = some(48 * 32, 2);
    const compiled_partition cp = rows_compiled(p, rows, the_engine());
    const lt result = cp.query_logical_tensor(3);
    std::vector<std::vector<float>> results(8, std::vector<float>(rows * 32, NAN));
    std::vector<std::thread> all;
    std::vector<float> weights = narrow(w);
    for (int i = 0; i < 8; i++)
        all.emplace_back([&, i] {
            std::vector<float> x = narrow(some(rows * 48, i));
            dnnl::stream s(the_engine());
            for (int round = 0; round < 20; round++) {
                cp.execute(s,
                        {tensor(lt(0, f32, {rows, 48}, lt::layout_type::strided), the_engine(), x.data()),
                                tensor(lt(1, f32, {48, 32}, lt::layout_type::strided), the_engine(), weights.data())},
                        {tensor(result, the_engine(), results[i].data())});
                s.wait();
            }
        });
    for (std::thread &t : all)
        t.join();
    for (int i = 0; i < 8; i++)
        NEAR_ALL(wide(results[i]), rows_plainly(some(rows * 48, i), w, rows), 1e-4, "one compiled partition on eight threads");
}

// A partition of this thread is compiled on a second one, executed on a third, and dropped on a fourth.
void other_threads() {
    constexpr memory::dim rows = 7;
    partition p = rows_partition();
    compiled_partition cp;
    lt result;
    std::thread([&] {
        cp = rows_compiled(p, rows, dnnl::engine(dnnl::engine::kind::cpu, 0));
        result = cp.query_logical_tensor(3);
        p = partition();
    }).join();
    const values x = some(rows * 48, 1), w = some(48 * 32, 2);
    std::vector<float> data = narrow(x), weights = narrow(w), y(rows * 32, NAN);
    std::thread([&] {
        dnnl::stream s(the_engine());
        cp.execute(s,
                {tensor(lt(0, f32, {rows, 48}, lt::layout_type::strided), the_engine(), data.data()),
                        tensor(lt(1, f32, {48, 32}, lt::layout_type::strided), the_engine(), weights.data())},
                {tensor(result, the_engine(), y.data())});
        s.wait();
    }).join();
    std::thread([&] { cp = compiled_partition(); }).join();
    NEAR_ALL(wide(y), rows_plainly(x, w, rows), 1e-4, "a partition compiled and executed on other threads");
}

} // namespace

void area_graph_training() {
    training_step();
    many_sizes();
    allocations();
    threads();
    other_threads();
}
