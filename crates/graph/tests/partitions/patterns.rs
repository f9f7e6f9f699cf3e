//! The graphs of every pattern: what oneDNN makes partitions of is a partition here, and computes what its operations compute one by one.

use crate::nets::Named;
use crate::nets::run::{grouping, in_place, largest, partitioned, ported, run};
use crate::nets::variants::{LEAST, takers};
use oxidnn_graph::{Policy, patterns};
use oxidnn_judge::Bound;
use oxidnn_spec::DataType;
use std::collections::HashMap;

#[test]
fn partitions_compute_what_their_operations_compute() {
    let engine = oxidnn_cpu::engine();
    let mut wrong = Vec::new();
    for (name, net) in crate::nets::all() {
        let (fused, single) = (run(&engine, &net, Policy::Fusion), run(&engine, &net, Policy::Debug));
        let (fused, single) = match (fused, single) {
            (Ok(fused), Ok(single)) => (fused, single),
            (fused, single) => {
                wrong.push(format!("{name}: {:?} {:?}", fused.err(), single.err()));
                continue;
            }
        };
        let small = net.ops.iter().flat_map(|o| &o.outputs).any(|lt| matches!(lt.dtype, Some(DataType::Bf16 | DataType::F16)));
        for (id, (dtype, expected)) in &single {
            let (_, got) = &fused[id];
            // Rounding to bytes happens to neighbours on either side of a half, and by way of a smaller type to more.
            let absolute = match (dtype.is_x8(), small) {
                (true, false) => 1.0,
                (true, true) => 2.0,
                (false, true) => largest(expected) / 32.0,
                (false, false) => largest(expected) * 1e-5,
            };
            if let Some(why) = oxidnn_judge::differ(got, expected, Bound { relative: 0.0, absolute }) {
                wrong.push(format!("{name}: tensor {id} ({dtype}): {why}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// Compares partitions with a list of oneDNN's, a graph a line. `OXIDNN_GRAPHS=FOLDER` in the environment writes the graphs for `graphs.cpp`, and the
/// partitions that are made of them here, there.
fn compared(kind: &str, nets: Vec<Named>, expected: &str) {
    let expected: HashMap<&str, &str> = expected.lines().filter(|l| !l.starts_with('#')).filter_map(|l| l.split_once(' ')).collect();
    let folder = std::env::var_os("OXIDNN_GRAPHS");
    let engine = oxidnn_cpu::engine();
    let (mut wrong, mut texts) = (Vec::new(), [String::new(), String::new()]);
    for (name, net) in nets {
        let graph = partitioned(&net, Policy::Fusion).expect("a valid graph");
        let (got, name) = (grouping(&graph), name.replace(' ', ""));
        if folder.is_some() {
            texts[0] += &format!("graph {name}\n{}", net.lines());
            // Thousands of random graphs are partitioned, but not compiled.
            let shared = if kind == "random" { String::new() } else { in_place(&engine, &graph).unwrap_or_default() };
            texts[1] += &format!("{name} {} {shared}\n", ported(&graph));
        }
        match expected.get(name.as_str()) {
            Some(e) if *e == got => {}
            other => {
                let kinds: Vec<&str> = net.ops.iter().map(|o| o.kind.name()).collect();
                wrong.push(format!("{name}: {got}, expected {}\n    {}", other.unwrap_or(&"nothing"), kinds.join(" ")));
            }
        }
    }
    if let Some(folder) = folder {
        for (text, end) in texts.iter().zip(["graphs", "here"]) {
            let file = std::path::Path::new(&folder).join(format!("{kind}.{end}"));
            std::fs::write(file, text).expect("a file that can be written");
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn partitions_are_those_of_onednn() {
    compared("patterns", crate::nets::all(), include_str!("patterns.txt"));
}

/// Patterns of oneDNN's list that never take anything, those of no lower priority that take the same before them, and how graphs of both are called.
const SHADOWED: [(&str, &str, &str); 3] = [
    ("sum_fusion", "fp_binary_post_ops", "sum_fusion"),
    ("bfloat16_gpt_sdp", "float_gpt_sdp", "bfloat16_gpt_sdp"),
    ("itex_int8_resnet50_stage_4_fusion", "itex_int8_resnet50_stage_1_fusion", "itex_resnet50_stage"),
];

#[test]
fn every_pattern_takes_operations_of_several_graphs() {
    let mut counts: HashMap<String, usize> = patterns().map(|(name, _)| (name.to_string(), 0)).collect();
    let mut instead = SHADOWED.map(|_| 0);
    for (name, net) in crate::nets::all() {
        let takers = takers(&net);
        for ((_, taker, graphs), count) in SHADOWED.iter().zip(&mut instead) {
            *count += usize::from(name.starts_with(graphs) && takers.contains(*taker));
        }
        takers.into_iter().for_each(|pattern| *counts.entry(pattern).or_default() += 1);
    }
    for ((shadowed, taker, _), count) in SHADOWED.into_iter().zip(instead) {
        assert_eq!(counts.remove(shadowed), Some(0), "{taker} is before {shadowed}");
        assert!(count > 0, "{taker} takes none of the graphs of {shadowed}");
    }
    let mut few: Vec<(String, usize)> = counts.into_iter().filter(|(_, count)| *count < LEAST).collect();
    few.sort();
    assert!(few.is_empty(), "patterns that take operations of fewer than {LEAST} graphs: {few:?}");
}

/// `OXIDNN_RANDOM=random/FIRST:COUNT`, or `again/`, takes others, of which nothing is known here.
#[test]
fn partitions_of_random_graphs_are_those_of_onednn() {
    let chosen = std::env::var("OXIDNN_RANDOM").ok();
    let numbers = |(a, b): (&str, &str)| Some((a.parse::<u64>().ok()?, b.parse::<u64>().ok()?));
    let chosen = chosen.as_deref().and_then(|c| c.split_once('/')).and_then(|(kind, c)| Some((kind, numbers(c.split_once(':')?)?)));
    let expected = include_str!("random.txt");
    let listed = |kind: &str| -> Vec<u64> {
        let of_kind = |l: &str| l.strip_prefix(kind)?.strip_prefix('/')?.split(' ').next()?.parse().ok();
        expected.lines().filter_map(of_kind).collect()
    };
    let seeds = |kind: &str| match chosen {
        Some((other, (first, count))) => (first..first + if other == kind { count } else { 0 }).collect(),
        None => listed(kind),
    };
    let nets = |kind: &str, again: bool| -> Vec<Named> {
        seeds(kind).into_iter().map(|seed| (format!("{kind}/{seed}"), crate::nets::random::net(seed, again))).collect()
    };
    compared("random", [nets("random", false), nets("again", true)].concat(), expected);
}
