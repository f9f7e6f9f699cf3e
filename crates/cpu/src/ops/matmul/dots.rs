//! `dots:portable`: products of bytes of one row or one column, both operands contiguous along the depth: a dot product for each element of the result.
//! Tiles would transpose the other side into panels, which takes longer than to read it, or multiply lanes of columns that do not exist.
//!
//! The vector is widened to 16 bits, its zero point subtracted, so that a step of a register is one multiply-add of pairs; zero points of the other side
//! are multiplied by the vector's sum.

use super::tiled::{Request, Tiled};
use crate::decision::How;
use crate::hardware::Core;
use crate::kernels::broadcast::Broadcast;
use crate::kernels::epilogue::{Run, Sums};
use crate::kernels::multiversion::{Body, Simd};
use crate::kernels::scratch::{Scratch, booked, for_workers};
use crate::row::Kernel;
use oxidnn_runtime::{Ctx, Decision, Skip};
use oxidnn_spec::{DataType, Error, MAX_NDIMS, Problem};

/// Least depth, and elements of the other side: what is done besides products takes as long as some of them.
const LEAST: [usize; 2] = [64, 4 << 10];
/// Lines of the other side of a task.
const LINES: usize = 128;
/// Zero points of this magnitude leave room for bytes in 16 bits.
const NARROW: i32 = 32_000;

/// A planned product.
#[derive(Debug)]
pub(crate) struct Dots {
    tiled: Tiled,
    /// Which operand is the vector, 0 or 1; lines of the other one, and bytes from one to the next.
    vector: usize,
    lines: usize,
    step: usize,
    depth: usize,
    /// Whether the elements of the operands are signed.
    signed: [bool; 2],
    workers: usize,
}

impl Dots {
    /// The kernel and the bytes of scratch that it needs.
    ///
    /// # Errors
    /// What dot products do not take.
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
        if sizes.depth < LEAST[0] || lines.saturating_mul(sizes.depth) < LEAST[1] {
            return Err(Skip::Shape("so few elements"));
        }
        if tiled.row.is_none() || tiled.columns.len() != 1 {
            return Err(Skip::Layout("a result of several dimensions".into()));
        }
        let (workers, signed) = (request.target.threads, operands.map(|t| t.dtype == DataType::S8));
        let dots = Dots { tiled, vector, lines, step, depth: sizes.depth, signed, workers };
        let scratch = for_workers(workers, dots.share()).and_then(|n| booked(&[n]));
        Ok((dots, scratch.ok_or(Skip::Shape("scratch exceeds the address space"))?))
    }

    /// Elements of a worker's scratch: the vector in up to 32 bits, and sums twice.
    fn share(&self) -> usize {
        self.depth + 2 * LINES
    }
}

impl Kernel for Dots {
    fn decision(&self, problem: &Problem) -> Decision {
        let how = How {
            algorithm: "a dot product for each element, of lines where they lie".into(),
            registers: ("sums of a line".into(), 4 * 64),
            blocks: vec![("the row or column that all lines meet, in 16 bits".into(), 2 * self.depth)],
            rate: Core::host().rate(8, 2),
            padding: 1.0,
            copies: 0,
            cores: self.workers.min(self.lines.div_ceil(LINES)),
        };
        how.decision(problem)
    }

    fn run(&self, simd: Simd, ctx: &Ctx<'_>, mut scratch: Scratch<'_>) -> Result<(), Error> {
        let Dots { tiled, depth, step, .. } = self;
        let mut work = scratch.take(for_workers(self.workers, self.share()).unwrap_or(0))?;
        let before = tiled.before(simd, ctx)?;
        let epilogue = tiled.epilogue(simd, ctx, &before)?;
        epilogue.dst().zero_padding();
        let zeros = tiled.zero_points(simd, ctx)?;
        let bytes = |i: usize| -> Result<&[u8], Error> {
            let arg = tiled.args[i];
            ctx.input(arg).ok_or_else(|| Error::arg(arg, "memory that is written too", "memory of its own"))
        };
        let operands = [bytes(0)?, bytes(1)?];
        let sides = [tiled.row.unwrap_or(0), tiled.columns[0]];
        let (x, y, pieces) = (self.vector, 1 - self.vector, self.lines.div_ceil(LINES));
        work.work(ctx.executor(), self.workers, tiled.product_sizes().batch * pieces, &|task, share| {
            let (unit, first) = (task / pieces, task % pieces * LINES);
            let count = LINES.min(self.lines - first);
            let (starts, mut pos) = (tiled.starts(unit), tiled.position(unit));
            let (wide, rest) = share.split_at_mut(*depth);
            let (data, exact) = rest[..2 * LINES].split_at_mut(LINES);
            let zero = zeros[x].at(&pos) as i32;
            let narrow = (-NARROW..=NARROW).contains(&zero);
            let own = &operands[x][starts[x]..][..*depth];
            let sum = simd.run(Widen { bytes: own, signed: self.signed[x], zero, narrow, to: &mut *wide });
            let lines = &operands[y][starts[y] + first * step..];
            let sums: &mut [i32] = bytemuck::cast_slice_mut(&mut *exact);
            simd.run(Products { wide, narrow, lines, step: *step, depth: *depth, signed: self.signed[y], sums: &mut sums[..count] });
            pos[sides[y]] = first as i64;
            subtract(&zeros[y], (&pos, sides[y]), sum, &mut sums[..count]);
            let sums = Sums { data, exact: Some(exact), step: LINES, columns: count, dim: sides[y] };
            epilogue.store(sums, std::iter::once(Run { pos, dim: sides[x], step: 1, count: 1 }));
        });
        Ok(())
    }
}

/// Takes zero points of lines times the sum of the vector from sums.
fn subtract(zero: &Broadcast<'_>, (pos, dim): (&[i64; MAX_NDIMS], usize), sum: i32, sums: &mut [i32]) {
    let mut zeros = [0.0; LINES];
    let zeros = &mut zeros[..sums.len()];
    zero.line(pos, dim, zeros);
    sums.iter_mut().zip(&*zeros).for_each(|(x, zero)| *x = x.wrapping_sub(sum.wrapping_mul(*zero as i32)));
}

/// Widens bytes less a zero point, to 16 or to 32 bits, and sums them.
struct Widen<'w> {
    bytes: &'w [u8],
    signed: bool,
    zero: i32,
    narrow: bool,
    to: &'w mut [f32],
}

impl Body for Widen<'_> {
    type Out = i32;

    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) -> i32 {
        let Widen { bytes, signed, zero, narrow, to } = self;
        if narrow {
            let (to, zero): (&mut [i16], i16) = (&mut bytemuck::cast_slice_mut(to)[..bytes.len()], zero as i16);
            if signed {
                to.iter_mut().zip(bytes).for_each(|(to, x)| *to = i16::from(x.cast_signed()) - zero);
            } else {
                to.iter_mut().zip(bytes).for_each(|(to, x)| *to = i16::from(*x) - zero);
            }
            return to.iter().fold(0i32, |sum, x| sum.wrapping_add(i32::from(*x)));
        }
        let to: &mut [i32] = &mut bytemuck::cast_slice_mut(to)[..bytes.len()];
        let number = |x: &u8| if signed { i32::from(x.cast_signed()) } else { i32::from(*x) };
        to.iter_mut().zip(bytes).for_each(|(to, x)| *to = number(x).wrapping_sub(zero));
        to.iter().fold(0i32, |sum, x| sum.wrapping_add(*x))
    }
}

/// Dot products of a widened vector by lines of bytes.
struct Products<'p> {
    wide: &'p [f32],
    narrow: bool,
    lines: &'p [u8],
    step: usize,
    depth: usize,
    signed: bool,
    sums: &'p mut [i32],
}

impl Body for Products<'_> {
    type Out = ();

    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) {
        let Products { wide, narrow, lines, step, depth, signed, sums } = self;
        for (j, sum) in sums.iter_mut().enumerate() {
            let line = &lines[j * step..][..depth];
            *sum = if narrow {
                let x: &[i16] = &bytemuck::cast_slice(wide)[..depth];
                if signed {
                    x.iter().zip(line).fold(0i32, |sum, (x, y)| sum.wrapping_add(i32::from(*x) * i32::from(y.cast_signed())))
                } else {
                    x.iter().zip(line).fold(0i32, |sum, (x, y)| sum.wrapping_add(i32::from(*x) * i32::from(*y)))
                }
            } else {
                let x: &[i32] = &bytemuck::cast_slice(wide)[..depth];
                let number = |y: &u8| if signed { i32::from(y.cast_signed()) } else { i32::from(*y) };
                x.iter().zip(line).fold(0i32, |sum, (x, y)| sum.wrapping_add(x.wrapping_mul(number(y))))
            };
        }
    }
}
