#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the tables of pages and of the lengths of lines.

docs/tables.py makes each table from the data of its run.

usage: test_tables.py [names of test classes]
"""

import glob
import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "docs" / "tables.py"
KEYS = ["what", "machine", "commit", "date", "versions", "commands", "files", "report", "notes", "tables"]


def load_tables():
    specification = importlib.util.spec_from_file_location("tables", PROGRAM)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


tables = load_tables()


def long_lines(text, limit=100):
    """Numbers of Markdown lines that are too long, without tables, code and targets of links."""
    found, fenced, blank = [], False, True
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            fenced = not fenced
        code = fenced or (line.startswith("    ") and blank)
        blank = not line.strip() or code
        if not code and not line.startswith("|") and len(re.sub(r"\]\([^()\s]*\)", "]", line)) > limit:
            found.append(number)
    return found


class Tables(unittest.TestCase):
    def test_pages_have_the_data_of_their_runs(self):
        self.assertEqual(tables.run(ROOT, check=True), [])

    def test_pages_have_tables(self):
        marks = [mark for page in tables.pages(ROOT)
                 for mark in tables.BEGIN.findall(page.read_text(encoding="utf-8"))]
        self.assertGreater(len(marks), 10)
        self.assertIn("runs", marks)
        listed = [f"{path.parent.name}/{name}" for path in sorted((ROOT / "docs/results").glob("*/run.json"))
                  for name in json.loads(path.read_text(encoding="utf-8")).get("tables", {})]
        self.assertEqual([name for name in listed if name not in marks], [], "tables that no page has")

    def test_each_run_is_described(self):
        folders = [path for path in sorted((ROOT / "docs/results").iterdir()) if path.is_dir()]
        self.assertGreater(len(folders), 30)
        for folder in folders:
            with self.subTest(folder.name):
                run = json.loads((folder / "run.json").read_text(encoding="utf-8"))
                self.assertEqual([key for key in run if key not in KEYS], [])
                self.assertTrue(run["what"] and run["machine"])
                self.assertEqual({path.name for path in folder.iterdir()} - {"run.json"}, set(run["files"]))


class Program(unittest.TestCase):
    """docs/tables.py in a repository of one page and one run."""

    def setUp(self):
        self._folder = tempfile.TemporaryDirectory(prefix="moho_")
        self.root = pathlib.Path(self._folder.name)
        self.folder = self.root / "docs" / "results" / "box"
        self.folder.mkdir(parents=True)
        benchmarks = [{"name": f"waves/{medium}/n:8/iterations:3/manual_time", "points/s": rate}
                      for medium, rate in (("isotropic", 2.045e9), ("vti", 1.5e9), ("vti", 1.7e9))]
        self.write("docs/results/box/waves.json", json.dumps({"context": {}, "benchmarks": benchmarks}))
        self.write("docs/results/box/widths.csv", "layer,returned\nsponge,0.9\ncpml,0.0081\n")
        self.describe({"rates": {"data": {"w": "waves.json"}, "header": ["medium", "Gpoints/s", "over VTI"],
                                 "cells": ["{medium}", "{max(values(w, 'waves/' + medium + '/n:8', "
                                                       "'points/s')) / 1e9:.2f}",
                                           "{over}"],
                                 "rows": [{"medium": "isotropic", "over": "1.2"},
                                          {"medium": "vti", "over": None}]}})
        self.page = self.root / "docs" / "page.md"
        self.page.write_text("# Page\n\n<!-- table: box/rates -->\n<!-- end of table -->\n\n"
                             "<!-- table: box/widths -->\nold\n<!-- end of table -->\n\nText 2.05.\n",
                             encoding="utf-8")

    def tearDown(self):
        self._folder.cleanup()

    def write(self, name, text):
        (self.root / name).write_text(text, encoding="utf-8")

    def describe(self, made):
        self.write("docs/results/box/run.json",
                   json.dumps({"what": "Waves", "machine": "a box", "tables": made}))

    def call(self, *arguments):
        done = subprocess.run([sys.executable, str(PROGRAM), "--root", str(self.root), *arguments], text=True,
                              capture_output=True, timeout=100)
        return done.returncode, done.stderr

    def test_writes_and_checks(self):
        self.assertEqual(self.call("--check")[0], 1)
        self.assertEqual(self.call()[0], 0)
        text = self.page.read_text(encoding="utf-8")
        self.assertIn("<!-- table: box/rates -->\n| medium | Gpoints/s | over VTI |\n|---|---:|---:|\n"
                      "| isotropic | 2.05 | 1.2 |\n| vti | 1.70 |  |\n<!-- end of table -->\n", text)
        self.assertIn("| layer | returned |\n|---|---:|\n| sponge | 0.9 |\n| cpml | 0.0081 |\n<!-- end", text)
        self.assertTrue(text.endswith("Text 2.05.\n"))
        self.assertEqual(self.call("--check"), (0, ""))

    def test_a_changed_number_is_found(self):
        self.call()
        text = self.page.read_text(encoding="utf-8")
        self.page.write_text(text.replace("| isotropic | 2.05 |", "| isotropic | 2.06 |"), encoding="utf-8")
        status, said = self.call("--check")
        self.assertEqual(status, 1)
        self.assertIn("docs/page.md: table box/rates differs from its data", said)
        self.assertIn("-| isotropic | 2.06 |", said)
        self.assertIn("+| isotropic | 2.05 |", said)
        self.assertNotIn("box/widths", said)
        self.assertIn("2.06", self.page.read_text(encoding="utf-8"), "--check writes nothing")

    def test_changed_data_are_found(self):
        self.call()
        self.write("docs/results/box/widths.csv", "layer,returned\nsponge,0.9\ncpml,0.0082\n")
        status, said = self.call("--check")
        self.assertEqual(status, 1)
        self.assertIn("docs/page.md: table box/widths differs from its data", said)

    def test_tables_that_cannot_be_made(self):
        for cells, word in ((["{one(w, 'waves/vti/n:8', 'points/s')}"], "2 cases match"),
                            (["{values(w, 'waves/tti/n:8', 'points/s')}"], "no case"),
                            (["{nothing}"], "no value 'nothing'"),
                            (["{open('x')}"], "no expression of tables"),
                            (["a", "b"], "a row has 2 cells"), (["{1 +}"], "SyntaxError")):
            with self.subTest(word):
                self.describe({"rates": {"data": {"w": "waves.json"}, "header": ["x"], "cells": cells,
                                         "rows": [{}]}})
                for options in ([], ["--check"]):
                    status, said = self.call(*options)
                    self.assertEqual(status, 1)
                    self.assertIn("docs/page.md: table box/rates: ", said)
                    self.assertIn(word, said)

    def test_marks_without_an_end_and_without_data(self):
        self.page.write_text("<!-- table: box/rates -->\n", encoding="utf-8")
        self.assertIn("no line <!-- end of table -->", self.call("--check")[1])
        text = "<!-- table: box/rates -->\nText that stays.\n<!-- table: box/widths -->\n"
        text += "<!-- end of table -->\n"
        self.page.write_text(text, encoding="utf-8")
        self.assertEqual(self.call()[0], 1)
        self.assertEqual(self.page.read_text(encoding="utf-8"), text)
        self.page.write_text("<!-- table: none/rates -->\n<!-- end of table -->\n", encoding="utf-8")
        self.assertIn("No such file", self.call("--check")[1])

    def test_reports(self):
        shutil.copy(ROOT / "docs/results/waves_two_cores/waves.json", self.folder / "waves.json")
        self.write("docs/results/box/run.json",
                   json.dumps({"what": "Waves", "machine": "a box", "report": ["waves.json"]}))
        self.page.unlink()
        self.write("docs/results/box/table.md", "")
        self.assertEqual(self.call()[0], 0)
        made = (self.folder / "table.md").read_text(encoding="utf-8")
        self.assertEqual(made, (ROOT / "docs/results/waves_two_cores/table.md").read_text(encoding="utf-8"))
        self.write("docs/results/box/table.md", made.replace("1.55", "1.56"))
        status, said = self.call("--check")
        self.assertEqual(status, 1)
        self.assertIn("docs/results/box/table.md: differs from bench/report.py", said)

    def test_formats(self):
        for value, form, text in ((1.515, ".2f", "1.52"), (2.985, ".2f", "2.99"), (2.87e10, "e3", "2.87e10"),
                                  (216.4, "s3", "216"), (1040.2, "s3", "1040"), (0.0969, "s2", "0.097"),
                                  (6.1e-14, "e2", "6.1e-14"), (12304, ",", "12,304")):
            self.assertEqual(tables.show(value, form), text)


class Lines(unittest.TestCase):
    """Lines of pages have at most 100 characters."""

    # Pages that must still be shortened.
    pending = []

    def test_lengths(self):
        names = sorted(glob.glob(str(ROOT / "*.md")) + glob.glob(str(ROOT / "docs/**/*.md"), recursive=True))
        self.assertGreater(len(names), 30)
        for name in names:
            short = os.path.relpath(name, ROOT)
            text = pathlib.Path(name).read_text(encoding="utf-8")
            written_by_a_program = short.startswith("docs/results/") and "<!-- table: " not in text
            if short not in self.pending and not written_by_a_program:
                self.assertEqual(long_lines(text), [], short)

    def test_a_long_line_is_found(self):
        short, long = "x" * 100, "x" * 101
        text = f"{short}\n{long}\n| {long}\n\n    {long}\n```\n{long}\n```\n"
        self.assertEqual(long_lines(text), [2])
        self.assertEqual(long_lines("[" + "x" * 90 + "](" + "y" * 90 + ")\n[" + "x" * 99 + "](y)\n"), [2])


if __name__ == "__main__":
    unittest.main()
