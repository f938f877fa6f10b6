#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the program stream_waves through its command line: groups of devices, and ranks.

usage: test_stream_waves_ranks.py --program PATH [--modeller PATH of model_waves] [--mpirun PATH]
           [names of test classes]
Exit status 77 if numpy is missing or every test was skipped.
"""

import os
import sys

import support
from stream_waves_case import Case, Results
from support import np


# ctest: quick
class Groups(Case):
    """Several chains: their shots have the bits of one device."""

    survey = ["--vp", "v.npy", "--spacing", "10", "--time", "0.15", "--source", "100,20:2500,33:3",
              "--receivers", "0,20:2600,20:31; 1301,211", "--space", "serial"]
    tti = ["--epsilon", "0.2", "--delta", "0.08", "--theta", "0.5", "--boundary", "sponge:12,top=free"]

    def setUp(self):
        super().setUp()
        rng = np.random.default_rng(8)
        self.save("v.npy", (1900.0 + rng.uniform(0, 300, (261, 31))).astype(np.float32))

    def same(self, a, b):
        self.assertEqual(len(a.gathers), len(b.gathers))
        for one, other in zip(a.gathers, b.gathers):
            self.assertGreater(np.abs(other).max(), 0.0)
            np.testing.assert_array_equal(one, other)
        np.testing.assert_array_equal(a.wavefield(), b.wavefield())
        with open(a.folder + "/gather.sgy", "rb") as one, open(b.folder + "/gather.sgy", "rb") as other:
            self.assertEqual(one.read(), other.read())

    def test_traces_are_counted(self):
        survey = [*self.survey[:4], "--time", "1", "--dt", "0.001", "--source", "100,20:2500,33:4",
                  "--receivers", "0,20:2600,20:2001", "--space", "serial"]
        for more in (["--devices", "4", "--groups", "4"], ["--devices", "4", "--groups", "2"]):
            self.assert_memory_is_planned(*survey, *more, "--block", "8")

    def test_chains_in_one_process(self):
        for medium in ([], self.tti):
            whole = self.stream(*self.survey, *medium, out="whole")
            for devices, groups, way in ((2, 2, []), (4, 2, ["--block", "8", "--updates", "2"]),
                                         (5, 2, ["--block", "3"]), (3, 3, ["--device-memory", "400K"])):
                with self.subTest(devices=devices, groups=groups, tti=medium != []):
                    r = self.stream(*self.survey, *medium, "--devices", devices, "--groups", groups, *way)
                    self.same(r, whole)
                    plan = r.stream["plan"]
                    self.assertEqual((plan["chains"], plan["devices"], plan["in_core"]),
                                     (groups, devices // groups, False))
                    self.assertEqual(r.summary["run"]["expand"]["points"],
                                     whole.summary["run"]["expand"]["points"])
        self.assertIn("note: 1 of 5 devices has nothing to do",
                      self.stream(*self.survey, "--devices", 5, "--groups", 2).text)

    def test_a_chain_that_would_be_too_long_is_cut(self):
        # 309 planes: chains of rings of 16 and more positions, and passes of the requested number of stages
        whole = self.stream(*self.survey, out="whole")
        r = self.stream(*self.survey, "--devices", 4, "--block", "16", "--updates", "14")
        plan = r.stream["plan"]
        self.assertEqual((plan["chains"], plan["devices"]), (1, 3))
        self.assertIn("3 devices in a chain", r.text)
        self.assertIn("note: 1 of 4 devices has nothing to do", r.text)
        self.same(r, whole)

    def test_expanding_domains(self):
        more = ["--expand", "layers", "--boundary", "sponge:20"]
        whole = self.stream(*self.survey, *more, out="whole")
        self.same(self.stream(*self.survey, *more, "--devices", 4, "--groups", 2, "--block", 8, "--updates",
                              3), whole)

    def test_some_shots_are_there(self):
        whole = self.stream(*self.survey, out="whole")
        way = ["--devices", 4, "--groups", 2, "--block", 8, "--updates", 3]
        self.stream(*self.survey, *way)
        for number in (1, 3):
            os.remove(self.path(f"out/gather_{number:04d}.npy"))
        r = self.stream(*self.survey, *way, "--resume")
        self.assertIn("1 of 3 shots are complete", r.text)
        self.assertEqual([one.stream["measured"]["shots"] for one in (whole, r)], [3, 2])
        self.same(r, whole)

    def test_bad_input(self):
        self.refuse([*self.survey, "--groups", "0"], "--groups", "0")
        self.refuse([*self.survey, "--groups", "many"], "--groups", "many")
        self.refuse([*self.survey, "--devices", "3", "--groups", "4"],
                    "--groups is 4 (allowed: 1 to 3, the devices)")
        self.refuse([*self.survey, "--groups", "2"], "--groups is 2 (allowed: 1 to 1, the devices)")
        self.refuse([*self.survey, "--devices", "2", "--groups", "2", "--host-volume", "volume"],
                    "--groups is 2 (allowed: 1 with a volume in a file")
        self.assertFalse(os.path.exists(self.path("volume")))


class Ranks(Groups):
    """Under mpirun each rank is a device: the bits of one process, for all numbers of ranks and groups."""

    test_chains_in_one_process = test_a_chain_that_would_be_too_long_is_cut = None

    def same_among_ranks(self, whole, ranks, chains, devices, *arguments):
        with self.subTest(ranks=ranks, arguments=arguments):
            r = self.many(ranks, *self.survey, *arguments)
            self.same(r, whole)
            plan = r.stream["plan"]
            self.assertEqual((plan["chains"], plan["devices"]), (chains, devices))
            self.assertEqual((r.summary["ranks"], r.summary["run"]["expand"]["points"]),
                             (ranks, whole.summary["run"]["expand"]["points"]))
            self.assertEqual(sorted(r.summary["files"]), sorted(whole.summary["files"]))

    def many(self, ranks, *arguments, out="many"):
        return Results(*self.succeed(*arguments, out=out, ranks=ranks))

    def test_same_bits(self):
        self.needs_mpirun()
        whole = self.stream(*self.survey, out="whole")
        # each rank holds the model
        self.same_among_ranks(whole, 3, 3, 1)
        # chains
        self.same_among_ranks(whole, 2, 1, 2, "--groups", 1, "--block", 24, "--updates", 5)
        self.same_among_ranks(whole, 3, 1, 3, "--device-memory", "1M", "--block", 16, "--updates", 3)
        # groups of ranks
        self.same_among_ranks(whole, 4, 2, 2, "--groups", 2, "--block", 13, "--updates", 6)
        self.same_among_ranks(whole, 2, 2, 1, "--groups", 2, "--device-memory", "500K")
        # a chain of all would be longer than the volume
        self.same_among_ranks(whole, 4, 1, 3, "--device-memory", "4M", "--block", 16, "--updates", 14)

    def test_media(self):
        self.needs_mpirun()
        rng = np.random.default_rng(2)
        self.save("rho.npy", (2000.0 + rng.uniform(0, 100, (261, 31))).astype(np.float32))
        for more in (self.tti, ["--rho", "rho.npy"],
                     ["--epsilon", "0.2", "--delta", "0.08", "--boundary", "cpml:10"],
                     ["--precision", "double", "--boundary", "cpml:8,top=free,bottom=rigid"]):
            whole = self.stream(*self.survey, *more, out="whole")
            self.same_among_ranks(whole, 2, 1, 2, "--groups", 1, "--block", 24, "--updates", 6, *more)

    def test_one_shot_goes_through_all(self):
        self.needs_mpirun()
        survey = [*self.survey[:7], "1300,40", *self.survey[8:]]
        whole = self.stream(*survey, out="whole")
        r = self.many(3, *survey, "--block", 16)
        self.same(r, whole)
        self.assertEqual((r.stream["plan"]["chains"], r.stream["plan"]["devices"]), (1, 3))
        self.assertGreater(r.stream["measured"]["bytes_in"], 0)
        with open(self.path("many/timeline.json"), encoding="utf-8") as file:
            self.assertIn("steps", file.read())

    def test_expanding_domains(self):
        self.needs_mpirun()
        more = ["--expand", "layers", "--boundary", "sponge:20"]
        whole = self.stream(*self.survey, *more, out="whole")
        self.same_among_ranks(whole, 2, 1, 2, *more, "--groups", 1, "--block", 20, "--updates", 5)

    def test_some_shots_are_there(self):
        self.needs_mpirun()
        whole = self.stream(*self.survey, out="whole")
        way = ["--groups", 2, "--block", 24, "--updates", 5]
        self.many(2, *self.survey, *way)
        for number in (1, 3):
            os.remove(self.path(f"many/gather_{number:04d}.npy"))
        r = self.many(4, *self.survey, *way, "--resume")
        self.assertIn("1 of 3 shots are complete", r.text)
        self.same(r, whole)

    def test_only_the_plan(self):
        self.needs_mpirun()
        done = self.call(*self.survey, "--groups", 1, "--block", 8, "--plan", "--no-plot", "--out", "out",
                         ranks=2)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.count("stream    blocks of 8 planes"), 1)
        self.assertIn("2 devices in a chain", done.stdout)
        self.assertFalse(os.path.exists(self.path("out")))

    def test_bad_input(self):
        self.needs_mpirun()
        for ranks, more, words in (
                (2, ["--devices", "3"], ["--devices is 3, and there are 2 ranks (allowed: 2"]),
                (2, ["--groups", "3"], ["--groups is 3 (allowed: 1 to 2, the devices)"]),
                (2, ["--host-volume", "volume"],
                 ["--host-volume: volume is for one process, and there are 2 ranks"]),
                (2, ["--dt", "0.5"], ["--dt: dt is 0.5 s"]),
                (2, ["--groups", "1", "--block", "1000"], ["--block is 1000"]),
                (2, ["--groups", "1", "--device-memory", "9K"],
                 ["--device-memory: ", "does not hold the planes of one stage"]),
                (2, ["--groups", "1", "--block", "8", "--lag", "3"], ["--lag is 3"])):
            with self.subTest(more=more):
                # one message, for any output of mpirun
                self.refuse([*self.survey, *more], *words, ranks=ranks)
        self.assertFalse(os.path.exists(self.path("volume")))

    def test_a_rank_that_fails_ends_all(self):
        self.needs_mpirun()
        # amplitudes that overflow after the source has been active for a while
        t = np.arange(101) * 0.0015
        np.savetxt(self.path("wavelet.txt"), np.column_stack([t, 1e42 * np.sin(133.0 * t) * np.hanning(101)]))
        arguments = [*self.survey, "--wavelet", "file:wavelet.txt"]
        one = self.call(*arguments, "--no-plot", "--out", "one")
        self.assertEqual(one.returncode, 1, one.stderr)
        said = next(line for line in one.stderr.splitlines() if "no longer finite" in line)
        self.assertIn("the wavefield p is no longer finite at node (", said)
        many = self.call(*arguments, "--groups", 1, "--block", 8, "--updates", 5, "--no-plot", "--out",
                         "many", ranks=2)
        self.assertEqual(many.returncode, one.returncode)
        self.assertEqual(many.stderr.count("the wavefield p is no longer finite"), 1, many.stderr)
        self.assertIn(said, many.stderr)


if __name__ == "__main__":
    sys.exit(support.main(__doc__))
