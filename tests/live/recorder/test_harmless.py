"""A program is the same with the recorder as without it: output, status, random numbers, files."""

import os
import pathlib
import sys
import tempfile
import unittest

from support import PROGRAMS, RECORDER, run


class Harmless(unittest.TestCase):
    maxDiff = None

    def _same(self, program, *arguments, **options):
        without = run(program, *arguments, recorded=False, **options)
        recorded = run(program, *arguments, PIPEAUDIT_WHOLE="1", **options)
        self.assertEqual((without.status, without.out, without.err, without.files),
                         (recorded.status, recorded.out, recorded.err, recorded.files))
        self.assertEqual(recorded.trace.faults(), [])
        return recorded

    def test_a_program_without_workers_is_the_same(self):
        recorded = self._same("harmless.py", "main")
        self.assertEqual(recorded.status, 7)
        self.assertEqual(len(recorded.trace.samples(0, 1, -1)), 24)

    def test_forked_workers_are_the_same(self):
        self._same("harmless.py", "fork")

    def test_spawned_workers_are_the_same(self):
        recorded = self._same("harmless.py", "spawn")
        self.assertEqual(len(recorded.trace.samples(0, 1, 0)) + len(recorded.trace.samples(0, 1, 1)), 24)

    def test_workers_of_a_fork_server_are_the_same(self):
        self._same("harmless.py", "forkserver")

    def test_the_error_of_a_worker_reads_as_without_the_recorder(self):
        recorded = self._same("broken.py")
        self.assertIn("no sample 5", recorded.out)

    def test_a_hidden_sitecustomize_runs_first_and_may_fail(self):
        for text in ("print('hidden', __name__)", "raise RuntimeError('of its own')"):
            with tempfile.TemporaryDirectory() as folder:
                pathlib.Path(folder, "sitecustomize.py").write_text(text)
                recorded = self._same("broken.py", PYTHONPATH=folder)
                self.assertTrue(recorded.trace.of("sample"))

    def test_the_module_search_path_is_what_it_would_have_been(self):
        command = [sys.executable, "-c", "import sys; print([p for p in sys.path if 'recorder' in p])"]
        self.assertEqual(run("broken.py", command=command).out, "[]\n")

    def test_a_python_that_uses_no_torch_writes_no_shard(self):
        result = run("broken.py", command=[sys.executable, "-c", "import random; random.seed(1); print(random.Random(2).random())"])
        self.assertEqual((result.status, result.trace.records, result.trace.attached), (0, [], 1))

    def test_a_folder_that_is_gone_stops_the_recording_only(self):
        without = run("broken.py", recorded=False)
        recorded = run("broken.py", recorded=False, PYTHONPATH=str(RECORDER), PIPEAUDIT_TRACE=os.path.join(str(PROGRAMS), "not-there"))
        self.assertEqual((without.status, without.out, without.err), (recorded.status, recorded.out, recorded.err))


if __name__ == "__main__":
    unittest.main()
