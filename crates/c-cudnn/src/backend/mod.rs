//! The backend interface: graphs of operations, engines, plans and their execution, by descriptors with attributes.
//!
//! `schema` describes every descriptor as data; `attributes` sets and gets by it; `finalize` checks; `graph` orders operations; `lower`
//! turns them into primitives, and `plan` runs these. Nothing here computes.

mod attributes;
mod engine;
mod finalize;
mod graph;
mod json;
mod lower;
mod object;
mod pack;
mod plan;
mod program;
mod schema;
mod tensor;
mod trial;

use crate::enums::*;
use crate::handle::Handle;
use crate::host_runtime::{Sink, emptied};
use crate::pointers::{Data, In, Out};
use crate::status::{Failure, Status, guard};
use attributes::Asked;
use object::Body;
use pack::Pack;
use plan::Plan;
use std::sync::Arc;

/// `cudnnBackendCreateDescriptor`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnBackendCreateDescriptor(descriptor_type: i32, descriptor: Out<'_, Data>) -> Status {
    guard("cudnnBackendCreateDescriptor", || {
        if descriptor.is_null() {
            return Err(Failure::null("descriptor"));
        }
        descriptor.set("descriptor", object::create(descriptor_type)?)
    })
}

/// `cudnnBackendDestroyDescriptor`: null is allowed. Descriptors that have it as an attribute keep it.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnBackendDestroyDescriptor(descriptor: Data) -> Status {
    guard("cudnnBackendDestroyDescriptor", || object::destroy(descriptor))
}

/// `cudnnBackendInitialize`: descriptors are initialised when they are created.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnBackendInitialize(descriptor: Data) -> Status {
    guard("cudnnBackendInitialize", || object::find("descriptor", descriptor).map(drop))
}

/// `cudnnBackendFinalize`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnBackendFinalize(descriptor: Data) -> Status {
    guard("cudnnBackendFinalize", || {
        let object = object::find("descriptor", descriptor)?;
        finalize::finalize(&object).map_err(|e| e.within(object.descriptor.name))
    })
}

/// `cudnnBackendSetAttribute`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnBackendSetAttribute(descriptor: Data, name: i32, kind: i32, count: i64, elements: Data) -> Status {
    guard("cudnnBackendSetAttribute", || {
        let object = object::find("descriptor", descriptor)?;
        attributes::set(&object, Asked { name, kind, count }, elements).map_err(|e| e.within(object.descriptor.name))
    })
}

/// `cudnnBackendGetAttribute`.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "cuDNN's interface")]
pub extern "C" fn cudnnBackendGetAttribute(
    descriptor: Data,
    name: i32,
    kind: i32,
    requested: i64,
    count: Out<'_, i64>,
    elements: Data,
) -> Status {
    guard("cudnnBackendGetAttribute", || {
        let object = object::find("descriptor", descriptor)?;
        attributes::get(&object, Asked { name, kind, count: requested }, count, elements).map_err(|e| e.within(object.descriptor.name))
    })
}

/// The plan and the variant pack of two handles.
fn bound(plan: Data, pack: Data) -> Result<(Arc<Plan>, Arc<Pack>), Failure> {
    let wrong = |name: &str| {
        let what = format_args!("{name}: got a descriptor of another type");
        Failure::new(CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE, what)
    };
    let plan = match &object::find("executionPlan", plan)?.frozen()?.body {
        Body::Plan(plan) => plan.clone(),
        _ => return Err(wrong("executionPlan")),
    };
    let pack = match &object::find("variantPack", pack)?.frozen()?.body {
        Body::Pack(pack) => pack.clone(),
        _ => return Err(wrong("variantPack")),
    };
    Ok((plan, pack))
}

/// `cudnnGetExecutionPlanWorkspaceSize`: for the sizes in the variant pack.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetExecutionPlanWorkspaceSize(handle: In<'_, Handle>, plan: Data, pack: Data, bytes: Out<'_, usize>) -> Status {
    guard("cudnnGetExecutionPlanWorkspaceSize", || {
        handle.get("handle")?;
        let (plan, pack) = bound(plan, pack)?;
        bytes.set("workspaceSizeInBytes", plan.program(&pack)?.workspace() as usize)
    })
}

/// `cudnnBackendExecute`: any number of threads may execute one plan at once.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnBackendExecute(handle: In<'_, Handle>, plan: Data, pack: Data) -> Status {
    guard("cudnnBackendExecute", || {
        let handle = handle.get("handle")?;
        let (plan, pack) = bound(plan, pack)?;
        plan.run(handle, Sink::of(handle), &pack)
    })
}

/// Adds a plan's execution to a graph of the host's runtime.
fn populate(handle: In<'_, Handle>, plan: Data, pack: Data, graph: Data) -> Result<(), Failure> {
    let handle = handle.get("handle")?;
    let (plan, pack) = bound(plan, pack)?;
    graph.some("graph")?;
    if !handle.engine().host_visible() {
        let what = "the CUDA engine makes no nodes of graphs: capture cudnnBackendExecute on the handle's stream";
        return Err(Failure::new(CUDNN_STATUS_NOT_SUPPORTED_CUDA_GRAPH_NATIVE_API, what));
    }
    plan.run(handle, emptied(graph)?, &pack)
}

/// `cudnnBackendPopulateCudaGraph`: only with the host's CUDA runtime (`c-cudart`).
#[unsafe(no_mangle)]
pub extern "C" fn cudnnBackendPopulateCudaGraph(handle: In<'_, Handle>, plan: Data, pack: Data, graph: Data) -> Status {
    guard("cudnnBackendPopulateCudaGraph", || populate(handle, plan, pack, graph))
}

/// `cudnnBackendUpdateCudaGraph`: populates the graph anew.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnBackendUpdateCudaGraph(handle: In<'_, Handle>, plan: Data, pack: Data, graph: Data) -> Status {
    guard("cudnnBackendUpdateCudaGraph", || populate(handle, plan, pack, graph))
}
