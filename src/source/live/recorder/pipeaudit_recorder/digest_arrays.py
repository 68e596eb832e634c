"""Digests of tensors, arrays and images: dtype, shape and bytes in C order."""

import ctypes
import sys

from .digest import Opaque

_feeders = {}
# An element type that NumPy has no name for is read as integers of its width.
_WIDTHS = {1: "uint8", 2: "int16", 4: "int32", 8: "int64"}


def feeder(kind):
    """The function that feeds values of this class into a walk, or None where the class is not of this module's."""
    known = _feeders.get(kind, kind)
    if known is not kind:
        return known
    found = None
    torch = sys.modules.get("torch")
    numpy = sys.modules.get("numpy")
    image = sys.modules.get("PIL.Image")
    pandas = sys.modules.get("pandas")
    if _is(kind, torch, "Tensor"):
        found = _tensor
    elif _is(kind, numpy, "ndarray"):
        found = _array
    elif _is(kind, numpy, "generic"):
        found = _scalar
    elif _is(kind, image, "Image"):
        found = _image
    elif _is(kind, torch, "dtype") or _is(kind, torch, "device") or _is(kind, numpy, "dtype"):
        found = _named
    elif _is(kind, pandas, "DataFrame") or _is(kind, pandas, "Series") or _is(kind, pandas, "Index"):
        found = _table
    _feeders[kind] = found
    return found


def _is(kind, module, name):
    wanted = getattr(module, name, None) if module is not None else None
    return isinstance(wanted, type) and issubclass(kind, wanted)


def _named(walk, value, _depth):
    walk.tag("named", str(value))


def _scalar(walk, value, depth):
    _array(walk, sys.modules["numpy"].asarray(value), depth)


def _table(walk, value, depth):
    walk.tag("table", type(value).__name__)
    if hasattr(value, "columns"):
        for name in value.columns:
            walk.value(name if isinstance(name, str) else str(name), depth + 1)
            walk.value(value[name].to_numpy(), depth + 1)
    else:
        walk.value(value.to_numpy(), depth + 1)


def _image(walk, image, depth):
    lazy = getattr(image, "fp", None) is not None and getattr(image, "tile", None)
    if lazy:
        # Decoding it here would take away what the program may still set (draft mode).
        raise Opaque("undecoded image")
    walk.tag("image", image.mode, *image.size)
    if image.mode in ("P", "PA"):
        walk.value(image.getpalette(), depth + 1)
    walk.raw(image.tobytes())


def _array(walk, array, depth):
    numpy = sys.modules["numpy"]
    kind = type(array)
    if kind is not numpy.ndarray:
        if numpy.ma.isMaskedArray(array):
            walk.tag("masked")
            walk.value(numpy.ma.getmaskarray(array), depth + 1)
            array = array.filled()
        elif kind is not numpy.ndarray:
            walk.tag("like", kind.__qualname__)
        array = array.view(numpy.ndarray)
    dtype = array.dtype
    if not dtype.isnative:
        array = array.astype(dtype.newbyteorder("="))
        dtype = array.dtype
    if dtype.hasobject or (dtype.names and _gaps(dtype)):
        _elements(walk, array, depth)
        return
    walk.tag("array", dtype.str if not dtype.names else dtype.descr, *array.shape)
    if array.nbytes:
        walk.raw(numpy.ascontiguousarray(array).reshape(-1).view("u1"))


def _gaps(dtype):
    """Whether a structure has bytes between its fields, which hold anything."""
    return sum(dtype.fields[name][0].itemsize for name in dtype.names) != dtype.itemsize or any(
        dtype.fields[name][0].names for name in dtype.names)


def _elements(walk, array, depth):
    walk.tag("elements", *array.shape)
    if array.dtype.names:
        for name in array.dtype.names:
            walk.value(name, depth + 1)
            walk.value(array[name], depth + 1)
    else:
        for element in array.ravel().tolist():
            walk.value(element, depth + 1)


def _tensor(walk, tensor, depth):
    torch = sys.modules["torch"]
    kind = type(tensor)
    if kind is torch.Tensor and _is_simple(torch, tensor):
        walk.tag("tensor", tensor.dtype, *tensor.shape)
        length = tensor.numel() * tensor.element_size()
        if length:
            walk.raw((ctypes.c_char * length).from_address(tensor.data_ptr()))
        return
    if kind is not torch.Tensor:
        walk.tag("tensor", kind.__qualname__)
        tensor = tensor.as_subclass(torch.Tensor)
    # Without a graph and, where a subclass overrides operations, without them.
    with torch.no_grad(), _plain_operations(torch):
        _layouts(walk, torch, tensor.detach(), depth)


def _is_simple(torch, tensor):
    """The usual tensor, whose bytes lie there in order."""
    if tensor.layout is not torch.strided or tensor.is_quantized or getattr(tensor, "is_nested", False):
        return False
    if tensor.device.type != "cpu" or not tensor.is_contiguous():
        return False
    return not (hasattr(tensor, "is_neg") and (tensor.is_neg() or tensor.is_conj()))


def _plain_operations(torch):
    return torch._C.DisableTorchFunction() if hasattr(torch._C, "DisableTorchFunction") else torch.no_grad()


def _layouts(walk, torch, tensor, depth):
    if getattr(tensor, "is_nested", False):
        parts = tensor.unbind()
        walk.tag("nested", len(parts))
        for part in parts:
            _layouts(walk, torch, part, depth)
    elif tensor.layout is torch.strided:
        _strided(walk, torch, tensor)
    elif tensor.layout is torch.sparse_coo:
        walk.tag("coo", *tensor.shape)
        _strided(walk, torch, tensor._indices())
        _strided(walk, torch, tensor._values())
    elif "sparse" in str(tensor.layout):
        walk.tag(str(tensor.layout), *tensor.shape)
        rows = "crow_indices" if hasattr(tensor, "crow_indices") and str(tensor.layout).endswith(("csr", "bsr")) else "ccol_indices"
        columns = "col_indices" if rows == "crow_indices" else "row_indices"
        for name in (rows, columns, "values"):
            _strided(walk, torch, getattr(tensor, name)())
    else:
        raise Opaque("tensor of layout %s" % tensor.layout)


def _strided(walk, torch, tensor):
    if tensor.device.type == "meta":
        raise Opaque("tensor without data")
    if tensor.is_quantized:
        walk.tag("quantised", tensor.dtype, tensor.qscheme())
        if "channel" in str(tensor.qscheme()):
            for part in (tensor.q_per_channel_scales(), tensor.q_per_channel_zero_points()):
                _strided(walk, torch, part)
            walk.tag("axis", tensor.q_per_channel_axis())
        else:
            walk.tag("scale", float(tensor.q_scale()).hex(), tensor.q_zero_point())
        tensor = tensor.int_repr()
    if tensor.device.type != "cpu":
        tensor = tensor.cpu()
    if hasattr(tensor, "resolve_conj"):
        tensor = tensor.resolve_conj().resolve_neg()
    walk.tag("tensor", tensor.dtype, *tensor.shape)
    length = tensor.numel() * tensor.element_size()
    if not length:
        return
    if tensor.is_contiguous():
        walk.raw((ctypes.c_char * length).from_address(tensor.data_ptr()))
    else:
        _gather(walk, torch, tensor)


def _gather(walk, torch, tensor):
    """The bytes of a tensor that is not contiguous, copied by one thread."""
    numpy = sys.modules.get("numpy")
    width = tensor.element_size()
    if numpy is not None:
        plain = tensor
        if width in _WIDTHS and not tensor.dtype.is_complex:
            plain = tensor.view(getattr(torch, _WIDTHS[width]))
        walk.raw(numpy.ascontiguousarray(plain.numpy()).reshape(-1).view("u1"))
    elif tensor.numel() <= 16384 or tensor.dim() < 2:
        # Below torch's grain size a copy stays on the calling thread.
        copy = tensor.contiguous()
        walk.raw((ctypes.c_char * (copy.numel() * width)).from_address(copy.data_ptr()))
    else:
        for part in tensor.unbind(0):
            _gather(walk, torch, part)
