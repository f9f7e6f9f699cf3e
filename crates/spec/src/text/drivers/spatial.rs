//! Operations with spatial letters and no weights: pooling, local response normalisation, resampling.

use super::conv::{Sliding, sliding, write_sliding};
use super::pointwise::{tag, two_layouts, write_two};
use super::{batch, dir, dir_name};
use crate::op::{Lrn, LrnAlg, Pool, PoolAlg, Resampling, ResamplingAlg};
use crate::text::error::{ParseError, Result};
use crate::text::letters::{Letters, Writer};
use crate::text::line::{Line, any};
use crate::text::values::{Values, name_in, real};
use crate::text::{Driver, FillHints, layouts, opt};
use crate::{Dims, Layout, MAX_NDIMS, Op, RUNTIME, Real, Tensor};

pub(super) const POOL: Driver = Driver {
    name: "pool",
    options: &[opt("dir", "FWD_D"), opt("dt", "f32"), opt("tag", "abx"), opt("dtag", "any"), opt("alg", "max")],
    build: pool,
    write: write_pool,
};

pub(super) const LRN: Driver = Driver {
    name: "lrn",
    options: &[opt("dir", "FWD_D"), opt("dt", "f32"), opt("tag", "abx:any"), opt("alg", "ACROSS")],
    build: lrn,
    write: write_lrn,
};

pub(super) const RESAMPLING: Driver = Driver {
    name: "resampling",
    options: &[
        opt("dir", "FWD_D"),
        opt("sdt", "f32"),
        opt("ddt", "f32"),
        opt("tag", "abx"),
        opt("dtag", "any"),
        opt("alg", "nearest"),
        opt("factors", ""),
    ],
    build: resampling,
    write: write_resampling,
};

const POOL_ALGS: [(PoolAlg, &str); 5] = [
    (PoolAlg::Max, "max"),
    (PoolAlg::AvgExcludePadding, "avg_np"),
    (PoolAlg::AvgIncludePadding, "avg_p"),
    (PoolAlg::AvgExcludePadding, "avg_exclude_padding"),
    (PoolAlg::AvgIncludePadding, "avg_include_padding"),
];

const LRN_ALGS: [(LrnAlg, &str); 4] = [
    (LrnAlg::AcrossChannels, "ACROSS"),
    (LrnAlg::WithinChannel, "WITHIN"),
    (LrnAlg::AcrossChannels, "lrn_across_channels"),
    (LrnAlg::WithinChannel, "lrn_within_channel"),
];

const RESAMPLING_ALGS: [(ResamplingAlg, &str); 2] = [(ResamplingAlg::Nearest, "nearest"), (ResamplingAlg::Linear, "linear")];

/// `mb x c x spatial`.
pub(super) fn with_spatial(mb: i64, c: i64, spatial: &[i64]) -> Dims {
    let mut d = Dims::from([mb, c]);
    spatial.iter().for_each(|x| d.push(*x));
    d
}

/// Reads the layout of `dst` from `--dtag`; in backward, where nothing resolves it, the one of `src` where ranks allow.
fn given_or(v: &Values, dims: Dims, forward: bool) -> Result<Layout> {
    v.read("dtag", |s| layouts::read(dims, if !forward && s == "any" { v.get("tag") } else { s }))
}

fn pool(v: &Values, descriptor: &str) -> Result<(Op, FillHints)> {
    let known = [
        "mb", "ic", "id", "ih", "iw", "od", "oh", "ow", "kd", "kh", "kw", "sd", "sh", "sw", "pd", "ph", "pw", "dd", "dh", "dw", "rd", "rh",
        "rw",
    ];
    let l = Letters::read(descriptor, &known)?;
    let (prop, _) = dir(v)?;
    let [sdt, ddt] = v.dtypes("dt")?;
    let (mb, ic) = (batch(v, l.size("mb")?)?, l.need("ic")?);
    let s = sliding(&l, false)?;
    let src = v.tensor("tag", with_spatial(mb, ic, &s.i), sdt)?;
    let dst = Tensor { dtype: ddt, layout: given_or(v, with_spatial(mb, ic, &s.o), prop.is_forward())? };
    let op = Pool { prop, alg: v.name("alg", &POOL_ALGS)?, src, dst, kernel: s.k, window: s.window, workspace: None };
    Ok((op.into(), FillHints::default()))
}

/// Writes `--tag` and, if it does not follow from that, `--dtag`.
fn write_tags(line: &mut Line, src: &Tensor, dst: &Tensor, forward: bool) {
    line.set("tag", tag(src));
    let follows = !forward && Layout::with_tag(*dst.dims(), &tag(src)).is_ok_and(|l| l == dst.layout);
    if !follows {
        line.layout("dtag", dst);
    }
}

fn head(out: &mut Writer, dims: &Dims) {
    out.size("mb", dims.first().copied().unwrap_or(0));
    out.size("ic", dims.get(1).copied().unwrap_or(0));
}

fn write_pool(op: &Op, line: &mut Line) {
    let Op::Pool(p) = op else { return };
    line.set("dir", dir_name(p.prop, false));
    line.dtypes("dt", &[p.src.dtype, p.dst.dtype]);
    write_tags(line, &p.src, &p.dst, p.prop.is_forward());
    line.set("alg", name_in(&POOL_ALGS, p.alg));
    let mut out = Writer::default();
    head(&mut out, p.src.dims());
    let tail = |t: &Tensor| t.dims().get(2..).map_or_else(Dims::default, |v| Dims::new(v).unwrap_or_default());
    let sizes = Sliding { i: tail(&p.src), o: tail(&p.dst), k: p.kernel, window: p.window.clone() };
    write_sliding(&mut out, &sizes, false);
    line.descriptor = out.0;
}

fn lrn(v: &Values, descriptor: &str) -> Result<(Op, FillHints)> {
    let l = Letters::read(descriptor, &["mb", "ic", "id", "ih", "iw", "ls", "alpha", "beta", "k"])?;
    let (prop, _) = dir(v)?;
    let [dtype] = v.dtypes("dt")?;
    let spatial = l.kind('i', l.spatial())?.unwrap_or_default();
    let dims = with_spatial(batch(v, l.size("mb")?)?, l.need("ic")?, &spatial);
    let [a, b] = two_layouts(v, "tag", dims)?;
    let (src, other) = (Tensor { dtype, layout: a }, Tensor { dtype, layout: b });
    let (dst, diff_src, diff_dst) = match prop.is_forward() {
        true => (Some(other), None, None),
        false => (None, Some(any(&src, dtype)), Some(other)),
    };
    let or = |key: &str, default: f32| Ok(l.real(key)?.unwrap_or(Real::new(default)));
    let op = Lrn {
        prop,
        alg: v.name("alg", &LRN_ALGS)?,
        src,
        dst,
        diff_src,
        diff_dst,
        local_size: l.size("ls")?.unwrap_or(5),
        alpha: or("alpha", LRN_ALPHA)?,
        beta: or("beta", LRN_BETA)?,
        k: or("k", 1.0)?,
    };
    Ok((Op::Lrn(op), FillHints::default()))
}

/// The factor of a line that says nothing: 2^-13.
pub(in crate::text) const LRN_ALPHA: f32 = 1.0 / 8192.0;
const LRN_BETA: f32 = 0.75;

fn write_lrn(op: &Op, line: &mut Line) {
    let Op::Lrn(p) = op else { return };
    line.set("dir", dir_name(p.prop, false));
    line.dtypes("dt", &[p.src.dtype]);
    write_two(line, "tag", &p.src, p.dst.as_ref().or(p.diff_dst.as_ref()).unwrap_or(&p.src));
    line.set("alg", name_in(&LRN_ALGS, p.alg));
    let mut out = Writer::default();
    head(&mut out, p.src.dims());
    out.all('i', p.src.dims().get(2..).unwrap_or_default());
    if p.local_size != 5 {
        out.size("ls", p.local_size);
    }
    out.real("alpha", p.alpha, LRN_ALPHA);
    out.real("beta", p.beta, LRN_BETA);
    out.real("k", p.k, 1.0);
    line.descriptor = out.0;
}

/// Ratio of destination to source size along each spatial dimension; none where an execution gives them.
fn ratios(i: &[i64], o: &[i64]) -> Vec<Real> {
    if i.contains(&RUNTIME) || o.contains(&RUNTIME) {
        return Vec::new();
    }
    i.iter().zip(o).map(|(i, o)| Real::new(*o as f32 / *i as f32)).collect()
}

fn resampling(v: &Values, descriptor: &str) -> Result<(Op, FillHints)> {
    let l = Letters::read(descriptor, &["mb", "ic", "id", "ih", "iw", "od", "oh", "ow"])?;
    let (prop, _) = dir(v)?;
    let n = l.spatial();
    let i = l.kind('i', n)?.ok_or_else(|| ParseError::new("nothing", "an input size: it has no default").of("ih"))?;
    let factors = v.read("factors", |s| match s {
        "" => Ok(None),
        s if s.split('x').count() == n && n < MAX_NDIMS => s.split('x').map(real).collect::<Result<Vec<Real>>>().map(Some),
        s => Err(ParseError::new(s, format_args!("{n} factors such as 2x0.5"))),
    })?;
    let o = match (l.kind('o', n)?, &factors) {
        (Some(o), _) => o,
        (None, Some(f)) => Dims::from_fn(n, |d| if i[d] == RUNTIME { RUNTIME } else { (i[d] as f32 * f[d].get()).max(0.0) as i64 }),
        (None, None) => return Err(ParseError::new("nothing", "an output size, or `--factors`").of("oh")),
    };
    let factors = factors.unwrap_or_else(|| ratios(&i, &o));
    let (mb, ic) = (batch(v, l.size("mb")?)?, l.need("ic")?);
    let src = v.tensor("tag", with_spatial(mb, ic, &i), v.dtypes::<1>("sdt")?[0])?;
    let dst = Tensor { dtype: v.dtypes::<1>("ddt")?[0], layout: given_or(v, with_spatial(mb, ic, &o), prop.is_forward())? };
    Ok((Op::Resampling(Resampling { prop, alg: v.name("alg", &RESAMPLING_ALGS)?, src, dst, factors }), FillHints::default()))
}

fn write_resampling(op: &Op, line: &mut Line) {
    let Op::Resampling(p) = op else { return };
    line.set("dir", dir_name(p.prop, false));
    line.dtypes("sdt", &[p.src.dtype]);
    line.dtypes("ddt", &[p.dst.dtype]);
    write_tags(line, &p.src, &p.dst, p.prop.is_forward());
    line.set("alg", name_in(&RESAMPLING_ALGS, p.alg));
    let spatial = |t: &Tensor| t.dims().get(2..).map_or_else(Vec::new, <[i64]>::to_vec);
    let (i, o) = (spatial(&p.src), spatial(&p.dst));
    if p.factors != ratios(&i, &o) {
        line.set("factors", p.factors.iter().map(|f| f.to_string()).collect::<Vec<_>>().join("x"));
    }
    let mut out = Writer::default();
    head(&mut out, p.src.dims());
    out.all('i', &i);
    out.all('o', &o);
    line.descriptor = out.0;
}
