//! The patterns, by topic, and their common parts.

mod attention;
mod blocks;
mod conv;
mod elementwise;
mod matmul;
mod mlp;
mod pool;

use super::Row;
use super::matcher::{Pat, alt, many, one, opt, seq};
use crate::{Op, OpKind, Property};
use OpKind::*;

/// All of them. Of equal priority those are tried first that stand first, in oneDNN's order.
pub(super) static ALL: [&[Row]; 7] = [elementwise::ROWS, matmul::ROWS, pool::ROWS, conv::ROWS, mlp::ROWS, attention::ROWS, blocks::ROWS];

/// A row that refuses nothing that fits.
const fn row(name: &'static str, priority: f32, pattern: fn() -> Pat) -> Row {
    Row { name, priority, pattern, refuse: |_| None }
}

/// Functions of an element that follow others.
const UNARY: &[OpKind] =
    &[Abs, Clamp, Elu, Exp, Gelu, HardSigmoid, HardSwish, LeakyRelu, Log, Mish, Relu, Round, Sigmoid, SoftPlus, Sqrt, Square, Tanh];
/// Functions of two elements that follow others: by either of them, and by the first alone.
const BINARY: &[OpKind] = &[Add, Multiply, Maximum, Minimum, Divide, Subtract];
const SYMMETRIC: &[OpKind] = &[Add, Multiply, Maximum, Minimum];
const ORDERED: &[OpKind] = &[Divide, Subtract];
/// How many operations a chain has at most: one fewer than oneDNN's constant says.
const LONGEST: usize = 19;
/// The marks of a tensor that a swish begins with, and of one that is only read several times.
const SWISH: usize = 7;
const SHARED: usize = 6;

fn unary() -> Pat {
    one(UNARY)
}

fn binary() -> Pat {
    alt([one(SYMMETRIC), one(ORDERED).by(0)])
}

/// `x * sigmoid(x)`.
fn swish() -> Pat {
    seq([Pat::Mark(SWISH), one(&[Sigmoid]), one(&[Multiply]).other_marked(SWISH)])
}

/// Other operations of the instance may read the next operation's input, too.
fn shared() -> Pat {
    Pat::Mark(SHARED)
}

/// So many functions at least, each of one element or of two.
fn chain(least: usize) -> Pat {
    many(alt([unary(), binary()]), least, LONGEST)
}

fn dequantize() -> Pat {
    one(&[Dequantize])
}

/// The sum with another result that is bytes, then functions.
fn residual(other: Pat) -> Pat {
    seq([one(&[Add]).other(other.own()).forks(), chain(0)])
}

/// Bytes as numbers of another type than f32.
fn dequantize_cast() -> Pat {
    seq([one(&[Dequantize]), one(&[TypeCast])])
}

/// The source of a problem of bytes, which functions after the problem may read too.
fn source() -> Pat {
    dequantize().forks()
}

fn source_cast() -> Pat {
    seq([one(&[Dequantize]), one(&[TypeCast]).forks()])
}

/// Weights that are bytes, or become bytes.
fn weights() -> Pat {
    seq([opt(one(&[Quantize]).when(of_constant)), one(&[Dequantize])])
}

fn weights_cast() -> Pat {
    seq([weights(), one(&[TypeCast])])
}

fn of_constant(op: &Op) -> bool {
    op.inputs[0].property == Property::Constant
}

fn bias() -> Pat {
    opt(one(&[BiasAdd]).by(0).forks())
}

fn cast() -> Pat {
    opt(one(&[TypeCast]))
}

fn quantize() -> Pat {
    one(&[Quantize])
}

/// The operation has no statistics as further results.
fn single_output(op: &Op) -> bool {
    op.outputs.len() == 1
}
