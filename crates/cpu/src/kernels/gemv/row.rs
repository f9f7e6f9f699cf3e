//! A row of f32 by packed panels of f32, all in place.

use super::call::{On, Ready};
use crate::kernels::extent::Read;
use oxidnn_jit::Isa;
use oxidnn_jit::kernels::gemv::{Gemv, Layout};
use oxidnn_jit::kernels::unpack::{Decode, Stored};
use oxidnn_runtime::Buf;
use oxidnn_spec::Error;

/// The kernels for one panel, two, and so on.
#[derive(Debug)]
pub struct Row {
    kernels: Vec<Ready>,
    columns: usize,
}

/// Consecutive panels.
#[derive(Clone, Copy, Debug)]
pub struct PanelRun<'b> {
    /// The memory.
    pub buf: Buf<'b>,
    /// Byte offset of the first.
    pub at: usize,
    /// Bytes from one to the next.
    pub step: usize,
    /// Their number.
    pub count: usize,
}

impl Row {
    /// The kernels for panels of `columns` columns.
    ///
    /// # Errors
    /// [`Error::Runtime`] if one cannot be generated.
    pub fn get(isa: Isa, columns: usize) -> Result<Row, Error> {
        let (decode, vectors) = (Decode { stored: Stored::F32, pairs: false }, columns / isa.width().lanes());
        let kernel = |panels: usize| {
            let layout = Layout::Panel { line: vectors as u8, vectors: vectors as u8, panels: panels as u8, groups: None };
            Ready::get(isa, Gemv { decode, rows: 1, layout })
        };
        Ok(Row { kernels: (1..=Gemv::panels(isa, decode, 1, vectors)).map(kernel).collect::<Result<_, _>>()?, columns })
    }

    /// Adds the products of the `depth` elements at byte `at` of `a` to the sums, panel by panel.
    ///
    /// # Panics
    /// If an operand is too short.
    pub fn add(&self, (a, at): (Buf<'_>, usize), depth: usize, b: &PanelRun<'_>, sums: &mut [f32]) {
        let a = Read::from(a.part(at, depth * size_of::<f32>()));
        // All is there before anything is written.
        let sums = &mut sums[..b.count * self.columns];
        b.buf.part(b.at, b.count.saturating_sub(1) * b.step + depth * self.columns * size_of::<f32>());
        for first in (0..b.count).step_by(self.kernels.len()) {
            let kernel = &self.kernels[self.kernels.len().min(b.count - first) - 1];
            let start = b.at + first * b.step;
            let on = On { b_row: b.step, groups: 1, count: depth, ..On::new(&[], b.buf.part(start, b.buf.len() - start)) };
            kernel.run_on(a, &on, &mut sums[first * self.columns..], 0);
        }
    }
}
