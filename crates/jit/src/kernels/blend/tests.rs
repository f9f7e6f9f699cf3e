use super::*;
use crate::testing::{ISAS, golden, run};

const CHANNELS: usize = 64;

/// Two lines of five columns of integers, with a third that nothing is read of.
fn source() -> Vec<f32> {
    (0..3 * 5 * CHANNELS).map(|i| ((i * 37 + i / 11) % 13) as f32 - 6.0).collect()
}

/// What the columns of some taps are, of so many channels.
fn want(source: &[f32], lines: &[Tap], columns: &[&[Tap]], channels: usize) -> Vec<f32> {
    let number = |line: &Tap, tap: &Tap, c: usize| line.weight * tap.weight * source[(line.source + tap.source) / 4 + c];
    let sum =
        |taps: &[Tap], c: usize| lines.iter().flat_map(|line| taps.iter().map(move |tap| (line, tap))).map(|(l, t)| number(l, t, c)).sum();
    columns.iter().flat_map(|taps| (0..CHANNELS).map(move |c| if c < channels { sum(taps, c) } else { -1.0 })).collect()
}

#[test]
fn columns_are_sums_of_weighted_taps_of_lines() {
    let tap = |at: usize, weight: f32| Tap { source: at * CHANNELS * 4, weight };
    let lines = [tap(0, 0.5), tap(5, 2.0)];
    let two: [&[Tap]; 3] = [&[tap(0, 1.0), tap(1, 3.0)], &[tap(4, 0.25), tap(4, 0.75)], &[tap(2, 1.0), tap(3, -1.0)]];
    let any: [&[Tap]; 3] = [&[tap(1, 2.0)], &[], &[tap(0, 1.0), tap(2, 4.0), tap(3, 0.5)]];
    for isa in ISAS {
        let lanes = isa.width().lanes();
        for (columns, taps, across) in [(two, Some(2), false), (two, Some(2), true), (any, None, false)] {
            let channels = [(1, false, CHANNELS), (2, false, CHANNELS), (1, true, CHANNELS - 5), (2, true, CHANNELS - 5)];
            let held = [None, Some(2)].into_iter().filter(|held| taps.is_some() || held.is_none());
            for ((vectors, masked, channels), held) in channels.into_iter().flat_map(|c| held.clone().map(move |held| (c, held))) {
                let kernel = Blend { source: Elem::F32, taps, lines: held, copies: false, vectors, masked, across, streaming: false };
                let function = kernel.function(isa);
                let (source, mut result) = (source(), vec![-1.0f32; 3 * CHANNELS]);
                let (all, counts): (Vec<Tap>, Vec<usize>) = (columns.concat(), columns.iter().map(|taps| taps.len()).collect());
                let group = lanes * usize::from(vectors);
                let args = Args {
                    lines: lines.as_ptr(),
                    count: lines.len(),
                    taps: all.as_ptr(),
                    counts: counts.as_ptr(),
                    columns: columns.len(),
                    groups: channels.div_ceil(group),
                    channels,
                    source: source.as_ptr().cast(),
                    group: group * 4,
                    result: result.as_mut_ptr().cast(),
                    result_column: CHANNELS * 4,
                    result_group: group * 4,
                    result_vector: lanes * 4,
                    last: 0,
                };
                run(function, &args);
                assert_eq!(result, want(&source, &lines, &columns, channels), "{}", kernel.name(isa));
            }
        }
    }
}

#[test]
fn columns_of_one_tap_are_moved_as_they_are() {
    let taps: Vec<Tap> = [3usize, 0, 4].map(|at| Tap { source: at * CHANNELS * 4, weight: 0.0 }).into();
    let line = Tap { source: 5 * CHANNELS * 4, weight: 0.0 };
    for isa in ISAS {
        let all = [
            (2, CHANNELS, false, false),
            (2, CHANNELS, true, false),
            (2, CHANNELS, true, true),
            (1, CHANNELS - 5, true, false),
            (2, CHANNELS - 5, true, false),
        ];
        for (vectors, channels, across, streaming) in all {
            let masked = channels < CHANNELS;
            let kernel = Blend { source: Elem::F32, taps: Some(1), lines: None, copies: true, vectors, masked, across, streaming };
            let (source, mut memory) = (source(), vec![-1.0f32; 3 * CHANNELS + 16]);
            let first = memory.as_ptr().align_offset(64);
            let result = &mut memory[first..first + 3 * CHANNELS];
            let group = isa.width().lanes() * usize::from(vectors);
            let args = Args {
                lines: &line,
                count: 1,
                taps: taps.as_ptr(),
                counts: std::ptr::null(),
                columns: taps.len(),
                groups: channels.div_ceil(group),
                channels,
                source: source.as_ptr().cast(),
                group: group * 4,
                result: result.as_mut_ptr().cast(),
                result_column: CHANNELS * 4,
                result_group: group * 4,
                result_vector: isa.width().lanes() * 4,
                last: 1,
            };
            run(kernel.function(isa), &args);
            let number = |tap: &Tap, c: usize| if c < channels { source[(line.source + tap.source) / 4 + c] } else { -1.0 };
            let want: Vec<f32> = taps.iter().flat_map(|tap| (0..CHANNELS).map(move |c| number(tap, c))).collect();
            assert_eq!(result, want, "{}", kernel.name(isa));
        }
    }
}

#[test]
fn listing_is_as_reviewed() {
    let taps = Some(2);
    let kernel = Blend { source: Elem::Bf16, taps, lines: None, copies: false, vectors: 2, masked: false, across: false, streaming: false };
    for isa in [Isa::AVX2, Isa::AVX512] {
        golden(&kernel, isa);
    }
}
