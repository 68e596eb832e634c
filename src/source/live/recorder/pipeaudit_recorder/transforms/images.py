"""Images as the generic adapter sees them: their bytes, whatever held them, and what one is of another."""

import sys

_MOST_BYTES = 16 << 20
_CHANNELS = 4
_FIRST_TRIES = 4


def first(values):
    """The first image among values, or in a tuple, list or dict of them; None where there is none."""
    for value in values:
        if _is_image(value):
            return value
        if isinstance(value, dict):
            value = tuple(dict.values(value))
        if isinstance(value, (tuple, list)):
            for part in value[:8]:
                if _is_image(part):
                    return part
    return None


def _is_image(value):
    kind = type(value)
    torch, numpy, pil = sys.modules.get("torch"), sys.modules.get("numpy"), sys.modules.get("PIL.Image")
    if pil is not None and isinstance(value, pil.Image):
        return getattr(value, "fp", None) is None or not getattr(value, "tile", None)
    if torch is not None and issubclass(kind, torch.Tensor):
        return (value.layout is torch.strided and value.device.type == "cpu" and 2 <= value.dim() <= 4
                and not value.is_quantized and not value.dtype.is_complex and 0 < value.numel() * value.element_size() <= _MOST_BYTES)
    if numpy is not None and issubclass(kind, numpy.ndarray):
        return 2 <= value.ndim <= 4 and value.dtype.kind in "biuf" and 0 < value.nbytes <= _MOST_BYTES
    return False


class Image:
    """A copy of an image's pixels as planes × height × width of opaque pixels, and where they lay."""

    def __init__(self, value):
        numpy = sys.modules.get("numpy")
        torch, pil = sys.modules.get("torch"), sys.modules.get("PIL.Image")
        self.address = self.strides = None
        if pil is not None and isinstance(value, pil.Image):
            self.kind = "image " + value.mode
            array = numpy.asarray(value)
        elif torch is not None and isinstance(value, torch.Tensor):
            self.kind = "tensor %s" % value.dtype
            array = _array_of(torch, value)
        else:
            self.kind = "array %s" % value.dtype
            array = value.view(numpy.ndarray)
        if not self.kind.startswith("image"):
            self.address = array.__array_interface__["data"][0]
            self.strides = array.strides
        self.shape = array.shape
        # A copy: the transform may work in place.
        self.pixels = _pixels(numpy, array, last=not self.kind.startswith("tensor")).copy()

    def same(self, other):
        """Whether two images are equal to the last bit."""
        return self.kind == other.kind and self.shape == other.shape and _equal(self.pixels, other.pixels)

    def is_own_mirror(self):
        """Whether flips leave the image as it is."""
        pixels = self.pixels
        return _equal(pixels, pixels[:, :, ::-1]) or _equal(pixels, pixels[:, ::-1])

    def turn_of(self, other):
        """The flip or turn that makes this image of another, or None."""
        for name, turn in _TURNS:
            turned = turn(other.pixels)
            if turned.shape == self.pixels.shape and _equal(turned, self.pixels):
                return name
        return None

    def room(self, smaller):
        """How far the corner of a smaller image can move in this one."""
        return self.pixels.shape[1] - smaller.pixels.shape[1], self.pixels.shape[2] - smaller.pixels.shape[2]

    def crop_of(self, other):
        """(top, left) of this image in another whose part it is, or None. Where several places fit, the numbers are None."""
        rows, columns = other.room(self)
        if rows < 0 or columns < 0 or self.pixels.shape[0] != other.pixels.shape[0] or not (rows or columns):
            return None
        return self._by_address(other) or self._by_pixels(other, rows, columns)

    def _by_address(self, other):
        """A view of the other image: its place in memory tells."""
        if self.address is None or other.address is None or self.strides != other.strides:
            return None
        offset = self.address - other.address
        down, across = _axes(self.pixels.shape, self.shape)
        row, column = other.strides[down], other.strides[across]
        if offset < 0 or row <= 0 or column <= 0 or row < column:
            return None
        top, left = offset // row, offset % row // column
        return (top, left) if self._fits(other, top, left) else None

    def _by_pixels(self, other, rows, columns):
        numpy = sys.modules["numpy"]
        whole, part = other.pixels, self.pixels
        fits = numpy.ones((rows + 1, columns + 1), bool)
        height, width = part.shape[1:3]
        # A few pixels leave few places; those are compared in full.
        for i, j in ((0, 0), (height - 1, width - 1), (height // 2, width // 3), (height // 3, width - 1)):
            window = whole[0, i:i + rows + 1, j:j + columns + 1]
            fits &= (window == part[0, i, j]).reshape(rows + 1, columns + 1, -1).all(axis=2)
        places = [(int(i), int(j)) for i, j in zip(*numpy.nonzero(fits))]
        if len(places) > 64:
            return None
        places = [place for place in places if self._fits(other, *place)]
        if not places:
            return None
        top, left = places[0]
        same_top = all(place[0] == top for place in places)
        same_left = all(place[1] == left for place in places)
        return (top if same_top else None, left if same_left else None)

    def _fits(self, other, top, left):
        height, width = self.pixels.shape[1:3]
        window = other.pixels[:, top:top + height, left:left + width]
        return window.shape == self.pixels.shape and _equal(window, self.pixels)


def _array_of(torch, tensor):
    tensor = tensor.as_subclass(torch.Tensor).detach()
    if tensor.dtype is torch.bfloat16:
        tensor = tensor.view(torch.int16)
    return tensor.numpy()


def _pixels(numpy, array, last):
    """planes × height × width × bytes. Channels stand last in arrays and images where there are few of them."""
    raw = numpy.ascontiguousarray(array).view("u1").reshape(array.shape + (-1,))
    if array.ndim == 2:
        return raw[None]
    if last and array.shape[-1] <= _CHANNELS and array.ndim == 3:
        return raw.reshape(array.shape[:2] + (-1,))[None]
    return raw.reshape((-1,) + raw.shape[-3:])


def _axes(pixels, shape):
    """Which axes of the array are height and width."""
    return (0, 1) if len(shape) == 2 or (pixels[0] == 1 and len(shape) == 3 and shape[:2] == pixels[1:3]) else (len(shape) - 2, len(shape) - 1)


def _equal(one, other):
    return one.shape == other.shape and bool((one[:, :1] == other[:, :1]).all()) and bool((one == other).all())


_TURNS = (
    ("hflip", lambda pixels: pixels[:, :, ::-1]),
    ("vflip", lambda pixels: pixels[:, ::-1]),
    ("rot180", lambda pixels: pixels[:, ::-1, ::-1]),
    ("transpose", lambda pixels: pixels.swapaxes(1, 2)),
    ("rot90", lambda pixels: pixels.swapaxes(1, 2)[:, ::-1]),
    ("rot270", lambda pixels: pixels.swapaxes(1, 2)[:, :, ::-1]),
    ("antitranspose", lambda pixels: pixels.swapaxes(1, 2)[:, ::-1, ::-1]),
)
