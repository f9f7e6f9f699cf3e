//! Inputs and outputs that may be the same memory: those that oneDNN says, and the results are the same.

use crate::nets::run::{Ports, in_place, largest, partitioned, ports};
use oxidnn_graph::Policy;
use oxidnn_judge::Bound;
use oxidnn_runtime::{Memory, Stream};
use std::collections::HashMap;

#[test]
fn what_may_be_in_place_in_onednn_may_be_here() {
    let engine = oxidnn_cpu::engine();
    let expected: HashMap<&str, &str> =
        include_str!("in_place.txt").lines().filter(|l| !l.starts_with('#')).filter_map(|l| l.split_once(' ')).collect();
    let (mut pairs, mut wrong) = (0, Vec::new());
    for (name, net) in crate::nets::all() {
        let name = name.replace(' ', "");
        let Some(expected) = expected.get(name.as_str()) else { continue };
        let graph = partitioned(&net, Policy::Fusion).expect("a valid graph");
        let got = in_place(&engine, &graph).expect("partitions that compile");
        for (there, here) in expected.split('|').zip(got.split('|')) {
            let missing = there.split('~').filter(|p| !p.is_empty()).find(|p| !here.split('~').any(|h| h == *p));
            pairs += there.matches('~').count();
            if let Some(missing) = missing {
                wrong.push(format!("{name}: {missing} of {expected} is not in {got}"));
            }
        }
    }
    assert!(pairs > 100, "only {pairs} pairs");
    assert!(wrong.is_empty(), "{} wrong of {pairs}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn what_is_computed_in_place_is_what_is_computed_elsewhere() {
    let engine = oxidnn_cpu::engine();
    let stream = Stream::new(&engine).expect("a stream");
    let (mut executed, mut wrong) = (0, Vec::new());
    for (name, net) in crate::nets::all() {
        let graph = partitioned(&net, Policy::Fusion).expect("a valid graph");
        // Of graphs that are one partition everything is known at once.
        let [partition] = graph.partitions() else { continue };
        let bound = || ports(&engine, &net, partition).expect("a partition that compiles");
        let run = |Ports { compiled, inputs, outputs }: Ports| -> Vec<Vec<f64>> {
            let (ins, outs): (Vec<&Memory<'_>>, Vec<&Memory<'_>>) = (inputs.iter().collect(), outputs.iter().collect());
            compiled.execute(&stream, &ins, &outs, None).expect("an execution");
            outputs.iter().map(|m| m.read_f64().expect("a result")).collect()
        };
        let pairs = bound().compiled.in_place().to_vec();
        let expected = if pairs.is_empty() { Vec::new() } else { run(bound()) };
        for (input, output) in pairs {
            let mut ports = bound();
            let at = |list: &[oxidnn_graph::LogicalTensor], id: usize| list.iter().position(|lt| lt.id == id).expect("a port");
            let (i, o) = (at(partition.inputs(), input), at(partition.outputs(), output));
            ports.outputs[o] = ports.inputs[i].view(ports.outputs[o].tensor().clone()).expect("memory of the same size");
            executed += 1;
            for (got, expected) in run(ports).iter().zip(&expected) {
                let bound = Bound { relative: 0.0, absolute: largest(expected) / 64.0 };
                if let Some(why) = oxidnn_judge::differ(got, expected, bound) {
                    wrong.push(format!("{name}: {input} in place of {output}: {why}"));
                }
            }
        }
    }
    assert!(executed > 100, "only {executed} pairs");
    assert!(wrong.is_empty(), "{} wrong of {executed}:\n{}", wrong.len(), wrong.join("\n"));
}
