"""Finds the generators that can be reached from a dataset, a collate function, a sampler or an init, each with its path.

Breadth first, so a generator is named by its shortest path. Only what is stored is looked at (instance dictionaries, slots,
containers, closures, partials, bound methods, class attributes, globals of the program's modules that its functions
name): no property, `__getattr__` or `__iter__` of the program is called.
"""

import collections
import functools
import gc
import itertools
import sys
import types
import weakref

from . import sites, states

_MOST_OBJECTS = 20000
_MOST_DEPTH = 16
_MOST_PARTS = 256
_MOST_FOUND = 256
_PROBE = 32

_ATOMS = frozenset((
    str, bytes, bytearray, memoryview, int, float, complex, bool, type(None), type(Ellipsis), type(NotImplemented), range,
    slice, types.CodeType, types.FrameType, types.TracebackType, types.GetSetDescriptorType, types.MemberDescriptorType,
    types.WrapperDescriptorType, types.MethodDescriptorType, property, weakref.ref, weakref.ProxyType,
    weakref.CallableProxyType, functools.cached_property,
))
_HELD = object.__getattribute__
# Classes of these packages hold no generator of the program in their class attributes or functions.
_PASSIVE = frozenset((
    "builtins", "torch", "numpy", "typing", "abc", "collections", "functools", "enum", "threading", "multiprocessing",
    "logging", "pathlib", "os", "io", "PIL", "cv2", "pandas", "pyarrow", "scipy", "pipeaudit_recorder", "random",
))


def generators(roots, called=None):
    """[(path, generator)] reachable from `roots`, a list of (name, object); those that share their state once. `called` is
    told of each object that can be called and is no function: (path, object)."""
    return _Walk(roots, called).run()


def module_name(name):
    """A module's name in the process that first had it: a spawned worker calls the program `__mp_main__`."""
    return "__main__" if name == "__mp_main__" else name


class _Walk:
    def __init__(self, roots, called):
        self.called = called
        self.queue = collections.deque((name, value, 0) for name, value in roots)
        self.seen = set()
        self.kept = []
        self.found = []
        self.cores = set()
        self.names = set()

    def run(self):
        while self.queue and len(self.kept) < _MOST_OBJECTS and len(self.found) < _MOST_FOUND:
            path, value, depth = self.queue.popleft()
            kind = type(value)
            if kind in _ATOMS or id(value) in self.seen:
                continue
            self.seen.add(id(value))
            # What is kept cannot be freed and have its id used again during the walk.
            self.kept.append(value)
            try:
                if not self._generator(path, value) and depth < _MOST_DEPTH:
                    self._parts(path, value, kind, depth + 1)
            except Exception:
                # An object that cannot be looked into holds nothing that could be named.
                continue
        return self.found

    def _add(self, path, value, depth):
        if type(value) not in _ATOMS and id(value) not in self.seen:
            self.queue.append((path, value, depth))

    def _generator(self, path, value):
        core = states.core(value)
        if core is None:
            return False
        if id(core) not in self.cores:
            self.cores.add(id(core))
            self.kept.append(core)
            # Two that are there at once must not be taken for one that was put in the other's place.
            name, number = path, 1
            while name in self.names:
                number += 1
                name = "%s#%d" % (path, number)
            self.names.add(name)
            self.found.append((name, value))
        return True

    def _parts(self, path, value, kind, depth):
        if issubclass(kind, dict):
            self._dict(path, value, depth)
        elif issubclass(kind, (list, tuple, collections.deque, set, frozenset)):
            self._sequence(path, value, kind, depth)
        elif kind is functools.partial:
            for name, part in (("func", value.func), ("args", value.args), ("keywords", value.keywords)):
                self._add(path + "." + name, part, depth)
        elif kind is types.MethodType:
            self._add(path + ".__self__", value.__self__, depth)
            self._add(path, value.__func__, depth)
        elif kind is types.BuiltinMethodType:
            if not isinstance(value.__self__, types.ModuleType):
                self._add(path + ".__self__", value.__self__, depth)
        elif kind is types.GeneratorType:
            self._frame(path, value, depth)
        elif kind is types.FunctionType:
            self._function(path, value, depth)
        elif kind in (staticmethod, classmethod):
            self._add(path, value.__func__, depth)
        elif issubclass(kind, type):
            self._class(path, value, depth)
        elif kind is types.ModuleType:
            self._module(value, (), depth)
        elif not _is_data(kind):
            self._object(path, value, kind, depth)
        if issubclass(kind, (dict, list, tuple, set, collections.deque)) and kind.__module__ not in ("builtins", "collections"):
            self._object(path, value, kind, depth)

    def _dict(self, path, value, depth):
        for key, part in list(itertools.islice(dict.items(value), _MOST_PARTS)):
            if type(part) not in _ATOMS:
                self._add("%s[%s]" % (path, _short(key)), part, depth)

    def _sequence(self, path, value, kind, depth):
        fields = getattr(kind, "_fields", None) if issubclass(kind, tuple) else None
        parts = []
        for i, part in enumerate(kind.__iter__(value) if kind.__module__ == "builtins" else _plain_iter(value)):
            # A long list of file names, of numbers: nothing to find.
            if i >= _MOST_PARTS or (i == _PROBE and not parts):
                break
            if type(part) not in _ATOMS:
                parts.append((i, part))
        for i, part in parts:
            name = ".%s" % fields[i] if fields and i < len(fields) else "[%d]" % i
            if issubclass(kind, (set, frozenset)):
                name = "[*]"
            self._add(path + name, part, depth)

    def _object(self, path, value, kind, depth):
        if self.called is not None and hasattr(kind, "__call__"):
            self.called(path, value)
        held = dict_of(value)
        for name, part in list(held.items())[:_MOST_PARTS] if held else ():
            if type(part) in _ATOMS or not isinstance(name, str):
                continue
            # torch keeps the children of a module in dictionaries that no program names.
            inner = name in ("_modules", "_buffers", "_parameters") and type(part) is dict
            if inner and name == "_modules":
                for child, module in list(part.items())[:_MOST_PARTS]:
                    self._add("%s.%s" % (path, child), module, depth)
            elif not inner:
                self._add("%s.%s" % (path, name), part, depth)
        for klass in kind.__mro__:
            if klass.__module__.partition(".")[0] not in _PASSIVE:
                for name in slots(klass):
                    self._add("%s.%s" % (path, name), slot(klass, name, value), depth)
                self._class(path, klass, depth, held or ())

    def _frame(self, path, iterator, depth):
        """Local variables of a generator function that waits at a yield: what an iterable dataset's `__iter__` draws on."""
        frame = iterator.gi_frame
        if frame is None or iterator.gi_running:
            return
        held = dict(frame.f_locals)
        if sys.version_info < (3, 13):
            # A copy that the frame would keep, and with it the objects in it.
            frame.f_locals.clear()
        for name, part in held.items():
            self._add("%s.%s" % (path, name), part, depth)
        # Iterators that the function itself runs through stand on its stack, without a name.
        for part in gc.get_referents(iterator, frame):
            if type(part) is types.GeneratorType:
                self._add(path, part, depth)

    def _class(self, path, klass, depth, hidden=()):
        """Class attributes are reached through the object as its own are, unless it hides them by one of its own; methods
        for the globals that they name."""
        if klass.__module__.partition(".")[0] in _PASSIVE or ("class", id(klass)) in self.seen:
            return
        self.seen.add(("class", id(klass)))
        for name, part in list(vars(klass).items()):
            if name.startswith("__") and name.endswith("__") and type(part) is not types.FunctionType:
                continue
            if type(part) is property:
                part = part.fget
            self._add("%s.%s" % (klass.__qualname__ if name in hidden else path, name), part, depth)

    def _function(self, path, function, depth):
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
            try:
                self._add("%s.%s" % (path, name), cell.cell_contents, depth)
            except ValueError:
                pass
        for i, part in enumerate(function.__defaults__ or ()):
            arguments = function.__code__.co_varnames[:function.__code__.co_argcount]
            self._add("%s.%s" % (path, arguments[len(arguments) - len(function.__defaults__) + i]), part, depth)
        for name, part in (function.__kwdefaults__ or {}).items():
            self._add("%s.%s" % (path, name), part, depth)
        for name, part in function.__dict__.items():
            self._add("%s.%s" % (path, name), part, depth)
        self._globals(function, depth)

    def _globals(self, function, depth):
        """Globals that the function names: generators of any module, other things of the program's own."""
        scope = function.__globals__
        if str(scope.get("__name__", "")).partition(".")[0] in _PASSIVE:
            return
        user = not sites.is_library(scope.get("__file__") or function.__code__.co_filename)
        module = module_name(str(scope.get("__name__", "?")))
        names = _names(function.__code__)
        for name in names:
            part = scope.get(name)
            if part is None or type(part) in _ATOMS:
                continue
            if type(part) is types.ModuleType:
                if user and not sites.is_library(getattr(part, "__file__", None) or "<"):
                    self._module(part, names, depth)
            elif user or states.core(part) is not None:
                self._add("%s.%s" % (module, name), part, depth)

    def _module(self, module, names, depth):
        """Generators among a module's globals, and whatever of them `names` names."""
        for name, part in list(vars(module).items()):
            if type(part) in _ATOMS or type(part) is types.ModuleType:
                continue
            if name in names or states.core(part) is not None:
                self._add("%s.%s" % (module_name(module.__name__), name), part, depth)


def _names(code):
    """Global names that a function uses, in the functions inside it too; in a fixed order."""
    names = dict.fromkeys(code.co_names)
    for constant in code.co_consts:
        if type(constant) is types.CodeType:
            names.update(dict.fromkeys(_names(constant)))
    return list(names)


def _plain_iter(value):
    for base in (list, tuple, collections.deque, frozenset, set):
        if isinstance(value, base):
            return base.__iter__(value)
    return iter(())


def dict_of(value):
    """An object's own dictionary, without asking the object."""
    try:
        held = _HELD(value, "__dict__")
    except (AttributeError, TypeError):
        return None
    return held if type(held) is dict else None


def slots(klass):
    slots = vars(klass).get("__slots__", ())
    names = (slots,) if isinstance(slots, str) else tuple(slots)
    return [name for name in names if isinstance(name, str) and name not in ("__dict__", "__weakref__")]


def slot(klass, name, value):
    if name.startswith("__") and not name.endswith("__"):
        name = "_%s%s" % (klass.__name__.lstrip("_"), name)
    member = vars(klass).get(name)
    if type(member) is not types.MemberDescriptorType:
        return None
    try:
        return member.__get__(value, type(value))
    except AttributeError:
        return None


def _is_data(kind):
    """Tensors, arrays and images: large, and no home of generators."""
    torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
    tensor, array = getattr(torch, "Tensor", None), getattr(numpy, "ndarray", None)
    return (isinstance(tensor, type) and issubclass(kind, tensor)) or (isinstance(array, type) and issubclass(kind, array))


def _short(key):
    if isinstance(key, (str, int, bool)):
        text = repr(key)
        return text if len(text) <= 40 else text[:37] + "..."
    return type(key).__name__
