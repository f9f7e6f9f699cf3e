//! `lines:jit`: resampling along contiguous elements, on generated code: positions of a line follow each other, or a few channels do and then
//! positions.
//!
//! A row of results is a weighted sum of a few lines by depth and height; each of its elements is one of a few elements of that sum. Backward,
//! lines and elements are the outputs that use an input. The tables grow with the length of lines and with the
//! lines of a plane.

use super::channels::each;
use super::place::Place;
use super::{Axis, changes_nothing, ends};
use crate::CpuTarget;
use crate::kernels::code::elem;
use crate::kernels::lookup::{Interpolator, LineTaps, RowLines};
use crate::kernels::multiversion::Simd;
use crate::kernels::pointwise::GRAIN;
use crate::kernels::scratch::Scratch;
use crate::row::{Generated, RowPlan};
use oxidnn_jit::Isa;
use oxidnn_jit::ir::Elem;
use oxidnn_runtime::{Ctx, Plan, Skip};
use oxidnn_spec::op::Resampling;
use oxidnn_spec::{Arg, Attr, DataType, Error, Op, Problem, Tensor};

/// Most elements of a line, and rows of a plane: they bound the tables, and the time to describe a problem.
const MAX_ELEMENTS: i64 = 1 << 13;

/// The kernel.
#[derive(Debug)]
struct Lines {
    isa: Isa,
    /// The input and the result, with their elements and places.
    args: [Arg; 2],
    elems: [Elem; 2],
    places: [Place; 2],
    taps: LineTaps,
    rows: RowLines,
    /// Elements of a row.
    elements: usize,
}

/// Plans a resampling of lines.
///
/// # Errors
/// [`Skip`] for other layouts, attributes, and ratios of sizes for which results need many elements.
pub(super) fn plan(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    let isa = target.jit.ok_or(Skip::Isa("avx2, or executable memory"))?;
    RowPlan::resolved(problem, target, |problem| match &problem.op {
        Op::Resampling(op) => Ok((Lines::new(op, &problem.attr, isa)?, 0)),
        _ => Err(Skip::Op("another operation than resampling")),
    })
}

impl Lines {
    fn new(op: &Resampling, attr: &Attr, isa: Isa) -> Result<Lines, Skip> {
        let forward = op.prop.is_forward();
        changes_nothing(attr)?;
        let [input, result] = ends(op);
        let number = |t: DataType| elem(t).ok_or_else(|| Skip::DataType(format!("{t} in generated sums")));
        let elems = [number(input.1.dtype)?, number(result.1.dtype)?];
        if input.1.is_empty() || result.1.is_empty() {
            return Err(Skip::Shape("no elements"));
        }
        let places = [Place::of(input.0, input.1)?, Place::of(result.0, result.1)?];
        let [from, to] = &places;
        let plain = |t: &Tensor| t.blocking().is_some_and(|b| b.is_plain() && b.padded_dims == *t.dims());
        if from.run != to.run || from.counts != to.counts || !plain(input.1) || !plain(result.1) {
            return Err(Skip::Layout("of src and dst: other positions in a line, or blocks".into()));
        }
        let axes = Axis::all_of(op)?;
        let made = |axis: &Axis| if forward { axis.outputs } else { axis.inputs };
        let longest = axes[2].inputs.max(axes[2].outputs).saturating_mul(from.run as i64);
        if longest.max(made(&axes[0]).saturating_mul(made(&axes[1]))) > MAX_ELEMENTS {
            return Err(Skip::Shape("long lines, or planes of many"));
        }
        let [depth, height, width] = [taps(axes[0], forward)?, taps(axes[1], forward)?, taps(axes[2], forward)?];
        let sizes = elems.map(Elem::bytes);
        let mut rows = Vec::new();
        for (d, depths) in depth.iter().enumerate() {
            for (h, heights) in height.iter().enumerate() {
                let lines = depths.iter().flat_map(|(d, u)| heights.iter().map(move |(h, v)| (from.row(*d, *h) * sizes[0], u * v)));
                rows.push((to.row(d, h) * sizes[1], lines.collect()));
            }
        }
        let rows = RowLines::new(&rows).ok_or(Skip::Shape("rows of no line, or of many"))?;
        let spread =
            |taps: &Vec<(usize, f32)>, element: usize| taps.iter().map(|(at, weight)| (at * from.run + element, *weight)).collect();
        let elements: Vec<Vec<(usize, f32)>> = match from.run {
            1 => width,
            run => width.iter().flat_map(|of| (0..run).map(move |element| spread(of, element))).collect(),
        };
        let line = if forward { axes[2].inputs } else { axes[2].outputs } as usize * from.run;
        let taps = LineTaps::new(&elements, line, sizes, isa.width().lanes());
        let taps = taps.ok_or(Skip::Shape("lines of less than a vector, or neighbours that are far apart"))?;
        Ok(Lines { isa, args: [input.0, result.0], elems, taps, rows, elements: elements.len(), places })
    }
}

/// The inputs of every output of an axis, or for gradients the outputs that use every input, with their weights; more than rows take are left out.
fn taps(axis: Axis, forward: bool) -> Result<Vec<Vec<(usize, f32)>>, Skip> {
    let mut all: Vec<Vec<(usize, f32)>> = Vec::new();
    each(axis, forward, |of| {
        all.push(of.take(LineTaps::MAX_TAPS + 1).collect());
        all.len()
    })?;
    Ok(all)
}

impl Generated for Lines {
    type Code = Interpolator;

    fn build(&self) -> Result<Interpolator, Error> {
        Interpolator::get(self.isa, self.elems, &self.taps, &self.rows)
    }

    fn table_bytes(&self) -> usize {
        self.taps.bytes() + self.rows.bytes()
    }

    fn run(&self, interpolator: &Interpolator, _simd: Simd, ctx: &Ctx<'_>, _scratch: Scratch<'_>) -> Result<(), Error> {
        let bufs = [ctx.buf(self.args[0])?, ctx.buf(self.args[1])?];
        let ([images, blocks], rows) = (self.places[1].counts, self.rows.count());
        // A task has parts of a plane, or several planes.
        let each = (GRAIN as usize / self.elements).max(1);
        let (parts, planes) = (rows.div_ceil(each), (each / rows).max(1));
        let tasks = (images * blocks).div_ceil(planes) * parts;
        ctx.executor().run(ctx.executor().threads(), tasks, &|_, task| {
            let (first, part) = (task / parts * planes, task % parts);
            let range = part * each..rows.min((part + 1) * each);
            for plane in first..(first + planes).min(images * blocks) {
                let place = |t: usize| self.places[t].line([plane / blocks, plane % blocks, 0, 0]) * self.elems[t].bytes();
                interpolator.run(&self.taps, (&self.rows, range.clone()), bufs, [place(0), place(1)]);
            }
        });
        Ok(())
    }
}
