//! Stages of residual networks: several convolutions around shortcuts, in bytes and in f32.

use super::super::Row;
use super::super::matcher::{Pat, one, seq};
use super::{bias, quantize, row, weights};
use crate::OpKind::{Add, Convolution, Dequantize, Relu};

/// The mark of the tensor at which a block begins.
const BEGIN: usize = 0;

/// How a stage is written.
#[derive(Clone, Copy)]
struct Style {
    bytes: bool,
    /// A convolution's bias is an operation of its own.
    bias: bool,
}

const BYTES: Style = Style { bytes: true, bias: false };
const SPLIT: Style = Style { bytes: true, bias: true };
const F32: Style = Style { bytes: false, bias: false };

fn convolution(style: Style) -> Pat {
    let conv = if style.bytes { one(&[Convolution]).by(0).input(1, weights()) } else { one(&[Convolution]).by(0) };
    if style.bias { seq([conv, one(&[crate::OpKind::BiasAdd]).by(0)]) } else { seq([conv, bias()]) }
}

/// Bytes as numbers, in networks of bytes.
fn read(style: Style) -> Pat {
    if style.bytes { one(&[Dequantize]) } else { Pat::Seq(Vec::new()) }
}

fn written(style: Style) -> Pat {
    if style.bytes { quantize() } else { Pat::Seq(Vec::new()) }
}

/// A convolution with its activation.
fn activated(style: Style) -> Pat {
    seq([read(style), convolution(style), one(&[Relu]), written(style)])
}

/// `count` convolutions beside a shortcut, which has a convolution of its own where it is `projected`.
fn block(style: Style, count: usize, projected: bool) -> Pat {
    let shortcut = if projected {
        seq([Pat::At(BEGIN), read(style), convolution(style), written(style), read(style)])
    } else {
        seq([Pat::At(BEGIN), read(style)])
    };
    let mut all = vec![Pat::Mark(BEGIN)];
    all.extend((1..count).map(|_| activated(style)));
    all.extend([read(style), convolution(style), one(&[Add]).other(shortcut), one(&[Relu]), written(style)]);
    Pat::Seq(all)
}

/// A stage: the pattern begins with the first convolution of its first block, so the block's beginning is marked as the tensor that this
/// convolution reads.
fn stage(style: Style, count: usize, blocks: usize) -> Pat {
    let mut all = vec![block(style, count, true)];
    all.extend((1..blocks).map(|_| block(style, count, false)));
    Pat::Seq(all)
}

pub(super) const ROWS: &[Row] = &[
    row("int8_resnet50_stage_1_4_fusion", 22.0, || stage(BYTES, 3, 3)),
    row("int8_resnet50_stage_2_fusion", 22.1, || stage(BYTES, 3, 4)),
    row("int8_resnet50_stage_3_fusion", 22.2, || stage(BYTES, 3, 6)),
    row("int8_resnet34_stage_1_4_fusion", 22.0, || Pat::Seq((0..3).map(|_| block(BYTES, 2, false)).collect())),
    row("int8_resnet34_stage_2_fusion", 22.1, || stage(BYTES, 2, 4)),
    row("int8_resnet34_stage_3_fusion", 22.2, || stage(BYTES, 2, 6)),
    row("f32_resnet50_stage_1_4_fusion", 22.0, || stage(F32, 3, 3)),
    row("f32_resnet50_stage_2_fusion", 22.1, || stage(F32, 3, 4)),
    row("f32_resnet50_stage_3_fusion", 22.2, || stage(F32, 3, 6)),
    row("itex_int8_resnet50_stage_1_fusion", 22.1, || stage(SPLIT, 3, 3)),
    row("itex_int8_resnet50_stage_2_fusion", 22.2, || stage(SPLIT, 3, 4)),
    row("itex_int8_resnet50_stage_3_fusion", 22.3, || stage(SPLIT, 3, 6)),
    row("itex_int8_resnet50_stage_4_fusion", 22.1, || stage(SPLIT, 3, 3)),
];
