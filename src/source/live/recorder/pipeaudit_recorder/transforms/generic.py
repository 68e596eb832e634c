"""Hand-written transforms: any object of the program's own classes that the dataset holds and calls, image in, image out.

Nothing is known of them but their input, their output and a `p` or `prob` attribute. `effect` is what the pixels show:
`identity`, a flip or turn, `crop` (with its corner), or `changed`. Where the image is its own mirror image, an output
that equals it proves nothing, and `applied` stays unknown.
"""

import functools
import sys

from .. import fault, fetching, find, sites
from . import events, images

_PROBABILITIES = ("p", "prob", "probability")
# For these a p is the share of pixels or channels, not the chance of being applied.
_SHARES = ("dropout", "noise", "salt", "mask", "erase")
_LIBRARIES = ("torchvision", "albumentations", "monai")


def watch(objects):
    """Patches the classes of the objects that are the program's own."""
    for value in objects:
        kind = type(value)
        method = _method(kind)
        if method is not None:
            fetching.register(kind, method, _watched)


def _method(kind):
    """What a call of such an object runs; None where the class is not the program's, or has an adapter."""
    module = sys.modules.get(kind.__module__)
    if kind.__module__ not in ("__main__", "__mp_main__") and sites.is_library(getattr(module, "__file__", None) or "<"):
        return None
    for klass in kind.__mro__:
        package = klass.__module__.partition(".")[0]
        if package in _LIBRARIES and klass.__name__ not in ("Transform", "Randomizable"):
            return None
        if klass.__module__.startswith("torch.utils.data"):
            return None
        own = package not in ("torch", "torchvision", "monai", "builtins")
        for name in ("__call__", "forward"):
            if own and callable(vars(klass).get(name)):
                return name
    return "forward" if any(klass.__module__.startswith("torchvision.transforms.v2") for klass in kind.__mro__) else None


def _watched(call):
    @functools.wraps(call)
    def watched_call(self, *arguments, **options):
        event = before = None
        try:
            given = images.first((*arguments, *options.values()))
            if given is not None:
                before = images.Image(given)
                event = events.enter(self, _declared(self))
        except Exception as error:
            fault.note("generic adapter", error)
        if event is None:
            return call(self, *arguments, **options)
        try:
            output = call(self, *arguments, **options)
        finally:
            events.leave(event)
        try:
            _compare(event, before, images.first((output,)))
        except Exception as error:
            fault.note("generic adapter", error)
        return output

    return watched_call


def _declared(transform):
    """The declared probability, where the object has one."""
    held = find.dict_of(transform) or {}
    name = type(transform).__name__.lower()
    for attribute in _PROBABILITIES:
        value = held.get(attribute)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return None if any(share in name for share in _SHARES) else value
    return None


def _compare(event, before, output):
    if output is None:
        return
    after = images.Image(output)
    if after.same(before):
        event.applied = None if before.is_own_mirror() else False
        event.put("effect", "identity")
        return
    if after.kind != before.kind:
        # A conversion: there is nothing to compare.
        return
    event.applied = True
    turn = after.turn_of(before)
    if turn is not None:
        event.put("effect", turn)
        return
    corner = after.crop_of(before)
    if corner is None:
        event.put("effect", "changed")
        return
    event.put("effect", "crop")
    for name, value, room in zip(("top", "left"), corner, before.room(after)):
        if room > 0 and value is not None:
            event.put(name, value, "integer", 0, room)
