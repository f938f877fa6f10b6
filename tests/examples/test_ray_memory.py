#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the memory that trace_rays plans and uses.

usage: test_ray_memory.py --program PATH [names of test classes]
Exit status 77 if numpy is missing or every test was skipped.
"""

import sys

import support


class Memory(support.Case):
    def setUp(self):
        super().setUp()
        self.model = ["--model", "2000", "--shape", "501,401", "--spacing", "10", "--space",
                      "serial" if "serial" in self.spaces() else self.spaces()[0]]

    def test_dijkstra(self):
        asked = [*self.model, "--source", "0,0:5000,0:3", "--method", "dijkstra"]
        self.assert_memory_is_planned(*asked)
        estimate = self.assert_memory_is_planned(*asked, "--memory", "70M")
        self.assertLessEqual(estimate, (70 + 24) * 2**20)

    def test_the_recorded_plan_is_that_of_the_run(self):
        for sources, more, memory in ((12, [], 30), (4, ["--storage", "fragments"], 20)):
            asked = [*self.model, "--source", f"0,0:5000,0:{sources}", *more]
            with self.subTest(more=more):
                estimate = self.assert_memory_is_planned(*asked, "--memory", f"{memory}M")
                self.assertLessEqual(estimate, (memory + 24) * 2**20)


if __name__ == "__main__":
    sys.exit(support.main(__doc__))
