use super::*;

/// A region of numbers that a test uses alone.
fn buf<T>(x: &mut [T]) -> Buf {
    // SAFETY: the tests run their tiles while the slice lives, and look at it only afterwards.
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
    let tile = Tile::get(isa, &Spec::new(Product::F32, 2, 1)).unwrap();
    let first = a.as_ptr().addr();
    let mut run = |table: &[usize], steps: usize, b_at: usize, sums: &mut [f32]| {
        let (a, b) = (buf(&mut a), buf(&mut b));
        let call = Call {
            table,
            steps,
            a,
            zeros: Buf::empty(),
            b,
            b_at,
            c_rows: &[],
            c: Buf::empty(),
            column: 0,
            tail_column: 0,
            tail: None,
            sums,
            sums_row: lanes,
            a_step: 0,
            b_row: 0,
            last: 0,
            ahead: Ahead::default(),
        };
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| tile.run(call))).is_ok()
    };
    let mut sums = vec![0.0; 2 * lanes];
    assert!(run(&[0, first, first + 16], 4, 0, &mut sums));
    assert!(sums.iter().all(|s| *s == 8.0));
    assert!(!run(&[0, first, first + 20], 4, 0, &mut sums), "behind A");
    assert!(!run(&[0, first - 4, first], 4, 0, &mut sums), "before A");
    assert!(!run(&[4, first, first], 4, 0, &mut sums), "behind B");
    assert!(!run(&[0, first, first], 4, 4, &mut sums), "behind B");
    assert!(!run(&[0, first, first], 5, 0, &mut sums), "more steps");
    assert!(!run(&[0, first], 4, 0, &mut sums), "a row without an address");
    assert!(!run(&[0, first, first], 4, 0, &mut sums[1..]), "sums");
}
