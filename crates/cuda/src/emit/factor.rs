//! Scales and zero points: a value for each position of a tensor, broadcast along the dimensions of its mask.

use super::{Emitter, type_name};
use crate::program::Word;
use oxidnn_spec::{Arg, Attr, Quant};

/// Scales or zero points of a tensor. The header has `x(a, p)`, the value at a position, and if the attributes have values also `x_at(a, p)`, their index.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Factor<'a> {
    pub(crate) name: &'a str,
    pub(crate) quant: Option<&'a Quant>,
    /// The argument with the values.
    pub(crate) arg: Arg,
    /// The tensor's sizes.
    pub(crate) dims: &'a [i64],
    /// The value if the attributes have none.
    pub(crate) default: f64,
}

impl<'a> Factor<'a> {
    /// The scales of `of`, a tensor of `dims`; 1 if the attributes have none.
    pub(crate) fn scale(name: &'a str, attr: &'a Attr, of: Arg, dims: &'a [i64]) -> Factor<'a> {
        Factor { name, quant: attr.scales.get(&of), arg: Arg::scale(of), dims, default: 1.0 }
    }

    /// The zero points of `of`; 0 if the attributes have none.
    pub(crate) fn zero_point(name: &'a str, attr: &'a Attr, of: Arg, dims: &'a [i64]) -> Factor<'a> {
        Factor { name, quant: attr.zero_points.get(&of), arg: Arg::zero_point(of), dims, default: 0.0 }
    }

    /// Whether the values vary along dimension `d`.
    pub(crate) fn varies(&self, d: usize) -> bool {
        self.quant.is_some_and(|q| q.dims(self.dims)[d] > 1)
    }
}

impl Emitter {
    /// Declares a factor.
    pub(crate) fn factor(&mut self, f: &Factor<'_>) {
        let name = f.name;
        // A tensor without elements has no values either.
        let Some(quant) = f.quant.filter(|q| !q.dims(f.dims).contains(&0)) else {
            return self.code(&format!("DEVICE real {name}(const Args&, const index*) {{ return {}; }}", super::literal(f.default)));
        };
        let dtype = type_name(quant.dtype);
        if quant.on_host {
            self.word(&format!("u64 {name}_bits"), Word::HostScalar(f.arg));
            return self.code(&format!(
                "DEVICE real {name}(const Args& a, const index*) {{ return {dtype}::decode(({dtype}::word)a.{name}_bits); }}"
            ));
        }
        self.word(&format!("void* {name}_data"), Word::Address { arg: f.arg, buffer: 0 });
        let (sizes, n) = (quant.dims(f.dims), f.dims.len());
        let masked: Vec<usize> = (0..n).filter(|&d| quant.mask >> d & 1 == 1).collect();
        let mut strides = vec![0; masked.len()];
        let mut stride = 1i64;
        for (i, &d) in masked.iter().enumerate().rev().filter(|&(_, &d)| sizes[d] > 1) {
            strides[i] = stride;
            stride = stride.saturating_mul(sizes[d]);
        }
        self.numbers(&format!("{name}_stride"), &strides);
        let group = |d: usize| if d + 2 < n { 1 } else { quant.groups.get(d + 2 - n).map_or(1, |&g| g.max(1)) };
        let terms: Vec<String> =
            masked.iter().enumerate().map(|(i, &d)| format!(" + (i64)(p[{d}] / {}) * a.{name}_stride[{i}]", group(d))).collect();
        let unused = if masked.is_empty() { "" } else { " p" };
        let a = if masked.is_empty() { "" } else { " a" };
        self.code(&format!(
            "DEVICE i64 {name}_at(const Args&{a}, const index*{unused}) {{ return 0{}; }}\n\
             DEVICE real {name}(const Args& a, const index* p) {{ return constant<{dtype}>(a.{name}_data, {name}_at(a, p)); }}",
            terms.concat()
        ));
    }
}
