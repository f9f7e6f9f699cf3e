//! Allocators of the caller's, and engines that use them.

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

/// Memory from an engine: of its allocator where it has one, else the library's own.
#[derive(Debug)]
pub(super) enum Block {
    /// A block from a caller's function, and the function that takes it back.
    Lent(Data, Deallocate),
    /// The library's own.
    Owned(Allocation),
}

impl Block {
    /// `bytes` from an engine.
    ///
    /// # Errors
    /// `out_of_memory`.
    pub(super) fn new(engine: &Engine, bytes: usize) -> Result<Block, Failure> {
        match Block::lent(engine, bytes)? {
            Some(block) => Ok(block),
            None => Ok(Block::Owned(engine.runtime().device().allocate(bytes)?)),
        }
    }

    /// `bytes` of an engine's allocator; `None` where it has none.
    ///
    /// # Errors
    /// `out_of_memory`.
    pub(super) fn lent(engine: &Engine, bytes: usize) -> Result<Option<Block>, Failure> {
        let Some((allocate, deallocate)) = engine.allocator().and_then(|a| a.functions) else { return Ok(None) };
        let data = allocate(bytes, ALIGNMENT);
        if data.is_null() && bytes > 0 {
            return Err(Error::OutOfMemory { bytes, what: "a graph".into() }.into());
        }
        Ok(Some(Block::Lent(data, deallocate)))
    }

    /// Its address.
    pub(super) fn data(&self) -> Data {
        match self {
            Block::Lent(data, _) => *data,
            Block::Owned(memory) => Data::own(memory),
        }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        if let Block::Lent(data, deallocate) = self {
            deallocate(*data);
        }
    }
}

/// `dnnl_graph_allocator_create`: the caller's functions, or the library's own where one of them is absent.
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

/// `dnnl_graph_allocator_destroy`: the one function of its kind that refuses a null.
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
