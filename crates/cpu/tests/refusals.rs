//! Entries of generated code: with memory as long as they say they run, with any of it one number shorter they refuse before anything is read or
//! written. Tiles, blocks of AMX, cells, products of few rows and chains of element by element operations, which only their crate knows, have
//! such tests beside them.

use oxidnn_cpu::CpuTarget;
use oxidnn_cpu::kernels::blend;
use oxidnn_cpu::kernels::columns::{Blocks, Bound, ColumnKernels, ColumnOp};
use oxidnn_cpu::kernels::lookup;
use oxidnn_cpu::kernels::microkernel::{Epilogue, EpilogueArgs};
use oxidnn_cpu::kernels::permute::{LANES, Masks, Permuter, Places as TilePlaces, Tiles, Vectors as TileVectors};
use oxidnn_cpu::kernels::responses::{Call as ResponsesCall, Pass, Plane, Responses, Side as Rows, Spec as ResponsesSpec};
use oxidnn_cpu::kernels::scratch::lend;
use oxidnn_cpu::kernels::strip::{self, Channels, Line, Operand, Row, Strip, Table, WithEpilogue};
use oxidnn_cpu::kernels::transpose::{Interleaved, Interleaver, Matrix, Places, RegisterTranspose, TransposeOperand, no_factors};
use oxidnn_cpu::kernels::winograd::{
    Chunks, FusedMultiply, Multiply, POSITIONS, Panel, Pixels, Place, RESULTS, SIDE, SumsOf, Taps, Tile, Transformed, Transforms,
};
use oxidnn_jit::Isa;
use oxidnn_jit::ir::Elem;
use oxidnn_jit::kernels::blend::{Blend, Tap as BlendTap};
use oxidnn_jit::kernels::depthwise::Depthwise;
use oxidnn_jit::kernels::depthwise::weights::{self, Part};
use oxidnn_jit::kernels::interleave::Interleave;
use oxidnn_jit::kernels::permute::{Masked, Order, Permute};
use oxidnn_jit::kernels::pool::{Pool, Take};
use oxidnn_jit::kernels::strips::{Tap, Window};
use oxidnn_jit::kernels::transpose::{Factor, Transpose, UNCHANGED};
use oxidnn_jit::kernels::winograd::products::Products;
use oxidnn_runtime::Buf;
use std::panic::{AssertUnwindSafe, catch_unwind};

type Call = dyn Fn(&mut [Vec<f32>]);

/// An entry: its name, the numbers in each piece of memory that it takes, and a call with these.
struct Entry {
    name: String,
    lens: Vec<usize>,
    call: Box<Call>,
}

fn entry(name: impl Into<String>, lens: &[usize], call: impl Fn(&mut [Vec<f32>]) + 'static) -> Entry {
    Entry { name: name.into(), lens: lens.to_vec(), call: Box::new(call) }
}

/// The pieces of memory as kernels take them.
fn bufs<const N: usize>(memory: &mut [Vec<f32>]) -> [Buf<'_>; N] {
    let mut pieces = memory.iter_mut();
    std::array::from_fn(|_| lend(pieces.next().expect("as many pieces as the entry takes")))
}

fn sweep(isa: Isa, act: ColumnOp) -> Entry {
    // Rows of bits are whole numbers.
    let (width, rows) = (if act.has_bits() { 4 * isa.width().lanes() } else { 2 * isa.width().lanes() + 3 }, 5);
    let (of_sums, of_all) = act.lines();
    let matrices = act.matrices().len();
    let of_bits = usize::from(act.has_bits());
    let blocks = Blocks { count: if act.has_bits() { 1 } else { 2 }, distance: rows * width, images: 1, image: 0 };
    let of_matrices = (0..matrices).map(|m| blocks.count * if m < matrices - of_bits { rows * width } else { rows * width / 32 });
    let lens: Vec<usize> = of_matrices.chain((0..of_all).map(|_| blocks.count * width)).collect();
    let sweep = ColumnKernels::get(isa, act, Elem::F32, (width, false)).unwrap();
    entry(format!("{act:?}"), &lens, move |memory| {
        let (of_matrices, lines) = memory.split_at_mut(matrices);
        let bufs: Vec<_> = of_matrices.iter_mut().map(|m| (lend(m), 0)).collect();
        let (sums, numbers) = lines.split_at_mut(of_sums);
        let mut sums: Vec<&mut [f32]> = sums.iter_mut().map(|s| &mut s[..]).collect();
        let numbers: Vec<&[f32]> = numbers.iter().map(|n| &n[..]).collect();
        sweep.run(&bufs, (0..rows, blocks), &mut sums, &numbers);
    })
}

/// Taps of two neighbouring columns.
const TAPS: [Tap; 2] = [Tap { column: 0, weights: 0 }, Tap { column: 1, weights: 1 }];
/// Rows, results of a row, and the columns that they meet; of a strip there are two results.
const ROWS: usize = 2;
const LEN: usize = 4;
const COLUMNS: usize = LEN + 1;

/// Two results of a strip of one vector, of f32.
fn window() -> Window {
    Window { results: 2, taps: TAPS.to_vec(), inside: (0, 3), ..Window::of_vectors(1) }
}

/// Rows of so many channels, the lines of whose windows have a value.
fn table(channels: usize, other: usize, value: f32) -> Table {
    let mut table = Table::default();
    for row in 0..ROWS {
        let [source, result] = [COLUMNS, LEN].map(|columns| row * columns * channels * 4);
        let row = Row { result, other: result, lines: 1, divisor: 2.0 };
        table.push(row, [Line { source, other: source * other, value }].into_iter());
    }
    table
}

/// A call of all rows.
fn call<'a>(table: &'a Table, [source, result]: [Operand<'a>; 2], other: Option<Operand<'a>>, channels: usize) -> strip::Call<'a> {
    let (strips, epilogue) = (LEN / 2, (&EpilogueArgs::NONE, 0));
    strip::Call { table, rows: 0..ROWS, source, result, other, strips, channels, shift: &[], epilogue, far: true }
}

fn strips(isa: Isa) -> Vec<Entry> {
    let lanes = isa.width().lanes();
    let channels = 2 * lanes;
    let sums = Depthwise { window: window(), weights: Elem::F32, dots: None, signed: false, group: [1, 1], shifted: true, single: false };
    let kernel = Strip::get(isa, &WithEpilogue { sums, epilogue: Epilogue::raw() }, Channels::once(channels)).unwrap();
    let table = table(channels, 0, 0.0);
    let lens = [ROWS * COLUMNS * channels, 2 * channels, ROWS * LEN * channels, channels];
    let forward = entry("strips", &lens, move |memory| {
        let [source, weights, result, shift] = memory else { panic!("four pieces") };
        let side = |buf| Operand { buf, at: 0, column: channels * 4, strip: 2 * channels * 4, vector: lanes * 4, group: lanes * 4 };
        let weights = Operand { column: 0, strip: 0, group: 2 * lanes * 4, ..side(lend(weights)) };
        kernel.run(strip::Call { shift, ..call(&table, [side(lend(source)), side(lend(result))], Some(weights), channels) });
    });
    let part = Part { places: 2, repeated: true, taps: (0, 2) };
    let key = weights::Gradient {
        types: [Elem::F32; 2],
        dots: false,
        group: 1,
        stride: 1,
        lines: 1,
        taps: TAPS.to_vec(),
        parts: vec![part],
        masked: false,
    };
    let kernel = strip::Gradient::get(isa, &key, LEN / 2).unwrap();
    let lens = [2 * ROWS * COLUMNS * channels, 2 * ROWS * LEN * channels, 2 * channels];
    let gradient = entry("gradients of strips", &lens, move |memory| {
        let [source, gradient, sums] = memory else { panic!("three pieces") };
        let steps = |columns: usize| {
            let column = channels * 4;
            let row = columns * column;
            weights::Steps { column, strip: 2 * column, line: 0, row, image: ROWS * row, vector: lanes * 4 }
        };
        let operands = [(source[..].into(), 0, steps(COLUMNS)), (gradient[..].into(), 0, steps(LEN))];
        kernel.run(strip::GradientCall { operands, counts: [ROWS, 2], channels, sums: (sums, [2 * lanes, 0]), far: true });
    });
    vec![forward, gradient]
}

fn pools(isa: Isa) -> Vec<Entry> {
    let lanes = isa.width().lanes();
    let channels = 2 * lanes;
    let all = [Take::Largest, Take::Mean { counted: false, exact: true }, Take::Shared, Take::Place(Elem::I32), Take::Chosen(Elem::I32)]
        .map(|take| {
            let pool = Pool { window: window(), take, counts: vec![2] };
            let kernel = Strip::get(isa, &WithEpilogue { sums: pool, epilogue: Epilogue::raw() }, Channels::once(channels)).unwrap();
            let table = table(channels, 1, 1.0);
            let (source, result) = (ROWS * COLUMNS * channels, ROWS * LEN * channels);
            let lens = match take {
                Take::Place(_) => vec![source, result, result],
                Take::Chosen(_) => vec![source, result, source],
                _ => vec![source, result],
            };
            entry(format!("pooling, {take:?}"), &lens, move |memory| {
                let side = |buf| Operand { buf, at: 0, column: channels * 4, strip: 2 * channels * 4, vector: lanes * 4, group: lanes * 4 };
                let mut sides = memory.iter_mut().map(|m| side(lend(m)));
                let (source, result, places) = (sides.next().unwrap(), sides.next().unwrap(), sides.next());
                kernel.run(call(&table, [source, result], places, channels));
            })
        });
    all.into()
}

/// FusedMultiplyted columns of two lines, by counts of taps or without, and columns as they are.
fn blends(isa: Isa) -> Vec<Entry> {
    let lanes = isa.width().lanes();
    let channels = 2 * lanes;
    let tap = move |at: usize| BlendTap { source: at * channels * 4, weight: 0.5 };
    let all = [(Some(2), false), (None, false), (Some(1), true)].map(|(taps, copies)| {
        let blend = Blend { source: Elem::F32, taps, lines: None, copies, vectors: 1, masked: false, across: false, streaming: false };
        let kernel = blend::Blender::get(isa, &blend::Spec { sums: blend, epilogue: Epilogue::raw() }).unwrap();
        let mut columns = blend::Columns::default();
        (0..LEN).for_each(|i| columns.push((0..taps.unwrap_or(2)).map(|k| tap(i + usize::from(k)))));
        let last = LEN - 1 + usize::from(taps.unwrap_or(2));
        let lines = if copies { vec![tap(last)] } else { vec![tap(0), tap(last)] };
        let lens = [2 * last * channels, LEN * channels];
        entry(format!("columns of {taps:?} taps"), &lens, move |memory| {
            let [source, result] = bufs(memory);
            let side = |buf| blend::Side { buf, at: 0, group: lanes * 4 };
            let result = (side(result), channels * 4);
            let farthest = [tap(last).source, 0];
            let call = blend::Call {
                columns: &columns,
                source: side(source),
                result,
                farthest,
                channels,
                epilogue: &EpilogueArgs::NONE,
                channel: 0,
            };
            kernel.bind(&call).unwrap().run(0, &lines, true);
        })
    });
    all.into()
}

/// Passes of local response normalisation over rows of two vectors, with windows of five among zeros.
fn responses(isa: Isa) -> Vec<Entry> {
    let elements = 2 * isa.width().lanes();
    let row = elements + 4;
    let planes: [Plane; 3] = std::array::from_fn(|p| Plane { first: p * ROWS * row + 2, row, near: 1 });
    // The last number that is wanted of a plane, and of the windows of one.
    let plane = |p: usize| planes[p].first + (ROWS - 1) * row + elements;
    let windows = |p: usize| plane(p) + 2;
    let passes = [
        (Pass::Squares, [true, false, false], plane(0)),
        (Pass::Sums, [false; 3], plane(1)),
        (Pass::Respond, [true, false, true], windows(0)),
        (Pass::Terms, [true, true, false], plane(2)),
        (Pass::Combine, [true, false, true], plane(2)),
    ];
    let all = passes.map(|(pass, wanted, space)| {
        let spec = ResponsesSpec { pass, elem: Elem::F32, window: 5, quarters: 3, usual: true, masked: false };
        let kernel = Responses::get(isa, &spec).unwrap();
        let lens: Vec<usize> = std::iter::once(space).chain(wanted.iter().filter(|w| **w).map(|_| ROWS * elements)).collect();
        entry(format!("responses, {pass:?}"), &lens, move |memory| {
            let [space, tensors @ ..] = memory else { panic!("a piece of scratch") };
            let mut tensors = tensors.iter_mut().map(|t| Rows { buf: lend(t), at: 0, row: elements * 4, vector: elements / 2 * 4 });
            let tensors = wanted.map(|wanted| if wanted { tensors.next() } else { None });
            kernel.run(&mut ResponsesCall { tensors, space, planes, sizes: [ROWS, elements], numbers: [0.2, 1.0, 0.1] });
        })
    });
    all.into()
}

/// Elements of a row in their opposite order.
fn lookups(isa: Isa) -> Vec<Entry> {
    const ROW: u32 = 2 * 16 + 7;
    let row: Vec<[u32; 2]> = (0..ROW).map(|i| [i, ROW - 1 - i]).collect();
    let places = std::sync::Arc::new(lookup::Places::new(&row, [4; 2], isa.width().lanes()));
    let looker = lookup::Looker::get(isa, [Elem::F32; 2], &places).unwrap();
    // Rows that overlap.
    let rows = move |times: usize| {
        let (looker, places) = (looker.clone(), places.clone());
        entry("lookups", &[ROW as usize + 3 * (times - 1); 2], move |memory| {
            let [from, to] = bufs(memory).map(|buf| lookup::Rows { buf, at: 0, next: 12 });
            looker.run(&places, times, to, from);
        })
    };
    let bytes = isa.vbmi.then(|| {
        let looker = lookup::ByteLooker::get(isa).unwrap();
        entry("results of bytes", &[39], move |memory| {
            let ([to], mut bytes) = (bufs(memory), [1.0; 39]);
            looker.run(&std::array::from_fn(|i| 255 - i as u8), to, lend(&mut bytes), false);
        })
    });
    [rows(1), rows(2)].into_iter().chain(bytes).collect()
}

/// A matrix with rows of so many numbers.
fn matrix(buf: Buf<'_>, row: usize) -> Matrix<'_> {
    Matrix { buf, at: 0, row: row * 4 }
}

fn transposes(isa: Isa) -> Vec<Entry> {
    let lanes = isa.width().lanes();
    let (rows, columns) = (lanes + 3, 2 * lanes + 1);
    let squares = RegisterTranspose::get(isa).unwrap();
    let exchange = squares.clone();
    let slices = entry("exchanged slices", &[rows * columns; 2], move |memory| {
        let [from, to] = memory else { panic!("two slices") };
        exchange.exchange(from, to, rows, columns);
    });
    let buffers = entry("exchanged buffers", &[rows * columns; 2], move |memory| {
        let [from, to] = bufs(memory);
        squares.run(matrix(from, columns), matrix(to, rows), rows, columns);
    });
    let kernel =
        Transpose { from: Elem::F32, to: Elem::F32, factors: [Factor::None, Factor::ByRow, Factor::None, Factor::None], placed: true };
    let squares = RegisterTranspose::of(isa, kernel).unwrap();
    let places = Places::new((0..columns).map(|column| [column * rows * 4]).collect());
    let turned = entry("exchanged by a table", &[rows * columns, rows * columns, rows], move |memory| {
        let [from, to, factors] = bufs(memory);
        let factors = no_factors().map(|_| (factors, 0));
        let (from, to) = (matrix(from, columns), matrix(to, 0));
        squares.turn(&TransposeOperand { from, rows, columns, to, written: rows, places: Some((&places, 0)), factors });
    });
    let mut all = vec![slices, buffers, turned];
    for (from, summed) in [(Elem::I8, true), (Elem::F32, false)] {
        let (columns, size) = (4 * lanes + 4, from.bytes());
        let factors = if summed { UNCHANGED } else { [Factor::Same, Factor::ByRow, Factor::None, Factor::None] };
        let interleaver = Interleaver::get(isa, Interleave { from, to: Elem::I8, factors, summed }).unwrap();
        let places = Places::new(vec![[0, 0]]);
        all.push(entry(format!("rows of {from:?} interleaved"), &[size * columns, columns, columns], move |memory| {
            let [source, to, beside] = bufs(memory);
            let factors = if summed { no_factors() } else { no_factors().map(|_| (beside, 0)) };
            let from = Matrix { buf: source, at: 0, row: columns * size };
            let (to, groups, sums) = ((to, 0), (&places, 0, 1), summed.then_some((beside, 0)));
            interleaver.interleave(&Interleaved { from, rows: 4, columns, to, written: columns, groups, factors, sums });
        }));
    }
    all
}

fn permutes(isa: Isa) -> Vec<Entry> {
    let lanes = isa.width().lanes();
    // Pairs of rows: two tiles, with and without masks that leave a lane out.
    let order = Order::Bits([4, 0, 1, 2]);
    let (factors, vectors) = (UNCHANGED, [2; 2]);
    let kernel =
        Permute { from: Elem::F32, to: Elem::F32, factors, each: false, order, vectors, adds: false, masked: Masked::No, streaming: false };
    let permuter = Permuter::get(isa, kernel, false).unwrap();
    let all = u16::MAX >> (LANES - lanes);
    let masks = Masks { reads: [all >> 1; LANES], writes: [all >> 1; LANES], exists: [all; LANES] };
    let entry_of = |name: &str, masks: Option<Masks>| {
        let permuter = permuter.clone();
        let len = 4 * lanes - usize::from(masks.is_some());
        entry(name, &[len; 2], move |memory| {
            let [from, to] = bufs(memory);
            let vectors = TileVectors::new([vec![0, 4 * lanes], vec![0, 4 * lanes]], masks, ([4; 2], isa));
            let places = TilePlaces::new(vec![[0; 2], [8 * lanes; 2]]);
            let factors = [&[1.0; LANES][..]; UNCHANGED.len()];
            permuter.run(&Tiles { from: (from, 0), to: (to, 0), places: (&places, 2), vectors: &vectors, factors, adds: &0.0 });
        })
    };
    vec![entry_of("permuted tiles", None), entry_of("parts of permuted tiles", Some(masks))]
}

fn transforms(isa: Isa) -> Vec<Entry> {
    let lanes = isa.width().lanes();
    let transforms = Transforms::get(isa, Epilogue::raw()).unwrap();
    let row = SIDE * lanes;
    let source = transforms.clone();
    let source = entry("transformed source", &[(SIDE - 1) * row, row, POSITIONS * lanes], move |memory| {
        let [from, zeros, to] = memory else { panic!("three pieces") };
        let pixels = Pixels { data: lend(from), pixel: lanes * 4, channel: lanes * 4, vectors: 1 };
        // The last row is padding.
        let rows = std::array::from_fn(|i| (i + 1 < SIDE).then_some((i * row * 4) as isize));
        source.source(&pixels, &Place { rows, columns: 0..SIDE, zeros }, Transformed { data: to, position: lanes, step: lanes });
    });
    let weights = transforms.clone();
    let weights = entry("transformed weights", &[9 * lanes, POSITIONS * lanes], move |memory| {
        let [from, to] = memory else { panic!("two slices") };
        weights.weights(lend(from), 0, (lanes * 4) as isize, 1, to, lanes);
    });
    let results = entry("results of transformed sums", &[POSITIONS * lanes, RESULTS * RESULTS * lanes], move |memory| {
        let [from, to] = memory else { panic!("two slices") };
        let pixels = Pixels { data: lend(to), pixel: lanes * 4, channel: lanes * 4, vectors: 1 };
        let rows = std::array::from_fn(|i| (i * RESULTS * lanes * 4) as isize);
        transforms.results((from, lanes), &Tile { pixels, rows, wanted: [RESULTS; 2], operands: &EpilogueArgs::NONE, column: 0 });
    });
    vec![source, weights, results]
}

/// Products of transformed numbers: two tiles, a chunk of channels, a vector of results.
fn products(isa: Isa) -> Vec<Entry> {
    let lanes = isa.width().lanes();
    let (tiles, position) = ([1, 0], 2 * lanes);
    let multiply = Multiply::get(isa, Products { rows: 2, vectors: 1, line: 1 }).unwrap();
    let lens = [POSITIONS * position, POSITIONS * lanes * lanes, POSITIONS * position];
    let transformed = entry("products of transformed numbers", &lens, move |memory| {
        let [a, b, sums] = memory else { panic!("three pieces") };
        let a = Chunks { data: a, position, chunk: 0, count: 1 };
        let b = Panel { data: b, position: lanes * lanes, chunk: 0 };
        multiply.run(&a, &b, tiles, &mut SumsOf { data: sums, position });
    });
    let weigh = FusedMultiply::get(isa, 2, 1).unwrap();
    let lens = [POSITIONS * position, 9 * lanes * lanes, POSITIONS * position, FusedMultiply::scratch(isa, 1)];
    let fused = entry("products that transform the weights", &lens, move |memory| {
        let [a, weights, sums, scratch] = memory else { panic!("four pieces") };
        let a = Chunks { data: a, position, chunk: 0, count: 1 };
        let taps = Taps { data: lend(weights), first: 0, tap: (lanes * lanes * 4) as isize, line: lanes * 4 };
        weigh.run(&a, &taps, (tiles, 1), &mut SumsOf { data: sums, position }, scratch);
    });
    vec![transformed, fused]
}

fn entries(isa: Isa) -> Vec<Entry> {
    let bits = [false, true].into_iter().flat_map(|masked| [ColumnOp::Products { masked }, ColumnOp::Gradient { masked }]);
    let acts = [ColumnOp::Sum, ColumnOp::Moments, ColumnOp::Scale(Bound::Relu), ColumnOp::Scale(Bound::Kept)].into_iter().chain(bits);
    let mut all: Vec<Entry> = acts.map(|act| sweep(isa, act)).collect();
    all.extend(
        [
            strips(isa),
            pools(isa),
            blends(isa),
            responses(isa),
            lookups(isa),
            transposes(isa),
            permutes(isa),
            transforms(isa),
            products(isa),
        ]
        .into_iter()
        .flatten(),
    );
    all
}

#[test]
fn memory_that_is_one_number_short_is_refused() {
    let Some(isa) = CpuTarget::host().jit else { return };
    for Entry { name, lens, call } in entries(isa) {
        let memory = |short: Option<usize>| -> Vec<Vec<f32>> {
            lens.iter().enumerate().map(|(i, len)| vec![1.0; len - usize::from(short == Some(i))]).collect()
        };
        call(&mut memory(None));
        for short in 0..lens.len() {
            let mut memory = memory(Some(short));
            let refused = catch_unwind(AssertUnwindSafe(|| call(&mut memory)));
            assert!(refused.is_err(), "{name} runs with piece {short} of {lens:?} too short");
            assert!(memory.iter().flatten().all(|v| *v == 1.0), "{name} has written before it refused piece {short}");
        }
    }
}
