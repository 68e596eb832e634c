"""Enough: ends a loader's epoch after so many batches, and the program once its loaders have had their epochs.

A program is stopped by SystemExit in its main thread, inside its own request for a batch: context managers and atexit
functions run, so its temporary folders and processes go as they always do. Should it hold on, it is ended all the same.
"""

import os
import sys
import threading
import time

from . import fault, loaders, passes, settings, shard

# How long a program may take to leave by itself.
_PATIENCE_SECONDS = 10.0
_stopping = False


def reached(current):
    """Whether a pass has had its batches. One that its loader keeps for ever (made in the loader's constructor) is never
    ended, since nobody expects it to: the program is stopped when it would have been."""
    if settings.WHOLE or current.kept:
        return False
    if settings.BATCHES and current.delivered >= settings.BATCHES:
        return True
    return _rounds(current) >= max(settings.EPOCHS, 1)


def _rounds(current):
    """How often a pass has gone round its dataset; 0 while it may still end by itself."""
    record = current.known.record
    length, size = record.get("length"), record.get("batch_size")
    if not length or not size or record["kind"] != "map":
        return 0
    if settings.BATCHES:
        length = min(length, settings.BATCHES * size)
    each = -(-length // size)
    return current.delivered // each if current.delivered > each else 0


def _epochs(known):
    """Epochs that a loader has had to their end; a pass that never ends has as many as it went round."""
    rounds = [_rounds(current) for current in passes.all_open() if current.known is known]
    return known.finished + max(rounds, default=0)


def enough(starting=None):
    """Whether every loader has had its epochs. A loader that waits for the others to have theirs (validation each tenth
    epoch) is waited for, but not for ever; one that was made and not used yet (test) for one more epoch."""
    if settings.WHOLE or not settings.EPOCHS:
        return False
    # One that was only peeked at is nobody's training.
    known = [one for one in loaders.all_known() if one.epochs or one.running]
    had = [_epochs(one) for one in known]
    if not had or max(had) < settings.EPOCHS:
        return False
    if min(had) < settings.EPOCHS:
        return max(had) >= 2 * settings.EPOCHS + 2
    if not loaders.alive_unused():
        return starting is None or any(one.object() is starting for one in known)
    return max(had) > settings.EPOCHS and any(one.object() is starting for one in known)


def check(starting=None):
    """Stops the program where it is enough."""
    if _stopping:
        _leave()
    try:
        due = enough(starting)
    except Exception as error:
        fault.note("bounds", error)
        return
    if due:
        _stop()


def _stop():
    global _stopping
    _stopping = True
    try:
        for current in passes.all_open():
            iterator = current.iterator()
            passes.end(current, whole=False)
            if iterator is not None and current.workers:
                iterator._shutdown_workers()
        shard.emit({"type": "stopped", "reason": "enough"})
        passes.close()
    except Exception as error:
        fault.note("stopping", error)
        shard.flush()
    if threading.current_thread() is not threading.main_thread():
        _leave()
    threading.Thread(target=_wait, daemon=True).start()
    raise SystemExit(0)


def _wait():
    time.sleep(_PATIENCE_SECONDS)
    _leave()


def _leave():
    """Ends the process here and now, with what it has printed."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass
    os._exit(0)
