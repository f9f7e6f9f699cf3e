//! `gemv:sm80`: products of few rows (`kernels/gemv.cu`). `gemm:sm80`: products by `mma.sync` for any alignment and for GPUs before Hopper
//! (`kernels/gemm_sm80.cu`).

use super::{GROUP, Gemm, Matrix, epilogue, pairs, shape};
use crate::CudaTarget;
use crate::ops::ceil;
use crate::program::{Launch, MapPlace, Program, Word};
use oxidnn_runtime::Skip;

/// Rows of `gemv.cu`, at most, before Hopper and since: narrow tiles take 10.0 us for 3 to 8 rows by 4096x4096 weights on an H200, `gemv.cu` 13, 14 and 27 for 2, 4
/// and 8. The limit of a grid's y and z dimensions.
const FEW: [i64; 2] = [8, 1];
pub(super) const ACROSS: i64 = 65_535;

/// Stages of `gemm_sm80.cu`, at most.
const STAGES: i64 = 3;

impl Matrix {
    pub(super) fn place(&self) -> MapPlace {
        MapPlace::Arg(self.arg, (self.offset * self.bytes()) as u64)
    }

    pub(super) fn word(&self) -> Word {
        Word::Offset { arg: self.arg, bytes: (self.offset * self.bytes()) as u64 }
    }

    /// The batch stride; 0 if there is one batch, which is then broadcast.
    pub(super) fn step(&self) -> i64 {
        if self.batches == 1 { 0 } else { self.batch_stride }
    }

    /// The alignment of all rows in bytes, if the memory is aligned to 16.
    pub(super) fn alignment(&self, rows: i64, lead: i64) -> i64 {
        let all = [self.offset, if rows == 1 { 0 } else { lead }, self.step()];
        [16, 8, 4].into_iter().find(|a| all.iter().all(|v| v * self.bytes() % a == 0)).unwrap_or(1)
    }

    /// That of an operand's rows along K, or if that is not contiguous, along M or N.
    fn whole(&self, rows: i64, k: i64) -> i64 {
        if self.inner == 1 || k == 1 { self.alignment(rows, self.outer) } else { self.alignment(k, self.inner) }
    }
}

pub(super) fn values(all: &[i64]) -> impl Iterator<Item = Word> + '_ {
    all.iter().map(|&v| Word::Value(v as u64))
}

impl Gemm<'_> {
    /// `gemv.cu`: few rows, K-major weights.
    pub(super) fn few_rows(&self, target: &CudaTarget) -> Result<Program, Skip> {
        if target.facts.sm < 80 {
            return Err(Skip::Isa("sm_80"));
        }
        let [ta, tb, tc] = self.types(false)?;
        if self.m > FEW[usize::from(target.facts.sm >= 90)] || self.batch > ACROSS {
            return Err(Skip::Shape("more than a few rows"));
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
        launch.aligned = vec![a.place(), b.place()];
        self.with_unaligned(launch, target)
    }

    /// `gemm_sm80.cu`: any alignment and row strides.
    pub(super) fn mma(&self, target: &CudaTarget) -> Result<Program, Skip> {
        let sm = target.facts.sm;
        let [ta, tb, tc] = self.types(!self.a.dtype.is_f8() || !self.b.dtype.is_f8())?;
        if sm < 80 || self.a.dtype.is_f8() && sm < 89 {
            return Err(Skip::Isa(if sm < 80 { "sm_80" } else { "sm_89" }));
        }
        if self.batch > ACROSS {
            return Err(Skip::Shape("very many batches"));
        }
        // Whether the operand is MN-major.
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
        let (left, right) = (lead(&self.a, a_mn), lead(&self.b, b_mn));
        let tile = self.unaligned(target).0;
        let c_align = self.c_whole();
        let mut emit = epilogue(self.problem, self.c.arg, self.declare)?;
        for (name, value) in [("A_TYPE", ta), ("B_TYPE", tb), ("C_TYPE", tc)] {
            emit.option(name, value);
        }
        for (name, value) in [
            ("A_MN", i64::from(a_mn)),
            ("B_MN", i64::from(b_mn)),
            ("A_ALIGN", self.a.whole(self.m, self.k)),
            ("B_ALIGN", self.b.whole(self.n, self.k)),
            ("C_ALIGN", c_align),
            ("TILE", tile),
        ] {
            emit.option(name, value);
        }
        let (down, across) = (ceil(self.m, tile), ceil(self.n, tile));
        let mut words = vec![self.a.word(), self.b.word(), self.c.word()];
        words.extend(pairs(&[self.m, self.n, self.k, down, across, GROUP, 1, self.a.batches, 1, self.b.batches]));
        let (a, b, c) = (&self.a, &self.b, &self.c);
        words.extend(values(&[left, right, a.step(), b.step(), c.outer, c.inner, c.batch_stride]));
        let mut launch = emit.epilogue_of("gemm_sm80", words);
        launch.grid = [(down * across) as u32, self.batch as u32, 1];
        launch.block = 2 * tile as u32;
        launch.shared = (ceil(self.k * a.bytes(), 128).min(STAGES) * tile * 256) as u32;
        launch.aligned = vec![MapPlace::Arg(a.arg, 0), MapPlace::Arg(b.arg, 0)];
        if c_align > c.bytes() {
            launch.aligned.push(MapPlace::Arg(c.arg, 0));
        }
        self.with_unaligned(launch, target)
    }

    /// The alignment of the rows of the result in bytes, 0 if its columns are apart.
    pub(super) fn c_whole(&self) -> i64 {
        if self.c.inner == 1 { self.c.alignment(self.m, self.c.outer).max(self.c.bytes()) } else { 0 }
    }

    /// The tile of `gemm_sm80.cu`, and predicted seconds.
    pub(super) fn unaligned(&self, target: &CudaTarget) -> (i64, f64) {
        let aligned = [self.a.whole(self.m, self.k), self.b.whole(self.n, self.k), self.c_whole()];
        shape::unaligned([self.m, self.n, self.k, self.batch], self.a.bytes(), aligned, &target.facts)
    }

    fn with_unaligned(&self, launch: Launch, target: &CudaTarget) -> Result<Program, Skip> {
        let program = Program::or_unaligned(self.otherwise, self.problem, target)?;
        Ok(Program { launches: vec![launch], ..program })
    }
}
