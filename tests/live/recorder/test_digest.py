"""Digests: other values have other digests, equal values in another memory layout have the same."""

import collections
import dataclasses
import enum
import unittest

import numpy as np
import support  # noqa: F401
import torch
from PIL import Image
from pipeaudit_recorder import digest


@dataclasses.dataclass
class Sample:
    image: object
    label: int


@dataclasses.dataclass
class OtherSample:
    image: object
    label: int


class Slotted:
    __slots__ = ("a", "__b")

    def __init__(self, a, b):
        self.a, self.__b = a, b


class Plain:
    def __init__(self, **held):
        self.__dict__.update(held)


class Volume(torch.Tensor):
    pass


class Strange:
    def __getattr__(self, name):
        raise RuntimeError(name)


Pair = collections.namedtuple("Pair", "a b")
Colour = enum.Enum("Colour", "RED BLUE")


def of(value):
    return digest.of(value)[0]


def quantised(scale):
    return torch.quantize_per_tensor(torch.arange(6.0), scale, 0, torch.quint8)


def sparse(value):
    return torch.sparse_coo_tensor([[0, 1], [1, 2]], [1.0, value], (3, 4))


class Digests(unittest.TestCase):
    def test_all_different_values_have_different_digests(self):
        big = torch.zeros(40, 40, 40)
        voxel = big.clone()
        voxel[20, 20, 20] = 1e-6
        values = [
            None, True, False, 0, 1, 1.0, -0.0, float("nan"), "", "1", b"", b"1", "a", ["a"], ("a",), {"a"}, {"a": 1}, {"a": 2},
            [], (), {}, [[], []], [[[]]], [1, 2], [12], ["1", "2"], ["12"], [None], Pair(1, 2), (1, 2), Colour.RED, Colour.BLUE,
            list(range(100)), list(range(101)), [0.5] * 100, ["x"] * 100,
            Sample(1, 2), Sample(2, 1), OtherSample(1, 2), Slotted(1, 2), Slotted(1, 3), Plain(a=1), Plain(a=2), Plain(b=1),
            torch.zeros(2), torch.zeros(3), torch.zeros(2, 1), torch.zeros(2, dtype=torch.float64), torch.zeros(2, dtype=torch.int32),
            torch.zeros(0), torch.zeros(0, 3), torch.zeros(3, 0), torch.tensor(0.0), torch.zeros(2, dtype=torch.bfloat16),
            torch.ones(2, dtype=torch.bfloat16), torch.zeros(2, dtype=torch.complex64), big, voxel,
            big.as_subclass(Volume), voxel.as_subclass(Volume), sparse(1.0), sparse(2.0), sparse(1.0).to_dense(),
            torch.eye(3).to_sparse_csr(), torch.ones(3, 3).to_sparse_csr(), torch.eye(3).to_sparse_csc(), quantised(0.1), quantised(0.2),
            torch.nested.nested_tensor([torch.zeros(2), torch.zeros(3)]), torch.nested.nested_tensor([torch.zeros(3), torch.zeros(2)]),
            np.zeros(2), np.zeros(2, np.float32), np.float32(0), np.float64(0), np.zeros(0), np.array(["a", "b"]), np.array(["a", "c"]),
            np.array(["a", 1], object), np.array(["a", 2], object), np.array([b"a"]), np.array([1], "M8[s]"), np.array([2], "M8[s]"),
            np.array([(1, 2.0)], [("a", "i4"), ("b", "f8")]), np.array([(1, 3.0)], [("a", "i4"), ("b", "f8")]),
            np.ma.array([1, 2], mask=[0, 1]), np.ma.array([1, 2], mask=[1, 0]),
            Image.new("L", (2, 3)), Image.new("L", (3, 2)), Image.new("RGB", (2, 3)), Image.new("L", (2, 3), 1),
            torch.float32, torch.float64, slice(1), slice(2), range(3), 1 + 2j,
        ]
        seen = {}
        for value in values:
            output, opaque = digest.of(value)
            self.assertEqual(opaque, 0, repr(value))
            self.assertNotIn(output, seen, "%r and %r" % (value, seen.get(output)))
            seen[output] = value

    def test_memory_layout_is_no_part_of_a_value(self):
        base = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
        for view in (np.asfortranarray(base), base[::-1][::-1], np.arange(48, dtype=np.float32).reshape(2, 3, 8)[:, :, ::2] / 2,
                     base.astype(">f4")):
            self.assertEqual(of(np.ascontiguousarray(base)), of(view))
        tensor = torch.arange(24, dtype=torch.float32).reshape(2, 3, 4)
        for dtype in (torch.float32, torch.bfloat16, torch.uint8, torch.complex64, torch.bool):
            value = tensor.to(dtype)
            view = value.permute(2, 0, 1).contiguous().permute(1, 2, 0)
            self.assertFalse(view.is_contiguous())
            self.assertEqual(of(value), of(view), dtype)
        self.assertEqual(of(torch.tensor([1 + 2j])), of(torch.tensor([1 - 2j]).conj()))
        large = torch.arange(100000).reshape(400, 250)
        self.assertEqual(of(large.t().contiguous()), of(large.t()))

    def test_gradients_and_order_of_keys_are_no_part_of_a_value(self):
        self.assertEqual(of(torch.ones(2)), of(torch.ones(2, requires_grad=True)))
        self.assertEqual(of({"a": 1, "b": 2}), of({"b": 2, "a": 1}))
        self.assertEqual(of({1: "x", 2: "y"}), of({2: "y", 1: "x"}))
        self.assertEqual(of(set("abcdef")), of(set("fedcba")))

    def test_padding_between_fields_is_no_part_of_a_value(self):
        kind = np.dtype([("a", "i1"), ("b", "f8")], align=True)
        one, other = np.zeros(2, kind), np.frombuffer(b"\xff" * (2 * kind.itemsize), kind).copy()
        other["a"], other["b"] = 0, 0
        self.assertEqual(of(one), of(other))

    def test_addresses_never_reach_a_digest(self):
        # Two objects of a class are equal where they store the same; a repr would hold their addresses.
        self.assertEqual(of([Plain(a=[1]), Slotted(1, 2)]), of([Plain(a=[1]), Slotted(1, 2)]))

    def test_what_cannot_be_read_is_opaque_and_counted(self):
        with open(__file__) as file:
            self.assertEqual(digest.of(file), (None, 1))
            output, opaque = digest.of({"x": 1, "file": file})
            self.assertEqual(opaque, 1)
            self.assertNotEqual(output, digest.of({"x": 2, "file": file})[0])
        self.assertEqual(digest.of(lambda: 1), (None, 1))
        self.assertEqual(digest.of(iter([1])), (None, 1))
        self.assertEqual(digest.of(torch.zeros(2, device="meta")), (None, 1))
        # Nothing is asked of it that it could refuse.
        self.assertEqual(digest.of(Strange())[1], 0)

    def test_cycles_and_depth_end(self):
        loop = [1]
        loop.append(loop)
        self.assertEqual(of(loop), of(loop))
        deep = []
        for _ in range(2000):
            deep = [deep]
        self.assertEqual(digest.of(deep)[1], 1)

    def test_an_undecoded_image_stays_undecoded(self):
        import os
        import tempfile

        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.png")
            Image.new("RGB", (4, 4), (1, 2, 3)).save(path)
            image = Image.open(path)
            self.assertEqual(digest.of(image), (None, 1))
            image.load()
            self.assertEqual(of(image), of(Image.new("RGB", (4, 4), (1, 2, 3))))


if __name__ == "__main__":
    unittest.main()
