//! Every small example runs, and its assertions hold.

/// Examples as modules, and tests of their names.
macro_rules! examples {
    ($($name:ident = $path:literal;)*) => { $(
        #[path = $path]
        mod $name;

        #[test]
        fn $name() -> Result<(), oxidnn::Error> {
            $name::main()
        }
    )* };
}

examples! {
    attention = "../examples/attention.rs";
    batch_norm = "../examples/batch_norm.rs";
    cache_and_scratch = "../examples/cache_and_scratch.rs";
    conv_block = "../examples/conv_block.rs";
    depthwise_separable = "../examples/depthwise_separable.rs";
    dropout = "../examples/dropout.rs";
    dynamic_shapes = "../examples/dynamic_shapes.rs";
    errors_and_explain = "../examples/errors_and_explain.rs";
    four_bit_weights = "../examples/four_bit_weights.rs";
    gated_mlp = "../examples/gated_mlp.rs";
    gpu = "../examples/gpu.rs";
    half_precision = "../examples/half_precision.rs";
    layouts_and_types = "../examples/layouts_and_types.rs";
    lstm = "../examples/lstm.rs";
    pooling = "../examples/pooling.rs";
    probabilities = "../examples/probabilities.rs";
    quantise = "../examples/quantise.rs";
    quantised_matmul = "../examples/quantised_matmul.rs";
    reductions = "../examples/reductions.rs";
    streams = "../examples/streams.rs";
    threads = "../examples/threads.rs";
    training_step = "../examples/training_step.rs";
    transformer_layer = "../examples/transformer_layer.rs";
    upsampling = "../examples/upsampling.rs";
    user_memory = "../examples/user_memory.rs";
}
