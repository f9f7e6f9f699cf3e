//! The C interfaces against the headers: what a compiler reads in `onednn-devel` is compared with what the library exports, with the
//! types in its source, and with the tables of `oxidnn-c-common`; and so is cuDNN's (`cudnn`). Anything that differs is a line, and any line fails.

mod cudnn;
mod exports;
mod facts;
pub(crate) mod headers;
mod rust;
mod values;

use crate::dist;
use crate::tree::Tree;
use anyhow::{Result, bail};
use facts::{Facts, Function, Probe, Type};
use headers::Headers;
use std::collections::{BTreeMap, BTreeSet};

#[cfg(test)]
mod tests;

/// Where the exported functions are written.
const SOURCE: &str = "crates/c-dnnl/src/";
/// The header of our own functions.
const HEADER: &str = "crates/c-dnnl/include/oxidnn_dnnl.h";
/// Exported symbols that no header declares.
const SYMBOLS: &str = "crates/c-dnnl/symbols.txt";

/// Everything that is compared.
struct Interface {
    /// What the headers say.
    facts: Facts,
    /// What the source of the library says.
    source: BTreeMap<String, Function>,
    /// What the library exports.
    exported: BTreeSet<String>,
    /// What it exports besides.
    listed: BTreeSet<String>,
}

/// One comparison: what it looks at, and the function that lists the differences.
struct Comparison {
    name: &'static str,
    compare: fn(&Interface) -> Vec<String>,
}

const COMPARISONS: &[Comparison] = &[
    Comparison {
        name: "exported symbols",
        compare: |i| exports::compare(&i.facts.functions.keys().cloned().collect(), &i.listed, &i.exported),
    },
    Comparison { name: "function types", compare: |i| function_types(&i.facts.functions, &i.source) },
    Comparison { name: "records", compare: |i| values::records(&i.facts) },
    Comparison { name: "enumerators", compare: |i| values::enumerators(&i.facts) },
    Comparison { name: "constants", compare: |i| values::constants(&i.facts) },
];

/// Builds the libraries and compares.
///
/// # Errors
/// The differences, or what is missing to find them.
pub(crate) fn run_all(tree: &Tree) -> Result<()> {
    onednn(tree)?;
    cudnn::run(tree)
}

fn onednn(tree: &Tree) -> Result<()> {
    let headers = Headers::find(tree)?;
    let probe = Probe::onednn(&headers, tree.root().join(HEADER), tree.root().join("target/abi"));
    let interface = Interface {
        facts: probe.facts(&values::constant_names(), &values::fields())?,
        source: source(tree, SOURCE)?,
        exported: exports::exports(&dist::build(tree, false)?)?,
        listed: exports::listed(&tree.read(SYMBOLS)?),
    };
    let mut wrong = Vec::new();
    for comparison in COMPARISONS {
        let found = (comparison.compare)(&interface);
        println!("xtask abi: {}: {}", comparison.name, if found.is_empty() { "as in the headers" } else { "different" });
        wrong.extend(found);
    }
    if wrong.is_empty() {
        println!("xtask abi: {} functions of the headers, {} other symbols", interface.facts.functions.len(), interface.listed.len());
        return Ok(());
    }
    bail!("{}\nxtask abi: {} found, against {}", wrong.join("\n"), wrong.len(), headers.include.display())
}

/// Every exported function of a crate's source.
fn source(tree: &Tree, folder: &str) -> Result<BTreeMap<String, Function>> {
    let mut all = BTreeMap::new();
    for (file, text) in tree.rust()?.iter().filter(|(file, _)| file.starts_with(folder)) {
        all.extend(rust::functions(file, text)?);
    }
    Ok(all)
}

/// Functions whose types in the source pass other values than those in the headers.
fn function_types(declared: &BTreeMap<String, Function>, source: &BTreeMap<String, Function>) -> Vec<String> {
    let mut wrong = Vec::new();
    for (name, declared) in declared {
        let Some(ours) = source.get(name) else { continue };
        if declared.arguments.len() != ours.arguments.len() {
            wrong.push(format!("{name}: {} arguments, {} in the header", ours.arguments.len(), declared.arguments.len()));
        }
        let mut pairs = vec![("the result".to_owned(), &declared.result, &ours.result)];
        pairs.extend(declared.arguments.iter().zip(&ours.arguments).enumerate().map(|(i, (d, o))| (format!("argument {}", i + 1), d, o)));
        for (what, declared, ours) in pairs.iter().filter(|(_, declared, ours)| !passes_same(declared, ours)) {
            wrong.push(format!("{name}: {what} is {}, {} in the header", ours.written, declared.written));
        }
    }
    wrong
}

/// Whether two types pass the same bits, as far as they say what they point to.
fn passes_same(declared: &Type, ours: &Type) -> bool {
    let known = !declared.pointed.is_empty() && !ours.pointed.is_empty();
    // Text is bytes to Rust.
    let text = declared.written == "char const*" && ours.pointed == "u8";
    declared.passed == ours.passed && (!known || text || declared.pointed == ours.pointed)
}
