/* Memory objects: dense, sparse, host scalars; handles and mapping. */
#include "helpers.h"

static void dense(void) {
    dnnl_memory_desc_t desc = tagged(2, DIMS(3, 4), dnnl_f32, dnnl_ab);
    dnnl_memory_t memory = NULL;
    INVALID(dnnl_memory_create(NULL, desc, the_engine(), DNNL_MEMORY_ALLOCATE));
    OK(dnnl_memory_create(&memory, NULL, the_engine(), DNNL_MEMORY_ALLOCATE));
    OK(dnnl_memory_destroy(memory));
    INVALID(dnnl_memory_create(&memory, desc, NULL, DNNL_MEMORY_ALLOCATE));
    OK(dnnl_memory_create(&memory, desc, the_engine(), DNNL_MEMORY_ALLOCATE));

    const_dnnl_memory_desc_t own = NULL;
    OK(dnnl_memory_get_memory_desc(memory, &own));
    EQUAL(dnnl_memory_desc_equal(own, desc), 1);
    dnnl_engine_t engine = NULL;
    OK(dnnl_memory_get_engine(memory, &engine));
    CHECK(engine == the_engine());

    void *handle = NULL, *mapped = NULL;
    OK(dnnl_memory_get_data_handle(memory, &handle));
    CHECK(handle != NULL);
    OK(dnnl_memory_map_data(memory, &mapped));
    CHECK(mapped == handle);
    OK(dnnl_memory_unmap_data(memory, mapped));
    OK(dnnl_memory_map_data_v2(memory, &mapped, 0));
    CHECK(mapped == handle);
    OK(dnnl_memory_unmap_data_v2(memory, mapped, 0));
    INVALID(dnnl_memory_map_data_v2(memory, &mapped, 1));
    INVALID(dnnl_memory_map_data(NULL, &mapped));
    INVALID(dnnl_memory_map_data(memory, NULL));
    INVALID(dnnl_memory_unmap_data(NULL, mapped));
    INVALID(dnnl_memory_get_data_handle(memory, NULL));
    INVALID(dnnl_memory_get_data_handle_v2(memory, &mapped, 1));
    INVALID(dnnl_memory_get_memory_desc(NULL, &own));
    INVALID(dnnl_memory_get_memory_desc(memory, NULL));
    INVALID(dnnl_memory_get_engine(NULL, &engine));
    INVALID(dnnl_memory_get_engine(memory, NULL));

    float mine[12];
    OK(dnnl_memory_set_data_handle(memory, mine));
    OK(dnnl_memory_get_data_handle(memory, &handle));
    CHECK(handle == mine);
    OK(dnnl_memory_set_data_handle_v2(memory, NULL, 0));
    OK(dnnl_memory_get_data_handle_v2(memory, &handle, 0));
    CHECK(handle == NULL);
    INVALID(dnnl_memory_set_data_handle(NULL, mine));
    INVALID(dnnl_memory_set_data_handle_v2(memory, mine, 2));
    OK(dnnl_memory_destroy(memory));
    OK(dnnl_memory_destroy(NULL));

    void *handles[] = {mine};
    OK(dnnl_memory_create_v2(&memory, desc, the_engine(), 1, handles));
    OK(dnnl_memory_get_data_handle(memory, &handle));
    CHECK(handle == mine);
    OK(dnnl_memory_destroy(memory));
    INVALID(dnnl_memory_create_v2(&memory, desc, the_engine(), 0, handles));
    INVALID(dnnl_memory_create_v2(&memory, desc, the_engine(), 1, NULL));
    OK(dnnl_memory_create(&memory, desc, the_engine(), DNNL_MEMORY_NONE));
    OK(dnnl_memory_get_data_handle(memory, &handle));
    CHECK(handle == NULL);
    OK(dnnl_memory_destroy(memory));
    OK(dnnl_memory_desc_destroy(desc));
}

/* Descriptors that memory cannot be made of, and those of nothing. */
static void unusual(void) {
    static const struct {
        int ndims;
        dnnl_dims_t dims;
        dnnl_format_tag_t tag;
        dnnl_status_t status;
    } rows[] = {
            {2, {3, 4}, dnnl_format_tag_any, dnnl_invalid_arguments},
            {2, {3, DNNL_RUNTIME_DIM_VAL}, dnnl_ab, dnnl_invalid_arguments},
            {2, {0, 4}, dnnl_ab, dnnl_success},
            {0, {0}, dnnl_format_tag_undef, dnnl_success},
    };
    for (int i = 0; i < COUNT_OF(rows); i++) {
        dnnl_memory_desc_t desc = tagged(rows[i].ndims, rows[i].dims, dnnl_f32, rows[i].tag);
        dnnl_memory_t memory = NULL;
        STATUS(rows[i].status, dnnl_memory_create(&memory, desc, the_engine(), DNNL_MEMORY_ALLOCATE));
        if (memory) {
            void *mapped = memory;
            OK(dnnl_memory_map_data(memory, &mapped));
            CHECK(mapped == NULL);
            OK(dnnl_memory_unmap_data(memory, mapped));
        }
        OK(dnnl_memory_destroy(memory));
        OK(dnnl_memory_desc_destroy(desc));
    }
}

static void sparse(void) {
    dnnl_memory_desc_t csr = NULL, coo = NULL, packed = NULL, none = NULL;
    OK(dnnl_memory_desc_create_with_csr_encoding(&csr, 2, DIMS(4, 6), dnnl_f32, 5, dnnl_s32, dnnl_s32));
    OK(dnnl_memory_desc_create_with_coo_encoding(&coo, 2, DIMS(4, 6), dnnl_f32, 5, dnnl_s32));
    OK(dnnl_memory_desc_create_with_packed_encoding(&packed, 2, DIMS(4, 6), dnnl_s8, 5));
    STATUS(dnnl_unimplemented, dnnl_memory_desc_create_with_csr_encoding(&none, 3, DIMS(4, 6, 2), dnnl_f32, 5, dnnl_s32, dnnl_s32));
    STATUS(dnnl_unimplemented, dnnl_memory_desc_create_with_coo_encoding(&none, 3, DIMS(4, 6, 2), dnnl_f32, 5, dnnl_s32));
    INVALID(dnnl_memory_desc_create_with_csr_encoding(NULL, 2, DIMS(4, 6), dnnl_f32, 5, dnnl_s32, dnnl_s32));
    INVALID(dnnl_memory_desc_create_with_coo_encoding(NULL, 2, DIMS(4, 6), dnnl_f32, 5, dnnl_s32));
    INVALID(dnnl_memory_desc_create_with_packed_encoding(NULL, 2, DIMS(4, 6), dnnl_s8, 5));

    const struct {
        dnnl_memory_desc_t desc;
        int encoding, handles;
        size_t sizes[3];
    } rows[] = {{csr, dnnl_csr, 3, {20, 20, 20}}, {coo, dnnl_coo, 3, {20, 20, 20}}};
    for (int i = 0; i < COUNT_OF(rows); i++) {
        int encoding = -1, handles = -1;
        dnnl_dim_t nnz = -1;
        dnnl_format_kind_t kind = dnnl_format_kind_undef;
        OK(dnnl_memory_desc_query(rows[i].desc, dnnl_query_format_kind, &kind));
        EQUAL(kind, dnnl_format_kind_sparse);
        OK(dnnl_memory_desc_query_v2(rows[i].desc, dnnl_query_sparse_encoding, 0, &encoding));
        EQUAL(encoding, rows[i].encoding);
        OK(dnnl_memory_desc_query_v2(rows[i].desc, dnnl_query_nnz_s64, 0, &nnz));
        EQUAL(nnz, 5);
        OK(dnnl_memory_desc_query_v2(rows[i].desc, dnnl_query_num_handles_s32, 0, &handles));
        EQUAL(handles, rows[i].handles);
        for (int h = 0; h < rows[i].handles; h++) {
            EQUAL(dnnl_memory_desc_get_size_v2(rows[i].desc, h), rows[i].sizes[h]);
            dnnl_data_type_t type = dnnl_data_type_undef;
            OK(dnnl_memory_desc_query_v2(rows[i].desc, dnnl_query_data_type, h, &type));
            EQUAL(type, h == 0 ? dnnl_f32 : dnnl_s32);
        }
        float values[5];
        int32_t first[5], second[5];
        void *buffers[] = {values, first, second}, *got = NULL;
        dnnl_memory_t memory = NULL;
        OK(dnnl_memory_create_v2(&memory, rows[i].desc, the_engine(), 3, buffers));
        for (int h = 0; h < 3; h++) {
            OK(dnnl_memory_get_data_handle_v2(memory, &got, h));
            CHECK(got == buffers[h]);
            OK(dnnl_memory_map_data_v2(memory, &got, h));
            CHECK(got == buffers[h]);
            OK(dnnl_memory_unmap_data_v2(memory, got, h));
        }
        INVALID(dnnl_memory_get_data_handle_v2(memory, &got, 3));
        OK(dnnl_memory_destroy(memory));
    }
    EQUAL(dnnl_memory_desc_equal(csr, csr), 1);
    EQUAL(dnnl_memory_desc_equal(csr, coo), 0);
    OK(dnnl_memory_desc_destroy(csr));
    OK(dnnl_memory_desc_destroy(coo));
    OK(dnnl_memory_desc_destroy(packed));
}

static void host_scalars(void) {
    dnnl_memory_desc_t desc = NULL;
    dnnl_memory_t memory = NULL;
    float value = 2.5f, got = 0;
    void *handle = NULL;
    INVALID(dnnl_memory_desc_create_host_scalar(NULL, dnnl_f32));
    INVALID(dnnl_memory_desc_create_host_scalar(&desc, dnnl_data_type_undef));
    OK(dnnl_memory_desc_create_host_scalar(&desc, dnnl_f32));
    dnnl_format_kind_t kind = dnnl_format_kind_undef;
    OK(dnnl_memory_desc_query(desc, dnnl_query_format_kind, &kind));
    EQUAL(kind, dnnl_format_kind_host_scalar);
    EQUAL(query_s32(desc, dnnl_query_ndims_s32), 1);
    EQUAL(dnnl_memory_desc_get_size(desc), 4);
    INVALID(dnnl_memory_create(&memory, desc, the_engine(), DNNL_MEMORY_ALLOCATE));
    OK(dnnl_memory_create_host_scalar(&memory, desc, &value));
    value = 7;
    OK(dnnl_memory_get_host_scalar_value(memory, &got));
    NEAR(got, 2.5, 0);
    OK(dnnl_memory_set_host_scalar_value(memory, &value));
    OK(dnnl_memory_get_host_scalar_value(memory, &got));
    NEAR(got, 7, 0);
    INVALID(dnnl_memory_get_data_handle(memory, &handle));
    INVALID(dnnl_memory_set_data_handle(memory, &value));
    INVALID(dnnl_memory_get_host_scalar_value(memory, NULL));
    INVALID(dnnl_memory_set_host_scalar_value(memory, NULL));
    INVALID(dnnl_memory_get_host_scalar_value(NULL, &got));
    OK(dnnl_memory_destroy(memory));
    INVALID(dnnl_memory_create_host_scalar(NULL, desc, &value));
    INVALID(dnnl_memory_create_host_scalar(&memory, NULL, &value));
    INVALID(dnnl_memory_create_host_scalar(&memory, desc, NULL));
    OK(dnnl_memory_desc_destroy(desc));

    desc = tagged(1, DIMS(1), dnnl_f32, dnnl_a);
    INVALID(dnnl_memory_create_host_scalar(&memory, desc, &value));
    OK(dnnl_memory_create(&memory, desc, the_engine(), &value));
    INVALID(dnnl_memory_get_host_scalar_value(memory, &got));
    INVALID(dnnl_memory_set_host_scalar_value(memory, &value));
    OK(dnnl_memory_destroy(memory));
    OK(dnnl_memory_desc_destroy(desc));
}

void area_memories(void) {
    dense();
    unusual();
    sparse();
    host_scalars();
}
