use super::*;
use crate::ir::Binary;
use crate::kernels::cases::{Case, PRODUCTS};
use crate::testing::{ISAS, check, golden, run};

#[test]
fn tiles_hold_the_sums() {
    for isa in ISAS {
        let tiles: &[(u8, u8)] =
            if isa.avx512 { &[(6, 4), (14, 2), (28, 1), (1, 1), (3, 2)] } else { &[(6, 2), (4, 3), (12, 1), (1, 1), (7, 1)] };
        for product in PRODUCTS {
            for &(rows, vectors) in tiles {
                for (steps, parts) in [(1, 1), (4, 3), (7, 2), (0, 1), (5, 0), (16, 1)] {
                    let given = Dot::new(product, rows, vectors);
                    Case { dot: given, isa, parts, steps, last: 0 }.run();
                    let fixed = Dot { a_row: Stride::Fixed(steps as i32 * 4 + 8), unroll: 1, ..given };
                    Case { dot: fixed, isa, parts, steps, last: 0 }.run();
                }
            }
        }
    }
}

#[test]
fn operands_lie_in_many_ways() {
    for isa in ISAS {
        for product in PRODUCTS {
            for (rows, vectors) in [(5, 2), (7, 1)] {
                let dot = Dot::new(product, rows, vectors);
                for (steps, last) in [(1, 3), (4, 1), (7, 5)] {
                    for (panel, tail) in [(Panel::Packed, false), (Panel::Apart, false), (Panel::Apart, true)] {
                        for (a_row, a_step) in
                            [(Stride::Fixed(4), Stride::Given), (Stride::Given, Stride::Given), (Stride::Given, Stride::Fixed(4))]
                        {
                            let dot = Dot { panel, tail, a_row, a_step, ..dot };
                            Case { dot, isa, parts: 2, steps, last }.run();
                        }
                    }
                    for partial in 1..product.depth() as u8 {
                        Case { dot: Dot { partial, ..dot }, isa, parts: 2, steps, last }.run();
                        Case { dot: Dot { partial, unroll: 1, ..dot }, isa, parts: 1, steps: 0, last }.run();
                    }
                }
            }
        }
    }
}

/// (1 + 2 + .. + 32) * sum, negative ones 0: more values than registers are free.
fn scaled(f: &mut Function, sums: &Sums<'_>) {
    let w = f.isa().width();
    let scales: Vec<Val> = (0..6).map(|i| f.splat_f32(w, (1 << i) as f32)).collect();
    let zero = f.zero(w);
    sums.each(|_, _, sum, _| {
        let terms: Vec<Val> = scales.iter().map(|s| f.binary(Binary::MulF32, sum, *s)).collect();
        f.assign(sum, zero);
        terms.iter().for_each(|t| f.update(Binary::AddF32, sum, *t));
        f.update(Binary::MaxF32, sum, zero);
    });
    sums.store(f);
}

#[test]
fn sums_are_finished_in_registers() {
    for isa in ISAS {
        let dot = Dot { unroll: 1, ..Dot::new(Product::F32, if isa.avx512 { 14 } else { 6 }, 2) };
        let function = dot.function_with(isa, scaled);
        let compiled = dot.function_with(isa, scaled).finish().unwrap();
        assert!(compiled.spills > 0 && compiled.inner_spills == 0, "only what follows the loop is short of registers");
        let (rows, columns) = (usize::from(dot.rows), dot.columns(isa));
        let a: Vec<f32> = (0..rows).map(|i| i as f32 - 3.0).collect();
        let b: Vec<f32> = (0..columns).map(|j| j as f32).collect();
        let mut c = vec![-1.0_f32; rows * columns];
        let pair = Pair { a: a.as_ptr().cast(), b: b.as_ptr().cast() };
        let args = Args {
            pairs: &raw const pair,
            count: 1,
            blocks: 1,
            rest: 0,
            c: c.as_mut_ptr().cast(),
            c_row: columns * 4,
            a_row: 4,
            a_step: 0,
            b_row: 0,
            last: 0,
        };
        if run(function, &args) {
            c.iter().enumerate().for_each(|(i, c)| assert_eq!(*c, (63.0 * a[i / columns] * b[i % columns]).max(0.0), "{}", isa.name()));
        }
    }
}

#[test]
fn tails_and_sums_in_memory() {
    for isa in ISAS {
        for product in PRODUCTS {
            for start in [Start::Zero, Start::Load] {
                for last in 0..=isa.width().lanes() {
                    for vectors in [1, 2] {
                        let dot = Dot { start, tail: true, unroll: 2, prefetch_b: 512, ..Dot::new(product, 3, vectors) };
                        Case { dot, isa, parts: 2, steps: 5, last }.run();
                    }
                }
                Case { dot: Dot { start, ..Dot::new(product, 4, 2) }, isa, parts: 2, steps: 5, last: 0 }.run();
            }
        }
    }
}

/// The kernels whose code is kept under `tests/golden/jit`.
fn kept() -> Vec<(Dot, Isa)> {
    let fixed = |d: Dot| Dot { a_row: Stride::Fixed(1024), ..d };
    let mut kept = Vec::new();
    for product in PRODUCTS {
        kept.push((fixed(Dot::new(product, 14, 2)), Isa::AVX512_BF16));
    }
    kept.push((Dot { tail: true, start: Start::Load, ..Dot::new(Product::F32, 6, 4) }, Isa::AVX512));
    kept.push((fixed(Dot::new(Product::F32, 28, 1)), Isa::AVX512));
    kept.push((fixed(Dot::new(Product::F32, 6, 2)), Isa::AVX2));
    kept.push((Dot { tail: true, ..Dot::new(Product::F32, 4, 3) }, Isa::AVX2));
    kept.push((fixed(Dot::new(Product::U8S8, 4, 3)), Isa::AVX2_VNNI));
    kept
}

/// Generated code changes only when somebody means it to: `cargo xtask bless` writes the files anew.
#[test]
fn golden_listings() {
    let mut names: Vec<String> = kept().iter().map(|(dot, isa)| dot.name(*isa)).collect();
    names.dedup();
    assert_eq!(names.len(), kept().len(), "one file for each");
    for (dot, isa) in kept() {
        let compiled = dot.function(isa).finish_recording().unwrap();
        check(&compiled.code, isa);
        golden(&dot.name(isa), &compiled);
    }
}

/// Every tile that fits the registers has none of its values on the stack.
#[test]
fn nothing_spills() {
    for isa in ISAS {
        let registers = isa.simd_registers();
        for product in PRODUCTS {
            let native = match product {
                Product::F32 => true,
                Product::Bf16 => isa.bf16,
                Product::U8S8 => isa.vnni,
            };
            for vectors in (1..=4).filter(|_| native) {
                let rows = (registers - usize::from(vectors) - 1) / usize::from(vectors);
                for tail in [false, true] {
                    // Without mask registers the mask takes one of the others.
                    let rows = if tail && !isa.avx512 { (registers - usize::from(vectors) - 2) / usize::from(vectors) } else { rows };
                    let dot = Dot { tail, start: Start::Load, ..Dot::new(product, rows as u8, vectors) };
                    let compiled = dot.compile(isa).unwrap();
                    assert_eq!((compiled.spills, compiled.frame), (0, 0), "{} {rows}x{vectors}", dot.name(isa));
                }
            }
        }
    }
}
