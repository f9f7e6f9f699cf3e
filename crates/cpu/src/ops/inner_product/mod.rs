//! Rows of inner product.

mod flat;
mod jit;
mod packed;
mod weights;

use crate::CpuTarget;
use crate::kernels::access::Axis;
use crate::kernels::gemv::MAX_ROWS;
use crate::kernels::tile::layout::together;
use crate::ops::matmul::few::{self, Side, Sides};
use crate::ops::matmul::gemv;
use crate::ops::{bias, doubles, fallback, passes, rounded, staged};
use oxidnn_runtime::{Choose, Impl, Plan, Skip};
use oxidnn_spec::{Arg, Op, Problem, Prop};

/// Best first.
pub const IMPLS: &[Impl<CpuTarget>] = &[
    Impl::new("flat:jit", |p, t| bias::apart(p, t, flat::plan)).for_some_shapes(),
    Impl::new("few_columns:jit", few_columns).for_some_shapes(),
    Impl::new("dots:jit", jit::plan_dots).for_some_shapes(),
    Impl::new("gemv:jit", |p, t| bias::apart(p, t, few_rows)).for_some_shapes(),
    Impl::new("widened:jit", |p, t| bias::apart(p, t, widened)).for_some_shapes(),
    Impl::new("small:jit", |p, t| bias::apart(p, t, jit::plan_small)).for_some_shapes(),
    Impl::new("rounded:amx", |p, t| bias::apart(p, t, rounded)).for_some_shapes(),
    Impl::new("packed:amx", |p, t| bias::apart(p, t, jit::plan_amx)),
    Impl::new("packed:jit", |p, t| bias::apart(p, t, jit::plan)),
    Impl::new("bwd_weights:amx", |p, t| bias::apart(p, t, weights::plan_amx)),
    Impl::new("transposed:jit", |p, t| bias::apart(p, t, weights::plan_transposed)),
    Impl::new("staged:jit", |p, t| bias::apart(p, t, staged)),
    Impl::new("bwd_weights:jit", |p, t| bias::apart(p, t, weights::plan)),
    Impl::new("passes:jit", passes::generated),
    Impl::new("packed:portable", |p, t| bias::apart(p, t, packed::plan)),
    Impl::new("passes:portable", passes::portable),
    Impl::new("doubles:portable", doubles::plan),
    fallback::ROW,
];

/// f32 products rounded to bf16 on AMX, if the `fpmath` mode allows it.
fn rounded(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    rounded::plan(problem, target, &[jit::plan_amx, weights::plan_amx])
}

/// f16 products on f32 copies.
fn widened(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    rounded::widened(problem, target, &[jit::plan])
}

/// The rows that [`staged`] plans over copies of operands.
const GENERATED: &[Choose<CpuTarget>] = &[jit::plan_small, jit::plan_amx, jit::plan, weights::plan_amx, weights::plan];

/// Products of few columns with plain weights; the source has the order of the weights.
fn few_columns(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    let Op::InnerProduct(op) = &problem.op else { return Err(Skip::Op("anything but inner product")) };
    if !op.prop.is_forward() {
        return Err(Skip::Op("this propagation kind"));
    }
    if op.weights.dims()[0] > few::most_columns(target) {
        return Err(Skip::Shape("more columns than half of a vector"));
    }
    let mut problem = problem.clone();
    if let Op::InnerProduct(op) = &mut problem.op {
        packed::resolve(op, target)?;
    }
    problem.resolve();
    let Op::InnerProduct(op) = &problem.op else { return Err(Skip::Op("anything but inner product")) };
    let depth = packed::inner(&op.weights);
    let sides = Sides {
        few: Side { arg: Arg::WEIGHTS, across: [0, 1], depth: depth.clone() },
        many: Side { arg: Arg::SRC, across: [0; 2], depth },
        result: Arg::DST,
        batch: 0,
    };
    sides.check_columns(&problem, target)?;
    sides.plan(problem, target)
}

/// Products of up to 8 rows for which gemv is faster than tiles.
fn few_rows(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    let Op::InnerProduct(op) = &problem.op else { return Err(Skip::Op("anything but inner product")) };
    if op.prop == Prop::BackwardWeights {
        return weights::few_rows(problem, target);
    }
    let rows = op.src.dims()[0];
    if !(1..=MAX_ROWS as i64).contains(&rows) {
        return Err(Skip::Shape("not of 1 to 8 rows, known when it is planned"));
    }
    let isa = target.jit.ok_or(Skip::Isa("avx2, or executable memory"))?;
    let mut problem = problem.clone();
    if let Op::InnerProduct(op) = &mut problem.op {
        jit::resolve_weights(op, (isa, target), together(op.weights.dtype).unwrap_or(1))?;
        packed::resolve(op, target)?;
    }
    problem.resolve();
    let Op::InnerProduct(op) = &problem.op else { return Err(Skip::Op("anything but inner product")) };
    let inner = packed::inner(&op.weights);
    let (few, many, result) = match op.prop {
        Prop::BackwardData if inner.len() > 1 => {
            let flat = Problem::new(weights::flat(op)?, problem.attr.clone());
            let flat = flat.map_err(|_| Skip::Shape("channels and pixels beyond the address space"))?;
            return staged::viewed(problem, few_rows(&flat, target)?, target);
        }
        Prop::BackwardData => ((Arg::DIFF_DST, vec![1]), ([1, 1], vec![0]), Arg::DIFF_SRC),
        _ => ((Arg::SRC, inner.clone()), ([0, 1], inner), Arg::DST),
    };
    if gemv::prefers_tiles(rows as usize, &op.weights, (&many.1, many.0[0]), target) {
        return Err(Skip::Shape("enough rows for tiles to be faster"));
    }
    // A single row costs less than a copy of all in another order.
    let depth = Axis::new(&few.1, op.src.dims());
    let is_run = op.src.blocking().is_some_and(|b| b.is_plain() && depth.chained(b) == Some(1));
    if rows > 1 && op.prop != Prop::BackwardData && !is_run {
        return Err(Skip::Layout("of the source: not rows in the order of the weights".into()));
    }
    let few = Side { arg: few.0, across: [0; 2], depth: few.1 };
    let many = Side { arg: Arg::WEIGHTS, across: many.0, depth: many.1 };
    Sides { few, many, result, batch: 0 }.plan(problem, target)
}

fn staged(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    let mut problem = problem.clone();
    if problem.op.prop() == Some(Prop::BackwardWeights) {
        weights::resolve(&mut problem)?;
    }
    staged::plan(&problem, target, GENERATED, staged::types(&problem))
}
