//! Random graphs of what networks are made of: images, tokens and attention, gradients, in numbers and in bytes, by way of smaller types.
//!
//! All data of a graph have one size, so that everything fits everything: what varies is which operations follow which, who else reads a result, and
//! what is known about it when partitions are made.

use super::Net;
use super::builder::{Attrs, ints, real, word};
use super::dice::Dice;
use oxidnn_graph::{AttrId, AttrValue, LayoutType, LogicalTensor, OpKind};
use oxidnn_spec::DataType::{self, Bf16, Boolean, F32, S8, S32, U8};
use oxidnn_spec::Dims;

/// A tensor with its sizes.
#[derive(Clone, Copy)]
struct X {
    lt: LogicalTensor,
    dims: Dims,
}

impl X {
    fn dtype(&self) -> DataType {
        self.lt.dtype.expect("a type")
    }
}

/// How a graph is written, all of it.
#[derive(Clone, Copy)]
struct Style {
    /// Sizes of results are known when partitions are made.
    known: bool,
    /// Results go by way of bytes.
    bytes: bool,
    /// The type of numbers.
    dtype: DataType,
    /// Channels stand behind batch, not last.
    first: bool,
    /// A bias is an operation of its own.
    bias: bool,
    /// Each reader turns bytes into numbers for itself.
    apart: bool,
    /// What chains are made of is read again by what follows.
    again: bool,
}

struct Maker {
    net: Net,
    dice: Dice,
    style: Style,
    /// What may be read again.
    all: Vec<X>,
}

const UNARY: [OpKind; 12] = [
    OpKind::Relu,
    OpKind::Relu,
    OpKind::Gelu,
    OpKind::Sigmoid,
    OpKind::Tanh,
    OpKind::Clamp,
    OpKind::Abs,
    OpKind::HardSwish,
    OpKind::Elu,
    OpKind::Square,
    OpKind::LeakyRelu,
    OpKind::HardSigmoid,
];
const BINARY: [OpKind; 7] =
    [OpKind::Add, OpKind::Add, OpKind::Multiply, OpKind::Subtract, OpKind::Maximum, OpKind::Minimum, OpKind::Divide];

/// Channels of images, and tokens and width of sequences with two heads.
const CHANNELS: i64 = 8;
const TOKENS: i64 = 4;
const WIDTH: i64 = 16;
const HEADS: i64 = 2;

impl Maker {
    fn op(&mut self, kind: OpKind, inputs: &[X], dtype: DataType, dims: &[i64], attrs: Attrs) -> X {
        self.outs(kind, inputs, &[(dtype, dims)], attrs)[0]
    }

    fn outs(&mut self, kind: OpKind, inputs: &[X], outputs: &[(DataType, &[i64])], attrs: Attrs) -> Vec<X> {
        let inputs: Vec<LogicalTensor> = inputs.iter().map(|x| x.lt).collect();
        let types: Vec<DataType> = outputs.iter().map(|o| o.0).collect();
        let made = self.net.outs(kind, &inputs, &types, attrs);
        let known = self.style.known;
        let sized = |(lt, (_, dims)): (LogicalTensor, &(DataType, &[i64]))| {
            let dims = Dims::new(dims).expect("few dimensions");
            let full = LogicalTensor::with_dims(lt.id, lt.dtype, dims, LayoutType::Strided, lt.property).expect("a tensor");
            X { lt: if known { full } else { lt }, dims }
        };
        let made: Vec<X> = made.into_iter().zip(outputs).map(sized).collect();
        if let Some(op) = self.net.ops.last_mut() {
            op.outputs = made.iter().map(|x| x.lt).collect();
        }
        made
    }

    fn constant(&mut self, dtype: DataType, dims: &[i64]) -> X {
        X { lt: self.net.constant(dtype, dims), dims: Dims::new(dims).expect("few dimensions") }
    }

    fn input(&mut self, dtype: DataType, dims: &[i64]) -> X {
        X { lt: self.net.input(dtype, dims), dims: Dims::new(dims).expect("few dimensions") }
    }

    /// An operation whose result is like its first input.
    fn same(&mut self, kind: OpKind, inputs: &[X], attrs: Attrs) -> X {
        self.op(kind, inputs, inputs[0].dtype(), &inputs[0].dims.clone(), attrs)
    }

    fn unary(&mut self, kind: OpKind, x: X) -> X {
        use OpKind::*;
        let attrs = match kind {
            Clamp => vec![(AttrId::Min, real(-0.5)), (AttrId::Max, real(0.75))],
            Elu | LeakyRelu => vec![(AttrId::Alpha, real(0.25))],
            HardSigmoid => vec![(AttrId::Alpha, real(0.25)), (AttrId::Beta, real(0.5))],
            _ => Vec::new(),
        };
        self.same(kind, &[x], attrs)
    }

    fn cast(&mut self, x: X, dtype: DataType) -> X {
        if x.dtype() == dtype { x } else { self.op(OpKind::TypeCast, &[x], dtype, &x.dims.clone(), Attrs::new()) }
    }

    fn quantised(&mut self, x: X, dtype: DataType) -> X {
        let x = self.cast(x, F32);
        let attrs = vec![(AttrId::Scales, super::builder::reals(&[0.0625])), (AttrId::Zps, ints(&[if dtype == U8 { 3 } else { 0 }]))];
        self.op(OpKind::Quantize, &[x], dtype, &x.dims.clone(), attrs)
    }

    fn numbers(&mut self, x: X) -> X {
        if x.dtype() != S8 && x.dtype() != U8 {
            return x;
        }
        let zero = if x.dtype() == U8 { 3 } else { 0 };
        let attrs = vec![(AttrId::Scales, super::builder::reals(&[0.0625])), (AttrId::Zps, ints(&[zero]))];
        let x = self.op(OpKind::Dequantize, &[x], F32, &x.dims.clone(), attrs);
        self.cast(x, self.style.dtype)
    }

    /// The result by way of bytes, where the graph is of bytes; mostly.
    fn settled(&mut self, x: X) -> X {
        if !self.style.bytes || self.dice.one_in(5) {
            return x;
        }
        let dtype = *self.dice.pick(&[S8, U8, S8]);
        let x = self.quantised(x, dtype);
        if self.style.apart { x } else { self.numbers(x) }
    }

    fn weights(&mut self, dims: &[i64]) -> X {
        // oneDNN 3.11 does not survive convolutions of bytes by numbers.
        if !self.style.bytes || dims.len() == 2 && self.dice.one_in(8) {
            return self.constant(self.style.dtype, dims);
        }
        let w = if self.dice.one_in(6) {
            let w = self.constant(F32, dims);
            self.quantised(w, S8)
        } else {
            self.constant(S8, dims)
        };
        self.numbers(w)
    }

    fn channel(&self, rank: usize) -> usize {
        if self.style.first { 1 } else { rank - 1 }
    }

    /// Sizes of one number a channel.
    fn along(&self, dims: &[i64]) -> Vec<i64> {
        let c = self.channel(dims.len());
        (0..dims.len()).map(|d| if d == c { dims[d] } else { 1 }).collect()
    }

    /// Something that a result can be put together with.
    fn other(&mut self, x: X) -> X {
        let like: Vec<X> = self.all.iter().filter(|o| o.dims == x.dims && o.lt.id != x.lt.id).copied().collect();
        let dims = x.dims.to_vec();
        let made = match self.dice.roll(6) {
            0 => self.constant(x.dtype(), &[1]),
            1 => {
                let dims = if self.style.first { self.along(&dims) } else { vec![dims[dims.len() - 1]] };
                self.constant(x.dtype(), &dims)
            }
            2 => self.input(x.dtype(), &dims),
            _ if !like.is_empty() => *self.dice.pick(&like),
            _ => self.input(x.dtype(), &dims),
        };
        let made = self.numbers(made);
        self.cast(made, x.dtype())
    }

    fn binary(&mut self, x: X) -> X {
        let (kind, other) = (*self.dice.pick(&BINARY), self.other(x));
        let whole = other.dims == x.dims;
        let inputs = if whole && self.dice.one_in(3) { [other, x] } else { [x, other] };
        let attrs = if whole && self.dice.one_in(4) { vec![(AttrId::AutoBroadcast, word("none"))] } else { Attrs::new() };
        self.op(kind, &inputs, x.dtype(), &x.dims.clone(), attrs)
    }

    fn swish(&mut self, x: X) -> X {
        let s = self.unary(OpKind::Sigmoid, x);
        let inputs = if self.dice.one_in(2) { [x, s] } else { [s, x] };
        self.same(OpKind::Multiply, &inputs, Attrs::new())
    }

    /// What follows an operation.
    fn chain(&mut self, mut x: X) -> X {
        for _ in 0..self.dice.roll(4) {
            if self.style.again {
                self.all.push(x);
            }
            x = match self.dice.roll(12) {
                0..5 => {
                    let kind = *self.dice.pick(&UNARY);
                    self.unary(kind, x)
                }
                5..9 => self.binary(x),
                9 => self.swish(x),
                10 => {
                    let small = self.cast(x, if x.dtype() == F32 { Bf16 } else { F32 });
                    if self.dice.one_in(2) { self.cast(small, self.style.dtype) } else { small }
                }
                _ => {
                    let (condition, other) = (self.input(Boolean, &x.dims), self.other(x));
                    let x = if self.dice.one_in(2) { [condition, x, other] } else { [condition, other, x] };
                    self.op(OpKind::Select, &x, x[1].dtype(), &x[0].dims.clone(), Attrs::new())
                }
            };
        }
        self.cast(x, self.style.dtype)
    }

    fn format(&self) -> (AttrId, AttrValue) {
        (AttrId::DataFormat, word(if self.style.first { "NCX" } else { "NXC" }))
    }

    fn biased(&mut self, x: X) -> X {
        if !self.style.bias {
            return x;
        }
        let c = x.dims[self.channel(x.dims.len())];
        let bias = self.constant(x.dtype(), &[c]);
        let format = self.format();
        self.same(OpKind::BiasAdd, &[x, bias], vec![format])
    }

    fn norm(&mut self, x: X) -> X {
        let c = x.dims[self.channel(x.dims.len())];
        let four: Vec<X> = (0..4).map(|_| self.constant(F32, &[c])).collect();
        let format = self.format();
        self.same(OpKind::BatchNormInference, &[x, four[0], four[1], four[2], four[3]], vec![(AttrId::Epsilon, real(1.0)), format])
    }
}

/// Images.
impl Maker {
    fn window(&self, kernel: i64) -> Attrs {
        let (ones, pads) = (ints(&[1, 1]), ints(&[kernel / 2, kernel / 2]));
        vec![(AttrId::Strides, ones), (AttrId::PadsBegin, pads.clone()), (AttrId::PadsEnd, pads), self.format()]
    }

    fn convolution(&mut self, x: X) -> X {
        let x = self.numbers(x);
        let kernel = *self.dice.pick(&[1, 3, 3]);
        let deep = self.dice.one_in(5);
        let transposed = self.dice.one_in(10);
        let inside = if deep { 1 } else { CHANNELS };
        let outward = self.style.first;
        let dims = if outward { [CHANNELS, inside, kernel, kernel] } else { [kernel, kernel, inside, CHANNELS] };
        let groups = if deep && !transposed { CHANNELS } else { 1 };
        let dims = if transposed && outward {
            [CHANNELS, CHANNELS, kernel, kernel]
        } else if transposed {
            [kernel, kernel, CHANNELS, CHANNELS]
        } else {
            dims
        };
        let format = match (transposed, outward) {
            (false, true) => "OIX",
            (false, false) => "XIO",
            (true, true) => "IOX",
            (true, false) => "XOI",
        };
        let mut inputs = vec![x, self.weights(&dims)];
        inputs[1] = self.cast(inputs[1], x.dtype());
        if self.dice.one_in(4) {
            inputs.push(self.constant(x.dtype(), &[CHANNELS]));
        }
        let mut attrs = self.window(kernel);
        attrs.extend([(AttrId::Dilations, ints(&[1, 1])), (AttrId::Groups, AttrValue::S64(groups)), (AttrId::WeightsFormat, word(format))]);
        let kind = if transposed { OpKind::ConvTranspose } else { OpKind::Convolution };
        let own = inputs.len() == 3;
        let y = self.same(kind, &inputs, attrs);
        let y = if own { y } else { self.biased(y) };
        if self.dice.one_in(3) { self.norm(y) } else { y }
    }

    fn pool(&mut self, x: X) -> X {
        let x = self.numbers(x);
        let mut attrs = self.window(3);
        attrs.push((AttrId::Kernel, ints(&[3, 3])));
        if self.dice.one_in(2) {
            return self.same(OpKind::MaxPool, &[x], attrs);
        }
        attrs.push((AttrId::ExcludePad, AttrValue::Bool(true)));
        self.same(OpKind::AvgPool, &[x], attrs)
    }

    /// Channels in another order.
    fn shuffle(&mut self, x: X) -> X {
        let x = self.numbers(x);
        let d = x.dims.to_vec();
        let (wide, order): (Vec<i64>, Vec<i64>) = if self.style.first {
            (vec![d[0], 2, 4, d[2], d[3]], vec![0, 2, 1, 3, 4])
        } else {
            (vec![d[0], d[1], d[2], 2, 4], vec![0, 1, 2, 4, 3])
        };
        let turned: Vec<i64> = order.iter().map(|&i| wide[i as usize]).collect();
        let x = self.reshape(x, &wide);
        let x = self.transpose(x, &order, &turned);
        self.reshape(x, &d)
    }

    /// Channels by a gate that all pixels have a say in.
    fn gated(&mut self, x: X) -> X {
        let x = self.numbers(x);
        let c = self.channel(4);
        let axes: Vec<i64> = (1..4).filter(|&d| d != c).map(|d| d as i64).collect();
        let narrow: Vec<i64> = (0..4).map(|d| if d == 0 || d == c { x.dims[d] } else { 1 }).collect();
        let attrs = vec![(AttrId::Axes, ints(&axes)), (AttrId::KeepDims, AttrValue::Bool(true))];
        let s = self.op(OpKind::ReduceMean, &[x], x.dtype(), &narrow, attrs);
        let s = self.unary(OpKind::Relu, s);
        let s = self.unary(OpKind::Sigmoid, s);
        self.same(OpKind::Multiply, &[x, s], Attrs::new())
    }

    fn reshape(&mut self, x: X, dims: &[i64]) -> X {
        self.op(
            OpKind::StaticReshape,
            &[x],
            x.dtype(),
            dims,
            vec![(AttrId::Shape, ints(dims)), (AttrId::SpecialZero, AttrValue::Bool(false))],
        )
    }

    fn transpose(&mut self, x: X, order: &[i64], dims: &[i64]) -> X {
        self.op(OpKind::StaticTranspose, &[x], x.dtype(), dims, vec![(AttrId::Order, ints(order))])
    }

    fn image_step(&mut self, x: X) -> X {
        let y = match self.dice.roll(13) {
            0..6 => self.convolution(x),
            6 => self.pool(x),
            7 => {
                let x = self.numbers(x);
                self.norm(x)
            }
            8 => self.shuffle(x),
            9 => self.gated(x),
            10 => {
                let x = self.numbers(x);
                let format = self.format();
                let attrs = vec![
                    (AttrId::Mode, word("nearest")),
                    (AttrId::Sizes, ints(&[6, 6])),
                    (AttrId::CoordinateTransformationMode, word("half_pixel")),
                    format,
                ];
                self.same(OpKind::Interpolate, &[x], attrs)
            }
            11 => {
                let (x, format) = (self.numbers(x), self.format());
                let attrs = vec![(AttrId::Groups, AttrValue::S64(2)), (AttrId::KeepStats, AttrValue::Bool(false)), format];
                let two = [self.constant(F32, &[CHANNELS]), self.constant(F32, &[CHANNELS])];
                self.same(OpKind::GroupNorm, &[x, two[0], two[1]], attrs)
            }
            _ => {
                let (x, format) = (self.numbers(x), self.format());
                let slope = self.constant(x.dtype(), &[CHANNELS]);
                self.same(OpKind::Prelu, &[x, slope], vec![format])
            }
        };
        let y = self.chain(y);
        self.settled(y)
    }

    /// Halves of several results put together.
    fn joined(&mut self) -> Option<X> {
        let parts: Vec<X> = (0..2).map(|_| *self.dice.pick(&self.all.clone())).collect();
        let parts: Vec<X> = parts.into_iter().map(|x| self.numbers(x)).collect();
        let dims: Vec<i64> = parts[0].dims.to_vec();
        if parts[0].dtype() != parts[1].dtype() {
            return None;
        }
        let c = self.channel(dims.len());
        let wide: Vec<i64> = (0..dims.len()).map(|d| if d == c { 2 * dims[d] } else { dims[d] }).collect();
        let y = self.op(OpKind::Concat, &parts, parts[0].dtype(), &wide, vec![(AttrId::Axis, AttrValue::S64(c as i64))]);
        let y = if self.dice.one_in(2) { self.chain(y) } else { y };
        Some(self.settled(y))
    }
}

/// Sequences.
impl Maker {
    fn product(&mut self, x: X, width: i64) -> X {
        let x = self.numbers(x);
        let inside = x.dims[x.dims.len() - 1];
        let turned = self.dice.one_in(4);
        let mut inputs = vec![x, self.weights(&if turned { [width, inside] } else { [inside, width] })];
        inputs[1] = self.cast(inputs[1], x.dtype());
        if self.dice.one_in(3) {
            inputs.push(self.constant(x.dtype(), &[width]));
        }
        let mut dims = x.dims.to_vec();
        if let Some(last) = dims.last_mut() {
            *last = width;
        }
        let attrs = vec![(AttrId::TransposeB, AttrValue::Bool(turned))];
        let y = self.op(OpKind::MatMul, &inputs, x.dtype(), &dims, attrs);
        if inputs.len() == 2 { self.biased(y) } else { y }
    }

    fn layer_norm(&mut self, x: X) -> X {
        let x = self.numbers(x);
        if self.dice.one_in(3) {
            let gamma = self.constant(x.dtype(), &[WIDTH]);
            return self.same(OpKind::RmsNorm, &[x, gamma], Attrs::new());
        }
        let two = [self.constant(F32, &[WIDTH]), self.constant(F32, &[WIDTH])];
        let attrs = vec![(AttrId::KeepStats, AttrValue::Bool(false))];
        self.same(OpKind::LayerNorm, &[x, two[0], two[1]], attrs)
    }

    fn heads(&mut self, x: X, turned: bool) -> X {
        let x = self.reshape(x, &[2, TOKENS, HEADS, WIDTH / HEADS]);
        match turned {
            true => self.transpose(x, &[0, 2, 3, 1], &[2, HEADS, WIDTH / HEADS, TOKENS]),
            false => self.transpose(x, &[0, 2, 1, 3], &[2, HEADS, TOKENS, WIDTH / HEADS]),
        }
    }

    fn masked(&mut self, x: X) -> X {
        let dims = x.dims.to_vec();
        match self.dice.roll(5) {
            0 => x,
            1 | 2 => {
                let mask = if self.dice.one_in(2) { self.input(x.dtype(), &dims) } else { self.input(x.dtype(), &[2, 1, 1, TOKENS]) };
                self.same(OpKind::Add, &[x, mask], Attrs::new())
            }
            3 => {
                let (condition, other) = (self.input(Boolean, &dims), self.constant(x.dtype(), &[1]));
                let inputs = if self.dice.one_in(3) { [condition, other, x] } else { [condition, x, other] };
                self.op(OpKind::Select, &inputs, x.dtype(), &dims, Attrs::new())
            }
            _ => {
                let position =
                    |m: &mut Maker, axis: i64| m.op(OpKind::GenIndex, &[x], S32, &dims, vec![(AttrId::Axis, AttrValue::S64(axis))]);
                let (row, column) = (position(self, -2), position(self, -1));
                let condition = self.op(OpKind::GreaterEqual, &[row, column], Boolean, &dims, Attrs::new());
                let other = self.constant(x.dtype(), &[1]);
                self.op(OpKind::Select, &[condition, x, other], x.dtype(), &dims, Attrs::new())
            }
        }
    }

    fn attention(&mut self, q: X, k: X, v: X, turned: bool) -> X {
        let dims = [2, HEADS, TOKENS, TOKENS];
        let shared = [2, HEADS, TOKENS, WIDTH / HEADS];
        let mut x = self.op(OpKind::MatMul, &[q, k], q.dtype(), &dims, vec![(AttrId::TransposeB, AttrValue::Bool(!turned))]);
        let small = q.dtype() != F32 && self.dice.one_in(2);
        if small {
            x = self.cast(x, F32);
        }
        if !self.dice.one_in(4) {
            let (kind, factor) = (*self.dice.pick(&[OpKind::Divide, OpKind::Multiply]), self.constant(x.dtype(), &[1]));
            x = self.same(kind, &[x, factor], Attrs::new());
        }
        x = self.masked(x);
        x = self.same(OpKind::SoftMax, &[x], vec![(AttrId::Axis, AttrValue::S64(-1))]);
        if small {
            x = self.cast(x, q.dtype());
        }
        if self.style.bytes && !self.dice.one_in(4) {
            let bytes = self.quantised(x, U8);
            x = self.numbers(bytes);
        }
        x = self.cast(x, v.dtype());
        let y = self.op(OpKind::MatMul, &[x, v], v.dtype(), &shared, Attrs::new());
        if self.dice.one_in(6) {
            return y;
        }
        let y = self.transpose(y, &[0, 2, 1, 3], &[2, TOKENS, HEADS, WIDTH / HEADS]);
        if self.dice.one_in(4) { self.same(OpKind::Reorder, &[y], Attrs::new()) } else { self.reshape(y, &[2, TOKENS, WIDTH]) }
    }

    fn attended(&mut self, x: X) -> X {
        let turned = self.dice.one_in(3);
        let three: Vec<X> = (0..3)
            .map(|i| {
                let y = if self.dice.one_in(5) { self.numbers(x) } else { self.product(x, WIDTH) };
                let y = self.heads(y, turned && i == 1);
                let y = self.settled(y);
                self.numbers(y)
            })
            .collect();
        let three: Vec<X> = three.into_iter().map(|y| self.cast(y, self.style.dtype)).collect();
        self.attention(three[0], three[1], three[2], turned)
    }

    fn perceptron(&mut self, x: X) -> X {
        let x = self.numbers(x);
        let y = match self.dice.roll(3) {
            0 => {
                let (gate, up) = (self.product(x, 24), self.product(x, 24));
                let gate = if self.dice.one_in(2) { self.swish(gate) } else { self.unary(OpKind::Gelu, gate) };
                let inputs = if self.dice.one_in(3) { [up, gate] } else { [gate, up] };
                self.same(OpKind::Multiply, &inputs, Attrs::new())
            }
            1 => {
                let y = self.product(x, 24);
                self.chain(y)
            }
            _ => {
                let y = self.product(x, 24);
                self.unary(OpKind::Gelu, y)
            }
        };
        let y = self.settled(y);
        self.product(y, WIDTH)
    }

    fn sequence_step(&mut self, x: X) -> X {
        let y = match self.dice.roll(7) {
            0 | 1 => self.attended(x),
            2 | 3 => self.perceptron(x),
            4 => self.layer_norm(x),
            5 => {
                let x = self.numbers(x);
                self.same(OpKind::SoftMax, &[x], vec![(AttrId::Axis, AttrValue::S64(-1))])
            }
            _ => self.product(x, WIDTH),
        };
        let whole = y.dims.len() == 3;
        let y = if whole { self.chain(y) } else { y };
        self.settled(y)
    }
}

/// Gradients.
impl Maker {
    fn gradient_step(&mut self, x: X) -> X {
        use OpKind::*;
        let dims = x.dims.to_vec();
        match self.dice.roll(9) {
            0..3 => {
                let kind = *self.dice.pick(&[ReluBackward, GeluBackward, SigmoidBackward, TanhBackward]);
                let kept = self.input(x.dtype(), &dims);
                self.same(kind, &[kept, x], Attrs::new())
            }
            3 => {
                let weights = self.constant(x.dtype(), &[WIDTH, WIDTH]);
                let y = self.same(MatMul, &[x, weights], vec![(AttrId::TransposeB, AttrValue::Bool(true))]);
                let kept = self.input(x.dtype(), &dims);
                let square = [2, WIDTH, WIDTH];
                let w = self.op(MatMul, &[kept, x], x.dtype(), &square, vec![(AttrId::TransposeA, AttrValue::Bool(true))]);
                let attrs = vec![(AttrId::Axes, ints(&[0])), (AttrId::KeepDims, AttrValue::Bool(false))];
                self.op(ReduceSum, &[w], x.dtype(), &[WIDTH, WIDTH], attrs);
                y
            }
            4 => {
                let kept = self.input(x.dtype(), &dims);
                self.same(SoftMaxBackward, &[x, kept], vec![(AttrId::Axis, AttrValue::S64(-1))])
            }
            5 => {
                let format = (AttrId::DataFormat, word("NXC"));
                self.op(BiasAddBackward, &[x], x.dtype(), &[WIDTH], vec![format]);
                x
            }
            6 => {
                let kept = self.input(x.dtype(), &dims);
                let stats = [self.input(F32, &dims[..2]), self.input(F32, &dims[..2])];
                let two = [self.constant(F32, &[WIDTH]), self.constant(F32, &[WIDTH])];
                let one = (F32, &[WIDTH][..]);
                let outs = [(x.dtype(), &dims[..]), one, one];
                self.outs(LayerNormBackward, &[kept, x, stats[0], stats[1], two[0], two[1]], &outs, Attrs::new())[0]
            }
            7 => {
                let kept = self.input(x.dtype(), &dims);
                let per = [self.constant(F32, &[WIDTH]), self.constant(F32, &[WIDTH]), self.constant(F32, &[WIDTH])];
                let one = (F32, &[WIDTH][..]);
                let outs = [(x.dtype(), &dims[..]), one, one];
                let attrs = vec![(AttrId::Epsilon, real(1.0)), (AttrId::DataFormat, word("NXC"))];
                self.outs(BatchNormTrainingBackward, &[kept, x, per[0], per[1], per[2]], &outs, attrs)[0]
            }
            _ => self.chain(x),
        }
    }
}

/// A graph by its number; with `again` the results inside of chains are read by later operations, too.
pub(crate) fn net(seed: u64, again: bool) -> Net {
    let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d);
    let kind = dice.roll(8);
    let style = Style {
        known: dice.one_in(2),
        bytes: kind != 7 && dice.one_in(2),
        dtype: if dice.one_in(3) { Bf16 } else { F32 },
        first: kind < 4 && dice.one_in(2),
        bias: dice.one_in(2),
        apart: dice.one_in(2),
        again,
    };
    let mut maker = Maker { net: Net::default(), dice, style, all: Vec::new() };
    let dims: &[i64] = match (kind, style.first) {
        (0..4, true) => &[2, CHANNELS, 6, 6],
        (0..4, false) => &[2, 6, 6, CHANNELS],
        _ => &[2, TOKENS, WIDTH],
    };
    let mut x = match style.bytes {
        true => maker.input(S8, dims),
        false => maker.input(style.dtype, dims),
    };
    maker.all.push(x);
    for _ in 0..2 + maker.dice.roll(7) {
        x = match kind {
            0..4 => maker.image_step(x),
            7 => maker.gradient_step(x),
            _ => maker.sequence_step(x),
        };
        if x.dims[..] != *dims {
            x = *maker.dice.pick(&maker.all.clone());
        } else {
            maker.all.push(x);
        }
        if kind < 4 && maker.dice.one_in(8) {
            maker.joined();
        }
        if maker.dice.one_in(5) {
            x = *maker.dice.pick(&maker.all.clone());
        }
    }
    maker.net
}
