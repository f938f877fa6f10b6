#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the program model_waves through its command line: what it refuses.

usage: test_model_waves_refusals.py --program PATH [--mpirun PATH] [--data FOLDER] [names of test classes]
Exit status 77 if numpy is missing or every test was skipped.
"""

import sys
import time

import support
from model_waves_case import Case
from support import np


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


if __name__ == "__main__":
    sys.exit(support.main(__doc__))
