use super::*;
use crate::testing::{ISAS, golden, run};

const F32: Interpolate = Interpolate { from: Elem::F32, to: Elem::F32, lines: 2, sources: 1, taps: 2 };

/// Three rows of some vectors. Lane `i` of a tap comes from source vector `i % sources`, reversed and rotated by the tap, and has a weight of its own.
fn compare(isa: Isa, vectors: usize, key: Interpolate) {
    const ROWS: usize = 3;
    let n = isa.width().lanes();
    let [lines, sources, taps] = [key.lines, key.sources, key.taps].map(usize::from);
    let width = (sources + vectors) * n;
    let source: Vec<f32> = (0..(ROWS + lines) * width).map(|i| (i % 31) as f32 - 7.0).collect();
    let mut results = vec![f32::NAN; ROWS * vectors * n];
    let from = |vector: usize, source: usize| source * n + vector;
    let lane_of = |tap: usize, lane: usize| (2 * n - 1 - lane - tap) % n;
    let pick = |tap: usize, source: usize| Pick {
        takes: (0..n).filter(|lane| lane % sources == source).map(|lane| 1 << lane).sum(),
        lanes: std::array::from_fn(|lane| lane_of(tap, lane % n) as u8),
    };
    let weight = |vector: usize, tap: usize, lane: usize| (vector + 3 * tap) as f32 + lane as f32 / 16.0;
    let line_weight = |line: usize| line as f32 - 0.5;
    let all = || (0..vectors).flat_map(|vector| (0..taps).map(move |tap| (vector, tap)));
    let picks: Vec<Pick> = all().flat_map(|(_, tap)| (0..sources).map(move |source| pick(tap, source))).collect();
    let weights: Vec<Weights> = all().map(|(vector, tap)| std::array::from_fn(|lane| weight(vector, tap, lane))).collect();
    let starts: Vec<usize> = (0..vectors).flat_map(|vector| (0..sources).map(move |source| from(vector, source) * 4)).collect();
    let line = |row: usize, i: usize| Line { source: (row + i) * width * 4, weight: line_weight(i) };
    let table: Vec<Line> = (0..ROWS).flat_map(|row| (0..lines).map(move |i| line(row, i))).collect();
    let rows: Vec<usize> = (0..ROWS).map(|row| (ROWS - 1 - row) * vectors * n * 4).collect();
    let places: Vec<usize> = (0..vectors).map(|vector| (vectors - 1 - vector) * n * 4).collect();
    let args = Args {
        source: source.as_ptr().cast(),
        result: results.as_mut_ptr().cast(),
        lines: table.as_ptr(),
        rows: rows.as_ptr(),
        count: ROWS,
        places: places.as_ptr(),
        sources: starts.as_ptr(),
        picks: picks.as_ptr(),
        weights: weights.as_ptr(),
        vectors,
    };
    run(key.function(isa), &args);
    for (i, result) in results.iter().enumerate() {
        let (row, vector, lane) = (ROWS - 1 - i / n / vectors, vectors - 1 - i / n % vectors, i % n);
        let x = |tap: usize| {
            let at = |line: usize| source[(row + line) * width + from(vector, lane % sources) + lane_of(tap, lane)];
            (0..lines).fold(0.0f32, |sum, line| line_weight(line).mul_add(at(line), sum))
        };
        let want = (0..taps).fold(0.0f32, |sum, tap| weight(vector, tap, lane).mul_add(x(tap), sum));
        assert_eq!(*result, want, "element {i} of {vectors} vectors: {key:?} {}", isa.name());
    }
}

#[test]
fn sums_are_those_of_the_tables() {
    for isa in ISAS {
        for vectors in [1, 3] {
            for [lines, sources, taps] in [[1, 1, 1], [2, 1, 2], [1, 2, 2], [2, 3, 2], [4, 1, 4], [4, 2, 3]] {
                compare(isa, vectors, Interpolate { lines, sources, taps, ..F32 });
            }
        }
    }
}

#[test]
fn golden_listings() {
    for isa in [Isa::AVX2, Isa::AVX512] {
        assert_eq!(golden(&F32, isa).inner_spills, 0);
        assert_eq!(golden(&Interpolate { lines: 4, sources: 2, ..F32 }, isa).inner_spills, 0);
    }
}
