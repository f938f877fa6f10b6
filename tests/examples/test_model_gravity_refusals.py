#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the program model_gravity through its command line: what it refuses.

usage: test_model_gravity_refusals.py --program PATH [--mpirun PATH] [names of test classes]
Exit status 77 if numpy is missing or every test was skipped.
"""

import os
import sys

import support
from model_gravity_case import Case, some_prisms
from support import np


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
