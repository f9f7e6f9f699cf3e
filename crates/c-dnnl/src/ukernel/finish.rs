//! The epilogue of a product: scales, post-ops, conversion. One binary primitive multiplies the sums by the scales of `B` (or by 1); the
//! scale of `A`, the caller's post-ops, and the division by the scale of `D` are its post-ops.

use super::attr_params::AttrParams;
use super::{inline, rows};
use crate::engine;
use crate::handle::{Data, memory_over};
use crate::stack;
use crate::status::Failure;
use oxidnn_runtime::{Memory, Primitive, PrimitiveDesc};
use oxidnn_spec::op::{Binary, BinaryAlg};
use oxidnn_spec::{Arg, Attr, DataType, PostOp, Problem, Tensor};

/// The request.
#[derive(Clone, Debug, Default)]
pub(super) struct Request {
    /// Leading dimension and type of `D`.
    pub(super) d: Option<(i64, DataType)>,
    pub(super) post_ops: Vec<PostOp>,
    /// Masks of the scales of `A`, `B` and `D`.
    pub(super) a_scales: Option<i32>,
    pub(super) b_scales: Option<i32>,
    pub(super) d_scales: Option<i32>,
}

impl Request {
    /// Whether accumulators of the type need an epilogue.
    pub(super) fn is_wanted(&self, sums: DataType) -> bool {
        let scaled = [self.a_scales, self.b_scales, self.d_scales].iter().any(Option::is_some);
        scaled || !self.post_ops.is_empty() || self.d.is_some_and(|(_, dtype)| dtype != sums)
    }
}

/// The primitive for a request, and the meaning of its arguments.
#[derive(Debug)]
pub(super) struct Finish {
    desc: PrimitiveDesc,
    primitive: Option<Primitive>,
    /// Arguments with the scales of `A` and `D`, and those of the caller's binary post-ops.
    a_scales: Option<Arg>,
    d_scales: Option<Arg>,
    operands: Vec<Arg>,
    /// Whether [`Arg::SRC_1`] holds the scales of `B`.
    b_scales: bool,
}

impl Finish {
    /// For contiguous sums of `[m, n]`.
    pub(super) fn new(request: &Request, [m, n]: [i64; 2], sums: DataType) -> Result<Finish, Failure> {
        let (ldd, dtype) = request.d.unwrap_or((n, sums));
        let one = Tensor::plain([1, 1], DataType::F32)?;
        let scale = if request.b_scales == Some(2) { Tensor::plain([1, n], DataType::F32)? } else { one.clone() };
        let (mut chain, mut operands) = (Vec::new(), Vec::new());
        let by = |alg: BinaryAlg| PostOp::Binary { alg, src1: one.clone(), src2: None };
        let a_scales = request.a_scales.map(|_| Arg::post_op(0, Arg::SRC_1));
        chain.extend(a_scales.map(|_| by(BinaryAlg::Mul)));
        for post_op in &request.post_ops {
            if matches!(post_op, PostOp::Binary { .. }) {
                operands.push(Arg::post_op(chain.len(), Arg::SRC_1));
            }
            chain.push(post_op.clone());
        }
        let d_scales = request.d_scales.map(|_| Arg::post_op(chain.len(), Arg::SRC_1));
        chain.extend(d_scales.map(|_| by(BinaryAlg::Div)));
        let op = Binary { alg: BinaryAlg::Mul, src0: rows([m, n], n, sums)?, src1: scale, src2: None, dst: rows([m, n], ldd, dtype)? };
        let problem = Problem::new(op, Attr { post_ops: chain, ..Attr::default() })?;
        let desc = stack::deep(|| PrimitiveDesc::new(&engine::host(), problem))?;
        Ok(Finish { desc, primitive: None, a_scales, d_scales, operands, b_scales: request.b_scales.is_some() })
    }

    /// Creates the primitive.
    pub(super) fn generate(&mut self) -> Result<(), Failure> {
        self.primitive = Some(stack::deep(|| self.desc.create())?);
        Ok(())
    }

    /// Applies the epilogue to `sums` and stores to `d`.
    pub(super) fn run(&self, sums: Data, d: Data, params: &AttrParams) -> Result<(), Failure> {
        let primitive =
            self.primitive.as_ref().ok_or_else(|| Failure::invalid("brgemm", "one without code", "one after dnnl_brgemm_generate"))?;
        let mut places = vec![(Arg::SRC, sums), (Arg::DST, d)];
        let given = |name: &str, data: Option<Data>| data.ok_or_else(|| Failure::null(name));
        if self.b_scales {
            places.push((Arg::SRC_1, given("B_scales", params.b_scales)?));
        }
        for (arg, name, data) in [(self.a_scales, "A_scales", params.a_scales), (self.d_scales, "D_scales", params.d_scales)] {
            if let Some(arg) = arg {
                places.push((arg, given(name, data)?));
            }
        }
        if !self.operands.is_empty() {
            let addresses = given("post_ops_args", params.post_ops)?.addresses("post_ops_args", self.operands.len())?;
            places.extend(self.operands.iter().copied().zip(addresses.iter().copied()));
        }
        let engine = self.desc.engine();
        let mut memories = Vec::with_capacity(places.len() + 1);
        for (arg, data) in places {
            memories.push((arg, memory_over(engine, self.tensor(arg)?, &[data])?));
        }
        if !self.b_scales {
            memories.push((Arg::SRC_1, Memory::from_slice(engine, self.tensor(Arg::SRC_1)?, &[1f32])?));
        }
        let args: Vec<(Arg, &Memory<'_>)> = memories.iter().map(|(arg, memory)| (*arg, memory)).collect();
        Ok(primitive.execute(inline()?, &args)?)
    }

    fn tensor(&self, arg: Arg) -> Result<Tensor, Failure> {
        self.desc.tensor(arg).cloned().ok_or_else(|| Failure::invalid(arg, "an argument without a description", "one of the post-ops"))
    }
}
