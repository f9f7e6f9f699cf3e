//! Scaled dot-product attention.

use super::pointwise::tags;
use super::{dir, dir_name};
use crate::op::{Sdpa, SdpaDiff, SdpaMask, SdpaScale};
use crate::text::error::{ParseError, Result};
use crate::text::line::{Line, vector};
use crate::text::values::{Rest, Values, dtype, name_in, plain, shapes};
use crate::text::{Driver, FillHints, opt};
use crate::{Dims, Op, Tensor};

pub(super) const SDPA: Driver = Driver {
    name: "sdpa",
    options: &[
        opt("dir", "FWD_I"),
        opt("dt", "f32"),
        opt("tag", "abx"),
        opt("mask", "none"),
        opt("mask-dt", "f32"),
        opt("scale", "none"),
        opt("scale-dt", "f32"),
    ],
    build: sdpa,
    write: write_sdpa,
};

pub(in crate::text) const MASKS: [(SdpaMask, &str); 4] = [
    (SdpaMask::None, "none"),
    (SdpaMask::CausalTopLeft, "causal_tl"),
    (SdpaMask::CausalBottomRight, "causal_br"),
    (SdpaMask::Buffer, "buffer"),
];

pub(in crate::text) const SCALES: [(SdpaScale, &str); 3] =
    [(SdpaScale::None, "none"), (SdpaScale::Multiply, "mul"), (SdpaScale::Divide, "div")];

fn sdpa(v: &Values, descriptor: &str) -> Result<(Op, FillHints)> {
    let given = shapes(descriptor, 3, 3)?;
    let [q, k, value] = [given[0], given[1], given[2]];
    let n = q.len();
    if n < 2 || given.iter().any(|s| s.len() != n) {
        return Err(ParseError::new(descriptor, "queries, keys, values with the same number of dimensions, 2 or more").of("shape"));
    }
    let mut out = q;
    out[n - 1] = value[n - 1];
    let scores = Dims::from_fn(n, |d| if d + 1 < n { q[d] } else { k[d] });
    let types = v.dtypes::<4>("dt")?;
    let layouts = v.layouts("tag", &[q, k, value, out], Rest::Repeat)?;
    let mut tensors = types.into_iter().zip(layouts).map(|(dtype, layout)| Tensor { dtype, layout });
    let (mask_kind, scale_kind) = (v.name("mask", &MASKS)?, v.name("scale", &SCALES)?);
    let mask = (mask_kind == SdpaMask::Buffer).then(|| plain(scores, v.read("mask-dt", dtype)?)).transpose()?;
    let scale = (scale_kind != SdpaScale::None).then(|| vector(1, v.read("scale-dt", dtype)?)).transpose()?;
    let mut next = || tensors.next().ok_or_else(|| ParseError::new(descriptor, "three shapes"));
    let (prop, _) = dir(v)?;
    let [q, k, v, dst] = [next()?, next()?, next()?, next()?];
    let diff = (!prop.is_forward()).then(|| SdpaDiff { q: q.clone(), k: k.clone(), v: v.clone(), dst: dst.clone() });
    let op = Sdpa { prop, q, k, v, mask, scale, dst, diff, workspace: None, mask_kind, scale_kind };
    Ok((op.into(), FillHints::default()))
}

fn write_sdpa(op: &Op, line: &mut Line) {
    let Op::Sdpa(s) = op else { return };
    let all = [&s.q, &s.k, &s.v, &s.dst];
    line.set("dir", dir_name(s.prop, false));
    line.dtypes("dt", &all.map(|t| t.dtype));
    tags(line, "tag", &all);
    line.set("mask", name_in(&MASKS, s.mask_kind));
    line.set("scale", name_in(&SCALES, s.scale_kind));
    for (option, t) in [("mask-dt", &s.mask), ("scale-dt", &s.scale)] {
        if let Some(t) = t {
            line.dtypes(option, &[t.dtype]);
        }
    }
    line.descriptor = [&s.q, &s.k, &s.v].map(|t| t.dims().to_string()).join(":");
}
