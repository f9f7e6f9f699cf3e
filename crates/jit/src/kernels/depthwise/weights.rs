//! The inner kernel of the gradient of depthwise weights, and of those of groups of few channels: the gradients of the taps of a line stay in
//! registers over strips of places of the window, rows and images.
//!
//! `sum[tap] += x[place * stride + tap] * y[place]`, vectors over channels. A strip is a number of neighbouring places: every column of the
//! source is loaded once for all taps that meet it, so that `n` places and `k` taps are `n * k` multiply-adds for about `2 * n + k` loads. Where
//! groups are `g` channels, a column is spread over its groups once for each of them, and there are `g` times as many sums.
//!
//! Few taps would wait for their own sums, so that places take turns with several sets of them, which are added at the end. Kernels know no
//! padding: a call has the places at which all of its taps lie inside.

use super::{Columns, SHARE, Tap, advance, argument, column_at, spread};
use crate::asm::Width;
use crate::ir::{Accumulate, Binary, Compiled, Elem, Function, Int, IrError, Pred, Src, Val};
use crate::isa::Isa;
use std::mem::offset_of;

#[cfg(test)]
mod tests;

/// What a kernel is made for. This is its key.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Gradient {
    /// Type of the source, and of the gradient of the result.
    pub types: [Elem; 2],
    /// Channels of a group; a vector is whole groups.
    pub group: u8,
    /// Places of a strip.
    pub places: u8,
    /// Source columns between places.
    pub stride: u8,
    /// The taps; their weights say which sums are theirs.
    pub taps: Vec<Tap>,
    /// True when the number of channels need not be whole vectors.
    pub masked: bool,
}

/// Distances of an operand in bytes.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Steps {
    /// Columns.
    pub column: usize,
    /// Strips.
    pub strip: usize,
    /// Rows.
    pub row: usize,
    /// Images.
    pub image: usize,
    /// Vectors of channels.
    pub vector: usize,
}

/// Arguments of a kernel.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Args {
    /// The first source column that is read ([`Gradient::first`]).
    pub source: *const u8,
    /// Its distances.
    pub source_steps: Steps,
    /// The gradient of the first result.
    pub gradient: *const u8,
    /// Its distances.
    pub gradient_steps: Steps,
    /// Strips of a row, rows of an image, images and vectors of channels, at least 1 each.
    pub strips: usize,
    /// As said.
    pub rows: usize,
    /// As said.
    pub images: usize,
    /// As said.
    pub vectors: usize,
    /// Number of channels.
    pub channels: usize,
    /// What is added to: for every tap's weights as many vectors as a group has source channels.
    pub sums: *mut f32,
    /// Bytes from the sums of a vector of channels to the next's.
    pub sums_vector: usize,
}

/// Places of a strip.
const PLACES: usize = 4;
/// The same with sixteen registers.
const FEW_PLACES: usize = 2;
/// Sums that keep the multiply-adds busy.
const BUSY: usize = 8;

impl Gradient {
    /// The kernel for a processor.
    ///
    /// # Errors
    /// [`IrError`]: there are more taps than registers.
    pub fn compile(&self, isa: Isa) -> Result<Compiled, IrError> {
        self.function(isa).finish()
    }

    /// The kernel before registers.
    pub fn function(&self, isa: Isa) -> Function {
        let mut f = Function::new(isa);
        Writer { kernel: self, width: isa.width() }.write(&mut f);
        f
    }

    /// Places of a strip where there are enough.
    pub fn most_places(isa: Isa) -> usize {
        if isa.simd_registers() > 16 { PLACES } else { FEW_PLACES }
    }

    /// The most taps that a call may have.
    pub fn most_taps(isa: Isa, group: usize) -> usize {
        // Beside the sums there are the places, a column, what spreads it and a mask.
        ((isa.simd_registers() - Self::most_places(isa) - 3) / group.max(1)).max(1)
    }

    /// The first source column that is read, counted from the column of the first place.
    pub fn first(&self) -> i32 {
        self.columns().first()
    }

    /// The last source column that is read; `None` where none is.
    pub fn last(&self) -> Option<i32> {
        self.columns().all().last()
    }

    fn columns(&self) -> Columns<'_> {
        Columns { taps: &self.taps, results: self.places, stride: self.stride, inside: (i16::MIN, i16::MAX) }
    }

    /// Sets of sums.
    fn sets(&self, isa: Isa) -> usize {
        let sums = self.taps.len().max(1) * usize::from(self.group);
        let room = (isa.simd_registers() - Self::most_places(isa) - 3) / sums;
        (BUSY / sums).min(room).min(self.places.into()).max(1)
    }

    /// The name in dumps and profiles, such as `depthwise_weights.f32f32.1.4x3s1.avx512`.
    pub fn name(&self, isa: Isa) -> String {
        let Gradient { types: [x, y], places, stride, group, .. } = self;
        format!("depthwise_weights.{}{}.{group}.{places}x{}s{stride}.{}", x.name(), y.name(), self.taps.len(), isa.name())
    }
}

struct Writer<'k> {
    kernel: &'k Gradient,
    width: Width,
}

/// The sums by set, source channel of a group, and tap.
struct Sums(Vec<Vec<Vec<Val>>>);

impl Writer<'_> {
    fn write(&self, f: &mut Function) {
        let args = f.arguments();
        let column = argument(f, args, offset_of!(Args, source_steps.column));
        let column = [column, f.address(column.indexed(column, 2, 0)), f.address(column.indexed(column, 4, 0))];
        let source = argument(f, args, offset_of!(Args, source));
        let gradient = argument(f, args, offset_of!(Args, gradient));
        let sums_at = argument(f, args, offset_of!(Args, sums));
        let left = argument(f, args, offset_of!(Args, channels));
        let vectors = argument(f, args, offset_of!(Args, vectors));
        f.repeat_some(vectors, |f| {
            let mask = self.kernel.masked.then(|| f.first_lanes(left));
            let sums = self.zeros(f);
            let images = argument(f, args, offset_of!(Args, images));
            let outer = [f.copy(source), f.copy(gradient)];
            f.repeat_some(images, |f| {
                let rows = argument(f, args, offset_of!(Args, rows));
                let row = outer.map(|at| f.copy(at));
                f.repeat_some(rows, |f| {
                    let strips = argument(f, args, offset_of!(Args, strips));
                    let strip = row.map(|at| f.copy(at));
                    f.repeat_some(strips, |f| {
                        self.strip(f, (args, strip), &column, mask, &sums);
                        advance(f, strip[0], args, offset_of!(Args, source_steps.strip));
                        advance(f, strip[1], args, offset_of!(Args, gradient_steps.strip));
                    });
                    advance(f, row[0], args, offset_of!(Args, source_steps.row));
                    advance(f, row[1], args, offset_of!(Args, gradient_steps.row));
                });
                advance(f, outer[0], args, offset_of!(Args, source_steps.image));
                advance(f, outer[1], args, offset_of!(Args, gradient_steps.image));
            });
            self.add(f, sums_at, &sums);
            advance(f, source, args, offset_of!(Args, source_steps.vector));
            advance(f, gradient, args, offset_of!(Args, gradient_steps.vector));
            advance(f, sums_at, args, offset_of!(Args, sums_vector));
            f.sub(left, self.width.lanes() as i32);
        });
    }

    fn zeros(&self, f: &mut Function) -> Sums {
        let k = self.kernel;
        let sets = k.sets(f.isa());
        let sums = Sums((0..sets).map(|_| (0..k.group).map(|_| k.taps.iter().map(|_| f.zero(self.width)).collect()).collect()).collect());
        sums.0.iter().flatten().flatten().for_each(|s| f.pin(*s));
        sums
    }

    /// Adds the sums of all sets to those in memory.
    fn add(&self, f: &mut Function, at: Int, sums: &Sums) {
        let group = usize::from(self.kernel.group);
        for (t, tap) in self.kernel.taps.iter().enumerate() {
            for channel in 0..group {
                let (first, rest) = (sums.0[0][channel][t], &sums.0[1..]);
                let total = rest.iter().fold(first, |sum, set| f.binary(Binary::AddF32, sum, set[channel][t]));
                let to = at.at(((usize::from(tap.weights) * group + channel) * self.width.lanes() * 4) as i32);
                let total = f.binary(Binary::AddF32, total, Src::Mem(to));
                f.store_as(Elem::F32, to, total, None);
            }
        }
    }

    /// The products of a strip.
    fn strip(&self, f: &mut Function, (args, [source, gradient]): (Int, [Int; 2]), column: &[Int; 3], mask: Option<Pred>, sums: &Sums) {
        let k = self.kernel;
        let [x_type, y_type] = k.types;
        let at = f.copy(gradient);
        let places: Vec<Val> = (0..k.places)
            .map(|i| {
                if i > 0 {
                    advance(f, at, args, offset_of!(Args, gradient_steps.column));
                }
                f.load_as(y_type, at.at(0), mask)
            })
            .collect();
        let plain = x_type == Elem::F32 && mask.is_none();
        for channel in 0..k.group {
            let spread = spread(f, self.width, k.group, channel);
            let source = f.copy(source);
            let (columns, mut base) = (k.columns(), k.first());
            for x in columns.all() {
                while x - base >= SHARE {
                    f.add(source, column[2]);
                    base += SHARE;
                }
                let at = column_at(source, *column, x - base, 0);
                let sum = |i: usize, t: usize| sums.0[i % sums.0.len()][usize::from(channel)][t];
                if plain && spread.is_none() && columns.users(x).count() == 1 {
                    columns.users(x).for_each(|(i, t)| f.accumulate(Accumulate::FmaF32, sum(i, t), places[i], Src::Mem(at)));
                    continue;
                }
                let value = match spread {
                    Some(spread) if plain => f.binary(Binary::Lookup32, spread, Src::Mem(at)),
                    _ => {
                        let value = f.load_as(x_type, at, mask);
                        spread.map_or(value, |spread| f.binary(Binary::Lookup32, spread, value))
                    }
                };
                columns.users(x).for_each(|(i, t)| f.accumulate(Accumulate::FmaF32, sum(i, t), value, places[i]));
            }
        }
    }
}
