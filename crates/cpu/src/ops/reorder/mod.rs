//! Reorder: changes of layout, type and scale.

mod factors;
pub(crate) mod lanes;
pub(crate) mod loops;
mod pieces;
mod regions;
mod squares;
mod steps;
mod sums;
mod time;

use crate::kernels::pointwise::{Builder, Copies, Nest, Place, Program, Tables};
use crate::ops::doubles::elements;
use crate::ops::{fallback, support};
use crate::{CpuTarget, RowPlan};
use oxidnn_runtime::{Impl, Plan, Skip};
use oxidnn_spec::op::{EltwiseAlg, Reorder};
use oxidnn_spec::{Arg, Attr, DataType, Op, Problem, Tensor};
use sums::{Behind, Summed, Sums};

/// The rows. All but the reference are chosen by predicted time (`time`): transpositions of words; of any elements, in one step or two;
/// permutations of lanes; elements by tables of places, in vectors or one by one; programs of generated code; copies; programs.
pub const IMPLS: &[Impl<CpuTarget>] = &[
    Impl::new("squares:jit", squares::plan).by_time(),
    Impl::new("pieces:jit", pieces::plan).by_time(),
    Impl::new("steps:jit", steps::plan).by_time(),
    Impl::new("lanes:jit", lanes::plan).by_time(),
    Impl::new("few:jit", looked_up).for_some_shapes().by_time(),
    Impl::new("tables:portable", placed).by_time(),
    Impl::new("chunks:jit", generated).by_time(),
    Impl::new("tiles:portable", copy).by_time(),
    Impl::new("chunks:portable", convert).by_time(),
    Impl::new("doubles:portable", elements::plan),
    fallback::ROW,
];

/// Most elements whose places are tables if loops have them, too.
const FEW: i64 = 2048;
/// Words of a vector: runs of fewer are copied as bytes.
const VECTOR: i64 = 4;
/// Words of a few vectors, from which on runs are copied as bytes.
const VECTORS: i64 = 64;

/// Size of a tensor with padding, relative to that without, from which on most of it is padding.
const SPARSE: f64 = 4.0;

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

/// Whether most of a tensor is padding.
pub(crate) fn is_sparse(tensor: &Tensor) -> bool {
    let Some(b) = tensor.blocking() else { return false };
    (0..tensor.dims().len()).map(|d| b.padded_dims[d] as f64 / tensor.dims()[d].max(1) as f64).product::<f64>() >= SPARSE
}

fn copy(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    RowPlan::resolved(problem, target, |problem| {
        let op = reorder(problem)?;
        check_copy(op, &problem.attr)?;
        Ok((Summed::new(op, target, all_copies(op)?, words(op)?), 0))
    })
}

/// Sums in words.
fn words(op: &Reorder) -> Result<Behind, Skip> {
    Ok(Sums::plan(op)?.map_or(Behind::Nothing, Behind::Words))
}

/// Copies of all elements, with the padding if both tensors have the same.
fn all_copies(op: &Reorder) -> Result<Copies, Skip> {
    let (to, from) = match support::with_padding(&op.dst).filter(|_| op.src.layout == op.dst.layout) {
        Some(layout) => (layout.clone(), layout),
        None => (op.dst.layout.clone(), op.src.layout.clone()),
    };
    let mut copies = Copies::new(Arg::DST, &Tensor { dtype: op.dst.dtype, layout: to.clone() })?;
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
        let cached = || target.is_near(op.dst.bytes().saturating_add(op.src.bytes()));
        let in_bytes = |words: i64| words < VECTOR || words > VECTORS && cached();
        if is_copy && in_bytes(all_copies(op)?.words()) {
            return Err(other());
        }
        if !is_copy {
            check_numbers(op, &problem.attr)?;
        }
        let (mut pipeline, scratch) = arithmetic(op, problem)?.finish()?;
        if is_copy && !pipeline.copy_words() {
            return Err(other());
        }
        Ok((Summed::new(op, target, Program::new(pipeline, isa)?.streaming(target, CpuTarget::is_near), sums), scratch.max(sums_scratch)))
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
        Ok((Summed::new(op, target, data, sums.unwrap_or_default().map_or(Behind::Nothing, Behind::Words)), scratch))
    })
}

fn placed(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    RowPlan::resolved(problem, target, |problem| {
        let (op, attr) = (reorder(problem)?, &problem.attr);
        check_known(op)?;
        let dims = op.dst.dims();
        let nest = if let [Some(dst), Some(src)] = [&op.dst, &op.src].map(|t| Place::of(&t.layout)) {
            Nest::kept(dims, u32::MAX, &[dst, src])
        } else {
            None
        };
        let double = [&op.dst, &op.src].iter().any(|t| t.dtype == DataType::F64);
        if nest.is_some() && !double && !is_few(op) {
            return Err(Skip::Shape("more than few elements, whose places are loops"));
        }
        let tables = places(op, attr, |tables| tables)?;
        let (sums, scratch) = match target.jit {
            Some(isa) => Behind::plan(op, problem, isa)?,
            None => (words(op)?, 0),
        };
        Ok((Summed::new(op, target, tables, sums), scratch))
    })
}

/// Whether elements are so few, or among so much padding, that tables of their places may be worth their making.
fn is_few(op: &Reorder) -> bool {
    op.dst.dims().volume().is_some_and(|n| n <= FEW) || is_sparse(&op.src) || is_sparse(&op.dst)
}

/// The same by vectors.
fn looked_up(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    let isa = target.jit.ok_or(Skip::Isa("avx2, or executable memory"))?;
    RowPlan::resolved(problem, target, |problem| {
        let op = reorder(problem)?;
        check_known(op)?;
        if !is_few(op) {
            return Err(Skip::Shape("more than few elements"));
        }
        let (sums, scratch) = Behind::plan(op, problem, isa)?;
        Ok((Summed::new(op, target, places(op, &problem.attr, Tables::in_long_rows)?.looked_up(isa)?, sums), scratch))
    })
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
