//! The process's generated kernels: each is generated once and shared by all that need the same one.
//!
//! A kernel is identified by its key, plain data with everything that its code depends on, and by the instruction set. Keys hold no tensor
//! sizes, so there are few kernels for any number of shapes. All code is in one arena with one budget. When the budget is used up, kernels
//! of all kinds that nothing holds are dropped, and generated again when needed. If all are held, [`refusal`] says so, and problems that
//! are described from then on get rows without generated code.
//!
//! A thread that needs a kernel which another thread is generating waits for that kernel only.

pub use oxidnn_jit::Key;
use oxidnn_jit::arena::{Options, perf_map_path};
use oxidnn_jit::emulator::Program;
use oxidnn_jit::ir::Elem;
use oxidnn_jit::{Code, CodeArena, CodeError, Entry, Function, Isa};
use oxidnn_runtime::fork::{self, Own};
use oxidnn_runtime::knobs;
use oxidnn_spec::{DataType, Error};
use std::any::{Any, TypeId};
use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

#[cfg(test)]
mod tests;

/// The kernels of one kind, by their keys.
struct Kernels<K: Key>(Mutex<Table<K>>);

type Table<K> = HashMap<(K, Isa), Arc<Place<<K as Key>::Args>>>;

/// A kernel, or the lock for generating it.
struct Place<A> {
    made: OnceLock<Entry<A>>,
    making: Mutex<()>,
}

/// The kernels of any kind.
trait Kind: Any + Sync {
    /// Removes the kernels that nobody uses.
    fn unused(&self) -> Vec<Code>;
}

/// The registry: kinds by the types of their keys.
static KINDS: Mutex<BTreeMap<TypeId, &'static dyn Kind>> = Mutex::new(BTreeMap::new());

/// The kernels of a kind.
fn kernels<K: Key>() -> &'static Kernels<K> {
    let mut kinds = fork::lock(&KINDS);
    let known = kinds.get(&TypeId::of::<K>()).copied();
    known.and_then(|kind| (kind as &dyn Any).downcast_ref()).unwrap_or_else(|| {
        let new: &'static Kernels<K> = Box::leak(Box::new(Kernels(Mutex::default())));
        kinds.insert(TypeId::of::<K>(), new);
        new
    })
}

/// The memory of all kernels. A forked child runs its parent's kernels in place and has memory of its own for others.
fn arena() -> &'static CodeArena {
    static ARENA: OnceLock<Own<CodeArena>> = OnceLock::new();
    let new = || {
        let perf_map = knobs::jit_profile().then(perf_map_path);
        CodeArena::new(Options { perf_map, ..Options::default() })
    };
    fork::once(&ARENA, || Own::new(new())).get(|_| new())
}

/// Why this process runs no generated code; `None` if it may. The system is asked once.
fn refused() -> Option<&'static str> {
    static REFUSED: OnceLock<Option<String>> = OnceLock::new();
    fork::once(&REFUSED, || if knobs::get().jit { probe(arena()) } else { Some("none, as the knob JIT says".into()) }).as_deref()
}

/// Why problems that are described now get no generated code; `None` if they may.
pub fn refusal() -> Option<&'static str> {
    refused().or_else(|| is_full().then_some("all of the memory that generated code may take is in use"))
}

/// Set when there was no room for a kernel although all unused ones had been dropped.
static FULL: AtomicBool = AtomicBool::new(false);

/// Free memory that justifies describing primitives with generated code: some kernels of usual size.
const MIN_FREE_BYTES: usize = 64 << 10;

/// Whether all memory for generated code is in use.
pub fn is_full() -> bool {
    if !FULL.load(Ordering::Relaxed) {
        return false;
    }
    sweep();
    let full = arena().room() < MIN_FREE_BYTES;
    FULL.store(full, Ordering::Relaxed);
    full
}

/// Drops the unused kernels of all kinds.
fn sweep() {
    let kinds = fork::lock(&KINDS).clone();
    kinds.values().for_each(|kind| drop(kind.unused()));
}

/// Makes code executable. When the budget is used up, unused kernels are dropped first.
fn install(sweep: impl Fn(), install: impl Fn() -> Result<Code, CodeError>) -> Result<Code, CodeError> {
    match install() {
        Err(CodeError::Budget { .. }) => {
            sweep();
            install()
        }
        done => done,
    }
}

thread_local! {
    /// Bytes of the kernels that this thread was given.
    static GIVEN: Cell<usize> = const { Cell::new(0) };
}

/// The result of `make`, and the bytes of the kernels that it got.
pub fn counted<T>(make: impl FnOnce() -> T) -> (T, usize) {
    let before = GIVEN.get();
    let made = make();
    (made, GIVEN.get() - before)
}

static MADE: AtomicUsize = AtomicUsize::new(0);

/// Number of kernels that this process has generated.
pub fn made() -> usize {
    MADE.load(Ordering::Relaxed)
}

/// Why `arena` cannot hold code, if so.
fn probe(arena: &CodeArena) -> Option<String> {
    let Ok(function) = Function::new(Isa::AVX2).finish() else { return Some("none can be made".into()) };
    arena.install("probe", &function.code).err().map(|e| e.to_string())
}

/// The type as generated code loads and stores it; `None` for types that it does not have. All but [`Elem::I32`] are f32 in registers.
pub fn elem(dtype: DataType) -> Option<Elem> {
    Some(match dtype {
        DataType::F32 => Elem::F32,
        DataType::Bf16 => Elem::Bf16,
        DataType::F16 => Elem::F16,
        DataType::S32 => Elem::I32,
        DataType::S8 => Elem::I8,
        DataType::U8 => Elem::U8,
        DataType::F8E5m2 => Elem::F8E5m2,
        DataType::F8E4m3 => Elem::F8E4m3,
        _ => return None,
    })
}

/// Writes a kernel to a file in the working directory, with a name as oneDNN's dumps have; failures are ignored.
fn dump(name: &str, bytes: &[u8]) {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let name: String = name.chars().map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' }).collect();
    let _ = std::fs::write(format!("dnnl_dump_cpu_{name}.{number}.bin"), bytes);
}

/// The kernel for `key`, generated if it does not exist yet.
///
/// # Errors
/// [`Error::OutOfMemory`] when there is no executable memory for it; [`Error::Runtime`] when the processor lacks the instruction set or the
/// kernel needs more registers than there are.
pub fn get<K: Key>(isa: Isa, key: &K) -> Result<Entry<K::Args>, Error> {
    let _inside = fork::enter();
    let new = || Arc::new(Place { made: OnceLock::new(), making: Mutex::new(()) });
    let place = fork::lock(&kernels().0).entry((key.clone(), isa)).or_insert_with(new).clone();
    let made = || {
        // One thread at a time generates the kernel of this place; threads that waited find it done.
        let _making = place.making.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = place.made.get() {
            return Ok(entry.clone());
        }
        let entry = make(isa, key)?;
        let _ = place.made.set(entry.clone());
        Ok(entry)
    };
    let entry = place.made.get().cloned().map_or_else(made, Ok)?;
    GIVEN.set(GIVEN.get() + entry.code().len());
    Ok(entry)
}

impl<K: Key> Kind for Kernels<K> {
    fn unused(&self) -> Vec<Code> {
        let mut table = fork::lock(&self.0);
        // Places are handed out under the lock: a place that only the table holds is unused, and nobody is generating its kernel.
        let unused = |place: &Arc<Place<K::Args>>| Arc::strong_count(place) == 1 && place.made.get().is_none_or(|entry| !entry.is_shared());
        table.extract_if(|_, place| unused(place)).filter_map(|(_, place)| Some(place.made.get()?.code().clone())).collect()
    }
}

/// Generates a kernel.
fn make<K: Key>(isa: Isa, key: &K) -> Result<Entry<K::Args>, Error> {
    let name = key.name(isa);
    if !isa.is_present() {
        return Err(Error::Runtime(format!("{name}: this processor lacks {}", isa.name())));
    }
    let function = key.function(isa);
    let made = if isa.emulated { function.finish_recording() } else { function.finish() };
    let made = made.map_err(|e| Error::Runtime(format!("{name}: {e}")))?;
    if knobs::jit_dump() {
        dump(&name, &made.code.bytes);
    }
    let installed = install(sweep, || match isa.emulated {
        true => arena().install_emulated(&name, Program::new(&made.code, isa)),
        false => arena().install(&name, &made.code),
    });
    let code = installed.map_err(|e| {
        FULL.fetch_or(matches!(e, CodeError::Budget { .. }), Ordering::Relaxed);
        Error::OutOfMemory { bytes: made.code.bytes.len(), what: format!("generated code ({name}: {e})") }
    })?;
    MADE.fetch_add(1, Ordering::Relaxed);
    // SAFETY: the code was written by the key for its own type of arguments, and the processor has the instruction set.
    Ok(unsafe { code.entry::<K::Args>() })
}
