//! Products with weights of 8 or 4 bits, or of f16, plain or in panels. The [macrokernel](crate::kernels::macrokernel) packs its panels by unpacking them, K block
//! by K block; they stay in L2 while all rows of a block use them. On AMX, all weights are unpacked first.
//!
//! Without groups, elements become bf16, exactly, if the source is exact in bf16, and the epilogue applies scales; with groups they become f32 and
//! are scaled. Sums start with the terms of zero points that have no groups, so that all that follows can run in registers.

use super::call::{Column, Unpacker};
use super::plain::{Plain, PlainPacker};
use super::weights::{WeightOrder, Weights};
use super::{Factor, Grouped, MAX_ROWS, Operands, Request};
use crate::CpuTarget;
use crate::decision::How;
use crate::kernels::amx;
use crate::kernels::gemm::{self, Gemm, Kind, Sizes};
use crate::kernels::macrokernel::{BLayout, Packing, PanelBlock, SumBlock};
use crate::kernels::microkernel::layout::panel_columns;
use crate::kernels::microkernel::{self, Epilogue, MOST_ROWS, Stride, max_vectors};
use crate::kernels::multiversion::Simd;
use crate::kernels::scratch::{Part, Scratch, booked};
use oxidnn_jit::kernels::unpack::{Stored, Unpack};
use oxidnn_runtime::{Buf, Executor, Skip};
use oxidnn_spec::{DataType, Error};
use std::sync::Arc;

/// Elements that are converted at a time while the source is copied.
const CHUNK: usize = 256;
/// At row strides that are multiples of this many bytes, the rows of a vector tile map to few cache sets.
const L1_ALIAS_BYTES: usize = 1024;

/// A planned product.
#[derive(Clone, Debug)]
pub struct Unpacked {
    request: Request,
    gemm: Gemm,
    /// Whether bf16 pairs are multiplied; else f32.
    pairs: bool,
    /// Whether the source has the type and order of the products' operands and is read in place.
    in_order: bool,
    in_place: bool,
    from: From,
    /// The epilogue in registers, if it can do everything.
    epilogue: Option<Arc<Epilogue>>,
}

/// The form of the weights.
#[derive(Clone, Copy, Debug)]
enum From {
    /// Panels of `columns` columns, `distance` bytes apart, unpacked by generated code.
    Panels { columns: usize, distance: usize },
    /// Rows or columns.
    Plain(Plain),
}

/// A product with its kernels.
#[derive(Debug)]
pub struct ReadyUnpacked {
    product: Unpacked,
    packer: Packer,
    gemm: gemm::Ready,
}

/// Unpacks panels to L2.
#[derive(Debug)]
enum Packer {
    /// Generated code, for panels.
    Panels(PanelUnpacker),
    /// For rows or columns.
    Plain(PlainPacker),
}

/// The code that unpacks panels, and their stride in bytes.
#[derive(Debug)]
struct PanelUnpacker {
    code: Unpacker,
    distance: usize,
}

/// Elements of scratch: the source and its sums by group, tables of scales and zero points, and the product's.
struct Lens {
    a: usize,
    a_sums: usize,
    tables: [usize; 2],
    lines: usize,
    work: usize,
}

impl Request {
    /// The same request with zero points subtracted while weights are unpacked, if they do not vary along K and weights may be rounded: on
    /// AMX, sums cannot start with the terms of zero points.
    fn subtracting(self) -> Request {
        let Request { weights, grouped, rounds, zero, .. } = self;
        let whole = weights.k.is_multiple_of(if let WeightOrder::Panels { .. } = weights.order { weights.stored.in_word() } else { 2 });
        if !(zero && rounds && whole && grouped.is_none()) {
            return self;
        }
        let grouped = Grouped { size: weights.k, scale: None, zero: Some(Factor::Table) };
        Request { grouped: Some(grouped), zero: false, ..self }
    }
}

impl Unpacked {
    /// Blocks and the caches they stay in, and the predicted speed.
    pub fn how(&self) -> How {
        self.gemm.how()
    }

    /// Plans a product. `natural` is the byte stride of rows if the source has plain f32 or bf16 elements, contiguous along K; `epilogue` does
    /// everything after the sums, if it is given.
    ///
    /// # Errors
    /// Products that it does not take.
    pub fn new(request: Request, natural: Option<usize>, epilogue: Option<Epilogue>, target: &CpuTarget) -> Result<Unpacked, Skip> {
        let request = if request.isa.amx { request.subtracting() } else { request };
        let Request { isa, weights, grouped, rows, .. } = request;
        if weights.stored.bits() > 8 && weights.stored != Stored::F16 {
            return Err(Skip::DataType("weights that are neither of 8 or 4 bits nor f16".into()));
        }
        if weights.k == 0 || weights.n == 0 || rows == 0 {
            return Err(Skip::Shape("nothing to multiply"));
        }
        // With few rows, rounding weights takes longer than multiplying in f32.
        let rounds = request.rounds && rows > MAX_ROWS;
        let pairs = request.bf16 && isa.bf16 && grouped.is_none_or(|g| rounds && g.size.is_multiple_of(2));
        let group = grouped.map(|g| g.size);
        let (from, width, depth) = match weights.order {
            WeightOrder::Panels { columns, distance } if weights.stored != Stored::F16 => {
                if columns / isa.width().lanes() > max_vectors(isa) {
                    return Err(Skip::Layout("of weights: panels that tiles do not have".into()));
                }
                let in_word = weights.stored.in_word();
                if grouped.is_some_and(|g| !g.size.is_multiple_of(in_word) || !weights.k.is_multiple_of(g.size)) {
                    return Err(Skip::Attr("groups of weights that share words".into()));
                }
                (From::Panels { columns, distance }, columns, weights.k.next_multiple_of(in_word))
            }
            _ if Plain::takes(&weights, group) && grouped.is_none_or(|g| weights.k.is_multiple_of(g.size)) => {
                let width = if let WeightOrder::Panels { columns, .. } = weights.order { columns } else { panel_columns(isa, weights.n) };
                if width / isa.width().lanes() > max_vectors(isa) {
                    return Err(Skip::Layout("of weights: panels that tiles do not have".into()));
                }
                (From::Plain(Plain { weights, width, pairs, group: group.unwrap_or(usize::MAX) }), width, weights.k)
            }
            _ => return Err(Skip::Layout("of weights: rows, columns or groups that begin within a byte".into())),
        };
        let natural = natural.filter(|_| pairs || !request.bf16);
        let product = if pairs { microkernel::DotType::Bf16 } else { microkernel::DotType::F32 };
        // Sums can start with the terms of zero points on vectors only.
        let epilogue = epilogue.filter(|_| !(request.zero && isa.amx)).map(Arc::new);
        let begins = request.zero && epilogue.is_some();
        let kind = Kind { isa, product, right: BLayout::Decoded, a_step: Stride::Fixed(4), begins, epilogue: epilogue.clone() };
        let gemm = Gemm::new(kind, Sizes { batch: request.batches, rows, columns: weights.n, width, depth }, target)?;
        let mut unpacked = Unpacked { request, gemm, pairs, in_order: false, in_place: false, from, epilogue };
        unpacked.in_order = natural.is_some() && unpacked.order().2;
        unpacked.in_place = unpacked.in_order && natural.is_some_and(|row| !unpacked.repays_copy(row, target));
        Ok(unpacked)
    }

    /// Whether rows at this byte stride are multiplied faster from a copy.
    fn repays_copy(&self, row: usize, target: &CpuTarget) -> bool {
        let Request { weights, rows, .. } = self.request;
        if self.is_on_amx() {
            return amx::repays_copy(&target.caches, [weights.k * size_of::<u16>(), row], [rows, weights.n]);
        }
        // Vector tiles broadcast the elements of a cache line one by one, so the lines of all rows of a tile must stay in L1.
        row.is_multiple_of(L1_ALIAS_BYTES) && rows > MOST_ROWS
    }

    /// Whether it runs on AMX.
    pub fn is_on_amx(&self) -> bool {
        self.gemm.is_on_amx()
    }

    /// The element type of a source that is read in place.
    pub fn word_type(request: &Request) -> DataType {
        if request.bf16 { DataType::Bf16 } else { DataType::F32 }
    }

    /// Words of a row of the source's copy: an odd number of cache lines, which spreads rows over the cache sets.
    fn a_row(&self) -> usize {
        let words = if self.pairs { self.request.weights.k.div_ceil(2) } else { self.request.weights.k };
        words.next_multiple_of(16) | 16
    }

    /// Elements of scratch; `None` on overflow.
    fn lens(&self) -> Option<Lens> {
        let Request { weights, batches, rows, zero, .. } = self.request;
        let [a_sums, tables @ ..] = self.request.lens()?;
        let a = if self.in_place { 0 } else { batches.checked_mul(rows)?.checked_mul(self.a_row())? };
        let a_sums = if zero { a_sums } else { 0 };
        let lines = self.epilogue.as_ref().map_or(Some(0), |epilogue| epilogue.scratch(weights.n))?;
        Some(Lens { a, a_sums, tables, lines, work: self.gemm.scratch_len()? })
    }

    /// Bytes of scratch; `None` on overflow.
    pub fn scratch_bytes(&self) -> Option<usize> {
        let Lens { a, a_sums, tables: [scales, zeros], lines, work } = self.lens()?;
        booked(&[a, a_sums, scales, zeros, lines, work])
    }

    /// Generates the kernels.
    ///
    /// # Errors
    /// [`Error::Runtime`] when code cannot be generated.
    pub fn build(&self) -> Result<ReadyUnpacked, Error> {
        let packer = match self.from {
            From::Panels { columns, distance } => {
                let code = Unpacker::get(self.request.isa, self.unpack_spec(columns))?;
                Packer::Panels(PanelUnpacker { code, distance })
            }
            From::Plain(plain) => Packer::Plain(plain.build(self.request.isa, self.request.factors().map(|factor| factor.is_some()))?),
        };
        Ok(ReadyUnpacked { product: self.clone(), packer, gemm: self.gemm.build()? })
    }

    /// The kernel that unpacks panels of `columns` columns.
    fn unpack_spec(&self, columns: usize) -> Unpack {
        let Request { isa, weights, .. } = self.request;
        let [scale, zero] = self.request.factors().map(|factor| factor.map(Factor::elem));
        Unpack { stored: weights.stored, pairs: self.pairs, line: (columns / isa.width().lanes()) as u8, scale, zero }
    }

    /// The order of unpacked lines: elements of K within which it differs from K's, to a multiple of which the source is padded; which of
    /// these are the pairs of lines; and whether it is the order of K, to its end.
    fn order(&self) -> (usize, [[usize; 2]; 4], bool) {
        let Weights { stored, k, .. } = self.request.weights;
        match self.from {
            From::Panels { columns, .. } => {
                let (spec, natural) = (self.unpack_spec(columns), !self.pairs || stored.bits() > 4);
                (stored.in_word(), std::array::from_fn(|line| spec.places(line)), natural && k.is_multiple_of(stored.in_word()))
            }
            From::Plain(_) => (1 + usize::from(self.pairs), std::array::from_fn(|line| [2 * line, 2 * line + 1]), true),
        }
    }

    /// Copies the source as rows of the products' elements, by product of the batch.
    fn copy<'p>(&self, on: &Operands<'_>, executor: &dyn Executor, part: Part<'p>) -> Buf<'p> {
        let Request { batches, rows, weights, .. } = self.request;
        let (to, a_row) = (part.into_buf(), self.a_row());
        let bits = if self.pairs { 16 } else { 32 };
        if self.in_order {
            let row = weights.k * bits / 8;
            executor.run(executor.threads(), batches * rows, &|_, index| {
                let pos = on.places.axes[0].at(&self.request.positions(on, index / rows)[0], index % rows);
                to.copy::<u8>(index * a_row * 4, &on.a.view.buf(), on.a.view.offset(&pos) * bits / 8, row);
            });
            return to;
        }
        let (together, places, _) = self.order();
        executor.run(executor.threads(), batches * rows, &|_, index| {
            let pos = on.places.axes[0].at(&self.request.positions(on, index / rows)[0], index % rows);
            let (mut line, mut words) = ([0.0f32; CHUNK], [0u32; CHUNK / 2]);
            for first in (0..weights.k).step_by(CHUNK) {
                let count = CHUNK.min(weights.k - first);
                on.a.read(&on.places.axes[1], &pos, first, &mut line[..count]);
                // The last words of the weights may have elements beyond K: zeros are multiplied with them.
                line[count..].fill(0.0);
                let count = count.next_multiple_of(together);
                if !self.pairs {
                    to.write(index * a_row + first, &line[..count]);
                    continue;
                }
                let words = &mut words[..count / 2];
                for (words, line) in words.chunks_exact_mut(together / 2).zip(line.chunks_exact(together)) {
                    for (word, [low, high]) in words.iter_mut().zip(&places) {
                        *word = line[*low].to_bits() >> 16 | line[*high].to_bits() & 0xffff_0000;
                    }
                }
                to.write(index * a_row + first / 2, words);
            }
        });
        to
    }

    /// Byte offset of a product of the batch in the source or its copy, and the stride of rows in bytes.
    fn a_place(&self, on: &Operands<'_>, batch: usize) -> (usize, usize) {
        if !self.in_place {
            let row = self.a_row() * 4;
            return (batch * self.request.rows * row, row);
        }
        let size = if self.pairs { 2 } else { 4 };
        let row = on.places.axes[0].stride(&on.a.view).unwrap_or(0) as usize;
        (on.a.view.offset(&self.request.positions(on, batch)[0]) * size, row * size)
    }

    /// Unpacks panels, group by group.
    fn unpack(&self, unpacker: &PanelUnpacker, b: Buf, factors: &[Option<Column<'_>>; 2], panels: PanelBlock, to: &mut [f32]) {
        let Request { weights, grouped, .. } = self.request;
        let width = self.gemm.sizes().width;
        let in_word = weights.stored.in_word();
        let size = grouped.map_or(usize::MAX, |g| g.size);
        let elems = self.request.factors();
        let PanelBlock { at: start, depth, columns } = panels;
        let panel_len = depth.len() * width / if self.pairs { 2 } else { 1 };
        for (column, to) in columns.step_by(width).zip(to.chunks_exact_mut(panel_len.max(1))) {
            let mut at = depth.start;
            while at < depth.end {
                let end = depth.end.min((at / size + 1).saturating_mul(size));
                let factors = [0, 1].map(|i| {
                    let (of, elem) = (factors[i]?, elems[i]?.elem());
                    let begin = at / size * of.row + column * elem.bytes();
                    Some(of.buf.part(begin, of.buf.len() - begin))
                });
                let from = start + column / width * unpacker.distance + at / in_word * width * 4;
                let to = &mut to[(at - depth.start) * width / if self.pairs { 2 } else { 1 }..];
                unpacker.code.run(b.part(from, b.len() - from), (end - at).div_ceil(in_word), factors, to);
                at = end;
            }
        }
    }
}

impl ReadyUnpacked {
    /// Computes all products.
    ///
    /// # Errors
    /// [`Error::Runtime`] when scratch is too short.
    pub fn run(&self, (simd, on): (Simd, &Operands<'_>), executor: &dyn Executor, scratch: &mut Scratch<'_>) -> Result<(), Error> {
        let ReadyUnpacked { product, packer, gemm } = self;
        let request = &product.request;
        let Lens { a, a_sums, tables, lines, work } =
            product.lens().ok_or_else(|| Error::Runtime("sizes beyond the address space".into()))?;
        let a = scratch.take(a)?;
        let a = if product.in_place { on.a.view.buf() } else { product.copy(on, executor, a) };
        let a_sums = request.sum_groups(on, scratch.take(a_sums)?, executor);
        let factors = request.columns(on, on.factors, tables.map(|len| scratch.take(len)), executor)?;
        let pack = |panels: PanelBlock, to: &mut [f32]| match packer {
            Packer::Panels(unpacker) => product.unpack(unpacker, on.b, &factors, panels, to),
            Packer::Plain(plain) => plain.panels(simd, on.b, &factors, panels, to),
        };
        let store = |block: SumBlock<'_>| request.finish(on, a_sums, block);
        let lines = scratch.take(lines)?.into_slice();
        let args =
            product.epilogue.as_ref().map(|epilogue| epilogue.args(on.epilogue.chain(), on.places.dst[1], &[], lines)).transpose()?;
        let begin = |block: SumBlock<'_>| request.begin(on, a_sums, block);
        let dst = on.epilogue.dst();
        let (size, row) = (dst.dtype().bits() / 8, dst.stride(on.places.dst[0]).unwrap_or(0) as usize);
        let to = |batch: usize| if args.is_some() { dst.offset(&request.positions(on, batch)[2]) * size } else { 0 };
        let operands = gemm::Operands {
            a,
            a_row: product.a_place(on, 0).1,
            a_depth: if product.pairs { 2 } else { 4 },
            b: on.b,
            notes: None,
            packs: Packing::By(&pack),
            b_row: 0,
            b_column: 0,
            c: dst.buf(),
            c_row: row * size,
            starts: &|batch| [product.a_place(on, batch).0, request.weights_start(on, batch), to(batch)],
            epilogue: args.as_ref(),
            epilogue_column: &|_| 0,
            begin: &begin,
            store: &store,
        };
        gemm.run(simd, executor, &mut scratch.take(work)?, &operands);
        Ok(())
    }
}
