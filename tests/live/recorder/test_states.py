"""States as read in place against the libraries' own getters, in the form that golden/README.md and src/rng/state.rs give."""

import hashlib
import random
import struct
import unittest

import numpy as np
import support  # noqa: F401
import torch
from pipeaudit_recorder import states


def told(generator):
    reader = states.reader(states.core(generator))
    return reader.state(reader.read())


def key(words):
    return hashlib.sha256(words).hexdigest()[:32]


def twister(words, position):
    return "mt19937:%s:%d" % (key(struct.pack("<624I", *words)), position)


class States(unittest.TestCase):
    def test_python_as_getstate_says(self):
        for draws in (0, 1, 623, 624, 625, 5000):
            generator = random.Random(11)
            for _ in range(draws):
                generator.getrandbits(32)
            numbers = generator.getstate()[1]
            self.assertEqual(told(generator), twister(numbers[:624], numbers[624]), draws)

    def test_numpy_as_get_state_says(self):
        for draws in (0, 1, 624, 1000):
            generator = np.random.RandomState(12)
            generator.bytes(4 * draws)
            _, words, position = generator.get_state()[:3]
            self.assertEqual(told(generator), twister(words.tolist(), position), draws)

    def test_torch_as_get_rng_state_says(self):
        for draws in (0, 1, 2, 623, 624, 625, 2000):
            generator = torch.Generator().manual_seed(13)
            for _ in range(draws):
                torch.empty((), dtype=torch.int32).random_(generator=generator)
            raw = bytes(generator.get_state().tolist())
            left, = struct.unpack_from("<i", raw, 8)
            words = struct.unpack_from("<624Q", raw, 24)
            self.assertEqual(told(generator), twister(words, 625 - left), draws)

    def test_equal_words_have_one_form_in_numpy_and_torch(self):
        # golden/README.md: after torch.manual_seed(s) and numpy.random.seed(s) the words and the position are equal.
        self.assertEqual(told(torch.Generator().manual_seed(99)), told(np.random.RandomState(99)))

    def test_a_golden_fingerprint_of_python(self):
        # The words of random.Random(0) begin with these in CPython's own test of the seeding by arrays.
        numbers = random.Random(0).getstate()[1]
        self.assertEqual(told(random.Random(0)).rsplit(":", 1)[1], "624")
        self.assertEqual(told(random.Random(0)), twister(numbers[:624], 624))

    def test_pcg64_by_its_getter_with_the_half_word(self):
        generator = np.random.default_rng(14)
        for has in (0, 1):
            state = generator.bit_generator.state
            self.assertEqual(state["has_uint32"], has)
            words = state["state"]["state"].to_bytes(16, "little") + state["state"]["inc"].to_bytes(16, "little")
            words += struct.pack("<I", state["uinteger"] if has else 0)
            self.assertEqual(told(generator), "pcg64:%s:%d" % (key(words), has))
            generator.integers(0, 2**32, dtype=np.uint32)

    def test_philox_moves_its_position_by_words(self):
        generator = np.random.Generator(np.random.Philox(15))
        start, position = told(generator).rsplit(":", 1)
        self.assertEqual(position, "0")
        for words in (1, 4, 7):
            other = np.random.Generator(np.random.Philox(15))
            other.bit_generator.random_raw(words)
            self.assertEqual(told(other), "%s:%d" % (start, words))

    def test_the_other_bit_generators_differ_by_seed_and_by_draw(self):
        for kind in (np.random.SFC64, np.random.PCG64DXSM):
            self.assertEqual(told(kind(1)), told(kind(1)))
            self.assertNotEqual(told(kind(1)), told(kind(2)))
            drawn = kind(1)
            drawn.random_raw()
            self.assertNotEqual(told(kind(1)), told(drawn))

    def test_reading_moves_nothing(self):
        for make, draw in ((lambda: random.Random(1), lambda g: g.random()),
                           (lambda: np.random.RandomState(1), lambda g: g.rand()),
                           (lambda: np.random.default_rng(1), lambda g: g.random()),
                           (lambda: torch.Generator().manual_seed(1), lambda g: torch.rand(1, generator=g).item())):
            one, other = make(), make()
            told(one)
            self.assertEqual([draw(one) for _ in range(3)], [draw(other) for _ in range(3)])

    def test_generators_that_share_a_bit_generator_have_one_core(self):
        bits = np.random.PCG64(1)
        self.assertIs(states.core(np.random.Generator(bits)), states.core(np.random.Generator(bits)))
        self.assertIs(states.core(np.random.RandomState(bits)), bits)

    def test_what_has_no_state_is_no_generator(self):
        for value in (random.SystemRandom(), None, 3, "rng", object(), np.random, random):
            self.assertIsNone(states.core(value))

    def test_a_subclass_is_read_like_its_base(self):
        class Own(random.Random):
            extra = 1

        self.assertEqual(told(Own(3)), told(random.Random(3)))

    def test_where_memory_and_getter_disagree_the_getter_is_asked(self):
        class Moved(random.Random):
            pass

        generator = Moved(4)
        expected = told(random.Random(4))
        original = states.PythonReader._in_place
        try:
            states.PythonReader._in_place = lambda self: b"\0" * 2500
            self.assertEqual(told(generator), expected)
        finally:
            states.PythonReader._in_place = original


if __name__ == "__main__":
    unittest.main()
