//! Recurrent networks.

use super::{PROPS, batch};
use crate::op::{Prop, Rnn, RnnActivation, RnnCell, RnnDiff, RnnDirection};
use crate::text::error::{ParseError, Result};
use crate::text::letters::{Letters, Writer};
use crate::text::line::Line;
use crate::text::values::{Rest, Values, name_in, plain};
use crate::text::{Driver, FillHints, layouts, opt};
use crate::{DataType, Dims, Layout, Op, Tensor};

pub(super) const RNN: Driver = Driver {
    name: "rnn",
    options: &[
        opt("prop", "FWD_I"),
        opt("alg", "VANILLA_RNN"),
        opt("activation", "RELU"),
        opt("alpha", "0"),
        opt("direction", "left2right"),
        opt("cfg", "f32"),
        opt("with-peephole", "false"),
        opt("with-projection", "false"),
        opt("without", ""),
        opt("scaling", "common"),
        opt("scaling-proj", "common"),
        opt("flags", ""),
        opt("tag", "any"),
    ],
    build: rnn,
    write: write_rnn,
};

pub(in crate::text) const CELLS: [(RnnCell, &str); 6] = [
    (RnnCell::Vanilla, "VANILLA_RNN"),
    (RnnCell::Lstm, "VANILLA_LSTM"),
    (RnnCell::Gru, "VANILLA_GRU"),
    (RnnCell::LbrGru, "LBR_GRU"),
    (RnnCell::Augru, "VANILLA_AUGRU"),
    (RnnCell::LbrAugru, "LBR_AUGRU"),
];

pub(in crate::text) const ACTIVATIONS: [(RnnActivation, &str); 3] =
    [(RnnActivation::Relu, "RELU"), (RnnActivation::Logistic, "LOGISTIC"), (RnnActivation::Tanh, "TANH")];

pub(in crate::text) const DIRECTIONS: [(RnnDirection, &str); 4] = [
    (RnnDirection::Left2Right, "left2right"),
    (RnnDirection::Right2Left, "right2left"),
    (RnnDirection::BidirectionalConcat, "concat"),
    (RnnDirection::BidirectionalSum, "sum"),
];

/// Data types of a configuration.
#[derive(Clone, Copy, PartialEq)]
struct Types {
    layer: DataType,
    iter: DataType,
    cell: DataType,
    weights: DataType,
    bias: DataType,
    dst_iter: DataType,
    dst_layer: DataType,
}

const fn float(t: DataType, bias: DataType) -> Types {
    Types { layer: t, iter: t, cell: t, weights: t, bias, dst_iter: t, dst_layer: t }
}

/// The types of an int8 configuration; its name lists source iteration, source layer, destination iteration, destination layer.
const fn int8(iter: DataType, layer: DataType, dst_iter: DataType, dst_layer: DataType) -> Types {
    Types { layer, iter, cell: DataType::F32, weights: DataType::S8, bias: DataType::F32, dst_iter, dst_layer }
}

const CONFIGS: [(Types, &str); 12] = {
    use DataType::{Bf16, F16, F32, S8, U8};
    [
        (float(F32, F32), "f32"),
        (float(Bf16, Bf16), "bf16"),
        (float(F16, F16), "f16"),
        (float(Bf16, F32), "bf16f32"),
        (int8(U8, U8, U8, U8), "u8u8u8u8"),
        (int8(U8, U8, U8, F32), "u8u8u8f32"),
        (int8(F32, U8, F32, U8), "f32u8f32u8"),
        (int8(F32, U8, F32, F32), "f32u8f32f32"),
        (int8(S8, S8, S8, S8), "s8s8s8s8"),
        (int8(S8, S8, S8, F32), "s8s8s8f32"),
        (int8(F32, S8, F32, S8), "f32s8f32s8"),
        (int8(F32, S8, F32, F32), "f32s8f32f32"),
    ]
};

/// Tensors that may be left out.
const OPTIONAL: [&str; 5] = ["src_iter", "src_iter_c", "bias", "dst_iter", "dst_iter_c"];

/// The numbers of a descriptor.
struct Sizes {
    l: i64,
    t: i64,
    mb: i64,
    slc: i64,
    sic: i64,
    dhc: i64,
    dic: i64,
}

fn sizes(v: &Values, descriptor: &str) -> Result<Sizes> {
    let l = Letters::read(descriptor, &["l", "t", "mb", "slc", "sic", "dhc", "dic"])?;
    let (slc, sic) = (l.size("slc")?, l.size("sic")?);
    let none = || ParseError::new("nothing", "a channel count, `slc` or `sic`").of("slc");
    let (slc, sic) = (slc.or(sic).ok_or_else(none)?, sic.or(slc).ok_or_else(none)?);
    let dhc = l.size("dhc")?.unwrap_or(sic);
    Ok(Sizes {
        l: l.size("l")?.unwrap_or(1),
        t: l.size("t")?.unwrap_or(1),
        mb: batch(v, l.size("mb")?)?,
        slc,
        sic,
        dhc,
        dic: l.size("dic")?.unwrap_or(dhc),
    })
}

fn without(v: &Values) -> Result<Vec<&'static str>> {
    v.read("without", |s| {
        let names = s.split('+').filter(|n| !n.is_empty());
        names
            .map(|n| OPTIONAL.into_iter().find(|o| *o == n).ok_or_else(|| ParseError::unknown(n, "one of", OPTIONAL.into_iter())))
            .collect()
    })
}

fn rnn(v: &Values, descriptor: &str) -> Result<(Op, FillHints)> {
    let Sizes { l, t, mb, slc, sic, dhc, dic } = sizes(v, descriptor)?;
    let prop = match v.name("prop", &PROPS)? {
        Prop::BackwardData | Prop::BackwardWeights => Prop::Backward,
        prop => prop,
    };
    let (cell, direction) = (v.name("alg", &CELLS)?, v.name("direction", &DIRECTIONS)?);
    let types = v.name("cfg", &CONFIGS)?;
    let (d, lstm) = (direction.count(), cell == RnnCell::Lstm);
    let out = if direction == RnnDirection::BidirectionalConcat { dic.checked_mul(2) } else { Some(dic) };
    let out = out.filter(|_| dic >= 0).ok_or_else(|| ParseError::new(dic, "a size").of("dic"))?;
    let g = cell.gates();
    let [src, layer, iter, dst] = [Dims::from([t, mb, slc]), [l, d, slc, g, dhc].into(), [l, d, sic, g, dhc].into(), [t, mb, out].into()];
    let tags = v.list("tag", 3, Rest::Repeat, |i, s| match i {
        0 => layouts::read(src, s).map(|s| vec![s]),
        1 => Ok(vec![layouts::read(layer, s)?, layouts::read(iter, s)?]),
        _ => layouts::read(dst, s).map(|s| vec![s]),
    })?;
    let mut tags = tags.into_iter().flatten();
    let mut tagged = |dtype| tags.next().map(|layout| Tensor { dtype, layout }).ok_or_else(|| ParseError::new(descriptor, "four layouts"));
    let absent = without(v)?;
    let (peephole, projection) = (v.flag("with-peephole")?, v.flag("with-projection")?);
    let state =
        |name: &str, on: bool, dims: [i64; 4], dtype| (on && !absent.contains(&name)).then(|| plain(Dims::from(dims), dtype)).transpose();
    let weights_projection = Tensor { dtype: types.weights, layout: Layout::any([l, d, dhc, dic]) };
    let mut op = Rnn {
        prop,
        cell,
        activation: v.name("activation", &ACTIVATIONS)?,
        alpha: v.real("alpha")?,
        direction,
        diff_weights_overwrite: v.name("flags", &[(false, ""), (true, "O"), (false, "undef")])?,
        src_layer: tagged(types.layer)?,
        weights_layer: tagged(types.weights)?,
        weights_iter: tagged(types.weights)?,
        dst_layer: tagged(types.dst_layer)?,
        src_iter: state("src_iter", true, [l, d, mb, sic], types.iter)?,
        src_iter_c: state("src_iter_c", lstm, [l, d, mb, dhc], types.cell)?,
        attention: cell.is_augru().then(|| plain([t, mb, 1].into(), types.layer)).transpose()?,
        weights_peephole: state("", peephole, [l, d, 3, dhc], DataType::F32)?,
        weights_projection: projection.then_some(weights_projection),
        bias: state("bias", true, [l, d, cell.bias_gates(), dhc], types.bias)?,
        dst_iter: state("dst_iter", true, [l, d, mb, dic], types.dst_iter)?,
        dst_iter_c: state("dst_iter_c", lstm, [l, d, mb, dhc], types.cell)?,
        diff: None,
        workspace: None,
    };
    op.diff = (prop == Prop::Backward).then(|| gradients(&op));
    Ok((op.into(), FillHints::default()))
}

/// The gradients: f32, laid out as the tensors that they belong to.
fn gradients(op: &Rnn) -> RnnDiff {
    let of = |t: &Tensor| Tensor { dtype: DataType::F32, layout: t.layout.clone() };
    let maybe = |t: &Option<Tensor>| t.as_ref().map(of);
    RnnDiff {
        src_layer: of(&op.src_layer),
        src_iter: maybe(&op.src_iter),
        src_iter_c: maybe(&op.src_iter_c),
        attention: maybe(&op.attention),
        weights_layer: of(&op.weights_layer),
        weights_iter: of(&op.weights_iter),
        weights_peephole: maybe(&op.weights_peephole),
        weights_projection: maybe(&op.weights_projection),
        bias: maybe(&op.bias),
        dst_layer: of(&op.dst_layer),
        dst_iter: maybe(&op.dst_iter),
        dst_iter_c: maybe(&op.dst_iter_c),
    }
}

/// The configuration whose types are nearest to the operation's; `--tensors` writes the differences.
fn config(op: &Rnn) -> &'static str {
    let or = |t: &Option<Tensor>, default: DataType| t.as_ref().map_or(default, |t| t.dtype);
    let score = |t: &Types| {
        [
            (t.layer, op.src_layer.dtype),
            (t.weights, op.weights_layer.dtype),
            (t.dst_layer, op.dst_layer.dtype),
            (t.iter, or(&op.src_iter, t.iter)),
            (t.dst_iter, or(&op.dst_iter, t.dst_iter)),
            (t.bias, or(&op.bias, t.bias)),
            (t.cell, or(&op.src_iter_c, t.cell)),
        ]
        .iter()
        .filter(|(a, b)| a != b)
        .count()
    };
    CONFIGS.iter().min_by_key(|(t, _)| score(t)).map_or("f32", |(_, name)| name)
}

fn write_rnn(op: &Op, line: &mut Line) {
    let Op::Rnn(r) = op else { return };
    let lstm = r.cell == RnnCell::Lstm;
    line.set("prop", name_in(&PROPS, r.prop));
    line.set("alg", name_in(&CELLS, r.cell));
    line.set("activation", name_in(&ACTIVATIONS, r.activation));
    line.set("alpha", r.alpha.to_string());
    line.set("direction", name_in(&DIRECTIONS, r.direction));
    line.set("cfg", config(r));
    line.set("with-peephole", r.weights_peephole.is_some().to_string());
    line.set("with-projection", r.weights_projection.is_some().to_string());
    let absent =
        [r.src_iter.is_none(), lstm && r.src_iter_c.is_none(), r.bias.is_none(), r.dst_iter.is_none(), lstm && r.dst_iter_c.is_none()];
    let absent = OPTIONAL.into_iter().zip(absent).filter(|(_, absent)| *absent).map(|(name, _)| name);
    line.set("without", absent.collect::<Vec<_>>().join("+"));
    line.set("flags", if r.diff_weights_overwrite { "O" } else { "" });
    line.layouts("tag", &[&r.src_layer, &r.weights_layer, &r.dst_layer]);
    let at = |t: &Tensor, d: usize| t.dims().get(d).copied().unwrap_or(0);
    let mut out = Writer::default();
    for (key, v) in [("l", at(&r.weights_layer, 0)), ("t", at(&r.src_layer, 0)), ("mb", at(&r.src_layer, 1))] {
        out.size(key, v);
    }
    let dlc = at(&r.dst_layer, 2);
    let dic = if r.direction == RnnDirection::BidirectionalConcat { dlc / 2 } else { dlc };
    for (key, v) in [("slc", at(&r.weights_layer, 2)), ("sic", at(&r.weights_iter, 2)), ("dhc", at(&r.weights_layer, 4)), ("dic", dic)] {
        out.size(key, v);
    }
    line.descriptor = out.0;
}
