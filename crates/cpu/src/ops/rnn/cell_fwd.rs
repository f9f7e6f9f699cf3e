//! Some panels of a step: their products, and the kernel that turns their sums into gates and states.

use super::forward::{Code, Forward, TASK_WEIGHT_BYTES};
use super::partition::PanelTask;
use super::postgemm::{Call, Field, FieldMemory, Scalars};
use super::sizes::Panels;
use super::skinny::{Group, Rows};
use super::states::States;
use crate::kernels::multiversion::Simd;
use crate::kernels::scratch::Part;
use oxidnn_runtime::{Buf, Executor};
use oxidnn_spec::op::RnnCell;

/// What the tasks of an execution share.
pub(super) struct CellFwd<'a> {
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
    pub(super) cell: States<'a>,
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
    pub(super) numbers: Scalars,
}

/// A panel of a step.
#[derive(Clone, Copy)]
pub(super) struct Step<'p> {
    pub(super) l: usize,
    pub(super) t: usize,
    /// The times of the steps before and after, if there are any.
    pub(super) before: Option<usize>,
    pub(super) after: Option<usize>,
    pub(super) place: &'p PanelTask,
}

/// Channels whose sums tiles leave next to each other: those of some panels, or of a part of one.
#[derive(Clone, Copy)]
struct Piece {
    /// Its first panel, and first column within that.
    panel: usize,
    column: usize,
    channels: usize,
}

impl<'a> CellFwd<'a> {
    /// The products of the input of one sample's only step, in both directions, if there are kernels for them.
    pub(super) fn layer_gemm_of_one<'g>(
        &self,
        executor: &dyn Executor,
        (l, layer, below): (usize, Buf, States),
        gates: &mut Part<'g>,
    ) -> Option<Buf<'g>> {
        let (row, plan) = (self.code.row.as_ref()?, self.plan);
        let (z, Panels { width, count }) = (&plan.z, plan.gates);
        let line = z.gates * width;
        let each = (TASK_WEIGHT_BYTES / (z.gates * plan.layer.panel_bytes()).max(1)).clamp(1, count);
        Some(gates.refill(executor, each * line, &|piece, mut to| {
            let mut at = piece * each;
            while !to.is_empty() {
                let (d, panel) = (at / count, at % count);
                let panels = (count - panel).min(to.len() / line);
                let b = plan.layer.group(layer, (l * z.directions + d, panel..panel + panels), 0..z.gates);
                let (now, rest) = std::mem::take(&mut to).split_at_mut(panels * line);
                row.run((&below.rows(d, 0), 0..1), &[[0, 0]], &b, (&mut *now, panels * line));
                // Cells take integer sums of inputs as f32.
                if plan.product.is_integer() {
                    now.iter_mut().for_each(|sum| *sum = sum.to_bits().cast_signed() as f32);
                }
                (at, to) = (at + panels, rest);
            }
        }))
    }

    /// Computes some panels of a step, with the worker's scratch.
    pub(super) fn panels(&self, step: &Step<'_>, share: &mut [f32]) {
        let (plan, PanelTask { d, rows, phase, panel, .. }) = (self.plan, step.place);
        let (stack, (gates, panels, task)) = (self.stack(step), plan.task(*phase, *panel));
        let skips = *phase == 0 && step.before.is_none() && self.begins_with_zeros;
        let (weights, memory, bits, channels) = match &plan.projection {
            Some(weights) if *phase == 1 => (weights, self.projection, self.lines.projected[2], plan.z.dic),
            _ => (&plan.iter, self.iter, self.lines.whole[2], plan.z.dhc),
        };
        let (skinny, a) = match &self.code.second {
            Some(second) if *phase == 1 => (second, self.middle.rows(*d, 0)),
            _ => (&self.code.skinny, self.before(step)),
        };
        let b = weights.group(memory, (stack, task.clone()), gates);
        let line = b.panels() * panels.width;
        if skips {
            share[..rows.len() * line].fill(0.0);
        } else {
            let first = stack * panels.count;
            // Panels that a single step uses are inspected now.
            let seven_bits = bits.get(first + task.start..first + task.end).is_some_and(|bits| {
                if plan.z.time == 1 { skinny.inspects() && b.fits(self.simd) } else { bits.iter().all(|bit| *bit > 0.0) }
            });
            let b = Group { seven_bits, ..b };
            skinny.run((&a, rows.clone()), &[[0, 0]], &b, (share, line));
        }
        let columns = skinny.columns();
        for column in (0..panels.width).step_by(columns) {
            let left = channels.saturating_sub(task.start * panels.width + column);
            if left > 0 {
                let all = if columns == panels.width { task.len() * columns } else { columns };
                let piece = Piece { panel: task.start, column, channels: all.min(left) };
                self.cell(step, piece, &share[b.panels() * column..], line);
            }
        }
    }

    fn stack(&self, step: &Step<'_>) -> usize {
        step.l * self.plan.z.directions + step.place.d
    }

    /// The states before a step.
    fn before(&self, step: &Step<'_>) -> Rows<'a> {
        step.before.map_or(self.first.rows(step.place.d, 0), |t| self.sequence.rows(step.place.d, t))
    }

    /// Turns the sums of a piece into gates and states.
    fn cell(&self, step: &Step<'_>, piece: Piece, sums: &[f32], line: usize) {
        let (plan, z) = (self.plan, &self.plan.z);
        let PanelTask { d, rows, phase, .. } = step.place;
        let cell = self.code.cells[*phase].as_ref().unwrap_or_else(|| panic!("no kernel of phase {phase} was made"));
        let projects = plan.projection.is_some() && *phase == 1;
        let (gates, Panels { width, count }, _) = plan.task(*phase, 0);
        let first = piece.panel * width + piece.column;
        let mut call = Call::new(rows.len(), (piece.channels, width), &self.lines.numbers);
        call.set(Field::IterGemm, FieldMemory::rows(sums, 0, [line, gates.len() * width]));
        let states = |states: States<'a>, t: usize| {
            let Rows { buf, start, row } = states.rows(*d, t);
            let size = states.codec.size();
            FieldMemory::new(buf, start + rows.start * row + first * size, [row, width * size])
        };
        let middle = *phase == 0 && (plan.projection.is_some() || plan.resets_first());
        call.set(Field::State, if middle { states(self.middle, 0) } else { states(self.sequence, step.t) });
        self.keep(step, first, width, &mut call);
        let by_gate = |numbers: &'a [f32], gates: usize| {
            let first = (self.stack(step) * count + piece.panel) * gates * width + piece.column;
            FieldMemory::rows(numbers, first, [0, gates * width])
        };
        let gates = if projects { 1 } else { z.gates };
        let whole = if projects { &self.lines.projected } else { &self.lines.whole };
        call.set(Field::Shifts, by_gate(whole[0], gates));
        call.set(Field::Factors, by_gate(whole[1], gates));
        if projects {
            return cell.run(&call);
        }
        let row = z.gates * width * 4;
        let inputs = ((d * count + piece.panel) * z.time + step.t) * z.batch + rows.start;
        call.set(Field::LayerGemm, FieldMemory::new(self.gates, inputs * row + piece.column * 4, [row, z.samples() * row]));
        call.set(Field::Bias, by_gate(self.lines.bias, z.bias_gates));
        call.set(Field::Peephole, by_gate(self.lines.peephole, 3));
        call.set(Field::Cell, states(self.cell, 0));
        call.set(Field::StateBefore, step.before.map_or(states(self.first, 0), |t| states(self.sequence, t)));
        call.set(Field::Attention, FieldMemory::rows(self.lines.shares, step.t * z.batch + rows.start, [1, 0]));
        cell.run(&call);
    }

    /// The places in the workspace of channels from `first` on, in panels of `width`.
    fn keep(&self, step: &Step<'_>, first: usize, width: usize, call: &mut Call<'a>) {
        let (Some(workspace), plan) = (self.workspace, self.plan) else { return };
        let (z, row) = (&plan.z, plan.workspace_row);
        let sample = (self.stack(step) * z.time + step.t) * z.batch + step.place.rows.start;
        let place = |field: usize| FieldMemory::new(workspace, (sample * row + field + first) * 4, [row * 4, width * 4]);
        let state = z.gates * z.dhc;
        call.kept_gate = z.dhc * 4;
        call.set(Field::WsGates, place(0));
        call.set(Field::WsState, place(state));
        call.set(Field::WsCell, place(state + z.dic));
        let cell = if plan.op.cell == RnnCell::Lstm { z.dhc } else { 0 };
        call.set(Field::WsGrid, place(state + z.dic + cell));
    }
}
