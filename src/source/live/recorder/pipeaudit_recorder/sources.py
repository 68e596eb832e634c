"""The sources that a worker draws from: the libraries' own generators and those found by path, and which of them moved."""

import sys

from . import fault, find, reach, shard, states


class _Source:
    __slots__ = ("name", "core", "reader", "value", "told", "still")

    def __init__(self, name, core):
        self.name = name
        self.core = core
        self.reader = states.reader(core)
        self.value = self.told = self.reader.read()
        # Whether it has not moved yet.
        self.still = True


class Sources:
    """Sources of one lane. `value` is where a source stood when last looked at, `told` what the trace says of it."""

    def __init__(self, roots, names=None):
        self._roots = roots
        self._names = names
        self._list = []
        self._cores = {}
        self._unreadable = set()
        self._globals()
        self._walk()

    def _globals(self):
        found = []
        if "random" in sys.modules:
            found.append(("python", getattr(sys.modules["random"], "_inst", None)))
        mtrand = sys.modules.get("numpy.random.mtrand")
        found.append(("numpy", getattr(getattr(mtrand, "_rand", None), "_bit_generator", None)))
        found.append(("torch", getattr(sys.modules.get("torch"), "default_generator", None)))
        return [source for name, core in found if core is not None for source in self._add(name, core)]

    def _walk(self):
        new = []
        for path, generator in find.generators(self._roots(), None if self._names is None else self._names.add):
            core = states.core(generator)
            if core is not None:
                new += self._add(path, core)
        return new

    def _add(self, name, core):
        """The new source in a list, or an empty list where it is known or cannot be read."""
        if id(core) in self._cores or id(core) in self._unreadable:
            return []
        try:
            source = _Source(shard.text(name), core)
        except Exception as error:
            self._unreadable.add(id(core))
            self._cores[id(core)] = core
            fault.note("reading " + name, error)
            return []
        self._cores[id(core)] = core
        taken = [i for i, other in enumerate(self._list) if other.name == source.name]
        if taken:
            # The program put another generator in its place.
            self._list[taken[0]] = source
        else:
            self._list.append(source)
        return [source]

    def all(self):
        """Every source, in the order in which they were found."""
        return list(self._list)

    def refresh(self):
        """Looks for generators that were made since; those that are new."""
        return self._globals() + self._walk()

    def mark(self):
        """Looks where each source stands, before something is made."""
        for source in self._list:
            source.value = source.reader.read()

    def moved(self, touched):
        """({source: state}, {source: state before}, [source]) for the sources that moved since they were last looked at.
        A source that was seeded meanwhile and drawn from after that has moved even if it stands where it stood; `touched`
        says where a source, by name or core, stood right after it was seeded. The last are those that moved for the first
        time, and not by drawing alone."""
        after, before, reseeded = {}, {}, []
        for source in self._list:
            value = source.reader.read()
            if value == source.value:
                seeded = touched.get(source.name, touched.get(id(source.core))) if touched else None
                if seeded is None or seeded == value:
                    continue
            if source.value is not source.told and source.value != source.told:
                before[source.name] = source.reader.state(source.value)
            if source.still:
                source.still = False
                if not reach.follows(source.reader, source.value, value):
                    reseeded.append(source.name)
            after[source.name] = source.reader.state(value)
            source.value = source.told = value
        return after, before, reseeded
