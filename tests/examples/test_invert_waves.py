#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the program invert_waves through its command line: models, gradients and images.

usage: test_invert_waves.py --program PATH [--mpirun PATH] [--modeller PATH] [names of test classes]
Exit status 77 if numpy is missing or every test was skipped.
"""

import os
import sys

import support
from invert_waves_case import Case, Results
from support import np


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


if __name__ == "__main__":
    sys.exit(support.main(__doc__))
