//! Blocks of sums against plain loops, for all types, odd sizes and several pairs.

use super::*;
use oxidnn_expr::number::encode;
use oxidnn_spec::DataType;

/// Data types of `A` and `B`, if tensors can have them.
fn types(product: DotType) -> Option<[DataType; 2]> {
    match product {
        DotType::F32 => Some([DataType::F32; 2]),
        DotType::Bf16 => Some([DataType::Bf16; 2]),
        DotType::F16 => Some([DataType::F16; 2]),
        DotType::U8S8 => Some([DataType::U8, DataType::S8]),
        DotType::S8S8 => Some([DataType::S8; 2]),
        DotType::U8S7 | DotType::S8S7 | DotType::I16 => None,
    }
}

/// Small integers, negative ones too if `low` is negative.
fn number(i: usize, j: usize, low: i64) -> i64 {
    ((i * 7 + j * 3) % 11) as i64 + low
}

fn store(memory: &Allocation, dtype: DataType, at: usize, value: i64) {
    let (bytes, bits) = (dtype.bits() / 8, encode(dtype, value as f64).to_le_bytes());
    memory.region().bytes().unwrap().write(at * bytes, &bits[..bytes]);
}

fn check(isa: Isa, product: DotType, [m, n, k]: [usize; 3], pairs: usize, add: bool) {
    let Some([a_type, b_type]) = types(product) else { return };
    let low = if product == DotType::U8S8 { 0 } else { -5 };
    let together = product.vnni();
    let shape = Shape { product, m, n, k, lda: k + 3, ldb: n + 2, ldc: n + 5, add };
    let (a_bytes, b_bytes) = (shape.a_extent().unwrap(), shape.b_extent().unwrap());
    let (a, b) = (Allocation::host(a_bytes * pairs).unwrap(), Allocation::host(b_bytes * pairs).unwrap());
    let places: Vec<[usize; 2]> = (0..pairs).map(|p| [p * a_bytes, (pairs - 1 - p) * b_bytes]).collect();
    for (p, [a_at, b_at]) in places.iter().enumerate() {
        for l in 0..k {
            (0..m).for_each(|i| store(&a, a_type, a_at * 8 / a_type.bits() + i * shape.lda + l, number(i + p, l, low)));
            let line = b_at * 8 / b_type.bits() + l / together * shape.ldb * together + l % together;
            (0..n).for_each(|j| store(&b, b_type, line + j * together, number(l, j + p, -4)));
        }
    }
    let whole = product.is_integer();
    let old = if whole { f32::from_bits(1000) } else { 1000.0 };
    let mut c = vec![old; shape.c_extent().unwrap()];
    Brgemm::new(isa, shape).unwrap().run(a.region().bytes().unwrap(), b.region().bytes().unwrap(), &places, &mut c);
    for (i, row) in c.chunks(shape.ldc).enumerate() {
        for (j, got) in row.iter().enumerate() {
            let sum = |p: usize| -> i64 { (0..k).map(|l| number(i + p, l, low) * number(l, j + p, -4)).sum() };
            let want = if j >= n { 1000 } else { (0..pairs).map(sum).sum::<i64>() + if add { 1000 } else { 0 } };
            let got = if whole { i64::from(got.to_bits() as i32) } else { *got as i64 };
            assert_eq!(got, want, "{product:?} {m}x{n}x{k} of {pairs} at {i},{j}");
        }
    }
}

#[test]
fn sums_agree_with_plain_loops() {
    let Some(host) = Isa::host() else { return };
    for isa in [Isa::AVX2, Isa::AVX2_VNNI, host].into_iter().filter(|isa| isa.is_present()) {
        for product in DotType::ALL {
            for sizes in [[1, 1, 1], [7, 70, 9], [6, 64, 32], [13, 17, 130]] {
                check(isa, product, sizes, 1, false);
                check(isa, product, sizes, 3, true);
            }
            check(isa, product, [2, 3, 4], 60, false);
        }
    }
}

#[test]
fn wrong_shapes_are_refused() {
    let Some(isa) = Isa::host() else { return };
    let shape = Shape { product: DotType::F32, m: 4, n: 4, k: 4, lda: 4, ldb: 4, ldc: 4, add: false };
    assert!(Brgemm::new(isa, shape).is_ok());
    for wrong in [Shape { m: 0, ..shape }, Shape { lda: 3, ..shape }, Shape { ldc: 3, ..shape }, Shape { ldb: usize::MAX, ..shape }] {
        assert!(Brgemm::new(isa, wrong).is_err(), "{wrong:?}");
    }
}
