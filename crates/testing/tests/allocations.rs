//! Steady-state executions allocate nothing: every row of the smoke lines, on the calling thread and on a pool, under a counting allocator.
//! Rows of problems whose sizes are given at execution are exempt: they may have to lay out the work anew.

use oxidnn_runtime::{Memory, Primitive, PrimitiveDesc, Stream, Threads};
use oxidnn_spec::Arg;
use oxidnn_spec::text::{self, Case, Settings};
use oxidnn_testing::{concrete, fill, harness};
use std::alloc::{GlobalAlloc, Layout, System};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: everything is the system allocator's; counting does not allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.alloc_zeroed(layout) }
    }
    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.realloc(ptr, layout, new_size) }
    }
    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(ptr, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Every third line: enough for each type, direction and attribute to occur.
const STEP: usize = 3;

/// The smoke lines of every driver.
fn cases() -> Vec<(String, Case)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/inputs");
    let mut drivers: Vec<_> =
        std::fs::read_dir(root).unwrap().map(|e| e.unwrap().path().join("smoke.txt")).filter(|p| p.exists()).collect();
    drivers.sort();
    let lines = drivers.iter().flat_map(|f| std::fs::read_to_string(f).unwrap().lines().map(str::to_owned).collect::<Vec<_>>());
    let problems = lines.filter(|l| !l.trim().is_empty() && !l.starts_with('#')).step_by(STEP);
    problems.flat_map(|l| text::parse_line(&mut Settings::default(), &l).unwrap().into_iter().map(move |c| (l.clone(), c))).collect()
}

/// Allocations of an execution after two others.
fn steady(primitive: &Primitive, stream: &Stream, args: &[(Arg, &Memory<'_>)]) -> u64 {
    let mut counts = [0; 3];
    for count in &mut counts {
        let before = ALLOCATIONS.load(Ordering::Relaxed);
        primitive.execute(stream, args).unwrap();
        *count = ALLOCATIONS.load(Ordering::Relaxed) - before;
    }
    counts[2]
}

/// One test, as the counter is the process's.
#[test]
fn steady_executions_of_every_row_allocate_nothing() {
    let engine = oxidnn_cpu::engine();
    let streams = [Threads::inline(), Threads::new(2)].map(|t| Stream::with_threads(&engine, t).unwrap());
    let (mut found, mut rows) = (Vec::new(), 0);
    for (line, case) in cases() {
        let mut next = PrimitiveDesc::new(&engine, case.problem.clone());
        while let Ok(desc) = next {
            let args = fill::arguments(&concrete::concrete(desc.problem(), &case.fill).unwrap(), &case.fill);
            let mut memories = harness::upload(&engine, &args).unwrap();
            memories.extend(desc.scratchpad().map(|t| (Arg::SCRATCHPAD, Memory::new(&engine, t.clone()).unwrap())));
            let args: Vec<_> = memories.iter().map(|(a, m)| (*a, m)).collect();
            let primitive = Primitive::new(&desc).unwrap();
            let count = streams.iter().map(|s| steady(&primitive, s, &args)).max().unwrap_or(0);
            if count > 0 && !desc.has_runtime() {
                found.push(format!("{}: {count} allocations: {line}", desc.impl_name()));
            }
            rows += 1;
            next = desc.next_impl();
        }
    }
    assert!(rows > 500, "{rows} rows");
    assert!(found.is_empty(), "{} of {rows} rows allocate:\n{}", found.len(), found.join("\n"));
}
