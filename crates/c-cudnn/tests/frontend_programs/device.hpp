// The host's CUDA runtime: errors of work, what a capture forbids, and what a reset of the device destroys.
#pragma once
#include "common.hpp"

#include <atomic>
#include <chrono>
#include <thread>

// As `libcudnn.so.9` submits its executions: a number other than 0 says that one failed.
extern "C" cudaError_t oxidnnCudartSubmit(cudaStream_t stream, int (*run)(void *), void (*end)(void *), void *data);

namespace device_area {
namespace {

std::atomic<int> done, ended;

void slow(void *) { std::this_thread::sleep_for(std::chrono::milliseconds(50)), done++; }
int fails(void *) { return 7; }
void end(void *) { ended++; }

// A failed execution is reported once: by the submission if it runs at once, else by the next wait.
void failures_of_work() {
    cudaStream_t s;
    check(!cudaStreamCreate(&s), "a stream");
    auto failed = [](const std::string &how, cudaError_t submitted, cudaError_t waited, cudaError_t again) {
        check((submitted == cudaErrorLaunchFailure) != (waited == cudaErrorLaunchFailure), how + " reports that work failed");
        check(again == cudaSuccess, how + ": only once");
        check(cudaPeekAtLastError() == cudaErrorLaunchFailure && cudaGetLastError() == cudaErrorLaunchFailure && cudaGetLastError() == cudaSuccess, how + ": the last error");
    };
    auto submit = [&] { return oxidnnCudartSubmit(s, fails, end, nullptr); };
    auto first = submit();
    auto waited = cudaStreamSynchronize(s);
    failed("cudaStreamSynchronize", first, waited, cudaStreamSynchronize(s));
    first = submit(), waited = cudaDeviceSynchronize();
    failed("cudaDeviceSynchronize", first, waited, cudaDeviceSynchronize());
    char a[4] = {1, 2, 3, 4}, b[4] = {};
    first = submit(), waited = cudaMemcpy(b, a, 4, cudaMemcpyHostToHost);
    failed("cudaMemcpy", first, waited, cudaMemcpy(b, a, 4, cudaMemcpyHostToHost));
    check(ended == 3 && b[3] == 4, "work that failed ends");
    check(cudaMemcpy(b, a, 4, (cudaMemcpyKind)5) == cudaErrorInvalidMemcpyDirection && cudaGetLastError() == cudaErrorInvalidMemcpyDirection, "a direction that there is not");
    check(!cudaStreamDestroy(s), "it ends");
}

void forbidden_by_capture() {
    cudaStream_t s, t;
    cudaEvent_t e;
    cudaGraph_t graph;
    char bytes[4] = {};
    check(!cudaStreamCreate(&s) && !cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking) && !cudaEventCreate(&e), "streams");
    for (auto stream : {s, t}) {
        check(!cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed) && !cudaEventRecord(e, stream), "a capture");
        check(cudaStreamQuery(stream) == cudaErrorStreamCaptureUnsupported, "the state of a captured stream");
        check(cudaEventQuery(e) == cudaErrorStreamCaptureUnsupported, "the state of a captured event");
        check(cudaDeviceSynchronize() == cudaErrorStreamCaptureUnsupported, "the device while a stream is captured");
        auto wanted = stream == s ? cudaErrorStreamCaptureImplicit : cudaSuccess;
        check(cudaMemset(bytes, 1, 4) == wanted && cudaMemsetAsync(bytes, 1, 4, nullptr) == wanted, "the null stream waits for streams that block");
        check(!cudaMemsetAsync(bytes, 2, 4, cudaStreamPerThread), "the stream of the thread does not");
        check(!cudaStreamEndCapture(stream, &graph) && !cudaGraphDestroy(graph), "its end");
        check(!cudaStreamQuery(stream) && !cudaDeviceSynchronize(), "after it");
    }
    check(cudaStreamCreateWithFlags(&s, 6) == cudaErrorInvalidValue, "flags that there are not");
    cudaGetLastError();
    cudaStreamDestroy(s), cudaStreamDestroy(t), cudaEventDestroy(e);
}

void reset() {
    cudaStream_t s;
    cudaEvent_t e;
    cudaGraph_t graph;
    cudaGraphExec_t instance;
    cudaUserObject_t object;
    void *block, *host, *pooled;
    size_t free[3], total;
    ended = 0;
    cudaMemGetInfo(&free[0], &total);
    check(!cudaStreamCreate(&s) && !cudaEventCreate(&e) && !cudaGraphCreate(&graph, 0) && !cudaGraphInstantiate(&instance, graph, 0), "a stream, an event and graphs");
    check(!cudaUserObjectCreate(&object, nullptr, end, 1, cudaUserObjectNoDestructorSync) && !cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove), "an object");
    check(!cudaMalloc(&block, 1000) && !cudaMallocHost(&host, 2000) && !cudaMallocAsync(&pooled, 4000, s), "blocks");
    check(!cudaLaunchHostFunc(s, slow, nullptr), "work that takes a while");
    check(!cudaDeviceReset() && done == 1, "a reset waits for work");
    check(ended == 1, "and drops what graphs keep");
    cudaMemGetInfo(&free[1], &total);
    check(free[0] - free[1] == 4000, "all memory but the pool's is free again");
    check(cudaFree(block) == cudaErrorInvalidValue && cudaFreeHost(host) == cudaErrorInvalidValue, "blocks are gone");
    check(cudaStreamSynchronize(s) == cudaErrorInvalidResourceHandle && cudaEventRecord(e, nullptr) == cudaErrorInvalidResourceHandle, "so are streams and events");
    check(cudaGraphDestroy(graph) == cudaErrorInvalidValue && cudaGraphExecDestroy(instance) == cudaErrorInvalidValue, "and graphs");
    check(!cudaStreamCreate(&s) && !cudaFreeAsync(pooled, s) && !cudaStreamDestroy(s), "the device serves again");
    cudaMemGetInfo(&free[2], &total);
    check(free[2] == free[0], "nothing is left");
    int value;
    check(cudaDeviceGetAttribute(&value, (cudaDeviceAttr)0, 0) == cudaErrorInvalidValue && cudaDeviceGetAttribute(&value, (cudaDeviceAttr)1000, 0) == cudaErrorInvalidValue, "attributes that there are not");
    cudaGetLastError();
}

}  // namespace

void device(cudnnHandle_t) {
    failures_of_work();
    forbidden_by_capture();
    reset();
}
}  // namespace device_area
