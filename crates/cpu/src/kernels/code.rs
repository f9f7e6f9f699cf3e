//! Generated kernels of the process: each is made once and shared by everything that needs the same one.
//!
//! A kernel is known by its key, plain data that says all its code depends on, and by the instruction set. Keys hold no sizes of tensors, so
//! there are few kernels however many shapes pass by. All code lies in one arena with one budget; when that is used up, kernels of all kinds that
//! nothing holds any more are dropped, and made again when they are asked for. Where all are held, [`refusal`] says so, and problems described
//! from then on go to rows without generated code.
//!
//! Each kernel is made once: who asks for one that another thread is making waits for it, and for no other.

pub use oxidnn_jit::Key;
use oxidnn_jit::arena::{Options, perf_map_path};
use oxidnn_jit::asm::Assembled;
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

/// A kernel, or who makes it.
struct Place<A> {
    made: OnceLock<Entry<A>>,
    making: Mutex<()>,
}

/// The kernels of any kind.
trait Kind: Any + Sync {
    /// Those that nobody uses, no longer known.
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

/// The memory of all kernels. A forked child runs its parent's kernels where they are and has memory of its own for others.
fn arena() -> &'static CodeArena {
    static ARENA: OnceLock<Own<CodeArena>> = OnceLock::new();
    let new = || {
        let perf_map = knobs::jit_profile().then(perf_map_path);
        CodeArena::new(Options { perf_map, ..Options::default() })
    };
    fork::once(&ARENA, || Own::new(new())).get(|_| new())
}

/// Why this process runs no generated code; `None` where it may. Asked of the system once.
fn refused() -> Option<&'static str> {
    static REFUSED: OnceLock<Option<String>> = OnceLock::new();
    fork::once(&REFUSED, || if knobs::get().jit { probe(arena()) } else { Some("none, as the knob JIT says".into()) }).as_deref()
}

/// Why problems that are described now get no generated code; `None` where they may.
pub fn refusal() -> Option<&'static str> {
    refused().or_else(|| is_full().then_some("all of the memory that generated code may take is in use"))
}

/// Set when a kernel found no room though all that nobody used was dropped.
static FULL: AtomicBool = AtomicBool::new(false);

/// Room that is worth describing primitives with generated code for: some kernels of usual size.
const ROOM: usize = 64 << 10;

/// Whether all of the memory that generated code may take is in use.
pub fn is_full() -> bool {
    if !FULL.load(Ordering::Relaxed) {
        return false;
    }
    sweep();
    let full = arena().room() < ROOM;
    FULL.store(full, Ordering::Relaxed);
    full
}

/// Drops the kernels of all kinds that nobody uses.
fn sweep() {
    let kinds = fork::lock(&KINDS).clone();
    kinds.values().for_each(|kind| drop(kind.unused()));
}

/// Puts code where it can run. When the budget is used up, what nobody uses makes room.
fn install(arena: &CodeArena, name: &str, made: &Assembled, sweep: impl Fn()) -> Result<Code, CodeError> {
    match arena.install(name, made) {
        Err(CodeError::Budget { .. }) => {
            sweep();
            arena.install(name, made)
        }
        done => done,
    }
}

thread_local! {
    /// Bytes of the kernels that this thread was given.
    static GIVEN: Cell<usize> = const { Cell::new(0) };
}

/// What `make` gives, and the bytes of the kernels that it asked for.
pub fn counted<T>(make: impl FnOnce() -> T) -> (T, usize) {
    let before = GIVEN.get();
    let made = make();
    (made, GIVEN.get() - before)
}

static MADE: AtomicUsize = AtomicUsize::new(0);

/// Kernels that this process has made so far.
pub fn made() -> usize {
    MADE.load(Ordering::Relaxed)
}

/// What keeps code out of `arena`.
fn probe(arena: &CodeArena) -> Option<String> {
    let Ok(function) = Function::new(Isa::AVX2).finish() else { return Some("none can be made".into()) };
    arena.install("probe", &function.code).err().map(|e| e.to_string())
}

/// The type as generated code loads and stores it; `None` for types it does not know. All but [`Elem::I32`] are f32 in registers.
pub fn elem(dtype: DataType) -> Option<Elem> {
    Some(match dtype {
        DataType::F32 => Elem::F32,
        DataType::Bf16 => Elem::Bf16,
        DataType::F16 => Elem::F16,
        DataType::S32 => Elem::I32,
        DataType::S8 => Elem::I8,
        DataType::U8 => Elem::U8,
        _ => return None,
    })
}

/// Writes a kernel to a file of the working directory, under the name that oneDNN's dumps have; what cannot be written is left out.
fn dump(name: &str, bytes: &[u8]) {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let name: String = name.chars().map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' }).collect();
    let _ = std::fs::write(format!("dnnl_dump_cpu_{name}.{number}.bin"), bytes);
}

/// The kernel for `key`, made now if it has not been before.
///
/// # Errors
/// [`Error::OutOfMemory`] when there is no executable memory for it; [`Error::Runtime`] when the processor lacks the instruction set or the
/// kernel needs more registers than there are.
pub fn get<K: Key>(isa: Isa, key: &K) -> Result<Entry<K::Args>, Error> {
    let _inside = fork::enter();
    let new = || Arc::new(Place { made: OnceLock::new(), making: Mutex::new(()) });
    let place = fork::lock(&kernels().0).entry((key.clone(), isa)).or_insert_with(new).clone();
    let made = || {
        // One at a time makes the kernel of this place; who waited finds it there.
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
        // Places are handed out under the lock: a place that only the table has is nobody's, and nobody makes its kernel.
        let unused = |place: &Arc<Place<K::Args>>| Arc::strong_count(place) == 1 && place.made.get().is_none_or(|entry| !entry.is_shared());
        table.extract_if(|_, place| unused(place)).filter_map(|(_, place)| Some(place.made.get()?.code().clone())).collect()
    }
}

/// Makes a kernel.
fn make<K: Key>(isa: Isa, key: &K) -> Result<Entry<K::Args>, Error> {
    let name = key.name(isa);
    if !isa.is_present() {
        return Err(Error::Runtime(format!("{name}: this processor lacks {}", isa.name())));
    }
    let made = key.function(isa).finish().map_err(|e| Error::Runtime(format!("{name}: {e}")))?;
    if knobs::jit_dump() {
        dump(&name, &made.code.bytes);
    }
    let code = install(arena(), &name, &made.code, sweep).map_err(|e| {
        FULL.fetch_or(matches!(e, CodeError::Budget { .. }), Ordering::Relaxed);
        Error::OutOfMemory { bytes: made.code.bytes.len(), what: format!("generated code ({name}: {e})") }
    })?;
    MADE.fetch_add(1, Ordering::Relaxed);
    // SAFETY: the code was written by the key for its own type of arguments, and the processor has the instruction set.
    Ok(unsafe { code.entry::<K::Args>() })
}
