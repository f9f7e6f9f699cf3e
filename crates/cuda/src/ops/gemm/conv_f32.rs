//! `conv:f32`: convolution and deconvolution of f32 in IEEE arithmetic on CUDA cores, in all directions, of NHWC (`kernels/conv_f32.cu`,
//! `kernels/conv_weights_f32.cu`). Bound by the FMA rate, as `gemm:f32` is, whose tiles they have.

use super::conv::{TOGETHER, WALKS, Walk, Window, direction, grouped, inner_first};
use super::rows::values;
use super::simt::{Tile, added};
use super::weights::{Parts, Pass, add, lower_by};
use super::{Declared, GROUP, check_attributes, epilogue, pairs, pixel_step, plain};
use crate::CudaTarget;
use crate::emit::{Emitter, Tail};
use crate::ops::ceil;
use crate::program::{Launch, MapPlace, OVERFLOW, Program, Word};
use oxidnn_runtime::Skip;
use oxidnn_spec::{Arg, Blocking, DataType, Problem, Prop, Tensor};

/// Elements that 32-bit offsets reach.
const REACH: i64 = i32::MAX as i64 / 2;

/// Convolution or deconvolution without groups.
pub(crate) fn lower(problem: &Problem, target: &CudaTarget) -> Result<Program, Skip> {
    check_attributes(problem)?;
    let (channels, direction) = direction(problem)?;
    if direction.prop == Prop::BackwardWeights {
        return lower_by(
            problem,
            direction,
            [channels.src, channels.weights],
            (&|pass, scratch, target| pass.simt(scratch, target), target),
        );
    }
    Window::new(problem, channels, direction)?.simt(target)
}

/// The strides of an NHWC tensor of f32, whose elements 32-bit offsets reach, and whether groups of four channels of every pixel are aligned.
fn channels_last(t: &Tensor) -> Result<(&Blocking, bool), Skip> {
    let b = plain(t)?;
    if t.dtype != DataType::F32 {
        return Err(Skip::DataType(t.dtype.to_string()));
    }
    let others = || (0..t.dims().len()).filter(|&d| d != 1 && t.dims()[d] != 1);
    if b.strides[1] != 1 && t.dims()[1] != 1 || others().any(|d| b.strides[d] < 0) {
        return Err(Skip::Layout("channels that are not next to each other".into()));
    }
    let last = others().try_fold(t.dims()[1], |n, d| n.checked_add((t.dims()[d] - 1).checked_mul(b.strides[d])?));
    if last.is_none_or(|n| n > REACH) {
        return Err(Skip::Shape("very large tensors"));
    }
    Ok((b, b.offset % 4 == 0 && others().all(|d| b.strides[d] % 4 == 0)))
}

/// Strides along W, H, D and N; 0 for dimensions that the tensor does not have.
fn pitch(t: &Tensor, b: &Blocking) -> [i64; 4] {
    let n = t.dims().len();
    let of = |i: usize| if i + 2 < n { b.strides[n - 1 - i] } else { 0 };
    [of(0), of(1), of(2), b.strides[0]]
}

fn spatial(deep: bool) -> i64 {
    if deep { 3 } else { 2 }
}

/// What all launches of a pass have in common.
struct Operands<'a> {
    read: &'a Blocking,
    written: &'a Blocking,
    aligned: bool,
    weights: MapPlace,
}

impl Window<'_> {
    /// The launches.
    fn simt(&self, target: &CudaTarget) -> Result<Program, Skip> {
        let ((read, spaced), (written, _)) = (channels_last(self.from.1)?, channels_last(self.to.1)?);
        channels_of_f32(self.channels.weights)?;
        let groups = grouped(self.walks(WALKS)?);
        let mut program = Program::or_unaligned(self.otherwise, self.problem, target)?;
        let weights = self.filter(&mut program, target)?;
        let operands = Operands { read, written, aligned: spaced, weights };
        // Several walks of three dimensions take more registers than there are.
        let together = if self.deep() { 1 } else { TOGETHER };
        for walks in groups.iter().flat_map(|(walks, _)| walks.chunks(together)) {
            self.simt_walks(walks, &operands, &mut program, target)?;
        }
        program.unaligned = program.unaligned.filter(|_| spaced);
        Ok(program)
    }

    /// Appends the launches for walks of the same size.
    fn simt_walks(&self, walks: &[Walk], operands: &Operands<'_>, program: &mut Program, target: &CudaTarget) -> Result<(), Skip> {
        let Operands { read, written, aligned, weights } = *operands;
        let (z, held, [grid, _]) = (&self.z, self.held(), self.grids());
        let (size, stride) = (walks[0].size, walks[0].stride);
        let pixels = size.iter().try_fold(z.mb, |n, &s| n.checked_mul(s)).filter(|&n| n <= REACH).ok_or(Skip::Shape("very many pixels"))?;
        let depth = |w: &Walk| w.count().saturating_mul(held);
        let all: i64 = z.k.iter().product::<i64>().saturating_mul(held);
        if all.saturating_mul(self.made) > REACH {
            return Err(Skip::Shape("very large weights"));
        }
        let is_single = walks.len() == 1 && walks[0].residue == [0; 3] && size == self.grids()[1];
        let step = pixel_step(self.to.1, written, 0).filter(|_| is_single);
        let most = walks.iter().map(depth).max().unwrap_or(0);
        let sizes = [pixels, self.made, most.max(1), walks.len() as i64];
        let (tile, part) = Tile::best(sizes, step.is_some(), target);
        let ([down, across], parts) = (tile.count(sizes), ceil(sizes[2], part));
        let partial = match (parts, pixels.checked_mul(self.made * 4 * parts)) {
            (1, _) => None,
            (_, bytes) => Some(program.book(bytes.and_then(|b| usize::try_from(b).ok()).ok_or(OVERFLOW)?)?),
        };
        let residues: [[i64; 3]; TOGETHER] = std::array::from_fn(|i| walks.get(i).map_or([0; 3], |w| w.residue));
        let apart = (!is_single).then_some((size, z.s, &residues[..]));
        let declare = |emit: &mut Emitter| {
            if self.forward { self.channels.declare(self.problem, apart, emit) } else { Ok(Declared::default()) }
        };
        let mut emit = epilogue(self.problem, self.to.0, &declare)?;
        tile.options(&mut emit);
        let to = pitch(self.to.1, written);
        let scale: [i64; 3] = if is_single { [1; 3] } else { inner_first(z.s) };
        let place = [to[0] * scale[0], to[1] * scale[1], to[2] * scale[2], to[3]];
        let whole = self.made % 4 == 0 && written.offset % 4 == 0 && to.iter().all(|s| s % 4 == 0);
        for (name, value) in [
            ("SPATIAL", spatial(self.deep())),
            ("WALKS", if walks.len() > 1 { TOGETHER as i64 } else { 1 }),
            ("ALIGNED", i64::from(aligned)),
            ("C_ALIGNED", i64::from(whole)),
        ] {
            emit.option(name, value);
        }
        let from = pitch(self.from.1, read);
        let c = Word::Offset { arg: self.to.0, bytes: (written.offset * 4) as u64 };
        let source = MapPlace::Arg(self.from.0, (read.offset * 4) as u64);
        let mut words = vec![source.word(), weights.word(), c];
        let mut ints = vec![pixels, self.made, part, self.given, held, down, across, GROUP];
        for v in [size, stride, grid] {
            ints.extend(inner_first(v));
        }
        ints.push(all);
        ints.extend(from);
        words.extend(pairs(&ints));
        words.extend(values(&place));
        words.push(partial.map_or(Word::Value(0), Word::Scratch));
        for i in 0..if walks.len() > 1 { TOGETHER } else { 1 } {
            words.extend(walks.get(i).map_or([Word::Value(0); 8], |w| self.walk_words(w, depth(w), to)));
        }
        let mut launch = emit.epilogue_of("conv_f32", words);
        launch.grid = [(down * across) as u32, walks.len() as u32, parts as u32];
        tile.shape(&mut launch);
        if aligned {
            launch.aligned = std::iter::once(source).chain(std::iter::once(weights).filter(|w| matches!(w, MapPlace::Arg(..)))).collect();
            if whole {
                launch.aligned.push(MapPlace::Arg(self.to.0, (written.offset * 4) as u64));
            }
        }
        program.launches.push(launch);
        if let (Some(at), Some(step)) = (partial, step) {
            let emit = epilogue(self.problem, self.to.0, &declare)?;
            program.launches.push(added(emit, at, [parts, 1, pixels, self.made], (c, [step, 1, 0])));
        }
        Ok(())
    }

    /// The kernel's `Walk`.
    fn walk_words(&self, walk: &Walk, depth: i64, to: [i64; 4]) -> [Word; 8] {
        let (held, taps) = (self.held(), if walk.count() == 0 { [1; 3] } else { walk.taps });
        let spaced = [self.z.k[1] * self.z.k[2] * held, self.z.k[2] * held, held];
        let first: i64 = std::iter::zip(walk.first, spaced).map(|(f, s)| f * s).sum();
        let mut ints = Vec::with_capacity(14);
        for v in [taps, walk.start, walk.offset, std::array::from_fn(|d| walk.step[d] * spaced[d])] {
            ints.extend(inner_first(v));
        }
        ints.extend([first, depth]);
        let at: i64 = std::iter::zip(inner_first(walk.residue), to).map(|(r, s)| r * s).sum();
        let mut words = [Word::Value(at as u64); 8];
        words[..7].copy_from_slice(&pairs(&ints));
        words
    }
}

/// Checks the weights' type and strides.
fn channels_of_f32(weights: &Tensor) -> Result<(), Skip> {
    plain(weights)?;
    if weights.dtype == DataType::F32 { Ok(()) } else { Err(Skip::DataType(weights.dtype.to_string())) }
}

impl Pass<'_> {
    /// The launches, whose scratch begins at offset `scratch`.
    fn simt(&self, scratch: usize, target: &CudaTarget) -> Result<Program, Skip> {
        let (small, large, z) = (self.small.1, self.large.1, &self.z);
        if self.gradient.dtype != DataType::F32 || !Tail::of(self.problem, Arg::DIFF_WEIGHTS, self.gradient).is_plain() {
            return Err(self.types());
        }
        if z.g != 1 || self.gradient.dims().len() != small.dims().len() || [small, large, self.gradient].iter().any(|t| t.is_empty()) {
            return Err(Skip::Shape("groups, or no elements"));
        }
        let ((s, small_aligned), (l, large_aligned)) = (channels_last(small)?, channels_last(large)?);
        let step = pixel_step(small, s, 0).ok_or_else(|| Skip::Layout("pixels that are not evenly spaced".into()))?;
        let (rows, channels, pixels) = (small.dims()[1], large.dims()[1], self.pixels(1));
        let held = ceil(channels, 4) * 4;
        let columns = z.k.iter().try_fold(held, |n, &k| n.checked_mul(k)).ok_or(OVERFLOW)?;
        let elements = rows.checked_mul(columns).filter(|&n| n <= REACH).ok_or(Skip::Shape("very large weights"))?;
        let mut program = Program { scratch, ..Program::default() };
        let (to, copied) = self.destination(&mut program, held)?;
        let sizes = [rows, columns, pixels, 1];
        let (tile, part) = Tile::best(sizes, true, target);
        let parts = ceil(pixels, part);
        let place = match parts {
            1 => to,
            _ => {
                let bytes = elements.checked_mul(4 * parts).and_then(|b| usize::try_from(b).ok());
                MapPlace::Scratch(program.book(bytes.ok_or(OVERFLOW)?)?)
            }
        };
        let mut emit = epilogue(self.problem, Arg::DIFF_WEIGHTS, &|_| Ok(Declared::default()))?;
        tile.options(&mut emit);
        let aligned = small_aligned && large_aligned;
        emit.option("SPATIAL", spatial(self.deep()));
        emit.option("ALIGNED", i64::from(aligned));
        let sources = [(self.small.0, s), (self.large.0, l)].map(|(arg, b)| MapPlace::Arg(arg, (b.offset * 4) as u64));
        let mut words = vec![sources[0].word(), sources[1].word(), place.word()];
        words.extend(pairs(&self.simt_numbers(sizes, part, held, &tile, pitch(large, l))));
        words.push(Word::Value(step as u64));
        let mut launch: Launch = emit.epilogue_of("conv_weights_f32", words);
        let [down, across] = tile.count(sizes);
        launch.grid = [(down * across) as u32, 1, parts as u32];
        tile.shape(&mut launch);
        // The kernel stores vectors in any case.
        launch.aligned =
            sources.into_iter().filter(|_| aligned).chain([place].into_iter().filter(|p| matches!(p, MapPlace::Arg(..)))).collect();
        program.launches.push(launch);
        if let (MapPlace::Scratch(at), true) = (place, parts > 1) {
            program.launches.push(add(self.problem, Parts { count: parts, rows, columns, at }, "T_F32", to, [columns, 1])?);
        }
        program.launches.extend(copied);
        Ok(program)
    }

    /// The kernel's 32-bit parameters.
    fn simt_numbers(&self, sizes: [i64; 4], part: i64, held: i64, tile: &Tile, pitch: [i64; 4]) -> Vec<i64> {
        let ([m, n, k, _], [size, read], z) = (sizes, self.sizes, &self.z);
        let [down, across] = tile.count(sizes);
        let mut ints = vec![m, n, k, part, self.large.1.dims()[1], held, down, across, GROUP];
        for v in [z.k, size, z.s, z.pl.map(|p| -p), z.d, read] {
            ints.extend(inner_first(v));
        }
        // The pixels of a thread are so many apart.
        let mut left = tile.threads() / (tile.size()[1] / 4);
        for size in inner_first(size) {
            ints.push(left % size);
            left /= size;
        }
        ints.push(left);
        ints.extend(pitch);
        ints
    }
}
