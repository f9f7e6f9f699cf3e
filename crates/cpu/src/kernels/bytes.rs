//! Products of a vector of bytes with lines of bytes in place, in generated code.

use super::code;
use super::extent::{Read, Written};
use super::multiversion::{Simd, multiversion};
use oxidnn_jit::kernels::bytes::{Args, ByteDots};
use oxidnn_jit::{Entry, Isa};
use oxidnn_spec::Error;

/// The kernels of a product.
#[derive(Debug)]
pub struct ByteProduct {
    /// The kernels for [`ByteDots::LINES`] lines at a time, and for the remaining lines.
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
    /// The kernels for a vector and lines of these types, with or without sums of lines.
    ///
    /// # Errors
    /// As for [`code::get`].
    pub fn get(isa: Isa, signed: [bool; 2], summed: bool) -> Result<ByteProduct, Error> {
        let kernel = |lines| ByteDots { signed, lines, summed };
        let (whole, single) = (kernel(ByteDots::LINES), kernel(1));
        Ok(ByteProduct { whole: code::get(isa, &whole)?, single: code::get(isa, &single)?, kernel: whole, isa })
    }

    /// Bytes of a rearranged vector.
    pub fn arranged(isa: Isa, depth: usize) -> usize {
        ByteDots::arranged(isa, depth)
    }

    /// Rearranges a vector to `to`.
    pub fn arrange(&self, x: &[u8], to: &mut [u8]) {
        if !to.is_empty() {
            self.kernel.arrange(self.isa, &x[..x.len() / WORD * WORD], to);
        }
    }

    /// Dot products of a vector, also given rearranged, with as many lines as there is room for, and the lines' sums if the kernels compute
    /// these. All arithmetic wraps.
    ///
    /// # Panics
    /// If a line is outside its memory, or there is too little room for results.
    pub fn run(&self, simd: Simd, (x, arranged): (&[u8], &[u8]), lines: Lines<'_>, [dots, sums]: [&mut [i32]; 2]) {
        let Lines { bytes, step, depth } = lines;
        let ByteDots { signed, summed, .. } = self.kernel;
        let (width, words) = (self.isa.width().bytes(), depth / WORD);
        let (group, count) = (usize::from(ByteDots::LINES), dots.len());
        assert!(x.len() == depth && arranged.len() >= ByteDots::arranged(self.isa, depth) && (!summed || sums.len() == count));
        for (entry, first, groups, many) in
            [(&self.whole, 0, count / group, group), (&self.single, count / group * group, count % group, 1)]
        {
            if groups == 0 {
                continue;
            }
            let lines = groups * many;
            let reach = step.checked_mul(lines - 1).and_then(|last| last.checked_add(depth));
            let args = Args {
                x: Read::from(if arranged.is_empty() { x } else { arranged }).at("the vector", 0, Some(arranged.len().max(words * WORD))),
                lines: Read::from(bytes).at("lines", first * step, reach),
                step,
                groups,
                vectors: words * WORD / width,
                words: words % (width / WORD),
                dots: Written::from(&mut dots[first..]).at("products", 0, Some(lines * 4)).cast(),
                sums: if summed { Written::from(&mut sums[first..]).at("sums", 0, Some(lines * 4)).cast() } else { std::ptr::null_mut() },
            };
            // SAFETY: the kernel reads the rearranged vector and whole words of the lines, and writes a number for each line; all of these
            // were checked.
            unsafe { entry.call(&args) }
        }
        let surplus = if !self.kernel.flips(self.isa) {
            0
        } else {
            let whole = sum(simd, signed[0], &x[..words * WORD]);
            if signed[1] { 128 * whole } else { -128 * whole }
        };
        let behind = words * WORD..depth;
        for (i, dot) in dots.iter_mut().enumerate() {
            let line = &bytes[i * step..][behind.clone()];
            let products = x[behind.clone()].iter().zip(line).map(|(x, y)| number(signed[0], *x) * number(signed[1], *y));
            *dot = products.fold(dot.wrapping_sub(surplus), i32::wrapping_add);
            if summed {
                sums[i] = line.iter().fold(sums[i], |sum, y| sum.wrapping_add(number(signed[1], *y)));
            }
        }
    }
}
