// Shared by the areas of the C++ program: tensors as plain values, execution, and derivatives by differences.
#pragma once

#include <cmath>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "check.h"
#include "oneapi/dnnl/dnnl.hpp"

using namespace dnnl;
using md = memory::desc;
using dt = memory::data_type;
using tag = memory::format_tag;
using dims = memory::dims;
using values = std::vector<double>;
using arguments = std::unordered_map<int, memory>;

engine &the_engine();
stream &the_stream();

inline memory::dim volume(const dims &d) {
    memory::dim n = 1;
    for (auto x : d)
        n *= x;
    return n;
}

// A row-major f32 descriptor, and one whose layout is left to the library.
md plain(const dims &d, dt type = dt::f32);
md open(const dims &d, dt type = dt::f32);

// `count` values that differ, exact in all floating types, between -1.5 and 1.5; `integers` in -scale..scale.
values some(memory::dim count, int seed);
values integers(memory::dim count, int seed, int scale);

// Memory of this descriptor, filled from row-major values by a reorder when it is not row-major f32 itself.
memory put(const md &desc, const values &row_major);
// Row-major values of a memory of any type and layout.
values get(const memory &m);
// The memory, or a reordered copy when the descriptor differs: the propagation of formats.
memory as(const memory &m, const md &desc);

// Writes the one number of a memory.
void poke(const memory &m, int32_t value);

void run(const primitive &p, const arguments &args);
// Runs with one more output, allocated here and returned as values.
values run_for(const primitive &p, arguments args, int output, const md &desc);

// Whether all values are within `tolerance` of the larger of 1 and |want|; prints the first that is not.
void compare(const values &got, const values &want, double tolerance, const std::string &what, const char *file, int line);
#define NEAR_ALL(got, want, tolerance, what) compare((got), (want), (tolerance), (what), __FILE__, __LINE__)

// The status of what `call` throws; success when it does not.
dnnl_status_t thrown(const std::function<void()> &call);
#define THROWS(want, ...) count_status(thrown([&] { __VA_ARGS__; }), (want), #__VA_ARGS__, __FILE__, __LINE__)

// A mistake that ends the process in oneDNN; ours answers invalid_arguments.
#define GUARDED_THROWS(...) \
    do { \
        if (is_ours()) THROWS(dnnl_invalid_arguments, __VA_ARGS__); \
    } while (0)

// d(sum(forward(x) * weight))/dx by central differences.
using forward_fn = std::function<values(const values &)>;
values gradient(const forward_fn &forward, values x, const values &weight);

// Row-major walk over all positions of `d`.
void each(const dims &d, const std::function<void(const dims &)> &visit);
memory::dim offset(const dims &d, const dims &at);
