//! Lists of algorithms: predicted, or measured.

use super::algorithms::{How, table};
use super::request::{Pass, Places, Request, Settings};
use crate::enums::*;
use crate::exec::{Blend, Workspace};
use crate::handle::Handle;
use crate::host_runtime::settle;
use crate::pointers::{ArrayMut, Data, Out};
use crate::status::{Failure, Status};
use oxidnn_runtime as runtime;
use oxidnn_spec::{DataType, Tensor};

/// `cudnnConvolutionFwdAlgoPerf_t`, and those of the other passes, which lie alike.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct AlgoPerf {
    algo: i32,
    status: Status,
    time: f32,
    memory: usize,
    determinism: i32,
    math: i32,
    reserved: [i32; 3],
}

const _: () = assert!(size_of::<AlgoPerf>() == 48);

/// Where a list of algorithms goes.
pub(super) struct List<'a> {
    pub(super) requested: i32,
    pub(super) returned: Out<'a, i32>,
    pub(super) results: ArrayMut<'a, AlgoPerf>,
}

impl List<'_> {
    /// Gives the first of `all` to the caller, those that work first, the fastest of them before.
    fn give(self, mut all: Vec<AlgoPerf>) -> Result<(), Failure> {
        let count = usize::try_from(self.requested).ok().filter(|&n| n > 0);
        let count = count.ok_or_else(|| Failure::invalid("requestedAlgoCount", self.requested, "at least 1"))?;
        all.sort_by(|a, b| (a.status != Status::SUCCESS).cmp(&(b.status != Status::SUCCESS)).then(a.time.total_cmp(&b.time)));
        all.truncate(count);
        self.returned.set("returnedAlgoCount", all.len() as i32)?;
        self.results.fill("perfResults", &all)
    }
}

impl AlgoPerf {
    fn new(request: &Request, algo: i32, found: Result<(f32, usize), Failure>) -> AlgoPerf {
        let (status, (time, memory)) = match found {
            Ok(found) => (Status::SUCCESS, found),
            Err(failure) => (failure.status, (-1.0, 0)),
        };
        AlgoPerf { algo, status, time, memory, determinism: CUDNN_DETERMINISTIC, math: request.math(), reserved: [0; 3] }
    }
}

/// Every algorithm of the request's pass in the order in which they are to be preferred, without times.
pub(super) fn predicted(request: &Request, engine: &runtime::Engine, list: List<'_>) -> Result<(), Failure> {
    let all = table(request.pass).iter().map(|&(algo, _)| {
        let found = request.how(algo).and_then(|how| request.workspace(engine, how));
        AlgoPerf::new(request, algo, found.map(|memory| (-1.0, memory)))
    });
    list.give(all.collect())
}

/// Every algorithm, run on the caller's memory within the workspace given, and timed.
pub(super) fn measured(request: &Request, handle: &Handle, trial: (Places, Workspace), list: List<'_>) -> Result<(), Failure> {
    let (places, workspace) = trial;
    let all = table(request.pass).iter().map(|&(algo, _)| {
        let found = request.how(algo).and_then(|how| time(request, handle, (places, workspace), how));
        AlgoPerf::new(request, algo, found)
    });
    list.give(all.collect())
}

/// As [`measured`], on memory of the library's own, with as much workspace as each algorithm wants.
pub(super) fn measured_apart(request: &Request, handle: &Handle, list: List<'_>) -> Result<(), Failure> {
    let memory = |bytes: usize| -> Result<runtime::Memory<'static>, Failure> {
        Ok(runtime::Memory::new(handle.engine(), Tensor::plain([i64::try_from(bytes.max(1)).unwrap_or(i64::MAX)], DataType::U8)?)?)
    };
    let [src, weights, dst] = request.bytes();
    let (src, weights, dst) = (memory(src)?, memory(weights)?, memory(dst)?);
    let wanted =
        table(request.pass).iter().filter_map(|&(algo, _)| request.how(algo).and_then(|how| request.workspace(handle.engine(), how)).ok());
    let bytes = wanted.max().unwrap_or(0);
    let scratch = memory(bytes)?;
    let places = Places { src: Data::of(&src), weights: Data::of(&weights), dst: Data::of(&dst) };
    let result = measured(request, handle, (places, Workspace { data: Data::of(&scratch), bytes }), list);
    settle(handle)?;
    result
}

/// Milliseconds of the better of two runs after a first one, and bytes of workspace.
fn time(request: &Request, handle: &Handle, (places, workspace): (Places, Workspace), how: How) -> Result<(f32, usize), Failure> {
    let need = request.workspace(handle.engine(), how)?;
    if need > workspace.bytes {
        let message = format_args!("a workspace of {need} bytes, {} are given", workspace.bytes);
        return Err(Failure::new(CUDNN_STATUS_ALLOC_FAILED, message));
    }
    let settings = Settings { how, workspace, blend: Blend::PLAIN };
    let mut best = f32::INFINITY;
    for _ in 0..3 {
        settle(handle)?;
        let begin = handle.stream().record()?;
        request.run(handle, places, settings, Ok)?;
        settle(handle)?;
        let end = handle.stream().record()?;
        end.wait()?;
        best = best.min(end.since(&begin)?.as_secs_f32() * 1e3);
    }
    Ok((best, need))
}

/// How many algorithms a pass has.
pub(super) fn count(pass: Pass) -> i32 {
    table(pass).len() as i32
}
