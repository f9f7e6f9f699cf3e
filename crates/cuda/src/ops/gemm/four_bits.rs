//! `w4:sm90`: 16-bit source by 4-bit weights with scales per group of K. Up to 16 rows: `kernels/gemm_w4.cu`, scales multiply sums; more rows:
//! `kernels/gemm_w4_sm90.cu`, scales multiply the weights in the source's type.

use super::problems::{declare_matmul, matrix};
use super::rows::values;
use super::{GROUP, Matrix, check_attributes, epilogue, operand, pairs, result};
use crate::emit::{Emitter, Factor};
use crate::ops::ceil;
use crate::program::{Launch, MapKind, MapPlace, Program, Swizzle, TensorMap, Word};
use crate::{CudaTarget, Facts};
use oxidnn_runtime::Skip;
use oxidnn_spec::op::Matmul;
use oxidnn_spec::{Arg, DataType, FpMathMode, Op, Problem};

/// Columns of a tile; possible rows; up to how many rows two CTAs share an SM.
const COLUMNS: i64 = 128;
const ROWS: [i64; 6] = [8, 16, 32, 64, 128, 256];
const TWO_BLOCKS: i64 = 32;

/// Cycles of a stage: at least; for converting the weights, in addition to wgmma; with two CTAs per SM.
const STAGE: i64 = 590;
const WIDEN: i64 = 190;
const BOTH: i64 = 850;
/// Split-K clusters: CTAs, and fixed cycles and cycles per row of their reduction through distributed shared memory.
const SPLITS: [(i64, i64, i64); 4] = [(1, 0, 0), (2, 0, 30), (4, 4000, 140), (8, 9000, 140)];

/// The tile: rows, CTAs that divide K, and stages.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Tiles {
    rows: i64,
    split: i64,
    stages: i64,
}

impl Tiles {
    /// The tile with the least predicted time.
    fn best(rows: i64, columns: i64, k_stages: i64, facts: &Facts) -> Option<Tiles> {
        let all = ROWS.iter().flat_map(|&r| SPLITS.map(|split| (r, split)));
        let possible = all.filter_map(|(r, (split, fixed, by_row))| {
            let (tiles, bytes) = (ceil(columns, COLUMNS) * ceil(rows, r), 4352 + r * 128);
            let blocks = if r <= TWO_BLOCKS { 2 } else { 1 };
            let room = i64::from(facts.shared_memory) / blocks - 2048;
            let stages = (room / (bytes + 16)).min(16);
            let slots = i64::from(facts.multiprocessors) * blocks;
            // Split-K only if all clusters are resident at once; the partial sums must fit the memory of the stages.
            if split > 1 && (tiles * split > slots || k_stages < 4 * split) || stages < 2 || COLUMNS * r * 4 > stages * (bytes - 256) {
                return None;
            }
            let together = blocks == 2 && tiles * split > i64::from(facts.multiprocessors);
            let stage = if together { BOTH } else { (r * 4 + WIDEN).max(STAGE) };
            let cycles = ceil(tiles * split, slots) * ceil(k_stages, split) * stage + fixed + r * by_row;
            Some((cycles, Tiles { rows: r, split, stages }))
        });
        possible.min_by_key(|p| p.0).map(|p| p.1)
    }
}

/// CTAs of `gemm_w4.cu` up to which two CTAs divide K.
const FEW_BLOCKS: i64 = 132;

/// A product with 4-bit weights and scales (groups of K, columns).
struct FourBits<'a> {
    op: &'a Matmul,
    problem: &'a Problem,
    a: Matrix,
    c: Matrix,
    m: i64,
    n: i64,
    k: i64,
    /// K of a group.
    group: i64,
    scales: DataType,
    /// Row stride and offset of the weights in bytes.
    row: i64,
    offset: i64,
}

/// Matmul with 4-bit weights that are contiguous along N.
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
    let (a, c) = (matrix(Arg::SRC, &op.src)?, matrix(Arg::DST, &op.dst)?);
    let group = k / sizes[0].max(1);
    if a.inner != 1 || a.alignment(m, a.outer) != 16 || group % 32 != 0 || c.inner != 1 {
        return Err(Skip::Layout("a source that is not contiguous and aligned, or groups that are no multiple of 32".into()));
    }
    let (row, offset) = (weights.strides[0] / 2, weights.offset / 2);
    let product = FourBits { op, problem, a, c, m, n, k, group, scales: quant.dtype, row, offset };
    let mut program = Program::or_unaligned(crate::ops::matmul::matmul, problem, target)?;
    program.launches.push(if m <= 16 { product.few()? } else { product.tiles(target)? });
    Ok(program)
}

impl FourBits<'_> {
    /// The epilogue header; the kernel applies the weights' scales itself.
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

    /// `gemm_w4.cu`: up to 16 rows, any type of scales.
    fn few(&self) -> Result<Launch, Skip> {
        let mut emit = self.emitter()?;
        self.options(&mut emit)?;
        let (rows, width) = (if self.m <= 8 { 8 } else { 16 }, 64);
        // CTAs that divide K, while most CTAs run at once.
        let split = if ceil(self.n, width) > FEW_BLOCKS { 1 } else { 2 };
        for (name, value) in [("ROWS", rows), ("WIDTH", width), ("SPLIT", split)] {
            emit.option(name, value);
        }
        let weights = Word::Offset { arg: Arg::WEIGHTS, bytes: self.offset as u64 };
        let mut words = vec![self.a.word(), weights, FourBits::scale_word(), self.c.word()];
        words.extend(pairs(&[self.m, self.n, self.k, self.group]));
        words.extend(values(&[self.a.outer, self.row, self.n, self.c.outer]));
        let mut launch = emit.epilogue_of("gemm_w4", words);
        launch.grid = [(ceil(self.n, width) * split) as u32, 1, 1];
        (launch.cluster, launch.shared) = (split as u32, (rows * width * 36) as u32);
        launch.aligned = vec![self.a.place(), MapPlace::Arg(Arg::WEIGHTS, self.offset as u64)];
        Ok(launch)
    }

    /// `gemm_w4_sm90.cu`: tiles of the transposed product.
    fn tiles(&self, target: &CudaTarget) -> Result<Launch, Skip> {
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
        let k_stages = ceil(self.k, 64);
        let tiles = Tiles::best(self.m, self.n, k_stages, &target.facts).ok_or(Skip::Shape("no tile fits"))?;
        let mut emit = self.emitter()?;
        let name = FourBits::name(self.op.src.dtype)?;
        let is_paired = [self.c.outer, self.c.offset].iter().all(|v| v % 2 == 0);
        for (macro_name, value) in
            [("A_TYPE", name), ("B_TYPE", name), ("C_TYPE", FourBits::name(self.op.dst.dtype)?), ("STORE", "STORE_DIRECT")]
        {
            emit.option(macro_name, value);
        }
        for (macro_name, value) in [
            ("A_MN", 0),
            ("B_MN", 0),
            ("PACKED_A", 1),
            ("TILE_M", COLUMNS),
            ("TILE_N", tiles.rows),
            ("CONSUMERS", 2),
            ("STAGES", tiles.stages),
            ("CLUSTER_M", 1),
            ("CLUSTER_N", 1),
            ("SPLIT", tiles.split),
            ("UNSIGNED", i64::from(self.op.weights.dtype == DataType::U4)),
            ("PAIRED", i64::from(is_paired)),
        ] {
            emit.option(macro_name, value);
        }
        let (down, across) = (ceil(self.n, COLUMNS), ceil(self.m, tiles.rows));
        let mut words = pairs(&[self.n, self.m, k_stages, self.group / 64, down, across, 1, GROUP]);
        words.extend([self.c.word(), Word::Value(self.c.outer as u64)]);
        let mut launch = emit.epilogue_of("gemm_w4_sm90", words);
        launch.maps = self.maps(tiles.rows);
        let slots = i64::from(target.facts.multiprocessors) * if tiles.rows <= TWO_BLOCKS { 2 } else { 1 };
        launch.grid = [(if tiles.split > 1 { down * across * tiles.split } else { (down * across).min(slots) }) as u32, 1, 1];
        (launch.block, launch.cluster) = (384, tiles.split as u32);
        launch.shared = (1040 + tiles.stages * (4352 + tiles.rows * 128 + 16)) as u32;
        launch.aligned = if is_paired { vec![self.c.place()] } else { Vec::new() };
        Ok(launch)
    }

    /// The TMA descriptors of weights, scales and source.
    fn maps(&self, rows: i64) -> Vec<TensorMap> {
        let (n, k) = (self.n as u64, self.k as u64);
        let weights = TensorMap {
            swizzle: Swizzle::Half,
            ..TensorMap::boxes(
                MapPlace::Arg(Arg::WEIGHTS, self.offset as u64),
                MapKind::Bytes,
                &[n / 2, k, 1],
                &[self.row as u64, (self.row * self.k) as u64],
                &[COLUMNS as u32 / 2, 64, 1],
            )
        };
        let scales = TensorMap {
            swizzle: Swizzle::None,
            ..TensorMap::boxes(
                MapPlace::Arg(Arg::scale(Arg::WEIGHTS), 0),
                MapKind::of(self.scales),
                &[n, (self.k / self.group) as u64, 1],
                &[n * 2, n * 2 * (self.k / self.group) as u64],
                &[COLUMNS as u32, 1, 1],
            )
        };
        vec![weights, scales, self.a.map(false, [self.m, self.k], rows)]
    }
}
