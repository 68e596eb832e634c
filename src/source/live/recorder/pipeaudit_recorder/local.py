"""Generators that a sample constructs, or seeds, while it is made: sources `local:<file>:<line>`.

Only the first at a place in each sample counts: a second one (for the mask after the image) is a rewind by design.
"""

import threading

from . import fault, fetching, sites, states

_MOST_PLACES = 16


class Made:
    """What was constructed or seeded during one sample."""

    def __init__(self):
        self.places = {}
        # Cores that were constructed: {id: (core, state right after where known, place)}.
        self.cores = {}
        # Sources and cores that were seeded or set: where they stood right after the last time.
        self.touched = {}
        self.unread = []

    def states(self):
        """{source: state} of the places, in the order of their calls."""
        for name, core in self.unread:
            if self.places.get(name) is None:
                reader = states.reader(core)
                self.places[name] = reader.state(reader.read())
        known, states_ = set(), {}
        for name, state in self.places.items():
            # The same state at another place of one sample is a rewind by design too.
            if state is not None and state not in known:
                known.add(state)
                states_[name] = state
        return states_

    def adopt(self, core):
        """A core turned out to be held by the dataset: the state in which it was made, or None; its place is given up."""
        _, state, name = self.cores.get(id(core), (None, None, None))
        if name is not None:
            self.places[name] = None
            self.unread = [pair for pair in self.unread if pair[1] is not core]
        return state


class _Current(threading.local):
    made = None


_current = _Current()
_NOTHING = Made()


def begin():
    """A fetch begins."""
    _current.made = Made()


def end():
    """The fetch is over."""
    _current.made = None


def take():
    """What was made since the last call."""
    made = _current.made
    if made is None or not (made.places or made.touched or made.cores):
        return _NOTHING
    _current.made = Made()
    return made


def seeded(call, site, source, generator):
    """A seeding call was made; `generator` is what it seeded or made."""
    made = _current.made
    if made is None:
        return
    core = states.core(generator)
    if core is None:
        return
    reader = states.reader(core)
    value = reader.read()
    made.touched[source or id(core)] = value
    state = reader.state(value)
    # To put a state back is no seeding.
    putting_back = call.endswith(("set_rng_state", "set_state", "setstate"))
    name = None if putting_back else _place(made, site, state)
    if source is None and id(core) not in made.cores:
        made.cores[id(core)] = (core, state, name)


def pending(core, call):
    """A generator was constructed and is about to be seeded: its state is read when the sample is done."""
    made = _current.made
    if made is None:
        return
    try:
        site = sites.caller(2)
        name = _place(made, site, None)
        if name is not None:
            made.unread.append((name, core))
        made.cores[id(core)] = (core, None, name)
    except Exception as error:
        fault.note(call, error)


def _place(made, site, state):
    name = "local:" + site.where
    if name in made.places or len(made.places) >= _MOST_PLACES or not site.where:
        return None
    made.places[name] = state
    return name


def stand_in(module, names, prefix):
    """While samples are made, these classes of a module go by objects that also note what they make."""
    for name in names:
        if isinstance(getattr(module, name, None), type):
            fetching.register(module, name, lambda real, call=prefix + name: _StandIn(real, call))


class _StandIn:
    """A class for all that a program does with one: calls it, asks isinstance, derives from it, compares it."""

    def __init__(self, real, call):
        self.__dict__["_real"] = real
        self.__dict__["_call"] = call

    def __call__(self, *arguments, **options):
        made = self._real(*arguments, **options)
        # torch's generators are seeded by the call that follows.
        pending(made, self._call)
        return made

    def __instancecheck__(self, instance):
        return isinstance(instance, self._real)

    def __subclasscheck__(self, kind):
        return issubclass(kind, self._real)

    def __mro_entries__(self, _bases):
        return (self._real,)

    def __getattr__(self, name):
        return getattr(self._real, name)

    def __eq__(self, other):
        return other is self._real or other is self

    def __hash__(self):
        return hash(self._real)

    def __repr__(self):
        return repr(self._real)
