// Says which partitions oneDNN makes of graphs: for the lines of `Net::lines`, a graph behind each line `graph NAME`, prints the name and the
// numbers of the operations of each partition, `0,1|2`. Compiled as ops.cpp is, with which it shares how tensors are written.
#define main ops_main
#include "../ops.cpp"
#undef main
#include <algorithm>

namespace {

struct Graph {
    dnnl_graph_graph_t graph = nullptr;
    std::string name, trouble;

    void begin(const std::string &title) {
        finish();
        name = title;
        trouble.clear();
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

    void finish() {
        if (!graph) return;
        const auto s = dnnl_graph_graph_finalize(graph);
        if (s != dnnl_success) trouble += " finalize:" + std::to_string(s);
        std::vector<std::vector<size_t>> groups;
        size_t count = 0;
        if (s == dnnl_success && dnnl_graph_graph_filter(graph, dnnl_graph_partition_policy_fusion) == dnnl_success)
            dnnl_graph_graph_get_partition_num(graph, &count);
        std::vector<dnnl_graph_partition_t> partitions(count);
        if (count) dnnl_graph_graph_get_partitions(graph, count, partitions.data());
        for (auto p : partitions) {
            size_t n = 0;
            dnnl_graph_partition_get_op_num(p, &n);
            std::vector<size_t> ids(n);
            dnnl_graph_partition_get_ops(p, n, ids.data());
            std::sort(ids.begin(), ids.end());
            groups.push_back(ids);
            dnnl_graph_partition_destroy(p);
        }
        std::sort(groups.begin(), groups.end());
        std::printf("%s ", name.c_str());
        for (size_t g = 0; g < groups.size(); ++g)
            for (size_t i = 0; i < groups[g].size(); ++i)
                std::printf("%s%zu", i ? "," : g ? "|" : "", groups[g][i]);
        std::printf("%s\n", trouble.c_str());
        dnnl_graph_graph_destroy(graph);
        graph = nullptr;
    }
};

} // namespace

int main() {
    Graph graph;
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
