//! Tiles: one instruction each; their registers are the author's.

use super::super::machine::{Arg, Machine};
use super::super::{Reuse, TileInst, TileProduct};
use crate::asm::Op;

pub(super) fn lower(m: &mut Machine, inst: TileInst) {
    use Arg::{Mem, Tile};
    match inst {
        TileInst::Config(shapes) => m.op(Op::TileConfig, &[Mem(shapes.into())]),
        TileInst::Release => m.op(Op::TileRelease, &[]),
        TileInst::Zero(t) => m.op(Op::TileZero, &[Tile(t.0)]),
        TileInst::Load(t, from, Reuse::Temporal) => m.op(Op::TileLoad, &[Tile(t.0), Mem(from.into())]),
        TileInst::Load(t, from, Reuse::NonTemporal) => m.op(Op::TileLoadPassing, &[Tile(t.0), Mem(from.into())]),
        TileInst::Store(to, t) => m.op(Op::TileStore, &[Mem(to.into()), Tile(t.0)]),
        TileInst::Dot(op, c, a, b) => {
            let op = match op {
                TileProduct::Bf16 => Op::TileDotBf16,
                TileProduct::U8S8 => Op::TileDotU8S8,
                TileProduct::S8S8 => Op::TileDotS8S8,
            };
            m.op(op, &[Tile(c.0), Tile(a.0), Tile(b.0)]);
        }
    }
}
