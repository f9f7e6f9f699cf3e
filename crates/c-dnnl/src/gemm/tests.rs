//! Products against plain loops: transposes, leading dimensions, factors, offsets; what is refused.

use super::*;

/// A matrix in memory, with junk between its lines.
struct Stored {
    numbers: Vec<f64>,
    ld: usize,
    transposed: bool,
}

impl Stored {
    fn new([rows, columns]: [usize; 2], transposed: bool, gap: usize, value: impl Fn(usize, usize) -> f64) -> Stored {
        let (lines, line) = if transposed { (columns, rows) } else { (rows, columns) };
        let ld = line + gap;
        let mut numbers = vec![99.0; (lines - 1) * ld + line];
        for i in 0..rows {
            for j in 0..columns {
                numbers[if transposed { j * ld + i } else { i * ld + j }] = value(i, j);
            }
        }
        Stored { numbers, ld, transposed }
    }

    fn at(&self, i: usize, j: usize) -> f64 {
        self.numbers[if self.transposed { j * self.ld + i } else { i * self.ld + j }]
    }

    fn flag(&self) -> c_char {
        (if self.transposed { b'T' } else { b'n' }) as c_char
    }

    fn cast<T>(&self, to: impl Fn(f64) -> T) -> Vec<T> {
        self.numbers.iter().map(|&v| to(v)).collect()
    }
}

/// Small whole numbers.
fn number(i: usize, j: usize) -> f64 {
    ((i * 7 + j * 5) % 11) as f64 - 5.0
}

/// Operands of all transposes, with and without gaps.
fn operands([m, n, k]: [usize; 3]) -> impl Iterator<Item = (Stored, Stored, usize)> {
    [(false, false, 0), (true, false, 3), (false, true, 1), (true, true, 5)]
        .into_iter()
        .map(move |(ta, tb, gap)| (Stored::new([m, k], ta, gap, number), Stored::new([k, n], tb, gap, |i, j| number(j, i + 2)), gap))
}

const SIZES: [[usize; 3]; 4] = [[1, 1, 1], [5, 7, 3], [33, 20, 65], [2, 64, 128]];

#[test]
fn floats_agree_with_plain_loops() {
    for sizes in SIZES {
        for (a, b, gap) in operands(sizes) {
            for (alpha, beta) in [(1.0, 0.0), (1.0, 1.0), (0.5, -2.0), (0.0, 0.5)] {
                floats(sizes, &a, &b, gap, (alpha, beta));
            }
        }
    }
}

fn floats([m, n, k]: [usize; 3], a: &Stored, b: &Stored, gap: usize, (alpha, beta): (f32, f32)) {
    // C is not read where beta is 0.
    let old = if beta == 0.0 { f32::NAN } else { 3.0 };
    let ldc = n + gap;
    let (mut fa, mut fb) = (a.cast(|v| v as f32), b.cast(|v| v as f32));
    let (mut ha, mut hb) = (a.cast(|v| ((v as f32).to_bits() >> 16) as u16), b.cast(|v| ((v as f32).to_bits() >> 16) as u16));
    let (mut c, mut h) = (vec![old; m * ldc], vec![old; m * ldc]);
    let (sizes, lds) = ([m, n, k].map(|s| s as i64), [a.ld as i64, b.ld as i64, ldc as i64]);
    let call =
        |f: extern "C" fn(c_char, c_char, i64, i64, i64, f32, Data, i64, Data, i64, f32, Data, i64) -> Status,
         a_: Data,
         b_: Data,
         c_: Data| { f(a.flag(), b.flag(), sizes[0], sizes[1], sizes[2], alpha, a_, lds[0], b_, lds[1], beta, c_, lds[2]) };
    assert_eq!(call(dnnl_sgemm, Data::from(&mut fa[..]), Data::from(&mut fb[..]), Data::from(&mut c[..])), Status::Success);
    assert_eq!(call(dnnl_gemm_bf16bf16f32, Data::from(&mut ha[..]), Data::from(&mut hb[..]), Data::from(&mut h[..])), Status::Success);
    for i in 0..m {
        for j in 0..n {
            let sum: f64 = (0..k).map(|l| a.at(i, l) * b.at(l, j)).sum();
            let want = f64::from(alpha) * sum + if beta == 0.0 { 0.0 } else { f64::from(beta * old) };
            assert_eq!(f64::from(c[i * ldc + j]), want, "{m}x{n}x{k} {alpha} {beta} at {i},{j}");
            assert_eq!(f64::from(h[i * ldc + j]), want, "{m}x{n}x{k} {alpha} {beta} at {i},{j}");
        }
        let gap = &c[i * ldc + n..(i + 1) * ldc];
        assert!(gap.iter().all(|v| v.to_bits() == old.to_bits()), "what lies between the rows of C is not touched");
    }
}

/// BLAS forbids it, and programs that only ask for a status or a time do it.
#[test]
fn one_array_may_be_all_three_matrices() {
    let mut all: Vec<f32> = (0..9).map(|v| v as f32).collect();
    let before = all.clone();
    let data = Data::from(&mut all[..]);
    let flag = b'N' as c_char;
    assert_eq!(dnnl_sgemm(flag, flag, 3, 3, 3, 1.0, data, 3, data, 3, 1.0, data, 3), Status::Success);
    let product = |i: usize, j: usize| (0..3).map(|l| before[i * 3 + l] * before[l * 3 + j]).sum::<f32>();
    let want: Vec<f32> = (0..9).map(|e| product(e / 3, e % 3) + before[e]).collect();
    assert_eq!(all, want);
}

#[test]
fn bytes_agree_with_plain_loops() {
    for sizes in SIZES {
        for (a, b, gap) in operands(sizes) {
            for (offsetc, zeros, alpha, beta) in [('F', [0, 0], 1.0, 0.0), ('R', [3, -2], 1.0, 1.0), ('c', [0, 4], 0.25, 0.5)] {
                for unsigned in [false, true] {
                    bytes(sizes, (&a, &b, gap), (offsetc, unsigned), zeros, (alpha, beta));
                }
            }
        }
    }
}

fn bytes(
    [m, n, k]: [usize; 3],
    (a, b, gap): (&Stored, &Stored, usize),
    (offsetc, unsigned): (char, bool),
    zeros: [i8; 2],
    (alpha, beta): (f32, f32),
) {
    let shift = if unsigned { 5.0 } else { 0.0 };
    let ldc = n + gap;
    let (mut ua, mut sa, mut sb) = (a.cast(|v| (v + shift) as u8), a.cast(|v| v as i8), b.cast(|v| v as i8));
    let co: Vec<i32> = (0..m.max(n) as i32).collect();
    let mut c = vec![(1 << 24) + 1; m * ldc];
    let [mi, ni, ki, lda, ldb, ldci] = [m, n, k, a.ld, b.ld, ldc].map(|v| v as i64);
    let (b_, c_, co_) = (Data::from(&mut sb[..]), ArrayMut::of(&mut c), Array::of(&co));
    let (ta, tb, oc) = (a.flag(), b.flag(), offsetc as c_char);
    let status = if unsigned {
        let a_ = Data::from(&mut ua[..]);
        dnnl_gemm_u8s8s32(ta, tb, oc, mi, ni, ki, alpha, a_, lda, zeros[0] as u8, b_, ldb, zeros[1], beta, c_, ldci, co_)
    } else {
        let a_ = Data::from(&mut sa[..]);
        dnnl_gemm_s8s8s32(ta, tb, oc, mi, ni, ki, alpha, a_, lda, zeros[0], b_, ldb, zeros[1], beta, c_, ldci, co_)
    };
    assert_eq!(status, Status::Success);
    for i in 0..m {
        for j in 0..n {
            let sum: f64 = (0..k).map(|l| (a.at(i, l) + shift - f64::from(zeros[0])) * (b.at(l, j) - f64::from(zeros[1]))).sum();
            let offset = match offsetc {
                'F' => 0,
                'R' => j,
                _ => i,
            };
            let want = f64::from(alpha) * sum + f64::from(beta) * f64::from((1 << 24) + 1) + offset as f64;
            assert_eq!(f64::from(c[i * ldc + j]), want.round(), "{m}x{n}x{k} {offsetc} at {i},{j}");
        }
    }
}

#[test]
fn sums_beyond_the_digits_of_floats_are_exact() {
    let k = 60_000;
    let (mut a, mut b, mut c) = (vec![255u8; k], vec![127i8; k], [5i32]);
    b[0] = 126;
    for (beta, zeros, want) in [(0.0, [0u8, 0u8], 255 * 127 * 60_000 - 255 + 1), (1.0, [3, 2], 252 * 125 * 60_000 - 252 + 1 + 5)] {
        let (n, k) = (b'N' as c_char, k as i64);
        c[0] = 5;
        let (a_, b_) = (Data::from(&mut a[..]), Data::from(&mut b[..]));
        let (c_, co) = (ArrayMut::of(&mut c), Array::of(&[1]));
        let status = dnnl_gemm_u8s8s32(n, n, b'F' as c_char, 1, 1, k, 1.0, a_, k, zeros[0], b_, 1, zeros[1] as i8, beta, c_, 1, co);
        assert_eq!((status, c[0]), (Status::Success, want));
    }
}

#[test]
fn empty_products_leave_c_alone_and_wrong_ones_are_refused() {
    let (mut a, mut b, mut c) = ([1f32; 12], [1f32; 12], [7f32; 4]);
    let mut call = |ta: u8, [m, n, k]: [i64; 3], [lda, ldb, ldc]: [i64; 3]| {
        let (a_, b_, c_) = (Data::from(&mut a[..]), Data::from(&mut b[..]), Data::from(&mut c[..]));
        (dnnl_sgemm(ta as c_char, b'N' as c_char, m, n, k, 1.0, a_, lda, b_, ldb, 0.0, c_, ldc), c[0])
    };
    assert_eq!(call(b'N', [2, 2, 0], [1, 2, 2]), (Status::Success, 7.0));
    assert_eq!(call(b'N', [0, 2, 3], [3, 2, 2]), (Status::Success, 7.0));
    let wrong = [
        (b'x', [2, 2, 3], [3, 2, 2]),
        (b'P', [2, 2, 3], [3, 2, 2]),
        (b'N', [-1, 2, 3], [3, 2, 2]),
        (b'N', [2, 2, 3], [2, 2, 2]),
        (b'N', [2, 2, 3], [3, 1, 2]),
        (b'N', [2, 2, 3], [3, 2, 1]),
        (b'N', [0, 0, 0], [0, 0, 0]),
    ];
    for (ta, sizes, lds) in wrong {
        assert_eq!(call(ta, sizes, lds), (Status::InvalidArguments, 7.0), "{ta} {sizes:?} {lds:?}");
    }
    assert_eq!(call(b'T', [2, 2, 3], [2, 2, 2]), (Status::Success, 3.0));
    let (n, null) = (b'N' as c_char, Data::NULL);
    assert_eq!(dnnl_sgemm(n, n, 2, 2, 3, 1.0, null, 3, null, 2, 0.0, null, 2), Status::InvalidArguments);
}
