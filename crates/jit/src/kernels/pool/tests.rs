use super::*;
use crate::kernels::strips::{Line, Operand, Tap};
use crate::testing::{ISAS, golden, run};

const PIXELS: usize = 80;
/// Where the column of the first result lies.
const ORIGIN: i64 = 16;

fn three(take: Take, results: u8, stride: u8) -> Pool {
    Pool { window: Window::three(results, stride), take, counts: vec![2, 3, 3, 2, 5] }
}

/// The same kernel over a window with something else.
fn over(kernel: &Pool, change: impl FnOnce(&mut Window)) -> Pool {
    let mut kernel = kernel.clone();
    change(&mut kernel.window);
    kernel
}

/// Two source lines, their places, and rows of two strips whose windows have two lines, one and none.
struct Memory {
    source: Vec<f32>,
    read: Vec<u8>,
    result: Vec<f32>,
    written: Vec<i32>,
    channels: usize,
    row: usize,
}

const LINES: [(usize, usize); 3] = [(0, 0), (1, 3), (1, 3)];
const ROWS: [std::ops::Range<usize>; 3] = [0..2, 2..2, 2..3];

impl Memory {
    fn new(kernel: &Pool, channels: usize) -> Memory {
        let numbers = 2 * PIXELS * channels;
        let row = 2 * usize::from(kernel.window.results) * channels;
        let plain = |i: usize| ((i * 37 + i / 11) % 13) as f32 - 6.0;
        // Some windows have nothing but NaN or minus infinity.
        let number = |i: usize| match (i / channels % PIXELS, i % channels % 5) {
            (14..=19, 0) => f32::NAN,
            (14..=19, 1) => f32::NEG_INFINITY,
            _ if i % 29 == 3 => f32::NAN,
            _ => plain(i),
        };
        let quiet =
            |i: usize| if matches!(kernel.take, Take::Largest | Take::Place(_)) { number(i) } else { plain(i / 29 * 29 + 4 + i % 7) };
        Memory {
            source: (0..numbers).map(quiet).collect(),
            read: (0..numbers).map(|i| (i * 5 % 6) as u8).collect(),
            result: vec![-1.0; ROWS.len() * row],
            written: vec![-1; ROWS.len() * row],
            channels,
            row,
        }
    }

    fn run(&mut self, kernel: &Pool, isa: Isa) {
        let (results, stride, channels) = (usize::from(kernel.window.results), usize::from(kernel.window.stride), self.channels);
        let columns = results * stride / usize::from(kernel.window.step);
        let group = isa.width().lanes() * usize::from(kernel.window.vectors);
        let lines = LINES.map(|(y, place)| Line {
            source: y * PIXELS * channels * 4,
            other: y * PIXELS * channels,
            value: if kernel.take == Take::Shared { place as f32 + 0.5 } else { f32::from_bits(place as u32) },
        });
        let rows: Vec<Row> = ROWS
            .iter()
            .enumerate()
            .map(|(i, lines)| Row {
                result: i * self.row * 4,
                other: i * self.row * 4,
                lines: lines.len(),
                divisor: 1.0 + lines.len() as f32,
            })
            .collect();
        let first = (ORIGIN as usize).wrapping_add_signed(kernel.window.first() as isize) * channels;
        let operand = |at: *mut u8, columns: usize, size: usize| {
            let (column, strip) = (channels * size, columns * channels * size);
            Operand { at, column, strip, vector: isa.width().lanes() * size, group: group * size }
        };
        let args = Args {
            rows: rows.as_ptr(),
            count: rows.len(),
            lines: lines.as_ptr(),
            strips: 2,
            groups: channels.div_ceil(group),
            channels,
            source_channels: channels,
            source: operand(self.source[first..].as_mut_ptr().cast(), columns, 4),
            result: operand(self.result.as_mut_ptr().cast(), results, 4),
            other: match kernel.take {
                Take::Chosen(_) => operand(self.read[first..].as_mut_ptr(), columns, 1),
                _ => operand(self.written.as_mut_ptr().cast(), results, 4),
            },
            shift: std::ptr::null(),
        };
        run(kernel.function(isa), &args);
    }

    /// The result and place wanted at an index.
    fn want(&self, kernel: &Pool, index: usize) -> (f32, i32) {
        let (row, j, c) = (index / self.row, index % self.row / self.channels, index % self.channels);
        let (results, stride, step) = (usize::from(kernel.window.results), i64::from(kernel.window.stride), i64::from(kernel.window.step));
        let (mut best, mut place, mut sum, mut columns) = (f32::NAN, 0, 0.0, 0);
        let mut whole = match kernel.take {
            Take::LargestWhole(Elem::I32) => i32::MIN as u32,
            Take::LargestWhole(Elem::I8) => MIN_I8X4 as u32,
            _ => 0,
        };
        for (y, first) in &LINES[ROWS[row].clone()] {
            columns = 0;
            for tap in &kernel.window.taps {
                let relative = (j % results) as i64 * stride + i64::from(tap.column);
                if relative % step != 0 {
                    continue;
                }
                let relative = relative / step;
                if relative < i64::from(kernel.window.inside.0) || relative >= i64::from(kernel.window.inside.1) {
                    continue;
                }
                let x = (ORIGIN + (j / results * results) as i64 * stride / step + relative) as usize;
                let at = (y * PIXELS + x) * self.channels + c;
                let (value, mine) = (self.source[at], (first + usize::from(tap.weights)) as i32);
                whole = larger(kernel.take, whole, value.to_bits());
                if value > best || best.is_nan() {
                    (best, place) = (value, mine);
                }
                columns += 1;
                let counts = !matches!(kernel.take, Take::Chosen(_)) || i32::from(self.read[at]) == mine;
                let column = usize::try_from(relative - i64::from(kernel.window.inside.0)).unwrap_or(0);
                let part = (0.5 + *first as f32) / f32::from(kernel.counts[column.min(kernel.counts.len() - 1)]);
                sum += match (counts, kernel.take) {
                    (false, _) => 0.0,
                    (true, Take::Shared) => value * part,
                    (true, _) => value,
                };
            }
        }
        let lines = ROWS[row].len();
        match kernel.take {
            Take::Mean { counted, .. } => (sum / ((1.0 + lines as f32) * if counted { columns.max(1) as f32 } else { 1.0 }), -1),
            Take::Chosen(_) | Take::Shared => (sum, -1),
            Take::Largest => (best, -1),
            Take::LargestWhole(_) => (f32::from_bits(whole), -1),
            Take::Place(_) => (best, place),
        }
    }
}

/// The larger of two integers, or of each of their bytes.
fn larger(take: Take, a: u32, b: u32) -> u32 {
    let of_bytes = |larger: fn(u8, u8) -> u8| {
        let (a, b) = (a.to_le_bytes(), b.to_le_bytes());
        u32::from_le_bytes(std::array::from_fn(|i| larger(a[i], b[i])))
    };
    match take {
        Take::LargestWhole(Elem::I32) => (a as i32).max(b as i32) as u32,
        Take::LargestWhole(Elem::I8) => of_bytes(|a, b| (a as i8).max(b as i8) as u8),
        _ => of_bytes(u8::max),
    }
}

fn compare(kernel: &Pool, isa: Isa, channels: usize) {
    let mut memory = Memory::new(kernel, channels);
    memory.run(kernel, isa);
    for (i, (got, place)) in memory.result.iter().zip(&memory.written).enumerate() {
        let want = memory.want(kernel, i);
        let allowed = 1e-6 * f64::from(want.0.abs().max(8.0));
        let same = got.to_bits() == want.0.to_bits() || oxidnn_judge::within(f64::from(*got), f64::from(want.0), allowed);
        assert!(same && *place == want.1, "{} at {i}: {got} from {place}, want {want:?}", kernel.name(isa));
    }
}

const TAKES: [Take; 11] = [
    Take::Largest,
    Take::LargestWhole(Elem::U8),
    Take::LargestWhole(Elem::I8),
    Take::LargestWhole(Elem::I32),
    Take::Place(Elem::I32),
    Take::Mean { counted: false, exact: true },
    Take::Mean { counted: false, exact: false },
    Take::Mean { counted: true, exact: true },
    Take::Mean { counted: true, exact: false },
    Take::Shared,
    Take::Chosen(Elem::U8),
];

#[test]
fn strips_hold_what_windows_give() {
    for isa in ISAS {
        let lanes = isa.width().lanes();
        for take in TAKES {
            for (results, stride) in [(1, 1), (5, 1), (4, 2), (2, 5)] {
                let kernel = three(take, results, stride);
                compare(&kernel, isa, 3 * lanes);
                compare(&over(&kernel, |w| (w.vectors, w.results) = (2, results.min(2))), isa, 4 * lanes);
                if isa.avx512 || !matches!(take, Take::Chosen(_)) {
                    compare(&over(&kernel, |w| w.masked = true), isa, lanes + 3);
                }
                compare(&over(&kernel, |w| w.inside = (0, i16::from(results))), isa, lanes);
            }
            let wide = (0..11).map(|i| Tap { column: i - 5, weights: i as u16 }).collect();
            compare(&over(&three(take, 1, 1), |w| (w.taps, w.inside) = (wide, (-20, 1000))), isa, lanes);
            if matches!(take, Take::Mean { counted: false, .. } | Take::Shared | Take::Chosen(_)) {
                for (results, step) in [(2, 2), (4, 2), (6, 3), (5, 5)] {
                    compare(&over(&three(take, results, 1), |w| w.step = step), isa, 2 * lanes);
                }
            }
        }
    }
}

#[test]
fn nothing_spills() {
    for isa in ISAS {
        for (take, taps, vectors) in
            TAKES.into_iter().flat_map(|t| [1, 3, 7, 9].into_iter().flat_map(move |n| [1, 2, 4].map(|v| (t, n, v))))
        {
            for masked in [false, true] {
                let results = Pool::most_results(isa, take, taps, vectors, masked) as u8;
                if results == 0 || masked && vectors > 1 {
                    continue;
                }
                let list = (0..taps as i16).map(|i| Tap { column: i, weights: i as u16 }).collect();
                let kernel = over(&three(take, results, 2), |w| (w.taps, w.vectors, w.masked) = (list, vectors as u8, masked));
                assert_eq!(kernel.compile(isa).unwrap().inner_spills, 0, "{}", kernel.name(isa));
            }
        }
    }
}

/// Generated code changes only when somebody means it to: `cargo xtask bless` writes the files anew.
#[test]
fn golden_listings() {
    let kernels = [
        (over(&three(Take::Largest, 6, 2), |w| w.vectors = 4), Isa::AVX512),
        (three(Take::Place(Elem::U8), 4, 2), Isa::AVX2),
        (over(&three(Take::Chosen(Elem::U8), 4, 1), |w| w.vectors = 2), Isa::AVX512),
    ];
    for (kernel, isa) in kernels {
        golden(&kernel, isa);
    }
}
