//! Programs that make bytes of single bytes: all 256 results are computed first, by the program itself, and then looked up.

use super::super::Nest;
use super::super::pipeline::Group;
use super::{Bound, Chunk, Chunks, Fused, FusedCode, OPERANDS, Origin, Rows, Way, split};
use crate::kernels::lookup::ByteLooker;
use crate::kernels::scratch::lend;
use oxidnn_runtime::{Buf, Ctx};
use std::ops::Range;

/// Fewest bytes, and fewest of a run, for which results are looked up.
const MIN_BYTES: i64 = 8192;
const MIN_RUN: i64 = 512;
/// Results of a byte.
const RESULTS: usize = 256;

impl Fused {
    /// The result and the source of a program that makes bytes of single bytes, if looking results up is faster than computing them all.
    pub(super) fn of_bytes(&self, group: &Group) -> Option<[u8; 2]> {
        let nest = &group.grid.as_ref()?.kept;
        let spec = &self.call.spec;
        let long = spec.rows == Rows::Any && nest.volume() >= MIN_BYTES && nest.innermost(0).0 >= MIN_RUN;
        if !self.call.isa.vbmi || self.folded || self.flat || !self.brought.is_empty() || !long {
            return None;
        }
        let mut bytes = [None; 2];
        for (i, (elem, way)) in spec.operands.iter().enumerate() {
            let Origin::Operand(operand) = self.call.from[i] else { return None };
            match way {
                Way::Moves if elem.bytes() == 1 && bytes[usize::from(spec.reads(i))].is_none() => {
                    bytes[usize::from(spec.reads(i))] = Some(operand);
                }
                Way::Still if spec.reads(i) && nest.stands_still(operand) => {}
                _ => return None,
            }
        }
        let written = |i: usize| spec.stages.iter().any(|stage| stage.loads(i) && stage.writes(i));
        if (0..spec.operands.len()).any(written) { None } else { Some([bytes[0]? as u8, bytes[1]? as u8]) }
    }

    /// Runs such a program.
    pub(super) fn run_on_bytes(&self, code: &FusedCode, looker: &ByteLooker, group: (&Nest, &Bound<'_>), ctx: &Ctx<'_>) {
        let (nest, bound) = group;
        let Some(of) = self.bytes.map(|of| of.map(usize::from)) else { return };
        let (table, bufs) = (self.results_of_bytes(code, of, bound), of.map(|i| bound.memory[i].buf));
        let far = !self.streamed.is_empty() && bufs[0].as_ptr() != bufs[1].as_ptr();
        split(ctx.executor(), nest.volume(), self.grain, &|range: Range<i64>| {
            nest.repeated(range, |Chunks { chunk, count, strides }| {
                for (plane, row) in (0..*count).flat_map(|plane| (0..chunk.rows).map(move |row| (plane, row))) {
                    let at = |i: usize| chunk.at[i] as usize + plane * strides[i] as usize + row * chunk.outer[i] as usize;
                    let [to, from] = [0, 1].map(|t| bufs[t].part(at(of[t]), chunk.run));
                    looker.run(&table, to, from, far);
                }
            });
        });
    }

    /// The results of the bytes 0 to 255.
    fn results_of_bytes(&self, code: &FusedCode, [to, from]: [usize; 2], bound: &Bound<'_>) -> [u8; RESULTS] {
        let mut table = [0; RESULTS];
        let mut all = [[0.0f32; RESULTS / size_of::<f32>()]; 2];
        bytemuck::cast_slice_mut(&mut all[1]).iter_mut().zip(0..=u8::MAX).for_each(|(byte, i)| *byte = i);
        let mut memory = bound.memory;
        let [results, bytes] = &mut all;
        let bufs: [Buf<'_>; 2] = [lend(results), lend(bytes)];
        (memory[to].buf, memory[from].buf) = (bufs[0], bufs[1]);
        let zeros = &[0; OPERANDS];
        let chunk = Chunk { at: *zeros, run: RESULTS, rows: 1, inner: zeros, outer: zeros };
        self.call.run(&code.entry, &memory, None, &Chunks { chunk, count: 1, strides: zeros });
        bufs[0].read(0, &mut table);
        table
    }
}
