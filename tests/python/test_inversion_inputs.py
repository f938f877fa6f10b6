# SPDX-License-Identifier: BSD-3-Clause
# ctest: cost 6
"""Inversion: searches that share an objective, traces of zeros, bounds, notes on the initial model."""

import dataclasses
import sys
import unittest
import warnings

sys.dont_write_bytecode = True
import moho
import numpy as np

WAVES = {"spacing": 10, "wavelet": "ricker:10"}
RECEIVERS = np.column_stack([np.linspace(0.0, 400.0, 21), np.full(21, 20.0)])


def start():
    return np.full((41, 31), 2000.0, np.float32)


def gathers(**more):
    vp = start()
    vp[15:25, 12:18] = 2150.0
    shots = moho.Shots(vp, time=0.4, interval=0.002, **WAVES, **more)
    return [shots((x, 20.0), RECEIVERS) for x in (100.0, 300.0)]


def objective(data=None, **more):
    return moho.Objective(start(), gathers() if data is None else data, **{**WAVES, **more})


def silenced(gather, *rows):
    traces = gather.traces.copy()
    traces[list(rows)] = 0.0
    return dataclasses.replace(gather, traces=traces)


def evaluations(search):
    return [dataclasses.astuple(one) for one in search]


class Searches(unittest.TestCase):
    def test_keep_their_band_between_other_evaluations(self):
        data = gathers()
        alone = evaluations(objective(data, bands=(6, 12)).search(iterations=2))

        def other_search(made):
            self.assertEqual(evaluations(made.search(iterations=2)), alone)

        def other_band(made):
            made.set_band(12)
            made(made.start)

        for between in (other_search, other_band):
            made = objective(data, bands=(6, 12))
            search = made.search(iterations=2)
            found = evaluations([next(search)])
            between(made)
            found += evaluations(search)
            self.assertEqual(found, alone)

    def test_may_be_interleaved(self):
        data = gathers()
        alone = evaluations(objective(data, bands=(6, 12)).search(iterations=2))
        made = objective(data, bands=(6, 12))
        first, second = made.search(iterations=2), made.search(iterations=2)
        found = [[], []]
        in_first = sum(1 for one in alone if one[0] == 1)
        ahead = evaluations([next(first) for _ in range(in_first)])  # the next one is in the second band
        for one, two in zip(first, second):
            found[0].append(one)
            found[1].append(two)
        self.assertEqual(ahead + evaluations(found[0]), alone)
        self.assertEqual(evaluations([*found[1], *second]), alone)


class TracesOfZeros(unittest.TestCase):
    def test_are_left_out(self):
        data = gathers()
        keep = np.arange(21) != 3
        without = dataclasses.replace(data[0], traces=data[0].traces[keep], receivers=data[0].receivers[keep])
        options = {"misfit": "huber", "huber": 0.5}
        expected = objective([without, data[1]], **options)
        with self.assertWarnsRegex(UserWarning, r"1 trace is zero and left out; .* trace 3 of gathers\[0\]"):
            made = objective([silenced(data[0], 3), data[1]], **options)
        (misfit, gradient), (other, its) = made(made.start), expected(expected.start)
        self.assertEqual(misfit, other)
        self.assertEqual(gradient.tobytes(), its.tobytes())
        traces = made.modelled(made.start, 0)
        self.assertEqual(traces.shape, (21, made.steps + 1))
        self.assertEqual(traces[keep].tobytes(), expected.modelled(expected.start, 0).tobytes())
        self.assertFalse(traces[3].any())

    def test_are_no_gather(self):
        data = gathers()
        with self.assertRaisesRegex(moho.InputError, r"gathers\[1\].traces: the samples of all 21 traces"):
            objective([data[0], silenced(data[1], *range(21))])


class Bounds(unittest.TestCase):
    fields = {
        "epsilon": np.full((41, 31), 0.1, np.float32),
        "delta": np.full((41, 31), 0.05, np.float32),
    }

    def vti(self, data, **more):
        return objective(data, parameters="vp,epsilon,delta", **{**self.fields, **more})

    def test_beyond_what_models_may_have_are_refused(self):
        data = gathers(**self.fields)
        for name, *bounds in (
            ("vp", 1900, np.inf),
            ("vp", 1900, 1e30),
            ("vp", -np.inf, 2100),
            ("epsilon", -0.7, 0.2),
            ("epsilon", -0.49999, 0.2),
            ("epsilon", 0, 2.5),
            ("delta", -0.7, 0.2),
            ("delta", -np.inf, np.inf),
        ):
            with self.subTest(name=name, bounds=bounds):
                with self.assertRaisesRegex(moho.InputError, f"bounds: {name} from "):
                    self.vti(data, bounds={name: bounds})

    def test_of_zeros_are_no_default(self):
        data = gathers(**self.fields)
        for name in ("vp", "epsilon"):
            with self.assertRaisesRegex(moho.InputError, f"bounds: {name} from 0.0 to 0.0"):
                self.vti(data, bounds={name: (0, 0)})

    def test_by_default_are_what_models_may_have(self):
        data = gathers(**self.fields)
        for value, low, high in ((1.95, 1.85, 2.0), (-0.48, -0.48, -0.38), (-0.3, -0.4, -0.2)):
            epsilon = np.full((41, 31), value, np.float32)
            made = self.vti(data, epsilon=epsilon, delta=epsilon, spacing=2 if value < -0.4 else 10)
            self.assertAlmostEqual(made.value_bounds["epsilon"][0], low, places=6)
            self.assertAlmostEqual(made.value_bounds["epsilon"][1], high, places=6)
            nodes = start().size
            for x in made.bounds:
                found = made.model(x)["epsilon"].astype(float)
                self.assertGreaterEqual(found.min(), -0.4999)
                self.assertLessEqual(found.max(), 2.0)
            if value == 1.95:  # a step to the bound is evaluated
                x = made.start
                x[nodes : 2 * nodes] = made.bounds[1][nodes : 2 * nodes]
                self.assertTrue(np.isfinite(made(x)[0]))


class Notes(unittest.TestCase):
    def test_on_delta_above_epsilon(self):
        epsilon = np.full((41, 31), 0.1, np.float32)
        delta = epsilon.copy()
        data = gathers(epsilon=epsilon, delta=delta)
        delta[20, 10:12] = 0.2
        with self.assertWarnsRegex(UserWarning, "^delta is larger than epsilon at 2 nodes"):
            objective(data, epsilon=epsilon, delta=delta)
        with self.assertWarnsRegex(UserWarning, "^delta is larger than epsilon at 1271 nodes"):
            objective(data, delta=delta)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            objective(data, epsilon=epsilon, delta=epsilon)

    def test_on_amplitudes_once(self):
        data = gathers()
        strong = [dataclasses.replace(one, traces=1000.0 * one.traces) for one in data]
        text = (r"^the data are \d+\S* times as strong as the modelled traces of the start .*"
                r"misfit='correlation'$")
        made = objective(strong)
        with self.assertWarnsRegex(UserWarning, text) as warned:
            made(made.start)
        self.assertEqual(warned.filename, __file__)
        for first in (next, moho.Search.advance):
            with self.assertWarnsRegex(UserWarning, text) as warned:
                first(objective(strong).search())
            self.assertEqual(warned.filename, __file__)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            made(made.start)
            for one in (objective(data), objective(strong, misfit="correlation")):
                one(one.start)


if __name__ == "__main__":
    unittest.main()
