# SPDX-License-Identifier: BSD-3-Clause
"""Case of the tests of migrate_shots: a section with a reflector, its runs and their files."""

import json
import os

import support
from support import np


class Case(support.Case):
    # A section with a step in the velocity at a depth of 300 m; the migration model lacks the step.
    shape = (121, 61)
    survey = ["--spacing", "10", "--wavelet", "ricker:15", "--time", "0.6", "--dt", "0.002", "--boundary",
              "sponge:20"]
    shots = ["--shots", "modelled", "--true-vp", "true.npy", "--source", "300,20:900,20:3", "--receivers",
             "0,20:1200,20:61"]

    def setUp(self):
        super().setUp()
        smooth = np.full(self.shape, 2000.0, dtype=np.float32)
        true = smooth.copy()
        true[:, 30:] = 2400.0
        self.save("smooth.npy", smooth)
        self.save("true.npy", true)

    def migrate(self, *arguments, out="out", plot=False):
        return Results(*self.succeed("--vp", "smooth.npy", *self.survey, *arguments, out=out, plot=plot))


class Results:
    """The files of one run."""

    def __init__(self, folder, text):
        self.folder, self.text = folder, text
        with open(os.path.join(folder, "summary.json"), encoding="utf-8") as file:
            self.summary = json.load(file)
        self.image = self.load("image.npy")

    def load(self, name):
        return np.load(os.path.join(self.folder, name))
