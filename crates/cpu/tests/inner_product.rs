//! Inner product: the portable row against the reference.

mod common;

use common::{check, tensor};
use oxidnn_spec::op::{EltwiseAlg, InnerProduct};
use oxidnn_spec::{Arg, Attr, DataType, DataType::*, PostOp, Problem, Prop, Quant, Real};

const ROW: &str = "packed:portable";

fn problem(prop: Prop, mb: i64, inner: &[i64], oc: i64, types: [DataType; 3], tags: [&str; 2], attr: Attr) -> Problem {
    let op = InnerProduct {
        prop,
        src: tensor(&[&[mb], inner].concat(), types[0], tags[0]),
        weights: tensor(&[&[oc], inner].concat(), types[1], tags[1]),
        bias: (prop != Prop::BackwardData).then(|| tensor(&[oc], F32, "a")),
        dst: tensor(&[mb, oc], types[2], "any"),
    };
    Problem::new(op, attr).expect("a problem")
}

const PASSES: [Prop; 3] = [Prop::ForwardTraining, Prop::BackwardData, Prop::BackwardWeights];

#[test]
fn sizes_and_layouts() {
    for prop in PASSES {
        for (mb, inner, oc) in
            [(1, &[7][..], 5), (13, &[300], 40), (2, &[5, 3, 2], 33), (3, &[20, 7, 7], 64), (0, &[4], 4), (4, &[3, 0], 5)]
        {
            for tags in [["any", "any"], ["abx", "abx"], ["axb", "axb"], ["abx", "axb"], ["axb", "any"], ["abx", "any"], ["any", "abx"]] {
                check(&problem(prop, mb, inner, oc, [F32; 3], tags, Attr::default()), ROW);
            }
        }
        check(&problem(prop, 3, &[20, 3, 3], 24, [F32; 3], ["aBx8b", "ABx8a4b"], Attr::default()), ROW);
    }
}

#[test]
fn types() {
    for types in [[Bf16, Bf16, F32], [F16, F16, F16], [U8, S8, S32], [S8, S8, U8]] {
        check(&problem(Prop::ForwardInference, 6, &[70, 3], 30, types, ["any", "any"], Attr::default()), ROW);
    }
    for prop in PASSES {
        check(&problem(prop, 6, &[70], 30, [Bf16; 3], ["any", "any"], Attr::default()), ROW);
    }
}

#[test]
fn quantised_with_post_ops() {
    let mut attr = Attr::default();
    attr.scales.insert(Arg::SRC, Quant::common());
    attr.scales.insert(Arg::WEIGHTS, Quant::per(1, F32));
    attr.scales.insert(Arg::DST, Quant::common());
    attr.post_ops = vec![
        PostOp::Sum { scale: Real::new(2.0), zero_point: 0, dtype: None },
        PostOp::Eltwise { alg: EltwiseAlg::Relu, alpha: Real::new(0.0), beta: Real::new(0.0) },
    ];
    check(&problem(Prop::ForwardInference, 6, &[70], 30, [U8, S8, S8], ["any", "any"], attr), ROW);
}
