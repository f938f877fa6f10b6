#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# ctest: cost 20
"""Tests of invert_waves: bounds, options without effect, amplitudes of data, finished runs.

usage: test_invert_inputs.py --program PATH [--modeller PATH] [names of test classes]
Exit status 77 if numpy is missing or every test was skipped.
"""

import os
import re
import subprocess
import sys

import invert_waves_case
import support
from support import np


class Inputs(invert_waves_case.Case):
    survey = ["--spacing", "20", "--wavelet", "ricker:6", "--time", "0.5", "--dt", "0.002", "--boundary",
              "sponge:16"]
    shots = ["--data", "modelled", "--true-vp", "true.npy", "--source", "300,40:900,40:2", "--receivers",
             "0,700:1200,700:11", "--iterations", "1"]
    vti = ["--epsilon", "0.1", "--delta", "0.05", "--true-epsilon", "0.1", "--true-delta", "0.05"]

    def refuse_here(self, more, *words):
        self.refuse(["--vp", "start.npy", *self.survey, *self.shots, *more], *words)

    def test_bounds(self):
        both = [*self.vti, "--parameters", "vp,epsilon,delta"]
        for bounds, words in (("vp:1700:1e30", "--bounds: vp from 1700 to 1e+30"),
                              ("vp:1700:2400,vp:1700:2300", "--bounds: vp occurs twice"),
                              ("epsilon:0:2.5", "--bounds: epsilon from 0 to 2.5 (allowed: "),
                              ("epsilon:-0.49999:0.3", "-0.4999 to 2"),
                              ("delta:-0.6:0.3", "--bounds: delta from -0.6 to 0.3")):
            self.refuse_here([*both, "--bounds", bounds], words)
        self.survey = [*self.survey[:6], *self.survey[8:]]  # without --dt
        self.assertIn("epsilon from 1.85 to 2;",
                      self.plan(*self.vti[4:], "--epsilon", "1.95", "--delta", "1", "--parameters",
                                "vp,epsilon"))

    def test_time_steps_of_bounds_and_bands(self):
        self.survey = [*self.survey[:6], *self.survey[8:]]  # without --dt
        self.refuse_here(["--bounds", "vp:1700:1e8"], "--bounds: models up to the bounds take steps of ",
                         "lower the greatest value")
        for bands in ("600", "10,700"):
            self.refuse_here(["--bands", bands], f"--bands: {bands.split(',')[-1]} Hz (allowed: below ",
                             "take lower frequencies")

    def test_data_of_zeros(self):
        """Data that cannot be inverted are refused before anything is written."""
        if not self.modeller:
            self.skipTest("model_waves was not built")
        self.model_gathers()
        gather = self.path("gathers/gather_0002.npy")
        np.save(gather, 0.0 * np.load(gather))
        for more, words in (([], "has no live trace"),
                            (["--mute", "velocity:10"], "all samples that count are zero")):
            data = ["--data", "gathers", "--iterations", "1"]
            done = self.call("--vp", "start.npy", *self.survey, *data, *more, "--no-plot", "--out", "zeros")
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(words, done.stderr)
            self.assertEqual(os.listdir(self.path("zeros")), [])

    def test_models_of_a_shot(self):
        model = self.start[None].copy()
        for value, words in ((np.nan, "nan"), (0.0, "0")):
            model[0, 3, 4] = value
            self.save("model.npy", model)
            self.refuse_here(["--only-shot", "1", "--evaluate", "model.npy"],
                             f"--evaluate model.npy: vp at node (3, 4), (60, 80), is {words} (allowed: ")

    def test_stream_of_concurrent_shots(self):
        self.refuse_here(["--source-field", "random", "--block", "8", "--at-once", "2"],
                         "--at-once is 2 (allowed with a gradient that streams: 1): shots are computed one ")

    def test_seconds_of_a_streamed_shot(self):
        """All passes of a shot: an evaluation has those of all shots."""
        text = self.plan("--source-field", "random", "--block", "8")
        shots = int(re.search(r": (\d+) shots", text)[1])
        shot = float(re.search(r"; ([0-9.e+-]+) s a shot", text)[1])
        evaluation = float(re.search(r"about ([0-9.e+-]+) s an evaluation", text)[1])
        self.assertAlmostEqual(shot * shots / evaluation, 1.0, delta=0.06)  # two digits

    def test_options_without_effect(self):
        self.refuse_here(["--only-shot", "2", "--lags", "5", "--lags-every", "1"],
                         "--lags-every has no effect with --only-shot")
        self.survey = list(self.survey)
        note = "note: --width has no effect"
        width = ["--width", "20"]
        for options, noted in ((width, True), ([*width, "--source-field", "random"], False), ([], False)):
            self.assertEqual(note in self.plan(*options), noted, options)
        self.survey[-1] = "sponge"
        self.assertNotIn(note, self.plan(*width))

    def test_wavelet_beyond_the_end(self):
        note = "note: the wavelet lasts until "
        self.assertNotIn(note, self.plan())
        self.survey = [word if word != "ricker:6" else "ricker:6:1" for word in self.survey]
        self.assertIn(note, self.plan())

    def test_delta_above_epsilon(self):
        note = "note: delta is larger than epsilon at 2501 nodes and lowered to it there"
        self.assertIn(note, self.plan("--epsilon", "0.1", "--delta", "0.2", *self.vti[4:]))
        self.assertNotIn("delta is larger", self.plan(*self.vti))

    def data(self, factor):
        """Writes the shots of the true model, times a factor, as a SEG-Y file."""
        with open(self.path("gathers/gather.sgy"), "rb") as file:
            content = bytearray(file.read())
        count = int.from_bytes(content[3220:3222], "big")
        for at in range(3600 + 240, len(content), 240 + 4 * count):
            samples = np.frombuffer(content, ">f4", count, at) * np.float32(factor)
            content[at:at + 4 * count] = samples.astype(">f4").tobytes()
        with open(self.path("scaled.sgy"), "wb") as file:
            file.write(content)
        return ["--data", "scaled.sgy", "--replace-wavelet", "--iterations", "1"]

    def model_gathers(self):
        done = subprocess.run([self.modeller, "--vp", "true.npy", *self.survey, *self.shots[4:8],
                               "--interval", "0.004", "--snapshot-every", "0", "--no-plot", "--out",
                               "gathers"],
                              cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_amplitudes(self):
        if not self.modeller:
            self.skipTest("model_waves was not built")
        self.model_gathers()
        note = "times as strong as the modelled traces of the start (root mean square)"
        self.assertNotIn("the modelled traces", self.invert(*self.data(1.0)).text)
        strong = self.invert(*self.data(1e5)).text
        self.assertIn(note, strong)
        factor = float(strong.split("the data are ")[1].split()[0])
        self.assertTrue(0.8e5 < factor < 1.25e5, factor)
        self.assertNotIn(note, self.invert(*self.data(1e5), "--misfit", "correlation").text)
        self.assertIn("times as weak as the modelled", self.invert(*self.data(1e-5)).text)
        data = self.data(1e-20)
        done = self.call("--vp", "start.npy", *self.survey, *data, "--no-plot", "--out", "weak")
        self.assertEqual(done.returncode, 2, done.stderr)
        for words in ("--data scaled.sgy: shot 1: the data are ",
                      "times as weak as the modelled traces (root mean square), with which the gradient",
                      "--misfit correlation"):
            self.assertIn(words, done.stderr)
        self.invert(*data, "--misfit", "correlation")

    def test_lags_of_a_resumed_run(self):
        lags = [*self.shots, "--lags", "2", "--lags-every", "1"]
        r = self.invert(*lags)
        self.assertEqual((r.summary["asked"]["lags_every"], r.summary["asked"]["lags_sum"]), (1, "exact"))
        for more, words in (([*lags[:-1], "2"], "--resume: --lags-every is 2, and was 1"),
                            ([*lags, "--lags-sum", "plain"], "--resume: --lags-sum is plain, and was exact")):
            self.refuse(["--vp", "start.npy", *self.survey, *more, "--resume", "--out", "out"], words)

    def test_forecast_of_a_run_with_images(self):
        asked = ["--vp", "start.npy", *self.survey, *self.shots, "--plan"]
        for more, counts in (([], "1 iteration"), (["--lags", "2"], "1 iteration and 1 extended image"),
                             (["--bands", "5,9", "--lags", "2", "--lags-every", "1"],
                              "2 iterations and 5 extended images")):
            done = self.call(*asked, *more)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stdout, f" [0-9.]+ s an evaluation, [0-9.]+ s for {counts}\n")

    def test_a_finished_run_is_not_repeated(self):
        first = self.invert(*self.shots)
        times = {name: os.stat(os.path.join(first.folder, name)).st_mtime_ns
                 for name in os.listdir(first.folder)}
        self.assertFalse(any(name.startswith("search") for name in times))
        again = self.invert(*self.shots, "--resume")
        self.assertRegex(again.text,
                         "resumed   the inversion in .* is complete: [0-9]+ evaluations?, nothing")
        self.assertNotIn("evaluated", again.text)
        self.assertEqual(times, {name: os.stat(os.path.join(first.folder, name)).st_mtime_ns
                                 for name in os.listdir(first.folder)})
        os.remove(os.path.join(first.folder, "vp.npy"))
        anew = self.invert(*self.shots, "--resume")
        self.assertIn("resumed   files have changed, it begins anew", anew.text)
        self.assertEqual(anew.vp.tobytes(), first.vp.tobytes())


if __name__ == "__main__":
    sys.exit(support.main(__doc__))
