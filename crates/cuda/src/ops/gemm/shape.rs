//! Which tile a product on Hopper is made of: all shapes that the kernel has, and a model of their times by the device's facts.

use crate::{CudaTarget, Facts};

/// Bytes a clock that a multiprocessor takes in, and that the second-level cache gives it, beside tiles without and with post-ops.
const INGRESS: f64 = 64.0;
const FROM_L2: [f64; 2] = [64.0, 48.0];
/// How much longer rows take that are gathered from under a window.
const GATHERED: f64 = 1.2;
/// Time of a stage over that of the tensor cores alone, by how many warpgroups multiply, and where they take turns; and clock cycles of a stage besides.
const PRODUCTS: [f64; 3] = [1.6, 1.1, 1.05];
const IN_TURNS: f64 = 1.2;
const STAGE: f64 = 20.0;
/// Products of f32 as TF32 that `mma.sync` does in a clock cycle, words of shared memory that a multiprocessor reads in one, and what waiting adds to both.
const MMA_SYNC: f64 = 600.0;
const WORDS: f64 = 32.0;
const UNEVEN: f64 = 1.15;
/// Clock cycles of a launch, of a launch of clusters besides, of a tile's way out, of one that several blocks add up, and of another wave of those.
const START: f64 = 2200.0;
const CLUSTER: f64 = 1200.0;
const TAIL: f64 = 600.0;
const ADD: f64 = 1000.0;
const AGAIN: f64 = 5000.0;
/// Elements of a result with post-ops that a multiprocessor makes in a clock cycle, and how much of a tile's way out the next tile's products do not hide, without
/// and with post-ops.
const MADE: f64 = 20.0;
const EXPOSED: [f64; 2] = [0.2, 1.0];
/// What products keep of the highest clock, and copies of the memory's bandwidth.
const CLOCK: f64 = 0.86;
const BANDWIDTH: f64 = 0.82;
/// Part of the memory's bandwidth that a multiprocessor's blocks take longer than where all of them have tiles, where all tiles are fewer, and behind others.
const ALONE: f64 = 0.8;
const LAST: f64 = 0.5;
/// Seconds of a transposition's launch, and what it keeps of the memory's bandwidth.
const COPY: f64 = 3e-6;
const TURNED: f64 = 0.7;

/// A tile and who shares it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Shape {
    pub(crate) m: i64,
    pub(crate) n: i64,
    /// Warpgroups that multiply.
    pub(crate) consumers: i64,
    /// Blocks of a cluster along both dimensions, which share what they load.
    pub(crate) cluster: [i64; 2],
    /// Blocks of a cluster that divide K.
    pub(crate) split: i64,
    /// Two warpgroups take whole tiles in turns: one stores while the other multiplies.
    pub(crate) alternate: bool,
}

const fn shape(m: i64, n: i64, consumers: i64, cluster: [i64; 2], split: i64) -> Shape {
    Shape { m, n, consumers, cluster, split, alternate: false }
}

/// The shapes of `gemm_sm90.cu` that are tried; those narrower than 64 columns serve few rows.
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
    Shape { m: 128, n: 128, consumers: 2, cluster: [1, 1], split: 1, alternate: true },
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
];

/// The product as the kernel sees it: rows of A by columns of B.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Request {
    pub(crate) m: i64,
    pub(crate) n: i64,
    pub(crate) k: i64,
    pub(crate) batch: i64,
    /// Bytes of an element of the operands and of the result.
    pub(crate) bytes: i64,
    pub(crate) result_bytes: i64,
    /// The operand is contiguous along M or N.
    pub(crate) a_mn: bool,
    pub(crate) b_mn: bool,
    /// The user's rows are this product's columns.
    pub(crate) swapped: bool,
    /// Sums leave the tensor cores' short accumulators every few stages.
    pub(crate) promote: bool,
    /// The result may go out through TMA.
    pub(crate) aligned: bool,
    /// Rows are the pixels of a window, which blocks of a cluster do not share.
    pub(crate) window: bool,
    /// Blocks of a cluster do not divide K.
    pub(crate) undivided: bool,
    /// Rows of the result lie anywhere.
    pub(crate) scattered: bool,
    /// They are next to each other, images of them apart.
    pub(crate) planes: bool,
    /// Post-ops come behind the sums.
    pub(crate) computed: bool,
    /// Elements of a window that a row is made of: all but the first come from the second-level cache.
    pub(crate) taps: i64,
}

/// How the result goes out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Store {
    Direct,
    Tma,
    Transposed,
    Rows,
    Planes,
}

/// A shape with what follows from it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Choice {
    pub(crate) shape: Shape,
    pub(crate) stages: i64,
    pub(crate) store: Store,
    /// Predicted seconds.
    pub(crate) seconds: f64,
}

impl Request {
    /// TF32 of a B that is contiguous along N: `mma.sync` multiplies it, as wgmma does not read it. A goes through registers where it is contiguous along M.
    pub(crate) fn by_mma_sync(&self) -> bool {
        self.bytes == 4 && self.b_mn
    }

    /// The user's rows are so few that narrow tiles have them.
    fn is_narrow(&self) -> bool {
        self.swapped && self.n <= 32
    }
}

impl Shape {
    /// Clock cycles of a stage by `mma.sync`: those of its products, or of their operands' way from shared memory, which every warp reads itself.
    fn synchronous(&self) -> f64 {
        let products = (self.m * self.n * 32) as f64 / MMA_SYNC;
        let words = (self.consumers * 4 * (self.m / (4 * self.consumers) + self.n.max(16)) * 32) as f64;
        products.max(words / WORDS) * UNEVEN
    }
}

pub(crate) fn ceil(a: i64, b: i64) -> i64 {
    a / b + i64::from(a % b != 0)
}

/// The shape that was measured for the product on this GPU, else the one with the least predicted time.
pub(crate) fn best(request: &Request, target: &CudaTarget) -> Option<Choice> {
    let facts = &target.facts;
    let measured = target.tuned.as_ref().and_then(|t| t.shape(request)).filter(|s| SHAPES.contains(s));
    let predicted = || SHAPES.iter().filter_map(|s| choice(*s, request, facts)).min_by(|a, b| a.seconds.total_cmp(&b.seconds));
    measured.and_then(|s| choice(s, request, facts)).or_else(predicted)
}

/// Seconds of a launch that transposes a matrix of `elements` of f32.
pub(crate) fn transposition(elements: i64, facts: &Facts) -> f64 {
    COPY + (elements * 8) as f64 / (bandwidth(facts) * TURNED)
}

/// Bytes of memory a second.
fn bandwidth(facts: &Facts) -> f64 {
    f64::from(facts.memory_clock) * 1e3 * 2.0 * f64::from(facts.memory_bus) / 8.0
}

/// All shapes that the product may have, the one with the least predicted time first.
pub(crate) fn candidates(request: &Request, facts: &Facts) -> Vec<Choice> {
    let mut all: Vec<Choice> = SHAPES.iter().filter_map(|s| choice(*s, request, facts)).collect();
    all.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    all
}

fn choice(shape: Shape, r: &Request, facts: &Facts) -> Option<Choice> {
    let Shape { m, n, consumers, cluster, split, alternate } = shape;
    let columns = if split == 1 { n } else { (n / split).max(8) };
    let fits = if r.is_narrow() { n <= 32 && n >= r.n && (n == 8 || n < 2 * r.n) } else { n >= 64 };
    if !fits {
        return None;
    }
    let store = if r.swapped {
        let moved = r.result_bytes == 2 || r.result_bytes == 4 && !r.is_narrow();
        if r.aligned && moved { Store::Transposed } else { Store::Direct }
    } else if r.scattered {
        // Wider tiles have no registers for the addresses of rows.
        if !(64..=128).contains(&n) {
            return None;
        }
        Store::Rows
    } else if r.planes {
        // Chunks of 64 columns, which is what neighbouring threads store fast.
        if columns % 64 != 0 {
            return None;
        }
        Store::Planes
    } else if r.aligned && columns * r.result_bytes % 128 == 0 {
        Store::Tma
    } else {
        Store::Direct
    };
    let run = 128 / r.bytes;
    let fits = (!r.b_mn || n % (run * cluster[0]) == 0) && (!r.a_mn || m % (run * cluster[1]) == 0);
    let k_stages = ceil(r.k, run);
    if r.window && cluster[1] > 1 || r.undivided && split > 1 {
        return None;
    }
    if !fits
        || k_stages < split
        || (r.promote && m * n / (128 * consumers) > 96)
        || (alternate && (!matches!(store, Store::Tma | Store::Planes) || r.by_mma_sync() || r.promote))
    {
        return None;
    }
    let chunks = if store == Store::Direct { 0 } else { consumers * 16_384 };
    let room = i64::from(facts.shared_memory) - 1024 - chunks - 256;
    let mut stages = (room / ((m + n) * 128)).min(if r.is_narrow() { 16 } else { 8 });
    if r.is_narrow() {
        // Two blocks of a multiprocessor.
        stages = stages.min((100 << 10) / ((m + n) * 128));
    }
    let partial = split > 1 && m * n * 4 > stages * (m + n) * 128;
    (stages >= 2 && !partial).then(|| Choice { shape, stages, store, seconds: seconds(shape, store, r, k_stages, facts) })
}

/// The model, fitted to 1,100 times of 130 problems on an H200: the shape that it prefers takes 2.4 % longer than the best one in the mean.
fn seconds(shape: Shape, store: Store, r: &Request, k_stages: i64, facts: &Facts) -> f64 {
    let Shape { m, n, consumers, cluster, split, alternate } = shape;
    let (size, units) = (cluster[0] * cluster[1], i64::from(facts.multiprocessors));
    let clusters = ceil(ceil(r.m, m), cluster[0]) * ceil(ceil(r.n, n), cluster[1]) * r.batch;
    // Clusters of blocks that divide K do not fill every group of multiprocessors.
    let waves =
        if split > 1 { ceil(clusters, (units / split * 15 / 16).max(1)) } else { ceil(clusters * size, units / size * size) } as f64;
    let (fm, fn_) = (m as f64, n as f64);
    let shared = (fm / cluster[1] as f64 + fn_ / cluster[0] as f64) * 128.0 / FROM_L2[usize::from(r.computed)];
    let rows = if r.window { fm * GATHERED } else { fm };
    let load = ((rows + fn_) * 128.0 / INGRESS).max(shared);
    let alone = if alternate { IN_TURNS } else { PRODUCTS[consumers as usize - 1] };
    let products = if r.by_mma_sync() { shape.synchronous() } else { fm * fn_.max(32.0) / 32.0 * alone };
    let stage = load.max(products) + STAGE;
    let (added, again) = if split > 1 { (ADD + fm * fn_ * 4.0 / 40.0, AGAIN) } else { (0.0, 0.0) };
    let out = if store == Store::Direct && !r.swapped { 4.0 } else { 32.0 };
    let made = if r.computed { fm * fn_ / MADE } else { 0.0 };
    let tail = TAIL + fm * fn_ * r.result_bytes as f64 / out + made + added;
    let exposed = if alternate { 0.0 } else { EXPOSED[usize::from(r.computed)] };
    let start = START + if size > 1 { CLUSTER } else { 0.0 };
    let cycles = waves * ceil(k_stages, split) as f64 * stage + (waves - 1.0) * again + tail * (1.0 + exposed * (waves - 1.0)) + start;
    let moved = (r.batch * (r.m / r.taps + r.n) * r.k * r.bytes + r.batch * r.m * r.n * r.result_bytes) as f64;
    // Few rows have two blocks of a multiprocessor.
    let last = if r.is_narrow() { 0.0 } else { LAST };
    let bandwidth = bandwidth(facts) * BANDWIDTH / few((clusters * size * split) as f64 / units as f64, last);
    let clock = f64::from(facts.clock) * 1e3 * CLOCK;
    // The larger of the two, and a little of the smaller.
    ((cycles / clock).powi(4) + (moved / bandwidth + 1.5e-6).powi(4)).sqrt().sqrt()
}

/// How much longer than its share of the memory's bandwidth so many tiles a multiprocessor take: few blocks do not draw all of it, and the last tiles, which
/// take `least` of a tile's time at least, are few.
fn few(tiles: f64, least: f64) -> f64 {
    let whole = tiles.floor();
    match tiles - whole {
        last if last > 0.0 => (whole + last.max(if whole > 0.0 { least } else { ALONE })) / tiles,
        _ => 1.0,
    }
}

/// A tile of a gradient of weights, whose K are pixels in parts.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Gradient {
    pub(crate) shape: Shape,
    pub(crate) stages: i64,
    pub(crate) parts: i64,
    /// Taps along H whose blocks of 64 rows lie behind each other; 1 where taps are columns.
    pub(crate) shifts: i64,
    seconds: f64,
}

/// What a gradient of weights is like whose taps along H are rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shifts {
    /// Those taps, and columns of a line of the others, which holds whole tiles.
    pub(crate) taps: i64,
    pub(crate) line: i64,
    /// With those of the lines beyond the image.
    pub(crate) pixels: i64,
}

/// Shapes of `conv_weights_sm90.cu`; those of one warpgroup and 128 rows for `mma.sync`, which reads B half as often then.
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

/// Shapes of those whose taps along H are rows.
const SHIFTED: &[Shape] = &[
    shape(192, 192, 3, [1, 1], 1),
    shape(192, 128, 3, [1, 1], 1),
    shape(128, 256, 2, [1, 1], 1),
    shape(128, 192, 2, [1, 1], 1),
    shape(128, 128, 2, [1, 1], 1),
];

/// The tile and the parts for a gradient of `m` by `n` numbers over `pixels`, 128 bytes of operands of so many bytes an element a stage.
pub(crate) fn gradient([m, n, pixels]: [i64; 3], shifts: Option<Shifts>, bytes: i64, facts: &Facts) -> Option<Gradient> {
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
        .flat_map(|(s, how)| [candidate(s, how, 1), candidate(s, how, 2)])
        .filter(|g| g.stages >= 2)
        .min_by(|a, b| a.seconds.total_cmp(&b.seconds))
}

#[cfg(test)]
mod tests;
