//! Elements that go to places of their own, some vectors of neighbours at a time: a vector of the source, whose lanes are looked up for those of a vector of
//! the destination that come from it.
//!
//! A table says for each step which vectors these are and which lane each lane comes from. The floor is a load, a permutation and a store under a mask for a
//! step, two or three cycles.

use crate::ir::{Binary, Elem, Function};
use crate::isa::Isa;
use crate::key::Key;
use std::mem::offset_of;

#[cfg(test)]
mod tests;

/// Most lanes of a vector.
pub const LANES: usize = 16;

/// What a kernel is made for. This is its key.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Lookup {
    /// Elements of the source.
    pub from: Elem,
    /// Elements of the destination: words as they are if those of the source are, too.
    pub to: Elem,
}

/// A step.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    /// Bytes to the vectors of source and destination.
    pub from: usize,
    /// As said.
    pub to: usize,
    /// Lanes that are read.
    pub reads: u16,
    /// Lanes that are written.
    pub writes: u16,
}

/// Arguments of a kernel.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Args {
    /// What the places of vectors are counted from in the source.
    pub from: *const u8,
    /// The same in the destination.
    pub to: *mut u8,
    /// The steps.
    pub steps: *const Step,
    /// For each step the lane of the source's vector for each lane of the destination's.
    pub lanes: *const [u32; LANES],
    /// Steps, at least one.
    pub count: usize,
}

impl Key for Lookup {
    type Args = Args;

    /// The name in dumps and profiles.
    fn name(&self, isa: Isa) -> String {
        format!("lookup.{}{}.{}", self.from.name(), self.to.name(), isa.name())
    }

    fn write(&self, f: &mut Function) {
        let args = f.arguments();
        let [from, to, steps, lanes, count] =
            [offset_of!(Args, from), offset_of!(Args, to), offset_of!(Args, steps), offset_of!(Args, lanes), offset_of!(Args, count)]
                .map(|field| f.argument(args, field));
        f.repeat_some(count, |f| {
            let [source, result] = [offset_of!(Step, from), offset_of!(Step, to)].map(|field| f.load_int(steps.at(field as i32)));
            let [reads, writes] = [offset_of!(Step, reads), offset_of!(Step, writes)].map(|field| f.load_bits(steps.at(field as i32)));
            let x = f.load_number(self.from, from.indexed(source, 1, 0), Some(reads));
            let index = f.load(f.isa().width(), lanes.at(0));
            let y = f.binary(Binary::Lookup32, index, x);
            f.store_number(self.to, to.indexed(result, 1, 0), y, Some(writes));
            f.add(steps, size_of::<Step>() as i32);
            f.add(lanes, size_of::<[u32; LANES]>() as i32);
        });
    }
}
