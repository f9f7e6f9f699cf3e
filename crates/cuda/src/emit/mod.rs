//! Generation of the headers that kernels include: `args.cuh` for generic kernels, `epilogue.cuh` for products.
//!
//! What a kernel's code depends on (types, layouts, post-ops, formulas) is printed as CUDA C; everything else (sizes, strides, addresses, constants) is a field
//! of `struct Args`, which the kernel gets by value, so that a new shape compiles nothing. An [`Emitter`] collects the fields with their [`Word`]s, and
//! device functions that use them: accessors of tensors ([`View`]), scales and zero points ([`Factor`]), traversals, formulas of `expr`, and the epilogue
//! ([`Tail`]). The header defines `real`, the type that the kernel computes in (float or double), and `index`, that of positions (int or long long).

mod factor;
mod symbol;
mod tail;
mod traversal;
mod view;

#[cfg(test)]
mod tests;

pub(crate) use factor::Factor;
use symbol::Rounded;
pub(crate) use symbol::{Symbol, literal};
pub(crate) use tail::Tail;
pub(crate) use traversal::memory_order;
pub(crate) use view::{Place, View};

use crate::program::{Launch, Source, Word};
use oxidnn_spec::{DataType, PostOp, Problem};
use std::fmt::Write;
use std::sync::Arc;

/// Threads per CTA of the generic kernels.
pub(crate) const BLOCK: u32 = 256;

/// The type that a kernel computes in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Real {
    /// f32.
    Single,
    /// f64, if results of s32, s64 or f64 must be exact.
    Double,
}

impl Real {
    /// f64 if an operand has a type that f32 does not represent exactly, otherwise f32.
    pub(crate) fn of(problem: &Problem) -> Real {
        let wide = |d: DataType| matches!(d, DataType::F64 | DataType::S32 | DataType::S64);
        let data = problem.op.operands().into_iter().filter(|o| o.arg.is_data() || o.arg.0 < 64).any(|o| wide(o.tensor.dtype));
        let post_ops = problem.attr.post_ops.iter().any(|p| match p {
            PostOp::Binary { src1, .. } => wide(src1.dtype),
            PostOp::Sum { dtype, .. } => dtype.is_some_and(wide),
            _ => false,
        });
        if data || post_ops { Real::Double } else { Real::Single }
    }

    /// Its name in CUDA C.
    fn name(self) -> &'static str {
        match self {
            Real::Single => "float",
            Real::Double => "double",
        }
    }

    /// The data type of a tensor of this type.
    pub(crate) fn dtype(self) -> DataType {
        match self {
            Real::Single => DataType::F32,
            Real::Double => DataType::F64,
        }
    }
}

/// The name of a data type in `number.cuh`.
pub(crate) fn type_name(dtype: DataType) -> &'static str {
    match dtype {
        DataType::F32 => "F32",
        DataType::F64 => "F64",
        DataType::F16 => "F16",
        DataType::Bf16 => "Bf16",
        DataType::S32 => "S32",
        DataType::S64 => "S64",
        DataType::S8 => "S8",
        DataType::U8 => "U8",
        DataType::S4 => "S4",
        DataType::U4 => "U4",
        DataType::F8E5m2 => "F8E5m2",
        DataType::F8E4m3 => "F8E4m3",
        DataType::E8m0 => "E8m0",
        DataType::F4E2m1 => "F4E2m1",
        DataType::F4E3m0 => "F4E3m0",
        DataType::Boolean => "Boolean",
    }
}

/// The launch of a kernel without a generated header, over `items` items, one per thread.
pub(crate) fn bare(file: &'static str, options: &[(&str, &str)], words: Vec<Word>, items: i64) -> Launch {
    let options: String = options.iter().map(|(name, value)| format!("#define {name} {value}\n")).collect();
    let source = Arc::new(Source { file, options: Arc::from(options), header: Arc::from("") });
    let blocks = (items.max(1) as u64).div_ceil(u64::from(BLOCK)) as u32;
    Launch::new(source, words, [blocks, 1, 1], BLOCK)
}

/// The header of one kernel under construction.
pub(crate) struct Emitter {
    real: Real,
    /// Positions need 64 bits.
    wide: bool,
    /// Defines that the kernel's own file sees, too.
    options: String,
    /// Text before `struct Args`.
    head: String,
    fields: String,
    functions: String,
    words: Vec<Word>,
}

impl Emitter {
    /// A header for computing in `real` over tensors of at most `elements` positions.
    pub(crate) fn new(real: Real, elements: i64) -> Emitter {
        let wide = elements > i64::from(i32::MAX);
        // Capacities that most headers do not exceed.
        let text = String::with_capacity;
        Emitter {
            real,
            wide,
            options: text(512),
            head: text(512),
            fields: text(1024),
            functions: text(6144),
            words: Vec::with_capacity(64),
        }
    }

    /// A field of `Args` of one word.
    pub(crate) fn word(&mut self, declaration: &str, word: Word) {
        let _ = writeln!(self.fields, "    {declaration};");
        self.words.push(word);
    }

    /// The type that the kernel computes in.
    pub(crate) fn real(&self) -> Real {
        self.real
    }

    /// Number of words of `Args` so far.
    pub(crate) fn words(&self) -> usize {
        self.words.len()
    }

    /// An integer field.
    pub(crate) fn number(&mut self, name: &str, value: i64) {
        let _ = writeln!(self.fields, "    i64 {name};");
        self.words.push(Word::Value(value as u64));
    }

    /// A floating-point field.
    pub(crate) fn real_number(&mut self, name: &str, value: f64) {
        self.word(&format!("double {name}"), Word::Value(value.to_bits()));
    }

    /// A field that is an array of integers; nothing if it is empty.
    pub(crate) fn numbers(&mut self, name: &str, values: &[i64]) {
        if !values.is_empty() {
            let _ = writeln!(self.fields, "    i64 {name}[{}];", values.len());
            self.words.extend(values.iter().map(|&v| Word::Value(v as u64)));
        }
    }

    /// A field that is an array of floating-point numbers.
    pub(crate) fn real_numbers(&mut self, name: &str, values: &[f64]) {
        let _ = writeln!(self.fields, "    double {name}[{}];", values.len().max(1));
        self.words.extend(values.iter().map(|v| Word::Value(v.to_bits())));
    }

    /// A field that is an array of sizes with the magic numbers for dividing by them (`index.cuh`).
    pub(crate) fn sizes(&mut self, name: &str, sizes: &[i64]) {
        if sizes.is_empty() {
            return;
        }
        let _ = writeln!(self.fields, "    Size {name}[{}];", sizes.len());
        for &size in sizes {
            let divisor = size.max(1) as u64;
            let shift = u64::from(64 - (divisor - 1).leading_zeros());
            let magic = if shift > 32 { 0 } else { ((((1u128 << shift) - u128::from(divisor)) << 32) / u128::from(divisor) + 1) as u64 };
            self.words.extend([Word::Value(divisor), Word::Value(magic | shift << 32)]);
        }
    }

    /// A define of the header.
    pub(crate) fn define(&mut self, name: &str, value: impl std::fmt::Display) {
        let _ = writeln!(self.head, "#define {name} {value}");
    }

    /// A define that the kernel's own file sees, too.
    pub(crate) fn option(&mut self, name: &str, value: impl std::fmt::Display) {
        let _ = writeln!(self.options, "#define {name} {value}");
    }

    /// Text before `struct Args`.
    pub(crate) fn before(&mut self, text: &str) {
        self.head.push_str(text);
    }

    /// Appends device code.
    pub(crate) fn code(&mut self, text: &str) {
        self.functions.push_str(text);
        if !text.ends_with('\n') {
            self.functions.push('\n');
        }
    }

    /// A device function that computes a formula of `expr`.
    pub(crate) fn formula(&mut self, name: &str, arity: usize, formula: impl FnOnce(&[Symbol]) -> Symbol) {
        self.formula_to(DataType::F64, name, arity, formula);
    }

    /// Whether results that are rounded to `dtype` may use the approximations of `number.cuh` (`short_exp` and others).
    pub(crate) fn is_short(real: Real, dtype: DataType) -> bool {
        real == Real::Single && !dtype.is_integral() && dtype.bits() <= 16
    }

    /// The same for a formula whose result is only rounded to `dtype`.
    pub(crate) fn formula_to(&mut self, dtype: DataType, name: &str, arity: usize, formula: impl FnOnce(&[Symbol]) -> Symbol) {
        let text = symbol::function(name, arity, if Emitter::is_short(self.real, dtype) { Rounded::Short } else { Rounded::No }, formula);
        self.code(&text);
    }

    /// The launch of the kernel in `file` over `items` items, one per thread.
    pub(crate) fn launch(self, file: &'static str, items: i64) -> Launch {
        let blocks = (items.max(1) as u64).div_ceil(u64::from(BLOCK)).min(1 << 20) as u32;
        self.launch_blocks(file, [blocks, 1, 1])
    }

    /// The launch of the kernel in `file` with this grid.
    pub(crate) fn launch_blocks(self, file: &'static str, grid: [u32; 3]) -> Launch {
        let header = self.header();
        let source = Arc::new(Source { file, options: Arc::from(self.options), header: Arc::from(header) });
        Launch::new(source, self.words, grid, BLOCK)
    }

    /// The launch of a kernel with a parameter structure of its own, whose words are `before`, followed by this header's `Args` as `Epilogue`.
    pub(crate) fn epilogue_of(mut self, file: &'static str, before: Vec<Word>) -> Launch {
        if self.fields.is_empty() {
            self.number("unused", 0);
        }
        let header = format!("#pragma once\n#include \"types.cuh\"\n{}using Epilogue = Args;\n", self.header());
        let source = Arc::new(Source { file, options: Arc::from(self.options), header: Arc::from(header) });
        let words = before.into_iter().chain(self.words).collect();
        Launch::new(source, words, [1; 3], BLOCK)
    }

    fn header(&self) -> String {
        let Emitter { real, wide, head, fields, functions, .. } = self;
        let mut text = String::with_capacity(512 + head.len() + fields.len() + functions.len());
        let _ = write!(
            text,
            "typedef {} real;\ntypedef {} index;\n#include \"number.cuh\"\n#include \"index.cuh\"\n#include \"random.cuh\"\n#include \"vector.cuh\"\n{head}\n\
             struct Args {{\n{fields}}};\n\n{functions}",
            real.name(),
            if *wide { "long long" } else { "int" },
        );
        text
    }
}
