#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the memory that model_gravity plans and uses.

usage: test_gravity_memory.py --program PATH [names of test classes]
Exit status 77 if numpy is missing or every test was skipped.
"""

import sys

import support
from support import np


class Memory(support.Case):
    """A body in a mesh of 8 million cells, most of which have no density, and a list of prisms."""

    def setUp(self):
        super().setUp()
        self.host = ["--space", "serial" if "serial" in self.spaces() else self.spaces()[0]]
        cells = np.zeros((40, 400, 500), dtype=np.float32)
        cells[5:25, 180:220, 200:260] = 0.02
        self.mesh = ["--mesh", "500,400,40,0,50000,0,40000,0,4000", *self.host]
        self.cells = self.save("cells.npy", cells)
        self.grid = ["--grid", "40,40,100,100,18050,18050", "--elevation", "50"]

    def hold(self, *arguments):
        """The plan is an upper bound; with less memory the run keeps the limit or is refused."""
        estimate = self.assert_memory_is_planned(*arguments)
        limit = estimate - 24 * 2**20  # --memory does not count the program itself
        self.assertEqual(self.assert_memory_is_planned(*arguments, "--memory", int(limit) + 1), estimate)
        self.refuse([*arguments, "--memory", int(limit) - 2**20], "(allowed: ", "memory")

    def test_fast_multipoles_of_a_mesh(self):
        densities = [*self.mesh, "--densities", self.cells, *self.grid]
        self.hold(*densities, "--components", "all", "--strategy", "fmm")

    def test_fast_multipoles_of_a_list(self):
        place = np.random.default_rng(3).uniform(0.0, 10000.0, (100000, 3))
        rows = np.empty((len(place), 7))
        rows[:, 0:6:2], rows[:, 1:6:2], rows[:, 6] = place, place + 12.0, 300.0
        self.hold("--prisms", self.save("prisms.npy", rows), "--grid", "80,80,100,100,0,0", "--elevation",
                  "100", "--components", "gz", "--strategy", "fmm", *self.host)

    def test_direct_sums_after_a_comparison(self):
        densities = [*self.mesh, "--densities", self.cells, *self.grid]
        self.assert_memory_is_planned(*densities, "--components", "gz", "--strategy", "automatic")

    def test_magnetic_fields_on_a_lattice(self):
        cells = self.save("few.npy", np.full((25, 400, 300), 0.02, dtype=np.float32))
        self.hold("--mesh", "300,400,25,0,30000,0,40000,0,2500", *self.host, "--susceptibilities", cells,
                  *self.grid, "--magnetic", "--field", "50000,60,2", "--remanence", "1,20,30", "--strategy",
                  "lattice")


if __name__ == "__main__":
    sys.exit(support.main(__doc__))
