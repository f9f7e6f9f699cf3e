//! What `Problem::new` refuses and accepts: wrong requests by name, and no panic whatever the description.

use oxidnn_spec::op::{EltwiseAlg, Op};
use oxidnn_spec::text::{Settings, parse_line};
use oxidnn_spec::*;
use proptest::prelude::*;
use std::sync::OnceLock;

/// Lines of each smoke file, and descriptions at random: fewer under Miri, which is some thousand times slower.
const LINES: usize = if cfg!(miri) { 2 } else { usize::MAX };
const CASES: u32 = if cfg!(miri) { 20 } else { 50_000 };

/// The problems of every smoke file.
fn problems() -> &'static [Problem] {
    static ALL: OnceLock<Vec<Problem>> = OnceLock::new();
    ALL.get_or_init(|| {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/inputs");
        let mut all = Vec::new();
        for folder in std::fs::read_dir(root).unwrap().flatten() {
            let Ok(text) = std::fs::read_to_string(folder.path().join("smoke.txt")) else { continue };
            let mut settings = Settings::default();
            all.extend(text.lines().take(LINES).flat_map(|l| parse_line(&mut settings, l).unwrap()).map(|c| c.problem));
        }
        all
    })
}

/// What is inconsistent about an accepted problem.
fn inconsistency(mut p: Problem) -> Option<String> {
    let operands = p.operands();
    for (i, o) in operands.iter().enumerate() {
        if operands[..i].iter().any(|q| q.arg == o.arg) {
            return Some(format!("{} twice", o.arg));
        }
        if o.tensor.layout.check().is_err() {
            return Some(format!("{}: an unsound layout", o.arg));
        }
        if o.tensor.buffer_bytes(0).is_none() && !o.tensor.layout.has_runtime() {
            return Some(format!("{}: no size", o.arg));
        }
        if p.tensor(o.arg).as_ref() != Some(&o.tensor) {
            return Some(format!("{}: not found by its name", o.arg));
        }
    }
    if p.flops().is_nan() || p.flops() < 0.0 {
        return Some(format!("{} operations", p.flops()));
    }
    let _ = p.bytes();
    if Problem::new(p.op.clone(), p.attr.clone()).as_ref() != Ok(&p) {
        return Some("not accepted, or not the same, a second time".into());
    }
    p.resolve();
    let left = p.operands().into_iter().find(|o| o.tensor.layout.is_any());
    if let Some(o) = left.filter(|o| !o.tensor.layout.has_runtime()) {
        return Some(format!("{} unresolved", o.arg));
    }
    Problem::new(p.op, p.attr).err().map(|e| format!("refused once resolved: {e}"))
}

#[test]
fn accepted_problems_are_consistent() {
    for p in problems() {
        assert_eq!(inconsistency(p.clone()), None, "{p}");
    }
}

/// As in oneDNN: what is read beside results lies as they do, a line of numbers is dense.
#[test]
fn operands_of_post_ops_lie_as_the_result() {
    for tag in ["abx", "axb", "aBx16b"] {
        let line =
            format!("--conv --stag={tag} --wtag=any --dtag={tag} --attr-post-ops=add:f32:31+mul:f32:2+add:f32:6 mb2ic32oc32id4kd3pd1");
        let mut problem: Problem = line.parse().unwrap();
        problem.resolve();
        let strides = |arg: Arg| problem.tensor(arg).unwrap().blocking().unwrap().clone();
        let dst = strides(Arg::DST);
        assert_eq!(strides(Arg::post_op(0, Arg::SRC_1)), dst, "{tag}");
        assert_eq!(strides(Arg::post_op(1, Arg::SRC_1)).strides[1], 1, "{tag}");
        let partial = strides(Arg::post_op(2, Arg::SRC_1));
        assert_eq!(
            (partial.inner, partial.strides[1]),
            (
                dst.inner,
                if tag == "abx" {
                    4
                } else if tag == "axb" {
                    1
                } else {
                    4 * 16
                }
            ),
            "{tag}"
        );
    }
}

/// A small generator of choices from one seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n.max(1)
    }
    fn number(&mut self) -> i64 {
        const ODD: [i64; 14] = [0, 1, 2, 3, 7, 16, -1, -7, RUNTIME, i64::MAX, i64::MIN + 1, 1 << 31, 1 << 40, 1 << 59];
        ODD[self.roll(ODD.len())]
    }
    fn dtype(&mut self) -> DataType {
        DataType::ALL[self.roll(DataType::ALL.len())]
    }
    fn real(&mut self) -> Real {
        Real::new([0.0, 1.0, -1.0, 0.5, f32::NAN, f32::INFINITY, -f32::MAX][self.roll(7)])
    }
    fn dims(&mut self) -> Dims {
        let n = self.roll(MAX_NDIMS + 1);
        Dims::from_fn(n, |_| self.number())
    }
    fn change(&mut self, list: &mut Dims) {
        let (at, value) = (self.roll(list.len()), self.number());
        if let Some(v) = list.get_mut(at) {
            *v = value;
        }
        if self.roll(8) == 0 {
            *list = self.dims();
        }
    }
    fn tensor(&mut self, t: &mut Tensor) {
        match self.roll(6) {
            0 => t.dtype = self.dtype(),
            1 => self.change(&mut t.layout.dims),
            2 => {
                t.layout.format =
                    [Format::Any, Format::HostScalar, Format::Sparse(Sparse::Csr { nnz: self.number() })][self.roll(3)].clone()
            }
            3 => {
                t.layout.dims = self.dims();
                t.layout = Layout::plain(t.layout.dims).unwrap_or_else(|_| t.layout.clone());
            }
            _ => self.blocking(&mut t.layout),
        }
    }
    fn blocking(&mut self, l: &mut Layout) {
        let Some(b) = l.blocking_mut() else { return };
        match self.roll(5) {
            0 => self.change(&mut b.strides),
            1 => self.change(&mut b.padded_dims),
            2 => self.change(&mut b.padded_offsets),
            3 => b.offset = self.number(),
            _ if b.inner.len() < MAX_NDIMS => b.inner.push(self.roll(14), self.number()),
            _ => {}
        }
    }
    fn quant(&mut self) -> Quant {
        let groups = if self.roll(3) == 0 { self.dims() } else { Dims::default() };
        let mode = [QuantMode::Static, QuantMode::DynamicMx, QuantMode::DynamicFp][self.roll(3)];
        Quant { mask: self.number() as u32, groups, dtype: self.dtype(), on_host: self.roll(4) == 0, mode }
    }
    fn post_op(&mut self, like: Option<&Tensor>) -> PostOp {
        let mut src1 = like.cloned().unwrap_or_else(|| Tensor::any([1], DataType::F32));
        if self.roll(2) == 0 {
            self.tensor(&mut src1);
        }
        match self.roll(5) {
            0 => PostOp::Sum { scale: self.real(), zero_point: self.number() as i32, dtype: Some(self.dtype()) },
            1 => PostOp::Eltwise { alg: EltwiseAlg::NAMES[self.roll(28)].0, alpha: self.real(), beta: self.real() },
            2 => {
                let src2 = (self.roll(3) == 0).then(|| src1.clone());
                PostOp::Binary { alg: op::BinaryAlg::NAMES[self.roll(13)].0, src1, src2 }
            }
            3 => PostOp::Prelu { mask: self.number() as u32 },
            _ => {
                let bias = (self.roll(2) == 0).then(|| self.dtype());
                let (kernel, stride, padding) = (self.number(), self.number(), self.number());
                PostOp::Depthwise { weights: self.dtype(), bias, dst: self.dtype(), kernel, stride, padding }
            }
        }
    }
    fn attr(&mut self, p: &mut Problem) {
        let args: Vec<Arg> = p.op.operands().iter().map(|o| o.arg).collect();
        let arg = args.get(self.roll(args.len())).copied().unwrap_or(Arg::SRC);
        let arg = if self.roll(5) == 0 { Arg(self.number() as i32) } else { arg };
        let like = p.op.result().cloned();
        match self.roll(6) {
            0 => drop(p.attr.scales.insert(arg, self.quant())),
            1 => drop(p.attr.zero_points.insert(arg, self.quant())),
            2 => drop(p.attr.precomputed_reductions.insert(arg, self.quant())),
            3 => {
                let mask = like.map(|mut t| {
                    t.dtype = if self.roll(2) == 0 { DataType::U8 } else { self.dtype() };
                    t
                });
                p.attr.dropout =
                    Some(Dropout { mask, seed_dtype: self.dtype(), use_offset: self.roll(2) == 0, use_host_scalars: self.roll(2) == 0 });
            }
            4 => drop(p.attr.rounding.insert(arg, Rounding::Stochastic)),
            _ => p.attr.post_ops.push(self.post_op(like.as_ref())),
        }
    }
    fn window(&mut self, w: &mut op::Window) {
        let lists = [&mut w.strides, &mut w.dilations, &mut w.padding_l, &mut w.padding_r];
        let at = self.roll(4);
        self.change(lists.into_iter().nth(at).unwrap());
    }
    fn parameters(&mut self, op: &mut Op) {
        match op {
            Op::Conv(x) => self.window(&mut x.window),
            Op::Deconv(x) => self.window(&mut x.window),
            Op::Pool(x) if self.roll(3) == 0 => self.change(&mut x.kernel),
            Op::Pool(x) => self.window(&mut x.window),
            Op::Concat(x) if self.roll(3) == 0 => x.srcs.clear(),
            Op::Concat(x) => x.axis = self.number() as usize,
            Op::Sum(x) if self.roll(3) == 0 => x.srcs.clear(),
            Op::Sum(x) => x.scales.push(self.real()),
            Op::Softmax(x) => x.axis = self.number() as usize,
            Op::Shuffle(x) if self.roll(2) == 0 => x.axis = self.number() as usize,
            Op::Shuffle(x) => x.group_size = self.number(),
            Op::GroupNorm(x) => x.groups = self.number(),
            Op::BatchNorm(x) => x.flags.fuse_add_relu ^= true,
            Op::LayerNorm(x) => x.epsilon = self.real(),
            Op::Lrn(x) => x.local_size = self.number(),
            Op::Eltwise(x) => (x.alpha, x.beta) = (self.real(), self.real()),
            Op::Reduction(x) => x.p = self.real(),
            Op::Resampling(x) => x.factors = vec![self.real(); self.roll(5)],
            Op::Rnn(x) => x.weights_projection = x.weights_peephole.clone(),
            _ => {}
        }
    }
    fn mutate(&mut self, p: &mut Problem) {
        match self.roll(5) {
            0 | 1 => {
                let mut all = p.op.operands_mut();
                let at = self.roll(all.len());
                if let Some(o) = all.get_mut(at) {
                    self.tensor(o.tensor);
                }
            }
            2 => self.parameters(&mut p.op),
            _ => self.attr(p),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn no_description_panics(which in any::<prop::sample::Index>(), seed in any::<u64>(), steps in 1..4usize) {
        let mut p = which.get(problems()).clone();
        let mut dice = Dice(seed);
        for _ in 0..steps {
            dice.mutate(&mut p);
        }
        match Problem::new(p.op, p.attr) {
            Ok(p) => prop_assert_eq!(inconsistency(p.clone()), None, "{}", p),
            Err(Error::InvalidArguments(e)) => prop_assert!(!e.argument.is_empty() && !e.expected.is_empty()),
            Err(e) => prop_assert!(matches!(e, Error::Unimplemented(_)), "{e}"),
        }
    }
}
