// A variable counts until its setting is first needed, whatever was asked for before.
#include <cstdlib>

#include "common.hpp"

void area_environment() {
    setenv("ONEDNN_MAX_CPU_ISA", "AVX2", 1);
    const cpu_isa isa = get_effective_cpu_isa();
    CHECK(isa == cpu_isa::avx2 || isa == cpu_isa::avx2_vnni || isa == cpu_isa::isa_default);
    setenv("DNNL_CPU_ISA_HINTS", "PREFER_YMM", 1);
    CHECK(get_cpu_isa_hints() == cpu_isa_hints::prefer_ymm);
    setenv("DNNL_PRIMITIVE_CACHE_CAPACITY", "7", 1);
    EQUAL(get_primitive_cache_capacity(), 7);
    setenv("ONEDNN_DEFAULT_FPMATH_MODE", "bf16", 1);
    CHECK(get_default_fpmath_mode() == fpmath_mode::bf16);
    setenv("ONEDNN_DEFAULT_FPMATH_MODE", "any", 1);
    CHECK(get_default_fpmath_mode() == fpmath_mode::bf16);
    set_default_fpmath_mode(fpmath_mode::strict);
    CHECK(get_default_fpmath_mode() == fpmath_mode::strict);
}
