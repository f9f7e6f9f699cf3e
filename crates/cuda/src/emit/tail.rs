//! The epilogue of an operation, from its result in `real` to memory: dropout, post-ops, division by the destination's scale, its zero point, rounding (stochastic
//! if requested), conversion.

use super::view::View;
use super::{Emitter, Factor, literal, type_name};
use oxidnn_expr::{binary, eltwise, quant};
use oxidnn_runtime::Skip;
use oxidnn_spec::{Arg, Attr, DataType, PostOp, Problem, QuantMode, Rounding, Tensor};
use std::fmt::Write;
use std::ops::Range;

/// The epilogue of the result passed as `arg`. The header has the view `dst`; `value(a, p, at, v)`: dropout and post-ops; `write(a, p, at, v)`: scale, zero
/// point, rounding, conversion and store; `finish(a, p, v)`: all of it.
#[derive(Clone, Debug)]
pub(crate) struct Tail<'a> {
    pub(crate) attr: &'a Attr,
    pub(crate) arg: Arg,
    pub(crate) dst: View<'a>,
    /// The post-ops that are part of it.
    pub(crate) post_ops: Range<usize>,
    /// The operands of post-ops and the dropout mask: name, argument and tensor of their views.
    pub(crate) operands: Vec<(String, Arg, Tensor)>,
}

impl<'a> Tail<'a> {
    /// The epilogue of `problem`'s result `arg`; only [`Arg::DST`] has post-ops, dropout and quantisation.
    pub(crate) fn of(problem: &'a Problem, arg: Arg, dst: &'a Tensor) -> Tail<'a> {
        let attr = &problem.attr;
        let post_ops = if arg == Arg::DST { 0..attr.post_ops.len() } else { 0..0 };
        Tail::part(problem, arg, View { padded: true, ..View::of("dst", arg, dst) }, post_ops)
    }

    /// The epilogue with a range of the post-ops: those before or after a fused depthwise convolution. Dropout is part of the first one, stochastic rounding of
    /// the last.
    pub(crate) fn part(problem: &'a Problem, arg: Arg, dst: View<'a>, post_ops: Range<usize>) -> Tail<'a> {
        let mut tail = Tail { attr: &problem.attr, arg, dst, post_ops, operands: Vec::new() };
        tail.operands = tail.find_operands(problem);
        tail
    }

    fn find_operands(&self, problem: &Problem) -> Vec<(String, Arg, Tensor)> {
        let mut all = Vec::new();
        let given = problem.operands();
        let mut put = |name: String, arg: Arg| all.extend(given.iter().find(|o| o.arg == arg).map(|o| (name, arg, o.tensor.clone())));
        if self.has_dropout() {
            put("drop_mask".into(), Arg::DROPOUT_MASK);
        }
        for i in self.post_ops.clone() {
            match &self.attr.post_ops[i] {
                PostOp::Binary { .. } => {
                    put(format!("po{i}"), Arg::post_op(i, Arg::SRC_1));
                    put(format!("po{i}_condition"), Arg::post_op(i, Arg::SRC_2));
                }
                PostOp::Prelu { .. } => put(format!("po{i}"), Arg::post_op(i, Arg::WEIGHTS)),
                _ => {}
            }
        }
        all
    }

    fn has_dropout(&self) -> bool {
        self.attr.dropout.is_some() && self.arg == Arg::DST && self.post_ops.start == 0
    }

    /// Whether the destination's scale and zero point are applied.
    fn is_quantised(&self) -> bool {
        self.arg == Arg::DST || self.arg == Arg::depthwise(Arg::DST)
    }

    fn is_stochastic(&self) -> bool {
        let rounded = if self.arg == Arg::depthwise(Arg::DST) { Arg::DST } else { self.arg };
        self.post_ops.end == self.attr.post_ops.len() && self.attr.rounding.get(&rounded) == Some(&Rounding::Stochastic)
    }
}

impl Tail<'_> {
    /// Whether it only converts.
    pub(crate) fn is_plain(&self) -> bool {
        let numbers = self.attr.scales.contains_key(&self.arg) || self.attr.zero_points.contains_key(&self.arg);
        let quantised = self.is_quantised() && numbers;
        self.post_ops.is_empty() && !self.has_dropout() && !self.is_stochastic() && !quantised
    }
}

impl Emitter {
    /// Declares the epilogue.
    ///
    /// # Errors
    /// Why the kernels do not support it.
    pub(crate) fn tail(&mut self, tail: &Tail<'_>) -> Result<(), Skip> {
        self.view(&tail.dst)?;
        for (name, arg, tensor) in &tail.operands {
            self.view(&View::of(name, *arg, tensor))?;
        }
        let mut body = String::new();
        if tail.has_dropout() {
            self.dropout(tail.attr)?;
            body.push_str("    v = dropout(a, p, at, v);\n");
        }
        for i in tail.post_ops.clone() {
            let step = self.post_op(i, tail)?;
            let _ = writeln!(body, "    v = {step};");
        }
        self.code(&format!("DEVICE real value(const Args& a, const index* p, i64 at, real v) {{\n{body}    return v;\n}}\n"));
        self.writer(tail)?;
        self.code(
            "DEVICE void finish(const Args& a, const index* p, real v) {\n    const i64 at = dst_at(a, p);\n    \
             write(a, p, at, value(a, p, at, v));\n}\n",
        );
        Ok(())
    }

    /// Declares scale, zero point, rounding, conversion and store.
    fn writer(&mut self, tail: &Tail<'_>) -> Result<(), Skip> {
        let (attr, dims) = (tail.attr, &tail.dst.layout.dims);
        let mut body = String::new();
        if tail.is_quantised() {
            let (scale, zero) = (Factor::scale("dst_scale", attr, tail.arg, dims), Factor::zero_point("dst_zero", attr, tail.arg, dims));
            if scale.quant.is_some_and(|q| q.mode != QuantMode::Static) {
                return Err(Skip::Attr("scales of the destination that the library computes".into()));
            }
            if scale.quant.is_some() || zero.quant.is_some() {
                self.factor(&scale);
                self.factor(&zero);
                self.formula("quantise", 3, |x| quant::quantise(x[0], x[1].normal(), x[2]));
                body.push_str("    v = quantise(v, dst_scale(a, p), dst_zero(a, p));\n");
            }
        }
        self.code(&format!("DEVICE real quantised(const Args& a, const index* p, real v) {{\n{body}    return v;\n}}\n"));
        let random = if tail.is_stochastic() {
            self.single("rounding_seed", Arg::ROUNDING_SEED, DataType::S32, false);
            "    v = round_stochastic<dst_type>(v, (u64)at, (u32)rounding_seed(a));\n"
        } else {
            ""
        };
        self.code(&format!(
            "DEVICE real rounded(const Args& a, const index* p, i64 at, real v) {{\n    v = quantised(a, p, v);\n{random}    return v;\n}}\n\
             DEVICE void write(const Args& a, const index* p, i64 at, real v) {{ dst_store(a, at, rounded(a, p, at, v)); }}\n"
        ));
        Ok(())
    }

    /// Declares `name(a)`: the value of an argument of one element.
    fn single(&mut self, name: &str, arg: Arg, dtype: DataType, on_host: bool) {
        let t = type_name(dtype);
        let kind = if dtype == DataType::F32 { "float" } else { "i64" };
        let decode = |code: &str| match dtype {
            DataType::F32 => format!("__uint_as_float((u32){code})"),
            DataType::S64 => format!("(i64){code}"),
            _ => format!("(i64)(int){code}"),
        };
        if on_host {
            self.word(&format!("u64 {name}_bits"), crate::program::Word::HostScalar(arg));
            let value = decode(&format!("a.{name}_bits"));
            self.code(&format!("DEVICE {kind} {name}(const Args& a) {{ return {value}; }}"));
        } else {
            self.word(&format!("void* {name}_data"), crate::program::Word::Address { arg, buffer: 0 });
            let value = decode(&format!("load_code<{t}>(a.{name}_data, 0)"));
            self.code(&format!("DEVICE {kind} {name}(const Args& a) {{ return {value}; }}"));
        }
    }

    fn dropout(&mut self, attr: &Attr) -> Result<(), Skip> {
        let Some(d) = &attr.dropout else { return Ok(()) };
        self.single("drop_p", Arg::DROPOUT_PROBABILITY, DataType::F32, d.use_host_scalars);
        self.single("drop_seed", Arg::DROPOUT_SEED, d.seed_dtype, d.use_host_scalars);
        if d.use_offset {
            self.single("drop_offset", Arg::DROPOUT_OFFSET, DataType::S64, d.use_host_scalars);
        }
        let offset = if d.use_offset { "drop_offset(a)" } else { "0" };
        let mask = if d.mask.is_some() { "    drop_mask_store(a, drop_mask_at(a, p), keep);\n" } else { "" };
        self.code(&format!(
            "DEVICE real dropout(const Args& a, const index* p, i64 at, real v) {{\n    const float drop = drop_p(a);\n    \
             const bool keep = dropout_keeps((u64)at, drop_seed(a), {offset}, drop);\n{mask}    return keep ? v / ((real)1 - (real)drop) : (real)0;\n}}\n"
        ));
        Ok(())
    }

    /// Declares what post-op `i` needs, and returns the expression of its value.
    fn post_op(&mut self, i: usize, tail: &Tail<'_>) -> Result<String, Skip> {
        let dst = tail.dst.dtype;
        Ok(match &tail.attr.post_ops[i] {
            PostOp::Sum { scale, zero_point, dtype } => {
                let old = format!("load<{}>(a.dst_data, at)", type_name(dtype.unwrap_or(dst)));
                format!("fma({}, {old} - {}, v)", literal(f64::from(scale.get())), literal(f64::from(*zero_point)))
            }
            PostOp::Eltwise { alg, alpha, beta } => {
                // Later post-ops might amplify the error of an approximation by cancellation.
                let to = if i + 1 == tail.attr.post_ops.len() { dst } else { DataType::F64 };
                self.formula_to(to, &format!("post_op_{i}"), 1, |x| eltwise::forward(*alg, alpha.get(), beta.get(), x[0]));
                format!("post_op_{i}(v)")
            }
            PostOp::Binary { alg, src2, .. } => {
                self.formula(&format!("post_op_{i}"), 3, |x| binary::apply(*alg, x[0], x[1], x[2]));
                let condition = if src2.is_some() { format!("po{i}_condition(a, p)") } else { "(real)0".into() };
                format!("post_op_{i}(v, po{i}(a, p), {condition})")
            }
            PostOp::Prelu { .. } => {
                self.formula(&format!("post_op_{i}"), 2, |x| binary::prelu(x[0], x[1]));
                format!("post_op_{i}(v, po{i}(a, p))")
            }
            PostOp::Depthwise { .. } => return Err(Skip::Attr("a depthwise post-op".into())),
        })
    }
}
