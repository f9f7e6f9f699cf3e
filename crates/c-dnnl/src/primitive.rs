//! Primitives: creation, execution, and their descriptor.

use crate::handle::{Array, Data, Handle, In, New, Owned};
use crate::memory::Memory;
use crate::primitive_desc::PrimitiveDesc;
use crate::stack;
use crate::status::{Failure, Status, guard};
use crate::stream::Stream;
use oxidnn_runtime as runtime;
use oxidnn_spec::Arg;
use std::sync::Arc;

#[cfg(test)]
mod tests;

/// The object behind a `dnnl_primitive_t`.
#[derive(Debug)]
pub struct Primitive {
    desc: PrimitiveDesc,
    runtime: runtime::Primitive,
    /// It runs no generated code: portable implementations and the reference keep chunks of tensors on the stack.
    deep: bool,
}

impl Owned for Primitive {}

impl Primitive {
    /// Its descriptor.
    pub fn desc(&self) -> &PrimitiveDesc {
        &self.desc
    }
}

/// `dnnl_exec_arg_t`.
#[derive(Debug)]
#[repr(C)]
pub struct ExecArg<'a> {
    arg: i32,
    memory: In<'a, Memory>,
}

/// `dnnl_primitive_create`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_primitive_create(primitive: New<'_, Primitive>, pd: In<'_, PrimitiveDesc>) -> Status {
    guard("dnnl_primitive_create", || {
        primitive.check("primitive")?;
        let desc = pd.get("primitive_desc")?.fixed();
        let runtime = stack::deep(|| desc.runtime().create())?;
        let deep = stack::is_deep(desc.runtime());
        primitive.own("primitive", Primitive { desc, runtime, deep })
    })
}

/// `dnnl_primitive_create_from_cache_blob`: not supported; code is not serialised.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_primitive_create_from_cache_blob(
    primitive: New<'_, Primitive>,
    pd: In<'_, PrimitiveDesc>,
    size: usize,
    blob: Array<'_, u8>,
) -> Status {
    guard("dnnl_primitive_create_from_cache_blob", || {
        primitive.check("primitive")?;
        pd.get("primitive_desc")?;
        if blob.is_null() || size == 0 {
            return Err(Failure::null("cache_blob"));
        }
        Err(Failure::unimplemented("cache blobs of CPU primitives"))
    })
}

/// `dnnl_primitive_get_cache_blob`: not supported; code is not serialised.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_primitive_get_cache_blob(primitive: In<'_, Primitive>, size: Data, _blob: Data) -> Status {
    guard("dnnl_primitive_get_cache_blob", || {
        primitive.get("primitive")?;
        if size.is_null() {
            return Err(Failure::null("size"));
        }
        Err(Failure::unimplemented("cache blobs of CPU primitives"))
    })
}

/// `dnnl_primitive_get_primitive_desc`: the descriptor is valid as long as the primitive.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_primitive_get_primitive_desc(primitive: In<'_, Primitive>, pd: New<'_, PrimitiveDesc>) -> Status {
    guard("dnnl_primitive_get_primitive_desc", || pd.lend("primitive_desc", primitive.get("primitive")?.desc()))
}

/// `dnnl_primitive_destroy`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_primitive_destroy(primitive: Handle<Primitive>) -> Status {
    guard("dnnl_primitive_destroy", || {
        primitive.destroy();
        Ok(())
    })
}

/// `dnnl_primitive_execute`. Arguments without memory, and those that the primitive does not have, are ignored.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_primitive_execute(
    primitive: In<'_, Primitive>,
    stream: In<'_, Stream>,
    count: i32,
    args: Array<'_, ExecArg<'_>>,
) -> Status {
    guard("dnnl_primitive_execute", || {
        let (primitive, stream) = (primitive.get("primitive")?, stream.get("stream")?);
        let count = usize::try_from(count).map_err(|_| Failure::invalid("nargs", count, "no negative number"))?;
        let args = args.slice("args", count)?;
        if !Arc::ptr_eq(primitive.desc.engine(), stream.engine()) {
            return Err(Failure::invalid("stream", "a stream of another engine", "one of the primitive's engine"));
        }
        match count {
            _ if primitive.deep && stack::is_short() => stack::deep(|| execute(primitive, stream, &given(args).collect::<Vec<_>>())),
            0..=8 => with::<8>(primitive, stream, args),
            9..=64 => with::<64>(primitive, stream, args),
            _ => execute(primitive, stream, &given(args).collect::<Vec<_>>()),
        }
    })
}

fn execute(primitive: &Primitive, stream: &Stream, args: &[(Arg, &runtime::Memory<'static>)]) -> Result<(), Failure> {
    stream.execute(&primitive.runtime, args)
}

/// The arguments that have memory.
fn given<'a>(args: &'a [ExecArg<'a>]) -> impl Iterator<Item = (Arg, &'a runtime::Memory<'static>)> {
    args.iter().filter_map(|a| Some((Arg(a.arg), a.memory.optional()?.runtime())))
}

/// Executes with at most `N` arguments, which are listed on the stack.
fn with<const N: usize>(primitive: &Primitive, stream: &Stream, args: &[ExecArg<'_>]) -> Result<(), Failure> {
    let mut all = given(args);
    let Some(first) = all.next() else { return stream.execute(&primitive.runtime, &[]) };
    let mut list = [first; N];
    let mut count = 1;
    for (place, arg) in list[1..].iter_mut().zip(all) {
        *place = arg;
        count += 1;
    }
    stream.execute(&primitive.runtime, &list[..count])
}
