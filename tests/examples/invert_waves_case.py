# SPDX-License-Identifier: BSD-3-Clause
"""Case of the tests of invert_waves: a section with a fast body, its runs and their files."""

import csv
import json
import os

import support
from support import np


class Case(support.Case):
    # A section whose velocity grows with depth, with a fast body; the starting model lacks the body.
    shape = (61, 41)
    survey = ["--spacing", "20", "--wavelet", "ricker:6", "--time", "0.9", "--dt", "0.002", "--boundary",
              "sponge:16"]
    shots = ["--data", "modelled", "--true-vp", "true.npy", "--source", "100,40:1100,40:5", "--receivers",
             "0,700:1200,700:31"]
    results = ["vp.npy", "gradient_vp.npy", "illumination.npy", "vp_band_0001.npy", "gather_modelled.npy"]

    def setUp(self):
        super().setUp()
        x, z = np.meshgrid(np.arange(self.shape[0]) * 20.0, np.arange(self.shape[1]) * 20.0, indexing="ij")
        self.start = (1800.0 + 0.5 * z).astype(np.float32)
        self.true = (self.start + 150.0
                     * np.exp(-((x - 600.0)**2 + (z - 400.0)**2) / 2.0 / 120.0**2)).astype(np.float32)
        self.save("start.npy", self.start)
        self.save("true.npy", self.true)

    def invert(self, *arguments, out="out", plot=False):
        return Results(*self.succeed("--vp", "start.npy", *self.survey, *arguments, out=out, plot=plot))

    def plan(self, *more):
        done = self.call("--vp", "start.npy", *self.survey, *self.shots, *more, "--plan", "--out", "plan")
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    # Sets a short survey; returns arguments of an iteration with random layers.
    def stream_arguments(self, depth):
        self.survey = ["--spacing", "20", "--wavelet", "ricker:6", "--time", "0.5", "--dt", "0.002"]
        return ["--data", "modelled", "--true-vp", "true.npy", "--source", f"300,{depth}:900,{depth}:2",
                "--receivers", "0,700:1200,700:31", "--iterations", "1", "--source-field", "random",
                "--space", self.spaces()[0]]

    # Histories are equal except for their times.
    def expect_same_history(self, *runs):
        self.assertEqual(*([{key: value for key, value in row.items() if key != "seconds"}
                            for row in r.history] for r in runs))

    def error(self, vp):
        return np.linalg.norm(vp - self.true) / np.linalg.norm(self.start - self.true)


class Results:
    """The files of one run."""

    def __init__(self, folder, text):
        self.folder, self.text = folder, text
        with open(os.path.join(folder, "summary.json"), encoding="utf-8") as file:
            self.summary = json.load(file)
        with open(os.path.join(folder, "history.csv"), encoding="utf-8", newline="") as file:
            self.history = [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]
        self.vp = self.load("vp.npy")

    def load(self, name):
        return np.load(os.path.join(self.folder, name))

    @property
    def relative(self):
        return self.summary["result"]["relative_misfit"]
