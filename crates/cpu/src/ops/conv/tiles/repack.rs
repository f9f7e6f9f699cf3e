//! Packing weights at execution, for the two cases that cannot read panels in place: few channels, where a row of taps is merged into one
//! reduction that does not begin and end at whole steps; and joined groups.
//!
//! Groups with few result channels leave most of a vector idle. Several integer groups are joined into one product with block-diagonal
//! weights. It takes as many multiply-adds as the groups one by one, since each of these would fill a vector as well, but addresses,
//! epilogue and stores are shared, and a source pixel is read in one piece.

use crate::kernels::microkernel::pack::{self, PanelLayout, PlainMatrix};
use crate::kernels::multiversion::Simd;
use oxidnn_jit::Isa;
use oxidnn_runtime::Buf;

/// Columns of the widest panel.
const MAX_PANEL_COLUMNS: usize = 64;
/// Steps of weights that are packed at a time.
const PACKED_STEPS: usize = 8;
/// Rows from which on groups are joined: with fewer rows, packing the weights takes longer than the products.
const MIN_JOINT_ROWS: usize = 64;

/// How the weights of a pass are packed at execution.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Packed {
    /// Lines of a panel from one tap to the next, and in a tap. The first tap begins `first` lines into the panel.
    pub(super) tap_lines: usize,
    pub(super) lines: usize,
    pub(super) first: usize,
    /// Taps.
    pub(super) taps: usize,
    /// Steps of a tap.
    pub(super) steps: usize,
    /// Columns.
    pub(super) width: usize,
    /// Elements of a step, and how many of them are interleaved (VNNI) for each column.
    pub(super) step: usize,
    pub(super) vnni: usize,
    /// The layout of the weights that are read.
    pub(super) from: WeightLines,
}

/// The layout of weights in memory. In the packed weights of joined groups a line is zero outside its group's columns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct WeightLines {
    /// Groups joined into one product.
    pub(super) groups: usize,
    /// Depth and columns of a group.
    pub(super) depth: usize,
    pub(super) columns: usize,
    /// Interleaved elements (VNNI) of a column, columns of a panel, bytes of a tap and of a panel.
    pub(super) vnni: usize,
    pub(super) width: usize,
    pub(super) tap: usize,
    pub(super) panel: usize,
}

/// A run of equal products, each over one group or over several joined groups.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Units {
    /// The first group, groups of each product, and number of products.
    pub(super) first: usize,
    pub(super) joined: usize,
    pub(super) count: usize,
}

impl Units {
    /// The products for `groups` groups of `columns` columns over `rows` rows: as many groups in each as fill a vector, and one for the
    /// remainder.
    pub(super) fn of(isa: Isa, groups: usize, columns: usize, rows: usize) -> Vec<Units> {
        let most = (isa.width().lanes() / columns.max(1)).min(groups);
        if rows < MIN_JOINT_ROWS || most < 2 {
            return vec![Units { first: 0, joined: 1, count: groups }];
        }
        let (count, left) = (groups / most, groups % most);
        let rest = (left > 0).then_some(Units { first: count * most, joined: left, count: 1 });
        std::iter::once(Units { first: 0, joined: most, count }).chain(rest).collect()
    }

    /// The first group of a product.
    pub(super) fn group(&self, unit: usize) -> usize {
        self.first + unit * self.joined
    }
}

impl WeightLines {
    /// Byte offset of the interleaved depths that contain line `line` in its group's panel, if the first group's panel begins at byte `at`;
    /// and the group.
    fn place(&self, at: usize, line: usize, size: usize) -> (usize, usize) {
        let all = self.depth * self.groups;
        let (tap, group, depth) = (line / all, line % all / self.depth, line % self.depth);
        (at + group * self.panel + tap * self.tap + depth / self.vnni * self.vnni * self.width * size, group)
    }

    /// Reads the words of a [whole](WeightLines::is_whole) step, whose first line is `line`.
    fn read_words(&self, from: Buf, at: usize, (line, size): (usize, usize), words: &mut [u8]) {
        let ((at, group), word) = (self.place(at, line, size), self.vnni * size);
        words.fill(0);
        from.read(at, &mut words[group * self.columns * word..][..self.columns * word]);
    }

    /// Whether every step is stored as whole words, each of one group, so that a step can be copied as it is.
    fn is_whole(&self, step: usize) -> bool {
        self.vnni == step && step > 1 && self.depth.is_multiple_of(step)
    }

    /// Reads line `line`, elements of `size` bytes, of the panel at byte `at`; with joined groups `at` is the first group's panel.
    fn read(&self, from: Buf, at: usize, (line, size): (usize, usize), to: &mut [u8]) {
        to.fill(0);
        let (at, group) = self.place(at, line, size);
        let to = &mut to[group * self.columns * size..][..self.columns * size];
        if self.vnni == 1 {
            return from.read(at, to);
        }
        for (column, to) in to.chunks_exact_mut(size).enumerate() {
            from.read(at + (column * self.vnni + line % self.depth % self.vnni) * size, to);
        }
    }
}

/// Writes an `N`-byte element of every column to place `i` of the column's word.
fn interleave<const N: usize>(words: &mut [u8], line: &[u8], i: usize) {
    for (word, number) in words.as_chunks_mut::<4>().0.iter_mut().zip(line.as_chunks::<N>().0) {
        word[i * N..][..N].copy_from_slice(number);
    }
}

impl Packed {
    /// Words of a panel.
    pub(super) fn words(&self) -> usize {
        self.taps * self.steps * self.width
    }

    /// Packs panel `panel`; its weights begin at byte `at` of `from`.
    pub(super) fn pack(&self, simd: Simd, (from, at): (Buf, usize), to: Buf, panel: usize) {
        if self.from.groups == 1 && self.from.vnni == 1 {
            return self.pack_lines(simd, (from, at), to, panel);
        }
        let size = 4 / self.step;
        let whole = self.from.is_whole(self.step) && [self.first, self.tap_lines, self.lines].iter().all(|n| n.is_multiple_of(self.step));
        for tap in 0..self.taps {
            for step in 0..self.steps {
                let (mut words, mut line) = ([0u8; 4 * MAX_PANEL_COLUMNS], [0u8; 4 * MAX_PANEL_COLUMNS]);
                let (words, line) = (&mut words[..4 * self.width], &mut line[..self.width * size]);
                if whole {
                    self.from.read_words(from, at, (self.first + tap * self.tap_lines + step * self.step, size), words);
                    to.write((panel * self.words() + (tap * self.steps + step) * self.width) * 4, words);
                    continue;
                }
                for i in 0..self.step.min(self.lines - step * self.step) {
                    self.from.read(from, at, (self.first + tap * self.tap_lines + step * self.step + i, size), line);
                    match size {
                        1 => interleave::<1>(words, line, i),
                        _ => interleave::<2>(words, line, i),
                    }
                }
                to.write((panel * self.words() + (tap * self.steps + step) * self.width) * 4, words);
            }
        }
    }

    /// The same for weights with one depth a line, some steps at a time.
    fn pack_lines(&self, simd: Simd, (from, at): (Buf, usize), to: Buf, panel: usize) {
        let size = 4 / self.step;
        let (line, form) = (self.width * size, PanelLayout { size, vnni: self.vnni, width: self.width });
        let (mut read, mut words) = ([0u8; PACKED_STEPS * MAX_PANEL_COLUMNS * 4], [0.0f32; PACKED_STEPS * MAX_PANEL_COLUMNS]);
        for tap in 0..self.taps {
            for first in (0..self.steps).step_by(PACKED_STEPS) {
                let (steps, depth) = (PACKED_STEPS.min(self.steps - first), self.lines - first * self.step);
                let depth = depth.min(steps * self.step);
                let lines = &mut read[..depth * line];
                from.read(at + (self.first + tap * self.tap_lines + first * self.step) * line, lines);
                let words = &mut words[..steps * self.width];
                pack::panels(simd, &PlainMatrix { bytes: lines, depth: line, column: size }, 0..depth, 0..self.width, form, words);
                to.write(panel * self.words() + (tap * self.steps + first) * self.width, words);
            }
        }
    }
}
