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
    conv_block = "../examples/conv_block.rs";
    dynamic_shapes = "../examples/dynamic_shapes.rs";
    errors_and_explain = "../examples/errors_and_explain.rs";
    four_bit_weights = "../examples/four_bit_weights.rs";
    layouts_and_types = "../examples/layouts_and_types.rs";
    lstm = "../examples/lstm.rs";
    quantised_matmul = "../examples/quantised_matmul.rs";
    streams = "../examples/streams.rs";
    threads = "../examples/threads.rs";
    training_step = "../examples/training_step.rs";
    transformer_layer = "../examples/transformer_layer.rs";
    user_memory = "../examples/user_memory.rs";
}
