//! Measures the core's peak and what share of it the dot kernel reaches out of the first-level cache.

use oxidnn_cpu::Isa;
use oxidnn_cpu::kernels::dot::{Block, Rows, Tap, accumulate};
use oxidnn_cpu::kernels::multiversion::Simd;
use std::time::Instant;

fn main() {
    for simd in Isa::ALL.into_iter().filter_map(Simd::new) {
        let peak = oxidnn_cpu::peak::single_core_flops(simd);
        println!("{:12} peak {:6.1} GFLOP/s", simd.isa().name(), peak / 1e9);
        let (depth, taps) = (64, 9);
        for width in [simd.isa().lanes(), 2 * simd.isa().lanes()] {
            for rows in 1..=12 {
                let step = depth + 16;
                let a = vec![0.5f32; 64 * step * taps];
                let b = vec![0.25f32; width * depth * taps];
                let mut c = vec![0f32; rows * width];
                let list: Vec<usize> = (0..rows).map(|i| i * step).collect();
                let taps: Vec<Tap> = (0..taps).map(|t| Tap { a: t * step, b: t * depth * width }).collect();
                let mut line = format!("  {rows:2} x {width:2}:");
                for rows_at in [Rows::At(&list), Rows::Columns { count: rows, step: 16 }] {
                    if width == simd.isa().lanes() && matches!(rows_at, Rows::Columns { .. }) {
                        continue;
                    }
                    let block = Block { a: &a, rows: rows_at, b: &b, width, b_step: width, panel: 0, columns: width, taps: &taps, depth };
                    let mut best = f64::MAX;
                    for _ in 0..30 {
                        let start = Instant::now();
                        for _ in 0..100 {
                            accumulate(simd, &block, std::hint::black_box(&mut c), width);
                        }
                        best = best.min(start.elapsed().as_secs_f64() / 100.0);
                    }
                    let flops = 2.0 * (rows * width * depth * taps.len()) as f64 / best;
                    line += &format!("  {:6.1} GFLOP/s {:3.0} %", flops / 1e9, 100.0 * flops / peak);
                }
                println!("{line}");
            }
        }
    }
}
