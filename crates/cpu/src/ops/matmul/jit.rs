//! `packed:jit` and `packed:amx`: matrix products on generated microkernels. Weights are in panels (what `any` resolves to), row-major, or
//! transposed.

use super::dots::Dots;
use super::gemv;
use super::tiled::{Matrix, Request, product};
use crate::CpuTarget;
use crate::kernels::gemv::MAX_ROWS;
use crate::kernels::microkernel::DotType;
use crate::kernels::{amx, portable_epilogue};
use crate::ops::support;
use crate::row::{Generated, RowPlan};
use oxidnn_jit::Isa;
use oxidnn_runtime::{Plan, Skip};
use oxidnn_spec::op::Matmul;
use oxidnn_spec::{Arg, Op, Problem};

/// Bytes of weights that are multiplied before bandwidth matters.
const MAX_LATENCY_BOUND_BYTES: i64 = 64 << 10;

/// Takes what [`plan`] takes with few weights, or with few rows of floating-point elements for which tiles are faster than gemv; for types
/// that AMX multiplies, only if vectors are predicted to be faster.
///
/// # Errors
/// Problems that the row does not take.
pub(super) fn plan_small(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    let Op::Matmul(op) = &problem.op else { return Err(Skip::Op("anything but matmul")) };
    support::known(problem)?;
    let bytes = op.weights.dims().volume().map(|n| n.saturating_mul(op.weights.dtype.bits() as i64) / 8);
    let few = bytes.is_some_and(|bytes| (0..=MAX_LATENCY_BOUND_BYTES).contains(&bytes));
    let (dims, n, product) = (op.dst.dims(), op.dst.dims().len(), on_amx(op, target));
    if let Some(product) = product {
        let batch = dims[..n - 2].iter().fold(1, |n: i64, size| n.saturating_mul(*size));
        if amx::is_faster(product, [batch, dims[n - 2], dims[n - 1], op.src.dims()[n - 1]]) {
            return Err(Skip::Shape("enough work for tiles of AMX"));
        }
    }
    // With many weights and few rows of floating-point elements, gemv streams the weights.
    let of_few = (1..=MAX_ROWS as i64).contains(&dims[n - 2]) && !op.src.dtype.is_integral();
    if !few && of_few == product.is_some() {
        return Err(Skip::Shape("more than 64 KiB of weights"));
    }
    plan_on(problem, target, support::isa(target)?.without_amx(), |request| {
        let faster = if of_few && product.is_none() { gemv::is_faster_in_tiles(request) } else { Some(true) };
        if faster.unwrap_or(few) { request.plan() } else { Err(Skip::Shape("so few rows")) }
    })
}

/// The product, if AMX multiplies its types on this processor.
fn on_amx(op: &Matmul, target: &CpuTarget) -> Option<DotType> {
    let product = target.jit.filter(|isa| isa.amx).and_then(|_| product(op.src.dtype, op.weights.dtype).ok())?;
    amx::check(product).ok().map(|()| product)
}

/// Takes dense products of the types that vectors multiply.
///
/// # Errors
/// Problems that the row does not take.
pub(super) fn plan(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    plan_on(problem, target, support::isa(target)?.without_amx(), |request| request.plan())
}

/// Takes products of bytes with one row or one column whose operands are contiguous along K.
///
/// # Errors
/// Problems that the row does not take.
pub(super) fn plan_dots(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    plan_on(problem, target, support::isa(target)?.without_amx(), Dots::plan)
}

/// Takes dense products of the types that AMX multiplies.
///
/// # Errors
/// Problems that the row does not take.
pub(super) fn plan_amx(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    let isa = amx::isa(target.jit)?;
    let Op::Matmul(op) = &problem.op else { return Err(Skip::Op("anything but matmul")) };
    amx::check(product(op.src.dtype, op.weights.dtype)?)?;
    plan_on(problem, target, isa, |request| request.plan())
}

/// Plans a dense product, with its layouts resolved, by the kernel and the bytes of scratch that `make` makes of it.
///
/// # Errors
/// Products that no row of generated code takes, and those that `make` declines.
pub(super) fn plan_on<K: Generated>(
    problem: &Problem,
    target: &CpuTarget,
    isa: Isa,
    make: impl FnOnce(&Request<'_>) -> Result<(K, usize), Skip>,
) -> Result<Box<dyn Plan>, Skip> {
    support::known(problem)?;
    let mut problem = problem.clone();
    let Op::Matmul(op) = &mut problem.op else { return Err(Skip::Op("anything but matmul")) };
    if [&op.src, &op.weights, &op.dst].iter().any(|t| t.is_empty()) {
        return Err(Skip::Shape("empty"));
    }
    if !problem.attr.precomputed_reductions.is_empty() {
        return Err(Skip::Attr("precomputed reductions".into()));
    }
    super::resolve_weights(op, &problem.attr, target)?;
    problem.resolve();
    support::dense(&problem)?;
    let Op::Matmul(op) = &problem.op else { return Err(Skip::Op("anything but matmul")) };
    portable_epilogue::check(&problem.attr, &op.dst)?;
    let n = op.dst.dims().len();
    let (row, column) = (n - 2, n - 1);
    let scales: Vec<Option<usize>> = (0..n).map(|d| (d != row).then_some(d)).collect();
    let (rows, columns) = (&[row][..], &[column][..]);
    let matrix = |arg, tensor| Matrix { arg, tensor, rows, columns };
    let request = Request {
        attr: &problem.attr,
        isa,
        target,
        a: matrix(Arg::SRC, &op.src),
        b: matrix(Arg::WEIGHTS, &op.weights),
        c: matrix(Arg::DST, &op.dst),
        batch: row,
        bias: op.bias.as_ref(),
        scales: &scales,
    };
    let (kernel, scratch_bytes) = make(&request)?;
    RowPlan::of(problem, target, Some(scratch_bytes), kernel)
}
