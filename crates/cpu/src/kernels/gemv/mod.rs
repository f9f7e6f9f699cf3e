//! Products of up to 8 rows (GEMV-like), bound by memory: weights are read once, in place, in the type in which they are stored.
//!
//! Generated kernels (`oxidnn_jit::kernels::gemv`) stream the weights in memory order and decode them in registers. The small operand `A`
//! is rearranged once for all tasks to suit that, and sums go through scratch to the epilogue that all products share. Tasks are runs of
//! columns, and slices of K if columns are few; the sums of slices are added in order.

mod by_layout;
mod call;
mod cut;
mod plain;
mod row;
mod shared;
mod source;
mod unpacked;
mod weights;

use super::access::Axis;
use super::broadcast::Broadcast;
use super::dot::pack::Source;
use super::macrokernel::SumBlock;
use super::portable_epilogue::PortableEpilogue;
use super::scratch::{Part, Scratch, booked, for_workers};
use crate::decision::How;
use crate::hardware::Core;
use by_layout::{RawSums, WeightBlock};
use call::{Column, On, Ready};
use cut::Cut;
use oxidnn_jit::Isa;
use oxidnn_jit::ir::Elem;
pub use oxidnn_jit::kernels::gemv::MAX_ROWS;
use oxidnn_jit::kernels::gemv::{self, Groups, Layout, Scales};
use oxidnn_jit::kernels::unpack::Decode;
use oxidnn_runtime::{Buf, Executor, Inline, Skip};
use oxidnn_spec::{DataType, Dims, Error, Tensor};
pub use row::{PanelRun, Row};
use source::Order;
pub use unpacked::{ReadyUnpacked, Unpacked};
use weights::WeightOrder;
pub use weights::Weights;

/// Size of `A` below which one thread rearranges it.
const ALONE: usize = 32 << 10;
/// Most groups of K that share a vector of a column.
const MOST_GROUPS: usize = 8;
/// Bytes of a panel that may be read several times if registers cannot hold the sums of all its vectors at once.
const REREAD: usize = 32 << 10;

/// Quantisation of weights that varies along K.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Grouped {
    /// Elements of K in a group.
    pub size: usize,
    /// Scales, unless the epilogue applies them.
    pub scale: Option<Factor>,
    /// Zero points.
    pub zero: Option<Factor>,
}

/// The form of the scales or zero points of groups.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Factor {
    /// One for every column, group after group: read where the caller has them.
    InPlace(DataType),
    /// Any other: they are copied to a table of f32.
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

/// The parameters of a plan.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// Instruction set.
    pub isa: Isa,
    /// Largest number of workers.
    pub workers: usize,
    /// The weights of one product of the batch.
    pub weights: Weights,
    /// Number of batches.
    pub batches: usize,
    /// Rows, 1 to [`MAX_ROWS`].
    pub rows: usize,
    /// Whether all elements of the source are numbers of bf16, and are multiplied as such.
    pub bf16: bool,
    /// Quantisation of weights that varies along K.
    pub grouped: Option<Grouped>,
    /// Whether scaled weights may be rounded to bf16, as the source's elements are.
    pub rounds: bool,
    /// Whether weights have zero points that do not vary along K.
    pub zero: bool,
}

/// A planned product.
#[derive(Clone, Debug)]
pub struct Product {
    request: Request,
    decode: Decode,
    order: Order,
    cut: Cut,
    /// Vectors of a panel's line that a call takes.
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
    /// For the remaining panels, rows or columns of weights.
    single: Option<Ready>,
}

/// The dimensions and strides of the operands, known when planning.
#[derive(Clone, Copy, Debug)]
pub struct Places {
    /// Rows and K of the source.
    pub axes: [Axis; 2],
    /// Dimensions of columns and of K in the weights.
    pub weights: [usize; 2],
    /// Dimensions of rows and columns in the destination.
    pub dst: [usize; 2],
    /// Sizes of the batch dimensions.
    pub batch: Dims,
    /// Byte strides of weights along them, 0 where they are broadcast.
    pub batch_bytes: Dims,
}

impl Places {
    /// The places of a source, weights and a destination with `batch` leading batch dimensions: dimensions of rows and K, of columns and K,
    /// of rows and columns.
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
    /// The places of the operands.
    pub places: &'a Places,
    /// The source.
    pub a: &'a Source<'a>,
    /// The source's words, if [`Product::takes_words`] holds and nothing that is written overlaps them.
    pub words: Option<&'a [f32]>,
    /// The weights' memory.
    pub b: Buf<'a>,
    /// Zero points and scales of weights, by position in the weights; scales only if they vary along K.
    pub zero: &'a Broadcast<'a>,
    /// See `zero`.
    pub scale: &'a Broadcast<'a>,
    /// Memory of scales and zero points that are read in place.
    pub factors: [Option<Buf<'a>>; 2],
    /// The destination.
    pub epilogue: &'a PortableEpilogue<'a>,
}

/// Lengths of the parts of scratch.
struct Lens {
    a: usize,
    a_sums: usize,
    tables: [usize; 2],
    partial: usize,
    worker: usize,
}

/// What the tasks of an execution share.
struct Shared<'a> {
    on: &'a Operands<'a>,
    a: &'a [f32],
    a_sums: &'a [f32],
    scale: Option<Column<'a>>,
    zero: Option<Column<'a>>,
}

impl Product {
    /// Plans a product.
    ///
    /// # Errors
    /// Products that the kernels do not take.
    pub fn new(request: Request) -> Result<Product, Skip> {
        let Request { isa, weights, rows, grouped, .. } = request;
        let lanes = isa.width().lanes();
        if weights.k == 0 || weights.n == 0 || rows == 0 || rows > MAX_ROWS {
            return Err(Skip::Shape("not of 1 to 8 rows"));
        }
        if !weights.has_whole_words() {
            return Err(Skip::Layout("of weights: rows or columns that end within a word".into()));
        }
        let rows_of_weights = matches!(weights.order, WeightOrder::Rows { .. });
        let decode = Decode { stored: weights.stored, pairs: request.bf16 && !rows_of_weights && weights.stored.has_pairs(isa) };
        let vector = lanes * weights.stored.in_word();
        let fits = |grouped: Grouped| match weights.order {
            WeightOrder::Panels { .. } => grouped.size.is_multiple_of(decode.line_depth()),
            WeightOrder::Rows { .. } => true,
            WeightOrder::Columns { .. } => {
                let parts = vector / grouped.size;
                let inside = parts <= MOST_GROUPS && vector.is_multiple_of(grouped.size) && lanes.is_multiple_of(parts.max(1));
                rows <= gemv::SCALED_ROWS && weights.k.is_multiple_of(vector) && (grouped.size.is_multiple_of(vector) || inside)
            }
        };
        if grouped.is_some_and(|grouped| !weights.k.is_multiple_of(grouped.size) || !fits(grouped)) {
            return Err(Skip::Attr("quantisation by groups that end within what is multiplied at a time".into()));
        }
        let unit = match (weights.order, grouped) {
            (WeightOrder::Columns { .. }, Some(grouped)) => grouped.size.max(vector),
            (_, Some(grouped)) => grouped.size,
            (WeightOrder::Panels { .. }, None) => 4 * decode.line_depth(),
            (WeightOrder::Rows { .. }, None) => gemv::Gemv::lines(isa),
            (WeightOrder::Columns { .. }, None) => vector,
        };
        let cut = Cut::new(&request, decode, unit);
        let vectors = match weights.order {
            WeightOrder::Panels { columns, .. } => gemv::Gemv::vectors(isa, decode, rows, columns / lanes),
            _ => 0,
        };
        let order = Order::new(decode, weights.order, rows, weights.k, lanes);
        Ok(Product { request, decode, order, cut, vectors })
    }

    /// Blocks and the caches they stay in, and the predicted speed.
    pub fn how(&self) -> How {
        let Request { isa, weights, rows, .. } = self.request;
        let (lanes, depth) = (isa.width().lanes(), 1 + usize::from(self.decode.pairs));
        How::new("weights streamed in place, decoded in registers", Core::host().rate(lanes, depth), self.request.workers)
            .registers(format!("sums of {rows} rows"), rows * self.vectors.max(1) * lanes * 4)
            .block(format!("{rows} rows of the other operand, which all weights meet"), rows * weights.k * 4 / depth)
    }

    /// Whether a source of the kernels' type without quantisation, contiguous along K, is read in place, or its rows' words are interleaved.
    pub fn takes_words(&self) -> bool {
        self.order.is_natural() || self.order.interleaves()
    }

    /// The element type of [`Operands::words`].
    pub fn word_type(&self) -> DataType {
        if self.decode.pairs { DataType::Bf16 } else { DataType::F32 }
    }

    /// Bytes of scratch; `None` on overflow.
    pub fn scratch_bytes(&self) -> Option<usize> {
        let lens = self.lens()?;
        booked(&[lens.a, lens.a_sums, lens.tables[0], lens.tables[1], lens.partial, for_workers(self.request.workers, lens.worker)?])
    }

    fn lens(&self) -> Option<Lens> {
        let (Request { batches, rows, .. }, cut) = (self.request, &self.cut);
        let [a_sums, tables @ ..] = self.request.lens()?;
        let pieces = if cut.slices > 1 { batches.checked_mul(cut.slices)?.checked_mul(cut.tasks)? } else { 0 };
        Some(Lens {
            a: batches.checked_mul(self.order.chunks())?.checked_mul(self.order.chunk())?,
            a_sums,
            tables,
            partial: pieces.checked_mul(rows.checked_mul(cut.columns())?)?,
            worker: rows.checked_mul(cut.block)?.checked_add(self.raw_len()?)?,
        })
    }

    fn lanes(&self) -> usize {
        self.request.isa.width().lanes()
    }

    /// Elements that a block's kernel writes before they are reduced to sums.
    fn raw_len(&self) -> Option<usize> {
        let (rows, in_lane) = (self.request.rows, self.decode.in_lane());
        match self.request.weights.order {
            WeightOrder::Panels { .. } => Some(0),
            WeightOrder::Rows { .. } => {
                let scaled = self.request.grouped.is_some_and(|g| g.scale.is_some());
                let sums = self.cut.block.checked_add(self.lanes() * in_lane)?;
                sums.checked_add(if scaled { self.cut.block } else { 0 })?.checked_mul(rows)
            }
            WeightOrder::Columns { .. } => self.cut.block.checked_mul(rows)?.checked_add(self.lanes()),
        }
    }

    /// Generates the kernels.
    ///
    /// # Errors
    /// [`Error::Runtime`] when code cannot be generated.
    pub fn build(&self) -> Result<ReadyProduct, Error> {
        let Request { isa, weights, rows, grouped, .. } = self.request;
        let (lanes, in_word) = (self.lanes(), self.decode.stored.in_word());
        let get = |layout: Layout| Ready::get(isa, gemv::Gemv { decode: self.decode, rows: rows as u8, layout });
        let (main, single) = match weights.order {
            WeightOrder::Panels { columns, .. } => {
                let groups = grouped.map(|g| Groups { scale: g.scale.map(Factor::elem), zero: g.zero.map(Factor::elem) });
                let panels = self.cut.taken / columns;
                let layout = |panels: usize| Layout::Panel {
                    line: (columns / lanes) as u8,
                    vectors: self.vectors as u8,
                    panels: panels as u8,
                    groups,
                };
                let single = (!weights.n.div_ceil(columns).is_multiple_of(panels)).then(|| get(layout(1))).transpose()?;
                (get(layout(panels))?, single)
            }
            WeightOrder::Rows { .. } => {
                let (lines, in_lane) = (gemv::Gemv::lines(isa), self.decode.in_lane());
                let (odd, masked) = (!weights.n.is_multiple_of(in_lane), !weights.n.is_multiple_of(lanes * in_lane));
                let whole = !odd && grouped.map_or(weights.k, |g| g.size).is_multiple_of(lines) && weights.k.is_multiple_of(lines);
                let single = (!whole).then(|| get(Layout::Rows { lines: 1, masked })).transpose()?;
                (get(Layout::Rows { lines: lines as u8, masked })?, single)
            }
            WeightOrder::Columns { .. } => {
                let (columns, masked) = (self.cut.taken, !(weights.k / in_word).is_multiple_of(lanes));
                let scale = |g: Grouped| g.scale.map(|s| Scales { elem: s.elem(), in_vector: (lanes * in_word / g.size).max(1) as u8 });
                let layout = |columns: usize| Layout::Columns { columns: columns as u8, masked, scales: grouped.and_then(scale) };
                let single = (!weights.n.is_multiple_of(columns)).then(|| get(layout(1))).transpose()?;
                (get(layout(columns))?, single)
            }
        };
        Ok(ReadyProduct { product: self.clone(), set: Set { main, single } })
    }

    fn arrange<'s>(&self, on: &Operands<'_>, executor: &dyn Executor, part: Part<'s>) -> &'s [f32] {
        let Request { batches, rows, weights, .. } = self.request;
        let chunks = self.order.chunks();
        let executor = if batches * rows * weights.k < ALONE { &Inline } else { executor };
        part.fill(executor, self.order.chunk(), &|piece, out| {
            if let Some(words) = on.words {
                let (start, row) = self.start_of_words(on, piece / chunks);
                return self.order.interleave(&words[start..], row, piece % chunks, out);
            }
            let pos = self.request.positions(on, piece / chunks)[0];
            self.order.arrange(on.a, (&on.places.axes[0], &on.places.axes[1]), &pos, piece % chunks, out);
        })
    }

    /// A task over all of K: computes and finishes its blocks.
    fn columns(&self, set: &Set, shared: &Shared<'_>, task: usize, scratch: &mut [f32]) {
        let (batch, task) = (task / self.cut.tasks, task % self.cut.tasks);
        let (sums, raw) = scratch.split_at_mut(self.request.rows * self.cut.block);
        for block in self.blocks(task) {
            self.block(set, shared, (batch, 0, block), (sums, self.cut.block), raw);
            self.finish(shared, batch, block, sums);
        }
    }

    /// The first columns of the blocks of a task.
    fn blocks(&self, task: usize) -> impl Iterator<Item = usize> {
        let (first, n) = (task * self.cut.columns(), self.request.weights.n);
        (first..n.min(first + self.cut.columns())).step_by(self.cut.block)
    }

    /// A task over a slice of K: the sums of its blocks, row by row.
    fn slice(&self, set: &Set, shared: &Shared<'_>, (batch, slice, task): (usize, usize, usize), sums: &mut [f32], scratch: &mut [f32]) {
        let first = task * self.cut.columns();
        for block in self.blocks(task) {
            self.block(set, shared, (batch, slice, block), (&mut sums[block - first..], self.cut.columns()), scratch);
        }
    }

    /// Adds the slices of a task's columns and finishes them.
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
        let (rows, step) = (0..self.request.rows, self.cut.block);
        let block = SumBlock { unit: batch, rows, columns: first..first + step, sums, spare: &mut [], step };
        self.request.finish(shared.on, shared.a_sums, block);
    }

    /// Computes the sums of a slice of a block, with rows `step` apart.
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
        let (a, a_row) = if shared.on.words.is_some() && self.order.is_natural() {
            self.start_of_words(shared.on, batch)
        } else {
            (batch * self.order.chunks() * self.order.chunk(), self.order.row())
        };
        let a_sums = &shared.a_sums[(batch * groups * self.request.rows).min(shared.a_sums.len())..];
        let from = On::new(&shared.a[a + self.order.words(start)..], self.request.weights_of(shared.on, batch));
        let on = On { a_row, scale: shared.scale, zero: shared.zero, a_sums, ..from };
        let block = WeightBlock { first, columns, start, depth };
        match weights.order {
            WeightOrder::Panels { columns: width, .. } => self.panels(set, on, width, block, RawSums { raw, sums, step }),
            WeightOrder::Rows { .. } => self.rows(set, shared, on, block, RawSums { raw, sums, step }),
            WeightOrder::Columns { distance } => {
                self.columns_of(set, on, distance, block, RawSums { raw: &mut *raw, sums: &mut *sums, step });
                self.subtract_zeros(shared, on, block, (&mut *sums, step));
                if !depth.is_multiple_of(self.decode.stored.in_word()) {
                    self.last_row(shared.on, batch, distance, block, RawSums { raw, sums, step });
                }
            }
        }
    }

    /// The offset and stride of the rows' words of a product of the batch.
    fn start_of_words(&self, on: &Operands<'_>, batch: usize) -> (usize, usize) {
        let (numbers, row) = (if self.decode.pairs { 2 } else { 1 }, on.places.axes[0].chained(on.a.view.blocking()).unwrap_or(0) as usize);
        (on.a.view.offset(&self.request.positions(on, batch)[0]) / numbers, row / numbers)
    }
}

impl ReadyProduct {
    /// Computes all products.
    ///
    /// # Errors
    /// [`Error::Runtime`] when scratch is too short.
    pub fn run(&self, on: &Operands<'_>, executor: &dyn Executor, scratch: &mut Scratch<'_>) -> Result<(), Error> {
        let ReadyProduct { product, set } = self;
        let lens = product.lens().ok_or_else(|| Error::Runtime("sizes beyond the address space".into()))?;
        let Request { workers, batches, .. } = product.request;
        let a = scratch.take(lens.a)?;
        let a = match on.words {
            Some(words) if product.order.is_natural() => words,
            _ => product.arrange(on, executor, a),
        };
        let a_sums = product.request.sum_groups(on, scratch.take(lens.a_sums)?, executor);
        let [scale, zero] = product.request.columns(on, on.factors, lens.tables.map(|len| scratch.take(len)), executor)?;
        let shared = Shared { on, a, a_sums, scale, zero };
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
