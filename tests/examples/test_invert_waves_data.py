#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the program invert_waves through its command line: data and their wavelets.

usage: test_invert_waves_data.py --program PATH [--mpirun PATH] [--modeller PATH] [names of test classes]
Exit status 77 if numpy is missing or every test was skipped.
"""

import subprocess
import sys

import support
from invert_waves_case import Case
from support import np


# ctest: quick
class Data(Case):
    def test_gathers_of_model_waves(self):
        if not self.modeller:
            self.skipTest("model_waves was not built")
        done = subprocess.run([self.modeller, "--vp", "true.npy", *self.survey, *self.shots[4:],
                               "--snapshot-every", "0", "--no-plot", "--out", "gathers"], cwd=self.folder,
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        expected = self.invert(*self.shots, "--iterations", "2", out="modelled")
        for data in ("gathers", "gathers/gather.sgy"):
            r = self.invert("--data", data, "--iterations", "2", out="read")
            change = np.linalg.norm(expected.vp - self.start)
            self.assertLess(np.linalg.norm(r.vp - expected.vp), 0.02 * change, data)
            self.assertEqual(r.summary["result"]["vp_error"], -1)
        longer = [word if word != "0.9" else "1.5" for word in self.survey]
        done = self.call("--vp", "start.npy", *longer, "--data", "gathers", "--no-plot", "--out", "longer")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("--time is 1.5 s, and the data end at 0.9", done.stderr)
        # a dead trace, or one with values that are not finite
        gather = np.load(self.path("gathers/gather_0002.npy"))
        for value, said in ((0.0, "shot 2: 1 trace is zero and left out: trace 8"),
                            (np.nan, "shot 2: trace 8 is nan at sample")):
            gather[7] = value
            np.save(self.path("gathers/gather_0002.npy"), gather)
            done = self.call("--vp", "start.npy", *self.survey, "--data", "gathers", "--iterations", "1",
                             "--no-plot", "--out", "bad")
            self.assertEqual(done.returncode, 0 if value == 0.0 else 2, done.stderr)
            self.assertIn(said, done.stdout if value == 0.0 else done.stderr)


class Checks(support.DataWavelets, support.DataChecks, Case):
    option, model = "--data", ["--vp", "start.npy"]
    survey = ["--spacing", "20", "--time", "0.8", "--boundary", "sponge:16"]
    spread = ["--source", "100,40:1100,40:2", "--receivers", "0,300:1200,300:31"]

    def setUp(self):
        super().setUp()
        # nodes carry the default wavelet
        self.save("start.npy", 2.0 * self.start)

    def test_default(self):
        said = self.plan("modelled", "--true-vp", "3000", "--source", "300,40")
        self.assertEqual(said, "ricker:15 (default)")

    def test_bands(self):
        self.model_data([], "d")
        # a period in the record, and a part of the data
        self.refuse_data("d", [*self.survey, "--bands", "1.2,8"],
                         "--bands: 1.2 Hz has a period of 0.833 s, and the record is 0.8 s",
                         "allowed: from 1.25 Hz")
        self.refuse_data("modelled", [*self.survey, "--bands", "1.2"], "--bands: 1.2 Hz has a period")
        for number in (1, 2):
            gather = np.load(self.path(f"d/gather_000{number}.npy"))
            samples = np.arange(gather.shape[1])
            np.save(self.path(f"d/gather_000{number}.npy"),
                    (np.cos(np.pi * samples) * np.hanning(gather.shape[1])
                     * np.ones_like(gather)).astype(np.float32))
        self.refuse_data("d", [*self.survey, "--bands", "3"], "--bands: below 3 Hz",
                         "of the data's amplitude is left")


class Failures(support.Overflows, Case):
    """An overflowing wavefield: shot, propagation, first step and node."""

    def said(self, *arguments):
        return self.told("start.npy", *arguments, "--iterations", "1")

    def test_the_first_step_and_node_are_named(self):
        huge = self.huge_wavelet(40.0)
        node = ": " + self.node
        self.assertRegex(self.said(*self.shots, *huge), r"data of shot 1, step \d+" + node)
        self.model_gathers()
        huge.append("--replace-wavelet")
        first = self.said("--data", "gathers/gather.sgy", *huge)
        self.assertRegex(first, r"shot 1: forward leg, step \d+" + node)
        step = int(first.split("step ")[1].split(":")[0])
        self.assertNotEqual(step % 200, 0)
        # the same overflow from a stream, and of concurrent shots
        last = first.split("forward leg, ")[1]
        self.assertIn(last, self.said("--data", "gathers/gather.sgy", *huge, "--source-field", "random",
                                      "--block", "8"))
        self.assertIn("forward leg, step ",
                      self.said("--data", "gathers/gather.sgy", *huge, "--at-once", "2"))


if __name__ == "__main__":
    sys.exit(support.main(__doc__))
