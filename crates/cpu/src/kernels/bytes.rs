//! Products of few vectors of bytes with lines of bytes in place, in generated code.

use super::code;
use super::extent::{Read, Written};
use super::multiversion::{Simd, multiversion};
use oxidnn_jit::kernels::bytes::{Args, ByteDots};
use oxidnn_jit::{Entry, Isa};
use oxidnn_spec::Error;

/// The kernels of a product.
#[derive(Debug)]
pub struct ByteProduct {
    /// The kernels for several lines at a time, and for the remaining lines.
    whole: Entry<Args>,
    single: Entry<Args>,
    kernel: ByteDots,
    isa: Isa,
}

/// Lines at a constant stride.
#[derive(Clone, Copy, Debug)]
pub struct Lines<'a> {
    /// Memory from the first line on.
    pub bytes: &'a [u8],
    /// Bytes from line to line.
    pub step: usize,
    /// Elements of a line.
    pub depth: usize,
}

/// Vectors.
#[derive(Clone, Copy, Debug)]
pub struct Vectors<'a> {
    /// Memory from the first one on.
    pub bytes: &'a [u8],
    /// Bytes from vector to vector.
    pub step: usize,
    /// All of them, arranged.
    pub arranged: &'a [u8],
}

/// Elements of a step, a 32-bit word. The elements after the last whole word are multiplied here.
const WORD: usize = 4;

fn number(signed: bool, byte: u8) -> i32 {
    if signed { i32::from(byte.cast_signed()) } else { i32::from(byte) }
}

multiversion! {
    /// The sum of bytes, wrapping.
    pub fn sum(signed: bool, bytes: &[u8]) -> i32 {
        match signed {
            true => bytes.iter().fold(0i32, |sum, x| sum.wrapping_add(i32::from(x.cast_signed()))),
            false => bytes.iter().fold(0i32, |sum, x| sum.wrapping_add(i32::from(*x))),
        }
    }
}

impl ByteProduct {
    /// Most vectors.
    pub const MOST: usize = ByteDots::MOST;
    /// Numbers from a vector's products to the next one's, and most lines of a call.
    pub const PITCH: usize = ByteDots::PITCH;

    /// The kernels for so many vectors and for lines of these types, with or without sums of lines.
    ///
    /// # Errors
    /// As for [`code::get`].
    pub fn get(isa: Isa, vectors: usize, signed: [bool; 2], summed: bool) -> Result<ByteProduct, Error> {
        let kernel = |lines| ByteDots { signed, vectors: vectors as u8, lines, summed };
        let (whole, single) = (kernel(ByteDots::lines(isa, vectors, summed)), kernel(1));
        Ok(ByteProduct { whole: code::get(isa, &whole)?, single: code::get(isa, &single)?, kernel: whole, isa })
    }

    /// The kernels for sums of lines alone.
    ///
    /// # Errors
    /// As for [`code::get`].
    pub fn of_sums(isa: Isa, signed: bool) -> Result<ByteProduct, Error> {
        ByteProduct::get(isa, 0, [!signed, signed], true)
    }

    /// The sums of as many lines as there is room for.
    ///
    /// # Panics
    /// As [`ByteProduct::run`].
    pub fn sum_lines(&self, simd: Simd, lines: Lines<'_>, sums: &mut [i32]) {
        self.run(simd, Vectors { bytes: &[], step: 0, arranged: &[] }, lines, [&mut [], sums]);
    }

    /// Bytes of rearranged vectors.
    pub fn arranged(isa: Isa, vectors: usize, depth: usize) -> usize {
        ByteDots::arranged(isa, vectors, depth)
    }

    /// Rearranges one of the vectors to `to`, which all of them share.
    pub fn arrange(&self, vector: usize, x: &[u8], to: &mut [u8]) {
        if !to.is_empty() {
            self.kernel.arrange(self.isa, vector, &x[..x.len() / WORD * WORD], to);
        }
    }

    /// Dot products of the vectors with as many lines as there is room for in `sums`, and the lines' sums if the kernels compute these. All
    /// arithmetic wraps.
    ///
    /// # Panics
    /// If a line is outside its memory, or there is too little room for results.
    pub fn run(&self, simd: Simd, x: Vectors<'_>, lines: Lines<'_>, [dots, sums]: [&mut [i32]; 2]) {
        let Lines { bytes, step, depth } = lines;
        let ByteDots { signed, summed, vectors, lines: group } = self.kernel;
        let (width, words, vectors, group) = (self.isa.width().bytes(), depth / WORD, usize::from(vectors), usize::from(group));
        let (count, arranged) = (sums.len(), x.arranged);
        let own = |vector: usize| &x.bytes[vector * x.step..][..depth];
        assert!(arranged.len() >= ByteDots::arranged(self.isa, vectors, depth) && (vectors == 0 || count <= ByteDots::PITCH));
        let read = match vectors {
            0 => Read::from(arranged).at("vectors", 0, Some(0)),
            1 if arranged.is_empty() => Read::from(own(0)).at("vectors", 0, Some(words * WORD)),
            _ => Read::from(arranged).at("vectors", 0, Some(ByteDots::arranged(self.isa, vectors, depth))),
        };
        for (entry, first, groups, many) in
            [(&self.whole, 0, count / group, group), (&self.single, count / group * group, count % group, 1)]
        {
            if groups == 0 {
                continue;
            }
            let lines = groups * many;
            let reach = step.checked_mul(lines - 1).and_then(|last| last.checked_add(depth));
            let [start, results] = if vectors == 0 { [0; 2] } else { [first, (vectors - 1) * ByteDots::PITCH + lines] };
            let args = Args {
                x: read,
                lines: Read::from(bytes).at("lines", first * step, reach),
                step,
                groups,
                vectors: words * WORD / width,
                words: words % (width / WORD),
                last: usize::from(!words.is_multiple_of(width / WORD)),
                dots: Written::from(&mut dots[start..]).at("products", 0, Some(results * 4)).cast(),
                sums: if summed { Written::from(&mut sums[first..]).at("sums", 0, Some(lines * 4)).cast() } else { std::ptr::null_mut() },
            };
            // SAFETY: the kernel reads the rearranged vectors and whole words of the lines, and writes a number for each vector and line; all of these
            // were checked.
            unsafe { entry.call(&args) }
        }
        let behind = words * WORD..depth;
        let line = |i: usize| &bytes[i * step..][behind.clone()];
        for (vector, dots) in dots.chunks_mut(ByteDots::PITCH).enumerate().take(vectors) {
            let x = own(vector);
            let whole = if self.kernel.flips(self.isa) { 128 * sum(simd, signed[0], &x[..words * WORD]) } else { 0 };
            let surplus = if signed[1] { whole } else { -whole };
            let dots = &mut dots[..count];
            dots.iter_mut().for_each(|dot| *dot = dot.wrapping_sub(surplus));
            for (i, dot) in dots.iter_mut().enumerate().filter(|_| !behind.is_empty()) {
                let products = x[behind.clone()].iter().zip(line(i)).map(|(x, y)| number(signed[0], *x) * number(signed[1], *y));
                *dot = products.fold(*dot, i32::wrapping_add);
            }
        }
        for (i, total) in sums.iter_mut().enumerate().filter(|_| summed && !behind.is_empty()) {
            *total = line(i).iter().fold(*total, |sum, y| sum.wrapping_add(number(signed[1], *y)));
        }
    }
}
