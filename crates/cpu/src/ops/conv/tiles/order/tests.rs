use super::*;
use crate::ops::conv::geometry::Direction;
use oxidnn_spec::op::ConvSizes;
use std::collections::HashMap;

fn sizes(i: i64, k: i64, s: i64, d: i64, p: i64) -> ConvSizes {
    let o = (i + 2 * p - (k - 1) * d - 1) / s + 1;
    ConvSizes {
        mb: 2,
        g: 1,
        ic: 1,
        oc: 1,
        i: [1, i, i],
        o: [1, o, o],
        k: [1, k, k],
        s: [1, s, s],
        d: [1, d, d],
        pl: [0, p, p],
        pr: [0, p, p],
    }
}

fn lines(direction: Direction, s: &ConvSizes) -> [Line; 3] {
    let (result, source) = if direction == Direction::Gather { (s.o, s.i) } else { (s.i, s.o) };
    std::array::from_fn(|i| Line::new(direction, s, i, result[i], source[i]))
}

/// Every result is in one segment, and has there the taps that its window has, and otherwise only taps on padding.
fn check(direction: Direction, s: &ConvSizes, [all_taps, exact]: [bool; 2]) {
    let lines = lines(direction, s);
    let order = Order::new(&lines, Cut { images: 2, rows: 6, on_amx: false, all_taps, exact });
    let mut seen: HashMap<[i64; 3], usize> = HashMap::new();
    let mut row = 0;
    for segment in &order.segments {
        assert!(segment.exact || !exact, "{s:?}: {segment:?}");
        assert_eq!(segment.first_row, row);
        row += segment.rows;
        let pixels: usize = order.patches[segment.patches.clone()].iter().map(Patch::pixels).sum();
        assert_eq!(pixels * 2, segment.rows);
        let phase: [&Phase; 3] = std::array::from_fn(|i| &lines[i].phases[segment.phases[i]]);
        for patch in &order.patches[segment.patches.clone()] {
            for n in 0..patch.pixels() {
                let [_, h, w] = patch.count;
                let at = [patch.first[0] + n / (h * w), patch.first[1] + n / w % h, patch.first[2] + n % w];
                let result = std::array::from_fn(|i| phase[i].first + at[i] as i64 * lines[i].step);
                *seen.entry(result).or_default() += 1;
                let valid = |i: usize, t: usize| (0..lines[i].source).contains(&(at[i] as i64 * lines[i].stride + phase[i].taps[t].1));
                let inside: [Vec<usize>; 3] = std::array::from_fn(|i| (0..phase[i].taps.len()).filter(|t| valid(i, *t)).collect());
                if inside.iter().all(|taps| !taps.is_empty()) {
                    (0..3).for_each(|i| assert!(inside[i].iter().all(|t| segment.taps[i].contains(t)), "{s:?}: {segment:?}"));
                }
                if segment.exact && segment.all_taps() > 0 {
                    (0..3).for_each(|i| assert!(segment.taps[i].clone().all(|t| valid(i, t)), "{s:?}: {segment:?}"));
                }
                if all_taps {
                    (0..3).for_each(|i| assert_eq!(segment.taps[i], 0..phase[i].taps.len()));
                }
            }
        }
    }
    let result = if direction == Direction::Gather { s.o } else { s.i };
    assert_eq!(seen.len() as i64, result.iter().product::<i64>(), "{s:?}");
    assert!(seen.values().all(|n| *n == 1), "{s:?}");
}

#[test]
fn every_result_meets_its_taps_once() {
    for (i, k, s, d, p) in [
        (7, 3, 1, 1, 1),
        (7, 3, 2, 1, 1),
        (14, 1, 2, 1, 0),
        (5, 7, 1, 1, 3),
        (9, 3, 1, 2, 2),
        (6, 3, 3, 1, 0),
        (4, 3, 1, 4, 6),
        (3, 5, 4, 1, 4),
    ] {
        for direction in [Direction::Gather, Direction::Scatter] {
            [[false; 2], [true, false], [false, true]].into_iter().for_each(|how| check(direction, &sizes(i, k, s, d, p), how));
        }
    }
}

#[test]
fn edges_that_are_worth_it_leave_out_their_padding() {
    let s = sizes(7, 3, 1, 1, 1);
    let order = Order::new(&lines(Direction::Gather, &s), Cut { images: 1, rows: 6, on_amx: false, all_taps: false, exact: false });
    let work: usize = order.segments.iter().map(|s| s.rows * s.all_taps()).sum();
    assert!(work <= 380, "{work} taps, of 441 with padding and 361 without");
    let joined = Order::new(
        &lines(Direction::Gather, &sizes(56, 1, 1, 1, 0)),
        Cut { images: 1, rows: 6, on_amx: false, all_taps: false, exact: false },
    );
    assert_eq!((joined.segments.len(), joined.segments[0].exact), (1, true));
}

#[test]
fn a_part_of_a_line_is_the_line_there() {
    let line = &lines(Direction::Gather, &sizes(14, 3, 2, 1, 1))[2];
    let runs = Run::all(&line.phases[0], line);
    assert_eq!(runs, [Run { first: 0, count: 1, taps: 1..3 }, Run { first: 1, count: 6, taps: 0..3 }]);
    let part = line.part(0, 1, 6, 0..3);
    assert_eq!(part.phases, [Phase { first: 1, count: 6, taps: vec![(0, 1), (1, 2), (2, 3)] }]);
}
