# SPDX-License-Identifier: BSD-3-Clause
"""Case of the tests of example programs, with runs and pictures, and their main function.

The process exits with status 77 if numpy is missing.
"""

import argparse
import contextlib
import importlib
import importlib.util
import io
import json
import os
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

    def assert_memory_is_planned(self, *arguments, ratio=2.0):
        """Runs the program, whose estimate of its memory must be at least the peak, at most `ratio` times it.

        Returns the estimate in bytes.
        """
        if self.sanitized():
            self.skipTest("sanitizers take memory of their own")
        if "cuda" in self.spaces():
            self.skipTest("the libraries of a device take memory of their own")
        peak = self.peak(*arguments)
        with open(self.path("out/summary.json"), encoding="utf-8") as file:
            estimate = json.load(file)["memory"]["estimate_bytes"]
        words = f"{arguments}: estimate {estimate / 2 ** 20:.1f} MiB, peak {peak / 2 ** 20:.1f} MiB"
        self.assertLessEqual(peak, estimate, words)
        self.assertLessEqual(estimate, ratio * peak, words)
        return estimate

    def whole_parts(self, folder="out"):
        """Returns the numbers of the complete parts of a run: of summary.json and of .moho_parts."""
        numbers = set()
        try:
            with open(self.path(folder + "/.moho_parts"), encoding="utf-8") as file:
                numbers = {json.loads(line)["number"] for line in file if line.strip()}
        except (OSError, ValueError):  # there is none, or its last line is being written
            pass
        try:
            with open(self.path(folder + "/summary.json"), encoding="utf-8") as file:
                return numbers | {part["number"] for part in json.load(file).get("parts", [])}
        except (OSError, ValueError):
            return numbers

    def wait_for(self, process, condition):
        """Waits until a condition is true, which has to happen before the process ends."""
        while not condition():
            if process.poll() is not None:
                self.fail(f"the run ended before: {process.returncode}")
            time.sleep(0.005)

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

    @staticmethod
    def numbers(text):
        """Returns the numbers of a list such as "up to 3", "2, 4" or "3 to 5"."""
        if text.startswith("up to "):
            return list(range(1, int(text[6:]) + 1))
        ends = [[int(end) for end in part.split(" to ")] for part in text.split(", ")]
        return [number for part in ends for number in range(part[0], part[-1] + 1)]

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
