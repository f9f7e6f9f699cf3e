//! Reorder: changes of layout, type and scale.

mod factors;
pub(crate) mod lanes;
pub(crate) mod loops;
mod pieces;
mod regions;
mod squares;
mod steps;
mod sums;

use crate::kernels::pointwise::{Builder, Copies, Nest, Place, Program, Tables};
use crate::ops::fallback;
use crate::{CpuTarget, RowPlan};
use oxidnn_runtime::{Impl, Plan, Skip};
use oxidnn_spec::op::{EltwiseAlg, Reorder};
use oxidnn_spec::{Arg, Attr, DataType, Layout, Op, Problem, Tensor};
use sums::{Behind, Summed, Sums};

/// The rows, best first: transpositions; few elements one by one, before pieces; pieces, in one or two steps; elements by tables of places;
/// bitwise copies (few words by generated code); then arithmetic.
pub const IMPLS: &[Impl<CpuTarget>] = &[
    Impl::new("squares:jit", squares::plan),
    Impl::new("few:jit", looked_up).for_some_shapes(),
    Impl::new("few:portable", few).for_some_shapes(),
    Impl::new("pieces:jit", pieces::plan),
    Impl::new("steps:jit", steps::plan),
    Impl::new("lanes:jit", lanes::plan),
    Impl::new("tables:portable", placed),
    Impl::new("chunks:jit", generated),
    Impl::new("tiles:jit", turned),
    Impl::new("tiles:portable", copy),
    Impl::new("chunks:portable", convert),
    fallback::ROW,
];

/// Words of a few vectors: too few for a copy of bytes, enough for generated code.
const VECTORS: std::ops::RangeInclusive<i64> = 4..=64;

/// Positions that are too few for a portable program over chunks (in a chunk), and for a generated one (in all).
const FEW: i64 = 64;

/// Elements that are moved one by one in the time before any kernel starts: copies, and others; the third is for elements among much
/// padding.
const SINGLE: [i64; 2] = [256, 192];
const ALONE: i64 = 2048;

/// Size of a tensor with padding, relative to that without, from which on most of it is padding; and from which on elements that change
/// their contiguous dimension are moved one by one.
const SPARSE: f64 = 4.0;
const SCATTERED: f64 = 8.0;

/// Neighbours of the destination from which on transposed squares fill it, without and with AVX-512.
const WIDE: [usize; 2] = [4, 8];

fn reorder(problem: &Problem) -> Result<&Reorder, Skip> {
    match &problem.op {
        Op::Reorder(op) if op.rnn_scaling(&problem.attr.rnn).is_some() => Err(Skip::Attr("quantisation of recurrent networks".into())),
        Op::Reorder(op) => Ok(op),
        _ => Err(Skip::Op("another operation than reorder")),
    }
}

/// Refuses reorders that do more to elements than move them.
fn check_copy(op: &Reorder, attr: &Attr) -> Result<(), Skip> {
    if op.src.dtype != op.dst.dtype {
        return Err(Skip::DataType(format!("{} to {}", op.src.dtype, op.dst.dtype)));
    }
    if !(attr.scales.is_empty() && attr.zero_points.is_empty() && attr.post_ops.is_empty()) {
        return Err(Skip::Attr("scales, zero points and post-ops".into()));
    }
    check_adjusted(op)
}

/// Refuses destinations whose compensation also multiplies the weights by a factor.
fn check_adjusted(op: &Reorder) -> Result<(), Skip> {
    match op.dst.blocking().and_then(|b| b.compensation?.scale_adjust) {
        Some(factor) => Err(Skip::Layout(format!("of dst: weights times {}", factor.get()))),
        None => Ok(()),
    }
}

/// Refuses layouts of which the plan does not know every element's place, and empty tensors.
fn check_known(op: &Reorder) -> Result<(), Skip> {
    if [&op.dst, &op.src].iter().any(|t| t.layout.has_runtime()) {
        return Err(Skip::Layout("of src or dst: sizes or strides known at execution only".into()));
    }
    if op.dst.is_empty() { Err(Skip::Shape("no elements")) } else { Ok(()) }
}

/// Contiguous elements that both tensors have in common.
pub(crate) fn run(dst: &Tensor, src: &Tensor) -> usize {
    let [Some(to), Some(from)] = [dst, src].map(Tensor::blocking) else { return 0 };
    // Sizes that end within a block are taken as those with padding.
    let all = loops::loops(dst.dims(), [to, from]).or_else(|| loops::loops(&loops::walked(to, from), [to, from]));
    all.iter().flatten().filter(|l| l.steps == [1; 2]).map(|l| l.size).max().unwrap_or(1)
}

/// Size of a tensor with padding, relative to that without; the padding of dimension `but` does not count.
fn sparsity(tensor: &Tensor, but: Option<usize>) -> f64 {
    let Some(b) = tensor.blocking() else { return 1.0 };
    let ratio = |d: usize| b.padded_dims[d] as f64 / tensor.dims()[d].max(1) as f64;
    (0..tensor.dims().len()).filter(|d| Some(*d) != but).map(ratio).product()
}

/// Whether most of a tensor is padding.
pub(crate) fn is_sparse(tensor: &Tensor) -> bool {
    sparsity(tensor, None) >= SPARSE
}

/// The larger sparsity of source and destination, without the padding of the destination's innermost block: its vectors are written whole
/// anyway.
fn spread(op: &Reorder) -> f64 {
    let blocks = || op.dst.blocking().into_iter().flat_map(|b| b.inner.iter().map(|(d, _)| d));
    let innermost = blocks().next_back().filter(|last| blocks().filter(|d| d == last).count() == 1);
    sparsity(&op.src, None).max(sparsity(&op.dst, innermost))
}

/// Whether both tensors have the same padding, and so little that copying it, in one run, is faster than leaving it out.
fn is_whole(op: &Reorder) -> bool {
    let padded = || op.dst.blocking().is_some_and(|b| b.padded_dims != *op.dst.dims());
    op.src.layout == op.dst.layout && padded() && spread(op) < SCATTERED
}

/// Declines tensors most of which is padding where a row further behind clears that at once, and moves nothing but elements: in runs, or transposed, where
/// the destination has neighbours enough.
fn check_filled(op: &Reorder, problem: &Problem, target: &CpuTarget) -> Result<(), Skip> {
    let avx512 = target.jit.is_some_and(|jit| jit.avx512);
    let wide = || lanes::near(op, 0) >= WIDE[usize::from(avx512)] || !avx512 && sparsity(&op.dst, None) > lanes::MOSTLY_PADDING;
    let moved = || wide() && turned(problem, target).is_ok();
    if spread(op) >= SPARSE && (moved() || generated(problem, target).is_ok()) {
        return Err(Skip::Layout("of src or dst: mostly padding".into()));
    }
    Ok(())
}

fn copy(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    RowPlan::resolved(problem, target, |problem| {
        let op = reorder(problem)?;
        check_copy(op, &problem.attr)?;
        Ok((Summed::new(copies(op)?, Sums::plan(op)?.map_or(Behind::Nothing, Behind::Words)), 0))
    })
}

fn turned(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    let isa = target.jit.ok_or(Skip::Isa("avx2, or executable memory"))?;
    RowPlan::resolved(problem, target, |problem| {
        let op = reorder(problem)?;
        check_copy(op, &problem.attr)?;
        let (sums, scratch) = Behind::plan(op, problem, isa)?;
        let copies = all_copies(op, Copies::tiled)?.squared(isa)?;
        Ok((Summed::new(copies, sums), scratch))
    })
}

fn copies(op: &Reorder) -> Result<Copies, Skip> {
    all_copies(op, |copies| copies)
}

/// Copies of all elements, with the padding if both tensors have the same.
fn all_copies(op: &Reorder, how: fn(Copies) -> Copies) -> Result<Copies, Skip> {
    let whole = |t: &Tensor| {
        let b = t.blocking().filter(|b| b.compensation.is_none() && b.padded_offsets.iter().all(|o| *o == 0))?;
        Some(Layout { dims: b.padded_dims, format: b.clone().into() })
    };
    let alike = op.src.layout == op.dst.layout && !op.dst.layout.has_runtime();
    let (to, from) = match whole(&op.dst).filter(|_| alike) {
        Some(layout) => (layout.clone(), layout),
        None => (op.dst.layout.clone(), op.src.layout.clone()),
    };
    let mut copies = how(Copies::new(Arg::DST, &Tensor { dtype: op.dst.dtype, layout: to.clone() })?);
    copies.add(Arg::SRC, &to.dims, &to, &from)?;
    Ok(copies)
}

fn generated(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    let isa = target.jit.ok_or(Skip::Isa("avx2, or executable memory"))?;
    RowPlan::resolved(problem, target, |problem| {
        let op = reorder(problem)?;
        let (sums, sums_scratch) = Behind::plan(op, problem, isa)?;
        let is_copy = check_copy(op, &problem.attr).is_ok();
        let other = || Skip::Shape("a copy of long runs, or of single elements");
        // Only generated code stores long runs non-temporally.
        let (words, cached) =
            (if is_copy { copies(op)?.words() } else { 0 }, target.caches.keep(op.dst.bytes().saturating_add(op.src.bytes())));
        if is_copy && (is_whole(op) || words < *VECTORS.start() || words > *VECTORS.end() && cached) {
            return Err(other());
        }
        if !is_copy {
            check_numbers(op, &problem.attr)?;
        }
        let (pipeline, scratch) = arithmetic(op, problem)?.finish()?;
        let pipeline = if is_copy { pipeline.in_words().ok_or_else(other)? } else { pipeline };
        Ok((Summed::new(Program::new(pipeline, isa)?.streaming(&target.caches), sums), scratch.max(sums_scratch)))
    })
}

fn convert(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    RowPlan::resolved(problem, target, |problem| {
        let op = reorder(problem)?;
        if check_copy(op, &problem.attr).is_ok() && !stays(op.dst.dtype) {
            return Err(Skip::DataType(format!("{}: a copy by way of f32 would change the bits of NaN", op.dst.dtype)));
        }
        check_numbers(op, &problem.attr)?;
        let (mut pipeline, sums) = (arithmetic(op, problem)?, Sums::plan(op));
        if sums.is_err() {
            sums::fold(op, &mut pipeline)?;
        }
        let (data, scratch) = pipeline.finish()?;
        Ok((Summed::new(data, sums.unwrap_or_default().map_or(Behind::Nothing, Behind::Words)), scratch))
    })
}

fn placed(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    RowPlan::resolved(problem, target, |problem| {
        let (op, attr) = (reorder(problem)?, &problem.attr);
        check_known(op)?;
        let dims = op.dst.dims();
        let places = [&op.dst, &op.src].map(|t| Place::of(&t.layout));
        let nest = if let [Some(dst), Some(src)] = places { Nest::kept(dims, u32::MAX, &[dst, src]) } else { None };
        let double = [&op.dst, &op.src].iter().any(|t| t.dtype == DataType::F64);
        let small = target.jit.is_none() || dims.volume().is_some_and(|n| n < FEW);
        let few = small && check_copy(op, attr).is_err() && nest.as_ref().is_some_and(|nest| nest.chunk() <= FEW);
        if nest.is_some() && !double && !few {
            return Err(Skip::Shape("longer runs"));
        }
        tables(op, problem, target)
    })
}

/// Few elements, or few among much padding, whose contiguous dimension changes.
fn few(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    RowPlan::resolved(problem, target, |problem| {
        let op = reorder(problem)?;
        check_few(op, problem, target)?;
        tables(op, problem, target)
    })
}

/// The same by vectors.
fn looked_up(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    let isa = target.jit.ok_or(Skip::Isa("avx2, or executable memory"))?;
    RowPlan::resolved(problem, target, |problem| {
        let op = reorder(problem)?;
        check_few(op, problem, target)?;
        let (sums, scratch) = Behind::plan(op, problem, isa)?;
        Ok((Summed::new(places(op, &problem.attr, Tables::in_long_rows)?.looked_up(isa)?, sums), scratch))
    })
}

/// Declines elements that other rows move faster.
fn check_few(op: &Reorder, problem: &Problem, target: &CpuTarget) -> Result<(), Skip> {
    check_known(op)?;
    let at_most = |most: i64| op.dst.dims().volume().is_some_and(|n| n <= most);
    let is_copy = check_copy(op, &problem.attr).is_ok();
    let few = at_most(SINGLE[usize::from(!is_copy)]) && (run(&op.dst, &op.src) as i64) < *VECTORS.start();
    let short = || target.jit.is_some_and(|jit| lanes::has_short_runs(op, jit));
    let attr = &problem.attr;
    let in_tiles = |jit| lanes::fills(op, attr, jit) || lanes::are_cheap(op, attr, jit);
    let filled = || target.jit.is_some_and(in_tiles) || pieces::plan(problem, target).is_ok();
    // Conversions read padding in runs; they write it one by one.
    let cheap = is_copy || at_most(ALONE) && sparsity(&op.dst, None) >= SCATTERED;
    // With padding in the source only, runs are copied as such.
    let in_runs = || is_copy && !is_sparse(&op.dst) && copies(op).is_ok_and(|copies| copies.words() >= *VECTORS.start());
    let scattered = || spread(op) >= SCATTERED && cheap && !short() && !in_runs();
    if few && !filled() || scattered() && turned(problem, target).is_err() {
        return Ok(());
    }
    Err(Skip::Shape("more than few elements, or the same neighbours"))
}

/// Tables of the place of every element, with their scratch.
fn tables(op: &Reorder, problem: &Problem, target: &CpuTarget) -> Result<(Summed<Tables>, usize), Skip> {
    let tables = places(op, &problem.attr, |tables| tables)?;
    let (sums, scratch) = match target.jit {
        Some(isa) => Behind::plan(op, problem, isa)?,
        None => (Sums::plan(op)?.map_or(Behind::Nothing, Behind::Words), 0),
    };
    Ok((Summed::new(tables, sums), scratch))
}

fn places(op: &Reorder, attr: &Attr, rows: fn(Tables) -> Tables) -> Result<Tables, Skip> {
    let dims = op.dst.dims();
    check_adjusted(op)?;
    if !(Attr { scales: Default::default(), scratchpad: Default::default(), ..attr.clone() }).is_default() {
        return Err(Skip::Attr("other than scales".into()));
    }
    let mut factors = [None; 2];
    for (factor, arg) in factors.iter_mut().zip([Arg::SRC, Arg::DST]).filter(|(_, arg)| attr.scales.contains_key(arg)) {
        *factor = Some((arg, factors::scales(arg, attr, dims)?.strides));
    }
    let mut tables = rows(Tables::new(Arg::DST, &op.dst)?);
    tables.add(Arg::SRC, &op.src, &factors, |_, p| p)?;
    Ok(tables)
}

/// Whether the bits of a type's elements survive a conversion to f32 and back.
fn stays(dtype: DataType) -> bool {
    use DataType::{E8m0, F4E2m1, F4E3m0, F32, S4, S8, U4, U8};
    matches!(dtype, F32 | S8 | U8 | S4 | U4 | E8m0 | F4E2m1 | F4E3m0)
}

/// Declines integers that arithmetic in f32 would change.
fn check_numbers(op: &Reorder, attr: &Attr) -> Result<(), Skip> {
    let wide = |t: &Tensor| matches!(t.dtype, DataType::S32 | DataType::S64);
    if wide(&op.src) && wide(&op.dst) && attr.is_default() {
        return Err(Skip::DataType(format!("{} to {}: f32 does not hold every number", op.src.dtype, op.dst.dtype)));
    }
    Ok(())
}

fn arithmetic<'p>(op: &Reorder, problem: &'p Problem) -> Result<Builder<'p>, Skip> {
    let mut b = Builder::elementwise(problem, Arg::DST)?;
    // Only tensors of one layout may be the same memory.
    if !problem.attr.reads_dst() && op.src.layout != op.dst.layout {
        b.clear_sparse();
    }
    b.load_argument(0, Arg::SRC)?;
    b.unshift(0, Arg::SRC)?;
    b.scale(0, Arg::SRC)?;
    let adjust = op.dst.blocking().and_then(|b| b.compensation?.scale_adjust);
    if let Some(adjust) = adjust {
        b.forward(0, EltwiseAlg::Linear, adjust.get(), 0.0);
    }
    b.result(Arg::DST)?;
    Ok(b)
}
