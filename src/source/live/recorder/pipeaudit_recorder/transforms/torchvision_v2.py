"""torchvision's second transforms: one that is applied makes its parameters first, in `make_params`."""

import functools
import sys

from .. import fault, fetching
from . import events
from .torchvision_v1 import corner, resized_crop, uniform

MODULE = "torchvision.transforms.v2"
watched = False
# Its name until torchvision 0.20.
_MAKERS = ("make_params", "_get_params")


def watch(module):
    """Patches the two base classes, the container with a p, and every class that makes parameters."""
    base = module.Transform
    maker = next(name for name in _MAKERS if hasattr(base, name))
    applying = getattr(sys.modules.get(MODULE + "._transform"), "_RandomApplyTransform", None)
    fetching.register(base, "forward", functools.partial(_forward, base, maker, applying))
    if applying is not None:
        fetching.register(applying, "forward", functools.partial(_forward, base, maker, applying))
    if hasattr(module, "RandomApply"):
        fetching.register(module.RandomApply, "forward", _random_apply)
    for name in dir(module):
        kind = getattr(module, name)
        if isinstance(kind, type) and issubclass(kind, base) and maker in vars(kind):
            fetching.register(kind, maker, functools.partial(_make_params, _PARAMETERS.get(name, _scalars)))
    fetching.register(base, maker, functools.partial(_make_params, None))


def _forward(base, maker, applying, forward):
    plain = getattr(base, maker)

    @functools.wraps(forward)
    def watched_forward(self, *inputs):
        with_p = applying is not None and isinstance(self, applying)
        event = None
        if with_p or getattr(vars(type(self)).get(maker), "__wrapped__", None) is not None or _draws(self, maker, plain):
            event = events.enter(self, getattr(self, "p", None) if with_p else None)
        if event is None:
            return forward(self, *inputs)
        try:
            event.applied = False
            return forward(self, *inputs)
        finally:
            events.leave(event)

    return watched_forward


def _draws(transform, maker, plain):
    """Whether a class makes parameters of its own."""
    made = getattr(type(transform), maker, None)
    return getattr(made, "__wrapped__", made) is not plain


def _random_apply(forward):
    @functools.wraps(forward)
    def watched_forward(self, *inputs):
        event = events.enter(self, self.p)
        if event is None:
            return forward(self, *inputs)
        before = events.count()
        try:
            output = forward(self, *inputs)
        finally:
            events.leave(event)
        same = all(a is b for a, b in zip(output, inputs)) if len(inputs) > 1 else output is inputs[0]
        event.applied = not same or events.count() > before
        return output

    return watched_forward


def _make_params(describe, make_params):
    @functools.wraps(make_params)
    def watched_make_params(self, flat_inputs):
        parameters = make_params(self, flat_inputs)
        event = events.innermost()
        if event is not None and event.instance is self:
            event.applied = True
            if describe is not None:
                try:
                    describe(event, self, parameters, flat_inputs)
                except Exception as error:
                    fault.note("parameters of " + type(self).__name__, error)
        return parameters

    return watched_make_params


def _size(flat_inputs):
    utilities = sys.modules.get("torchvision.transforms.v2._utils")
    query = getattr(utilities, "query_size", None) or sys.modules[MODULE]._utils.query_spatial_size
    return query(flat_inputs)


def _crop(event, _transform, parameters, flat_inputs):
    height, width = _size(flat_inputs)
    left, top, right, bottom = parameters["padding"]
    room = (height + top + bottom - parameters["height"], width + left + right - parameters["width"])
    corner(event, parameters["top"], parameters["left"], room)


def _resized_crop(event, _transform, parameters, flat_inputs):
    resized_crop(event, [parameters[name] for name in ("top", "left", "height", "width")], _size(flat_inputs))


def _jitter(event, transform, parameters, _inputs):
    event.put("order", "".join(str(int(part)) for part in parameters["fn_idx"]))
    for name in ("brightness", "contrast", "saturation", "hue"):
        declared = getattr(transform, name)
        if declared is not None:
            uniform(event, name, parameters[name + "_factor"], declared)


def _rotation(event, transform, parameters, _inputs):
    uniform(event, "angle", parameters["angle"], transform.degrees)


def _affine(event, transform, parameters, _inputs):
    _rotation(event, transform, parameters, _inputs)
    if transform.translate is not None:
        event.put("translate_x", parameters["translate"][0])
        event.put("translate_y", parameters["translate"][1])
    if transform.scale is not None:
        uniform(event, "scale", parameters["scale"], transform.scale)
    if transform.shear is not None:
        for i, name in enumerate(("shear_x", "shear_y")):
            if len(transform.shear) >= 2 * i + 2:
                uniform(event, name, parameters["shear"][i], transform.shear[2 * i:2 * i + 2])


def _blur(event, transform, parameters, _inputs):
    uniform(event, "sigma", parameters["sigma"][0], transform.sigma)


def _scalars(event, _transform, parameters, _inputs):
    """Numbers whose declared distribution is not known here."""
    for name, value in parameters.items():
        if not isinstance(value, str):
            event.put(str(name), value)


_PARAMETERS = {
    "RandomCrop": _crop,
    "RandomResizedCrop": _resized_crop,
    "ColorJitter": _jitter,
    "RandomRotation": _rotation,
    "RandomAffine": _affine,
    "GaussianBlur": _blur,
}
