use super::*;
use crate::asm::{Asm, Gpr, Op, Operand};
use crate::isa::Isa;

const MODES: [Mode; 2] = [Mode::TwoViews, Mode::OwnPages];

fn arena(mode: Mode) -> CodeArena {
    CodeArena::new(Options { mode, chunk: 1 << 16, ..Options::default() })
}

/// `*argument = number`
fn store(number: i64) -> Assembled {
    let mut asm = Asm::new(Isa::AVX2);
    asm.op(Op::MovImm, &[Gpr::Rax.into(), Operand::Imm(number)]);
    asm.op(Op::MovStore, &[crate::asm::Mem::at(Gpr::Rdi, 0).into(), Gpr::Rax.into()]);
    asm.op(Op::Ret, &[]);
    asm.finish().unwrap()
}

fn run(code: &Code) -> i64 {
    let out = std::cell::Cell::new(0_i64);
    // SAFETY: the code of `store` is a function of one pointer to 8 bytes that it writes.
    unsafe { code.entry::<std::cell::Cell<i64>>().call(&out) };
    out.get()
}

#[test]
fn code_runs() {
    for mode in MODES {
        let arena = arena(mode);
        let codes: Vec<Code> = (0..50).map(|i| arena.install("store", &store(i << 33)).unwrap()).collect();
        for (i, code) in codes.iter().enumerate() {
            assert_eq!(run(code), (i as i64) << 33);
            assert_eq!(code.address() % 64, 0);
            // SAFETY: not run, only read.
            assert_eq!(unsafe { code.entry::<()>() }.bytes(), store((i as i64) << 33).bytes);
        }
        assert_eq!(arena.stats().kernels, 50);
    }
}

#[test]
fn code_outlives_its_arena_and_is_freed_with_its_last_handle() {
    for mode in MODES {
        let arena = arena(mode);
        let code = arena.install("store", &store(7)).unwrap();
        let again = code.clone();
        drop(code);
        assert_eq!(arena.stats().kernels, 1);
        let watch = arena.clone();
        drop(arena);
        assert_eq!(run(&again), 7);
        drop(again);
        assert_eq!((watch.stats().kernels, watch.stats().code), (0, 0));
    }
}

#[test]
fn space_is_reused() {
    let arena = arena(Mode::TwoViews);
    let first = arena.install("a", &store(1)).unwrap();
    let keep = arena.install("b", &store(2)).unwrap();
    let address = first.address();
    drop(first);
    let third = arena.install("c", &store(3)).unwrap();
    assert_eq!((third.address(), run(&third), run(&keep)), (address, 3, 2));
    assert_eq!(arena.stats().chunks, 1);
}

#[test]
fn large_code_gets_a_chunk_of_its_size_and_gives_it_back() {
    let arena = arena(Mode::TwoViews);
    let small = arena.install("small", &store(1)).unwrap();
    let mut large = store(2);
    large.bytes.resize(1 << 18, 0xcc);
    let large = arena.install("large", &large).unwrap();
    assert_eq!(arena.stats(), Stats { kernels: 2, code: store(1).bytes.len() + (1 << 18), mapped: (1 << 16) + (1 << 18), chunks: 2 });
    assert_eq!(run(&large), 2);
    drop(small);
    drop(large);
    assert_eq!(arena.stats().chunks, 1, "one empty chunk is kept");
}

#[test]
fn the_budget_is_kept() {
    for mode in MODES {
        let arena = CodeArena::new(Options { mode, budget: 1 << 14, chunk: 1 << 14, ..Options::default() });
        let mut codes = Vec::new();
        let error = loop {
            match arena.install("store", &store(1)) {
                Ok(code) => codes.push(code),
                Err(e) => break e,
            }
        };
        assert!(matches!(error, CodeError::Budget { used: 16384, budget: 16384, .. }), "{error}");
        codes.pop();
        codes.push(arena.install("store", &store(2)).unwrap());
    }
}

#[test]
fn memory_is_never_writable_and_executable() {
    for mode in MODES {
        let arena = arena(mode);
        let code = arena.install("store", &store(1)).unwrap();
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let mut found = false;
        for line in maps.lines() {
            let mut words = line.split_whitespace();
            let (range, rights) = (words.next().unwrap(), words.next().unwrap());
            let (from, to) = range.split_once('-').unwrap();
            let parse = |s| usize::from_str_radix(s, 16).unwrap();
            assert!(!(rights.contains('w') && rights.contains('x')), "{line}");
            if (parse(from)..parse(to)).contains(&code.address()) {
                assert!(rights.starts_with("r-x"), "{line}");
                found = true;
            }
        }
        assert!(found);
    }
}

#[test]
fn code_of_before_a_fork_is_left_alone() {
    let arena = arena(Mode::TwoViews);
    let old = arena.install("old", &store(1)).unwrap();
    let freed = arena.install("freed", &store(2)).unwrap();
    let freed_at = freed.address();
    // Only the count is seen by the arena; a fork of a test process would leave the harness in both.
    fork::forked();
    drop(freed);
    let new = arena.install("new", &store(3)).unwrap();
    assert_ne!(new.address(), freed_at, "a child may run what was there");
    assert_eq!((run(&old), run(&new), arena.stats().chunks), (1, 3, 1));
    let reused = new.address();
    drop(new);
    assert_eq!(arena.install("newer", &store(4)).unwrap().address(), reused, "no child knows what was there");
    drop(old);
    assert_eq!(arena.stats().chunks, 0, "a chunk that lost space is not kept");
}

#[test]
fn room_is_what_the_budget_allows() {
    for mode in MODES {
        let arena = CodeArena::new(Options { mode, budget: 1 << 16, chunk: 1 << 14, ..Options::default() });
        assert_eq!(arena.room(), 1 << 16);
        let code = arena.install("store", &store(1)).unwrap();
        let taken = if mode == Mode::TwoViews { store(1).bytes.len().next_multiple_of(64) } else { map::whole_pages(1) };
        assert_eq!(arena.room(), (1 << 16) - taken);
        drop(code);
        assert_eq!(arena.room(), 1 << 16);
    }
}

#[test]
fn kernels_are_named_for_profilers() {
    let path = std::env::temp_dir().join(format!("oxidnn-jit-perf-{}.map", std::process::id()));
    let arena = CodeArena::new(Options { perf_map: Some(path.clone()), ..Options::default() });
    let code = arena.install("dot f32", &store(1)).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert_eq!(text, format!("{:x} {:x} dot f32\n", code.address(), code.len()));
}

#[test]
fn free_ranges_join() {
    let mut free = FreeList::new(640);
    let at: Vec<usize> = (0..5).map(|_| free.take(128).unwrap()).collect();
    assert_eq!(free.take(1), None);
    for i in [0, 2, 4, 3, 1] {
        free.give(at[i], 128);
    }
    assert_eq!(free.sizes(), [640]);
}

#[test]
fn threads_share_an_arena() {
    let arena = arena(Mode::Auto);
    std::thread::scope(|s| {
        for t in 0..4 {
            let arena = &arena;
            s.spawn(move || {
                for i in 0..200 {
                    let code = arena.install("store", &store(t * 1000 + i)).unwrap();
                    assert_eq!(run(&code), t * 1000 + i);
                }
            });
        }
    });
    assert_eq!(arena.stats().kernels, 0);
}

#[test]
fn a_refusal_steps_down_and_is_said() {
    // Two views of so much do not fit into the address space.
    let options = |mode| Options { mode, chunk: 1 << 46, budget: usize::MAX, perf_map: None };
    let error = CodeArena::new(options(Mode::TwoViews)).install("store", &store(1)).unwrap_err();
    assert!(matches!(error, CodeError::Refused { .. }), "{error}");
    let arena = CodeArena::new(options(Mode::Auto));
    let code = arena.install("store", &store(1)).unwrap();
    assert_eq!((run(&code), arena.stats().mapped), (1, map::whole_pages(1)));
}
