//! Rows of inner product.

mod flat;
mod jit;
mod packed;
mod weights;

use crate::CpuTarget;
use crate::kernels::access::Axis;
use crate::kernels::gemv::MAX_ROWS;
use crate::ops::matmul::few::{self, Few};
use crate::ops::matmul::tiled::Request;
use crate::ops::matmul::{gemv, place};
use crate::ops::{bias, doubles, fallback, passes, rounded, staged, support};
use oxidnn_runtime::{Choose, Impl, Plan, Skip};
use oxidnn_spec::op::Prop;
use oxidnn_spec::{Arg, DataType, Op, Problem};

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

/// Bytes of 16-bit elements that tiles multiply before gemv has prepared the few rows of a gradient of weights.
const MAX_TILE_WEIGHT_BYTES: usize = 128 << 10;

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
    if op.weights.layout.is_any() && !packed::stay_plain(op, target) {
        return Err(Skip::Layout("of the weights: panels".into()));
    }
    support::known(problem)?;
    jit::plan_on(problem, target, support::isa(target)?, Few::columns)
}

/// Products of up to 8 rows for which gemv is faster than tiles.
fn few_rows(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    let Op::InnerProduct(op) = &problem.op else { return Err(Skip::Op("anything but inner product")) };
    if op.prop != Prop::BackwardWeights && !(1..=MAX_ROWS as i64).contains(&op.src.dims()[0]) {
        return Err(Skip::Shape("not of 1 to 8 rows, known when it is planned"));
    }
    support::known(problem)?;
    let isa = support::isa(target)?;
    if !op.prop.is_forward() && op.weights.dims().len() > 2 {
        return weights::flattened(jit::resolved(problem, (isa, target))?, target, few_rows);
    }
    jit::plan_on(problem, target, isa, |request| {
        let Request { a, b, c, .. } = *request;
        let rows = place::count(c.tensor, c.rows);
        if !(1..=MAX_ROWS).contains(&rows) {
            return Err(Skip::Shape("not of 1 to 8 rows, known when it is planned"));
        }
        let is_small = c.arg == Arg::DIFF_WEIGHTS && b.tensor.dtype != DataType::F32 && b.tensor.bytes() <= MAX_TILE_WEIGHT_BYTES;
        if is_small || gemv::prefers_tiles(rows, b.tensor, (b.rows, b.columns[0]), target) {
            return Err(Skip::Shape("enough rows for tiles to be faster"));
        }
        // A single row costs less than a copy of all in another order.
        let depth = Axis::new(a.columns, a.tensor.dims());
        let is_run = a.tensor.blocking().is_some_and(|b| b.is_plain() && depth.chained(b) == Some(1));
        if rows > 1 && c.arg == Arg::DST && !is_run {
            return Err(Skip::Layout("of the source: not rows in the order of the weights".into()));
        }
        Few::rows(request)
    })
}

fn staged(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    let mut problem = problem.clone();
    if problem.op.prop() == Some(Prop::BackwardWeights) {
        weights::resolve(&mut problem)?;
    }
    staged::plan(&problem, target, GENERATED, staged::types(&problem))
}
