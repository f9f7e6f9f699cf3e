//! Weighted sums of lines in generated code: safe to run, since every address is checked before it is used.

use super::code;
use super::extent::{Read, Written, reach};
use super::microkernel::EpilogueArgs;
use super::microkernel::epilogue::Results;
use super::strip::{Finished, WithEpilogue};
use oxidnn_jit::kernels::blend::{Args, Blend, Tap};
use oxidnn_jit::{Entry, Isa};
use oxidnn_runtime::Buf;
use oxidnn_spec::Error;

/// The key of a kernel.
pub type Spec = WithEpilogue<Blend>;

/// The columns of a row: the taps of each, by byte offset from the begin of a line.
#[derive(Clone, Default, Debug)]
pub struct Columns {
    taps: Vec<Tap>,
    counts: Vec<usize>,
    /// The farthest tap; `None` without taps.
    most: Option<usize>,
    /// Whether columns have different numbers of taps.
    uneven: bool,
}

impl Columns {
    /// Adds a column.
    pub fn push(&mut self, taps: impl Iterator<Item = Tap>) {
        let start = self.taps.len();
        self.taps.extend(taps);
        self.counts.push(self.taps.len() - start);
        self.uneven |= self.counts.last() != self.counts.first();
        self.most = self.most.max(self.taps[start..].iter().map(|t| t.source).max());
    }

    /// Number of columns.
    pub fn count(&self) -> usize {
        self.counts.len()
    }

    /// Taps of all columns.
    pub fn taps(&self) -> usize {
        self.taps.len()
    }

    /// The number of taps of every column, if it is the same.
    pub fn each(&self) -> Option<u8> {
        self.counts.first().filter(|_| !self.uneven).and_then(|n| u8::try_from(*n).ok())
    }
}

/// The source or the result of a call.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    /// The memory.
    pub buf: Buf<'a>,
    /// The first byte.
    pub at: usize,
    /// Stride of groups of channels in bytes.
    pub group: usize,
}

/// The rows of a call.
#[derive(Debug)]
pub struct Call<'a> {
    /// The columns.
    pub columns: &'a Columns,
    /// The source.
    pub source: Side<'a>,
    /// The result, and the stride of its columns in bytes.
    pub result: (Side<'a>, usize),
    /// Byte offsets of the farthest line of the source, and of the farthest row.
    pub farthest: [usize; 2],
    /// Number of channels.
    pub channels: usize,
    /// Operands of the epilogue.
    pub epilogue: &'a EpilogueArgs<'a>,
    /// The column of these operands that belongs to the first channel.
    pub channel: usize,
}

/// A kernel.
#[derive(Clone, Debug)]
pub struct Blender {
    entry: Entry<Finished<Args>>,
    spec: Spec,
    lanes: usize,
}

/// A kernel with what all rows have in common, already checked.
#[derive(Debug)]
pub struct Rows<'a> {
    blender: &'a Blender,
    call: &'a Call<'a>,
    args: Finished<Args>,
    result: *mut u8,
}

impl Blender {
    /// The kernel for `spec`.
    ///
    /// # Errors
    /// As for [`code::get`].
    pub fn get(isa: Isa, spec: &Spec) -> Result<Blender, Error> {
        Ok(Blender { entry: code::get(isa, spec)?, spec: spec.clone(), lanes: isa.width().lanes() })
    }

    /// Prepares for rows; `None` without channels or columns.
    ///
    /// # Panics
    /// If an address is outside its buffer, or columns do not have the kernel's number of taps.
    pub fn bind<'a>(&'a self, call: &'a Call<'a>) -> Option<Rows<'a>> {
        let (blend, vectors) = (&self.spec.sums, usize::from(self.spec.sums.vectors));
        let (group, columns) = (vectors * self.lanes, call.columns.counts.len());
        if call.channels == 0 || columns == 0 {
            return None;
        }
        let groups = call.channels.div_ceil(group);
        let whole = call.channels.is_multiple_of(group);
        // The last vector of the last group may be partial.
        let part = blend.masked && call.channels.div_ceil(self.lanes).is_multiple_of(vectors);
        assert!(whole || part, "{} channels are not whole groups of {group}", call.channels);
        assert!(blend.taps.is_none() || blend.taps == call.columns.each(), "columns of other taps than {blend:?}");
        assert!(blend.lines.is_none() || blend.taps.is_some(), "lines of columns of any taps: {blend:?}");
        assert!(!blend.copies || blend.taps == Some(1), "columns that are no copies: {blend:?}");
        let last = call.channels - (groups - 1) * group;
        let [line, row] = call.farthest;
        let source = call.columns.most.map_or(std::ptr::null(), |tap| {
            let end = reach(&[(groups, call.source.group)], last * blend.source.bytes());
            let end = end.and_then(|end| end.checked_add(line)?.checked_add(tap));
            Read::from(call.source.buf).at("source", call.source.at, end)
        });
        let (result, column) = call.result;
        let size = self.spec.epilogue.dst_size();
        let to = reach(&[(groups, result.group), (columns, column)], last * size).and_then(|to| to.checked_add(row));
        let at = Written::from(result.buf).at("result", result.at, to);
        let args = Args {
            lines: std::ptr::null(),
            count: 0,
            taps: call.columns.taps.as_ptr(),
            counts: call.columns.counts.as_ptr(),
            columns,
            groups,
            channels: call.channels,
            source,
            group: call.source.group,
            result: at,
            result_column: column,
            result_group: result.group,
            result_vector: self.lanes * size,
            last: 1,
        };
        let results = Results { column: call.channel, channels: groups * group, at, reach: to };
        Some(Rows { blender: self, call, args: Finished::new(args, &self.spec.epilogue, call.epilogue, results), result: at })
    }
}

impl Rows<'_> {
    /// Computes and stores the row at byte offset `row` from the first: the sum of the given lines. With `last`, non-temporal stores become
    /// visible to other threads.
    ///
    /// # Panics
    /// If the row or a line is farther than the call said, a copy does not have exactly one line, or a result for non-temporal stores is
    /// not aligned.
    pub fn run(&mut self, row: usize, lines: &[Tap], last: bool) {
        let [farthest, end] = self.call.farthest;
        assert!(row <= end && lines.iter().all(|line| line.source <= farthest), "row {row} of {lines:?}: {:?}", self.call);
        let blend = &self.blender.spec.sums;
        assert!(!blend.copies || lines.len() == 1, "{} lines that are no copies", lines.len());
        assert!(blend.lines.is_none_or(|count| lines.len() == usize::from(count)), "{} lines: {blend:?}", lines.len());
        if blend.streaming {
            let Args { result_column, result_group, .. } = self.args.args;
            let places = [self.result.addr() + row, result_column, result_group];
            assert!(
                places.iter().all(|at| at.is_multiple_of(self.blender.lanes * size_of::<f32>())),
                "vectors that are no whole ones: {places:?}"
            );
        }
        self.args.args.lines = lines.as_ptr();
        self.args.args.count = if self.call.columns.most.is_some() { lines.len() } else { 0 };
        self.args.args.result = self.result.wrapping_add(row);
        self.args.args.last = usize::from(last);
        // SAFETY: lines, taps and counts are as many as the arguments say, and source and result were checked for all bytes from the first
        // row and line to the farthest.
        unsafe { self.blender.entry.call(&self.args) }
    }
}
