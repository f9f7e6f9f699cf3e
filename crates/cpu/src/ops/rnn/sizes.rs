//! Sizes of a network as kernels count them, and the panels of its channels.

use crate::kernels::microkernel::max_vectors;
use oxidnn_jit::Isa;
use oxidnn_runtime::Skip;
use oxidnn_spec::op::Rnn;

#[cfg(test)]
mod tests;

/// Most elements of a gate in a panel.
pub(super) const LINE: usize = 64;

/// Elements that are moved together.
pub(super) const BLOCK: usize = 16;

/// Channels in panels of equal width, the last one padded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Panels {
    /// Channels of a panel.
    pub(super) width: usize,
    /// Number of panels.
    pub(super) count: usize,
}

impl Panels {
    /// The panels of `channels` channels, in whole blocks: as wide as tiles, or narrower if that leaves less padding.
    pub(super) fn of(isa: Isa, channels: usize) -> Panels {
        let (lanes, most) = (isa.width().lanes(), max_vectors(isa));
        let vectors = channels.div_ceil(lanes).max(1);
        let width = (1 + most / 2..=most).rev().min_by_key(|w| vectors.next_multiple_of(*w)).unwrap_or(most);
        Panels { width: width.min(vectors.next_multiple_of(BLOCK / lanes)) * lanes, count: vectors.div_ceil(width) }
    }

    /// Channels with padding.
    pub(super) const fn padded(self) -> usize {
        self.width * self.count
    }

    /// First channel of a panel, and how many of `channels` channels it has.
    pub(super) fn channels(self, panel: usize, channels: usize) -> (usize, usize) {
        let first = panel * self.width;
        (first, self.width.min(channels.saturating_sub(first)))
    }
}

/// Sizes of a network.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the fields of `RnnSizes`")]
pub(super) struct Sizes {
    pub(super) layers: usize,
    pub(super) directions: usize,
    pub(super) time: usize,
    pub(super) batch: usize,
    pub(super) slc: usize,
    pub(super) sic: usize,
    pub(super) dhc: usize,
    pub(super) dic: usize,
    pub(super) gates: usize,
    /// Gates of the bias.
    pub(super) bias_gates: usize,
}

impl Sizes {
    /// The sizes of a network that has something to compute.
    ///
    /// # Errors
    /// [`Skip`] where a size is 0 or not known.
    pub(super) fn of(op: &Rnn) -> Result<Sizes, Skip> {
        let z = op.sizes().ok_or(Skip::Shape("ranks of no network"))?;
        let all = [z.layers, z.directions, z.time, z.batch, z.slc, z.sic, z.dhc, z.dic, z.gates, op.cell.bias_gates()];
        if all.iter().any(|n| *n <= 0) {
            return Err(Skip::Shape("empty, or not known when it is planned"));
        }
        let [layers, directions, time, batch, slc, sic, dhc, dic, gates, bias_gates] = all.map(|n| n as usize);
        Ok(Sizes { layers, directions, time, batch, slc, sic, dhc, dic, gates, bias_gates })
    }

    /// Steps of all samples.
    pub(super) const fn samples(&self) -> usize {
        self.time * self.batch
    }

    /// Layers of both directions.
    pub(super) const fn stacks(&self) -> usize {
        self.layers * self.directions
    }
}
