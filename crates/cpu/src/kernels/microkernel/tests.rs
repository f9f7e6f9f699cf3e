use super::*;

/// A region of elements that only this test uses.
fn buf<T>(x: &mut [T]) -> Buf<'_> {
    // SAFETY: the tests run their tiles while the slice lives, and read it only afterwards.
    unsafe { Buf::new(x.as_mut_ptr().cast(), size_of_val(x)) }
}

fn isas() -> Vec<Isa> {
    [Isa::AVX2, Isa::AVX2_VNNI, Isa::AVX512, Isa::AVX512_BF16].into_iter().filter(|isa| isa.is_present()).collect()
}

#[test]
fn what_lies_outside_is_refused() {
    let Some(isa) = isas().pop() else { return };
    let lanes = isa.width().lanes();
    let (mut a, mut b) = (vec![1.0_f32; 8], vec![2.0_f32; 4 * lanes]);
    let tile = Microkernel::get(isa, &MicrokernelKey::new(DotType::F32, 2, 1)).unwrap();
    let first = a.as_ptr().addr();
    // A strip of two tiles of the same height by `count` panels, as a list of addresses or of offsets.
    let mut run_as = |fixed: bool, tap: [usize; 3], (steps, count): (usize, usize), at: usize, sums: &mut [f32]| {
        let (a, b) = (buf(&mut a), buf(&mut b));
        let mut words = [0; ONE_STRIP];
        let mut list = AddressList::new(&mut words, 2);
        list.strip(TileStrip { tiles: 2, sums: 0, a_row: 0, c_row: 0, to: (0, &[0; MOST_ROWS]) });
        let base = if fixed { first } else { 0 };
        list.tap(tap[0], 0, &std::array::from_fn(|i| tap[1 + i % 2].wrapping_sub(base)));
        let distances = FixedList::new(ListedCall::plain(list.strips(), 2, 3), count * lanes * 4, usize::MAX);
        let call = MicrokernelCall {
            strips: if fixed { &[] } else { list.strips() },
            steps,
            a,
            a_from: 0,
            zeros: Buf::empty(),
            b,
            panels: Panels { at, step: 4 * lanes, count, outer: count % 2 == 0 },
            c: Buf::empty(),
            column: 0,
            epilogue_column: 0,
            epilogue: None,
            sums,
            sums_row: count * lanes,
            a_step: 0,
            b_row: 0,
            last: 0,
            prefetch: Prefetch::default(),
        };
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| match distances.filter(|_| fixed) {
            Some(list) => tile.run_list(&list.at([base, 0]), call),
            None => tile.run(call),
        }))
        .is_ok()
    };
    let mut run = |tap: [usize; 3], steps: (usize, usize), at: usize, sums: &mut [f32]| {
        let done = [false, true].map(|fixed| run_as(fixed, tap, steps, at, sums));
        assert_eq!(done[0], done[1], "{tap:?}: a list of distances is not as one of addresses");
        done[0]
    };
    let mut sums = vec![0.0; 4 * lanes];
    assert!(run([0, first, first + 16], (4, 1), 0, &mut sums));
    assert!(sums.iter().all(|s| *s == 8.0));
    assert!(!run([0, first, first + 20], (4, 1), 0, &mut sums), "behind A");
    assert!(!run([0, first - 4, first], (4, 1), 0, &mut sums), "before A");
    assert!(!run([4, first, first], (4, 1), 0, &mut sums), "behind B");
    assert!(!run([0, first, first], (4, 1), 4, &mut sums), "behind B");
    assert!(!run([0, first, first], (5, 1), 0, &mut sums), "more steps");
    assert!(!run([0, first, first], (4, 1), 0, &mut sums[1..]), "sums");
    for panels in [2, 3] {
        let mut sums = vec![0.0; 4 * panels * lanes];
        assert!(run([0, first, first], (5 - panels, panels), 0, &mut sums));
        assert!(sums.iter().all(|s| *s == 2.0 * (5 - panels) as f32), "{panels} panels");
        assert!(!run([0, first, first], (6 - panels, panels), 0, &mut sums), "a panel behind B");
        assert!(!run([0, first, first], (5 - panels, panels), 0, &mut sums[1..]), "sums of the last panel");
    }
}

#[test]
fn lists_of_distances_have_no_padding() {
    let mut words = [0; ONE_STRIP];
    let mut list = AddressList::new(&mut words, 2);
    list.strip(TileStrip { tiles: 2, sums: 0, a_row: 8, c_row: 8, to: (0, &[0; MOST_ROWS]) });
    list.tap(0, 0, &std::array::from_fn(|i| i * 8));
    assert!(FixedList::new(ListedCall::plain(list.strips(), 2, 3), 64, 16).is_some());
    assert!(FixedList::new(ListedCall::plain(list.strips(), 2, 3), 64, 8).is_none(), "the distance that no list may have");
    assert!(FixedList::new(ListedCall::plain(list.strips(), 2, 3), usize::MAX, 16).is_none(), "sums beyond all memory");
}

#[test]
fn lists_are_of_the_tiles_that_a_kernel_makes() {
    let Some(isa) = isas().pop() else { return };
    let lanes = isa.width().lanes();
    let (mut a, mut b) = (vec![1.0_f32; 8], vec![2.0_f32; 4 * lanes]);
    let tile = Microkernel::get(isa, &MicrokernelKey::new(DotType::F32, 2, 1)).unwrap();
    let first = a.as_ptr().addr();
    let mut sums = vec![0.0; 4 * lanes];
    let cases = [
        (&[1, 1, 0, 0, 0, 0, 0, 0, first, first][..], true, "a tile"),
        (&[1, 2, 0, 8, 0, 0, 0, 0, first, first], true, "two"),
        (&[1, 2, 0, 8, 0, 0, 0, 0, first, first + 4], false, "rows of the second behind A"),
        (&[1, 2, 0, usize::MAX, 0, 0, 0, 0, first, first], false, "rows that far apart"),
        (&[1, 2, 4, 0, 0, 0, 0, 0, first, first], false, "sums of the second"),
        (&[1, 0, 0, 0, 0, 0, 0, 0, first, first], false, "no tile"),
        (&[1, 1, 0, 0, 0, 0, 0, 0, first], false, "a row without an address"),
        (&[2, 1, 0, 0, 0, 0, 0, 0, first, first], false, "a tap that is not there"),
    ];
    for (strips, fits, what) in cases {
        let call = MicrokernelCall {
            strips,
            steps: 4,
            a: buf(&mut a),
            a_from: 0,
            zeros: Buf::empty(),
            b: buf(&mut b),
            panels: Panels::one(0),
            c: Buf::empty(),
            column: 0,
            epilogue_column: 0,
            epilogue: None,
            sums: &mut sums,
            sums_row: lanes,
            a_step: 0,
            b_row: 0,
            last: 0,
            prefetch: Prefetch::default(),
        };
        assert_eq!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| tile.run(call))).is_ok(), fits, "{what}");
    }
}
