//! Permutation of tiles in registers by generated code: safe to run, since every address is checked before it is used.

use super::code;
use super::extent::{Read, Written};
use oxidnn_jit::ir::Elem;
pub use oxidnn_jit::kernels::permute::LANES;
use oxidnn_jit::kernels::permute::{Args, Masked, Permute};
use oxidnn_jit::kernels::transpose::{Factor, UNCHANGED};
use oxidnn_jit::{Entry, Isa};
use oxidnn_runtime::Buf;
use oxidnn_spec::Error;

/// Bytes of a line of memory.
const LINE: usize = 64;

/// The kernels: for tiles of which nothing is read, and for those of which some lanes are not, because fully masked loads from unmapped memory
/// are slow, and so are on some processors masked stores of whole vectors.
#[derive(Clone, Debug)]
pub struct Permuter {
    /// Those that write all lanes.
    near: [Entry<Args>; 3],
    /// The same with non-temporal stores.
    streaming: Option<[Entry<Args>; 3]>,
    /// Those that write some lanes: partial tiles, and zeros.
    masked: [Entry<Args>; 2],
    /// Without AVX-512, whose masked loads cost no more than others: the kernel for partial tiles whose vectors can be read whole.
    whole_reads: Option<Entry<Args>>,
    kernel: Permute,
    lanes: usize,
}

/// The lanes of each vector of a tile that are read, that are written, and that exist among the latter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Masks {
    /// Those that are read.
    pub reads: [u16; LANES],
    /// Those that are written; lanes that do not exist are written as zeros.
    pub writes: [u16; LANES],
    /// Those of the written ones that exist.
    pub exists: [u16; LANES],
}

/// The places of tiles in source and destination, in bytes.
#[derive(Debug)]
pub struct Places {
    all: Vec<[usize; 2]>,
    farthest: [usize; 2],
    /// The bitwise OR of all places in the destination, which shows their alignment.
    bits: usize,
}

impl Places {
    /// A table of places.
    #[must_use]
    pub fn new(all: Vec<[usize; 2]>) -> Places {
        Places { farthest: farthest(&all), bits: all.iter().fold(0, |bits, place| bits | place[1]), all }
    }

    /// Whether all are multiples of `bytes` in the destination.
    #[must_use]
    pub fn are_at_multiples(&self, bytes: usize) -> bool {
        self.bits.is_multiple_of(bytes)
    }

    /// Number of places.
    #[must_use]
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether there are no places.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
}

/// The offsets of the vectors of a tile that are read and written, in bytes, and their masks.
#[derive(Clone, Debug)]
pub struct Vectors {
    tables: [Vec<usize>; 2],
    /// `None` if all lanes exist.
    masks: Option<Masks>,
    /// Bytes of source and destination that a tile reaches; `None` if nothing of them is accessed.
    reach: [Option<usize>; 2],
    /// Bytes of the source that whole vectors reach.
    whole_reach: usize,
    /// Whether all lanes are written; and the bitwise OR of the written offsets.
    whole: bool,
    bits: usize,
    /// Bytes of elements, and number of lanes.
    of: ([usize; 2], usize),
}

impl Vectors {
    /// The vectors of a tile, with elements of these sizes.
    #[must_use]
    pub fn new(tables: [Vec<usize>; 2], masks: Option<Masks>, (sizes, isa): ([usize; 2], Isa)) -> Vectors {
        let lanes = isa.width().lanes();
        let all = [u16::MAX >> (LANES - lanes); LANES];
        let of = |which: usize| masks.as_ref().map_or(&all, |masks| if which == 0 { &masks.reads } else { &masks.writes });
        let reach = [0, 1].map(|which| {
            let used = tables[which].iter().zip(of(which)).filter(|v| *v.1 != 0);
            used.map(|(at, mask)| at.saturating_add((LANES - mask.leading_zeros() as usize) * sizes[which])).max()
        });
        let whole_reach = tables[0].iter().map(|at| at.saturating_add(lanes * sizes[0])).max().unwrap_or(0);
        let whole = of(1)[..tables[1].len()] == all[..tables[1].len()];
        let bits = tables[1].iter().fold(0, |bits, at| bits | at);
        Vectors { tables, masks, reach, whole_reach, whole, bits, of: (sizes, lanes) }
    }

    /// Vectors that are read, that are written, and of the latter those of which only some lanes are.
    #[must_use]
    pub fn used(&self) -> [usize; 3] {
        let Some(masks) = &self.masks else { return [self.tables[0].len(), self.tables[1].len(), 0] };
        let whole = u16::MAX >> (LANES - self.of.1);
        let some = |masks: &[u16]| masks.iter().filter(|mask| **mask & whole != 0).count();
        let partly = masks.writes.iter().filter(|mask| **mask & whole != 0 && **mask & whole != whole).count();
        [some(&masks.reads), some(&masks.writes), partly]
    }
}

/// The farthest of some places in each tensor.
fn farthest(places: &[[usize; 2]]) -> [usize; 2] {
    places.iter().fold([0; 2], |most: [usize; 2], place| [most[0].max(place[0]), most[1].max(place[1])])
}

/// Tiles of one kind.
#[derive(Clone, Copy, Debug)]
pub struct Tiles<'t> {
    /// Memory of the source, and the byte offset from which places count.
    pub from: (Buf<'t>, usize),
    /// The same for the destination.
    pub to: (Buf<'t>, usize),
    /// The places of tiles, and how many of them, from the first on, are computed.
    pub places: (&'t Places, usize),
    /// Their vectors.
    pub vectors: &'t Vectors,
    /// The factors of elements: one for all, by lane of a vector, or by lane of each vector that is written.
    pub factors: [&'t [f32]; UNCHANGED.len()],
    /// The factor of the old elements of the destination, if the kernel adds these.
    pub adds: &'t f32,
}

/// The kernels that write all lanes: of whole tiles, of partial tiles, and of tiles of which nothing is read.
fn whole(isa: Isa, kernel: Permute) -> Result<[Entry<Args>; 3], Error> {
    let zeros = Permute { streaming: kernel.streaming, masked: Masked::No, ..kernel.of_zeros() };
    Ok([code::get(isa, &kernel)?, code::get(isa, &Permute { masked: Masked::Read, ..kernel })?, code::get(isa, &zeros)?])
}

impl Permuter {
    /// The kernels. Whole lines of f32 are stored non-temporally if they are `far`.
    ///
    /// # Errors
    /// As for [`code::get`].
    pub fn get(isa: Isa, kernel: Permute, far: bool) -> Result<Permuter, Error> {
        let streams = far && !kernel.adds && kernel.to == Elem::F32 && isa.width().bytes() == LINE;
        Ok(Permuter {
            near: whole(isa, kernel)?,
            streaming: if streams { Some(whole(isa, Permute { streaming: true, ..kernel })?) } else { None },
            masked: [code::get(isa, &Permute { masked: Masked::Both, ..kernel })?, code::get(isa, &kernel.of_zeros())?],
            whole_reads: if isa.avx512 { None } else { Some(code::get(isa, &Permute { masked: Masked::Written, ..kernel })?) },
            kernel,
            lanes: isa.width().lanes(),
        })
    }

    /// Computes tiles.
    ///
    /// # Panics
    /// If an element is outside its memory.
    pub fn run(&self, t: &Tiles<'_>) {
        let [reads, writes] = self.kernel.vectors.map(usize::from);
        let (all_places, count) = t.places;
        let places = &all_places.all[..count];
        if places.is_empty() {
            return;
        }
        let v = t.vectors;
        assert!(v.tables[0].len() == reads && v.tables[1].len() == writes, "{} by {} vectors", v.tables[0].len(), v.tables[1].len());
        let of = ([self.kernel.from, self.kernel.to].map(Elem::bytes), self.lanes);
        assert!(v.of == of, "vectors of {:?} for {of:?}", v.of);
        let most = if count == all_places.len() { all_places.farthest } else { farthest(places) };
        let reach = |which: usize| v.reach[which].map(|end| end.checked_add(most[which]));
        let (from, to) = (reach(0), reach(1));
        for (kind, numbers) in self.kernel.factors.iter().zip(t.factors) {
            let needed = match kind {
                Factor::None => 0,
                Factor::Same => 1,
                Factor::ByRow => LANES * if self.kernel.each { writes } else { 1 },
            };
            assert!(numbers.len() >= needed, "{} of {needed} factors", numbers.len());
        }
        let Some(to) = to else { return };
        let args = Args {
            // Nothing is reached where nothing is accessed.
            from: from.map_or(std::ptr::null(), |from| Read::from(t.from.0).at("source", t.from.1, from)),
            to: Written::from(t.to.0).at("permuted", t.to.1, to),
            tiles: places.as_ptr(),
            count,
            reads: v.tables[0].as_ptr(),
            writes: v.tables[1].as_ptr(),
            masks: v.masks.as_ref().map_or([std::ptr::null(); 3], |m| [m.reads.as_ptr(), m.writes.as_ptr(), m.exists.as_ptr()]),
            adds: t.adds,
            factors: std::array::from_fn(|i| if self.kernel.factors[i] == Factor::None { std::ptr::null() } else { t.factors[i].as_ptr() }),
        };
        let are_lines = || (args.to.addr() | all_places.bits | v.bits).is_multiple_of(LINE);
        let [whole, partial, zeros] = self.streaming.as_ref().filter(|_| v.whole && are_lines()).unwrap_or(&self.near);
        let readable = || most[0].checked_add(v.whole_reach)?.checked_add(t.from.1).filter(|end| *end <= t.from.0.len());
        let entry = match (&v.masks, from) {
            (None, _) => whole,
            (Some(_), None) if v.whole => zeros,
            (Some(_), None) => &self.masked[1],
            (Some(_), Some(_)) if v.whole => partial,
            (Some(_), Some(_)) => self.whole_reads.as_ref().filter(|_| readable().is_some()).unwrap_or(&self.masked[0]),
        };
        // SAFETY: all lanes of the vectors that are read and written are inside their memory, which was checked; tables are as long as the
        // kernel has vectors, masks as long as any kernel has vectors, and factors as long as this one needs.
        unsafe { entry.call(&args) }
    }
}
