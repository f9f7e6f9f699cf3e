//! Generated kernels of the process: each is made once and shared by everything that needs the same one.
//!
//! A kernel is known by its key, plain data that says all its code depends on, and by the instruction set. Keys hold no sizes of tensors, so
//! there are few kernels however many shapes pass by. All code lies in one arena with one budget; when that is used up, kernels that nothing
//! holds any more are dropped, and made again when they are asked for.

use oxidnn_jit::arena::{Options, perf_map_path};
use oxidnn_jit::ir::Elem;
use oxidnn_jit::{CodeArena, CodeError, Entry, Function, Isa};
use oxidnn_runtime::knobs;
use oxidnn_spec::{DataType, Error};
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex, MutexGuard, OnceLock, PoisonError};

/// What a kernel's code depends on.
pub trait Key: Clone + Eq + Hash {
    /// The block of arguments that the kernel reads.
    type Args;

    /// The name in dumps and profiles, such as `dot.f32f32f32.6x64.avx512`.
    fn name(&self, isa: Isa) -> String;

    /// Writes the kernel.
    fn function(&self, isa: Isa) -> Function;
}

/// The kernels of one kind. One static of this type for each kind is the registry.
pub struct Kernels<K: Key>(Mutex<Option<Table<K>>>);

type Table<K> = HashMap<(K, Isa), Entry<<K as Key>::Args>>;

/// The memory of all kernels.
static ARENA: LazyLock<CodeArena> = LazyLock::new(|| {
    let perf_map = knobs::jit_profile().then(perf_map_path);
    CodeArena::new(Options { perf_map, ..Options::default() })
});

/// Why this process runs no generated code; `None` where it may. Asked of the system once.
pub fn refusal() -> Option<&'static str> {
    static REFUSAL: OnceLock<Option<String>> = OnceLock::new();
    REFUSAL.get_or_init(|| if knobs::get().jit { probe(&ARENA) } else { Some("none, as the knob JIT says".into()) }).as_deref()
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

impl<K: Key> Default for Kernels<K> {
    fn default() -> Kernels<K> {
        Kernels::new()
    }
}

impl<K: Key> Kernels<K> {
    /// None yet.
    pub const fn new() -> Kernels<K> {
        Kernels(Mutex::new(None))
    }

    /// The kernel for `key`, made now if it has not been before.
    ///
    /// # Errors
    /// [`Error::Runtime`] when the processor lacks the instruction set, the kernel needs more registers than there are, or there is no
    /// executable memory for it.
    pub fn get(&self, isa: Isa, key: &K) -> Result<Entry<K::Args>, Error> {
        let mut table = self.lock();
        let table = table.get_or_insert_with(HashMap::new);
        let key = (key.clone(), isa);
        if let Some(entry) = table.get(&key) {
            return Ok(entry.clone());
        }
        let name = key.0.name(isa);
        if !isa.is_present() {
            return Err(Error::Runtime(format!("{name}: this processor lacks {}", isa.name())));
        }
        let made = key.0.function(isa).finish().map_err(|e| Error::Runtime(format!("{name}: {e}")))?;
        if knobs::jit_dump() {
            dump(&name, &made.code.bytes);
        }
        let code = match ARENA.install(&name, &made.code) {
            Err(CodeError::Budget { .. }) => {
                table.retain(|_, entry| entry.is_shared());
                ARENA.install(&name, &made.code)
            }
            done => done,
        };
        let code = code.map_err(|e| Error::Runtime(format!("{name}: {e}")))?;
        // SAFETY: the code was written by the key for its own type of arguments, and the processor has the instruction set.
        let entry = unsafe { code.entry::<K::Args>() };
        table.insert(key, entry.clone());
        MADE.fetch_add(1, Ordering::Relaxed);
        Ok(entry)
    }

    fn lock(&self) -> MutexGuard<'_, Option<Table<K>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxidnn_jit::arena::Mode;

    #[test]
    fn a_refusal_of_memory_is_said() {
        // Two views of so much do not fit into the address space.
        let arena = CodeArena::new(Options { mode: Mode::TwoViews, chunk: 1 << 46, budget: usize::MAX, perf_map: None });
        assert!(probe(&arena).is_some_and(|why| why.starts_with("executable memory is refused: ")));
        assert_eq!(probe(&CodeArena::new(Options::default())), None);
    }
}
