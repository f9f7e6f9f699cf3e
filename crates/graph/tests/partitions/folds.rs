//! Partitions are few problems: what can be a post-op, a scale, a bias or a view is no step of its own.

use crate::nets::run::{partitioned, ports};
use oxidnn_graph::Policy;

/// Graphs that are one partition, and the most problems that it is, reorders apart; and of these, in the layouts and types of the caller, the most.
const MOST: [(&str, usize, usize); 19] = [
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
        let problems = ports(&engine, net, partition).expect("a partition that compiles").compiled.problems();
        let moved = problems.iter().filter(|(p, _)| p.starts_with("--reorder")).count();
        if problems.len() - moved > most || moved > reorders {
            let list: Vec<String> = problems.iter().map(|(p, row)| format!("    {row} {p}")).collect();
            wrong.push(format!("{name}:\n{}", list.join("\n")));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// Graphs that are one attention problem, and words of its line.
const ATTENTION: [(&str, &[&str]); 22] = [
    ("float_sdp_fusion/f32[div][add]", &[]),
    ("float_sdp_fusion/f32[mul][]", &[]),
    ("float_sdp_fusion/bf16[][]", &[]),
    ("float_sdp_fusion/f32[div][select]", &[]),
    ("float_sdp_fusion/f32[div][causal]", &["causal"]),
    ("float_sdp_fusion/bf16[mul][causal]", &["causal"]),
    ("float_sdp_fusion/f32[div][causal_bottom]", &["causal"]),
    ("float_sdp_fusion/f32[div][add+select]", &[]),
    ("float_gqa_backward_fusion/[mul][]", &["BWD_DW"]),
    ("float_sdp_fusion/turn,join", &[]),
    ("float_sdp_fusion/turned", &[]),
    ("float_sdp_fusion/stats", &["FWD_D"]),
    ("float_sdp_fusion/inf_as_zero", &[]),
    ("float_gqa_fusion/5d[mul][add]", &[]),
    ("float_gqa_fusion/4d[div][select]", &[]),
    ("float_gqa_fusion/4d[div][]", &[]),
    ("sdp_with_compressed_kv_fusion/s8[add]", &["s8"]),
    ("sdp_with_compressed_k_fusion/u8[]", &["u8"]),
    ("float_gpt_sdp/turn,joindiv", &[]),
    ("float_sdp_backward_fusion/[mul][]", &["BWD_DW"]),
    ("float_sdp_backward_fusion/[div][add]", &["BWD_DW"]),
    ("float_sdp_backward_fusion/[mul][select]", &["BWD_DW"]),
];

#[test]
fn attention_is_one_problem_of_a_fast_row() {
    let engine = oxidnn_cpu::engine();
    let nets = crate::nets::all();
    let mut wrong = Vec::new();
    for (name, words) in ATTENTION {
        let (_, net) = nets.iter().find(|n| n.0.replace(' ', "") == name).unwrap_or_else(|| panic!("no graph {name}"));
        let graph = partitioned(net, Policy::Fusion).expect("a valid graph");
        let [partition] = graph.partitions() else { panic!("{name}: {} partitions", graph.partitions().len()) };
        let problems = ports(&engine, net, partition).expect("a partition that compiles").compiled.problems();
        let attention: Vec<_> = problems.iter().filter(|(p, row)| p.starts_with("--sdpa") && row.starts_with("flash")).collect();
        let products = problems.iter().any(|(p, _)| p.starts_with("--matmul") || p.starts_with("--softmax"));
        let fits = attention.len() == 1 && !products && words.iter().all(|w| attention[0].0.contains(w));
        if !fits {
            let list: Vec<String> = problems.iter().map(|(p, row)| format!("    {row} {p}")).collect();
            wrong.push(format!("{name}:\n{}", list.join("\n")));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
