//! `gemm:f32`: f32 products in IEEE arithmetic on CUDA cores (`kernels/gemm_f32.cu`), for any row strides. Bound by the FMA rate: 67 Tflop/s on an H200.

use super::rows::{ACROSS, values};
use super::{GROUP, Gemm, Matrix, epilogue, inner_matrices, matrices, pairs, pixels};
use crate::CudaTarget;
use crate::emit::Emitter;
use crate::ops::ceil;
use crate::program::{Launch, OVERFLOW, Program, Word};
use oxidnn_runtime::Skip;
use oxidnn_spec::{DataType, Problem};

/// A tile of the kernel: accumulator rows of a thread (`ROWS`), warps along M and N, and CTAs per SM.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Tile {
    rows: i64,
    warps: [i64; 2],
    blocks: i64,
    /// FMAs per cycle of an SM with all its CTAs, and the share of that with one and with two CTAs.
    products: f64,
    shares: [f64; 2],
}

/// Fitted to measurements of eight products on an H200.
const TILES: [Tile; 3] = [
    Tile { rows: 16, warps: [4, 2], blocks: 1, products: 114.0, shares: [1.0; 2] },
    Tile { rows: 8, warps: [2, 2], blocks: 3, products: 102.0, shares: [0.6, 0.9] },
    Tile { rows: 8, warps: [4, 1], blocks: 3, products: 96.0, shares: [0.6, 0.9] },
];
/// Split-K: least K of a part, and parts, at most.
const PART: i64 = 64;
const PARTS: i64 = 64;
/// Cycles of a CTA besides its FMAs, and per result; cycles of the reduction launch, and its bytes per cycle.
const START: f64 = 1500.0;
const STORE: f64 = 0.2;
const ADD: f64 = 4000.0;
const BYTES: f64 = 1500.0;

/// Matmul.
pub(crate) fn matmul(problem: &Problem, target: &CudaTarget) -> Result<Program, Skip> {
    matrices(problem, &|gemm| gemm.simt(target))
}

/// Inner product in all directions.
pub(crate) fn inner_product(problem: &Problem, target: &CudaTarget) -> Result<Program, Skip> {
    inner_matrices(problem, &|gemm| gemm.simt(target))
}

/// 1x1 convolution, forward and backward data.
pub(crate) fn pointwise_conv(problem: &Problem, target: &CudaTarget) -> Result<Program, Skip> {
    pixels(problem, &|gemm| gemm.simt(target))
}

impl Tile {
    /// The defines of `simt.cuh`.
    pub(super) fn options(&self, emit: &mut Emitter) {
        let [down, across] = self.warps;
        for (name, value) in [("ROWS", self.rows), ("WARPS_M", down), ("WARPS_N", across), ("BLOCKS", self.blocks)] {
            emit.option(name, value);
        }
    }

    /// Sets threads and shared memory of a launch.
    pub(super) fn shape(&self, launch: &mut Launch) {
        launch.block = self.threads() as u32;
        launch.shared = (128 * self.size().iter().sum::<i64>() + 512) as u32;
    }

    /// Threads of a CTA.
    pub(super) fn threads(&self) -> i64 {
        32 * self.warps[0] * self.warps[1]
    }

    /// Rows and columns.
    pub(super) fn size(&self) -> [i64; 2] {
        [self.warps[0] * 4 * self.rows, self.warps[1] * 64]
    }

    /// Tiles along both dimensions of a product.
    pub(super) fn count(&self, [m, n, ..]: [i64; 4]) -> [i64; 2] {
        let [rows, columns] = self.size();
        [ceil(m, rows), ceil(n, columns)]
    }

    /// Predicted cycles of a product of sizes (M, N, K, batch) with `parts` parts of K on `units` SMs.
    fn cycles(&self, sizes: [i64; 4], parts: i64, units: i64) -> f64 {
        let ([down, across], [rows, columns], [m, n, k, batch]) = (self.count(sizes), self.size(), sizes);
        let own = ceil(down * across * batch * parts, units);
        let left = own % self.blocks;
        let last = if left == 0 { 0.0 } else { left as f64 / self.shares[left as usize - 1] };
        let products = ((own - left) as f64 + last) * (ceil(k, parts) * rows * columns) as f64 / self.products;
        let added = if parts > 1 { ADD + (m * n * batch * parts) as f64 * 8.0 / BYTES } else { 0.0 };
        products + ceil(own, self.blocks) as f64 * (START + (rows * columns) as f64 * STORE) + added
    }

    /// The tile with the least predicted time, and K of a part; all of K is one part if it may not be divided.
    pub(super) fn best(sizes: [i64; 4], may_divide: bool, target: &CudaTarget) -> (Tile, i64) {
        let units = i64::from(target.facts.multiprocessors);
        let most = if may_divide { (sizes[2] / PART).clamp(1, PARTS) } else { 1 };
        let all = TILES.iter().flat_map(|&tile| (1..=most).map(move |parts| (tile, parts)));
        let timed = all.map(|(tile, parts)| (tile.cycles(sizes, parts, units), tile, parts));
        let (_, tile, parts) = timed.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or((0.0, TILES[0], 1));
        (tile, ceil(ceil(sizes[2], parts), 16) * 16)
    }
}

/// The launch that adds split-K parts in scratch: their number, and batches, rows and columns of the result at `to` with strides between rows, columns and batches.
pub(super) fn added(mut emit: Emitter, at: usize, sizes: [i64; 4], (to, strides): (Word, [i64; 3])) -> Launch {
    emit.option("C_TYPE", "T_F32");
    let mut words = vec![Word::Scratch(at), to];
    words.extend(pairs(&sizes));
    words.extend(values(&strides));
    let mut add = emit.epilogue_of("add_parts", words);
    add.grid = [ceil(sizes[1..].iter().product(), 256) as u32, 1, 1];
    add
}

impl Gemm<'_> {
    /// Whether groups of four columns of the result are aligned to 16 bytes.
    fn c_aligned(&self) -> bool {
        let c = &self.c;
        c.inner == 1 && self.n % 4 == 0 && c.alignment(self.m, c.outer) == 16 && (self.batch == 1 || c.batch_stride % 4 == 0)
    }

    fn simt(&self, target: &CudaTarget) -> Result<Program, Skip> {
        if [&self.a, &self.b, &self.c].iter().any(|x| x.dtype != DataType::F32) {
            return Err(Skip::DataType(format!("{}:{}:{}", self.a.dtype, self.b.dtype, self.c.dtype)));
        }
        let limit = i64::from(i32::MAX) / 2;
        if [self.m, self.n, self.k, self.batch].iter().any(|&d| d < 1 || d > limit) || self.batch > ACROSS {
            return Err(Skip::Shape("empty or very large matrices, or very many batches"));
        }
        if self.m < 16 && self.n < 16 || self.k < 8 {
            return Err(Skip::Shape("matrices far smaller than a tile"));
        }
        // Whether the operand is MN-major.
        let turned = |x: &Matrix, rows: i64| {
            if (x.inner == 1 || self.k == 1) && (rows == 1 || x.outer > 0) {
                return Ok(false);
            }
            let is_turned = (x.outer == 1 || rows == 1) && x.inner > 0;
            if is_turned { Ok(true) } else { Err(Skip::Layout("rows and columns that are both strided".into())) }
        };
        let (a_mn, b_mn) = (turned(&self.a, self.m)?, turned(&self.b, self.n)?);
        let lead = |x: &Matrix, mn: bool| if mn { x.inner } else { x.outer };
        let (left, right) = (lead(&self.a, a_mn), lead(&self.b, b_mn));
        let count = |mn: bool, rows: i64| if mn { self.k } else { rows };
        let aligned = self.a.alignment(count(a_mn, self.m), left) == 16 && self.b.alignment(count(b_mn, self.n), right) == 16;
        let sizes = [self.m, self.n, self.k, self.batch];
        let (tile, part) = Tile::best(sizes, true, target);
        let [down, across] = tile.count(sizes);
        let parts = ceil(self.k, part);
        let mut program = Program::or_unaligned(self.otherwise, self.problem, target)?;
        let bytes = (self.m * self.n).checked_mul(4 * self.batch * parts).and_then(|b| usize::try_from(b).ok()).ok_or(OVERFLOW)?;
        let partial = if parts > 1 { Some(program.book(bytes)?) } else { None };

        let mut emit = epilogue(self.problem, self.c.arg, self.declare)?;
        for (name, value) in [("A_MN", a_mn), ("B_MN", b_mn), ("ALIGNED", aligned), ("C_ALIGNED", self.c_aligned())] {
            emit.option(name, i32::from(value));
        }
        tile.options(&mut emit);
        let (a, b, c) = (&self.a, &self.b, &self.c);
        let mut words = vec![a.word(), b.word(), c.word()];
        words.extend(pairs(&[self.m, self.n, self.k, part, down, across, GROUP, a.batches, b.batches, self.batch]));
        words.extend(values(&[left, right, a.step(), b.step(), c.outer, c.inner, c.batch_stride]));
        words.push(partial.map_or(Word::Value(0), Word::Scratch));
        let mut launch = emit.epilogue_of("gemm_f32", words);
        launch.grid = [(down * across) as u32, self.batch as u32, parts as u32];
        tile.shape(&mut launch);
        if aligned {
            launch.aligned = vec![a.place(), b.place()];
        }
        program.launches.push(launch);
        if let Some(at) = partial {
            let emit = epilogue(self.problem, self.c.arg, self.declare)?;
            let strides = [c.outer, c.inner, c.batch_stride];
            program.launches.push(added(emit, at, [parts, self.batch, self.m, self.n], (c.word(), strides)));
        }
        program.unaligned = program.unaligned.filter(|_| aligned);
        Ok(program)
    }
}
