"""Where generators stand. Reading draws nothing and leaves every generator as it was.

A reader has `algorithm`, `read()`, a value that is equal exactly where the state is, and `state(value)`, the text
`algorithm:key:position` whose form `src/rng/state.rs` defines. CPython's and NumPy's MT19937 are read in place, which costs a
microsecond instead of ten to a hundred; a reader that does not agree with the library's own getter at its start gives way to it.
"""

import ctypes
import hashlib
import struct
import sys

_WORDS = 2496


def _key(words):
    return hashlib.sha256(words).hexdigest()[:32]


# Classes whose in-place reading was compared with the getter, and whether they agreed.
_agreed = {}


def _agrees(kind, reader):
    known = _agreed.get(kind)
    if known is None:
        fits = sys.implementation.name == "cpython" and sys.byteorder == "little"
        known = _agreed[kind] = fits and reader._in_place() == reader._getter()
    return known


class _Reader:
    algorithm = "mt19937"

    def __init__(self):
        self._words = None
        self._hashed = ""

    def _state(self, words, position):
        # Most draws move the position only.
        if words != self._words:
            self._words, self._hashed = words, _key(words)
        return "%s:%s:%d" % (self.algorithm, self._hashed, position)


class PythonReader(_Reader):
    """`random.Random`: `struct {int index; uint32_t state[624];}` after the object's header."""

    def __init__(self, generator):
        super().__init__()
        self._generator = generator
        self._address = id(generator) + object.__basicsize__
        if not _agrees(type(generator), self):
            self.read = self._getter

    def _in_place(self):
        return ctypes.string_at(self._address, 4 + _WORDS)

    read = _in_place

    def _getter(self):
        version, numbers = self._generator.getstate()[:2]
        if version != 3 or len(numbers) != 625:
            raise ValueError("not a Mersenne Twister")
        return struct.pack("<625I", numbers[624], *numbers[:624])

    @staticmethod
    def words(value):
        """The twister's words as little-endian bytes."""
        return value[4:]

    def state(self, value):
        return self._state(value[4:], struct.unpack_from("<i", value)[0])


class NumpyTwisterReader(_Reader):
    """NumPy's MT19937: `struct {uint32_t key[624]; int pos;}` at the address that the bit generator gives."""

    def __init__(self, bit_generator):
        super().__init__()
        self._generator = bit_generator
        try:
            self._address = int(bit_generator.ctypes.state_address)
            fits = _agrees(type(bit_generator), self)
        except Exception:
            fits = False
        if not fits:
            self.read = self._getter

    def _in_place(self):
        return ctypes.string_at(self._address, _WORDS + 4)

    read = _in_place

    def _getter(self):
        state = self._generator.state["state"]
        return struct.pack("<624Ii", *state["key"].tolist(), int(state["pos"]))

    @staticmethod
    def words(value):
        """The twister's words as little-endian bytes."""
        return value[:_WORDS]

    def state(self, value):
        return self._state(value[:_WORDS], struct.unpack_from("<i", value, _WORDS)[0])


class NumpyReader(_Reader):
    """NumPy's other bit generators, by their getter (1 to 3 µs)."""

    _NAMES = {"PCG64": "pcg64", "PCG64DXSM": "pcg64dxsm", "SFC64": "sfc64", "Philox": "philox"}

    def __init__(self, bit_generator):
        super().__init__()
        self._generator = bit_generator
        name = bit_generator.state["bit_generator"]
        self.algorithm = self._NAMES.get(name, str(name).lower())
        self._form = getattr(self, "_" + self.algorithm, self._other)
        self._form(self.read())

    def read(self):
        return _plain(self._generator.state)

    def state(self, value):
        words, position = self._form(value)
        return self._state(words, position)

    @staticmethod
    def fixed(value):
        """What drawing never changes: a seed does."""
        inner = value["state"]
        return inner.get("inc", inner.get("key")) if isinstance(inner, dict) else None

    @staticmethod
    def _half(value):
        """The buffered half word, and 1 where there is one."""
        has = int(value["has_uint32"])
        return struct.pack("<I", int(value["uinteger"]) if has else 0), 1 if has else 0

    def _pcg64(self, value):
        half, has = self._half(value)
        inner = value["state"]
        return inner["state"].to_bytes(16, "little") + inner["inc"].to_bytes(16, "little") + half, has

    _pcg64dxsm = _pcg64

    def _sfc64(self, value):
        half, has = self._half(value)
        return struct.pack("<4Q", *value["state"]["state"]) + half, has

    def _philox(self, value):
        counter, key = value["state"]["counter"], value["state"]["key"]
        drawn = 4 * counter[0] + int(value["buffer_pos"]) - 4
        half, has = self._half(value)
        return struct.pack("<5Q", *key, *counter[1:]) + (half if has else b""), drawn % 2**64

    def _other(self, value):
        from . import digest

        return digest.of(value)[0].encode(), 0


def _plain(value):
    """A getter's dict with lists for arrays, so that two can be compared."""
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    return value.tolist() if hasattr(value, "tolist") else value


class TorchReader(_Reader):
    """torch's CPU generator: `get_state()` is 5056 bytes, `left` an i32 at byte 8, 624 words as u64 from byte 24."""

    def __init__(self, generator):
        super().__init__()
        self._generator = generator
        if generator.device.type != "cpu" or generator.get_state().numel() != 5056:
            raise ValueError("not torch's CPU generator")

    def read(self):
        state = self._generator.get_state()
        return ctypes.string_at(state.data_ptr(), 5016)

    @staticmethod
    def words(value):
        """The twister's words as little-endian bytes."""
        words = bytearray(_WORDS)
        for byte in range(4):
            words[byte::4] = value[24 + byte :: 8]
        return bytes(words)

    def state(self, value):
        wide = value[24:]
        if wide != self._words:
            self._words, self._hashed = wide, _key(self.words(value))
        return "mt19937:%s:%d" % (self._hashed, 625 - struct.unpack_from("<i", value, 8)[0])


def core(generator):
    """The object whose state a generator draws on (two Generators may share a bit generator), or None where it is no
    generator or has no state to read."""
    kind = type(generator)
    twister = _type("random", "Random")
    if twister is not None and issubclass(kind, twister):
        return None if issubclass(kind, _type("random", "SystemRandom")) else generator
    for module, name in (("numpy.random._generator", "Generator"), ("numpy.random.mtrand", "RandomState")):
        numpy_kind = _type(module, name)
        if numpy_kind is not None and issubclass(kind, numpy_kind):
            return generator._bit_generator
    numpy_kind = _type("numpy.random.bit_generator", "BitGenerator")
    if numpy_kind is not None and issubclass(kind, numpy_kind):
        return generator
    torch_kind = _type("torch._C", "Generator")
    if torch_kind is not None and issubclass(kind, torch_kind):
        return generator if generator.device.type == "cpu" else None
    return None


def _type(module, name):
    found = getattr(sys.modules.get(module), name, None)
    return found if isinstance(found, type) else None


def reader(found):
    """A reader of what `core` gave; raises where the state cannot be read."""
    kind = type(found)
    twister = _type("random", "Random")
    if twister is not None and issubclass(kind, twister):
        return PythonReader(found)
    torch_kind = _type("torch._C", "Generator")
    if torch_kind is not None and issubclass(kind, torch_kind):
        return TorchReader(found)
    if kind.__name__ == "MT19937":
        return NumpyTwisterReader(found)
    return NumpyReader(found)
