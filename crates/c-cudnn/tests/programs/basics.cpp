// Versions, errors, handles, descriptors.
#include "check.hpp"

namespace {
void basics() {
    CHECK(cudnnGetVersion() == 92700 && cudnnGetMaxDeviceVersion() > 0 && cudnnGetCudartVersion() >= 13000);
    int major = 0, minor = 0, patch = -1;
    OK(cudnnGetProperty(MAJOR_VERSION, &major));
    OK(cudnnGetProperty(MINOR_VERSION, &minor));
    OK(cudnnGetProperty(PATCH_LEVEL, &patch));
    CHECK(major == 9 && minor == 27 && patch == 0);
    OK(cudnnGraphVersionCheck());
    OK(cudnnOpsVersionCheck());
    OK(cudnnCnnVersionCheck());
    OK(cudnnAdvVersionCheck());
    OK(cudnnSubquadraticOpsVersionCheck());
    CHECK(std::string(cudnnGetErrorString(CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH)) == "CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH");
    IS(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, cudnnCreate(nullptr));
    CHECK(last_error().find("cudnnCreate") == 0);
    CHECK(last_error().empty());
    cudnnHandle_t h = nullptr;
    OK(cudnnCreate(&h));
    cudaStream_t stream = reinterpret_cast<cudaStream_t>(2), got = nullptr;
    OK(cudnnSetStream(h, stream));
    OK(cudnnGetStream(h, &got));
    CHECK(got == stream);
    cudnnStatus_t status = CUDNN_STATUS_INTERNAL_ERROR;
    OK(cudnnQueryRuntimeError(h, &status, CUDNN_ERRQUERY_BLOCKING, nullptr));
    CHECK(status == CUDNN_STATUS_SUCCESS);
    OK(cudnnDestroy(h));
    OK(cudnnDestroy(nullptr));
    // A tiny buffer gets the beginning of the text and a terminating zero.
    cudnnCreate(nullptr);
    char tiny[6] = "xxxxx";
    cudnnGetLastErrorString(tiny, sizeof tiny);
    CHECK(std::string(tiny) == "cudnn");
}
Area a("basics", basics);

// Descriptors may outlive handles. Handles may outlive descriptors whose calls they recorded; new descriptors may get the same addresses.
void lifetimes() {
    Tensor x(CUDNN_DATA_FLOAT, {1, 2, 3, 4}), y(CUDNN_DATA_FLOAT, x.dims);
    x.buffer.random(1);
    float one = 1, zero = 0;
    for (int round = 0; round < 3; round++) {
        cudnnHandle_t h = nullptr;
        OK(cudnnCreate(&h));
        for (auto mode : {CUDNN_ACTIVATION_RELU, CUDNN_ACTIVATION_TANH, CUDNN_ACTIVATION_SIGMOID}) {
            cudnnActivationDescriptor_t act = nullptr;
            OK(cudnnCreateActivationDescriptor(&act));
            OK(cudnnSetActivationDescriptor(act, mode, CUDNN_NOT_PROPAGATE_NAN, 0));
            for (int again = 0; again < 4; again++) {
                y.buffer.fill(NAN);
                OK(cudnnActivationForward(h, act, &one, x.desc, x.data(), &zero, y.desc, y.data()));
                compare(y, [&](auto &at) {
                    double v = x.get(at);
                    return mode == CUDNN_ACTIVATION_RELU ? (v > 0 ? v : 0) : mode == CUDNN_ACTIVATION_TANH ? std::tanh(v) : 1 / (1 + std::exp(-v));
                }, "an activation by descriptors of another life");
            }
            OK(cudnnDestroyActivationDescriptor(act));
        }
        OK(cudnnDestroy(h));
    }
}
Area h("lifetimes", lifetimes);

int told = 0;
void listener(cudnnSeverity_t severity, void *user, const cudnnDebug_t *debug, const char *text) {
    told++;
    CHECK(severity == CUDNN_SEV_ERROR && user == &told && debug->cudnnStatus == CUDNN_STATUS_BAD_PARAM_NULL_POINTER && std::strlen(text) > 10);
}

void callback() {
    OK(cudnnSetCallback(1u << CUDNN_SEV_ERROR, &told, listener));
    unsigned mask = 0;
    void *user = nullptr;
    cudnnCallback_t function = nullptr;
    OK(cudnnGetCallback(&mask, &user, &function));
    CHECK(mask == 1u << CUDNN_SEV_ERROR && user == &told && function == listener);
    cudnnCreate(nullptr);
    CHECK(told == 1);
    OK(cudnnSetCallback(0, nullptr, nullptr));
    cudnnCreate(nullptr);
    CHECK(told == 1);
}
Area b("callback", callback);

void descriptors() {
    cudnnTensorDescriptor_t t = nullptr;
    OK(cudnnCreateTensorDescriptor(&t));
    OK(cudnnSetTensor4dDescriptor(t, CUDNN_TENSOR_NHWC, CUDNN_DATA_HALF, 2, 3, 4, 5));
    cudnnDataType_t type;
    int v[8], n = 0, dims[8], strides[8];
    OK(cudnnGetTensor4dDescriptor(t, &type, v, v + 1, v + 2, v + 3, v + 4, v + 5, v + 6, v + 7));
    const int wanted[8] = {2, 3, 4, 5, 60, 1, 15, 3};
    CHECK(type == CUDNN_DATA_HALF && std::memcmp(v, wanted, sizeof v) == 0);
    OK(cudnnGetTensorNdDescriptor(t, 2, &type, &n, dims, strides));
    CHECK(n == 4 && dims[0] == 2 && dims[1] == 3 && strides[0] == 60 && strides[1] == 1);
    size_t size = 0;
    OK(cudnnGetTensorSizeInBytes(t, &size));
    CHECK(size == 240);
    OK(cudnnSetTensor4dDescriptorEx(t, CUDNN_DATA_FLOAT, 1, 2, 3, 4, 100, 50, 10, 2));
    OK(cudnnGetTensorSizeInBytes(t, &size));
    CHECK(size == 4 * (50 + 20 + 6 + 1));
    OK(cudnnSetTensor4dDescriptor(t, CUDNN_TENSOR_NCHW_VECT_C, CUDNN_DATA_INT8x4, 1, 16, 5, 5));
    OK(cudnnGetTensorNdDescriptor(t, 8, &type, &n, dims, strides));
    CHECK(dims[1] == 16 && strides[0] == 100 && strides[1] == 25 && strides[2] == 5);
    OK(cudnnGetTensorSizeInBytes(t, &size));
    CHECK(size == 400);
    IS(CUDNN_STATUS_BAD_PARAM, cudnnSetTensor4dDescriptor(t, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 0, 1, 1, 1));
    IS(CUDNN_STATUS_BAD_PARAM, cudnnSetTensor4dDescriptor(t, CUDNN_TENSOR_NCHW, cudnnDataType_t(99), 1, 1, 1, 1));
    IS(CUDNN_STATUS_BAD_PARAM, cudnnSetTensor4dDescriptor(t, cudnnTensorFormat_t(9), CUDNN_DATA_FLOAT, 1, 1, 1, 1));
    IS(CUDNN_STATUS_BAD_PARAM, cudnnSetTensorNdDescriptor(t, CUDNN_DATA_FLOAT, 9, dims, strides));
    OK(cudnnDestroyTensorDescriptor(t));
    cudnnFilterDescriptor_t f = nullptr;
    OK(cudnnCreateFilterDescriptor(&f));
    OK(cudnnSetFilter4dDescriptor(f, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NHWC, 4, 3, 2, 1));
    cudnnTensorFormat_t format;
    OK(cudnnGetFilter4dDescriptor(f, &type, &format, v, v + 1, v + 2, v + 3));
    CHECK(format == CUDNN_TENSOR_NHWC && v[0] == 4 && v[1] == 3 && v[2] == 2 && v[3] == 1);
    OK(cudnnGetFilterNdDescriptor(f, 4, &type, &format, &n, dims));
    OK(cudnnGetFilterSizeInBytes(f, &size));
    CHECK(n == 4 && dims[3] == 1 && size == 96);
    OK(cudnnDestroyFilterDescriptor(f));
}
Area c("descriptors", descriptors);

// Functions that no header declares.
extern "C" {
cudnnStatus_t cudnnGetBackdoor();
cudnnStatus_t cudnnSetBackdoor();
cudnnStatus_t cudnnSetBackdoorEx();
cudnnStatus_t cudnnGetRNNDropoutLocationsInternal();
}

void undeclared() {
    IS(CUDNN_STATUS_NOT_SUPPORTED, cudnnGetBackdoor());
    IS(CUDNN_STATUS_NOT_SUPPORTED, cudnnSetBackdoor());
    IS(CUDNN_STATUS_NOT_SUPPORTED, cudnnSetBackdoorEx());
    IS(CUDNN_STATUS_NOT_SUPPORTED, cudnnGetRNNDropoutLocationsInternal());
}
Area e("undeclared", undeclared);

// Parts of a message: the function, the descriptor, what it got and what it needs, the problem line, and a line for PyTorch.
void messages() {
    auto says = [&](cudnnStatus_t status, std::vector<const char *> words) {
        std::string text = last_error();
        check(status != CUDNN_STATUS_SUCCESS, "an error", __FILE__, __LINE__);
        for (auto word : words) check(text.find(word) != std::string::npos, (std::string(word) + " in: " + text).c_str(), __FILE__, __LINE__);
    };
    Tensor x(CUDNN_DATA_FLOAT, {2, 3, 5, 5}), y(CUDNN_DATA_FLOAT, {2, 4, 9, 9}), other(CUDNN_DATA_FLOAT, {2, 4, 5, 5});
    cudnnFilterDescriptor_t w = nullptr;
    cudnnConvolutionDescriptor_t conv = nullptr;
    cudnnPoolingDescriptor_t pool = nullptr;
    OK(cudnnCreateFilterDescriptor(&w));
    OK(cudnnCreateConvolutionDescriptor(&conv));
    OK(cudnnCreatePoolingDescriptor(&pool));
    OK(cudnnSetFilter4dDescriptor(w, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, 4, 3, 3, 3));
    OK(cudnnSetConvolution2dDescriptor(conv, 1, 1, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
    OK(cudnnSetPooling2dDescriptor(pool, CUDNN_POOLING_MAX, CUDNN_NOT_PROPAGATE_NAN, 2, 2, 0, 0, 2, 2));
    const float one = 1, zero = 0;
    std::vector<float> weights(108, 1);
    const auto algo = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM;
    says(cudnnConvolutionForward(handle(), &one, x.desc, x.data(), w, weights.data(), conv, algo, nullptr, 0, &zero, y.desc, y.data()),
         {"cudnnConvolutionForward", "CUDNN_STATUS_BAD_PARAM", "got", "expected", "--conv", "in PyTorch: import torch; ", "torch.nn.functional.conv2d(x, w"});
    says(cudnnPoolingForward(handle(), pool, &one, x.desc, x.data(), &zero, other.desc, other.data()),
         {"cudnnPoolingForward", "got", "expected", "--pool", "in PyTorch: ", "max_pool2d"});
    says(cudnnSoftmaxForward(handle(), CUDNN_SOFTMAX_FAST, CUDNN_SOFTMAX_MODE_CHANNEL, &one, x.desc, x.data(), &zero, other.desc, other.data()),
         {"cudnnSoftmaxForward", "got", "expected"});
    says(cudnnConvolutionForward(handle(), &one, nullptr, x.data(), w, weights.data(), conv, algo, nullptr, 0, &zero, y.desc, y.data()), {"xDesc", "null pointer"});
    says(cudnnSetConvolution2dDescriptor(conv, -1, 1, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT), {"got", "expected"});
    OK(cudnnDestroyFilterDescriptor(w));
    OK(cudnnDestroyConvolutionDescriptor(conv));
    OK(cudnnDestroyPoolingDescriptor(pool));
}
Area f("messages", messages);

void engine() {
    std::printf("version %zu\n", cudnnGetVersion());
    cudnnHandle_t h = nullptr;
    auto status = cudnnCreate(&h);
    std::printf("%s %s\n", cudnnGetErrorString(status), last_error().c_str());
    CHECK(true);
}
Area d("engine", engine, true);
} // namespace
