//! Operations as lines, run through the crate: `kind attribute=value.. : input.. : output..`, as `ops.cpp` explains them. The answer is lines too:
//! `status STAGE NUMBER`, `supported 0|1`, `out INDEX TYPE dims .. strides .. values ..`.

use oxidnn_graph::{AttrId, AttrValue, Error, Graph, LayoutType, LogicalTensor, Op, OpKind, Policy, Property};
use oxidnn_judge::Bound;
use oxidnn_runtime::{Engine, EngineKind, Memory, Stream};
use oxidnn_spec::{DataType, Dims, FpMath, Tensor};

/// A port of an operation: its logical tensor and what fills its memory.
struct Port {
    tensor: LogicalTensor,
    fill: String,
}

/// `text` up to `mark`, and what follows.
fn cut(text: &str, mark: char) -> (&str, &str) {
    text.split_once(mark).unwrap_or((text, ""))
}

fn numbers(text: &str, separator: char) -> Vec<i64> {
    text.split(separator).filter(|w| !w.is_empty()).map(|w| w.parse().expect("a number")).collect()
}

fn port(text: &str, id: usize) -> Port {
    let (text, property) = cut(text, '@');
    let (text, fill) = cut(text, '#');
    let (text, layout) = cut(text, '/');
    let (dtype, dims) = cut(text, ':');
    let dtype = dtype.parse().ok();
    let property = match property {
        "constant" => Property::Constant,
        "host" => Property::HostScalar,
        _ => Property::Undef,
    };
    let kind = if layout == "any" { LayoutType::Any } else { LayoutType::Strided };
    let list = |text: &str| Dims::new(&numbers(text, 'x')).expect("at most 12 dimensions");
    let tensor = match dims.strip_prefix('?') {
        Some(rank) => LogicalTensor::new(id, dtype, rank.parse().ok(), kind, property),
        None if layout.is_empty() || layout == "any" => LogicalTensor::with_dims(id, dtype, list(dims), kind, property),
        None => LogicalTensor::with_strides(id, dtype, list(dims), list(layout), property),
    };
    Port { tensor: tensor.expect("a logical tensor"), fill: fill.to_string() }
}

/// The value of an attribute, whose type its number tells.
fn value(id: AttrId, text: &str) -> AttrValue {
    let real = |w: &str| w.parse::<f32>().expect("a number").into();
    match id as i32 {
        0..0x20 => AttrValue::F32(real(text)),
        0x20..0x30 => AttrValue::F32s(text.split(',').map(real).collect()),
        0x30..0x40 => AttrValue::S64(text.parse().expect("a whole number")),
        0x40..0x60 => AttrValue::S64s(numbers(text, ',')),
        0x60..0x80 => AttrValue::Bool(text == "1"),
        _ => AttrValue::Text(text.to_string()),
    }
}

/// The kind by its name in C, `avg_pool` for `AvgPool`: the same letters.
fn kind(name: &str) -> OpKind {
    let letters = |s: &str| s.replace('_', "").to_lowercase();
    let name = if name == "batch_norm_backward" { "batch_norm_training_backward" } else { name };
    let found = (0..).map_while(OpKind::from_number).find(|k| letters(k.name()) == letters(name));
    found.unwrap_or_else(|| panic!("no operation {name}"))
}

fn attribute(name: &str) -> AttrId {
    (0..0x100).filter_map(AttrId::from_number).find(|a| a.name() == name).unwrap_or_else(|| panic!("no attribute {name}"))
}

/// The numbers that `ops.cpp` fills memory with, element by element as they lie.
fn filled(port: &Port, count: usize) -> Vec<f64> {
    let mut state = (port.tensor.id as u32).wrapping_mul(7919).wrapping_add(12345);
    let dtype = port.tensor.dtype.expect("a type");
    let (how, constant) = port.fill.split_at(port.fill.len().min(1));
    let next = |_| {
        state = state.wrapping_mul(1664525).wrapping_add(1013904223);
        let r = i64::from(state >> 24 & 31) - 16;
        match (how, dtype) {
            ("p", _) => (r + 17) as f64 / 8.0,
            ("i", _) => (r / 4) as f64,
            ("c", _) => constant.parse().expect("a number"),
            ("b", _) | (_, DataType::Boolean) => f64::from(u8::from(r > 0)),
            (_, DataType::S8 | DataType::S32 | DataType::S4) => (r / 2) as f64,
            (_, DataType::U8 | DataType::U4) => ((r + 16) / 2) as f64,
            _ => r as f64 / 8.0,
        }
    };
    (0..count).map(next).collect()
}

/// Memory for a tensor, filled.
fn memory(engine: &Engine, port: &Port) -> Memory<'static> {
    let numbers = |n| filled(port, n);
    if port.tensor.property == Property::HostScalar {
        let v = numbers(1)[0];
        let scalar = match port.tensor.dtype {
            Some(DataType::F32) => Memory::host_scalar(v as f32),
            Some(DataType::S32) => Memory::host_scalar(v as i32),
            _ => Memory::host_scalar(v as i64),
        };
        return scalar.expect("a number");
    }
    let tensor = port.tensor.tensor().expect("a known tensor");
    let extent = tensor.layout.extent().expect("a size");
    let flat = Memory::new(engine, Tensor::plain([extent], tensor.dtype).expect("a tensor")).expect("memory");
    let values = numbers(extent as usize);
    flat.write_with(|i| values[i]).expect("memory of its own");
    flat.view(tensor).expect("as large")
}

/// The specification's number of a failure.
fn number(error: &Error) -> i32 {
    match error {
        Error::InvalidArguments(_) => 2,
        Error::Unimplemented(_) => 3,
        Error::InvalidGraph(_) => 7,
        Error::InvalidOp(_) => 8,
        Error::InvalidShape(_) => 9,
        Error::InvalidDataType(_) => 10,
        Error::Problem(oxidnn_spec::Error::InvalidArguments(_)) => 2,
        Error::Problem(oxidnn_spec::Error::Unimplemented(_)) => 3,
        Error::Problem(_) => 5,
    }
}

/// What the crate answers to a line.
pub(crate) fn answer(line: &str) -> Vec<String> {
    let engine = oxidnn_cpu::engine();
    let mut lines = Vec::new();
    if let Err((stage, error)) = run(&engine, line, &mut lines) {
        lines.push(format!("status {stage} {}", number(&error)));
    }
    lines
}

fn run(engine: &Engine, line: &str, lines: &mut Vec<String>) -> Result<(), (&'static str, Error)> {
    let mut parts = line.split(" : ").map(str::trim);
    let mut words = parts.next().unwrap_or_default().trim_end_matches(" :").split(' ');
    let name = words.next().unwrap_or_default();
    let mut op = Op::new(1, kind(name), name);
    for word in words {
        let (name, text) = cut(word, '=');
        let id = attribute(name);
        op.attrs.insert(id, value(id, text));
    }
    let mut ports: [Vec<Port>; 2] = Default::default();
    let mut id = 0;
    for (list, text) in ports.iter_mut().zip(parts) {
        for word in text.trim_end_matches(':').split(' ').filter(|w| !w.is_empty()) {
            list.push(port(word, id));
            id += 1;
        }
    }
    let [inputs, mut outputs] = ports;
    op.inputs = inputs.iter().map(|p| p.tensor).collect();
    op.outputs = outputs.iter().map(|p| p.tensor).collect();
    let mut graph = Graph::new(EngineKind::Cpu, FpMath::default());
    graph.add_op(&op).map_err(|e| ("add_op", e))?;
    graph.finalize().map_err(|e| ("finalize", e))?;
    graph.filter(Policy::Fusion).map_err(|e| ("filter", e))?;
    let partition = &graph.partitions()[0];
    lines.push(format!("supported {}", u8::from(partition.refusal().is_none())));
    if partition.refusal().is_some() {
        return Ok(());
    }
    let compiled = partition.compile(engine, &op.inputs, &op.outputs).map_err(|e| ("compile", e))?;
    if compiled.is_open() {
        // What the C interface refuses, as oneDNN does.
        return Err(("compile", Error::InvalidArguments("sizes that come with an execution".into())));
    }
    for out in &mut outputs {
        out.tensor = *compiled.logical_tensor(out.tensor.id).expect("a port");
        out.fill = "c0".to_string();
    }
    let (read, written): (Vec<_>, Vec<_>) =
        (inputs.iter().map(|p| memory(engine, p)).collect(), outputs.iter().map(|p| memory(engine, p)).collect());
    let stream = Stream::new(engine).expect("a stream");
    let (read, refs): (Vec<&Memory<'_>>, Vec<&Memory<'_>>) = (read.iter().collect(), written.iter().collect());
    compiled.execute(&stream, &read, &refs, None).map_err(|e| ("execute", e))?;
    lines.extend(outputs.iter().zip(&written).enumerate().map(|(i, (p, m))| shown(i, &p.tensor, m)));
    Ok(())
}

fn shown(index: usize, lt: &LogicalTensor, memory: &Memory<'_>) -> String {
    let join = |list: &[String]| list.iter().map(|v| format!(" {v}")).collect::<String>();
    let list = |v: &[i64]| join(&v.iter().map(i64::to_string).collect::<Vec<_>>());
    let values = memory.read_f64().expect("memory that was written");
    let values: Vec<String> = values.iter().map(f64::to_string).collect();
    let (dtype, dims) = (lt.dtype.expect("a type"), lt.dims.expect("sizes"));
    format!("out {index} {dtype} dims{} strides{} values{}", list(&dims), list(&lt.strides), join(&values))
}

/// The numbers behind `values` in a line, and the line before them.
pub(crate) fn parsed(line: &str) -> (&str, Vec<f64>) {
    let (head, values) = line.split_once(" values").unwrap_or((line, ""));
    (head, values.split_whitespace().map(|v| v.parse().expect("a number")).collect())
}

/// What is wrong with `got`, where `expected` is right; numbers may differ by the rounding of their type.
pub(crate) fn difference(got: &str, expected: &str) -> Option<String> {
    let ((head, got), (expected_head, expected)) = (parsed(got), parsed(expected));
    if head != expected_head || got.len() != expected.len() {
        return Some(format!("got {head}, expected {expected_head}"));
    }
    let tolerance = match head.split(' ').nth(2) {
        Some("f32") => 1e-5,
        Some("bf16") => 1.0 / 64.0,
        _ => 0.0,
    };
    oxidnn_judge::differ(&got, &expected, Bound::near(tolerance)).map(|d| d.to_string())
}
