//! `map`: kernels that make one element of the destination after the other.
//!
//! Where all tensors of a problem are strides over common loops, the loops stand in for the dimensions: few, merged where memory is contiguous.

use crate::emit::{Emitter, Real, Tail, View};
use crate::program::{Launch, Program};
use oxidnn_runtime::Skip;
use oxidnn_spec::{Arg, Blocking, Dims, Format, Layout, MAX_NDIMS, Problem};
use std::sync::Arc;

/// A kernel over the positions of the destination in the making.
pub(crate) struct Map<'a> {
    pub(crate) emit: Emitter,
    /// What is done at a position.
    pub(crate) element: String,
    /// What is done in the padding.
    clear: String,
    dst: &'a Layout,
}

impl<'a> Map<'a> {
    /// A kernel over the positions of `dst`.
    pub(crate) fn over(real: Real, dst: &'a Layout) -> Map<'a> {
        let dims = dst.blocking().map_or(dst.dims, |b| b.padded_dims);
        let emit = Emitter::new(real, dims.volume().unwrap_or(i64::MAX));
        Map { emit, element: String::new(), clear: String::new(), dst }
    }

    /// Declares the result's tail, whose destination is this traversal's.
    pub(crate) fn tail(&mut self, tail: &Tail<'_>) -> Result<(), Skip> {
        self.emit.tail(tail)?;
        self.clears("dst");
        Ok(())
    }

    /// A further tensor that is written along with the destination: its padding lies as the destination's does.
    pub(crate) fn written(&mut self, view: &View<'_>) -> Result<(), Skip> {
        self.emit.view(&View { padded: true, ..*view })?;
        self.clears(view.name);
        Ok(())
    }

    /// The padding of this view is zeroed.
    pub(crate) fn clears(&mut self, name: &str) {
        self.clear += &format!("    store_code<{name}_type>(a.{name}_data, {name}_at(a, p), 0);\n");
    }

    /// The launch.
    pub(crate) fn launch(self) -> Launch {
        let Map { mut emit, element, clear, dst } = self;
        let count = emit.destination(dst);
        emit.number("count", count);
        emit.code(&format!("DEVICE void clear(const Args& a, const index* p) {{\n{clear}}}\n"));
        emit.code(&format!("DEVICE void element(const Args& a, const index* p) {{\n{element}}}\n"));
        emit.launch("map", count)
    }

    /// The program of this launch alone.
    pub(crate) fn program(self) -> Program {
        Program { launches: vec![self.launch()], ..Program::default() }
    }
}

/// The problem over common loops in place of its dimensions, where every tensor has strides over them and nothing goes by dimension: the same
/// elements in fewer dimensions. The destination `dst` gives the order.
pub(crate) fn flattened(problem: &Problem, dst: Arg) -> Option<Problem> {
    let attr = &problem.attr;
    let by_dimension = |mask: u32| mask != 0;
    let quants = attr.scales.values().chain(attr.zero_points.values());
    if quants.into_iter().any(|q| by_dimension(q.mask)) || problem.attr.post_ops.iter().any(has_dimensions) {
        return None;
    }
    let mut flat = problem.clone();
    let order = problem.op.tensor(dst)?.clone();
    let mut tensors = flat.op.operands_mut();
    let mask = flat.attr.dropout.as_mut().and_then(|d| d.mask.as_mut());
    let mut layouts: Vec<&mut Layout> = tensors.iter_mut().map(|o| &mut o.tensor.layout).chain(mask.map(|m| &mut m.layout)).collect();
    let given: Vec<Layout> = layouts.iter().map(|l| (*l).clone()).collect();
    for (layout, new) in layouts.iter_mut().zip(collapsed(&order.layout, &given)?) {
        **layout = new;
    }
    drop(layouts);
    Some(flat)
}

fn has_dimensions(op: &oxidnn_spec::PostOp) -> bool {
    use oxidnn_spec::PostOp;
    !matches!(op, PostOp::Eltwise { .. } | PostOp::Sum { .. })
}

/// One loop: its size and how far each tensor moves a step.
struct Loop {
    size: i64,
    strides: Vec<i64>,
}

/// Layouts of the same elements over the shortest list of common loops; sizes of `order`, against which a size of 1 is broadcast.
fn collapsed(order: &Layout, layouts: &[Layout]) -> Option<Vec<Layout>> {
    let dims = order.dims;
    let mut all: Vec<(&Blocking, Dims)> = vec![(order.blocking()?, order.dims)];
    for l in layouts {
        all.push((l.blocking()?, l.dims));
    }
    let plain = |b: &Blocking, d: &Dims| b.padded_dims == *d && d.len() == dims.len() && b.padded_offsets.iter().all(|&o| o == 0);
    if dims.contains(&0) || dims.has_runtime() || all.iter().any(|(b, d)| !plain(b, d) || b.strides.has_runtime()) {
        return None;
    }
    let mut loops = Vec::new();
    for d in 0..dims.len() {
        let mut units = vec![1, dims[d]];
        for (b, own) in all.iter().filter(|x| x.1[d] != 1) {
            if own[d] != dims[d] {
                return None;
            }
            let mut unit = 1;
            for (_, size) in b.inner.iter().rev().filter(|x| x.0 == d) {
                unit *= size;
                units.push(unit);
            }
        }
        units.sort_unstable();
        units.dedup();
        for w in units.windows(2) {
            if w[1] % w[0] != 0 {
                return None;
            }
            let strides = all.iter().map(|(b, own)| if own[d] == 1 { 0 } else { stride_at(b, d, w[0]) }).collect();
            loops.push(Loop { size: w[1] / w[0], strides });
        }
    }
    loops.sort_by(|a, b| b.strides.cmp(&a.strides));
    let loops = merged(loops);
    (loops.len() <= MAX_NDIMS).then(|| all[1..].iter().enumerate().map(|(t, (b, _))| layout_of(&loops, t + 1, b.offset)).collect())
}

/// How far a tensor moves when the index of dimension `d` grows by `unit`, a divisor of block boundaries.
fn stride_at(b: &Blocking, d: usize, unit: i64) -> i64 {
    let (mut stride, mut within) = (1, 1);
    for (dim, size) in b.inner.iter().rev() {
        if dim == d {
            if unit < within * size {
                return unit / within * stride;
            }
            within *= size;
        }
        stride *= size;
    }
    unit / within * b.strides[d]
}

fn merged(loops: Vec<Loop>) -> Vec<Loop> {
    let mut out: Vec<Loop> = Vec::with_capacity(loops.len());
    for inner in loops {
        match out.last_mut() {
            Some(outer) if outer.strides.iter().zip(&inner.strides).all(|(o, i)| i.checked_mul(inner.size) == Some(*o)) => {
                *outer = Loop { size: outer.size * inner.size, strides: inner.strides };
            }
            _ => out.push(inner),
        }
    }
    if out.is_empty() {
        out.push(Loop { size: 1, strides: Vec::new() });
    }
    out
}

fn layout_of(loops: &[Loop], t: usize, offset: i64) -> Layout {
    let n = loops.len();
    let stride = |i: usize| loops[i].strides.get(t).copied().unwrap_or(0);
    let dims = Dims::from_fn(n, |i| if stride(i) == 0 { 1 } else { loops[i].size });
    let b = Blocking {
        padded_dims: dims,
        padded_offsets: Dims::filled(n, 0),
        offset,
        strides: Dims::from_fn(n, stride),
        inner: oxidnn_spec::Blocks::default(),
        compensation: None,
    };
    Layout { dims, format: Format::Blocked(Arc::new(b)) }
}
