use super::*;
use crate::hardware::Caches;
use crate::kernels::macrokernel::BLayout;
use crate::kernels::microkernel::{DotType, Stride};
use crate::kernels::multiversion::Simd;

fn target(threads: usize) -> CpuTarget {
    CpuTarget { threads, ..CpuTarget::host() }
}

fn shape(rows: &[usize], columns: usize, steps: usize) -> Shape {
    Shape {
        units: 1,
        rows: rows.to_vec(),
        even: false,
        columns,
        panel: 64,
        panel_bytes: steps * 256,
        memory: 0,
        k_blocks: vec![KBlock { taps: 1, steps, k_tail: 0, first: 0, taken: None }],
        source: rows.iter().sum::<usize>() * steps * 4,
        product: DotType::Bf16,
        b_layout: BLayout::Panels,
        a_step: Stride::Fixed(4),
        joint_row_bytes: 0,
        begins: false,
        padded: false,
        epilogue: None,
    }
}

/// Every step is in one block, and there are no more blocks than K needs.
#[test]
fn rounds_cover_a_part() {
    assert_eq!(Round::all(0, MAX_EXTRA_K_BLOCKS).map(|r| (r.steps, r.blocks)).collect::<Vec<_>>(), [(1, 1)]);
    for steps in 1..200 {
        let rounds: Vec<_> = Round::all(steps, MAX_EXTRA_K_BLOCKS).collect();
        let mut next = 0;
        for round in &rounds {
            assert_eq!(round.before, next, "{steps}");
            assert!((1..=LINES).contains(&round.steps));
            next += round.steps * round.blocks;
        }
        assert_eq!(next, steps);
        let (blocks, fewest) = (rounds.iter().map(|r| r.blocks).sum::<usize>(), steps.div_ceil(LINES));
        assert!(blocks == fewest || rounds.len() == 1 && blocks <= fewest + MAX_EXTRA_K_BLOCKS, "{steps}");
    }
}

/// Tiles follow each other, do not cross stretches, and have about equal heights.
#[test]
fn tiles_cover_all_rows() {
    for rows in [&[1][..], &[32], &[33, 1], &[0, 100, 7], &[3136, 64, 31], &[54 * 3, 12 * 5, 5 * 7]] {
        for (workers, lines) in [(1, rows), (16, &[54, 12, 5][..rows.len()]), (16, &[1; 3])] {
            let macrokernel = AmxMacrokernel::new((Isa::AMX, TileProduct::Bf16), shape(rows, 256, 64), lines, &target(workers));
            let (mut next, mut ends) = (0, Vec::new());
            for tile in 0..macrokernel.all {
                let (first, [upper, lower]) = macrokernel.tile(tile);
                assert_eq!(first, next);
                assert!((1..=LINES).contains(&upper) && lower <= LINES);
                let tall = if lower > 0 { 2 } else { 1 };
                assert!(macrokernel.stretches.iter().any(|s| s.has(tall)));
                next += upper + lower;
                ends.push(next);
            }
            assert_eq!(next, rows.iter().sum::<usize>());
            let stretches = rows.iter().scan(0, |end, n| {
                *end += n;
                Some(*end)
            });
            assert!(stretches.filter(|end| *end > 0).all(|end| ends.contains(&end)));
        }
    }
}

#[test]
fn too_many_gathered_rows_are_refused() {
    let mut shape = shape(&[100], 64, 64);
    assert!(AmxMacrokernel::new((Isa::AMX, TileProduct::Bf16), shape.clone(), &[100], &target(2)).scratch_len(2).is_some());
    shape.k_blocks[0].taps = 4096;
    assert!(AmxMacrokernel::new((Isa::AMX, TileProduct::Bf16), shape, &[100], &target(2)).scratch_len(2).is_none());
}

/// Pieces do not cross lines, if lines are long enough.
#[test]
fn pieces_are_of_one_line() {
    for (line, most) in [(54, 14), (26, 13), (12, 12), (16, 16)] {
        let stretch = Stretch::new((0, 0), line * 9, line);
        for piece in 0..stretch.all {
            let (first, end) = stretch.piece(piece);
            assert!(first / line == (end - 1) / line && end - first <= most, "{line}");
        }
    }
    assert_eq!(Stretch::new((0, 0), 45, 5).pieces, 3);
}

/// All tiles of a long line but the last one have the same number of rows, and so have those of short lines if possible.
#[test]
fn tiles_of_a_line_have_equal_rows() {
    for line in [28, 50, 56, 112, 200, 750, 838, 3361] {
        let macrokernel = AmxMacrokernel::new((Isa::AMX, TileProduct::Bf16), shape(&[line], 64, 16), &[line], &target(1));
        let rows: Vec<_> = (0..macrokernel.all).map(|tile| macrokernel.tile(tile).1).collect();
        assert!(rows.windows(2).rev().skip(1).all(|next| next[0] == next[1]), "{line}: {rows:?}");
    }
}

/// Tiles that are declared alike have the same number of rows; lines with an odd number of pieces are whole tiles, if these stay tall.
#[test]
fn tiles_that_are_alike_have_as_many_rows() {
    for (lines, line) in [(1, 343), (9, 112), (9, 57), (5, 80), (7, 33), (4, 14), (3, 48), (1, 1), (6, 230), (5, 7)] {
        let macrokernel = AmxMacrokernel::new((Isa::AMX, TileProduct::Bf16), shape(&[lines * line], 64, 16), &[line], &target(1));
        for tile in 0..macrokernel.all {
            let equal_tiles = macrokernel.stretch(tile).equal_tiles(tile);
            assert!((1..=macrokernel.all - tile).contains(&equal_tiles), "{line}");
            assert!((tile..tile + equal_tiles).all(|next| macrokernel.tile(next).1 == macrokernel.tile(tile).1), "{line}");
        }
    }
    assert_eq!([112, 48, 80, 57, 29].map(has_equal_tiles), [true, true, true, false, true]);
    assert_eq!([112, 48, 80].map(|line| Stretch::new((0, 0), 9 * line, line).pieces), [8, 4, 5]);
}

/// A few more steps make the blocks of a round equal, without further blocks, unless that takes many more steps.
#[test]
fn even_steps_are_few_more() {
    let even = [(16, 1), (17, 1), (29, 1), (17, 3), (131, 3), (3, 31)].map(|(steps, times)| even_steps(steps, times));
    assert_eq!(even, [16, 18, 30, 20, 135, 3]);
    for (steps, times) in (1..200).flat_map(|steps| [1, 2, 3, 7].map(|times| (steps, times))) {
        let (even, blocks) =
            (even_steps(steps, times), |steps: usize| Round::all(steps * times, MAX_EXTRA_K_BLOCKS).map(|r| r.blocks).sum::<usize>());
        assert!((steps..steps + LINES).contains(&even), "{steps}");
        assert!(times > 3 || Round::all(even * times, MAX_EXTRA_K_BLOCKS).count() == 1, "{steps}");
        assert!(blocks(even) <= blocks(steps) + MAX_EXTRA_K_BLOCKS + 1, "{steps}");
        assert!(blocks(even) <= blocks((steps).next_multiple_of(LINES)), "{steps}");
    }
}

/// A copy pays if more rows share a set of L1 than the set holds, though not in the copy, and if there are many columns.
#[test]
fn copies_repay_where_rows_would_stay_near() {
    let caches = Caches { l1: 48 << 10, ..Caches::USUAL };
    let repays = |row, columns| repays_copy(&caches, row, [512, columns]);
    // Heads of 128 columns among 16, in bf16.
    assert!(repays([256, 4096], 4096));
    assert!(!repays([256, 4096], 128));
    assert!(!repays([256, 4096 + 64], 4096));
    // Dense rows spread evenly over the sets, and long ones would not stay in L1.
    for bytes in [256, 1024, 2048, 4096, 8192] {
        assert!(!repays([bytes, bytes], 1 << 20));
    }
    assert!(!repays_copy(&caches, [256, 4096], [8, 4096]));
}

/// One non-finite element of a panel of bf16 is found, wherever it is; the largest finite ones are not taken for one.
#[test]
fn non_finite_weights_are_found() {
    for (bits, finite) in [(0x7f7f_u16, true), (0xff7f, true), (0x8000, true), (0x7f80, false), (0xff80, false), (0x7fc1, false)] {
        for at in 0..96 {
            let mut halves = [0xbf80_u16; 96];
            halves[at] = bits;
            let mut words: Vec<f32> =
                halves.as_chunks::<2>().0.iter().map(|[a, b]| f32::from_bits(u32::from(*a) | u32::from(*b) << 16)).collect();
            assert_eq!(padding::are_finite(Simd::host(), lend(&mut words)), finite, "{bits:#x} at {at}");
        }
    }
}
