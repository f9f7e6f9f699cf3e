/* Shared by the areas of the C program. */
#ifndef OXIDNN_TESTS_C_HELPERS_H
#define OXIDNN_TESTS_C_HELPERS_H

#include <stdlib.h>
#include <string.h>

#include "check.h"

#define DIMS(...) ((const dnnl_dim_t[DNNL_MAX_NDIMS]) {__VA_ARGS__})

/* One engine and one stream for the whole program. */
dnnl_engine_t the_engine(void);
dnnl_stream_t the_stream(void);

/* A descriptor by tag; NULL when the library refuses it. */
dnnl_memory_desc_t tagged(int ndims, const dnnl_dim_t *dims, dnnl_data_type_t type, dnnl_format_tag_t tag);

/* Answers of descriptor queries, -1 when there is none. */
long long query_s32(const_dnnl_memory_desc_t desc, dnnl_query_t what);
long long query_s64(const_dnnl_memory_desc_t desc, dnnl_query_t what);
const dnnl_dim_t *query_dims(const_dnnl_memory_desc_t desc, dnnl_query_t what);
bool same_dims(const dnnl_dim_t *got, const dnnl_dim_t *want, int count);

/* Memory that the library allocates, for a descriptor of a primitive descriptor. */
dnnl_memory_t memory_of(const_dnnl_memory_desc_t desc);
/* Memory of dense f32 values, copied in. */
dnnl_memory_t memory_with(const_dnnl_memory_desc_t desc, const float *values);
float *floats(dnnl_memory_t memory);
/* `source` itself when it has this descriptor already, else a reordered copy: the usual propagation of formats. */
dnnl_memory_t reordered(dnnl_memory_t source, const_dnnl_memory_desc_t desc);
/* `memory` as dense row-major f32 values; to be freed. */
float *dense_values(dnnl_memory_t memory);

/* Small values that differ from one another and are exact in f32. */
void fill(float *values, int count, int seed);

#endif
