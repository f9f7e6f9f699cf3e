//! A panel of a step: its products, and the kernel that turns their sums into gates and states.

use super::cell::{Call, Field, Numbers, Place as Memory};
use super::cut::Place;
use super::forward::{Code, Forward, States};
use super::sizes::Panels;
use super::skinny::{Group, Ready, Rows};
use crate::kernels::multiversion::Simd;
use oxidnn_runtime::Buf;
use oxidnn_spec::op::RnnCell;
use std::ops::Range;

/// What the tasks of an execution share.
pub(super) struct Run<'a> {
    pub(super) plan: &'a Forward,
    pub(super) code: &'a Code,
    pub(super) simd: Simd,
    /// Weights of the state, and of the projection.
    pub(super) iter: Buf<'a>,
    pub(super) projection: Buf<'a>,
    pub(super) lines: ByChannel<'a>,
    pub(super) workspace: Option<Buf<'a>>,
    /// Gates by direction, panel, time, sample and gate: the products of the layer's input, replaced by values that a second phase needs.
    pub(super) gates: Buf<'a>,
    /// States that the layer produces.
    pub(super) sequence: States<'a>,
    /// States before the first step, and whether they are zeros, whose products are skipped.
    pub(super) first: States<'a>,
    pub(super) begins_with_zeros: bool,
    /// Cells by direction and sample.
    pub(super) cell: Buf<'a>,
    /// Reset states, or states before their projection.
    pub(super) middle: States<'a>,
}

/// What cells need besides sums.
pub(super) struct ByChannel<'a> {
    /// Bias by stack, panel and gate; or for integer sums what is subtracted from them, their factors, and, by stack and panel, whether
    /// a panel of the recurrent weights has seven bits, see [`quantised::Lines`](super::quantised::Lines).
    pub(super) bias: &'a [f32],
    pub(super) whole: [&'a [f32]; 3],
    /// The same three for the projection's sums, by stack and panel.
    pub(super) projected: [&'a [f32]; 3],
    pub(super) peephole: &'a [f32],
    /// The share of the update gate that attention leaves, by time and sample.
    pub(super) shares: &'a [f32],
    pub(super) numbers: Numbers,
}

/// A panel of a step.
#[derive(Clone, Copy)]
pub(super) struct Step<'p> {
    pub(super) l: usize,
    pub(super) t: usize,
    /// The times of the steps before and after, if there are any.
    pub(super) before: Option<usize>,
    pub(super) after: Option<usize>,
    pub(super) place: &'p Place,
}

/// The columns of a panel that tiles take at a time, or all columns of some panels of the projection.
#[derive(Clone, Copy)]
struct Piece {
    /// Its first column, within the panel or panels.
    column: usize,
    /// Its first channel, and number of channels.
    first: usize,
    channels: usize,
}

impl<'a> Run<'a> {
    /// Panels with what is known about their bits, which are inspected now if a single step uses them.
    fn with_bits(&self, skinny: &Ready, group: Group<'a>, bits: Option<&[f32]>) -> Group<'a> {
        match bits {
            Some(bits) if bits.iter().any(|bit| *bit < 0.0) => skinny.with_bits(self.simd, group),
            Some(bits) => Group { seven_bits: bits.iter().all(|bit| *bit > 0.0), ..group },
            None => group,
        }
    }

    /// Computes a panel of a step, or some of the projection's, with the worker's scratch.
    pub(super) fn panel(&self, step: &Step<'_>, share: &mut [f32]) {
        let (plan, Place { d, rows, phase, panel, .. }) = (self.plan, step.place);
        let stack = self.stack(step);
        let gates = if plan.second.is_some() && plan.projection.is_none() { 2 } else { plan.z.gates };
        let of_state = |skinny: &Ready, gates: Range<usize>| {
            let first = stack * plan.gates.count + panel;
            self.with_bits(skinny, plan.iter.group(self.iter, (stack, *panel), gates), self.lines.whole[2].get(first..=first))
        };
        let skips = *phase == 0 && step.before.is_none() && self.begins_with_zeros;
        let (skinny, a, b, pieces) = match (&self.code.second, &plan.projection) {
            (Some(second), Some(weights)) if *phase == 1 => {
                let panels = plan.projected_panels(*panel);
                let first = stack * plan.outputs.count + panels.start;
                // A panel has a single gate here, so the next panel is where another gate would be.
                let b = weights.group(self.projection, (stack, panels.start), 0..panels.len());
                let b = self.with_bits(second, b, self.lines.projected[2].get(first..first + panels.len()));
                (second, self.middle.rows(*d, 0), b, Pieces::new((plan.outputs, plan.z.dic), panels, second))
            }
            (Some(second), None) if *phase == 1 => {
                (second, self.middle.rows(*d, 0), of_state(second, 2..3), Pieces::new((plan.gates, plan.z.dhc), *panel..panel + 1, second))
            }
            _ => {
                let skinny = &self.code.skinny;
                let b = if skips { plan.iter.group(self.iter, (stack, *panel), 0..gates) } else { of_state(skinny, 0..gates) };
                (skinny, self.before(step), b, Pieces::new((plan.gates, plan.z.dhc), *panel..panel + 1, skinny))
            }
        };
        let line = b.count * pieces.width;
        if skips {
            share[..rows.len() * line].fill(0.0);
        } else {
            skinny.run((&a, rows.clone()), &[[0, 0]], &b, (share, line));
        }
        for piece in pieces.all() {
            self.cell(step, piece, &share[b.count * piece.column..], line);
        }
    }

    fn stack(&self, step: &Step<'_>) -> usize {
        step.l * self.plan.z.directions + step.place.d
    }

    /// The states before a step.
    fn before(&self, step: &Step<'_>) -> Rows<'a> {
        step.before.map_or(self.first.rows(step.place.d, 0), |t| self.sequence.rows(step.place.d, t))
    }

    /// Turns the sums of a piece of a panel into gates and states.
    fn cell(&self, step: &Step<'_>, piece: Piece, sums: &[f32], line: usize) {
        let (plan, z) = (self.plan, &self.plan.z);
        let Place { d, rows, phase, panel, .. } = step.place;
        let cell = self.code.cells[*phase].as_ref().unwrap_or_else(|| panic!("no kernel of phase {phase} was made"));
        let Panels { width, count } = plan.gates;
        let (padded, size) = (width * count, plan.state.bits() / 8);
        let channel = panel * width + piece.column;
        let mut call = Call::new(rows.len(), piece.channels, &self.lines.numbers);
        call.set(Field::Sums, Memory::rows(sums, 0, line));
        let states = |states: States<'a>, t: usize, first: usize| {
            let Rows { buf, start, row } = states.rows(*d, t);
            Memory::new(buf, start + rows.start * row + first * size, row)
        };
        let middle = *phase == 0 && (plan.projection.is_some() || plan.resets_first());
        call.set(Field::State, if middle { states(self.middle, 0, channel) } else { states(self.sequence, step.t, piece.first) });
        self.keep(step, piece, &mut call);
        if plan.projection.is_some() && *phase == 1 {
            let first = self.stack(step) * plan.outputs.padded() + piece.first;
            call.set(Field::Shifts, Memory::line(self.lines.projected[0], first));
            call.set(Field::Factors, Memory::line(self.lines.projected[1], first));
            return cell.run(&call);
        }
        let gates = ((d * count + panel) * z.time + step.t) * z.batch + rows.start;
        call.set(Field::Inputs, Memory::new(self.gates, (gates * z.gates * width + piece.column) * 4, z.gates * width * 4));
        let by_gate = |gates: usize| (self.stack(step) * count + panel) * gates * width + piece.column;
        call.set(Field::Bias, Memory::line(self.lines.bias, by_gate(z.bias_gates)));
        call.set(Field::Shifts, Memory::line(self.lines.whole[0], by_gate(z.gates)));
        call.set(Field::Factors, Memory::line(self.lines.whole[1], by_gate(z.gates)));
        call.set(Field::Peephole, Memory::line(self.lines.peephole, by_gate(3)));
        let cells = plan.cell.bits() / 8;
        call.set(Field::Cell, Memory::new(self.cell, ((d * z.batch + rows.start) * padded + channel) * cells, padded * cells));
        call.set(Field::Before, step.before.map_or(states(self.first, 0, channel), |t| states(self.sequence, t, channel)));
        call.set(Field::Share, Memory::rows(self.lines.shares, step.t * z.batch + rows.start, 1));
        cell.run(&call);
    }

    /// The places in the workspace.
    fn keep(&self, step: &Step<'_>, piece: Piece, call: &mut Call<'a>) {
        let (Some(workspace), plan) = (self.workspace, self.plan) else { return };
        let (z, row) = (&plan.z, plan.workspace_row);
        let sample = (self.stack(step) * z.time + step.t) * z.batch + step.place.rows.start;
        let place = |field: usize| Memory::new(workspace, (sample * row + field + piece.first) * 4, row * 4);
        let state = z.gates * z.dhc;
        call.kept_gate = z.dhc * 4;
        call.set(Field::Gates, place(0));
        call.set(Field::KeptState, place(state));
        call.set(Field::KeptCell, place(state + z.dic));
        let cell = if plan.op.cell == RnnCell::Lstm { z.dhc } else { 0 };
        call.set(Field::Extra, place(state + z.dic + cell));
    }
}

/// The pieces in which the sums of one panel, or of several consecutive ones, are processed.
struct Pieces {
    /// Columns of a panel.
    width: usize,
    /// First channel, number of channels, channels of a piece.
    first: usize,
    channels: usize,
    columns: usize,
}

impl Pieces {
    /// The pieces of panels with `channels` channels in all; the sums of several panels must be contiguous.
    fn new((all, channels): (Panels, usize), panels: Range<usize>, skinny: &Ready) -> Pieces {
        let (first, columns) = (panels.start * all.width, panels.len() * all.width);
        let channels = columns.min(channels.saturating_sub(first));
        Pieces { width: all.width, first, channels, columns: if panels.len() > 1 { columns } else { skinny.columns() } }
    }

    /// The pieces that have channels.
    fn all(&self) -> impl Iterator<Item = Piece> {
        let Pieces { first, channels, columns, .. } = *self;
        (0..channels).step_by(columns).map(move |column| Piece { column, first: first + column, channels: columns.min(channels - column) })
    }
}
