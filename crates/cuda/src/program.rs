//! What a plan decides: launches of kernels, each with the words of its arguments.
//!
//! A [`Program`] is plain data made from a problem and a target, on any host. Kernels get one structure of 64-bit words by value; words are known
//! when the program is made, or are addresses of arguments and scratch that an execution has.

use crate::CudaTarget;
use crate::row::Lower;
use oxidnn_runtime::Skip;
use oxidnn_spec::{Arg, DataType, Problem};
use std::sync::Arc;

/// One 64-bit word of a kernel's arguments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Word {
    /// A number.
    Value(u64),
    /// The address of buffer `buffer` of an argument.
    Address {
        /// Whose.
        arg: Arg,
        /// Which buffer; 0 unless it is sparse.
        buffer: usize,
    },
    /// The bits of a number that the caller keeps on the host.
    HostScalar(Arg),
    /// An address so many bytes into the scratch.
    Scratch(usize),
    /// The address of a dense argument, so many bytes further.
    Offset {
        /// Whose.
        arg: Arg,
        /// How much further.
        bytes: u64,
    },
}

/// Elements as the tensor copy engine sees them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MapKind {
    /// Bytes of any meaning.
    Bytes,
    /// f16.
    Half,
    /// bf16.
    Brain,
    /// f32.
    Single,
    /// f32, of which tf32 is loaded, rounded to nearest.
    Rounded,
    /// s32.
    Whole,
    /// Eight bytes of any meaning.
    Words,
}

impl MapKind {
    /// That of a data type of 8, 16 or 32 bits.
    pub fn of(dtype: DataType) -> MapKind {
        match dtype {
            DataType::F16 => MapKind::Half,
            DataType::Bf16 => MapKind::Brain,
            DataType::F32 => MapKind::Single,
            DataType::S32 => MapKind::Whole,
            _ => MapKind::Bytes,
        }
    }
}

/// Where a mapped tensor lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MapPlace {
    /// In the memory of an argument, so many bytes from its beginning.
    Arg(Arg, u64),
    /// So many bytes into the scratch.
    Scratch(usize),
}

/// What one copy moves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MapTile {
    /// A box of these sizes.
    Box([u32; 5]),
    /// Pixels under one element of a convolution's kernel, with some of their channels.
    Window {
        /// Where the first pixel is before the padding, by W, H, D.
        lower: [i32; 3],
        /// Where the last one is, from the last pixel on.
        upper: [i32; 3],
        /// Channels.
        channels: u32,
        /// Pixels.
        pixels: u32,
        /// The convolution's strides, those of channels and batch 1.
        steps: [u32; 5],
    },
}

/// How rows of what is copied are mixed in shared memory, so that neither copies nor products meet in a bank.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Swizzle {
    /// Not at all.
    None,
    /// Within 64 bytes.
    Half,
    /// Within 128 bytes.
    Full,
}

/// What the tensor copy engine (TMA) is to know of a tensor, dimensions innermost first; beyond it are zeros.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TensorMap {
    /// Where it lies; the address must be a multiple of 16.
    pub place: MapPlace,
    /// Type of the elements.
    pub kind: MapKind,
    /// Number of dimensions, 3 to 5.
    pub rank: usize,
    /// Sizes.
    pub dims: [u64; 5],
    /// Bytes from one index to the next of all dimensions but the innermost, multiples of 16.
    pub strides: [u64; 4],
    /// What one copy moves.
    pub tile: MapTile,
    /// How it lies in shared memory.
    pub swizzle: Swizzle,
}

impl TensorMap {
    /// A tensor moved by boxes: three to five sizes and as many of a box, and a stride less.
    pub fn boxes(place: MapPlace, kind: MapKind, dims: &[u64], strides: &[u64], tile: &[u32]) -> TensorMap {
        let one = |v: &[u64], i: usize| v.get(i).copied().unwrap_or(1);
        TensorMap {
            place,
            kind,
            rank: dims.len().clamp(3, 5),
            dims: std::array::from_fn(|i| one(dims, i)),
            strides: std::array::from_fn(|i| strides.get(i).copied().unwrap_or(0)),
            tile: MapTile::Box(std::array::from_fn(|i| tile.get(i).copied().unwrap_or(1))),
            swizzle: Swizzle::Full,
        }
    }
}

/// Source text of a kernel: what its code depends on, and nothing else.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Source {
    /// The file with the kernel, a name of the registry.
    pub file: &'static str,
    /// Macros that the kernel is compiled with, a header of `#define`s.
    pub options: Arc<str>,
    /// The generated header, by the name that the kernel includes: structure of arguments, accessors, formulas.
    pub header: Arc<str>,
}

/// One launch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Launch {
    /// The kernel; its function has the name of the file.
    pub source: Arc<Source>,
    /// Maps of tensors, the kernel's first parameters.
    pub maps: Vec<TensorMap>,
    /// Its arguments, the last parameter.
    pub words: Vec<Word>,
    /// Memory besides that of the maps whose address must be a multiple of 16.
    pub aligned: Vec<MapPlace>,
    /// All blocks run at once, as they wait for each other.
    pub resident: bool,
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: u32,
    /// Blocks of a cluster.
    pub cluster: u32,
    /// Bytes of dynamic shared memory.
    pub shared: u32,
}

impl Launch {
    /// A launch without maps, clusters and dynamic shared memory.
    pub fn new(source: Arc<Source>, words: Vec<Word>, grid: [u32; 3], block: u32) -> Launch {
        Launch { source, maps: Vec::new(), words, aligned: Vec::new(), resident: false, grid, block, cluster: 1, shared: 0 }
    }

    /// Lets the launch behind this one of the same program run beside it (`kernels/launch.cuh`): neither reads nor writes what the other writes, and both are copies,
    /// `map` or `transpose`, or those of `window_pack.cu`.
    pub fn lead(&mut self, next: &mut Launch) {
        if self.source.file == "transpose" {
            self.define("LEADS");
        }
        next.define("BESIDE");
    }

    fn define(&mut self, name: &str) {
        let Source { file, options, header } = &*self.source;
        let options = format!("{options}#define {name} 1\n").into();
        self.source = Arc::new(Source { file, options, header: Arc::clone(header) });
    }
}

/// What runs where memory that must be aligned to 16 bytes (that of a [`TensorMap`], [`Launch::aligned`]) is not, which only an execution shows.
#[derive(Clone, Debug)]
pub enum Unaligned {
    /// These launches.
    Made(Box<Program>),
    /// What this makes of the same problem: lowered when it is wanted first, which it rarely is.
    Later(Lower),
}

impl Unaligned {
    /// The launches, for the problem and the target of the program that they stand behind.
    ///
    /// # Errors
    /// Why there are none.
    pub fn program(&self, problem: &Problem, target: &CudaTarget) -> Result<Program, Skip> {
        match self {
            Unaligned::Made(program) => Ok((**program).clone()),
            Unaligned::Later(lower) => lower(problem, target),
        }
    }
}

/// The launches of an operation, in order.
#[derive(Clone, Default, Debug)]
pub struct Program {
    /// The launches.
    pub launches: Vec<Launch>,
    /// Bytes of scratch that they share.
    pub scratch: usize,
    /// What runs instead where memory is not aligned, in the same scratch.
    pub unaligned: Option<Unaligned>,
}

/// Alignment of parts of the scratch, in bytes.
const PART: usize = 256;

impl Program {
    /// No launches yet; where memory is not aligned those that `lower` makes, whose scratch is booked, unless another program encloses this one.
    pub(crate) fn or_unaligned(lower: Lower, problem: &Problem, target: &CudaTarget) -> Result<Program, Skip> {
        if target.is_enclosed() {
            return Ok(Program::default());
        }
        let scratch = lower(problem, &target.sketch())?.scratch;
        Ok(Program { scratch, unaligned: Some(Unaligned::Later(lower)), ..Program::default() })
    }

    /// Books `bytes` of scratch and gives their offset; `None` where the sizes overflow.
    pub fn book(&mut self, bytes: usize) -> Option<usize> {
        let at = self.scratch;
        self.scratch = at.checked_add(bytes)?.checked_next_multiple_of(PART)?;
        Some(at)
    }

    /// The same launches with every place changed: `arg` of a word or a map, and how far it is inside.
    fn placed(mut self, arg: impl Fn(Arg, u64) -> MapPlace, scratch: impl Fn(usize) -> usize) -> Program {
        let place = |p: MapPlace| match p {
            MapPlace::Arg(a, bytes) => arg(a, bytes),
            MapPlace::Scratch(at) => MapPlace::Scratch(scratch(at)),
        };
        let word = |w: Word| match w {
            Word::Scratch(at) => Word::Scratch(scratch(at)),
            Word::Address { arg: a, buffer: 0 } => match arg(a, 0) {
                MapPlace::Arg(arg, 0) => Word::Address { arg, buffer: 0 },
                MapPlace::Arg(arg, bytes) => Word::Offset { arg, bytes },
                MapPlace::Scratch(at) => Word::Scratch(at),
            },
            Word::Offset { arg: a, bytes } => match arg(a, bytes) {
                MapPlace::Arg(arg, bytes) => Word::Offset { arg, bytes },
                MapPlace::Scratch(at) => Word::Scratch(at),
            },
            other => other,
        };
        for launch in &mut self.launches {
            launch.words.iter_mut().for_each(|w| *w = word(*w));
            launch.maps.iter_mut().for_each(|m| m.place = place(m.place));
            launch.aligned.iter_mut().for_each(|p| *p = place(*p));
        }
        self
    }

    /// The launches alone, with the scratch behind the first `bytes` of it.
    pub fn shifted(self, bytes: usize) -> Program {
        let scratch = self.scratch + bytes;
        Program { scratch, unaligned: None, ..self.placed(MapPlace::Arg, |at| at + bytes) }
    }

    /// The launches with what is passed as `arg` at another place.
    pub fn moved(self, arg: Arg, to: MapPlace) -> Program {
        let there = |a, bytes: u64| match to {
            _ if a != arg => MapPlace::Arg(a, bytes),
            MapPlace::Arg(other, first) => MapPlace::Arg(other, first + bytes),
            MapPlace::Scratch(at) => MapPlace::Scratch(at + bytes as usize),
        };
        self.placed(there, |at| at)
    }
}
