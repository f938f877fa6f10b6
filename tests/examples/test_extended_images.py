#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of extended images of invert_waves over ranks and sites, and of evaluations.

usage: test_extended_images.py --program PATH [--mpirun PATH] [names of test classes]
Exit status 77 if numpy is missing or every test was skipped.
"""

import os
import signal
import subprocess
import sys

import invert_waves_case
import support
from support import np

VTI = ["--epsilon", "0.15", "--delta", "0.08", "--true-epsilon", "0.15", "--true-delta", "0.08"]
TTI = [*VTI, "--theta", "0.4", "--true-theta", "0.4"]


class ImagesCase(invert_waves_case.Case):
    """Two bands of an iteration over three shots, with random layers."""

    def setUp(self):
        super().setUp()
        self.asked = [*self.stream_arguments(140), "--boundary", "sponge:16", "--lags", "3", "--bands", "5,8"]
        self.asked[self.asked.index("300,140:900,140:2")] = "300,140:900,140:3"
        self.save("rho.npy", (1500.0 + 0.2 * self.start).astype(np.float32))
        self.save("true_rho.npy", (1500.0 + 0.2 * self.true).astype(np.float32))
        self.density = ["--rho", "rho.npy", "--true-rho", "true_rho.npy"]

    def assert_same_images(self, one, other, names=("lags.npy", "angles.npy", "vp.npy")):
        self.assert_same_files(names, one, other)
        self.assertGreater(np.abs(np.load(self.path(f"{one}/lags.npy"))).max(), 0.0)


# ctest: cost 40
class Images(ImagesCase):
    def test_media_stream_with_the_bits_in_core(self):
        for medium in (self.density, TTI):
            core = self.invert(*self.asked, *medium, out="core")
            self.assertNotIn("lags_stream", core.summary)
            r = self.invert(*self.asked, *medium, "--block", "5", "--updates", "7", "--devices", "2",
                            out="stream")
            self.assertEqual(r.summary["lags_stream"]["devices"], 2)
            self.assert_same_images("core", "stream")

    def test_images_of_evaluations(self):
        whole = self.invert(*self.asked, "--lags-every", "2", out="whole")
        spreads = whole.summary["lags"]["spreads"]
        self.assertEqual([row[0] for row in spreads],
                         list(range(2, len(whole.history) + 1, 2)))
        files = [f"lags_{row[0]:04}.npy" for row in spreads]
        images = [np.load(self.path(f"whole/{name}")) for name in files]
        self.assertEqual(images[0].shape, (7, *self.shape))
        for (_, spread), image in zip(spreads, images):
            h = 20.0 * np.arange(-3, 4)[:, None, None]
            square = image.astype(float)**2
            self.assertAlmostEqual(spread, np.sqrt((h**2 * square).sum() / square.sum()), 3)
        for name in files:
            self.assertIn(name, whole.summary["files"])
        # a run that is killed goes on, and keeps the images of its evaluations
        command = [self.program, "--vp", "start.npy", *self.survey, *self.asked, "--lags-every", "2",
                   "--no-plot", "--out", "part"]
        with subprocess.Popen(command, cwd=self.folder, stdout=subprocess.PIPE, text=True) as process:
            for line in process.stdout:
                if line.startswith("evaluated 2:"):
                    process.send_signal(signal.SIGKILL)
                    break
        self.assertNotEqual(process.returncode, 0)
        again = self.invert(*self.asked, "--lags-every", "2", "--resume", out="part")
        self.assertRegex(again.text, "evaluations? (is|are) complete")
        self.assert_same_images("whole", "part", ("lags.npy", "vp.npy", *files))
        self.assertEqual(again.summary["lags"]["spreads"], spreads)
        # without images the search is the same
        self.invert(*[word for k, word in enumerate(self.asked)
                      if word != "--lags" and self.asked[k - 1] != "--lags"], out="plain")
        self.assert_same_files(("vp.npy", "gradient_vp.npy"), "whole", "plain")

    def test_sums(self):
        exact = self.invert(*self.asked, out="exact")
        self.assertIn("of the host to add shots", exact.text)
        plain = self.invert(*self.asked, "--lags-sum", "plain", out="added")
        self.assertNotIn("of the host to add shots", plain.text)
        image = exact.load("lags.npy")
        np.testing.assert_allclose(plain.load("lags.npy"), image, rtol=0, atol=1e-5 * np.abs(image).max())

    def test_refusals(self):
        asked = ["--vp", "start.npy", *self.survey, *self.asked]
        self.write("sites.cfg", "[here]\nkind = local\nslots = 1\n")
        self.refuse([*asked, "--lags-sum", "plain", "--sites", "sites.cfg"],
                    "--lags-sum plain is for one process")
        self.refuse(["--vp", "start.npy", *self.survey, *self.shots, "--lags-every", "2"],
                    "--lags-every and --lags-sum need --lags")
        self.refuse([*asked, "--lags-sum", "other"], "--lags-sum")
        asked.remove("--lags")
        asked.remove("3")
        # the number of lags that the message names fits, and one more does not
        text = self.refuse([*asked, "--memory", "2M", "--lags", "20"], "--lags: 41 lags take")
        fitting = int(text.split("would fit, --lags ")[1])
        self.assertGreater(fitting, 0)
        self.assertIn(f"{2 * fitting + 1} of the result",
                      self.call(*asked, "--memory", "2M", "--lags", str(fitting), "--plan").stdout)
        self.refuse([*asked, "--memory", "2M", "--lags", str(fitting + 1)], f"--lags {fitting}")


# ctest: cost 40, waits 2
class Several(ImagesCase):
    """Images of several processes have the bits of one process."""

    def test_ranks(self):
        self.needs_mpirun()
        for more in (["--lags-every", "3"], [*VTI, "--block", "6", "--updates", "5"]):
            one = self.invert(*self.asked, *more, out="one")
            names = [name for name in os.listdir(self.path("one")) if name.startswith("lags")]
            for ranks in (2, 3):
                self.succeed("--vp", "start.npy", *self.survey, *self.asked, *more, out="ranks", ranks=ranks)
                self.assert_same_images("one", "ranks", (*names, "vp.npy"))
            self.assertEqual("lags_0003.npy" in names, "--lags-every" in more)
            self.assertGreater(one.summary["lags"]["spread"], 0.0)

    def test_sites(self):
        self.invert(*self.asked, "--lags-every", "2", out="one")
        self.write("sites.cfg", "[here]\nkind = local\nslots = 2\n\n[there]\nkind = local\nslots = 1\n")
        self.invert(*self.asked, "--lags-every", "2", "--sites", "sites.cfg", out="many")
        self.assert_same_images("one", "many", ("lags.npy", "lags_0002.npy", "vp.npy"))


if __name__ == "__main__":
    sys.exit(support.main(__doc__))
