//! Products of up to 8 rows with weights that are read once from memory, where they lie and as they are stored.
//!
//! Weights are walked in the order of memory by generated kernels (`oxidnn_jit::kernels::gemv`) that decode them in registers. What is small is
//! brought into the form that suits that: `A` is arranged once for all tasks, sums go through scratch to the tail that all products share.
//! Tasks are runs of columns, and slices of the depth where columns are few; the sums of slices are added in order.

mod call;
mod cut;
mod plain;
mod shared;
mod source;
mod unpacked;
mod walk;
mod weights;

use super::access::Axis;
use super::broadcast::Broadcast;
use super::dot::pack::Source;
use super::epilogue::Epilogue;
use super::scratch::{Part, Scratch, booked, for_workers};
use crate::decision::How;
use crate::hardware::Core;
use call::{Column, On, Ready};
use cut::Cut;
use oxidnn_jit::Isa;
use oxidnn_jit::ir::Elem;
pub use oxidnn_jit::kernels::gemv::MAX_ROWS;
use oxidnn_jit::kernels::gemv::{self, Groups, Scales, Walk};
use oxidnn_jit::kernels::unpack::Decode;
use oxidnn_runtime::{Buf, Executor, Inline, Skip};
use oxidnn_spec::{DataType, Dims, Error, Tensor};
use shared::Finished;
use source::Order;
pub use unpacked::{ReadyUnpacked, Unpacked};
use walk::{RawSums, WeightBlock};
use weights::Lie;
pub use weights::Weights;

/// `A` below which one thread arranges it.
const ALONE: usize = 32 << 10;
/// Most groups of the depth that share a vector of a column.
const MOST_GROUPS: usize = 8;
/// Bytes of a panel that are gone through several times where the sums of all its vectors have no registers at once.
const REREAD: usize = 32 << 10;

/// Quantisation of weights that differs along the reduction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Grouped {
    /// Depth of a group.
    pub size: usize,
    /// Scales, unless they are the tail's.
    pub scale: Option<Factor>,
    /// Zero points.
    pub zero: Option<Factor>,
}

/// Where the scales or zero points of groups are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Factor {
    /// A number of every column, group after group, as they were passed.
    InPlace(DataType),
    /// Anywhere: they become a table of f32.
    Table,
}

impl Grouped {
    /// The same with tables of f32.
    pub fn in_tables(self) -> Grouped {
        Grouped { scale: self.scale.map(|_| Factor::Table), zero: self.zero.map(|_| Factor::Table), ..self }
    }
}

impl Factor {
    fn elem(self) -> Elem {
        match self {
            Factor::InPlace(DataType::Bf16) => Elem::Bf16,
            Factor::InPlace(DataType::F16) => Elem::F16,
            Factor::InPlace(DataType::U8) => Elem::U8,
            Factor::InPlace(DataType::S8) => Elem::I8,
            _ => Elem::F32,
        }
    }
}

/// What a product is planned from.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// What code may use.
    pub isa: Isa,
    /// Largest number of workers.
    pub workers: usize,
    /// The weights of a batch.
    pub weights: Weights,
    /// Number of batches.
    pub batches: usize,
    /// Rows, 1 to [`MAX_ROWS`].
    pub rows: usize,
    /// True where the source has bf16 elements, which are multiplied as they are.
    pub bf16: bool,
    /// Quantisation of weights that differs along the reduction.
    pub grouped: Option<Grouped>,
    /// Whether weights that it scales may be rounded to bf16, as the source's elements are.
    pub rounds: bool,
    /// Whether weights have zero points that do not differ along the reduction.
    pub zero: bool,
}

/// A planned product.
#[derive(Clone, Debug)]
pub struct Product {
    request: Request,
    decode: Decode,
    order: Order,
    cut: Cut,
    /// Vectors of a panel's line that are taken at a time.
    vectors: usize,
}

/// A product with its kernels.
#[derive(Debug)]
pub struct ReadyProduct {
    product: Product,
    set: Set,
}

/// The kernels of a product.
#[derive(Debug)]
struct Set {
    main: Ready,
    /// For the rows or columns of weights that are left over.
    single: Option<Ready>,
}

/// Where the operands of a product lie, which is known when it is planned.
#[derive(Clone, Copy, Debug)]
pub struct Places {
    /// Rows and depth of the source.
    pub axes: [Axis; 2],
    /// Dimensions of columns and depth in the weights.
    pub weights: [usize; 2],
    /// Dimensions of rows and columns in the destination.
    pub dst: [usize; 2],
    /// Leading dimensions that all share.
    pub batch: Dims,
    /// Strides of weights along them in bytes, 0 where they are repeated.
    pub batch_bytes: Dims,
}

impl Places {
    /// Those of a source, weights and a destination whose first dimensions, so many, are the batch: dimensions of rows and depth, columns and depth, rows and columns.
    pub fn new(
        [a, b, c]: [&Tensor; 3],
        batch: usize,
        [rows, depth]: [&[usize]; 2],
        [weights, dst]: [[usize; 2]; 2],
    ) -> Result<Places, Skip> {
        let strides = b.blocking().ok_or(Skip::Layout("of weights: not dense".into()))?.strides;
        let bits = b.dtype.bits() as i64;
        Ok(Places {
            axes: [Axis::new(rows, a.dims()), Axis::new(depth, a.dims())],
            weights,
            dst,
            batch: Dims::from_fn(batch, |d| c.dims()[d]),
            batch_bytes: Dims::from_fn(batch, |d| if b.dims()[d] == 1 { 0 } else { strides[d] * bits / 8 }),
        })
    }
}

/// Operands of an execution.
#[derive(Clone, Copy)]
pub struct Operands<'a> {
    /// Where they lie.
    pub places: &'a Places,
    /// The source.
    pub a: &'a Source<'a>,
    /// The source's words as they are, where [`Product::takes_in_place`] holds and nothing written overlaps them.
    pub in_place: Option<&'a [f32]>,
    /// The weights' memory.
    pub b: Buf<'a>,
    /// Zero points and scales of weights, by positions of the weights; scales only where they differ along the reduction.
    pub zero: &'a Broadcast<'a>,
    /// See `zero`.
    pub scale: &'a Broadcast<'a>,
    /// Memory of scales and zero points where they are taken in place.
    pub factors: [Option<Buf<'a>>; 2],
    /// The destination.
    pub tail: &'a Epilogue<'a>,
}

/// Lengths of the parts of scratch.
struct Lens {
    a: usize,
    a_sums: usize,
    tables: [usize; 2],
    partial: usize,
    worker: usize,
}

/// What tasks share in an execution.
struct Shared<'a> {
    on: &'a Operands<'a>,
    a: &'a [f32],
    a_sums: &'a [f32],
    scale: Option<Column<'a>>,
    zero: Option<Column<'a>>,
}

impl Product {
    /// Plans it.
    ///
    /// # Errors
    /// What the kernels do not do.
    pub fn new(request: Request) -> Result<Product, Skip> {
        let Request { isa, weights, rows, grouped, .. } = request;
        let lanes = isa.width().lanes();
        if weights.k == 0 || weights.n == 0 || rows == 0 || rows > MAX_ROWS {
            return Err(Skip::Shape("not of 1 to 8 rows"));
        }
        if !weights.has_whole_words() {
            return Err(Skip::Layout("of weights: rows or columns that end within a word".into()));
        }
        let rows_of_weights = matches!(weights.lie, Lie::Rows { .. });
        let decode = Decode { stored: weights.stored, pairs: request.bf16 && !rows_of_weights && weights.stored.has_pairs(isa) };
        let vector = lanes * weights.stored.in_word();
        let fits = |grouped: Grouped| match weights.lie {
            Lie::Panels { .. } => grouped.size.is_multiple_of(decode.line_depth()),
            Lie::Rows { .. } => true,
            Lie::Columns { .. } => {
                let parts = vector / grouped.size;
                let inside = parts <= MOST_GROUPS && vector.is_multiple_of(grouped.size) && lanes.is_multiple_of(parts.max(1));
                rows <= gemv::SCALED_ROWS && weights.k.is_multiple_of(vector) && (grouped.size.is_multiple_of(vector) || inside)
            }
        };
        if grouped.is_some_and(|grouped| !weights.k.is_multiple_of(grouped.size) || !fits(grouped)) {
            return Err(Skip::Attr("quantisation by groups that end within what is multiplied at a time".into()));
        }
        let unit = match (weights.lie, grouped) {
            (Lie::Columns { .. }, Some(grouped)) => grouped.size.max(vector),
            (_, Some(grouped)) => grouped.size,
            (Lie::Panels { .. }, None) => 4 * decode.line_depth(),
            (Lie::Rows { .. }, None) => gemv::Gemv::lines(isa),
            (Lie::Columns { .. }, None) => vector,
        };
        let cut = Cut::new(&request, decode, unit);
        let vectors = match weights.lie {
            Lie::Panels { columns, .. } => gemv::Gemv::vectors(isa, decode, rows, columns / lanes),
            _ => 0,
        };
        let order = Order::new(decode, weights.lie, rows, weights.k, lanes);
        Ok(Product { request, decode, order, cut, vectors })
    }

    /// What it keeps where, and how fast it multiplies.
    pub fn how(&self) -> How {
        let Request { isa, weights, rows, .. } = self.request;
        let (lanes, depth) = (isa.width().lanes(), 1 + usize::from(self.decode.pairs));
        How {
            algorithm: "a walk along the weights where they lie, decoded in registers".into(),
            registers: (format!("sums of {rows} rows"), rows * self.vectors.max(1) * lanes * 4),
            blocks: vec![(format!("{rows} rows of the other operand, which all weights meet"), rows * weights.k * 4 / depth)],
            rate: Core::host().rate(lanes, depth),
            padding: 1.0,
            copies: 0,
            cores: self.request.workers,
        }
    }

    /// True when a source of plain numbers of the kernels' type, contiguous along the depth, needs no other order.
    pub fn takes_in_place(&self) -> bool {
        self.order.is_natural()
    }

    /// Type of elements that [`Operands::in_place`] holds.
    pub fn word_type(&self) -> DataType {
        if self.decode.pairs { DataType::Bf16 } else { DataType::F32 }
    }

    /// Bytes of scratch; `None` on overflow.
    pub fn scratch_bytes(&self) -> Option<usize> {
        let lens = self.lens()?;
        booked(&[lens.a, lens.a_sums, lens.tables[0], lens.tables[1], lens.partial, for_workers(self.request.workers, lens.worker)?])
    }

    fn lens(&self) -> Option<Lens> {
        let Request { weights, batches, rows, grouped, zero, .. } = self.request;
        let cut = &self.cut;
        let groups = grouped.map_or(1, |g| weights.k / g.size);
        let has_zero = zero || grouped.is_some_and(|g| g.zero.is_some());
        let table = |factor: Option<Factor>| match factor {
            Some(Factor::Table) => groups.checked_mul(self.request.padded_columns()),
            _ => Some(0),
        };
        let pieces = if cut.slices > 1 { batches.checked_mul(cut.slices)?.checked_mul(cut.tasks)? } else { 0 };
        Some(Lens {
            a: batches.checked_mul(self.order.chunks())?.checked_mul(self.order.chunk())?,
            a_sums: if has_zero { batches.checked_mul(groups)?.checked_mul(rows)? } else { 0 },
            tables: [table(grouped.and_then(|g| g.scale))?, table(grouped.and_then(|g| g.zero))?],
            partial: pieces.checked_mul(rows.checked_mul(cut.columns())?)?,
            worker: rows.checked_mul(cut.block)?.checked_add(self.raw_len()?)?,
        })
    }

    fn lanes(&self) -> usize {
        self.request.isa.width().lanes()
    }

    /// Elements that a block's kernel leaves, where they are not its sums.
    fn raw_len(&self) -> Option<usize> {
        let (rows, in_lane) = (self.request.rows, self.decode.in_lane());
        match self.request.weights.lie {
            Lie::Panels { .. } => Some(0),
            Lie::Rows { .. } => {
                let scaled = self.request.grouped.is_some_and(|g| g.scale.is_some());
                let sums = self.cut.block.checked_add(self.lanes() * in_lane)?;
                sums.checked_add(if scaled { self.cut.block } else { 0 })?.checked_mul(rows)
            }
            Lie::Columns { .. } => self.cut.block.checked_mul(rows)?.checked_add(self.lanes()),
        }
    }

    /// Makes the kernels.
    ///
    /// # Errors
    /// [`Error::Runtime`] when code cannot be made.
    pub fn build(&self) -> Result<ReadyProduct, Error> {
        let Request { isa, weights, rows, grouped, .. } = self.request;
        let (lanes, in_word) = (self.lanes(), self.decode.stored.in_word());
        let get = |walk: Walk| Ready::get(isa, gemv::Gemv { decode: self.decode, rows: rows as u8, walk });
        let (main, single) = match weights.lie {
            Lie::Panels { columns, .. } => {
                let groups = grouped.map(|g| Groups { scale: g.scale.map(Factor::elem), zero: g.zero.map(Factor::elem) });
                (get(Walk::Panel { line: (columns / lanes) as u8, vectors: self.vectors as u8, groups })?, None)
            }
            Lie::Rows { .. } => {
                let (lines, masked) = (gemv::Gemv::lines(isa), !(weights.n / self.decode.in_lane()).is_multiple_of(lanes));
                let whole = grouped.map_or(weights.k, |g| g.size).is_multiple_of(lines) && weights.k.is_multiple_of(lines);
                let single = (!whole).then(|| get(Walk::Lines { lines: 1, masked })).transpose()?;
                (get(Walk::Lines { lines: lines as u8, masked })?, single)
            }
            Lie::Columns { .. } => {
                let (columns, masked) = (self.cut.taken, !(weights.k / in_word).is_multiple_of(lanes));
                let scale = |g: Grouped| g.scale.map(|s| Scales { elem: s.elem(), in_vector: (lanes * in_word / g.size).max(1) as u8 });
                let walk = |columns: usize| Walk::Columns { columns: columns as u8, masked, scales: grouped.and_then(scale) };
                let single = (!weights.n.is_multiple_of(columns)).then(|| get(walk(1))).transpose()?;
                (get(walk(columns))?, single)
            }
        };
        Ok(ReadyProduct { product: self.clone(), set: Set { main, single } })
    }

    fn arrange<'s>(&self, on: &Operands<'_>, executor: &dyn Executor, part: Part<'s>) -> &'s [f32] {
        let Request { batches, rows, weights, .. } = self.request;
        let chunks = self.order.chunks();
        let executor = if batches * rows * weights.k < ALONE { &Inline } else { executor };
        part.fill(executor, self.order.chunk(), &|piece, out| {
            let pos = self.request.positions(on, piece / chunks)[0];
            self.order.arrange(on.a, (&on.places.axes[0], &on.places.axes[1]), &pos, piece % chunks, out);
        })
    }

    /// A task of whole depth: its blocks, finished.
    fn columns(&self, set: &Set, shared: &Shared<'_>, task: usize, scratch: &mut [f32]) {
        let (batch, task) = (task / self.cut.tasks, task % self.cut.tasks);
        let (sums, raw) = scratch.split_at_mut(self.request.rows * self.cut.block);
        for block in self.blocks(task) {
            self.block(set, shared, (batch, 0, block), (sums, self.cut.block), raw);
            self.finish(shared, batch, block, sums);
        }
    }

    /// Columns at which the blocks of a task begin.
    fn blocks(&self, task: usize) -> impl Iterator<Item = usize> {
        let (first, n) = (task * self.cut.columns(), self.request.weights.n);
        (first..n.min(first + self.cut.columns())).step_by(self.cut.block)
    }

    /// A task of a slice of the depth: the sums of its blocks, row by row.
    fn slice(&self, set: &Set, shared: &Shared<'_>, (batch, slice, task): (usize, usize, usize), sums: &mut [f32], scratch: &mut [f32]) {
        let first = task * self.cut.columns();
        for block in self.blocks(task) {
            self.block(set, shared, (batch, slice, block), (&mut sums[block - first..], self.cut.columns()), scratch);
        }
    }

    /// Adds the slices of a task's columns up and finishes them.
    fn add_slices(&self, shared: &Shared<'_>, task: usize, partial: &[f32], scratch: &mut [f32]) {
        let (batch, task) = (task / self.cut.tasks, task % self.cut.tasks);
        let Cut { block, tasks, slices, .. } = self.cut;
        let (rows, step) = (self.request.rows, self.cut.columns());
        let sums = &mut scratch[..rows * block];
        for first in self.blocks(task) {
            for slice in 0..slices {
                let piece = &partial[((batch * slices + slice) * tasks + task) * rows * step..][..rows * step];
                for (row, sums) in sums.chunks_exact_mut(block).enumerate() {
                    let part = &piece[row * step + first - task * step..][..block];
                    if slice == 0 {
                        sums.copy_from_slice(part);
                    } else {
                        sums.iter_mut().zip(part).for_each(|(s, p)| *s += p);
                    }
                }
            }
            self.finish(shared, batch, first, sums);
        }
    }

    fn finish(&self, shared: &Shared<'_>, batch: usize, first: usize, sums: &mut [f32]) {
        let at = Finished { batch, row: 0, rows: self.request.rows, first, columns: self.cut.block, step: self.cut.block };
        self.request.finish(shared.on, shared.a_sums, at, sums);
    }

    /// The sums of a slice of a block, rows `step` apart.
    fn block(
        &self,
        set: &Set,
        shared: &Shared<'_>,
        (batch, slice, first): (usize, usize, usize),
        (sums, step): (&mut [f32], usize),
        raw: &mut [f32],
    ) {
        let weights = &self.request.weights;
        let start = slice * self.cut.slice;
        let depth = self.cut.slice.min(weights.k - start);
        let columns = self.cut.block.min(weights.n - first);
        let groups = self.request.grouped.map_or(1, |g| weights.k / g.size);
        let (a, a_row) = if shared.on.in_place.is_some() {
            self.in_place_start(shared.on, batch)
        } else {
            (batch * self.order.chunks() * self.order.chunk(), self.order.row())
        };
        let on = On {
            a: &shared.a[a + self.order.words(start)..],
            a_row,
            b: self.request.weights_of(shared.on, batch),
            b_row: 0,
            groups: 0,
            count: 0,
            parts: 0,
            last: 0,
            scale: shared.scale,
            zero: shared.zero,
            a_sums: &shared.a_sums[(batch * groups * self.request.rows).min(shared.a_sums.len())..],
        };
        let block = WeightBlock { first, columns, start, depth };
        match weights.lie {
            Lie::Panels { columns: width, distance } => self.panels(set, on, [width, distance], block, RawSums { raw, sums, step }),
            Lie::Rows { .. } => self.rows(set, shared, on, block, RawSums { raw, sums, step }),
            Lie::Columns { distance } => {
                self.columns_of(set, on, distance, block, RawSums { raw: &mut *raw, sums: &mut *sums, step });
                self.subtract_zeros(shared, on, block, (&mut *sums, step));
                if !depth.is_multiple_of(self.decode.stored.in_word()) {
                    self.last_row(shared.on, batch, distance, block, RawSums { raw, sums, step });
                }
            }
        }
    }

    /// Where the rows of a batch begin in a source that is taken in place, and their distance.
    fn in_place_start(&self, on: &Operands<'_>, batch: usize) -> (usize, usize) {
        let (numbers, row) = (if self.decode.pairs { 2 } else { 1 }, on.places.axes[0].chained(on.a.view.blocking()).unwrap_or(0) as usize);
        (on.a.view.offset(&self.request.positions(on, batch)[0]) / numbers, row / numbers)
    }
}

impl ReadyProduct {
    /// Computes everything.
    ///
    /// # Errors
    /// [`Error::Runtime`] when scratch is short.
    pub fn run(&self, on: &Operands<'_>, executor: &dyn Executor, scratch: &mut Scratch<'_>) -> Result<(), Error> {
        let ReadyProduct { product, set } = self;
        let lens = product.lens().ok_or_else(|| Error::Runtime("sizes beyond the address space".into()))?;
        let Request { workers, batches, grouped, .. } = product.request;
        let a = scratch.take(lens.a)?;
        let a = match on.in_place {
            Some(words) => words,
            None => product.arrange(on, executor, a),
        };
        let a_sums = product.request.sum_groups(on, scratch.take(lens.a_sums)?, executor);
        let [scale, zero] = [(grouped.and_then(|g| g.scale), on.scale, 0), (grouped.and_then(|g| g.zero), on.zero, 1)]
            .map(|(factor, from, i)| (factor, from, on.factors[i], lens.tables[i]))
            .map(|(factor, from, buf, len)| product.request.factor(on, (factor, from), buf, scratch.take(len), executor));
        let shared = Shared { on, a, a_sums, scale: scale?, zero: zero? };
        let partial = scratch.take(lens.partial)?;
        let mut each = scratch.take(for_workers(workers, lens.worker).unwrap_or(0))?;
        let Cut { tasks, slices, .. } = product.cut;
        if slices == 1 {
            each.work(executor, workers, batches * tasks, &|task, scratch| product.columns(set, &shared, task, scratch));
            return Ok(());
        }
        let piece = product.request.rows * product.cut.columns();
        let all = batches * slices * tasks;
        let partial = each.work_on(partial, executor, workers, (all, piece), &|task, sums, scratch| {
            let (column, rest) = (task % tasks, task / tasks);
            product.slice(set, &shared, (rest / slices, rest % slices, column), sums, scratch);
        });
        let partial: &[f32] = partial.into_slice();
        each.work(executor, workers, batches * tasks, &|task, scratch| product.add_slices(&shared, task, partial, scratch));
        Ok(())
    }
}
