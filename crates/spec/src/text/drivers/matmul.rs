//! Matrix multiplication and reorder.

use crate::op::{Matmul, Reorder};
use crate::text::error::{ParseError, Result};
use crate::text::line::Line;
use crate::text::values::{Rest, Values, dims, int, optional_dtype, plain, real, shapes};
use crate::text::{Driver, FillHints, layouts, opt};
use crate::{Arg, Dims, Format, Layout, Op, RUNTIME, Tensor};

pub(super) const MATMUL: Driver = Driver {
    name: "matmul",
    options: &[
        opt("dt", "f32"),
        opt("bia-dt", "undef"),
        opt("bia-mask", "2"),
        opt("stag", "any"),
        opt("wtag", "any"),
        opt("dtag", "any"),
        opt("strides", ""),
        opt("runtime-dims-masks", "0"),
        opt("encoding", ""),
    ],
    build: matmul,
    write: write_matmul,
};

pub(super) const REORDER: Driver = Driver {
    name: "reorder",
    options: &[
        opt("sdt", "f32"),
        opt("ddt", "f32"),
        opt("stag", "abx"),
        opt("dtag", "abx"),
        opt("strides", ""),
        opt("oflag", ""),
        opt("runtime-dim-mask", "0"),
    ],
    build: reorder,
    write: write_reorder,
};

/// Makes the dims in `mask` runtime ones.
fn runtime(dims: &Dims, mask: u32) -> Dims {
    Dims::from_fn(dims.len(), |d| if mask >> d & 1 == 1 { RUNTIME } else { dims[d] })
}

/// Result dims of a product: broadcast batch, M and N.
fn product(src: &Dims, weights: &Dims) -> Dims {
    let n = src.len();
    Dims::from_fn(n, |d| match (src[d], weights[d]) {
        (m, _) if d + 2 == n => m,
        (_, n_size) if d + 1 == n => n_size,
        (1, w) => w,
        (s, _) => s,
    })
}

/// Applies entry `i` of `--strides`.
fn restride(v: &Values, i: usize, n: usize, layout: &mut Layout) -> Result<()> {
    let strides = v.list("strides", n, Rest::Default, |_, s| if s.is_empty() { Ok(None) } else { dims(s).map(Some) })?;
    let Some(strides) = strides[i] else { return Ok(()) };
    if strides.len() != layout.dims.len() {
        let got = ParseError::new(strides, format_args!("{} strides, one a dimension", layout.dims.len()));
        return Err(got.of("--strides"));
    }
    if layout.is_any() {
        *layout = Layout::plain(layout.dims).map_err(ParseError::refused)?;
    }
    if let Some(b) = layout.blocking_mut() {
        b.strides = strides;
    }
    Ok(())
}

/// Entry `i` of `--encoding`: `csr+0.5` stores half of the values.
fn encoding(v: &Values, i: usize, dims: Dims) -> Result<Option<Layout>> {
    let all = v.list("encoding", 3, Rest::Default, |_, s| {
        if s.is_empty() {
            return Ok(None);
        }
        let (name, sparsity) = s.split_once('+').unwrap_or((s, "0.9"));
        if !matches!(name, "csr" | "coo" | "packed") {
            return Err(ParseError::unknown(name, "an encoding", ["csr", "coo", "packed"].into_iter()));
        }
        Ok(Some((layouts::sparse(name, 0), f64::from(real(sparsity)?.get()))))
    })?;
    let Some((kind, sparsity)) = &all[i] else { return Ok(None) };
    let volume = dims.volume().ok_or_else(|| ParseError::new(dims, "sizes whose product fits 63 bits").of("shape"))?;
    let stored = (volume as f64 * (1.0 - sparsity.clamp(0.0, 1.0))).round() as i64;
    let stored = stored.clamp(volume.min(1), volume);
    let name = match kind {
        crate::Sparse::Csr { .. } => "csr",
        crate::Sparse::Coo { .. } => "coo",
        crate::Sparse::Packed { .. } => "packed",
    };
    Ok(Some(Layout { dims, format: Format::Sparse(layouts::sparse(name, stored)) }))
}

fn matmul(v: &Values, descriptor: &str) -> Result<(Op, FillHints)> {
    let shapes = shapes(descriptor, 2, 3)?;
    let (src, weights) = (shapes[0], shapes[1]);
    let n = src.len();
    if n < 2 || shapes.iter().any(|s| s.len() != n) {
        return Err(ParseError::new(descriptor, "shapes with the same number of dimensions, 2 or more").of("shape"));
    }
    let dst = shapes.get(2).copied().unwrap_or_else(|| product(&src, &weights));
    let masks = v.list("runtime-dims-masks", 2, Rest::Default, |_, s| int::<u32>(s))?;
    let (m, k) = (1u32 << (n - 2), 1u32 << (n - 1));
    let batch = (masks[0] | masks[1]) & (m - 1);
    let actual = [src, weights, dst];
    let symbolic = [runtime(&src, masks[0]), runtime(&weights, masks[1]), runtime(&dst, batch | masks[0] & m | masks[1] & k)];
    let dts = v.dtypes::<3>("dt")?;
    let mut tensors = Vec::with_capacity(3);
    for (i, tag) in ["stag", "wtag", "dtag"].into_iter().enumerate() {
        let mut t = v.tensor(tag, symbolic[i], dts[i])?;
        if let Some(sparse) = encoding(v, i, symbolic[i])? {
            t.layout = sparse;
        }
        restride(v, i, 3, &mut t.layout)?;
        tensors.push(t);
    }
    let mask: u32 = v.read("bia-mask", int)?;
    let broadcast = |d: &Dims| Dims::from_fn(n, |i| if mask >> i & 1 == 1 { d[i] } else { 1 });
    let bias = v.read("bia-dt", optional_dtype)?.map(|dt| plain(broadcast(&symbolic[2]), dt)).transpose()?;
    let mut fill = FillHints::default();
    let args = [Arg::SRC, Arg::WEIGHTS, Arg::DST];
    let changed = (0..3).filter(|&i| symbolic[i] != actual[i]);
    fill.runtime_dims.extend(changed.map(|i| (args[i], actual[i])));
    if bias.as_ref().is_some_and(|b| *b.dims() != broadcast(&actual[2])) {
        fill.runtime_dims.insert(Arg::BIAS, broadcast(&actual[2]));
    }
    let [src, weights, dst] = <[Tensor; 3]>::try_from(tensors).map_err(|_| ParseError::new(descriptor, "three tensors"))?;
    Ok((Op::Matmul(Matmul { src, weights, bias, dst }), fill))
}

fn write_matmul(op: &Op, line: &mut Line) {
    let Op::Matmul(p) = op else { return };
    line.dtypes("dt", &[p.src.dtype, p.weights.dtype, p.dst.dtype]);
    if let Some(b) = &p.bias {
        let mask = b.dims().iter().zip(p.dst.dims().iter()).enumerate().filter(|(_, (b, _))| **b != 1);
        let mask: u32 = mask.map(|(d, _)| 1 << d).sum();
        line.set("bia-dt", b.dtype.name());
        line.set("bia-mask", mask.to_string());
    }
    for (option, t) in [("stag", &p.src), ("wtag", &p.weights), ("dtag", &p.dst)] {
        line.layout(option, t);
    }
    let [s, w, d] = [(Arg::SRC, &p.src), (Arg::WEIGHTS, &p.weights), (Arg::DST, &p.dst)].map(|(arg, t)| actual(line, arg, t));
    if !line.fill.runtime_dims.is_empty() {
        line.set("runtime-dims-masks", format!("{}:{}", runtime_mask(&p.src), runtime_mask(&p.weights)));
    }
    line.descriptor = format!("{s}:{w}");
    if s.len() != w.len() || s.len() < 2 || product(&s, &w) != d {
        line.descriptor += &format!(":{d}");
    }
}

/// The dims that a tensor has at execution, where the line says so.
fn actual(line: &Line, arg: Arg, t: &Tensor) -> Dims {
    line.fill.runtime_dims.get(&arg).copied().unwrap_or(*t.dims())
}

/// Bits of the runtime dims.
fn runtime_mask(t: &Tensor) -> u32 {
    t.dims().iter().enumerate().filter(|(_, v)| **v == RUNTIME).map(|(d, _)| 1 << d).sum()
}

fn reorder(v: &Values, descriptor: &str) -> Result<(Op, FillHints)> {
    let actual = shapes(descriptor, 1, 1)?[0];
    let mask: u32 = v.read("runtime-dim-mask", int)?;
    let dims = runtime(&actual, mask);
    let mut src = v.tensor("stag", dims, v.dtypes::<1>("sdt")?[0])?;
    let mut dst = v.tensor("dtag", dims, v.dtypes::<1>("ddt")?[0])?;
    restride(v, 0, 2, &mut src.layout)?;
    restride(v, 1, 2, &mut dst.layout)?;
    v.read("oflag", |s| compensate(s, &mut dst.layout))?;
    let mut fill = FillHints::default();
    if dims != actual {
        fill.runtime_dims.extend([(Arg::SRC, actual), (Arg::DST, actual)]);
    }
    Ok((Op::Reorder(Reorder { src, dst }), fill))
}

/// `s8s8_comp:MASK+zp_comp:MASK`.
fn compensate(flags: &str, layout: &mut Layout) -> Result<()> {
    for flag in flags.split('+').filter(|f| !f.is_empty() && *f != "none") {
        let Some(b) = layout.blocking_mut() else {
            return Err(ParseError::new(flags, "a blocked destination"));
        };
        let (name, mask) = flag.split_once(':').unwrap_or((flag, "1"));
        let mask = int(mask)?;
        let c = b.compensation.get_or_insert_default();
        match name {
            "s8s8_comp" => c.s8s8_mask = Some(mask),
            "zp_comp" => c.zero_point_mask = Some(mask),
            _ => return Err(ParseError::unknown(name, "one of", ["s8s8_comp", "zp_comp"].into_iter())),
        }
    }
    Ok(())
}

fn write_reorder(op: &Op, line: &mut Line) {
    let Op::Reorder(r) = op else { return };
    line.dtypes("sdt", &[r.src.dtype]);
    line.dtypes("ddt", &[r.dst.dtype]);
    line.layout("stag", &r.src);
    line.layout("dtag", &r.dst);
    if line.fill.runtime_dims.contains_key(&Arg::SRC) {
        line.set("runtime-dim-mask", runtime_mask(&r.src).to_string());
    }
    line.descriptor = actual(line, Arg::SRC, &r.src).to_string();
}
