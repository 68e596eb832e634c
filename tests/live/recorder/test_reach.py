"""Whether a state was drawn to or seeded, over every kind of generator that can be read."""

import random
import unittest

import numpy as np
import support  # noqa: F401
import torch
from pipeaudit_recorder import reach, states


def _torch(seed):
    return torch.Generator().manual_seed(seed)


# (make from a seed, draw n words, seed it again)
KINDS = {
    "python": (random.Random, lambda g, n: [g.getrandbits(32) for _ in range(n)], lambda g, s: g.seed(s)),
    "numpy": (np.random.RandomState, lambda g, n: g.bytes(4 * n), lambda g, s: g.seed(s)),
    "torch": (_torch, lambda g, n: torch.empty(n, dtype=torch.int32).random_(generator=g), lambda g, s: g.manual_seed(s)),
    "pcg64": (np.random.default_rng, lambda g, n: g.bytes(4 * n), None),
    "philox": (lambda s: np.random.Generator(np.random.Philox(s)), lambda g, n: g.bytes(4 * n), None),
    "twister": (lambda s: np.random.Generator(np.random.MT19937(s)), lambda g, n: g.bytes(4 * n), None),
}


class Reach(unittest.TestCase):
    def test_draws_lead_there(self):
        for name, (make, draw, _) in KINDS.items():
            for before in (0, 5, 624, 700):
                for count in (1, 2, 623, 624, 625, 100_000):
                    generator = make(7)
                    if before:
                        draw(generator, before)
                    reader = states.reader(states.core(generator))
                    start = reader.read()
                    draw(generator, count)
                    self.assertTrue(reach.follows(reader, start, reader.read()), (name, before, count))

    def test_a_seed_does_not(self):
        for name, (make, draw, seed) in KINDS.items():
            for count in (0, 1, 1000):
                generator = make(7)
                draw(generator, 9)
                reader = states.reader(states.core(generator))
                start = reader.read()
                if seed is None:
                    # What a program does that seeds such a generator: it takes the state of a new one.
                    fresh = make(8)
                    states.core(generator).state = states.core(fresh).state
                else:
                    seed(generator, 8)
                if count:
                    draw(generator, count)
                self.assertFalse(reach.follows(reader, start, reader.read()), (name, count))

    def test_a_kind_that_cannot_tell_is_taken_to_have_drawn(self):
        generator = np.random.Generator(np.random.SFC64(1))
        reader = states.reader(states.core(generator))
        start = reader.read()
        states.core(generator).state = np.random.SFC64(2).state
        self.assertTrue(reach.follows(reader, start, reader.read()))


if __name__ == "__main__":
    unittest.main()
