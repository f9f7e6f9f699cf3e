//! A step of a network of f32 in one launch (`kernels/rnn_step.cu`), where the cell has one product of the state and few samples: 2.2 us of multiplications, and 3.4 us
//! of reading states and weights from the second-level cache, for 64 samples and 512 channels of an LSTM on an H200.

use super::{Buffers, Mark, Net, OVERFLOW, Stack};
use crate::emit::{Emitter, Real};
use crate::ops::gemm;
use crate::ops::gemm::shape::ceil;
use crate::program::{Launch, Word};
use oxidnn_runtime::Skip;
use oxidnn_spec::{Arg, DataType};

/// Samples and channels of a block: of 16 samples or fewer, so many channels that blocks are few enough to run at once; of more samples, squarer ones, which read the
/// least. And the depth by which warps divide K.
const FEW_SAMPLES: i64 = 16;
const SAMPLES: i64 = 32;
const UNITS: [i64; 2] = [4, 8];
const DEPTH: i64 = 16;
const WARPS: i64 = 8;
/// More samples fill the tiles of `gemm:f32`.
const FEW: i64 = 256;
/// Bytes of shared memory that kernels are compiled for.
const SHARED: [i64; 3] = [72 << 10, 108 << 10, 220 << 10];

/// The step, over the stand-ins for what changes from one to the next; `None` where it takes a product and a pointwise launch.
pub(super) fn fused(net: &Net<'_>, b: &Buffers, s: Stack, code: &str) -> Result<Option<Launch>, Skip> {
    let (op, z) = (net.op, &net.z);
    let single = [net.state, op.weights_iter.dtype].iter().all(|&t| t == DataType::F32);
    let Ok(weights) = gemm::plain(&op.weights_iter) else { return Ok(None) };
    if !single || net.is_gru() || z.batch > FEW || z.sic % 4 != 0 || z.dic % 4 != 0 || net.target.facts.sm < 90 {
        return Ok(None);
    }
    let samples = if z.batch <= FEW_SAMPLES { FEW_SAMPLES } else { SAMPLES };
    let at_once = 2 * i64::from(net.target.facts.multiprocessors);
    let units = if samples == FEW_SAMPLES && ceil(z.dhc, UNITS[0]) <= at_once { UNITS[0] } else { UNITS[1] };
    let columns = units * if z.gates == 3 { 4 } else { z.gates };
    let depth = ceil(z.sic, DEPTH) * DEPTH;
    let bytes = 4 * (depth * columns + WARPS * (DEPTH * (samples + 4)).max(samples * columns));
    let limit = i64::from(net.target.facts.shared_memory);
    let Some(shared) = SHARED.into_iter().find(|&n| n >= bytes && n <= limit) else { return Ok(None) };
    let mut emit = Emitter::new(Real::Single, z.batch * z.gates * z.dhc);
    for (name, value) in [("UNITS", units), ("BATCH", samples), ("GATES", z.gates), ("SHARED", shared)] {
        emit.option(name, value);
    }
    emit.define("RANK", 2);
    emit.word("const float* step_state", Word::Address { arg: Mark::BEFORE, buffer: 0 });
    let first = weights.offset + s.l * weights.strides[0] + s.d * weights.strides[1];
    let offset = u64::try_from(first * 4).map_err(|_| OVERFLOW)?;
    emit.word("const float* step_weights", Word::Offset { arg: Arg::WEIGHTS_1, bytes: offset });
    for (name, value) in [
        ("terms", z.sic),
        ("samples", z.batch),
        ("weights_k", weights.strides[2]),
        ("weights_g", weights.strides[3]),
        ("weights_c", weights.strides[4]),
    ] {
        emit.number(name, value);
    }
    let statements = net.declare_cell(&mut emit, b, s, None)?;
    emit.code(&format!("DEVICE void cell(const Args& a, const index* p, const real* sums) {{\n{statements}{code}}}\n"));
    let mut launch = emit.launch_blocks("rnn_step", [ceil(z.dhc, units) as u32, ceil(z.batch, samples) as u32, 1]);
    (launch.shared, launch.overlaps) = (shared as u32, true);
    Ok(Some(launch))
}
