"""Harmless variations: the order in which directories are listed, permuted by a seed."""

import hashlib
import os
import sys

from . import settings


def _rank(seed, name):
    return hashlib.sha256(seed + os.fsencode(name)).digest()


def _own(path):
    """Whether a folder belongs to Python itself, whose listing order is no matter of the program's data."""
    try:
        full = os.path.abspath(os.fsdecode(os.fspath(path)))
    except (TypeError, ValueError):
        return False
    own = (os.path.abspath(sys.prefix), os.path.abspath(os.path.join(sys.base_prefix, "lib")))
    return full.startswith(tuple(folder.rstrip(os.sep) + os.sep for folder in own))


class _Entries:
    """The entries of a folder in the permuted order, with the interface of os.scandir's iterator."""

    def __init__(self, entries):
        self._entries = iter(entries)

    def __iter__(self):
        return self

    def __next__(self):
        return next(self._entries)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self._entries = iter(())


def install():
    """Replaces os.listdir and os.scandir, where a seed is given."""
    if settings.LISTING_SEED is None:
        return
    seed = settings.LISTING_SEED.encode("utf-8", "backslashreplace")
    listdir, scandir = os.listdir, os.scandir

    def permuted_listdir(path=None):
        names = listdir(path)
        return names if _own(path or ".") else sorted(names, key=lambda name: _rank(seed, name))

    def permuted_scandir(path=None):
        if _own(path or "."):
            return scandir(path)
        with scandir(path) as entries:
            return _Entries(sorted(entries, key=lambda entry: _rank(seed, entry.name)))

    for new, old in ((permuted_listdir, listdir), (permuted_scandir, scandir)):
        new.__name__, new.__doc__ = old.__name__, old.__doc__
    os.listdir, os.scandir = permuted_listdir, permuted_scandir
    # Programs ask whether the very function is in this set (`os.listdir in os.supports_fd`); shutil.rmtree does.
    if listdir in os.supports_fd:
        os.supports_fd.update((permuted_listdir, permuted_scandir))
