//! Networks of integers: states are `scale * x + shift` in 8 bits, weights `scale_w * w`, so a sum of products is a real number times both
//! scales, and what the shift adds to it is `shift` times the sum of the column of weights. What a gate and channel take away from sums, and
//! what they multiply the rest by, is made once in an execution. The first is an integer, which leaves the difference exact. Packed weights bring
//! the sums of their columns along; those of others are found by a product with a row of ones.
//!
//! Products of signed bytes have 128 added to every state (see `oxidnn_jit::kernels::dot`), which counts as shift.

use super::sizes::{LINE, Panels, Sizes};
use super::skinny::{Ready, Rows, Skinny};
use super::states::Codec;
use super::weights::Weights;
use crate::kernels::multiversion::{Body, Simd};
use crate::kernels::tile::Product;
use oxidnn_jit::Isa;
use oxidnn_runtime::Buf;
use oxidnn_spec::{Attr, DataType, Error, Real};

/// Most gates.
const GATES: usize = 4;

/// How a network is quantised.
#[derive(Debug)]
pub(super) struct Quantised {
    scale: f32,
    shift: f32,
    product: Product,
    /// What products add to every number of the states: vectors multiply signed bytes as unsigned ones.
    added: f64,
    /// What sums are multiplied by, one number or one a column; and those of the projection.
    factors: Vec<f32>,
    projection: Vec<f32>,
    /// Sums of columns of the weights of input, state and projection.
    layer: Skinny,
    iter: Skinny,
    projected: Skinny,
}

/// The kernels that sum columns of the weights of input, state and projection.
#[derive(Debug)]
pub(super) struct Code {
    layer: Ready,
    iter: Ready,
    projected: Ready,
}

/// Weights whose columns are summed.
pub(super) type Matrix<'w> = (&'w Weights, Buf<'w>);

/// What is taken away from sums, what the rest is multiplied by, which panels of the weights that steps multiply have seven bits, and scratch.
pub(super) struct Lines<'l> {
    pub(super) simd: Simd,
    pub(super) shifts: &'l mut [f32],
    pub(super) factors: &'l mut [f32],
    /// 1 where a panel has seven bits, else 0.
    pub(super) seven_bits: &'l mut [f32],
    pub(super) ones: Buf<'l>,
}

impl Quantised {
    /// The quantisation that the attributes say, of panels of gates and of projected states.
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
            added: if product == Product::S8S8 && !isa.amx { 128.0 } else { 0.0 },
            factors: factors(&attr.rnn.weights),
            projection: factors(&attr.rnn.projection),
            layer: Skinny::row(isa, product, [z.slc, gates.width]),
            iter: Skinny::row(isa, product, [z.sic, gates.width]),
            projected: Skinny::row(isa, product, [z.dhc, outputs.width]),
        }
    }

    /// Generates the kernels.
    ///
    /// # Errors
    /// [`Error::Runtime`] where one cannot be generated.
    pub(super) fn build(&self) -> Result<Code, Error> {
        Ok(Code { layer: self.layer.build()?, iter: self.iter.build()?, projected: self.projected.build()? })
    }

    /// How states of a type are held.
    pub(super) const fn codec(&self, dtype: DataType) -> Codec {
        Codec { dtype, whole: Some((self.scale, self.shift)) }
    }

    /// Elements of scratch of [`Lines::ones`].
    pub(super) fn ones(z: &Sizes) -> usize {
        z.slc.max(z.sic).max(z.dhc).div_ceil(4)
    }

    /// The elements of gates.
    pub(super) fn gates(&self, code: &Code, z: &Sizes, [layer, iter]: [Matrix<'_>; 2], to: &mut Lines<'_>) {
        let of = [(&code.layer, layer), (&code.iter, iter)];
        self.fill((layer.0.panels, z.gates, z.dhc), &of, &self.factors, to);
    }

    /// The elements of projected states.
    pub(super) fn projected(&self, code: &Code, z: &Sizes, projection: Matrix<'_>, to: &mut Lines<'_>) {
        self.fill((projection.0.panels, 1, z.dic), &[(&code.projected, projection)], &self.projection, to);
    }

    /// Walks weights panel by panel; the last matrix of `of` is the one that steps multiply.
    fn fill(&self, (panels, gates, channels): (Panels, usize, usize), of: &[(&Ready, Matrix<'_>)], by: &[f32], to: &mut Lines<'_>) {
        // What vectors take for 1.
        to.ones.fill(if self.product == Product::S8S8 { 0x81 } else { 1 });
        let ones = Rows { buf: to.ones, start: 0, row: 0 };
        let shift = f64::from(self.shift) + self.added;
        let line = gates * panels.width;
        let lines = to.shifts.chunks_exact_mut(line).zip(to.factors.chunks_exact_mut(line));
        for (i, (shifts, factors)) in lines.enumerate() {
            let (stack, panel) = (i / panels.count, i % panels.count);
            let mut totals = [0.0f64; GATES * LINE];
            for (skinny, (weights, buf)) in of {
                let mut sums = [0.0f32; GATES * LINE];
                let group = skinny.with_bits(to.simd, weights.group(*buf, (stack, panel), 0..gates));
                to.seven_bits[i] = f32::from(u8::from(group.seven_bits));
                let kept = weights.kept_sums(*buf, (stack, panel), &mut sums);
                if !kept {
                    skinny.run((&ones, 0..1), &[[0, 0]], &group, (&mut sums, line));
                }
                let sums = &bytemuck::cast_slice(&sums)[..line];
                to.simd.run(Add { sums, factor: if kept { -1.0 } else { 1.0 }, totals: &mut totals });
            }
            to.simd.run(Shifts { totals: &totals, shift, to: shifts });
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

/// `totals += factor * sums`.
struct Add<'s> {
    sums: &'s [i32],
    factor: f64,
    totals: &'s mut [f64],
}

impl Body for Add<'_> {
    type Out = ();

    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) {
        self.totals.iter_mut().zip(self.sums).for_each(|(total, sum)| *total += self.factor * f64::from(*sum));
    }
}

/// Totals of columns times the shift.
struct Shifts<'s> {
    totals: &'s [f64],
    shift: f64,
    to: &'s mut [f32],
}

impl Body for Shifts<'_> {
    type Out = ();

    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) {
        self.to.iter_mut().zip(self.totals).for_each(|(to, total)| *to = (total * self.shift) as f32);
    }
}
