//! Dropout. The states are a seed and a count of executions, so that a copy of them continues as the original would.

use crate::exec::{Blend, Job, Place};
use crate::handle::Handle;
use crate::loops::view::host;
use crate::pointers::{self, Data, In, InOut, New, Out, Owned};
use crate::status::{Failure, Status, guard};
use crate::tensor::TensorDesc;
use oxidnn_runtime::Memory;
use oxidnn_spec::op::{Binary, BinaryAlg, Eltwise, EltwiseAlg, Prop};
use oxidnn_spec::{Arg, Attr, DataType, Dropout, Tensor};

/// The object behind a `cudnnDropoutDescriptor_t`.
#[derive(Clone, Copy, Debug)]
pub struct DropoutDesc {
    /// The probability of dropping an element.
    pub(crate) probability: f32,
    states: Data,
    seed: u64,
}

impl Owned for DropoutDesc {}

impl Default for DropoutDesc {
    fn default() -> DropoutDesc {
        DropoutDesc { probability: 0.0, states: Data::NULL, seed: 0 }
    }
}

/// The states in the caller's memory.
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct States {
    magic: u64,
    seed: u64,
    /// Executions since the seed was set.
    drawn: u64,
    reserved: u64,
}

/// A magic number at the beginning of states, to detect foreign ones.
const MAGIC: u64 = u64::from_le_bytes(*b"oxidrop1");

impl DropoutDesc {
    /// Takes a new part of the stream of random numbers: returns the seed and the offset of the part.
    ///
    /// # Errors
    /// `BAD_PARAM` if there are no states, or these are not ours.
    pub(crate) fn draw(&self, handle: &Handle) -> Result<(i64, i64), Failure> {
        host(handle)?;
        let states: States = self.states.some("the dropout descriptor's states")?.read("states")?;
        if states.magic != MAGIC {
            return Err(Failure::invalid("states", "bytes that cudnnSetDropoutDescriptor did not write", "its states, or a copy of them"));
        }
        self.states.write("states", States { drawn: states.drawn.wrapping_add(1), ..states })?;
        Ok((states.seed as i64, (states.drawn << 32) as i64))
    }

    /// Drops elements of `tensor` at `x`, writes the others, scaled, to `y`, and a byte per element to `mask`.
    ///
    /// # Errors
    /// As [`DropoutDesc::draw`], and of the execution.
    pub(crate) fn apply(&self, handle: &Handle, tensor: &Tensor, places: [Data; 3]) -> Result<(), Failure> {
        self.apply_to(handle, [tensor, tensor], places)
    }

    fn apply_to(&self, handle: &Handle, [src, dst]: [&Tensor; 2], [x, y, mask]: [Data; 3]) -> Result<(), Failure> {
        let (seed, offset) = self.draw(handle)?;
        let dropout = Dropout { mask: Some(mask_of(dst)), seed_dtype: DataType::S64, use_offset: true, use_host_scalars: true };
        let op = Eltwise::forward(Prop::ForwardTraining, EltwiseAlg::Linear, [1.0, 0.0], src.clone(), dst.clone());
        let job = Job::new(op).attr(Attr { dropout: Some(dropout), ..Attr::default() }).arg(Arg::SRC, x).arg(Arg::DST, y);
        let job = job.arg(Arg::DROPOUT_MASK, mask).arg(Arg::DROPOUT_SEED, Memory::host_scalar(seed)?);
        let job = job.arg(Arg::DROPOUT_OFFSET, Memory::host_scalar(offset)?);
        job.arg(Arg::DROPOUT_PROBABILITY, Memory::host_scalar(self.probability)?).run(handle)
    }

    /// The gradient `dx` of the source of [`DropoutDesc::apply`], from that of its result.
    ///
    /// # Errors
    /// Of the execution.
    pub(crate) fn revert(&self, handle: &Handle, tensor: &Tensor, places: [Data; 3]) -> Result<(), Failure> {
        self.revert_to(handle, [tensor, tensor], places)
    }

    fn revert_to(&self, handle: &Handle, [given, wanted]: [&Tensor; 2], [dy, dx, mask]: [Data; 3]) -> Result<(), Failure> {
        let share = 1.0 - f64::from(self.probability);
        let factor = if share > 0.0 { 1.0 / share } else { 0.0 };
        let (mut kept, mut at) = (mask_of(given), Place::from(mask));
        if given.dtype == DataType::F64 {
            // An f64 product takes f64 operands only.
            let copy = handle.temporary(given)?;
            handle.combine((&kept, at), (given, copy.view(given.clone())?.into()), Blend::PLAIN)?;
            (kept, at) = (given.clone(), copy.into());
        }
        let op = Binary { alg: BinaryAlg::Mul, src0: given.clone(), src1: kept, src2: None, dst: wanted.clone() };
        let job = Job::new(op).arg(Arg::SRC, dy).arg(Arg::SRC_1, at).arg(Arg::DST, dx);
        job.blend(Blend { alpha: factor, beta: 0.0 }.rounded(wanted.dtype)).run(handle)
    }
}

/// `cudnnCreateDropoutDescriptor`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnCreateDropoutDescriptor(desc: New<'_, DropoutDesc>) -> Status {
    guard("cudnnCreateDropoutDescriptor", || desc.own("dropoutDesc", || Ok(DropoutDesc::default())))
}

/// `cudnnDestroyDropoutDescriptor`: the states are the caller's.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnDestroyDropoutDescriptor(desc: pointers::Handle<DropoutDesc>) -> Status {
    guard("cudnnDestroyDropoutDescriptor", || {
        desc.destroy();
        Ok(())
    })
}

/// `cudnnDropoutGetStatesSize`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnDropoutGetStatesSize(handle: In<'_, Handle>, size: Out<'_, usize>) -> Status {
    guard("cudnnDropoutGetStatesSize", || {
        handle.get("handle")?;
        size.set("sizeInBytes", size_of::<States>())
    })
}

/// Bytes of the mask of a tensor.
fn mask_bytes(tensor: &Tensor) -> usize {
    mask_of(tensor).bytes()
}

/// A byte for every element, in the layout of `tensor`.
fn mask_of(tensor: &Tensor) -> Tensor {
    Tensor { dtype: DataType::U8, layout: tensor.layout.clone() }
}

/// `cudnnDropoutGetReserveSpaceSize`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnDropoutGetReserveSpaceSize(x_desc: In<'_, TensorDesc>, size: Out<'_, usize>) -> Status {
    guard("cudnnDropoutGetReserveSpaceSize", || size.set("sizeInBytes", mask_bytes(x_desc.tensor("xdesc")?)))
}

fn probability(dropout: f32) -> Result<f32, Failure> {
    match (0.0..=1.0).contains(&dropout) {
        true => Ok(dropout),
        false => Err(Failure::invalid("dropout", dropout, "a probability from 0 to 1")),
    }
}

fn room(states: Data, bytes: usize) -> Result<(), Failure> {
    match states.is_null() || bytes >= size_of::<States>() {
        true => Ok(()),
        false => Err(Failure::small("stateSizeInBytes", bytes, size_of::<States>())),
    }
}

/// `cudnnSetDropoutDescriptor`: with null states, changes the probability only.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnSetDropoutDescriptor(
    desc: InOut<'_, DropoutDesc>,
    handle: In<'_, Handle>,
    dropout: f32,
    states: Data,
    bytes: usize,
    seed: u64,
) -> Status {
    guard("cudnnSetDropoutDescriptor", || {
        let (desc, handle) = (desc.get("dropoutDesc")?, handle.get("handle")?);
        let probability = probability(dropout)?;
        room(states, bytes)?;
        if !states.is_null() {
            host(handle)?;
            states.write("states", States { magic: MAGIC, seed, drawn: 0, reserved: 0 })?;
            *desc = DropoutDesc { probability, states, seed };
        }
        desc.probability = probability;
        Ok(())
    })
}

/// `cudnnRestoreDropoutDescriptor`: uses existing states, which may be a copy, unchanged.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnRestoreDropoutDescriptor(
    desc: InOut<'_, DropoutDesc>,
    handle: In<'_, Handle>,
    dropout: f32,
    states: Data,
    bytes: usize,
    seed: u64,
) -> Status {
    guard("cudnnRestoreDropoutDescriptor", || {
        let desc = desc.get("dropoutDesc")?;
        handle.get("handle")?;
        let probability = probability(dropout)?;
        if bytes < size_of::<States>() {
            return Err(Failure::small("stateSizeInBytes", bytes, size_of::<States>()));
        }
        *desc = DropoutDesc { probability, states: states.some("states")?, seed };
        Ok(())
    })
}

/// `cudnnGetDropoutDescriptor`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetDropoutDescriptor(
    desc: In<'_, DropoutDesc>,
    handle: In<'_, Handle>,
    dropout: Out<'_, f32>,
    states: Out<'_, Data>,
    seed: Out<'_, u64>,
) -> Status {
    guard("cudnnGetDropoutDescriptor", || {
        let desc = desc.get("dropoutDesc")?;
        handle.get("handle")?;
        dropout.set_optional(desc.probability);
        states.set_optional(desc.states);
        seed.set_optional(desc.seed);
        Ok(())
    })
}

/// `cudnnDropoutForward`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnDropoutForward(
    handle: In<'_, Handle>,
    desc: In<'_, DropoutDesc>,
    x_desc: In<'_, TensorDesc>,
    x: Data,
    y_desc: In<'_, TensorDesc>,
    y: Data,
    reserve: Data,
    reserve_bytes: usize,
) -> Status {
    guard("cudnnDropoutForward", || {
        let (handle, desc) = (handle.get("handle")?, desc.get("dropoutDesc")?);
        let (src, dst) = (x_desc.tensor("xdesc")?, y_desc.tensor("ydesc")?);
        if reserve_bytes < mask_bytes(dst) {
            return Err(Failure::small("reserveSpaceSizeInBytes", reserve_bytes, mask_bytes(dst)));
        }
        desc.apply_to(handle, [src, dst], [x.some("x")?, y.some("y")?, reserve.some("reserveSpace")?])
    })
}

/// `cudnnDropoutBackward`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnDropoutBackward(
    handle: In<'_, Handle>,
    desc: In<'_, DropoutDesc>,
    dy_desc: In<'_, TensorDesc>,
    dy: Data,
    dx_desc: In<'_, TensorDesc>,
    dx: Data,
    reserve: Data,
    reserve_bytes: usize,
) -> Status {
    guard("cudnnDropoutBackward", || {
        let (handle, desc) = (handle.get("handle")?, desc.get("dropoutDesc")?);
        let (given, wanted) = (dy_desc.tensor("dydesc")?, dx_desc.tensor("dxdesc")?);
        if reserve_bytes < mask_bytes(given) {
            return Err(Failure::small("reserveSpaceSizeInBytes", reserve_bytes, mask_bytes(given)));
        }
        desc.revert_to(handle, [given, wanted], [dy.some("dy")?, dx.some("dx")?, reserve.some("reserveSpace")?])
    })
}
