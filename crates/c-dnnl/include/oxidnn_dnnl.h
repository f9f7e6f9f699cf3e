/* Functions of oxidnn's libdnnl that oneDNN does not have. Include it after dnnl.h; programs that do not know of it never notice. */
#ifndef OXIDNN_DNNL_H
#define OXIDNN_DNNL_H

#include "oneapi/dnnl/dnnl.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __cplusplus
}
#endif

#endif
