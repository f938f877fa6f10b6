#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the program model_waves through its command line.

usage: test_model_waves.py --program PATH [--data FOLDER] [names of test classes]
Exit status 77 if numpy is missing or every test was skipped.
"""

import json
import os
import re
import signal
import struct
import subprocess
import sys
import time

import support
from support import np


def ricker(t, frequency, delay):
    a = (np.pi * frequency * (t - delay)) ** 2
    return (1.0 - 2.0 * a) * np.exp(-a)


class Case(support.Case):
    # A cube of 880 m whose faces do not affect the first 0.4 s.
    cube = ["--vp", "2000", "--shape", "45,45,45", "--spacing", "20", "--origin", "x=-440,y=-440,z=0",
            "--wavelet", "ricker:10", "--time", "0.4", "--boundary", "rigid", "--snapshot-every", "0"]
    # A small section.
    section = ["--vp", "2000", "--shape", "61,41", "--spacing", "10", "--snapshot-every", "0", "--time",
               "0.3"]

    def small_survey(self):
        """Saves a rough section, and returns the options of a shot over it."""
        v = 1800.0 + 15.0 * np.arange(51) + np.random.default_rng(4).uniform(0, 150, (71, 51))
        return ["--vp", self.save("v.npy", v.astype(np.float32)), "--spacing", "10", "--time", "0.35",
                "--snapshot-every", "0", "--source", "204,33", "--receivers", "10,20:690,20:35"]

    def model(self, *arguments, out="out", plot=False):
        """Runs the program, which must succeed and not write to stderr. Returns its results."""
        return Results(*self.succeed(*arguments, out=out, plot=plot))

    def close(self, found, expected, tolerance):
        self.assertLess(np.linalg.norm(found - expected), tolerance * np.linalg.norm(expected))


class Results:
    """The files of one run."""

    def __init__(self, folder, text):
        self.folder, self.text = folder, text
        with open(os.path.join(folder, "summary.json"), encoding="utf-8") as file:
            self.summary = json.load(file)
        self.gathers = [self.load(shot["gather"]) for shot in self.summary["shots"]]
        self.gather = self.gathers[0]
        self.times = self.summary["gather"]["interval"] * np.arange(self.gather.shape[1])

    def load(self, name):
        return np.load(os.path.join(self.folder, name))

    def segy(self):
        """Returns the interval in microseconds and the header values of each trace.

        These are record, source x, depth, receiver x, elevation and samples.
        """
        with open(os.path.join(self.folder, "gather.sgy"), "rb") as file:
            data = file.read()
        interval, samples = struct.unpack(">H", data[3216:3218])[0], struct.unpack(">H", data[3220:3222])[0]
        traces = []
        for at in range(3600, len(data), 240 + 4 * samples):
            head = data[at:at + 240]
            record, = struct.unpack(">i", head[8:12])
            elevation, _, depth = struct.unpack(">iii", head[40:52])
            scale_z, scale = ([1.0 / -s if s < 0 else float(s or 1)
                               for s in struct.unpack(">hh", head[68:72])])
            source_x, _, receiver_x, _ = struct.unpack(">iiii", head[72:88])
            values = np.frombuffer(data[at + 240:at + 240 + 4 * samples], dtype=">f4")
            traces.append((record, source_x * scale, depth * scale_z, receiver_x * scale, elevation * scale_z,
                           values))
        return interval, traces


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


# ctest: quick
class Files(Case):
    def test_only_the_plan(self):
        survey = ["--vp", "2000", "--shape", "61,41", "--spacing", "10", "--time", "0.3", "--source",
                  "100,20; 300,20"]
        survey += self.on_host()
        done = self.call(*survey, "--plan", "--no-plot", "--out", "out")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for words in ("model     --vp 2000", "shots     2 shots", " steps, ", " snapshots, one every ",
                      "memory    ", " of the host with the program (allowed: ", "the medium and wavefields "):
            self.assertIn(words, done.stdout)
        self.assertNotIn("modelled", done.stdout)
        self.assertFalse(os.path.exists(self.path("out")))
        # the run follows the plan
        steps, snapshots = (int(re.search(rf"(\d+) {word}", done.stdout)[1])
                            for word in ("steps,", "snapshots"))
        r = self.model(*survey)
        self.assertEqual((r.summary["scheme"]["steps"], len(r.summary["snapshots"])), (steps, snapshots))
        # an impossible run is refused
        self.refuse([*survey, "--plan", "--dt", "0.5"], "--dt: dt is 0.5 s")
        self.refuse([*survey, "--plan", "--memory", "10K"], "memory: a model of ")

    def test_segy_and_summary(self):
        r = self.model(*self.section, "--source", "300,12.5", "--receivers", "0,20:600,20:7")
        interval, traces = r.segy()
        self.assertAlmostEqual(interval * 1e-6, r.summary["gather"]["interval"], places=12)
        self.assertEqual(len(traces), 7)
        for k, (record, source_x, depth, receiver_x, elevation, values) in enumerate(traces):
            self.assertEqual((record, source_x, depth, receiver_x, elevation),
                             (1, 300.0, 12.5, 100.0 * k, -20.0))
            np.testing.assert_array_equal(values, r.gather[k])
        self.assertEqual(r.gather.shape[1], r.summary["gather"]["samples"])
        self.assertLessEqual(r.summary["scheme"]["dt"], r.summary["scheme"]["largest_dt"])
        self.assertAlmostEqual(r.summary["gather"]["wavelet_peak"], 0.1, delta=r.summary["scheme"]["dt"])
        self.assertGreater(r.summary["rates"]["points_per_second"], 0.0)
        self.assertIn("points/s", r.text)
        for name in r.summary["files"]:
            self.assertTrue(os.path.isfile(os.path.join(r.folder, name)), name)

    def test_many_shots(self):
        line = ["--source", "100,20:500,20:3", "--receivers=-100,20:100,20:5", "--moving"]
        r = self.model(*self.section, *line)
        self.assertEqual([s["gather"] for s in r.summary["shots"]], [f"gather_000{n}.npy" for n in (1, 2, 3)])
        # The model is homogeneous: all shots are equal, except for reflections of the sides.
        self.close(r.gathers[1][1:4, :80], r.gathers[0][1:4, :80], 0.05)
        _, traces = r.segy()
        self.assertEqual([t[0] for t in traces], 5 * [1] + 5 * [2] + 5 * [3])
        self.assertEqual([t[3] for t in traces[5:10]], [200.0, 250.0, 300.0, 350.0, 400.0])
        table = self.write("shots.csv",
                           "shot,kind,x,z\n7,source,100,20\n9,source,300,20\n*,receiver,400,20\n")
        t = self.model(*self.section, "--shots", table)
        self.assertEqual([s["number"] for s in t.summary["shots"]], [7, 9])
        alone = self.model(*self.section, "--source", "300,20", "--receivers",
                           self.write("r.csv", "z,x\n20,400\n"))
        np.testing.assert_array_equal(t.gathers[1], alone.gather)

    def test_old_results_go(self):
        self.model("--vp", "2000", "--shape", "61,41", "--spacing", "10", "--time", "0.3", "--source",
                   "100,20;200,20", out="twice")
        self.assertTrue(os.path.isfile(self.path("twice/snapshot_0004.npy")))
        self.write("twice/gather_mine.npy", "kept")
        r = self.model(*self.section, out="twice")
        self.assertEqual(sorted(n for n in os.listdir(r.folder) if n.endswith(".npy")),
                         ["gather.npy", "gather_mine.npy", "vp.npy"])

    def test_wavelets(self):
        t = 0.002 * np.arange(120)
        np.savetxt(self.path("w.csv"), np.stack([t, ricker(t, 15.0, 0.1)], axis=1), delimiter=",")
        a = self.model(*self.section, "--wavelet", "ricker:15:0.1", "--dt", "0.002")
        b = self.model(*self.section, "--wavelet", "file:" + self.path("w.csv"), "--dt", "0.002")
        self.close(b.gather, a.gather, 1e-5)
        r = self.model(*self.section, "--wavelet", "ormsby:5,10,20,30")
        self.assertLess(r.summary["scheme"]["highest_frequency"], 31.0)

    def test_config_and_quiet(self):
        self.write("c.cfg", "# a survey\nvp = 2000\nshape = 61,41\nspacing = 10\ntime = 0.2\nsource = "
                            "100,20\nsource = 200,20\nfree-surface = true\n")
        r = self.model("--config", self.path("c.cfg"), "--time", "0.25", "--source", "50,30")
        self.assertEqual(len(r.gathers), 1)
        self.assertEqual(r.summary["asked"]["time"], 0.25)
        self.assertIn("top=free", r.summary["model"]["boundaries"])
        self.assertEqual(self.model("--config", self.path("c.cfg"), "--quiet").text, "")


class Picture(Case):
    def test_program_draws(self):
        self.needs_matplotlib()
        r = self.model("--vp", "2000", "--shape", "61,41", "--spacing", "10", "--time", "0.2", plot=True)
        self.assertEqual(r.summary["picture"], "drawn")
        for picture in ("gather.png", "snapshots.png"):
            self.assert_picture(os.path.join(r.folder, picture))
            self.assertIn(picture, r.summary["files"])

    def test_volume(self):
        r = self.model("--vp", "2000", "--shape", "x=31,y=28,z=25", "--spacing", "10", "--time", "0.2",
                       "--width", 6)
        self.draw("plot_waves", r.folder, "gather.png", "snapshots.png")


# ctest: quick
class Program(support.EveryProgram, Case):
    small = [*Case.section[:-1], "0.1"]
    script = "plot_waves"


class NothingIsLost(support.NothingIsLost, Case):
    small = [*Case.section[:-1], "0.1"]
    slow = ["--vp", "2000", "--shape", "201,101,101", "--spacing", "10", "--time", "2"]
    results = ["gather.npy", "gather.sgy", "vp.npy"]
    former = "snapshot_0123.npy"
    vp = support.npy(np.full((61, 41), 2000.0))
    read = [("vp.npy", vp, lambda f: ["--vp", f, "--spacing", "10", "--time", "0.1"], "vp"),
            ("gather.npy", vp, lambda f: [*Case.section, "--rho", f], "rho"),
            ("gather.sgy", b"vp = 2000\nshape = 61,41\nspacing = 10\n", lambda f: ["--config", f], "config"),
            ("snapshot_0001.npy", vp, lambda f: ["--vp", f, "--spacing", "10", "--time", "0.1"], "vp"),
            ("gather_0002.npy", support.npy(np.array([[30.0, 20.0], [40.0, 20.0]])),
             lambda f: [*Case.section, "--source", f], "source")]
    shapes = [["--vp", "2000", "--shape", "x=101,y=91,z=81", "--spacing", "10", "--time", "0.02", *more]
              for more in ([], ["--expand", "eikonal"], ["--epsilon", "0.2", "--delta", "0.1"],
                           ["--rho", "2000"],
                           ["--epsilon", "0.2", "--delta", "0.1", "--theta", "0.3"])] + [
                  ["--vp", "2000", "--shape", "x=131,y=101,z=121", "--spacing", "10", "--time", "0.02",
                   "--precision", "double"],
                  ["--vp", "2000", "--shape", "1201,901", "--spacing", "10", "--time", "0.02", "--boundary",
                   "sponge:40"],
                  ["--vp", "2000", "--shape", "101,101", "--spacing", "10", "--time", "1", "--at-once", "8",
                   "--receivers", "0,20:1000,20:6001", "--source", "0,20:1000,20:8", "--snapshot-every", "0"]]

    # Anisotropic around the sources: the result depends on all of them.
    survey = ["--vp", "v.npy", "--epsilon", "0.2", "--delta", "0.05", "--spacing", "10", "--time", "0.8",
              "--source", "300,20:2700,20:6", "--receivers", "0,20:3000,20:31", "--snapshot-every", "0.4"]

    def whole_and_interrupted(self, number, more=(), whole=()):
        rng = np.random.default_rng(3)
        self.save("v.npy", (2000.0 + rng.uniform(0, 300, (301, 151))).astype(np.float32))
        self.assertEqual(self.call(*self.survey, *whole, "--no-plot", "--out", "whole").returncode, 0)
        process = self.start(*self.survey, *more)

        self.wait_for(process, lambda: len(self.whole_parts()) >= 2)
        process.send_signal(number)
        process.communicate(timeout=60)
        return process.returncode

    def test_a_run_that_is_interrupted_is_described_and_gone_on_with(self):
        for number, status, state in ((signal.SIGINT, 130, "interrupted"), (signal.SIGKILL, -9, "running")):
            self.assertEqual(self.whole_and_interrupted(number), status)
            before = self.summary()
            self.assertEqual(before["state"], state)
            self.assertEqual(before["asked"]["time"], 0.8)
            self.assertGreater(before["scheme"]["dt"], 0.0)
            there = [shot["gather"] for shot in before["shots"]]
            self.assertIn(len(self.whole_parts()), range(2, 6))
            self.assertLessEqual(len(there), len(self.whole_parts()))
            for name in before["files"]:
                self.assertTrue(os.path.isfile(self.path("out/" + name)), name)
            for shot in before["shots"]:
                self.assertEqual(np.load(self.path("out/" + shot["gather"])).shape[1],
                                 before["gather"]["samples"])
            if number == signal.SIGINT:
                self.assertEqual([n for n in self.files() if ".part" in n or n == ".moho_lock"], [])
            times = [os.stat(self.path("out/" + part["files"][0]["name"])).st_mtime_ns
                     for part in before["parts"]]
            done = self.call(*self.survey, "--no-plot", "--out", "out", "--resume")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertRegex(done.stdout, f"[{len(times)}-6] of 6 shots are complete")
            after, whole = self.summary(), self.summary("whole")
            self.assertEqual(after["state"], "done")
            for key in ("shots", "snapshots", "scheme", "gather"):
                self.assertEqual(after[key], whole[key])
            self.assertEqual(after["run"]["expand"], whole["run"]["expand"])
            self.assertGreater(after["rates"]["points_per_second"], 0.0)
            self.assertEqual(sorted(after["files"]), sorted(whole["files"]))
            self.assertEqual(self.files(), self.files("whole"))
            for name in whole["files"]:
                if name != "summary.json":
                    self.assertEqual(self.content("out/" + name), self.content("whole/" + name), name)
            again = [os.stat(self.path("out/" + part["files"][0]["name"])).st_mtime_ns
                     for part in before["parts"]]
            self.assertEqual(times, again)  # they were not recomputed
            for name in self.files():
                os.remove(self.path("out/" + name))

    def test_a_kill_of_shots_at_once_is_gone_on_with(self):
        several = ["--at-once", "2", "--space", "serial"]
        self.assertEqual(self.whole_and_interrupted(signal.SIGKILL, several, several[2:]), -9)
        there = len(self.whole_parts())
        self.assertIn(there, range(2, 6))
        done = self.call(*self.survey, *several, "--no-plot", "--out", "out", "--resume")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, f"[{there}-6] of 6 shots are complete")
        for name in self.summary("whole")["files"]:
            if name != "summary.json":
                self.assertEqual(self.content("out/" + name), self.content("whole/" + name), name)

    def test_resuming_another_run_is_refused(self):
        self.whole_and_interrupted(signal.SIGINT)
        before = self.files(), self.summary()
        resume = [*self.survey, "--no-plot", "--out", "out", "--resume"]
        self.assert_refused(self.call(*resume, "--order", "6"), "--resume: --order is 6, and was 8", "out")
        self.assert_refused(self.call(*resume, "--width", "10"), "--resume: --width is 10, and was auto")
        self.assert_refused(self.call(*resume, "--free-surface"),
                            "--resume: --free-surface is true, and was false")
        velocity = np.load(self.path("v.npy"))
        velocity[5, 5] += 1.0
        self.save("v.npy", velocity)
        self.assert_refused(self.call(*resume), "--resume: --vp v.npy is ", "CRC-32C")
        velocity[5, 5] -= 1.0
        self.save("v.npy", velocity)
        other = dict(before[1], fingerprint={**before[1]["fingerprint"],
                                             "program": "model_waves of moho 0.0.1"})
        self.write("out/summary.json", json.dumps(other))
        self.assert_refused(self.call(*resume), "--resume: program is ", "0.0.1")
        self.write("out/summary.json", json.dumps(before[1]))
        self.assertEqual(self.files(), before[0])
        # a gather that differs from what was written is recomputed
        name = before[1]["parts"][1]["files"][0]["name"]
        gather = np.load(self.path("out/" + name))
        gather[0, -1] += 1.0
        self.save("out/" + name, gather)
        again = self.call(*self.survey, "--no-plot", "--out", "out", "--source-taper", "-1")
        self.assertEqual(again.returncode, 2)
        self.assertEqual(self.files(), before[0])
        self.assertEqual(self.call(*resume).returncode, 0)
        for name in self.summary()["files"]:
            if name != "summary.json":
                self.assertEqual(self.content("out/" + name), self.content("whole/" + name), name)

    def test_resuming_nothing_begins(self):
        done = self.run_small("--resume")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("0 of 1 shot is complete", done.stdout)


class AtOnce(Case):
    """Concurrent shots have the bits of consecutive ones."""

    shots = [*Case.section, "--source", "100,20:500,20:7", "--receivers", "0,20:600,20:31"]
    names = [*(f"gather_{k:04d}.npy" for k in range(1, 8)), "gather.sgy", "vp.npy"]

    def test_traces_that_wait_are_counted(self):
        """Memory holds all traces for SEG-Y, two arrays more of computed shots, and those being written."""
        survey = ["--vp", "2000", "--shape", "21,21", "--spacing", "10", "--source", "20,20:180,20:8",
                  "--receivers", "0,20:200,20:401", "--snapshot-every", "0", "--dt", "0.002", "--space",
                  "serial"]
        for count in (1, 2, 6):
            bytes_of = []
            for duration in ("0.4", "0.8"):
                summary = self.model(*survey, "--at-once", str(count), "--time", duration).summary
                bytes_of.append((summary["memory"]["estimate_bytes"], summary["gather"]["samples"]))
            (few, short), (many, long) = bytes_of
            self.assertAlmostEqual(many - few, 4 * 401 * (8 + 2 * count + 1) * (long - short), delta=8)

    def test_same_bits(self):
        snapshots = [word if word != "0" else "0.1" for word in self.shots]
        for space, more, counts in (("openmp", [], (2, 5, 40)), ("serial", ["--expand", "eikonal"], (5,))):
            one = self.model(*snapshots, "--space", space, *more, "--at-once", "1", out="one")
            self.assertIn("1 shot at once", one.text)
            for count in counts:
                many = self.model(*snapshots, "--space", space, *more, "--at-once", str(count), out="many")
                self.assertIn(f"{min(count, 7)} shots at once", many.text)
                self.assert_same_files([*self.names, "snapshot_0001.npy", "snapshot_0003.npy"], "one", "many")
                for key in ("shots", "snapshots", "scheme", "gather", "files"):
                    self.assertEqual(many.summary[key], one.summary[key], key)
                self.assertEqual(many.summary["run"]["at_once"], min(count, 7))
                self.assertEqual(many.summary["run"]["expand"]["points"],
                                 one.summary["run"]["expand"]["points"])
        self.model(*self.shots, "--at-once", "1", out="one")
        self.assertIn("at once (auto)", self.model(*self.shots, out="auto").text)
        self.assert_same_files(self.names, "one", "auto")

    def test_ranks_share_shots_of_which_each_has_several(self):
        self.needs_mpirun()
        self.model(*self.shots, "--space", "serial", "--at-once", "1", out="one")
        self.succeed(*self.shots, "--space", "serial", "--at-once", "2", out="many", ranks=2)
        self.assert_same_files(self.names, "one", "many")

    def test_bad_input(self):
        for text in ("0", "-2", "1.5", "many"):
            self.refuse([*self.shots, "--at-once=" + text], "--at-once", text)
        # one shot fits, many do not
        volume = ["--vp", "2000", "--shape", "101,81,91", "--spacing", "10", "--time", "0.02",
                  "--snapshot-every", "0", "--source", "100,100,20:700,100,20:40", "--space", "serial",
                  "--memory", "150M"]
        self.assertIn("1 shot at once", self.model(*volume, out="alone").text)
        self.refuse([*volume, "--at-once", "40"], "memory: ", "allowed: 150 MiB", "fewer shots --at-once")


class Ranks(Case):
    def test_ranks_share_the_memory_of_a_machine(self):
        self.needs_mpirun()
        volume = ["--vp", "2000", "--spacing", "10", "--coordinates", "xyz", "--no-plot", "--out", "out",
                  "--shape"]
        too_large = self.call(*volume, "20000,20000,20000")
        self.assertEqual(too_large.returncode, 2, too_large.stderr)
        takes, of_takes, allowed, of_allowed = re.search(
            r"takes at least ([0-9.]+) (.)iB .*allowed: ([0-9.]+) (.)iB", too_large.stderr).groups()
        # two thirds of the free memory are too much for each of two
        part = 0.67 * float(allowed) / float(takes) * 1024.0 ** ("KMGTP".index(of_allowed)
                                                                 - "KMGTP".index(of_takes))
        n = int(20000 * part ** (1 / 3))
        done = self.call(*volume, f"{n},{n},{n}", ranks=2)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("for each of 2 ranks of this machine", done.stderr)

    def test_same_bits(self):
        self.needs_mpirun()
        self.save("v.npy", np.full((61, 41), 2000.0, dtype=np.float32))
        arguments = ["--vp", "v.npy", "--spacing", "10", "--source", "100,20:500,20:5", "--receivers",
                     "0,20:600,20:31", "--time", "0.3", "--snapshot-every", "0.1", "--space", "serial"]
        self.succeed(*arguments, out="one")
        names = [*(f"gather_{k:04d}.npy" for k in range(1, 6)), "gather.sgy", "vp.npy", "snapshot_0001.npy"]
        with open(self.path("one/summary.json"), encoding="utf-8") as file:
            one = json.load(file)
        for ranks in (1, 2, 3):
            self.succeed(*arguments, out="many", ranks=ranks)
            self.assert_same_files(names, "one", "many")
            with open(self.path("many/summary.json"), encoding="utf-8") as file:
                many = json.load(file)
            self.assertEqual(sorted(many["files"]), sorted(one["files"]))
            self.assertEqual([many[key] for key in ("shots", "snapshots", "state")],
                             [one[key] for key in ("shots", "snapshots", "state")])
            self.assertEqual((many["ranks"], many["run"]["expand"]["points"]),
                             (ranks, one["run"]["expand"]["points"]))
            # seconds of earlier shots are divided by the number of their ranks
            self.succeed(*arguments, "--resume", out="many", ranks=ranks % 3 + 1)
            with open(self.path("many/summary.json"), encoding="utf-8") as file:
                resumed = json.load(file)
            self.assertEqual(resumed["run"]["expand"]["points"], one["run"]["expand"]["points"])
            self.assertAlmostEqual(resumed["rates"]["points_per_second"] / many["rates"]["points_per_second"],
                                   1.0, delta=1e-9)
        for more, said in ((["--dt", "0.1"], "dt"), (["--vp", "none.npy"], "none.npy"),
                           (["--order", "5"], "--order")):
            arguments_here = ["--vp", "none.npy",
                              *arguments[2:]] if more[0] == "--vp" else [*arguments, *more]
            self.refuse(arguments_here, said, ranks=3)


class Numbers(Case):
    """Units, contradictions, time zero, and omitted options."""

    def test_units(self):
        v = np.linspace(2000.0, 3000.0, 61 * 41, dtype=np.float32).reshape(61, 41)
        more = ["--spacing", "10", "--time", "0.1", "--snapshot-every", "0"]
        expected = self.model("--vp", self.save("v.npy", v), *more).gather
        slow = self.save("slow.npy", v / 1000)
        self.refuse(["--vp", slow, *more], "slow.npy: velocities of 2 to 3: km/s? give --velocity-unit km/s")
        self.refuse(["--vp", "2", "--shape", "61,41", *more], "--vp 2: velocities of 2: km/s?")
        r = self.model("--vp", slow, "--velocity-unit", "km/s", *more)
        self.close(r.gather, expected, 1e-5)
        self.assertEqual(r.summary["asked"]["velocity_unit"], "km/s")
        feet = self.save("feet.npy", v / 0.3048)
        self.close(self.model("--vp", feet, "--velocity-unit", "ft/s", *more).gather, expected, 1e-5)
        again = self.call("--vp", feet, *more, "--no-plot", "--out", "out", "--resume")
        self.assertEqual(again.returncode, 2)
        self.assertIn("--resume", again.stderr)

    def test_contradictions(self):
        self.refuse([*self.section, "--boundary", "cpml,top=rigid", "--free-surface"],
                    "--boundary cpml,top=rigid and --free-surface were both given")
        self.refuse([*self.section, "--boundary", "left=free,left=rigid"],
                    "'left' stands twice in 'left=free,left=rigid'")
        for option, value in (("--equations", "fletcher"), ("--sigma", "0.7"), ("--source-taper", "50")):
            self.refuse([*self.section, option, value], f"{option} was given and the medium is isotropic",
                        "--epsilon")
        vti = [*self.section, "--epsilon", "0.2"]
        self.refuse([*vti, "--sigma", "0.7"], "--sigma was given without --equations fletcher")
        self.refuse([*vti, "--equations", "fletcher", "--source-taper", "50"],
                    "--source-taper was given with")
        self.refuse([*self.section, "--seed", "7"], "--seed was given without random layers")
        self.refuse([*vti, "--degrees"], "--degrees was given and no angle was")
        # the option is given twice
        self.model(*self.section, "--boundary", "cpml,top=free", "--free-surface")

    def test_the_ricker_of_a_message_will_do(self):
        said = self.refuse([*self.section, "--wavelet", "ricker:50"], "take --wavelet ricker:")
        frequency = float(said.split("take --wavelet ricker:")[1].split()[0])
        self.model(*self.section, "--wavelet", f"ricker:{frequency}")
        self.refuse([*self.section, "--wavelet", f"ricker:{1.1 * frequency}"], "take --wavelet ricker:")

    def test_time_zero_offsets_and_header(self):
        r = self.model(*self.section, "--source", "300,20", "--receivers", "0,20:600,20:7", "--wavelet",
                       "ricker:20")
        gather = r.summary["gather"]
        self.assertEqual((gather["delay"], gather["time_zero"]), (0.0, "the beginning of the wavelet"))
        self.assertAlmostEqual(gather["wavelet_peak"], 0.075, delta=r.summary["scheme"]["dt"])
        with open(self.path("out/gather.sgy"), "rb") as file:
            data = file.read()
        text = data[:3200].decode("cp037")
        for words in ("PROGRAM: model_waves", "--vp 2000", "WAVELET: ricker:20", "DELAY 0", "cpml:10",
                      "OFFSET (37-40)"):
            self.assertIn(words, text)
        self.assertEqual(text[39 * 80:].strip(), "C40 END TEXTUAL HEADER")
        size = 240 + 4 * gather["samples"]
        heads = [data[at:at + 240] for at in range(3600, len(data), size)]
        self.assertEqual([struct.unpack(">i", head[36:40])[0] for head in heads],
                         [-300, -200, -100, 0, 100, 200, 300])
        self.assertEqual([struct.unpack(">h", head[108:110])[0] for head in heads], 7 * [0])

    def test_moving_says_what_it_left_out(self):
        r = self.model(*self.section, "--source", "100,20:500,20:3", "--receivers", "-200,20:200,20:5",
                       "--moving")
        self.assertIn("2 of 15 receivers of --moving are outside of the model and left out, in 2 shots "
                      "(shot 1: 1; shot 3: 5; counted from 1)", r.text)
        self.assertEqual([shot["left_out"] for shot in r.summary["shots"]], [[0], [], [4]])
        self.assertEqual([len(shot["receivers"]) for shot in r.summary["shots"]], [4, 5, 4])


# ctest: quick
class BadInput(Case):
    def layers(self, ratio, time=0.05):
        """A density of random layers of two values."""
        dense = np.random.default_rng(3).random(41) < 0.5
        rho = np.where(dense, 1000.0 * ratio, 1000.0) * np.ones((41, 1))
        return ["--vp", "2000", "--spacing", "10", "--wavelet", "ricker:10", "--time", str(time), "--rho",
                self.save("rho.npy", rho.astype(np.float32))]

    def test_contrasts_of_density(self):
        self.refuse(self.layers(17.0), "rho.npy: ", "17000 at node (0, ", "1000 at node (0, ",
                    " m, differ by a ratio of 17, ", "(allowed: 16 within 4 nodes along an axis at order 8)",
                    "take order 6 or less")
        self.model(*self.layers(17.0), "--order", "6")
        # beyond the grid nothing leaves: what grows is seen after thousands of steps
        for boundary in ("rigid", "free"):
            r = self.model(*self.layers(15.99, time=6), "--boundary", boundary, "--source", "200,200",
                           "--receivers", "100,120:300,120:5")
            self.assertGreater(r.summary["scheme"]["steps"], 3000)
            half = r.gather.shape[1] // 2
            self.assertLess(np.abs(r.gather[:, half:]).max(), 3.0 * np.abs(r.gather[:, :half]).max())

    def test_orders(self):
        for order in ("-2", "0", "7", "18", "1e99", "x"):
            given = order if order == "7" else f"'{order}'"
            self.refuse(["--vp", "2000", "--shape", "20,20", "--spacing", "10", "--order", order],
                        f"--order is {given} (allowed: 2, 4, 6, 8, 10, 12, 14, 16)")

    def test_memory_names_the_program_that_streams(self):
        # 32 MiB of a model; its waves need more
        self.save("v.npy", np.full((2001, 2001), 2000.0, dtype=np.float32))
        survey = [*self.on_host(), "--vp", "v.npy", "--spacing", "10", "--time", "0.02", "--memory", "60M"]
        self.refuse(survey, "memory: a model of 2001 x 2001 nodes", "the medium and wavefields ",
                              "or stream_waves with --host-volume FILE")
        self.assertNotIn("stream_waves with", self.refuse([*survey, "--expand", "amplitude"],
                                                          "memory: a model of 2001 x 2001 nodes"))
        self.assertNotIn("stream_waves",
                         self.refuse([*survey[:-1], "10M"], "memory: a model of 2001 x 2001 nodes"))

    def test_options(self):
        self.refuse([], "--vp is missing")
        self.refuse(["--vp", "2000"], "--shape is missing")
        self.refuse(["--vp", "2000", "--shape", "61,41"], "--spacing is missing")
        self.refuse([*self.section, "--boundary", "wall"], "--boundary 'wall' is unknown", "cpml")
        self.refuse([*self.section, "--boundary", "cpml,front=free"], "no face 'front' in 2D", "top, bottom")
        self.refuse([*self.section, "--boundary", "free:3"], "it has no width")
        self.refuse([*self.section, "--boundary", "cpml:0"], "the width of cpml is '0'")
        self.refuse([*self.section, "--order", "7"], "--order is 7", "16")
        self.refuse([*self.section, "--expand", "fast"], "--expand 'fast'", "amplitude")
        self.refuse([*self.section, "--wavelet", "gabor:3"], "gabor")
        self.refuse([*self.section, "--wavelet", "15"], "wavelet '15'", "did you mean ricker:15?")
        self.refuse([*self.section, "--shots", "t.csv", "--source", "1,1"], "--shots and --source")
        self.refuse([*self.section, "--moving"], "--moving needs --receivers")
        self.refuse(["--vp", "2000", "--time", "0"], "--time is 0")
        self.refuse([*self.section, "--theta", "0.3", "--boundary", "cpml"], "--boundary: ", "use sponge")

    def test_messages_name_the_option(self):
        self.refuse([*self.section, "--wavelet", "none.csv"], "--wavelet: ", "none.csv")
        self.refuse([*self.section, "--shots", "none.csv"], "--shots: ", "none.csv")
        self.refuse([*self.section, "--receivers", "none.csv"], "--receivers", "none.csv")

    def test_sparse_tables_are_refused_at_once(self):
        with open(self.path("t.csv"), "w") as file:
            file.write("x,z\n1,2\n")
            file.truncate(3 * 2 ** 30)
        begun = time.monotonic()
        for arguments in (["--shots", "t.csv"], ["--receivers", "t.csv"], ["--source", "t.csv"],
                          ["--wavelet", "t.csv"],
                          ["--config", "t.csv"]):
            self.refuse([*self.section, *arguments], "--" + arguments[0].strip("-"), "t.csv")
        self.assertLess(time.monotonic() - begun, 5.0)

    def test_scheme(self):
        self.refuse([*self.section, "--dt", "0.004"], "--dt: dt is 0.004 s", "largest stable step")
        self.refuse([*self.section, "--dt", "0.5"], "--dt: dt is 0.5 s", "largest stable step")
        self.refuse(["--vp", "2000", "--shape", "61,41", "--spacing", "10", "--snapshot-every", "1e300"],
                    "--snapshot-every is 1e+300 s")
        self.refuse([*self.section, "--source-taper", "-1"], "--source-taper")
        self.refuse([*self.section, "--wavelet", "ricker:50"], "--wavelet ricker:50", "points per wavelength",
                    "take --wavelet ricker:24 or lower")
        self.refuse([*self.section, "--interval", "0.0000015"], "--interval", "whole microseconds")
        self.refuse([*self.section, "--interval", "0.02"], "--interval is 0.02 s", "record more often")
        self.refuse([*self.section, "--dt", "0.002", "--interval", "0.001"], "--interval is 0.001 s",
                    "--dt, 0.002 s")
        self.refuse([*self.section[:-1], "500"], "samples, as SEG-Y counts them")
        self.refuse(["--vp", "2000", "--shape", "61,41", "--spacing", "10", "--snapshot-every", "1.5"],
                    "--snapshot-every is 1.5 s")
        self.refuse(["--vp", "2000", "--spacing", "10", "--shape", "61,8", "--boundary", "rigid"],
                    "order 8 is too large for 8 nodes along z")
        self.refuse(["--vp", "2000", "--shape", "40000,4000,40000", "--coordinates", "xyz", "--spacing",
                     "10"], "memory")

    def test_places(self):
        self.refuse([*self.section, "--source", "601,20"],
                    "--source: source 1: (601, 20) is outside the model (allowed: x 0 to 600, z 0 to 400): "
                    "move it, or check --spacing and the order of coordinates")
        self.refuse([*self.section, "--source", "-5,20"], "--source: source 1: (-5, 20)", "outside",
                    "x 0 to 600")
        self.refuse([*self.section, "--receivers", "0,20:600,999:3"], "--receivers: receiver 2")
        self.refuse([*self.section, "--source", "1,2,3"], "--source", "'1,2,3' has 3 coordinates, not 2")
        self.refuse([*self.section, "--free-surface", "--source", "30,0"], "--source", "on the free surface")
        self.refuse([*self.section, "--receivers", "none.csv"], "none.csv")
        self.refuse([*self.section, "--receivers", ""], "--receivers is empty")
        self.refuse([*self.section, "--boundary", ""], "--boundary is empty")
        self.refuse([*self.section, "--origin", "1e10,0"], "--origin: a position is", "SEG-Y")
        self.refuse([*self.section, "--shots", self.write("s.csv", "1,source,0,10\n")], "s.csv",
                    "no receiver")

    def test_models(self):
        v = np.full((61, 41), 2000.0, dtype=np.float32)
        good = ["--spacing", "10", "--vp", self.save("v.npy", v)]
        bad = v.copy()
        bad[7, 11] = np.nan
        self.refuse(["--spacing", "10", "--vp", self.save("bad.npy", bad)], "--vp ",
                    "bad.npy: the value at node (7, 11)", "nan")
        self.refuse([*good, "--rho", self.save("rho.npy", v[:, :40])], "--rho ", "61 x 40", "61 x 41")
        self.refuse([*good, "--rho", "-5"], "--rho -5: the value at node (0, 0)", "positive")
        self.refuse([*good, "--epsilon", "-0.6"], "--epsilon -0.6: ", "-0.4999 to 2")
        self.refuse([*good, "--delta", "30"], "--delta 30: ", "not per cent")
        self.refuse([*good, "--theta", "30"], "--theta 30: ", "radians", "--degrees")
        message = self.refuse([*good, "--phi", "0.3"], "--phi 0.3: a 2D model has no azimuth")
        self.assertNotIn("degrees", message)
        self.refuse([*good, "--rho", "2000", "--epsilon", "0.1"], "density")
        self.refuse([*good, "--shape", "41,61"], "--shape: 41 x 61 was given")
        self.refuse(["--vp", self.path("v.npy")], "--spacing is missing")
        self.refuse(["--vp", "v.txt", "--spacing", "10"], "v.txt")
        self.refuse([*good, "--epsilon", "nan"], "--epsilon: ", "nan")
        self.refuse([*good, "--delta", "none.npy"], "--delta: ", "none.npy")
        self.refuse(["--vp", "2000", "--shape", "61,41", "--spacing", "1e300"], "spacing along x is 1e+300",
                    "1000000000")
        self.refuse(["--vp", self.save("1.npy", v[0]), "--spacing", "10"], "1.npy")


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
