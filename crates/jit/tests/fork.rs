//! A process and its fork make and free code independently: tests in a process of their own, since they fork.
#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

use oxidnn_jit::arena::{Mode, Options};
use oxidnn_jit::asm::Assembled;
use oxidnn_jit::asm::{Gpr, Mem, Op, Operand};
use oxidnn_jit::{Asm, Code, CodeArena, CodeError, Isa};
use rustix::process::{Resource, Rlimit, setrlimit};
use std::sync::Mutex;

unsafe extern "C" {
    fn fork() -> i32;
    fn waitpid(pid: i32, status: *mut i32, options: i32) -> i32;
    fn mprotect(address: *mut u8, len: usize, rights: i32) -> i32;
    fn _exit(status: i32) -> !;
}

/// Code that stores a number.
fn assembled(number: i64) -> Assembled {
    let mut asm = Asm::new(Isa::AVX2);
    asm.op(Op::MovImm, &[Gpr::Rax.into(), Operand::Imm(number)]);
    asm.op(Op::MovStore, &[Mem::at(Gpr::Rdi, 0).into(), Gpr::Rax.into()]);
    asm.op(Op::Ret, &[]);
    asm.finish().unwrap()
}

fn install(arena: &CodeArena, number: i64) -> Code {
    arena.install("store", &assembled(number)).unwrap()
}

fn run(code: &Code) -> i64 {
    let out = std::cell::Cell::new(0_i64);
    // SAFETY: the code is a function of one pointer to 8 bytes that it writes.
    unsafe { code.entry::<std::cell::Cell<i64>>().call(&out) };
    out.get()
}

/// What either process does, in its own arena: frees and makes code while the other does, and looks then whether all of it is its own.
fn live(arena: &CodeArena, kept: &[Code], freed: Code, mine: i64) -> bool {
    drop(freed);
    let made: Vec<Code> = (0..200).map(|i| install(arena, mine + i)).collect();
    std::thread::sleep(std::time::Duration::from_millis(100));
    let is = |codes: &[Code], first: i64| codes.iter().zip(first..).all(|(code, number)| run(code) == number);
    is(kept, 0) && is(&made, mine)
}

/// Forks are counted by process: one test at a time.
static ONE: Mutex<()> = Mutex::new(());

/// The exit status of a child that does `what`.
fn child(what: impl FnOnce() -> bool) -> i32 {
    // SAFETY: the child runs generated code, allocates (the C library makes that safe after a fork) and leaves at once.
    let pid = unsafe { fork() };
    if pid == 0 {
        let right = what();
        // SAFETY: ends the child without running what belongs to the parent.
        unsafe { _exit(i32::from(!right)) };
    }
    let mut status = -1;
    // SAFETY: waits for the child made above, with a place for its status.
    assert_eq!(unsafe { waitpid(pid, &raw mut status, 0) }, pid);
    status
}

#[test]
fn a_child_cannot_change_its_parent_s_code() {
    let _one = ONE.lock().unwrap_or_else(|e| e.into_inner());
    let arena = CodeArena::new(Options { mode: Mode::TwoViews, ..Options::default() });
    let code = install(&arena, 7);
    let status = child(|| {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let no_view = !maps.lines().any(|line| line.contains("oxidnn-code") && line.contains("rw"));
        let page = code.address() & !4095;
        // SAFETY: the page holds the code of this test alone; from here on it is this process's to spoil, which does not run it.
        unsafe {
            let writable = mprotect(page as *mut u8, 4096, 3);
            (page as *mut u8).write_bytes(0xcc, 4096);
            no_view && writable == 0
        }
    });
    assert_eq!((status, run(&code)), (0, 7));
}

#[test]
fn small_limits_of_files_leave_pages_of_their_own() {
    let _one = ONE.lock().unwrap_or_else(|e| e.into_inner());
    let status = child(|| {
        let limit = Rlimit { current: Some(4096), maximum: Some(4096) };
        setrlimit(Resource::Fsize, limit).unwrap();
        let arena = |mode| CodeArena::new(Options { mode, ..Options::default() });
        let refused = arena(Mode::TwoViews).install("none", &assembled(1));
        let code = install(&arena(Mode::Auto), 5);
        matches!(refused, Err(CodeError::Refused { reason, .. }) if reason.contains("RLIMIT_FSIZE")) && run(&code) == 5
    });
    assert_eq!(status, 0);
}

#[test]
fn forked_processes_keep_out_of_each_other_s_code() {
    let _one = ONE.lock().unwrap_or_else(|e| e.into_inner());
    for mode in [Mode::TwoViews, Mode::OwnPages] {
        let arena = CodeArena::new(Options { mode, ..Options::default() });
        let kept: Vec<Code> = (0..10).map(|i| install(&arena, i)).collect();
        let freed = install(&arena, 77);
        // SAFETY: the child runs generated code, allocates (the C library makes that safe after a fork) and leaves at once.
        let pid = unsafe { fork() };
        if pid == 0 {
            let inherited = arena.install("none", &assembled(1)).is_err_and(|e| e == CodeError::Inherited);
            let own = CodeArena::new(Options { mode, ..Options::default() });
            let right = inherited && live(&own, &kept, freed, 1000);
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
