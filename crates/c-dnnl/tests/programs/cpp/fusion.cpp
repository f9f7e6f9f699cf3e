// Partitions of several operations: their ports and numbers, one compiled partition from eight threads, and an allocator of the program's own
// that gets back what it gave.
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <thread>

#include "common.hpp"
#include "oneapi/dnnl/dnnl_graph.hpp"

using namespace dnnl::graph;
using lt = logical_tensor;

namespace {

const auto f32 = lt::data_type::f32;

lt strided(size_t id, const lt::dims &d) { return lt(id, f32, d, lt::layout_type::strided); }

std::atomic<int> given {0}, returned {0};

void *allocate(size_t size, size_t alignment) {
    given++;
    void *p = nullptr;
    return posix_memalign(&p, std::max(alignment, sizeof(void *)), size) == 0 ? p : nullptr;
}

void release(void *p) {
    returned++;
    std::free(p);
}

// A product with bias, a GELU whose argument is read by nobody else, and a sum: one partition.
struct Block {
    const lt x = strided(0, {8, 16}), w = strided(1, {16, 32}), b = strided(2, {32}), z = strided(3, {8, 32});
    const lt product = strided(4, {8, 32}), biased = strided(5, {8, 32}), active = strided(6, {8, 32}), y = strided(7, {8, 32});
    std::vector<partition> partitions;

    Block() {
        dnnl::graph::graph g(engine::kind::cpu);
        g.add_op(op(0, op::kind::MatMul, {x, w}, {product}, "product"));
        g.add_op(op(1, op::kind::BiasAdd, {product, b}, {biased}, "bias"));
        g.add_op(op(2, op::kind::ReLU, {biased}, {active}, "function"));
        g.add_op(op(3, op::kind::Add, {active, z}, {y}, "sum"));
        g.finalize();
        partitions = g.get_partitions();
    }
};

// Numbers that sums of are exact.
std::vector<float> filled(size_t count, int seed) {
    std::vector<float> v(count);
    for (size_t i = 0; i < count; i++)
        v[i] = float(int(i * 7 + size_t(seed) * 5) % 9 - 4);
    return v;
}

struct Data {
    std::vector<float> x = filled(8 * 16, 1), w = filled(16 * 32, 2), b = filled(32, 3), z = filled(8 * 32, 4);
    std::vector<float> expected = std::vector<float>(8 * 32);

    Data() {
        for (size_t i = 0; i < 8; i++)
            for (size_t j = 0; j < 32; j++) {
                float sum = b[j];
                for (size_t k = 0; k < 16; k++)
                    sum += x[i * 16 + k] * w[k * 32 + j];
                expected[i * 32 + j] = std::max(sum, 0.f) + z[i * 32 + j];
            }
    }
};

bool right(const Block &block, Data &data, const compiled_partition &cp, const engine &e, stream &s) {
    std::vector<float> y(8 * 32, NAN);
    const std::vector<tensor> in {tensor(block.x, e, data.x.data()), tensor(block.w, e, data.w.data()), tensor(block.b, e, data.b.data()),
            tensor(block.z, e, data.z.data())};
    cp.execute(s, in, {tensor(block.y, e, y.data())});
    s.wait();
    return y == data.expected;
}

void one_partition() {
    const Block block;
    EQUAL(block.partitions.size(), 1);
    const partition &p = block.partitions[0];
    EQUAL(p.get_ops_num(), 4);
    CHECK(p.is_supported());
    CHECK((p.get_ops() == std::vector<size_t> {0, 1, 2, 3}));
    const auto in = p.get_input_ports(), out = p.get_output_ports();
    EQUAL(in.size(), 4);
    EQUAL(out.size(), 1);
    CHECK(out.size() == 1 && out[0].get_id() == 7);
    for (const auto &port : in)
        CHECK(port.get_id() < 4);
    Data data;
    compiled_partition cp = p.compile({block.x, block.w, block.b, block.z}, {block.y}, the_engine());
    CHECK(right(block, data, cp, the_engine(), the_stream()));
}

// Each operation alone under the policy `debug`; an End makes what is read inside an output.
void policies() {
    const Block block;
    dnnl::graph::graph g(engine::kind::cpu);
    g.add_op(op(0, op::kind::MatMul, {block.x, block.w}, {block.product}, "product"));
    g.add_op(op(1, op::kind::BiasAdd, {block.product, block.b}, {block.biased}, "bias"));
    g.add_op(op(2, op::kind::ReLU, {block.biased}, {block.active}, "function"));
    g.finalize();
    EQUAL(g.get_partitions(partition::policy::debug).size(), 3);
    EQUAL(g.get_partitions(partition::policy::fusion).size(), 1);
    EQUAL(g.get_partitions(partition::policy::debug).size(), 3);
}

void from_eight_threads() {
    const Block block;
    Data data;
    compiled_partition cp = block.partitions.at(0).compile({block.x, block.w, block.b, block.z}, {block.y}, the_engine());
    std::atomic<int> wrong {0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; t++)
        threads.emplace_back([&] {
            stream s(the_engine());
            for (int i = 0; i < 20; i++)
                if (!right(block, data, cp, the_engine(), s)) wrong++;
        });
    for (auto &t : threads)
        t.join();
    EQUAL(wrong.load(), 0);
}

// A softmax between two products needs room for what lies between them.
void own_allocator() {
    {
        allocator own(allocate, release);
        engine e = make_engine_with_allocator(engine::kind::cpu, 0, own);
        stream s(e);
        const lt q = strided(0, {1, 2, 4, 8}), k = strided(1, {1, 2, 8, 4}), v = strided(2, {1, 2, 4, 8});
        const lt scores = strided(3, {1, 2, 4, 4}), soft = strided(4, {1, 2, 4, 4}), y = strided(5, {1, 2, 4, 8});
        dnnl::graph::graph g(engine::kind::cpu);
        g.add_op(op(0, op::kind::MatMul, {q, k}, {scores}, "scores"));
        op softmax(1, op::kind::SoftMax, {scores}, {soft}, "softmax");
        softmax.set_attr<int64_t>(op::attr::axis, -1);
        g.add_op(softmax);
        g.add_op(op(2, op::kind::MatMul, {soft, v}, {y}, "values"));
        g.finalize();
        const auto partitions = g.get_partitions();
        EQUAL(partitions.size(), 1);
        compiled_partition cp = partitions.at(0).compile({q, k, v}, {y}, e);
        std::vector<float> a(64, 1.f), b(64, 0.5f), c(64, 2.f), d(64, NAN);
        const std::vector<tensor> in {tensor(q, e, a.data()), tensor(k, e, b.data()), tensor(v, e, c.data())};
        const std::vector<tensor> out {tensor(y, e, d.data())};
        for (int i = 0; i < 3; i++)
            cp.execute(s, in, out);
        s.wait();
        for (float value : d)
            NEAR(value, 2.0, 1e-5);
        // With a scratchpad of the program's nothing is asked for.
        const lt pad = cp.get_scratchpad_logical_tensor();
        std::vector<uint8_t> bytes(pad.get_mem_size() + 64);
        tensor scratch(pad, e, bytes.data());
        const int before = given;
        std::vector<const_dnnl_graph_tensor_t> ins, outs {out[0].get()};
        for (const auto &t : in)
            ins.push_back(t.get());
        OK(dnnl_graph_compiled_partition_execute_v2(cp.get(), s.get(), ins.size(), ins.data(), 1, outs.data(), scratch.get()));
        s.wait();
        if (is_ours()) EQUAL(given.load(), before);
    }
    EQUAL(given.load(), returned.load());
}

} // namespace

void area_fusion() {
    one_partition();
    policies();
    from_eight_threads();
    own_allocator();
}
