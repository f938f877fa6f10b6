#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the program model_waves through its command line: interrupted runs, shots at once, ranks.

usage: test_model_waves_runs.py --program PATH [--mpirun PATH] [--data FOLDER] [names of test classes]
Exit status 77 if numpy is missing or every test was skipped.
"""

import json
import os
import re
import signal
import sys

import support
from model_waves_case import Case
from support import np


class NothingIsLost(support.NothingIsLost, Case):
    small = [*Case.section[:-1], "0.1"]
    slow = ["--vp", "2000", "--shape", "201,101,101", "--spacing", "10", "--time", "2"]
    results = ["gather.npy", "gather.sgy", "vp.npy"]
    former = "snapshot_0123.npy"
    vp = support.npy(np.full((61, 41), 2000.0))
    read = [("vp.npy", vp, lambda f: ["--vp", f, "--spacing", "10", "--time", "0.1"], "vp"),
            ("gather.npy", vp, lambda f: [*Case.section, "--rho", f], "rho"),
            ("gather.sgy", b"vp = 2000\nshape = 61,41\nspacing = 10\n", lambda f: ["--config", f], "config"),
            ("snapshot_0001.npy", vp, lambda f: ["--vp", f, "--spacing", "10", "--time", "0.1"], "vp"),
            ("gather_0002.npy", support.npy(np.array([[30.0, 20.0], [40.0, 20.0]])),
             lambda f: [*Case.section, "--source", f], "source")]
    shapes = [["--vp", "2000", "--shape", "x=101,y=91,z=81", "--spacing", "10", "--time", "0.02", *more]
              for more in ([], ["--expand", "eikonal"], ["--epsilon", "0.2", "--delta", "0.1"],
                           ["--rho", "2000"],
                           ["--epsilon", "0.2", "--delta", "0.1", "--theta", "0.3"])] + [
                  ["--vp", "2000", "--shape", "x=131,y=101,z=121", "--spacing", "10", "--time", "0.02",
                   "--precision", "double"],
                  ["--vp", "2000", "--shape", "1201,901", "--spacing", "10", "--time", "0.02", "--boundary",
                   "sponge:40"],
                  ["--vp", "2000", "--shape", "101,101", "--spacing", "10", "--time", "1", "--at-once", "8",
                   "--receivers", "0,20:1000,20:6001", "--source", "0,20:1000,20:8", "--snapshot-every", "0"]]

    # Anisotropic around the sources: the result depends on all of them.
    survey = ["--vp", "v.npy", "--epsilon", "0.2", "--delta", "0.05", "--spacing", "10", "--time", "0.8",
              "--source", "300,20:2700,20:6", "--receivers", "0,20:3000,20:31", "--snapshot-every", "0.4"]

    def whole_and_interrupted(self, number, more=(), whole=()):
        rng = np.random.default_rng(3)
        self.save("v.npy", (2000.0 + rng.uniform(0, 300, (301, 151))).astype(np.float32))
        self.assertEqual(self.call(*self.survey, *whole, "--no-plot", "--out", "whole").returncode, 0)
        process = self.start(*self.survey, *more)

        self.wait_for(process, lambda: len(self.whole_parts()) >= 2)
        process.send_signal(number)
        process.communicate(timeout=60)
        return process.returncode

    def test_a_run_that_is_interrupted_is_described_and_gone_on_with(self):
        for number, status, state in ((signal.SIGINT, 130, "interrupted"), (signal.SIGKILL, -9, "running")):
            self.assertEqual(self.whole_and_interrupted(number), status)
            before = self.summary()
            self.assertEqual(before["state"], state)
            self.assertEqual(before["asked"]["time"], 0.8)
            self.assertGreater(before["scheme"]["dt"], 0.0)
            there = [shot["gather"] for shot in before["shots"]]
            self.assertIn(len(self.whole_parts()), range(2, 6))
            self.assertLessEqual(len(there), len(self.whole_parts()))
            for name in before["files"]:
                self.assertTrue(os.path.isfile(self.path("out/" + name)), name)
            for shot in before["shots"]:
                self.assertEqual(np.load(self.path("out/" + shot["gather"])).shape[1],
                                 before["gather"]["samples"])
            if number == signal.SIGINT:
                self.assertEqual([n for n in self.files() if ".part" in n or n == ".moho_lock"], [])
            times = [os.stat(self.path("out/" + part["files"][0]["name"])).st_mtime_ns
                     for part in before["parts"]]
            done = self.call(*self.survey, "--no-plot", "--out", "out", "--resume")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertRegex(done.stdout, f"[{len(times)}-6] of 6 shots are complete")
            after, whole = self.summary(), self.summary("whole")
            self.assertEqual(after["state"], "done")
            for key in ("shots", "snapshots", "scheme", "gather"):
                self.assertEqual(after[key], whole[key])
            self.assertEqual(after["run"]["expand"], whole["run"]["expand"])
            self.assertGreater(after["rates"]["points_per_second"], 0.0)
            self.assertEqual(sorted(after["files"]), sorted(whole["files"]))
            self.assertEqual(self.files(), self.files("whole"))
            for name in whole["files"]:
                if name != "summary.json":
                    self.assertEqual(self.content("out/" + name), self.content("whole/" + name), name)
            again = [os.stat(self.path("out/" + part["files"][0]["name"])).st_mtime_ns
                     for part in before["parts"]]
            self.assertEqual(times, again)  # they were not recomputed
            for name in self.files():
                os.remove(self.path("out/" + name))

    def test_a_kill_of_shots_at_once_is_gone_on_with(self):
        several = ["--at-once", "2", "--space", "serial"]
        self.assertEqual(self.whole_and_interrupted(signal.SIGKILL, several, several[2:]), -9)
        there = len(self.whole_parts())
        self.assertIn(there, range(2, 6))
        done = self.call(*self.survey, *several, "--no-plot", "--out", "out", "--resume")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, f"[{there}-6] of 6 shots are complete")
        for name in self.summary("whole")["files"]:
            if name != "summary.json":
                self.assertEqual(self.content("out/" + name), self.content("whole/" + name), name)

    def test_resuming_another_run_is_refused(self):
        self.whole_and_interrupted(signal.SIGINT)
        before = self.files(), self.summary()
        resume = [*self.survey, "--no-plot", "--out", "out", "--resume"]
        self.assert_refused(self.call(*resume, "--order", "6"), "--resume: --order is 6, and was 8", "out")
        self.assert_refused(self.call(*resume, "--width", "10"), "--resume: --width is 10, and was auto")
        self.assert_refused(self.call(*resume, "--free-surface"),
                            "--resume: --free-surface is true, and was false")
        velocity = np.load(self.path("v.npy"))
        velocity[5, 5] += 1.0
        self.save("v.npy", velocity)
        self.assert_refused(self.call(*resume), "--resume: --vp v.npy is ", "CRC-32C")
        velocity[5, 5] -= 1.0
        self.save("v.npy", velocity)
        other = dict(before[1], fingerprint={**before[1]["fingerprint"],
                                             "program": "model_waves of moho 0.0.1"})
        self.write("out/summary.json", json.dumps(other))
        self.assert_refused(self.call(*resume), "--resume: program is ", "0.0.1")
        self.write("out/summary.json", json.dumps(before[1]))
        self.assertEqual(self.files(), before[0])
        # a gather that differs from what was written is recomputed
        name = before[1]["parts"][1]["files"][0]["name"]
        gather = np.load(self.path("out/" + name))
        gather[0, -1] += 1.0
        self.save("out/" + name, gather)
        again = self.call(*self.survey, "--no-plot", "--out", "out", "--source-taper", "-1")
        self.assertEqual(again.returncode, 2)
        self.assertEqual(self.files(), before[0])
        self.assertEqual(self.call(*resume).returncode, 0)
        for name in self.summary()["files"]:
            if name != "summary.json":
                self.assertEqual(self.content("out/" + name), self.content("whole/" + name), name)

    def test_resuming_nothing_begins(self):
        done = self.run_small("--resume")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("0 of 1 shot is complete", done.stdout)


class AtOnce(Case):
    """Concurrent shots have the bits of consecutive ones."""

    shots = [*Case.section, "--source", "100,20:500,20:7", "--receivers", "0,20:600,20:31"]
    names = [*(f"gather_{k:04d}.npy" for k in range(1, 8)), "gather.sgy", "vp.npy"]

    def test_traces_that_wait_are_counted(self):
        """Memory holds all traces for SEG-Y, two arrays more of computed shots, and those being written."""
        survey = ["--vp", "2000", "--shape", "21,21", "--spacing", "10", "--source", "20,20:180,20:8",
                  "--receivers", "0,20:200,20:401", "--snapshot-every", "0", "--dt", "0.002", "--space",
                  "serial"]
        for count in (1, 2, 6):
            bytes_of = []
            for duration in ("0.4", "0.8"):
                summary = self.model(*survey, "--at-once", str(count), "--time", duration).summary
                bytes_of.append((summary["memory"]["estimate_bytes"], summary["gather"]["samples"]))
            (few, short), (many, long) = bytes_of
            self.assertAlmostEqual(many - few, 4 * 401 * (8 + 2 * count + 1) * (long - short), delta=8)

    def test_same_bits(self):
        snapshots = [word if word != "0" else "0.1" for word in self.shots]
        for space, more, counts in (("openmp", [], (2, 5, 40)), ("serial", ["--expand", "eikonal"], (5,))):
            one = self.model(*snapshots, "--space", space, *more, "--at-once", "1", out="one")
            self.assertIn("1 shot at once", one.text)
            for count in counts:
                many = self.model(*snapshots, "--space", space, *more, "--at-once", str(count), out="many")
                self.assertIn(f"{min(count, 7)} shots at once", many.text)
                self.assert_same_files([*self.names, "snapshot_0001.npy", "snapshot_0003.npy"], "one", "many")
                for key in ("shots", "snapshots", "scheme", "gather", "files"):
                    self.assertEqual(many.summary[key], one.summary[key], key)
                self.assertEqual(many.summary["run"]["at_once"], min(count, 7))
                self.assertEqual(many.summary["run"]["expand"]["points"],
                                 one.summary["run"]["expand"]["points"])
        self.model(*self.shots, "--at-once", "1", out="one")
        self.assertIn("at once (auto)", self.model(*self.shots, out="auto").text)
        self.assert_same_files(self.names, "one", "auto")

    def test_ranks_share_shots_of_which_each_has_several(self):
        self.needs_mpirun()
        self.model(*self.shots, "--space", "serial", "--at-once", "1", out="one")
        self.succeed(*self.shots, "--space", "serial", "--at-once", "2", out="many", ranks=2)
        self.assert_same_files(self.names, "one", "many")

    def test_bad_input(self):
        for text in ("0", "-2", "1.5", "many"):
            self.refuse([*self.shots, "--at-once=" + text], "--at-once", text)
        # one shot fits, many do not
        volume = ["--vp", "2000", "--shape", "101,81,91", "--spacing", "10", "--time", "0.02",
                  "--snapshot-every", "0", "--source", "100,100,20:700,100,20:40", "--space", "serial",
                  "--memory", "150M"]
        self.assertIn("1 shot at once", self.model(*volume, out="alone").text)
        self.refuse([*volume, "--at-once", "40"], "memory: ", "allowed: 150 MiB", "fewer shots --at-once")


class Ranks(Case):
    def test_ranks_share_the_memory_of_a_machine(self):
        self.needs_mpirun()
        volume = ["--vp", "2000", "--spacing", "10", "--coordinates", "xyz", "--no-plot", "--out", "out",
                  "--shape"]
        too_large = self.call(*volume, "20000,20000,20000")
        self.assertEqual(too_large.returncode, 2, too_large.stderr)
        takes, of_takes, allowed, of_allowed = re.search(
            r"takes at least ([0-9.]+) (.)iB .*allowed: ([0-9.]+) (.)iB", too_large.stderr).groups()
        # two thirds of the free memory are too much for each of two
        part = 0.67 * float(allowed) / float(takes) * 1024.0 ** ("KMGTP".index(of_allowed)
                                                                 - "KMGTP".index(of_takes))
        n = int(20000 * part ** (1 / 3))
        done = self.call(*volume, f"{n},{n},{n}", ranks=2)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("for each of 2 ranks of this machine", done.stderr)

    def test_same_bits(self):
        self.needs_mpirun()
        self.save("v.npy", np.full((61, 41), 2000.0, dtype=np.float32))
        arguments = ["--vp", "v.npy", "--spacing", "10", "--source", "100,20:500,20:5", "--receivers",
                     "0,20:600,20:31", "--time", "0.3", "--snapshot-every", "0.1", "--space", "serial"]
        self.succeed(*arguments, out="one")
        names = [*(f"gather_{k:04d}.npy" for k in range(1, 6)), "gather.sgy", "vp.npy", "snapshot_0001.npy"]
        with open(self.path("one/summary.json"), encoding="utf-8") as file:
            one = json.load(file)
        for ranks in (1, 2, 3):
            self.succeed(*arguments, out="many", ranks=ranks)
            self.assert_same_files(names, "one", "many")
            with open(self.path("many/summary.json"), encoding="utf-8") as file:
                many = json.load(file)
            self.assertEqual(sorted(many["files"]), sorted(one["files"]))
            self.assertEqual([many[key] for key in ("shots", "snapshots", "state")],
                             [one[key] for key in ("shots", "snapshots", "state")])
            self.assertEqual((many["ranks"], many["run"]["expand"]["points"]),
                             (ranks, one["run"]["expand"]["points"]))
            # seconds of earlier shots are divided by the number of their ranks
            self.succeed(*arguments, "--resume", out="many", ranks=ranks % 3 + 1)
            with open(self.path("many/summary.json"), encoding="utf-8") as file:
                resumed = json.load(file)
            self.assertEqual(resumed["run"]["expand"]["points"], one["run"]["expand"]["points"])
            self.assertAlmostEqual(resumed["rates"]["points_per_second"] / many["rates"]["points_per_second"],
                                   1.0, delta=1e-9)
        for more, said in ((["--dt", "0.1"], "dt"), (["--vp", "none.npy"], "none.npy"),
                           (["--order", "5"], "--order")):
            arguments_here = ["--vp", "none.npy",
                              *arguments[2:]] if more[0] == "--vp" else [*arguments, *more]
            self.refuse(arguments_here, said, ranks=3)


if __name__ == "__main__":
    sys.exit(support.main(__doc__))
