//! The rules of the house that a program can check: a table of rules, each a function from the tree to what is wrong.

mod crates;
mod forks;
mod inputs;
mod parameters;
mod size;
mod unsafety;
mod wording;

use crate::readme;
use crate::tree::Tree;
use anyhow::{Result, bail};

/// One rule: what it looks after, and the function that lists what breaks it, a line each.
struct Rule {
    name: &'static str,
    check: fn(&Tree) -> Result<Vec<String>>,
}

const RULES: &[Rule] = &[
    Rule { name: "crate dependencies", check: crates::check },
    Rule { name: "unsafe code", check: unsafety::check },
    Rule { name: "locks and forks", check: forks::check },
    Rule { name: "sizes of files and functions", check: size::check },
    Rule { name: "parameters of functions", check: parameters::check },
    Rule { name: "wording", check: wording::check },
    Rule { name: "test inputs", check: inputs::check },
    Rule { name: "tables of the README", check: readme::check },
];

/// Applies every rule, and fails with the list of what is wrong.
pub(crate) fn run(tree: &Tree) -> Result<()> {
    let mut wrong = Vec::new();
    for rule in RULES {
        wrong.extend((rule.check)(tree)?);
    }
    if wrong.is_empty() {
        let names: Vec<&str> = RULES.iter().map(|r| r.name).collect();
        println!("xtask check: in order: {}", names.join(", "));
        return Ok(());
    }
    bail!("{}\nxtask check: {} found", wrong.join("\n"), wrong.len())
}
