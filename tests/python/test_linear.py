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

    def test_an_interrupt_ends_products(self):
        """A product has 1e10 pairs."""
        random = np.random.default_rng(2)
        rows = np.empty((100000, 7))
        rows[:, 0:6:2] = random.uniform(0.0, 1e4, (len(rows), 3))
        rows[:, 1:6:2] = rows[:, 0:6:2] + random.uniform(1.0, 30.0, (len(rows), 3))
        rows[:, 6] = 500.0
        at = np.column_stack([random.uniform(0.0, 1e4, (100000, 2)), np.full(100000, -50.0)])
        field = moho.linear.gravity_operator(prisms=rows, stations=at, components="all")
        weights = np.ones(field.shape[0])
        for product in (
            lambda: field @ rows[:, 6],
            lambda: field.T @ weights,
            lambda: field.column_squares(weights),
        ):
            support.expect_interrupt(self, product, after=0.3, within=1.0)


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


class Grids(unittest.TestCase):
    def expect_exact_transpose(self, operator):
        random = np.random.default_rng(4)
        x, y = random.normal(size=operator.shape[1]), random.normal(size=operator.shape[0])
        left, right = (operator @ x) @ y, x @ (operator.T @ y)
        self.assertLess(abs(left - right), 1e-13 * np.linalg.norm(operator @ x) * np.linalg.norm(y))

    def test_points_interpolate_with_exact_transposes(self):
        for shape, at in (
            ((31, 21), [(100, 50), (103.7, 88.1), (0, 0), (299, 3)]),
            ((15, 13, 17), [(70, 60, 80), (71.3, 66.6, 31.2)]),
        ):
            operator = moho.linear.point_operator(shape, at, spacing=10)
            self.assertEqual((operator.dims, operator.dimsd), (shape, (len(at),)))
            self.expect_exact_transpose(operator)
            axes = np.meshgrid(*[10.0 * np.arange(n) for n in shape], indexing="ij")
            wave = np.sin(sum(0.02 * (k + 1) * axis for k, axis in enumerate(axes)))
            expected = [np.sin(sum(0.02 * (k + 1) * c for k, c in enumerate(point))) for point in at]
            found = operator @ wave.ravel()
            self.assertAlmostEqual(found[0], expected[0], delta=1e-14)  # on a node
            self.assertAlmostEqual(found[1], expected[1], delta=1e-2)
        free = moho.linear.point_operator((31, 21), [(103, 12)], spacing=10, free_surface=True)
        self.expect_exact_transpose(free)
        depth = np.broadcast_to(np.sin(0.05 * 10.0 * np.arange(21)), (31, 21))
        self.assertAlmostEqual((free @ depth.ravel())[0], np.sin(0.05 * 12), delta=2e-3)

    def test_extended_images_are_products_at_two_points(self):
        random = np.random.default_rng(5)
        for shape, lags in (((13, 9), 3), ((9, 8, 7), (2, 3))):
            p, c = random.normal(size=shape), random.normal(size=shape)
            operator = moho.linear.extended_image_operator(p, lags)
            self.expect_exact_transpose(operator)
            image = (operator @ c.ravel()).reshape(operator.dimsd)
            along = (lags, 0) if isinstance(lags, int) else lags
            image = image.reshape(2 * along[1] + 1, 2 * along[0] + 1, *shape)
            for hy in range(-along[1], along[1] + 1):
                for hx in range(-along[0], along[0] + 1):
                    expected = np.zeros(shape)
                    for node in np.ndindex(*shape):
                        step = (hx, hy, 0) if len(shape) == 3 else (hx, 0)
                        up, low = np.add(node, step), np.subtract(node, step)
                        if min(*up, *low) >= 0 and np.all(up < shape) and np.all(low < shape):
                            expected[node] = c[tuple(up)] * p[tuple(low)]
                    found = image[hy + along[1], hx + along[0]]
                    np.testing.assert_allclose(found, expected, rtol=1e-14, atol=1e-15)

    def test_messages_name_the_argument(self):
        with self.assertRaisesRegex(moho.InputError, "point 2"):
            moho.linear.point_operator((31, 21), [(0, 0), (301, 0)], spacing=10)
        with self.assertRaisesRegex(moho.InputError, "radius is 11"):
            moho.linear.point_operator((31, 21), (0, 0), spacing=10, radius=11)
        with self.assertRaisesRegex(moho.InputError, "lags: the largest along x is 7"):
            moho.linear.extended_image_operator(np.ones((13, 9)), 7)
        operator = moho.linear.extended_image_operator(np.ones((13, 9)), 1)
        operator.close()
        with self.assertRaisesRegex(moho.InputError, "close\\(\\) was called"):
            operator @ np.ones(117)


class FirstArrivals(unittest.TestCase):
    SOURCES = [(103, 57), (311, 20)]
    RECEIVERS = [(0, 0), (203, 0), (400, 300), (17.5, 123.4)]

    def test_products_and_exact_transposes(self):
        random = np.random.default_rng(6)
        for dtype, bound in ((np.float64, 1e-12), (np.float32, 1e-5)):
            velocity = support.rough(41, 31, dtype=dtype)
            for receivers, shape in ((None, (2, 41, 31)), (self.RECEIVERS, (2, 4))):
                given = {"spacing": 10, "sources": self.SOURCES, "receivers": receivers}
                operator = moho.linear.first_arrival_operator(velocity, **given)
                self.assertEqual((operator.dims, operator.dimsd, operator.dtype), ((41, 31), shape, dtype))
                x, y = random.normal(size=operator.shape[1]), random.normal(size=operator.shape[0])
                left, right = (operator @ x) @ y, x @ (operator.T @ y)
                scale = np.linalg.norm(operator @ x) * np.linalg.norm(y)
                self.assertLess(abs(left - right), bound * scale)
                times = operator @ -velocity.ravel()  # homogeneous of degree -1
                np.testing.assert_allclose(times.reshape(shape), operator.times, rtol=bound * 10, atol=bound)

    def test_times_are_those_of_first_arrivals(self):
        velocity = support.rough(41, 31)
        nodes = moho.first_arrivals(velocity, spacing=10, sources=self.SOURCES, each=True)
        operator = moho.linear.first_arrival_operator(velocity, spacing=10, sources=self.SOURCES)
        self.assertEqual(operator.times.tobytes(), nodes.tobytes())
        at = moho.linear.first_arrival_operator(
            velocity, spacing=10, sources=self.SOURCES, receivers=[(100, 200), (105, 200)]
        )
        np.testing.assert_allclose(at.times[:, 0], nodes[:, 10, 20], rtol=1e-6)
        np.testing.assert_allclose(at.times[:, 1], 0.5 * (nodes[:, 10, 20] + nodes[:, 11, 20]), rtol=1e-6)

    def test_gauss_newton_finds_a_body(self):
        true = np.full((31, 21), 2000.0)
        true[10:20, 8:14] = 2200.0
        edge = [(x, z) for x in (0, 300) for z in range(0, 201, 20)]
        given = {"spacing": 10, "sources": edge[::3], "receivers": edge}
        observed = moho.linear.first_arrival_operator(true, **given).times.ravel()
        velocity, norms = np.full_like(true, 2000.0), []
        for _ in range(3):
            operator = moho.linear.first_arrival_operator(velocity, **given)
            residual = observed - operator.times.ravel()
            norms.append(np.linalg.norm(residual))
            velocity = velocity + scipy.sparse.linalg.lsqr(operator, residual, damp=1e-6)[0].reshape(31, 21)
        self.assertLess(norms[-1], 0.2 * norms[0])

    def test_messages_name_the_argument(self):
        velocity = support.rough(21, 16)
        with self.assertRaisesRegex(moho.InputError, "receiver 2 at \\(201.0, 0.0\\) is outside"):
            moho.linear.first_arrival_operator(
                velocity, spacing=10, sources=(0, 0), receivers=[(0, 0), (201, 0)]
            )
        with self.assertRaisesRegex(moho.OutOfMemoryError, "derivatives of 1 sources"):
            moho.linear.first_arrival_operator(
                velocity, spacing=10, sources=[(0, 0), (50, 50)], memory=100 << 10
            )
        operator = moho.linear.first_arrival_operator(velocity, spacing=10, sources=(0, 0))
        operator.close()
        with self.assertRaisesRegex(moho.InputError, "close\\(\\) was called"):
            operator @ np.ones(operator.shape[1])


if __name__ == "__main__":
    unittest.main()
