/* The 19 functions of dnnl_debug.h: values as text. */
#include "helpers.h"

static void texts(void) {
    TEXT(dnnl_status2str(dnnl_success), "success");
    TEXT(dnnl_status2str(dnnl_invalid_arguments), "invalid_arguments");
    TEXT(dnnl_status2str(dnnl_invalid_data_type), "invalid_data_type");
    TEXT(dnnl_dt2str(dnnl_data_type_undef), "undef");
    TEXT(dnnl_dt2str(dnnl_bf16), "bf16");
    TEXT(dnnl_dt2str(dnnl_f4_e2m1), "f4_e2m1");
    TEXT(dnnl_fpmath_mode2str(dnnl_fpmath_mode_tf32), "tf32");
    TEXT(dnnl_accumulation_mode2str(dnnl_accumulation_mode_relaxed), "relaxed");
    TEXT(dnnl_engine_kind2str(dnnl_cpu), "cpu");
    TEXT(dnnl_engine_kind2str(dnnl_any_engine), "any");
    TEXT(dnnl_fmt_kind2str(dnnl_blocked), "blocked");
    TEXT(dnnl_fmt_kind2str(dnnl_format_kind_any), "any");
    TEXT(dnnl_sparse_encoding2str(dnnl_csr), "csr");
    TEXT(dnnl_prop_kind2str(dnnl_forward_training), "forward_training");
    TEXT(dnnl_prop_kind2str(dnnl_backward_weights), "backward_weights");
    TEXT(dnnl_prim_kind2str(dnnl_group_normalization), "group_normalization");
    TEXT(dnnl_prim_kind2str(dnnl_undefined_primitive), "undef");
    TEXT(dnnl_alg_kind2str(dnnl_eltwise_gelu_erf), "eltwise_gelu_erf");
    TEXT(dnnl_alg_kind2str(dnnl_binary_select), "binary_select");
    TEXT(dnnl_alg_kind2str(dnnl_vanilla_lstm), "vanilla_lstm");
    TEXT(dnnl_rnn_flags2str(dnnl_rnn_flags_undef), "undef");
    TEXT(dnnl_rnn_flags2str(dnnl_rnn_flags_diff_weights_overwrite), "rnn_flags_diff_weights_overwrite");
    TEXT(dnnl_rnn_direction2str(dnnl_bidirectional_sum), "bidirectional_sum");
    TEXT(dnnl_scratchpad_mode2str(dnnl_scratchpad_mode_user), "user");
    TEXT(dnnl_rounding_mode2str(dnnl_rounding_mode_stochastic), "stochastic");
    TEXT(dnnl_quantization_mode2str(dnnl_quantization_mode_dynamic_mx), "dynamic_mx");
    TEXT(dnnl_cpu_isa2str(dnnl_cpu_isa_avx2), "cpu_isa_avx2");
    TEXT(dnnl_cpu_isa_hints2str(dnnl_cpu_isa_prefer_ymm), "cpu_isa_prefer_ymm");
    TEXT(dnnl_runtime2str(DNNL_RUNTIME_OMP), "OpenMP");
    TEXT(dnnl_runtime2str(DNNL_RUNTIME_THREADPOOL), "threadpool");
    TEXT(dnnl_fmt_tag2str(dnnl_format_tag_undef), "undef");
    TEXT(dnnl_fmt_tag2str(dnnl_format_tag_any), "any");
    TEXT(dnnl_fmt_tag2str(dnnl_nChw16c), "aBcd16b");
}

/* Numbers without a name answer too. */
static void unknown(void) {
    TEXT(dnnl_dt2str((dnnl_data_type_t)999), "unknown dt");
    TEXT(dnnl_status2str((dnnl_status_t)999), "unknown status");
    TEXT(dnnl_fmt_tag2str((dnnl_format_tag_t)99999), "unknown fmt_tag");
    TEXT(dnnl_alg_kind2str((dnnl_alg_kind_t)99999), "unknown alg_kind");
    TEXT(dnnl_runtime2str(12345), "unknown");
}

/* Every tag has a name of its own. */
static void tags(void) {
    for (int tag = 0; tag + 1 < dnnl_format_tag_last; tag++) {
        const char *name = dnnl_fmt_tag2str((dnnl_format_tag_t)tag), *next = dnnl_fmt_tag2str((dnnl_format_tag_t)(tag + 1));
        CHECK(name && next && name[0] && strcmp(name, next) != 0);
    }
}

void area_names(void) {
    texts();
    unknown();
    tags();
}
