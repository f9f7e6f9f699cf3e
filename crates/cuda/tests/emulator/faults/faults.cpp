// Runs the kernel of faults.cu with every fault and prints what the emulator says: faults LIBRARY COUNT
#include "../driver.h"
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>

extern "C" const char *emulator_launch(const launch *);
extern "C" void emulator_allocated(const void *at, size_t n);

int main(int, char **args) {
    void *library = dlopen(args[1], RTLD_NOW);
    if (!library) return fprintf(stderr, "%s\n", dlerror()), 1;
    unsigned *data = static_cast<unsigned *>(aligned_alloc(512, 2048));
    emulator_allocated(data, 1024);
    for (int fault = 0; fault < atoi(args[2]); ++fault) {
        void *parameters[] = {&data, &fault};
        auto entry = reinterpret_cast<void (*)(void **)>(dlsym(library, "emulator_entry"));
        launch one{"faults", entry, parameters, {1, 1, 1}, 256, 1024, *static_cast<unsigned *>(dlsym(library, "emulator_statics")), 1, false};
        const char *failed = emulator_launch(&one);
        printf("%s\n", failed ? failed : "nothing");
    }
}
