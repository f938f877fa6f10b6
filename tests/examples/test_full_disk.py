# SPDX-License-Identifier: BSD-3-Clause
"""Tests of programs under mpirun on a disk that is full.

usage: test_full_disk.py --program PATH --mpirun PATH [names of test classes]
The disk is a small tmpfs in a private mount namespace. Exit status 77 if numpy, mpirun or the right to mount
is missing.
"""

import os
import subprocess
import sys

import support
from support import np


class FullDisk(support.Case):
    section = ["--spacing", "10", "--source", "100,20:500,20:6", "--receivers", "0,20:600,20:61", "--time",
               "0.5", "--space", "serial"]

    def setUp(self):
        super().setUp()
        self.needs_mpirun()
        try:
            subprocess.run(["unshare", "-m", "mount", "-t", "tmpfs", "tmpfs", self.folder], check=True,
                           capture_output=True)
        except (OSError, subprocess.CalledProcessError):
            self.skipTest("this user cannot mount")
        smooth = np.full((61, 41), 2000.0, dtype=np.float32)
        self.save("smooth.npy", smooth)
        smooth[:, 25:] = 2200.0
        self.save("true.npy", smooth)

    def run_full(self, program, size, *arguments):
        """Runs a program with 3 ranks, whose folder of results is a disk of `size` bytes."""
        path = os.path.join(os.path.dirname(self.program), program)
        if not os.path.exists(path):
            self.skipTest("there is no " + program)
        os.makedirs(self.path("out"), exist_ok=True)
        script = f"mount -t tmpfs -o size={size} tmpfs out && exec \"$@\""
        done = subprocess.run(["unshare", "-m", "sh", "-c", script, "sh", self.mpirun, "--oversubscribe",
                               "-n", "3", path, *arguments, "--no-plot", "--out", "out"],
                              cwd=self.folder, capture_output=True, text=True, timeout=300, check=False,
                              env={**os.environ, **self.of_ranks})
        said = [line for line in done.stderr.splitlines() if line.startswith(program + ": ")]
        self.assertEqual((done.returncode, len(said)), (1, 1), done.stderr)
        self.assertIn("cannot write", said[0])
        self.assertIn("No space left on device", said[0])

    def test_modelling(self):
        for size in ("28k", "120k", "200k"):
            with self.subTest(size=size):
                self.run_full("model_waves", size, "--vp", "smooth.npy", *self.section, "--snapshot-every",
                              "0")

    def test_migration(self):
        for size in ("28k", "120k"):
            with self.subTest(size=size):
                self.run_full("migrate_shots", size, "--vp", "smooth.npy", "--shots", "modelled", "--true-vp",
                              "true.npy", *self.section, "--snapshots", "memory")

    def test_inversion(self):
        for size in ("12k", "60k"):
            with self.subTest(size=size):
                self.run_full("invert_waves", size, "--vp", "smooth.npy", "--data", "modelled", "--true-vp",
                              "true.npy", *self.section, "--boundary", "sponge:10", "--iterations", "2")


if __name__ == "__main__":
    sys.exit(support.main(__doc__))
