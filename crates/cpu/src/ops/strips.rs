//! What rows made of strips (depthwise convolution, pooling) share in their plans: strides of tensors, result lines cut into strips, and
//! tables of windows.

use super::conv::geometry::{Line, Phase};
use super::conv::window::{cut, spatial};
use crate::kernels::microkernel::Epilogue;
use crate::kernels::strip::{self, Operand, Row, Table, WithEpilogue};
use oxidnn_jit::kernels::strips::{Tap, Window, WindowKey};
use oxidnn_runtime::{Buf, Skip};
use oxidnn_spec::{Arg, Blocking, Tensor};

/// A tensor whose vectors run over channels; strides in bytes.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) arg: Arg,
    pub(crate) size: usize,
    pub(crate) start: usize,
    pub(crate) image: usize,
    /// Channels of a block, and the stride of blocks; 0 if all channels are contiguous.
    pub(crate) block: usize,
    pub(crate) blocks: usize,
    /// Strides in depth, height and width.
    pub(crate) spatial: [usize; 3],
    /// Whether the last block has padding channels.
    pub(crate) padded: bool,
}

impl Place {
    /// The strides of a tensor.
    ///
    /// # Errors
    /// Channels that are neither last nor in blocks of whole vectors.
    pub(crate) fn of(arg: Arg, tensor: &Tensor, lanes: usize) -> Result<Place, Skip> {
        let unlike = || Skip::Layout(format!("of {arg}: channels that are not in vectors"));
        let whole = |b: &&Blocking| b.padded_offsets.iter().all(|o| *o == 0);
        let b = tensor.blocking().filter(whole).ok_or_else(unlike)?;
        let (size, channels) = (tensor.dtype.bits() / 8, tensor.dims()[1].max(1) as usize);
        let mut inner = b.inner.iter();
        let (block, blocks) = match (inner.next(), inner.next()) {
            (None, None) if b.strides[1] == 1 || channels == 1 => (channels.next_multiple_of(lanes), 0),
            (Some((1, block)), None) if (block as usize).is_multiple_of(lanes) => (block as usize, b.strides[1] as usize * size),
            _ => return Err(unlike()),
        };
        let n = tensor.dims().len();
        Ok(Place {
            arg,
            size,
            start: b.offset as usize * size,
            image: b.strides[0] as usize * size,
            block,
            blocks,
            spatial: std::array::from_fn(|i| spatial(i, n, 2).map_or(0, |d| b.strides[d] as usize * size)),
            padded: b.padded_dims != *tensor.dims(),
        })
    }

    /// The same for a vector of the tensor's channels in scratch.
    pub(crate) fn in_scratch(arg: Arg, tensor: &Tensor, lanes: usize) -> Place {
        let (size, n) = (tensor.dtype.bits() / 8, tensor.dims().len());
        let mut stride = lanes * size;
        let mut spatial = [0; 3];
        for (i, s) in spatial.iter_mut().enumerate().rev() {
            if let Some(d) = self::spatial(i, n, 2) {
                *s = stride;
                stride *= tensor.dims()[d] as usize;
            }
        }
        Place { arg, size, start: 0, image: 0, block: lanes, blocks: 0, spatial, padded: false }
    }

    /// Channels whose vectors have one stride: `usize::MAX` for all.
    pub(crate) fn even(&self, lanes: usize) -> usize {
        if self.blocks == 0 || self.block == lanes { usize::MAX } else { self.block }
    }

    /// The stride of groups of `channels` channels, which must end where blocks do.
    pub(crate) fn group(&self, channels: usize) -> usize {
        if self.block == channels && self.blocks > 0 { self.blocks } else { channels * self.size }
    }

    /// The byte offset of a channel of an image.
    pub(crate) fn at(&self, image: usize, channel: usize) -> usize {
        self.start + image * self.image + channel / self.block * self.blocks + channel % self.block * self.size
    }

    /// The tensor in `buf` from a byte on, with columns `step` apart and strips `strip` columns apart, in groups of `vectors` vectors.
    pub(crate) fn operand<'b>(&self, buf: Buf<'b>, at: usize, (step, strip): (usize, usize), [lanes, vectors]: [usize; 2]) -> Operand<'b> {
        let [_, _, column] = self.spatial;
        Operand { buf, at, column: step * column, strip: strip * column, vector: lanes * self.size, group: self.group(lanes * vectors) }
    }
}

/// The width dimension of results.
#[derive(Debug)]
pub(crate) struct Width {
    pub(crate) line: Line,
    /// Source columns between results within a strip. More than 1 if the window slides over results and all phases are computed together,
    /// so that results are contiguous; [`Line`] then has one phase, whose taps are in units of `1 / step` source columns.
    pub(crate) step: usize,
}

/// Equal strips of a row, computed by a kernel of type `K`.
#[derive(Debug)]
pub(crate) struct Segment<K> {
    pub(crate) spec: WithEpilogue<K>,
    /// First result within the phase, results of a strip, number of strips.
    pub(crate) first: usize,
    pub(crate) each: usize,
    pub(crate) strips: usize,
    /// First source column that is read.
    pub(crate) column: usize,
}

impl Width {
    /// The first source column (for a tap at offset 0) of the strip that begins with result `result`.
    pub(crate) fn column(&self, result: usize) -> usize {
        result * self.line.stride as usize / self.step
    }

    /// The window of `count` results of a phase from `first` on; all else is as in `common`.
    fn window(&self, common: &Window, phase: &Phase, (first, results): (usize, usize)) -> Window {
        let (line, step, begin) = (&self.line, self.step as i64, self.column(first) as i64);
        let (low, high) = phase.reach(line.stride, 0, results).map_or((0, -1), |(low, high)| (low.div_euclid(step), high.div_euclid(step)));
        let (low, end) = (low.max(-begin).min(high + 1), (high + 1).min(line.source - begin).max(low));
        Window {
            results: results as u8,
            stride: line.stride as u8,
            step: self.step as u8,
            taps: phase.taps.iter().map(|t| Tap { column: t.1 as i16, weights: t.0 as u16 }).collect(),
            inside: (low as i16, end as i16),
            ..*common
        }
    }

    /// Cuts the results of a phase into strips of at most `most` results. `key` gives the kernel for a window and its first source column.
    pub(crate) fn cut<K: WindowKey + PartialEq>(
        &self,
        phase: &Phase,
        most: usize,
        (common, epilogue): (&Window, &Epilogue),
        key: impl Fn(Window, i64) -> K,
    ) -> Vec<Segment<K>> {
        let (each, n) = cut(phase.count, most / self.step * self.step, self.step);
        let kernel = |i: usize| {
            let first = i * each;
            key(self.window(common, phase, (first, each.min(phase.count - first))), self.column(first) as i64)
        };
        let (mut segments, mut start) = (Vec::new(), 0);
        while start < n {
            let sums = kernel(start);
            // From left to right, strips lose taps on one side only; so equal strips are neighbours, and the last equal one is found by
            // bisection.
            let (mut end, mut other) = (start + 1, n);
            while end < other {
                let middle = end + (other - end) / 2;
                if kernel(middle) == sums { end = middle + 1 } else { other = middle }
            }
            let first = start * each;
            let column = (self.column(first) as i64 + i64::from(sums.window().first())).max(0) as usize;
            segments.push(Segment { spec: WithEpilogue { sums, epilogue: epilogue.clone() }, first, each, strips: end - start, column });
            start = end;
        }
        segments
    }
}

/// Weight coordinates in depth and height, and source coordinates, of a line of a window.
pub(crate) type Met = [[i64; 2]; 2];

/// The weight coordinates whose source coordinates are inside for result `at` of a dimension, with these source coordinates.
pub(crate) fn meeting(line: &Line, at: i64) -> impl Iterator<Item = (i64, i64)> {
    let (phase, j) = if line.step == 1 { (&line.phases[0], at) } else { (&line.phases[(at % line.step) as usize], at / line.step) };
    let base = j * line.stride;
    phase.taps.iter().map(move |t| (t.0, base + t.1)).filter(|t| t.1 >= 0 && t.1 < line.source)
}

/// The most bytes of a table of rows with the lines of their windows.
const TABLE: i64 = 24 << 20;

/// Refuses rows, with so many lines each, whose table would be large.
pub(crate) fn check_table(rows: i64, lines: i64) -> Result<(), Skip> {
    let row = lines.saturating_mul(size_of::<strip::Line>() as i64).saturating_add(size_of::<Row>() as i64);
    if rows.saturating_mul(row) > TABLE { Err(Skip::Shape("so many rows")) } else { Ok(()) }
}

/// The table of result rows, by index, depth and height, with the lines of their windows. `row` is told the number of its lines.
pub(crate) fn table(
    lines: [&Line; 2],
    [depth, height]: [i64; 2],
    row: impl Fn(usize, [i64; 2], usize) -> Row,
    line: impl Fn(Met) -> strip::Line,
) -> Table {
    let met = |line: &Line, rows: i64| (0..rows).map(|at| meeting(line, at).count()).sum::<usize>();
    let mut table = Table::with_capacity((depth * height) as usize, met(lines[0], depth) * met(lines[1], height));
    for index in 0..depth * height {
        let [d, h] = [index / height, index % height];
        let window = || meeting(lines[0], d).flat_map(|(kd, z)| meeting(lines[1], h).map(move |(kh, y)| [[kd, kh], [z, y]]));
        table.push(row(index as usize, [d, h], window().count()), window().map(&line));
    }
    table
}
