//! Compares an output with the truth.

use crate::host::HostTensor;
use crate::tolerance::Tolerance;
use oxidnn_spec::{Arg, DataType};
use std::fmt;

/// The worst disagreement of one output.
#[derive(Clone, Debug)]
pub struct Mismatch {
    /// Which output.
    pub arg: Arg,
    /// Elements out of tolerance.
    pub wrong: usize,
    /// Elements in all.
    pub of: usize,
    /// Logical row-major index of the worst.
    pub index: usize,
    /// What came out.
    pub got: f64,
    /// What is right.
    pub want: f64,
    /// The allowed difference there.
    pub allowed: f64,
    /// What is wrong where it is no element's value.
    pub note: Option<String>,
}

impl Mismatch {
    /// What is wrong with an output where it is no element's value.
    pub fn noted(arg: Arg, note: String) -> Mismatch {
        Mismatch { arg, wrong: 1, of: 1, index: 0, got: 0.0, want: 0.0, allowed: 0.0, note: Some(note) }
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(note) = &self.note {
            return write!(f, "{}: {note}", self.arg);
        }
        let Mismatch { arg, wrong, of, index, got, want, allowed, .. } = self;
        write!(f, "{arg}: {wrong} of {of} elements differ; worst at {index}: got {got}, expected {want} (allowed difference {allowed:.3e})")
    }
}

/// Compares elements; `None` when all are within `tolerance`.
pub fn values(arg: Arg, dtype: DataType, got: &[f64], want: &[f64], tolerance: Tolerance) -> Option<Mismatch> {
    let mut worst: Option<Mismatch> = None;
    let mut wrong = 0;
    for (index, (&g, &w)) in got.iter().zip(want).enumerate() {
        if tolerance.accepts(g, w) || saturates(dtype, g, w) {
            continue;
        }
        wrong += 1;
        let further = worst.as_ref().is_none_or(|m| (g - w).abs() > (m.got - m.want).abs());
        if further {
            let allowed = tolerance.relative * w.abs() + tolerance.absolute;
            worst = Some(Mismatch { arg, wrong, of: want.len(), index, got: g, want: w, allowed, note: None });
        }
    }
    if tolerance.singular && wrong * 50 <= want.len() {
        return None;
    }
    worst.map(|m| Mismatch { wrong, ..m })
}

/// f32 cannot hold the largest s32, so a saturated result may be the largest float below it; and a float result next to overflow may
/// round to either side.
fn saturates(dtype: DataType, got: f64, want: f64) -> bool {
    match dtype {
        DataType::S32 => got.max(want) == f64::from(i32::MAX) && got.min(want) >= f64::from(i32::MAX - 127),
        DataType::F16 => got.abs() >= 65472.0 && want.abs() >= 65472.0 && got.signum() == want.signum(),
        _ => false,
    }
}

/// Compares the bytes that belong to no logical element: padding must be zero as the reference leaves it, holes must be untouched.
pub fn surroundings(arg: Arg, got: &HostTensor, want: &HostTensor) -> Option<Mismatch> {
    let note = |note| Some(Mismatch::noted(arg, note));
    let (g, w) = (got.bytes(0), want.bytes(0));
    if g.len() != w.len() {
        return note(format!("{} bytes, expected {}", g.len(), w.len()));
    }
    let element = got.element_bytes();
    let at = (0..g.len()).find(|&i| !element[i] && g[i] != w[i])?;
    note(format!("byte {at} outside the logical tensor is {:#04x}, expected {:#04x} (padding must be zero, holes untouched)", g[at], w[at]))
}
