// Descriptors, their errors, heuristics, notes, serialised plans, overridden shapes, threads, random calls.
#include "raw.hpp"

#include <thread>

static D relu(const D &x, const D &y) {
    D p(CUDNN_BACKEND_POINTWISE_DESCRIPTOR), op(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    p.kind(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, CUDNN_POINTWISE_RELU_FWD);
    p.kind(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT).done();
    op.with(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, p).with(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x).with(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y).done();
    return op;
}

static void errors(cudnnHandle_t handle) {
    cudnnBackendDescriptor_t d = nullptr;
    is(cudnnBackendCreateDescriptor((cudnnBackendDescriptorType_t)51, &d), CUDNN_STATUS_BAD_PARAM, "a type that there is not");
    is(cudnnBackendCreateDescriptor(CUDNN_BACKEND_TENSOR_DESCRIPTOR, nullptr), CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "no place");
    is(cudnnBackendFinalize(nullptr), CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "null");
    is(cudnnBackendFinalize((void *)0x123456), CUDNN_STATUS_BAD_PARAM, "no descriptor");
    is(cudnnBackendDestroyDescriptor(nullptr), CUDNN_STATUS_SUCCESS, "destroy null");
    D t(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    int64_t one = 1;
    float single = 1;
    is(t.set(CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, 1, &one), CUDNN_STATUS_BAD_PARAM, "an attribute of another descriptor");
    is(t.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_FLOAT, 1, &single), CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE, "another type");
    is(t.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 2, &one), CUDNN_STATUS_BAD_PARAM, "too many elements");
    is(t.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, -1, &one), CUDNN_STATUS_BAD_PARAM, "a negative count");
    is(t.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, nullptr), CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "no elements");
    is(cudnnBackendFinalize(t.d), CUDNN_STATUS_BAD_PARAM, "a tensor without attributes");
    int64_t got = 0;
    is(cudnnBackendGetAttribute(t.d, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, nullptr, &got), CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED, "get before");
    D done = tensor(1, {2, 2});
    is(done.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &one), CUDNN_STATUS_NOT_INITIALIZED, "set after");
    is(cudnnBackendFinalize(done.d), CUDNN_STATUS_SUCCESS, "finalize twice");
    D g(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR), op(CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR);
    is(g.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &op.d), CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED, "an operation that is not final");
    is(g.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &done.d), CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE, "no operation");
    for (Ints dims : {Ints{0, 2}, Ints{-1, 2}, Ints{INT64_MAX, 2}}) {
        D bad(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
        bad.ints(CUDNN_ATTR_TENSOR_UNIQUE_ID, {1}).ints(CUDNN_ATTR_TENSOR_DIMENSIONS, dims).ints(CUDNN_ATTR_TENSOR_STRIDES, {2, 1});
        bad.kind(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT).ints(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, {4});
        is(cudnnBackendFinalize(bad.d), CUDNN_STATUS_BAD_PARAM, "sizes");
    }
    D x = tensor(1, {2, 2}), y = tensor(2, {2, 2}), a = relu(x, y), b = relu(x, y), whole(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    whole.all(CUDNN_ATTR_OPERATIONGRAPH_OPS, {&a, &b});
    is(cudnnBackendFinalize(whole.d), CUDNN_STATUS_BAD_PARAM_DUPLICATED_ENTRIES, "two writers");
    D gr = graph(handle, {&a});
    D engine(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    engine.with(CUDNN_ATTR_ENGINE_OPERATION_GRAPH, gr).ints(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, {3});
    is(cudnnBackendFinalize(engine.d), CUDNN_STATUS_BAD_PARAM, "an engine that there is not");
    D plan = plan_of(handle, gr, 1);
    Floats v(4);
    is(execute(handle, plan, {{1, v.data()}}), CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "a tensor without memory");
    D pack = pack_of({{1, v.data()}, {2, v.data()}}, nullptr);
    is(cudnnBackendExecute(handle, pack.d, plan.d), CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE, "exchanged");
    is(cudnnBackendExecute(nullptr, plan.d, pack.d), CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "no handle");
    is(cudnnBackendPopulateCudaGraph(handle, plan.d, pack.d, (cudaGraph_t)&v), CUDNN_STATUS_NOT_SUPPORTED_CUDA_GRAPH_NATIVE_API, "a CUDA graph");
    is(cudnnBackendUpdateCudaGraph(handle, plan.d, pack.d, (cudaGraph_t)&v), CUDNN_STATUS_NOT_SUPPORTED_CUDA_GRAPH_NATIVE_API, "a CUDA graph anew");
    D early(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    is(cudnnBackendInitialize(early.d), CUDNN_STATUS_SUCCESS, "initialize");
    is(cudnnBackendInitialize(nullptr), CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "initialize nothing");
}

static void heuristics(cudnnHandle_t handle) {
    D x = tensor(1, {2, 2}), y = tensor(2, {2, 2}), op = relu(x, y), g = graph(handle, {&op});
    for (int mode : {CUDNN_HEUR_MODE_INSTANT, CUDNN_HEUR_MODE_B, CUDNN_HEUR_MODE_FALLBACK, CUDNN_HEUR_MODE_A}) {
        D heur(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
        heur.with(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, g).kind(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, mode).done();
        int64_t count = -1;
        is(cudnnBackendGetAttribute(heur.d, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, &count, nullptr), CUDNN_STATUS_SUCCESS, "count");
        check(count >= 1, "results");
        D config(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR), engine(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
        is(cudnnBackendGetAttribute(heur.d, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count, &config.d), CUDNN_STATUS_SUCCESS, "results");
        check(count == 1, "one result");
        is(cudnnBackendGetAttribute(config.d, CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count, &engine.d), CUDNN_STATUS_SUCCESS, "engine");
        check(engine.int64(CUDNN_ATTR_ENGINE_GLOBAL_INDEX) >= 0, "index");
        is(cudnnBackendGetAttribute(engine.d, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE, CUDNN_NUMERICAL_NOTE_TYPE_COUNT, &count, nullptr),
           CUDNN_STATUS_SUCCESS, "notes");
        check(count == 0 && config.int64(CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE) == 0, "no notes, no workspace");
    }
}

// A plan made from text only; and descriptors destroyed before those made from them.
static void texts(cudnnHandle_t handle) {
    std::string text;
    {
        D x = tensor(1, {2, 2}), y = tensor(2, {2, 2}), op = relu(x, y), g = graph(handle, {&op}), plan = plan_of(handle, g, 2);
        int64_t length = 0;
        is(cudnnBackendGetAttribute(plan.d, CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, 0, &length, nullptr), CUDNN_STATUS_SUCCESS, "length");
        text.resize(length);
        is(cudnnBackendGetAttribute(plan.d, CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, length, &length, &text[0]), CUDNN_STATUS_SUCCESS, "text");
    }
    D plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    is(plan.set(CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, (int64_t)text.size(), text.data()), CUDNN_STATUS_SUCCESS, "text");
    plan.done();
    Floats x = {1, -2, 3, -4}, y(4, NOTHING);
    is(execute(handle, plan, {{1, x.data()}, {2, y.data()}}), CUDNN_STATUS_SUCCESS, "a plan from text");
    close_to("a plan from text", y, {1, 0, 3, 0});
    std::string other = text;
    other.replace(other.find("\"oxidnn_plan\":1"), 15, "\"oxidnn_plan\":9");
    for (auto &bad : {std::string("{"), std::string("[]"), other, text.substr(0, text.size() / 2)}) {
        D wrong(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
        wrong.set(CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, (int64_t)bad.size(), bad.data());
        is(cudnnBackendFinalize(wrong.d), bad == other ? CUDNN_STATUS_SERIALIZATION_VERSION_MISMATCH : CUDNN_STATUS_BAD_PARAM, "text that is no plan");
    }
}

// Overridden shapes, as cudnn-frontend passes them.
static void sizes(cudnnHandle_t handle) {
    D x = tensor(1, {2, 2}), y = tensor(2, {2, 2}), v = between(3, {2, 2}), first = relu(x, v), second = relu(v, y), g(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    g.all(CUDNN_ATTR_OPERATIONGRAPH_OPS, {&first, &second}).flag(CUDNN_ATTR_OPERATIONGRAPH_IS_OVERRIDE_SHAPE_ENABLED, true).done();
    D plan = plan_of(handle, g, 1);
    Floats in = {1, -1, 2, -2, 3, -3}, out(6, NOTHING);
    std::vector<Ints> dims = {{2, 3}, {2, 3}}, strides = {{3, 1}, {3, 1}};
    const void *d = dims.data(), *s = strides.data(), *pointers[] = {in.data(), out.data()};
    D pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    pack.ints(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, {1, 2}).ints(CUDNN_ATTR_VARIANT_PACK_OVERRIDE_UNIQUE_IDS, {1, 2});
    is(pack.set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, 2, pointers), CUDNN_STATUS_SUCCESS, "pointers");
    is(pack.set(CUDNN_ATTR_VARIANT_PACK_OVERRIDE_SHAPES, CUDNN_TYPE_VOID_PTR, 1, &d), CUDNN_STATUS_SUCCESS, "sizes");
    is(pack.set(CUDNN_ATTR_VARIANT_PACK_OVERRIDE_STRIDES, CUDNN_TYPE_VOID_PTR, 1, &s), CUDNN_STATUS_SUCCESS, "strides");
    std::vector<char> room(4096);
    void *workspace = room.data();
    is(pack.set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &workspace), CUDNN_STATUS_SUCCESS, "workspace");
    pack.done();
    size_t bytes = 0;
    is(cudnnGetExecutionPlanWorkspaceSize(handle, plan.d, pack.d, &bytes), CUDNN_STATUS_SUCCESS, "workspace for the sizes");
    check(bytes <= room.size(), "workspace");
    Told told;
    for (int again = 0; again < 3; again++) {
        is(cudnnBackendExecute(handle, plan.d, pack.d), CUDNN_STATUS_SUCCESS, "other sizes");
        close_to("other sizes", out, {1, 0, 2, 0, 3, 0});
        out.assign(6, NOTHING);
        // In between, the graph's own sizes.
        Floats own = {1, -2, 3, -4}, result(4, NOTHING);
        is(execute(handle, plan, {{1, own.data()}, {2, result.data()}}), CUDNN_STATUS_SUCCESS, "its own sizes");
        close_to("its own sizes", result, {1, 0, 3, 0});
    }
    check(told.text.empty(), "no plan is made for other sizes: " + told.text);
    // A graph that does not allow it returns an error.
    D fixed(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    fixed.all(CUDNN_ATTR_OPERATIONGRAPH_OPS, {&first, &second}).done();
    D stiff = plan_of(handle, fixed, 1);
    is(cudnnBackendExecute(handle, stiff.d, pack.d), CUDNN_STATUS_NOT_SUPPORTED_INVALID_DYNAMIC_SHAPE, "other sizes of a graph that has one size");
}

static void threads(cudnnHandle_t handle) {
    D x = tensor(1, {64, 64}), y = tensor(2, {64, 64}), op = relu(x, y), g = graph(handle, {&op}), plan = plan_of(handle, g, 1);
    std::vector<std::thread> all;
    std::vector<int> wrong(4, 0);
    for (int t = 0; t < 4; t++)
        all.emplace_back([&, t] {
            Floats in(4096, (float)t - 1.5f), out(4096);
            D pack = pack_of({{1, in.data()}, {2, out.data()}}, nullptr);
            for (int i = 0; i < 200; i++) {
                wrong[t] += cudnnBackendExecute(handle, plan.d, pack.d) != CUDNN_STATUS_SUCCESS;
                for (float v : out) wrong[t] += v != std::max(0.0f, (float)t - 1.5f);
                out.assign(4096, NOTHING);
            }
        });
    for (auto &t : all) t.join();
    for (int w : wrong) check(w == 0, "one plan on four threads");
}

// A plan runs with another handle after its own handle and parts were destroyed; two plans use one workspace in turn.
static void lifetimes(cudnnHandle_t handle) {
    cudnnHandle_t first = nullptr;
    is(cudnnCreate(&first), CUDNN_STATUS_SUCCESS, "a handle");
    auto made = [&] {
        D x = tensor(1, {2, 2}), v = between(3, {2, 2}), y = tensor(2, {2, 2}), once = relu(x, v), twice = relu(v, y), g = graph(first, {&once, &twice});
        return plan_of(first, g, 2);
    };
    D one = made(), other = made();
    is(cudnnDestroy(first), CUDNN_STATUS_SUCCESS, "it goes before its plans");
    std::vector<unsigned char> shared(one.int64(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE), 0xff);
    check(!shared.empty(), "an intermediate result is in the workspace");
    Floats a = {1, -2, 3, -4}, b = {-1, 2, -3, 4}, ya(4, NOTHING), yb(4, NOTHING);
    {
        D packed_a = pack_of({{1, a.data()}, {2, ya.data()}}, shared.data()), packed_b = pack_of({{1, b.data()}, {2, yb.data()}}, shared.data());
        for (int i = 0; i < 3; i++) {
            is(cudnnBackendExecute(handle, one.d, packed_a.d), CUDNN_STATUS_SUCCESS, "a plan of a handle that is gone");
            is(cudnnBackendExecute(handle, other.d, packed_b.d), CUDNN_STATUS_SUCCESS, "another one in the same workspace");
        }
    }
    close_to("the first plan", ya, {1, 0, 3, 0});
    close_to("the second plan", yb, {0, 2, 0, 4});
}

void objects(cudnnHandle_t handle) {
    lifetimes(handle);
    errors(handle);
    heuristics(handle);
    texts(handle);
    sizes(handle);
    threads(handle);
}

// Random calls on existing descriptors: any result is right but a crash.
void fuzz(cudnnHandle_t handle) {
    const char *given = getenv("OXIDNN_FUZZ");
    int64_t count = given ? atoll(given) : 200000;
    uint64_t state = 88172645463325252ull;
    auto next = [&](uint64_t below) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        return state % below;
    };
    // Attribute names of a descriptor type, and plausible values: small and huge numbers.
    static const int64_t values[] = {0, 1, 2, 3, 4, 5, 8, 16, 32, -1, -2, 100, 200, 501, 601, INT64_MAX, INT64_MIN, 1LL << 32, 1LL << 40, 7};
    static const int names[] = {0, 100, 200, 300, 400, 500, 600, 700, 706, 712, 750, 770, 780, 800, 900, 1000, 1010, 1100, 1200, 1300, 1500, 1520, 1600, 1610, 1620,
                                1640, 1700, 1710, 1720, 1800, 1900, 1950, 2000, 2100, 2200, 2250, 2270, 2300, 2310, 2400, 2500, 2600, 2700, 2800, 2851, 2900, 2951,
                                3000, 3100, 3200, 3300, 3400, 3410};
    std::vector<cudnnBackendDescriptor_t> all;
    std::vector<std::vector<int>> liked;
    alignas(16) static char buffer[1 << 16];
    int64_t done = 0;
    for (int64_t i = 0; i < count; i++) {
        if (all.size() < 40) {
            cudnnBackendDescriptor_t d;
            if (cudnnBackendCreateDescriptor((cudnnBackendDescriptorType_t)next(51), &d) == CUDNN_STATUS_SUCCESS) all.push_back(d), liked.push_back({});
            continue;
        }
        size_t at = next(all.size());
        cudnnBackendDescriptor_t d = next(50) ? all[at] : next(2) ? nullptr : (void *)(uintptr_t)next(1 << 20);
        int name = liked[at].size() && next(4) ? liked[at][next(liked[at].size())] : names[next(sizeof names / sizeof *names)] + (int)next(12);
        int type = (int)next(34);
        int64_t elements = (int64_t)next(5) - (next(20) == 0);
        switch (next(12)) {
        case 0: done += cudnnBackendFinalize(d) == CUDNN_STATUS_SUCCESS; break;
        case 1:
            if (next(10) == 0) {
                cudnnBackendDestroyDescriptor(all[at]);
                all.erase(all.begin() + (int64_t)at), liked.erase(liked.begin() + (int64_t)at);
            }
            break;
        case 2: {
            int64_t n = 0;
            // Descriptors to write to: existing ones, or null.
            for (int j = 0; j < 8; j++) memcpy(buffer + j * 8, &all[next(all.size())], 8);
            cudnnBackendGetAttribute(d, (cudnnBackendAttributeName_t)name, (cudnnBackendAttributeType_t)type, elements, next(4) ? &n : nullptr,
                                     next(4) ? buffer : nullptr);
            break;
        }
        case 3: cudnnBackendExecute(next(10) ? handle : nullptr, d, all[next(all.size())]); break;
        default:
            for (int j = 0; j < 16; j++) {
                int64_t v = values[next(sizeof values / sizeof *values)];
                memcpy(buffer + j * 8, &v, 8);
                // Readable addresses of this program, or null.
                if (type == CUDNN_TYPE_VOID_PTR) {
                    const void *p = next(3) ? buffer + 1024 : nullptr;
                    memcpy(buffer + j * 8, &p, 8);
                }
                if (type == CUDNN_TYPE_BACKEND_DESCRIPTOR) memcpy(buffer + j * 8, &all[next(all.size())], 8);
            }
            if (cudnnBackendSetAttribute(d, (cudnnBackendAttributeName_t)name, (cudnnBackendAttributeType_t)type, elements, next(20) ? buffer : nullptr) ==
                    CUDNN_STATUS_SUCCESS && d == all[at])
                liked[at].push_back(name);
        }
    }
    check(done > 0, "some descriptors were finalized");
    for (auto d : all) is(cudnnBackendDestroyDescriptor(d), CUDNN_STATUS_SUCCESS, "destroy");
}
