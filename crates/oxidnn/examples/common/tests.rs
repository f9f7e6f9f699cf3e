//! The little net learns, and its gradients are those of its loss.

use super::net::Layer::{self, Conv, Dense, MaxPool, Relu};
use super::random::Random;
use super::train::shifted;
use super::training::Training;
use oxidnn::Error;
use oxidnn::prelude::*;

const NET: [Layer; 4] = [Conv { channels: 5, kernel: 3 }, Relu, MaxPool(2), Dense(10)];
const BATCH: usize = 12;

/// A net with a batch of real digits loaded, and their labels.
fn net() -> Result<(Training, Vec<usize>), Error> {
    let (images, labels) = (
        include_bytes!("../../../../assets/digits/train-images-idx3-ubyte"),
        include_bytes!("../../../../assets/digits/train-labels-idx1-ubyte"),
    );
    let digits = oxidnn_testing::idx::Labelled::parse(images, labels, 10)?;
    let engine = Engine::cpu();
    let stream = Stream::new(&engine)?;
    let net = Training::new(&engine, &stream, ([BATCH as i64, 1, 8, 8], &NET), &mut Random(3))?;
    net.forward.load((0..BATCH).map(|i| digits.image(i)), 16.0)?;
    Ok((net, (0..BATCH).map(|i| digits.label(i)).collect()))
}

#[test]
fn loss_falls() -> Result<(), Error> {
    let (mut net, labels) = net()?;
    net.set_rate(0.05, 0.5)?;
    let losses = (0..12).map(|_| net.step(&labels)).collect::<Result<Vec<f32>, _>>()?;
    assert!(losses.is_sorted_by(|a, b| a > b) && losses[11] < 0.8 * losses[0], "{losses:?}");
    Ok(())
}

/// Along its own direction the gradient's length is the slope of the loss. Biases are set, so that black pixels do not lie on the kink of relu.
#[test]
fn gradients_agree_with_finite_differences() -> Result<(), Error> {
    let (net, labels) = net()?;
    for p in net.parameters.iter().filter(|p| p.name.ends_with("bias")) {
        p.value.write_with(|i| if i % 2 == 0 { 0.1 } else { -0.1 })?;
    }
    net.loss(&labels)?;
    net.backward()?;
    let names: Vec<&str> = net.parameters.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names, ["conv1.weight", "conv1.bias", "dense1.weight", "dense1.bias"]);
    for p in &net.parameters {
        let (value, gradient) = (p.value.read_f32()?, p.gradient.read_f32()?);
        let length = gradient.iter().map(|g| g * g).sum::<f32>().sqrt();
        let reach = 4e-3;
        let loss_at = |way: f32| -> Result<f32, Error> {
            p.value.write_f32(&value.iter().zip(&gradient).map(|(v, g)| v + way * reach * g / length).collect::<Vec<_>>())?;
            net.loss(&labels)
        };
        let slope = (loss_at(1.0)? - loss_at(-1.0)?) / (2.0 * reach);
        p.value.write_f32(&value)?;
        assert!((slope - length).abs() < 0.02 * length, "{}: gradient {length}, slope {slope}", p.name);
    }
    Ok(())
}

#[test]
fn the_same_seed_trains_the_same_net() -> Result<(), Error> {
    let weights = || -> Result<Vec<f32>, Error> {
        let (mut net, labels) = net()?;
        net.set_rate(0.05, 0.9)?;
        (0..3).try_for_each(|_| net.step(&labels).map(drop))?;
        net.parameters[0].value.read_f32()
    };
    assert_eq!(weights()?, weights()?);
    Ok(())
}

#[test]
fn images_move_by_whole_pixels() {
    let image = [0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0];
    let mut random = Random(1);
    assert_eq!(shifted(&image, 3, 0, &mut random), image);
    let places: std::collections::HashSet<_> = (0..200).map(|_| shifted(&image, 3, 1, &mut random).iter().position(|&p| p == 7)).collect();
    assert_eq!(places, (0..9).map(Some).collect());
}
