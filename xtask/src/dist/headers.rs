//! The include folder of the package: oneDNN's headers that a CPU library has, the file about its build changed to tell of ours.

use crate::abi::headers::Headers;
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::Path;

/// Parts of names of headers for runtimes that the library does not have.
const LEFT_OUT: [&str; 3] = ["_sycl", "_ocl", "_ze"];

/// What the build is, where oneDNN's file says something else: the start of a line, and the line.
const BUILD: &[(&str, &str)] = &[
    ("#define DNNL_CPU_THREADING_RUNTIME ", "#define DNNL_CPU_THREADING_RUNTIME DNNL_RUNTIME_OMP"),
    ("#define DNNL_CPU_RUNTIME ", "#define DNNL_CPU_RUNTIME DNNL_RUNTIME_OMP"),
    ("#define DNNL_GPU_RUNTIME ", "#define DNNL_GPU_RUNTIME DNNL_RUNTIME_NONE"),
    ("#define DNNL_GPU_VENDOR ", "#define DNNL_GPU_VENDOR DNNL_VENDOR_NONE"),
    ("#define DNNL_WITH_SYCL", "/* #undef DNNL_WITH_SYCL */"),
    ("/* #undef DNNL_EXPERIMENTAL_UKERNEL */", "#define DNNL_EXPERIMENTAL_UKERNEL"),
];

/// Copies the headers, and our own beside `dnnl.h`.
pub(super) fn install(headers: &Headers, own: &Path, include: &Path) -> Result<()> {
    copy(&headers.include, include)?;
    copy(&headers.include.join("oneapi/dnnl"), &include.join("oneapi/dnnl"))?;
    let config = include.join("oneapi/dnnl/dnnl_config.h");
    fs::write(&config, describe_build(&fs::read_to_string(&config)?)?)?;
    let name = own.file_name().context("our header has a name")?;
    fs::copy(own, include.join(name)).with_context(|| format!("{}", own.display()))?;
    Ok(())
}

/// Copies the headers of one folder that belong to a CPU library.
fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from).with_context(|| format!("{}", from.display()))? {
        let path = entry?.path();
        let Some(name) = path.file_name().and_then(|n| n.to_str()) else { continue };
        let header = path.is_file() && [".h", ".hpp"].iter().any(|e| name.ends_with(e));
        if header && !LEFT_OUT.iter().any(|part| name.contains(part)) {
            fs::copy(&path, to.join(name))?;
        }
    }
    Ok(())
}

/// The text of `dnnl_config.h` with the lines of [`BUILD`], and a note that it was changed, as its licence wants.
fn describe_build(text: &str) -> Result<String> {
    let mut out = String::from("/* Changed by the oxidnn project: runtimes and experimental parts as in oxidnn's library. */\n");
    let mut replaced = 0;
    for line in text.lines() {
        let known = BUILD.iter().find(|(start, _)| line.starts_with(start));
        replaced += usize::from(known.is_some());
        out.push_str(known.map_or(line, |(_, new)| new));
        out.push('\n');
    }
    ensure!(replaced == BUILD.len(), "dnnl_config.h has {replaced} of the {} lines that are known", BUILD.len());
    Ok(out)
}

#[cfg(test)]
mod tests;
