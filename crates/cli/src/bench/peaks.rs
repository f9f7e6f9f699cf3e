//! What the processor could do at most, by the type of the products: measured when first asked for.

use oxidnn_cpu::CpuDevice;
use oxidnn_cpu::peak::{self, Kind};
use oxidnn_spec::{DataType, Problem};
use std::cell::RefCell;

/// Measured peaks of one core.
#[derive(Default)]
pub(super) struct Peaks(RefCell<Vec<(Kind, f64)>>);

impl Peaks {
    /// Gop/s of one core for products of the problem's types.
    pub(super) fn of(&self, problem: &Problem) -> f64 {
        let types = problem.op.operands();
        let kind = types.first().map_or(Kind::F32, |o| match o.tensor.dtype {
            DataType::Bf16 => Kind::Bf16,
            DataType::F16 => Kind::F16,
            DataType::U8 | DataType::S8 => Kind::Int8,
            _ => Kind::F32,
        });
        let mut known = self.0.borrow_mut();
        if let Some((_, peak)) = known.iter().find(|(k, _)| *k == kind) {
            return *peak;
        }
        let peak = peak::single_core(CpuDevice::host().target(), kind) / 1e9;
        known.push((kind, peak));
        peak
    }

    /// All that were asked for.
    pub(super) fn measured(&self) -> Vec<(Kind, f64)> {
        self.0.borrow().clone()
    }
}
