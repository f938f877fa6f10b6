#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the memory that trace_rays plans and uses.

usage: test_ray_memory.py --program PATH [names of test classes]
Exit status 77 if numpy is missing or every test was skipped.
"""

import os
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

    def test_rays_that_dive(self):
        # vertices along the steep rays are more than the nodes between source and receiver
        asked = ["--gradient", "300,20", "--shape", "1001,301", "--spacing", "10", "--radius", "1",
                 "--source", "100,0", "--receivers", "2000,0:9900,0:2000", "--space", self.model[-1]]
        refused = self.call(*asked, "--memory", "45M", "--out", "none")
        self.assertEqual(refused.returncode, 2, refused.stdout)
        self.assertRegex(refused.stderr,
                         r"memory: the rays of 1 source to 2000 receivers have \d+ vertices, which take "
                         r"[\d.]+ MiB \(allowed: [\d.]+ MiB, what the --memory given leaves\)")
        self.assertEqual(os.listdir(self.path("none")), [])
        estimate = self.assert_memory_is_planned(*asked, "--memory", "60M")
        self.assertLessEqual(estimate, (60 + 24) * 2**20)

    def test_rays_of_more_than_the_memory(self):
        self.refuse([*self.model, "--source", "0,0:5000,0:10", "--receivers", "0,4000:5000,4000:9000",
                     "--memory", "40M"], "memory: rays from 10 sources to 9000 receivers take about ",
                    ", the --memory given): raise --memory, or take fewer of them")


if __name__ == "__main__":
    sys.exit(support.main(__doc__))
