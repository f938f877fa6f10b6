# SPDX-License-Identifier: BSD-3-Clause
"""Cases of the tests of distribute_shots: the program of a shot, and sites."""

import os
import random
import subprocess
import sys
import time

import services
import support

# Program of a shot: counts its runs, fails on request, waits, and writes a text with its number.
SHOT = r"""
import os, sys, time
shot, out, rest = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
seconds = float(rest[0]) if rest else 0.0
tries = rest[1] if len(rest) > 1 else ""
what = rest[2] if len(rest) > 2 else ""
if what:
    kind, shots = what.split(":")
    path = os.path.join(tries, str(shot))
    before = int(open(path).read()) if os.path.exists(path) else 0
    with open(path + ".new", "w") as file:
        file.write(str(before + 1))
    os.replace(path + ".new", path)
    if str(shot) in shots.split(","):
        if kind == "fail": print("it went wrong"); sys.exit(1)
        if kind == "once" and before == 0: print("it went wrong"); sys.exit(1)
        if kind == "kill": os.kill(os.getpid(), 9)
        if kind == "bad": print("vp.npy is no model"); sys.exit(2)
        if kind == "none": sys.exit(0)
time.sleep(seconds)
with open(os.path.join(out, "data.txt"), "w") as file:
    file.write(f"shot {shot}\n" * 1000)
"""


class DistributeCase(support.Case):
    services = None
    environment = {}

    def setUp(self):
        super().setUp()
        os.chmod(self.folder, 0o755)
        self.script = self.write("shot.py", SHOT)
        self.tries = self.path("tries")
        os.mkdir(self.tries)
        self.sites("[here]\nkind = local\nslots = 2\n")

    def sites(self, text):
        return self.write("sites.cfg", text)

    def words(self, shots, *arguments, seconds=0.0, what="", journal="run/journal.txt", collect=True):
        return ["--sites", self.path("sites.cfg"), "--journal", self.path(journal), "--shots", shots,
                *(["--collect", self.path("got")] if collect else []), *arguments, "--", sys.executable,
                self.script, "{shot}", "{out}", str(seconds), self.tries, what]

    def go(self, *arguments, status=0, **more):
        done = self.call(*self.words(*arguments, **more), environment=self.environment)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def assert_there(self, shots):
        for shot in shots:
            with open(self.path(f"got/shot_{shot}/data.txt")) as file:
                self.assertEqual(file.read(), f"shot {shot}\n" * 1000)

    def runs(self, shot):
        try:
            return int(open(os.path.join(self.tries, str(shot))).read())
        except FileNotFoundError:
            return 0

    def begin(self, *arguments, **more):
        return subprocess.Popen([self.program, *self.words(*arguments, **more)], cwd=self.folder, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                env={**os.environ, **self.environment})


class PlacesCase(DistributeCase):
    """Base of tests of programs with --sites, over all kinds of sites available here."""

    def other(self, name):
        path = os.path.join(os.path.dirname(self.program), name)
        return path if os.path.exists(path) else self.skipTest("there is no " + name)

    def places(self, programs=""):
        """Writes a sites file with local processes, and with ssh and Slurm if available."""
        here = f"programs = {programs}\n" if programs else ""
        text = "[here]\nkind = local\nslots = 1\n" + here
        environment = {}
        self.sshd = None
        if not services.missing(*services.Sshd.needs):
            self.sshd = services.Sshd(self.path("ssh"))
            self.addCleanup(self.sshd.stop)
            there = programs or os.path.dirname(self.program)
            text += (f"[far]\nhost = far\nfolder = {self.path('far')}\nprograms = {there}\nslots = 1\n"
                     f"ssh_option = -F{self.sshd.config}\n")
        if not services.missing(*services.Slurm.needs):
            slurm = services.Slurm(self.path("slurm"), cpus=1)
            self.addCleanup(slurm.stop)
            text += "[cluster]\nkind = slurm\njobs = 1\n" + here
            environment = slurm.environment
        self.sites(text)
        return environment

    def same(self, names, a, b):
        for name in names:
            with open(os.path.join(self.path(a), name),
                      "rb") as one, open(os.path.join(self.path(b), name), "rb") as two:
                self.assertEqual(one.read(), two.read(), name)

    summary = support.NothingIsLost.summary

    def run_program(self, program, *arguments, environment=None, status=0):
        done = subprocess.run([program, *map(str, arguments), "--no-plot"], cwd=self.folder, text=True,
                              env={**os.environ, **(environment or {})}, capture_output=True, timeout=500)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def finish_with_kills(self, begin, seconds, kills, attempts, seed, after_kill=lambda: None):
        """Starts a run until it succeeds, and kills it after random times. Returns the number of kills.

        begin(resume) starts the process, from the second time with --resume. A time before a kill is
        between both `seconds`; `kills` is the largest number of kills, `attempts` that of starts. The third
        kill also cuts the connection of ssh for half a second.
        """
        times = random.Random(seed)
        done = 0
        for attempt in range(attempts):
            process = begin(["--resume"] if attempt else [])
            try:
                text, _ = process.communicate(timeout=times.uniform(*seconds) if done < kills else 400)
                self.assertEqual(process.returncode, 0, text)
                return done
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
            done += 1
            after_kill()
            if done == 3 and self.sshd:
                self.sshd.cut()
                time.sleep(0.5)
                self.sshd.begin()
        return self.fail(f"the run has not succeeded after {attempts} starts")
