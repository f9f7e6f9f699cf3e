//! Numbers of the headers against the tables of `oxidnn-c-common` and of the specification.

use super::facts::Facts;
use oxidnn_c_common::{names, numbers, records};
use oxidnn_spec::{Arg, MAX_NDIMS, RUNTIME};
use std::collections::BTreeMap;
use std::mem::{offset_of, size_of};

/// Enumerations whose names a function of the library tells: the type, and the function.
const NAMED: &[(&str, &str)] = &[
    ("dnnl_accumulation_mode_t", "accumulation_mode"),
    ("dnnl_alg_kind_t", "alg_kind"),
    ("dnnl_cpu_isa_hints_t", "cpu_isa_hints"),
    ("dnnl_cpu_isa_t", "cpu_isa"),
    ("dnnl_data_type_t", "dt"),
    ("dnnl_engine_kind_t", "engine_kind"),
    ("dnnl_format_kind_t", "fmt_kind"),
    ("dnnl_format_tag_t", "fmt_tag"),
    ("dnnl_fpmath_mode_t", "fpmath_mode"),
    ("dnnl_primitive_kind_t", "prim_kind"),
    ("dnnl_prop_kind_t", "prop_kind"),
    ("dnnl_quantization_mode_t", "quantization_mode"),
    ("dnnl_rnn_direction_t", "rnn_direction"),
    ("dnnl_rnn_flags_t", "rnn_flags"),
    ("dnnl_rounding_mode_t", "rounding_mode"),
    ("dnnl_scratchpad_mode_t", "scratchpad_mode"),
    ("dnnl_sparse_encoding_t", "sparse_encoding"),
    ("dnnl_status_t", "status"),
];

/// Enumerators that oneDNN itself calls by no part of their names.
const RENAMED: &[(&str, &str)] = &[
    ("dnnl_any_engine", "any"),
    ("dnnl_undefined_primitive", "undef"),
    ("dnnl_format_kind_opaque", "unknown fmt_kind"),
    ("dnnl_format_kind_host_scalar", "unknown fmt_kind"),
];

/// Every number of the headers that has a name is called so by the library.
pub(super) fn enumerators(facts: &Facts) -> Vec<String> {
    let mut wrong = Vec::new();
    for (kind, function) in NAMED {
        let mut by_value: BTreeMap<i64, Vec<&str>> = BTreeMap::new();
        for ((_, name), value) in facts.enumerators.iter().filter(|((k, _), _)| k == kind) {
            by_value.entry(*value).or_default().push(name);
        }
        if by_value.is_empty() {
            wrong.push(format!("{kind}: not in the headers"));
        }
        for (value, headers) in by_value {
            let ours = i32::try_from(value).map(|v| names::name(function, v).to_string_lossy()).unwrap_or_default();
            // Names are told without their beginning, more or less of it.
            let agrees = |name: &&str| name.strip_suffix(&*ours).is_some_and(|n| n.ends_with('_')) || RENAMED.contains(&(name, &ours));
            if !headers.iter().any(agrees) {
                wrong.push(format!("{kind}: {value} is {} in the headers, `{ours}` here", headers.join(" = ")));
            }
        }
    }
    wrong
}

/// Constants of the headers that our types carry as numbers.
const CONSTANTS: &[(&str, i64)] = &[
    ("dnnl_cpu", numbers::CPU as i64),
    ("dnnl_gpu", numbers::GPU as i64),
    ("dnnl_stream_in_order", numbers::IN_ORDER as i64),
    ("dnnl_stream_out_of_order", numbers::OUT_OF_ORDER as i64),
    ("dnnl_format_tag_undef", numbers::TAG_UNDEF as i64),
    ("dnnl_format_tag_any", numbers::TAG_ANY as i64),
    ("dnnl_format_kind_undef", records::format_kind::UNDEF as i64),
    ("dnnl_format_kind_any", records::format_kind::ANY as i64),
    ("dnnl_blocked", records::format_kind::BLOCKED as i64),
    ("dnnl_format_kind_opaque", records::format_kind::OPAQUE as i64),
    ("dnnl_format_kind_sparse", records::format_kind::SPARSE as i64),
    ("dnnl_format_kind_host_scalar", records::format_kind::HOST_SCALAR as i64),
    ("dnnl_csr", records::encoding::CSR as i64),
    ("dnnl_packed", records::encoding::PACKED as i64),
    ("dnnl_coo", records::encoding::COO as i64),
    ("DNNL_RUNTIME_NONE", records::runtime::NONE as i64),
    ("DNNL_RUNTIME_OMP", records::runtime::OMP as i64),
    ("DNNL_RUNTIME_THREADPOOL", records::runtime::THREADPOOL as i64),
    ("DNNL_MAX_NDIMS", MAX_NDIMS as i64),
    ("DNNL_RUNTIME_DIM_VAL", RUNTIME),
    ("DNNL_ARG_SRC", Arg::SRC.0 as i64),
    ("DNNL_ARG_SRC_1", Arg::SRC_1.0 as i64),
    ("DNNL_ARG_SRC_2", Arg::SRC_2.0 as i64),
    ("DNNL_ARG_DST", Arg::DST.0 as i64),
    ("DNNL_ARG_DST_1", Arg::DST_1.0 as i64),
    ("DNNL_ARG_DST_2", Arg::DST_2.0 as i64),
    ("DNNL_ARG_WEIGHTS", Arg::WEIGHTS.0 as i64),
    ("DNNL_ARG_BIAS", Arg::BIAS.0 as i64),
    ("DNNL_ARG_MEAN", Arg::MEAN.0 as i64),
    ("DNNL_ARG_VARIANCE", Arg::VARIANCE.0 as i64),
    ("DNNL_ARG_SCALE", Arg::SCALE.0 as i64),
    ("DNNL_ARG_SHIFT", Arg::SHIFT.0 as i64),
    ("DNNL_ARG_WORKSPACE", Arg::WORKSPACE.0 as i64),
    ("DNNL_ARG_SCRATCHPAD", Arg::SCRATCHPAD.0 as i64),
    ("DNNL_ARG_DIFF_SRC", Arg::DIFF_SRC.0 as i64),
    ("DNNL_ARG_DIFF_DST", Arg::DIFF_DST.0 as i64),
    ("DNNL_ARG_DIFF_WEIGHTS", Arg::DIFF_WEIGHTS.0 as i64),
    ("DNNL_ARG_DIFF_BIAS", Arg::DIFF_BIAS.0 as i64),
    ("DNNL_ARG_DIFF_SCALE", Arg::DIFF_SCALE.0 as i64),
    ("DNNL_ARG_DIFF_SHIFT", Arg::DIFF_SHIFT.0 as i64),
    ("DNNL_ARG_MULTIPLE_SRC", Arg::multiple_src(0).0 as i64),
    ("DNNL_ARG_MULTIPLE_DST", Arg::multiple_dst(0).0 as i64),
    ("(DNNL_ARG_ATTR_SCALES | DNNL_ARG_SRC)", Arg::scale(Arg::SRC).0 as i64),
    ("(DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_SRC)", Arg::zero_point(Arg::SRC).0 as i64),
    ("(DNNL_ARG_ATTR_MULTIPLE_POST_OP(3) | DNNL_ARG_SRC_1)", Arg::post_op(3, Arg::SRC_1).0 as i64),
    ("(DNNL_ARG_ATTR_POST_OP_DW | DNNL_ARG_BIAS)", Arg::depthwise(Arg::BIAS).0 as i64),
];

/// What the compiler is asked about.
pub(super) fn constant_names() -> Vec<&'static str> {
    CONSTANTS.iter().map(|(name, _)| *name).collect()
}

/// Constants that have other values in the headers.
pub(super) fn constants(facts: &Facts) -> Vec<String> {
    let differs = |(name, ours): &&(&str, i64)| facts.constants.get(*name) != Some(ours);
    let tell = |(name, ours): &(&str, i64)| format!("{name}: {ours} here, {:?} in the headers", facts.constants.get(*name));
    CONSTANTS.iter().filter(differs).map(tell).collect()
}

/// A structure that programs fill or read themselves, as ours lies.
struct Record {
    name: &'static str,
    bytes: usize,
    /// Names and offsets.
    fields: &'static [(&'static str, usize)],
}

const RECORDS: &[Record] = &[
    Record {
        name: "dnnl_version_t",
        bytes: size_of::<records::Version>(),
        fields: &[
            ("major", offset_of!(records::Version, major)),
            ("minor", offset_of!(records::Version, minor)),
            ("patch", offset_of!(records::Version, patch)),
            ("hash", offset_of!(records::Version, hash)),
            ("cpu_runtime", offset_of!(records::Version, cpu_runtime)),
            ("gpu_runtime", offset_of!(records::Version, gpu_runtime)),
        ],
    },
    Record {
        name: "oxidnn_primitive_cache_statistics_t",
        bytes: size_of::<records::CacheStatistics>(),
        fields: &[
            ("hits", offset_of!(records::CacheStatistics, hits)),
            ("misses", offset_of!(records::CacheStatistics, misses)),
            ("evictions", offset_of!(records::CacheStatistics, evictions)),
            ("entries", offset_of!(records::CacheStatistics, entries)),
            ("bytes", offset_of!(records::CacheStatistics, bytes)),
        ],
    },
];

/// What the compiler is asked about.
pub(super) fn fields() -> Vec<(&'static str, &'static str)> {
    RECORDS.iter().flat_map(|record| record.fields.iter().map(|(field, _)| (record.name, *field))).collect()
}

/// Structures that lie in memory in another way than in the headers.
pub(super) fn records(facts: &Facts) -> Vec<String> {
    let mut wrong = Vec::new();
    for Record { name, bytes, fields } in RECORDS {
        if facts.sizes.get(*name) != Some(bytes) {
            wrong.push(format!("{name}: {bytes} bytes here, {:?} in the headers", facts.sizes.get(*name)));
        }
        for (field, offset) in *fields {
            let theirs = facts.offsets.get(&(name.to_string(), field.to_string()));
            if theirs != Some(offset) {
                wrong.push(format!("{name}.{field}: at {offset} here, at {theirs:?} in the headers"));
            }
        }
    }
    wrong
}
