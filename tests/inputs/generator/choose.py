"""Picks the cases of a smoke file: every feature at least once, preferring cases that are cheap but not trivial."""


def choose(cases, most_cost, fewest, most):
    """A greedy cover of the features that occur in `cases`, then the cheapest others up to `fewest`."""
    left = set().union(*(c.features() for c in cases))
    taken, cost, pool = [], 0, {id(c): (c, c.features()) for c in cases}
    while left and len(taken) < most:
        best, gain = None, 0.0
        for case, features in pool.values():
            new = len(features & left)
            worth = new / (1 + case.macs / 500_000) * (1 if case.macs > 500 else 0.6 if case.macs else 0.3)
            if new and worth > gain and cost + case.macs <= most_cost:
                best, gain = case, worth
        if best is None:
            break
        taken.append(best)
        cost += best.macs
        left -= pool.pop(id(best))[1]
    rest = [c for c in cases if id(c) in pool]
    for case in sorted(rest, key=lambda c: c.macs)[len(rest) // 3 :][: max(0, fewest - len(taken))]:
        taken.append(case)
    order = {id(c): i for i, c in enumerate(cases)}
    return sorted(taken, key=lambda c: order[id(c)]), sorted(left)
