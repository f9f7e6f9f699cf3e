//! The speed of a core's arithmetic and memory, by microarchitecture: the basis of predicted times, and of the sizes that count as near.

use super::Caches;
use std::ops::RangeInclusive;
use std::sync::OnceLock;
use std::time::Instant;

/// A microarchitecture.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Core {
    /// Its name.
    pub name: &'static str,
    /// Vector multiply-adds a cycle: with vectors of 16 and 32 bytes, and of 64.
    vectors: [f64; 2],
    /// Vectors of 64 bytes of pairs of bf16 that are multiplied a cycle.
    pairs: f64,
    /// Steps (4 bytes of a row times a column) that AMX multiplies a cycle; 0 without AMX.
    tiles: f64,
    /// Bytes a cycle from L2, from L3 and from memory.
    bytes: [f64; 3],
}

/// Processors by vendor, family and models, numbered as in their manuals, with facts from manuals and measurements.
const TABLE: [(&str, u32, &[RangeInclusive<u32>], Core); 7] = [
    ("AuthenticAMD", 26, &[0..=255], Core { name: "Zen 5", vectors: [2.0, 2.0], pairs: 2.0, tiles: 0.0, bytes: [48.0, 16.0, 6.0] }),
    (
        "AuthenticAMD",
        25,
        &[0x10..=0x1f, 0x60..=0x7f, 0xa0..=0xaf],
        Core { name: "Zen 4", vectors: [2.0, 1.0], pairs: 1.0, tiles: 0.0, bytes: [28.0, 14.0, 5.0] },
    ),
    (
        "AuthenticAMD",
        25,
        &[0..=0x0f, 0x20..=0x5f],
        Core { name: "Zen 3", vectors: [2.0, 1.0], pairs: 1.0, tiles: 0.0, bytes: [28.0, 14.0, 5.0] },
    ),
    ("AuthenticAMD", 23, &[0x30..=0xff], Core { name: "Zen 2", vectors: [2.0, 1.0], pairs: 1.0, tiles: 0.0, bytes: [28.0, 12.0, 4.0] }),
    (
        "GenuineIntel",
        6,
        &[143..=143, 173..=174, 207..=207],
        Core { name: "Golden Cove server", vectors: [2.0, 2.0], pairs: 0.5, tiles: 256.0, bytes: [48.0, 8.0, 4.0] },
    ),
    (
        "GenuineIntel",
        6,
        &[106..=106, 108..=108],
        Core { name: "Sunny Cove server", vectors: [2.0, 2.0], pairs: 0.5, tiles: 0.0, bytes: [44.0, 8.0, 4.0] },
    ),
    ("GenuineIntel", 6, &[85..=85], Core { name: "Skylake server", vectors: [2.0, 2.0], pairs: 0.5, tiles: 0.0, bytes: [40.0, 6.0, 4.0] }),
];

/// The facts that are assumed of other processors: those of the slowest.
const OTHER: Core = Core { name: "unknown", vectors: [2.0, 1.0], pairs: 0.5, tiles: 256.0, bytes: [28.0, 6.0, 4.0] };

/// The work of an execution.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Work {
    /// Multiply-adds of elements, including those of padding.
    pub multiply_adds: f64,
    /// Multiply-adds of a core a cycle.
    pub rate: f64,
    /// Bytes that are read and written.
    pub bytes: f64,
    /// Cores that share the work.
    pub cores: usize,
}

impl Core {
    /// Bytes that may be accessed at random, a line at a time, without waiting long: half of L3 if that has a quarter of L2's bandwidth,
    /// else twice L2. Measured with strips of depthwise convolution on Zen 3 and Sapphire Rapids.
    pub fn near(&self, caches: &Caches) -> usize {
        self.kept(caches, 2)
    }

    /// Bytes that stay in a cache from one operation to the next: half of L3, since other data are in it, too; if L3 is slow, the L2 of one worker or two.
    /// Beyond that, a copy by non-temporal stores takes two thirds of the time.
    pub fn kept(&self, caches: &Caches, workers: usize) -> usize {
        let [l2, l3, _] = self.bytes;
        if 4.0 * l3 >= l2 { caches.l3 / 2 } else { caches.l2 * workers.clamp(1, 2) }
    }

    /// The core of the processor that runs this, as the system names it. Asked once.
    pub fn host() -> &'static Core {
        static HOST: OnceLock<Core> = OnceLock::new();
        oxidnn_runtime::fork::once(&HOST, || Core::of(&std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default()))
    }

    /// The core of the first processor in a text in Linux's format.
    pub(super) fn of(text: &str) -> Core {
        let get =
            |what: &str| text.lines().find_map(|l| l.split_once(':').filter(|(key, _)| key.trim() == what).map(|(_, value)| value.trim()));
        let number = |what: &str| get(what).and_then(|n| n.parse::<u32>().ok()).unwrap_or(0);
        let (vendor, family, model) = (get("vendor_id").unwrap_or(""), number("cpu family"), number("model"));
        let is = |row: &&(&str, u32, &[RangeInclusive<u32>], Core)| {
            row.0 == vendor && row.1 == family && row.2.iter().any(|m| m.contains(&model))
        };
        TABLE.iter().find(is).map_or(OTHER, |row| row.3)
    }

    /// Multiply-adds a cycle on vectors of `lanes` 32-bit lanes, with `depth` elements in each.
    pub fn rate(&self, lanes: usize, depth: usize) -> f64 {
        let vectors = if lanes > 8 && depth == 2 { self.pairs } else { self.vectors[usize::from(lanes > 8)] };
        vectors * (lanes * depth) as f64
    }

    /// Multiply-adds a cycle on AMX, with `depth` elements in 4 bytes. Where it is emulated, plans are those of a processor that has it.
    pub fn tile_rate(&self, depth: usize) -> f64 {
        let tiles = if self.tiles > 0.0 { self.tiles } else { OTHER.tiles };
        tiles * depth as f64
    }
}

impl Work {
    /// The predicted seconds: of arithmetic, or of the bytes from the cache that holds all of them, whichever is longer.
    pub fn seconds(&self, core: &Core, caches: &Caches, hertz: f64) -> f64 {
        let [l2, l3, memory] = core.bytes;
        let (bytes, cores) = (self.bytes / self.cores.max(1) as f64, self.cores.max(1) as f64);
        let speed = match bytes {
            b if b <= caches.l2 as f64 => l2,
            _ if self.bytes <= caches.l3 as f64 => l3,
            _ => memory,
        };
        (self.multiply_adds / self.rate / cores).max(bytes / speed) / hertz
    }
}

/// Cycles of a core a second: timed by a chain of shifts, sums and products of 1, 1 and 3 cycles. Measured once, in a millisecond.
pub fn hertz() -> f64 {
    const LINKS: u32 = 1 << 18;
    static HERTZ: OnceLock<f64> = OnceLock::new();
    *oxidnn_runtime::fork::once(&HERTZ, || {
        let time = |_| {
            let start = Instant::now();
            let chain = |x: u64, _| (x ^ x >> 7).wrapping_mul(6_364_136_223_846_793_005);
            std::hint::black_box((0..std::hint::black_box(LINKS)).fold(1, chain));
            start.elapsed().as_secs_f64()
        };
        f64::from(5 * LINKS) / (0..5).map(time).fold(f64::INFINITY, f64::min).max(1e-9)
    })
}
