// Loads one library by the names that are given, as cudarc (`libcudnn.so`), PyTorch and XLA (`libcudnn.so.9`) and cudnn-frontend (its parts) do.
#include <cstdio>
#include <dlfcn.h>

int main(int count, char **names) {
    void *first = nullptr;
    for (int i = 1; i < count; i++) {
        void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
        if (!library) return std::fprintf(stderr, "%s\n", dlerror()), 1;
        if (first && library != first) return std::fprintf(stderr, "%s is another library than %s\n", names[i], names[1]), 1;
        first = library;
    }
    auto version = reinterpret_cast<size_t (*)()>(dlsym(first, "cudnnGetVersion"));
    auto create = reinterpret_cast<int (*)(void **)>(dlsym(first, "cudnnCreate"));
    auto destroy = reinterpret_cast<int (*)(void *)>(dlsym(first, "cudnnDestroy"));
    void *handle = nullptr;
    if (!version || !create || !destroy || create(&handle) || destroy(handle)) return std::fprintf(stderr, "no handle\n"), 1;
    std::printf("cuDNN %zu by %d names\n", version(), count - 1);
    return 0;
}
