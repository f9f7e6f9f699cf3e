// Symbols outside of the public headers that oneDNN's own test programs link with: tags as text, padding, the cache, types of numbers.
#include <dlfcn.h>

#include "common.hpp"

extern "C" {
dnnl_status_t dnnl_memory_desc_create_with_string_tag(dnnl_memory_desc_t *, int, const dnnl_dims_t, dnnl_data_type_t, const char *);
dnnl_status_t dnnl_memory_desc_set_data_type(dnnl_memory_desc_t, dnnl_data_type_t);
dnnl_status_t dnnl_impl_zero_pad(const dnnl_memory *, dnnl_stream *);
dnnl_status_t dnnl_gemm_bf16bf16f32(char, char, dnnl_dim_t, dnnl_dim_t, dnnl_dim_t, float, const uint16_t *, dnnl_dim_t, const uint16_t *,
        dnnl_dim_t, float, float *, dnnl_dim_t);
}
int dnnl_test_is_pd_in_cache(const dnnl_primitive_desc *);
int dnnl_test_is_primitive_in_cache(const dnnl_primitive *);
size_t dnnl_test_set_primitive_cache_capacity_without_clearing(size_t);

namespace dnnl {
namespace impl {
#define NUMBER(name, bits) \
    struct name { \
        bits raw; \
        name &operator=(float); \
        operator float() const; \
    };
NUMBER(bfloat16_t, uint16_t)
NUMBER(float8_e5m2_t, uint8_t)
NUMBER(float8_e4m3_t, uint8_t)
NUMBER(float8_e8m0_t, uint8_t)
NUMBER(float4_e2m1_t, uint8_t)
dnnl_status_t memory_desc_init_by_tag(dnnl_memory_desc &, int, const long *, dnnl_data_type_t, dnnl_format_tag_t);
namespace cpu {
namespace platform {
bool has_data_type_support(dnnl_data_type_t);
bool has_training_support(dnnl_data_type_t);
float s8s8_weights_scale_factor();
unsigned get_per_core_cache_size(int);
unsigned get_num_cores();
} // namespace platform
} // namespace cpu
} // namespace impl
} // namespace dnnl

namespace {

using namespace dnnl::impl;

// Any tag that the grammar knows, listed among the enumerators or not.
void tags_as_text() {
    const dnnl_dims_t d = {3, 20, 4, 5};
    struct {
        const char *text;
        tag listed;
    } rows[] = {{"abcd", tag::abcd}, {"acdb", tag::acdb}, {"aBcd16b", tag::aBcd16b}, {"ABcd16b16a4b", tag::ABcd16b16a4b}};
    for (const auto &r : rows) {
        dnnl_memory_desc_t m = nullptr;
        OK(dnnl_memory_desc_create_with_string_tag(&m, 4, d, dnnl_f32, r.text));
        CHECK(md(m) == md(dims {3, 20, 4, 5}, dt::f32, r.listed));
    }
    dnnl_memory_desc_t m = nullptr;
    OK(dnnl_memory_desc_create_with_string_tag(&m, 4, d, dnnl_f32, "dBca24b"));
    const md unlisted(m);
    CHECK((unlisted.get_padded_dims() == dims {3, 24, 4, 5}) && (unlisted.get_inner_blks() == dims {24}));
    CHECK((unlisted.get_strides() == dims {24, 288, 72, 288}) || unlisted.get_size() == 3 * 24 * 4 * 5 * 4);
    INVALID(dnnl_memory_desc_create_with_string_tag(&m, 3, d, dnnl_f32, "abcd"));
    INVALID(dnnl_memory_desc_create_with_string_tag(&m, 4, d, dnnl_f32, "aa"));
}

void descriptors() {
    md m({3, 20}, dt::f32, tag::ab);
    OK(dnnl_memory_desc_set_data_type(m.get(), dnnl_bf16));
    CHECK(m == md({3, 20}, dt::bf16, tag::ab));
    alignas(8) uint8_t record[768] = {0};
    const long d[] = {3, 20, 4, 5};
    OK(memory_desc_init_by_tag(*reinterpret_cast<dnnl_memory_desc *>(record), 4, d, dnnl_f32, dnnl_nchw));
    const md nchw({3, 20, 4, 5}, dt::f32, tag::nchw);
    EQUAL(dnnl_memory_desc_equal(reinterpret_cast<const dnnl_memory_desc *>(record), nchw.get()), 1);
    // Looked up, because a program that refers to data gets a copy, which lies as the library it was linked with says.
    const void *zero = dlsym(RTLD_DEFAULT, "_ZN4dnnl4impl12glob_zero_mdE");
    CHECK(zero != nullptr && dnnl_memory_desc_equal(static_cast<const dnnl_memory_desc *>(zero), md().get()) == 1);
}

// The padding becomes zero, the data stay.
void zero_pad() {
    const md desc({2, 5, 2, 2}, dt::f32, tag::nChw16c);
    memory m(desc, the_engine());
    auto *data = static_cast<float *>(m.get_data_handle());
    for (size_t i = 0; i < desc.get_size() / sizeof(float); i++)
        data[i] = 1;
    OK(dnnl_impl_zero_pad(m.get(), the_stream().get()));
    for (size_t i = 0; i < desc.get_size() / sizeof(float); i++)
        NEAR(data[i], i % 16 < 5 ? 1 : 0, 0);
}

void cache() {
    matmul::primitive_desc pd(the_engine(), plain({7, 11}), plain({11, 3}), plain({7, 3}));
    matmul first(pd);
    matmul::primitive_desc again(the_engine(), plain({7, 11}), plain({11, 3}), plain({7, 3}));
    matmul second(again);
    EQUAL(dnnl_test_is_pd_in_cache(again.get()), 1);
    EQUAL(dnnl_test_is_primitive_in_cache(second.get()), 1);
    const size_t before = size_t(get_primitive_cache_capacity());
    dnnl_test_set_primitive_cache_capacity_without_clearing(before);
    EQUAL(dnnl_test_is_primitive_in_cache(second.get()), 1);
}

void platform() {
    using namespace dnnl::impl::cpu::platform;
    CHECK(has_data_type_support(dnnl_f32) && has_data_type_support(dnnl_s8) && !has_data_type_support(dnnl_f64));
    CHECK(has_training_support(dnnl_f32));
    CHECK(s8s8_weights_scale_factor() == 1 || s8s8_weights_scale_factor() == 0.5f);
    CHECK(get_num_cores() >= 1 && get_per_core_cache_size(1) >= 8192 && get_per_core_cache_size(2) >= get_per_core_cache_size(1));
}

template <typename number>
void check_number(float value, unsigned raw, float rounded) {
    number n;
    n = value;
    EQUAL(n.raw, raw);
    NEAR(float(n), rounded, 0);
}

void numbers() {
    check_number<bfloat16_t>(1.0f, 0x3f80, 1.0f);
    check_number<bfloat16_t>(3.1415927f, 0x4049, 3.140625f);
    check_number<float8_e5m2_t>(1.0f, 0x3c, 1.0f);
    check_number<float8_e5m2_t>(-5.5f, 0xc6, -6.0f);
    check_number<float8_e4m3_t>(1.0f, 0x38, 1.0f);
    check_number<float8_e4m3_t>(0.3f, 0x2a, 0.3125f);
    check_number<float8_e8m0_t>(8.0f, 130, 8.0f);
    check_number<float4_e2m1_t>(1.5f, 3, 1.5f);
    check_number<float4_e2m1_t>(-6.0f, 15, -6.0f);
    bfloat16_t nan;
    nan = NAN;
    CHECK(std::isnan(float(nan)));
}

void bf16_product() {
    std::vector<uint16_t> a(12), b(20);
    values want(15, 0);
    auto of = [](int v) {
        bfloat16_t n;
        n = float(v);
        return n.raw;
    };
    for (int i = 0; i < 12; i++)
        a[i] = of(i - 5);
    for (int i = 0; i < 20; i++)
        b[i] = of(3 - i);
    for (int m = 0; m < 3; m++)
        for (int n = 0; n < 5; n++)
            for (int k = 0; k < 4; k++)
                want[m * 5 + n] += double(m * 4 + k - 5) * (3 - (k * 5 + n));
    std::vector<float> c(15, 0);
    dnnl_status_t status = dnnl_gemm_bf16bf16f32('N', 'N', 3, 5, 4, 1, a.data(), 4, b.data(), 5, 0, c.data(), 5);
    OK(status);
    NEAR_ALL(values(c.begin(), c.end()), want, 1e-5, "bf16 product");
}

} // namespace

void area_internals() {
    tags_as_text();
    descriptors();
    zero_pad();
    cache();
    platform();
    numbers();
    bf16_product();
}
