"""Runs programs with and without the recorder, and reads what it wrote. Standard library only."""

import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
RECORDER = HERE.parents[2] / "src" / "source" / "live" / "recorder"
PROGRAMS = HERE / "programs"
# A program that hangs fails its test instead of the whole run.
TIMEOUT_SECONDS = 240

if str(RECORDER) not in sys.path:
    sys.path.insert(0, str(RECORDER))

Result = collections.namedtuple("Result", "status out err files trace")


def run(program, *arguments, recorded=True, command=None, **environment):
    """Runs a program of `programs/` in an empty folder; its output, status, the files that it left, and the trace."""
    with tempfile.TemporaryDirectory() as work, tempfile.TemporaryDirectory() as trace:
        env = {name: value for name, value in os.environ.items() if not name.startswith("PIPEAUDIT")}
        env.update(PYTHONHASHSEED="0", OMP_NUM_THREADS="1", **environment)
        env["PYTHONPATH"] = env.get("PYTHONPATH", "")
        if recorded:
            env["PIPEAUDIT_TRACE"] = trace
            env["PYTHONPATH"] = os.pathsep.join(p for p in (str(RECORDER), env["PYTHONPATH"]) if p)
        line = [*(command or [sys.executable]), str(PROGRAMS / program), *arguments]
        done = subprocess.run(line, cwd=work, env=env, capture_output=True, text=True, timeout=TIMEOUT_SECONDS)
        files = {str(p.relative_to(work)): p.read_bytes() for p in sorted(pathlib.Path(work).rglob("*")) if p.is_file()}
        return Result(done.returncode, done.stdout, done.stderr, files, Trace(trace) if recorded else None)


class Trace:
    """The records of a run, with passes renumbered to epochs as README.md says."""

    def __init__(self, folder):
        self.records = []
        self.attached = len(list(pathlib.Path(folder).glob("*.attached")))
        for path in sorted(pathlib.Path(folder).glob("*.jsonl")):
            process = None
            for line in path.read_text().splitlines():
                record = json.loads(line)
                process = record if record["type"] == "process" else process
                record["process"] = process
                self.records.append(record)

    def of(self, kind, **wanted):
        """Records of a type with these fields."""
        return [r for r in self.records if r["type"] == kind and all(r.get(k) == v for k, v in wanted.items())]

    def samples(self, loader, epoch, worker):
        """Samples of a lane in their order."""
        return sorted(self.of("sample", loader=loader, epoch=epoch, worker=worker), key=lambda r: r["seq"])

    def faults(self):
        """What the recorder says it could not do."""
        return ["%s: %s" % (r["where"], r["message"]) for r in self.of("fault")]


def ready():
    """What activation does for a process, for tests that use the package's modules directly."""
    from pipeaudit_recorder import sites

    sites.read()


ready()
