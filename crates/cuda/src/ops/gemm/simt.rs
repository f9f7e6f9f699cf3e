//! `gemm:f32`: products of f32 as IEEE has them (`kernels/gemm_f32.cu`), of rows in any distance. The floor is the rate of fused multiply-adds: 67 Tflop/s of an
//! H200.

use super::rows::{ACROSS, values};
use super::shape::ceil;
use super::{GROUP, Gemm, Matrix, epilogue, inner_matrices, matrices, pairs, pixels};
use crate::CudaTarget;
use crate::program::{Program, Word};
use oxidnn_runtime::Skip;
use oxidnn_spec::{DataType, Problem};

/// Rows and columns of a block, and the terms of a part where K is divided.
const TILE: i64 = 128;
const PART: i64 = 64;

/// Matmul.
pub(crate) fn matmul(problem: &Problem, target: &CudaTarget) -> Result<Program, Skip> {
    matrices(problem, &|gemm| gemm.simt(target))
}

/// Inner product in all directions.
pub(crate) fn inner_product(problem: &Problem, target: &CudaTarget) -> Result<Program, Skip> {
    inner_matrices(problem, &|gemm| gemm.simt(target))
}

/// 1x1 convolution, forward and by data.
pub(crate) fn pointwise_conv(problem: &Problem, target: &CudaTarget) -> Result<Program, Skip> {
    pixels(problem, &|gemm| gemm.simt(target))
}

impl Gemm<'_> {
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
        // Contiguous along the outer dimension in place of K.
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
        let (down, across) = (ceil(self.m, TILE), ceil(self.n, TILE));
        let tiles = down * across * self.batch;
        // Two blocks a multiprocessor; K is divided where there are fewer tiles.
        let parts = (2 * i64::from(target.facts.multiprocessors) / tiles).min(self.k / PART).clamp(1, 64);
        let part = ceil(ceil(self.k, parts), 16) * 16;
        let parts = ceil(self.k, part);
        let mut program = Program::or_unaligned(self.otherwise, self.problem, target)?;
        let overflow = || Skip::Shape("sizes that overflow");
        let bytes = (self.m * self.n).checked_mul(4 * self.batch * parts).and_then(|b| usize::try_from(b).ok()).ok_or_else(overflow)?;
        let partial = if parts > 1 { Some(program.book(bytes).ok_or_else(overflow)?) } else { None };

        let mut emit = epilogue(self.problem, self.c.arg, self.declare)?;
        for (name, value) in [("A_MN", a_mn), ("B_MN", b_mn), ("ALIGNED", aligned)] {
            emit.option(name, i32::from(value));
        }
        let (a, b, c) = (&self.a, &self.b, &self.c);
        let mut words = vec![a.word(), b.word(), c.word()];
        words.extend(pairs(&[self.m, self.n, self.k, part, down, across, GROUP, a.batches, b.batches, self.batch]));
        words.extend(values(&[left, right, a.step(), b.step(), c.outer, c.inner, c.batch_stride]));
        words.push(partial.map_or(Word::Value(0), Word::Scratch));
        let mut launch = emit.epilogue_of("gemm_f32", words);
        launch.grid = [(down * across) as u32, self.batch as u32, parts as u32];
        if aligned {
            launch.aligned = vec![a.place(), b.place()];
        }
        program.launches.push(launch);
        if let Some(at) = partial {
            let mut emit = epilogue(self.problem, self.c.arg, self.declare)?;
            emit.option("C_TYPE", "T_F32");
            let mut words = vec![Word::Scratch(at), c.word()];
            words.extend(pairs(&[parts, self.batch, self.m, self.n]));
            words.extend(values(&[c.outer, c.inner, c.batch_stride]));
            let mut add = emit.epilogue_of("add_parts", words);
            add.grid = [ceil(self.m * self.n * self.batch, 256) as u32, 1, 1];
            program.launches.push(add);
        }
        program.unaligned = program.unaligned.filter(|_| aligned);
        Ok(program)
    }
}
