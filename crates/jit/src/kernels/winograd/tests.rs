use super::products::{Args, Fused, FusedArgs, Products, THIRD};
use super::*;
use crate::testing::{ISAS, golden, run};

/// Elements of a tile in `f64`, position by position.
fn both_ways<const N: usize, const M: usize>(matrix: [[f64; N]; M], x: impl Fn(usize, usize) -> f64) -> Vec<f64> {
    let (mut out, m) = (Vec::new(), &matrix);
    for column in COLUMNS.iter().filter_map(|j| m.get(*j)) {
        for row in m {
            let along = |i: usize| (0..N).map(|j| column[j] * x(i, j)).sum::<f64>();
            out.push((0..N).map(|i| row[i] * along(i)).sum());
        }
    }
    out
}

/// The position of a row and column.
fn position(i: usize, j: usize) -> usize {
    6 * COLUMNS.iter().position(|c| *c == j).unwrap() + i
}

const SOURCE: [[f64; 6]; 6] = [
    [1.0, 0.0, -(P2 + Q2), 0.0, 1.0, 0.0],
    [0.0, -P * Q2, -Q2, P, 1.0, 0.0],
    [0.0, P * Q2, -Q2, -P, 1.0, 0.0],
    [0.0, -Q * P2, -P2, Q, 1.0, 0.0],
    [0.0, Q * P2, -P2, -Q, 1.0, 0.0],
    [0.0, 1.0, 0.0, -(P2 + Q2), 0.0, 1.0],
];

const WEIGHTS: [[f64; 3]; 6] = [
    [1.0, 0.0, 0.0],
    [G_P, G_P * P, G_P * P2],
    [G_P, -G_P * P, G_P * P2],
    [G_Q, G_Q * Q, G_Q * Q2],
    [G_Q, -G_Q * Q, G_Q * Q2],
    [0.0, 0.0, 1.0],
];

const RESULT: [[f64; 6]; 4] =
    [[1.0, 1.0, 1.0, 1.0, 1.0, 0.0], [0.0, P, -P, Q, -Q, 0.0], [0.0, P2, P2, Q2, Q2, 0.0], [0.0, P * P2, -P * P2, Q * Q2, -Q * Q2, 1.0]];

fn number(i: usize) -> f32 {
    ((i * 7919 + i / 13 * 31) % 101) as f32 / 64.0 - 0.75
}

fn close(got: f32, want: f64, what: &str) {
    assert!((f64::from(got) - want).abs() < 1e-4, "{what}: {got}, expected {want}");
}

#[test]
fn the_transforms_are_a_convolution() {
    let (d, g) = (|i: usize, j: usize| f64::from(number(6 * i + j)), |i: usize, j: usize| f64::from(number(100 + 3 * i + j)));
    let (v, u) = (both_ways(SOURCE, d), both_ways(WEIGHTS, g));
    let y = both_ways(RESULT, |i, j| v[position(i, j)] * u[position(i, j)]);
    for i in 0..4 {
        for j in 0..4 {
            let want: f64 = (0..9).map(|k| d(i + k / 3, j + k % 3) * g(k / 3, k % 3)).sum();
            assert!((y[4 * j + i] - want).abs() < 1e-12);
        }
    }
}

#[test]
fn source_tiles() {
    for isa in ISAS {
        let lanes = isa.width().lanes();
        let vectors = 3;
        let channels = vectors * lanes;
        let pixels: Vec<f32> = (0..36 * channels).map(number).collect();
        for columns in [[true; 6], [false, true, true, true, true, true], [true, true, false, false, false, false]] {
            let position = channels + 16;
            let mut out = vec![f32::NAN; 36 * position];
            let args = SourceArgs {
                rows: std::array::from_fn(|i| pixels[6 * i * channels..].as_ptr().cast()),
                lanes: columns.map(|c| if c { lanes } else { 0 }),
                channels: [lanes * 4; 6],
                pixel: channels * 4,
                vectors,
                to: out.as_mut_ptr().cast(),
                position: position * 4,
                step: lanes * 4,
            };
            run(Source.function(isa), &args);
            for c in 0..channels {
                let d = |i: usize, j: usize| if columns[j] { f64::from(pixels[(6 * i + j) * channels + c]) } else { 0.0 };
                for (p, want) in both_ways(SOURCE, d).into_iter().enumerate() {
                    close(out[p * position + c], want, isa.name());
                }
            }
            assert!((0..36).all(|p| out[p * position..][channels..position].iter().all(|x| x.is_nan())), "nothing else is written");
        }
    }
}

#[test]
fn weights_both_ways_round() {
    for isa in ISAS {
        let lanes = isa.width().lanes();
        let (vectors, count) = (5, 5 * lanes);
        let taps: Vec<f32> = (0..9 * count).map(number).collect();
        for turned in [false, true] {
            let mut out = vec![f32::NAN; 36 * count];
            let args = WeightArgs {
                from: taps[if turned { 8 * count } else { 0 }..].as_ptr().cast(),
                tap: count as isize * if turned { -4 } else { 4 },
                vectors,
                to: out.as_mut_ptr().cast(),
                position: count * 4,
            };
            run(Weights.function(isa), &args);
            for c in 0..count {
                let g = |i: usize, j: usize| f64::from(taps[if turned { 8 - 3 * i - j } else { 3 * i + j } * count + c]);
                for (p, want) in both_ways(WEIGHTS, g).into_iter().enumerate() {
                    close(out[p * count + c], want, isa.name());
                }
            }
        }
    }
}

#[test]
fn tiles_of_results() {
    for isa in ISAS {
        let lanes = isa.width().lanes();
        let (vectors, channels) = (2, 2 * lanes);
        let sums: Vec<f32> = (0..36 * channels).map(number).collect();
        for wanted in [[4, 4], [1, 3], [3, 1], [2, 2]] {
            let mut out = vec![f32::NAN; 16 * channels];
            let rows = std::array::from_fn(|i| out[4 * i * channels..].as_mut_ptr().cast());
            let args = ResultArgs {
                from: sums.as_ptr().cast(),
                position: channels * 4,
                vectors,
                rows,
                pixel: channels * 4,
                channel: lanes * 4,
                wanted,
            };
            run(Results.function(isa), &args);
            for c in 0..channels {
                let m = |i: usize, j: usize| f64::from(sums[position(i, j) * channels + c]);
                for (at, want) in both_ways(RESULT, m).into_iter().enumerate() {
                    let (i, j) = (at % 4, at / 4);
                    let got = out[(4 * i + j) * channels + c];
                    if i < wanted[0] && j < wanted[1] {
                        close(got, want, isa.name());
                    } else {
                        assert!(got.is_nan(), "a result that is not wanted");
                    }
                }
            }
        }
    }
}

/// Sums of products of a position, tile and column, by channels of `lanes` in a chunk.
fn products_case(isa: Isa, key: Products, tiles: [usize; 2], chunks: usize) {
    let lanes = isa.width().lanes();
    let (rows, vectors, line) = (usize::from(key.rows), usize::from(key.vectors), usize::from(key.line) * lanes);
    let count = tiles[0] * rows + tiles[1] * (rows - 1);
    let (a_position, b_position, columns) = (count * lanes + 16, lanes * line, vectors * lanes);
    let sums_position = count * columns + 16;
    let whole = |i: usize| ((i * 37 + i / 11) % 13) as f32 - 6.0;
    let a: Vec<f32> = (0..POSITIONS * chunks * a_position).map(whole).collect();
    let b: Vec<f32> = (0..POSITIONS * chunks * b_position).map(|i| whole(i + 5)).collect();
    let mut sums = vec![f32::NAN; POSITIONS * sums_position];
    let args = Args {
        a: a.as_ptr().cast(),
        a_position: a_position * 4,
        a_chunk: a_position * POSITIONS * 4,
        b: b.as_ptr().cast(),
        b_position: b_position * 4,
        b_chunk: b_position * POSITIONS * 4,
        sums: sums.as_mut_ptr().cast(),
        sums_position: sums_position * 4,
        chunks,
        tiles,
    };
    run(key.function(isa), &args);
    for p in 0..POSITIONS {
        for t in 0..count {
            for column in 0..columns {
                let product = |k: usize| {
                    let (chunk, k) = ((k / lanes * POSITIONS) + p, k % lanes);
                    a[chunk * a_position + t * lanes + k] * b[chunk * b_position + k * line + column]
                };
                let want: f32 = (0..chunks * lanes).map(product).sum();
                assert_eq!(sums[p * sums_position + t * columns + column], want, "{} {key:?} {p} {t} {column}", isa.name());
            }
        }
        assert!(sums[p * sums_position + count * columns..][..16].iter().all(|x| x.is_nan()), "nothing else is written");
    }
}

#[test]
fn products_of_positions() {
    for isa in ISAS {
        let most = if isa.avx512 { 4 } else { 2 };
        for (rows, vectors, line, tiles) in [(6, most, most, [2, 1]), (5, 1, most, [0, 3]), (1, 2, 2, [3, 0]), (2, 1, 1, [1, 2])] {
            products_case(isa, Products { rows, vectors, line }, tiles, 3);
        }
    }
}

/// A third of the positions of `chunks` chunks, weights and all.
fn fused_case(isa: Isa, key: Fused, third: usize, tiles: [usize; 2]) {
    let (lanes, chunks) = (isa.width().lanes(), 2);
    let (rows, columns) = (usize::from(key.rows), usize::from(key.vectors) * lanes);
    let count = tiles[0] * rows + tiles[1] * (rows - 1);
    let (a_position, line, sums_position) = (count * lanes + 16, columns + lanes, count * columns);
    let tap = chunks * lanes * line;
    let a: Vec<f32> = (0..chunks * THIRD * a_position).map(number).collect();
    let weights: Vec<f32> = (0..9 * tap).map(|i| number(i + 3)).collect();
    let mut b = vec![0u8; key.scratch(isa)];
    let mut sums = vec![1.0f32; THIRD * sums_position];
    let args = FusedArgs {
        a: a.as_ptr().cast(),
        a_position: a_position * 4,
        a_chunk: a_position * THIRD * 4,
        weights: weights.as_ptr().cast(),
        tap: tap as isize * 4,
        line: line * 4,
        b: b.as_mut_ptr(),
        sums: sums.as_mut_ptr().cast(),
        sums_position: sums_position * 4,
        chunks,
        tiles,
        factors: if key.ends { [f32::NAN; 3] } else { WEIGHT_FACTORS[third - 1] },
    };
    run(key.function(isa), &args);
    for column in 0..columns {
        let transformed: Vec<Vec<f64>> =
            (0..chunks * lanes).map(|k| both_ways(WEIGHTS, |i, j| f64::from(weights[(3 * i + j) * tap + k * line + column]))).collect();
        for p in 0..THIRD {
            for t in 0..count {
                let product = |k: usize| {
                    let at = (k / lanes * THIRD + p) * a_position + t * lanes + k % lanes;
                    f64::from(a[at]) * transformed[k][third * THIRD + p]
                };
                let want = 1.0 + (0..chunks * lanes).map(product).sum::<f64>();
                close(sums[p * sums_position + t * columns + column], want, &key.name(isa));
            }
        }
    }
}

#[test]
fn weights_transformed_on_the_way() {
    for isa in ISAS {
        for (rows, vectors, tiles) in [(4, 2, [1, 0]), (7, 1, [1, 2]), (1, 1, [2, 0])] {
            for third in 0..3 {
                fused_case(isa, Fused { rows, vectors, ends: third == 0 }, third, tiles);
            }
        }
    }
}

#[test]
fn golden_listings() {
    for isa in [Isa::AVX512, Isa::AVX2] {
        let tile = if isa.avx512 { Products { rows: 6, vectors: 4, line: 4 } } else { Products { rows: 6, vectors: 2, line: 2 } };
        let mut kept = vec![golden(&Source, isa), golden(&Weights, isa), golden(&Results, isa), golden(&tile, isa)];
        if isa.avx512 {
            let fused = [Fused { rows: 16, vectors: 1, ends: false }, Fused { rows: 4, vectors: 2, ends: true }];
            kept.extend(fused.map(|f| golden(&f, isa)));
            kept.iter().for_each(|compiled| assert_eq!(compiled.inner_spills, 0));
        }
    }
}
