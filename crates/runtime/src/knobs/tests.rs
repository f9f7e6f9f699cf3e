use super::*;

fn parse_with(variables: &[(&str, &str)]) -> (Knobs, Vec<String>) {
    parse(&|v| variables.iter().find(|(n, _)| *n == v).map(|(_, value)| value.to_string()))
}

#[test]
fn every_default_can_be_read() {
    let (k, warnings) = parse_with(&[]);
    assert!(warnings.is_empty());
    assert_eq!((k.cache_capacity, k.num_threads, k.max_cpu_isa, k.scratch_budget), (1024, None, None, 1 << 30));
    assert_eq!(list().len(), KNOBS.len());
}

#[test]
fn three_prefixes_the_strongest_first() {
    let (k, _) = parse_with(&[("DNNL_NUM_THREADS", "3"), ("ONEDNN_NUM_THREADS", "2")]);
    assert_eq!(k.num_threads, Some(2));
    let (k, _) = parse_with(&[("DNNL_NUM_THREADS", "3"), ("OXIDNN_NUM_THREADS", "1"), ("ONEDNN_NUM_THREADS", "2")]);
    assert_eq!(k.num_threads, Some(1));
    let (k, _) = parse_with(&[("DNNL_MAX_CPU_ISA", " AVX2 "), ("ONEDNN_DEFAULT_FPMATH_MODE", "BF16")]);
    assert_eq!((k.max_cpu_isa.as_deref(), k.default_fpmath), (Some("avx2"), FpMathMode::Bf16));
}

#[test]
fn what_is_not_understood_is_reported_and_has_no_effect() {
    let (k, warnings) = parse_with(&[("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "-1"), ("DNNL_SCRATCH_BUDGET", "99999999999999999999")]);
    assert_eq!((k.cache_capacity, k.scratch_budget), (1024, 1 << 30));
    assert_eq!(warnings[0], "ONEDNN_PRIMITIVE_CACHE_CAPACITY=-1 is not understood; expected a number of entries; using 1024");
    assert_eq!(warnings.len(), 2);
}

#[test]
fn absurd_numbers_of_threads_are_bounded_and_reported() {
    let (k, warnings) = parse_with(&[("ONEDNN_NUM_THREADS", "100000000")]);
    assert_eq!(k.num_threads, Some(most_threads()));
    assert!(warnings[0].starts_with("NUM_THREADS=100000000 is more than the ") && warnings.len() == 1, "{warnings:?}");
    let (k, warnings) = parse_with(&[("ONEDNN_NUM_THREADS", "1024")]);
    assert_eq!((k.num_threads, warnings.len()), (Some(1024), 0));
}
