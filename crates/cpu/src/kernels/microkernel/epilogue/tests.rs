use super::*;
use crate::kernels::chain::Unary;
use crate::kernels::microkernel::{AddressList, DotType, InitialSums, Microkernel, MicrokernelKey, ONE_STRIP, Panels, Prefetch, TileStrip};
use oxidnn_expr::{binary, eltwise, number};
use oxidnn_jit::Isa;
use oxidnn_spec::DataType;
use oxidnn_spec::op::{BinaryAlg, EltwiseAlg};
use std::sync::Arc;

/// Rows and vectors of the tiles; the last vector has three columns.
const ROWS: usize = 3;
const VECTORS: usize = 2;
const LAST: usize = 3;

fn isas() -> impl Iterator<Item = Isa> {
    [Isa::AVX2, Isa::AVX512, Isa::AVX512_BF16].into_iter().filter(|isa| isa.is_present())
}

fn buf<T>(x: &mut [T]) -> Buf<'_> {
    // SAFETY: the tests run their tiles while the slice lives, and read it only afterwards.
    unsafe { Buf::new(x.as_mut_ptr().cast(), size_of_val(x)) }
}

fn dtype(elem: Elem) -> DataType {
    match elem {
        Elem::F32 => DataType::F32,
        Elem::Bf16 => DataType::Bf16,
        Elem::F16 => DataType::F16,
        Elem::I32 => DataType::S32,
        Elem::I8 => DataType::S8,
        Elem::U8 => DataType::U8,
        Elem::F8E5m2 | Elem::F8E4m3 | Elem::Low16 | Elem::Low8 | Elem::Whole8 => unreachable!("no type of the results of this test"),
    }
}

/// The value of a sum: small, of both signs, with special values in between.
fn sum(i: usize, whole: bool) -> f32 {
    let x = (i * 37 % 101) as f32 - 50.0;
    if whole { x * 3.0 } else { x / 9.0 }
}

fn operand(step: usize, column: usize) -> f32 {
    0.25 + ((step * 7 + column * 5) % 11) as f32 * 0.375
}

/// The element at an index of a tensor of the destination's size.
fn beside(i: usize) -> f32 {
    ((i * 13 + 5) % 60) as f32
}

/// The result of the steps for a sum at a column, in f64.
fn truth(epilogue: &Epilogue, x: f32, column: usize, element: usize) -> f64 {
    let mut x = f64::from(x);
    let mut line = 0;
    if epilogue.compensated {
        x -= f64::from(operand(line, column).round());
        line += 1;
    }
    for step in &epilogue.steps {
        let y = f64::from(operand(line, column));
        line += usize::from(step.has_line());
        let y = if step.has_line() { y } else { f64::from(beside(element)) };
        x = match step.formula {
            Formula::Forward(Unary { alg, alpha, beta }) => eltwise::forward(alg, alpha.get(), beta.get(), x),
            Formula::Backward(Unary { alg, alpha, beta }) => eltwise::backward(alg, alpha.get(), beta.get(), x, y),
            Formula::Binary(alg) => binary::apply(alg, x, y, 0.0),
            Formula::Prelu => binary::prelu(x, y),
            Formula::Accumulate { scale, zero_point } => x + f64::from(scale.get()) * (y - f64::from(zero_point.get())),
        };
    }
    x
}

/// Applies an epilogue to sums in memory and compares the stored results with the truth.
fn check(isa: Isa, steps: &[Step], dst: Elem, whole: bool) {
    run(isa, Epilogue { compensated: false, steps: steps.to_vec(), dst }, whole);
}

fn run(isa: Isa, epilogue: Epilogue, whole: bool) {
    let dst = epilogue.dst;
    let lanes = isa.width().lanes();
    let columns = (VECTORS - 1) * lanes + LAST;
    let product = if whole { DotType::U8S8 } else { DotType::F32 };
    let spec = MicrokernelKey {
        start: InitialSums::Load,
        masked: true,
        epilogue: Some(Arc::new(epilogue.clone())),
        ..MicrokernelKey::new(product, ROWS, VECTORS)
    };
    let tile = Microkernel::get(isa, &spec).unwrap();
    let mut sums: Vec<f32> = (0..ROWS * VECTORS * lanes).map(|i| sum(i, whole)).collect();
    let values = sums.clone();
    if whole {
        sums.iter_mut().for_each(|x| *x = f32::from_bits(*x as i32 as u32));
    }
    let numbers = |l: usize| (0..LINE_COLUMNS).map(move |c| (l, c));
    let mut lines: Vec<f32> = (0..epilogue.lines()).flat_map(numbers).map(|(l, c)| operand(l, c)).collect();
    if epilogue.compensated {
        lines[..LINE_COLUMNS].iter_mut().for_each(|x| *x = f32::from_bits(x.round() as i32 as u32));
    }
    // A row of the destination has two columns more, which are not written.
    let width = columns + 2;
    let written = |elem: Elem| {
        let bytes = |i| number::encode(dtype(elem), f64::from(beside(i))).to_le_bytes().into_iter().take(elem.bytes());
        (0..ROWS * width).flat_map(bytes).collect::<Vec<u8>>()
    };
    let mut c = written(dst);
    let mut tensors: Vec<Vec<u8>> = epilogue.tensors().map(written).collect();
    let mut args = EpilogueArgs { lines: &lines, pitch: LINE_COLUMNS, ..EpilogueArgs::NONE };
    args.tensors.iter_mut().zip(&mut tensors).for_each(|(arg, t)| *arg = buf(t));
    let first = c.as_ptr().addr();
    let mut words = [0; ONE_STRIP];
    let mut list = AddressList::new(&mut words, ROWS);
    let rows = std::array::from_fn(|i| i * width * dst.bytes());
    list.strip(TileStrip { tiles: 1, sums: 0, a_row: 0, c_row: 0, to: (first, &rows) });
    tile.run(MicrokernelCall {
        strips: list.strips(),
        steps: 0,
        a: Buf::empty(),
        a_from: 0,
        zeros: Buf::empty(),
        b: Buf::empty(),
        panels: Panels::one(0),
        c: buf(&mut c),
        column: 0,
        epilogue_column: 0,
        epilogue: Some(&args),
        sums: &mut sums,
        sums_row: VECTORS * lanes,
        a_step: 0,
        b_row: 0,
        last: LAST,
        prefetch: Prefetch::default(),
    });
    for i in 0..ROWS * width {
        let (row, column) = (i / width, i % width);
        let mut bits = [0; 8];
        bits[..dst.bytes()].copy_from_slice(&c[i * dst.bytes()..][..dst.bytes()]);
        let got = number::decode(dtype(dst), u64::from_le_bytes(bits));
        if column >= columns {
            assert_eq!(got, f64::from(beside(i)), "behind the columns");
            continue;
        }
        let want = truth(&epilogue, values[row * VECTORS * lanes + column], column, i);
        assert!(is_close(got, want, dst), "{got} at row {row} column {column}, want {want}: {epilogue:?} on {}", isa.name());
    }
}

fn is_close(got: f64, want: f64, dst: Elem) -> bool {
    // Values that f32 cannot represent overflow to infinity.
    let want = f64::from(want as f32);
    let exact = |slack: f64| oxidnn_judge::within(got, want, slack * want.abs().max(1.0));
    match dst {
        Elem::F32 => exact(4e-6),
        Elem::Bf16 => exact(0.004),
        Elem::F16 => exact(0.0006),
        Elem::F8E5m2 | Elem::F8E4m3 | Elem::Low16 | Elem::Low8 | Elem::Whole8 => got.to_bits() == want.to_bits(),
        // Ties may be rounded either way.
        Elem::I32 | Elem::I8 | Elem::U8 => {
            let (low, high) = match dst {
                Elem::I8 => (-128.0, 127.0),
                Elem::U8 => (0.0, 255.0),
                _ => (f64::from(i32::MIN), f64::from(i32::MAX)),
            };
            let want = if want.is_nan() { 0.0 } else { want.clamp(low, high) };
            (got - want).abs() <= 0.5 + 1e-4 && got.fract() == 0.0
        }
    }
}

const TYPES: [Elem; 6] = [Elem::F32, Elem::Bf16, Elem::F16, Elem::I32, Elem::I8, Elem::U8];

#[test]
fn results_are_converted_to_every_type() {
    for isa in isas() {
        for dst in TYPES {
            for whole in [false, true] {
                check(isa, &[], dst, whole);
                check(isa, &[SCALE, BIAS], dst, whole);
                check(isa, &[SCALE, BIAS, UNSCALE, BIAS], dst, whole);
            }
            for steps in [vec![], vec![SCALE, BIAS]] {
                run(isa, Epilogue { compensated: true, steps, dst }, true);
            }
        }
    }
}

const fn at(formula: Formula, origin: Origin) -> Step {
    Step { formula, operand: None, origin }
}

const fn line(formula: Formula) -> Step {
    at(formula, Origin::Line)
}

const SCALE: Step = line(Formula::Binary(BinaryAlg::Mul));
const BIAS: Step = line(Formula::Binary(BinaryAlg::Add));
const UNSCALE: Step = line(Formula::Binary(BinaryAlg::Div));

fn function(alg: EltwiseAlg, alpha: f32, beta: f32) -> Step {
    at(Formula::Forward(Unary::new(alg, alpha, beta)), Origin::Nothing)
}

fn sum_of(scale: f32, zero_point: f32, from: Elem) -> Step {
    at(Formula::Accumulate { scale: scale.into(), zero_point: zero_point.into() }, Origin::Destination(from))
}

/// Parameters that every function takes.
fn eltwise_step(alg: EltwiseAlg) -> Step {
    let (alpha, beta) = match alg {
        EltwiseAlg::Clip | EltwiseAlg::ClipV2 | EltwiseAlg::ClipV2Dst => (-1.5, 2.25),
        EltwiseAlg::Pow => (0.5, 2.0),
        _ => (0.75, 0.5),
    };
    function(alg, alpha, beta)
}

#[test]
fn functions_agree_with_their_formulas() {
    for isa in isas() {
        for (alg, _) in EltwiseAlg::NAMES {
            check(isa, &[eltwise_step(alg)], Elem::F32, false);
            check(isa, &[SCALE, eltwise_step(alg), BIAS], Elem::Bf16, true);
        }
        for beta in [-4.0, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 3.0] {
            check(isa, &[function(EltwiseAlg::Pow, 2.0, beta)], Elem::F32, false);
        }
        check(isa, &[function(EltwiseAlg::Relu, 0.0, 0.0)], Elem::F32, false);
    }
}

#[test]
fn operands_are_columns_tensors_and_the_destination() {
    let plus = |from| sum_of(0.5, 3.0, from);
    for isa in isas() {
        for dst in TYPES {
            check(isa, &[sum_of(1.0, 0.0, dst)], dst, false);
            check(isa, &[BIAS, plus(dst), line(Formula::Prelu)], dst, true);
            // Long enough for the loop.
            check(isa, &[SCALE, BIAS, plus(dst), BIAS, line(Formula::Prelu), BIAS, UNSCALE], dst, false);
            for from in TYPES {
                let tensor = |alg| at(Formula::Binary(alg), Origin::Tensor(from));
                check(isa, &[tensor(BinaryAlg::Add)], dst, false);
                check(isa, &[BIAS, tensor(BinaryAlg::Max), tensor(BinaryAlg::Mul), UNSCALE], dst, true);
            }
        }
        for (alg, _) in BinaryAlg::NAMES {
            if alg != BinaryAlg::Select {
                check(isa, &[line(Formula::Binary(alg))], Elem::F32, false);
                check(isa, &[at(Formula::Binary(alg), Origin::Tensor(Elem::F32)), line(Formula::Binary(alg))], Elem::F32, false);
            }
        }
    }
}

#[test]
fn tensors_under_strips_are_as_long_as_their_results() {
    let epilogue =
        Epilogue { compensated: false, steps: vec![at(Formula::Binary(BinaryAlg::Add), Origin::Tensor(Elem::F32))], dst: Elem::Bf16 };
    let (elements, first) = (24, 5);
    let (mut c, mut tensor) = (vec![0_u16; elements], vec![0.0_f32; elements]);
    let c = buf(&mut c);
    let mut found = |len: usize, reach: usize| {
        let mut args = EpilogueArgs { dst: c, ..EpilogueArgs::NONE };
        args.tensors[0] = buf(&mut tensor[..len]);
        let at = c.as_ptr().wrapping_add(first * 2).cast_const();
        args.of_strips(&epilogue, Results { column: 0, channels: 8, at, reach: Some(reach) }).is_some()
    };
    let whole = (elements - first) * 2;
    assert!(found(elements, whole));
    assert!(!found(elements - 1, whole));
    assert!(found(elements - 1, whole - 2));
    assert!(!found(elements, whole + 2));
}
