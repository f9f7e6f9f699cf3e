//! Matrix products without handles: `dnnl_sgemm` and the like, over the matmul primitive. Primitives are cached, keyed by all parameters of a call
//! except addresses.

#![allow(clippy::too_many_arguments, reason = "the functions of the C interface have the parameters that BLAS gave them")]

use crate::engine;
use crate::handle::{Array, ArrayMut, Data, memory_over, region};
use crate::stack;
use crate::status::{Failure, Status, guard};
use crate::threads;
use oxidnn_expr::quant;
use oxidnn_runtime::{Memory, Primitive, PrimitiveDesc, QueueSpec, Stream, fork};
use oxidnn_spec::op::{EltwiseAlg, Matmul};
use oxidnn_spec::{Arg, Attr, DataType, Dims, PostOp, Problem, Quant, Real, Tensor};
use std::collections::HashMap;
use std::ffi::c_char;
use std::sync::{OnceLock, RwLock};

#[cfg(test)]
mod tests;

/// The layout of an operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Storage {
    /// Row-major.
    Rows {
        /// Leading dimension: elements from one row to the next.
        ld: i64,
    },
    /// Column-major.
    Columns {
        /// Leading dimension: elements from one column to the next.
        ld: i64,
    },
    /// Packed, as the primitive prefers its weights.
    Packed,
}

impl Storage {
    /// A matrix of `rows` by `columns`.
    pub(crate) fn tensor(self, dtype: DataType, rows: i64, columns: i64) -> Result<Tensor, Failure> {
        let strides = match self {
            Storage::Rows { ld } => [ld, 1],
            Storage::Columns { ld } => [1, ld],
            Storage::Packed => return Ok(Tensor::any([rows, columns], dtype)),
        };
        Ok(Tensor::with_strides([rows, columns], dtype, Some(Dims::from(strides)))?)
    }
}

/// `C = alpha * (A - a0) * (B - b0) + beta * C` for matrices of `m x k`, `k x n` and `m x n`: the parameters that determine its primitive.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Product {
    /// Types of `A`, `B` and `C`.
    pub(crate) types: [DataType; 3],
    /// `m`, `n` and `k`.
    pub(crate) sizes: [i64; 3],
    /// The layout of `A`.
    pub(crate) a: Storage,
    /// The layout of `B`.
    pub(crate) b: Storage,
    /// Leading dimension of `C`.
    pub(crate) ldc: i64,
    /// Factor of the product.
    pub(crate) alpha: Real,
    /// Factor of the old `C`.
    pub(crate) beta: Real,
    /// Whether `a0` and `b0` are not 0.
    pub(crate) shifted: [bool; 2],
}

/// Addresses and scalars of one call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operands {
    pub(crate) a: Data,
    pub(crate) b: Data,
    pub(crate) c: Data,
    /// `a0` and `b0`.
    pub(crate) zeros: [i32; 2],
}

/// Capacity of the cache; when it is full, it is cleared.
const MAX_CACHED: usize = 1024;

impl Product {
    fn problem(&self) -> Result<Problem, Failure> {
        let ([a, b, c], [m, n, k]) = (self.types, self.sizes);
        let op = Matmul {
            src: self.a.tensor(a, m, k)?,
            weights: self.b.tensor(b, k, n)?,
            bias: None,
            dst: Storage::Rows { ld: self.ldc }.tensor(c, m, n)?,
        };
        let mut attr = Attr::default();
        for (arg, _) in [Arg::SRC, Arg::WEIGHTS].into_iter().zip(self.shifted).filter(|(_, shifted)| *shifted) {
            attr.zero_points.insert(arg, Quant::per(0, DataType::S32));
        }
        if self.alpha != Real::from(1.0) {
            attr.post_ops.push(PostOp::Eltwise { alg: EltwiseAlg::Linear, alpha: self.alpha, beta: Real::from(0.0) });
        }
        if self.beta != Real::from(0.0) {
            attr.post_ops.push(PostOp::Sum { scale: self.beta, zero_point: 0, dtype: None });
        }
        Ok(Problem::new(op, attr)?)
    }

    /// The primitive, new or cached.
    pub(crate) fn primitive(&self) -> Result<Primitive, Failure> {
        static CACHE: OnceLock<RwLock<HashMap<Product, Primitive>>> = OnceLock::new();
        // A child forked meanwhile would inherit the held lock.
        let _inside = fork::enter();
        let cache = CACHE.get_or_init(RwLock::default);
        if let Some(found) = cache.read().unwrap_or_else(|e| e.into_inner()).get(self) {
            return Ok(found.clone());
        }
        let made = stack::deep(|| Ok::<_, Failure>(PrimitiveDesc::new(&engine::host(), self.problem()?)?.create()?))?;
        let mut cache = cache.write().unwrap_or_else(|e| e.into_inner());
        if cache.len() >= MAX_CACHED {
            cache.clear();
        }
        cache.insert(*self, made.clone());
        Ok(made)
    }

    /// Computes on the threads of `stream`. Operands that overlap the result are copied first.
    pub(crate) fn run(&self, on: &Operands, stream: &Stream) -> Result<(), Failure> {
        let primitive = self.primitive()?;
        let desc = primitive.desc();
        let (mut a, mut b) = (unaliased_copy(desc, (Arg::SRC, on.a), on.c)?, unaliased_copy(desc, (Arg::WEIGHTS, on.b), on.c)?);
        let read = |copy: &mut Option<Vec<u64>>, data: Data| copy.as_mut().map_or(data, |c| Data::from(&mut c[..]));
        let on = Operands { a: read(&mut a, on.a), b: read(&mut b, on.b), ..*on };
        let memory = |arg: Arg, data: Data| Ok::<_, Failure>(memory_over(desc.engine(), described(desc, arg)?, &[data])?);
        let (a, b, c) = (memory(Arg::SRC, on.a)?, memory(Arg::WEIGHTS, on.b)?, memory(Arg::DST, on.c)?);
        let mut zeros = Vec::new();
        for ((arg, value), _) in [Arg::SRC, Arg::WEIGHTS].into_iter().zip(&on.zeros).zip(self.shifted).filter(|(_, shifted)| *shifted) {
            let arg = Arg::zero_point(arg);
            zeros.push((arg, Memory::from_slice(desc.engine(), described(desc, arg)?, std::slice::from_ref(value))?));
        }
        let mut args = vec![(Arg::SRC, &a), (Arg::WEIGHTS, &b), (Arg::DST, &c)];
        args.extend(zeros.iter().map(|(arg, zero)| (*arg, zero)));
        Ok(primitive.execute(stream, &args)?)
    }
}

/// A copy of an operand that overlaps the result; `None` if it does not.
fn unaliased_copy(desc: &PrimitiveDesc, (arg, data): (Arg, Data), result: Data) -> Result<Option<Vec<u64>>, Failure> {
    let region_of = |arg: Arg, data: Data| Ok::<_, Failure>(region(data, described(desc, arg)?.buffer_bytes(0).unwrap_or(0)));
    let operand = region_of(arg, data)?;
    if !operand.overlaps(&region_of(Arg::DST, result)?) {
        return Ok(None);
    }
    let mut copy = vec![0; operand.len().div_ceil(8)];
    data.read("operand", &mut bytemuck::cast_slice_mut(&mut copy)[..operand.len()])?;
    Ok(Some(copy))
}

/// The tensor of a product for `arg`.
pub(crate) fn described(desc: &PrimitiveDesc, arg: Arg) -> Result<Tensor, Failure> {
    desc.tensor(arg).cloned().ok_or_else(|| Failure::invalid(arg, "an argument without a description", "one of the product"))
}

/// A product of floats by its parameters in C.
pub(crate) struct Floats {
    pub(crate) transa: c_char,
    pub(crate) transb: c_char,
    pub(crate) sizes: [i64; 3],
    pub(crate) alpha: f32,
    pub(crate) lds: [i64; 3],
    pub(crate) beta: f32,
}

impl Floats {
    /// Computes; operands are of type `input`, sums and results f32.
    pub(crate) fn run(&self, input: DataType, [a, b, c]: [Data; 3], stream: &Stream) -> Result<(), Failure> {
        let (a_storage, b_storage) = storages(self.transa, self.transb, self.sizes, self.lds)?;
        present(&[("A", a), ("B", b), ("C", c)])?;
        if self.sizes.contains(&0) {
            return Ok(());
        }
        let product = Product {
            types: [input, input, DataType::F32],
            sizes: self.sizes,
            a: a_storage,
            b: b_storage,
            ldc: self.lds[2],
            alpha: Real::from(self.alpha),
            beta: Real::from(self.beta),
            shifted: [false; 2],
        };
        product.run(&Operands { a, b, c, zeros: [0; 2] }, stream)
    }
}

/// A product of bytes by its parameters in C.
pub(crate) struct Bytes<'a> {
    pub(crate) transa: c_char,
    pub(crate) transb: c_char,
    pub(crate) offsetc: c_char,
    pub(crate) sizes: [i64; 3],
    pub(crate) alpha: f32,
    pub(crate) a: Data,
    pub(crate) b: Data,
    pub(crate) zeros: [i32; 2],
    pub(crate) lds: [i64; 3],
    pub(crate) beta: f32,
    pub(crate) c: ArrayMut<'a, i32>,
    pub(crate) co: Array<'a, i32>,
}

impl Bytes<'_> {
    /// Computes; `A` is of type `source`, `B` of s8.
    pub(crate) fn run(self, source: DataType, stream: &Stream) -> Result<(), Failure> {
        let (a, b) = storages(self.transa, self.transb, self.sizes, self.lds)?;
        present(&[("A", self.a), ("B", self.b)])?;
        let offsets = Offsets::new(self.offsetc, self.co, self.sizes)?;
        if self.c.is_null() {
            return Err(Failure::null("C"));
        }
        if self.sizes.contains(&0) {
            return Ok(());
        }
        let gemm = IntegerGemm {
            product: Product {
                types: [source, DataType::S8, DataType::S32],
                sizes: self.sizes,
                a,
                b,
                ldc: self.lds[2],
                alpha: Real::from(1.0),
                beta: Real::from(0.0),
                shifted: self.zeros.map(|z| z != 0),
            },
            a: self.a,
            b: self.b,
            zeros: self.zeros,
            alpha: self.alpha,
            beta: self.beta,
        };
        gemm.run(self.c, &offsets, stream)
    }
}

/// A product of integers with `alpha`, `beta` and offsets, which are applied to exact sums.
pub(crate) struct IntegerGemm {
    /// The product alone; its results are the sums.
    pub(crate) product: Product,
    pub(crate) a: Data,
    pub(crate) b: Data,
    pub(crate) zeros: [i32; 2],
    pub(crate) alpha: f32,
    pub(crate) beta: f32,
}

impl IntegerGemm {
    /// `C = alpha * sums + beta * C + offsets`.
    pub(crate) fn run(&self, c: ArrayMut<'_, i32>, offsets: &Offsets<'_>, stream: &Stream) -> Result<(), Failure> {
        let [m, n, _] = self.product.sizes.map(|s| s as usize);
        let operands = |c: Data| Operands { a: self.a, b: self.b, c, zeros: self.zeros };
        if self.alpha == 1.0 && self.beta == 0.0 && offsets.are_zero() {
            return self.product.run(&operands(c.data()), stream);
        }
        let ldc = self.product.ldc as usize;
        let c = c.slice("C", (m - 1).saturating_mul(ldc).saturating_add(n))?;
        let mut sums = vec![0i32; m.saturating_mul(n)];
        Product { ldc: n as i64, ..self.product }.run(&operands(Data::from(&mut sums[..])), stream)?;
        for (i, (row, sums)) in c.chunks_mut(ldc).zip(sums.chunks(n)).enumerate() {
            for (j, (c, sum)) in row.iter_mut().zip(sums).enumerate() {
                // `C` is not read if it has no part in the result.
                let old = if self.beta == 0.0 { 0 } else { *c };
                *c = quant::combine(self.alpha, *sum, self.beta, old, offsets.at(i, j));
            }
        }
        Ok(())
    }
}

/// The summand of a product's results.
pub(crate) struct Offsets<'a> {
    numbers: &'a [i32],
    /// Steps from one row to the next and from one column to the next.
    steps: [usize; 2],
}

impl<'a> Offsets<'a> {
    /// One number (`F`), one a row (`C`) or one a column (`R`).
    pub(crate) fn new(kind: c_char, numbers: Array<'a, i32>, [m, n, _]: [i64; 3]) -> Result<Offsets<'a>, Failure> {
        let (len, steps) = match kind as u8 {
            b'F' | b'f' => (1, [0, 0]),
            b'C' | b'c' => (m, [1, 0]),
            b'R' | b'r' => (n, [0, 1]),
            other => return Err(Failure::invalid("offsetc", char::from(other), "F, C or R")),
        };
        Ok(Offsets { numbers: numbers.slice("co", len as usize)?, steps })
    }

    fn at(&self, row: usize, column: usize) -> i32 {
        self.numbers[row * self.steps[0] + column * self.steps[1]]
    }

    fn are_zero(&self) -> bool {
        self.numbers.iter().all(|&n| n == 0)
    }
}

/// The layouts of `A` and `B`, if sizes and leading dimensions fit them; the stride of `C`'s rows is the last leading dimension.
fn storages(transa: c_char, transb: c_char, sizes: [i64; 3], lds: [i64; 3]) -> Result<(Storage, Storage), Failure> {
    let [m, n, k] = sizes;
    for (name, size) in [("M", m), ("N", n), ("K", k)] {
        if size < 0 {
            return Err(Failure::invalid(name, size, "a size that is not negative"));
        }
    }
    leading("ldc", lds[2], n)?;
    Ok((storage(("transa", transa), ("lda", lds[0]), [m, k])?, storage(("transb", transb), ("ldb", lds[1]), [k, n])?))
}

/// The layout of an operand of `[rows, columns]` that may be transposed in memory.
pub(crate) fn storage(transposed: (&str, c_char), ld: (&str, i64), [rows, columns]: [i64; 2]) -> Result<Storage, Failure> {
    let (name, ld) = ld;
    match transposed.1 as u8 {
        b'N' | b'n' => leading(name, ld, columns).map(|()| Storage::Rows { ld }),
        b'T' | b't' => leading(name, ld, rows).map(|()| Storage::Columns { ld }),
        other => Err(Failure::invalid(transposed.0, char::from(other), "N or T")),
    }
}

/// A leading dimension must be at least the length of a line, and not 0.
fn leading(name: &str, ld: i64, line: i64) -> Result<(), Failure> {
    let least = line.max(1);
    if ld < least { Err(Failure::invalid(name, ld, format!("at least {least}"))) } else { Ok(()) }
}

pub(crate) fn present(data: &[(&str, Data)]) -> Result<(), Failure> {
    data.iter().try_for_each(|(name, data)| if data.is_null() { Err(Failure::null(name)) } else { Ok(()) })
}

/// The stream of calls without one: on the process-wide pool.
pub(crate) fn stream() -> Result<&'static Stream, Failure> {
    static STREAM: OnceLock<Stream> = OnceLock::new();
    match STREAM.get() {
        Some(stream) => Ok(stream),
        None => {
            let made = Stream::with(&engine::host(), &QueueSpec { threads: threads::of_process(), asynchronous: false })?;
            Ok(fork::once(&STREAM, || made))
        }
    }
}

/// `dnnl_sgemm`: `C = alpha * op(A) * op(B) + beta * C`, row-major, f32.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_sgemm(
    transa: c_char,
    transb: c_char,
    m: i64,
    n: i64,
    k: i64,
    alpha: f32,
    a: Data,
    lda: i64,
    b: Data,
    ldb: i64,
    beta: f32,
    c: Data,
    ldc: i64,
) -> Status {
    let floats = Floats { transa, transb, sizes: [m, n, k], alpha, lds: [lda, ldb, ldc], beta };
    guard("dnnl_sgemm", || floats.run(DataType::F32, [a, b, c], stream()?))
}

/// `dnnl_gemm_bf16bf16f32`, which no public header declares: as [`dnnl_sgemm`], with bf16 operands.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_gemm_bf16bf16f32(
    transa: c_char,
    transb: c_char,
    m: i64,
    n: i64,
    k: i64,
    alpha: f32,
    a: Data,
    lda: i64,
    b: Data,
    ldb: i64,
    beta: f32,
    c: Data,
    ldc: i64,
) -> Status {
    let floats = Floats { transa, transb, sizes: [m, n, k], alpha, lds: [lda, ldb, ldc], beta };
    guard("dnnl_gemm_bf16bf16f32", || floats.run(DataType::Bf16, [a, b, c], stream()?))
}

/// `dnnl_gemm_u8s8s32`: `C = alpha * (op(A) - ao) * (op(B) - bo) + beta * C + co`, row-major.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_gemm_u8s8s32(
    transa: c_char,
    transb: c_char,
    offsetc: c_char,
    m: i64,
    n: i64,
    k: i64,
    alpha: f32,
    a: Data,
    lda: i64,
    ao: u8,
    b: Data,
    ldb: i64,
    bo: i8,
    beta: f32,
    c: ArrayMut<'_, i32>,
    ldc: i64,
    co: Array<'_, i32>,
) -> Status {
    let zeros = [ao.into(), bo.into()];
    let bytes = Bytes { transa, transb, offsetc, sizes: [m, n, k], alpha, a, b, zeros, lds: [lda, ldb, ldc], beta, c, co };
    guard("dnnl_gemm_u8s8s32", || bytes.run(DataType::U8, stream()?))
}

/// `dnnl_gemm_s8s8s32`: as [`dnnl_gemm_u8s8s32`], with s8 operands.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_gemm_s8s8s32(
    transa: c_char,
    transb: c_char,
    offsetc: c_char,
    m: i64,
    n: i64,
    k: i64,
    alpha: f32,
    a: Data,
    lda: i64,
    ao: i8,
    b: Data,
    ldb: i64,
    bo: i8,
    beta: f32,
    c: ArrayMut<'_, i32>,
    ldc: i64,
    co: Array<'_, i32>,
) -> Status {
    let zeros = [ao.into(), bo.into()];
    let bytes = Bytes { transa, transb, offsetc, sizes: [m, n, k], alpha, a, b, zeros, lds: [lda, ldb, ldc], beta, c, co };
    guard("dnnl_gemm_s8s8s32", || bytes.run(DataType::S8, stream()?))
}
