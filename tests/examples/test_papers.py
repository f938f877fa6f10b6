#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of bench/papers.py with programs that write known results.

usage: test_papers.py [names of test classes]
Exit status 77 if numpy or matplotlib is missing.
"""

import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

try:
    import matplotlib  # noqa: F401
    import numpy  # noqa: F401
except ImportError:
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "bench" / "papers.py"

# A program that writes the cases of its table whose names match the filter, and counts its calls.
STUB = """#!{python}
import json, re, sys
asked = dict(word.lstrip("-").split("=", 1) for word in sys.argv[1:])
cases = json.load(open("{cases}"))
open("{cases}.calls", "a").write("x")
found = [case for case in cases if re.search(asked["benchmark_filter"], case["name"])]
text = json.dumps({{"context": {{"compiler": "stub"}}, "benchmarks": found}}) if found else ""
open(asked["benchmark_out"], "w").write(text)
"""

RANK_SUMS = """#!/bin/sh
echo "{\\"ranks\\": $RANKS, \\"bytes\\": 8, \\"seconds\\": [0.002, 0.001, 0.03, 0.002, 0.002]}" > $3
"""


def case(name, milliseconds, **counters):
    name += "/iterations:1/manual_time"
    return {"name": name, "real_time": milliseconds, "time_unit": "ms", **counters}


class Papers(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.temporary.name)
        (self.folder / "build" / "bench").mkdir(parents=True)

    def tearDown(self):
        self.temporary.cleanup()

    def stub(self, name, cases):
        table = self.folder / f"{name}.json"
        table.write_text(json.dumps(cases), encoding="utf-8")
        program = self.folder / "build" / "bench" / name
        program.write_text(STUB.format(python=sys.executable, cases=table), encoding="utf-8")
        program.chmod(0o755)

    def calls(self, name):
        return len((self.folder / f"{name}.json.calls").read_text(encoding="utf-8"))

    def run_papers(self, *arguments, status=0, path=None, text=False):
        """Returns what the program wrote to stderr, or with `text` to stdout."""
        done = subprocess.run([sys.executable, str(PROGRAM), *arguments, "--build", "build", "--out", "out"],
                              cwd=self.folder, text=True, capture_output=True, timeout=120, check=False,
                              env={**os.environ, "PATH": path or os.environ["PATH"]})
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout if text else done.stderr

    def rows(self, name):
        with open(self.folder / "out" / f"{name}.csv", encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def add_rays(self):
        names = ("dijkstra/serial/float/n:512/r:{r}/star:full/weights:sampled",
                 "relaxation/openmp/float/n:512/r:{r}/weights:sampled",
                 "active_tiles/openmp/float/n:512/r:{r}")
        self.stub("bench_rays", [case("rays/" + name.format(r=r), milliseconds * r)
                                 for r in (1, 3, 6) for name, milliseconds in zip(names, (1000, 500, 10))]
                  + [case("rays/active_tiles/openmp/double/n:512/r:1", 7)])

    def test_times_and_gains(self):
        self.add_rays()
        self.run_papers("000", "--only", "times", "--models", "512")
        rows = self.rows("times")
        self.assertEqual([row["radius"] for row in rows], ["1", "3", "6"])
        self.assertEqual((rows[1]["Dijkstra"], rows[1]["Relaxation"], rows[1]["active tiles"]),
                         ("3000", "1500", "30"))
        self.assertEqual((rows[1]["gain of Relaxation"], rows[1]["gain of active tiles"]), ("2", "100"))
        self.assertEqual((rows[2]["paper's CPU"], rows[2]["paper's GPU"]), ("9371", "2260"))
        for name in ("figure7.png", "figure8.png", "report.md"):
            self.assertGreater((self.folder / "out" / name).stat().st_size, 500)
        result = json.loads((self.folder / "out" / "paper.json").read_text(encoding="utf-8"))
        self.assertEqual((result["sizes"], result["failed"]), ("small", {}))
        for entry in result["commands"]:
            self.assertTrue(entry["command"].endswith("--benchmark_out_format=json"), entry)
            self.assertNotIn(str(self.folder), entry["command"])

    def test_fragments_and_devices(self):
        def of(name, search):
            return case(f"rays/active_tiles/openmp/float/n:1024/r:6/weights:velocity/storage:{name}", 1,
                        trace_s=search, predecessors_s=1e-3, relaxations_per_s=2e9)

        self.stub("bench_rays", [of("fragments/table:0.25", 0.125), of("stored", 0.1),
                                 of("stored/devices:2/slabs:4", 0.05),
                                 case("rays/active_tiles/openmp/float/n:1024/r:6/storage:stored", 1)])
        self.run_papers("000", "--only", "beyond")
        rows = self.rows("beyond")
        self.assertEqual([row["rate of the search"] for row in rows], ["0.8", "1", "2"])
        # all phases take 1 ms more than the search
        self.assertEqual([row["10^9 relaxations/s"] for row in rows], ["2.02", "2.02", "2.04"])
        self.assertEqual([(row["part of the table"], row["devices"], row["slabs of each"]) for row in rows],
                         [("0.25", "1", ""), ("", "1", ""), ("", "2", "4")])

    def test_results_are_reused(self):
        self.add_rays()
        self.run_papers("000", "--only", "times", "--models", "512")
        self.run_papers("000", "--only", "times", "--models", "512", "--reuse")
        self.assertEqual(self.calls("bench_rays"), 1)
        self.run_papers("000", "--only", "times", "--models", "512")
        self.assertEqual(self.calls("bench_rays"), 2)

    def test_a_stream_is_run_once_for_two_figures(self):
        counters = {"points/s": 2e9, "steady_points/s": 3e9, "in_core_points/s": 4e9,
                    "predicted_over_measured": 1.0}
        self.stub("bench_stream", [
            case(f"stream/{medium}/openmp/64x64x64/whole/block:4/updates:{n}", 1, **counters)
            for medium in ("isotropic", "vti") for n in (2, 8)])
        self.run_papers("003", "--only", "rates,updates")
        self.assertEqual(self.calls("bench_stream"), 1)
        self.assertEqual([row["stream of in core"] for row in self.rows("rates")], ["75 %", "75 %"])
        self.assertEqual([row["steps in a pass"] for row in self.rows("updates")], ["2", "8", "2", "8"])

    def test_gradients_and_images_in_streams(self):
        stream = {"host_bytes": 2.0**31, "device_bytes": 2.0**30, "measured_over_predicted": 1.25}
        self.stub("bench_fwi", [
            case("gradient/isotropic/vp/steps/block:4/updates:8/openmp/64x80x80", 1, of_in_core=0.5,
                 **{"points/s": 2e9, "in_core_points/s": 4e9}, **stream),
            *(case(f"gradient/{medium}/vp/random/lags:16/openmp/n:40", 1, **{"points/s": 4e9})
              for medium in ("isotropic", "vti")),
            *(case(f"gradient/{medium}/vp/stream/lags:16/openmp/n:40", 1, **{"points/s": 3e9}, **stream)
              for medium in ("isotropic", "vti"))])
        self.run_papers("003", "--only", "gradients,images")
        row, = self.rows("gradients")
        self.assertEqual((row["nodes"], row["of in core"]), ("64 x 80 x 80", "50 %"))
        self.assertEqual([(row["GiB on the host"], row["of in core"], row["measured over forecast"])
                          for row in self.rows("images")], [("2", "75 %", "1.25")] * 2)

    def test_a_failure_is_reported_and_the_rest_is_made(self):
        self.add_rays()
        error = self.run_papers("000", "--only", "times,rays", "--models", "512", status=1)
        self.assertIn("papers.py: rays: ", error)
        self.assertIn("trace_rays does not exist", error)
        self.assertEqual(len(self.rows("times")), 3)
        self.assertIn("## Failed", (self.folder / "out" / "report.md").read_text(encoding="utf-8"))

    def test_the_error_of_a_program_is_not_its_last_result(self):
        program = self.folder / "build" / "bench" / "bench_rays"
        program.write_text("#!/bin/sh\necho 'no sample is left' >&2\necho 'a result'\nexit 2\n",
                           encoding="utf-8")
        program.chmod(0o755)
        error = self.run_papers("000", "--only", "times", "--models", "512", status=1)
        self.assertIn("ended with status 2: no sample is left", error)

    def test_a_failed_check_is_an_error(self):
        failed = {**case("rays/active_tiles/openmp/float/n:512/r:1", 1), "error_occurred": True}
        self.stub("bench_rays", [failed])
        self.assertIn("failed their check",
                      self.run_papers("000", "--only", "times", "--models", "512", status=1))

    def test_no_case_matches(self):
        self.stub("bench_rays", [])
        self.assertIn("no case matches", self.run_papers("000", "--only", "times", status=1))

    def test_wrong_numbers_of_vertices(self):
        for wrong in ("a", "0", "128,", "1.5"):
            error = self.run_papers("000", "--models", wrong, status=2)
            self.assertIn(f"--models: '{wrong}' (allowed: whole numbers from 2 on", error)

    def test_models_without_effect(self):
        for paper, only in (("004", "maps"), ("000", "rays,beyond"), ("003", "rates")):
            error = self.run_papers(paper, "--only", only, "--models", "128", status=2)
            self.assertIn(f"--models has no effect on {only.replace(',', ', ')} of {paper} (allowed with: ",
                          error)
        self.add_rays()
        done = self.run_papers("000", "--only", "times,rays", "--models", "512", status=1, text=True)
        self.assertIn("note: --models has no effect on rays\n", done)

    def test_the_reduction_follows_equation_6(self):
        sys.path.insert(0, str(PROGRAM.parent))
        import papers_gravity

        self.assertEqual(papers_gravity.equation_6({4: 1.25, 2: 0.5}), [(2, None, 0.5), (4, 1.0, 1.25)])

    @unittest.skipIf((os.cpu_count() or 1) < 2, "ranks need a processor each")
    def test_sums_of_ranks_are_medians(self):
        # one sum of five waits for a late rank
        program = self.folder / "build" / "bench" / "rank_sums"
        program.write_text(RANK_SUMS, encoding="utf-8")
        program.chmod(0o755)
        mpirun = self.folder / "mpirun"
        mpirun.write_text('#!/bin/sh\nexport RANKS=$2; shift 2; exec "$@"\n', encoding="utf-8")
        mpirun.chmod(0o755)
        self.run_papers("004", "--only", "reduction", path=f"{self.folder}:{os.environ['PATH']}")
        row = self.rows("reduction")[0]
        self.assertEqual((row["q"], row["measured, ms"], row["estimate, ms"]), ("2", "2", ""))
        report = (self.folder / "out" / "report.md").read_text(encoding="utf-8")
        self.assertEqual("need four processors" in report, len(os.sched_getaffinity(0)) < 4)

    def test_experiments_of_devices_are_skipped_on_hosts(self):
        for paper, names in (("003", ("memory", "devices")), ("004", ("teams",))):
            self.run_papers(paper, "--only", ",".join(names))
            report = (self.folder / "out" / "report.md").read_text(encoding="utf-8")
            self.assertIn("## Skipped", report)
            self.assertNotIn("## Failed", report)
            result = json.loads((self.folder / "out" / "paper.json").read_text(encoding="utf-8"))
            self.assertEqual((result["failed"], sorted(result["skipped"])), ({}, sorted(names)))
            for reason in result["skipped"].values():
                self.assertIn("needed: --space cuda", reason)

    def test_the_reason_of_a_missing_picture_is_that_of_the_program(self):
        (self.folder / "build" / "examples").mkdir()
        program = self.folder / "build" / "examples" / "trace_rays"
        program.write_text("#!/bin/sh\nmkdir -p rays\n"
                           "echo '{\"picture\": \"not drawn: the disk is full\"}' > rays/summary.json\n",
                           encoding="utf-8")
        program.chmod(0o755)
        self.assertIn("rays: trace_rays: picture not drawn: the disk is full",
                      self.run_papers("000", "--only", "rays", status=1))

    def test_wrong_options(self):
        self.assertIn("no such experiment", self.run_papers("004", "--only", "nothing", status=2))
        self.run_papers("005", status=2)
        self.assertFalse(os.path.exists(self.folder / "out"))


if __name__ == "__main__":
    unittest.main()
