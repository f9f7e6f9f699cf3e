// Knobs of engines: their values, each of which runs another implementation with the same result; their errors; notes; serialised plans and kernel caches.
#include "raw.hpp"

#include <set>

static D matmul(const D &a, const D &b, const D &c) {
    D m(CUDNN_BACKEND_MATMUL_DESCRIPTOR), op(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
    m.kind(CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT).done();
    op.with(CUDNN_ATTR_OPERATION_MATMUL_DESC, m).with(CUDNN_ATTR_OPERATION_MATMUL_ADESC, a).with(CUDNN_ATTR_OPERATION_MATMUL_BDESC, b);
    op.with(CUDNN_ATTR_OPERATION_MATMUL_CDESC, c).done();
    return op;
}

static D engine_of(const D &g, int64_t index) {
    D engine(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    engine.with(CUDNN_ATTR_ENGINE_OPERATION_GRAPH, g).ints(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, {index}).done();
    return engine;
}

static D choice(int knob, int64_t value) {
    D c(CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);
    c.kind(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, knob).ints(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, {value}).done();
    return c;
}

// The largest value of an engine's knob; 0 if it has none.
static int64_t largest(const D &engine) {
    int64_t count = -1;
    is(cudnnBackendGetAttribute(engine.d, CUDNN_ATTR_ENGINE_KNOB_INFO, CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, &count, nullptr), CUDNN_STATUS_SUCCESS, "knobs");
    check(count == 0 || count == 1, "one knob or none");
    if (count != 1) return 0;
    D info(CUDNN_BACKEND_KNOB_INFO_DESCRIPTOR);
    is(cudnnBackendGetAttribute(engine.d, CUDNN_ATTR_ENGINE_KNOB_INFO, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count, &info.d), CUDNN_STATUS_SUCCESS, "the knob");
    cudnnBackendKnobType_t type = CUDNN_KNOB_TYPE_COUNTS;
    is(cudnnBackendGetAttribute(info.d, CUDNN_ATTR_KNOB_INFO_TYPE, CUDNN_TYPE_KNOB_TYPE, 1, &count, &type), CUDNN_STATUS_SUCCESS, "its type");
    check(type == CUDNN_KNOB_TYPE_KERNEL_CFG && info.int64(CUDNN_ATTR_KNOB_INFO_MINIMUM_VALUE) == 0 && info.int64(CUDNN_ATTR_KNOB_INFO_STRIDE) == 1, "its range");
    return info.int64(CUDNN_ATTR_KNOB_INFO_MAXIMUM_VALUE);
}

static std::string text_of(const D &d, int name) {
    int64_t length = 0;
    is(cudnnBackendGetAttribute(d.d, (cudnnBackendAttributeName_t)name, CUDNN_TYPE_CHAR, 0, &length, nullptr), CUDNN_STATUS_SUCCESS, "length");
    std::string text(length, 0);
    is(cudnnBackendGetAttribute(d.d, (cudnnBackendAttributeName_t)name, CUDNN_TYPE_CHAR, length, &length, &text[0]), CUDNN_STATUS_SUCCESS, "text");
    return text;
}

static std::vector<int> notes(const D &engine, cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type) {
    int list[16];
    int64_t count = 0;
    is(cudnnBackendGetAttribute(engine.d, name, type, 16, &count, list), CUDNN_STATUS_SUCCESS, "notes");
    return std::vector<int>(list, list + count);
}

void knobs(cudnnHandle_t handle) {
    D a = tensor(1, {1, 32, 48}), b = tensor(2, {1, 48, 64}), c = tensor(3, {1, 32, 64}), op = matmul(a, b, c), g = graph(handle, {&op});
    Floats A = numbers(32 * 48, 1), B = numbers(48 * 64, 2), C(32 * 64, NOTHING), right(32 * 64);
    for (int i = 0; i < 32 * 64; i++) {
        double sum = 0;
        for (int k = 0; k < 48; k++) sum += (double)A[i / 64 * 48 + k] * B[k * 64 + i % 64];
        right[i] = (float)sum;
    }
    D engine = engine_of(g, 1);
    int64_t most = largest(engine);
    check(most >= 1, "a product has several implementations");
    std::set<std::string> run;
    for (int64_t value = 0; value <= most; value++) {
        Told told;
        D knob = choice(CUDNN_KNOB_TYPE_KERNEL_CFG, value), config(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR), plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
        config.with(CUDNN_ATTR_ENGINECFG_ENGINE, engine).with(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, knob).done();
        plan.with(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config).done();
        is(execute(handle, plan, {{1, A.data()}, {2, B.data()}, {3, C.data()}}), CUDNN_STATUS_SUCCESS, "a plan with its knob turned");
        close_to("knob " + std::to_string(value), C, right, 1e-5);
        C.assign(C.size(), NOTHING);
        check(run.insert(told.text.substr(told.text.find("steps"))).second, "another implementation than before: " + told.text);
        // The text contains the value, and a plan from the text runs the same.
        std::string text = text_of(plan, CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION);
        std::string before = told.text;
        told.text.clear();
        D again(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR), known(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
        is(again.set(CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, (int64_t)text.size(), text.data()), CUDNN_STATUS_SUCCESS, "text");
        again.done();
        check(told.text == before, "the same plan from its text: " + told.text + before);
        is(execute(handle, again, {{1, A.data()}, {2, B.data()}, {3, C.data()}}), CUDNN_STATUS_SUCCESS, "a plan from text with its knob turned");
        close_to("knob from text", C, right, 1e-5);
        int64_t count = -1;
        is(cudnnBackendGetAttribute(again.d, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count, &known.d), CUDNN_STATUS_SUCCESS, "config");
        is(cudnnBackendGetAttribute(known.d, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, &count, nullptr), CUDNN_STATUS_SUCCESS, "choices");
        check(count == (value > 0), "the configuration's choices");
    }
    struct Bad {
        int knob;
        int64_t value;
        cudnnStatus_t status;
    };
    for (auto &bad : {Bad{CUDNN_KNOB_TYPE_KERNEL_CFG, most + 1, CUDNN_STATUS_BAD_PARAM_OUT_OF_BOUND}, Bad{CUDNN_KNOB_TYPE_KERNEL_CFG, -1, CUDNN_STATUS_BAD_PARAM_OUT_OF_BOUND},
                      Bad{CUDNN_KNOB_TYPE_SPLIT_K, 0, CUDNN_STATUS_BAD_PARAM}}) {
        D knob = choice(bad.knob, bad.value), config(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
        config.with(CUDNN_ATTR_ENGINECFG_ENGINE, engine).with(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, knob);
        is(cudnnBackendFinalize(config.d), bad.status, "a knob that the engine has not");
    }
    // In mode B all values are candidates.
    D heuristics(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
    heuristics.with(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, g).kind(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, CUDNN_HEUR_MODE_B).done();
    int64_t count = 0;
    is(cudnnBackendGetAttribute(heuristics.d, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, &count, nullptr), CUDNN_STATUS_SUCCESS, "count");
    check(count == 2 + most, "candidates");
    // A product propagates NaN strictly.
    auto told = notes(engine, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE);
    check(told == std::vector<int>{CUDNN_NUMERICAL_NOTE_STRICT_NAN_PROP}, "notes of a product");
    check(notes(engine, CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE, CUDNN_TYPE_BEHAVIOR_NOTE).empty(), "nothing is compiled, and there is no runtime of graphs here");
    // A kernel cache contains the plans that are made with it; another one can be made from its text.
    D cache(CUDNN_BACKEND_KERNEL_CACHE_DESCRIPTOR), config(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR), plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    cache.done();
    check(cache.int64(CUDNN_ATTR_KERNEL_CACHE_ENTRY_COUNT) == 0, "an empty cache");
    config.with(CUDNN_ATTR_ENGINECFG_ENGINE, engine).done();
    plan.with(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config).with(CUDNN_ATTR_EXECUTION_PLAN_KERNEL_CACHE, cache).done();
    check(cache.int64(CUDNN_ATTR_KERNEL_CACHE_ENTRY_COUNT) == 1, "one plan");
    std::string text = text_of(cache, CUDNN_ATTR_KERNEL_CACHE_JSON_REPRESENTATION);
    D other(CUDNN_BACKEND_KERNEL_CACHE_DESCRIPTOR), wrong(CUDNN_BACKEND_KERNEL_CACHE_DESCRIPTOR);
    is(other.set(CUDNN_ATTR_KERNEL_CACHE_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, (int64_t)text.size(), text.data()), CUDNN_STATUS_SUCCESS, "text");
    other.done();
    check(other.int64(CUDNN_ATTR_KERNEL_CACHE_ENTRY_COUNT) == 1, "the plan of the text");
    is(wrong.set(CUDNN_ATTR_KERNEL_CACHE_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, 2, "{}"), CUDNN_STATUS_SUCCESS, "text");
    is(cudnnBackendFinalize(wrong.d), CUDNN_STATUS_BAD_PARAM, "text of no cache");
}
