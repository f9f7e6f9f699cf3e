// A mock of the CUDA driver and of NVRTC for tests without a GPU: what the real ones refuse is refused. Launches compute nothing, and device memory is host memory
// at addresses that the host cannot use, so an access without a copy ends the process, as with a GPU. If OXIDNN_TEST_EMULATOR names the folder of the built
// emulator (../emulator), kernels are compiled for it and launches run there, on memory at the host's addresses.
//
// The device has the attributes of an H200; its name ends with the numbers of driver calls, launches and compilations so far, so that tests can check what an
// execution costs. Types are those of cuda.h and nvrtc.h as far as layouts matter; handles are pointers.

#define _GNU_SOURCE
#include "../emulator/driver.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

enum { SUCCESS = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, INVALID_CONTEXT = 201, INVALID_IMAGE = 200, ILLEGAL_ADDRESS = 700, STREAM_CAPTURE_UNSUPPORTED = 900 };

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

// The emulator, if there is one.

static const char *folder;
static void (*emulator_allocated)(const void *at, size_t n);
static void (*emulator_freed)(const void *at);
static const char *(*emulator_launch)(const struct launch *launch);

static void *in_library(void *library, const char *name) {
    void *found = library ? dlsym(library, name) : NULL;
    if (found) return found;
    fprintf(stderr, "the emulator: %s\n", dlerror());
    abort();
}

static void load_emulator(void) {
    char path[500];
    folder = getenv("OXIDNN_TEST_EMULATOR");
    if (!folder || emulator_launch) return;
    snprintf(path, sizeof path, "%s/libemulator.so", folder);
    // Kernels find its functions.
    void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    *(void **)&emulator_allocated = in_library(library, "emulator_allocated");
    *(void **)&emulator_freed = in_library(library, "emulator_freed");
    *(void **)&emulator_launch = in_library(library, "emulator_launch");
}

CALL(cuInit, unsigned flags) (void)flags; load_emulator(); atexit(end); END
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
static uint64_t far(void) { return emulator_launch ? 0 : (uint64_t)1 << 56; }

// The host memory behind a device address, NULL for other addresses.
static void *behind(uint64_t address) { return (address & far()) == far() ? (void *)(uintptr_t)(address ^ far()) : NULL; }

#define NEEDS_DEVICE(address) if (!behind(address)) return INVALID_VALUE;

// One thread at a time uses the emulator.
static pthread_mutex_t emulating = PTHREAD_MUTEX_INITIALIZER;

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
    // With some bytes that belong to no allocation.
    if (posix_memalign(&memory, 512, bytes + more + 512)) return OUT_OF_MEMORY;
    *address = ((uint64_t)(uintptr_t)memory + more) | far();
    pthread_mutex_lock(&emulating);
    if (emulator_launch) memset(memory, 0xff, bytes + more), emulator_allocated((char *)memory + more, bytes);
    pthread_mutex_unlock(&emulating);
END
static void release(uint64_t address) {
    pthread_mutex_lock(&emulating);
    if (emulator_launch) emulator_freed(behind(address));
    pthread_mutex_unlock(&emulating);
    free(behind(address & ~(uint64_t)511));
}
CALL(cuMemAlloc_v2, uint64_t *address, size_t bytes) return cuMemAllocFromPoolAsync(address, bytes, NULL, NULL); END
CALL(cuMemFree_v2, uint64_t address) NEEDS_DEVICE(address) release(address); END
CALL(cuMemcpyHtoD_v2, uint64_t to, const void *from, size_t n) NEEDS_DEVICE(to) memcpy(behind(to), from, n); END
CALL(cuMemcpyDtoH_v2, void *to, uint64_t from, size_t n) NEEDS_DEVICE(from) memcpy(to, behind(from), n); END
CALL(cuMemFreeAsync, uint64_t address, void *stream) (void)stream; NEEDS_DEVICE(address) release(address); END
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

static void encode(struct tensor_map *to, unsigned kind, unsigned rank, void *address, const uint64_t *dims, const uint64_t *strides, const uint32_t *steps, unsigned swizzle) {
    memset(to, 0, sizeof *to);
    to->address = (uint64_t)(uintptr_t)address;
    to->kind = (uint8_t)kind, to->rank = (uint8_t)rank, to->swizzle = (uint8_t)swizzle;
    for (unsigned d = 0; d < rank && d < 5; ++d) to->last[d] = (uint32_t)(dims[d] - 1), to->steps[d] = (uint8_t)steps[d];
    for (unsigned d = 0; d + 1 < rank && d < 4; ++d) to->strides[d] = strides[d];
}

CALL(cuTensorMapEncodeTiled, struct tensor_map *to, unsigned kind, unsigned rank, void *address, const uint64_t *dims, const uint64_t *strides, const uint32_t *box,
    const uint32_t *steps, unsigned interleave, unsigned swizzle, unsigned promotion, unsigned fill) (void)interleave; (void)promotion; (void)fill;
    encode(to, kind, rank, address, dims, strides, steps, swizzle);
    for (unsigned d = 0; d < rank && d < 5; ++d) {
        if (box[d] == 0 || box[d] > 256 || steps[d] == 0 || steps[d] > 8) return INVALID_VALUE;
        to->box[d] = (uint16_t)box[d];
    }
    return map(kind, rank, (uint64_t)(uintptr_t)address, dims, strides, swizzle, box[0]);
}

CALL(cuTensorMapEncodeIm2col, struct tensor_map *to, unsigned kind, unsigned rank, void *address, const uint64_t *dims, const uint64_t *strides, const int *lower,
    const int *upper, unsigned channels, unsigned pixels, const uint32_t *steps, unsigned interleave, unsigned swizzle, unsigned promotion, unsigned fill)
    (void)interleave; (void)promotion; (void)fill;
    encode(to, kind, rank, address, dims, strides, steps, swizzle);
    if (rank < 3 || rank > 5 || channels == 0 || channels > 256 || pixels == 0 || pixels > 1024) return INVALID_VALUE;
    to->im2col = 1, to->channels = (uint16_t)channels, to->pixels = (uint16_t)pixels;
    const int limit[] = {0, 0, 0, 1 << 15, 1 << 7, 1 << 4};
    for (unsigned d = 0; d + 2 < rank; ++d) {
        if (lower[d] < -limit[rank] || lower[d] >= limit[rank] || upper[d] < -limit[rank] || upper[d] >= limit[rank]) return INVALID_VALUE;
        to->lower[d] = (int16_t)lower[d], to->upper[d] = (int16_t)upper[d];
    }
    for (unsigned d = 0; d < rank; ++d)
        if (steps[d] == 0 || steps[d] > 8) return INVALID_VALUE;
    return map(kind, rank, (uint64_t)(uintptr_t)address, dims, strides, swizzle, channels);
}

// Modules: an image is the output of the mock compiler below, or a real cubin; for the emulator a library. A module is the limit of dynamic shared memory of its
// function; static shared memory is not known here, so all of it must be requested.

struct module {
    unsigned most;
    char kernel[60];
    void *library;
};

// Loads a library from its image, whose last part is the table of sections.
static void *load_image(const unsigned char *image) {
    uint64_t sections;
    uint16_t size, count;
    memcpy(&sections, image + 40, 8), memcpy(&size, image + 58, 2), memcpy(&count, image + 60, 2);
    char path[600];
    snprintf(path, sizeof path, "%s/library.XXXXXX", folder);
    const int file = mkstemp(path);
    const size_t bytes = sections + (size_t)size * count;
    void *library = NULL;
    if (write(file, image, bytes) == (ssize_t)bytes) library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    close(file);
    unlink(path);
    if (!library) fprintf(stderr, "the emulator: %s\n", dlerror());
    return library;
}

CALL(cuModuleLoadData, struct module **to, const void *image) NEEDS_CONTEXT if (memcmp(image, "\177ELF", 4)) return INVALID_IMAGE; load_slowly();
    struct module *m = *to = calloc(1, sizeof **to);
    pthread_mutex_lock(&emulating);
    if (emulator_launch) m->library = load_image(image);
    pthread_mutex_unlock(&emulating);
    if (emulator_launch && !m->library) return INVALID_IMAGE;
END
CALL(cuModuleUnload, struct module *module)
    pthread_mutex_lock(&emulating);
    if (module->library) dlclose(module->library);
    pthread_mutex_unlock(&emulating);
    free(module);
END
CALL(cuModuleGetFunction, struct module **to, struct module *module, const char *name) *to = module; snprintf(module->kernel, sizeof module->kernel, "%s", name); END
CALL(cuFuncGetAttribute, int *value, int attribute, void *function) (void)attribute; (void)function; *value = 0; END
CALL(cuFuncSetAttribute, struct module *function, int attribute, int value) if (attribute == 8 && value > 227 * 1024) return INVALID_VALUE;
    if (attribute == 8) function->most = (unsigned)value;
END

struct attribute { unsigned id, unused; union { unsigned dims[3]; int cooperative; char bytes[64]; }; };
struct launch_config { unsigned grid[3], block[3], shared; void *stream; const struct attribute *attributes; unsigned count; };

static int emulate(const struct launch_config *config, const struct module *m, void **parameters) {
    const unsigned *g = config->grid;
    struct launch launch = {.kernel = m->kernel, .parameters = parameters, .grid = {g[0], g[1], g[2]},
        .threads = config->block[0], .dynamic = config->shared, .statics = *(unsigned *)in_library(m->library, "emulator_statics"), .cluster = 1};
    *(void **)&launch.entry = in_library(m->library, "emulator_entry");
    for (unsigned i = 0; i < config->count; ++i) {
        const struct attribute *a = config->attributes + i;
        if (a->id == 2) launch.cooperative = a->cooperative;
        if (a->id == 4) launch.cluster = a->dims[0] * a->dims[1] * a->dims[2];
    }
    pthread_mutex_lock(&emulating);
    const char *failed = emulator_launch(&launch);
    if (failed) fprintf(stderr, "the emulator: %s\n", failed);
    pthread_mutex_unlock(&emulating);
    return failed ? ILLEGAL_ADDRESS : SUCCESS;
}

CALL(cuLaunchKernelEx, const struct launch_config *config, struct module *function, void **parameters, void **extra) (void)extra; NEEDS_CONTEXT
    const unsigned *g = config->grid, threads = config->block[0] * config->block[1] * config->block[2];
    if (!function || !parameters || g[0] == 0 || g[1] == 0 || g[2] == 0 || g[0] > 0x7fffffff || g[1] > 65535 || g[2] > 65535) return INVALID_VALUE;
    if (threads == 0 || threads > 1024 || config->shared > function->most) return INVALID_VALUE;
    ++launches;
    if (function->library) return emulate(config, function, parameters);
END

// The compiler

EXPORT const char *nvrtcGetErrorString(int status) { (void)status; return "refused by the compiler of the tests"; }
EXPORT int nvrtcVersion(int *major, int *minor) { *major = 13; *minor = 0; return SUCCESS; }
// A kernel's source in a folder of its own, and the library that compile.py makes there.
struct program { char folder[600], name[60]; unsigned char *cubin; size_t bytes; };

static void put(const struct program *p, const char *name, const char *text) {
    char path[700];
    snprintf(path, sizeof path, "%s/%s", p->folder, name);
    FILE *f = fopen(path, "w");
    if (!f) abort();
    fputs(text, f);
    fclose(f);
}

static int compile(struct program *p, const char *architecture) {
    char command[2500], path[700];
    snprintf(command, sizeof command, "python3 '%s/compile.py' '%s' '%s' '%.2s' '%s/kernel.so' 1>&2", folder, p->folder, p->name, architecture, p->folder);
    if (system(command)) return 6;
    snprintf(path, sizeof path, "%s/kernel.so", p->folder);
    FILE *f = fopen(path, "r");
    struct stat status;
    if (!f || fstat(fileno(f), &status)) return 6;
    p->bytes = (size_t)status.st_size, p->cubin = malloc(p->bytes);
    const size_t n = fread(p->cubin, 1, p->bytes, f);
    fclose(f);
    snprintf(command, sizeof command, "rm -r '%s'", p->folder);
    return n == p->bytes && system(command) == 0 ? SUCCESS : 6;
}

EXPORT int nvrtcCreateProgram(struct program **to, const char *text, const char *name, int n, const char *const *headers, const char *const *names) {
    struct program *p = *to = calloc(1, sizeof **to);
    load_emulator();
    if (!emulator_launch) return SUCCESS;
    snprintf(p->folder, sizeof p->folder, "%s/kernel.XXXXXX", folder);
    if (!mkdtemp(p->folder)) return 1;
    snprintf(p->name, sizeof p->name, "%.*s", (int)strcspn(name, "."), name);
    for (int i = 0; i < n; ++i) put(p, names[i], headers[i]);
    put(p, name, text);
    return SUCCESS;
}
EXPORT int nvrtcCompileProgram(struct program *program, int n, const char *const *options) { ++compilations;
    const char *architecture = n ? strstr(options[0], "sm_") : NULL;
    return emulator_launch && architecture ? compile(program, architecture + 3) : SUCCESS;
}
EXPORT int nvrtcGetProgramLogSize(void *program, size_t *len) { (void)program; *len = 1; return SUCCESS; }
EXPORT int nvrtcGetProgramLog(void *program, char *log) { (void)program; *log = 0; return SUCCESS; }
EXPORT int nvrtcGetCUBINSize(struct program *program, size_t *len) { *len = program->cubin ? program->bytes : 64; return SUCCESS; }
EXPORT int nvrtcGetCUBIN(struct program *program, char *cubin) {
    if (program->cubin) memcpy(cubin, program->cubin, program->bytes);
    else memset(cubin, 0, 64), memcpy(cubin, "\177ELF", 4);
    return SUCCESS;
}
EXPORT int nvrtcDestroyProgram(struct program **program) { free((*program)->cubin); free(*program); *program = NULL; return SUCCESS; }
