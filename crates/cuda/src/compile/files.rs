//! The registry of kernels: the files of `kernels/`, embedded.

use crate::program::Source;
use std::collections::HashSet;
use std::sync::LazyLock;

/// Headers that kernels include, by name.
pub const HEADERS: &[(&str, &str)] = &[
    ("launch.cuh", include_str!("../../kernels/launch.cuh")),
    ("number.cuh", include_str!("../../kernels/number.cuh")),
    ("index.cuh", include_str!("../../kernels/index.cuh")),
    ("random.cuh", include_str!("../../kernels/random.cuh")),
    ("vector.cuh", include_str!("../../kernels/vector.cuh")),
    ("fetch.cuh", include_str!("../../kernels/fetch.cuh")),
    ("cluster.cuh", include_str!("../../kernels/cluster.cuh")),
    ("pool.cuh", include_str!("../../kernels/pool.cuh")),
    ("resample.cuh", include_str!("../../kernels/resample.cuh")),
    ("resample_planes.cuh", include_str!("../../kernels/resample_planes.cuh")),
    ("lrn.cuh", include_str!("../../kernels/lrn.cuh")),
    ("lrn_power.cuh", include_str!("../../kernels/lrn_power.cuh")),
    ("simt.cuh", include_str!("../../kernels/simt.cuh")),
    ("types.cuh", include_str!("../../kernels/types.cuh")),
    ("sm90.cuh", include_str!("../../kernels/sm90.cuh")),
    ("wgmma.cuh", include_str!("../../kernels/wgmma.cuh")),
    ("mma_tf32.cuh", include_str!("../../kernels/mma_tf32.cuh")),
    ("tile_sm90.cuh", include_str!("../../kernels/tile_sm90.cuh")),
    ("realign.cuh", include_str!("../../kernels/realign.cuh")),
    ("depthwise.cuh", include_str!("../../kernels/depthwise.cuh")),
    ("rnn_steps.cuh", include_str!("../../kernels/rnn_steps.cuh")),
    ("four_bits.cuh", include_str!("../../kernels/four_bits.cuh")),
];

/// Kernels: name (also of the `__global__` function), source, and the generated header that the source includes.
const KERNELS: &[(&str, &str, &str)] = &[
    ("map", include_str!("../../kernels/map.cu"), "args.cuh"),
    ("windows", include_str!("../../kernels/windows.cu"), "args.cuh"),
    ("planes", include_str!("../../kernels/planes.cu"), "args.cuh"),
    ("spread_planes", include_str!("../../kernels/spread_planes.cu"), "args.cuh"),
    ("pool_strips_backward", include_str!("../../kernels/pool_strips_backward.cu"), "args.cuh"),
    ("pool_strips", include_str!("../../kernels/pool_strips.cu"), "args.cuh"),
    ("align", include_str!("../../kernels/align.cu"), "args.cuh"),
    ("transpose", include_str!("../../kernels/transpose.cu"), "args.cuh"),
    ("rows", include_str!("../../kernels/rows.cu"), "args.cuh"),
    ("columns", include_str!("../../kernels/columns.cu"), "args.cuh"),
    ("columns_kept", include_str!("../../kernels/columns_kept.cu"), "args.cuh"),
    ("planes_kept", include_str!("../../kernels/planes_kept.cu"), "args.cuh"),
    ("columns_map", include_str!("../../kernels/columns_map.cu"), "args.cuh"),
    ("columns_vector", include_str!("../../kernels/columns_vector.cu"), "args.cuh"),
    ("rows_vector", include_str!("../../kernels/rows_vector.cu"), "args.cuh"),
    ("rows_gradient", include_str!("../../kernels/rows_gradient.cu"), "args.cuh"),
    ("products", include_str!("../../kernels/products.cu"), "args.cuh"),
    ("dots", include_str!("../../kernels/dots.cu"), "args.cuh"),
    ("parts", include_str!("../../kernels/parts.cu"), "args.cuh"),
    ("gemm_sm90", include_str!("../../kernels/gemm_sm90.cu"), "epilogue.cuh"),
    ("gemm_sm80", include_str!("../../kernels/gemm_sm80.cu"), "epilogue.cuh"),
    ("gemm_f32", include_str!("../../kernels/gemm_f32.cu"), "epilogue.cuh"),
    ("conv_f32", include_str!("../../kernels/conv_f32.cu"), "epilogue.cuh"),
    ("conv_weights_f32", include_str!("../../kernels/conv_weights_f32.cu"), "epilogue.cuh"),
    ("add_parts", include_str!("../../kernels/add_parts.cu"), "epilogue.cuh"),
    ("gemm_w4", include_str!("../../kernels/gemm_w4.cu"), "epilogue.cuh"),
    ("gemm_w4_sm90", include_str!("../../kernels/gemm_w4_sm90.cu"), "epilogue.cuh"),
    ("gemv", include_str!("../../kernels/gemv.cu"), "epilogue.cuh"),
    ("reduce_parts", include_str!("../../kernels/reduce_parts.cu"), "epilogue.cuh"),
    ("conv_sm90", include_str!("../../kernels/conv_sm90.cu"), "epilogue.cuh"),
    ("conv_planar_sm90", include_str!("../../kernels/conv_planar_sm90.cu"), "epilogue.cuh"),
    ("conv_groups_sm80", include_str!("../../kernels/conv_groups_sm80.cu"), "epilogue.cuh"),
    ("depthwise_sm90", include_str!("../../kernels/depthwise_sm90.cu"), "epilogue.cuh"),
    ("depthwise_weights_sm90", include_str!("../../kernels/depthwise_weights_sm90.cu"), "epilogue.cuh"),
    ("conv_weights_sm90", include_str!("../../kernels/conv_weights_sm90.cu"), "epilogue.cuh"),
    ("conv_window_sm90", include_str!("../../kernels/conv_window_sm90.cu"), "epilogue.cuh"),
    ("rnn_step", include_str!("../../kernels/rnn_step.cu"), "args.cuh"),
    ("rnn_step_mma", include_str!("../../kernels/rnn_step_mma.cu"), "args.cuh"),
    ("window_pack", include_str!("../../kernels/window_pack.cu"), "args.cuh"),
    ("window_weights", include_str!("../../kernels/window_pack.cu"), "args.cuh"),
    ("ragged", include_str!("../../kernels/ragged.cu"), "args.cuh"),
    ("attention_backward_sm80", include_str!("../../kernels/attention_backward_sm80.cu"), "args.cuh"),
    ("attention_parts", include_str!("../../kernels/attention_parts.cu"), "args.cuh"),
    ("attention_sm90", include_str!("../../kernels/attention_sm90.cu"), "args.cuh"),
];

/// The source of a kernel, and the name of the generated header that it includes.
pub fn kernel(name: &str) -> Option<(&'static str, &'static str)> {
    KERNELS.iter().find(|k| k.0 == name).map(|k| (k.1, k.2))
}

/// Whether a kernel waits for the preceding kernel itself (`launch.cuh`), so that it can be launched with programmatic dependent launch.
pub fn waits(source: &Source) -> bool {
    is_waiting(source.file) || source.options.contains("#define BESIDE ")
}

/// Whether the kernel of this name does so in all variants.
fn is_waiting(name: &str) -> bool {
    static WAITING: LazyLock<HashSet<&str>> =
        LazyLock::new(|| KERNELS.iter().filter(|k| WAITS.iter().any(|call| k.1.contains(call))).map(|k| k.0).collect());
    WAITING.contains(name)
}

/// The calls by which kernels wait: their own, or the prologue in `tile_sm90.cuh`.
const WAITS: [&str; 2] = ["    begin();", "    start_block(s);"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_that_wait_do_so_in_each_of_their_functions() {
        assert!(HEADERS.iter().any(|(name, text)| *name == "tile_sm90.cuh" && text.contains(WAITS[0])));
        for (name, text, _) in KERNELS.iter().filter(|k| is_waiting(k.0)) {
            let calls: usize = WAITS.iter().map(|call| text.matches(call).count()).sum();
            assert_eq!(calls, text.matches("__global__ void").count(), "{name}");
        }
        assert!(!is_waiting("gemm_f32") && is_waiting("gemm_sm90") && is_waiting("map"));
    }
}
