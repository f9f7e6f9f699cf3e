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

/// Compares the gradients of `engine` with those of the CPU, each by the length of its difference over its own. Where a sum lies on the kink of relu or two on
/// that of a maximum, the last bit of it decides whether a gradient passes: that moves a few gradients far, and in bf16 all of them a little. So the median says
/// whether the step is right, and the largest that it stays close.
fn check(engine: &Engine) -> Outcome {
    let mut failed = 0;
    for (dtype, [usual, most]) in [(F32, [0.002, 0.1]), (Bf16, [0.1, 0.5])] {
        let shape = [8, 64];
        let (ours, theirs) = (first_step(engine, dtype, shape)?, first_step(&Engine::cpu(), dtype, shape)?);
        let length = |v: &mut dyn Iterator<Item = f32>| v.map(|x| f64::from(x).powi(2)).sum::<f64>().sqrt();
        let apart = |a: &[f32], b: &[f32]| length(&mut a.iter().zip(b).map(|(a, b)| a - b)) / length(&mut b.iter().copied()).max(1e-12);
        let mut all: Vec<(f64, &str)> =
            ours.gradients.iter().zip(&theirs.gradients).map(|((name, a), (_, b))| (apart(a, b), name.as_str())).collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (median, (worst, name)) = (all[all.len() / 2].0, all[all.len() - 1]);
        let right = ours.gradients.len() == theirs.gradients.len()
            && median <= usual
            && worst <= most
            && (ours.loss - theirs.loss).abs() <= 0.02 * theirs.loss;
        failed += usize::from(!right);
        let verdict = if right { "equal" } else { "DIFFERENT" };
        println!(
            "{dtype}: loss {:.4}, {:.4} on the CPU; {} gradients {median:.1e} apart in the median, at most {worst:.1e} ({name}): {verdict}",
            ours.loss,
            theirs.loss,
            all.len()
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
