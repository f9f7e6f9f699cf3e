use super::*;
use oxidnn_jit::arena::Mode;
use std::sync::atomic::AtomicUsize;

#[test]
fn a_refusal_of_memory_is_said() {
    // Two views of this size do not fit into the address space.
    let arena = CodeArena::new(Options { mode: Mode::TwoViews, chunk: 1 << 46, budget: usize::MAX, perf_map: None });
    assert!(probe(&arena).is_some_and(|why| why.starts_with("executable memory is refused: ")));
    assert_eq!(probe(&CodeArena::new(Options::default())), None);
}

/// A kernel that does nothing, with a number as its key.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Nothing(u32);

static WRITTEN: AtomicUsize = AtomicUsize::new(0);

impl Key for Nothing {
    type Args = ();

    fn name(&self, _: Isa) -> String {
        format!("nothing.{}", self.0)
    }

    fn write(&self, _: &mut Function) {
        WRITTEN.fetch_add(1, Ordering::SeqCst);
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

#[test]
fn a_kernel_is_made_once_and_dropped_when_nobody_uses_it() {
    if refusal().is_some() || !Isa::AVX2.is_present() {
        return;
    }
    let threads: Vec<_> = (0..8).map(|_| std::thread::spawn(|| get(Isa::AVX2, &Nothing(1)).unwrap())).collect();
    let entries: Vec<Entry<()>> = threads.into_iter().map(|t| t.join().unwrap()).collect();
    assert_eq!(WRITTEN.load(Ordering::SeqCst), 1);
    assert!(entries.iter().all(|e| e.code().address() == entries[0].code().address()));
    let (other, bytes) = counted(|| get(Isa::AVX2, &Nothing(2)).unwrap());
    assert_eq!(bytes, other.code().len());
    let held = entries[0].clone();
    drop((entries, other));
    let gone: Vec<String> = kernels::<Nothing>().unused().iter().map(|code| code.name().to_owned()).collect();
    assert_eq!(gone, ["nothing.2"], "the other one is held");
    drop(held);
    assert_eq!(kernels::<Nothing>().unused().len(), 1);
    get(Isa::AVX2, &Nothing(1)).unwrap();
    assert_eq!(WRITTEN.load(Ordering::SeqCst), 3);
}

#[test]
fn what_nobody_uses_makes_room() {
    let arena = CodeArena::new(Options { budget: 1 << 14, chunk: 1 << 14, ..Options::default() });
    let code = Function::new(Isa::AVX2).finish().unwrap().code;
    let unused = Mutex::new(Vec::new());
    while let Ok(code) = arena.install("first", &code) {
        fork::lock(&unused).push(code);
    }
    assert_eq!(arena.room(), 0);
    let swept = AtomicUsize::new(0);
    let sweep = || {
        swept.fetch_add(1, Ordering::SeqCst);
        fork::lock(&unused).clear();
    };
    let held = install(sweep, || arena.install("second", &code)).unwrap();
    assert_eq!((swept.load(Ordering::SeqCst), arena.stats().kernels), (1, 1));
    let more: Vec<_> = std::iter::from_fn(|| install(sweep, || arena.install("third", &code)).ok()).collect();
    assert!(more.len() > 10 && swept.load(Ordering::SeqCst) == 2, "all are held, so that nothing makes room");
    drop(held);
}
