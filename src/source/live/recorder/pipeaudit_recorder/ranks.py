"""Which rank of a distributed job this process is: what torch.distributed says, then the launcher's variables, then
`--rank` on the command line."""

import os
import sys

_VARIABLES = (
    ("RANK", "WORLD_SIZE"),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("PMI_RANK", "PMI_SIZE"),
    ("SLURM_PROCID", "SLURM_NTASKS"),
)


def _whole(value):
    try:
        number = int(value)
    except (TypeError, ValueError):
        return None
    return number if 0 <= number < 2**31 else None


def _distributed():
    module = sys.modules.get("torch.distributed")
    if module is None:
        return None
    try:
        if module.is_available() and module.is_initialized():
            return int(module.get_rank()), int(module.get_world_size())
    except Exception:
        pass
    return None


def _environment():
    for rank_name, size_name in _VARIABLES:
        rank, size = _whole(os.environ.get(rank_name)), _whole(os.environ.get(size_name))
        if rank is not None and size is not None and rank < size:
            return rank, size
    return None


def _option(*names):
    arguments = list(getattr(sys, "argv", None) or [])
    for i, argument in enumerate(arguments):
        name, _, value = argument.partition("=")
        if name.lstrip("-").replace("-", "_") in names and name.startswith("--"):
            return _whole(value or (arguments[i + 1] if i + 1 < len(arguments) else None))
    return None


def find():
    """(rank, world size); (0, 1) where there is no distributed job."""
    known = _distributed() or _environment()
    if known:
        return known
    rank = _option("rank", "node_rank", "global_rank")
    if rank is None:
        return 0, 1
    size = _option("world_size", "num_ranks", "nproc")
    return rank, max(size or 0, rank + 1)
