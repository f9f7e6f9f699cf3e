"""A small random source of our own, so that the files do not change with the Python version."""

MASK = (1 << 64) - 1


class Rng:
    """splitmix64 (Steele, Lea, Flood 2014), seeded by a text."""

    def __init__(self, seed):
        self.state = 0x9E3779B97F4A7C15
        for byte in seed.encode():
            self.state = ((self.state ^ byte) * 0x100000001B3) & MASK

    def bits(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return z ^ (z >> 31)

    def below(self, n):
        """An integer in 0..n-1."""
        return self.bits() % n

    def between(self, low, high):
        """An integer in low..high, both included."""
        return low + self.below(high - low + 1)

    def chance(self, percent):
        return self.below(1000) < percent * 10

    def pick(self, items):
        return items[self.below(len(items))]

    def weighted(self, pairs):
        """One key of [(key, weight), ..]."""
        at = self.below(sum(weight for _, weight in pairs))
        for key, weight in pairs:
            at -= weight
            if at < 0:
                return key
        raise AssertionError("weights")

    def shuffled(self, items):
        items = list(items)
        for i in range(len(items) - 1, 0, -1):
            j = self.below(i + 1)
            items[i], items[j] = items[j], items[i]
        return items

    def subset(self, items, percent=50):
        return [item for item in items if self.chance(percent)]
