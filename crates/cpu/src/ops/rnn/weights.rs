//! Weights in the form that tiles read: for every layer and direction the panels of channels, in a panel one gate after the other, in a
//! gate a line for every step of K. So a task, which has a panel, finds all gates of its channels contiguous in memory.
//!
//! `any` resolves to this layout, with column sums behind weights of bytes. Plain weights are packed in every execution, and so are weights
//! of a type that the product does not take.

use super::sizes::{LINE, Panels};
use super::skinny::Group;
use crate::kernels::access::View;
use crate::kernels::convert::Elements;
use crate::kernels::microkernel::DotType;
use crate::kernels::microkernel::layout::panel_tag;
use crate::kernels::microkernel::pack::{self, PanelLayout, PlainMatrix};
use crate::kernels::multiversion::{Simd, multiversion};
use crate::kernels::scratch::Part;
use crate::ops::support;
use oxidnn_runtime::{Buf, Ctx, Skip};
use oxidnn_spec::op::Rnn;
use oxidnn_spec::{Arg, DataType, Dims, Error, MAX_NDIMS, Op, Problem, Tensor};
use std::ops::Range;

/// The roles of the dimensions of weights; layers and directions come first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Roles {
    /// The argument.
    pub(super) arg: Arg,
    /// The dimensions of K, slowest first: one, or gates and channels.
    pub(super) depth: &'static [usize],
    /// The dimension of gates, if they are columns.
    pub(super) gates: Option<usize>,
    /// The dimension of channels that are columns.
    pub(super) column: usize,
}

impl Roles {
    const LAYER: Roles = Roles { arg: Arg::WEIGHTS, depth: &[2], gates: Some(3), column: 4 };
    const PROJECTION: Roles = Roles { arg: Arg::WEIGHTS_3, depth: &[2], gates: None, column: 3 };
    /// Weights of a layer's input, of the state, and of the projection in a forward pass.
    pub(super) const FORWARD: [Roles; 3] = [Roles::LAYER, Roles { arg: Arg::WEIGHTS_1, ..Roles::LAYER }, Roles::PROJECTION];
    const LAYER_BACK: Roles = Roles { arg: Arg::WEIGHTS, depth: &[3, 4], gates: None, column: 2 };
    /// The same in a backward pass.
    pub(super) const BACKWARD: [Roles; 3] =
        [Roles::LAYER_BACK, Roles { arg: Arg::WEIGHTS_1, ..Roles::LAYER_BACK }, Roles { depth: &[3], column: 2, ..Roles::PROJECTION }];

    /// The tag of panels, in which gates come before K.
    fn tag(&self, ndims: usize, width: usize, vnni: usize) -> String {
        let rows: Vec<usize> = self.gates.iter().chain(self.depth).copied().collect();
        panel_tag(ndims, &rows, self.column, width, vnni)
    }
}

/// Planned weights.
#[derive(Debug)]
pub(super) struct Weights {
    roles: Roles,
    /// Layers times directions.
    stacks: usize,
    directions: usize,
    /// Columns, and columns padded to whole panels.
    columns: usize,
    pub(super) panels: Panels,
    /// Gates among the columns.
    gates: usize,
    /// Sizes and strides of the dimensions of K, in elements.
    depth: Dims,
    depth_strides: Dims,
    form: PanelLayout,
    storage: Storage,
    /// Where the column sums are kept, in 32-bit elements, if they are.
    sums: Option<usize>,
}

/// The form of given weights.
#[derive(Clone, Copy, Debug)]
enum Storage {
    /// In panels.
    Panels,
    /// In panels of 16-bit elements, which are converted to f32 in the same order.
    Narrow,
    /// Plain.
    Plain(Strides),
    /// Of any layout and type: they are converted to panels of f32.
    Lines,
}

/// Strides of plain weights in elements.
#[derive(Clone, Copy, Debug)]
struct Strides {
    start: usize,
    layer: usize,
    direction: usize,
    gate: usize,
    column: usize,
}

/// The problem with the open layouts of its weights resolved to the panels that tiles of the product read, and all others.
///
/// # Errors
/// Tags that do not fit, and other tensors that are not dense.
pub(super) fn resolve(problem: &Problem, roles: &[Roles; 3], panels: [Panels; 3], product: DotType) -> Result<Problem, Skip> {
    let mut problem = problem.clone();
    if let Op::Rnn(op) = &mut problem.op {
        let tensors = [Some(&mut op.weights_layer), Some(&mut op.weights_iter), op.weights_projection.as_mut()];
        for ((tensor, roles), panels) in tensors.into_iter().zip(roles).zip(panels) {
            let Some(tensor) = tensor.filter(|t| t.layout.is_any()) else { continue };
            support::resolve(tensor, &roles.tag(tensor.dims().len(), panels.width, product.vnni()))?;
            if product.is_integer() {
                support::keep_sums(tensor, roles.depth);
            }
        }
    }
    problem.resolve();
    support::dense(&problem)?;
    Ok(problem)
}

impl Weights {
    /// The weights of input, state and projection, whose layouts are resolved.
    ///
    /// # Errors
    /// Layouts that are neither these panels nor plain.
    pub(super) fn all(
        op: &Rnn,
        [layer, iter, projection]: &[Roles; 3],
        panels: [Panels; 3],
        product: DotType,
    ) -> Result<(Weights, Weights, Option<Weights>), Skip> {
        let of = |tensor: &Tensor, roles: &Roles, panels: Panels| Weights::new(tensor, *roles, panels, product);
        let projection = op.weights_projection.as_ref().map(|t| of(t, projection, panels[2])).transpose()?;
        Ok((of(&op.weights_layer, layer, panels[0])?, of(&op.weights_iter, iter, panels[1])?, projection))
    }

    fn new(tensor: &Tensor, roles: Roles, panels: Panels, product: DotType) -> Result<Weights, Skip> {
        let layout = || Skip::Layout(format!("of {}: neither plain nor in panels", roles.arg));
        let dims = tensor.dims();
        let (blocking, tag) = (tensor.blocking().ok_or_else(layout)?, roles.tag(dims.len(), panels.width, product.vnni()));
        let sums = support::kept_sums(tensor, roles.depth);
        let in_panels = Tensor::with_tag(*dims, tensor.dtype, &tag).is_ok_and(|mut t| {
            if sums.is_some() {
                support::keep_sums(&mut t, roles.depth);
            }
            t.layout == tensor.layout
        });
        let stride = |d: usize| blocking.strides[d] as usize;
        let plain = Strides {
            start: blocking.offset as usize,
            layer: stride(0),
            direction: stride(1),
            gate: roles.gates.map_or(0, stride),
            column: stride(roles.column),
        };
        let storage = match (in_panels, blocking.is_plain(), product) {
            (true, ..) if tensor.dtype == DataType::F32 || product != DotType::F32 => Storage::Panels,
            (_, true, _) if tensor.dtype == DataType::F32 || product != DotType::F32 => Storage::Plain(plain),
            (true, .., DotType::F32) if blocking.offset == 0 => Storage::Narrow,
            (.., DotType::F32) => Storage::Lines,
            _ => return Err(layout()),
        };
        Ok(Weights {
            roles,
            stacks: (dims[0] * dims[1]) as usize,
            directions: dims[1] as usize,
            columns: dims[roles.column] as usize,
            panels,
            gates: roles.gates.map_or(1, |d| dims[d] as usize),
            depth: Dims::from_fn(roles.depth.len(), |i| dims[roles.depth[i]]),
            depth_strides: Dims::from_fn(roles.depth.len(), |i| blocking.strides[roles.depth[i]]),
            form: PanelLayout { size: 4 / product.step_depth(), vnni: product.vnni(), width: panels.width },
            storage,
            sums: sums.filter(|_| in_panels),
        })
    }

    /// The column sums of bytes of all gates of a panel: those behind the weights, which are negated, or new ones.
    pub(super) fn column_sums(&self, simd: Simd, buf: Buf<'_>, (stack, panel): (usize, usize), to: &mut [i32]) {
        let Panels { width, .. } = self.panels;
        for (gate, to) in to.chunks_exact_mut(width).take(self.gates).enumerate() {
            if let Some(start) = self.sums {
                buf.read(start + (stack * self.gates + gate) * self.panels.padded() + panel * width, to);
                to.iter_mut().for_each(|sum| *sum = -*sum);
            } else {
                to.fill(0);
                sum_lines(simd, buf.part(self.at(stack, panel, gate), self.panel_bytes()), to);
            }
        }
    }

    /// Size of the fastest dimension of K, and how many runs of it there are.
    fn runs(&self) -> (usize, usize) {
        let (slow, last) = self.depth.split_at(self.depth.len() - 1);
        (last[0] as usize, slow.iter().product::<i64>() as usize)
    }

    /// Bytes from one run of K to the next.
    pub(super) fn run_bytes(&self) -> usize {
        self.form.panel(self.runs().0)
    }

    /// Bytes of a panel of one gate.
    pub(super) fn panel_bytes(&self) -> usize {
        self.run_bytes() * self.runs().1
    }

    /// Bytes of the panels of a layer and direction.
    pub(super) fn stack_bytes(&self) -> usize {
        self.panels.count * self.gates * self.panel_bytes()
    }

    /// Byte offset of the panels of a gate of a layer and direction.
    pub(super) fn at(&self, stack: usize, panel: usize, gate: usize) -> usize {
        stack * self.stack_bytes() + (panel * self.gates + gate) * self.panel_bytes()
    }

    /// Some gates of consecutive panels of a layer and direction.
    pub(super) fn group<'b>(&self, buf: Buf<'b>, (stack, panels): (usize, Range<usize>), gates: Range<usize>) -> Group<'b> {
        let (at, bytes) = (self.at(stack, panels.start, gates.start), self.panel_bytes());
        let (step, count, outer) = match gates.len() {
            n if n == self.gates => (bytes, n * panels.len(), 1),
            1 => (self.gates * bytes, panels.len(), 1),
            n => (bytes, n, panels.len()),
        };
        Group { buf, at, bytes, step, count, outer: (outer, self.gates * bytes), seven_bits: false }
    }

    /// Elements of scratch for packed weights; `None` on overflow.
    pub(super) fn scratch_len(&self) -> Option<usize> {
        if matches!(self.storage, Storage::Panels) {
            Some(0)
        } else {
            self.stacks.checked_mul(self.stack_bytes())?.checked_add(3).map(|n| n / 4)
        }
    }

    /// The memory of the panels, packed first if needed into scratch of [`Weights::scratch_len`] elements.
    ///
    /// # Errors
    /// [`Error`] when an argument is missing or also written.
    pub(super) fn panels<'a>(&self, simd: Simd, ctx: &Ctx<'a>, mut part: Part<'a>) -> Result<Buf<'a>, Error> {
        let piece = self.panel_bytes() / 4;
        match self.storage {
            Storage::Panels => ctx.buf(self.roles.arg),
            Storage::Plain(strides) => {
                let bytes: &[u8] = ctx
                    .input(self.roles.arg)
                    .ok_or_else(|| Error::arg(self.roles.arg, "memory that is written too", "memory of its own"))?;
                Ok(part.refill(ctx.executor(), piece, &|piece, to| self.pack(simd, bytes, &strides, piece, to)))
            }
            Storage::Narrow => {
                let view = View::of(simd, ctx, self.roles.arg)?;
                let read = |i: usize, to: &mut [f32]| {
                    Elements { buf: view.buf(), dtype: view.dtype(), at: i * to.len(), stride: 1 }.read(simd, to)
                };
                Ok(part.refill(ctx.executor(), piece, &read))
            }
            Storage::Lines => {
                let view = View::of(simd, ctx, self.roles.arg)?;
                Ok(part.refill(ctx.executor(), piece, &|piece, to| self.convert(&view, piece, to)))
            }
        }
    }

    /// Stack, panel and gate of a piece of the panels' memory.
    fn piece(&self, piece: usize) -> [usize; 3] {
        let (rest, gate) = (piece / self.gates, piece % self.gates);
        [rest / self.panels.count, rest % self.panels.count, gate]
    }

    /// A panel of plain weights.
    fn pack(&self, simd: Simd, bytes: &[u8], plain: &Strides, piece: usize, to: &mut [f32]) {
        let ((depth, runs), size) = (self.runs(), self.form.size);
        let [stack, panel, gate] = self.piece(piece);
        let (first, count) = self.panels.channels(panel, self.columns);
        let stack = stack / self.directions * plain.layer + stack % self.directions * plain.direction;
        let start = plain.start + stack + gate * plain.gate + first * plain.column;
        let fast = self.depth_strides[self.depth.len() - 1] as usize;
        for (run, to) in to.chunks_exact_mut(self.run_bytes() / 4).enumerate().take(runs) {
            let start = start + if runs > 1 { run * self.depth_strides[0] as usize } else { 0 };
            let from = PlainMatrix { bytes: &bytes[start * size..], depth: fast * size, column: plain.column * size };
            pack::panels(simd, &from, 0..depth, 0..count, self.form, to);
        }
    }

    /// Packs a panel of weights of any layout, line by line.
    fn convert(&self, view: &View<'_>, piece: usize, to: &mut [f32]) {
        let ((depth, _), Roles { gates, column, .. }) = (self.runs(), self.roles);
        let [stack, panel, gate] = self.piece(piece);
        let (first, count) = self.panels.channels(panel, self.columns);
        let mut pos = [0; MAX_NDIMS];
        (pos[0], pos[1], pos[column]) = ((stack / self.directions) as i64, (stack % self.directions) as i64, first as i64);
        gates.iter().for_each(|g| pos[*g] = gate as i64);
        for (k, line) in to.chunks_exact_mut(self.panels.width).enumerate() {
            let (there, padding) = line.split_at_mut(count);
            for (d, i) in self.roles.depth.iter().rev().zip([k % depth, k / depth]) {
                pos[*d] = i as i64;
            }
            view.read(&pos, column, there);
            padding.fill(0.0);
        }
    }
}

multiversion! {
    /// Adds the columns of a panel of signed bytes, in lines of four steps of K.
    fn sum_lines(panel: Buf<'_>, to: &mut [i32]) {
        let mut line = [0i32; LINE];
        let line = &mut line[..to.len()];
        for first in (0..panel.len() / 4).step_by(to.len()) {
            panel.read(first, line);
            for (sum, word) in to.iter_mut().zip(&*line) {
                *sum += (word << 24 >> 24) + (word << 16 >> 24) + (word << 8 >> 24) + (word >> 24);
            }
        }
    }
}
