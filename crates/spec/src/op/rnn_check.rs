//! Rules of recurrent networks.

use super::{Prop, Rnn, RnnCell, RnnDiff, RnnDirection, RnnSizes};
use crate::check::types::{BF16, F16, F32, FP, Pass, S8, TypeTable, U8, row};
use crate::check::{self, Checked, ensure};
use crate::{Arg, Error, Tensor};

/// Data types; gradients are f32, or the type of a bf16 tensor. `bias` stands for peephole weights too.
pub(super) const TYPES: TypeTable = TypeTable {
    columns: &["src_layer", "src_iter", "src_iter_c", "weights", "projection", "bias", "dst_layer", "dst_iter", "dst_iter_c", "attention"],
    rows: &[
        row(Pass::Every, &[F32, F32, F32, F32, F32, F32, F32, F32, F32, F32]),
        row(Pass::Every, &[BF16, XF16, XF16, BF16, BF16, XF16, XF16, XF16, XF16, XF16]),
        row(Pass::Forward, &[F16, HALF, HALF, F16, F16, HALF, HALF, HALF, HALF, HALF]),
        row(Pass::Inference, &[U8, U8.or(F32), FP, S8, S8, F32, U8.or(F32), U8.or(F32), FP, F32]),
        row(Pass::Inference, &[S8, S8.or(F32), FP, S8, S8, F32, S8.or(F32), S8.or(F32), FP, F32]),
    ],
};
const XF16: check::types::Types = F32.or(BF16);
const HALF: check::types::Types = F32.or(F16);

impl Rnn {
    pub(super) fn check(&self) -> Checked {
        check::prop(self.prop, &[Prop::ForwardTraining, Prop::ForwardInference, Prop::Backward])?;
        check::rank(Arg::SRC, &self.src_layer, 3..=3)?;
        check::rank(Arg::WEIGHTS, &self.weights_layer, 5..=5)?;
        check::rank(Arg::WEIGHTS_1, &self.weights_iter, 5..=5)?;
        check::rank(Arg::DST, &self.dst_layer, 3..=3)?;
        if let Some(p) = &self.weights_projection {
            check::rank(Arg::WEIGHTS_3, p, 4..=4)?;
        }
        let sizes = self.check_sizes()?;
        self.check_tensors(&sizes)?;
        self.check_cell()?;
        self.check_types()?;
        ensure(self.diff.is_some() != self.prop.is_forward(), "gradients", self.diff.is_some(), "gradients exactly in backward")?;
        self.diff.as_ref().map_or(Ok(()), |d| self.check_diff(d))
    }

    /// Sizes that the tensors agree on, and how layers and steps connect.
    fn check_sizes(&self) -> Result<RnnSizes, Error> {
        let Some(s) = self.sizes() else { return Err(Error::invalid("dims", "wrong ranks", "those of a recurrent network")) };
        let gates = self.cell.gates();
        let directions = self.direction.count();
        check::dims(Arg::SRC, &self.src_layer, &[s.time, s.batch, s.slc])?;
        check::dims(Arg::WEIGHTS, &self.weights_layer, &[s.layers, directions, s.slc, gates, s.dhc])?;
        check::dims(Arg::WEIGHTS_1, &self.weights_iter, &[s.layers, directions, s.sic, gates, s.dhc])?;
        let gru = !matches!(self.cell, RnnCell::Vanilla | RnnCell::Lstm);
        let recurrent = s.sic == s.dic || s.time <= 1 && !gru;
        ensure(
            recurrent,
            Arg::WEIGHTS_1,
            format_args!("{} state channels", s.sic),
            format_args!("{} as the state that a step leaves", s.dic),
        )?;
        ensure(
            s.layers <= 1 || s.slc == s.dic,
            Arg::SRC,
            format_args!("{} channels", s.slc),
            format_args!("{} as every layer's output", s.dic),
        )?;
        Ok(s)
    }

    fn check_tensors(&self, s: &RnnSizes) -> Checked {
        let state = |channels| [s.layers, s.directions, s.batch, channels];
        check::dims(Arg::DST, &self.dst_layer, &[s.time, s.batch, output(s, self.direction)])?;
        check::dims_if(Arg::SRC_1, &self.src_iter, &state(s.sic))?;
        check::dims_if(Arg::SRC_2, &self.src_iter_c, &state(s.dhc))?;
        check::dims_if(Arg::SRC_3, &self.attention, &[s.time, s.batch, 1])?;
        check::dims_if(Arg::WEIGHTS_2, &self.weights_peephole, &[s.layers, s.directions, 3, s.dhc])?;
        check::dims_if(Arg::WEIGHTS_3, &self.weights_projection, &[s.layers, s.directions, s.dhc, s.dic])?;
        check::dims_if(Arg::BIAS, &self.bias, &[s.layers, s.directions, self.cell.bias_gates(), s.dhc])?;
        check::dims_if(Arg::DST_1, &self.dst_iter, &state(s.dic))?;
        check::dims_if(Arg::DST_2, &self.dst_iter_c, &state(s.dhc))
    }

    /// Which tensors and directions a cell has.
    fn check_cell(&self) -> Checked {
        let lstm = self.cell == RnnCell::Lstm;
        check::presence(Arg::SRC_2, &self.src_iter_c, lstm && self.src_iter.is_some())?;
        check::presence(Arg::DST_2, &self.dst_iter_c, lstm && self.dst_iter.is_some())?;
        check::presence(Arg::SRC_3, &self.attention, self.cell.is_augru())?;
        for (arg, t) in [(Arg::WEIGHTS_2, &self.weights_peephole), (Arg::WEIGHTS_3, &self.weights_projection)] {
            ensure(t.is_none() || lstm, arg, "a tensor", "none but for LSTM")?;
        }
        if self.cell.is_augru() {
            let one = self.weights_layer.dims()[0] == 1 && self.direction == RnnDirection::Left2Right;
            let got = format_args!("{} layers, {:?}", self.weights_layer.dims()[0], self.direction);
            ensure(one, "direction", got, "one layer from left to right with attention")?;
        }
        let alpha = self.alpha.get();
        ensure(!alpha.is_nan(), "alpha", alpha, "a number")
    }

    fn check_types(&self) -> Checked {
        let (weights, d) = (self.weights_layer.dtype, |t: &Option<Tensor>| t.as_ref().map(|t| t.dtype));
        ensure(self.weights_iter.dtype == weights, Arg::WEIGHTS_1, self.weights_iter.dtype, weights)?;
        for bias in [d(&self.bias), d(&self.weights_peephole)] {
            let types = [
                Some(self.src_layer.dtype),
                d(&self.src_iter),
                d(&self.src_iter_c),
                Some(weights),
                d(&self.weights_projection),
                bias,
                Some(self.dst_layer.dtype),
                d(&self.dst_iter),
                d(&self.dst_iter_c),
                d(&self.attention),
            ];
            TYPES.check(Some(self.prop), &types)?;
        }
        let src = self.src_layer.dtype;
        let quantised = !src.is_x8() || self.cell == RnnCell::Lstm || src == crate::DataType::U8 && self.cell == RnnCell::Gru;
        ensure(quantised, "data types", format_args!("{:?} with {src}", self.cell), "LSTM, or GRU with u8")
    }

    /// Each gradient has the sizes of its tensor and is there where that is.
    fn check_diff(&self, diff: &RnnDiff) -> Checked {
        let some = |t: &Tensor| Some(t.clone());
        let pairs = [
            (Arg::DIFF_SRC, some(&self.src_layer), some(&diff.src_layer)),
            (Arg::DIFF_SRC_1, self.src_iter.clone(), diff.src_iter.clone()),
            (Arg::DIFF_SRC_2, self.src_iter_c.clone(), diff.src_iter_c.clone()),
            (Arg::DIFF_SRC_3, self.attention.clone(), diff.attention.clone()),
            (Arg::DIFF_WEIGHTS, some(&self.weights_layer), some(&diff.weights_layer)),
            (Arg::DIFF_WEIGHTS_1, some(&self.weights_iter), some(&diff.weights_iter)),
            (Arg::DIFF_WEIGHTS_2, self.weights_peephole.clone(), diff.weights_peephole.clone()),
            (Arg::DIFF_WEIGHTS_3, self.weights_projection.clone(), diff.weights_projection.clone()),
            (Arg::DIFF_BIAS, self.bias.clone(), diff.bias.clone()),
            (Arg::DIFF_DST, some(&self.dst_layer), some(&diff.dst_layer)),
            (Arg::DIFF_DST_1, self.dst_iter.clone(), diff.dst_iter.clone()),
            (Arg::DIFF_DST_2, self.dst_iter_c.clone(), diff.dst_iter_c.clone()),
        ];
        for (arg, of, gradient) in &pairs {
            check::presence(*arg, gradient, of.is_some())?;
            let (Some(of), Some(gradient)) = (of, gradient) else { continue };
            check::dims(*arg, gradient, of.dims())?;
            let small = self.src_layer.dtype == crate::DataType::Bf16;
            let types = if small { XF16 } else { F32 };
            ensure(types.contains(gradient.dtype), *arg, gradient.dtype, types)?;
        }
        Ok(())
    }
}

/// Channels of a layer's output.
fn output(s: &RnnSizes, direction: RnnDirection) -> i64 {
    if direction == RnnDirection::BidirectionalConcat { s.dic.saturating_mul(2) } else { s.dic }
}
