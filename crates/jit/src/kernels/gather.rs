//! Gathers rows into contiguous memory: the `A` operand of AMX tiles where rows are not at a constant stride, or do not end with a whole
//! step.

use crate::asm::Width;
use crate::ir::Function;
use crate::isa::Isa;
use crate::key::Key;
use std::mem::offset_of;

#[cfg(test)]
mod tests;

/// Bytes that are copied at a time.
const CHUNK_BYTES: i32 = 64;

/// The key of a kernel: everything that its code depends on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Gather {
    /// Bytes after the last whole word, 0 to 3: the word that they begin ends with zeros.
    pub partial: u8,
}

/// Arguments of a kernel.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Args {
    /// The address of every row.
    pub rows: *const usize,
    /// Number of rows, at least 1.
    pub count: usize,
    /// Bytes from these addresses to the first one that is copied.
    pub from: usize,
    /// Whole chunks of 64 bytes of a row.
    pub chunks: usize,
    /// Whole words after them, fewer than 16.
    pub words: usize,
    /// Where the first row goes; after each row, 64 bytes may be written.
    pub to: *mut u8,
    /// Distance of the rows there.
    pub to_row: usize,
}

impl Key for Gather {
    type Args = Args;

    /// The name in dumps and profiles.
    fn name(&self, isa: Isa) -> String {
        format!("gather.{}.{}", self.partial, isa.name())
    }

    fn write(&self, f: &mut Function) {
        let args = f.arguments();
        let argument = |f: &mut Function, field: usize| f.load_int(args.at(field as i32));
        let (row_list, to, to_row) =
            (argument(f, offset_of!(Args, rows)), argument(f, offset_of!(Args, to)), argument(f, offset_of!(Args, to_row)));
        let (from, words) = (argument(f, offset_of!(Args, from)), argument(f, offset_of!(Args, words)));
        let last = f.first_lanes(words);
        let rows = argument(f, offset_of!(Args, count));
        f.repeat_some(rows, |f| {
            let (at, to_at, chunks) = (f.load_int(row_list.at(0)), f.copy(to), argument(f, offset_of!(Args, chunks)));
            f.add(at, from);
            f.repeat(chunks, |f| {
                let x = f.load(Width::W512, at.at(0));
                f.store(to_at.at(0), x);
                f.add(at, CHUNK_BYTES);
                f.add(to_at, CHUNK_BYTES);
            });
            let x = f.load_masked(at.at(0), last);
            f.store(to_at.at(0), x);
            if self.partial > 0 {
                let (at, to_at) = (f.address(at.indexed(words, 4, 0)), f.address(to_at.indexed(words, 4, 0)));
                let x = f.load_partial(at, self.partial);
                f.store_int(to_at.at(0), x);
            }
            f.add(row_list, size_of::<usize>() as i32);
            f.add(to, to_row);
        });
    }
}
