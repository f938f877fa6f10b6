#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the program model_waves through its command line: wavefields and gathers.

usage: test_model_waves.py --program PATH [--mpirun PATH] [--data FOLDER] [names of test classes]
Exit status 77 if numpy is missing or every test was skipped.
"""

import json
import os
import subprocess
import sys

import support
from model_waves_case import Case, ricker
from support import np


# ctest: quick
class Waves(Case):
    def green(self, times, distance):
        return ricker(times - distance / 2000.0, 10.0, 0.15) / (4.0 * np.pi * distance)

    def test_green_function_between_nodes_and_samples(self):
        # Points between nodes, and samples between steps.
        r = self.model(*self.cube, "--source", "3,-6,431", "--receivers", "243,-6,431; 123,91,547", "--dt",
                       "0.0019", "--interval", "0.0021", "--precision", "double")
        self.assertEqual(r.gather.shape, (2, 191))
        self.assertEqual(r.gather.dtype, np.float64)
        for trace, distance in zip(r.gather, (240.0, np.sqrt(120.0 ** 2 + 116.0 ** 2 + 97.0 ** 2))):
            self.close(trace, self.green(r.times, distance), 0.03)

    def test_free_surface(self):
        r = self.model(*self.cube, "--free-surface", "--source", "x=0,z=100,y=0", "--receivers",
                       "x=200,y=0,z=60", "--dt", "0.002")
        exact = self.green(r.times, np.hypot(200.0, 40.0)) - self.green(r.times, np.hypot(200.0, 160.0))
        self.close(r.gather[0], exact, 0.04)

    def test_media_without_anisotropy_are_isotropic(self):
        survey = [*self.section, "--precision", "double", "--boundary", "sponge:15"]
        expected = self.model(*survey)
        self.assertEqual(expected.summary["model"]["medium"], "isotropic")
        # In media of variable density the source is scaled by the density.
        for more, medium, factor, tolerance in (
                (["--rho", "2100"], "variable_density", 2100.0, 1e-10),
                (["--epsilon", "0"], "vti", 1.0, 1e-10),
                (["--epsilon", "0", "--delta", "0", "--theta", "30deg"], "tti", 1.0, 0.05)):
            r = self.model(*survey, "--dt", expected.summary["scheme"]["dt"], *more)
            self.assertEqual(r.summary["model"]["medium"], medium)
            self.close(r.gather, factor * expected.gather, tolerance)

    def test_angles(self):
        tti = [*self.section, "--epsilon", "0.2", "--delta", "0.1"]
        a = self.model(*tti, "--theta", "30deg").gather
        b = self.model(*tti, "--theta", "30", "--degrees").gather
        c = self.model(*tti, "--theta", self.save("theta.npy", np.full((61, 41), np.pi / 6))).gather
        np.testing.assert_array_equal(a, b)
        self.close(c, a, 1e-5)
        self.assertGreater(np.abs(self.model(*tti).gather - a).max(), 0.01 * np.abs(a).max())

    def test_sources_in_elliptical_surroundings(self):
        # Along the axes of a source, where shear waves do not propagate, only P is recorded.
        def along_axes(spacing, *more):
            n = str(int(600 / spacing) + 1)
            return self.model("--vp", "2000", "--shape", n + "," + n, "--spacing", spacing, "--source",
                              "300,300", "--receivers", "420,300; 500,300; 300,440; 300,520", "--dt", "0.001",
                              "--time", "0.4", "--epsilon", "0.2", "--delta", "0.05", "--snapshot-every", "0",
                              *more)

        coarse, fine = along_axes(10), along_axes(5)
        self.assertIn("delta goes over into epsilon", coarse.text)
        self.assertGreater(coarse.summary["scheme"]["source_taper"], 80.0)
        self.assertLess(np.abs(coarse.gather - fine.gather).max(), 0.02 * np.abs(fine.gather).max())
        coarse, fine = (along_axes(h, "--source-taper", "0") for h in (10, 5))
        self.assertNotIn("delta goes over", coarse.text)
        self.assertEqual(coarse.summary["scheme"]["source_taper"], 0.0)
        self.assertGreater(np.abs(coarse.gather - fine.gather).max(), 0.05 * np.abs(fine.gather).max())
        self.assertEqual(along_axes(10, "--equations", "fletcher").summary["scheme"]["source_taper"], 0.0)
        self.assertEqual(along_axes(10, "--source-taper", "70").summary["scheme"]["source_taper"], 70.0)

    def test_snapshots(self):
        r = self.model("--vp", "2000", "--shape", "101,101", "--spacing", "10", "--source", "500,500",
                       "--time", "0.3", "--snapshot-every", "0.1", "--dt", "0.002")
        self.assertEqual([s["time"] for s in r.summary["snapshots"]], [0.1, 0.2, 0.3])
        self.assertEqual(len([f for f in os.listdir(r.folder) if f.startswith("snapshot_")]), 3)
        x = 10.0 * np.arange(101) - 500.0
        radius = np.hypot(*np.meshgrid(x, x))
        for snapshot in r.summary["snapshots"]:
            field = r.load(snapshot["file"])
            self.assertEqual(field.shape, (101, 101))
            most = np.abs(field).max()
            self.assertGreater(most, 0.0)
            outside = radius > 2000.0 * snapshot["time"] + 30.0
            self.assertLess(np.abs(field[outside]).max(), 1e-3 * most)

    def test_boundaries_absorb(self):
        survey = [*self.section[:-1], "0.8", "--receivers", "300,200", "--source", "300,100"]
        wide = self.model("--vp", "2000", "--shape", "261,241", "--spacing", "10", "--origin", "-1000,-1000",
                          "--time", "0.8", "--receivers", "300,200", "--source", "300,100",
                          "--snapshot-every", "0").gather
        r = self.model(*survey)
        self.assertEqual(r.summary["model"]["boundaries"], "cpml:10")
        self.close(r.gather, wide, 0.01)
        for boundary, most in (("cpml:20", 0.01), ("sponge:40", 0.05), ("cpml:15,top=sponge:40", 0.05)):
            r = self.model(*survey, "--boundary", boundary)
            self.assertEqual(r.summary["model"]["boundaries"], boundary)
            self.close(r.gather, wide, most)
        rigid = self.model(*survey, "--boundary", "rigid").gather
        self.assertGreater(np.linalg.norm(rigid - wide), 0.3 * np.linalg.norm(wide))
        a, b, c = (self.model(*survey, "--boundary", "random", "--seed", seed).gather for seed in (1, 1, 2))
        np.testing.assert_array_equal(a, b)
        self.assertGreater(np.abs(a - c).max(), 0.0)


# ctest: quick
class Layers(Case):
    tti = ["--vp", "2000", "--epsilon", "0.1", "--delta", "0.05", "--theta", "0.3", "--spacing", "10",
           "--shape", "61,41", "--time", "0.02", "--snapshot-every", "0"]

    def test_sponges_are_as_wide_as_the_wave_asks(self):
        widths = []
        for frequency in (18, 9, 4):
            r = self.model(*self.tti, "--wavelet", f"ricker:{frequency}")
            kind, width = r.summary["model"]["boundaries"].split(":")
            self.assertEqual(kind, "sponge")
            widths.append(int(width))
            self.assertIn(f"a sponge of {width} nodes is", r.text)
        self.assertEqual(widths[0], 30)
        self.assertTrue(30 < widths[1] < 60, widths)
        self.assertEqual(widths[2], 60)
        r = self.model(*self.tti, "--boundary", "sponge:33,left=sponge:12")
        self.assertIn("a sponge of 12 nodes is 0.9 wavelengths of 2000 m/s at 15 Hz", r.text)
        self.assertNotIn("sponge of", self.model(*self.section).text)

    def test_what_comes_back_is_what_is_said(self):
        """A sponge at normal incidence and at 45 degrees, compared with a grid too large for reflections."""
        survey = ["--vp", "2000", "--spacing", "10", "--source", "300,900", "--receivers",
                  "300,900; 300,1500", "--time", "0.66", "--precision", "double", "--dt", "0.0018",
                  "--snapshot-every", "0", "--wavelet", "ricker:12"]
        near = ["--shape", "90,241"]
        text = self.model(*survey, *near, "--boundary", "rigid,left=sponge:20").text
        said = [float(text.split(words)[1].split(" %")[0]) for words in ("head on about ", "at 45 degrees ")]
        traces = {left: self.model(*survey, *near, "--boundary", f"rigid,left={left}").gather
                  for left in ("rigid", "sponge:20")}
        far = self.model(*survey, "--shape", "150,241", "--origin", "-600,0", "--boundary", "rigid").gather
        for k in range(2):
            found = 100 * np.abs(traces["sponge:20"][k]
                                 - far[k]).max() / np.abs(traces["rigid"][k] - far[k]).max()
            self.assertGreater(found, 0.6 * said[k])  # of plane waves
            self.assertLess(found, said[k])
        self.assertGreater(said[1], 1.2 * said[0])


class Failures(Case):
    def test_the_first_step_and_node_that_overflow_are_named(self):
        rng = np.random.default_rng(2)
        shape = (41, 31)
        model = ["--vp", self.save("v.npy", rng.uniform(1500, 4500, shape)), "--epsilon",
                 self.save("e.npy", rng.uniform(0, 0.4, shape)),
                 "--delta", self.save("d.npy", rng.uniform(-0.2, 0.4, shape)), "--theta",
                 self.save("t.npy", rng.uniform(-1.5, 1.5, shape))]
        run = [*model, "--spacing", "10", "--equations", "fletcher", "--wavelet", "ricker:15", "--order",
               "16", "--snapshot-every", "0", "--boundary", "rigid", "--dt", "0.0007"]
        done = self.call(*run, "--time", "2", "--no-plot")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("is no longer finite at node (", done.stderr)
        step = int(done.stderr.split("step ")[1].split(":")[0])
        self.assertNotEqual(step % 200, 0)
        # all steps before that one are finite
        self.model(*run, "--time", f"{(step - 1) * 0.0007:.6f}")


class Threads(Case):
    def test_how_threads_wait_is_chosen_and_said(self):
        survey = [*self.section[:-1], "0.01", "--no-plot", "--out", "out"]
        clean = {name: value for name, value in os.environ.items()
                 if name not in ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")}
        if "openmp" not in self.spaces():
            self.skipTest("this build has no OpenMP")
        for more, words in (({}, "spin 1000 times, then sleep (chosen)"),
                            ({"GOMP_SPINCOUNT": "7"}, "spin 7 times, then sleep (GOMP_SPINCOUNT)"),
                            ({"OMP_WAIT_POLICY": "passive"}, "passive (OMP_WAIT_POLICY)"),
                            ({"OMP_NUM_THREADS": "1"}, "one thread")):
            done = subprocess.run([self.program, *survey], cwd=self.folder,
                                  env={**clean, "OMP_NUM_THREADS": "2", **more}, text=True,
                                  capture_output=True, timeout=300)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            with open(self.path("out/summary.json"), encoding="utf-8") as file:
                self.assertEqual(json.load(file)["machine"]["threads_wait"], words)

    def test_bound_threads_have_all_processors(self):
        if "openmp" not in self.spaces() or len(os.sched_getaffinity(0)) < 2:
            self.skipTest("this build has no OpenMP, or this machine one processor")
        clean = {name: value for name, value in os.environ.items()
                 if name not in ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")}
        for more in ({"OMP_PROC_BIND": "spread"}, {"OMP_PROC_BIND": "true", "OMP_PLACES": "cores"}):
            done = subprocess.run([self.program, *self.section[:-1], "0.01", "--no-plot", "--out", "out"],
                                  cwd=self.folder, env={**clean, "OMP_NUM_THREADS": "2", **more}, text=True,
                                  capture_output=True, timeout=300)
            # a process with fewer processors than threads prints a warning
            self.assertEqual((done.returncode, done.stderr), (0, ""))


# ctest: quick, threads 2
class Agreement(Case):
    def setUp(self):
        super().setUp()
        self.survey = self.small_survey()

    def test_spaces_precisions_and_orders(self):
        expected = self.model(*self.survey, "--precision", "double", "--space", "serial").gather
        for space in self.spaces():
            r = self.model(*self.survey, "--space", space)
            self.assertEqual(r.summary["asked"]["space"], space)
            self.assertEqual(r.gather.dtype, np.float32)
            self.close(r.gather, expected, 1e-4)
        for order in (4, 16):
            r = self.model(*self.survey, "--order", order, "--wavelet", "ricker:8", "--dt", "0.0015")
            same = self.model(*self.survey, "--wavelet", "ricker:8", "--dt", "0.0015")
            self.close(r.gather, same.gather, 0.1)


class Compass(Case):
    def test_tti_section(self):
        names = {p: os.path.join(self.data, f"bgcompass_{p}_325x171_12.5m.npy")
                 for p in ("vp", "epsilon", "delta", "theta")}
        if not all(os.path.isfile(name) for name in names.values()):
            self.skipTest("the BG Compass section is not there")
        files = [word for p, name in names.items() for word in ("--" + p, name)]
        r = self.model(*files, "--spacing", "12.5", "--wavelet", "ricker:10", "--time", "0.4",
                       "--snapshot-every", "0")
        self.assertEqual(r.summary["model"]["medium"], "tti")
        self.assertTrue(r.summary["model"]["boundaries"].startswith("sponge"))
        self.assertTrue(np.all(np.isfinite(r.gather)))
        self.assertGreater(np.abs(r.gather).max(), 0.0)


if __name__ == "__main__":
    sys.exit(support.main(__doc__))
