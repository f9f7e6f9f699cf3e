//! Copies of elements between layouts, bit by bit.

use super::pipeline::zero;
use super::{CHUNK, Chunk, Chunks, Counts, GRAIN, Nest, OPERANDS, Place};
use crate::kernels::multiversion::{Simd, multiversion};
use crate::kernels::scratch::Scratch;
use crate::row::Kernel;
use oxidnn_runtime::{Buf, Ctx, Element, Executor, Loop, Skip};
use oxidnn_spec::{Arg, DataType, Dims, Error, Layout, Tensor};

/// Copies to one destination.
#[derive(Debug)]
pub struct Copies {
    dst: Arg,
    dtype: DataType,
    moves: Vec<Move>,
    padding: Padding,
}

/// How the padded area is zeroed.
#[derive(Debug)]
enum Padding {
    /// After the elements; `None` if sizes or strides are known only at execution.
    Behind(Option<Box<Nest>>),
    /// The destination is cleared before the elements: this many bytes, without anything behind elements and padding.
    Cleared(usize),
}

/// Size of a tensor with padding, relative to that without, from which on it is cleared as a whole before elements are copied to it.
const SPARSE: usize = 4;
/// Bytes that a task zeroes.
const ZEROS: usize = 1 << 16;

impl Padding {
    fn of(tensor: &Tensor) -> Option<Padding> {
        if tensor.layout.has_runtime() {
            return Some(Padding::Behind(None));
        }
        match cleared(tensor) {
            Some(all) => Some(Padding::Cleared(all)),
            None => Nest::padding(&tensor.layout).map(|nest| Padding::Behind(Some(Box::new(nest)))),
        }
    }
}

/// The bytes of a tensor that is cleared as a whole, as most of it is padding.
pub fn cleared(tensor: &Tensor) -> Option<usize> {
    let bytes = |dims: &Dims| dims.volume().and_then(|n| tensor.dtype.bytes(n as usize));
    let dense = tensor.blocking().filter(|b| b.offset == 0 && tensor.layout.is_dense(true));
    let (exist, all) = (bytes(tensor.dims())?, bytes(&dense?.padded_dims)?);
    (exist > 0 && all / SPARSE >= exist).then_some(all)
}

/// Whether a tensor is cleared as a whole.
pub(super) fn is_sparse(tensor: &Tensor) -> bool {
    cleared(tensor).is_some()
}

/// Zeroes all bytes.
pub fn clear(executor: &dyn Executor, to: Buf<'_>) {
    executor.run(executor.threads(), to.len().div_ceil(ZEROS), &|_, task| {
        let first = task * ZEROS;
        to.part(first, ZEROS.min(to.len() - first)).fill(0);
    });
}

/// What zeroing the padded area counts: a traversal, and bytes that are cleared as a whole.
pub type Zeros = (Counts, usize);

/// A source, and the loops over the destination's elements and its own; `None` if sizes or strides are known only at execution, and it is
/// the only source.
#[derive(Debug)]
struct Move {
    src: Arg,
    nest: Option<Nest>,
}

impl Copies {
    /// Without copies yet, to `dst`, a tensor like `tensor`.
    ///
    /// # Errors
    /// [`Skip`] for its layout.
    pub fn new(dst: Arg, tensor: &Tensor) -> Result<Copies, Skip> {
        let bad = || Skip::Layout(format!("of {dst}"));
        let padding = Padding::of(tensor).ok_or_else(bad)?;
        Ok(Copies { dst, dtype: tensor.dtype, moves: Vec::new(), padding })
    }

    /// Adds a copy of `src`, of layout `from`, to the elements of the destination that `to` describes; to all of them if the execution
    /// gives sizes or strides. Both have the dimensions `dims`.
    ///
    /// # Errors
    /// [`Skip`] for layouts whose blocks do not nest, and for several sources of which the execution gives sizes or strides.
    pub fn add(&mut self, src: Arg, dims: &Dims, to: &Layout, from: &Layout) -> Result<(), Skip> {
        let late = [to, from].iter().any(|l| l.has_runtime());
        let bad = || Skip::Layout(format!("of {src} and {}: blocks that do not nest", self.dst));
        if self.moves.first().is_some_and(|other| late || other.nest.is_none()) {
            return Err(Skip::Layout("of several sources, given by the execution".into()));
        }
        let nest = if late { None } else { Some(nest(dims, [to, from]).ok_or_else(bad)?) };
        self.moves.push(Move { src, nest });
        Ok(())
    }

    /// What copying the first source counts, and zeroing the padded area: positions in chunks, and bytes that are cleared before.
    pub fn counts(&self) -> Option<(Counts, Zeros)> {
        let moved = self.moves.first()?.nest.as_ref()?.counts(1, i64::MAX);
        Some((moved, self.zeros()))
    }

    /// Bytes of the elements of the first source.
    pub fn bytes(&self) -> i64 {
        let all = self.moves.first().and_then(|m| m.nest.as_ref());
        all.map_or(0, |nest| nest.volume() * self.dtype.bits() as i64 / 8)
    }

    /// What zeroing the padded area counts.
    pub fn zeros(&self) -> Zeros {
        match &self.padding {
            Padding::Behind(nest) => (nest.as_ref().map_or(Counts::default(), |nest| nest.counts(0, CHUNK as i64)), 0),
            Padding::Cleared(bytes) => (Counts::default(), *bytes),
        }
    }

    /// Whether all runs of words begin at multiples of `n` words of the destination.
    pub fn are_at_multiples(&self, n: i64) -> bool {
        let nest = |m: &Move| m.nest.as_ref().and_then(|nest| nest.words(self.dtype.bits()));
        self.moves.iter().all(|m| nest(m).is_some_and(|nest| nest.is_at_multiples(0, n)))
    }

    /// The shortest contiguous run of 32-bit words common to the destination and a source; 0 if runs are not whole words.
    pub fn words(&self) -> i64 {
        let run = |m: &Move| m.nest.as_ref().and_then(|n| n.words(self.dtype.bits())).map_or(0, |nest| neighbours(&nest));
        self.moves.iter().map(run).min().unwrap_or(0)
    }
}

impl Kernel for Copies {
    fn run(&self, simd: Simd, ctx: &Ctx<'_>, _: Scratch<'_>) -> Result<(), Error> {
        self.execute(simd, ctx)
    }
}

impl Copies {
    /// What is done before elements are copied: clearing, if most of the destination is padding.
    ///
    /// # Errors
    /// As for [`Ctx::buf`].
    pub fn before(&self, ctx: &Ctx<'_>) -> Result<(), Error> {
        let Padding::Cleared(bytes) = self.padding else { return Ok(()) };
        clear(ctx.executor(), ctx.buf(self.dst)?.part(0, bytes));
        Ok(())
    }

    /// What is done after elements are copied: zeros in the padded area, unless it was cleared.
    ///
    /// # Errors
    /// As for [`Ctx::buf`], and if blocks of arguments do not nest.
    pub fn behind(&self, ctx: &Ctx<'_>) -> Result<(), Error> {
        let (to, bits) = (ctx.buf(self.dst)?, self.dtype.bits());
        match &self.padding {
            Padding::Cleared(_) => {}
            Padding::Behind(Some(padding)) => zero(ctx, to, bits, padding),
            Padding::Behind(None) => {
                let tensor = ctx.bound(self.dst).map(|b| &b.tensor).ok_or_else(|| Error::arg(self.dst, "nothing", "a memory object"))?;
                let nest = Nest::padding(&tensor.layout).ok_or_else(|| Error::Runtime("blocks of the arguments do not nest".into()))?;
                zero(ctx, to, bits, &nest);
            }
        }
        Ok(())
    }

    /// Copies all elements. Several sources take turns, so that the parts of a line of the destination are written while it is in a cache.
    fn execute(&self, simd: Simd, ctx: &Ctx<'_>) -> Result<(), Error> {
        self.before(ctx)?;
        let late = match self.moves[..] {
            [Move { src, nest: None }] => Some(self.late(ctx, src)?),
            _ => None,
        };
        let moves = || self.moves.iter().filter_map(|m| Some((m.src, m.nest.as_ref().or(late.as_ref())?)));
        moves().try_for_each(|(src, _)| ctx.buf(src).map(drop))?;
        let (to, bits) = (ctx.buf(self.dst)?, self.dtype.bits());
        let all = moves().map(|(_, nest)| nest.volume() as u64).sum::<u64>();
        let tasks = if bits == 4 { all.min(1) } else { all.div_ceil(GRAIN as u64) };
        ctx.executor().run(ctx.executor().threads(), tasks as usize, &|_, task| {
            for (src, nest) in moves() {
                let (Ok(from), volume) = (ctx.buf(src), nest.volume()) else { continue };
                let each = (volume as u64).div_ceil(tasks).next_multiple_of(CHUNK as u64) as i64;
                let range = (task as i64 * each).min(volume)..((task as i64 + 1) * each).min(volume);
                if bits == 4 {
                    nest.walk(range, |chunk| nibbles(to, from, chunk));
                    continue;
                }
                nest.repeated(range, |chunks| match bits {
                    8 => elements::<u8>(simd, to, from, chunks),
                    16 => elements::<u16>(simd, to, from, chunks),
                    32 => elements::<u32>(simd, to, from, chunks),
                    _ => elements::<u64>(simd, to, from, chunks),
                });
            }
        });
        self.behind(ctx)
    }

    /// The loops over the elements of the destination and a source whose sizes or strides the execution gives.
    fn late(&self, ctx: &Ctx<'_>, src: Arg) -> Result<Nest, Error> {
        let layout = |arg| ctx.bound(arg).map(|b| &b.tensor.layout).ok_or_else(|| Error::arg(arg, "nothing", "a memory object"));
        let (to, from) = (layout(self.dst)?, layout(src)?);
        nest(&to.dims, [to, from]).ok_or_else(|| Error::Runtime("blocks of the arguments do not nest".into()))
    }
}

/// The loops over the elements of a destination and its source.
fn nest(dims: &Dims, [to, from]: [&Layout; 2]) -> Option<Nest> {
    Nest::kept(dims, u32::MAX, &[Place::of(to)?, Place::of(from)?])
}

/// Length of the first contiguous run of both destination and source; 0 if there is none.
fn neighbours(nest: &Nest) -> i64 {
    if (0..2).all(|t| nest.step(t) == Some(1)) { nest.innermost(0).0 } else { 0 }
}

fn elements<T: Element>(simd: Simd, to: Buf, from: Buf, Chunks { chunk, count, strides }: &Chunks<'_>) {
    let [dst, src] = [0, 1].map(|t| (chunk.at[t] as usize, chunk.inner[t] as usize, chunk.outer[t] as usize));
    let planes = (0..*count).map(|i| [dst.0 + i * strides[0] as usize, src.0 + i * strides[1] as usize]);
    if (dst.1, src.1) == (1, 1) {
        let size = size_of::<T>();
        let (n, steps) = (chunk.run * size, [dst.2 * size, src.2 * size]);
        let rows: fn(Buf, Buf, [usize; 2], [[usize; 2]; 2]) = match n {
            1 => rows::<1>,
            2..4 => rows::<2>,
            4..8 => rows::<4>,
            8..16 => rows::<8>,
            16..32 => rows::<16>,
            32..64 => rows::<32>,
            64..=128 => rows::<64>,
            _ => |to, from, [rows, n], [at, steps]| {
                (0..rows).for_each(|r| to.copy::<u8>(at[0] + r * steps[0], &from, at[1] + r * steps[1], n));
            },
        };
        return planes.for_each(|at| rows(to, from, [chunk.rows, n], [at.map(|at| at * size), steps]));
    }
    let is_tile = src.2 == 1 && dst.1 == 1 && chunk.run.min(chunk.rows) >= SQUARE && chunk.positions() <= CHUNK;
    if !is_tile {
        let of = |count: usize, steps: &[i64; OPERANDS]| Loop { count, steps: [0, 1].map(|t| steps[t] as usize) };
        let loops = [of(*count, strides), of(chunk.rows, chunk.outer), of(chunk.run, chunk.inner)];
        return to.copy_loops::<T>(dst.0, (&from, src.0), loops);
    }
    let mut block = [T::zeroed(); CHUNK];
    let block = &mut block[..chunk.positions()];
    for [to_first, from_first] in planes {
        transpose(simd, from, from_first, src.1, block, chunk.run);
        block.chunks_exact(chunk.run).enumerate().for_each(|(r, row)| to.write(to_first + r * dst.2, row));
    }
}

/// Copies rows of `N` bytes, or of `n` up to twice as many in two pieces that overlap, from a byte on and so many apart in destination and source: a call
/// for each would cost more than to move them.
fn rows<const N: usize>(to: Buf, from: Buf, [rows, n]: [usize; 2], [at, steps]: [[usize; 2]; 2]) {
    let (mut first, mut last) = ([0u8; N], [0u8; N]);
    for r in 0..rows {
        let [dst, src] = [at[0] + r * steps[0], at[1] + r * steps[1]];
        from.read(src, &mut first);
        if n > N {
            from.read(src + n - N, &mut last);
            to.write(dst + n - N, &last);
        }
        to.write(dst, &first);
    }
}

/// Elements along each side of a square that is transposed in registers.
const SQUARE: usize = 8;

multiversion! {
    /// Fills the rows of `block`, of `run` elements, from columns that are contiguous in memory: column `j` begins at `at + j * stride`.
    fn transpose<T: Element>(from: Buf<'_>, at: usize, stride: usize, block: &mut [T], run: usize) {
        let rows = block.len() / run;
        let (whole_rows, whole_run) = (rows / SQUARE * SQUARE, run / SQUARE * SQUARE);
        for j in (0..whole_run).step_by(SQUARE) {
            for r in (0..whole_rows).step_by(SQUARE) {
                let mut columns = [[T::zeroed(); SQUARE]; SQUARE];
                for (k, column) in columns.iter_mut().enumerate() {
                    from.read(at + (j + k) * stride + r, column);
                }
                for i in 0..SQUARE {
                    let row: [T; SQUARE] = std::array::from_fn(|k| columns[k][i]);
                    block[(r + i) * run + j..][..SQUARE].copy_from_slice(&row);
                }
            }
        }
        for r in 0..rows {
            for j in if r < whole_rows { whole_run..run } else { 0..run } {
                block[r * run + j] = from.get(at + j * stride + r);
            }
        }
    }
}

fn nibbles(to: Buf, from: Buf, chunk: &Chunk<'_>) {
    for r in 0..chunk.rows {
        for j in 0..chunk.run {
            let [dst, src] = [0, 1].map(|t| chunk.at[t] as usize + r * chunk.outer[t] as usize + j * chunk.inner[t] as usize);
            let bits = from.get::<u8>(src / 2) >> (src % 2 * 4) & 15;
            let (shift, old) = (dst % 2 * 4, to.get::<u8>(dst / 2));
            to.set(dst / 2, old & !(15 << shift) | bits << shift);
        }
    }
}
