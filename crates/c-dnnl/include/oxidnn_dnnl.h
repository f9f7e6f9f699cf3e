/*
 * Functions of oxidnn's libdnnl that oneDNN does not have. Licensed under the Apache License, Version 2.0.
 *
 * Include it after dnnl.h. Programs that do not include it are not affected.
 */
#ifndef OXIDNN_DNNL_H
#define OXIDNN_DNNL_H

#include <stdbool.h>

#include "oneapi/dnnl/dnnl.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Prefers implementations whose kernels work for every shape to those generated for a particular one, so that primitives of new sizes are created
 * quickly and share their kernels and packed weights. dnnl_query_impl_info_str of a descriptor that followed the hint ends with ":reusable". The
 * default is false; the environment variable ONEDNN_PREFER_REUSABLE_KERNELS=1 sets the hint for the whole process.
 */
dnnl_status_t DNNL_API dnnl_primitive_attr_set_hint_reusable_kernels(dnnl_primitive_attr_t attr, bool hint);
dnnl_status_t DNNL_API dnnl_primitive_attr_get_hint_reusable_kernels(const_dnnl_primitive_attr_t attr, bool *hint);

/*
 * Declares that size `dim` of the tensor passed as `arg` (DNNL_ARG_SRC...) will vary between primitives. It implies the hint above. `examples` are
 * `count` values of the size: code for them is generated and cached when a primitive with these attributes is created. If several sizes vary, the
 * first examples of all of them belong together, then the second, and so on. Another call for the same size replaces the examples; a count of 0
 * means that there are none, and a negative one withdraws the declaration.
 */
dnnl_status_t DNNL_API oxidnn_primitive_attr_set_dynamic_dim(
        dnnl_primitive_attr_t attr, int arg, int dim, int count, const dnnl_dim_t *examples);
/* `count` is negative if the size was not declared. The examples are valid until the attributes are changed or destroyed. */
dnnl_status_t DNNL_API oxidnn_primitive_attr_get_dynamic_dim(
        const_dnnl_primitive_attr_t attr, int arg, int dim, int *count, const dnnl_dim_t **examples);

/*
 * Explains the choice of the implementation: the problem as a line for `oxidnn verify` and `oxidnn bench`, then a line for every implementation, best
 * first, with the reason why it was chosen or not. The text is valid as long as the descriptor.
 */
dnnl_status_t DNNL_API oxidnn_primitive_desc_explain(const_dnnl_primitive_desc_t primitive_desc, const char **text);

/*
 * A flag for dnnl_stream_create: dnnl_primitive_execute returns before the work is done, on a CPU too. Work runs in order; dnnl_stream_wait,
 * dnnl_memory_map_data and dnnl_memory_destroy wait for it, and failures are reported when waiting. The environment variable
 * ONEDNN_ASYNCHRONOUS_STREAMS=1 sets the flag for the whole process.
 */
#define oxidnn_stream_asynchronous ((dnnl_stream_flags_t)(1 << 16))

/* Contents of the process's primitive cache, and look-ups since the process began. */
typedef struct {
    uint64_t hits;
    uint64_t misses;
    uint64_t evictions;
    uint64_t entries;
    /* Bytes of code and tables. */
    uint64_t bytes;
} oxidnn_primitive_cache_statistics_t;

dnnl_status_t DNNL_API oxidnn_get_primitive_cache_statistics(oxidnn_primitive_cache_statistics_t *statistics);

/* The limit on the size of the primitive cache, in bytes; ONEDNN_PRIMITIVE_CACHE_BYTES sets it in MiB. */
dnnl_status_t DNNL_API oxidnn_get_primitive_cache_bytes(size_t *bytes);
dnnl_status_t DNNL_API oxidnn_set_primitive_cache_bytes(size_t bytes);

/*
 * GPUs. dnnl_engine_create(&engine, dnnl_gpu, i) creates an engine for GPU i with its primary context. dnnl_engine_get_count(dnnl_gpu) returns the number
 * of GPUs, 0 without NVIDIA's driver; dnnl_engine_create then prints the reason as a verbose line. Executions are asynchronous. dnnl_memory_create takes
 * device addresses and DNNL_MEMORY_ALLOCATE. dnnl_memory_map_data returns a host copy, which dnnl_memory_unmap_data writes back. A reorder between engines is
 * executed on a stream of the GPU.
 */

/* An engine over the caller's context (a CUcontext), which must outlive the engine and everything made with it. */
dnnl_status_t DNNL_API oxidnn_engine_create_cuda(dnnl_engine_t *engine, void *context);
/* The CUcontext of a GPU engine. */
dnnl_status_t DNNL_API oxidnn_engine_get_cuda_context(dnnl_engine_t engine, void **context);

/*
 * A stream over the caller's CUstream of the engine's context (null: the legacy stream, (void *)2: the calling thread's stream), which must outlive it.
 * Executions are enqueued behind the stream's work. If the CUstream is being captured, they become part of the graph, and the stream must outlive the graph.
 */
dnnl_status_t DNNL_API oxidnn_stream_create_cuda(dnnl_stream_t *stream, dnnl_engine_t engine, void *cuda_stream);
/* The CUstream of a GPU stream. */
dnnl_status_t DNNL_API oxidnn_stream_get_cuda_stream(dnnl_stream_t stream, void **cuda_stream);

#ifdef __cplusplus
}
#endif

#endif
