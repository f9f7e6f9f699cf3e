use super::*;
use crate::ir::Binary;
use crate::kernels::cases::Case;
use crate::testing::{ISAS, golden, run};

/// Tiles of every shape that kernels are made for.
fn shapes(isa: Isa) -> &'static [(u8, u8)] {
    if isa.avx512 { &[(7, 4), (6, 4), (8, 3), (12, 2), (8, 1), (1, 1), (3, 2)] } else { &[(7, 2), (6, 2), (12, 1), (1, 1), (1, 2)] }
}

#[test]
fn tiles_hold_the_sums() {
    for isa in ISAS {
        for product in DotType::ALL {
            for &(rows, vectors) in shapes(isa) {
                for (steps, taps) in [(1, 1), (4, 3), (7, 2), (0, 1), (5, 0), (16, 1)] {
                    Case { dot: Dot::new(product, rows, vectors), isa, taps, steps, last: 0 }.run();
                }
            }
        }
    }
}

#[test]
fn operands_lie_in_many_ways() {
    for isa in ISAS {
        for product in DotType::ALL {
            for (rows, vectors) in [(5, 2), (7, 1)] {
                let dot = Dot::new(product, rows, vectors);
                for (steps, last) in [(1, 3), (4, 1), (7, 5)] {
                    for (line, masked) in [
                        (LineStride::Packed(vectors), false),
                        (LineStride::Packed(4), true),
                        (LineStride::Strided, false),
                        (LineStride::Strided, true),
                    ] {
                        for a_step in [Stride::Given, Stride::Fixed(4), Stride::Across] {
                            for partial in 0..product.step_depth() as u8 {
                                Case { dot: Dot { line, masked, a_step, k_tail: partial, ..dot }, isa, taps: 2, steps, last }.run();
                            }
                        }
                    }
                    for partial in 1..product.step_depth() as u8 {
                        Case { dot: Dot { k_tail: partial, ..dot }, isa, taps: 1, steps: 0, last }.run();
                    }
                    for (sets, rows) in [(2, 2), (4, 1)] {
                        Case { dot: Dot { sets, ..Dot::new(product, rows, vectors) }, isa, taps: 2, steps, last }.run();
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
    for sum in sums.values {
        let terms: Vec<Val> = scales.iter().map(|s| f.binary(Binary::MulF32, *sum, *s)).collect();
        f.assign(*sum, zero);
        terms.iter().for_each(|t| f.update(Binary::AddF32, *sum, *t));
        f.update(Binary::MaxF32, *sum, zero);
    }
    sums.store(f);
}

#[test]
fn sums_are_finished_in_registers() {
    for isa in ISAS {
        let dot = if isa.avx512 { Dot::new(DotType::F32, 9, 3) } else { Dot::new(DotType::F32, 6, 2) };
        let written = || {
            let mut f = Function::new(isa);
            dot.write_around(&mut f, |_, _| {}, scaled);
            f
        };
        let (function, compiled) = (written(), written().finish().unwrap());
        assert!(compiled.spills > 0 && compiled.inner_spills == 0, "only what follows the loop is short of registers");
        let (rows, columns) = (usize::from(dot.rows), dot.columns(isa));
        let a: Vec<f32> = (0..rows).map(|i| i as f32 - 3.0).collect();
        let b: Vec<f32> = (0..columns).map(|j| j as f32).collect();
        let mut sums = vec![-1.0_f32; rows * columns];
        let mut strips = vec![1, 1];
        strips.resize(STRIP_HEADER_WORDS + rows, 0);
        strips.extend([0].into_iter().chain(a.iter().map(|x| std::ptr::from_ref(x).addr())));
        let args = Args {
            strips: strips.as_ptr(),
            count: 1,
            panels: 1,
            steps: 1,
            b: b.as_ptr().cast(),
            b_panel: 0,
            a_from: 0,
            sums: sums.as_mut_ptr().cast(),
            sums_row: columns * 4,
            a_step: 0,
            b_row: 0,
            last: 0,
            prefetch: 1 << 20,
            prefetch_step: 192,
        };
        run(function, &args);
        sums.iter().enumerate().for_each(|(i, c)| assert_eq!(*c, (63.0 * a[i / columns] * b[i % columns]).max(0.0), "{}", isa.name()));
    }
}

/// Rows of a strip are as far apart as it says, in `A` as in memory of sums.
#[test]
fn a_strip_goes_on_at_its_distances() {
    for isa in ISAS {
        let dot = Dot::new(DotType::F32, 3, 1);
        let columns = dot.columns(isa);
        let a: Vec<f32> = (0..24).map(|i| i as f32).collect();
        let b = vec![1.0_f32; columns];
        let mut sums = vec![-1.0_f32; 12 * columns];
        // Four tiles of rows that are two numbers apart.
        let first = a.as_ptr().addr();
        let strips = [1, 4, 0, 8, 0, 0, 0, 0, 0, first, first + 8, first + 16];
        let args = Args {
            strips: strips.as_ptr(),
            count: 1,
            panels: 1,
            steps: 1,
            b: b.as_ptr().cast(),
            b_panel: 0,
            a_from: 0,
            sums: sums.as_mut_ptr().cast(),
            sums_row: columns * 4,
            a_step: 0,
            b_row: 0,
            last: 0,
            prefetch: 1 << 20,
            prefetch_step: 192,
        };
        run(dot.function(isa), &args);
        sums.iter().enumerate().for_each(|(i, c)| assert_eq!(*c, a[i / columns * 2], "{}", isa.name()));
    }
}

#[test]
fn masked_columns_and_sums_in_memory() {
    for isa in ISAS {
        for product in DotType::ALL {
            for start in [InitialSums::Zero, InitialSums::Load, InitialSums::Add] {
                for last in 0..=isa.width().lanes() {
                    for vectors in [1, 2] {
                        let dot = Dot { start, masked: true, ..Dot::new(product, 3, vectors) };
                        Case { dot, isa, taps: 2, steps: 5, last }.run();
                    }
                }
                for ahead in [PrefetchMode::Given, PrefetchMode::Panels] {
                    Case { dot: Dot { start, prefetch: ahead, ..Dot::new(product, 4, 2) }, isa, taps: 2, steps: 5, last: 0 }.run();
                }
            }
        }
    }
}

/// The kernels whose code is kept under `tests/golden/jit`.
fn kept() -> Vec<(Dot, Isa)> {
    let native = |product: &DotType| !matches!(product, DotType::U8S7 | DotType::S8S7);
    let mut kept: Vec<(Dot, Isa)> =
        DotType::ALL.into_iter().filter(native).map(|product| (Dot::new(product, 6, 4), Isa::AVX512_BF16)).collect();
    let masked = Dot { masked: true, start: InitialSums::Load, ..Dot::new(DotType::F32, 8, 2) };
    kept.push((masked, Isa::AVX512));
    kept.push((Dot { k_tail: 3, ..Dot::new(DotType::U8S8, 6, 4) }, Isa::AVX512));
    kept.push((Dot::new(DotType::Bf16, 6, 4), Isa::AVX512));
    kept.push((Dot::new(DotType::F32, 7, 4), Isa::AVX512));
    kept.push((Dot::new(DotType::S8S8, 7, 4), Isa::AVX512_BF16));
    kept.push((Dot::new(DotType::F16, 6, 4), Isa::AVX512_FP16));
    kept.push((Dot::new(DotType::F32, 8, 1), Isa::AVX512));
    kept.push((Dot { masked: true, line: LineStride::Strided, ..Dot::new(DotType::F32, 6, 2) }, Isa::AVX2));
    kept.push((Dot::new(DotType::Bf16, 6, 2), Isa::AVX2));
    kept.push((Dot::new(DotType::S8S8, 6, 2), Isa::AVX2_VNNI));
    kept.push((Dot::new(DotType::I16, 6, 2), Isa::AVX2));
    kept.push((Dot::new(DotType::U8S7, 6, 2), Isa::AVX2));
    kept.push((Dot::new(DotType::S8S7, 6, 2), Isa::AVX2));
    kept
}

/// Generated code changes only when somebody means it to: `cargo xtask bless` writes the files anew.
#[test]
fn golden_listings() {
    let mut names: Vec<String> = kept().iter().map(|(dot, isa)| dot.name(*isa)).collect();
    names.dedup();
    assert_eq!(names.len(), kept().len(), "one file for each");
    for (dot, isa) in kept() {
        golden(&dot, isa);
    }
}

/// Whatever a kernel is made for, its inner loops hold everything in registers.
#[test]
fn inner_loops_do_not_spill() {
    for isa in ISAS {
        for product in DotType::ALL {
            let shapes: &[(u8, u8)] = if isa.avx512 { &[(7, 4), (6, 4), (8, 3), (8, 2), (10, 1)] } else { &[(6, 2), (10, 1)] };
            for &(rows, vectors) in shapes {
                if (rows, vectors) == (7, 4) && !product.is_native(isa) {
                    continue;
                }
                for (line, a_step) in [
                    (LineStride::Packed(4), Stride::Fixed(4)),
                    (LineStride::Strided, Stride::Given),
                    (LineStride::Packed(4), Stride::Across),
                ] {
                    for masked in [false, true] {
                        let dot = Dot { masked, line, a_step, start: InitialSums::Load, ..Dot::new(product, rows, vectors) };
                        // Masks of AVX2 take a vector register, which is one too many.
                        let crowded = !product.is_native(isa) || matches!(product, DotType::S8S8 | DotType::S8S7);
                        if crowded && !isa.avx512 && masked && line == LineStride::Strided {
                            continue;
                        }
                        let compiled = dot.compile(isa).unwrap();
                        assert_eq!(compiled.inner_spills, 0, "{} {dot:?}", dot.name(isa));
                    }
                }
            }
        }
    }
}
