#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the program model_gravity through its command line: files, configuration and pictures.

usage: test_model_gravity_files.py --program PATH [--mpirun PATH] [names of test classes]
Exit status 77 if numpy is missing or every test was skipped.
"""

import json
import os
import sys

import support
from model_gravity_case import STRATEGIES, Case, G, some_prisms
from support import np


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


if __name__ == "__main__":
    sys.exit(support.main(__doc__))
