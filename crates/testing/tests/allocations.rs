//! Steady-state executions allocate nothing: every implementation row of every smoke problem, on the process-wide pool.

use oxidnn_runtime::{Engine, Memory, PrimitiveDesc, Stream};
use oxidnn_spec::op::Matmul;
use oxidnn_spec::text::{self, Case, Settings};
use oxidnn_spec::{Arg, Attr, DataType, Problem, RUNTIME, Tensor};
use oxidnn_testing::concrete::concrete;
use oxidnn_testing::{fill, harness};
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

#[test]
fn steady_state_executions_allocate_nothing() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/inputs");
    let engine = oxidnn_cpu::engine();
    let stream = Stream::new(&engine).unwrap();
    let (mut rows, mut guilty) = (0, Vec::new());
    for driver in std::fs::read_dir(folder).unwrap() {
        let Ok(lines) = std::fs::read_to_string(driver.unwrap().path().join("smoke.txt")) else { continue };
        for line in lines.lines() {
            for case in text::parse_line(&mut Settings::default(), line).unwrap() {
                rows += allocating_rows(&case, &engine, &stream, &mut guilty);
            }
        }
    }
    changing_sizes(&engine, &stream, &mut guilty);
    assert!(rows > 2000, "only {rows} rows were executed");
    assert!(guilty.is_empty(), "{} of {rows} executions allocate:\n{}", guilty.len(), guilty.join("\n"));
}

/// Executes every row of `case` often enough to be warm, then once more counting; names those that allocate.
fn allocating_rows(case: &Case, engine: &Engine, stream: &Stream, guilty: &mut Vec<String>) -> usize {
    let mut desc = PrimitiveDesc::new(engine, case.problem.clone()).unwrap();
    let mut rows = 0;
    loop {
        let problem = concrete(desc.problem(), &case.fill).unwrap();
        let args = harness::Truth::of(&problem, &case.fill).map_or_else(|_| fill::arguments(&problem, &case.fill), |t| t.inputs);
        let memories = harness::upload(engine, &args).unwrap();
        let scratchpad = desc.scratchpad().map(|t| Memory::new(engine, t.clone()).unwrap());
        let mut bound: Vec<(Arg, &Memory<'_>)> = memories.iter().map(|(a, m)| (*a, m)).collect();
        bound.extend(scratchpad.iter().map(|m| (Arg::SCRATCHPAD, m)));
        let primitive = desc.create().unwrap();
        let run = || {
            let before = ALLOCATIONS.load(Ordering::Relaxed);
            primitive.execute(stream, &bound).and_then(|()| stream.wait()).unwrap();
            ALLOCATIONS.load(Ordering::Relaxed) - before
        };
        run();
        run();
        // The test's harness allocates, too, when it says that a test takes long.
        let count = run();
        if count > 0 && run() > 0 {
            guilty.push(format!("{}: {} allocates {count} times", case.problem, desc.impl_name()));
        }
        rows += 1;
        match desc.next_impl() {
            Ok(next) => desc = next,
            Err(_) => return rows,
        }
    }
}

/// Executes one primitive with several sizes in turn, which it was executed with before.
fn changing_sizes(engine: &Engine, stream: &Stream, guilty: &mut Vec<String>) {
    let open = |n: i64, c: i64| Tensor::with_tag([n, c], DataType::F32, "ab").unwrap();
    let product = |n: i64| Matmul { src: open(n, 32), weights: open(32, 24), bias: None, dst: open(n, 24) };
    let problem = Problem::new(product(RUNTIME), Attr::default()).unwrap();
    let primitive = PrimitiveDesc::new(engine, problem).unwrap().create().unwrap();
    let memory = |t: Tensor| Memory::new(engine, t).unwrap();
    let weights = memory(open(32, 24));
    let all: Vec<_> = [1, 2, 9, 40, 130].map(|n| (memory(open(n, 32)), memory(open(n, 24)))).into();
    let run = || {
        let before = ALLOCATIONS.load(Ordering::Relaxed);
        for (src, dst) in &all {
            primitive.execute(stream, &[(Arg::SRC, src), (Arg::WEIGHTS, &weights), (Arg::DST, dst)]).unwrap();
        }
        stream.wait().unwrap();
        ALLOCATIONS.load(Ordering::Relaxed) - before
    };
    run();
    run();
    let count = run();
    if count > 0 {
        guilty.push(format!("{:?} with sizes in turn allocates {count} times", primitive.desc()));
    }
}
