//! Copies of elements to positions of their own, wherever blocks begin and end: bit by bit, as other numbers, or multiplied.
//!
//! In a layout of strides and blocks a dimension's part of an offset depends on no other dimension. So a table for each, of what its positions add in
//! destination and source, says where every element goes: shuffled channels inside of blocks, sources that end inside of a block. What
//! [`Copies`] does with a few strides is faster; this does the rest.

use super::{Copies, GRAIN, Kind, Memory, split};
use crate::kernels::multiversion::Simd;
use crate::kernels::scratch::Scratch;
use crate::row::Kernel;
use oxidnn_runtime::{Buf, Ctx, Element, Skip};
use oxidnn_spec::{Arg, Blocking, DataType, Dims, Error, Tensor};

/// Most positions of all dimensions of a source.
const MOST: i64 = 1 << 16;

/// Copies into one destination.
#[derive(Debug)]
pub struct Tables {
    dst: Arg,
    tensor: Tensor,
    moves: Vec<Move>,
    /// Zeros of the padded area.
    padding: Copies,
}

/// A source, and what the positions of each dimension add to offsets in destination and source: outermost first, at least one.
#[derive(Debug)]
struct Move {
    src: Arg,
    dtype: DataType,
    /// Whether elements are multiplied by the scale of the source, an f32.
    scaled: bool,
    starts: [usize; 2],
    dimensions: Vec<Vec<[usize; 2]>>,
}

/// What position `p` of dimension `d` adds to an offset.
fn term(b: &Blocking, ndims: usize, d: usize, p: i64) -> usize {
    let position = Dims::from_fn(ndims, |e| if e == d { p } else { 0 });
    (b.offset_of(&position) - b.offset) as usize
}

impl Tables {
    /// No copies yet into `dst`, a tensor like `tensor`.
    ///
    /// # Errors
    /// [`Skip`] for its layout and type.
    pub fn new(dst: Arg, tensor: &Tensor) -> Result<Tables, Skip> {
        if tensor.dtype.bits() < 8 {
            return Err(Skip::DataType(format!("{} of {dst}", tensor.dtype)));
        }
        Ok(Tables { dst, tensor: tensor.clone(), moves: Vec::new(), padding: Copies::new(dst, tensor)? })
    }

    /// Copies `src`, a tensor like `tensor`: position `p` of its dimension `d` is position `to(d, p)` of the destination. Where it is `scaled`, elements
    /// are multiplied by its scale, one f32.
    ///
    /// # Errors
    /// [`Skip`] for layouts, types that f32 does not hold, and very many positions.
    pub fn add(&mut self, (src, scaled): (Arg, bool), tensor: &Tensor, to: impl Fn(usize, i64) -> i64) -> Result<(), Skip> {
        let (dims, n) = (tensor.dims(), tensor.dims().len());
        let types = [self.tensor.dtype, tensor.dtype];
        let (stays, floats) = (types[0] == types[1], types == [DataType::F64, DataType::F32] || types == [DataType::F32, DataType::F64]);
        let exact = |t: &DataType| t.bits() < 32 || *t == DataType::F32;
        if types[1].bits() < 8 || scaled && !types.iter().all(exact) || !stays && !floats && !types.iter().all(exact) {
            return Err(Skip::DataType(format!("{} to {}", types[1], types[0])));
        }
        let known = [&self.tensor, tensor].map(|t| t.blocking().filter(|_| !t.layout.has_runtime()));
        let [Some(dst), Some(from)] = known else { return Err(Skip::Layout(format!("of {src} or {}", self.dst))) };
        if dims.contains(&0) {
            return Ok(());
        }
        if dims.iter().try_fold(0i64, |sum, size| sum.checked_add(*size)).is_none_or(|sum| sum > MOST) {
            return Err(Skip::Shape("so many positions of a dimension"));
        }
        let table = |d: usize| -> Vec<[usize; 2]> { (0..dims[d]).map(|p| [term(dst, n, d, to(d, p)), term(from, n, d, p)]).collect() };
        let mut dimensions: Vec<_> = (0..n).map(table).collect();
        // Those of single positions move nothing, but for where they begin.
        let mut starts = [dst.offset as usize, from.offset as usize];
        dimensions.retain(|table| {
            let single = table.len() == 1;
            if single {
                starts.iter_mut().zip(table[0]).for_each(|(start, term)| *start += term);
            }
            !single
        });
        dimensions.sort_by_key(|table| std::cmp::Reverse(table[1][0].abs_diff(table[0][0])));
        if dimensions.is_empty() {
            dimensions.push(vec![[0; 2]]);
        }
        self.moves.push(Move { src, dtype: tensor.dtype, scaled, starts, dimensions });
        Ok(())
    }
}

impl Move {
    /// Calls `f` for every element with its places in destination and source.
    fn each(&self, ctx: &Ctx<'_>, f: impl Fn(usize, usize) + Sync) {
        let Some((row, outer)) = self.dimensions.split_last() else { return };
        let rows = outer.iter().map(|table| table.len() as i64).product();
        split(ctx.executor(), rows, (GRAIN / row.len() as i64).max(1), &|range| {
            for i in range {
                let (mut at, mut rest) = (self.starts, i as usize);
                for table in outer.iter().rev() {
                    let terms = table[rest % table.len()];
                    at = [at[0] + terms[0], at[1] + terms[1]];
                    rest /= table.len();
                }
                row.iter().for_each(|terms| f(at[0] + terms[0], at[1] + terms[1]));
            }
        });
    }

    fn bits<T: Element>(&self, ctx: &Ctx<'_>, [to, from]: [Buf<'_>; 2]) {
        self.each(ctx, |dst, src| to.set::<T>(dst, from.get(src)));
    }

    fn run(&self, simd: Simd, ctx: &Ctx<'_>, dtype: DataType, memory: [Buf<'_>; 2]) -> Result<(), Error> {
        let [to, from] = memory;
        if dtype != self.dtype || self.scaled {
            let scale = if self.scaled { ctx.buf(Arg::scale(self.src))?.get(0) } else { 1.0f32 };
            let [out, input] = [(to, dtype), (from, self.dtype)].map(|(buf, dtype)| Memory { buf, kind: Kind::Number(dtype) });
            match [dtype, self.dtype] {
                [DataType::F64, _] => self.each(ctx, |dst, src| to.set(dst, f64::from(from.get::<f32>(src)))),
                [_, DataType::F64] => self.each(ctx, |dst, src| to.set(dst, from.get::<f64>(src) as f32)),
                _ => self.each(ctx, |dst, src| {
                    let mut x = [0.0];
                    input.read(simd, src, 1, &mut x);
                    out.write(simd, dst, 1, &[x[0] * scale]);
                }),
            }
            return Ok(());
        }
        match dtype.bits() {
            8 => self.bits::<u8>(ctx, memory),
            16 => self.bits::<u16>(ctx, memory),
            32 => self.bits::<u32>(ctx, memory),
            _ => self.bits::<u64>(ctx, memory),
        }
        Ok(())
    }
}

impl Kernel for Tables {
    fn table_bytes(&self) -> usize {
        self.moves.iter().flat_map(|m| &m.dimensions).map(|table| size_of_val(&table[..])).sum()
    }

    fn run(&self, simd: Simd, ctx: &Ctx<'_>, scratch: Scratch<'_>) -> Result<(), Error> {
        let to = ctx.buf(self.dst)?;
        for m in &self.moves {
            m.run(simd, ctx, self.tensor.dtype, [to, ctx.buf(m.src)?])?;
        }
        self.padding.run(simd, ctx, scratch)
    }
}
