/* The C program: every function of the C headers, one area per file. */
#include <string.h>

#include "check.h"

#define AREAS(each) \
    each(service) each(names) each(layouts) each(memories) each(attributes) each(post_ops) each(creators_of_nothing) \
            each(cells_of_nothing) each(descriptor_queries) each(gemm) each(training)
#define DECLARE(name) void area_##name(void);
#define ROW(name) {#name, area_##name, false},

AREAS(DECLARE)
DECLARE(max_isa)

int main(int argc, char **argv) {
    static const struct area areas[] = {AREAS(ROW)};
    static const struct area alone[] = {ROW(max_isa)};
    if (argc == 2 && strcmp(argv[1], alone[0].name) == 0) return run_areas(alone, COUNT_OF(alone), argc, argv);
    return run_areas(areas, COUNT_OF(areas), argc, argv);
}
