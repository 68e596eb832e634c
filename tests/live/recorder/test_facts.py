"""What the trace says against what the programs themselves say, and against what is known of each trap."""

import json
import unittest

from support import run

KEYS, SAMPLES, SEVERAL, SUBSETS, SUBSET, NESTED, LOCAL, RESTORED, STREAMED, COLLATED, LISTS, ANEW, PAIR, PAIR_TOO, ENDLESS = range(15)


class Witness(unittest.TestCase):
    """States, indices, batches and order against a dataset that asks the libraries' own getters."""

    def _check(self, *arguments):
        result = run("witness.py", *arguments, PIPEAUDIT_WHOLE="1")
        self.assertEqual(result.status, 0, result.err)
        trace = result.trace
        self.assertEqual(trace.faults(), [])
        told = [json.loads(line) for line in result.out.splitlines()]
        self.assertEqual(len(told), 60)
        lanes = {}
        for one in told:
            lanes.setdefault((one["epoch"], one["worker"]), []).append(one)
        for (epoch, worker), samples in lanes.items():
            streams = {r["source"]: r["state"] for r in trace.of("stream", loader=0, epoch=epoch, worker=worker)}
            self.assertEqual(set(streams), {"python", "numpy", "torch", "dataset.held"})
            if samples[0]["start"] is not None and epoch == 0:
                self.assertEqual(streams, samples[0]["start"])
            recorded = trace.samples(0, epoch, worker)
            self.assertEqual([r["index"] for r in recorded], [one["index"] for one in samples])
            self.assertEqual([r["batch"] for r in recorded], [one["batch"] for one in samples])
            stand = streams
            for record, one in zip(recorded, samples):
                stand.update(record.get("before", {}))
                stand.update(record.get("states", {}))
                if worker == -1:
                    # Between two samples the program draws too; of that the trace tells where a sample moved the source.
                    stand = record["states"]
                self.assertEqual(stand, {name: one["after"][name] for name in stand}, (epoch, worker, record["seq"]))
            self.assertEqual(trace.of("end", loader=0, epoch=epoch, worker=worker)[0]["samples"], len(samples))
        for epoch in range(2):
            delivered = [r["batch"] for r in trace.of("delivered", loader=0, epoch=epoch)]
            self.assertEqual(delivered, list(range(8)))
        self.assertEqual([(r["pass"], r["epoch"]) for r in trace.of("pass")], [(0, 0), (1, 1)])

    def test_in_the_main_process(self):
        self._check("main")

    def test_in_forked_workers(self):
        self._check("fork")

    def test_in_spawned_workers_that_live_on(self):
        self._check("spawn", "persistent")

    def test_in_workers_of_a_fork_server(self):
        self._check("forkserver")


class Traps(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        result = run("traps.py", PIPEAUDIT_WHOLE="1")
        assert result.status == 0, result.err
        cls.trace = result.trace

    def indices(self, loader, epoch, worker=-1):
        return [r.get("index") for r in self.trace.samples(loader, epoch, worker)]

    def test_nothing_went_wrong(self):
        self.assertEqual(self.trace.faults(), [])

    def test_every_kind_of_key_is_an_index(self):
        self.assertEqual(self.indices(KEYS, 1)[:9], ["a", "b\\udc80", "x", "(t, 1)", 7, 8, "0:4:2", "2.5", None])
        self.assertTrue(self.indices(KEYS, 1)[9].startswith("key "))
        self.assertEqual(self.indices(LISTS, 1), ["(0, 1, 2, 3)", "(4, 5, 6, 7)", "(8, 9, 10, 11)"])

    def test_every_kind_of_sample_has_a_digest_or_is_opaque(self):
        opaque = [r["index"] for r in self.trace.samples(SAMPLES, 1, -1) if "output" not in r]
        self.assertEqual(opaque, [6, 12, 13])

    def test_a_peek_is_no_epoch(self):
        for loader in range(LISTS + 1):
            passes = [(r["pass"], r["epoch"]) for r in self.trace.of("pass", loader=loader)]
            self.assertEqual(passes, [(1, 0), (2, 1)], loader)

    def test_getitems_is_called_where_the_dataset_has_it(self):
        self.assertEqual(self.indices(SEVERAL, 1, 0), list(range(12)))
        joint = self.trace.samples(SEVERAL, 1, 0)
        self.assertEqual([r["joint"] for r in joint], [5] * 10 + [2] * 2)
        self.assertEqual([r["seq"] for r in joint if "states" in r], [4, 9, 11])

    def test_subsets_are_resolved_to_the_indices_behind_them(self):
        self.assertEqual(self.indices(SUBSETS, 1), [5, 3])
        self.assertEqual(self.indices(SUBSET, 1), [2, 0, 3])
        loader = self.trace.of("loader", loader=SUBSET)[0]
        self.assertEqual((loader["length"], loader["base_length"], loader["subset"]), (3, 4, True))
        # torch's own Subset hands its samples on one by one.
        self.assertTrue(all("python" in r["states"] and "joint" not in r for r in self.trace.samples(SUBSET, 1, -1)))

    def test_a_loader_within_a_sample_is_part_of_the_sample(self):
        samples = self.trace.samples(NESTED, 1, 0)
        self.assertEqual(len(samples), 8)
        self.assertTrue(all("python" in r["states"] for r in samples))
        self.assertEqual({r["dataset"] for r in self.trace.of("loader", loader=NESTED)}, {"Nested"})

    def test_local_generators_by_their_place(self):
        samples = self.trace.samples(LOCAL, 1, 0)
        lines = sorted({name for r in samples for name in r["states"] if name.startswith("local:")})
        self.assertEqual(len(lines), 4)
        states = [[r["states"][name] for r in samples] for name in lines]
        # By index, one seed, one seed, one seed for the global generator.
        self.assertEqual([len(set(column)) for column in states], [8, 1, 1, 1])

    def test_a_source_reset_to_one_state_is_listed_each_time(self):
        self.assertEqual(len({r["states"]["torch"] for r in self.trace.samples(LOCAL, 1, 0)}), 1)

    def test_a_generator_that_is_put_back_has_not_moved(self):
        samples = self.trace.samples(RESTORED, 1, -1)
        self.assertTrue(all("torch" not in r["states"] for r in samples))
        self.assertEqual(len({tuple(r["states"].values()) for r in samples}), 6)

    def test_a_generator_that_is_made_late_and_kept_is_a_source_from_its_first_state(self):
        stream, = self.trace.of("stream", loader=LOCAL, epoch=1, source="dataset.lazy")
        import numpy as np
        from pipeaudit_recorder import states

        reader = states.reader(np.random.default_rng(9).bit_generator)
        self.assertEqual(stream["state"], reader.state(reader.read()))

    def test_an_iterator_draws_on_its_own_generator(self):
        for worker in (0, 1):
            samples = self.trace.samples(STREAMED, 1, worker)
            self.assertEqual([list(r["states"]) for r in samples], [["iterator.rng"]] * 6)
            self.assertTrue(all("index" not in r for r in samples))

    def test_draws_while_collating_belong_to_the_batch(self):
        batches = self.trace.of("batch", loader=COLLATED, epoch=1)
        self.assertEqual([list(r["states"]) for r in batches], [["collate_fn.func.rng"]] * 2)
        self.assertTrue(all("collate_fn.func.rng" not in r["states"] for r in self.trace.samples(COLLATED, 1, -1)))
        self.assertTrue(all("derived" not in r for r in batches))

    def test_what_the_training_loop_draws_stands_before_the_sample(self):
        # torch moves between two batches of this loader and within none of its samples.
        self.assertFalse(any("torch" in r.get("states", {}) for r in self.trace.samples(SUBSET, 1, -1)))

    def test_a_loader_made_anew_for_each_epoch_keeps_its_number(self):
        self.assertEqual([r["epoch"] for r in self.trace.of("pass", loader=ANEW)], [0, 1])

    def test_loaders_of_one_line_that_live_together_are_told_apart(self):
        one, = self.trace.of("loader", loader=PAIR)
        other, = self.trace.of("loader", loader=PAIR_TOO)
        self.assertEqual((one["where"], one["batch_size"], other["batch_size"]), (other["where"], 2, 4))

    def test_a_loop_that_breaks_off_is_not_whole(self):
        ends = {r["epoch"]: r["whole"] for r in self.trace.of("end", loader=PAIR)}
        self.assertEqual(ends, {0: False, 1: False})
        self.assertEqual([(r["pass"], r["epoch"]) for r in self.trace.of("pass", loader=PAIR)], [(0, 0)])

    def test_an_endless_pass_is_one(self):
        self.assertEqual(len(self.trace.of("pass", loader=ENDLESS)), 1)
        self.assertEqual(len(self.trace.of("delivered", loader=ENDLESS)), 6)

    def test_who_seeded_is_known(self):
        where = {(r["call"], r["where"].split(":")[0], r["worker"]) for r in self.trace.of("seeding")}
        self.assertIn(("torch.manual_seed", "programs/traps.py", -1), where)
        self.assertIn(("torch.manual_seed", "programs/traps.py", 0), where)
        self.assertIn(("numpy.random.default_rng", "programs/traps.py", 0), where)


if __name__ == "__main__":
    unittest.main()
