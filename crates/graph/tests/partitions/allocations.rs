//! Executions with the caller's scratchpad allocate nothing: on every partition of every pattern's graphs.

use crate::nets::run::{Ports, partitioned, ports};
use oxidnn_graph::Policy;
use oxidnn_runtime::{Memory, Stream};
use oxidnn_spec::{DataType, Tensor};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

fn count() {
    // A thread that ends allocates, too, but nobody asks it any more.
    let _ = ALLOCATIONS.try_with(|c| c.set(c.get() + 1));
}

// SAFETY: everything is the system allocator's; counting does not allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's promise.
        unsafe { System.alloc_zeroed(layout) }
    }
    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        count();
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

/// How many allocations this thread makes.
pub(crate) fn counted(run: impl FnOnce()) -> u64 {
    let before = ALLOCATIONS.get();
    run();
    ALLOCATIONS.get() - before
}

#[test]
fn executions_with_a_scratchpad_allocate_nothing() {
    let engine = oxidnn_cpu::engine();
    let stream = Stream::new(&engine).expect("a stream");
    let (mut executed, mut guilty) = (0, Vec::new());
    for (name, net) in crate::nets::all() {
        let graph = partitioned(&net, Policy::Fusion).expect("a valid graph");
        // Of graphs that are one partition everything is known at once.
        let [partition] = graph.partitions() else { continue };
        let Ports { compiled, inputs, outputs } = ports(&engine, &net, partition).expect("a partition that compiles");
        let bytes = i64::try_from(compiled.scratch_bytes()).expect("a size");
        let scratch = Memory::new(&engine, Tensor::plain([bytes.max(1)], DataType::U8).expect("a tensor")).expect("memory");
        let (inputs, outputs): (Vec<&Memory<'_>>, Vec<&Memory<'_>>) = (inputs.iter().collect(), outputs.iter().collect());
        let run = || compiled.execute(&stream, &inputs, &outputs, Some(&scratch)).expect("an execution");
        run();
        run();
        let count = counted(run);
        if count > 0 {
            let problems: Vec<_> = compiled.problems();
            guilty.push(format!("{name}: {count} times: {problems:?}"));
        }
        executed += 1;
    }
    assert!(executed > 300, "only {executed} partitions");
    assert!(guilty.is_empty(), "{} of {executed} partitions allocate:\n{}", guilty.len(), guilty.join("\n"));
}
