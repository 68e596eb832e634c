"""Who seeded: the calls of `seed`, `manual_seed`, `default_rng` and their like, with their place in the program."""

import functools
import sys

from . import fault, local, process, shard, sites

_MOST_KINDS = 200
_MOST_SEEDS = 3
_held = []
_holding = True
_seen = {}


def patch_random(module):
    """`random`: the class's methods, which its constructor and the module's own functions go through."""
    _patch_method(module, "seed")
    _patch_method(module, "setstate")


def _patch_method(module, name):
    kind, hidden = module.Random, module._inst
    function = vars(kind)[name]

    @functools.wraps(function)
    def method(self, *arguments, **options):
        result = function(self, *arguments, **options)
        try:
            own = self is hidden
            construct = not own and sys._getframe(1).f_code is kind.__init__.__code__
            call = "random." + (name if own else "Random" if construct else "Random." + name)
            if own or name == "seed":
                _noted(call, arguments, options, "python" if own else None, self)
        except Exception as error:
            fault.note("random." + name, error)
        return result

    setattr(kind, name, method)
    if getattr(getattr(module, name, None), "__self__", None) is hidden:
        setattr(module, name, getattr(hidden, name))


def patch_numpy(module):
    """`numpy.random`: the module's functions; `RandomState(x)` through the name by which it makes its bit generator."""
    mtrand = sys.modules["numpy.random.mtrand"]
    own = getattr(mtrand, "_rand", None)
    for name in ("seed", "set_state"):
        _patch_function("numpy.random." + name, [(module, name), (mtrand, name)], "numpy", own)
    _patch_function("numpy.random.default_rng", [(module, "default_rng"), (sys.modules.get("numpy.random._generator"), "default_rng")])
    local.stand_in(mtrand, ("_MT19937",), "numpy.random.RandomState ")
    local.stand_in(module, ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64"), "numpy.random.")


def patch_torch(module):
    """`torch`: its functions, under both names that they have."""
    own = module.default_generator
    for name in ("manual_seed", "seed", "set_rng_state"):
        _patch_function("torch." + name, [(module, name), (sys.modules.get("torch.random"), name)], "torch", own)
    local.stand_in(module, ("Generator",), "torch.")


def _patch_function(call, places, source=None, generator=None):
    places = [(module, name) for module, name in places if hasattr(module, name)]
    function = getattr(*places[0])

    @functools.wraps(function)
    def seeded(*arguments, **options):
        result = function(*arguments, **options)
        try:
            _noted(call, arguments, options, source, result if source is None else generator)
        except Exception as error:
            fault.note(call, error)
        return result

    # Pickle finds a function by these two.
    seeded.__module__, seeded.__qualname__ = getattr(function, "__module__", None) or places[0][0].__name__, places[0][1]
    for module, name in places:
        setattr(module, name, seeded)


def _noted(call, arguments, options, source, generator):
    site = sites.caller(3)
    if site.own:
        # torch seeds every worker by itself.
        return
    local.seeded(call, site, source, generator)
    if source is None and not site.direct:
        # A library's own generator, made for its own ends.
        return
    _record(call, site, source, _seed(arguments, options))


def _seed(arguments, options):
    given = list(arguments) + list(options.values())
    if not given or given[0] is None:
        return None
    value = given[0]
    if isinstance(value, (int, float, str)) or hasattr(value, "__index__"):
        return shard.text(value)[:80]
    if isinstance(value, (list, tuple)) and len(value) <= 8:
        return shard.text(list(value))[:80]
    return type(value).__name__


def _record(call, site, source, seed):
    key = (site.where, call, source)
    if len(_seen) >= _MOST_KINDS and key not in _seen:
        return
    seeds = _seen.setdefault(key, set())
    if seed in seeds or len(seeds) >= _MOST_SEEDS:
        return
    seeds.add(seed)
    record = {"type": "seeding", "where": shard.text(site.where), "call": call}
    if source is not None:
        record["source"] = source
    record["worker"] = process.worker["id"] if process.worker else -1
    if seed is not None:
        record["seed"] = seed
    if site.via is not None and not call.endswith("." + site.via):
        record["via"] = site.via
    if _holding:
        _held.append(record)
    else:
        shard.emit(record)


def release():
    """Writes what was held back: until a loader begins, the process may not know its rank, or have no loader at all."""
    global _holding
    _holding = False
    for record in _held:
        if process.worker:
            record["worker"] = process.worker["id"]
        shard.emit(record)
    del _held[:]


def forget():
    """A worker begins: what its main process has seen is that one's to write."""
    _seen.clear()
    if not _holding:
        del _held[:]
