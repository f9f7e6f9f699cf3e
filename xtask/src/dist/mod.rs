//! The package of the C library: `lib/`, `include/`, pkg-config and CMake files, as programs that look for oneDNN expect them.
//!
//! The headers are oneDNN's own, from PyPI's package, with their notices; only the file that says how the library was built is changed, and
//! says so. What was laid out is then used: a CMake project that knows no more than `find_package(dnnl)` is built and run.

pub(crate) mod cudnn;
mod headers;
mod proof;

use crate::abi::headers::{Headers, output, run};
use crate::tree::Tree;
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

#[cfg(test)]
mod tests;

/// The package that is built.
const PACKAGE: &str = "oxidnn-c-dnnl";
/// The file that cargo makes of it.
const LIBRARY: &str = "libdnnl.so";
/// Bytes that the stripped library stays under.
const MOST_BYTES: u64 = 12 << 20;
/// Milliseconds that loading it and making the first primitive take on an idle machine, at most.
const USUAL_MILLISECONDS: f64 = 10.0;

/// oneDNN's version that the headers speak of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Version {
    major: u32,
    minor: u32,
    patch: u32,
}

/// Problems whose kernels are shipped: those of all others of their kinds.
const REGISTRY: &str = "tests/gpu/registry.txt";
/// Where the CUDA engine looks for them: beside the library.
const KERNELS: &str = "lib/oxidnn-kernels";

/// Builds, lays out at `out`, proves it, and reports size and time; with architectures, the CUDA engine's kernels for these go with it.
///
/// # Errors
/// When a tool is missing, something does not build, or a limit is passed.
pub(crate) fn dist(tree: &Tree, out: &Path, architectures: &[String]) -> Result<()> {
    let headers = Headers::find(tree)?;
    let package = lay_out(tree, &headers, &build(tree, true)?, out)?;
    let work = tree.root().join("target/dist-proof");
    let found = proof::cmake(&package.root, &work)?;
    println!("{}: {found}", package.root.display());
    if !architectures.is_empty() {
        ship_kernels(tree, &package.root.join(KERNELS), architectures)?;
    }
    let bytes = fs::metadata(&package.library)?.len();
    println!("{}: {:.2} MB", package.library.display(), bytes as f64 / 1e6);
    let first = proof::first_primitive(&package.root, &work)?;
    println!("loaded in {:.2} ms, first primitive after {:.2} ms", first.loaded, first.created);
    ensure!(bytes < MOST_BYTES, "the library has {bytes} bytes, at most {MOST_BYTES} are wanted");
    if first.created > USUAL_MILLISECONDS {
        println!(
            "the first primitive takes longer than {USUAL_MILLISECONDS} ms: run it again on an idle machine, and look into it where it stays so"
        );
    }
    Ok(())
}

/// Builds the library; where cargo says that it is, which its settings and the environment decide.
pub(crate) fn build(tree: &Tree, release: bool) -> Result<PathBuf> {
    build_of(tree, release, [PACKAGE, LIBRARY])
}

/// As [`build`], of the library in a file that cargo makes of a package. A build for tests is that of `cargo test --workspace`: cargo enables the
/// features of dependencies by what is built together, so a package on its own would compile most crates once more.
pub(crate) fn build_of(tree: &Tree, release: bool, [package, library]: [&str; 2]) -> Result<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let what: &[&str] =
        if release { &["build", "--release", "--package", package] } else { &["test", "--no-run", "--workspace", "--test", "programs"] };
    let messages = output(Command::new(cargo).args(what).args(["--message-format", "json-render-diagnostics"]).current_dir(tree.root()))?;
    built(&messages, library).with_context(|| format!("cargo built {package} and named no {library}"))
}

/// The library among the files of cargo's messages.
fn built(messages: &str, library: &str) -> Option<PathBuf> {
    let messages = messages.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let files = messages.filter_map(|m| m["filenames"].as_array().cloned()).flatten();
    let mut paths = files.filter_map(|f| f.as_str().map(PathBuf::from));
    paths.rfind(|path| path.file_name().is_some_and(|name| name == library))
}

/// Compiles the kernels of the registry into `folder`, for everybody to read.
fn ship_kernels(tree: &Tree, folder: &Path, architectures: &[String]) -> Result<()> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let jobs = std::thread::available_parallelism()?.to_string();
    let mut command = Command::new(cargo);
    command.args(["run", "--release", "--quiet", "--package", "oxidnn-cli", "--", "kernels", "--jobs", &jobs]);
    command.args(["--arch", &architectures.join(","), "--batch", REGISTRY, "--dir"]).arg(folder).current_dir(tree.root());
    print!("{}", output(&mut command)?);
    for path in fs::read_dir(folder)?.flatten().map(|entry| entry.path()).chain([folder.to_owned()]) {
        open_to_all(&path)?;
    }
    Ok(())
}

/// Lets everybody read what only its owner may write.
#[cfg(unix)]
fn open_to_all(path: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let mode = if path.is_dir() { 0o755 } else { 0o644 };
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).with_context(|| path.display().to_string())
}

#[cfg(not(unix))]
fn open_to_all(path: &Path) -> Result<()> {
    anyhow::bail!("{}: the package is for Linux", path.display())
}

/// What was laid out.
struct Package {
    root: PathBuf,
    library: PathBuf,
}

/// Writes the package of `library` to `out`, which is made anew.
fn lay_out(tree: &Tree, headers: &Headers, library: &Path, out: &Path) -> Result<Package> {
    if out.exists() {
        ensure!(out.join("lib/pkgconfig/dnnl.pc").is_file(), "{} is there and is no package of ours", out.display());
        fs::remove_dir_all(out)?;
    }
    fs::create_dir_all(out.join("lib"))?;
    let root = out.canonicalize()?;
    let version = Version::read(headers)?;
    let library = install_library(library, &root.join("lib"), version)?;
    headers::install(headers, &tree.root().join("crates/c-dnnl/include/oxidnn_dnnl.h"), &root.join("include"))?;
    for (name, text) in FILES {
        let path = root.join(name);
        fs::create_dir_all(path.parent().context("every file is in a folder")?)?;
        fs::write(path, version.fill(text))?;
    }
    let notices = root.join("share/doc/oxidnn");
    fs::create_dir_all(&notices)?;
    for name in ["LICENSE", "NOTICE"] {
        fs::copy(tree.root().join(name), notices.join(name))?;
    }
    if let Some(license) = &headers.license {
        fs::copy(license, notices.join("LICENSE-oneDNN-headers.txt"))?;
    }
    Ok(Package { root, library })
}

/// Where files with the version in them go, and their text.
const FILES: &[(&str, &str)] = &[
    ("lib/pkgconfig/dnnl.pc", include_str!("dnnl.pc")),
    ("lib/cmake/dnnl/dnnl-config.cmake", include_str!("dnnl-config.cmake")),
    ("lib/cmake/dnnl/dnnl-config-version.cmake", include_str!("dnnl-config-version.cmake")),
    ("lib/cmake/dnnl/dnnl-targets.cmake", include_str!("dnnl-targets.cmake")),
];

/// Copies the library without its symbol tables, and makes the names that linkers and loaders look for.
fn install_library(from: &Path, folder: &Path, version: Version) -> Result<PathBuf> {
    let soname = format!("libdnnl.so.{}", version.major);
    let file = format!("{soname}.{}", version.minor);
    let library = folder.join(&file);
    run(Command::new("strip").arg("--strip-unneeded").arg("-o").arg(&library).arg(from))?;
    link(&file, &folder.join(&soname))?;
    link(&soname, &folder.join("libdnnl.so"))?;
    Ok(library)
}

#[cfg(unix)]
fn link(to: &str, at: &Path) -> Result<()> {
    std::os::unix::fs::symlink(to, at).with_context(|| format!("{}", at.display()))
}

#[cfg(not(unix))]
fn link(_: &str, at: &Path) -> Result<()> {
    anyhow::bail!("{}: the package is for Linux", at.display())
}

impl Version {
    fn read(headers: &Headers) -> Result<Version> {
        let text = headers.read("oneapi/dnnl/dnnl_version.h")?;
        let number = |name: &str| -> Result<u32> {
            let line = text.lines().find_map(|l| l.strip_prefix(&format!("#define DNNL_VERSION_{name} ")));
            Ok(line.with_context(|| format!("dnnl_version.h does not say DNNL_VERSION_{name}"))?.trim().parse()?)
        };
        Ok(Version { major: number("MAJOR")?, minor: number("MINOR")?, patch: number("PATCH")? })
    }

    /// The text with `@MAJOR@`, `@MINOR@` and `@PATCH@` replaced.
    fn fill(self, text: &str) -> String {
        let numbers = [("@MAJOR@", self.major), ("@MINOR@", self.minor), ("@PATCH@", self.patch)];
        numbers.iter().fold(text.to_owned(), |text, (name, value)| text.replace(name, &value.to_string()))
    }
}
