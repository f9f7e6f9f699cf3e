//! Weighted columns of lines by generated code: safe to run, since every address is checked before it is used.

use super::code;
use super::extent::{Read, Written, reach};
use super::strip::{Finished, Tailed};
use super::tile::TailArgs;
use super::tile::tail::Results;
use oxidnn_jit::kernels::blend::{Args, Blend, Tap};
use oxidnn_jit::{Entry, Isa};
use oxidnn_runtime::Buf;
use oxidnn_spec::Error;

/// What a kernel is made for.
pub type Spec = Tailed<Blend>;

/// The columns of a row: the taps of each, by their distances in bytes from where a line begins.
#[derive(Clone, Default, Debug)]
pub struct Columns {
    taps: Vec<Tap>,
    counts: Vec<usize>,
    /// The farthest tap; `None` without taps.
    most: Option<usize>,
}

impl Columns {
    /// Adds a column.
    pub fn push(&mut self, taps: impl Iterator<Item = Tap>) {
        let start = self.taps.len();
        self.taps.extend(taps);
        self.counts.push(self.taps.len() - start);
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

    /// The number of taps that every column has.
    pub fn each(&self) -> Option<u8> {
        let first = self.counts.first().filter(|n| self.counts.iter().all(|other| other == *n))?;
        u8::try_from(*first).ok()
    }
}

/// The source of a call, or its result.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    /// The memory, and the first byte.
    pub buf: Buf<'a>,
    /// As said.
    pub at: usize,
    /// Distance of groups of channels in bytes.
    pub group: usize,
}

/// One row.
#[derive(Debug)]
pub struct Call<'a> {
    /// The lines that are added.
    pub lines: &'a [Tap],
    /// The columns.
    pub columns: &'a Columns,
    /// The source.
    pub source: Side<'a>,
    /// The result, and the distance of its columns in bytes.
    pub result: (Side<'a>, usize),
    /// Number of channels.
    pub channels: usize,
    /// Operands of the tail.
    pub tail: &'a TailArgs<'a>,
    /// Which of their columns is the first channel's.
    pub channel: usize,
}

/// A kernel.
#[derive(Clone, Debug)]
pub struct Blender {
    entry: Entry<Finished<Args>>,
    spec: Spec,
    lanes: usize,
}

impl Blender {
    /// The kernel for `spec`.
    ///
    /// # Errors
    /// As for [`code::get`].
    pub fn get(isa: Isa, spec: &Spec) -> Result<Blender, Error> {
        Ok(Blender { entry: code::get(isa, spec)?, spec: spec.clone(), lanes: isa.width().lanes() })
    }

    /// Computes and stores a row.
    ///
    /// # Panics
    /// When an address lies outside its buffer, or columns have another number of taps than the kernel is for.
    pub fn run(&self, call: &Call<'_>) {
        let (blend, vectors) = (&self.spec.sums, usize::from(self.spec.sums.vectors));
        let (group, columns) = (vectors * self.lanes, call.columns.counts.len());
        if call.channels == 0 || columns == 0 {
            return;
        }
        let groups = call.channels.div_ceil(group);
        let whole = call.channels.is_multiple_of(group);
        assert!(whole || blend.masked && vectors == 1, "{} channels are not whole groups of {group}", call.channels);
        assert!(blend.taps.is_none() || blend.taps == call.columns.each(), "columns of other taps than {blend:?}");
        assert!(!blend.copies || blend.taps == Some(1) && call.lines.len() == 1, "columns that are no copies: {blend:?}");
        // The last group, where it is one vector, may be a part of it.
        let last = call.channels - (groups - 1) * group;
        let from = reach(&[(groups, call.source.group)], last * blend.source.bytes());
        let read = call.lines.iter().map(|line| line.source).max().zip(call.columns.most);
        let source = read.map_or(std::ptr::null(), |(line, tap)| {
            let end = from.and_then(|from| from.checked_add(line)?.checked_add(tap));
            Read::from(call.source.buf).at("source", call.source.at, end)
        });
        let (result, column) = call.result;
        let size = self.spec.tail.dst_size();
        let to = reach(&[(groups, result.group), (columns, column)], last * size);
        let at = Written::from(result.buf).at("result", result.at, to);
        let args = Args {
            lines: call.lines.as_ptr(),
            count: if read.is_some() { call.lines.len() } else { 0 },
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
        };
        let results = Results { column: call.channel, channels: groups * group, at, reach: to };
        let args = Finished::new(args, &self.spec.tail, call.tail, results);
        // SAFETY: lines, taps and counts are as many as the arguments say, and source and result were asked for all that these reach.
        unsafe { self.entry.call(&args) }
    }
}
