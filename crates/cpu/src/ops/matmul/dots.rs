//! `dots:jit`: products of bytes with one row or one column and both operands contiguous along K, as a dot product for each result element.
//! Tiles would have to transpose the other side into panels, which takes longer than reading it, or multiply idle lanes of columns.
//!
//! Zero points of one side are multiplied by sums of the other.

use super::tiled::{Request, Tiled};
use crate::decision::How;
use crate::hardware::Core;
use crate::kernels::broadcast::Broadcast;
use crate::kernels::bytes::{self, ByteProduct, Lines};
use crate::kernels::epilogue::{Run, Sums};
use crate::kernels::multiversion::Simd;
use crate::kernels::scratch::{Scratch, booked, for_workers};
use crate::row::{Generated, TOO_LARGE};
use oxidnn_jit::Isa;
use oxidnn_runtime::{Ctx, Decision, Skip};
use oxidnn_spec::{DataType, Error, MAX_NDIMS, Problem};

/// Least K, and least elements of the other side: of shallow and of deep products. Below, the work besides products is too large a part.
const LEAST: [[usize; 2]; 2] = [[64, 4 << 10], [256, 1 << 10]];
/// Lines of the other side in a task.
const LINES: usize = 128;

/// A planned product.
#[derive(Debug)]
pub(crate) struct Dots {
    tiled: Tiled,
    /// Which operand is the vector, 0 or 1; lines of the other operand, and bytes from one to the next.
    vector: usize,
    lines: usize,
    step: usize,
    depth: usize,
    /// Whether elements are signed: those of the vector, those of the other operand.
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
        let (vector, lines, step) = match sizes.sides {
            [1, columns] => (0, columns, b.column),
            [rows, 1] => (1, rows, a.row),
            _ => return Err(Skip::Shape("not of one row or one column")),
        };
        let elements = lines.saturating_mul(sizes.depth);
        if !LEAST.iter().any(|[depth, least]| sizes.depth >= *depth && elements >= *least) {
            return Err(Skip::Shape("so few elements"));
        }
        if tiled.row.is_none() || tiled.columns.len() != 1 {
            return Err(Skip::Layout("a result of several dimensions".into()));
        }
        let (workers, signed) = (request.target.threads, [vector, 1 - vector].map(|i| operands[i].dtype == DataType::S8));
        let zeros = [vector, 1 - vector].map(|i| request.attr.zero_points.contains_key(&tiled.args[i]));
        let dots = Dots { tiled, vector, lines, step, depth: sizes.depth, signed, zeros, isa: request.isa.without_amx(), workers };
        let scratch = for_workers(workers, dots.share()).and_then(|n| booked(&[n]));
        Ok((dots, scratch.ok_or(TOO_LARGE)?))
    }

    /// Elements of a worker's scratch: the vector, and three times the sums.
    fn share(&self) -> usize {
        ByteProduct::arranged(self.isa, self.depth) / size_of::<f32>() + 3 * LINES
    }
}

impl Generated for Dots {
    type Code = ByteProduct;

    fn decision(&self, problem: &Problem) -> Decision {
        How::new(
            "a dot product for each element, of lines where they lie",
            Core::host().rate(8, 2),
            self.workers.min(self.lines.div_ceil(LINES)),
        )
        .registers("sums of a line", 4 * 64)
        .block("the row or column that all lines meet", self.depth.max(ByteProduct::arranged(self.isa, self.depth)))
        .decision(problem)
    }

    fn build(&self) -> Result<ByteProduct, Error> {
        ByteProduct::get(self.isa, self.signed, self.zeros[0])
    }

    fn run(&self, code: &ByteProduct, simd: Simd, ctx: &Ctx<'_>, mut scratch: Scratch<'_>) -> Result<(), Error> {
        let Dots { tiled, depth, step, .. } = self;
        let mut work = scratch.take(for_workers(self.workers, self.share()).unwrap_or(0))?;
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
        let (x, y, pieces) = (self.vector, 1 - self.vector, self.lines.div_ceil(LINES));
        work.work(ctx.executor(), self.workers, tiled.product_sizes().batch * pieces, &|task, share| {
            let (unit, first) = (task / pieces, task % pieces * LINES);
            let count = LINES.min(self.lines - first);
            let (starts, mut pos) = (tiled.starts(unit), tiled.position(unit));
            let (vector, rest) = share.split_at_mut(share.len() - 3 * LINES);
            let (data, rest) = rest.split_at_mut(LINES);
            let (exact, totals) = rest.split_at_mut(LINES);
            let (own, arranged) = (&operands[x][starts[x]..][..*depth], bytemuck::cast_slice_mut(vector));
            code.arrange(own, arranged);
            let lines = Lines { bytes: &operands[y][starts[y] + first * step..], step: *step, depth: *depth };
            let [sums, totals] = [&mut *exact, totals].map(|part| &mut bytemuck::cast_slice_mut::<_, i32>(part)[..count]);
            code.run(simd, (own, arranged), lines, [&mut *sums, &mut *totals]);
            let zero = zeros[x].at(&pos) as i32;
            if self.zeros[0] {
                sums.iter_mut().zip(&*totals).for_each(|(x, total)| *x = x.wrapping_sub(zero.wrapping_mul(*total)));
            }
            pos[sides[y]] = first as i64;
            if self.zeros[1] {
                let sum = bytes::sum(simd, self.signed[0], own).wrapping_sub(zero.wrapping_mul(*depth as i32));
                subtract(&zeros[y], (&pos, sides[y]), sum, sums);
            }
            let sums = Sums { data, exact: Some(exact), step: LINES, columns: count, dim: sides[y] };
            epilogue.store(sums, std::iter::once(Run { pos, dim: sides[x], step: 1, count: 1 }));
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
