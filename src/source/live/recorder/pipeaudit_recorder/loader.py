"""Patches torch.utils.data: every loader's iterators, fetchers and worker loops, whoever subclasses them."""

import atexit
import functools
import inspect
import multiprocessing.process
import os
import sys
import threading

from . import bounds, fault, lane, loaders, passes, process, ranks, seeding, settings, shard, sites

# Where a worker process finds what its main process says: plain numbers that ride in the configuration which
# multiprocessing hands to every child, so that a child without the recorder starts all the same.
_MARK = "pipeaudit"


class _Thread(threading.local):
    worker = None
    starting = None
    single = None


_thread = _Thread()


class _Worker:
    """A worker process and the lanes that it makes, one a pass."""

    def __init__(self, mark, arguments):
        self.loader, self.next_pass = mark[0], mark[1]
        self.id = int(arguments["worker_id"])
        self.roots = [("collate_fn", arguments.get("collate_fn")), ("init", arguments.get("init_fn"))]
        self.lane = None
        process.worker = {"parent": mark[2], "rank": mark[3], "world_size": mark[4], "id": self.id}
        seeding.forget()
        seeding.release()

    def new_lane(self, dataset):
        self.end()
        roots = [("dataset", dataset)] + self.roots
        self.lane = lane.Lane((self.loader, self.next_pass, self.id), lambda: roots)
        self.next_pass += 1
        return self.lane

    def end(self, whole=True):
        if self.lane is not None:
            self.lane.end(whole)


class _Tasks:
    """A worker's index queue, which also tells the number of each batch."""

    def __init__(self, queue, worker):
        self._queue = queue
        self._worker = worker

    def get(self, *arguments, **options):
        task = self._queue.get(*arguments, **options)
        try:
            if task is None:
                self._worker.end()
            elif isinstance(task, tuple) and len(task) == 2 and self._worker.lane is not None:
                self._worker.lane.batch = task[0]
        except Exception as error:
            fault.note("task", error)
        return task

    def __getattr__(self, name):
        return getattr(self._queue, name)


def patch_torch_data(_module):
    """Called once torch.utils.data is there."""
    dataloader = sys.modules["torch.utils.data.dataloader"]
    worker = sys.modules["torch.utils.data._utils.worker"]
    _patch_loader(dataloader.DataLoader)
    _patch_iterators(dataloader)
    _patch_fetcher(dataloader._DatasetKind)
    worker._worker_loop = _watched_loop(worker._worker_loop)
    _patch_processes()
    _patch_errors(sys.modules["torch._utils"].ExceptionWrapper)
    _patch_last_words()
    pid = os.getpid()
    atexit.register(lambda: os.getpid() == pid and _guarded("exit", passes.close))


def patch_torchdata(module):
    """torchdata's StatefulDataLoader has a worker loop of its own."""
    worker = sys.modules["torchdata.stateful_dataloader.worker"]
    worker._worker_loop = module._worker_loop = _watched_loop(worker._worker_loop)
    _patch_iterator(module._StatefulMultiProcessingDataLoaderIter)
    _patch_iterator(module._StatefulSingleProcessDataLoaderIter)


def _guarded(where, function, *arguments):
    try:
        return function(*arguments)
    except Exception as error:
        fault.note(where, error)
        return None


def _is_inner():
    """Whether a dataset iterates a loader of its own while a sample is made, or a worker does: part of the sample."""
    return lane.making.lane is not None or _thread.worker is not None


def _patch_loader(kind):
    # `__new__` and not `__init__`: a frame around the constructor would show in the warnings that it gives.
    new = kind.__new__

    def __new__(cls, *arguments, **options):
        loader = new(cls) if new is object.__new__ else new(cls, *arguments, **options)
        if not _is_inner():
            _guarded("loader", loaders.note, loader)
        return loader

    kind.__new__ = __new__
    if settings.WORKERS is None:
        return
    init = kind.__init__

    @functools.wraps(init)
    def __init__(self, *arguments, **options):
        if not _is_inner():
            arguments, options = _guarded("workers", _with_workers, init, self, arguments, options) or (arguments, options)
        init(self, *arguments, **options)

    kind.__init__ = __init__


def _with_workers(init, loader, arguments, options):
    """The constructor's arguments with `--workers` in them."""
    bound = inspect.signature(init).bind(loader, *arguments, **options)
    bound.arguments["num_workers"] = settings.WORKERS
    if not settings.WORKERS:
        for name in ("persistent_workers", "prefetch_factor", "multiprocessing_context", "timeout"):
            bound.arguments.pop(name, None)
    return bound.args[1:], bound.kwargs


def _patch_iterators(dataloader):
    base, several = dataloader._BaseDataLoaderIter, dataloader._MultiProcessingDataLoaderIter

    def __new__(cls, *arguments, **options):
        iterator = object.__new__(cls)
        loader = next((a for a in (*arguments, *options.values()) if isinstance(a, dataloader.DataLoader)), None)
        if loader is not None and not _is_inner():
            bounds.check(loader)
            _guarded("pass", _start, iterator, loader)
        return iterator

    base.__new__ = __new__
    _patch_iterator(several)
    _patch_iterator(dataloader._SingleProcessDataLoaderIter)


def _patch_iterator(kind):
    """Watches what an iterator gives. `_next_data` and not `__next__`, whose warnings name the program's own line."""
    following = kind._next_data

    @functools.wraps(following)
    def _next_data(self):
        current = self.__dict__.get("_pipeaudit_pass")
        if current is None:
            return following(self)
        _before_batch(self, current)
        try:
            data = following(self)
        except StopIteration:
            _guarded("end", passes.end, current, True)
            bounds.check()
            raise
        _guarded("delivered", passes.delivered, current, _batch_number(self, current))
        return data

    kind._next_data = _next_data
    if not hasattr(kind, "_get_data"):
        return
    reset = kind._reset

    @functools.wraps(reset)
    def _reset(self, loader, first_iter=False, *arguments, **options):
        before = self.__dict__.get("_pipeaudit_pass")
        if not first_iter and before is not None:
            bounds.check(loader)
            _guarded("reset", _restart, self, loader, before)
        return reset(self, loader, first_iter, *arguments, **options)

    kind._reset = _reset


def _note_numbers(iterator):
    """Where batches come in any order, the one that was received last is the one that is delivered."""
    receive = iterator._get_data

    def _get_data():
        data = receive()
        if isinstance(data, tuple) and data:
            iterator.__dict__["_pipeaudit_received"] = data[0]
        return data

    iterator.__dict__["_get_data"] = _get_data


def _start(iterator, loader):
    _thread.starting = _thread.single = None
    current = passes.start(iterator, loader)
    rank, world_size = ranks.find()
    _thread.starting = [current.known.number, current.number, os.getpid(), rank, world_size]
    _thread.single = None if loader.num_workers else (current, loader)
    if getattr(loader, "in_order", True) is False and loader.num_workers:
        _note_numbers(iterator)
    # Workers must not wait for what the main process knows already.
    shard.flush()


def _restart(iterator, loader, before):
    passes.end(before, whole=False)
    passes.start(iterator, loader)
    shard.flush()


def _before_batch(iterator, current):
    """The program asks for a batch: it may have had enough of them."""
    bounds.check()
    if _guarded("bounds", bounds.reached, current):
        _guarded("cutting short", _cut, iterator, current)
        bounds.check()
        raise StopIteration
    if current.lane is not None:
        current.lane.batch = current.delivered


def _batch_number(iterator, current):
    if not current.workers:
        return current.delivered
    if getattr(iterator, "_in_order", True):
        return iterator._rcvd_idx - 1
    return iterator.__dict__.get("_pipeaudit_received", current.delivered)


def _cut(iterator, current):
    """Ends an epoch early, as its own end would."""
    if not current.over:
        current.known.emit(cut_short=True)
        if current.workers and not getattr(iterator, "_persistent_workers", False):
            iterator._shutdown_workers()
        passes.end(current, whole=False, cut=True)


def _patch_fetcher(kind):
    create = kind.create_fetcher

    @functools.wraps(create)
    def create_fetcher(dataset_kind, dataset, auto_collation, collate_fn, drop_last):
        made = _guarded("stream", _new_lane, dataset)
        fetcher = create(dataset_kind, dataset, auto_collation, collate_fn, drop_last)
        if made is not None:
            _guarded("fetcher", lane.record, fetcher, made)
        return fetcher

    kind.create_fetcher = staticmethod(create_fetcher)


def _new_lane(dataset):
    """The lane of the fetcher that is being made, in a worker or in the main process; None inside a sample."""
    if lane.making.lane is not None:
        return None
    if _thread.worker is not None:
        made = _thread.worker.new_lane(dataset)
    elif _thread.single is not None:
        current, loader = _thread.single
        _thread.single = None
        roots = [("dataset", dataset)] + [(name, getattr(loader, name, None)) for name in ("collate_fn", "sampler", "batch_sampler")]
        made = current.lane = lane.Lane((current.known.number, current.number, -1), lambda: roots)
    else:
        return None
    made.start()
    return made


def _watched_loop(loop):
    signature = inspect.signature(loop)

    @functools.wraps(loop)
    def _worker_loop(*arguments, **options):
        worker = None
        mark = getattr(multiprocessing.process.current_process(), "_config", {}).get(_MARK)
        if mark is not None and settings.TRACE:
            try:
                bound = signature.bind(*arguments, **options)
                worker = _Worker(mark, bound.arguments)
                bound.arguments["index_queue"] = _Tasks(bound.arguments["index_queue"], worker)
                arguments, options = bound.args, bound.kwargs
                _thread.worker = worker
            except Exception as error:
                fault.note("worker", error)
        try:
            return loop(*arguments, **options)
        finally:
            if worker is not None:
                # The loop leaves without having been told to where its main process has died.
                _guarded("end of a worker", worker.end, False)
                _thread.worker = None

    return _worker_loop


def _patch_processes():
    base = multiprocessing.process.BaseProcess
    init = base.__init__

    @functools.wraps(init)
    def __init__(self, *arguments, **options):
        init(self, *arguments, **options)
        try:
            self._config.pop(_MARK, None)
            if getattr(self._target, "__name__", "") == "_worker_loop" and _thread.starting is not None:
                self._config[_MARK] = list(_thread.starting)
        except Exception as error:
            fault.note("process", error)

    base.__init__ = __init__


def _patch_errors(kind):
    """Errors of a worker travel as text: without the recorder's frames."""
    init = kind.__init__

    @functools.wraps(init)
    def __init__(self, exc_info=None, *arguments, **options):
        if exc_info is None:
            exc_info = sys.exc_info()
        _guarded("traceback", sites.hide, exc_info[1])
        exc_info = (exc_info[0], exc_info[1], getattr(exc_info[1], "__traceback__", exc_info[2]))
        init(self, exc_info, *arguments, **options)

    kind.__init__ = __init__


def _patch_last_words():
    """An error that ends the program is printed without the recorder's frames; where the program prints errors in a way
    of its own, it keeps that."""
    if sys.excepthook is not sys.__excepthook__:
        return

    def excepthook(kind, error, traceback):
        _guarded("traceback", sites.hide, error)
        sys.__excepthook__(kind, error, getattr(error, "__traceback__", traceback))

    sys.excepthook = excepthook
