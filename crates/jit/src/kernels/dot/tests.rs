use super::*;
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
        self.steps * self.dot.product.depth()
    }

    fn a(&self, part: usize, row: usize, k: usize) -> i32 {
        number(self.dot.product, false, part * 1000 + row * 57 + k)
    }

    fn b(&self, part: usize, k: usize, column: usize) -> i32 {
        number(self.dot.product, true, part * 777 + column * 31 + k)
    }

    /// Bytes between rows of `A`: a little more than a row.
    fn a_row(&self) -> usize {
        self.steps * 4 + 8
    }

    fn run(&self) {
        let (rows, columns, lanes) = (usize::from(self.dot.rows), self.dot.columns(self.isa), self.isa.width().lanes());
        let product = self.dot.product;
        let mut memory: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
        for part in 0..self.parts {
            let (mut a, mut b) = (Vec::new(), Vec::new());
            for row in 0..rows {
                (0..self.depth()).for_each(|k| put(product, self.a(part, row, k), &mut a));
                a.resize((row + 1) * self.a_row(), 0xff);
            }
            for step in 0..self.steps {
                for column in 0..columns {
                    (0..product.depth()).for_each(|k| put(product, self.b(part, step * product.depth() + k, column), &mut b));
                }
            }
            memory.push((a, b));
        }
        let pairs: Vec<Pair> = memory.iter().map(|(a, b)| Pair { a: a.as_ptr(), b: b.as_ptr() }).collect();
        let shown = if self.dot.tail { columns - lanes + self.last } else { columns };
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
            a_row: self.a_row(),
            last: self.last,
        };
        if !run(self.dot.function(self.isa), &args) {
            return;
        }
        for (i, got) in c.iter().enumerate() {
            let (row, column) = (i / c_row, i % c_row);
            let mut want = before(i);
            if column < shown {
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

fn dot(product: Product, rows: u8, vectors: u8) -> Dot {
    Dot { product, rows, vectors, a_row: Stride::Given, a_step: 4, unroll: 4, start: Start::Zero, tail: false, prefetch_b: 0 }
}

#[test]
fn tiles_hold_the_sums() {
    for isa in ISAS {
        let tiles: &[(u8, u8)] =
            if isa.avx512 { &[(6, 4), (14, 2), (28, 1), (1, 1), (3, 2)] } else { &[(6, 2), (4, 3), (12, 1), (1, 1), (7, 1)] };
        for product in PRODUCTS {
            for &(rows, vectors) in tiles {
                for (steps, parts) in [(1, 1), (4, 3), (7, 2), (0, 1), (5, 0), (16, 1)] {
                    let given = dot(product, rows, vectors);
                    Case { dot: given, isa, parts, steps, last: 0 }.run();
                    let fixed = Dot { a_row: Stride::Fixed(steps as i32 * 4 + 8), unroll: 1, ..given };
                    Case { dot: fixed, isa, parts, steps, last: 0 }.run();
                }
            }
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
                        let dot = Dot { start, tail: true, unroll: 2, prefetch_b: 512, ..dot(product, 3, vectors) };
                        Case { dot, isa, parts: 2, steps: 5, last }.run();
                    }
                }
                Case { dot: Dot { start, ..dot(product, 4, 2) }, isa, parts: 2, steps: 5, last: 0 }.run();
            }
        }
    }
}

/// The kernels whose code is kept under `tests/golden/jit`.
fn kept() -> Vec<(Dot, Isa)> {
    let fixed = |d: Dot| Dot { a_row: Stride::Fixed(1024), ..d };
    let mut kept = Vec::new();
    for product in PRODUCTS {
        kept.push((fixed(dot(product, 14, 2)), Isa::AVX512_BF16));
    }
    kept.push((Dot { tail: true, start: Start::Load, ..dot(Product::F32, 6, 4) }, Isa::AVX512));
    kept.push((fixed(dot(Product::F32, 28, 1)), Isa::AVX512));
    kept.push((fixed(dot(Product::F32, 6, 2)), Isa::AVX2));
    kept.push((Dot { tail: true, ..dot(Product::F32, 4, 3) }, Isa::AVX2));
    kept.push((fixed(dot(Product::U8S8, 4, 3)), Isa::AVX2_VNNI));
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
        assert!(golden == text, "{} differs; `cargo xtask bless` if that is meant\n{text}", file.display());
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
                    let dot = Dot { tail, start: Start::Load, ..dot(product, rows as u8, vectors) };
                    let compiled = dot.compile(isa).unwrap();
                    assert_eq!((compiled.spills, compiled.frame), (0, 0), "{} {rows}x{vectors}", dot.name(isa));
                }
            }
        }
    }
}
