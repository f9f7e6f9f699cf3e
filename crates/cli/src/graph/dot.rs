//! Graphs in the language of Graphviz: a cluster a partition.

use oxidnn_graph::{Graph, LogicalTensor};
use std::fmt::Write;

fn label(lt: &LogicalTensor) -> String {
    let dims = lt.dims.map_or("?".to_string(), |d| d.to_string());
    format!("{} {dims}", lt.dtype.map_or("?", |d| d.name()))
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// The graph with its partitions.
pub(super) fn text(graph: &Graph) -> String {
    let mut out = String::from("digraph graph_ {\n  node [shape=box, fontname=\"sans-serif\"];\n");
    for partition in graph.partitions() {
        let title = format!("{} {}", partition.id(), partition.pattern());
        _ = writeln!(out, "  subgraph cluster_{} {{\n    label={};", partition.id(), quoted(&title));
        if partition.refusal().is_some() {
            out.push_str("    style=dashed;\n");
        }
        for op in partition.ops() {
            _ = writeln!(out, "    op{} [label={}];", op.id, quoted(&format!("{} {}", op.id, op.kind.name())));
        }
        out.push_str("  }\n");
    }
    for op in graph.ops() {
        for lt in &op.inputs {
            let from = graph.ops().iter().find(|o| o.outputs.iter().any(|out| out.id == lt.id));
            let from = match from {
                Some(from) => format!("op{}", from.id),
                None => {
                    _ = writeln!(out, "  t{} [shape=ellipse, label={}];", lt.id, quoted(&label(lt)));
                    format!("t{}", lt.id)
                }
            };
            _ = writeln!(out, "  {from} -> op{} [label={}];", op.id, quoted(&lt.id.to_string()));
        }
    }
    out.push('}');
    out
}
