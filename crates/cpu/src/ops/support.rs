//! What the rows of products (matmul, inner product, convolution) share when they plan and bind arguments.

use crate::kernels::dot::pack::Source;
use crate::kernels::dot::panel_width;
use crate::kernels::microkernel::layout::panel_tag;
use crate::ops::fallback;
use crate::{CpuTarget, Isa};
use oxidnn_runtime::{Bound, Ctx, Exec, Impl, Plan, Region, Skip, plan_rows};
use oxidnn_spec::op::Use;
use oxidnn_spec::{Arg, Attr, Compensation, DataType, Error, Format, Layout, Problem, Tensor};

/// Refuses types that packing does not convert to `f32` exactly.
///
/// # Errors
/// The type.
pub(super) fn operand_type(dtype: DataType) -> Result<(), Skip> {
    match dtype {
        DataType::F64 | DataType::S32 | DataType::S64 | DataType::E8m0 | DataType::Boolean => {
            Err(Skip::DataType(format!("{dtype} as operand of a product")))
        }
        _ => Ok(()),
    }
}

/// The plan of the best of some rows but the reference.
pub(super) fn best(rows: &[Impl<CpuTarget>], problem: &Problem, target: &CpuTarget) -> Option<Box<dyn Plan>> {
    let planned = plan_rows(rows, problem, target, 0).ok()?;
    (planned.name != fallback::ROW.name).then_some(planned.plan)
}

/// What `made` makes for the instruction set, or else for vectors of half the width, for which blocks of half a vector are whole.
/// # Errors
/// The reason for the full width.
pub(super) fn of_widths<T>(isa: oxidnn_jit::Isa, made: impl Fn(oxidnn_jit::Isa) -> Result<T, Skip>) -> Result<T, Skip> {
    let narrow = oxidnn_jit::Isa::AVX2;
    made(isa).or_else(|skip| if isa == narrow { Err(skip) } else { made(narrow).map_err(|_| skip) })
}

/// Takes over from another problem the operands, except those in `but`, and the attributes.
pub(super) fn adopt(problem: &mut Problem, chosen: &Problem, but: &[Arg]) {
    for o in problem.op.operands_mut().into_iter().filter(|o| !but.contains(&o.arg)) {
        if let Some(tensor) = chosen.op.tensor(o.arg) {
            *o.tensor = tensor.clone();
        }
    }
    problem.attr = chosen.attr.clone();
}

/// The problem with the layouts that are left open decided as [`Problem::resolve`] does.
pub(super) fn resolved(problem: &Problem) -> Problem {
    let mut problem = problem.clone();
    problem.resolve();
    problem
}

/// Whether a row runs generated code only.
pub(super) fn is_generated(row: &&Impl<CpuTarget>) -> bool {
    [":jit", ":amx"].iter().any(|tier| row.name.ends_with(tier))
}

/// Whether a row runs portable code only.
pub(super) fn is_portable(row: &&Impl<CpuTarget>) -> bool {
    row.name.ends_with(":portable")
}

/// Most operands of an execution that runs other executions.
pub(super) const OPERANDS: usize = 40;

/// Runs `exec` with other scratch and with arguments changed by `change`.
///
/// # Errors
/// [`Error`] of the execution, or [`Error::Runtime`] for more than [`OPERANDS`] arguments or none.
pub(super) fn run_with<'a>(exec: &dyn Exec, ctx: &Ctx<'a>, scratch: Region<'a>, change: impl Fn(&mut Bound<'a>)) -> Result<(), Error> {
    let mut args = [*ctx.args.first().ok_or_else(|| Error::Runtime("no arguments".into()))?; OPERANDS];
    let count = ctx.args.len();
    let list = args.get_mut(..count).ok_or_else(|| Error::Runtime(format!("{count} arguments")))?;
    list.copy_from_slice(ctx.args);
    list.iter_mut().for_each(change);
    exec.run(&Ctx { args: list, scratch, ..*ctx })
}

/// Runs `exec` with other scratch from one buffer to another; `named` renames the other arguments or drops them.
///
/// # Errors
/// [`Error`] of the execution, or [`Error::Runtime`] for more than [`OPERANDS`] arguments.
pub(super) fn run_between<'a>(
    exec: &dyn Exec,
    ctx: &Ctx<'a>,
    scratch: Region<'a>,
    [from, to]: [Bound<'a>; 2],
    named: impl Fn(Arg) -> Option<Arg>,
) -> Result<(), Error> {
    let mut args = [Bound { arg: Arg::SRC, usage: Use::In, ..from }; OPERANDS];
    args[1] = Bound { arg: Arg::DST, usage: Use::Out, ..to };
    let mut count = 2;
    for bound in ctx.args {
        let Some(arg) = named(bound.arg) else { continue };
        let next = args.get_mut(count).ok_or_else(|| Error::Runtime(format!("{} arguments", ctx.args.len())))?;
        (*next, count) = (Bound { arg, ..*bound }, count + 1);
    }
    exec.run(&Ctx { args: &args[..count], scratch, ..*ctx })
}

/// Resolves an open layout to `tag`.
///
/// # Errors
/// Tags that do not fit.
pub(super) fn resolve(tensor: &mut Tensor, tag: &str) -> Result<(), Skip> {
    if tensor.layout.is_any() {
        *tensor = Tensor::with_tag(*tensor.dims(), tensor.dtype, tag).map_err(|e| Skip::Layout(e.to_string()))?;
    }
    Ok(())
}

/// Adds to the layout of weights of bytes that reorders store their column sums over `depth`, times -1, behind the elements.
pub(super) fn keep_sums(weights: &mut Tensor, depth: &[usize]) {
    let mask = columns_mask(weights, depth);
    if let Some(blocking) = weights.layout.blocking_mut() {
        blocking.compensation = Some(Compensation { zero_point_mask: Some(mask), ..Compensation::default() });
    }
}

/// Where the sums that [`keep_sums`] keeps begin, in 32-bit elements; `None` without them.
pub(super) fn kept_sums(weights: &Tensor, depth: &[usize]) -> Option<usize> {
    let sums = weights.blocking()?.compensation?;
    let kept = Compensation { zero_point_mask: Some(columns_mask(weights, depth)), ..Compensation::default() };
    weights.compensation_at().filter(|_| sums == kept).map(|byte| byte / 4)
}

/// Mask of all dimensions but those of K.
fn columns_mask(weights: &Tensor, depth: &[usize]) -> u32 {
    (0..weights.dims().len()).filter(|d| !depth.contains(d)).fold(0, |mask, d| mask | 1 << d)
}

/// The layout that `any` resolves to for the weights of windows: panels of the result's channels (the first of the two channel dimensions
/// for `result_channel` 0), in these the taps, in these the other channels.
pub(super) fn window_tag(weights: &Tensor, grouped: bool, result_channel: usize, isa: Isa) -> String {
    let (first, n) = (usize::from(grouped), weights.dims().len());
    let (column, depth) = (first + result_channel, first + 1 - result_channel);
    let depth: Vec<usize> = (first + 2..n).chain([depth]).collect();
    panel_tag(n, &depth, column, panel_width(isa, weights.dims()[column].max(0) as usize), 1)
}

/// The layout of a tensor whose padding, behind its elements, counts as elements.
pub(super) fn with_padding(tensor: &Tensor) -> Option<Layout> {
    let b = tensor.blocking().filter(|b| b.compensation.is_none() && b.padded_offsets.iter().all(|o| *o == 0))?;
    (!tensor.layout.has_runtime()).then(|| Layout { dims: b.padded_dims, format: b.clone().into() })
}

/// Refuses resolved problems with tensors that are not dense.
///
/// # Errors
/// The first such tensor, by name.
pub(super) fn dense(problem: &Problem) -> Result<(), Skip> {
    match problem.operands().iter().find(|o| !matches!(o.tensor.layout.format, Format::Blocked(_) | Format::HostScalar)) {
        Some(o) => Err(Skip::Layout(format!("of {}: not dense", o.arg))),
        None => Ok(()),
    }
}

/// Elements between neighbouring pixels where all of an image follow each other at one distance; 0 where there is one.
pub(super) fn pixel_distance(tensor: &Tensor) -> Option<i64> {
    let (b, dims) = (tensor.blocking()?, tensor.dims());
    let mut sizes = (2..dims.len()).rev().filter(|d| dims[*d] != 1);
    let first = sizes.clone().next().map_or(0, |d| b.strides[d]);
    let mut next = first;
    let follow = sizes.all(|d| {
        let fits = b.strides[d] == next;
        next = next.saturating_mul(dims[d]);
        fits
    });
    follow.then_some(first)
}

/// The instruction set of generated code.
///
/// # Errors
/// Processors and systems without any.
pub(super) fn isa(target: &CpuTarget) -> Result<oxidnn_jit::Isa, Skip> {
    target.jit.ok_or(Skip::Isa("avx2, or executable memory"))
}

/// Whether all sizes, strides and offsets are known when a problem is planned.
///
/// # Errors
/// The first such tensor, by name.
pub(super) fn known(problem: &Problem) -> Result<(), Skip> {
    match problem.operands().iter().find(|o| o.tensor.layout.has_runtime()) {
        Some(o) => Err(Skip::Layout(format!("of {}: sizes or strides that are given at execution", o.arg))),
        None => Ok(()),
    }
}

/// Largest magnitude of an 8-bit or 4-bit integer type.
fn largest(dtype: DataType) -> Option<f32> {
    Some(match dtype {
        DataType::U8 => 255.0,
        DataType::S8 => 128.0,
        DataType::U4 => 15.0,
        DataType::S4 => 8.0,
        _ => return None,
    })
}

/// How many products of two integers (less zero points) can be added in `f32` without rounding: all sums stay below 2^24. `None` if an
/// operand is not of integers.
pub(super) fn exact_depth(sources: [&Source<'_>; 2], attr: &Attr) -> Option<usize> {
    let mut product = 1.0;
    for (source, arg) in sources.into_iter().zip([Arg::SRC, Arg::WEIGHTS]) {
        if source.scale.is_some() {
            return None;
        }
        let count = attr.zero_points.get(&arg).and_then(|q| q.dims(source.view.dims()).volume()).unwrap_or(0);
        product *= largest(source.view.dtype())? + source.zero_point.map_or(0.0, |z| z.largest(count as usize));
    }
    Some(((1u32 << 24) as f32 / product).max(1.0) as usize)
}
