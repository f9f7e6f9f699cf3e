//! Integer networks. States are `scale * x + shift` in 8 bits, weights `scale_w * w`. So a sum of products is a real number times both
//! scales, plus `shift` times the column sum of the weights. What is subtracted from the sums of a gate and channel, and the factor of the
//! rest, are computed once an execution. The former is an integer, so the difference is exact. Packed weights include their column sums;
//! for others a product with a row of ones computes them.
//!
//! Products of signed bytes add 128 to every state (see `oxidnn_jit::kernels::dot`), which counts as part of the shift.

use super::sizes::{LINE, Panels, Sizes};
use super::skinny::{self, Ready, Rows, Skinny};
use super::states::Codec;
use super::weights::Weights;
use crate::kernels::multiversion::{Simd, multiversion};
use crate::kernels::tile::Product;
use oxidnn_jit::Isa;
use oxidnn_runtime::Buf;
use oxidnn_spec::{Attr, DataType, Error, Real};

/// Most gates.
const MAX_GATES: usize = 4;

/// The quantisation of a network.
#[derive(Debug)]
pub(super) struct Quantised {
    scale: f32,
    shift: f32,
    product: Product,
    /// Whether panels of recurrent weights are inspected for all steps.
    inspects: bool,
    /// What products add to every element of the states: vectors multiply signed bytes as unsigned ones.
    added: f64,
    /// The factors of sums, one or one per column; and those of the projection's sums.
    factors: Vec<f32>,
    projection: Vec<f32>,
    /// Column sums of the weights of input, state and projection.
    sums: [Skinny; 3],
}

/// The kernels that compute column sums of the weights of input, state and projection.
pub(super) type Code = [Ready; 3];

/// Weights whose columns are summed.
pub(super) type Matrix<'w> = (&'w Weights, Buf<'w>);

/// What is subtracted from sums, the factors of the rest, which panels of the recurrent weights have seven bits, and scratch.
pub(super) struct Lines<'l> {
    pub(super) simd: Simd,
    pub(super) shifts: &'l mut [f32],
    pub(super) factors: &'l mut [f32],
    /// 1 where a panel has seven bits, if several steps ask for it.
    pub(super) seven_bits: &'l mut [f32],
    pub(super) ones: Buf<'l>,
}

impl Quantised {
    /// The attributes' quantisation, for panels of gates and of projected states.
    pub(super) fn new(attr: &Attr, (isa, product): (Isa, Product), z: &Sizes, [gates, outputs]: [Panels; 2]) -> Quantised {
        let (scale, shift) = attr.rnn.data.map_or((1.0, 0.0), |(scale, shift)| (scale.get(), shift.get()));
        let factor = |by: f32| (1.0 / (f64::from(scale) * f64::from(by))) as f32;
        let factors = |q: &Option<(u32, Vec<Real>)>| {
            q.as_ref().map_or_else(|| vec![factor(1.0)], |q| q.1.iter().map(|scale| factor(scale.get())).collect())
        };
        Quantised {
            scale,
            shift,
            product,
            inspects: z.time > 1 && skinny::inspects(isa, product, z.samples()),
            added: if product == Product::S8S8 && !isa.amx { 128.0 } else { 0.0 },
            factors: factors(&attr.rnn.weights),
            projection: factors(&attr.rnn.projection),
            sums: [[z.slc, gates.width], [z.sic, gates.width], [z.dhc, outputs.width]].map(|size| Skinny::row(isa, product, size)),
        }
    }

    /// Generates the kernels.
    ///
    /// # Errors
    /// [`Error::Runtime`] if one cannot be generated.
    pub(super) fn build(&self) -> Result<Code, Error> {
        let [layer, iter, projected] = self.sums.each_ref().map(Skinny::build);
        Ok([layer?, iter?, projected?])
    }

    /// The representation of states of a type.
    pub(super) const fn codec(&self, dtype: DataType) -> Codec {
        Codec { dtype, whole: Some((self.scale, self.shift)) }
    }

    /// Elements of scratch of [`Lines::ones`].
    pub(super) fn ones(z: &Sizes) -> usize {
        z.slc.max(z.sic).max(z.dhc).div_ceil(4)
    }

    /// Computes the lines of gates.
    pub(super) fn gates(&self, code: &Code, z: &Sizes, [layer, iter]: [Matrix<'_>; 2], to: &mut Lines<'_>) {
        let of = [(&code[0], layer), (&code[1], iter)];
        self.fill((layer.0.panels, z.gates, z.dhc), &of, &self.factors, to);
    }

    /// Computes the lines of projected states.
    pub(super) fn projected(&self, code: &Code, z: &Sizes, projection: Matrix<'_>, to: &mut Lines<'_>) {
        self.fill((projection.0.panels, 1, z.dic), &[(&code[2], projection)], &self.projection, to);
    }

    /// Processes weights panel by panel; the last matrix of `of` is the recurrent one.
    fn fill(&self, (panels, gates, channels): (Panels, usize, usize), of: &[(&Ready, Matrix<'_>)], by: &[f32], to: &mut Lines<'_>) {
        // A 1 for products that add 128.
        to.ones.fill(if self.product == Product::S8S8 { 0x81 } else { 1 });
        let ones = Rows { buf: to.ones, start: 0, row: 0 };
        let shift = f64::from(self.shift) + self.added;
        let line = gates * panels.width;
        let lines = to.shifts.chunks_exact_mut(line).zip(to.factors.chunks_exact_mut(line));
        for (i, (shifts, factors)) in lines.enumerate() {
            let (stack, panel) = (i / panels.count, i % panels.count);
            let mut totals = [0.0f64; MAX_GATES * LINE];
            for (n, (skinny, (weights, buf))) in of.iter().enumerate() {
                let mut sums = [0.0f32; MAX_GATES * LINE];
                let kept = weights.kept_sums(*buf, (stack, panel), &mut sums);
                let group = weights.group(*buf, (stack, panel..panel + 1), 0..gates);
                if n + 1 == of.len() {
                    to.seven_bits[i] = f32::from(u8::from(self.inspects && group.fits(to.simd)));
                }
                if !kept {
                    skinny.run((&ones, 0..1), &[[0, 0]], &group, (&mut sums, line));
                }
                let sums = &bytemuck::cast_slice(&sums)[..line];
                add(to.simd, sums, if kept { -1.0 } else { 1.0 }, &mut totals);
            }
            shift_by(to.simd, &totals, shift, shifts);
            let (first, count) = panels.channels(panel, channels);
            for (gate, line) in factors.chunks_exact_mut(panels.width).enumerate() {
                match by {
                    [one] => line.fill(*one),
                    many => line[..count].copy_from_slice(&many[gate * channels + first..][..count]),
                }
            }
        }
    }
}

multiversion! {
    /// `totals += factor * sums`.
    fn add(sums: &[i32], factor: f64, totals: &mut [f64]) {
        totals.iter_mut().zip(sums).for_each(|(total, sum)| *total += factor * f64::from(*sum));
    }
}

multiversion! {
    /// Totals of columns times the shift.
    fn shift_by(totals: &[f64], shift: f64, to: &mut [f32]) {
        to.iter_mut().zip(totals).for_each(|(to, total)| *to = (total * shift) as f32);
    }
}
