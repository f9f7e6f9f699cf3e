//! Products that are not `gemm_sm90.cu`'s: few rows (`gemv.cu`), weights of four bits (`gemm_w4.cu`, `gemm_w4_sm90.cu`), and those by the instructions that
//! all GPUs with tensor cores have (`gemm_sm80.cu`), which read any alignment.

use super::shape::{Choice, Request, Shape, Store, ceil};
use super::{GROUP, Gemm, Matrix, check_attributes, declare_matmul, epilogue, launch_shape, matrix, operand, pairs, result, tile_options};
use crate::CudaTarget;
use crate::emit::{Emitter, Factor};
use crate::program::{Launch, MapKind, MapPlace, Program, Swizzle, TensorMap, Word};
use oxidnn_runtime::Skip;
use oxidnn_spec::op::Matmul;
use oxidnn_spec::{Arg, DataType, FpMathMode, Op, Problem};

/// Rows that `gemv.cu` takes, and the largest number of blocks along a grid's second dimension.
const FEW: i64 = 8;
pub(super) const ACROSS: i64 = 65_535;

/// Rows and columns of a block of `gemm_sm80.cu`, the bytes of a stage, and the most stages.
const TILE: i64 = 128;
const STAGE: i64 = 32_768;
const STAGES: i64 = 4;

impl Matrix {
    pub(super) fn place(&self) -> MapPlace {
        MapPlace::Arg(self.arg, (self.offset * self.bytes()) as u64)
    }

    pub(super) fn word(&self) -> Word {
        Word::Offset { arg: self.arg, bytes: (self.offset * self.bytes()) as u64 }
    }

    /// Elements from one batch to the next; 0 where there is but one.
    pub(super) fn step(&self) -> i64 {
        if self.batches == 1 { 0 } else { self.batch_stride }
    }

    /// The bytes that all rows are aligned to, of memory that is aligned to 16.
    pub(super) fn alignment(&self, rows: i64, lead: i64) -> i64 {
        let all = [self.offset, if rows == 1 { 0 } else { lead }, self.step()];
        [16, 8, 4].into_iter().find(|a| all.iter().all(|v| v * self.bytes() % a == 0)).unwrap_or(1)
    }
}

pub(super) fn values(all: &[i64]) -> impl Iterator<Item = Word> + '_ {
    all.iter().map(|&v| Word::Value(v as u64))
}

impl Gemm<'_> {
    /// Up to 8 rows by weights whose K is contiguous.
    pub(super) fn few_rows(&self, target: &CudaTarget) -> Result<Program, Skip> {
        if target.facts.sm < 80 {
            return Err(Skip::Isa("sm_80"));
        }
        let [ta, tb, tc] = self.types(false)?;
        if self.m > FEW || self.batch > ACROSS {
            return Err(Skip::Shape("more than 8 rows"));
        }
        let contiguous = |x: &Matrix, rows: i64| x.bytes() == 2 && x.inner == 1 && x.alignment(rows, x.outer) == 16;
        if ta == "T_TF32" || self.k % 8 != 0 || !contiguous(&self.a, self.m) || !contiguous(&self.b, self.n) {
            return Err(Skip::Layout("rows that are not 16 bits, contiguous along K and 16-byte aligned".into()));
        }
        let mut emit = epilogue(self.problem, self.c.arg, self.declare)?;
        for (name, value) in [("A_TYPE", ta), ("B_TYPE", tb), ("C_TYPE", tc)] {
            emit.option(name, value);
        }
        emit.option("ROWS", (self.m as u64).next_power_of_two());
        emit.option("COLUMNS", 1);
        let mut words = vec![self.a.word(), self.b.word(), self.c.word()];
        words.extend(pairs(&[self.m, self.n, self.k, 0]));
        let (a, b, c) = (&self.a, &self.b, &self.c);
        words.extend(values(&[a.outer, b.outer, c.outer, c.inner, a.step(), b.step(), c.batch_stride]));
        let mut launch = emit.epilogue_of("gemv", words);
        (launch.grid, launch.block) = ([ceil(self.n, 4) as u32, self.batch as u32, 1], 128);
        launch.overlaps = target.facts.sm >= 90;
        launch.aligned = vec![a.place(), b.place()];
        self.with_unaligned(launch, target)
    }

    /// Any alignment, and rows that lie in any distance.
    pub(super) fn mma(&self, target: &CudaTarget) -> Result<Program, Skip> {
        let sm = target.facts.sm;
        let [ta, tb, tc] = self.types(!self.a.dtype.is_f8() || !self.b.dtype.is_f8())?;
        if sm < 80 || self.a.dtype.is_f8() && sm < 89 {
            return Err(Skip::Isa(if sm < 80 { "sm_80" } else { "sm_89" }));
        }
        if self.batch > ACROSS {
            return Err(Skip::Shape("very many batches"));
        }
        // Contiguous along the outer dimension in place of K.
        let turned = |x: &Matrix, rows: i64| {
            let spaced = x.batches == 1 || x.batch_stride > 0;
            match () {
                () if spaced && (x.inner == 1 || self.k == 1) && (rows == 1 || x.outer > 0) => Some(false),
                () if spaced && x.bytes() == 2 && (x.outer == 1 || rows == 1) && x.inner > 0 => Some(true),
                () => None,
            }
        };
        let strided = || Skip::Layout("rows and columns that are both strided".into());
        let (a_mn, b_mn) = (turned(&self.a, self.m).ok_or_else(strided)?, turned(&self.b, self.n).ok_or_else(strided)?);
        let lead = |x: &Matrix, mn: bool| if mn { x.inner } else { x.outer };
        let count = |mn: bool, rows: i64| if mn { self.k } else { rows };
        let (left, right) = (lead(&self.a, a_mn), lead(&self.b, b_mn));
        let stages = (i64::from(target.facts.shared_memory) / STAGE).clamp(2, STAGES);
        let mut emit = epilogue(self.problem, self.c.arg, self.declare)?;
        for (name, value) in [("A_TYPE", ta), ("B_TYPE", tb), ("C_TYPE", tc)] {
            emit.option(name, value);
        }
        for (name, value) in [
            ("A_MN", i64::from(a_mn)),
            ("B_MN", i64::from(b_mn)),
            ("A_ALIGN", self.a.alignment(count(a_mn, self.m), left)),
            ("B_ALIGN", self.b.alignment(count(b_mn, self.n), right)),
            ("STAGES", stages),
        ] {
            emit.option(name, value);
        }
        let (down, across) = (ceil(self.m, TILE), ceil(self.n, TILE));
        let mut words = vec![self.a.word(), self.b.word(), self.c.word()];
        words.extend(pairs(&[self.m, self.n, self.k, down, across, GROUP, 1, self.a.batches, 1, self.b.batches]));
        let (a, b, c) = (&self.a, &self.b, &self.c);
        words.extend(values(&[left, right, a.step(), b.step(), c.outer, c.inner, c.batch_stride]));
        let mut launch = emit.epilogue_of("gemm_sm80", words);
        launch.grid = [(down * across) as u32, self.batch as u32, 1];
        launch.shared = (stages * STAGE) as u32;
        launch.overlaps = sm >= 90;
        launch.aligned = vec![MapPlace::Arg(a.arg, 0), MapPlace::Arg(b.arg, 0)];
        self.with_unaligned(launch, target)
    }

    fn with_unaligned(&self, launch: Launch, target: &CudaTarget) -> Result<Program, Skip> {
        let unaligned = (self.otherwise)(self.problem, target)?;
        let scratch = unaligned.scratch;
        Ok(Program { launches: vec![launch], scratch, unaligned: Some(Box::new(unaligned)) })
    }
}

/// A product with weights of four bits: scales lie by groups of K and columns.
struct FourBits<'a> {
    op: &'a Matmul,
    problem: &'a Problem,
    a: Matrix,
    c: Matrix,
    m: i64,
    n: i64,
    k: i64,
    /// Terms that share a scale.
    group: i64,
    scales: DataType,
    /// Bytes from one row of weights to the next, and before the first.
    row: i64,
    offset: i64,
}

/// Matmul of 16-bit numbers by weights of four bits with scales of groups of K, contiguous along their columns.
pub(crate) fn four_bits(problem: &Problem, target: &CudaTarget) -> Result<Program, Skip> {
    super::hopper(target)?;
    let Op::Matmul(op) = &problem.op else { return Err(Skip::Op("anything but matmul")) };
    check_attributes(problem)?;
    if !matches!(op.weights.dtype, DataType::S4 | DataType::U4) || op.src.dtype.bits() != 16 || result(op.dst.dtype).is_none() {
        return Err(Skip::DataType(format!("{}:{}:{}", op.src.dtype, op.weights.dtype, op.dst.dtype)));
    }
    if !problem.attr.fpmath.apply_to_int {
        return Err(Skip::Attr("whole numbers that are not to be converted".into()));
    }
    let dims = op.dst.dims();
    if dims.len() != 2 || [dims[0], dims[1], op.src.dims()[1]].iter().any(|&d| d < 1 || d > i64::from(i32::MAX) / 2) {
        return Err(Skip::Shape("batches, empty or very large matrices"));
    }
    let (m, n, k) = (dims[0], dims[1], op.src.dims()[1]);
    let quant = problem.attr.scales.get(&Arg::WEIGHTS).filter(|q| !q.on_host);
    let quant = quant.ok_or_else(|| Skip::Attr("no scales of the weights in memory".into()))?;
    let sizes = quant.dims(op.weights.dims());
    if sizes[1] != n || k % sizes[0].max(1) != 0 || Factor::scale("src_scale", &problem.attr, Arg::SRC, op.src.dims()).varies(1) {
        return Err(Skip::Attr("scales that are not by column, or of the source along K".into()));
    }
    let weights = super::plain(&op.weights)?;
    if weights.strides[1] != 1 || weights.strides[0] % 16 != 0 || weights.offset % 32 != 0 || n % 16 != 0 || k % 32 != 0 {
        return Err(Skip::Layout("weights that are not contiguous along columns, or not aligned".into()));
    }
    let (a, c) = (matrix(Arg::SRC, &op.src, false)?, matrix(Arg::DST, &op.dst, false)?);
    let group = k / sizes[0].max(1);
    if a.inner != 1 || a.alignment(m, a.outer) != 16 || group % 32 != 0 || c.inner != 1 {
        return Err(Skip::Layout("a source that is not contiguous and aligned, or groups that are no multiple of 32".into()));
    }
    let (row, offset) = (weights.strides[0] / 2, weights.offset / 2);
    let product = FourBits { op, problem, a, c, m, n, k, group, scales: quant.dtype, row, offset };
    let unaligned = crate::ops::matmul::matmul(problem, target)?;
    let launch = if m <= 16 { product.few()? } else { product.many(target)? };
    let scratch = unaligned.scratch;
    Ok(Program { launches: vec![launch], scratch, unaligned: Some(Box::new(unaligned)) })
}

impl FourBits<'_> {
    /// The header and the names of types; the weights' scales are the kernel's own.
    fn emitter(&self) -> Result<Emitter, Skip> {
        let scales = [Factor::scale("src_scale", &self.problem.attr, Arg::SRC, self.op.src.dims())];
        epilogue(self.problem, Arg::DST, &|emit| declare_matmul(self.op, &scales, emit))
    }

    fn name(dtype: DataType) -> Result<&'static str, Skip> {
        operand(dtype, FpMathMode::Strict).or(result(dtype)).ok_or_else(|| Skip::DataType(dtype.to_string()))
    }

    fn options(&self, emit: &mut Emitter) -> Result<(), Skip> {
        for (name, dtype) in [("A_TYPE", self.op.src.dtype), ("C_TYPE", self.op.dst.dtype), ("SCALE_TYPE", self.scales)] {
            emit.option(name, FourBits::name(dtype)?);
        }
        emit.option("UNSIGNED", i32::from(self.op.weights.dtype == DataType::U4));
        Ok(())
    }

    fn scale_word() -> Word {
        Word::Address { arg: Arg::scale(Arg::WEIGHTS), buffer: 0 }
    }

    /// Up to 16 rows, at the speed of memory.
    fn few(&self) -> Result<Launch, Skip> {
        let mut emit = self.emitter()?;
        self.options(&mut emit)?;
        let (rows, width) = (if self.m <= 8 { 8 } else { 16 }, 64);
        let split = if ceil(self.n, width) > 66 { 1 } else { 2 };
        for (name, value) in [("ROWS", rows), ("WIDTH", width), ("SPLIT", split)] {
            emit.option(name, value);
        }
        let weights = Word::Offset { arg: Arg::WEIGHTS, bytes: self.offset as u64 };
        let mut words = vec![self.a.word(), weights, FourBits::scale_word(), self.c.word()];
        words.extend(pairs(&[self.m, self.n, self.k, self.group]));
        words.extend(values(&[self.a.outer, self.row, self.n, self.c.outer]));
        let mut launch = emit.epilogue_of("gemm_w4", words);
        launch.grid = [(ceil(self.n, width) * split) as u32, 1, 1];
        (launch.cluster, launch.shared) = (split as u32, (rows * width * 32) as u32);
        launch.overlaps = true;
        launch.aligned = vec![self.a.place(), MapPlace::Arg(Arg::WEIGHTS, self.offset as u64)];
        Ok(launch)
    }

    /// Many rows: weights become 16-bit numbers times their scales on the way to the tensor cores.
    fn many(&self, target: &CudaTarget) -> Result<Launch, Skip> {
        let allowed = matches!(
            (self.problem.attr.fpmath.mode, self.op.src.dtype),
            (FpMathMode::Any, _) | (FpMathMode::Bf16, DataType::Bf16) | (FpMathMode::F16, DataType::F16)
        );
        if !allowed || self.scales != self.op.src.dtype {
            return Err(Skip::DataType("weights times scales that may not be rounded to the source's type".into()));
        }
        if self.group % 64 != 0 || self.row % 16 != 0 || self.n % 32 != 0 {
            return Err(Skip::Layout("groups that are no multiple of 64, or rows of weights that are not 16-byte aligned".into()));
        }
        let split = if ceil(self.m, TILE) * ceil(self.n, TILE) > 66 || self.k < 128 { 1 } else { 2 };
        let size = self.c.bytes();
        let whole = |v: i64| v * size % 16 == 0;
        let aligned = whole(self.n) && whole(self.c.outer) && whole(self.c.offset);
        let r = Request {
            m: self.m,
            n: self.n,
            k: self.k,
            batch: 1,
            bytes: 2,
            result_bytes: size,
            a_mn: false,
            b_mn: true,
            swapped: false,
            promote: false,
            aligned,
            window: false,
            undivided: false,
            scattered: false,
        };
        let stages = 5;
        let shape = Shape { m: TILE, n: TILE, consumers: 2, cluster: [1, 1], split };
        let choice = Choice { shape, stages, store: if aligned { Store::Tma } else { Store::Direct }, seconds: 0.0 };
        let name = FourBits::name(self.op.src.dtype)?;
        let mut emit = self.emitter()?;
        tile_options(&mut emit, [name, name, FourBits::name(self.op.dst.dtype)?], &r, &choice);
        emit.option("SCALE_TYPE", name);
        emit.option("UNSIGNED", i32::from(self.op.weights.dtype == DataType::U4));
        emit.option("TRANSFORMED", 2);
        let (down, across) = (ceil(self.m, TILE), ceil(self.n, TILE));
        let mut words = pairs(&[self.m, self.n, ceil(self.k, 64), self.group / 64, down, across, 1, GROUP]);
        words.extend([FourBits::scale_word(), Word::Value(self.n as u64), self.c.word()]);
        words.extend(values(&[self.c.outer, 1, 0]));
        let mut launch = emit.epilogue_of("gemm_w4_sm90", words);
        let weights = TensorMap {
            swizzle: Swizzle::None,
            ..TensorMap::boxes(
                MapPlace::Arg(Arg::WEIGHTS, self.offset as u64),
                MapKind::Bytes,
                &[self.n as u64 / 2, self.k as u64, 1],
                &[self.row as u64, (self.row * self.k) as u64],
                &[TILE as u32 / 2, 64, 1],
            )
        };
        let (place, kind) = (self.c.place(), MapKind::of(self.op.dst.dtype));
        let box_of = [(128 / size) as u32, 64, 1];
        let out = if aligned {
            let strides = [(self.c.outer * size) as u64, (self.c.outer * self.m * size) as u64];
            TensorMap::boxes(place, kind, &[self.n as u64, self.m as u64, 1], &strides, &box_of)
        } else {
            TensorMap::boxes(MapPlace::Arg(Arg::DST, 0), kind, &[(16 / size) as u64, 1, 1], &[16, 16], &box_of)
        };
        launch.maps = vec![self.a.map(false, self.m, self.k, TILE), weights, out];
        launch_shape(&mut launch, &r, &choice, target);
        (launch.block, launch.shared) = (640, launch.shared + stages as u32 * 4104);
        if split == 1 {
            launch.grid[0] = launch.grid[0].min(target.facts.multiprocessors);
        }
        launch.aligned = vec![MapPlace::Arg(Arg::scale(Arg::WEIGHTS), 0)];
        Ok(launch)
    }
}
