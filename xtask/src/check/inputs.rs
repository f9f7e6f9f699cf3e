//! Every driver has problem lines, and enough of them.

use crate::tree::Tree;
use anyhow::Result;

#[cfg(test)]
mod tests;

/// Every driver, with the least number of lines of its `full.txt`.
const DRIVERS: &[(&str, usize)] = &[
    ("conv", 2000),
    ("deconv", 2000),
    ("matmul", 2000),
    ("ip", 2000),
    ("reorder", 2000),
    ("eltwise", 2000),
    ("binary", 2000),
    ("pool", 2000),
    ("rnn", 2000),
    ("bnorm", 400),
    ("lnorm", 400),
    ("gnorm", 400),
    ("lrn", 400),
    ("softmax", 400),
    ("reduction", 400),
    ("resampling", 400),
    ("prelu", 400),
    ("shuffle", 400),
    ("concat", 400),
    ("sum", 400),
    ("sdpa", 800),
];

/// The least number of lines of a `smoke.txt`.
const SMOKE: usize = 50;

/// `tests/inputs/<driver>/smoke.txt` and `full.txt` are there and long enough.
pub(super) fn check(tree: &Tree) -> Result<Vec<String>> {
    let mut wrong = Vec::new();
    for (driver, full) in DRIVERS {
        for (name, least) in [("smoke.txt", SMOKE), ("full.txt", *full)] {
            let file = format!("tests/inputs/{driver}/{name}");
            let problems = tree.read(&file).map_or(0, |text| problems(&text));
            if problems < least {
                wrong.push(format!("{file}: {problems} problems, at least {least}"));
            }
        }
    }
    Ok(wrong)
}

/// How many different problem lines there are.
fn problems(text: &str) -> usize {
    let lines = text.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with('#'));
    lines.collect::<std::collections::BTreeSet<_>>().len()
}
