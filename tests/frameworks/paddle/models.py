"""The four models, built and saved with Paddle itself: `models.py NAME FOLDER` writes one of them.

Weights are random with a fixed seed. The convolutional nets see one batch in training mode first, so that their normalisations hold the statistics
of real activations and the outputs have an ordinary size. The LSTM is a program in Paddle's older format, as the operator that Paddle
gives to oneDNN (`fusion_lstm`) exists in that one only; its sequences come as one list of tokens with the places where each begins.
"""

import os
import sys
from pathlib import Path

VOCABULARY = 8192
IMAGE = (3, 224, 224)
SENTENCE = 128
SEQUENCE = 64
HIDDEN = 256

# Name: the ending of the program's file.
MODELS = {"resnet50": "json", "mobilenetv2": "json", "bert": "json", "lstm": "pdmodel"}

SEED = 20240917


def inputs(name, batch):
    """The array that a model reads, and the places where its sequences begin (None where it has no such)."""
    import numpy

    random = numpy.random.default_rng(SEED)
    if name == "bert":
        return random.integers(0, VOCABULARY, (batch, SENTENCE)), None
    if name == "lstm":
        return random.integers(0, VOCABULARY, (batch * SEQUENCE, 1)), [[SEQUENCE * i for i in range(batch + 1)]]
    return random.standard_normal((batch, *IMAGE), dtype="float32"), None


def settled(net):
    """`net` with the statistics of one batch in its normalisations."""
    import paddle

    norms = [layer for layer in net.sublayers() if isinstance(layer, paddle.nn.BatchNorm2D)]
    for norm in norms:
        norm._momentum = 0.0
    net.train()
    with paddle.no_grad():
        net(paddle.to_tensor(inputs("resnet50", 4)[0]))
    return net


def encoder():
    """Four layers of a transformer of BERT's width over embedded words, and a classifier of the first word's state."""
    import paddle
    from paddle import nn

    class Encoder(nn.Layer):
        def __init__(self, hidden=768, layers=4, heads=12):
            super().__init__()
            self.words = nn.Embedding(VOCABULARY, hidden)
            self.places = nn.Embedding(SENTENCE, hidden)
            self.norm = nn.LayerNorm(hidden)
            layer = nn.TransformerEncoderLayer(hidden, heads, 4 * hidden, dropout=0.0, activation="gelu")
            self.encoder = nn.TransformerEncoder(layer, layers)
            self.pool = nn.Linear(hidden, hidden)
            self.classes = nn.Linear(hidden, 2)

        def forward(self, words):
            places = paddle.arange(SENTENCE, dtype="int64")
            states = self.encoder(self.norm(self.words(words) + self.places(places)))
            return self.classes(paddle.tanh(self.pool(states[:, 0])))

    return Encoder()


def save_layer(name, file):
    """Saves a dynamic net."""
    import paddle
    from paddle.static import InputSpec

    paddle.seed(SEED)
    if name == "bert":
        net, spec = encoder(), InputSpec([None, SENTENCE], "int64")
    else:
        from paddle.vision import models

        net = settled(models.resnet50() if name == "resnet50" else models.mobilenet_v2())
        spec = InputSpec([None, *IMAGE], "float32")
    net.eval()
    paddle.jit.save(net, str(file), input_spec=[spec])


def save_lstm(file):
    """Saves the program: embedding, two recurrent layers, a classifier of every state."""
    import paddle
    from paddle.base.layer_helper import LayerHelper

    def append(kind, ins, outs, **attributes):
        helper = LayerHelper(kind)
        made = {out: helper.create_variable_for_type_inference("float32") for out in outs}
        helper.append_op(type=kind, inputs=ins, outputs=made, attrs=attributes)
        return made[outs[0]]

    def recurrent(states, width):
        weights = [paddle.create_parameter([rows, 4 * HIDDEN], "float32") for rows in (width, HIDDEN)]
        ins = {"X": states, "WeightX": weights[0], "WeightH": weights[1]}
        ins["Bias"] = paddle.create_parameter([1, 4 * HIDDEN], "float32", is_bias=True)
        scratch = ["Cell", "XX", "BatchedInput", "BatchedHidden", "BatchedCell", "ReorderedH0", "ReorderedC0", "CheckedCell"]
        return append("fusion_lstm", ins, ["Hidden", *scratch], use_peepholes=False, is_reverse=False, use_seq=True, is_test=True)

    paddle.enable_static()
    program, start = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(program, start):
        paddle.seed(SEED)
        words = paddle.static.data("words", [-1, 1], "int64", lod_level=1)
        table = paddle.create_parameter([VOCABULARY, HIDDEN], "float32")
        states = append("lookup_table", {"Ids": words, "W": table}, ["Out"], padding_idx=-1)
        states = recurrent(recurrent(states, HIDDEN), HIDDEN)
        classes = paddle.create_parameter([HIDDEN, 16], "float32")
        out = append("mul", {"X": states, "Y": classes}, ["Out"], x_num_col_dims=1, y_num_col_dims=1)
        executor = paddle.static.Executor(paddle.CPUPlace())
        executor.run(start)
        paddle.static.save_inference_model(str(file), [words], [out], executor, program=program)


def main():
    name, folder = sys.argv[1], Path(sys.argv[2])
    file = folder / name / "model"
    file.parent.mkdir(parents=True, exist_ok=True)
    if name == "lstm":
        save_lstm(file)
    else:
        save_layer(name, file)


if __name__ == "__main__":
    if sys.argv[1] == "lstm":
        os.environ["FLAGS_enable_pir_api"] = "0"
    main()
