# SPDX-License-Identifier: BSD-3-Clause
"""Shared parts of the tests of all example programs: runs, pictures, and common tests.

The process exits with status 77 if numpy is missing.
"""

import argparse
import contextlib
import fcntl
import importlib
import importlib.util
import io
import json
import os
import re
import resource
import signal
import stat
import subprocess
import sys
import tempfile
import time
import unittest

try:
    import numpy as np
except ImportError:
    print("skipped: numpy is missing, install python3-numpy")
    sys.exit(77)

PLOTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "plots")
PNG = b"\x89PNG\r\n\x1a\n"


class Case(unittest.TestCase):
    """Case with a separate folder, in which the program runs."""

    program = ""  # path of the program
    mpirun = ""   # path of mpirun, for programs that know it
    data = ""     # folder of data that tests may use
    modeller = "" # path of model_waves, for programs that are compared with it
    # variables of runs of several ranks: their threads share few processors
    of_ranks = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMP_NUM_THREADS": "1",
                "OMPI_MCA_btl_vader_single_copy_mechanism": "none", "OMPI_MCA_mpi_yield_when_idle": "1"}

    def setUp(self):
        self._folder = tempfile.TemporaryDirectory(prefix="moho_")
        self.folder = self._folder.name

    def tearDown(self):
        end = time.monotonic() + 5.0
        while True:
            try:
                return self._folder.cleanup()
            except OSError:  # jobs that are ending may still write there
                if time.monotonic() > end:
                    raise
                time.sleep(0.1)

    @property
    def name(self):
        return os.path.basename(self.program)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, content):
        with open(self.path(name), "wb" if isinstance(content, bytes) else "w") as file:
            file.write(content)
        return self.path(name)

    def save(self, name, array):
        np.save(self.path(name), array)
        return self.path(name)

    def call(self, *arguments, environment=None, ranks=0, **more):
        command = [self.program, *map(str, arguments)]
        variables = dict(environment or {})
        if ranks:
            command = [self.mpirun, "--oversubscribe", "-n", str(ranks), *command]
            variables.update(self.of_ranks)
        more = {"capture_output": True, **more}
        try:
            return subprocess.run(command, cwd=self.folder, text=True, env={**os.environ, **variables},
                                  timeout=500, **more)
        except subprocess.TimeoutExpired as late:
            self.fail(f"no end after 500 s: {command}\n{late.stdout}\n{late.stderr}")

    def succeed(self, *arguments, out="out", plot=False, ranks=0):
        """Runs the program, which must succeed; a single process must not write to stderr.

        Returns its folder and its text.
        """
        done = self.call(*arguments, "--out", out, *([] if plot else ["--no-plot"]), ranks=ranks)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        if not ranks:
            self.assertEqual(done.stderr, "")
        return self.path(out), done.stdout

    def peak(self, *arguments):
        """Runs the program, which must succeed. Returns its peak memory in bytes."""
        # A process begins with the peak of its parent: a parent without numpy starts it.
        starts = ("import os, sys\nchild = os.fork()\nif child == 0: os.execv(sys.argv[1], sys.argv[1:])\n"
                  "_, status, usage = os.wait4(child, 0)\nprint('peak', usage.ru_maxrss)\n"
                  "sys.exit(os.waitstatus_to_exitcode(status))")
        done = subprocess.run([sys.executable, "-E", "-s", "-S", "-c", starts, self.program,
                               *map(str, arguments), "--no-plot", "--out", "out"], cwd=self.folder,
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return int(done.stdout.split()[-1]) * 1024

    def sanitized(self):
        """True if the program was built with the Address sanitizer."""
        with open(self.program, "rb") as file:
            return b"__asan_init" in file.read()

    def needs_mpirun(self):
        if not self.mpirun:
            self.skipTest("there is no mpirun")

    def start_ranks(self, ranks, *arguments, **more):
        """Starts mpirun with the program; it and its ranks are killed when the test ends."""
        process = subprocess.Popen([self.mpirun, "--oversubscribe", "-n", str(ranks), self.program,
                                    *map(str, arguments), "--no-plot"], cwd=self.folder, text=True,
                                   env={**os.environ, **self.of_ranks}, **more)
        self.addCleanup(lambda: process.poll() is None and self.kill_ranks(process))
        return process

    def kill_ranks(self, process, last=0):
        """Kills all ranks of mpirun, or the last ones, and waits for mpirun.

        mpirun must end ranks that are left. After all were killed, a mpirun that does not end is killed.
        """
        with open(f"/proc/{process.pid}/task/{process.pid}/children", encoding="utf-8") as file:
            ranks = [int(rank) for rank in file.read().split()]
        for rank in ranks[-last:]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(rank, signal.SIGKILL)
        try:
            process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            for rank in ranks:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(rank, signal.SIGKILL)
            process.kill()
            process.communicate()
            self.assertFalse(last, "mpirun did not end the other ranks")
            print("mpirun did not end after its ranks were killed", file=sys.stderr)

    def assert_same_files(self, names, one, other):
        """Asserts that two folders have the same bytes in these files."""
        for name in names:
            with open(os.path.join(self.path(one), name),
                      "rb") as a, open(os.path.join(self.path(other), name), "rb") as b:
                self.assertEqual(a.read(), b.read(), name)

    def refuse(self, arguments, *words, status=2, ranks=0):
        """The program must refuse: exit status, one short message with the words, and no results."""
        done = self.call(*arguments, "--no-plot", ranks=ranks)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        if not ranks:
            self.assertTrue(done.stderr.startswith(self.name + ": "), done.stderr)
            self.assertLessEqual(done.stderr.count("\n"), 3, done.stderr)
        said = [line for line in done.stderr.splitlines() if line.startswith(self.name + ": ")]
        self.assertEqual(len(said), 1, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        self.assertFalse(os.path.exists(self.path(self.name + "_out/summary.json")))
        return done.stderr

    def on_host(self):
        """Returns the options of a run on the host, also in builds whose default is a device."""
        return ["--space", "openmp"] if "cuda" in self.spaces() else []

    def spaces(self):
        """Returns the execution spaces of the program."""
        text = self.call("--version").stdout
        return [name for name in ("serial", "openmp", "cuda") if name in text]

    def assert_picture(self, path):
        with open(path, "rb") as file:
            self.assertEqual(file.read(8), PNG)

    def plot(self, script, *arguments):
        """Runs a plot program in this process, where matplotlib is loaded once.

        Returns status, stdout and stderr.
        """
        if importlib.util.find_spec("matplotlib") is None:
            self.skipTest("matplotlib is missing, install python3-matplotlib")
        if PLOTS not in sys.path:
            sys.path.insert(0, PLOTS)
        module = importlib.import_module(script)
        out, err = io.StringIO(), io.StringIO()
        before = sys.argv, os.getcwd()
        sys.argv = [script + ".py", *map(str, arguments)]
        os.chdir(self.folder)
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                try:
                    status = module.main()
                except SystemExit as end:
                    status = end.code
        finally:
            sys.argv = before[0]
            os.chdir(before[1])
        return status, out.getvalue(), err.getvalue()

    def draw(self, script, folder, *pictures):
        """Draws the pictures of results in this process, at low resolution."""
        self.assertEqual(self.plot(script, folder, "--dpi", 40), (0, "", ""))
        for picture in pictures:
            self.assert_picture(os.path.join(folder, picture))

    def needs_matplotlib(self):
        if importlib.util.find_spec("matplotlib") is None:
            self.skipTest("matplotlib is missing, install python3-matplotlib")

    def python_without_packages(self):
        """A Python without site packages, as on a machine without numpy and matplotlib."""
        wrapper = self.write("python", f'#!/bin/sh\nexec "{sys.executable}" -E -s -S "$@"\n')
        os.chmod(wrapper, os.stat(wrapper).st_mode | stat.S_IXUSR)
        if subprocess.run([wrapper, "-c", "import matplotlib"], capture_output=True).returncode == 0:
            self.skipTest("this Python finds matplotlib without its site packages")
        return wrapper


def npy(array):
    """Returns the bytes of an array's file."""
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


class DataChecks:
    """Data that do not fit the model or cannot be used. Subclasses have the members of DataWavelets."""

    def refuse_data(self, data, more, *words):
        """Asserts status 2, one line, and no result."""
        done = self.call(*self.model, *more, self.option, data, "--no-plot", "--out", "bad")
        self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stdout + done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        self.assertEqual([name for name in os.listdir(self.path("bad")) if not name.startswith(".")]
                         if os.path.exists(self.path("bad")) else [], [])

    def other_spacing(self, spacing, *more):
        survey = list(self.survey)
        survey[survey.index("--spacing") + 1] = spacing
        return [*survey, *more]

    def test_positions_outside(self):
        self.model_data([], "d")
        own = self.survey[self.survey.index("--spacing") + 1]
        half = str(int(own) / 2)
        for data in ("d", "d/gather.sgy"):
            self.refuse_data(data, self.other_spacing(half), f"{self.option} {data}: 1 of 2 shots and ",
                             "check --spacing", "; --allow-left-out leaves them out")
            self.refuse_data(data, [*self.survey, "--origin", "400,0"], "1 of 2 shots and ", "check --origin")
            done = self.call(*self.model, *self.other_spacing(half), self.option, data, "--plan",
                             "--allow-left-out", "--wavelet", "ricker:15")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("1 shot left out", done.stdout)
        self.refuse_data("d", self.other_spacing("0.5", "--allow-left-out"), "2 of 2 shots and ",
                         "check --spacing")
        self.refuse_data("d/gather.sgy", [*self.survey, "--elevations", "depth"], "try --elevations standard")

    def test_intervals(self):
        self.model_data(["--interval", "0.0015"], "d")
        with open(self.path("d/gather.sgy"), "rb") as file:
            content = bytearray(file.read())
        for interval, said in ((1500, ""), (4000, " s after first arrivals of the model (median of "),
                               (400, " s before first arrivals of the model (median of ")):
            samples = int.from_bytes(content[3220:3222], "big")
            content[3216:3218] = interval.to_bytes(2, "big")
            for trace in range(3600, len(content), 240 + 4 * samples):
                content[trace + 116:trace + 118] = interval.to_bytes(2, "big")
            self.write("line.sgy", bytes(content))
            at = self.survey.index("--time")
            survey = self.survey[:at] + self.survey[at + 2:]
            done = self.call(*self.model, *survey, self.option, "line.sgy", "--plan")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual("note: the data begin" in done.stdout, bool(said), done.stdout)
            self.assertIn(said, done.stdout)
            self.assertEqual("check the interval between samples (--data-interval)" in done.stdout,
                             bool(said))

    def test_traces_are_checked_first(self):
        self.model_data([], "d")
        good = np.load(self.path("d/gather_0002.npy"))
        nan = good.copy()
        nan[3, 5] = np.nan
        for content, words in ((npy(nan), ("shot 2: trace 4 is nan at sample 6",)),
                               (npy(good[:, :-7]), ("samples in a trace",)),
                               (npy(good)[:-100], ("gather_0002.npy",)),
                               (npy(good.astype("M8[s]")), ("gather_0002.npy",)),
                               (npy(good[:-1]), ("gather_0002.npy' has the shape",))):
            self.write("d/gather_0002.npy", content)
            self.refuse_data("d", self.survey, f"{self.option} d: ", *words)


class DataWavelets:
    """The wavelet of data of model_waves. Subclasses set `option`, `model`, and `survey` without --wavelet.
    """

    option = ""  # "--shots"
    model = []  # arguments of the starting model
    survey = []  # arguments that the modelling program and the tested one share
    spread = []  # sources and receivers

    def model_data(self, wavelet, out):
        if not self.modeller:
            self.skipTest("model_waves was not built")
        done = subprocess.run([self.modeller, *self.model, *self.survey, *self.spread, *wavelet,
                               "--snapshot-every", "0", "--no-plot", "--out", out], cwd=self.folder,
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def plan(self, data, *more):
        """Returns the wavelet that the program prints, and the exit status or the message."""
        done = self.call(*self.model, *self.survey, self.option, data, "--plan", *more)
        if done.returncode == 0:
            return done.stdout.split(" wavelet ")[1].split(", up to")[0]
        self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)
        return done.stderr

    def test_the_wavelet_of_data(self):
        self.model_data(["--wavelet", "ricker:12"], "d")
        text = "the textual header of 'd/gather.sgy'"
        self.assertEqual(self.plan("d"), "ricker:12 (by 'd/summary.json')")
        self.assertEqual(self.plan("d/summary.json"), "ricker:12 (by 'd/summary.json')")
        self.assertEqual(self.plan("d/gather.sgy"), f"ricker:12 (by {text})")
        # the wavelet in other words
        self.assertEqual(self.plan("d", "--wavelet", "ricker:12.0:0.125"), "ricker:12.0:0.125")
        for data, where in (("d", "'d/summary.json'"), ("d/gather.sgy", text)):
            for wavelet in ("ricker:10", "ricker:12:0.2", "ormsby:2,4,12,20", "ricker:80"):
                said = self.plan(data, "--wavelet", wavelet)
                self.assertIn(f"--wavelet is {wavelet}, and {where} names ricker:12 (allowed: the wavelet of "
                              "the data): "
                              "leave it out, or add --replace-wavelet", said)
            said = self.plan(data, "--wavelet-zero", "peak")
            self.assertIn(f"--wavelet-zero is peak, and by {where} time zero of the data is the start", said)
            said = self.plan(data, "--wavelet", "ricker:10", "--replace-wavelet", "--wavelet-zero", "peak")
            self.assertEqual(said, f"ricker:10 ({where} names ricker:12)")
        # data without a wavelet, and a folder whose files name different wavelets
        self.assertIn("--replace-wavelet needs --wavelet", self.plan("d", "--replace-wavelet"))
        with open(self.path("d/gather.sgy"), "rb") as file:
            content = file.read()
        os.mkdir(self.path("line"))
        self.write("line/1.sgy", content)
        blank = "C 1 WAVELET: a minimum-phase one".ljust(3200).encode("cp500")
        self.write("line/2.sgy", blank + content[3200:])
        self.assertEqual(self.plan("line/2.sgy"), "ricker:15 (default: the data name none)")
        self.assertEqual(self.plan("line"), "ricker:12 (by the textual header of 'line/1.sgy')")
        self.write("line/2.sgy", content[:3200].replace("ricker:12".encode("cp500"),
                                                        "ricker:13".encode("cp500")) +
                   content[3200:])
        self.assertIn("'line' has files of different wavelets, ricker:1", self.plan("line"))

    def test_a_wavelet_in_a_file(self):
        times = np.arange(0.0, 0.3, 0.002)
        a = (np.pi * 12.0 * (times - 0.125)) ** 2
        np.savetxt(self.path("w.csv"), np.stack([times, (1.0 - 2.0 * a) * np.exp(-a)], axis=1), delimiter=",")
        self.model_data(["--wavelet", "file:w.csv"], "d")
        path = os.path.realpath(self.path("w.csv"))
        self.assertEqual(self.plan("d"), f"file:{path} (by 'd/summary.json')")
        self.assertEqual(self.plan("d/gather.sgy"), "file:w.csv (by the textual header of 'd/gather.sgy')")
        # other names of the same wavelet
        self.assertEqual(self.plan("d", "--wavelet", "ricker:12"), "ricker:12")
        self.assertIn("--wavelet is ricker:13, and 'd/summary.json' names file:",
                      self.plan("d", "--wavelet", "ricker:13"))
        # in the folder of the data
        os.rename(self.path("w.csv"), self.path("d/w.csv"))
        self.assertEqual(self.plan("d"), "file:d/w.csv (by 'd/summary.json')")
        self.assertEqual(self.plan("d/gather.sgy"), "file:d/w.csv (by the textual header of 'd/gather.sgy')")
        os.rename(self.path("d/w.csv"), self.path("moved.csv"))
        for data in ("d", "d/gather.sgy"):
            self.assertEqual(self.plan(data, "--wavelet", "moved.csv"), "moved.csv")
            said = self.plan(data)
            self.assertIn("--wavelet is missing: ", said)
            self.assertIn("names file:w.csv, and this file was not found or has changed since", said)
            self.assertIn("--wavelet is ricker:12, and ", self.plan(data, "--wavelet", "ricker:12"))
        with open(self.path("moved.csv")) as file:
            self.write("w.csv", file.read() + "0.3,0.5\n")
        self.assertIn("was not found or has changed since", self.plan("d"))
        self.assertIn("--wavelet is w.csv, and ", self.plan("d", "--wavelet", "w.csv"))


class SharedRuns:
    """Runs that several tests of a class share, made once."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls._runs = {}
        cls._shared = tempfile.TemporaryDirectory(prefix="moho_")

    @classmethod
    def tearDownClass(cls):
        cls._shared.cleanup()
        super().tearDownClass()

    def shared(self, make, *arguments):
        """Returns the result of the first make(*arguments, out=folder)."""
        key = tuple(map(str, arguments))
        if key not in self._runs:
            self._runs[key] = make(*arguments, out=os.path.join(self._shared.name, str(len(self._runs))))
        return self._runs[key]


class EveryProgram:
    """Tests of every program. Subclasses name a small run and the plot program."""

    small = []
    script = ""

    def test_help_and_version(self):
        done = self.call("--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for word in ("--space", "--out", "--config", "--no-plot", "Examples", self.name):
            self.assertIn(word, done.stdout)
        self.assertNotIn("\n\n\n", done.stdout)
        done = self.call("--version")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for word in (self.name, "Kokkos"):
            self.assertIn(word, done.stdout)

    def test_output_that_cannot_be_written(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("there is no /dev/full")
        for arguments in (["--help"], ["--version"], [*self.small, "--no-plot"]):
            with open("/dev/full", "w") as full:
                done = self.call(*arguments, capture_output=False, stdout=full, stderr=subprocess.PIPE)
            self.assertEqual(done.returncode, 1, arguments)
            self.assertIn("standard output: what was printed could not be written", done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_more_threads_than_there_is_room_for(self):
        if "openmp" not in self.spaces():
            self.skipTest("this build has no OpenMP")
        for environment, option, count in (({"OMP_NUM_THREADS": "600"}, [], 600),
                                           ({}, ["--kokkos-threads=100000"], 100000)):
            done = self.call(*self.small, "--no-plot", *option, environment=environment)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(f"for {count} threads (allowed: 1 to 512", done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_threads_bound_to_one_processor(self):
        if "openmp" not in self.spaces() or os.cpu_count() < 2 or len(os.sched_getaffinity(0)) < 2:
            self.skipTest("this takes OpenMP and two processors")
        one = {min(os.sched_getaffinity(0))}
        arguments = [*self.small, "--no-plot", "--space", "openmp", "--out", "out"]
        done = self.call(*arguments, environment={"OMP_NUM_THREADS": "2"},
                         preexec_fn=lambda: os.sched_setaffinity(0, one))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("2 threads share 1 of this machine's", done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        with open(self.path("out/summary.json"), encoding="utf-8") as file:
            self.assertIn("2 threads share 1 of this machine's", file.read())

    def test_plot_program_of_another_folder(self):
        os.mkdir(self.path("plots"))
        self.write(os.path.join("plots", self.script + ".py"),
                   "print('mine was here')\nraise SystemExit(1)\n")
        done = self.call(*self.small, environment={"MOHO_PLOT_DIR": self.path("plots")})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"not drawn: {self.script}.py failed: mine was here", done.stdout)

    def test_pictures_that_are_not_drawn(self):
        for python, words in ((self.path("no"), ["MOHO_PYTHON is /", f"run {self.script}.py later"]),
                              (self.python_without_packages(), ["has no "])):
            done = self.call(*self.small, environment={"MOHO_PYTHON": python})
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            line = done.stdout.strip().splitlines()[-1]
            self.assertRegex(line, "^pictures? not drawn: ")
            for word in [*words, "install python3-matplotlib"]:
                self.assertIn(word, line)
            with open(self.path(self.name + "_out/summary.json"), encoding="utf-8") as file:
                text = file.read()
            self.assertIn('"picture": "not drawn: ', text)
            self.assertNotIn(".png", text)


class NothingIsLost:
    """Tests that no program loses files of others. Subclasses name a small run and its results.

    Only with inputs: `read` is a list of (result, content, arguments that read a file, option). The arguments
    are arguments(path).
    """

    small = []    # a quick run
    slow = []  # arguments of a run of some seconds
    results = []  # names of files that the quick run writes
    former = ""   # name of a file that other runs of the program write
    read = []
    rough = []    # arguments before a shape, for runs by size
    shapes = []   # of these sizes, some 50 MiB and more
    large = []  # other shapes of 50 MiB and more, if those of `shapes` read files

    def files(self, folder="out"):
        return sorted(os.listdir(self.path(folder)))

    def summary(self, folder="out"):
        with open(os.path.join(self.path(folder), "summary.json"), encoding="utf-8") as file:
            return json.load(file)

    def content(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def run_small(self, *more, out="out", **how):
        return self.call(*self.small, "--no-plot", "--out", out, *more, **how)

    def assert_refused(self, done, *words):
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)

    def test_results_do_not_replace_inputs(self):
        for number, (result, content, arguments, option) in enumerate(self.read):
            out = f"out{number}"
            os.mkdir(self.path(out))
            inside = os.path.join(out, result)
            self.write(inside, content)
            os.symlink(self.path(inside), self.path(f"symbolic{number}_{result}"))
            os.link(self.path(inside), self.path(f"hard{number}_{result}"))
            for name in (inside, f"symbolic{number}_{result}", f"hard{number}_{result}"):
                done = self.call(*arguments(name), "--no-plot", "--out", out)
                self.assert_refused(done, f"--{option} {name}", inside, "would replace")
                self.assertEqual(self.content(inside), content)
                self.assertEqual(self.files(out), [result])
            # conversely: the name of a result leads to the input
            os.rename(self.path(inside), self.path(f"kept{number}_{result}"))
            os.symlink(self.path(f"kept{number}_{result}"), self.path(inside))
            done = self.call(*arguments(f"kept{number}_{result}"), "--no-plot", "--out", out)
            self.assert_refused(done, "would replace")
            self.assertEqual(self.content(f"kept{number}_{result}"), content)

    def test_files_of_others_are_refused_and_stay(self):
        for result in [*self.results, "summary.json"]:
            out = "out_" + result
            os.mkdir(self.path(out))
            self.write(os.path.join(out, result), '{"program": "another", "files": []}')
            self.assert_refused(self.run_small(out=out), os.path.join(out, result), "move it away")
            self.assertEqual(self.content(os.path.join(out, result)), b'{"program": "another", "files": []}')
            self.assertEqual(self.files(out), [result])

    def test_files_of_an_earlier_run(self):
        self.assertEqual(self.run_small().returncode, 0)
        before = self.summary()
        self.assertEqual(before["state"], "done")
        for name in self.results:
            self.assertIn(name, before["files"])
        # as if the earlier run had written more; paths outside of the folder and names that the program never
        # writes are not accepted
        before["files"] += [self.former, "../beside.npy", "../" + self.former]
        before["to_write"] = before["earlier_files"] = ["thesis.txt"]
        self.write("out/summary.json", json.dumps(before))
        for name in ("out/" + self.former, "out/mine.npy", "beside.npy", self.former, "out/thesis.txt"):
            self.write(name, "of somebody")
        # a failing run changes no file
        done = self.run_small("--space", "nowhere")
        self.assertEqual(done.returncode, 2)
        self.assertTrue(os.path.exists(self.path("out/" + self.former)))
        self.assertEqual(self.summary(), before)
        self.assertEqual(self.run_small().returncode, 0)
        self.assertFalse(os.path.exists(self.path("out/" + self.former)))
        for name in ("out/mine.npy", "beside.npy", self.former, "out/thesis.txt"):
            self.assertEqual(self.content(name), b"of somebody", name)
        self.assertEqual(sorted(self.summary()["files"]),
                         [n for n in self.files() if n not in ("mine.npy", "thesis.txt")])

    def test_results_go_through_no_link(self):
        """Names of results that lead elsewhere, or are no files, are refused; their targets stay."""
        self.assertEqual(self.run_small().returncode, 0)
        self.write("archive.npy", "of somebody")
        os.mkdir(self.path("folder"))

        def link(path):
            os.symlink(self.path("archive.npy"), path)

        for name in (self.results[0], self.results[-1], "summary.json"):
            path = self.path("out/" + name)
            os.rename(path, self.path("kept"))
            for make, kind in ((link, "symbolic link"),
                               (lambda path: os.symlink(self.path("nothing"), path), "symbolic link"),
                               (lambda path: os.symlink(self.path("folder"), path), "symbolic link"),
                               (os.mkdir, "a folder"), (os.mkfifo, "named pipe")):
                make(path)
                self.assert_refused(self.run_small(), f"out/{name} is a", kind, "move it away")
                self.assertEqual(self.content("archive.npy"), b"of somebody")
                self.assertFalse(os.path.exists(self.path("nothing")))
                self.assertTrue(os.path.lexists(path))
                (os.rmdir if make is os.mkdir else os.remove)(path)
            os.rename(self.path("kept"), path)
        # a second name of a result keeps the old file when the result is replaced
        os.remove(self.path("out/" + self.results[0]))
        os.link(self.path("archive.npy"), self.path("out/" + self.results[0]))
        # the folder may also be a link
        os.rename(self.path("out"), self.path("elsewhere"))
        os.symlink("elsewhere", self.path("out"))
        done = self.run_small()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.content("archive.npy"), b"of somebody")
        self.assertTrue(os.path.islink(self.path("out")))

    def test_messages_are_one_line(self):
        """Control characters of names are escaped."""
        done = self.run_small("--memory", "a\nb\x1b[2J\x07\u009bc\n")
        self.assert_refused(done, "a\\nb\\x1b[2J\\x07\\x9bc")
        self.assertEqual([c for c in done.stderr[:-1] if ord(c) < 32], [])

    def test_address_space_is_limited(self):
        """Under ulimit -v runs succeed, or report too little memory in a message of moho."""
        if self.sanitized():
            self.skipTest("sanitizers reserve addresses")
        if "cuda" in self.spaces():
            self.skipTest("CUDA reserves addresses")
        refused = 0
        for arguments in (self.small, *(self.large or self.shapes)):
            for mebibytes in (28, 34, 40, 60):
                size = mebibytes * 2 ** 20
                done = self.call(*arguments, "--no-plot", "--out", "out",
                                 environment={"OMP_NUM_THREADS": "1"},
                                 preexec_fn=lambda size=size: resource.setrlimit(resource.RLIMIT_AS,
                                                                                 (size, size)))
                if done.returncode == 0:
                    continue
                if re.search("error while loading shared libraries|GOMP|libgomp", done.stderr):
                    continue  # before the program begins
                refused += 1
                self.assertIn(done.returncode, (1, 2), done.stderr)
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
                self.assertRegex(done.stderr, f"^{self.name}: .*memory", (arguments, mebibytes))
                self.assertNotIn("Kokkos", done.stderr)
                self.assertRegex(done.stderr, "ulimit -v", (arguments, mebibytes))
        self.assertGreater(refused, 0)

    def test_a_lock_that_is_a_file_of_somebody(self):
        os.mkdir(self.path("out"))
        self.write("mine.txt", "of somebody")
        lock = self.path("out/.moho_lock")
        for make, word in ((lambda: os.link(self.path("mine.txt"), lock), "hard link"),
                           (lambda: os.symlink(self.path("mine.txt"), lock), "symbolic link"),
                           (lambda: os.symlink(self.path("nothing"), lock), "symbolic link"),
                           (lambda: self.write("out/.moho_lock", "of somebody"), "text that no run wrote"),
                           (lambda: os.mkfifo(lock), "named pipe")):
            make()
            self.assert_refused(self.run_small(), "out/.moho_lock", word, "move it away")
            self.assertEqual(self.content("mine.txt"), b"of somebody")
            self.assertFalse(os.path.exists(self.path("nothing")))
            self.assertEqual(self.files(), [".moho_lock"])
            os.remove(lock)

    def test_a_folder_belongs_to_one_run(self):
        os.mkdir(self.path("out"))
        with open(self.path("out/.moho_lock"), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            lock.write("somebody, process 12 on earth, since yesterday\n")
            lock.flush()
            self.assert_refused(self.run_small(), "in use by somebody, process 12 on earth, since yesterday")
            self.assertEqual(self.files(), [".moho_lock"])
        # the process with the lock was killed: its lock file still exists
        self.assertEqual(self.run_small().returncode, 0)
        self.assertNotIn(".moho_lock", self.files())

    def test_temporary_files_of_dead_runs(self):
        dead = subprocess.Popen(["true"])
        dead.wait()
        os.mkdir(self.path("out"))
        result = self.results[0]
        for name in (f"{result}.part-{dead.pid}-3", f"{result}.part-{os.getpid()}-0",
                     f"notes.part-{dead.pid}-0"):
            self.write("out/" + name, "half")
        self.assertEqual(self.run_small().returncode, 0)
        self.assertEqual([n for n in self.files() if ".part" in n],
                         sorted([f"{result}.part-{os.getpid()}-0", f"notes.part-{dead.pid}-0"]))

    def test_a_full_disk(self):
        size = os.path.getsize(os.path.join(self.succeed(*self.small)[0], self.results[0]))
        done = self.run_small(out="full", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE,
                                                                                (size - 1, size - 1)))
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("cannot write", done.stderr)
        self.assertIn("File too large", done.stderr)
        self.assertEqual([n for n in self.files("full") if ".part" in n or n == ".moho_lock"], [])

    def test_nobody_reads_what_is_printed(self):
        ends = os.pipe()
        os.close(ends[0])
        done = self.call(*self.small, "--no-plot", "--out", "out", capture_output=False, stdout=ends[1],
                         stderr=subprocess.PIPE)
        os.close(ends[1])
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("standard output: what was printed could not be written", done.stderr)
        self.assertEqual(self.summary()["state"], "done")

    def start(self, *arguments, out="out"):
        process = subprocess.Popen([self.program, *map(str, arguments), "--no-plot", "--out", out],
                                   cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(lambda: (process.poll() is None and process.kill(), process.communicate()))
        return process

    def wait_for(self, process, condition):
        while not condition():
            if process.poll() is not None:
                self.fail(f"the run ended before: {process.returncode}")
            time.sleep(0.005)

    def test_signals(self):
        for number, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            process = self.start(*self.slow)
            self.wait_for(process, lambda: os.path.exists(self.path("out/.moho_lock")))
            self.assert_refused(self.run_small(), "in use by " + self.name, f"process {process.pid} on ")
            process.send_signal(number)
            _, err = process.communicate(timeout=60)
            self.assertEqual(process.returncode, status, err)
            self.assertIn(f"{self.name}: ended by {number.name}: ", err)
            self.assertEqual(err.count("\n"), 1, err)
            self.assertEqual([n for n in self.files() if ".part" in n or n == ".moho_lock"], [])
        # an ignored signal stays ignored, as under nohup
        process = subprocess.run(["sh", "-c",
                                  'trap "" HUP; "$0" "$@" & p=$!; sleep 0.1; kill -HUP $p; wait $p',
                                  self.program, *map(str, self.small), "--no-plot", "--out", "nohup"],
                                 cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(process.returncode, 0, process.stderr)

    def test_names_that_are_no_text(self):
        folder = os.fsdecode(b"r\xff\xc3\xa9")
        done = subprocess.run([os.fsencode(self.program), *(os.fsencode(str(a)) for a in self.small),
                               b"--no-plot", b"--out", os.fsencode(folder)], cwd=self.folder,
                              capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.summary(folder)["asked"]["out"], "r\\xff\u00e9")

    def test_what_is_no_regular_file(self):
        os.mkfifo(self.path("pipe"))
        options = [["--config", "pipe"], ["--config", "/dev/zero"]]
        for result, _, arguments, _ in self.read:
            name = "pipe" + os.path.splitext(result)[1]
            if not os.path.exists(self.path(name)):
                os.mkfifo(self.path(name))
            options.append(arguments(name))
        for arguments in options:
            done = self.call(*arguments, "--no-plot", "--out", "out")
            self.assert_refused(done, "no regular file")

    def test_memory_is_known_before(self):
        if self.sanitized():
            self.skipTest("sanitizers take memory of their own")
        if "cuda" in self.spaces():
            self.skipTest("the libraries of a device take memory of their own")
        for arguments in self.shapes:
            peak = self.peak(*arguments)
            estimate = self.summary()["memory"]["estimate_bytes"]
            words = f"{arguments}: estimate {estimate / 2 ** 20:.1f} MiB, peak {peak / 2 ** 20:.1f} MiB"
            self.assertLessEqual(peak, estimate, words)
            self.assertLessEqual(estimate, 2 * peak, words)
            program = 24 * 2 ** 20
            if arguments is self.shapes[0]:
                # the estimate is enough; much less is refused before any allocation
                self.peak(*arguments, "--memory", int(estimate - program) + 2 ** 20)
                done = self.call(*arguments, "--no-plot", "--memory", int((estimate - program) / 3))
                self.assert_refused(done, "memory", "in all (allowed: ", "the --memory given", "would fit")
                # parts of the memory, the largest first
                parts = re.search(r"the --memory given; ([^)]*)\)", done.stderr)[1].split(", ")
                units = {"B": 1, "KiB": 2 ** 10, "MiB": 2 ** 20, "GiB": 2 ** 30}
                sizes = [float(part.split()[-2]) * units[part.split()[-1]] for part in parts]
                self.assertEqual(sizes, sorted(sizes, reverse=True), parts)
                taken = re.search(r" takes ([0-9.]+) ([KMG]iB) of memory in all", done.stderr)
                self.assertLessEqual(sum(sizes), 1.01 * float(taken[1]) * units[taken[2]], done.stderr)
                self.assertNotIn("picture", done.stderr)

    def test_a_picture_that_does_not_fit_is_left_out(self):
        if "cuda" in self.spaces():
            self.skipTest("--memory is that of the device")
        self.needs_matplotlib()
        done = self.call(*self.small, "--memory", "100M", "--out", "out")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout,
                         r"pictures? not drawn: drawing takes 16[0-9.]+ MiB of memory besides [0-9.]+ "
                         r"[KM]?i?B of "
                                      r"the run \(allowed: 100 MiB, the --memory given\)")
        self.assertFalse([name for name in self.files() if name.endswith(".png")])
        self.assertEqual(self.summary()["state"], "done")
        self.assertLess(self.summary()["memory"]["estimate_bytes"], 130e6)


def main(description, groups=None):
    """Runs the test classes that the command line names; `groups` are those of a run without names."""
    parser = argparse.ArgumentParser(description=description,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True, help="path of the program")
    parser.add_argument("--mpirun", default="", help="path of mpirun; empty if the program knows no MPI")
    parser.add_argument("--modeller", default="",
                        help="path of model_waves; tests that need it are skipped without")
    parser.add_argument("--data", default="", help="folder with data; tests that need it are skipped without")
    parser.add_argument("names", nargs="*", help="test classes or tests; all if none is named")
    arguments = parser.parse_args()
    Case.program = os.path.abspath(arguments.program)
    Case.mpirun = arguments.mpirun
    Case.data = arguments.data
    Case.modeller = os.path.abspath(arguments.modeller) if arguments.modeller else ""
    module = sys.modules["__main__"]
    loader = unittest.defaultTestLoader
    names = arguments.names or groups
    suite = loader.loadTestsFromNames(names, module) if names else loader.loadTestsFromModule(module)
    result = unittest.TextTestRunner(verbosity=2).run(suite)
    # a class that is skipped completely runs no test
    if result.wasSuccessful() and result.skipped and len(result.skipped) >= result.testsRun:
        return 77
    return 0 if result.wasSuccessful() and result.testsRun > 0 else 1


class Overflows:
    """Shared part of the tests of shots that overflow.

    The case has `call`, `path`, `folder`, `survey`, `shots` and `modeller`.
    """

    node = (r"the wavefield p is no longer finite "
            r"(at node|in the layer \d+ nodes outside of the model, near its node) \(\d+, \d+\)")

    def told(self, model, *arguments):
        """Returns the last line of a run over this model, for each shot: any concurrent shot may be first."""
        waves = [*self.survey[:2], *self.survey[4:]]  # all but the wavelet
        one = [] if "--at-once" in arguments else ["--at-once", "1"]
        done = self.call("--vp", model, *waves, *arguments, *one, "--no-plot", "--out", "out")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        lines = [line for line in done.stderr.splitlines() if "is no longer finite" in line]
        self.assertEqual(len(lines), 1, done.stderr)
        return lines[0]

    def huge_wavelet(self, rate):
        """Options of a wavelet that overflows, with an angular frequency in radians per second."""
        t = np.arange(151) * 0.002
        np.savetxt(self.path("huge.txt"), np.column_stack([t, 1e42 * np.sin(rate * t) * np.hanning(151)]))
        return ["--wavelet", "file:huge.txt"]

    def model_gathers(self):
        """Makes gathers of the true model with model_waves."""
        if not self.modeller:
            self.skipTest("there is no model_waves")
        done = subprocess.run([self.modeller, "--vp", "true.npy", *self.survey, *self.shots[4:],
                               "--snapshot-every", "0", "--no-plot", "--out", "gathers"], cwd=self.folder,
                              text=True, capture_output=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
