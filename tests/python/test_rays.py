# SPDX-License-Identifier: BSD-3-Clause
# ctest: cost 10
"""trace_rays(): the bits of the program, the matrix, messages."""

import json
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
import moho
import numpy as np
import support

try:
    import scipy.sparse
except ImportError:
    scipy = None


def text_of(places):
    return "; ".join(",".join(str(x) for x in place) for place in places)


class Results(unittest.TestCase):
    def expect_bits_of_the_program(self, velocity, sources, receivers, options, basis=None, **arguments):
        if velocity.dtype == np.float64:
            options = [*options, "--precision", "double"]
        if basis:
            options = [*options, "--matrix", basis]
        with tempfile.TemporaryDirectory() as folder:
            np.save(f"{folder}/vp.npy", velocity)
            support.run_program(
                "trace_rays",
                f"{folder}/out",
                "--model",
                f"{folder}/vp.npy",
                "--spacing",
                10,
                "--source",
                text_of(sources),
                "--receivers",
                text_of(receivers),
                *options,
            )
            times = np.load(f"{folder}/out/traveltime.npy")
            table = np.loadtxt(f"{folder}/out/receivers.csv", delimiter=",", skiprows=1, ndmin=2)
            vertices = np.loadtxt(f"{folder}/out/rays.csv", delimiter=",", skiprows=1, ndmin=2)
            matrix = dict(np.load(f"{folder}/out/matrix.npz")) if basis else None
            with open(f"{folder}/out/summary.json", encoding="utf-8") as file:
                run = json.load(file)["run"]
        rays = moho.trace_rays(velocity, spacing=10, sources=sources, receivers=receivers, **arguments)
        self.assertEqual((rays.times.dtype, rays.times.shape), (times.dtype, times.shape))
        self.assertEqual(rays.times.tobytes(), times.tobytes())
        # files have ten digits
        np.testing.assert_allclose(rays.traveltimes.ravel(), table[:, -1], rtol=1e-9)
        np.testing.assert_allclose(rays.points, vertices[:, -velocity.ndim :], atol=1e-6)
        if basis:
            values, columns, first, shape = rays.matrix_parts(basis)
            self.assertEqual(values.tobytes(), matrix["data"].tobytes())
            np.testing.assert_array_equal(columns, matrix["indices"])
            np.testing.assert_array_equal(first, matrix["indptr"])
            np.testing.assert_array_equal(shape, matrix["shape"])
        self.assertEqual(
            (rays.storage, rays.devices, rays.slabs),
            (run["weights"]["storage"], run["devices"], run["slabs"]),
        )
        return rays

    def test_have_the_bits_of_the_program(self):
        sources, receivers = [(503, 17), (120, 400)], [(0, 0), (1000, 300), (777, 600)]
        for dtype in (np.float32, np.float64):
            with self.subTest(dtype=dtype):
                self.expect_bits_of_the_program(
                    support.rough(101, 61, dtype=dtype), sources, receivers, [], "nodes"
                )
        self.expect_bits_of_the_program(
            support.rough(101, 61),
            sources,
            receivers,
            ["--radius", 3, "--star", "full", "--weights", "cells"],
            "cells",
            radius=3,
            star="full",
            weights="cells",
        )
        self.expect_bits_of_the_program(
            support.rough(41, 31), [(200, 0)], [(0, 300)], ["--method", "dijkstra"], method="dijkstra"
        )

    def test_have_the_bits_of_the_program_for_all_storages_and_slabs(self):
        velocity, sources, receivers = support.rough(301, 91), [(503, 17), (2900, 400)], [(0, 0), (1800, 900)]
        plain = moho.trace_rays(velocity, spacing=10, sources=sources, receivers=receivers)
        for storage in ("stored", "on_the_fly", "fragments"):
            found = self.expect_bits_of_the_program(
                velocity, sources, receivers, ["--storage", storage], storage=storage
            )
            self.assertEqual((found.storage, found.devices, found.slabs), (storage, 1, 1))
            self.assertEqual(found.times.tobytes(), plain.times.tobytes())
        for devices, slabs, expected in ((2, None, 2), (1, 3, 3), (2, 2, 4)):
            words = ["--devices", devices] + ([] if slabs is None else ["--slabs", slabs])
            found = self.expect_bits_of_the_program(
                velocity, sources, receivers, words, "nodes", devices=devices, slabs=slabs
            )
            self.assertEqual((found.devices, found.slabs), (devices, expected))
            self.assertEqual(found.times.tobytes(), plain.times.tobytes())
            np.testing.assert_array_equal(found.points, plain.points)

    def test_have_the_bits_of_the_program_in_3d(self):
        self.expect_bits_of_the_program(
            support.rough(25, 21, 17), [(100, 57, 8)], [(0, 0, 0), (240, 200, 160)], [], "nodes"
        )

    def test_matrix_times_slowness_is_the_traveltime(self):
        velocity = support.gradient(101, 61, dtype=np.float64)
        rays = moho.trace_rays(
            velocity, spacing=10, sources=[(500, 0), (20, 0)], receivers=[(900, 500), (10, 600)]
        )
        values, columns, first, shape = rays.matrix_parts()
        self.assertEqual(shape, (4, velocity.size))
        slowness = (1.0 / velocity).ravel()
        for k in range(4):
            part = slice(first[k], first[k + 1])
            self.assertAlmostEqual(
                values[part] @ slowness[columns[part]], rays.traveltimes.ravel()[k], places=12
            )
        np.testing.assert_allclose(rays.path(0, 1)[[0, -1]], [(500, 0), (10, 600)])
        np.testing.assert_array_equal(rays.path(-1, -1), rays.path(1, 1))
        with self.assertRaises(IndexError):
            rays.path(2, 0)

    @unittest.skipIf(scipy is None, "SciPy is not installed")
    def test_matrix_is_one_of_scipy(self):
        velocity = support.gradient(61, 41, dtype=np.float64)
        rays = moho.trace_rays(velocity, spacing=10, sources=(300, 0), receivers=[(0, 400), (600, 400)])
        times = rays.matrix() @ (1.0 / velocity).ravel()
        np.testing.assert_allclose(times, rays.traveltimes[0], rtol=1e-12)
        lengths = rays.matrix("cells").sum(axis=1)
        steps = np.diff(rays.path(0, 0), axis=0)
        self.assertAlmostEqual(float(lengths[0]), np.hypot(*steps.T).sum(), places=9)

    def test_without_receivers_there_are_times_alone(self):
        rays = moho.trace_rays(support.gradient(61, 41), spacing=10, sources=(300, 0))
        self.assertEqual(
            (rays.times.shape, rays.traveltimes.shape, rays.points.shape), ((1, 61, 41), (1, 0), (0, 2))
        )
        self.assertEqual(rays.matrix_parts()[3], (0, 61 * 41))

    def test_arrays_outlive_the_object(self):
        rays = moho.trace_rays(support.gradient(61, 41), spacing=10, sources=(300, 0), receivers=(0, 400))
        points, times = rays.points, rays.times
        copies = points.copy(), times.copy()
        del rays
        moho.trace_rays(support.gradient(61, 41), spacing=10, sources=(200, 0), receivers=(0, 100))
        np.testing.assert_array_equal(points, copies[0])
        np.testing.assert_array_equal(times, copies[1])
        self.assertFalse(points.flags.writeable)


class Messages(unittest.TestCase):
    def refused(self, *words, kind=ValueError, **change):
        arguments = {"velocity": support.gradient(61, 41), "spacing": 10, "sources": (100, 0)} | change
        with self.assertRaises(kind) as caught:
            moho.trace_rays(arguments.pop("velocity"), **arguments)
        self.assertIsInstance(caught.exception, moho.Error)
        text = str(caught.exception)
        for word in words:
            self.assertIn(word, text)
        for word in ("moho::", "Kokkos::", "--", "\n"):
            self.assertNotIn(word, text)

    def test_name_the_argument_and_what_is_allowed(self):
        self.refused("receiver 1", "x 0 to 600", receivers=(9000, 0))
        self.refused("source 2", sources=[(0, 0), (0, -10)])
        self.refused("radius is 9", "1 to 8", radius=9)
        self.refused("radius is 5", "1 to 4", velocity=support.gradient(9, 9, 9), sources=(0, 0, 0), radius=5)
        self.refused("star", "coprime, full", star="round")
        self.refused("weights", "sampled", weights="heavy")
        self.refused("storage", "fragments", storage="table")
        self.refused("devices is 65", devices=65)
        self.refused("devices: 30 (allowed for this model: 1 to ", devices=30)
        self.refused("slabs is 0", slabs=0)
        self.refused("method 'push' with several slabs (allowed: active_tiles)", slabs=2, method="push")
        self.refused("velocity", velocity=-support.gradient(61, 41))
        self.refused("memory", kind=MemoryError, memory=1000)
        rays = moho.trace_rays(support.gradient(61, 1), spacing=10, sources=(100, 0), receivers=(0, 0))
        with self.assertRaisesRegex(moho.InputError, "61 x 1 nodes.*take 'nodes'"):
            rays.matrix_parts("cells")
        with self.assertRaisesRegex(moho.InputError, "basis"):
            rays.matrix_parts("edges")


class Interrupts(unittest.TestCase):
    def test_end_tables_of_weights(self):
        given = {"spacing": 10, "sources": (0, 0), "radius": 8, "weights": "sampled", "storage": "stored"}
        velocity = support.gradient(1001, 601)
        support.expect_interrupt(self, lambda: moho.trace_rays(velocity, **given), after=0.5, within=1.0)

    def test_end_within_a_round(self):
        """A round relaxes 1.4e9 edges."""
        sources = [(130.0 * k, 40.0 * k) for k in range(30)]
        given = {"spacing": 10, "sources": sources, "radius": 8, "star": "full"}
        for method in ("relaxation", "push"):
            with self.subTest(method=method):
                given["method"] = method
                support.expect_interrupt(
                    self, lambda: moho.trace_rays(support.gradient(401, 401), **given), within=1.0
                )


if __name__ == "__main__":
    unittest.main()
