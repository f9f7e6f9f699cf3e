//! Repeated executions allocate nothing, neither on the caller's thread nor on the pool's; what asynchronous ones allocate they free.

mod toy;

use oxidnn_runtime::threads::Threads;
use oxidnn_runtime::*;
use oxidnn_spec::*;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use toy::*;

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);
/// Bytes that are allocated now.
static LIVE: AtomicUsize = AtomicUsize::new(0);

// SAFETY: everything is the system allocator's; counting does not allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        LIVE.fetch_add(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        LIVE.fetch_add(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.alloc_zeroed(layout) }
    }
    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        LIVE.fetch_add(new_size, Ordering::Relaxed);
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.realloc(ptr, layout, new_size) }
    }
    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(ptr, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn memory(engine: &Engine, tensor: Tensor) -> Memory<'static> {
    Memory::new(engine, tensor).unwrap()
}

/// Allocations of 100 calls after ten.
fn steady(mut call: impl FnMut()) -> u64 {
    (0..10).for_each(|_| call());
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    (0..100).for_each(|_| call());
    ALLOCATIONS.load(Ordering::Relaxed) - before
}

/// Eight threads submit to one stream, `OXIDNN_SUBMISSIONS` times in all: when all is done as much is allocated as before.
fn submissions_leave_nothing(engine: &Engine) {
    let count: usize = std::env::var("OXIDNN_SUBMISSIONS").map_or(rounds(16_000), |n| n.parse().unwrap());
    let stream = Stream::asynchronous(engine).unwrap();
    let p = PrimitiveDesc::new(engine, linear([64], 1.0, 1.0, Attr::default())).unwrap().create().unwrap();
    let on = || memory(engine, Tensor::plain([64], DataType::F32).unwrap());
    let (src, results) = (on(), [(); 8].map(|()| on()));
    let round = |each: usize| {
        std::thread::scope(|scope| {
            for dst in &results {
                let submit = || p.execute(&stream, &[(Arg::SRC, &src), (Arg::DST, dst)]).unwrap();
                scope.spawn(move || (0..each).for_each(|_| submit()));
            }
        });
        stream.wait().unwrap();
        LIVE.load(Ordering::Relaxed)
    };
    // The list of what waits keeps the room of the longest that it was: it was longest before what is measured.
    let before = (0..4).map(|_| round(count / 20)).max().unwrap_or(0);
    let after = (0..8).map(|_| round(count / 80)).min().unwrap_or(0);
    println!("{count} submissions: {before} bytes before, {after} after all");
    // Threads that end free something of their own a little later.
    assert!(after < before + 8192, "{before} bytes became {after}");
}

/// One test, as the counter is the process's.
#[test]
fn steady_executions_allocate_nothing() {
    let (engine, _) = engine();
    submissions_leave_nothing(&engine);
    for threads in [Threads::inline(), Threads::new(2), Threads::global()] {
        let stream = Stream::with_threads(&engine, threads.clone()).unwrap();
        for (size, post_ops) in [(10, 0), (rounds(10_000) as i64, 0), (rounds(160_000) as i64, 0), (100, 20), (100, 32)] {
            let mut attr = Attr::default();
            let src1 = Tensor::plain([size], DataType::F32).unwrap();
            attr.post_ops = vec![PostOp::Binary { alg: op::BinaryAlg::Add, src1, src2: None }; post_ops];
            let desc = PrimitiveDesc::new(&engine, linear([size], 2.0, 1.0, attr)).unwrap();
            let primitive = desc.create().unwrap();
            let memories: Vec<_> = desc.operands().iter().map(|o| (o.arg, memory(&engine, o.tensor.clone()))).collect();
            let args: Vec<_> = memories.iter().map(|(a, m)| (*a, m)).collect();
            let allocations = steady(|| primitive.execute(&stream, &args).unwrap());
            assert_eq!(allocations, 0, "{size} elements, {post_ops} post-ops, {threads:?}");
        }
    }
    let desc = PrimitiveDesc::new(&engine, runtime_copy()).unwrap();
    let (stream, primitive) = (Stream::new(&engine).unwrap(), desc.create().unwrap());
    let tensor = Tensor::plain([40, 3], DataType::F32).unwrap();
    let (src, dst) = (memory(&engine, tensor.clone()), memory(&engine, tensor));
    assert_eq!(steady(|| primitive.execute(&stream, &[(Arg::SRC, &src), (Arg::DST, &dst)]).unwrap()), 0);
    let unknown = (Arg::WEIGHTS, &dst);
    assert_eq!(steady(|| primitive.execute_bytes(&stream, &[(Arg::SRC, &src), unknown, (Arg::DST, &dst)]).unwrap()), 0);
    let desc = PrimitiveDesc::new(&engine, linear([120], 2.0, 1.0, Attr::default())).unwrap();
    let primitive = desc.create().unwrap();
    assert_eq!(
        steady(|| primitive.execute_bytes(&stream, &[(Arg::SRC, &src), unknown, (Arg::DST, &dst)]).unwrap()),
        0,
        "other descriptions"
    );
}
