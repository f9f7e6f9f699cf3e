//! Generated kernels of the process: each is made once and shared by everything that needs the same one.
//!
//! A kernel is known by its key, plain data that says all its code depends on, and by the instruction set. Keys hold no sizes of tensors, so
//! there are few kernels however many shapes pass by. All code lies in one arena with one budget; when that is used up, kernels that nothing
//! holds any more are dropped, and made again when they are asked for.

use oxidnn_jit::arena::{Mode, Options};
use oxidnn_jit::{CodeArena, CodeError, Entry, Function, Isa};
use oxidnn_spec::Error;
use std::collections::HashMap;
use std::hash::Hash;
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
static ARENA: LazyLock<CodeArena> = LazyLock::new(|| CodeArena::new(Options { mode: Mode::Auto, ..Options::default() }));

/// True when this process may run generated code. Asked of the system once.
pub fn usable() -> bool {
    static USABLE: OnceLock<bool> = OnceLock::new();
    *USABLE.get_or_init(|| Function::new(Isa::AVX2).finish().is_ok_and(|f| ARENA.install("probe", &f.code).is_ok()))
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
        Ok(entry)
    }

    fn lock(&self) -> MutexGuard<'_, Option<Table<K>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
