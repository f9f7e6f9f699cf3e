//! Element-wise kernels over the destination (`kernels/map.cu`), and tiles of windows (`windows.cu`, `planes.cu`).
//!
//! Dimensions that can be merged in all tensors of a problem are merged first ([`flattened`]).

use super::planes::Planes;
use crate::emit::{Emitter, Real, Tail, View, memory_order};
use crate::ops::ceil;
use crate::program::{Launch, Program, Word};
use oxidnn_runtime::Skip;
use oxidnn_spec::{Arg, Blocking, DataType, Dims, Format, Layout, MAX_NDIMS, Problem, Tensor};
use std::sync::Arc;

/// A kernel over the destination's elements under construction.
pub(crate) struct Map<'a> {
    pub(crate) emit: Emitter,
    /// Statements per element.
    pub(crate) element: String,
    /// Statements for padding.
    clear: String,
    dst: &'a Layout,
    /// The destination and the inputs, if `element` uses them only by position and `finish`: it can then be vectorised.
    vectors: Option<Vec<Neighbours>>,
    lanes: Option<Lanes>,
    planes: Option<Planes>,
    backwards: bool,
    bits: bool,
}

/// Statements as a template over the number of neighbouring channels.
struct Lanes {
    code: String,
    /// The vector width along channels, and the names of the tensors.
    together: Option<(i64, Vec<String>)>,
    /// The tile of a thread.
    tile: Option<Tile>,
}

/// The results that a thread computes together, if there are enough of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tile {
    /// The dimension of `tall`.
    pub(crate) along: usize,
    /// Results along that dimension.
    pub(crate) tall: i64,
    /// Results along the last dimension, if channels are contiguous.
    pub(crate) wide: i64,
    /// Results by which tiles of several columns begin before the tensor, along both dimensions: further tiles end behind it.
    pub(crate) before: i64,
}

/// A tensor that is accessed in vectors.
struct Neighbours {
    name: String,
    dtype: DataType,
    layout: Layout,
}

impl<'a> Map<'a> {
    /// A kernel over the elements of `dst`.
    pub(crate) fn over(real: Real, dst: &'a Layout) -> Map<'a> {
        let dims = dst.blocking().map_or(dst.dims, |b| b.padded_dims);
        let emit = Emitter::new(real, dims.volume().unwrap_or(i64::MAX));
        Map {
            emit,
            element: String::new(),
            clear: String::new(),
            dst,
            vectors: None,
            lanes: None,
            planes: None,
            backwards: false,
            bits: false,
        }
    }

    /// Declares the epilogue and the inputs for an `element` that reads them as `name(a, p)` and writes by `finish(a, p, value)`, or copies the first one by
    /// `copy(a, p)`; it is vectorised if possible.
    pub(crate) fn elementwise(&mut self, tail: &Tail<'_>, inputs: &[View<'_>]) -> Result<(), Skip> {
        self.tail(tail)?;
        for view in inputs {
            self.emit.view(view)?;
        }
        self.together(&tail.dst, inputs);
        Ok(())
    }

    /// Allows vectorising if epilogue and views have been declared: `element` reads `inputs` as `name(a, p)`, and other values are the same for neighbours.
    pub(crate) fn together(&mut self, dst: &View<'_>, inputs: &[View<'_>]) {
        let of = |view: &View<'_>| Neighbours { name: view.name.into(), dtype: view.dtype, layout: view.layout.clone() };
        self.vectors = Some(std::iter::once(dst).chain(inputs).map(of).collect());
    }

    /// Sets statements that compute `LANES` neighbouring channels from position `p` on and write them by `finish_lanes`. `LANES` is the vector width that all
    /// tensors of `all` (with the names of their views) allow, or 1.
    pub(crate) fn lanes(&mut self, code: &str, all: &[(&str, &Tensor)]) {
        let names = all.iter().map(|t| t.0.to_owned()).collect();
        let together = channels(all.iter().map(|t| t.1)).map(|n| (n, names));
        self.lanes = Some(Lanes { code: code.to_owned(), together, tile: None });
    }

    /// The same in tiles (`kernels/windows.cu`): the statements compute `TALL` x `WIDE` results, and write by `finish_lanes` those for which `moved` holds.
    pub(crate) fn tiles(&mut self, code: &str, all: &[(&str, &Tensor)], tile: Tile) {
        self.lanes(code, all);
        if let Some(lanes) = &mut self.lanes {
            lanes.tile = Some(tile);
        }
    }

    /// Allows staging the input in shared memory if channels are not contiguous (`kernels/planes.cu`).
    pub(crate) fn planes(&mut self, planes: Planes) {
        self.planes = Some(planes);
    }

    /// Declares the epilogue of the destination.
    pub(crate) fn tail(&mut self, tail: &Tail<'_>) -> Result<(), Skip> {
        self.emit.tail(tail)?;
        self.clears("dst");
        Ok(())
    }

    /// Declares a further result with the destination's layout.
    pub(crate) fn written(&mut self, view: &View<'_>) -> Result<(), Skip> {
        self.emit.view(&View { padded: true, ..*view })?;
        self.clears(view.name);
        Ok(())
    }

    /// Visits elements in reverse order: what the preceding launch read last is still in L2.
    pub(crate) fn backwards(&mut self) {
        self.backwards = true;
    }

    /// The statements call `keep(bit)`; the bits are stored in `arg` in the destination's memory order, eight per byte. Only vector code stores them: the caller
    /// makes sure that the launch is vectorised.
    pub(crate) fn keeps_bits(&mut self, arg: Arg) {
        self.emit.word("u64 bits", Word::Address { arg, buffer: 0 });
        self.bits = true;
    }

    /// Zeroes the padding of this view.
    pub(crate) fn clears(&mut self, name: &str) {
        self.clear += &format!("    store_code<{name}_type>(a.{name}_data, {name}_at(a, p), 0);\n");
    }

    /// The launch.
    pub(crate) fn launch(self) -> Launch {
        let Map { mut emit, mut element, clear, dst, vectors, lanes, planes, backwards, bits } = self;
        if backwards {
            emit.option("BACKWARDS", 1);
        }
        if let Some(Lanes { code, together, tile: Some(tile) }) = &lanes
            && dst.blocking().is_some_and(|b| b.is_plain() && b.padded_dims == dst.dims)
        {
            return match planes.filter(|_| together.is_none()).and_then(|planes| planes.shape(dst, *tile).map(|shape| (planes, shape))) {
                Some((planes, shape)) => planes.launch(emit, dst, code, &shape),
                None => by_tiles(emit, dst, (code, together.as_ref()), *tile),
            };
        }
        let count = emit.destination(dst);
        emit.number("count", count);
        let vector = vectors.and_then(|all| {
            let half = || width(&all, 2).filter(|_| !bits).map(|n| (n, false));
            let (n, is_run) = width(&all, 1).map(|n| (n, false)).or_else(|| Some((run(&all, dst)?, true))).or_else(half)?;
            Some((n, all, is_run))
        });
        emit.code(&format!("DEVICE void clear(const Args& a, const index* p) {{\n{clear}}}\n"));
        let by_channels = lanes.and_then(|Lanes { code, together, tile }| {
            emit.code(FINISH_LANES);
            element = match tile {
                Some(tile) => {
                    emit.code(&tile_of(&code, tile.along, dst.ndims(), ""));
                    emit.numbers("length", &dst.dims);
                    "    tile<1, 1, 1>(a, p);\n".into()
                }
                None => {
                    emit.code(&format!("template <int LANES>\nDEVICE void channels(const Args& a, const index* p) {{\n{code}}}\n"));
                    "    channels<1>(a, p);\n".into()
                }
            };
            together.filter(|_| tile.is_none())
        });
        let unkept = if bits { "    auto keep = [](bool) {};\n" } else { "" };
        emit.code(&format!("DEVICE void element(const Args& a, const index* p) {{\n{unkept}{element}}}\n"));
        if let Some((n, names)) = by_channels {
            // With few elements, more threads are better than wide vectors.
            let n = if count / n < FEW { 2.min(n) } else { n };
            emit.define("VECTOR", n);
            emit.code(&aligned(&names));
            emit.code(&format!("DEVICE void vector(const Args& a, index* p) {{ channels<{n}>(a, p); }}\n"));
            return emit.launch("map", count / n);
        }
        match vector {
            None => emit.launch("map", count),
            Some((n, all, is_run)) => {
                emit.define("VECTOR", n);
                let kept = if bits {
                    emit.code(KEEP_BITS);
                    [
                        "    u32 bits = 0;\n",
                        "        auto keep = [&](bool bit) { bits |= (u32)bit << i; };\n",
                        "    keep_bits(a, at, bits);\n",
                    ]
                } else {
                    [""; 3]
                };
                if is_run {
                    emit.numbers("length", &dst.dims);
                    emit.code(&along_run(n, &all, (&element, kept), dst));
                } else {
                    emit.code(&vectorised(n, &all, (&element, kept)));
                }
                emit.launch("map", count / n)
            }
        }
    }

    /// A program of this launch.
    pub(crate) fn program(self) -> Program {
        Program { launches: vec![self.launch()], ..Program::default() }
    }
}

/// `keep_bits(a, at, bits)` stores a vector's mask bits; with vectors of four, two neighbouring threads combine theirs to a byte.
const KEEP_BITS: &str = "DEVICE void keep_bits(const Args& a, i64 at, u32 bits) {\n#if VECTOR == 4\n    \
    const u32 other = __shfl_xor_sync(3u << (threadIdx.x & 30), bits, 1);\n    if (at & 4) return;\n    bits |= other << 4;\n#endif\n    \
    ((u8*)a.bits)[at >> 3] = (u8)bits;\n}\n";

/// `finish_lanes`: writes neighbouring channels.
pub(crate) const FINISH_LANES: &str = "template <int LANES>\nDEVICE void finish_lanes(const Args& a, const index* p, const real (&v)[LANES]) {\n    index q[RANK];\n    \
    for (int d = 0; d < RANK; ++d) q[d] = p[d];\n    const i64 at = dst_at(a, p);\n    Vector<dst_type, LANES> out;\n#pragma unroll\n    \
    for (int i = 0; i < LANES; ++i) {\n        q[1] = p[1] + i;\n        out.words[i] = dst_type::encode(rounded(a, q, at + i, value(a, q, at + i, v[i])));\n    }\n    \
    out.store(a.dst_data, at);\n}\n";

/// `tile` with these statements, and `moved`, which they use.
pub(crate) fn tile_of(code: &str, along: usize, rank: usize, more: &str) -> String {
    let last = rank - 1;
    let wide = if last == along {
        String::new()
    } else {
        format!("    q[{last}] += x;\n    inside = inside && q[{last}] < (index)a.length[{last}];\n")
    };
    format!(
        "DEVICE bool moved(const Args& a, const index* p, int y, int x, index* q) {{\n    for (int d = 0; d < RANK; ++d) q[d] = p[d];\n    q[{along}] += y;\n    \
         bool inside = q[{along}] < (index)a.length[{along}];\n{wide}    return inside;\n}}\n\
         template <int LANES, int TALL, int WIDE>\nDEVICE void tile(const Args& a, const index* p{more}) {{\n{code}}}\n"
    )
}

/// `aligned(a)`: whether the memory of these tensors is aligned for vectors.
fn aligned(names: &[String]) -> String {
    let bits: Vec<String> = names.iter().map(|name| format!("(u64)a.{name}_data")).collect();
    format!("DEVICE bool aligned(const Args& a) {{ return (({}) & 15) == 0; }}\n", bits.join(" | "))
}

/// The launch of `windows.cu` over a destination without padding.
fn by_tiles(mut emit: Emitter, dst: &Layout, (code, together): (&str, Option<&(i64, Vec<String>)>), tile: Tile) -> Launch {
    let (along, last) = (tile.along, dst.ndims() - 1);
    let (vector, names) = together.map_or((1, &[][..]), |t| (t.0, &t.1));
    let wide = if vector == 1 || last == along { 1 } else { tile.wide };
    let count = dst.dims.volume().unwrap_or(i64::MAX);
    // With few elements, more threads are better than tiles and wide vectors.
    let [tall, wide] = if count / vector / (tile.tall * wide) < 4 * FEW { [1; 2] } else { [tile.tall, wide] };
    let vector = if count / vector < FEW { vector.min(2) } else { vector };
    let mut sizes = dst.dims.to_vec();
    sizes[1] /= vector;
    for (d, own) in [(along, tall), (last, wide)] {
        sizes[d] = ceil(sizes[d].saturating_add(if wide > 1 { tile.before } else { 0 }), own);
    }
    let tiles = sizes.iter().fold(1i64, |n, &size| n.saturating_mul(size));
    emit.define("RANK", sizes.len());
    for (name, value) in [("VECTOR", vector), ("TALL_TILE", tall), ("WIDE_TILE", wide)] {
        emit.option(name, value);
    }
    emit.traversal("tile_of", &sizes, &memory_order(dst));
    emit.number("tiles", tiles);
    emit.numbers("length", &dst.dims);
    emit.code(FINISH_LANES);
    emit.code(&tile_of(code, along, sizes.len(), ""));
    emit.code(&if names.is_empty() { "DEVICE bool aligned(const Args&) { return true; }\n".into() } else { aligned(names) });
    emit.code(&format!(
        "DEVICE void first(const Args& a, index i, index* p) {{\n    tile_of(a, i, p);\n    p[1] *= VECTOR;\n    p[{along}] *= {tall};\n    p[{last}] *= {wide};\n}}\n"
    ));
    emit.launch("windows", tiles)
}

/// The vector width along the innermost dimension, if it is contiguous in every tensor that varies along it: a part of the widest, of four elements at least.
fn width(all: &[Neighbours], part: i64) -> Option<i64> {
    let last = all.first()?.layout.ndims().checked_sub(1)?;
    let size = all[0].layout.dims[last];
    let bytes = all.iter().map(|t| t.dtype.bits() as i64 / 8).min().filter(|&b| b > 0)?;
    let n = if all.iter().any(|t| t.is_apart()) { GATHERED } else { (16 / bytes).clamp(4, 8) / part };
    let fits = |t: &Neighbours| {
        t.layout.blocking().is_some_and(|b| {
            let whole = |stride: i64| stride % n == 0;
            let moves = t.layout.dims[last] != 1;
            let outer = (0..last).all(|d| t.layout.dims[d] == 1 || whole(b.strides[d]));
            b.is_plain() && b.padded_dims == t.layout.dims && (!moves || t.is_apart() || b.strides[last] == 1 && outer && whole(b.offset))
        })
    };
    // A single row may have a remainder, which is done element by element.
    let whole = if last == 0 { size >= n } else { size % n == 0 && size > 1 };
    (whole && n >= 4 && !all[0].is_apart() && all.iter().all(fits)).then_some(n)
}

/// The vector width along memory instead of the innermost dimension, if all tensors with the destination's sizes are dense in the same order: vectors then span
/// several rows. Broadcast tensors are read element by element.
fn run(all: &[Neighbours], dst: &Layout) -> Option<i64> {
    let alike: Vec<&Neighbours> = all.iter().filter(|t| t.layout.dims == dst.dims).collect();
    let bytes = alike.iter().map(|t| t.dtype.bits() as i64 / 8).min().filter(|&b| b > 0)?;
    let n = (16 / bytes).clamp(4, 8);
    let strides = &dst.blocking()?.strides;
    let fits = |t: &Neighbours| {
        t.layout.is_dense(false)
            && t.layout.blocking().is_some_and(|b| {
                b.is_plain() && b.offset % n == 0 && (0..dst.ndims()).all(|d| dst.dims[d] == 1 || b.strides[d] == strides[d])
            })
    };
    (all.first()?.layout.dims == dst.dims && alike.iter().all(|t| fits(t)) && dst.dims.volume()? >= n).then_some(n)
}

/// The vector width if some tensors are gathered element by element.
const GATHERED: i64 = 4;

impl Neighbours {
    /// Not contiguous along the innermost dimension.
    fn is_apart(&self) -> bool {
        let last = self.layout.ndims() - 1;
        self.layout.blocking().is_some_and(|b| b.is_plain() && self.layout.dims[last] != 1 && b.strides[last] != 1)
    }
}

/// Threads below which vectors are shortened to two channels.
const FEW: i64 = 1 << 16;

/// The vector width along channels, if they are contiguous in every tensor.
fn channels<'t>(all: impl Iterator<Item = &'t Tensor> + Clone) -> Option<i64> {
    let bytes = all.clone().filter(|t| t.dims().len() > 1).map(|t| t.dtype.bits() as i64 / 8).filter(|&b| b > 0).min()?;
    let n = (16 / bytes).clamp(4, 8);
    let fits = |t: &Tensor| {
        t.blocking().is_some_and(|b| {
            // Tensors per channel have one dimension.
            if t.dims().len() == 1 {
                return b.is_plain() && b.strides[0] == 1 && t.dims()[0] % n == 0 && b.offset % n == 0 && t.dtype.bits() >= 8;
            }
            let others = (0..t.dims().len()).filter(|&d| d != 1 && t.dims()[d] != 1);
            let plain = b.is_plain() && b.padded_dims == *t.dims() && t.dtype.bits() >= 8;
            plain
                && b.strides[1] == 1
                && t.dims()[1] % n == 0
                && b.offset % n == 0
                && others.clone().all(|d| b.strides[d] % n == 0 && b.strides[d] > 0)
        })
    };
    all.clone().all(fits).then_some(n)
}

/// `aligned(a)` and `vector(a, p)`: the statements of `element` for `n` neighbours, with vectors in place of the tensors' accessors.
fn vectorised(n: i64, all: &[Neighbours], (element, [bits, keep, kept]): (&str, [&str; 3])) -> String {
    let last = all[0].layout.ndims() - 1;
    let moving: Vec<&Neighbours> = all.iter().filter(|t| t.layout.dims[last] != 1).collect();
    let names: Vec<String> = moving.iter().map(|t| t.name.clone()).collect();
    let (mut load, mut lane) = (String::new(), String::new());
    for t in moving.iter().filter(|t| t.name != "dst") {
        let name = &t.name;
        let from = format!("a.{name}_data, {name}_at(a, p)");
        load += &format!("    Vector<{name}_type, {n}> {name};\n");
        load += &if t.is_apart() {
            format!("    {name}.gather({from}, a.{name}_stride[{last}]);\n")
        } else {
            format!("    {name}.load({from});\n")
        };
        lane += &format!("        {name}.lane = i;\n");
    }
    let copy = match all.get(1) {
        Some(first) if first.dtype == all[0].dtype && first.layout.dims[last] != 1 => {
            format!("        auto copy = [&](const Args&, const index*) {{ out.words[i] = {}.words[i]; }};\n", first.name)
        }
        _ => String::new(),
    };
    aligned(&names)
        + &format!(
            "DEVICE void vector(const Args& a, index* p) {{\n    const i64 at = dst_at(a, p);\n    const index first = p[{last}];\n    \
         Vector<dst_type, {n}> out;\n{bits}{load}#pragma unroll\n    for (int i = 0; i < {n}; ++i) {{\n        p[{last}] = first + i;\n{lane}{keep}        \
         auto finish = [&](const Args&, const index*, real v) {{ out.words[i] = dst_type::encode(rounded(a, p, at + i, value(a, p, at + i, v))); }};\n{copy}{element}    \
         }}\n    out.store(a.dst_data, at);\n{kept}}}\n"
        )
}

/// The same for neighbours in memory, whatever their positions are (`run`).
fn along_run(n: i64, all: &[Neighbours], (element, [bits, keep, kept]): (&str, [&str; 3]), dst: &Layout) -> String {
    let moving: Vec<&Neighbours> = all.iter().filter(|t| t.layout.dims == dst.dims).collect();
    let names: Vec<String> = moving.iter().map(|t| t.name.clone()).collect();
    let (mut load, mut lane) = (String::new(), String::new());
    for name in names.iter().filter(|name| *name != "dst") {
        load += &format!("    Vector<{name}_type, {n}> {name};\n    {name}.load(a.{name}_data, {name}_at(a, p));\n");
        lane += &format!("        {name}.lane = i;\n");
    }
    let copy = match all.get(1) {
        Some(first) if first.dtype == all[0].dtype && first.layout.dims == dst.dims => {
            format!("        auto copy = [&](const Args&, const index*) {{ out.words[i] = {}.words[i]; }};\n", first.name)
        }
        _ => String::new(),
    };
    let order = memory_order(dst).into_iter().rev().filter(|&d| dst.dims[d] > 1);
    let steps: String = order.map(|d| format!("    if (++p[{d}] < (index)a.length[{d}]) return;\n    p[{d}] = 0;\n")).collect();
    aligned(&names)
        + &format!(
            "DEVICE void next(const Args& a, index* p) {{\n{steps}}}\nDEVICE void vector(const Args& a, index* p) {{\n    const i64 at = dst_at(a, p);\n    \
         Vector<dst_type, {n}> out;\n{bits}{load}#pragma unroll\n    for (int i = 0; i < {n}; ++i) {{\n{lane}{keep}        \
         auto finish = [&](const Args&, const index*, real v) {{ out.words[i] = dst_type::encode(rounded(a, p, at + i, value(a, p, at + i, v))); }};\n{copy}        \
         {{\n{element}        }}\n        next(a, p);\n    }}\n    out.store(a.dst_data, at);\n{kept}}}\n"
        )
}

/// The same problem with fewer dimensions: those that can be merged in every tensor are merged. `None` if a tensor has no strides, or scales, zero points or
/// post-ops depend on single dimensions. The destination `dst` determines the order.
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
    for (layout, new) in layouts.iter_mut().zip(collapsed(&order.layout, &given.iter().collect::<Vec<_>>())?) {
        **layout = new;
    }
    drop(layouts);
    Some(flat)
}

/// The same problem with all dimensions from `first` on merged to one, if every tensor of the rank of `arg` allows it, and no attribute refers to dimensions.
pub(crate) fn merged_behind(problem: &Problem, arg: Arg, first: usize) -> Option<Problem> {
    let whole = problem.op.tensor(arg)?;
    let n = whole.dims().len();
    if n < first + 2
        || whole.is_empty()
        || problem.attr.dropout.is_some()
        || problem.attr.post_ops.iter().any(has_dimensions)
        || problem.attr.scales.values().any(|q| q.mask != 0)
    {
        return None;
    }
    let mut flat = problem.clone();
    for o in flat.op.operands_mut().into_iter().filter(|o| o.tensor.dims().len() == n) {
        let layout = &o.tensor.layout;
        let b = layout.blocking().filter(|b| b.is_plain() && b.padded_dims == layout.dims)?;
        let run = (first..n).rev().filter(|&d| layout.dims[d] != 1).try_fold((1, None), |(count, step), d| match step {
            None => Some((layout.dims[d], Some(b.strides[d]))),
            Some(step) => (b.strides[d] == count * step).then_some((count * layout.dims[d], Some(step))),
        });
        let (count, step) = run?;
        let of = |outer: &Dims, last: i64| Dims::from_fn(first + 1, |d| if d < first { outer[d] } else { last });
        let mut merged = Layout::plain(of(&layout.dims, count)).ok()?;
        let to = merged.blocking_mut()?;
        (to.offset, to.strides) = (b.offset, of(&b.strides, step.unwrap_or(1)));
        o.tensor.layout = merged;
    }
    Some(flat)
}

fn has_dimensions(op: &oxidnn_spec::PostOp) -> bool {
    use oxidnn_spec::PostOp;
    !matches!(op, PostOp::Eltwise { .. } | PostOp::Sum { .. })
}

/// A loop: its size, and the stride of each tensor.
struct Loop {
    size: i64,
    strides: Vec<i64>,
}

/// Merges dimensions: layouts of the same elements over the shortest list of common loops, with the sizes of `order`; sizes of 1 are broadcast.
pub(crate) fn collapsed(order: &Layout, layouts: &[&Layout]) -> Option<Vec<Layout>> {
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
            let strides = all.iter().map(|(b, own)| if own[d] == 1 { 0 } else { b.stride_at(d, w[0]) }).collect();
            loops.push(Loop { size: w[1] / w[0], strides });
        }
    }
    loops.sort_by(|a, b| b.strides.cmp(&a.strides));
    let loops = merged(loops);
    (loops.len() <= MAX_NDIMS).then(|| all[1..].iter().enumerate().map(|(t, (b, _))| layout_of(&loops, t + 1, b.offset)).collect())
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
