//! Trains the net behind `oxidnn run` on the digits in `assets/digits`, and writes its weights to the given file, or to one in the system's
//! folder for temporary files. `oxidnn run` uses `assets/digits/weights.safetensors`.
//!
//! ```text
//! cargo run --release -p oxidnn --example train_digits [-- FILE]
//! ```
//!
//! Images are moved by a pixel at random: without that the net learns the handwriting of the 1,437 training images, and not that of the 360
//! test images, which come later in the collection.

mod common;

use anyhow::{Context, Result};
use common::net::Layer::{Conv, Dense, MaxPool, Relu};
use common::train::{Recipe, train};
use common::training::Parameter;
use oxidnn::prelude::{Engine, EngineExt};
use oxidnn_testing::idx::Labelled;
use safetensors::tensor::{Dtype, TensorView};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

fn main() -> Result<()> {
    let assets = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../assets/digits");
    let read = |part: &str| -> Result<Labelled> {
        let file = |kind: &str| {
            let path = assets.join(format!("{part}-{kind}-ubyte"));
            std::fs::read(&path).with_context(|| path.display().to_string())
        };
        Ok(Labelled::parse(&file("images-idx3")?, &file("labels-idx1")?, 10)?)
    };
    let recipe = Recipe {
        layers: &[Conv { channels: 16, kernel: 3 }, Relu, Conv { channels: 32, kernel: 3 }, Relu, MaxPool(2), Dense(10)],
        white: 16.0,
        batch: 32,
        epochs: 30,
        rate: 0.02,
        momentum: 0.9,
        shift: 1,
        seed: 1,
        promise: 0.97,
    };
    let parameters = train(&Engine::cpu(), &recipe, &read("train")?, &read("test")?)?;
    let path = std::env::args_os().nth(1).map_or_else(|| std::env::temp_dir().join("oxidnn-digits.safetensors"), PathBuf::from);
    write(&path, &parameters)?;
    println!("wrote {}", path.display());
    Ok(())
}

/// Writes the parameters in plain layouts, f32.
fn write(path: &Path, parameters: &[Parameter]) -> Result<()> {
    let mut plain = Vec::with_capacity(parameters.len());
    for p in parameters {
        let bytes: Vec<u8> = p.value.read_f32()?.iter().flat_map(|v| v.to_le_bytes()).collect();
        let shape: Vec<usize> = p.value.tensor().dims().iter().map(|&d| d as usize).collect();
        plain.push((p.name.clone(), shape, bytes));
    }
    let views = plain.iter().map(|(name, shape, bytes)| Ok((name, TensorView::new(Dtype::F32, shape.clone(), bytes)?)));
    let about = HashMap::from([("made by".to_owned(), "oxidnn: crates/oxidnn/examples/train_digits.rs".to_owned())]);
    let file = safetensors::serialize(views.collect::<Result<Vec<_>>>()?, Some(about))?;
    std::fs::write(path, file).with_context(|| path.display().to_string())
}
