/* Memory descriptors: every tag against a plain reading of its name, strides, and the algebra of layouts. */
#include <ctype.h>

#include "helpers.h"

static const dnnl_dim_t sizes[DNNL_MAX_NDIMS] = {3, 5, 2, 4, 3, 2, 1, 2, 1, 2, 1, 2};

/* What a tag's name says about a tensor of `sizes`. */
struct reading {
    int ndims, nblks;
    dnnl_dim_t padded[DNNL_MAX_NDIMS], strides[DNNL_MAX_NDIMS], blks[DNNL_MAX_NDIMS], idxs[DNNL_MAX_NDIMS], elements;
};

static struct reading read_name(const char *name) {
    struct reading r = {0};
    int order[DNNL_MAX_NDIMS];
    dnnl_dim_t block[DNNL_MAX_NDIMS], inner = 1;
    for (; isalpha((unsigned char)*name); name++)
        order[r.ndims++] = tolower((unsigned char)*name) - 'a';
    for (int d = 0; d < r.ndims; d++)
        block[d] = 1;
    while (*name) {
        char *letter;
        dnnl_dim_t size = strtol(name, &letter, 10);
        r.blks[r.nblks] = size;
        r.idxs[r.nblks++] = *letter - 'a';
        block[*letter - 'a'] *= size;
        inner *= size;
        name = letter + 1;
    }
    r.elements = inner;
    for (int i = r.ndims - 1; i >= 0; i--) {
        int d = order[i];
        r.strides[d] = r.elements;
        r.padded[d] = (sizes[d] + block[d] - 1) / block[d] * block[d];
        r.elements *= r.padded[d] / block[d];
    }
    return r;
}

static void every_tag(void) {
    for (int tag = dnnl_a; tag < dnnl_format_tag_last; tag++) {
        struct reading r = read_name(dnnl_fmt_tag2str((dnnl_format_tag_t)tag));
        dnnl_memory_desc_t desc = tagged(r.ndims, sizes, dnnl_bf16, (dnnl_format_tag_t)tag);
        if (!desc) {
            count_check(false, dnnl_fmt_tag2str((dnnl_format_tag_t)tag), __FILE__, __LINE__);
            continue;
        }
        EQUAL(query_s32(desc, dnnl_query_ndims_s32), r.ndims);
        EQUAL(query_s32(desc, dnnl_query_inner_nblks_s32), r.nblks);
        bool same = same_dims(query_dims(desc, dnnl_query_dims), sizes, r.ndims)
                && same_dims(query_dims(desc, dnnl_query_padded_dims), r.padded, r.ndims)
                && same_dims(query_dims(desc, dnnl_query_strides), r.strides, r.ndims)
                && same_dims(query_dims(desc, dnnl_query_inner_blks), r.blks, r.nblks)
                && same_dims(query_dims(desc, dnnl_query_inner_idxs), r.idxs, r.nblks);
        count_check(same, dnnl_fmt_tag2str((dnnl_format_tag_t)tag), __FILE__, __LINE__);
        EQUAL(dnnl_memory_desc_get_size(desc), r.elements * 2);
        OK(dnnl_memory_desc_destroy(desc));
    }
}

static void creation(void) {
    dnnl_memory_desc_t desc = NULL;
    const dnnl_dim_t *dims = DIMS(2, 3, 4, 5), *nhwc = DIMS(60, 1, 15, 3);
    INVALID(dnnl_memory_desc_create_with_tag(NULL, 4, dims, dnnl_f32, dnnl_nchw));
    INVALID(dnnl_memory_desc_create_with_tag(&desc, 4, NULL, dnnl_f32, dnnl_nchw));
    INVALID(dnnl_memory_desc_create_with_tag(&desc, -1, dims, dnnl_f32, dnnl_nchw));
    INVALID(dnnl_memory_desc_create_with_tag(&desc, 13, dims, dnnl_f32, dnnl_nchw));
    INVALID(dnnl_memory_desc_create_with_tag(&desc, 3, dims, dnnl_f32, dnnl_nchw));
    INVALID(dnnl_memory_desc_create_with_tag(&desc, 4, DIMS(2, -3, 4, 5), dnnl_f32, dnnl_nchw));
    INVALID(dnnl_memory_desc_create_with_tag(&desc, 2, DIMS(3, 5), dnnl_s4, dnnl_ab));
    INVALID(dnnl_memory_desc_create_with_tag(&desc, 4, dims, (dnnl_data_type_t)999, dnnl_nchw));
    INVALID(dnnl_memory_desc_create_with_tag(&desc, 4, dims, dnnl_f32, (dnnl_format_tag_t)99999));
    INVALID(dnnl_memory_desc_create_with_strides(NULL, 4, dims, dnnl_f32, nhwc));
    INVALID(dnnl_memory_desc_create_with_strides(&desc, 4, NULL, dnnl_f32, nhwc));
    INVALID(dnnl_memory_desc_create_with_strides(&desc, 2, DIMS(4, 4), dnnl_f32, DIMS(2, 1)));
    INVALID(dnnl_memory_desc_create_with_strides(&desc, 2, DIMS(4, 4), dnnl_f32, DIMS(-4, 1)));

    OK(dnnl_memory_desc_create_with_strides(&desc, 4, dims, dnnl_f32, nhwc));
    dnnl_memory_desc_t tag = tagged(4, dims, dnnl_f32, dnnl_nhwc), plain = NULL;
    EQUAL(dnnl_memory_desc_equal(desc, tag), 1);
    OK(dnnl_memory_desc_create_with_strides(&plain, 4, dims, dnnl_f32, NULL));
    EQUAL(dnnl_memory_desc_equal(plain, tag), 0);
    CHECK(same_dims(query_dims(plain, dnnl_query_strides), DIMS(60, 20, 5, 1), 4));
    EQUAL(dnnl_memory_desc_equal(NULL, tag), 0);
    EQUAL(dnnl_memory_desc_equal(tag, NULL), 0);
    EQUAL(dnnl_memory_desc_get_size(NULL), 0);
    OK(dnnl_memory_desc_destroy(desc));
    OK(dnnl_memory_desc_destroy(plain));

    dnnl_memory_desc_t copy = NULL;
    OK(dnnl_memory_desc_clone(&copy, tag));
    CHECK(copy != tag);
    EQUAL(dnnl_memory_desc_equal(copy, tag), 1);
    OK(dnnl_memory_desc_destroy(copy));
    GUARDED(dnnl_memory_desc_clone(NULL, tag));
    GUARDED(dnnl_memory_desc_clone(&copy, NULL));
    OK(dnnl_memory_desc_destroy(tag));
    OK(dnnl_memory_desc_destroy(NULL));
}

/* A descriptor as bytes, and back. */
static void blob(void) {
    dnnl_memory_desc_t desc = tagged(4, DIMS(2, 17, 4, 5), dnnl_s8, dnnl_nChw16c), back = NULL;
    size_t size = 0;
    OK(dnnl_memory_desc_get_blob(NULL, &size, desc));
    EQUAL(size, 768);
    uint8_t bytes[768];
    OK(dnnl_memory_desc_get_blob(bytes, &size, desc));
    OK(dnnl_memory_desc_create_with_blob(&back, bytes));
    EQUAL(dnnl_memory_desc_equal(desc, back), 1);
    OK(dnnl_memory_desc_destroy(back));
    INVALID(dnnl_memory_desc_get_blob(NULL, NULL, desc));
    INVALID(dnnl_memory_desc_get_blob(bytes, &size, NULL));
    INVALID(dnnl_memory_desc_create_with_blob(NULL, bytes));
    INVALID(dnnl_memory_desc_create_with_blob(&back, NULL));

    /* The record that clients read in place; 3.14 moved its first two fields. */
    int32_t ndims, type;
    int64_t dims[4], padded[4];
    memcpy(&ndims, bytes + 4, sizeof ndims);
    memcpy(dims, bytes + 8, sizeof dims);
    memcpy(&type, bytes + 104, sizeof type);
    memcpy(padded, bytes + 112, sizeof padded);
    if (dnnl_version()->minor == 13) {
        EQUAL(bytes[0], 1);
        EQUAL(ndims, 4);
    }
    EQUAL(type, dnnl_s8);
    CHECK(same_dims(dims, DIMS(2, 17, 4, 5), 4));
    CHECK(same_dims(padded, DIMS(2, 32, 4, 5), 4));
    CHECK(memcmp(bytes, desc, sizeof bytes) == 0);
    OK(dnnl_memory_desc_destroy(desc));
}

/* Sizes in bytes of unusual descriptors. */
static void byte_sizes(void) {
    static const struct {
        int ndims;
        dnnl_dims_t dims;
        dnnl_data_type_t type;
        dnnl_format_tag_t tag;
        size_t size;
    } rows[] = {
            {2, {3, 6}, dnnl_s4, dnnl_ab, 9},
            {2, {4, 6}, dnnl_u4, dnnl_ba, 12},
            {2, {3, 6}, dnnl_f4_e2m1, dnnl_ab, 9},
            {1, {7}, dnnl_f64, dnnl_a, 56},
            {2, {0, 5}, dnnl_f32, dnnl_ab, 0},
            {2, {3, 5}, dnnl_f32, dnnl_format_tag_any, 0},
            {0, {0}, dnnl_f32, dnnl_ab, 0},
            {2, {3, DNNL_RUNTIME_DIM_VAL}, dnnl_f32, dnnl_ab, DNNL_RUNTIME_SIZE_VAL},
    };
    for (int i = 0; i < COUNT_OF(rows); i++) {
        dnnl_memory_desc_t desc = NULL;
        OK(dnnl_memory_desc_create_with_tag(&desc, rows[i].ndims, rows[i].dims, rows[i].type, rows[i].tag));
        EQUAL(dnnl_memory_desc_get_size(desc), rows[i].size);
        EQUAL(dnnl_memory_desc_get_size_v2(desc, 0), rows[i].size);
        OK(dnnl_memory_desc_destroy(desc));
    }
    dnnl_memory_desc_t gap = NULL, broadcast = NULL;
    OK(dnnl_memory_desc_create_with_strides(&gap, 2, DIMS(3, 5), dnnl_f32, DIMS(8, 1)));
    EQUAL(dnnl_memory_desc_get_size(gap), 3 * 8 * 4);
    OK(dnnl_memory_desc_create_with_strides(&broadcast, 2, DIMS(3, 5), dnnl_f32, DIMS(0, 1)));
    EQUAL(dnnl_memory_desc_get_size(broadcast), 5 * 4);
    OK(dnnl_memory_desc_destroy(gap));
    OK(dnnl_memory_desc_destroy(broadcast));
}

static void submemory(void) {
    dnnl_memory_desc_t parent = tagged(4, DIMS(4, 32, 6, 6), dnnl_f32, dnnl_nChw16c), part = NULL;
    OK(dnnl_memory_desc_create_submemory(&part, parent, DIMS(2, 16, 6, 3), DIMS(1, 16, 0, 2)));
    CHECK(same_dims(query_dims(part, dnnl_query_dims), DIMS(2, 16, 6, 3), 4));
    EQUAL(query_s64(part, dnnl_query_submemory_offset_s64), 1 * 32 * 36 + 16 * 36 + 2 * 16);
    CHECK(same_dims(query_dims(part, dnnl_query_strides), DIMS(32 * 36, 16 * 36, 6 * 16, 16), 4));
    OK(dnnl_memory_desc_destroy(part));
    INVALID(dnnl_memory_desc_create_submemory(&part, parent, DIMS(4, 32, 6, 6), DIMS(1, 0, 0, 0)));
    INVALID(dnnl_memory_desc_create_submemory(&part, parent, DIMS(1, 16, 6, 6), DIMS(-1, 0, 0, 0)));
    STATUS(dnnl_unimplemented, dnnl_memory_desc_create_submemory(&part, parent, DIMS(1, 8, 6, 6), DIMS(0, 8, 0, 0)));
    INVALID(dnnl_memory_desc_create_submemory(NULL, parent, DIMS(1, 16, 6, 6), DIMS(0, 0, 0, 0)));
    INVALID(dnnl_memory_desc_create_submemory(&part, NULL, DIMS(1, 16, 6, 6), DIMS(0, 0, 0, 0)));
    dnnl_memory_desc_t any = tagged(2, DIMS(4, 4), dnnl_f32, dnnl_format_tag_any);
    STATUS(dnnl_unimplemented, dnnl_memory_desc_create_submemory(&part, any, DIMS(1, 1), DIMS(0, 0)));
    OK(dnnl_memory_desc_destroy(any));
    OK(dnnl_memory_desc_destroy(parent));
}

static void reshape_and_permute(void) {
    dnnl_memory_desc_t from = tagged(4, DIMS(2, 3, 4, 5), dnnl_f32, dnnl_nchw), to = NULL;
    static const struct {
        int ndims;
        dnnl_dims_t dims, strides;
    } shapes[] = {
            {2, {6, 20}, {20, 1}}, {1, {120}, {1}}, {5, {2, 3, 1, 4, 5}, {60, 20, 20, 5, 1}}, {5, {2, 3, 2, 2, 5}, {60, 20, 10, 5, 1}}};
    for (int i = 0; i < COUNT_OF(shapes); i++) {
        OK(dnnl_memory_desc_reshape(&to, from, shapes[i].ndims, shapes[i].dims));
        CHECK(same_dims(query_dims(to, dnnl_query_dims), shapes[i].dims, shapes[i].ndims));
        dnnl_memory_desc_t want = NULL;
        OK(dnnl_memory_desc_create_with_strides(&want, shapes[i].ndims, shapes[i].dims, dnnl_f32, shapes[i].strides));
        EQUAL(dnnl_memory_desc_equal(to, want), 1);
        OK(dnnl_memory_desc_destroy(want));
        OK(dnnl_memory_desc_destroy(to));
    }
    INVALID(dnnl_memory_desc_reshape(&to, from, 2, DIMS(6, 21)));
    INVALID(dnnl_memory_desc_reshape(NULL, from, 2, DIMS(6, 20)));
    INVALID(dnnl_memory_desc_reshape(&to, NULL, 2, DIMS(6, 20)));
    dnnl_memory_desc_t channels_last = tagged(4, DIMS(2, 3, 4, 5), dnnl_f32, dnnl_nhwc);
    INVALID(dnnl_memory_desc_reshape(&to, channels_last, 2, DIMS(2, 60)));

    int to_nhwc[4] = {0, 3, 1, 2}, twice[4] = {0, 1, 1, 2}, outside[4] = {0, 1, 2, 4};
    OK(dnnl_memory_desc_permute_axes(&to, channels_last, to_nhwc));
    CHECK(same_dims(query_dims(to, dnnl_query_dims), DIMS(2, 4, 5, 3), 4));
    CHECK(same_dims(query_dims(to, dnnl_query_strides), DIMS(60, 15, 3, 1), 4));
    OK(dnnl_memory_desc_destroy(to));
    INVALID(dnnl_memory_desc_permute_axes(&to, from, twice));
    INVALID(dnnl_memory_desc_permute_axes(&to, from, outside));
    INVALID(dnnl_memory_desc_permute_axes(NULL, from, to_nhwc));
    INVALID(dnnl_memory_desc_permute_axes(&to, NULL, to_nhwc));
    OK(dnnl_memory_desc_destroy(from));
    OK(dnnl_memory_desc_destroy(channels_last));
}

static void queries(void) {
    dnnl_memory_desc_t desc = tagged(3, DIMS(2, 3, 4), dnnl_u8, dnnl_acb), any = tagged(3, DIMS(2, 3, 4), dnnl_u8, dnnl_format_tag_any);
    dnnl_data_type_t type;
    dnnl_format_kind_t kind;
    const dnnl_dim_t *dims;
    int number;
    int64_t wide;
    OK(dnnl_memory_desc_query(desc, dnnl_query_data_type, &type));
    EQUAL(type, dnnl_u8);
    OK(dnnl_memory_desc_query_v2(desc, dnnl_query_data_type, 0, &type));
    OK(dnnl_memory_desc_query(desc, dnnl_query_format_kind, &kind));
    EQUAL(kind, dnnl_blocked);
    OK(dnnl_memory_desc_query(any, dnnl_query_format_kind, &kind));
    EQUAL(kind, dnnl_format_kind_any);
    OK(dnnl_memory_desc_query(desc, dnnl_query_padded_offsets, &dims));
    CHECK(same_dims(dims, DIMS(0, 0, 0), 3));
    OK(dnnl_memory_desc_query_v2(desc, dnnl_query_num_handles_s32, 0, &number));
    EQUAL(number, 1);
    INVALID(dnnl_memory_desc_query(any, dnnl_query_strides, &dims));
    INVALID(dnnl_memory_desc_query(any, dnnl_query_inner_nblks_s32, &number));
    INVALID(dnnl_memory_desc_query(any, dnnl_query_inner_blks, &dims));
    INVALID(dnnl_memory_desc_query(any, dnnl_query_inner_idxs, &dims));
    INVALID(dnnl_memory_desc_query_v2(desc, dnnl_query_nnz_s64, 0, &wide));
    INVALID(dnnl_memory_desc_query_v2(desc, dnnl_query_sparse_encoding, 0, &number));
    INVALID(dnnl_memory_desc_query(NULL, dnnl_query_ndims_s32, &number));
    INVALID(dnnl_memory_desc_query(desc, dnnl_query_ndims_s32, NULL));
    STATUS(dnnl_unimplemented, dnnl_memory_desc_query(desc, dnnl_query_impl_info_str, &dims));
    INVALID(dnnl_memory_desc_query_v2(desc, dnnl_query_data_type, 1, &type));
    OK(dnnl_memory_desc_destroy(desc));
    OK(dnnl_memory_desc_destroy(any));
}

/* Dimensions of one element carry no stride; dimensions and types count. */
static void equality(void) {
    dnnl_memory_desc_t a = NULL, b = NULL;
    OK(dnnl_memory_desc_create_with_strides(&a, 2, DIMS(1, 5), dnnl_f32, DIMS(5, 1)));
    OK(dnnl_memory_desc_create_with_strides(&b, 2, DIMS(1, 5), dnnl_f32, DIMS(77, 1)));
    EQUAL(dnnl_memory_desc_equal(a, b), 1);
    EQUAL(dnnl_memory_desc_equal(a, a), 1);
    OK(dnnl_memory_desc_destroy(b));
    b = tagged(2, DIMS(1, 5), dnnl_s32, dnnl_ab);
    EQUAL(dnnl_memory_desc_equal(a, b), 0);
    OK(dnnl_memory_desc_destroy(b));
    b = tagged(2, DIMS(1, 6), dnnl_f32, dnnl_ab);
    EQUAL(dnnl_memory_desc_equal(a, b), 0);
    OK(dnnl_memory_desc_destroy(b));
    b = tagged(2, DIMS(1, 5), dnnl_f32, dnnl_format_tag_any);
    EQUAL(dnnl_memory_desc_equal(a, b), 0);
    OK(dnnl_memory_desc_destroy(b));
    OK(dnnl_memory_desc_destroy(a));
    a = tagged(0, DIMS(0), dnnl_f32, dnnl_format_tag_undef);
    b = tagged(0, DIMS(0), dnnl_data_type_undef, dnnl_format_tag_undef);
    EQUAL(dnnl_memory_desc_equal(a, b), 1);
    OK(dnnl_memory_desc_destroy(a));
    OK(dnnl_memory_desc_destroy(b));
}

void area_layouts(void) {
    every_tag();
    creation();
    blob();
    byte_sizes();
    submemory();
    reshape_and_permute();
    queries();
    equality();
}
