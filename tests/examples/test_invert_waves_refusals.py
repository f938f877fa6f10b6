#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the program invert_waves through its command line: what it refuses.

usage: test_invert_waves_refusals.py --program PATH [--mpirun PATH] [--modeller PATH] [names of test classes]
Exit status 77 if numpy is missing or every test was skipped.
"""

import os
import sys

import support
from invert_waves_case import Case
from support import np


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
