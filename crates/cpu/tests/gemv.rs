//! Products of few rows, and with weights that are unpacked: the generated rows against the reference.

mod common;

use common::{check_on, tensor};
use oxidnn_cpu::{CpuTarget, Isa};
use oxidnn_spec::op::Matmul;
use oxidnn_spec::{Arg, Attr, DataType, DataType::*, Dims, Problem, Quant};

const FEW: &str = "gemv:jit";
const MANY: &str = "unpacked:jit";

fn problem(shapes: [&[i64]; 3], types: [DataType; 3], tags: [&str; 3], attr: Attr) -> Problem {
    let [src, weights, dst] = std::array::from_fn(|i| tensor(shapes[i], types[i], tags[i]));
    Problem::new(Matmul { src, weights, bias: None, dst }, attr).expect("a problem")
}

/// On every instruction set with generated code but AMX, whose tiles take other rows.
fn check(problem: &Problem, row: &str) {
    for isa in [Isa::Avx512, Isa::Avx2].into_iter().filter(|i| i.is_present()) {
        let target = CpuTarget::within(isa, 3);
        check_on(&CpuTarget { jit: target.jit.map(|isa| isa.without_amx()), ..target }, problem, row, &[]);
    }
}

/// Types of source and weights.
const TYPES: [[DataType; 2]; 8] = [[F32, F32], [Bf16, Bf16], [F16, F16], [F32, S8], [Bf16, U8], [Bf16, S4], [F32, U4], [F16, S4]];

fn attributes(weights: DataType) -> Attr {
    let mut attr = Attr::default();
    attr.fpmath.apply_to_int = weights.is_integral();
    attr
}

#[test]
fn rows_and_sizes() {
    for [src, weights] in TYPES {
        for m in [1, 2, 3, 5, 8] {
            for (k, n) in [(16, 16), (64, 136), (136, 264), (520, 24)] {
                for tags in [["ab", "any", "ab"], ["ba", "ab", "ab"], ["ab", "ba", "ba"]] {
                    // Short rows of 4-bit weights are unpacked.
                    let short = tags[1] == "ab" && weights.bits() == 4 && n < 64 && n <= 16 * (m - 1);
                    let row = if short { MANY } else { FEW };
                    check(&problem([&[m, k], &[k, n], &[m, n]], [src, weights, F32], tags, attributes(weights)), row);
                }
            }
        }
    }
}

/// Odd sizes, where words of weights hold one number.
#[test]
fn odd_sizes() {
    for (m, k, n) in [(1, 1, 1), (1, 7, 1), (3, 1, 5), (2, 33, 65), (8, 13, 17), (5, 127, 3)] {
        for tag in ["any", "ab", "ba", "Ba16b", "Ba32b"] {
            check(&problem([&[m, k], &[k, n], &[m, n]], [F32; 3], ["ab", tag, "ab"], Attr::default()), FEW);
        }
        // One column of 16 bits lies plain, as other rows walk along it.
        for types in [[Bf16, Bf16, Bf16], [F32, S8, F32], [F16, F16, F32]].into_iter().filter(|types| n > 1 || types[1] == S8) {
            check(&problem([&[m, k], &[k, n], &[m, n]], types, ["ab", "any", "ab"], attributes(types[1])), FEW);
        }
    }
}

/// Few columns and great depth: the sums of slices are added up.
#[test]
fn slices_of_the_depth() {
    for [src, weights] in TYPES {
        for (m, k, n) in [(1, 16384, 16), (3, 8192, 72), (2, 5000, 136)] {
            for tag in ["any", "ab", "ba"] {
                check(&problem([&[m, k], &[k, n], &[m, n]], [src, weights, F32], ["ab", tag, "ab"], attributes(weights)), FEW);
            }
        }
    }
}

#[test]
fn batches() {
    for [src, weights] in TYPES {
        for tag in ["any", "abcd", "abdc"] {
            for (a, b) in [([2, 3], [2, 3]), ([2, 1], [1, 3]), ([2, 3], [1, 1])] {
                let shapes: [&[i64]; 3] = [&[a[0], a[1], 1, 64], &[b[0], b[1], 64, 96], &[2, 3, 1, 96]];
                check(&problem(shapes, [src, weights, F32], ["abcd", tag, "abcd"], attributes(weights)), FEW);
            }
        }
    }
}

/// Scales and zero points of groups, in place and by table, alone and together.
#[test]
fn groups_along_the_reduction() {
    let scales =
        [None, Some((3, F32, [32, 1])), Some((3, Bf16, [64, 1])), Some((3, F16, [32, 1])), Some((1, F32, [32, 1])), Some((2, F32, [1, 1]))];
    let zeros =
        [None, Some((3, S8, [32, 1])), Some((3, U4, [64, 1])), Some((1, U8, [32, 1])), Some((2, S32, [1, 1])), Some((0, S32, [1, 1]))];
    for [src, weights] in [[F32, S8], [Bf16, S4], [Bf16, U4], [F32, U4]] {
        for scale in scales {
            for zero in zeros {
                let mut attr = attributes(weights);
                let quant = |(mask, dtype, groups): (u32, DataType, [i64; 2])| {
                    let groups = if groups == [1, 1] { Dims::default() } else { Dims::from(groups) };
                    Quant { groups, ..Quant::per(mask, dtype) }
                };
                attr.scales.extend(scale.map(|s| (Arg::WEIGHTS, quant(s))));
                attr.zero_points.extend(zero.map(|z| (Arg::WEIGHTS, quant(z))));
                for (m, k, n, row) in [(1, 256, 128, FEW), (8, 128, 72, FEW), (3, 8192, 64, FEW), (9, 384, 128, MANY), (20, 320, 72, MANY)]
                {
                    check(&problem([&[m, k], &[k, n], &[m, n]], [src, weights, F32], ["ab", "any", "ab"], attr.clone()), row);
                }
            }
        }
    }
}

#[test]
fn sources_with_scales_and_zero_points() {
    let mut attr = attributes(S8);
    attr.scales.insert(Arg::SRC, Quant::per(0, F32));
    attr.scales.insert(Arg::WEIGHTS, Quant::per(2, F32));
    attr.zero_points.insert(Arg::WEIGHTS, Quant::per(2, S32));
    for src in [F32, Bf16] {
        check(&problem([&[4, 96], &[96, 64], &[4, 64]], [src, S8, F32], ["ab", "any", "ab"], attr.clone()), FEW);
    }
}

#[test]
fn many_rows() {
    for [src, weights] in [[F32, S8], [Bf16, U8], [Bf16, S4], [F32, U4], [F16, S4], [Bf16, S8]] {
        for (m, k, n) in [(9, 16, 16), (17, 600, 80), (33, 264, 130), (500, 32, 24), (2, 64, 64)] {
            for tags in [["ab", "any", "ab"], ["ba", "any", "ba"]] {
                check(&problem([&[m, k], &[k, n], &[m, n]], [src, weights, F32], tags, attributes(weights)), MANY);
            }
        }
        let shapes: [&[i64]; 3] = [&[2, 3, 10, 64], &[1, 3, 64, 96], &[2, 3, 10, 96]];
        check(&problem(shapes, [src, weights, F32], ["abcd", "any", "abcd"], attributes(weights)), MANY);
    }
    for [src, weights] in [[F32, S8], [Bf16, U8]] {
        check(&problem([&[12, 301], &[301, 40], &[12, 40]], [src, weights, F32], ["ab", "any", "ab"], attributes(weights)), MANY);
    }
}
