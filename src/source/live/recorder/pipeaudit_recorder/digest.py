"""Digests of samples: SHA-256 cut to 128 bits over type, shape and bytes, equal for equal values in any memory layout.

Never over a `repr` of an unknown object, which may hold an address, a hash order or a shortened text: such a part is
marked opaque and counted. Reading copies nothing that is contiguous already and runs no multi-threaded operation.
"""

import collections
import dataclasses
import datetime
import decimal
import enum
import fractions
import hashlib
import pathlib
import struct
import types
import uuid
import weakref

from . import fault, find

_DEPTH = 40
_PARTS = 1000000
_NUMBERS = frozenset((int, float, bool, type(None)))
_FLAT = frozenset((int, float, bool, type(None), str))
# Value types whose text says all of them.
_TEXTUAL = (complex, datetime.date, datetime.time, datetime.timedelta, decimal.Decimal, fractions.Fraction, range, slice,
            pathlib.PurePath, uuid.UUID)
_SILENT = (weakref.ref, weakref.ProxyType, weakref.CallableProxyType)


def of(value):
    """(digest in hex, opaque parts); the digest is None where the whole value is opaque."""
    walk = _Walk()
    walk.value(value, 0)
    if walk.opaque and walk.parts == 1:
        return None, walk.opaque
    return walk.hash.hexdigest()[:32], walk.opaque


def of_digests(digests):
    """The digest of a batch that is made of samples with these digests; None where one of them is opaque."""
    if not digests or None in digests:
        return None
    return hashlib.sha256("".join(digests).encode()).hexdigest()[:32]


class Opaque(Exception):
    """A value that cannot be read to its last byte."""


class _Walk:
    """Feeds a value into a hash, every part with its kind and length in front, so that no two values run together."""

    def __init__(self):
        self.hash = hashlib.sha256()
        self.opaque = 0
        self.parts = 0
        self._open = set()

    def tag(self, name, *numbers):
        self.hash.update(("<%s %s>" % (name, " ".join(map(str, numbers)))).encode("utf-8", "surrogatepass"))

    def raw(self, data):
        self.hash.update(data)

    def value(self, value, depth):
        """One value of any kind; what cannot be read is counted."""
        self.parts += 1
        if depth > _DEPTH or self.parts > _PARTS:
            return self._opaque("deep")
        kind = type(value)
        if kind in _FLAT:
            return self._flat(value, kind)
        from . import digest_arrays

        try:
            special = digest_arrays.feeder(kind)
            if special is not None:
                return special(self, value, depth)
            return self._container(value, kind, depth)
        except Opaque as error:
            return self._opaque(error.args[0])
        except Exception as error:
            fault.note("digest of " + kind.__name__, error)
            return self._opaque(kind.__name__)

    def _opaque(self, what):
        self.opaque += 1
        self.tag("opaque", what)

    def _flat(self, value, kind):
        if kind is str:
            data = value.encode("utf-8", "surrogatepass")
            self.tag("str", len(data))
            self.raw(data)
        elif kind is float:
            self.tag("float", value.hex())
        else:
            self.tag(kind.__name__, value)

    def _container(self, value, kind, depth):
        if kind is not type(None) and id(value) in self._open:
            return self.tag("cycle")
        self._open.add(id(value))
        try:
            self._parts(value, kind, depth + 1)
        finally:
            self._open.discard(id(value))

    def _parts(self, value, kind, depth):
        if issubclass(kind, enum.Enum):
            self.tag("enum", kind.__qualname__, value.name)
        elif issubclass(kind, (bytes, bytearray, memoryview)):
            data = bytes(value)
            self.tag("bytes", len(data))
            self.raw(data)
        elif issubclass(kind, dict):
            self._mapping(value, kind, depth)
        elif issubclass(kind, (list, tuple, collections.deque)):
            self._sequence(value, kind, depth)
        elif issubclass(kind, (set, frozenset)):
            self._set(value, kind, depth)
        elif issubclass(kind, (bool, int, float, str)):
            base = next(b for b in (bool, int, float, str) if issubclass(kind, b))
            self.tag("like", kind.__qualname__)
            self._flat(base.__str__(value) if base is str else base(value), base)
        elif issubclass(kind, _TEXTUAL):
            self.tag(kind.__name__, str(value))
        elif issubclass(kind, _SILENT):
            self.tag("weak")
        elif dataclasses.is_dataclass(kind):
            names = [field.name for field in dataclasses.fields(kind)]
            held = dict(_held(value, kind))
            self._attributes(kind, [(name, held.get(name)) for name in names], depth)
        else:
            self._object(value, kind, depth)

    def _sequence(self, value, kind, depth):
        base = next(b for b in (list, tuple, collections.deque) if issubclass(kind, b))
        items = list(base.__iter__(value))
        name = base.__name__ if kind is base else "%s %s" % (base.__name__, kind.__qualname__)
        self.tag(name, len(items))
        if len(items) > 64 and _FLAT.issuperset(map(type, items)):
            # The texts of these kinds say all of them, and C writes them.
            data = repr(items).encode("utf-8", "surrogatepass")
            self.tag("flat", len(data))
            self.raw(data)
        else:
            for item in items:
                self.value(item, depth)

    def _mapping(self, value, kind, depth):
        items = list(dict.items(value))
        self.tag("dict" if kind in (dict, collections.OrderedDict) else "dict " + kind.__qualname__, len(items))
        # The order of keys is no part of the value: it may follow the hash of strings.
        if all(type(key) is str for key, _ in items):
            items.sort(key=lambda item: item[0])
            for key, part in items:
                self._flat(key, str)
                self.value(part, depth)
        else:
            self._unordered(items, depth)

    def _set(self, value, kind, depth):
        items = list(frozenset.__iter__(value) if issubclass(kind, frozenset) else set.__iter__(value))
        self.tag("set", len(items))
        self._unordered(items, depth)

    def _unordered(self, items, depth):
        digests = []
        for item in items:
            walk = _Walk()
            walk._open = self._open
            walk.value(item, depth)
            self.opaque += walk.opaque
            self.parts += walk.parts
            digests.append(walk.hash.digest())
        for part in sorted(digests):
            self.raw(part)

    def _attributes(self, kind, items, depth):
        self.tag("object", kind.__qualname__, len(items))
        for name, part in items:
            self._flat(name, str)
            self.value(part, depth)

    def _object(self, value, kind, depth):
        """Plain data: instances of the program's classes, by what they store."""
        if kind in (types.FunctionType, types.ModuleType, types.MethodType) or issubclass(kind, type):
            return self._opaque(kind.__name__)
        if issubclass(kind, collections.UserDict) or issubclass(kind, collections.UserList):
            self.tag("like", kind.__qualname__)
            return self.value(value.data, depth)
        if not _is_plain(kind):
            return self._opaque(kind.__name__)
        self._attributes(kind, _held(value, kind), depth)


def _held(value, kind):
    """What an object stores: its dictionary and slots, sorted by name."""
    items = {name: find.slot(klass, name, value) for klass in kind.__mro__ for name in find.slots(klass)}
    items.update(find.dict_of(value) or {})
    return sorted(items.items(), key=lambda item: str(item[0]))


def _is_plain(kind):
    """Whether instances store nothing but Python attributes; a C class has room for more. The sum is the one that pickle
    makes before it trusts an object's dictionary."""
    slots = sum(len(find.slots(klass)) for klass in kind.__mro__)
    words = slots + (kind.__dictoffset__ > 0) + (kind.__weakrefoffset__ > 0)
    return not kind.__itemsize__ and kind.__basicsize__ <= object.__basicsize__ + words * struct.calcsize("P")
