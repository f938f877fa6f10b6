#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# ctest: cost 30
"""Tests of streams of migrate_shots: shots whose wavefields pass through a device plane by plane.

usage: test_streamed_migration.py --program PATH [--mpirun PATH] [names of test classes]
Exit status 77 if numpy is missing or every test was skipped.
"""

import os
import signal
import subprocess
import sys
import time

import migrate_shots_case
import support
from support import np


class Streams(migrate_shots_case.Case):
    survey = ["--spacing", "10", "--wavelet", "ricker:15", "--time", "0.4", "--dt", "0.002", "--boundary",
              "sponge:12", "--width", "14"]
    shots = ["--shots", "modelled", "--true-vp", "true.npy", "--source", "300,20:900,20:2", "--receivers",
             "0,20:1200,20:31"]
    files = ("image.npy", "illumination_source.npy", "illumination_receiver.npy", "offsets.npy",
             "data_after.npy")

    def setUp(self):
        super().setUp()
        self.asked = [*self.shots, "--mute", "none", "--space", self.spaces()[0]]

    def test_files_have_the_bits_in_core(self):
        gathers = ["--columns", "400,650", "--offset", "100"]
        core = self.migrate(*self.asked, *gathers, "--snapshots", "random", out="core")
        self.assertNotIn("stream", core.summary)
        self.assertIn("random layers", core.summary["snapshots"]["way"])
        for more, block, devices in ((["--block", "9", "--updates", "25"], 9, 1),
                                     (["--snapshots", "random", "--block", "16", "--updates", "4",
                                       "--devices", "2"], 16, 2)):
            r = self.migrate(*self.asked, *gathers, *more, out="stream")
            for name in self.files:
                np.testing.assert_array_equal(r.load(name), core.load(name), f"{more}, {name}")
            stream = r.summary["stream"]
            self.assertEqual((stream["block"], stream["devices"]), (block, devices))
            for key in ("predicted_seconds", "measured_seconds", "device_bytes", "host_bytes"):
                self.assertGreater(stream[key], 0.0, key)
            self.assertEqual({shot["snapshots"] for shot in r.summary["migrated"]}, {"stream"})

    def test_all_conditions_of_all_media(self):
        anisotropic = [word for name, value in (("epsilon", "0.15"), ("delta", "0.08"))
                       for word in (f"--{name}", value, f"--true-{name}", value)]
        self.save("rho.npy", np.load(self.path("smooth.npy")) * np.float32(0.7))
        self.save("true_rho.npy", np.load(self.path("true.npy")) * np.float32(0.7))
        media = (["--rho", "rho.npy", "--true-rho", "true_rho.npy"], anisotropic,
                 [*anisotropic, "--theta", "0.4", "--true-theta", "0.4"])
        asked = [*self.asked, "--columns", "400", "--angles", "--condition",
                 "zero-lag,source,receiver,inverse-scattering,laplacian"]
        for medium in media:
            self.migrate(*asked, *medium, "--snapshots", "random", out="core")
            names = [name for name in os.listdir(self.path("core"))
                     if name.startswith(("image", "illumination", "offsets", "angles"))
                     and name.endswith(".npy")]
            self.assertEqual(len([name for name in names if name.startswith("image")]), 6)
            r = self.migrate(*asked, *medium, "--block", "11", "--updates", "6", out="stream")
            self.assertEqual(r.summary["stream"]["block"], 11)
            for name in names:
                np.testing.assert_array_equal(r.load(name), np.load(self.path(f"core/{name}")),
                                              f"{medium}, {name}")
                self.assertGreater(np.abs(r.load(name)).max(), 0.0, name)

    def test_streams_what_does_not_fit(self):
        core = self.migrate(*self.asked, "--snapshots", "random", "--aperture", "200", out="core")
        asked = [*self.asked, "--snapshots", "random", "--aperture", "200"]
        fits = self.migrate(*asked, "--device-memory", "1G", out="fits")
        self.assertNotIn("stream", fits.summary)
        r = self.migrate(*asked, "--device-memory", "560K", out="stream")
        self.assertLessEqual(r.summary["stream"]["device_bytes"], 560 * 1024)
        np.testing.assert_array_equal(r.image, core.image)
        other = self.migrate(*asked, "--seed", "7", out="seed")
        self.assertGreater(np.abs(other.image - core.image).max(), 0.0)
        self.refuse(["--vp", "smooth.npy", *self.survey, *asked, "--device-memory", "9K"],
                    "does not hold the planes of one stage")

    def test_every_memory_above_the_least(self):
        """A memory that holds the planes of a stream is enough: the shot streams, or is in core."""
        for more in ([], ["--epsilon", "0.15", "--delta", "0.08", "--true-epsilon", "0.15", "--true-delta",
                          "0.08"]):
            asked = [*self.asked, *more, "--snapshots", "random", "--aperture", "200", "--plan"]
            ways, kilobytes = [], 200
            while kilobytes < 12000:
                done = self.call("--vp", "smooth.npy", *self.survey, *asked, "--device-memory",
                                 f"{kilobytes}K")
                if ways or done.returncode == 0:
                    self.assertEqual(done.returncode, 0, f"{kilobytes}K: {done.stderr}")
                    ways.append("\nstream " in done.stdout)
                else:
                    self.assertIn("does not hold the planes of one stage", done.stderr)
                kilobytes = kilobytes * 9 // 8
            self.assertEqual(ways, sorted(ways, reverse=True))
            self.assertEqual(set(ways), {False, True})

    def test_plan(self):
        done = self.call("--vp", "smooth.npy", *self.survey, *self.asked, "--block", "16", "--plan")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"largest shot .* nodes with layers, .* and .* on the host")
        self.assertRegex(done.stdout, r"stream    blocks of 16 planes, \d+ steps in a pass")
        self.assertRegex(done.stdout, r"predicted: .* a shot")
        self.assertRegex(done.stdout, r"random layers, .*nothing is kept")
        self.assertRegex(done.stdout, r"time      about .* s")
        self.assertNotIn("note: the wavelet lasts", done.stdout)
        late = [word if word != "ricker:15" else "ricker:15:1" for word in self.survey]
        done = self.call("--vp", "smooth.npy", *late, *self.asked, "--plan")
        self.assertIn("note: the wavelet lasts until ", done.stdout, done.stderr)

    def test_a_killed_run(self):
        asked = [*self.asked[:-2], "--space", self.spaces()[0], "--block", "20", "--updates", "30"]
        asked[asked.index("300,20:900,20:2")] = "300,20:900,20:4"
        whole = self.migrate(*asked, out="whole")
        arguments = ["--vp", "smooth.npy", *self.survey, *asked, "--no-plot", "--out", "out", "--resume"]
        process = subprocess.Popen([self.program, *arguments], cwd=self.folder, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        self.addCleanup(lambda: (process.poll() is None and process.kill(), process.communicate()))
        while process.poll() is None and not os.path.exists(self.path("out/shot_0002.npy")):
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)
        done = self.call(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        np.testing.assert_array_equal(np.load(self.path("out/image.npy")), whole.image)

    def test_refusals(self):
        for more, *words in (
                (["--block", "8", "--expand", "layers"],
                 "--block and --expand layers (allowed together: --expand none)"),
                (["--snapshots", "random", "--expand", "layers"], "--snapshots random and --expand layers"),
                (["--updates", "8", "--snapshots", "disk"],
                 "--updates and --snapshots disk (allowed together: auto or random)"),
                (["--devices", "2", "--at-once", "2"], "--devices 2 and --at-once 2 (allowed together: 1)"),
                (["--block", "1000"], "block is 1000 (allowed: 1 to")):
            self.refuse(["--vp", "smooth.npy", *self.survey[:-2], *self.asked, *more], *words)


if __name__ == "__main__":
    sys.exit(support.main(__doc__))
