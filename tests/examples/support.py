# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of all example programs share: running them, drawing, and what holds for every program.

Leaves the process with status 77 if numpy is missing.
"""

import argparse
import contextlib
import importlib
import importlib.util
import io
import os
import stat
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy as np
except ImportError:
    print("skipped: numpy is missing, install python3-numpy")
    sys.exit(77)

PLOTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples")
PNG = b"\x89PNG\r\n\x1a\n"


class Case(unittest.TestCase):
    """A folder of its own, and running the program in it."""

    program = ""  # path of the program
    mpirun = ""   # path of mpirun, for programs that know it
    data = ""     # folder of data that tests may use

    def setUp(self):
        self._folder = tempfile.TemporaryDirectory(prefix="moho_")
        self.folder = self._folder.name

    def tearDown(self):
        self._folder.cleanup()

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
            variables.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMP_NUM_THREADS="1",
                             OMPI_MCA_btl_vader_single_copy_mechanism="none", OMPI_MCA_mpi_yield_when_idle="1")
        more = {"capture_output": True, **more}
        return subprocess.run(command, cwd=self.folder, text=True, env={**os.environ, **variables}, timeout=500, **more)

    def succeed(self, *arguments, out="out", plot=False, ranks=0):
        """Runs the program, which must succeed, alone also in silence on stderr. Returns its folder and its text."""
        done = self.call(*arguments, "--out", out, *([] if plot else ["--no-plot"]), ranks=ranks)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        if not ranks:
            self.assertEqual(done.stderr, "")
        return self.path(out), done.stdout

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

    def spaces(self):
        """The execution spaces of the program."""
        text = self.call("--version").stdout
        return [name for name in ("serial", "openmp", "cuda") if name in text]

    def assert_picture(self, path):
        with open(path, "rb") as file:
            self.assertEqual(file.read(8), PNG)

    def plot(self, script, *arguments):
        """Runs a plot program in this process, where matplotlib is loaded once. Returns status, stdout and stderr."""
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
        """Draws the pictures of results, coarsely, in this process."""
        self.assertEqual(self.plot(script, folder, "--dpi", 40), (0, "", ""))
        for picture in pictures:
            self.assert_picture(os.path.join(folder, picture))

    def needs_matplotlib(self):
        if importlib.util.find_spec("matplotlib") is None:
            self.skipTest("matplotlib is missing, install python3-matplotlib")

    def python_without_packages(self):
        """A Python as it is on a machine without numpy and matplotlib: one without its site packages."""
        wrapper = self.write("python", f'#!/bin/sh\nexec "{sys.executable}" -E -s -S "$@"\n')
        os.chmod(wrapper, os.stat(wrapper).st_mode | stat.S_IXUSR)
        if subprocess.run([wrapper, "-c", "import matplotlib"], capture_output=True).returncode == 0:
            self.skipTest("this Python finds matplotlib without its site packages")
        return wrapper


class SharedRuns:
    """Runs that several tests of a class look at, made once."""

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
        """What make(*arguments, out=folder) returned the first time."""
        key = tuple(map(str, arguments))
        if key not in self._runs:
            self._runs[key] = make(*arguments, out=os.path.join(self._shared.name, str(len(self._runs))))
        return self._runs[key]


class EveryProgram:
    """What holds for every program; subclasses name a small run and the plot program."""

    small = []
    script = ""

    def test_help_and_version(self):
        done = self.call("--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for word in ("--space", "--out", "--config", "--no-plot", "Examples", self.name):
            self.assertIn(word, done.stdout)
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
        self.write(os.path.join("plots", self.script + ".py"), "print('mine was here')\nraise SystemExit(1)\n")
        done = self.call(*self.small, environment={"MOHO_PLOT_DIR": self.path("plots")})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"not drawn: {self.script}.py failed: mine was here", done.stdout)

    def test_pictures_that_are_not_drawn(self):
        for python, words in ((self.path("no_such_python"), ["python3", f"run {self.script}.py later"]),
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


def main(description, groups=None):
    """Runs the test classes that are named on the command line; `groups` are those of a run without names."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True, help="path of the program")
    parser.add_argument("--mpirun", default="", help="path of mpirun; empty if the program knows no MPI")
    parser.add_argument("--data", default="", help="folder with data; tests that need it are skipped without")
    parser.add_argument("names", nargs="*", help="test classes or tests; all if none is named")
    arguments = parser.parse_args()
    Case.program = os.path.abspath(arguments.program)
    Case.mpirun = arguments.mpirun
    Case.data = arguments.data
    module = sys.modules["__main__"]
    loader = unittest.defaultTestLoader
    names = arguments.names or groups
    suite = loader.loadTestsFromNames(names, module) if names else loader.loadTestsFromModule(module)
    result = unittest.TextTestRunner(verbosity=2).run(suite)
    if result.wasSuccessful() and result.testsRun > 0 and len(result.skipped) == result.testsRun:
        return 77
    return 0 if result.wasSuccessful() and result.testsRun > 0 else 1
