use super::*;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Calls `body` on a thread with so much stack.
fn on<T: Send>(stack: usize, body: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| thread::Builder::new().stack_size(stack).spawn_scoped(scope, body).unwrap().join().unwrap())
}

#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "only Linux is asked where a stack ends")]
fn short_stacks_are_known() {
    for (stack, enough) in [(64 << 10, false), (256 << 10, false), (1 << 20, true), (8 << 20, true)] {
        assert_eq!(on(stack, || has(NEED)), enough, "{stack} bytes");
    }
}

#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "only Linux is asked where a stack ends")]
fn what_is_deep_runs_with_room_and_gives_its_result() {
    for stack in [64 << 10, 4 << 20] {
        let (room, same) = on(stack, || {
            let caller = thread::current().id();
            let mut seen = Vec::new();
            let answer = deep(|| {
                seen.push(has(NEED));
                (has(NEED), thread::current().id() == caller)
            });
            assert_eq!(seen, [true]);
            answer
        });
        assert!(room);
        assert_eq!(same, stack > NEED);
    }
}

#[test]
fn panics_reach_the_caller() {
    let panic = on(64 << 10, || catch_unwind(AssertUnwindSafe(|| deep(|| panic!("deep")))).map_err(|p| *p.downcast_ref::<&str>().unwrap()));
    assert_eq!(panic, Err("deep"));
}
