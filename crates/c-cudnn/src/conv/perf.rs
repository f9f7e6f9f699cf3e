//! The lists that Get (predicted) and Find (measured) return.

use super::algorithms::table;
use super::request::{Pass, Places, Request, Settings};
use crate::enums::*;
use crate::exec::{Blend, Workspace};
use crate::handle::Handle;
use crate::host_runtime::settle;
use crate::measured::{self, Times, Way};
use crate::pointers::{ArrayMut, Data, Out};
use crate::status::{Failure, Status};
use oxidnn_runtime as runtime;
use oxidnn_spec::{DataType, Tensor};

/// `cudnnConvolutionFwdAlgoPerf_t`, and the records of the other passes, which have the same layout.
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

/// The caller's buffer for a list of algorithms.
pub(super) struct List<'a> {
    pub(super) requested: i32,
    pub(super) returned: Out<'a, i32>,
    pub(super) results: ArrayMut<'a, AlgoPerf>,
}

impl List<'_> {
    /// Returns the first of `all` to the caller: working ones first, in the order of `times`.
    fn give(self, mut all: Vec<AlgoPerf>, times: &Times) -> Result<(), Failure> {
        let count = usize::try_from(self.requested).ok().filter(|&n| n > 0);
        let count = count.ok_or_else(|| Failure::invalid("requestedAlgoCount", self.requested, "at least 1"))?;
        all.sort_by_key(|perf| (perf.status != Status::SUCCESS, times.order(way(perf.algo))));
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

/// An algorithm among the ways to compute a convolution.
fn way(algo: i32) -> Way {
    [i64::from(algo), 0]
}

/// The known times of a request's algorithms.
fn known(request: &Request, problem: &str) -> Option<Times> {
    measured::known(problem, |w| table(request.pass).iter().any(|&(algo, how)| way(algo) == w && how.is_some()))
}

/// Every algorithm of the request's pass, without times, in order of preference (measured times, if known).
pub(super) fn predicted(request: &Request, engine: &runtime::Engine, list: List<'_>) -> Result<(), Failure> {
    let all = table(request.pass).iter().map(|&(algo, _)| {
        let found = request.how(algo).and_then(|how| request.workspace(engine, how));
        AlgoPerf::new(request, algo, found.map(|memory| (-1.0, memory)))
    });
    let times = request.problem(engine).ok().and_then(|problem| known(request, &problem));
    list.give(all.collect(), &times.unwrap_or_default())
}

/// Every algorithm with its time and workspace size: measured before, or now on the caller's memory within the given workspace.
pub(super) fn measured(request: &Request, handle: &Handle, trial: (Places, Workspace), list: List<'_>) -> Result<(), Failure> {
    let (places, workspace) = trial;
    let fitting = |algo: i32| {
        let how = request.how(algo)?;
        let need = request.workspace(handle.engine(), how)?;
        if need > workspace.bytes {
            let message = format_args!("a workspace of {need} bytes, {} are given", workspace.bytes);
            return Err(Failure::new(CUDNN_STATUS_ALLOC_FAILED, message));
        }
        Ok((how, need))
    };
    let problem = request.problem(handle.engine());
    let before = problem.iter().find_map(|problem| known(request, problem)).unwrap_or_default();
    let lacks = |algo: i32| fitting(algo).is_ok() && before.of(way(algo)).is_none();
    let measures = table(request.pass).iter().any(|&(algo, _)| lacks(algo));
    let mut times = before;
    let mut one = |algo: i32| {
        let (how, need) = fitting(algo)?;
        let settings = Settings { how, workspace, blend: Blend::PLAIN };
        if measures {
            times.set(way(algo), measured::time(handle, || request.run(handle, places, settings, Ok))?);
        }
        Ok((times.order(way(algo)).as_secs_f32() * 1e3, need))
    };
    let all = table(request.pass).iter().map(|&(algo, _)| AlgoPerf::new(request, algo, one(algo))).collect();
    if let (true, Ok(problem)) = (measures, &problem) {
        measured::keep(problem, &times);
    }
    list.give(all, &times)
}

/// As [`measured`], on the library's own memory, with as much workspace as each algorithm needs.
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

/// Number of algorithms of a pass.
pub(super) fn count(pass: Pass) -> i32 {
    table(pass).len() as i32
}
