//! The output of a run.

use super::{Findings, PROMISE, net::Net};
use crate::print;
use comfy_table::{CellAlignment, Table};
use oxidnn_runtime::Engine;

/// Digits drawn side by side.
const DRAWN: usize = 6;
/// Brightness of a pixel, dark to white; two characters make about a square.
const SHADES: [&str; 5] = ["  ", "░░", "▒▒", "▓▓", "██"];

/// The findings as one JSON object.
pub(super) fn json(net: &Net, f: &Findings) -> serde_json::Value {
    let primitives: Vec<_> = rows(net, f)
        .map(|r| serde_json::json!({ "layer": r.layer, "primitive": r.primitive, "what": r.note, "impl": r.implementation, "us": r.us, "share": r.share }))
        .collect();
    serde_json::json!({
        "images": f.digits.count(), "right": f.right(), "accuracy": f.accuracy(), "promised": PROMISE, "images_per_second": f.images_per_second,
        "batch": net.batch(), "threads": f.threads, "parameters": net.parameters(), "primitives": primitives
    })
}

/// The findings for people.
pub(super) fn print(engine: &Engine, net: &Net, f: &Findings) {
    let (count, right, accuracy, promise) = (f.digits.count(), f.right(), 100.0 * f.accuracy(), 100.0 * PROMISE);
    print::line(format_args!(
        "Reading {count} handwritten digits with a convolutional net of {} parameters on {engine}\n",
        grouped(net.parameters())
    ));
    draw(f);
    let verdict = if f.accuracy() >= PROMISE { "as promised" } else { "LESS THAN PROMISED" };
    print::line(format_args!("\n  accuracy  {accuracy:.2} %   {right} of {count} right; {verdict}: at least {promise:.0} %"));
    let threads = if f.threads == 1 { "1 thread".to_owned() } else { format!("{} threads", f.threads) };
    print::line(format_args!("  speed     {} images/s   batches of {}, {threads}\n", grouped(f.images_per_second as usize), net.batch()));
    print::line(table(net, f));
}

/// The first digits, and their classes; then the misread ones.
fn draw(f: &Findings) {
    let shown = DRAWN.min(f.digits.count());
    let (height, width) = f.digits.size();
    let shade = |&pixel: &u8| SHADES[usize::from(pixel).div_ceil(4).min(4)];
    for y in 0..height {
        let row = |i: usize| -> String { f.digits.image(i)[y * width..][..width].iter().map(shade).collect() };
        print::line(format_args!("  {}", (0..shown).map(row).collect::<Vec<_>>().join("  ")));
    }
    let caption = |i: usize| {
        let a = f.answers[i];
        format!("{:^1$}", format!("{} ({:.1} %)", a.class, 100.0 * a.probability), 2 * width)
    };
    print::line(format_args!("  {}", (0..shown).map(caption).collect::<Vec<_>>().join("  ").trim_end()));
    let misread = f.answers.iter().enumerate().map(|(i, a)| (f.digits.label(i), a.class)).filter(|(label, class)| label != class);
    let misread: Vec<String> = misread.map(|(label, class)| format!("{label} as {class}")).collect();
    if !misread.is_empty() {
        print::line(format_args!("\n  misread: {}", misread.join(", ")));
    }
}

/// One primitive of the net.
struct Row<'a> {
    layer: &'a str,
    primitive: &'static str,
    note: &'a str,
    implementation: &'static str,
    /// Median time on a batch, microseconds.
    us: f64,
    /// Percent of the time of all.
    share: f64,
}

fn rows<'a>(net: &'a Net, f: &'a Findings) -> impl Iterator<Item = Row<'a>> {
    let total: f64 = f.times.iter().map(|t| t.as_secs_f64()).sum();
    net.steps().iter().zip(net.notes()).zip(&f.times).map(move |((step, note), time)| Row {
        layer: step.name(),
        primitive: step.desc().problem().op.kind(),
        note,
        implementation: step.desc().impl_name(),
        us: time.as_secs_f64() * 1e6,
        share: 100.0 * time.as_secs_f64() / total,
    })
}

fn table(net: &Net, f: &Findings) -> Table {
    let mut table = print::table(["layer", "primitive", "", "implementation", "us/batch", "share"]);
    for r in rows(net, f) {
        let (us, share) = (format!("{:.1}", r.us), format!("{:.1} %", r.share));
        table.add_row([r.layer, r.primitive, r.note, r.implementation, &us, &share]);
    }
    for column in table.column_iter_mut().skip(4) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// The number with a comma between groups of three digits.
fn grouped(n: usize) -> String {
    let digits = n.to_string();
    let comma = |i: usize| if i > 0 && (digits.len() - i).is_multiple_of(3) { "," } else { "" };
    digits.chars().enumerate().map(|(i, c)| format!("{}{c}", comma(i))).collect()
}
