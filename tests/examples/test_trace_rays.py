#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the program trace_rays through its command line: traveltimes, rays, ranks.

usage: test_trace_rays.py --program PATH [--mpirun PATH] [--data FOLDER] [names of test classes]
Exit status 77 if numpy is missing or every test was skipped.
"""

import json
import math
import os
import sys

import support
from support import np
from trace_rays_case import METHODS, Case, angular_bound, gradient_times


# ctest: quick
class Analytic(Case):
    def test_gradient_model(self):
        shape, v0, g = (241, 41), 1500.0, 2.0
        x, z = np.meshgrid(10.0 * np.arange(shape[0]), 10.0 * np.arange(shape[1]), indexing="ij")
        for source in [(100.0, 0.0), (303.0, 117.0)]:
            for radius in (3, 6):
                r = self.trace("--gradient", f"{v0},{g}", "--shape", "241,41", "--spacing", 10, "--source",
                               f"{source[0]},{source[1]}", "--radius", radius, "--precision", "double",
                               "--weights", "velocity")
                exact = gradient_times(shape, 10.0, source, v0, g)
                inside = np.isfinite(exact) & (exact > 0)
                self.assertGreater(inside.mean(), 0.5)
                self.assertLess(inside.mean(), 1.0)
                error = r.times[0][inside] / exact[inside] - 1.0
                self.assertGreater(error.min(), -1e-9)
                # The traveltime of a chord of length l across an arc of curvature k is about (k l)^2 / 24
                # longer. The nodes next to the arc are not on it.
                chord = (math.sqrt(2.0) * radius * 10.0 * g / v0) ** 2 / 12.0
                self.assertLess(error.max(), angular_bound(radius) + chord)
                # Masked: rays that would turn below the model. Their times also have a bound.
                straight = np.hypot(x - source[0], z - source[1])
                self.assertTrue(np.all(r.times[0] >= straight / v0 / (1 + g * 400.0 / v0) - 1e-12))

    def test_gradient_model_at_receivers_between_nodes(self):
        v0, g = 2000.0, 0.7
        r = self.trace("--gradient", f"{v0},{g}", "--shape", "201,101", "--spacing", 10, "--source", "333,41",
                       "--receiver-line", "505.5,207.3,1207.7,907.1,17", "--precision", "double")
        for row in r.receivers:
            d = math.hypot(row["x"] - 333.0, row["z"] - 41.0)
            exact = 2 / g * math.asinh(g * d / (2 * math.sqrt((v0 + g * 41) * (v0 + g * row["z"]))))
            self.assertAlmostEqual(row["traveltime"] / exact, 1.0, delta=angular_bound(6) * 1.1 + 1e-4)

    def test_constant_model_stays_in_the_angular_bound(self):
        for radius in range(1, 9):
            r = self.trace("--gradient", "2000,0", "--shape", "151,76", "--spacing", 10, "--source", "0,0",
                           "--radius", radius, "--precision", "double")
            x, z = np.meshgrid(10.0 * np.arange(151), 10.0 * np.arange(76), indexing="ij")
            exact = np.hypot(x, z) / 2000.0
            error = r.times[0].ravel()[1:] / exact.ravel()[1:] - 1.0
            self.assertGreater(error.min(), -1e-12)
            self.assertLess(error.max(), angular_bound(radius) * (1 + 1e-9) + 1e-12)
            self.assertGreater(error.max(), 0.8 * angular_bound(radius))

    def test_constant_volume(self):
        for radius, bound in ((1, 0.128), (3, 0.0248)):
            r = self.trace("--gradient", "2000,0", "--shape", "x=25,y=24,z=23", "--spacing", 10, "--source",
                           "0,0,0", "--radius", radius, "--precision", "double")
            self.assertEqual(r.times.shape, (1, 25, 24, 23))
            x, y, z = np.meshgrid(*[10.0 * np.arange(n) for n in (25, 24, 23)], indexing="ij")
            exact = np.sqrt(x * x + y * y + z * z) / 2000.0
            error = r.times[0].ravel()[1:] / exact.ravel()[1:] - 1.0
            self.assertGreater(error.min(), -1e-12)
            self.assertLess(error.max(), bound * 1.01)
            self.assertGreater(error.max(), 0.7 * bound)


class Ranks(Case):
    """Under mpirun: sources shared among processes have the bits of one process."""

    def setUp(self):
        if not self.mpirun:
            self.skipTest("there is no mpirun, or the program was built without MPI: install openmpi-bin and "
                          "libopenmpi-dev")
        super().setUp()

    def same(self, *arguments, counts):
        alone, _ = self.succeed(*arguments, out="alone")
        for count in counts:
            many, text = self.succeed(*arguments, out=f"ranks{count}", ranks=count)
            for name in ("traveltime.npy", "velocity.npy", "rays.csv", "rays.vtk", "receivers.csv"):
                with open(os.path.join(alone, name),
                          "rb") as one, open(os.path.join(many, name), "rb") as other:
                    self.assertEqual(one.read(), other.read(), f"{name} on {count} ranks")
            with open(os.path.join(many, "summary.json")) as file:
                summary = json.load(file)
            self.assertEqual(summary["ranks"], count)
            self.assertEqual(text.count("relaxations/s"), 1)

    def test_sections(self):
        sources = [word for k in range(5) for word in ("--source", f"{100 * k + 3},{40 * k}")]
        self.same("--builtin", "salt", "--shape", "97,61", "--spacing", 10, "--radius", 4, *sources,
                  counts=(1, 2, 3, 7))

    def test_volumes(self):
        self.same("--builtin", "salt", "--shape", "23,21,19", "--spacing", 10, "--source", "33,57,0",
                  "--source", "99,60,50", "--coordinates", "xyz",
                  "--precision", "double", counts=(2,))

    def test_errors_are_said_once(self):
        self.refuse(["--builtin", "salt", "--shape", "97,61", "--spacing", 10, "--source", "99999,0"],
                    "outside the model", ranks=3)


# ctest: quick, threads 2
class Agreement(Case):
    def test_all_methods_and_spaces(self):
        self.assertTrue(self.spaces())
        for survey in (["--shape", "97,61", "--source", "333,0", "--source", "712.5,441.25", "--radius", 4],
                       ["--shape", "z=19,y=21,x=23", "--source", "z=0,y=57,x=33", "--radius", 2]):
            arguments = ["--builtin", "salt", "--spacing", 10, *survey]
            for precision, tolerance in (("float", 1e-6), ("double", 1e-12)):
                expected = self.trace(*arguments, "--method", "dijkstra", "--precision", precision).times
                for space in self.spaces():
                    for method in METHODS[:-1]:
                        r = self.trace(*arguments, "--method", method, "--space", space, "--precision",
                                       precision)
                        self.assertEqual(r.summary["asked"]["space"], space)
                        np.testing.assert_allclose(r.times, expected, rtol=tolerance, atol=0,
                                                   err_msg=f"{method} on {space}")

    def test_storage_star_and_memory_do_not_change_the_times(self):
        arguments = ["--builtin", "salt", "--shape", "97,61", "--source", "333,0", "--source", "712.5,441.25",
                     "--source", "5,600", "--radius", 3]
        expected = self.trace(*arguments)
        for more in (["--storage", "stored"], ["--storage", "on_the_fly"], ["--star", "full"],
                     ["--memory", "520K", "--storage", "on_the_fly"]):
            r = self.trace(*arguments, *more)
            np.testing.assert_allclose(r.times, expected.times, rtol=2e-6, err_msg=str(more))
            np.testing.assert_allclose(r.receivers["traveltime"], expected.receivers["traveltime"], rtol=2e-6)
            self.assertEqual(len(set(r.rays["ray"])), len(set(expected.rays["ray"])))
        stored = self.trace(*arguments, "--storage", "stored").summary["run"]["weights"]
        self.assertEqual(stored["storage"], "stored")
        self.assertGreater(stored["bytes"], 0)

    def test_slabs_and_fragments_do_not_change_a_bit(self):
        arguments = ["--builtin", "salt", "--shape", "157,61", "--source", "333,0;712.5,441.25;5,600",
                     "--radius", 4, "--space", "serial"]
        expected = self.trace(*arguments)
        for more, slabs in ((["--devices", 3], 3), (["--storage", "fragments", "--slabs", 2], 2)):
            r = self.trace(*arguments, *more)
            for name in ("times", "rays", "receivers"):
                np.testing.assert_array_equal(getattr(r, name), getattr(expected, name), f"{name} {more}")
            self.assertEqual(r.summary["run"]["slabs"], slabs)
            self.assertIn(f"{slabs} slabs", r.summary["run"]["weights"]["why"])
            self.assertEqual(r.summary["run"]["weights"]["fragments_computed"] > 0, "fragments" in more)

    def test_precisions_agree(self):
        arguments = ["--builtin", "salt", "--shape", "97,61", "--source", "333,0"]
        single, double = self.trace(*arguments), self.trace(*arguments, "--precision", "double")
        self.assertEqual(single.times.dtype, np.float32)
        self.assertEqual(double.times.dtype, np.float64)
        np.testing.assert_allclose(single.times, double.times, rtol=1e-5)


class Results2D3D(support.SharedRuns):
    """Tests for 2D and 3D; subclasses name the arguments."""

    arguments = []
    shape = ()
    sources = []

    def test_files(self):
        r = self.shared(self.trace, *self.arguments)
        self.assertEqual(r.times.shape, (len(self.sources), *self.shape))
        self.assertEqual(r.velocity.shape, self.shape)
        self.assertTrue(np.all(np.isfinite(r.times)))
        count = len(r.summary["receivers"])
        self.assertEqual(len(r.receivers), len(self.sources) * count)
        self.assertEqual(sorted(set(r.rays["ray"])), list(range(len(self.sources) * count)))
        for name in r.summary["files"]:
            self.assertTrue(os.path.isfile(os.path.join(r.folder, name)), name)
        self.assertNotIn("rays.png", os.listdir(r.folder))
        self.assertFalse([n for n in os.listdir(r.folder) if n not in r.summary["files"]])

    def test_rays_run_from_source_to_receiver_inside_the_model(self):
        r = self.shared(self.trace, *self.arguments, "--precision", "double")
        names = r.axes()
        upper = [r.summary["model"]["spacing"][d] * (n - 1) for d, n in enumerate(self.shape)]
        for row, record in enumerate(r.receivers):
            ray = r.ray(row)
            head = r.rays[r.rays["ray"] == row]
            self.assertTrue(np.all(head["source"] == record["source"]))
            self.assertTrue(np.all(head["receiver"] == record["receiver"]))
            np.testing.assert_array_equal(head["vertex"], np.arange(len(head)))
            np.testing.assert_allclose(ray[0], self.sources[int(record["source"])], atol=1e-9)
            np.testing.assert_allclose(ray[-1], [record[name] for name in names], atol=1e-9)
            self.assertTrue(np.all(ray >= -1e-9) and np.all(ray <= np.array(upper) + 1e-9))

    def test_constant_velocity_ray_length_is_traveltime(self):
        arguments = [a if a != "salt" else "1750,0" for a in self.arguments]
        arguments = [a if a != "--builtin" else "--gradient" for a in arguments]
        r = self.trace(*arguments, "--precision", "double")
        for row, record in enumerate(r.receivers):
            ray = r.ray(row)
            length = np.sqrt((np.diff(ray, axis=0) ** 2).sum(axis=1)).sum()
            self.assertAlmostEqual(length / 1750.0, record["traveltime"], delta=1e-9)

    def test_receivers_on_nodes_have_the_times_of_the_nodes(self):
        r = self.shared(self.trace, *self.arguments, "--precision", "double")
        checked = 0
        for record in r.receivers:
            node = [record[name] / r.summary["model"]["spacing"][d] for d, name in enumerate(r.axes())]
            if all(abs(i - round(i)) < 1e-9 for i in node):
                at = (int(record["source"]), *[round(i) for i in node])
                self.assertAlmostEqual(record["traveltime"], r.times[at], delta=1e-12)
                checked += 1
        self.assertGreater(checked, 0)

    def test_vtk_has_the_rays(self):
        r = self.shared(self.trace, *self.arguments)
        with open(os.path.join(r.folder, "rays.vtk"), encoding="ascii") as file:
            text = file.read()
        self.assertTrue(text.startswith("# vtk DataFile"))
        self.assertIn(f"LINES {len(r.receivers)} ", text)
        self.assertIn(f"POINTS {len(r.rays)} ", text)
        self.assertIn("traveltime", text)

    def test_summary(self):
        r = self.shared(self.trace, *self.arguments)
        s = r.summary
        self.assertEqual(s["program"], "trace_rays")
        self.assertEqual(s["model"]["shape"], list(self.shape))
        np.testing.assert_allclose(s["sources"], self.sources)
        for key in ("moho", "kokkos", "compiler", "spaces"):
            self.assertTrue(s["versions"][key])
        self.assertTrue(s["run"]["device"])
        self.assertGreaterEqual(s["run"]["threads"], 1)
        self.assertIn(s["run"]["weights"]["storage"], ("stored", "on_the_fly"))
        self.assertTrue(s["run"]["weights"]["why"])
        self.assertGreater(s["rates"]["relaxations_per_second"], 0)
        self.assertGreater(s["rates"]["vertices_per_second"], 0)
        phases = s["seconds"]
        self.assertAlmostEqual(phases["total"], sum(v for k, v in phases.items() if k != "total"), places=9)
        for phase in ("read", "check", "weights", "trace", "rays", "write"):
            self.assertIn(phase, phases)
            self.assertIn(f" {phase} ", r.text)
        self.assertIn("relaxations/s", r.text)
        for name, value in (("radius", 3), ("star", "coprime"), ("method", "active_tiles"),
                            ("weights", "slowness"), ("precision", "float"), ("storage", "automatic")):
            self.assertEqual(s["asked"][name], value)


# ctest: quick
class Section2D(Results2D3D, Case):
    arguments = ["--builtin", "salt", "--shape", "81,51", "--spacing", 10, "--source", "100,0", "--source",
                 "433.3,207.9", "--receiver-line", "0,500:800,500:9", "--radius", 3]
    shape = (81, 51)
    sources = [(100.0, 0.0), (433.3, 207.9)]


class Volume3D(Results2D3D, Case):
    arguments = ["--builtin", "salt", "--shape", "25,22,19", "--spacing", "10,8,12", "--source", "33,57,11",
                 "--receiver-line", "0,0,0:240,168,216:7", "--coordinates", "xyz", "--radius", 3]
    shape = (25, 22, 19)
    sources = [(33.0, 57.0, 11.0)]


class Marmousi(Case):
    def test_marmousi(self):
        name = os.path.join(self.data, "marmousi_vp_461x151_20m.npy")
        if not os.path.isfile(name):
            self.skipTest("the Marmousi model is not there")
        v = np.load(name)
        a, b = (1000.0, 0.0), (8000.0, 2400.0)
        survey = ["--model", name, "--spacing", 20, "--precision", "double", "--source", f"{a[0]},{a[1]}",
                  "--source", f"{b[0]},{b[1]}", "--receiver-line", f"{a[0]},{a[1]},{b[0]},{b[1]},2"]
        r = self.trace(*survey)
        self.assertEqual(r.times.shape, (2, *v.shape))
        # Reciprocity, and bounds by the smallest and largest velocity of the model.
        there, back = r.receivers["traveltime"][1], r.receivers["traveltime"][2]
        self.assertAlmostEqual(there / back, 1.0, delta=1e-12)
        x, z = np.meshgrid(20.0 * np.arange(461), 20.0 * np.arange(151), indexing="ij")
        distance = np.hypot(x - a[0], z - a[1])
        self.assertTrue(np.all(r.times[0] >= distance / v.max() * (1 - 1e-9)))
        self.assertTrue(np.all(r.times[0] <= distance / v.min() * (1 + angular_bound(6) + 1e-9)))
        # The times of neighbouring nodes differ by at most the traveltime of their edge.
        slowest = 20.0 / v.min() * (1 + 1e-9)
        self.assertTrue(np.all(np.abs(np.diff(r.times[0], axis=0)) <= slowest))
        self.assertTrue(np.all(np.abs(np.diff(r.times[0], axis=1)) <= slowest))
        exact = self.trace(*survey, "--method", "dijkstra")
        np.testing.assert_allclose(r.times, exact.times, rtol=1e-12, atol=0)


if __name__ == "__main__":
    sys.exit(support.main(__doc__))
