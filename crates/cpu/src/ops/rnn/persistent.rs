//! Steps that depend on each other, on threads that are woken once.
//!
//! A network of many short steps would wake and join its threads for every step, which takes some thread pools as long as the step. Here
//! threads stay: a thread that has no task left of a step waits until the others have finished theirs, and continues with the next step.
//!
//! No thread waits for one that has not started. Tasks are claimed one by one: first from a thread's own range, whose operands are in its
//! L2, and then, after a short wait for the owner, from the ranges of others. So a single thread can do everything, and a waiting thread
//! waits only for tasks that are running.

use std::hint::spin_loop;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

#[cfg(test)]
mod tests;

/// Most threads that take part.
pub(super) const MAX_THREADS: usize = 64;
/// How often a thread without work checks whether others are done before it takes their tasks.
const CHECKS_BEFORE_STEALING: usize = 64;
/// How often it checks before it yields to the system.
const SPINS_BEFORE_YIELD: usize = 4096;

/// A value on cache lines of its own.
#[repr(align(128))]
#[derive(Default)]
struct Padded<T>(T);

/// Progress of threads: steps of two phases, each with a number of tasks, which may be zero.
pub(super) struct Persistent {
    threads: usize,
    steps: usize,
    phases: [usize; 2],
    /// Tasks that were claimed of each thread's ranges, over all steps.
    claimed: [Padded<AtomicUsize>; MAX_THREADS],
    /// Tasks that are finished.
    done: Padded<AtomicUsize>,
    /// Whether a thread panicked.
    lost: AtomicBool,
}

/// A task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Task {
    pub(super) step: usize,
    pub(super) phase: usize,
    pub(super) index: usize,
}

/// Element `i` of a range, which even steps go through upward and odd ones downward: a step begins with what the step before left in L2.
pub(super) const fn serpentine(range: Range<usize>, step: usize, i: usize) -> usize {
    if step.is_multiple_of(2) { range.start + i } else { range.end - 1 - i }
}

/// Reports a panic of its thread.
struct Watch<'r>(&'r AtomicBool);

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.store(true, Ordering::Release);
        }
    }
}

impl Persistent {
    /// For at most `threads` threads.
    pub(super) fn new(threads: usize, steps: usize, phases: [usize; 2]) -> Persistent {
        Persistent {
            threads: threads.clamp(1, MAX_THREADS),
            steps,
            phases,
            claimed: std::array::from_fn(|_| Padded::default()),
            done: Padded::default(),
            lost: AtomicBool::new(false),
        }
    }

    /// Threads that have a range.
    pub(super) fn threads(&self) -> usize {
        self.threads
    }

    /// The range of a thread in a phase.
    fn range(&self, thread: usize, phase: usize) -> Range<usize> {
        let tasks = self.phases[phase];
        thread * tasks / self.threads..(thread + 1) * tasks / self.threads
    }

    /// Takes part as thread `thread`: returns when all is done, or when another thread panicked.
    pub(super) fn run(&self, thread: usize, task: &mut dyn FnMut(Task)) {
        let _watch = Watch(&self.lost);
        for step in 0..self.steps {
            for phase in (0..2).filter(|phase| self.phases[*phase] > 0) {
                let before = step * (self.phases[0] + self.phases[1]) + if phase == 1 { self.phases[0] } else { 0 };
                let all_done = || self.done.0.load(Ordering::Acquire) >= before + self.phases[phase];
                while let Some(index) = self.claim(thread, step, phase) {
                    task(Task { step, phase, index });
                    self.done.0.fetch_add(1, Ordering::Release);
                }
                let mut looks = 0;
                while !all_done() {
                    if self.lost.load(Ordering::Acquire) {
                        return;
                    }
                    looks += 1;
                    let others = (1..self.threads).map(|i| (thread + i) % self.threads);
                    let helps = looks >= CHECKS_BEFORE_STEALING || others.clone().any(|other| self.is_behind(other, step, phase));
                    let left = if helps { others.clone().find_map(|other| self.claim(other, step, phase)) } else { None };
                    if let Some(index) = left {
                        task(Task { step, phase, index });
                        self.done.0.fetch_add(1, Ordering::Release);
                    }
                    if looks % SPINS_BEFORE_YIELD == 0 { thread::yield_now() } else { spin_loop() }
                }
            }
        }
    }

    /// Tasks of a thread's ranges before a phase of a step.
    fn before(&self, thread: usize, step: usize, phase: usize) -> usize {
        let first = self.range(thread, 0).len();
        step * (first + self.range(thread, 1).len()) + if phase == 1 { first } else { 0 }
    }

    /// Whether a thread has not begun a phase in which it has a range.
    fn is_behind(&self, thread: usize, step: usize, phase: usize) -> bool {
        !self.range(thread, phase).is_empty() && self.claimed[thread].0.load(Ordering::Relaxed) == self.before(thread, step, phase)
    }

    /// The next task of a thread's range.
    fn claim(&self, thread: usize, step: usize, phase: usize) -> Option<usize> {
        let (range, before) = (self.range(thread, phase), self.before(thread, step, phase));
        let claimed = &self.claimed[thread].0;
        let mut seen = claimed.load(Ordering::Relaxed);
        while seen < before + range.len() {
            match claimed.compare_exchange_weak(seen, seen + 1, Ordering::Relaxed, Ordering::Relaxed) {
                // A thread at this step knows that all earlier ones are finished, so their tasks were claimed.
                Ok(_) => return Some(serpentine(range, step, seen.checked_sub(before)?)),
                Err(now) => seen = now,
            }
        }
        None
    }
}
