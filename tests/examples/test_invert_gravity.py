#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the program invert_gravity through its command line.

usage: test_invert_gravity.py --program PATH [--mpirun PATH] [names of test classes]
Exit status 77 if numpy is missing.
"""

import csv
import json
import os
import subprocess
import sys

import support
from support import np

MESH = ["--mesh", "8,6,4,0,800,0,600,0,400"]


class Case(support.Case):
    """A block in a mesh of 8 x 6 x 4 cells of 100 m, its field by model_gravity, and data with noise."""

    def setUp(self):
        super().setUp()
        self.truth = np.zeros((4, 6, 8))
        self.truth[1:3, 2:4, 3:5] = 300.0
        np.save(self.path("truth.npy"), self.truth)
        model = os.path.join(os.path.dirname(self.program), "model_gravity")
        subprocess.run([model, *MESH, "--densities", "truth.npy", "--grid", "10,8,80,75,30,30", "--elevation",
                        "25", "--components", "gz,gzz", "--csv", "--no-plot", "--out", "field"],
                       cwd=self.folder, check=True, stdout=subprocess.DEVNULL)
        table = np.genfromtxt(self.path("field/gravity.csv"), delimiter=",", names=True)
        noise = np.random.default_rng(4)
        self.gz = table["gz"] + noise.normal(0.0, 0.02, 80) + 2.0 + 0.001 * table["x"]
        self.gzz = table["gzz"] + noise.normal(0.0, 0.5, 80)
        self.stations = np.column_stack([table["x"], table["y"], table["z"]])
        self.write_data()

    def write_data(self, name="data.csv", header="x,y,z,gz,gzz", columns=None):
        columns = [self.gz, self.gzz] if columns is None else columns
        rows = np.column_stack([self.stations, *columns])
        np.savetxt(self.path(name), rows, delimiter=",", header=header, comments="", fmt="%.10g")

    def invert(self, *arguments, out="out", plot=False):
        folder, text = self.succeed("--data", "data.csv", "--errors", "gz:0.02,gzz:0.5", "--trend", "gz:1",
                                    *MESH, *arguments, out=out, plot=plot)
        with open(os.path.join(folder, "summary.json"), encoding="utf-8") as file:
            return np.load(os.path.join(folder, "model.npy")), json.load(file), text

    def correlation(self, model):
        return float((model * self.truth).sum() / np.sqrt((model**2).sum() * (self.truth**2).sum()))


# ctest: quick
class Inversion(Case):
    def test_smooth_and_compact(self):
        model, summary, text = self.invert("--bounds", "0:300", "--compact", "20", "--true", "truth.npy",
                                           "--rounds", "5")
        self.assertNotIn("\n\n", text)
        smooth = np.load(self.path("out/model_smooth.npy"))
        self.assertEqual(model.shape, (4, 6, 8))
        self.assertGreater(self.correlation(model), 0.85)
        self.assertGreater(self.correlation(model), self.correlation(smooth))
        self.assertLessEqual(model.max(), 300.0)
        self.assertGreaterEqual(model.min(), 0.0)
        result = summary["result"]
        self.assertAlmostEqual(result["chi2"], 1.0, delta=0.3)
        self.assertEqual(result["values"], 160)
        # the trend is that of the data: 2 + 0.001 x, with x scaled to -1..1 over 30 to 750 m
        self.assertAlmostEqual(result["trend"]["gz x^0 y^0"], 2.39, delta=0.05)
        self.assertAlmostEqual(result["trend"]["gz x^1 y^0"], 0.36, delta=0.05)
        self.assertGreater(min(c["correlation"] for c in summary["data"]["components"]), 0.9)
        self.assertAlmostEqual(summary["truth"]["correlation"], self.correlation(model), places=10)
        self.assertIn("chi2", text)
        with open(self.path("out/predicted.csv"), encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        residual = np.array([float(row["gz_residual"]) for row in rows])
        parts = [np.array([float(row[f"gz{end}"]) for row in rows]) for end in ("", "_field", "_trend")]
        np.testing.assert_allclose(residual, (parts[0] - parts[1] - parts[2]) / 0.02, atol=1e-6)

    def test_conjugate_gradients_and_search_agree(self):
        models = [self.invert("--beta", "0.01", "--method", method, "--iterations", "400", out=method)[0]
                  for method in ("cg", "lbfgs")]
        np.testing.assert_allclose(models[0], models[1], atol=0.02 * np.abs(models[0]).max())

    def test_weights_and_lists(self):
        _, summary, _ = self.invert("--weights", "sensitivity", out="weights")
        weights = np.load(self.path("weights/weights.npy"))
        self.assertEqual(weights.max(), 1.0)
        self.assertLess(weights[3].mean(), weights[0].mean())
        self.assertEqual(summary["asked"]["weights"], "sensitivity")
        rows = [[100 * i, 100 * i + 100, 100 * j, 100 * j + 100, 100 * k, 100 * k + 100, 1]
                for k in range(4) for j in range(6) for i in range(8)]
        np.save(self.path("cells.npy"), np.array(rows, dtype=float))
        folder, _ = self.succeed("--data", "data.csv", "--errors", "gz:0.02,gzz:0.5", "--trend", "gz:1",
                                 "--prisms", "cells.npy", "--beta", "0.02", out="list")
        mesh, _, _ = self.invert("--beta", "0.02", out="mesh")
        np.testing.assert_allclose(np.load(os.path.join(folder, "model.npy")), mesh.ravel(), atol=1e-9)

    def test_topography_mask_and_missing_values(self):
        np.save(self.path("ground.npy"), np.full((2, 2), -60.0))
        mask = np.ones((4, 6, 8))
        mask[3] = 0
        np.save(self.path("mask.npy"), mask)
        self.gz[5] = np.nan
        self.write_data()
        model, summary, text = self.invert("--topography", "ground.npy,0,0,800,600", "--mask", "mask.npy")
        self.assertTrue(np.isnan(model[3]).all())
        self.assertFalse(np.isnan(model[:3]).any())
        self.assertEqual(summary["result"]["values"], 159)
        self.assertIn("1 value missing", text)
        np.save(self.path("mask.npy"), mask != 0)
        again, _, _ = self.invert("--topography", "ground.npy,0,0,800,600", "--mask", "mask.npy", out="bool")
        np.testing.assert_array_equal(again, model)
        for kind in ("<i2", ">i8"):
            np.save(self.path("mask.npy"), mask.astype(kind))
            again, _, _ = self.invert("--topography", "ground.npy,0,0,800,600", "--mask", "mask.npy",
                                      out="int")
            np.testing.assert_array_equal(again, model)

    def test_lattice_is_the_direct_sum(self):
        x, y = np.meshgrid(np.arange(50.0, 800.0, 100.0), np.arange(50.0, 600.0, 100.0))
        self.stations = np.column_stack([x.ravel(), y.ravel(), np.full(48, -25.0)])
        rng = np.random.default_rng(2)
        self.write_data(columns=[rng.normal(0.5, 0.2, 48), rng.normal(0.0, 2.0, 48)])
        models = []
        for name in ("lattice", "direct", "automatic"):
            model, summary, text = self.invert("--beta", "0.05", "--operator", name, "--tolerance", "1e-5",
                                               out=name)
            models.append(model)
            used = "direct" if name == "direct" else "lattice"
            self.assertIn(f"note: --tolerance has no effect with --operator {used}", text)
            self.assertEqual(summary["operator"]["name"], "direct" if name == "direct" else "lattice")
        self.assertLess(summary["operator"]["error"], 1e-10)
        np.testing.assert_allclose(models[0], models[1], atol=1e-6 * np.abs(models[1]).max())
        np.testing.assert_array_equal(models[0], models[2])
        done = self.call("--data", "data.csv", "--errors", "1", *MESH, "--plan")
        self.assertIn("Fourier transforms", done.stdout)

    def test_fmm_is_the_direct_sum(self):
        rng = np.random.default_rng(2)
        x, y = rng.uniform(0.0, 800.0, 150), rng.uniform(0.0, 600.0, 150)
        self.stations = np.column_stack([x, y, rng.uniform(-60.0, -20.0, 150)])
        self.write_data(columns=[rng.normal(0.5, 0.2, 150), rng.normal(0.0, 2.0, 150)])
        models = []
        for name in ("fmm", "direct", "automatic"):
            model, summary, text = self.invert("--beta", "0.05", "--operator", name, out=name)
            models.append(model)
            self.assertEqual(summary["operator"]["name"], "fmm" if name == "fmm" else "direct")
            self.assertEqual("differs from direct sums by" in text, name == "fmm")
            if name == "fmm":
                self.assertLess(summary["operator"]["error"], 1e-9)
        np.testing.assert_allclose(models[0], models[1], atol=1e-6 * np.abs(models[1]).max())
        np.testing.assert_array_equal(models[1], models[2])
        self.refuse(["--data", "data.csv", "--errors", "1", *MESH, "--operator", "fmm", "--tolerance", "1"],
                    "--tolerance is 1", "1e-10 to 0.01")

    def test_lattice_of_model_gravity(self):
        model = os.path.join(os.path.dirname(self.program), "model_gravity")

        def run(strategy, step, *more):
            return subprocess.run([model, *MESH, "--densities", "truth.npy", "--grid",
                                   f"9,4,{step},100,30,20", "--elevation", "40", "--components", "gz,gxz",
                                   "--strategy", strategy,
                                   "--no-plot", "--out", strategy, *more],
                                  cwd=self.folder, capture_output=True, text=True)

        for strategy in ("lattice", "fmm", "tiles"):
            done = run(strategy, 100)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual("differs from direct sums by" in done.stdout, strategy != "tiles")
        for name in ("gz.npy", "gxz.npy"):
            theirs = np.load(self.path(f"tiles/{name}"))
            for folder, error in (("lattice", 1e-10), ("fmm", 1e-9)):
                ours = np.load(self.path(f"{folder}/{name}"))
                np.testing.assert_allclose(ours, theirs, atol=error * np.abs(theirs).max())
        for done, words in ((run("lattice", 90), "from the lattice of the mesh"),
                            (run("fmm", 100, "--precision", "float"), "--strategy fmm was given with"),
                            (run("fmm", 100, "--tolerance", "1e-12"), "--tolerance is 1e-12"),
                            (run("tiles", 100, "--tolerance", "1e-6"), "with --strategy tiles"),
                            (run("lattice", 100, "--precision", "float"), "--precision float")):
            self.assertEqual(done.returncode, 2, done.stdout)
            self.assertIn(words, done.stderr)

    def test_columns_that_are_not_used_are_said(self):
        self.write_data(header="x,y,z,GZ,Gzz_Error,gz_err,remark,gzz_E",
                        columns=[self.gz, 0.5 + 0.0 * self.gz, 0.1 + 0.0 * self.gz, self.gz, self.gzz])
        done = self.call("--data", "data.csv", "--errors", "1", *MESH, "--plan")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("80 stations, gz;", done.stdout)
        self.assertIn("columns that are not used: gz_err (is it gz_error, in mGal?), remark, "
                      "gzz_E (is it gzz, in Eotvos?)\n", done.stdout)

    def test_strange_places_are_said(self):
        plan = ("--data", "data.csv", "--errors", "1", *MESH, "--plan")
        for rows, words in (
                ([3], ["1 station is inside of cells (rock), the first is row 4, z = 25 m: ", "borehole"]),
                (range(80), ["all 80 stations are inside of cells (rock), the first is row 1, z = 25 m: ",
                             "nearly surely z has the wrong sign"]),
                (range(60), ["60 of 80 stations are inside of cells", "nearly surely"])):
            self.stations[:, 2] = -25.0
            self.stations[list(rows), 2] = 25.0
            self.write_data()
            text = self.call(*plan).stdout
            for word in words:
                self.assertIn(word, text)
        self.stations[:, 2] = -25.0
        self.stations[7, 0] += 3000.0
        self.write_data()
        self.assertIn("1 station is farther from the cells than their width of 800 m, the first is row 8, "
                      "x = ", self.call(*plan).stdout)

    def test_options_that_do_not_fit_the_data_are_said(self):
        plan = ("--data", "data.csv", *MESH, "--components", "gz", "--plan")
        for more, words in ((["--errors", "1", "--trend", "gz:1,gzz:1"], "--trend has no effect on gzz"),
                            (["--errors", "gz:1,gzz:2"], "--errors has no effect on gzz"),
                            (["--errors", "1", "--compact", "9"], "compact rounds without bounds"),
                            (["--errors", "1", "--operator", "direct", "--tolerance", "1e-5"],
                             "--tolerance has no effect with --operator direct"),
                            (["--errors", "1", "--rounds", "4"], "--rounds has no effect without --compact"),
                            (["--errors", "1", "--bounds", "0:0.3"], "bounds allow no density beyond 0.3")):
            self.assertIn("note: " + words, self.call(*plan, *more).stdout)
        text = self.call(*plan, "--errors", "gz:1", "--trend", "1", "--bounds=-200:0").stdout
        self.assertNotIn("no effect", text)
        self.assertNotIn("g/cm^3", text)

    def test_a_chi2_above_the_target_is_said(self):
        noise = np.random.default_rng(5).normal(0.0, 0.5, 80)
        self.write_data(header="x,y,z,gz", columns=[self.gz + noise])
        _, summary, text = self.invert("--bounds", "0:300", "--compact", "20")
        self.assertIn("compact rounds are left out, as chi^2 is above 2 times the target", text)
        self.assertIn("is above the target 1: the data are not fitted to their errors", text)
        self.assertEqual(summary["result"]["compact_rounds"], 0)
        self.write_data()
        _, _, text = self.invert("--beta", "1e3", "--iterations", "3", out="beta")
        self.assertIn("Give a smaller --beta than 1000, or auto", text)
        _, _, text = self.invert("--bounds", "0:300", "--compact", "20", "--rounds", "2", out="rounds")
        self.assertIn("30 iterations (the limit)", text)

    def test_plan(self):
        done = self.call("--data", "data.csv", "--errors", "1", *MESH, "--plan")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("pairs a product", done.stdout)
        self.assertFalse(os.path.exists(self.path("invert_gravity_out/model.npy")))

    def test_resume_has_the_same_bits(self):
        arguments = ("--bounds", "0:300", "--compact", "20", "--iterations", "10")
        model, _, _ = self.invert(*arguments, "--rounds", "3", out="whole")
        self.invert(*arguments, "--rounds", "1", out="part")
        again, summary, text = self.invert(*arguments, "--rounds", "3", "--resume", out="part")
        self.assertIn("resumed", text)
        np.testing.assert_array_equal(again, model)
        self.assertEqual(summary["result"]["compact_rounds"], 3)
        self.assert_same_files(["history.csv", "predicted.csv"], "whole", "part")
        self.refuse(["--data", "data.csv", "--errors", "gz:0.02,gzz:0.5", "--trend", "gz:1", *MESH,
                     *arguments, "--rounds", "2", "--resume", "--out", "part"],
                    "--rounds is 2, and the run to resume has 3 compact rounds")
        self.assert_same_files(["history.csv", "predicted.csv", "model.npy"], "whole", "part")
        with open(self.path("part/summary.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file)["result"]["compact_rounds"], 3)
        done = self.call("--data", "data.csv", "--errors", "1", *MESH, "--resume", "--out", "part",
                         "--no-plot")
        self.assertEqual(done.returncode, 2)


class Program(support.EveryProgram, Case):
    small = ["--data", "data.csv", "--errors", "1", *MESH, "--beta", "1"]
    script = "plot_densities"


class Ranks(Case):
    def test_any_number_has_the_same_bits(self):
        self.needs_mpirun()
        arguments = ["--data", "data.csv", "--errors", "gz:0.02,gzz:0.5", "--trend", "gz:1", *MESH,
                     "--bounds", "0:300", "--iterations", "10", "--weights", "sensitivity"]
        for operator in ("direct", "automatic"):
            self.succeed(*arguments, "--operator", operator, out="one")
            expected = np.load(self.path("one/model.npy"))
            for ranks in (2, 3):
                folder, _ = self.succeed(*arguments, "--operator", operator, out="more", ranks=ranks)
                np.testing.assert_array_equal(np.load(os.path.join(folder, "model.npy")), expected)
                with open(os.path.join(folder, "summary.json"), encoding="utf-8") as file:
                    self.assertEqual(json.load(file)["ranks"], ranks)

    def test_all_end_with_one_message(self):
        self.needs_mpirun()
        good = ["--data", "data.csv", "--errors", "1", *MESH]
        self.refuse([*good, "--bounds", "5:1"], "exchange them", ranks=2)
        self.refuse([*good, "--operator", "lattice"], "take fmm or automatic", ranks=2)


class Picture(Case):
    def test_pictures(self):
        self.invert("--beta", "0.02", "--true", "truth.npy")
        self.draw("plot_densities", self.path("out"), "sections.png", "fit.png", "history.png")
        self.succeed("--data", "data.csv", "--errors", "1000", *MESH, out="zero")  # no minimisation
        self.draw("plot_densities", self.path("zero"), "sections.png", "fit.png", "history.png")
        status, _, err = self.plot("plot_densities", self.folder)
        self.assertEqual(status, 2)
        self.assertIn("does not hold the results of invert_gravity", err)


class Memory(Case):
    """Data at 12 x 12 stations over a mesh of 122880 cells."""

    def setUp(self):
        super().setUp()
        x, y = np.meshgrid(np.linspace(25.0, 1975.0, 12), np.linspace(25.0, 1575.0, 12))
        self.stations = np.column_stack([x.ravel(), y.ravel(), np.full(x.size, -20.0)])
        noise = np.random.default_rng(5).normal(0.0, 0.03, x.size)
        self.gz = noise + np.exp(-((x - 900.0) ** 2 + (y - 800.0) ** 2).ravel() / 9e4)
        self.gzz = 10.0 * self.gz
        self.write_data()
        self.asked = ["--data", "data.csv", "--components", "gz", "--errors", "0.03", "--mesh",
                      "80,64,24,0,2000,0,1600,0,600", "--minimisations", "1", "--iterations", "3", "--space",
                      "serial" if "serial" in self.spaces() else self.spaces()[0]]

    def test_operators_and_searches_are_planned(self):
        for more in (["--operator", "direct"], ["--operator", "fmm"], ["--operator", "fmm", "--weights",
                     "sensitivity"], ["--bounds", "0:300", "--operator", "direct"], ["--method", "lbfgs"]):
            with self.subTest(more=more):
                self.assert_memory_is_planned(*self.asked, *more)

    def test_the_limit_of_fmm_holds(self):
        asked = [*self.asked, "--operator", "fmm"]
        estimate = self.assert_memory_is_planned(*asked)
        limit = estimate - 24 * 2**20  # --memory does not count the program itself
        self.assertEqual(self.assert_memory_is_planned(*asked, "--memory", int(limit) + 1), estimate)
        for memory in (limit - 2**20, 0.7 * limit, 0.4 * limit):
            self.refuse([*asked, "--memory", int(memory)], "memory", "(allowed: ")


# ctest: quick
class BadInput(Case):
    def test_messages(self):
        data = ["--data", "data.csv"]
        good = [*data, "--errors", "1", *MESH]
        self.refuse([], "no data were given")
        self.refuse(data, "no cells were given")
        self.refuse(["--demo", *data], "--demo and --data were both given")
        self.refuse(["--demo", "--errors", "0.1"], "--demo and --errors were both given")
        self.refuse(["--demo", "--percent", "5"], "--demo and --percent were both given")
        self.refuse([*data, *MESH], "nothing says the errors of gz")
        self.refuse([*data, *MESH, "--errors", "gz:0.1"], "nothing says the errors of gzz")
        self.refuse([*data, *MESH, "--errors", "gq:1"], "gq")
        self.refuse([*data, *MESH, "--errors", "gz:0,gzz:1"], "nothing says the errors of gz (needed",
                    "--errors above 0")
        self.refuse([*data, "--errors", "1", "--mesh", "4000,4000,4000,0,800,0,600,0,400"],
                    "memory: a model of 64000000000 cells takes", "--mesh")
        self.refuse([*data, *MESH, "--errors", "-1"], "--errors is -1")
        self.refuse([*good, "--bounds", "5:1"], "exchange them")
        self.refuse([*good, "--bounds", "5"], "lowest:highest")
        np.save(self.path("low.npy"), np.full((4, 6, 8), 9.0))
        self.refuse([*good, "--bounds", "low.npy:8"], "cell 1 has 9 to 8 kg/m^3")
        self.refuse([*good, "--bounds", "none.npy:8"], "neither a number nor an existing file")
        rows = np.array([[0, 100, 0, 100, 0, 100, 0], [200, 300, 0, 100, 0, 100, 0],
                         [250, 350, 50, 90, 0, 90, 0]])
        np.save(self.path("prisms.npy"), rows.astype(float))
        self.refuse([*data, "--errors", "1", "--prisms", "prisms.npy"], "rows 2 and 3 overlap")
        text = self.write("p.csv", "x1,x2,y1,y2,z1,z2\n0,1,0,1,0,1\n")
        self.refuse([*data, "--errors", "1", "--prisms", text],
                    f"{self.name}: --prisms {text}: there is no column 'density'")
        self.refuse([*good, "--trend", "1.5"], "a degree from 0 to 3")
        self.refuse([*good, "--weights", "deep"], "sensitivity")
        self.refuse([*good, "--start", "nothing.npy"], "neither a number nor an existing file")
        self.refuse([*good, "--bounds", "0:1", "--method", "cg"], "--method cg and --bounds")
        self.refuse([*good, "--operator", "lattice"], "--operator lattice: station", "take fmm or automatic")
        self.refuse([*good, "--components", "gxx"], "no column 'gxx'")
        self.refuse([*good, "--topography", "a.npy,0,0"], "FILE,x0,y0,dx,dy")
        for bad in (np.nan, np.inf):
            np.save(self.path("ground.npy"), np.array([[300.0, bad], [300.0, 300.0]]))
            self.refuse([*good, "--topography", "ground.npy,0,0,800,600"],
                        f"{self.name}: --topography ground.npy: an elevation is {bad} ")
        np.save(self.path("ground.npy"), np.full((2, 2), 300.0))
        self.refuse([*good, "--topography", "ground.npy,0,0,400,600"],
                    f"{self.name}: --topography ground.npy: it runs from x = 0 to 400 m and does not cover x")
        np.save(self.path("ground.npy"), np.full((2, 2), -5000.0))
        self.refuse([*good, "--topography", "ground.npy,0,0,800,600"],
                    f"{self.name}: --mesh: no cell is left")
        mask = np.ones((4, 6, 8))
        mask[0, 0, 2] = np.nan
        np.save(self.path("mask.npy"), mask)
        self.refuse([*good, "--mask", "mask.npy"], "--mask mask.npy: the value of cell 3 is no number")
        np.save(self.path("mask.npy"), np.ones((4, 6, 8), complex))
        self.refuse([*good, "--mask", "mask.npy"], "--mask: 'mask.npy' holds complex128")
        self.refuse([*good, "--smooth", "0", "--small", "0"], "all are 0")
        self.refuse(["--data", "none.csv", "--errors", "1", *MESH], "none.csv")

    def test_values(self):
        errors = np.full(80, 0.1)
        errors[7] = 0.0
        self.write_data(header="x,y,z,gz,gz_error", columns=[self.gz, errors])
        self.refuse(["--data", "data.csv", *MESH], "row 8", "error of gz is 0")
        self.gz[3] = np.inf
        self.write_data(header="x,y,z,gz", columns=[self.gz])
        self.refuse(["--data", "data.csv", "--errors", "1", *MESH], "row 4: gz is inf")
        self.write_data(header="x,y,z,value", columns=[self.gzz])
        self.refuse(["--data", "data.csv", "--errors", "1", *MESH], "no column has the name of a component",
                    "x, y, z, value")
        self.write_data(header="x,y,z,GZ_mgal", columns=[self.gz])
        self.refuse(["--data", "data.csv", "--errors", "1", *MESH], "GZ_mgal (is it gz, in mGal?)")


if __name__ == "__main__":
    sys.exit(support.main(__doc__))
