//! Developer commands: `cargo xtask check`, `cargo xtask lines`.

mod check;
mod tree;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Developer commands of oxidnn.
#[derive(Parser)]
#[command(name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Checks the rules of the house: crate dependencies, where unsafe code may be, sizes of files and functions.
    Check,
    /// Counts lines of code by crate.
    Lines,
}

fn main() -> ExitCode {
    match run(&Cli::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("{e}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: &Command) -> anyhow::Result<()> {
    let root = tree::root()?;
    match command {
        Command::Check => check::run(&root)?,
        Command::Lines => {
            for (name, lines) in tree::lines_by_crate(&root)? {
                println!("{lines:>7}  {name}");
            }
        }
    }
    Ok(())
}
