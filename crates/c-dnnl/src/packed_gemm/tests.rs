//! Products of packed matrices against plain loops, column by column.

use super::*;

const LETTERS: [c_char; 4] = [b'N' as c_char, b'T' as c_char, b'P' as c_char, b'A' as c_char];

/// A column-major matrix and whether it is stored transposed.
fn stored(rows: usize, columns: usize, transposed: bool, value: impl Fn(usize, usize) -> i32) -> (Vec<i32>, i64) {
    let (lines, line) = if transposed { (rows, columns) } else { (columns, rows) };
    let ld = line + 3;
    let mut numbers = vec![77; lines * ld];
    for i in 0..rows {
        for j in 0..columns {
            numbers[if transposed { i * ld + j } else { j * ld + i }] = value(i, j);
        }
    }
    (numbers, ld as i64)
}

fn a_value(i: usize, j: usize) -> i32 {
    ((i * 3 + j * 5) % 7) as i32 - 3
}

fn b_value(i: usize, j: usize) -> i32 {
    ((i * 2 + j * 7) % 9) as i32
}

type Size = extern "C" fn(
    Letter<'_>,
    Letter<'_>,
    Letter<'_>,
    Number<'_>,
    Number<'_>,
    Number<'_>,
    Number<'_>,
    Number<'_>,
    Out<'_, usize>,
    Out<'_, bool>,
) -> Status;
type Pack =
    extern "C" fn(Letter<'_>, Letter<'_>, Letter<'_>, Number<'_>, Number<'_>, Number<'_>, Number<'_>, Number<'_>, Data, Data) -> Status;

/// The packed copy of `from`.
fn packed((size, pack): (Size, Pack), identifier: u8, trans: [&c_char; 2], [m, n, k]: &[i64; 3], lds: &[i64; 2], from: Data) -> Vec<u64> {
    let (mut bytes, mut wanted) = (0usize, false);
    let identifier = identifier as c_char;
    let (identifier, ta, tb) = (In::from(&identifier), In::from(trans[0]), In::from(trans[1]));
    let (m, n, k, lda, ldb) = (In::from(m), In::from(n), In::from(k), In::from(&lds[0]), In::from(&lds[1]));
    assert_eq!(size(identifier, ta, tb, m, n, k, lda, ldb, Out::from(&mut bytes), Out::from(&mut wanted)), Status::Success);
    assert!(wanted && bytes > 0);
    let mut to = vec![0u64; bytes.div_ceil(8)];
    assert_eq!(pack(identifier, ta, tb, m, n, k, lda, ldb, from, Data::from(&mut to[..])), Status::Success);
    to
}

#[test]
fn packed_floats_agree_with_plain_loops() {
    for (ta, tb, sizes, beta) in [(0, 0, [5, 7, 3], 0.0), (1, 0, [33, 20, 65], 1.0), (0, 1, [64, 48, 32], -2.0), (1, 1, [1, 9, 100], 0.0)] {
        let [m, n, k] = sizes.map(|s: i64| s as usize);
        let (a, lda) = stored(m, k, ta == 1, a_value);
        let (b, ldb) = stored(k, n, tb == 1, b_value);
        let (mut fa, mut fb): (Vec<f32>, Vec<f32>) = (a.iter().map(|&v| v as f32).collect(), b.iter().map(|&v| v as f32).collect());
        let (ta, tb) = (&LETTERS[ta], &LETTERS[tb]);
        let functions: (Size, Pack) = (sgemm_pack_get_size, sgemm_pack);
        let mut pa = packed(functions, b'A', [ta, tb], &sizes, &[lda, ldb], Data::from(&mut fa[..]));
        let mut pb = packed(functions, b'b', [ta, tb], &sizes, &[lda, ldb], Data::from(&mut fb[..]));
        let ldc = m as i64 + 2;
        let old = if beta == 0.0 { f32::NAN } else { 2.0 };
        let ways = [
            (ta, Data::from(&mut fa[..]), tb, Data::from(&mut fb[..])),
            (&LETTERS[2], Data::from(&mut pa[..]), tb, Data::from(&mut fb[..])),
            (ta, Data::from(&mut fa[..]), &LETTERS[2], Data::from(&mut pb[..])),
            (&LETTERS[2], Data::from(&mut pa[..]), &LETTERS[2], Data::from(&mut pb[..])),
        ];
        for (ta, a_, tb, b_) in ways {
            let mut c = vec![old; n * ldc as usize];
            let (mi, ni, ki) = (In::from(&sizes[0]), In::from(&sizes[1]), In::from(&sizes[2]));
            let c_ = Data::from(&mut c[..]);
            let status =
                sgemm_compute(ta.into(), tb.into(), mi, ni, ki, a_, (&lda).into(), b_, (&ldb).into(), (&beta).into(), c_, (&ldc).into());
            assert_eq!(status, Status::Success);
            for (i, j) in (0..m).flat_map(|i| (0..n).map(move |j| (i, j))) {
                let sum: i32 = (0..k).map(|l| a_value(i, l) * b_value(l, j)).sum();
                let want = sum as f32 + if beta == 0.0 { 0.0 } else { beta * old };
                assert_eq!(c[j * ldc as usize + i], want, "{sizes:?} at {i},{j}");
            }
        }
    }
}

#[test]
fn packed_bytes_agree_with_plain_loops() {
    for (ta, tb, offsetc, sizes, beta) in [(0, 1, b'F', [5, 7, 3], 0.0), (1, 0, b'C', [33, 20, 65], 1.0), (0, 0, b'R', [16, 48, 130], 0.0)]
    {
        let [m, n, k] = sizes.map(|s: i64| s as usize);
        let (a, lda) = stored(m, k, ta == 1, a_value);
        let (b, ldb) = stored(k, n, tb == 1, b_value);
        let (mut sa, mut ub): (Vec<i8>, Vec<u8>) = (a.iter().map(|&v| v as i8).collect(), b.iter().map(|&v| v as u8).collect());
        let (ta, tb) = (&LETTERS[ta], &LETTERS[tb]);
        let functions: (Size, Pack) = (gemm_s8u8s32_pack_get_size, gemm_s8u8s32_pack);
        let mut pa = packed(functions, b'A', [ta, tb], &sizes, &[lda, ldb], Data::from(&mut sa[..]));
        let ldc = m as i64 + 2;
        let co: Vec<i32> = (0..m.max(n) as i32).map(|v| v * v).collect();
        for (ta, a_) in [(ta, Data::from(&mut sa[..])), (&LETTERS[2], Data::from(&mut pa[..]))] {
            let mut c = vec![4i32; n * ldc as usize];
            let (mi, ni, ki) = (In::from(&sizes[0]), In::from(&sizes[1]), In::from(&sizes[2]));
            let (oc, b_, c_, co_) = (offsetc as c_char, Data::from(&mut ub[..]), ArrayMut::of(&mut c), Array::of(&co));
            let (lda, ldb, beta_) = ((&lda).into(), (&ldb).into(), (&beta).into());
            let status =
                gemm_s8u8s32_compute(ta.into(), tb.into(), (&oc).into(), mi, ni, ki, a_, lda, b_, ldb, beta_, c_, (&ldc).into(), co_);
            assert_eq!(status, Status::Success);
            for (i, j) in (0..m).flat_map(|i| (0..n).map(move |j| (i, j))) {
                let sum: i32 = (0..k).map(|l| a_value(i, l) * b_value(l, j)).sum();
                let offset = match offsetc {
                    b'F' => 0,
                    b'C' => co[i],
                    _ => co[j],
                };
                assert_eq!(c[j * ldc as usize + i], sum + beta as i32 * 4 + offset, "{sizes:?} at {i},{j}");
            }
        }
    }
}

#[test]
fn wrong_calls_are_refused() {
    let (mut bytes, mut wanted, one, n) = (0usize, false, 1i64, b'N' as c_char);
    let (one, n) = (In::from(&one), In::from(&n));
    let status = sgemm_pack_get_size(n, n, n, one, one, one, one, one, Out::from(&mut bytes), Out::from(&mut wanted));
    assert_eq!(status, Status::InvalidArguments, "N is no matrix");
    let nothing = In::from(None);
    let status = sgemm_pack_get_size(n, nothing, n, one, one, one, one, one, Out::from(&mut bytes), Out::from(&mut wanted));
    assert_eq!(status, Status::InvalidArguments);
}
