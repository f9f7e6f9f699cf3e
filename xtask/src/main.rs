//! Developer commands: the rules of the house, golden files, the README's tables, the C interface and its package.
#![forbid(unsafe_code)]

mod abi;
mod check;
mod code;
mod dist;
mod readme;
mod tree;

use clap::{Parser, Subcommand};
use std::path::PathBuf;
use std::process::ExitCode;
use tree::{Lines, Tree};

/// Developer commands of oxidnn.
#[derive(Parser)]
#[command(name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Checks the rules of the house: crate dependencies, unsafe code, sizes, wording, test inputs, the README's tables.
    Check,
    /// Writes the golden listings of generated code anew.
    Bless,
    /// Writes the README's tables of primitives from the specification.
    Readme,
    /// Counts lines of code by crate.
    Lines,
    /// Compares the C libraries with the headers of PyPI's `onednn-devel` and `nvidia-cudnn-cu13`: symbols, types, numbers.
    Abi,
    /// Lays the C library out as a package with headers, pkg-config and CMake files, and proves that programs find it.
    Dist {
        /// The folder that the package is written to.
        #[arg(default_value = "target/dist")]
        out: PathBuf,
        /// Ships the CUDA engine's kernels for these architectures, such as 80,86,89,90,100; needs NVRTC, and minutes for each.
        #[arg(long, value_name = "ARCH", value_delimiter = ',')]
        kernels: Vec<String>,
    },
    /// Lays out `libcudnn.so.9` by all names that programs look for, and proves that they find it.
    DistCudnn {
        /// The folder that the package is written to.
        #[arg(default_value = "target/dist-cudnn")]
        out: PathBuf,
    },
}

fn main() -> ExitCode {
    match run(&Cli::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("{e:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: &Command) -> anyhow::Result<()> {
    let tree = Tree::here()?;
    match command {
        Command::Check => check::run(&tree),
        Command::Bless => bless(&tree),
        Command::Readme => readme::write(&tree),
        Command::Lines => lines(&tree),
        Command::Abi => abi::run_all(&tree),
        Command::Dist { out, kernels } => dist::dist(&tree, out, kernels),
        Command::DistCudnn { out } => dist::cudnn::dist(&tree, out),
    }
}

/// Runs the tests that compare with golden files, with leave to write them.
fn bless(tree: &Tree) -> anyhow::Result<()> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut tests = std::process::Command::new(cargo);
    tests.args(["test", "-p", "oxidnn-jit", "--lib"]).env("OXIDNN_BLESS", "1").current_dir(tree.root());
    anyhow::ensure!(tests.status()?.success(), "the tests that write golden files failed");
    Ok(())
}

fn lines(tree: &Tree) -> anyhow::Result<()> {
    let by_crate = tree.lines_by_crate()?;
    let all = by_crate.values().fold(Lines::default(), |a, l| Lines { code: a.code + l.code, tests: a.tests + l.tests });
    println!("{:>8} {:>8}", "code", "tests");
    for (name, lines) in by_crate.iter().map(|(n, l)| (n.as_str(), *l)).chain([("all", all)]) {
        println!("{:>8} {:>8}  {name}", lines.code, lines.tests);
    }
    Ok(())
}
