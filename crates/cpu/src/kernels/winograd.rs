//! Winograd's `F(4x4, 3x3)` on vectors of channels: the generated kernels behind checks of all that they read and write. See
//! `oxidnn_jit::kernels::winograd` for the maths.
//!
//! One of the few files with unsafe code: every extent is compared with its buffer before a kernel is called.

use super::code;
use super::extent::{Read, Written, reach};
use super::microkernel::epilogue;
use super::microkernel::{Epilogue, EpilogueArgs};
use super::strip::{Finished, WithEpilogue};
use oxidnn_jit::kernels::winograd::products::{self, Fused, FusedArgs, Products, THIRD};
pub use oxidnn_jit::kernels::winograd::{POSITIONS, RESULTS, SIDE};
use oxidnn_jit::kernels::winograd::{ResultArgs, Results, Source, SourceArgs, WEIGHT_FACTORS, WeightArgs, Weights};
use oxidnn_jit::{Entry, Isa};
use oxidnn_runtime::Buf;
use oxidnn_spec::Error;
use std::ops::Range;

/// Thirds of the positions, which [`FusedMultiply`] computes one after the other.
pub const THIRDS: usize = POSITIONS / THIRD;

/// The transforms for an instruction set, with the epilogue of results.
#[derive(Clone, Debug)]
pub struct Transforms {
    source: Entry<SourceArgs>,
    weights: Entry<WeightArgs>,
    results: Entry<Finished<ResultArgs>>,
    epilogue: Epilogue,
    /// Bytes of a vector of sums.
    vector: usize,
}

/// Vectors of channels of pixels in memory; strides in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Pixels<'a> {
    /// The memory.
    pub data: Buf<'a>,
    /// From a pixel of a row to the next.
    pub pixel: usize,
    /// From a vector of channels to the next.
    pub channel: usize,
    /// Vectors of channels, at least 1.
    pub vectors: usize,
}

/// The transformed source of some tiles: for every chunk (a vector of channels) and position, the vectors of all tiles are contiguous.
/// Strides in elements.
#[derive(Clone, Copy, Debug)]
pub struct Chunks<'a> {
    /// The elements.
    pub data: &'a [f32],
    /// From a position to the next.
    pub position: usize,
    /// From a chunk to the next.
    pub chunk: usize,
    /// Number of chunks, at least 1.
    pub count: usize,
}

/// Sums of some tiles: by position, then by tile, then by vector.
#[derive(Debug)]
pub struct SumsOf<'a> {
    /// The elements.
    pub data: &'a mut [f32],
    /// Elements from a position to the next.
    pub position: usize,
}

/// The place of a tile in the source.
#[derive(Clone, Debug)]
pub struct Place<'a> {
    /// Byte offsets of column 0 of its rows; `None` for rows of zeros.
    pub rows: [Option<isize>; SIDE],
    /// Columns that exist; the others are zeros.
    pub columns: Range<usize>,
    /// Zeros for a row of six pixels of one vector.
    pub zeros: &'a [f32],
}

/// The destination of a transformed tile of the source. Strides in elements.
#[derive(Debug)]
pub struct Transformed<'a> {
    /// The elements, from the tile's first on.
    pub data: &'a mut [f32],
    /// From a position to the next.
    pub position: usize,
    /// From a vector of channels to the next.
    pub step: usize,
}

/// The destination of a tile's results.
#[derive(Clone, Debug)]
pub struct Tile<'a> {
    /// The memory.
    pub pixels: Pixels<'a>,
    /// Byte offsets of column 0 of its rows.
    pub rows: [isize; RESULTS],
    /// Rows and columns that exist.
    pub wanted: [usize; 2],
    /// Operands of the epilogue.
    pub operands: &'a EpilogueArgs<'a>,
    /// Channel of the first vector.
    pub column: usize,
}

/// How tiles are grouped for a kernel: this many groups of its rows, and this many of one row less.
pub type Heights = [usize; 2];

impl Pixels<'_> {
    /// The address of column 0 of a row at byte offset `row`, for a call that accesses the columns `columns`.
    ///
    /// # Panics
    /// If these are not inside the memory.
    fn row(&self, operand: &str, row: isize, columns: &Range<usize>, vector: usize) -> *mut u8 {
        let before = columns.start.checked_mul(self.pixel);
        let first = before.and_then(|before| before.checked_add_signed(row)).unwrap_or(usize::MAX);
        let reach = reach(&[(columns.len(), self.pixel), (self.vectors, self.channel)], vector);
        Written::from(self.data).at(operand, first, reach).wrapping_sub(before.unwrap_or(0))
    }
}

/// How `tiles` tiles are grouped, for the tallest kernel of at most `tallest` rows that is possible: its rows, and the numbers of groups.
pub fn heights(tiles: usize, tallest: usize) -> (usize, Heights) {
    let cut = |rows: usize| {
        let all = tiles.div_ceil(rows);
        let tall = tiles.checked_sub(all * (rows - 1))?;
        Some((rows, [tall, all - tall]))
    };
    (1..=tallest.max(1)).rev().find_map(cut).unwrap_or((1, [tiles, 0]))
}

/// Most rows of a kernel with `vectors` vectors whose sums fit into registers.
pub fn tallest(isa: Isa, vectors: usize) -> usize {
    let (sums, most) = if isa.avx512 { (24, 16) } else { (12, 8) };
    (sums / vectors.max(1)).clamp(1, most)
}

/// Bytes that nested rows of runs of `len` elements reach; each is a number and a stride. `None` on overflow.
fn words<const N: usize>(rows: [(usize, usize); N], len: usize) -> Option<usize> {
    reach(&rows, len)?.checked_mul(size_of::<f32>())
}

impl Transforms {
    /// The kernels, generated if they do not exist yet.
    ///
    /// # Errors
    /// [`Error::Runtime`] when the processor lacks the instruction set, or there is no executable memory.
    pub fn get(isa: Isa, epilogue: Epilogue) -> Result<Transforms, Error> {
        let vector = isa.width().bytes();
        let (source, weights) = (code::get(isa, &Source)?, code::get(isa, &Weights)?);
        let results = code::get(isa, &WithEpilogue { sums: Results, epilogue: epilogue.clone() })?;
        Ok(Transforms { source, weights, results, epilogue, vector })
    }

    /// Transforms a tile of the source.
    ///
    /// # Panics
    /// If it is not inside the memory.
    pub fn source(&self, from: &Pixels, at: &Place<'_>, to: Transformed<'_>) {
        let Place { rows, columns, zeros } = at;
        let columns = columns.start.min(SIDE)..columns.end.min(SIDE);
        let none = Read::from(*zeros).at("zeros", 0, if columns.is_empty() { Some(0) } else { reach(&[(SIDE, from.pixel)], self.vector) });
        let row = |row: Option<isize>| match row {
            Some(row) if !columns.is_empty() => from.row("source", row, &columns, self.vector).cast_const(),
            _ => none,
        };
        let numbers = words([(POSITIONS, to.position), (from.vectors, to.step)], self.vector / 4);
        let args = SourceArgs {
            rows: rows.map(row),
            channels: rows.map(|r| if r.is_some() { from.channel } else { 0 }),
            lanes: std::array::from_fn(|j| if columns.contains(&j) { self.vector / 4 } else { 0 }),
            pixel: from.pixel,
            vectors: from.vectors,
            to: Written::from(to.data).at("positions", 0, numbers),
            position: to.position * 4,
            step: to.step * 4,
        };
        // SAFETY: the pixels that are read are inside the memory or the zeros, the positions inside `to`, all of which were checked.
        unsafe { self.source.call(&args) }
    }

    /// Transforms contiguous vectors of weights, which begin at byte `first` of `from` for the first tap, and `tap` bytes further for every
    /// other one. The elements of a position are contiguous in `to`; positions are `position` elements apart.
    ///
    /// # Panics
    /// If these are not inside the memory.
    pub fn weights(&self, from: Buf, first: usize, tap: isize, vectors: usize, to: &mut [f32], position: usize) {
        // With a negative stride the last tap comes first.
        let all = reach(&[(9, tap.unsigned_abs()), (vectors, self.vector)], self.vector);
        let before = if tap < 0 { 8 * tap.unsigned_abs() } else { 0 };
        let taps = Read::from(from).at("weights", first.checked_sub(before).unwrap_or(usize::MAX), all);
        let numbers = words([(POSITIONS, position)], vectors * self.vector / 4);
        let to = Written::from(to).at("positions", 0, numbers);
        let args = WeightArgs { from: taps.wrapping_add(before), tap, vectors, to, position: position * 4 };
        // SAFETY: all taps are inside the memory, since the first and the last are, and the positions inside `to`.
        unsafe { self.weights.call(&args) }
    }

    /// Transforms the sums of a tile, runs the epilogue, and stores the results.
    ///
    /// # Panics
    /// If sums, operands of the epilogue or results are not inside their memory.
    pub fn results(&self, (from, position): (&[f32], usize), to: &Tile<'_>) {
        let Tile { pixels, rows, wanted, operands, column } = to;
        let (wanted, vectors) = (wanted.map(|n| n.min(RESULTS)), pixels.vectors);
        if wanted.contains(&0) {
            return;
        }
        let vector = self.vector / size_of::<f32>() * self.epilogue.dst_size();
        let sums = words([(POSITIONS, position), (vectors, self.vector / 4)], self.vector / 4);
        let row = |i: usize| if i < wanted[0] { pixels.row("result", rows[i], &(0..wanted[1]), vector) } else { std::ptr::null_mut() };
        let args = ResultArgs {
            from: Read::from(from).at("sums", 0, sums),
            position: position * 4,
            vectors,
            rows: std::array::from_fn(row),
            pixel: pixels.pixel,
            channel: pixels.channel,
            wanted,
        };
        let down = usize::try_from(rows[wanted[0] - 1] - rows[0]).ok();
        let across = reach(&[(wanted[1], pixels.pixel), (vectors, pixels.channel)], vector);
        let reach = down.zip(across).and_then(|(down, across)| down.checked_add(across));
        let results = epilogue::Results { column: *column, channels: vectors * self.vector / 4, at: args.rows[0], reach };
        let args = Finished::new(args, &self.epilogue, operands, results);
        // SAFETY: sums and the results that are stored are inside their memory, which was checked, and so are the operands of the epilogue.
        unsafe { self.results.call(&args) }
    }
}

/// Multiplies by transformed weights.
#[derive(Clone, Debug)]
pub struct Multiply {
    entry: Entry<products::Args>,
    key: Products,
    lanes: usize,
}

/// Transformed weights of a panel: for every chunk and position, the lines of the chunk's channels are contiguous. Strides in elements.
#[derive(Clone, Copy, Debug)]
pub struct Panel<'a> {
    /// The elements.
    pub data: &'a [f32],
    /// From a position to the next.
    pub position: usize,
    /// From a chunk to the next.
    pub chunk: usize,
}

impl Multiply {
    /// The kernel, generated if it does not exist yet.
    ///
    /// # Errors
    /// [`Error::Runtime`] when the processor lacks the instruction set, or there is no executable memory.
    pub fn get(isa: Isa, key: Products) -> Result<Multiply, Error> {
        Ok(Multiply { entry: code::get(isa, &key)?, key, lanes: isa.width().lanes() })
    }

    /// The products of all positions, to `sums`.
    ///
    /// # Panics
    /// If an operand or the sums are too short.
    pub fn run(&self, a: &Chunks<'_>, b: &Panel<'_>, tiles: Heights, sums: &mut SumsOf<'_>) {
        let (rows, vectors, lanes) = (usize::from(self.key.rows), usize::from(self.key.vectors), self.lanes);
        let count = tiles[0] * rows + tiles[1] * (rows - 1);
        let of_a = words([(POSITIONS, a.position), (a.count, a.chunk)], count * lanes);
        let of_b = words([(POSITIONS, b.position), (a.count, b.chunk)], lanes * usize::from(self.key.line) * lanes);
        let of_sums = words([(POSITIONS, sums.position)], count * vectors * lanes);
        let args = products::Args {
            a: Read::from(a.data).at("transformed source", 0, of_a),
            a_position: a.position * 4,
            a_chunk: a.chunk * 4,
            b: Read::from(b.data).at("transformed weights", 0, of_b),
            b_position: b.position * 4,
            b_chunk: b.chunk * 4,
            sums: Written::from(&mut *sums.data).at("sums", 0, of_sums),
            sums_position: sums.position * 4,
            chunks: a.count,
            tiles,
        };
        // SAFETY: operands and sums have all that the kernel accesses; without chunks there would be no reach.
        unsafe { self.entry.call(&args) }
    }
}

/// Multiplies by weights that it transforms.
#[derive(Clone, Debug)]
pub struct FusedMultiply {
    ends: Entry<FusedArgs>,
    pair: Entry<FusedArgs>,
    key: Fused,
    isa: Isa,
}

/// Vectors of weights in panels; strides in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Taps<'a> {
    /// The memory.
    pub data: Buf<'a>,
    /// Byte offset of the first tap's first channel.
    pub first: usize,
    /// From a tap to the next.
    pub tap: isize,
    /// From a channel to the next.
    pub line: usize,
}

impl FusedMultiply {
    /// The kernels, generated if they do not exist yet.
    ///
    /// # Errors
    /// [`Error::Runtime`] when the processor lacks the instruction set, or there is no executable memory.
    pub fn get(isa: Isa, rows: usize, vectors: usize) -> Result<FusedMultiply, Error> {
        let key = Fused { rows: rows as u8, vectors: vectors as u8, ends: true };
        Ok(FusedMultiply { ends: code::get(isa, &key)?, pair: code::get(isa, &Fused { ends: false, ..key })?, key, isa })
    }

    /// Elements of scratch for [`FusedMultiply::run`] with `vectors` vectors.
    pub fn scratch(isa: Isa, vectors: usize) -> usize {
        Fused { rows: 1, vectors: vectors as u8, ends: true }.scratch(isa) / 4
    }

    /// The products of all positions and `groups` times the kernel's vectors of weights, to `sums`, group by group.
    ///
    /// The outer loop is over chunks, so that weights are read once, and those of a chunk and the sums stay in L2.
    ///
    /// # Panics
    /// If an operand, the scratch or the sums are too short.
    pub fn run(&self, a: &Chunks<'_>, weights: &Taps, (tiles, groups): (Heights, usize), sums: &mut SumsOf<'_>, scratch: &mut [f32]) {
        let (rows, lanes) = (usize::from(self.key.rows), self.isa.width().lanes());
        let columns = usize::from(self.key.vectors) * lanes;
        let count = tiles[0] * rows + tiles[1] * (rows - 1);
        let group = POSITIONS * sums.position;
        assert!(count * columns <= sums.position, "{count} tiles of {columns} sums, {} apart", sums.position);
        let source = Read::from(a.data).at("transformed source", 0, words([(POSITIONS, a.position), (a.count, a.chunk)], count * lanes));
        let channels = reach(&[(a.count * lanes, weights.line), (groups, columns * 4)], columns * 4);
        let before = if weights.tap < 0 { 8 * weights.tap.unsigned_abs() } else { 0 };
        let taps = channels.and_then(|channels| reach(&[(9, weights.tap.unsigned_abs())], channels));
        let taps = Read::from(weights.data).at("weights", weights.first.checked_sub(before).unwrap_or(usize::MAX), taps);
        let all = words([(groups, group)], group);
        let scratch = Written::from(scratch).at("scratch", 0, Some(self.key.scratch(self.isa)));
        sums.data[..groups * group].fill(0.0);
        let sums_position = sums.position * 4;
        let sums = Written::from(&mut *sums.data).at("sums", 0, all);
        let mut args = FusedArgs {
            a: std::ptr::null(),
            a_position: a.position * 4,
            a_chunk: a.chunk * 4,
            weights: std::ptr::null(),
            tap: weights.tap,
            line: weights.line,
            b: scratch,
            sums: std::ptr::null_mut(),
            sums_position,
            chunks: 1,
            tiles,
            factors: [0.0; 3],
        };
        for chunk in 0..a.count {
            for at in 0..groups {
                args.weights = taps.wrapping_add(before + chunk * lanes * weights.line + at * columns * 4);
                for third in 0..THIRDS {
                    args.a = source.wrapping_add((chunk * a.chunk + third * THIRD * a.position) * 4);
                    args.sums = sums.wrapping_add(at * group * 4 + third * THIRD * sums_position);
                    args.factors = if third == 0 { [0.0; 3] } else { WEIGHT_FACTORS[third - 1] };
                    let entry = if third == 0 { &self.ends } else { &self.pair };
                    // SAFETY: source, weights, scratch and sums have all that the kernel accesses in all chunks and groups.
                    unsafe { entry.call(&args) }
                }
            }
        }
    }
}
