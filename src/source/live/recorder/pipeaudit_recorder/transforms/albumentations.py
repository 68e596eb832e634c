"""albumentations: a transform that is applied goes through `apply_with_params`, with what it drew."""

import functools

from .. import fault, fetching
from . import events
from .torchvision_v1 import corner

MODULE = "albumentations.core.transforms_interface"
watched = False


def watch(module):
    """Patches the class that every transform derives from."""
    kind = module.BasicTransform
    fetching.register(kind, "__call__", _call)
    fetching.register(kind, "apply_with_params", _apply)


def _call(call):
    @functools.wraps(call)
    def watched_call(self, *arguments, **options):
        # A container that forces its child has drawn in its place.
        forced = options.get("force_apply", False)
        event = events.enter(self, None if forced else getattr(self, "p", None))
        if event is None:
            return call(self, *arguments, **options)
        event.applied = False
        try:
            return call(self, *arguments, **options)
        finally:
            events.leave(event)

    return watched_call


def _apply(apply):
    @functools.wraps(apply)
    def watched_apply(self, params, *arguments, **options):
        event = events.innermost()
        if event is not None and event.instance is self:
            event.applied = True
            try:
                _describe(event, self, params)
            except Exception as error:
                fault.note("parameters of " + type(self).__name__, error)
        return apply(self, params, *arguments, **options)

    return watched_apply


def _describe(event, transform, params):
    if type(transform).__name__ == "RandomCrop" and "crop_coords" in params:
        left, top, right, bottom = params["crop_coords"]
        height, width = params["shape"][:2] if "shape" in params else (params["rows"], params["cols"])
        corner(event, top, left, (height - (bottom - top), width - (right - left)))
        return
    for name, value in params.items():
        if name not in _GIVEN and not isinstance(value, str):
            event.put(str(name), value)


# What a transform is told, not what it draws.
_GIVEN = ("rows", "cols", "shape", "fill", "fill_mask", "interpolation", "mask_interpolation", "border_mode", "slices")
