//! Partitions are few problems: what can be a post-op, a scale, a bias or a view is no step of its own.

use crate::nets::run::{partitioned, ports};
use oxidnn_graph::Policy;

/// Graphs that are one partition, and the most problems that it is, reorders apart; and of these, in the layouts and types of the caller, the most.
const MOST: [(&str, usize, usize); 20] = [
    ("fp_matmul_post_ops/[op]mul,add,relu+bf16", 1, 0),
    ("fp_matmul_post_ops/[own]gelu,sub,tanh", 1, 0),
    ("fp_matmul_post_ops/select[2, 5, 8]", 1, 0),
    ("fp_matmul_post_ops/swish+1", 1, 0),
    ("fp_matmul_reshape_transpose_reshape/split,turn[op]", 1, 1),
    ("fp_conv_post_ops/[op]gelu,sub,tanh", 1, 1),
    ("fp_conv_post_ops/[own]max,min", 1, 1),
    ("fp_convtranspose_post_ops/[op]mul,add,relu", 1, 1),
    ("x8x8x_conv_post_ops/u8bytesu8+1", 1, 1),
    ("x8x8x8_conv_add_post_ops_cpu/u8bytesu8+1", 1, 1),
    ("x8x8x_matmul_post_ops/s8channelss8+2", 1, 0),
    ("x8x8x8_tc_matmul_add_post_ops_cpu/u8bytesu8+1", 1, 0),
    ("fp_softmax_post_ops/relu+u8", 1, 0),
    ("layernorm_post_ops_fusion_cpu/relu", 1, 0),
    ("fp_reduction_post_ops/ReduceSum+relu", 1, 0),
    ("x8_pool_post_ops/MaxPoolu8[mul]", 1, 0),
    ("float_sdp_fusion/f32[div][add]", 3, 0),
    ("x8_sdpa_fusion/[add][turn,join]true", 3, 0),
    ("gated_mlp/f32swish", 3, 0),
    ("shuffle_fusion/1", 0, 1),
];

#[test]
fn what_a_problem_can_take_along_is_no_step() {
    let engine = oxidnn_cpu::engine();
    let nets = crate::nets::all();
    let mut wrong = Vec::new();
    for (name, most, reorders) in MOST {
        let (_, net) = nets.iter().find(|n| n.0 == name).unwrap_or_else(|| panic!("no graph {name}"));
        let graph = partitioned(net, Policy::Fusion).expect("a valid graph");
        let [partition] = graph.partitions() else { panic!("{name}: {} partitions", graph.partitions().len()) };
        let problems = ports(&engine, partition).expect("a partition that compiles").compiled.problems();
        let moved = problems.iter().filter(|(p, _)| p.starts_with("--reorder")).count();
        if problems.len() - moved > most || moved > reorders {
            let list: Vec<String> = problems.iter().map(|(p, row)| format!("    {row} {p}")).collect();
            wrong.push(format!("{name}:\n{}", list.join("\n")));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
