# SPDX-License-Identifier: BSD-3-Clause
"""Tests of programs that read data of shots: what is refused, wavelets, wavefields that overflow."""

import os
import subprocess

from program_case import np, npy


class DataChecks:
    """Data that do not fit the model or cannot be used. Subclasses have the members of DataWavelets."""

    def refuse_data(self, data, more, *words):
        """Asserts status 2, one line, and no result."""
        done = self.call(*self.model, *more, self.option, data, "--no-plot", "--out", "bad")
        self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stdout + done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        self.assertEqual([name for name in os.listdir(self.path("bad")) if not name.startswith(".")]
                         if os.path.exists(self.path("bad")) else [], [])

    def other_spacing(self, spacing, *more):
        survey = list(self.survey)
        survey[survey.index("--spacing") + 1] = spacing
        return [*survey, *more]

    def test_positions_outside(self):
        self.model_data([], "d")
        own = self.survey[self.survey.index("--spacing") + 1]
        half = str(int(own) / 2)
        for data in ("d", "d/gather.sgy"):
            self.refuse_data(data, self.other_spacing(half), f"{self.option} {data}: 1 of 2 shots and ",
                             "check --spacing", "; --allow-left-out leaves them out")
            self.refuse_data(data, [*self.survey, "--origin", "400,0"], "1 of 2 shots and ", "check --origin")
            done = self.call(*self.model, *self.other_spacing(half), self.option, data, "--plan",
                             "--allow-left-out", "--wavelet", "ricker:15")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("1 shot left out", done.stdout)
        self.refuse_data("d", self.other_spacing("0.5", "--allow-left-out"), "2 of 2 shots and ",
                         "check --spacing")
        self.refuse_data("d/gather.sgy", [*self.survey, "--elevations", "depth"], "try --elevations standard")

    def test_intervals(self):
        self.model_data(["--interval", "0.0015"], "d")
        with open(self.path("d/gather.sgy"), "rb") as file:
            content = bytearray(file.read())
        for interval, said in ((1500, ""), (4000, " s after first arrivals of the model (median of "),
                               (400, " s before first arrivals of the model (median of ")):
            samples = int.from_bytes(content[3220:3222], "big")
            content[3216:3218] = interval.to_bytes(2, "big")
            for trace in range(3600, len(content), 240 + 4 * samples):
                content[trace + 116:trace + 118] = interval.to_bytes(2, "big")
            self.write("line.sgy", bytes(content))
            at = self.survey.index("--time")
            survey = self.survey[:at] + self.survey[at + 2:]
            done = self.call(*self.model, *survey, self.option, "line.sgy", "--plan")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual("note: the data begin" in done.stdout, bool(said), done.stdout)
            self.assertIn(said, done.stdout)
            self.assertEqual("check the interval between samples (--data-interval)" in done.stdout,
                             bool(said))

    def test_missing_intervals(self):
        self.model_data([], "d")
        with open(self.path("d/gather.sgy"), "rb") as file:
            content = bytearray(file.read())
        samples = int.from_bytes(content[3220:3222], "big")
        for at in [3216, *(trace + 116 for trace in range(3600, len(content), 240 + 4 * samples))]:
            content[at:at + 2] = bytes(2)
        self.write("line.sgy", bytes(content))
        self.refuse_data("line.sgy", self.survey, "(bytes 3217-3218 and 117-118 are 0): give it as "
                         "--data-interval")

    def test_traces_are_checked_first(self):
        self.model_data([], "d")
        good = np.load(self.path("d/gather_0002.npy"))
        nan = good.copy()
        nan[3, 5] = np.nan
        for content, words in ((npy(nan), ("shot 2: trace 4 is nan at sample 6",)),
                               (npy(good[:, :-7]), ("samples in a trace",)),
                               (npy(good)[:-100], ("gather_0002.npy",)),
                               (npy(good.astype("M8[s]")), ("gather_0002.npy",)),
                               (npy(good[:-1]), ("gather_0002.npy' has the shape",))):
            self.write("d/gather_0002.npy", content)
            self.refuse_data("d", self.survey, f"{self.option} d: ", *words)


class DataWavelets:
    """The wavelet of data of model_waves. Subclasses set `option`, `model`, and `survey` without --wavelet.
    """

    option = ""  # "--shots"
    model = []  # arguments of the starting model
    survey = []  # arguments that the modelling program and the tested one share
    spread = []  # sources and receivers

    def model_data(self, wavelet, out):
        if not self.modeller:
            self.skipTest("model_waves was not built")
        done = subprocess.run([self.modeller, *self.model, *self.survey, *self.spread, *wavelet,
                               "--snapshot-every", "0", "--no-plot", "--out", out], cwd=self.folder,
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def plan(self, data, *more):
        """Returns the wavelet that the program prints, and the exit status or the message."""
        done = self.call(*self.model, *self.survey, self.option, data, "--plan", *more)
        if done.returncode == 0:
            return done.stdout.split(" wavelet ")[1].split(", up to")[0]
        self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)
        return done.stderr

    def test_the_wavelet_of_data(self):
        self.model_data(["--wavelet", "ricker:12"], "d")
        text = "the textual header of 'd/gather.sgy'"
        self.assertEqual(self.plan("d"), "ricker:12 (by 'd/summary.json')")
        self.assertEqual(self.plan("d/summary.json"), "ricker:12 (by 'd/summary.json')")
        self.assertEqual(self.plan("d/gather.sgy"), f"ricker:12 (by {text})")
        # the wavelet in other words
        self.assertEqual(self.plan("d", "--wavelet", "ricker:12.0:0.125"), "ricker:12.0:0.125")
        for data, where in (("d", "'d/summary.json'"), ("d/gather.sgy", text)):
            for wavelet in ("ricker:10", "ricker:12:0.2", "ormsby:2,4,12,20", "ricker:80"):
                said = self.plan(data, "--wavelet", wavelet)
                self.assertIn(f"--wavelet is {wavelet}, and {where} names ricker:12 (allowed: the wavelet of "
                              "the data): "
                              "leave it out, or add --replace-wavelet", said)
            said = self.plan(data, "--wavelet-zero", "peak")
            self.assertIn(f"--wavelet-zero is peak, and by {where} time zero of the data is the start", said)
            said = self.plan(data, "--wavelet", "ricker:10", "--replace-wavelet", "--wavelet-zero", "peak")
            self.assertEqual(said, f"ricker:10 ({where} names ricker:12)")
        # data without a wavelet, and a folder whose files name different wavelets
        self.assertIn("--replace-wavelet needs --wavelet", self.plan("d", "--replace-wavelet"))
        with open(self.path("d/gather.sgy"), "rb") as file:
            content = file.read()
        os.mkdir(self.path("line"))
        self.write("line/1.sgy", content)
        blank = "C 1 WAVELET: a minimum-phase one".ljust(3200).encode("cp500")
        self.write("line/2.sgy", blank + content[3200:])
        self.assertEqual(self.plan("line/2.sgy"), "ricker:15 (default: the data name none)")
        self.assertEqual(self.plan("line"), "ricker:12 (by the textual header of 'line/1.sgy')")
        self.write("line/2.sgy", content[:3200].replace("ricker:12".encode("cp500"),
                                                        "ricker:13".encode("cp500")) +
                   content[3200:])
        self.assertIn("'line' has files of different wavelets, ricker:1", self.plan("line"))

    def test_a_wavelet_in_a_file(self):
        times = np.arange(0.0, 0.3, 0.002)
        a = (np.pi * 12.0 * (times - 0.125)) ** 2
        np.savetxt(self.path("w.csv"), np.stack([times, (1.0 - 2.0 * a) * np.exp(-a)], axis=1), delimiter=",")
        self.model_data(["--wavelet", "file:w.csv"], "d")
        path = os.path.realpath(self.path("w.csv"))
        self.assertEqual(self.plan("d"), f"file:{path} (by 'd/summary.json')")
        self.assertEqual(self.plan("d/gather.sgy"), "file:w.csv (by the textual header of 'd/gather.sgy')")
        # other names of the same wavelet
        self.assertEqual(self.plan("d", "--wavelet", "ricker:12"), "ricker:12")
        self.assertIn("--wavelet is ricker:13, and 'd/summary.json' names file:",
                      self.plan("d", "--wavelet", "ricker:13"))
        # in the folder of the data
        os.rename(self.path("w.csv"), self.path("d/w.csv"))
        self.assertEqual(self.plan("d"), "file:d/w.csv (by 'd/summary.json')")
        self.assertEqual(self.plan("d/gather.sgy"), "file:d/w.csv (by the textual header of 'd/gather.sgy')")
        os.rename(self.path("d/w.csv"), self.path("moved.csv"))
        for data in ("d", "d/gather.sgy"):
            self.assertEqual(self.plan(data, "--wavelet", "moved.csv"), "moved.csv")
            said = self.plan(data)
            self.assertIn("--wavelet is missing: ", said)
            self.assertIn("names file:w.csv, and this file was not found or has changed since", said)
            self.assertIn("--wavelet is ricker:12, and ", self.plan(data, "--wavelet", "ricker:12"))
        with open(self.path("moved.csv")) as file:
            self.write("w.csv", file.read() + "0.3,0.5\n")
        self.assertIn("was not found or has changed since", self.plan("d"))
        self.assertIn("--wavelet is w.csv, and ", self.plan("d", "--wavelet", "w.csv"))


class Overflows:
    """Shared part of the tests of shots that overflow.

    The case has `call`, `path`, `folder`, `survey`, `shots` and `modeller`.
    """

    node = (r"the wavefield p is no longer finite "
            r"(at node|in the layer \d+ nodes outside of the model, near its node) \(\d+, \d+\)")

    def told(self, model, *arguments):
        """Returns the last line of a run over this model, for each shot: any concurrent shot may be first."""
        waves = [*self.survey[:2], *self.survey[4:]]  # all but the wavelet
        one = [] if "--at-once" in arguments else ["--at-once", "1"]
        done = self.call("--vp", model, *waves, *arguments, *one, "--no-plot", "--out", "out")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        lines = [line for line in done.stderr.splitlines() if "is no longer finite" in line]
        self.assertEqual(len(lines), 1, done.stderr)
        return lines[0]

    def huge_wavelet(self, rate):
        """Options of a wavelet that overflows, with an angular frequency in radians per second."""
        t = np.arange(151) * 0.002
        np.savetxt(self.path("huge.txt"), np.column_stack([t, 1e42 * np.sin(rate * t) * np.hanning(151)]))
        return ["--wavelet", "file:huge.txt"]

    def model_gathers(self):
        """Makes gathers of the true model with model_waves."""
        if not self.modeller:
            self.skipTest("there is no model_waves")
        done = subprocess.run([self.modeller, "--vp", "true.npy", *self.survey, *self.shots[4:],
                               "--snapshot-every", "0", "--no-plot", "--out", "gathers"], cwd=self.folder,
                              text=True, capture_output=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
