//! Measures the inner kernel of `dot` against the peak of the core's multiply units: `cargo run --release --example dot [filter]`.
//!
//! The peak is measured, not assumed: a loop of multiply-adds on registers alone. Every figure is the best of many short runs, taken in
//! turns with the peak, so that other programs on the machine disturb neither.

use oxidnn_jit::arena::Options;
use oxidnn_jit::asm::{Asm, Cond, Gpr, Mem, Op, Operand, Simd};
use oxidnn_jit::ir::{Reuse, TileProduct};
use oxidnn_jit::kernels::dot::{Args, Dot, DotType, InitialSums, PrefetchMode};
use oxidnn_jit::kernels::tiles::{self, LINES, Setup, Shape, TAP_WORDS, Tiles};
use oxidnn_jit::{CodeArena, Compiled, Entry, IrError, Isa, Key};
use std::error::Error;
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

/// Multiply-adds on registers, as many rounds as the argument says, and their operations in a round.
fn peak_kernel(arena: &CodeArena, isa: Isa, op: Op) -> Result<(Entry<usize>, usize), Box<dyn Error>> {
    let reg = |i| Operand::Simd(Simd::new(i, isa.width()));
    let tiles = matches!(op, Op::TileDotBf16 | Op::TileDotU8S8 | Op::TileDotS8S8);
    let sums = if tiles { 6 } else { isa.simd_registers() as u8 - 2 };
    let mut asm = Asm::new(isa);
    asm.op(Op::Mov, &[Gpr::Rax.into(), Mem::at(Gpr::Rdi, 0).into()]);
    if tiles {
        let shapes = asm.constant(&WHOLE.bytes(), 64);
        asm.op(Op::TileConfig, &[Mem::Const(shapes).into()]);
    } else {
        (0..sums + 2).for_each(|i| asm.op(Op::Xor, &[reg(i), reg(i), reg(i)]));
    }
    let top = asm.label();
    asm.align(64);
    asm.bind(top);
    for i in (0..4).flat_map(|_| 0..sums) {
        let operands = if tiles { [i, 6, 7].map(Operand::Tile) } else { [i, sums, sums + 1].map(reg) };
        asm.op(op, &operands);
    }
    asm.op(Op::Dec, &[Gpr::Rax.into()]);
    asm.jump(Cond::Ne, top);
    asm.op(if tiles { Op::TileRelease } else { Op::ZeroUpper }, &[]);
    asm.op(Op::Ret, &[]);
    let depth = if matches!(op, Op::FmaF32) {
        1
    } else if matches!(op, Op::DotBf16 | Op::TileDotBf16) {
        2
    } else {
        4
    };
    let each = 2 * depth * if tiles { 16 * 16 * 16 } else { isa.width().lanes() };
    let code = arena.install("peak", &asm.finish()?)?;
    // SAFETY: the code reads one number and touches no other memory; the caller runs it on a processor with this instruction set.
    Ok((unsafe { code.entry() }, 4 * usize::from(sums) * each))
}

/// Nanoseconds of one run, the best of those that fit into `budget_ms`.
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
fn peak(arena: &CodeArena, isa: Isa, op: Op) -> Result<f64, Box<dyn Error>> {
    let rounds = 200_usize;
    let (entry, each) = peak_kernel(arena, isa, op)?;
    // SAFETY: see `peak_kernel`.
    let ns = best(60, || unsafe { entry.call(&rounds) });
    Ok((rounds * each) as f64 / ns)
}

/// A kernel of either kind.
#[derive(Clone, Copy)]
enum Kernel {
    Dot(Dot),
    Tiles(Tiles),
}

/// Tiles of which nothing is left out.
const WHOLE: Shape = Shape { rows: [LINES; 2], steps: LINES };

fn tile_kernel(product: TileProduct) -> Tiles {
    Tiles { product, tall: 2, vectors: 4, line: 4, start: InitialSums::Zero, panels: Reuse::Temporal, prefetch: PrefetchMode::Given }
}

impl Kernel {
    fn compile(self, isa: Isa) -> Result<Compiled, IrError> {
        match self {
            Kernel::Dot(dot) => dot.compile(isa),
            Kernel::Tiles(tiles) => tiles.compile(isa),
        }
    }

    fn name(self, isa: Isa) -> String {
        match self {
            Kernel::Dot(dot) => dot.name(isa),
            Kernel::Tiles(tiles) => tiles.name(isa),
        }
    }

    /// Rows, columns, depth of a step.
    fn sizes(self, isa: Isa) -> (usize, usize, usize) {
        match self {
            Kernel::Dot(d) => (usize::from(d.rows), d.columns(isa), d.product.step_depth()),
            Kernel::Tiles(t) => {
                (usize::from(t.tall) * LINES, usize::from(t.vectors) * LINES, if t.product == TileProduct::Bf16 { 2 } else { 4 })
            }
        }
    }

    /// The instruction that does the work: where there is one.
    fn op(self, isa: Isa) -> Op {
        match self {
            Kernel::Dot(Dot { product: DotType::Bf16, .. }) if isa.bf16 => Op::DotBf16,
            Kernel::Dot(Dot { product: DotType::U8S8 | DotType::S8S8 | DotType::U8S7 | DotType::S8S7, .. }) if isa.vnni => Op::DotU8S8,
            Kernel::Dot(_) => Op::FmaF32,
            Kernel::Tiles(Tiles { product: TileProduct::Bf16, .. }) => Op::TileDotBf16,
            Kernel::Tiles(Tiles { product: TileProduct::U8S8, .. }) => Op::TileDotU8S8,
            Kernel::Tiles(Tiles { product: TileProduct::S8S8, .. }) => Op::TileDotS8S8,
        }
    }
}

/// The memory of a problem: `m` rows by `parts * steps` steps, panels of as many steps, `m` by `n` sums.
struct Memory {
    a: Buffer,
    a_row: usize,
    b: Buffer,
    panel: usize,
    c: Buffer,
    c_row: usize,
}

/// A problem: `m` by `n` by `steps`, cut into tiles; panels of `B` one after the other, all rows of `A` for each.
struct Case {
    kernel: Kernel,
    tiles_m: usize,
    tiles_n: usize,
    /// Parts of the reduction.
    parts: usize,
    /// Steps of a part.
    steps: usize,
}

impl Case {
    /// Operations in a nanosecond.
    fn measure(&self, arena: &CodeArena, isa: Isa) -> Result<f64, Box<dyn Error>> {
        let (rows, columns, depth) = self.kernel.sizes(isa);
        let (m, n, steps) = (rows * self.tiles_m, columns * self.tiles_n, self.parts * self.steps);
        let (a_row, panel, c_row) = (steps * 4 + SKEW, steps * columns * 4, n * 4 + SKEW);
        let (a, b, c) = (Buffer::new(m * a_row), Buffer::new(panel * self.tiles_n), Buffer::new(m * c_row));
        let mut memory = Memory { a, a_row, b, panel, c, c_row };
        let code = arena.install(&self.kernel.name(isa), &self.kernel.compile(isa)?.code)?;
        // SAFETY: the kernels are functions of the arguments made here; the caller runs them on a processor with this instruction set; rows,
        // panels and sums lie in the buffers, as they were sized above.
        let ns = unsafe {
            match self.kernel {
                Kernel::Dot(dot) => self.best_dot(&code.entry(), dot, isa, &mut memory),
                Kernel::Tiles(_) => {
                    let setup = |setup: Setup| -> Result<Entry<[u8; 64]>, Box<dyn Error>> {
                        Ok(arena.install(&setup.name(isa), &setup.compile(isa)?.code)?.entry())
                    };
                    let (shape, release) = (setup(Setup::Shape)?, setup(Setup::Release)?);
                    shape.call(&WHOLE.bytes());
                    let ns = self.best_tiles(&code.entry(), (rows, columns), &mut memory);
                    release.call(&WHOLE.bytes());
                    ns
                }
            }
        };
        Ok((m * n * steps * depth * 2) as f64 / ns)
    }

    /// Nanoseconds of a run.
    ///
    /// # Safety
    /// The kernel must be that of `dot`, and the memory that of the case.
    unsafe fn best_dot(&self, entry: &Entry<Args>, dot: Dot, isa: Isa, memory: &mut Memory) -> f64 {
        let (rows, columns) = (usize::from(dot.rows), dot.columns(isa));
        let mut strip = vec![self.parts, self.tiles_m, 0, memory.a_row, 0];
        strip.resize(strip.len() + rows, 0);
        for p in 0..self.parts {
            strip.push(p * self.steps * columns * 4);
            strip.extend((0..rows).map(|row| memory.a.at(row * memory.a_row + p * self.steps * 4).addr()));
        }
        // One call for every panel, which meets all rows.
        let panel = |j: usize| Args {
            strips: strip.as_ptr(),
            count: 1,
            panels: 1,
            steps: self.steps,
            b: memory.b.at(j * memory.panel),
            b_panel: 0,
            a_from: 0,
            sums: memory.c.at(j * columns * 4),
            sums_row: memory.c_row,
            a_step: 4,
            b_row: columns * 4,
            last: isa.width().lanes(),
            prefetch: 0,
            prefetch_step: 0,
        };
        let calls: Vec<Args> = (0..self.tiles_n).map(panel).collect();
        // SAFETY: by the caller's promise.
        best(150, || calls.iter().for_each(|call| unsafe { entry.call(black_box(call)) }))
    }

    /// Nanoseconds of a run.
    ///
    /// # Safety
    /// The kernel must be that of the case, and the memory as well.
    unsafe fn best_tiles(&self, entry: &Entry<tiles::Args>, (rows, columns): (usize, usize), memory: &mut Memory) -> f64 {
        let mut taps = Vec::new();
        for i in 0..self.tiles_m {
            let mut list = Vec::new();
            for p in 0..self.parts {
                list.push(p * self.steps * columns * 4);
                for half in 0..2 {
                    let row = i * rows + half * LINES;
                    list.extend([memory.a.at(row * memory.a_row + p * self.steps * 4).addr(), memory.a_row]);
                }
            }
            taps.push(list);
        }
        // One call for all rows of two tiles, which meet every panel.
        let mut call = |(i, taps): (usize, &Vec<usize>)| tiles::Args {
            taps: taps.as_ptr(),
            count: taps.len() / TAP_WORDS,
            a_from: 0,
            blocks: self.steps / LINES,
            a_block: LINES * 4,
            b_block: LINES * columns * 4,
            b: memory.b.at(0),
            panels: self.tiles_n,
            b_panel: memory.panel,
            tiles: 1,
            a_tile: 0,
            b_tile: 0,
            sums_tile: 0,
            sums: memory.c.at(i * rows * memory.c_row),
            sums_row: memory.c_row,
            sums_lower: LINES * memory.c_row,
            prefetch: taps.as_ptr().addr(),
            prefetch_step: 0,
        };
        let calls: Vec<tiles::Args> = taps.iter().enumerate().map(&mut call).collect();
        // SAFETY: by the caller's promise.
        best(150, || calls.iter().for_each(|call| unsafe { entry.call(black_box(call)) }))
    }
}

/// Microseconds from a description to installed code.
fn creation(arena: &CodeArena, kernel: Kernel, isa: Isa) -> f64 {
    best(20, || {
        let code = kernel.compile(isa).ok().and_then(|c| arena.install("created", &c.code).ok());
        black_box(code);
    }) / 1000.0
}

/// One line of the table.
fn line(arena: &CodeArena, isa: Isa, kernel: Kernel) -> Result<(), Box<dyn Error>> {
    let peak = peak(arena, isa, kernel.op(isa))?;
    let (rows, columns, ..) = kernel.sizes(isa);
    print!("{:42} {peak:7.1}", kernel.name(isa));
    for (parts, steps) in SHAPES {
        let speed = Case { kernel, tiles_m: 240 / rows, tiles_n: 512 / columns, parts, steps }.measure(arena, isa)?;
        print!(" {speed:7.1} {:5.1}", 100.0 * speed / peak);
    }
    println!(" {:7.1}", creation(arena, kernel, isa));
    Ok(())
}

/// The measurements on a processor.
fn kernels(isa: Isa) -> Vec<Kernel> {
    let wide: &[(u8, u8)] = &[(7, 4), (6, 4), (8, 3), (8, 2), (10, 1)];
    let narrow: &[(u8, u8)] = &[(6, 2), (10, 1)];
    let mut kernels = Vec::new();
    for product in DotType::ALL {
        let fits = |shape: &&(u8, u8)| **shape != (7, 4) || product.is_native(isa);
        for &(rows, vectors) in if isa.avx512 { wide } else { narrow }.iter().filter(fits) {
            kernels.push(Kernel::Dot(Dot::new(product, rows, vectors)));
        }
    }
    if isa.amx {
        kernels.extend(TileProduct::ALL.map(|p| Kernel::Tiles(tile_kernel(p))));
    }
    kernels
}

fn main() -> Result<(), Box<dyn Error>> {
    let filter = std::env::args().nth(1).unwrap_or_default();
    let arena = CodeArena::new(Options::default());
    let host = Isa::host().ok_or("no AVX2 here")?;
    print!("{:42} {:>7}", "240 rows by 512 columns: Gop/s and %", "peak");
    SHAPES.iter().for_each(|(parts, steps)| print!(" {:>7}     %", format!("{parts}x{steps}")));
    println!(" {:>7}", "us made");
    for most in [host, Isa::AVX2_VNNI, Isa::AVX2] {
        let isa = Isa::host_within(most).ok_or("no AVX2 here")?;
        for kernel in kernels(isa).into_iter().filter(|k| k.name(isa).contains(&filter)) {
            line(&arena, isa, kernel)?;
        }
    }
    Ok(())
}
