//! Matrix multiplication: portable rows against the reference.

mod common;

use common::{check, check_with, tensor};
use oxidnn_cpu::Isa;
use oxidnn_spec::op::{BinaryAlg, EltwiseAlg, Matmul};
use oxidnn_spec::{Arg, Attr, DataType, DataType::*, Dims, PostOp, Problem, Quant, RUNTIME, Real, Tensor};

const ROW: &str = "packed:portable";

fn problem(shapes: [&[i64]; 3], types: [DataType; 3], tags: [&str; 3], bias: Option<(&[i64], DataType)>, attr: Attr) -> Problem {
    let [src, weights, dst] = std::array::from_fn(|i| tensor(shapes[i], types[i], tags[i]));
    let bias = bias.map(|(d, t)| tensor(d, t, "abx"));
    Problem::new(Matmul { src, weights, bias, dst }, attr).expect("a problem")
}

fn plain(m: i64, k: i64, n: i64, tags: [&str; 3]) -> Problem {
    problem([&[m, k], &[k, n], &[m, n]], [F32; 3], tags, None, Attr::default())
}

#[test]
fn sizes_and_layouts() {
    for (m, k, n) in [(1, 1, 1), (3, 5, 7), (13, 300, 33), (250, 17, 130), (1, 64, 100), (24, 512, 16), (5, 3, 48)] {
        for src in ["ab", "ba"] {
            for weights in ["ab", "ba", "any", "BA16a8b"] {
                for dst in ["ab", "ba"] {
                    check(&plain(m, k, n, [src, weights, dst]), ROW);
                }
            }
        }
    }
}

#[test]
fn zero_sizes() {
    for (m, k, n) in [(0, 4, 4), (4, 0, 4), (4, 4, 0)] {
        check(&plain(m, k, n, ["ab", "any", "ab"]), ROW);
    }
}

#[test]
fn batches_broadcast() {
    for (src, weights) in [([2, 3], [2, 3]), ([1, 3], [2, 1]), ([2, 1], [1, 3]), ([2, 3], [1, 1])] {
        for tags in [["abcd", "abcd", "abcd"], ["abdc", "any", "acbd"]] {
            let p = problem(
                [&[src[0], src[1], 6, 9], &[weights[0], weights[1], 9, 35], &[2, 3, 6, 35]],
                [F32; 3],
                tags,
                Some((&[1, 3, 1, 35], F32)),
                Attr::default(),
            );
            check(&p, ROW);
        }
    }
}

#[test]
fn types() {
    let types = [
        [Bf16, Bf16, F32],
        [Bf16, Bf16, Bf16],
        [F16, F16, F16],
        [F8E5m2, F8E4m3, F32],
        [F4E2m1, F4E2m1, F32],
        [U8, S8, S32],
        [S8, S8, S8],
        [U8, S8, U8],
        [S8, U8, F32],
        [S8, S4, Bf16],
        [U8, U4, S32],
    ];
    for t in types {
        for tags in [["ab", "ab", "ab"], ["ba", "ba", "ab"], ["ab", "any", "any"]] {
            check(&problem([&[14, 70], &[70, 50], &[14, 50]], t, tags, Some((&[1, 50], F32)), Attr::default()), ROW);
        }
    }
}

#[test]
fn long_integer_sums_are_exact() {
    let mut attr = Attr::default();
    attr.zero_points.insert(Arg::SRC, Quant::per(0, S32));
    check(&problem([&[3, 3000], &[3000, 40], &[3, 40]], [U8, S8, S32], ["ab", "ab", "ab"], None, attr), ROW);
}

#[test]
fn weight_decompression() {
    for (wei, zp) in [(S8, S8), (U8, U8), (S4, S4), (U4, U4), (U4, S32)] {
        let mut attr = Attr::default();
        attr.fpmath.apply_to_int = true;
        attr.scales.insert(Arg::WEIGHTS, Quant { groups: Dims::from([32, 1]), ..Quant::per(3, F32) });
        attr.zero_points.insert(Arg::WEIGHTS, Quant { groups: Dims::from([32, 1]), ..Quant::per(3, zp) });
        for (tag, n) in [("ab", 64), ("ba", 64), ("any", 64), ("any", 6), ("any", 50)] {
            check(&problem([&[5, 128], &[128, n], &[5, n]], [F32, wei, F32], ["ab", tag, "ab"], None, attr.clone()), ROW);
        }
    }
}

#[test]
fn scales_zero_points_and_post_ops() {
    let mut attr = Attr::default();
    attr.scales.insert(Arg::SRC, Quant::common());
    attr.scales.insert(Arg::WEIGHTS, Quant::per(2, F32));
    attr.scales.insert(Arg::DST, Quant::common());
    attr.zero_points.insert(Arg::SRC, Quant::per(0, S32));
    attr.post_ops = vec![
        PostOp::Sum { scale: Real::new(0.5), zero_point: 0, dtype: None },
        PostOp::Eltwise { alg: EltwiseAlg::Relu, alpha: Real::new(0.5), beta: Real::new(0.0) },
        PostOp::Binary { alg: BinaryAlg::Add, src1: tensor(&[1, 40], F32, "ab"), src2: None },
        PostOp::Binary { alg: BinaryAlg::Max, src1: tensor(&[20, 1], Bf16, "ab"), src2: None },
        PostOp::Binary { alg: BinaryAlg::Mul, src1: tensor(&[20, 40], F32, "ba"), src2: None },
        PostOp::Prelu { mask: 2 },
        PostOp::Eltwise { alg: EltwiseAlg::Linear, alpha: Real::new(0.5), beta: Real::new(1.0) },
    ];
    for dst in [S8, U8, F32, S32] {
        if dst != F32 {
            attr.zero_points.insert(Arg::DST, Quant::per(0, S32));
        } else {
            attr.zero_points.remove(&Arg::DST);
        }
        for tag in ["ab", "ba"] {
            check(&problem([&[20, 30], &[30, 40], &[20, 40]], [U8, S8, dst], ["ab", "any", tag], Some((&[1, 40], F32)), attr.clone()), ROW);
        }
    }
}

#[test]
fn runtime_sizes() {
    let any = |a: i64, b: i64| Tensor::plain(Dims::from([a, b]), F32).expect("a tensor");
    let p =
        Problem::new(Matmul { src: any(RUNTIME, RUNTIME), weights: any(RUNTIME, 40), bias: None, dst: any(RUNTIME, 40) }, Attr::default())
            .expect("a problem");
    let concrete = [(Arg::SRC, any(9, 20)), (Arg::WEIGHTS, any(20, 40)), (Arg::DST, any(9, 40))];
    check_with(&p, ROW, Isa::detect(), &concrete);
}
