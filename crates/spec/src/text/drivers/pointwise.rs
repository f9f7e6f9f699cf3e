//! Operations on whole shapes: eltwise, binary, softmax, reduction, prelu, shuffle.

use super::{dir, dir_name};
use crate::op::{Binary, BinaryAlg, Eltwise, EltwiseAlg, Prelu, Reduction, ReductionAlg, Shuffle, Softmax, SoftmaxAlg};
use crate::text::error::{ParseError, Result};
use crate::text::line::{Line, any};
use crate::text::values::{Rest, Values, dtype, int, name_in, shapes};
use crate::text::{Driver, FillHints, layouts, opt};
use crate::{DataType, Dims, Op, Real, Tensor};

pub(super) const ELTWISE: Driver = Driver {
    name: "eltwise",
    options: &[opt("dir", "FWD_D"), opt("dt", "f32"), opt("tag", "abx:any"), opt("alg", "relu"), opt("alpha", "0"), opt("beta", "0")],
    build: eltwise,
    write: write_eltwise,
};

pub(super) const BINARY: Driver = Driver {
    name: "binary",
    options: &[opt("alg", "add"), opt("sdt", "f32"), opt("ddt", "f32"), opt("stag", "abx"), opt("dtag", "any")],
    build: binary,
    write: write_binary,
};

pub(super) const SOFTMAX: Driver = Driver {
    name: "softmax",
    options: &[
        opt("dir", "FWD_D"),
        opt("sdt", "f32"),
        opt("ddt", "f32"),
        opt("stag", "abx"),
        opt("dtag", "any"),
        opt("alg", "SOFTMAX"),
        opt("axis", "1"),
    ],
    build: softmax,
    write: write_softmax,
};

pub(super) const REDUCTION: Driver = Driver {
    name: "reduction",
    options: &[
        opt("alg", "sum"),
        opt("sdt", "f32"),
        opt("ddt", "f32"),
        opt("stag", "abx"),
        opt("dtag", "any"),
        opt("p", "1"),
        opt("eps", "0"),
    ],
    build: reduction,
    write: write_reduction,
};

pub(super) const PRELU: Driver =
    Driver { name: "prelu", options: &[opt("dir", "FWD_D"), opt("sdt", "f32"), opt("stag", "abx:any")], build: prelu, write: write_prelu };

pub(super) const SHUFFLE: Driver = Driver {
    name: "shuffle",
    options: &[opt("dir", "FWD_D"), opt("dt", "f32"), opt("tag", "abx:any"), opt("axis", "1"), opt("group", "1")],
    build: shuffle,
    write: write_shuffle,
};

const SOFTMAX_ALGS: [(SoftmaxAlg, &str); 6] = [
    (SoftmaxAlg::Accurate, "SOFTMAX"),
    (SoftmaxAlg::Log, "LOGSOFTMAX"),
    (SoftmaxAlg::InfAsZero, "SOFTMAX_INF_AS_ZERO"),
    (SoftmaxAlg::Accurate, "softmax_accurate"),
    (SoftmaxAlg::Log, "softmax_log"),
    (SoftmaxAlg::InfAsZero, "softmax_accurate_inf_as_zero"),
];

pub(super) const REDUCTION_ALGS: [(ReductionAlg, &str); 9] = [
    (ReductionAlg::Max, "max"),
    (ReductionAlg::Min, "min"),
    (ReductionAlg::Sum, "sum"),
    (ReductionAlg::Mul, "mul"),
    (ReductionAlg::Mean, "mean"),
    (ReductionAlg::NormLpMax, "norm_lp_max"),
    (ReductionAlg::NormLpSum, "norm_lp_sum"),
    (ReductionAlg::NormLpPowerPMax, "norm_lp_power_p_max"),
    (ReductionAlg::NormLpPowerPSum, "norm_lp_power_p_sum"),
];

/// Source and destination layouts of `--tag=src[:dst]` for one shape.
pub(super) fn two_layouts(v: &Values, option: &str, dims: Dims) -> Result<[crate::Layout; 2]> {
    let l = v.layouts(option, &[dims; 2], Rest::Default)?;
    let [src, dst] = <[crate::Layout; 2]>::try_from(l).map_err(|_| ParseError::new(v.get(option), "two layouts"))?;
    Ok([src, dst])
}

/// Writes `--tag=src[:dst]`, the destination's only where it is not `any`.
pub(super) fn write_two(line: &mut Line, option: &'static str, src: &Tensor, dst: &Tensor) {
    let (s, d) = (layouts::write(&src.layout), layouts::write(&dst.layout));
    let plain = crate::Layout::with_tag(*src.dims(), "abx").ok().and_then(|l| l.tag());
    match (Some(&s) == plain.as_ref(), d == "any") {
        (true, true) => {}
        (_, true) => line.set(option, s),
        _ => line.set(option, format!("{s}:{d}")),
    }
}

fn axis(v: &Values) -> Result<usize> {
    v.read("axis", int)
}

fn eltwise(v: &Values, descriptor: &str) -> Result<(Op, FillHints)> {
    let dims = shapes(descriptor, 1, 1)?[0];
    let (prop, _) = dir(v)?;
    let [sdt, ddt] = v.dtypes("dt")?;
    let [src, dst] = two_layouts(v, "tag", dims)?;
    let src = Tensor { dtype: sdt, layout: src };
    let other = Tensor { dtype: ddt, layout: dst };
    let (dst, diff_src, diff_dst) = match prop.is_forward() {
        true => (Some(other), None, None),
        false => (None, Some(any(&src, sdt)), Some(other)),
    };
    let (alg, alpha, beta) = (v.name("alg", &EltwiseAlg::NAMES)?, v.real("alpha")?, v.real("beta")?);
    Ok((Op::Eltwise(Eltwise { prop, alg, alpha, beta, src, dst, diff_src, diff_dst }), FillHints::default()))
}

/// Writes a number that is not the option's default.
pub(super) fn write_real(line: &mut Line, option: &'static str, v: Real) {
    line.set(option, v.to_string());
}

fn write_eltwise(op: &Op, line: &mut Line) {
    let Op::Eltwise(e) = op else { return };
    let other = e.dst.as_ref().or(e.diff_dst.as_ref()).unwrap_or(&e.src);
    line.set("dir", dir_name(e.prop, false));
    line.dtypes("dt", &[e.src.dtype, other.dtype]);
    write_two(line, "tag", &e.src, other);
    line.set("alg", e.alg.name());
    write_real(line, "alpha", e.alpha);
    write_real(line, "beta", e.beta);
    line.descriptor = e.src.dims().to_string();
}

fn binary(v: &Values, descriptor: &str) -> Result<(Op, FillHints)> {
    let given = shapes(descriptor, 2, 3)?;
    let n = given[0].len();
    if given.iter().any(|s| s.len() != n) {
        return Err(ParseError::new(descriptor, "shapes with the same number of dimensions").of("shape"));
    }
    let out = Dims::from_fn(n, |d| if given[0][d] == 1 { given[1][d] } else { given[0][d] });
    let alg = v.name("alg", &BinaryAlg::NAMES)?;
    let condition = (alg == BinaryAlg::Select).then(|| given.get(2).copied().unwrap_or(out));
    let dims: Vec<Dims> = [given[0], given[1]].into_iter().chain(condition).collect();
    let types_given = v.get("sdt").split(':').count();
    let types = v.list("sdt", 3, Rest::Repeat, |i, s| if i == 2 && types_given < 3 { Ok(DataType::S8) } else { dtype(s) })?;
    let tags = v.list("stag", 3, Rest::Repeat, |i, s| dims.get(i).map(|d| layouts::read(*d, s)).transpose())?;
    let mut srcs = types.into_iter().zip(tags.into_iter().flatten()).map(|(dtype, layout)| Tensor { dtype, layout });
    let (Some(src0), Some(src1)) = (srcs.next(), srcs.next()) else {
        return Err(ParseError::new(descriptor, "two sources").of("shape"));
    };
    let dst = v.tensor("dtag", out, v.dtypes::<1>("ddt")?[0])?;
    Ok((Op::Binary(Binary { alg, src0, src1, src2: srcs.next(), dst }), FillHints::default()))
}

fn write_binary(op: &Op, line: &mut Line) {
    let Op::Binary(b) = op else { return };
    let srcs: Vec<&Tensor> = [&b.src0, &b.src1].into_iter().chain(&b.src2).collect();
    line.set("alg", b.alg.name());
    let types: Vec<DataType> = srcs.iter().map(|t| t.dtype).collect();
    match types[..] {
        [a, b, DataType::S8] if a == b => line.dtypes("sdt", &types[..1]),
        [a, b, c] if a == b && b == c => line.each("sdt", &types.iter().map(|d| d.name().into()).collect::<Vec<_>>()),
        _ => line.dtypes("sdt", &types),
    }
    line.dtypes("ddt", &[b.dst.dtype]);
    tags(line, "stag", &srcs);
    line.layout("dtag", &b.dst);
    line.descriptor = srcs.iter().map(|t| t.dims().to_string()).collect::<Vec<_>>().join(":");
}

/// Writes a list of layouts with `abx` for row-major ones.
pub(super) fn tags(line: &mut Line, option: &'static str, tensors: &[&Tensor]) {
    line.list(option, &tensors.iter().map(|t| tag(t)).collect::<Vec<_>>());
}

/// The layout of a tensor, `abx` for a row-major one.
pub(super) fn tag(t: &Tensor) -> String {
    let text = layouts::write(&t.layout);
    let plain: String = ('a'..='l').take(t.dims().len()).collect();
    if text == plain { "abx".into() } else { text }
}

fn softmax(v: &Values, descriptor: &str) -> Result<(Op, FillHints)> {
    let dims = shapes(descriptor, 1, 1)?[0];
    let (prop, _) = dir(v)?;
    let src = v.tensor("stag", dims, v.dtypes::<1>("sdt")?[0])?;
    let mut dst = v.tensor("dtag", dims, v.dtypes::<1>("ddt")?[0])?;
    let (alg, axis) = (v.name("alg", &SOFTMAX_ALGS)?, axis(v)?);
    let op = if prop.is_forward() {
        Softmax { prop, alg, src: Some(src), dst, diff_src: None, diff_dst: None, axis }
    } else {
        if dst.layout.is_any() {
            dst.layout = src.layout.clone();
        }
        Softmax { prop, alg, src: None, diff_dst: Some(dst.clone()), dst, diff_src: Some(src), axis }
    };
    Ok((Op::Softmax(op), FillHints::default()))
}

fn write_softmax(op: &Op, line: &mut Line) {
    let Op::Softmax(s) = op else { return };
    let src = s.src.as_ref().or(s.diff_src.as_ref()).unwrap_or(&s.dst);
    line.set("dir", dir_name(s.prop, false));
    line.dtypes("sdt", &[src.dtype]);
    line.dtypes("ddt", &[s.dst.dtype]);
    line.set("stag", tag(src));
    if s.prop.is_forward() || s.dst.layout != src.layout {
        line.layout("dtag", &s.dst);
    }
    line.set("alg", name_in(&SOFTMAX_ALGS, s.alg));
    line.set("axis", s.axis.to_string());
    line.descriptor = s.dst.dims().to_string();
}

fn reduction(v: &Values, descriptor: &str) -> Result<(Op, FillHints)> {
    let given = shapes(descriptor, 2, 2)?;
    let op = Reduction {
        alg: v.name("alg", &REDUCTION_ALGS)?,
        src: v.tensor("stag", given[0], v.dtypes::<1>("sdt")?[0])?,
        dst: v.tensor("dtag", given[1], v.dtypes::<1>("ddt")?[0])?,
        p: v.real("p")?,
        eps: v.real("eps")?,
    };
    Ok((Op::Reduction(op), FillHints::default()))
}

fn write_reduction(op: &Op, line: &mut Line) {
    let Op::Reduction(r) = op else { return };
    line.set("alg", name_in(&REDUCTION_ALGS, r.alg));
    line.dtypes("sdt", &[r.src.dtype]);
    line.dtypes("ddt", &[r.dst.dtype]);
    line.set("stag", tag(&r.src));
    line.layout("dtag", &r.dst);
    write_real(line, "p", r.p);
    write_real(line, "eps", r.eps);
    line.descriptor = format!("{}:{}", r.src.dims(), r.dst.dims());
}

fn prelu(v: &Values, descriptor: &str) -> Result<(Op, FillHints)> {
    let given = shapes(descriptor, 2, 2)?;
    let (prop, _) = dir(v)?;
    let [sdt, wdt] = v.dtypes("sdt")?;
    let mut tags = v.layouts("stag", &given, Rest::Default)?.into_iter();
    let (Some(s), Some(w)) = (tags.next(), tags.next()) else {
        return Err(ParseError::new(descriptor, "two shapes").of("shape"));
    };
    let (src, weights) = (Tensor { dtype: sdt, layout: s }, Tensor { dtype: wdt, layout: w });
    let backward = !prop.is_forward();
    let op = Prelu {
        prop,
        dst: (!backward).then(|| any(&src, sdt)),
        diff_src: backward.then(|| any(&src, sdt)),
        diff_weights: backward.then(|| any(&weights, wdt)),
        diff_dst: backward.then(|| any(&src, sdt)),
        src,
        weights,
    };
    Ok((op.into(), FillHints::default()))
}

fn write_prelu(op: &Op, line: &mut Line) {
    let Op::Prelu(p) = op else { return };
    line.set("dir", dir_name(p.prop, false));
    line.dtypes("sdt", &[p.src.dtype, p.weights.dtype]);
    write_two(line, "stag", &p.src, &p.weights);
    line.descriptor = format!("{}:{}", p.src.dims(), p.weights.dims());
}

fn shuffle(v: &Values, descriptor: &str) -> Result<(Op, FillHints)> {
    let dims = shapes(descriptor, 1, 1)?[0];
    let (prop, _) = dir(v)?;
    let [dtype] = v.dtypes("dt")?;
    let [a, b] = two_layouts(v, "tag", dims)?;
    let (given, other) = (Tensor { dtype, layout: a }, Tensor { dtype, layout: b });
    let (src, dst) = if prop.is_forward() { (given, other) } else { (other, given) };
    Ok((Op::Shuffle(Shuffle { prop, src, dst, axis: axis(v)?, group_size: v.read("group", int)? }), FillHints::default()))
}

fn write_shuffle(op: &Op, line: &mut Line) {
    let Op::Shuffle(s) = op else { return };
    let (given, other) = if s.prop.is_forward() { (&s.src, &s.dst) } else { (&s.dst, &s.src) };
    line.set("dir", dir_name(s.prop, false));
    line.dtypes("dt", &[given.dtype]);
    write_two(line, "tag", given, other);
    line.set("axis", s.axis.to_string());
    line.set("group", s.group_size.to_string());
    line.descriptor = given.dims().to_string();
}
