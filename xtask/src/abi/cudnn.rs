//! cuDNN's interface against the headers of PyPI's `nvidia-cudnn-cu13`: exports and their version, types of functions, enumerators, sizes.

use super::facts::{Facts, Probe};
use super::headers::{output, run as execute};
use super::{function_types, source};
use crate::dist;
use crate::tree::Tree;
use anyhow::{Context, Result, bail, ensure};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The packages with the headers, which say cuDNN 9.27.
const PACKAGES: [&str; 3] = ["nvidia-cudnn-cu13==9.27.0.42", "nvidia-cuda-runtime==13.5.37", "nvidia-cuda-crt==13.5.37"];
/// Names include folders that are taken instead, separated by colons.
const VARIABLE: &str = "OXIDNN_CUDNN_INCLUDE";
const HEADERS: [&str; 3] = ["cudnn.h", "cudnn_subquadratic_ops.h", "cudnn_gnn_ops.h"];
/// Where the exported functions are written, and the tables of enumerators.
const SOURCE: &str = "crates/c-cudnn/src/";
const ENUMERATORS: &str = "crates/c-cudnn/src/enums/";
/// What the version of each symbol is called.
const NODE: &str = "@@libcudnn.so.9";
/// Exports that no header declares, which cuDNN has.
const UNDECLARED: [&str; 4] = ["cudnnGetBackdoor", "cudnnSetBackdoor", "cudnnSetBackdoorEx", "cudnnGetRNNDropoutLocationsInternal"];
/// Records that the source lays out itself, with their sizes.
const RECORDS: [(&str, &str, usize); 4] = [
    ("cudnnDebug_t", "cudnn_version", 120),
    ("cudnnConvolutionFwdAlgoPerf_t", "algo", 48),
    ("cudnnConvolutionBwdDataAlgoPerf_t", "algo", 48),
    ("cudnnConvolutionBwdFilterAlgoPerf_t", "algo", 48),
];

/// Builds the library and compares.
///
/// # Errors
/// The differences, or what is missing to find them.
pub(super) fn run(tree: &Tree) -> Result<()> {
    let include = include(tree)?;
    let probe = Probe {
        include: include.clone(),
        headers: HEADERS.iter().map(PathBuf::from).collect(),
        beginnings: &["cudnn"],
        folder: tree.root().join("target/abi-cudnn"),
    };
    let facts = probe.facts(&[], &RECORDS.map(|(record, field, _)| (record, field)))?;
    let library = dist::build_of(tree, false, ["oxidnn-c-cudnn", "libcudnn.so"])?;
    let mut wrong = exports(&facts, &library)?;
    wrong.extend(function_types(&facts.functions, &source(tree, SOURCE)?));
    wrong.extend(enumerators(&facts, &tables(tree)?));
    let sizes = RECORDS.iter().filter(|(record, _, bytes)| facts.sizes.get(*record) != Some(bytes));
    wrong.extend(sizes.map(|(record, _, bytes)| format!("{record}: {bytes} bytes, {:?} in the header", facts.sizes.get(*record))));
    if !wrong.is_empty() {
        bail!("{}\nxtask abi: {} found, against {include:?}", wrong.join("\n"), wrong.len());
    }
    println!("xtask abi: cuDNN: {} functions, {} enumerators", facts.functions.len(), facts.enumerators.len());
    Ok(())
}

/// The include folders: those that the environment names, else the packages', downloaded with `pip`. What is no header is thrown away.
fn include(tree: &Tree) -> Result<Vec<PathBuf>> {
    if let Some(folders) = std::env::var_os(VARIABLE) {
        return Ok(std::env::split_paths(&folders).collect());
    }
    let folder = tree.root().join("target/cudnn-headers");
    let include = vec![folder.join("nvidia/cudnn/include"), folder.join("nvidia/cu13/include")];
    if include[0].join("cudnn.h").is_file() && include[1].join("crt/host_defines.h").is_file() {
        return Ok(include);
    }
    std::fs::create_dir_all(&folder)?;
    for package in PACKAGES {
        download(&folder, package)
            .with_context(|| format!("the headers of {package}: let pip reach a package index, or name folders in {VARIABLE}"))?;
    }
    ensure!(include[0].join("cudnn.h").is_file(), "{PACKAGES:?} have no cudnn.h");
    Ok(include)
}

/// Downloads a wheel into `folder`, and keeps its headers.
fn download(folder: &Path, package: &str) -> Result<()> {
    let pip = ["-m", "pip", "--quiet", "--disable-pip-version-check", "download", "--no-deps", "--only-binary=:all:", package];
    execute(Command::new("python3").args(pip).current_dir(folder))?;
    let wheels = std::fs::read_dir(folder)?.filter_map(Result::ok).map(|e| e.path());
    let wheel = wheels.filter(|p| p.extension().is_some_and(|e| e == "whl")).max().context("pip left no wheel")?;
    let unpack = "import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); z.extractall('.', [n for n in z.namelist() if '/include/' in n])";
    execute(Command::new("python3").args(["-c", unpack]).arg(&wheel).current_dir(folder))?;
    Ok(std::fs::remove_file(&wheel)?)
}

/// Names that are not exported with the version, or are though they should not.
fn exports(facts: &Facts, library: &Path) -> Result<Vec<String>> {
    let table = output(Command::new("readelf").args(["-W", "--dyn-syms"]).arg(library))?;
    let defined =
        table.lines().map(|l| l.split_whitespace().collect::<Vec<_>>()).filter(|f| f.len() >= 8 && f[6] != "UND" && f[3] == "FUNC");
    let exported: BTreeSet<String> = defined.map(|f| f[7].to_owned()).collect();
    let declared: BTreeSet<String> = facts.functions.keys().map(String::as_str).chain(UNDECLARED).map(|n| format!("{n}{NODE}")).collect();
    let missing = declared.difference(&exported).map(|n| format!("{n}: declared, not exported"));
    let more = exported.difference(&declared).map(|n| format!("{n}: exported, not declared"));
    Ok(missing.chain(more).collect())
}

/// Value by enumeration and name, as the source's tables have them.
fn tables(tree: &Tree) -> Result<BTreeMap<(String, String), i64>> {
    let mut all = BTreeMap::new();
    for (_, text) in tree.rust()?.iter().filter(|(file, _)| file.starts_with(ENUMERATORS)) {
        let mut kind = String::new();
        for line in text.lines().map(str::trim) {
            if let Some(name) = line.strip_suffix(" {").filter(|n| n.starts_with("cudnn")) {
                kind = name.to_owned();
            } else if let Some((name, value)) = line.strip_suffix(',').and_then(|l| l.split_once(" = ")) {
                all.insert((kind.clone(), name.to_owned()), value.parse().with_context(|| format!("{name} = {value}"))?);
            }
        }
    }
    Ok(all)
}

/// Enumerators that differ.
fn enumerators(facts: &Facts, ours: &BTreeMap<(String, String), i64>) -> Vec<String> {
    let header = facts.enumerators.iter().filter(|((kind, _), _)| kind.starts_with("cudnn"));
    let wrong = header.filter(|(key, value)| ours.get(*key) != Some(value));
    let wrong = wrong
        .map(|((kind, name), value)| format!("{name} of {kind}: {:?}, {value} in the header", ours.get(&(kind.clone(), name.clone()))));
    let more =
        ours.keys().filter(|key| !facts.enumerators.contains_key(*key)).map(|(kind, name)| format!("{name} of {kind}: in no header"));
    wrong.chain(more).collect()
}
