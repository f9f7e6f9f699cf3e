//! The forward pass.

use super::call::{Call, transposed};
use super::layout::Extent;
use crate::exec::{Blend, Job};
use crate::pointers::Data;
use crate::status::Failure;
use oxidnn_runtime::Memory;
use oxidnn_spec::op::{BinaryAlg, Prop, Softmax, SoftmaxAlg};
use oxidnn_spec::{Arg, PostOp, Tensor};

impl Call<'_> {
    /// Computes from queries, keys, values and an optional residual. `windows` has the first key of each query, and one past the last.
    pub(super) fn forward(&self, given: [Data; 3], residual: Data, windows: [&[i32]; 2], weights: Data) -> Result<Data, Failure> {
        let weights = self.weights(weights)?;
        for (side, data) in given.into_iter().enumerate() {
            self.project(side, data, weights)?;
        }
        self.soften(windows)?;
        let sides = [(self.scores()?, self.kept(|k| k.dropped)), (self.heads(2, 1)?, self.kept(|k| k.projected[2]))];
        let joined = self.kept(|k| k.heads);
        let [scores, values] = sides;
        self.multiply([scores, values, (self.heads(3, 0)?, joined)]).run(self.handle)?;
        let a = self.attention;
        let (rows, out) = (self.extent.rows(0), self.work(|w| w.rows[3]));
        let (from, to) = ((self.matrix(rows, a.joined())?, joined), (self.matrix(rows, a.outputs())?, out));
        match self.weight(weights, 3) {
            Some(matrix) => self.linear(3, [from, (self.matrix(a.joined(), a.outputs())?, matrix), to.clone()], weights)?,
            None => self.handle.combine((&from.0, from.1.into()), (&to.0, to.1.into()), Blend::PLAIN)?,
        }
        if let Some(dropout) = a.dropouts[1].filter(|d| d.probability > 0.0) {
            dropout.apply(self.handle, &to.0, [out, out, self.kept(|k| k.masks[1])])?;
        }
        if !residual.is_null() {
            let (rows, added) = self.gather(0, residual, self.work(|w| w.rows[0]))?;
            self.handle.combine((&rows, added.into()), (&to.0, out.into()), Blend { alpha: 1.0, beta: 1.0 })?;
        }
        Ok(out)
    }

    /// Queries, keys or values of every head.
    fn project(&self, side: usize, data: Data, weights: Data) -> Result<(), Failure> {
        let (a, to) = (self.attention, self.kept(|k| k.projected[side]));
        let rows = self.gather(side, data, self.work(|w| w.rows[side]))?;
        let count = self.extent.rows(side);
        let Some(matrix) = self.weight(weights, side) else {
            // Without a projection, every head gets the whole vector.
            let one = Tensor::plain([count, 1, a.width(side)], a.real())?;
            let every = Tensor::plain([count, a.heads, a.width(side)], a.real())?;
            return self.handle.combine((&one, rows.1.into()), (&every, to.into()), Blend::PLAIN);
        };
        let [inputs, outputs] = a.matrix(side);
        self.linear(side, [rows, (self.matrix(inputs, outputs)?, matrix), (self.matrix(count, outputs)?, to)], weights)
    }

    /// A product, plus the bias of a side if it has one.
    fn linear(&self, side: usize, operands: [super::call::At; 3], weights: Data) -> Result<(), Failure> {
        let columns = operands[2].0.dims()[1];
        let job = self.multiply(operands);
        let job = match self.weight(weights, side + 4) {
            Some(bias) => {
                let src1 = self.matrix(1, columns)?;
                job.post_op(PostOp::Binary { alg: BinaryAlg::Add, src1, src2: None }).arg(Arg::post_op(0, Arg::SRC_1), bias)
            }
            None => job,
        };
        job.run(self.handle)
    }

    /// Scores within the windows, softmax, and dropout.
    fn soften(&self, windows: [&[i32]; 2]) -> Result<(), Failure> {
        let (scores, at) = (self.scores()?, self.kept(|k| k.scores));
        let queries = (self.heads(0, 0)?, self.kept(|k| k.projected[0]));
        let keys = (transposed(&self.heads(1, 1)?)?, self.kept(|k| k.projected[1]));
        let job = self.multiply_scaled([queries, keys, (scores.clone(), at)])?;
        let job = match self.windows(windows)? {
            Some((tensor, mask)) => {
                job.post_op(PostOp::Binary { alg: BinaryAlg::Add, src1: tensor, src2: None }).arg(Arg::post_op(1, Arg::SRC_1), mask)
            }
            None => job,
        };
        job.run(self.handle)?;
        let op = Softmax {
            prop: Prop::ForwardInference,
            alg: SoftmaxAlg::InfAsZero,
            src: Some(scores.clone()),
            dst: scores.clone(),
            diff_src: None,
            diff_dst: None,
            axis: 4,
        };
        Job::new(op).arg(Arg::SRC, at).arg(Arg::DST, at).run(self.handle)?;
        if let Some(dropout) = self.attention.dropouts[0].filter(|d| d.probability > 0.0) {
            dropout.apply(self.handle, &scores, [at, self.kept(|k| k.dropped), self.kept(|k| k.masks[0])])?;
        }
        Ok(())
    }

    /// The mask added to scores: minus infinity for keys outside of a query's window, or behind the end of a sequence. `None` if there are
    /// none.
    fn windows(&self, [first, end]: [&[i32]; 2]) -> Result<Option<(Tensor, Memory<'static>)>, Failure> {
        let Extent { batch, beams, steps } = self.extent;
        let mut mask = vec![0.0; self.extent.pairs() as usize];
        let mut any = false;
        for (n, row) in mask.chunks_exact_mut(steps[1] as usize).enumerate() {
            let (sequence, query) = (n / steps[0] as usize, n % steps[0] as usize);
            let keys = if beams[1] == beams[0] { sequence } else { sequence / beams[0] as usize };
            let alive = self.lengths[0][sequence] > query as i64;
            let end = i64::from(end[query]).min(self.lengths[1][keys]);
            for (key, value) in row.iter_mut().enumerate() {
                let seen = alive && (i64::from(first[query])..end).contains(&(key as i64));
                any |= !seen;
                *value = if seen { 0.0 } else { f64::NEG_INFINITY };
            }
        }
        if !any {
            return Ok(None);
        }
        let tensor = Tensor::plain([batch, beams[0], 1, steps[0], steps[1]], self.attention.real())?;
        let memory = Memory::new(self.handle.engine(), tensor.clone())?;
        memory.write_f64(&mask)?;
        Ok(Some((tensor, memory)))
    }
}
