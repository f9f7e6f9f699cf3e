//! `packed:jit` and `packed:amx`: inner product as matrix products on generated microkernels: forward, backward by data, and gradients of
//! plain weights.

use super::packed::{channels_first, check_scales, depth, inner, plain_tag, resolve, sides, stay_plain};
use super::weights;
use crate::CpuTarget;
use crate::kernels::microkernel::DotType;
use crate::kernels::microkernel::layout::{panel_columns, panel_tag, vnni_factor};
use crate::kernels::{amx, portable_epilogue};
use crate::ops::matmul::dots::Dots;
use crate::ops::matmul::tiled::{Request, Tiled, product};
use crate::ops::support;
use crate::row::{Generated, RowPlan};
use oxidnn_jit::Isa;
use oxidnn_runtime::{Plan, Skip};
use oxidnn_spec::op::{InnerProduct, Prop};
use oxidnn_spec::{Arg, DataType, Op, Problem};

/// Takes all passes in the types that vectors multiply.
///
/// # Errors
/// Problems that the row does not take.
pub(super) fn plan(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    plan_on(problem, target, support::isa(target)?.without_amx(), tiles)
}

/// Takes forward passes of bytes with one row or one channel and operands contiguous along K.
///
/// # Errors
/// Problems that the row does not take.
pub(super) fn plan_dots(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    plan_on(problem, target, support::isa(target)?.without_amx(), Dots::plan)
}

/// Takes the types that AMX multiplies, if vectors are predicted to be faster.
///
/// # Errors
/// Problems that the row does not take.
pub(super) fn plan_small(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    amx::isa(target.jit)?;
    let Op::InnerProduct(op) = &problem.op else { return Err(Skip::Op("anything but inner product")) };
    support::known(problem)?;
    let product = product_of(op)?;
    amx::check(product)?;
    let [images, results] = [op.src.dims()[0], op.weights.dims()[0]];
    let elements = op.src.dims()[1..].iter().fold(1, |n: i64, size| n.saturating_mul(*size));
    let sizes = match op.prop {
        Prop::BackwardData => [1, images, elements, results],
        Prop::BackwardWeights => [1, results, elements, images],
        _ => [1, images, results, elements],
    };
    if amx::is_faster(product, sizes) {
        return Err(Skip::Shape("enough work for tiles of AMX"));
    }
    plan(problem, target)
}

/// How a pass multiplies.
fn product_of(op: &InnerProduct) -> Result<DotType, Skip> {
    match op.prop {
        Prop::BackwardWeights => product(op.dst.dtype, op.src.dtype),
        Prop::BackwardData => product(op.dst.dtype, op.weights.dtype),
        _ => product(op.src.dtype, op.weights.dtype),
    }
}

/// Takes the passes in the types that AMX multiplies.
///
/// # Errors
/// Problems that the row does not take.
pub(super) fn plan_amx(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    let isa = amx::isa(target.jit)?;
    let Op::InnerProduct(op) = &problem.op else { return Err(Skip::Op("anything but inner product")) };
    amx::check(product_of(op)?)?;
    plan_on(problem, target, isa, tiles)
}

/// The product on tiles: gradients are stored as rows.
fn tiles(request: &Request<'_>) -> Result<(Tiled, usize), Skip> {
    if request.c.arg == Arg::DIFF_WEIGHTS && !request.c.tensor.blocking().is_some_and(|b| b.is_plain()) {
        return Err(Skip::Layout("gradients of weights that are not plain".into()));
    }
    request.plan()
}

/// The problem with its layouts resolved to those that generated code reads.
///
/// # Errors
/// Panels that are too large.
pub(super) fn resolved(problem: &Problem, (isa, target): (Isa, &CpuTarget)) -> Result<Problem, Skip> {
    let mut problem = problem.clone();
    if problem.op.prop() == Some(Prop::BackwardWeights) {
        weights::resolve(&mut problem)?;
    }
    if let Op::InnerProduct(op) = &mut problem.op {
        let vnni = vnni_factor(op.weights.dtype).unwrap_or(1);
        resolve_weights(op, (isa, target), vnni)?;
        resolve(op, target)?;
    }
    problem.resolve();
    Ok(problem)
}

/// Plans a pass by the kernel and the bytes of scratch that `make` makes of it as a product.
///
/// # Errors
/// Problems that no row of generated code takes, and those that `make` declines.
pub(super) fn plan_on<K: Generated>(
    problem: &Problem,
    target: &CpuTarget,
    isa: Isa,
    make: impl FnOnce(&Request<'_>) -> Result<(K, usize), Skip>,
) -> Result<Box<dyn Plan>, Skip> {
    let Op::InnerProduct(op) = &problem.op else { return Err(Skip::Op("anything but inner product")) };
    product_of(op)?;
    if [&op.src, &op.weights, &op.dst].iter().any(|t| t.is_empty()) {
        return Err(Skip::Shape("empty"));
    }
    check_scales(&problem.attr)?;
    let problem = resolved(problem, (isa, target))?;
    support::dense(&problem)?;
    let Op::InnerProduct(op) = &problem.op else { return Err(Skip::Op("anything but inner product")) };
    let inner = inner(&op.weights);
    let by_column = op.weights.dims()[0] > 1 && op.weights.blocking().is_some_and(|b| b.strides[0] == 1);
    let [a, b, c] = sides(op, &inner, by_column);
    portable_epilogue::check(&problem.attr, c.tensor)?;
    let forward = op.prop.is_forward();
    let request = Request {
        attr: &problem.attr,
        isa,
        target,
        a,
        b,
        c,
        batch: 0,
        bias: op.bias.as_ref().filter(|_| forward),
        scales: if forward { &[None, Some(0)] } else { &[] },
    };
    let (kernel, scratch_bytes) = make(&request)?;
    RowPlan::of(problem, target, Some(scratch_bytes), kernel)
}

/// Resolves open layouts of weights to panels, if the columns are one dimension. Weights are contiguous along K instead, and packed at
/// execution, in two cases: panels would have gaps between pixels, since channels do not fill whole steps; or the source would be copied
/// for panels, since its channels are planes whose pixels do not fill whole steps, and the weights have fewer rows than it. Panels for
/// signed bytes have their column sums behind them.
pub(super) fn resolve_weights(op: &mut InnerProduct, (isa, target): (Isa, &CpuTarget), vnni: usize) -> Result<(), Skip> {
    let n = op.weights.dims().len();
    let dims = *op.weights.dims();
    let panels = |depth: &[usize], column: usize| {
        let width = panel_columns(isa, dims[column].max(0) as usize);
        panel_tag(n, depth, column, width, vnni)
    };
    let tag = match op.prop {
        Prop::BackwardData if n > 2 => return Ok(()),
        Prop::BackwardData => panels(&[0], 1),
        _ if stay_plain(op, target) => plain_tag(op).into(),
        _ => {
            let (depth, is_any) = (depth(op, vnni), op.weights.layout.is_any());
            let gaps = depth[..depth.len() - 1].iter().any(|d| dims[*d] != 1) && dims[depth[depth.len() - 1]] % vnni as i64 != 0;
            let copies = channels_first(&op.src) && depth[0] != 1;
            if gaps || copies && op.src.dims()[0] > dims[0].max(panel_columns(isa, 1) as i64) {
                let tag = plain_tag(op);
                return support::resolve(&mut op.weights, tag);
            }
            support::resolve(&mut op.weights, &panels(&depth, 0))?;
            if is_any && [op.src.dtype, op.weights.dtype] == [DataType::S8; 2] {
                support::keep_sums(&mut op.weights, &depth);
            }
            return Ok(());
        }
    };
    support::resolve(&mut op.weights, &tag)
}
