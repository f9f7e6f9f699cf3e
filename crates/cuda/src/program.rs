//! The result of planning: a list of kernel launches.
//!
//! A [`Program`] is plain data, computed from a problem and a target on any host, without a GPU. A [`Launch`] has the kernel's source, TMA descriptors, grid,
//! CTA and cluster sizes, shared memory, and the parameters: one structure of 64-bit [`Word`]s, passed by value. A word is a number known at planning, or an
//! address of an argument or of scratch, which an execution fills in (`exec`).

use crate::CudaTarget;
use crate::row::Lower;
use oxidnn_runtime::Skip;
use oxidnn_spec::{Arg, DataType, Problem};
use std::sync::Arc;

/// One 64-bit word of a kernel's parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Word {
    /// A number.
    Value(u64),
    /// The address of buffer `buffer` of an argument.
    Address {
        /// The argument.
        arg: Arg,
        /// The buffer; 0 for dense tensors.
        buffer: usize,
    },
    /// The bits of a host scalar.
    HostScalar(Arg),
    /// An address at this offset in the scratch.
    Scratch(usize),
    /// The address of a dense argument plus an offset.
    Offset {
        /// The argument.
        arg: Arg,
        /// The offset.
        bytes: u64,
    },
}

/// The element type of a TMA descriptor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MapKind {
    /// 8 bits of any type.
    Bytes,
    /// f16.
    Half,
    /// bf16.
    Brain,
    /// f32.
    Single,
    /// f32 that TMA rounds to TF32 (to nearest) on loading.
    Rounded,
    /// s32.
    Whole,
    /// 64 bits of any type.
    Words,
}

impl MapKind {
    /// The kind of a data type of 8, 16 or 32 bits.
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

/// Where a tensor is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MapPlace {
    /// In the memory of an argument, at this offset in bytes.
    Arg(Arg, u64),
    /// In the scratch, at this offset in bytes.
    Scratch(usize),
}

impl MapPlace {
    /// Its address.
    pub(crate) fn word(self) -> Word {
        match self {
            MapPlace::Arg(arg, bytes) => Word::Offset { arg, bytes },
            MapPlace::Scratch(at) => Word::Scratch(at),
        }
    }
}

/// What one TMA instruction copies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MapTile {
    /// Tiled mode: a box of these sizes.
    Box([u32; 5]),
    /// im2col mode: pixels under one tap of a convolution's filter, with some of their channels.
    Window {
        /// Lower corner of the bounding box, relative to the first pixel, along W, H, D.
        lower: [i32; 3],
        /// Upper corner, relative to the last pixel.
        upper: [i32; 3],
        /// Channels per pixel.
        channels: u32,
        /// Pixels per column.
        pixels: u32,
        /// Element strides: those of the convolution, 1 for channels and batch.
        steps: [u32; 5],
    },
}

/// The swizzle mode of copies in shared memory, against bank conflicts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Swizzle {
    /// No swizzle.
    None,
    /// 64-byte swizzle.
    Half,
    /// 128-byte swizzle.
    Full,
}

/// A TMA descriptor before it is encoded; dimensions innermost first. Elements out of bounds read as zeros.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TensorMap {
    /// Where the tensor is; the address must be a multiple of 16.
    pub place: MapPlace,
    /// Type of the elements.
    pub kind: MapKind,
    /// Number of dimensions, 3 to 5.
    pub rank: usize,
    /// Sizes.
    pub dims: [u64; 5],
    /// Strides of all dimensions but the innermost, in bytes, multiples of 16.
    pub strides: [u64; 4],
    /// What one instruction copies.
    pub tile: MapTile,
    /// The layout in shared memory.
    pub swizzle: Swizzle,
}

impl TensorMap {
    /// A descriptor in tiled mode with 128-byte swizzle: three to five sizes, as many of the box, and one stride less.
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

/// The source of a kernel: everything that its code depends on. Sizes, strides and addresses are parameters instead, so new shapes compile nothing.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Source {
    /// The kernel's file, by its name in `compile::files`.
    pub file: &'static str,
    /// Defines that the kernel is compiled with, as a header.
    pub options: Arc<str>,
    /// The generated header (`args.cuh` or `epilogue.cuh`): parameter structure, accessors, formulas.
    pub header: Arc<str>,
}

/// One kernel launch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Launch {
    /// The kernel; its `__global__` function has the name of the file.
    pub source: Arc<Source>,
    /// TMA descriptors, the kernel's first parameters.
    pub maps: Vec<TensorMap>,
    /// The words of its parameter structure, the last parameter.
    pub words: Vec<Word>,
    /// Further memory whose address must be a multiple of 16, for vector accesses.
    pub aligned: Vec<MapPlace>,
    /// A cooperative launch: all CTAs are co-resident, because they wait for each other.
    pub resident: bool,
    /// CTAs along each dimension.
    pub grid: [u32; 3],
    /// Threads per CTA.
    pub block: u32,
    /// CTAs per cluster.
    pub cluster: u32,
    /// Dynamic shared memory in bytes.
    pub shared: u32,
}

impl Launch {
    /// A launch without TMA descriptors, clusters and dynamic shared memory.
    pub fn new(source: Arc<Source>, words: Vec<Word>, grid: [u32; 3], block: u32) -> Launch {
        Launch { source, maps: Vec::new(), words, aligned: Vec::new(), resident: false, grid, block, cluster: 1, shared: 0 }
    }

    /// Lets the next launch of the same program run concurrently with this one (`kernels/launch.cuh`, `BESIDE`): neither reads nor writes what the other writes,
    /// and both are copies (`map`, `transpose` or the kernels of `window_pack.cu`).
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

/// The program that runs instead if an address that must be a multiple of 16 bytes ([`TensorMap`], [`Launch::aligned`]) is not, which is known only at execution.
#[derive(Clone, Debug)]
pub enum Unaligned {
    /// This program.
    Made(Box<Program>),
    /// The program that this lowers the same problem to, when it is first needed.
    Later(Lower),
}

impl Unaligned {
    /// The program, for the problem and target of the program that it replaces.
    ///
    /// # Errors
    /// Why it does not apply.
    pub fn program(&self, problem: &Problem, target: &CudaTarget) -> Result<Program, Skip> {
        match self {
            Unaligned::Made(program) => Ok((**program).clone()),
            Unaligned::Later(lower) => lower(problem, target),
        }
    }
}

/// The plan of an operation: launches in stream order.
#[derive(Clone, Default, Debug)]
pub struct Program {
    /// The launches.
    pub launches: Vec<Launch>,
    /// Bytes of scratch that the launches share.
    pub scratch: usize,
    /// What runs instead if memory is not aligned, in the same scratch.
    pub unaligned: Option<Unaligned>,
}

/// Declines sizes whose products no integer holds.
pub(crate) const OVERFLOW: Skip = Skip::Shape("sizes that overflow");

/// Alignment of allocations in the scratch, in bytes.
const PART: usize = 256;

impl Program {
    /// A program without launches yet, whose alternative for unaligned memory is what `lower` makes; the scratch of that is booked. A program that becomes part
    /// of another one has no alternative.
    pub(crate) fn or_unaligned(lower: Lower, problem: &Problem, target: &CudaTarget) -> Result<Program, Skip> {
        if target.is_enclosed() {
            return Ok(Program::default());
        }
        let scratch = lower(problem, &target.sketch())?.scratch;
        Ok(Program { scratch, unaligned: Some(Unaligned::Later(lower)), ..Program::default() })
    }

    /// Allocates `bytes` of scratch and returns their offset.
    ///
    /// # Errors
    /// [`Skip`] for sizes that overflow.
    pub fn book(&mut self, bytes: usize) -> Result<usize, Skip> {
        let end = self.scratch.checked_add(bytes).and_then(|end| end.checked_next_multiple_of(PART)).ok_or(OVERFLOW)?;
        Ok(std::mem::replace(&mut self.scratch, end))
    }

    /// Relocates the launches: `arg` maps places in arguments, `scratch` offsets in the scratch.
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

    /// The launches with their scratch moved up by `bytes`, without the alternative for unaligned memory.
    pub fn shifted(self, bytes: usize) -> Program {
        let scratch = self.scratch + bytes;
        Program { scratch, unaligned: None, ..self.placed(MapPlace::Arg, |at| at + bytes) }
    }

    /// The launches with the memory of `arg` replaced by another place.
    pub fn moved(self, arg: Arg, to: MapPlace) -> Program {
        let there = |a, bytes: u64| match to {
            _ if a != arg => MapPlace::Arg(a, bytes),
            MapPlace::Arg(other, first) => MapPlace::Arg(other, first + bytes),
            MapPlace::Scratch(at) => MapPlace::Scratch(at + bytes as usize),
        };
        self.placed(there, |at| at)
    }
}
