#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the program model_gravity through its command line: fields, ensembles, stations, ranks.

usage: test_model_gravity.py --program PATH [--mpirun PATH] [names of test classes]
Exit status 77 if numpy is missing or every test was skipped.
"""

import math
import os
import sys

import support
from model_gravity_case import NAMES, STRATEGIES, Case, G, field, grid_stations, some_prisms
from support import np


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


if __name__ == "__main__":
    sys.exit(support.main(__doc__))
