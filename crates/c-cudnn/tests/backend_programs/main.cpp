#include "raw.hpp"

int checks, failures;

int main(int argc, char **argv) {
    cudnnHandle_t handle;
    is(cudnnCreate(&handle), CUDNN_STATUS_SUCCESS, "cudnnCreate");
    std::map<std::string, void (*)(cudnnHandle_t)> areas = {
        {"convolutions", convolutions}, {"elements", elements}, {"products", products}, {"reductions", reductions},
        {"pools", pools},               {"norms", norms},       {"attention", attention}, {"moving", moving},
        {"nans", nans},                 {"knobs", knobs},       {"blocks", blocks},             {"random", random_numbers}, {"objects", objects}, {"fuzz", fuzz},
        {"choices", measured_choices},
    };
    for (auto &area : areas) {
        if (argc > 1 && area.first != argv[1]) continue;
        int before = failures;
        area.second(handle);
        printf("%s: %s\n", area.first.c_str(), failures == before ? "right" : "WRONG");
    }
    is(cudnnDestroy(handle), CUDNN_STATUS_SUCCESS, "cudnnDestroy");
    printf("%d checks, %d failures\n", checks, failures);
    return failures != 0;
}
