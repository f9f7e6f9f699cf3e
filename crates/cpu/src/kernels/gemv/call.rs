//! Calls of generated kernels. One of the few files with unsafe code: a call is made after every address that it reaches has been checked.

use crate::kernels::code;
use crate::kernels::extent::{Read, Written};
use oxidnn_jit::ir::Elem;
use oxidnn_jit::kernels::gemv::{Args, Gemv, Layout, Scales};
use oxidnn_jit::kernels::unpack::{self, RowArgs, Unpack, UnpackRows};
use oxidnn_jit::{Entry, Isa};
use oxidnn_runtime::Buf;
use oxidnn_spec::{DataType, Error};

/// Most columns of a panel that is unpacked from rows.
pub(super) const MAX_COLUMNS: usize = 64;

#[cfg(test)]
mod tests;

/// A kernel that is ready to run.
#[derive(Clone, Debug)]
pub(super) struct Ready {
    gemv: Gemv,
    lanes: usize,
    entry: Entry<Args>,
}

/// Scales or zero points of groups.
#[derive(Clone, Copy, Debug)]
pub(super) struct Column<'a> {
    /// The elements, from the first group's on.
    pub(super) buf: Buf<'a>,
    /// Stride of groups in bytes.
    pub(super) row: usize,
    /// Their type.
    pub(super) dtype: DataType,
}

impl<'a> Column<'a> {
    /// Those from a group and a column on.
    pub(super) fn behind(self, group: usize, column: usize) -> Column<'a> {
        let begin = group * self.row + column * self.dtype.bits() / 8;
        Column { buf: self.buf.part(begin, self.buf.len() - begin), ..self }
    }
}

/// The operands of a call; see [`Layout`] for their layout.
#[derive(Clone, Copy, Debug)]
pub(super) struct On<'a> {
    /// Words of `A`, and words from row to row if `A` is stored by rows.
    pub(super) a: &'a [f32],
    pub(super) a_row: usize,
    /// The weights, from the first word on.
    pub(super) b: Buf<'a>,
    /// Stride of panels, rows or columns of weights in bytes.
    pub(super) b_row: usize,
    /// Number of groups, or of groups of rows or columns.
    pub(super) groups: usize,
    /// Lines of a group, or whole vectors of a row or column.
    pub(super) count: usize,
    /// If columns are scaled: parts of a column, of `count` vectors each; else 0.
    pub(super) parts: usize,
    /// Words of the last vector, if the kernel is masked.
    pub(super) last: usize,
    /// Scales of groups.
    pub(super) scale: Option<Column<'a>>,
    /// Zero points of groups.
    pub(super) zero: Option<Column<'a>>,
    /// Sums of `A` in each group.
    pub(super) a_sums: &'a [f32],
}

impl<'a> On<'a> {
    /// No groups of `b` yet.
    pub(super) fn new(a: &'a [f32], b: Buf<'a>) -> On<'a> {
        On { a, a_row: 0, b, b_row: 0, groups: 0, count: 0, parts: 0, last: 0, scale: None, zero: None, a_sums: &[] }
    }
}

impl Ready {
    /// The kernel, generated if it does not exist yet.
    ///
    /// # Errors
    /// As for [`code::get`].
    pub(super) fn get(isa: Isa, gemv: Gemv) -> Result<Ready, Error> {
        Ok(Ready { gemv, lanes: isa.width().lanes(), entry: code::get(isa, &gemv)? })
    }

    /// Runs it; for panels, rows of `c` are `c_row` elements apart.
    ///
    /// # Panics
    /// If an operand is shorter than the kernel reaches.
    pub(super) fn run(&self, on: &On<'_>, c: &mut [f32], c_row: usize) {
        self.run_on(Read::from(on.a), on, c, c_row);
    }

    /// The same with `a` in place of the words of `A`.
    ///
    /// # Panics
    /// As [`Ready::run`].
    pub(super) fn run_on(&self, a: Read<'_>, on: &On<'_>, c: &mut [f32], c_row: usize) {
        let reach = self.reach(on, c_row);
        let column = |of: Option<Column>, bytes: usize| of.map_or(std::ptr::null(), |c| Read::from(c.buf).at("column", 0, Some(bytes)));
        let unroll = if matches!(self.gemv.layout, Layout::Panel { .. }) { self.gemv.unroll() } else { 1 };
        let args = Args {
            a: a.at("A", 0, reach.a.checked_mul(4)),
            b: Read::from(on.b).at("B", 0, Some(reach.b)),
            c: Written::from(c).at("C", 0, reach.c.checked_mul(4)).cast(),
            a_row: on.a_row * 4,
            b_row: on.b_row,
            c_row: c_row * 4,
            groups: on.groups,
            blocks: if on.parts > 0 { on.count } else { on.count / unroll },
            rest: if on.parts > 0 { on.parts } else { on.count % unroll },
            last: on.last,
            scale: column(on.scale, reach.scale),
            scale_row: on.scale.map_or(0, |s| s.row),
            zero: column(on.zero, reach.zero),
            zero_row: on.zero.map_or(0, |z| z.row),
            a_sums: Read::from(on.a_sums).at("sums of A", 0, reach.a_sums.checked_mul(4)).cast(),
        };
        // SAFETY: the kernel reads and writes no farther than `reach` says, which was checked against the operands.
        unsafe { self.entry.call(&args) }
    }

    /// How far a call reaches: elements of `a`, `c` and the sums, bytes of the other operands.
    fn reach(&self, on: &On<'_>, c_row: usize) -> Reach {
        let Gemv { decode, rows, layout } = self.gemv;
        let (rows, vector) = (usize::from(rows), self.lanes * 4);
        let groups = on.groups.max(1);
        // Tensor sizes are checked, so these products can overflow only in a wrong plan, which is then refused.
        let far = |first: usize, count: usize, each: usize| count.saturating_sub(1).saturating_mul(each).saturating_add(first);
        let columns = |masked: bool| on.count * vector + if masked { on.last.min(self.lanes) * 4 } else { 0 };
        match layout {
            Layout::Panel { line, vectors, panels, groups: quantised } => {
                let (lines, panels) = (groups.saturating_mul(on.count), usize::from(panels));
                let each = usize::from(vectors) * self.lanes;
                let columns = panels * each;
                let quantised = quantised.map(|q| (q.scale, q.zero)).unwrap_or_default();
                let column = |elem: Option<Elem>, of: Option<Column>| match (elem, of) {
                    (Some(elem), Some(of)) => far(columns * elem.bytes(), groups, of.row),
                    (Some(_), None) => panic!("a kernel with quantisation that is not there"),
                    (None, _) => 0,
                };
                Reach {
                    a: lines.saturating_mul(decode.line_parts() * rows),
                    b: if lines == 0 {
                        0
                    } else {
                        let panel = far(each * decode.line_bytes(), lines, usize::from(line) * self.lanes * decode.line_bytes());
                        far(panel, panels, on.b_row)
                    },
                    c: far(columns, rows, c_row),
                    scale: column(quantised.0, on.scale),
                    zero: column(quantised.1, on.zero),
                    a_sums: if quantised.1.is_some() { groups * rows } else { 0 },
                }
            }
            Layout::Rows { lines, masked } => {
                let taken = on.groups.saturating_mul(usize::from(lines));
                let row = columns(masked) / 4 * decode.in_lane() * decode.stored.bits() / 8;
                Reach {
                    a: taken.saturating_mul(rows),
                    b: if taken == 0 { 0 } else { far(row, taken, on.b_row) },
                    c: (on.count + usize::from(masked)).saturating_mul(decode.in_lane() * rows * self.lanes),
                    ..Reach::default()
                }
            }
            Layout::Columns { columns: taken, masked, scales } => {
                let results = usize::from(taken) * rows;
                let taken = on.groups.saturating_mul(usize::from(taken));
                let vectors = on.count.saturating_mul(on.parts.max(1)) + usize::from(masked);
                let column = on.count.saturating_mul(on.parts.max(1)).saturating_mul(vector) + columns(masked) - columns(false);
                let scale = |s: Scales| {
                    assert!(on.scale.is_some() && on.parts > 0, "a kernel with scales that are not there");
                    let groups = on.parts.saturating_mul(usize::from(s.in_vector));
                    far(taken.saturating_mul(s.elem.bytes()), groups, on.scale.map_or(0, |of| of.row))
                };
                Reach {
                    a: if decode.parts() == 1 {
                        far(column / 4, rows, on.a_row)
                    } else {
                        vectors.saturating_mul(decode.parts() * rows * self.lanes)
                    },
                    b: if taken == 0 { 0 } else { far(column, taken, on.b_row) },
                    c: if taken == 0 { 0 } else { far(results.next_multiple_of(self.lanes), on.groups, results) },
                    scale: scales.map_or(0, scale),
                    ..Reach::default()
                }
            }
        }
    }
}

#[derive(Clone, Copy, Default, Debug)]
struct Reach {
    a: usize,
    b: usize,
    c: usize,
    scale: usize,
    zero: usize,
    a_sums: usize,
}

/// A kernel that unpacks, ready to run.
#[derive(Clone, Debug)]
pub(super) struct Unpacker {
    spec: Unpack,
    columns: usize,
    entry: Entry<unpack::Args>,
}

impl Unpacker {
    /// The kernel, generated if it does not exist yet.
    ///
    /// # Errors
    /// As for [`code::get`].
    pub(super) fn get(isa: Isa, spec: Unpack) -> Result<Unpacker, Error> {
        Ok(Unpacker { spec, columns: usize::from(spec.line) * isa.width().lanes(), entry: code::get(isa, &spec)? })
    }

    /// Unpacks `lines` lines, with the scales and zero points of their group.
    ///
    /// # Panics
    /// If an operand is too short.
    pub(super) fn run(&self, from: Buf, lines: usize, [scale, zero]: [Option<Buf>; 2], to: &mut [f32]) {
        if lines == 0 {
            return;
        }
        let line = self.columns.checked_mul(4);
        let words = line.and_then(|line| line.checked_mul(lines));
        let numbers = words.and_then(|words| words.checked_mul(self.spec.lines()));
        let column = |of: Option<Buf>, elem: Option<Elem>| match (of, elem) {
            (Some(of), Some(elem)) => Read::from(of).at("column", 0, self.columns.checked_mul(elem.bytes())),
            (None, Some(_)) => panic!("a kernel with quantisation that is not there"),
            (_, None) => std::ptr::null(),
        };
        let (scale, zero) = (column(scale, self.spec.scale), column(zero, self.spec.zero));
        let (from, to) = (Read::from(from).at("lines", 0, words), Written::from(to).at("numbers", 0, numbers).cast());
        let args = unpack::Args { from, to, lines, scale, zero };
        // SAFETY: the kernel reads this many lines and a vector of columns, and writes the elements that were checked.
        unsafe { self.entry.call(&args) }
    }
}

/// A kernel that unpacks rows, ready to run.
#[derive(Clone, Debug)]
pub(super) struct RowUnpacker {
    spec: UnpackRows,
    columns: usize,
    entry: Entry<RowArgs>,
}

/// Rows of weights: a panel's part of the first one begins at a byte offset.
#[derive(Clone, Copy, Debug)]
pub(super) struct WeightRows<'a> {
    pub(super) buf: Buf<'a>,
    pub(super) start: usize,
    /// Bytes from a row to the next.
    pub(super) distance: usize,
}

impl RowUnpacker {
    /// The kernel, generated if it does not exist yet.
    ///
    /// # Errors
    /// As for [`code::get`].
    pub(super) fn get(isa: Isa, spec: UnpackRows) -> Result<RowUnpacker, Error> {
        Ok(RowUnpacker { spec, columns: usize::from(spec.line) * isa.width().lanes(), entry: code::get(isa, &spec)? })
    }

    /// Bytes that are read where `depth` rows are unpacked; `None` on overflow.
    pub(super) fn reach(&self, rows: &WeightRows<'_>, depth: usize) -> Option<usize> {
        rows.distance.checked_mul(depth.checked_sub(1)?)?.checked_add(self.columns * self.spec.stored.bits() / 8)
    }

    /// Unpacks `depth` rows, an even number for pairs, with zero points and scales by column.
    ///
    /// # Panics
    /// If an operand is too short.
    pub(super) fn run(&self, rows: WeightRows<'_>, depth: usize, factors: &[[f32; MAX_COLUMNS]; 2], to: &mut [f32]) {
        let lines = if self.spec.pairs { depth / 2 } else { depth };
        if lines == 0 {
            return;
        }
        let columns = self.columns * size_of::<f32>();
        let numbers = lines.checked_mul(columns);
        let from = Read::from(rows.buf).at("rows", rows.start, self.reach(&rows, depth));
        let [zero, scale] = [0, 1].map(|i| Read::from(&factors[i][..]).at("column", 0, Some(columns)).cast());
        let args = RowArgs { from, row: rows.distance, to: Written::from(to).at("numbers", 0, numbers).cast(), lines, zero, scale };
        // SAFETY: the kernel reads these rows and a vector of columns, and writes the elements that were checked.
        unsafe { self.entry.call(&args) }
    }
}
