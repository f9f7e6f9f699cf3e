//! Scales, zero points and precomputed reductions: `ARG:POLICY[:VALUE][:DT[:GROUPS]][:FLAG..]+..`.

use super::super::error::{ParseError, Result};
use super::super::values::{dtype, int, name_in, one_of, real};
use super::{arg, arg_name, entries};
use crate::{Arg, DataType, Dims, Op, Quant, QuantMode, Real};
use std::collections::BTreeMap;

/// Which dimensions have numbers of their own.
#[derive(Clone, Copy, PartialEq)]
enum Policy {
    Mask(u32),
    PerOc,
    PerOcIc,
    PerTensor,
}

const POLICIES: [(Policy, &str); 15] = [
    (Policy::Mask(0), "common"),
    (Policy::PerOc, "per_oc"),
    (Policy::PerOcIc, "per_ocic"),
    (Policy::Mask(1), "per_dim_0"),
    (Policy::Mask(2), "per_dim_1"),
    (Policy::Mask(3), "per_dim_01"),
    (Policy::Mask(4), "per_dim_2"),
    (Policy::Mask(8), "per_dim_3"),
    (Policy::Mask(5), "per_dim_02"),
    (Policy::Mask(6), "per_dim_12"),
    (Policy::Mask(7), "per_dim_012"),
    (Policy::Mask(9), "per_dim_03"),
    (Policy::Mask(12), "per_dim_23"),
    (Policy::Mask(13), "per_dim_023"),
    (Policy::PerTensor, "per_tensor"),
];

const MODES: [(QuantMode, &str); 3] =
    [(QuantMode::Static, "static"), (QuantMode::DynamicMx, "dynamic_mx"), (QuantMode::DynamicFp, "dynamic_fp")];

/// The mask that `policy` (a name or a number) means for argument `of` of `op`.
pub(super) fn mask(policy: &str, op: &Op, of: Arg) -> Result<u32> {
    if !policy.is_empty() && policy.bytes().all(|b| b.is_ascii_digit()) {
        return int(policy);
    }
    let tensor = op.tensor(of).or(op.result());
    let n = tensor.map_or(2, |t| t.dims().len()).max(1);
    let matmul = matches!(op, Op::Matmul(_));
    let grouped = match op {
        Op::Conv(c) => c.weights.dims().len() > c.src.dims().len(),
        Op::Deconv(c) => c.weights.dims().len() > c.src.dims().len(),
        _ => of == Arg::depthwise(Arg::WEIGHTS),
    };
    let last = 1u32 << (n - 1);
    let weights = of == Arg::WEIGHTS || of == Arg::depthwise(Arg::WEIGHTS);
    Ok(match one_of(&POLICIES, policy)? {
        Policy::Mask(mask) => mask,
        Policy::PerTensor => last | (last - 1),
        Policy::PerOc if weights && matmul => last,
        Policy::PerOc if weights => {
            if grouped {
                3
            } else {
                1
            }
        }
        Policy::PerOc => 2,
        Policy::PerOcIc if matmul => last | last >> 1,
        Policy::PerOcIc if weights && grouped => 7,
        Policy::PerOcIc => 3,
    })
}

/// The meaning of a list of entries.
#[derive(Default)]
pub(super) struct Read {
    pub(super) quants: BTreeMap<Arg, Quant>,
    pub(super) values: BTreeMap<Arg, Real>,
}

/// Reads a list for `op`; types that are not given are `default`.
pub(super) fn read(s: &str, op: &Op, default: DataType) -> Result<Read> {
    let mut out = Read::default();
    for entry in entries(s)? {
        let mut parts = entry.split(':');
        let of = arg(parts.next().unwrap_or(""))?;
        let policy = parts.next().ok_or_else(|| ParseError::new(entry, "ARG:POLICY"))?;
        let mut quant = Quant::per(0, default);
        if policy == "host_scalar" {
            quant.on_host = true;
        } else {
            quant.mask = mask(policy, op, of)?;
        }
        let mut typed = false;
        for part in parts.filter(|p| !p.is_empty()) {
            if part == "host" {
                quant.on_host = true;
            } else if let Ok(mode) = one_of(&MODES, part) {
                quant.mode = mode;
            } else if let Ok(dt) = dtype(part) {
                (quant.dtype, typed) = (dt, true);
            } else if part.contains('x') || typed {
                quant.groups = groups(part, of)?;
            } else {
                out.values.insert(of, real(part)?);
            }
        }
        out.quants.insert(of, quant);
    }
    Ok(out)
}

/// `1x32`; a single number is a group along K.
fn groups(s: &str, of: Arg) -> Result<Dims> {
    let sizes = s.split('x').take(3).map(int::<i64>).collect::<Result<Vec<_>>>();
    match sizes.as_deref() {
        Ok(&[a, b]) if a > 0 && b > 0 => Ok([a, b].into()),
        Ok(&[k]) if k > 0 => Ok(if of == Arg::WEIGHTS { [k, 1] } else { [1, k] }.into()),
        _ => Err(ParseError::new(s, "a value, a data type, `host`, a mode, or sizes of groups along the last two dimensions such as 1x32")),
    }
}

/// Writes a list that [`read`] reads.
pub(super) fn write(quants: &BTreeMap<Arg, Quant>, default: DataType, value: impl Fn(&Arg) -> Option<String>) -> String {
    let entry = |(of, q): (&Arg, &Quant)| {
        let mut s = format!("{}:{}", arg_name(*of), if q.mask == 0 { "common".into() } else { q.mask.to_string() });
        if let Some(v) = value(of) {
            s += &format!(":{v}");
        }
        if q.dtype != default || !q.groups.is_empty() {
            s += &format!(":{}", q.dtype);
        }
        if !q.groups.is_empty() {
            s += &format!(":{}", q.groups);
        }
        if q.on_host {
            s += ":host";
        }
        if q.mode != QuantMode::Static {
            s += &format!(":{}", name_in(&MODES, q.mode));
        }
        s
    };
    quants.iter().map(entry).collect::<Vec<_>>().join("+")
}
