#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of trial models of invert_waves that cannot be stepped, because of contrasts of their density.

usage: test_failed_trials.py --program PATH [--mpirun PATH] [names of test classes]
Exit status 77 if numpy is missing or every test was skipped.
"""

import math
import os
import signal
import subprocess
import sys

import invert_waves_case
import support
from support import np


# ctest: cost 8
class FailedTrials(support.Case):
    """The first step changes densities by factors up to 20, within bounds that are wide."""

    survey = ["--vp", "2000", "--true-vp", "2000", "--shape", "31,21", "--spacing", "20", "--rho", "2000",
              "--true-rho", "true_rho.npy", "--data", "modelled", "--source", "200,40:400,40:3",
              "--receivers", "0,20:600,20:16", "--wavelet", "ricker:6", "--time", "0.4", "--boundary",
              "sponge:16", "--parameters", "vp,rho", "--iterations", "4", "--first-change", "3"]
    # bounds, reason of the first failure
    failures = [("vp:1900:2100,rho:500:16000", "differ by a ratio of "),
                ("vp:1900:2100,rho:1000:15900", "dt is 0.00")]
    results = ["vp.npy", "rho.npy", "gradient_rho.npy", "illumination.npy"]

    def setUp(self):
        super().setUp()
        rho = np.full((31, 21), 2000.0, dtype=np.float32)
        rho[10:21, 11] = 2600.0
        self.save("true_rho.npy", rho)

    def invert(self, *arguments, out="out", **more):
        return invert_waves_case.Results(*self.succeed(*self.survey, *arguments, out=out, **more))

    def test_the_step_is_shortened(self):
        for bounds, reason in self.failures:
            done = self.invert("--bounds", bounds)
            self.assertRegex(done.text, rf"\(a trial\), the step is shortened: .*{reason}")
            failed = [row for row in done.history if math.isinf(row["misfit"])]
            self.assertGreater(len(failed), 0)
            for row in failed:
                self.assertEqual((row["taken"], row["relative_misfit"], row["points"]), (0.0, math.inf, 0.0))
            self.assertEqual(done.summary["result"]["iterations"], 4)
            self.assertLess(done.relative, 0.9)
            self.assertGreater(np.ptp(done.load("rho.npy")), 1.0)
            self.assertGreater(done.load("illumination.npy").max(), 0.0)

    # History and illumination of a run that goes on after a failed trial.
    def test_resumed_runs_have_the_same_bits(self):
        # a run that does not end before it is killed
        self.survey = [{"0.4": "4", "4": "12"}.get(word, word) for word in self.survey]
        arguments = ["--bounds", self.failures[0][0]]
        whole = self.invert(*arguments, out="whole")
        with subprocess.Popen([self.program, *self.survey, *arguments, "--no-plot", "--out", "part"],
                              cwd=self.folder, stdout=subprocess.PIPE, text=True) as process:
            for line in process.stdout:
                if "the step is shortened" in line:
                    process.send_signal(signal.SIGKILL)
                    break
        self.assertNotEqual(process.returncode, 0)
        again = self.invert(*arguments, "--resume", out="part")
        self.assert_same_files(self.results, "whole", "part")
        for row, other in zip(again.history, whole.history):
            self.assertEqual({**row, "seconds": 0.0}, {**other, "seconds": 0.0})

    def test_several_processes_have_the_same_bits(self):
        bounds = ["--bounds", self.failures[0][0]]
        self.invert(*bounds, out="one")
        self.write("sites.cfg", "[here]\nkind = local\nslots = 2\n")
        self.invert(*bounds, "--sites", "sites.cfg", out="sites")
        self.assert_same_files(self.results, "one", "sites")
        if self.mpirun:
            self.invert(*bounds, out="ranks", ranks=2)
            self.assert_same_files(self.results, "one", "ranks")

    def test_images_of_failed_trials_are_left_out(self):
        done = self.invert("--bounds", self.failures[0][0], "--lags", "2", "--lags-every", "1")
        images = {name for name in os.listdir(done.folder) if name.startswith("lags_")}
        self.assertEqual(images, {f"lags_{int(row['evaluation']):04d}.npy" for row in done.history
                                  if math.isfinite(row["misfit"])})


if __name__ == "__main__":
    sys.exit(support.main(__doc__))
