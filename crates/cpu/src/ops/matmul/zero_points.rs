//! Zero points of the weights, and zero points of a source that differ by row, in products of integers.
//!
//! `sum over k of (A[m][k] - a[m]) * (B[k][n] - b[n])` is the sum of products, minus `b[n] * (sum of A[m] - K * a[m])`, minus `a[m] * (sum
//! of B[n])`: numbers by row times numbers by column. Sums start with these terms, in 32-bit integers, so that all that follows is as
//! without zero points.
//!
//! Also the column sums of right operands, for zero points and for the 128 that is added to signed elements of the left operand.

use super::tiled::{Code, Tiled};
use crate::kernels::broadcast::{Broadcast, varying};
use crate::kernels::bytes::{ByteProduct, Lines};
use crate::kernels::macrokernel::{BLayout, SumBlock};
use crate::kernels::multiversion::{Body, Simd, multiversion};
use crate::kernels::scratch::lend;
use oxidnn_runtime::{Buf, Ctx};
use oxidnn_spec::{Arg, Attr, Error, Tensor};

/// Columns whose terms are computed at a time.
const CHUNK: usize = 128;

/// Bytes of a column in a step of a panel.
const STEP: usize = 4;

/// Rows whose elements are summed at a time.
const ROWS: usize = 64;
/// Signed bytes whose sum always fits into 16 bits.
const BYTES: usize = 255;

/// Which terms there are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Outer {
    /// Zero points of the left operand, one a row.
    pub(super) by_row: bool,
    /// Zero points of the right operand, and whether each column has its own.
    pub(super) by_column: bool,
    differ: bool,
}

/// The terms of an execution.
pub(super) struct Terms<'t> {
    tiled: &'t Tiled,
    outer: Outer,
    simd: Simd,
    /// By product of the batch and row: the factor of the right operand's zero points, then the row's zero point.
    rows: &'t [i32],
    /// Zero points of the right operand by positions of the result, where they differ; those by row are multiplied by the one that all columns have.
    columns: Option<Broadcast<'t>>,
    /// Sums of the columns of every right operand, where rows have zero points.
    column_sums: &'t [i32],
}

impl Outer {
    /// What the attributes ask for; `None` where sums begin with zero.
    pub(super) fn of(attr: &Attr, a: (Arg, &Tensor), b: (Arg, &Tensor)) -> Option<Outer> {
        let [by_row, differ] = [a, b].map(|(arg, t)| attr.zero_points.get(&arg).is_some_and(|q| varying(q, t.dims()) != 0));
        let by_column = attr.zero_points.contains_key(&b.0);
        (by_row || by_column).then_some(Outer { by_row, by_column, differ })
    }

    /// Elements of scratch for the terms of `rows` rows; `None` on overflow.
    pub(super) fn numbers(self, rows: usize) -> Option<usize> {
        rows.checked_mul(usize::from(self.by_row) + usize::from(self.by_column))
    }
}

impl Tiled {
    /// The terms of an execution; those by row are in scratch of [`Outer::numbers`] elements. `None` if sums start with zero.
    ///
    /// # Errors
    /// [`Error`] when an argument is missing.
    pub(super) fn terms<'t>(
        &'t self,
        code: &Code,
        (simd, ctx): (Simd, &Ctx<'t>),
        column_sums: &'t [i32],
        rows: &'t mut [f32],
    ) -> Result<Option<Terms<'t>>, Error> {
        let tiled = self;
        let Some(outer) = tiled.outer else { return Ok(None) };
        let (sizes, arg) = (tiled.gemm.sizes(), tiled.args[0]);
        let (count, to) = (sizes.batch * sizes.rows, lend(&mut *rows));
        let bytes: &[u8] = ctx.input(arg).ok_or_else(|| Error::arg(arg, "memory that is written too", "memory of its own"))?;
        let shift = outer.by_row.then(|| tiled.zero_points((simd, ctx), 0)).transpose()?;
        let columns = outer.differ.then(|| tiled.zero_points((simd, ctx), 1)).transpose()?;
        let [of_rows, of_columns] = tiled.first_zero_points(simd, ctx)?;
        let factor = if outer.differ { 1 } else { of_columns };
        let pieces = sizes.rows.div_ceil(ROWS);
        ctx.executor().run(ctx.executor().threads(), sizes.batch * pieces, &|_, task| {
            let (unit, first) = (task / pieces, task % pieces * ROWS);
            let here = ROWS.min(sizes.rows - first);
            // The last row may be the row of ones, which has no zero point.
            let own = here.min(sizes.rows - usize::from(tiled.beside) - first);
            let (mut pos, mut zero_points, mut sums) = (tiled.position(unit), [0; ROWS], [0; ROWS]);
            for (i, zero_point) in zero_points[..own].iter_mut().enumerate() {
                pos[tiled.row.unwrap_or(0)] = (first + i) as i64;
                *zero_point = shift.as_ref().map_or(of_rows, |shift| shift.at(&pos) as i32);
            }
            if let Some(code) = code.line_sums(0) {
                let step = tiled.places[0].row;
                let rows = Lines { bytes: &bytes[tiled.starts(unit)[0] + first * step..], step, depth: sizes.depth };
                code.sum_lines(simd, rows, &mut sums[..own]);
                for (sum, zero_point) in sums[..own].iter_mut().zip(&zero_points) {
                    *sum = sum.wrapping_sub(zero_point.wrapping_mul(sizes.depth as i32)).wrapping_mul(factor);
                }
                to.write(unit * sizes.rows + first, &sums[..here]);
            }
            if outer.by_row {
                zero_points.iter_mut().for_each(|zero_point| *zero_point = zero_point.wrapping_add(tiled.added()));
                to.write(if outer.by_column { count } else { 0 } + unit * sizes.rows + first, &zero_points[..here]);
            }
        });
        Ok(Some(Terms { tiled, outer, simd, rows: bytemuck::cast_slice(rows), columns, column_sums }))
    }
}

impl Terms<'_> {
    /// Writes what the sums of a block start with.
    pub(super) fn begin(&self, block: SumBlock<'_>) {
        let (tiled, Outer { by_row, by_column, .. }) = (self.tiled, self.outer);
        let (height, all) = (tiled.gemm.sizes().rows, self.rows.len());
        let first = block.unit * height + block.rows.start;
        let of_rows = |there: bool, start: usize| if there { &self.rows[start + first..][..block.rows.len()] } else { &[] };
        let rows = [of_rows(by_column, 0), of_rows(by_row, if by_column { all / 2 } else { 0 })];
        let of_right = tiled.right(block.unit) * tiled.width();
        if self.columns.is_none() && !by_row {
            for (line, x) in block.sums.chunks_mut(block.step).zip(rows[0]) {
                bytemuck::cast_slice_mut::<f32, i32>(&mut line[..block.columns.len()]).fill(x.wrapping_neg());
            }
            return;
        }
        let (mut pos, column) = (tiled.position(block.unit), tiled.columns[0]);
        let mut columns = [[1; CHUNK]; 2];
        for start in block.columns.clone().step_by(CHUNK) {
            let count = CHUNK.min(block.columns.end - start);
            pos[column] = start as i64;
            if let Some(zero_points) = &self.columns {
                let mut line = [0.0; CHUNK];
                zero_points.line(&pos, column, &mut line[..count]);
                columns[0].iter_mut().zip(&line).for_each(|(to, from)| *to = *from as i32);
            }
            if by_row {
                columns[1][..count].copy_from_slice(&self.column_sums[of_right + start..][..count]);
            }
            let sums = bytemuck::cast_slice_mut(&mut block.sums[start - block.columns.start..]);
            subtract_products(self.simd, rows, [&columns[0][..count], &columns[1][..count]], sums, block.step);
        }
    }
}

/// Writes the column sums of all right operands.
///
/// # Errors
/// [`Error`] when the argument is missing or also written.
pub(super) fn column_sums((tiled, code): (&Tiled, Option<&ByteProduct>), (simd, ctx): (Simd, &Ctx<'_>), to: Buf) -> Result<(), Error> {
    let (arg, place, depth, width) = (tiled.args[1], tiled.places[1], tiled.gemm.sizes().depth, tiled.width());
    let bytes: &[u8] = ctx.input(arg).ok_or_else(|| Error::arg(arg, "memory that is written too", "memory of its own"))?;
    let panels = tiled.gemm.right() == BLayout::Panels;
    let each = if panels { tiled.gemm.sizes().width } else { CHUNK };
    let pieces = width.div_ceil(each);
    ctx.executor().run(ctx.executor().threads(), tiled.rights() * pieces, &|_, task| {
        let (right, piece) = (task / pieces, task % pieces);
        let first = piece * each;
        let count = each.min(width - first);
        let at = tiled.right_start(right) + place.column * if panels { piece } else { first };
        let mut sums = [0i32; CHUNK];
        let to_sum = &mut sums[..count];
        match code {
            Some(code) => code.sum_lines(simd, Lines { bytes: &bytes[at..], step: place.column, depth }, to_sum),
            None if panels => {
                for (part, to) in to_sum.chunks_mut(CHUNK / STEP).enumerate() {
                    let mut elements = [0; CHUNK];
                    let elements = &mut elements[..to.len() * STEP];
                    let bytes = &bytes[at + part * CHUNK..];
                    simd.run(Columns { bytes, row: place.row, depth: depth.div_ceil(STEP), sums: &mut *elements });
                    to.iter_mut().zip(elements.chunks_exact(STEP)).for_each(|(sum, elements)| *sum = elements.iter().sum());
                }
            }
            None => simd.run(Columns { bytes: &bytes[at..], row: place.row, depth, sums: to_sum }),
        }
        to.write(right * width + first, &sums[..count]);
    });
    Ok(())
}

/// Column sums of a row-major matrix of signed bytes.
struct Columns<'c> {
    bytes: &'c [u8],
    /// Bytes from one row to the next.
    row: usize,
    depth: usize,
    sums: &'c mut [i32],
}

impl Body for Columns<'_> {
    type Out = ();

    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(mut self) {
        let (mut done, count) = (0, self.sums.len());
        while done < count {
            // The narrowest pass that covers the rest; it may repeat columns, if there are as many as it is wide.
            done = match (count - done, count) {
                (65.., 128..) => self.sum::<128>(done),
                (33.., 64..) => self.sum::<64>(done),
                (17.., 32..) => self.sum::<32>(done),
                (9.., 16..) => self.sum::<16>(done),
                (2.., 8..) => self.sum::<8>(done),
                (3.., 4..) => self.sum::<4>(done),
                (2.., 2..) => self.sum::<2>(done),
                _ => self.sum::<1>(done),
            };
        }
    }
}

impl Columns<'_> {
    /// Sums `N` columns from column `done` on, or the last `N`, in 16-bit registers, over as many rows at a time as cannot overflow.
    /// Returns the number of columns that are done then.
    #[inline(always)]
    fn sum<const N: usize>(&mut self, done: usize) -> usize {
        let end = self.sums.len().min(done + N);
        let (first, mut sums) = (end - N, [0i32; N]);
        for from in (0..self.depth).step_by(BYTES) {
            let mut part = [0i16; N];
            for k in from..self.depth.min(from + BYTES) {
                let line: &[u8] = &self.bytes[k * self.row + first..][..N];
                part.iter_mut().zip(line).for_each(|(sum, byte)| *sum += i16::from(byte.cast_signed()));
            }
            sums.iter_mut().zip(part).for_each(|(sum, part)| *sum += i32::from(part));
        }
        self.sums[first..end].copy_from_slice(&sums);
        end
    }
}

multiversion! {
    /// Products of numbers by row and numbers by column, to be subtracted from rows of sums that are `step` apart.
    fn subtract_products(rows: [&[i32]; 2], columns: [&[i32]; 2], sums: &mut [i32], step: usize) {
        let [by, other] = columns;
        let count = rows[0].len().max(rows[1].len());
        for (i, line) in sums.chunks_mut(step).take(count).enumerate() {
            let [x, y] = rows.map(|r| r.get(i).map_or(0, |r| r.wrapping_neg()));
            let line = line.iter_mut().zip(by);
            match rows[1].is_empty() {
                true => line.for_each(|(sum, b)| *sum = x.wrapping_mul(*b)),
                false => line.zip(other).for_each(|((sum, b), c)| *sum = x.wrapping_mul(*b).wrapping_add(y.wrapping_mul(*c))),
            }
        }
    }
}
