/* The counters behind check.h. */
#define _GNU_SOURCE
#include "check.h"

#include <dlfcn.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>

static atomic_int checks, failures;

bool is_ours(void) { return dlsym(RTLD_DEFAULT, "dnnl_primitive_attr_set_hint_reusable_kernels") != NULL; }

static void count(bool holds, const char *file, int line) {
    atomic_fetch_add(&checks, 1);
    if (holds) return;
    atomic_fetch_add(&failures, 1);
    const char *name = strrchr(file, '/');
    printf("FAILED %s:%d: ", name ? name + 1 : file, line);
}

void count_check(bool holds, const char *what, const char *file, int line) {
    count(holds, file, line);
    if (!holds) printf("%s\n", what);
}

void count_status(dnnl_status_t got, dnnl_status_t want, const char *what, const char *file, int line) {
    count(got == want, file, line);
    if (got != want) printf("%s is %s (%d), expected %s\n", what, dnnl_status2str(got), got, dnnl_status2str(want));
}

void count_equal(long long got, long long want, const char *what, const char *file, int line) {
    count(got == want, file, line);
    if (got != want) printf("%s is %lld, expected %lld\n", what, got, want);
}

void count_near(double got, double want, double tolerance, const char *what, const char *file, int line) {
    bool holds = got == want || fabs(got - want) <= tolerance * fmax(1.0, fabs(want)) || (isnan(got) && isnan(want));
    count(holds, file, line);
    if (!holds) printf("%s is %.9g, expected %.9g\n", what, got, want);
}

void count_text(const char *got, const char *want, const char *what, const char *file, int line) {
    bool holds = got && strcmp(got, want) == 0;
    count(holds, file, line);
    if (!holds) printf("%s is \"%s\", expected \"%s\"\n", what, got ? got : "(null)", want);
}

static bool chosen(const char *name, int argc, char **argv) {
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], name) == 0) return true;
    return argc <= 1;
}

int run_areas(const struct area *areas, int count_of_areas, int argc, char **argv) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int i = 0; i < count_of_areas; i++) {
        if (!chosen(areas[i].name, argc, argv)) continue;
        if (areas[i].only_ours && !is_ours()) {
            printf("%-18s left out: only for oxidnn\n", areas[i].name);
            continue;
        }
        int checks_before = checks, failures_before = failures;
        areas[i].run();
        printf("%-18s %6d checks, %d failed\n", areas[i].name, checks - checks_before, failures - failures_before);
    }
    printf("total              %6d checks, %d failed\n", (int)checks, (int)failures);
    return failures ? 1 : checks ? 0 : 2;
}
