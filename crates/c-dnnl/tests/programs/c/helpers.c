/* Engines, descriptors and memories for the areas of the C program. */
#include "helpers.h"

dnnl_engine_t the_engine(void) {
    static dnnl_engine_t engine;
    if (!engine && dnnl_engine_create(&engine, dnnl_cpu, 0) != dnnl_success) exit(3);
    return engine;
}

dnnl_stream_t the_stream(void) {
    static dnnl_stream_t stream;
    if (!stream && dnnl_stream_create(&stream, the_engine(), dnnl_stream_default_flags) != dnnl_success) exit(3);
    return stream;
}

dnnl_memory_desc_t tagged(int ndims, const dnnl_dim_t *dims, dnnl_data_type_t type, dnnl_format_tag_t tag) {
    dnnl_memory_desc_t desc = NULL;
    return dnnl_memory_desc_create_with_tag(&desc, ndims, dims, type, tag) == dnnl_success ? desc : NULL;
}

long long query_s32(const_dnnl_memory_desc_t desc, dnnl_query_t what) {
    int answer = -1;
    return dnnl_memory_desc_query(desc, what, &answer) == dnnl_success ? answer : -1;
}

long long query_s64(const_dnnl_memory_desc_t desc, dnnl_query_t what) {
    int64_t answer = -1;
    return dnnl_memory_desc_query(desc, what, &answer) == dnnl_success ? answer : -1;
}

const dnnl_dim_t *query_dims(const_dnnl_memory_desc_t desc, dnnl_query_t what) {
    const dnnl_dim_t *answer = NULL;
    return dnnl_memory_desc_query(desc, what, &answer) == dnnl_success ? answer : NULL;
}

bool same_dims(const dnnl_dim_t *got, const dnnl_dim_t *want, int count) {
    for (int i = 0; i < count; i++)
        if (!got || got[i] != want[i]) return false;
    return true;
}

dnnl_memory_t memory_of(const_dnnl_memory_desc_t desc) {
    dnnl_memory_t memory = NULL;
    OK(dnnl_memory_create(&memory, desc, the_engine(), DNNL_MEMORY_ALLOCATE));
    return memory;
}

float *floats(dnnl_memory_t memory) {
    void *data = NULL;
    OK(dnnl_memory_get_data_handle(memory, &data));
    return (float *)data;
}

dnnl_memory_t memory_with(const_dnnl_memory_desc_t desc, const float *values) {
    dnnl_memory_t memory = memory_of(desc);
    memcpy(floats(memory), values, dnnl_memory_desc_get_size(desc));
    return memory;
}

static void reorder_into(dnnl_memory_t source, dnnl_memory_t target) {
    const_dnnl_memory_desc_t from = NULL, to = NULL;
    OK(dnnl_memory_get_memory_desc(source, &from));
    OK(dnnl_memory_get_memory_desc(target, &to));
    dnnl_primitive_desc_t pd = NULL;
    dnnl_primitive_t reorder = NULL;
    OK(dnnl_reorder_primitive_desc_create(&pd, from, the_engine(), to, the_engine(), NULL));
    OK(dnnl_primitive_create(&reorder, pd));
    dnnl_exec_arg_t args[] = {{DNNL_ARG_FROM, source}, {DNNL_ARG_TO, target}};
    OK(dnnl_primitive_execute(reorder, the_stream(), 2, args));
    OK(dnnl_stream_wait(the_stream()));
    OK(dnnl_primitive_destroy(reorder));
    OK(dnnl_primitive_desc_destroy(pd));
}

dnnl_memory_t reordered(dnnl_memory_t source, const_dnnl_memory_desc_t desc) {
    const_dnnl_memory_desc_t from = NULL;
    OK(dnnl_memory_get_memory_desc(source, &from));
    if (dnnl_memory_desc_equal(from, desc)) return source;
    dnnl_memory_t target = memory_of(desc);
    reorder_into(source, target);
    return target;
}

float *dense_values(dnnl_memory_t memory) {
    const_dnnl_memory_desc_t desc = NULL;
    OK(dnnl_memory_get_memory_desc(memory, &desc));
    int ndims = (int)query_s32(desc, dnnl_query_ndims_s32);
    dnnl_memory_desc_t dense = NULL;
    OK(dnnl_memory_desc_create_with_strides(&dense, ndims, query_dims(desc, dnnl_query_dims), dnnl_f32, NULL));
    size_t size = dnnl_memory_desc_get_size(dense);
    float *values = calloc(1, size ? size : 1);
    dnnl_memory_t copy = NULL;
    OK(dnnl_memory_create(&copy, dense, the_engine(), values));
    reorder_into(memory, copy);
    OK(dnnl_memory_destroy(copy));
    OK(dnnl_memory_desc_destroy(dense));
    return values;
}

void fill(float *values, int count, int seed) {
    for (int i = 0; i < count; i++)
        values[i] = (float)((i * 37 + seed * 11) % 23 - 11) / 8.0f;
}
