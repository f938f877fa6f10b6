#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# ctest: cost 15
"""Tests of --batch of migrate_shots: shots that advance in the same launches, with the files of single shots.

usage: test_migrate_batches.py --program PATH [--modeller PATH] [names of test classes]
Exit status 77 if numpy is missing or every test was skipped.
"""

import json
import os
import signal
import subprocess
import sys

import migrate_shots_case
import support
from support import np


class BatchCase(migrate_shots_case.Case):
    results = ["image.npy", "image_laplacian.npy", "illumination_source.npy", "illumination_receiver.npy"]

    def setUp(self):
        super().setUp()
        self.asked = ["--shots", "modelled", "--true-vp", "true.npy", "--source", "300,20:900,20:6",
                      "--receivers", "0,20:1200,20:61", "--condition", "laplacian,source"]

    def summary(self, folder):
        with open(self.path(folder + "/summary.json"), encoding="utf-8") as file:
            return json.load(file)


# ctest: quick
class Batches(BatchCase):
    def test_files_of_single_shots(self):
        for space in ["serial", *(space for space in self.spaces() if space != "serial")]:
            asked = [*self.asked, "--space", space, "--snapshots", "device"]
            one = self.migrate(*asked, "--batch", "1", "--at-once", "1", out="one")
            self.assertEqual(one.summary["batch_size"], 1)
            self.assertNotIn("same launches", one.text)
            for at_once, batch in (("6", "4"), ("2", "2"), ("auto", "3")):
                many = self.migrate(*asked, "--at-once", at_once, "--batch", batch, out="many")
                self.assertEqual(many.summary["batch_size"], int(batch))
                self.assertIn(f"          {batch} of them in the same launches\n", many.text)
                self.assert_same_files(self.results, "one", "many")
            some = self.migrate(*asked, "--batch", "9", out="many")
            self.assertEqual(some.summary["batch_size"], 6)
        plain = self.migrate(*self.asked, "--space", "serial", "--at-once", "2", out="auto")
        self.assertEqual(plain.summary["batch_size"], 1)

    def test_only_shot(self):
        self.succeed("--vp", "smooth.npy", *self.survey, *self.asked, "--batch", "4", "--only-shot", "2")
        self.assertEqual(self.summary("out")["batch_size"], 1)

    def test_plan_says_why_not(self):
        self.asked[7] = "300,20:900,20:31"
        tapered = ["--epsilon", "0.2", "--delta", "0.1", "--true-epsilon", "0.2", "--true-delta", "0.1"]
        for more, said in (
            (["--aperture", "100"], "shots see different parts of the model"),
            (tapered, "delta is tapered around the points of each shot"),
        ):
            done = self.call("--vp", "smooth.npy", *self.survey, *self.asked, "--batch", "4", *more, "--plan")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(f"          --batch 4: none, {said}\n", done.stdout)
        done = self.call("--vp", "smooth.npy", *self.survey, *self.asked, "--batch", "4", "--plan")
        self.assertIn("          4 of them in the same launches\n", done.stdout)

    def test_refusals(self):
        for more, said in (
            (["--batch", "0"], "--batch is '0' (allowed: whole numbers from 1 to 1024"),
            (["--batch", "2000"], "--batch is '2000'"),
            (["--batch", "some"], "--batch is 'some'"),
            (["--batch", "4", "--at-once", "2"], "--batch is 4 with 2 shots at once (allowed: 1 to 2): "),
            (["--batch", "4", "--expand", "layers"], "--batch is 4 with the domain layers (allowed: 1): "),
            (["--batch", "4", "--snapshots", "replay"], "--batch is 4 with the storage 'replay'"),
            (["--batch", "4", "--columns", "500"], "--batch is 4 with offset gathers (allowed: 1): "),
            (["--batch", "4", "--block", "8"], "--batch is 4 with shots over several devices or in a stream"),
            (["--batch", "4", "--devices", "2"], "--batch is 4 with shots over several devices"),
        ):
            self.refuse(["--vp", "smooth.npy", *self.survey, *self.asked, "--space", self.spaces()[0], *more],
                        said)


class Interrupted(support.Overflows, BatchCase):
    """Batches that end early keep their complete shots for --resume."""

    def setUp(self):
        super().setUp()
        self.asked += ["--space", self.spaces()[0], "--snapshots", "device", "--batch", "2", "--at-once", "2"]
        self.arguments = ["--vp", "smooth.npy", *self.survey, *self.asked]

    def test_a_killed_run_goes_on(self):
        self.arguments[self.arguments.index("--time") + 1] = "2"
        self.arguments[self.arguments.index("300,20:900,20:6")] = "300,20:900,20:12"
        self.succeed(*self.arguments, out="one")
        command = [self.program, *self.arguments, "--no-plot", "--out", "many"]
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        with subprocess.Popen(command, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              env=environment) as process:
            self.wait_for(process, lambda: len(self.whole_parts("many")) >= 2)
            process.send_signal(signal.SIGKILL)
        self.assertNotEqual(self.summary("many")["state"], "done", "it was killed too late")
        _, text = self.succeed(*self.arguments, "--resume", out="many")
        self.assertRegex(text, "([2-9]|1[01]) of 12 shots are complete")
        self.assert_same_files(self.results, "one", "many")

    def test_other_shots_of_a_failed_batch_are_kept(self):
        self.shots = self.asked[:8]
        self.model_gathers()
        read = ["--vp", "smooth.npy", *self.survey, "--shots", "gathers", *self.asked[-8:], "--mute", "none",
                "--condition", "laplacian,source"]
        at = read.index("--batch")
        read[at:at + 4] = ["--batch", "1", "--at-once", "1"]
        self.succeed(*read, "--keep-shots", out="one")
        name = self.path("gathers/gather_0003.npy")
        gather = np.load(name)
        gather[20:] = 1e38
        np.save(name, gather)
        read[at:at + 4] = ["--batch", "4", "--at-once", "4"]
        done = self.call(*read, "--no-plot", "--out", "many")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertRegex(done.stderr, r"shot 3, backward leg, step \d+: " + self.node)
        self.assertEqual([part["number"] for part in self.summary("many")["parts"]], [1, 2, 4])
        again = self.call(*read, "--no-plot", "--out", "many", "--resume")
        self.assertEqual(again.returncode, 1, again.stdout + again.stderr)
        self.assertIn("3 of 6 shots are complete", again.stdout)
        self.assertEqual(sorted(part["number"] for part in self.summary("many")["parts"]), [1, 2, 4, 5, 6])
        self.assert_same_files([f"shot_000{number}.npy" for number in (1, 2, 4, 5, 6)], "one", "many")


if __name__ == "__main__":
    sys.exit(support.main(__doc__))
