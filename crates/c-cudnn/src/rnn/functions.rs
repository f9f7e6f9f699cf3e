//! The functions that size, run and differentiate recurrent networks.

use super::data::RnnDataDesc;
use super::desc::RnnDesc;
use super::forward::{Call, Ends, layout};
use super::plan::Plan;
use crate::enums::*;
use crate::handle::Handle;
use crate::pointers::{Array, Data, In, InOut, Out};
use crate::status::{Failure, Status, guard};
use crate::tensor::TensorDesc;
use crate::values;
use oxidnn_runtime::{ALIGNMENT, Memory};
use oxidnn_spec::{Dims, Tensor};

/// The first aligned address in a reserve space.
fn aligned(reserve: Data) -> Data {
    reserve.behind(reserve.number().next_multiple_of(ALIGNMENT) - reserve.number())
}

impl Call<'_> {
    /// The caller's reserve space, if it is large enough.
    fn reserve_space(&self, (data, bytes): (Data, usize)) -> Result<Data, Failure> {
        match bytes >= self.reserve.bytes {
            true => Ok(aligned(data.some("reserveSpace")?)),
            false => Err(Failure::small("reserveSpaceSize", bytes, self.reserve.bytes)),
        }
    }

    /// Checks the descriptors of the states that are passed.
    fn check_states(&self, h: In<'_, TensorDesc>, c: In<'_, TensorDesc>, [has_h, has_c]: [bool; 2]) -> Result<(), Failure> {
        let network = self.network;
        for (name, desc, channels, there) in [("hDesc", h, network.projected, has_h), ("cDesc", c, network.hidden, has_c)] {
            if !there {
                continue;
            }
            let tensor = desc.tensor(name)?;
            let wanted = Dims::from([network.layers * network.directions(), self.plan.batch, channels]);
            let dense = tensor.layout == Tensor::plain(*tensor.dims(), tensor.dtype)?.layout;
            if tensor.layout.elements() != wanted.volume() || tensor.dims()[..3.min(tensor.dims().len())] != wanted[..] || !dense {
                return Err(Failure::shape(name, tensor.dims(), format_args!("{wanted}, dense")));
            }
            if tensor.dtype != self.x.dtype {
                return Err(Failure::shape(name, tensor.dtype, format_args!("{} as xDesc", self.x.dtype)));
            }
        }
        Ok(())
    }

    /// The weight space, if it is large enough.
    fn check_weights(&self, (data, bytes): (Data, usize), name: &str) -> Result<Data, Failure> {
        let need = weight_bytes(self.network)?;
        if bytes < need { Err(Failure::small("weightSpaceSize", bytes, need)) } else { data.some(name) }
    }
}

/// Size in bytes of the weight space.
fn weight_bytes(network: &super::desc::Network) -> Result<usize, Failure> {
    let numbers = usize::try_from(network.numbers()).unwrap_or(usize::MAX);
    network.dtype.bytes(numbers).ok_or_else(|| Failure::unsupported("a weight space of so many bytes"))
}

/// `cudnnBuildRNNDynamic`: there is nothing to build.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnBuildRNNDynamic(handle: In<'_, Handle>, rnn_desc: In<'_, RnnDesc>, mini_batch: i32) -> Status {
    guard("cudnnBuildRNNDynamic", || {
        handle.get("handle")?;
        rnn_desc.get("rnnDesc")?.network()?;
        match mini_batch > 0 {
            true => Ok(()),
            false => Err(Failure::invalid("miniBatch", mini_batch, "at least 1")),
        }
    })
}

/// `cudnnGetRNNTempSpaceSizes`: no workspace, because the library allocates temporary memory itself; for training, a reserve space for what
/// the backward pass needs.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetRNNTempSpaceSizes(
    handle: In<'_, Handle>,
    rnn_desc: In<'_, RnnDesc>,
    fwd_mode: i32,
    x_desc: In<'_, RnnDataDesc>,
    work_space_size: Out<'_, usize>,
    reserve_space_size: Out<'_, usize>,
) -> Status {
    guard("cudnnGetRNNTempSpaceSizes", || {
        let training = values::check("fwdMode", "cudnnForwardMode_t", fwd_mode)? == CUDNN_FWD_MODE_TRAINING;
        let network = rnn_desc.get("rnnDesc")?.computable()?;
        handle.get("handle")?;
        let x = x_desc.get("xDesc")?.sequences("xDesc")?;
        if x.channels != network.input {
            return Err(Failure::shape("xDesc", format_args!("vectors of {}", x.channels), network.input));
        }
        let plan = Plan::new(x)?;
        work_space_size.set_optional(0);
        reserve_space_size.set_optional(if training { layout(network, &plan)?.bytes } else { 0 });
        Ok(())
    })
}

/// `cudnnGetRNNWeightSpaceSize`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetRNNWeightSpaceSize(
    handle: In<'_, Handle>,
    rnn_desc: In<'_, RnnDesc>,
    weight_space_size: Out<'_, usize>,
) -> Status {
    guard("cudnnGetRNNWeightSpaceSize", || {
        handle.get("handle")?;
        weight_space_size.set("weightSpaceSize", weight_bytes(rnn_desc.get("rnnDesc")?.network()?)?)
    })
}

/// `cudnnGetRNNWeightParams`: matrices on the input, then on the state; index 8 is the projection.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetRNNWeightParams(
    handle: In<'_, Handle>,
    rnn_desc: In<'_, RnnDesc>,
    pseudo_layer: i32,
    weight_space_size: usize,
    weight_space: Data,
    lin_layer_id: i32,
    m_desc: InOut<'_, TensorDesc>,
    m_addr: Out<'_, Data>,
    b_desc: InOut<'_, TensorDesc>,
    b_addr: Out<'_, Data>,
) -> Status {
    guard("cudnnGetRNNWeightParams", || {
        handle.get("handle")?;
        let network = rnn_desc.get("rnnDesc")?.network()?;
        let (gates, number) = (network.gates(), i64::from(lin_layer_id));
        let projection = network.projects() && number == 8;
        if !projection && !(0..2 * gates).contains(&number) {
            return Err(Failure::invalid("linLayerID", number, format_args!("0 to {}", 2 * gates - 1)));
        }
        let pseudo = i64::from(pseudo_layer);
        if !(0..network.layers * network.directions()).contains(&pseudo) {
            return Err(Failure::invalid("pseudoLayer", pseudo, format_args!("0 to {}", network.layers * network.directions() - 1)));
        }
        if weight_space_size < weight_bytes(network)? {
            return Err(Failure::small("weightSpaceSize", weight_space_size, weight_bytes(network)?));
        }
        let (layer, direction) = (pseudo / network.directions(), pseudo % network.directions());
        let place = network.place(layer, direction);
        let skipped = number < gates && network.skips(layer);
        let (side, gate) = ((number / gates) as usize, number % gates);
        let channels = if side == 0 { network.inputs(layer) } else { network.projected };
        let (at, rows, columns) = match projection {
            true => (place.projection, network.projected, network.hidden),
            false => ([place.input, place.state][side] + gate * network.hidden * channels, network.hidden, channels),
        };
        let address = |at: i64| weight_space.behind(network.dtype.bytes(at as usize).unwrap_or(0));
        let number = network.number();
        if skipped {
            m_addr.set_optional(Data::NULL);
        } else {
            m_desc.get("mDesc")?.set(number, [1, rows, columns].into(), [rows * columns, columns, 1].into())?;
            m_addr.set_optional(address(at));
        }
        let bias = if projection { None } else { place.biases[side].map(|b| b + gate * network.hidden) };
        if let Some(at) = bias {
            b_desc.get("bDesc")?.set(number, [1, network.hidden, 1].into(), [network.hidden, 1, 1].into())?;
            b_addr.set_optional(address(at));
        } else {
            b_addr.set_optional(Data::NULL);
        }
        Ok(())
    })
}

/// `cudnnRNNForward`: ignores `devSeqLengths`; the descriptors contain the lengths.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnRNNForward(
    handle: In<'_, Handle>,
    rnn_desc: In<'_, RnnDesc>,
    fwd_mode: i32,
    _dev_seq_lengths: Array<'_, i32>,
    x_desc: In<'_, RnnDataDesc>,
    x: Data,
    y_desc: In<'_, RnnDataDesc>,
    y: Data,
    h_desc: In<'_, TensorDesc>,
    hx: Data,
    hy: Data,
    c_desc: In<'_, TensorDesc>,
    cx: Data,
    cy: Data,
    weight_space_size: usize,
    weight_space: Data,
    _work_space_size: usize,
    _work_space: Data,
    reserve_space_size: usize,
    reserve_space: Data,
) -> Status {
    guard("cudnnRNNForward", || {
        let training = values::check("fwdMode", "cudnnForwardMode_t", fwd_mode)? == CUDNN_FWD_MODE_TRAINING;
        let (handle, network) = (handle.get("handle")?, rnn_desc.get("rnnDesc")?.computable()?);
        let data = [x_desc.get("xDesc")?.sequences("xDesc")?, y_desc.get("yDesc")?.sequences("yDesc")?];
        let call = Call::new(handle, network, data)?;
        let lstm = network.cell == CUDNN_LSTM;
        call.check_states(h_desc, c_desc, [!hx.is_null() || !hy.is_null(), lstm && (!cx.is_null() || !cy.is_null())])?;
        let weights = call.check_weights((weight_space, weight_space_size), "weightSpace")?;
        let (leased, base) = match training {
            true => (None, call.reserve_space((reserve_space, reserve_space_size))?),
            false => {
                let memory = Memory::scratch(handle.engine(), call.reserve.bytes)?;
                let base = aligned(Data::of(&memory));
                (Some(memory), base)
            }
        };
        call.forward(base, training, weights, [x.some("x")?, y.some("y")?], Ends { hx, hy, cx, cy })?;
        call.finish(leased)
    })
}

/// `cudnnRNNBackwardData_v8`: also computes the gradients of the weights, for `cudnnRNNBackwardWeights_v8`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnRNNBackwardData_v8(
    handle: In<'_, Handle>,
    rnn_desc: In<'_, RnnDesc>,
    _dev_seq_lengths: Array<'_, i32>,
    y_desc: In<'_, RnnDataDesc>,
    _y: Data,
    dy: Data,
    x_desc: In<'_, RnnDataDesc>,
    dx: Data,
    h_desc: In<'_, TensorDesc>,
    _hx: Data,
    dhy: Data,
    dhx: Data,
    c_desc: In<'_, TensorDesc>,
    _cx: Data,
    dcy: Data,
    dcx: Data,
    weight_space_size: usize,
    weight_space: Data,
    _work_space_size: usize,
    _work_space: Data,
    reserve_space_size: usize,
    reserve_space: Data,
) -> Status {
    guard("cudnnRNNBackwardData_v8", || {
        let (handle, network) = (handle.get("handle")?, rnn_desc.get("rnnDesc")?.computable()?);
        let data = [x_desc.get("xDesc")?.sequences("xDesc")?, y_desc.get("yDesc")?.sequences("yDesc")?];
        let call = Call::new(handle, network, data)?;
        let lstm = network.cell == CUDNN_LSTM;
        call.check_states(h_desc, c_desc, [!dhx.is_null() || !dhy.is_null(), lstm && (!dcx.is_null() || !dcy.is_null())])?;
        let weights = call.check_weights((weight_space, weight_space_size), "weightSpace")?;
        let base = call.reserve_space((reserve_space, reserve_space_size))?;
        call.backward(base, weights, [dy.some("dy")?, dx.some("dx")?], Ends { hx: dhx, hy: dhy, cx: dcx, cy: dcy })
    })
}

/// `cudnnRNNBackwardWeights_v8`: returns the gradients that `cudnnRNNBackwardData_v8` computed.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnRNNBackwardWeights_v8(
    handle: In<'_, Handle>,
    rnn_desc: In<'_, RnnDesc>,
    add_grad: i32,
    _dev_seq_lengths: Array<'_, i32>,
    x_desc: In<'_, RnnDataDesc>,
    _x: Data,
    _h_desc: In<'_, TensorDesc>,
    _hx: Data,
    y_desc: In<'_, RnnDataDesc>,
    _y: Data,
    weight_space_size: usize,
    dweight_space: Data,
    _work_space_size: usize,
    _work_space: Data,
    reserve_space_size: usize,
    reserve_space: Data,
) -> Status {
    guard("cudnnRNNBackwardWeights_v8", || {
        let add = values::check("addGrad", "cudnnWgradMode_t", add_grad)? == CUDNN_WGRAD_MODE_ADD;
        let (handle, network) = (handle.get("handle")?, rnn_desc.get("rnnDesc")?.computable()?);
        let data = [x_desc.get("xDesc")?.sequences("xDesc")?, y_desc.get("yDesc")?.sequences("yDesc")?];
        let call = Call::new(handle, network, data)?;
        let to = call.check_weights((dweight_space, weight_space_size), "dweightSpace")?;
        let base = call.reserve_space((reserve_space, reserve_space_size))?;
        call.weight_gradients(base, to, add)
    })
}
