#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# ctest: quick, threads 2
"""Tests of --expand of model_waves: domains by all methods, their options, and the nodes at snapshots.

usage: test_expanding.py --program PATH [names of test classes]
Exit status 77 if numpy is missing or every test was skipped.
"""

import sys

import model_waves_case
import support
from support import np


class Domains(model_waves_case.Case):
    def setUp(self):
        super().setUp()
        self.survey = self.small_survey()

    def test_expanding_domains(self):
        for medium in ([], ["--epsilon", "0.2", "--delta", "0.1", "--theta", "0.4"]):
            expected = self.model(*self.survey, *medium)
            self.assertEqual(expected.summary["run"]["expand"]["part_stepped"], 1.0)
            for method in ("layers", "eikonal", "amplitude"):
                r = self.model(*self.survey, *medium, "--expand", method)
                self.close(r.gather, expected.gather, 0.01)
                self.assertEqual(r.summary["run"]["expand"]["method"], method)
                self.assertLess(r.summary["run"]["expand"]["part_stepped"], 1.0)
                self.assertIn("of the nodes were stepped", r.text)

    def test_long_waves_are_not_cut(self):
        # Tens of nodes a wave: values below the threshold extend far ahead of a face.
        long = ["--vp", "2000", "--shape", "151,121", "--spacing", "10", "--wavelet", "ricker:3", "--time",
                "0.8", "--source", "305,207", "--receivers", "10,30:1490,1190:20", "--snapshot-every", "0"]
        expected = self.model(*long).gather
        for method in ("layers", "eikonal", "amplitude"):
            found = self.model(*long, "--expand", method).gather
            self.assertLess(np.abs(found - expected).max(), 1e-4 * np.abs(expected).max(), method)

    def test_options_of_methods(self):
        expected = self.model(*self.survey).gather
        for method, name, value, most in (("amplitude", "threshold", "0.1", 0.01),
                                          ("amplitude", "interval", "40", 1e-4),
                                          ("eikonal", "coarsening", "1", 1e-4)):
            usual, r = (self.model(*self.survey, "--expand", method, *more)
                        for more in ([], [f"--expand-{name}", value]))
            self.close(r.gather, expected, most)
            points, others = (run.summary["run"]["expand"]["points"] for run in (r, usual))
            # rare inspections need larger boxes; a higher threshold and a finer grid need smaller ones
            self.assertTrue(points > others if name == "interval" else points < others, name)
            self.assertEqual(r.summary["asked"][f"expand_{name}"], float(value))
            self.assertNotIn(f"expand_{name}", usual.summary["asked"])

    def test_refusals(self):
        for method, name, value in (("amplitude", "threshold", "1"), ("amplitude", "threshold", "0"),
                                    ("amplitude", "threshold", "nan"), ("amplitude", "interval", "65"),
                                    ("amplitude", "interval", "0"), ("eikonal", "coarsening", "0")):
            option = f"--expand-{name}"
            self.refuse([*self.survey, "--expand", method, option, value], option, value, "(allowed: ")
            for more in ([], ["--expand", "layers"]):
                self.refuse([*self.survey, *more, option, value],
                            f"{option} was given without --expand {method}", "leave it out")

    def test_nodes_at_snapshots(self):
        survey = ["--vp", "2000", "--shape", "101,101", "--spacing", "10", "--source", "500,400", "--time",
                  "0.3", "--snapshot-every", "0.1", "--dt", "0.002"]
        whole = self.model(*survey, out="whole")
        self.assertNotIn("snapshot_domains", whole.summary["run"]["expand"])
        r = self.model(*survey, "--expand", "amplitude")
        boxes = r.summary["run"]["expand"]["snapshot_domains"]
        self.assertEqual(len(boxes), 3)
        x = 10.0 * np.arange(101)
        for snapshot, box in zip(r.summary["snapshots"], boxes):
            field = r.load(snapshot["file"])
            inside = np.outer(*((low <= x) & (x <= high) for low, high in zip(box["lower"], box["upper"])))
            self.assertEqual(np.abs(field[~inside]).max(initial=0.0), 0.0)
            self.close(field[inside], whole.load(snapshot["file"])[inside], 1e-3)
        # the source is in the middle of the first box, which is within the model
        self.assertEqual([sum(ends) for ends in zip(boxes[0]["lower"], boxes[0]["upper"])], [1000.0, 800.0])
        self.assertTrue(100.0 < boxes[0]["lower"][0] < 400.0, boxes[0])
        # the last box has nodes of the layers of 100 m
        self.assertTrue(all(-100.0 <= low < 0.0 for low in boxes[2]["lower"]), boxes[2])
        self.assertTrue(1000.0 < boxes[2]["upper"][0] <= 1100.0, boxes[2])
        # of a shot that is taken over from an earlier run
        again = self.model(*survey, "--expand", "amplitude", "--resume")
        self.assertEqual(again.summary["run"]["expand"]["snapshot_domains"], boxes)


if __name__ == "__main__":
    sys.exit(support.main(__doc__))
