//! A problem as a line of Python for PyTorch, for error messages: it reproduces the problem without `oxidnn`'s tools.

#[cfg(test)]
mod tests;

use oxidnn_spec::op::{BinaryAlg, Conv, EltwiseAlg, Op, Pool, PoolAlg, Prop, ReductionAlg, Window};
use oxidnn_spec::{DataType, Dims, Tensor};
use std::fmt::Write;

/// PyTorch's name for a type; `None` if it has none.
fn dtype(dtype: DataType) -> Option<&'static str> {
    Some(match dtype {
        DataType::F32 => "float32",
        DataType::F64 => "float64",
        DataType::F16 => "float16",
        DataType::Bf16 => "bfloat16",
        DataType::S32 => "int32",
        DataType::S64 => "int64",
        DataType::S8 => "int8",
        DataType::U8 => "uint8",
        DataType::F8E4m3 => "float8_e4m3fn",
        DataType::F8E5m2 => "float8_e5m2",
        DataType::Boolean => "bool",
        _ => return None,
    })
}

/// A list of integers as a Python tuple.
fn tuple(numbers: &[i64]) -> String {
    let list: Vec<String> = numbers.iter().map(i64::to_string).collect();
    if list.len() == 1 { format!("({},)", list[0]) } else { format!("({})", list.join(", ")) }
}

/// The text so far: declarations, then the call.
#[derive(Default)]
struct Snippet(String);

impl Snippet {
    /// Declares a tensor of ones.
    fn tensor(&mut self, name: &str, tensor: &Tensor) -> Option<()> {
        let strides = tensor.blocking().filter(|b| b.is_plain()).map(|b| b.strides);
        let strides = strides.or_else(|| Tensor::plain(*tensor.dims(), tensor.dtype).ok()?.blocking().map(|b| b.strides))?;
        let (sizes, strides) = (tuple(tensor.dims()), tuple(&strides));
        write!(self.0, "{name} = torch.empty_strided({sizes}, {strides}, dtype=torch.{}).fill_(1); ", dtype(tensor.dtype)?).ok()
    }

    fn call(mut self, text: &str) -> Option<String> {
        self.0.push_str(text);
        Some(format!("import torch; {}", self.0))
    }
}

/// The padding argument; if left and right differ, pads the source explicitly and returns 0.
fn padded(snippet: &mut Snippet, window: &Window) -> Dims {
    if window.padding_l == window.padding_r {
        return window.padding_l;
    }
    let sides = window.padding_l.iter().zip(window.padding_r.iter()).rev().flat_map(|(l, r)| [*l, *r]);
    let sides: Vec<i64> = sides.collect();
    snippet.0.push_str(&format!("x = torch.nn.functional.pad(x, {}); ", tuple(&sides)));
    Dims::filled(window.padding_l.len(), 0)
}

fn conv(c: &Conv) -> Option<String> {
    let (mut s, n) = (Snippet::default(), c.src.dims().len().checked_sub(2)?);
    let groups = if c.weights.dims().len() == n + 3 { c.weights.dims()[0] } else { 1 };
    s.tensor("x", &c.src)?;
    s.tensor("w", &c.weights)?;
    if groups > 1 || c.weights.dims().len() == n + 3 {
        s.0.push_str("w = w.flatten(0, 1); ");
    }
    let padding = if c.prop.is_forward() { padded(&mut s, &c.window) } else { c.window.padding_l };
    let dilations: Vec<i64> = c.window.dilations.iter().map(|d| d + 1).collect();
    let window =
        format!("stride={}, padding={}, dilation={}, groups={groups}", tuple(&c.window.strides), tuple(&padding), tuple(&dilations));
    if !c.prop.is_forward() {
        s.tensor("dy", &c.dst)?;
    }
    let call = match c.prop {
        Prop::BackwardData => format!("torch.nn.grad.conv{n}d_input(x.shape, w, dy, {window})"),
        Prop::BackwardWeights => format!("torch.nn.grad.conv{n}d_weight(x, w.shape, dy, {window})"),
        _ => format!("torch.nn.functional.conv{n}d(x, w, {window})"),
    };
    s.call(&call)
}

fn pool(p: &Pool) -> Option<String> {
    let (mut s, n) = (Snippet::default(), p.src.dims().len().checked_sub(2)?);
    s.tensor("x", &p.src)?;
    let (padding, kernel, strides) = (padded(&mut s, &p.window), tuple(&p.kernel), tuple(&p.window.strides));
    let padding = tuple(&padding);
    let backward = if p.prop.is_forward() { "" } else { ".sum().backward()" };
    if !p.prop.is_forward() {
        s.0.push_str("x.requires_grad_(); ");
    }
    let call = match p.alg {
        PoolAlg::Max => format!("torch.nn.functional.max_pool{n}d(x, {kernel}, {strides}, {padding}){backward}"),
        alg => {
            let counts = if alg == PoolAlg::AvgIncludePadding { "True" } else { "False" };
            let numbers = format!("{kernel}, {strides}, {padding}, count_include_pad={counts}");
            format!("torch.nn.functional.avg_pool{n}d(x, {numbers}){backward}")
        }
    };
    s.call(&call)
}

/// PyTorch expressions by algorithm: of tensors `a` and `b`, and of `x`.
const OF_TWO: [(BinaryAlg, &str); 6] = [
    (BinaryAlg::Add, "a + b"),
    (BinaryAlg::Sub, "a - b"),
    (BinaryAlg::Mul, "a * b"),
    (BinaryAlg::Div, "a / b"),
    (BinaryAlg::Max, "torch.fmax(a, b)"),
    (BinaryAlg::Min, "torch.fmin(a, b)"),
];
const OF_ONE: [(EltwiseAlg, &str); 6] = [
    (EltwiseAlg::Relu, "torch.relu(x)"),
    (EltwiseAlg::Tanh, "torch.tanh(x)"),
    (EltwiseAlg::Logistic, "torch.sigmoid(x)"),
    (EltwiseAlg::Exp, "torch.exp(x)"),
    (EltwiseAlg::Abs, "torch.abs(x)"),
    (EltwiseAlg::Sqrt, "torch.sqrt(x)"),
];
const REDUCED: [(ReductionAlg, &str); 4] =
    [(ReductionAlg::Max, "amax"), (ReductionAlg::Min, "amin"), (ReductionAlg::Sum, "sum"), (ReductionAlg::Mean, "mean")];

/// The entry of an algorithm.
fn entry<A: PartialEq + Copy>(table: &[(A, &'static str)], alg: A) -> Option<&'static str> {
    table.iter().find(|e| e.0 == alg).map(|e| e.1)
}

/// The named tensors and the call, for operations that are a single call.
fn plain(op: &Op) -> Option<(Vec<(&'static str, &Tensor)>, String)> {
    Some(match op {
        Op::Matmul(m) => (vec![("a", &m.src), ("b", &m.weights)], "torch.matmul(a, b)".into()),
        Op::Binary(b) => (vec![("a", &b.src0), ("b", &b.src1)], entry(&OF_TWO, b.alg)?.into()),
        Op::Eltwise(e) if e.prop.is_forward() => (vec![("x", &e.src)], entry(&OF_ONE, e.alg)?.into()),
        Op::Reduction(r) => {
            let size = |d: usize| r.src.dims().get(d).copied().unwrap_or(1);
            let along: Vec<i64> = (0..r.dst.dims().len()).filter(|&d| r.dst.dims()[d] != size(d)).map(|d| d as i64).collect();
            (vec![("x", &r.src)], format!("torch.{}(x, {}, keepdim=True)", entry(&REDUCED, r.alg)?, tuple(&along)))
        }
        Op::Softmax(m) if m.prop.is_forward() => (vec![("x", m.src.as_ref()?)], format!("torch.softmax(x, {})", m.axis)),
        Op::BatchNorm(b) if b.prop.is_forward() => {
            (vec![("x", &b.src)], format!("torch.nn.functional.batch_norm(x, None, None, training=True, eps={})", b.epsilon.get()))
        }
        Op::LayerNorm(l) if l.prop.is_forward() => {
            (vec![("x", &l.src)], format!("torch.nn.functional.layer_norm(x, x.shape[-1:], eps={})", l.epsilon.get()))
        }
        Op::GroupNorm(g) if g.prop.is_forward() => {
            (vec![("x", &g.src)], format!("torch.nn.functional.group_norm(x, {}, eps={})", g.groups, g.epsilon.get()))
        }
        Op::Sdpa(a) if a.prop.is_forward() => {
            (vec![("q", &a.q), ("k", &a.k), ("v", &a.v)], "torch.nn.functional.scaled_dot_product_attention(q, k, v)".into())
        }
        Op::Reorder(r) => (vec![("x", &r.src), ("y", &r.dst)], "y.copy_(x)".into()),
        _ => return None,
    })
}

/// The line for an operation; `None` if PyTorch has no such function.
pub(crate) fn torch(op: &Op) -> Option<String> {
    let (tensors, call) = match op {
        Op::Conv(c) => return conv(c),
        Op::Pool(p) => return pool(p),
        _ => plain(op)?,
    };
    let mut s = Snippet::default();
    for (name, tensor) in tensors {
        s.tensor(name, tensor)?;
    }
    s.call(&call)
}
