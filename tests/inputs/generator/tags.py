"""Layout tags by number of dims."""

LETTERS = "abcdefghijkl"


def data_tag(rng, nd, with_any=False, blocked=True):
    """A layout of an activation-like tensor: plain, channels-last, blocked, or a transposition."""
    if nd == 1:
        return rng.weighted([("a", 8), ("abx", 2)] + ([("any", 4)] if with_any else []))
    table = [("abx", 30)]
    if nd > 2:
        table += [("axb", 30), (transposed(rng, nd), 6)]
    else:
        table += [("ab", 10), ("ba", 12)]
    if blocked:
        table += [("aBx8b", 8), ("aBx16b", 16), ("ABx16a16b", 4), ("ABx32a16b", 2), ("aBx4b", 2), ("aBx32b", 2)]
        table += [("aB" + LETTERS[2:nd] + "16b", 5)]
    if with_any:
        table += [("any", 30)]
    return rng.weighted(table)


def transposed(rng, nd):
    return "".join(rng.shuffled(LETTERS[:nd]))


def random_tag(rng, nd):
    """Any legal tag: a permutation of the dims, up to two of them blocked, up to three inner blocks."""
    outer = list(transposed(rng, nd))
    inner = ""
    blocked = rng.shuffled(LETTERS[:nd])[: rng.weighted([(0, 4), (1, 5), (2, 4)])]
    if len(blocked) == 1:
        inner = f"{rng.pick([2, 4, 8, 16, 32])}{blocked[0]}"
    elif len(blocked) == 2:
        p, q = blocked
        inner = rng.pick([f"16{p}16{q}", f"8{p}8{q}", f"4{p}16{q}4{p}", f"8{p}16{q}2{p}", f"4{p}4{q}", f"16{p}4{q}", f"2{p}8{q}4{p}"])
    return "".join(c.upper() if c in blocked else c for c in outer) + inner


def conv_weights_tag(rng, spatial, grouped, depthwise, with_any=True):
    """A layout of convolution weights [g,]oc,ic,spatial."""
    if not grouped:
        sp = LETTERS[2 : 2 + spatial]
        table = [("abx", 20), ("axb", 8), ("xba", 8), (sp + "ba", 4), ("ba" + sp, 3), ("ABx16b16a", 6)]
        table += [(f"AB{sp}{b}", 4) for b in ("16b16a", "8b8a", "16a16b", "8b16a2b", "4b16a4b", "16b", "4b")
                  if b[-1] == "a" or b not in ("16b", "4b")]
        table += [(f"A{sp}b16a", 4), (f"A{sp}b8a", 2), (f"BA{sp}16a16b", 2), (f"AB{sp}16b32a", 2)]
    else:
        sp = LETTERS[3 : 3 + spatial]
        table = [("abx", 20), (sp + "cab", 6), ("a" + sp + "cb", 4), ("axb", 3), ("ab" + sp + "c", 4)]
        if depthwise:
            table += [(f"Abc{sp}16a", 10), (f"Abc{sp}8a", 6), ("Abx16a", 5), (f"Abc{sp}32a", 2)]
        else:
            table += [(f"aBC{sp}{b}", 4) for b in ("16c16b", "8c8b", "4c16b4c", "8c16b2c")]
            table += [(f"aB{sp}c16b", 3), ("aBCx16c16b", 3)]
    if with_any:
        table += [("any", 30)]
    return rng.weighted(table)
