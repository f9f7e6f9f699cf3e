//! Arithmetic over tensors as problems, for lowering operations.

use super::value::{Spot, Val};
use super::{Draft, Lowering, misfit, unsupported};
use crate::nan;
use crate::status::Failure;
use oxidnn_runtime::Memory;
use oxidnn_spec::op::{Binary, BinaryAlg, Eltwise, EltwiseAlg, Matmul, Prop, Reduction, ReductionAlg};
use oxidnn_spec::{Arg, Attr, DataType, Dims, Op, PostOp, Problem, Real, Tensor, Use};

/// Types that binary operations support, besides f64, which does not mix with others.
const TAKEN: [DataType; 6] = [DataType::F32, DataType::Bf16, DataType::F16, DataType::S32, DataType::S8, DataType::U8];

/// The post-ops of a result before it is stored.
#[derive(Clone, Copy)]
pub(super) enum Then<'a> {
    One(EltwiseAlg, [f32; 2]),
    Two(BinaryAlg, &'a Val),
}

/// Elements of the longest constant.
const LONGEST: i64 = 1 << 26;

/// The broadcast sizes of two tensors.
fn joined(a: &Dims, b: &Dims) -> Result<Dims, Failure> {
    let fits = a.len() == b.len() && a.iter().zip(b.iter()).all(|(&x, &y)| x == y || x == 1 || y == 1);
    if !fits {
        return Err(misfit("tensors", format_args!("{a} and {b}"), "equal sizes, or 1"));
    }
    Ok(Dims::from_fn(a.len(), |d| if a[d] == 1 { b[d] } else { a[d] }))
}

impl Lowering<'_> {
    /// A constant of the program, row-major.
    pub(super) fn constant(&mut self, tensor: Tensor, value: impl FnMut(usize) -> f64) -> Result<Val, Failure> {
        if tensor.layout.elements().is_none_or(|n| n > LONGEST) {
            return Err(unsupported(format_args!("a dimension of more than {LONGEST} indices that are numbers")));
        }
        let memory = Memory::new(self.engine, tensor.clone())?;
        memory.write_with(value)?;
        self.constants.push(memory);
        Ok(Val { spot: Spot::Constant(self.constants.len() - 1), tensor })
    }

    /// A number by its bytes.
    pub(super) fn constant_bytes(&mut self, tensor: Tensor, bytes: &[u8]) -> Result<Val, Failure> {
        let memory = Memory::new(self.engine, tensor.clone())?;
        memory.write_raw(0, &bytes[..bytes.len().min(tensor.bytes())])?;
        self.constants.push(memory);
        Ok(Val { spot: Spot::Constant(self.constants.len() - 1), tensor })
    }

    /// A number in the type that is computed in.
    pub(super) fn number(&mut self, value: f64) -> Result<Val, Failure> {
        let key = (value.to_bits(), self.real);
        if let Some(known) = self.scalars.get(&key) {
            return Ok(known.clone());
        }
        let made = self.constant(Tensor::plain([1], self.real)?, |_| value)?;
        self.scalars.insert(key, made.clone());
        Ok(made)
    }

    /// The numbers 0, 1, 2... along dimension `d` of `rank`.
    pub(super) fn ramp(&mut self, rank: usize, d: usize, size: i64) -> Result<Val, Failure> {
        let dims = Dims::from_fn(rank, |i| if i == d { size } else { 1 });
        self.constant(Tensor::plain(dims, self.real)?, |i| i as f64)
    }

    /// Memory for a result of `dims` in the compute type.
    pub(super) fn room(&mut self, dims: Dims) -> Result<Val, Failure> {
        Ok(self.temp(Tensor::plain(dims, self.real)?))
    }

    /// The value in another type: itself, or a dense copy.
    pub(super) fn cast(&mut self, value: &Val, dtype: DataType) -> Result<Val, Failure> {
        if value.dtype() == dtype {
            return Ok(value.clone());
        }
        let layout = value.tensor.layout.resized(*value.dims());
        let copy = self.temp(Tensor { dtype, layout });
        self.reorder(value, &copy)?;
        Ok(copy)
    }

    /// The value in the compute type.
    pub(super) fn real(&mut self, value: &Val) -> Result<Val, Failure> {
        self.cast(value, self.real)
    }

    /// The value in a type that binary operations support.
    fn operand(&mut self, value: &Val) -> Result<Val, Failure> {
        let taken = if self.real == DataType::F64 { value.dtype() == DataType::F64 } else { TAKEN.contains(&value.dtype()) };
        if taken { Ok(value.clone()) } else { self.real(value) }
    }

    /// `alg(a, b)`, sizes of 1 broadcast.
    pub(super) fn two(&mut self, alg: BinaryAlg, a: &Val, b: &Val) -> Result<Val, Failure> {
        self.chained(alg, a, b, &[])
    }

    /// `alg(a, b)`, sizes of 1 broadcast, and post-ops, in one step.
    pub(super) fn chained(&mut self, alg: BinaryAlg, a: &Val, b: &Val, then: &[Then<'_>]) -> Result<Val, Failure> {
        let rank = a.rank().max(b.rank());
        let (a, b) = (self.operand(&a.at_rank(rank)?)?, self.operand(&b.at_rank(rank)?)?);
        let dst = self.room(joined(a.dims(), b.dims())?)?;
        let (attr, others) = self.behind(then, rank)?;
        let problem = Binary { alg, src0: a.tensor.clone(), src1: b.tensor.clone(), src2: None, dst: dst.tensor.clone() };
        let mut args = vec![(Arg::SRC, &a), (Arg::SRC_1, &b), (Arg::DST, &dst)];
        args.extend(others.iter().map(|(arg, v)| (*arg, v)));
        self.step_with(problem, attr, &args)?;
        Ok(dst)
    }

    /// Attributes with post-ops for a result of `rank` dimensions, and their operands.
    pub(super) fn behind(&mut self, then: &[Then<'_>], rank: usize) -> Result<(Attr, Vec<(Arg, Val)>), Failure> {
        let (mut attr, mut others) = (self.attr(), Vec::new());
        for step in then {
            match *step {
                Then::One(alg, [alpha, beta]) => {
                    attr.post_ops.push(PostOp::Eltwise { alg, alpha: Real::new(alpha), beta: Real::new(beta) });
                }
                Then::Two(alg, other) => {
                    let other = self.operand(&other.at_rank(rank)?)?;
                    attr.post_ops.push(PostOp::Binary { alg, src1: other.tensor.clone(), src2: None });
                    others.push((Arg::post_op(attr.post_ops.len() - 1, Arg::SRC_1), other));
                }
            }
        }
        Ok((attr, others))
    }

    /// 0 for numbers, NaN for NaN.
    pub(super) fn carrier(&mut self, a: &Val) -> Result<Val, Failure> {
        self.chained(BinaryAlg::Ne, a, a, &nan::CARRIES.map(|(alg, parameters)| Then::One(alg, parameters)))
    }

    pub(super) fn add(&mut self, a: &Val, b: &Val) -> Result<Val, Failure> {
        self.two(BinaryAlg::Add, a, b)
    }

    pub(super) fn sub(&mut self, a: &Val, b: &Val) -> Result<Val, Failure> {
        self.two(BinaryAlg::Sub, a, b)
    }

    pub(super) fn mul(&mut self, a: &Val, b: &Val) -> Result<Val, Failure> {
        self.two(BinaryAlg::Mul, a, b)
    }

    pub(super) fn div(&mut self, a: &Val, b: &Val) -> Result<Val, Failure> {
        self.two(BinaryAlg::Div, a, b)
    }

    /// `alg(a, number)`.
    pub(super) fn with_number(&mut self, alg: BinaryAlg, a: &Val, number: f64) -> Result<Val, Failure> {
        let b = self.number(number)?;
        self.two(alg, a, &b)
    }

    /// `a * number`; itself where that is 1.
    pub(super) fn scaled(&mut self, a: &Val, number: f64) -> Result<Val, Failure> {
        if number == 1.0 { Ok(a.clone()) } else { self.with_number(BinaryAlg::Mul, a, number) }
    }

    /// `alg(a)` with its parameters.
    pub(super) fn one(&mut self, alg: EltwiseAlg, parameters: [f32; 2], a: &Val) -> Result<Val, Failure> {
        let a = self.real(a)?;
        let dst = self.room(*a.dims())?;
        let problem = Eltwise::forward(Prop::ForwardInference, alg, parameters, a.tensor.clone(), dst.tensor.clone());
        self.step(problem, &[(Arg::SRC, &a), (Arg::DST, &dst)])?;
        Ok(dst)
    }

    /// `a` to the power of a number.
    pub(super) fn power(&mut self, a: &Val, exponent: f32) -> Result<Val, Failure> {
        self.one(EltwiseAlg::Pow, [1.0, exponent], a)
    }

    /// Booleans as bytes, for `select`.
    fn truth(&mut self, condition: &Val) -> Result<Val, Failure> {
        if matches!(condition.dtype(), DataType::S8 | DataType::U8) {
            return Ok(condition.typed(DataType::S8));
        }
        let real = self.with_number(BinaryAlg::Ne, condition, 0.0)?;
        self.cast(&real, DataType::S8)
    }

    /// `condition != 0 ? a : b`, sizes of 1 broadcast.
    pub(super) fn select(&mut self, condition: &Val, a: &Val, b: &Val) -> Result<Val, Failure> {
        let rank = condition.rank().max(a.rank()).max(b.rank());
        let condition = self.truth(&condition.at_rank(rank)?)?;
        let (a, b) = (self.operand(&a.at_rank(rank)?)?, self.operand(&b.at_rank(rank)?)?);
        let dims = joined(&joined(a.dims(), b.dims())?, condition.dims())?;
        let (a, dst) = (a.spread(&dims)?, self.room(dims)?);
        let src2 = condition.spread(&dims)?;
        let problem = Binary {
            alg: BinaryAlg::Select,
            src0: a.tensor.clone(),
            src1: b.tensor.clone(),
            src2: Some(src2.tensor.clone()),
            dst: dst.tensor.clone(),
        };
        self.step(problem, &[(Arg::SRC, &a), (Arg::SRC_1, &b), (Arg::SRC_2, &src2), (Arg::DST, &dst)])?;
        Ok(dst)
    }

    /// `condition != 0 ? a : number`.
    pub(super) fn select_or(&mut self, condition: &Val, a: &Val, number: f64) -> Result<Val, Failure> {
        let b = self.number(number)?;
        self.select(condition, a, &b)
    }

    /// The value reduced over the dimensions that are 1 in `dims`.
    pub(super) fn reduced(&mut self, alg: ReductionAlg, a: &Val, dims: &[i64]) -> Result<Val, Failure> {
        let a = self.operand(a)?;
        if a.dims()[..] == *dims {
            return self.real(&a);
        }
        let to = Dims::new(dims).ok_or_else(|| misfit("reduction", a.dims(), "at most 12 dimensions"))?;
        let dst = self.room(to)?;
        let problem = Reduction { alg, src: a.tensor.clone(), dst: dst.tensor.clone(), p: Real::new(2.0), eps: Real::new(0.0) };
        self.step(problem, &[(Arg::SRC, &a), (Arg::DST, &dst)])?;
        Ok(dst)
    }

    /// The value with other sizes: a view if the layout allows it, else a row-major copy.
    pub(super) fn reshaped(&mut self, value: &Val, dims: &[i64]) -> Result<Val, Failure> {
        if let Some(view) = value.viewed(dims) {
            return Ok(view);
        }
        let copy = self.temp(Tensor::plain(*value.dims(), value.dtype())?);
        self.reorder(value, &copy)?;
        Ok(copy.with(copy.tensor.layout.reshape(dims)?))
    }

    /// The batched matrix product of `a` and `b` in the compute type. Batch sizes are equal or one is 1; the innermost of them may also divide the other
    /// (grouped-query attention).
    pub(super) fn product(&mut self, a: &Val, b: &Val) -> Result<Val, Failure> {
        let rank = a.rank().max(b.rank());
        let (a, b) = (a.at_rank(rank)?, b.at_rank(rank)?);
        let (a, b) = self.grouped(&a, &b)?;
        let n = a.rank();
        let dims = Dims::from_fn(n, |d| match d {
            _ if d == n - 1 => b.dims()[d],
            _ if d == n - 2 => a.dims()[d],
            _ => a.dims()[d].max(b.dims()[d]),
        });
        let dst = self.room(dims)?;
        let problem = |a: &Val, b: &Val| Matmul { src: a.tensor.clone(), weights: b.tensor.clone(), bias: None, dst: dst.tensor.clone() };
        let attr = self.attr();
        let (a, b) = match Problem::new(problem(&a, &b), attr) {
            Ok(_) => (a, b),
            Err(_) => (self.real(&a)?, self.real(&b)?),
        };
        self.step(problem(&a, &b), &[(Arg::SRC, &a), (Arg::WEIGHTS, &b), (Arg::DST, &dst)])?;
        let heads: Vec<i64> = match n - rank {
            0 => return Ok(dst),
            _ => dst.dims().to_vec(),
        };
        // Merge the two dimensions into which `grouped` split the heads.
        let mut whole = heads;
        let split = rank - 3;
        let group = whole.remove(split + 1);
        whole[split] *= group;
        self.reshaped(&dst, &whole)
    }

    /// If one operand has several heads for each head of the other, splits heads into two dimensions, the second of which is then broadcast.
    fn grouped(&mut self, a: &Val, b: &Val) -> Result<(Val, Val), Failure> {
        let rank = a.rank();
        let Some(d) = rank.checked_sub(3) else { return Ok((a.clone(), b.clone())) };
        let (x, y) = (a.dims()[d], b.dims()[d]);
        if x == y || x == 1 || y == 1 || x.max(y) % x.min(y) != 0 {
            return Ok((a.clone(), b.clone()));
        }
        let groups = x.min(y);
        let mut split = |v: &Val| {
            let mut dims = v.dims().to_vec();
            let each = dims[d] / groups;
            dims[d] = groups;
            dims.insert(d + 1, each);
            self.reshaped(v, &dims)
        };
        Ok((split(a)?, split(b)?))
    }

    /// Writes the value to an output: by the step that has just computed it, if possible, otherwise by a copy.
    pub(super) fn store(&mut self, value: &Val, output: &Val) -> Result<(), Failure> {
        let value = value.spread(output.dims())?;
        if value.spot == output.spot && value.tensor == output.tensor || self.retarget(&value, output) {
            return Ok(());
        }
        self.reorder(&value, output)
    }

    /// Lets the last step write to `output` instead of `value`, if it can.
    fn retarget(&mut self, value: &Val, output: &Val) -> bool {
        let Some(last) = self.steps.last() else { return false };
        let written = last.bindings.iter().find(|(arg, usage, v)| *usage == Use::Out && *arg != Arg::SCRATCHPAD && v.spot == value.spot);
        let Some((arg, _, v)) = written else { return false };
        let temporary = matches!(value.spot, Spot::Temp(_)) && !self.values.values().any(|v| v.spot == value.spot);
        let alone = last.bindings.iter().all(|(_, usage, v)| v.spot != output.spot && (*usage == Use::Out || v.spot != value.spot));
        if !temporary
            || !alone
            || v.tensor != value.tensor
            || last.bindings.iter().filter(|b| b.1 == Use::Out && b.0 != Arg::SCRATCHPAD).count() != 1
        {
            return false;
        }
        let arg = *arg;
        let Problem { mut op, attr } = last.primitive.desc().given().clone();
        if matches!(op, Op::Reorder(_)) && value.dtype() != output.dtype() {
            return false;
        }
        let Some(slot) = op.tensor_mut(arg) else { return false };
        *slot = output.tensor.clone();
        let Some(desc) = Problem::new(op, attr).ok().and_then(|p| self.described_by(p).ok()) else { return false };
        let inputs_stay = last.bindings.iter().filter(|b| b.1 == Use::In).all(|b| desc.tensor(b.0) == Some(&b.2.tensor));
        if !inputs_stay || desc.tensor(arg) != Some(&output.tensor) {
            return false;
        }
        let Ok(primitive) = desc.create() else { return false };
        let mut bindings: Vec<_> = last.bindings.iter().filter(|b| b.1 == Use::In).cloned().collect();
        bindings.push((arg, Use::Out, output.clone()));
        let epsilon = self.steps.pop().and_then(|draft| draft.epsilon);
        if let Some(scratchpad) = desc.scratchpad().filter(|t| !t.is_empty()) {
            let room = self.temp(scratchpad.clone());
            bindings.push((Arg::SCRATCHPAD, Use::Out, room));
        }
        self.steps.push(Draft { primitive, bindings, epsilon });
        true
    }
}
