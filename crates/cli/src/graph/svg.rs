//! Graphs as drawings: operations in layers from top to bottom, those of a partition in its colour.

use oxidnn_graph::Graph;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Sizes of a box and of the room around it, in pixels.
const WIDE: usize = 168;
const HIGH: usize = 34;
const GAP: [usize; 2] = [20, 30];

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// A colour that neighbours of a partition do not have: hues a golden angle apart.
fn colour(i: usize) -> String {
    format!("hsl({}, 60%, 86%)", i * 137 % 360)
}

/// The layer of each operation: one more than those that it waits for.
fn layers(graph: &Graph) -> Vec<usize> {
    let mut of = vec![0usize; graph.ops().len()];
    let writer: BTreeMap<usize, usize> =
        graph.ops().iter().enumerate().flat_map(|(i, op)| op.outputs.iter().map(move |lt| (lt.id, i))).collect();
    for (i, op) in graph.ops().iter().enumerate() {
        of[i] = op.inputs.iter().filter_map(|lt| writer.get(&lt.id)).map(|&w| of[w] + 1).max().unwrap_or(0);
    }
    of
}

/// The graph with its partitions.
pub(super) fn text(graph: &Graph) -> String {
    let layer = layers(graph);
    let mut widths: Vec<usize> = vec![0; layer.iter().max().map_or(0, |l| l + 1)];
    let mut at = Vec::with_capacity(layer.len());
    for &l in &layer {
        at.push((GAP[0] + widths[l] * (WIDE + GAP[0]), GAP[1] + l * (HIGH + GAP[1])));
        widths[l] += 1;
    }
    let wide = GAP[0] + widths.iter().max().unwrap_or(&0) * (WIDE + GAP[0]);
    let high = GAP[1] + widths.len() * (HIGH + GAP[1]);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{wide}\" height=\"{high}\" font-family=\"sans-serif\" font-size=\"11\">\n"
    );
    for (i, op) in graph.ops().iter().enumerate() {
        for lt in &op.inputs {
            let from = graph.ops().iter().position(|o| o.outputs.iter().any(|out| out.id == lt.id));
            let Some(from) = from else { continue };
            let ((x, y), (u, v)) = (at[from], at[i]);
            let (x, y, u) = (x + WIDE / 2, y + HIGH, u + WIDE / 2);
            let (dims, middle) = (lt.dims.map_or("?".to_string(), |d| d.to_string()), (y + v) / 2);
            _ = writeln!(
                out,
                "<path d=\"M{x} {y} C{x} {middle} {u} {middle} {u} {v}\" fill=\"none\" stroke=\"#777\"><title>{} {}</title></path>",
                lt.id,
                escaped(&dims)
            );
        }
    }
    for (p, partition) in graph.partitions().iter().enumerate() {
        let dashed = if partition.refusal().is_some() { " stroke-dasharray=\"4\"" } else { "" };
        for op in partition.ops() {
            let Some(i) = graph.ops().iter().position(|o| o.id == op.id) else { continue };
            let (x, y) = at[i];
            let title = format!("partition {}: {}", partition.id(), partition.pattern());
            _ = writeln!(
                out,
                "<g><title>{}</title><rect x=\"{x}\" y=\"{y}\" width=\"{WIDE}\" height=\"{HIGH}\" rx=\"5\" fill=\"{}\" stroke=\"#555\"{dashed}/>\
                 <text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{} {}</text></g>",
                escaped(&title),
                colour(p),
                x + WIDE / 2,
                y + HIGH / 2 + 4,
                op.id,
                escaped(op.kind.name())
            );
        }
    }
    out.push_str("</svg>");
    out
}
