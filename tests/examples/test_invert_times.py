#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the program invert_times through its command line.

usage: test_invert_times.py --program PATH [--data FOLDER] [names of test classes]
Exit status 77 if numpy is missing.
"""

import json
import os
import subprocess
import sys

import support
from support import np


def exact_time(offset, v0=1000.0, g=20.0):
    return 2.0 / g * np.arcsinh(g * offset / (2.0 * v0))


def line(noise=0.0003, shots=6, receivers=24, seed=3, bad=0.0):
    """Picks of a line, 2 m apart, over v = 1000 m/s + 20 1/s z: a table, and which picks are wrong."""
    random = np.random.default_rng(seed)
    rows, wrong = [], []
    for s in np.linspace(1.0, 2.0 * receivers - 3.0, shots):
        for r in 2.0 * np.arange(receivers):
            t = exact_time(abs(r - s)) + noise * random.standard_normal()
            wrong.append(random.random() < bad)
            rows.append((s, 0.0, r, 0.0, max(t + 0.01 * wrong[-1], 1e-4)))
    return np.array(rows), np.array(wrong)


class Case(support.Case):
    def table(self, name="picks.csv", rows=None, names="sx,sz,rx,rz,time"):
        rows = line()[0] if rows is None else rows
        return self.write(name, names + "\n" + "\n".join(",".join(map(repr, map(float, r))) for r in rows))

    def solve(self, *arguments, out="out", plot=False):
        folder, text = self.succeed(*arguments, out=out, plot=plot)
        with open(os.path.join(folder, "summary.json"), encoding="utf-8") as file:
            return folder, json.load(file), text

    def read(self, folder, name):
        return np.genfromtxt(os.path.join(folder, name), delimiter=",", names=True)


# ctest: quick
class Line(Case):
    def test_the_model_and_the_files(self):
        folder, summary, text = self.solve("--picks", self.table(), "--error", "0.0003", "--depth", "15")
        velocity = np.load(os.path.join(folder, "velocity.npy"))
        coverage = np.load(os.path.join(folder, "coverage.npy"))
        self.assertEqual(velocity.dtype, np.float32)
        self.assertEqual(list(velocity.shape), summary["model"]["shape"])
        z = summary["model"]["origin"][1] + summary["model"]["spacing"][1] * np.arange(velocity.shape[1])
        exact = 1000.0 + 20.0 * np.maximum(z, 0.0)
        error = (velocity / exact - 1.0)[(coverage > 1.0) & (z >= 0.0)[None, :]]
        self.assertLess(np.sqrt(np.mean(error**2)), 0.03)
        self.assertAlmostEqual(summary["run"]["chi2"], 1.0, delta=0.2)
        slowness = np.load(os.path.join(folder, "slowness.npy"))
        np.testing.assert_allclose(slowness * velocity, 1.0, rtol=1e-6)
        picks = self.read(folder, "picks.csv")
        np.testing.assert_allclose(picks["residual"], picks["time"] - picks["predicted"], atol=1e-12)
        history = self.read(folder, "history.csv")
        self.assertEqual(history["chi2"][-1], summary["run"]["chi2"])
        self.assertIn("at least ", text)
        freedom = summary["run"]["degrees_of_freedom"]
        said = float(text.split(" degrees of freedom")[-2].split()[-1])
        self.assertAlmostEqual(said, freedom, delta=0.01 * freedom)
        resolution = np.load(os.path.join(folder, "resolution.npy"))
        self.assertAlmostEqual(np.sum(resolution), freedom, delta=0.01 * freedom)
        for name in ("start.npy", "deviation.npy", "resolution.npy", "lambda.csv", "rays.vtk"):
            self.assertTrue(os.path.isfile(os.path.join(folder, name)), name)

    def test_plan_computes_nothing(self):
        done = self.call("--picks", self.table(), "--error", "0.0003", "--plan", "--out", "none")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"time +about [\d.]+ s an iteration, .* with 6 of 6 sources")
        for word in ("144 picks", "6 sources", "grid", "start", "memory"):
            self.assertIn(word, done.stdout)
        self.assertFalse(os.path.exists(self.path("none")))

    def test_sgt_and_milliseconds(self):
        rows, _ = line()
        points = sorted({(r[0], r[1]) for r in rows} | {(r[2], r[3]) for r in rows})
        number = {p: k + 1 for k, p in enumerate(points)}
        text = f"{len(points)}\n#x y\n" + "".join(f"{float(x)!r} {0.0 - float(z)!r}\n" for x, z in points)
        text += f"{len(rows)}\n#s g t err\n" + "".join(
            f"{number[r[0], r[1]]} {number[r[2], r[3]]} {float(r[4])!r} 0.0003\n" for r in rows)
        one, _, _ = self.solve("--picks", self.write("a.sgt", text), "--iterations", "2", out="one")
        rows[:, 4] *= 1e3
        other, _, _ = self.solve("--picks", self.table(rows=rows), "--time-unit", "ms", "--error", "0.0003",
                                 "--iterations", "2", out="other")
        np.testing.assert_allclose(np.load(os.path.join(one, "velocity.npy")),
                                   np.load(os.path.join(other, "velocity.npy")), rtol=1e-5)

    def test_start_bounds_and_fixed_lambda(self):
        arguments = ["--picks", self.table(), "--error", "0.0003", "--depth", "12", "--iterations", "2"]
        folder, summary, _ = self.solve(*arguments, "--start", "900,25", "--bounds", "850,1300", "--lambda",
                                        "3")
        velocity = np.load(os.path.join(folder, "velocity.npy"))
        start = np.load(os.path.join(folder, "start.npy"))
        self.assertTrue(np.all(velocity <= 1300.01) and np.all(velocity >= 849.9))
        self.assertEqual(summary["run"]["lambda"], 3.0)
        np.save(self.path("start.npy"), start)
        again, _, _ = self.solve(*arguments, "--start", "start.npy", "--bounds", "850,1300", "--lambda", "3",
                                 out="again")
        np.testing.assert_allclose(np.load(os.path.join(again, "velocity.npy")), velocity, rtol=1e-4)
        # numbers in km/s, in a folder with the name of a keyword
        for name in ("layers", "auto"):
            os.makedirs(self.path(name), exist_ok=True)
        _, kilometres, _ = self.solve(*arguments, "--start", "0.9,25", "--bounds", "0.85,1.3", "--lambda",
                                      "3", "--velocity-unit", "km/s", out="start")
        self.assertEqual(kilometres["run"]["chi2"], summary["run"]["chi2"])
        self.solve(*arguments, "--start", "layers", "--reference", "start", out="layers")

    def test_a_start_within_the_errors_is_said(self):
        _, summary, text = self.solve("--picks", self.table(), "--error", "0.3")
        self.assertLess(summary["run"]["chi2"], 1.0)
        self.assertIn("note: the start model has chi^2", text)


class Start(Case):
    def test_layers(self):
        # 500 m/s over 2000 m/s below 4 m: a linear velocity has no refractor
        rows, _ = line()
        offset = np.abs(rows[:, 2] - rows[:, 0])
        refracted = offset / 2000.0 + 8.0 * np.sqrt(1.0 / 500.0**2 - 1.0 / 2000.0**2)
        rows[:, 4] = np.minimum(offset / 500.0, refracted)
        arguments = ["--picks", self.table(rows=rows), "--error", "0.0005", "--depth", "12", "--iterations",
                     "0", "--lengths", "4,4"]
        folder, summary, text = self.solve(*arguments, "--start", "layers", out="deep")
        other, _, _ = self.solve(*arguments, out="linear")
        chi2 = [self.read(f, "history.csv")["chi2"] for f in (folder, other)]
        self.assertLess(chi2[0], 0.5 * chi2[1])
        self.assertRegex(text, r"start +layers fitted to \d+ medians of the picks")
        start = np.load(os.path.join(folder, "start.npy"))
        np.testing.assert_array_equal(start, np.tile(start[0], (len(start), 1)))
        z = summary["model"]["origin"][1] + summary["model"]["spacing"][1] * np.arange(start.shape[1])
        self.assertAlmostEqual(np.interp(0.5, z, start[0]), 500.0, delta=75.0)
        self.assertAlmostEqual(np.interp(9.0, z, start[0]), 2000.0, delta=200.0)
        bounded, _, _ = self.solve(*arguments, "--start", "layers", "--bounds", "600,1500", out="bounded")
        np.testing.assert_allclose(np.load(os.path.join(bounded, "start.npy")), np.clip(start, 600.0, 1500.0),
                                   rtol=1e-6)

    def test_reference(self):
        arguments = ["--picks", self.table(), "--error", "0.0003", "--depth", "25", "--lengths", "16,8"]
        first, summary, text = self.solve(*arguments, "--start", "900,30", out="first")
        self.assertEqual(summary["model"]["reference"], "start")
        self.assertNotIn("around", text)
        start = np.load(os.path.join(first, "start.npy"))
        np.save(self.path("reference.npy"), 0.5 * start)
        pulled, summary, text = self.solve(*arguments, "--start", "900,30", "--reference", "reference.npy",
                                           out="pulled")
        self.assertEqual(summary["model"]["reference"], "reference.npy")
        self.assertIn("around reference.npy", text)
        np.testing.assert_array_equal(np.load(os.path.join(pulled, "start.npy")), start)
        found, plain = (np.load(os.path.join(f, "velocity.npy")) for f in (pulled, first))
        # rays are far above the lowest nodes
        np.testing.assert_allclose(found[:, -1], 0.5 * start[:, -1], rtol=0.1)
        np.testing.assert_allclose(plain[:, -1], start[:, -1], rtol=0.1)
        # the result of the first run as its own reference: nothing to change
        again, summary, _ = self.solve(*arguments, "--start", "first/velocity.npy", "--reference",
                                       "first/velocity.npy", "--iterations", "2", out="again")
        change = np.log(np.load(os.path.join(again, "velocity.npy")) / plain)
        self.assertLess(np.sqrt(np.mean(change**2)), 0.02)
        self.refuse([*arguments, "--reference", "none.npy"], "none.npy")
        np.save(self.path("small.npy"), start[:-1])
        self.refuse([*arguments, "--reference", "small.npy"], "--reference small.npy: its shape is")


class Export(Case):
    """--export: files for other programs, read again."""

    def test_formats(self):
        arguments = ["--error", "0.0003,0.001", "--depth", "10", "--precision", "double"]
        folder, summary, _ = self.solve("--picks", self.table(), *arguments, "--iterations", "2", "--export",
                                        "vtk,rsf,sgt")
        for name in ("model.vtk", "velocity.rsf", "picks.sgt"):
            self.assertIn(name, summary["files"])
        velocity = np.load(os.path.join(folder, "velocity.npy"))
        with open(os.path.join(folder, "model.vtk"), "rb") as file:
            head, data = file.read().split(b"POINT_DATA ", 1)
        shape = [int(word) for word in head.split(b"DIMENSIONS ")[1].split()[:3]]
        self.assertEqual(shape, [velocity.shape[0], 1, velocity.shape[1]])
        origin = [float(word) for word in head.split(b"ORIGIN ")[1].split()[:3]]
        self.assertEqual(origin, [summary["model"]["origin"][0], 0.0, summary["model"]["origin"][1]])
        for name in ("velocity", "coverage", "deviation", "resolution"):
            values = data.split(f"SCALARS {name} double 1\nLOOKUP_TABLE default\n".encode())[1]
            found = np.frombuffer(values, ">f8", velocity.size).reshape(velocity.shape[::-1]).T
            np.testing.assert_array_equal(found, np.load(os.path.join(folder, name + ".npy")))
        # the velocity as a start model, and the picks as picks
        again, other, _ = self.solve("--picks", os.path.join(folder, "picks.sgt"), *arguments[2:],
                                     "--start", os.path.join(folder, "velocity.rsf"), "--iterations", "0",
                                     out="again")
        np.testing.assert_allclose(np.load(os.path.join(again, "start.npy")), velocity, rtol=1e-15)
        self.assertAlmostEqual(other["run"]["chi2"], summary["run"]["chi2"], delta=1e-9)
        self.refuse(["--picks", self.table(), *arguments, "--export", "vtk,vti"],
                    "--export 'vti' is unknown (allowed: vtk, rsf, sgt)")
        self.refuse(["--picks", self.table(), *arguments, "--export", "vtk,vtk"], "--export names vtk twice")


class Jackknife(Case):
    def test_runs_are_those_of_the_program(self):
        rows, _ = line()
        arguments = ["--error", "0.0003", "--origin", "-4,0", "--shape", "55,13", "--spacing", "1",
                     "--topography", "none", "--start", "900,25", "--lengths", "16,8", "--precision",
                     "double"]
        folder, summary, text = self.solve("--picks", self.table(rows=rows), *arguments, "--jackknife", "3")
        runs = self.read(folder, "jackknife.csv")
        models = []
        shots = np.unique(rows[:, 0])
        for k in range(3):
            part = rows[~np.isin(rows[:, 0], shots[k::3])]
            one, own, _ = self.solve("--picks", self.table(f"part{k}.csv", part), *arguments, out=f"part{k}")
            models.append(np.log(np.load(os.path.join(one, "velocity.npy"))))
            self.assertEqual(runs["chi2"][k], own["run"]["chi2"])
            self.assertEqual((runs["sources"][k], runs["picks"][k]), (4, len(part)))
            self.assertIn(f"jackknife run {k + 1}: chi^2", text)
        deviation = np.sqrt(2.0 / 3.0 * np.sum((models - np.mean(models, axis=0))**2, axis=0))
        np.testing.assert_allclose(np.load(os.path.join(folder, "jackknife.npy")), deviation, atol=1e-12)
        self.assertGreater(np.max(deviation), 1e-4)
        self.assertIn("jackknife.npy", summary["files"])
        self.assertRegex(text, r"deviation of ln v by 3 runs: median [\d.e-]+ where rays are")
        for groups in ("1", "7"):
            self.refuse(["--picks", self.table(rows=rows), *arguments, "--jackknife", groups],
                        "--jackknife is", "allowed")


class Notes(Case):
    """Remarks on a run: its last lines, and the notes of summary.json."""

    def test_rays_along_the_bottom(self):
        arguments = ["--picks", self.table(), "--error", "0.0003", "--iterations", "1"]
        _, summary, text = self.solve(*arguments, "--depth", "3", out="flat")
        self.assertRegex(text, r"note: rays of \d+ of 144 picks .* along the bottom .* greater --depth")
        self.assertIn("along the bottom of the grid", " ".join(summary["notes"]))
        _, summary, text = self.solve(*arguments, "--depth", "25", out="deep")
        self.assertNotIn("note: rays", text)
        self.assertNotIn("notes", summary)
        _, _, text = self.solve(*arguments, "--origin", "-4,-1", "--shape", "55,5", out="shape")
        self.assertRegex(text, "along the bottom .* greater --shape")

    def test_an_odd_height(self):
        rows, _ = line()
        rows[rows[:, 2] == 20.0, 3] = -4.0
        arguments = ["--picks", self.table(rows=rows), "--error", "0.0003"]
        done = self.call(*arguments, "--plan")
        self.assertRegex(done.stdout, r"note: receiver 11 at \(20, -4\) m is 4 m above the line")
        done = self.call(*arguments, "--topography", self.write("ground.csv", "0,0\n50,-9\n"), "--plan")
        self.assertNotIn("above the line", done.stdout)
        self.assertNotIn("the table of the ground", done.stdout)

    def test_a_table_of_the_ground_that_ends_before_the_stations(self):
        _, summary, text = self.solve(
            "--picks", self.table(), "--error", "0.0003", "--iterations", "0", "--topography",
            self.write("ground.csv", "0,0\n30,0\n"), out="ends")
        note = r"the table of the ground ends at x = 0 to 30 m: \w+ \d+ at .* beyond it"
        self.assertRegex(text, "note: " + note)
        self.assertRegex(" ".join(summary["notes"]), note)

    def test_options_without_effect(self):
        arguments = ["--picks", self.table(), "--error", "0.0003", "--plan"]
        for more, words in ((["--lambda", "3", "--deviation-max", "1"], "--deviation-max has no effect"),
                            (["--lambda-by", "gcv", "--target", "2"], "--target has no effect with gcv"),
                            (["--topography=none", "--buried-below=3"], "--buried-below has no effect")):
            self.assertIn("note: " + words, self.call(*arguments, *more).stdout)
        for more in (["--lambda", "3"], ["--deviation-max", "1"], ["--target", "2"], ["--buried-below", "3"]):
            self.assertNotIn("no effect", self.call(*arguments, *more).stdout)

    def test_options_that_do_not_fit_the_picks(self):
        picks = ["--picks", self.table()]
        for more, words in ((["--error", "1"], "errors of 144 of 144 picks are larger than their times"),
                            (["--error", "0.001", "--bounds", "1000,6000"], "cut to --bounds at"),
                            (["--error", "0.001", "--locate", "--statics", "both"],
                             "are the same to the picks")):
            self.assertIn("note: ", self.call(*picks, *more, "--plan").stdout)
            self.assertIn(words, self.call(*picks, *more, "--plan").stdout)
        for more in (["--bounds", "100,9000"], ["--locate", "--statics", "receiver"],
                     ["--locate", "--statics", "source", "--origin-deviation", "0"]):
            self.assertNotIn("note: ", self.call(*picks, "--error", "0.001", *more, "--plan").stdout)

    def test_places_have_few_digits(self):
        rows, _ = line()
        rows[:, [0, 2]] += 1.0 / 3.0
        rows[(rows[:, 2] > 20.0) & (rows[:, 4] > 0.02), 4] += 0.005
        _, _, text = self.solve("--picks", self.table(rows=rows), "--error", "0.0003", "--iterations", "1",
                                "--spacing", repr(2.0 / 3.0))
        self.assertIn("0.666667 m apart (x -2.667 to ", text)
        self.assertRegex(text, r"most of source \d+ at \(\d+\.\d{3}, 0\) m")

    def test_chi2_without_weights_and_reason(self):
        rows, _ = line(bad=0.05)
        folder, summary, text = self.solve("--picks", self.table(rows=rows), "--error", "0.0003", "--robust",
                                           "huber", "--depth", "15")
        run, picks = summary["run"], self.read(folder, "picks.csv")
        flag = picks["flag"] > 0
        self.assertEqual(run["flagged"], np.count_nonzero(flag))
        self.assertAlmostEqual(run["chi2_unweighted"] / np.mean(picks["z"]**2), 1.0, delta=1e-6)
        self.assertAlmostEqual(run["chi2_unflagged"] / np.mean(picks["z"][~flag]**2), 1.0, delta=1e-6)
        self.assertIn(f"of {np.count_nonzero(~flag)} picks that are not flagged", text)
        self.assertIn(f"ended     {run['stop'].replace('deviation_max', '--deviation-max')}: chi^2", text)


class Volume(Case):
    def test_eikonal_times_and_checkerboard(self):
        random = np.random.default_rng(5)
        rows = []
        for sx in (5.0, 25.0, 45.0):
            for rx in np.arange(0.0, 51.0, 10.0):
                for ry in (0.0, 15.0, 30.0):
                    offset = np.hypot(rx - sx, ry - 12.0)
                    rows.append((sx, 12.0, 0.0, rx, ry, 0.0,
                                 exact_time(offset) + 0.0003 * random.standard_normal()))
        picks = self.table(rows=rows, names="sx,sy,sz,rx,ry,rz,time")
        folder, summary, text = self.solve(
            "--picks", picks, "--error", "0.0003", "--depth", "10", "--spacing", "2.5", "--lengths",
            "40,40,20", "--krylov", "20", "--checkerboard", "20,20,10,6", "--iterations", "5")
        self.assertEqual(len(summary["model"]["shape"]), 3)
        self.assertLess(summary["run"]["chi2"], 1.6)
        true, found = (np.load(os.path.join(folder, f"check_{name}.npy")) for name in ("true", "found"))
        self.assertEqual(true.shape, found.shape)
        np.testing.assert_allclose(np.abs(true), 0.06, rtol=1e-5)
        self.assertIn("correlation", text)
        layers = self.read(folder, "checkerboard.csv")
        self.assertGreater(np.atleast_1d(layers["correlation"])[0], 0.2)
        covered = np.atleast_1d(layers["covered"])
        self.assertTrue(np.all((covered > 0.0) & (covered <= 1.0)))
        np.testing.assert_allclose(layers["z"] - layers["depth"], summary["model"]["origin"][2])
        self.assertIn("% of the nodes", text)
        self.refuse(["--picks", picks, "--error", "0.0003", "--checkerboard", "20,20,6"],
                    "--checkerboard has 3 numbers")


class Robust(Case):
    def test_bad_picks_are_flagged(self):
        rows, wrong = line(bad=0.1)
        folder, summary, text = self.solve("--picks", self.table(rows=rows), "--error", "0.0003", "--robust",
                                           "biweight", "--depth", "15")
        flag = self.read(folder, "picks.csv")["flag"] > 0
        sorted_rows = np.lexsort((rows[:, 2], rows[:, 0]))
        self.assertTrue(np.all(flag[wrong[sorted_rows]]))
        self.assertLessEqual(np.count_nonzero(flag & ~wrong[sorted_rows]), 3)
        self.assertIn("more than 4 standard deviations away", text)
        self.assertGreater(summary["run"]["rejected"], 5)

    def test_delays_and_gcv(self):
        rows, _ = line()
        rows[rows[:, 2] == 20.0, 4] += 0.003
        folder, _, _ = self.solve("--picks", self.table(rows=rows), "--error", "0.0003", "--statics",
                                  "receiver", "--depth", "15", "--iterations", "6")
        table = self.read(folder, "statics.csv")
        self.assertEqual(table["x"][np.argmax(table["delay"])], 20.0)
        self.assertAlmostEqual(np.max(table["delay"]) - np.median(table["delay"]), 0.003, delta=0.001)
        self.solve("--picks", self.table(), "--error", "0.0003", "--lambda-by", "gcv", "--iterations", "2",
                   "--depth", "15", out="gcv")

    def test_gcv_does_not_depend_on_the_basis(self):
        rows, _ = line(shots=8)
        arguments = ["--picks", self.table(rows=rows), "--error", "0.00003", "--lambda-by", "gcv", "--depth",
                     "12", "--lengths", "8,4", "--iterations", "1"]
        _, short, _ = self.solve(*arguments, "--krylov", "20", out="short")
        _, whole, text = self.solve(*arguments, "--krylov", "300", out="whole")
        self.assertNotIn("limits the lambda", text)
        self.assertLess(abs(np.log(short["run"]["lambda"] / whole["run"]["lambda"])), 0.1)
        _, tiny, _ = self.solve(*arguments, "--krylov", "2", out="tiny")
        self.assertIn("take a greater --krylov", " ".join(tiny["notes"]))


class Resume(Case):
    def test_goes_on_with_the_same_bits(self):
        arguments = ["--picks", self.table(), "--error", "0.0001", "--depth", "12", "--start", "800,30"]
        whole, _, _ = self.solve(*arguments, "--iterations", "3", out="whole")
        self.solve(*arguments, "--iterations", "3", out="part")
        # as if the run had been interrupted after its last iteration
        with open(self.path("part/summary.json"), encoding="utf-8") as file:
            summary = json.load(file)
        summary["state"] = "interrupted"
        with open(self.path("part/summary.json"), "w", encoding="utf-8") as file:
            json.dump(summary, file)
        os.remove(self.path("part/velocity.npy"))
        dead = subprocess.Popen(["true"])
        dead.wait()
        self.write(f"part/state_0009.npy.part-{dead.pid}-3", "half")
        _, _, text = self.solve(*arguments, "--iterations", "3", "--resume", out="part")
        self.assertIn("resumed   after iteration", text)
        self.assertEqual([name for name in os.listdir(self.path("part")) if ".part-" in name], [])
        self.assert_same_files(["velocity.npy", "picks.csv", "deviation.npy"], "whole", "part")
        self.assertTrue(os.path.isfile(os.path.join(whole, "velocity.npy")))
        done = self.call(*arguments[:-1], "900,30", "--iterations", "3", "--resume", "--no-plot", "--out",
                         "part")
        self.assertEqual(done.returncode, 2, done.stderr)

    def test_takes_more_iterations(self):
        arguments = ["--picks", self.table(), "--error", "0.0001", "--depth", "12", "--start", "800,30"]
        self.solve(*arguments, "--iterations", "3", out="whole")
        _, summary, _ = self.solve(*arguments, "--iterations", "1", out="part")
        self.assertEqual(summary["run"]["iterations"], 1)
        _, summary, text = self.solve(*arguments, "--iterations", "3", "--resume", out="part")
        self.assertIn("resumed   after iteration 1\n", text)
        self.assertEqual(summary["run"]["iterations"], 3)
        self.assert_same_files(["velocity.npy", "picks.csv", "deviation.npy"], "whole", "part")
        _, summary, _ = self.solve(*arguments, "--iterations", "2", "--resume", out="part")
        self.assertEqual(summary["run"]["iterations"], 3)


class Sources(Case):
    def test_locate(self):
        rows, _ = line(noise=0.0001)
        where = rows[:, 0] == rows[0, 0]
        rows[where, 4] += 0.004
        folder, summary, text = self.solve(
            "--picks", self.table(rows=rows), "--error", "0.0002", "--depth", "12", "--locate",
            "--location-deviation", "0,0", "--origin-deviation", "0.01", "--iterations", "8")
        table = self.read(folder, "sources.csv")
        late = table["origin"] - np.median(table["origin"])
        self.assertEqual(np.argmax(late), np.argmin(table["x"]))
        self.assertAlmostEqual(np.max(late), 0.004, delta=0.001)
        np.testing.assert_array_equal(table["dx"], 0.0)
        self.assertIn("origin times up to", text)
        self.assertIn("sources.csv", summary["files"])

    def test_vti(self):
        # epsilon = delta: an elliptical medium, whose horizontal times are those of v sqrt(1 + 2 epsilon)
        rows, _ = line(noise=0.0001)
        arguments = ["--picks", self.table(rows=rows), "--error", "0.0003", "--depth", "12", "--topography",
                     "none", "--lengths", "16,16", "--iterations", "6"]
        folder, summary, _ = self.solve(*arguments, "--epsilon", "0.1", out="vti")
        self.assertLess(summary["run"]["chi2"], 1.1)
        self.assertIn("ms (horizontal; the model has v / sqrt(1 + 2 epsilon))", summary["model"]["start"])
        other, _, _ = self.solve(*arguments, "--times", "eikonal", out="isotropic")
        z = summary["model"]["origin"][1] + summary["model"]["spacing"][1] * np.arange(
            summary["model"]["shape"][1])
        row = int(np.argmin(np.abs(z)))
        vti, isotropic = (np.load(os.path.join(f, "velocity.npy"))[10:-10, row] for f in (folder, other))
        self.assertAlmostEqual(np.median(vti / isotropic), 1.0 / np.sqrt(1.2), delta=0.02)


class Ranks(Case):
    """Under mpirun: sources divided among processes have the bits of one process."""

    def test_same_bits(self):
        if not self.mpirun:
            self.skipTest("there is no mpirun, or the program was built without MPI: install openmpi-bin and "
                          "libopenmpi-dev")
        arguments = ["--picks", self.table(), "--error", "0.0003", "--depth", "12", "--iterations", "2"]
        self.solve(*arguments, out="one")
        folder, _ = self.succeed(*arguments, out="three", ranks=3)
        self.assert_same_files(["velocity.npy", "picks.csv", "deviation.npy", "coverage.npy"], "one", "three")
        with open(os.path.join(folder, "summary.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file)["ranks"], 3)
        self.refuse(["--picks", self.table(), "--error", "0.0003", "--start", "-5"], "--start", ranks=2)


class Koenigsee(Case):
    """A refraction line: 63 points, 714 picks."""

    def test_fits(self):
        path = os.path.join(self.data, "koenigsee.sgt")
        if not self.data or not os.path.isfile(path):
            self.skipTest("koenigsee.sgt is not there")
        folder, summary, _ = self.solve("--picks", path, "--error", "0.0005,0.02", "--spacing", "0.5")
        self.assertLess(summary["run"]["chi2"], 1.04)
        self.assertGreater(summary["run"]["chi2"], 0.9)
        self.assertLessEqual(summary["run"]["iterations"], 8)
        # errors that are too small for a grid of nodes: without robust weights it ends at its least chi^2
        tight, less, _ = self.solve("--picks", path, "--error", "0.0003,0.01", "--spacing", "0.5",
                                    "--lengths", "4,4", "--deviation-max", "1.5", "--target", "1.12",
                                    "--tolerance", "0.3", out="tight")
        self.assertLess(less["run"]["chi2"], 1.6)
        history = self.read(tight, "history.csv")
        self.assertEqual(less["run"]["chi2"], np.min(history["chi2"]))
        # errors far too small: chi^2 does not go back to that of the start
        small, _, _ = self.solve("--picks", path, "--error", "0.0001,0.001", "--robust", "huber",
                                 "--iterations", "17", out="small")
        chi2 = self.read(small, "history.csv")["chi2"]
        self.assertLess(np.max(chi2[3:] / chi2[2:-1]), 1.1)
        # overburden and refractor of the line
        velocity = np.load(os.path.join(folder, "velocity.npy"))
        model = summary["model"]
        ground = np.array(model["ground"])
        z = model["origin"][1] + model["spacing"][1] * np.arange(velocity.shape[1])
        columns = slice(velocity.shape[0] // 4, 3 * velocity.shape[0] // 4)

        def at(depth):
            return np.median([np.interp(g + depth, z, v)
                              for g, v in zip(ground[columns], velocity[columns])])
        self.assertTrue(300.0 < at(0.5) < 1200.0, at(0.5))
        self.assertTrue(1600.0 < at(8.0) < 3500.0, at(8.0))


class Picture(Case):
    def test_program_draws(self):
        self.needs_matplotlib()
        folder, summary, _ = self.solve("--picks", self.table(), "--error", "0.0003", "--iterations", "1",
                                        plot=True)
        for name in ("model.png", "fit.png", "history.png"):
            self.assertIn(name, summary["files"])
            self.assert_picture(os.path.join(folder, name))


# ctest: quick
class Program(support.EveryProgram, Case):
    script = "plot_tomography"

    @property
    def small(self):
        return ["--picks", self.table(rows=line(shots=2, receivers=8)[0]), "--error", "0.001", "--iterations",
                "1", "--depth", "6"]


class BadInput(Case):
    def test_options(self):
        picks = ["--picks", self.table()]
        error = ["--error", "0.0003"]
        self.refuse([], "--picks is missing")
        self.refuse(picks, "--error is missing", "write --error")
        self.refuse([*picks, "--error", "0,0"], "not both 0")
        self.refuse([*picks, "--error", "-1,0.1"], "--error")
        self.refuse([*picks, *error, "--spacing", "0"], "--spacing")
        self.refuse([*picks, *error, "--lengths", "0.1,0.1"], "length along x", "or more")
        self.refuse([*picks, *error, "--lengths", "inf,4"], "--lengths", "'inf' in 'inf,4' is not a number")
        self.refuse([*picks, *error, "--lengths", "1e30,4", "--bounds", "300,6000"],
                    "--lengths: the prior's length along x is 1e+30 m (allowed with --bounds",
                    "give a shorter length")
        self.refuse([*picks, *error, "--bounds", "900,400"], "vmin < vmax")
        self.refuse([*picks, *error, "--start", "-5"], "--start")
        self.refuse([*picks, *error, "--start", "2.5"], "--start: velocities of 2.5: km/s?",
                    "--velocity-unit")
        self.refuse([*picks, *error, "--bounds", "0.3,6"], "--bounds: velocities of 0.3 to 6: km/s?")
        self.refuse([*picks, *error, "--lambda", "-3"], "--lambda is -3", "a number above 0")
        self.refuse([*picks, *error, "--start", "none.npy"], "none.npy")
        for option, near in (("--start", "layers"), ("--topography", "none"), ("--reference", "start")):
            self.refuse([*picks, *error, option, near[:-1]], f"{option} '{near[:-1]}' is unknown",
                        f"did you mean {near}?")
        self.refuse([*picks, *error, "--shots", "none.csv"], "--shots was given", "leave it out")
        self.refuse([*picks, *error, "--start", "2000", "--bounds", "300,900"], "start model")
        self.refuse([*picks, *error, "--lambda", "3", "--lambda-by", "gcv"], "leave one out")
        self.refuse([*picks, *error, "--radius", "9"], "--radius")
        self.refuse([*picks, *error, "--delta", "0.1"], "--delta", "give --epsilon")
        self.refuse([*picks, *error, "--epsilon", "0.1", "--times", "graph", "--topography", "none"],
                    "VTI medium")
        self.refuse([*picks, *error, "--epsilon", "3", "--topography", "none"], "epsilon")
        self.refuse([*picks, *error, "--epsilon", "none.npy"], "none.npy")
        self.refuse([*picks, *error, "--origin-deviation", "0.1"], "without --locate")
        self.refuse([*picks, *error, "--static-deviation", "0.1"], "without --statics", "give both")
        self.refuse([*picks, *error, "--locate", "--location-deviation", "1,1,1"], "has 3 values")
        self.refuse([*picks, *error, "--locate", "--location-deviation", "0,0", "--origin-deviation", "0"],
                    "at least one above 0")
        self.refuse([*picks, *error, "--checkerboard", "0.1,0.1,5"], "checkerboard", "or more")
        self.refuse([*picks, *error, "--origin", "0,0", "--shape", "5,5"], "outside of the grid")
        self.refuse([*picks, *error, "--spacing", "0.001"], "nodes")
        self.refuse([*picks, *error, "--origin", "1,2,3"], "--origin has 3 values")
        self.refuse([*picks, *error, "--topography", self.write("t.csv", "0,30\n50,30\n")],
                    "above the ground")

    def test_files_on_other_nodes(self):
        survey = ["--picks", self.table(), "--error", "0.0003", "--topography", "none", "--shape", "60,15",
                  "--spacing", "2", "--origin", "-4,-2", "--plan"]
        np.full((60, 15), 900.0, "<f4").tofile(self.path("v.rsf@"))

        def header(d1, o1, o2):
            return self.write("v.rsf", f'n1=15 n2=60 d1={d1} d2=2 o1={o1} o2={o2}\n'
                                       'in="v.rsf@"\n'
                                       'data_format="native_float"\n')

        for option in ("--start", "--reference"):
            self.assertEqual(self.call(*survey, option, header(2, -2, -4)).returncode, 0)
            self.refuse([*survey, option, header(3, -2, -4)],
                        "nodes are 3 m apart along z (allowed: 2 m, as in the grid)")
            self.refuse([*survey, option, header(2, -2, 6)],
                        "first node is at x = 6 m (allowed: -4 m, as in the grid)")

    def test_picks(self):
        rows, _ = line()
        error = ["--error", "0.0003"]
        wrong = rows.copy()
        wrong[:, 4] *= 1e3
        self.refuse(["--picks", self.table(rows=wrong), *error], "--time-unit ms")
        wrong = rows.copy()
        wrong[5, 4] = -1.0
        self.refuse(["--picks", self.table(rows=wrong), *error], "has the time -1 s (allowed: times above 0)")
        wrong = rows.copy()
        wrong[4, 2] = wrong[4, 0]
        self.refuse(["--picks", self.table(rows=wrong), *error], "source and receiver at one point",
                    "delay of the trigger")
        more = self.table(names="sx,sz,rx,rz,time,quality", rows=np.c_[rows, rows[:, 4]])
        self.refuse(["--picks", more, *error], "column quality is not known", "allowed: sx")
        self.refuse(["--picks", self.table(rows=rows[:7]), *error], "7 picks")
        self.refuse(["--picks", self.table(rows=rows[:24]), *error], "same source")
        self.refuse(["--picks", self.table(names="sx,sz,rx,weight,time"), *error], "no column rz")
        self.refuse(["--picks", self.write("a.sgt", "2\n0 0\n1 0\n1\n1 3 0.1\n"), *error], "a.sgt:5",
                    "point 3")
        self.refuse(["--picks", "none.csv", *error], "none.csv")
        self.refuse(["--picks", self.table(), *error, "--format", "sgt"], "picks.csv:1")


if __name__ == "__main__":
    sys.exit(support.main(__doc__))
