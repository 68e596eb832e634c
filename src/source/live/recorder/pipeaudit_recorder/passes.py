"""A pass is one iterator of a loader, as the main process sees it: what its loop received, and how it ended.

A pass counts as an epoch once the program has really consumed it: it had a second batch from it or came to its end. First
batches that are only peeked at and a trainer's sanity check do not count, unless nothing else ever did.
"""

import os
import sys
import weakref

from . import fault, loaders, process, seeding, shard, sites, sources

_SANITY = ("_run_sanity_check", "run_sanity_check")
_open = {}
_closed = False
_peeks = []


class Pass:
    """One pass over a loader."""

    # Known once the iterator has been constructed; kept for a pass whose iterator is gone when it counts.
    base_seed = None

    def __init__(self, known, iterator, loader):
        self.known = known
        self.number = known.passes
        self.epoch = None
        self.delivered = 0
        self.over = False
        self.peek = sites.stack_has(_SANITY)
        self.main = _main_states()
        self.lane = None
        # An iterator that a loader makes in its constructor lives as long as the loader.
        self.kept = sites.is_constructing(loader)
        self.workers = int(loader.num_workers)
        known.passes += 1
        known.running += 1
        _open[id(self)] = self
        # The iterator going away without having come to its end is how a loop that breaks off shows.
        self._iterator = weakref.ref(iterator, self._gone)

    def iterator(self):
        """The program's iterator, or None where it is gone."""
        return self._iterator()

    def _gone(self, _):
        if self.over:
            return
        try:
            end(self, whole=False)
        except Exception as error:
            fault.note("end of a pass", error)

    def count(self):
        """From here on the pass is an epoch."""
        if self.epoch is None:
            self.epoch = self.known.epochs
            self.known.epochs += 1
            record = {"type": "pass", "loader": self.known.number, "pass": self.number, "epoch": self.epoch}
            seed = getattr(self.iterator(), "_base_seed", self.base_seed)
            if isinstance(seed, int):
                record["base_seed"] = seed
            record["main"] = self.main
            shard.emit(record)


def start(iterator, loader):
    """A new pass of a loader, by an iterator that is new or begins again."""
    process.renew()
    seeding.release()
    current = Pass(loaders.identify(loader), iterator, loader)
    iterator.__dict__["_pipeaudit_pass"] = current
    return current


def _main_states():
    """Where the global generators of this process stand."""
    return {source.name: source.reader.state(source.value) for source in sources.Sources(list).all()}


def delivered(current, batch):
    """The program's loop received a batch."""
    current.delivered += 1
    if current.base_seed is None:
        current.base_seed = getattr(current.iterator(), "_base_seed", None)
    if current.delivered == 2 and not current.peek:
        current.count()
    shard.line('{"type":"delivered","loader":%d,"epoch":%d,"batch":%d}' % (current.known.number, current.number, batch))
    shard.flush()


def end(current, whole, cut=False):
    """The pass is over: read to its end, broken off, or cut short by the recorder."""
    if current.over:
        return
    current.over = True
    _open.pop(id(current), None)
    current.known.running -= 1
    if (whole or cut) and not current.peek:
        current.count()
    elif current.epoch is None and current.delivered and not current.peek:
        _peeks.append(current)
    if current.epoch is not None:
        current.known.finished += 1
    if current.lane is not None:
        current.lane.end(whole)
    else:
        shard.emit({"type": "end", "loader": current.known.number, "epoch": current.number, "worker": -1, "samples": 0,
                    "whole": whole, "batches": current.delivered})
    shard.flush()


def all_open():
    """Passes that are neither read to their end nor broken off."""
    return list(_open.values())


def close():
    """The process comes to its end; a spawned worker has nothing to say here."""
    global _closed
    if process.worker or _closed:
        return
    _closed = True
    seeding.release()
    for current in all_open():
        end(current, whole=False)
    for current in _peeks:
        if not current.known.epochs or current.known in _only_peeked:
            _only_peeked.append(current.known)
            current.count()
    del _peeks[:]
    shard.emit({"type": "exit", "made": loaders.made, "iterated": len(loaders.all_known())})
    shard.flush()


_only_peeked = []


def _forget():
    """A forked child has no passes: they are its parent's."""
    _open.clear()
    del _peeks[:]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
