//! The C functions that we call, with the types of their parameters.
//!
//! Every call is checked against this table before it is made, so the table is what the safety of the crate rests on (functions with results
//! of their own kind are called by `handle`, which declares them). It follows the declarations of oneDNN's headers, and of its tests for a
//! function that these do not have (a `bool` goes as an int). A letter stands for a parameter, after `>` for the result where that is not a
//! status:
//!
//! | letter | C type |
//! |---|---|
//! | `E S M A O P X Y` | handle of an engine, stream, memory descriptor, attribute, post-op list, primitive descriptor, primitive, memory; may be null |
//! | `K Q T J W` | handle of a graph, operation, partition, compiled partition, tensor of a graph |
//! | `e s m a o p x y k q t j w` | pointer that receives such a handle |
//! | `u` | array that receives so many partitions |
//! | `i l z f` | int (enums and unsigned numbers too), 64-bit size, `size_t`, float |
//! | `r d` | number of dimensions, at most 12; array of 12 sizes or null |
//! | `n N` | int or 64-bit number of elements of the arrays of the same call |
//! | `F R` | array of so many floats, of so many memory descriptors |
//! | `G` | array of 12 floats or null |
//! | `c` | C string |
//! | `V H` | "allocate the memory", an array of so many of these |
//! | `h` | `size_t` number of elements of the arrays of the same call |
//! | `B U` | array of so many 64-bit integers, of so many bytes |
//! | `L g D` | pointer to a logical tensor, one that receives it, array that receives so many |
//! | `Z v I` | pointer that receives a `size_t`, a byte; array that receives so many `size_t` |
//! | `b` | pointer to a number of at most 8 bytes |

/// Functions and their parameters.
pub(crate) const SIGNATURES: &[(&str, &str)] = &[
    ("dnnl_set_primitive_cache_capacity", "i"),
    ("dnnl_engine_create", "eiz"),
    ("dnnl_engine_destroy", "E"),
    ("dnnl_stream_create", "sEi"),
    ("dnnl_stream_destroy", "S"),
    ("dnnl_memory_desc_create_with_strides", "mrdid"),
    ("dnnl_memory_desc_create_with_string_tag", "mrdic"),
    ("dnnl_memory_desc_create_with_tag", "mrdii"),
    ("dnnl_memory_desc_create_with_csr_encoding", "mrdilii"),
    ("dnnl_memory_desc_create_with_coo_encoding", "mrdili"),
    ("dnnl_memory_desc_create_host_scalar", "mi"),
    ("dnnl_memory_desc_destroy", "M"),
    ("dnnl_memory_desc_equal", "MM>i"),
    ("dnnl_memory_desc_get_size", "M>z"),
    ("dnnl_memory_desc_get_size_v2", "Mi>z"),
    ("dnnl_memory_create", "yMEV"),
    ("dnnl_memory_create_v2", "yMEnH"),
    ("dnnl_memory_create_host_scalar", "yMb"),
    ("dnnl_memory_destroy", "Y"),
    ("dnnl_primitive_attr_create", "a"),
    ("dnnl_primitive_attr_destroy", "A"),
    ("dnnl_primitive_attr_set_scratchpad_mode", "Ai"),
    ("dnnl_primitive_attr_set_fpmath_mode_v2", "Aii"),
    ("dnnl_primitive_attr_set_accumulation_mode", "Ai"),
    ("dnnl_primitive_attr_set_deterministic", "Ai"),
    ("dnnl_primitive_attr_set_rounding", "Aii"),
    ("dnnl_primitive_attr_set_dropout", "AM"),
    ("dnnl_primitive_attr_set_dropout_v2", "AMiii"),
    ("dnnl_primitive_attr_set_scales", "Aiirdi"),
    ("dnnl_primitive_attr_set_scales_v2", "Aiirdii"),
    ("dnnl_primitive_attr_set_scales_v3", "Aiirdiii"),
    ("dnnl_primitive_attr_set_zero_points", "Aiirdi"),
    ("dnnl_primitive_attr_set_zero_points_v2", "Aiirdii"),
    ("dnnl_primitive_attr_set_precomputed_reductions", "Aiirdi"),
    ("dnnl_primitive_attr_set_rnn_data_qparams", "Aff"),
    ("dnnl_primitive_attr_set_rnn_weights_qparams", "ANiF"),
    ("dnnl_primitive_attr_set_rnn_weights_projection_qparams", "ANiF"),
    ("_Z35dnnl_primitive_attr_set_rnn_tparamsP19dnnl_primitive_attrblPKff", "AiNFf"),
    ("dnnl_primitive_attr_set_post_ops", "AO"),
    ("dnnl_post_ops_create", "o"),
    ("dnnl_post_ops_destroy", "O"),
    ("dnnl_post_ops_append_sum", "Ofii"),
    ("dnnl_post_ops_append_eltwise", "Oiff"),
    ("dnnl_post_ops_append_dw", "Oiiilll"),
    ("dnnl_post_ops_append_binary", "OiM"),
    ("dnnl_post_ops_append_binary_v2", "OiMM"),
    ("dnnl_post_ops_append_prelu", "Oi"),
    ("dnnl_primitive_desc_destroy", "P"),
    ("dnnl_primitive_desc_next_impl", "P"),
    ("dnnl_primitive_create", "xP"),
    ("dnnl_primitive_destroy", "X"),
    ("dnnl_vanilla_rnn_forward_primitive_desc_create", "pEiiiMMMMMMMiffA"),
    ("dnnl_vanilla_rnn_backward_primitive_desc_create", "pEiiiMMMMMMMMMMMMMMiffPA"),
    ("dnnl_lstm_forward_primitive_desc_create", "pEiiMMMMMMMMMMMiA"),
    ("dnnl_lstm_backward_primitive_desc_create", "pEiiMMMMMMMMMMMMMMMMMMMMMMiPA"),
    ("dnnl_gru_forward_primitive_desc_create", "pEiiMMMMMMMiA"),
    ("dnnl_gru_backward_primitive_desc_create", "pEiiMMMMMMMMMMMMMMiPA"),
    ("dnnl_lbr_gru_forward_primitive_desc_create", "pEiiMMMMMMMiA"),
    ("dnnl_lbr_gru_backward_primitive_desc_create", "pEiiMMMMMMMMMMMMMMiPA"),
    ("dnnl_augru_forward_primitive_desc_create", "pEiiMMMMMMMMiA"),
    ("dnnl_augru_backward_primitive_desc_create", "pEiiMMMMMMMMMMMMMMMMiPA"),
    ("dnnl_lbr_augru_forward_primitive_desc_create", "pEiiMMMMMMMMiA"),
    ("dnnl_lbr_augru_backward_primitive_desc_create", "pEiiMMMMMMMMMMMMMMMMiPA"),
    ("dnnl_reorder_primitive_desc_create", "pMEMEA"),
    ("dnnl_concat_primitive_desc_create", "pEMniRA"),
    ("dnnl_sum_primitive_desc_create", "pEMnFRA"),
    ("dnnl_binary_primitive_desc_create", "pEiMMMA"),
    ("dnnl_binary_primitive_desc_create_v2", "pEiMMMMA"),
    ("dnnl_convolution_forward_primitive_desc_create", "pEiiMMMMddddA"),
    ("dnnl_convolution_backward_data_primitive_desc_create", "pEiMMMddddPA"),
    ("dnnl_convolution_backward_weights_primitive_desc_create", "pEiMMMMddddPA"),
    ("dnnl_deconvolution_forward_primitive_desc_create", "pEiiMMMMddddA"),
    ("dnnl_deconvolution_backward_data_primitive_desc_create", "pEiMMMddddPA"),
    ("dnnl_deconvolution_backward_weights_primitive_desc_create", "pEiMMMMddddPA"),
    ("dnnl_shuffle_forward_primitive_desc_create", "pEiMMilA"),
    ("dnnl_shuffle_backward_primitive_desc_create", "pEMMilPA"),
    ("dnnl_eltwise_forward_primitive_desc_create", "pEiiMMffA"),
    ("dnnl_eltwise_backward_primitive_desc_create", "pEiMMMffPA"),
    ("dnnl_softmax_forward_primitive_desc_create", "pEiiMMiA"),
    ("dnnl_softmax_backward_primitive_desc_create", "pEiMMMiPA"),
    ("dnnl_pooling_forward_primitive_desc_create", "pEiiMMdddddA"),
    ("dnnl_pooling_backward_primitive_desc_create", "pEiMMdddddPA"),
    ("dnnl_prelu_forward_primitive_desc_create", "pEiMMMA"),
    ("dnnl_prelu_backward_primitive_desc_create", "pEMMMMMPA"),
    ("dnnl_lrn_forward_primitive_desc_create", "pEiiMMlfffA"),
    ("dnnl_lrn_backward_primitive_desc_create", "pEiMMMlfffPA"),
    ("dnnl_batch_normalization_forward_primitive_desc_create", "pEiMMfiA"),
    ("dnnl_batch_normalization_backward_primitive_desc_create", "pEiMMMfiPA"),
    ("dnnl_group_normalization_forward_primitive_desc_create", "pEiMMlfiA"),
    ("dnnl_group_normalization_backward_primitive_desc_create", "pEiMMMlfiPA"),
    ("dnnl_layer_normalization_forward_primitive_desc_create_v2", "pEiMMMifiA"),
    ("dnnl_layer_normalization_backward_primitive_desc_create_v2", "pEiMMMMiifiPA"),
    ("dnnl_inner_product_forward_primitive_desc_create", "pEiMMMMA"),
    ("dnnl_inner_product_backward_data_primitive_desc_create", "pEMMMPA"),
    ("dnnl_inner_product_backward_weights_primitive_desc_create", "pEMMMMPA"),
    ("dnnl_matmul_primitive_desc_create", "pEMMMMA"),
    ("dnnl_resampling_forward_primitive_desc_create", "pEiiGMMA"),
    ("dnnl_resampling_backward_primitive_desc_create", "pEiGMMPA"),
    ("dnnl_reduction_primitive_desc_create", "pEiMMffA"),
    ("dnnl_graph_graph_create", "ki"),
    ("dnnl_graph_graph_destroy", "K"),
    ("dnnl_graph_graph_set_fpmath_mode", "Kii"),
    ("dnnl_graph_add_op", "KQ"),
    ("dnnl_graph_graph_finalize", "K"),
    ("dnnl_graph_graph_filter", "Ki"),
    ("dnnl_graph_graph_get_partition_num", "KZ"),
    ("dnnl_graph_graph_get_partitions", "Khu"),
    ("dnnl_graph_op_create", "qzic"),
    ("dnnl_graph_op_destroy", "Q"),
    ("dnnl_graph_op_add_input", "QL"),
    ("dnnl_graph_op_add_output", "QL"),
    ("dnnl_graph_op_set_attr_f32", "QiFh"),
    ("dnnl_graph_op_set_attr_s64", "QiBh"),
    ("dnnl_graph_op_set_attr_bool", "QiUh"),
    ("dnnl_graph_op_set_attr_str", "Qicz"),
    ("dnnl_graph_partition_destroy", "T"),
    ("dnnl_graph_partition_get_op_num", "TZ"),
    ("dnnl_graph_partition_get_ops", "ThI"),
    ("dnnl_graph_partition_is_supported", "Tv"),
    ("dnnl_graph_partition_get_input_ports_num", "TZ"),
    ("dnnl_graph_partition_get_input_ports", "ThD"),
    ("dnnl_graph_partition_get_output_ports_num", "TZ"),
    ("dnnl_graph_partition_get_output_ports", "ThD"),
    ("dnnl_graph_compiled_partition_create", "jT"),
    ("dnnl_graph_compiled_partition_destroy", "J"),
    ("dnnl_graph_compiled_partition_query_logical_tensor", "Jzg"),
    ("dnnl_graph_logical_tensor_get_mem_size", "LZ"),
    ("dnnl_graph_tensor_create", "wLEV"),
    ("dnnl_graph_tensor_create_scalar", "wLb"),
    ("dnnl_graph_tensor_destroy", "W"),
    ("dnnl_graph_set_constant_tensor_cache_capacity", "iz"),
];

/// The parameters of function `name`.
pub(crate) fn of(name: &str) -> Option<&'static str> {
    SIGNATURES.iter().find(|row| row.0 == name).map(|row| row.1)
}
