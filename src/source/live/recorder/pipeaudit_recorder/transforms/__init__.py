"""Adapters: what transforms were declared to draw and what they drew, so that audits need to know no library.

Each adapter is one module. It watches a library that the program has imported, by patches that are in place only while
samples are made; it draws nothing and calls nothing of the transform a second time.
"""

import sys

from .. import fault
from . import albumentations, generic, monai, torchvision_v1, torchvision_v2

_ADAPTERS = (torchvision_v1, torchvision_v2, albumentations, monai)


def watch(names):
    """Puts the adapters on the libraries that are there, and the generic one on hand-written transforms among `names`."""
    for adapter in _ADAPTERS:
        module = sys.modules.get(adapter.MODULE)
        if module is not None and not adapter.watched:
            adapter.watched = True
            try:
                adapter.watch(module)
            except Exception as error:
                fault.note("adapter " + adapter.MODULE, error)
    try:
        generic.watch(names.objects)
    except Exception as error:
        fault.note("generic adapter", error)
