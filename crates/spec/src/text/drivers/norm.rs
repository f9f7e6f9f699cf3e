//! Batch, layer and group normalisation.

use super::pointwise::{two_layouts, write_two};
use super::spatial::with_spatial;
use super::{batch, dir, dir_name};
use crate::op::{BatchNorm, GroupNorm, LayerNorm, NormFlags, Prop};
use crate::text::error::{ParseError, Result};
use crate::text::letters::{Letters, Writer};
use crate::text::line::{Line, any, vector};
use crate::text::values::{Values, dtype, shapes};
use crate::text::{Driver, FillHints, opt};
use crate::{DataType, Dims, Op, Real, Tensor};

pub(super) const BNORM: Driver = Driver {
    name: "bnorm",
    options: &[opt("dir", "FWD_D"), opt("dt", "f32"), opt("tag", "abx:any"), opt("flags", "")],
    build: bnorm,
    write: write_bnorm,
};

pub(super) const LNORM: Driver = Driver {
    name: "lnorm",
    options: &[
        opt("dir", "FWD_D"),
        opt("dt", "f32"),
        opt("tag", "abx:any"),
        opt("stat-tag", "abx"),
        opt("ss-dt", "f32"),
        opt("flags", ""),
        opt("eps", "0.0625"),
    ],
    build: lnorm,
    write: write_lnorm,
};

pub(super) const GNORM: Driver = Driver {
    name: "gnorm",
    options: &[opt("dir", "FWD_D"), opt("dt", "f32"), opt("tag", "abx:any"), opt("flags", "")],
    build: gnorm,
    write: write_gnorm,
};

/// Added to the variance where a line says nothing: 2^-14.
pub(in crate::text) const EPSILON: f32 = 1.0 / 16384.0;

fn flags(v: &Values, known: &str) -> Result<NormFlags> {
    v.read("flags", |s| match s.chars().find(|c| !known.contains(*c)) {
        Some(_) => Err(ParseError::new(s, format_args!("letters of `{known}`"))),
        None => Ok(NormFlags {
            use_global_stats: s.contains('G'),
            use_scale: s.contains('C'),
            use_shift: s.contains('H'),
            fuse_relu: s.contains('R'),
            fuse_add_relu: s.contains('A'),
            rms: s.contains('M'),
        }),
    })
}

/// The letters of the flags that are set.
pub(in crate::text) fn flag_letters(f: &NormFlags) -> String {
    let all = [(f.use_global_stats, 'G'), (f.use_scale, 'C'), (f.use_shift, 'H'), (f.fuse_relu, 'R'), (f.fuse_add_relu, 'A'), (f.rms, 'M')];
    all.into_iter().filter(|(set, _)| *set).map(|(_, c)| c).collect()
}

/// The common parts of the three normalisations.
struct Parts {
    prop: Prop,
    flags: NormFlags,
    src: Tensor,
    dst: Option<Tensor>,
    diff_src: Option<Tensor>,
    diff_dst: Option<Tensor>,
    mean: Option<Tensor>,
    variance: Option<Tensor>,
    scale: Option<Tensor>,
    shift: Option<Tensor>,
    diff_scale: Option<Tensor>,
    diff_shift: Option<Tensor>,
}

/// The tensors for a source of `dims`, statistics like `stats`, scale and shift like `parameter`.
fn parts(v: &Values, dims: Dims, flags: NormFlags, stats: &Tensor, parameter: &Tensor) -> Result<Parts> {
    let (prop, _) = dir(v)?;
    let [sdt, ddt] = v.dtypes("dt")?;
    let [src, dst] = two_layouts(v, "tag", dims)?;
    let (src, other) = (Tensor { dtype: sdt, layout: src }, Tensor { dtype: ddt, layout: dst });
    let forward = prop.is_forward();
    let has_stats = prop != Prop::ForwardInference || flags.use_global_stats;
    let gradients = prop == Prop::Backward;
    let when = |on: bool, t: &Tensor| on.then(|| t.clone());
    Ok(Parts {
        prop,
        flags,
        dst: when(forward, &other),
        diff_src: when(!forward, &any(&src, sdt)),
        diff_dst: when(!forward, &other),
        mean: when(has_stats && !flags.rms, stats),
        variance: when(has_stats, stats),
        scale: when(flags.use_scale, parameter),
        shift: when(flags.use_shift && forward, parameter),
        diff_scale: when(flags.use_scale && gradients, parameter),
        diff_shift: when(flags.use_shift && gradients, parameter),
        src,
    })
}

/// Reads `mb ic id ih iw` (and `g`, `eps`).
fn letters(v: &Values, descriptor: &str, known: &[&'static str]) -> Result<(Dims, Option<i64>, Real)> {
    let l = Letters::read(descriptor, known)?;
    let spatial = l.kind('i', l.spatial())?.unwrap_or_default();
    let dims = with_spatial(batch(v, l.size("mb")?)?, l.need("ic")?, &spatial);
    Ok((dims, l.size("g")?, l.real("eps")?.unwrap_or(Real::new(EPSILON))))
}

fn bnorm(v: &Values, descriptor: &str) -> Result<(Op, FillHints)> {
    let (dims, _, epsilon) = letters(v, descriptor, &["mb", "ic", "id", "ih", "iw", "eps"])?;
    let channel = vector(dims[1], DataType::F32)?;
    let p = parts(v, dims, flags(v, "GCHRA")?, &channel, &channel)?;
    let Parts { prop, flags, src, dst, diff_src, diff_dst, mean, variance, scale, shift, diff_scale, diff_shift } = p;
    let added = flags.fuse_add_relu;
    let op = BatchNorm {
        src_1: dst.as_ref().filter(|_| added).map(|d| any(d, d.dtype)),
        diff_src_1: diff_src.as_ref().filter(|_| added).map(|d| any(d, d.dtype)),
        workspace: None,
        prop,
        epsilon,
        flags,
        src,
        dst,
        mean,
        variance,
        scale,
        shift,
        diff_src,
        diff_dst,
        diff_scale,
        diff_shift,
    };
    Ok((op.into(), FillHints::default()))
}

fn lnorm(v: &Values, descriptor: &str) -> Result<(Op, FillHints)> {
    let dims = shapes(descriptor, 1, 1)?[0];
    let (&last, rest) = dims.split_last().ok_or_else(|| ParseError::new(descriptor, "a shape").of("shape"))?;
    let stats = v.tensor("stat-tag", Dims::new(rest).unwrap_or_default(), DataType::F32)?;
    let parameter = vector(last, v.read("ss-dt", dtype)?)?;
    let p = parts(v, dims, flags(v, "GCHM")?, &stats, &parameter)?;
    let Parts { prop, flags, src, dst, diff_src, diff_dst, mean, variance, scale, shift, diff_scale, diff_shift } = p;
    let epsilon = v.real("eps")?;
    let op = LayerNorm { prop, epsilon, flags, src, dst, mean, variance, scale, shift, diff_src, diff_dst, diff_scale, diff_shift };
    Ok((op.into(), FillHints::default()))
}

fn gnorm(v: &Values, descriptor: &str) -> Result<(Op, FillHints)> {
    let (dims, groups, epsilon) = letters(v, descriptor, &["g", "mb", "ic", "id", "ih", "iw", "eps"])?;
    let groups = groups.unwrap_or(1);
    let stats = crate::text::values::plain(Dims::from([dims[0], groups]), DataType::F32)?;
    let p = parts(v, dims, flags(v, "GCH")?, &stats, &vector(dims[1], DataType::F32)?)?;
    let Parts { prop, flags, src, dst, diff_src, diff_dst, mean, variance, scale, shift, diff_scale, diff_shift } = p;
    let op = GroupNorm { prop, groups, epsilon, flags, src, dst, mean, variance, scale, shift, diff_src, diff_dst, diff_scale, diff_shift };
    Ok((op.into(), FillHints::default()))
}

fn write_common(line: &mut Line, prop: Prop, flags: &NormFlags, src: &Tensor, other: Option<&Tensor>) {
    let other = other.unwrap_or(src);
    line.set("dir", dir_name(prop, false));
    line.dtypes("dt", &[src.dtype, other.dtype]);
    write_two(line, "tag", src, other);
    line.set("flags", flag_letters(flags));
}

fn write_letters(line: &mut Line, groups: Option<i64>, dims: &Dims, epsilon: Real) {
    let mut out = Writer::default();
    if let Some(g) = groups {
        out.size("g", g);
    }
    out.size("mb", dims.first().copied().unwrap_or(0));
    out.size("ic", dims.get(1).copied().unwrap_or(0));
    out.all('i', dims.get(2..).unwrap_or_default());
    out.real("eps", epsilon, EPSILON);
    line.descriptor = out.0;
}

fn write_bnorm(op: &Op, line: &mut Line) {
    let Op::BatchNorm(b) = op else { return };
    write_common(line, b.prop, &b.flags, &b.src, b.dst.as_ref().or(b.diff_dst.as_ref()));
    write_letters(line, None, b.src.dims(), b.epsilon);
}

fn write_gnorm(op: &Op, line: &mut Line) {
    let Op::GroupNorm(g) = op else { return };
    write_common(line, g.prop, &g.flags, &g.src, g.dst.as_ref().or(g.diff_dst.as_ref()));
    write_letters(line, Some(g.groups), g.src.dims(), g.epsilon);
}

fn write_lnorm(op: &Op, line: &mut Line) {
    let Op::LayerNorm(n) = op else { return };
    write_common(line, n.prop, &n.flags, &n.src, n.dst.as_ref().or(n.diff_dst.as_ref()));
    if let Some(s) = &n.variance {
        line.set("stat-tag", super::pointwise::tag(s));
    }
    if let Some(s) = n.scale.as_ref().or(n.shift.as_ref()).or(n.diff_shift.as_ref()) {
        line.dtypes("ss-dt", &[s.dtype]);
    }
    line.set("eps", n.epsilon.to_string());
    line.descriptor = n.src.dims().to_string();
}
