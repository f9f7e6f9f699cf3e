// A program that knows oneDNN's public interface only: relu of four numbers.
#include <cstdio>
#include <vector>

#include "dnnl.hpp"

int main() {
    using namespace dnnl;
    engine cpu(engine::kind::cpu, 0);
    stream queue(cpu);
    std::vector<float> values = {-1.f, 2.f, -3.f, 4.f};
    memory::desc shape({4}, memory::data_type::f32, memory::format_tag::a);
    memory data(shape, cpu, values.data());
    eltwise_forward::primitive_desc relu(cpu, prop_kind::forward_inference, algorithm::eltwise_relu, shape, shape, 0.f);
    eltwise_forward(relu).execute(queue, {{DNNL_ARG_SRC, data}, {DNNL_ARG_DST, data}});
    queue.wait();
    const bool right = values == std::vector<float>({0.f, 2.f, 0.f, 4.f});
    const dnnl_version_t *v = dnnl_version();
    std::printf("%d.%d.%d %s: %s\n", v->major, v->minor, v->patch, relu.impl_info_str(), right ? "right" : "wrong");
    return right ? 0 : 1;
}
