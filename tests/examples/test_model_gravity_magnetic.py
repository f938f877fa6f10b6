#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of model_gravity --magnetic through its command line.

usage: test_model_gravity_magnetic.py --program PATH [--mpirun PATH] [names of test classes]
Exit status 77 if numpy is missing or every test was skipped.
"""

import itertools
import json
import math
import os
import sys

import support
from support import np

NAMES = ["total", "bx", "by", "bz"]
FIELD = (48000.0, -63.0, 11.0)
FIELD_TEXT = ",".join(map(str, FIELD))


def direction(inclination, declination):
    i, d = math.radians(inclination), math.radians(declination)
    return np.array([math.cos(i) * math.cos(d), math.cos(i) * math.sin(d), math.sin(i)])


def tensor(prism, station):
    """Second derivatives of the integral of 1/r over a prism, corner by corner (Nagy et al. 2000)."""
    total = np.zeros((3, 3))
    for i, j, k in itertools.product((0, 1), repeat=3):
        x, y, z = prism[i] - station[0], prism[2 + j] - station[1], prism[4 + k] - station[2]
        r = math.sqrt(x * x + y * y + z * z)
        lx, ly, lz = math.log(x + r), math.log(y + r), math.log(z + r)
        ax, ay, az = math.atan(y * z / (x * r)), math.atan(z * x / (y * r)), math.atan(x * y / (z * r))
        total += (-1) ** (i + j + k + 1) * np.array([[-ax, lz, ly], [lz, -ay, lx], [ly, lx, -az]])
    return total


def anomaly(prisms, remanence, stations):
    """total, bx, by, bz in nT x stations."""
    along = direction(*FIELD[1:])
    fields = []
    for station in stations:
        b = np.zeros(3)
        for prism, rest in zip(prisms, remanence):
            magnetisation = prism[6] * FIELD[0] * 1e-9 / (4e-7 * math.pi) * along + rest
            b += 100.0 * tensor(prism, station) @ magnetisation
        fields.append([b @ along, *b])
    return np.array(fields).T


def some_prisms(count, seed=3):
    """Blocks of at most half a kilometre with susceptibilities, below z = 50 m, and remanent vectors."""
    rng = np.random.default_rng(seed)
    low = rng.uniform([0, 0, 50], [3000, 2000, 900], (count, 3))
    high = low + rng.uniform(20, 500, (count, 3))
    rows = np.hstack([np.stack([low, high], axis=2).reshape(count, 6), rng.uniform(0, 0.05, (count, 1))])
    return rows, rng.uniform(-2.0, 2.0, (count, 3))


class Case(support.Case):
    grid = ["--grid", "7,5,500,450,-210,33", "--elevation", "100"]
    places = np.array([[-210.0 + 500.0 * i, 33.0 + 450.0 * j, -100.0] for j in range(5) for i in range(7)])
    options = ["--magnetic", "--field", FIELD_TEXT]

    def model(self, *arguments, out="out", plot=False, ranks=0):
        """Runs the program with --magnetic, which must succeed. Returns values, summary and text."""
        folder, text = self.succeed(*self.options, *arguments, out=out, plot=plot, ranks=ranks)
        with open(os.path.join(folder, "summary.json"), encoding="utf-8") as file:
            summary = json.load(file)
        names = [c["name"] for c in summary["components"]]
        return np.array([np.load(os.path.join(folder, n + ".npy")).ravel() for n in names]), summary, text

    def close(self, found, expected, tolerance):
        self.assertEqual(found.shape, expected.shape)
        self.assertLessEqual(np.abs(found - expected).max(), tolerance * np.abs(expected).max())


# ctest: quick
class Magnetic(Case):
    def test_induced_and_remanent(self):
        prisms, rest = some_prisms(9)
        p, r = self.save("p.npy", prisms), self.save("r.npy", rest)
        values, summary, text = self.model("--prisms", p, "--remanence", r, *self.grid, "--components", "all",
                                           "--csv")
        self.assertEqual([(c["name"], c["unit"]) for c in summary["components"]], [(n, "nT") for n in NAMES])
        expected = anomaly(prisms, rest, self.places)
        self.close(values, expected, 1e-9)
        self.assertEqual(summary["magnetic"], dict(zip(("intensity", "inclination", "declination"), FIELD)))
        self.assertEqual(summary["asked"]["field"], list(FIELD))
        self.assertEqual(summary["ensemble"]["susceptibility_max"], prisms[:, 6].max())
        self.assertIn("field     48000 nT, inclination -63, declination 11", text)
        self.assertNotIn("note: the Earth's field", text)
        weak = self.call("--magnetic", "--field", "48,60,2", "--prisms", p, *self.grid, "--no-plot").stdout
        self.assertIn("note: the Earth's field has 20,000 to 70,000 nT", weak)
        table = np.genfromtxt(self.path("out/magnetic.csv"), delimiter=",", names=True)
        self.assertEqual(table.dtype.names, ("x", "y", "z", *NAMES))
        np.testing.assert_array_equal(table["bz"], values[3])
        single, _, _ = self.model("--prisms", p, "--remanence", r, *self.grid, "--components", "all",
                                  "--precision", "float")
        self.close(single, expected, 1e-5)

    def test_tables_and_uniform_remanence(self):
        prisms, rest = some_prisms(5)
        names = "x1,x2,y1,y2,z1,z2,susceptibility,mx,my,mz"
        np.savetxt(self.path("b.csv"), np.hstack([prisms, rest]), delimiter=",", header=names, comments="",
                   fmt="%.17g")
        values, _, _ = self.model("--prisms", "b.csv", "--remanence", "b.csv", *self.grid)
        self.close(values, anomaly(prisms, rest, self.places)[:1], 1e-9)
        values, _, _ = self.model("--prisms", "b.csv", "--remanence", "3,-40,100", *self.grid, "--components",
                                  "bx,total")
        same = anomaly(prisms, np.tile(3.0 * direction(-40, 100), (5, 1)), self.places)
        self.close(values, same[[1, 0]], 1e-9)
        demagnetised, _, text = self.model("--prisms", "b.csv", *self.grid)
        self.close(demagnetised, anomaly(prisms, 0.0 * rest, self.places)[:1], 1e-9)
        self.assertNotIn("demagnetisation", text)

    def test_mesh_and_strategies(self):
        rng = np.random.default_rng(5)
        chi = np.where(rng.random((4, 6, 9)) < 0.6, rng.uniform(0, 0.2, (4, 6, 9)), 0.0)
        rest = rng.uniform(-1, 1, (216, 3))
        mesh = ["--mesh", "9,6,4,0,2700,0,1800,20,1020", "--susceptibilities", self.save("chi.npy", chi)]
        grid = ["--grid", "11,8,300,300,-150,-150", "--elevation", "50", "--components", "all"]
        expected, summary, text = self.model(*mesh, "--remanence", self.save("r.npy", rest), *grid)
        self.assertEqual(summary["ensemble"]["prisms"], 216)
        self.assertIn("demagnetisation", text)
        low = [[300.0 * i, 300.0 * i + 300, 300.0 * j, 300.0 * j + 300, 20 + 250.0 * k, 270 + 250.0 * k,
                chi[k, j, i]] for k in range(4) for j in range(6) for i in range(9)]
        some = [0, 40, 87]
        places = [[-150.0 + 300 * (n % 11), -150.0 + 300 * (n // 11), -50.0] for n in some]
        self.close(expected[:, some], anomaly(low, rest, places), 1e-9)
        for strategy in ("tiles", "by_stations", "lattice"):
            for space in self.spaces():
                found, summary, _ = self.model(*mesh, "--remanence", self.path("r.npy"), *grid, "--strategy",
                                               strategy, "--space", space)
                self.assertEqual(summary["run"]["strategy"], strategy)
                self.close(found, expected, 1e-11)
        # a uniform remanence is that of cells with a susceptibility
        found, summary, _ = self.model(*mesh, "--remanence", "2,30,0", *grid)
        self.assertEqual(summary["ensemble"]["prisms"], np.count_nonzero(chi))

    def test_spheres_need_no_field(self):
        folder, _ = self.succeed("--spheres", "--magnetic", "--grid", "3,3,3000,3000,5000,5000", out="s")
        self.assertGreater(np.abs(np.load(os.path.join(folder, "total.npy"))).max(), 1.0)

    def test_pictures(self):
        prisms, rest = some_prisms(3)
        self.model("--prisms", self.save("p.npy", prisms), *self.grid, "--components", "total,bz", plot=True)
        for name in ("total.png", "bz.png", "maps.png"):
            self.assert_picture(self.path("out/" + name))

    def test_refusals(self):
        prisms, rest = some_prisms(4)
        good = ["--prisms", self.save("p.npy", prisms), *self.grid]
        magnetic = [*good, *self.options]
        self.refuse([*good, "--magnetic"], "without --field", "F,I,D")
        self.refuse([*good, "--field", FIELD_TEXT], "--field was given without --magnetic")
        self.refuse([*good, "--magnetic", "--field", "1,2"], "--field: '1,2' is not three numbers")
        self.refuse([*good, "--magnetic", "--field", "-5,2,3"], "intensity is -5 nT")
        self.refuse([*good, "--magnetic", "--field", "5e4,95,3"], "inclination is 95")
        self.refuse([*magnetic, "--components", "gz"], "--components: 'gz' is no magnetic component")
        self.refuse([*good, "--components", "total"], "'total' is unknown")
        self.refuse([*magnetic, "--strategy", "by_prisms"], "take automatic")
        self.refuse([*magnetic, "--constant", "2013"], "--constant was given with --magnetic")
        self.refuse([*magnetic, "--remanence", "1,2"], "--remanence")
        self.refuse([*magnetic, "--remanence", ""], "--remanence")
        self.refuse([*magnetic, "--remanence", "1,100,2"], "--remanence: the inclination is 100")
        self.refuse([*magnetic, "--remanence", self.save("r.npy", rest[:2])], "has 2 rows", "4, one a prism")
        bad = rest.copy()
        bad[2, 1] = np.nan
        self.refuse([*magnetic, "--remanence", self.save("bad.npy", bad)],
                    "--remanence ", "bad.npy: row 3: my is nan")
        self.refuse([*magnetic, "--susceptibilities", "p.npy"], "without --mesh")
        mesh = ["--mesh", "1,1,4,0,9,0,9,0,9", *self.grid, *self.options]
        self.refuse([*mesh, "--densities", "p.npy"], "--susceptibilities")
        self.refuse(mesh, "without --susceptibilities")
        inside = self.save("s.npy", prisms[1:2, 0:6:2] + 5.0)
        self.refuse(["--prisms", "p.npy", "--stations", inside, *self.options],
                    "stations: row 1, x = ", "inside of a magnetised prism")
        prisms[2, 6] = -1.0
        self.save("p.npy", prisms)
        self.refuse(magnetic, "row 3", "susceptibility is -1")
        np.savetxt(self.path("d.csv"), prisms, delimiter=",", header="x1,x2,y1,y2,z1,z2,density", comments="")
        self.refuse(["--prisms", "d.csv", *self.grid, *self.options], "susceptibility")

    def test_columns_of_tables(self):
        prisms, _ = some_prisms(3)
        survey = ["--prisms", self.save("p.npy", prisms), "--stations"]
        self.refuse([*self.options, *survey, self.write("s.csv", "x,y,z,X\n1,2,-3,4\n")],
                    "s.csv: the column 'x' occurs twice (allowed: once)")
        text = self.model(*survey, self.write("s.csv", "x,y,z,elevation\n1,2,-3,5\n"))[2]
        self.assertIn("s.csv: columns that are not used: elevation", text)
        named = self.model(*survey, self.write("n.csv", "name,x,y,z\nA1,1,2,-3\nB2,10,2,-3\n"))
        plain = self.model(*survey, self.write("s.csv", "x,y,z\n1,2,-3\n10,2,-3\n"))
        np.testing.assert_array_equal(named[0], plain[0])
        for z in ("z", "depth"):
            self.refuse([*self.options, *survey, self.write("s.csv", f"x,y,{z},name\n1,2,deep,A\n")],
                        "s.csv:2", "deep")


class MagneticRanks(Case):
    def test_any_number(self):
        self.needs_mpirun()
        prisms, rest = some_prisms(7)
        arguments = ["--prisms", self.save("p.npy", prisms), "--remanence", self.save("r.npy", rest),
                     *self.grid, "--components", "all"]
        chi = np.zeros((2, 3, 4))
        chi[1, 1, 1:3] = 0.02
        mesh = ["--mesh", "4,3,2,0,800,0,600,20,420", "--susceptibilities", self.save("chi.npy", chi),
                "--remanence", self.save("m.npy", np.random.default_rng(2).uniform(-1, 1, (24, 3))),
                *self.grid, "--components", "all"]
        for case in (arguments, mesh):
            expected, _, _ = self.model(*case)
            for ranks in (2, 3):
                found, _, _ = self.model(*case, ranks=ranks)
                self.close(found, expected, 1e-12)


if __name__ == "__main__":
    sys.exit(support.main(__doc__))
