//! Functions of single bytes, as tables of all their results. A table stays in four registers; the floor is a load, two lookups and a store
//! for each vector of bytes.

use crate::ir::{Function, Int};
use crate::isa::Isa;
use crate::key::Key;
use std::mem::offset_of;

#[cfg(test)]
mod tests;

/// Bytes of a vector.
pub const VECTOR: usize = 64;

/// Vectors that are looked up together.
const TOGETHER: usize = 4;

/// The key of a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ByteTable {
    /// Whether results are stored non-temporally, at multiples of a vector.
    pub streaming: bool,
}

/// Arguments of a kernel.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Args {
    /// The bytes.
    pub from: *const u8,
    /// Where their results go, which may be the same place.
    pub to: *mut u8,
    /// The results of the bytes 0 to 255.
    pub table: *const u8,
    /// Whole vectors.
    pub vectors: usize,
}

impl Key for ByteTable {
    type Args = Args;

    /// The name in dumps and profiles.
    fn name(&self, isa: Isa) -> String {
        format!("byte_table{}.{}", if self.streaming { ".streaming" } else { "" }, isa.name())
    }

    fn write(&self, f: &mut Function) {
        let args = f.arguments();
        let width = f.isa().width();
        let fields = [offset_of!(Args, from), offset_of!(Args, to), offset_of!(Args, table), offset_of!(Args, vectors)];
        let [from, to, table, vectors] = fields.map(|field| f.argument(args, field));
        let table = [0, 1, 2, 3].map(|i| f.load(width, table.at(i * VECTOR as i32)));
        table.iter().for_each(|part| f.pin(*part));
        let some = |f: &mut Function, count: Int, together: usize| {
            f.repeat(count, |f| {
                let at = |i: usize| (i * VECTOR) as i32;
                let bytes: Vec<_> = (0..together).map(|i| f.load(width, from.at(at(i)))).collect();
                for (i, bytes) in bytes.into_iter().enumerate() {
                    let results = f.lookup_bytes(bytes, table);
                    if self.streaming { f.store_streaming(to.at(at(i)), results) } else { f.store(to.at(at(i)), results) }
                }
                f.add(from, at(together));
                f.add(to, at(together));
            });
        };
        let groups = f.copy(vectors);
        f.shr(groups, TOGETHER.ilog2() as u8);
        some(f, groups, TOGETHER);
        f.and(vectors, TOGETHER as i32 - 1);
        some(f, vectors, 1);
        if self.streaming {
            f.store_fence();
        }
    }
}
