// A single translation unit, because each one that includes cudnn-frontend compiles all of its inline functions.
#include "attention.hpp"
#include "builders.hpp"
#include "convolutions.hpp"
#include "device.hpp"
#include "masks.hpp"
#include "norms.hpp"
#include "products.hpp"
#include "samples.hpp"
#include "streams.hpp"
#include "torch.hpp"

int checks, failures;

// The library's message for each error.
static void tell(cudnnSeverity_t, void *, const cudnnDebug_t *, const char *text) { printf("%s\n", text); }

int main(int argc, char **argv) {
    if (argc > 2) cudnnSetCallback(CUDNN_SEV_ERROR_EN, nullptr, tell);
    cudnnHandle_t handle;
    check(cudnnCreate(&handle) == CUDNN_STATUS_SUCCESS, "cudnnCreate");
    std::map<std::string, void (*)(cudnnHandle_t)> areas = {{"convolutions", convolutions_area::convolutions}, {"products", products_area::products}, {"norms", norms_area::norms},
                                                            {"attention", attention_area::attention}, {"builders", builders_area::builders},
                                                            {"torch", torch_area::torch}, {"streams", streams_area::streams}, {"device", device_area::device}, {"masks", masks_area::all}, {"samples", samples_area::samples}};
    for (auto &area : areas) {
        if (argc > 1 && area.first != argv[1]) continue;
        int before = failures;
        area.second(handle);
        printf("%s: %s\n", area.first.c_str(), failures == before ? "right" : "WRONG");
    }
    cudnnDestroy(handle);
    printf("%d checks, %d failures\n", checks, failures);
    return failures != 0;
}
