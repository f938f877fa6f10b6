#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the program model_gravity through its command line.

usage: test_model_gravity.py --program PATH [--mpirun PATH] [names of test classes]
Exit status 77 if numpy is missing or every test was skipped.
"""

import itertools
import json
import math
import os
import sys

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


# ctest: quick
class Analytic(Case):
    def test_closed_form(self):
        prisms = some_prisms(11)
        r = self.model("--prisms", self.save("p.npy", prisms), *self.grid, "--components", "all")
        self.assertEqual(r.names, NAMES)
        self.close(r.all(), field(prisms, self.stations), 1e-10)

    def test_single_precision(self):
        prisms = some_prisms(11)
        r = self.model("--prisms", self.save("p.npy", prisms), *self.grid, "--components", "all",
                       "--precision", "float")
        self.assertEqual(r.values["gz"].dtype, np.float64)
        self.close(r.all(), field(prisms, self.stations), 1e-5)

    def test_slab(self):
        # 2 pi G rho h, less the missing part of a finite slab: about a fraction h / R of it, seen from above.
        p = self.save("p.npy", np.array([[-1e7, 1e7, -1e7, 1e7, 10.0, 110.0, 1000.0]]))
        r = self.model("--prisms", p, "--grid", "1,1,1,1,0,0", "--components", "gx,gy,gz")
        self.assertAlmostEqual(float(r.values["gz"][0, 0]) / (2 * math.pi * G * 1000 * 100 * 1e5), 1.0,
                               places=4)
        self.assertAlmostEqual(float(r.values["gx"][0, 0]), 0.0, places=9)

    def test_signs(self):
        # Mass to the north, east and below: it attracts in these directions.
        p = self.save("p.npy", np.array([[900.0, 1100, 400, 600, 200, 400, 500]]))
        r = self.model("--prisms", p, "--grid", "1,1,1,1,0,0", "--components", "all")
        for name in ("potential", "gx", "gy", "gz", "gxy", "gxz", "gyz"):
            self.assertGreater(float(r.values[name][0, 0]), 0.0, name)
        # A station below the mass is attracted upwards.
        r = self.model("--prisms", p, "--grid", "1,1,1,1,1000,500", "--elevation", "-1000")
        self.assertLess(float(r.values["gz"][0, 0]), 0.0)

    def test_laplace(self):
        prisms = some_prisms(9)
        stations = np.vstack([self.stations, 0.5 * (prisms[0, 0:6:2] + prisms[0, 1:6:2])])
        only = self.save("p.npy", prisms[:1])
        r = self.model("--prisms", only, "--stations", self.save("s.npy", stations), "--components",
                       "gxx,gyy,gzz")
        trace = r.values["gxx"] + r.values["gyy"] + r.values["gzz"]
        scale = np.abs(r.values["gzz"]).max()
        self.assertLess(np.abs(trace[:-1]).max(), 1e-12 * scale)
        self.assertAlmostEqual(trace[-1] / (-4e9 * math.pi * G * prisms[0, 6]), 1.0, places=12)

    def test_constant(self):
        p = self.save("p.npy", some_prisms(3))
        base = self.model("--prisms", p, *self.grid).all()
        for constant, value in (("2013", 6.673e-11), ("2018", G), ("1e-10", 1e-10)):
            r = self.model("--prisms", p, *self.grid, "--constant", constant)
            np.testing.assert_allclose(r.all(), base * (value / G), rtol=1e-13)
            self.assertEqual(r.summary["asked"]["constant"], value)

    def test_far_tolerance(self):
        prisms = some_prisms(40)
        p = self.save("p.npy", prisms)
        grid = ["--grid", "4,3,5000,5000,-20000,-9000", "--components", "all"]
        exact = self.model("--prisms", p, *grid, "--far-tolerance", "0").all()
        rough = self.model("--prisms", p, *grid, "--far-tolerance", "1e-4").all()
        self.close(rough, exact, 1e-3)
        self.assertGreater(np.abs(rough - exact).max(), 0.0)

    def test_singular_places_are_nan_and_said(self):
        # An edge along z, a vertex, a face and a point beyond the end of an edge.
        p = self.save("p.npy", np.array([[0.0, 100, 0, 100, 0, 100, 1000]]))
        places = [[0, 0, 50], [0, 0, 0], [50, 50, 0], [0, 0, -50]]
        r = self.model("--prisms", p, "--stations", self.save("s.npy", np.array(places, float)),
                       "--components", "all")
        nan = {name: np.isnan(values).tolist() for name, values in r.values.items()}
        for name in NAMES:
            vertex = name not in ("potential", "gx", "gy", "gz")
            self.assertEqual(nan[name], [name in ("gxx", "gyy", "gxy"), vertex, False, False], name)
        counts = {c["name"]: c["nan"] for c in r.summary["components"]}
        self.assertEqual((counts["gz"], counts["gzz"], counts["gxx"]), (0, 1, 2))
        self.assertRegex(r.text, "(?s)NaN at 2 stations.*; NaN at 1 station,")
        r = self.model("--prisms", p, "--stations", self.save("t.npy", np.zeros((1, 3))), "--components=gxx")
        self.assertIn(" gxx NaN at 1 station, on vertices", r.text)


# ctest: quick, threads 2
class Agreement(Case):
    def test_strategies_precisions_and_spaces(self):
        rng = np.random.default_rng(5)
        rho = np.where(rng.random((4, 6, 9)) < 0.6, rng.uniform(-300, 500, (4, 6, 9)), 0.0)
        ensemble = ["--mesh", "9,6,4,0,2700,0,1800,20,1020", "--densities", self.save("rho.npy", rho)]
        arguments = [*ensemble, *self.grid, "--components", "all"]
        expected = self.model(*arguments, "--strategy", "tiles", "--space", "serial").all()
        self.assertTrue(self.spaces())
        for space in self.spaces():
            for strategy in [*STRATEGIES, "by_corners", "fmm"]:
                r = self.model(*arguments, "--strategy", strategy, "--space", space)
                self.close(r.all(), expected, 1e-9, f"{strategy} on {space}")
                ran = r.summary["run"]["strategy"]
                self.assertEqual(ran, strategy) if strategy != "automatic" else self.assertIn(ran, r.text)
                if strategy in ("by_corners", "fmm"):
                    self.assertEqual(r.summary["run"]["corners"] > 0, strategy == "by_corners")
                    continue
                r = self.model(*arguments, "--strategy", strategy, "--space", space, "--precision", "float")
                self.close(r.all(), expected, 1e-5, f"{strategy} on {space} in float")

    def test_private_grids(self):
        p = self.save("p.npy", some_prisms(23))
        expected = self.model("--prisms", p, *self.grid).all()
        r = self.model("--prisms", p, *self.grid, "--strategy", "by_prisms", "--teams", "5", "--team-size",
                       "1")
        self.close(r.all(), expected, 1e-12)
        self.assertEqual([r.summary["run"][name] for name in ("private_grids", "passes")], [5, 5])
        self.assertEqual(r.summary["asked"]["teams"], 5)
        self.refuse(["--prisms", p, *self.grid, "--strategy", "by_prisms", "--teams", "1000", "--team-size",
                     "1", "--memory", "100K"], "1000 private grids take", "fit", "take fewer teams")

    def test_subsets_of_components(self):
        p = self.save("p.npy", some_prisms(7))
        every = self.model("--prisms", p, *self.grid, "--components", "all")
        for subset in ("gz", "gxz", "gzz,gx", "gyy,potential,gy", "gx,gy,gz", "gxx,gyy,gzz,gxy,gxz,gyz"):
            r = self.model("--prisms", p, *self.grid, "--components", subset)
            self.assertEqual(r.names, subset.split(","))
            for name in r.names:
                scale = np.abs(every.values[name]).max()
                np.testing.assert_allclose(r.values[name], every.values[name], rtol=0, atol=1e-11 * scale,
                                           err_msg=name)


# ctest: quick
class Ensembles(Case):
    def test_table_equals_array(self):
        prisms = some_prisms(6)
        expected = self.model("--prisms", self.save("p.npy", prisms), *self.grid, "--components", "all")
        names = ["x1", "x2", "y1", "y2", "z1", "z2", "density"]
        plain = "".join(",".join(repr(float(v)) for v in row) + "\n" for row in prisms)
        order = [6, 3, 0, 1, 2, 5, 4]
        mixed = "body," + ",".join(names[c].upper() for c in order) + "\n" + "".join(
            f"{n}," + ",".join(repr(float(row[c])) for c in order) + "\n" for n, row in enumerate(prisms))
        for name, text in (("plain.csv", plain), ("named.txt", ",".join(names) + "\n" + plain),
                           ("mixed.csv", mixed)):
            r = self.model("--prisms", self.write(name, "# bodies\n" + text), *self.grid, "--components",
                           "all")
            np.testing.assert_array_equal(r.all(), expected.all(), err_msg=name)
            self.assertEqual(r.summary["ensemble"]["prisms"], 6)
        np.testing.assert_allclose(self.model("--prisms", self.save("f.npy", prisms.astype(np.float32)),
                                              *self.grid)
                                   .all()[0], expected.values["gz"].ravel(), rtol=1e-4)

    def test_mesh_equals_prisms(self):
        rng = np.random.default_rng(11)
        nx, ny, nz = 5, 3, 2
        rho = rng.uniform(-300, 500, (nz, ny, nx))
        rho[0, 1, 2:] = 0.0
        x, y, z = np.linspace(0, 1000, nx + 1), np.linspace(-300, 300, ny + 1), np.linspace(10, 90, nz + 1)
        rows = np.array([[x[i], x[i + 1], y[j], y[j + 1], z[k], z[k + 1], rho[k, j, i]]
                         for k in range(nz) for j in range(ny) for i in range(nx) if rho[k, j, i] != 0])
        expected = self.model("--prisms", self.save("p.npy", rows), *self.grid, "--components", "all").all()
        mesh = ["--mesh", "5,3,2,0,1000,-300,300,10,90", *self.grid, "--components", "all"]
        text = "".join(f"{v!r}\n" for v in rho.ravel().tolist())
        for name in (self.save("rho.npy", rho), self.save("flat.npy", rho.ravel()),
                     self.save("fortran.npy", np.asfortranarray(rho)), self.write("rho.csv", text)):
            r = self.model(*mesh, "--densities", name)
            self.close(r.all(), expected, 1e-12, name)
            self.assertEqual(r.summary["ensemble"]["prisms"], len(rows))
            self.assertEqual(r.summary["ensemble"]["kind"], "regular")
            self.assertEqual(r.summary["ensemble"]["cells"], [nx, ny, nz])

    def test_no_mass_at_all(self):
        rho = self.save("rho.npy", np.zeros((2, 3, 4)))
        r = self.model("--mesh", "4,3,2,0,4,0,3,0,2", "--densities", rho, *self.grid)
        self.assertEqual(np.abs(r.all()).max(), 0.0)

    def test_overlaps(self):
        apart = np.array([[0.0, 1, 0, 1, 0, 1, 5], [1, 2, 0, 1, 0, 1, 5], [0, 1, 0, 1, 1, 2, 5]])
        self.model("--prisms", self.save("a.npy", apart), *self.grid, "--check-overlaps")
        both = np.vstack([apart, [[0.5, 1.5, 0.5, 2, 0.5, 3, 7]]])
        self.model("--prisms", self.save("b.npy", both), *self.grid)
        self.refuse(["--prisms", "b.npy", *self.grid, "--check-overlaps"], "b.npy", "rows 1 and 4 overlap")

    def test_spheres(self):
        r = self.model("--spheres", "--grid", "3,2,8000,9000,3000,7000", "--elevation", "100", "--components",
                       "potential,gz,gxx,gyy,gzz", "--strategy", "tiles")
        e = r.summary["ensemble"]
        self.assertEqual(e["cells"], [700, 700, 50])
        self.assertEqual(e["upper"], [22000.0, 22000.0, 8000.0])
        self.assertAlmostEqual(e["prisms"] / 251946.0, 1.0, delta=0.01)
        self.assertEqual(r.values["gz"].shape, (2, 3))
        trace = r.values["gxx"] + r.values["gyy"] + r.values["gzz"]
        self.assertLess(np.abs(trace).max(), 1e-9 * np.abs(r.values["gzz"]).max())
        self.assertGreater(r.values["gz"].max(), 0.5)


class Stations(Case):
    def test_grid_order_and_elevation(self):
        prisms = some_prisms(4)
        p = self.save("p.npy", prisms)
        rng = np.random.default_rng(2)
        height = rng.uniform(5, 300, (4, 6))
        stations = grid_stations(6, 4, 310.0, 270.0, -50.0, 20.0, height)
        expected = field(prisms, stations)[3]
        grid = ["--prisms", p, "--grid", "6,4,310,270,-50,20"]
        plane = "".join(",".join(repr(v) for v in row) + "\n" for row in height.tolist())
        column = "elevation\n" + "".join(f"{v!r}\n" for v in height.ravel().tolist())
        for name in (self.save("h.npy", height), self.save("flat.npy", height.ravel()),
                     self.write("h.csv", plane), self.write("column.csv", column)):
            r = self.model(*grid, "--elevation", name)
            self.assertEqual(r.values["gz"].shape, (4, 6))
            np.testing.assert_allclose(r.values["gz"].ravel(), expected, rtol=1e-9, err_msg=name)
        self.assertEqual(r.summary["stations"]["grid"],
                         {"nx": 6, "ny": 4, "dx": 310.0, "dy": 270.0, "x0": -50.0, "y0": 20.0})
        flat = field(prisms, grid_stations(6, 4, 310.0, 270.0, -50.0, 20.0))[3]
        np.testing.assert_allclose(self.model(*grid).values["gz"].ravel(), flat, rtol=1e-9)
        up = field(prisms, grid_stations(6, 4, 310.0, 270.0, -50.0, 20.0, 1e3))[3]
        km = ["--prisms", p, "--grid", "6,4,0.31km,270m,-0.05km,2e1m", "--elevation", "1km"]
        for words in ([*grid, "--elevation", "1e3"], km):
            np.testing.assert_allclose(self.model(*words).values["gz"].ravel(), up, rtol=1e-9)
        for wrong, word in (("6m,4,3,2,0,0", "x is '6m'"), ("6,-4,3,2,0,0", "y is '-4' (allowed: whole"),
                            ("6,4,3ft,2,0,0", "'3ft' in"), ("6,4,km,2,0,0", "'km' in '6,4,km,2,0,0'")):
            self.refuse(["--prisms", p, "--grid", wrong], word)

    def test_names_of_axes(self):
        # north is x, east is y, heights are -z
        prisms = some_prisms(4)
        p = self.save("p.npy", prisms)
        stations = np.random.default_rng(8).uniform([-500, -500, -400], [3500, 2500, -1], (13, 3))
        expected = self.model("--prisms", p, "--stations", self.save("s.npy", stations)).values["gz"]

        def table(name, header, columns):
            rows = np.stack(columns, axis=1).tolist()
            return self.write(name, header + "\n" + "".join(",".join(map(repr, row)) + "\n" for row in rows))

        x, y, z = stations.T
        for header, columns, note in (
                ("easting,northing,height", (y, x, -z), "x = northing, y = easting, z = -height"),
                ("North,East,Elevation", (x, y, -z), "x = North, y = East, z = -Elevation"),
                ("depth,east,north", (z, y, x), "x = north, y = east, z = depth"),
                ("x,y,up", (x, y, -z), "z = -up")):
            r = self.model("--prisms", p, "--stations", table("s.csv", header, columns))
            np.testing.assert_array_equal(r.values["gz"], expected, header)
            self.assertIn(f"s.csv: {note} (x points north, y east, z down)", r.text)
            np.testing.assert_array_equal(np.load(self.path("out/stations.npy")), stations)
        x1, x2, y1, y2, z1, z2, density = prisms.T
        bodies = table("p.csv", "east1,east2,north_1,north_2,height1,height2,density",
                       (y1, y2, x1, x2, -z2, -z1, density))
        r = self.model("--prisms", bodies, "--stations", self.path("s.npy"))
        np.testing.assert_array_equal(r.values["gz"], expected)
        self.assertIn("y1 = east1, y2 = east2, z1 = -height2, z2 = -height1", r.text)
        self.refuse(["--prisms", p, "--stations", table("s.csv", "north,east,height,depth", (x, y, -z, z))],
                    "columns 'height' and 'depth' both give 'z'")
        self.refuse(["--prisms", p, "--stations", table("s.csv", "lat,lon,height", (x, y, -z))],
                    "there is no column 'x'", "north or northing")

    def test_list(self):
        prisms = some_prisms(4)
        p = self.save("p.npy", prisms)
        rng = np.random.default_rng(8)
        stations = rng.uniform([-500, -500, -400], [3500, 2500, -1], (13, 3))
        expected = field(prisms, stations)
        text = "name;Z;X;Y\n" + "".join(f"{k};{s[2]!r};{s[0]!r};{s[1]!r}\n"
                                        for k, s in enumerate(stations.tolist()))
        for name in (self.save("s.npy", stations), self.write("s.csv", text)):
            r = self.model("--prisms", p, "--stations", name, "--components", "all")
            self.assertEqual(r.values["gz"].shape, (13,))
            self.close(r.all(), expected, 1e-10, name)
            np.testing.assert_array_equal(np.load(os.path.join(r.folder, "stations.npy")), stations)
        self.assertIsNone(r.summary["stations"]["grid"])
        self.assertEqual(r.summary["stations"]["count"], 13)

    def test_stations_below_ground_and_inside_are_said(self):
        rows = self.save("two.npy",
                         np.array([[0, 100, 0, 100, -50, 80, 2000.0], [200, 300, 0, 100, 10, 80, 0.0]]))
        places = self.save("at.npy", np.array([[50, 50, -60], [50, 50, -20], [250, 50, 20], [500, 50, 1],
                                               [100, 100, 80.0]]))
        r = self.model("--prisms", rows, "--stations", places)
        self.assertIn("note: 3 stations are below z = 0, the first is station 3, z = 20 m", r.text)
        self.assertIn("note: 2 stations are inside of a prism or on its faces, the first is station 2 in the "
                      "prism of row 1", r.text)
        self.assertEqual(len(r.summary["stations"]["notes"]), 2)
        rho = self.save("rho.npy", np.array([[[0.0, 1000.0]]]))
        mesh = ["--mesh", "2,1,1,0,200,0,100,-50,80", "--densities", rho]
        r = self.model(*mesh, "--stations", self.save("in.npy", np.array([[50, 50, -20], [150, 50, -20.0]])))
        self.assertIn("note: 1 station is inside of a prism or on its faces, the first is station 2 in prism "
                      "2", r.text)
        # the face between both cells, and their outer faces
        faces = self.save("faces.npy", np.array([[100, 50, -20], [0, 50, -20], [200, 50, -20.0]]))
        r = self.model(*mesh, "--stations", faces)
        self.assertIn("note: 2 stations are inside of a prism or on its faces, the first is station 1 in "
                      "prism 2", r.text)
        r = self.model(*mesh, "--stations", self.save("up.npy", np.array([[50, 50, -60.0]])))
        self.assertNotIn("note", r.text)
        self.assertNotIn("notes", r.summary["stations"])

    def test_stations_of_the_spheres_by_default(self):
        # Memory for no grid of results: the program prints the required memory and stops.
        done = self.call("--spheres", "--strategy", "by_prisms", "--teams", "1000", "--memory", "250M",
                         "--no-plot")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("the paper's stations: 150 x 100 (x ", done.stdout)
        self.assertIn(", z -100 m; z down)", done.stdout)
        self.assertIn("no stations were given", done.stdout)
        self.assertIn("private grids take", done.stderr)


# ctest: quick
class Files(Case):
    def test_files(self):
        p = self.save("p.npy", some_prisms(5))
        r = self.model("--prisms", p, *self.grid, "--components", "gxx,gz", "--csv")
        self.assertEqual(sorted(os.listdir(r.folder)), sorted(r.summary["files"]))
        self.assertEqual(set(r.summary["files"]), {"gxx.npy", "gz.npy", "gravity.csv", "summary.json"})
        with open(os.path.join(r.folder, "gravity.csv"), encoding="ascii") as file:
            self.assertEqual(file.readline(), "x,y,z,gxx,gz\n")
        table = np.genfromtxt(os.path.join(r.folder, "gravity.csv"), delimiter=",", names=True)
        np.testing.assert_allclose(np.stack([table[c] for c in "xyz"], axis=1), self.stations, rtol=1e-15)
        for name in r.names:
            np.testing.assert_array_equal(table[name], r.values[name].ravel())

    def test_an_earlier_run_leaves_nothing(self):
        p = self.save("p.npy", some_prisms(5))
        stations = self.save("s.npy", self.stations)
        self.model("--prisms", p, "--stations", stations, "--components", "gx,gz", "--csv")
        self.write("out/gz.png", "of another run")
        self.write("out/maps.png", "of another run")
        with open(self.path("out/summary.json"), encoding="utf-8") as file:
            summary = json.load(file)
        summary["files"] += ["gz.png", "maps.png"]
        self.write("out/summary.json", json.dumps(summary))
        self.write("out/notes.txt", "mine")
        r = self.model("--prisms", p, *self.grid)
        self.assertEqual(set(os.listdir(r.folder)), {"gz.npy", "summary.json", "notes.txt"})

    def test_summary(self):
        prisms = some_prisms(5)
        prisms[3, 6] = 0.0
        p = self.save("p.npy", prisms)
        r = self.model("--prisms", p, *self.grid, "--components", "gz,gzz")
        s = r.summary
        self.assertEqual(s["program"], "model_gravity")
        for name, value in (("prisms", p), ("components", ["gz", "gzz"]), ("strategy", "automatic"),
                            ("precision", "double"), ("constant", G), ("check_overlaps", False),
                            ("csv", False), ("plot", False), ("far_tolerance", 1e-11), ("elevation", 100.0),
                            ("grid", [7, 5, 500.0, 450.0, -210.0, 33.0])):
            self.assertEqual(s["asked"][name], value, name)
        self.assertEqual(s["ensemble"]["prisms"], 4)
        self.assertEqual(s["run"]["pairs"], 4.0 * 35)
        self.assertEqual(s["run"]["ranks"], 1)
        self.assertEqual(len(s["run"]["of_ranks"]), 1)
        self.assertEqual(s["run"]["of_ranks"][0]["prisms"], 4)
        self.assertTrue(s["run"]["device"])
        self.assertGreater(s["run"]["memory"]["bytes"], 0)
        self.assertGreaterEqual(s["run"]["threads"], 1)
        self.assertIn(s["run"]["strategy"], STRATEGIES)
        for key in ("moho", "kokkos", "compiler", "spaces"):
            self.assertTrue(s["versions"][key])
        self.assertIn("mpi", s["versions"])
        self.assertGreater(s["rates"]["pairs_per_second"], 0)
        self.assertIn("pairs/s", r.text)
        for component, unit in zip(s["components"], ("mGal", "Eotvos")):
            self.assertEqual(component["unit"], unit)
            self.assertEqual(component["min"], r.values[component["name"]].min())
            self.assertEqual(component["max"], r.values[component["name"]].max())
        phases = s["seconds"]
        self.assertAlmostEqual(phases["total"], sum(v for k, v in phases.items() if k != "total"), places=9)
        for phase in ("read", "check", "prepare", "sum", "reduce", "write"):
            self.assertIn(phase, phases)
            self.assertIn(f" {phase} ", r.text)

    def test_help_and_version(self):
        done = self.call("--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for word in ("--prisms", "--mesh", "--densities", "--spheres", "--stations", "--grid", "--elevation",
                     "--components", "--strategy", "--precision", "--constant", "--far-tolerance",
                     "--team-size", "--teams", "--check-overlaps", "--space", "--memory", "--out", "--csv",
                     "--no-plot", "--config", "metres", "DOWN", "mGal", "Eotvos", "mpirun", "Examples"):
            self.assertIn(word, done.stdout)
        done = self.call("--version")
        self.assertEqual(done.returncode, 0)
        self.assertIn("Kokkos", done.stdout)
        self.assertIn("MPI", done.stdout)


class Ranks(Case):
    """Under mpirun."""

    def setUp(self):
        if not self.mpirun:
            self.skipTest("there is no mpirun, or the program was built without MPI: install openmpi-bin and "
                          "libopenmpi-dev")
        super().setUp()

    def same(self, arguments, counts):
        alone = self.model(*arguments)
        for ranks in counts:
            r = self.model(*arguments, ranks=ranks)
            for name in r.names:
                np.testing.assert_allclose(r.values[name], alone.values[name], err_msg=f"{name}, {ranks}",
                                           rtol=0, atol=1e-12 * np.abs(alone.values[name]).max())
            self.assertEqual(r.summary["run"]["ranks"], ranks)
            reports = r.summary["run"]["of_ranks"]
            self.assertEqual([q["rank"] for q in reports], list(range(ranks)))
            parts = [q["prisms"] for q in reports]
            self.assertEqual(sum(parts), alone.summary["ensemble"]["prisms"])
            self.assertLessEqual(max(parts) - min(parts), 1)
            self.assertEqual(r.text.count("pairs/s"), 1)
            self.assertEqual(sorted(os.listdir(r.folder)), sorted(r.summary["files"]))

    def test_irregular(self):
        p = self.save("p.npy", some_prisms(43))
        self.same(["--prisms", p, *self.grid, "--components", "all", "--csv"], (1, 2, 3, 5))

    def test_regular(self):
        rng = np.random.default_rng(5)
        rho = np.where(rng.random((4, 6, 9)) < 0.3, rng.uniform(-300, 500, (4, 6, 9)), 0.0)
        rho[2] = 0.0
        mesh = ["--mesh", "9,6,4,0,2700,0,1800,20,1020", "--densities", self.save("rho.npy", rho), *self.grid]
        self.same([*mesh, "--components", "gz,gxy"], (1, 2, 3, 5))
        self.same([*mesh, "--components", "gz,gxy", "--strategy", "by_corners"], (3,))

    def test_strategies(self):
        p = self.save("p.npy", some_prisms(20))
        arguments = ["--prisms", p, *self.grid, "--components", "gz,gzz", "--strategy"]
        for strategy in ("by_stations", "by_prisms"):
            self.same([*arguments, strategy], (3,))
        alone, ranks = (self.model(*arguments, "fmm", ranks=n) for n in (1, 3))
        np.testing.assert_array_equal(ranks.all(), alone.all())

    def test_fewer_prisms_than_ranks(self):
        self.same(["--prisms", self.save("p.npy", some_prisms(2)), *self.grid], (5,))
        rho = np.zeros((2, 2, 2))
        rho[1, 0, 1] = 300.0
        rho = self.save("rho.npy", rho)
        self.same(["--mesh", "2,2,2,0,100,0,100,10,60", "--densities", rho, *self.grid], (3,))

    def test_list_of_stations(self):
        rng = np.random.default_rng(8)
        s = self.save("s.npy", rng.uniform([-500, -500, -400], [3500, 2500, -1], (13, 3)))
        self.same(["--prisms", self.save("p.npy", some_prisms(7)), "--stations", s], (3,))

    def test_errors_are_said_once_and_end_all(self):
        p = self.save("p.npy", some_prisms(9))
        self.refuse(["--prisms", p, *self.grid, "--components", "gq"], "'gq' is unknown", ranks=3)
        prisms = some_prisms(9)
        prisms[8, 2] = np.nan
        bad = self.save("n.npy", prisms)
        self.refuse(["--prisms", bad, *self.grid], "n.npy", "row 9: y1 is nan", ranks=3)
        # Errors that each rank detects separately.
        self.refuse(["--prisms", p, *self.grid, "--strategy", "by_prisms", "--teams", "1000", "--team-size",
                     "1", "--memory", "100K"], "private grids", ranks=3)

    def test_help(self):
        done = self.call("--help", ranks=2)
        self.assertEqual((done.returncode, done.stdout.count("Examples")), (0, 1))

    def test_picture(self):
        done = self.call("--prisms", self.save("p.npy", some_prisms(2)), *self.grid, ranks=2,
                         environment={"MOHO_PYTHON": self.path("no_such_python")})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.count("picture not drawn: "), 1)


class Configuration(Case):
    text = """# a survey
prisms = p.npy
grid = 7,5,500,450,-210,33
elevation = 100   # metres up
components = gz,gzz
strategy = by_stations
constant = 2013
csv = true
no-plot = true
"""

    def setUp(self):
        super().setUp()
        self.save("p.npy", some_prisms(5))
        self.config = self.write("survey.cfg", self.text)

    def test_file_equals_command_line(self):
        a = self.model("--prisms", "p.npy", *self.grid, "--components", "gz,gzz", "--strategy", "by_stations",
                       "--constant", "2013", "--csv")
        b = self.model("--config", self.config, plot=True)
        np.testing.assert_array_equal(a.all(), b.all())
        self.assertEqual(a.summary["files"], b.summary["files"])
        self.assertEqual(b.summary["asked"]["config"], self.config)

    def test_command_line_wins(self):
        r = self.model("--config", self.config, "--components", "gx")
        self.assertEqual(r.names, ["gx"])
        stations = self.save("s.npy", self.stations[:3])
        r = self.model("--config", self.config, "--stations", stations)
        self.assertEqual(r.summary["stations"]["count"], 3)
        rho = self.save("rho.npy", np.ones((2, 2, 2)))
        r = self.model("--config", self.config, "--mesh", "2,2,2,0,1,0,1,0,1", "--densities", rho)
        self.assertEqual(r.summary["ensemble"]["prisms"], 8)
        self.assertNotIn("prisms", r.summary["asked"])

    def test_refusals(self):
        self.refuse(["--config", "none.cfg"], "--config none.cfg", "cannot be read")
        self.refuse(["--config", self.folder], "--config", "cannot be read")
        self.refuse(["--config", self.write("a.cfg", "spheres = true\nradius = 3\n")], "a.cfg", "radius")
        self.refuse(["--config", self.write("b.cfg", "spheres\n")], "b.cfg", "name = value")
        self.refuse(["--config", self.write("c.cfg", "spheres = true\nteams = six\n")], "--teams", "six")
        self.refuse(["--config", self.write("d.cfg", "spheres = perhaps\n")], "d.cfg", "perhaps")


# ctest: cost 12
class Picture(Case):
    def setUp(self):
        super().setUp()
        self.arguments = ["--prisms", self.save("p.npy", some_prisms(4))]

    def drawn(self, *arguments):
        """Returns results with their maps, drawn in this process.

        Every run has a separate folder, because maps that the program did not draw would stay in it.
        """
        self.runs = getattr(self, "runs", 0) + 1
        r = self.model(*arguments, out=f"out{self.runs}")
        pictures = [name + ".png" for name in [*r.names, "maps"]]
        self.draw("plot_maps", r.folder, *pictures)
        self.assertEqual(sorted(os.listdir(r.folder)), sorted([*r.summary["files"], *pictures]))
        return r

    def test_program_draws(self):
        self.needs_matplotlib()
        r = self.model(*self.arguments, *self.grid, "--components", "gx,gz", plot=True)
        for name in [*r.names, "maps"]:
            self.assert_picture(os.path.join(r.folder, name + ".png"))
        self.assertGreater(r.summary["seconds"]["picture"], 0)
        self.assertEqual(r.summary["picture"], "maps.png")
        self.assertEqual(sorted(os.listdir(r.folder)), sorted(r.summary["files"]))

    def test_grid(self):
        self.drawn(*self.arguments, *self.grid, "--components", "all")

    def test_list(self):
        self.drawn(*self.arguments, "--stations", self.save("s.npy", self.stations), "--components", "gx,gz")

    def test_thin_grids_and_single_stations(self):
        for grid in ("1,1,1,1,0,0", "9,1,100,100,0,0", "1,9,100,100,0,0"):
            self.drawn(*self.arguments, "--grid", grid)
        self.drawn(*self.arguments, "--stations", self.save("s.npy", self.stations[:1]))

    def test_places_without_a_value(self):
        p = self.save("q.npy", np.array([[0.0, 100, 0, 100, 0, 100, 1000]]))
        r = self.drawn("--prisms", p, "--grid", "5,5,50,50,-50,-50", "--components", "gzz,gxx")
        self.assertGreater(int(np.isnan(r.values["gxx"]).sum()), 0)
        self.drawn("--prisms", p, "--grid", "1,1,1,1,0,0", "--components", "gzz")

    def test_plot_program(self):
        r = self.model(*self.arguments, *self.grid, "--components", "gx,gz")
        os.mkdir(self.path("pictures"))
        done = self.plot("plot_maps", r.folder, "--output", "pictures", "--only", "gz", "--format", "svg",
                         "--x-right")
        self.assertEqual(done, (0, "", ""))
        self.assertEqual(sorted(os.listdir(self.path("pictures"))), ["gz.svg", "maps.svg"])
        for arguments, word in (([r.folder, "--only", "gy"], "--only gy"), (["nowhere"], "nowhere"),
                                ([r.folder, "--colour-map", "none"], "--colour-map none"),
                                ([r.folder, "--output", "none"], "--output none"),
                                ([r.folder, "--dpi", "0"], "--dpi")):
            status, _, err = self.plot("plot_maps", *arguments)
            self.assertEqual(status, 2)
            self.assertIn(word, err)
            self.assertEqual(err.count("\n"), 1, err)


# ctest: quick
class Program(support.EveryProgram, Case):
    small = ["--mesh", "1,1,1,0,100,0,100,10,110", "--densities", "rho.csv", *Case.grid]
    script = "plot_maps"

    def setUp(self):
        super().setUp()
        self.write("rho.csv", "500\n")


class NothingIsLost(support.NothingIsLost, Case):
    prism = support.npy(np.array([[0.0, 100.0, 0.0, 100.0, 10.0, 60.0, 500.0]]))
    small = ["--mesh", "1,1,1,0,100,0,100,10,60", "--densities", "rho.csv", "--stations", "s.csv", "--csv"]
    slow = ["--spheres", "--strategy", "by_stations", "--space", "serial", "--components", "all"]
    results = ["gz.npy", "gravity.csv", "stations.npy"]
    former = "maps.png"
    large = [["--spheres", "--components", "all"]]
    read = [("gz.npy", prism, lambda f: ["--prisms", f, "--grid", "3,2,10,10,0,0"], "prisms"),
            ("gz.npy", support.npy(np.ones(1)),
             lambda f: ["--mesh", "1,1,1,0,100,0,100,10,60", "--densities", f, "--grid", "3,2,10,10,0,0"],
             "densities"),
            ("gravity.csv", b"1,2,-3\n4,5,-6\n", lambda f: ["--spheres", "--stations", f, "--csv"],
             "stations"),
            ("stations.npy", support.npy(np.zeros((2, 3)) - 100.0), lambda f: ["--spheres", "--stations", f],
             "stations"),
            ("gz.npy", support.npy(np.zeros((2, 3))),
             lambda f: ["--spheres", "--grid", "3,2,10,10,0,0", "--elevation", f], "elevation")]
    shapes = [["--mesh", "200,200,100,0,200,0,200,0,100", "--densities", "mesh.npy", "--grid",
               "3,2,10,10,0,0", "--elevation", "50"],
              ["--prisms", "prisms.npy", "--grid", "4,3,10,10,0,0", "--elevation", "50"],
              ["--prisms", "one.npy", "--grid", "1500,1000,1,1,0,0", "--elevation", "50", "--components",
               "all"]]

    def setUp(self):
        super().setUp()
        self.write("rho.csv", "500\n")
        self.write("s.csv", "1,2,-3\n4,5,-6\n" + 40 * "7,8,-9\n")
        self.write("one.npy", self.prism)
        if self._testMethodName == "test_memory_is_known_before":
            self.save("mesh.npy", np.where(np.arange(4000000) % 97 == 0, 10.0, 0.0))
            low = np.random.default_rng(1).uniform(0, 1000, (600000, 3))
            self.save("prisms.npy", np.hstack([np.stack([low, low + 1.0], axis=2).reshape(-1, 6),
                                               np.ones((600000, 1))]))

    def test_inputs_that_an_earlier_run_wrote_stay(self):
        # The field of one run is an input file of the next run, in the same folder.
        self.assertEqual(self.run_small("--components", "gz,gzz").returncode, 0)
        done = self.call("--mesh", "42,1,1,0,100,0,100,10,60", "--densities", "out/gzz.npy", "--grid",
                         "3,2,10,10,0,0", "--no-plot", "--out", "out")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(os.path.exists(self.path("out/gzz.npy")))
        self.assertFalse(os.path.exists(self.path("out/gravity.csv")))


# ctest: quick
class BadOptions(Case):
    def setUp(self):
        super().setUp()
        self.p = self.save("p.npy", some_prisms(3))
        self.good = ["--prisms", self.p, *self.grid]

    def test_ensemble_choice(self):
        self.refuse(self.grid, "no ensemble was given", "--prisms", "--mesh", "--spheres")
        self.refuse([*self.good, "--spheres"], "--prisms and --spheres", "both given")
        self.refuse([*self.good, "--mesh", "1,1,1,0,1,0,1,0,1"], "--prisms and --mesh", "both given")
        self.refuse(["--mesh", "2,3,4,0,1,0,1,0,1", *self.grid], "--mesh was given without --densities", "24")
        self.refuse([*self.good, "--densities", "r.npy"], "--densities was given with --prisms")
        self.refuse(["--spheres", "--densities", "r.npy"], "--densities was given with --spheres")

    def test_station_choice(self):
        self.refuse(["--prisms", self.p], "no stations were given", "--stations", "--grid")
        self.refuse([*self.good, "--stations", "s.csv"], "--stations and --grid", "both given")
        self.refuse(["--spheres", "--elevation", "100"], "--elevation was given without --grid")
        self.refuse(["--prisms", self.p, "--stations", "s.csv", "--elevation", "100"],
                    "--elevation was given without --grid", "z of --stations")

    def test_unknown(self):
        self.refuse([*self.good, "--colour", "red"], "--colour", "--help")
        self.refuse([*self.good, "p.npy"], "'p.npy' belongs to no option")
        self.refuse([*self.good, "--comp", "gz"], "--comp")
        self.refuse([*self.good, "--components"], "--components is missing before --no-plot")
        self.refuse([*self.good, "--components", "gx", "--components", "gz"], "--components",
                    "more than once")

    def test_components(self):
        self.refuse([*self.good, "--components", "gz,gq"], "--components", "'gq' is unknown", "potential, gx")
        self.refuse([*self.good, "--components", "GZ"], "--components", "'GZ' is unknown")
        self.refuse([*self.good, "--components", ""], "--components")
        self.refuse([*self.good, "--components", "gz,,gx"], "--components", "missing")
        self.refuse([*self.good, "--components", "gz,gx,gz"], "--components", "'gz' is named twice")

    def test_names(self):
        for option, word in (("--space", "cuda"), ("--strategy", "by_corners"), ("--precision", "double")):
            self.refuse([*self.good, option, "best"], f"{option} 'best' is unknown", word)

    def test_strategies_that_do_not_fit(self):
        self.refuse([*self.good, "--strategy", "by_corners"], "by_corners was given with --prisms")
        self.refuse(["--spheres", "--strategy", "by_corners", "--precision", "float"],
                    "by_corners was given with --precision float")
        self.refuse([*self.good, "--teams", "4"], "--teams was given without --strategy by_prisms")
        rho = self.save("rho.npy", np.ones((2, 2, 2)))
        self.refuse(["--mesh", "2,2,2,0,10,0,10,0,10", "--densities", rho, "--grid", "1,1,1,1,5,5",
                     "--elevation", "-5", "--strategy", "by_corners"], "stations: row 1 lies in the mesh")

    def test_space_of_another_build(self):
        if "cuda" in self.call("--version").stdout:
            self.skipTest("this build has every space")
        self.refuse([*self.good, "--space", "cuda"], "--space cuda is not in this program", "it has: ")

    def test_grid(self):
        base = ["--prisms", self.p, "--grid"]
        self.refuse([*base, "3,4,10,10,0"], "--grid", "has 5 values", "nx,ny,dx,dy,x0,y0")
        self.refuse([*base, "3,4,10,10,0,y"], "--grid", "'y' in '3,4,10,10,0,y' is not a number")
        self.refuse([*base, "0,4,10,10,0,0"], "--grid", "along x is '0'")
        self.refuse([*base, "3,-4,10,10,0,0"], "--grid", "along y is '-4'")
        self.refuse([*base, "3.5,4,10,10,0,0"], "--grid", "'3.5'")
        self.refuse([*base, "3,4,0,10,0,0"], "--grid", "positive")
        self.refuse([*base, "3,4,10,-10,0,0"], "--grid", "positive")
        self.refuse([*base, "3,4,10,nan,0,0"], "--grid", "'nan'")
        self.refuse([*base, "2000000000,2000000000,1,1,0,0"], "--grid", "of memory in all")

    def test_mesh(self):
        def refuse(mesh, *words):
            self.refuse(["--mesh", mesh, "--densities", "r.npy", *self.grid], "--mesh", *words)

        refuse("2,2,2,0,1,0,1,0", "has 8 values", "nx,ny,nz,x1,x2,y1,y2,z1,z2")
        refuse("2,0,2,0,1,0,1,0,1", "'0'")
        refuse("2,2.5,2,0,1,0,1,0,1", "'2.5'")
        refuse("2,2,2,1,0,0,1,0,1", "x runs from 1 to 0")
        refuse("2,2,2,0,1,3,3,0,1", "y runs from 3 to 3", "extent")
        refuse("2,2,2,0,1,0,1,50,20", "z runs from 50 to 20", "the top before the bottom")
        refuse("2,2,2,0,1,0,1,0,inf", "'inf'")
        refuse("2000000,2000000,2000000,0,1,0,1,0,1", "prisms")

    def test_numbers(self):
        for value in ("abc", "0", "-6e-11", "2014", ""):
            self.refuse([*self.good, "--constant", value], "--constant", f"'{value}'", "2018, 2013")
        for value in ("-1", "0.5", "nan", "x"):
            self.refuse([*self.good, "--far-tolerance", value], "--far-tolerance", "0 to 0.01")
        for value in ("0", "-3", "2.5", "2000", "x"):
            self.refuse([*self.good, "--team-size", value], "--team-size", f"'{value}'")
        for value in ("0", "-3", "x"):
            self.refuse([*self.good, "--strategy", "by_prisms", "--teams", value], "--teams", f"'{value}'")
        for memory in ("much", "-1G", "0", "8X", ""):
            self.refuse([*self.good, "--memory", memory], "--memory")

    def test_memory(self):
        one = ["--prisms", self.save("p.npy", some_prisms(1)), *self.grid, "--space", "serial"]
        self.refuse([*one, "--memory", "100"], "1 prism and ", "(allowed: 100 B, the --memory given")

    def test_out(self):
        self.write("file", "x")
        self.refuse([*self.good, "--out", "file"], "--out file")
        self.refuse([*self.good, "--out", "file/deeper"], "--out file/deeper")
        self.refuse([*self.good, "--out", "/proc/model_gravity"], "--out /proc/model_gravity")
        self.refuse([*self.good, "--out", ""], "--out")


class BadInput(Case):
    def refuse_row(self, row, column, value, *words):
        prisms = some_prisms(20)
        prisms[row, column] = value
        self.refuse(["--prisms", self.save("bad.npy", prisms), *self.grid], "bad.npy", f"row {row + 1}: ",
                    *words)

    def test_memory_counts_prisms_without_the_header(self):
        rows = "".join(",".join(f"{v:.6g}" for v in row) + "\n" for row in some_prisms(37))
        for header in ("", "x1,x2,y1,y2,z1,z2,density\n",
                       "# prisms of a body\n\nx1, x2, y1, y2, z1, z2, density\n"):
            self.write("prisms.csv", header + rows)
            self.refuse([*self.on_host(), "--prisms", "prisms.csv", *self.grid, "--memory", "1K"],
                        "memory: --grid: 37 prisms and ", "the --memory given; ", "prisms and stations ")

    def test_prisms(self):
        for column, name in enumerate(("x1", "x2", "y1", "y2", "z1", "z2", "density")):
            self.refuse_row(17, column, np.nan, f"{name} is nan")
            self.refuse_row(3, column, np.inf if column else -np.inf, f"{name} is ")
        prisms = some_prisms(20)
        self.refuse_row(5, 4, prisms[5, 5] + 1, "bottom above top")
        self.refuse_row(5, 0, prisms[5, 1] + 1, "x1 = ", "x2 = ")
        self.refuse_row(6, 4, prisms[6, 5], "zero thickness", "z1 and z2")
        self.refuse_row(6, 3, prisms[6, 2], "zero thickness", "y1 and y2")

    def test_prism_files(self):
        def refuse(name, *words):
            self.refuse(["--prisms", name, *self.grid], os.path.basename(name), *words)

        refuse("none.npy")
        refuse("none.csv")
        refuse(self.write("p.xls", "1"), "'.xls'", ".npy, .csv, .txt")
        refuse(self.write("p", "1"), "''", ".npy, .csv, .txt")
        refuse(self.save("six.npy", np.ones((4, 6))), "4 x 6", "n x 7", "x1,x2,y1,y2,z1,z2,density")
        refuse(self.save("flat.npy", np.ones(7)), "n x 7")
        refuse(self.save("none7.npy", np.ones((0, 7))))
        refuse(self.save("whole.npy", np.ones((4, 7), dtype=int)))
        refuse(self.write("empty.npy", b""))
        refuse(self.write("empty.csv", ""))
        refuse(self.write("only_names.csv", "x1,x2,y1,y2,z1,z2,density\n"))
        refuse(self.write("six.csv", "1,2,3,4,5,6\n"), "6 columns", "7 columns", "x1,x2")
        refuse(self.write("uneven.csv", "0,1,0,1,0,1,5\n0,1,0,1,0,1\n"), ":2")
        refuse(self.write("word.csv", "0,1,0,1,0,1,5\n0,1,0,1,0,1,heavy\n"), ":2", "heavy")
        refuse(self.write("nan.csv", "0,1,0,1,0,1,5\n0,1,0,1,0,1,nan\n"), ":2", "nan")
        refuse(self.write("names.csv", "x1,x2,y1,y2,top,z2,density\n0,1,0,1,0,1,5\n"), "no column 'z1'",
               "top")
        whole = open(self.save("w.npy", some_prisms(5)), "rb").read()
        refuse(self.write("t.npy", whole[:-4]))
        refuse(self.write("h.npy", whole[:20]))
        refuse(self.folder)

    def test_densities(self):
        base = ["--mesh", "2,3,4,0,1,0,1,0,1", *self.grid, "--densities"]
        self.refuse([*base, "none.npy"], "none.npy")
        self.refuse([*base, self.save("t.npy", np.ones((2, 3, 4)))], "t.npy", "its shape is 2 x 3 x 4",
                    "nz x ny x nx = 4 x 3 x 2", "24 values")
        self.refuse([*base, self.save("f.npy", np.ones(23))], "f.npy", "its shape is 23")
        self.refuse([*base, self.write("f.csv", "1\n2\n3\n")], "f.csv", "3 rows of 1 number")
        rho = np.ones((4, 3, 2))
        rho[2, 1, 0] = np.nan
        self.refuse([*base, self.save("n.npy", rho)], "n.npy",
                    "prism 15 (indices from 0: i = 0, j = 1, k = 2) is NaN")

    def test_stations(self):
        p = self.save("p.npy", some_prisms(3))
        base = ["--prisms", p, "--stations"]
        self.refuse([*base, "none.csv"], "none.csv")
        self.refuse([*base, self.save("two.npy", np.ones((5, 2)))], "two.npy", "5 x 2", "n x 3")
        self.refuse([*base, self.write("two.csv", "1,2\n")], "two.csv", "2 columns", "x,y,z")
        self.refuse([*base, self.write("e.csv", "x,y\n1,2\n")], "e.csv", "no column 'z'")
        self.refuse([*base, self.write("empty.csv", "")], "empty.csv")
        stations = np.ones((9, 3))
        stations[4, 1] = np.nan
        self.refuse([*base, self.save("n.npy", stations)], "n.npy", "row 5: y is nan")

    def test_elevation(self):
        p = self.save("p.npy", some_prisms(3))
        base = ["--prisms", p, "--grid", "4,3,10,10,0,0", "--elevation"]
        self.refuse([*base, "high"], "--elevation: 'high' is neither a number nor a file")
        self.refuse([*base, "nan"], "--elevation: 'nan' is neither")
        self.refuse([*base, self.save("t.npy", np.ones((4, 3)))], "t.npy", "4 x 3", "ny x nx = 3 x 4")
        self.refuse([*base, self.save("f.npy", np.ones(11))], "f.npy", "12 values")
        self.refuse([*base, self.write("f.csv", "1,2,3\n4,5,6\n")], "f.csv", "2 rows of 3 numbers")
        height = np.ones((3, 4))
        height[2, 1] = np.inf
        self.refuse([*base, self.save("n.npy", height)], "n.npy", "station 10 (x = 10 m, y = 20 m) is inf")


if __name__ == "__main__":
    sys.exit(support.main(__doc__))
