//! The processor's measured peak, with which a kernel's speed is compared.
//!
//! The peak of a type is that of the widest instructions that multiply it, on registers alone: a generated loop with as many independent
//! chains as there are registers. Bytes have the peak of weights of seven bits if no instruction sums four products, and types that the
//! processor multiplies as f32 have the peak of f32. One of the files with unsafe code.

use crate::CpuTarget;
use crate::kernels::code::{self, Key};
use oxidnn_jit::ir::{Accumulate, Binary, Tile, TileProduct, Val};
use oxidnn_jit::kernels::tiles::{LINES, Shape};
use oxidnn_jit::{Function, Isa};
use std::hint::black_box;
use std::time::Instant;

/// Types of products that may have peaks of their own.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    /// f32.
    F32,
    /// bf16, sums in f32.
    Bf16,
    /// f16, sums in f32.
    F16,
    /// Bytes, sums in s32.
    Int8,
}

impl Kind {
    /// `f32`, `bf16`, `f16`, `int8`.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::F32 => "f32",
            Kind::Bf16 => "bf16",
            Kind::F16 => "f16",
            Kind::Int8 => "int8",
        }
    }
}

/// Operations a second of one core (a multiply-add is two) for products of `kind` on `target`, which must be this processor: the best of
/// several short runs, about 20 ms. 0 without generated code.
pub fn single_core(target: &CpuTarget, kind: Kind) -> f64 {
    target.jit.and_then(|isa| generated(isa, Loop::of(kind, isa))).unwrap_or(0.0)
}

/// Multiply-adds of one timed run.
const STEPS: usize = 20_000;

/// Multiply-adds on registers, for a number of rounds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Loop {
    Vectors {
        op: Accumulate,
        depth: usize,
    },
    /// Bytes in pairs whose sums of two products fit into 16 bits.
    Pairs,
    Tiles(TileProduct),
}

impl Loop {
    /// Unrolling of the loop.
    const UNROLL: usize = 4;
    /// AMX tiles for sums; two more hold the operands.
    const TILES: u8 = 6;

    /// The fastest instructions for `kind`.
    fn of(kind: Kind, isa: Isa) -> Loop {
        match kind {
            Kind::Bf16 if isa.amx => Loop::Tiles(TileProduct::Bf16),
            Kind::Int8 if isa.amx => Loop::Tiles(TileProduct::U8S8),
            Kind::Bf16 if isa.bf16 => Loop::Vectors { op: Accumulate::DotBf16, depth: 2 },
            Kind::Int8 if isa.vnni => Loop::Vectors { op: Accumulate::DotU8S8, depth: 4 },
            Kind::Int8 => Loop::Pairs,
            _ => Loop::Vectors { op: Accumulate::FmaF32, depth: 1 },
        }
    }

    fn sums(self, isa: Isa) -> usize {
        match self {
            Loop::Vectors { .. } => isa.simd_registers() - 2,
            Loop::Pairs => isa.simd_registers() - 4,
            Loop::Tiles(_) => usize::from(Loop::TILES),
        }
    }

    /// Operations of one round.
    fn operations(self, isa: Isa) -> usize {
        let each = match self {
            Loop::Vectors { depth, .. } => 2 * depth * isa.width().lanes(),
            Loop::Pairs => 2 * 4 * isa.width().lanes(),
            Loop::Tiles(TileProduct::Bf16) => 2 * 2 * 16 * 16 * 16,
            Loop::Tiles(TileProduct::U8S8 | TileProduct::S8S8) => 2 * 4 * 16 * 16 * 16,
        };
        each * self.sums(isa) * Loop::UNROLL
    }
}

impl Key for Loop {
    type Args = usize;

    fn name(&self, isa: Isa) -> String {
        format!("peak.{self:?}.{}", isa.name())
    }

    fn write(&self, f: &mut Function) {
        let (arguments, isa) = (f.arguments(), f.isa());
        let rounds = f.load_int(arguments.at(0));
        match *self {
            Loop::Vectors { .. } | Loop::Pairs => {
                let values: Vec<Val> = (0..self.sums(isa) + 2).map(|_| f.zero(isa.width())).collect();
                values.iter().for_each(|v| f.pin(*v));
                let (operands, sums) = values.split_at(2);
                f.repeat_some(rounds, |f| {
                    (0..Loop::UNROLL).flat_map(|_| sums).for_each(|sum| self.multiply(f, *sum, operands));
                });
            }
            Loop::Tiles(product) => {
                let shapes = f.constant(&Shape { rows: [LINES; 2], steps: LINES }.bytes());
                f.tile_config(shapes);
                f.repeat_some(rounds, |f| {
                    let sums = (0..Loop::UNROLL).flat_map(|_| 0..Loop::TILES);
                    sums.for_each(|sum| f.tile_dot(product, Tile(sum), Tile(6), Tile(7)));
                });
                f.tile_release();
            }
        }
    }
}

impl Loop {
    /// A multiply-add on vectors.
    fn multiply(self, f: &mut Function, sum: Val, operands: &[Val]) {
        match self {
            Loop::Vectors { op, .. } => f.accumulate(op, sum, operands[0], operands[1]),
            Loop::Pairs => {
                let pairs = f.binary(Binary::MaddU8S8, operands[0], operands[1]);
                let pairs = f.binary(Binary::MaddI16, pairs, operands[1]);
                f.update(Binary::AddI32, sum, pairs);
            }
            Loop::Tiles(_) => {}
        }
    }
}

/// Operations a second of the generated loop, if it can be generated.
fn generated(isa: Isa, key: Loop) -> Option<f64> {
    let entry = code::get(isa, &key).ok()?;
    let rounds = STEPS / key.sums(isa);
    let mut best = 0.0f64;
    for _ in 0..60 {
        let start = Instant::now();
        // SAFETY: the loop reads its one argument and accesses no other memory.
        unsafe { entry.call(black_box(&rounds)) };
        let seconds = start.elapsed().as_secs_f64();
        best = best.max((rounds * key.operations(isa)) as f64 / seconds.max(1e-9));
    }
    Some(best)
}
