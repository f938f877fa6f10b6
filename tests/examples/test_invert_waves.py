#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the program invert_waves through its command line.

usage: test_invert_waves.py --program PATH [--modeller PATH] [names of test classes]
Exit status 77 if numpy is missing or every test was skipped.
"""

import csv
import json
import os
import signal
import subprocess
import sys
import time

import support
from support import np


class Case(support.Case):
    # A section whose velocity grows with depth, with a fast body; the starting model lacks the body.
    shape = (61, 41)
    survey = ["--spacing", "20", "--wavelet", "ricker:6", "--time", "0.9", "--dt", "0.002", "--boundary",
              "sponge:16"]
    shots = ["--data", "modelled", "--true-vp", "true.npy", "--source", "100,40:1100,40:5", "--receivers",
             "0,700:1200,700:31"]
    results = ["vp.npy", "gradient_vp.npy", "illumination.npy", "vp_band_0001.npy", "gather_modelled.npy"]

    def setUp(self):
        super().setUp()
        x, z = np.meshgrid(np.arange(self.shape[0]) * 20.0, np.arange(self.shape[1]) * 20.0, indexing="ij")
        self.start = (1800.0 + 0.5 * z).astype(np.float32)
        self.true = (self.start + 150.0
                     * np.exp(-((x - 600.0)**2 + (z - 400.0)**2) / 2.0 / 120.0**2)).astype(np.float32)
        self.save("start.npy", self.start)
        self.save("true.npy", self.true)

    def invert(self, *arguments, out="out", plot=False):
        return Results(*self.succeed("--vp", "start.npy", *self.survey, *arguments, out=out, plot=plot))

    def plan(self, *more):
        done = self.call("--vp", "start.npy", *self.survey, *self.shots, *more, "--plan", "--out", "plan")
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    # Sets a short survey; returns arguments of an iteration with random layers.
    def stream_arguments(self, depth):
        self.survey = ["--spacing", "20", "--wavelet", "ricker:6", "--time", "0.5", "--dt", "0.002"]
        return ["--data", "modelled", "--true-vp", "true.npy", "--source", f"300,{depth}:900,{depth}:2",
                "--receivers", "0,700:1200,700:31", "--iterations", "1", "--source-field", "random",
                "--space", self.spaces()[0]]

    # Histories are equal besides their times.
    def expect_same_history(self, *runs):
        self.assertEqual(*([{key: value for key, value in row.items() if key != "seconds"}
                            for row in r.history] for r in runs))

    def error(self, vp):
        return np.linalg.norm(vp - self.true) / np.linalg.norm(self.start - self.true)


class Results:
    def __init__(self, folder, text):
        self.folder, self.text = folder, text
        with open(os.path.join(folder, "summary.json"), encoding="utf-8") as file:
            self.summary = json.load(file)
        with open(os.path.join(folder, "history.csv"), encoding="utf-8", newline="") as file:
            self.history = [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]
        self.vp = self.load("vp.npy")

    def load(self, name):
        return np.load(os.path.join(self.folder, name))

    @property
    def relative(self):
        return self.summary["result"]["relative_misfit"]


class Inversion(Case):
    def test_finds_a_body(self):
        r = self.invert(*self.shots, "--iterations", "8")
        self.assertEqual(r.vp.shape, self.shape)
        self.assertLess(r.relative, 0.02)
        self.assertLess(self.error(r.vp), 0.6)
        self.assertEqual(r.history[0]["relative_misfit"], 1.0)
        taken = [row for row in r.history if row["taken"]]
        self.assertEqual(taken[-1]["iteration"], 8.0)
        self.assertLessEqual(len(r.history), 12)
        misfits = [row["misfit"] for row in taken]
        self.assertEqual(misfits, sorted(misfits, reverse=True))
        # error of the complete model, by numpy
        expected = np.linalg.norm(r.vp.astype(float) - self.true) / np.linalg.norm(self.true.astype(float))
        self.assertAlmostEqual(r.summary["result"]["vp_error"], expected, delta=1e-6)
        # the first step changes the model by at most 1 %
        self.assertIn("as many iterations as were allowed", r.summary["stops"][0]["why"])
        observed, start, modelled = (r.load(f"gather_{n}.npy") for n in ("observed", "start", "modelled"))
        self.assertLess(np.linalg.norm(modelled - observed), 0.3 * np.linalg.norm(start - observed))
        for name in ("gradient_vp.npy", "illumination.npy", "vp_start.npy", "vp_true.npy"):
            self.assertEqual(r.load(name).shape, self.shape)
        np.testing.assert_array_equal(r.load("vp_start.npy"), self.start)
        self.assertFalse([name for name in os.listdir(r.folder) if name.startswith("search")],
                         "states are taken away")

    def test_first_change_is_that_of_the_first_trial(self):
        r = self.invert(*self.shots, "--iterations", "1", "--first-change", "0.001")
        self.assertGreater(np.abs(r.vp / self.start - 1.0).max(), 0.0015)
        self.assertIn("largest relative change in the first trial; steps may be longer",
                      " ".join(self.call("--help").stdout.split()))

    def test_source_fields_agree(self):
        expected = self.invert(*self.shots, "--iterations", "2", "--source-field", "shell", out="shell")
        for way in ("stored", "replay"):
            r = self.invert(*self.shots, "--iterations", "2", "--source-field", way, out=way)
            difference = np.linalg.norm(r.vp - expected.vp) / np.linalg.norm(expected.vp - self.start)
            self.assertLess(difference, 1e-3, way)
            self.assertEqual(r.summary["scheme"]["source_field"], way)
        r = self.invert(*self.shots, "--iterations", "2", "--source-field", "random", out="random")
        self.assertLess(r.relative, 0.7)

    def test_width_of_random_layers(self):
        sponge = ["--boundary", "sponge:16"]
        asked = self.stream_arguments(40)
        names = ("vp.npy", "gradient_vp.npy", "illumination.npy", "gather_modelled.npy")
        usual = self.invert(*asked, *sponge, out="usual")
        self.assertEqual(usual.summary["asked"]["width"], "auto")
        self.invert(*asked, *sponge, "--width", "60", out="same")
        self.assert_same_files(names, "usual", "same")
        other = self.invert(*asked, *sponge, "--width", "25", out="other")
        self.assertEqual(other.summary["asked"]["width"], 25)
        # the sponge keeps its width
        np.testing.assert_array_equal(other.load("gather_start.npy"), usual.load("gather_start.npy"))
        difference = np.abs(other.load("gradient_vp.npy") - usual.load("gradient_vp.npy")).max()
        self.assertGreater(difference, 1e-4 * np.abs(usual.load("gradient_vp.npy")).max())
        self.invert(*asked, *sponge, "--width", "25", "--block", "7", "--updates", "8", out="stream")
        self.assert_same_files(names, "other", "stream")
        # random layers of --boundary also keep their width
        named = self.invert(*asked, "--boundary", "random:25", out="named")
        for width, like in ((["random:25", "--width", "60"], True), (["random", "--width", "25"], True),
                            (["random:60"], False)):
            r = self.invert(*asked, "--boundary", *width, out="other_named")
            same = np.array_equal(r.load("gradient_vp.npy"), named.load("gradient_vp.npy"))
            self.assertEqual(same, like, width)

    def test_receivers_on_free_surfaces(self):
        # reported before anything is computed, and counted from 1
        for more, words in ((["--source", "300,40", "--receivers", "0,700;100,0"],
                             "--receivers: receiver 2: (100, 0)"),
                            (["--source", "300,0", "--receivers", "0,700"], "--source: source 1: (300, 0)")):
            self.refuse(["--vp", "start.npy", *self.survey, *self.shots[:4], *more, "--free-surface"], words,
                        " is on the free surface, where the field is zero")

    def test_gradients_stream(self):
        asked = [*self.stream_arguments(40), "--boundary", "sponge:16"]
        expected = self.invert(*asked, out="core")
        self.assertNotIn("stream", expected.summary)
        names = ("vp.npy", "gradient_vp.npy", "illumination.npy", "gather_observed.npy",
                 "gather_modelled.npy")
        for more, block, updates in ((["--block", "1", "--updates", "25"], 1, 25),
                                     (["--block", "7", "--updates", "8"], 7, 8),
                                     (["--block", "4", "--updates", "3", "--devices", "2"], 4, 3),
                                     (["--device-memory", "900K"], None, None)):
            r = self.invert(*asked, *more, out="stream")
            self.assert_same_files(names, "core", "stream")
            columns = ("misfit", "gradient", "step")
            self.assertEqual([[row[c] for c in columns] for row in r.history],
                             [[row[c] for c in columns] for row in expected.history])
            self.assertEqual(r.summary["stream"]["devices"], 2 if "--devices" in more else 1)
            if block:
                self.assertEqual((r.summary["stream"]["block"], r.summary["stream"]["updates"]),
                                 (block, updates))
            else:
                self.assertLessEqual(r.summary["stream"]["device_bytes"], 900 * 1024)
        # a model that fits does not stream
        r = self.invert(*asked, "--device-memory", "1G", out="fits")
        self.assertNotIn("stream", r.summary)
        # with a density, in two bands
        self.save("rho.npy", (1500.0 + 0.2 * self.start).astype(np.float32))
        self.save("true_rho.npy", (1500.0 + 0.2 * self.true).astype(np.float32))
        asked += ["--rho", "rho.npy", "--true-rho", "true_rho.npy", "--parameters", "vp,rho", "--bands",
                  "5,8"]
        self.invert(*asked, out="core_rho")
        self.invert(*asked, "--updates", "5", out="stream_rho")
        self.assert_same_files((*names, "rho.npy", "gradient_rho.npy"), "core_rho", "stream_rho")

    def test_extended_images_stream(self):
        asked = [*self.stream_arguments(140), "--boundary", "sponge:16", "--lags", "5"]
        vti = ["--epsilon", "0.15", "--delta", "0.08", "--true-epsilon", "0.15", "--true-delta", "0.08"]
        for medium, kib in (([], 1200), (vti, 2000)):
            expected = self.invert(*asked, *medium, out="core")
            self.assertNotIn("lags_stream", expected.summary)
            for more in (["--block", "3", "--updates", "9"], ["--device-memory", f"{kib}K"]):
                r = self.invert(*asked, *medium, *more, out="stream")
                self.assert_same_files(("vp.npy", "lags.npy", "angles.npy"), "core", "stream")
                self.assertGreater(np.abs(r.load("lags.npy")).max(), 0.0)
                self.assertEqual(r.summary["lags"]["spread"], expected.summary["lags"]["spread"])
                self.assertIn("on the host, in a stream of their own", r.text)
                if more[0] == "--block":
                    self.assertEqual((r.summary["lags_stream"]["block"],
                                      r.summary["lags_stream"]["updates"]), (3, 9))
                else:
                    self.assertLessEqual(r.summary["lags_stream"]["device_bytes"], kib * 1024)

    def test_tti_streams(self):
        asked = [*self.stream_arguments(140), "--boundary", "sponge:16", "--epsilon", "0.15", "--delta",
                 "0.08", "--theta", "0.4", "--true-epsilon", "0.15", "--true-delta", "0.08", "--true-theta",
                 "0.4"]
        self.invert(*asked, out="core")
        r = self.invert(*asked, "--block", "6", "--updates", "5", out="stream")
        self.assertEqual(r.summary["stream"]["block"], 6)
        names = ("vp.npy", "gradient_vp.npy", "illumination.npy", "gather_modelled.npy")
        self.assert_same_files(names, "core", "stream")
        # a gradient that does not fit the device, with delta tapered around the sources
        asked += ["--parameters", "vp,epsilon,delta"]
        expected = self.invert(*asked, out="core_delta")
        self.assertNotIn("stream", expected.summary)
        r = self.invert(*asked, "--device-memory", "3500K", out="stream_delta")
        self.assertLessEqual(r.summary["stream"]["device_bytes"], 3500 << 10)
        names = (*names, "epsilon.npy", "delta.npy", "gradient_epsilon.npy", "gradient_delta.npy")
        self.assert_same_files(names, "core_delta", "stream_delta")
        self.assertGreater(np.abs(r.load("gradient_delta.npy")).max(), 0.0)

    def test_plans_of_streams(self):
        random = ["--source-field", "random"]
        asked = ["--vp", "start.npy", *self.survey, *self.shots, *random]
        text = self.plan(*random, "--block", "4", "--updates", "6")
        for words in ("source's wavefield by random, beside the adjoint field in a stream",
                      "blocks of 4 planes, 6 steps in a pass", "rings of ", "predicted: "):
            self.assertIn(words, text)
        self.assertFalse(os.path.exists(self.path("plan/summary.json")))
        self.refuse([*asked, "--device-memory", "9K"], "does not hold the planes of one stage")
        ring = ["--block", "4", "--updates", "4"]
        self.refuse([*asked, "--block", "1000"], "--block is 1000", "the planes of the volume")
        self.refuse(["--vp", "start.npy", *self.survey, *self.shots, "--block", "4"], "--block",
                    "needs --source-field random")
        self.assertRegex(self.plan(*random, "--updates", "6", "--lags", "4"),
                         r"lags +9 of the result: .* on the host, in a stream of their own\n"
                         r" +blocks of \d+ planes, 6 steps in a pass")
        self.refuse([*asked, "--updates", "4", "--lags", "40"], "--lags: the largest along x is 40 nodes")
        self.refuse([*asked, "--device-memory", "800K", "--lags", "20"],
                    "does not hold the planes of one stage", "or fewer --lags")
        self.refuse([*asked, *ring, "--lags=20", "--memory=2900K"], "--lags: ", "the host needs")
        # a chain, of which each device has the memory
        text = self.plan(*random, "--device-memory", "800K", "--devices", "2")
        self.assertIn("2 devices in a chain", text)
        self.assertIn("one host stands in for 2 devices", text)
        text = self.plan(*random, "--block", "8", "--updates", "40", "--devices", "3")
        self.assertIn("2 of 3 devices have no work", text)
        self.refuse([*asked, *ring, "--memory", "750K"], "and rings of planes", "--memory given")

    def test_bands_masks_and_bounds(self):
        r = self.invert(*self.shots, "--iterations", "3", "--bands", "4,8", "--mask", "depth:100", "--bounds",
                        "vp:1790:2210", "--precondition", "illumination")
        np.testing.assert_array_equal(r.vp[:, :6], self.start[:, :6])
        self.assertFalse(np.array_equal(r.vp[:, 6:], self.start[:, 6:]))
        self.assertGreaterEqual(r.vp.min(), 1789.9)
        self.assertLessEqual(r.vp.max(), 2210.1)
        self.assertEqual([row["relative_misfit"] for row in r.history if row["relative_misfit"] == 1.0],
                         [1.0, 1.0])
        self.assertEqual({row["frequency"] for row in r.history}, {4.0, 8.0})
        self.assertEqual(r.load("vp_band_0001.npy").shape, self.shape)
        np.testing.assert_array_equal(r.load("vp_band_0002.npy"), r.vp)
        # a mask in a file
        mask = np.ones(self.shape, dtype=np.float32)
        mask[:30] = 0.0
        self.save("mask.npy", mask)
        r = self.invert(*self.shots, "--iterations", "1", "--mask", "mask.npy", out="masked")
        np.testing.assert_array_equal(r.vp[:30], self.start[:30])
        self.assertFalse(np.array_equal(r.vp[30:], self.start[30:]))

    def test_misfits(self):
        for more in (["--misfit", "correlation"], ["--misfit", "huber", "--huber", "0.5"],
                     ["--misfit", "envelope"],
                     ["--offset-weights", "0:0.2,400:1", "--mute", "velocity:2600"],
                     ["--variables", "linear"]):
            r = self.invert(*self.shots, "--iterations", "4", *more)
            self.assertLess(r.relative, 0.4, more)
            self.assertLess(self.error(r.vp), 1.0, more)

    def test_several_unknowns(self):
        self.save("rho.npy", (1500.0 + 0.2 * self.start).astype(np.float32))
        self.save("true_rho.npy", (1500.0 + 0.2 * self.true).astype(np.float32))
        r = self.invert(*self.shots, "--rho", "rho.npy", "--true-rho", "true_rho.npy", "--parameters",
                        "vp,rho", "--iterations", "4", out="rho")
        self.assertLess(r.relative, 0.3)
        self.assertEqual(r.load("gradient_rho.npy").shape, self.shape)
        r = self.invert(*self.shots, "--epsilon", "0.1", "--delta", "0.05", "--true-epsilon", "0.12",
                        "--true-delta", "0.05", "--parameters", "vp,epsilon,delta", "--iterations", "4",
                        out="vti")
        self.assertLess(r.relative, 0.5)
        self.assertGreater(np.abs(r.load("epsilon.npy") - 0.1).max(), 1e-4)
        r = self.invert(*self.shots, "--epsilon", "0.1", "--delta", "0.05", "--theta", "0.3",
                        "--true-epsilon", "0.1", "--true-delta", "0.05", "--true-theta", "0.3",
                        "--iterations", "3", out="tti_vp")
        self.assertLess(r.relative, 0.4)
        r = self.invert(*self.shots, "--epsilon", "0.1", "--delta", "0.05", "--theta", "0.3",
                        "--true-epsilon", "0.12", "--true-delta", "0.05", "--true-theta", "0.3",
                        "--parameters", "vp,epsilon,delta", "--iterations", "3", out="tti")
        self.assertLess(r.relative, 0.5)
        self.assertGreater(np.abs(r.load("delta.npy") - 0.05).max(), 1e-4)

    def test_extended_image(self):
        r = self.invert(*self.shots, "--iterations", "1", "--lags", "6")
        lags = r.load("lags.npy")
        self.assertEqual(lags.shape, (13, *self.shape))
        self.assertEqual(r.load("angles.npy").shape, (7, 61, self.shape[1]))
        # the middle one is half the gradient by the logarithm of vp, except for rounding
        gradient = r.load("gradient_vp.npy")
        np.testing.assert_allclose(2.0 * lags[6], gradient, atol=1e-4 * np.abs(gradient).max())
        self.assertIn("13 lags", r.text)
        # no values beyond the sides
        self.assertEqual(np.abs(lags[0, :6]).max(), 0.0)
        self.assertGreater(np.abs(lags[0, 6:-6]).max(), 0.0)

    def test_reflectors_focus_with_the_right_velocity(self):
        true = np.full((76, 39), 2000.0, dtype=np.float32)
        true[:, 25:] = 2300.0
        self.save("reflector.npy", true)
        share, spread = [], []
        for velocity in (2000.0, 1900.0):
            self.save("start.npy", np.full(true.shape, velocity, dtype=np.float32))
            folder, _ = self.succeed(
                "--vp", "start.npy", "--data", "modelled", "--true-vp", "reflector.npy", "--spacing", "20",
                "--source", "200,40:1300,40:5", "--receivers", "0,40:1500,40:38", "--wavelet", "ricker:7.5",
                "--time", "0.95", "--boundary", "sponge:12", "--mute", "velocity:2000:0.2:0.05",
                "--iterations", "1", "--first-change", "1e-6",
                "--lags", "8", "--space", "serial", out="focus")
            image = np.diff(np.load(os.path.join(folder, "lags.npy")).astype(float), axis=2)
            energy = (image[:, 25:51, 12:35] ** 2).sum(axis=(1, 2))
            share.append(energy[8] / energy.sum())
            spread.append((energy * np.arange(-8, 9) ** 2).sum() / energy.sum())
            if velocity == 2000.0:
                self.assertEqual(energy.argmax(), 8)
        self.assertGreater(share[0], 1.3 * share[1])
        self.assertGreater(spread[1], 1.3 * spread[0])

    def test_three_dimensions(self):
        shape = (21, 17, 19)
        start = np.full(shape, 2000.0, dtype=np.float32)
        true = start.copy()
        true[8:13, 6:11, 8:12] = 2200.0
        self.save("start3.npy", start)
        self.save("true3.npy", true)
        r = Results(*self.succeed("--vp", "start3.npy", "--spacing", "20", "--wavelet", "ricker:8", "--time",
                                  "0.4", "--boundary", "sponge:8", "--data", "modelled", "--true-vp",
                                  "true3.npy", "--source", "60,60,40:340,260,40:2x2x1", "--receivers",
                                  "40,40,320:360,280,320:6x5x1", "--iterations", "3"))
        self.assertEqual(r.vp.shape, shape)
        self.assertLess(r.relative, 0.4)


class GradientSteps(support.Case):
    """Compares the gradient of the automatic interval with that of all steps."""

    shape = (121, 76)

    def setUp(self):
        super().setUp()
        x, z = np.meshgrid(np.arange(self.shape[0]) * 10.0, np.arange(self.shape[1]) * 10.0, indexing="ij")
        start = (2000.0 + 0.6 * z).astype(np.float32)
        bodies = sum(np.exp(-((x - at)**2 + (z - depth)**2) / 100.0**2)
                     for at, depth in ((400, 200), (800, 450)))
        self.save("start.npy", start)
        self.save("true.npy", (start + 200.0 * bodies).astype(np.float32))

    def gradient(self, geometry, options):
        folder, text = self.succeed("--vp", "start.npy", "--true-vp", "true.npy", "--data", "modelled",
                                    "--spacing", "10", "--wavelet", "ricker:10", "--only-shot", "1",
                                    *geometry, *options)
        every = text.split("gradient  every ")[1].split(",")[0].split()[0]
        every = 1 if every == "step" else int(every)
        (name, ) = [name for name in os.listdir(folder) if name.startswith("shot_")]
        return np.load(os.path.join(folder, name))[0, :, 5:].astype(float), every

    def compare(self, geometry, *options, least=2):
        automatic, every = self.gradient(geometry, options)
        exact, one = self.gradient(geometry, (*options, "--gradient-steps", "1"))
        self.assertEqual(one, 1)
        self.assertGreaterEqual(every, least, options)
        self.assertLess(np.linalg.norm(automatic - exact), 1e-3 * np.linalg.norm(exact), options)

    surface = ("--source", "200,20:1000,20:2", "--receivers", "0,20:1200,20:41")
    crosswell = ("--source", "100,100:100,600:2", "--receivers", "1100,20:1100,740:37")

    def test_agrees_with_all_steps_in_every_misfit(self):
        for misfit in ("least-squares", "correlation", "huber", "envelope"):
            for bands in ((), ("--bands", "5")):
                self.compare(self.surface, "--time", "0.8", "--misfit", misfit, *bands)

    def test_agrees_with_all_steps_in_short_and_long_records(self):
        for duration in ("0.6", "1.2", "2.6"):
            for bands in ((), ("--bands", "5")):
                self.compare(self.surface, "--time", duration, *bands)

    def test_agrees_with_all_steps_between_wells(self):
        for bands in ((), ("--bands", "5")):
            self.compare(self.crosswell, "--time", "0.7", *bands)

    def test_agrees_with_all_steps_behind_a_mute(self):
        self.compare(self.surface, "--time", "1.0", "--mute", "velocity:2000:0.1")


class Ring(Case):
    def test_ring(self):
        """A body of 100 m/s among 16 sources and 64 receivers on a circle.

        Reference: relative misfits and errors of the body after 7 and 12 evaluations of L-BFGS-B with an
        independent gradient were 2.7e-4, 0.029 and 8.5e-7, 0.005.
        """
        at = np.arange(81) * 10.0 - 400.0
        x, z = np.meshgrid(at, at, indexing="ij")
        start = np.full((81, 81), 2000.0, dtype=np.float32)
        true = (start + 100.0 * np.exp(-(x**2 + z**2) / 2.0 / 40.0**2)).astype(np.float32)
        self.save("start.npy", start)
        self.save("true.npy", true)
        self.save("mask.npy", (x**2 + z**2 <= 300.0**2).astype(np.float32))
        for name, count in (("sources.csv", 16), ("receivers.csv", 64)):
            angle = 2.0 * np.pi * np.arange(count) / count
            np.savetxt(self.path(name), 400.0 + 370.0 * np.stack([np.cos(angle), np.sin(angle)], axis=1),
                       delimiter=",", header="x,z", comments="")
        r = Results(*self.succeed("--vp", "start.npy", "--spacing", "10", "--data", "modelled", "--true-vp",
                                  "true.npy", "--source", "sources.csv", "--receivers", "receivers.csv",
                                  "--wavelet", "ricker:12", "--dt", "0.0016", "--time", "0.8", "--boundary",
                                  "sponge:20", "--mask", "mask.npy", "--memory-pairs",
                                  "10", "--iterations", "12", "--first-change", "0.02", "--bounds",
                                  "vp:1500:2600"))
        size = np.linalg.norm(true - start) / np.linalg.norm(true)
        for evaluations, misfit, error in ((7, 2.7e-4, 0.029), (12, 8.5e-7, 0.005)):
            row = r.history[evaluations - 1]
            self.assertLess(row["relative_misfit"], 3.0 * misfit)
            self.assertLess(row["vp_error"] / size, 2.0 * error)

    def test_circle(self):
        """A faster circle between nine sources and a line of receivers, by steepest descent.

        Each step changes the velocity by at most 50 m/s. In Devito's tutorial of inversion the misfit was
        39293, 24507, 14386, 7907, 3960.
        """
        x, z = np.meshgrid(np.arange(101) - 50, np.arange(101) - 50, indexing="ij")
        self.save("true.npy", np.where(x**2 + z**2 <= 15**2, 3000.0, 2500.0).astype(np.float32))
        model, misfits = np.full((101, 101), 2500.0, dtype=np.float32), []
        for _ in range(3):
            self.save("start.npy", model)
            r = Results(*self.succeed("--vp", "start.npy", "--spacing", "10", "--data", "modelled",
                                      "--true-vp", "true.npy", "--source", "30,0:30,1000:9", "--receivers",
                                      "980,0:980,1000:101", "--wavelet", "ricker:10", "--dt", "0.0015",
                                      "--time", "1", "--boundary", "sponge:40", "--variables",
                                      "linear", "--first-change", repr(50.0 / float(np.mean(model))),
                                      "--bounds", "vp:2000:3000", "--iterations", "1"))
            # the first trial of a search without a memory is a step down the gradient
            self.assertEqual([(row["taken"], row["step"]) for row in r.history], [(1, 0), (1, 1)])
            self.assertAlmostEqual(np.abs(r.vp - model).max(), 50.0, delta=0.1)
            model = r.vp
            misfits += [row["misfit"] for row in r.history][len(misfits) > 0:]
        for misfit, expected in zip(misfits[1:], (24507, 14386, 7907)):
            self.assertAlmostEqual(misfit / misfits[0], expected / 39293, delta=0.05 * expected / 39293)


# ctest: quick
class Data(Case):
    def test_gathers_of_model_waves(self):
        if not self.modeller:
            self.skipTest("model_waves was not built")
        done = subprocess.run([self.modeller, "--vp", "true.npy", *self.survey, *self.shots[4:],
                               "--snapshot-every", "0", "--no-plot", "--out", "gathers"], cwd=self.folder,
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        expected = self.invert(*self.shots, "--iterations", "2", out="modelled")
        for data in ("gathers", "gathers/gather.sgy"):
            r = self.invert("--data", data, "--iterations", "2", out="read")
            change = np.linalg.norm(expected.vp - self.start)
            self.assertLess(np.linalg.norm(r.vp - expected.vp), 0.02 * change, data)
            self.assertEqual(r.summary["result"]["vp_error"], -1)
        longer = [word if word != "0.9" else "1.5" for word in self.survey]
        done = self.call("--vp", "start.npy", *longer, "--data", "gathers", "--no-plot", "--out", "longer")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("--time is 1.5 s, and the data end at 0.9", done.stderr)
        # a dead trace, or one with values that are not finite
        gather = np.load(self.path("gathers/gather_0002.npy"))
        for value, said in ((0.0, "shot 2: 1 trace is zero and left out: trace 8"),
                            (np.nan, "shot 2: trace 8 is nan at sample")):
            gather[7] = value
            np.save(self.path("gathers/gather_0002.npy"), gather)
            done = self.call("--vp", "start.npy", *self.survey, "--data", "gathers", "--iterations", "1",
                             "--no-plot", "--out", "bad")
            self.assertEqual(done.returncode, 0 if value == 0.0 else 2, done.stderr)
            self.assertIn(said, done.stdout if value == 0.0 else done.stderr)


class Checks(support.DataWavelets, support.DataChecks, Case):
    option, model = "--data", ["--vp", "start.npy"]
    survey = ["--spacing", "20", "--time", "0.8", "--boundary", "sponge:16"]
    spread = ["--source", "100,40:1100,40:2", "--receivers", "0,300:1200,300:31"]

    def setUp(self):
        super().setUp()
        # nodes carry the default wavelet
        self.save("start.npy", 2.0 * self.start)

    def test_default(self):
        said = self.plan("modelled", "--true-vp", "3000", "--source", "300,40")
        self.assertEqual(said, "ricker:15 (default)")

    def test_bands(self):
        self.model_data([], "d")
        # a period in the record, and a part of the data
        self.refuse_data("d", [*self.survey, "--bands", "1.2,8"],
                         "--bands: 1.2 Hz has a period of 0.833 s, and the record is 0.8 s",
                         "allowed: from 1.25 Hz")
        self.refuse_data("modelled", [*self.survey, "--bands", "1.2"], "--bands: 1.2 Hz has a period")
        for number in (1, 2):
            gather = np.load(self.path(f"d/gather_000{number}.npy"))
            samples = np.arange(gather.shape[1])
            np.save(self.path(f"d/gather_000{number}.npy"),
                    (np.cos(np.pi * samples) * np.hanning(gather.shape[1])
                     * np.ones_like(gather)).astype(np.float32))
        self.refuse_data("d", [*self.survey, "--bands", "3"], "--bands: below 3 Hz",
                         "of the data's amplitude is left")


class Failures(support.Overflows, Case):
    """An overflowing wavefield: shot, propagation, first step and node."""

    def said(self, *arguments):
        return self.told("start.npy", *arguments, "--iterations", "1")

    def test_the_first_step_and_node_are_named(self):
        huge = self.huge_wavelet(40.0)
        node = ": " + self.node
        self.assertRegex(self.said(*self.shots, *huge), r"data of shot 1, step \d+" + node)
        self.model_gathers()
        huge.append("--replace-wavelet")
        first = self.said("--data", "gathers/gather.sgy", *huge)
        self.assertRegex(first, r"shot 1: forward leg, step \d+" + node)
        step = int(first.split("step ")[1].split(":")[0])
        self.assertNotEqual(step % 200, 0)
        # the same overflow from a stream, and of concurrent shots
        last = first.split("forward leg, ")[1]
        self.assertIn(last, self.said("--data", "gathers/gather.sgy", *huge, "--source-field", "random",
                                      "--block", "8"))
        self.assertIn("forward leg, step ",
                      self.said("--data", "gathers/gather.sgy", *huge, "--at-once", "2"))


# ctest: quick
class Resume(Case):
    def test_killed_runs_go_on_to_the_same_bits(self):
        arguments = [*self.shots, "--iterations", "5", "--bands", "5,9"]
        whole = self.invert(*arguments, out="whole")
        for moment in (1, 4, 7):
            command = [self.program, "--vp", "start.npy", *self.survey, *arguments, "--no-plot", "--out",
                       f"part{moment}"]
            with subprocess.Popen(command, cwd=self.folder, stdout=subprocess.PIPE, text=True) as process:
                last, pace = time.perf_counter(), 0.0
                for line in process.stdout:
                    if line.startswith("evaluated "):
                        last, pace = time.perf_counter(), time.perf_counter() - last
                    if line.startswith(f"evaluated {moment}:"):
                        time.sleep(0.1 * moment * pace)  # at some moment in the next evaluation
                        process.send_signal(signal.SIGKILL)
                        break
            self.assertNotEqual(process.returncode, 0)
            again = self.invert(*arguments, "--resume", out=f"part{moment}")
            self.assertRegex(again.text, "evaluations? (is|are) complete")
            self.assert_same_files(self.results, "whole", f"part{moment}")
            self.expect_same_history(again, whole)

    def test_other_options_are_no_resume(self):
        self.invert(*self.shots, "--iterations", "1")
        self.refuse(["--vp", "start.npy", *self.survey, *self.shots, "--iterations", "2", "--resume", "--out",
                     "out"],
                    "--resume")


    def test_one_shot_is_no_search(self):
        shot = [*self.shots, "--iterations", "1", "--only-shot", "3"]
        asked = ["--vp", "start.npy", *self.survey]
        self.succeed(*asked, *shot, out="shot")
        for more, words in (([*self.shots, "--iterations", "1"], "--resume: --band is not there"),
                            ([*shot[:-1], "2"], "--resume: --only-shot is 2, and was 3"),
                            ([*shot, "--data-size", "2"], "--resume: --data-size is 2.0, and was 0.0")):
            self.refuse([*asked, *more, "--resume", "--out", "shot"], words)
        os.remove(self.path("shot/shot_0003.npy"))
        folder, _ = self.succeed(*asked, *shot, "--resume", out="shot")
        self.assertEqual(np.load(os.path.join(folder, "shot_0003.npy")).shape, (2, *self.shape))
        # its number belongs to a summary whose parts lack the state of a search
        self.invert(*self.shots, "--iterations", "1", out="part")
        with open(self.path("part/summary.json"), encoding="utf-8") as file:
            summary = json.load(file)
        with open(self.path("shot/summary.json"), encoding="utf-8") as file:
            summary["parts"] = json.load(file)["parts"]
        os.rename(self.path("shot/shot_0003.npy"), self.path("part/shot_0003.npy"))
        summary["state"] = "interrupted"
        self.write("part/summary.json", json.dumps(summary))
        self.refuse([*asked, *self.shots, "--iterations", "1", "--resume", "--out", "part"],
                    "does not say its band")

    def test_folders_of_users_stay(self):
        for folder in ("sites", "ranks", ".moho_sites"):
            os.makedirs(self.path(f"out/{folder}"))
            self.write(f"out/{folder}/mine.txt", folder)
        self.invert(*self.shots, "--iterations", "1")
        for folder in ("sites", "ranks", ".moho_sites"):
            with open(self.path(f"out/{folder}/mine.txt"), encoding="utf-8") as file:
                self.assertEqual(file.read(), folder)


class AtOnce(Case):
    """Concurrent shots have the bits of consecutive ones."""

    def arguments(self, count, *more):
        return [*self.shots, "--iterations", "2", "--bands", "5,9", "--space", "serial", "--at-once",
                str(count), *more]

    def test_same_bits(self):
        for field in ("shell", "random", "stored"):
            one = self.invert(*self.arguments(1, "--source-field", field), out="one")
            self.assertIn("1 shot at once", one.text)
            for count in (2, 5):
                many = self.invert(*self.arguments(count, "--source-field", field), out="many")
                self.assertIn(f"{count} shots at once", many.text)
                self.assert_same_files(self.results, "one", "many")
                self.expect_same_history(one, many)

    def test_a_kill_is_gone_on_with(self):
        whole = self.invert(*self.arguments(1), out="whole")
        command = [self.program, "--vp", "start.npy", *self.survey, *self.arguments(3), "--no-plot", "--out",
                   "part"]
        with subprocess.Popen(command, cwd=self.folder, stdout=subprocess.PIPE, text=True) as process:
            for line in process.stdout:
                if line.startswith("evaluated 2:"):
                    process.send_signal(signal.SIGKILL)
                    break
        self.assertNotEqual(process.returncode, 0)
        again = self.invert(*self.arguments(2), "--resume", out="part")
        self.assertRegex(again.text, "evaluations? (is|are) complete")
        self.assert_same_files(self.results, "whole", "part")
        self.expect_same_history(whole, again)

    def test_too_many(self):
        more = ["--source-field", "stored", "--memory", "2M"]
        self.invert(*self.arguments(1, *more))
        self.refuse(["--vp", "start.npy", *self.survey, *self.arguments(5, *more)],
                    "--source-field stored: it takes", "fewer shots --at-once")


class Ranks(Case):
    """Ranks share the shots of every evaluation: any number of ranks gives the same bits."""

    def setUp(self):
        super().setUp()
        self.needs_mpirun()
        self.arguments = ["--vp", "start.npy", *self.survey, *self.shots, "--iterations", "2", "--bands",
                          "5,9", "--space", "serial"]

    def rows(self, folder):
        with open(self.path(folder + "/history.csv"), encoding="utf-8", newline="") as file:
            return [[value for key, value in row.items() if key != "seconds"] for row in csv.DictReader(file)]

    def test_same_bits(self):
        self.succeed(*self.arguments, out="one")
        os.makedirs(self.path("many/ranks"))
        self.write("many/ranks/mine.txt", "mine")
        for ranks in (1, 2, 3):
            self.succeed(*self.arguments, out="many", ranks=ranks)
            self.assertTrue(os.path.exists(self.path("many/ranks/mine.txt")))
            self.assert_same_files(self.results, "one", "many")
            self.assertEqual(self.rows("one"), self.rows("many"))

    def test_ranks_take_the_way_that_fits_on_all(self):
        """Shell fits on one rank and only replay on the other: both use replay, with its bits."""
        self.succeed(*self.arguments, "--source-field", "replay", out="one")
        one, other = ([self.program, *self.arguments, "--no-plot", "--out", "many", "--memory",
                       memory] for memory in ("4M", "2600K"))
        for first, second in ((one, other), (other, one)):
            done = subprocess.run([self.mpirun, "--oversubscribe", "-n", "1", *first, ":", "-n", "1",
                                   *second],
                                  cwd=self.folder, capture_output=True, text=True, timeout=500,
                                  env={**os.environ, **self.of_ranks}, check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertIn("source's wavefield by replay", done.stdout)
            self.assert_same_files(self.results, "one", "many")

    def test_time_that_is_over(self):
        self.succeed(*self.arguments, out="one")
        late = {"SLURM_JOB_END_TIME": str(int(time.time()) + 7)}
        arguments = [word if word != "2" else "50" for word in self.arguments]
        done = self.call(*arguments, "--no-plot", "--out", "many", environment=late, ranks=2)
        self.assertEqual(done.returncode, 75, done.stdout + done.stderr)
        self.assertIn("evaluations are complete: the next would not end before its job", done.stderr)

    def test_several_unknowns_and_one_shot_alone(self):
        self.save("rho.npy", (1500.0 + 0.2 * self.start).astype(np.float32))
        self.save("true_rho.npy", (1500.0 + 0.2 * self.true).astype(np.float32))
        arguments = ["--vp", "start.npy", *self.survey, *self.shots, "--rho", "rho.npy", "--true-rho",
                     "true_rho.npy", "--parameters", "vp,rho", "--iterations", "1", "--space", "serial"]
        self.succeed(*arguments, out="one")
        self.succeed(*arguments, out="many", ranks=2)
        self.assert_same_files(["vp.npy", "rho.npy", "gradient_rho.npy"], "one", "many")
        folder, _ = self.succeed(*arguments, "--only-shot", "3", out="shot")
        self.assertEqual(np.load(os.path.join(folder, "shot_0003.npy")).shape, (3, *self.shape))
        with open(os.path.join(folder, "summary.json"), encoding="utf-8") as file:
            self.assertGreater(json.load(file)["parts"][0]["more"]["misfit"], 0.0)

    def test_gradients_stream(self):
        """Streamed shots of ranks, and of one process, have the bits of one process in core."""
        arguments = [*self.arguments, "--source-field", "random"]
        stream = ["--block", "7", "--updates", "8"]
        self.succeed(*arguments, out="one")
        self.succeed(*arguments, *stream, out="many", ranks=2)
        self.assert_same_files(self.results, "one", "many")
        columns = slice(0, 10)  # the columns that follow: updated nodes
        self.assertEqual([row[columns] for row in self.rows("one")],
                         [row[columns] for row in self.rows("many")])
        with open(self.path("many/summary.json"), encoding="utf-8") as file:
            summary = json.load(file)
        self.assertEqual((summary["ranks"], summary["stream"]["block"], summary["stream"]["updates"]),
                         (2, 7, 8))
        self.save("model.npy", np.stack([self.start + 20.0]).astype(np.float32))
        shot = ["--only-shot", "2", "--evaluate", "model.npy", "--band", "2"]
        self.succeed(*arguments, *shot, out="shot")
        self.succeed(*arguments, *shot, *stream, out="shot_stream")
        self.assert_same_files(["shot_0002.npy"], "shot", "shot_stream")
        parts = []
        for folder in ("shot", "shot_stream"):
            with open(self.path(folder + "/summary.json"), encoding="utf-8") as file:
                parts.append(json.load(file)["parts"][0]["more"]["misfit"])
        self.assertEqual(*parts)

    def test_errors_end_all_with_one_message(self):
        for more, said in ((["--source-field", "random", "--block", "1000"], "--block is 1000"),
                           (["--source-field", "random", "--updates", "4", "--lags", "90"],
                            "--lags: the largest along x is 90 nodes"),
                           (["--source-field", "random", "--devices", "2"],
                            "--devices is 2, and there are 2 ranks"),
                           (["--mask", "none.npy"], "--mask: cannot read 'none.npy'"),
                           (["--bounds", "vp:1500:9000"], "--dt is 0.002 s"),
                           (["--source-field", "stored", "--memory", "1M"],
                            "--source-field stored: it takes")):
            self.refuse([*self.arguments, *more], said, ranks=2)
        self.write("sites.cfg", "[here]\nkind = local\n")
        self.refuse([*self.arguments, "--sites", "sites.cfg"], "--sites: mpirun started 2 ranks", ranks=2)


class Picture(Case):
    def test_pictures(self):
        self.needs_matplotlib()
        r = self.invert(*self.shots, "--iterations", "2", "--bands", "5,9", "--lags", "4", plot=True)
        for name in ("models.png", "misfit.png", "gather.png", "lags.png"):
            self.assert_picture(os.path.join(r.folder, name))
        self.assertEqual(len(r.summary["gather"]["receivers"]),
                         len(np.load(os.path.join(r.folder, "gather_observed.npy"))))
        self.assertIn(r.summary["gather"]["sources"][0], r.summary["sources"])
        self.write("published.csv", "# iteration, misfit\n1,0.5\n2,0.3\n")
        self.assertEqual(self.plot("plot_inversion", r.folder, "--dpi", 40, "--published", "published.csv"),
                         (0, "", ""))
        status, _, said = self.plot("plot_inversion", self.folder)
        self.assertEqual(status, 2)
        self.assertIn("does not hold the results of invert_waves", said)


# ctest: quick
class BadInput(Case):
    def refuse_here(self, more, *words):
        self.refuse(["--vp", "start.npy", *self.survey, *more], *words)

    def test_help(self):
        text = " ".join(self.call("--help").stdout.split())
        self.assertIn("parameters x nodes of --vp (vp in m/s, rho in kg/m3)", text)
        self.assertIn("--expand NAME none: every step computes all nodes", text)
        self.assertNotIn("amplitude (default", text)

    def test_lags_that_do_not_fit(self):
        """The lags that a refusal names fit, and one lag more does not."""
        asked = [*self.shots, "--space", self.spaces()[0], "--at-once", "1", "--source-field", "shell",
                 "--plan"]
        memory = ["--memory", "5400K"]
        text = self.call("--vp", "start.npy", *self.survey, *asked, *memory, "--lags", "29",
                         "--no-plot").stderr
        self.assertRegex(text, r"--lags: 59 lags take .* besides .* of the gradient \(allowed: 5.3 MiB in "
                               r"all, with .* KiB of the model\): \d+ lags would fit")
        fitting = int(text.split("would fit, --lags ")[1])
        self.succeed("--vp", "start.npy", *self.survey, *asked, *memory, "--lags", fitting)
        self.refuse_here([*asked, *memory, "--lags", str(fitting + 1)], f"would fit, --lags {fitting}")

    def test_contrasts_of_density(self):
        smooth = self.save("smooth.npy", np.full(self.shape, 1000.0, dtype=np.float32))
        rough = np.full(self.shape, 1000.0, dtype=np.float32)
        rough[7, 9] = 17000.0
        rough = self.save("rough.npy", rough)
        words = ("1000 at node (3, 9), (60, 180) m, and 17000 at node (7, 9), (140, 180) m", "ratio of 17",
                 "take order 6 or less")
        self.refuse_here([*self.shots, "--rho", rough, "--true-rho", smooth], "rough.npy: ", *words)
        self.refuse_here([*self.shots, "--rho", smooth, "--true-rho", rough], "rough.npy: ", *words)

    def test_memory_names_the_source_field_that_streams(self):
        survey = ["--vp", "2000", "--shape", "201,101", "--spacing", "10", "--data", "modelled", "--true-vp",
                  "2000", "--time", "3", "--space", "serial", "--memory", "16M", "--device-memory", "4M",
                  "--plan"]
        self.refuse(survey, "--source-field auto: it takes ",
                    "or --source-field random, whose gradients stream")
        # the advised method needs no more memory
        done = self.call(*survey, "--source-field", "random", "--no-plot", "--out", "out")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("stream    blocks of ", done.stdout)
        # a host is its own device
        survey = survey[:-5] + ["--plan", "--device-memory", "10K"]
        self.refuse(survey, "--source-field auto: it takes ", "(allowed: 10 KiB in all)", "--device-memory")

    def test_options(self):
        host = ["--space", self.spaces()[0]]  # --memory limits the host
        np.ones((61, 41), "f4").tofile(self.path("m@"))
        self.refuse_here([], "--data is missing")
        for more, words in (
                (["--misfit", "best"], ["misfit 'best' is unknown", "correlation"]),
                (["--huber", "2"], ["--huber needs --misfit huber"]),
                (["--offset-weights", "5"], ["offset weights '5'", "DISTANCE:WEIGHT"]),
                (["--mute", "arrivals"], ["--mute arrivals is not for inversion"]),
                (["--parameters", "rho"], ["vp is missing"]),
                (["--parameters", "vp,rho"], ["rho needs a model with --rho"]),
                (["--parameters", "vp,epsilon"], ["epsilon needs a model with --epsilon"]),
                (["--parameters", "vp,theta"], ["--parameters: theta is no unknown", "free surfaces"]),
                (["--parameters", "vp,vs"], ["--parameters 'vs'", "epsilon"]),
                (["--bounds", "rho:1:2"], ["--bounds: rho is not among the unknowns"]),
                (["--bounds", "vp:3000:2000"], ["vp from 3000 to 2000"]), (["--bounds", "vp:1"], ["is none"]),
                (["--bounds", "vp:1900:2500"], ["--bounds: vp is 1800 at node (0, 0) of the start"]),
                (["--bounds", "vp:-5:2500"], ["--bounds: vp from -5 to 2500"]),
                (["--bounds", "vp:1500:9000"], ["--dt is 0.002 s", "--bounds"]),
                (["--bounds", "vp:300:2500"], ["--bounds: with the least velocity"]),
                (["--mask", "depth:5000"], ["keeps all nodes"]), (["--mask", "none.npy"], ["none.npy"]),
                (["--mask", self.save("nan.npy", np.full((61, 41), np.nan))],
                 ["--mask ", "nan.npy: the value at node (0, 0), (0, 0), is nan (allowed: finite"]),
                (["--mask", self.write("m.rsf", 'n1=41 n2=61 o2=60 in="m@"\n')], ["x = 60 m (allowed: 0"]),
                (["--bands", "8,4"], ["--bands 8,4: '4'", "ascend"]),
                (["--bands", "300"], ["--bands: 300 Hz (allowed"]), (["--iterations", "0"], ["--iterations"]),
                (["--gradient-steps", "9999"], ["--gradient-steps is 9999 (allowed: 1 to ", "2 products"]),
                (["--source-field", "tape"], ["--source-field 'tape'", "replay"]),
                (["--source-field", "stored", "--memory", "1M", *host],
                 ["--source-field stored: it takes", "allowed: 1 MiB"]),
                (["--lags", "40"], ["--lags: the largest along x is 40 nodes (allowed: 0 to 30"]),
                (["--lags", "4,2"], ["--lags is 4,2 (allowed in 2D: n): a section has one horizontal"]),
                (["--expand", "layers"], ["--expand is not for inversion"]),
                (["--source", "5000,20"], ["--source", "outside"])):
            self.refuse_here([*self.shots, *more], *words)
        self.refuse(["--vp", "start.npy", "--spacing", "20", *self.shots, "--wavelet", "ricker:60"],
                    "--wavelet ricker:60")
        self.refuse_here([*self.shots, "--epsilon", "0.1", "--equations", "fletcher"], "--equations fletcher",
                         "adjoint")
        self.refuse_here(["--data", "gathers", "--source", "1,1"], "--source and --data gathers")
        self.refuse_here(["--data", "none.sgy"], "--data none.sgy")
        # --shots is an alias, and messages name the option as it was written
        self.refuse_here(["--shots", "none.sgy"], "--shots none.sgy")
        self.refuse_here(["--shots", "gathers", "--source", "1,1"], "--source and --shots gathers")
        self.refuse_here(["--recievers", "1,1"], "option '--recievers': did you mean --receivers?")
        self.refuse_here(["--data", *self.shots[1:], "--precondition", "ilumination"],
                         "did you mean illumination?")
        self.refuse_here([*self.shots, "--band", "1"], "--band is for one shot: give --only-shot, too")
        self.refuse_here([*self.shots, "--keep-shots"], "--keep-shots requires --sites FILE")
        self.refuse_here([*self.shots, "--only-shot", "1", "--band", "2"], "--band")
        self.refuse_here([*self.shots, "--only-shot", "9"],
                         "--only-shot is 9, and there are the shots 1 to 5")
        self.refuse_here([*self.shots, "--only-shot", "1", "--evaluate", "start.npy"],
                         "--evaluate start.npy: its shape is", "1 x 61 x 41")
        self.write("sites.cfg", "[here]\nkind = local\n")
        self.refuse_here([*self.shots, "--sites", "sites.cfg", "--only-shot", "1"], "exclude each other")
        self.refuse_here([*self.shots, "--sites", "sites.cfg", "--shots-per-job", "6"],
                         "--shots-per-job is 6 (allowed: 1 to 5")
        self.refuse_here([*self.shots, "--sites", "sites.cfg", "--may-miss", "1"],
                         "--may-miss is 1 (allowed: 0)")
        said = self.refuse(["--vp", "start.npy", "--spacing", "20", *self.shots, "--wavelet", "ricker:30",
                            "--bands", "5,70"],
                           "lower the frequency below")
        self.assertNotIn("take --wavelet", said)
        self.refuse_here([*self.shots, "--shots-per-job", "2"], "--shots-per-job requires --sites FILE")

    def test_seeds(self):
        self.refuse_here([*self.shots, "--seed", "5"], "--seed was given without random layers")
        shot = ["--vp", "start.npy", *self.survey, *self.shots, "--source-field", "random", "--only-shot",
                "1"]
        found = []
        for seed in (5, 6):
            folder, _ = self.succeed(*shot, "--seed", seed, out=f"seed{seed}")
            found.append(np.load(os.path.join(folder, "shot_0001.npy")))
        self.assertFalse(np.array_equal(*found), "layers are by the seed")

    def test_nothing_to_invert(self):
        done = self.call("--vp", "start.npy", *self.survey, "--data", "modelled", "--source", "600,40",
                         "--receivers", "0,700:1200,700:31", "--no-plot")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("the start explains the data to", done.stderr)

    def test_plan(self):
        text = self.call("--vp", "start.npy", *self.survey, *self.shots, "--plan").stdout
        for words in ("unknowns  vp from 1440", "source's wavefield by shell", "s an evaluation"):
            self.assertIn(words, text)
        self.assertFalse(os.path.exists(self.path("invert_waves_out/vp.npy")))


if __name__ == "__main__":
    sys.exit(support.main(__doc__))
