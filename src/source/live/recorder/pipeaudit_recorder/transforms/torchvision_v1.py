"""torchvision's first transforms: `forward` tells whether one was applied, `get_params` what it drew."""

import functools
import struct

from .. import fault, fetching
from . import events

MODULE = "torchvision.transforms.transforms"
watched = False

_WITH_P = (
    "RandomHorizontalFlip", "RandomVerticalFlip", "RandomPerspective", "RandomGrayscale", "RandomErasing", "RandomInvert",
    "RandomPosterize", "RandomSolarize", "RandomAdjustSharpness", "RandomAutocontrast", "RandomEqualize", "RandomApply",
)
_DRAWING = ("RandomCrop", "RandomResizedCrop", "ColorJitter", "RandomRotation", "RandomAffine", "GaussianBlur",
            "ElasticTransform")


def watch(module):
    """Patches the classes of the module that draw."""
    for name in _WITH_P + _DRAWING:
        kind = getattr(module, name, None)
        if kind is None:
            continue
        if "forward" in vars(kind):
            fetching.register(kind, "forward", functools.partial(_forward, name in _WITH_P))
        if "get_params" in vars(kind):
            fetching.register(kind, "get_params", functools.partial(_get_params, kind, _PARAMETERS.get(name)))


def _forward(with_p, forward):
    @functools.wraps(forward)
    def watched_forward(self, *arguments, **options):
        event = events.enter(self, getattr(self, "p", None) if with_p else None)
        if event is None:
            return forward(self, *arguments, **options)
        before = events.count()
        if not with_p:
            event.applied = True
        try:
            output = forward(self, *arguments, **options)
        finally:
            events.leave(event)
        if event.applied is None:
            given = arguments[0] if arguments else next(iter(options.values()), None)
            # One that is not applied hands its image on as it is.
            event.applied = output is not given or events.count() > before
        return output

    return watched_forward


def _get_params(kind, describe, get_params):
    signature = _names(get_params)

    @functools.wraps(get_params)
    def watched_get_params(*arguments, **options):
        drawn = get_params(*arguments, **options)
        try:
            event = events.innermost()
            if event is None or not isinstance(event.instance, kind):
                event = events.alone(kind.__name__ + ".get_params")
            if event is not None:
                event.applied = True if event.instance is not None else None
                if describe is not None:
                    given = dict(zip(signature, arguments))
                    given.update(options)
                    describe(event, drawn, given)
        except Exception as error:
            fault.note("parameters of " + kind.__name__, error)
        return drawn

    return staticmethod(watched_get_params)


def _names(function):
    return function.__code__.co_varnames[:function.__code__.co_argcount]


def size_of(image):
    """(height, width) of a PIL image or of a tensor whose last two sizes they are."""
    if hasattr(image, "getbands"):
        return image.size[1], image.size[0]
    return tuple(int(n) for n in image.shape[-2:])


def corner(event, top, left, room):
    """A crop's corner against the whole range that the sizes allow, ends included."""
    for name, value, high in (("top", top, room[0]), ("left", left, room[1])):
        if high > 0:
            event.put(name, int(value), "integer", 0, int(high))


def uniform(event, name, value, ends):
    """A number drawn by torch, which rounds the ends of its range to float32 first."""
    low, high = (struct.unpack("f", struct.pack("f", float(end)))[0] for end in ends)
    event.put(name, value, "uniform", low, high)


def _crop(event, drawn, given):
    height, width = size_of(given["img"])
    top, left, crop_height, crop_width = drawn
    corner(event, top, left, (height - crop_height, width - crop_width))


def _resized_crop(event, drawn, given):
    resized_crop(event, drawn, size_of(given["img"]))


def resized_crop(event, drawn, size):
    """The box of a resized crop: rejection makes its distributions other than those of the numbers drawn."""
    top, left, height, width = (int(part) for part in drawn)
    event.put("area", height * width / float(size[0] * size[1]))
    event.put("aspect", width / float(height))
    for name, value, room in (("top", top, size[0] - height), ("left", left, size[1] - width)):
        if room > 0:
            event.put(name, value / float(room))


def _jitter(event, drawn, given):
    order, factors = drawn[0], drawn[1:]
    event.put("order", "".join(str(int(part)) for part in order))
    for name, factor in zip(("brightness", "contrast", "saturation", "hue"), factors):
        declared = given.get(name)
        if factor is not None and declared is not None:
            uniform(event, name, factor, declared)


def _rotation(event, drawn, given):
    uniform(event, "angle", drawn, given["degrees"])


def _affine(event, drawn, given):
    angle, translations, scale, shear = drawn
    uniform(event, "angle", angle, given["degrees"])
    if given.get("translate") is not None:
        # Rounded to pixels: the ends are half as likely as the rest.
        event.put("translate_x", translations[0])
        event.put("translate_y", translations[1])
    ranges = given.get("scale_ranges")
    if ranges is not None:
        uniform(event, "scale", scale, ranges)
    shears = given.get("shears")
    if shears is not None:
        for name, value, ends in zip(("shear_x", "shear_y"), shear, (shears[:2], shears[2:4])):
            if len(ends) == 2:
                uniform(event, name, value, ends)


def _blur(event, drawn, given):
    uniform(event, "sigma", drawn, (given["sigma_min"], given["sigma_max"]))


def _erasing(event, drawn, _given):
    for name, value in zip(("top", "left", "height", "width"), drawn):
        event.put(name, value)


_PARAMETERS = {
    "RandomCrop": _crop,
    "RandomResizedCrop": _resized_crop,
    "ColorJitter": _jitter,
    "RandomRotation": _rotation,
    "RandomAffine": _affine,
    "GaussianBlur": _blur,
    "RandomErasing": _erasing,
}
