#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the program model_waves through its command line: plans, files, units and pictures.

usage: test_model_waves_files.py --program PATH [--mpirun PATH] [--data FOLDER] [names of test classes]
Exit status 77 if numpy is missing or every test was skipped.
"""

import os
import re
import struct
import sys

import support
from model_waves_case import Case, ricker
from support import np


# ctest: quick
class Files(Case):
    def test_only_the_plan(self):
        survey = ["--vp", "2000", "--shape", "61,41", "--spacing", "10", "--time", "0.3", "--source",
                  "100,20; 300,20"]
        survey += self.on_host()
        done = self.call(*survey, "--plan", "--no-plot", "--out", "out")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for words in ("model     --vp 2000", "shots     2 shots", " steps, ", " snapshots, one every ",
                      "memory    ", " of the host with the program (allowed: ", "the medium and wavefields "):
            self.assertIn(words, done.stdout)
        self.assertNotIn("modelled", done.stdout)
        self.assertFalse(os.path.exists(self.path("out")))
        # the run follows the plan
        steps, snapshots = (int(re.search(rf"(\d+) {word}", done.stdout)[1])
                            for word in ("steps,", "snapshots"))
        r = self.model(*survey)
        self.assertEqual((r.summary["scheme"]["steps"], len(r.summary["snapshots"])), (steps, snapshots))
        # an impossible run is refused
        self.refuse([*survey, "--plan", "--dt", "0.5"], "--dt: dt is 0.5 s")
        self.refuse([*survey, "--plan", "--memory", "10K"], "memory: a model of ")

    def test_segy_and_summary(self):
        r = self.model(*self.section, "--source", "300,12.5", "--receivers", "0,20:600,20:7")
        interval, traces = r.segy()
        self.assertAlmostEqual(interval * 1e-6, r.summary["gather"]["interval"], places=12)
        self.assertEqual(len(traces), 7)
        for k, (record, source_x, depth, receiver_x, elevation, values) in enumerate(traces):
            self.assertEqual((record, source_x, depth, receiver_x, elevation),
                             (1, 300.0, 12.5, 100.0 * k, -20.0))
            np.testing.assert_array_equal(values, r.gather[k])
        self.assertEqual(r.gather.shape[1], r.summary["gather"]["samples"])
        self.assertLessEqual(r.summary["scheme"]["dt"], r.summary["scheme"]["largest_dt"])
        self.assertAlmostEqual(r.summary["gather"]["wavelet_peak"], 0.1, delta=r.summary["scheme"]["dt"])
        self.assertGreater(r.summary["rates"]["points_per_second"], 0.0)
        self.assertIn("points/s", r.text)
        for name in r.summary["files"]:
            self.assertTrue(os.path.isfile(os.path.join(r.folder, name)), name)

    def test_many_shots(self):
        line = ["--source", "100,20:500,20:3", "--receivers=-100,20:100,20:5", "--moving"]
        r = self.model(*self.section, *line)
        self.assertEqual([s["gather"] for s in r.summary["shots"]], [f"gather_000{n}.npy" for n in (1, 2, 3)])
        # The model is homogeneous: all shots are equal, except for reflections of the sides.
        self.close(r.gathers[1][1:4, :80], r.gathers[0][1:4, :80], 0.05)
        _, traces = r.segy()
        self.assertEqual([t[0] for t in traces], 5 * [1] + 5 * [2] + 5 * [3])
        self.assertEqual([t[3] for t in traces[5:10]], [200.0, 250.0, 300.0, 350.0, 400.0])
        table = self.write("shots.csv",
                           "shot,kind,x,z\n7,source,100,20\n9,source,300,20\n*,receiver,400,20\n")
        t = self.model(*self.section, "--shots", table)
        self.assertEqual([s["number"] for s in t.summary["shots"]], [7, 9])
        alone = self.model(*self.section, "--source", "300,20", "--receivers",
                           self.write("r.csv", "z,x\n20,400\n"))
        np.testing.assert_array_equal(t.gathers[1], alone.gather)

    def test_old_results_go(self):
        self.model("--vp", "2000", "--shape", "61,41", "--spacing", "10", "--time", "0.3", "--source",
                   "100,20;200,20", out="twice")
        self.assertTrue(os.path.isfile(self.path("twice/snapshot_0004.npy")))
        self.write("twice/gather_mine.npy", "kept")
        r = self.model(*self.section, out="twice")
        self.assertEqual(sorted(n for n in os.listdir(r.folder) if n.endswith(".npy")),
                         ["gather.npy", "gather_mine.npy", "vp.npy"])

    def test_wavelets(self):
        t = 0.002 * np.arange(120)
        np.savetxt(self.path("w.csv"), np.stack([t, ricker(t, 15.0, 0.1)], axis=1), delimiter=",")
        a = self.model(*self.section, "--wavelet", "ricker:15:0.1", "--dt", "0.002")
        b = self.model(*self.section, "--wavelet", "file:" + self.path("w.csv"), "--dt", "0.002")
        self.close(b.gather, a.gather, 1e-5)
        r = self.model(*self.section, "--wavelet", "ormsby:5,10,20,30")
        self.assertLess(r.summary["scheme"]["highest_frequency"], 31.0)

    def test_config_and_quiet(self):
        self.write("c.cfg", "# a survey\nvp = 2000\nshape = 61,41\nspacing = 10\ntime = 0.2\nsource = "
                            "100,20\nsource = 200,20\nfree-surface = true\n")
        r = self.model("--config", self.path("c.cfg"), "--time", "0.25", "--source", "50,30")
        self.assertEqual(len(r.gathers), 1)
        self.assertEqual(r.summary["asked"]["time"], 0.25)
        self.assertIn("top=free", r.summary["model"]["boundaries"])
        self.assertEqual(self.model("--config", self.path("c.cfg"), "--quiet").text, "")


class Picture(Case):
    def test_program_draws(self):
        self.needs_matplotlib()
        r = self.model("--vp", "2000", "--shape", "61,41", "--spacing", "10", "--time", "0.2", plot=True)
        self.assertEqual(r.summary["picture"], "drawn")
        for picture in ("gather.png", "snapshots.png"):
            self.assert_picture(os.path.join(r.folder, picture))
            self.assertIn(picture, r.summary["files"])

    def test_volume(self):
        r = self.model("--vp", "2000", "--shape", "x=31,y=28,z=25", "--spacing", "10", "--time", "0.2",
                       "--width", 6)
        self.draw("plot_waves", r.folder, "gather.png", "snapshots.png")


# ctest: quick
class Program(support.EveryProgram, Case):
    small = [*Case.section[:-1], "0.1"]
    script = "plot_waves"


class Numbers(Case):
    """Units, contradictions, time zero, and omitted options."""

    def test_units(self):
        v = np.linspace(2000.0, 3000.0, 61 * 41, dtype=np.float32).reshape(61, 41)
        more = ["--spacing", "10", "--time", "0.1", "--snapshot-every", "0"]
        expected = self.model("--vp", self.save("v.npy", v), *more).gather
        slow = self.save("slow.npy", v / 1000)
        self.refuse(["--vp", slow, *more], "slow.npy: velocities of 2 to 3: km/s? give --velocity-unit km/s")
        self.refuse(["--vp", "2", "--shape", "61,41", *more], "--vp 2: velocities of 2: km/s?")
        r = self.model("--vp", slow, "--velocity-unit", "km/s", *more)
        self.close(r.gather, expected, 1e-5)
        self.assertEqual(r.summary["asked"]["velocity_unit"], "km/s")
        feet = self.save("feet.npy", v / 0.3048)
        self.close(self.model("--vp", feet, "--velocity-unit", "ft/s", *more).gather, expected, 1e-5)
        again = self.call("--vp", feet, *more, "--no-plot", "--out", "out", "--resume")
        self.assertEqual(again.returncode, 2)
        self.assertIn("--resume", again.stderr)

    def test_contradictions(self):
        self.refuse([*self.section, "--boundary", "cpml,top=rigid", "--free-surface"],
                    "--boundary cpml,top=rigid and --free-surface were both given")
        self.refuse([*self.section, "--boundary", "left=free,left=rigid"],
                    "'left' stands twice in 'left=free,left=rigid'")
        for option, value in (("--equations", "fletcher"), ("--sigma", "0.7"), ("--source-taper", "50")):
            self.refuse([*self.section, option, value], f"{option} was given and the medium is isotropic",
                        "--epsilon")
        vti = [*self.section, "--epsilon", "0.2"]
        self.refuse([*vti, "--sigma", "0.7"], "--sigma was given without --equations fletcher")
        self.refuse([*vti, "--equations", "fletcher", "--source-taper", "50"],
                    "--source-taper was given with")
        self.refuse([*self.section, "--seed", "7"], "--seed was given without random layers")
        self.refuse([*vti, "--degrees"], "--degrees was given and no angle was")
        # the option is given twice
        self.model(*self.section, "--boundary", "cpml,top=free", "--free-surface")

    def test_the_ricker_of_a_message_will_do(self):
        said = self.refuse([*self.section, "--wavelet", "ricker:50"], "take --wavelet ricker:")
        frequency = float(said.split("take --wavelet ricker:")[1].split()[0])
        self.model(*self.section, "--wavelet", f"ricker:{frequency}")
        self.refuse([*self.section, "--wavelet", f"ricker:{1.1 * frequency}"], "take --wavelet ricker:")

    def test_time_zero_offsets_and_header(self):
        r = self.model(*self.section, "--source", "300,20", "--receivers", "0,20:600,20:7", "--wavelet",
                       "ricker:20")
        gather = r.summary["gather"]
        self.assertEqual((gather["delay"], gather["time_zero"]), (0.0, "the beginning of the wavelet"))
        self.assertAlmostEqual(gather["wavelet_peak"], 0.075, delta=r.summary["scheme"]["dt"])
        with open(self.path("out/gather.sgy"), "rb") as file:
            data = file.read()
        text = data[:3200].decode("cp037")
        for words in ("PROGRAM: model_waves", "--vp 2000", "WAVELET: ricker:20", "DELAY 0", "cpml:10",
                      "OFFSET (37-40)"):
            self.assertIn(words, text)
        self.assertEqual(text[39 * 80:].strip(), "C40 END TEXTUAL HEADER")
        size = 240 + 4 * gather["samples"]
        heads = [data[at:at + 240] for at in range(3600, len(data), size)]
        self.assertEqual([struct.unpack(">i", head[36:40])[0] for head in heads],
                         [-300, -200, -100, 0, 100, 200, 300])
        self.assertEqual([struct.unpack(">h", head[108:110])[0] for head in heads], 7 * [0])

    def test_moving_says_what_it_left_out(self):
        r = self.model(*self.section, "--source", "100,20:500,20:3", "--receivers", "-200,20:200,20:5",
                       "--moving")
        self.assertIn("2 of 15 receivers of --moving are outside of the model and left out, in 2 shots "
                      "(shot 1: 1; shot 3: 5; counted from 1)", r.text)
        self.assertEqual([shot["left_out"] for shot in r.summary["shots"]], [[0], [], [4]])
        self.assertEqual([len(shot["receivers"]) for shot in r.summary["shots"]], [4, 5, 4])


if __name__ == "__main__":
    sys.exit(support.main(__doc__))
