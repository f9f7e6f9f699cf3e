//! Writing problems, and the option `--tensors` for everything that a driver's own options cannot say.

use super::error::{ParseError, Result};
use super::values::{MAX_LIST, Values, dims, dtype, plain};
use super::{Driver, FillHints, attrs, drivers, layouts, sizes};
use crate::{Arg, DataType, Layout, Op, Problem, Tensor};

/// A line as it is written: options with values, and a descriptor.
pub(super) struct Line<'a> {
    pub(super) driver: &'static Driver,
    /// The line's statement about the data.
    pub(super) fill: &'a FillHints,
    pub(super) options: Vec<(&'static str, String)>,
    pub(super) descriptor: String,
}

impl Line<'_> {
    /// Sets an option, unless the value is its default.
    pub(super) fn set(&mut self, option: &'static str, value: impl Into<String>) {
        let value = value.into();
        if value != self.driver.default(option) {
            self.options.push((option, value));
        }
    }

    /// Sets a list `a:b:c`; equal entries are written once where one stands for all.
    pub(super) fn list(&mut self, option: &'static str, entries: &[String]) {
        let same = entries.windows(2).all(|w| w[0] == w[1]);
        self.set(option, if same && !entries.is_empty() { entries[0].clone() } else { entries.join(":") });
    }

    /// Sets a list whose missing rest is the default.
    pub(super) fn each(&mut self, option: &'static str, entries: &[String]) {
        self.set(option, entries.join(":"));
    }

    /// Sets a list of data types.
    pub(super) fn dtypes(&mut self, option: &'static str, dtypes: &[DataType]) {
        self.list(option, &dtypes.iter().map(|d| d.name().to_string()).collect::<Vec<_>>());
    }

    /// Sets a layout.
    pub(super) fn layout(&mut self, option: &'static str, tensor: &Tensor) {
        self.set(option, layouts::write(&tensor.layout));
    }

    /// Sets a list of layouts.
    pub(super) fn layouts(&mut self, option: &'static str, tensors: &[&Tensor]) {
        self.list(option, &tensors.iter().map(|t| layouts::write(&t.layout)).collect::<Vec<_>>());
    }

    fn values(&self) -> Vec<(&'static str, &str)> {
        self.options.iter().map(|(n, v)| (*n, v.as_str())).collect()
    }
}

/// The line of a problem.
pub(super) fn write(problem: &Problem, fill: &FillHints, name: Option<&str>) -> String {
    let driver = drivers::of(&problem.op);
    let mut line = Line { driver, fill, options: Vec::new(), descriptor: String::new() };
    (driver.write)(&problem.op, &mut line);
    if let Some(sizes) = sizes::of(problem, &line) {
        line.set("runtime-sizes", sizes);
    }
    let tensors = tensors_that_differ(&problem.op, &line);
    line.set("tensors", tensors);
    attrs::write(problem, fill, &mut line);
    if fill.inplace {
        line.set("inplace", "true");
    }
    let mut text = format!("--{}", driver.name);
    for (option, value) in &line.options {
        text += &format!(" --{option}={value}");
    }
    text += " ";
    text += &line.descriptor;
    if let Some(name) = name {
        text += &format!("_n\"{name}\"");
    }
    text
}

/// Operands that [`crate::Problem::new`] derives.
fn is_derived(arg: Arg) -> bool {
    arg == Arg::WORKSPACE || [Arg::WEIGHTS, Arg::BIAS].map(Arg::depthwise).contains(&arg)
}

/// `--tensors` for the operands that the options and the descriptor written so far leave different.
fn tensors_that_differ(op: &Op, line: &Line) -> String {
    let values = line.values();
    let Ok((built, _)) = (line.driver.build)(&Values { driver: line.driver, picked: &values }, &line.descriptor) else {
        return String::new();
    };
    let op = super::verbose::unfused(op);
    let differing = op.operands().into_iter().filter(|o| {
        let packed = matches!(o.tensor.layout.format, crate::Format::Packed(_));
        !packed && !is_derived(o.arg) && built.tensor(o.arg).is_some_and(|t| t != o.tensor)
    });
    let entry = |arg: Arg, t: &Tensor| {
        let same_dims = built.tensor(arg).is_some_and(|b| b.dims() == t.dims());
        let shape = if same_dims { String::new() } else { format!(":{}", t.dims()) };
        format!("{arg}:{}:{}{shape}", t.dtype, layouts::write(&t.layout))
    };
    differing.map(|o| entry(o.arg, o.tensor)).collect::<Vec<_>>().join("+")
}

/// Applies `--tensors=ARG:DT:LAYOUT[:DIMS]+..`.
pub(super) fn override_tensors(values: &Values, op: &mut Op) -> Result<()> {
    values.read("tensors", |s| {
        for entry in s.split('+').filter(|e| !e.is_empty()).take(MAX_LIST) {
            let (arg, dt, layout, shape) = match entry.split(':').collect::<Vec<_>>()[..] {
                [arg, dt, layout] => (arg, dt, layout, None),
                [arg, dt, layout, shape] => (arg, dt, layout, Some(shape)),
                _ => return Err(ParseError::new(entry, "ARG:DATA_TYPE:LAYOUT or ARG:DATA_TYPE:LAYOUT:DIMS")),
            };
            let operands = op.operands();
            let Some(found) = operands.iter().find(|o| o.arg.to_string() == arg) else {
                let names: Vec<String> = operands.iter().map(|o| o.arg.to_string()).collect();
                return Err(ParseError::unknown(arg, "an operand of the problem", names.iter().map(String::as_str)));
            };
            let shape = shape.map_or(Ok(*found.tensor.dims()), dims)?;
            let tensor = Tensor { dtype: dtype(dt)?, layout: layouts::read(shape, layout)? };
            let arg = found.arg;
            if let Some(t) = op.tensor_mut(arg) {
                *t = tensor;
            }
        }
        Ok(())
    })
}

/// A tensor of the same dims whose layout is left open.
pub(super) fn any(dims: &Tensor, dtype: DataType) -> Tensor {
    Tensor { dtype, layout: Layout::any(*dims.dims()) }
}

/// A row-major f32 vector.
pub(super) fn vector(n: i64, dtype: DataType) -> Result<Tensor> {
    plain(crate::Dims::from([n]), dtype)
}
