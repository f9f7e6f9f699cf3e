//! Scaled dot-product attention in three launches: scores, their softmax, and the sums of values.

use super::products::{Products, Sizes, Sum};
use super::rows::{Rows, Stage};
use super::zero;
use crate::CudaTarget;
use crate::emit::{Emitter, Place, Real, Tail, View, literal};
use crate::program::Program;
use oxidnn_runtime::Skip;
use oxidnn_spec::op::{Prop, Sdpa, SdpaMask, SdpaScale};
use oxidnn_spec::{Arg, DataType, Op, Problem, Tensor};

/// Attention by scores that lie in scratch.
pub(crate) fn lower(problem: &Problem, target: &CudaTarget) -> Result<Program, Skip> {
    let Op::Sdpa(op) = &problem.op else { return Err(Skip::Op("anything but attention")) };
    if op.prop != Prop::ForwardInference {
        return Err(Skip::Op("training"));
    }
    if !problem.attr.scales.is_empty() || !problem.attr.zero_points.is_empty() {
        return Err(Skip::Attr("scales or zero points of keys and values".into()));
    }
    let [batch, heads, queries, size] = [op.q.dims()[0], op.q.dims()[1], op.q.dims()[2], op.q.dims()[3]];
    let (keys, values) = (op.k.dims()[3], op.v.dims()[3]);
    let scores = Tensor::plain([batch, heads, queries, keys], DataType::F32).map_err(|_| Skip::Shape("sizes that overflow"))?;
    let mut program = Program::default();
    let at = program.book(scores.bytes()).ok_or(Skip::Shape("sizes that overflow"))?;
    let kept = View { name: "scores", place: Place::Scratch(at), dtype: DataType::F32, layout: &scores.layout, padded: false };
    if op.dst.is_empty() {
        return Ok(program);
    }
    let declare = |emit: &mut Emitter| declare_scores(op, &kept, emit);
    let sizes = Sizes { batches: batch * heads, m: queries, n: keys, k: size };
    let product = |sizes, declare| Products {
        real: Real::Single,
        sum: Sum::Single,
        sizes,
        left_k_first: true,
        right_n_first: true,
        z_first: false,
        declare,
    };
    product(sizes, &declare as &dyn Fn(&mut Emitter) -> Result<(), Skip>).append(&mut program, target)?;
    if keys > 0 {
        program.launches.push(weigh(&kept)?);
    }
    let declare = |emit: &mut Emitter| declare_values(op, problem, &kept, emit);
    product(Sizes { n: values, k: keys, ..sizes }, &declare).append(&mut program, target)?;
    zero::padding(&mut program, Arg::DST, &op.dst)?;
    Ok(program)
}

fn declare_scores(op: &Sdpa, scores: &View<'_>, emit: &mut Emitter) -> Result<(), Skip> {
    let (heads, kv_heads) = (op.q.dims()[1], op.k.dims()[1]);
    emit.view(scores)?;
    emit.view(&View::of("q", Arg::SRC, &op.q))?;
    emit.view(&View::of("key", Arg::SRC_1, &op.k))?;
    emit.sizes("heads", &[heads, heads / kv_heads.max(1)]);
    emit.number("keys_beyond", op.k.dims()[3] - op.q.dims()[2]);
    emit.code(
        "DEVICE index kv_head(const Args& a, index head) {\n    split(a.heads[1], head);\n    return head;\n}\n\
         DEVICE factor left(const Args& a, index z, index m, index k) {\n    const index head = split(a.heads[0], z), p[] = {z, head, m, k};\n    return q(a, p);\n}\n\
         DEVICE factor right(const Args& a, index z, index k, index n) {\n    const index head = split(a.heads[0], z), p[] = {z, kv_head(a, head), k, n};\n    \
         return key(a, p);\n}\n",
    );
    let mut value = String::from("sum");
    if let (Some(scale), true) = (&op.scale, op.scale_kind != SdpaScale::None) {
        emit.view(&View::of("scale", Arg::SCALE, scale))?;
        emit.code(&format!(
            "DEVICE real the_scale(const Args& a) {{\n    const index p[{}] = {{}};\n    return scale(a, p);\n}}\n",
            scale.dims().len().max(1)
        ));
        value = if op.scale_kind == SdpaScale::Divide { "sum * ((real)1 / the_scale(a))".into() } else { "sum * the_scale(a)".into() };
    }
    if let (Some(mask), SdpaMask::Buffer) = (&op.mask, op.mask_kind) {
        emit.view(&View::of("mask", Arg::SRC_3, mask))?;
        value.push_str(" + mask(a, p)");
    }
    let beyond = match op.mask_kind {
        SdpaMask::CausalTopLeft => "n > m",
        SdpaMask::CausalBottomRight => "n > m + a.keys_beyond",
        SdpaMask::None | SdpaMask::Buffer => "false",
    };
    emit.code(&format!(
        "DEVICE void store(const Args& a, index z, index m, index n, total sum) {{\n    const index head = split(a.heads[0], z), p[] = {{z, head, m, n}};\n    \
         scores_store(a, scores_at(a, p), {beyond} ? {} : {value});\n}}\n",
        literal(f64::NEG_INFINITY)
    ));
    Ok(())
}

/// Softmax of every row in place; zeros where all scores are negative infinity.
fn weigh(scores: &View<'_>) -> Result<crate::program::Launch, Skip> {
    let mut rows = Rows::over(Real::Single, scores.layout, |d| d != 3);
    rows.emit.view(scores)?;
    let lowest = literal(f64::NEG_INFINITY);
    rows.stages = vec![
        Stage { identity: lowest.clone(), combine: "fmax(x, y)", term: "scores(a, p)".into(), close: "x".into() },
        Stage::sum("scores(a, p) != scores(a, p) ? (real)1 : (real)0", "x"),
        Stage::sum("exp(scores(a, p) - s[0])", "x"),
    ];
    rows.each = format!(
        "    const bool empty = s[0] == {lowest} && s[1] == 0;\n    const i64 at = scores_at(a, p);\n    \
         scores_store(a, at, empty ? (real)0 : exp(scores_load(a, at) - s[0]) / s[2]);\n"
    );
    Ok(rows.launch())
}

fn declare_values(op: &Sdpa, problem: &Problem, scores: &View<'_>, emit: &mut Emitter) -> Result<(), Skip> {
    let (heads, kv_heads) = (op.q.dims()[1], op.k.dims()[1]);
    emit.define("RANK", 4);
    emit.tail(&Tail::of(problem, Arg::DST, &op.dst))?;
    emit.view(scores)?;
    emit.view(&View::of("values", Arg::SRC_2, &op.v))?;
    emit.sizes("heads", &[heads, heads / kv_heads.max(1)]);
    emit.code(
        "DEVICE factor left(const Args& a, index z, index m, index k) {\n    const index head = split(a.heads[0], z), p[] = {z, head, m, k};\n    return scores(a, p);\n}\n\
         DEVICE factor right(const Args& a, index z, index k, index n) {\n    index head = split(a.heads[0], z);\n    split(a.heads[1], head);\n    \
         const index p[] = {z, head, k, n};\n    return values(a, p);\n}\n\
         DEVICE void store(const Args& a, index z, index m, index n, total sum) {\n    const index head = split(a.heads[0], z), p[] = {z, head, m, n};\n    \
         finish(a, p, (real)sum);\n}\n",
    );
    Ok(())
}
