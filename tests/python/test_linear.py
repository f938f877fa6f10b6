# SPDX-License-Identifier: BSD-3-Clause
# ctest: cost 5
"""Linear operators: products, exact transposes, solvers, messages. They need SciPy."""

import sys
import unittest

sys.dont_write_bytecode = True
try:
    import scipy.sparse.linalg
except ImportError:
    print("skipped: SciPy is not installed")
    sys.exit(77)
import moho
import moho.linear
import numpy as np
import support

MESH = (5, 4, 3, 0, 500, 0, 400, 50, 350)
STATIONS = np.array([(50, 60, 0), (250, 130, -10), (390, 350, 0), (800, -100, -30), (470, 20, 0)], float)


class Gravity(unittest.TestCase):
    def test_products_are_those_of_gravity(self):
        densities = np.random.default_rng(1).normal(0, 300, (3, 4, 5))
        names = ["gz", "gxx", "potential"]
        operator = moho.linear.gravity_operator(mesh=MESH, stations=STATIONS, components=names)
        self.assertEqual((operator.shape, operator.dims, operator.dimsd), ((15, 60), (3, 4, 5), (3, 5)))
        direct = moho.gravity(mesh=MESH, densities=densities, stations=STATIONS, components=names)
        np.testing.assert_allclose(
            (operator @ densities.ravel()).reshape(3, 5), direct, rtol=1e-10, atol=1e-12
        )
        prisms = np.array([(0, 100, 0, 100, 50, 150), (100, 200, 50, 90, 60, 250)], float)
        rows = np.column_stack([prisms, (300, -200)])
        operator = moho.linear.gravity_operator(prisms, stations=STATIONS)
        np.testing.assert_allclose(
            operator @ rows[:, 6], moho.gravity(rows, stations=STATIONS)[0], rtol=1e-10
        )

    def test_transposes_are_exact(self):
        random = np.random.default_rng(2)
        operator = moho.linear.gravity_operator(mesh=MESH, stations=STATIONS, components="all")
        x, y = random.normal(size=operator.shape[1]), random.normal(size=operator.shape[0])
        left, right = (operator @ x) @ y, x @ (operator.T @ y)
        self.assertAlmostEqual(left / right, 1.0, delta=1e-12)
        columns = np.array([operator @ one for one in np.eye(operator.shape[1])])
        np.testing.assert_allclose(operator.column_squares(), (columns**2).sum(axis=1), rtol=1e-10)
        np.testing.assert_allclose(operator.column_squares(y), ((columns * y) ** 2).sum(axis=1), rtol=1e-10)

    def test_solvers_take_the_operator(self):
        above = [(x, y, 0) for x in range(0, 600, 60) for y in range(0, 500, 60)]
        operator = moho.linear.gravity_operator(mesh=MESH, stations=above)
        data = operator @ np.full(60, 250.0)
        found = scipy.sparse.linalg.lsqr(operator, data, atol=1e-10, btol=1e-10)[0]
        self.assertLess(np.abs(operator @ found - data).max(), 1e-4 * np.abs(data).max())

    def test_messages_name_the_argument(self):
        for arguments, words in (
            ({}, "prisms, or mesh"),
            ({"mesh": MESH[:8]}, "mesh"),
            ({"prisms": [(0, 1, 0)]}, "prisms"),
            ({"mesh": MESH, "components": "gw"}, "gw"),
        ):
            with self.assertRaisesRegex(moho.InputError, words):
                moho.linear.gravity_operator(stations=STATIONS, **arguments)
        operator = moho.linear.gravity_operator(mesh=MESH, stations=STATIONS)
        with self.assertRaisesRegex(moho.InputError, "weights"):
            operator.column_squares(np.ones(3))
        operator.close()
        with self.assertRaisesRegex(moho.InputError, "close\\(\\) was called"):
            operator @ np.ones(60)


class Rays(unittest.TestCase):
    def test_products_are_traveltimes_with_exact_transposes(self):
        vp = support.gradient(41, 31, dtype=np.float64)
        rays = moho.trace_rays(vp, spacing=10, sources=[(0, 0), (200, 100)], receivers=[(400, 0), (300, 300)])
        operator = moho.linear.ray_operator(rays)
        self.assertEqual((operator.dims, operator.dimsd), ((41, 31), (2, 2)))
        times = (operator @ (1.0 / vp).ravel()).reshape(2, 2)
        np.testing.assert_allclose(times, rays.traveltimes, rtol=1e-9)
        random = np.random.default_rng(3)
        x, y = random.normal(size=operator.shape[1]), random.normal(size=operator.shape[0])
        self.assertAlmostEqual((operator @ x) @ y / (x @ (operator.T @ y)), 1.0, delta=1e-12)
        cells = moho.linear.ray_operator(rays, "cells")
        self.assertEqual(cells.dims, (40, 30))
        with self.assertRaisesRegex(moho.InputError, "rays"):
            moho.linear.ray_operator(moho.trace_rays(vp, spacing=10, sources=(0, 0)))


if __name__ == "__main__":
    unittest.main()
