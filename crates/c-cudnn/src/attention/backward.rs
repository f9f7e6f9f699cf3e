//! The backward passes: data, which also stores the gradients of the projected vectors, and weights, which uses these.

use super::call::{At, Call, transposed};
use crate::exec::{Blend, Job};
use crate::pointers::Data;
use crate::reduce::sum_to;
use crate::status::Failure;
use oxidnn_spec::op::{Prop, Softmax, SoftmaxAlg};
use oxidnn_spec::{Arg, Tensor};

impl Call<'_> {
    /// Gradients of queries, keys and values from that of the result.
    pub(super) fn backward(&self, dout: Data, wanted: [Data; 3], weights: Data) -> Result<(), Failure> {
        let (a, weights) = (self.attention, self.weights(weights)?);
        let given = self.gather(3, dout, self.kept(|k| k.gradients[3]))?;
        if let Some(dropout) = a.dropouts[1].filter(|d| d.probability > 0.0) {
            dropout.revert(self.handle, &given.0, [given.1, given.1, self.kept(|k| k.masks[1])])?;
        }
        let joined = match self.weight(weights, 3) {
            Some(matrix) => {
                let back = (transposed(&self.matrix(a.joined(), a.outputs())?)?, matrix);
                let to = self.work(|w| w.heads);
                self.multiply([given.clone(), back, (self.matrix(self.extent.rows(0), a.joined())?, to)]).run(self.handle)?;
                to
            }
            None => given.1,
        };
        self.harden(joined)?;
        self.by_heads(joined)?;
        for (side, data) in wanted.into_iter().enumerate() {
            self.unproject(side, data, weights)?;
        }
        Ok(())
    }

    /// The gradient of the unscaled scores from that of the heads' outputs.
    fn harden(&self, joined: Data) -> Result<(), Failure> {
        let (scores, at) = (self.scores()?, self.work(|w| w.scores));
        let values = (transposed(&self.heads(2, 1)?)?, self.kept(|k| k.projected[2]));
        self.multiply([(self.heads(3, 0)?, joined), values, (scores.clone(), at)]).run(self.handle)?;
        if let Some(dropout) = self.attention.dropouts[0].filter(|d| d.probability > 0.0) {
            dropout.revert(self.handle, &scores, [at, at, self.kept(|k| k.masks[0])])?;
        }
        let op = Softmax {
            prop: Prop::BackwardData,
            alg: SoftmaxAlg::Accurate,
            src: None,
            dst: scores.clone(),
            diff_src: Some(scores.clone()),
            diff_dst: Some(scores),
            axis: 4,
        };
        Job::new(op).arg(Arg::DST, self.kept(|k| k.scores)).arg(Arg::DIFF_DST, at).arg(Arg::DIFF_SRC, at).run(self.handle)
    }

    /// Gradients of queries, keys and values of every head.
    fn by_heads(&self, joined: Data) -> Result<(), Failure> {
        let scores = (self.scores()?, self.work(|w| w.scores));
        let keys = (self.heads(1, 1)?, self.kept(|k| k.projected[1]));
        let to = (self.heads(0, 0)?, self.kept(|k| k.gradients[0]));
        self.multiply_scaled([scores.clone(), keys, to])?.run(self.handle)?;
        let queries = (self.heads(0, 0)?, self.kept(|k| k.projected[0]));
        let back = (transposed(&scores.0)?, scores.1);
        let apart = self.apart(1)?;
        self.multiply_scaled([back, queries, apart.clone()])?.run(self.handle)?;
        self.join(1, &apart)?;
        let soft = (transposed(&self.scores()?)?, self.kept(|k| k.dropped));
        let apart = self.apart(2)?;
        self.multiply([soft, (self.heads(3, 0)?, joined), apart.clone()]).run(self.handle)?;
        self.join(2, &apart)
    }

    /// The tensor for the gradients of keys or values of each beam: the final one, unless beams share keys.
    fn apart(&self, side: usize) -> Result<At, Failure> {
        let shared = self.extent.beams[0] != self.extent.beams[1];
        let at = if shared { self.work(|w| w.apart[side - 1]) } else { self.kept(|k| k.gradients[side]) };
        Ok((self.heads(side, 0)?, at))
    }

    /// Sums gradients over the beams that share keys.
    fn join(&self, side: usize, apart: &At) -> Result<(), Failure> {
        match self.extent.beams[0] == self.extent.beams[1] {
            true => Ok(()),
            false => self.sum(apart, &(self.heads(side, 1)?, self.kept(|k| k.gradients[side]))),
        }
    }

    /// The gradient of queries, keys or values, from those of every head.
    fn unproject(&self, side: usize, to: Data, weights: Data) -> Result<(), Failure> {
        let (a, count) = (self.attention, self.extent.rows(side));
        let (from, rows) = (self.kept(|k| k.gradients[side]), self.work(|w| w.rows[side]));
        let [inputs, outputs] = a.matrix(side);
        match self.weight(weights, side) {
            Some(matrix) => {
                let back = (transposed(&self.matrix(inputs, outputs)?)?, matrix);
                self.multiply([(self.matrix(count, outputs)?, from), back, (self.matrix(count, inputs)?, rows)]).run(self.handle)?;
            }
            None => {
                let every = Tensor::plain([count, a.heads, a.width(side)], a.real())?;
                self.sum(&(every, from), &(Tensor::plain([count, 1, a.width(side)], a.real())?, rows))?;
            }
        }
        self.scatter(side, rows, to)
    }

    /// Gradients of weights and biases, from queries, keys, values and the results that the other passes stored.
    pub(super) fn by_weights(&self, given: [Data; 3], to: Data, beta: f64) -> Result<(), Failure> {
        let a = self.attention;
        for side in (0..4).filter(|s| a.projects(*s)) {
            let count = self.extent.rows(side);
            let [inputs, outputs] = a.matrix(side);
            let rows = match given.get(side) {
                Some(&data) => self.gather(side, data, self.work(|w| w.rows[side]))?,
                None => (self.matrix(count, inputs)?, self.kept(|k| k.heads)),
            };
            let gradient = (self.matrix(count, outputs)?, self.kept(|k| k.gradients[side]));
            let place = |kind: usize, rows: i64| -> Result<Option<At>, Failure> {
                let Some(weight) = a.weights().0[kind] else { return Ok(None) };
                let tensor = Tensor::plain([rows, outputs], a.dtype)?;
                Ok(Some((tensor, to.behind(a.dtype.bytes(weight.at as usize).unwrap_or(0)))))
            };
            let blend = Blend { alpha: 1.0, beta };
            if let Some(place) = place(side, inputs)? {
                let back = (transposed(&rows.0)?, rows.1);
                self.store(&place, blend, |to, blend| self.multiply([back, gradient.clone(), to]).blend(blend).run(self.handle))?;
            }
            if let Some(place) = place(side + 4, 1)? {
                let from = (&gradient.0, gradient.1);
                self.store(&place, blend, |to, blend| sum_to(self.handle, from.into(), (&to.0, to.1).into(), blend))?;
            }
        }
        Ok(())
    }

    /// Computes in the compute type and blends the result into the destination.
    fn store(&self, to: &At, blend: Blend, compute: impl FnOnce(At, Blend) -> Result<(), Failure>) -> Result<(), Failure> {
        let real = self.attention.real();
        if to.0.dtype == real {
            return compute(to.clone(), blend);
        }
        let wide = Tensor::plain(*to.0.dims(), real)?;
        let own = self.handle.temporary(&wide)?;
        compute((wide.clone(), Data::of(&own)), Blend::PLAIN)?;
        self.handle.combine((&wide, own.into()), (&to.0, to.1.into()), blend)
    }
}
