#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the program invert_waves through its command line: interrupted runs, shots at once, ranks.

usage: test_invert_waves_runs.py --program PATH [--mpirun PATH] [--modeller PATH] [names of test classes]
Exit status 77 if numpy is missing or every test was skipped.
"""

import csv
import json
import os
import signal
import subprocess
import sys
import time

import support
from invert_waves_case import Case
from support import np


# ctest: quick
class Resume(Case):
    def test_killed_runs_go_on_to_the_same_bits(self):
        arguments = [*self.shots, "--iterations", "5", "--bands", "5,9"]
        whole = self.invert(*arguments, out="whole")
        for moment in (1, 4, 7):
            command = [self.program, "--vp", "start.npy", *self.survey, *arguments, "--no-plot", "--out",
                       f"part{moment}"]
            with subprocess.Popen(command, cwd=self.folder, stdout=subprocess.PIPE, text=True) as process:
                last, pace = time.perf_counter(), 0.0
                for line in process.stdout:
                    if line.startswith("evaluated "):
                        last, pace = time.perf_counter(), time.perf_counter() - last
                    if line.startswith(f"evaluated {moment}:"):
                        time.sleep(0.1 * moment * pace)  # at some moment in the next evaluation
                        process.send_signal(signal.SIGKILL)
                        break
            self.assertNotEqual(process.returncode, 0)
            again = self.invert(*arguments, "--resume", out=f"part{moment}")
            self.assertRegex(again.text, "evaluations? (is|are) complete")
            self.assert_same_files(self.results, "whole", f"part{moment}")
            self.expect_same_history(again, whole)

    def test_other_options_are_no_resume(self):
        self.invert(*self.shots, "--iterations", "1")
        self.refuse(["--vp", "start.npy", *self.survey, *self.shots, "--iterations", "2", "--resume", "--out",
                     "out"],
                    "--resume")


    def test_one_shot_is_no_search(self):
        shot = [*self.shots, "--iterations", "1", "--only-shot", "3"]
        asked = ["--vp", "start.npy", *self.survey]
        self.succeed(*asked, *shot, out="shot")
        for more, words in (([*self.shots, "--iterations", "1"], "--resume: --band is not there"),
                            ([*shot[:-1], "2"], "--resume: --only-shot is 2, and was 3"),
                            ([*shot, "--data-size", "2"], "--resume: --data-size is 2.0, and was 0.0")):
            self.refuse([*asked, *more, "--resume", "--out", "shot"], words)
        os.remove(self.path("shot/shot_0003.npy"))
        folder, _ = self.succeed(*asked, *shot, "--resume", out="shot")
        self.assertEqual(np.load(os.path.join(folder, "shot_0003.npy")).shape, (2, *self.shape))
        # its number belongs to a summary whose parts lack the state of a search
        self.invert(*self.shots, "--iterations", "1", out="part")
        with open(self.path("part/summary.json"), encoding="utf-8") as file:
            summary = json.load(file)
        with open(self.path("shot/summary.json"), encoding="utf-8") as file:
            summary["parts"] = json.load(file)["parts"]
        os.rename(self.path("shot/shot_0003.npy"), self.path("part/shot_0003.npy"))
        summary["state"] = "interrupted"
        self.write("part/summary.json", json.dumps(summary))
        self.refuse([*asked, *self.shots, "--iterations", "1", "--resume", "--out", "part"],
                    "does not say its band")

    def test_folders_of_users_stay(self):
        for folder in ("sites", "ranks", ".moho_sites"):
            os.makedirs(self.path(f"out/{folder}"))
            self.write(f"out/{folder}/mine.txt", folder)
        self.invert(*self.shots, "--iterations", "1")
        for folder in ("sites", "ranks", ".moho_sites"):
            with open(self.path(f"out/{folder}/mine.txt"), encoding="utf-8") as file:
                self.assertEqual(file.read(), folder)


class AtOnce(Case):
    """Concurrent shots have the bits of consecutive ones."""

    def arguments(self, count, *more):
        return [*self.shots, "--iterations", "2", "--bands", "5,9", "--space", "serial", "--at-once",
                str(count), *more]

    def test_same_bits(self):
        for field in ("shell", "random", "stored"):
            one = self.invert(*self.arguments(1, "--source-field", field), out="one")
            self.assertIn("1 shot at once", one.text)
            for count in (2, 5):
                many = self.invert(*self.arguments(count, "--source-field", field), out="many")
                self.assertIn(f"{count} shots at once", many.text)
                self.assert_same_files(self.results, "one", "many")
                self.expect_same_history(one, many)

    def test_a_kill_is_gone_on_with(self):
        whole = self.invert(*self.arguments(1), out="whole")
        command = [self.program, "--vp", "start.npy", *self.survey, *self.arguments(3), "--no-plot", "--out",
                   "part"]
        with subprocess.Popen(command, cwd=self.folder, stdout=subprocess.PIPE, text=True) as process:
            for line in process.stdout:
                if line.startswith("evaluated 2:"):
                    process.send_signal(signal.SIGKILL)
                    break
        self.assertNotEqual(process.returncode, 0)
        again = self.invert(*self.arguments(2), "--resume", out="part")
        self.assertRegex(again.text, "evaluations? (is|are) complete")
        self.assert_same_files(self.results, "whole", "part")
        self.expect_same_history(whole, again)

    def test_too_many(self):
        more = ["--source-field", "stored", "--memory", "2M"]
        self.invert(*self.arguments(1, *more))
        self.refuse(["--vp", "start.npy", *self.survey, *self.arguments(5, *more)],
                    "--source-field stored: it takes", "fewer shots --at-once")


class Ranks(Case):
    """Ranks share the shots of every evaluation: any number of ranks gives the same bits."""

    def setUp(self):
        super().setUp()
        self.needs_mpirun()
        self.arguments = ["--vp", "start.npy", *self.survey, *self.shots, "--iterations", "2", "--bands",
                          "5,9", "--space", "serial"]

    def rows(self, folder):
        with open(self.path(folder + "/history.csv"), encoding="utf-8", newline="") as file:
            return [[value for key, value in row.items() if key != "seconds"] for row in csv.DictReader(file)]

    def test_same_bits(self):
        self.succeed(*self.arguments, out="one")
        os.makedirs(self.path("many/ranks"))
        self.write("many/ranks/mine.txt", "mine")
        for ranks in (1, 2, 3):
            self.succeed(*self.arguments, out="many", ranks=ranks)
            self.assertTrue(os.path.exists(self.path("many/ranks/mine.txt")))
            self.assert_same_files(self.results, "one", "many")
            self.assertEqual(self.rows("one"), self.rows("many"))

    def test_ranks_take_the_way_that_fits_on_all(self):
        """Shell fits on one rank and only replay on the other: both use replay, with its bits."""
        self.succeed(*self.arguments, "--source-field", "replay", out="one")
        one, other = ([self.program, *self.arguments, "--no-plot", "--out", "many", "--memory",
                       memory] for memory in ("4M", "2600K"))
        for first, second in ((one, other), (other, one)):
            done = subprocess.run([self.mpirun, "--oversubscribe", "-n", "1", *first, ":", "-n", "1",
                                   *second],
                                  cwd=self.folder, capture_output=True, text=True, timeout=500,
                                  env={**os.environ, **self.of_ranks}, check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertIn("source's wavefield by replay", done.stdout)
            self.assert_same_files(self.results, "one", "many")

    def test_time_that_is_over(self):
        self.succeed(*self.arguments, out="one")
        late = {"SLURM_JOB_END_TIME": str(int(time.time()) + 7)}
        arguments = [word if word != "2" else "50" for word in self.arguments]
        done = self.call(*arguments, "--no-plot", "--out", "many", environment=late, ranks=2)
        self.assertEqual(done.returncode, 75, done.stdout + done.stderr)
        self.assertIn("evaluations are complete: the next would not end before its job", done.stderr)

    def test_several_unknowns_and_one_shot_alone(self):
        self.save("rho.npy", (1500.0 + 0.2 * self.start).astype(np.float32))
        self.save("true_rho.npy", (1500.0 + 0.2 * self.true).astype(np.float32))
        arguments = ["--vp", "start.npy", *self.survey, *self.shots, "--rho", "rho.npy", "--true-rho",
                     "true_rho.npy", "--parameters", "vp,rho", "--iterations", "1", "--space", "serial"]
        self.succeed(*arguments, out="one")
        self.succeed(*arguments, out="many", ranks=2)
        self.assert_same_files(["vp.npy", "rho.npy", "gradient_rho.npy"], "one", "many")
        folder, _ = self.succeed(*arguments, "--only-shot", "3", out="shot")
        self.assertEqual(np.load(os.path.join(folder, "shot_0003.npy")).shape, (3, *self.shape))
        with open(os.path.join(folder, "summary.json"), encoding="utf-8") as file:
            self.assertGreater(json.load(file)["parts"][0]["more"]["misfit"], 0.0)

    def test_gradients_stream(self):
        """Streamed shots of ranks, and of one process, have the bits of one process in core."""
        arguments = [*self.arguments, "--source-field", "random"]
        stream = ["--block", "7", "--updates", "8"]
        self.succeed(*arguments, out="one")
        self.succeed(*arguments, *stream, out="many", ranks=2)
        self.assert_same_files(self.results, "one", "many")
        columns = slice(0, 10)  # the columns that follow: updated nodes
        self.assertEqual([row[columns] for row in self.rows("one")],
                         [row[columns] for row in self.rows("many")])
        with open(self.path("many/summary.json"), encoding="utf-8") as file:
            summary = json.load(file)
        self.assertEqual((summary["ranks"], summary["stream"]["block"], summary["stream"]["updates"]),
                         (2, 7, 8))
        self.save("model.npy", np.stack([self.start + 20.0]).astype(np.float32))
        shot = ["--only-shot", "2", "--evaluate", "model.npy", "--band", "2"]
        self.succeed(*arguments, *shot, out="shot")
        self.succeed(*arguments, *shot, *stream, out="shot_stream")
        self.assert_same_files(["shot_0002.npy"], "shot", "shot_stream")
        parts = []
        for folder in ("shot", "shot_stream"):
            with open(self.path(folder + "/summary.json"), encoding="utf-8") as file:
                parts.append(json.load(file)["parts"][0]["more"]["misfit"])
        self.assertEqual(*parts)

    def test_errors_end_all_with_one_message(self):
        for more, said in ((["--source-field", "random", "--block", "1000"], "--block is 1000"),
                           (["--source-field", "random", "--updates", "4", "--lags", "90"],
                            "--lags: the largest along x is 90 nodes"),
                           (["--source-field", "random", "--devices", "2"],
                            "--devices is 2, and there are 2 ranks"),
                           (["--mask", "none.npy"], "--mask: cannot read 'none.npy'"),
                           (["--bounds", "vp:1500:9000"], "--dt is 0.002 s"),
                           (["--source-field", "stored", "--memory", "1M"],
                            "--source-field stored: it takes")):
            self.refuse([*self.arguments, *more], said, ranks=2)
        self.write("sites.cfg", "[here]\nkind = local\n")
        self.refuse([*self.arguments, "--sites", "sites.cfg"], "--sites: mpirun started 2 ranks", ranks=2)


if __name__ == "__main__":
    sys.exit(support.main(__doc__))
