"""Which loader is which, over the objects that a program makes and throws away, and the record that describes it."""

import functools
import multiprocessing
import weakref

from . import fault, indices, shard, sites

_RANDOM_SAMPLERS = ("RandomSampler", "WeightedRandomSampler", "SubsetRandomSampler")
_known = []
_made = []
made = 0


class Known:
    """A loader of this process: one number for every object that the program makes at one place for one purpose."""

    def __init__(self, number, key, shape):
        self.number = number
        self.key = key
        self.shape = shape
        self.object = None
        self.dataset = None
        self.passes = 0
        self.epochs = 0
        self.finished = 0
        self.running = 0
        self.record = {}

    def emit(self, **changes):
        """Writes the record, again where something has become known."""
        self.record.update(changes)
        shard.emit(self.record)


def note(loader):
    """A loader is being constructed: remembers where."""
    global made
    made += 1
    where, direct, key = sites.maker(depth=4)
    loader.__dict__["_pipeaudit_made"] = (where, direct, key)
    _made.append(weakref.ref(loader))
    del _made[:-256]


def _origin(loader):
    """(where, key) of a loader. Where a library made it from one that the program made (Lightning, accelerate), it is that
    one's place that a person knows."""
    where, direct, key = loader.__dict__.get("_pipeaudit_made", ("", True, ()))
    if not direct:
        for other in [ref() for ref in reversed(_made)]:
            if other is not None and other is not loader and other.__dict__.get("dataset") is loader.dataset:
                its_where, its_direct, its_key = other.__dict__["_pipeaudit_made"]
                if its_direct:
                    return its_where, its_key
    return where, key


def identify(loader):
    """The known loader that this object is, new or again."""
    where, key = _origin(loader)
    shape = _shape(loader)
    for known in _known:
        before = known.object() if known.object is not None else None
        if before is loader:
            return known
        if not key or known.key != key or known.shape != shape or known.running:
            continue
        # Made anew, for each epoch say: the one before is gone, or it is idle and has the same dataset.
        if before is None or (not loader.persistent_workers and known.dataset() is loader.dataset):
            return _adopt(known, loader)
    known = _adopt(Known(len(_known), key, shape), loader)
    _known.append(known)
    known.record = _describe(known.number, where, loader)
    known.emit()
    return known


def all_known():
    """Loaders that were iterated, in the order of their first iteration."""
    return list(_known)


def alive_unused():
    """Whether a loader that was constructed and is still there has never been iterated."""
    used = {id(known.object()) for known in _known if known.object is not None}
    return any(ref() is not None and id(ref()) not in used for ref in _made)


def _adopt(known, loader):
    known.object = weakref.ref(loader)
    try:
        known.dataset = weakref.ref(loader.dataset)
    except TypeError:
        dataset = loader.dataset
        known.dataset = lambda: dataset
    return known


def _shape(loader):
    sampler = _asked(loader)
    return (type(loader).__qualname__, type(loader.dataset).__qualname__, _name(sampler), _name(_inner(sampler)),
            getattr(loader, "batch_size", None), loader.num_workers, name(loader.worker_init_fn))


def _asked(loader):
    """The batch sampler, else the sampler. Never by their truth, which would ask for their length."""
    batch_sampler = getattr(loader, "batch_sampler", None)
    return getattr(loader, "sampler", None) if batch_sampler is None else batch_sampler


def _name(value):
    return None if value is None else type(value).__qualname__


def name(function):
    """A function's name, through partials."""
    while isinstance(function, functools.partial):
        function = function.func
    if function is None:
        return None
    return shard.text(getattr(function, "__qualname__", None) or type(function).__qualname__)


def _inner(sampler, most=8):
    """The sampler behind batch samplers and the wrappers that accelerate and Lightning put around it."""
    while sampler is not None and most:
        held = getattr(sampler, "__dict__", {})
        inner = held.get("sampler", held.get("batch_sampler", held.get("_sampler")))
        if inner is None or isinstance(inner, (list, tuple, range)):
            return sampler
        sampler, most = inner, most - 1
    return sampler


def _length(dataset):
    try:
        return len(dataset) if hasattr(type(dataset), "__len__") else None
    except Exception:
        return None


def _describe(number, where, loader):
    record = {"type": "loader", "loader": number}
    if where:
        record["where"] = shard.text(where)
    record["dataset"] = shard.text(type(loader.dataset).__qualname__)
    iterable = getattr(loader, "_dataset_kind", 0) == 1
    record["kind"] = "iterable" if iterable else "map"
    try:
        _sizes(record, loader, iterable)
        _workers(record, loader)
    except Exception as error:
        fault.note("describing a loader", error)
    record["cut_short"] = False
    return record


def _sizes(record, loader, iterable):
    length = None if iterable else _length(loader.dataset)
    if length is not None:
        record["length"] = length
    batch_sampler = getattr(loader, "batch_sampler", None)
    size = getattr(loader, "batch_size", None) or getattr(batch_sampler, "batch_size", None)
    if isinstance(size, int) and size > 0:
        record["batch_size"] = size
    record["num_workers"] = int(loader.num_workers)
    sampler = _inner(_asked(loader))
    if sampler is not None and not iterable:
        record["sampler"] = shard.text(_name(sampler))
    record["shuffled"] = not iterable and _shuffles(sampler)
    record["replacement"] = not iterable and _replaces(sampler)
    record["drop_last"] = bool(getattr(loader, "drop_last", False) or getattr(batch_sampler, "drop_last", False))
    record["padding"] = 0 if iterable else _padding(sampler, batch_sampler, length)
    if batch_sampler is not None and not iterable:
        record["batch_sampler"] = shard.text(_name(batch_sampler))
    base = indices.base(loader.dataset)
    if base is not loader.dataset:
        record["subset"] = True
        base_length = _length(base)
        if base_length is not None:
            record["base_length"] = base_length


def _workers(record, loader):
    record["persistent_workers"] = bool(getattr(loader, "persistent_workers", False))
    record["worker_method"] = "process"
    if loader.num_workers:
        context = getattr(loader, "multiprocessing_context", None) or multiprocessing
        method = context.get_start_method(allow_none=True)
        record["start_method"] = method or multiprocessing.get_all_start_methods()[0]
    if loader.worker_init_fn is not None:
        record["init"] = name(loader.worker_init_fn)
    if getattr(loader, "collate_fn", None) is not None:
        record["collate"] = name(loader.collate_fn)
    if getattr(loader, "in_order", True) is False:
        record["in_order"] = False


def _shuffles(sampler):
    if any(klass.__name__ in _RANDOM_SAMPLERS for klass in type(sampler).__mro__):
        return True
    return getattr(sampler, "__dict__", {}).get("shuffle") is True


def _replaces(sampler):
    """Whether a sampler gives an index more than once on purpose."""
    held = getattr(sampler, "__dict__", {})
    if held.get("replacement") is True:
        return True
    samples, source = held.get("_num_samples"), held.get("data_source")
    if isinstance(samples, int) and source is not None and samples > (_length(source) or samples):
        return True
    repeats = held.get("num_repeats", held.get("repetitions", 1))
    return isinstance(repeats, (int, float)) and repeats > 1


def _padding(sampler, batch_sampler, length):
    """Indices that make all ranks equally long, over all ranks."""
    held = getattr(sampler, "__dict__", {})
    total, replicas = held.get("total_size"), held.get("num_replicas")
    if isinstance(total, int) and isinstance(replicas, int) and length is not None:
        return max(0, total - length)
    held = getattr(batch_sampler, "__dict__", {})
    if held.get("even_batches") is True and isinstance(held.get("num_processes"), int) and length:
        size = getattr(batch_sampler, "batch_size", None) or 1
        step = size * (1 if held.get("split_batches") else held["num_processes"])
        return -length % step
    return 0
