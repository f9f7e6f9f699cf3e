//! Packing of the second operand of a product: a reorder to blocks of columns, with 32 bits of K together for each column (VNNI).

use super::brgemm::pack_type;
use super::{data_type, inline};
use crate::engine;
use crate::gemm::{Storage, present};
use crate::handle::{Data, Handle, In, InOut, New, Owned, memory_over};
use crate::stack;
use crate::status::{Failure, Status, guard};
use oxidnn_runtime::{Primitive, PrimitiveDesc};
use oxidnn_spec::op::Reorder;
use oxidnn_spec::{Arg, Attr, Problem, Tensor};

/// The object behind a `dnnl_transform_t`.
#[derive(Debug)]
pub struct Transform {
    desc: PrimitiveDesc,
    tensors: [Tensor; 2],
    primitive: Option<Primitive>,
}

impl Owned for Transform {}

/// The parameters of a transform.
pub(super) struct Sizes {
    pub(super) k: i64,
    pub(super) n: i64,
    pub(super) in_ld: i64,
    pub(super) out_ld: i64,
}

impl Transform {
    /// For a plain or transposed matrix, and the types of input and output.
    pub(super) fn new(sizes: Sizes, in_pack_type: i32, types: [i32; 2]) -> Result<Transform, Failure> {
        let Sizes { k, n, in_ld, out_ld } = sizes;
        let (in_dt, out_dt) = (data_type("in_dt", types[0])?, data_type("out_dt", types[1])?);
        let (storage, least) = match in_pack_type {
            pack_type::NO_TRANS => (Storage::Rows { ld: in_ld }, n),
            pack_type::TRANS => (Storage::Columns { ld: in_ld }, k),
            other => return Err(Failure::invalid("in_pack_type", other, "1, plain, or 2, transposed")),
        };
        for (name, size, least) in [("K", k, 1), ("N", n, 1), ("in_ld", in_ld, least), ("out_ld", out_ld, 1)] {
            if size < least {
                return Err(Failure::invalid(name, size, format_args!("at least {least}")));
            }
        }
        let together = 32 / out_dt.bits();
        let tag = if together > 1 { format!("BA{out_ld}b{together}a") } else { format!("Ba{out_ld}b") };
        let (src, dst) = (storage.tensor(in_dt, k, n)?, Tensor::with_tag([k, n], out_dt, &tag)?);
        let problem = Problem::new(Reorder { src: src.clone(), dst: dst.clone() }, Attr::default())?;
        Ok(Transform { desc: stack::deep(|| PrimitiveDesc::new(&engine::host(), problem))?, tensors: [src, dst], primitive: None })
    }

    fn execute(&self, from: Data, to: Data) -> Result<(), Failure> {
        present(&[("in", from), ("out", to)])?;
        let missing = || Failure::invalid("transform", "one without code", "one after dnnl_transform_generate");
        let primitive = self.primitive.as_ref().ok_or_else(missing)?;
        let [src, dst] = &self.tensors;
        let engine = self.desc.engine();
        let (src, dst) = (memory_over(engine, src.clone(), &[from])?, memory_over(engine, dst.clone(), &[to])?);
        Ok(primitive.execute(inline()?, &[(Arg::SRC, &src), (Arg::DST, &dst)])?)
    }
}

/// `dnnl_transform_create`.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "the parameters are the interface's")]
pub extern "C" fn dnnl_transform_create(
    transform: New<'_, Transform>,
    k: i64,
    n: i64,
    in_pack_type: i32,
    in_ld: i64,
    out_ld: i64,
    in_dt: i32,
    out_dt: i32,
) -> Status {
    guard("dnnl_transform_create", || {
        transform.check("transform")?;
        transform.own("transform", Transform::new(Sizes { k, n, in_ld, out_ld }, in_pack_type, [in_dt, out_dt])?)
    })
}

/// `dnnl_transform_generate`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_transform_generate(transform: InOut<'_, Transform>) -> Status {
    guard("dnnl_transform_generate", || {
        let transform = transform.get("transform")?;
        transform.primitive = Some(stack::deep(|| transform.desc.create())?);
        Ok(())
    })
}

/// `dnnl_transform_execute`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_transform_execute(transform: In<'_, Transform>, from: Data, to: Data) -> Status {
    guard("dnnl_transform_execute", || transform.get("transform")?.execute(from, to))
}

/// `dnnl_transform_destroy`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_transform_destroy(transform: Handle<Transform>) -> Status {
    guard("dnnl_transform_destroy", || {
        transform.destroy();
        Ok(())
    })
}
