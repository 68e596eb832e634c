"""The record of this process: rank, versions, cores, and whose worker it is."""

import os
import sys

from . import ranks, settings, shard

_LIBRARIES = (
    "torch", "torchvision", "numpy", "PIL", "albumentations", "monai", "kornia", "torchio", "lightning",
    "pytorch_lightning", "timm", "torchdata", "webdataset", "datasets", "accelerate", "transformers", "cv2",
)

# Set in a worker, by what its main process told it: rank, world_size, parent.
worker = None
_last = None


def _cores():
    """Cores that this process may use: the affinity mask, cut by a cgroup's quota."""
    try:
        cores = float(len(os.sched_getaffinity(0)))
    except (AttributeError, OSError):
        cores = float(os.cpu_count() or 1)
    try:
        with open("/sys/fs/cgroup/cpu.max") as file:
            quota, period = file.read().split()[:2]
        if quota != "max":
            cores = min(cores, int(quota) / int(period))
    except (OSError, ValueError):
        pass
    return round(cores, 2)


def _libraries():
    versions = {}
    for name in _LIBRARIES:
        version = getattr(sys.modules.get(name), "__dict__", {}).get("__version__")
        if version is not None:
            versions[name] = shard.text(version)
    return versions


def _record():
    rank, world_size = (worker["rank"], worker["world_size"]) if worker else ranks.find()
    record = {"type": "process", "format": 1, "run": shard.text(settings.RUN), "rank": rank, "world_size": world_size}
    record["role"] = "worker" if worker else "main"
    record["host"] = shard.text(os.uname().nodename) if hasattr(os, "uname") else ""
    record["pid"] = os.getpid()
    if worker:
        record["parent"] = worker["parent"]
    record["python"] = "%d.%d.%d" % sys.version_info[:3]
    record["libraries"] = _libraries()
    record["cores"] = _cores()
    return record


def line():
    """The first line of a shard."""
    global _last
    record = _record()
    _last = (os.getpid(), record["rank"], record["world_size"], record["role"], record["libraries"])
    return shard.dumps(record)


def renew():
    """Writes the record again where rank, role or libraries have changed since: it holds from there on."""
    if _last is None or _last[0] != os.getpid():
        return
    record = _record()
    if _last[1:] != (record["rank"], record["world_size"], record["role"], record["libraries"]):
        shard.line(line())
