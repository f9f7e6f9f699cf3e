use super::*;
use crate::ir::Binary;
use crate::testing::{ISAS, check, decoded, run};
use half::bf16;
use iced_x86::{Formatter, NasmFormatter};
use std::fmt::Write as _;

const PRODUCTS: [Product; 3] = [Product::F32, Product::Bf16, Product::U8S8];

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
struct Case {
    dot: Dot,
    isa: Isa,
    parts: usize,
    steps: usize,
    last: usize,
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

    fn run(&self) {
        let (rows, columns) = (usize::from(self.dot.rows), self.dot.columns(self.isa));
        let product = self.dot.product;
        let left: Vec<_> = (0..self.parts).map(|p| self.left(p)).collect();
        let right: Vec<_> = (0..self.parts).map(|p| self.right(p)).collect();
        let pairs: Vec<Pair> = left.iter().zip(&right).map(|(a, b)| Pair { a: a.0.as_ptr(), b: b.0.as_ptr() }).collect();
        let c_row = columns + 3;
        let before = |i: usize| if product == Product::U8S8 { i as u32 } else { (i as f32).to_bits() };
        let mut c: Vec<u32> = (0..rows * c_row).map(before).collect();
        let unroll = usize::from(self.dot.unroll);
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
        if !run(self.dot.function(self.isa), &args) {
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

#[test]
fn tiles_hold_the_sums() {
    for isa in ISAS {
        let tiles: &[(u8, u8)] =
            if isa.avx512 { &[(6, 4), (14, 2), (28, 1), (1, 1), (3, 2)] } else { &[(6, 2), (4, 3), (12, 1), (1, 1), (7, 1)] };
        for product in PRODUCTS {
            for &(rows, vectors) in tiles {
                for (steps, parts) in [(1, 1), (4, 3), (7, 2), (0, 1), (5, 0), (16, 1)] {
                    let given = Dot::new(product, rows, vectors);
                    Case { dot: given, isa, parts, steps, last: 0 }.run();
                    let fixed = Dot { a_row: Stride::Fixed(steps as i32 * 4 + 8), unroll: 1, ..given };
                    Case { dot: fixed, isa, parts, steps, last: 0 }.run();
                }
            }
        }
    }
}

#[test]
fn operands_lie_in_many_ways() {
    for isa in ISAS {
        for product in PRODUCTS {
            for (rows, vectors) in [(5, 2), (7, 1)] {
                let dot = Dot::new(product, rows, vectors);
                for (steps, last) in [(1, 3), (4, 1), (7, 5)] {
                    for (panel, tail) in [(Panel::Packed, false), (Panel::Apart, false), (Panel::Apart, true)] {
                        for (a_row, a_step) in
                            [(Stride::Fixed(4), Stride::Given), (Stride::Given, Stride::Given), (Stride::Given, Stride::Fixed(4))]
                        {
                            let dot = Dot { panel, tail, a_row, a_step, ..dot };
                            Case { dot, isa, parts: 2, steps, last }.run();
                        }
                    }
                    for partial in 1..product.depth() as u8 {
                        Case { dot: Dot { partial, ..dot }, isa, parts: 2, steps, last }.run();
                        Case { dot: Dot { partial, unroll: 1, ..dot }, isa, parts: 1, steps: 0, last }.run();
                    }
                }
            }
        }
    }
}

/// (1 + 2 + .. + 32) * sum, negative ones 0: more values than registers are free.
fn scaled(f: &mut Function, sums: &Sums<'_>) {
    let w = f.isa().width();
    let scales: Vec<Val> = (0..6).map(|i| f.splat_f32(w, (1 << i) as f32)).collect();
    let zero = f.zero(w);
    sums.each(|_, _, sum, _| {
        let terms: Vec<Val> = scales.iter().map(|s| f.binary(Binary::MulF32, sum, *s)).collect();
        f.assign(sum, zero);
        terms.iter().for_each(|t| f.update(Binary::AddF32, sum, *t));
        f.update(Binary::MaxF32, sum, zero);
    });
    sums.store(f);
}

#[test]
fn sums_are_finished_in_registers() {
    for isa in ISAS {
        let dot = Dot { unroll: 1, ..Dot::new(Product::F32, if isa.avx512 { 14 } else { 6 }, 2) };
        let function = dot.function_with(isa, scaled);
        let compiled = dot.function_with(isa, scaled).finish().unwrap();
        assert!(compiled.spills > 0 && compiled.inner_spills == 0, "only what follows the loop is short of registers");
        let (rows, columns) = (usize::from(dot.rows), dot.columns(isa));
        let a: Vec<f32> = (0..rows).map(|i| i as f32 - 3.0).collect();
        let b: Vec<f32> = (0..columns).map(|j| j as f32).collect();
        let mut c = vec![-1.0_f32; rows * columns];
        let pair = Pair { a: a.as_ptr().cast(), b: b.as_ptr().cast() };
        let args = Args {
            pairs: &raw const pair,
            count: 1,
            blocks: 1,
            rest: 0,
            c: c.as_mut_ptr().cast(),
            c_row: columns * 4,
            a_row: 4,
            a_step: 0,
            b_row: 0,
            last: 0,
        };
        if run(function, &args) {
            c.iter().enumerate().for_each(|(i, c)| assert_eq!(*c, (63.0 * a[i / columns] * b[i % columns]).max(0.0), "{}", isa.name()));
        }
    }
}

#[test]
fn tails_and_sums_in_memory() {
    for isa in ISAS {
        for product in PRODUCTS {
            for start in [Start::Zero, Start::Load] {
                for last in 0..=isa.width().lanes() {
                    for vectors in [1, 2] {
                        let dot = Dot { start, tail: true, unroll: 2, prefetch_b: 512, ..Dot::new(product, 3, vectors) };
                        Case { dot, isa, parts: 2, steps: 5, last }.run();
                    }
                }
                Case { dot: Dot { start, ..Dot::new(product, 4, 2) }, isa, parts: 2, steps: 5, last: 0 }.run();
            }
        }
    }
}

/// The kernels whose code is kept under `tests/golden/jit`.
fn kept() -> Vec<(Dot, Isa)> {
    let fixed = |d: Dot| Dot { a_row: Stride::Fixed(1024), ..d };
    let mut kept = Vec::new();
    for product in PRODUCTS {
        kept.push((fixed(Dot::new(product, 14, 2)), Isa::AVX512_BF16));
    }
    kept.push((Dot { tail: true, start: Start::Load, ..Dot::new(Product::F32, 6, 4) }, Isa::AVX512));
    kept.push((fixed(Dot::new(Product::F32, 28, 1)), Isa::AVX512));
    kept.push((fixed(Dot::new(Product::F32, 6, 2)), Isa::AVX2));
    kept.push((Dot { tail: true, ..Dot::new(Product::F32, 4, 3) }, Isa::AVX2));
    kept.push((fixed(Dot::new(Product::U8S8, 4, 3)), Isa::AVX2_VNNI));
    kept
}

fn listing(compiled: &Compiled) -> String {
    let mut formatter = NasmFormatter::new();
    formatter.options_mut().set_branch_leading_zeros(false);
    let mut text = format!(
        "; {} instructions, {} bytes, {} spills, {} of them in inner loops\n",
        compiled.code.instructions, compiled.code.code_len, compiled.spills, compiled.inner_spills
    );
    for i in decoded(&compiled.code) {
        let mut line = String::new();
        formatter.format(&i, &mut line);
        let _ = writeln!(text, "{:04x}  {line}", i.ip());
    }
    text
}

/// Generated code changes only when somebody means it to: `cargo xtask bless` writes the files anew.
#[test]
fn golden_listings() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/jit");
    let mut names: Vec<String> = kept().iter().map(|(dot, isa)| dot.name(*isa)).collect();
    names.dedup();
    assert_eq!(names.len(), kept().len(), "one file for each");
    let bless = std::env::var_os("OXIDNN_BLESS").is_some();
    for (dot, isa) in kept() {
        let compiled = dot.function(isa).finish_recording().unwrap();
        check(&compiled.code, isa);
        let file = folder.join(format!("{}.asm", dot.name(isa)));
        let text = listing(&compiled);
        if bless {
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(&file, text).unwrap();
            continue;
        }
        let golden = std::fs::read_to_string(&file).unwrap_or_default();
        let line = golden.lines().zip(text.lines()).find(|(old, new)| old != new);
        assert!(golden == text, "{} differs: {line:?}; `cargo xtask bless` if that is meant", file.display());
    }
}

/// Every tile that fits the registers has none of its values on the stack.
#[test]
fn nothing_spills() {
    for isa in ISAS {
        let registers = isa.simd_registers();
        for product in PRODUCTS {
            let native = match product {
                Product::F32 => true,
                Product::Bf16 => isa.bf16,
                Product::U8S8 => isa.vnni,
            };
            for vectors in (1..=4).filter(|_| native) {
                let rows = (registers - usize::from(vectors) - 1) / usize::from(vectors);
                for tail in [false, true] {
                    // Without mask registers the mask takes one of the others.
                    let rows = if tail && !isa.avx512 { (registers - usize::from(vectors) - 2) / usize::from(vectors) } else { rows };
                    let dot = Dot { tail, start: Start::Load, ..Dot::new(product, rows as u8, vectors) };
                    let compiled = dot.compile(isa).unwrap();
                    assert_eq!((compiled.spills, compiled.frame), (0, 0), "{} {rows}x{vectors}", dot.name(isa));
                }
            }
        }
    }
}
