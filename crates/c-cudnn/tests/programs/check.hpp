// Checks, host tensors, and straightforward reference computations.
#pragma once

#include <cudnn.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <vector>

// Areas of the program; each file adds its own.
struct Area {
    Area(const char *name, void (*run)(), bool alone = false);
};

void check(bool holds, const char *what, const char *file, int line);
void check_ok(cudnnStatus_t status, const char *what, const char *file, int line);
void check_is(cudnnStatus_t status, cudnnStatus_t wanted, const char *what, const char *file, int line);
#define CHECK(what) check((what), #what, __FILE__, __LINE__)
#define OK(call) check_ok((call), #call, __FILE__, __LINE__)
#define IS(wanted, call) check_is((call), (wanted), #call, __FILE__, __LINE__)

// The text of cudnnGetLastErrorString.
std::string last_error();

// The handle of the process.
cudnnHandle_t handle();

// The lines of a file of tests/vectors/cudnn: results computed by other programs.
std::vector<std::string> lines(const char *file);

// Values of some type in memory, read and written as doubles.
struct Buffer {
    cudnnDataType_t type;
    std::vector<uint8_t> bytes;
    Buffer(cudnnDataType_t type, size_t count);
    size_t size() const;
    double get(size_t i) const;
    void set(size_t i, double value);
    // Pseudorandom values from `seed`, between -1 and 1 (small integers for integral types).
    Buffer &random(unsigned seed);
    Buffer &fill(double value);
    void *data() { return bytes.data(); }
};

// A tensor descriptor with memory.
struct Tensor {
    cudnnTensorDescriptor_t desc = nullptr;
    std::vector<int> dims, strides;
    Buffer buffer;
    Tensor(cudnnDataType_t type, std::vector<int> dims, cudnnTensorFormat_t format = CUDNN_TENSOR_NCHW);
    Tensor(cudnnDataType_t type, std::vector<int> dims, std::vector<int> strides);
    ~Tensor();
    Tensor(const Tensor &) = delete;
    size_t at(const std::vector<int> &position) const;
    double get(const std::vector<int> &position) const { return buffer.get(at(position)); }
    void set(const std::vector<int> &position, double value) { buffer.set(at(position), value); }
    void *data() { return buffer.data(); }
    size_t volume() const;
    // Position of the i-th element in row-major order.
    std::vector<int> position(size_t i) const;
};

// A workspace of exactly `size` bytes, filled with NaN; null for 0.
struct Workspace {
    std::vector<uint8_t> bytes;
    explicit Workspace(size_t size) : bytes(size, 0xff) {}
    void *data() { return bytes.empty() ? nullptr : bytes.data(); }
};

// A scaling factor in the type that goes with the tensors' type.
struct Factor {
    float single;
    double twice;
    bool wide;
    Factor(double value, cudnnDataType_t type) : single(float(value)), twice(value), wide(type == CUDNN_DATA_DOUBLE) {}
    const void *data() const { return wide ? static_cast<const void *>(&twice) : &single; }
};

// Whether two values agree within the type's precision.
bool close(double got, double wanted, cudnnDataType_t type, double scale = 1);
// Compares every element of a tensor with a function of its position.
void compare(const Tensor &tensor, const std::function<double(const std::vector<int> &)> &wanted, const char *what, double scale = 1);
// Compares a gradient with finite differences of `loss` with respect to `of` (doubles).
void compare_gradient(const Buffer &gradient, Buffer &of, const std::function<double()> &loss, const char *what);
