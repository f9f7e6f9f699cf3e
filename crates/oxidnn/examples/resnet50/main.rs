//! Training steps of ResNet-50, built from primitives: activations in bf16, f32 master weights, gradients of them in f32.
//!
//! ```text
//! cargo run --release -p oxidnn --example resnet50 -- check gpu            # gradients on the GPU are those of the CPU
//! cargo run --release -p oxidnn --example resnet50 -- time gpu 64 224      # milliseconds of a step: images of a batch, pixels along both sides
//! ```
//!
//! `tests/gpu/resnet50.py` times the same step of PyTorch.

mod net;
#[path = "../common/random.rs"]
#[allow(dead_code, reason = "other examples draw other numbers")]
mod random;

use net::Net;
use oxidnn::prelude::*;
use random::Random;
use std::time::Instant;

type Outcome = Result<(), Box<dyn std::error::Error>>;

const USAGE: &str = "usage: resnet50 check [cpu|gpu] | resnet50 time [cpu|gpu] [BATCH] [SIZE]";

/// Steps before the clock runs, and steps that it counts.
const WARM: usize = 3;
const TIMED: usize = 20;

fn main() -> Outcome {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let engine = match args.get(1).map_or("cpu", String::as_str) {
        "gpu" => Engine::cuda(0)?,
        "cpu" => Engine::cpu(),
        other => return Err(format!("no engine {other}\n{USAGE}").into()),
    };
    let number = |i: usize, usual: i64| args.get(i).map_or(Ok(usual), |n| n.parse::<i64>());
    match args.first().map(String::as_str) {
        Some("check") => check(&engine),
        Some("time") => time(&engine, [number(2, 64)?, number(3, 224)?]),
        _ => Err(USAGE.into()),
    }
}

/// Classes of the images, the same every time.
fn labels(batch: i64) -> Vec<usize> {
    (0..batch as usize).map(|i| i * 37 % 1000).collect()
}

/// The loss and all gradients of a step, by name.
struct First {
    loss: f32,
    gradients: Vec<(String, Vec<f32>)>,
}

fn first_step(engine: &Engine, dtype: DataType, [batch, size]: [i64; 2]) -> Result<First, Error> {
    let net = Net::new(engine, dtype, [batch, size], &mut Random(1))?;
    let (stream, labels) = (Stream::new(engine)?, labels(batch));
    net.set_labels(&labels)?;
    net.submit(&stream)?;
    stream.wait()?;
    let gradients = net.parameters.iter().map(|p| Ok((p.name.clone(), p.gradient.read_f32()?)));
    Ok(First { gradients: gradients.collect::<Result<_, Error>>()?, loss: net.loss(&labels)? })
}

/// How far each gradient is from the other step's, over the length of that, in order; the loss is not.
fn apart<'a>(ours: &'a First, theirs: &First) -> Vec<(f64, &'a str)> {
    let length = |v: &mut dyn Iterator<Item = f32>| v.map(|x| f64::from(x).powi(2)).sum::<f64>().sqrt();
    let pairs = ours.gradients.iter().zip(&theirs.gradients);
    let one = |(a, b): (&[f32], &[f32])| length(&mut a.iter().zip(b).map(|(a, b)| a - b)) / length(&mut b.iter().copied()).max(1e-12);
    let mut all: Vec<(f64, &str)> = pairs.map(|((name, a), (_, b))| (one((a, b)), name.as_str())).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    all
}

/// Compares the gradients of `engine` with those of the CPU in f32. The last bit of a sum at the kink of ReLU decides whether a gradient
/// passes, and 53 normalisations over small batches amplify that. So the median decides whether the step is right, and bf16 may be off by
/// one and a half times as much as the CPU's bf16.
fn check(engine: &Engine) -> Outcome {
    let shape = [8, 64];
    let cpu = Engine::cpu();
    let truth = first_step(&cpu, F32, shape)?;
    let mut failed = 0;
    for dtype in [F32, Bf16] {
        let ours = first_step(engine, dtype, shape)?;
        let all = apart(&ours, &truth);
        let (median, (most, name)) = (all[all.len() / 2].0, all[all.len() - 1]);
        let bound = match dtype {
            F32 => 0.005,
            _ => {
                let theirs = first_step(&cpu, dtype, shape)?;
                apart(&theirs, &truth)[all.len() / 2].0 * 1.5
            }
        };
        let right = ours.gradients.len() == truth.gradients.len() && median <= bound && (ours.loss - truth.loss).abs() <= 0.01 * truth.loss;
        failed += usize::from(!right);
        println!(
            "{dtype}: loss {:.4}, {:.4} on the CPU in f32; {} gradients {median:.1e} apart in the median (at most {bound:.1e} allowed), {most:.1e} for {name}: {}",
            ours.loss,
            truth.loss,
            all.len(),
            if right { "right" } else { "WRONG" }
        );
    }
    if failed == 0 { Ok(()) } else { Err("gradients differ".into()) }
}

fn time(engine: &Engine, shape: [i64; 2]) -> Outcome {
    let mut net = Net::new(engine, Bf16, shape, &mut Random(1))?;
    let (stream, labels) = (Stream::new(engine)?, labels(shape[0]));
    net.set_labels(&labels)?;
    net.set_rate(0.01, 0.9)?;
    for _ in 0..WARM {
        net.submit(&stream)?;
    }
    stream.wait()?;
    let before = net.loss(&labels)?;
    let mut host = 0.0;
    let begin = Instant::now();
    for _ in 0..TIMED {
        let submitted = Instant::now();
        net.submit(&stream)?;
        host += submitted.elapsed().as_secs_f64();
    }
    stream.wait()?;
    let (each, host) = (begin.elapsed().as_secs_f64() / TIMED as f64, host / TIMED as f64);
    let steps = [&net.forward, &net.backward, &net.update].map(|s| s.steps().len());
    let [batch, size] = shape;
    println!(
        "{batch} images of {size} x {size}, bf16: {:.2} ms a step, {:.0} images/s; host {:.2} ms",
        each * 1e3,
        batch as f64 / each,
        host * 1e3
    );
    println!("{steps:?} primitives forward, backward and for updates; loss {before:.4}, {TIMED} steps later {:.4}", net.loss(&labels)?);
    Ok(())
}
