//! Convolution, deconvolution, inner product.

use super::{batch, dir, dir_name};
use crate::op::{Conv, ConvAlg, Deconv, InnerProduct, Prop, Window};
use crate::text::error::{ParseError, Result};
use crate::text::letters::{Letters, Line as Span, Writer};
use crate::text::line::{Line, vector};
use crate::text::values::{Values, name_in, optional_dtype};
use crate::text::{Driver, FillHints, Opt, opt};
use crate::{DataType, Dims, Op, Tensor};

const OPTIONS: &[Opt] = &[
    opt("dir", "FWD_B"),
    opt("dt", "f32"),
    opt("bia-dt", "undef"),
    opt("stag", "any"),
    opt("wtag", "any"),
    opt("dtag", "any"),
    opt("alg", "direct"),
];

pub(super) const CONV: Driver = Driver { name: "conv", options: OPTIONS, build: conv, write: write_conv };
pub(super) const DECONV: Driver = Driver { name: "deconv", options: OPTIONS, build: deconv, write: write_deconv };
pub(super) const IP: Driver = Driver { name: "ip", options: OPTIONS.split_at(6).0, build: ip, write: write_ip };

const ALGS: [(ConvAlg, &str); 4] =
    [(ConvAlg::Direct, "direct"), (ConvAlg::Winograd, "wino"), (ConvAlg::Auto, "auto"), (ConvAlg::Winograd, "winograd")];

const LETTERS: [&str; 25] = [
    "g", "mb", "ic", "oc", "id", "ih", "iw", "od", "oh", "ow", "kd", "kh", "kw", "sd", "sh", "sw", "pd", "ph", "pw", "dd", "dh", "dw",
    "rd", "rh", "rw",
];

/// The window and output sizes of a descriptor.
pub(super) struct Sliding {
    pub(super) i: Dims,
    pub(super) o: Dims,
    pub(super) k: Dims,
    pub(super) window: Window,
}

/// Reads the spatial letters; `transposed` for a deconvolution, whose output is computed the other way round.
pub(super) fn sliding(l: &Letters, transposed: bool) -> Result<Sliding> {
    let n = l.spatial();
    if n == 0 {
        return Err(ParseError::new("no spatial letter", "ih (and id, iw), or iw alone").of("descriptor"));
    }
    let or = |kind: char, default: i64| Ok(l.kind(kind, n)?.unwrap_or_else(|| Dims::filled(n, default)));
    let i = l.kind('i', n)?.ok_or_else(|| ParseError::new("nothing", "an input size: it has no default").of("ih"))?;
    let k = or('k', 1)?;
    let padding_l = or('p', 0)?;
    let mut window = Window { strides: or('s', 1)?, dilations: or('d', 0)?, padding_l, padding_r: padding_l };
    let (given_o, given_r) = (l.kind('o', n)?, l.kind('r', n)?);
    let o = given_o.unwrap_or_else(|| {
        let r = given_r.unwrap_or(padding_l);
        let output = if transposed { Span::transposed } else { Span::output };
        Dims::from_fn(n, |d| output(&span(d, i[d], &k, &window), padding_l[d], r[d]))
    });
    window.padding_r = given_r.unwrap_or_else(|| padding_after(&i, &o, &k, &window, transposed));
    Ok(Sliding { i, o, k, window })
}

/// Dimension `d` of a window; numbers that a wrong problem lacks are taken as their defaults.
fn span(d: usize, i: i64, k: &[i64], window: &Window) -> Span {
    let at = |v: &[i64], default: i64| v.get(d).copied().unwrap_or(default);
    Span { i, k: at(k, 1), s: at(&window.strides, 1), d: at(&window.dilations, 0) }
}

/// The padding behind that follows from the sizes.
fn padding_after(i: &[i64], o: &[i64], k: &[i64], window: &Window, transposed: bool) -> Dims {
    let (i, o) = if transposed { (o, i) } else { (i, o) };
    let at = |v: &[i64], d: usize| v.get(d).copied().unwrap_or(0);
    Dims::from_fn(i.len(), |d| span(d, i[d], k, window).padding_after(at(o, d), at(&window.padding_l, d)))
}

/// Writes the spatial letters.
pub(super) fn write_sliding(w: &mut Writer, sizes: &Sliding, transposed: bool) {
    let Sliding { i, o, k, window } = sizes;
    if i.len() == 3 {
        w.all('i', i)
    } else {
        w.kind('i', i, None)
    }
    w.kind('o', o, None);
    w.kind('k', k, Some(1));
    w.kind('s', &window.strides, Some(1));
    w.kind('d', &window.dilations, Some(0));
    w.kind('p', &window.padding_l, Some(0));
    let r = padding_after(i, o, k, window, transposed);
    if r != window.padding_r {
        w.all('r', &window.padding_r);
    }
}

/// The common parts of convolution and deconvolution.
struct Parts {
    prop: Prop,
    alg: ConvAlg,
    src: Tensor,
    weights: Tensor,
    bias: Option<Tensor>,
    dst: Tensor,
    window: Window,
}

fn divide(channels: i64, groups: i64, key: &str) -> Result<i64> {
    if groups < 1 || channels % groups != 0 {
        return Err(ParseError::new(channels, format_args!("a multiple of the groups, {groups}")).of(key));
    }
    Ok(channels / groups)
}

/// The type of a bias that a line does not mention.
fn bias_type(src: DataType) -> DataType {
    if src == DataType::F64 { DataType::F64 } else { DataType::F32 }
}

fn bias(v: &Values, prop: Prop, by_default: Option<DataType>, oc: i64) -> Result<Option<Tensor>> {
    let dt = v.read("bia-dt", optional_dtype)?.or(by_default);
    dt.filter(|_| prop != Prop::BackwardData).map(|dt| vector(oc, dt)).transpose()
}

fn parts(v: &Values, descriptor: &str, transposed: bool) -> Result<Parts> {
    let l = Letters::read(descriptor, &LETTERS)?;
    let (prop, with_bias) = dir(v)?;
    let [sdt, wdt, ddt] = v.dtypes("dt")?;
    let (mb, ic, oc) = (batch(v, l.size("mb")?)?, l.need("ic")?, l.need("oc")?);
    let sizes = sliding(&l, transposed)?;
    let with = |head: &[i64], tail: &Dims| {
        let mut d = Dims::new(head).unwrap_or_default();
        tail.iter().for_each(|x| d.push(*x));
        d
    };
    let weights = match l.size("g")? {
        Some(g) => with(&[g, divide(oc, g, "oc")?, divide(ic, g, "ic")?], &sizes.k),
        None => with(&[oc, ic], &sizes.k),
    };
    Ok(Parts {
        prop,
        alg: v.name("alg", &ALGS)?,
        src: v.tensor("stag", with(&[mb, ic], &sizes.i), sdt)?,
        weights: v.tensor("wtag", weights, wdt)?,
        bias: bias(v, prop, with_bias.then(|| bias_type(sdt)), oc)?,
        dst: v.tensor("dtag", with(&[mb, oc], &sizes.o), ddt)?,
        window: sizes.window,
    })
}

fn conv(v: &Values, descriptor: &str) -> Result<(Op, FillHints)> {
    let Parts { prop, alg, src, weights, bias, dst, window } = parts(v, descriptor, false)?;
    Ok((Conv::new(prop, alg, [src, weights, dst], bias, window).into(), FillHints::default()))
}

fn deconv(v: &Values, descriptor: &str) -> Result<(Op, FillHints)> {
    let Parts { prop, alg, src, weights, bias, dst, window } = parts(v, descriptor, true)?;
    Ok((Deconv { prop, alg, src, weights, bias, dst, window }.into(), FillHints::default()))
}

/// Options that the three operations of this file share.
fn write_common(line: &mut Line, prop: Prop, bias: &Option<Tensor>, [src, weights, dst]: [&Tensor; 3]) {
    line.set("dir", dir_name(prop, bias.is_some()));
    line.dtypes("dt", &[src.dtype, weights.dtype, dst.dtype]);
    if let Some(b) = bias {
        let implied = b.dtype == bias_type(src.dtype) && prop != Prop::ForwardInference;
        line.set("bia-dt", if implied { "undef" } else { b.dtype.name() });
    }
    for (option, tensor) in [("stag", src), ("wtag", weights), ("dtag", dst)] {
        line.layout(option, tensor);
    }
}

fn write_letters(line: &mut Line, [src, weights, dst]: [&Tensor; 3], window: &Window, transposed: bool) {
    let (s, w, d) = (src.dims(), weights.dims(), dst.dims());
    let spatial = s.len().saturating_sub(2);
    let tail = |v: &Dims| Dims::new(&v[v.len().saturating_sub(spatial)..]).unwrap_or_default();
    let mut out = Writer::default();
    if w.len() > s.len() {
        out.size("g", w[0]);
    }
    for (key, v) in [("mb", s.first()), ("ic", s.get(1)), ("oc", d.get(1))] {
        out.size(key, v.copied().unwrap_or(0));
    }
    write_sliding(&mut out, &Sliding { i: tail(s), o: tail(d), k: tail(w), window: window.clone() }, transposed);
    line.descriptor = out.0;
}

fn write_conv(op: &Op, line: &mut Line) {
    if let Op::Conv(c) = op {
        let tensors = [&c.src, &c.weights, &c.dst];
        write_common(line, c.prop, &c.bias, tensors);
        line.set("alg", name_in(&ALGS, c.alg));
        write_letters(line, tensors, &c.window, false);
    }
}

fn write_deconv(op: &Op, line: &mut Line) {
    if let Op::Deconv(c) = op {
        let tensors = [&c.src, &c.weights, &c.dst];
        write_common(line, c.prop, &c.bias, tensors);
        line.set("alg", name_in(&ALGS, c.alg));
        write_letters(line, tensors, &c.window, true);
    }
}

fn ip(v: &Values, descriptor: &str) -> Result<(Op, FillHints)> {
    let l = Letters::read(descriptor, &["mb", "ic", "oc", "id", "ih", "iw"])?;
    let (prop, with_bias) = dir(v)?;
    let [sdt, wdt, ddt] = v.dtypes("dt")?;
    let (mb, ic, oc) = (batch(v, l.size("mb")?)?, l.need("ic")?, l.need("oc")?);
    let spatial = l.kind('i', l.spatial())?.unwrap_or_default();
    let shape = |first: i64| {
        let mut d = Dims::from([first, ic]);
        spatial.iter().for_each(|x| d.push(*x));
        d
    };
    let op = InnerProduct {
        prop,
        src: v.tensor("stag", shape(mb), sdt)?,
        weights: v.tensor("wtag", shape(oc), wdt)?,
        bias: bias(v, prop, with_bias.then(|| bias_type(sdt)), oc)?,
        dst: v.tensor("dtag", Dims::from([mb, oc]), ddt)?,
    };
    Ok((Op::InnerProduct(op), FillHints::default()))
}

fn write_ip(op: &Op, line: &mut Line) {
    if let Op::InnerProduct(p) = op {
        write_common(line, p.prop, &p.bias, [&p.src, &p.weights, &p.dst]);
        let (s, d) = (p.src.dims(), p.dst.dims());
        let mut out = Writer::default();
        for (key, v) in [("mb", s.first()), ("ic", s.get(1)), ("oc", d.get(1))] {
            out.size(key, v.copied().unwrap_or(0));
        }
        out.all('i', s.get(2..).unwrap_or_default());
        line.descriptor = out.0;
    }
}
