//! The functions of the three passes.

use super::algorithms::How;
use super::perf::{AlgoPerf, List, count, measured, measured_apart, predicted};
use super::request::{Pass, Places, Request, Settings};
use super::{ConvDesc, bias};
use crate::activation::ActivationDesc;
use crate::exec::{Blend, Workspace, factor};
use crate::filter::FilterDesc;
use crate::handle::Handle;
use crate::pointers::{ArrayMut, Data, In, Out};
use crate::status::{Failure, Status, guard};
use crate::steps::{remembered, stamp};
use crate::tensor::{TensorDesc, factor_bits};

/// The request of a pass.
fn request(
    pass: Pass,
    src: In<'_, TensorDesc>,
    filter: In<'_, FilterDesc>,
    dst: In<'_, TensorDesc>,
    conv: In<'_, ConvDesc>,
) -> Result<Request, Failure> {
    let names = match pass {
        Pass::Forward => ["xDesc", "wDesc", "yDesc"],
        Pass::Data => ["dxDesc", "wDesc", "dyDesc"],
        Pass::Filter => ["xDesc", "dwDesc", "dyDesc"],
    };
    Request::new(pass, [src.tensor(names[0])?, dst.tensor(names[2])?], filter.filter(names[1])?, conv.get("convDesc")?)
}

/// An executing call; descriptors and memory of source, filter and destination.
struct Call<'a> {
    function: &'static str,
    pass: Pass,
    handle: In<'a, Handle>,
    tensors: (In<'a, TensorDesc>, In<'a, FilterDesc>, In<'a, TensorDesc>),
    conv: In<'a, ConvDesc>,
    places: [Data; 3],
    algo: i32,
    workspace: (Data, usize),
    scaling: [Data; 2],
}

/// Runs a pass, by the recorded steps of an earlier equal call if there is one.
fn run(call: &Call<'_>) -> Result<(), Failure> {
    let Call { function, pass, handle, tensors: (src, filter, dst), conv, places: [x, w, y], algo, .. } = *call;
    let (data, bytes) = call.workspace;
    let [alpha, beta] = call.scaling.map(|factor| factor_bits(factor, dst));
    let words = [stamp(src), stamp(filter), stamp(conv), stamp(dst), algo as u64, bytes as u64, alpha, beta];
    remembered(handle, function, words, [x, w, y, data], || {
        let request = request(pass, src, filter, dst, conv)?;
        let handle = handle.get("handle")?;
        let how: How = request.how(algo)?;
        let places = Places { src: x.some("the source")?, weights: w.some("the filter")?, dst: y.some("the destination")? };
        let blend = Blend::read(call.scaling[0], call.scaling[1], request.dtype())?;
        request.run(handle, places, Settings { how, workspace: Workspace { data, bytes }, blend }, Ok)
    })
}

/// `cudnnGetConvolutionForwardAlgorithmMaxCount`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetConvolutionForwardAlgorithmMaxCount(handle: In<'_, Handle>, number: Out<'_, i32>) -> Status {
    guard("cudnnGetConvolutionForwardAlgorithmMaxCount", || {
        handle.get("handle")?;
        number.set("count", count(Pass::Forward))
    })
}

/// `cudnnGetConvolutionForwardAlgorithm_v7`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetConvolutionForwardAlgorithm_v7(
    handle: In<'_, Handle>,
    x_desc: In<'_, TensorDesc>,
    w_desc: In<'_, FilterDesc>,
    conv: In<'_, ConvDesc>,
    y_desc: In<'_, TensorDesc>,
    requested: i32,
    returned: Out<'_, i32>,
    results: ArrayMut<'_, AlgoPerf>,
) -> Status {
    guard("cudnnGetConvolutionForwardAlgorithm_v7", || {
        let request = request(Pass::Forward, x_desc, w_desc, y_desc, conv)?;
        predicted(&request, handle.get("handle")?.engine(), List { requested, returned, results })
    })
}

/// `cudnnFindConvolutionForwardAlgorithm`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnFindConvolutionForwardAlgorithm(
    handle: In<'_, Handle>,
    x_desc: In<'_, TensorDesc>,
    w_desc: In<'_, FilterDesc>,
    conv: In<'_, ConvDesc>,
    y_desc: In<'_, TensorDesc>,
    requested: i32,
    returned: Out<'_, i32>,
    results: ArrayMut<'_, AlgoPerf>,
) -> Status {
    guard("cudnnFindConvolutionForwardAlgorithm", || {
        let request = request(Pass::Forward, x_desc, w_desc, y_desc, conv)?;
        measured_apart(&request, handle.get("handle")?, List { requested, returned, results })
    })
}

/// `cudnnFindConvolutionForwardAlgorithmEx`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnFindConvolutionForwardAlgorithmEx(
    handle: In<'_, Handle>,
    x_desc: In<'_, TensorDesc>,
    x: Data,
    w_desc: In<'_, FilterDesc>,
    w: Data,
    conv: In<'_, ConvDesc>,
    y_desc: In<'_, TensorDesc>,
    y: Data,
    requested: i32,
    returned: Out<'_, i32>,
    results: ArrayMut<'_, AlgoPerf>,
    workspace: Data,
    workspace_bytes: usize,
) -> Status {
    guard("cudnnFindConvolutionForwardAlgorithmEx", || {
        let request = request(Pass::Forward, x_desc, w_desc, y_desc, conv)?;
        let places = Places { src: x.some("x")?, weights: w.some("w")?, dst: y.some("y")? };
        let workspace = Workspace { data: workspace, bytes: workspace_bytes };
        measured(&request, handle.get("handle")?, (places, workspace), List { requested, returned, results })
    })
}

/// `cudnnGetConvolutionForwardWorkspaceSize`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetConvolutionForwardWorkspaceSize(
    handle: In<'_, Handle>,
    x_desc: In<'_, TensorDesc>,
    w_desc: In<'_, FilterDesc>,
    conv: In<'_, ConvDesc>,
    y_desc: In<'_, TensorDesc>,
    algo: i32,
    size: Out<'_, usize>,
) -> Status {
    guard("cudnnGetConvolutionForwardWorkspaceSize", || {
        let request = request(Pass::Forward, x_desc, w_desc, y_desc, conv)?;
        size.set("sizeInBytes", request.workspace(handle.get("handle")?.engine(), request.how(algo)?)?)
    })
}

/// `cudnnConvolutionForward`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnConvolutionForward(
    handle: In<'_, Handle>,
    alpha: Data,
    x_desc: In<'_, TensorDesc>,
    x: Data,
    w_desc: In<'_, FilterDesc>,
    w: Data,
    conv: In<'_, ConvDesc>,
    algo: i32,
    workspace: Data,
    workspace_bytes: usize,
    beta: Data,
    y_desc: In<'_, TensorDesc>,
    y: Data,
) -> Status {
    guard("cudnnConvolutionForward", || {
        run(&Call {
            function: "cudnnConvolutionForward",
            pass: Pass::Forward,
            handle,
            tensors: (x_desc, w_desc, y_desc),
            conv,
            places: [x, w, y],
            algo,
            workspace: (workspace, workspace_bytes),
            scaling: [alpha, beta],
        })
    })
}

/// `cudnnGetConvolutionBackwardDataAlgorithmMaxCount`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetConvolutionBackwardDataAlgorithmMaxCount(handle: In<'_, Handle>, number: Out<'_, i32>) -> Status {
    guard("cudnnGetConvolutionBackwardDataAlgorithmMaxCount", || {
        handle.get("handle")?;
        number.set("count", count(Pass::Data))
    })
}

/// `cudnnGetConvolutionBackwardDataAlgorithm_v7`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetConvolutionBackwardDataAlgorithm_v7(
    handle: In<'_, Handle>,
    w_desc: In<'_, FilterDesc>,
    dy_desc: In<'_, TensorDesc>,
    conv: In<'_, ConvDesc>,
    dx_desc: In<'_, TensorDesc>,
    requested: i32,
    returned: Out<'_, i32>,
    results: ArrayMut<'_, AlgoPerf>,
) -> Status {
    guard("cudnnGetConvolutionBackwardDataAlgorithm_v7", || {
        let request = request(Pass::Data, dx_desc, w_desc, dy_desc, conv)?;
        predicted(&request, handle.get("handle")?.engine(), List { requested, returned, results })
    })
}

/// `cudnnFindConvolutionBackwardDataAlgorithm`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnFindConvolutionBackwardDataAlgorithm(
    handle: In<'_, Handle>,
    w_desc: In<'_, FilterDesc>,
    dy_desc: In<'_, TensorDesc>,
    conv: In<'_, ConvDesc>,
    dx_desc: In<'_, TensorDesc>,
    requested: i32,
    returned: Out<'_, i32>,
    results: ArrayMut<'_, AlgoPerf>,
) -> Status {
    guard("cudnnFindConvolutionBackwardDataAlgorithm", || {
        let request = request(Pass::Data, dx_desc, w_desc, dy_desc, conv)?;
        measured_apart(&request, handle.get("handle")?, List { requested, returned, results })
    })
}

/// `cudnnFindConvolutionBackwardDataAlgorithmEx`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnFindConvolutionBackwardDataAlgorithmEx(
    handle: In<'_, Handle>,
    w_desc: In<'_, FilterDesc>,
    w: Data,
    dy_desc: In<'_, TensorDesc>,
    dy: Data,
    conv: In<'_, ConvDesc>,
    dx_desc: In<'_, TensorDesc>,
    dx: Data,
    requested: i32,
    returned: Out<'_, i32>,
    results: ArrayMut<'_, AlgoPerf>,
    workspace: Data,
    workspace_bytes: usize,
) -> Status {
    guard("cudnnFindConvolutionBackwardDataAlgorithmEx", || {
        let request = request(Pass::Data, dx_desc, w_desc, dy_desc, conv)?;
        let places = Places { src: dx.some("dx")?, weights: w.some("w")?, dst: dy.some("dy")? };
        let workspace = Workspace { data: workspace, bytes: workspace_bytes };
        measured(&request, handle.get("handle")?, (places, workspace), List { requested, returned, results })
    })
}

/// `cudnnGetConvolutionBackwardDataWorkspaceSize`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetConvolutionBackwardDataWorkspaceSize(
    handle: In<'_, Handle>,
    w_desc: In<'_, FilterDesc>,
    dy_desc: In<'_, TensorDesc>,
    conv: In<'_, ConvDesc>,
    dx_desc: In<'_, TensorDesc>,
    algo: i32,
    size: Out<'_, usize>,
) -> Status {
    guard("cudnnGetConvolutionBackwardDataWorkspaceSize", || {
        let request = request(Pass::Data, dx_desc, w_desc, dy_desc, conv)?;
        size.set("sizeInBytes", request.workspace(handle.get("handle")?.engine(), request.how(algo)?)?)
    })
}

/// `cudnnConvolutionBackwardData`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnConvolutionBackwardData(
    handle: In<'_, Handle>,
    alpha: Data,
    w_desc: In<'_, FilterDesc>,
    w: Data,
    dy_desc: In<'_, TensorDesc>,
    dy: Data,
    conv: In<'_, ConvDesc>,
    algo: i32,
    workspace: Data,
    workspace_bytes: usize,
    beta: Data,
    dx_desc: In<'_, TensorDesc>,
    dx: Data,
) -> Status {
    guard("cudnnConvolutionBackwardData", || {
        run(&Call {
            function: "cudnnConvolutionBackwardData",
            pass: Pass::Data,
            handle,
            tensors: (dx_desc, w_desc, dy_desc),
            conv,
            places: [dx, w, dy],
            algo,
            workspace: (workspace, workspace_bytes),
            scaling: [alpha, beta],
        })
    })
}

/// `cudnnGetConvolutionBackwardFilterAlgorithmMaxCount`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetConvolutionBackwardFilterAlgorithmMaxCount(handle: In<'_, Handle>, number: Out<'_, i32>) -> Status {
    guard("cudnnGetConvolutionBackwardFilterAlgorithmMaxCount", || {
        handle.get("handle")?;
        number.set("count", count(Pass::Filter))
    })
}

/// `cudnnGetConvolutionBackwardFilterAlgorithm_v7`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetConvolutionBackwardFilterAlgorithm_v7(
    handle: In<'_, Handle>,
    x_desc: In<'_, TensorDesc>,
    dy_desc: In<'_, TensorDesc>,
    conv: In<'_, ConvDesc>,
    dw_desc: In<'_, FilterDesc>,
    requested: i32,
    returned: Out<'_, i32>,
    results: ArrayMut<'_, AlgoPerf>,
) -> Status {
    guard("cudnnGetConvolutionBackwardFilterAlgorithm_v7", || {
        let request = request(Pass::Filter, x_desc, dw_desc, dy_desc, conv)?;
        predicted(&request, handle.get("handle")?.engine(), List { requested, returned, results })
    })
}

/// `cudnnFindConvolutionBackwardFilterAlgorithm`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnFindConvolutionBackwardFilterAlgorithm(
    handle: In<'_, Handle>,
    x_desc: In<'_, TensorDesc>,
    dy_desc: In<'_, TensorDesc>,
    conv: In<'_, ConvDesc>,
    dw_desc: In<'_, FilterDesc>,
    requested: i32,
    returned: Out<'_, i32>,
    results: ArrayMut<'_, AlgoPerf>,
) -> Status {
    guard("cudnnFindConvolutionBackwardFilterAlgorithm", || {
        let request = request(Pass::Filter, x_desc, dw_desc, dy_desc, conv)?;
        measured_apart(&request, handle.get("handle")?, List { requested, returned, results })
    })
}

/// `cudnnFindConvolutionBackwardFilterAlgorithmEx`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnFindConvolutionBackwardFilterAlgorithmEx(
    handle: In<'_, Handle>,
    x_desc: In<'_, TensorDesc>,
    x: Data,
    dy_desc: In<'_, TensorDesc>,
    dy: Data,
    conv: In<'_, ConvDesc>,
    dw_desc: In<'_, FilterDesc>,
    dw: Data,
    requested: i32,
    returned: Out<'_, i32>,
    results: ArrayMut<'_, AlgoPerf>,
    workspace: Data,
    workspace_bytes: usize,
) -> Status {
    guard("cudnnFindConvolutionBackwardFilterAlgorithmEx", || {
        let request = request(Pass::Filter, x_desc, dw_desc, dy_desc, conv)?;
        let places = Places { src: x.some("x")?, weights: dw.some("dw")?, dst: dy.some("dy")? };
        let workspace = Workspace { data: workspace, bytes: workspace_bytes };
        measured(&request, handle.get("handle")?, (places, workspace), List { requested, returned, results })
    })
}

/// `cudnnGetConvolutionBackwardFilterWorkspaceSize`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetConvolutionBackwardFilterWorkspaceSize(
    handle: In<'_, Handle>,
    x_desc: In<'_, TensorDesc>,
    dy_desc: In<'_, TensorDesc>,
    conv: In<'_, ConvDesc>,
    dw_desc: In<'_, FilterDesc>,
    algo: i32,
    size: Out<'_, usize>,
) -> Status {
    guard("cudnnGetConvolutionBackwardFilterWorkspaceSize", || {
        let request = request(Pass::Filter, x_desc, dw_desc, dy_desc, conv)?;
        size.set("sizeInBytes", request.workspace(handle.get("handle")?.engine(), request.how(algo)?)?)
    })
}

/// `cudnnConvolutionBackwardFilter`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnConvolutionBackwardFilter(
    handle: In<'_, Handle>,
    alpha: Data,
    x_desc: In<'_, TensorDesc>,
    x: Data,
    dy_desc: In<'_, TensorDesc>,
    dy: Data,
    conv: In<'_, ConvDesc>,
    algo: i32,
    workspace: Data,
    workspace_bytes: usize,
    beta: Data,
    dw_desc: In<'_, FilterDesc>,
    dw: Data,
) -> Status {
    guard("cudnnConvolutionBackwardFilter", || {
        run(&Call {
            function: "cudnnConvolutionBackwardFilter",
            pass: Pass::Filter,
            handle,
            tensors: (x_desc, dw_desc, dy_desc),
            conv,
            places: [x, dw, dy],
            algo,
            workspace: (workspace, workspace_bytes),
            scaling: [alpha, beta],
        })
    })
}

/// `cudnnConvolutionBiasActivationForward`: `y = act(alpha1 * conv(x) + alpha2 * z + bias)`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnConvolutionBiasActivationForward(
    handle: In<'_, Handle>,
    alpha1: Data,
    x_desc: In<'_, TensorDesc>,
    x: Data,
    w_desc: In<'_, FilterDesc>,
    w: Data,
    conv: In<'_, ConvDesc>,
    algo: i32,
    workspace: Data,
    workspace_bytes: usize,
    alpha2: Data,
    z_desc: In<'_, TensorDesc>,
    z: Data,
    bias_desc: In<'_, TensorDesc>,
    bias: Data,
    activation: In<'_, ActivationDesc>,
    y_desc: In<'_, TensorDesc>,
    y: Data,
) -> Status {
    guard("cudnnConvolutionBiasActivationForward", || {
        let words = [
            stamp(x_desc),
            stamp(w_desc),
            stamp(conv),
            stamp(z_desc),
            stamp(bias_desc),
            stamp(activation),
            stamp(y_desc),
            algo as u64,
            workspace_bytes as u64,
            factor_bits(alpha1, y_desc),
            factor_bits(alpha2, y_desc),
        ];
        remembered(handle, "cudnnConvolutionBiasActivationForward", words, [x, w, z, bias, y, workspace], || {
            let request = request(Pass::Forward, x_desc, w_desc, y_desc, conv)?;
            let handle = handle.get("handle")?;
            let (dst, how) = (y_desc.tensor("yDesc")?, request.how(algo)?);
            let alpha2 = factor("alpha2", alpha2, dst.dtype)?;
            let second = if alpha2 == 0.0 { None } else { Some((z_desc.tensor("zDesc")?, z.some("z")?, alpha2)) };
            let finish = bias::Finish {
                alpha: factor("alpha1", alpha1, dst.dtype)?,
                second,
                bias: (bias_desc.tensor("biasDesc")?, bias.some("bias")?),
                activation: activation.get("activationDesc")?,
                dst: (dst, y.some("y")?),
            };
            let places = Places { src: x.some("x")?, weights: w.some("w")?, dst: y };
            let settings = Settings { how, workspace: Workspace { data: workspace, bytes: workspace_bytes }, blend: Blend::PLAIN };
            finish.run(handle, &request, places, settings)
        })
    })
}
