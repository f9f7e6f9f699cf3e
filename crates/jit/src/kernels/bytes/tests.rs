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
        for (signed, summed, lines) in [
            ([false, true], false, 8),
            ([true, true], true, 8),
            ([true, false], true, 1),
            ([false, false], false, 8),
            ([false, false], true, 1),
        ] {
            for depth in [4, 36, 64, 132, 1028] {
                let kernel = ByteDots { signed, lines, summed };
                let (step, count, width) = (depth + 5, 2 * usize::from(lines), isa.width().bytes());
                let x: Vec<u8> = (0..depth).map(|i| byte(i * 5 + 1)).collect();
                let all: Vec<u8> = (0..step * count).map(|i| byte(i + 3)).collect();
                let mut arranged = vec![0xee; ByteDots::arranged(isa, depth)];
                kernel.arrange(isa, &x, &mut arranged);
                let (mut dots, mut sums) = (vec![7; count + 1], vec![7; count + 1]);
                let args = Args {
                    x: if isa.vnni { x.as_ptr() } else { arranged.as_ptr() },
                    lines: all.as_ptr(),
                    step,
                    groups: 2,
                    vectors: depth / width,
                    words: depth % width / 4,
                    dots: dots.as_mut_ptr(),
                    sums: sums.as_mut_ptr(),
                };
                let function = || {
                    let mut f = Function::new(isa);
                    kernel.write(&mut f);
                    f
                };
                compile(function());
                if !run(function(), &args) {
                    continue;
                }
                let total: i32 = x.iter().map(|x| number(signed[0], *x)).sum();
                let surplus = if !kernel.flips(isa) {
                    0
                } else if signed[1] {
                    128 * total
                } else {
                    -128 * total
                };
                for (line, (dot, sum)) in dots[..count].iter().zip(&sums).enumerate() {
                    let y = &all[line * step..][..depth];
                    let want: i32 = x.iter().zip(y).map(|(x, y)| number(signed[0], *x) * number(signed[1], *y)).sum();
                    assert_eq!(*dot - surplus, want, "{} of {depth}, line {line}", kernel.name(isa));
                    let want = if summed { y.iter().map(|y| number(signed[1], *y)).sum() } else { 7 };
                    assert_eq!(*sum, want, "{} of {depth}, sum of line {line}", kernel.name(isa));
                }
                assert_eq!((dots[count], sums[count]), (7, 7));
            }
        }
    }
}
