//! The README's tables of primitives, written from [`oxidnn_spec::op::support`], so that they say what the check accepts.

use crate::tree::Tree;
use anyhow::{Context, Result, ensure};
use oxidnn_spec::op::{Prop, Support, support};
use oxidnn_spec::{Arg, DataType};

#[cfg(test)]
mod tests;

const FILE: &str = "README.md";

/// A table, between markers with its name.
struct Table {
    name: &'static str,
    text: fn() -> String,
}

const TABLES: &[Table] = &[Table { name: "types", text: types }, Table { name: "attributes", text: attributes }];

/// Groups of data types, a column each.
const COLUMNS: &[(&str, &[DataType])] = &[
    ("f64", &[DataType::F64]),
    ("f32", &[DataType::F32]),
    ("bf16", &[DataType::Bf16]),
    ("f16", &[DataType::F16]),
    ("f8", &[DataType::F8E5m2, DataType::F8E4m3]),
    ("f4", &[DataType::F4E2m1, DataType::F4E3m0]),
    ("s32", &[DataType::S32]),
    ("s8 u8", &[DataType::S8, DataType::U8]),
    ("s4 u4", &[DataType::S4, DataType::U4]),
];

/// Columns of the specification's tables whose types the README shows.
const SHOWN: &[&str] = &["src", "src_layer", "q", "weights"];

/// Writes the tables between their markers.
pub(crate) fn write(tree: &Tree) -> Result<()> {
    let fresh = with_tables(&tree.read(FILE)?)?;
    std::fs::write(tree.root().join(FILE), fresh).context(FILE)
}

/// The tables are those that [`write()`] would write.
pub(crate) fn check(tree: &Tree) -> Result<Vec<String>> {
    let text = tree.read(FILE)?;
    let stale = with_tables(&text)? != text;
    Ok(Vec::from_iter(stale.then(|| format!("{FILE}: its tables are stale; run `cargo xtask readme`"))))
}

/// `text` with fresh tables.
fn with_tables(text: &str) -> Result<String> {
    let mut text = text.to_owned();
    for Table { name, text: table } in TABLES {
        let (open, close) = (format!("<!-- {name}: cargo xtask readme -->\n"), format!("<!-- end of {name} -->"));
        let start = text.find(&open).with_context(|| format!("{FILE}: no `{}`", open.trim_end()))? + open.len();
        let end = text.find(&close).with_context(|| format!("{FILE}: no `{close}`"))?;
        ensure!(start <= end, "{FILE}: the markers of {name} are in the wrong order");
        text.replace_range(start..end, &table());
    }
    Ok(text)
}

fn table<'a>(head: impl IntoIterator<Item = &'a str>, rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let head: Vec<&str> = head.into_iter().collect();
    let mut out = format!("| {} |\n|{}\n", head.join(" | "), "---|".repeat(head.len()));
    for row in rows {
        out += &format!("| {} |\n", row.join(" | "));
    }
    out
}

/// Primitives by data types; cells are passes.
fn types() -> String {
    let rows = support().iter().map(|s| {
        let cells = COLUMNS.iter().map(|(_, types)| passes(s, types));
        std::iter::once(name(s)).chain(cells).collect()
    });
    table(std::iter::once("primitive").chain(COLUMNS.iter().map(|c| c.0)), rows)
}

fn name(s: &Support) -> String {
    s.kind.replace('_', " ")
}

/// The passes of `s` in which the source or the weights may have one of `types`, a letter each.
fn passes(s: &Support, types: &[DataType]) -> String {
    let has = |prop: Option<Prop>| {
        s.types.rows.iter().filter(|r| r.pass.covers(prop)).any(|r| {
            let columns = s.types.columns.iter().zip(r.types).filter(|(c, _)| SHOWN.contains(c));
            columns.into_iter().any(|(_, set)| types.iter().any(|&t| set.contains(t)))
        })
    };
    if s.props.is_empty() {
        return if has(None) { "F".into() } else { String::new() };
    }
    let letters: Vec<&str> = s.props.iter().filter(|&&p| has(Some(p))).map(|&p| letter(p)).collect();
    // What takes training takes inference.
    let shown: Vec<&str> = letters.iter().copied().filter(|&l| l != "I" || !letters.contains(&"F")).collect();
    shown.join(" ")
}

const fn letter(prop: Prop) -> &'static str {
    match prop {
        Prop::ForwardTraining => "F",
        Prop::ForwardInference => "I",
        Prop::Backward => "B",
        Prop::BackwardData => "D",
        Prop::BackwardWeights => "W",
    }
}

/// Primitives by attributes.
fn attributes() -> String {
    let rows = support().iter().map(|s| {
        let a = s.attr;
        let p = a.post_ops;
        let post_ops = [(p.sum, "sum"), (p.eltwise, "eltwise"), (p.binary, "binary"), (p.prelu, "prelu"), (p.depthwise, "depthwise")];
        let more = [
            (a.groups, "groups"),
            (a.accumulation, "accumulation"),
            (a.dropout, "dropout"),
            (a.rounding, "stochastic rounding"),
            (s.kind == "rnn", "quantisation of data and weights"),
        ];
        vec![name(s), chosen(&post_ops), arguments(a.scales), arguments(a.zero_points), chosen(&more)]
    });
    table(["primitive", "post-ops", "scales", "zero points", "more"], rows)
}

fn chosen(all: &[(bool, &str)]) -> String {
    all.iter().filter(|c| c.0).map(|c| c.1).collect::<Vec<_>>().join(", ")
}

fn arguments<M>(quantised: &[(Arg, M)]) -> String {
    let name = |arg: Arg| if arg.multiple_src_index().is_some() { "every source".to_owned() } else { arg.to_string() };
    quantised.iter().map(|(arg, _)| name(*arg)).collect::<Vec<_>>().join(", ")
}
