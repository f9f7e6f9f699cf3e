//! Writes the code of the steps of an [`Epilogue`].
//!
//! Short steps are written out for every sum, column by column, so an operand is loaded once for all rows and sums never leave their
//! registers. Elements of the destination are read for all rows before the first is stored: a load that overlaps a masked store would have
//! to wait for it. From the first long step on, code for every sum would be too long: sums go through L1 once, and a loop takes them from
//! there vector by vector.

use super::{Block, Epilogue, Origin, Step, StripBlock, SumKind};
use crate::kernels::chain::jit;
use crate::kernels::microkernel::Args;
use oxidnn_jit::Function;
use oxidnn_jit::ir::{Accumulate, Addr, Binary, Elem, Int, Pred, Prefetch, Unary, Val};
use oxidnn_jit::kernels::dot::{self, Sums, TileAt};
use oxidnn_jit::kernels::strips::Strip;
use oxidnn_spec::op::BinaryAlg;
use std::mem::offset_of;

/// Most steps of an epilogue that are written out for every sum.
const MAX_UNROLLED_STEPS: usize = 6;

/// The addresses and lanes of a vector, besides its register.
#[derive(Clone, Copy)]
struct Place {
    /// Its elements in the destination.
    c: Addr,
    /// The lanes that exist.
    mask: Option<Pred>,
}

/// The pointers that an epilogue reads, for a tile's columns.
#[derive(Clone, Copy)]
pub(in crate::kernels) struct Pointers {
    /// Bytes from the addresses of the destination's rows to the tile's first column.
    c_offset: Int,
    /// The lines of operands, if there are any.
    lines: Option<Lines>,
}

/// Operands by column: the next line, and bytes from a line to the one after it.
#[derive(Clone, Copy)]
struct Lines {
    next: Int,
    pitch: Int,
}

impl Lines {
    /// The lines at the columns from the `bytes`-th byte on.
    fn from(self, f: &mut Function, bytes: usize) -> Lines {
        Lines { next: f.address(self.next.at(bytes as i32)), ..self }
    }

    /// Loads the vector of the next line, and moves on.
    fn load(self, f: &mut Function) -> Val {
        let width = f.isa().width();
        let operand = f.load(width, self.next.at(0));
        f.add(self.next, self.pitch);
        operand
    }
}

impl Pointers {
    /// Computes them.
    pub(in crate::kernels::microkernel) fn of(epilogue: &Epilogue, f: &mut Function, at: TileAt) -> Pointers {
        let lines = (epilogue.lines() > 0).then(|| {
            let lines = argument(f, at.args, offset_of!(Block, lines));
            Lines { next: f.address(lines.indexed(at.column, 4, 0)), pitch: argument(f, at.args, offset_of!(Block, pitch)) }
        });
        Pointers { c_offset: c_offset(epilogue, f, at), lines }
    }
}

/// An epilogue in two parts: steps that are written out for every sum, and steps in a loop.
struct Part<'a> {
    epilogue: &'a Epilogue,
    /// How many steps are written out.
    head: usize,
    at: Pointers,
    /// The type of the sums.
    kind: SumKind,
}

/// Prefetches the lines of the destination that the sums of `rows` rows and `vectors` vectors will be stored to.
pub(in crate::kernels::microkernel) fn ask(epilogue: &Epilogue, f: &mut Function, at: TileAt, (rows, vectors): (usize, usize)) {
    let bytes = (vectors * f.isa().width().lanes() * epilogue.dst.bytes()) as i32;
    let offset = c_offset(epilogue, f, at);
    for i in 0..rows {
        let row = f.load_int(at.row(i));
        (0..bytes).step_by(64).for_each(|byte| f.prefetch(Prefetch::Write, row.indexed(offset, 1, byte)));
    }
}

/// Writes the steps and the stores.
pub(in crate::kernels::microkernel) fn write(epilogue: &Epilogue, f: &mut Function, sums: &Sums<'_>, kind: SumKind, at: Pointers) {
    let mut part = Part { epilogue, head: head(epilogue), at, kind };
    let local = (part.head < epilogue.steps.len()).then(|| f.local(sums.values.len() * f.isa().width().bytes()));
    part.kind = in_registers(&part, f, sums, local);
    if let Some(local) = local {
        in_a_loop(&part, f, sums, local);
    }
}

fn argument(f: &mut Function, args: Int, field: usize) -> Int {
    f.load_int(args.at((offset_of!(Args, epilogue) + field) as i32))
}

/// Bytes from the addresses of the destination's rows to the tile's first column.
fn c_offset(epilogue: &Epilogue, f: &mut Function, at: TileAt) -> Int {
    let (offset, shift) = (argument(f, at.args, offset_of!(Block, c_offset)), at.shift(f));
    f.add(offset, shift);
    f.address(offset.indexed(at.column, epilogue.dst.bytes() as u8, 0))
}

/// Bytes from the addresses of the destination's rows to the elements of a tensor at the tile's first column, if elements have equal sizes.
fn distance(f: &mut Function, args: Int, tensor: usize, c_offset: Int) -> Int {
    let to = argument(f, args, offset_of!(Block, tensors) + tensor * size_of::<usize>());
    let from = argument(f, args, offset_of!(Block, c));
    f.sub(to, from);
    f.add(to, c_offset);
    to
}

/// Number of steps before the first one that is not written out for every sum. Tensors of these steps have elements as large as the
/// destination's, so that one distance leads from all rows of the destination to theirs.
fn head(epilogue: &Epilogue) -> usize {
    let near = |step: &Step| !matches!(step.origin, Origin::Tensor(elem) if elem.bytes() != epilogue.dst.bytes());
    let short = |step: &&Step| jit::is_short(step.formula) && near(step);
    epilogue.steps.iter().take(MAX_UNROLLED_STEPS - usize::from(epilogue.compensated)).take_while(short).count()
}

/// Tensors that steps read.
fn tensors(steps: &[Step]) -> usize {
    steps.iter().filter(|step| matches!(step.origin, Origin::Tensor(_))).count()
}

/// The short steps, and the stores if there are no other steps; else sums go to `local`, row by row. Returns the kind of the sums.
fn in_registers(part: &Part<'_>, f: &mut Function, sums: &Sums<'_>, local: Option<Int>) -> SumKind {
    let Part { epilogue, head, at, kind: first } = *part;
    let width = f.isa().width();
    let rows: Vec<Int> = (0..sums.values.len() / sums.vectors).map(|i| f.load_int(sums.at.row(i))).collect();
    let tensors: Vec<Int> = (0..tensors(&epilogue.steps[..head])).map(|i| distance(f, sums.at.args, i, at.c_offset)).collect();
    let (mut even, mut left): (Vec<Val>, _) = (Vec::new(), first);
    for v in 0..sums.vectors {
        let mut column: Vec<Val> = sums.values.iter().skip(v).step_by(sums.vectors).copied().collect();
        let at_row = |i: usize, offset: Int| rows[i].indexed(offset, 1, (v * width.lanes() * epilogue.dst.bytes()) as i32);
        let place = |i: usize| Place { c: at_row(i, at.c_offset), mask: sums.mask(v) };
        let mut tensors = tensors.iter();
        let lines = at.lines.map(|lines| lines.from(f, v * width.bytes()));
        compensate(epilogue, f, &mut column, lines);
        let (mut kind, mut steps) = (first, epilogue.steps[..head].iter().peekable());
        while let Some(step) = steps.next() {
            kind = before(f, &mut column, kind, step);
            let operand = operand(f, step, lines);
            // A factor and a summand by column are one instruction (FMA).
            let summand = if step.is_line(BinaryAlg::Mul) { steps.next_if(|next| next.is_line(BinaryAlg::Add)) } else { None };
            if let (Some(factor), Some(_), Some(lines)) = (operand, summand, lines) {
                let summand = lines.load(f);
                column.iter().for_each(|x| f.accumulate(Accumulate::ScaleAddF32, *x, factor, summand));
                continue;
            }
            let tensor = if let Origin::Tensor(elem) = step.origin { tensors.next().map(|offset| (elem, *offset)) } else { None };
            for (i, x) in column.iter_mut().enumerate() {
                let under = tensor.map(|(elem, offset)| f.load_number(elem, at_row(i, offset), sums.mask(v)));
                *x = apply(f, step, *x, under.or(operand), &place(i));
            }
        }
        left = kind;
        if let Some(local) = local {
            column.iter().enumerate().for_each(|(i, x)| f.store(local.at(((i * sums.vectors + v) * width.bytes()) as i32), *x));
            continue;
        }
        // Two neighbouring vectors are stored together if the epilogue beside AMX tiles has registers to hold the first one.
        let leaves = match (kind, epilogue.dst) {
            (SumKind::Normal, Elem::Bf16) => true,
            (SumKind::Whole, Elem::U8 | Elem::I8) | (SumKind::Real | SumKind::Normal, Elem::U8) => rows.len().is_multiple_of(2),
            _ => false,
        };
        let waits = leaves && f.isa().amx && sums.mask(v | 1).is_none() && v | 1 < sums.vectors;
        match (waits, v % 2) {
            (true, 0) => even.clone_from(&column),
            (true, _) => {
                let at_even = |i: usize| rows[i].indexed(at.c_offset, 1, ((v - 1) * width.lanes() * epilogue.dst.bytes()) as i32);
                store_both(f, (epilogue.dst, kind), [&even, &column], &at_even);
            }
            (false, _) => column.iter().enumerate().for_each(|(i, x)| store(f, epilogue.dst, *x, kind, &place(i))),
        }
    }
    left
}

/// Converts neighbouring vectors of all rows and stores them; bytes of two rows together.
fn store_both(f: &mut Function, (dst, kind): (Elem, SumKind), [even, odd]: [&[Val]; 2], at: &impl Fn(usize) -> Addr) {
    if dst == Elem::Bf16 {
        return even.iter().zip(odd).enumerate().for_each(|(i, (first, second))| f.store_both_bf16_flushed(at(i), *first, *second));
    }
    for (i, (even, odd)) in even.as_chunks::<2>().0.iter().zip(odd.as_chunks::<2>().0).enumerate() {
        f.store_bytes(dst, kind != SumKind::Whole, [at(2 * i), at(2 * i + 1)], [even[0], odd[0], even[1], odd[1]]);
    }
}

/// The remaining steps on the sums in `local`, and the stores.
fn in_a_loop(part: &Part<'_>, f: &mut Function, sums: &Sums<'_>, local: Int) {
    let Part { epilogue, head, at, kind } = *part;
    let width = f.isa().width();
    let c_offset = f.copy(at.c_offset);
    let lines = at.lines.map(|lines| lines.from(f, 0));
    if let Some(lines) = lines {
        let done = epilogue.steps[..head].iter().filter(|step| step.has_line()).count() + usize::from(epilogue.compensated);
        (0..done).for_each(|_| f.add(lines.next, lines.pitch));
    }
    let (rows, vectors) = (sums.values.len() / sums.vectors, sums.vectors);
    // Columns from here to the tile's last one; with whole vectors all lanes.
    let wanted = sums.last.map(|_| {
        let wanted = f.load_int(sums.at.args.at((offset_of!(Args, dot) + offset_of!(dot::Args, last)) as i32));
        f.add(wanted, ((vectors - 1) * width.lanes()) as i32);
        wanted
    });
    let base = epilogue.tensors().next().map(|_| argument(f, sums.at.args, offset_of!(Block, c)));
    let tensor = |f: &mut Function, i: usize| argument(f, sums.at.args, offset_of!(Block, tensors) + i * size_of::<usize>());
    let count = f.int(vectors as i64);
    f.repeat_some(count, |f| {
        let mask = wanted.map(|wanted| f.first_lanes(wanted));
        let (list, sum) = (f.address(sums.at.row(0)), f.copy(local));
        let rest = Rest { epilogue, head, kind, base, lines, mask };
        let step = (vectors * width.bytes()) as i32;
        in_groups(f, rows, |f, n| {
            let c: Vec<Int> = (0..n).map(|i| f.load_int(list.at((i * size_of::<usize>()) as i32))).collect();
            c.iter().for_each(|c| f.add(*c, c_offset));
            let column = (0..n as i32).map(|i| f.load(width, sum.at(i * step))).collect();
            rest.write(f, (&c, column), &tensor, &|f, x, kind, place| store(f, epilogue.dst, x, kind, place));
            f.add(list, (n * size_of::<usize>()) as i32);
            f.add(sum, n as i32 * step);
        });
        f.add(local, width.bytes() as i32);
        if let Some(lines) = lines {
            f.add(lines.next, width.bytes() as i32);
        }
        f.add(c_offset, (width.lanes() * epilogue.dst.bytes()) as i32);
        if let Some(wanted) = wanted {
            f.sub(wanted, width.lanes() as i32);
        }
    });
}

/// Writes the steps and the stores of the results of a strip, one after the other: in registers with the operands of all of them, or
/// through L1.
pub(in crate::kernels::microkernel) fn strip(epilogue: &Epilogue, f: &mut Function, strip: &Strip<'_>, block: usize) {
    let rounded = epilogue.dst == Elem::I32 || epilogue.dst == Elem::Bf16 && strip.normal;
    if epilogue.steps.is_empty() && !rounded {
        return strip.store(f, epilogue.dst);
    }
    let width = f.isa().width();
    let kind = if strip.normal { SumKind::Normal } else { SumKind::Real };
    let field = |f: &mut Function, field: usize| f.load_int(strip.args.at((block + field) as i32));
    let column = f.load_int(strip.args.at(strip.column as i32));
    let [lines, pitch] = [offset_of!(StripBlock, lines), offset_of!(StripBlock, pitch)].map(|at| field(f, at));
    let base = epilogue.tensors().next().map(|_| field(f, offset_of!(StripBlock, c)));
    let tensor = |f: &mut Function, i: usize| field(f, offset_of!(StripBlock, tensors) + i * size_of::<usize>());
    let lines = Lines { next: f.address(lines.indexed(strip.channel, 4, 0)), pitch };
    let result = f.copy(strip.result);
    let put = |f: &mut Function, x: Val, kind: SumKind, place: &Place| match strip.streaming {
        true => f.store_streaming(place.c, x),
        false => store(f, epilogue.dst, x, kind, place),
    };
    let (head, rest) = epilogue.steps.split_at(head(epilogue));
    let operands: Vec<Option<Val>> = head.iter().map(|step| operand(f, step, Some(lines))).collect();
    let (mut values, mut left) = (strip.values.to_vec(), kind);
    for (i, value) in values.iter_mut().enumerate() {
        let mut under = Under { element: element(f, result, base, epilogue.dst), tensor: 0, mask: strip.mask };
        let (mut x, mut kind) = ([*value], kind);
        for (step, operand) in head.iter().zip(&operands) {
            kind = before(f, &mut x, kind, step);
            let y = under.next(f, step, &tensor).or(*operand);
            x[0] = apply(f, step, x[0], y, &Place { c: result.at(0), mask: strip.mask });
        }
        (*value, left) = (x[0], kind);
        if i + 1 < strip.values.len() {
            f.add(result, column);
        }
    }
    let (result, kind) = (f.copy(strip.result), left);
    let place = Place { c: result.at(0), mask: strip.mask };
    if rest.is_empty() {
        for value in values {
            put(f, value, kind, &place);
            f.add(result, column);
        }
        return;
    }
    let local = f.local(values.len() * width.bytes());
    for (i, value) in values.iter().enumerate() {
        f.store(local.at((i * width.bytes()) as i32), *value);
    }
    let rest = Rest { epilogue, head: head.len(), kind, base, lines: Some(lines), mask: strip.mask };
    in_groups(f, values.len(), |f, n| {
        let next = |_| {
            let here = f.copy(result);
            f.add(result, column);
            here
        };
        let places: Vec<Int> = (0..n).map(next).collect();
        let x = (0..n).map(|i| f.load(width, local.at((i * width.bytes()) as i32))).collect();
        rest.write(f, (&places, x), &tensor, &put);
        f.add(local, (n * width.bytes()) as i32);
    });
}

/// Vectors whose long steps are interleaved: fewer would wait for their own results, more would not leave registers for them.
const TOGETHER: usize = 4;
const TOGETHER_NARROW: usize = 2;

/// Loops over `count` vectors, some at a time: `body` is told how many.
fn in_groups(f: &mut Function, mut count: usize, mut body: impl FnMut(&mut Function, usize)) {
    let mut each = if f.isa().avx512 { TOGETHER } else { TOGETHER_NARROW };
    while count > 0 {
        if count >= each {
            let times = f.int((count / each) as i64);
            f.repeat_some(times, |f| body(f, each));
        }
        (count, each) = (count % each, each / 2);
    }
}

/// The steps from the first long one on.
struct Rest<'a> {
    epilogue: &'a Epilogue,
    head: usize,
    kind: SumKind,
    base: Option<Int>,
    lines: Option<Lines>,
    mask: Option<Pred>,
}

impl Rest<'_> {
    /// The steps on some sums, whose results go to `c`, and the stores by `put`.
    fn write(
        &self,
        f: &mut Function,
        (c, mut x): (&[Int], Vec<Val>),
        tensor: &impl Fn(&mut Function, usize) -> Int,
        put: &impl Fn(&mut Function, Val, SumKind, &Place),
    ) {
        let Rest { epilogue, head, mask, .. } = *self;
        let (head, rest) = epilogue.steps.split_at(head);
        let mut under: Vec<Under> =
            c.iter().map(|c| Under { element: element(f, *c, self.base, epilogue.dst), tensor: tensors(head), mask }).collect();
        let places: Vec<Place> = c.iter().map(|c| Place { c: c.at(0), mask }).collect();
        let (lines, mut kind) = (self.lines.map(|lines| lines.from(f, 0)), self.kind);
        for step in rest {
            kind = before(f, &mut x, kind, step);
            let line = operand(f, step, lines);
            let of = |(under, place): (&mut Under, &Place)| destination(f, step, place).or_else(|| under.next(f, step, tensor)).or(line);
            let y: Vec<Option<Val>> = under.iter_mut().zip(&places).map(of).collect();
            jit::apply_all(f, step.formula, &mut x, &y);
        }
        x.into_iter().zip(&places).for_each(|(x, place)| put(f, x, kind, place));
    }
}

/// Index of the destination's element at `c`, counted from `base`.
fn element(f: &mut Function, c: Int, base: Option<Int>, dst: Elem) -> Option<Int> {
    base.map(|base| {
        let element = f.copy(c);
        f.sub(element, base);
        f.shr(element, dst.bytes().trailing_zeros() as u8);
        element
    })
}

/// The elements of the tensors at an element of the destination, in the order of steps.
struct Under {
    element: Option<Int>,
    tensor: usize,
    mask: Option<Pred>,
}

impl Under {
    /// The operand of a step in its tensor; `tensor` gives the address by index.
    fn next(&mut self, f: &mut Function, step: &Step, tensor: &impl Fn(&mut Function, usize) -> Int) -> Option<Val> {
        let (Origin::Tensor(elem), Some(element)) = (step.origin, self.element) else { return None };
        let base = tensor(f, self.tensor);
        self.tensor += 1;
        Some(f.load_number(elem, base.indexed(element, elem.bytes() as u8, 0), self.mask))
    }
}

/// Subtracts the first line from integer sums, if the epilogue begins with one.
fn compensate(epilogue: &Epilogue, f: &mut Function, column: &mut [Val], lines: Option<Lines>) {
    if let Some(lines) = lines.filter(|_| epilogue.compensated) {
        let by = lines.load(f);
        column.iter_mut().for_each(|x| *x = f.binary(Binary::SubI32, *x, by));
    }
}

/// Converts integer sums to floats; returns the kind of the sums after the step.
fn before(f: &mut Function, column: &mut [Val], kind: SumKind, step: &Step) -> SumKind {
    match kind {
        SumKind::Whole => column.iter_mut().for_each(|x| *x = f.unary(Unary::F32FromI32, *x)),
        SumKind::Normal if jit::is_relu(step.formula) => return kind,
        _ => {}
    }
    SumKind::Real
}

/// The operand of a step in a register for all rows: its vector of the line, or zeros.
fn operand(f: &mut Function, step: &Step, lines: Option<Lines>) -> Option<Val> {
    if jit::is_relu(step.formula) { Some(f.zero(f.isa().width())) } else { lines.filter(|_| step.has_line()).map(|lines| lines.load(f)) }
}

/// Applies a step to a vector; `operand` is its line, its tensor's elements, or the zeros that it needs.
fn apply(f: &mut Function, step: &Step, x: Val, operand: Option<Val>, place: &Place) -> Val {
    let y = destination(f, step, place).or(operand);
    jit::apply(f, step.formula, x, [y, None])
}

/// The elements that a sum with the destination adds.
fn destination(f: &mut Function, step: &Step, place: &Place) -> Option<Val> {
    if let Origin::Destination(elem) = step.origin { Some(f.load_number(elem, place.c, place.mask)) } else { None }
}

/// Converts to the destination's type and stores.
fn store(f: &mut Function, dst: Elem, x: Val, kind: SumKind, place: &Place) {
    match (kind, dst) {
        (SumKind::Normal, Elem::Bf16) => f.store_bf16_flushed(place.c, x, place.mask),
        (SumKind::Whole, Elem::I32) => f.store_as(dst, place.c, x, place.mask),
        (SumKind::Whole, _) => {
            let x = f.unary(Unary::F32FromI32, x);
            f.store_as(dst, place.c, x, place.mask);
        }
        _ => f.store_number(dst, place.c, x, place.mask),
    }
}
