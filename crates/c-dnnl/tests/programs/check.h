/* Checks that count: a failed one is printed with its place and does not stop the program.
 * Both programs use this header, so it is C11 and C++17 at once. */
#ifndef OXIDNN_TESTS_CHECK_H
#define OXIDNN_TESTS_CHECK_H

#include <stdbool.h>
#include <stdio.h>

#include "oneapi/dnnl/dnnl.h"
#include "oneapi/dnnl/dnnl_debug.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One part of a program; `only_ours` marks what oneDNN forbids or does not have. */
struct area {
    const char *name;
    void (*run)(void);
    bool only_ours;
};

/* Runs the areas named in the arguments, or all; prints counts; the exit status of the program. */
int run_areas(const struct area *areas, int count, int argc, char **argv);

/* Whether the library is oxidnn, seen by a function that only it has. */
bool is_ours(void);

void count_check(bool holds, const char *what, const char *file, int line);
void count_status(dnnl_status_t got, dnnl_status_t want, const char *what, const char *file, int line);
void count_equal(long long got, long long want, const char *what, const char *file, int line);
void count_near(double got, double want, double tolerance, const char *what, const char *file, int line);
void count_text(const char *got, const char *want, const char *what, const char *file, int line);

#ifdef __cplusplus
}
#endif

#define CHECK(condition) count_check((condition), #condition, __FILE__, __LINE__)
#define STATUS(want, call) count_status((call), (want), #call, __FILE__, __LINE__)
#define OK(call) STATUS(dnnl_success, call)
#define INVALID(call) STATUS(dnnl_invalid_arguments, call)
/* A null that oneDNN does not look at and that ends the process there; ours answers. */
#define GUARDED(call) \
    do { \
        if (is_ours()) INVALID(call); \
    } while (0)
#define EQUAL(got, want) count_equal((long long)(got), (long long)(want), #got, __FILE__, __LINE__)
#define NEAR(got, want, tolerance) count_near((got), (want), (tolerance), #got, __FILE__, __LINE__)
#define TEXT(got, want) count_text((got), (want), #got, __FILE__, __LINE__)
#define COUNT_OF(array) ((int)(sizeof(array) / sizeof((array)[0])))

#endif
