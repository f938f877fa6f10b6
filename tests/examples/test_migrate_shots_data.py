#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the program migrate_shots through its command line: data and their wavelets.

usage: test_migrate_shots_data.py --program PATH [--mpirun PATH] [--modeller PATH] [--data FOLDER]
           [names of test classes]
Exit status 77 if numpy is missing or every test was skipped.
"""

import os
import subprocess
import sys

import support
from migrate_shots_case import Case
from support import np


# ctest: quick
class Data(Case):
    def modelled_by_program(self):
        if not self.modeller:
            self.skipTest("model_waves was not built")
        done = subprocess.run([self.modeller, "--vp", "true.npy", *self.survey, "--source", "300,20:900,20:3",
                               "--receivers", "0,20:1200,20:61", "--snapshot-every", "0", "--no-plot",
                               "--out", "gathers"],
                              cwd=self.folder, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_gathers_of_model_waves(self):
        self.modelled_by_program()
        expected = self.migrate(*self.shots, out="modelled").image
        for shots in ("gathers", "gathers/gather.sgy"):
            image = self.migrate("--shots", shots, out="read").image
            # only a low-pass differs
            self.assertLess(np.linalg.norm(image - expected), 0.05 * np.linalg.norm(expected), shots)

    def test_sums_are_exact(self):
        """Sums that grow; sums of files if a shot is 10^8 times as large as the one before."""
        self.modelled_by_program()
        for scale in (1.0, 1e4):
            gather = np.load(self.path("gathers/gather_0003.npy"))
            self.save("gathers/gather_0003.npy", np.float32(scale) * gather)
            r = self.migrate("--shots", "gathers", "--keep-shots")
            self.assertIn(("stack", 4), [(s["stage"], s["spans"]) for s in r.summary["stages"]])
            shots = np.stack([r.load(f"shot_{k:04d}.npy") for k in (1, 2, 3)]).astype(np.float64)
            for part, name in ((1, "illumination_source.npy"), (2, "illumination_receiver.npy")):
                exponent = 39 - np.frexp(np.abs(shots[:, part]).max())[1]
                total = np.rint(np.ldexp(shots[:, part], exponent)).sum(axis=0)
                np.testing.assert_array_equal(np.ldexp(total, -exponent).astype(np.float32), r.load(name))

    def test_field_record(self):
        path = os.path.join(self.data or "", "shot_records_overthrust.segy")
        if not os.path.exists(path):
            self.skipTest("there is no shot_records_overthrust.segy")
        self.refuse(["--vp", "2500", "--shape", "301,101", "--spacing", "25", "--shots", path, "--elevations",
                     "depth", "--wavelet", "ricker:10"], "no shot has a live trace")


class Checks(support.DataWavelets, support.DataChecks, Case):
    option, model = "--shots", ["--vp", "true.npy"]
    survey = ["--spacing", "10", "--time", "0.4", "--boundary", "sponge:20"]
    spread = ["--source", "300,20:900,20:2", "--receivers", "0,20:1200,20:61"]

    def test_default(self):
        said = self.plan("modelled", "--source", "300,20", "--true-vp", "true.npy")
        self.assertEqual(said, "ricker:15 (default)")
        self.assertIn(", ricker:15 (default), up to", self.model_data([], "d"))

    def test_the_image_is_that_of_the_wavelet_of_the_data(self):
        self.model_data(["--wavelet", "ricker:20"], "d")
        migrate = ["--vp", "smooth.npy", *self.survey, "--shots", "d"]
        self.succeed(*migrate, out="found")
        self.succeed(*migrate, "--wavelet", "ricker:20", out="given")
        self.succeed(*migrate, "--wavelet", "ricker:15", "--replace-wavelet", out="another")
        self.assert_same_files(["image.npy"], "found", "given")
        images = [np.load(self.path(f"{out}/image.npy")) for out in ("found", "another")]
        self.assertGreater(np.linalg.norm(images[1] - images[0]), 0.1 * np.linalg.norm(images[0]))


class Failures(support.Overflows, Case):
    """An overflowing wavefield: shot, propagation, first step and node."""

    def said(self, *arguments):
        return self.told("smooth.npy", *arguments)

    def test_the_first_step_and_node_are_named(self):
        huge = self.huge_wavelet(80.0)
        node = ": " + self.node
        self.assertRegex(self.said(*self.shots, *huge), r"data of shot 1, step \d+" + node)
        self.model_gathers()
        huge.append("--replace-wavelet")
        first = self.said("--shots", "gathers/gather.sgy", *huge)
        self.assertRegex(first, r"shot 1, forward leg, step \d+" + node)
        self.assertNotEqual(int(first.split("step ")[1].split(":")[0]) % 200, 0)
        last = first.split("shot 1, ")[1]
        for way in (["--snapshots", "replay"], ["--expand", "layers"],
                    ["--snapshots", "disk", "--disk", "1G"]):
            self.assertIn(last, self.said("--shots", "gathers/gather.sgy", *huge, *way), way)
        self.assertIn("forward leg, step ",
                      self.said("--shots", "gathers/gather.sgy", *huge, "--at-once", "2"))


if __name__ == "__main__":
    sys.exit(support.main(__doc__))
