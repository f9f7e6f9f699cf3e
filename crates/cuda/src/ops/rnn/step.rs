//! Time steps as one launch for the state's product and the cell, for cells with one product and few samples: f32 (`kernels/rnn_step.cu`), or 16-bit types on tensor
//! cores (`kernels/rnn_step_mma.cu`). If all CTAs fit the GPU at once, one cooperative launch computes all steps of a layer, with the weights kept in shared
//! memory.

use super::{Buffers, Mark, Net, Stack};
use crate::Facts;
use crate::emit::{Emitter, Real};
use crate::ops::{ceil, gemm};
use crate::program::{Launch, MapPlace, OVERFLOW, Program, Word};
use oxidnn_runtime::Skip;
use oxidnn_spec::{Arg, Blocking, DataType};

/// `BATCH` for few samples, and otherwise; `UNITS`: 4 or 8 channels, as few as let all CTAs run at once; the granularity of K of a warp; warps.
const FEW_SAMPLES: i64 = 16;
const SAMPLES: i64 = 32;
const UNITS: [i64; 2] = [4, 8];
const DEPTH: i64 = 16;
const WARPS: i64 = 8;
/// Samples, at most: more fill the tiles of `gemm:f32`.
const FEW: i64 = 256;
/// Sizes of shared memory that kernels are compiled for.
const SHARED: [i64; 3] = [72 << 10, 108 << 10, 220 << 10];
/// `rnn_step_mma.cu`: columns of a CTA and of a chunk, granularity of K, and floats of a row of sums.
const COLUMNS: i64 = 32;
const CHUNK: i64 = 8;
const DEPTH_MMA: i64 = 64;
const PITCH: i64 = 40;

/// The kernel of a step.
struct Kernel {
    file: &'static str,
    /// `BATCH` and `UNITS`.
    samples: i64,
    units: i64,
    /// Shared memory in bytes.
    bytes: i64,
    options: Vec<(&'static str, i64)>,
    /// The weights must be aligned to 16 bytes.
    is_aligned: bool,
}

/// The launch of a step, over the placeholders; `None` if it takes a product and an element-wise launch.
pub(super) fn fused(net: &Net<'_>, b: &Buffers, s: Stack, code: &str) -> Result<Option<Launch>, Skip> {
    let (op, z) = (net.op, &net.z);
    let Ok(weights) = gemm::plain(&op.weights_iter) else { return Ok(None) };
    if net.state != op.weights_iter.dtype || net.is_gru() || z.batch > FEW || net.target.facts.sm < 90 {
        return Ok(None);
    }
    let first = weights.offset + s.l * weights.strides[0] + s.d * weights.strides[1];
    let kernel = match net.state {
        DataType::F32 => single(net),
        DataType::F16 | DataType::Bf16 => on_tensor_cores(net, weights, first),
        _ => None,
    };
    let limit = i64::from(net.target.facts.shared_memory);
    let fits = |k: &Kernel| SHARED.into_iter().find(|&n| n >= k.bytes && n <= limit);
    let Some((kernel, shared)) = kernel.and_then(|k| fits(&k).map(|shared| (k, shared))) else { return Ok(None) };
    let mut emit = Emitter::new(Real::Single, z.batch * z.gates * z.dhc);
    let options = [("UNITS", kernel.units), ("BATCH", kernel.samples), ("GATES", z.gates), ("SHARED", shared)];
    for (name, value) in options.into_iter().chain(kernel.options) {
        emit.option(name, value);
    }
    emit.define("RANK", 2);
    emit.word("u32* counters", Word::Scratch(b.counters));
    let number = if net.state == DataType::F32 { "float" } else { "u16" };
    emit.word(&format!("const {number}* step_state"), Word::Address { arg: Mark::BEFORE, buffer: 0 });
    let offset = u64::try_from(first * (net.state.bits() / 8) as i64).map_err(|_| OVERFLOW)?;
    emit.word(&format!("const {number}* step_weights"), Word::Offset { arg: Arg::WEIGHTS_1, bytes: offset });
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
    let count = emit.words();
    emit.define("MOVED", count);
    emit.number("steps", 1);
    emit.numbers("later", &vec![0; count]);
    emit.numbers("strides", &vec![0; count]);
    let mut launch = emit.launch_blocks(kernel.file, [ceil(z.dhc, kernel.units) as u32, ceil(z.batch, kernel.samples) as u32, 1]);
    launch.shared = shared as u32;
    if kernel.is_aligned {
        launch.aligned.push(MapPlace::Arg(Arg::WEIGHTS_1, offset));
    }
    Ok(Some(launch))
}

/// All `steps` of a layer as one cooperative launch, derived from the launches of the first three; `None` if a step is not one launch, or its CTAs are not
/// co-resident.
pub(super) fn in_one([first, second, third]: [&Program; 3], steps: i64, facts: &Facts) -> Option<Launch> {
    let ([first], [second], [third]) = (&first.launches[..], &second.launches[..], &third.launches[..]) else { return None };
    if !matches!(first.source.file, "rnn_step" | "rnn_step_mma") {
        return None;
    }
    let at_once = i64::from(facts.multiprocessors) * if i64::from(first.shared) <= SHARED[1] { 2 } else { 1 };
    if first.grid.iter().map(|&n| i64::from(n)).product::<i64>() > at_once {
        return None;
    }
    let mut launch = first.clone();
    let count = launch.words.len() / 3;
    launch.words[count] = Word::Value(steps as u64);
    for (i, (&here, &next)) in std::iter::zip(&second.words, &third.words).take(count).enumerate() {
        launch.words[count + 1 + i] = here;
        launch.words[2 * count + 1 + i] = Word::Value(distance(here, next)?);
    }
    launch.resident = true;
    Some(launch)
}

/// The difference between two words of the same memory.
fn distance(from: Word, to: Word) -> Option<u64> {
    let place = |word| match word {
        Word::Address { arg, buffer: 0 } => Some((Some(arg), 0)),
        Word::Offset { arg, bytes } => Some((Some(arg), bytes)),
        Word::Scratch(at) => Some((None, at as u64)),
        _ => None,
    };
    match (place(from), place(to)) {
        (Some((a, x)), Some((b, y))) if a == b => Some(y.wrapping_sub(x)),
        _ => (from == to).then_some(0),
    }
}

fn single(net: &Net<'_>) -> Option<Kernel> {
    let z = &net.z;
    let samples = if z.batch <= FEW_SAMPLES { FEW_SAMPLES } else { SAMPLES };
    let at_once = 2 * i64::from(net.target.facts.multiprocessors);
    let units = if samples == FEW_SAMPLES && ceil(z.dhc, UNITS[0]) <= at_once { UNITS[0] } else { UNITS[1] };
    let columns = units * if z.gates == 3 { 4 } else { z.gates };
    let depth = ceil(z.sic, DEPTH) * DEPTH;
    let bytes = 4 * (depth * columns + WARPS * (DEPTH * (samples + 4)).max(samples * columns));
    let whole = z.sic % 4 == 0 && z.dic % 4 == 0;
    whole.then_some(Kernel { file: "rnn_step", samples, units, bytes, options: Vec::new(), is_aligned: false })
}

/// `rnn_step_mma.cu`, if all CTAs run at once, and states and weights can be loaded 16 bytes at a time.
fn on_tensor_cores(net: &Net<'_>, weights: &Blocking, first: i64) -> Option<Kernel> {
    let z = &net.z;
    let samples = if z.batch <= FEW_SAMPLES { FEW_SAMPLES } else { SAMPLES };
    let units = if z.gates == 1 { COLUMNS } else { CHUNK };
    let [k, gate, channel] = [2, 3, 4].map(|d| weights.strides[d]);
    let whole = |all: &[i64]| all.iter().all(|v| v % CHUNK == 0);
    let k_first = match () {
        () if channel == 1 && whole(&[k, gate]) => false,
        () if k == 1 && whole(&[channel, gate]) => true,
        () => return None,
    };
    let at_once = 2 * i64::from(net.target.facts.multiprocessors);
    // `rows` has more than the last row only if memory is aligned.
    if net.rows.len() < 2 || !whole(&[z.sic, z.dic, z.dhc, first]) || ceil(z.dhc, units) * ceil(z.batch, samples) > at_once {
        return None;
    }
    let depth = ceil(z.sic, DEPTH_MMA) * DEPTH_MMA;
    let bytes = COLUMNS * (depth * 2 + 64) + WARPS * samples * PITCH * 4;
    let options = vec![("BF16", i64::from(net.state == DataType::Bf16)), ("K_FIRST", i64::from(k_first))];
    Some(Kernel { file: "rnn_step_mma", samples, units, bytes, options, is_aligned: true })
}
