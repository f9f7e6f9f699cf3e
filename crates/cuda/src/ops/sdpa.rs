//! Unfused attention and its gradients (`tiles:generic`): generic products with the scores in scratch, and row reductions between them.

use super::pointwise::tensor;
use super::products::{Products, Sizes, Sum};
use super::rows::{Rows, Stage};
use super::zero;
use crate::CudaTarget;
use crate::emit::{Emitter, Factor, Real, Tail, View, literal};
use crate::program::{Launch, OVERFLOW, Program};
use oxidnn_runtime::Skip;
use oxidnn_spec::op::{Sdpa, SdpaMask, SdpaScale};
use oxidnn_spec::{Arg, DataType, Op, Problem, Tensor};

/// Query heads, and query heads per kv head.
const HEADS: &str = "DEVICE index kv_head(const Args& a, index head) {\n    split(a.heads[1], head);\n    return head;\n}\n";

/// Attention forward or backward.
pub(crate) fn lower(problem: &Problem, target: &CudaTarget) -> Result<Program, Skip> {
    let Op::Sdpa(op) = &problem.op else { return Err(Skip::Op("anything but attention")) };
    let attention = Attention { op, problem, target };
    if op.prop.is_forward() { attention.forward() } else { attention.backward() }
}

/// The sum of products of what `declare` defines.
type Declare<'d> = &'d dyn Fn(&mut Emitter) -> Result<(), Skip>;

struct Attention<'a> {
    op: &'a Sdpa,
    problem: &'a Problem,
    target: &'a CudaTarget,
}

impl Attention<'_> {
    /// Batch, heads, queries, keys.
    fn sizes(&self) -> [i64; 4] {
        [self.op.q.dims()[0], self.op.q.dims()[1], self.op.q.dims()[2], self.op.k.dims()[3]]
    }

    /// A score matrix per head, and its place in scratch.
    fn matrix(&self, program: &mut Program) -> Result<(Tensor, usize), Skip> {
        let t = Tensor::plain(self.sizes(), DataType::F32).map_err(|_| OVERFLOW)?;
        let at = program.book(t.bytes())?;
        Ok((t, at))
    }

    fn product(&self, program: &mut Program, [batches, m, n, k]: [i64; 4], declare: Declare<'_>) -> Result<(), Skip> {
        let product = Products {
            real: Real::Single,
            sum: Sum::Single,
            sizes: Sizes { batches, m, n, k },
            left_k_first: true,
            right_n_first: true,
            z_first: false,
            declare,
        };
        product.append(program, self.target)
    }

    fn forward(&self) -> Result<Program, Skip> {
        let [batch, heads, queries, keys] = self.sizes();
        let (depth, values) = (self.op.q.dims()[3], self.op.v.dims()[3]);
        let mut program = Program::default();
        if batch * heads * queries == 0 {
            return Ok(program);
        }
        let (scores, at) = self.matrix(&mut program)?;
        let kept = View::scratch("scores", at, &scores);
        let store = |emit: &mut Emitter| {
            emit.view(&kept)?;
            self.declare_scores(emit)?;
            emit.code(
                "DEVICE void store(const Args& a, index z, index m, index n, total sum) {\n    const index head = split(a.heads[0], z), p[] = {z, head, m, n};\n    \
                 scores_store(a, scores_at(a, p), scaled(a, p, sum));\n}\n",
            );
            Ok(())
        };
        self.product(&mut program, [batch * heads, queries, keys, depth], &store)?;
        if keys > 0 || self.op.workspace.is_some() {
            program.launches.push(self.weigh(&kept)?);
        }
        let declare = |emit: &mut Emitter| self.declare_values(&kept, emit);
        self.product(&mut program, [batch * heads, queries, values, keys], &declare)?;
        zero::padding(&mut program, Arg::DST, &self.op.dst)?;
        Ok(program)
    }

    /// Declares `name(a, p)`: an element of an operand, dequantised.
    fn declare_side(&self, emit: &mut Emitter, name: &str, arg: Arg, t: &Tensor) -> Result<(), Skip> {
        let attr = &self.problem.attr;
        let (code, scale, zero) = (format!("{name}_given"), format!("{name}_scale"), format!("{name}_zero"));
        emit.view(&View::of(&code, arg, t))?;
        emit.factor(&Factor::scale(&scale, attr, arg, t.dims()));
        emit.factor(&Factor::zero_point(&zero, attr, arg, t.dims()));
        emit.code(&format!(
            "DEVICE real {name}(const Args& a, const index* p) {{ return ({code}(a, p) - {zero}(a, p)) * {scale}(a, p); }}\n"
        ));
        Ok(())
    }

    fn declare_heads(&self, emit: &mut Emitter) {
        let (heads, kv_heads) = (self.op.q.dims()[1], self.op.k.dims()[1]);
        emit.define("RANK", 4);
        emit.sizes("heads", &[heads, heads / kv_heads.max(1), kv_heads]);
        emit.code(HEADS);
    }

    /// Declares `the_factor(a)`, the scale of the scores.
    fn declare_factor(&self, emit: &mut Emitter) -> Result<(), Skip> {
        let op = self.op;
        let value = match &op.scale {
            Some(scale) if op.scale_kind != SdpaScale::None => {
                emit.view(&View::of("scale", Arg::SCALE, scale))?;
                let one = if op.scale_kind == SdpaScale::Divide { "(real)1 / " } else { "" };
                format!("    const index p[{}] = {{}};\n    return {one}scale(a, p);\n", scale.dims().len().max(1))
            }
            _ => "    return 1;\n".into(),
        };
        emit.code(&format!("DEVICE real the_factor(const Args& a) {{\n{value}}}\n"));
        Ok(())
    }

    /// Declares the product of queries and keys, and `scaled(a, p, sum)`: the score with scale and mask.
    fn declare_scores(&self, emit: &mut Emitter) -> Result<(), Skip> {
        let op = self.op;
        self.declare_heads(emit);
        emit.view(&View::of("q", Arg::SRC, &op.q))?;
        self.declare_side(emit, "key", Arg::SRC_1, &op.k)?;
        self.declare_factor(emit)?;
        emit.number("keys_beyond", op.k.dims()[3] - op.q.dims()[2]);
        emit.code(
            "DEVICE factor left(const Args& a, index z, index m, index k) {\n    const index head = split(a.heads[0], z), p[] = {z, head, m, k};\n    return q(a, p);\n}\n\
             DEVICE factor right(const Args& a, index z, index k, index n) {\n    const index head = split(a.heads[0], z), p[] = {z, kv_head(a, head), k, n};\n    \
             return key(a, p);\n}\n",
        );
        let mut value = String::from("sum * the_factor(a)");
        if let (Some(mask), SdpaMask::Buffer) = (&op.mask, op.mask_kind) {
            emit.view(&View::of("mask", Arg::SRC_3, mask))?;
            value.push_str(" + mask(a, p)");
        }
        let beyond = match op.mask_kind {
            SdpaMask::CausalTopLeft => "p[3] > p[2]",
            SdpaMask::CausalBottomRight => "p[3] > p[2] + a.keys_beyond",
            SdpaMask::None | SdpaMask::Buffer => "false",
        };
        emit.code(&format!(
            "DEVICE real scaled(const Args& a, const index* p, real sum) {{ return {beyond} ? {} : {value}; }}\n",
            literal(f64::NEG_INFINITY)
        ));
        Ok(())
    }

    /// Softmax of every row in place; zeros if all scores of a row are -infinity. Training stores the log-sum-exp.
    fn weigh(&self, scores: &View<'_>) -> Result<Launch, Skip> {
        let mut rows = Rows::over(Real::Single, scores.layout, |d| d != 3);
        rows.emit.view(scores)?;
        let lowest = literal(f64::NEG_INFINITY);
        rows.stages = vec![
            Stage { identity: lowest.clone(), combine: "fmax(x, y)", term: "scores(a, p)".into(), close: "x".into() },
            Stage::sum("scores(a, p) != scores(a, p) ? (real)1 : (real)0", "x"),
            Stage::sum("exp(scores(a, p) - s[0])", "x"),
        ];
        let empty = format!("s[0] == {lowest} && s[1] == 0");
        if let Some(kept) = &self.op.workspace {
            rows.emit.view(&View::of("kept", Arg::WORKSPACE, kept))?;
            rows.result = format!("    kept_store(a, kept_at(a, p), {empty} ? {lowest} : s[0] + log(s[2]));\n");
        }
        rows.each = format!(
            "    const bool empty = {empty};\n    const i64 at = scores_at(a, p);\n    \
             scores_store(a, at, empty ? (real)0 : exp(scores_load(a, at) - s[0]) / s[2]);\n"
        );
        Ok(rows.launch())
    }

    fn declare_values(&self, scores: &View<'_>, emit: &mut Emitter) -> Result<(), Skip> {
        self.declare_heads(emit);
        emit.tail(&Tail::of(self.problem, Arg::DST, &self.op.dst))?;
        emit.view(scores)?;
        self.declare_side(emit, "values", Arg::SRC_2, &self.op.v)?;
        emit.code(
            "DEVICE factor left(const Args& a, index z, index m, index k) {\n    const index head = split(a.heads[0], z), p[] = {z, head, m, k};\n    return scores(a, p);\n}\n\
             DEVICE factor right(const Args& a, index z, index k, index n) {\n    const index head = split(a.heads[0], z), p[] = {z, kv_head(a, head), k, n};\n    \
             return values(a, p);\n}\n\
             DEVICE void store(const Args& a, index z, index m, index n, total sum) {\n    const index head = split(a.heads[0], z), p[] = {z, head, m, n};\n    \
             finish(a, p, (real)sum);\n}\n",
        );
        Ok(())
    }

    /// The gradients of queries, keys and values, from recomputed probabilities and the gradients of the scores.
    fn backward(&self) -> Result<Program, Skip> {
        let op = self.op;
        let [batch, heads, queries, keys] = self.sizes();
        let (depth, values, kv_heads) = (op.q.dims()[3], op.v.dims()[3], op.k.dims()[1]);
        let [diff_q, diff_k, diff_v] = [Arg::DIFF_SRC, Arg::DIFF_SRC_1, Arg::DIFF_SRC_2].map(|arg| tensor(self.problem, arg));
        let (diff_q, diff_k, diff_v) = (diff_q?, diff_k?, diff_v?);
        let mut program = Program::default();
        let all = batch * heads;
        let (weights, at) = self.matrix(&mut program)?;
        let (changes, changes_at) = self.matrix(&mut program)?;
        let weights = View::scratch("weights", at, &weights);
        let changes = View::scratch("changes", changes_at, &changes);
        let own = Tensor::plain([batch, heads, queries], DataType::F32).map_err(|_| OVERFLOW)?;
        let own_at = program.book(own.bytes())?;
        let own = View::scratch("own", own_at, &own);
        program.launches.push(shares(op, self.problem, &own)?);
        let declare = |emit: &mut Emitter| self.declare_weights(&weights, emit);
        self.product(&mut program, [all, queries, keys, depth], &declare)?;
        let declare = |emit: &mut Emitter| self.declare_changes([&weights, &changes, &own], emit);
        self.product(&mut program, [all, queries, keys, values], &declare)?;
        let declare = |emit: &mut Emitter| self.declare_diff_q(&changes, diff_q, emit);
        self.product(&mut program, [all, queries, depth, keys], &declare)?;
        let group = heads / kv_heads.max(1) * queries;
        let declare = |emit: &mut Emitter| {
            emit.view(&changes)?;
            self.declare_shared([("given", Arg::SRC, &op.q), ("dst", Arg::DIFF_SRC_1, diff_k)], emit)?;
            emit.code(
                "DEVICE factor left(const Args& a, index z, index m, index k) {\n    index p[4];\n    place(a, z, k, p);\n    p[3] = m;\n    return given(a, p);\n}\n\
                 DEVICE factor right(const Args& a, index z, index k, index n) {\n    index p[4];\n    place(a, z, k, p);\n    p[3] = n;\n    return changes(a, p);\n}\n",
            );
            Ok(())
        };
        self.product(&mut program, [batch * kv_heads, depth, keys, group], &declare)?;
        let declare = |emit: &mut Emitter| {
            emit.view(&weights)?;
            let diff_dst = tensor(self.problem, Arg::DIFF_DST)?;
            self.declare_shared([("given", Arg::DIFF_DST, diff_dst), ("dst", Arg::DIFF_SRC_2, diff_v)], emit)?;
            emit.code(
                "DEVICE factor left(const Args& a, index z, index m, index k) {\n    index p[4];\n    place(a, z, k, p);\n    p[3] = m;\n    return weights(a, p);\n}\n\
                 DEVICE factor right(const Args& a, index z, index k, index n) {\n    index p[4];\n    place(a, z, k, p);\n    p[3] = n;\n    return given(a, p);\n}\n",
            );
            Ok(())
        };
        self.product(&mut program, [batch * kv_heads, keys, values, group], &declare)?;
        for (arg, t) in [(Arg::DIFF_SRC, diff_q), (Arg::DIFF_SRC_1, diff_k), (Arg::DIFF_SRC_2, diff_v)] {
            zero::padding(&mut program, arg, t)?;
        }
        Ok(program)
    }

    /// Recomputes the probabilities from the log-sum-exp.
    fn declare_weights(&self, weights: &View<'_>, emit: &mut Emitter) -> Result<(), Skip> {
        let kept = tensor(self.problem, Arg::WORKSPACE)?;
        emit.view(weights)?;
        emit.view(&View::of("kept", Arg::WORKSPACE, kept))?;
        self.declare_scores(emit)?;
        emit.code(&format!(
            "DEVICE void store(const Args& a, index z, index m, index n, total sum) {{\n    const index head = split(a.heads[0], z), p[] = {{z, head, m, n}};\n    \
             const real l = kept(a, p);\n    weights_store(a, weights_at(a, p), l == {} ? (real)0 : exp(scaled(a, p, sum) - l));\n}}\n",
            literal(f64::NEG_INFINITY)
        ));
        Ok(())
    }

    /// The gradients of the scaled scores, times the scale.
    fn declare_changes(&self, [weights, changes, own]: [&View<'_>; 3], emit: &mut Emitter) -> Result<(), Skip> {
        [weights, changes, own].into_iter().try_for_each(|v| emit.view(v))?;
        self.declare_heads(emit);
        self.declare_factor(emit)?;
        emit.view(&View::of("diff_dst", Arg::DIFF_DST, tensor(self.problem, Arg::DIFF_DST)?))?;
        emit.view(&View::of("values", Arg::SRC_2, &self.op.v))?;
        emit.code(
            "DEVICE factor left(const Args& a, index z, index m, index k) {\n    const index head = split(a.heads[0], z), p[] = {z, head, m, k};\n    return diff_dst(a, p);\n}\n\
             DEVICE factor right(const Args& a, index z, index k, index n) {\n    const index head = split(a.heads[0], z), p[] = {z, kv_head(a, head), n, k};\n    \
             return values(a, p);\n}\n\
             DEVICE void store(const Args& a, index z, index m, index n, total sum) {\n    const index head = split(a.heads[0], z), p[] = {z, head, m, n};\n    \
             const real w = weights(a, p);\n    changes_store(a, changes_at(a, p), w == 0 ? (real)0 : w * (sum - own(a, p)) * the_factor(a));\n}\n",
        );
        Ok(())
    }

    fn declare_diff_q(&self, changes: &View<'_>, diff_q: &Tensor, emit: &mut Emitter) -> Result<(), Skip> {
        emit.view(changes)?;
        self.declare_heads(emit);
        emit.view(&View::of("key", Arg::SRC_1, &self.op.k))?;
        emit.tail(&Tail::of(self.problem, Arg::DIFF_SRC, diff_q))?;
        emit.code(
            "DEVICE factor left(const Args& a, index z, index m, index k) {\n    const index head = split(a.heads[0], z), p[] = {z, head, m, k};\n    return changes(a, p);\n}\n\
             DEVICE factor right(const Args& a, index z, index k, index n) {\n    const index head = split(a.heads[0], z), p[] = {z, kv_head(a, head), n, k};\n    \
             return key(a, p);\n}\n\
             DEVICE void store(const Args& a, index z, index m, index n, total sum) {\n    const index head = split(a.heads[0], z), p[] = {z, head, m, n};\n    \
             finish(a, p, (real)sum);\n}\n",
        );
        Ok(())
    }

    /// Declares sums over the query heads that share a kv head: `place(a, z, k, p)` is the query of term `k` for kv head `z`.
    fn declare_shared(&self, [given, to]: [(&str, Arg, &Tensor); 2], emit: &mut Emitter) -> Result<(), Skip> {
        self.declare_heads(emit);
        emit.sizes("queries", &[self.op.q.dims()[2]]);
        emit.view(&View::of(given.0, given.1, given.2))?;
        emit.tail(&Tail::of(self.problem, to.1, to.2))?;
        emit.code(
            "DEVICE void place(const Args& a, index z, index k, index* p) {\n    const index head = split(a.heads[2], z), query = split(a.queries[0], k);\n    \
             p[0] = z, p[1] = head * (index)a.heads[1].n + k, p[2] = query;\n}\n\
             DEVICE void store(const Args& a, index z, index m, index n, total sum) {\n    const index head = split(a.heads[2], z), p[] = {z, head, m, n};\n    \
             finish(a, p, (real)sum);\n}\n",
        );
        Ok(())
    }
}

/// The row sums of dO * O.
pub(crate) fn shares(op: &Sdpa, problem: &Problem, own: &View<'_>) -> Result<Launch, Skip> {
    let diff_dst = tensor(problem, Arg::DIFF_DST)?;
    let mut rows = Rows::over(Real::Single, &diff_dst.layout, |d| d != 3);
    rows.emit.view(&View::of("given", Arg::DST, &op.dst))?;
    rows.emit.view(&View::of("diff_dst", Arg::DIFF_DST, diff_dst))?;
    rows.emit.view(own)?;
    rows.stages = vec![Stage::sum("given(a, p) * diff_dst(a, p)", "x")];
    rows.result = "    own_store(a, own_at(a, p), s[0]);\n".into();
    Ok(rows.launch())
}
