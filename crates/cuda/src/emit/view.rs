//! Views: accessors of a tensor's elements by position.

use super::{Emitter, type_name};
use crate::program::Word;
use oxidnn_runtime::Skip;
use oxidnn_spec::{Arg, Blocking, DataType, Format, Layout, Tensor};
use std::fmt::Write;

/// Where a tensor is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    /// In the memory of an argument.
    Arg(Arg),
    /// At this offset in the scratch.
    Scratch(usize),
}

/// A tensor that a kernel accesses by position. For a view called `x` the header has
///
/// - `x_at(a, p)`: the offset of a position, in elements;
/// - `x_load(a, at)`, `x_store(a, at, v)`: access by offset;
/// - `x(a, p)`: the element at a position; `x_type`: its type.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View<'a> {
    pub(crate) name: &'a str,
    pub(crate) place: Place,
    pub(crate) dtype: DataType,
    pub(crate) layout: &'a Layout,
    /// Positions may be in the padding; otherwise the tensor is broadcast along dimensions of size 1.
    pub(crate) padded: bool,
}

impl<'a> View<'a> {
    /// A view of `tensor`, passed as `arg`, broadcast along dimensions of size 1.
    pub(crate) fn of(name: &'a str, arg: Arg, tensor: &'a Tensor) -> View<'a> {
        View { name, place: Place::Arg(arg), dtype: tensor.dtype, layout: &tensor.layout, padded: false }
    }

    /// The same of a tensor in scratch.
    pub(crate) fn scratch(name: &'a str, at: usize, tensor: &'a Tensor) -> View<'a> {
        View { place: Place::Scratch(at), ..View::of(name, Arg::DST, tensor) }
    }
}

impl Emitter {
    /// Declares a view.
    ///
    /// # Errors
    /// [`Skip::Layout`] if the layout is opaque.
    pub(crate) fn view(&mut self, view: &View<'_>) -> Result<(), Skip> {
        self.view_of_buffer(view, 0)
    }

    /// Declares a view of an argument's buffer `buffer`.
    ///
    /// # Errors
    /// [`Skip::Layout`] if the layout is opaque.
    pub(crate) fn view_of_buffer(&mut self, view: &View<'_>, buffer: usize) -> Result<(), Skip> {
        let (name, dtype) = (view.name, type_name(view.dtype));
        self.code(&format!("typedef {dtype} {name}_type;"));
        match &view.layout.format {
            Format::HostScalar => {
                let Place::Arg(arg) = view.place else { return Err(Skip::Layout("a host scalar in scratch".into())) };
                self.word(&format!("u64 {name}_bits"), Word::HostScalar(arg));
                self.code(&format!(
                    "DEVICE i64 {name}_at(const Args&, const index*) {{ return 0; }}\n\
                     DEVICE real {name}_load(const Args& a, i64) {{ return {dtype}::decode(({dtype}::word)a.{name}_bits); }}\n\
                     DEVICE {dtype}::word {name}_code(const Args& a, i64) {{ return ({dtype}::word)a.{name}_bits; }}\n\
                     DEVICE real {name}(const Args& a, const index*) {{ return {name}_load(a, 0); }}"
                ));
                return Ok(());
            }
            Format::Blocked(b) => {
                self.address(view, buffer);
                self.offset(view, b);
            }
            _ => return Err(Skip::Layout("that is neither strides nor blocks".into())),
        }
        let _ = writeln!(
            self.functions,
            "DEVICE real {name}_load(const Args& a, i64 at) {{ return load<{dtype}>(a.{name}_data, at); }}\n\
             DEVICE void {name}_store(const Args& a, i64 at, real v) {{ store<{dtype}>(a.{name}_data, at, v); }}\n\
             DEVICE {dtype}::word {name}_code(const Args& a, i64 at) {{ return load_code<{dtype}>(a.{name}_data, at); }}\n\
             DEVICE real {name}(const Args& a, const index* p) {{ return {name}_load(a, {name}_at(a, p)); }}"
        );
        Ok(())
    }

    fn address(&mut self, view: &View<'_>, buffer: usize) {
        let word = match view.place {
            Place::Arg(arg) => Word::Address { arg, buffer },
            Place::Scratch(at) => Word::Scratch(at),
        };
        self.word(&format!("void* {}_data", view.name), word);
    }

    /// Declares the function that computes offsets, and its fields. Offsets are computed in `index` if that holds all of them.
    fn offset(&mut self, view: &View<'_>, b: &Blocking) {
        let (name, dims) = (view.name, &view.layout.dims);
        let number = if view.layout.extent().is_some_and(|end| end <= i64::from(i32::MAX)) { "index" } else { "i64" };
        let (mut origin, mut strides, mut terms) = (b.offset, Vec::new(), String::new());
        for (d, &size) in dims.iter().enumerate() {
            let single = size == 1 && !view.padded;
            if !single && b.inner.iter().any(|x| x.0 == d) {
                let _ = writeln!(terms, "    q = p[{d}] + {};", b.padded_offsets[d]);
                let mut inner = 1;
                for (e, block) in b.inner.iter().rev() {
                    if e == d {
                        let _ = writeln!(terms, "    at += q % {block} * {inner};\n    q /= {block};");
                    }
                    inner *= block;
                }
                let _ = writeln!(terms, "    at += ({number})q * ({number})a.{name}_stride[{d}];");
                strides.push(b.strides[d]);
            } else {
                origin += b.term(d, b.padded_offsets[d]);
                let _ = writeln!(terms, "    at += ({number})p[{d}] * ({number})a.{name}_stride[{d}];");
                strides.push(if single { 0 } else { b.strides[d] });
            }
        }
        self.number(&format!("{name}_origin"), origin);
        self.numbers(&format!("{name}_stride"), &strides);
        let q = if terms.contains("q =") { "    index q;\n" } else { "" };
        let _ = writeln!(
            self.functions,
            "DEVICE i64 {name}_at(const Args& a, const index* p) {{\n    {number} at = ({number})a.{name}_origin;\n{q}{terms}    return at;\n}}"
        );
    }
}
