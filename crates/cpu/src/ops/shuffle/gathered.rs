//! Shuffles of an axis whose elements are neighbours in memory: rows of it are read, permuted and written.

use crate::kernels::multiversion::Simd;
use crate::kernels::pointwise::{Copies, Nest, Place, grain_rows, split};
use crate::kernels::scratch::Scratch;
use crate::row::Kernel;
use oxidnn_runtime::{Buf, Ctx, Element, Skip};
use oxidnn_spec::{Arg, Error, Tensor};

/// Most elements that are read before they are written.
const NEAR: usize = 2048;

/// Elements that lie behind each other and are read together.
const RUN: usize = 512;

/// What an element costs whose place is looked up, beside one that is moved.
const GATHERED: i64 = 4;

/// Elements of blocks that are read and written at once.
const BLOCKS: [usize; 4] = [4, 8, 16, 32];

/// A tensor's elements along the axis.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Axis {
    /// Elements of a block, and how far blocks are apart.
    block: usize,
    stride: usize,
}

impl Axis {
    fn of(arg: Arg, tensor: &Tensor, axis: usize) -> Result<Axis, Skip> {
        let apart = || Skip::Layout(format!("of {arg}: elements of the axis that are not neighbours"));
        let b = tensor.blocking().ok_or_else(apart)?;
        let mut inner = b.inner.iter();
        match (inner.next(), inner.next()) {
            (None, _) if b.strides[axis] == 1 => Ok(Axis { block: tensor.dims()[axis] as usize, stride: 0 }),
            (Some((d, block)), None) if d == axis => Ok(Axis { block: block as usize, stride: b.strides[axis] as usize }),
            _ => Err(apart()),
        }
    }

    /// Calls `f` with the begin of each block of `n` elements, and which of these it holds.
    fn each(self, n: usize, mut f: impl FnMut(usize, std::ops::Range<usize>)) {
        for (i, first) in (0..n).step_by(self.block).enumerate() {
            f(i * self.stride, first..(first + self.block).min(n));
        }
    }

    fn offset(self, i: usize) -> usize {
        i / self.block * self.stride + i % self.block
    }
}

/// Blocks of the axis that both tensors have in the same places, those of a position so many elements apart.
#[derive(Clone, Copy, Debug)]
struct Blocks {
    count: usize,
    stride: usize,
}

/// The kernel.
#[derive(Debug)]
pub(super) struct Gathered {
    /// Zeros of the padded area, where they are not written with the other elements.
    padding: Option<Copies>,
    args: [Arg; 2],
    bits: usize,
    /// Positions of the other dimensions, in destination and source.
    nest: Nest,
    axes: [Axis; 2],
    size: usize,
    /// The axis of the source as a matrix, which is transposed.
    rows: usize,
    /// Positions that are one run of both, as many as are read together.
    together: usize,
    /// Where each element of these comes from; of one position, where there are not too many.
    index: Vec<u16>,
    /// Blocks that are written whole: behind the last element of the axis they get what is behind all that is read, a zero.
    blocks: Option<Blocks>,
}

impl Gathered {
    /// The kernel for a destination and its source, whose axis is `rows` rows.
    ///
    /// # Errors
    /// [`Skip`] for layouts and types.
    pub(super) fn new(args: [Arg; 2], tensors: [&Tensor; 2], axis: usize, rows: i64) -> Result<Gathered, Skip> {
        let bad = || Skip::Layout("of src or dst: blocks that do not nest".into());
        let [dst, src] = tensors;
        let bits = dst.dtype.bits();
        if src.dtype != dst.dtype || bits < 8 {
            return Err(Skip::DataType(format!("{} to {}", src.dtype, dst.dtype)));
        }
        let axes = [Axis::of(args[0], dst, axis)?, Axis::of(args[1], src, axis)?];
        let places = [Place::of(&dst.layout).ok_or_else(bad)?, Place::of(&src.layout).ok_or_else(bad)?];
        let dims = *dst.dims();
        let others = (0..dims.len()).filter(|d| *d != axis).map(|d| 1 << d).sum();
        let nest = Nest::kept(&dims, others, &places).ok_or_else(bad)?;
        let (size, rows) = (dims[axis] as usize, rows as usize);
        if size == 0 || rows == 0 {
            return Err(Skip::Shape("no elements"));
        }
        let joined = (0..2).all(|t| nest.step(t) == Some(size as i64)) && axes.iter().all(|a| a.stride == 0);
        let together = if joined { (RUN / size).max(1) } else { 1 };
        let from = |i: usize| i % rows * (size / rows) + i / rows;
        let one = |position: usize| (0..size).map(move |i| (position * size + from(i)) as u16);
        let mut index: Vec<u16> = if size <= NEAR { (0..together).flat_map(one).collect() } else { Vec::new() };
        let (block, count) = (axes[0].block, size.div_ceil(axes[0].block));
        let ends = |d: usize| d == axis || dst.blocking().is_some_and(|b| b.padded_dims[d] == dims[d]);
        let whole = axes[0] == axes[1] && axes[0].stride > 0 && (0..dims.len()).all(ends);
        let blocks = (whole && BLOCKS.contains(&block) && count * block < NEAR).then_some(Blocks { count, stride: axes[0].stride });
        if blocks.is_some() {
            index.resize(count * block, (count * block) as u16);
        }
        let padding = if blocks.is_none() { Some(Copies::new(args[0], dst)?) } else { None };
        Ok(Gathered { padding, args, bits, nest, axes, size, rows, together, index, blocks })
    }

    /// Elements in blocks of `B`, position by position.
    fn blocks<T: Element, const B: usize>(&self, ctx: &Ctx<'_>, Blocks { count, stride }: Blocks, [to, from]: [Buf<'_>; 2]) {
        let grain = grain_rows(self.nest.volume(), self.size as i64, GATHERED);
        split(ctx.executor(), self.nest.volume(), grain, &|range| {
            let mut near = Near { old: [T::zeroed(); NEAR], new: [T::zeroed(); NEAR] };
            self.nest.runs(range, NEAR, |run| {
                let [mut put, mut at] = [0, 1].map(|t| run.at[t] as usize);
                for _ in 0..run.len {
                    let old = near.old.as_chunks_mut::<B>().0;
                    old[..count].iter_mut().enumerate().for_each(|(i, block)| from.read(at + i * stride, block));
                    near.gather(&self.index);
                    let new = near.new.as_chunks::<B>().0;
                    new[..count].iter().enumerate().for_each(|(i, block)| to.write(put + i * stride, block));
                    put += run.strides[0] as usize;
                    at += run.strides[1] as usize;
                }
            });
        });
    }

    fn elements<T: Element>(&self, ctx: &Ctx<'_>, to: Buf<'_>, from: Buf<'_>) {
        match (self.blocks, self.axes[0].block) {
            (Some(blocks), 4) => return self.blocks::<T, 4>(ctx, blocks, [to, from]),
            (Some(blocks), 8) => return self.blocks::<T, 8>(ctx, blocks, [to, from]),
            (Some(blocks), 16) => return self.blocks::<T, 16>(ctx, blocks, [to, from]),
            (Some(blocks), _) => return self.blocks::<T, 32>(ctx, blocks, [to, from]),
            (None, _) => {}
        }
        let grain = grain_rows(self.nest.volume(), self.size as i64, GATHERED);
        split(ctx.executor(), self.nest.volume(), grain, &|range| {
            let mut near = Near { old: [T::zeroed(); NEAR], new: [T::zeroed(); NEAR] };
            self.nest.runs(range, self.together, |run| {
                let (to, from) = ((to, run.at[0] as usize), (from, run.at[1] as usize));
                match self.together {
                    1 => self.row(to, from, &mut near),
                    // Elements that lie behind each other in both.
                    _ => {
                        let n = run.len * self.size;
                        from.0.read(from.1, &mut near.old[..n]);
                        near.gather(&self.index[..n]);
                        to.0.write(to.1, &near.new[..n]);
                    }
                }
            });
        });
    }

    /// The elements of one position.
    fn row<T: Element>(&self, (to, to_at): (Buf<'_>, usize), (from, from_at): (Buf<'_>, usize), near: &mut Near<T>) {
        let [dst, src] = self.axes;
        if self.index.is_empty() {
            let columns = self.size / self.rows;
            for i in 0..self.size {
                let value: T = from.get(from_at + src.offset(i % self.rows * columns + i / self.rows));
                to.set(to_at + dst.offset(i), value);
            }
            return;
        }
        src.each(self.size, |at, part| from.read(from_at + at, &mut near.old[part]));
        near.gather(&self.index[..self.size]);
        dst.each(self.size, |at, part| to.write(to_at + at, &near.new[part]));
    }
}

/// Elements on their way.
struct Near<T> {
    old: [T; NEAR],
    new: [T; NEAR],
}

impl<T: Element> Near<T> {
    /// `new[i] = old[index[i]]`.
    fn gather(&mut self, index: &[u16]) {
        for (to, i) in self.new.iter_mut().zip(index) {
            *to = self.old[usize::from(*i) % NEAR];
        }
    }
}

impl Kernel for Gathered {
    fn table_bytes(&self) -> usize {
        size_of_val(&self.index[..])
    }

    fn run(&self, _: Simd, ctx: &Ctx<'_>, _: Scratch<'_>) -> Result<(), Error> {
        self.padding.as_ref().map_or(Ok(()), |padding| padding.before(ctx))?;
        let [to, from] = [ctx.buf(self.args[0])?, ctx.buf(self.args[1])?];
        match self.bits {
            8 => self.elements::<u8>(ctx, to, from),
            16 => self.elements::<u16>(ctx, to, from),
            32 => self.elements::<u32>(ctx, to, from),
            _ => self.elements::<u64>(ctx, to, from),
        }
        self.padding.as_ref().map_or(Ok(()), |padding| padding.behind(ctx))
    }
}
