//! Postgemm: generated kernels that turn the sums of a step into gates and states, one pass over rows and vectors of channels, everything in
//! registers from the sums to the state. Formulas are those of `oxidnn_expr`.
//!
//! In a row of sums, gates are at one stride; in what is stored by panel (products of the layer's input, bias, peephole weights) at
//! another. These two strides are all that the code knows of sizes. One of the few files with unsafe code: a call checks its addresses
//! against its buffers.

#[cfg(test)]
mod tests;
mod write;

use crate::kernels::code::{self, Key};
use crate::kernels::extent::{Written, reach};
use oxidnn_jit::ir::Elem;
use oxidnn_jit::{Entry, Function, Isa};
use oxidnn_runtime::Buf;
use oxidnn_spec::op::RnnActivation;
use oxidnn_spec::{Error, Real};

/// What a pass computes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Pass {
    /// The state of a vanilla cell; with the slope of ReLU.
    Vanilla(RnnActivation, Real),
    /// Gates, cell and state of an LSTM.
    Lstm {
        /// With peephole weights.
        peephole: bool,
        /// Whether the state goes to a projection, and so is not the step's state.
        projected: bool,
    },
    /// The projected state.
    Projection,
    /// Update and reset gates of a GRU, and the reset state. The update gate replaces the input's products.
    GruPart1,
    /// The candidate and the state of a GRU.
    GruPart2,
    /// All of a GRU whose reset gate is applied after the product (linear before reset).
    LbrGru,
}

impl Pass {
    /// Gates in the sums.
    const fn gates(self) -> usize {
        match self {
            Pass::Vanilla(..) | Pass::Projection | Pass::GruPart2 => 1,
            Pass::GruPart1 => 2,
            Pass::LbrGru => 3,
            Pass::Lstm { .. } => 4,
        }
    }
}

/// The key of a kernel: all that its code depends on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Spec {
    /// The pass.
    pub(super) pass: Pass,
    /// Channels from a gate to the next in the sums.
    pub(super) columns: u16,
    /// The same in what is stored by panel.
    pub(super) width: u16,
    /// Types of states and of cells.
    pub(super) state: Elem,
    pub(super) cell: Elem,
    /// Whether sums are i32, which factors convert to floating point.
    pub(super) whole: bool,
    /// Whether gates and states are stored in the workspace.
    pub(super) training: bool,
    /// Whether attention gives a share of the update gate by row.
    pub(super) attention: bool,
    /// Whether the last vectors of a row may have fewer channels than lanes, see [`vectors`].
    pub(super) masked: bool,
    /// Whether activations are multiplications by factors of the call.
    pub(super) linear: bool,
}

/// The operands of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Field {
    /// Sums of the products of the state.
    IterGemm,
    /// Products of the layer's input.
    LayerGemm,
    /// Bias by gate.
    Bias,
    /// For integer sums: what is subtracted for the shift of states, and factors to floating point, by gate.
    Shifts,
    Factors,
    Peephole,
    Cell,
    /// States before the step.
    StateBefore,
    /// States of the step; or reset states, or states before their projection.
    State,
    /// The share of the update gate that attention leaves, one for each row.
    Attention,
    /// Vectors of the workspace: the first gate, the state, the cell, and what some cells need besides.
    WsGates,
    WsState,
    WsCell,
    WsGrid,
}

impl Field {
    const ALL: [Field; 14] = {
        use Field::*;
        [IterGemm, LayerGemm, Bias, Shifts, Factors, Peephole, Cell, StateBefore, State, Attention, WsGates, WsState, WsCell, WsGrid]
    };
}

/// Memory of a field: byte offset of the first channel of the first row, and bytes from row to row and from panel to panel.
#[derive(Clone, Copy, Debug)]
pub(super) struct FieldMemory<'a> {
    buf: Buf<'a>,
    at: usize,
    row: usize,
    panel: usize,
}

impl<'a> FieldMemory<'a> {
    /// Memory that stays valid for the call; bytes from row to row and from panel to panel.
    pub(super) const fn new(buf: Buf<'a>, at: usize, [row, panel]: [usize; 2]) -> FieldMemory<'a> {
        FieldMemory { buf, at, row, panel }
    }

    /// Rows of elements that kernels read, from element `first` on; elements from row to row and from panel to panel.
    pub(super) fn rows(numbers: &'a [f32], first: usize, strides: [usize; 2]) -> FieldMemory<'a> {
        // SAFETY: the elements outlive the place, and kernels only read them.
        let buf = unsafe { Buf::new(numbers.as_ptr().cast_mut().cast(), size_of_val(numbers)) };
        FieldMemory::new(buf, first * 4, strides.map(|n| n * 4))
    }
}

/// Scalars of a call.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Scalars {
    /// Scale and shift of integer states.
    pub(super) scale: f32,
    pub(super) shift: f32,
    /// Factors of linear activations by gate, and of the cell.
    pub(super) linear: [f32; 5],
}

/// Rows of some channels.
#[derive(Debug)]
pub(super) struct Call<'a> {
    pub(super) rows: usize,
    pub(super) channels: usize,
    /// Channels from a panel to the next.
    pub(super) width: usize,
    /// Bytes from a gate to the next in the workspace.
    pub(super) kept_gate: usize,
    pub(super) numbers: &'a Scalars,
    fields: [FieldMemory<'a>; Field::ALL.len()],
}

impl<'a> Call<'a> {
    /// A call whose fields have no memory yet.
    pub(super) const fn new(rows: usize, (channels, width): (usize, usize), numbers: &'a Scalars) -> Call<'a> {
        Call { rows, channels, width, kept_gate: 0, numbers, fields: [FieldMemory::new(Buf::empty(), 0, [0; 2]); Field::ALL.len()] }
    }

    /// Gives a field its memory.
    pub(super) const fn set(&mut self, field: Field, place: FieldMemory<'a>) {
        self.fields[field as usize] = place;
    }
}

/// Arguments of a kernel.
#[repr(C)]
#[derive(Debug)]
pub(super) struct Args {
    rows: usize,
    /// Iterations of a row, each over some vectors.
    steps: usize,
    channels: usize,
    kept_gate: usize,
    at: [*mut u8; Field::ALL.len()],
    row: [usize; Field::ALL.len()],
    numbers: Scalars,
}

impl Key for Spec {
    type Args = Args;

    fn name(&self, isa: Isa) -> String {
        let pass = match self.pass {
            Pass::Vanilla(..) => "vanilla",
            Pass::Lstm { .. } => "lstm",
            Pass::Projection => "projection",
            Pass::GruPart1 => "gru_part1",
            Pass::GruPart2 => "gru_part2",
            Pass::LbrGru => "lbr_gru",
        };
        format!("postgemm.{pass}.{:?}.{}", self.state, isa.name()).to_lowercase()
    }

    fn write(&self, f: &mut Function) {
        match self.together(f.isa()) {
            1 => write::rows::<1>(self, f),
            _ => write::rows::<2>(self, f),
        }
    }
}

/// The bytes of a row of a field that a kernel accesses.
#[derive(Clone, Copy, Debug)]
struct Reach {
    /// Those before the channels of the last gate; for other fields all.
    before: usize,
    /// Those of a channel.
    channel: usize,
    /// Whether whole vectors of channels are accessed, even in part beyond the channels.
    padded: bool,
}

/// Vectors of a gate of `columns` columns that are computed together: with 16 registers one, whose gates fill them.
pub(super) fn vectors(isa: Isa, columns: usize) -> usize {
    if isa.avx512 && (columns / isa.width().lanes()).is_multiple_of(2) { 2 } else { 1 }
}

impl Spec {
    fn together(&self, isa: Isa) -> usize {
        vectors(isa, usize::from(self.columns))
    }

    /// The extent of a field that the pass accesses; `None` for fields that it does not.
    fn reach(&self, field: Field) -> Option<Reach> {
        let gates = |count: usize, distance: u16| Reach { before: (count - 1) * usize::from(distance) * 4, channel: 4, padded: true };
        let inputs = if self.pass == Pass::GruPart2 { 3 } else { self.pass.gates() };
        let wanted = |channel: usize| Reach { before: 0, channel, padded: !self.masked };
        let (lstm, projected, peephole) = match self.pass {
            Pass::Lstm { peephole, projected } => (true, projected, peephole),
            _ => (false, false, false),
        };
        let units = matches!(self.pass, Pass::GruPart1 | Pass::GruPart2 | Pass::LbrGru);
        let (there, reach) = match field {
            Field::IterGemm => (true, gates(self.pass.gates(), self.columns)),
            Field::LayerGemm => (self.pass != Pass::Projection, gates(inputs, self.width)),
            Field::Bias => (self.pass != Pass::Projection, gates(self.bias_gates(), self.width)),
            Field::Shifts | Field::Factors => (self.whole, gates(inputs, self.width)),
            Field::Peephole => (peephole, gates(3, self.width)),
            Field::Cell => (lstm, Reach { before: 0, channel: self.cell.bytes(), padded: true }),
            Field::StateBefore => (units, wanted(self.state.bytes())),
            Field::State => (true, wanted(self.state.bytes())),
            Field::Attention => (self.attention, Reach { before: 4, channel: 0, padded: false }),
            Field::WsGates => (self.training && self.pass != Pass::Projection, wanted(4)),
            Field::WsState => (self.training && !projected && self.pass != Pass::GruPart1, wanted(4)),
            Field::WsCell => (self.training && lstm, wanted(4)),
            Field::WsGrid => (self.training && (projected || self.pass == Pass::LbrGru), wanted(4)),
        };
        there.then_some(reach)
    }

    const fn bias_gates(&self) -> usize {
        match self.pass {
            Pass::GruPart2 => 3,
            Pass::LbrGru => 4,
            pass => pass.gates(),
        }
    }

    /// Number of gates, from the first on, that are stored in the workspace.
    const fn kept_gates(&self) -> usize {
        if matches!(self.pass, Pass::GruPart2) { 3 } else { self.pass.gates() }
    }
}

/// A kernel, ready to run.
#[derive(Clone, Debug)]
pub(super) struct Postgemm {
    entry: Entry<Args>,
    spec: Spec,
    /// Channels that are computed together.
    together: usize,
    reaches: [Option<Reach>; Field::ALL.len()],
}

impl Postgemm {
    /// The kernel for `spec`, generated if it does not exist yet.
    ///
    /// # Errors
    /// [`Error::Runtime`] if it cannot be generated.
    pub(super) fn get(isa: Isa, spec: &Spec) -> Result<Postgemm, Error> {
        let together = spec.together(isa) * isa.width().lanes();
        Ok(Postgemm { entry: code::get(isa, spec)?, spec: *spec, together, reaches: Field::ALL.map(|field| spec.reach(field)) })
    }

    /// Computes the states of some rows.
    ///
    /// # Panics
    /// When a field exceeds its buffer.
    pub(super) fn run(&self, call: &Call<'_>) {
        if call.rows == 0 || call.channels == 0 {
            return;
        }
        let mut args = Args {
            rows: call.rows,
            steps: 0,
            channels: 0,
            kept_gate: call.kept_gate,
            at: Field::ALL.map(|field| self.address(call, field)),
            row: call.fields.map(|p| p.row),
            numbers: *call.numbers,
        };
        for first in (0..call.channels).step_by(call.width) {
            args.channels = call.width.min(call.channels - first);
            args.steps = args.channels.div_ceil(self.together);
            // SAFETY: the fields hold what the kernel reads and writes in every panel, which was checked above; memory borrowed by a place
            // is only read.
            unsafe { self.entry.call(&args) }
            args.at.iter_mut().zip(&call.fields).for_each(|(at, place)| *at = at.wrapping_add(place.panel));
        }
    }

    /// The address of a field that the kernel accesses.
    #[inline]
    fn address(&self, call: &Call<'_>, field: Field) -> *mut u8 {
        let Some(Reach { before, channel, padded }) = self.reaches[field as usize] else { return std::ptr::null_mut() };
        let FieldMemory { buf, at, row, panel } = call.fields[field as usize];
        let gates = if field == Field::WsGates { self.spec.kept_gates() } else { 1 };
        let end = |panels: usize, channels: usize| {
            let channels = if padded { channels.next_multiple_of(self.together) } else { channels };
            let last = channel.checked_mul(channels)?.checked_add(before)?;
            reach(&[(call.rows, row), (gates, call.kept_gate), (panels, panel)], last)
        };
        let whole = (call.channels - 1) / call.width;
        let last = end(whole + 1, call.channels - whole * call.width);
        let all = if whole > 0 { last.zip(end(whole, call.width)).map(|(last, before)| last.max(before)) } else { last };
        Written::from(buf).at(field, at, all)
    }
}
