//! Copies of elements to arbitrary positions, wherever blocks begin and end: bitwise, converted, or multiplied.
//!
//! In a layout of strides and blocks the offset is a sum of one term for each dimension. So a table for each dimension, with the terms of
//! its positions in destination and source, gives the place of every element: channels shuffled within blocks, sources that end within a
//! block. [`Copies`] with its strides is faster where it applies; this does the rest.

use super::{Copies, Zeros, grain_rows, split};
use crate::kernels::code::elem;
use crate::kernels::convert;
use crate::kernels::lookup::{Looker, Places, Rows};
use crate::kernels::multiversion::Simd;
use crate::kernels::scratch::Scratch;
use crate::row::{Generated, Kernel};
use oxidnn_jit::Isa;
use oxidnn_jit::ir::Elem;
use oxidnn_runtime::{Buf, Ctx, Element, Pairs, Skip};
use oxidnn_spec::{Arg, Blocking, DataType, Dims, Error, Tensor};

/// Most positions of all dimensions of a source.
const MAX_POSITIONS: i64 = 1 << 16;
/// Most positions of the dimensions in the innermost table: beginning a row takes longer than some elements, and longer than some vectors.
/// The second limit is enough for vectors if rows have one stride.
const MAX_INNER_POSITIONS: usize = 1024;
const LONG: usize = 4096;
const VECTORED: usize = 64;
/// Bytes of rows that are processed together: one vector of each after the other, while they are in L1.
const L1_ROW_BYTES: usize = 24 * 1024;
/// Elements that are converted at a time.
const CHUNK: usize = 256;
/// Fewest elements of an average run for copying whole runs.
const MIN_AVERAGE_RUN: usize = 4;
/// Cost of an element that is moved on its own, relative to one of a run.
const SINGLE_ELEMENT_COST: i64 = 4;
/// Cost of a vector of the source plus one of the destination, relative to an element that another row moves: one that is only moved, and
/// another.
const VECTOR_COST: [usize; 2] = [18, 25];
const ELEMENT_COST: [usize; 2] = [16, 24];

/// Copies to one destination.
#[derive(Debug)]
pub struct Tables {
    dst: Arg,
    tensor: Tensor,
    moves: Vec<Move>,
    /// Most positions in the innermost table.
    joined: usize,
    /// No copies, only the zeros of the padded area.
    padding: Copies,
}

/// The terms of a position in the offsets of destination, source, factors and divisors.
type Terms = [usize; 4];

/// The innermost positions: the terms of each, in as few bytes as possible.
#[derive(Debug)]
struct Row {
    /// Element offsets in destination and source.
    places: Pairs,
    /// Offsets in the factors and divisors; empty without these.
    factors: Vec<[u32; 2]>,
}

impl Row {
    fn new(terms: &[Terms], factors: bool) -> Result<Row, Skip> {
        if terms.iter().flatten().any(|term| u32::try_from(*term).is_err()) {
            return Err(Skip::Shape("elements of a row that are far apart"));
        }
        let pairs = |first: usize| terms.iter().map(move |terms| [terms[first] as u32, terms[first + 1] as u32]).collect();
        Ok(Row { places: Pairs::new(pairs(0)), factors: if factors { pairs(2) } else { Vec::new() } })
    }
}

/// A source, and the terms of the positions of each dimension: outermost first.
#[derive(Debug)]
struct Move {
    src: Arg,
    dtype: DataType,
    /// The arguments of factors and divisors: f32.
    factors: [Option<Arg>; 2],
    starts: Terms,
    outer: Vec<Vec<Terms>>,
    row: Row,
    /// The runs of a row that are contiguous in both tensors, by first element and length; empty if they are short.
    runs: Vec<(Terms, usize)>,
}

/// Factors and divisors of a source's elements: an f32 argument, and its stride along each dimension.
pub type Factors = [Option<(Arg, Dims)>; 2];

/// The term of position `p` of dimension `d` in an offset.
fn term(b: &Blocking, ndims: usize, d: usize, p: i64) -> usize {
    let position = Dims::from_fn(ndims, |e| if e == d { p } else { 0 });
    (b.offset_of(&position) - b.offset) as usize
}

/// The positions of all dimensions in one table, the last dimension innermost.
fn joined(dimensions: &[Vec<Terms>]) -> Vec<Terms> {
    dimensions.iter().fold(vec![[0; 4]], |all, table| {
        all.iter().flat_map(|at: &Terms| table.iter().map(move |terms| std::array::from_fn(|t| at[t] + terms[t]))).collect()
    })
}

/// The stride of all positions of a dimension, if there is one.
fn distance(table: &[Terms]) -> Option<Terms> {
    let [first, second, ..] = table else { return None };
    let step: Terms = std::array::from_fn(|t| second[t].wrapping_sub(first[t]));
    let even = |w: &[Terms]| (0..4).all(|t| w[1][t].checked_sub(w[0][t]) == Some(step[t]));
    table.windows(2).all(even).then_some(step)
}

/// The runs of a row, if they are long enough to be copied as such.
fn runs(row: &[Terms]) -> Vec<(Terms, usize)> {
    let mut runs: Vec<(Terms, usize)> = Vec::new();
    for terms in row {
        match runs.last_mut().filter(|(first, len)| (0..2).all(|t| first[t] + *len == terms[t])) {
            Some(run) => run.1 += 1,
            None => runs.push((*terms, 1)),
        }
    }
    if row.len() < MIN_AVERAGE_RUN * runs.len() { Vec::new() } else { runs }
}

impl Tables {
    /// Without copies yet, to `dst`, a tensor like `tensor`.
    ///
    /// # Errors
    /// [`Skip`] for its layout and type.
    pub fn new(dst: Arg, tensor: &Tensor) -> Result<Tables, Skip> {
        if tensor.dtype.bits() < 8 {
            return Err(Skip::DataType(format!("{} of {dst}", tensor.dtype)));
        }
        let padding = Copies::new(dst, tensor)?;
        Ok(Tables { dst, tensor: tensor.clone(), moves: Vec::new(), joined: MAX_INNER_POSITIONS, padding })
    }

    /// Rows, elements that are moved one by one, runs, and elements that are converted, of the first source; and what zeroing the padded area counts.
    pub fn counts(&self) -> Option<([f64; 4], Zeros)> {
        let m = self.moves.first()?;
        let rows = m.outer.iter().map(|table| table.len() as f64).product::<f64>();
        let each = m.row.places.pairs().len();
        let (factors, changed) = (m.factors.iter().flatten().count(), self.tensor.dtype != m.dtype);
        let converted = if factors > 0 || changed { each * (1 + factors) } else { 0 };
        let (single, runs) = if m.runs.is_empty() || converted > 0 { (each, 0) } else { (0, m.runs.len()) };
        Some(([1, single, runs, converted].map(|count| rows * count as f64), self.padding.zeros()))
    }

    /// Chooses longer rows for [`Tables::looked_up`], before anything is added.
    #[must_use]
    pub fn in_long_rows(self) -> Tables {
        Tables { joined: LONG, ..self }
    }

    /// Adds copies of `src`, a tensor like `tensor`, times factors: position `p` of its dimension `d` goes to position `to(d, p)` of the
    /// destination.
    ///
    /// # Errors
    /// [`Skip`] for layouts, types that cannot be converted by way of f32, and too many positions.
    pub fn add(&mut self, src: Arg, tensor: &Tensor, factors: &Factors, to: impl Fn(usize, i64) -> i64) -> Result<(), Skip> {
        self.traverse((src, tensor), factors, *tensor.dims(), |d, p| [to(d, p), p])
    }

    /// Fills the destination with elements of `src`, a tensor like `tensor`: position `p` of its dimension `d` gets that of `from(d, p)`.
    ///
    /// # Errors
    /// As for [`Tables::add`].
    pub fn fill(&mut self, src: Arg, tensor: &Tensor, from: impl Fn(usize, i64) -> i64) -> Result<(), Skip> {
        self.traverse((src, tensor), &[None, None], *self.tensor.dims(), |d, p| [p, from(d, p)])
    }

    /// Adds copies at positions of `dims`, each with its position in the destination and in the source.
    fn traverse(
        &mut self,
        (src, tensor): (Arg, &Tensor),
        factors: &Factors,
        dims: Dims,
        places: impl Fn(usize, i64) -> [i64; 2],
    ) -> Result<(), Skip> {
        let n = dims.len();
        let types = [self.tensor.dtype, tensor.dtype];
        let plain = factors.iter().all(Option::is_none);
        let floats = types == [DataType::F64, DataType::F32] || types == [DataType::F32, DataType::F64];
        let wide = |t: &DataType| t.bits() > 32 || *t == DataType::S32;
        let by_f32 = types.iter().all(|t| t.bits() <= 32) && !types.iter().all(wide);
        if types[1].bits() < 8 || !by_f32 && !(plain && (floats || types[0] == types[1])) {
            return Err(Skip::DataType(format!("{} to {}", types[1], types[0])));
        }
        let known = [&self.tensor, tensor].map(|t| t.blocking().filter(|_| !t.layout.has_runtime()));
        let [Some(dst), Some(from)] = known else { return Err(Skip::Layout(format!("of {src} or {}", self.dst))) };
        if dims.contains(&0) {
            return Ok(());
        }
        if dims.iter().try_fold(0i64, |sum, size| sum.checked_add(*size)).is_none_or(|sum| sum > MAX_POSITIONS) {
            return Err(Skip::Shape("so many positions of a dimension"));
        }
        let factor = |i: usize, d: usize, p: i64| factors[i].as_ref().map_or(0, |f| (p * f.1[d]) as usize);
        let terms = |d: usize, p: i64| {
            let [to, at] = places(d, p);
            [term(dst, n, d, to), term(from, n, d, at), factor(0, d, p), factor(1, d, p)]
        };
        let mut dimensions: Vec<Vec<Terms>> = (0..n).map(|d| (0..dims[d]).map(|p| terms(d, p)).collect()).collect();
        // Dimensions of a single position only change the first offset.
        let mut starts = [dst.offset as usize, from.offset as usize, 0, 0];
        dimensions.retain(|table| {
            let single = table.len() == 1;
            if single {
                starts.iter_mut().zip(table[0]).for_each(|(start, term)| *start += term);
            }
            !single
        });
        dimensions.sort_by_key(|table| std::cmp::Reverse(table[1][0].abs_diff(table[0][0])));
        let (mut row, mut first) = (1, dimensions.len());
        while first > 0 && row * dimensions[first - 1].len() <= self.joined {
            let next = &dimensions[first - 1];
            if self.joined == LONG && row >= VECTORED && distance(next).is_some() {
                break;
            }
            (row, first) = (row * next.len(), first - 1);
        }
        let terms = joined(&dimensions.split_off(first.min(dimensions.len().saturating_sub(1))));
        let row = Row::new(&terms, !plain)?;
        let factors = factors.each_ref().map(|f| f.as_ref().map(|f| f.0));
        self.moves.push(Move { src, dtype: tensor.dtype, factors, starts, outer: dimensions, row, runs: runs(&terms) });
        Ok(())
    }
}

/// The same in generated code: vectors of the destination look up their elements in vectors of the source.
#[derive(Debug)]
pub struct LookedUp {
    tables: Tables,
    isa: Isa,
    moves: Vec<Vectors>,
}

/// The vectors of a move.
#[derive(Debug)]
struct Vectors {
    /// Element types of destination and source.
    types: [Elem; 2],
    /// The lookups of a row.
    places: Places,
    /// Consecutive rows: their number, how many are processed together, and the bytes from one to the next in destination and source.
    rows: usize,
    together: usize,
    next: [usize; 2],
}

impl Tables {
    /// These copies in generated code.
    ///
    /// # Errors
    /// [`Skip`] for factors, types that it does not have, and places of which vectors have few.
    pub fn looked_up(mut self, isa: Isa) -> Result<LookedUp, Skip> {
        let lanes = isa.width().lanes();
        let dtype = self.tensor.dtype;
        let (mut by_element, mut by_vector) = (0.0, 0.0);
        let of = |m: &mut Move| {
            let types = elements([dtype, m.dtype])?;
            if !m.row.factors.is_empty() || !isa.avx512 && types.iter().any(|e| e.bytes() < 4) {
                return Err(Skip::Attr("factors, or parts of vectors of narrow numbers".into()));
            }
            let places = Places::new(m.row.places.pairs(), types.map(Elem::bytes), lanes);
            let rows = m.outer.iter().map(|table| table.len() as f64).product::<f64>();
            by_element += rows * (m.row.places.pairs().len() * ELEMENT_COST[usize::from(dtype != m.dtype)]) as f64;
            by_vector += rows * places.vectors().iter().zip(VECTOR_COST).map(|(n, cost)| n * cost).sum::<usize>() as f64;
            let [written, read] = types.map(Elem::bytes);
            let mut vectors = Vectors { types, places, rows: 1, together: 1, next: [0; 2] };
            let follow = m.outer.last().and_then(|table| Some((table.len(), table[0], distance(table)?)));
            if let Some((rows, first, step)) = follow {
                m.outer.pop();
                m.starts = std::array::from_fn(|t| m.starts[t] + first[t]);
                let together = (L1_ROW_BYTES / (m.row.places.pairs().len() * (written + read)).max(1)).clamp(1, rows);
                vectors = Vectors { rows, together, next: [step[0] * written, step[1] * read], ..vectors };
            }
            Ok(vectors)
        };
        let moves = self.moves.iter_mut().map(of).collect::<Result<_, _>>()?;
        if by_element < by_vector {
            return Err(Skip::Layout("of src or dst: places of which vectors have few".into()));
        }
        Ok(LookedUp { moves, tables: self, isa })
    }
}

/// The element types of destination and source for kernels: raw bits if elements are not converted.
fn elements(types: [DataType; 2]) -> Result<[Elem; 2], Skip> {
    let [to, from] = types;
    let unknown = || Skip::DataType(format!("{from} to {to} in generated code"));
    match to.bits() {
        _ if to != from => Ok([elem(to).ok_or_else(unknown)?, elem(from).ok_or_else(unknown)?]),
        8 => Ok([Elem::Low8; 2]),
        16 => Ok([Elem::Low16; 2]),
        32 => Ok([Elem::F32; 2]),
        _ => Err(unknown()),
    }
}

impl LookedUp {
    /// Calls and vectors of the first source, and what zeroing the padded area counts.
    pub fn counts(&self) -> Option<([f64; 2], Zeros)> {
        let ([rows, ..], zeros) = self.tables.counts()?;
        let of = self.moves.first()?;
        let vectors = of.places.vectors().iter().sum::<usize>() * of.rows;
        Some(([rows * of.rows.div_ceil(of.together) as f64, rows * vectors as f64], zeros))
    }
}

impl Generated for LookedUp {
    type Code = Vec<Looker>;

    fn build(&self) -> Result<Vec<Looker>, Error> {
        self.moves.iter().map(|m| Looker::get(self.isa, m.types, &m.places)).collect()
    }

    fn table_bytes(&self) -> usize {
        Kernel::table_bytes(&self.tables) + self.moves.iter().map(|m| m.places.bytes()).sum::<usize>()
    }

    fn run(&self, code: &Vec<Looker>, _: Simd, ctx: &Ctx<'_>, _: Scratch<'_>) -> Result<(), Error> {
        let to = ctx.buf(self.tables.dst)?;
        self.tables.padding.before(ctx)?;
        for ((m, vectors), looker) in self.tables.moves.iter().zip(&self.moves).zip(code) {
            let (bufs, sizes) = ([to, ctx.buf(m.src)?], vectors.types.map(Elem::bytes));
            let pieces = vectors.rows.div_ceil(vectors.together);
            m.rows(ctx, pieces, vectors.together as i64, |piece, at| {
                let first = piece * vectors.together;
                let rows = |t: usize| Rows { buf: bufs[t], at: at[t] * sizes[t] + first * vectors.next[t], next: vectors.next[t] };
                looker.run(&vectors.places, vectors.together.min(vectors.rows - first), rows(0), rows(1));
            });
        }
        self.tables.padding.behind(ctx)
    }
}

impl Move {
    /// The cost of an element.
    fn weight(&self) -> i64 {
        if self.runs.is_empty() { SINGLE_ELEMENT_COST } else { 1 }
    }

    /// Calls `f` `times` times for every row of elements, with the number of the call and the row's offsets.
    fn rows(&self, ctx: &Ctx<'_>, times: usize, weight: i64, f: impl Fn(usize, Terms) + Sync) {
        let rows = self.outer.iter().map(|table| table.len() as i64).product::<i64>() * times as i64;
        split(ctx.executor(), rows, grain_rows(rows, self.row.places.pairs().len() as i64, weight), &|range| {
            for i in range {
                let (mut at, time, mut rest) = (self.starts, i as usize % times, i as usize / times);
                for table in self.outer.iter().rev() {
                    let terms = table[rest % table.len()];
                    at = std::array::from_fn(|t| at[t] + terms[t]);
                    rest /= table.len();
                }
                f(time, at);
            }
        });
    }

    /// Moves elements unchanged, or changed by `as_is`.
    fn each<T: Element, U: Element>(&self, ctx: &Ctx<'_>, [to, from]: [Buf<'_>; 2], as_is: impl Fn(U) -> T + Sync) {
        self.rows(ctx, 1, self.weight(), |_, at| to.copy_places(at[0], (&from, at[1]), &self.row.places, &as_is));
    }

    /// Moves elements unchanged, in runs if there are any.
    fn copies<T: Element>(&self, ctx: &Ctx<'_>, [to, from]: [Buf<'_>; 2]) {
        if self.runs.is_empty() {
            return self.each(ctx, [to, from], |x: T| x);
        }
        self.rows(ctx, 1, self.weight(), |_, at| {
            self.runs.iter().for_each(|(run, len)| to.copy::<T>(at[0] + run[0], &from, at[1] + run[1], *len))
        });
    }

    /// Converts elements by way of f32.
    fn numbers(&self, simd: Simd, ctx: &Ctx<'_>, dtype: DataType, [to, from]: [Buf<'_>; 2]) -> Result<(), Error> {
        let mut factors = [None; 2];
        for (buf, arg) in factors.iter_mut().zip(self.factors) {
            *buf = arg.map(|arg| ctx.buf(Arg::scale(arg))).transpose()?;
        }
        let sizes = [dtype, self.dtype].map(|t| t.bits() / 8);
        self.rows(ctx, 1, self.weight(), |_, at| {
            let (mut x, mut bytes) = ([0.0f32; CHUNK], [0u8; 4 * CHUNK]);
            for (i, piece) in self.row.places.pairs().chunks(CHUNK).enumerate() {
                let x = &mut x[..piece.len()];
                let read = &mut bytes[..piece.len() * sizes[1]];
                match sizes[1] {
                    1 => gather::<1>((from, at[1]), piece, read),
                    2 => gather::<2>((from, at[1]), piece, read),
                    _ => gather::<4>((from, at[1]), piece, read),
                }
                convert::to_f32(simd, self.dtype, read, x);
                let terms = self.row.factors.iter().skip(i * CHUNK);
                if let Some(by) = factors[0] {
                    x.iter_mut().zip(terms.clone()).for_each(|(x, terms)| *x *= by.get::<f32>(at[2] + terms[0] as usize));
                }
                if let Some(over) = factors[1] {
                    x.iter_mut().zip(terms).for_each(|(x, terms)| *x /= over.get::<f32>(at[3] + terms[1] as usize));
                }
                let written = &mut bytes[..piece.len() * sizes[0]];
                convert::from_f32(simd, dtype, x, written);
                match sizes[0] {
                    1 => scatter::<1>((to, at[0]), piece, written),
                    2 => scatter::<2>((to, at[0]), piece, written),
                    _ => scatter::<4>((to, at[0]), piece, written),
                }
            }
        });
        Ok(())
    }

    fn run(&self, simd: Simd, ctx: &Ctx<'_>, dtype: DataType, memory: [Buf<'_>; 2]) -> Result<(), Error> {
        let plain = self.factors.iter().all(Option::is_none);
        match [dtype, self.dtype] {
            [DataType::F64, DataType::F32] if plain => self.each(ctx, memory, |x: f32| f64::from(x)),
            [DataType::F32, DataType::F64] if plain => self.each(ctx, memory, |x: f64| x as f32),
            [to, from] if plain && to == from => match dtype.bits() {
                8 => self.copies::<u8>(ctx, memory),
                16 => self.copies::<u16>(ctx, memory),
                32 => self.copies::<u32>(ctx, memory),
                _ => self.copies::<u64>(ctx, memory),
            },
            _ => return self.numbers(simd, ctx, dtype, memory),
        }
        Ok(())
    }
}

/// Collects elements of `N` bytes.
fn gather<const N: usize>((from, at): (Buf, usize), row: &[[u32; 2]], bytes: &mut [u8]) {
    for (to, place) in bytes.as_chunks_mut::<N>().0.iter_mut().zip(row) {
        from.read((at + place[1] as usize) * N, to);
    }
}

/// Spreads elements of `N` bytes.
fn scatter<const N: usize>((to, at): (Buf, usize), row: &[[u32; 2]], bytes: &[u8]) {
    for (from, place) in bytes.as_chunks::<N>().0.iter().zip(row) {
        to.write((at + place[0] as usize) * N, from);
    }
}

impl Kernel for Tables {
    fn table_bytes(&self) -> usize {
        let of_row = |row: &Row| size_of_val(row.places.pairs()) + size_of_val(&row.factors[..]);
        let of_outer = |m: &Move| m.outer.iter().map(|table| size_of_val(&table[..])).sum::<usize>();
        self.moves.iter().map(|m| of_outer(m) + of_row(&m.row) + size_of_val(&m.runs[..])).sum()
    }

    fn run(&self, simd: Simd, ctx: &Ctx<'_>, _: Scratch<'_>) -> Result<(), Error> {
        let to = ctx.buf(self.dst)?;
        self.padding.before(ctx)?;
        for m in &self.moves {
            m.run(simd, ctx, self.tensor.dtype, [to, ctx.buf(m.src)?])?;
        }
        self.padding.behind(ctx)
    }
}
