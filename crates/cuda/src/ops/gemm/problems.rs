//! Matmul, inner product in all directions and 1x1 convolution as matrix products ([`Gemm`]).

use super::{Declared, Gemm, Matrix, check_attributes, hopper, plain};
use crate::CudaTarget;
use crate::emit::{Emitter, Factor, View};
use crate::program::Program;
use oxidnn_runtime::Skip;
use oxidnn_spec::op::{InnerProduct, Matmul};
use oxidnn_spec::{Arg, Blocking, DataType, Op, Problem, Prop, Tensor};

/// A tensor and how it is passed.
type Operand<'a> = (Arg, &'a Tensor);

impl Matrix {
    /// A single matrix in the memory of a tensor, with strides `[outer, inner]`.
    fn of((arg, t): Operand<'_>, b: &Blocking, [outer, inner]: [i64; 2]) -> Matrix {
        Matrix { arg, dtype: t.dtype, offset: b.offset, outer, inner, batches: 1, batch_stride: 0, kept: None }
    }

    fn transposed(self) -> Matrix {
        Matrix { outer: self.inner, inner: self.outer, ..self }
    }
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

/// The last two dimensions of a tensor as matrices.
pub(super) fn matrix(arg: Arg, t: &Tensor) -> Result<Matrix, Skip> {
    let (b, n) = (plain(t)?, t.dims().len());
    let (batches, batch_stride) = batches(t, b).ok_or_else(|| Skip::Layout("batches that are not evenly spaced".into()))?;
    Ok(Matrix { batches, batch_stride, ..Matrix::of((arg, t), b, [b.strides[n - 2], b.strides[n - 1]]) })
}

/// Lowers a product to one of the kernels.
pub(super) type Way<'a> = &'a dyn Fn(&Gemm<'_>) -> Result<Program, Skip>;

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

pub(super) fn matrices(problem: &Problem, way: Way<'_>) -> Result<Program, Skip> {
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
        a: matrix(Arg::SRC, &op.src)?,
        b: matrix(Arg::WEIGHTS, &op.weights)?.transposed(),
        c: matrix(Arg::DST, &op.dst)?,
        otherwise: crate::ops::matmul::matmul,
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

pub(super) fn declare_matmul(op: &Matmul, scales: &[Factor<'_>], emit: &mut Emitter) -> Result<Declared, Skip> {
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

pub(super) fn inner_matrices(problem: &Problem, way: Way<'_>) -> Result<Program, Skip> {
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
    let whole = |arg, t, b: &Blocking, inner| Matrix::of((arg, t), b, [b.strides[0], inner]);
    let forward = op.prop.is_forward();
    let declare = |emit: &mut Emitter| if forward { declare_inner(op, problem, emit) } else { Ok(Declared::default()) };
    let otherwise = crate::ops::matmul::inner_product;
    let product = |[m, n, k]: [i64; 3], [a, b, c]: [Matrix; 3]| Gemm { problem, m, n, k, batch: 1, a, b, c, otherwise, declare: &declare };
    match op.prop {
        Prop::BackwardData => way(&product(
            [rows, k, columns],
            [
                whole(Arg::DIFF_DST, &op.dst, dst, dst.strides[1]),
                whole(Arg::WEIGHTS, &op.weights, weights, 1).transposed(),
                whole(Arg::DIFF_SRC, &op.src, src, 1),
            ],
        )),
        Prop::BackwardWeights => {
            let mut program = way(&product(
                [columns, k, rows],
                [
                    whole(Arg::DIFF_DST, &op.dst, dst, dst.strides[1]).transposed(),
                    whole(Arg::SRC, &op.src, src, 1).transposed(),
                    whole(Arg::DIFF_WEIGHTS, &op.weights, weights, 1),
                ],
            ))?;
            if let Some(bias) = problem.op.tensor(Arg::DIFF_BIAS) {
                crate::ops::conv::bias_gradient(&mut program, problem, &op.dst, bias)?;
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

/// That of channels last alone: `between:sm90` transposes planes.
pub(crate) fn pointwise_last_mma(problem: &Problem, target: &CudaTarget) -> Result<Program, Skip> {
    let planes = || Skip::Layout("channels that are not next to each other".into());
    pixels(problem, &|gemm| if gemm.a.arg == Arg::WEIGHTS { Err(planes()) } else { gemm.mma(target) })
}

pub(super) fn pixels(problem: &Problem, way: Way<'_>) -> Result<Program, Skip> {
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
    let filter = Matrix::of((Arg::WEIGHTS, &op.weights), weights, [outer, inner]);
    let image = z.i.iter().product::<i64>();
    let is_last = |b: &Blocking, channels: i64| b.strides[1] == 1 || channels == 1;
    let channels = Channels { src: &op.src, weights: &op.weights, bias: op.bias.as_ref(), dst: &op.dst };
    let planar = !(is_last(read, given) && is_last(written, made));
    let declare = |emit: &mut Emitter| match (forward, planar) {
        (false, _) => Ok(Declared::default()),
        (true, false) => channels.declare(problem, None, emit),
        (true, true) => channels.declare_planar(problem, emit),
    };
    let otherwise = crate::ops::conv::conv;
    let gemm = if planar {
        // The pixels of an image are contiguous in both tensors; channels have any stride.
        let matrix = |(arg, t): Operand<'_>, b: &Blocking| match pixel_step(t, b, 2) {
            Some(1) => Ok(Matrix { batches: t.dims()[0], batch_stride: b.strides[0], ..Matrix::of((arg, t), b, [1, b.strides[1]]) }),
            _ => Err(Skip::Layout("neither channels nor pixels that are next to each other".into())),
        };
        let (b, c) = (matrix(from, read)?, matrix(to, written)?.transposed());
        Gemm { problem, m: made, n: image, k: given, batch: z.mb, a: filter, b, c, otherwise, declare: &declare }
    } else {
        let matrix = |(arg, t): Operand<'_>, b: &Blocking| match pixel_step(t, b, 0) {
            Some(step) => Ok(Matrix::of((arg, t), b, [step, 1])),
            None => Err(Skip::Layout("pixels that are not evenly spaced".into())),
        };
        let (a, c) = (matrix(from, read)?, matrix(to, written)?);
        Gemm { problem, m: z.mb * image, n: made, k: given, batch: 1, a, b: filter, c, otherwise, declare: &declare }
    };
    way(&gemm)
}

/// The stride between pixels, if all dimensions from `first` on except that of channels can be merged.
pub(super) fn pixel_step(t: &Tensor, b: &Blocking, first: usize) -> Option<i64> {
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
pub(super) struct Channels<'a> {
    pub(super) src: &'a Tensor,
    pub(super) weights: &'a Tensor,
    pub(super) bias: Option<&'a Tensor>,
    pub(super) dst: &'a Tensor,
}

/// Pixels of the destination with strides: sizes, strides, and the first pixel of each batch, along D, H, W.
pub(super) type Apart<'a> = ([i64; 3], [i64; 3], &'a [[i64; 3]]);

impl Channels<'_> {
    /// Declares `place` for rows that are pixels of the destination and columns that are channels.
    pub(super) fn declare(&self, problem: &Problem, apart: Option<Apart<'_>>, emit: &mut Emitter) -> Result<Declared, Skip> {
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
    pub(super) fn declare_planar(&self, problem: &Problem, emit: &mut Emitter) -> Result<Declared, Skip> {
        let (dims, n) = (self.dst.dims(), self.dst.dims().len());
        emit.traversal("pixel", dims, &(2..n).collect::<Vec<_>>());
        emit.code(
            "DEVICE void place(const Args& a, int batch, int row, int column, index* p) {\n    pixel(a, column, p);\n    p[0] = batch, p[1] = row;\n}\n",
        );
        self.factors(problem, emit)
    }

    /// The expressions of scales and bias at position `p`.
    pub(super) fn factors(&self, problem: &Problem, emit: &mut Emitter) -> Result<Declared, Skip> {
        if self.weights.dims().len() == self.dst.dims().len() {
            return self.factors_by(problem, "", "c", emit);
        }
        emit.sizes("of_group", &[self.weights.dims()[1]]);
        self.factors_by(problem, "index g = c;\n    const index own = split(a.of_group[0], g)", "g, own", emit)
    }

    /// The same, where `place` are the first indices of channel `c` in the weights, after the statements `before`.
    pub(super) fn factors_by(&self, problem: &Problem, before: &str, place: &str, emit: &mut Emitter) -> Result<Declared, Skip> {
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
