//! [`Problem`]: an operation with its attributes, validated once; its execution arguments; and the resolution of `any`.

use crate::check;
use crate::op::{Op, Operand, Use, example};
use crate::{Arg, Attr, DataType, Dims, Error, Format, Layout, PostOp, Quant, QuantMode, RUNTIME, Rounding, Tensor};

/// A problem: an operation with its attributes. The cache key, the verbose line and the repro line are this one value.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Problem {
    /// The operation.
    pub op: Op,
    /// Its attributes.
    pub attr: Attr,
}

impl Problem {
    /// The only validation: checks every rule of the specification that does not depend on an engine, and fills in the tensors that follow
    /// from others if they were left out (statistics, scale and shift of the normalisations and their gradients; weights, bias and
    /// destination of a depthwise post-op; factors of a resampling). Workspaces are always the library's own.
    ///
    /// # Errors
    /// [`Error::InvalidArguments`] that names the argument, what it got and what it needs. Legal problems without an implementation are
    /// accepted here; the implementations refuse them.
    pub fn new(op: impl Into<Op>, attr: Attr) -> Result<Problem, Error> {
        let mut problem = Problem { op: op.into(), attr };
        match problem.prepare() {
            Ok(()) => Ok(problem),
            Err(e) if problem.is_writable() => Err(e.with_problem(&problem)),
            Err(e) => Err(e),
        }
    }

    /// True when the lists of every layout have the ranks they should, so that a line can be written.
    fn is_writable(&self) -> bool {
        let binary = self.attr.post_ops.iter().flat_map(|p| match p {
            PostOp::Binary { src1, src2, .. } => [Some(src1), src2.as_ref()],
            _ => [None, None],
        });
        let mask = self.attr.dropout.as_ref().and_then(|d| d.mask.as_ref());
        let op = self.op.operands().into_iter().map(|o| o.tensor);
        op.chain(binary.flatten()).chain(mask).all(|t| t.layout.lists_agree())
    }

    fn prepare(&mut self) -> Result<(), Error> {
        check::layouts(&self.op)?;
        self.op.derive(&self.attr);
        check::layouts(&self.op)?;
        self.op.check()?;
        check::attr::check(self)
    }

    /// Every execution argument but the scratchpad: the operation's, then scales, zero points, precomputed reductions, operands of
    /// post-ops, the arguments of dropout (mask, seed, offset, probability), and the seed of stochastic rounding.
    pub fn operands(&self) -> Vec<Operand<Tensor>> {
        let own = self.op.operands();
        // A scratchpad may follow.
        let others = self.attr.scales.len() + 2 * (self.attr.zero_points.len() + self.attr.post_ops.len()) + 5;
        let mut all: Vec<Operand<Tensor>> = Vec::with_capacity(own.len() + others);
        all.extend(own.into_iter().map(|o| o.map(Tensor::clone)));
        self.quant_operands(&mut all);
        self.post_op_operands(&mut all);
        self.random_operands(&mut all);
        all
    }

    /// The tensor that comes as `arg`, attributes included.
    pub fn tensor(&self, arg: Arg) -> Option<Tensor> {
        match self.op.tensor(arg) {
            Some(t) => Some(t.clone()),
            None => self.operands().into_iter().find(|o| o.arg == arg).map(|o| o.tensor),
        }
    }

    /// The problems of the example sizes that the attributes name for open sizes: the first example of each, the second, and so on, with
    /// everything else unchanged. Combinations of sizes that contradict each other are left out.
    pub fn examples(&self) -> Vec<Problem> {
        let count = self.attr.dynamic.first().map_or(0, |d| d.examples.len());
        let example = |i: usize| {
            let mut op = self.op.clone();
            for changing in &self.attr.dynamic {
                let tensor = op.tensor_mut(changing.arg)?;
                let mut dims = *tensor.dims();
                *dims.get_mut(changing.dim)? = *changing.examples.get(i)?;
                tensor.layout = tensor.layout.resized(dims);
            }
            Problem::new(op, self.attr.clone()).ok()
        };
        (0..count).filter_map(example).collect()
    }

    /// The problem with example values for open sizes: sizes that fit each other, for the decisions that are made at description.
    ///
    /// # Errors
    /// [`Error::InvalidArguments`] where no such sizes are found.
    pub fn example(&self) -> Result<Problem, Error> {
        let mut fixed = Dims::default();
        if let Some(result) = self.op.result().filter(|_| !self.attr.post_ops.is_empty()) {
            fixed = Dims::filled(result.dims().len(), RUNTIME);
            for post_op in &self.attr.post_ops {
                let PostOp::Binary { src1, .. } = post_op else { continue };
                fixed.iter_mut().zip(src1.dims().iter()).filter(|(f, d)| **f == RUNTIME && **d != 1).for_each(|(f, d)| *f = *d);
            }
        }
        Problem::new(example::of(&self.op, &fixed), self.attr.clone())
    }

    /// Description of the array of numbers that `quant` of argument `of` stands for: dims by [`Quant::dims`], row-major.
    pub fn quant_tensor(&self, of: Arg, quant: &Quant) -> Option<Tensor> {
        if quant.on_host {
            return Some(Tensor::host_scalar(quant.dtype));
        }
        Tensor::plain(quant.dims(self.op.quantised(of)?.dims()), quant.dtype).ok()
    }

    fn quant_operands(&self, all: &mut Vec<Operand<Tensor>>) {
        let scales = self.attr.scales.iter().map(|(&of, q)| (Arg::scale(of), of, q));
        let zero_points = self.attr.zero_points.iter().map(|(&of, q)| (Arg::zero_point(of), of, q));
        let reductions = self.attr.precomputed_reductions.iter().map(|(&of, q)| (Arg::precomputed(of), of, q));
        for (arg, of, quant) in scales.chain(zero_points).chain(reductions) {
            let usage = if quant.mode == QuantMode::Static { Use::In } else { Use::Out };
            all.extend(self.quant_tensor(of, quant).map(|tensor| Operand { arg, usage, tensor }));
        }
    }

    fn post_op_operands(&self, all: &mut Vec<Operand<Tensor>>) {
        for (i, post_op) in self.attr.post_ops.iter().enumerate() {
            let mut put = |of: Arg, tensor: Tensor| all.push(Operand { arg: Arg::post_op(i, of), usage: Use::In, tensor });
            match post_op {
                PostOp::Binary { src1, src2, .. } => {
                    put(Arg::SRC_1, src1.clone());
                    if let Some(src2) = src2 {
                        put(Arg::SRC_2, src2.clone());
                    }
                }
                PostOp::Prelu { mask } => {
                    if let Some(weights) = self.op.result().and_then(|dst| PostOp::slopes(*mask, dst.dims())) {
                        put(Arg::WEIGHTS, weights);
                    }
                }
                _ => {}
            }
        }
    }

    fn random_operands(&self, all: &mut Vec<Operand<Tensor>>) {
        let number = |dtype, on_host| {
            let layout = if on_host { Some(Layout::host_scalar()) } else { Layout::plain(Dims::from([1])).ok() };
            layout.map(|layout| Tensor { dtype, layout })
        };
        let mut put = |arg, usage, tensor: Option<Tensor>| all.extend(tensor.map(|tensor| Operand { arg, usage, tensor }));
        if let Some(d) = &self.attr.dropout {
            put(Arg::DROPOUT_MASK, Use::Out, d.mask.clone());
            put(Arg::DROPOUT_SEED, Use::In, number(d.seed_dtype, d.use_host_scalars));
            if d.use_offset {
                put(Arg::DROPOUT_OFFSET, Use::In, number(DataType::S64, d.use_host_scalars));
            }
            put(Arg::DROPOUT_PROBABILITY, Use::In, number(DataType::F32, d.use_host_scalars));
        }
        if self.attr.rounding.values().any(|&r| r == Rounding::Stochastic) {
            put(Arg::ROUNDING_SEED, Use::In, number(DataType::S32, false));
        }
    }

    /// Makes every layout that is still `any` concrete. Data tensors, the workspace of pooling and slopes take the order and blocks of the
    /// operation's first concrete data tensor if both have the same number of dimensions (blocks only if the blocked sizes agree too);
    /// gradients of weights take those of the weights. Other weights, and all tensors of products, recurrent networks and attention, become
    /// row-major. A dropout mask and its destination take one layout. A concatenation keeps the blocks of a source if every part begins at
    /// a multiple of them, else the order of the largest source. The operands of a binary post-op take the order and blocks of the result,
    /// because kernels read them beside their sums.
    pub fn resolve(&mut self) {
        let mask = self.attr.dropout.as_ref().and_then(|d| d.mask.as_ref()).map(|m| m.layout.clone());
        if let (Some(mask), Some(dst)) = (mask, self.op.tensor_mut(Arg::DST))
            && dst.layout.is_any()
        {
            dst.layout = mask;
        }
        if let Op::Concat(concat) = &mut self.op
            && concat.dst.layout.is_any()
            && let Some(layout) = concat.favoured()
        {
            concat.dst.layout = layout;
        }
        let leader = self.op.follows().then(|| self.leader()).flatten();
        // Slopes have the dimensions of the source, or one position of these.
        let slopes = if let Op::Prelu(_) = self.op { leader.clone() } else { None };
        let weights = self.op.tensor(Arg::WEIGHTS).filter(|t| self.op.follows() && t.blocking().is_some()).map(|t| t.layout.clone());
        let weights = weights.or_else(|| slopes.clone());
        for o in self.op.operands_mut() {
            if o.tensor.layout.is_any() {
                let leader = match o.arg {
                    Arg::DIFF_WEIGHTS => weights.as_ref(),
                    Arg::WEIGHTS if slopes.is_some() => slopes.as_ref(),
                    _ => leader.as_ref().filter(|_| o.arg.is_data() || o.arg == Arg::WORKSPACE),
                };
                o.tensor.layout.resolve_like(leader);
            }
            o.tensor.layout.resolve_packed();
        }
        let result = self.op.result().map(|t| t.layout.clone());
        if let Some(mask) = self.attr.dropout.as_mut().and_then(|d| d.mask.as_mut()).filter(|m| m.layout.is_any()) {
            match result.as_ref().filter(|r| r.dims == *mask.dims()) {
                Some(r) => mask.layout = r.clone(),
                None => mask.layout.resolve_like(None),
            }
        }
        for p in &mut self.attr.post_ops {
            if let PostOp::Binary { src1, src2, .. } = p {
                for t in [Some(src1), src2.as_mut()].into_iter().flatten().filter(|t| t.layout.is_any()) {
                    let is_line = t.dims().iter().filter(|&&d| d != 1).count() < 2;
                    t.layout.resolve_like(result.as_ref().filter(|_| !is_line));
                }
            }
        }
    }

    /// The first data tensor with a concrete layout.
    fn leader(&self) -> Option<Layout> {
        let blocked = |o: &Operand<&Tensor>| o.arg.is_data() && matches!(o.tensor.layout.format, Format::Blocked(_));
        self.op.operands().into_iter().find(blocked).map(|o| o.tensor.layout.clone())
    }
}

impl<T> Operand<T> {
    /// The same operand with another description.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Operand<U> {
        Operand { arg: self.arg, usage: self.usage, tensor: f(self.tensor) }
    }
}
