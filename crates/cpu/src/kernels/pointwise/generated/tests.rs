use super::super::{Builder, Nest, Place};
use super::*;
use crate::Isa as Portable;
use crate::hardware::Caches;
use oxidnn_runtime::queue::Immediate;
use oxidnn_runtime::{Bound as Argument, Buf, Region};
use oxidnn_spec::op::{BinaryAlg, EltwiseAlg};
use oxidnn_spec::text::{Settings, parse_line};
use oxidnn_spec::{Arg, Use};
use std::sync::Arc;

fn targets() -> impl Iterator<Item = CpuTarget> {
    let present = [Portable::Avx512, Portable::Avx2].into_iter().filter(|isa| isa.is_present());
    present.map(|isa| CpuTarget::within(isa, 1)).filter(|t| t.jit.is_some())
}

/// An element-wise problem with two tensors.
fn problem(line: &str) -> Problem {
    let mut problem = parse_line(&mut Settings::default(), line).unwrap().pop().unwrap().problem;
    problem.resolve();
    problem
}

/// A pipeline over the tensors of `line`, written by `stages`; dimension 0 is kept.
fn pipeline(line: &str, stages: impl FnOnce(&mut Builder<'_>) -> Result<(), Skip>) -> Result<(Pipeline, usize), Skip> {
    let problem = problem(line);
    let dims = *problem.tensor(Arg::DST).unwrap().dims();
    let mut b = Builder::new(&problem, &dims, None)?;
    b.group(0b01);
    stages(&mut b)?;
    b.finish()
}

/// The same as one kernel.
fn program(line: &str, target: &CpuTarget, stages: impl FnOnce(&mut Builder<'_>) -> Result<(), Skip>) -> Result<(Program, usize), Skip> {
    let (pipeline, scratch) = pipeline(line, stages)?;
    Ok((Program::new(pipeline, target.jit.unwrap())?, scratch))
}

/// `dst = (src - max) * 2 / sum(src - max)` by rows: reductions into two internal operands, one of which is changed between stages.
fn stages(b: &mut Builder<'_>) -> Result<(), Skip> {
    let src = b.argument(Arg::SRC)?;
    let [largest, sum] = [b.table(0b01)?, b.table(0b01)?];
    let [largest, sum] = [b.bind(&largest)?, b.bind(&sum)?];
    b.stage(Over::All);
    b.load(0, src);
    b.fold(0, FoldOp::Max, largest);
    b.stage(Over::All);
    b.load(0, src);
    b.with(0, BinaryAlg::Sub, largest);
    b.fold(0, FoldOp::Sum, sum);
    b.stage(Over::Kept);
    b.load(0, sum);
    b.forward(0, EltwiseAlg::Linear, 0.5, 0.0);
    b.store(0, sum);
    b.stage(Over::All);
    b.load(0, src);
    b.with(0, BinaryAlg::Sub, largest);
    b.with(0, BinaryAlg::Div, sum);
    let dst = b.argument(Arg::DST)?;
    b.store(0, dst);
    Ok(())
}

/// Runs the program on `src` and returns the result.
fn run(program: Program, on: (Problem, &CpuTarget), scratch_bytes: usize, src: &mut [f32]) -> Vec<f32> {
    let mut dst = vec![f32::NAN; src.len()];
    run_between(program, on, scratch_bytes, [src, &mut dst]);
    dst
}

/// The same from a slice to another.
fn run_between(program: Program, (problem, target): (Problem, &CpuTarget), scratch_bytes: usize, [src, dst]: [&mut [f32]; 2]) {
    let mut scratch = vec![0u64; scratch_bytes.div_ceil(8) + 8];
    // SAFETY: the slices outlive the execution, and are read after it.
    let [from, to, space] = unsafe {
        [
            Buf::new(src.as_mut_ptr().cast(), size_of_val(src)),
            Buf::new(dst.as_mut_ptr().cast(), size_of_val(dst)),
            Buf::new(scratch.as_mut_ptr().cast(), scratch.len() * 8),
        ]
    };
    let tensors = [Arg::SRC, Arg::DST].map(|arg| problem.tensor(arg).unwrap());
    let regions = [[Region::host(from)], [Region::host(to)]];
    let usages = [(Arg::SRC, Use::In), (Arg::DST, Use::Out)];
    let args: Vec<Argument<'_>> =
        (0..2).map(|i| Argument { arg: usages[i].0, tensor: &tensors[i], usage: usages[i].1, regions: &regions[i], notes: None }).collect();
    let plan = RowPlan { problem, scratch_bytes, isa: target.isa, kernel: Arc::new(program) };
    plan.build().unwrap().run(&Ctx { args: &args, scratch: Region::host(space), queue: &Immediate::default() }).unwrap();
}

#[test]
fn tensors_that_are_one_element_short_are_refused() {
    let Some(target) = targets().next() else { return };
    let (line, len) = ("--eltwise --dir=FWD_I --tag=ab --alg=relu 3x37", 3 * 37);
    for staged in [false, true] {
        let run = |lens: [usize; 2]| {
            let (pipeline, scratch) = pipeline(line, stages).unwrap();
            let make = if staged { Program::in_stages } else { Program::new };
            let program = make(pipeline, target.jit.unwrap()).unwrap();
            let [mut src, mut dst] = lens.map(|len| vec![f32::NAN; len]);
            src.fill(1.0);
            let run = || run_between(program, (problem(line), &target), scratch, [&mut src, &mut dst]);
            let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).is_ok();
            (done, dst.iter().all(|x| x.is_nan()))
        };
        assert!(run([len; 2]).0, "staged: {staged}");
        assert_eq!(run([len - 1, len]), (false, true), "source, staged: {staged}");
        assert_eq!(run([len, len - 1]), (false, true), "destination, staged: {staged}");
    }
}

#[test]
fn folded_rows_make_operands_of_their_own() {
    for target in targets() {
        for (rows, width) in [(1, 16), (40, 3), (3, 37), (7, 200), (2, 1024)] {
            let line = format!("--eltwise --dir=FWD_I --tag=ab --alg=relu {rows}x{width}");
            let (made, scratch) = program(&line, &target, stages).unwrap();
            let Made::Fused(chain) = &made.groups[0] else { panic!("not one kernel") };
            assert!(chain.folded);
            let ways: Vec<Way> = chain.call.spec.operands.iter().map(|o| o.1).collect();
            assert_eq!(ways, [Way::Moves, Way::Made, Way::Made, Way::Moves], "{rows}x{width}");
            let mut src: Vec<f32> = (0..rows * width).map(|i| ((i * 29 + i / 17) % 23) as f32).collect();
            let want: Vec<f32> = src
                .chunks(width)
                .flat_map(|row| {
                    let largest = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
                    let sum: f32 = row.iter().map(|x| x - largest).sum();
                    row.iter().map(move |x| (x - largest) / (0.5 * sum))
                })
                .collect();
            // Integers: sums are exact in any order.
            assert_eq!(run(made, (problem(&line), &target), scratch, &mut src), want, "{rows}x{width}");
        }
    }
}

/// Runs [`stages`] on a matrix of any layout, and compares.
fn check(line: &str, target: &CpuTarget, (made, scratch): (Program, usize)) {
    let problem = problem(line);
    let tensor = problem.tensor(Arg::SRC).unwrap().clone();
    let [rows, width] = [0, 1].map(|d| tensor.dims()[d] as usize);
    let at = |row: usize, column: usize| tensor.blocking().unwrap().offset_of(&[row as i64, column as i64]) as usize;
    let mut src = vec![0.0; tensor.bytes() / 4];
    // Elements are 0 or 4: sums are exact in any order.
    (0..rows * width).for_each(|i| src[at(i / width, i % width)] = ((i * 29 + i / 17) % 2) as f32 * 4.0);
    let got = run(made, (problem, target), scratch, &mut src);
    for row in 0..rows {
        let values: Vec<f32> = (0..width).map(|column| src[at(row, column)]).collect();
        let largest = values.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let sum: f32 = values.iter().map(|x| x - largest).sum();
        for (column, x) in values.iter().enumerate() {
            let (want, got) = ((x - largest) / (0.5 * sum), got[at(row, column)]);
            assert!(got == want || got.is_nan() && want.is_nan(), "{line} at {row}, {column}: {got}, not {want}");
        }
    }
}

#[test]
fn stages_are_kernels_of_their_own_where_rows_are_not_one_run() {
    for target in targets() {
        // Columns, blocks of channels with an epilogue, and rows that are reduced in segments.
        for (tag, dims, forms) in [
            ("ba", [70, 9], [Rows::Down, Rows::Any]),
            ("ba", [3, 5000], [Rows::Down, Rows::Any]),
            ("Ba16b", [37, 40], [Rows::Any; 2]),
            ("Ab16a", [37, 40], [Rows::Down, Rows::Any]),
            ("ab", [2, 200_000], [Rows::Any; 2]),
        ] {
            let [rows, width] = dims;
            let line = format!("--eltwise --dir=FWD_I --tag={tag} --alg=relu {rows}x{width}");
            let (pipeline, scratch) = pipeline(&line, stages).unwrap();
            let made = Program::in_stages(pipeline, target.jit.unwrap()).unwrap();
            let Made::Stages(calls) = &made.groups[0] else { panic!("{line}: one kernel") };
            let specs: Vec<Rows> = calls.iter().flatten().map(|call| call.spec.rows).collect();
            assert_eq!(specs, [forms[0], forms[0], forms[1], forms[0]], "{line}");
            check(&line, &target, (made, scratch));
        }
    }
}

#[test]
fn rows_of_vectors_apart_are_one_kernel() {
    for target in targets() {
        // Rows in the lanes of vectors, with a remainder, and blocks of channels with an epilogue.
        for (tag, dims, kept) in [("ba", [70, 9], true), ("ba", [3, 500], true), ("Ab16a", [37, 40], true), ("Ba16b", [37, 40], false)] {
            // Blocks are vectors of one width.
            if !kept && target.jit.is_some_and(|isa| !isa.avx512) {
                continue;
            }
            let [rows, width] = dims;
            let line = format!("--eltwise --dir=FWD_I --tag={tag} --alg=relu {rows}x{width}");
            let (made, scratch) = program(&line, &target, stages).unwrap_or_else(|skip| panic!("{line} on {:?}: {skip:?}", target.isa));
            assert_eq!(spec_of(&made).rows, Rows::Apart { kept }, "{line}");
            check(&line, &target, (made, scratch));
        }
    }
}

#[test]
fn results_are_the_same_past_the_caches() {
    let (line, len) = ("--eltwise --dir=FWD_I --tag=ab --alg=relu 3x1037", 3 * 1037);
    let problem = problem(line);
    for target in targets() {
        let made = |kept: usize| {
            let near = CpuTarget { threads: 1, caches: Caches { l2: kept, l3: 2 * kept, ..target.caches }, ..target };
            let mut b = Builder::elementwise(&problem, Arg::DST).unwrap();
            b.load_argument(0, Arg::SRC).unwrap();
            b.forward(0, EltwiseAlg::Linear, 2.0, 1.0);
            b.result(Arg::DST).unwrap();
            Program::new(b.finish().unwrap().0, target.jit.unwrap()).unwrap().streaming(&near, CpuTarget::keeps)
        };
        let streams = |kept: usize| matches!(&made(kept).groups[0], Made::Fused(chain) if !chain.streamed.is_empty());
        assert_eq!([len * 8 - 1, len * 8].map(streams), [true, false]);
        // At the begin of a cache line and behind it, where vectors are not aligned to lines.
        for first in [0, 1] {
            let mut src: Vec<f32> = (0..len).map(|i| (i % 91) as f32).collect();
            let mut memory = vec![f32::NAN; len + 64];
            let start = memory.as_ptr().align_offset(64) + first;
            run_between(made(0), (problem.clone(), &target), 0, [&mut src, &mut memory[start..start + len]]);
            assert!(memory[start..start + len].iter().zip(&src).all(|(y, x)| *y == 2.0 * x + 1.0), "from {first} on");
            let beside = memory[..start].iter().chain(&memory[start + len..]);
            assert!(beside.into_iter().all(|x| x.is_nan()), "beside elements from {first} on");
        }
    }
}

/// The key of the one kernel of a program.
fn spec_of(program: &Program) -> Spec {
    let [Made::Fused(chain)] = &program.groups[..] else { panic!("several kernels") };
    chain.call.spec.clone()
}

#[test]
fn code_does_not_depend_on_sizes() {
    for target in targets() {
        let spec = |line: &str| spec_of(&program(line, &target, stages).unwrap().0);
        assert_eq!(spec("--eltwise --tag=ab 16x640"), spec("--eltwise --tag=ab 900x803"));
    }
}

#[test]
fn what_rows_cannot_be_is_refused() {
    let Some(target) = targets().next() else { return };
    let why = |line: &str, stages: fn(&mut Builder<'_>) -> Result<(), Skip>| program(line, &target, stages).err().map(|e| e.to_string());
    let says = |why: Option<String>, what: &str| assert!(why.as_ref().is_some_and(|w| w.contains(what)), "{why:?} of {what}");
    let twice = |b: &mut Builder<'_>| {
        stages(b)?;
        b.group(0b01);
        stages(b)
    };
    says(why("--eltwise --tag=ab 64x64", twice), "several passes");
    let stands_still = |b: &mut Builder<'_>| {
        let src = b.argument(Arg::SRC)?;
        let table = b.table(0b01)?;
        let table = b.bind(&table)?;
        b.stage(Over::All);
        b.load(0, src);
        b.store(0, table);
        Ok(())
    };
    says(why("--eltwise --tag=ab 64x64", stands_still), "stands still");
    let power = |b: &mut Builder<'_>| {
        let (src, dst) = (b.argument(Arg::SRC)?, b.argument(Arg::DST)?);
        b.stage(Over::All);
        b.load(0, src);
        b.power(0, 0.3);
        b.store(0, dst);
        Ok(())
    };
    says(why("--eltwise --tag=ab 64x64", power), "a power of 0.3");
}

/// The nest of two tensors in these layouts, over all their positions.
fn nest(line: &str) -> Nest {
    let problem = problem(line);
    let tensors = [Arg::DST, Arg::SRC].map(|arg| problem.tensor(arg).unwrap());
    let places = [0, 1].map(|i| Place::of(&tensors[i].layout).unwrap());
    Nest::kept(tensors[0].dims(), u32::MAX, &places).unwrap()
}

const LAYOUTS: [&str; 5] = [
    "--reorder --stag=aBcd16b --dtag=acdb 2x32x3x5",
    "--reorder --stag=aBcd8b --dtag=aBcd16b 2x32x3x5",
    "--reorder --stag=acdb --dtag=aBcd8b 1x48x7x2",
    "--reorder --stag=aBcd4b --dtag=acdb 1x24x3x1",
    "--reorder --stag=aBcd16b --dtag=acdb 2x37x3x5",
];

/// The offsets of both operands at every position, in order.
fn offsets(chunks: &Chunks<'_>, step: i64, all: &mut Vec<[i64; 2]>) {
    let Chunks { chunk, count, strides } = chunks;
    for (plane, row, i) in (0..*count).flat_map(|p| (0..chunk.rows).flat_map(move |r| (0..chunk.run).map(move |i| (p, r, i)))) {
        let at = |t: usize| chunk.at[t] + plane as i64 * strides[t] + row as i64 * chunk.outer[t] + i as i64 * chunk.inner[t];
        all.extend((0..step).map(|k| [at(0) * step + k, at(1) * step + k]));
    }
}

#[test]
fn chunks_at_constant_distances_visit_what_single_ones_do() {
    for line in LAYOUTS {
        let nest = nest(line);
        for (start, end) in [(0, nest.volume()), (5, nest.volume() - 3), (33, 34), (16, nest.volume().min(200))] {
            let (mut single, mut several, mut calls) = (Vec::new(), Vec::new(), 0);
            nest.chunks(start..end, i64::MAX, |chunk| {
                offsets(&Chunks { chunk: *chunk, count: 1, strides: &[0; OPERANDS] }, 1, &mut single)
            });
            nest.repeated(start..end, |chunks| {
                calls += 1;
                offsets(chunks, 1, &mut several);
            });
            assert!(single == several && calls > 0, "{line} {start}..{end}");
            assert_eq!(several.len() as i64, end - start, "{line}");
        }
    }
}

#[test]
fn neighbours_are_taken_together_where_all_operands_have_them() {
    for (line, ratio, possible) in
        [(LAYOUTS[0], 4, true), (LAYOUTS[1], 8, true), (LAYOUTS[1], 16, false), (LAYOUTS[3], 4, true), (LAYOUTS[4], 2, false)]
    {
        let nest = nest(line);
        let words = nest.together(ratio);
        assert_eq!(words.is_some(), possible, "{line} {ratio}");
        let Some(words) = words else { continue };
        let (mut by_element, mut by_word) = (Vec::new(), Vec::new());
        nest.repeated(0..nest.volume(), |chunks| offsets(chunks, 1, &mut by_element));
        words.repeated(0..words.volume(), |chunks| offsets(chunks, ratio, &mut by_word));
        assert!(by_element == by_word, "{line} {ratio}");
    }
}

#[test]
fn short_rows_are_written_out() {
    let Some(target) = targets().next() else { return };
    let lanes = target.jit.unwrap().width().lanes() as i64;
    let rows = |run: i64| Rows::of(run, lanes);
    assert_eq!(rows(4 * lanes), Rows::Few { vectors: 4, left: false });
    assert_eq!(rows(2 * lanes + 3), Rows::Few { vectors: 2, left: true });
    assert_eq!([rows(4 * lanes + 1), rows(1 << 40)], [Rows::Any; 2]);
    // Code for rows of 16 elements is the same for all numbers of rows and all strides.
    let spec = |line: &str| spec_of(&program_of_copy(line, &target));
    assert_eq!(spec("--reorder --stag=aBcd16b --dtag=acdb 2x32x3x5"), spec("--reorder --stag=aBcd16b --dtag=acdb 7x256x9x9"));
    assert_eq!(spec("--reorder --sdt=u8 --ddt=u8 --stag=aBcd16b --dtag=acdb 2x32x3x5").operands[0].0, Elem::F32, "in words");
}

fn program_of_copy(line: &str, target: &CpuTarget) -> Program {
    let problem = problem(line);
    let mut b = Builder::elementwise(&problem, Arg::DST).unwrap();
    b.load_argument(0, Arg::SRC).unwrap();
    b.result(Arg::DST).unwrap();
    let mut pipeline = b.finish().unwrap().0;
    assert!(pipeline.copy_words());
    Program::new(pipeline, target.jit.unwrap()).unwrap()
}
