/* One small primitive descriptor of every creator of dnnl.h. */
#ifndef OXIDNN_TESTS_C_DESCRIPTORS_H
#define OXIDNN_TESTS_C_DESCRIPTORS_H

#include "helpers.h"

struct made {
    const char *name;
    dnnl_primitive_desc_t pd;
    dnnl_primitive_kind_t kind;
    dnnl_prop_kind_t prop;
};

enum { MADE_MAX = 64 };

/* Makes them in an order in which forward comes before its backward; the count. */
int make_descriptors(struct made made[MADE_MAX]);
/* The same for the recurrent cells; adds to `made` from `count` on. */
int make_rnn_descriptors(struct made made[MADE_MAX], int count);
int add_made(struct made made[MADE_MAX], int count, const char *name, dnnl_status_t status, dnnl_primitive_desc_t pd,
        dnnl_primitive_kind_t kind, dnnl_prop_kind_t prop);

#endif
