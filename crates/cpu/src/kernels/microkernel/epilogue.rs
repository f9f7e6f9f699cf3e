//! `Epilogue`: the epilogue of a tile's sums, while they are in registers.
//!
//! An epilogue is a list of steps over f32 (or s32, before the first step that scales). Operands that vary by column are converted once an
//! execution to lines of f32 in scratch, one line for each step, padded to whole vectors: so kernels depend neither on the types of such
//! operands nor on whether they are one number or many. Operands of the destination's size are read in place, at the element that is
//! computed. A step that an epilogue cannot do is declined with a reason: then post-ops and quantisation of the destination are a second pass
//! (`passes:jit`), and other steps go through [`PortableEpilogue`](crate::kernels::portable_epilogue::PortableEpilogue).

#[cfg(test)]
mod tests;
mod write;

use super::{MicrokernelCall, MicrokernelKey, Places};
use crate::kernels::access::{Pos, View};
use crate::kernels::broadcast::Broadcast;
use crate::kernels::chain::{self, Chain, Formula, Operand};
use crate::kernels::code::elem;
use crate::kernels::portable_epilogue;
use oxidnn_jit::Function;
use oxidnn_jit::ir::Elem;
use oxidnn_jit::kernels::dot::{Sums, TileAt};
use oxidnn_jit::kernels::strips::Strip;
use oxidnn_runtime::{Buf, Skip};
use oxidnn_spec::op::BinaryAlg;
use oxidnn_spec::{Arg, Attr, Error, MAX_NDIMS, PostOp, Quant, Tensor};
pub(in crate::kernels) use write::Pointers;

/// Columns that a line of operands is padded to: those of the widest tile.
const LINE_COLUMNS: usize = 64;
/// Most operands of the destination's size.
const MAX_TENSORS: usize = 4;

/// An epilogue; it is part of the key of kernels.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Epilogue {
    /// Whether it begins by subtracting a value by column from integer sums.
    compensated: bool,
    steps: Vec<Step>,
    dst: Elem,
}

/// A step of the chain, and the origin of its operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Step {
    formula: Formula,
    operand: Option<Operand>,
    origin: Origin,
}

/// The origin of a step's operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Origin {
    /// No operand.
    Nothing,
    /// A line by column.
    Line,
    /// The old elements of the destination.
    Destination(Elem),
    /// The elements of a tensor of the destination's size.
    Tensor(Elem),
}

/// The sums that an epilogue begins with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::kernels) enum SumKind {
    /// 32-bit integers.
    Whole,
    /// f32.
    Real,
    /// f32 that are never subnormal: bf16 dot products flush these to zero.
    Normal,
}

/// The parameters by which an epilogue is planned.
#[derive(Clone, Copy, Debug)]
pub struct EpilogueRequest<'p> {
    /// The attributes.
    pub attr: &'p Attr,
    /// The destination, its layout resolved.
    pub dst: &'p Tensor,
    /// The dimension of the destination along columns.
    pub columns: usize,
    /// Leading dimensions of the destination along which operands by column may differ: there are lines for each product of this batch.
    pub batch: usize,
    /// Whether values by column are subtracted from integer sums.
    pub compensated: bool,
    /// Whether the sums have factors, one for all or by column.
    pub scaled: bool,
    /// Whether there is a bias, one for all or by column.
    pub biased: bool,
}

impl<'p> EpilogueRequest<'p> {
    /// Of sums without factors, bias and compensation, whose operands do not differ between products.
    pub fn of_sums(attr: &'p Attr, dst: &'p Tensor, columns: usize) -> EpilogueRequest<'p> {
        EpilogueRequest { attr, dst, columns, batch: 0, compensated: false, scaled: false, biased: false }
    }
}

/// Gives the operands of a chain in an execution. They are looked up when needed: most epilogues have few, and filling a table of all would
/// take longer than a small product.
pub trait EpilogueOperands<'s> {
    /// The destination.
    fn dst(&self) -> &View<'s>;
    /// The elements of an operand along a dimension, from the first on.
    ///
    /// # Errors
    /// [`Error::InvalidArguments`] when an argument is missing.
    fn line(&self, operand: Operand, dim: usize, out: &mut [f32]) -> Result<(), Error>;
    /// Number of products of the batch, if lines differ between them; else 0.
    fn products(&self) -> usize {
        0
    }
    /// Position and right operand of a product.
    fn product(&self, index: usize) -> (Pos, usize) {
        ([0; MAX_NDIMS], index)
    }
    /// An operand that may differ between products.
    ///
    /// # Errors
    /// As for [`EpilogueOperands::line`].
    fn by_product(&self, _: Operand) -> Result<Option<Broadcast<'s>>, Error> {
        Ok(None)
    }
    /// The argument that is an operand of a post-op.
    ///
    /// # Errors
    /// As for [`EpilogueOperands::line`].
    fn argument(&self, i: usize, of: Arg) -> Result<View<'s>, Error>;
}

impl<'s> EpilogueOperands<'s> for Chain<'s> {
    fn dst(&self) -> &View<'s> {
        Chain::dst(self)
    }
    fn line(&self, operand: Operand, dim: usize, out: &mut [f32]) -> Result<(), Error> {
        Chain::line(self, operand, &[0; MAX_NDIMS], dim, out)
    }
    fn argument(&self, i: usize, of: Arg) -> Result<View<'s>, Error> {
        Chain::argument(self, i, of)
    }
}

/// The operands of an epilogue in an execution.
#[derive(Clone, Copy, Debug)]
pub struct EpilogueArgs<'a> {
    /// One line for each step with an operand by column.
    lines: &'a [f32],
    /// Elements of a line.
    pitch: usize,
    /// The tensors, in the order of their steps.
    tensors: [Buf<'a>; MAX_TENSORS],
    /// The destination.
    dst: Buf<'a>,
}

/// The data that kernels of strips read for their epilogue.
#[repr(C)]
#[derive(Debug)]
pub struct StripBlock {
    /// The first line of operands, from the call's first channel on.
    lines: *const f32,
    /// Bytes from a line to the next.
    pitch: usize,
    /// The destination and the tensors, if there are any.
    c: *const u8,
    tensors: [*const u8; MAX_TENSORS],
}

/// The results of a call of strips.
#[derive(Clone, Copy, Debug)]
pub struct Results {
    /// The column of the first, and channels in whole vectors.
    pub column: usize,
    /// Channels in whole vectors.
    pub channels: usize,
    /// The address of the first.
    pub at: *const u8,
    /// Bytes that the call writes from there on.
    pub reach: Option<usize>,
}

/// The data that kernels read for their epilogue, behind the arguments of `dot`.
#[repr(C)]
#[derive(Debug)]
pub(in crate::kernels) struct Block {
    /// Bytes from the addresses of the destination's rows to the first column of the first panel.
    c_offset: usize,
    /// The first line of operands, from the first column of the first panel on.
    lines: *const f32,
    /// Bytes from a line to the next.
    pitch: usize,
    /// The destination.
    c: *const u8,
    /// The tensors.
    tensors: [*const u8; MAX_TENSORS],
}

impl EpilogueArgs<'_> {
    /// No operands.
    pub const NONE: EpilogueArgs<'static> = EpilogueArgs { lines: &[], pitch: 0, tensors: [Buf::empty(); MAX_TENSORS], dst: Buf::empty() };

    /// The data of a call; `None` if `epilogue` has more lines or longer tensors than these.
    pub fn of_strips(&self, epilogue: &Epilogue, results: Results) -> Option<StripBlock> {
        let Results { column, channels, at, reach } = results;
        let (lines, c) = (epilogue.lines(), self.dst.as_ptr().cast_const());
        let inside = column.checked_add(channels).is_some_and(|end| end <= self.pitch) && lines * self.pitch <= self.lines.len();
        if lines > 0 && !inside {
            return None;
        }
        for (from, tensor) in epilogue.tensors().zip(&self.tensors) {
            let end = at.addr().checked_sub(c.addr())?.checked_add(reach?)?;
            if end > self.dst.len() || end.div_ceil(epilogue.dst_size()) > tensor.len() / from.bytes() {
                return None;
            }
        }
        let first = self.lines.as_ptr().wrapping_add(column);
        Some(StripBlock { lines: first, pitch: self.pitch * 4, c, tensors: self.tensors.map(|t| t.as_ptr().cast_const()) })
    }

    /// The data of a kernel that finishes sums from elsewhere, and the places where rows of the destination may begin. A row has `columns`
    /// columns from the call's first on, and reads operands for `padded` columns; `None` if these are shorter.
    pub(in crate::kernels) fn finish(
        &self,
        epilogue: &Epilogue,
        call: &MicrokernelCall<'_>,
        (columns, padded): (usize, usize),
    ) -> Option<(Block, Places)> {
        Some((self.block(epilogue.dst_size(), call, 0), epilogue.places(self, call, columns, padded)?))
    }

    /// The data of a kernel, for destination elements of `size` bytes.
    #[inline]
    pub(super) fn block(&self, size: usize, call: &MicrokernelCall<'_>, base: usize) -> Block {
        Block {
            c_offset: (call.column * size).wrapping_add(base),
            lines: self.lines.as_ptr().wrapping_add(call.epilogue_column),
            pitch: self.pitch * 4,
            c: call.c.as_ptr(),
            tensors: self.tensors.map(|t| t.as_ptr().cast_const()),
        }
    }
}

impl Block {
    /// Moves on by `columns` columns.
    #[inline]
    pub(super) fn advance(&mut self, spec: &MicrokernelKey, columns: usize) {
        self.c_offset += spec.epilogue.as_ref().map_or(0, |t| columns * t.dst_size());
        self.lines = self.lines.wrapping_add(columns);
    }
}

impl Step {
    fn has_line(&self) -> bool {
        self.origin == Origin::Line
    }

    /// Whether it does `alg` with an operand by column.
    fn is_line(&self, alg: BinaryAlg) -> bool {
        self.has_line() && self.formula == Formula::Binary(alg)
    }

    /// A step of the chain.
    fn of(step: chain::Step, about: &EpilogueRequest<'_>) -> Result<Step, Skip> {
        let chain::Step { formula, operands: [operand, second] } = step;
        chain::jit::check(formula)?;
        match second {
            Some(_) => Err(Skip::Attr("a post-op of two operands".into())),
            None => Ok(Step {
                formula: undivided(formula, operand),
                operand,
                origin: operand.map_or(Ok(Origin::Nothing), |operand| Origin::of(operand, about))?,
            }),
        }
    }
}

/// A division by the destination's scale becomes a multiplication by its reciprocal, which lines hold: a few cycles less.
fn undivided(formula: Formula, operand: Option<Operand>) -> Formula {
    if operand == Some(Operand::Scale) { Formula::Binary(BinaryAlg::Mul) } else { formula }
}

/// The factor that replaces a division by `scale`; finite, so that zero stays zero.
fn reciprocal(scale: f32) -> f32 {
    (1.0 / scale).clamp(f32::MIN, f32::MAX)
}

impl Origin {
    fn of(operand: Operand, about: &EpilogueRequest<'_>) -> Result<Origin, Skip> {
        let EpilogueRequest { attr, dst, columns, batch, .. } = *about;
        let by_row = |what: &str| Err(Skip::Attr(format!("{what} that differs by row")));
        let within = |free: usize, mask: u32| {
            dst.dims().iter().enumerate().all(|(d, size)| d < free || d == columns || *size == 1 || mask >> d & 1 == 0)
        };
        let by_column = |mask: u32| within(0, mask);
        let varies = |quant: Option<&Quant>| quant.is_some_and(|q| !by_column(q.mask) || !q.groups.is_empty());
        Ok(match operand {
            Operand::Before(dtype) => Origin::Destination(elem(dtype).ok_or_else(|| Skip::Attr(format!("a sum of {dtype}")))?),
            Operand::Scale if varies(attr.scales.get(&Arg::DST)) => return by_row("a scale of the destination"),
            Operand::ZeroPoint if varies(attr.zero_points.get(&Arg::DST)) => return by_row("a zero point of the destination"),
            Operand::PostOp(i, _) => match &attr.post_ops[i] {
                PostOp::Binary { src1, .. } => {
                    let mask = src1.dims().iter().enumerate().fold(0, |mask, (d, n)| mask | u32::from(*n != 1) << d);
                    match (by_column(mask), elem(src1.dtype)) {
                        (true, _) => Origin::Line,
                        (false, Some(from)) if is_alike(src1, dst) => Origin::Tensor(from),
                        _ if within(batch, mask) => Origin::Line,
                        _ => return by_row("an operand"),
                    }
                }
                PostOp::Prelu { mask } if !by_column(*mask) => match PostOp::slopes(*mask, dst.dims()) {
                    Some(slopes) if is_alike(&slopes, dst) => Origin::Tensor(Elem::F32),
                    _ => return by_row("a slope"),
                },
                _ => Origin::Line,
            },
            _ => Origin::Line,
        })
    }
}

/// Whether both tensors have elements of equal positions at equal offsets.
fn is_alike(a: &Tensor, b: &Tensor) -> bool {
    let (Some(x), Some(y)) = (a.blocking(), b.blocking()) else { return false };
    // The stride of a dimension of size 1 is not used.
    let strides = a.dims().iter().enumerate().all(|(d, size)| *size == 1 || x.strides[d] == y.strides[d]);
    a.dims() == b.dims() && x.inner == y.inner && x.offset == 0 && y.offset == 0 && strides
}

impl Epilogue {
    /// The epilogue that stores sums unchanged.
    pub fn raw() -> Epilogue {
        Epilogue { compensated: false, steps: Vec::new(), dst: Elem::F32 }
    }

    /// The epilogue for a destination.
    ///
    /// # Errors
    /// Steps that it does not do.
    pub fn plan(about: &EpilogueRequest<'_>) -> Result<Epilogue, Skip> {
        let EpilogueRequest { dst, columns, .. } = *about;
        if !dst.blocking().is_some_and(|b| b.is_plain() && (b.strides[columns] == 1 || dst.dims()[columns] == 1)) {
            return Err(Skip::Layout("a destination whose columns are apart".into()));
        }
        Epilogue::of(about)
    }

    /// The epilogue of strips whose results may go to another place than the destination, with the same layout of vectors.
    ///
    /// # Errors
    /// Steps that it does not do.
    pub fn of_strips(about: &EpilogueRequest<'_>) -> Result<Epilogue, Skip> {
        let epilogue = Epilogue::of(about)?;
        let operands = epilogue.tensors().next();
        operands.map_or(Ok(epilogue), |_| Err(Skip::Attr("an operand that differs by pixel".into())))
    }

    /// The epilogue of strips of the destination.
    ///
    /// # Errors
    /// Steps that it does not do.
    pub fn of(about: &EpilogueRequest<'_>) -> Result<Epilogue, Skip> {
        let EpilogueRequest { attr, dst, compensated, scaled, biased, .. } = *about;
        portable_epilogue::check(attr, dst)?;
        let elem = elem(dst.dtype).ok_or_else(|| Skip::DataType(format!("{} as destination of a tile", dst.dtype)))?;
        let steps = chain::steps(attr, dst.dtype, [scaled, biased]).map(|step| Step::of(step?, about)).collect::<Result<_, _>>()?;
        let epilogue = Epilogue { compensated, steps, dst: elem };
        if epilogue.tensors().count() > MAX_TENSORS {
            return Err(Skip::Attr("so many operands of the destination's size".into()));
        }
        Ok(epilogue)
    }

    /// The places where rows of the destination may begin, with `columns` columns from the first panel's first on; `None` if operands are
    /// shorter than they are read, by columns up to `padded`.
    #[inline]
    pub(super) fn places(&self, args: &EpilogueArgs<'_>, call: &MicrokernelCall<'_>, columns: usize, padded: usize) -> Option<Places> {
        let lines = self.lines();
        let reach = call.epilogue_column.checked_add(padded)? <= args.pitch && lines * args.pitch <= args.lines.len();
        if lines > 0 && !reach {
            return None;
        }
        let size = self.dst_size();
        let offset = call.column.checked_mul(size)?;
        let mut places = Places::new(call.c, offset, columns.checked_mul(size)?);
        // Tensors have their elements at the offsets of the destination's.
        for (from, tensor) in self.tensors().zip(&args.tensors) {
            let elements = tensor.len() / from.bytes();
            let rows = (elements + 1).checked_sub(call.column.checked_add(columns)?)?;
            places.count = places.count.min(rows.checked_mul(size)?);
        }
        Some(places)
    }

    /// Whether results may be computed and written twice: they do not depend on what was there before. Other operands are not written: an
    /// execution refuses memory that it writes as one of them.
    pub fn is_repeatable(&self) -> bool {
        self.steps.iter().all(|s| !matches!(s.origin, Origin::Destination(_)))
    }

    /// Whether results may go to other places than the destination's: operands of its size are read at the same distance.
    pub fn is_by_column(&self) -> bool {
        self.is_repeatable() && self.tensors().next().is_none()
    }

    /// Number of steps.
    pub fn steps(&self) -> usize {
        self.steps.len()
    }

    /// The types of operands of the destination's size.
    fn tensors(&self) -> impl Iterator<Item = Elem> + '_ {
        self.steps.iter().filter_map(|s| if let Origin::Tensor(elem) = s.origin { Some(elem) } else { None })
    }

    /// Bytes of an element of the destination.
    pub fn dst_size(&self) -> usize {
        self.dst.bytes()
    }

    /// Number of lines of operands.
    fn lines(&self) -> usize {
        self.steps.iter().filter(|s| s.has_line()).count() + usize::from(self.compensated)
    }

    /// Prefetches the lines of the destination before they are written, for `tile` rows and vectors.
    pub(in crate::kernels) fn ask(&self, f: &mut Function, at: TileAt, tile: (usize, usize)) {
        write::ask(self, f, at, tile);
    }

    /// Computes what [`Epilogue::write_at`] reads at the columns of a tile.
    pub(in crate::kernels) fn pointers(&self, f: &mut Function, at: TileAt) -> Pointers {
        Pointers::of(self, f, at)
    }

    /// Writes the code of the steps, and of storing the results.
    pub(in crate::kernels) fn write(&self, f: &mut Function, sums: &Sums<'_>, kind: SumKind) {
        let at = self.pointers(f, sums.at);
        self.write_at(f, sums, kind, at);
    }

    /// The same for the columns of `at`.
    pub(in crate::kernels) fn write_at(&self, f: &mut Function, sums: &Sums<'_>, kind: SumKind, at: Pointers) {
        write::write(self, f, sums, kind, at);
    }

    /// Writes the code of the steps and of storing the results of a strip. `block` is the offset of its [`StripBlock`] in the arguments.
    pub fn write_strip(&self, f: &mut Function, strip: &Strip<'_>, block: usize) {
        write::strip(self, f, strip, block);
    }

    /// Elements of scratch for the operands of an execution, for a destination of `columns` columns; `None` on overflow.
    pub fn scratch(&self, columns: usize) -> Option<usize> {
        columns.checked_add(LINE_COLUMNS)?.checked_next_multiple_of(LINE_COLUMNS)?.checked_mul(self.lines())
    }

    /// Columns between the lines of consecutive right operands, if each has a compensation of its own.
    pub fn apart(columns: usize) -> usize {
        columns.next_multiple_of(LINE_COLUMNS)
    }

    /// The operands of an execution, converted to scratch of [`Epilogue::scratch`] elements, for a result whose columns are along dimension
    /// `dim`. `compensation` is what is subtracted from the integer sums of every column; with several right operands it has those of each,
    /// one after the other, and lines are repeated for each, [`Epilogue::apart`]; for each product, if they differ between products.
    ///
    /// # Errors
    /// [`Error`] when an argument is missing or the scratch is too small.
    pub fn args<'s>(
        &self,
        named: &impl EpilogueOperands<'s>,
        dim: usize,
        compensation: &[i32],
        scratch: &'s mut [f32],
    ) -> Result<EpilogueArgs<'s>, Error> {
        let columns = named.dst().dims()[dim].max(0) as usize;
        let (lines, products) = (self.lines(), named.products());
        let copies = if products > 0 { products } else { (compensation.len() / columns.max(1)).max(1) };
        let (pitch, apart) = (scratch.len() / lines.max(1), Self::apart(columns));
        if lines > 0 && pitch < apart.saturating_mul(copies) {
            return Err(Error::Runtime(format!("{} numbers of scratch for {lines} lines of {columns} columns", scratch.len())));
        }
        let operands = self.steps.iter().filter(|s| s.has_line()).map(|s| s.operand);
        let operands = self.compensated.then_some(None).into_iter().chain(operands);
        for (operand, line) in operands.zip(scratch.chunks_exact_mut(pitch.max(1))) {
            let differs = operand.filter(|_| products > 0).map_or(Ok(None), |operand| named.by_product(operand))?;
            for i in 0..copies {
                let end = if i + 1 == copies { line.len() } else { (i + 1) * apart };
                line[i * apart + columns..end].fill(0.0);
                let own = &mut line[i * apart..][..columns];
                match (operand, &differs) {
                    (None, _) => {
                        let right = if products > 0 { named.product(i).1 } else { i };
                        own.iter_mut().zip(&compensation[right * columns..]).for_each(|(x, c)| *x = f32::from_bits(*c as u32));
                    }
                    (_, Some(values)) => values.line(&named.product(i).0, dim, own),
                    _ if i > 0 => line.copy_within(..columns, i * apart),
                    (Some(operand), None) => {
                        named.line(operand, dim, own)?;
                        if operand == Operand::Scale {
                            own.iter_mut().for_each(|scale| *scale = reciprocal(*scale));
                        }
                    }
                }
            }
        }
        let mut tensors = [Buf::empty(); MAX_TENSORS];
        let beside = self.steps.iter().filter(|s| matches!(s.origin, Origin::Tensor(_))).filter_map(|s| s.operand);
        for (tensor, operand) in tensors.iter_mut().zip(beside) {
            if let Operand::PostOp(i, of) = operand {
                *tensor = named.argument(i, of)?.buf();
            }
        }
        Ok(EpilogueArgs { lines: scratch, pitch, tensors, dst: named.dst().buf() })
    }
}
