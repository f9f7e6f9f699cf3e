//! Products and convolutions on tensor cores (and in f32 on CUDA cores): problems become matrix products with an epilogue ([`Gemm`]), which are lowered to kernels.
//!
//! This module has `gemm:sm90` (`kernels/gemm_sm90.cu`): matmul, inner product in all directions and 1x1 convolution on Hopper, for matrices that TMA can
//! address. `shape` chooses the tile; submodules have the other kernels.

mod conv;
pub(super) mod depthwise;
pub(super) mod first;
mod four_bits;
pub(super) mod groups;
pub(super) mod planar;
mod rows;
pub(super) mod shape;
pub(super) mod simt;
pub(super) mod slices;
pub(super) mod stem;
pub(super) mod weights;

pub(crate) use conv::{conv, deconv};
pub(crate) use four_bits::four_bits;
pub(crate) use shape::{Choice, Request, Shape, candidates};

use crate::CudaTarget;
use crate::emit::{Emitter, Factor, Real, Tail, View};
use crate::ops::transpose::{Kept, copied};
use crate::program::{Launch, MapKind, MapPlace, Program, TensorMap, Word};
use crate::row::Lower;
use oxidnn_runtime::Skip;
use oxidnn_spec::op::{InnerProduct, Matmul};
use oxidnn_spec::{Arg, Blocking, DataType, FpMathMode, Op, Problem, Prop, Rounding, Tensor};
use shape::{Store, ceil};

/// Rows of tiles per group of the rasterisation order (`Schedule` in `tile_sm90.cuh`), for L2 reuse.
const GROUP: i64 = 8;

/// The expressions of scale and bias that follow the sum in the epilogue.
#[derive(Default)]
struct Declared {
    scale: String,
    bias: String,
    /// The bias depends on the column only.
    by_column: bool,
}

/// A batch of matrices in memory; strides in elements.
#[derive(Clone, Copy, Debug)]
struct Matrix {
    arg: Arg,
    dtype: DataType,
    offset: i64,
    /// Strides along M (A) or N (B), and along K; of the result between rows, and between columns.
    outer: i64,
    inner: i64,
    batches: i64,
    batch_stride: i64,
    /// The place in scratch of a copy, which these numbers describe.
    kept: Option<usize>,
}

/// A batched matrix product with its epilogue: C = epilogue(A B).
#[derive(Clone, Copy)]
struct Gemm<'a> {
    problem: &'a Problem,
    m: i64,
    n: i64,
    k: i64,
    batch: i64,
    /// A is M x K, B is N x K, C is M x N.
    a: Matrix,
    b: Matrix,
    c: Matrix,
    /// Lowers the problem for addresses that are not aligned.
    otherwise: Lower,
    /// Declares `place(e, batch, row, column, p)`, the position of a result element, and returns the expressions of scale and bias.
    declare: &'a (dyn Fn(&mut Emitter) -> Result<Declared, Skip> + 'a),
}

/// The batch dimensions of a tensor merged to one: size and stride; `None` if they cannot be merged.
fn batches(t: &Tensor, b: &Blocking) -> Option<(i64, i64)> {
    let n = t.dims().len() - 2;
    let mut merged: Option<(i64, i64)> = None;
    for d in (0..n).rev().filter(|&d| t.dims()[d] != 1) {
        merged = Some(match merged {
            None => (t.dims()[d], b.strides[d]),
            Some((size, stride)) if b.strides[d] == size * stride => (size * t.dims()[d], stride),
            Some(_) => return None,
        });
    }
    Some(merged.unwrap_or((1, 0)))
}

pub(super) fn plain(t: &Tensor) -> Result<&Blocking, Skip> {
    let strided = |b: &&Blocking| b.is_plain() && b.padded_dims == *t.dims() && b.compensation.is_none();
    t.blocking().filter(strided).ok_or_else(|| Skip::Layout("that is not strides alone".into()))
}

/// The last two dimensions of a tensor as matrices; `transposed`: the last dimension is the outer one.
fn matrix(arg: Arg, t: &Tensor, transposed: bool) -> Result<Matrix, Skip> {
    let b = plain(t)?;
    let n = t.dims().len();
    let (batches, batch_stride) = batches(t, b).ok_or_else(|| Skip::Layout("batches that are not evenly spaced".into()))?;
    let (mut outer, mut inner) = (b.strides[n - 2], b.strides[n - 1]);
    if transposed {
        (outer, inner) = (inner, outer);
    }
    Ok(Matrix { arg, dtype: t.dtype, offset: b.offset, outer, inner, batches, batch_stride, kept: None })
}

/// Lowers a product to one of the kernels.
type Way<'a> = &'a dyn Fn(&Gemm<'_>) -> Result<Program, Skip>;

/// Matmul.
pub(crate) fn matmul(problem: &Problem, target: &CudaTarget) -> Result<Program, Skip> {
    hopper(target)?;
    matrices(problem, &|gemm| gemm.program(target))
}

/// Matmul of few rows (`gemv:sm80`).
pub(crate) fn matmul_rows(problem: &Problem, target: &CudaTarget) -> Result<Program, Skip> {
    matrices(problem, &|gemm| gemm.few_rows(target))
}

/// Matmul by `mma.sync` (`gemm:sm80`).
pub(crate) fn matmul_mma(problem: &Problem, target: &CudaTarget) -> Result<Program, Skip> {
    matrices(problem, &|gemm| gemm.mma(target))
}

fn matrices(problem: &Problem, way: Way<'_>) -> Result<Program, Skip> {
    let Op::Matmul(op) = &problem.op else { return Err(Skip::Op("anything but matmul")) };
    check_attributes(problem)?;
    let dims = op.dst.dims();
    let n = dims.len();
    let scales = [
        Factor::scale("src_scale", &problem.attr, Arg::SRC, op.src.dims()),
        Factor::scale("weights_scale", &problem.attr, Arg::WEIGHTS, op.weights.dims()),
    ];
    if scales[0].varies(n - 1) || scales[1].varies(n - 2) {
        return Err(Skip::Attr("scales that differ along K".into()));
    }
    let declare = |emit: &mut Emitter| declare_matmul(op, &scales, emit);
    let gemm = Gemm {
        problem,
        m: dims[n - 2],
        n: dims[n - 1],
        k: op.src.dims()[n - 1],
        batch: dims[..n - 2].iter().product(),
        a: matrix(Arg::SRC, &op.src, false)?,
        b: matrix(Arg::WEIGHTS, &op.weights, true)?,
        c: matrix(Arg::DST, &op.dst, false)?,
        otherwise: super::matmul::matmul,
        declare: &declare,
    };
    if dims[..n - 2]
        .iter()
        .enumerate()
        .any(|(d, &size)| op.src.dims()[d] != size && op.src.dims()[d] != 1 || op.weights.dims()[d] != size && op.weights.dims()[d] != 1)
        || [&gemm.a, &gemm.b].iter().any(|x| x.batches != 1 && x.batches != gemm.batch)
    {
        return Err(Skip::Shape("batches that are broadcast in part"));
    }
    way(&gemm)
}

fn declare_matmul(op: &Matmul, scales: &[Factor<'_>], emit: &mut Emitter) -> Result<Declared, Skip> {
    let dims = op.dst.dims();
    let n = dims.len();
    emit.define("RANK", n);
    let order: Vec<usize> = (0..n - 2).collect();
    emit.traversal("unbatch", dims, &order);
    emit.code("DEVICE void place(const Args& a, int batch, int row, int column, index* p) {\n    unbatch(a, batch, p);\n    p[RANK - 2] = row, p[RANK - 1] = column;\n}\n");
    let mut factors = Vec::new();
    for scale in scales.iter().filter(|s| s.quant.is_some()) {
        emit.factor(scale);
        factors.push(format!("{}(a, p)", scale.name));
    }
    let bias = match &op.bias {
        Some(bias) => {
            emit.view(&View::of("bias", Arg::BIAS, bias))?;
            " + bias(a, p)".to_owned()
        }
        None => String::new(),
    };
    let by_column = op.bias.as_ref().is_some_and(|b| b.dims()[n - 2] == 1);
    Ok(Declared { scale: factors.iter().map(|f| format!(" * {f}")).collect(), bias, by_column })
}

/// Inner product in all directions, if the dimensions after the first have the same dense order in source and weights.
pub(crate) fn inner_product(problem: &Problem, target: &CudaTarget) -> Result<Program, Skip> {
    hopper(target)?;
    inner_matrices(problem, &|gemm| gemm.program(target))
}

/// Inner product of few rows (`gemv:sm80`).
pub(crate) fn inner_rows(problem: &Problem, target: &CudaTarget) -> Result<Program, Skip> {
    inner_matrices(problem, &|gemm| gemm.few_rows(target))
}

/// Inner product by `mma.sync` (`gemm:sm80`).
pub(crate) fn inner_mma(problem: &Problem, target: &CudaTarget) -> Result<Program, Skip> {
    inner_matrices(problem, &|gemm| gemm.mma(target))
}

fn inner_matrices(problem: &Problem, way: Way<'_>) -> Result<Program, Skip> {
    let Op::InnerProduct(op) = &problem.op else { return Err(Skip::Op("anything but inner products")) };
    check_attributes(problem)?;
    let (src, weights, dst) = (plain(&op.src)?, plain(&op.weights)?, plain(&op.dst)?);
    let dims = op.src.dims();
    let k: i64 = dims[1..].iter().product();
    let alike = (1..dims.len()).all(|d| dims[d] == 1 || src.strides[d] == weights.strides[d]);
    let reach: i64 = (1..dims.len()).map(|d| (dims[d] - 1) * src.strides[d]).sum();
    if !alike || reach != k - 1 {
        return Err(Skip::Layout("channels of source and weights in different orders or with holes".into()));
    }
    let (rows, columns) = (op.dst.dims()[0], op.dst.dims()[1]);
    let whole = |arg, t: &Tensor, b: &Blocking, inner: i64| Matrix {
        arg,
        dtype: t.dtype,
        offset: b.offset,
        outer: b.strides[0],
        inner,
        batches: 1,
        batch_stride: 0,
        kept: None,
    };
    let turned = |x: Matrix| Matrix { outer: x.inner, inner: x.outer, ..x };
    let forward = op.prop.is_forward();
    let declare = |emit: &mut Emitter| if forward { declare_inner(op, problem, emit) } else { Ok(Declared::default()) };
    let otherwise = super::matmul::inner_product;
    let product = |[m, n, k]: [i64; 3], [a, b, c]: [Matrix; 3]| Gemm { problem, m, n, k, batch: 1, a, b, c, otherwise, declare: &declare };
    match op.prop {
        Prop::BackwardData => way(&product(
            [rows, k, columns],
            [
                whole(Arg::DIFF_DST, &op.dst, dst, dst.strides[1]),
                turned(whole(Arg::WEIGHTS, &op.weights, weights, 1)),
                whole(Arg::DIFF_SRC, &op.src, src, 1),
            ],
        )),
        Prop::BackwardWeights => {
            let mut program = way(&product(
                [columns, k, rows],
                [
                    turned(whole(Arg::DIFF_DST, &op.dst, dst, dst.strides[1])),
                    turned(whole(Arg::SRC, &op.src, src, 1)),
                    whole(Arg::DIFF_WEIGHTS, &op.weights, weights, 1),
                ],
            ))?;
            if let Some(bias) = problem.op.tensor(Arg::DIFF_BIAS) {
                super::conv::bias_gradient(&mut program, problem, &op.dst, bias)?;
            }
            Ok(program)
        }
        _ if forward => way(&product(
            [rows, columns, k],
            [whole(Arg::SRC, &op.src, src, 1), whole(Arg::WEIGHTS, &op.weights, weights, 1), whole(Arg::DST, &op.dst, dst, dst.strides[1])],
        )),
        _ => Err(Skip::Op("a pass that is none of three")),
    }
}

fn declare_inner(op: &InnerProduct, problem: &Problem, emit: &mut Emitter) -> Result<Declared, Skip> {
    emit.define("RANK", 2);
    emit.code("DEVICE void place(const Args& a, int batch, int row, int column, index* p) { p[0] = row, p[1] = column; }\n");
    let n = op.src.dims().len();
    let mut factors = String::new();
    let (src, weights) = (
        Factor::scale("src_scale", &problem.attr, Arg::SRC, op.src.dims()),
        Factor::scale("weights_scale", &problem.attr, Arg::WEIGHTS, op.weights.dims()),
    );
    if src.quant.is_some() {
        emit.factor(&src);
        emit.code(&format!(
            "DEVICE real source_scale(const Args& a) {{\n    const index zeros[{n}] = {{}};\n    return src_scale(a, zeros);\n}}\n"
        ));
        factors.push_str(" * source_scale(a)");
    }
    if weights.quant.is_some() {
        emit.factor(&weights);
        emit.code(&format!(
            "DEVICE real row_scale(const Args& a, index n) {{\n    const index w[{n}] = {{n}};\n    return weights_scale(a, w);\n}}\n"
        ));
        factors.push_str(" * row_scale(a, p[1])");
    }
    let bias = match &op.bias {
        Some(bias) => {
            emit.view(&View::of("bias", Arg::BIAS, bias))?;
            " + bias(a, p + 1)".to_owned()
        }
        None => String::new(),
    };
    Ok(Declared { scale: factors, bias, by_column: true })
}

/// 1x1 convolution without strides, padding and groups, forward and backward data. NHWC: one product with M = pixels and N = channels. NCHW: a batch with
/// M = channels and N = pixels of an image.
pub(crate) fn pointwise_conv(problem: &Problem, target: &CudaTarget) -> Result<Program, Skip> {
    hopper(target)?;
    pixels(problem, &|gemm| gemm.program(target))
}

/// The same by `mma.sync` (`gemm:sm80`).
pub(crate) fn pointwise_conv_mma(problem: &Problem, target: &CudaTarget) -> Result<Program, Skip> {
    pixels(problem, &|gemm| gemm.mma(target))
}

fn pixels(problem: &Problem, way: Way<'_>) -> Result<Program, Skip> {
    let Op::Conv(op) = &problem.op else { return Err(Skip::Op("anything but convolutions")) };
    check_attributes(problem)?;
    let z = op.sizes();
    if op.prop == Prop::BackwardWeights {
        return Err(Skip::Op("gradients of weights"));
    }
    if z.g != 1 || z.k != [1; 3] || z.s != [1; 3] || z.pl != [0; 3] || z.i != z.o {
        return Err(Skip::Shape("a window of more than one pixel, strides, padding or groups"));
    }
    let forward = op.prop.is_forward();
    let (from, to) =
        if forward { ((Arg::SRC, &op.src), (Arg::DST, &op.dst)) } else { ((Arg::DIFF_DST, &op.dst), (Arg::DIFF_SRC, &op.src)) };
    let (given, made) = if forward { (z.ic, z.oc) } else { (z.oc, z.ic) };
    let (read, written, weights) = (plain(from.1)?, plain(to.1)?, plain(&op.weights)?);
    let channel = usize::from(op.weights.dims().len() > op.src.dims().len());
    let (oc, ic) = (weights.strides[channel], weights.strides[channel + 1]);
    let (outer, inner) = if forward { (oc, ic) } else { (ic, oc) };
    if op.weights.dtype == DataType::F32 && inner != 1 && given != 1 {
        return Err(Skip::Layout("weights of f32 that are not contiguous along the sum: wgmma reads a copy that are".into()));
    }
    let one = |arg, t: &Tensor, b: &Blocking| Matrix {
        arg,
        dtype: t.dtype,
        offset: b.offset,
        outer,
        inner,
        batches: 1,
        batch_stride: 0,
        kept: None,
    };
    let filter = one(Arg::WEIGHTS, &op.weights, weights);
    let image = z.i.iter().product::<i64>();
    let is_last = |b: &Blocking, channels: i64| b.strides[1] == 1 || channels == 1;
    let channels = Channels { src: &op.src, weights: &op.weights, bias: op.bias.as_ref(), dst: &op.dst };
    let planar = !(is_last(read, given) && is_last(written, made));
    let declare = |emit: &mut Emitter| match (forward, planar) {
        (false, _) => Ok(Declared::default()),
        (true, false) => channels.declare(problem, None, emit),
        (true, true) => channels.declare_planar(problem, emit),
    };
    let gemm = if planar {
        let matrix = |(arg, t): (Arg, &Tensor), b: &Blocking| {
            // The pixels of an image are contiguous in both tensors; channels have any stride.
            let step = pixel_step(t, b, 2).filter(|&step| step == 1);
            step.ok_or_else(|| Skip::Layout("neither channels nor pixels that are next to each other".into()))?;
            let batches = t.dims()[0];
            Ok(Matrix {
                arg,
                dtype: t.dtype,
                offset: b.offset,
                outer: 1,
                inner: b.strides[1],
                batches,
                batch_stride: b.strides[0],
                kept: None,
            })
        };
        let (b, c) = (matrix(from, read)?, matrix(to, written)?);
        let c = Matrix { outer: c.inner, inner: 1, ..c };
        Gemm { problem, m: made, n: image, k: given, batch: z.mb, a: filter, b, c, otherwise: super::conv::conv, declare: &declare }
    } else {
        let matrix = |(arg, t): (Arg, &Tensor), b: &Blocking| {
            let step = pixel_step(t, b, 0).ok_or_else(|| Skip::Layout("pixels that are not evenly spaced".into()))?;
            Ok(Matrix { arg, dtype: t.dtype, offset: b.offset, outer: step, inner: 1, batches: 1, batch_stride: 0, kept: None })
        };
        let (a, c) = (matrix(from, read)?, matrix(to, written)?);
        Gemm { problem, m: z.mb * image, n: made, k: given, batch: 1, a, b: filter, c, otherwise: super::conv::conv, declare: &declare }
    };
    way(&gemm)
}

/// The stride between pixels, if all dimensions from `first` on except that of channels can be merged.
fn pixel_step(t: &Tensor, b: &Blocking, first: usize) -> Option<i64> {
    let mut merged: Option<(i64, i64)> = None;
    for d in (first..t.dims().len()).rev().filter(|&d| d != 1 && t.dims()[d] != 1) {
        merged = Some(match merged {
            None => (t.dims()[d], b.strides[d]),
            Some((size, step)) if b.strides[d] == size * step => (size * t.dims()[d], step),
            Some(_) => return None,
        });
    }
    Some(merged.map_or(if first == 0 { t.dims()[1] } else { 1 }, |m| m.1))
}

/// The tensors of a convolution or deconvolution.
#[derive(Clone, Copy, Debug)]
struct Channels<'a> {
    src: &'a Tensor,
    weights: &'a Tensor,
    bias: Option<&'a Tensor>,
    dst: &'a Tensor,
}

/// Pixels of the destination with strides: sizes, strides, and the first pixel of each batch, along D, H, W.
type Apart<'a> = ([i64; 3], [i64; 3], &'a [[i64; 3]]);

impl Channels<'_> {
    /// Declares `place` for rows that are pixels of the destination and columns that are channels.
    fn declare(&self, problem: &Problem, apart: Option<Apart<'_>>, emit: &mut Emitter) -> Result<Declared, Skip> {
        let (dims, n) = (self.dst.dims(), self.dst.dims().len());
        let order: Vec<usize> = (0..n).filter(|&d| d != 1).collect();
        let mut moved = String::new();
        match apart {
            None => emit.traversal("pixel", dims, &order),
            Some((sizes, steps, first)) => {
                let own = |v: [i64; 3]| v[5 - n..].to_vec();
                let walked: Vec<i64> = dims[..2].iter().copied().chain(own(sizes)).collect();
                emit.traversal("pixel", &walked, &order);
                emit.numbers("pixel_step", &own(steps));
                emit.numbers("pixel_first", &first.iter().flat_map(|&f| own(f)).collect::<Vec<_>>());
                moved = format!(
                    "    for (int d = 2; d < {n}; ++d) p[d] = p[d] * (index)a.pixel_step[d - 2] + (index)a.pixel_first[batch * {} + d - 2];\n",
                    n - 2
                );
            }
        }
        emit.code(&format!(
            "DEVICE void place(const Args& a, int batch, int row, int column, index* p) {{\n    pixel(a, row, p);\n{moved}    p[1] = column;\n}}\n"
        ));
        Ok(Declared { by_column: true, ..self.factors(problem, emit)? })
    }

    /// Declares `place` for rows that are channels and columns that are pixels of image `batch`.
    fn declare_planar(&self, problem: &Problem, emit: &mut Emitter) -> Result<Declared, Skip> {
        let (dims, n) = (self.dst.dims(), self.dst.dims().len());
        emit.traversal("pixel", dims, &(2..n).collect::<Vec<_>>());
        emit.code(
            "DEVICE void place(const Args& a, int batch, int row, int column, index* p) {\n    pixel(a, column, p);\n    p[0] = batch, p[1] = row;\n}\n",
        );
        self.factors(problem, emit)
    }

    /// The expressions of scales and bias at position `p`.
    fn factors(&self, problem: &Problem, emit: &mut Emitter) -> Result<Declared, Skip> {
        if self.weights.dims().len() == self.dst.dims().len() {
            return self.factors_by(problem, "", "c", emit);
        }
        emit.sizes("of_group", &[self.weights.dims()[1]]);
        self.factors_by(problem, "index g = c;\n    const index own = split(a.of_group[0], g)", "g, own", emit)
    }

    /// The same, where `place` are the first indices of channel `c` in the weights, after the statements `before`.
    fn factors_by(&self, problem: &Problem, before: &str, place: &str, emit: &mut Emitter) -> Result<Declared, Skip> {
        let n = self.dst.dims().len();
        emit.define("RANK", n);
        let mut factors = String::new();
        let (src, weights) = (
            Factor::scale("src_scale", &problem.attr, Arg::SRC, self.src.dims()),
            Factor::scale("weights_scale", &problem.attr, Arg::WEIGHTS, self.weights.dims()),
        );
        if src.quant.is_some() {
            emit.factor(&src);
            emit.code(&format!(
                "DEVICE real source_scale(const Args& a) {{\n    const index zeros[{n}] = {{}};\n    return src_scale(a, zeros);\n}}\n"
            ));
            factors.push_str(" * source_scale(a)");
        }
        if weights.quant.is_some() {
            emit.factor(&weights);
            let rank = self.weights.dims().len();
            emit.code(&format!(
                "DEVICE real channel_scale(const Args& a, index c) {{\n    {before};\n    const index w[{rank}] = {{{place}}};\n    return weights_scale(a, w);\n}}\n"
            ));
            factors.push_str(" * channel_scale(a, p[1])");
        }
        let bias = match self.bias {
            Some(bias) => {
                emit.view(&View::of("bias", Arg::BIAS, bias))?;
                " + bias(a, p + 1)".to_owned()
            }
            None => String::new(),
        };
        Ok(Declared { scale: factors, bias, by_column: false })
    }
}

/// Checks for Hopper: sm_90a code runs nowhere else.
pub(super) fn hopper(target: &CudaTarget) -> Result<(), Skip> {
    if target.facts.sm == 90 { Ok(()) } else { Err(Skip::Isa("sm_90a")) }
}

/// Rejects what no convolution on Hopper's tensor cores supports.
fn check(problem: &Problem, target: &CudaTarget) -> Result<(), Skip> {
    hopper(target)?;
    check_attributes(problem)
}

/// Rejects attributes that no product on tensor cores supports.
fn check_attributes(problem: &Problem) -> Result<(), Skip> {
    let attr = &problem.attr;
    if !attr.zero_points.keys().all(|&arg| arg == Arg::DST) {
        return Err(Skip::Attr("zero points of operands".into()));
    }
    if !attr.precomputed_reductions.is_empty()
        || attr.rounding.values().any(|&r| r == Rounding::Stochastic)
        || attr.depthwise_index().is_some()
    {
        return Err(Skip::Attr("precomputed reductions, stochastic rounding or a depthwise convolution".into()));
    }
    Ok(())
}

/// The kernel's code for an operand type; f32 is TF32 if the math mode allows it.
fn operand(dtype: DataType, mode: FpMathMode) -> Option<&'static str> {
    Some(match dtype {
        DataType::Bf16 => "T_BF16",
        DataType::F16 => "T_F16",
        DataType::F8E4m3 => "T_E4M3",
        DataType::F8E5m2 => "T_E5M2",
        DataType::S8 => "T_S8",
        DataType::U8 => "T_U8",
        DataType::F32 if matches!(mode, FpMathMode::Tf32 | FpMathMode::Bf16 | FpMathMode::F16 | FpMathMode::Any) => "T_TF32",
        _ => return None,
    })
}

/// The kernel's code for a result type.
fn result(dtype: DataType) -> Option<&'static str> {
    Some(match dtype {
        DataType::Bf16 => "T_BF16",
        DataType::F16 => "T_F16",
        DataType::F32 => "T_F32",
        DataType::S8 => "T_S8",
        DataType::U8 => "T_U8",
        DataType::S32 => "T_S32",
        _ => return None,
    })
}

impl Matrix {
    fn bytes(&self) -> i64 {
        (self.dtype.bits() / 8) as i64
    }

    /// Whether it is MN-major (contiguous along M or N) instead of K-major; `None` if TMA cannot address it.
    fn direction(&self, rows: i64, k: i64) -> Option<bool> {
        let aligned = |elements: i64| elements * self.bytes() % 16 == 0;
        let spaced = self.batches == 1 || aligned(self.batch_stride) && self.batch_stride > 0;
        if !spaced || !aligned(self.offset) {
            return None;
        }
        if (self.inner == 1 || k == 1) && (rows == 1 || aligned(self.outer) && self.outer > 0) {
            Some(false)
        } else if matches!(self.bytes(), 2 | 4) && (self.outer == 1 || rows == 1) && (k == 1 || aligned(self.inner) && self.inner > 0) {
            Some(true)
        } else {
            None
        }
    }

    /// The TMA descriptor for loading tiles.
    fn map(&self, mn: bool, rows: i64, k: i64, tile: i64) -> TensorMap {
        let size = self.bytes();
        let step = 128 / size;
        let lead = if mn { self.inner } else { self.outer };
        let (inner, outer) = if mn { (rows, k) } else { (k, rows) };
        // Dimensions of size 1 need a legal stride, too.
        let lead = if lead <= 0 || outer == 1 { ceil(inner * size, 16) * 16 / size } else { lead };
        let batch = if self.batches == 1 { lead * outer.max(1) } else { self.batch_stride };
        let (dims, tile_box) = if mn { ([rows, k, self.batches], [step, step, 1]) } else { ([k, rows, self.batches], [step, tile, 1]) };
        let place = self.kept.map_or(MapPlace::Arg(self.arg, (self.offset * size) as u64), MapPlace::Scratch);
        let strides = [(lead * size) as u64, (batch * size) as u64];
        TensorMap::boxes(place, operand_kind(self.dtype), &dims.map(|d| d as u64), &strides, &tile_box.map(|d| d as u32))
    }
}

impl Matrix {
    /// A copy in scratch, MN-major or K-major, that TMA can address.
    fn copy(&self, mn: bool, [rows, k]: [i64; 2], (program, target): (&mut Program, &CudaTarget)) -> Result<Matrix, Skip> {
        let ((run, lines), unit) = (if mn { (rows, k) } else { (k, rows) }, 16 / self.bytes());
        let lead = ceil(run, unit) * unit;
        let step = lines.checked_mul(lead).ok_or(conv::OVERFLOW)?;
        let (outer, inner) = if mn { (1, lead) } else { (lead, 1) };
        let tensor = |offset: i64, strides: [i64; 3]| -> Result<Tensor, Skip> {
            let mut t = Tensor::plain([self.batches, rows, k], self.dtype).map_err(|_| conv::OVERFLOW)?;
            let b = t.layout.blocking_mut().ok_or(conv::OVERFLOW)?;
            (b.offset, b.strides) = (offset, strides.into());
            Ok(t)
        };
        let batch = if self.batches == 1 { (rows * self.outer).max(k * self.inner) } else { self.batch_stride };
        let given = tensor(self.offset, [batch, self.outer, self.inner])?;
        let bytes = usize::try_from(step).ok().and_then(|n| n.checked_mul((self.bytes() * self.batches) as usize));
        let at = bytes.and_then(|bytes| program.book(bytes)).ok_or(conv::OVERFLOW)?;
        let kept = Kept { arg: self.arg, tensor: tensor(0, [step, outer, inner])?, at };
        program.launches.extend(copied(&given, &kept, true, target)?.launches);
        Ok(Matrix { offset: 0, outer, inner, batch_stride: step, kept: Some(at), ..*self })
    }
}

impl Gemm<'_> {
    /// Checks types and sizes, and returns the kernel's codes of the types; `alike`: both operands must have the same type, except for s8 and u8.
    fn types(&self, alike: bool) -> Result<[&'static str; 3], Skip> {
        let mode = self.problem.attr.fpmath.mode;
        let types = || Skip::DataType(format!("{}:{}:{}", self.a.dtype, self.b.dtype, self.c.dtype));
        let names = [operand(self.a.dtype, mode), operand(self.b.dtype, mode)];
        let ([Some(ta), Some(tb)], Some(tc)) = (names, result(self.c.dtype)) else { return Err(types()) };
        let bytes_only = |t: &str| matches!(t, "T_S8" | "T_U8");
        if alike && ta != tb && !(bytes_only(ta) && bytes_only(tb)) {
            return Err(types());
        }
        if [self.m, self.n, self.k, self.batch].iter().any(|&d| d < 1 || d > i64::from(i32::MAX) / 2)
            || self.m * self.batch > i64::from(i32::MAX)
        {
            return Err(Skip::Shape("empty or very large matrices"));
        }
        Ok([ta, tb, tc])
    }

    fn program(&self, target: &CudaTarget) -> Result<Program, Skip> {
        self.types(true)?;
        let mut program = Program::or_unaligned(self.otherwise, self.problem, target)?;
        let (mut gemm, mut copies) = (*self, 0.0);
        for (x, rows) in [(&mut gemm.a, self.m), (&mut gemm.b, self.n)] {
            if x.direction(rows, self.k).is_none() {
                copies += shape::alignment(x.batches * rows * self.k * x.bytes(), &target.facts);
                *x = x.copy(x.bytes() == 2 && x.outer == 1, [rows, self.k], (&mut program, target))?;
            }
        }
        // Planes are copied by `between:sm90`, which transposes them.
        let is_planar = matches!(self.problem.op, Op::Conv(_)) && self.a.arg == Arg::WEIGHTS;
        let seconds = gemm.aligned(&mut program, target)?;
        if copies > 0.0
            && (is_planar || seconds + copies > shape::unaligned([self.m, self.n, self.k, self.batch], self.a.bytes(), &target.facts))
        {
            return Err(Skip::Layout("rows that are not 16-byte aligned and contiguous".into()));
        }
        Ok(program)
    }

    /// Appends the launches for operands that TMA can address. Returns the predicted seconds.
    fn aligned(&self, program: &mut Program, target: &CudaTarget) -> Result<f64, Skip> {
        let [ta, tb, tc] = self.types(true)?;
        let misaligned = || Skip::Layout("rows that are not 16-byte aligned and contiguous".into());
        let a_mn = self.a.direction(self.m, self.k).ok_or_else(misaligned)?;
        let b_mn = self.b.direction(self.n, self.k).ok_or_else(misaligned)?;
        // Swap A and B for few rows, and for an MN-major TF32 operand, which wgmma takes as A only; of two of these, the smaller may be transposed before.
        let swapped = self.m <= 32 || self.a.bytes() == 4 && b_mn && (!a_mn || self.m < self.n);
        let (rows, columns) = if swapped { (self.n, self.m) } else { (self.m, self.n) };
        let spaced = |stride: i64| stride * self.c.bytes() % 16 == 0;
        let aligned = self.c.inner == 1
            && spaced(self.n)
            && spaced(self.c.outer)
            && self.c.outer >= self.n
            && spaced(self.c.offset)
            && (self.batch == 1 || spaced(self.c.batch_stride) && self.c.batch_stride > 0);
        let request = Request {
            m: rows,
            n: columns,
            k: self.k,
            batch: self.batch,
            bytes: self.a.bytes(),
            result_bytes: self.c.bytes(),
            a_mn: if swapped { b_mn } else { a_mn },
            b_mn: if swapped { a_mn } else { b_mn },
            swapped,
            promote: self.a.dtype.is_f8(),
            aligned,
            window: false,
            undivided: false,
            scattered: false,
            planes: false,
            computed: !self.problem.attr.post_ops.is_empty(),
            taps: 1,
        };
        let choice = shape::best(&request, target).ok_or(Skip::Shape("no tile fits"))?;
        let types = if swapped { [tb, ta, tc] } else { [ta, tb, tc] };
        if !(request.by_mma_sync() && self.turned(program, &request, choice.seconds, target)?) {
            program.launches.push(self.launch(&request, &choice, types, target)?);
        }
        Ok(choice.seconds)
    }

    /// TF32 products with a transposed copy of the MN-major operand that wgmma cannot read; false if `mma.sync`, which takes `seconds`, is faster.
    fn turned(&self, program: &mut Program, r: &Request, seconds: f64, target: &CudaTarget) -> Result<bool, Skip> {
        let request = Request { b_mn: false, ..*r };
        let Some(choice) = shape::best(&request, target) else { return Ok(false) };
        let mut gemm = *self;
        let (matrix, rows) = if r.swapped { (&mut gemm.a, self.m) } else { (&mut gemm.b, self.n) };
        if matrix.kept.is_some() || choice.seconds + shape::transposition(matrix.batches * rows * self.k, &target.facts) >= seconds {
            return Ok(false);
        }
        *matrix = matrix.copy(false, [rows, self.k], (program, target))?;
        let result = result(self.c.dtype).ok_or(Skip::Op("a result that no product has"))?;
        program.launches.push(gemm.launch(&request, &choice, ["T_TF32", "T_TF32", result], target)?);
        Ok(true)
    }

    fn launch(&self, r: &Request, choice: &Choice, types: [&str; 3], target: &CudaTarget) -> Result<Launch, Skip> {
        let shape = choice.shape;
        let mut emit = epilogue(self.problem, self.c.arg, self.declare)?;
        tile_options(&mut emit, types, r, choice);
        let [down, across] = clusters(r, choice);
        let (left, right) = if r.swapped { (&self.b, &self.a) } else { (&self.a, &self.b) };
        let step = 128 / r.bytes;
        let divide = |x: &Matrix| if x.batches == 1 { [1, 1] } else { [1, x.batches] };
        let ([ad, am], [bd, bm]) = (divide(left), divide(right));
        let (row, column) = if r.swapped { (self.c.inner, self.c.outer) } else { (self.c.outer, self.c.inner) };
        let mut words = pairs(&[r.m, r.n, ceil(r.k, step), 1, down, across, r.batch, GROUP, ad, am, bd, bm]);
        words.push(Word::Offset { arg: self.c.arg, bytes: (self.c.offset * self.c.bytes()) as u64 });
        words.extend([row, column, self.c.batch_stride].map(|v| Word::Value(v as u64)));
        let maps = vec![
            left.map(r.a_mn, r.m, r.k, shape.m / shape.cluster[1]),
            right.map(r.b_mn, r.n, r.k, shape.n / shape.cluster[0]),
            self.result_map(choice),
        ];
        let mut launch = emit.epilogue_of("gemm_sm90", words);
        launch.maps = maps;
        launch_shape(&mut launch, r, choice, target);
        Ok(launch)
    }

    /// The TMA descriptor for storing tiles of the result; any legal one with direct stores.
    fn result_map(&self, choice: &Choice) -> TensorMap {
        let size = self.c.bytes();
        let columns = if choice.shape.split == 1 { choice.shape.n } else { (choice.shape.n / choice.shape.split).max(8) };
        let tile = match choice.store {
            Store::Transposed => [128 / size, columns.min(128 / size), 1],
            _ => [128 / size, 64, 1],
        };
        let direct = choice.store == Store::Direct;
        let row = if direct { 16 / size } else { self.c.outer };
        let batch = if direct || self.batch == 1 { row * self.m.max(1) } else { self.c.batch_stride };
        let dims = if direct { [16 / size, 1, 1] } else { [self.n, self.m, self.batch] };
        let place = MapPlace::Arg(self.c.arg, if direct { 0 } else { (self.c.offset * size) as u64 });
        let strides = [(row * size) as u64, (batch * size) as u64];
        TensorMap::boxes(place, MapKind::of(self.c.dtype), &dims.map(|d| d as u64), &strides, &tile.map(|d| d as u32))
    }
}

/// The element type for TMA loads of an operand.
fn operand_kind(dtype: DataType) -> MapKind {
    if dtype == DataType::F32 { MapKind::Rounded } else { MapKind::of(dtype) }
}

/// The defines of `tile_sm90.cuh`.
fn tile_options(emit: &mut Emitter, types: [&str; 3], r: &Request, choice: &Choice) {
    let shape = choice.shape;
    for (name, value) in ["A_TYPE", "B_TYPE", "C_TYPE"].into_iter().zip(types) {
        emit.option(name, value);
    }
    emit.option("STORE", ["STORE_DIRECT", "STORE_TMA", "STORE_TMA_TRANSPOSED", "STORE_ROWS", "STORE_PLANES"][choice.store as usize]);
    for (name, value) in [
        ("A_MN", i64::from(r.a_mn)),
        ("B_MN", i64::from(r.b_mn)),
        ("TILE_M", shape.m),
        ("TILE_N", shape.n),
        ("CONSUMERS", shape.consumers),
        ("STAGES", choice.stages),
        ("CLUSTER_M", shape.cluster[0]),
        ("CLUSTER_N", shape.cluster[1]),
        ("SPLIT", shape.split),
        ("PROMOTE", if r.promote { 4 } else { 0 }),
        ("ALTERNATE", i64::from(shape.alternate)),
        ("C_SWAPPED", i64::from(r.swapped && choice.store == Store::Direct)),
    ] {
        emit.option(name, value);
    }
}

/// Sets grid, threads, cluster and shared memory of a launch of a kernel over `tile_sm90.cuh`.
fn launch_shape(launch: &mut Launch, r: &Request, choice: &Choice, target: &CudaTarget) {
    let shape = choice.shape;
    let [down, across] = clusters(r, choice);
    let count = down * across * r.batch;
    let (size, units) = (shape.cluster[0] * shape.cluster[1], i64::from(target.facts.multiprocessors));
    let chunks = if choice.store == Store::Direct { 0 } else { shape.consumers * 16_384 };
    launch.grid = [if shape.split > 1 { count * shape.split } else { count.min(units / size) * size } as u32, 1, 1];
    launch.block = 128 * (1 + shape.consumers as u32);
    launch.cluster = (size * shape.split) as u32;
    launch.shared = (1024 + choice.stages * (shape.m + shape.n) * 128 + chunks + 16 * (choice.stages + 1)) as u32;
}

/// Number of clusters of tiles along M and N.
fn clusters(r: &Request, choice: &Choice) -> [i64; 2] {
    let shape = choice.shape;
    [ceil(ceil(r.m, shape.m), shape.cluster[0]), ceil(ceil(r.n, shape.n), shape.cluster[1])]
}

/// 32-bit parameters of a kernel, two per word.
pub(super) fn pairs(ints: &[i64]) -> Vec<Word> {
    ints.chunks(2).map(|p| Word::Value(u64::from(p[0] as u32) | u64::from(p.get(1).map_or(0, |&v| v as u32)) << 32)).collect()
}

/// The header `epilogue.cuh` for the result `arg`: scales, bias, post-ops and quantisation of an element.
fn epilogue(problem: &Problem, arg: Arg, declare: &dyn Fn(&mut Emitter) -> Result<Declared, Skip>) -> Result<Emitter, Skip> {
    let tensor = problem.op.tensor(arg).ok_or(Skip::Op("a problem without a result"))?;
    let mut emit = Emitter::new(Real::Single, 1);
    let Declared { scale, bias, by_column } = declare(&mut emit)?;
    let tail = Tail::of(problem, arg, tensor);
    if scale.is_empty() && bias.is_empty() && tail.is_plain() {
        emit.code("DEVICE float epilogue(float sum, const Args&, int, int, int) { return sum; }\n");
        return Ok(emit);
    }
    if Real::of(problem) == Real::Double {
        return Err(Skip::Attr("scales, bias or post-ops of results that f32 does not hold".into()));
    }
    emit.option("HAS_EPILOGUE", 1);
    emit.tail(&tail)?;
    let mut element = |known: &str, bias: &str| {
        emit.code(&format!(
            "DEVICE float epilogue(float sum,{known} const Args& a, int batch, int row, int column) {{\n    index p[RANK];\n    \
             place(a, batch, row, column, p);\n    const i64 at = dst_at(a, p);\n    return quantised(a, p, value(a, p, at, sum{scale}{bias}));\n}}\n"
        ));
    };
    element("", &bias);
    if by_column && !bias.is_empty() {
        element(" float added,", " + added");
        emit.option("COLUMN_BIAS", 1);
        emit.code(&format!(
            "DEVICE float column_bias(const Args& a, int batch, int column) {{\n    index p[RANK];\n    place(a, batch, 0, column, p);\n    \
             return 0{bias};\n}}\n"
        ));
    }
    Ok(emit)
}
