#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the one-file C++ programs of examples/cpp. Their files are compared with those of a program.

usage: test_cpp.py --program <folder of the C++ programs>/NAME --modeller PATH [names of test classes]
Exit status 77 if numpy is missing or every test was skipped.
"""

import os
import re
import subprocess
import sys

import support
from support import np

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
SOURCES = os.path.join(ROOT, "examples", "cpp")


class Case(support.Case):
    def call_cpp(self, name, **variables):
        """Runs a C++ program in the folder, with these variables and without any of threads' places."""
        program = os.path.join(os.path.dirname(self.program), name)
        environment = {key: value for key, value in os.environ.items()
                       if key not in ("OMP_PROC_BIND", "OMP_PLACES") and not key.startswith("KOKKOS_")}
        return subprocess.run([program], cwd=self.folder, env={**environment, **variables}, text=True,
                              capture_output=True, timeout=500)

    def run_cpp(self, name):
        """Runs a C++ program in the folder, which must succeed without messages. Returns its output."""
        done = self.call_cpp(name)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertNotIn("WARNING", done.stdout)  # where Kokkos 3.4 prints it
        return done.stdout

    def run_modeller(self, *arguments):
        if not self.modeller:
            self.skipTest("model_waves is missing")
        command = [self.modeller, *map(str, arguments), "--snapshot-every", "0", "--no-plot", "--out", "out"]
        done = subprocess.run(command, cwd=self.folder, text=True, capture_output=True, timeout=500)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def compare(self, found, expected):
        """Asserts equal bits, and nonzero values."""
        found, expected = np.load(self.path(found)), np.load(self.path(expected))
        self.assertEqual(found.dtype, expected.dtype)
        np.testing.assert_array_equal(found, expected)
        self.assertGreater(np.abs(found).max(), 0.0)


class Sources(Case):
    def test_are_short(self):
        for name in os.listdir(SOURCES):
            if name.endswith(".cpp"):
                with open(os.path.join(SOURCES, name), encoding="utf-8") as file:
                    lines = [line for line in file.read().splitlines() if line.strip()
                             and not line.lstrip().startswith("//")]
                self.assertLessEqual(len(lines), 60, name)

    def test_are_all_run_here(self):
        with open(__file__, encoding="utf-8") as file:
            ran = set(re.findall(r'self\.run_cpp\("(\w+)"\)', file.read()))
        self.assertEqual(ran, {name[:-4] for name in os.listdir(SOURCES) if name.endswith(".cpp")})

    def test_are_in_pages(self):
        found = 0
        for page in ("README.md", "docs/cpp.md"):
            with open(os.path.join(ROOT, page), encoding="utf-8") as file:
                programs = re.findall(r"<!-- (?:program|example): (\w+) -->\n```cpp\n(.*?)```", file.read(),
                                      re.DOTALL)
            for name, code in programs:
                path = os.path.join(SOURCES, name + ".cpp")
                if os.path.exists(path):
                    with open(path, encoding="utf-8") as file:
                        self.assertEqual(code, file.read().split("\n\n", 1)[1], f"{page}: {name}")
                    found += 1
        self.assertGreater(found, 0)


class Guard(Case):
    """moho::ScopeGuard in a user's program."""

    def setUp(self):
        super().setUp()
        if not self.modeller or "openmp" not in subprocess.run([self.modeller, "--version"], text=True,
                                                               capture_output=True).stdout:
            self.skipTest("model_waves is missing, or has no OpenMP")

    def test_warnings_of_places_are_printed_on_request_only(self):
        for variables in ({}, {"OMP_PROC_BIND": "spread"}, {"KOKKOS_DISABLE_WARNINGS": "1"}):
            done = self.call_cpp("model_a_shot", **variables)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""), variables)
        done = self.call_cpp("model_a_shot", KOKKOS_DISABLE_WARNINGS="0")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("OMP_PROC_BIND environment variable not set", done.stdout + done.stderr)

    def test_too_many_threads_are_refused(self):
        for variable in ("OMP_NUM_THREADS", "KOKKOS_NUM_THREADS"):
            done = self.call_cpp("model_a_shot", **{variable: "600"})
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("600 threads (allowed: 1 to 512", done.stderr)
            self.assertFalse(os.path.exists(self.path("gather.npy")))


class Waves(Case):
    def test_model_a_shot(self):
        self.run_cpp("model_a_shot")
        self.run_modeller("--vp", 2000, "--shape", "301,201", "--spacing", 10, "--source", "1500,20",
                          "--receivers", "0,20:3000,20:301", "--wavelet", "ricker:15", "--time", 1.2,
                          "--free-surface")
        self.compare("gather.npy", "out/gather.npy")

    def test_missing_input_is_named(self):
        for name, file in (("model_survey", "vp.npy"), ("migrate_survey", "vp_smooth.npy"),
                           ("own_condition", "vp_smooth.npy"), ("invert_survey", "vp_start.npy")):
            if not os.path.exists(os.path.join(os.path.dirname(self.program), name)):
                continue  # a module is left out
            done = self.call_cpp(name)
            self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
            self.assertIn(f"'{file}'", done.stderr)

    def test_model_survey(self):
        x, z = np.meshgrid(np.arange(461.0), np.arange(41.0), indexing="ij")
        self.save("vp.npy", (1500.0 + 15.0 * z + 100.0 * np.sin(x / 40.0)).astype(np.float32))
        self.run_cpp("model_survey")
        self.assertEqual(len([name for name in os.listdir(self.folder) if name.startswith("shot_")]), 60)
        self.run_modeller("--vp", "vp.npy", "--spacing", 20, "--source", "0,20; 3100,20; 9145,20",
                          "--receivers", "0,20:9200,20:231", "--wavelet", "ricker:8", "--time", 3,
                          "--free-surface")
        for number, shot in enumerate((0, 20, 59), 1):
            self.compare(f"shot_{shot:04}.npy", f"out/gather_{number:04}.npy")


class Inversion(Case):
    def test_invert_survey(self):
        x, z = np.meshgrid(np.arange(61.0), np.arange(41.0), indexing="ij")
        start = 1600.0 + 15.0 * z
        truth = start + 150.0 * np.exp(-((x - 30.0) ** 2 + (z - 18.0) ** 2) / 40.0)
        self.save("vp_start.npy", start.astype(np.float32))
        self.save("vp_true.npy", truth.astype(np.float32))
        self.run_modeller("--vp", "vp_true.npy", "--spacing", 20, "--source", "100,20:1100,20:4",
                          "--receivers", "20,40:1180,40:30", "--wavelet", "ricker:8", "--time", 1,
                          "--interval", 0.004, "--free-surface")
        os.rename(self.path("out/gather.sgy"), self.path("line.sgy"))
        lines = self.run_cpp("invert_survey").splitlines()
        misfits = [float(line.split()[1]) for line in lines]
        self.assertGreaterEqual(len(misfits), 20)
        self.assertLess(min(misfits), 0.25 * misfits[0])
        found = np.load(self.path("vp.npy"))
        self.assertLess(np.linalg.norm(found - truth), 0.97 * np.linalg.norm(start - truth))
        # the program with the same options
        inverter = os.path.join(os.path.dirname(self.modeller), "invert_waves")
        if os.path.exists(inverter):
            command = [inverter, "--vp", "vp_start.npy", "--spacing", "20", "--data", "line.sgy",
                       "--wavelet", "ricker:8", "--free-surface", "--bounds", "vp:1500:5600",
                       "--iterations", "20", "--no-plot", "--out", "inverted"]
            done = subprocess.run(command, cwd=self.folder, text=True, capture_output=True, timeout=500)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.compare("vp.npy", "inverted/vp.npy")


class Migration(Case):
    """A reflector at a depth of 900 m under 3000 m/s, and the data of five shots."""

    def setUp(self):
        super().setUp()
        self.migrator = os.path.join(os.path.dirname(self.modeller), "migrate_shots")
        if not self.modeller or not os.path.exists(self.migrator):
            self.skipTest("model_waves or migrate_shots is missing")
        vp = np.full((151, 81), 3000.0, np.float32)
        self.save("vp_smooth.npy", vp)
        vp[:, 45:] = 3600.0
        self.save("vp.npy", vp)
        self.run_modeller("--vp", "vp.npy", "--spacing", 20, "--source", "500,20:2500,20:5", "--receivers",
                          "0,20:3000,20:101", "--wavelet", "ricker:15", "--time", 1.0)
        os.rename(self.path("out/gather.sgy"), self.path("line.sgy"))

    def migrate(self, *more):
        """Returns the image of the program, with the options of the C++ programs."""
        command = [self.migrator, "--vp", "vp_smooth.npy", "--spacing", "20", "--shots", "line.sgy",
                   "--wavelet", "ricker:15", "--no-plot", "--out", "migrated", *more]
        done = subprocess.run(command, cwd=self.folder, text=True, capture_output=True, timeout=500)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return np.load(self.path("migrated/image.npy"))

    def reflector(self, image):
        """Returns the depth of the largest root mean square below 400 m in the middle of the image, m."""
        return 20.0 * (20 + np.argmax(np.sqrt((image[40:111, 20:70].astype(float) ** 2).mean(axis=0))))

    def test_migrate_survey(self):
        printed = self.run_cpp("migrate_survey")
        self.assertIn("snapshots every", printed)
        expected = self.migrate("--expand", "eikonal", "--error", "lossless")
        image = np.load(self.path("image.npy"))
        self.assertEqual(image.dtype, np.float32)
        # the same shots in another order of sums
        np.testing.assert_allclose(image, expected, rtol=0, atol=1e-5 * np.abs(expected).max())
        self.assertAlmostEqual(self.reflector(image), 900.0, delta=40.0)

    def test_own_condition(self):
        self.run_cpp("own_condition")
        image = np.load(self.path("excitation.npy"))
        self.assertTrue(np.isfinite(image).all())
        self.assertAlmostEqual(self.reflector(image), 900.0, delta=40.0)
        # no condition of the library, but with their reflector
        other = self.migrate("--condition", "source")
        middle = (slice(40, 111), slice(40, 50))
        correlation = np.corrcoef(image[middle].ravel(), other[middle].ravel())[0, 1]
        self.assertGreater(correlation, 0.5)
        self.assertLess(correlation, 0.9999)


if __name__ == "__main__":
    sys.exit(support.main(__doc__))
