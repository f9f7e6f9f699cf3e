//! The package of `libcudnn.so.9`: the library by all names that linkers, loaders and build systems look for. The headers are NVIDIA's, from NVIDIA's packages.

use super::{build_of, link};
use crate::abi::headers::{output, run};
use crate::tree::Tree;
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The package that is built, and the file that cargo makes of it.
pub(super) const BUILT: [&str; 2] = ["oxidnn-c-cudnn", "libcudnn.so"];
/// The file of the library.
const FILE: &str = "libcudnn.so.9.27.0";
/// The libraries that cuDNN is made of, which programs look for and link with: all are the one.
const PARTS: [&str; 10] = [
    "libcudnn",
    "libcudnn_adv",
    "libcudnn_cnn",
    "libcudnn_engines_precompiled",
    "libcudnn_engines_runtime_compiled",
    "libcudnn_engines_tensor_ir",
    "libcudnn_ext",
    "libcudnn_graph",
    "libcudnn_heuristic",
    "libcudnn_ops",
];
/// What the library may need: the C library's own files.
const NEEDED: [&str; 4] = ["libc.so.6", "libgcc_s.so.1", "libm.so.6", "ld-linux-x86-64.so.2"];

/// Builds, lays out at `out`, and proves that it is found.
///
/// # Errors
/// When a tool is missing, something does not build, or the library is not found by one of its names.
pub(crate) fn dist(tree: &Tree, out: &Path) -> Result<()> {
    let root = lay_out(tree, &build_of(tree, true, BUILT)?, out)?;
    println!("{}: {}", root.display(), proof(&root, &tree.root().join("target/dist-proof"))?);
    println!("{:.2} MB", fs::metadata(root.join("lib").join(FILE))?.len() as f64 / 1e6);
    Ok(())
}

/// Writes the package of `library` to `out`, which is made anew.
pub(super) fn lay_out(tree: &Tree, library: &Path, out: &Path) -> Result<PathBuf> {
    if out.exists() {
        ensure!(out.join("lib").join(FILE).is_file(), "{} is there and is no package of ours", out.display());
        fs::remove_dir_all(out)?;
    }
    let lib = out.join("lib");
    fs::create_dir_all(&lib)?;
    run(Command::new("strip").arg("--strip-unneeded").arg("-o").arg(lib.join(FILE)).arg(library))?;
    for part in PARTS {
        link(FILE, &lib.join(format!("{part}.so.9")))?;
        link(&format!("{part}.so.9"), &lib.join(format!("{part}.so")))?;
    }
    let notices = out.join("share/doc/oxidnn");
    fs::create_dir_all(&notices)?;
    for name in ["LICENSE", "NOTICE"] {
        fs::copy(tree.root().join(name), notices.join(name))?;
    }
    Ok(out.canonicalize()?)
}

/// Loads the library by each of its names, in a process that knows no more than the folder; what that says.
///
/// # Errors
/// When the program does not build, a name is not found, or the library needs what is no part of the system.
pub(super) fn proof(package: &Path, work: &Path) -> Result<String> {
    let dynamic = output(Command::new("readelf").arg("-d").arg(package.join("lib").join(FILE)))?;
    let needed = dynamic.lines().filter(|line| line.contains("(NEEDED)")).filter_map(|line| line.split(['[', ']']).nth(1));
    for library in needed {
        ensure!(NEEDED.contains(&library), "{FILE} needs {library}");
    }
    fs::create_dir_all(work)?;
    let (source, program) = (work.join("names.cpp"), work.join("names"));
    fs::write(&source, include_str!("example/names.cpp"))?;
    run(Command::new("g++").arg("-o").arg(&program).arg(&source).arg("-ldl"))?;
    let names = PARTS.iter().flat_map(|part| [format!("{part}.so"), format!("{part}.so.9")]);
    let text =
        output(Command::new(&program).args(names).env("LD_LIBRARY_PATH", package.join("lib"))).context("the library by its names")?;
    Ok(text.trim().to_owned())
}
