# SPDX-License-Identifier: BSD-3-Clause
"""Case of the tests of model_waves: its runs and their files."""

import os
import struct

import support
from support import np


def ricker(t, frequency, delay):
    a = (np.pi * frequency * (t - delay)) ** 2
    return (1.0 - 2.0 * a) * np.exp(-a)


class Case(support.Case):
    # A cube of 880 m whose faces do not affect the first 0.4 s.
    cube = ["--vp", "2000", "--shape", "45,45,45", "--spacing", "20", "--origin", "x=-440,y=-440,z=0",
            "--wavelet", "ricker:10", "--time", "0.4", "--boundary", "rigid", "--snapshot-every", "0"]
    # A small section.
    section = ["--vp", "2000", "--shape", "61,41", "--spacing", "10", "--snapshot-every", "0", "--time",
               "0.3"]

    def small_survey(self):
        """Saves a rough section, and returns the options of a shot over it."""
        v = 1800.0 + 15.0 * np.arange(51) + np.random.default_rng(4).uniform(0, 150, (71, 51))
        return ["--vp", self.save("v.npy", v.astype(np.float32)), "--spacing", "10", "--time", "0.35",
                "--snapshot-every", "0", "--source", "204,33", "--receivers", "10,20:690,20:35"]

    def model(self, *arguments, out="out", plot=False):
        """Runs the program, which must succeed and not write to stderr. Returns its results."""
        return Results(*self.succeed(*arguments, out=out, plot=plot))

    def close(self, found, expected, tolerance):
        self.assertLess(np.linalg.norm(found - expected), tolerance * np.linalg.norm(expected))


class Results(support.ShotResults):
    """Adds the times of samples and the SEG-Y file."""

    def __init__(self, folder, text):
        super().__init__(folder, text)
        self.times = self.summary["gather"]["interval"] * np.arange(self.gather.shape[1])

    def segy(self):
        """Returns the interval in microseconds and the header values of each trace.

        These are record, source x, depth, receiver x, elevation and samples.
        """
        with open(os.path.join(self.folder, "gather.sgy"), "rb") as file:
            data = file.read()
        interval, samples = struct.unpack(">H", data[3216:3218])[0], struct.unpack(">H", data[3220:3222])[0]
        traces = []
        for at in range(3600, len(data), 240 + 4 * samples):
            head = data[at:at + 240]
            record, = struct.unpack(">i", head[8:12])
            elevation, _, depth = struct.unpack(">iii", head[40:52])
            scale_z, scale = ([1.0 / -s if s < 0 else float(s or 1)
                               for s in struct.unpack(">hh", head[68:72])])
            source_x, _, receiver_x, _ = struct.unpack(">iiii", head[72:88])
            values = np.frombuffer(data[at + 240:at + 240 + 4 * samples], dtype=">f4")
            traces.append((record, source_x * scale, depth * scale_z, receiver_x * scale, elevation * scale_z,
                           values))
        return interval, traces
