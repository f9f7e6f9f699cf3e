//! Where extrema are.

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

/// For each element of `to`, row-major: the number, among the elements that are reduced to it, of the first extremum, row-major over the reduced
/// dimensions.
pub(crate) fn indices(handle: &Handle, extremum: Extremum, from: Located<'_>, to: Located<'_>) -> Result<(), Failure> {
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
            let value = if extremum == Extremum::Farthest { value.abs() } else { value };
            let better = if extremum == Extremum::Least { value < best } else { value > best };
            if number == 0 || better {
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
