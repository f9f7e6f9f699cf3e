#include "check.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>

namespace {
struct Entry {
    void (*run)();
    bool alone;
};
std::map<std::string, Entry> &areas() {
    static std::map<std::string, Entry> all;
    return all;
}
int checks = 0, wrong = 0;

size_t width(cudnnDataType_t type) {
    switch (type) {
    case CUDNN_DATA_DOUBLE: return 8;
    case CUDNN_DATA_HALF:
    case CUDNN_DATA_BFLOAT16: return 2;
    case CUDNN_DATA_INT8:
    case CUDNN_DATA_INT8x4:
    case CUDNN_DATA_UINT8: return 1;
    case CUDNN_DATA_INT64: return 8;
    default: return 4;
    }
}

// bfloat16 as its bits, rounded to the nearest.
float wide(uint16_t bits) {
    uint32_t all = uint32_t(bits) << 16;
    float value;
    std::memcpy(&value, &all, sizeof value);
    return value;
}
uint16_t narrow(float value) {
    uint32_t all;
    std::memcpy(&all, &value, sizeof all);
    return std::isnan(value) ? 0x7fff : uint16_t((all + 0x7fff + (all >> 16 & 1)) >> 16);
}

bool integral(cudnnDataType_t type) {
    return type == CUDNN_DATA_INT8 || type == CUDNN_DATA_INT8x4 || type == CUDNN_DATA_UINT8 || type == CUDNN_DATA_INT32 || type == CUDNN_DATA_INT64;
}
} // namespace

Area::Area(const char *name, void (*run)(), bool alone) { areas()[name] = {run, alone}; }

void check(bool holds, const char *what, const char *file, int line) {
    checks++;
    if (holds) return;
    if (++wrong <= 20) std::printf("%s:%d: %s\n", file, line, what);
}

void check_ok(cudnnStatus_t status, const char *what, const char *file, int line) {
    checks++;
    if (status == CUDNN_STATUS_SUCCESS) return;
    if (++wrong <= 20) std::printf("%s:%d: %s: %s: %s\n", file, line, what, cudnnGetErrorString(status), last_error().c_str());
}

void check_is(cudnnStatus_t status, cudnnStatus_t wanted, const char *what, const char *file, int line) {
    checks++;
    if (status == wanted) return;
    if (++wrong <= 20) std::printf("%s:%d: %s: %s, not %s\n", file, line, what, cudnnGetErrorString(status), cudnnGetErrorString(wanted));
}

std::string last_error() {
    char text[4096] = "";
    cudnnGetLastErrorString(text, sizeof text);
    return text;
}

cudnnHandle_t handle() {
    static cudnnHandle_t it = [] {
        cudnnHandle_t made = nullptr;
        OK(cudnnCreate(&made));
        return made;
    }();
    return it;
}

Buffer::Buffer(cudnnDataType_t type, size_t count) : type(type), bytes(count * width(type), 0xff) {}

size_t Buffer::size() const { return bytes.size() / width(type); }

double Buffer::get(size_t i) const {
    const uint8_t *at = bytes.data() + i * width(type);
    switch (type) {
    case CUDNN_DATA_DOUBLE: return *reinterpret_cast<const double *>(at);
    case CUDNN_DATA_HALF: return double(*reinterpret_cast<const _Float16 *>(at));
    case CUDNN_DATA_BFLOAT16: return wide(*reinterpret_cast<const uint16_t *>(at));
    case CUDNN_DATA_INT8:
    case CUDNN_DATA_INT8x4: return *reinterpret_cast<const int8_t *>(at);
    case CUDNN_DATA_UINT8: return *at;
    case CUDNN_DATA_INT32: return *reinterpret_cast<const int32_t *>(at);
    case CUDNN_DATA_INT64: return double(*reinterpret_cast<const int64_t *>(at));
    default: return *reinterpret_cast<const float *>(at);
    }
}

void Buffer::set(size_t i, double value) {
    uint8_t *at = bytes.data() + i * width(type);
    switch (type) {
    case CUDNN_DATA_DOUBLE: *reinterpret_cast<double *>(at) = value; break;
    case CUDNN_DATA_HALF: *reinterpret_cast<_Float16 *>(at) = _Float16(value); break;
    case CUDNN_DATA_BFLOAT16: *reinterpret_cast<uint16_t *>(at) = narrow(float(value)); break;
    case CUDNN_DATA_INT8:
    case CUDNN_DATA_INT8x4: *reinterpret_cast<int8_t *>(at) = int8_t(value); break;
    case CUDNN_DATA_UINT8: *at = uint8_t(value); break;
    case CUDNN_DATA_INT32: *reinterpret_cast<int32_t *>(at) = int32_t(value); break;
    case CUDNN_DATA_INT64: *reinterpret_cast<int64_t *>(at) = int64_t(value); break;
    default: *reinterpret_cast<float *>(at) = float(value);
    }
}

Buffer &Buffer::random(unsigned seed) {
    uint32_t state = seed * 2654435761u + 12345;
    for (size_t i = 0; i < size(); i++) {
        state = state * 1664525u + 1013904223u;
        double number = double(state >> 8) / double(1 << 23) - 1;
        set(i, integral(type) ? std::floor(number * 5 + (type == CUDNN_DATA_UINT8 ? 5 : 0)) : number);
    }
    return *this;
}

Buffer &Buffer::fill(double value) {
    for (size_t i = 0; i < size(); i++) set(i, value);
    return *this;
}

namespace {
std::vector<int> strides_of(const std::vector<int> &dims, cudnnTensorFormat_t format) {
    std::vector<int> strides(dims.size());
    int step = 1;
    auto take = [&](size_t d) {
        strides[d] = step;
        step *= dims[d];
    };
    if (format == CUDNN_TENSOR_NHWC) take(1);
    for (size_t d = dims.size(); d-- > (format == CUDNN_TENSOR_NHWC ? 2 : 0);) take(d);
    if (format == CUDNN_TENSOR_NHWC) take(0);
    return strides;
}

size_t extent(const std::vector<int> &dims, const std::vector<int> &strides) {
    size_t last = 0;
    for (size_t d = 0; d < dims.size(); d++) last += size_t(dims[d] - 1) * strides[d];
    return last + 1;
}
} // namespace

Tensor::Tensor(cudnnDataType_t type, std::vector<int> dims, cudnnTensorFormat_t format) : Tensor(type, dims, strides_of(dims, format)) {}

Tensor::Tensor(cudnnDataType_t type, std::vector<int> d, std::vector<int> s) : dims(d), strides(s), buffer(type, extent(d, s)) {
    OK(cudnnCreateTensorDescriptor(&desc));
    OK(cudnnSetTensorNdDescriptor(desc, type, int(dims.size()), dims.data(), strides.data()));
}

Tensor::~Tensor() { OK(cudnnDestroyTensorDescriptor(desc)); }

size_t Tensor::at(const std::vector<int> &position) const {
    size_t offset = 0;
    for (size_t d = 0; d < dims.size(); d++) offset += size_t(position[d]) * strides[d];
    return offset;
}

size_t Tensor::volume() const {
    size_t all = 1;
    for (int d : dims) all *= d;
    return all;
}

std::vector<int> Tensor::position(size_t i) const {
    std::vector<int> at(dims.size());
    for (size_t d = dims.size(); d-- > 0;) {
        at[d] = int(i % dims[d]);
        i /= dims[d];
    }
    return at;
}

std::vector<std::string> lines(const char *file) {
    const char *folder = std::getenv("OXIDNN_TRUTH");
    std::ifstream text(std::string(folder ? folder : "tests/vectors/cudnn") + "/" + file);
    CHECK(text.good());
    std::vector<std::string> all;
    for (std::string line; std::getline(text, line);) all.push_back(line);
    return all;
}

bool close(double got, double wanted, cudnnDataType_t type, double scale) {
    if (std::isnan(wanted)) return std::isnan(got);
    if (std::isinf(wanted)) return got == wanted;
    double bound = type == CUDNN_DATA_DOUBLE ? 1e-9 : type == CUDNN_DATA_HALF ? 4e-3 : type == CUDNN_DATA_BFLOAT16 ? 3e-2 : integral(type) ? 0.5 : 2e-5;
    return std::fabs(got - wanted) <= bound * std::max({1.0, std::fabs(wanted), scale});
}

void compare(const Tensor &tensor, const std::function<double(const std::vector<int> &)> &wanted, const char *what, double scale) {
    for (size_t i = 0; i < tensor.volume(); i++) {
        auto position = tensor.position(i);
        double got = tensor.get(position), right = wanted(position);
        if (!close(got, right, tensor.buffer.type, scale)) {
            std::string text = std::string(what) + ": element " + std::to_string(i) + " is " + std::to_string(got) + ", not " + std::to_string(right);
            return check(false, text.c_str(), "compare", 0);
        }
    }
    check(true, what, "compare", 0);
}

void compare_gradient(const Buffer &gradient, Buffer &of, const std::function<double()> &loss, const char *what) {
    size_t step = std::max<size_t>(1, of.size() / 40);
    for (size_t i = 0; i < of.size(); i += step) {
        double before = of.get(i), h = of.type == CUDNN_DATA_DOUBLE ? 1e-6 : 1e-2;
        of.set(i, before + h);
        double up = loss();
        of.set(i, before - h);
        double down = loss();
        of.set(i, before);
        double right = (up - down) / (2 * h), bound = of.type == CUDNN_DATA_DOUBLE ? 1e-5 : 2e-2;
        if (!(std::fabs(gradient.get(i) - right) <= bound * std::max(1.0, std::fabs(right)))) {
            std::string text = std::string(what) + ": the gradient of " + std::to_string(i) + " is " + std::to_string(gradient.get(i)) + ", not " + std::to_string(right);
            return check(false, text.c_str(), "compare_gradient", 0);
        }
    }
    check(true, what, "compare_gradient", 0);
}

int main(int count, char **arguments) {
    std::string area = count > 1 ? arguments[1] : "all";
    for (auto &[name, entry] : areas()) {
        if (area == "list") {
            if (!entry.alone) std::printf("%s\n", name.c_str());
        } else if (name == area || (area == "all" && !entry.alone)) {
            entry.run();
        }
    }
    if (area != "list") std::printf("%s: %d checks, %d wrong\n", area.c_str(), checks, wrong);
    return wrong != 0 || (area != "list" && checks == 0);
}
