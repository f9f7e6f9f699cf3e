//! Convolution and deconvolution: portable rows against the reference.

mod common;

use common::{check, check_on, check_with, tensor};
use oxidnn_cpu::{CpuTarget, Isa, ops};
use oxidnn_spec::op::{BinaryAlg, Conv, ConvAlg, Deconv, EltwiseAlg, Window};
use oxidnn_spec::{Arg, Attr, DataType, DataType::*, Dims, Op, PostOp, Problem, Prop, Quant, Real};

const ROW: &str = "packed:portable";

/// Sizes of one spatial dimension: input, kernel, stride, dilation, padding on both sides.
type Line = [i64; 6];

#[derive(Clone)]
struct Case<'a> {
    prop: Prop,
    transposed: bool,
    mb: i64,
    g: i64,
    ic: i64,
    oc: i64,
    lines: &'a [Line],
    types: [DataType; 3],
    tags: [&'a str; 3],
    bias: Option<DataType>,
    attr: Attr,
}

const FWD: Prop = Prop::ForwardInference;

fn case<'a>(g: i64, ic: i64, oc: i64, lines: &'a [Line]) -> Case<'a> {
    Case {
        prop: FWD,
        transposed: false,
        mb: 2,
        g,
        ic,
        oc,
        lines,
        types: [F32; 3],
        tags: ["any"; 3],
        bias: Some(F32),
        attr: Attr::default(),
    }
}

impl Case<'_> {
    fn problem(&self) -> Problem {
        let (ic, oc) = (self.g * self.ic, self.g * self.oc);
        let outer = |l: &Line| {
            let [i, k, s, d, pl, pr] = *l;
            if self.transposed { (i - 1) * s + (k - 1) * (d + 1) + 1 - pl - pr } else { (i + pl + pr - (k - 1) * (d + 1) - 1) / s + 1 }
        };
        let spatial = |f: &dyn Fn(&Line) -> i64| -> Vec<i64> { self.lines.iter().map(f).collect() };
        let dims = |head: &[i64], epilogue: Vec<i64>| [head.to_vec(), epilogue].concat();
        let src = tensor(&dims(&[self.mb, ic], spatial(&|l| l[0])), self.types[0], self.tags[0]);
        let head: Vec<i64> = if self.g > 1 { vec![self.g, self.oc, self.ic] } else { vec![self.oc, self.ic] };
        let weights = tensor(&dims(&head, spatial(&|l| l[1])), self.types[1], self.tags[1]);
        let dst = tensor(&dims(&[self.mb, oc], spatial(&outer)), self.types[2], self.tags[2]);
        let list = |i: usize| Dims::new(&spatial(&move |l| l[i])).expect("dims");
        let window = Window { strides: list(2), dilations: list(3), padding_l: list(4), padding_r: list(5) };
        // The last rows that a stride skips are padding on the right that is not there.
        let pr = Dims::from_fn(self.lines.len(), |i| {
            let ([size, k, s, d, pl, _], o) = (self.lines[i], outer(&self.lines[i]));
            if self.transposed { (size - 1) * s - o + (k - 1) * (d + 1) + 1 - pl } else { (o - 1) * s - size + (k - 1) * (d + 1) + 1 - pl }
        });
        let window = Window { padding_r: pr, ..window };
        let bias = self.bias.filter(|_| self.prop != Prop::BackwardData).map(|t| tensor(&[oc], t, "a"));
        let op: Op = if self.transposed {
            Deconv { prop: self.prop, alg: ConvAlg::Direct, src, weights, bias, dst, window }.into()
        } else {
            Conv::new(self.prop, ConvAlg::Direct, [src, weights, dst], bias, window).into()
        };
        Problem::new(op, self.attr.clone()).expect("a problem")
    }
}

const SHAPES: &[(i64, i64, i64, &[Line])] = &[
    (1, 3, 8, &[[9, 3, 1, 0, 1, 1], [9, 3, 1, 0, 1, 1]]),
    (1, 16, 33, &[[7, 3, 2, 0, 1, 1], [8, 3, 2, 0, 1, 1]]),
    (1, 3, 20, &[[21, 7, 2, 0, 3, 3], [21, 7, 2, 0, 3, 3]]),
    (1, 70, 40, &[[6, 1, 1, 0, 0, 0], [6, 1, 1, 0, 0, 0]]),
    (1, 12, 16, &[[11, 1, 2, 0, 0, 0], [11, 1, 3, 0, 0, 0]]),
    (1, 8, 24, &[[12, 3, 1, 1, 2, 2], [12, 3, 2, 2, 2, 1]]),
    (2, 5, 7, &[[10, 3, 1, 0, 1, 1], [6, 5, 1, 0, 2, 2]]),
    (4, 1, 1, &[[8, 3, 1, 0, 1, 1], [8, 3, 2, 0, 1, 1]]),
    (3, 4, 34, &[[5, 2, 2, 0, 0, 1]]),
    (1, 6, 10, &[[300, 5, 1, 0, 2, 2]]),
    (1, 4, 9, &[[5, 3, 1, 0, 1, 1], [6, 3, 2, 0, 1, 0], [7, 2, 1, 0, 0, 1]]),
    (1, 520, 20, &[[18, 3, 1, 0, 1, 1], [18, 3, 1, 0, 1, 1]]),
    (1, 2, 300, &[[3, 3, 1, 0, 2, 2], [3, 3, 3, 0, 2, 2]]),
    (1, 2, 2, &[[4, 1, 3, 0, 0, 0], [4, 2, 4, 0, 0, 0]]),
];

fn all(prop: Prop, transposed: bool) {
    for (g, ic, oc, lines) in SHAPES {
        for tags in [["any"; 3], ["abx", "abx", "abx"], ["axb", "any", "abx"], ["aBx8b", "axb", "aBx16b"]] {
            let c = Case { prop, transposed, tags, ..case(*g, *ic, *oc, lines) };
            check(&c.problem(), ROW);
        }
    }
}

#[test]
fn forward() {
    all(FWD, false);
}

#[test]
fn backward_data() {
    all(Prop::BackwardData, false);
}

#[test]
fn transposed_forward() {
    all(FWD, true);
}

#[test]
fn transposed_backward_data() {
    all(Prop::BackwardData, true);
}

#[test]
fn backward_weights() {
    all(Prop::BackwardWeights, false);
}

#[test]
fn transposed_backward_weights() {
    all(Prop::BackwardWeights, true);
}

#[test]
fn types() {
    let lines: &[Line] = &[[9, 3, 1, 0, 1, 1], [9, 3, 1, 0, 1, 1]];
    for types in [[Bf16, Bf16, F32], [F16, F16, F16], [F8E5m2, F8E5m2, F32], [U8, S8, S32], [S8, S8, U8], [U8, S8, Bf16]] {
        for tags in [["any"; 3], ["abx", "abx", "abx"]] {
            check(&Case { types, tags, ..case(1, 40, 40, lines) }.problem(), ROW);
        }
    }
    for types in [[Bf16, Bf16, Bf16], [Bf16, F32, Bf16]] {
        for prop in [Prop::BackwardData, Prop::BackwardWeights] {
            if prop == Prop::BackwardData && types[1] == F32 {
                continue;
            }
            check(&Case { types, prop, ..case(1, 40, 40, lines) }.problem(), ROW);
        }
    }
}

#[test]
fn long_integer_sums_are_exact() {
    let lines: &[Line] = &[[5, 3, 1, 0, 1, 1], [5, 3, 1, 0, 1, 1]];
    for (g, ic) in [(1, 700), (2, 30), (1, 3)] {
        let mut c = Case { types: [U8, S8, S32], bias: None, ..case(g, ic, 20, lines) };
        check(&c.problem(), ROW);
        c.attr.zero_points.insert(Arg::SRC, Quant::per(0, S32));
        check(&c.problem(), ROW);
    }
}

#[test]
fn quantised_with_post_ops() {
    let lines: &[Line] = &[[8, 3, 1, 0, 1, 1], [8, 3, 1, 0, 1, 1]];
    for g in [1, 2] {
        for tags in [["any"; 3], ["abx", "abx", "abx"]] {
            for dst in [U8, S8, F32] {
                let mut c = Case { types: [U8, S8, dst], tags, ..case(g, 10, 20, lines) };
                c.attr.scales.insert(Arg::SRC, Quant::common());
                c.attr.scales.insert(Arg::WEIGHTS, Quant::per(if g == 1 { 1 } else { 3 }, F32));
                c.attr.scales.insert(Arg::DST, Quant::per(0, F32));
                c.attr.zero_points.insert(Arg::SRC, Quant::per(0, S32));
                if dst != F32 {
                    c.attr.zero_points.insert(Arg::DST, Quant::per(0, S32));
                }
                let channels = 20 * g;
                c.attr.post_ops = vec![
                    PostOp::Sum { scale: Real::new(0.5), zero_point: 0, dtype: None },
                    PostOp::Eltwise { alg: EltwiseAlg::Relu, alpha: Real::new(0.0), beta: Real::new(0.0) },
                    PostOp::Binary { alg: BinaryAlg::Add, src1: tensor(&[1, channels, 1, 1], F32, "abcd"), src2: None },
                    PostOp::Binary { alg: BinaryAlg::Mul, src1: tensor(&[2, channels, 8, 8], F32, "aBcd16b"), src2: None },
                    PostOp::Prelu { mask: 2 },
                ];
                check(&c.problem(), ROW);
            }
        }
    }
}

const WINDOWS: &[(i64, &[Line])] = &[
    (5, &[[30, 3, 1, 0, 1, 1]]),
    (40, &[[9, 3, 1, 0, 1, 1], [17, 3, 2, 0, 1, 1]]),
    (48, &[[5, 5, 2, 0, 2, 2], [40, 3, 1, 1, 2, 2]]),
    (17, &[[3, 2, 1, 0, 0, 1], [4, 3, 2, 0, 1, 1], [5, 1, 1, 0, 0, 0]]),
    (32, &[[7, 9, 1, 0, 4, 4], [33, 11, 1, 0, 9, 9]]),
    (16, &[[14, 3, 1, 0, 5, 5], [23, 1, 1, 0, 20, 2]]),
];

/// Depthwise windows in every direction, of every type.
fn windows(tags: &[[&str; 3]], check: &dyn Fn(&Problem)) {
    for (g, lines) in WINDOWS {
        for (prop, transposed) in [(FWD, false), (Prop::BackwardData, false), (FWD, true), (Prop::BackwardData, true)] {
            for tags in tags {
                check(&Case { prop, transposed, tags: *tags, ..case(*g, 1, 1, lines) }.problem());
                check(&Case { prop, transposed, tags: *tags, bias: None, ..case(*g, 1, 1, lines) }.problem());
            }
        }
        for types in [[Bf16, Bf16, Bf16], [F16, F16, F16], [U8, S8, S32], [S8, S8, U8]] {
            let mut c = Case { types, ..case(*g, 1, 1, lines) };
            check(&c.problem());
            if types[0] == U8 {
                c.attr.scales.insert(Arg::WEIGHTS, Quant::per(3, F32));
                c.attr.zero_points.insert(Arg::SRC, Quant::per(0, S32));
                c.attr.post_ops = vec![PostOp::Sum { scale: Real::new(0.5), zero_point: 0, dtype: None }];
                check(&c.problem());
            }
        }
    }
}

#[test]
fn depthwise() {
    windows(&[["any"; 3], ["abx", "abx", "abx"], ["aBx8b", "any", "axb"]], &|problem| check(problem, "direct:portable"));
}

/// The instruction sets of this processor that code is generated for.
fn generated() -> impl Iterator<Item = Isa> {
    let has = |isa: &Isa| {
        let target = CpuTarget::within(*isa, 1);
        target.isa == *isa && target.jit.is_some()
    };
    [Isa::Avx512, Isa::Avx2].into_iter().filter(has)
}

#[test]
fn depthwise_generated() {
    for isa in generated() {
        let lanes = isa.lanes() as i64;
        windows(&[["any"; 3], ["axb", "abx", "axb"], ["aBx16b", "axb", "axb"], ["aBx16b", "any", "aBx16b"]], &|problem| {
            let (Some(src), Some(weights)) = (problem.op.tensor(Arg::SRC), problem.op.tensor(Arg::WEIGHTS)) else { return };
            let whole = src.dims()[1] % lanes == 0;
            // Weights of other layouts are copied to the row's own.
            let row = if weights.layout.is_any() { "direct:jit" } else { "staged:jit" };
            if whole || src.dtype == F32 || isa == Isa::Avx512 {
                check_with(problem, row, isa, &[]);
            }
        });
    }
}

/// Generated rows on tensors whose pixels lie closest.
#[test]
fn pixels_last() {
    let wide: &[Line] = &[[100, 3, 2, 0, 1, 1], [100, 1, 1, 0, 0, 0]];
    let (single, skipping): (&[Line], &[Line]) = (&[[28, 1, 1, 0, 0, 0]; 2], &[[56, 1, 2, 0, 0, 0]; 2]);
    let uneven: &[Line] = &[[4, 1, 2, 0, 0, 0], [9, 1, 3, 0, 0, 1], [7, 1, 1, 0, 0, 0]];
    let several: [(i64, i64, i64, &[Line]); 5] =
        [(20, 1, 1, single), (1, 60, 20, wide), (1, 24, 70, single), (1, 12, 20, skipping), (2, 20, 9, uneven)];
    for isa in generated() {
        let mut met = std::collections::BTreeSet::new();
        for (g, ic, oc, lines) in SHAPES.iter().chain(&several) {
            let rows: &[&str] = if *ic == 1 && *oc == 1 {
                &["direct:jit", "scaled:jit", "staged:jit"]
            } else {
                &["packed:jit", "nchw1x1:jit", "staged:jit"]
            };
            for tags in [["abx", "any", "abx"], ["abx", "any", "axb"], ["axb", "any", "abx"]] {
                for (prop, bias) in [(FWD, Some(F32)), (FWD, None), (Prop::BackwardData, None)] {
                    let mut c = Case { prop, tags, bias, mb: 3, ..case(*g, *ic, *oc, lines) };
                    if prop == FWD {
                        c.attr.post_ops = vec![PostOp::Sum { scale: Real::new(0.5), zero_point: 0, dtype: None }];
                    }
                    let (problem, target) = (c.problem(), CpuTarget::within(isa, 3));
                    let takes =
                        |name: &str| ops::rows(&problem.op).iter().any(|row| row.name == name && (row.plan)(&problem, &target).is_ok());
                    let taken: Vec<&str> = rows.iter().copied().filter(|name| takes(name)).collect();
                    assert!(!taken.is_empty(), "{problem:?}");
                    taken.iter().for_each(|row| check_with(&problem, row, isa, &[]));
                    met.extend(taken);
                }
            }
        }
        let all = ["scaled:jit", "staged:jit", "nchw1x1:jit"];
        assert!(all.iter().all(|row| met.contains(row)), "{met:?}");
    }
}

/// Copies in rounds of images, of which caches hold one, and in bands of those whose windows are one pixel.
#[test]
fn staged_in_rounds() {
    let (windows, pixels): (&[Line], &[Line]) = (&[[9, 3, 1, 0, 1, 1], [11, 3, 2, 0, 1, 1]], &[[24, 1, 1, 0, 0, 0], [10, 1, 1, 0, 0, 0]]);
    for isa in generated() {
        let large = CpuTarget::within(isa, 3);
        let mut small = large;
        (small.caches.l2, small.caches.l3) = (48 << 10, 64 << 10);
        let mut taken = 0;
        for (g, channels, lines) in [(1, 20, windows), (24, 1, windows), (1, 24, pixels)] {
            for (types, prop) in [([F32; 3], FWD), ([Bf16; 3], FWD), ([F32; 3], Prop::BackwardData)] {
                let mut c = Case { prop, types, tags: ["abx", "any", "abx"], mb: 6, ..case(g, channels, channels, lines) };
                if prop == FWD {
                    c.attr.post_ops = vec![PostOp::Sum { scale: Real::new(0.5), zero_point: 0, dtype: None }];
                }
                let problem = c.problem();
                let row = ops::rows(&problem.op).iter().find(|row| row.name == "staged:jit").unwrap();
                let scratch = |target: &CpuTarget| (row.plan)(&problem, target).map(|plan| plan.scratch_bytes());
                if let (Ok(all), Ok(some)) = (scratch(&large), scratch(&small)) {
                    assert!(some < all || lines == pixels, "{problem:?}: {some} of {all} bytes");
                    check_on(&small, &problem, row.name, &[]);
                    taken += 1;
                }
            }
        }
        assert!(taken >= 6, "{taken} on {isa:?}");
    }
}

#[test]
fn empty() {
    let lines: &[Line] = &[[8, 3, 1, 0, 1, 1]];
    check(&Case { mb: 0, ..case(1, 4, 4, lines) }.problem(), ROW);
}
