//! The geometry that convolution and deconvolution share, and their sums in both directions.
//!
//! A kernel relates positions of a *small* spatial grid to positions of a *large* one: `large = small * stride - padding + k * dilation`. A
//! convolution reads the large grid and writes the small one, a deconvolution the reverse, and their backward-data passes the opposite of
//! that. So one sum ([`Pass::data`]) serves all four, and one ([`Pass::weights_gradient`]) both gradients of weights.

use crate::dot::products;
use crate::view::unravel;
use crate::{Args, Epilogue, Factor, View, for_each_position};
use oxidnn_spec::op::ConvSizes;
use oxidnn_spec::{Arg, Attr, Error};
use std::ops::Range;

/// A position of a data tensor: batch, channel, and as many of the three spatial positions as the tensor has.
pub(crate) struct Position {
    v: [i64; 5],
    ndims: usize,
}

impl Position {
    pub(crate) fn new(ndims: usize, n: i64, c: i64, p: [i64; 3]) -> Position {
        let mut v = [n, c, 0, 0, 0];
        v[2..ndims].copy_from_slice(&p[5 - ndims..]);
        Position { v, ndims }
    }
}

impl std::ops::Deref for Position {
    type Target = [i64];
    fn deref(&self) -> &[i64] {
        &self.v[..self.ndims]
    }
}

/// What the spatial position `p` adds to the offset in a view whose spatial dimensions begin with `first`.
#[inline]
fn spatial_term(view: &View<'_>, first: usize, p: [i64; 3]) -> i64 {
    let spatial = view.dims().len() - first;
    (0..spatial).map(|j| view.dim(first + j, p[3 - spatial + j])).sum()
}

/// A tensor N x C x spatial that is summed over, with its zero point.
pub(crate) struct Source<'a> {
    pub(crate) view: View<'a>,
    zero_point: Factor<'a>,
}

impl<'a> Source<'a> {
    /// The tensor passed as `arg`.
    pub(crate) fn of(attr: &Attr, args: &'a dyn Args, arg: Arg) -> Result<Source<'a>, Error> {
        let view = View::of(args, arg)?;
        Ok(Source { view, zero_point: Factor::zero_point(attr, args, arg, view.dims())? })
    }

    #[inline]
    pub(crate) fn get(&self, n: i64, c: i64, p: [i64; 3]) -> f64 {
        let v = &self.view;
        let x = v.load(v.origin() + v.dim(0, n) + v.dim(1, c) + spatial_term(v, 2, p));
        if self.zero_point.is_default() { x } else { x - self.zero_point.at(&Position::new(v.dims().len(), n, c, p)) }
    }
}

/// Weights `[G x] OC/G x IC/G x kernel`, their scales and zero point.
pub(crate) struct Weights<'a> {
    pub(crate) view: View<'a>,
    grouped: bool,
    scale: Factor<'a>,
    zero_point: Factor<'a>,
}

impl<'a> Weights<'a> {
    /// The weights passed as `arg` that go with data tensors of `ndims`.
    pub(crate) fn of(attr: &Attr, args: &'a dyn Args, arg: Arg, ndims: usize) -> Result<Weights<'a>, Error> {
        let view = View::of(args, arg)?;
        Ok(Weights {
            view,
            grouped: view.dims().len() > ndims,
            scale: Factor::scale(attr, args, arg, view.dims())?,
            zero_point: Factor::zero_point(attr, args, arg, view.dims())?,
        })
    }

    /// Calls `f` with the whole position of a weight.
    fn at<T>(&self, g: i64, oc: i64, ic: i64, k: [i64; 3], f: impl FnOnce(&[i64]) -> T) -> T {
        let p = Position::new(self.view.dims().len() - usize::from(self.grouped), oc, ic, k);
        let mut pos = [g, 0, 0, 0, 0, 0];
        pos[1..=p.len()].copy_from_slice(&p);
        f(&pos[usize::from(!self.grouped)..=p.len()])
    }

    #[inline]
    fn get(&self, g: i64, oc: i64, ic: i64, k: [i64; 3]) -> f64 {
        let (v, first) = (&self.view, usize::from(self.grouped));
        let group = if self.grouped { v.dim(0, g) } else { 0 };
        let x = v.load(v.origin() + group + v.dim(first, oc) + v.dim(first + 1, ic) + spatial_term(v, first + 2, k));
        if self.zero_point.is_default() { x } else { x - self.at(g, oc, ic, k, |pos| self.zero_point.at(pos)) }
    }

    /// The scale of output channel `oc` of group `g`.
    pub(crate) fn scale(&self, g: i64, oc: i64) -> f64 {
        if self.scale.is_default() { 1.0 } else { self.at(g, oc, 0, [0; 3], |pos| self.scale.at(pos)) }
    }
}

/// One element of a result: image, group, channel within the group, spatial position.
#[derive(Clone, Copy)]
pub(crate) struct Element {
    pub(crate) n: i64,
    pub(crate) g: i64,
    pub(crate) c: i64,
    pub(crate) p: [i64; 3],
}

/// Sizes of one pass, and which grid is whose.
#[derive(Clone, Copy)]
pub(crate) struct Pass {
    pub(crate) sizes: ConvSizes,
    small: [i64; 3],
    large: [i64; 3],
    /// The large grid is the input's: a convolution.
    input_is_large: bool,
}

impl Pass {
    /// A pass of a convolution.
    pub(crate) fn conv(sizes: ConvSizes) -> Pass {
        Pass { sizes, small: sizes.o, large: sizes.i, input_is_large: true }
    }

    /// A pass of a deconvolution.
    pub(crate) fn deconv(sizes: ConvSizes) -> Pass {
        Pass { sizes, small: sizes.i, large: sizes.o, input_is_large: false }
    }

    /// The position of the large grid that kernel element `k` relates to `small`.
    #[inline]
    fn in_large(&self, small: [i64; 3], k: [i64; 3]) -> Option<[i64; 3]> {
        let z = &self.sizes;
        let mut out = [0; 3];
        for d in 0..3 {
            out[d] = small[d] * z.s[d] - z.pl[d] + k[d] * z.d[d];
            if out[d] < 0 || out[d] >= self.large[d] {
                return None;
            }
        }
        Some(out)
    }

    /// The position of the small grid that kernel element `k` relates to `large`.
    #[inline]
    fn in_small(&self, large: [i64; 3], k: [i64; 3]) -> Option<[i64; 3]> {
        let z = &self.sizes;
        let mut out = [0; 3];
        for d in 0..3 {
            let scaled = large[d] + z.pl[d] - k[d] * z.d[d];
            out[d] = scaled / z.s[d];
            if scaled < 0 || scaled % z.s[d] != 0 || out[d] >= self.small[d] {
                return None;
            }
        }
        Some(out)
    }

    /// Calls `out(element, sum)` for every element in `images` of the output (`forward`) or of the input's gradient. `from` is the tensor at
    /// the other end.
    pub(crate) fn data(
        &self,
        forward: bool,
        images: Range<i64>,
        (from, weights): (&Source<'_>, &Weights<'_>),
        scratch: &mut [f64],
        mut out: impl FnMut(Element, f64),
    ) {
        let z = &self.sizes;
        let from_large = forward == self.input_is_large;
        let (result, given) = if forward { (z.oc, z.ic) } else { (z.ic, z.oc) };
        let grid = if from_large { self.small } else { self.large };
        let rows = [images.end - images.start, grid[0], grid[1], grid[2]];
        let terms = [given, z.k[0], z.k[1], z.k[2]];
        for g in 0..z.g {
            products(
                [rows.iter().product(), result, terms.iter().product()],
                scratch,
                |m, t| {
                    let ([n, p @ ..], [c, k @ ..]) = (unravel(m, &rows), unravel(t, &terms));
                    let q = if from_large { self.in_large(p, k) } else { self.in_small(p, k) };
                    Some(from.get(images.start + n, g * given + c, q?))
                },
                |t, c| {
                    let [other, k @ ..] = unravel(t, &terms);
                    let (oc, ic) = if forward { (c, other) } else { (other, c) };
                    weights.get(g, oc, ic, k)
                },
                |m, c0, sums| {
                    let [n, p @ ..] = unravel(m, &rows);
                    for (c, &sum) in (c0..).zip(sums.iter()) {
                        out(Element { n: images.start + n, g, c, p }, sum);
                    }
                },
            );
        }
    }

    /// Calls `out(position, gradient)` for every weight; `large` and `small` are the data on the two grids.
    pub(crate) fn weights_gradient(
        &self,
        (large, small): (&Source<'_>, &Source<'_>),
        weights: &Weights<'_>,
        scratch: &mut [f64],
        mut out: impl FnMut(&[i64], f64),
    ) {
        let z = &self.sizes;
        let (rc, cc) = if self.input_is_large { (z.ic, z.oc) } else { (z.oc, z.ic) };
        let rows = [rc, z.k[0], z.k[1], z.k[2]];
        let terms = [z.mb, self.small[0], self.small[1], self.small[2]];
        for g in 0..z.g {
            products(
                [rows.iter().product(), cc, terms.iter().product()],
                scratch,
                |m, t| {
                    let ([c, k @ ..], [n, p @ ..]) = (unravel(m, &rows), unravel(t, &terms));
                    Some(large.get(n, g * rc + c, self.in_large(p, k)?))
                },
                |t, c| {
                    let [n, p @ ..] = unravel(t, &terms);
                    small.get(n, g * cc + c, p)
                },
                |m, c0, sums| {
                    let [r, k @ ..] = unravel(m, &rows);
                    for (c, &sum) in (c0..).zip(sums.iter()) {
                        let (oc, ic) = if self.input_is_large { (c, r) } else { (r, c) };
                        weights.at(g, oc, ic, k, |pos| out(pos, sum));
                    }
                },
            );
        }
    }

    /// Backward data: the input's gradient from the output's.
    pub(crate) fn run_backward_data<'a>(&self, attr: &'a Attr, args: &'a dyn Args, scratch: &mut [f64]) -> Result<(), Error> {
        let tail = Epilogue::new(attr, args, Arg::DIFF_SRC)?;
        let ndims = tail.dst().dims().len();
        let (from, weights) = (Source::of(attr, args, Arg::DIFF_DST)?, Weights::of(attr, args, Arg::WEIGHTS, ndims)?);
        let z = self.sizes;
        self.data(false, 0..z.mb, (&from, &weights), scratch, |e, sum| {
            tail.finish(&Position::new(ndims, e.n, e.g * z.ic + e.c, e.p), sum);
        });
        tail.dst().zero_padding();
        Ok(())
    }

    /// Backward weights: the gradients of weights and bias.
    pub(crate) fn run_backward_weights<'a>(&self, attr: &'a Attr, args: &'a dyn Args, scratch: &mut [f64]) -> Result<(), Error> {
        let (input, output) = (Source::of(attr, args, Arg::SRC)?, Source::of(attr, args, Arg::DIFF_DST)?);
        let weights = Weights::of(attr, args, Arg::DIFF_WEIGHTS, input.view.dims().len())?;
        let tail = Epilogue::new(attr, args, Arg::DIFF_WEIGHTS)?;
        let data = if self.input_is_large { (&input, &output) } else { (&output, &input) };
        self.weights_gradient(data, &weights, scratch, |pos, sum| tail.finish(pos, sum));
        weights.view.zero_padding();
        if let Some(bias) = View::optional(args, Arg::DIFF_BIAS)? {
            let z = &self.sizes;
            for c in 0..z.g * z.oc {
                let mut sum = 0.0;
                for_each_position(&[z.mb, z.o[0], z.o[1], z.o[2]], |p| sum += output.get(p[0], c, [p[1], p[2], p[3]]));
                bias.set(&[c], sum);
            }
            bias.zero_padding();
        }
        Ok(())
    }

    /// Forward, from `images` into `out(position, value)`: sums, scales and bias.
    pub(crate) fn forward(&self, op: &Forward<'_>, images: Range<i64>, scratch: &mut [f64], mut out: impl FnMut(&[i64], f64)) {
        let (z, ndims) = (self.sizes, op.src.view.dims().len());
        self.data(true, images, (&op.src, &op.weights), scratch, |e, sum| {
            let c = e.g * z.oc + e.c;
            let bias = op.bias.map_or(0.0, |b| b.get(&[c]));
            out(&Position::new(ndims, e.n, c, e.p), sum * (op.src_scale * op.weights.scale(e.g, e.c)) + bias);
        });
    }
}

/// What a forward pass reads.
pub(crate) struct Forward<'a> {
    src: Source<'a>,
    src_scale: f64,
    weights: Weights<'a>,
    bias: Option<View<'a>>,
}

impl<'a> Forward<'a> {
    pub(crate) fn of(attr: &Attr, args: &'a dyn Args) -> Result<Forward<'a>, Error> {
        let src = Source::of(attr, args, Arg::SRC)?;
        let (dims, zero) = (src.view.dims(), [0; 5]);
        Ok(Forward {
            src_scale: Factor::scale(attr, args, Arg::SRC, dims)?.at(&zero[..dims.len()]),
            weights: Weights::of(attr, args, Arg::WEIGHTS, dims.len())?,
            bias: View::optional(args, Arg::BIAS)?,
            src,
        })
    }
}
