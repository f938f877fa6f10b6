#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of messages and notes of model_waves: their advice helps, and they are in whole words.

usage: test_wave_messages.py --program PATH [names of test classes]
Exit status 77 if numpy is missing or every test was skipped.
"""

import os
import sys

import model_waves_case
import support
from support import np


# ctest: quick
class Messages(model_waves_case.Case):
    def test_times_and_intervals(self):
        self.refuse([*self.section, "--interval", "0.3"], "--interval is 0.3 s", "up to 0.065535 s",
                    ": take a shorter one")
        self.refuse([*self.section, "--interval", "1e-7"], "--interval is 1e-07 s", ": take a longer one")
        self.refuse([*self.section, "--interval", "0.0000015"], "--interval is 1.5e-06 s", ": round it")
        # no interval would do
        said = self.refuse([*self.section[:-1], "1e9"], "--time is 1000000000 s",
                           ": give a shorter time")
        self.assertNotIn("longer interval", said)
        long = [*self.section[:-1], "500"]
        self.refuse(long, "--time is 500 s", ": give a longer interval, or a shorter time")
        self.succeed(*long, "--interval", "0.01", "--plan")

    def test_memory_of_receivers(self):
        self.refuse([*self.section, *self.on_host(), "--memory", "60M", "--receivers", "0,20:600,20:200000"],
                    "memory: the model with 200000 traces of 121 samples takes ",
                    ": take fewer shots or receivers, fewer shots --at-once or a longer --interval\n")

    def test_bits_of_parameters(self):
        self.refuse([*self.section, "--parameters", "16", "--precision", "double"],
                    "--parameters: those of 16 bits do not go with double precision")

    def test_a_taper_in_an_elliptical_medium(self):
        note = "note: --source-taper has no effect: epsilon equals delta at the sources"
        for delta, taper, elliptical in (("0.1", "50", True), ("0.02", "50", False), ("0.1", "0", False),
                                         ("0.1", "auto", False)):
            _, text = self.succeed(*self.section, "--epsilon", "0.1", "--delta", delta, "--source-taper",
                                   taper, "--plan")
            self.assertEqual(note in text, elliptical, (delta, taper))

    def test_long_lines_of_textual_headers(self):
        folder = "a_folder_of_models_with_a_rather_long_name"
        os.mkdir(self.path(folder))
        name = self.save(folder + "/velocities_of_the_section.npy", np.full((61, 41), 2000.0, np.float32))
        self.model("--vp", name, "--spacing", "10", "--time", "0.1", "--snapshot-every", "0")
        with open(self.path("out/gather.sgy"), "rb") as file:
            text = file.read(3200).decode("cp037")
        lines = [text[at:at + 80] for at in range(0, 3200, 80)]
        begin, end = (next(k for k, line in enumerate(lines) if word in line)
                      for word in ("MODEL: ", "MEDIUM: "))
        # names without spaces are divided anywhere
        model = "".join(line[4:] for line in lines[begin:end]).replace(" ", "")
        self.assertEqual(model, f"MODEL:--vp{name}:61x41nodes,10mapart(x0to600,z0to400m)")
        self.assertEqual([line[:3] for line in lines], [f"C{k:2}" for k in range(1, 41)])


if __name__ == "__main__":
    sys.exit(support.main(__doc__))
