//! Times the best row of some products and convolutions on one core, against the measured peak.

use oxidnn_cpu::kernels::multiversion::Simd;
use oxidnn_cpu::{CpuTarget, Isa, ops, peak};
use oxidnn_runtime::{Bound, Buf, Ctx, Inline};
use oxidnn_spec::op::{Conv, ConvAlg, Matmul, Window};
use oxidnn_spec::{Attr, DataType::F32, Dims, Op, Problem, Prop, Tensor};
use std::time::Instant;

struct Memory(Vec<[u64; 8]>, usize);

impl Memory {
    fn new(bytes: usize) -> Memory {
        Memory(vec![[0x3f80_0000_3f80_0000; 8]; bytes.div_ceil(64) + 1], bytes)
    }
    fn buf(&mut self) -> Buf {
        // SAFETY: the region belongs to the vector, which outlives the buffer's use.
        unsafe { Buf::new(self.0.as_mut_ptr().cast(), self.1) }
    }
}

/// Seconds that this thread has run: unlike wall time, undisturbed by other work on a busy machine.
fn busy() -> f64 {
    let t = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    t.tv_sec as f64 + t.tv_nsec as f64 * 1e-9
}

fn measure(problem: &Problem, flops: f64, peak: f64, label: &str) {
    let target = CpuTarget::within(Isa::detect(), 1);
    let planned = ops::rows(&problem.op).iter().find_map(|r| (r.plan)(problem, &target).ok().map(|p| (r.name, p)));
    let (name, plan) = planned.expect("a row");
    if name == "ref:any" {
        return println!("{label:45} {name}");
    }
    let exec = plan.build().expect("an executable");
    let mut data: Vec<_> = plan.problem().operands().into_iter().map(|o| (Memory::new(o.tensor.bytes()), o)).collect();
    let mut scratch = Memory::new(plan.scratch_bytes());
    let bufs: Vec<[Buf; 1]> = data.iter_mut().map(|d| [d.0.buf()]).collect();
    let args: Vec<Bound<'_>> =
        data.iter().zip(&bufs).map(|(d, bufs)| Bound { arg: d.1.arg, usage: d.1.usage, tensor: &d.1.tensor, bufs }).collect();
    let ctx = Ctx { args: &args, scratch: scratch.buf(), executor: &Inline };
    let (mut best, start) = (f64::MAX, Instant::now());
    let mut runs = 0;
    while runs < 3 || start.elapsed().as_secs_f64() < 0.3 {
        let times = 1 + (2e-4 / best) as usize;
        let once = busy();
        for _ in 0..times {
            exec.run(&ctx).expect("a run");
        }
        best = best.min((busy() - once) / times as f64);
        runs += 1;
    }
    println!("{label:45} {name:18} {:9.3} ms {:7.1} GFLOP/s {:4.0} %", best * 1e3, flops / best / 1e9, 100.0 * flops / best / peak);
}

fn tensor(dims: &[i64], tag: &str) -> Tensor {
    Tensor::with_tag(Dims::new(dims).expect("dims"), F32, tag).expect("a tag")
}

fn matmul(m: i64, k: i64, n: i64, tags: [&str; 3]) -> Problem {
    let op = Matmul { src: tensor(&[m, k], tags[0]), weights: tensor(&[k, n], tags[1]), bias: None, dst: tensor(&[m, n], tags[2]) };
    Problem::new(op, Attr::default()).expect("a problem")
}

/// `[mb, ic, ih, oc, oh, kh, stride, padding]`.
fn conv(s: [i64; 8], prop: Prop, tag: &str) -> Problem {
    let [mb, ic, ih, oc, oh, k, stride, pad] = s;
    let pr = (oh - 1) * stride - ih + k - pad;
    let two = |v: i64| Dims::from([v, v]);
    let op = Conv {
        prop,
        alg: ConvAlg::Direct,
        src: tensor(&[mb, ic, ih, ih], tag),
        weights: tensor(&[oc, ic, k, k], "any"),
        bias: None,
        dst: tensor(&[mb, oc, oh, oh], tag),
        window: Window { strides: two(stride), dilations: two(0), padding_l: two(pad), padding_r: two(pr) },
        depthwise_weights: None,
        depthwise_bias: None,
        depthwise_dst: None,
    };
    Problem::new(Op::Conv(op), Attr::default()).expect("a problem")
}

const RESNET: [[i64; 8]; 23] = [
    [1, 3, 224, 64, 112, 7, 2, 3],
    [1, 64, 56, 64, 56, 1, 1, 0],
    [1, 64, 56, 64, 56, 3, 1, 1],
    [1, 64, 56, 256, 56, 1, 1, 0],
    [1, 256, 56, 64, 56, 1, 1, 0],
    [1, 256, 56, 128, 56, 1, 1, 0],
    [1, 128, 56, 128, 28, 3, 2, 1],
    [1, 128, 28, 512, 28, 1, 1, 0],
    [1, 256, 56, 512, 28, 1, 2, 0],
    [1, 512, 28, 128, 28, 1, 1, 0],
    [1, 128, 28, 128, 28, 3, 1, 1],
    [1, 512, 28, 256, 28, 1, 1, 0],
    [1, 256, 28, 256, 14, 3, 2, 1],
    [1, 256, 14, 1024, 14, 1, 1, 0],
    [1, 512, 28, 1024, 14, 1, 2, 0],
    [1, 1024, 14, 256, 14, 1, 1, 0],
    [1, 256, 14, 256, 14, 3, 1, 1],
    [1, 1024, 14, 512, 14, 1, 1, 0],
    [1, 512, 14, 512, 7, 3, 2, 1],
    [1, 512, 7, 2048, 7, 1, 1, 0],
    [1, 1024, 14, 2048, 7, 1, 2, 0],
    [1, 2048, 7, 512, 7, 1, 1, 0],
    [1, 512, 7, 512, 7, 3, 1, 1],
];

fn main() {
    let only: Vec<String> = std::env::args().skip(1).collect();
    let wanted = |what: &str| only.is_empty() || only.iter().any(|o| o == what);
    let peak = peak::single_core_flops(Simd::host());
    println!("peak {:.1} GFLOP/s", peak / 1e9);
    if wanted("matmul") {
        for (m, k, n) in [
            (128, 768, 768),
            (128, 768, 3072),
            (128, 3072, 768),
            (384, 1024, 4096),
            (512, 512, 512),
            (1024, 1024, 1024),
            (1, 4096, 4096),
            (8, 4096, 4096),
            (64, 64, 64),
        ] {
            for tags in [["ab", "ab", "ab"], ["ab", "ba", "ab"], ["ab", "any", "ab"], ["ba", "any", "ab"]] {
                let label = format!("matmul {m}x{k}:{k}x{n} {}", tags.join(" "));
                measure(&matmul(m, k, n, tags), (2 * m * k * n) as f64, peak, &label);
            }
        }
    }
    for (name, prop, mb) in [("fwd", Prop::ForwardInference, 1), ("bwd_d", Prop::BackwardData, 1), ("bwd_w", Prop::BackwardWeights, 1)] {
        for tag in ["any", "axb", "abx"] {
            if !wanted(name) && !wanted(&format!("{name}:{tag}")) {
                continue;
            }
            for mut s in RESNET {
                s[0] = mb;
                let [mb, ic, ih, oc, oh, k, stride, pad] = s;
                let label = format!("{name} {tag} mb{mb}ic{ic}ih{ih}oc{oc}oh{oh}kh{k}sh{stride}ph{pad}");
                measure(&conv(s, prop, tag), (2 * mb * ic * oc * oh * oh * k * k) as f64, peak, &label);
            }
        }
    }
}
