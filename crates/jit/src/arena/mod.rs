//! `CodeArena`: executable memory.
//!
//! Memory is never writable and executable at one address. Chunks are memory files (`memfd_create`) that are mapped twice: code is written
//! through one view and run through the other, so that installing a kernel changes no protection (that would stop every thread of the process
//! for a moment) and kernels are packed, each at a multiple of 64 bytes. Where such files or their execution are refused (SELinux `execmem`
//! policies, `noexec`), every kernel gets anonymous pages of its own that are written first and made executable then. Where that is refused
//! as well, [`CodeError::Refused`] says so, and the caller runs without generated code.
//!
//! A forked child runs its parent's code in the memory files that both have. It cannot write to them: it has no writable view, and writes
//! through the executable view go to a private copy. It frees nothing in its parent's arena and installs nothing there
//! ([`CodeError::Inherited`]), but makes an arena of its own. The parent never reuses the code memory that it had at the fork, freed or
//! not, since the child may run it.
//!
//! On x86-64 code that is written before its address is published needs no flush; freed space is filled with traps, so that a stale
//! pointer stops instead of running another kernel's bytes.

mod entry;
mod fork;
mod free;
#[cfg(target_os = "linux")]
mod map;
#[cfg(not(target_os = "linux"))]
#[path = "elsewhere.rs"]
mod map;
#[cfg(test)]
mod tests;

use crate::asm::{ALIGN, Assembled};
use crate::emulator::Program;
use free::FreeList;
use map::{Anonymous, DualMap};
use std::fmt::Write as _;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Why code cannot be installed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CodeError {
    /// The system gives no executable memory.
    #[error("executable memory is refused: {step}: {reason}")]
    Refused {
        /// The last attempt.
        step: &'static str,
        /// The system's error.
        reason: String,
    },
    /// The budget does not allow it; freeing kernels helps.
    #[error("{need} bytes of code do not fit: {used} of {budget} are in use")]
    Budget {
        /// Bytes asked for, rounded to the size of a mapping.
        need: usize,
        /// Bytes mapped.
        used: usize,
        /// Most that may be mapped.
        budget: usize,
    },
    /// The arena was made by a process that this one was forked from.
    #[error("this arena belongs to the process that this one was forked from")]
    Inherited,
    /// The system or processor cannot run x86-64 code from the System V world.
    #[error("generated code needs x86-64 Linux")]
    Unsupported,
}

/// Which kind of executable memory to use.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Mode {
    /// Two views of a memory file, or else pages of its own for every kernel.
    #[default]
    Auto,
    /// Two views of a memory file only.
    TwoViews,
    /// Pages of its own for every kernel.
    OwnPages,
}

/// How an arena is made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// Which kind of memory.
    pub mode: Mode,
    /// Most bytes that may be mapped (one view counted).
    pub budget: usize,
    /// Size of a chunk in bytes, rounded up to pages; larger code gets a chunk of its size.
    pub chunk: usize,
    /// A file that gets a line `address size name` for every kernel, as profilers read it (see [`perf_map_path`]).
    pub perf_map: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Options {
        Options { mode: Mode::Auto, budget: 256 << 20, chunk: 1 << 20, perf_map: None }
    }
}

/// Where `perf` looks for the names of this process's generated code.
pub fn perf_map_path() -> PathBuf {
    PathBuf::from(format!("/tmp/perf-{}.map", std::process::id()))
}

/// The contents of an arena, counted.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Stats {
    /// Kernels.
    pub kernels: usize,
    /// Their bytes.
    pub code: usize,
    /// Bytes mapped (one view counted).
    pub mapped: usize,
    /// Mappings.
    pub chunks: usize,
}

/// Executable memory that kernels share. Cloning gives another handle on the same arena.
#[derive(Clone, Debug)]
pub struct CodeArena(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    options: Options,
    /// The process that made it. Others take no lock, which a thread that they do not have may hold.
    process: u64,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    chunks: Vec<Chunk>,
    stats: Stats,
    next_chunk: u64,
}

#[derive(Debug)]
struct Chunk {
    id: u64,
    memory: Memory,
    kernels: usize,
}

#[derive(Debug)]
enum Memory {
    /// Space has leaked once code was freed that children may run.
    TwoViews {
        map: DualMap,
        free: FreeList,
        has_leaked: bool,
    },
    OwnPages(Anonymous),
}

impl Memory {
    fn len(&self) -> usize {
        match self {
            Memory::TwoViews { map, .. } => map.len(),
            Memory::OwnPages(map) => map.len(),
        }
    }
}

impl CodeArena {
    /// An empty arena. Nothing is mapped before code is installed.
    pub fn new(options: Options) -> CodeArena {
        fork::watch();
        CodeArena(Arc::new(Shared { options, process: fork::process(), state: Mutex::default() }))
    }

    /// Copies code to executable memory; profilers show `name`.
    ///
    /// # Errors
    /// [`CodeError`]: memory is refused, the budget does not allow it, or the arena is another process's.
    pub fn install(&self, name: &str, assembled: &Assembled) -> Result<Code, CodeError> {
        self.place(name, &assembled.bytes, None)
    }

    /// Puts a call of the [emulator](crate::emulator) where the code of a program would be.
    ///
    /// # Errors
    /// As for [`CodeArena::install`].
    pub fn install_emulated(&self, name: &str, program: Program) -> Result<Code, CodeError> {
        let program = Box::new(program);
        self.place(name, &program.call(), Some(program))
    }

    fn place(&self, name: &str, bytes: &[u8], program: Option<Box<Program>>) -> Result<Code, CodeError> {
        if !cfg!(all(target_arch = "x86_64", target_os = "linux")) {
            return Err(CodeError::Unsupported);
        }
        if self.0.process != fork::process() {
            return Err(CodeError::Inherited);
        }
        let forks = fork::count();
        let (chunk, address) = self.0.place(bytes)?;
        if let Some(path) = &self.0.options.perf_map {
            append_perf_map(path, address, bytes.len(), name);
        }
        Ok(Code(Arc::new(Installed { arena: self.clone(), chunk, forks, address, len: bytes.len(), name: name.into(), _program: program })))
    }

    /// Its present contents, counted.
    pub fn stats(&self) -> Stats {
        self.0.lock().stats
    }

    /// Bytes of code that the budget still allows, if they come in pieces that fit.
    pub fn room(&self) -> usize {
        let state = self.0.lock();
        let free = |chunk: &Chunk| if let Memory::TwoViews { free, .. } = &chunk.memory { free.total() } else { 0 };
        self.0.options.budget.saturating_sub(state.stats.mapped) + state.chunks.iter().map(free).sum::<usize>()
    }
}

impl Shared {
    /// The state, even after a panic of another thread: it is changed in one step and so always consistent.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn place(&self, bytes: &[u8]) -> Result<(u64, usize), CodeError> {
        let mut state = self.lock();
        let state = &mut *state;
        if self.options.mode != Mode::OwnPages {
            match self.place_two_views(state, bytes) {
                Err(CodeError::Refused { .. }) if self.options.mode == Mode::Auto => {}
                done => return done,
            }
        }
        self.allow(state, map::whole_pages(bytes.len()))?;
        let map = Anonymous::new(bytes)?;
        let address = map.address();
        Ok((state.add(Memory::OwnPages(map), bytes.len()), address))
    }

    fn place_two_views(&self, state: &mut State, bytes: &[u8]) -> Result<(u64, usize), CodeError> {
        let need = bytes.len().next_multiple_of(ALIGN).max(ALIGN);
        for chunk in &mut state.chunks {
            let Memory::TwoViews { map, free, .. } = &mut chunk.memory else { continue };
            if let Some(offset) = free.take(need) {
                map.write(offset, bytes);
                chunk.kernels += 1;
                state.stats.kernels += 1;
                state.stats.code += bytes.len();
                return Ok((chunk.id, map.address() + offset));
            }
        }
        let len = map::whole_pages(need.max(self.options.chunk.min(self.options.budget)));
        self.allow(state, len)?;
        let mut map = DualMap::new(len)?;
        let mut free = FreeList::new(len);
        let offset = free.take(need).unwrap_or(0);
        map.write(offset, bytes);
        let address = map.address() + offset;
        Ok((state.add(Memory::TwoViews { map, free, has_leaked: false }, bytes.len()), address))
    }

    fn allow(&self, state: &State, need: usize) -> Result<(), CodeError> {
        let (used, budget) = (state.stats.mapped, self.options.budget);
        if need > budget.saturating_sub(used) {
            return Err(CodeError::Budget { need, used, budget });
        }
        Ok(())
    }

    /// Gives the space of a kernel back; empty chunks are unmapped, except for one that is as good as new.
    fn release(&self, code: &Installed) {
        if self.process != fork::process() {
            return;
        }
        let Installed { chunk: id, address, len, .. } = *code;
        let mut state = self.lock();
        let state = &mut *state;
        let Some(at) = state.chunks.iter().position(|c| c.id == id) else { return };
        let spare = state.chunks.iter().any(|c| c.id != id && c.kernels == 0);
        let chunk = &mut state.chunks[at];
        chunk.kernels -= 1;
        state.stats.kernels -= 1;
        state.stats.code -= len;
        let keep = match &mut chunk.memory {
            Memory::TwoViews { map, free, has_leaked } if code.forks == fork::count() => {
                let (offset, space) = (address - map.address(), len.next_multiple_of(ALIGN).max(ALIGN));
                map.trap(offset, space);
                free.give(offset, space);
                chunk.kernels > 0 || !(spare || *has_leaked)
            }
            Memory::TwoViews { has_leaked, .. } => {
                *has_leaked = true;
                chunk.kernels > 0
            }
            Memory::OwnPages(_) => chunk.kernels > 0,
        };
        if !keep {
            let chunk = state.chunks.swap_remove(at);
            state.stats.mapped -= chunk.memory.len();
            state.stats.chunks -= 1;
        }
    }
}

impl State {
    /// Adds a chunk with its first kernel.
    fn add(&mut self, memory: Memory, code: usize) -> u64 {
        let id = self.next_chunk;
        self.next_chunk += 1;
        self.stats.mapped += memory.len();
        self.stats.chunks += 1;
        self.stats.kernels += 1;
        self.stats.code += code;
        self.chunks.push(Chunk { id, memory, kernels: 1 });
        id
    }
}

/// A profile is a convenience: failures to write it are ignored.
fn append_perf_map(path: &Path, address: usize, len: usize, name: &str) {
    use std::io::Write as _;
    let mut line = String::new();
    if writeln!(line, "{address:x} {len:x} {name}").is_ok()
        && let Ok(mut file) = std::fs::OpenOptions::new().create(true).append(true).open(path)
    {
        let _ = file.write_all(line.as_bytes());
    }
}

/// Installed code. Clones share it; it is freed with the last of them.
#[derive(Clone, Debug)]
pub struct Code(Arc<Installed>);

#[derive(Debug)]
struct Installed {
    arena: CodeArena,
    chunk: u64,
    /// Forks before it was installed: children of later ones may run it.
    forks: u64,
    address: usize,
    len: usize,
    name: Box<str>,
    /// What the emulator runs in place of it.
    _program: Option<Box<Program>>,
}

impl Drop for Installed {
    fn drop(&mut self) {
        self.arena.0.release(self);
    }
}

impl Code {
    /// The name it was installed under.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Where it begins.
    pub fn address(&self) -> usize {
        self.0.address
    }

    /// Its bytes, constants included.
    pub fn len(&self) -> usize {
        self.0.len
    }

    /// True if there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.0.len == 0
    }
}

/// Code as a function of one argument block, `extern "C" fn(*const A)`. Keeps the code alive.
pub struct Entry<A> {
    code: Code,
    arguments: PhantomData<fn(&A)>,
}

impl<A> Entry<A> {
    /// The code it runs.
    pub fn code(&self) -> &Code {
        &self.code
    }

    /// True when another handle keeps the code as well.
    pub fn is_shared(&self) -> bool {
        Arc::strong_count(&self.code.0) > 1
    }
}

impl<A> Clone for Entry<A> {
    fn clone(&self) -> Entry<A> {
        Entry { code: self.code.clone(), arguments: PhantomData }
    }
}

impl<A> std::fmt::Debug for Entry<A> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Entry").field(&self.code.name()).finish()
    }
}
