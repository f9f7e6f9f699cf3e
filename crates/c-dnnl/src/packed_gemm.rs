//! Products of matrices that were packed before: functions that oneDNN exports for its own tests, with parameters as Fortran's BLAS has them.
//!
//! Matrices are column-major, so a product is computed transposed: `C' = op(B)' * op(A)'`, row-major, with `A` as the weights. Packing `A`
//! reorders it to the layout that the matmul primitive chooses for its weights, which does not depend on the other operand; packing `B`
//! closes the gaps between its lines.
#![allow(clippy::too_many_arguments, reason = "the functions have the parameters that BLAS gave them")]

use crate::engine;
use crate::gemm::{IntegerGemm, Offsets, Operands, Product, Storage, described, present, storage, stream};
use crate::handle::{Array, ArrayMut, Data, In, Out, memory_over};
use crate::stack;
use crate::status::{Failure, Status, guard};
use oxidnn_runtime::PrimitiveDesc;
use oxidnn_spec::op::Reorder;
use oxidnn_spec::{Arg, Attr, DataType, Problem, Real, Tensor};
use std::ffi::c_char;

#[cfg(test)]
mod tests;

/// Types of `A`, `B` and `C`.
type Types = [DataType; 3];

const FLOATS: Types = [DataType::F32; 3];
const HALVES: Types = [DataType::Bf16, DataType::Bf16, DataType::F32];
const S8U8: Types = [DataType::S8, DataType::U8, DataType::S32];
const S8S8: Types = [DataType::S8, DataType::S8, DataType::S32];

/// A number by its address, as Fortran passes it.
type Number<'a> = In<'a, i64>;
/// A letter by its address.
type Letter<'a> = In<'a, c_char>;

/// Parameters that say which matrix is packed.
struct Packing<'a> {
    types: Types,
    identifier: Letter<'a>,
    transa: Letter<'a>,
    transb: Letter<'a>,
    m: Number<'a>,
    n: Number<'a>,
    k: Number<'a>,
    lda: Number<'a>,
    ldb: Number<'a>,
}

/// A matrix in its plain and in its packed layout.
struct Pair {
    plain: Tensor,
    packed: Tensor,
}

impl Packing<'_> {
    /// The matrix, unless it is empty.
    fn matrix(&self) -> Result<Option<Pair>, Failure> {
        let [m, n, k] = sizes(self.m, self.n, self.k)?;
        let (a, b) = ([k, m], [n, k]);
        if [m, n, k].contains(&0) {
            return Ok(None);
        }
        match *self.identifier.get("identifier")? as u8 {
            b'A' | b'a' => {
                let plain = lines(("transa", self.transa), ("lda", self.lda), a)?.tensor(self.types[0], k, m)?;
                let product = product(self.types, [m, n, k], Storage::Packed, Storage::Rows { ld: k }, m);
                Ok(Some(Pair { plain, packed: described(product.primitive()?.desc(), Arg::WEIGHTS)? }))
            }
            b'B' | b'b' => {
                let plain = lines(("transb", self.transb), ("ldb", self.ldb), b)?.tensor(self.types[1], n, k)?;
                Ok(Some(Pair { plain, packed: Tensor::plain([n, k], self.types[1])? }))
            }
            other => Err(Failure::invalid("identifier", char::from(other), "A or B")),
        }
    }

    /// Says how much memory the packed matrix takes, and that packing is worth while.
    fn size(&self, size: Out<'_, usize>, pack: Out<'_, bool>) -> Result<(), Failure> {
        pack.set_optional(true);
        size.set("size", self.matrix()?.map_or(0, |pair| pair.packed.bytes()))
    }

    fn pack(&self, src: Data, dst: Data) -> Result<(), Failure> {
        present(&[("src", src), ("dst", dst)])?;
        let Some(Pair { plain, packed }) = self.matrix()? else { return Ok(()) };
        let problem = Problem::new(Reorder { src: plain.clone(), dst: packed.clone() }, Attr::default())?;
        let reorder = stack::deep(|| PrimitiveDesc::new(&engine::host(), problem)?.create())?;
        let engine = reorder.desc().engine();
        let (from, to) = (memory_over(engine, plain, &[src])?, memory_over(engine, packed, &[dst])?);
        Ok(reorder.execute(stream()?, &[(Arg::SRC, &from), (Arg::DST, &to)])?)
    }
}

/// Parameters of a product whose matrices may be packed.
struct Computing<'a> {
    types: Types,
    transa: Letter<'a>,
    transb: Letter<'a>,
    m: Number<'a>,
    n: Number<'a>,
    k: Number<'a>,
    a: Data,
    lda: Number<'a>,
    b: Data,
    ldb: Number<'a>,
    beta: In<'a, f32>,
    ldc: Number<'a>,
}

impl Computing<'_> {
    /// The product, unless it is empty.
    fn product(&self) -> Result<Option<Product>, Failure> {
        let [m, n, k] = sizes(self.m, self.n, self.k)?;
        let packed = |letter: Letter<'_>, name: &str| letter.get(name).map(|l| matches!(*l as u8, b'P' | b'p'));
        let a = if packed(self.transa, "transa")? { Storage::Packed } else { lines(("transa", self.transa), ("lda", self.lda), [k, m])? };
        let b = if packed(self.transb, "transb")? {
            Storage::Rows { ld: k }
        } else {
            lines(("transb", self.transb), ("ldb", self.ldb), [n, k])?
        };
        let Storage::Rows { ld } = storage(("C", b'N' as c_char), ("ldc", *self.ldc.get("ldc")?), [n, m])? else { return Ok(None) };
        present(&[("A", self.a), ("B", self.b)])?;
        Ok((![m, n, k].contains(&0)).then(|| product(self.types, [m, n, k], a, b, ld)))
    }

    fn floats(&self, c: Data) -> Result<(), Failure> {
        present(&[("C", c)])?;
        let Some(product) = self.product()? else { return Ok(()) };
        let product = Product { beta: Real::from(*self.beta.get("beta")?), ..product };
        product.run(&Operands { a: self.b, b: self.a, c, zeros: [0; 2] }, stream()?)
    }

    fn gemm(&self, offsetc: Letter<'_>, c: ArrayMut<'_, i32>, co: Array<'_, i32>) -> Result<(), Failure> {
        if c.is_null() {
            return Err(Failure::null("C"));
        }
        // Rows and columns change places.
        let offsetc = match *offsetc.get("offsetc")? as u8 {
            b'C' | b'c' => b'R',
            b'R' | b'r' => b'C',
            other => other,
        };
        let [m, n, k] = sizes(self.m, self.n, self.k)?;
        let offsets = Offsets::new(offsetc as c_char, co, [n, m, k])?;
        let Some(product) = self.product()? else { return Ok(()) };
        let gemm = IntegerGemm { product, a: self.b, b: self.a, zeros: [0; 2], alpha: 1.0, beta: *self.beta.get("beta")? };
        gemm.run(c, &offsets, stream()?)
    }
}

/// `C' = B' * A'` for matrices of `n x k`, `k x m` and `n x m`.
fn product([a, b, c]: Types, [m, n, k]: [i64; 3], a_storage: Storage, b_storage: Storage, ldc: i64) -> Product {
    let (alpha, beta) = (Real::from(1.0), Real::from(0.0));
    Product { types: [b, a, c], sizes: [n, m, k], a: b_storage, b: a_storage, ldc, alpha, beta, shifted: [false; 2] }
}

fn sizes(m: Number<'_>, n: Number<'_>, k: Number<'_>) -> Result<[i64; 3], Failure> {
    let sizes = [("M", m), ("N", n), ("K", k)];
    for (name, size) in sizes {
        let size = *size.get(name)?;
        if size < 0 {
            return Err(Failure::invalid(name, size, "a size that is not negative"));
        }
    }
    Ok([*m.get("M")?, *n.get("N")?, *k.get("K")?])
}

/// The layout of an operand in the transposed product, where it is a matrix of `shape`.
fn lines(transposed: (&str, Letter<'_>), ld: (&str, Number<'_>), shape: [i64; 2]) -> Result<Storage, Failure> {
    storage((transposed.0, *transposed.1.get(transposed.0)?), (ld.0, *ld.1.get(ld.0)?), shape)
}

/// `sgemm_pack_get_size`.
#[unsafe(export_name = "_ZN4dnnl4impl3cpu19sgemm_pack_get_sizeEPKcS3_S3_PKlS5_S5_S5_S5_PmPb")]
pub extern "C" fn sgemm_pack_get_size(
    identifier: Letter<'_>,
    transa: Letter<'_>,
    transb: Letter<'_>,
    m: Number<'_>,
    n: Number<'_>,
    k: Number<'_>,
    lda: Number<'_>,
    ldb: Number<'_>,
    size: Out<'_, usize>,
    pack: Out<'_, bool>,
) -> Status {
    let packing = Packing { types: FLOATS, identifier, transa, transb, m, n, k, lda, ldb };
    guard("sgemm_pack_get_size", || packing.size(size, pack))
}

/// `sgemm_pack`.
#[unsafe(export_name = "_ZN4dnnl4impl3cpu10sgemm_packEPKcS3_S3_PKlS5_S5_S5_S5_PKfPf")]
pub extern "C" fn sgemm_pack(
    identifier: Letter<'_>,
    transa: Letter<'_>,
    transb: Letter<'_>,
    m: Number<'_>,
    n: Number<'_>,
    k: Number<'_>,
    lda: Number<'_>,
    ldb: Number<'_>,
    src: Data,
    dst: Data,
) -> Status {
    let packing = Packing { types: FLOATS, identifier, transa, transb, m, n, k, lda, ldb };
    guard("sgemm_pack", || packing.pack(src, dst))
}

/// `sgemm_compute`: `C = op(A) * op(B) + beta * C`.
#[unsafe(export_name = "_ZN4dnnl4impl3cpu13sgemm_computeEPKcS3_PKlS5_S5_PKfS5_S7_S5_S7_PfS5_")]
pub extern "C" fn sgemm_compute(
    transa: Letter<'_>,
    transb: Letter<'_>,
    m: Number<'_>,
    n: Number<'_>,
    k: Number<'_>,
    a: Data,
    lda: Number<'_>,
    b: Data,
    ldb: Number<'_>,
    beta: In<'_, f32>,
    c: Data,
    ldc: Number<'_>,
) -> Status {
    let computing = Computing { types: FLOATS, transa, transb, m, n, k, a, lda, b, ldb, beta, ldc };
    guard("sgemm_compute", || computing.floats(c))
}

/// `gemm_bf16bf16f32_pack_get_size`.
#[unsafe(export_name = "_ZN4dnnl4impl3cpu30gemm_bf16bf16f32_pack_get_sizeEPKcS3_S3_PKlS5_S5_S5_S5_PmPb")]
pub extern "C" fn gemm_bf16bf16f32_pack_get_size(
    identifier: Letter<'_>,
    transa: Letter<'_>,
    transb: Letter<'_>,
    m: Number<'_>,
    n: Number<'_>,
    k: Number<'_>,
    lda: Number<'_>,
    ldb: Number<'_>,
    size: Out<'_, usize>,
    pack: Out<'_, bool>,
) -> Status {
    let packing = Packing { types: HALVES, identifier, transa, transb, m, n, k, lda, ldb };
    guard("gemm_bf16bf16f32_pack_get_size", || packing.size(size, pack))
}

/// `gemm_bf16bf16f32_pack`.
#[unsafe(export_name = "_ZN4dnnl4impl3cpu21gemm_bf16bf16f32_packEPKcS3_S3_PKlS5_S5_S5_S5_PKNS0_10bfloat16_tEPS6_")]
pub extern "C" fn gemm_bf16bf16f32_pack(
    identifier: Letter<'_>,
    transa: Letter<'_>,
    transb: Letter<'_>,
    m: Number<'_>,
    n: Number<'_>,
    k: Number<'_>,
    lda: Number<'_>,
    ldb: Number<'_>,
    src: Data,
    dst: Data,
) -> Status {
    let packing = Packing { types: HALVES, identifier, transa, transb, m, n, k, lda, ldb };
    guard("gemm_bf16bf16f32_pack", || packing.pack(src, dst))
}

/// `gemm_bf16bf16f32_compute`: `C = op(A) * op(B) + beta * C`.
#[unsafe(export_name = "_ZN4dnnl4impl3cpu24gemm_bf16bf16f32_computeEPKcS3_PKlS5_S5_PKNS0_10bfloat16_tES5_S8_S5_PKfPfS5_")]
pub extern "C" fn gemm_bf16bf16f32_compute(
    transa: Letter<'_>,
    transb: Letter<'_>,
    m: Number<'_>,
    n: Number<'_>,
    k: Number<'_>,
    a: Data,
    lda: Number<'_>,
    b: Data,
    ldb: Number<'_>,
    beta: In<'_, f32>,
    c: Data,
    ldc: Number<'_>,
) -> Status {
    let computing = Computing { types: HALVES, transa, transb, m, n, k, a, lda, b, ldb, beta, ldc };
    guard("gemm_bf16bf16f32_compute", || computing.floats(c))
}

/// `gemm_s8u8s32_pack_get_size`.
#[unsafe(export_name = "_ZN4dnnl4impl3cpu26gemm_s8u8s32_pack_get_sizeEPKcS3_S3_PKlS5_S5_S5_S5_PmPb")]
pub extern "C" fn gemm_s8u8s32_pack_get_size(
    identifier: Letter<'_>,
    transa: Letter<'_>,
    transb: Letter<'_>,
    m: Number<'_>,
    n: Number<'_>,
    k: Number<'_>,
    lda: Number<'_>,
    ldb: Number<'_>,
    size: Out<'_, usize>,
    pack: Out<'_, bool>,
) -> Status {
    let packing = Packing { types: S8U8, identifier, transa, transb, m, n, k, lda, ldb };
    guard("gemm_s8u8s32_pack_get_size", || packing.size(size, pack))
}

/// `gemm_s8u8s32_pack`.
#[unsafe(export_name = "_ZN4dnnl4impl3cpu17gemm_s8u8s32_packEPKcS3_S3_PKlS5_S5_S5_S5_PKvPv")]
pub extern "C" fn gemm_s8u8s32_pack(
    identifier: Letter<'_>,
    transa: Letter<'_>,
    transb: Letter<'_>,
    m: Number<'_>,
    n: Number<'_>,
    k: Number<'_>,
    lda: Number<'_>,
    ldb: Number<'_>,
    src: Data,
    dst: Data,
) -> Status {
    let packing = Packing { types: S8U8, identifier, transa, transb, m, n, k, lda, ldb };
    guard("gemm_s8u8s32_pack", || packing.pack(src, dst))
}

/// `gemm_s8u8s32_compute`: `C = op(A) * op(B) + beta * C + co`.
#[unsafe(export_name = "_ZN4dnnl4impl3cpu20gemm_s8u8s32_computeEPKcS3_S3_PKlS5_S5_PKaS5_PKhS5_PKfPiS5_PKi")]
pub extern "C" fn gemm_s8u8s32_compute(
    transa: Letter<'_>,
    transb: Letter<'_>,
    offsetc: Letter<'_>,
    m: Number<'_>,
    n: Number<'_>,
    k: Number<'_>,
    a: Data,
    lda: Number<'_>,
    b: Data,
    ldb: Number<'_>,
    beta: In<'_, f32>,
    c: ArrayMut<'_, i32>,
    ldc: Number<'_>,
    co: Array<'_, i32>,
) -> Status {
    let computing = Computing { types: S8U8, transa, transb, m, n, k, a, lda, b, ldb, beta, ldc };
    guard("gemm_s8u8s32_compute", || computing.gemm(offsetc, c, co))
}

/// `gemm_s8s8s32_pack_get_size`.
#[unsafe(export_name = "_ZN4dnnl4impl3cpu26gemm_s8s8s32_pack_get_sizeEPKcS3_S3_PKlS5_S5_S5_S5_PmPb")]
pub extern "C" fn gemm_s8s8s32_pack_get_size(
    identifier: Letter<'_>,
    transa: Letter<'_>,
    transb: Letter<'_>,
    m: Number<'_>,
    n: Number<'_>,
    k: Number<'_>,
    lda: Number<'_>,
    ldb: Number<'_>,
    size: Out<'_, usize>,
    pack: Out<'_, bool>,
) -> Status {
    let packing = Packing { types: S8S8, identifier, transa, transb, m, n, k, lda, ldb };
    guard("gemm_s8s8s32_pack_get_size", || packing.size(size, pack))
}

/// `gemm_s8s8s32_pack`.
#[unsafe(export_name = "_ZN4dnnl4impl3cpu17gemm_s8s8s32_packEPKcS3_S3_PKlS5_S5_S5_S5_PKvPv")]
pub extern "C" fn gemm_s8s8s32_pack(
    identifier: Letter<'_>,
    transa: Letter<'_>,
    transb: Letter<'_>,
    m: Number<'_>,
    n: Number<'_>,
    k: Number<'_>,
    lda: Number<'_>,
    ldb: Number<'_>,
    src: Data,
    dst: Data,
) -> Status {
    let packing = Packing { types: S8S8, identifier, transa, transb, m, n, k, lda, ldb };
    guard("gemm_s8s8s32_pack", || packing.pack(src, dst))
}

/// `gemm_s8s8s32_compute`: `C = op(A) * op(B) + beta * C + co`.
#[unsafe(export_name = "_ZN4dnnl4impl3cpu20gemm_s8s8s32_computeEPKcS3_S3_PKlS5_S5_PKaS5_S7_S5_PKfPiS5_PKi")]
pub extern "C" fn gemm_s8s8s32_compute(
    transa: Letter<'_>,
    transb: Letter<'_>,
    offsetc: Letter<'_>,
    m: Number<'_>,
    n: Number<'_>,
    k: Number<'_>,
    a: Data,
    lda: Number<'_>,
    b: Data,
    ldb: Number<'_>,
    beta: In<'_, f32>,
    c: ArrayMut<'_, i32>,
    ldc: Number<'_>,
    co: Array<'_, i32>,
) -> Status {
    let computing = Computing { types: S8S8, transa, transb, m, n, k, a, lda, b, ldb, beta, ldc };
    guard("gemm_s8s8s32_compute", || computing.gemm(offsetc, c, co))
}
