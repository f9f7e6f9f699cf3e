// Recurrent cells: all kinds and directions forward by plain loops, and every gradient by differences of them.
#include "common.hpp"

namespace {

// Operands in a fixed order, with their argument numbers.
enum operand { X, H, C, ATTENTION, WL, WI, PEEPHOLE, PROJECTION, BIAS, OPERANDS };
const int numbers[OPERANDS] = {DNNL_ARG_SRC_LAYER, DNNL_ARG_SRC_ITER, DNNL_ARG_SRC_ITER_C, DNNL_ARG_AUGRU_ATTENTION, DNNL_ARG_WEIGHTS_LAYER,
        DNNL_ARG_WEIGHTS_ITER, DNNL_ARG_WEIGHTS_PEEPHOLE, DNNL_ARG_WEIGHTS_PROJECTION, DNNL_ARG_BIAS};
const int results[] = {DNNL_ARG_DST_LAYER, DNNL_ARG_DST_ITER, DNNL_ARG_DST_ITER_C};
const int to_diff = DNNL_ARG_DIFF_SRC - DNNL_ARG_SRC;

enum kind { VANILLA, LSTM, GRU, LBR_GRU, AUGRU, LBR_AUGRU };

struct problem {
    std::string name;
    kind cell;
    rnn_direction direction;
    memory::dim layers;
    bool peephole, projection;

    static const memory::dim t = 3, n = 2;
    memory::dim dhc() const { return 4; }
    memory::dim sic() const { return projection ? 3 : 4; } // channels of the state, those of a layer's output
    memory::dim slc() const { return layers > 1 ? sic() : 5; }
    memory::dim gates() const { return cell == VANILLA ? 1 : cell == LSTM ? 4 : 3; }
    bool lbr() const { return cell == LBR_GRU || cell == LBR_AUGRU; }
    bool attention() const { return cell == AUGRU || cell == LBR_AUGRU; }
    memory::dim directions() const {
        return direction == rnn_direction::bidirectional_concat || direction == rnn_direction::bidirectional_sum ? 2 : 1;
    }
    memory::dim out() const { return direction == rnn_direction::bidirectional_concat ? 2 * sic() : sic(); }
    bool has(int o) const {
        return o == C ? cell == LSTM : o == ATTENTION ? attention() : o == PEEPHOLE ? peephole : o == PROJECTION ? projection : true;
    }
    dims shape(int o) const {
        const memory::dim l = layers, d = directions();
        switch (o) {
            case X: return {t, n, slc()};
            case H: return {l, d, n, sic()};
            case C: return {l, d, n, dhc()};
            case ATTENTION: return {t, n, 1};
            case WL: return {l, d, slc(), gates(), dhc()};
            case WI: return {l, d, sic(), gates(), dhc()};
            case PEEPHOLE: return {l, d, 3, dhc()};
            case PROJECTION: return {l, d, dhc(), sic()};
            default: return {l, d, gates() + (lbr() ? 1 : 0), dhc()};
        }
    }
    dims result_shape(int i) const { return i == 0 ? dims {t, n, out()} : shape(i == 1 ? H : C); }
};

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// One cell of one layer and direction at one step, for one element of the batch.
struct cell_step {
    const problem &p;
    const std::vector<values> &v;
    memory::dim ld; // layer * directions + direction

    double weight(operand o, memory::dim i, memory::dim g, memory::dim c) const {
        const memory::dim rows = p.shape(o)[2];
        return v[o][((ld * rows + i) * p.gates() + g) * p.dhc() + c];
    }
    double dot(operand o, const values &x, memory::dim g, memory::dim c) const {
        double s = 0;
        for (size_t i = 0; i < x.size(); i++)
            s += x[i] * weight(o, memory::dim(i), g, c);
        return s;
    }
    double bias(memory::dim g, memory::dim c) const { return v[BIAS][(ld * p.shape(BIAS)[2] + g) * p.dhc() + c]; }
    double peep(memory::dim g, memory::dim c) const { return p.peephole ? v[PEEPHOLE][(ld * 3 + g) * p.dhc() + c] : 0; }

    void vanilla(const values &x, values &h) const {
        values next(p.dhc());
        for (memory::dim c = 0; c < p.dhc(); c++)
            next[c] = std::tanh(dot(WL, x, 0, c) + dot(WI, h, 0, c) + bias(0, c));
        h = next;
    }
    void lstm(const values &x, values &h, values &cs) const {
        values full(p.dhc());
        for (memory::dim c = 0; c < p.dhc(); c++) {
            double g[4];
            for (int k = 0; k < 4; k++)
                g[k] = dot(WL, x, k, c) + dot(WI, h, k, c) + bias(k, c);
            const double i = sigmoid(g[0] + peep(0, c) * cs[c]), f = sigmoid(g[1] + peep(1, c) * cs[c]);
            cs[c] = f * cs[c] + i * std::tanh(g[2]);
            full[c] = sigmoid(g[3] + peep(2, c) * cs[c]) * std::tanh(cs[c]);
        }
        h.assign(p.sic(), 0);
        for (memory::dim o = 0; o < p.sic(); o++)
            for (memory::dim c = 0; c < p.dhc(); c++)
                h[o] += p.projection ? full[c] * v[PROJECTION][(ld * p.dhc() + c) * p.sic() + o] : (c == o ? full[c] : 0);
    }
    void gru(const values &x, values &h, double attention) const {
        values u(p.dhc()), reset(p.dhc()), kept(p.dhc()), next(p.dhc());
        for (memory::dim c = 0; c < p.dhc(); c++) {
            u[c] = (1 - attention) * sigmoid(dot(WL, x, 0, c) + dot(WI, h, 0, c) + bias(0, c));
            reset[c] = sigmoid(dot(WL, x, 1, c) + dot(WI, h, 1, c) + bias(1, c));
            kept[c] = reset[c] * h[c];
        }
        for (memory::dim c = 0; c < p.dhc(); c++) {
            const double state = p.lbr() ? reset[c] * (dot(WI, h, 2, c) + bias(3, c)) : dot(WI, kept, 2, c);
            next[c] = u[c] * h[c] + (1 - u[c]) * std::tanh(dot(WL, x, 2, c) + state + bias(2, c));
        }
        h = next;
    }
};

values slice(const values &v, memory::dim at, memory::dim size) { return values(v.begin() + at * size, v.begin() + (at + 1) * size); }

// The three results one after another: layer, state, cell state.
values forward(const problem &p, const std::vector<values> &v) {
    const memory::dim T = p.t, N = p.n, D = p.directions();
    values y(volume(p.result_shape(0)), 0), hn(volume(p.shape(H))), cn(p.has(C) ? volume(p.shape(C)) : 0);
    for (memory::dim d = 0; d < D; d++)
        for (memory::dim n = 0; n < N; n++) {
            const bool backwards = p.direction == rnn_direction::unidirectional_right2left || d == 1;
            std::vector<values> line;
            for (memory::dim t = 0; t < T; t++)
                line.push_back(slice(v[X], t * N + n, p.slc()));
            for (memory::dim l = 0; l < p.layers; l++) {
                const memory::dim ld = l * D + d, at = ld * N + n;
                values h = slice(v[H], at, p.sic()), c = p.has(C) ? slice(v[C], at, p.dhc()) : values();
                const cell_step cell = {p, v, ld};
                for (memory::dim i = 0; i < T; i++) {
                    const memory::dim t = backwards ? T - 1 - i : i;
                    if (p.cell == VANILLA)
                        cell.vanilla(line[t], h);
                    else if (p.cell == LSTM)
                        cell.lstm(line[t], h, c);
                    else
                        cell.gru(line[t], h, p.attention() ? v[ATTENTION][t * N + n] : 0);
                    line[t] = h;
                }
                std::copy(h.begin(), h.end(), hn.begin() + at * p.sic());
                if (p.has(C)) std::copy(c.begin(), c.end(), cn.begin() + at * p.dhc());
            }
            for (memory::dim t = 0; t < T; t++)
                for (memory::dim c = 0; c < p.sic(); c++)
                    y[(t * N + n) * p.out() + (p.out() > p.sic() ? d * p.sic() : 0) + c] += line[t][c];
        }
    y.insert(y.end(), hn.begin(), hn.end());
    y.insert(y.end(), cn.begin(), cn.end());
    return y;
}

md given(const problem &p, int o) { return p.has(o) ? plain(p.shape(o)) : md(); }
md weights(const problem &p, int o) { return p.has(o) ? open(p.shape(o)) : md(); }

// Forward, then backward with the workspace; `fwd` and `bwd` differ in their constructors only.
template <typename forward_t, typename backward_t>
void train(const problem &p, const typename forward_t::primitive_desc &fwd, const typename backward_t::primitive_desc &bwd) {
    std::vector<values> v(OPERANDS);
    std::vector<memory> m(OPERANDS);
    arguments args, back;
    auto desc = [](const primitive_desc_base &pd, int number) { return pd.query_md(query::exec_arg_md, number); };
    for (int o = 0; o < OPERANDS; o++) {
        if (!p.has(o)) continue;
        v[o] = some(volume(p.shape(o)), o);
        for (auto &x : v[o])
            x = o == ATTENTION ? std::fabs(x) / 2 : x * 0.7;
        m[o] = put(desc(fwd, numbers[o]), v[o]);
        args[numbers[o]] = m[o];
        back[numbers[o]] = as(m[o], desc(bwd, numbers[o]));
    }
    const int count = p.has(C) ? 3 : 2;
    values want = forward(p, v), got, slope;
    for (int i = 0; i < count; i++)
        args[results[i]] = memory(desc(fwd, results[i]), the_engine());
    memory workspace(fwd.workspace_desc(), the_engine());
    args[DNNL_ARG_WORKSPACE] = back[DNNL_ARG_WORKSPACE] = workspace;
    CHECK(fwd.workspace_desc().get_size() > 0 && fwd.workspace_desc() == bwd.workspace_desc());
    run(forward_t(fwd), args);
    for (int i = 0; i < count; i++) {
        const values part = get(args[results[i]]), diff = some(volume(p.result_shape(i)), 20 + i);
        got.insert(got.end(), part.begin(), part.end());
        slope.insert(slope.end(), diff.begin(), diff.end());
        back[results[i]] = as(args[results[i]], desc(bwd, results[i]));
        back[results[i] + to_diff] = put(desc(bwd, results[i] + to_diff), diff);
    }
    NEAR_ALL(got, want, 1e-5, p.name + " forward");

    for (int o = 0; o < OPERANDS; o++)
        if (p.has(o)) back[numbers[o] + to_diff] = put(desc(bwd, numbers[o] + to_diff), values(v[o].size(), 0));
    run(backward_t(bwd), back);
    for (int o = 0; o < OPERANDS; o++) {
        if (!p.has(o) || (p.attention() && !is_ours())) continue; // oneDNN's gradients of augru are not the derivatives
        auto of_one = [&](const values &x) {
            std::vector<values> changed = v;
            changed[o] = x;
            return forward(p, changed);
        };
        NEAR_ALL(get(back[numbers[o] + to_diff]), gradient(of_one, v[o], slope), 2e-4, p.name + " gradient " + std::to_string(o));
    }
}

const auto training = prop_kind::forward_training;
const auto backward = prop_kind::backward;

void vanilla(const problem &p) {
    const md x = given(p, X), h = given(p, H), wl = weights(p, WL), wi = weights(p, WI), b = given(p, BIAS), y = plain(p.result_shape(0));
    vanilla_rnn_forward::primitive_desc fwd(the_engine(), training, algorithm::eltwise_tanh, p.direction, x, h, wl, wi, b, y, h);
    vanilla_rnn_backward::primitive_desc bwd(
            the_engine(), backward, algorithm::eltwise_tanh, p.direction, x, h, wl, wi, b, y, h, x, h, wl, wi, b, y, h, fwd);
    CHECK(fwd.get_cell_kind() == algorithm::vanilla_rnn && fwd.get_activation_kind() == algorithm::eltwise_tanh
            && fwd.get_direction() == p.direction);
    train<vanilla_rnn_forward, vanilla_rnn_backward>(p, fwd, bwd);
}

void lstm(const problem &p) {
    const md x = given(p, X), h = given(p, H), c = given(p, C), wl = weights(p, WL), wi = weights(p, WI), wp = given(p, PEEPHOLE),
             wj = weights(p, PROJECTION), b = given(p, BIAS), y = plain(p.result_shape(0));
    lstm_forward::primitive_desc fwd(the_engine(), training, p.direction, x, h, c, wl, wi, wp, wj, b, y, h, c);
    lstm_backward::primitive_desc bwd(
            the_engine(), backward, p.direction, x, h, c, wl, wi, wp, wj, b, y, h, c, x, h, c, wl, wi, wp, wj, b, y, h, c, fwd);
    CHECK(fwd.get_cell_kind() == algorithm::vanilla_lstm);
    train<lstm_forward, lstm_backward>(p, fwd, bwd);
}

template <typename forward_t, typename backward_t>
void gru(const problem &p) {
    const md x = given(p, X), h = given(p, H), wl = weights(p, WL), wi = weights(p, WI), b = given(p, BIAS), y = plain(p.result_shape(0));
    typename forward_t::primitive_desc fwd(the_engine(), training, p.direction, x, h, wl, wi, b, y, h);
    typename backward_t::primitive_desc bwd(the_engine(), backward, p.direction, x, h, wl, wi, b, y, h, x, h, wl, wi, b, y, h, fwd);
    train<forward_t, backward_t>(p, fwd, bwd);
}

template <typename forward_t, typename backward_t>
void augru(const problem &p) {
    const md x = given(p, X), h = given(p, H), a = given(p, ATTENTION), wl = weights(p, WL), wi = weights(p, WI), b = given(p, BIAS),
             y = plain(p.result_shape(0));
    typename forward_t::primitive_desc fwd(the_engine(), training, p.direction, x, h, a, wl, wi, b, y, h);
    typename backward_t::primitive_desc bwd(the_engine(), backward, p.direction, x, h, a, wl, wi, b, y, h, x, h, a, wl, wi, b, y, h, fwd);
    train<forward_t, backward_t>(p, fwd, bwd);
}

void refused() {
    const problem p = {"lstm", LSTM, rnn_direction::unidirectional_left2right, 1, false, false};
    const md x = given(p, X), h = given(p, H), c = given(p, C), wl = weights(p, WL), wi = weights(p, WI), b = given(p, BIAS),
             y = plain(p.result_shape(0));
    using pd_t = lstm_forward::primitive_desc;
    THROWS(dnnl_invalid_arguments, pd_t(the_engine(), training, p.direction, x, h, c, wl, wi, plain({1, 1, 4, 5}), y, h, c));
    THROWS(dnnl_invalid_arguments, pd_t(the_engine(), training, rnn_direction::undef, x, h, c, wl, wi, b, y, h, c));
    THROWS(dnnl_invalid_arguments, pd_t(the_engine(), training, rnn_direction::bidirectional_sum, x, h, c, wl, wi, b, y, h, c));
    THROWS(dnnl_invalid_arguments, pd_t(the_engine(), backward, p.direction, x, h, c, wl, wi, b, y, h, c));
    THROWS(dnnl_invalid_arguments, pd_t(the_engine(), training, p.direction, x, h, c, wl, wi, b, plain({3, 2, 5}), h, c));
}

} // namespace

void area_recurrent() {
    const auto right = rnn_direction::unidirectional_left2right, left = rnn_direction::unidirectional_right2left;
    const auto concat = rnn_direction::bidirectional_concat, sum = rnn_direction::bidirectional_sum;
    for (auto direction : {right, left, concat, sum}) {
        vanilla({"vanilla", VANILLA, direction, 1, false, false});
        lstm({"lstm", LSTM, direction, 1, false, false});
        gru<gru_forward, gru_backward>({"gru", GRU, direction, 1, false, false});
        gru<lbr_gru_forward, lbr_gru_backward>({"lbr_gru", LBR_GRU, direction, 1, false, false});
    }
    vanilla({"vanilla of two layers", VANILLA, right, 2, false, false});
    lstm({"lstm of two layers", LSTM, left, 2, false, false});
    lstm({"lstm with peephole", LSTM, right, 1, true, false});
    lstm({"lstm with projection", LSTM, right, 1, false, true});
    augru<augru_forward, augru_backward>({"augru", AUGRU, right, 1, false, false});
    augru<lbr_augru_forward, lbr_augru_backward>({"lbr_augru", LBR_AUGRU, right, 1, false, false});
    refused();
}
