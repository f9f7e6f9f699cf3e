use super::symbol::{Rounded, function, literal};
use super::{Emitter, Real};
use crate::program::Word;
use oxidnn_expr::eltwise;
use oxidnn_spec::DataType;
use oxidnn_spec::op::EltwiseAlg;

#[test]
fn a_formula_becomes_statements_equal_ones_once() {
    let text = function("f", 1, Rounded::No, |x| eltwise::forward(EltwiseAlg::HardSwish, 0.25, 0.5, x[0]));
    assert!(text.starts_with("DEVICE real f(real x0) {\n    const real t0 = x0;\n"), "{text}");
    assert_eq!(text.matches("(real)0.25").count(), 1, "{text}");
    assert_eq!(text.matches("fma(").count(), 1, "{text}");
    assert_eq!(text.matches('?').count(), 2, "both bounds: {text}");
}

#[test]
fn every_function_is_printed_in_both_directions() {
    for (alg, name) in EltwiseAlg::NAMES {
        let forward = function("f", 1, Rounded::No, |x| eltwise::forward(alg, 0.5, 0.25, x[0]));
        let backward = function("b", 2, Rounded::No, |x| eltwise::backward(alg, 0.5, 0.25, x[0], x[1]));
        for text in [forward, backward] {
            assert!(text.ends_with(";\n}\n") && text.contains("return t"), "{name}: {text}");
        }
    }
}

#[test]
fn only_results_that_are_rounded_to_few_bits_take_short_functions() {
    for alg in [EltwiseAlg::GeluTanh, EltwiseAlg::Logistic, EltwiseAlg::Swish] {
        let of = |rounded| function("f", 1, rounded, |x| eltwise::forward(alg, 1.0, 0.0, x[0]));
        let (exact, short) = (of(Rounded::No), of(Rounded::Short));
        assert!(short.contains("short_exp(") && short.contains("short_ratio("), "{short}");
        assert_eq!(short.replace("short_", ""), exact);
    }
    assert!(function("f", 1, Rounded::Short, |x| eltwise::forward(EltwiseAlg::GeluErf, 0.0, 0.0, x[0])).contains("short_erf("));
    let header = |real, to| {
        let mut emit = Emitter::new(real, 1);
        emit.formula_to(to, "f", 1, |x| eltwise::forward(EltwiseAlg::Logistic, 1.0, 0.0, x[0]));
        emit.header()
    };
    assert!(header(Real::Single, DataType::Bf16).contains("short_exp("));
    for (real, to) in [(Real::Single, DataType::F32), (Real::Single, DataType::S8), (Real::Double, DataType::F16)] {
        assert!(!header(real, to).contains("short_exp("), "{to}");
    }
}

#[test]
fn literals_are_exact() {
    assert_eq!(literal(0.1), "(real)0.1");
    assert_eq!(literal(-1e-30), "(real)-1e-30");
    assert!(literal(f64::NEG_INFINITY).contains("0xfff0000000000000"));
}

/// The quotient as the device computes it.
fn divided(i: u32, words: &[Word]) -> u32 {
    let [_, Word::Value(packed)] = words else { panic!("{words:?}") };
    let (magic, shift) = (*packed as u32, (packed >> 32) as u32);
    let high = ((u64::from(i) * u64::from(magic)) >> 32) as u32;
    (high + i) >> shift
}

#[test]
fn sizes_divide_every_index_below_2_to_the_31() {
    for d in (1..200u32).chain([1000, 1023, 1024, 65_535, 65_536, 1_000_003, (1 << 30) + 1, i32::MAX as u32]) {
        let mut emit = Emitter::new(Real::Single, 1);
        emit.sizes("s", &[i64::from(d)]);
        for i in (0..64).chain([d - 1, d, d.saturating_add(1), d.saturating_mul(3), 0x7fff_fffe, 0x7fff_ffff]).filter(|&i| i <= 0x7fff_ffff)
        {
            assert_eq!(divided(i, &emit.words), i / d, "{i} / {d}");
        }
    }
}
