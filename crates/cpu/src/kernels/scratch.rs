//! Scratch memory of an execution, cut into parts that are safe to use from many workers.
//!
//! A plan books the parts with [`booked`]; an execution cuts them in the same order with [`Scratch::take`]. One of the few files with
//! unsafe code: it guarantees that a part is handed out once and is then written by one worker at a time.

use oxidnn_runtime::{Buf, Executor};
use oxidnn_spec::Error;

const ALIGN: usize = 64;

/// Bytes of scratch for parts of `lens` elements each; `None` on overflow.
pub fn booked(lens: &[usize]) -> Option<usize> {
    lens.iter().try_fold(0usize, |sum, len| sum.checked_add(len.checked_mul(4)?.checked_next_multiple_of(ALIGN)?))
}

/// Elements of each worker's share of a part.
fn share(len: usize, workers: usize) -> usize {
    len / workers / 16 * 16
}

/// Elements of scratch of a kernel with two parts: one that all workers read, or that tasks fill piece by piece; and one of which every
/// worker has a share.
#[derive(Clone, Copy, Default, Debug)]
pub struct Lens {
    /// Of the shared part.
    pub shared: usize,
    /// Of all workers together.
    pub workers: usize,
}

impl Lens {
    /// Bytes of both; `None` on overflow.
    pub fn bytes(self) -> Option<usize> {
        booked(&[self.shared, self.workers])
    }
}

/// Length of a part from which each of `workers` workers gets at least `each` elements; `None` on overflow.
pub fn for_workers(workers: usize, each: usize) -> Option<usize> {
    each.checked_next_multiple_of(16)?.checked_mul(workers.max(1))
}

/// The scratch of one execution.
pub struct Scratch<'a> {
    buf: Buf<'a>,
    at: usize,
}

/// A part of it: as many elements as requested, with undefined contents.
pub struct Part<'a> {
    buf: Buf<'a>,
    len: usize,
}

impl<'a> Scratch<'a> {
    /// The scratch in `buf`.
    ///
    /// # Safety
    /// During the lifetime nobody else may use the memory of `buf`.
    pub unsafe fn new(buf: Buf<'a>) -> Scratch<'a> {
        Scratch { buf, at: 0 }
    }

    /// The next part, of `len` elements.
    ///
    /// # Errors
    /// [`Error::Runtime`] when the scratch is too small or not aligned for elements.
    #[inline]
    pub fn take(&mut self, len: usize) -> Result<Part<'a>, Error> {
        if len == 0 { Ok(Part { buf: Buf::empty(), len }) } else { self.cut(len) }
    }

    fn cut(&mut self, len: usize) -> Result<Part<'a>, Error> {
        let bytes = booked(&[len]).filter(|b| *b <= self.buf.len() - self.at && self.buf.as_ptr().addr().is_multiple_of(4));
        let bytes = bytes.ok_or_else(|| Error::Runtime(format!("{len} numbers of scratch at {} of {}", self.at, self.buf.len())))?;
        let buf = self.buf.part(self.at, bytes);
        self.at += bytes;
        Ok(Part { buf, len })
    }
}

/// A worker's scratch as memory that kernels read and write, borrowed as long as they do.
pub fn lend(numbers: &mut [f32]) -> Buf<'_> {
    // SAFETY: the elements are valid and exclusively borrowed while the memory is in use; as for all memory, parallel parts write disjoint
    // elements.
    unsafe { Buf::new(numbers.as_mut_ptr().cast(), size_of_val(numbers)) }
}

/// Elements `start..start + len` of a part.
///
/// # Safety
/// Nobody else may use these elements while the slice exists.
unsafe fn piece<'s>(buf: Buf<'s>, start: usize, len: usize) -> &'s mut [f32] {
    // SAFETY: by the caller's promise; `take` has checked the alignment.
    unsafe { buf.slice_mut(start, len) }.unwrap_or_default()
}

/// A task on a piece: its index, the piece, the worker's scratch.
type PieceTask<'t> = dyn Fn(usize, &mut [f32], &mut [f32]) + Sync + 't;

impl<'a> Part<'a> {
    /// All of it, for the calling thread.
    pub fn into_slice(self) -> &'a mut [f32] {
        // SAFETY: the part is consumed, so this is the only slice of it, and `Scratch::new` promised that nobody else uses the memory.
        unsafe { piece(self.buf, 0, self.len) }
    }

    /// The memory of all of it, for kernels that take addresses.
    pub fn into_buf(self) -> Buf<'a> {
        self.buf
    }

    /// The same, as [`Part::refill`] returns it.
    pub fn lend(&self) -> Buf<'a> {
        self.buf
    }

    /// The first `len` elements, a multiple of 16, and the others.
    ///
    /// # Panics
    /// If there are fewer.
    pub fn split(&mut self, len: usize) -> [Part<'_>; 2] {
        let bytes = self.buf.len();
        [Part { buf: self.buf.part(0, len * 4), len }, Part { buf: self.buf.part(len * 4, bytes - len * 4), len: self.len - len }]
    }

    /// Fills pieces of `piece_len` elements (the last may be shorter) in parallel, each by one call of `fill(piece index, piece)`.
    pub fn fill(self, executor: &dyn Executor, piece_len: usize, fill: &(dyn Fn(usize, &mut [f32]) + Sync)) -> &'a [f32] {
        let (buf, len) = (self.buf, self.len);
        executor.run(executor.threads(), len.div_ceil(piece_len.max(1)), &|_, task| {
            let start = task * piece_len;
            // SAFETY: every task is called once, and pieces of different tasks do not overlap.
            fill(task, unsafe { piece(buf, start, piece_len.min(len - start)) });
        });
        self.into_slice()
    }

    /// As [`Part::fill`], for a part that kernels read by its addresses, and that may be filled again afterwards.
    pub fn refill(&mut self, executor: &dyn Executor, piece_len: usize, fill: &(dyn Fn(usize, &mut [f32]) + Sync)) -> Buf<'a> {
        Part { buf: self.buf, len: self.len }.fill(executor, piece_len, fill);
        self.buf
    }

    /// Runs `tasks` tasks on at most `workers` workers, each with its own equal share of the part.
    pub fn work(&mut self, executor: &dyn Executor, workers: usize, tasks: usize, task: &(dyn Fn(usize, &mut [f32]) + Sync)) {
        let (buf, workers) = (self.buf, workers.max(1));
        let share = share(self.len, workers);
        executor.run(workers.min(executor.threads().max(1)), tasks, &|worker, index| {
            assert!(worker < workers, "worker {worker} of {workers}");
            // SAFETY: calls with the same worker do not overlap, and shares of different workers do not either.
            task(index, unsafe { piece(buf, worker * share, share) });
        });
    }

    /// Runs `tasks` tasks on at most `workers` workers, each with its own equal share of this part, and each task with its own piece of
    /// `piece_len` elements of `pieces`.
    pub fn work_on<'p>(
        &mut self,
        pieces: Part<'p>,
        executor: &dyn Executor,
        workers: usize,
        (tasks, piece_len): (usize, usize),
        task: &PieceTask<'_>,
    ) -> Part<'p> {
        let buf = pieces.buf;
        assert!(tasks.checked_mul(piece_len).is_some_and(|n| n <= pieces.len), "{tasks} pieces of {piece_len} in {}", pieces.len);
        self.work(executor, workers, tasks, &|index, scratch| {
            // SAFETY: every task is called once, and pieces of different tasks do not overlap.
            task(index, unsafe { piece(buf, index * piece_len, piece_len) }, scratch);
        });
        pieces
    }

    /// Adds the pieces of each block of a reduction in order, `pieces` of `piece_len` elements, and passes the sums to `task` in parallel.
    pub fn reduce(self, executor: &dyn Executor, [pieces, piece_len]: [usize; 2], task: &(dyn Fn(usize, &mut [f32]) + Sync)) {
        self.fill(executor, pieces * piece_len, &|block, parts| {
            let (total, rest) = parts.split_at_mut(piece_len.min(parts.len()));
            for part in rest.chunks_exact(piece_len) {
                total.iter_mut().zip(part).for_each(|(sum, x)| *sum += x);
            }
            task(block, total);
        });
    }
}
