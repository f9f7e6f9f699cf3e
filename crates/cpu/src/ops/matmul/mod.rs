//! Rows of matrix multiplication.
//!
//! | files | what they are for |
//! |---|---|
//! | `tiled`, `place`, `zero_points` | products on generated microkernels, which inner product shares: plan and run; operands as strided matrices; corrections of integer sums |
//! | `jit` | the rows on these: `packed:jit`, `packed:amx`, `small:jit` (few weights or few rows) |
//! | `gemv`, `few`, `dots` | weights read once, in place: few rows and compressed weights; few columns, of either operand; bytes by few rows or one column |
//! | `merged` | batches that share their weights as one product |
//! | `packed`, `sparse` | `packed:portable`; CSR, COO and bit masks |

pub(super) mod dots;
pub(super) mod few;
pub(super) mod gemv;
pub(super) mod jit;
mod merged;
pub(super) mod packed;
pub(super) mod place;
pub(super) mod sparse;
pub(super) mod tiled;
mod zero_points;

use crate::CpuTarget;
use crate::kernels::dot::panel_width;
use crate::kernels::microkernel::layout;
use crate::ops::{doubles, fallback, passes, rounded, staged, support};
use few::Few;
use oxidnn_runtime::{Choose, Impl, Plan, Skip};
use oxidnn_spec::op::Matmul;
use oxidnn_spec::{Arg, Attr, DataType, Op, Problem, Tensor};

/// Best first.
pub const IMPLS: &[Impl<CpuTarget>] = &[
    Impl::new("merged:jit", merged::plan),
    Impl::new("few_columns:jit", few_columns).for_some_shapes(),
    Impl::new("dots:jit", jit::plan_dots).for_some_shapes(),
    Impl::new("widened:jit", widened).for_some_shapes(),
    Impl::new("small:jit", jit::plan_small).for_some_shapes(),
    Impl::new("unpacked:amx", gemv::plan_compressed_amx).for_some_shapes(),
    Impl::new("gemv:jit", gemv::plan).for_some_shapes(),
    Impl::new("rounded:amx", rounded).for_some_shapes(),
    Impl::new("unpacked:jit", gemv::plan_compressed).for_some_shapes(),
    Impl::new("packed:amx", jit::plan_amx),
    Impl::new("packed:jit", jit::plan),
    Impl::new("staged:jit", staged),
    Impl::new("passes:jit", passes::generated),
    Impl::new("packed:portable", packed::plan),
    Impl::new("sparse:portable", sparse::plan),
    Impl::new("passes:portable", passes::portable),
    Impl::new("doubles:portable", doubles::plan),
    fallback::ROW,
];

/// f32 products rounded to bf16 on AMX, if the `fpmath` mode allows it.
fn rounded(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    rounded::plan(problem, target, &[jit::plan_amx, gemv::plan_compressed_amx])
}

/// f16 products on f32 copies. Weights are better converted once, in L2, even for a copy of a source that is not contiguous along K.
fn widened(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    let plan = rounded::widened(problem, target, &[jit::plan])?;
    let mut copied = problem.clone();
    if let Op::Matmul(op) = &mut copied.op {
        op.src = Tensor::any(*op.src.dims(), op.src.dtype);
    }
    match gemv::plan_compressed(&copied, target) {
        Ok(_) => Err(Skip::Shape("weights that are converted once, in L2")),
        Err(_) => Ok(plan),
    }
}

/// The rows that [`staged`] plans over copies of operands.
const GENERATED: &[Choose<CpuTarget>] =
    &[gemv::plan_compressed_amx, gemv::plan, gemv::plan_compressed, jit::plan_small, jit::plan_amx, jit::plan];

/// Products of few columns of weights that lie as the user has them.
///
/// # Errors
/// What the row does not take.
pub(super) fn few_columns(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    let Op::Matmul(op) = &problem.op else { return Err(Skip::Op("anything but matmul")) };
    if op.dst.dims()[op.dst.dims().len() - 1] > few::most_columns(target) {
        return Err(Skip::Shape("more columns than half of a vector"));
    }
    jit::plan_on(problem, target, support::isa(target)?, Few::columns)
}

/// A source of floating-point elements may be copied as f32.
fn staged(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    const FLOATS: &[(Arg, DataType)] = &[(Arg::SRC, DataType::F32), (Arg::WEIGHTS, DataType::F32)];
    let real = matches!(&problem.op, Op::Matmul(op) if !op.src.dtype.is_integral());
    staged::plan(problem, target, GENERATED, if real { &[&[], FLOATS] } else { &[&[]] })
}

/// Resolves open layouts of weights to panels: those of generated code if it multiplies the types, else those of the portable kernels.
/// Bytes whose column sums are needed, for signed sources and for zero points of the source, have these sums behind them.
///
/// # Errors
/// Panels that are too large.
fn resolve_weights(op: &mut Matmul, attr: &Attr, target: &CpuTarget) -> Result<(), Skip> {
    let weights = &mut op.weights;
    if !weights.layout.is_any() || weights.dims().has_runtime() {
        return Ok(());
    }
    let n = weights.dims().len();
    let [depth, columns] = [n - 2, n - 1].map(|d| weights.dims()[d].max(0) as usize);
    if few::stay_plain(op.src.dtype, weights, [columns, depth], target) {
        let letter = |d: usize| char::from(b'a' + d as u8);
        return support::resolve(weights, &(0..n - 2).chain([n - 1, n - 2]).map(letter).collect::<String>());
    }
    let Some((isa, together)) = target.jit.zip(layout::vnni_factor(weights.dtype)) else {
        return support::resolve(weights, &layout::panel_tag(n, &[n - 2], n - 1, panel_width(target.isa, columns), 1));
    };
    support::resolve(weights, &layout::panel_tag(n, &[n - 2], n - 1, layout::panel_columns(isa, columns), together))?;
    if weights.dtype == DataType::S8 && (op.src.dtype == DataType::S8 || attr.zero_points.contains_key(&Arg::SRC)) {
        support::keep_sums(weights, &[n - 2]);
    }
    Ok(())
}
