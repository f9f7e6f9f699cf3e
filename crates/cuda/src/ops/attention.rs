//! `attention:sm90`: fused attention forward on Hopper for 16-bit types and head sizes of up to 128 (`kernels/attention_sm90.cu`). With few tiles of queries the
//! keys are divided into parts (flash-decoding), which `kernels/attention_parts.cu` combines.

use super::gemm::{hopper, pairs, plain};
use crate::emit::bare;
use crate::ops::ceil;
use crate::ops::transpose::{Kept, copied};
use crate::program::{Launch, MapKind, MapPlace, OVERFLOW, Program, TensorMap, Word};
use crate::{CudaTarget, Facts};
use oxidnn_runtime::Skip;
use oxidnn_spec::op::{Sdpa, SdpaMask, SdpaScale};
use oxidnn_spec::{Arg, DataType, Format, Layout, Op, Problem, Tensor};

/// Bytes of keys and values that should stay in L2; tiles per SM up to which the order of tiles matters for load balance.
const CACHED: i64 = 24_000_000;
const UNEVEN: i64 = 16;
/// Keys up to which causal attention uses narrow tiles of keys (H200: 384 keys take 38.3 us with them and 39.8 with wide ones, 1,024 keys 64.2 and 59.3), and tiles of
/// 64 queries rather than 192 if those are not all there (256 keys 20.9 and 31.2, 512 keys 37.1 and 42.2).
const FEW_KEYS: i64 = 512;

/// Keys of a part, at least.
const LEAST: i64 = 256;
/// Queries up to which the kernel is that of few (its `FEW`).
const FEW: i64 = 8;

/// A 4-D tensor in the kernel's order, innermost first.
#[derive(Clone, Copy)]
struct Four {
    arg: Arg,
    dtype: DataType,
    offset: i64,
    sizes: [i64; 4],
    strides: [i64; 4],
}

impl Four {
    /// `turned`: the last but one dimension is the innermost.
    fn of(arg: Arg, t: &Tensor, turned: bool) -> Result<Four, Skip> {
        let (b, d) = (plain(t)?, t.dims());
        let order = if turned { [2, 3, 1, 0] } else { [3, 2, 1, 0] };
        Ok(Four { arg, dtype: t.dtype, offset: b.offset, sizes: order.map(|i| d[i]), strides: order.map(|i| b.strides[i]) })
    }

    /// Groups of `share` heads as the queries of one head each (grouped heads with one query).
    fn grouped(self, share: i64) -> Four {
        let ([d, _, heads, batch], [inner, _, head, outer]) = (self.sizes, self.strides);
        Four { sizes: [d, share, heads / share, batch], strides: [inner, head, head * share, outer], ..self }
    }

    /// The TMA descriptor with boxes of these sizes; an error if TMA cannot address the tensor.
    fn map(&self, box_of: [i64; 2]) -> Result<TensorMap, Skip> {
        let bytes = (self.dtype.bits() / 8) as i64;
        let mut strides = [0u64; 3];
        let mut last = self.sizes[0] * bytes;
        for (i, to) in strides.iter_mut().enumerate() {
            let own = self.strides[i + 1] * bytes;
            if self.sizes[i + 1] > 1 && (own % 16 != 0 || own <= 0) {
                return Err(Skip::Layout("rows that are not 16-byte aligned".into()));
            }
            let step = if self.sizes[i + 1] > 1 { own } else { ceil(last, 16) * 16 };
            (*to, last) = (step as u64, step * self.sizes[i + 1]);
        }
        if self.strides[0] != 1 && self.sizes[0] != 1 || self.offset * bytes % 16 != 0 {
            return Err(Skip::Layout("elements that are not next to each other".into()));
        }
        let place = MapPlace::Arg(self.arg, (self.offset * bytes) as u64);
        let tile = [box_of[0] as u32, box_of[1] as u32, 1, 1];
        Ok(TensorMap::boxes(place, MapKind::of(self.dtype), &self.sizes.map(|v| v as u64), &strides, &tile))
    }
}

/// Attention as the kernel sees it.
#[derive(Clone, Copy)]
struct Attention<'a> {
    op: &'a Sdpa,
    q: Four,
    o: Four,
    head: i64,
    causal: Option<i64>,
    keys: i64,
    /// Query heads per kv head.
    share: i64,
    /// Consumer warpgroups, keys of a tile, stages.
    consumers: i64,
    tile: i64,
    stages: i64,
    /// Parts of the keys, and tiles of keys of a part.
    parts: i64,
    part: i64,
}

/// The kernels' code of a type.
fn name(t: DataType) -> Result<&'static str, Skip> {
    match t {
        DataType::F16 => Ok("T_F16"),
        DataType::Bf16 => Ok("T_BF16"),
        DataType::F32 => Ok("T_F32"),
        _ => Err(Skip::DataType(t.to_string())),
    }
}

/// Attention forward.
pub(crate) fn lower(problem: &Problem, target: &CudaTarget) -> Result<Program, Skip> {
    hopper(target)?;
    match aligned(problem, target) {
        Err(Skip::Layout(_)) => with_copies(problem, target),
        done => done,
    }
}

/// With aligned copies of queries, keys and values whose rows TMA cannot address.
fn with_copies(problem: &Problem, target: &CudaTarget) -> Result<Program, Skip> {
    let (mut inner, mut kept) = (problem.clone(), Vec::new());
    let mut program = Program::or_unaligned(super::sdpa::lower, problem, target)?;
    for o in inner.op.operands_mut() {
        if matches!(o.arg, Arg::SRC | Arg::SRC_1 | Arg::SRC_2) && !is_spaced(o.tensor) {
            *o.tensor = spaced(o.tensor, o.arg == Arg::SRC_1)?;
            kept.push(Kept { arg: o.arg, tensor: o.tensor.clone(), at: program.book(o.tensor.bytes())? });
        }
    }
    let mut whole = aligned(&inner, &target.within())?.shifted(program.scratch);
    program.scratch = whole.scratch;
    for kept in &kept {
        let given = problem.op.tensor(kept.arg).ok_or(OVERFLOW)?;
        program.launches.extend(copied(given, kept, true, target)?.launches);
        whole = whole.moved(kept.arg, MapPlace::Scratch(kept.at));
    }
    program.launches.extend(whole.launches);
    Ok(program)
}

/// Whether rows are contiguous and begin at multiples of 16 bytes.
fn is_spaced(t: &Tensor) -> bool {
    let whole = |elements: i64| elements * t.dtype.bits() as i64 % 128 == 0;
    plain(t).is_ok_and(|b| whole(b.offset) && (0..t.dims().len()).all(|d| t.dims()[d] == 1 || b.strides[d] == 1 || whole(b.strides[d])))
}

/// The tensor dense, with rows spaced by multiples of 16 bytes; keys stay contiguous along the sequence if they are.
fn spaced(t: &Tensor, is_key: bool) -> Result<Tensor, Skip> {
    let n = t.dims().len();
    let mut order: Vec<usize> = (0..n).collect();
    if is_key && plain(t)?.strides[n - 1] != 1 {
        order.swap(n - 2, n - 1);
    }
    let (mut padded, unit) = (*t.dims(), 128 / t.dtype.bits() as i64);
    let inner = &mut padded[order[n - 1]];
    *inner = ceil(*inner, unit) * unit;
    let mut copy = Tensor::plain(*t.dims(), t.dtype).map_err(|_| OVERFLOW)?;
    let dense = Layout::dense(padded, &order).map_err(|_| OVERFLOW)?;
    copy.layout.blocking_mut().ok_or(OVERFLOW)?.strides = dense.blocking().ok_or(OVERFLOW)?.strides;
    Ok(copy)
}

/// For operands that TMA can address.
fn aligned(problem: &Problem, target: &CudaTarget) -> Result<Program, Skip> {
    let Op::Sdpa(op) = &problem.op else { return Err(Skip::Op("anything but attention")) };
    if !op.prop.is_forward() {
        return Err(Skip::Op("gradients"));
    }
    let types = [op.q.dtype, op.k.dtype, op.v.dtype];
    if types.iter().any(|&t| t != types[0]) || types[0].bits() != 16 || op.dst.dtype.bits() != 16 {
        return Err(Skip::DataType(format!("{}:{}:{}:{}", types[0], types[1], types[2], op.dst.dtype)));
    }
    let tail = crate::emit::Tail::of(problem, Arg::DST, &op.dst);
    if !tail.is_plain() || !problem.attr.scales.is_empty() || !problem.attr.zero_points.is_empty() {
        return Err(Skip::Attr("scales, zero points or post-ops".into()));
    }
    let (qd, kd, vd) = (op.q.dims(), op.k.dims(), op.v.dims());
    let head = qd[3].max(vd[3]);
    let positive = [&op.q, &op.k, &op.v, &op.dst].iter().all(|t| !t.is_empty());
    if head > 128 || !positive || qd.iter().chain(kd.iter()).any(|&d| d > 1 << 24) || qd[0] * qd[1] > 1 << 24 {
        return Err(Skip::Shape("heads of more than 128, or no elements"));
    }
    let mut program = Program::or_unaligned(super::sdpa::lower, problem, target)?;
    let attention = Attention::of(op)?.divided(&target.facts);
    let parts = if attention.parts > 1 { Some(attention.book(&mut program)?) } else { None };
    program.launches.push(attention.launch(parts, &target.facts)?);
    program.launches.extend(parts.map(|p| attention.together(p)).transpose()?);
    Ok(program)
}

impl<'a> Attention<'a> {
    fn of(op: &'a Sdpa) -> Result<Attention<'a>, Skip> {
        let (queries, heads, keys) = (op.q.dims()[2], op.q.dims()[1], op.k.dims()[3]);
        let head = if op.q.dims()[3].max(op.v.dims()[3]) > 64 { 128 } else { 64 };
        let mut share = heads / op.k.dims()[1];
        let causal = match op.mask_kind {
            SdpaMask::CausalTopLeft => Some(0),
            // A single query is the last one and sees all keys.
            SdpaMask::CausalBottomRight if queries > 1 => Some(keys - queries),
            _ => None,
        };
        let (mut q, mut o) = (Four::of(Arg::SRC, &op.q, false)?, Four::of(Arg::DST, &op.dst, false)?);
        if queries == 1 && share > 1 && causal.is_none() && op.mask_kind != SdpaMask::Buffer {
            (q, o, share) = (q.grouped(share), o.grouped(share), 1);
        }
        // Loading the mask takes registers.
        let masked = op.mask_kind == SdpaMask::Buffer;
        // The queries of all tiles of so many warpgroups.
        let rows = |consumers: i64| ceil(q.sizes[1], 64 * consumers) * 64 * consumers;
        let [consumers, tile, stages] = match (q.sizes[1], head, causal) {
            (..=FEW, ..) => [1, 128, 384 / head],
            (..=64, ..) if masked => [1, 64, 3],
            _ if masked => [2, 64, 3],
            (..=64, ..) => [1, 128, 3],
            // Three hide more, unless more than a fifth of the work is for queries that do not exist.
            (_, 64, None) => [if 4 * rows(3) > 5 * rows(2) { 2 } else { 3 }, 128, 3],
            // With few keys a causal mask hides much of wide tiles.
            (_, 64, Some(_)) if keys <= FEW_KEYS => [if rows(3) > rows(1) { 1 } else { 3 }, 64, 3],
            _ => [2, 128, 2],
        };
        Ok(Attention { op, q, o, head, causal, keys, share, consumers, tile, stages, parts: 1, part: 0 })
    }

    /// Queries of a tile.
    fn rows(&self) -> i64 {
        64 * self.consumers
    }

    /// Tiles of queries per head.
    fn tiles(&self) -> i64 {
        ceil(self.q.sizes[1], self.rows())
    }

    /// Whether there are few queries, as in decode.
    fn is_few(&self) -> bool {
        self.q.sizes[1] <= FEW
    }

    /// Rows of Q that one TMA instruction loads.
    fn loaded(&self) -> i64 {
        if self.is_few() { FEW } else { self.rows() }
    }

    /// Bytes of Q, of which there are two slots if queries are few, and of the ring of K, which is also that of the ring of V.
    fn bytes(&self) -> [i64; 2] {
        let slots = if self.is_few() { 2 } else { 1 };
        [self.head * 2 * self.loaded() * slots, self.stages * self.head * 2 * self.tile]
    }

    /// Shared memory in bytes, with a staging buffer for O if it fits (but for parts and few queries, which threads store directly).
    fn shared(&self, facts: &Facts) -> i64 {
        let [own, ring] = self.bytes();
        let out = if self.parts > 1 || self.is_few() || 1280 + 2 * own + 2 * ring > i64::from(facts.shared_memory) { 0 } else { own };
        1280 + own + 2 * ring + out
    }

    /// CTAs per SM.
    fn resident(&self) -> i64 {
        let [own, ring] = self.bytes();
        if self.consumers == 1 && own + ring <= 56 << 10 { 2 } else { 1 }
    }

    /// Divides the keys into parts if there are fewer tiles of queries than SMs.
    fn divided(self, facts: &Facts) -> Attention<'a> {
        let ([_, _, heads, batch], tiles) = (self.q.sizes, self.tiles());
        // With a causal mask the tiles of queries see different numbers of keys: only a single tile is divided.
        let seen = match self.causal {
            None => self.keys,
            Some(offset) if tiles == 1 => (self.rows() + offset).clamp(1, self.keys),
            Some(_) => return self,
        };
        let narrow = match self.consumers {
            1 if self.is_few() => Attention { tile: 8192 / self.head, stages: 6, ..self },
            1 => Attention { tile: 64, stages: 2, ..self },
            _ => self,
        };
        let slots = i64::from(facts.multiprocessors) * narrow.resident();
        let wanted = (slots / (tiles * heads * batch)).min(seen / LEAST).max(1);
        let all = ceil(seen, narrow.tile);
        let part = ceil(all, wanted);
        if part == all { self } else { Attention { parts: ceil(all, part), part, ..narrow } }
    }

    /// Books scratch for the outputs and sums of the parts.
    fn book(&self, program: &mut Program) -> Result<[usize; 2], Skip> {
        let [_, queries, heads, batch] = self.q.sizes;
        let rows = usize::try_from(self.parts * queries * heads * batch).map_err(|_| OVERFLOW)?;
        Ok([program.book(rows * self.head as usize * 4)?, program.book(rows * 8)?])
    }

    /// The launch that combines the parts.
    fn together(&self, parts: [usize; 2]) -> Result<Launch, Skip> {
        let [_, queries, heads, batch] = self.o.sizes;
        let rows = queries * heads * batch;
        let mut words = parts.map(Word::Scratch).to_vec();
        words.push(self.log_sum());
        words.extend(pairs(&[self.parts, rows, queries, heads]));
        words.extend(self.result());
        let head = self.head.to_string();
        Ok(bare("attention_parts", &[("C_TYPE", name(self.o.dtype)?), ("HEAD", &head)], words, rows * 256))
    }

    /// The result: its address, strides of queries, heads and batch, and the head size.
    fn result(&self) -> [Word; 5] {
        let [_, query, head, batch] = self.o.strides;
        let place = Word::Offset { arg: Arg::DST, bytes: (self.o.offset * (self.o.dtype.bits() / 8) as i64) as u64 };
        let [query, head, batch, size] = [query, head, batch, self.o.sizes[0]].map(|v| Word::Value(v as u64));
        [place, query, head, batch, size]
    }

    /// Where the log-sum-exp goes in training.
    fn log_sum(&self) -> Word {
        self.op.workspace.as_ref().map_or(Word::Value(0), |_| Word::Address { arg: Arg::WORKSPACE, buffer: 0 })
    }

    fn launch(&self, parts: Option<[usize; 2]>, facts: &Facts) -> Result<Launch, Skip> {
        let (op, head, rows) = (self.op, self.head, self.rows());
        let ([_, queries, heads, batch], tiles) = (self.q.sizes, self.tiles());
        let turned = plain(&op.k)?.strides[3] != 1 && op.k.dims()[3] != 1;
        let numbers = [
            ("HEAD", head),
            ("TILE_N", self.tile),
            ("CONSUMERS", self.consumers),
            ("STAGES", self.stages),
            ("CAUSAL", i64::from(self.causal.is_some())),
            ("K_MN", i64::from(!turned)),
            ("DIVIDE", i64::from(op.scale_kind == SdpaScale::Divide)),
            ("DIVIDED", i64::from(parts.is_some())),
            ("FEW", i64::from(self.is_few())),
        ];
        let numbers = numbers.map(|(n, v)| (n, v.to_string()));
        let mut options: Vec<(&str, &str)> = numbers.iter().map(|(n, v)| (*n, v.as_str())).collect();
        options.extend([("A_TYPE", name(op.q.dtype)?), ("B_TYPE", name(op.q.dtype)?), ("C_TYPE", name(op.dst.dtype)?)]);
        let chunk = self.chunk([tiles, heads * batch, rows], facts);
        let mut words = pairs(&[queries, self.keys, heads, batch, self.share, tiles, chunk, self.causal.unwrap_or(0)]);
        let scale = op.scale.as_ref().filter(|_| op.scale_kind != SdpaScale::None);
        match scale {
            None => words.extend([Word::Value(u64::from(1f32.to_bits())), Word::Value(0)]),
            Some(t) => {
                options.push(("SCALE_TYPE", name(t.dtype)?));
                let offset = t.blocking().map_or(0, |b| b.offset) * (t.dtype.bits() / 8) as i64;
                match t.layout.format {
                    Format::HostScalar => words.extend([Word::HostScalar(Arg::SCALE), Word::Value(0)]),
                    _ => words.extend([Word::Value(0), Word::Offset { arg: Arg::SCALE, bytes: offset as u64 }]),
                }
            }
        }
        words.push(self.log_sum());
        if let Some(places) = parts {
            words.extend(pairs(&[self.parts, self.part]));
            words.extend(places.map(Word::Scratch));
        } else if self.is_few() {
            words.extend(self.result());
        }
        if let (Some(t), SdpaMask::Buffer) = (&op.mask, op.mask_kind) {
            let b = plain(t)?;
            options.push(("MASK_TYPE", name(t.dtype)?));
            words.push(Word::Offset { arg: Arg::SRC_3, bytes: (b.offset * (t.dtype.bits() / 8) as i64) as u64 });
            words.extend((0..4).map(|d| Word::Value(if t.dims()[d] == 1 { 0 } else { b.strides[d] as u64 })));
        }
        let mut launch = bare("attention_sm90", &options, words, 1);
        let (key, value) = (Four::of(Arg::SRC_1, &op.k, turned)?, Four::of(Arg::SRC_2, &op.v, false)?);
        launch.maps = vec![
            self.q.map([64, self.loaded()])?,
            key.map([64, if turned { self.tile } else { head }])?,
            value.map([64, self.tile])?,
            self.o.map([64, 64])?,
        ];
        launch.shared = self.shared(facts) as u32;
        let (work, slots) = (tiles * heads * batch * self.parts, i64::from(facts.multiprocessors) * self.resident());
        // As many as the rounds take: with few queries fewer CTAs that all have as much to do read as fast (H200: 256 items on 128 123.2 us, on 132 123.6).
        let grid = if self.is_few() { ceil(work, ceil(work, slots)) } else { work.min(slots) };
        launch.grid = [grid as u32, 1, 1];
        launch.block = 128 * (1 + self.consumers as u32);
        Ok(launch)
    }

    /// Heads per chunk of the schedule: few, so that their keys and values stay in L2, but enough to balance the load of a causal mask.
    fn chunk(&self, [tiles, heads, rows]: [i64; 3], facts: &Facts) -> i64 {
        let fits = ((CACHED / (self.keys * self.q.sizes[0] * 4).max(1)).max(1) * self.share).min(heads);
        let units = i64::from(facts.multiprocessors);
        if self.causal.is_none() || tiles * heads > UNEVEN * units {
            return fits;
        }
        let mut best: Option<(f64, i64)> = None;
        let mut chunk = 1;
        loop {
            chunk = chunk.min(heads);
            let uneven = self.unevenness([tiles, heads, rows], chunk, units as usize);
            if best.is_none_or(|(least, _)| uneven < least - 0.02) {
                best = Some((uneven, chunk));
            }
            if chunk == heads {
                return best.map_or(fits, |b| b.1);
            }
            chunk *= 2;
        }
    }

    /// The load of the busiest SM relative to the mean, in tiles of keys.
    fn unevenness(&self, [tiles, heads, rows]: [i64; 3], chunk: i64, units: usize) -> f64 {
        let mut load = vec![0.0f64; units];
        let mut i = 0;
        for base in (0..heads).step_by(chunk as usize) {
            for row in (0..tiles).rev() {
                let seen = ((row + 1) * rows).min(self.keys);
                let work = ceil(seen, self.tile) as f64 + 1.5;
                for _ in 0..chunk.min(heads - base) {
                    let (round, at) = (i / units, i % units);
                    load[if round % 2 == 1 { at } else { units - 1 - at }] += work;
                    i += 1;
                }
            }
        }
        let all: f64 = load.iter().sum();
        load.iter().fold(0.0, |a: f64, &b| a.max(b)) / (all / units as f64)
    }
}
