//! The headers that the library is compared with: those of PyPI's `onednn-devel`, unpacked once under `target`.

use crate::tree::Tree;
use anyhow::{Context, Result, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The release of `onednn-devel` whose headers say oneDNN 3.13.
const RELEASE: &str = "2026.1.0";
/// Names a folder with `dnnl.h` that is taken instead of the package's.
const VARIABLE: &str = "OXIDNN_ONEDNN_INCLUDE";

/// An include folder of oneDNN, and the licence that it came under.
pub(crate) struct Headers {
    /// The folder that holds `dnnl.h` and `oneapi/dnnl`.
    pub(crate) include: PathBuf,
    /// The package's licence text, where it is known.
    pub(crate) license: Option<PathBuf>,
}

impl Headers {
    /// The folder that the environment names, else what was unpacked before, else the package, downloaded with `pip`.
    ///
    /// # Errors
    /// What to do where none of them is to be had.
    pub(crate) fn find(tree: &Tree) -> Result<Headers> {
        if let Some(include) = std::env::var_os(VARIABLE).map(PathBuf::from) {
            ensure!(include.join("dnnl.h").is_file(), "{VARIABLE} names {}, which has no dnnl.h", include.display());
            return Ok(Headers { include, license: None });
        }
        let folder = tree.root().join("target/onednn-devel").join(RELEASE);
        let data = format!("onednn_devel-{RELEASE}");
        let (include, license) = (folder.join(format!("{data}.data/data/include")), folder.join(format!("{data}.dist-info/LICENSE.txt")));
        if !include.join("dnnl.h").is_file() {
            download(&folder).with_context(|| {
                format!(
                    "the headers of onednn-devel {RELEASE} are not at {}; let pip reach a package index, put the wheel's files there, or \
                     name an include folder of oneDNN 3.13 in {VARIABLE}",
                    include.display()
                )
            })?;
        }
        ensure!(include.join("dnnl.h").is_file(), "onednn-devel {RELEASE} has no {}", include.display());
        Ok(Headers { include, license: license.is_file().then_some(license) })
    }

    /// The text of a header, named as programs include it.
    pub(crate) fn read(&self, name: &str) -> Result<String> {
        let path = self.include.join(name);
        std::fs::read_to_string(&path).with_context(|| format!("{}", path.display()))
    }
}

/// Downloads and unpacks the wheel into `folder`.
fn download(folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder)?;
    let wheel = format!("onednn-devel=={RELEASE}");
    let pip = ["-m", "pip", "--quiet", "--disable-pip-version-check", "download", "--no-deps", "--only-binary=:all:", &wheel];
    run(Command::new("python3").args(pip).current_dir(folder))?;
    let wheels = std::fs::read_dir(folder)?.filter_map(Result::ok).map(|e| e.path());
    let wheel = wheels.filter(|p| p.extension().is_some_and(|e| e == "whl")).max().context("pip left no wheel")?;
    run(Command::new("python3").args(["-m", "zipfile", "-e"]).arg(&wheel).arg(folder))
}

/// Runs a program to its end.
///
/// # Errors
/// When it is not there or fails, with what it wrote.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    output(command).map(drop)
}

/// What a program writes to its output.
///
/// # Errors
/// When it is not there or fails, with what it wrote.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let out = command.output().with_context(|| format!("{name} cannot be run"))?;
    ensure!(out.status.success(), "{name} failed: {}", String::from_utf8_lossy(&out.stderr).trim());
    Ok(String::from_utf8_lossy(&out.stdout).into_owned())
}
