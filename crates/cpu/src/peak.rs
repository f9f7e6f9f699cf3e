//! The processor's measured peak: what a kernel's speed is compared with.

use crate::kernels::lanes::Lanes;
use crate::kernels::multiversion::{Body, Simd};
use std::hint::black_box;
use std::time::Instant;

/// Independent chains of multiply-adds: enough to fill the pipelines of current cores, few enough for the registers.
const CHAINS: usize = 12;
/// Steps of one timed run.
const STEPS: usize = 20_000;

/// Multiply-adds on numbers that stay in registers between the first load and the last store.
struct Chains<'a> {
    x: f32,
    data: &'a mut [f32; CHAINS * 16],
}

impl Body for Chains<'_> {
    type Out = usize;

    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) -> usize {
        let y: [Lanes<W>; 2] = std::array::from_fn(|v| Lanes::load(&self.data[v * W..]));
        let mut acc: [[Lanes<W>; 2]; CHAINS / 2] =
            std::array::from_fn(|i| std::array::from_fn(|v| Lanes::load(&self.data[(2 * i + v) * W..])));
        for _ in 0..STEPS {
            for pair in &mut acc {
                for v in 0..2 {
                    pair[v] = pair[v].fma::<FMA>(self.x, y[v]);
                }
            }
        }
        for (i, lanes) in acc.iter().flatten().enumerate() {
            lanes.store(&mut self.data[i * W..]);
        }
        2 * W * CHAINS * STEPS
    }
}

/// Single-precision operations a second of one core (a multiply-add counts two), the best of several short runs; about 20 ms.
pub fn single_core_flops(simd: Simd) -> f64 {
    let mut best = 0.0f64;
    for _ in 0..40 {
        let mut data = black_box([1.0; CHAINS * 16]);
        let start = Instant::now();
        let operations = simd.run(Chains { x: black_box(1e-9), data: &mut data });
        let seconds = start.elapsed().as_secs_f64();
        black_box(data);
        best = best.max(operations as f64 / seconds.max(1e-9));
    }
    best
}
