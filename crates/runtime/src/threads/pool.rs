//! `ForkJoin`: a pool whose jobs begin and end in a fraction of a microsecond. One of the files with unsafe code.
//!
//! A job is `tasks` calls of a body. The calling thread is worker 0 and takes part. Each worker has a contiguous range of the tasks and
//! claims them one by one. A worker that is done with its own range helps the others, so nobody waits for a thread that the system does not
//! run, and the caller alone can finish a job.
//!
//! A forked child has none of the workers, and slots and locks as they happened to be: it starts workers of its own when it first has a job
//! for them, and looks at nothing of its parent's ([`Own`]).
//!
//! Workers compute in the caller's floating-point environment ([`float`](super::float)), which the job brings along.
//!
//! **Protocol.** `control` holds the job's number, its workers, and whether it is open. Only the thread that holds `taken` writes it.
//! - The caller writes the job, opens it (release), wakes sleepers if there are any, works, closes the job, and waits for each worker that
//!   is `IN`. After that no thread reads the job any more and the next may be written.
//! - A worker that sees a new open job enters (`IN`), and only then looks again: if the job is still the same and open, it works. Entering
//!   and looking again on one side correspond to closing and waiting on the other: with a sequentially consistent fence between the two
//!   steps on both sides, either the worker sees the job closed, or the caller sees the worker `IN`. The same argument, between going to
//!   sleep (`PARKED`) and looking again on one side, opening and looking for sleepers on the other, excludes a lost wake-up.
//! - A claim is a compare-and-swap on the range's counter, which is tagged with the job's number, so that the caller need not reset the
//!   counters.
//!
//! A worker without work spins for the pool's budget and then sleeps; so does a caller that waits for a worker's last task. A pool of more
//! threads than cores does not spin. After the first microseconds of spinning, a thread yields to others on the same core: where programs
//! share the cores, the awaited thread is often one of them, woken there, and would get the core only when the budget is over (two
//! processes with jobs of 8 us get 0.5 to 0.56 each of what one has alone, without yielding 0.29). If caller and worker are on one core,
//! the worker leaves it ([`place`](super::place)): a job of 3.2 ms on two threads after a rest takes 1.7 ms instead of 3.2.
//!
//! **Several callers.** One takes the pool; others that come meanwhile, and calls from inside a task, run their tasks themselves. So N
//! callers use at most N - 1 threads more than the pool has, nobody waits for another's job, and deadlock is impossible.
//!
//! `tests/models` runs this file under every order of its steps that the memory model allows.
//!
//! A panic in a task is caught, tasks not yet begun are skipped, and the caller resumes the panic when the job has ended.
//!
//! **Latency** (`examples/fork_join.rs`: median time of a job beyond its tasks, less that of reading the clock):
//!
//! | machine | threads | spinning | after a sleep |
//! |---|---|---|---|
//! | AMD Zen 5, VM of 2 cores | 2 | 0.18 us | 6.6 us |
//! | Intel Xeon, VM of 16 cores | 2 / 4 / 8 / 16 | 0.7 / 0.8 / 0.9 / 1.0 us | 6.5 / 18 / 33 / 64 us |
//!
//! The caller wakes sleepers one after the other. A tree of wakers was slower (80 us with 16 threads): each level costs a wake-up's latency.

use super::cores::{cores, most_threads, use_all_cores};
use super::end;
use super::float::FloatMode;
use super::panics::{FirstPanic, resume};
use super::place::{Sleeper, Waker};
use crate::fork::{self, Own};
use crate::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence};
use crate::sync::thread::{self, JoinHandle, Thread};
use crate::sync::{Instant, Mutex, OnceLock, UnsafeCell, spin_loop, thread_local};
use crate::{Executor, Inline};
use std::cell::Cell;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// On cache lines of its own (two: processors fetch them in pairs).
#[repr(align(128))]
struct Padded<T>(T);

/// A fork-join pool.
pub struct ForkJoin {
    team: Own<Team>,
    settings: Settings,
}

/// The settings of a pool, from which every process makes its own team.
#[derive(Clone, Copy)]
struct Settings {
    threads: usize,
    spin: Duration,
    /// Workers may run on all cores of the process, not only on those of the thread that starts them.
    everywhere: bool,
}

/// The team of workers of one process.
struct Team {
    shared: Arc<Shared>,
    handles: Vec<JoinHandle<()>>,
}

struct Shared {
    control: Padded<AtomicU64>,
    sleepers: Padded<AtomicUsize>,
    taken: Padded<AtomicBool>,
    job: Padded<UnsafeCell<Job>>,
    slots: Box<[Padded<Slot>]>,
    panic: FirstPanic,
    waiter: Mutex<Option<Thread>>,
    waker: Waker,
    spin: Duration,
    /// Whose threads the workers are.
    process: u64,
}

/// One worker; slot 0 stands for the caller.
struct Slot {
    state: AtomicU32,
    /// Claimed tasks of the worker's range, tagged with the job's number in the high half.
    claimed: AtomicU64,
    thread: OnceLock<Thread>,
    sleeper: Sleeper,
}

/// Body of a job, its lifetime erased.
type Body = *const (dyn Fn(usize, usize) + Sync);

struct Job {
    body: Body,
    tasks: u64,
    workers: u64,
    tag: u64,
    mode: FloatMode,
}

// SAFETY: `job` is written by the holder of `taken` while no worker is IN, and read by workers that are IN; all else is atomics and locks.
// The body that it points to is `Sync` and outlives the job.
unsafe impl Sync for Shared {}
// SAFETY: as above.
unsafe impl Send for Shared {}

/// States of a worker.
const IDLE: u32 = 0;
const PARKED: u32 = 1;
const IN: u32 = 2;
/// In, and the caller sleeps until it leaves.
const AWAITED: u32 = 3;

/// `control`: the job's number above bit 16, the number of workers, the open bit.
const OPEN: u64 = 1;
const STOP: u64 = u64::MAX;
/// More than [`most_threads`] is on any machine, fewer than a job has bits for.
const MAX_THREADS: usize = 1 << 14;

/// If the remaining tasks of a job take longer than this, late workers migrate to another core, which then costs less than it saves.
const MIN_REMAINING_TIME: Duration = Duration::from_micros(100);

/// Time between wake-up and job, or without a core, after which a worker is late.
const LATE_AFTER: Duration = Duration::from_micros(50);

const fn workers_of(control: u64) -> u64 {
    control >> 1 & 0x7fff
}
const fn number_of(control: u64) -> u64 {
    control >> 16
}

/// Whether late workers are worth waiting for, when one thread has done some tasks in a time.
pub(super) fn is_worth_migrating(spent: Duration, done: u64, tasks: u64) -> bool {
    spent > LATE_AFTER && spent.as_nanos() * u128::from(tasks - done.min(tasks)) > MIN_REMAINING_TIME.as_nanos() * u128::from(done)
}

thread_local! {
    /// This thread is running a task of some pool.
    static IN_TASK: Cell<bool> = const { Cell::new(false) };
}

impl ForkJoin {
    /// A pool of `threads`, the calling one included: starts `threads - 1` (at most [`most_threads`], and fewer if the system gives no
    /// more), which are running on return, on the cores where the calling thread may run. Idle ones spin for `spin` before they sleep.
    pub fn new(threads: usize, spin: Duration) -> ForkJoin {
        ForkJoin::of(Settings { threads, spin, everywhere: false })
    }

    /// As [`ForkJoin::new`], of threads that run wherever the process may.
    pub(super) fn of_process(threads: usize, spin: Duration) -> ForkJoin {
        ForkJoin::of(Settings { threads, spin, everywhere: true })
    }

    fn of(settings: Settings) -> ForkJoin {
        ForkJoin { team: Own::new(Team::new(settings)), settings }
    }

    #[inline]
    fn team(&self) -> &Team {
        self.team.get(|_| Team::new(self.settings))
    }
}

impl Team {
    fn new(settings: Settings) -> Team {
        let _inside = fork::enter();
        let threads = settings.threads.clamp(1, most_threads().min(MAX_THREADS));
        let slot = |_| {
            Padded(Slot { state: AtomicU32::new(IDLE), claimed: AtomicU64::new(0), thread: OnceLock::new(), sleeper: Sleeper::default() })
        };
        let empty_body: &'static (dyn Fn(usize, usize) + Sync) = &|_, _| {};
        let shared = Arc::new(Shared {
            control: Padded(AtomicU64::new(0)),
            sleepers: Padded(AtomicUsize::new(0)),
            taken: Padded(AtomicBool::new(false)),
            job: Padded(UnsafeCell::new(Job { body: empty_body, tasks: 0, workers: 0, tag: 0, mode: FloatMode::current() })),
            slots: (0..threads).map(slot).collect(),
            panic: FirstPanic::default(),
            waiter: Mutex::new(None),
            waker: Waker::default(),
            spin: if threads > cores() { Duration::ZERO } else { settings.spin },
            process: fork::process(),
        });
        let start = |index: usize| {
            let shared = shared.clone();
            let main = move || {
                if settings.everywhere {
                    use_all_cores();
                }
                shared.worker(index);
            };
            thread::Builder::new().name(format!("oxidnn-{index}")).spawn(main).ok()
        };
        let handles: Vec<_> = (1..threads).map_while(start).collect();
        for slot in &shared.slots[1..=handles.len()] {
            slot.0.thread.wait();
        }
        Team { shared, handles }
    }
}

// SAFETY: a task's number is taken by one worker, each worker is one thread, and the call waits for all of them.
unsafe impl Executor for ForkJoin {
    fn threads(&self) -> usize {
        self.team().handles.len() + 1
    }

    fn run(&self, workers: usize, tasks: usize, body: &(dyn Fn(usize, usize) + Sync)) {
        let team = self.team();
        let workers = workers.min(team.handles.len() + 1).min(tasks);
        let alone = workers <= 1 || tasks > u32::MAX as usize || IN_TASK.with(Cell::get);
        if alone || team.shared.taken.0.swap(true, Ordering::Acquire) {
            return Inline.run(1, tasks, body);
        }
        let panic = team.shared.fork_join(workers, tasks, body);
        team.shared.taken.0.store(false, Ordering::Release);
        resume(panic);
    }
}

impl Shared {
    /// One job, by the holder of `taken`.
    fn fork_join(&self, workers: usize, tasks: usize, body: &(dyn Fn(usize, usize) + Sync)) -> Option<Box<dyn std::any::Any + Send>> {
        let number = self.next_number();
        // SAFETY: only the lifetime changes; this function returns after all workers have left the job, and nobody else keeps the pointer.
        let body = unsafe { std::mem::transmute::<*const (dyn Fn(usize, usize) + Sync + '_), Body>(body) };
        let job = Job { body, tasks: tasks as u64, workers: workers as u64, tag: number << 32, mode: FloatMode::current() };
        // SAFETY: `taken` is held and no worker is IN, so nobody reads the job.
        self.job.0.with_mut(|place| unsafe { *place = job });
        self.control.0.store(number << 16 | (workers as u64) << 1 | OPEN, Ordering::Release);
        fence(Ordering::SeqCst);
        let mut woke = None;
        if self.sleepers.0.load(Ordering::Relaxed) > 0 {
            self.wake(1..workers);
            woke = Some(Instant::now());
        }
        IN_TASK.with(|in_task| in_task.set(true));
        // SAFETY: the job is open until this thread closes it.
        self.job.0.with(|job| self.work(unsafe { &*job }, 0, woke));
        IN_TASK.with(|in_task| in_task.set(false));
        self.control.0.store(number << 16, Ordering::Release);
        fence(Ordering::SeqCst);
        for slot in &self.slots[1..workers] {
            self.wait_until_left(&slot.0);
        }
        self.panic.take()
    }

    /// Number of the next job; its low half, the tag of claims, is never 0, and counters are cleared when it starts over.
    fn next_number(&self) -> u64 {
        let number = (number_of(self.control.0.load(Ordering::Relaxed)) + 1) & ((1 << 47) - 1);
        if number as u32 != 0 {
            return number;
        }
        self.slots.iter().for_each(|s| s.0.claimed.store(0, Ordering::Relaxed));
        number + 1
    }

    /// Claims and runs tasks: first the worker's own range, then the rest of the others'. The thread that `woke` others for the job makes
    /// sure that they come.
    fn work(&self, job: &Job, index: usize, mut woke: Option<Instant>) {
        // SAFETY: the body outlives the job, which stays while this worker is in it.
        let body = unsafe { &*job.body };
        let mut done = 0;
        for step in 0..job.workers {
            let helping = step > 0;
            if helping && index > 0 && job.tasks <= job.workers {
                return;
            }
            let owner = (index as u64 + step) % job.workers;
            while let Some(task) = self.claim(job, owner) {
                if woke.take_if(|since| is_worth_migrating(since.elapsed(), done, job.tasks)).is_some() {
                    let late = self.slots[1..job.workers as usize].iter().filter(|s| s.0.state.load(Ordering::Relaxed) == IDLE);
                    late.for_each(|slot| slot.0.sleeper.migrate());
                }
                done += 1;
                self.panic.guard(|| body(index, task));
            }
        }
    }

    /// The next unclaimed task of `owner`'s range.
    #[inline]
    fn claim(&self, job: &Job, owner: u64) -> Option<usize> {
        let (start, end) = (owner * job.tasks / job.workers, (owner + 1) * job.tasks / job.workers);
        let counter = &self.slots[owner as usize].0.claimed;
        let mut seen = counter.load(Ordering::Relaxed);
        loop {
            let done = if seen >> 32 == job.tag >> 32 { seen & u64::from(u32::MAX) } else { 0 };
            if start + done >= end {
                return None;
            }
            match counter.compare_exchange_weak(seen, job.tag | (done + 1), Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return Some((start + done) as usize),
                Err(now) => seen = now,
            }
        }
    }

    /// The caller waits for a worker that is in the closed job; not in a child that was forked by a task.
    fn wait_until_left(&self, slot: &Slot) {
        let mut spin = Spin::new(self.spin);
        while matches!(slot.state.load(Ordering::Acquire), IN | AWAITED) && self.process == fork::process() {
            if spin.once() {
                continue;
            }
            *self.waiter.lock().unwrap_or_else(|e| e.into_inner()) = Some(thread::current());
            if slot.state.compare_exchange(IN, AWAITED, Ordering::Acquire, Ordering::Acquire).is_ok() {
                while slot.state.load(Ordering::Acquire) == AWAITED {
                    thread::park();
                }
            }
        }
    }

    /// A worker's life.
    fn worker(&self, index: usize) {
        IN_TASK.with(|in_task| in_task.set(true));
        let _counted = end::Counted::new();
        let slot = &self.slots[index].0;
        slot.sleeper.is_me();
        let _ = slot.thread.set(thread::current());
        let mut seen = 0;
        while let Some(control) = self.next_job(slot, index, &mut seen) {
            slot.state.store(IN, Ordering::Relaxed);
            fence(Ordering::SeqCst);
            if self.control.0.load(Ordering::Acquire) == control {
                // SAFETY: this worker is IN and saw the job open after entering, so the caller waits for it before the job changes.
                self.job.0.with(|job| self.serve(unsafe { &*job }, index));
            }
            if slot.state.swap(IDLE, Ordering::AcqRel) == AWAITED
                && let Some(caller) = self.waiter.lock().unwrap_or_else(|e| e.into_inner()).take()
            {
                caller.unpark();
            }
        }
    }

    /// A worker's part of a job, in the caller's floating-point environment.
    fn serve(&self, job: &Job, index: usize) {
        job.mode.adopt();
        self.work(job, index, None);
    }

    /// Spins, then sleeps, until there is an open job for worker `index` that it has not seen; `None` when the pool ends.
    fn next_job(&self, slot: &Slot, index: usize, seen: &mut u64) -> Option<u64> {
        let mut spin = Spin::new(self.spin);
        loop {
            let control = self.control.0.load(Ordering::Acquire);
            if control == STOP {
                return None;
            }
            if self.is_new_job(control, index, *seen) {
                *seen = number_of(control);
                return Some(control);
            }
            let in_budget = spin.once();
            if std::mem::take(&mut spin.was_descheduled) {
                self.waker.leave_core(&slot.sleeper);
            } else if !in_budget {
                self.sleep(slot, index, *seen);
                spin = Spin::new(self.spin);
            }
        }
    }

    fn is_new_job(&self, control: u64, index: usize, seen: u64) -> bool {
        control == STOP || (control & OPEN == OPEN && number_of(control) != seen && (index as u64) < workers_of(control))
    }

    fn sleep(&self, slot: &Slot, index: usize, seen: u64) {
        slot.state.store(PARKED, Ordering::Release);
        self.sleepers.0.fetch_add(1, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        if self.is_new_job(self.control.0.load(Ordering::Relaxed), index, seen) {
            self.clear_parked(slot);
        }
        let mut parking = end::Parking::new(index == 1);
        let sleeps = || slot.state.load(Ordering::Acquire) == PARKED;
        while sleeps() {
            if parking.park(sleeps) {
                self.stop();
            }
        }
    }

    /// Tells all workers to end.
    fn stop(&self) {
        self.control.0.store(STOP, Ordering::Release);
        fence(Ordering::SeqCst);
        self.wake(1..self.slots.len());
    }

    /// Marks a parked worker as idle; true when it was parked.
    fn clear_parked(&self, slot: &Slot) -> bool {
        let parked = slot.state.compare_exchange(PARKED, IDLE, Ordering::AcqRel, Ordering::Relaxed).is_ok();
        if parked {
            self.sleepers.0.fetch_sub(1, Ordering::Relaxed);
        }
        parked
    }

    fn wake(&self, workers: std::ops::Range<usize>) {
        self.waker.is_me();
        for slot in &self.slots[workers] {
            if self.clear_parked(&slot.0)
                && let Some(thread) = slot.0.thread.get()
            {
                thread.unpark();
            }
        }
    }
}

impl Drop for Team {
    fn drop(&mut self) {
        if self.shared.process != fork::process() {
            // The threads are another process's.
            self.handles.drain(..).for_each(std::mem::forget);
            return;
        }
        self.shared.stop();
        for handle in self.handles.drain(..) {
            if handle.thread().id() != thread::current().id() {
                let _ = handle.join();
            }
        }
    }
}

impl fmt::Debug for ForkJoin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ForkJoin({} threads)", self.threads())
    }
}

/// Busy waiting for a limited time.
struct Spin {
    budget: Duration,
    pauses: u32,
    since: Option<Instant>,
    /// Other threads had the core for longer than [`LATE_AFTER`].
    was_descheduled: bool,
}

impl Spin {
    /// Pauses between two reads of the clock.
    const PAUSES_PER_CLOCK_READ: u32 = 64;
    /// Spinning time after which the thread yields its core at every read of the clock.
    const YIELD_AFTER: Duration = Duration::from_micros(5);

    fn new(budget: Duration) -> Spin {
        Spin { budget, pauses: 0, since: None, was_descheduled: false }
    }

    /// One short pause; false when the budget is used up.
    fn once(&mut self) -> bool {
        if self.budget.is_zero() {
            return false;
        }
        spin_loop();
        self.pauses += 1;
        if !self.pauses.is_multiple_of(Self::PAUSES_PER_CLOCK_READ) {
            return true;
        }
        let since = *self.since.get_or_insert_with(Instant::now);
        let spun = since.elapsed();
        if spun > Self::YIELD_AFTER {
            thread::yield_now();
            self.was_descheduled |= since.elapsed() - spun > LATE_AFTER;
        }
        spun < self.budget
    }
}

#[cfg(test)]
impl ForkJoin {
    /// Goes on with job number `number`.
    pub(super) fn skip_to(&self, number: u64) {
        self.team().shared.control.0.store(number << 16, Ordering::Release);
    }
}
