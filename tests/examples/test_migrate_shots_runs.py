#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the program migrate_shots through its command line: interrupted runs, shots at once, ranks.

usage: test_migrate_shots_runs.py --program PATH [--mpirun PATH] [--modeller PATH] [--data FOLDER]
           [names of test classes]
Exit status 77 if numpy is missing or every test was skipped.
"""

import json
import os
import signal
import subprocess
import sys
import time

import support
from migrate_shots_case import Case
from support import np


# ctest: quick
class Surveys(Case):
    def test_interrupted_runs_go_on(self):
        whole = self.migrate(*self.shots, "--keep-shots", out="whole")
        part = self.migrate(*self.shots, "--keep-shots", out="part")
        # as if it had ended before its second shot
        os.remove(os.path.join(part.folder, "shot_0002.npy"))
        again = self.migrate(*self.shots, "--keep-shots", "--resume", out="part")
        self.assertIn("2 of 3 shots are complete", again.text)
        np.testing.assert_array_equal(again.image, whole.image)

    def test_resumed_runs_have_the_data_of_the_first_shot(self):
        names = ["data_before.npy", "data_after.npy", "image.npy"]
        whole = self.migrate(*self.shots, "--keep-shots", out="whole")
        part = self.migrate(*self.shots, "--keep-shots", out="part")
        # a shot or a file of the first shot is missing
        for missing, present in ((["shot_0002.npy"], 2), (["shot_0001.npy", "shot_0003.npy"], 1),
                                 (["data_after.npy"], 2)):
            for name in missing:
                os.remove(os.path.join(part.folder, name))
            again = self.migrate(*self.shots, "--keep-shots", "--resume", out="part")
            self.assertIn(f"{present} of 3 shots are complete", again.text)
            self.assert_same_files(names, "whole", "part")
            self.assertEqual(again.summary["data"], whole.summary["data"])
            self.assertEqual(again.summary["data"]["shot"], 1)
            self.assertNotIn("data", again.summary["migrated"][0])

    def test_other_options_are_no_resume(self):
        self.migrate(*self.shots, "--keep-shots")
        self.refuse(["--vp", "smooth.npy", *self.survey, *self.shots, "--keep-shots", "--resume", "--order",
                     "4", "--out", "out"], "--resume")

    def test_another_shear_velocity_is_no_resume(self):
        fletcher = ["--epsilon", "0.1", "--delta", "0.05", "--equations", "fletcher"]
        self.migrate(*self.shots, *fletcher, "--keep-shots")
        self.refuse(["--vp", "smooth.npy", *self.survey, *self.shots, *fletcher, "--keep-shots", "--resume",
                     "--sigma", "0.5", "--out", "out"], "--resume: --sigma is 0.5, and was 0.75")


class AtOnce(Case):
    """Concurrent shots have the bits of consecutive ones."""

    def test_same_bits(self):
        shots = [*self.shots[:-3], "300,20:900,20:5", *self.shots[-2:], "--condition", "laplacian,source",
                 "--columns", "500,600", "--space", "serial", "--keep-shots"]
        names = ["image.npy", "image_laplacian.npy", "illumination_source.npy", "illumination_receiver.npy",
                 "offsets.npy", "image.sgy", "data_before.npy", "data_after.npy",
                 *(f"shot_000{k}.npy" for k in range(1, 6))]
        for kept in ([], ["--snapshots", "boundary"],
                     ["--snapshots", "disk", "--error", "lossless", "--disk", "1G"],
                     ["--snapshots", "replay"]):
            one = self.migrate(*shots, *kept, "--at-once", "1", out="one")
            self.assertIn("1 shot at once", one.text)
            for count in (2, 5):
                many = self.migrate(*shots, *kept, "--at-once", str(count), out="many")
                self.assertIn(f"{count} shots at once", many.text)
                self.assertEqual((many.summary["at_once"], many.summary["batch_size"]), (count, 1))
                self.assert_same_files(names, "one", "many")
                self.assertEqual(many.summary["migrated"][4]["number"], 5)
                self.assertFalse([name for name in os.listdir(many.folder) if "snapshots" in name])

    def test_going_on(self):
        whole = self.migrate(*self.shots, "--keep-shots", "--at-once", "1", "--space", "serial", out="whole")
        part = self.migrate(*self.shots, "--keep-shots", "--at-once", "2", "--space", "serial", out="part")
        os.remove(os.path.join(part.folder, "shot_0002.npy"))
        again = self.migrate(*self.shots, "--keep-shots", "--at-once", "2", "--space", "serial", "--resume",
                             out="part")
        self.assertIn("2 of 3 shots are complete", again.text)
        np.testing.assert_array_equal(again.image, whole.image)

    def test_too_many(self):
        self.refuse(["--vp", "smooth.npy", *self.survey, *self.shots, "--space", "serial", "--memory", "1M",
                     "--at-once", "3"], "memory: 3 shots at once take", "allowed: 1 MiB, as asked",
                    "smaller --at-once")


class Ranks(Case):
    """Ranks share the shots: any number of ranks gives the same bits."""

    results = ["image.npy", "image_laplacian.npy", "illumination_source.npy", "illumination_receiver.npy",
               "offsets.npy", "image.sgy", "data_before.npy", "data_after.npy"]
    more = ["--condition", "laplacian,source", "--columns", "500,600", "--space", "serial"]

    def setUp(self):
        super().setUp()
        self.needs_mpirun()
        self.arguments = ["--vp", "smooth.npy", *self.survey, *self.shots[:-3], "300,20:900,20:5",
                          *self.shots[-2:], *self.more]

    def test_same_bits(self):
        self.succeed(*self.arguments, out="one")
        for ranks in (1, 2, 3):
            folder, _ = self.succeed(*self.arguments, out="many", ranks=ranks)
            self.assert_same_files(self.results, "one", "many")
            with open(os.path.join(folder, "summary.json"), encoding="utf-8") as file:
                summary = json.load(file)
            self.assertEqual((summary["state"], summary["ranks"], len(summary["migrated"])),
                             ("done", ranks, 5))
            self.assertFalse([name for name in os.listdir(folder) if name.startswith("shot_")])

    def test_time_that_is_over(self):
        self.succeed(*self.arguments, out="one")
        soon = {"SLURM_JOB_END_TIME": str(int(time.time()) + 6)}
        done = self.call(*self.arguments, "--no-plot", "--out", "many", environment=soon, ranks=2)
        late = {"SLURM_JOB_END_TIME": str(int(time.time()) - 100)}
        if done.returncode == 0:  # the run ended before its time limit
            done = self.call(*self.arguments, "--no-plot", "--out", "many", environment=late, ranks=2)
        self.assertEqual(done.returncode, 75, done.stdout + done.stderr)
        self.assertRegex(done.stderr,
                         "migrate_shots: ended before the last part, [0-4] of 5 shots are complete: the next "
                                      "would not end before its job .SLURM_JOB_END_TIME.; --resume goes on")
        with open(self.path("many/summary.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file)["state"], "interrupted")
        self.succeed(*self.arguments, "--resume", out="many", ranks=3)
        self.assert_same_files(self.results, "one", "many")
        # a single process also observes the time limit
        done = self.call(*self.arguments, "--no-plot", "--out", "alone", environment=late)
        self.assertEqual(done.returncode, 75, done.stdout + done.stderr)
        self.assertIn("0 of 5 shots are complete", done.stderr)

    def test_signal(self):
        """USR1: started shots are completed, and no other shot is started."""
        slow = [word if word != "0.6" else "3" for word in self.arguments]
        command = [self.program, *slow, "--no-plot", "--out", "out"]
        with subprocess.Popen(command, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              text=True) as process:
            self.addCleanup(process.kill)
            for _ in range(1000):
                if os.path.exists(self.path("out/vp.npy")):
                    break
                time.sleep(0.01)
            process.send_signal(signal.SIGUSR1)
            _, said = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 75, said)
        self.assertIn("it was told to stop (SIGUSR1)", said)

    def test_a_kill_is_gone_on_with(self):
        self.arguments[self.arguments.index("--time") + 1] = "2"  # shots that outlast the poll
        self.succeed(*self.arguments, out="one")
        process = self.start_ranks(2, *self.arguments, "--out", "many", stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        self.wait_for(process, lambda: len(self.whole_parts("many")) >= 2)
        self.kill_ranks(process)
        with open(self.path("many/summary.json"), encoding="utf-8") as file:
            before = json.load(file)
        self.assertNotEqual(before["state"], "done", "it was killed too late")
        earlier = self.whole_parts("many")
        folder, text = self.succeed(*self.arguments, "--resume", out="many", ranks=3)
        self.assertRegex(text, "[2-5] of 5 shots are complete")
        self.assert_same_files(self.results, "one", "many")
        with open(self.path("many/summary.json"), encoding="utf-8") as file:
            after = json.load(file)
        # the seconds of a shot are divided by the number of its ranks
        seconds = sum(shot["seconds"] / (2 if shot["number"] in earlier else min(3, 5 - len(earlier)))
                      for shot in after["migrated"])
        self.assertAlmostEqual(after["run"]["seconds_of_legs"] / seconds, 1.0, delta=1e-9)

    def test_errors_end_all_with_one_message(self):
        for more, said in ((["--order", "5"], "--order"), (["--vp", "none.npy"], "none.npy"),
                           (["--wavelet", "ricker:80"], "--wavelet"),
                           (["--columns", "5000"], "--columns: 5000 m")):
            arguments = [*self.arguments]
            if more[0] in arguments:
                arguments[arguments.index(more[0]) + 1] = more[1]
            else:
                arguments += more
            if more[0] == "--wavelet":
                at = arguments.index("--dt")
                del arguments[at:at + 2]
            self.refuse(arguments, said, ranks=3)
        self.write("sites.cfg", "[here]\nkind = local\n")
        self.refuse([*self.arguments, "--sites", "sites.cfg"], "--sites: mpirun started 2 ranks", ranks=2)


if __name__ == "__main__":
    sys.exit(support.main(__doc__))
