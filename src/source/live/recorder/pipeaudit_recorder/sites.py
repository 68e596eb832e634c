"""Where in the program something was called: the first frame outside the libraries, as `file:line`."""

import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))
_root = ""
_stdlib = ()
_library = {}
_PACKAGES = (os.sep + "site-packages" + os.sep, os.sep + "dist-packages" + os.sep)


def read():
    """Notes the folder that paths are given against: PIPEAUDIT_ROOT, else where the process started."""
    global _root, _stdlib
    try:
        _root = os.environ.get("PIPEAUDIT_ROOT") or os.getcwd()
    except OSError:
        _root = ""
    _stdlib = tuple({os.path.dirname(os.path.abspath(os.__file__)) + os.sep, _HERE + os.sep})


def is_library(filename):
    """Whether a source file belongs to Python, an installed package or the recorder."""
    known = _library.get(filename)
    if known is None:
        if filename.startswith("<"):
            known = not filename.startswith(("<stdin>", "<ipython"))
        else:
            full = os.path.abspath(filename)
            known = full.startswith(_stdlib) or any(p in full for p in _PACKAGES)
        _library[filename] = known
    return known


def is_user(frame):
    """Whether a frame is the program's own; `python -c` has the file name of generated code."""
    filename = frame.f_code.co_filename
    if filename == "<string>":
        return frame.f_globals.get("__name__") in ("__main__", "__mp_main__")
    return not is_library(filename)


def show(filename):
    """A path without anything of this machine in it: against the root, else from the package on."""
    if filename.startswith("<"):
        return filename
    full = os.path.abspath(filename if os.path.isabs(filename) else os.path.join(_root, filename))
    for part in _PACKAGES:
        if part in full:
            return full.rsplit(part, 1)[1]
    if _root and full.startswith(_root.rstrip(os.sep) + os.sep):
        return os.path.relpath(full, _root)
    return os.sep.join(full.split(os.sep)[-2:])


class Site:
    """A call as seen from the program: `where`; `via`, the function of a library outside torch, NumPy and Python that it
    went through; `own`, whether torch's worker loop called; `user`, whether a frame of the program was found at all;
    `direct`, whether that frame made the call itself."""

    __slots__ = ("where", "via", "own", "user", "direct")

    def __init__(self, where, via, own, user, direct):
        self.where, self.via, self.own, self.user, self.direct = where, via, own, user, direct


def caller(depth=2, most=60):
    """The site of the call `depth` frames up. A worker's stack holds its parent's frames where it was forked, so the
    search ends at the worker loop."""
    frame = sys._getframe(depth)
    first, via, direct = None, None, True
    while frame is not None and most:
        code = frame.f_code
        if not code.co_filename.startswith(_HERE):
            if is_user(frame):
                return Site(_place(frame), via, False, True, direct)
            if code.co_name == "_worker_loop":
                return Site(first or "torch", via, first is None, False, False)
            direct = direct and frame.f_globals.get("__name__") == "random"
            if not _is_core(code.co_filename):
                first = first or _place(frame)
                via = code.co_name
        frame = frame.f_back
        most -= 1
    return Site(first or "", via, False, False, False)


def _place(frame):
    return "%s:%d" % (show(frame.f_code.co_filename), frame.f_lineno)


def _is_core(filename):
    """Frames of the libraries whose functions are the calls themselves."""
    if filename.startswith("<") or filename.startswith(_stdlib):
        return True
    shown = show(filename)
    return shown.startswith("torch" + os.sep) or shown.startswith("numpy" + os.sep)


def maker(depth=2, most=60):
    """(where, direct, key) of the place that makes a loader: `direct` where the program does it itself and not a
    library for it; `key` tells two such places apart, however deep the helper that both use."""
    frame = sys._getframe(depth)
    where, direct, key = "", None, []
    while frame is not None and most:
        code = frame.f_code
        user = is_user(frame)
        if not code.co_filename.startswith(_HERE) and (user or (direct is None and not _is_core(code.co_filename))):
            key.append((code.co_filename, frame.f_lineno))
            if direct is None or (user and not direct and len(key) == 2):
                where = _place(frame)
            direct = user if direct is None else direct
        frame = frame.f_back
        most -= 1
    return where, bool(direct), tuple(key)


def _is_own_init(frame, loader):
    """Whether a frame is the constructor of this very object, a subclass's included."""
    return frame.f_code.co_name == "__init__" and frame.f_locals.get("self") is loader


def stack_has(names, depth=2, most=80):
    """Whether one of these functions is being run."""
    frame = sys._getframe(depth)
    while frame is not None and most:
        if frame.f_code.co_name in names:
            return True
        frame = frame.f_back
        most -= 1
    return False


def is_constructing(loader, depth=2, most=30):
    """Whether the constructor of this very object is being run."""
    frame = sys._getframe(depth)
    while frame is not None and most:
        if _is_own_init(frame, loader):
            return True
        frame = frame.f_back
        most -= 1
    return False


def hide(error, most=20):
    """Takes the recorder's frames out of an error's traceback, and of the errors behind it."""
    while error is not None and most:
        error.__traceback__ = _without_recorder(error.__traceback__)
        error = error.__cause__ or error.__context__
        most -= 1


def _without_recorder(traceback):
    frames = []
    while traceback is not None:
        if not traceback.tb_frame.f_code.co_filename.startswith(_HERE):
            frames.append(traceback)
        traceback = traceback.tb_next
    for part in reversed(frames):
        traceback = type(part)(traceback, part.tb_frame, part.tb_lasti, part.tb_lineno)
    return traceback
