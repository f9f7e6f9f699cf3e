// Says which partitions oneDNN makes of graphs: for the lines of `Net::lines`, a graph behind each line `graph NAME`, prints the name and the
// numbers of the operations of each partition in oneDNN's order, `0,1|2`, with `!` behind those it cannot compute. With an argument also the numbers
// of the ports, `0,1<5,6>7|2<7>8`, and what may be in place, `~5:7`. Compiled as ops.cpp is, with which it shares how tensors are written.
#define main ops_main
#include "../ops.cpp"
#undef main
#include <algorithm>
#include <map>

namespace {

struct Graph {
    dnnl_graph_graph_t graph = nullptr;
    std::string name, trouble;
    bool ports = false;
    dnnl_engine_t engine = nullptr;
    /// What partitions that were compiled before write.
    std::map<size_t, dnnl_graph_logical_tensor_t> known;

    void begin(const std::string &title) {
        finish();
        name = title;
        trouble.clear();
        known.clear();
        dnnl_graph_graph_create(&graph, dnnl_cpu);
    }

    void line(const std::string &text) {
        std::stringstream in(text);
        size_t id = 0;
        int kind = 0, part = -1;
        in >> id >> kind;
        dnnl_graph_op_t op;
        dnnl_graph_op_create(&op, id, (dnnl_graph_op_kind_t)kind, "op");
        for (std::string word; in >> word;) {
            if (word == ":") {
                ++part;
            } else if (part < 0) {
                const std::string value = cut(word, '=');
                if (set(op, word, value) != dnnl_success) trouble += " attr:" + word;
            } else {
                const std::string rest = cut(word, '=');
                Port p = port(rest, std::stoul(word));
                (part ? dnnl_graph_op_add_output : dnnl_graph_op_add_input)(op, &p.lt);
            }
        }
        const auto s = dnnl_graph_add_op(graph, op);
        if (s != dnnl_success) trouble += " add_op:" + std::to_string(id) + ":" + std::to_string(s);
        dnnl_graph_op_destroy(op);
    }

    static std::string joined(const std::vector<size_t> &numbers) {
        std::string text;
        for (size_t n : numbers) text += (text.empty() ? "" : ",") + std::to_string(n);
        return text;
    }

    /// Prints `~5:7` where input 5 and output 7 may be the same memory, if the partition can be compiled.
    void in_place(dnnl_graph_partition_t p, std::vector<dnnl_graph_logical_tensor_t> &in, std::vector<dnnl_graph_logical_tensor_t> &out) {
        std::vector<const dnnl_graph_logical_tensor_t *> ins, outs;
        bool whole = true;
        for (auto &lt : in) {
            const auto found = known.find(lt.id);
            if (found != known.end()) lt = found->second;
            whole = whole && lt.ndims != DNNL_GRAPH_UNKNOWN_NDIMS;
            ins.push_back(&lt);
        }
        for (auto &lt : out) outs.push_back(&lt);
        dnnl_graph_compiled_partition_t compiled = nullptr;
        dnnl_graph_compiled_partition_create(&compiled, p);
        // It is compiled without asking what the sizes are, which oneDNN does not survive.
        if (whole && dnnl_graph_partition_compile(p, compiled, ins.size(), ins.data(), outs.size(), outs.data(), engine) == dnnl_success) {
            size_t n = 0;
            const dnnl_graph_inplace_pair_t *pairs = nullptr;
            dnnl_graph_compiled_partition_get_inplace_ports(compiled, &n, &pairs);
            for (size_t i = 0; i < n; ++i) std::printf("~%zu:%zu", pairs[i].input_id, pairs[i].output_id);
            for (const auto &lt : out) dnnl_graph_compiled_partition_query_logical_tensor(compiled, lt.id, &known[lt.id]);
        } else {
            std::printf("?");
        }
        dnnl_graph_compiled_partition_destroy(compiled);
    }

    void partition(dnnl_graph_partition_t p, bool later) {
        size_t n = 0;
        dnnl_graph_partition_get_op_num(p, &n);
        std::vector<size_t> ids(n);
        dnnl_graph_partition_get_ops(p, n, ids.data());
        std::sort(ids.begin(), ids.end());
        uint8_t supported = 0;
        dnnl_graph_partition_is_supported(p, &supported);
        std::printf("%s%s%s", later ? "|" : "", joined(ids).c_str(), supported ? "" : "!");
        if (ports) {
            std::vector<dnnl_graph_logical_tensor_t> all[2];
            dnnl_graph_partition_get_input_ports_num(p, &n);
            all[0].resize(n);
            dnnl_graph_partition_get_input_ports(p, n, all[0].data());
            dnnl_graph_partition_get_output_ports_num(p, &n);
            all[1].resize(n);
            dnnl_graph_partition_get_output_ports(p, n, all[1].data());
            for (int i = 0; i < 2; ++i) {
                std::vector<size_t> numbers;
                for (const auto &lt : all[i]) numbers.push_back(lt.id);
                std::printf("%c%s", i ? '>' : '<', joined(numbers).c_str());
            }
            in_place(p, all[0], all[1]);
        }
        dnnl_graph_partition_destroy(p);
    }

    void finish() {
        if (!graph) return;
        const auto s = dnnl_graph_graph_finalize(graph);
        if (s != dnnl_success) trouble += " finalize:" + std::to_string(s);
        size_t count = 0;
        if (s == dnnl_success && dnnl_graph_graph_filter(graph, dnnl_graph_partition_policy_fusion) == dnnl_success)
            dnnl_graph_graph_get_partition_num(graph, &count);
        std::vector<dnnl_graph_partition_t> partitions(count);
        if (count) dnnl_graph_graph_get_partitions(graph, count, partitions.data());
        std::printf("%s ", name.c_str());
        for (size_t g = 0; g < count; ++g) partition(partitions[g], g > 0);
        std::printf("%s\n", trouble.c_str());
        dnnl_graph_graph_destroy(graph);
        graph = nullptr;
    }
};

} // namespace

int main(int argc, char **) {
    std::setvbuf(stdout, nullptr, _IOLBF, 1 << 16);
    Graph graph;
    graph.ports = argc > 1;
    if (graph.ports) dnnl_engine_create(&graph.engine, dnnl_cpu, 0);
    for (std::string text; std::getline(std::cin, text);) {
        if (text.rfind("graph ", 0) == 0) {
            graph.begin(text.substr(6));
        } else if (!text.empty()) {
            graph.line(text);
        }
    }
    graph.finish();
    return 0;
}
