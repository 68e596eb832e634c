"""Runs at the start of every Python: first the sitecustomize that this file hides, then the recorder."""


def _hidden():
    """Runs the next sitecustomize on the path as if this file were not there."""
    import importlib.machinery
    import importlib.util
    import os
    import sys

    here = os.path.realpath(os.path.dirname(__file__))
    # The folder leaves sys.path again: the program shall see the path that it would have had.
    sys.path[:] = [p for p in sys.path if not p or os.path.realpath(p) != here]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", sys.path)
    if spec is None or spec.loader is None:
        return
    module = importlib.util.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


def _activate():
    import os
    import sys

    if not os.environ.get("PIPEAUDIT_TRACE"):
        return
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path.insert(0, here)
    try:
        import pipeaudit_recorder
    finally:
        sys.path.remove(here)
    pipeaudit_recorder.activate()


try:
    _hidden()
finally:
    # Whatever the hidden file raises reaches the interpreter as it would have; the recorder comes to life all the same.
    try:
        _activate()
    except Exception:
        pass
