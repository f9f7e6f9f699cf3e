//! Folding: the operations after another one that its problem can compute: post-ops, a bias, a conversion, another order of its elements.
//!
//! Behind an operation comes a chain of [`Link`]s: operations that read only the output of the one before and operands that exist already.
//! As many links as a kernel takes are folded into the operation's problem; the others are lowered by themselves. The engine's rows are
//! asked whether a kernel takes them; nothing here knows it.

use super::state::Lowering;
use super::value::{Scaled, Value};
use super::{attention, elementwise, movement, norm};
use crate::infer::{channel, transpose_order};
use crate::{Error, LogicalTensor, Op, OpKind, Property};
use oxidnn_spec::op::{BinaryAlg, EltwiseAlg};
use oxidnn_spec::{Arg, Attr, DataType, Dims, Dropout, PostOp, Real, Tensor};

/// One operation on each element of a result.
#[derive(Clone, Debug)]
pub(crate) enum Post {
    Eltwise(EltwiseAlg, [f32; 2]),
    Binary(BinaryAlg, Value),
    /// The sum of the element and the destination's old value: `scale * (bytes - zero)`, bytes of this type.
    Sum([f32; 2], DataType),
    /// The element where the condition holds, else the other.
    Select(Value, Value),
}

/// Random zeroing: seed, offset and probability, and the mask of the kept elements.
#[derive(Clone, Debug)]
pub(crate) struct Dropped {
    pub(crate) numbers: [Value; 3],
    pub(crate) mask: Option<Value>,
    pub(crate) on_host: bool,
}

/// The operations folded into the main problem of an operation.
#[derive(Clone, Default, Debug)]
pub(crate) struct Folded {
    /// The destination of the result, in the dimensions in which the operation writes it.
    pub(crate) dst: Option<Value>,
    /// One number a channel.
    pub(crate) bias: Option<Value>,
    /// A factor and a summand of the result, bias included, before anything else is applied: one of each a channel, both constant.
    pub(crate) norm: Option<(Value, Value)>,
    pub(crate) dropout: Option<Dropped>,
    pub(crate) posts: Vec<Post>,
    /// The quantisation of the result's elements.
    pub(crate) scaled: Option<Box<Scaled>>,
}

impl Folded {
    /// Takes out the linear function that the operations after the main one begin with, if there is one.
    pub(super) fn leading(&mut self) -> Option<[f32; 2]> {
        self.posts = simplified(std::mem::take(&mut self.posts));
        let Some(Post::Eltwise(EltwiseAlg::Linear, linear)) = self.posts.first() else { return None };
        let linear = *linear;
        self.posts.remove(0);
        Some(linear)
    }

    /// Sees all operands of the size of the result through `view`.
    pub(crate) fn view(&mut self, view: impl Fn(&Value) -> Result<Value, Error>) -> Result<(), Error> {
        for post in &mut self.posts {
            match post {
                Post::Eltwise(..) | Post::Sum(..) => {}
                Post::Binary(_, value) => *value = view(value)?,
                Post::Select(other, condition) => (*other, *condition) = (view(other)?, view(condition)?),
            }
        }
        if let Some(scaled) = &mut self.scaled {
            scaled.scale = view(&scaled.scale)?;
            scaled.zero = scaled.zero.as_ref().map(&view).transpose()?;
        }
        if let Some(mask) = self.dropout.as_mut().and_then(|d| d.mask.as_mut()) {
            *mask = view(mask)?;
        }
        Ok(())
    }

    /// Whether there is anything whose sizes are the result's.
    pub(crate) fn has_operands(&self) -> bool {
        self.scaled.is_some() || self.dropout.is_some() || self.posts.iter().any(|p| !matches!(p, Post::Eltwise(..)))
    }

    /// Adds it to the attributes and arguments of a problem.
    pub(super) fn attributes(
        self,
        l: &mut Lowering<'_>,
        dst: Option<&Value>,
        attr: &mut Attr,
        args: &mut Vec<(Arg, Value)>,
    ) -> Result<(), Error> {
        let (posts, scaled) = by_scale(l, simplified(self.posts), self.scaled)?;
        for post in posts {
            let i = attr.post_ops.len();
            attr.post_ops.push(match post {
                Post::Eltwise(alg, [alpha, beta]) => PostOp::Eltwise { alg, alpha: Real::new(alpha), beta: Real::new(beta) },
                Post::Sum([scale, zero], dtype) => PostOp::Sum { scale: Real::new(scale), zero_point: zero as i32, dtype: Some(dtype) },
                Post::Binary(alg, value) => {
                    let src1 = value.tensor.clone();
                    args.push((Arg::post_op(i, Arg::SRC_1), value));
                    PostOp::Binary { alg, src1, src2: None }
                }
                Post::Select(other, condition) => {
                    let (src1, src2) = (other.tensor.clone(), Some(condition.tensor.clone()));
                    args.extend([(Arg::post_op(i, Arg::SRC_1), other), (Arg::post_op(i, Arg::SRC_2), condition)]);
                    PostOp::Binary { alg: BinaryAlg::Select, src1, src2 }
                }
            });
        }
        if let (Some(scaled), Some(dst)) = (scaled, dst) {
            l.scales(Arg::DST, dst.dims(), &scaled, attr, args)?;
        }
        if let (Some(dropped), Some(dst)) = (self.dropout, dst) {
            // The mask's layout is the destination's.
            let like = |m: &Value| Tensor { dtype: DataType::U8, layout: dst.tensor.layout.resized(*m.dims()) };
            let mask = dropped.mask.as_ref().map(like);
            attr.dropout = Some(Dropout { mask, seed_dtype: DataType::S64, use_offset: true, use_host_scalars: dropped.on_host });
            args.extend([Arg::DROPOUT_SEED, Arg::DROPOUT_OFFSET, Arg::DROPOUT_PROBABILITY].into_iter().zip(dropped.numbers));
            args.extend(dropped.mask.map(|m| (Arg::DROPOUT_MASK, m)));
        }
        Ok(())
    }
}

/// Linear functions that follow each other as one; none that changes nothing, such as bytes to numbers and back.
fn simplified(posts: Vec<Post>) -> Vec<Post> {
    let mut out: Vec<Post> = Vec::with_capacity(posts.len());
    for post in posts {
        match (&post, out.last_mut()) {
            (&Post::Eltwise(EltwiseAlg::Linear, second), Some(Post::Eltwise(EltwiseAlg::Linear, first))) => *first = both(*first, second),
            _ => out.push(post),
        }
    }
    out.retain(|p| !matches!(p, Post::Eltwise(EltwiseAlg::Linear, [1.0, 0.0])));
    out
}

/// A factor that only ReLU follows, as part of the scale of the result.
fn by_scale(l: &mut Lowering<'_>, mut posts: Vec<Post>, scaled: Option<Box<Scaled>>) -> Result<(Vec<Post>, Option<Box<Scaled>>), Error> {
    let behind = posts.iter().rev().take_while(|p| matches!(p, Post::Eltwise(EltwiseAlg::Relu, _))).count();
    let last = posts.len().checked_sub(behind + 1);
    let factor = match last.map(|i| &posts[i]) {
        Some(Post::Eltwise(EltwiseAlg::Linear, [factor, 0.0])) if *factor > 0.0 => *factor,
        _ => return Ok((posts, scaled)),
    };
    let Some(common) = scaled.as_ref().and_then(|s| s.common) else { return Ok((posts, scaled)) };
    let scaled = scaled.map(|s| s.times(l, common, 1.0 / factor)).transpose()?;
    last.map(|i| posts.remove(i));
    Ok((posts, scaled.map(Box::new)))
}

/// `c * (a * x + b) + d`; a sum that consists of rounding errors only is 0.
fn both([a, b]: [f32; 2], [c, d]: [f32; 2]) -> [f32; 2] {
    let [a, b, c, d] = [a, b, c, d].map(f64::from);
    let sum = c * b + d;
    [(a * c) as f32, if sum.abs() <= 1e-6 * d.abs() { 0.0 } else { sum as f32 }]
}

/// The links that the problem of an operation can take.
#[derive(Clone, Copy)]
struct Takes {
    eltwise: bool,
    binary: bool,
    bias: bool,
    dropout: bool,
    /// Scales and zero points of the destination; where there are none, a linear function does it.
    scales: bool,
}

fn takes(kind: OpKind) -> Option<Takes> {
    use OpKind::*;
    let post_ops = Takes { eltwise: true, binary: true, bias: false, dropout: false, scales: false };
    Some(match kind {
        Convolution | ConvTranspose => Takes { bias: true, scales: true, ..post_ops },
        MatMul => Takes { dropout: true, scales: true, ..post_ops },
        SoftMax => Takes { dropout: true, ..post_ops },
        Add | Divide | Maximum | Minimum | Multiply | Subtract | SquaredDifference | BiasAdd | Select | AvgPool | MaxPool | ReduceL1
        | ReduceL2 | ReduceMax | ReduceMean | ReduceMin | ReduceProd | ReduceSum | LayerNorm | GroupNorm | RmsNorm | Interpolate => {
            post_ops
        }
        BatchNormInference => Takes { binary: false, ..post_ops },
        Concat | Reorder | TypeCast => Takes { eltwise: false, binary: false, scales: true, ..post_ops },
        _ if elementwise::is_function(kind) => Takes { eltwise: false, dropout: true, ..post_ops },
        _ => return None,
    })
}

/// An operation after another, by its place among all.
#[derive(Clone, Copy, Debug)]
enum Link {
    /// A function of each element.
    Function(usize),
    /// `x * sigmoid(x)`: the sigmoid and the product.
    Swish(usize, usize),
    /// A function of each element and that of the input with this index.
    Two(usize, usize),
    Bias(usize),
    Norm(usize),
    Select(usize),
    Dropout(usize),
    Cast(usize),
    Quantise(usize),
    /// The elements in another order, or other dimensions.
    Moved(usize),
}

impl Link {
    /// The operation that writes its result.
    fn last(self) -> usize {
        match self {
            Link::Swish(_, i)
            | Link::Function(i)
            | Link::Two(i, _)
            | Link::Bias(i)
            | Link::Norm(i)
            | Link::Select(i)
            | Link::Dropout(i)
            | Link::Cast(i)
            | Link::Quantise(i)
            | Link::Moved(i) => i,
        }
    }

    fn ops(self) -> impl Iterator<Item = usize> {
        let first = if let Link::Swish(i, _) = self { Some(i) } else { None };
        first.into_iter().chain([self.last()])
    }
}

/// More links than any pattern has.
const MOST: usize = 40;

/// An order of computation in which cheap operations, and those whose results others fold, come as early as possible.
pub(super) fn order(ops: &[Op]) -> Vec<Op> {
    use OpKind::*;
    let moves = |kind: OpKind| matches!(kind, Dequantize | DynamicDequantize | Quantize | TypeCast | StaticReshape | StaticTranspose);
    // Integers and booleans are positions, from which masks are made.
    let positions = |lt: &LogicalTensor| matches!(lt.dtype, Some(DataType::S32 | DataType::S64 | DataType::Boolean));
    let early = |op: &Op| moves(op.kind) || op.outputs.iter().all(positions);
    let made = |id: usize| ops.iter().position(|o| o.outputs.iter().any(|lt| lt.id == id));
    let mut done = vec![false; ops.len()];
    let mut out = Vec::with_capacity(ops.len());
    while out.len() < ops.len() {
        let ready = |i: &usize| {
            // An index depends on the position only, not on the values there.
            let waits = |lt: &LogicalTensor| made(lt.id).is_some_and(|m| !done[m]);
            !done[*i] && (ops[*i].kind == GenIndex || !ops[*i].inputs.iter().any(waits))
        };
        let any = |wanted: &dyn Fn(usize) -> bool| (0..ops.len()).filter(ready).find(|&i| wanted(i));
        let next = any(&|i| early(&ops[i])).or_else(|| any(&|i| !waits_behind(ops, &done, i))).or_else(|| any(&|_| true));
        let Some(next) = next else { break };
        done[next] = true;
        out.push(ops[next].clone());
    }
    out
}

/// Whether an operation could fold one that reads values not yet computed.
fn waits_behind(ops: &[Op], done: &[bool], first: usize) -> bool {
    use OpKind::*;
    let missing = |lt: &LogicalTensor| ops.iter().position(|o| o.outputs.iter().any(|out| out.id == lt.id)).is_some_and(|m| !done[m]);
    let mut last = first;
    for _ in 0..MOST {
        let Some(lt) = ops[last].outputs.first() else { return false };
        let [(i, port)] = consumers(ops, lt.id)[..] else { return false };
        let op = &ops[i];
        let binary = matches!(op.kind, Add | Divide | Maximum | Minimum | Multiply | Subtract);
        if !binary && !elementwise::is_function(op.kind) && !matches!(op.kind, BiasAdd | BatchNormInference | TypeCast) {
            return false;
        }
        if op.inputs.iter().enumerate().any(|(p, lt)| p != port && missing(lt)) {
            return binary;
        }
        last = i;
    }
    false
}

/// Lowers all operations.
pub(super) fn all(l: &mut Lowering<'_>) -> Result<(), Error> {
    let ops = l.ops;
    let mut done = vec![false; ops.len()];
    for (i, op) in ops.iter().enumerate() {
        if done[i] {
            continue;
        }
        l.op = op;
        done[i] = true;
        if movement::alias(l)? {
            continue;
        }
        let attention = attention::lower(l, i);
        if !attention.is_empty() {
            attention.into_iter().for_each(|i| done[i] = true);
            continue;
        }
        let links = chain(l, i);
        for link in best(l, op, &links)? {
            link.ops().for_each(|i| done[i] = true);
        }
    }
    Ok(())
}

/// Lowers an operation with as many of the links as a kernel takes; returns these.
fn best<'c>(l: &mut Lowering<'_>, op: &Op, links: &'c [Link]) -> Result<&'c [Link], Error> {
    let checkpoint = l.checkpoint();
    let rule = super::rule(op.kind).ok_or_else(|| Error::Unimplemented(format!("{} computes nothing", op.kind.name())))?;
    let scaled = op.inputs.iter().any(|lt| l.values.get(&lt.id).is_some_and(|v| v.scaled.is_some()));
    let mut why = None;
    for quantised in [true, false].into_iter().filter(|q| scaled || !q) {
        for count in (0..=links.len()).rev() {
            let taken = &links[..count];
            l.quantised = quantised;
            l.fast = count > 0 || quantised;
            l.constant = op.inputs.iter().all(|lt| l.values.get(&lt.id).is_some_and(|v| v.constant)) && count == 0;
            let result = folded(l, op, taken).and_then(|folded| {
                l.folded = folded;
                rule(l)
            });
            l.constant = false;
            match result {
                Ok(()) => {
                    note(l, op, taken, why);
                    return Ok(taken);
                }
                Err(e) => {
                    l.rollback(&checkpoint);
                    (l.folded, l.factor) = (Folded::default(), None);
                    if count == 0 && !quantised {
                        return Err(e);
                    }
                    why.get_or_insert(e);
                }
            }
        }
    }
    Ok(&[])
}

fn note(l: &mut Lowering<'_>, op: &Op, taken: &[Link], why: Option<Error>) {
    let name = |i: usize| l.ops[i].kind.name();
    let mut line = op.kind.name().to_string();
    for link in taken {
        link.ops().for_each(|i| line.extend([" + ", name(i)]));
    }
    if let Some(why) = why {
        line.push_str(&format!(" (more was refused: {why})"));
    }
    l.notes.push(line);
}

/// The operations that read a tensor, each with the index of its input. An operation that uses only its sizes does not read it.
pub(super) fn consumers(ops: &[Op], id: usize) -> Vec<(usize, usize)> {
    let of = |(i, op): (usize, &Op)| -> Vec<(usize, usize)> {
        (0..op.inputs.len()).filter(|&p| op.inputs[p].id == id && op.kind != OpKind::GenIndex).map(|p| (i, p)).collect()
    };
    ops.iter().enumerate().flat_map(of).collect()
}

/// The links after operation `first`.
fn chain(l: &Lowering<'_>, first: usize) -> Vec<Link> {
    let (ops, mut links) = (l.ops, Vec::new());
    let Some(takes) = takes(ops[first].kind) else { return links };
    let mut lt = ops[first].outputs[0];
    while links.len() < MOST && !l.leaves(lt.id) {
        let Some(link) = next(l, &ops[first], takes, &links, &lt) else { break };
        links.push(link);
        lt = ops[link.last()].outputs[0];
    }
    links
}

fn next(l: &Lowering<'_>, anchor: &Op, takes: Takes, links: &[Link], lt: &LogicalTensor) -> Option<Link> {
    let ops = l.ops;
    let consumers = consumers(ops, lt.id);
    let moved = links.iter().any(|l| matches!(l, Link::Moved(_)));
    if links.iter().any(|l| matches!(l, Link::Quantise(_))) {
        return None;
    }
    if let [(a, _), (b, _)] = consumers[..] {
        let (s, m) = if ops[a].kind == OpKind::Sigmoid { (a, b) } else { (b, a) };
        let through = |op: &Op| op.kind == OpKind::Multiply && op.inputs.iter().any(|i| i.id == ops[s].outputs[0].id);
        let swish = ops[s].kind == OpKind::Sigmoid && through(&ops[m]) && !l.leaves(ops[s].outputs[0].id);
        let only = swish && self::consumers(ops, ops[s].outputs[0].id).len() == 1;
        return (only && takes.eltwise && !moved).then_some(Link::Swish(s, m));
    }
    let [(i, port)] = consumers[..] else { return None };
    let op = &ops[i];
    let there = |p: usize| l.values.contains_key(&op.inputs[p].id);
    let others = (0..op.inputs.len()).filter(|&p| p != port).all(there);
    let same = op.outputs.first().is_some_and(|o| o.dims == lt.dims);
    let single = op.outputs.len() == 1;
    if !others || op.outputs.is_empty() {
        return None;
    }
    use OpKind::*;
    Some(match op.kind {
        TypeCast => Link::Cast(i),
        Quantize if movement::is_common(op) || takes.scales && !moved => Link::Quantise(i),
        StaticTranspose | StaticReshape | Reorder => Link::Moved(i),
        _ if moved || !same => return None,
        kind if elementwise::is_function(kind) && takes.eltwise => Link::Function(i),
        Add | Divide | Maximum | Minimum | Multiply | Subtract if takes.binary && (port == 0 || commutes(op.kind) || takes.eltwise) => {
            Link::Two(i, 1 - port)
        }
        BiasAdd if port == 0 && takes.binary => Link::Bias(i),
        BatchNormInference if port == 0 && single && takes.binary && takes.bias => Link::Norm(i),
        Select if port == 1 && takes.binary => Link::Select(i),
        Dropout if port == 0 && takes.dropout && links.is_empty() && anchor.outputs.len() == 1 => Link::Dropout(i),
        _ => return None,
    })
}

fn commutes(kind: OpKind) -> bool {
    matches!(kind, OpKind::Add | OpKind::Multiply | OpKind::Maximum | OpKind::Minimum)
}

/// The roles of the links in the problem of `anchor`.
fn folded(l: &mut Lowering<'_>, anchor: &Op, links: &[Link]) -> Result<Folded, Error> {
    let mut folded = Folded::default();
    let Some(last) = links.last() else { return Ok(folded) };
    let ops = l.ops;
    let written = ops[last.last()].outputs[0];
    let dims = anchor.outputs[0].known_dims().unwrap_or_default();
    let mut dst = l.buffer(&written)?;
    for link in links.iter().rev() {
        if let Link::Moved(i) = *link {
            dst = before(&ops[i], &dst)?;
        }
    }
    folded.dst = Some(dst);
    let takes = takes(anchor.kind).ok_or_else(|| Error::Unimplemented("post-ops".into()))?;
    for &link in links {
        let to = Target { anchor, takes, dims };
        to.add(l, &mut folded, link)?;
    }
    Ok(folded)
}

/// The result of a movement, as a view of its input.
pub(super) fn before(op: &Op, value: &Value) -> Result<Value, Error> {
    let from = op.inputs[0].known_dims().unwrap_or_default();
    match op.kind {
        OpKind::StaticTranspose => {
            let order = transpose_order(op, from.len())?;
            let mut back = vec![0; order.len()];
            order.iter().enumerate().for_each(|(i, &d)| back[d] = i);
            value.permuted(&back)
        }
        OpKind::StaticReshape => value.reshaped(&from),
        _ => Ok(value.clone()),
    }
}

/// The problem that links are added to.
struct Target<'a> {
    anchor: &'a Op,
    takes: Takes,
    dims: Dims,
}

impl Target<'_> {
    /// Input `i` of operation `op` with as many dimensions as the result.
    fn operand(&self, l: &mut Lowering<'_>, op: &Op, i: usize) -> Result<Value, Error> {
        let value = l.values.get(&op.inputs[i].id).cloned();
        let value = value.ok_or_else(|| Error::argument("operand", "nothing", "one that was computed before"))?;
        let plain = l.plain(value)?;
        plain.at_rank(self.dims.len())
    }

    fn channels(&self, op: &Op, value: &Value) -> Result<Value, Error> {
        let rank = self.dims.len();
        let (c, count) = (channel(op, rank), value.size(0)?);
        let dims: Vec<i64> = (0..rank).map(|d| if d == c { count } else { 1 }).collect();
        value.reshaped(&dims)
    }

    fn add(&self, l: &mut Lowering<'_>, folded: &mut Folded, link: Link) -> Result<(), Error> {
        let op = &l.ops[link.last()];
        match link {
            Link::Cast(_) | Link::Moved(_) => {}
            Link::Function(_) => {
                let (alg, parameters) = elementwise::function(op)?;
                folded.posts.push(Post::Eltwise(alg, parameters));
            }
            Link::Swish(..) => folded.posts.push(Post::Eltwise(EltwiseAlg::Swish, [1.0, 0.0])),
            Link::Two(_, other) => self.two(l, folded, op, other)?,
            Link::Bias(_) => {
                let bias = l.values.get(&op.inputs[1].id).cloned();
                let bias = bias.ok_or_else(|| Error::argument("bias", "nothing", "one that was computed before"))?;
                let rank = self.dims.len();
                let along = channel(op, rank) == channel(self.anchor, rank);
                let own = self.takes.bias && along && self.anchor.inputs.len() == 2 && folded.posts.is_empty();
                if own && folded.bias.is_none() {
                    folded.bias = Some(bias);
                } else {
                    folded.posts.push(Post::Binary(BinaryAlg::Add, self.channels(op, &bias)?));
                }
            }
            Link::Norm(_) => {
                let (factor, summand) = norm::factors(l, op)?;
                if self.absorbs(l, folded, op) {
                    folded.norm = Some((factor, summand));
                    return Ok(());
                }
                folded.posts.push(Post::Binary(BinaryAlg::Mul, self.channels(op, &factor)?));
                folded.posts.push(Post::Binary(BinaryAlg::Add, self.channels(op, &summand)?));
            }
            Link::Select(_) => {
                let other = self.operand(l, op, 2)?;
                let condition = self.operand(l, op, 0)?.typed(DataType::S8);
                folded.posts.push(Post::Select(other, condition));
            }
            Link::Dropout(_) => folded.dropout = Some(dropped(l, op)?),
            Link::Quantise(_) => self.quantise(l, folded, op)?,
        }
        Ok(())
    }

    /// Whether normalisation `op` may change weights and bias once and for all, which is as good as multiplying the result where they are f32.
    fn absorbs(&self, l: &Lowering<'_>, folded: &Folded, op: &Op) -> bool {
        let lasts =
            |lt: &LogicalTensor| l.values.get(&lt.id).is_some_and(|v| v.constant && v.scaled.is_none() && v.dtype() == DataType::F32);
        let along = channel(op, self.dims.len()) == channel(self.anchor, self.dims.len());
        let first = folded.posts.is_empty() && folded.norm.is_none() && folded.bias.as_ref().is_none_or(|b| b.constant);
        l.keeps && along && first && self.anchor.inputs[1..].iter().chain(&op.inputs[1..]).all(lasts)
    }

    fn two(&self, l: &mut Lowering<'_>, folded: &mut Folded, op: &Op, other: usize) -> Result<(), Error> {
        let alg = elementwise::algorithm(op.kind);
        if alg == BinaryAlg::Add
            && let Some(sum) = before_sum(l, folded, &op.inputs[other])
        {
            folded.posts.push(sum);
            return Ok(());
        }
        let posts = &mut folded.posts;
        // `d + (q - z) * s` is `((d / s - z) + q) * s`: the other operand is read as the bytes that it is.
        let lazy = l.values.get(&op.inputs[other].id).filter(|_| alg == BinaryAlg::Add && self.takes.eltwise).cloned();
        if let Some(value) = lazy
            && let Some((scale, zero)) = value.scaled.as_ref().and_then(|s| s.common).filter(|c| c.0 != 0.0)
        {
            posts.push(Post::Eltwise(EltwiseAlg::Linear, [1.0 / scale, -zero]));
            posts.push(Post::Binary(BinaryAlg::Add, value.raw().at_rank(self.dims.len())?));
            posts.push(Post::Eltwise(EltwiseAlg::Linear, [scale, 0.0]));
            return Ok(());
        }
        let value = self.operand(l, op, other)?;
        let alg = match alg {
            // `other - d` and `other / d`.
            BinaryAlg::Sub if other == 0 => {
                posts.push(Post::Eltwise(EltwiseAlg::Linear, [-1.0, 0.0]));
                BinaryAlg::Add
            }
            BinaryAlg::Div if other == 0 => {
                posts.push(Post::Eltwise(EltwiseAlg::Pow, [1.0, -1.0]));
                BinaryAlg::Mul
            }
            alg => alg,
        };
        posts.push(Post::Binary(alg, value));
        Ok(())
    }

    fn quantise(&self, l: &mut Lowering<'_>, folded: &mut Folded, op: &Op) -> Result<(), Error> {
        let scaled = movement::standing(l, op, &self.dims)?;
        if self.takes.scales {
            folded.scaled = Some(Box::new(scaled));
            return Ok(());
        }
        let refused = || Error::Unimplemented("a scale for each channel of this result".into());
        let (scale, zero) = scaled.common.ok_or_else(refused)?;
        if self.takes.eltwise {
            folded.posts.push(Post::Eltwise(EltwiseAlg::Linear, [1.0 / scale, zero]));
            return Ok(());
        }
        for (alg, number) in [(BinaryAlg::Div, scale), (BinaryAlg::Add, zero)] {
            let ones = Tensor::plain(Dims::filled(self.dims.len(), 1), DataType::F32)?;
            let value = l.numbers(ones, |_| f64::from(number))?;
            folded.posts.push(Post::Binary(alg, value));
        }
        Ok(())
    }
}

/// The sum with `other`, if that may be the destination's old value.
fn before_sum(l: &mut Lowering<'_>, folded: &Folded, other: &LogicalTensor) -> Option<Post> {
    let (dst, value) = (folded.dst.as_ref()?, l.values.get(&other.id)?.clone());
    let numbers = match &value.scaled {
        None => [1.0, 0.0],
        Some(scaled) => scaled.common.map(|(scale, zero)| [scale, zero])?,
    };
    let first = !folded.posts.iter().any(|p| matches!(p, Post::Sum(..)));
    (first && l.shares(&value, dst)).then_some(Post::Sum(numbers, value.dtype()))
}

/// The operands of a dropout.
pub(super) fn dropped(l: &mut Lowering<'_>, op: &Op) -> Result<Dropped, Error> {
    let on_host = op.inputs[1..].iter().all(|lt| lt.property == Property::HostScalar);
    let number = |i: usize| -> Result<Value, Error> {
        let value = l.values.get(&op.inputs[i].id).cloned();
        let value = value.ok_or_else(|| Error::argument("dropout", "nothing", "a number that was computed before"))?;
        if on_host { Ok(value) } else { value.reshaped(&[1]) }
    };
    let numbers = [number(1)?, number(2)?, number(3)?];
    let mask = op.outputs.get(1).map(|lt| l.buffer(lt)).transpose()?;
    Ok(Dropped { numbers, mask, on_host })
}
