//! Problems for the kernels of this folder, checked exactly.

use super::dot::{Args, Dot, Pair, Panel, Product, Start, Stride};
use crate::ir::Function;
use crate::isa::Isa;
use crate::testing::run;
use half::bf16;

pub(super) const PRODUCTS: [Product; 3] = [Product::F32, Product::Bf16, Product::U8S8];

/// Small whole numbers, so that every sum is exact in every order.
fn number(product: Product, signed: bool, i: usize) -> i32 {
    let x = (i * 37 + i / 11) % 13;
    if product == Product::U8S8 && signed { x as i32 * 9 - 50 } else { x as i32 - if product == Product::U8S8 { 0 } else { 6 } }
}

fn put(product: Product, x: i32, out: &mut Vec<u8>) {
    match product {
        Product::F32 => out.extend((x as f32).to_le_bytes()),
        Product::Bf16 => out.extend(bf16::from_f32(x as f32).to_le_bytes()),
        Product::U8S8 => out.push(x as u8),
    }
}

/// Numbers of a product: parts, each `rows` by `depth` and `depth` by `columns`.
pub(super) struct Case {
    pub(super) dot: Dot,
    pub(super) isa: Isa,
    pub(super) parts: usize,
    pub(super) steps: usize,
    pub(super) last: usize,
}

impl Case {
    fn depth(&self) -> usize {
        self.steps * self.dot.product.depth() + usize::from(self.dot.partial)
    }

    /// Steps, one that is not whole counted.
    fn all_steps(&self) -> usize {
        self.depth().div_ceil(self.dot.product.depth())
    }

    fn a(&self, part: usize, row: usize, k: usize) -> i32 {
        number(self.dot.product, false, part * 1000 + row * 57 + k)
    }

    fn b(&self, part: usize, k: usize, column: usize) -> i32 {
        number(self.dot.product, true, part * 777 + column * 31 + k)
    }

    /// Columns that exist.
    fn shown(&self) -> usize {
        let (columns, lanes) = (self.dot.columns(self.isa), self.isa.width().lanes());
        if self.dot.tail { columns - lanes + self.last } else { columns }
    }

    fn size(&self) -> usize {
        4 / self.dot.product.depth()
    }

    /// `A` of a part, with the distances of its rows and steps. What is not to be read is NaN.
    fn left(&self, part: usize) -> (Vec<u8>, usize, usize) {
        let rows = usize::from(self.dot.rows);
        let (row, step) = match (self.dot.a_row, self.dot.a_step) {
            (Stride::Fixed(row), Stride::Given) => (row as usize, rows * row as usize + 12),
            (Stride::Given, Stride::Given) => (4, rows * 4),
            _ => (self.steps * 4 + 8, 4),
        };
        let mut bytes = vec![0xff; rows * row + self.all_steps() * step];
        for i in 0..rows {
            for k in 0..self.depth() {
                let at = i * row + k / self.dot.product.depth() * step + k % self.dot.product.depth() * self.size();
                let mut number = Vec::new();
                put(self.dot.product, self.a(part, i, k), &mut number);
                bytes[at..at + number.len()].copy_from_slice(&number);
            }
        }
        (bytes, row, step)
    }

    /// `B` of a part, with the distance of its lines; ends with the last number that exists where it is not packed.
    fn right(&self, part: usize) -> (Vec<u8>, usize) {
        let packed = self.dot.panel == Panel::Packed;
        let columns = if packed { self.dot.columns(self.isa) } else { self.shown() };
        let line = if packed { columns * 4 } else { columns * 4 + 20 };
        let mut bytes = Vec::new();
        for step in 0..self.all_steps() {
            bytes.resize(step * line, 0xff);
            for column in 0..columns {
                for k in (0..self.dot.product.depth()).map(|k| step * self.dot.product.depth() + k) {
                    put(self.dot.product, if k < self.depth() { self.b(part, k, column) } else { 0 }, &mut bytes);
                }
            }
        }
        (bytes, line)
    }

    /// Runs the kernel and compares every sum, and what lies between them.
    pub(super) fn run(&self) {
        self.run_as(self.dot.function(self.isa), usize::from(self.dot.unroll));
    }

    /// The same with another kernel, whose blocks are so many steps.
    pub(super) fn run_as(&self, function: Function, unroll: usize) {
        let (rows, columns) = (usize::from(self.dot.rows), self.dot.columns(self.isa));
        let product = self.dot.product;
        let left: Vec<_> = (0..self.parts).map(|p| self.left(p)).collect();
        let right: Vec<_> = (0..self.parts).map(|p| self.right(p)).collect();
        let pairs: Vec<Pair> = left.iter().zip(&right).map(|(a, b)| Pair { a: a.0.as_ptr(), b: b.0.as_ptr() }).collect();
        let c_row = columns + 3;
        let before = |i: usize| if product == Product::U8S8 { i as u32 } else { (i as f32).to_bits() };
        let mut c: Vec<u32> = (0..rows * c_row).map(before).collect();
        let args = Args {
            pairs: pairs.as_ptr(),
            count: pairs.len(),
            blocks: self.steps / unroll,
            rest: self.steps % unroll,
            c: c.as_mut_ptr().cast(),
            c_row: c_row * 4,
            a_row: left.first().map_or(0, |a| a.1),
            a_step: left.first().map_or(0, |a| a.2),
            b_row: right.first().map_or(0, |b| b.1),
            last: self.last,
        };
        if !run(function, &args) {
            return;
        }
        for (i, got) in c.iter().enumerate() {
            let (row, column) = (i / c_row, i % c_row);
            let mut want = before(i);
            if column < self.shown() {
                let terms = (0..self.parts).flat_map(|p| (0..self.depth()).map(move |k| (p, k)));
                let sum: i32 = terms.map(|(p, k)| self.a(p, row, k) * self.b(p, k, column)).sum();
                let sum = sum + if self.dot.start == Start::Load { i as i32 } else { 0 };
                want = if product == Product::U8S8 { sum as u32 } else { (sum as f32).to_bits() };
            }
            // -0 and 0 are the same sum.
            let zeros = |x: u32| if x == 0x8000_0000 { 0 } else { x };
            assert_eq!(zeros(*got), zeros(want), "row {row} column {column} of {} {:?}", self.dot.name(self.isa), self.dot);
        }
    }
}
