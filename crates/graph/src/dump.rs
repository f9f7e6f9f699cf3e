//! Graphs and partitions as text: JSON files in the working directory, which benchdnn and visualisers read, and fields of verbose lines.

#[cfg(test)]
mod tests;

use crate::{AttrId, AttrValue, Graph, LayoutType, LogicalTensor, Op, Partition, Property, UNKNOWN};
use oxidnn_runtime::{EngineKind, fork, knobs, verbose};
use oxidnn_spec::{FpMath, FpMathMode, Real};
use std::collections::hash_map::DefaultHasher;
use std::fmt::Write;
use std::hash::{Hash, Hasher};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering};

/// Which files are written.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct DumpMode {
    /// `graph-NUMBER.json` of each graph, and `graph-NUMBER-partitioning.json` with the partition of each operation.
    pub graph: bool,
    /// `graph-NUMBER-HASH.json` of each partition that is compiled.
    pub subgraph: bool,
}

fn chosen() -> &'static AtomicU8 {
    static CHOSEN: OnceLock<AtomicU8> = OnceLock::new();
    fork::once(&CHOSEN, || {
        let [graph, subgraph] = knobs::get().graph_dump;
        AtomicU8::new(bits(DumpMode { graph, subgraph }))
    })
}

fn bits(mode: DumpMode) -> u8 {
    u8::from(mode.graph) | u8::from(mode.subgraph) << 1
}

/// Chooses the files, whatever the environment says.
pub fn set_dump_mode(mode: DumpMode) {
    chosen().store(bits(mode), Ordering::Relaxed);
}

/// Writes a graph whose partitions were just made.
pub(crate) fn graph(graph: &Graph) {
    if chosen().load(Ordering::Relaxed) & 1 == 0 {
        return;
    }
    let head = Head { engine_kind: graph.engine_kind(), fpmath: graph.fpmath() };
    write(&format!("graph-{}.json", graph.id()), &head.json(graph.ops(), |_| None));
    let partition = |op: &Op| graph.partitions().iter().find(|p| p.ops().iter().any(|o| o.id == op.id)).map(Partition::id);
    write(&format!("graph-{}-partitioning.json", graph.id()), &head.json(graph.ops(), partition));
}

/// Writes a partition that is compiled, its operations as described then.
pub(crate) fn partition(partition: &Partition, ops: &[Op]) {
    if chosen().load(Ordering::Relaxed) & 2 == 0 {
        return;
    }
    let head = Head { engine_kind: partition.engine_kind(), fpmath: partition.numerics().fpmath };
    let mut hasher = DefaultHasher::new();
    ops.hash(&mut hasher);
    write(&format!("graph-{}-{}.json", partition.id(), hasher.finish()), &head.json(ops, |_| None));
}

fn write(name: &str, text: &str) {
    match std::fs::write(name, text) {
        Ok(()) => verbose::info("graph", &format!("serialize graph to a json file {name}")),
        Err(e) => verbose::info("graph", &format!("the file {name} cannot be written: {e}")),
    }
}

/// The text before the operations.
struct Head {
    engine_kind: EngineKind,
    fpmath: FpMath,
}

fn fpmath(mode: FpMathMode) -> &'static str {
    match mode {
        FpMathMode::Strict => "strict",
        FpMathMode::Bf16 => "bf16",
        FpMathMode::F16 => "f16",
        FpMathMode::Tf32 => "tf32",
        FpMathMode::Any => "any",
    }
}

impl Head {
    fn json(&self, ops: &[Op], partition: impl Fn(&Op) -> Option<usize>) -> String {
        let made = |id: usize| ops.iter().any(|o| o.outputs.iter().any(|lt| lt.id == id));
        let read = |id: usize| ops.iter().any(|o| o.inputs.iter().any(|lt| lt.id == id));
        let unique = |ids: Vec<usize>| {
            let mut out: Vec<String> = Vec::new();
            ids.into_iter().map(|i| i.to_string()).for_each(|i| {
                if !out.contains(&i) {
                    out.push(i);
                }
            });
            out.join(", ")
        };
        let ids = |ports: fn(&Op) -> &[LogicalTensor]| ops.iter().flat_map(ports).map(|lt| lt.id);
        let inputs = unique(ids(|o| &o.inputs).filter(|&i| !made(i)).collect());
        let outputs = unique(ids(|o| &o.outputs).filter(|&i| !read(i)).collect());
        let ops: Vec<String> = ops.iter().map(|o| op(o, partition(o))).collect();
        format!(
            "{{\n  \"version\": \"{}\",\n  \"engine_kind\": \"{}\",\n  \"fpmath_mode\": \"{}\",\n  \"fpmath_mode_apply_to_int\": \"{}\",\n  \
             \"input_ports\": [{inputs}],\n  \"output_ports\": [{outputs}],\n  \"graph\": [\n{}\n  ]\n}}\n",
            verbose::SPECIFICATION,
            self.engine_kind,
            fpmath(self.fpmath.mode),
            self.fpmath.apply_to_int,
            ops.join(",\n")
        )
    }
}

fn op(op: &Op, partition: Option<usize>) -> String {
    let mut attrs: Vec<String> = op.attrs.iter().map(|(id, v)| attr(id.name(), v)).collect();
    if let Some(id) = partition {
        attrs.push(attr("partition_id", &AttrValue::Text(id.to_string())));
        attrs.push(attr("backend", &AttrValue::Text(BACKEND.into())));
    }
    let tensors = |list: &[LogicalTensor]| list.iter().map(tensor).collect::<Vec<_>>().join(",\n");
    format!(
        "    {{\n      \"id\": {},\n      \"name\": {},\n      \"kind\": \"{}\",\n      \"attrs\": {{\n{}\n      }},\n      \"inputs\": [\n{}\n      ],\n      \
         \"outputs\": [\n{}\n      ]\n    }}",
        op.id,
        quoted(&op.name),
        op.kind.name(),
        attrs.join(",\n"),
        tensors(&op.inputs),
        tensors(&op.outputs)
    )
}

fn attr(name: &str, value: &AttrValue) -> String {
    let (kind, value) = match value {
        AttrValue::F32(v) => ("f32", number(*v)),
        AttrValue::F32s(v) => ("f32[]", format!("[{}]", v.iter().map(|v| number(*v)).collect::<Vec<_>>().join(", "))),
        AttrValue::S64(v) => ("s64", v.to_string()),
        AttrValue::S64s(v) => ("s64[]", format!("{v:?}")),
        AttrValue::Bool(v) => ("bool", u8::from(*v).to_string()),
        AttrValue::Text(v) => ("string", quoted(v)),
    };
    format!("        \"{name}\": {{\"type\": \"{kind}\", \"value\": {value}}}")
}

/// JSON has no infinities: the largest numbers stand for them.
fn number(v: Real) -> String {
    v.get().clamp(f32::MIN, f32::MAX).to_string()
}

fn layout(lt: &LogicalTensor) -> &'static str {
    match lt.layout {
        LayoutType::Undef => "undef",
        LayoutType::Any => "any",
        LayoutType::Strided => "strided",
        LayoutType::Opaque(_) => "opaque",
    }
}

fn property(lt: &LogicalTensor) -> &'static str {
    match lt.property {
        Property::Undef => "undef",
        Property::Variable => "variable",
        Property::Constant => "constant",
        Property::HostScalar => "host_scalar",
    }
}

fn tensor(lt: &LogicalTensor) -> String {
    let shape = lt.dims.map_or(format!("[{UNKNOWN}]"), |d| format!("{:?}", &d[..]));
    let stride = if lt.layout == LayoutType::Strided { format!("{:?}", &lt.strides[..]) } else { format!("[{UNKNOWN}]") };
    format!(
        "        {{\"id\": {}, \"dtype\": \"{}\", \"shape\": {shape}, \"stride\": {stride}, \"layout_type\": \"{}\", \"property_type\": \"{}\"}}",
        lt.id,
        lt.dtype.map_or("undef", |d| d.name()),
        layout(lt),
        property(lt)
    )
}

/// `text` as a JSON string.
fn quoted(text: &str) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c < ' ' => _ = write!(out, "\\u{:04x}", c as u32),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// The name that clients know the library's own implementation of partitions by.
const BACKEND: &str = "dnnl_backend";

/// The fields of a verbose line between the engine and the time.
pub(crate) fn profile(partition: &Partition, ops: &[Op], ports: &[Vec<LogicalTensor>; 2], scratch: usize) -> String {
    let mut formats: Vec<String> = Vec::new();
    for op in ops {
        for (id, name) in [(AttrId::DataFormat, "data"), (AttrId::WeightsFormat, "filter")] {
            let format = format!("{name}:{}", op.text(id));
            if op.attrs.contains_key(&id) && !formats.contains(&format) {
                formats.push(format);
            }
        }
    }
    let port = |kind: &str, i: usize, lt: &LogicalTensor| {
        let dims = lt.dims.map_or(String::new(), |d| d.to_string());
        let strides: Vec<String> = lt.strides.iter().map(i64::to_string).collect();
        let dtype = lt.dtype.map_or("undef", |d| d.name());
        format!("{kind}{i}_{dtype}:{}:{}:{}:{dims}:{}", lt.id, layout(lt), property(lt), strides.join("s"))
    };
    let inputs = ports[0].iter().enumerate().map(|(i, lt)| port("in", i, lt));
    let tensors: Vec<String> = inputs.chain(ports[1].iter().enumerate().map(|(i, lt)| port("out", i, lt))).collect();
    let names: Vec<String> = ops.iter().map(|op| op.name.replace([',', '\n'], ";")).collect();
    let kinds: Vec<&str> = ops.iter().map(|op| op.kind.name()).collect();
    let math = partition.numerics().fpmath;
    let apply = if math.apply_to_int { ":true" } else { "" };
    format!(
        "{},{},{},{},{},fpm:{}{apply},scratchpad:{scratch},oxidnn,{BACKEND}",
        partition.id(),
        kinds.join(";"),
        names.join(";"),
        formats.join(" "),
        tensors.join(" "),
        fpmath(math.mode)
    )
}
