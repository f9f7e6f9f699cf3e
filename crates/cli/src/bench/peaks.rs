//! The processor's peak by the type of the products, and its copy speed: measured when first asked for.

use oxidnn_cpu::CpuDevice;
use oxidnn_cpu::peak::{self, Kind};
use oxidnn_spec::{DataType, Problem};
use std::cell::RefCell;
use std::hint::black_box;
use std::sync::Barrier;
use std::time::Instant;

/// Measured peaks of one core, and times of a byte by the size of a copy and the number of threads.
#[derive(Default)]
pub(super) struct Peaks {
    products: RefCell<Vec<(Kind, f64)>>,
    copies: RefCell<Vec<((u32, usize), f64)>>,
}

/// Most bytes of a copy that is measured: longer ones are as fast.
const LONGEST: f64 = 512e6;
/// Bytes that are copied at a time of the clock, at least, and times that the clock is read.
const TIMED: usize = 1 << 20;
const ROUNDS: usize = 12;

impl Peaks {
    /// Gop/s of one core for products of the problem's types.
    pub(super) fn of(&self, problem: &Problem) -> f64 {
        let types = problem.op.operands();
        let kind = types.first().map_or(Kind::F32, |o| match o.tensor.dtype {
            DataType::Bf16 => Kind::Bf16,
            DataType::F16 => Kind::F16,
            DataType::U8 | DataType::S8 => Kind::Int8,
            _ => Kind::F32,
        });
        let mut known = self.products.borrow_mut();
        if let Some((_, peak)) = known.iter().find(|(k, _)| *k == kind) {
            return *peak;
        }
        let peak = peak::single_core(CpuDevice::host().target(), kind) / 1e9;
        known.push((kind, peak));
        peak
    }

    /// All that were asked for.
    pub(super) fn measured(&self) -> Vec<(Kind, f64)> {
        self.products.borrow().clone()
    }

    /// Milliseconds in which `threads` copy as many bytes as are read and written together: the best of a few copies of about this size,
    /// repeated, so that data that fit a cache are in it.
    pub(super) fn copy_ms(&self, bytes: f64, threads: usize) -> f64 {
        let near = bytes.clamp(256.0, LONGEST).log2().round();
        let mut known = self.copies.borrow_mut();
        let key = (near as u32, threads);
        let a_byte = known.iter().find(|(k, _)| *k == key).map(|k| k.1).unwrap_or_else(|| {
            let measured = seconds_to_copy(near.exp2() as usize, threads) / near.exp2();
            known.push((key, measured));
            measured
        });
        bytes * a_byte * 1e3
    }
}

/// Seconds in which threads read and write so many bytes, half of them each way.
fn seconds_to_copy(bytes: usize, threads: usize) -> f64 {
    let (each, barrier) = ((bytes / 2 / threads.max(1)).max(64), Barrier::new(threads.max(1)));
    let times = TIMED.div_ceil(each);
    let run = || {
        let (from, mut to) = (vec![1u8; each], vec![0u8; each]);
        let round = |_| {
            barrier.wait();
            let begin = Instant::now();
            for _ in 0..times {
                black_box(&mut to).copy_from_slice(black_box(&from));
            }
            begin.elapsed().as_secs_f64() / times as f64
        };
        (0..ROUNDS).map(round).fold(f64::INFINITY, f64::min)
    };
    std::thread::scope(|s| {
        let others: Vec<_> = (1..threads).map(|_| s.spawn(run)).collect();
        let own = run();
        others.into_iter().filter_map(|t| t.join().ok()).fold(own, f64::max)
    })
}
