// Runs graph operations given as lines on the standard input through the C API, each as a partition of its own, and prints what came out.
//
//   kind attribute=value.. : input.. : output..        input: dtype:dims[/strides][#fill][@property]
//
// `dims` is 2x3, empty for a scalar, `?` for an unknown rank, `?3` for three unknown sizes; `/any` leaves the layout open. Fills: r (numbers
// around zero, the default), p (positive), i (small integers), b (0 or 1), cV (all V). The same numbers come on every machine and library.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "oneapi/dnnl/dnnl_graph.h"

namespace {

const char *KINDS[] = {
    "abs", "abs_backward", "add", "avg_pool", "avg_pool_backward", "batch_norm_backward", "batch_norm_forward_training",
    "batch_norm_inference", "bias_add", "bias_add_backward", "clamp", "clamp_backward", "concat", "convolution",
    "convolution_backward_data", "convolution_backward_weights", "conv_transpose", "conv_transpose_backward_data",
    "conv_transpose_backward_weights", "dequantize", "divide", "dynamic_dequantize", "dynamic_quantize", "elu", "elu_backward",
    "end", "exp", "gelu", "gelu_backward", "hard_swish", "hard_swish_backward", "interpolate", "interpolate_backward",
    "layer_norm", "layer_norm_backward", "leaky_relu", "log", "log_softmax", "log_softmax_backward", "matmul", "maximum",
    "max_pool", "max_pool_backward", "minimum", "mish", "mish_backward", "multiply", "prelu", "prelu_backward", "quantize",
    "reciprocal", "reduce_l1", "reduce_l2", "reduce_max", "reduce_mean", "reduce_min", "reduce_prod", "reduce_sum", "relu",
    "relu_backward", "reorder", "round", "sigmoid", "sigmoid_backward", "softmax", "softmax_backward", "softplus",
    "softplus_backward", "sqrt", "sqrt_backward", "square", "squared_difference", "static_reshape", "static_transpose",
    "subtract", "tanh", "tanh_backward", "type_cast", "wildcard", "hard_sigmoid", "hard_sigmoid_backward", "select", "pow",
    "group_norm", "gen_index", "greater_equal", "rms_norm", "dropout"};

const std::map<std::string, dnnl_graph_op_attr_t> ATTRS = {
    {"alpha", dnnl_graph_op_attr_alpha}, {"beta", dnnl_graph_op_attr_beta}, {"epsilon", dnnl_graph_op_attr_epsilon}, {"max",
    dnnl_graph_op_attr_max}, {"min", dnnl_graph_op_attr_min}, {"momentum", dnnl_graph_op_attr_momentum}, {"scales",
    dnnl_graph_op_attr_scales}, {"axis", dnnl_graph_op_attr_axis}, {"begin_norm_axis", dnnl_graph_op_attr_begin_norm_axis},
    {"groups", dnnl_graph_op_attr_groups}, {"axes", dnnl_graph_op_attr_axes}, {"dilations", dnnl_graph_op_attr_dilations},
    {"dst_shape", dnnl_graph_op_attr_dst_shape}, {"kernel", dnnl_graph_op_attr_kernel}, {"order", dnnl_graph_op_attr_order},
    {"output_padding", dnnl_graph_op_attr_output_padding}, {"pads_begin", dnnl_graph_op_attr_pads_begin}, {"pads_end",
    dnnl_graph_op_attr_pads_end}, {"shape", dnnl_graph_op_attr_shape}, {"sizes", dnnl_graph_op_attr_sizes}, {"src_shape",
    dnnl_graph_op_attr_src_shape}, {"strides", dnnl_graph_op_attr_strides}, {"weights_shape", dnnl_graph_op_attr_weights_shape},
    {"zps", dnnl_graph_op_attr_zps}, {"group_shape", dnnl_graph_op_attr_group_shape}, {"exclude_pad",
    dnnl_graph_op_attr_exclude_pad}, {"keep_dims", dnnl_graph_op_attr_keep_dims}, {"keep_stats", dnnl_graph_op_attr_keep_stats},
    {"per_channel_broadcast", dnnl_graph_op_attr_per_channel_broadcast}, {"special_zero", dnnl_graph_op_attr_special_zero},
    {"transpose_a", dnnl_graph_op_attr_transpose_a}, {"transpose_b", dnnl_graph_op_attr_transpose_b}, {"use_affine",
    dnnl_graph_op_attr_use_affine}, {"use_dst", dnnl_graph_op_attr_use_dst}, {"auto_broadcast",
    dnnl_graph_op_attr_auto_broadcast}, {"auto_pad", dnnl_graph_op_attr_auto_pad}, {"coordinate_transformation_mode",
    dnnl_graph_op_attr_coordinate_transformation_mode}, {"data_format", dnnl_graph_op_attr_data_format}, {"mode",
    dnnl_graph_op_attr_mode}, {"qtype", dnnl_graph_op_attr_qtype}, {"rounding_type", dnnl_graph_op_attr_rounding_type},
    {"weights_format", dnnl_graph_op_attr_weights_format}, {"accumulation_mode", dnnl_graph_op_attr_accumulation_mode}};

const std::map<std::string, dnnl_data_type_t> TYPES = {{"undef", dnnl_data_type_undef}, {"f32", dnnl_f32}, {"bf16", dnnl_bf16},
    {"f16", dnnl_f16}, {"s32", dnnl_s32}, {"s8", dnnl_s8}, {"u8", dnnl_u8}, {"s64", dnnl_s64}, {"boolean", dnnl_boolean},
    {"f8_e4m3", dnnl_f8_e4m3}, {"f8_e5m2", dnnl_f8_e5m2}, {"s4", dnnl_s4}, {"u4", dnnl_u4}};

struct Port {
    dnnl_graph_logical_tensor_t lt;
    std::string fill;
};

std::vector<int64_t> numbers(const std::string &text, char separator) {
    std::vector<int64_t> out;
    std::stringstream in(text);
    for (std::string word; std::getline(in, word, separator);)
        if (!word.empty()) out.push_back(std::stoll(word));
    return out;
}

// Cuts what follows `mark` off `text`.
std::string cut(std::string &text, char mark) {
    size_t at = text.find(mark);
    if (at == std::string::npos) return "";
    std::string tail = text.substr(at + 1);
    text.resize(at);
    return tail;
}

Port port(std::string text, size_t id) {
    Port p;
    const std::string property = cut(text, '@');
    p.fill = cut(text, '#');
    const std::string layout = cut(text, '/');
    const std::string dims = cut(text, ':');
    const dnnl_data_type_t type = TYPES.at(text);
    const auto prop = property == "constant" ? dnnl_graph_tensor_property_constant
            : property == "host"             ? dnnl_graph_tensor_property_host_scalar
                                             : dnnl_graph_tensor_property_undef;
    const auto kind = layout == "any" ? dnnl_graph_layout_type_any : dnnl_graph_layout_type_strided;
    dnnl_status_t s;
    if (!dims.empty() && dims[0] == '?') {
        s = dnnl_graph_logical_tensor_init(&p.lt, id, type, dims.size() > 1 ? std::stoi(dims.substr(1)) : -1, kind, prop);
    } else {
        const auto d = numbers(dims, 'x');
        const auto strides = layout == "any" ? std::vector<int64_t>() : numbers(layout, 'x');
        s = strides.empty() ? dnnl_graph_logical_tensor_init_with_dims(&p.lt, id, type, (int)d.size(), d.data(), kind, prop)
                            : dnnl_graph_logical_tensor_init_with_strides(&p.lt, id, type, (int)d.size(), d.data(), strides.data(), prop);
    }
    if (s != dnnl_success) std::printf("status init %d\n", s);
    return p;
}

dnnl_status_t set(dnnl_graph_op_t op, const std::string &name, const std::string &value) {
    const auto attr = ATTRS.at(name);
    if (attr < 0x20) {
        const float v = std::stof(value);
        return dnnl_graph_op_set_attr_f32(op, attr, &v, 0);
    } else if (attr < 0x30) {
        std::vector<float> v;
        std::stringstream in(value);
        for (std::string word; std::getline(in, word, ',');)
            v.push_back(std::stof(word));
        return dnnl_graph_op_set_attr_f32(op, attr, v.data(), v.size());
    } else if (attr < 0x40) {
        const int64_t v = std::stoll(value);
        return dnnl_graph_op_set_attr_s64(op, attr, &v, 0);
    } else if (attr < 0x60) {
        const auto v = numbers(value, ',');
        return dnnl_graph_op_set_attr_s64(op, attr, v.data(), v.size());
    } else if (attr < 0x80) {
        const uint8_t v = value == "1";
        return dnnl_graph_op_set_attr_bool(op, attr, &v, 1);
    }
    return dnnl_graph_op_set_attr_str(op, attr, value.c_str(), value.size());
}

int bits(dnnl_data_type_t type) {
    switch (type) {
        case dnnl_f32:
        case dnnl_s32: return 32;
        case dnnl_s64: return 64;
        case dnnl_f16:
        case dnnl_bf16: return 16;
        case dnnl_s4:
        case dnnl_u4: return 4;
        default: return 8;
    }
}

float half(uint16_t h) {
    const int exponent = h >> 10 & 31, mantissa = h & 1023;
    const float m = exponent == 31 ? (mantissa ? NAN : INFINITY)
            : exponent             ? std::ldexp(1.f + mantissa / 1024.f, exponent - 15)
                                   : std::ldexp((float)mantissa, -24);
    return h & 0x8000 ? -m : m;
}

// A small float of `mantissa` bits behind a sign and five or four exponent bits.
float eighth(uint8_t b, bool e5m2) {
    if (e5m2) return half((uint16_t)(b << 8));
    const int exponent = b >> 3 & 15, mantissa = b & 7;
    if (exponent == 15 && mantissa == 7) return NAN;
    const float m = exponent ? std::ldexp(1.f + mantissa / 8.f, exponent - 7) : std::ldexp((float)mantissa, -9);
    return b & 0x80 ? -m : m;
}

double load(dnnl_data_type_t type, const uint8_t *data, size_t i) {
    uint16_t h;
    switch (type) {
        case dnnl_f32: { float v; std::memcpy(&v, data + 4 * i, 4); return v; }
        case dnnl_s32: { int32_t v; std::memcpy(&v, data + 4 * i, 4); return v; }
        case dnnl_bf16: {
            uint32_t w = 0;
            std::memcpy((char *)&w + 2, data + 2 * i, 2);
            float v;
            std::memcpy(&v, &w, 4);
            return v;
        }
        case dnnl_f16: std::memcpy(&h, data + 2 * i, 2); return half(h);
        case dnnl_f8_e5m2: return eighth(data[i], true);
        case dnnl_f8_e4m3: return eighth(data[i], false);
        case dnnl_s8: return (int8_t)data[i];
        default: return data[i];
    }
}

// Numbers that every type used here holds exactly, so that no conversion is needed but the obvious.
void store(dnnl_data_type_t type, uint8_t *data, size_t i, double v) {
    const float f = (float)v;
    uint32_t w;
    std::memcpy(&w, &f, 4);
    switch (type) {
        case dnnl_f32: std::memcpy(data + 4 * i, &f, 4); break;
        case dnnl_bf16: std::memcpy(data + 2 * i, (char *)&w + 2, 2); break;
        case dnnl_f16: {
            const int exponent = (int)(w >> 23 & 255) - 112;
            const uint16_t h = (uint16_t)(w >> 16 & 0x8000) | (exponent > 0 ? (uint16_t)(exponent << 10 | (w >> 13 & 1023)) : 0);
            std::memcpy(data + 2 * i, &h, 2);
            break;
        }
        case dnnl_s32: { const int32_t s = (int32_t)v; std::memcpy(data + 4 * i, &s, 4); break; }
        case dnnl_s64: { const int64_t s = (int64_t)v; std::memcpy(data + 8 * i, &s, 8); break; }
        case dnnl_s4:
        case dnnl_u4: data[i / 2] = (uint8_t)(i % 2 ? (data[i / 2] & 15) | ((int)v & 15) << 4 : (data[i / 2] & 240) | ((int)v & 15)); break;
        case dnnl_f8_e5m2: {
            uint16_t h = 0;
            store(dnnl_f16, (uint8_t *)&h, 0, v);
            data[i] = (uint8_t)(h >> 8);
            break;
        }
        case dnnl_f8_e4m3: {
            const int exponent = (int)(w >> 23 & 255) - 120;
            data[i] = (uint8_t)((w >> 24 & 0x80) | (exponent > 0 ? exponent << 3 | (w >> 20 & 7) : 0));
            break;
        }
        default: data[i] = (uint8_t)(int)v;
    }
}

size_t extent(const dnnl_graph_logical_tensor_t &lt) {
    size_t n = 1;
    for (int d = 0; d < lt.ndims; ++d)
        if (lt.dims[d] <= 0) return 0;
        else n += (size_t)(lt.dims[d] - 1) * (size_t)lt.layout.strides[d];
    return n;
}

void fill(const Port &p, std::vector<uint8_t> &data) {
    uint32_t state = (uint32_t)(p.lt.id * 7919 + 12345);
    const char how = p.fill.empty() ? 'r' : p.fill[0];
    for (size_t i = 0; i < data.size() * 8 / (size_t)bits(p.lt.data_type); ++i) {
        state = state * 1664525u + 1013904223u;
        const int r = (int)(state >> 24 & 31) - 16; // -16..15
        double v = r / 8.0;
        const bool integral = p.lt.data_type == dnnl_s8 || p.lt.data_type == dnnl_s32 || p.lt.data_type == dnnl_s4;
        const bool natural = p.lt.data_type == dnnl_u8 || p.lt.data_type == dnnl_u4;
        if (integral) v = r / 2;
        if (natural) v = (r + 16) / 2;
        if (how == 'p') v = (r + 17) / 8.0;
        if (how == 'i') v = r / 4;
        if (how == 'b' || p.lt.data_type == dnnl_boolean) v = r > 0;
        if (how == 'c') v = std::stod(p.fill.substr(1));
        store(p.lt.data_type, data.data(), i, v);
    }
}

void print(int index, const dnnl_graph_logical_tensor_t &lt, const std::vector<uint8_t> &data) {
    std::printf("out %d", index);
    for (const auto &type : TYPES)
        if (type.second == lt.data_type) std::printf(" %s", type.first.c_str());
    std::printf(" dims");
    size_t n = 1;
    for (int d = 0; d < lt.ndims; ++d) {
        std::printf(" %ld", (long)lt.dims[d]);
        n *= (size_t)lt.dims[d];
    }
    std::printf(" strides");
    for (int d = 0; d < lt.ndims; ++d)
        std::printf(" %ld", (long)lt.layout.strides[d]);
    std::printf(" values");
    for (size_t i = 0; i < n; ++i) {
        size_t rest = i, at = 0;
        for (int d = lt.ndims - 1; d >= 0; --d) {
            at += rest % (size_t)lt.dims[d] * (size_t)lt.layout.strides[d];
            rest /= (size_t)lt.dims[d];
        }
        std::printf(" %.9g", load(lt.data_type, data.data(), at));
    }
    std::printf("\n");
}

struct Run {
    dnnl_engine_t engine;
    dnnl_stream_t stream;

    bool failed(const char *stage, dnnl_status_t s) {
        if (s != dnnl_success) std::printf("status %s %d\n", stage, s);
        return s != dnnl_success;
    }

    void execute(dnnl_graph_partition_t partition, std::vector<Port> &ins, std::vector<Port> &outs) {
        std::vector<const dnnl_graph_logical_tensor_t *> in, out;
        for (auto &p : ins)
            in.push_back(&p.lt);
        for (auto &p : outs)
            out.push_back(&p.lt);
        dnnl_graph_compiled_partition_t compiled;
        dnnl_graph_compiled_partition_create(&compiled, partition);
        if (!failed("compile", dnnl_graph_partition_compile(partition, compiled, in.size(), in.data(), out.size(), out.data(), engine))) {
            compute(compiled, ins, outs);
        }
        dnnl_graph_compiled_partition_destroy(compiled);
    }

    void compute(dnnl_graph_compiled_partition_t compiled, std::vector<Port> &ins, std::vector<Port> &outs) {
        std::vector<std::vector<uint8_t>> data;
        std::vector<const_dnnl_graph_tensor_t> in, out;
        for (size_t i = 0; i < ins.size() + outs.size(); ++i) {
            Port &p = i < ins.size() ? ins[i] : outs[i - ins.size()];
            if (i >= ins.size()) {
                failed("query", dnnl_graph_compiled_partition_query_logical_tensor(compiled, p.lt.id, &p.lt));
            }
            data.emplace_back((extent(p.lt) * (size_t)bits(p.lt.data_type) + 7) / 8 + 1, (uint8_t)0);
            if (i < ins.size()) fill(p, data.back());
            dnnl_graph_tensor_t t;
            const bool scalar = p.lt.property == dnnl_graph_tensor_property_host_scalar;
            failed("tensor", scalar ? dnnl_graph_tensor_create_scalar(&t, &p.lt, data.back().data())
                                    : dnnl_graph_tensor_create(&t, &p.lt, engine, data.back().data()));
            (i < ins.size() ? in : out).push_back(t);
        }
        const auto s = dnnl_graph_compiled_partition_execute(compiled, stream, in.size(), in.data(), out.size(), out.data());
        if (!failed("execute", s))
            for (size_t i = 0; i < outs.size(); ++i)
                print((int)i, outs[i].lt, data[ins.size() + i]);
        for (auto &list : {in, out})
            for (auto t : list)
                dnnl_graph_tensor_destroy(const_cast<dnnl_graph_tensor_t>(t));
    }

    void line(const std::string &text) {
        std::stringstream in(text);
        std::string word;
        in >> word;
        int kind = 0;
        while (word != KINDS[kind])
            ++kind;
        dnnl_graph_op_t op;
        dnnl_graph_op_create(&op, 1, (dnnl_graph_op_kind_t)kind, word.c_str());
        std::vector<Port> ports[2];
        for (int part = -1; in >> word;) {
            if (word == ":") {
                ++part;
            } else if (part < 0) {
                const std::string value = cut(word, '=');
                failed("attr", set(op, word, value));
            } else {
                ports[part].push_back(port(word, ports[0].size() + ports[1].size()));
                failed("add", (part ? dnnl_graph_op_add_output : dnnl_graph_op_add_input)(op, &ports[part].back().lt));
            }
        }
        dnnl_graph_graph_t graph;
        dnnl_graph_graph_create(&graph, dnnl_cpu);
        if (!failed("add_op", dnnl_graph_add_op(graph, op)) && !failed("finalize", dnnl_graph_graph_finalize(graph))
                && !failed("filter", dnnl_graph_graph_filter(graph, dnnl_graph_partition_policy_fusion))) {
            size_t count = 0;
            dnnl_graph_graph_get_partition_num(graph, &count);
            std::vector<dnnl_graph_partition_t> partitions(count);
            dnnl_graph_graph_get_partitions(graph, count, partitions.data());
            for (auto p : partitions) {
                uint8_t supported = 0;
                dnnl_graph_partition_is_supported(p, &supported);
                std::printf("supported %d\n", supported);
                if (supported) execute(p, ports[0], ports[1]);
                dnnl_graph_partition_destroy(p);
            }
        }
        dnnl_graph_graph_destroy(graph);
        dnnl_graph_op_destroy(op);
    }
};

} // namespace

int main() {
    Run run;
    dnnl_engine_create(&run.engine, dnnl_cpu, 0);
    dnnl_stream_create(&run.stream, run.engine, dnnl_stream_default_flags);
    for (std::string text; std::getline(std::cin, text);) {
        if (text.empty() || text[0] == '#') continue;
        std::printf("case %s\n", text.c_str());
        run.line(text);
        std::fflush(stdout);
    }
    dnnl_stream_destroy(run.stream);
    dnnl_engine_destroy(run.engine);
    return 0;
}
