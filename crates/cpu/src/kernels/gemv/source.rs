//! `A`, rearranged to the order in which the elements of the weights are decoded.

use super::weights::WeightOrder;
use crate::kernels::access::{Axis, Pos, copy_line};
use crate::kernels::dot::pack::Source;
use oxidnn_jit::kernels::gemv::MAX_ROWS;
use oxidnn_jit::kernels::unpack::Decode;

/// Elements of K that are rearranged at a time: whole vectors of words of any type.
pub(super) const CHUNK: usize = 512;
/// The part of a chunk that is cleared if K is no longer: also whole vectors of words of any type.
const SHORT_CHUNK: usize = 128;

/// The order of `A` for a kind of weights.
#[derive(Clone, Copy, Debug)]
pub(super) struct Order {
    decode: Decode,
    rows: usize,
    depth: usize,
    columns: bool,
    lanes: usize,
}

impl Order {
    pub(super) fn new(decode: Decode, lie: WeightOrder, rows: usize, depth: usize, lanes: usize) -> Order {
        Order { decode, rows, depth, columns: matches!(lie, WeightOrder::Columns { .. }), lanes }
    }

    /// Whether rows are stored one after the other: for weights by columns whose words have one part. Otherwise rows are interleaved.
    fn is_row_major(&self) -> bool {
        self.columns && self.decode.parts() == 1
    }

    /// Words of `depth` elements (of one row if rows are not interleaved); `depth` must be whole words of weights, and for columns whole
    /// vectors of these.
    pub(super) fn words(&self, depth: usize) -> usize {
        let rows = if self.is_row_major() { 1 } else { self.rows };
        if self.decode.pairs { depth / 2 * rows } else { depth * rows }
    }

    /// Words of a chunk (of one row if rows are not interleaved).
    pub(super) fn chunk(&self) -> usize {
        self.words(CHUNK)
    }

    /// Chunks of all of K.
    fn length(&self) -> usize {
        self.depth.div_ceil(CHUNK)
    }

    /// Chunks of all rows.
    pub(super) fn chunks(&self) -> usize {
        self.length() * if self.is_row_major() { self.rows } else { 1 }
    }

    /// Words of a row, if rows are not interleaved.
    pub(super) fn row(&self) -> usize {
        self.length() * self.chunk()
    }

    /// Whether no rearrangement is needed: with a single row, or rows that are not interleaved.
    pub(super) fn is_natural(&self) -> bool {
        let whole = |unit: usize| self.depth.is_multiple_of(unit);
        match (self.columns, self.decode.pairs) {
            (true, _) => self.decode.parts() == 1,
            _ if self.rows > 1 => false,
            (false, false) => whole(self.decode.line_depth()),
            (false, true) => self.decode.parts() == 1 && whole(2),
        }
    }

    /// Whether the rows' words, natural as they are, only have to be interleaved.
    pub(super) fn interleaves(&self) -> bool {
        !self.columns && self.rows > 1 && (!self.decode.pairs || self.decode.parts() == 1 && self.depth.is_multiple_of(2))
    }

    /// Writes chunk `index` of rows of words, `row` apart.
    pub(super) fn interleave(&self, words: &[f32], row: usize, index: usize, out: &mut [f32]) {
        let each = if self.decode.pairs { 2 } else { 1 };
        let (first, count) = (index * CHUNK / each, CHUNK.min(self.depth - index * CHUNK) / each);
        let mut rows: [&[f32]; MAX_ROWS] = [&[]; MAX_ROWS];
        rows.iter_mut().enumerate().take(self.rows).for_each(|(i, to)| *to = &words[i * row + first..][..count]);
        let padded = (count * each).next_multiple_of(if self.decode.pairs { 2 } else { self.decode.line_depth() });
        let (there, behind) = out[..self.words(padded)].split_at_mut(count * self.rows);
        interleave(&rows[..self.rows], there);
        behind.fill(0.0);
    }

    /// Writes chunk `index` of the source at `pos`.
    pub(super) fn arrange(&self, source: &Source<'_>, axes: (&Axis, &Axis), pos: &Pos, index: usize, out: &mut [f32]) {
        if self.is_row_major() && self.rows > 1 {
            let (single, row) = (Order { rows: 1, ..*self }, axes.0.at(pos, index / self.length()));
            return single.arrange(source, axes, &row, index % self.length(), out);
        }
        let count = CHUNK.min(self.depth - index * CHUNK);
        let read = |row: usize, line: &mut [f32]| source.read(axes.1, &axes.0.at(pos, row), index * CHUNK, &mut line[..count]);
        // For a single row and weights with one element a word, the order is the source's.
        if self.rows == 1 && self.decode.stored.in_word() == 1 {
            let (there, behind) = out.split_at_mut(count);
            source.read(axes.1, &axes.0.at(pos, 0), index * CHUNK, there);
            return behind.fill(0.0);
        }
        match (self.rows, count <= SHORT_CHUNK) {
            (1, true) => self.order::<SHORT_CHUNK, 1>(count, read, out),
            (1, false) => self.order::<CHUNK, 1>(count, read, out),
            (_, true) => self.order::<SHORT_CHUNK, MAX_ROWS>(count, read, out),
            (_, false) => self.order::<CHUNK, MAX_ROWS>(count, read, out),
        }
    }

    /// Writes lines of `count` elements, read by `read`, zero-padded. For columns that end within a word, the elements of that word are
    /// zeros as well: they are multiplied separately, since a zero times a non-finite element of the padding would be NaN.
    fn order<const LEN: usize, const ROWS: usize>(&self, count: usize, read: impl Fn(usize, &mut [f32]), out: &mut [f32]) {
        let in_word = self.decode.stored.in_word();
        if !self.columns && !self.decode.pairs {
            let mut lines = [[0.0; LEN]; ROWS];
            lines.iter_mut().enumerate().take(self.rows).for_each(|(row, line)| read(row, line));
            let padded = count.next_multiple_of(self.decode.line_depth());
            let rows = lines.each_ref().map(|line| &line[..padded]);
            return interleave(&rows[..self.rows], &mut out[..self.words(padded)]);
        }
        let padded = count.next_multiple_of(if self.columns { in_word * self.lanes } else { in_word });
        let (mut line, out) = ([0.0; LEN], &mut out[..self.words(padded)]);
        for row in 0..self.rows {
            read(row, &mut line);
            if self.columns {
                line[count / in_word * in_word..count].fill(0.0);
                self.vectors(&line, row, out);
            } else {
                self.pairs(&line, row, out);
            }
        }
    }

    /// The pairs of every part of a row, with rows interleaved.
    fn pairs<const LEN: usize>(&self, line: &[f32; LEN], row: usize, out: &mut [f32]) {
        match self.decode.parts() {
            1 => self.pairs_of::<1, 2, LEN>(line, row, out),
            _ => self.pairs_of::<4, 8, LEN>(line, row, out),
        }
    }

    /// The same for words of `WORD` elements in `PARTS` parts.
    fn pairs_of<const PARTS: usize, const WORD: usize, const LEN: usize>(&self, line: &[f32; LEN], row: usize, out: &mut [f32]) {
        let places: [[usize; 2]; PARTS] = std::array::from_fn(|part| self.decode.places(part));
        // The remainders are the places themselves, so no index needs a check.
        let words = line.as_chunks::<WORD>().0.iter().map(|line| places.map(|[low, high]| pair(line[low % WORD], line[high % WORD])));
        if self.rows == 1 {
            return out.as_chunks_mut::<PARTS>().0.iter_mut().zip(words).for_each(|(out, words)| *out = words);
        }
        for (out, words) in out.chunks_exact_mut(PARTS * self.rows).zip(words) {
            out[row..].iter_mut().step_by(self.rows).zip(words).for_each(|(out, word)| *out = word);
        }
    }

    /// For every vector of words and every part a vector of a row, with rows interleaved.
    fn vectors<const LEN: usize>(&self, line: &[f32; LEN], row: usize, out: &mut [f32]) {
        let (parts, in_word) = (self.decode.parts(), self.decode.stored.in_word());
        for (n, vector) in out.chunks_exact_mut(self.lanes).skip(row).step_by(self.rows).enumerate() {
            let (word, part) = (n / parts * self.lanes, n % parts);
            if in_word == 1 {
                copy_line(&line[word..][..self.lanes], vector);
                continue;
            }
            let places = self.decode.places(part);
            for (lane, x) in vector.iter_mut().enumerate() {
                let [low, high] = places.map(|p| line[(word + lane) * in_word + p]);
                *x = if self.decode.pairs { pair(low, high) } else { low };
            }
        }
    }
}

/// Two values that are exact in bf16, in the bits of one word.
fn pair(low: f32, high: f32) -> f32 {
    f32::from_bits(low.to_bits() >> 16 | high.to_bits() & 0xffff_0000)
}

/// `out[k * rows + row] = lines[row][k]`
fn interleave(lines: &[&[f32]], out: &mut [f32]) {
    match lines.len() {
        1 => out.copy_from_slice(lines[0]),
        2 => interleave_rows::<2>(lines, out),
        3 => interleave_rows::<3>(lines, out),
        4 => interleave_rows::<4>(lines, out),
        5 => interleave_rows::<5>(lines, out),
        6 => interleave_rows::<6>(lines, out),
        7 => interleave_rows::<7>(lines, out),
        _ => interleave_rows::<8>(lines, out),
    }
}

fn interleave_rows<const M: usize>(lines: &[&[f32]], out: &mut [f32]) {
    let out = out.as_chunks_mut::<M>().0;
    let lines: [&[f32]; M] = std::array::from_fn(|row| &lines[row][..out.len()]);
    for (k, words) in out.iter_mut().enumerate() {
        *words = std::array::from_fn(|row| lines[row][k]);
    }
}
