# SPDX-License-Identifier: BSD-3-Clause
# ctest: cost 10
"""invert_times() and picks: the results of the program, order of picks, files, messages."""

import csv
import os
import sys
import tempfile
import unittest
import warnings
from dataclasses import replace

sys.dont_write_bytecode = True
import moho
import numpy as np
import support

OPTIONS = {"spacing": 20, "origin": (0, 0), "shape": (51, 16), "topography": None}
WORDS = ["--spacing", 20, "--origin", "0,0", "--shape", "51,16", "--topography", "none"]


def survey(noise=0.001, seed=3):
    """Picks of a gradient with a fast body, with sources and receivers at the surface."""
    x, z = np.meshgrid(np.arange(51) * 20.0, np.arange(16) * 20.0, indexing="ij")
    velocity = 1500.0 + 3.0 * z + 300.0 * np.exp(-(((x - 500) / 120) ** 2) - ((z - 120) / 60) ** 2)
    line = np.column_stack([np.arange(0.0, 1001.0, 40.0), np.zeros(26)])
    sources = line[::5]
    rays = moho.trace_rays(velocity, spacing=20, sources=sources, receivers=line)
    source, receiver = np.nonzero(rays.traveltimes > 0.0)
    times = rays.traveltimes[source, receiver]
    times = times + noise * np.random.default_rng(seed).normal(size=times.size)
    kept = times > 0.005
    return moho.Picks(sources, line, source[kept], receiver[kept], times[kept], np.full(kept.sum(), noise))


class Results(unittest.TestCase):
    def expect_the_program(self, options, **arguments):
        picks = survey()
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/picks.sgt"
            moho.write_picks(path, picks)
            picks = moho.read_picks(path)
            support.run_program(
                "invert_times", f"{folder}/out", "--picks", path, "--precision", "double", *options
            )
            found = moho.invert_times(picks, precision="double", **arguments)
            for name in ("velocity", "start", "coverage", "deviation", "resolution"):
                expected = np.load(f"{folder}/out/{name}.npy")
                self.assertEqual(getattr(found, name).tobytes(), expected.tobytes(), name)
            with open(f"{folder}/out/history.csv", encoding="ascii") as file:
                rows = list(csv.DictReader(file))
            self.compare_other_files(found, f"{folder}/out", f"{folder}/exported")
        self.assertEqual(len(found.iterations), len(rows))
        self.assertGreater(len(rows), 1)
        return found

    def compare_other_files(self, found, folder, exported):
        """Compares a jackknife and exports with those of the program, if they were requested."""
        if found.jackknife is not None:
            self.assertEqual(found.jackknife.tobytes(), np.load(f"{folder}/jackknife.npy").tobytes())
            with open(f"{folder}/jackknife.csv", encoding="ascii") as file:
                rows = list(csv.DictReader(file))
            self.assertEqual(len(rows), len(found.jackknife_runs))
            for row, run in zip(rows, found.jackknife_runs):
                numbers = (run.group, run.sources, run.picks, run.iterations, run.chi2, run.rms, run.damping)
                self.assertEqual([float(value) for value in row.values()], [float(one) for one in numbers])
        if found.checkerboard is not None:
            for name in ("truth", "found"):
                expected = np.load(f"{folder}/check_{name.replace('truth', 'true')}.npy")
                self.assertEqual(getattr(found.checkerboard, name).tobytes(), expected.tobytes(), name)
            with open(f"{folder}/checkerboard.csv", encoding="ascii") as file:
                rows = list(csv.DictReader(file))
            self.assertEqual(
                [[float(value) for value in row.values()] for row in rows],
                [
                    [layer.depth, layer.correlation, layer.recovered, layer.covered, layer.z]
                    for layer in found.checkerboard.layers
                ],
            )
        names = [
            name for name in ("model.vtk", "velocity.rsf", "picks.sgt") if os.path.exists(f"{folder}/{name}")
        ]
        if names:
            os.mkdir(exported)
            self.assertEqual(found.export(exported), [f"{exported}/{name}" for name in names])
        for name in names:
            with open(f"{folder}/{name}", "rb") as one, open(f"{exported}/{name}", "rb") as other:
                expected, written = one.read(), other.read()
            self.assertEqual(written.replace(exported.encode(), folder.encode()), expected, name)

    def test_have_the_bits_of_the_program_with_a_jackknife_and_exports(self):
        found = self.expect_the_program(
            [*WORDS, "--jackknife", 3, "--export", "vtk,rsf,sgt", "--lengths", "160,60"],
            jackknife=3,
            lengths=(160, 60),
            **OPTIONS,
        )
        self.assertEqual([run.sources for run in found.jackknife_runs], [4, 4, 4])
        self.assertGreater(found.jackknife.max(), 1e-4)

    def test_have_the_bits_of_the_program_with_a_checkerboard(self):
        found = self.expect_the_program(
            [*WORDS, "--checkerboard", "200,100,8", "--jackknife", 2, "--iterations", 3],
            checkerboard=(200, 100, 8),
            jackknife=2,
            iterations=3,
            **OPTIONS,
        )
        self.assertEqual(sorted(set(found.checkerboard.truth.ravel().round(6))), [-0.08, 0.08])
        self.assertEqual(found.checkerboard.truth.shape, (51, 16))
        # rays turn near the surface, where they show the checks
        self.assertGreater(found.checkerboard.layers[0].correlation, 0.5)
        self.assertGreater(len(found.checkerboard.iterations), 1)
        plain = moho.invert_times(survey(), iterations=1, **OPTIONS)
        self.assertIsNone(plain.checkerboard)

    def test_checkerboards_out_of_range_are_refused(self):
        for checks, text in (
            ((200, 8), "checkerboard has 2 numbers (allowed: 3, a size along each axis and percent)"),
            ((200, 10, 8), "checkerboard: a check is 10 m along z (allowed: 20 m, the distance of nodes"),
            ((200, 100, 50), "checkerboard: a change of 50 % (allowed: above 0 and below 50)"),
            ((np.nan, 100, 5), "checkerboard: a check is nan m along x"),
        ):
            with self.assertRaises(moho.InputError) as caught:
                moho.invert_times(survey(), checkerboard=checks, iterations=0, **OPTIONS)
            self.assertIn(text, str(caught.exception))

    def test_change_equally_along_an_axis_with_an_infinite_length(self):
        found = moho.invert_times(survey(), lengths=(np.inf, 60), **OPTIONS)
        change = np.log(found.velocity / found.start)
        np.testing.assert_allclose(change, np.tile(change[:1], (51, 1)), atol=1e-6)

    def test_have_the_bits_of_the_program_in_vti_media(self):
        x, z = np.meshgrid(np.arange(51), np.arange(16) * 20.0, indexing="ij")
        epsilon = 0.05 + 0.0002 * z + 0.0 * x
        with tempfile.TemporaryDirectory() as folder:
            np.save(f"{folder}/epsilon.npy", epsilon)
            self.expect_the_program(
                [*WORDS, "--epsilon", f"{folder}/epsilon.npy", "--delta", 0.02, "--iterations", 2],
                epsilon=epsilon,
                delta=0.02,
                iterations=2,
                **OPTIONS,
            )

    def test_have_the_bits_of_the_program_with_located_sources(self):
        words = ["--locate", "--location-deviation", "15,0", "--origin-deviation", 0.002]
        found = self.expect_the_program(
            [*WORDS, *words, "--iterations", 3],
            locate=True,
            location_deviation=(15, 0),
            origin_deviation=0.002,
            iterations=3,
            **OPTIONS,
        )
        moves = found.sources - survey().sources
        self.assertGreater(np.abs(moves[:, 0]).max(), 0.0)
        np.testing.assert_array_equal(moves[:, 1], 0.0)
        self.assertEqual(found.origin_times.shape, (6,))

    def test_export_some_formats_in_any_order_of_the_picks(self):
        picks = survey()
        picks = replace(picks, errors=None)
        found = moho.invert_times(picks, error=(0.001, 0.01), iterations=1, **OPTIONS)
        self.assertIsNone(found.jackknife)
        np.testing.assert_allclose(found.picks.errors, 0.001 + 0.01 * picks.times)
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(found.export(folder, "sgt"), [f"{folder}/picks.sgt"])
            written = moho.read_picks(f"{folder}/picks.sgt")
            with self.assertRaisesRegex(moho.InputError, "formats is 'pdf'"):
                found.export(folder, ["pdf"])
            with self.assertRaisesRegex(moho.InputError, "formats names vtk twice"):
                found.export(folder, "vtk,rsf,vtk")
            with self.assertRaisesRegex(moho.FileError, "missing"):
                found.export(f"{folder}/missing", "rsf")
        np.testing.assert_allclose(np.sort(written.times), np.sort(picks.times), rtol=1e-6)

    def test_have_the_bits_of_the_program(self):
        found = self.expect_the_program(WORDS, **OPTIONS)
        self.assertLess(abs(found.chi2 - 1.0), 0.1)
        self.assertEqual(found.velocity.shape, (51, 16))
        self.assertEqual((found.spacing, found.origin), ((20.0, 20.0), (0.0, 0.0)))

    def test_have_the_bits_of_the_program_with_chosen_values(self):
        found = self.expect_the_program(
            ["--bounds", "1000,4000", "--robust", "biweight", "--statics", "both", "--lambda-by", "gcv"]
            + ["--start", "1600,2.5", "--iterations", 4],
            bounds=(1000, 4000),
            robust="biweight",
            statics="both",
            damping="gcv",
            start=(1600, 2.5),
            iterations=4,
        )
        self.assertEqual(len(found.source_delays), 6)
        self.assertEqual(len(found.receiver_delays), 26)

    def test_have_the_bits_of_the_program_with_layers_and_a_reference(self):
        x, z = np.meshgrid(np.arange(51), np.arange(16) * 20.0, indexing="ij")
        reference = 1400.0 + 3.5 * z + 0.1 * x
        with tempfile.TemporaryDirectory() as folder:
            np.save(f"{folder}/reference.npy", reference)
            found = self.expect_the_program(
                [*WORDS, "--start", "layers", "--reference", f"{folder}/reference.npy"],
                start="layers",
                reference=reference,
                **OPTIONS,
            )
        self.assertGreater(np.ptp(found.start[0]), 100.0)
        np.testing.assert_array_equal(found.start, np.tile(found.start[0], (51, 1)))
        plain = moho.invert_times(survey(), start=found.start, **OPTIONS)
        self.assertGreater(np.max(np.abs(plain.velocity / found.velocity - 1.0)), 0.01)
        for wrong in ({"start": "fast"}, {"reference": reference[:, 0]}, {"reference": reference[1:]}):
            with self.assertRaises(moho.InputError):
                moho.invert_times(survey(), **{**OPTIONS, **wrong})

    def test_are_those_of_picks_in_another_order(self):
        picks = survey()
        order = np.random.default_rng(1).permutation(picks.times.size)
        mixed = replace(
            picks,
            source=picks.source[order],
            receiver=picks.receiver[order],
            times=picks.times[order],
            errors=picks.errors[order],
        )
        one = moho.invert_times(picks, iterations=2, **OPTIONS)
        other = moho.invert_times(mixed, iterations=2, **OPTIONS)
        self.assertEqual(one.velocity.tobytes(), other.velocity.tobytes())
        self.assertEqual(one.predicted[order].tobytes(), other.predicted.tobytes())
        np.testing.assert_array_equal(one.path(order[7]), other.path(7))
        ends = other.path(-1)[[0, -1]]
        np.testing.assert_allclose(ends[0], mixed.sources[mixed.source[-1]])
        np.testing.assert_allclose(ends[1], mixed.receivers[mixed.receiver[-1]])

    def expect_without_the_left_out(self, found, expected, kept, picks):
        for name in ("velocity", "start", "coverage", "origin"):
            np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), name)
        self.assertEqual(found.iterations, expected.iterations)
        for name, other in (("predicted", np.nan), ("residuals", np.nan), ("errors", np.nan), ("weights", 0)):
            np.testing.assert_array_equal(getattr(found, name)[kept], getattr(expected, name))
            np.testing.assert_array_equal(getattr(found, name)[~kept], other)
        place = int(np.flatnonzero(kept)[30])
        np.testing.assert_array_equal(found.path(place), expected.path(int(kept[:place].sum())))
        self.assertEqual(found.path(int(np.flatnonzero(~kept)[0])).shape, (0, 2))
        np.testing.assert_array_equal(found.sources, picks.sources)

    def test_leave_out_picks_with_weight_0(self):
        """They, and points without other picks, matter neither for the grid nor for models and delays."""
        picks = survey()
        kept = np.ones(picks.times.size, bool)
        kept[[3, 40]] = False
        times, errors = picks.times.copy(), picks.errors.copy()
        times[[3, 40]], errors[3] = (-1.0, np.nan), np.nan
        far = replace(
            picks,
            sources=np.vstack([[(-400.0, 0.0)], picks.sources]),
            source=np.r_[picks.source + 1, 0],
            receiver=np.r_[picks.receiver, 5],
            times=np.r_[times, 9.0],
            errors=np.r_[errors, 0.001],
            weights=np.r_[kept.astype(float), 0.0],
        )
        kept_too = np.r_[kept, False]
        plain = replace(
            picks,
            **{name: getattr(picks, name)[kept] for name in ("source", "receiver", "times", "errors")},
        )
        arguments = {"iterations": 2, "topography": None, "statics": "source", "jackknife": 2}
        found = moho.invert_times(far, **arguments)
        expected = moho.invert_times(plain, **arguments)
        self.expect_without_the_left_out(found, expected, kept_too, far)
        np.testing.assert_array_equal(found.jackknife, expected.jackknife)
        np.testing.assert_array_equal(found.source_delays, np.r_[0.0, expected.source_delays])
        with tempfile.TemporaryDirectory() as folder:
            moho.write_picks(f"{folder}/picks.sgt", far)
            self.assertEqual(moho.read_picks(f"{folder}/picks.sgt").times.size, plain.times.size)
            found.export(folder, "sgt")
            read = moho.read_picks(f"{folder}/picks.sgt")
            np.testing.assert_array_equal(np.sort(read.times), np.sort(plain.times))

    def test_fit_the_picks(self):
        found = moho.invert_times(survey(), **OPTIONS)
        self.assertLess(found.chi2, 1.1)
        picks = survey()
        np.testing.assert_allclose(found.residuals, picks.times - found.predicted, atol=1e-12)
        seen = []
        moho.invert_times(survey(), progress=lambda f, text: seen.append(f), **OPTIONS)
        self.assertEqual(seen, sorted(seen))


class Files(unittest.TestCase):
    def test_are_written_in_one_format(self):
        place = np.zeros((1, 2))
        picks = moho.Picks(place, place + (10, 0), np.array([0]), np.array([0]), np.array([0.01]))
        with tempfile.TemporaryDirectory() as folder:
            for name in ("picks.csv", "picks", "picks.txt"):
                with self.assertRaisesRegex(
                    moho.InputError, r"^extension of path is '(\.csv||\.txt)' \(allowed: \.sgt\)"
                ):
                    moho.write_picks(f"{folder}/{name}", picks)
            moho.write_picks(f"{folder}/picks.SGT", picks)
            self.assertEqual(os.listdir(folder), ["picks.SGT"])
            self.assertEqual(moho.read_picks(f"{folder}/picks.SGT").times.tolist(), [0.01])

    def test_tables_are_read(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(f"{folder}/picks.csv", "w", encoding="ascii") as file:
                file.write("sx,sz,rx,rz,time,error\n0,1,50,0,20,1\n0,1,90,0,35,2\n")
            picks = moho.read_picks(f"{folder}/picks.csv", time_unit="ms")
        np.testing.assert_allclose(picks.times, [0.020, 0.035])
        np.testing.assert_allclose(picks.errors, [0.001, 0.002])
        np.testing.assert_allclose(picks.receivers[picks.receiver], [(50, 0), (90, 0)])

    def test_missing_files_are_named(self):
        with self.assertRaisesRegex(moho.FileError, "nothing.sgt"):
            moho.read_picks("nothing.sgt")


class Messages(unittest.TestCase):
    def refused(self, text, picks=None, **arguments):
        with self.assertRaisesRegex(moho.InputError, text) as caught:
            moho.invert_times(survey() if picks is None else picks, **{**OPTIONS, **arguments})
        for word in ("--", "moho::", "Kokkos"):
            self.assertNotIn(word, str(caught.exception))

    def test_name_argument_and_remedy(self):
        picks = survey()
        self.refused("picks are of type", picks=[1])
        self.refused("errors", picks=replace(picks, errors=None))
        self.refused("time_unit", picks=replace(picks, times=1000 * picks.times))
        self.refused("picks.source: rows are", picks=replace(picks, source=picks.source + 99))
        self.refused("picks.receiver: it is", picks=replace(picks, receiver=picks.receiver[1:]))
        few = np.where(np.arange(picks.times.size) < 7, 1.0, 0.0)
        left_out = picks.times.size - 7
        self.refused(f"7 picks in use and {left_out} that are left out", picks=replace(picks, weights=few))
        self.refused("shape is", shape=(51, 16, 3))
        self.refused("outside", shape=(11, 16))
        self.refused("bounds is", bounds=(3000, 1000))
        self.refused("start is", start=-5)
        self.refused("the start model has", start=np.full((3, 3), 2000.0))
        self.refused("statics is", statics="all")
        self.refused("damping is", damping=-1.0)
        self.refused("error is", error=(0.0, 0.0))
        self.refused("jackknife is 7, and there are 6 sources", jackknife=7)
        self.refused("jackknife is 1 ", jackknife=1)
        self.refused("location_deviation was given", location_deviation=10)
        self.refused("origin_deviation was given without locate", origin_deviation=0.01)
        self.refused("static_deviation was given without statics", static_deviation=0.01)
        self.refused("rows 1 and 3 have the depths 0 and 3 m at x = 0 .allowed: one depth",
                     topography=[(0, 0), (500, 1), (0, 3)])
        self.refused("bounds is .500, inf. .allowed: 0 < least < greatest, m/s, finite", bounds=(500, np.inf))
        self.refused("error is inf .allowed: s, and a part of the time, not both 0, finite", error=np.inf)
        self.refused("a check is inf m along x .*finite", checkerboard=(np.inf, 40, 5))
        self.refused("origin_deviation is", locate=True, origin_deviation=-1)
        self.refused("delta was given without epsilon", delta=0.1)
        self.refused("epsilon", epsilon=np.full((3, 3), 0.1))
        self.refused("epsilon", epsilon=[0.1, 0.2])

    def warned(self, text, **arguments):
        with self.assertWarnsRegex(UserWarning, text) as caught:
            moho.invert_times(survey(), **{**OPTIONS, "iterations": 0, **arguments})
        self.assertEqual(caught.filename, __file__)

    def test_warn_of_unlikely_arguments(self):
        self.warned("^bounds allow no velocity beyond 6 m/s: are they in km/s", bounds=(0.3, 6))
        self.warned(r"^the table of the ground ends at x = 0 to 500 m: source 4 at \(600, 0\) m is",
                    topography=[(0, 0), (500, 0)])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            moho.invert_times(survey(), **OPTIONS, iterations=0, bounds=(300, 6000))


if __name__ == "__main__":
    unittest.main()
