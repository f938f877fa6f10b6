#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# ctest: cost 10
"""Tests of --parameters 16: the bits of streams and of model_waves, and small changes of the results.

usage: test_parameters.py --program PATH of stream_waves [--modeller PATH of model_waves]
           [names of test classes]
Exit status 77 if numpy is missing or every test was skipped.
"""

import sys

import support
from stream_waves_case import AgreementCase
from support import np


class Codes(AgreementCase):
    def test_parameters_of_16_bits(self):
        self.model_files((57, 41))
        survey = ["--vp", "v.npy", "--spacing", "10", "--time", "0.2", *self.shots_2d, "--parameters"]
        for medium in ("isotropic", "variable density", "VTI"):
            parameters, boundary = self.media_2d[medium]
            with self.subTest(medium=medium):
                coded = [*survey, "16", "--boundary", boundary, *parameters]
                self.agree(coded, self.ways[2:4], self.spaces()[0])
                r = self.model(*coded, "--space", self.spaces()[0])
                full = self.model(*survey, "32", "--boundary", boundary, *parameters, "--space",
                                  self.spaces()[0])
                self.assertEqual([one.summary["scheme"]["parameter_bits"] for one in (r, full)], [16, 32])
                self.assertIn("parameters in 16 bits", r.text)
                for one, other in zip(r.gathers, full.gathers):
                    largest = np.abs(other).max()
                    self.assertGreater(np.abs(one - other).max(), 0.0)
                    self.assertLess(np.abs(one - other).max(), 1e-4 * largest)
        if "cuda" not in self.spaces():
            return
        self.model_files((59, 41, 43))
        for medium in ("isotropic", "variable density", "VTI"):
            parameters, _ = self.media_2d[medium]
            with self.subTest(medium=medium, space="cuda"):
                chosen = ["--vp", "v.npy", "--spacing", "10", "--time", "0.1", "--coordinates", "xyz",
                          "--source", "133,201,40", "--receivers", "40,200,20:500,200,20:8", *parameters]
                r = self.expected(chosen, "cuda")
                self.assertEqual(r.summary["scheme"]["parameter_bits"], 16)
                self.same(self.stream(*chosen, "--space", "cuda", *self.ways[2]), r)


if __name__ == "__main__":
    sys.exit(support.main(__doc__))
