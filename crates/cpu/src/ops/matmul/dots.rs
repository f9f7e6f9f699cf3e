//! `dots:jit`: products of bytes with few rows or one column and both operands contiguous along K, as a dot product for each result element.
//! Tiles would have to transpose the other side into panels, which takes longer than reading it, or multiply idle lanes of columns.
//!
//! Zero points of one side are multiplied by sums of the other.

use super::tiled::{Request, Tiled};
use crate::decision::How;
use crate::hardware::Core;
use crate::kernels::broadcast::Broadcast;
use crate::kernels::bytes::{self, ByteProduct, Lines, Vectors};
use crate::kernels::multiversion::Simd;
use crate::kernels::portable_epilogue::{Run, Sums};
use crate::kernels::scratch::{Scratch, booked, for_workers};
use crate::row::{Generated, TOO_LARGE};
use oxidnn_jit::Isa;
use oxidnn_runtime::{Ctx, Decision, Skip};
use oxidnn_spec::{DataType, Error, MAX_NDIMS, Problem};

/// Least K, and least elements of the other side: of shallow and of deep products of one vector. Below, the work besides products is too
/// large a part.
const LEAST: [[usize; 2]; 2] = [[64, 4 << 10], [256, 1 << 10]];
/// The same of several vectors: least K for each, since lanes are added for each, and least elements.
const LEAST_OF_SEVERAL: [usize; 2] = [128, 32 << 10];
/// Most rows: tiles of AMX share what they pack among more, and vector tiles of AVX2 the widening of bytes.
const MOST_ROWS: usize = ByteProduct::MOST;
/// Most columns: tiles multiply more, up to a vector of them, in the same time.
pub(crate) const MOST_COLUMNS: usize = 2;
/// Lines of the other side in a task.
const LINES: usize = ByteProduct::PITCH;

/// A planned product.
#[derive(Debug)]
pub(crate) struct Dots {
    tiled: Tiled,
    /// Which operand are the vectors, 0 or 1; their number, and lines of the other operand; bytes from one to the next of both.
    vector: usize,
    counts: [usize; 2],
    steps: [usize; 2],
    depth: usize,
    /// Whether elements are signed: those of the vectors, those of the other operand.
    signed: [bool; 2],
    /// Whether they have zero points.
    zeros: [bool; 2],
    isa: Isa,
    workers: usize,
}

impl Dots {
    /// The kernel and its bytes of scratch.
    ///
    /// # Errors
    /// Products that are no dot products of bytes.
    pub(crate) fn plan(request: &Request<'_>) -> Result<(Dots, usize), Skip> {
        let operands = [request.a.tensor, request.b.tensor];
        if operands.iter().any(|t| !matches!(t.dtype, DataType::S8 | DataType::U8)) {
            return Err(Skip::DataType("anything but bytes".into()));
        }
        let (tiled, _) = Request { isa: request.isa.without_amx(), ..*request }.plan()?;
        let ([a, b, _], sizes) = (tiled.places, tiled.product_sizes());
        if !request.b.tensor.blocking().is_some_and(|b| b.is_plain()) || a.column != 1 || b.row != 1 {
            return Err(Skip::Layout("operands that are not both contiguous along the depth".into()));
        }
        let (vector, counts, steps) = match sizes.sides {
            [rows, columns] if rows <= MOST_ROWS.min(columns) => (0, [rows, columns], [a.row, b.column]),
            [rows, columns] if columns <= MOST_COLUMNS => (1, [columns, rows], [b.column, a.row]),
            _ => return Err(Skip::Shape("not of few rows or columns")),
        };
        let elements = counts[1].saturating_mul(sizes.depth);
        let several = [[LEAST_OF_SEVERAL[0] * counts[0], LEAST_OF_SEVERAL[1]]];
        let least = if counts[0] == 1 { &LEAST[..] } else { &several };
        if !least.iter().any(|[depth, least]| sizes.depth >= *depth && elements >= *least) {
            return Err(Skip::Shape("so few elements"));
        }
        if tiled.row.is_none() || tiled.columns.len() != 1 {
            return Err(Skip::Layout("a result of several dimensions".into()));
        }
        let (workers, signed) = (request.target.threads, [vector, 1 - vector].map(|i| operands[i].dtype == DataType::S8));
        let zeros = [vector, 1 - vector].map(|i| request.attr.zero_points.contains_key(&tiled.args[i]));
        let dots = Dots { tiled, vector, counts, steps, depth: sizes.depth, signed, zeros, isa: request.isa.without_amx(), workers };
        let scratch = dots.parts().and_then(|parts| booked(&parts));
        Ok((dots, scratch.ok_or(TOO_LARGE)?))
    }

    /// Elements of arranged vectors of a product of the batch.
    fn arranged(&self) -> usize {
        ByteProduct::arranged(self.isa, self.counts[0], self.depth) / size_of::<f32>()
    }

    /// Elements of scratch: arranged vectors of all products; of every worker sums twice, and sums of lines.
    fn parts(&self) -> Option<[usize; 2]> {
        let arranged = self.tiled.product_sizes().batch.checked_mul(self.arranged())?;
        Some([arranged, for_workers(self.workers, (2 * self.counts[0] + 1) * LINES)?])
    }
}

impl Generated for Dots {
    type Code = ByteProduct;

    fn decision(&self, problem: &Problem) -> Decision {
        How::new(
            "a dot product for each element, of lines where they lie",
            Core::host().rate(8, 2),
            self.workers.min(self.counts[1].div_ceil(LINES)),
        )
        .registers("sums of a line", 4 * 64 * self.counts[0])
        .block("the rows or the column that all lines meet", self.depth * self.counts[0])
        .decision(problem)
    }

    fn build(&self) -> Result<ByteProduct, Error> {
        ByteProduct::get(self.isa, self.counts[0], self.signed, self.zeros[0])
    }

    fn run(&self, code: &ByteProduct, simd: Simd, ctx: &Ctx<'_>, mut scratch: Scratch<'_>) -> Result<(), Error> {
        let Dots { tiled, depth, counts: [vectors, lines], .. } = self;
        let [copies, sums] = self.parts().unwrap_or_default();
        let (copies, mut work) = (scratch.take(copies)?, scratch.take(sums)?);
        let before = tiled.before(simd, ctx)?;
        let epilogue = tiled.epilogue(simd, ctx, &before)?;
        epilogue.dst().zero_padding();
        let zeros = [tiled.zero_points((simd, ctx), 0)?, tiled.zero_points((simd, ctx), 1)?];
        let input = |i: usize| -> Result<&[u8], Error> {
            let arg = tiled.args[i];
            ctx.input(arg).ok_or_else(|| Error::arg(arg, "memory that is written too", "memory of its own"))
        };
        let operands = [input(0)?, input(1)?];
        let sides = [tiled.row.unwrap_or(0), tiled.columns[0]];
        let (x, y, pieces) = (self.vector, 1 - self.vector, lines.div_ceil(LINES));
        let own = |unit: usize, vector: usize| &operands[x][tiled.starts(unit)[x] + vector * self.steps[0]..][..*depth];
        let arranged = copies.fill(ctx.executor(), self.arranged(), &|unit, to| {
            (0..*vectors).for_each(|vector| code.arrange(vector, own(unit, vector), bytemuck::cast_slice_mut(to)));
        });
        work.work(ctx.executor(), self.workers, tiled.product_sizes().batch * pieces, &|task, share| {
            let (unit, first) = (task / pieces, task % pieces * LINES);
            let count = LINES.min(lines - first);
            let (starts, mut pos) = (tiled.starts(unit), tiled.position(unit));
            let (data, rest) = share.split_at_mut(vectors * LINES);
            let (exact, rest) = rest.split_at_mut(vectors * LINES);
            let arranged = bytemuck::cast_slice(&arranged[unit * self.arranged()..][..self.arranged()]);
            let on = Vectors { bytes: &operands[x][starts[x]..], step: self.steps[0], arranged };
            let of = Lines { bytes: &operands[y][starts[y] + first * self.steps[1]..], step: self.steps[1], depth: *depth };
            let [sums, totals] = [&mut *exact, rest].map(bytemuck::cast_slice_mut::<_, i32>);
            code.run(simd, on, of, [&mut *sums, &mut totals[..count]]);
            pos[sides[y]] = first as i64;
            for (vector, sums) in sums.chunks_exact_mut(LINES).enumerate() {
                let (mut pos, sums) = (pos, &mut sums[..count]);
                pos[sides[x]] = vector as i64;
                let zero = zeros[x].at(&pos) as i32;
                if self.zeros[0] {
                    sums.iter_mut().zip(&*totals).for_each(|(x, total)| *x = x.wrapping_sub(zero.wrapping_mul(*total)));
                }
                if self.zeros[1] {
                    let sum = bytes::sum(simd, self.signed[0], own(unit, vector)).wrapping_sub(zero.wrapping_mul(*depth as i32));
                    subtract(&zeros[y], (&pos, sides[y]), sum, sums);
                }
            }
            let sums = Sums { data, exact: Some(exact), step: LINES, columns: count, dim: sides[y] };
            epilogue.store(sums, std::iter::once(Run { pos, dim: sides[x], step: 1, count: *vectors }));
        });
        Ok(())
    }
}

/// Subtracts the zero points of lines times the sum of the vector from sums.
fn subtract(zero: &Broadcast<'_>, (pos, dim): (&[i64; MAX_NDIMS], usize), sum: i32, sums: &mut [i32]) {
    let mut zeros = [0.0; LINES];
    let zeros = &mut zeros[..sums.len()];
    zero.line(pos, dim, zeros);
    sums.iter_mut().zip(&*zeros).for_each(|(x, zero)| *x = x.wrapping_sub(sum.wrapping_mul(*zero as i32)));
}
