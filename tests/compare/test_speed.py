# SPDX-License-Identifier: BSD-3-Clause
"""Tests of bench/compare.py with programs that print given times instead of measured ones."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

COMPARE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench", "compare.py")

# Prints the next row of times.json: milliseconds by name, or a text for an error.
PROGRAM = """#!{python}
import json, os, re, sys
folder = os.path.dirname(os.path.abspath(__file__))
values = dict(word[2:].split("=", 1) for word in sys.argv[1:] if "=" in word)
with open(os.path.join(folder, "times.json")) as file:
    rows = json.load(file)
count = os.path.join(folder, "count")
n = int(open(count).read()) if os.path.exists(count) else 0
open(count, "w").write(str(n + 1))
with open(os.path.join(folder, "calls"), "a") as file:
    file.write(" ".join(sys.argv[1:]) + "\\n")
listed = []
for name, value in rows[min(n, len(rows) - 1)].items():
    if not re.search(values.get("benchmark_filter", ""), name):
        continue
    entry = {{"name": name, "run_type": "iteration", "real_time": value, "time_unit": "ms"}}
    if isinstance(value, str):
        entry = {{"name": name, "error_occurred": True, "error_message": value}}
    listed += [entry, dict(entry, run_type="aggregate", real_time=0.0)] if "real_time" in entry else [entry]
with open(values["benchmark_out"], "w") as file:
    json.dump({{"benchmarks": listed}}, file)
"""


class Speed(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def build(self, name, *rows):
        folder = os.path.join(self.folder.name, name)
        os.makedirs(folder)
        with open(os.path.join(folder, "times.json"), "w", encoding="utf-8") as file:
            json.dump(rows, file)
        with open(os.path.join(folder, "bench_it"), "w", encoding="utf-8") as file:
            file.write(PROGRAM.format(python=sys.executable))
        os.chmod(os.path.join(folder, "bench_it"), 0o755)

    def compare(self, *words):
        run = subprocess.run([sys.executable, COMPARE, "before", "after", *words], cwd=self.folder.name,
                             capture_output=True, text=True)
        return run.returncode, run.stdout + run.stderr

    def calls(self, name):
        with open(os.path.join(self.folder.name, name, "calls"), encoding="utf-8") as file:
            return file.read().splitlines()

    def test_the_best_of_all_rounds_counts(self):
        self.build("before", {"a": 5.0, "b/3": 2.0}, {"a": 4.0, "b/3": 3.0})
        self.build("after", {"a": 4.1, "b/3": 7.0}, {"a": 9.0, "b/3": 2.0})
        status, text = self.compare("--times", "2")
        self.assertEqual(status, 0, text)
        self.assertRegex(text, r"4\.000 ms +4\.100 ms +\+2\.5 %  a\n")
        self.assertEqual((len(self.calls("before")), len(self.calls("after"))), (2, 2))
        self.assertEqual(self.compare("--times", "2", "--tolerance", "2")[0], 1)

    def test_slower_ones_run_again_and_alone(self):
        self.build("before", {"a(1)": 4.0, "b": 2.0})
        self.build("after", {"a(1)": 4.2, "b": 2.0})
        status, text = self.compare("--times", "3", "--", "--benchmark_min_time=0.1")
        self.assertEqual(status, 1)
        self.assertRegex(text, r"\+5\.0 %  slower  a\(1\)\n")
        calls = self.calls("after")
        self.assertEqual(len(calls), 6)
        self.assertTrue(all("--benchmark_min_time=0.1" in call for call in calls))
        self.assertNotIn("filter", calls[2])
        self.assertIn(r"--benchmark_filter=^(a\(1\))$", calls[3])

    def test_what_is_missing_or_has_errors_fails(self):
        self.build("before", {"a": 1.0, "b": 1.0, "c": 1.0})
        self.build("after", {"a": 1.0, "b": "wrong sum", "d": 1.0})
        status, text = self.compare("--times", "1")
        self.assertEqual(status, 1)
        self.assertIn("b: error after: wrong sum", text)
        self.assertIn("only before  c", text)
        self.assertIn("only after  d", text)
        self.assertIn("2 slower", text)
        self.assertEqual(self.compare("--times", "1", "--filter", "a")[0], 0)

    def test_unusable_arguments(self):
        self.build("before", {"a": 1.0})
        self.assertEqual(self.compare()[0], 2)
        self.build("after", {"a": 1.0})
        for words in (["bench_other"], ["--times", "0"], ["--tolerance", "-1"], ["--filter", "z"]):
            status, text = self.compare(*words)
            self.assertEqual(status, 2, text)


if __name__ == "__main__":
    unittest.main()
