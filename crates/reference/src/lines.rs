//! Tests by problem lines: a problem with its arguments, made from one line, and gradients against finite differences.

use crate::testkit::{Bound, dot, numbers};
use crate::{Args, for_each_position, run, scratch_len};
use oxidnn_spec::text::{Settings, parse_line};
use oxidnn_spec::{Arg, Problem, Tensor, Use};
use std::cell::Cell;

/// A problem and its arguments: inputs filled with numbers, outputs with garbage.
pub(crate) struct Line {
    pub(crate) problem: Problem,
    pub(crate) args: Bound,
}

impl Line {
    pub(crate) fn new(line: &str) -> Line {
        let cases = parse_line(&mut Settings::default(), line).unwrap_or_else(|e| panic!("{line}: {e}"));
        let mut problem = cases.into_iter().next().expect("one case").problem;
        problem.resolve();
        let mut l = Line { problem, args: Bound::default() };
        for o in l.problem.operands() {
            let mut values = numbers(o.arg.0 as u64, count(&o.tensor));
            if o.arg == Arg::VARIANCE {
                values.iter_mut().for_each(|v| *v = v.abs() + 0.5);
            }
            match o.usage {
                Use::In => l.args.put(o.arg, &o.tensor, &values),
                Use::Out => l.args.out(o.arg, &o.tensor),
            };
        }
        l
    }

    fn tensor(&self, arg: Arg) -> Tensor {
        self.args.tensor(arg).unwrap_or_else(|| panic!("{arg} is an argument")).clone()
    }

    /// Gives `arg` these numbers, in row-major order.
    pub(crate) fn set(&mut self, arg: Arg, values: &[f64]) -> &mut Line {
        let tensor = self.tensor(arg);
        self.args.put(arg, &tensor, values);
        self
    }

    /// Runs, and checks that padded areas are zero.
    pub(crate) fn run(&self) -> &Line {
        self.run_with(&self.args);
        for o in self.problem.operands().into_iter().filter(|o| o.usage == Use::Out) {
            assert!(padding_is_zero(&o.tensor, &self.args.bytes(o.arg)), "padding of {}", o.arg);
        }
        self
    }

    /// Runs with `to` lying over `from`; gives the numbers there afterwards.
    pub(crate) fn run_in_place(&self, from: Arg, to: Arg) -> Vec<f64> {
        self.run_with(&InPlace { inner: &self.args, from, to });
        self.args.values(from)
    }

    fn run_with(&self, args: &dyn Args) {
        let mut scratch = vec![f64::NAN; scratch_len(&self.problem)];
        run(&self.problem, args, &mut scratch).unwrap_or_else(|e| panic!("{e}"));
    }

    pub(crate) fn values(&self, arg: Arg) -> Vec<f64> {
        self.args.values(arg)
    }
}

fn count(t: &Tensor) -> usize {
    t.layout.elements().expect("no runtime dimension") as usize
}

fn padding_is_zero(tensor: &Tensor, bytes: &[u8]) -> bool {
    let Some(blocking) = tensor.blocking().filter(|b| !b.inner.is_empty() && tensor.dtype.bits() >= 8) else { return true };
    let size = tensor.dtype.bits() / 8;
    let mut zero = true;
    for_each_position(&blocking.padded_dims, |pos| {
        let outside = pos.iter().zip(tensor.dims().iter()).any(|(p, d)| p >= d);
        let at = blocking.offset_of(pos) as usize * size;
        zero &= !outside || bytes[at..at + size].iter().all(|&b| b == 0);
    });
    zero
}

struct InPlace<'a> {
    inner: &'a Bound,
    from: Arg,
    to: Arg,
}

impl Args for InPlace<'_> {
    fn tensor(&self, arg: Arg) -> Option<&Tensor> {
        self.inner.tensor(arg)
    }
    fn data(&self, arg: Arg, buffer: usize) -> Option<&[Cell<u8>]> {
        self.inner.data(if arg == self.to { self.from } else { arg }, buffer)
    }
}

/// Checks the gradients that the line `backward` gives against central differences of `sum(diff_dst * dst)` of the line `forward`, for every pair
/// (input of forward, gradient). Whatever backward needs it gets from forward. The lines should ask for f64.
pub(crate) fn check_gradients(forward: &str, backward: &str, pairs: &[(Arg, Arg)]) {
    let (mut f, mut b) = (Line::new(forward), Line::new(backward));
    // No two elements alike: a maximum must not change hands within a step.
    let distinct: Vec<f64> = f.values(Arg::SRC).iter().enumerate().map(|(i, v)| v + i as f64 * 0.0073).collect();
    f.set(Arg::SRC, &distinct).run();
    for o in b.problem.operands().into_iter().filter(|o| o.usage == Use::In && f.args.tensor(o.arg).is_some()) {
        b.set(o.arg, &f.values(o.arg));
    }
    b.run();
    let weights = b.values(Arg::DIFF_DST);
    for &(input, gradient) in pairs {
        let (x, got) = (f.values(input), b.values(gradient));
        // A power of two, so that f32 parameters move by just that.
        let h = 1.0 / 1024.0;
        let mut at = |i: usize, by: f64| {
            let mut moved = x.clone();
            moved[i] += by;
            let value = dot(&f.set(input, &moved).run().values(Arg::DST), &weights);
            f.set(input, &x);
            value
        };
        for (i, got) in got.iter().enumerate() {
            let slope = (8.0 * (at(i, h) - at(i, -h)) - (at(i, 2.0 * h) - at(i, -2.0 * h))) / (12.0 * h);
            assert!((got - slope).abs() < 1e-5 * slope.abs().max(1.0), "{backward}: {gradient}[{i}] is {got}, differences give {slope}");
        }
    }
}

/// Checks that the line gives the same numbers with the tags of `other`.
pub(crate) fn check_same(line: &str, other: &str, out: Arg) {
    let (a, b) = (Line::new(line), Line::new(other));
    assert_eq!(a.run().values(out), b.run().values(out), "{line} and {other}");
}
