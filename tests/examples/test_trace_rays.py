#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the program trace_rays through its command line.

usage: test_trace_rays.py --program PATH [--data FOLDER] [names of test classes]
Exit status 77 if numpy is missing or every test was skipped.
"""

import importlib.util
import json
import math
import os
import struct
import sys

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


# ctest: quick
class Defaults(Case):
    def test_source_and_receivers_by_default(self):
        r = self.trace("--gradient", "1500,0.5", "--shape", "41,21")
        self.assertEqual(r.summary["sources"], [[200.0, 0.0]])
        self.assertEqual(len(r.summary["receivers"]), 41)
        self.assertIn("no --source was given", r.text)
        self.assertIn("no receivers were given", r.text)
        self.assertEqual(r.summary["asked"]["radius"], 6)
        self.assertEqual(self.trace("--gradient", "1500,0", "--shape",
                                    "x=9,z=8,y=7").summary["asked"]["radius"], 3)

    def test_receiver_line(self):
        r = self.trace("--gradient", "1500,0", "--shape", "1201,41", "--radius", 1, "--receiver-line",
                       "300,321.7,11700,321.7,39")
        line = np.array(r.summary["receivers"])
        np.testing.assert_allclose(line[:, 0], 300.0 * np.arange(1, 40), rtol=1e-14)
        self.assertEqual(set(line[:, 1]), {321.7})
        self.assertEqual(line[0].tolist() + line[-1].tolist(), [300.0, 321.7, 11700.0, 321.7])

    def test_one_column_and_one_node(self):
        r = self.trace("--gradient", "2000,0", "--shape", "1,51", "--source", "0,0", "--receiver-line",
                       "0,100,0,500,3", "--precision", "double")
        np.testing.assert_allclose(r.times[0, 0], 10.0 * np.arange(51) / 2000.0, rtol=1e-12)
        r = self.trace("--gradient", "2000,0", "--shape", "1,1")
        self.assertEqual(r.times.shape, (1, 1, 1))
        self.assertEqual(r.times[0, 0, 0], 0.0)

    def test_help_and_version(self):
        done = self.call("--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for word in ("--model", "--gradient", "--builtin", "--shape", "--spacing", "--source", "--receivers",
                     "--receiver-line", "--radius", "--star", "--method", "--precision", "--space",
                     "--memory", "--weights", "--storage", "--out", "--config", "--no-plot", "metres",
                     "DEPTH", "Examples"):
            self.assertIn(word, done.stdout)
        done = self.call("--version")
        self.assertEqual(done.returncode, 0)
        self.assertIn("Kokkos", done.stdout)


class Models(Case):
    survey = ["--source", "20,0", "--receiver-line", "0,60,100,60,5", "--radius", 3]

    def model(self):
        rng = np.random.default_rng(7)
        return (1500.0 + 2000.0 * rng.random((51, 31))).astype(np.float32)

    def test_npy_in_every_form(self):
        v = self.model()
        expected = self.trace("--model", self.save("v.npy", v), "--spacing", 4, *self.survey).times
        for array in (np.asfortranarray(v), v.astype(">f4"), v.astype(np.float64)):
            r = self.trace("--model", self.save("w.npy", array), "--spacing", 4, *self.survey)
            np.testing.assert_array_equal(r.times, expected)
            np.testing.assert_array_equal(r.velocity, v)
        # integers are converted with a note, if they are exact
        whole = np.rint(v)
        expected = self.trace("--model", self.save("v.npy", whole), "--spacing", 4, *self.survey).times
        for kind in (np.int64, np.int32, np.int16):
            r = self.trace("--model", self.save("whole.npy", whole.astype(kind)), "--spacing", 4,
                           *self.survey)
            np.testing.assert_array_equal(r.times, expected)
            self.assertIn("whole.npy: the integers were converted to float", r.summary["model"]["note"])
        self.refuse(["--model", self.save("whole.npy", np.full((51, 31), 2 ** 24 + 1)), "--spacing", 4,
                     *self.survey],
                    "--model", "holds the integer 16777217 (allowed: up to 16777216")

    def test_names_of_receivers(self):
        rows = [("ST 9", 40.0, 60.0, "0.5"), ("ST1", 0.0, 60.0, ""), ("12", 100.0, 60.0, "late")]
        table = "Station,x,remark,z\n" + "".join(f"{name},{x},{remark},{z}\n" for name, x, z, remark in rows)
        survey = ["--gradient", "1500,0.5", "--shape", "51,31", "--spacing", 4, "--source", "20,0",
                  "--source", "60,0", "--radius", 3, "--receivers"]
        expected = self.trace(*survey, "40,60; 0,60; 100,60").receivers["traveltime"]
        r = self.trace(*survey, self.write("s.csv", table))
        np.testing.assert_array_equal(r.receivers["traveltime"], expected)
        with open(self.path("out/receivers.csv"), encoding="utf-8") as file:
            lines = [line.rstrip("\n").split(",") for line in file]
        self.assertEqual(lines[0], ["source", "receiver", "x", "z", "traveltime", "Station", "remark"])
        self.assertEqual([line[5:] for line in lines[1:]],
                         2 * [[name, remark] for name, _, _, remark in rows])
        self.trace(*survey, self.write("s.csv", "receiver;z;x\nA;60;40\nB;60;0\n"))
        with open(self.path("out/receivers.csv"), encoding="utf-8") as file:
            self.assertEqual(file.readline(), "source,receiver,x,z,traveltime,receiver_name\n")
        self.refuse([*survey, self.write("s.csv", "name,x,z\nA,4O,60\n")], "s.csv:2:3: '4O' is no number")

    def test_matrix(self):
        survey = ["--gradient", "1500,0.5", "--shape", "41,31", "--spacing", 10, "--source", "0,0",
                  "--source", "203,98", "--receiver-line", "0,290,400,290,9", "--radius", 4, "--precision",
                  "double"]
        for basis, columns in (("nodes", 41 * 31), ("cells", 40 * 30)):
            r = self.trace(*survey, "--matrix", basis)
            self.assertEqual(r.summary["asked"]["matrix"], basis)
            with np.load(self.path("out/matrix.npz")) as file:
                self.assertEqual(file["format"].item(), b"csr")
                self.assertEqual(file["shape"].tolist(), [18, columns])
                matrix = np.zeros((18, columns))
                for row in range(18):
                    part = slice(*file["indptr"][row:row + 2])
                    matrix[row, file["indices"][part]] = file["data"][part]
            with open(self.path("out/matrix.mtx"), encoding="ascii") as file:
                self.assertEqual(file.readline(), "%%MatrixMarket matrix coordinate real general\n")
                entries = np.loadtxt(file, comments="%")
            self.assertEqual(entries[0].tolist(), [18, columns, np.count_nonzero(matrix)])
            other = np.zeros_like(matrix)
            other[entries[1:, 0].astype(int) - 1, entries[1:, 1].astype(int) - 1] = entries[1:, 2]
            np.testing.assert_array_equal(other, matrix)
            table = np.genfromtxt(self.path("out/receivers.csv"), delimiter=",", names=True)
            if basis == "nodes":
                np.testing.assert_allclose(matrix @ (1.0 / r.velocity).ravel(), table["traveltime"],
                                           rtol=1e-12)
            else:
                rays = np.genfromtxt(self.path("out/rays.csv"), delimiter=",", names=True)
                lengths = [np.hypot(np.diff(ray["x"]), np.diff(ray["z"])).sum()
                           for ray in (rays[rays["ray"] == k] for k in range(18))]
                np.testing.assert_allclose(matrix.sum(axis=1), lengths, rtol=1e-12)
            if importlib.util.find_spec("scipy"):
                import scipy.sparse
                np.testing.assert_array_equal(scipy.sparse.load_npz(self.path("out/matrix.npz")).toarray(),
                                              matrix)
        self.refuse([*survey, "--matrix", "lines"], "--matrix 'lines' is unknown", "nodes")

    def test_units(self):
        v = self.model()
        expected = self.trace("--model", self.save("v.npy", v), "--spacing", 4, *self.survey).times
        rows = v.astype("<f4").tobytes()
        header = ("n1=%d n2=%d d1=0.004 d2=0.004 unit1=km unit2=km %s data_format=native_float in=stdin\n"
                  "\x0c\x0c\x04")
        metres = (header % (v.shape[1], v.shape[0], "")).encode()
        r = self.trace("--model", self.write("metres.rsf", metres + rows), *self.survey)
        np.testing.assert_allclose(r.summary["model"]["spacing"], [4.0, 4.0], rtol=1e-12)
        np.testing.assert_allclose(r.times, expected, rtol=1e-6)
        slow = (v / 1000).astype("<f4")
        name = self.save("slow.npy", slow)
        self.refuse(["--model", name, "--spacing", 4, *self.survey], "--model ", "slow.npy: velocities of ",
                    "km/s? give --velocity-unit km/s")
        r = self.trace("--model", name, "--spacing", 4, "--velocity-unit", "km/s", *self.survey)
        np.testing.assert_allclose(r.times, expected, rtol=1e-6)
        self.assertEqual(r.summary["asked"]["velocity_unit"], "km/s")
        told = (header % (v.shape[1], v.shape[0], 'unit="km/s"')).encode()
        r = self.trace("--model", self.write("told.rsf", told + slow.tobytes()), *self.survey)
        np.testing.assert_allclose(r.times, expected, rtol=1e-6)
        self.assertIn("told.rsf says that its velocities are in km/s: converted to m/s", r.text)
        self.refuse(["--model", self.path("v.npy"), "--spacing", 4, "--velocity-unit", "km/s"],
                    "in km/s are up to", "take another --velocity-unit")
        self.refuse(["--model", self.write("time.rsf", metres.replace(b"unit1=km", b"unit1=s") + rows)],
                    "has unit1=s", "not on times")
        self.refuse(["--gradient", "1.5,0.8"], "--gradient 1.5,0.8: velocities of 1.5: km/s?")
        self.refuse(["--builtin", "salt", "--velocity-unit", "km/s"],
                    "--velocity-unit was given with --builtin")
        self.refuse(["--model", name, "--velocity-unit", "mph"], "--velocity-unit 'mph' is unknown", "km/s")
        r = self.trace("--gradient", "1.5,0.5", "--velocity-unit", "km/s", "--shape", "41,21")
        np.testing.assert_array_equal(r.velocity,
                                      self.trace("--gradient", "1500,0.5", "--shape", "41,21").velocity)

    def test_spacing_not_given_is_asked_for(self):
        name = self.save("v.npy", self.model())
        self.refuse(["--model", name], "--spacing is missing (--model ", "v.npy does not say",
                    "--spacing 10 for 10 m")
        r = self.trace("--model", name, "--spacing", "5,10")
        self.assertEqual(r.summary["model"]["spacing"], [5.0, 10.0])
        self.assertNotIn("note", r.summary["model"])

    def test_rsf(self):
        v = self.model()
        header = 'n1=31 n2=51 d1=4 d2=4 o1=0 o2=0 esize=4 data_format="native_float" in="v.bin"\n'
        self.write("v.bin", v.tobytes())
        expected = self.trace("--model", self.save("v.npy", v), "--spacing", 4, *self.survey)
        r = self.trace("--model", self.write("v.rsf", header), *self.survey)
        np.testing.assert_array_equal(r.times, expected.times)
        self.assertEqual(r.summary["model"]["spacing"], [4.0, 4.0])
        r = self.trace("--model", self.path("v.rsf"), "--spacing", 8, *self.survey)
        self.assertEqual(r.summary["model"]["spacing"], [8.0, 8.0])
        moved = header.replace("o2=0", "o2=1000")
        r = self.trace("--model", self.write("w.rsf", moved), "--source", "1020,0", "--receiver-line",
                       "1000,60,1100,60,5", "--radius", 3)
        np.testing.assert_allclose(r.times, expected.times, rtol=1e-6)
        self.assertEqual(r.ray(0)[0].tolist(), [1020.0, 0.0])

    def test_segy(self):
        v = self.model()
        head = bytearray(3600)
        for at, value in ((3216, 4000), (3220, v.shape[1]), (3224, 5)):  # interval, samples, IEEE float
            struct.pack_into(">h", head, at, value)
        content = bytes(head)
        for k, column in enumerate(v):
            trace = bytearray(240)
            struct.pack_into(">i", trace, 0, k + 1)
            struct.pack_into(">h", trace, 70, 1)  # scalar of the coordinates
            struct.pack_into(">hh", trace, 114, v.shape[1], 4000)
            struct.pack_into(">i", trace, 180, 4 * k)  # x of the ensemble
            content += bytes(trace) + column.astype(">f4").tobytes()
        expected = self.trace("--model", self.save("v.npy", v), "--spacing", 4, *self.survey)
        for name in ("v.segy", "v.sgy"):
            r = self.trace("--model", self.write(name, content), *self.survey)
            np.testing.assert_array_equal(r.velocity, v)
            np.testing.assert_allclose(r.times, expected.times, rtol=1e-6)
            self.assertEqual(r.summary["model"]["spacing"], [4.0, 4.0])
        # lengths in feet: the unit of velocities is ambiguous
        self.write("ft.sgy", content[:3254] + b"\0\2" + content[3256:])
        survey = ["--source", "5,0", "--receiver-line", "0,18,30,18,5", "--radius", 3]
        self.refuse(["--model", "ft.sgy", *survey], "--model ft.sgy: lengths in the file are in feet",
                    "--velocity-unit ft/s")
        r = self.trace("--model", "ft.sgy", "--velocity-unit", "ft/s", *survey)
        np.testing.assert_allclose(r.summary["model"]["spacing"], [4 * 0.3048, 4 * 0.3048], rtol=1e-12)
        np.testing.assert_allclose(r.velocity, 0.3048 * v, rtol=1e-6)
        r = self.trace("--model", "ft.sgy", "--velocity-unit", "m/s", *survey)
        np.testing.assert_array_equal(r.velocity, v)

    def test_axes_order(self):
        v = np.full((21, 11, 5), 2000.0, dtype=np.float32)
        v[:, :, 3:] = 4000.0
        r = self.trace("--model", self.save("v.npy", v), "--spacing", "x=10,z=30,y=20", "--source", "0,0,0")
        self.assertEqual(r.axes(), ["x", "y", "z"])
        self.assertEqual(r.summary["model"]["spacing"], [10.0, 20.0, 30.0])
        self.assertAlmostEqual(float(r.times[0, 0, 0, 2]), 60.0 / 2000.0, places=6)
        self.assertAlmostEqual(float(r.times[0, 0, 2, 0]), 40.0 / 2000.0, places=6)

    def test_receiver_files(self):
        places = [(10.0, 5.0), (33.25, 12.5), (0.0, 20.0)]
        base = ["--gradient", "2000,1", "--shape", "41,21", "--spacing", 1, "--source", "20,0"]
        text = "station,z,x\n" + "".join(f"{k},{z},{x}\n" for k, (x, z) in enumerate(places))
        from_csv = self.trace(*base, "--receivers", self.write("r.csv", text))
        from_npy = self.trace(*base, "--receivers", self.save("r.npy", np.array(places)))
        np.testing.assert_allclose(from_csv.summary["receivers"], places)
        np.testing.assert_array_equal(from_csv.receivers, from_npy.receivers)
        volume = ["--gradient", "2000,1", "--shape", "x=21,y=15,z=11", "--spacing", 1, "--source", "10,7,7"]
        r = self.trace(*volume, "--receivers", self.write("r.csv", "x,y,z\n1,2,3\n20,14,10\n"))
        self.assertEqual(r.summary["receivers"], [[1.0, 2.0, 3.0], [20.0, 14.0, 10.0]])

    def test_builtin_salt(self):
        r = self.trace("--builtin", "salt", "--shape", "301,101", "--radius", 1)
        v = r.velocity
        self.assertTrue(np.all((v >= 1500) & (v <= 3500) | (v == 4500)))
        self.assertTrue(0.1 < np.mean(v == 4500) < 0.4)
        salt = v == 4500
        overhang = [np.any(~column[np.argmax(column):np.argmax(column) + 80]) and column.any()
                    for column in salt]
        self.assertGreater(np.mean(overhang), 0.2)
        tops = np.argmax(salt, axis=1)[110:190]
        self.assertGreater(np.count_nonzero(np.diff(np.sign(np.diff(tops)))), 3)


class Configuration(Case):
    arguments = ["--builtin", "salt", "--shape", "61,41", "--source", "100,0", "--source", "300,50",
                 "--receiver-line", "0,300,500,300,6", "--radius", "4", "--star", "full", "--precision",
                 "double", "--weights", "velocity"]
    text = """# a survey
builtin = salt
shape = 61,41
source = 100,0
source = 300,50     # the second shot
receiver-line = 0,300,500,300,6
radius = 4
star = full
precision = double
weights = velocity
"""

    def same(self, a, b):
        np.testing.assert_array_equal(a.times, b.times)
        np.testing.assert_array_equal(a.rays, b.rays)
        for key in ("model", "sources", "receivers"):
            self.assertEqual(a.summary[key], b.summary[key])

    def test_file_equals_command_line(self):
        config = self.write("survey.cfg", self.text)
        self.same(self.trace(*self.arguments), self.trace("--config", config))

    def test_command_line_wins(self):
        config = self.write("survey.cfg", self.text)
        r = self.trace("--config", config, "--radius", 2, "--source", "40,40")
        self.assertEqual(r.summary["asked"]["radius"], 2)
        self.assertEqual(r.summary["sources"], [[40.0, 40.0]])
        r = self.trace("--config", config, "--gradient", "1500,1", "--radius", 1)
        self.assertEqual(r.summary["model"]["name"], "--gradient 1500,1")
        self.assertEqual(r.summary["model"]["shape"], [601, 201])
        table = self.write("r.csv", "x,z\n10,20\n")
        r = self.trace("--config", config, "--receivers", table)
        self.assertEqual(r.summary["receivers"], [[10.0, 20.0]])

    def test_quotes_and_other_names(self):
        text = self.text.replace("builtin = salt",
                                 "vp = '2000' # of all nodes").replace("4\n", '"4"   # nodes\n', 1)
        r = self.trace("--config", self.write("survey.cfg", text + "spacing = 10\nout = \"a # b\"\n"))
        self.assertEqual(r.summary["model"]["name"], "--model 2000")
        self.assertEqual(r.summary["asked"]["radius"], 4)
        self.assertEqual((r.velocity.min(), r.velocity.max()), (2000.0, 2000.0))
        self.assertEqual(self.call("--config", "survey.cfg", "--no-plot").returncode, 0)
        self.assertTrue(os.path.isfile(self.path("a # b/summary.json")))

    def test_no_plot_in_a_file(self):
        config = self.write("survey.cfg", self.text + "no-plot = true\n")
        r = self.trace("--config", config, plot=True)
        self.assertNotIn("rays.png", os.listdir(r.folder))

    def test_refusals(self):
        self.refuse(["--config", "none.cfg"], "--config none.cfg", "cannot be read")
        self.refuse(["--config", self.folder], "--config", "cannot be read")
        self.refuse(["--config", self.write("a.cfg", "builtin = salt\nradios = 3\n")], "a.cfg",
                    "a.cfg:2: 'radios' is no option")
        self.refuse(["--config", self.write("b.cfg", "builtin\n")], "b.cfg:1", "name = value")
        for line, why in (("radius = 3\nradius = 4", "c.cfg:3: 'radius' was given in line 2, too"),
                          ("out = 'a b", "has no end"), ("out = 'a' b", "there is 'b' behind"),
                          ("no-plot = perhaps", "neither true nor false"),
                          ("[grid]", "'[grid]' has no value"),
                          ("quiet # = true", "c.cfg:2: 'quiet' has no value")):
            self.refuse(["--config", self.write("c.cfg", f"builtin = salt\n{line}\n")], "c.cfg:", why)
        # every error of a value is reported with its line; values of the command line have no line
        self.refuse(["--config", self.write("c.cfg", "builtin = salt\nradius = six\n")], "c.cfg:2: --radius",
                    "six")
        self.refuse(["--config", "c.cfg", "--radius", "seven"], "trace_rays: --radius", "seven")
        self.refuse(["--config", self.write("c.cfg", "builtin = salt\n\n# far\nsource = 1e7,0\n")],
                    "c.cfg:4: --source")


# ctest: quick
class Picture(Case):
    arguments = ["--builtin", "salt", "--shape", "61,41", "--radius", 2]

    def test_program_draws(self):
        self.needs_matplotlib()
        r = self.trace(*self.arguments, plot=True)
        self.assert_picture(os.path.join(r.folder, "rays.png"))
        self.assertIn("rays.png", r.summary["files"])
        self.assertGreater(r.summary["seconds"]["picture"], 0)
        self.assertEqual(r.summary["picture"], "rays.png")

    def test_many_sources(self):
        sources = [word for k in range(10) for word in ("--source", f"{60 * k},0")]
        self.draw("plot_rays", self.trace(*self.arguments, *sources).folder, "rays.png")

    def test_volume(self):
        r = self.trace("--builtin", "salt", "--shape", "x=21,y=18,z=15", "--radius", 1)
        self.draw("plot_rays", r.folder, "rays.png")

    def test_thin_models(self):
        for shape in ("1,21", "x=21,y=1,z=15"):
            r = self.trace("--gradient", "2000,0", "--shape", shape, "--radius", 1)
            self.draw("plot_rays", r.folder, "rays.png")

    def test_an_old_picture_does_not_stay(self):
        os.mkdir(self.path("out"))
        self.write("out/rays.png", "of another run")
        self.write("out/summary.json", '{"program": "trace_rays", "files": ["rays.png"]}')
        self.trace(*self.arguments)
        self.assertFalse(os.path.exists(self.path("out/rays.png")))


# ctest: quick
class Program(support.EveryProgram, Case):
    small = ["--builtin", "salt", "--shape", "31,21", "--radius", 2]
    script = "plot_rays"


class NothingIsLost(support.NothingIsLost, Case):
    small = ["--builtin", "salt", "--shape", "31,21", "--radius", 2]
    slow = ["--builtin", "salt", "--shape", "x=161,y=161,z=121", "--radius", 4]
    results = ["traveltime.npy", "velocity.npy", "rays.csv", "rays.vtk", "receivers.csv"]
    former = "matrix.npz"
    read = [("velocity.npy", support.npy(np.full((31, 21), 2000.0)),
             lambda f: ["--model", f, "--spacing", "5"], "model"),
            ("traveltime.npy", support.npy(np.full((31, 21), 2000.0)), lambda f: ["--model", f], "model"),
            ("receivers.csv", b"x,z\n0,0\n", lambda f: ["--builtin", "salt", "--receivers", f], "receivers")]
    shapes = [["--builtin", "salt", "--shape", "x=121,y=101,z=81", "--radius", 2],
              ["--builtin", "salt", "--shape", "x=121,y=101,z=81", "--radius", 2, "--source", "0,0,0",
               "--source", "x=700,y=500,z=0"],
              ["--builtin", "salt", "--shape", "1001,701", "--radius", 3, "--precision", "double"],
              ["--builtin", "salt", "--shape", "601,401", "--radius", 4, "--storage", "stored", "--method",
               "relaxation"]]

    def test_data_of_a_header(self):
        # The header is in another folder; the data would be replaced.
        os.mkdir(self.path("out"))
        self.write("out/velocity.npy", np.full(31 * 21, 2000.0, dtype=np.float32).tobytes())
        header = self.write("v.rsf",
                            'n1=21 n2=31 d1=5 d2=5 data_format="native_float" in="out/velocity.npy"\n')
        done = self.call("--model", header, "--no-plot", "--out", "out")
        self.assert_refused(done, "would replace --model", "out/velocity.npy")
        self.assertEqual(self.files(), ["velocity.npy"])


# ctest: quick
class BadOptions(Case):
    good = ["--builtin", "salt", "--shape", "31,21"]

    def test_model_choice(self):
        self.refuse([], "no model was given", "--model", "--gradient", "--builtin")
        self.refuse(["--model", "a.npy", "--gradient", "1500,1"], "--model and --gradient", "both given")
        self.refuse(["--builtin", "sand"], "--builtin 'sand' is unknown", "salt")
        self.refuse(["--model", "a.npy", "--shape", "3,4"], "--shape was given with --model")

    def test_unknown(self):
        self.refuse([*self.good, "--colour", "red"], "--colour", "--help")
        self.refuse([*self.good, "salt.npy"], "'salt.npy' belongs to no option")
        self.refuse([*self.good, "--rad", "3"], "--rad")
        self.refuse([*self.good, "--radius"], "--radius is missing before --no-plot")
        self.assertIn("--radius", self.call(*self.good, "--no-plot", "--radius").stderr)
        self.refuse([*self.good, "--radius", "3", "--radius", "4"], "--radius", "more than once")

    def test_names(self):
        for option, word in (("--space", "cuda"), ("--method", "near_far"), ("--precision", "double"),
                             ("--star", "full"), ("--weights", "sampled"), ("--storage", "on_the_fly")):
            self.refuse([*self.good, option, "best"], f"{option} 'best' is unknown", word)

    def test_space_of_another_build(self):
        if "cuda" in self.call("--version").stdout:
            self.skipTest("this build has every space")
        self.refuse([*self.good, "--space", "cuda"], "--space cuda is not in this program", "it has: ")

    def test_numbers(self):
        self.refuse([*self.good, "--source", "12,abc"], "--source",
                    "'12,abc' has 'abc' where a number should be")
        self.refuse([*self.good, "--source", "12"], "--source", "'12' has 1 coordinate, not 2", "x,z")
        self.refuse([*self.good, "--source", "1,2,3,4"], "--source", "has 4 coordinates")
        self.refuse([*self.good, "--source", "12,"], "--source", "has '' where a number should be")
        self.refuse([*self.good, "--source", "nan,0"], "--source", "'nan'")
        self.refuse([*self.good, "--source", "1e999,0"], "--source", "'1e999'")
        self.refuse([*self.good, "--source", "12,5m"], "--source", "'5m'")
        self.refuse(["--gradient", "1500"], "--gradient", "v0,g")
        self.refuse(["--gradient", "fast,1"], "--gradient", "'fast'")
        self.refuse([*self.good, "--shape", "31,21"], "--shape", "more than once")
        for shape in ("31", "31,21,5,2", "x=31,21", "x=31,y=21", "x=31,x=5,z=21", "0,21", "-3,21", "3.5,21",
                      "31,x"):
            self.refuse(["--builtin", "salt", "--shape", shape], "--shape", shape)
        for spacing in ("0", "-10", "10,0", "ten", "1,2,3,4", "inf"):
            self.refuse([*self.good, "--spacing", spacing], "--spacing")
        self.refuse([*self.good, "--spacing", "10,10,10"], "--spacing has 3 values", "2 dimensions")
        for line in ("0,0,300,200", "0,0,300,200,0", "0,0,300,200,2.5", "0,0,300,200,many"):
            self.refuse([*self.good, "--receiver-line", line], "--receiver-line", line)
        for memory in ("much", "-1G", "0", "8X", ""):
            self.refuse([*self.good, "--memory", memory], "--memory")

    def test_slabs_and_fragments(self):
        for option in ("--devices", "--slabs"):
            self.refuse([*self.good, option, "0"], option)
            self.refuse([*self.good, option, "2", "--method", "relaxation"], option, "allowed: active_tiles")
        self.refuse([*self.good, "--devices", "40", "--space", "serial"], "--devices: 40", "allowed for this")
        self.refuse(["--builtin", "salt", "--shape", "401,301", "--storage", "fragments", "--memory", "6M",
                     "--radius", "8", "--space", "serial"], "fragments of the table", "allow at least")

    def test_three_numbers_are_x_y_z(self):
        volume = ["--vp", "2000", "--spacing", "10,9,8", "--shape", "9,21,8"]
        plain = self.trace(*volume, "--source", "10,20,50", "--receivers", "0,0,0:80,180,0:3x2x1")
        self.assertEqual(plain.summary["model"]["shape"], [9, 21, 8])
        self.assertEqual(plain.summary["model"]["spacing"], [10.0, 9.0, 8.0])
        self.assertEqual(plain.summary["sources"], [[10.0, 20.0, 50.0]])
        self.assertEqual(plain.summary["receivers"],
                         [[x, y, 0.0] for x in (0.0, 40.0, 80.0) for y in (0.0, 180.0)])
        self.write("run.cfg", "source = z=50,y=20,x=10\ncoordinates = xyz\nreceivers = "
                              "x=0,z=0,y=0:x=80,z=0,y=180:3x1x2\n")
        named = self.trace("--vp", "2000", "--spacing", "x=10,z=8,y=9", "--shape", "z=8,x=9,y=21", "--config",
                           "run.cfg")
        for key in ("sources", "receivers"):
            self.assertEqual(named.summary[key], plain.summary[key])
        self.refuse([*volume, "--source", "10,50,190"], "--source", "(10, 50, 190)", "is outside the model")
        self.refuse([*volume, "--coordinates", "xzy"], "--coordinates is 'xzy'", "allowed: xyz")

    def test_missing_shape_and_spacing(self):
        self.refuse(["--vp", "2000", "--shape", "9,8"], "--spacing is missing")
        self.refuse(["--vp", "2000", "--spacing", "9"], "--shape is missing")

    def test_radius(self):
        for radius in ("0", "-1", "9", "2.5", "x"):
            self.refuse([*self.good, "--radius", radius], "--radius", f"'{radius}'", "1 to 8")
        self.refuse(["--builtin", "salt", "--shape", "9,8,8", "--radius", "5"], "--radius is 5", "1 to 4")

    def test_both_kinds_of_receivers(self):
        self.refuse([*self.good, "--receivers", "r.csv", "--receiver-line", "0,0,1,1,2"],
                    "--receivers and --receiver-line are one option", "more than once")

    def test_out(self):
        self.write("file", "x")
        self.refuse([*self.good, "--out", "file"], "--out file")
        self.refuse([*self.good, "--out", "file/deeper"], "--out file/deeper")
        self.refuse([*self.good, "--out", "/proc/trace_rays"], "--out /proc/trace_rays")
        self.refuse([*self.good, "--out", ""], "--out")

    def test_memory(self):
        self.refuse([*self.good, "--memory", "2K"], "memory", "2 KiB")
        self.refuse([*self.good, "--storage", "stored", "--memory", "30K"], "memory")
        self.refuse(["--gradient", "1500,0", "--shape", "4000000,4000000"], "--shape", "of memory")


class BadInput(Case):
    def bad_velocity(self, value, text):
        v = np.full((31, 21), 2000.0, dtype=np.float32)
        v[7, 11] = value
        message = self.refuse(["--model", self.save("v.npy", v), "--spacing", 10], "--model ", "v.npy",
                              f"the velocity is {text} m/s", "(7, 11)", "(70, 110) m")
        self.assertNotIn("more nodes", message)

    def test_velocity(self):
        self.bad_velocity(0.0, "0")
        self.bad_velocity(-1500.0, "-1500")
        self.bad_velocity(np.nan, "nan")
        self.bad_velocity(np.inf, "inf")
        # times would be infinite, or their products zero; limits are those of first_arrivals
        for velocity in ("1e-38", "0.00099", "1e30"):
            self.refuse(["--model", velocity, "--shape", "31,21", "--spacing", "10"],
                        f"--model {velocity}: the velocity is ",
                        "at node (0, 0), (x, z) = (0, 0) m",
                        "(allowed: positive and finite, 0.001 to 1000000000 m/s)")
        v = np.full((11, 12, 13), 2000.0)
        v[3, 4, 5] = v[6, 7, 8] = 0.0
        self.refuse(["--model", self.save("v.npy", v), "--spacing", 10], "(3, 4, 5)", "(30, 40, 50) m",
                    "1 more node")
        self.refuse(["--gradient", "1500,-10", "--shape", "31,21"], "--gradient 1500,-10", "velocity is 0")

    def test_places(self):
        good = ["--builtin", "salt", "--shape", "31,21"]
        self.refuse([*good, "--source", "10,10", "--source", "301,10"],
                    "--source: source 2: (301, 10) is outside the model (allowed: x 0 to 300, z 0 to 200): "
                    "move it, or check --spacing and the order of coordinates")
        self.refuse([*good, "--source", "-1,10"], "source 1: (-1, 10)")
        self.refuse([*good, "--source", "10,10,10"], "--source: '10,10,10' has 3 coordinates, not 2")
        self.refuse(["--builtin", "salt", "--shape", "9,8,8", "--source", "10,10"], "2 coordinates, not 3",
                    "x,y,z")
        self.refuse([*good, "--receiver-line", "0,0,300,201,3"], "receiver 3: (300, 201)", "z 0 to 200")
        self.refuse([*good, "--receiver-line", "0,0,0,1,1,1,3"], "--receiver-line", "7 coordinates")
        self.refuse([*good, "--receivers", self.write("r.csv", "x,z\n0,0\n10,250\n")], "r.csv",
                    "receiver 2: (10, 250)")

    def test_receiver_files(self):
        good = ["--builtin", "salt", "--shape", "31,21"]
        self.refuse([*good, "--receivers", "none.csv"], "none.csv")
        self.refuse([*good, "--receivers", self.write("a.csv", "x,z\n1,two\n")], "a.csv", "two")
        self.refuse([*good, "--receivers", self.write("b.csv", "x,depth\n1,2\n")], "b.csv", "no column 'z'")
        self.refuse([*good, "--receivers", self.write("c.csv", "x,z\n")], "c.csv")
        self.refuse([*good, "--receivers", self.write("d.xls", "1")], "d.xls", ".csv")
        self.refuse([*good, "--receivers", self.save("e.npy", np.zeros((4, 3)))], "e.npy", "3 columns", "x,z")
        self.refuse([*good, "--receivers", self.save("f.npy", np.zeros(4))], "f.npy")

    def test_model_files(self):
        self.refuse(["--model", "none.npy"], "none.npy")
        self.refuse(["--model", "none.segy"], "none.segy")
        self.refuse(["--model", self.folder], self.folder)
        self.refuse(["--model", self.write("v.txt", "1 2 3")], "v.txt", ".npy, .rsf, .sgy, .segy")
        self.refuse(["--model", self.write("v.npy", "not an array")], "v.npy")
        self.refuse(["--model", self.write("v.sgy", b"\0" * 100)], "v.sgy")
        whole = open(self.save("w.npy", np.full((31, 21), 2000.0, dtype=np.float32)), "rb").read()
        self.refuse(["--model", self.write("t.npy", whole[:-4])], "t.npy")
        self.refuse(["--model", self.write("h.npy", whole[:20])], "h.npy")
        self.refuse(["--model", self.save("i.npy", np.full((31, 21), 2000))], "i.npy")
        self.refuse(["--model", self.save("c.npy", np.full((31, 21), 2000j))], "c.npy")
        self.refuse(["--model", self.save("1.npy", np.full(31, 2000.0))], "1.npy", "31")
        self.refuse(["--model", self.save("4.npy", np.full((3, 4, 5, 6), 2000.0))], "4.npy", "3 x 4 x 5 x 6")
        header = 'n1=31 n2=51 d1=4 d2=4 data_format="native_float" in="v.bin"\n'
        self.write("v.bin", b"\0" * (31 * 51 * 4 - 1))
        self.refuse(["--model", self.write("v.rsf", header)], "v.bin")


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
