//! Positions of extrema.

use super::view::{View, positions};
use crate::exec::Located;
use crate::handle::Handle;
use crate::status::Failure;

/// Which element.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extremum {
    Least,
    Greatest,
    /// The largest magnitude.
    Farthest,
}

/// Which element, and whether the first NaN wins; otherwise NaN is skipped.
#[derive(Clone, Copy)]
pub(crate) struct Wanted {
    pub(crate) extremum: Extremum,
    pub(crate) nan: bool,
}

impl Wanted {
    /// Whether `value` wins over the earlier `best`.
    fn prefers(self, value: f64, best: f64) -> bool {
        match (value.is_nan(), best.is_nan()) {
            (true, true) => false,
            (true, false) => self.nan,
            (false, true) => !self.nan,
            (false, false) if self.extremum == Extremum::Least => value < best,
            (false, false) => value > best,
        }
    }
}

/// For each element of `to`, row-major: the index of the first extremum among the elements that are reduced to it, row-major over the reduced dimensions.
pub(crate) fn indices(handle: &Handle, wanted: Wanted, from: Located<'_>, to: Located<'_>) -> Result<(), Failure> {
    let view = View::new(handle, from.tensor, from.at)?;
    let (src, dst) = (*from.tensor.dims(), *to.tensor.dims());
    let fits = src.len() == dst.len() && src.iter().zip(dst.iter()).all(|(s, d)| *d == 1 || s == d);
    if !fits {
        return Err(Failure::shape("cDesc", dst, format_args!("each size 1 or that of {src}")));
    }
    let reduced: Vec<i64> = src.iter().zip(dst.iter()).map(|(&s, &d)| if d == 1 { s } else { 1 }).collect();
    let (mut element, mut at) = (0, vec![0; src.len()]);
    let mut failed = Ok(());
    positions(&dst, |base| {
        let (mut best, mut index, mut number) = (f64::NAN, 0u32, 0u32);
        positions(&reduced, |inner| {
            at.iter_mut().zip(base.iter().zip(inner)).for_each(|(at, (b, i))| *at = b + i);
            let value = view.get(&at);
            let value = if wanted.extremum == Extremum::Farthest { value.abs() } else { value };
            if number == 0 || wanted.prefers(value, best) {
                (best, index) = (value, number);
            }
            number += 1;
        });
        if failed.is_ok() {
            failed = to.at.behind(element * size_of::<u32>()).write("indices", index);
        }
        element += 1;
    });
    failed
}
