//! Products and convolutions on tensor cores (and in f32 on CUDA cores): `problems` describes them as matrix products with an epilogue ([`Gemm`]), which are
//! lowered to kernels.
//!
//! This module has `gemm:sm90` (`kernels/gemm_sm90.cu`), Hopper's product of matrices that TMA can address. `shape` chooses the tile; submodules have the other
//! kernels.

mod conv;
pub(super) mod conv_f32;
pub(super) mod depthwise;
pub(super) mod first;
mod four_bits;
pub(super) mod groups;
pub(super) mod planar;
mod problems;
mod rows;
pub(super) mod shape;
pub(super) mod simt;
pub(super) mod slices;
pub(super) mod stem;
pub(super) mod weights;

pub(crate) use conv::window;
pub(crate) use four_bits::four_bits;
pub(crate) use problems::{
    inner_mma, inner_product, inner_rows, matmul, matmul_mma, matmul_rows, pointwise_conv, pointwise_conv_mma, pointwise_last_mma,
};
pub(crate) use shape::{Choice, Request, Shape, candidates};

use crate::CudaTarget;
use crate::emit::{Emitter, Real, Tail};
use crate::ops::ceil;
use crate::ops::transpose::{Kept, copied};
use crate::program::{Launch, MapKind, MapPlace, OVERFLOW, Program, Swizzle, TensorMap, Word};
use crate::row::Lower;
use oxidnn_runtime::Skip;
use oxidnn_spec::{Arg, Blocking, DataType, FpMathMode, Op, Problem, Rounding, Tensor};
use problems::{Channels, inner_matrices, matrices, pixel_step, pixels};
use shape::Store;

/// Rows of tiles per group of the rasterisation order (`Schedule` in `tile_sm90.cuh`), for L2 reuse.
const GROUP: i64 = 8;

/// The expressions of scale and bias that follow the sum in the epilogue.
#[derive(Default)]
struct Declared {
    scale: String,
    bias: String,
    /// The bias depends on the column only.
    by_column: bool,
}

/// A batch of matrices in memory; strides in elements.
#[derive(Clone, Copy, Debug)]
struct Matrix {
    arg: Arg,
    dtype: DataType,
    offset: i64,
    /// Strides along M (A) or N (B), and along K; of the result between rows, and between columns.
    outer: i64,
    inner: i64,
    batches: i64,
    batch_stride: i64,
    /// The place in scratch of a copy, which these numbers describe.
    kept: Option<usize>,
}

/// A batched matrix product with its epilogue: C = epilogue(A B).
#[derive(Clone, Copy)]
struct Gemm<'a> {
    problem: &'a Problem,
    m: i64,
    n: i64,
    k: i64,
    batch: i64,
    /// A is M x K, B is N x K, C is M x N.
    a: Matrix,
    b: Matrix,
    c: Matrix,
    /// Lowers the problem for addresses that are not aligned.
    otherwise: Lower,
    /// Declares `place(e, batch, row, column, p)`, the position of a result element, and returns the expressions of scale and bias.
    declare: &'a (dyn Fn(&mut Emitter) -> Result<Declared, Skip> + 'a),
}

pub(super) fn plain(t: &Tensor) -> Result<&Blocking, Skip> {
    let strided = |b: &&Blocking| b.is_plain() && b.padded_dims == *t.dims() && b.compensation.is_none();
    t.blocking().filter(strided).ok_or_else(|| Skip::Layout("that is not strides alone".into()))
}

/// Checks for Hopper: sm_90a code runs nowhere else.
pub(super) fn hopper(target: &CudaTarget) -> Result<(), Skip> {
    if target.facts.sm == 90 { Ok(()) } else { Err(Skip::Isa("sm_90a")) }
}

/// Rejects what no convolution on Hopper's tensor cores supports.
fn check(problem: &Problem, target: &CudaTarget) -> Result<(), Skip> {
    hopper(target)?;
    check_attributes(problem)
}

/// Rejects attributes that no product on tensor cores supports.
fn check_attributes(problem: &Problem) -> Result<(), Skip> {
    let attr = &problem.attr;
    if !attr.zero_points.keys().all(|&arg| arg == Arg::DST) {
        return Err(Skip::Attr("zero points of operands".into()));
    }
    if !attr.precomputed_reductions.is_empty()
        || attr.rounding.values().any(|&r| r == Rounding::Stochastic)
        || attr.depthwise_index().is_some()
    {
        return Err(Skip::Attr("precomputed reductions, stochastic rounding or a depthwise convolution".into()));
    }
    Ok(())
}

/// The kernel's code for an operand type; f32 is TF32 if the math mode allows it.
fn operand(dtype: DataType, mode: FpMathMode) -> Option<&'static str> {
    Some(match dtype {
        DataType::Bf16 => "T_BF16",
        DataType::F16 => "T_F16",
        DataType::F8E4m3 => "T_E4M3",
        DataType::F8E5m2 => "T_E5M2",
        DataType::S8 => "T_S8",
        DataType::U8 => "T_U8",
        DataType::F32 if matches!(mode, FpMathMode::Tf32 | FpMathMode::Bf16 | FpMathMode::F16 | FpMathMode::Any) => "T_TF32",
        _ => return None,
    })
}

/// The kernel's code for a result type.
fn result(dtype: DataType) -> Option<&'static str> {
    Some(match dtype {
        DataType::Bf16 => "T_BF16",
        DataType::F16 => "T_F16",
        DataType::F32 => "T_F32",
        DataType::S8 => "T_S8",
        DataType::U8 => "T_U8",
        DataType::S32 => "T_S32",
        _ => return None,
    })
}

impl Matrix {
    fn bytes(&self) -> i64 {
        (self.dtype.bits() / 8) as i64
    }

    /// Whether it is MN-major (contiguous along M or N) instead of K-major; `None` if TMA cannot address it.
    fn direction(&self, rows: i64, k: i64) -> Option<bool> {
        let aligned = |elements: i64| elements * self.bytes() % 16 == 0;
        let spaced = self.batches == 1 || aligned(self.batch_stride) && self.batch_stride > 0;
        if !spaced || !aligned(self.offset) {
            return None;
        }
        if (self.inner == 1 || k == 1) && (rows == 1 || aligned(self.outer) && self.outer > 0) {
            Some(false)
        } else if matches!(self.bytes(), 2 | 4) && (self.outer == 1 || rows == 1) && (k == 1 || aligned(self.inner) && self.inner > 0) {
            Some(true)
        } else {
            None
        }
    }

    /// The least number of neighbouring lines that start 16-byte aligned together, if the matrix is MN-major and TMA can address it by so many.
    fn period(&self, k: i64) -> Option<i64> {
        let aligned = |elements: i64| elements * self.bytes() % 16 == 0;
        let spaced = aligned(self.offset) && (self.batches == 1 || aligned(self.batch_stride) && self.batch_stride > 0);
        let mn = self.bytes() == 2 && self.outer == 1 && self.inner > 0;
        [1, 2, 4, 8].into_iter().find(|p| mn && spaced && aligned(self.inner * p) && k % p == 0)
    }

    /// The TMA descriptor of periods of lines (`kernels/realign.cuh`).
    fn lines_map(&self, [rows, k]: [i64; 2], period: i64, tile: i64) -> TensorMap {
        let (size, step) = (self.bytes(), self.inner * period);
        let batch = if self.batches == 1 { step * (k / period) } else { self.batch_stride };
        let place = MapPlace::Arg(self.arg, (self.offset * size) as u64);
        let dims = [rows + (period - 1) * self.inner, k / period, self.batches].map(|d| d as u64);
        let strides = [(step * size) as u64, (batch * size) as u64];
        let tile_box = [tile + 8, 64 / period, 1].map(|d| d as u32);
        TensorMap { swizzle: Swizzle::None, ..TensorMap::boxes(place, operand_kind(self.dtype), &dims, &strides, &tile_box) }
    }

    /// The TMA descriptor for loading tiles.
    fn map(&self, mn: bool, [rows, k]: [i64; 2], tile: i64) -> TensorMap {
        let size = self.bytes();
        let step = 128 / size;
        let lead = if mn { self.inner } else { self.outer };
        let (inner, outer) = if mn { (rows, k) } else { (k, rows) };
        // Dimensions of size 1 need a legal stride, too.
        let lead = if lead <= 0 || outer == 1 { ceil(inner * size, 16) * 16 / size } else { lead };
        let batch = if self.batches == 1 { lead * outer.max(1) } else { self.batch_stride };
        let (dims, tile_box) = ([inner, outer, self.batches], [step, if mn { step } else { tile }, 1]);
        let place = self.kept.map_or(MapPlace::Arg(self.arg, (self.offset * size) as u64), MapPlace::Scratch);
        let strides = [(lead * size) as u64, (batch * size) as u64];
        TensorMap::boxes(place, operand_kind(self.dtype), &dims.map(|d| d as u64), &strides, &tile_box.map(|d| d as u32))
    }
}

impl Matrix {
    /// A copy in scratch, MN-major or K-major, that TMA can address.
    fn copy(&self, mn: bool, [rows, k]: [i64; 2], (program, target): (&mut Program, &CudaTarget)) -> Result<Matrix, Skip> {
        let ((run, lines), unit) = (if mn { (rows, k) } else { (k, rows) }, 16 / self.bytes());
        let lead = ceil(run, unit) * unit;
        let step = lines.checked_mul(lead).ok_or(OVERFLOW)?;
        let (outer, inner) = if mn { (1, lead) } else { (lead, 1) };
        let tensor = |offset: i64, strides: [i64; 3]| -> Result<Tensor, Skip> {
            let mut t = Tensor::plain([self.batches, rows, k], self.dtype).map_err(|_| OVERFLOW)?;
            let b = t.layout.blocking_mut().ok_or(OVERFLOW)?;
            (b.offset, b.strides) = (offset, strides.into());
            Ok(t)
        };
        let batch = if self.batches == 1 { (rows * self.outer).max(k * self.inner) } else { self.batch_stride };
        let given = tensor(self.offset, [batch, self.outer, self.inner])?;
        let bytes = usize::try_from(step).ok().and_then(|n| n.checked_mul((self.bytes() * self.batches) as usize));
        let at = program.book(bytes.ok_or(OVERFLOW)?)?;
        let kept = Kept { arg: self.arg, tensor: tensor(0, [step, outer, inner])?, at };
        program.launches.extend(copied(&given, &kept, true, target)?.launches);
        Ok(Matrix { offset: 0, outer, inner, batch_stride: step, kept: Some(at), ..*self })
    }
}

impl Gemm<'_> {
    /// Checks types and sizes, and returns the kernel's codes of the types; `alike`: both operands must have the same type, except for s8 and u8.
    fn types(&self, alike: bool) -> Result<[&'static str; 3], Skip> {
        let mode = self.problem.attr.fpmath.mode;
        let types = || Skip::DataType(format!("{}:{}:{}", self.a.dtype, self.b.dtype, self.c.dtype));
        let names = [operand(self.a.dtype, mode), operand(self.b.dtype, mode)];
        let ([Some(ta), Some(tb)], Some(tc)) = (names, result(self.c.dtype)) else { return Err(types()) };
        let bytes_only = |t: &str| matches!(t, "T_S8" | "T_U8");
        if alike && ta != tb && !(bytes_only(ta) && bytes_only(tb)) {
            return Err(types());
        }
        if [self.m, self.n, self.k, self.batch].iter().any(|&d| d < 1 || d > i64::from(i32::MAX) / 2)
            || self.m * self.batch > i64::from(i32::MAX)
        {
            return Err(Skip::Shape("empty or very large matrices"));
        }
        Ok([ta, tb, tc])
    }

    fn program(&self, target: &CudaTarget) -> Result<Program, Skip> {
        self.types(true)?;
        let mut program = Program::or_unaligned(self.otherwise, self.problem, target)?;
        if self.is_planar() {
            // Planes that are not aligned are realigned, or copied by `between:sm90`, which transposes them.
            let is_aligned = self.b.direction(self.n, self.k).is_some();
            let period = if is_aligned { 1 } else { self.b.period(self.k).unwrap_or(1) };
            let seconds = self.aligned(&mut program, period, target)?;
            let is_slower = period > 1 && seconds > self.between(target);
            return if is_slower { Err(Skip::Shape("what is faster between transpositions")) } else { Ok(program) };
        }
        let (mut gemm, mut copies) = (*self, 0.0);
        for (x, rows) in [(&mut gemm.a, self.m), (&mut gemm.b, self.n)] {
            if x.direction(rows, self.k).is_none() {
                copies += shape::alignment(x.batches * rows * self.k * x.bytes(), &target.facts);
                *x = x.copy(x.bytes() == 2 && x.outer == 1, [rows, self.k], (&mut program, target))?;
            }
        }
        let seconds = gemm.aligned(&mut program, 1, target)? + copies;
        if copies > 0.0 && seconds > self.unaligned(target).1 {
            return Err(Skip::Layout("rows that are not 16-byte aligned and contiguous".into()));
        }
        Ok(program)
    }

    /// Predicted seconds of `between:sm90` for planes.
    fn between(&self, target: &CudaTarget) -> f64 {
        let (pixels, sizes) = (self.batch * self.n, [self.b.bytes(), self.c.bytes()]);
        let request = Request { aligned: true, ..Request::new([pixels, self.m, self.k, 1], sizes) };
        shape::between(&request, pixels * (self.k * sizes[0] + self.m * sizes[1]), target)
    }

    /// Whether B and C are images of planes.
    fn is_planar(&self) -> bool {
        matches!(self.problem.op, Op::Conv(_)) && self.a.arg == Arg::WEIGHTS
    }

    /// Appends the launches for operands that TMA can address, with a `period` beyond 1 for a B that is realigned. Returns the predicted seconds.
    fn aligned(&self, program: &mut Program, period: i64, target: &CudaTarget) -> Result<f64, Skip> {
        let [ta, tb, tc] = self.types(true)?;
        let misaligned = || Skip::Layout("rows that are not 16-byte aligned and contiguous".into());
        let a_mn = self.a.direction(self.m, self.k).ok_or_else(misaligned)?;
        let b_mn = self.b.direction(self.n, self.k).or((period > 1).then_some(true)).ok_or_else(misaligned)?;
        // Swap A and B for few rows, and for an MN-major TF32 operand, which wgmma takes as A only; of two of these, the smaller may be transposed before.
        let swapped = period == 1 && (self.m <= 32 || self.a.bytes() == 4 && b_mn && (!a_mn || self.m < self.n));
        let (rows, columns) = if swapped { (self.n, self.m) } else { (self.m, self.n) };
        let spaced = |stride: i64| stride * self.c.bytes() % 16 == 0;
        let aligned = self.c.inner == 1
            && spaced(self.n)
            && spaced(self.c.outer)
            && self.c.outer >= self.n
            && spaced(self.c.offset)
            && (self.batch == 1 || spaced(self.c.batch_stride) && self.c.batch_stride > 0);
        let request = Request {
            a_mn: if swapped { b_mn } else { a_mn },
            b_mn: if swapped { a_mn } else { b_mn },
            swapped,
            promote: self.a.dtype.is_f8(),
            aligned,
            computed: !self.problem.attr.post_ops.is_empty(),
            shared: self.batch > 1 && if swapped { self.b.batches == 1 } else { self.a.batches == 1 },
            period,
            unit: if aligned || swapped { 1 } else { self.unit() },
            ..Request::new([rows, columns, self.k, self.batch], [self.a.bytes(), self.c.bytes()])
        };
        let choice = shape::best(&request, target).ok_or(Skip::Shape("no tile fits"))?;
        let request = if choice.shape.transposed { request.transposed() } else { request };
        let types = if request.swapped { [tb, ta, tc] } else { [ta, tb, tc] };
        if !(request.by_mma_sync() && self.turned(program, &request, choice.seconds, target)?) {
            program.launches.push(self.launch(&request, &choice, types, target)?);
        }
        let direct = if choice.store.is_direct() { shape::one_by_one(self.m * self.n * self.batch) } else { 0.0 };
        Ok(choice.seconds + direct)
    }

    /// TF32 products with a transposed copy of the MN-major operand that wgmma cannot read; false if `mma.sync`, which takes `seconds`, is faster.
    fn turned(&self, program: &mut Program, r: &Request, seconds: f64, target: &CudaTarget) -> Result<bool, Skip> {
        let request = Request { b_mn: false, ..*r };
        let Some(choice) = shape::best(&request, target).filter(|c| !c.shape.transposed) else { return Ok(false) };
        let mut gemm = *self;
        let (matrix, rows) = if r.swapped { (&mut gemm.a, self.m) } else { (&mut gemm.b, self.n) };
        if matrix.kept.is_some() || choice.seconds + shape::transposition(matrix.batches * rows * self.k, &target.facts) >= seconds {
            return Ok(false);
        }
        *matrix = matrix.copy(false, [rows, self.k], (program, target))?;
        let result = result(self.c.dtype).ok_or(Skip::Op("a result that no product has"))?;
        program.launches.push(gemm.launch(&request, &choice, ["T_TF32", "T_TF32", result], target)?);
        Ok(true)
    }

    fn launch(&self, r: &Request, choice: &Choice, types: [&str; 3], target: &CudaTarget) -> Result<Launch, Skip> {
        let shape = choice.shape;
        let mut emit = epilogue(self.problem, self.c.arg, self.declare)?;
        tile_options(&mut emit, types, r, choice);
        let [down, across] = clusters(r, choice);
        let (left, right) = if r.swapped { (&self.b, &self.a) } else { (&self.a, &self.b) };
        let step = 128 / r.bytes;
        let divide = |x: &Matrix| if x.batches == 1 { [1, 1] } else { [1, x.batches] };
        let ([ad, am], [bd, bm]) = (divide(left), divide(right));
        let (row, column) = if r.swapped { (self.c.inner, self.c.outer) } else { (self.c.outer, self.c.inner) };
        let mut words = pairs(&[r.m, r.n, ceil(r.k, step), 1, down, across, r.batch, GROUP, ad, am, bd, bm]);
        if r.period > 1 {
            words.extend(pairs(&[right.inner, i64::from(r.period.ilog2())]));
        }
        words.push(Word::Offset { arg: self.c.arg, bytes: (self.c.offset * self.c.bytes()) as u64 });
        words.extend([row, column, self.c.batch_stride].map(|v| Word::Value(v as u64)));
        let maps = vec![
            left.map(r.a_mn, [r.m, r.k], shape.m / shape.cluster[1]),
            if r.period > 1 {
                right.lines_map([r.n, r.k], r.period, shape.n)
            } else {
                right.map(r.b_mn, [r.n, r.k], shape.n / shape.cluster[0])
            },
            self.result_map(choice),
        ];
        let mut launch = emit.epilogue_of("gemm_sm90", words);
        launch.maps = maps;
        if r.unit > 1 {
            launch.aligned = vec![MapPlace::Arg(self.c.arg, (self.c.offset * self.c.bytes()) as u64)];
        }
        launch_shape(&mut launch, r, choice, target);
        Ok(launch)
    }

    /// Elements of a row of the result that are aligned together, up to 8 bytes.
    fn unit(&self) -> i64 {
        let most = self.c_whole().min(8) / self.c.bytes();
        [8, 4, 2].into_iter().find(|&unit| unit <= most && self.n % unit == 0).unwrap_or(1)
    }

    /// The TMA descriptor for storing tiles of the result; any legal one with direct stores.
    fn result_map(&self, choice: &Choice) -> TensorMap {
        let size = self.c.bytes();
        let columns = if choice.shape.split == 1 { choice.shape.n } else { (choice.shape.n / choice.shape.split).max(8) };
        let tile = match choice.store {
            // 128 bytes of so many lines, of which a chunk has 64 or 32.
            Store::Transposed => [128 / size, if columns % (128 / size) == 0 { 128 / size } else { columns.min(32) }, 1],
            _ => [128 / size, 64, 1],
        };
        let direct = choice.store.is_direct();
        let row = if direct { 16 / size } else { self.c.outer };
        let batch = if direct || self.batch == 1 { row * self.m.max(1) } else { self.c.batch_stride };
        let dims = if direct { [16 / size, 1, 1] } else { [self.n, self.m, self.batch] };
        let place = MapPlace::Arg(self.c.arg, if direct { 0 } else { (self.c.offset * size) as u64 });
        let strides = [(row * size) as u64, (batch * size) as u64];
        TensorMap::boxes(place, MapKind::of(self.c.dtype), &dims.map(|d| d as u64), &strides, &tile.map(|d| d as u32))
    }
}

/// The element type for TMA loads of an operand.
fn operand_kind(dtype: DataType) -> MapKind {
    if dtype == DataType::F32 { MapKind::Rounded } else { MapKind::of(dtype) }
}

/// The defines of `tile_sm90.cuh`.
fn tile_options(emit: &mut Emitter, types: [&str; 3], r: &Request, choice: &Choice) {
    let shape = choice.shape;
    for (name, value) in ["A_TYPE", "B_TYPE", "C_TYPE"].into_iter().zip(types) {
        emit.option(name, value);
    }
    emit.option(
        "STORE",
        ["STORE_DIRECT", "STORE_TMA", "STORE_TMA_TRANSPOSED", "STORE_ROWS", "STORE_PLANES", "STORE_LINES"][choice.store as usize],
    );
    for (name, value) in [
        ("A_MN", i64::from(r.a_mn)),
        ("B_MN", i64::from(r.b_mn)),
        ("TILE_M", shape.m),
        ("TILE_N", shape.n),
        ("CONSUMERS", shape.consumers),
        ("STAGES", choice.stages),
        ("CLUSTER_M", shape.cluster[0]),
        ("CLUSTER_N", shape.cluster[1]),
        ("SPLIT", shape.split),
        ("PROMOTE", if r.promote { 4 } else { 0 }),
        ("ALTERNATE", i64::from(shape.alternate)),
        ("C_SWAPPED", i64::from(r.swapped && choice.store == Store::Direct)),
    ] {
        emit.option(name, value);
    }
    if r.period > 1 {
        emit.option("REALIGN", 1);
    }
    if r.unit > 1 {
        emit.option("LINE_UNIT", r.unit);
    }
}

/// Sets grid, threads, cluster and shared memory of a launch of a kernel over `tile_sm90.cuh`.
fn launch_shape(launch: &mut Launch, r: &Request, choice: &Choice, target: &CudaTarget) {
    let shape = choice.shape;
    let [down, across] = clusters(r, choice);
    let count = down * across * r.batch;
    let resident = if r.is_narrow() { 2 } else { 1 };
    let (size, units) = (shape.cluster[0] * shape.cluster[1], resident * i64::from(target.facts.multiprocessors));
    let chunks = shape.chunks(choice.store);
    launch.grid = [if shape.split > 1 { count * shape.split } else { count.min(units / size) * size } as u32, 1, 1];
    launch.block = 128 * (1 + shape.consumers as u32);
    launch.cluster = (size * shape.split) as u32;
    launch.shared = (1024 + choice.stages * (r.stage_bytes(&shape) + 24) + chunks + 16) as u32;
}

/// Number of clusters of tiles along M and N.
fn clusters(r: &Request, choice: &Choice) -> [i64; 2] {
    let shape = choice.shape;
    [ceil(ceil(r.m, shape.m), shape.cluster[0]), ceil(ceil(r.n, shape.n), shape.cluster[1])]
}

/// 32-bit parameters of a kernel, two per word.
pub(super) fn pairs(ints: &[i64]) -> Vec<Word> {
    ints.chunks(2).map(|p| Word::Value(u64::from(p[0] as u32) | u64::from(p.get(1).map_or(0, |&v| v as u32)) << 32)).collect()
}

/// The header `epilogue.cuh` for the result `arg`: scales, bias, post-ops and quantisation of an element.
fn epilogue(problem: &Problem, arg: Arg, declare: &dyn Fn(&mut Emitter) -> Result<Declared, Skip>) -> Result<Emitter, Skip> {
    let tensor = problem.op.tensor(arg).ok_or(Skip::Op("a problem without a result"))?;
    let mut emit = Emitter::new(Real::Single, 1);
    let Declared { scale, bias, by_column } = declare(&mut emit)?;
    let tail = Tail::of(problem, arg, tensor);
    if scale.is_empty() && bias.is_empty() && tail.is_plain() {
        emit.code("DEVICE float epilogue(float sum, const Args&, int, int, int) { return sum; }\n");
        return Ok(emit);
    }
    if Real::of(problem) == Real::Double {
        return Err(Skip::Attr("scales, bias or post-ops of results that f32 does not hold".into()));
    }
    emit.option("HAS_EPILOGUE", 1);
    emit.tail(&tail)?;
    let mut element = |known: &str, bias: &str| {
        emit.code(&format!(
            "DEVICE float epilogue(float sum,{known} const Args& a, int batch, int row, int column) {{\n    index p[RANK];\n    \
             place(a, batch, row, column, p);\n    const i64 at = dst_at(a, p);\n    return quantised(a, p, value(a, p, at, sum{scale}{bias}));\n}}\n"
        ));
    };
    element("", &bias);
    if by_column && !bias.is_empty() {
        element(" float added,", " + added");
        emit.option("COLUMN_BIAS", 1);
        emit.code(&format!(
            "DEVICE float column_bias(const Args& a, int batch, int column) {{\n    index p[RANK];\n    place(a, batch, 0, column, p);\n    \
             return 0{bias};\n}}\n"
        ));
    }
    Ok(emit)
}
