# SPDX-License-Identifier: BSD-3-Clause
"""Case of the tests of trace_rays: its runs and their files."""

import json
import math
import os

import support
from support import np

METHODS = ["active_tiles", "relaxation", "push", "near_far", "dijkstra"]


def angular_bound(radius):
    """Largest relative error of the traveltime in a constant 2D model (its worst direction)."""
    return 1.0 / math.cos(0.5 * math.atan(1.0 / radius)) - 1.0


class Case(support.Case):
    def trace(self, *arguments, out="out", plot=False):
        """Runs the program, which must succeed and not write to stderr. Returns its results."""
        return Results(*self.succeed(*arguments, out=out, plot=plot))


class Results:
    """The files of one run."""

    def __init__(self, folder, text):
        self.folder = folder
        self.text = text
        self.times = np.load(os.path.join(folder, "traveltime.npy"))
        self.velocity = np.load(os.path.join(folder, "velocity.npy"))
        self.rays = self._table("rays.csv")
        self.receivers = self._table("receivers.csv")
        with open(os.path.join(folder, "summary.json"), encoding="utf-8") as file:
            self.summary = json.load(file)

    def _table(self, name):
        return np.genfromtxt(os.path.join(self.folder, name), delimiter=",", names=True, ndmin=1)

    def axes(self):
        return self.summary["model"]["axes"]

    def ray(self, number):
        rows = self.rays[self.rays["ray"] == number]
        return np.stack([rows[name] for name in self.axes()], axis=1)


def gradient_times(shape, spacing, source, v0, g):
    """Analytic traveltimes at the nodes of a 2D grid, nan where the ray turns below the bottom."""
    x, z = np.meshgrid(spacing * np.arange(shape[0]), spacing * np.arange(shape[1]), indexing="ij")
    offset, depth = x - source[0], z
    vs, vr = v0 + g * source[1], v0 + g * depth
    d = np.hypot(offset, depth - source[1])
    times = 2.0 / g * np.arcsinh(g * d / (2.0 * np.sqrt(vs * vr)))
    # The ray is an arc about a centre at depth -v0/g; it turns vertically below the centre.
    with np.errstate(divide="ignore", invalid="ignore"):
        centre = (vr ** 2 - vs ** 2 + (g * offset) ** 2) / (2.0 * g * g * offset)
    bottom = spacing * (shape[1] - 1)
    turns = (offset != 0) & (centre / np.where(offset == 0, 1, offset) > 0) & (
        centre / np.where(offset == 0, 1, offset) < 1)
    deepest = np.hypot(np.where(turns, centre, 0.0), vs / g) - v0 / g
    return np.where(turns & (deepest > bottom), np.nan, times)
