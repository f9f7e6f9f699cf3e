//! Operations on matrix columns in generated code: safe to run, since every address is checked before it is used.

use super::code;
use super::extent::{Read, Written, reach};
use oxidnn_jit::ir::Elem;
use oxidnn_jit::kernels::columns::{Args, BITS, LINES, RESULT};
use oxidnn_jit::{Entry, Isa};
use oxidnn_runtime::Buf;
use oxidnn_spec::Error;
use std::ops::Range;

pub use oxidnn_jit::kernels::columns::{Bound, ColumnOp, Columns};

/// Bytes of the rows of a call of several groups of columns: they are still in L1 for the next group.
const L1_BYTES: usize = 8 * 1024;
/// Fewest bytes of rows that are folded before the next group of columns if they come from memory.
const LEAST_BYTES: usize = 512;
/// Fewest rows of a call that writes columns in several groups; few of long rows, so that memory is written nearly in order.
const ROWS_PER_CALL: usize = 4;

/// Matrices that are processed together, over the same rows: blocks of columns.
#[derive(Clone, Copy, Debug)]
pub struct Blocks {
    /// Their number.
    pub count: usize,
    /// Elements from the begin of one to the begin of the next.
    pub distance: usize,
    /// The same of images of such blocks, whose rows are all processed.
    pub images: usize,
    /// As said.
    pub image: usize,
}

/// The kernels for matrices of some width.
#[derive(Clone, Debug)]
pub struct ColumnKernels {
    act: ColumnOp,
    elem: Elem,
    width: usize,
    /// Whether the last columns are a partial vector.
    masked: bool,
    /// Whether matrices come from memory, and a kernel for all columns goes through them row by row.
    far: bool,
    parts: Vec<Part>,
}

/// The kernel for some columns of a matrix.
#[derive(Clone, Debug)]
struct Part {
    entry: Entry<Args>,
    /// The kernel with non-temporal stores.
    streaming: Option<Entry<Args>>,
    first: usize,
    columns: usize,
    groups: usize,
    /// Columns of a group.
    each: usize,
}

/// Most matrices of a kernel.
pub const MATRICES: usize = BITS + 1;

impl ColumnKernels {
    /// The operation.
    pub fn act(&self) -> ColumnOp {
        self.act
    }

    /// The kernels that do `act` on matrices with rows of `width` elements, one after the other. Results are stored non-temporally if they
    /// are `far` and whole vectors of more than bytes.
    ///
    /// # Errors
    /// As for [`code::get`].
    pub fn get(isa: Isa, act: ColumnOp, elem: Elem, (width, far): (usize, bool)) -> Result<ColumnKernels, Error> {
        let (lanes, most) = (isa.width().lanes(), Columns::most_vectors(isa, act));
        let (whole, last) = (width / lanes, width % lanes);
        // Groups of equal numbers of vectors if these are large enough, else the largest possible groups and a rest.
        let even = (1..=most).rev().find(|n| whole.is_multiple_of(*n) && (whole < most || 2 * n >= most));
        let each = even.unwrap_or(most).max(1);
        let cuts = [(each, whole / each, false), (whole % each, 1, false), (1, usize::from(last > 0), true)];
        let (mut parts, mut first) = (Vec::new(), 0);
        for (vectors, groups, masked) in cuts.into_iter().filter(|c| c.0 * c.1 > 0) {
            let columns = if masked { last } else { vectors * groups * lanes };
            let kernel = Columns { act, elem, vectors: vectors as u8, masked, streaming: false };
            let can_stream = far && elem.bytes() > 1 && last == 0 && act.lines().0 == 0;
            let streaming = can_stream.then(|| code::get(isa, &Columns { streaming: true, ..kernel })).transpose()?;
            parts.push(Part { entry: code::get(isa, &kernel)?, streaming, first, columns, groups, each: vectors * lanes });
            first += columns;
        }
        Ok(ColumnKernels { act, elem, width, masked: last > 0, far: far && parts.len() == 1, parts })
    }

    /// Runs the operation on some rows of the blocks, which begin at the given bytes, with sums and other values by column of all blocks.
    ///
    /// # Panics
    /// If a matrix ends before its rows, rows of bits are not whole vectors, a line ends before its columns, or operands are not those of
    /// the kernel.
    pub fn run(&self, matrices: &[(Buf, usize)], (rows, blocks): (Range<usize>, Blocks), sums: &mut [&mut [f32]], numbers: &[&[f32]]) {
        if rows.is_empty() || blocks.count * blocks.images == 0 || self.width == 0 {
            return;
        }
        let (act, size) = (self.act, self.elem.bytes());
        let (row, (of_sums, of_all)) = (self.width * size, act.lines());
        assert!(sums.len() == of_sums && of_sums + numbers.len() == of_all, "{} sums and {} lines for {act:?}", sums.len(), numbers.len());
        assert!(matrices.len() == act.matrices().len(), "{} matrices for {act:?}", matrices.len());
        assert!(!act.has_bits() || !self.masked, "bits of {} columns", self.width);
        let row_of = |m: usize| if m == BITS { self.width / 8 } else { row };
        let [block_of, image_of] = [blocks.distance, blocks.image].map(|n| move |m: usize| if m == BITS { n / 8 } else { n * size });
        let mut first = [std::ptr::null_mut::<u8>(); BITS + 1];
        for (m, (buf, start)) in act.matrices().iter().zip(matrices) {
            let steps = [(blocks.images, image_of(*m)), (blocks.count, block_of(*m)), (rows.end, row_of(*m))];
            first[*m] = Written::from(*buf).at("matrix", *start, reach(&steps, row_of(*m)));
        }
        let line = self.width.checked_mul(blocks.count).and_then(|n| n.checked_mul(size_of::<f32>()));
        let mut lines = [std::ptr::null_mut::<f32>(); LINES];
        let of_sums = sums.iter_mut().map(|s| Written::from(&mut **s).at("sums", 0, line));
        for (to, line) in lines.iter_mut().zip(of_sums.chain(numbers.iter().map(|n| Read::from(*n).at("line", 0, line).cast_mut()))) {
            *to = line.cast();
        }
        let one = self.parts.len() == 1 && self.parts[0].groups == 1;
        let calls = if one { 1 } else { blocks.count };
        let each = match act.lines().0 {
            _ if one => rows.len(),
            // Memory is read in order. Rows stored side by side, parts of lines each, evict each other from the buffers that combine non-temporal stores.
            sums if self.far => {
                if sums == 0 {
                    1
                } else {
                    LEAST_BYTES.div_ceil(self.parts[0].each * size)
                }
            }
            sums => (L1_BYTES / row).max(if sums == 0 { ROWS_PER_CALL } else { 2 * ROWS_PER_CALL }),
        };
        // A kernel for all columns goes to the next rows by itself, or to those of the next image.
        let most = if self.parts.len() == 1 { (rows.len() / each * each).max(each) } else { each };
        let (together, images) = if one { (blocks.images, 1) } else { (1, blocks.images) };
        for (i, start) in (0..images * calls).flat_map(|i| rows.clone().step_by(most).map(move |start| (i, start))) {
            let (image, block) = (i / calls, i % calls);
            let all = most.min(rows.end - start);
            let count = each.min(all);
            let times = if one { together } else { all / count };
            let next = |count: usize, m: usize| if one { image_of(m) } else { count * row_of(m) };
            for (i, part) in self.parts.iter().enumerate() {
                let (groups, columns) = if one { (blocks.count, blocks.distance) } else { (part.groups, part.each) };
                let matrix = |m: usize| {
                    let column = if m == BITS { part.first / 8 } else { part.first * size };
                    first[m].wrapping_add(image * image_of(m) + block * block_of(m) + start * row_of(m) + column)
                };
                let args = Args {
                    matrices: std::array::from_fn(matrix),
                    row,
                    row_of_bits: row_of(BITS),
                    rows: count,
                    times,
                    next: next(count, 0).wrapping_sub(groups * columns * size),
                    next_of_bits: next(count, BITS).wrapping_sub(groups * columns / 8),
                    groups,
                    group: (columns * size).wrapping_sub(count * row),
                    group_of_bits: (columns / 8).wrapping_sub(count * row_of(BITS)),
                    width: part.columns,
                    last: usize::from(i + 1 == self.parts.len() && start + all == rows.end),
                    columns: lines.map(|line| line.wrapping_add(block * self.width + part.first)),
                };
                let bytes = part.each * size;
                let is_aligned = (args.matrices[RESULT].addr() | row | (columns * size)).is_multiple_of(bytes.min(64));
                let entry = part.streaming.as_ref().filter(|_| is_aligned).unwrap_or(&part.entry);
                // SAFETY: the kernel accesses the rows and lines that were checked, and writes to results, bits and sums alone.
                unsafe { entry.call(&args) }
            }
        }
    }
}
