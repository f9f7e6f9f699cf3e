//! Hostile problems that the specification accepts are described or refused by every row of every engine, at once and in little memory: sizes near
//! the largest number, strides and paddings of 2^48, groups of 2^30, thousands of post-ops. `OXIDNN_HOSTILE=SEED:COUNT` draws more lines than the
//! gate does.

mod draw;

use draw::Draw;
use oxidnn_cpu::{Caches, CpuDevice, CpuTarget, Limit};
use oxidnn_cuda::{CudaTarget, Facts, ops};
use oxidnn_runtime::Engine;
use oxidnn_spec::{Op, Problem};
use oxidnn_testing::harness;
use std::alloc::{GlobalAlloc, Layout, System};
use std::backtrace::Backtrace;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};

/// What the rows of an engine may take for all their answers; the time is what no loaded machine needs, for loops over 2^30 and more take far longer.
const MOST_TIME: Duration = Duration::from_millis(200);
const MOST_BYTES: i64 = 64 << 20;
/// What each step of a recurrent network adds, of which a program lists the launches, up to so many steps.
const BYTES_OF_STEP: i64 = 8 << 10;
const TIME_OF_STEP: Duration = Duration::from_micros(100);
const MOST_STEPS: i64 = 1 << 15;
/// Attempts, of which the fastest counts: others compute beside the test.
const ATTEMPTS: usize = 4;
/// When a description hangs, how many may, and the bytes of a thread at which it is kept from allocating more.
const HANGS: Duration = Duration::from_secs(5);
const MOST_HANGS: usize = 6;
const STOPS: i64 = 1 << 30;

struct Counting;

thread_local! {
    /// Bytes of this thread, and the most that it had.
    static LIVE: Cell<[i64; 2]> = const { Cell::new([0; 2]) };
}

/// Counts the bytes, and holds a thread of too many for good.
fn grown(by: i64) {
    let _ = LIVE.try_with(|live| {
        let [now, most] = live.get();
        if now.saturating_add(by) > STOPS {
            live.set([i64::MIN / 2, STOPS]);
            note("allocates much");
            loop {
                std::thread::sleep(HANGS);
            }
        }
        live.set([now + by, most.max(now + by)]);
    });
}

// SAFETY: everything is the system allocator's; counting does not allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grown(layout.size() as i64);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }
    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        grown(new_size as i64 - layout.size() as i64);
        // SAFETY: the caller's promise.
        unsafe { System.realloc(ptr, layout, new_size) }
    }
    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        grown(-(layout.size() as i64));
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(ptr, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The last panic or large allocation: why, and the lines of ours that led there.
static NOTE: Mutex<String> = Mutex::new(String::new());

fn note(why: &str) {
    let trace = Backtrace::force_capture().to_string();
    let own = trace.lines().filter(|line| line.contains("at ./crates/") && !line.contains("/hostile/")).take(3);
    let text = std::iter::once(why).chain(own).flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ");
    let _ = NOTE.lock().map(|mut last| *last = text);
}

fn noted() -> String {
    NOTE.lock().map(|mut last| std::mem::take(&mut *last)).unwrap_or_default()
}

/// Steps of a recurrent network.
fn steps(problem: &Problem) -> i64 {
    let Op::Rnn(op) = &problem.op else { return 0 };
    op.sizes().map_or(0, |z| z.layers.saturating_mul(z.directions).saturating_mul(z.time).min(MOST_STEPS))
}

/// What is wrong with how an engine answers, if anything.
fn complaint(ask: &dyn Fn(&Problem), problem: &Problem) -> Option<String> {
    let (mut least, launched) = (Duration::MAX, steps(problem));
    for _ in 0..ATTEMPTS {
        let [before, _] = LIVE.get();
        LIVE.set([before; 2]);
        let begin = Instant::now();
        if catch_unwind(AssertUnwindSafe(|| ask(problem))).is_err() {
            return Some(format!("panics, {}", noted()));
        }
        least = least.min(begin.elapsed());
        let bytes = LIVE.get()[1] - before;
        if bytes > MOST_BYTES + launched * BYTES_OF_STEP {
            return Some(format!("takes {bytes} bytes"));
        }
        if least <= MOST_TIME + TIME_OF_STEP * launched as u32 {
            return None;
        }
    }
    Some(format!("takes {least:?}"))
}

/// A thread that asks engines; one that hangs is left alone.
struct Worker {
    problems: SyncSender<(usize, Problem)>,
    complaints: Receiver<Option<String>>,
}

impl Worker {
    fn new() -> Worker {
        let (problems, asked) = sync_channel::<(usize, Problem)>(1);
        let (answer, complaints) = sync_channel(1);
        std::thread::spawn(move || {
            let engines = engines();
            while let Ok((engine, problem)) = asked.recv() {
                let _ = answer.send(complaint(&engines[engine].1, &problem));
            }
        });
        Worker { problems, complaints }
    }

    /// What is wrong with how an engine answers, if anything; an error where it does not.
    fn ask(&self, engine: usize, problem: &Problem) -> Result<Option<String>, String> {
        self.problems.send((engine, problem.clone())).map_err(|e| e.to_string())?;
        self.complaints.recv_timeout(HANGS).map_err(|_| format!("hangs {}", noted()))
    }
}

/// An engine: its name, and a function that asks all of its rows.
type Asked = (String, Box<dyn Fn(&Problem)>);

/// Processors by instruction set and caches, and GPUs; none of them need be present.
fn engines() -> Vec<Asked> {
    let mut all: Vec<Asked> = Vec::new();
    let host = Caches::host();
    let small = Caches { l1: 4 << 10, l2: 8 << 10, l3: 16 << 10, ..host };
    for (name, caches) in [("sse41", host), ("avx2", host), ("avx2", small), ("avx512_core", host), ("avx512_core_amx", host)] {
        let limit = Limit::named(name).expect("a name");
        let target = CpuTarget { isa: limit.isa, jit: limit.jit, threads: 7, caches };
        let engine = Engine::new(CpuDevice::new(target));
        all.push((format!("{name}/{}", target.caches.l2), Box::new(move |problem| asked(&engine, problem))));
    }
    for facts in [Facts::A100, Facts::H200, Facts::B200] {
        let target = CudaTarget::described(facts);
        all.push((facts.architecture(), Box::new(move |problem| lowered(&target, problem))));
    }
    all
}

/// Every row of a processor, with what it says of itself.
fn asked(engine: &Engine, problem: &Problem) {
    for row in harness::rows(engine, problem).unwrap_or_default() {
        let _ = (row.plan().decision(), row.plan().scratch_bytes());
    }
}

/// Every row of a GPU, for open sizes those of an example.
fn lowered(target: &CudaTarget, problem: &Problem) {
    let example = if problem.op.has_runtime() { problem.example().ok() } else { Some(problem.clone()) };
    for row in example.iter().flat_map(|p| ops::rows(&p.op)) {
        let _ = example.as_ref().and_then(|p| row.plan(p, target).ok()).map(|plan| plan.programs().is_ok());
    }
}

#[test]
fn hostile_problems_are_described_or_refused_at_once() {
    let given = std::env::var("OXIDNN_HOSTILE").unwrap_or_default();
    let (seed, count) = given.split_once(':').unwrap_or(("1", "1500"));
    let (seed, count): (u64, usize) = (seed.parse().expect("a seed"), count.parse().expect("a count"));
    std::panic::set_hook(Box::new(|why| note(&why.to_string())));
    let names: Vec<String> = engines().into_iter().map(|(name, _)| name).collect();
    let (mut draw, mut worker, mut problems, mut hung, mut wrong) = (Draw::new(seed), Worker::new(), 0, 0, Vec::new());
    for _ in 0..count {
        let (line, cases) = draw.line();
        let mut found = BTreeMap::<String, Vec<&str>>::new();
        for (case, (engine, name)) in cases.iter().take(2).flat_map(|case| names.iter().enumerate().map(move |e| (case, e))) {
            problems += 1;
            let answer = worker.ask(engine, &case.problem).unwrap_or_else(|why| {
                (worker, hung) = (Worker::new(), hung + 1);
                Some(why)
            });
            answer.into_iter().for_each(|why| found.entry(why).or_default().push(name));
        }
        let line: String = line.chars().take(600).collect();
        wrong.extend(found.into_iter().map(|(why, names)| format!("{line}\n  {}: {why}", names.join(", "))));
        if hung >= MOST_HANGS {
            break;
        }
    }
    let _ = std::panic::take_hook();
    println!("{problems} descriptions of {count} lines");
    assert!(wrong.is_empty(), "{} of {problems}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(problems >= count, "only {problems} descriptions of {count} lines");
}
