//! Gathers by tables of permutations: every vector of the destination takes its lanes from a few vectors of the source, each by a permutation, which are
//! blended.
//!
//! Tables say for each vector of the destination where it is, and for each of its vectors of the source the source lane of every lane. A vector is repeated
//! at a constant stride, with its tables in registers. The floor is a load, a permutation and a blend for each vector of the
//! source, and a store.

use crate::ir::{Addr, Binary, Elem, Function, Int, Pred, Val};
use crate::isa::Isa;
use crate::key::Key;
use std::mem::offset_of;

#[cfg(test)]
mod tests;

/// Most lanes of a vector.
pub const LANES: usize = 16;

/// Most vectors of the source for one of the destination, whose tables are in registers.
pub const SOURCES: usize = 6;

/// The key of a kernel: everything that its code depends on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Lookup {
    /// Elements of the source.
    pub from: Elem,
    /// Elements of the destination: words as they are if those of the source are, too.
    pub to: Elem,
    /// Vectors of the source for each of the destination, from one to [`SOURCES`].
    pub sources: u8,
    /// Whether all lanes of all vectors are read and written.
    pub whole: bool,
}

/// A vector of the destination.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    /// Bytes to it.
    pub to: usize,
    /// Lanes that are written where not all are.
    pub writes: u16,
}

/// A vector of the source.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Source {
    /// Bytes to it.
    pub from: usize,
    /// Lanes that are read where not all are.
    pub reads: u16,
    /// Lanes of the destination's vector that come from it; those of the first of its vectors are not looked at.
    pub takes: u16,
    /// The lane that each of these comes from.
    pub lanes: [u8; LANES],
}

/// Arguments of a kernel.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Args {
    /// The base of the offsets of vectors in the source.
    pub from: *const u8,
    /// The same in the destination.
    pub to: *mut u8,
    /// The vectors of the destination.
    pub steps: *const Step,
    /// The vectors of the source for each of these.
    pub sources: *const Source,
    /// Vectors of the destination, at least one.
    pub count: usize,
    /// Repetitions of each, at least one, and the strides of repetitions in the source and in the destination, in bytes.
    pub times: usize,
    /// As said.
    pub from_next: usize,
    /// As said.
    pub to_next: usize,
}

impl Key for Lookup {
    type Args = Args;

    /// The name in dumps and profiles.
    fn name(&self, isa: Isa) -> String {
        let whole = if self.whole { ".whole" } else { "" };
        format!("lookup.{}{}.{}{whole}.{}", self.from.name(), self.to.name(), self.sources, isa.name())
    }

    fn write(&self, f: &mut Function) {
        let args = f.arguments();
        let fields = [offset_of!(Args, steps), offset_of!(Args, sources), offset_of!(Args, count)];
        let [steps, sources, count] = fields.map(|field| f.argument(args, field));
        f.repeat_some(count, |f| {
            let [from, to] = [offset_of!(Args, from), offset_of!(Args, to)].map(|field| f.argument(args, field));
            let result = f.load_int(steps.at(offset_of!(Step, to) as i32));
            f.add(to, result);
            let writes = (!self.whole).then(|| f.load_bits(steps.at(offset_of!(Step, writes) as i32)));
            let lanes: Vec<Val> =
                (0..self.sources).map(|i| f.load_number(Elem::Low8, field(sources, i, offset_of!(Source, lanes)), None)).collect();
            lanes.iter().for_each(|lanes| f.pin(*lanes));
            let takes: Vec<Pred> = (1..self.sources).map(|i| f.load_bits(field(sources, i, offset_of!(Source, takes)))).collect();
            let times = f.argument(args, offset_of!(Args, times));
            f.repeat_some(times, |f| {
                let y = self.permuted(f, (from, sources), (0, lanes[0]));
                for (i, takes) in (1..self.sources).zip(&takes) {
                    let x = self.permuted(f, (from, sources), (i, lanes[usize::from(i)]));
                    f.replace(y, *takes, x);
                }
                f.store_number(self.to, to.at(0), y, writes);
                f.advance(from, args, offset_of!(Args, from_next));
                f.advance(to, args, offset_of!(Args, to_next));
            });
            f.add(steps, size_of::<Step>() as i32);
            f.add(sources, i32::from(self.sources) * size_of::<Source>() as i32);
        });
    }
}

/// A field of source `i` of a vector.
fn field(sources: Int, i: u8, field: usize) -> Addr {
    sources.at((usize::from(i) * size_of::<Source>() + field) as i32)
}

impl Lookup {
    /// Source `i` of a vector, permuted to the lanes that take from it.
    fn permuted(&self, f: &mut Function, (from, sources): (Int, Int), (i, lanes): (u8, Val)) -> Val {
        let source = f.load_int(field(sources, i, offset_of!(Source, from)));
        let reads = (!self.whole).then(|| f.load_bits(field(sources, i, offset_of!(Source, reads))));
        let x = f.load_number(self.from, from.indexed(source, 1, 0), reads);
        f.binary(Binary::Lookup32, lanes, x)
    }
}
