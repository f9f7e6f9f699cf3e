//! Sums down columns that are neighbours in memory (`kernels/columns.cu`): channels of tensors that have them last, columns of matrices.

use crate::CudaTarget;
use crate::emit::{Emitter, Place, Real, View, memory_order};
use crate::program::{Launch, MapPlace, Program, Word};
use oxidnn_runtime::Skip;
use oxidnn_spec::{Arg, DataType, Layout, Tensor};

/// Rows that a thread of a part adds at least, and blocks of a multiprocessor.
const ROWS: i64 = 8;
const BLOCKS: i64 = 8;
/// Columns that a thread of `rows_gradient.cu` has at most.
const COLUMNS: i64 = 16;
/// Bytes of the rows that the blocks of a multiprocessor copy ahead.
const RING: i64 = 192 * 1024;

/// A matrix in memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Matrix<'a> {
    pub(crate) name: &'a str,
    arg: Arg,
    dtype: DataType,
    offset: i64,
    /// Elements from one row to the next.
    step: i64,
}

impl<'a> Matrix<'a> {
    /// The tensor as rows by the index along `channel`, which is its fastest dimension: `None` where its rows are not evenly spaced.
    pub(crate) fn of(name: &'a str, arg: Arg, t: &Tensor, channel: usize) -> Option<Matrix<'a>> {
        let b = t.blocking().filter(|b| b.is_plain() && b.padded_dims == *t.dims())?;
        if b.strides[channel] != 1 || t.dtype.bits() < 8 {
            return None;
        }
        let mut merged: Option<(i64, i64)> = None;
        for d in memory_order(&t.layout).into_iter().rev().filter(|&d| d != channel && t.dims()[d] != 1) {
            merged = Some(match merged {
                None => (t.dims()[d], b.strides[d]),
                Some((size, step)) if b.strides[d] == size * step => (size * t.dims()[d], step),
                Some(_) => return None,
            });
        }
        Some(Matrix { name, arg, dtype: t.dtype, offset: b.offset, step: merged.map_or(t.dims()[channel], |m| m.1) })
    }

    /// Declares its address, its offset and its step as fields, and its type as `name_number`.
    fn declare(&self, emit: &mut Emitter) {
        let (name, dtype) = (self.name, crate::emit::type_name(self.dtype));
        emit.word(&format!("void* {name}_rows"), Word::Address { arg: self.arg, buffer: 0 });
        emit.number(&format!("{name}_step"), self.step);
        emit.number(&format!("{name}_offset"), self.offset);
        emit.code(&format!("typedef {dtype} {name}_number;"));
    }
}

/// The shape of a launch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    rows: i64,
    columns: i64,
    pub(crate) vector: i64,
    lanes: i64,
    pub(crate) parts: i64,
    /// Rows from the beginning of one part to that of the next, rows within which a part lies, and rows from one group of it to the next.
    apart: i64,
    span: i64,
    step: i64,
}

impl Shape {
    /// For all of these matrices together; `None` where they are not read in vectors.
    pub(crate) fn of(all: &[Matrix<'_>], [rows, columns]: [i64; 2], real: Real, target: &CudaTarget) -> Option<Shape> {
        let least = all.iter().map(|m| m.dtype.bits() as i64 / 8).min()?;
        let vector = if real == Real::Double { 2 } else { (16 / least).clamp(1, 8) };
        let fits = |m: &Matrix<'_>| m.offset % vector == 0 && m.step % vector == 0 && vector * (m.dtype.bits() as i64 / 8) >= 4;
        if columns % vector != 0 || rows < 1 || columns < 1 || !all.iter().all(fits) {
            return None;
        }
        let vectors = columns / vector;
        let whole = [32, 16, 8].into_iter().find(|lanes| vectors % lanes == 0);
        let lanes = whole.unwrap_or((vectors as u64).next_power_of_two().min(32) as i64);
        let down = 256 / lanes;
        let across = columns / (vector * lanes) + i64::from(columns % (vector * lanes) != 0);
        let wanted = (BLOCKS * i64::from(target.facts.multiprocessors) / across).max(1);
        let parts = wanted.min((rows / (ROWS * down)).max(1)).min(4096);
        let chunk = rows / parts + i64::from(rows % parts != 0);
        let parts = rows / chunk + i64::from(rows % chunk != 0);
        Some(Shape { rows, columns, vector, lanes, parts, apart: chunk, span: chunk, step: down })
    }

    /// The same with parts that take turns, so that all blocks together read from the front to the back.
    pub(crate) fn in_turns(self) -> Shape {
        let down = 256 / self.lanes;
        let parts = self.parts.min((self.rows / down).max(1));
        Shape { parts, apart: down, span: self.rows, step: down * parts, ..self }
    }

    /// The same for the rows of images, of which no part has those of two: all parts have as many, and those of an image follow each other.
    pub(crate) fn of_images(all: &[Matrix<'_>], [images, rows, columns]: [i64; 3], real: Real, target: &CudaTarget) -> Option<Shape> {
        let shape = Shape::of(all, [images.checked_mul(rows)?, columns], real, target)?;
        let own = (1..=(shape.parts / images).max(1)).rev().find(|parts| rows % parts == 0)?;
        let parts = images * own;
        let chunk = rows / own;
        (parts <= 65_535).then_some(Shape { parts, apart: chunk, span: chunk, step: 256 / shape.lanes, ..shape })
    }

    /// Declares `rows_of(a, part)`, the number of rows of a part.
    pub(crate) fn count(&self, emit: &mut Emitter) {
        let down = 256 / self.lanes;
        let groups = self.rows / down + i64::from(self.rows % down != 0);
        // Of parts that take turns some have a group more, and the one with the last group may lack rows of it; else all are alike but the last one.
        let in_turns = self.span == self.rows && self.parts > 1;
        let [whole, more, owner, missing] = if in_turns {
            [groups / self.parts * down, groups % self.parts, (groups - 1) % self.parts, groups * down - self.rows]
        } else {
            [self.span, 0, self.parts - 1, self.parts * self.span - self.rows]
        };
        for (name, value) in [("whole", whole), ("more", more), ("owner", owner), ("missing", missing)] {
            emit.number(name, value);
        }
        emit.code(&format!(
            "DEVICE real rows_of(const Args& a, index part) {{\n    \
             return (real)(a.whole + (part < (index)a.more ? {down} : 0) - (part == (index)a.owner ? a.missing : 0));\n}}\n"
        ));
    }

    /// The launch of `rows_gradient.cu` over matrices of this shape: source, gradient of the destination and of the source. `emit` has what belongs to a row and to a
    /// column; the sums go into scratch that this books, by as many parts as it returns. `None` where a thread would have too many columns.
    pub(crate) fn rows_gradient(
        &self,
        mut emit: Emitter,
        all: &[Matrix<'_>; 3],
        program: &mut Program,
        target: &CudaTarget,
    ) -> Result<Option<(usize, Layout)>, Skip> {
        let vectors = self.columns / self.vector;
        let chunks = |threads: i64| vectors / threads + i64::from(vectors % threads != 0);
        let Some(threads) = [64, 128, 256, 512].into_iter().find(|&t| chunks(t) * self.vector <= COLUMNS) else { return Ok(None) };
        let parts = (i64::from(target.facts.multiprocessors) * (512 / threads)).min(self.rows);
        let row = threads * chunks(threads) * self.vector * all[..2].iter().map(|m| m.dtype.bits() as i64 / 8).sum::<i64>();
        let room = i64::from(target.facts.shared_memory);
        let stages = if 2 * row > room { return Ok(None) } else { (room.min(RING) / (row * (512 / threads))).clamp(2, 4) };
        let at = book(program, &Shape { parts, ..*self }, 2, Real::Single)?;
        for (name, value) in [("VECTOR", self.vector), ("THREADS", threads), ("CHUNKS", chunks(threads)), ("STAGES", stages)] {
            emit.option(name, value);
        }
        emit.word("real* partial", Word::Scratch(at));
        for (name, value) in [("rows", self.rows), ("columns", self.columns)] {
            emit.number(name, value);
        }
        for m in all {
            m.declare(&mut emit);
        }
        let mut launch = emit.launch_blocks("rows_gradient", [parts as u32, 1, 1]);
        launch.block = threads as u32;
        launch.shared = (stages * row) as u32;
        launch.aligned = all.iter().map(|m| MapPlace::Arg(m.arg, 0)).collect();
        program.launches.push(launch);
        Ok(Some((at, Layout::plain([parts, self.columns].into()).map_err(|_| Skip::Shape("sizes that overflow"))?)))
    }

    /// The numbers of all parts, a tensor of sums by parts by columns.
    pub(crate) fn partial(&self, sums: i64, real: Real) -> Result<Tensor, Skip> {
        Tensor::plain([sums, self.parts, self.columns], real.dtype()).map_err(|_| Skip::Shape("sizes that overflow"))
    }

    /// The launch into the scratch at `partial`. `terms` are the members of `struct Terms`; the matrices' vectors are there as `name.load(a, r, c)`.
    pub(crate) fn launch(&self, mut emit: Emitter, all: &[Matrix<'_>], terms: &str, sums: Option<i64>, partial: usize) -> Launch {
        for (name, value) in [("VECTOR", self.vector), ("LANES", self.lanes), ("SUMS", sums.unwrap_or(1))] {
            emit.option(name, value);
        }
        if sums.is_none() {
            emit.option("MOMENTS", 1);
            self.count(&mut emit);
        }
        emit.word("real* partial", Word::Scratch(partial));
        for (name, value) in
            [("rows", self.rows), ("columns", self.columns), ("apart", self.apart), ("span", self.span), ("row_step", self.step)]
        {
            emit.number(name, value);
        }
        for m in all {
            let name = m.name;
            m.declare(&mut emit);
            emit.code(&format!(
                "DEVICE void {name}_vector(const Args& a, i64 r, i64 c, real (&x)[VECTOR]) {{\n    Vector<{name}_number, VECTOR> v;\n    \
                 v.load(a.{name}_rows, a.{name}_offset + r * a.{name}_step + c);\n#pragma unroll\n    for (int i = 0; i < VECTOR; ++i) x[i] = v.number(i);\n}}\n"
            ));
        }
        emit.code(&format!("struct Terms {{\n{terms}}};\n"));
        let across = self.columns / (self.vector * self.lanes) + i64::from(self.columns % (self.vector * self.lanes) != 0);
        let mut launch = emit.launch_blocks("columns", [across as u32, self.parts as u32, 1]);
        launch.aligned = all.iter().map(|m| MapPlace::Arg(m.arg, 0)).collect();
        launch
    }
}

/// A view of one of the sums of the parts, as parts by columns in the dimensions of `layout`.
pub(crate) fn part_view<'a>(name: &'a str, at: usize, sum: i64, layout: &'a Layout, real: Real) -> View<'a> {
    let (count, bytes) = (layout.dims.iter().product::<i64>(), if real == Real::Double { 8 } else { 4 });
    View { name, place: Place::Scratch(at + (sum * count * bytes) as usize), dtype: real.dtype(), layout, padded: false }
}

/// Books the numbers of all parts.
pub(crate) fn book(program: &mut Program, shape: &Shape, sums: i64, real: Real) -> Result<usize, Skip> {
    program.book(shape.partial(sums, real)?.bytes()).ok_or(Skip::Shape("sizes that overflow"))
}
