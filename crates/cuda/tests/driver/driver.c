// A mock of the CUDA driver and of NVRTC for tests without a GPU: launches compute nothing, and what the real ones refuse is refused. Device memory is host memory
// at addresses that the host cannot use, so an access without a copy ends the process, as with a GPU.
//
// The device has the attributes of an H200; its name ends with the numbers of driver calls, launches and compilations so far, so that tests can check what an
// execution costs. Types are those of cuda.h and nvrtc.h as far as layouts matter; handles are pointers.

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

enum { SUCCESS = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, INVALID_CONTEXT = 201, INVALID_IMAGE = 200, STREAM_CAPTURE_UNSUPPORTED = 900 };

static atomic_ulong calls, launches, compilations;

#define CALL(name, ...) \
    EXPORT int name(__VA_ARGS__) { \
        ++calls;
#define END \
    return SUCCESS; \
    }

// Devices and contexts

static int context; // Its address is the one context there is.
static _Thread_local void *stack[16];
static _Thread_local int depth;

EXPORT int cuGetErrorName(int status, const char **text) { *text = status == INVALID_VALUE ? "CUDA_ERROR_INVALID_VALUE" : "CUDA_ERROR"; return SUCCESS; }
EXPORT int cuGetErrorString(int status, const char **text) { (void)status; *text = "refused by the driver of the tests"; return SUCCESS; }

// The driver shuts down at process exit: no thread may be inside of it then, or call it later. Loading takes the microseconds that a test sets.

static atomic_int inside, ended;

static void end(void) {
    if (inside) abort();
    ended = 1;
}

static void load_slowly(void) {
    const char *us = getenv("OXIDNN_TEST_LOAD_US");
    ++inside;
    if (ended) abort();
    usleep(us ? (unsigned)atoi(us) : 0);
    --inside;
}

CALL(cuInit, unsigned flags) (void)flags; atexit(end); END
CALL(cuDriverGetVersion, int *version) *version = 13000; END
CALL(cuDeviceGetCount, int *count) *count = 1; END
CALL(cuDeviceGet, int *device, int ordinal) *device = ordinal; END
EXPORT int cuDeviceGetName(char *name, int len, int device) {
    (void)device;
    // The counters are no part of a name that kept measurements are found by.
    const char *fixed = getenv("OXIDNN_TEST_NAME");
    if (fixed) snprintf(name, (size_t)len, "%s", fixed);
    else snprintf(name, (size_t)len, "H200 of the tests: %lu %lu %lu", (unsigned long)calls, (unsigned long)launches, (unsigned long)compilations);
    return SUCCESS;
}
CALL(cuDeviceGetUuid_v2, unsigned char *uuid, int device) (void)device; memset(uuid, 7, 16); END
CALL(cuDeviceTotalMem_v2, size_t *bytes, int device) (void)device; *bytes = (size_t)141 << 30; END
CALL(cuDeviceGetAttribute, int *value, int attribute, int device) (void)device;
    switch (attribute) {
        case 75: *value = 9; break;
        case 76: *value = 0; break;
        case 16: *value = 132; break;
        case 97: *value = 227 * 1024; break;
        case 38: *value = 60 << 20; break;
        case 13: *value = 1980000; break;
        case 36: *value = 3201000; break;
        case 37: *value = 6144; break;
        default: return INVALID_VALUE;
    }
END
CALL(cuDevicePrimaryCtxRetain, void **to, int device) (void)device; *to = &context; END
CALL(cuDevicePrimaryCtxRelease_v2, int device) (void)device; END
CALL(cuCtxGetCurrent, void **to) *to = depth ? stack[depth - 1] : NULL; END
CALL(cuCtxGetDevice, int *device) *device = 0; END
CALL(cuCtxPushCurrent_v2, void *it) if (depth == 16) return INVALID_CONTEXT; stack[depth++] = it; END
CALL(cuCtxPopCurrent_v2, void **to) if (!depth) return INVALID_CONTEXT; *to = stack[--depth]; END

#define NEEDS_CONTEXT if (!depth) return INVALID_CONTEXT;

// Streams, events, graphs: work completes when it is submitted

struct stream { int capturing; };
struct event { int recorded; };

// Memory of arguments is allocated on the first stream, scratch on those of queues.
static void *first;

CALL(cuStreamCreate, void **to, unsigned flags) (void)flags; NEEDS_CONTEXT *to = calloc(1, sizeof(struct stream)); if (!first) first = *to; END
CALL(cuStreamDestroy_v2, void *stream) free(stream); END
// The default stream is NULL, and never captured.
CALL(cuStreamSynchronize, struct stream *stream) NEEDS_CONTEXT if (stream && stream->capturing) return STREAM_CAPTURE_UNSUPPORTED; END
CALL(cuStreamIsCapturing, struct stream *stream, int *status) *status = stream && stream->capturing; END
CALL(cuStreamWaitEvent, void *stream, void *event, unsigned flags) (void)stream; (void)event; (void)flags; END
CALL(cuStreamBeginCapture_v2, struct stream *stream, int mode) (void)mode; if (!stream) return STREAM_CAPTURE_UNSUPPORTED; stream->capturing = 1; END
CALL(cuStreamEndCapture, struct stream *stream, void **graph) stream->capturing = 0; *graph = malloc(1); END
CALL(cuGraphInstantiateWithFlags, void **to, void *graph, unsigned long long flags) (void)graph; (void)flags; *to = malloc(1); END
CALL(cuGraphLaunch, void *graph, void *stream) (void)graph; (void)stream; END
CALL(cuGraphDestroy, void *graph) free(graph); END
CALL(cuGraphExecDestroy, void *graph) free(graph); END
CALL(cuThreadExchangeStreamCaptureMode, int *mode) (void)mode; END
CALL(cuEventCreate, void **to, unsigned flags) (void)flags; *to = calloc(1, sizeof(struct event)); END
CALL(cuEventDestroy_v2, void *event) free(event); END
CALL(cuEventRecord, struct event *event, struct stream *stream) (void)stream; event->recorded = 1; END
CALL(cuEventQuery, struct event *event) (void)event; END
CALL(cuEventSynchronize, struct event *event) (void)event; END
CALL(cuEventElapsedTime_v2, float *ms, void *from, void *to) (void)from; (void)to; *ms = 0.001f; END

// Memory

// Distance of a device address from the host memory behind it.
static const uint64_t FAR = (uint64_t)1 << 56;

// The host memory behind a device address, NULL for other addresses.
static void *behind(uint64_t address) { return address & FAR ? (void *)(uintptr_t)(address ^ FAR) : NULL; }

#define NEEDS_DEVICE(address) if (!behind(address)) return INVALID_VALUE;

CALL(cuMemPoolCreate, void **to, const void *properties) (void)properties; *to = calloc(1, sizeof(uint64_t)); END
CALL(cuMemPoolDestroy, void *pool) free(pool); END
CALL(cuMemPoolSetAttribute, void *pool, int attribute, void *value) (void)pool; (void)attribute; (void)value; END
CALL(cuMemPoolGetAttribute, void *pool, int attribute, uint64_t *value) (void)pool; (void)attribute; *value = 0; END
CALL(cuMemPoolTrimTo, void *pool, size_t keep) (void)pool; (void)keep; END
// Misalignment of arguments that a test wants, relative to a multiple of 512.
static uint64_t beyond(void) {
    const char *bytes = getenv("OXIDNN_TEST_BEYOND");
    return bytes ? (uint64_t)atoi(bytes) : 0;
}

CALL(cuMemAllocFromPoolAsync, uint64_t *address, size_t bytes, void *pool, void *stream) (void)pool; NEEDS_CONTEXT
    const uint64_t more = stream == first ? beyond() : 0;
    void *memory = NULL;
    if (posix_memalign(&memory, 512, bytes + more)) return OUT_OF_MEMORY;
    *address = ((uint64_t)(uintptr_t)memory + more) | FAR;
END
CALL(cuMemAlloc_v2, uint64_t *address, size_t bytes) return cuMemAllocFromPoolAsync(address, bytes, NULL, NULL); END
CALL(cuMemFree_v2, uint64_t address) NEEDS_DEVICE(address) free(behind(address & ~(uint64_t)511)); END
CALL(cuMemcpyHtoD_v2, uint64_t to, const void *from, size_t n) NEEDS_DEVICE(to) memcpy(behind(to), from, n); END
CALL(cuMemcpyDtoH_v2, void *to, uint64_t from, size_t n) NEEDS_DEVICE(from) memcpy(to, behind(from), n); END
CALL(cuMemFreeAsync, uint64_t address, void *stream) (void)stream; NEEDS_DEVICE(address) free(behind(address & ~(uint64_t)511)); END
CALL(cuMemsetD8Async, uint64_t to, unsigned char byte, size_t n, void *stream) (void)stream; NEEDS_DEVICE(to) memset(behind(to), byte, n); END
CALL(cuMemcpyHtoDAsync_v2, uint64_t to, const void *from, size_t n, void *stream) (void)stream; NEEDS_DEVICE(to) memcpy(behind(to), from, n); END
CALL(cuMemcpyDtoHAsync_v2, void *to, uint64_t from, size_t n, void *stream) (void)stream; NEEDS_DEVICE(from) memcpy(to, behind(from), n); END
CALL(cuMemcpyDtoDAsync_v2, uint64_t to, uint64_t from, size_t n, void *stream) (void)stream; NEEDS_DEVICE(to) NEEDS_DEVICE(from)
    memmove(behind(to), behind(from), n);
END

// TMA descriptors, by the rules of the driver's documentation

static const unsigned BYTES[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};

static int map(unsigned kind, unsigned rank, uint64_t address, const uint64_t *dims, const uint64_t *strides, unsigned swizzle, uint64_t inner) {
    if (kind > 12 || rank < 1 || rank > 5 || address % 16) return INVALID_VALUE;
    for (unsigned d = 0; d < rank; ++d)
        if (dims[d] == 0 || dims[d] > (uint64_t)1 << 32) return INVALID_VALUE;
    for (unsigned d = 0; d + 1 < rank; ++d)
        if (strides[d] % 16 || strides[d] >= (uint64_t)1 << 40) return INVALID_VALUE;
    const unsigned limit[] = {1u << 30, 32, 64, 128};
    return swizzle < 4 && inner * BYTES[kind] <= limit[swizzle] && inner * BYTES[kind] % 16 == 0 ? SUCCESS : INVALID_VALUE;
}

CALL(cuTensorMapEncodeTiled, void *to, unsigned kind, unsigned rank, void *address, const uint64_t *dims, const uint64_t *strides, const uint32_t *box,
    const uint32_t *steps, unsigned interleave, unsigned swizzle, unsigned promotion, unsigned fill) (void)interleave; (void)promotion; (void)fill;
    memset(to, 1, 128);
    for (unsigned d = 0; d < rank && d < 5; ++d)
        if (box[d] == 0 || box[d] > 256 || steps[d] == 0 || steps[d] > 8) return INVALID_VALUE;
    return map(kind, rank, (uint64_t)(uintptr_t)address, dims, strides, swizzle, box[0]);
}

CALL(cuTensorMapEncodeIm2col, void *to, unsigned kind, unsigned rank, void *address, const uint64_t *dims, const uint64_t *strides, const int *lower,
    const int *upper, unsigned channels, unsigned pixels, const uint32_t *steps, unsigned interleave, unsigned swizzle, unsigned promotion, unsigned fill)
    (void)interleave; (void)promotion; (void)fill;
    memset(to, 1, 128);
    if (rank < 3 || rank > 5 || channels == 0 || channels > 256 || pixels == 0 || pixels > 1024) return INVALID_VALUE;
    const int limit[] = {0, 0, 0, 1 << 15, 1 << 7, 1 << 4};
    for (unsigned d = 0; d + 2 < rank; ++d)
        if (lower[d] < -limit[rank] || lower[d] >= limit[rank] || upper[d] < -limit[rank] || upper[d] >= limit[rank]) return INVALID_VALUE;
    for (unsigned d = 0; d < rank; ++d)
        if (steps[d] == 0 || steps[d] > 8) return INVALID_VALUE;
    return map(kind, rank, (uint64_t)(uintptr_t)address, dims, strides, swizzle, channels);
}

// Modules: an image is the output of the mock compiler below, or a real cubin. A module is the limit of dynamic shared memory of its function; static shared memory
// is not known here, so all of it must be requested.

CALL(cuModuleLoadData, void **to, const void *image) NEEDS_CONTEXT if (memcmp(image, "\177ELF", 4)) return INVALID_IMAGE; load_slowly(); *to = calloc(1, sizeof(unsigned)); END
CALL(cuModuleUnload, void *module) free(module); END
CALL(cuModuleGetFunction, void **to, void *module, const char *name) (void)name; *to = module; END
CALL(cuFuncGetAttribute, int *value, int attribute, void *function) (void)attribute; (void)function; *value = 0; END
CALL(cuFuncSetAttribute, void *function, int attribute, int value) if (attribute == 8 && value > 227 * 1024) return INVALID_VALUE;
    if (attribute == 8) *(unsigned *)function = (unsigned)value;
END

struct launch_config { unsigned grid[3], block[3], shared; void *stream; void *attributes; unsigned count; };

CALL(cuLaunchKernelEx, const struct launch_config *config, void *function, void **parameters, void **extra) (void)extra; NEEDS_CONTEXT
    const unsigned *g = config->grid, threads = config->block[0] * config->block[1] * config->block[2];
    if (!function || !parameters || g[0] == 0 || g[1] == 0 || g[2] == 0 || g[0] > 0x7fffffff || g[1] > 65535 || g[2] > 65535) return INVALID_VALUE;
    if (threads == 0 || threads > 1024 || config->shared > *(unsigned *)function) return INVALID_VALUE;
    ++launches;
END

// The compiler

EXPORT const char *nvrtcGetErrorString(int status) { (void)status; return "refused by the compiler of the tests"; }
EXPORT int nvrtcVersion(int *major, int *minor) { *major = 13; *minor = 0; return SUCCESS; }
EXPORT int nvrtcCreateProgram(void **to, const char *text, const char *name, int n, const char *const *headers, const char *const *names) {
    (void)text; (void)name; (void)n; (void)headers; (void)names;
    *to = malloc(1);
    return SUCCESS;
}
EXPORT int nvrtcCompileProgram(void *program, int n, const char *const *options) { (void)program; (void)n; (void)options; ++compilations; return SUCCESS; }
EXPORT int nvrtcGetProgramLogSize(void *program, size_t *len) { (void)program; *len = 1; return SUCCESS; }
EXPORT int nvrtcGetProgramLog(void *program, char *log) { (void)program; *log = 0; return SUCCESS; }
EXPORT int nvrtcGetCUBINSize(void *program, size_t *len) { (void)program; *len = 64; return SUCCESS; }
EXPORT int nvrtcGetCUBIN(void *program, char *cubin) { (void)program; memset(cubin, 0, 64); memcpy(cubin, "\177ELF", 4); return SUCCESS; }
EXPORT int nvrtcDestroyProgram(void **program) { free(*program); *program = NULL; return SUCCESS; }
