//! The layout of a call's intermediate results in the caller's reserve space and workspace.

use super::desc::Attention;
use crate::pointers::Data;
use crate::status::Failure;
use oxidnn_runtime::ALIGNMENT;

/// The sizes of a call, or the maximum ones.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    pub(super) batch: i64,
    /// Sequences of a sample: of queries, and of keys.
    pub(super) beams: [i64; 2],
    /// Time-steps of queries, and of keys.
    pub(super) steps: [i64; 2],
}

impl Extent {
    /// The largest.
    pub(super) fn most(attention: &Attention) -> Extent {
        let beam = attention.beam;
        let keys = if attention.one_to_one() { beam } else { 1 };
        Extent { batch: attention.batch, beams: [beam, keys], steps: attention.longest }
    }

    /// Which of the lists a side (queries, keys, values, output) follows.
    pub(super) fn list(side: usize) -> usize {
        usize::from(side == 1 || side == 2)
    }

    /// Sequences of a side.
    pub(super) fn sequences(&self, side: usize) -> i64 {
        self.batch * self.beams[Extent::list(side)]
    }

    /// Time-steps of all sequences of a side.
    pub(super) fn rows(&self, side: usize) -> i64 {
        self.sequences(side) * self.steps[Extent::list(side)]
    }

    /// Pairs of time-steps, without heads.
    pub(super) fn pairs(&self) -> i64 {
        self.rows(0) * self.steps[1]
    }
}

/// Offsets in bytes. Lists are in the order queries, keys, values, output.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    /// Queries, keys and values of every head: rows x heads x channels of a head.
    pub(super) projected: [usize; 3],
    /// Softmax: batch x beam x heads x queries x keys; and the same after dropout.
    pub(super) scores: usize,
    pub(super) dropped: usize,
    /// The masks of dropout: of the softmax, and of the output.
    pub(super) masks: [usize; 2],
    /// The heads' outputs: rows x heads x channels of a head.
    pub(super) heads: usize,
    /// Gradients of the output and of the projected queries, keys and values.
    pub(super) gradients: [usize; 4],
    pub(super) bytes: usize,
}

/// Offsets in bytes of a pass's working memory.
#[derive(Clone, Debug)]
pub(super) struct Work {
    /// Rows of queries, keys, values, output; padding is zero.
    pub(super) rows: [usize; 4],
    /// The weight buffer in the type that is computed in.
    pub(super) weights: usize,
    /// Gradients of the heads' outputs, of the scores, and of the keys and values of each beam.
    pub(super) heads: usize,
    pub(super) scores: usize,
    pub(super) apart: [usize; 2],
    pub(super) bytes: usize,
}

/// Allocates parts of a buffer, one after the other.
struct Parts {
    end: usize,
    width: usize,
}

impl Parts {
    fn new(attention: &Attention) -> Parts {
        Parts { end: 0, width: attention.real().bytes(1).unwrap_or(8) }
    }

    fn bytes(&mut self, bytes: i64) -> usize {
        let at = self.end;
        self.end = (at + bytes as usize).next_multiple_of(ALIGNMENT);
        at
    }

    fn numbers(&mut self, count: i64) -> usize {
        self.bytes(count * self.width as i64)
    }

    /// Bytes of all parts, with room for alignment.
    fn all(&self) -> usize {
        self.end + (ALIGNMENT - 1)
    }
}

impl Kept {
    pub(super) fn new(a: &Attention, extent: &Extent) -> Kept {
        let mut parts = Parts::new(a);
        let scores = a.heads * extent.pairs();
        let dropped = a.dropouts.map(|d| d.is_some_and(|d| d.probability > 0.0));
        let of = |parts: &mut Parts, side: usize| parts.numbers(extent.rows(side) * a.heads * a.width(side));
        let projected = [0, 1, 2].map(|side| of(&mut parts, side));
        let soft = parts.numbers(scores);
        let left = if dropped[0] { parts.numbers(scores) } else { soft };
        let masks =
            [parts.bytes(if dropped[0] { scores } else { 0 }), parts.bytes(if dropped[1] { extent.rows(0) * a.outputs() } else { 0 })];
        let heads = parts.numbers(extent.rows(0) * a.joined());
        let inner = [0, 1, 2].map(|side| of(&mut parts, side));
        let gradients = [inner[0], inner[1], inner[2], parts.numbers(extent.rows(0) * a.outputs())];
        Kept { projected, scores: soft, dropped: left, masks, heads, gradients, bytes: parts.all() }
    }
}

impl Work {
    pub(super) fn new(a: &Attention, extent: &Extent) -> Work {
        let mut parts = Parts::new(a);
        let channels = [a.sizes[0], a.sizes[1], a.sizes[2], a.outputs()];
        let rows = std::array::from_fn(|side| parts.numbers(extent.rows(side) * channels[side]));
        let weights = if a.dtype == a.real() { 0 } else { parts.numbers(a.weights().1) };
        let heads = parts.numbers(extent.rows(0) * a.joined());
        let scores = parts.numbers(a.heads * extent.pairs());
        let spread = extent.rows(1) / extent.beams[1] * extent.beams[0];
        let apart = [1, 2].map(|side| parts.numbers(spread * a.heads * a.width(side)));
        Work { rows, weights, heads, scores, apart, bytes: parts.all() }
    }
}

/// The first aligned address of the caller's buffer, if that is large enough.
///
/// # Errors
/// `BAD_PARAM_SIZE_INSUFFICIENT`, `BAD_PARAM_NULL_POINTER`.
pub(super) fn buffer(name: &str, (data, bytes): (Data, usize), need: usize) -> Result<Data, Failure> {
    match bytes >= need {
        true => data.some(name).map(aligned),
        false => Err(Failure::small(name, bytes, need)),
    }
}

fn aligned(data: Data) -> Data {
    data.behind(data.number().next_multiple_of(ALIGNMENT) - data.number())
}
