//! Matmul and inner product by the generic products (`tiles:generic`).

use super::pointwise::tensor;
use super::products::{Products, Sizes, Sum};
use super::zero;
use crate::CudaTarget;
use crate::emit::{Emitter, Factor, Real, Tail, View, memory_order};
use crate::program::Program;
use oxidnn_runtime::Skip;
use oxidnn_spec::op::{InnerProduct, Matmul};
use oxidnn_spec::{Arg, Layout, Op, Problem, Prop, Tensor};

/// Whether the last dimension is the fastest.
fn last_is_fastest(layout: &Layout) -> bool {
    let n = layout.ndims();
    memory_order(layout).iter().rev().find(|&&d| layout.dims[d] != 1).is_none_or(|&d| d + 1 == n)
}

/// Whether the values of a zero point are integers.
fn whole_zero(problem: &Problem, arg: Arg) -> bool {
    problem.attr.zero_points.get(&arg).is_none_or(|q| q.dtype.is_integral())
}

/// Matrix multiplication of dense operands.
pub(crate) fn matmul(problem: &Problem, target: &CudaTarget) -> Result<Program, Skip> {
    let Op::Matmul(op) = &problem.op else { return Err(Skip::Op("anything but matmul")) };
    let attr = &problem.attr;
    let dims = op.dst.dims();
    let n = dims.len();
    let k = op.src.dims()[n - 1];
    let batches = dims[..n - 2].iter().fold(1i64, |b, &d| b.saturating_mul(d));
    let scales =
        [Factor::scale("src_scale", attr, Arg::SRC, op.src.dims()), Factor::scale("weights_scale", attr, Arg::WEIGHTS, op.weights.dims())];
    let inside = [scales[0].varies(n - 1), scales[1].varies(n - 2)];
    let exact = !inside[0] && !inside[1] && whole_zero(problem, Arg::SRC) && whole_zero(problem, Arg::WEIGHTS);
    let declare = |emit: &mut Emitter| declare_matmul(op, problem, (&scales, inside), emit);
    Products {
        real: Real::of(problem),
        sum: Sum::of([op.src.dtype, op.weights.dtype], exact),
        sizes: Sizes { batches, m: dims[n - 2], n: dims[n - 1], k },
        left_k_first: last_is_fastest(&op.src.layout),
        right_n_first: last_is_fastest(&op.weights.layout),
        z_first: false,
        declare: &declare,
    }
    .program(Arg::DST, &op.dst, target)
}

impl Products<'_> {
    /// The launches, with one that zeroes the destination's padding.
    pub(crate) fn program(&self, arg: Arg, dst: &Tensor, target: &CudaTarget) -> Result<Program, Skip> {
        let mut program = Program::default();
        self.append(&mut program, target)?;
        zero::padding(&mut program, arg, dst)?;
        Ok(program)
    }
}

fn declare_matmul(op: &Matmul, problem: &Problem, (scales, inside): (&[Factor<'_>; 2], [bool; 2]), emit: &mut Emitter) -> Result<(), Skip> {
    let (attr, dims) = (&problem.attr, op.dst.dims());
    let n = dims.len();
    emit.define("RANK", n);
    let order: Vec<usize> = (0..n - 2).collect();
    emit.traversal("batch", dims, &order);
    emit.tail(&Tail::of(problem, Arg::DST, &op.dst))?;
    for (i, (name, arg, t)) in [("src", Arg::SRC, &op.src), ("weights", Arg::WEIGHTS, &op.weights)].into_iter().enumerate() {
        emit.view(&View::of(name, arg, t))?;
        emit.factor(&scales[i]);
        let zero_name = format!("{name}_zero");
        let zero = Factor::zero_point(&zero_name, attr, arg, t.dims());
        emit.factor(&zero);
        // Precomputed reductions of the other operand replace subtracting this one's zero point.
        let other = if i == 0 { Arg::WEIGHTS } else { Arg::SRC };
        let summed = attr.precomputed_reductions.contains_key(&other);
        let minus = if zero.quant.is_some() && !summed { format!(" - {name}_zero(a, p)") } else { String::new() };
        let times = if inside[i] { format!(" * {name}_scale(a, p)") } else { String::new() };
        let (function, indices, first, second) =
            if i == 0 { ("left", "index m, index k", "m", "k") } else { ("right", "index k, index n", "k", "n") };
        emit.code(&format!(
            "DEVICE factor {function}(const Args& a, index z, {indices}) {{\n    index p[RANK];\n    batch(a, z, p);\n    \
             p[RANK - 2] = {first}, p[RANK - 1] = {second};\n    return (factor)(({name}(a, p){minus}){times});\n}}\n"
        ));
    }
    let bias = match &op.bias {
        Some(bias) => {
            emit.view(&View::of("bias", Arg::BIAS, bias))?;
            " + bias(a, p)"
        }
        None => "",
    };
    // Scales that vary along K are applied to the operands; others to the sum.
    let mut factors = String::new();
    for (i, (name, d)) in [("src_scale", n - 1), ("weights_scale", n - 2)].into_iter().enumerate() {
        if !inside[i] && scales[i].quant.is_some() {
            factors += &format!(
                "    index {name}_p[RANK];\n    for (int d = 0; d < RANK; ++d) {name}_p[d] = d == {d} ? 0 : p[d];\n    v *= {name}(a, {name}_p);\n"
            );
        }
    }
    let corrected = if attr.precomputed_reductions.is_empty() { "" } else { " + correction(a, p)" };
    declare_correction(op, problem, inside, emit);
    emit.code(&format!(
        "DEVICE void store(const Args& a, index z, index m, index n, total sum) {{\n    index p[RANK];\n    batch(a, z, p);\n    \
         p[RANK - 2] = m, p[RANK - 1] = n;\n    real v = (real)sum{corrected};\n{factors}    finish(a, p, v{bias});\n}}\n"
    ));
    Ok(())
}

/// Declares `correction(a, p)`: the contribution of zero points that the operands do not subtract, from precomputed reductions `S` and `W` of source and weights
/// over groups of K: `-zw * S - zs * W + zs * zw * count`; an operand whose reduction is not given has its zero point subtracted already.
fn declare_correction(op: &Matmul, problem: &Problem, inside: [bool; 2], emit: &mut Emitter) {
    let attr = &problem.attr;
    let n = op.dst.dims().len();
    let k = op.src.dims()[n - 1];
    let mut group = i64::MAX;
    let mut given = [false; 2];
    for (i, (name, arg, t, d)) in
        [("src_sum", Arg::SRC, &op.src, n - 1), ("weights_sum", Arg::WEIGHTS, &op.weights, n - 2)].into_iter().enumerate()
    {
        let Some(quant) = attr.precomputed_reductions.get(&arg) else { continue };
        let along = if quant.mask >> d & 1 == 0 { k } else { quant.groups.get(d + 2 - n).copied().unwrap_or(1) };
        (given[i], group) = (true, group.min(along.max(1)));
        emit.factor(&Factor { name, quant: Some(quant), arg: Arg::precomputed(arg), dims: t.dims(), default: 0.0 });
    }
    let part = match given {
        [true, true] => "zs * zw * count - zw * src_sum(a, l) - zs * weights_sum(a, r)",
        [true, false] => "-zw * (src_sum(a, l) - zs * count)",
        [false, true] => "-zs * (weights_sum(a, r) - zw * count)",
        [false, false] => return,
    };
    let times = [("src_scale(a, l)", inside[0]), ("weights_scale(a, r)", inside[1])].into_iter().filter(|x| x.1);
    let times: String = times.map(|x| format!(" * {}", x.0)).collect();
    emit.number("terms", k);
    emit.number("sum_group", group);
    emit.code(&format!(
        "DEVICE real correction(const Args& a, const index* p) {{\n    index l[RANK], r[RANK];\n    for (int d = 0; d < RANK; ++d) l[d] = r[d] = p[d];\n    \
         real all = 0;\n    for (i64 k = 0; k < a.terms; k += a.sum_group) {{\n        l[RANK - 1] = r[RANK - 2] = (index)k;\n        \
         const real count = (real)min(a.sum_group, a.terms - k), zs = src_zero(a, l), zw = weights_zero(a, r);\n        all += ({part}){times};\n    }}\n    \
         return all;\n}}\n"
    ));
}

/// Inner product in all directions.
pub(crate) fn inner_product(problem: &Problem, target: &CudaTarget) -> Result<Program, Skip> {
    let Op::InnerProduct(op) = &problem.op else { return Err(Skip::Op("anything but inner products")) };
    let (src, weights, dst) = (&op.src, &op.weights, &op.dst);
    let inner = src.dims()[1..].iter().fold(1i64, |k, &d| k.saturating_mul(d));
    let (rows, columns) = (dst.dims()[0], dst.dims()[1]);
    let (sizes, to) = match op.prop {
        Prop::BackwardData => (Sizes { batches: 1, m: rows, n: inner, k: columns }, (Arg::DIFF_SRC, src)),
        Prop::BackwardWeights => (Sizes { batches: 1, m: columns, n: inner, k: rows }, (Arg::DIFF_WEIGHTS, weights)),
        _ => (Sizes { batches: 1, m: rows, n: columns, k: inner }, (Arg::DST, dst)),
    };
    let operands = match op.prop {
        Prop::BackwardData => [dst.dtype, weights.dtype],
        Prop::BackwardWeights => [dst.dtype, src.dtype],
        _ => [src.dtype, weights.dtype],
    };
    let exact = problem.attr.zero_points.is_empty();
    let declare = |emit: &mut Emitter| declare_inner(op, problem, to, emit);
    let product = Products {
        real: Real::of(problem),
        sum: Sum::of(operands, exact),
        sizes,
        left_k_first: op.prop != Prop::BackwardWeights,
        right_n_first: !op.prop.is_forward(),
        z_first: false,
        declare: &declare,
    };
    let mut program = product.program(to.0, to.1, target)?;
    if let Some(bias) = problem.op.tensor(Arg::DIFF_BIAS) {
        super::conv::bias_gradient(&mut program, problem, dst, bias)?;
    }
    Ok(program)
}

fn declare_inner(op: &InnerProduct, problem: &Problem, (to, result): (Arg, &Tensor), emit: &mut Emitter) -> Result<(), Skip> {
    let attr = &problem.attr;
    let n = op.src.dims().len();
    emit.define("RANK", n);
    let order: Vec<usize> = memory_order(&op.src.layout).into_iter().filter(|&d| d != 0).collect();
    emit.traversal("inner", op.src.dims(), &order);
    emit.tail(&Tail::of(problem, to, result))?;
    let wide = |name: &str, row: &str, inner: &str| {
        format!("    index p[RANK];\n    inner(a, {inner}, p);\n    p[0] = {row};\n    return (factor){name}(a, p);\n")
    };
    let flat = |row: &str, column: &str| format!("    const index p[] = {{{row}, {column}}};\n    return (factor)diff_dst(a, p);\n");
    let store = match op.prop {
        Prop::BackwardData | Prop::BackwardWeights => {
            "    index p[RANK];\n    inner(a, n, p);\n    p[0] = m;\n    finish(a, p, (real)sum);\n".to_owned()
        }
        _ => {
            emit.factor(&Factor::scale("src_scale", attr, Arg::SRC, op.src.dims()));
            emit.factor(&Factor::scale("weights_scale", attr, Arg::WEIGHTS, op.weights.dims()));
            let bias = match &op.bias {
                Some(b) => {
                    emit.view(&View::of("bias", Arg::BIAS, b))?;
                    " + bias(a, p + 1)"
                }
                None => "",
            };
            format!(
                "    const index p[] = {{m, n}}, first[RANK] = {{}}, row[RANK] = {{n}};\n    \
                 finish(a, p, (real)sum * (src_scale(a, first) * weights_scale(a, row)){bias});\n"
            )
        }
    };
    let (left, right) = match op.prop {
        Prop::BackwardData => {
            emit.view(&View::of("diff_dst", Arg::DIFF_DST, tensor(problem, Arg::DIFF_DST)?))?;
            emit.view(&View::of("weights", Arg::WEIGHTS, &op.weights))?;
            (flat("m", "k"), wide("weights", "k", "n"))
        }
        Prop::BackwardWeights => {
            emit.view(&View::of("diff_dst", Arg::DIFF_DST, tensor(problem, Arg::DIFF_DST)?))?;
            emit.view(&View::of("src", Arg::SRC, &op.src))?;
            (flat("k", "m"), wide("src", "k", "n"))
        }
        _ => {
            emit.view(&View::of("src", Arg::SRC, &op.src))?;
            emit.view(&View::of("weights", Arg::WEIGHTS, &op.weights))?;
            (wide("src", "m", "k"), wide("weights", "n", "k"))
        }
    };
    emit.code(&format!(
        "DEVICE factor left(const Args& a, index, index m, index k) {{\n{left}}}\n\
         DEVICE factor right(const Args& a, index, index k, index n) {{\n{right}}}\n\
         DEVICE void store(const Args& a, index, index m, index n, total sum) {{\n{store}}}\n"
    ));
    Ok(())
}
