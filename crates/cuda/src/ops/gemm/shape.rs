//! The choice of tile, cluster, split-K and schedule for products on Hopper: a list of shapes, and a time model over the GPU's properties, with constants
//! fitted to measurements on an H200.

use crate::ops::ceil;
use crate::{CudaTarget, Facts};

/// Load bandwidth of an SM, and of L2 per SM without and with post-ops, in bytes per cycle.
const INGRESS: f64 = 64.0;
const FROM_L2: [f64; 2] = [64.0, 48.0];
/// Cost factor of rows that are gathered in im2col mode.
const GATHERED: f64 = 1.2;
/// Time of a stage relative to the tensor cores' peak, by number of consumers, and for the ping-pong schedule; fixed cycles per stage.
const PRODUCTS: [f64; 3] = [1.6, 1.1, 1.05];
const IN_TURNS: f64 = 1.2;
const STAGE: f64 = 20.0;
/// `mma.sync` in TF32: multiply-adds per cycle, words read from shared memory per cycle, and a factor for stalls.
const MMA_SYNC: f64 = 600.0;
const WORDS: f64 = 32.0;
const UNEVEN: f64 = 1.15;
/// A realigned B: cycles of a stage and for each of its columns, and from the load of a stage until it is free again; least stages (H200).
const REALIGN: [f64; 2] = [670.0, 2.0];
const REALIGNED: f64 = 2800.0;
const REALIGNED_STAGES: i64 = 3;
/// Cycles of a launch, in addition of a launch with clusters, of a tile's epilogue, of the reduction of a split-K cluster, and of each further wave of those.
const START: f64 = 2200.0;
const CLUSTER: f64 = 1200.0;
const TAIL: f64 = 600.0;
const ADD: f64 = 1000.0;
const AGAIN: f64 = 5000.0;
/// Elements per cycle of an SM that are stored to rows that begin anywhere.
const LINES: f64 = 4.0;
/// Elements with post-ops per cycle of an SM; the share of an epilogue that the next tile's main loop does not hide, without and with post-ops.
const MADE: f64 = 20.0;
const EXPOSED: [f64; 2] = [0.2, 1.0];
/// Sustained shares of the maximum clock and of the memory bandwidth.
const CLOCK: f64 = 0.86;
const BANDWIDTH: f64 = 0.82;
/// Least share of a full wave's memory time that a partial wave takes: as the only wave, and after others.
const ALONE: f64 = 0.8;
const LAST: f64 = 0.5;
/// Few rows: seconds from a load's issue until its stage is free again, and how much longer more than one but less than two CTAs an SM take, and more than two (H200:
/// 86 CTAs with 6.9 MB on the way 23.8 us for 90 MB, 172 27.3; 64 with 4.2 MB 33.6; by kernels that only read, 112 CTAs 26.9 us, 336 28.1).
const LATENCY: f64 = 1.6e-6;
const UNBALANCED: f64 = 1.15;
const FURTHER: f64 = 1.04;
/// Seconds of a transposition's launch, and its share of the memory bandwidth.
const COPY: f64 = 3e-6;
const TURNED: f64 = 0.7;
/// Seconds of the launch of a transposition of planes.
const PLANES: f64 = 1.3e-6;
/// The share of the memory bandwidth of a copy to aligned rows.
const ALIGNED: f64 = 0.6;

/// Seconds of an element of a result that is stored by itself.
const ELEMENT: f64 = 1e-12;

/// A tile of `gemm_sm80.cu`, of which 256 / `tile` share an SM: seconds of a stage where an SM is busy and where a CTA is alone, and of a tile besides. These and those
/// below are fitted to 28 products on an H200: the choice among tiles and copies to aligned rows is at most 4 % slower than the best.
struct Mma {
    tile: i64,
    step: f64,
    alone: f64,
    end: f64,
}

const MMA: [Mma; 2] =
    [Mma { tile: 64, step: 0.41e-6, alone: 0.9e-6, end: 0.42e-6 }, Mma { tile: 128, step: 1.11e-6, alone: 1.45e-6, end: 1.23e-6 }];
/// Seconds of a launch; how much longer a stage takes with an operand in units of four bytes, twice as much by elements; and a tile whose result is stored by elements.
const BEGIN: f64 = 1.26e-6;
const NARROW: f64 = 0.21;
const SINGLE: f64 = 2.1;

/// A tile shape: the parameters of `tile_sm90.cuh`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Shape {
    pub(crate) m: i64,
    pub(crate) n: i64,
    /// Consumer warpgroups.
    pub(crate) consumers: i64,
    /// CTAs of a cluster along M and N (multicast).
    pub(crate) cluster: [i64; 2],
    /// CTAs of a cluster that divide K.
    pub(crate) split: i64,
    /// Ping-pong schedule.
    pub(crate) alternate: bool,
    /// Of the transposed product, whose columns may be any number of lines of the result.
    pub(crate) transposed: bool,
}

const fn shape(m: i64, n: i64, consumers: i64, cluster: [i64; 2], split: i64) -> Shape {
    Shape { m, n, consumers, cluster, split, alternate: false, transposed: false }
}

const fn transposed(m: i64, n: i64, consumers: i64) -> Shape {
    Shape { transposed: true, ..shape(m, n, consumers, [1, 1], 1) }
}

/// The candidate shapes of `gemm_sm90.cu`; those narrower than 64 columns are for few rows.
const SHAPES: &[Shape] = &[
    shape(128, 256, 2, [2, 1], 1),
    shape(128, 256, 2, [1, 2], 1),
    shape(128, 256, 2, [1, 1], 1),
    shape(256, 128, 2, [2, 1], 1),
    shape(256, 128, 2, [1, 2], 1),
    shape(256, 128, 2, [1, 1], 1),
    shape(128, 192, 2, [2, 1], 1),
    shape(128, 128, 2, [2, 1], 1),
    shape(128, 128, 2, [1, 2], 1),
    shape(128, 128, 2, [1, 1], 1),
    Shape { alternate: true, ..shape(128, 128, 2, [1, 1], 1) },
    shape(128, 64, 2, [2, 1], 1),
    shape(128, 64, 2, [1, 1], 1),
    shape(256, 64, 2, [1, 1], 1),
    shape(192, 128, 3, [1, 1], 1),
    shape(192, 64, 3, [1, 1], 1),
    shape(64, 128, 1, [1, 1], 1),
    shape(64, 64, 1, [1, 1], 1),
    shape(64, 256, 1, [1, 1], 1),
    shape(128, 256, 2, [1, 1], 2),
    shape(128, 256, 2, [1, 1], 4),
    shape(128, 128, 2, [1, 1], 2),
    shape(128, 128, 2, [1, 1], 4),
    shape(128, 64, 2, [1, 1], 2),
    shape(128, 64, 2, [1, 1], 4),
    shape(64, 64, 1, [1, 1], 2),
    shape(64, 64, 1, [1, 1], 4),
    shape(64, 128, 1, [1, 1], 2),
    shape(128, 8, 2, [1, 1], 1),
    shape(128, 16, 2, [1, 1], 1),
    shape(128, 32, 2, [1, 1], 1),
    shape(128, 16, 2, [1, 1], 2),
    shape(128, 32, 2, [1, 1], 2),
    shape(64, 8, 1, [1, 1], 1),
    shape(64, 8, 1, [1, 1], 2),
    shape(64, 16, 1, [1, 1], 1),
    shape(64, 16, 1, [1, 1], 2),
    shape(64, 32, 1, [1, 1], 2),
    transposed(64, 96, 1),
    transposed(128, 96, 2),
    transposed(192, 96, 3),
    transposed(256, 96, 2),
    transposed(128, 160, 2),
    transposed(192, 160, 3),
];

/// The product as the kernel sees it; also the key of measured shapes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Request {
    pub(crate) m: i64,
    pub(crate) n: i64,
    pub(crate) k: i64,
    pub(crate) batch: i64,
    /// Element sizes of operands and result, in bytes.
    pub(crate) bytes: i64,
    pub(crate) result_bytes: i64,
    /// The operand is MN-major.
    pub(crate) a_mn: bool,
    pub(crate) b_mn: bool,
    /// A and B are swapped: the transposed product.
    pub(crate) swapped: bool,
    /// FP8: accumulators are promoted to f32 registers every few stages.
    pub(crate) promote: bool,
    /// TMA can store the result.
    pub(crate) aligned: bool,
    /// A is gathered in im2col mode, which has no multicast.
    pub(crate) window: bool,
    /// No split-K cluster.
    pub(crate) undivided: bool,
    /// Rows of the result have addresses of their own (`STORE_ROWS`).
    pub(crate) scattered: bool,
    /// The result is NCHW (`STORE_PLANES`).
    pub(crate) planes: bool,
    /// There are post-ops.
    pub(crate) computed: bool,
    /// Taps of a row of A: all but the first are read from L2.
    pub(crate) taps: i64,
    /// A is the same matrix in all batches.
    pub(crate) shared: bool,
    /// The lines of an MN-major B of which one is aligned, if not each is: B is realigned in shared memory (`REALIGN`).
    pub(crate) period: i64,
    /// Elements of a row of the result that are stored together where TMA cannot store it (`LINE_UNIT`).
    pub(crate) unit: i64,
}

/// How the result is stored: `STORE` of `tile_sm90.cuh`, in its order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Store {
    Direct,
    Tma,
    Transposed,
    Rows,
    Planes,
    Lines,
}

impl Store {
    /// Whether threads store element by element.
    pub(crate) fn is_direct(self) -> bool {
        matches!(self, Store::Direct | Store::Lines)
    }
}

/// A shape with the number of stages, the kind of store and the predicted time.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Choice {
    pub(crate) shape: Shape,
    pub(crate) stages: i64,
    pub(crate) store: Store,
    /// Predicted seconds.
    pub(crate) seconds: f64,
}

impl Request {
    /// A product of sizes (M, N, K, batch) of K-major operands, with the element sizes of operands and result, and no other property.
    pub(crate) const fn new([m, n, k, batch]: [i64; 4], [bytes, result_bytes]: [i64; 2]) -> Request {
        Request {
            m,
            n,
            k,
            batch,
            bytes,
            result_bytes,
            a_mn: false,
            b_mn: false,
            swapped: false,
            promote: false,
            aligned: false,
            window: false,
            undivided: false,
            scattered: false,
            planes: false,
            computed: false,
            taps: 1,
            shared: false,
            period: 1,
            unit: 1,
        }
    }

    /// TF32 with an N-major B, which wgmma cannot read: the main loop uses `mma.sync`.
    pub(crate) fn by_mma_sync(&self) -> bool {
        self.bytes == 4 && self.b_mn
    }

    /// The transposed product: its operands change places.
    pub(crate) fn transposed(&self) -> Request {
        Request { m: self.n, n: self.m, a_mn: self.b_mn, b_mn: self.a_mn, swapped: !self.swapped, shared: false, ..*self }
    }

    /// Whether the kernel may compute the transposed product: it has no layouts of convolutions.
    fn may_be_transposed(&self) -> bool {
        !(self.swapped || self.window || self.undivided || self.scattered || self.planes || self.period > 1)
    }

    /// Bytes of shared memory of a stage, in which a realigned B is twice, once with a line's start and end.
    pub(crate) fn stage_bytes(&self, shape: &Shape) -> i64 {
        (shape.m + shape.n) * 128 + if self.period > 1 { (shape.n + 8) * 128 } else { 0 }
    }

    /// Few rows: narrow tiles of the transposed product, of which two CTAs fit a multiprocessor.
    pub(crate) fn is_narrow(&self) -> bool {
        self.swapped && self.n <= 32
    }
}

impl Shape {
    /// Bytes of the chunks through which the result is stored (`kChunks` of `tile_sm90.cuh`).
    pub(crate) fn chunks(&self, store: Store) -> i64 {
        let own = if self.n < 64 { self.n * 128 } else { 2 * 8192 };
        if store == Store::Direct { 0 } else { self.consumers * own }
    }

    /// Cycles of a stage by `mma.sync`: multiply-adds, or reads from shared memory, where every warp loads its own fragments.
    fn synchronous(&self) -> f64 {
        let products = (self.m * self.n * 32) as f64 / MMA_SYNC;
        let words = (self.consumers * 4 * (self.m / (4 * self.consumers) + self.n.max(16)) * 32) as f64;
        products.max(words / WORDS) * UNEVEN
    }
}

/// The shape that was measured on this GPU (`tuned`), otherwise the one with the least predicted time.
pub(crate) fn best(request: &Request, target: &CudaTarget) -> Option<Choice> {
    let facts = &target.facts;
    let measured = target.tuned.as_ref().and_then(|t| t.shape(request)).filter(|s| SHAPES.contains(s));
    let predicted = || SHAPES.iter().filter_map(|s| choice(*s, request, facts)).min_by(|a, b| a.seconds.total_cmp(&b.seconds));
    measured.and_then(|s| choice(s, request, facts)).or_else(predicted)
}

/// Predicted seconds of transposing `elements` of f32.
pub(crate) fn transposition(elements: i64, facts: &Facts) -> f64 {
    COPY + (elements * 8) as f64 / (bandwidth(facts) * TURNED)
}

/// Predicted seconds of a product between transpositions of `bytes` of planes to channels last and back.
pub(crate) fn between(request: &Request, bytes: i64, target: &CudaTarget) -> f64 {
    let product = best(request, target).map_or(f64::INFINITY, |choice| choice.seconds);
    product + 2.0 * PLANES + (bytes * 2) as f64 / (bandwidth(&target.facts) * BANDWIDTH)
}

/// Predicted seconds of copying `bytes` to aligned rows.
pub(crate) fn alignment(bytes: i64, facts: &Facts) -> f64 {
    COPY + (bytes * 2) as f64 / (bandwidth(facts) * ALIGNED)
}

/// The tile of `gemm_sm80.cu` for a product of sizes (M, N, K, batch) with `bytes` an element, and predicted seconds; `aligned`: the alignment of the rows of A, B and
/// C in bytes, 0 where columns are apart.
pub(crate) fn unaligned([m, n, k, batch]: [i64; 4], bytes: i64, aligned: [i64; 3], facts: &Facts) -> (i64, f64) {
    let [a, b, c] = aligned;
    let narrow = |a: i64| match a {
        8.. => 0.0,
        4.. => 1.0,
        _ => 2.0,
    };
    let (steps, slow) = (ceil(k * bytes, 128) as f64, 1.0 + NARROW * (narrow(a) + narrow(b)));
    let seconds = |t: &Mma| {
        let own = ceil(ceil(m, t.tile) * ceil(n, t.tile) * batch, i64::from(facts.multiprocessors));
        let end = if c < 4 { t.end * SINGLE } else { t.end };
        let busy = own as f64 * (steps * t.step * slow + end);
        let late = ceil(own, 256 / t.tile) as f64 * (steps * t.alone * slow + end);
        BEGIN + (busy.powi(4) + late.powi(4)).sqrt().sqrt()
    };
    let all = MMA.iter().map(|t| (t.tile, seconds(t)));
    all.min_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((128, f64::INFINITY))
}

/// Predicted seconds of storing so many elements one by one, beyond those of tiles.
pub(crate) fn one_by_one(elements: i64) -> f64 {
    elements as f64 * ELEMENT
}

/// Peak memory bandwidth in bytes per second.
fn bandwidth(facts: &Facts) -> f64 {
    f64::from(facts.memory_clock) * 1e3 * 2.0 * f64::from(facts.memory_bus) / 8.0
}

/// All possible shapes, by predicted time.
pub(crate) fn candidates(request: &Request, facts: &Facts) -> Vec<Choice> {
    let mut all: Vec<Choice> = SHAPES.iter().filter_map(|s| choice(*s, request, facts)).collect();
    all.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    all
}

fn choice(shape: Shape, r: &Request, facts: &Facts) -> Option<Choice> {
    if !shape.transposed {
        return oriented(shape, r, facts);
    }
    // Rows of tiles that are there in part, and sums so short that the epilogue counts, took up to a fifth longer than predicted.
    let pays = r.n % shape.m == 0 && r.k * r.bytes >= 8 * 128;
    let choice = (pays && r.may_be_transposed()).then(|| oriented(shape, &r.transposed(), facts))?;
    choice.filter(|c| c.store == Store::Transposed)
}

/// The choice of a shape for the product as the kernel computes it.
fn oriented(shape: Shape, r: &Request, facts: &Facts) -> Option<Choice> {
    let Shape { m, n, consumers, cluster, split, alternate, .. } = shape;
    let columns = if split == 1 { n } else { (n / split).max(8) };
    let fits = if r.is_narrow() { n <= 32 && n >= r.n && (n == 8 || n < 2 * r.n) } else { n >= 64 };
    if !fits {
        return None;
    }
    let store = if r.swapped {
        let moved = r.result_bytes == 2 || r.result_bytes == 4 && !r.is_narrow();
        if r.aligned && moved { Store::Transposed } else { Store::Direct }
    } else if r.scattered {
        // Wider tiles leave no registers for the addresses of rows.
        if !(64..=128).contains(&n) {
            return None;
        }
        Store::Rows
    } else if r.planes {
        // Planes are stored in chunks of 64 columns.
        if columns % 64 != 0 {
            return None;
        }
        Store::Planes
    } else if r.aligned && columns * r.result_bytes % 128 == 0 {
        Store::Tma
    } else {
        Store::Lines
    };
    let run = 128 / r.bytes;
    let fits = (!r.b_mn || n % (run * cluster[0]) == 0) && (!r.a_mn || m % (run * cluster[1]) == 0);
    let k_stages = ceil(r.k, run);
    if r.window && cluster[1] > 1 || r.undivided && split > 1 {
        return None;
    }
    if r.period > 1 && (cluster != [1, 1] || !matches!(n, 64 | 128) || alternate) {
        return None;
    }
    if !fits
        || k_stages < split
        || (r.promote && m * n / (128 * consumers) > 96)
        || (alternate && (!matches!(store, Store::Tma | Store::Planes) || r.by_mma_sync() || r.promote))
    {
        return None;
    }
    // The CTAs of narrow tiles share an SM with those of the next kernel, which start while these finish.
    let (whole, most) = (i64::from(facts.shared_memory), if r.is_narrow() { 16 } else { 8 });
    let room = if r.is_narrow() { whole / 2 - 1024 } else { whole } - 1280 - shape.chunks(store);
    let stages = (room / r.stage_bytes(&shape)).min(most);
    let partial = split > 1 && m * n * 4 > stages * r.stage_bytes(&shape);
    let choice = Choice { shape, stages, store, seconds: 0.0 };
    let least = if r.period > 1 { REALIGNED_STAGES } else { 2 };
    (stages >= least && !partial).then(|| Choice { seconds: seconds(&choice, r, k_stages, facts), ..choice })
}

/// The time model, fitted to 1,100 measurements of 130 problems on an H200: its choice is 2.4 % slower than the best shape on average.
fn seconds(choice: &Choice, r: &Request, k_stages: i64, facts: &Facts) -> f64 {
    let Choice { shape, stages, store, .. } = *choice;
    let Shape { m, n, consumers, cluster, split, alternate, .. } = shape;
    let (size, units) = (cluster[0] * cluster[1], i64::from(facts.multiprocessors));
    let clusters = ceil(ceil(r.m, m), cluster[0]) * ceil(ceil(r.n, n), cluster[1]) * r.batch;
    // Split-K clusters do not fill every GPC.
    let slots = if r.is_narrow() { 2 * units } else { units };
    let waves =
        if split > 1 { ceil(clusters, (slots / split * 15 / 16).max(1)) } else { ceil(clusters * size, slots / size * size) } as f64;
    let (fm, fn_) = (m as f64, n as f64);
    let shared = (fm / cluster[1] as f64 + fn_ / cluster[0] as f64) * 128.0 / FROM_L2[usize::from(r.computed)];
    let gathered = if r.window { fm * GATHERED } else { fm };
    let load = ((gathered + fn_) * 128.0 / INGRESS).max(shared);
    let alone = if alternate { IN_TURNS } else { PRODUCTS[consumers as usize - 1] };
    let products = if r.by_mma_sync() { shape.synchronous() } else { fm * fn_.max(32.0) / 32.0 * alone };
    let realigned = if r.period > 1 { (REALIGN[0] + fn_ * REALIGN[1]).max(REALIGNED / stages as f64) } else { 0.0 };
    let stage = load.max(products).max(realigned) + STAGE;
    let (added, again) = if split > 1 { (ADD + fm * fn_ * 4.0 / 40.0, AGAIN) } else { (0.0, 0.0) };
    let out = match store {
        Store::Lines => LINES * (r.unit * r.result_bytes) as f64,
        _ => 32.0,
    };
    let made = if r.computed { fm * fn_ / MADE } else { 0.0 };
    let tail = TAIL + fm * fn_ * r.result_bytes as f64 / out + made + added;
    let exposed = if alternate { 0.0 } else { EXPOSED[usize::from(r.computed || r.period > 1)] };
    let start = START + if size > 1 { CLUSTER } else { 0.0 };
    let cycles = waves * ceil(k_stages, split) as f64 * stage + (waves - 1.0) * again + tail * (1.0 + exposed * (waves - 1.0)) + start;
    let rows = r.m / r.taps * if r.shared { 1 } else { r.batch };
    let moved = ((rows + r.batch * r.n) * r.k * r.bytes + r.batch * r.m * r.n * r.result_bytes) as f64;
    let (ctas, peak) = ((clusters * size * split) as f64 / units as f64, bandwidth(facts) * BANDWIDTH);
    let slower = if r.is_narrow() { narrow(ctas, peak, (clusters * split * stages * m * 128) as f64) } else { few(ctas) };
    let bandwidth = peak / slower;
    let clock = f64::from(facts.clock) * 1e3 * CLOCK;
    // A smooth maximum of compute and memory time.
    ((cycles / clock).powi(4) + (moved / bandwidth + 1.5e-6).powi(4)).sqrt().sqrt()
}

/// How much longer than its share of the memory bandwidth `tiles` tiles per SM take: a partial wave does not saturate the memory, and takes at least `LAST` of
/// a full wave's time after others.
fn few(tiles: f64) -> f64 {
    let whole = tiles.floor();
    match tiles - whole {
        last if last > 0.0 => (whole + last.max(if whole > 0.0 { LAST } else { ALONE })) / tiles,
        _ => 1.0,
    }
}

/// The same for few rows, of which two CTAs fit an SM: `peak` bytes a second need as many bytes on the way as come in a `LATENCY`. More than one but less than two
/// CTAs an SM are uneven, and further ones start late.
fn narrow(ctas: f64, peak: f64, on_the_way: f64) -> f64 {
    let uneven = match ctas {
        c if c <= 1.0 || (1.9..=2.0).contains(&c) => 1.0,
        c if c < 1.9 => UNBALANCED,
        _ => FURTHER,
    };
    (peak * LATENCY / on_the_way).max(uneven)
}

/// The tile and split-K of a weight gradient.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Gradient {
    pub(crate) shape: Shape,
    pub(crate) stages: i64,
    pub(crate) parts: i64,
    /// `SHIFTS` of `conv_weights_sm90.cu`: taps along H that share a stage of the source; 1 for none.
    pub(crate) shifts: i64,
    seconds: f64,
}

/// A weight gradient with `SHIFTS`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shifts {
    /// Taps along H; columns of a filter row, a multiple of the tile.
    pub(crate) taps: i64,
    pub(crate) line: i64,
    /// Pixels, including those of the additional lines.
    pub(crate) pixels: i64,
}

/// The candidate shapes of `conv_weights_sm90.cu`; those with one consumer and 128 rows are for `mma.sync`, which then reads B half as often.
const GRADIENTS: &[Shape] = &[
    shape(64, 192, 1, [1, 1], 1),
    shape(64, 64, 1, [1, 1], 1),
    shape(64, 128, 1, [1, 1], 1),
    shape(64, 256, 1, [1, 1], 1),
    shape(128, 64, 2, [1, 1], 1),
    shape(128, 128, 2, [1, 1], 1),
    shape(128, 256, 2, [1, 1], 1),
    shape(128, 192, 2, [1, 1], 1),
    shape(256, 128, 2, [1, 1], 1),
    shape(192, 128, 3, [1, 1], 1),
    shape(256, 64, 2, [1, 1], 1),
    shape(128, 64, 1, [1, 1], 1),
    shape(128, 128, 1, [1, 1], 1),
];

/// The candidate shapes with `SHIFTS`.
const SHIFTED: &[Shape] = &[
    shape(192, 192, 3, [1, 1], 1),
    shape(192, 128, 3, [1, 1], 1),
    shape(128, 256, 2, [1, 1], 1),
    shape(128, 192, 2, [1, 1], 1),
    shape(128, 128, 2, [1, 1], 1),
];

/// The tile and the number of parts with the least predicted time for a gradient of `m` x `n` over `pixels`; `bytes` per element of the operands. A tile does not
/// span two slices of `slice` rows.
pub(crate) fn gradient([m, n, pixels, slice]: [i64; 4], shifts: Option<Shifts>, bytes: i64, facts: &Facts) -> Option<Gradient> {
    let units = i64::from(facts.multiprocessors);
    let candidate = |&shape: &Shape, shifts: Option<Shifts>, waves: i64| {
        let (taps, rows, pixels) = shifts.map_or((1, shape.m, pixels), |s| (s.taps, 64, s.pixels));
        let k_stages = ceil(pixels, 128 / bytes);
        let tiles = ceil(m, rows) * ceil(n / taps, shape.n);
        let parts = (waves * units / tiles.max(1)).min(k_stages / 8).max(1);
        let room = i64::from(facts.shared_memory) - 1280 - shape.consumers * 16_384;
        let stages = (room / ((shape.m + shape.n) * 128)).min(8);
        let (fm, fn_) = (shape.m as f64, shape.n as f64);
        let products = if bytes == 4 { shape.synchronous() } else { fm * fn_ / 32.0 * 1.05 };
        let stage = ((fm + fn_) * 128.0 / 56.0).max(products);
        let added = if parts > 1 { 4000.0 + (m * n * parts) as f64 * 8.0 / 2000.0 } else { 0.0 };
        let waves = ceil(tiles * parts, units) as f64;
        let cycles = waves * (ceil(k_stages, parts) as f64 * stage + fm * fn_ / 16.0) + 3000.0 + added;
        Gradient { shape, stages, parts, shifts: taps, seconds: cycles / (f64::from(facts.clock) * 1e3 * CLOCK) }
    };
    let shifted = shifts.iter().flat_map(|&how| {
        let fits = move |s: &&Shape| s.consumers == how.taps && how.line % s.n == 0;
        SHIFTED.iter().filter(fits).map(move |s| (s, Some(how)))
    });
    GRADIENTS
        .iter()
        .filter(|s| bytes == 4 || s.consumers > 1 || s.m == 64)
        .map(|s| (s, None))
        .chain(shifted)
        .filter(|(s, how)| slice % if how.is_some() { 64 } else { s.m } == 0)
        .flat_map(|(s, how)| [candidate(s, how, 1), candidate(s, how, 2)])
        .filter(|g| g.stages >= 2)
        .min_by(|a, b| a.seconds.total_cmp(&b.seconds))
}

#[cfg(test)]
mod tests;
