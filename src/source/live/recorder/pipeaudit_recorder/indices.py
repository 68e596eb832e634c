"""The dataset as a fetcher sees it while it fetches: every sample passes through the lane, with its index."""

import functools
import hashlib
import sys

from . import digest

_MOST_TEXT = 200


def show(key):
    """An index as the trace has it, an integer or a text; None where it has none."""
    kind = type(key)
    if kind is int or kind is str:
        return _bounded(key)
    if key is None:
        return None
    if hasattr(key, "__index__") and kind is not bool:
        try:
            return _bounded(key.__index__())
        except (TypeError, ValueError, RuntimeError):
            pass
    if isinstance(key, bytes):
        return _bounded(key.decode("utf-8", "backslashreplace"))
    if isinstance(key, (list, tuple)):
        shown = [show(part) for part in key]
        return None if None in shown else _bounded("(%s)" % ", ".join(map(str, shown)))
    if isinstance(key, slice):
        return "%s:%s:%s" % tuple("" if part is None else show(part) for part in (key.start, key.stop, key.step))
    if isinstance(key, (bool, float)):
        return repr(key)
    if hasattr(key, "tolist"):
        return show(key.tolist())
    output, opaque = digest.of(key)
    return None if opaque else "key " + output


def _bounded(key):
    if isinstance(key, int):
        return int(key) if -2**63 <= key < 2**63 else str(key)
    text = key.encode("utf-8", "backslashreplace").decode("utf-8")
    return text if len(text) <= _MOST_TEXT else text[:100] + " " + hashlib.sha256(text.encode()).hexdigest()[:32]


def behind(dataset, key):
    """(dataset, index) behind the Subsets that a dataset is made of."""
    subset = _subset()
    depth = 0
    while subset is not None and isinstance(dataset, subset) and depth < 16:
        if isinstance(key, (list, tuple)):
            key = [dataset.indices[part] for part in key]
        else:
            key = dataset.indices[key]
        dataset = dataset.dataset
        depth += 1
    return dataset, key


def base(dataset):
    """The dataset behind the Subsets that a dataset is made of."""
    subset = _subset()
    while subset is not None and isinstance(dataset, subset):
        dataset = dataset.dataset
    return dataset


def _subset():
    return getattr(sys.modules.get("torch.utils.data.dataset"), "Subset", None)


def _resolved(dataset, key):
    try:
        return behind(dataset, key)[1]
    except Exception:
        return key


class Indexed:
    """A map-style dataset."""

    def __init__(self, lane, dataset):
        self._lane = lane
        self._dataset = dataset

    def __getitem__(self, key):
        dataset = self._dataset
        return self._lane.sample(_resolved(dataset, key), lambda: dataset[key])

    def __getattr__(self, name):
        value = getattr(self._dataset, name)
        if name == "__getitems__" and value:
            return functools.partial(self._several, value)
        return value

    def __len__(self):
        return len(self._dataset)

    def __iter__(self):
        return iter(self._dataset)

    def _several(self, getitems, keys):
        subset = _subset()
        plain = getattr(subset, "__getitems__", None)
        if plain is not None and getattr(type(self._dataset), "__getitems__", None) is plain:
            # torch's own Subset only hands the indices on: the samples are made by the dataset behind it, one by one.
            return plain(_Behind(self._lane, self._dataset), keys)
        resolved = [_resolved(self._dataset, key) for key in keys] if hasattr(keys, "__iter__") else keys
        return self._lane.samples(resolved, lambda: getitems(keys))


class _Behind:
    """Stands for a Subset in its own `__getitems__`, with the dataset behind it recorded."""

    def __init__(self, lane, subset):
        self.indices = subset.indices
        self.dataset = Indexed(lane, subset.dataset)


class Stream:
    """The iterator of an iterable dataset."""

    def __init__(self, lane, iterator):
        self._lane = lane
        self._iterator = iterator

    def __iter__(self):
        return self

    def __next__(self):
        return self._lane.sample(None, self._iterator.__next__)

    def __getattr__(self, name):
        return getattr(self._iterator, name)
