//! What the headers declare, as a C++ compiler sees it: a program with a line for each name prints types, values and offsets.

use super::headers::{Headers, output, run};
use anyhow::{Context, Result, bail};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Command;

/// The headers whose declarations `libdnnl.so.3` exports.
const HEADERS: [&str; 5] = ["dnnl.h", "dnnl_debug.h", "dnnl_threadpool.h", "oneapi/dnnl/dnnl_graph.h", "oneapi/dnnl/dnnl_ukernel.h"];
/// Declarations that a default build of oneDNN hides.
const EXPERIMENTS: [&str; 3] = ["DNNL_EXPERIMENTAL_UKERNEL", "DNNL_EXPERIMENTAL_PROFILING", "DNNL_EXPERIMENTAL_GROUPED_MEMORY=1"];

/// One parameter or result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Type {
    /// How a value is passed: `p` for an address, `i32`, `u64`, `f32`, `v` for none.
    pub(super) passed: String,
    /// What lies at an address: as `passed`, `s` for a record, empty where it is not known.
    pub(super) pointed: String,
    /// The type as C++ writes it.
    pub(super) written: String,
}

/// A function's result and parameters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Function {
    pub(super) result: Type,
    pub(super) arguments: Vec<Type>,
}

/// Everything that the headers say.
#[derive(Default, Debug)]
pub(super) struct Facts {
    pub(super) functions: BTreeMap<String, Function>,
    /// Value by enumeration and name.
    pub(super) enumerators: BTreeMap<(String, String), i64>,
    pub(super) constants: BTreeMap<String, i64>,
    pub(super) sizes: BTreeMap<String, usize>,
    pub(super) offsets: BTreeMap<(String, String), usize>,
}

/// Where the compiler looks and writes.
pub(super) struct Probe {
    /// Include folders.
    pub(super) include: Vec<PathBuf>,
    /// Headers, in their order.
    pub(super) headers: Vec<PathBuf>,
    /// How names of functions begin.
    pub(super) beginnings: &'static [&'static str],
    /// A folder for the program.
    pub(super) folder: PathBuf,
}

impl Probe {
    /// A probe of oneDNN's headers, and of our own, whose functions are exported too.
    pub(super) fn onednn(headers: &Headers, own: PathBuf, folder: PathBuf) -> Probe {
        let headers_of_library = HEADERS.iter().map(PathBuf::from).chain([own]).collect();
        Probe { include: vec![headers.include.clone()], headers: headers_of_library, beginnings: &["dnnl_", "oxidnn_"], folder }
    }

    /// Asks the compiler for all functions and enumerators, and for the given constants and fields of records.
    ///
    /// # Errors
    /// When there is no C++ compiler, or it refuses the headers.
    pub(super) fn facts(&self, constants: &[&str], fields: &[(&str, &str)]) -> Result<Facts> {
        std::fs::create_dir_all(&self.folder)?;
        let text = self.preprocessed()?;
        let mut lines = String::new();
        for name in functions(&text, self.beginnings) {
            writeln!(lines, "    FUNCTION({name})")?;
        }
        for (kind, name) in enumerators(&text).into_iter().filter(|e| self.beginnings.iter().any(|b| e.0.starts_with(b))) {
            writeln!(lines, "    ENUMERATOR({kind}, {name})")?;
        }
        for name in constants {
            writeln!(lines, "    CONSTANT(\"{name}\", {name})")?;
        }
        for record in fields.iter().map(|(record, _)| record).collect::<BTreeSet<_>>() {
            writeln!(lines, "    SIZE({record})")?;
        }
        for (record, field) in fields {
            writeln!(lines, "    OFFSET({record}, {field})")?;
        }
        let (source, program) = (self.folder.join("probe.cpp"), self.folder.join("probe"));
        std::fs::write(self.folder.join("probe.hpp"), include_str!("probe.hpp"))?;
        std::fs::write(&source, format!("#include \"probe.hpp\"\n\nint main() {{\n{lines}}}\n"))?;
        run(self.compiler().args(["-std=c++17", "-O0", "-o"]).arg(&program).arg(&source))?;
        Facts::parse(&output(&mut Command::new(&program))?)
    }

    fn compiler(&self) -> Command {
        let mut compiler = Command::new(std::env::var_os("CXX").unwrap_or_else(|| "g++".into()));
        for folder in &self.include {
            compiler.arg("-isystem").arg(folder);
        }
        compiler.arg("-Wno-deprecated-declarations").arg("-I").arg(&self.folder);
        compiler.args(EXPERIMENTS.iter().map(|e| format!("-D{e}")));
        compiler
    }

    /// The headers' own text after the preprocessor.
    fn preprocessed(&self) -> Result<String> {
        let source = self.folder.join("declarations.hpp");
        let names = self.headers.iter().map(|h| format!("#include \"{}\"\n", h.display()));
        std::fs::write(&source, names.collect::<String>())?;
        output(self.compiler().args(["-std=c++17", "-E", "-P", "-x", "c++"]).arg(&source))
    }
}

impl Facts {
    fn parse(lines: &str) -> Result<Facts> {
        let mut facts = Facts::default();
        for line in lines.lines() {
            let fields: Vec<&str> = line.split('\t').collect();
            match fields[..] {
                ["function", name, result, ref arguments @ ..] => {
                    let arguments = arguments.iter().map(|a| parse_type(a)).collect::<Result<_>>()?;
                    facts.functions.insert(name.into(), Function { result: parse_type(result)?, arguments });
                }
                ["enumerator", kind, name, value] => drop(facts.enumerators.insert((kind.into(), name.into()), value.parse()?)),
                ["constant", name, value] => drop(facts.constants.insert(name.into(), value.parse()?)),
                ["size", record, bytes] => drop(facts.sizes.insert(record.into(), bytes.parse()?)),
                ["offset", record, field, bytes] => drop(facts.offsets.insert((record.into(), field.into()), bytes.parse()?)),
                _ => bail!("the program about the headers printed `{line}`"),
            }
        }
        Ok(facts)
    }
}

fn parse_type(text: &str) -> Result<Type> {
    let mut parts = text.splitn(3, '|').map(String::from);
    let mut next = || parts.next().with_context(|| format!("`{text}` is no type"));
    Ok(Type { passed: next()?, pointed: next()?, written: next()? })
}

/// Names of all functions with these beginnings: an identifier before a parenthesis, at the top level.
fn functions<'a>(text: &'a str, beginnings: &'a [&str]) -> BTreeSet<&'a str> {
    let called = |at: usize| {
        let name = &text[at..at + word_len(&text[at..])];
        text[at + name.len()..].trim_start().starts_with('(').then_some(name)
    };
    beginnings.iter().flat_map(|beginning| words(text, beginning)).filter_map(called).collect()
}

/// Every enumerator with the name of its type.
fn enumerators(text: &str) -> Vec<(&str, &str)> {
    let mut all = Vec::new();
    for part in text.split("typedef enum").skip(1) {
        let Some((body, rest)) = part.split_once('{').and_then(|(_, p)| p.split_once('}')) else { continue };
        let Some((kind, _)) = rest.split_once(';') else { continue };
        let names = body.split(',').filter_map(|e| e.split('=').next()?.split_whitespace().next());
        all.extend(names.map(|n| (kind.trim(), n)));
    }
    all
}

/// Where words with this beginning begin.
fn words<'a>(text: &'a str, beginning: &'a str) -> impl Iterator<Item = usize> + 'a {
    let inside = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(beginning).map(|(at, _)| at).filter(move |&at| !text[..at].ends_with(inside))
}

fn word_len(text: &str) -> usize {
    text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len())
}

#[cfg(test)]
mod tests;
