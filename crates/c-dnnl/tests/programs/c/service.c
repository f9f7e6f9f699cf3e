/* Version, engines, streams, and the settings of the whole library. */
#include "helpers.h"

static void version(void) {
    const dnnl_version_t *v = dnnl_version();
    CHECK(v == dnnl_version());
    EQUAL(v->major, 3);
    CHECK(v->minor >= 13);
    CHECK(v->hash && v->hash[0]);
    EQUAL(v->cpu_runtime, DNNL_RUNTIME_OMP);
    EQUAL(v->gpu_runtime, DNNL_RUNTIME_NONE);
}

static void engines(void) {
    EQUAL(dnnl_engine_get_count(dnnl_cpu), 1);
    EQUAL(dnnl_engine_get_count(dnnl_gpu), 0);
    EQUAL(dnnl_engine_get_count((dnnl_engine_kind_t)77), 0);
    dnnl_engine_t engine = NULL;
    INVALID(dnnl_engine_create(NULL, dnnl_cpu, 0));
    INVALID(dnnl_engine_create(&engine, dnnl_cpu, 1));
    INVALID(dnnl_engine_create(&engine, dnnl_gpu, 0));
    INVALID(dnnl_engine_create(&engine, (dnnl_engine_kind_t)77, 0));
    OK(dnnl_engine_create(&engine, dnnl_cpu, 0));
    dnnl_engine_kind_t kind = dnnl_any_engine;
    OK(dnnl_engine_get_kind(engine, &kind));
    EQUAL(kind, dnnl_cpu);
    GUARDED(dnnl_engine_get_kind(NULL, &kind));
    GUARDED(dnnl_engine_get_kind(engine, NULL));

    dnnl_stream_t stream = NULL;
    INVALID(dnnl_stream_create(NULL, engine, dnnl_stream_default_flags));
    INVALID(dnnl_stream_create(&stream, NULL, dnnl_stream_default_flags));
    OK(dnnl_stream_create(&stream, engine, dnnl_stream_out_of_order));
    OK(dnnl_stream_destroy(stream));
    OK(dnnl_stream_create(&stream, engine, dnnl_stream_default_flags));
    dnnl_engine_t of_stream = NULL;
    OK(dnnl_stream_get_engine(stream, &of_stream));
    CHECK(of_stream == engine);
    INVALID(dnnl_stream_get_engine(NULL, &of_stream));
    INVALID(dnnl_stream_get_engine(stream, NULL));
    OK(dnnl_stream_wait(stream));
    INVALID(dnnl_stream_wait(NULL));
    if (is_ours()) { /* oneDNN's engine ends before its streams only by mistake of the caller */
        OK(dnnl_engine_destroy(engine));
        OK(dnnl_stream_get_engine(stream, &of_stream));
        OK(dnnl_engine_get_kind(of_stream, &kind));
        EQUAL(kind, dnnl_cpu);
        OK(dnnl_stream_destroy(stream));
    } else {
        OK(dnnl_stream_destroy(stream));
        OK(dnnl_engine_destroy(engine));
    }
    OK(dnnl_stream_destroy(NULL));
    OK(dnnl_engine_destroy(NULL));
}

static void settings(void) {
    dnnl_fpmath_mode_t mode = dnnl_fpmath_mode_any;
    OK(dnnl_get_default_fpmath_mode(&mode));
    EQUAL(mode, dnnl_fpmath_mode_strict);
    INVALID(dnnl_get_default_fpmath_mode(NULL));
    INVALID(dnnl_set_default_fpmath_mode((dnnl_fpmath_mode_t)99));
    static const dnnl_fpmath_mode_t modes[] = {
            dnnl_fpmath_mode_bf16, dnnl_fpmath_mode_f16, dnnl_fpmath_mode_tf32, dnnl_fpmath_mode_any, dnnl_fpmath_mode_strict};
    for (int i = 0; i < COUNT_OF(modes); i++) {
        OK(dnnl_set_default_fpmath_mode(modes[i]));
        OK(dnnl_get_default_fpmath_mode(&mode));
        EQUAL(mode, modes[i]);
        dnnl_primitive_attr_t attr = NULL;
        OK(dnnl_primitive_attr_create(&attr));
        OK(dnnl_primitive_attr_get_fpmath_mode(attr, &mode));
        EQUAL(mode, modes[i]);
        OK(dnnl_primitive_attr_destroy(attr));
    }

    int capacity = -1;
    OK(dnnl_get_primitive_cache_capacity(&capacity));
    EQUAL(capacity, 1024);
    INVALID(dnnl_get_primitive_cache_capacity(NULL));
    INVALID(dnnl_set_primitive_cache_capacity(-1));
    OK(dnnl_set_primitive_cache_capacity(0));
    OK(dnnl_get_primitive_cache_capacity(&capacity));
    EQUAL(capacity, 0);
    OK(dnnl_set_primitive_cache_capacity(1024));

    INVALID(dnnl_set_verbose(-1));
    INVALID(dnnl_set_verbose(3));
    OK(dnnl_set_verbose(1));
    int profiling = -1;
    OK(dnnl_verbose_profiling_enabled(&profiling));
    CHECK(profiling != 0);
    OK(dnnl_set_verbose(0));
    OK(dnnl_verbose_profiling_enabled(&profiling));
    EQUAL(profiling, 0);
    INVALID(dnnl_verbose_profiling_enabled(NULL));

    OK(dnnl_set_jit_dump(1));
    OK(dnnl_set_jit_dump(0));
    OK(dnnl_set_jit_profiling_flags(DNNL_JIT_PROFILE_LINUX_PERFMAP));
    OK(dnnl_set_jit_profiling_flags(DNNL_JIT_PROFILE_NONE));
    OK(dnnl_set_jit_profiling_jitdumpdir("/tmp"));
    OK(dnnl_set_jit_profiling_jitdumpdir(NULL));
}

/* Once the instruction set has been asked for it is fixed. */
static void instruction_set(void) {
    dnnl_cpu_isa_t isa = dnnl_get_effective_cpu_isa();
    CHECK(isa != dnnl_cpu_isa_default);
    CHECK(dnnl_cpu_isa2str(isa) != NULL);
    INVALID(dnnl_set_max_cpu_isa(dnnl_cpu_isa_sse41));
    INVALID(dnnl_set_max_cpu_isa((dnnl_cpu_isa_t)12345));
    EQUAL(dnnl_get_effective_cpu_isa(), isa);
    EQUAL(dnnl_get_cpu_isa_hints(), dnnl_cpu_isa_no_hints);
    STATUS(dnnl_runtime_error, dnnl_set_cpu_isa_hints(dnnl_cpu_isa_prefer_ymm));
    EQUAL(dnnl_get_cpu_isa_hints(), dnnl_cpu_isa_no_hints);
}

static void data_types(void) {
    static const struct {
        dnnl_data_type_t type;
        size_t size;
    } sizes[] = {{dnnl_f16, 2}, {dnnl_bf16, 2}, {dnnl_f32, 4}, {dnnl_f64, 8}, {dnnl_s32, 4}, {dnnl_s64, 8}, {dnnl_s8, 1}, {dnnl_u8, 1},
            {dnnl_boolean, 1}, {dnnl_f8_e5m2, 1}, {dnnl_f8_e4m3, 1}, {dnnl_e8m0, 1}, {dnnl_s4, 1}, {dnnl_u4, 1}, {dnnl_f4_e2m1, 1},
            {dnnl_data_type_undef, (size_t)-1}};
    for (int i = 0; i < COUNT_OF(sizes); i++)
        EQUAL(dnnl_data_type_size(sizes[i].type), sizes[i].size);
}

void area_service(void) {
    version();
    engines();
    settings();
    data_types();
    instruction_set();
}

/* In a process of its own, because a maximum can be set only before the first question. */
void area_max_isa(void) {
    INVALID(dnnl_set_max_cpu_isa((dnnl_cpu_isa_t)12345));
    OK(dnnl_set_max_cpu_isa(dnnl_cpu_isa_avx2));
    OK(dnnl_set_cpu_isa_hints(dnnl_cpu_isa_prefer_ymm));
    EQUAL(dnnl_get_effective_cpu_isa(), dnnl_cpu_isa_avx2);
    EQUAL(dnnl_get_cpu_isa_hints(), dnnl_cpu_isa_prefer_ymm);
    INVALID(dnnl_set_max_cpu_isa(dnnl_cpu_isa_sse41));
    STATUS(dnnl_runtime_error, dnnl_set_cpu_isa_hints(dnnl_cpu_isa_no_hints));
    EQUAL(dnnl_get_effective_cpu_isa(), dnnl_cpu_isa_avx2);
}
