//! `scattered:jit`: gradients of data and deconvolutions to few channels of tensors whose pixels lie closest (NCHW).
//!
//! Few channels leave most of a vector idle, and a window has as many products of a pixel as it has taps. Here channels and taps together are the rows of a
//! product by pixels, in place ([`columns`](super::columns)); each of its results is then added where the window has it.

use super::columns::plan_anyway;
use super::geometry::Direction;
use super::tiles;
use super::window::{Setup, place_tap, resolve_data, resolve_planes, sizes_of};
use crate::CpuTarget;
use crate::decision::around;
use crate::kernels::access::{Pos, View};
use crate::kernels::multiversion::{Body, Simd};
use crate::kernels::scratch::{Scratch, booked};
use crate::kernels::tile::Product;
use crate::ops::support;
use crate::row::{Generated, RowPlan};
use oxidnn_runtime::{Bound, Buf, Ctx, Decision, Exec, Plan, Region, Skip};
use oxidnn_spec::op::{Conv, ConvAlg, ConvSizes, Use, Window};
use oxidnn_spec::{Arg, Attr, DataType, Dims, Error, MAX_NDIMS, Problem, Prop, Tensor};
use std::sync::Arc;

/// Most channels of the result in a group, and fewest of the source.
const FEW: i64 = 8;
/// Most bytes of an image's products.
const MOST: usize = 16 << 20;
/// Elements that are added at a time.
const LINE: usize = 64;

#[derive(Debug)]
struct Scattered {
    inner: Box<dyn Plan>,
    sizes: ConvSizes,
    source: Arg,
    result: Arg,
    /// Which of the weights' channel dimensions is the result's, and whether there is one of groups before them.
    result_channel: usize,
    has_groups: bool,
    /// Channels of a group of the source and of the result, and taps.
    depth: usize,
    channels: usize,
    taps: usize,
    /// Sizes of the source and of the result.
    from: [usize; 3],
    to: [usize; 3],
}

/// Plans `problem`.
///
/// # Errors
/// What the row does not take.
pub(crate) fn plan(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    let isa = target.jit.ok_or(Skip::Isa("avx2, or executable memory"))?;
    let s = Setup::of(&problem.op)?;
    if s.direction != Direction::Scatter || [s.source.1, s.weights, s.result.1].iter().any(|t| t.dtype != DataType::F32) {
        return Err(Skip::Op("other than gradients of data and deconvolution in f32"));
    }
    let Attr { post_ops, scales, zero_points, dropout, rounding, .. } = &problem.attr;
    if !(post_ops.is_empty() && scales.is_empty() && zero_points.is_empty() && rounding.is_empty()) || dropout.is_some() {
        return Err(Skip::Attr("what changes results".into()));
    }
    let (channels, depth) = if s.result_channel == 0 { (s.sizes.oc, s.sizes.ic) } else { (s.sizes.ic, s.sizes.oc) };
    let taps = s.sizes.k.iter().fold(1i64, |n, k| n.saturating_mul(*k));
    if !(1..=FEW).contains(&channels) || depth < FEW || !(1..=1 << 10).contains(&taps) {
        return Err(Skip::Shape("other than few channels of many, or so many taps"));
    }
    // To add every second number takes as long as lanes that are idle.
    if s.sizes.s[2] != 1 && s.source.1.layout.is_any() && s.result.1.layout.is_any() {
        return Err(Skip::Layout("any, with strides".into()));
    }
    let mut problem = problem.clone();
    resolve_planes(&mut problem, isa)?;
    let s = Setup::of(&problem.op)?;
    let planes = |t: &Tensor| !t.is_empty() && Tensor::with_tag(*t.dims(), DataType::F32, "abx").is_ok_and(|plain| plain == *t);
    if !planes(s.source.1) || !planes(s.result.1) {
        return Err(Skip::Layout("other than pixels closest".into()));
    }
    let tag = tiles::weights_tag(&s, isa, Product::F32);
    resolve_data(&mut problem, &tag)?;
    problem.resolve();
    support::dense(&problem)?;
    let s = Setup::of(&problem.op)?;
    let inner = plan_anyway(&products(&s, channels * taps, depth)?, target)?;
    let sizes = |t: &Tensor| sizes_of(t).map(|n| n as usize);
    let scattered = Scattered {
        inner,
        sizes: s.sizes,
        source: s.source.0,
        result: s.result.0,
        result_channel: s.result_channel,
        has_groups: s.weights.dims().len() > s.result.1.dims().len(),
        depth: depth as usize,
        channels: channels as usize,
        taps: taps as usize,
        from: sizes(s.source.1),
        to: sizes(s.result.1),
    };
    RowPlan::of(problem, target, scattered.parts().and_then(|parts| booked(&parts)), scattered)
}

/// The products of an image's pixels by so many rows of weights in a group.
fn products(s: &Setup<'_>, rows: i64, depth: i64) -> Result<Problem, Skip> {
    let refused = |e: Error| Skip::Layout(e.to_string());
    let (groups, pixels) = (s.sizes.g, s.source.1.dims()[2..].iter().product::<i64>());
    let plain = |channels: i64| Tensor::with_tag([1, channels, pixels], DataType::F32, "abx").map_err(refused);
    let (src, dst) = (plain(groups * depth)?, plain(groups * rows)?);
    if dst.bytes() > MOST {
        return Err(Skip::Shape("so many products"));
    }
    let weights = if groups > 1 { Dims::from_fn(4, |d| [groups, rows, depth, 1][d]) } else { Dims::from_fn(3, |d| [rows, depth, 1][d]) };
    let all = |n: i64| Dims::from_fn(1, |_| n);
    let conv = Conv {
        prop: Prop::ForwardInference,
        alg: ConvAlg::Direct,
        src,
        weights: Tensor::any(weights, DataType::F32),
        bias: None,
        dst,
        window: Window { strides: all(1), dilations: all(0), padding_l: all(0), padding_r: all(0) },
        depthwise_weights: None,
        depthwise_bias: None,
        depthwise_dst: None,
    };
    Problem::new(conv, Attr::default()).map_err(refused)
}

impl Scattered {
    /// Elements of scratch: of the product, its weights and its results; `None` on overflow.
    fn parts(&self) -> Option<[usize; 3]> {
        let bytes = |arg: Arg| self.inner.problem().op.tensor(arg).map(|t| t.bytes().div_ceil(4));
        Some([self.inner.scratch_bytes().div_ceil(4), bytes(Arg::WEIGHTS)?, bytes(Arg::DST)?])
    }

    /// Writes the weights of a channel of the result, tap by tap, as rows of the product.
    fn pack(&self, from: &View<'_>, to: &View<'_>, channel: usize) {
        let (n, grouped, has_groups) = (from.dims().len(), usize::from(self.sizes.g > 1), usize::from(self.has_groups));
        let (row, depth_dim) = (has_groups + self.result_channel, has_groups + 1 - self.result_channel);
        for tap in 0..self.taps {
            let (mut pos, mut at): (Pos, Pos) = ([0; MAX_NDIMS], [0; MAX_NDIMS]);
            if has_groups == 1 {
                pos[0] = (channel / self.channels) as i64;
            }
            if grouped == 1 {
                at[0] = (channel / self.channels) as i64;
            }
            pos[row] = (channel % self.channels) as i64;
            at[grouped] = (channel % self.channels * self.taps + tap) as i64;
            place_tap(&mut pos, (n, 2 + has_groups), tap, self.sizes.k);
            let mut line = [0.0; LINE];
            for first in (0..self.depth).step_by(LINE) {
                let line = &mut line[..LINE.min(self.depth - first)];
                (pos[depth_dim], at[grouped + 1]) = (first as i64, first as i64);
                from.read(&pos, depth_dim, line);
                to.write(&at, grouped + 1, line);
            }
        }
    }
}

/// The products of a channel of the result, to be added in its plane.
struct Add<'a> {
    plan: &'a Scattered,
    products: Buf<'a>,
    /// Their first number.
    first: usize,
    to: Buf<'a>,
    /// The plane's first number, and what all begin with.
    plane: usize,
    begin: f32,
}

impl Body for Add<'_> {
    type Out = ();

    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) {
        let p = self.plan;
        let all = p.to.iter().product::<usize>();
        let begin = [self.begin; LINE];
        for first in (0..all).step_by(LINE) {
            self.to.write(self.plane + first, &begin[..LINE.min(all - first)]);
        }
        let [depth, height, width] = p.from;
        let (s, pixels) = (&p.sizes, depth * height * width);
        let [_, kh, kw] = s.k.map(|k| k as usize);
        let place = |i: usize, at: usize, tap: usize| at as i64 * s.s[i] + tap as i64 * s.d[i] - s.pl[i];
        let inside = |i: usize, x: i64| (0..p.to[i] as i64).contains(&x);
        for tap in 0..p.taps {
            let [td, th, tw] = [tap / (kh * kw), tap / kw % kh, tap % kw];
            let low = (0..width).find(|x| place(2, *x, tw) >= 0).unwrap_or(width);
            let end = (low..width).rev().find(|x| inside(2, place(2, *x, tw))).map_or(low, |x| x + 1);
            for line in 0..depth * height {
                let (z, y) = (place(0, line / height, td), place(1, line % height, th));
                if low < end && inside(0, z) && inside(1, y) {
                    let to = (z as usize * p.to[1] + y as usize) * p.to[2] + place(2, low, tw) as usize;
                    self.line(self.first + tap * pixels + line * width + low, self.plane + to, end - low);
                }
            }
        }
    }
}

impl Add<'_> {
    /// Adds so many products to results.
    #[inline(always)]
    fn line(&self, from: usize, to: usize, count: usize) {
        let step = self.plan.sizes.s[2] as usize;
        let (mut products, mut results) = ([0.0f32; LINE], [0.0f32; LINE]);
        for first in (0..count).step_by(LINE) {
            let n = LINE.min(count - first);
            let (products, results) = (&mut products[..n], &mut results[..n]);
            self.products.read(from + first, products);
            if step == 1 {
                self.to.read(to + first, results);
                results.iter_mut().zip(&*products).for_each(|(r, x)| *r += x);
                self.to.write(to + first, results);
                continue;
            }
            for (i, x) in products.iter().enumerate() {
                let at = to + (first + i) * step;
                self.to.set(at, self.to.get::<f32>(at) + x);
            }
        }
    }
}

impl Generated for Scattered {
    type Code = Arc<dyn Exec>;

    fn decision(&self, _: &Problem) -> Decision {
        let bytes = self.inner.problem().op.tensor(Arg::DST).map_or(0, Tensor::bytes);
        around("products of pixels by taps, added where the window has them", &*self.inner, self.sizes.mb as usize, bytes)
    }

    fn build(&self) -> Result<Arc<dyn Exec>, Error> {
        self.inner.build()
    }

    fn run(&self, exec: &Arc<dyn Exec>, simd: Simd, ctx: &Ctx<'_>, mut scratch: Scratch<'_>) -> Result<(), Error> {
        let missing = || Error::Runtime("a product without an operand".into());
        let inner = &self.inner.problem().op;
        let tensor = |arg: Arg| inner.tensor(arg).ok_or_else(missing);
        let [shared, weights, products] = self.parts().ok_or_else(missing)?;
        let shared = Region::host(scratch.take(shared)?.into_buf());
        let rows = scratch.take(weights)?.into_buf();
        let products = scratch.take(products)?.into_buf();
        let (from, source, result) = (View::of(simd, ctx, Arg::WEIGHTS)?, ctx.buf(self.source)?, ctx.buf(self.result)?);
        let to = View::new(simd, Arg::WEIGHTS, tensor(Arg::WEIGHTS)?, rows)?;
        to.zero_padding();
        let channels = self.sizes.g as usize * self.channels;
        let executor = ctx.executor();
        executor.run(executor.threads(), channels, &|_, channel| self.pack(&from, &to, channel));
        let bias = View::optional(simd, ctx, Arg::BIAS)?;
        let image = |sizes: &[usize; 3], channels: usize| sizes.iter().product::<usize>() * channels;
        let (in_image, out_image) = (image(&self.from, self.sizes.g as usize * self.depth), image(&self.to, channels));
        let any = *ctx.args.first().ok_or_else(missing)?;
        for index in 0..self.sizes.mb as usize {
            let regions = [[Region::host(source.part(index * in_image * 4, in_image * 4))], [Region::host(rows)], [Region::host(products)]];
            let bound = |i: usize, arg: Arg, usage: Use| Ok(Bound { arg, usage, tensor: tensor(arg)?, regions: &regions[i], ..any });
            let args = [bound(0, Arg::SRC, Use::In)?, bound(1, Arg::WEIGHTS, Use::In)?, bound(2, Arg::DST, Use::Out)?];
            exec.run(&Ctx { args: &args, scratch: shared, ..*ctx })?;
            executor.run(executor.threads(), channels, &|_, channel| {
                let mut pos: Pos = [0; MAX_NDIMS];
                pos[0] = channel as i64;
                let begin = bias.as_ref().map_or(0.0, |bias| bias.get(&pos));
                let first = channel * self.taps * self.from.iter().product::<usize>();
                let plane = index * out_image + channel * self.to.iter().product::<usize>();
                simd.run(Add { plan: self, products, first, to: result, plane, begin });
            });
        }
        Ok(())
    }
}
