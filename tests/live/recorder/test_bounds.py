"""Enough: epochs end early, programs are stopped, and nothing of them is left."""

import unittest

from support import run


class Bounds(unittest.TestCase):
    def test_a_program_is_stopped_once_its_loaders_have_had_their_epochs(self):
        result = run("training.py", "usual")
        self.assertEqual((result.status, result.files), (0, {}), result.err)
        self.assertEqual(result.out, "0 10 0\n1 10 5\n2 10 0\n3 10 5\nleft in order\n")
        trace = result.trace
        self.assertEqual(len(trace.of("stopped")), 1)
        self.assertEqual(trace.faults(), [])
        # The test loader was never used: the program ends when training goes round again.
        self.assertEqual([r["epoch"] for r in trace.of("pass", loader=1)], [0, 1])
        self.assertEqual({r["made"] for r in trace.of("exit")}, {3})
        self.assertFalse(any(r["cut_short"] for r in trace.of("loader")))

    def test_epochs_end_after_so_many_batches(self):
        result = run("training.py", "usual", PIPEAUDIT_BATCHES="3", PIPEAUDIT_EPOCHS="1")
        self.assertEqual(result.out, "0 3 0\n1 3 3\nleft in order\n")
        trace = result.trace
        self.assertTrue(all(trace.of("loader", loader=n)[-1]["cut_short"] for n in (0, 1)))
        self.assertEqual([r["whole"] for r in trace.of("end", loader=0, epoch=0, worker=-1)], [False])
        self.assertEqual(len(trace.of("delivered", loader=0, epoch=0)), 3)

    def test_a_program_that_holds_on_is_ended(self):
        result = run("training.py", "stubborn", PIPEAUDIT_BATCHES="2", PIPEAUDIT_EPOCHS="1")
        self.assertEqual(result.status, 0, result.err)
        self.assertEqual(len(result.trace.of("stopped")), 1)

    def test_an_iterable_that_never_ends_ends_after_its_batches(self):
        result = run("training.py", "iterable", PIPEAUDIT_BATCHES="5", PIPEAUDIT_EPOCHS="1")
        self.assertEqual(result.status, 0, result.err)
        self.assertEqual(result.out, "left in order\n")
        self.assertEqual(len(result.trace.of("delivered", loader=0)), 5)

    def test_another_number_of_workers(self):
        for workers, lanes in (("0", [-1]), ("3", [0, 1, 2])):
            trace = run("training.py", "usual", PIPEAUDIT_BATCHES="4", PIPEAUDIT_WORKERS=workers).trace
            self.assertEqual(sorted({r["worker"] for r in trace.of("sample", loader=0)}), lanes)
            self.assertEqual({r["num_workers"] for r in trace.of("loader", loader=0)}, {int(workers)})


if __name__ == "__main__":
    unittest.main()
