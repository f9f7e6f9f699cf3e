//! The `--attr-*` options: reading and writing.

mod post_ops;
mod quant;

use super::error::{ParseError, Result};
use super::line::Line;
use super::values::{MAX_LIST, Values, int, name_in, one_of, real};
use super::{DropoutHint, FillHints, layouts};
use crate::op::Rnn;
use crate::{
    Accumulation, Arg, Attr, DataType, Dropout, DynamicDim, FpMath, FpMathMode, Op, Problem, Real, RnnLinear, RnnQuant, Rounding,
    ScratchpadMode, Tensor,
};

const SCRATCHPADS: [(ScratchpadMode, &str); 2] = [(ScratchpadMode::Library, "library"), (ScratchpadMode::User, "user")];

const FPMATH: [(FpMathMode, &str); 5] = [
    (FpMathMode::Strict, "strict"),
    (FpMathMode::Bf16, "bf16"),
    (FpMathMode::F16, "f16"),
    (FpMathMode::Tf32, "tf32"),
    (FpMathMode::Any, "any"),
];

const ACCUMULATIONS: [(Accumulation, &str); 6] = [
    (Accumulation::Strict, "strict"),
    (Accumulation::Relaxed, "relaxed"),
    (Accumulation::Any, "any"),
    (Accumulation::F32, "f32"),
    (Accumulation::S32, "s32"),
    (Accumulation::F16, "f16"),
];

const ROUNDINGS: [(Rounding, &str); 2] = [(Rounding::Environment, "environment"), (Rounding::Stochastic, "stochastic")];

/// Entries of a list joined by `+`.
fn entries(s: &str) -> Result<Vec<&str>> {
    let list: Vec<&str> = s.split('+').filter(|e| !e.is_empty()).take(MAX_LIST + 1).collect();
    if list.len() > MAX_LIST { Err(ParseError::new(list.len(), format_args!("at most {MAX_LIST} entries"))) } else { Ok(list) }
}

/// The argument called `name` in attribute lists.
fn arg(name: &str) -> Result<Arg> {
    let known = [
        Arg::SRC,
        Arg::SRC_1,
        Arg::SRC_2,
        Arg::SRC_3,
        Arg::DST,
        Arg::DST_1,
        Arg::DST_2,
        Arg::WEIGHTS,
        Arg::WEIGHTS_1,
        Arg::WEIGHTS_2,
        Arg::WEIGHTS_3,
        Arg::BIAS,
        Arg::DIFF_SRC,
        Arg::DIFF_DST,
        Arg::DIFF_WEIGHTS,
        Arg::DIFF_BIAS,
    ];
    if name == "src0" {
        return Ok(Arg::SRC);
    }
    if let Some(i) = name.strip_prefix("msrc") {
        return int::<u16>(i).map(|i| Arg::multiple_src(usize::from(i).min(1023)));
    }
    if let Some(of) = name.strip_prefix("dw_").or(name.strip_prefix("attr_post_op_dw_")) {
        return arg(of).map(Arg::depthwise);
    }
    let names: Vec<String> = known.iter().map(Arg::to_string).collect();
    let found = names.iter().position(|n| n == name);
    found.map(|i| known[i]).ok_or_else(|| ParseError::unknown(name, "an argument", names.iter().map(String::as_str)))
}

/// The name that [`arg`] reads.
pub(super) fn arg_name(of: Arg) -> String {
    of.to_string().replace("dw:", "dw_")
}

/// The attributes of a line for the operation `op`.
pub(super) fn read(v: &Values, op: &Op, fill: &mut FillHints) -> Result<Attr> {
    let mut attr = Attr {
        scratchpad: v.name("attr-scratchpad", &SCRATCHPADS)?,
        fpmath: v.read("attr-fpmath", fpmath)?,
        accumulation: v.name("attr-acc-mode", &ACCUMULATIONS)?,
        deterministic: v.flag("attr-deterministic")?,
        hint_reusable_kernels: v.flag("attr-reusable-kernels")?,
        dynamic: v.read("attr-dynamic", dynamic)?,
        dropout: v.read("attr-dropout", |s| dropout(s, op, fill))?,
        post_ops: v.read("attr-post-ops", |s| post_ops::read(s, op))?,
        ..Attr::default()
    };
    v.read("attr-rounding-mode", |s| rounding(s, &mut attr, fill))?;
    v.read("attr-scales", |s| {
        let read = quant::read(s, op, DataType::F32)?;
        fill.scales.extend(read.values);
        attr.scales = read.quants;
        Ok(())
    })?;
    v.read("attr-zero-points", |s| {
        let read = quant::read(s, op, DataType::S32)?;
        fill.zero_points.extend(read.values.into_iter().map(|(arg, v)| (arg, v.get() as i32)));
        attr.zero_points = read.quants;
        Ok(())
    })?;
    attr.precomputed_reductions = v.read("attr-precomputed-reductions", |s| quant::read(s, op, DataType::S32).map(|r| r.quants))?;
    match op {
        Op::Rnn(rnn) => attr.rnn = rnn_quant(v, rnn)?,
        Op::Reorder(_) => attr.rnn = given_quant(v)?,
        _ => {}
    }
    Ok(attr)
}

fn fpmath(s: &str) -> Result<FpMath> {
    let (mode, int) = s.split_once(':').unwrap_or((s, "false"));
    Ok(FpMath { mode: one_of(&FPMATH, mode)?, apply_to_int: one_of(&[(true, "true"), (false, "false")], int)? })
}

/// The text that [`fpmath`] reads.
pub(super) fn fpmath_text(f: &FpMath) -> String {
    format!("{}{}", name_in(&FPMATH, f.mode), if f.apply_to_int { ":true" } else { "" })
}

/// The name of an accumulation mode.
pub(super) fn accumulation_name(mode: Accumulation) -> &'static str {
    name_in(&ACCUMULATIONS, mode)
}

/// `ARG:MODE[:SEED]+..`.
fn rounding(s: &str, attr: &mut Attr, fill: &mut FillHints) -> Result<()> {
    for entry in entries(s)? {
        let mut parts = entry.split(':');
        let (of, mode) = (arg(parts.next().unwrap_or(""))?, parts.next().unwrap_or(""));
        attr.rounding.insert(of, one_of(&ROUNDINGS, mode)?);
        if let Some(seed) = parts.next() {
            fill.rounding_seed = Some(int(seed)?);
        }
    }
    Ok(())
}

/// `ARG:DIM:SIZExSIZE..+..`.
fn dynamic(s: &str) -> Result<Vec<DynamicDim>> {
    let one = |entry: &str| -> Result<DynamicDim> {
        let mut parts = entry.splitn(3, ':');
        let mut next = || parts.next().filter(|p| !p.is_empty()).ok_or_else(|| ParseError::new(entry, "ARG:DIM:SIZExSIZE.."));
        let (arg, dim) = (arg(next()?)?, usize::from(int::<u8>(next()?)?));
        Ok(DynamicDim { arg, dim, examples: next()?.split('x').map(int).collect::<Result<_>>()? })
    };
    if s.is_empty() { Ok(Vec::new()) } else { entries(s)?.into_iter().map(one).collect() }
}

/// The text that [`dynamic`] reads.
pub(super) fn dynamic_text(dims: &[DynamicDim]) -> String {
    let sizes = |d: &DynamicDim| d.examples.iter().map(i64::to_string).collect::<Vec<_>>().join("x");
    dims.iter().map(|d| format!("{}:{}:{}", arg_name(d.arg), d.dim, sizes(d))).collect::<Vec<_>>().join("+")
}

/// `P[:SEED[:TAG[:OFFSET]]]` and flags `s32`, `s64`, `host`; a tag `undef` leaves the mask away.
fn dropout(s: &str, op: &Op, fill: &mut FillHints) -> Result<Option<Dropout>> {
    if s.is_empty() {
        return Ok(None);
    }
    let is_flag = |p: &&str| matches!(*p, "s32" | "s64" | "host");
    let (flags, parts): (Vec<&str>, Vec<&str>) = s.split(':').partition(is_flag);
    if parts.len() > 4 {
        return Err(ParseError::new(s, "P[:SEED[:TAG[:OFFSET]]] and s32, s64 or host behind"));
    }
    let at = |i: usize| parts.get(i).copied().filter(|p| !p.is_empty());
    let offset = at(3).map(int::<i64>).transpose()?;
    let hint = DropoutHint { p: at(0).map_or(Ok(Real::default()), real)?, seed: at(1).map_or(Ok(0), int)?, offset: offset.unwrap_or(0) };
    fill.dropout = Some(hint);
    let dims = op.result().map(|t| *t.dims()).unwrap_or_default();
    let mask = match at(2).unwrap_or("any") {
        "undef" => None,
        tag => Some(Tensor { dtype: DataType::U8, layout: layouts::read(dims, tag)? }),
    };
    let wide = if flags.contains(&"s32") { false } else { offset.is_some() || flags.contains(&"s64") };
    Ok(Some(Dropout {
        mask,
        seed_dtype: if wide { DataType::S64 } else { DataType::S32 },
        use_offset: offset.is_some(),
        use_host_scalars: flags.contains(&"host"),
    }))
}

/// Quantisation of an int8 network: the given numbers, else 127 (and 128 as the shift of u8 data), for data in `-1..1`.
fn rnn_quant(v: &Values, rnn: &Rnn) -> Result<RnnQuant> {
    let layer = rnn.src_layer.dtype;
    let default = layer.is_x8().then(|| (Real::new(127.0), Real::new(if layer == DataType::U8 { 128.0 } else { 0.0 })));
    let data = v.read("attr-rnn-data", |s| match s.split_once(':') {
        Some((scale, shift)) => Ok(Some((real(scale)?, real(shift)?))),
        None if s == "none" => Ok(None),
        None if s.is_empty() => Ok(default),
        None => Err(ParseError::new(s, "SCALE:SHIFT, or none")),
    })?;
    let weights = |option: &str, policy: &str, tensor: Option<&Tensor>| -> Result<Option<(u32, Vec<Real>)>> {
        let per_oc = v.name(policy, &[(false, "common"), (true, "per_oc"), (false, "")])?;
        v.read(option, |s| match s {
            "" => Ok(tensor.filter(|t| t.dtype == DataType::S8).map(|t| default_scales(t, per_oc))),
            "none" => Ok(None),
            s => numbers(s).map(Some),
        })
    };
    Ok(RnnQuant {
        data,
        weights: weights("attr-rnn-weights", "scaling", Some(&rnn.weights_layer))?,
        projection: weights("attr-rnn-projection", "scaling-proj", rnn.weights_projection.as_ref())?,
        linear: v.read("attr-rnn-linear", rnn_linear)?,
    })
}

/// Factors of linear activations: those of the gates, then that of the cell.
fn rnn_linear(s: &str) -> Result<Option<RnnLinear>> {
    if s.is_empty() {
        return Ok(None);
    }
    let (gates, cell) = s.split_once(':').ok_or_else(|| ParseError::new(s, "FACTOR+FACTOR..:FACTOR"))?;
    Ok(Some(RnnLinear { gates: gates.split('+').map(real).collect::<Result<_>>()?, cell: real(cell)? }))
}

/// The text that [`rnn_linear`] reads.
pub(super) fn linear_text(linear: Option<&RnnLinear>) -> String {
    linear.map_or(String::new(), |l| format!("{}:{}", join(&l.gates), l.cell))
}

/// Quantisation for a reorder that prepares data or weights of an int8 network: the given numbers, else none.
fn given_quant(v: &Values) -> Result<RnnQuant> {
    let data = v.read("attr-rnn-data", |s| match s.split_once(':') {
        Some((scale, shift)) => Ok(Some((real(scale)?, real(shift)?))),
        None if s.is_empty() || s == "none" => Ok(None),
        None => Err(ParseError::new(s, "SCALE:SHIFT, or none")),
    })?;
    let list = |option: &str| v.read(option, |s| if s.is_empty() || s == "none" { Ok(None) } else { numbers(s).map(Some) });
    Ok(RnnQuant { data, weights: list("attr-rnn-weights")?, projection: list("attr-rnn-projection")?, linear: None })
}

/// The mask and scales that `--scaling` stands for: one 127, or one for each gate and channel.
fn default_scales(weights: &Tensor, per_oc: bool) -> (u32, Vec<Real>) {
    let dims = weights.dims();
    let n = dims.get(3..).map_or(0, |d| d.iter().try_fold(1i64, |a, b| a.checked_mul(*b)).unwrap_or(0));
    if !per_oc || !(1..=1 << 20).contains(&n) {
        return (0, vec![Real::new(127.0)]);
    }
    let mask = if dims.len() == 5 { 0b11000 } else { 0b1000 };
    (mask, (0..n).map(|i| Real::new((64 + i % 64) as f32)).collect())
}

/// `MASK:A+B+..`.
fn numbers(s: &str) -> Result<(u32, Vec<Real>)> {
    let (mask, list) = s.split_once(':').ok_or_else(|| ParseError::new(s, "MASK:SCALE+SCALE.., or none"))?;
    Ok((int(mask)?, list.split('+').map(real).collect::<Result<_>>()?))
}

/// Writes the attributes; values in `fill` go where they are read.
pub(super) fn write(problem: &Problem, fill: &FillHints, line: &mut Line) {
    let Problem { op, attr } = problem;
    line.set("attr-scratchpad", name_in(&SCRATCHPADS, attr.scratchpad));
    line.set("attr-fpmath", fpmath_text(&attr.fpmath));
    line.set("attr-acc-mode", accumulation_name(attr.accumulation));
    line.set("attr-deterministic", attr.deterministic.to_string());
    line.set("attr-reusable-kernels", attr.hint_reusable_kernels.to_string());
    line.set("attr-dynamic", dynamic_text(&attr.dynamic));
    let seed = fill.rounding_seed.map_or_else(String::new, |s| format!(":{s}"));
    let modes = attr.rounding.iter().map(|(of, mode)| format!("{}:{}{seed}", arg_name(*of), name_in(&ROUNDINGS, *mode)));
    line.set("attr-rounding-mode", modes.collect::<Vec<_>>().join("+"));
    if let Some(d) = &attr.dropout {
        line.set("attr-dropout", write_dropout(d, fill));
    }
    let value = |arg: &Arg| fill.scales.get(arg).map(Real::to_string);
    line.set("attr-scales", quant::write(&attr.scales, DataType::F32, value));
    let value = |arg: &Arg| fill.zero_points.get(arg).map(i32::to_string);
    line.set("attr-zero-points", quant::write(&attr.zero_points, DataType::S32, value));
    line.set("attr-precomputed-reductions", quant::write(&attr.precomputed_reductions, DataType::S32, |_| None));
    line.set("attr-post-ops", post_ops::write(op, attr));
    match op {
        Op::Rnn(rnn) => write_rnn(rnn, &attr.rnn, line),
        Op::Reorder(_) => write_given(&attr.rnn, line),
        _ => {}
    }
}

fn join(numbers: &[Real]) -> String {
    numbers.iter().map(Real::to_string).collect::<Vec<_>>().join("+")
}

fn write_given(q: &RnnQuant, line: &mut Line) {
    if let Some((scale, shift)) = q.data {
        line.set("attr-rnn-data", format!("{scale}:{shift}"));
    }
    for (option, scales) in [("attr-rnn-weights", &q.weights), ("attr-rnn-projection", &q.projection)] {
        if let Some((mask, scales)) = scales {
            line.set(option, format!("{mask}:{}", join(scales)));
        }
    }
}

fn write_dropout(d: &Dropout, fill: &FillHints) -> String {
    let hint = fill.dropout.unwrap_or(DropoutHint { p: Real::new(0.5), seed: 1, offset: 0 });
    let mask = d.mask.as_ref().map_or_else(|| "undef".into(), |m| layouts::write(&m.layout));
    let offset = if d.use_offset { format!(":{}", hint.offset) } else { String::new() };
    let seed = if d.seed_dtype == DataType::S64 { ":s64" } else { ":s32" };
    let host = if d.use_host_scalars { ":host" } else { "" };
    format!("{}:{}:{mask}{offset}{seed}{host}", hint.p, hint.seed)
}

fn write_rnn(rnn: &Rnn, q: &RnnQuant, line: &mut Line) {
    let int8 = rnn.src_layer.dtype.is_x8();
    match q.data {
        Some((scale, shift)) => line.set("attr-rnn-data", format!("{scale}:{shift}")),
        None if int8 => line.set("attr-rnn-data", "none"),
        None => {}
    }
    let rows = [
        ("attr-rnn-weights", "scaling", &q.weights, Some(&rnn.weights_layer)),
        ("attr-rnn-projection", "scaling-proj", &q.projection, rnn.weights_projection.as_ref()),
    ];
    for (option, policy, given, tensor) in rows {
        let tensor = tensor.filter(|t| t.dtype == DataType::S8);
        let default = |per_oc| tensor.map(|t| default_scales(t, per_oc));
        match given {
            given if *given == default(false) => {}
            given if *given == default(true) => line.set(policy, "per_oc"),
            Some((mask, scales)) => line.set(option, format!("{mask}:{}", join(scales))),
            None => line.set(option, "none"),
        }
    }
    line.set("attr-rnn-linear", linear_text(q.linear.as_ref()));
}
