"""The calls of transforms during one sample: `[name, applied, p, {parameter: [value, distribution, low, high]}]`."""

import threading

from .. import shard, sites

_MOST_EVENTS = 200
_MOST_NAMES = 2000


class Names:
    """Names of the objects that a dataset holds, by class: the second of a class gets `#2`, in the order of the walk."""

    def __init__(self):
        self._names = {}
        self._counts = {}
        self.objects = []

    def add(self, path, value):
        """An object that can be called, found at a path."""
        if id(value) in self._names or len(self.objects) >= _MOST_NAMES:
            return
        # Kept, so that its id stays its own.
        self.objects.append(value)
        self._names[id(value)] = self._number(type(value).__name__)

    def of(self, value):
        """The name of an object; one that no walk found goes by the place that calls it."""
        known = self._names.get(id(value))
        return known or "%s@%s" % (shard.text(type(value).__name__), sites.caller(3).where)

    def _number(self, name):
        name = shard.text(name)
        count = self._counts[name] = self._counts.get(name, 0) + 1
        return name if count == 1 else "%s#%d" % (name, count)


class Event:
    """One call of a transform."""

    __slots__ = ("instance", "name", "applied", "p", "parameters")

    def __init__(self, instance, name, p):
        self.instance = instance
        self.name = name
        self.applied = None
        self.p = p
        self.parameters = {}

    def put(self, name, value, distribution="other", low=None, high=None):
        """A parameter that was drawn; `low` and `high` are the ends, or mean and standard deviation."""
        number = plain(value)
        if number is not None:
            self.parameters[name] = [number, distribution, plain(low), plain(high)]


class _Current(threading.local):
    names = None
    events = None
    open = ()


_current = _Current()


def plain(value):
    """A number or text as JSON has it, or None."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, (int, str)):
        return value
    if hasattr(value, "item") and not hasattr(value, "__len__") or getattr(value, "ndim", None) == 0:
        value = value.item()
    if isinstance(value, (int, float)):
        return value if -1e300 < value < 1e300 else None
    return None


def begin(names):
    """A batch begins: calls are noted from here on."""
    _current.names, _current.events, _current.open = names, [], []


def end():
    """The batch is done."""
    _current.names, _current.events, _current.open = None, None, ()


def take():
    """The calls since the last time, as the trace has them."""
    events = _current.events
    if not events:
        return ()
    _current.events = []
    return [[e.name, e.applied, e.p, e.parameters] for e in events]


def enter(instance, p):
    """A transform is being called; None where nobody asks."""
    if _current.events is None or len(_current.events) >= _MOST_EVENTS:
        return None
    p = plain(p)
    event = Event(instance, _current.names.of(instance), p if isinstance(p, (int, float)) and 0 <= p <= 1 else None)
    _current.events.append(event)
    _current.open.append(event)
    return event


def leave(event):
    """The call has returned or raised."""
    if _current.open and _current.open[-1] is event:
        _current.open.pop()


def count():
    """How many calls the sample has had so far."""
    return len(_current.events or ())


def alone(name):
    """An event of no object: a drawing function of a library that the program calls itself."""
    if _current.events is None or len(_current.events) >= _MOST_EVENTS:
        return None
    event = Event(None, "%s@%s" % (name, sites.caller(3).where), None)
    _current.events.append(event)
    return event


def innermost():
    """The call that is being made, or None."""
    return _current.open[-1] if _current.open else None
