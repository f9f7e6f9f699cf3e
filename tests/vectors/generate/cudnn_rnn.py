"""Recurrent networks as cuDNN has them (`cudnnRNNMode_t`), by JAX in float64: results of padded batches, and gradients by its automatic differentiation.

Usage: python cudnn_rnn.py > ../cudnn/rnn.txt, in the virtual environment of `make.py`. Gates are in cuDNN's order (LSTM: input, forget, new, output; GRU:
reset, update, new), with a bias for the input and one for the state; GRU applies the reset gate behind the product with the state.

A case is a line `case CELL BOTH INPUT HIDDEN PROJECTED LAYERS LENGTHS...`, arrays `NAME COUNT NUMBERS...`, and `end`. CELL is 0 ReLU, 1 tanh, 2 LSTM, 3 GRU
(`cudnnRNNMode_t`), PROJECTED 0 without a projection. Arrays: x, y and gradients dx, dy are batch x time x channels; hx, hy, cx, cy and gradients are layer
and direction x batch x channels; w and dw are, for each layer and direction, matrices of all gates for the input, then for the state (rows of the result),
then the projection; b and db the biases for the input, then for the state.
"""

import zlib

import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_platforms", "cpu")
CELLS = {"relu": 0, "tanh": 1, "lstm": 2, "gru": 3}
GATES = {"relu": 1, "tanh": 1, "lstm": 4, "gru": 3}


def step(cell, x, h, c, matrices, biases):
    """The states behind one step."""
    into, back = x @ matrices[0].T + biases[0], h @ matrices[1].T + biases[1]
    if cell == "lstm":
        i, f, new, o = jnp.split(into + back, 4, axis=-1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(new)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h @ matrices[2].T if len(matrices) > 2 else h), c
    if cell == "gru":
        (r, z, new), (r_back, z_back, new_back) = jnp.split(into, 3, axis=-1), jnp.split(back, 3, axis=-1)
        z = jax.nn.sigmoid(z + z_back)
        return z * h + (1 - z) * jnp.tanh(new + jax.nn.sigmoid(r + r_back) * new_back), c
    return (jax.nn.relu if cell == "relu" else jnp.tanh)(into + back), c


def network(cell, both, lengths, x, hx, cx, matrices, biases):
    """Outputs of all steps, 0 behind the end of a sequence, and the states there."""
    times, last = np.array(lengths)[:, None], []
    ways = (False, True) if both else (False,)
    for layer in range(len(matrices) // len(ways)):
        sides = []
        for way in ways:
            at, outputs = len(last), [None] * max(lengths)
            h, c = hx[at], cx[at]
            for t in range(max(lengths))[:: -1 if way else 1]:
                new_h, new_c = step(cell, x[:, t], h, c, matrices[at], biases[at])
                h, c = jnp.where(t < times, new_h, h), jnp.where(t < times, new_c, c)
                outputs[t] = jnp.where(t < times, new_h, 0)
            last.append((h, c))
            sides.append(jnp.stack(outputs, axis=1))
        x = jnp.concatenate(sides, axis=-1)
    return x, jnp.stack([h for h, _ in last]), jnp.stack([c for _, c in last])


def tell(name, values):
    values = np.asarray(values).reshape(-1)
    print(name, values.size, *(f"{v:.12g}" for v in values))


def case(cell, both, inputs, hidden, projected, layers, lengths):
    print("case", CELLS[cell], int(both), inputs, hidden, projected, layers, *lengths)
    rng = np.random.default_rng(zlib.crc32(repr((cell, both, inputs, hidden, projected, layers, lengths)).encode()))
    draw = lambda *shape: rng.integers(-64, 65, shape) / 64  # noqa: E731: exact in single precision
    ways, width, rows = 2 if both else 1, projected or hidden, GATES[cell] * hidden
    pseudo, n, t = layers * ways, len(lengths), max(lengths)
    below = lambda p: inputs if p < ways else width * ways  # noqa: E731
    matrices = [[draw(rows, below(p)) / 2, draw(rows, width) / 2] + ([(draw(hidden, projected) / 2).T] if projected else []) for p in range(pseudo)]
    biases = [[draw(rows) / 2, draw(rows) / 2] for _ in range(pseudo)]
    x, hx, cx = draw(n, t, inputs), draw(pseudo, n, width), draw(pseudo, n, hidden)
    (y, hy, cy), back = jax.vjp(lambda *given: network(cell, both, lengths, *given), x, hx, cx, matrices, biases)
    dy, dhy, dcy = draw(*y.shape), draw(*hy.shape), draw(pseudo, n, hidden)
    dy *= (np.arange(t)[None, :] < np.array(lengths)[:, None])[:, :, None]  # nothing goes back from behind the end
    dx, dhx, dcx, dmatrices, dbiases = back((jnp.array(dy), jnp.array(dhy), jnp.array(dcy if cell == "lstm" else 0 * dcy)))
    flat = lambda groups: np.concatenate([np.asarray(v).reshape(-1) for g in groups for v in g])  # noqa: E731
    tell("x", x), tell("hx", hx), tell("w", flat(matrices)), tell("b", flat(biases))
    tell("y", y), tell("hy", hy), tell("dy", dy), tell("dhy", dhy)
    tell("dx", dx), tell("dhx", dhx), tell("dw", flat(dmatrices)), tell("db", flat(dbiases))
    if cell == "lstm":
        tell("cx", cx), tell("cy", cy), tell("dcy", dcy), tell("dcx", dcx)
    print("end")


for cell in CELLS:
    for both in (False, True):
        case(cell, both, 3, 4, 0, 1, (3, 3))
        case(cell, both, 3, 5, 0, 2, (4, 3, 1))
for both in (False, True):
    case("lstm", both, 3, 5, 2, 1, (3, 2))
    case("lstm", both, 3, 4, 3, 2, (4, 2, 1))
