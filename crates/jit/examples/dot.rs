//! Measures the inner kernel of `dot` against what the core's multiply units can do: `cargo run --release --example dot [filter]`.
//!
//! The peak is measured, not assumed: a loop of multiply-adds on registers alone. Every figure is the best of many short runs, taken in
//! turns with the peak, so that other programs on the machine disturb neither.

use oxidnn_jit::arena::Options;
use oxidnn_jit::asm::{Asm, Cond, Gpr, Mem, Op, Operand, Simd};
use oxidnn_jit::kernels::dot::{Args, Dot, Pair, Product, Stride};
use oxidnn_jit::{CodeArena, Entry, Isa};
use std::hint::black_box;
use std::time::Instant;

/// Distance of rows beyond their length: keeps them off each other's cache sets.
const SKEW: usize = 64;

/// Parts and steps of the reductions that are measured.
const SHAPES: [(usize, usize); 4] = [(1, 256), (1, 64), (9, 64), (1, 16)];

struct Buffer {
    memory: Vec<u8>,
    start: usize,
}

impl Buffer {
    fn new(len: usize) -> Buffer {
        // Ordinary numbers in every type: as f32 and bf16 between 1 and 2, as bytes anything.
        let memory = [0x5a, 0x3f, 0x93, 0x3f].into_iter().cycle().take(len + 4096).collect::<Vec<u8>>();
        let start = memory.as_ptr().align_offset(64);
        Buffer { memory, start }
    }

    fn at(&mut self, offset: usize) -> *mut u8 {
        self.memory[self.start + offset..].as_mut_ptr()
    }
}

/// Multiply-adds on registers: `unroll` accumulators, as many rounds as the argument says.
fn peak_kernel(arena: &CodeArena, isa: Isa, op: Op) -> Result<Entry<usize>, Box<dyn std::error::Error>> {
    let reg = |i| Operand::Simd(Simd::new(i, isa.width()));
    let sums = isa.simd_registers() as u8 - 2;
    let mut asm = Asm::new(isa);
    asm.op(Op::Mov, &[Gpr::Rax.into(), Mem::at(Gpr::Rdi, 0).into()]);
    (0..sums + 2).for_each(|i| asm.op(Op::Xor, &[reg(i), reg(i), reg(i)]));
    let top = asm.label();
    asm.align(64);
    asm.bind(top);
    for _ in 0..4 {
        (0..sums).for_each(|i| asm.op(op, &[reg(i), reg(sums), reg(sums + 1)]));
    }
    asm.op(Op::Dec, &[Gpr::Rax.into()]);
    asm.jump(Cond::Ne, top);
    asm.op(Op::ZeroUpper, &[]);
    asm.op(Op::Ret, &[]);
    let code = arena.install("peak", &asm.finish()?)?;
    // SAFETY: the code reads one number and touches no other memory; the caller runs it on a processor with this instruction set.
    Ok(unsafe { code.entry() })
}

/// Nanoseconds of one run, the best of what `budget_ms` allows.
fn best(budget_ms: u128, mut run: impl FnMut()) -> f64 {
    let begin = Instant::now();
    let mut best = f64::MAX;
    while begin.elapsed().as_millis() < budget_ms {
        let t = Instant::now();
        run();
        best = best.min(t.elapsed().as_nanos() as f64);
    }
    best
}

/// Operations in a nanosecond of the register loop.
fn peak(arena: &CodeArena, isa: Isa, product: Product) -> Result<f64, Box<dyn std::error::Error>> {
    let op = match product {
        Product::F32 => Op::FmaF32,
        Product::Bf16 => Op::DotBf16,
        Product::U8S8 => Op::DotU8S8,
    };
    let rounds = 200_usize;
    let entry = peak_kernel(arena, isa, op)?;
    // SAFETY: see `peak_kernel`.
    let ns = best(60, || unsafe { entry.call(&rounds) });
    let per_round = 4 * (isa.simd_registers() - 2) * isa.width().lanes() * 2 * product.depth();
    Ok((rounds * per_round) as f64 / ns)
}

/// A problem: `m` by `n` by `steps`, cut into tiles; panels of `B` one after the other, all rows of `A` for each.
struct Case {
    dot: Dot,
    tiles_m: usize,
    tiles_n: usize,
    /// Parts of the reduction.
    parts: usize,
    /// Steps of a part.
    steps: usize,
}

impl Case {
    /// Operations in a nanosecond.
    fn measure(&self, arena: &CodeArena, isa: Isa) -> Result<f64, Box<dyn std::error::Error>> {
        let (dot, steps, parts) = (self.dot, self.steps, self.parts);
        let a_row = parts * steps * 4 + SKEW;
        let dot = Dot { a_row: if dot.a_row == Stride::Given { Stride::Given } else { Stride::Fixed(a_row as i32) }, ..dot };
        let compiled = dot.compile(isa)?;
        let code = arena.install(&dot.name(isa), &compiled.code)?;
        // SAFETY: the kernel is a function of `Args`; the caller runs it on a processor with this instruction set.
        let entry: Entry<Args> = unsafe { code.entry() };
        let (rows, columns) = (usize::from(dot.rows), dot.columns(isa));
        let (m, n) = (rows * self.tiles_m, columns * self.tiles_n);
        let panel = parts * steps * columns * 4;
        let mut a = Buffer::new(m * a_row);
        let mut b = Buffer::new(panel * self.tiles_n);
        let c_row = n * 4 + SKEW;
        let mut c = Buffer::new(m * c_row);
        let unroll = usize::from(dot.unroll);
        let mut calls = Vec::new();
        let mut pairs = Vec::new();
        for j in 0..self.tiles_n {
            for i in 0..self.tiles_m {
                let part = |p| Pair { a: a.at(i * rows * a_row + p * steps * 4), b: b.at(j * panel + p * steps * columns * 4) };
                pairs.push((0..parts).map(part).collect::<Vec<_>>());
                let to = c.at(i * rows * c_row + j * columns * 4);
                calls.push(Args {
                    pairs: std::ptr::null(),
                    count: parts,
                    blocks: steps / unroll,
                    rest: steps % unroll,
                    c: to,
                    c_row,
                    a_row,
                    a_step: 0,
                    b_row: 0,
                    last: isa.width().lanes(),
                });
            }
        }
        calls.iter_mut().zip(&pairs).for_each(|(call, pair)| call.pairs = pair.as_ptr());
        let ns = best(150, || {
            for call in &calls {
                // SAFETY: rows, panels and sums of the tile lie in the buffers, as they were sized above.
                unsafe { entry.call(black_box(call)) }
            }
        });
        Ok((m * n * parts * steps * dot.product.depth() * 2) as f64 / ns)
    }
}

/// Microseconds from a description to installed code.
fn creation(arena: &CodeArena, dot: Dot, isa: Isa) -> f64 {
    best(20, || {
        let code = dot.compile(isa).ok().and_then(|c| arena.install("created", &c.code).ok());
        black_box(code);
    }) / 1000.0
}

/// One line of the table.
fn line(arena: &CodeArena, isa: Isa, dot: Dot, name: &str) -> Result<(), Box<dyn std::error::Error>> {
    let peak = peak(arena, isa, dot.product)?;
    let tiles = (240 / usize::from(dot.rows), 512 / dot.columns(isa));
    print!("{name:42} {peak:7.1}");
    for (parts, steps) in SHAPES {
        let speed = Case { dot, tiles_m: tiles.0, tiles_n: tiles.1, parts, steps }.measure(arena, isa)?;
        print!(" {speed:7.1} {:5.1}", 100.0 * speed / peak);
    }
    println!(" {:7.1}", creation(arena, dot, isa));
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let filter = std::env::args().nth(1).unwrap_or_default();
    let arena = CodeArena::new(Options::default());
    let host = Isa::host().ok_or("no AVX2 here")?;
    let wide: &[(u8, u8)] = &[(6, 4), (8, 3), (9, 3), (12, 2), (13, 2), (14, 2), (24, 1), (28, 1)];
    let narrow: &[(u8, u8)] = &[(6, 2), (5, 2), (4, 3), (3, 3), (12, 1)];
    println!(
        "{:46} {:>7} {:>8} {:>6} {:>8} {:>6} {:>8}",
        "kernel, Gop/s and % of the peak", "peak", "a tile", "%", "in L2", "%", "us made"
    );
    for isa in [host, Isa::host_within(Isa::AVX2_VNNI).ok_or("no AVX2 here")?] {
        for product in [Product::F32, Product::Bf16, Product::U8S8] {
            if (product == Product::Bf16 && !isa.bf16) || (product == Product::U8S8 && !isa.vnni) {
                continue;
            }
            for &(rows, vectors) in if isa.avx512 { wide } else { narrow } {
                for (a_row, unroll) in [(Stride::Fixed(0), 4), (Stride::Fixed(0), 8), (Stride::Given, 4)] {
                    let dot = Dot { a_row, unroll, ..Dot::new(product, rows, vectors) };
                    let given = if a_row == Stride::Given { " given" } else { "" };
                    let name = format!("{} unroll {unroll}{given}", dot.name(isa));
                    if name.contains(&filter) {
                        line(&arena, isa, dot, &name)?;
                    }
                }
            }
        }
    }
    Ok(())
}
