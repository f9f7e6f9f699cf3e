//! Operations with many sources: concatenation and sum.

use super::pointwise::tags;
use crate::op::{Concat, Sum};
use crate::text::error::{ParseError, Result};
use crate::text::line::Line;
use crate::text::values::{MAX_LIST, Rest, Values, dtype, int, real, shapes};
use crate::text::{Driver, FillHints, opt};
use crate::{DataType, Dims, Op, RUNTIME, Real, Tensor};

pub(super) const CONCAT: Driver = Driver {
    name: "concat",
    options: &[opt("sdt", "f32"), opt("ddt", "f32"), opt("stag", "abx"), opt("dtag", "any"), opt("axis", "1")],
    build: concat,
    write: write_concat,
};

pub(super) const SUM: Driver = Driver {
    name: "sum",
    options: &[opt("sdt", "f32:f32"), opt("ddt", "f32"), opt("stag", "abx"), opt("dtag", "any"), opt("scales", "1")],
    build: sum,
    write: write_sum,
};

fn sources(v: &Values, dims: &[Dims]) -> Result<Vec<Tensor>> {
    let types = v.list("sdt", dims.len(), Rest::Repeat, |_, s| dtype(s))?;
    let layouts = v.layouts("stag", dims, Rest::Repeat)?;
    Ok(types.into_iter().zip(layouts).map(|(dtype, layout)| Tensor { dtype, layout }).collect())
}

fn concat(v: &Values, descriptor: &str) -> Result<(Op, FillHints)> {
    let given = shapes(descriptor, 1, MAX_LIST)?;
    let axis: usize = v.read("axis", int)?;
    let n = given[0].len();
    if axis >= n || given.iter().any(|s| s.len() != n) {
        return Err(ParseError::new(axis, format_args!("an axis below {n}, and shapes with the same number of dimensions")).of("--axis"));
    }
    let total = given.iter().map(|s| s[axis]).try_fold(0i64, |a, b| if b == RUNTIME { None } else { a.checked_add(b) });
    let mut out = given[0];
    out[axis] = total.unwrap_or(RUNTIME);
    let dst = v.tensor("dtag", out, v.dtypes::<1>("ddt")?[0])?;
    Ok((Op::Concat(Concat { axis, srcs: sources(v, &given)?, dst }), FillHints::default()))
}

fn types(srcs: &[Tensor]) -> Vec<DataType> {
    srcs.iter().map(|t| t.dtype).collect()
}

fn write_concat(op: &Op, line: &mut Line) {
    let Op::Concat(c) = op else { return };
    line.dtypes("sdt", &types(&c.srcs));
    line.dtypes("ddt", &[c.dst.dtype]);
    tags(line, "stag", &c.srcs.iter().collect::<Vec<_>>());
    line.layout("dtag", &c.dst);
    line.set("axis", c.axis.to_string());
    line.descriptor = c.srcs.iter().map(|t| t.dims().to_string()).collect::<Vec<_>>().join(":");
}

fn sum(v: &Values, descriptor: &str) -> Result<(Op, FillHints)> {
    let dims = shapes(descriptor, 1, 1)?[0];
    let n = v.get("sdt").split(':').count();
    if n > MAX_LIST {
        return Err(ParseError::new(n, format_args!("at most {MAX_LIST} sources")).of("--sdt"));
    }
    let op = Sum {
        scales: v.list("scales", n, Rest::Repeat, |_, s| real(s))?,
        srcs: sources(v, &vec![dims; n])?,
        dst: v.tensor("dtag", dims, v.dtypes::<1>("ddt")?[0])?,
    };
    Ok((Op::Sum(op), FillHints::default()))
}

fn write_sum(op: &Op, line: &mut Line) {
    let Op::Sum(s) = op else { return };
    line.each("sdt", &s.srcs.iter().map(|t| t.dtype.name().to_string()).collect::<Vec<_>>());
    line.dtypes("ddt", &[s.dst.dtype]);
    tags(line, "stag", &s.srcs.iter().collect::<Vec<_>>());
    line.layout("dtag", &s.dst);
    line.list("scales", &s.scales.iter().map(Real::to_string).collect::<Vec<_>>());
    line.descriptor = s.dst.dims().to_string();
}
