"""Generators by path, wherever a dataset may keep them, and nothing of the program called on the way."""

import collections
import functools
import random
import unittest

import numpy as np
import support  # noqa: F401
import torch
from pipeaudit_recorder import find

GLOBAL = np.random.default_rng(1)
UNUSED = random.Random(2)


def helper(value):
    return value + GLOBAL.random()


class Slots:
    __slots__ = ("rng", "__hidden", "empty")

    def __init__(self):
        self.rng = random.Random(1)
        self.__hidden = random.Random(2)


class Base:
    shared = random.Random(3)


class Derived(Base):
    pass


class Hiding(Base):
    def __init__(self, seed):
        self.shared = random.Random(seed)


class Hostile:
    def __init__(self):
        self.rng = random.Random(1)
        self.calls = 0

    def __getattr__(self, name):
        raise RuntimeError("asked for " + name)

    @property
    def costly(self):
        self.__dict__["calls"] += 1
        return random.Random(9)

    def __iter__(self):
        raise RuntimeError("iterated")

    def __len__(self):
        raise RuntimeError("measured")

    def __bool__(self):
        raise RuntimeError("judged")


class Holder:
    def __init__(self, **held):
        self.__dict__.update(held)


def paths(value, name="dataset"):
    return [path for path, _ in find.generators([(name, value)])]


class Find(unittest.TestCase):
    def test_an_attribute_that_hides_its_classs_is_not_taken_for_it(self):
        one, other = Hiding(4), Hiding(5)
        found = dict(find.generators([("dataset", [one, other])]))
        self.assertIs(found["dataset[0].shared"], one.shared)
        self.assertIs(found["dataset[1].shared"], other.shared)
        self.assertIs(found["Base.shared"], Base.shared)

    def test_attributes_and_containers(self):
        rng = [random.Random(i) for i in range(9)]
        pair = collections.namedtuple("pair", "left right")
        held = Holder(a=rng[0], b=[1, rng[1]], c={"k": rng[2], 3: rng[3]}, d=pair(rng[4], rng[5]), e=(Holder(f=rng[6]),),
                      g=collections.deque([rng[7]]), h=collections.OrderedDict(x=rng[8]))
        self.assertEqual(sorted(paths(held)), sorted([
            "dataset.a", "dataset.b[1]", "dataset.c['k']", "dataset.c[3]", "dataset.d.left", "dataset.d.right",
            "dataset.e[0].f", "dataset.g[0]", "dataset.h['x']"]))

    def test_slots_partials_closures_and_bound_methods(self):
        rng = random.Random(1)

        def closure():
            return rng.random()

        def default(x, source=random.Random(2), *, other=random.Random(3)):
            return x

        held = Holder(slots=Slots(), partial=functools.partial(max, random.Random(4), key=random.Random(5)), closure=closure,
                      default=default, bound=random.Random(6).random, method=Holder(rng=random.Random(7)).__init__)
        self.assertEqual(sorted(paths(held)), sorted([
            "dataset.slots.rng", "dataset.slots.__hidden", "dataset.partial.args[0]", "dataset.partial.keywords['key']",
            "dataset.closure.rng", "dataset.default.source", "dataset.default.other", "dataset.bound.__self__",
            "dataset.method.__self__.rng"]))

    def test_class_attributes_are_reached_through_the_object(self):
        self.assertEqual(paths(Derived()), ["dataset.shared"])

    def test_globals_that_its_functions_name(self):
        self.assertEqual(paths(Holder(transform=helper)), [__name__ + ".GLOBAL"])

    def test_locals_of_an_iterator_that_waits(self):
        def iterate():
            rng = random.Random(1)
            for value in inner():
                yield value + rng.random()

        def inner():
            own = random.Random(2)
            while True:
                yield own.random()

        running = iterate()
        next(running)
        self.assertIn("iterator.rng", paths(running, "iterator"))
        self.assertEqual(len(paths(running, "iterator")), 2)
        # The walk leaves the iterator as it was.
        other = iterate()
        next(other)
        self.assertEqual(next(running), next(other))

    def test_generators_of_every_library(self):
        held = Holder(a=np.random.RandomState(1), b=np.random.default_rng(1), c=np.random.PCG64(1), d=torch.Generator(), e=random.Random(1))
        self.assertEqual(len(paths(held)), 5)

    def test_one_state_has_one_path_the_shortest(self):
        rng = np.random.default_rng(1)
        held = Holder(deep=Holder(deeper=Holder(rng=rng)), rng=rng, again=np.random.Generator(rng.bit_generator))
        self.assertEqual(len(paths(held)), 1)
        self.assertEqual(paths(Holder(deep=Holder(deeper=Holder(rng=rng)), rng=rng)), ["dataset.rng"])

    def test_nothing_of_the_program_is_called(self):
        hostile = Hostile()
        self.assertEqual(paths(Holder(x=hostile)), ["dataset.x.rng"])
        self.assertEqual(hostile.__dict__["calls"], 0)

    def test_system_random_is_passed_by(self):
        self.assertEqual(paths(Holder(rng=random.SystemRandom())), [])

    def test_long_lists_and_deep_chains_end(self):
        chain = Holder()
        for _ in range(5000):
            chain = Holder(next=chain)
        held = Holder(names=["a"] * 1000000, chain=chain, rng=random.Random(1), many=[Holder() for _ in range(100000)])
        self.assertEqual(paths(held), ["dataset.rng"])

    def test_modules_of_torch_are_named_as_programs_name_them(self):
        class Flip(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.rng = random.Random(1)

        self.assertEqual(paths(Holder(transform=torch.nn.Sequential(torch.nn.Identity(), Flip()))), ["dataset.transform.1.rng"])


if __name__ == "__main__":
    unittest.main()
