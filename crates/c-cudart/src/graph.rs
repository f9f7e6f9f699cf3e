//! CUDA graphs, from stream capture or built node by node. A launch runs the nodes in the order in which they were added, which respects their
//! dependencies.

use crate::error::{Error, guard};
use crate::memory::{self, Address};
use crate::pointers::Out;
use crate::stream::number;
use crate::work::{Capture, Stream, Work, disturbs_capture, end_capture, lock, settle_all, submit};
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::{Arc, Mutex};

/// A node: work, a child graph, or a user object.
#[derive(Clone)]
enum Node {
    Work(Work),
    Graph(usize),
    /// A user object that the graph retains; not a node in CUDA's sense.
    Kept(Work),
}

/// A graph's nodes with their handles.
type Nodes = Vec<(usize, Node)>;

/// Limit on the nesting of child graphs.
const DEEPEST: usize = 32;

static GRAPHS: Mutex<BTreeMap<usize, Nodes>> = Mutex::new(BTreeMap::new());
/// The work of each executable graph, with the handles of the nodes.
static INSTANCES: Mutex<BTreeMap<usize, Vec<(usize, Work)>>> = Mutex::new(BTreeMap::new());

/// Registers a graph under a new handle.
fn add(nodes: Nodes) -> Address {
    let made = number();
    lock(&GRAPHS).insert(made.addr(), nodes);
    made
}

/// The work of a graph; the work of a child graph has the handle of its node.
fn work(graphs: &BTreeMap<usize, Nodes>, graph: usize, depth: usize) -> Result<Vec<(usize, Work)>, Error> {
    let nodes = graphs.get(&graph).filter(|_| depth < DEEPEST).ok_or(Error::INVALID_VALUE)?;
    let mut all = Vec::new();
    for (number, node) in nodes {
        match node {
            Node::Work(work) | Node::Kept(work) => all.push((*number, work.clone())),
            Node::Graph(inner) => all.extend(work(graphs, *inner, depth + 1)?.into_iter().map(|(_, work)| (*number, work))),
        }
    }
    Ok(all)
}

/// The handles of a graph's nodes, each of which depends on the one before it.
fn chain(nodes: &Nodes) -> impl Iterator<Item = usize> + '_ {
    nodes.iter().filter(|(_, node)| !matches!(node, Node::Kept(_))).map(|(number, _)| *number)
}

/// Returns zero or one node to the caller: the count, and the node if `place` is not null.
fn tell(found: Option<usize>, place: Out<'_, Address>, count: Out<'_, usize>) -> Result<(), Error> {
    if let Some(number) = found {
        place.set_optional(std::ptr::null_mut::<u8>().wrapping_add(number).cast());
    }
    count.set(usize::from(found.is_some()))
}

/// Adds a node to a graph; returns its handle.
fn push(graph: Address, node: Node) -> Result<Address, Error> {
    let made = number();
    lock(&GRAPHS).get_mut(&graph.addr()).ok_or(Error::INVALID_VALUE)?.push((made.addr(), node));
    Ok(made)
}

/// `cudaStreamBeginCapture`.
#[unsafe(no_mangle)]
pub extern "C" fn cudaStreamBeginCapture(stream: Address, _mode: i32) -> Error {
    guard(|| {
        let stream = Stream::find(stream.addr())?.ok_or(Error::STREAM_CAPTURE_UNSUPPORTED)?;
        if stream.capture().is_some() {
            return Err(Error::INVALID_VALUE);
        }
        stream.join(Arc::<Capture>::default());
        Ok(())
    })
}

/// `cudaStreamEndCapture`.
#[unsafe(no_mangle)]
pub extern "C" fn cudaStreamEndCapture(stream: Address, graph: Out<'_, Address>) -> Error {
    guard(|| {
        let nodes = end_capture(stream.addr())?.into_iter().map(|work| (number().addr(), Node::Work(work)));
        graph.set(add(nodes.collect()))
    })
}

fn is_captured(stream: Address) -> Result<bool, Error> {
    Ok(Stream::find(stream.addr())?.is_some_and(|s| s.capture().is_some()))
}

/// `cudaStreamIsCapturing`.
#[unsafe(no_mangle)]
pub extern "C" fn cudaStreamIsCapturing(stream: Address, status: Out<'_, i32>) -> Error {
    guard(|| status.set(i32::from(is_captured(stream)?)))
}

/// `cudaStreamGetCaptureInfo` of CUDA 13: only the status; the graph is created when capture ends.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "CUDA's interface")]
pub extern "C" fn cudaStreamGetCaptureInfo(
    stream: Address,
    status: Out<'_, i32>,
    id: Out<'_, u64>,
    graph: Out<'_, Address>,
    dependencies: Out<'_, Address>,
    edges: Out<'_, Address>,
    count: Out<'_, usize>,
) -> Error {
    guard(|| {
        status.set(i32::from(is_captured(stream)?))?;
        id.set_optional(0);
        graph.set_optional(std::ptr::null_mut());
        dependencies.set_optional(std::ptr::null_mut());
        edges.set_optional(std::ptr::null_mut());
        count.set_optional(0);
        Ok(())
    })
}

/// `cudaThreadExchangeStreamCaptureMode`: no effect, all modes are the same here.
#[unsafe(no_mangle)]
pub extern "C" fn cudaThreadExchangeStreamCaptureMode(_mode: Address) -> Error {
    Error::SUCCESS
}

/// `cudaGraphCreate`.
#[unsafe(no_mangle)]
pub extern "C" fn cudaGraphCreate(graph: Out<'_, Address>, _flags: u32) -> Error {
    guard(|| graph.set(add(Vec::new())))
}

/// `cudaGraphDestroy`.
#[unsafe(no_mangle)]
pub extern "C" fn cudaGraphDestroy(graph: Address) -> Error {
    guard(|| {
        let gone = lock(&GRAPHS).remove(&graph.addr());
        gone.map(drop).ok_or(Error::INVALID_VALUE)
    })
}

/// `cudaGraphInstantiate`.
#[unsafe(no_mangle)]
pub extern "C" fn cudaGraphInstantiate(instance: Out<'_, Address>, graph: Address, _flags: u64) -> Error {
    guard(|| {
        let all = work(&lock(&GRAPHS), graph.addr(), 0)?;
        let made = number();
        lock(&INSTANCES).insert(made.addr(), all);
        instance.set(made)
    })
}

/// `cudaGraphLaunch`.
#[unsafe(no_mangle)]
pub extern "C" fn cudaGraphLaunch(instance: Address, stream: Address) -> Error {
    guard(|| {
        let all = lock(&INSTANCES).get(&instance.addr()).cloned().ok_or(Error::INVALID_VALUE)?;
        all.into_iter().try_for_each(|(_, work)| submit(stream.addr(), work))
    })
}

/// `cudaGraphExecDestroy`.
#[unsafe(no_mangle)]
pub extern "C" fn cudaGraphExecDestroy(instance: Address) -> Error {
    guard(|| {
        let done = settle_all();
        let gone = lock(&INSTANCES).remove(&instance.addr());
        gone.map(drop).ok_or(Error::INVALID_VALUE)?;
        done
    })
}

/// `cudaGraphExecUpdateResultInfo`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct UpdateInfo {
    result: i32,
    node: Address,
    from: Address,
}

/// `cudaGraphExecUpdate`: replaces the instance's work by the graph's.
#[unsafe(no_mangle)]
pub extern "C" fn cudaGraphExecUpdate(instance: Address, graph: Address, info: Out<'_, UpdateInfo>) -> Error {
    guard(|| {
        let all = work(&lock(&GRAPHS), graph.addr(), 0)?;
        let mut instances = lock(&INSTANCES);
        let gone = std::mem::replace(instances.get_mut(&instance.addr()).ok_or(Error::INVALID_VALUE)?, all);
        drop(instances);
        drop(gone);
        info.set_optional(UpdateInfo { result: 0, node: std::ptr::null_mut(), from: std::ptr::null_mut() });
        Ok(())
    })
}

/// `cudaGraphAddChildGraphNode`: adds a copy of the graph.
#[unsafe(no_mangle)]
pub extern "C" fn cudaGraphAddChildGraphNode(
    place: Out<'_, Address>,
    graph: Address,
    _dependencies: Address,
    _count: usize,
    child: Address,
) -> Error {
    guard(|| {
        let nodes = lock(&GRAPHS).get(&child.addr()).cloned().ok_or(Error::INVALID_VALUE)?;
        place.set(push(graph, Node::Graph(add(nodes).addr()))?)
    })
}

/// `cudaGraphChildGraphNodeGetGraph`.
#[unsafe(no_mangle)]
pub extern "C" fn cudaGraphChildGraphNodeGetGraph(node: Address, graph: Out<'_, Address>) -> Error {
    guard(|| {
        let graphs = lock(&GRAPHS);
        match graphs.values().flatten().find(|(number, _)| *number == node.addr()) {
            Some((_, Node::Graph(inner))) => graph.set(std::ptr::null_mut::<u8>().wrapping_add(*inner).cast()),
            _ => Err(Error::INVALID_VALUE),
        }
    })
}

/// `cudaGraphExecChildGraphNodeSetParams`: replaces the node's work in the instance by the graph's.
#[unsafe(no_mangle)]
pub extern "C" fn cudaGraphExecChildGraphNodeSetParams(instance: Address, node: Address, child: Address) -> Error {
    guard(|| {
        let new = work(&lock(&GRAPHS), child.addr(), 0)?;
        let mut instances = lock(&INSTANCES);
        let all = instances.get_mut(&instance.addr()).ok_or(Error::INVALID_VALUE)?;
        let at = all.iter().position(|(number, _)| *number == node.addr()).ok_or(Error::INVALID_VALUE)?;
        all.retain(|(number, _)| *number != node.addr());
        all.splice(at..at, new.into_iter().map(|(_, work)| (node.addr(), work)));
        Ok(())
    })
}

/// `cudaGraphGetNodes`: only the count.
#[unsafe(no_mangle)]
pub extern "C" fn cudaGraphGetNodes(graph: Address, places: Address, count: Out<'_, usize>) -> Error {
    guard(|| {
        let nodes = lock(&GRAPHS).get(&graph.addr()).map(|nodes| chain(nodes).count()).ok_or(Error::INVALID_VALUE)?;
        if places.is_null() { count.set(nodes) } else { Err(Error::NOT_SUPPORTED) }
    })
}

/// `cudaGraphGetRootNodes`: the first node, if there is one.
#[unsafe(no_mangle)]
pub extern "C" fn cudaGraphGetRootNodes(graph: Address, place: Out<'_, Address>, count: Out<'_, usize>) -> Error {
    guard(|| {
        let graphs = lock(&GRAPHS);
        tell(chain(graphs.get(&graph.addr()).ok_or(Error::INVALID_VALUE)?).next(), place, count)
    })
}

/// The node `step` places after another one in its graph.
fn neighbour(node: Address, step: isize) -> Result<Option<usize>, Error> {
    let graphs = lock(&GRAPHS);
    let of = |nodes: &Nodes| {
        let all: Vec<usize> = chain(nodes).collect();
        let at = all.iter().position(|number| *number == node.addr())?;
        Some(at.checked_add_signed(step).and_then(|at| all.get(at).copied()))
    };
    graphs.values().find_map(of).ok_or(Error::INVALID_VALUE)
}

/// `cudaGraphNodeGetDependencies` of CUDA 13: the previous node. Edge data are not supported.
#[unsafe(no_mangle)]
pub extern "C" fn cudaGraphNodeGetDependencies(node: Address, place: Out<'_, Address>, _edges: Address, count: Out<'_, usize>) -> Error {
    guard(|| tell(neighbour(node, -1)?, place, count))
}

/// `cudaGraphNodeGetDependentNodes` of CUDA 13: the next node.
#[unsafe(no_mangle)]
pub extern "C" fn cudaGraphNodeGetDependentNodes(node: Address, place: Out<'_, Address>, _edges: Address, count: Out<'_, usize>) -> Error {
    guard(|| tell(neighbour(node, 1)?, place, count))
}

/// `cudaGraphAddMemcpyNode1D`.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "CUDA's interface")]
pub extern "C" fn cudaGraphAddMemcpyNode1D(
    place: Out<'_, Address>,
    graph: Address,
    _dependencies: Address,
    _count: usize,
    to: Address,
    from: *const c_void,
    bytes: usize,
    _kind: i32,
) -> Error {
    guard(|| place.set(push(graph, Node::Work(memory::copying(to, from, bytes)?))?))
}

/// `cudaGraphMemcpyNodeSetParams1D`.
#[unsafe(no_mangle)]
pub extern "C" fn cudaGraphMemcpyNodeSetParams1D(node: Address, to: Address, from: *const c_void, bytes: usize, _kind: i32) -> Error {
    guard(|| {
        let work = memory::copying(to, from, bytes)?;
        let mut graphs = lock(&GRAPHS);
        let found = graphs.values_mut().flatten().find(|(number, _)| *number == node.addr()).ok_or(Error::INVALID_VALUE)?;
        found.1 = Node::Work(work);
        Ok(())
    })
}

/// Work that `libcudnn.so.9` submits to streams and graphs: `run(data)` is called for each execution, and returns 0 or that it failed; `end(data)` is called
/// when there can be no more.
struct Guest {
    run: extern "C" fn(Address) -> i32,
    end: extern "C" fn(Address),
    data: usize,
}

impl Drop for Guest {
    fn drop(&mut self) {
        (self.end)(std::ptr::with_exposed_provenance_mut(self.data));
    }
}

impl Guest {
    fn work(run: extern "C" fn(Address) -> i32, end: extern "C" fn(Address), data: Address) -> Work {
        let guest = Guest { run, end, data: data.expose_provenance() };
        Arc::new(move || guest.call())
    }

    fn call(&self) -> Result<(), Error> {
        match (self.run)(std::ptr::with_exposed_provenance_mut(self.data)) {
            0 => Ok(()),
            _ => Err(Error::LAUNCH_FAILURE),
        }
    }
}

/// User objects by their handles.
static OBJECTS: Mutex<BTreeMap<usize, Arc<Guest>>> = Mutex::new(BTreeMap::new());

extern "C" fn nothing(_: Address) -> i32 {
    0
}

/// Destroys all graphs, executable ones and user objects.
pub(crate) fn clear() {
    // Outside of the locks, because ends of user objects are the program's.
    let gone = (std::mem::take(&mut *lock(&GRAPHS)), std::mem::take(&mut *lock(&INSTANCES)), std::mem::take(&mut *lock(&OBJECTS)));
    drop(gone);
}

/// `cudaUserObjectCreate`: `destroy(object)` is called when neither the program nor a graph refers to it any more.
#[unsafe(no_mangle)]
pub extern "C" fn cudaUserObjectCreate(
    place: Out<'_, Address>,
    object: Address,
    destroy: Option<extern "C" fn(Address)>,
    _references: u32,
    _flags: u32,
) -> Error {
    guard(|| {
        let guest = Guest { run: nothing, end: destroy.ok_or(Error::INVALID_VALUE)?, data: object.expose_provenance() };
        let made = number();
        lock(&OBJECTS).insert(made.addr(), Arc::new(guest));
        place.set(made)
    })
}

/// `cudaUserObjectRelease`: releases all of the program's references, whatever `count` says.
#[unsafe(no_mangle)]
pub extern "C" fn cudaUserObjectRelease(object: Address, _count: u32) -> Error {
    guard(|| {
        let gone = lock(&OBJECTS).remove(&object.addr());
        gone.map(drop).ok_or(Error::INVALID_VALUE)
    })
}

/// `cudaGraphRetainUserObject`; `cudaGraphUserObjectMove` transfers the program's reference.
#[unsafe(no_mangle)]
pub extern "C" fn cudaGraphRetainUserObject(graph: Address, object: Address, _count: u32, flags: u32) -> Error {
    guard(|| {
        let kept = lock(&OBJECTS).get(&object.addr()).cloned().ok_or(Error::INVALID_VALUE)?;
        push(graph, Node::Kept(Arc::new(move || kept.call())))?;
        if flags & 1 == 1 {
            drop(lock(&OBJECTS).remove(&object.addr()));
        }
        Ok(())
    })
}

/// Whether work submitted to `stream` now may run later. `libcudnn.so.9` calls it, and recognises this runtime by the name.
#[unsafe(no_mangle)]
pub extern "C" fn oxidnnCudartDefers(stream: Address) -> i32 {
    match Stream::find(stream.addr()) {
        Ok(Some(stream)) => i32::from(stream.defers()),
        // Work is then refused when it is submitted.
        Ok(None) if disturbs_capture(stream.addr()) => 1,
        // The null stream synchronises with all others; an error of theirs becomes the thread's last error.
        Ok(None) => {
            guard(settle_all);
            0
        }
        Err(_) => 0,
    }
}

/// Submits work of `libcudnn.so.9` to `stream`: it runs once, or if captured, at every launch of the graph; then `end` is called.
#[unsafe(no_mangle)]
pub extern "C" fn oxidnnCudartSubmit(
    stream: Address,
    run: extern "C" fn(Address) -> i32,
    end: extern "C" fn(Address),
    data: Address,
) -> Error {
    let work = Guest::work(run, end, data);
    guard(|| submit(stream.addr(), work))
}

/// Appends work of `libcudnn.so.9` to a graph.
#[unsafe(no_mangle)]
pub extern "C" fn oxidnnCudartAppend(
    graph: Address,
    run: extern "C" fn(Address) -> i32,
    end: extern "C" fn(Address),
    data: Address,
) -> Error {
    let work = Guest::work(run, end, data);
    guard(|| push(graph, Node::Work(work)).map(drop))
}

/// Removes all nodes from a graph.
#[unsafe(no_mangle)]
pub extern "C" fn oxidnnCudartClear(graph: Address) -> Error {
    guard(|| {
        let gone = lock(&GRAPHS).get_mut(&graph.addr()).map(std::mem::take);
        gone.map(drop).ok_or(Error::INVALID_VALUE)
    })
}

/// Defines functions that are not supported.
macro_rules! unsupported {
    ($($name:ident)*) => {
        $(#[doc = concat!("`", stringify!($name), "`: not supported.")]
        #[unsafe(no_mangle)]
        pub extern "C" fn $name() -> Error {
            guard(|| Err(Error::NOT_SUPPORTED))
        })*
    };
}

unsupported! {
    cudaGraphAddMemsetNode
    cudaGraphMemsetNodeSetParams
    cudaLaunchKernel
    cudaLaunchKernelExC
    cudaKernelSetAttributeForDevice
    cudaLibraryGetKernel
    cudaLibraryLoadData
    cudaLibraryUnload
}
