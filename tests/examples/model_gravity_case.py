# SPDX-License-Identifier: BSD-3-Clause
"""Case of the tests of model_gravity: closed forms, its runs and their files."""

import itertools
import json
import math
import os

import support
from support import np

G = 6.6743e-11
NAMES = ["potential", "gx", "gy", "gz", "gxx", "gyy", "gzz", "gxy", "gxz", "gyz"]
STRATEGIES = ["automatic", "tiles", "by_stations", "by_prisms"]


def prism_field(prism, station, constant=G):
    """Closed form of Nagy et al. (2000, 2002), corner by corner, in the units of the program."""
    rho = prism[6]
    total = np.zeros(10)
    for i, j, k in itertools.product((0, 1), repeat=3):
        x, y, z = prism[i] - station[0], prism[2 + j] - station[1], prism[4 + k] - station[2]
        sign = (-1) ** (i + j + k + 1)
        r = math.sqrt(x * x + y * y + z * z)
        lx, ly, lz = math.log(x + r), math.log(y + r), math.log(z + r)
        ax, ay, az = math.atan(y * z / (x * r)), math.atan(z * x / (y * r)), math.atan(x * y / (z * r))
        total += sign * np.array([
            x * y * lz + y * z * lx + z * x * ly - 0.5 * (x * x * ax + y * y * ay + z * z * az),
            -(y * lz + z * ly - x * ax), -(z * lx + x * lz - y * ay), -(x * ly + y * lx - z * az),
            -ax, -ay, -az, lz, ly, lx])
    return constant * rho * total * np.array([1.0] + 3 * [1e5] + 6 * [1e9])


def field(prisms, stations, constant=G):
    """Sum over prisms: components x stations."""
    return np.array([sum(prism_field(p, s, constant) for p in prisms) for s in stations]).T


def some_prisms(count, seed=3):
    """Blocks of at most half a kilometre, below z = 50 m."""
    rng = np.random.default_rng(seed)
    low = rng.uniform([0, 0, 50], [3000, 2000, 900], (count, 3))
    high = low + rng.uniform(20, 500, (count, 3))
    density = rng.uniform(-400, 600, (count, 1))
    return np.hstack([np.stack([low, high], axis=2).reshape(count, 6), density])


def grid_stations(nx, ny, dx, dy, x0, y0, elevation=0.0):
    """Stations in the order of the program: x fastest, z down."""
    y, x = np.meshgrid(y0 + dy * np.arange(ny), x0 + dx * np.arange(nx), indexing="ij")
    return np.stack([x.ravel(), y.ravel(), -np.broadcast_to(elevation, (ny, nx)).ravel()], axis=1)


class Case(support.Case):
    grid = ["--grid", "7,5,500,450,-210,33", "--elevation", "100"]
    stations = grid_stations(7, 5, 500.0, 450.0, -210.0, 33.0, 100.0)

    def model(self, *arguments, out="out", plot=False, ranks=0):
        """Runs the program, which must succeed. Returns its results.

        A single process must not write to stderr.
        """
        return Results(*self.succeed(*arguments, out=out, plot=plot, ranks=ranks))

    def close(self, found, expected, tolerance, message=""):
        """Asserts every component within a tolerance of its largest value."""
        for name, a, b in zip(NAMES, found, expected):
            self.assertLessEqual(np.max(np.abs(a - b)), tolerance * np.max(np.abs(b)), f"{name} {message}")


class Results:
    """The files of one run."""

    def __init__(self, folder, text):
        self.folder = folder
        self.text = text
        with open(os.path.join(folder, "summary.json"), encoding="utf-8") as file:
            self.summary = json.load(file)
        self.names = [c["name"] for c in self.summary["components"]]
        self.values = {name: np.load(os.path.join(folder, name + ".npy")) for name in self.names}

    def all(self):
        """Returns all components of the run, each flat."""
        return np.array([self.values[name].ravel() for name in self.names])
