#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the program stream_waves through its command line: wavefields and pictures.

usage: test_stream_waves.py --program PATH [--modeller PATH of model_waves] [--mpirun PATH]
           [names of test classes]
Exit status 77 if numpy is missing or every test was skipped.
"""

import os
import sys

import support
from stream_waves_case import AgreementCase, Case
from support import np


class Agreement(AgreementCase):
    """Gathers and last wavefields have the bits of model_waves for every path of the planes."""

    def test_sections(self):
        self.model_files((57, 41))
        for medium, (parameters, boundary) in self.media_2d.items():
            for space in ("serial", "openmp"):
                if space not in self.spaces():
                    continue
                with self.subTest(medium=medium, space=space):
                    self.agree(["--vp", "v.npy", "--spacing", "10", "--time", "0.2", "--boundary", boundary,
                                *parameters, *self.shots_2d], self.ways, space)

    def test_volumes(self):
        self.model_files((29, 21, 23))
        survey = ["--vp", "v.npy", "--spacing", "20", "--wavelet", "ricker:7", "--time", "0.12", "--source",
                  "133,201,40", "--coordinates", "xyz",
                  "--receivers", "40,200,20:500,200,20:8; 300,215,200"]
        media = {**self.media_2d, "TTI": (["--epsilon", "0.2", "--delta", "0.08", "--theta", "0.5", "--phi",
                                           "0.7"], "sponge:9")}
        for number, (medium, (parameters, _)) in enumerate(media.items()):
            with self.subTest(medium=medium):
                boundary = "sponge:7,top=free" if medium == "TTI" else "cpml:6,top=free"
                self.agree([*survey, "--boundary", boundary, *parameters, "--order", (8, 4, 6, 4)[number]],
                           self.ways[2:4], "openmp" if "openmp" in self.spaces() else "serial")

    def test_samples_between_steps_and_double_precision(self):
        self.model_files((57, 41))
        self.agree(["--vp", "v.npy", "--spacing", "10", "--time", "0.2", "--dt", "0.0013", "--interval",
                    "0.0021", "--precision", "double", "--order", "16", *self.shots_2d], self.ways[2:4],
                   "serial")

    def test_device(self):
        if "cuda" not in self.spaces():
            self.skipTest("this build has no device")
        self.model_files((157, 41))
        for medium, (parameters, boundary) in self.media_2d.items():
            with self.subTest(medium=medium):
                survey = ["--vp", "v.npy", "--spacing", "10", "--time", "0.2", "--boundary", boundary,
                          *parameters, *self.shots_2d]
                expected = self.expected(survey, "cuda")
                for way in (self.ways[0], self.ways[2]):
                    r = self.stream(*survey, "--space", "cuda", *way)
                    self.same(r, expected)
                    self.assertFalse(r.stream["plan"]["in_core"])

    def test_default_receivers_avoid_free_surfaces(self):
        for boundary, first, last in (("free", 10.0, 590.0), ("left=free", 10.0, 600.0),
                                      ("right=free", 0.0, 590.0), ("top=free", 0.0, 600.0)):
            with self.subTest(boundary=boundary):
                survey = [*self.section, "--boundary", boundary]
                r = self.stream(*survey, "--devices", "1", "--host-volume", "volume", "--block", "8",
                                "--updates", "3")
                receivers = np.array(r.summary["shots"][0]["receivers"])
                self.assertEqual((receivers[0, 0], receivers[-1, 0], len(receivers)),
                                 (first, last, (last - first) / 10 + 1))
                for one, other in zip(r.gathers, self.model(*survey).gathers):
                    np.testing.assert_array_equal(one, other)

    # Receivers on nodes and between.
    expanding = ["--vp", "v.npy", "--spacing", "10", "--time", "0.25", "--source", "153,33; 600,20",
                 "--receivers"]
    tti = ["--epsilon", "0.2", "--delta", "0.08", "--theta", "0.5"]

    def expand(self, ways, *survey):
        for method in ("layers", "eikonal"):
            expected = self.expected([*survey, "--expand", method], "serial")
            for way in ways:
                r = self.stream(*survey, "--expand", method, *way, "--space", "serial")
                self.same(r, expected)
                self.assertEqual(r.summary["run"]["expand"]["method"], method)
                self.assertLess(r.summary["run"]["expand"]["part_stepped"], 1.0)
                self.assertIn("of the nodes were stepped", r.text)

    def test_expanding_domains(self):
        self.model_files((87, 61))
        for parameters in ([], self.tti):
            self.expand([], *self.expanding, "10,20:860,20:40", *parameters)
        survey = [*self.expanding, "10,20:860,20:40", "--expand", "eikonal", "--expand-coarsening", "1"]
        r = self.stream(*survey, "--space", "serial")
        self.same(r, self.expected(survey, "serial"))
        coarse = self.stream(*survey[:-2], "--space", "serial")
        self.assertLess(r.summary["run"]["expand"]["points"], coarse.summary["run"]["expand"]["points"])
        for parameters in ([], ["--epsilon", "0.2", "--delta", "0.08"]):
            self.expand([self.ways[2], self.ways[4]], *self.expanding, "10,20:860,20:86", "--boundary",
                        "sponge:20", *parameters)

    # Planes at the end of a pass: points that read beyond them, memory of layers, derivatives.
    def test_expanding_domains_at_the_ends_of_passes(self):
        self.model_files((87, 61))
        ways = [["--devices", "2", "--block", "8", "--updates", "3"]]
        for boundary, receivers, parameters in (("sponge:20", "10,20:860,20:40", []),
                                                ("cpml:20", "10,20:860,20:86", []),
                                                ("sponge:30", "10,20:860,20:86", self.tti)):
            with self.subTest(boundary=boundary, receivers=receivers, parameters=parameters):
                self.expand(ways, *self.expanding, receivers, "--boundary", boundary, *parameters)


class Picture(Case):
    def test_program_draws(self):
        self.needs_matplotlib()
        # hosts stand in for any number of devices
        r = self.stream(*self.section, "--space", self.spaces()[0], "--devices", "2", plot=True)
        self.assertEqual(r.summary["picture"], "drawn")
        for picture in ("gather.png", "wavefield.png", "timeline.png"):
            self.assert_picture(os.path.join(r.folder, picture))
            self.assertIn(picture, r.summary["files"])

    def test_volume_and_options(self):
        r = self.stream("--vp", "2000", "--shape", "x=31,y=28,z=25", "--spacing", "10", "--time", "0.1",
                        "--width", 6, "--host-volume", "volume")
        self.draw("plot_stream", r.folder, "gather.png", "wavefield.png", "timeline.png")
        self.assertEqual(self.plot("plot_stream", r.folder, "--iterations", "0", "--dpi", "40"), (0, "", ""))
        status, _, text = self.plot("plot_stream", r.folder, "--iterations", "-1")
        self.assertEqual(status, 2)
        self.assertIn("--iterations", text)
        status, _, text = self.plot("plot_waves", r.folder)
        self.assertEqual(status, 2)
        self.assertIn("of different runs", text)


# ctest: quick
class Program(support.EveryProgram, Case):
    small = [*Case.section[:-1], "0.1"]
    script = "plot_stream"


class NothingIsLost(support.NothingIsLost, Case):
    small = [*Case.section[:-1], "0.1"]
    slow = ["--vp", "2000", "--shape", "201,101,101", "--spacing", "10", "--time", "2"]
    results = ["gather.npy", "gather.sgy", "vp.npy", "wavefield.npy", "timeline.json"]
    former = "gather_0007.npy"
    vp = support.npy(np.full((61, 41), 2000.0))
    read = [("vp.npy", vp, lambda f: ["--vp", f, "--spacing", "10", "--time", "0.1"], "vp"),
            ("wavefield.npy", vp, lambda f: [*Case.section, "--rho", f], "rho"),
            ("timeline.json", b"vp = 2000\nshape = 61,41\nspacing = 10\n", lambda f: ["--config", f],
             "config")]
    shapes = [["--vp", "2000", "--shape", "x=101,y=91,z=81", "--spacing", "10", "--time", "0.02", *more]
              for more in ([], ["--expand", "eikonal"], ["--epsilon", "0.2", "--delta", "0.1"],
                           ["--epsilon", "0.2", "--delta", "0.1", "--theta", "0.3"],
                           ["--devices", "2", "--block", "8", "--updates", "2"])]


if __name__ == "__main__":
    sys.exit(support.main(__doc__))
