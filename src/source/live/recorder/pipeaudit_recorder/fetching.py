"""Patches that are in place only while samples are made: elsewhere the program sees its libraries as they are.

In a worker process they stay from its first batch on, since it does nothing else.
"""

import threading

from . import process

_lock = threading.Lock()
_patches = []
_known = set()
_fetching = 0
_ABSENT = object()


def register(owner, name, make):
    """Replaces `owner.name` by `make(old)` whenever samples are made; once for each owner and name."""
    if (id(owner), name) in _known:
        return
    _known.add((id(owner), name))
    new = make(getattr(owner, name))
    # What stands in the owner itself, not what it inherits.
    patch = (owner, name, vars(owner).get(name, _ABSENT), new)
    with _lock:
        _patches.append(patch)
        if _fetching:
            _put(patch)


def begin():
    """A fetch begins."""
    global _fetching
    with _lock:
        _fetching += 1
        if _fetching == 1:
            for patch in _patches:
                _put(patch)


def end():
    """The fetch is over."""
    global _fetching
    if process.worker is not None and _fetching == 1:
        return
    with _lock:
        _fetching -= 1
        if _fetching == 0:
            for patch in reversed(_patches):
                _take_back(patch)


def _put(patch):
    owner, name, old, new = patch
    if vars(owner).get(name, _ABSENT) is old:
        setattr(owner, name, new)


def _take_back(patch):
    owner, name, old, new = patch
    if vars(owner).get(name, _ABSENT) is not new:
        return
    if old is _ABSENT:
        delattr(owner, name)
    else:
        setattr(owner, name, old)
