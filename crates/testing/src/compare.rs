//! Compares an output with the truth.

use crate::host::HostTensor;
use crate::tolerance::Bounds;
use oxidnn_judge::{Difference, Worst};
use oxidnn_spec::Arg;
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
    /// The computed value.
    pub got: f64,
    /// The true value.
    pub want: f64,
    /// The allowed difference there.
    pub allowed: f64,
    /// The largest finite true magnitude of the output.
    pub scale: f64,
    /// The error, if it is not the value of an element.
    pub note: Option<String>,
}

impl Mismatch {
    /// An error of an output that is not the value of an element.
    pub fn noted(arg: Arg, note: String) -> Mismatch {
        Mismatch { arg, wrong: 1, of: 1, index: 0, got: 0.0, want: 0.0, allowed: 0.0, scale: 0.0, note: Some(note) }
    }

    /// How far the worst element is off, relative to the largest of the output; infinite where a number cannot say.
    pub fn distance(&self) -> f64 {
        let d = (self.got - self.want).abs() / self.scale;
        if d.is_finite() && self.note.is_none() { d } else { f64::INFINITY }
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

/// Compares elements; `None` when there are as many as expected and `bounds` have all.
pub fn values(arg: Arg, got: &[f64], want: &[f64], bounds: &Bounds) -> Option<Mismatch> {
    let accepts = |i: usize| bounds.accepts(i, got[i]);
    let scale = want.iter().filter(|v| v.is_finite()).fold(0f64, |m, v| m.max(v.abs()));
    match oxidnn_judge::difference(got, want, accepts, |i| bounds.allowed(i, want[i]))? {
        Difference::Elements(Worst { of, wrong, index, got, want, allowed }) => {
            Some(Mismatch { arg, wrong, of, index, got, want, allowed, scale, note: None })
        }
        length => Some(Mismatch::noted(arg, length.to_string())),
    }
}

/// Compares the bytes that belong to no logical element: padding must be zero as the reference leaves it, holes must be untouched.
pub fn surroundings(arg: Arg, got: &HostTensor, want: &HostTensor) -> Option<Mismatch> {
    let note = |note| Some(Mismatch::noted(arg, note));
    let (g, w) = (&got.bufs[0], &want.bufs[0]);
    if g.len() != w.len() {
        return note(format!("{} bytes, expected {}", g.len(), w.len()));
    }
    if got.count() * got.tensor.dtype.bits() == g.len() * 8 {
        return None;
    }
    let element = got.element_bytes();
    let at = (0..g.len()).find(|&i| !element[i] && g[i] != w[i])?;
    let (g, w) = (g[at].get(), w[at].get());
    note(format!("byte {at} outside the logical tensor is {g:#04x}, expected {w:#04x} (padding must be zero, holes untouched)"))
}
