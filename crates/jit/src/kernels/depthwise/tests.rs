use super::*;
use crate::kernels::strips::{Line, Operand, Row};
use crate::testing::{ISAS, golden, run};

fn three(results: u8, stride: u8) -> Depthwise {
    let window = Window::three(results, stride);
    Depthwise { window, weights: Elem::F32, dots: None, signed: false, group: [1, 1], shifted: false, single: false }
}

/// The same kernel over a window with something else.
fn over(kernel: &Depthwise, change: impl FnOnce(&mut Window)) -> Depthwise {
    let mut kernel = kernel.clone();
    change(&mut kernel.window);
    kernel
}

/// Rows of two strips, `vectors` vectors of channels, windows of up to two lines; with either loop innermost.
fn compare(kernel: &Depthwise, isa: Isa, vectors: usize, channels: usize) {
    [false, true].into_iter().for_each(|across| compare_in_order(&over(kernel, |w| w.across = across), isa, vectors, channels));
}

fn compare_in_order(kernel: &Depthwise, isa: Isa, vectors: usize, channels: usize) {
    let lanes = isa.width().lanes();
    let window = &kernel.window;
    let used = window.channels(lanes);
    let (results, stride) = (usize::from(window.results), usize::from(window.stride));
    let padded = vectors * lanes;
    let (columns, strips) = (2 * results * stride + 64, if window.inside.1 > 500 { 2 } else { 1 });
    let taps = window.taps.iter().map(|t| usize::from(t.weights) + 1).max().unwrap_or(0);
    let number = |i: usize| ((i * 37 + i / 11) % 13) as f32 - 6.0;
    // A word of a bf16 and a zero, whose bits are above those of its pair.
    let word = |x: f32| if kernel.dots.is_some() { f32::from_bits(x.to_bits() >> 16) } else { x };
    let value = |x: f32| if kernel.dots.is_some() { f32::from_bits(x.to_bits() << 16) } else { x };
    // Two source lines; channels after the last are not to be read.
    let [group, to] = kernel.group.map(usize::from);
    let from = channels / to * group;
    let source: Vec<f32> = (0..2 * columns * from).map(|i| word(number(i))).collect();
    let line = taps * group * used;
    let weights: Vec<f32> = (0..vectors * 2 * line).map(|i| word(number(i + 5))).collect();
    let shift: Vec<f32> = (0..padded).map(|c| (c % 3) as f32).collect();
    let lines = [(0, 0), (1, 1), (1, 0)].map(|(y, k)| Line { source: y * columns * from * 4, other: k * line * 4, value: 0.0 });
    let row = strips * results * channels;
    let rows = [2, 0, 1].into_iter().enumerate().map(|(i, lines)| Row { result: i * row * 4, lines, ..Row::default() }).collect::<Vec<_>>();
    let mut result = vec![-1.0f32; rows.len() * row];
    // Column 20 is where the first result stands.
    let first = (20 + window.first()) as usize * from;
    let operand = |at: *mut f32, column: usize, strip: usize, group: usize| Operand { at: at.cast(), column, strip, vector: 0, group };
    let args = Args {
        rows: rows.as_ptr(),
        count: rows.len(),
        lines: lines.as_ptr(),
        strips,
        groups: vectors,
        channels,
        source_channels: from,
        source: operand(source[first..].as_ptr().cast_mut(), from * 4, results * stride * from * 4, lanes / to * group * 4),
        result: operand(result.as_mut_ptr(), channels * 4, results * channels * 4, used * 4),
        other: operand(weights.as_ptr().cast_mut(), 0, 0, 2 * line * 4),
        shift: shift.as_ptr(),
    };
    run(kernel.function(isa), &args);
    for (i, got) in result.iter().enumerate() {
        let (r, j, c) = (i / row, i % row / channels, i % channels);
        let mut want = 0.0;
        let mine = [&lines[..2], &[], &lines[2..]][r];
        for at in mine {
            for tap in &window.taps {
                let relative = (j % results * stride) as i64 + i64::from(tap.column);
                if relative < i64::from(window.inside.0) || relative >= i64::from(window.inside.1) {
                    continue;
                }
                let column = (20 + (j / results * results * stride) as i64 + relative) as usize;
                for channel in 0..group {
                    let channel_at = c / to * group + channel;
                    let x =
                        value(source[at.source / 4 + column * from + channel_at]) - if kernel.shifted { shift[channel_at] } else { 0.0 };
                    let w = at.other / 4 + c / used * 2 * line + (usize::from(tap.weights) * group + channel) * used + c % used;
                    want += x * value(weights[w]);
                }
            }
        }
        assert_eq!(*got, want, "{} row {r} result {j} channel {c}", kernel.name(isa));
    }
}

#[test]
fn strips_hold_the_sums() {
    let strided = |w: &mut Window| (w.masked, w.stride) = (true, 2);
    for isa in ISAS {
        let lanes = isa.width().lanes();
        for group in [2, 4, 8].into_iter().filter(|g| *g <= lanes) {
            let kernel = Depthwise { group: [group as u8; 2], ..three(5, 1) };
            compare(&kernel, isa, 3, 3 * lanes);
            compare(&over(&kernel, |w| w.inside = (0, 4)), isa, 1, lanes);
            compare(&Depthwise { shifted: true, ..over(&kernel, strided) }, isa, 2, 2 * lanes - group);
        }
        for group in [[1, 2], [3, 4], [2, 8], [1, 8], [3, 8]] {
            let kernel = Depthwise { group, ..three(5, 1) };
            compare(&kernel, isa, 3, 3 * lanes);
            compare(&over(&kernel, strided), isa, 2, 2 * lanes - usize::from(group[1]));
        }
        for group in [[3, 2], [5, 4], [5, 2]] {
            compare(&Depthwise { group, ..three(5, 1) }, isa, 3, 3 * lanes);
        }
        for group in [[2, 1], [4, 1], [4, 2], [8, 4], [8, 2]] {
            let kernel = Depthwise { group, ..three(5, 1) };
            compare(&kernel, isa, 3, 3 * lanes);
            for left in (usize::from(group[1])..lanes).step_by(group[1].into()) {
                let kernel = over(&kernel, strided);
                if group[0] <= 2 * group[1] {
                    compare(&kernel, isa, 2, lanes + left);
                }
                if left / usize::from(group[1]) * usize::from(group[0]) <= lanes {
                    compare(&Depthwise { single: true, ..kernel }, isa, 1, left);
                }
            }
        }
        for group in [[3, 3], [2, 3], [4, 3], [6, 3], [1, 5], [8, 6]].into_iter().filter(|group| 2 * usize::from(group[1]) <= lanes) {
            let idle = lanes % usize::from(group[1]);
            let kernel = over(&Depthwise { group, ..three(5, 1) }, |w| (w.masked, w.idle) = (true, idle as u8));
            compare(&kernel, isa, 3, 3 * (lanes - idle));
            compare(&over(&kernel, strided), isa, 3, 3 * (lanes - idle) - usize::from(group[1]));
        }
        for group in [[1, 1], [4, 4], [4, 8], [4, 2]].into_iter().filter(|_| isa.bf16) {
            compare(&Depthwise { dots: Some(Accumulate::DotBf16), group, ..three(5, 2) }, isa, 3, 3 * lanes);
        }
        for (results, stride) in [(1, 1), (7, 1), (8, 2), (3, 5)] {
            let kernel = three(results, stride);
            compare(&kernel, isa, 1, lanes);
            compare(&kernel, isa, 3, 3 * lanes);
            compare(&Depthwise { shifted: true, ..kernel.clone() }, isa, 2, 2 * lanes);
            let masked = over(&kernel, |w| w.masked = true);
            compare(&masked, isa, 2, lanes + 3);
            compare(&masked, isa, 259usize.div_ceil(lanes), 259);
            for inside in [(0, 1000), (0, i16::from(results)), (0, 1), (1, 1), (5, 3)] {
                compare(&over(&kernel, |w| w.inside = inside), isa, 1, lanes);
            }
        }
        let wide = |n: i16, distance: i16| {
            over(&three(6, 1), |w| {
                w.taps = (0..n).map(|i| Tap { column: (i - n / 2) * distance, weights: (n - 1 - i) as u16 }).collect();
                w.inside = (-20, 1000);
            })
        };
        for kernel in [wide(1, 1), wide(7, 1), wide(13, 1), wide(3, 7)] {
            compare(&kernel, isa, 2, 2 * lanes);
            compare(&over(&kernel, |w| w.masked = true), isa, 1, 5);
        }
    }
}

/// The multiply-adds are all there is: nothing of a strip's sums or weights goes to the stack.
#[test]
fn nothing_spills() {
    for isa in ISAS {
        for taps in [1, 3, 5, 7, 9] {
            for (masked, group) in [
                (false, [1, 1]),
                (true, [1, 1]),
                (false, [4, 4]),
                (true, [4, 4]),
                (true, [3, 8]),
                (false, [8, 2]),
                (true, [3, 3]),
                (true, [4, 3]),
            ] {
                let results = Depthwise::most_results(isa, taps, group.map(usize::from), [masked, false, false]) as u8;
                let list = (0..taps as i16).map(|i| Tap { column: i, weights: i as u16 }).collect();
                let idle = (isa.width().lanes() % usize::from(group[1])) as u8;
                let kernel = over(&three(results, 1), |w| (w.taps, w.masked, w.idle) = (list, masked, idle));
                let compiled = Depthwise { group, ..kernel }.compile(isa).unwrap();
                assert_eq!(compiled.inner_spills, 0, "{taps} taps, groups of {group:?}, {results} results, {}", isa.name());
            }
        }
    }
}

/// Generated code changes only when somebody means it to: `cargo xtask bless` writes the files anew.
#[test]
fn golden_listings() {
    let groups = Depthwise { group: [4, 4], ..three(14, 1) };
    for (kernel, isa) in [(three(14, 1), Isa::AVX512), (three(8, 2), Isa::AVX2), (groups, Isa::AVX512)] {
        golden(&kernel, isa);
    }
}
