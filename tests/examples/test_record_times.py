#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of invert_waves with data that do not begin with the run, or end before it.

usage: test_record_times.py --program PATH --modeller PATH [names of test classes]
Exit status 77 if numpy is missing or every test was skipped.
"""

import os
import subprocess
import sys

import invert_waves_case
import support
from support import np

INTERVAL, PEAK = 0.004, 0.25  # s: of the samples, and of the wavelet's largest sample


def recorded(content, first, last, delay):
    """SEG-Y of samples first to last - 1 of all traces, which begin `delay` seconds after the shots."""
    count = int.from_bytes(content[3220:3222], "big")
    head = bytearray(content[:3600])
    head[3220:3222] = (last - first).to_bytes(2, "big")
    result = bytes(head)
    for at in range(3600, len(content), 240 + 4 * count):
        trace = bytearray(content[at:at + 240])
        trace[108:110] = round(1000 * delay).to_bytes(2, "big", signed=True)
        trace[114:116] = (last - first).to_bytes(2, "big")
        result += bytes(trace) + content[at + 240 + 4 * first:at + 240 + 4 * last]
    return result


class RecordTimes(invert_waves_case.Case):
    """Data of the start: their misfit is zero but for errors of resampling."""

    wavelet = ["--wavelet", "ricker:6"]
    count = 301

    def setUp(self):
        super().setUp()
        if not self.modeller:
            self.skipTest("model_waves was not built")
        self.survey = ["--spacing", "20", "--boundary", "sponge:16", *self.wavelet, "--replace-wavelet"]
        done = subprocess.run([self.modeller, "--vp", "start.npy", *self.survey[:-1], "--source",
                               "200,40:1000,40:2", "--receivers", "0,40:1200,40:31", "--time", "1.2",
                               "--interval", str(INTERVAL), "--snapshot-every", "0", "--no-plot", "--out",
                               "gathers"], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.path("gathers/gather.sgy"), "rb") as file:
            self.content = file.read()

    def write_data(self, name, first=0, last=None, delay=0.0):
        """Writes samples first to last - 1 of both shots."""
        self.write(name, recorded(self.content, first, last or self.count, delay))
        return name

    def first_misfit(self, data, *more):
        r = self.invert("--data", data, "--iterations", "1", *more, out=data + "_out")
        return r.history[0]["misfit"], r

    def test_times_before_the_first_sample_do_not_count(self):
        late = self.write_data("late.sgy", 100, delay=0.4)  # within the direct wave
        words = "2 of 2 shots have no data in up to 0.4 s at the beginning of the run, which have no weight"
        for misfit in ("least-squares", "correlation", "huber", "envelope"):
            found, r = self.first_misfit(late, "--misfit", misfit)
            self.assertLess(found, 1e-4, misfit)
            self.assertIn(words, r.text)
        self.assertAlmostEqual(r.summary["gather"]["begin"], 0.4)
        self.assertGreater(np.abs(r.load("gather_start.npy")[:, :100]).max(), 0.0)
        for more in (["--bands", "4,12"], ["--mute", "velocity:2500"], ["--source-field", "random"],
                     ["--devices", "2"], ["--at-once", "2"]):
            self.assertLess(self.first_misfit(late, *more)[0], 2e-4, more)

    def test_zero_phase_data(self):
        whole, r = self.first_misfit(self.write_data("whole.sgy", delay=-PEAK), "--wavelet-zero", "peak")
        self.assertLess(whole, 1e-4)
        # as long as the data, which end later in the run by the peak of the wavelet
        self.assertAlmostEqual(r.summary["scheme"]["steps"] * r.summary["scheme"]["dt"], 1.2, delta=0.005)
        begin = round(PEAK / INTERVAL)
        found, r = self.first_misfit(self.write_data("cut.sgy", begin, delay=begin * INTERVAL - PEAK),
                                     "--wavelet-zero", "peak", "--time", "1.2")
        self.assertLess(found, 1e-4)
        self.assertIn("no data in up to 0.248 s", r.text)

    def test_run_ends_with_the_last_sample(self):
        # the first tenth of the samples is before the shots
        found, r = self.first_misfit(self.write_data("early.sgy", 0, delay=-0.12))
        self.assertAlmostEqual(r.summary["scheme"]["steps"] * r.summary["scheme"]["dt"], 1.08, delta=0.005)
        self.assertNotIn("no data in", r.text)
        self.assertGreater(found, 0.0)

    def test_delays_of_shots_differ(self):
        os.mkdir(self.path("mixed"))
        half = 3600 + 31 * (240 + 4 * self.count)
        content = self.content
        self.content = content[:half]
        self.write_data("mixed/a.sgy", 0, 176)
        self.content = content[:3600] + content[half:]
        self.write_data("mixed/b.sgy", 125, delay=0.5)
        found, r = self.first_misfit("mixed")
        self.assertLess(found, 1e-4)
        self.assertAlmostEqual(r.summary["scheme"]["steps"] * r.summary["scheme"]["dt"], 1.2, delta=0.005)
        for words in ("1 of 2 shots has no data in up to 0.5 s at the beginning",
                      "1 of 2 shots has no data in up to 0.5"):
            self.assertIn(words, r.text)
        self.first_misfit("mixed", "--time", "1.2")
        for time, words in (("1.3", "--time is 1.3 s, and the data end at 1.2"),
                            ("0.4", "shot 2 has data from 0.5 to 1.2 s of the run (allowed: ")):
            done = self.call("--vp", "start.npy", *self.survey, "--data", "mixed", "--time", time,
                             "--no-plot", "--out", "bad")
            self.assertEqual(done.returncode, 2, done.stdout)
            self.assertIn(words, done.stderr)

    def test_data_before_the_shot(self):
        done = self.call("--vp", "start.npy", *self.survey, "--data", self.write_data("no.sgy", delay=-2.0),
                         "--no-plot", "--out", "bad")
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertIn("the last sample is at -0.8 s", done.stderr)


if __name__ == "__main__":
    sys.exit(support.main(__doc__))
