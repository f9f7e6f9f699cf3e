//! The caller's allocators, and engines that use them.

use super::engine_kind;
use crate::engine::Engine;
use crate::handle::{Data, Handle, In, New, Shared};
use crate::status::{Failure, Status, guard};
use oxidnn_runtime::{ALIGNMENT, Allocation, EngineKind};
use oxidnn_spec::Error;
use std::sync::{Arc, Weak};

/// `dnnl_graph_host_allocate_f`: size and alignment.
pub type Allocate = extern "C" fn(usize, usize) -> Data;
/// `dnnl_graph_host_deallocate_f`.
pub type Deallocate = extern "C" fn(Data);

/// The object behind a `dnnl_graph_allocator_t`.
#[derive(Debug)]
pub struct Allocator {
    me: Weak<Allocator>,
    /// The caller's functions; without them memory is the library's own.
    functions: Option<(Allocate, Deallocate)>,
}

impl Shared for Allocator {
    fn counted(&self) -> Option<Arc<Allocator>> {
        self.me.upgrade()
    }
}

/// Memory of an engine: from its allocator if it has one, else from the library.
#[derive(Debug)]
pub(super) enum Block {
    /// A block from the caller's function, and the function that frees it.
    FromCaller(Data, Deallocate),
    /// The library's own.
    Owned(Allocation),
}

impl Block {
    /// Allocates `bytes` for an engine.
    ///
    /// # Errors
    /// `out_of_memory`.
    pub(super) fn new(engine: &Engine, bytes: usize) -> Result<Block, Failure> {
        match Block::from_caller(engine, bytes)? {
            Some(block) => Ok(block),
            None => Ok(Block::Owned(engine.runtime().device().allocate(bytes)?)),
        }
    }

    /// Allocates `bytes` from an engine's allocator; `None` if it has none.
    ///
    /// # Errors
    /// `out_of_memory`.
    pub(super) fn from_caller(engine: &Engine, bytes: usize) -> Result<Option<Block>, Failure> {
        let Some((allocate, deallocate)) = engine.allocator().and_then(|a| a.functions) else { return Ok(None) };
        let data = allocate(bytes, ALIGNMENT);
        if data.is_null() && bytes > 0 {
            return Err(Error::OutOfMemory { bytes, what: "a graph".into() }.into());
        }
        Ok(Some(Block::FromCaller(data, deallocate)))
    }

    /// Its address.
    pub(super) fn data(&self) -> Data {
        match self {
            Block::FromCaller(data, _) => *data,
            Block::Owned(memory) => Data::own(memory),
        }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        if let Block::FromCaller(data, deallocate) = self {
            deallocate(*data);
        }
    }
}

/// `dnnl_graph_allocator_create`: the library's functions are used if one of the caller's is null.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_graph_allocator_create(
    allocator: New<'_, Allocator>,
    allocate: Option<Allocate>,
    deallocate: Option<Deallocate>,
) -> Status {
    guard("dnnl_graph_allocator_create", || {
        let functions = allocate.zip(deallocate);
        allocator.share("allocator", Arc::new_cyclic(|me| Allocator { me: me.clone(), functions }))
    })
}

/// `dnnl_graph_allocator_destroy`: the only destroy function that refuses null.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_graph_allocator_destroy(allocator: Handle<Allocator>) -> Status {
    guard("dnnl_graph_allocator_destroy", || {
        if allocator.is_null() {
            return Err(Failure::null("allocator"));
        }
        allocator.release();
        Ok(())
    })
}

/// `dnnl_graph_make_engine_with_allocator`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_graph_make_engine_with_allocator(
    engine: New<'_, Engine>,
    kind: i32,
    index: usize,
    allocator: In<'_, Allocator>,
) -> Status {
    guard("dnnl_graph_make_engine_with_allocator", || {
        engine.check("engine")?;
        let allocator = allocator.share("alloc")?;
        if engine_kind(kind) != EngineKind::Cpu || index != 0 {
            let got = format_args!("engine {index} of kind {kind}");
            return Err(Failure::invalid("engine", got, "engine 0 of kind 1: there is one CPU engine"));
        }
        engine.share("engine", Engine::with_allocator(Some(allocator)))
    })
}
