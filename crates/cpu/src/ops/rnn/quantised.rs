//! Integer networks. States are `scale * x + shift` in 8 bits, weights `scale_w * w`. So a sum of products is a real number times both
//! scales, plus `shift` times the column sum of the weights. What is subtracted from the sums of a gate and channel, and the factor of the
//! rest, are computed once an execution. The former is an integer, so the difference is exact. Packed weights include their column sums.
//!
//! Products of signed bytes add 128 to every state (see `oxidnn_jit::kernels::dot`), which counts as part of the shift.

use super::sizes::{LINE, Sizes};
use super::skinny;
use super::states::Codec;
use super::weights::Weights;
use crate::kernels::microkernel::DotType;
use crate::kernels::multiversion::{Simd, multiversion};
use oxidnn_jit::Isa;
use oxidnn_runtime::Buf;
use oxidnn_spec::{Attr, DataType, Real};

/// Most gates.
const MAX_GATES: usize = 4;

/// The quantisation of a network.
#[derive(Debug)]
pub(super) struct Quantised {
    scale: f32,
    shift: f32,
    /// Whether panels of recurrent weights are inspected for all steps.
    inspects: bool,
    /// What products add to every element of the states: vectors multiply signed bytes as unsigned ones.
    added: f64,
    /// The factors of sums, one or one per column; and those of the projection's sums.
    factors: Vec<f32>,
    projection: Vec<f32>,
}

/// Weights whose columns are summed.
pub(super) type Matrix<'w> = (&'w Weights, Buf<'w>);

/// What is subtracted from sums, the factors of the rest, which panels of the recurrent weights have seven bits, and scratch.
pub(super) struct Lines<'l> {
    pub(super) simd: Simd,
    pub(super) shifts: &'l mut [f32],
    pub(super) factors: &'l mut [f32],
    /// 1 where a panel has seven bits, if several steps ask for it.
    pub(super) seven_bits: &'l mut [f32],
}

impl Quantised {
    /// The attributes' quantisation.
    pub(super) fn new(attr: &Attr, (isa, product): (Isa, DotType), z: &Sizes) -> Quantised {
        let (scale, shift) = attr.rnn.data.map_or((1.0, 0.0), |(scale, shift)| (scale.get(), shift.get()));
        let factor = |by: f32| (1.0 / (f64::from(scale) * f64::from(by))) as f32;
        let factors = |q: &Option<(u32, Vec<Real>)>| {
            q.as_ref().map_or_else(|| vec![factor(1.0)], |q| q.1.iter().map(|scale| factor(scale.get())).collect())
        };
        Quantised {
            scale,
            shift,
            inspects: z.time > 1 && skinny::inspects(isa, product, z.samples()),
            added: if product == DotType::S8S8 && !isa.amx { 128.0 } else { 0.0 },
            factors: factors(&attr.rnn.weights),
            projection: factors(&attr.rnn.projection),
        }
    }

    /// The representation of states of a type.
    pub(super) const fn codec(&self, dtype: DataType) -> Codec {
        Codec { dtype, whole: Some((self.scale, self.shift)) }
    }

    /// Computes the lines of gates from the weights of input and state, or those of projected states from the weights of the projection.
    pub(super) fn fill(&self, z: &Sizes, of: &[Matrix<'_>], to: &mut Lines<'_>) {
        let Some((recurrent, buf)) = of.last() else { return };
        let (gates, channels, by) = if of.len() > 1 { (z.gates, z.dhc, &self.factors) } else { (1, z.dic, &self.projection) };
        let panels = recurrent.panels;
        let shift = f64::from(self.shift) + self.added;
        let line = gates * panels.width;
        let lines = to.shifts.chunks_exact_mut(line).zip(to.factors.chunks_exact_mut(line));
        for (i, (shifts, factors)) in lines.enumerate() {
            let (stack, panel) = (i / panels.count, i % panels.count);
            let mut totals = [0.0f64; MAX_GATES * LINE];
            for (weights, buf) in of {
                let mut sums = [0; MAX_GATES * LINE];
                weights.column_sums(to.simd, *buf, (stack, panel), &mut sums);
                add(to.simd, &sums[..line], &mut totals);
            }
            let group = recurrent.group(*buf, (stack, panel..panel + 1), 0..gates);
            to.seven_bits[i] = f32::from(u8::from(self.inspects && group.fits(to.simd)));
            shift_by(to.simd, &totals, shift, shifts);
            let (first, count) = panels.channels(panel, channels);
            for (gate, line) in factors.chunks_exact_mut(panels.width).enumerate() {
                match by.as_slice() {
                    [one] => line.fill(*one),
                    many => line[..count].copy_from_slice(&many[gate * channels + first..][..count]),
                }
            }
        }
    }
}

multiversion! {
    /// `totals += sums`.
    fn add(sums: &[i32], totals: &mut [f64]) {
        totals.iter_mut().zip(sums).for_each(|(total, sum)| *total += f64::from(*sum));
    }
}

multiversion! {
    /// Totals of columns times the shift.
    fn shift_by(totals: &[f64], shift: f64, to: &mut [f32]) {
        to.iter_mut().zip(totals).for_each(|(to, total)| *to = (total * shift) as f32);
    }
}
