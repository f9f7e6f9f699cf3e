//! A process and its fork make and free code independently: one test in a process of its own, since it forks.
#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

use oxidnn_jit::arena::{Mode, Options};
use oxidnn_jit::asm::{Gpr, Mem, Op, Operand};
use oxidnn_jit::{Asm, Code, CodeArena, Isa};

unsafe extern "C" {
    fn fork() -> i32;
    fn waitpid(pid: i32, status: *mut i32, options: i32) -> i32;
    fn _exit(status: i32) -> !;
}

/// Code that stores a number.
fn install(arena: &CodeArena, number: i64) -> Code {
    let mut asm = Asm::new(Isa::AVX2);
    asm.op(Op::MovImm, &[Gpr::Rax.into(), Operand::Imm(number)]);
    asm.op(Op::MovStore, &[Mem::at(Gpr::Rdi, 0).into(), Gpr::Rax.into()]);
    asm.op(Op::Ret, &[]);
    arena.install("store", &asm.finish().unwrap()).unwrap()
}

fn run(code: &Code) -> i64 {
    let out = std::cell::Cell::new(0_i64);
    // SAFETY: the code is a function of one pointer to 8 bytes that it writes.
    unsafe { code.entry::<std::cell::Cell<i64>>().call(&out) };
    out.get()
}

/// What either process does: frees and makes code while the other does, and looks then whether all of it is its own.
fn live(arena: &CodeArena, kept: &[Code], freed: Code, mine: i64) -> bool {
    drop(freed);
    let made: Vec<Code> = (0..200).map(|i| install(arena, mine + i)).collect();
    std::thread::sleep(std::time::Duration::from_millis(100));
    let is = |codes: &[Code], first: i64| codes.iter().zip(first..).all(|(code, number)| run(code) == number);
    is(kept, 0) && is(&made, mine)
}

#[test]
fn forked_processes_keep_out_of_each_other_s_code() {
    for mode in [Mode::TwoViews, Mode::OwnPages] {
        let arena = CodeArena::new(Options { mode, ..Options::default() });
        let kept: Vec<Code> = (0..10).map(|i| install(&arena, i)).collect();
        let freed = install(&arena, 77);
        // SAFETY: the child runs generated code, allocates (the C library makes that safe after a fork) and leaves at once.
        let pid = unsafe { fork() };
        if pid == 0 {
            let right = live(&arena, &kept, freed, 1000);
            // SAFETY: ends the child without running what belongs to the parent.
            unsafe { _exit(i32::from(!right)) };
        }
        assert!(pid > 0 && live(&arena, &kept, freed, 2000), "the parent's code is its own");
        let mut status = -1;
        // SAFETY: waits for the child made above, with a place for its status.
        assert_eq!(unsafe { waitpid(pid, &raw mut status, 0) }, pid);
        assert_eq!(status, 0, "the child's code is its own");
    }
}
