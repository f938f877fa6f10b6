#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# ctest: quick, cost 10
"""Tests of the memory that model_waves plans, and of the notes in its plan.

usage: test_model_plan.py --program PATH [names of test classes]
Exit status 77 if numpy is missing or every test was skipped.
"""

import sys

import model_waves_case
import support
from support import np


class Plan(model_waves_case.Case):
    def setUp(self):
        super().setUp()
        self.host = ["--space", "serial" if "serial" in self.spaces() else self.spaces()[0]]

    def test_traces_of_slabs_are_counted(self):
        survey = ["--vp", "2000", "--shape", "61,41", "--spacing", "10", "--snapshot-every", "0",
                  "--time", "1", "--dt", "0.001", "--source", "100,20:500,20:2",
                  "--receivers", "0,20:600,20:2001", *self.host]
        for devices in (1, 2, 4):
            self.assert_memory_is_planned(*survey, "--devices", devices)

    def test_a_check_before_others_says_at_least(self):
        """Traces are counted with the plan, after the model was refused or read."""
        survey = ["--vp", "2000", "--shape", "301,201", "--spacing", "10", "--time", "0.4", "--source",
                  "1500,500", "--receivers", "0,10:3000,10:4000", *self.host]
        self.refuse([*survey, "--memory", "100k"], "memory: a model of 301 x 201 nodes, ", " takes at least ",
                    " of memory (allowed: ")
        self.refuse([*survey, "--memory", "6M"], "memory: the model with 4000 traces of ", " takes ",
                    " of memory in all (allowed: ")

    def test_sponges_have_the_width_of_the_run(self):
        """The estimate counts the narrow sponges of waves with 10 nodes a wavelength."""
        self.save("v.npy", np.full((41, 31, 31), 2000.0, dtype=np.float32))
        shots = ["--receivers", "400,300,40", "--source", "400,300,80", "--wavelet", "ricker:10", "--time",
                 "0.05", "--theta", "0.5", "--epsilon", "0.1", "--snapshot-every", "0", *self.host]
        estimates = []
        for model in (["--vp", "v.npy"], ["--vp", "2000", "--shape", "41,31,31"]):
            r = self.model(*model, "--spacing", "20", *shots)
            self.assertIn("sponge:30", r.text)
            estimates.append(r.summary["memory"]["estimate_bytes"])
        self.assertLess(abs(estimates[0] - estimates[1]), 0.1 * estimates[1])
        # a limit that only the narrow sponge keeps
        self.model("--vp", "v.npy", "--spacing", "20", *shots, "--memory", estimates[0] - 23 * 2 ** 20)

    def test_sources_that_seg_y_does_not_have(self):
        one = "2,source,300,20\n2,receiver,0,20\n2,receiver,600,20\n"
        for text, words in (("1,source,100,20\n1,source,120,20\n1,receiver,0,20\n" + one,
                             "note: 1 shot has several sources, of which gather.sgy has the first"),
                            (one, None)):
            r = self.model(*self.section, "--shots", self.write("shots.csv", text))
            if words:
                self.assertIn(words, r.text)
            else:
                self.assertNotIn("gather.sgy has", r.text)

    def test_receivers_at_one_position(self):
        one = "2,source,300,20\n2,receiver,0,20\n2,receiver,600,20\n"
        for text, words in (("1,source,100,20\n1,receiver,0,20\n1,receiver,9,20\n1,receiver,0,20\n" + one,
                             "note: 1 receiver is at the position of another one of the same shot"),
                            (one, None)):
            r = self.model(*self.section, "--shots", self.write("shots.csv", text))
            if words:
                self.assertIn(words, r.text)
            else:
                self.assertNotIn("at the position of", r.text)

    def test_wavelet_beyond_the_end(self):
        note = "note: the wavelet lasts until "
        survey = ["--vp", "2000", "--shape", "61,41", "--spacing", "10", "--plan"]
        for wavelet, time, noted in (("ricker:5:1", "0.5", True), ("ricker:5:1", "2", False),
                                     ("ricker:15", "0.5", False)):
            done = self.call(*survey, "--wavelet", wavelet, "--time", time)
            self.assertEqual(note in done.stdout, noted, done.stdout + done.stderr)

    def test_width_beside_widths_of_faces(self):
        note = "note: --width has no effect"
        for faces, noted in (("sponge:20", True), ("sponge:20,top=cpml", False)):
            more = ["--vp", "2000", "--shape", "61,41", "--spacing", "10", "--plan", "--boundary", faces]
            self.assertEqual(note in self.call(*more, "--width", "7").stdout, noted, faces)
            self.assertNotIn(note, self.call(*more).stdout)


if __name__ == "__main__":
    sys.exit(support.main(__doc__))
