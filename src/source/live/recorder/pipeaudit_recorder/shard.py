"""The shard that this process writes: whole lines, flushed at batch ends, its own file in every process.

The file is opened for each flush. A held descriptor could be closed by a program that turns into a daemon, and its
number could then belong to one of the program's own files.
"""

import json
import os
import threading

from . import settings

# A shard never grows past this while nobody flushes.
_MOST_LINES = 512

_lock = threading.Lock()
_lines = []
_path = None
_broken = False


def text(value):
    """A string that any JSON reader takes: no lone surrogates."""
    return str(value).encode("utf-8", "backslashreplace").decode("utf-8")


def dumps(value):
    """Compact JSON in the order of insertion."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False)


def emit(record):
    """Adds a record, a dict whose first key is `type`."""
    line(dumps(record))


def line(content):
    """Adds a line that is JSON already."""
    with _lock:
        if not _lines and _path is None:
            from . import process

            _lines.append(process.line())
        _lines.append(content)
        full = len(_lines) >= _MOST_LINES
    if full:
        flush()


def flush():
    """Appends what is buffered to the shard; where the folder is gone or full, recording ends without a sound."""
    global _lines, _broken
    with _lock:
        if not _lines or _broken:
            return
        data = ("\n".join(_lines) + "\n").encode("utf-8", "backslashreplace")
        _lines = []
        try:
            _append(data)
        except OSError:
            _broken = True


def _append(data):
    global _path
    flags = os.O_WRONLY | os.O_APPEND | getattr(os, "O_CLOEXEC", 0)
    if _path is None:
        n = 0
        while True:
            path = os.path.join(settings.TRACE, "%d-%d.jsonl" % (os.getpid(), n))
            try:
                descriptor = os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o600)
                break
            except FileExistsError:
                n += 1
        _path = path
    else:
        descriptor = os.open(_path, flags)
    try:
        while data:
            data = data[os.write(descriptor, data):]
    finally:
        os.close(descriptor)


def attached():
    """Leaves the sign that the recorder came to life in this process."""
    import sys

    path = os.path.join(settings.TRACE, "%d.attached" % os.getpid())
    line_ = dumps({"python": "%d.%d.%d" % sys.version_info[:3], "pid": os.getpid()}) + "\n"
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_CLOEXEC", 0), 0o600)
        try:
            os.write(descriptor, line_.encode())
        finally:
            os.close(descriptor)
    except OSError:
        pass


def _forget():
    """A forked child starts a shard of its own; what the parent has buffered the parent writes."""
    global _lock, _lines, _path
    _lock = threading.Lock()
    _lines = []
    _path = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
