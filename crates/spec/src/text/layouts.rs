//! Layouts as text: format tags, and modifiers for everything that a tag cannot say.
//!
//! A layout is a tag (`abcd`, `nhwc`, `aBcd16b`, `axb`, `any`) with modifiers behind slashes: `/s100x10x1` strides, `/o64` offset of the
//! first element, `/p2x32` padded sizes, `/l0x4` offsets into the padded tensor, `/c1` and `/z1` the masks of int8 and zero-point
//! compensation, `/a0.5` the factor that compensated weights were multiplied with. Other placements: `csr/n12`, `coo/n12`, `packed/n12`
//! (sparse, 12 stored values) and `host` (a scalar on the host). An implementation's own packing is written as `any`, which lets the
//! implementation choose it again.

use super::error::{ParseError, Result};
use super::values::{dims, int, real, size};
use crate::{Compensation, Dims, Format, Layout, RUNTIME, Sparse, Tensor};
use std::fmt::{self, Write};

/// Reads a layout for a tensor of `shape`.
pub(super) fn read(shape: Dims, text: &str) -> Result<Layout> {
    let mut parts = text.split('/');
    let tag = parts.next().unwrap_or("");
    if tag == "host" {
        return Ok(Layout { dims: shape, format: Format::HostScalar });
    }
    if matches!(tag, "csr" | "coo" | "packed") {
        let n = parts
            .next()
            .and_then(|p| p.strip_prefix('n'))
            .ok_or_else(|| ParseError::new(text, "the number of stored values, `csr/n12`"))?;
        return Ok(Layout { dims: shape, format: Format::Sparse(sparse(tag, size(n)?)) });
    }
    let mut layout = Layout::with_tag(shape, tag).map_err(|e| match e {
        crate::Error::InvalidArguments(i) => ParseError::new(text, format_args!("{} ({})", i.expected, i.got)),
        other => ParseError::refused(other),
    })?;
    for part in parts {
        modify(&mut layout, part)?;
    }
    Ok(layout)
}

/// The sparse encoding called `name`.
pub(super) fn sparse(name: &str, nnz: i64) -> Sparse {
    match name {
        "csr" => Sparse::Csr { nnz },
        "coo" => Sparse::Coo { nnz },
        _ => Sparse::Packed { nnz, blocking: None },
    }
}

fn modify(layout: &mut Layout, part: &str) -> Result<()> {
    let shape = layout.dims;
    let Some(b) = layout.blocking_mut() else {
        return Err(ParseError::new(part, "no modifier: `any` has none"));
    };
    let per_dim = |s: &str| {
        let v = dims(s)?;
        if v.len() == shape.len() { Ok(v) } else { Err(ParseError::new(s, format_args!("{} numbers, one a dimension", shape.len()))) }
    };
    let Some((kind, value)) = part.chars().next().map(|c| part.split_at(c.len_utf8())) else {
        return Err(ParseError::new("/", "a modifier behind the slash"));
    };
    match kind {
        "s" => b.strides = per_dim(value)?,
        "o" => b.offset = size(value)?,
        "p" => {
            b.padded_dims = per_dim(value)?;
            let fits = |d: usize| {
                let (p, s) = (b.padded_dims[d], shape[d]);
                if s == RUNTIME || p == RUNTIME { p == s } else { p >= s && p % b.inner.of(d) == 0 }
            };
            if !(0..shape.len()).all(fits) {
                return Err(ParseError::new(part, "padded sizes not below the sizes, whole multiples of the inner blocks"));
            }
        }
        "l" => b.padded_offsets = per_dim(value)?,
        "c" => b.compensation.get_or_insert_default().s8s8_mask = Some(int(value)?),
        "z" => b.compensation.get_or_insert_default().zero_point_mask = Some(int(value)?),
        "a" => b.compensation.get_or_insert_default().scale_adjust = Some(real(value)?),
        _ => {
            return Err(ParseError::new(
                part,
                "a modifier: s strides, o offset, p padded sizes, l offsets, c z compensation masks, a factor",
            ));
        }
    }
    Ok(())
}

/// Writes a layout so that [`read`] gives it back (an implementation's own packing becomes `any`).
pub(super) fn write(layout: &Layout) -> String {
    let b = match &layout.format {
        Format::Any | Format::Packed(_) => return "any".into(),
        Format::HostScalar => return "host".into(),
        Format::Sparse(Sparse::Csr { nnz }) => return format!("csr/n{nnz}"),
        Format::Sparse(Sparse::Coo { nnz }) => return format!("coo/n{nnz}"),
        Format::Sparse(Sparse::Packed { nnz, .. }) => return format!("packed/n{nnz}"),
        Format::Blocked(b) => b,
    };
    if let Some(tag) = layout.tag() {
        return tag;
    }
    let mut text = layout.nearest_tag();
    let Ok(base) = Layout::with_tag(layout.dims, &text) else { return text };
    let Some(base) = base.blocking() else { return text };
    let mut modifier = |kind: char, value: &dyn fmt::Display, differs: bool| {
        if differs {
            let _ = write!(text, "/{kind}{value}");
        }
    };
    modifier('s', &b.strides, b.strides != base.strides);
    modifier('p', &b.padded_dims, b.padded_dims != base.padded_dims);
    modifier('l', &b.padded_offsets, b.padded_offsets != base.padded_offsets);
    match b.offset {
        RUNTIME => modifier('o', &'*', true),
        offset => modifier('o', &offset, offset != 0),
    }
    let Compensation { s8s8_mask, zero_point_mask, scale_adjust } = b.compensation.unwrap_or_default();
    for (kind, mask) in [('c', s8s8_mask), ('z', zero_point_mask)] {
        modifier(kind, &mask.unwrap_or(0), mask.is_some());
    }
    modifier('a', &scale_adjust.unwrap_or_default(), scale_adjust.is_some());
    text
}

/// The tag, `abcd` for example, with what differs from it; an implementation's own packing is shown by its name.
impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.format {
            Format::Packed(p) => f.write_str(p.name),
            _ => f.write_str(&write(self)),
        }
    }
}

/// Type, layout and sizes, `f32:abcd:2x3x4x5` for example; an implementation's own packing is shown by its name.
impl fmt::Display for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.dtype, self.layout, self.dims())
    }
}
