/*
 * Functions of oxidnn's libdnnl that oneDNN does not have. Licensed under the Apache License, Version 2.0.
 *
 * Include it after dnnl.h. Programs that do not know of it notice nothing.
 */
#ifndef OXIDNN_DNNL_H
#define OXIDNN_DNNL_H

#include <stdbool.h>

#include "oneapi/dnnl/dnnl.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Prefers implementations whose kernels serve every shape to those made for particular ones, so that primitives of new sizes are created quickly
 * and share their kernels and packed weights. dnnl_query_impl_info_str of a descriptor that followed the hint ends with ":reusable". The default
 * is false; the environment variable ONEDNN_PREFER_REUSABLE_KERNELS=1 asks for the same in the whole process.
 */
dnnl_status_t DNNL_API dnnl_primitive_attr_set_hint_reusable_kernels(dnnl_primitive_attr_t attr, bool hint);
dnnl_status_t DNNL_API dnnl_primitive_attr_get_hint_reusable_kernels(const_dnnl_primitive_attr_t attr, bool *hint);

/*
 * Says that size `dim` of the tensor that is passed as `arg` (DNNL_ARG_SRC...) will be another one in primitives to come. It implies the hint above.
 * Of the `count` examples, the first of all such sizes belong together, the second, and so on: code for them is made and cached when a
 * primitive with these attributes is created. Another call for the same size replaces the examples; a count of 0 says that there are none, and
 * a negative one takes the size back.
 */
dnnl_status_t DNNL_API oxidnn_primitive_attr_set_dynamic_dim(
        dnnl_primitive_attr_t attr, int arg, int dim, int count, const dnnl_dim_t *examples);
/* `count` is negative where the size is not said to change. The examples live as long as the attributes are not changed. */
dnnl_status_t DNNL_API oxidnn_primitive_attr_get_dynamic_dim(
        const_dnnl_primitive_attr_t attr, int arg, int dim, int *count, const dnnl_dim_t **examples);

/*
 * Why this implementation: the problem as a line that `oxidnn verify` and `oxidnn bench` replay, then a line for every implementation, best first,
 * and what became of it. The text lives as long as the descriptor.
 */
dnnl_status_t DNNL_API oxidnn_primitive_desc_explain(const_dnnl_primitive_desc_t primitive_desc, const char **text);

/*
 * A flag for dnnl_stream_create: dnnl_primitive_execute returns before the work is done, on a CPU too. Work is in order; dnnl_stream_wait,
 * dnnl_memory_map_data and dnnl_memory_destroy wait for it, and a failure shows at the wait. The environment variable
 * ONEDNN_ASYNCHRONOUS_STREAMS=1 asks for the same in the whole process.
 */
#define oxidnn_stream_asynchronous ((dnnl_stream_flags_t)(1 << 16))

/* What the primitive cache of the process holds, and what it was asked for since the process began. */
typedef struct {
    uint64_t hits;
    uint64_t misses;
    uint64_t evictions;
    uint64_t entries;
    /* Bytes of code and tables. */
    uint64_t bytes;
} oxidnn_primitive_cache_statistics_t;

dnnl_status_t DNNL_API oxidnn_get_primitive_cache_statistics(oxidnn_primitive_cache_statistics_t *statistics);

/* How many bytes the entries of the primitive cache may take; ONEDNN_PRIMITIVE_CACHE_BYTES sets it in MiB. */
dnnl_status_t DNNL_API oxidnn_get_primitive_cache_bytes(size_t *bytes);
dnnl_status_t DNNL_API oxidnn_set_primitive_cache_bytes(size_t bytes);

/*
 * GPUs. dnnl_engine_create(&engine, dnnl_gpu, i) gives an engine of GPU i with its primary context, dnnl_engine_get_count(dnnl_gpu) how many there are:
 * none without NVIDIA's driver, and dnnl_engine_create then says why in the verbose line. Executions return before they are done; dnnl_memory_create takes
 * device addresses and DNNL_MEMORY_ALLOCATE; dnnl_memory_map_data gives a copy of the host's, which dnnl_memory_unmap_data writes back. A reorder between
 * engines is executed on a stream of the GPU.
 */

/* An engine over the caller's context (a CUcontext), which must outlive the engine and everything made with it. */
dnnl_status_t DNNL_API oxidnn_engine_create_cuda(dnnl_engine_t *engine, void *context);
/* The CUcontext of an engine of a GPU. */
dnnl_status_t DNNL_API oxidnn_engine_get_cuda_context(dnnl_engine_t engine, void **context);

/*
 * A stream over the caller's (a CUstream of the engine's context; null is the legacy stream, (void *)2 that of the calling thread), which must outlive
 * it. Executions go behind what is in it, also while it is captured into a graph: then the stream must outlive the graph.
 */
dnnl_status_t DNNL_API oxidnn_stream_create_cuda(dnnl_stream_t *stream, dnnl_engine_t engine, void *cuda_stream);
/* The CUstream of a stream of a GPU. */
dnnl_status_t DNNL_API oxidnn_stream_get_cuda_stream(dnnl_stream_t stream, void **cuda_stream);

#ifdef __cplusplus
}
#endif

#endif
