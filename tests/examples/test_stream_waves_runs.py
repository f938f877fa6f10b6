#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the program stream_waves through its command line: plans, interrupted runs, overflows.

usage: test_stream_waves_runs.py --program PATH [--modeller PATH of model_waves] [--mpirun PATH]
           [names of test classes]
Exit status 77 if numpy is missing or every test was skipped.
"""

import json
import os
import re
import signal
import subprocess
import sys

import support
from stream_waves_case import Case
from support import np


class Plan(Case):
    wide = ["--vp", "2000", "--shape", "301,41", "--spacing", "10", "--time", "0.2", "--space", "serial"]

    def test_only_the_plan(self):
        r = self.call(*self.wide, "--devices", "2", "--device-memory", "600K", "--plan", "--out", "out")
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        for word in ("stream    blocks of ", " steps in a pass", "2 devices in a chain", " on the host, ",
                     " on each device: a "
                     "ring of ", " bytes a node in and ", "predicted: ", "points/s"):
            self.assertIn(word, r.stdout)
        self.assertNotIn("modelled", r.stdout)
        self.assertFalse(os.path.exists(self.path("out")))
        done = self.call(*self.wide, "--host-volume", "volume", "--plan", "--out", "out")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn(" in the file and ", done.stdout)
        self.assertEqual(sorted(os.listdir(self.folder)), [])

    def test_what_the_summary_says(self):
        r = self.stream(*self.wide, "--devices", "2", "--device-memory", "600K")
        plan, predicted, measured = (r.stream[key] for key in ("plan", "predicted", "measured"))
        self.assertLessEqual(plan["device_bytes"], 600 * 1024)
        self.assertEqual(plan["devices"], 2)
        self.assertFalse(plan["in_core"])
        steps, planes = r.summary["scheme"]["steps"], r.summary["model"]["shape_with_layers"][0]
        ring = 2 * plan["block"] + plan["updates"] * plan["lag"]
        self.assertGreater(plan["ring_planes"], ring)
        sweeps = -(-steps // (2 * plan["updates"]))
        # every plane is copied in and out once a sweep, with the planes of zeros around the volume
        for key, other in (("bytes_in", "bytes_per_plane_in"), ("bytes_out", "bytes_per_plane_out")):
            self.assertGreaterEqual(measured[key], 0.5 * sweeps * planes * plan[other])
            self.assertLessEqual(measured[key], 1.1 * sweeps * planes * plan[other])
        self.assertGreater(measured["iterations"], sweeps * planes // plan["block"])
        self.assertIn(predicted["binds"], ("steps", "launches", "filling", "link in", "link out", "disk"))
        self.assertAlmostEqual(measured["of_predicted"],
                               measured["points_per_second"] / predicted["points_per_second"], delta=1e-9)
        self.assertGreater(predicted["points_per_second"], 0.0)
        self.assertEqual(measured["points_per_second"], r.summary["rates"]["points_per_second"])
        self.assertGreater(len(r.stream["rates"]["slabs"]), 0)
        self.assertIn("% of the rate predicted", r.text)
        nodes = np.prod(r.summary["model"]["shape_with_layers"])
        self.assertEqual(r.summary["run"]["expand"]["points"], nodes * steps)

    def test_forecasts_of_small_grids(self):
        """Launches, copies and searches for bad values are counted: on small grids they outlast the steps."""
        small = ["--vp", "2000", "--shape", "201,101", "--spacing", "10", "--time", "0.3", "--device-memory",
                 "2M"]
        for more in (["--devices", "auto"], ["--devices", "2"], ["--block", "64", "--updates", "1"],
                     ["--block", "32", "--updates", "1"]):
            with self.subTest(more=more):
                ratios = []
                # other processes of the machine may slow down a run, or the measurement before it
                for _ in range(6):
                    r = self.stream(*small, "--space", "serial", *more)
                    self.assertLessEqual(r.stream["predicted"]["share_of_in_core"], 1.0)
                    for percent in re.findall(r"([0-9.e+]+) % of (?:in core|steps)", r.text):
                        self.assertLessEqual(float(percent), 100.0)
                    ratios.append(r.stream["measured"]["of_predicted"])
                    if 0.4 < ratios[-1] < 2.5:
                        break
                self.assertTrue(0.4 < ratios[-1] < 2.5, ratios)

    def test_hosts_that_stand_in_for_devices_work_in_turn(self):
        r = self.call(*self.wide, "--devices", "3", "--block", "8", "--updates", "2", "--plan", "--out",
                      "out")
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        self.assertIn("one host stands in for 3 devices: it does their work one after the other", r.stdout)
        found = re.search(r"([0-9.e+]+) % of steps without copies and launches", r.stdout)
        self.assertLessEqual(float(found[1]), 34.0)

    def test_a_model_that_fits(self):
        r = self.stream(*self.wide)
        self.assertTrue(r.stream["plan"]["in_core"])
        self.assertNotRegex(json.dumps(r.stream), "predicted|bytes_in|bytes_out|per_plane|locked|staging")
        self.assertIn("nothing streams", r.text)
        self.assertNotIn("in blocks of", r.text)
        # on hosts the wavefield is stepped in place, with at most the steps of the run
        r = self.stream(*self.wide, "--block", "8", "--updates", "100000")
        steps = r.summary["scheme"]["steps"]
        self.assertEqual(r.stream["plan"]["updates"], steps)
        self.assertIn(f"stepped in place in blocks of 8 planes, {steps} steps in a pass", r.text)

    def test_timeline(self):
        # too little memory to hold the parameters on each device
        r = self.stream(*self.wide, "--devices", "2", "--block", "16", "--updates", "4", "--device-memory",
                        "400K")
        self.assertFalse(r.stream["plan"]["parameters_resident"])
        self.assertIn("timeline.json", r.summary["files"])
        with open(os.path.join(r.folder, "timeline.json"), encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
        names = {e["args"]["name"] for e in events if e.get("ph") == "M" and e["name"] == "thread_name"}
        self.assertEqual(names, {"steps 0", "steps 1", "to the device 0", "to the device 1", "to the host 1"})
        stages = {s["stage"]: s for s in r.summary["stages"]}
        self.assertEqual(set(stages), {"steps", "to the device", "handed on", "to the host"})
        self.assertEqual(stages["steps"]["bytes"], 0)
        self.assertGreater(stages["to the device"]["bytes"], stages["to the host"]["bytes"])


class Failures(Case):
    """Overflows name the first step and node of model_waves, for every division into blocks and devices."""

    def setUp(self):
        super().setUp()
        if not self.modeller:
            self.skipTest("needs model_waves")
        rng = np.random.default_rng(2)
        shape = (41, 31)
        model = ["--vp", self.save("v.npy", rng.uniform(1500, 4500, shape)), "--epsilon",
                 self.save("e.npy", rng.uniform(0, 0.4, shape)),
                 "--delta", self.save("d.npy", rng.uniform(-0.2, 0.4, shape)), "--theta",
                 self.save("t.npy", rng.uniform(-1.5, 1.5, shape))]
        self.survey = [*model, "--spacing", "10", "--equations", "fletcher", "--wavelet", "ricker:15",
                       "--order", "16", "--boundary", "rigid", "--dt", "0.0007", "--time", "2", "--no-plot"]
        self.first = self.failure(subprocess.run([self.modeller, *self.survey, "--snapshot-every", "0",
                                                  "--out", "model"],
                                                 cwd=self.folder, text=True, capture_output=True,
                                                 timeout=300))
        self.assertRegex(self.first,
                         r"^shot 1, step \d+: the wavefield [pq] is no longer finite at node \(\d+, \d+\), "
                         r"\(")

    def failure(self, done):
        """Returns the line that names the overflow, without the name of the program."""
        self.assertEqual(done.returncode, 1, done.stderr)
        lines = [line for line in done.stderr.splitlines() if "is no longer finite" in line]
        self.assertEqual(len(lines), 1, done.stderr)
        return lines[0].split(": ", 1)[1]

    def test_one_device(self):
        for k, way in enumerate(([], ["--block", "8", "--updates", "5"])):
            self.assertEqual(self.failure(self.call(*self.survey, *way, "--out", f"out{k}")), self.first, way)

    def test_chain_of_two_devices(self):
        self.needs_devices(2)
        for k, way in enumerate(([], ["--block", "4", "--updates", "2"])):
            self.assertEqual(self.failure(self.call(*self.survey, "--devices", "2", *way, "--out",
                                                    f"out{k}")), self.first, way)

    def test_volume_in_a_file(self):
        # the file of such a volume is removed, and --resume finds the same overflow
        way = ["--host-volume", "volume", "--block", "8", "--updates", "4", "--out", "file"]
        self.assertEqual(self.failure(self.call(*self.survey, *way)), self.first)
        self.assertFalse(os.path.exists(self.path("volume")))
        self.assertEqual(self.failure(self.call(*self.survey, *way, "--resume")), self.first)


class Resume(Case):
    # Enough passes for interruptions between them.
    survey = ["--vp", "v.npy", "--spacing", "10", "--time", "1.2", "--source", "300,20; 1200,33",
              "--receivers", "0,20:1500,20:31", "--space", "serial", "--host-volume", "volume", "--block",
              "8", "--updates", "4"]

    def start(self, *more):
        process = subprocess.Popen([self.program, *self.survey, *more, "--no-plot", "--out", "out"],
                                   cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(lambda: (process.poll() is None and process.kill(), process.communicate()))
        return process

    def level(self):
        """Returns the time of the state in the file and its number of commits, from the file's header."""
        best = (-1, -1)
        try:
            with open(self.path("volume"), "rb") as file:
                head = file.read(8192)
        except OSError:
            return best
        for at in (0, 4096):
            entry = head[at:at + 32]
            if entry[:8] == b"MOHOVOL1":
                best = max(best, (int.from_bytes(entry[8:16], "little"),
                                  int.from_bytes(entry[24:32], "little")))
        return best

    def kill_at(self, level, number=signal.SIGKILL, shots=0):
        process = self.start()
        begun = shots == 0
        while True:
            if process.poll() is not None:
                self.fail("the run ended before: " + process.stderr.read())
            parts = len(self.whole_parts())
            _, there = self.level()
            # the volume of the previous shot is removed once its gather exists
            begun = begun or (parts >= shots and there < level)
            if begun and there >= level and parts >= shots:
                process.send_signal(number)
                process.communicate(timeout=60)
                return

    def setUp(self):
        super().setUp()
        rng = np.random.default_rng(3)
        self.save("v.npy", (2000.0 + rng.uniform(0, 300, (151, 71))).astype(np.float32))

    def test_a_run_that_was_killed_goes_on_in_the_middle_of_a_shot(self):
        whole = self.stream(*self.survey, out="whole")
        self.assertFalse(os.path.exists(self.path("volume")))
        for level, shots in ((60, 0), (100, 1)):
            with self.subTest(shots=shots):
                self.kill_at(level, shots=shots)
                self.assertEqual(len(self.whole_parts()), shots)
                there = self.level()[1]
                # other blocks and updates give the same bits
                r = self.stream(*self.survey[:-4], "--block", "16", "--updates", "5", "--resume")
                self.assertIn(f"{shots} of 2 shots are complete", r.text)
                self.assertIn(f"{there} of {whole.summary['scheme']['steps']} steps", r.text)
                for one, other in zip(r.gathers, whole.gathers):
                    np.testing.assert_array_equal(one, other)
                np.testing.assert_array_equal(r.wavefield(), whole.wavefield())
                # those of complete shots, and of the remaining steps
                points, all_points = (s["run"]["expand"]["points"] for s in (r.summary, whole.summary))
                self.assertLess(points, all_points)
                self.assertGreater(points, shots / 2 * all_points)
                self.assertFalse(os.path.exists(self.path("volume")))
                for name in os.listdir(self.path("out")):
                    os.remove(self.path("out/" + name))

    def test_the_volume_belongs_to_one_shot_of_one_run(self):
        self.kill_at(60, shots=1)
        with open(self.path("volume"), "rb") as file:
            before = file.read()

        def unchanged():
            with open(self.path("volume"), "rb") as file:
                self.assertEqual(file.read(), before)

        # without --resume nothing is replaced
        done = self.call(*self.survey, "--no-plot", "--out", "out")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("--host-volume: the volume 'volume' exists, from an earlier run", done.stderr)
        unchanged()
        # the first shot must be recomputed: the file belongs to another shot
        os.remove(self.path("out/gather_0001.npy"))
        done = self.call(*self.survey, "--no-plot", "--out", "out", "--resume")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("--host-volume: the volume 'volume' belongs to another run", done.stderr)
        unchanged()
        # another model in another folder
        done = self.call(*self.survey, "--order", "6", "--no-plot", "--out", "other", "--resume")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("belongs to another run, or has the wrong size", done.stderr)
        unchanged()
        # a truncated file
        os.truncate(self.path("volume"), len(before) - 4096)
        done = self.call(*self.survey, "--no-plot", "--out", "out", "--resume")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("wrong size", done.stderr)

    def test_an_interrupt_says_how_to_go_on(self):
        whole = self.stream(*self.survey, out="whole")
        self.kill_at(40, signal.SIGINT)
        self.assertTrue(os.path.exists(self.path("volume")))
        r = self.stream(*self.survey, "--resume")
        for one, other in zip(r.gathers, whole.gathers):
            np.testing.assert_array_equal(one, other)


if __name__ == "__main__":
    sys.exit(support.main(__doc__))
