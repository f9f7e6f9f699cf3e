"""Recurrent networks as cuDNN has them, by PaddlePaddle's layers on the CPU in float64: results of padded batches, and gradients by its autograd.

Usage: python cudnn_rnn.py > ../cudnn/rnn.txt, with PaddlePaddle in a virtual environment. Paddle's gates are in cuDNN's order (LSTM: input, forget, new,
output; GRU: reset, update, new), both have a bias for the input and one for the state, and GRU applies the reset gate behind the product.

A case is a line `case CELL BOTH INPUT HIDDEN PROJECTED LAYERS LENGTHS...`, arrays `NAME COUNT NUMBERS...`, and `end`. CELL is 0 ReLU, 1 tanh, 2 LSTM, 3 GRU
(`cudnnRNNMode_t`), PROJECTED 0 without a projection. Arrays: x, y and gradients dx, dy are batch x time x channels; hx, hy, cx, cy and gradients are layer
and direction x batch x channels; w and dw are, for each layer and direction, matrices of all gates for the input, then for the state (rows of the result),
then the projection; b and db the biases for the input, then for the state.
"""

import zlib

import numpy as np
import paddle

paddle.set_device("cpu")
paddle.set_default_dtype("float64")
CELLS = {"relu": 0, "tanh": 1, "lstm": 2, "gru": 3}


def tell(name, values):
    values = np.asarray(values).reshape(-1)
    print(name, values.size, *(f"{v:.12g}" for v in values))


def case(cell, both, inputs, hidden, projected, layers, lengths):
    print("case", CELLS[cell], int(both), inputs, hidden, projected, layers, *lengths)
    rng = np.random.default_rng(zlib.crc32(repr((cell, both, inputs, hidden, projected, layers, lengths)).encode()))
    draw = lambda *shape: rng.integers(-64, 65, shape) / 64  # noqa: E731: exact in single precision
    direction, pseudo, n, t = "bidirect" if both else "forward", layers * (2 if both else 1), len(lengths), max(lengths)
    if cell == "lstm":
        net = paddle.nn.LSTM(inputs, hidden, layers, direction=direction, proj_size=projected)
    elif cell == "gru":
        net = paddle.nn.GRU(inputs, hidden, layers, direction=direction)
    else:
        net = paddle.nn.SimpleRNN(inputs, hidden, layers, direction=direction, activation=cell)
    width = projected or hidden
    cells = [c for layer in net for c in ((layer.cell_fw, layer.cell_bw) if both else (layer.cell,))]
    matrices = [[c.weight_ih, c.weight_hh] + ([c.weight_ho] if projected else []) for c in cells]
    biases = [[c.bias_ih, c.bias_hh] for c in cells]
    for p in [p for group in matrices + biases for p in group]:
        p.set_value(draw(*p.shape) / 2)
    given = lambda *shape: paddle.to_tensor(draw(*shape), stop_gradient=False)  # noqa: E731
    x, hx, cx = given(n, t, inputs), given(pseudo, n, width), given(pseudo, n, hidden)
    # Layer by layer and cell by cell: not by Paddle's fused kernel.
    y, last, times = x, [], paddle.to_tensor(lengths)
    for i, layer in enumerate(net):
        state = lambda p: (hx[p], cx[p]) if cell == "lstm" else hx[p]  # noqa: E731
        y, ends = layer(y, (state(2 * i), state(2 * i + 1)) if both else state(i), sequence_length=times)
        last += list(ends) if both else [ends]
    hy = paddle.stack([s[0] if cell == "lstm" else s for s in last])
    cy = paddle.stack([s[1] for s in last]) if cell == "lstm" else None
    dy, dhy, dcy = draw(*y.shape), draw(*hy.shape), draw(pseudo, n, hidden)
    dy *= (np.arange(t)[None, :] < np.array(lengths)[:, None])[:, :, None]  # nothing goes back from behind the end
    loss = (y * paddle.to_tensor(dy)).sum() + (hy * paddle.to_tensor(dhy)).sum()
    if cell == "lstm":
        loss = loss + (cy * paddle.to_tensor(dcy)).sum()
    loss.backward()
    # Paddle multiplies by the projection from the right, cuDNN from the left.
    turned = lambda i, v: v.T if i == 2 else v  # noqa: E731
    flat = lambda groups: np.concatenate([turned(i, np.asarray(v)).reshape(-1) for g in groups for i, v in enumerate(g)])  # noqa: E731
    tell("x", x.numpy()), tell("hx", hx.numpy())
    tell("w", flat([[p.numpy() for p in g] for g in matrices])), tell("b", flat([[p.numpy() for p in g] for g in biases]))
    tell("y", y.numpy()), tell("hy", hy.numpy()), tell("dy", dy), tell("dhy", dhy)
    tell("dx", x.grad.numpy()), tell("dhx", hx.grad.numpy())
    tell("dw", flat([[p.grad.numpy() for p in g] for g in matrices])), tell("db", flat([[p.grad.numpy() for p in g] for g in biases]))
    if cell == "lstm":
        tell("cx", cx.numpy()), tell("cy", cy.numpy()), tell("dcy", dcy), tell("dcx", cx.grad.numpy())
    print("end")


for cell in CELLS:
    for both in (False, True):
        case(cell, both, 3, 4, 0, 1, (3, 3))
        case(cell, both, 3, 5, 0, 2, (4, 3, 1))
for both in (False, True):
    case("lstm", both, 3, 5, 2, 1, (3, 2))
    case("lstm", both, 3, 4, 3, 2, (4, 2, 1))
