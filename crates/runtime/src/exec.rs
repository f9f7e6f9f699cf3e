//! The context of a running kernel: arguments, scratch, and the queue it runs on.

use crate::queue::{Queue, Work};
use crate::{Buf, Notes, Region};
use oxidnn_spec::{Arg, Error, Tensor, Use};
use std::fmt;

/// One execution argument: its name, its description, its memory.
#[derive(Clone, Copy, Debug)]
pub struct Bound<'a> {
    /// Which argument.
    pub arg: Arg,
    /// Its description, runtime dimensions made concrete.
    pub tensor: &'a Tensor,
    /// Read or written.
    pub usage: Use,
    /// Where its bytes are: one region, or several for sparse tensors.
    pub regions: &'a [Region<'a>],
    /// Notes about bytes that no longer change.
    pub notes: Option<&'a Notes>,
}

/// Everything that one execution works with.
#[derive(Clone, Copy)]
pub struct Ctx<'a> {
    /// Arguments, checked against the plan's problem before the kernel sees them.
    pub args: &'a [Bound<'a>],
    /// Scratch of at least the bytes that the plan booked, 64-byte aligned, contents undefined.
    pub scratch: Region<'a>,
    /// The queue that the work belongs to.
    pub queue: &'a dyn Queue,
}

impl fmt::Debug for Ctx<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ctx").field("args", &self.args).field("scratch", &self.scratch).finish_non_exhaustive()
    }
}

impl<'a> Ctx<'a> {
    /// The argument `arg`, where it was passed.
    #[inline]
    pub fn bound(&self, arg: Arg) -> Option<&'a Bound<'a>> {
        self.args.iter().find(|b| b.arg == arg)
    }

    /// Notes about the bytes of an argument, if they no longer change.
    #[inline]
    pub fn notes(&self, arg: Arg) -> Option<&'a Notes> {
        self.bound(arg).and_then(|b| b.notes)
    }

    /// Where the bytes of a dense argument are that the problem has.
    ///
    /// # Errors
    /// [`Error::InvalidArguments`] when it was not passed (executions are checked before, so this is a bug of the plan).
    #[inline]
    pub fn region(&self, arg: Arg) -> Result<&'a Region<'a>, Error> {
        self.bound(arg).and_then(|b| b.regions.first()).ok_or_else(|| Error::arg(arg, "nothing", "a memory object"))
    }

    /// The bytes of a dense argument that the problem has, on a device whose memory is the host's.
    ///
    /// # Errors
    /// [`Error::InvalidArguments`] when it was not passed or is not in the host's memory.
    #[inline]
    pub fn buf(&self, arg: Arg) -> Result<Buf<'a>, Error> {
        self.region(arg)?.bytes().ok_or_else(|| Error::arg(arg, "memory of a device", "memory of the host"))
    }

    /// The scratch, on a device whose memory is the host's; no bytes elsewhere.
    #[inline]
    pub fn scratch_buf(&self) -> Buf<'a> {
        self.scratch.bytes().unwrap_or(Buf::empty())
    }

    /// The host's threads, if the queue's device computes on them.
    #[inline]
    pub fn executor(&self) -> &'a dyn Executor {
        self.queue.executor()
    }

    /// Submits a copy after the execution's own work, of bytes that live as long as its arguments and scratch.
    ///
    /// # Errors
    /// The queue's error.
    pub fn copy(&self, from: Region<'a>, to: Region<'a>) -> Result<(), Error> {
        // SAFETY: both regions are valid for as long as the execution's own memory, which its submitter keeps until all of it is done.
        unsafe { self.queue.submit(Work::Copy { from, to }.into()) }.map(drop)
    }

    /// The argument as a slice of `T`, when it is there, aligned, and shares no byte with an argument that is written.
    #[inline]
    pub fn input<T: crate::Element>(&self, arg: Arg) -> Option<&'a [T]> {
        let b = self.bound(arg)?.regions.first()?;
        let mut written = self.args.iter().filter(|w| w.usage == Use::Out).flat_map(|w| w.regions);
        if written.any(|w| w.overlaps(b)) {
            return None;
        }
        // SAFETY: the region is valid by `Buf::new`'s promise, and no written argument overlaps it.
        unsafe { b.bytes()?.slice() }
    }
}

/// Where threads come from: the library's own pool, the caller's, or none.
///
/// # Safety
/// Kernels give each worker scratch of its own and each task its part of the output, and use what the body borrows until [`Executor::run`] returns.
/// So `run` must call the body exactly once a task, with `worker` below `workers`, never for two tasks at a time with the same `worker`, and return
/// only after the last call has.
pub unsafe trait Executor: Send + Sync {
    /// Largest number of workers that [`Executor::run`] uses.
    fn threads(&self) -> usize;

    /// Calls `body(worker, task)` once for every `task` in `0..tasks`, on at most `workers` workers (`worker < workers`), and
    /// returns when all are done. Two calls with the same `worker` never overlap, so scratch may be kept by worker.
    fn run(&self, workers: usize, tasks: usize, body: &(dyn Fn(usize, usize) + Sync));
}

/// Runs everything on the calling thread.
#[derive(Clone, Copy, Debug, Default)]
pub struct Inline;

// SAFETY: one worker, whose tasks run one after the other before `run` returns.
unsafe impl Executor for Inline {
    fn threads(&self) -> usize {
        1
    }
    fn run(&self, _workers: usize, tasks: usize, body: &(dyn Fn(usize, usize) + Sync)) {
        for task in 0..tasks {
            body(0, task);
        }
    }
}
