"""The import hook: patches a module right after the program has imported it, and never imports one itself."""

import sys

from . import fault

# Module: (our module, its function) that is called with the program's module once it is there.
_TARGETS = {
    "random": ("seeding", "patch_random"),
    "numpy.random": ("seeding", "patch_numpy"),
    "torch": ("seeding", "patch_torch"),
    "torch.utils.data": ("loader", "patch_torch_data"),
    "torchdata.stateful_dataloader.stateful_dataloader": ("loader", "patch_torchdata"),
}


def _patch(name, module):
    import importlib

    try:
        ours, function = _TARGETS[name]
        getattr(importlib.import_module("." + ours, __package__), function)(module)
    except Exception as error:
        fault.note("patching " + name, error)


class _Finder:
    """Finds the watched modules as everyone else would, with a patch appended to their execution."""

    def __init__(self):
        self._busy = set()

    def find_spec(self, name, path=None, target=None):
        if name not in _TARGETS or name in self._busy:
            return None
        self._busy.add(name)
        try:
            spec = self._others(name, path, target)
        finally:
            self._busy.discard(name)
        try:
            return self._watched(name, spec)
        except Exception as error:
            fault.note("watching " + name, error)
            return spec

    def _others(self, name, path, target):
        for finder in list(sys.meta_path):
            if finder is not self and hasattr(finder, "find_spec"):
                spec = finder.find_spec(name, path, target)
                if spec is not None:
                    return spec
        return None

    @staticmethod
    def _watched(name, spec):
        loader = getattr(spec, "loader", None)
        execute = getattr(loader, "exec_module", None)
        if execute is None:
            return spec

        def exec_module(module):
            # The loader is as it was before anyone looks at it.
            del loader.exec_module
            execute(module)
            _patch(name, module)

        loader.exec_module = exec_module
        return spec


def install():
    """Watches for the modules, and patches those that are there already."""
    sys.meta_path.insert(0, _Finder())
    for name in _TARGETS:
        module = sys.modules.get(name)
        if module is not None:
            _patch(name, module)
