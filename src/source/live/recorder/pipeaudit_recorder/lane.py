"""What one worker makes in one pass over a loader: its streams, samples and batches."""

import functools
import sys
import threading

from . import digest, fault, fetching, indices, local, shard, transforms
from .sources import Sources
from .transforms import events

_NO_STATES = {}


class _Making(threading.local):
    """The lane whose batch this thread is making; loaders that a dataset iterates meanwhile are part of its samples."""

    lane = None


making = _Making()


class Lane:
    """Records of one (loader, pass, worker)."""

    def __init__(self, place, roots):
        self.loader, self.epoch, self.worker = place
        self.batch = None
        self.seq = 0
        self.sources = None
        self._prefix = '"loader":%d,"epoch":%d,"worker":%d' % place
        self._roots = roots
        self._digests = []
        self._opaque = 0
        self._walk_at = 1
        self._extra_walks = 8
        self.iterator = None
        self.names = events.Names()
        self._ended = False

    def start(self):
        """Finds the sources and says where they stand, after the init and before the first sample."""
        self.sources = Sources(lambda: self._roots() + [("iterator", self.iterator)], self.names)
        transforms.watch(self.names)
        for source in self.sources.all():
            self._stream(source, source.value)
        shard.flush()

    def _stream(self, source, value):
        state = value if isinstance(value, str) else source.reader.state(value)
        shard.line('{"type":"stream",%s,"source":%s,"algorithm":%s,"state":"%s"}' % (
            self._prefix, shard.dumps(source.name), shard.dumps(source.reader.algorithm), state))

    def begin_batch(self):
        """Before the first sample of a batch."""
        self._digests = []
        self._opaque = 0
        self.sources.mark()
        local.begin()
        events.begin(self.names)

    def sample(self, key, get):
        """Makes a sample with `get` and records it; what `get` raises is the program's own."""
        value = get()
        try:
            self._record(key, value, 1)
        except Exception as error:
            fault.note("sample", error)
        return value

    def samples(self, keys, get):
        """Likewise for several samples that the dataset makes in one call: their states are known after the last."""
        values = get()
        try:
            if isinstance(values, (list, tuple)) and len(values) == len(keys):
                for i, (key, value) in enumerate(zip(keys, values)):
                    self._record(key, value, len(keys), last=i + 1 == len(keys))
            else:
                self._record(keys, values, 1)
        except Exception as error:
            fault.note("samples", error)
        return values

    def _record(self, key, value, joint, last=True):
        states, before, reseeded = self._moves() if last else (_NO_STATES, _NO_STATES, ())
        called = events.take() if last else ()
        output, opaque = digest.of(value)
        self._digests.append(output if not opaque else None)
        parts = ['{"type":"sample",%s,"seq":%d' % (self._prefix, self.seq)]
        self.seq += 1
        if self.batch is not None:
            parts.append('"batch":%d' % self.batch)
        index = indices.show(key)
        if index is not None:
            parts.append('"index":' + (str(index) if type(index) is int else shard.dumps(index)))
        if output is not None:
            parts.append('"output":"%s"' % output)
        if states:
            parts.append('"states":' + shard.dumps(states))
        if called:
            parts.append('"transforms":' + shard.dumps(called))
        if before:
            parts.append('"before":' + shard.dumps(before))
        if reseeded:
            parts.append('"reseeded":' + shard.dumps(reseeded))
        if opaque:
            parts.append('"opaque":%d' % opaque)
        if joint > 1:
            parts.append('"joint":%d' % joint)
        shard.line(",".join(parts) + "}")

    def _moves(self):
        """States of the sources that moved, with local generators."""
        made = local.take()
        states, before, reseeded = self.sources.moved(made.touched)
        if self._looks_again(made):
            found = self.sources.refresh()
            transforms.watch(self.names)
            for source in found:
                # One that this sample made and the dataset keeps began in the state in which it was made.
                self._stream(source, made.adopt(source.core) or source.value)
                states[source.name] = source.reader.state(source.value)
        states.update(made.states())
        return states, before, reseeded

    def _looks_again(self, made):
        """Generators may come later than the worker: looks after samples 1, 2, 4 … and the first few that made one."""
        if made.cores and self._extra_walks:
            self._extra_walks -= 1
            return True
        if self.seq + 1 < self._walk_at:
            return False
        self._walk_at *= 2
        return True

    def collated(self, collate, value):
        """Records a batch that `collate` made of the samples since `begin_batch`."""
        made = local.take()
        events.take()
        states, before, _ = self.sources.moved(made.touched)
        states.update(made.states())
        derived = _is_plain_collate(collate)
        if derived:
            output, opaque = digest.of_digests(self._digests), 0
        else:
            output, opaque = digest.of(value)
        if self.batch is None:
            return
        parts = ['{"type":"batch",%s,"batch":%d' % (self._prefix, self.batch)]
        if output is not None:
            parts.append('"output":"%s"' % output)
        if states:
            parts.append('"states":' + shard.dumps(states))
        if before:
            parts.append('"before":' + shard.dumps(before))
        if derived:
            parts.append('"derived":true')
        if opaque:
            parts.append('"opaque":%d' % opaque)
        shard.line(",".join(parts) + "}")

    def end(self, whole=True):
        """The worker came to the end of the pass."""
        if not self._ended:
            self._ended = True
            shard.line('{"type":"end",%s,"samples":%d,"whole":%s}' % (self._prefix, self.seq, "true" if whole else "false"))
            shard.flush()


def _is_plain_collate(collate):
    """Whether the collate function is torch's own, which draws nothing and looks at nothing but the samples."""
    module = sys.modules.get("torch.utils.data._utils.collate")
    return module is not None and collate in (module.default_collate, module.default_convert)


def record(fetcher, lane):
    """Puts the lane between a fetcher and its caller. The fetcher's dataset and collate function are replaced while it
    fetches only: whoever looks at it between two batches sees what the program put there."""
    lane.iterator = getattr(fetcher, "dataset_iter", None)
    fetcher.fetch = functools.partial(_fetch, lane, fetcher, fetcher.fetch)


def _fetch(lane, fetcher, fetch, index):
    if making.lane is not None:
        return fetch(index)
    put = {}
    making.lane = lane
    fetching.begin()
    try:
        try:
            lane.begin_batch()
            put = _replace(fetcher, lane)
        except Exception as error:
            fault.note("fetch", error)
        return fetch(index)
    finally:
        making.lane = None
        fetching.end()
        local.end()
        events.end()
        for name, (old, new) in put.items():
            if getattr(fetcher, name, None) is new:
                setattr(fetcher, name, old)
        shard.flush()


def _replace(fetcher, lane):
    put = {}
    if hasattr(fetcher, "dataset_iter"):
        put["dataset_iter"] = (fetcher.dataset_iter, indices.Stream(lane, fetcher.dataset_iter))
    else:
        put["dataset"] = (fetcher.dataset, indices.Indexed(lane, fetcher.dataset))
    collate = fetcher.collate_fn

    def collating(samples):
        value = collate(samples)
        try:
            lane.collated(collate, value)
        except Exception as error:
            fault.note("batch", error)
        return value

    put["collate_fn"] = (collate, collating)
    for name, (_, new) in put.items():
        setattr(fetcher, name, new)
    return put
