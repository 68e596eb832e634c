"""MONAI: `randomize` of the base class draws whether a transform is applied, the attributes say what else was drawn."""

import functools

from .. import fetching
from . import events

MODULE = "monai.transforms.transform"
watched = False


def watch(module):
    """Patches the class that every random transform derives from."""
    fetching.register(module.RandomizableTransform, "randomize", _randomize)


def _randomize(randomize):
    @functools.wraps(randomize)
    def watched_randomize(self, *arguments, **options):
        event = events.enter(self, getattr(self, "prob", None))
        try:
            randomize(self, *arguments, **options)
        finally:
            if event is not None:
                events.leave(event)
                event.applied = bool(self._do_transform)

    return watched_randomize
