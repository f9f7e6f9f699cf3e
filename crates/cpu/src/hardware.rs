//! Hardware in one place: the data caches of a processor, and the operands that blocked products keep in each of them.
//!
//! A macrokernel iterates over K blocks. During one, `nc` panels of `B` stay in L2 while `mc` tiles of rows of `A` stream past them; the
//! sums of a microkernel are in registers, a panel or the rows of a tile in L1. One solver ([`KBlockBytes::blocks`]) computes `mc` and `nc` from
//! the sizes of the caches.
//!
//! The cuts of a reduction determine the order in which terms are added. So K blocks ([`K_STEPS`]) are the same on every machine, and so
//! are results.

mod core;

pub use core::{Core, Work, hertz};
use oxidnn_runtime::Level;
use std::sync::OnceLock;

#[cfg(test)]
mod tests;

/// Most steps of a K block; a step is 4 bytes of a row of `A` and a line of a panel.
#[derive(Clone, Copy, Debug)]
pub struct KSteps {
    /// Of plain matrices, on vectors.
    pub matrix: usize,
    /// The same if lines that are read in place map to the same cache sets.
    pub aliased: usize,
    /// The same on AMX, with panels of the same width and rows by 32.
    pub amx: usize,
    /// Of windows over images, whose rows are taps.
    pub window: usize,
}

/// How reductions are cut on every machine.
pub const K_STEPS: KSteps = KSteps { matrix: 1024, aliased: 256, amx: 512, window: 2560 };

/// The data caches of a core: sizes in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Caches {
    /// L1, from which vectors are loaded at full speed.
    pub l1: usize,
    /// L2.
    pub l2: usize,
    /// The last-level cache; as large as L2 if there is none behind that.
    pub l3: usize,
    /// Bytes of a cache line.
    pub line: usize,
    /// Cores that share an L2, and an L3.
    pub sharing: [usize; 2],
}

/// The operands that a macrokernel keeps in the caches, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Budget {
    /// A panel that stays in L1 from one tile of rows to the next.
    pub l1_panel: usize,
    /// K blocks of packed panels of `B` that stay in L2.
    pub panels: usize,
    /// The same for plain `B`, whose lines are in L2 beside the panels that are made of them; and for pixels that are columns.
    pub plain: usize,
    /// Sums that a task carries from K block to K block, for matrices.
    pub sums: usize,
    /// The same for windows, whose rows of `A` are in L2 as well.
    pub window_sums: usize,
    /// Rows of `A` that stay in L3 for all panels.
    pub rows: usize,
    /// Rows of a strip of tiles that is multiplied by several panels.
    pub strip: usize,
    /// The size of an operand above which tiles prefetch, and up to which it stays in L2 from one task to the next.
    pub far: usize,
    /// Recurrent weights that stay in L2 from one step to the next.
    pub recurrent: usize,
}

/// The rows and panels that are blocked together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Blocks {
    /// Tiles of rows.
    pub mc: usize,
    /// Panels of columns.
    pub nc: usize,
}

/// A K block of a product.
#[derive(Clone, Copy, Debug)]
pub struct KBlockBytes {
    /// Bytes of a panel of `B` in the block.
    pub panel: usize,
    /// Panels of the product.
    pub panels: usize,
    /// Columns of a panel.
    pub width: usize,
    /// Rows of the tallest tile.
    pub tall: usize,
    /// Tiles of the product.
    pub tiles: usize,
    /// Whether sums are carried from K block to K block.
    pub carries: bool,
}

impl Caches {
    /// The sizes that are assumed if the system does not tell.
    pub const USUAL: Caches = Caches { l1: 32 << 10, l2: 1 << 20, l3: 32 << 20, line: 64, sharing: [1, 1] };

    /// The caches of the processor that runs this, as the system describes them, or with the sizes of the knob `CPU_CACHES`. Asked once.
    pub fn host() -> Caches {
        static HOST: OnceLock<Caches> = OnceLock::new();
        *oxidnn_runtime::fork::once(&HOST, || {
            let host = Caches::of(&|file| std::fs::read_to_string(format!("/sys/devices/system/cpu/cpu0/cache/{file}")).ok());
            oxidnn_runtime::knobs::get().cpu_caches.map_or(host, |[l1, l2, l3]| Caches { l1, l2, l3, ..host })
        })
    }

    /// The caches that files in Linux's format describe (`index0/size` and so on).
    fn of(read: &dyn Fn(&str) -> Option<String>) -> Caches {
        let mut caches = Caches::USUAL;
        for index in (0..).map_while(|i| read(&format!("index{i}/level")).map(|level| (i, level))) {
            let get = |what: &str| read(&format!("index{}/{what}", index.0)).map(|text| text.trim().to_owned());
            let Some(size) = get("size").as_deref().and_then(bytes).filter(|_| get("type").is_some_and(|kind| kind != "Instruction"))
            else {
                continue;
            };
            let cores = get("shared_cpu_list").map_or(1, |list| cores(&list));
            match index.1.trim() {
                "1" => caches.l1 = size,
                "2" => (caches.l2, caches.l3, caches.sharing[0]) = (size, size, cores),
                "3" => (caches.l3, caches.sharing[1]) = (size, cores),
                _ => continue,
            }
            caches.line = get("coherency_line_size").and_then(|n| n.parse().ok()).unwrap_or(caches.line);
        }
        caches
    }

    /// The first cache in which so many bytes stay.
    pub const fn level(&self, bytes: usize) -> Level {
        match bytes {
            n if n <= self.l1 => Level::L1,
            n if n <= self.l2 => Level::L2,
            n if n <= self.l3 => Level::L3,
            _ => Level::Memory,
        }
    }

    /// The shares of the caches that products use, in proportion to shares measured on cores with 32 KiB, 1 MiB and 32 MiB. AMX reads its
    /// panels from L2 at the pace of its products, so they get most of it.
    pub const fn budget(&self, amx: bool) -> Budget {
        let l2 = self.l2;
        Budget {
            l1_panel: self.l1,
            panels: if amx { l2 / 2 } else { l2 * 3 / 8 },
            plain: l2 / 4,
            sums: l2 / 4,
            window_sums: l2 / 8,
            rows: self.l3 / 16,
            strip: l2 / 8,
            far: l2 / 2,
            recurrent: l2 * 3 / 4,
        }
    }
}

/// The bytes of a size such as `32K`.
fn bytes(text: &str) -> Option<usize> {
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let number: usize = number.parse().ok()?;
    let shift = match unit {
        "K" => 10,
        "M" => 20,
        "G" => 30,
        _ => return None,
    };
    number.checked_mul(1 << shift).filter(|n| *n > 0)
}

/// The number of cores in a list such as `0-3,8`.
fn cores(list: &str) -> usize {
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(last.parse::<usize>().ok()?.checked_sub(first.parse().ok()?)? + 1)
    };
    list.split(',').filter_map(range).sum::<usize>().max(1)
}

impl KBlockBytes {
    /// The panels of the K block that fit into `panels` bytes, and the tiles whose sums with these fit into `sums` bytes.
    pub fn blocks(&self, [panels, sums]: [usize; 2]) -> Blocks {
        let nc = (panels / self.panel.max(1)).clamp(1, self.panels.max(1));
        Blocks { mc: self.mc(nc, sums), nc }
    }

    /// Tiles whose sums with `nc` panels fit into `sums` bytes; all tiles if no sums are carried.
    pub fn mc(&self, nc: usize, sums: usize) -> usize {
        let fits = sums / 4 / (nc * self.width).max(1) / self.tall.max(1);
        if self.carries { fits.clamp(1, self.tiles.max(1)) } else { self.tiles.max(1) }
    }
}
