// Something to report: a primitive made twice and executed, and a request that is refused. The harness reads the lines.
#include "common.hpp"

void area_verbose() {
    for (int i = 0; i < 2; i++) {
        primitive_attr attr;
        post_ops ops;
        ops.append_eltwise(algorithm::eltwise_relu, 0, 0);
        attr.set_post_ops(ops);
        matmul::primitive_desc pd(the_engine(), plain({3, 4}), plain({4, 5}), plain({3, 5}), attr);
        const values y =
                run_for(matmul(pd), {{DNNL_ARG_SRC, put(plain({3, 4}), some(12, 1))}, {DNNL_ARG_WEIGHTS, put(plain({4, 5}), some(20, 2))}},
                        DNNL_ARG_DST, plain({3, 5}));
        EQUAL(y.size(), 15);
    }
    dnnl_engine_t none = nullptr;
    INVALID(dnnl_engine_create(&none, dnnl_cpu, 5));
}
