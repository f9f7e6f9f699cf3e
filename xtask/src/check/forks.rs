//! Where threads wait for each other. A child of a fork has none of its parent's other threads, and would wait for ever for what one of them held or was
//! making: locks and first uses go through `runtime::fork`.

use crate::code;
use crate::tree::Tree;
use anyhow::Result;

#[cfg(test)]
mod tests;

/// The crates that a forked process computes with. `jit` counts forks itself; a GPU's work is lost to a child.
const CRATES: &[&str] = &["runtime", "cpu", "graph", "c-common", "c-dnnl", "oxidnn"];

/// The files that wait otherwise, and why a child does not.
const FILES: &[(&str, &str)] = &[
    ("crates/runtime/src/fork.rs", "it is what the others use"),
    ("crates/runtime/src/cache/mod.rs", "the lock of the cache, which is taken inside"),
    ("crates/runtime/src/cache/single.rs", "who makes a value and who waits for it are inside"),
    ("crates/runtime/src/memory/uses.rs", "a lock of its own, which is taken inside"),
    ("crates/runtime/src/queue/backlog.rs", "a child has a backlog of its own"),
    ("crates/runtime/src/threads/float.rs", "in a test"),
    ("crates/runtime/src/threads/panics.rs", "belongs to a pool"),
    ("crates/runtime/src/threads/pool.rs", "a child has a pool of its own"),
    ("crates/runtime/src/verbose/mod.rs", "the first use is inside"),
    ("crates/cpu/src/kernels/code.rs", "who makes a kernel is inside"),
    ("crates/graph/src/compiled.rs", "the first use is inside"),
    ("crates/graph/src/constants.rs", "the first use is inside"),
    ("crates/c-common/src/names.rs", "c-dnnl has the first use inside"),
    ("crates/c-dnnl/src/gemm.rs", "the first use and the lock are inside"),
    ("crates/c-dnnl/src/heap.rs", "the first use is inside"),
];

/// Methods that wait for another thread.
const METHODS: [&str; 3] = ["lock", "get_or_init", "call_once"];
/// Types whose use waits.
const TYPES: [&str; 2] = ["LazyLock", "RwLock"];

/// Sources that wait for other threads are on the list, and no others.
pub(super) fn check(tree: &Tree) -> Result<Vec<String>> {
    Ok(tree.rust()?.into_iter().filter_map(|(file, text)| file_rule(&file, &text)).collect())
}

fn file_rule(file: &str, text: &str) -> Option<String> {
    let is_ours =
        CRATES.iter().any(|name| file.strip_prefix("crates/").and_then(|f| f.strip_prefix(name)).is_some_and(|f| f.starts_with("/src/")));
    if !is_ours || file.ends_with("tests.rs") {
        return None;
    }
    let code = code::blanked(text);
    let words = code::words(&code);
    let waits = |i: usize| TYPES.contains(&words[i].text) || i > 0 && words[i - 1].text == "." && METHODS.contains(&words[i].text);
    match ((0..words.len()).any(waits), FILES.iter().any(|(name, _)| *name == file)) {
        (true, false) => Some(format!(
            "{file}: waits for other threads, for ever in a child of a fork; use runtime::fork, or say in xtask/src/check/forks.rs why it does not"
        )),
        (false, true) => Some(format!("{file}: waits for no other thread; take it off the list in xtask/src/check/forks.rs")),
        _ => None,
    }
}
