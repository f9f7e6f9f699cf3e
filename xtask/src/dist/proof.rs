//! What was laid out is used by programs that know nothing of this project.

use super::Version;
use crate::abi::headers::{Headers, output, run};
use anyhow::{Context, Result};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Milliseconds since before the library was loaded.
#[derive(Clone, Copy, Debug)]
pub(super) struct First {
    /// Until it was.
    pub(super) loaded: f64,
    /// Until the first primitive was made.
    pub(super) created: f64,
}

/// Builds a CMake project with `find_package(dnnl)` in `work`, and runs it; what it prints.
///
/// # Errors
/// When CMake does not find the package, or the program does not build or computes something else.
pub(super) fn cmake(package: &Path, work: &Path) -> Result<String> {
    let (source, build) = (work.join("example"), work.join("build"));
    if build.exists() {
        fs::remove_dir_all(&build)?;
    }
    fs::create_dir_all(&source)?;
    let version = Version::read(&Headers { include: package.join("include"), license: None })?;
    fs::write(source.join("CMakeLists.txt"), version.fill(include_str!("example/CMakeLists.txt")))?;
    fs::write(source.join("main.cpp"), include_str!("example/main.cpp"))?;
    let prefix = format!("-DCMAKE_PREFIX_PATH={}", package.display());
    run(Command::new("cmake").arg("-S").arg(&source).arg("-B").arg(&build).arg(prefix))?;
    run(Command::new("cmake").arg("--build").arg(&build))?;
    Ok(output(&mut Command::new(build.join("proof")))?.trim().to_owned())
}

/// Loads the library in fresh processes and makes a matrix product; the fastest of five, which other programs disturb least.
///
/// # Errors
/// When the program does not build or a call fails.
pub(super) fn first_primitive(package: &Path, work: &Path) -> Result<First> {
    let (source, program) = (work.join("first.cpp"), work.join("first"));
    fs::write(&source, include_str!("example/first.cpp"))?;
    let compiler = std::env::var_os("CXX").unwrap_or_else(|| "g++".into());
    run(Command::new(compiler).arg("-I").arg(package.join("include")).arg("-o").arg(&program).arg(&source).arg("-ldl"))?;
    let mut fastest = First { loaded: f64::INFINITY, created: f64::INFINITY };
    for _ in 0..5 {
        let text = output(Command::new(&program).arg(package.join("lib/libdnnl.so")))?;
        let (loaded, created) = text.trim().split_once(' ').context("two numbers")?;
        let first = First { loaded: loaded.parse()?, created: created.parse()? };
        if first.created < fastest.created {
            fastest = first;
        }
    }
    Ok(fastest)
}
