//! `--runtime-sizes=4x14`: the values of a descriptor's `*` at execution, in their order.
//!
//! Products and reorders also have benchdnn's options for it, masks of the dimensions of a descriptor without stars, and are written with these.

use super::error::{ParseError, Result};
use super::line::Line;
use super::values::{MAX_SIZE, Values, size};
use super::{FillHints, attrs, line};
use crate::{Format, Problem, RUNTIME, Tensor};

/// The most stars of a descriptor.
const MOST: usize = 4096;

/// Puts the dims that the operands of `problem`, which was read from `descriptor`, have at execution into the hints.
pub(super) fn read(values: &Values, descriptor: &str, problem: &Problem, fill: &mut FillHints) -> Result<()> {
    let sizes =
        values.read("runtime-sizes", |s| s.split('x').filter(|s| !s.is_empty()).take(MOST).map(size).collect::<Result<Vec<i64>>>())?;
    if sizes.is_empty() {
        return Ok(());
    }
    let stars = descriptor.matches('*').count();
    if sizes.len() != stars || sizes.contains(&RUNTIME) {
        let got = sizes.iter().map(|s| if *s == RUNTIME { "*".into() } else { s.to_string() }).collect::<Vec<_>>().join("x");
        return Err(ParseError::new(got, format_args!("{stars} sizes, one for each `*` of the descriptor")).of("--runtime-sizes"));
    }
    let mut parts = descriptor.split('*');
    let mut actual = parts.next().unwrap_or_default().to_string();
    for (size, part) in sizes.iter().zip(parts) {
        actual += &format!("{size}{part}");
    }
    let (mut op, _) = (values.driver.build)(values, &actual)?;
    line::override_tensors(values, &mut op)?;
    let attr = attrs::read(values, &op, &mut FillHints::default())?;
    let actual = super::finish(op, attr)?;
    bounded(&actual)?;
    for o in problem.operands().into_iter().filter(|o| o.tensor.layout.has_runtime()) {
        fill.runtime_dims.extend(actual.tensor(o.arg).map(|t| (o.arg, *t.dims())));
    }
    Ok(())
}

/// Refuses sizes that follow from others and that no line can say.
pub(super) fn bounded(problem: &Problem) -> Result<()> {
    let stored = |t: &Tensor| match &t.layout.format {
        Format::Sparse(sparse) => sparse.nnz(),
        _ => 0,
    };
    for o in problem.op.operands() {
        let largest = o.tensor.dims().iter().copied().max().unwrap_or(0).max(stored(o.tensor));
        if largest > MAX_SIZE {
            return Err(ParseError::new(largest, format_args!("sizes up to 2^48 of {}", o.arg)).of("descriptor"));
        }
    }
    Ok(())
}

/// The value of the option for a line whose descriptor is written; `None` where nothing is said of sizes, or the driver says it otherwise.
pub(super) fn of(problem: &Problem, line: &Line) -> Option<String> {
    let dims = &line.fill.runtime_dims;
    if dims.is_empty() || line.driver.options.iter().any(|o| o.name.starts_with("runtime-dim")) {
        return None;
    }
    let mut op = problem.op.clone();
    for o in op.operands_mut() {
        if let Some(dims) = dims.get(&o.arg) {
            o.tensor.layout = o.tensor.layout.at_sizes(*dims);
        }
    }
    let nothing = FillHints::default();
    let mut actual = Line { driver: line.driver, fill: &nothing, options: Vec::new(), descriptor: String::new() };
    (line.driver.write)(&op, &mut actual);
    let actual = numbers(&actual.descriptor);
    let sizes =
        numbers(&line.descriptor).into_iter().filter(|n| n.number == "*").map(|n| find(&actual, &n)).collect::<Option<Vec<&str>>>()?;
    Some(sizes.join("x"))
}

/// A number of a descriptor, the letters before it, and how often these letters occurred before.
struct Number<'a> {
    key: &'a str,
    nth: usize,
    number: &'a str,
}

fn numbers(descriptor: &str) -> Vec<Number<'_>> {
    let is_number = |c: char| c == '*' || c.is_ascii_digit();
    let mut found: Vec<Number> = Vec::new();
    let mut rest = descriptor;
    while let Some(at) = rest.find(is_number) {
        let (key, tail) = rest.split_at(at);
        let (number, tail) = tail.split_at(tail.find(|c| !is_number(c)).unwrap_or(tail.len()));
        let nth = found.iter().filter(|n| n.key == key).count();
        found.push(Number { key, nth, number });
        rest = tail;
    }
    found
}

/// The same number of another descriptor; a height or depth also stands for the dimensions behind it.
fn find<'a>(all: &[Number<'a>], of: &Number<'_>) -> Option<&'a str> {
    let with = |key: &str| all.iter().find(|n| n.key == key && n.nth == of.nth).map(|n| n.number);
    let spatial = || of.key.strip_suffix(['w', 'h', 'd']).filter(|kind| kind.len() == 1);
    with(of.key).or_else(|| spatial().and_then(|kind| ["h", "d"].iter().find_map(|dim| with(&format!("{kind}{dim}")))))
}
