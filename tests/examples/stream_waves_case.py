# SPDX-License-Identifier: BSD-3-Clause
"""Cases of the tests of stream_waves: its runs, their files, and comparison with model_waves."""

import os
import re
import subprocess

import support
from support import np


class Case(support.Case):
    # A small section; including its layers 101 planes of 81 nodes.
    section = ["--vp", "2000", "--shape", "61,41", "--spacing", "10", "--time", "0.3"]

    def stream(self, *arguments, out="out", plot=False):
        """Runs the program, which must succeed and not write to stderr. Returns its results."""
        return Results(*self.succeed(*arguments, out=out, plot=plot))

    def needs_devices(self, count, *arguments):
        """Skips a test that needs more devices than the execution space of these arguments has."""
        done = self.call(*self.section, *arguments, "--devices", count, "--plan", "--no-plot", "--out",
                         "devices")
        found = re.search(rf"--devices is {count} \(allowed: 1 to (\d+), those that this process sees\)",
                          done.stderr)
        if done.returncode == 2 and found:
            self.skipTest(f"a chain of {count} devices cannot run: the number of devices of this machine is "
                          f"{found[1]}")
        self.assertEqual(done.returncode, 0, done.stderr)

    def model(self, *arguments, out="modelled"):
        """Returns the results of model_waves with the last wavefield as its snapshot."""
        if not self.modeller:
            self.skipTest("there is no model_waves")
        done = subprocess.run([self.modeller, *map(str, arguments), "--no-plot", "--out", out],
                              cwd=self.folder, text=True, capture_output=True, timeout=500)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return Results(self.path(out), done.stdout)


class Results(support.ShotResults):
    """Adds the stream and the last wavefield."""

    def __init__(self, folder, text):
        super().__init__(folder, text)
        self.stream = self.summary.get("stream")

    def wavefield(self):
        if "wavefield" in self.summary:
            return self.load(self.summary["wavefield"]["file"])
        return self.load(self.summary["snapshots"][-1]["file"])


class AgreementCase(Case):
    """Surveys whose gathers and last wavefields are compared with those of model_waves, to the bit."""

    # Sources and receivers between nodes and on them, in neighbouring planes.
    shots_2d = ["--source", "203,33; 300,20", "--receivers", "10,20:560,20:12; 305,211"]
    media_2d = {
        "isotropic": ([], "cpml:12,top=free"),
        "variable density": (["--rho", "rho.npy"], "sponge:10,left=random:14,bottom=rigid"),
        "VTI": (["--epsilon", "0.2", "--delta", "0.08"], "cpml:10"),
        "TTI": (["--epsilon", "0.2", "--delta", "0.08", "--theta", "0.5"], "sponge:12,top=free")}
    # Methods of streaming: with several devices and from files planes also go through rings on hosts.
    ways = [["--block", "8", "--updates", "3"],
            ["--device-memory", "1M"],
            ["--devices", "1", "--host-volume", "volume", "--block", "5", "--updates", "7"],
            ["--devices", "2", "--block", "16", "--updates", "2"],
            ["--devices", "3", "--block", "3", "--updates", "5", "--lag", "11"]]

    def same(self, a, b):
        self.assertEqual(len(a.gathers), len(b.gathers))
        for one, other in zip(a.gathers, b.gathers):
            self.assertGreater(np.abs(other).max(), 0.0)
            np.testing.assert_array_equal(one, other)
        if a.summary["asked"]["interval"] == "auto":
            self.assertAlmostEqual(a.summary["wavefield"]["time"], b.summary["snapshots"][-1]["time"],
                                   delta=1e-9)
            np.testing.assert_array_equal(a.wavefield(), b.wavefield())
        else:  # samples between steps need some more steps
            self.assertGreater(a.summary["wavefield"]["time"], b.summary["snapshots"][-1]["time"])

    def expected(self, survey, space):
        """Results of model_waves, which those of stream_waves equal in core."""
        plain = self.stream(*survey, "--space", space)
        scheme = plain.summary["scheme"]
        r = self.model(*survey, "--space", space, "--snapshot-every", scheme["steps"] * scheme["dt"])
        self.same(plain, r)
        return r

    def agree(self, survey, ways, space):
        expected = self.expected(survey, space)
        for way in ways:
            r = self.stream(*survey, "--space", space, *way)
            self.same(r, expected)
            asked, plan = r.summary["asked"], r.stream["plan"]
            for word in ("block", "updates"):
                if asked[word] != "auto":
                    self.assertEqual(plan[word], asked[word])
            self.assertEqual(plan["in_core"], way == self.ways[0])
        self.assertFalse(os.path.exists(self.path("volume")))

    def model_files(self, shape):
        rng = np.random.default_rng(4)
        depth = np.arange(shape[-1]) / (shape[-1] - 1)
        self.save("v.npy", (1800.0 + 700.0 * depth + rng.uniform(0, 150, shape)).astype(np.float32))
        self.save("rho.npy", (2000.0 + 300.0 * depth + rng.uniform(0, 100, shape)).astype(np.float32))
