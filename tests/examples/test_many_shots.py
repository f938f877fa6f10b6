#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# ctest: cost 20
"""Tests of model_waves with many shots and short traces: memory, writes of the summary, killed runs.

usage: test_many_shots.py --program PATH [names of test classes]
Exit status 77 if numpy is missing or every test was skipped.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import model_waves_case
import support


class ManyShots(model_waves_case.Case):
    tiny = ["--vp", "2000", "--shape", "31,31", "--spacing", "10", "--width", "6", "--time", "0.02",
            "--snapshot-every", "0", "--wavelet", "ricker:15"]

    def test_memory_of_positions(self):
        """Positions of short traces take more memory than their samples."""
        line = ["--receivers", "0,10:300,290:5000"]
        spread = ["--receivers=-40,10:40,90:5000", "--moving"]
        for receivers, shots in ((line, 120), (spread, 60)):
            estimate = self.assert_memory_is_planned(*self.tiny, "--source", f"100,100:200,100:{shots}",
                                                     *receivers)
            samples = self.shape_of("out/gather_0001.npy")
            self.assertGreater(estimate, 24 * 2 ** 20 + shots * 5000 * (4 * samples + 60), receivers)

    def shape_of(self, name):
        """Returns the number of samples of a gather."""
        return support.np.load(self.path(name)).shape[1]

    def test_a_killed_run_loses_no_shot(self):
        """Shots that summary.json does not name yet are taken over by --resume as well."""
        survey = [*self.tiny, "--source", "100,100:200,100:400", "--receivers", "0,10:300,10:11",
                  "--at-once", "1"]
        command = [self.program, *survey, "--no-plot", "--out", "out"]
        behind = False
        for _ in range(10):
            with subprocess.Popen([*command, "--quiet"], cwd=self.folder) as process:
                while process.poll() is None and not os.path.exists(self.path("out/gather_0150.npy")):
                    time.sleep(0.001)
                process.send_signal(signal.SIGKILL)
            self.assertEqual(process.returncode, -signal.SIGKILL)
            gathers = [name for name in os.listdir(self.path("out")) if re.fullmatch(r"gather_\d+.npy", name)]
            with open(self.path("out/summary.json"), encoding="utf-8") as file:
                named = len(json.load(file)["parts"])
            # a gather exists before its shot is complete
            plan = self.call(*survey, "--resume", "--plan", "--no-plot", "--out", "out")
            whole = int(re.search(r"resumed +(\d+) of 400 shots are complete", plan.stdout)[1])
            self.assertIn(len(gathers) - whole, (0, 1))
            behind = behind or named < whole
            if behind:
                break
            shutil.rmtree(self.path("out"))
        self.assertTrue(behind, "the summary was written after every shot")
        done = self.call(*survey, "--resume", "--no-plot", "--out", "out")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.call(*survey, "--no-plot", "--out", "one").returncode, 0)
        self.assertEqual(sorted(os.listdir(self.path("out"))), sorted(os.listdir(self.path("one"))))
        summaries = []
        for folder in ("one", "out"):
            with open(self.path(folder + "/summary.json"), encoding="utf-8") as file:
                summaries.append(json.load(file))
        for key in ("shots", "files"):
            self.assertEqual(sorted(map(str, summaries[0][key])), sorted(map(str, summaries[1][key])), key)
        with open(self.path("one/gather.sgy"), "rb") as one, open(self.path("out/gather.sgy"), "rb") as out:
            self.assertEqual(one.read(), out.read())

    def test_a_signal_completes_the_summary(self):
        survey = [*self.tiny, "--source", "100,100:200,100:400", "--receivers", "0,10:300,10:11",
                  "--at-once", "1"]
        with subprocess.Popen([self.program, *survey, "--quiet", "--no-plot", "--out", "out"],
                              cwd=self.folder, stderr=subprocess.DEVNULL) as process:
            while process.poll() is None and not os.path.exists(self.path("out/gather_0100.npy")):
                time.sleep(0.001)
            process.send_signal(signal.SIGTERM)
        self.assertEqual(process.returncode, 128 + signal.SIGTERM)
        there = os.listdir(self.path("out"))
        self.assertFalse([name for name in there if name.startswith(".")])
        with open(self.path("out/summary.json"), encoding="utf-8") as file:
            summary = json.load(file)
        self.assertEqual(summary["state"], "interrupted")
        gathers = {name for name in there if name.startswith("gather_")}
        named = {name for name in summary["files"] if name.startswith("gather_")}
        self.assertLessEqual(len(gathers - named), 1)
        self.assertFalse(named - gathers)
        self.assertFalse(named & set(summary["to_write"]))
        self.assertLessEqual(len(named) - len(summary["parts"]), 1)
        self.assertEqual(len(summary["parts"]), len(summary["shots"]))


if __name__ == "__main__":
    sys.exit(support.main(__doc__))
