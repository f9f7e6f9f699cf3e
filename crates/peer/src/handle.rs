//! What the library gives out and takes back: handles that are destroyed when dropped, memory that can be read and written, executions.
//! One of the two files with unsafe code.

use crate::call::{Allocate, AllocateAll, Arguments, Count, Library, Number, Raw, Value};
use crate::error::{PeerError, Status};
use oxidnn_runtime::huge_pages;
use oxidnn_spec::{Arg, Blocking};
use std::cell::Cell;
use std::ffi::{CStr, c_char};
use std::marker::PhantomData;
use std::rc::Rc;
use std::sync::Arc;

/// A kind of handle.
pub(crate) trait Kind {
    /// Letter of a handle in the table of signatures.
    const TYPE_CODE: char;
    /// Letter of a pointer that receives one.
    const OUT_TYPE_CODE: char;
    /// The function that gives a handle back.
    const DESTROY: &'static str;
}

macro_rules! kinds {
    ($($name:ident $code:literal $receiver:literal $destroy:literal, $doc:literal;)*) => {
        $(#[doc = $doc] #[derive(Debug)] pub(crate) enum $name {}
        impl Kind for $name {
            const TYPE_CODE: char = $code;
            const OUT_TYPE_CODE: char = $receiver;
            const DESTROY: &'static str = $destroy;
        })*
    };
}

kinds! {
    Engine 'E' 'e' "dnnl_engine_destroy", "An engine.";
    Stream 'S' 's' "dnnl_stream_destroy", "A stream.";
    Desc 'M' 'm' "dnnl_memory_desc_destroy", "A memory descriptor.";
    Attribute 'A' 'a' "dnnl_primitive_attr_destroy", "Attributes.";
    PostOps 'O' 'o' "dnnl_post_ops_destroy", "A list of post-ops.";
    PrimDesc 'P' 'p' "dnnl_primitive_desc_destroy", "A primitive descriptor.";
    Prim 'X' 'x' "dnnl_primitive_destroy", "A primitive.";
    Memory 'Y' 'y' "dnnl_memory_destroy", "A memory object.";
    Graph 'K' 'k' "dnnl_graph_graph_destroy", "A graph.";
    GraphOp 'Q' 'q' "dnnl_graph_op_destroy", "An operation of a graph.";
    Partition 'T' 't' "dnnl_graph_partition_destroy", "A partition of a graph.";
    Compiled 'J' 'j' "dnnl_graph_compiled_partition_destroy", "A compiled partition.";
    GraphTensor 'W' 'w' "dnnl_graph_tensor_destroy", "Memory of a logical tensor.";
}

/// A handle that belongs to us.
#[derive(Debug)]
pub(crate) struct Owned<K: Kind> {
    pub(crate) raw: Raw,
    pub(crate) library: Arc<Library>,
    kind: PhantomData<K>,
}

/// Where a function puts a handle that it makes.
pub(crate) struct Receiver<K>(Cell<Raw>, PhantomData<K>);

impl<K: Kind> Receiver<K> {
    /// An empty one.
    pub(crate) fn new() -> Receiver<K> {
        Receiver(Cell::new(std::ptr::null_mut()), PhantomData)
    }

    /// What a call has put here; it belongs to us from now on.
    pub(crate) fn take(&self, library: &Arc<Library>) -> Owned<K> {
        Owned { raw: self.0.replace(std::ptr::null_mut()), library: library.clone(), kind: PhantomData }
    }
}

impl<K: Kind> Value for &Receiver<K> {
    const TYPE_CODE: char = K::OUT_TYPE_CODE;
    type C = *mut Raw;
    fn c(&self) -> *mut Raw {
        self.0.as_ptr()
    }
}

impl<K: Kind> Value for &Owned<K> {
    const TYPE_CODE: char = K::TYPE_CODE;
    type C = Raw;
    fn c(&self) -> Raw {
        self.raw
    }
}

impl<K: Kind> Value for Option<&Owned<K>> {
    const TYPE_CODE: char = K::TYPE_CODE;
    type C = Raw;
    fn c(&self) -> Raw {
        self.map_or(std::ptr::null_mut(), |h| h.raw)
    }
}

/// Where a function puts several handles that it makes.
pub(crate) struct Receivers<K>(Vec<Cell<Raw>>, PhantomData<K>);

impl<K: Kind> Receivers<K> {
    /// Room for `count`.
    pub(crate) fn new(count: usize) -> Receivers<K> {
        Receivers(vec![Cell::new(std::ptr::null_mut()); count], PhantomData)
    }

    /// What a call has put here; they belong to us from now on.
    pub(crate) fn take(&self, library: &Arc<Library>) -> Vec<Owned<K>> {
        let own = |raw: &Cell<Raw>| Owned { raw: raw.replace(std::ptr::null_mut()), library: library.clone(), kind: PhantomData };
        self.0.iter().map(own).collect()
    }
}

impl Value for &Receivers<Partition> {
    const TYPE_CODE: char = 'u';
    type C = *const Cell<Raw>;
    fn c(&self) -> *const Cell<Raw> {
        self.0.as_ptr()
    }
    fn count(&self) -> Option<usize> {
        Some(self.0.len())
    }
}

/// An array of memory descriptors.
pub(crate) struct Descs(Vec<Raw>);

impl Descs {
    /// Those of `descs`, which must outlive the call.
    pub(crate) fn of(descs: &[Owned<Desc>]) -> Descs {
        Descs(descs.iter().map(|d| d.raw).collect())
    }
}

impl Value for &Descs {
    const TYPE_CODE: char = 'R';
    type C = *const Raw;
    fn c(&self) -> *const Raw {
        self.0.as_ptr()
    }
    fn count(&self) -> Option<usize> {
        Some(self.0.len())
    }
}

impl<K: Kind> Owned<K> {
    /// The handle that `make` has put into the receiver.
    pub(crate) fn make(library: &Arc<Library>, make: impl FnOnce(&Receiver<K>) -> Result<(), PeerError>) -> Result<Owned<K>, PeerError> {
        let receiver = Receiver::new();
        make(&receiver)?;
        Ok(receiver.take(library))
    }

    /// Calls a function of the library that made the handle.
    pub(crate) fn call<A: Arguments>(&self, name: &'static str, arguments: A) -> Result<(), PeerError> {
        self.library.call(name, arguments)
    }
}

impl<K: Kind> Drop for Owned<K> {
    fn drop(&mut self) {
        // A handle that cannot be given back is leaked: there is nobody to tell.
        let _ = self.library.call(K::DESTROY, (&*self,));
    }
}

impl Owned<Desc> {
    /// True when the two descriptors mean the same.
    pub(crate) fn same_as(&self, other: &Owned<Desc>) -> Result<bool, PeerError> {
        Ok(self.library.ask::<i32, _>("dnnl_memory_desc_equal", (self, other))? != 0)
    }

    /// Bytes of buffer `index`.
    pub(crate) fn bytes(&self, index: usize) -> Result<usize, PeerError> {
        match index {
            0 => self.library.ask("dnnl_memory_desc_get_size", (self,)),
            i => self.library.ask("dnnl_memory_desc_get_size_v2", (self, i as i32)),
        }
    }

    /// A descriptor with the type and sizes of this one and the placement `b`; written into the structure behind the handle, whose size tells
    /// whether it is the one that oneDNN 3 has.
    pub(crate) fn with_blocking(&self, b: &Blocking) -> Result<Owned<Desc>, PeerError> {
        const STRUCTURE: usize = 768;
        let get = self.library.symbol("dnnl_memory_desc_get_blob")?;
        // SAFETY: the header declares `dnnl_status_t dnnl_memory_desc_get_blob(uint8_t *, size_t *, const_dnnl_memory_desc_t)`.
        let get = unsafe { std::mem::transmute::<Raw, unsafe extern "C" fn(*mut u8, *mut usize, Raw) -> i32>(get) };
        let mut size = 0usize;
        // SAFETY: a null buffer asks for the size only.
        let status = unsafe { get(std::ptr::null_mut(), &mut size, self.raw) };
        if status != 0 || size != STRUCTURE {
            return Err(PeerError::Inexpressible(format!("a layout without a tag, where descriptors have {size} bytes")));
        }
        let mut blob = vec![0u8; size];
        // SAFETY: the buffer has the size that was asked for.
        let status = unsafe { get(blob.as_mut_ptr(), &mut size, self.raw) };
        if status != 0 {
            return Err(PeerError::Refused { what: "dnnl_memory_desc_get_blob".into(), status: Status::new(status) });
        }
        crate::describe::write_blocking(&mut blob, b);
        let create = self.library.symbol("dnnl_memory_desc_create_with_blob")?;
        // SAFETY: the header declares `dnnl_status_t dnnl_memory_desc_create_with_blob(dnnl_memory_desc_t *, const uint8_t *)`.
        let create = unsafe { std::mem::transmute::<Raw, unsafe extern "C" fn(*mut Raw, *const u8) -> i32>(create) };
        Owned::make(&self.library, |out| {
            // SAFETY: the blob has the size that the library itself gave a descriptor.
            match unsafe { create(out.0.as_ptr(), blob.as_ptr()) } {
                0 => Ok(()),
                status => Err(PeerError::Refused { what: "dnnl_memory_desc_create_with_blob".into(), status: Status::new(status) }),
            }
        })
    }
}

/// Numbers of queries.
mod query {
    pub(super) const IMPL_INFO: i32 = 8;
    pub(super) const EXEC_ARG_DESC: i32 = 255;
    pub(super) const NDIMS: i32 = 256;
}

impl Owned<PrimDesc> {
    /// The name of the implementation.
    pub(crate) fn impl_name(&self) -> Result<String, PeerError> {
        let ask = self.library.symbol("dnnl_primitive_desc_query")?;
        // SAFETY: the header declares `dnnl_status_t dnnl_primitive_desc_query(const_dnnl_primitive_desc_t, dnnl_query_t, int, void *)`.
        let ask = unsafe { std::mem::transmute::<Raw, unsafe extern "C" fn(Raw, i32, i32, *mut *const c_char) -> i32>(ask) };
        let mut text: *const c_char = std::ptr::null();
        // SAFETY: this query answers a C string that the descriptor owns.
        let status = unsafe { ask(self.raw, query::IMPL_INFO, 0, &mut text) };
        if status != 0 || text.is_null() {
            return Err(PeerError::Refused { what: "name of the implementation".into(), status: Status::new(status) });
        }
        // SAFETY: as above; it is copied while the descriptor lives.
        Ok(unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
    }

    /// The descriptor of execution argument `arg`; `None` where the primitive has no such argument, or none with a layout of its own.
    pub(crate) fn desc_of(&self, arg: Arg) -> Result<Option<Owned<Desc>>, PeerError> {
        let ask = self.library.symbol("dnnl_primitive_desc_query_md")?;
        // SAFETY: the header declares `const_dnnl_memory_desc_t dnnl_primitive_desc_query_md(const_dnnl_primitive_desc_t, dnnl_query_t, int)`.
        let ask = unsafe { std::mem::transmute::<Raw, unsafe extern "C" fn(Raw, i32, i32) -> Raw>(ask) };
        // SAFETY: the handle is a primitive descriptor; the answer is null or a descriptor that it owns.
        let found = unsafe { ask(self.raw, query::EXEC_ARG_DESC, arg.0) };
        if found.is_null() {
            return Ok(None);
        }
        let clone = self.library.symbol("dnnl_memory_desc_clone")?;
        // SAFETY: the header declares `dnnl_status_t dnnl_memory_desc_clone(dnnl_memory_desc_t *, const_dnnl_memory_desc_t)`.
        let clone = unsafe { std::mem::transmute::<Raw, unsafe extern "C" fn(*mut Raw, Raw) -> i32>(clone) };
        let copy = Owned::<Desc>::make(&self.library, |out| {
            // SAFETY: `found` lives as long as the primitive descriptor.
            match unsafe { clone(out.0.as_ptr(), found) } {
                0 => Ok(()),
                status => Err(PeerError::Refused { what: "dnnl_memory_desc_clone".into(), status: Status::new(status) }),
            }
        })?;
        Ok(Some(copy).filter(|c| c.ndims() > 0))
    }
}

impl Owned<Desc> {
    /// Number of dimensions; 0 for the descriptor of nothing.
    fn ndims(&self) -> i32 {
        let Ok(ask) = self.library.symbol("dnnl_memory_desc_query") else { return 0 };
        // SAFETY: the header declares `dnnl_status_t dnnl_memory_desc_query(const_dnnl_memory_desc_t, dnnl_query_t, void *)`.
        let ask = unsafe { std::mem::transmute::<Raw, unsafe extern "C" fn(Raw, i32, *mut i32) -> i32>(ask) };
        let mut n = 0;
        // SAFETY: this query answers an int.
        let status = unsafe { ask(self.raw, query::NDIMS, &mut n) };
        if status == 0 { n } else { 0 }
    }
}

/// Memory of the library's own.
#[derive(Debug)]
pub(crate) struct Buffers {
    handle: Owned<Memory>,
    desc: Owned<Desc>,
    sizes: Vec<usize>,
}

impl Buffers {
    /// Memory for `desc`, which has `buffers` of them.
    pub(crate) fn new(engine: &Owned<Engine>, desc: Owned<Desc>, buffers: usize) -> Result<Buffers, PeerError> {
        let sizes = (0..buffers).map(|i| desc.bytes(i)).collect::<Result<_, _>>()?;
        let handle = Owned::make(&desc.library, |out| match buffers {
            1 => desc.call("dnnl_memory_create", (out, &desc, engine, Allocate)),
            n => desc.call("dnnl_memory_create_v2", (out, &desc, engine, Count(n), &AllocateAll::new(n))),
        })?;
        let memory = Buffers { handle, desc, sizes };
        // As our own memory: what two libraries take for the same bytes is then not a matter of the pages that either got.
        (0..buffers).try_for_each(|i| memory.with_bytes(i, |bytes| huge_pages(bytes)))?;
        Ok(memory)
    }

    /// A number on the host.
    pub(crate) fn scalar(desc: Owned<Desc>, value: [u8; 8]) -> Result<Buffers, PeerError> {
        let handle = Owned::make(&desc.library, |out| desc.call("dnnl_memory_create_host_scalar", (out, &desc, &Number(value))))?;
        Ok(Buffers { handle, desc, sizes: Vec::new() })
    }

    /// The memory's descriptor.
    pub(crate) fn desc(&self) -> &Owned<Desc> {
        &self.desc
    }

    /// Bytes of each buffer; none of a host scalar.
    pub(crate) fn sizes(&self) -> &[usize] {
        &self.sizes
    }

    /// Shows the bytes of buffer `index` to `f`.
    pub(crate) fn with_bytes<R>(&self, index: usize, f: impl FnOnce(&mut [u8]) -> R) -> Result<R, PeerError> {
        let mut data: Raw = std::ptr::null_mut();
        // SAFETY: the pointer receives a pointer; no execution is under way, streams are waited for after every one.
        unsafe { self.pass("dnnl_memory_map_data_v2", "dnnl_memory_map_data", index, (&raw mut data).cast())? };
        let size = self.sizes.get(index).copied().unwrap_or(0);
        let result = if data.is_null() || size == 0 {
            f(&mut [])
        } else {
            // SAFETY: mapped data are as many bytes as the descriptor takes, and ours alone until they are unmapped.
            f(unsafe { std::slice::from_raw_parts_mut(data.cast::<u8>(), size) })
        };
        // SAFETY: `data` is what mapping gave.
        unsafe { self.pass("dnnl_memory_unmap_data_v2", "dnnl_memory_unmap_data", index, data)? };
        Ok(result)
    }

    /// Calls `name`, which maps or unmaps buffer `index`; `first` in libraries that can do so with the first buffer only.
    ///
    /// # Safety
    /// `pointer` must be what the function takes: where to put the address, or the address.
    unsafe fn pass(&self, name: &'static str, first: &'static str, index: usize, pointer: Raw) -> Result<(), PeerError> {
        let library = &self.desc.library;
        let (name, status) = match library.symbol(name) {
            Ok(any) => {
                // SAFETY: the header declares `dnnl_status_t name(const_dnnl_memory_t, void * or void **, int)`.
                let any = unsafe { std::mem::transmute::<Raw, unsafe extern "C" fn(Raw, Raw, i32) -> i32>(any) };
                // SAFETY: the handle is a memory object; the caller vouches for the pointer.
                (name, unsafe { any(self.handle.raw, pointer, index as i32) })
            }
            Err(missing) if index > 0 => return Err(missing),
            Err(_) => {
                let one = library.symbol(first)?;
                // SAFETY: the header declares `dnnl_status_t first(const_dnnl_memory_t, void * or void **)`.
                let one = unsafe { std::mem::transmute::<Raw, unsafe extern "C" fn(Raw, Raw) -> i32>(one) };
                // SAFETY: as above.
                (first, unsafe { one(self.handle.raw, pointer) })
            }
        };
        match status {
            0 => Ok(()),
            n => Err(PeerError::Refused { what: name.into(), status: Status::new(n) }),
        }
    }
}

/// `dnnl_exec_arg_t`.
#[repr(C)]
#[derive(Debug)]
struct ExecArg {
    arg: i32,
    memory: Raw,
}

type Execute = unsafe extern "C" fn(Raw, Raw, i32, *const ExecArg) -> i32;
type Wait = unsafe extern "C" fn(Raw) -> i32;

/// A primitive with its arguments, ready to run any number of times.
#[derive(Debug)]
pub(crate) struct Execution {
    primitive: Owned<Prim>,
    stream: Rc<Owned<Stream>>,
    /// Keeps alive what the arguments point to.
    _memories: Vec<(Arg, Rc<Buffers>)>,
    arguments: Vec<ExecArg>,
    execute: Execute,
    wait: Wait,
}

impl Execution {
    /// Binds `memories` to `primitive`.
    pub(crate) fn new(
        primitive: Owned<Prim>,
        stream: &Rc<Owned<Stream>>,
        memories: Vec<(Arg, Rc<Buffers>)>,
    ) -> Result<Execution, PeerError> {
        let library = &primitive.library;
        // SAFETY: the header declares `dnnl_status_t dnnl_primitive_execute(const_dnnl_primitive_t, dnnl_stream_t, int, const dnnl_exec_arg_t *)`.
        let execute = unsafe { std::mem::transmute::<Raw, Execute>(library.symbol("dnnl_primitive_execute")?) };
        // SAFETY: the header declares `dnnl_status_t dnnl_stream_wait(dnnl_stream_t)`.
        let wait = unsafe { std::mem::transmute::<Raw, Wait>(library.symbol("dnnl_stream_wait")?) };
        let arguments = memories.iter().map(|(arg, m)| ExecArg { arg: arg.0, memory: m.handle.raw }).collect();
        Ok(Execution { primitive, stream: stream.clone(), _memories: memories, arguments, execute, wait })
    }

    /// Runs the primitive and waits until it is done.
    pub(crate) fn run(&self) -> Result<(), PeerError> {
        // SAFETY: `self` keeps the primitive, the stream and every memory alive; the array has the length given.
        let status = unsafe { (self.execute)(self.primitive.raw, self.stream.raw, self.arguments.len() as i32, self.arguments.as_ptr()) };
        if status != 0 {
            return Err(PeerError::Refused { what: "dnnl_primitive_execute".into(), status: Status::new(status) });
        }
        // SAFETY: `self` keeps the stream alive.
        match unsafe { (self.wait)(self.stream.raw) } {
            0 => Ok(()),
            status => Err(PeerError::Refused { what: "dnnl_stream_wait".into(), status: Status::new(status) }),
        }
    }
}
