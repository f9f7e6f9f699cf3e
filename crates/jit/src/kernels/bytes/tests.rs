use super::*;
use crate::testing::{ISAS, compile, run};

fn number(signed: bool, byte: u8) -> i32 {
    if signed { i32::from(byte.cast_signed()) } else { i32::from(byte) }
}

/// All bytes occur, those at the ends of the range next to each other; what lies after a line is not zero.
fn byte(i: usize) -> u8 {
    [0u8, 255, 128, 127][i % 7 % 4].wrapping_add(if i.is_multiple_of(3) { (i * 37) as u8 } else { 0 })
}

#[test]
fn dot_products_and_sums_are_exact() {
    for isa in ISAS {
        for (signed, summed, vectors, remaining) in [
            ([false, true], false, 1, false),
            ([true, true], true, 1, false),
            ([true, false], true, 1, true),
            ([false, false], false, 1, false),
            ([false, false], true, 1, true),
            ([false, true], true, 2, false),
            ([true, true], true, 3, true),
            ([true, true], false, 5, false),
            ([false, true], true, 8, false),
            ([false, true], true, 0, false),
            ([true, false], true, 0, true),
        ] {
            for depth in [4, 36, 64, 132, 1028] {
                let lines = if remaining { 1 } else { ByteDots::lines(isa, vectors, summed) };
                check(isa, ByteDots { signed, vectors: vectors as u8, lines, summed }, depth);
            }
        }
    }
}

fn check(isa: Isa, kernel: ByteDots, depth: usize) {
    let ByteDots { signed, vectors, lines, summed } = kernel;
    let (step, count, width, vectors) = (depth + 5, 2 * usize::from(lines), isa.width().bytes(), usize::from(vectors));
    let x: Vec<u8> = (0..depth * vectors).map(|i| byte(i * 5 + 1)).collect();
    let all: Vec<u8> = (0..step * count).map(|i| byte(i + 3)).collect();
    let mut arranged = vec![0xee; ByteDots::arranged(isa, vectors, depth)];
    (0..vectors).for_each(|vector| kernel.arrange(isa, vector, &x[vector * depth..][..depth], &mut arranged));
    let (mut dots, mut sums) = (vec![7; vectors * ByteDots::PITCH], vec![7; count + 1]);
    let args = Args {
        x: if arranged.is_empty() { x.as_ptr() } else { arranged.as_ptr() },
        lines: all.as_ptr(),
        step,
        groups: 2,
        vectors: depth / width,
        words: depth % width / 4,
        last: usize::from(!depth.is_multiple_of(width)),
        dots: dots.as_mut_ptr(),
        sums: sums.as_mut_ptr(),
    };
    let function = || {
        let mut f = Function::new(isa);
        kernel.write(&mut f);
        f
    };
    compile(function());
    run(function(), &args);
    for (line, sum) in sums[..count].iter().enumerate() {
        let y = &all[line * step..][..depth];
        let want = if summed { y.iter().map(|y| number(signed[1], *y)).sum() } else { 7 };
        assert_eq!(*sum, want, "{} of {depth}, sum of line {line}", kernel.name(isa));
    }
    assert_eq!(sums[count], 7);
    for (vector, dots) in dots.chunks(ByteDots::PITCH).enumerate() {
        let x = &x[vector * depth..][..depth];
        let total: i32 = x.iter().map(|x| number(signed[0], *x)).sum();
        let surplus = if kernel.flips(isa) { 128 * total * if signed[1] { 1 } else { -1 } } else { 0 };
        for (line, dot) in dots[..count].iter().enumerate() {
            let y = &all[line * step..][..depth];
            let want: i32 = x.iter().zip(y).map(|(x, y)| number(signed[0], *x) * number(signed[1], *y)).sum();
            assert_eq!(*dot - surplus, want, "{} of {depth}, vector {vector}, line {line}", kernel.name(isa));
        }
        assert!(dots[count..].iter().all(|x| *x == 7));
    }
}
