"""rnn: cells x directions x layers x types."""

from . import attrs
from .case import Case

CELLS = [("VANILLA_RNN", 20), ("VANILLA_LSTM", 34), ("VANILLA_GRU", 16), ("LBR_GRU", 14), ("VANILLA_AUGRU", 8), ("LBR_AUGRU", 8)]
GATES = {"VANILLA_RNN": 1, "VANILLA_LSTM": 4, "VANILLA_GRU": 3, "LBR_GRU": 3, "VANILLA_AUGRU": 3, "LBR_AUGRU": 3}
U8 = ["u8u8u8u8", "u8u8u8f32", "f32u8f32u8", "f32u8f32f32"]
S8 = ["s8s8s8s8", "s8s8s8f32", "f32s8f32s8", "f32s8f32f32"]
WIDTHS = [1, 2, 3, 7, 8, 15, 16, 17, 31, 32, 33, 48, 64, 65, 100]


def config(rng, prop, cell):
    """Types that the cell takes in this direction of propagation."""
    table = [("f32", 44), ("bf16", 16), ("bf16f32", 8)]
    if prop != "BWD_DW":
        table.append(("f16", 10))
    if prop == "FWD_I" and cell in ("VANILLA_LSTM", "VANILLA_GRU"):
        table += [(c, 10) for c in U8]
        if cell == "VANILLA_LSTM":
            table += [(c, 7) for c in S8]
    return rng.weighted(table)


def sizes(rng, case, layers, cell, projected, limit, dirs):
    """slc, sic, dhc, dic: the recurrent input is the cell's output, and with layers so is the layer input."""
    while True:
        t = rng.weighted([(1, 30), (2, 25), (3, 20), (rng.between(4, 8), 22), (17, 3)])
        mb = rng.weighted([(1, 30), (2, 25), (3, 15), (rng.pick([5, 8, 13, 16, 17]), 26), (32, 4)])
        dhc = rng.pick(WIDTHS)
        dic = rng.pick(WIDTHS) if projected else dhc
        sic = dic
        slc = dic if layers > 1 else (dhc if rng.chance(40) else rng.pick(WIDTHS))
        per_cell = (slc + sic) * GATES[cell] * dhc + (dhc * dic if projected else 0)
        case.macs = layers * dirs * t * mb * per_cell * (3 if case.options["prop"] == "BWD_DW" else 1)
        if case.macs <= limit:
            return t, mb, slc, sic, dhc, dic


def describe(rng, layers, t, mb, slc, sic, dhc, dic):
    text = f"l{layers}t{t}" + ("" if mb == 2 and rng.chance(50) else f"mb{mb}") + f"slc{slc}"
    text += "" if sic == slc and rng.chance(70) else f"sic{sic}"
    text += "" if dhc == sic and rng.chance(70) else f"dhc{dhc}"
    return text + ("" if dic == dhc and rng.chance(80) else f"dic{dic}")


def rnn(rng):
    case = Case("rnn")
    prop = rng.weighted([("FWD_D", 27), ("FWD_I", 38), ("BWD_DW", 35)])
    cell = rng.weighted(CELLS)
    augru = cell.endswith("AUGRU")
    case.set("prop", prop)
    case.set("alg", cell)
    if cell == "VANILLA_RNN":
        case.set("activation", rng.pick(["RELU", "LOGISTIC", "TANH"]))
    layers = 1 if augru else rng.weighted([(1, 55), (2, 24), (3, 14), (4, 7)])
    direction = rng.weighted([("left2right", 40), ("right2left", 20), ("concat", 20), ("sum", 20)])
    if augru:
        direction = "left2right"
    case.set("direction", direction if rng.chance(90) or direction != "left2right" else None)
    cfg = config(rng, prop, cell)
    case.set("cfg", cfg)
    int8 = cfg in U8 + S8
    lstm = cell == "VANILLA_LSTM"
    peephole = lstm and not int8 and rng.chance(35)
    projected = lstm and cfg in ("f32", *U8, *S8) and rng.chance(35)
    if lstm:
        case.set("with-peephole", "true" if peephole else "false" if rng.chance(15) else None)
        case.set("with-projection", "true" if projected else "false" if rng.chance(15) else None)
    if int8:
        case.set("scaling", rng.pick(["common", "per_oc"]))
    if prop == "BWD_DW":
        case.set("flags", rng.pick([None, "O"]))
    if rng.chance(30):
        plain = 0 if int8 else 1
        case.set("tag", rng.weighted([
            ("abc:any:abc", 40), ("any:any:any", 20), ("abc:abcde:abc", 18 * plain), ("abc:abdec:abc", 12 * plain),
            ("bac:any:bac", 5), ("bac:any:abc", 5)]))
    limit = rng.weighted([(20_000, 24), (300_000, 38), (2_000_000, 30), (8_000_000, 8)])
    t, mb, slc, sic, dhc, dic = sizes(rng, case, layers, cell, projected, limit, 2 if direction in ("concat", "sum") else 1)
    attrs.fpmath(rng, case, ["f32"] if cfg == "f32" else [], 12)
    attrs.deterministic(rng, case, 4)
    attrs.scratchpad(rng, case)
    case.desc = describe(rng, layers, t, mb, slc, sic, dhc, dic)
    if rng.chance(3):
        case.desc += f"n\"net{rng.below(1000)}\""
    case.note(f"l{layers}", f"{cell}.{prop}.{direction}", f"{cell}.{cfg}")
    if projected:
        case.note("projection." + prop)
    return case


REAL = [
    ("--prop=FWD_I --alg=VANILLA_LSTM --cfg=f32", "l1t8mb16slc256", 67_108_864 // 4),
    ("--prop=FWD_I --alg=VANILLA_GRU --cfg=bf16", "l2t5mb8slc128", 7_864_320),
    ("--prop=BWD_DW --alg=LBR_GRU --cfg=f32", "l1t4mb8slc128", 9_437_184),
    ("--prop=FWD_I --alg=VANILLA_LSTM --cfg=u8u8u8f32 --scaling=per_oc", "l1t5mb8slc256", 20_971_520),
    # One step, whose state may have another size than what it leaves.
    ("--prop=FWD_I --alg=VANILLA_LSTM --cfg=f32", "l1t1mb3slc7sic33dhc17", 8_160),
    ("--prop=FWD_D --alg=VANILLA_LSTM --cfg=bf16", "l1t1mb2slc16sic16dhc48", 12_288),
    ("--prop=BWD_DW --alg=VANILLA_LSTM --cfg=f32", "l1t1mb2slc17sic17dhc34", 27_744),
    ("--prop=BWD_DW --alg=VANILLA_RNN --activation=TANH --cfg=f32", "l1t1mb2slc17sic40dhc16", 5_472),
    ("--prop=FWD_I --alg=VANILLA_LSTM --cfg=f32 --with-projection=true", "l1t1mb2slc32sic16dhc16dic32", 7_168),
    ("--prop=BWD_DW --alg=VANILLA_LSTM --cfg=f32 --with-projection=true", "l1t1mb2slc32sic16dhc16dic32", 21_504),
    ("--prop=BWD_DW --alg=VANILLA_LSTM --cfg=f32 --with-projection=true --direction=concat", "l1t1mb2slc8sic65dhc8dic40", 30_000),
]

# Linear activations: factors of the gates and of the cell below 1, so that values stay tame over time.
FACTORS = {1: "0.5:0.75", 3: "0.5+-0.25+0.75:0.5", 4: "0.25+0.5+-0.5+0.75:0.5"}


def linear():
    """Every cell, both ways, in each direction that it has, over one vector and over a tail."""
    for cell, gates in GATES.items():
        directions = ["left2right"] if cell.endswith("AUGRU") else ["left2right", "right2left", "concat", "sum"]
        for i, direction in enumerate(directions):
            for j, prop in enumerate(["FWD_I", "FWD_D", "BWD_DW"]):
                channels, layers, cfg = (16, 17)[(i + j) % 2], 1 + (i > 1 and j > 0), ("f32", "bf16")[i == 1]
                options = f"--prop={prop} --alg={cell} --direction={direction} --cfg={cfg} --attr-rnn-linear={FACTORS[gates]}"
                if cell == "VANILLA_RNN":
                    options += " --activation=RELU"
                ways = 2 if direction in ("concat", "sum") else 1
                cost = layers * ways * 3 * 2 * 2 * channels * channels * gates * (3 if prop == "BWD_DW" else 1)
                yield options, f"l{layers}t3mb2slc{channels}", cost


REAL += linear()
