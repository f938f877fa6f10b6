# SPDX-License-Identifier: BSD-3-Clause
# ctest: cost 10
"""invert_gravity(): the results of the program, callbacks, messages."""

import json
import sys
import tempfile
import unittest
from functools import partial

sys.dont_write_bytecode = True
import moho
import numpy as np
import support

BOX = (8, 6, 4, 0, 800, 0, 600, 50, 450)


def truth():
    density = np.zeros((4, 6, 8))
    density[1:3, 2:4, 3:6] = 300.0
    return density


def stations():
    x, y = np.meshgrid(np.arange(50.0, 800, 100), np.arange(50.0, 600, 100))
    return np.column_stack([x.ravel(), y.ravel(), np.full(48, -10.0)])


def data(components="gz,gzz", noise=0.01, seed=4):
    exact = moho.gravity(mesh=BOX, densities=truth(), stations=stations(), components=components)
    return exact + noise * np.random.default_rng(seed).normal(size=exact.shape)


class Results(unittest.TestCase):
    def expect_bits_of_the_program(self, options, cells, words, **arguments):
        values = data()
        with tempfile.TemporaryDirectory() as folder:
            with open(f"{folder}/data.csv", "w", encoding="ascii") as file:
                file.write("x,y,z,gz,gzz\n")
                for row in np.column_stack([stations(), values.T]):
                    file.write(",".join(repr(float(value)) for value in row) + "\n")
            for option, array in words.items():
                np.save(f"{folder}/{option}.npy", array)
                options = [*options, f"--{option}", f"{folder}/{option}.npy"]
            support.run_program(
                "invert_gravity", f"{folder}/out", "--data", f"{folder}/data.csv", "--errors", 0.02, *options
            )
            expected = np.load(f"{folder}/out/model.npy")
            with open(f"{folder}/out/summary.json", encoding="utf-8") as file:
                name = json.load(file)["operator"]["name"]
        found = moho.invert_gravity(
            values, stations=stations(), errors=0.02, components="gz,gzz", **cells, **arguments
        )
        self.assertEqual(found.operator, name)
        self.assertEqual(found.model.shape, expected.shape)
        np.testing.assert_array_equal(found.model, expected)
        return found

    def test_have_the_bits_of_the_program_with_a_trend_and_bounds(self):
        box = ",".join(str(number) for number in BOX)
        found = self.expect_bits_of_the_program(
            ["--mesh", box, "--trend", "gz:1", "--bounds=0:400"],
            {"mesh": BOX},
            {},
            trend={"gz": 1},
            bounds=(0, 400),
        )
        self.assertTrue(found.lattice)
        self.assertEqual(len(found.coefficients), 3)
        self.assertLess(abs(found.chi2 - 1.0), 0.06)

    def test_have_the_bits_of_the_program_for_compact_models_of_a_part_of_the_cells(self):
        box = ",".join(str(number) for number in BOX)
        mask = np.ones((4, 6, 8))
        mask[3] = 0
        found = self.expect_bits_of_the_program(
            ["--mesh", box, "--bounds=0:400", "--compact", 20, "--rounds", 3, "--weights", "sensitivity"],
            {"mesh": BOX},
            {"mask": mask},
            mask=mask,
            bounds=(0, 400),
            compact=20,
            rounds=3,
            weights="sensitivity",
        )
        self.assertFalse(found.lattice)
        self.assertTrue(np.isnan(found.model[3]).all())
        self.assertEqual(found.minimisations[-1].stage, "compact")
        self.assertEqual(found.smooth_model.shape, (4, 6, 8))

    def test_have_the_bits_of_the_program_for_prisms(self):
        edges = np.arange(0.0, 900.0, 100.0)
        rows = [[x, x + 100, 100, 500, z, z + 100] for z in (50.0, 150.0) for x in edges[:-1]]
        self.expect_bits_of_the_program(
            ["--method", "cg"],
            {"prisms": rows},
            {"prisms": np.column_stack([rows, np.zeros(len(rows))])},
            method="cg",
        )

    def test_have_the_bits_of_the_program_with_multipoles(self):
        box = ",".join(str(number) for number in BOX)
        found = self.expect_bits_of_the_program(
            ["--mesh", box, "--operator", "fmm", "--tolerance", 1e-6],
            {"mesh": BOX},
            {},
            operator="fmm",
            tolerance=1e-6,
        )
        self.assertEqual((found.operator, found.lattice), ("fmm", False))

    def test_take_multipoles_for_many_cells_and_stations(self):
        at = np.random.default_rng(1).uniform([0, 0, -50], [2000, 2600, -10], (5300, 3))
        given = {"stations": at, "errors": 1.0, "minimisations": 1, "iterations": 1, "beta": 1.0}
        given["components"] = "gz,gzz"
        found = moho.invert_gravity(np.ones((2, 5300)), mesh=(20, 26, 10, 0, 2000, 0, 2600, 0, 1000), **given)
        self.assertEqual(found.operator, "fmm")
        few = moho.invert_gravity(np.ones((2, 5300)), mesh=(2, 2, 2, 0, 2000, 0, 2600, 0, 1000), **given)
        self.assertEqual(few.operator, "direct")

    def test_misfits_are_those_of_the_fields(self):
        values = data()
        values[0, 5] = np.nan
        found = moho.invert_gravity(
            values, stations=stations(), errors=(0.02, 0.03), components="gz,gzz", mesh=BOX
        )
        field = moho.gravity(mesh=BOX, densities=found.model, stations=stations(), components="gz,gzz")
        np.testing.assert_allclose(found.field, field, atol=1e-9)
        self.assertTrue(np.isnan(found.residuals[0, 5]))
        expected = (values - found.field) / np.array([[0.02], [0.03]])
        np.testing.assert_allclose(found.residuals, expected, atol=1e-9)
        self.assertAlmostEqual(found.chi2, np.nanmean(expected**2), delta=1e-9)


class Calls(unittest.TestCase):
    def test_errors_of_components_are_not_taken_for_those_of_stations(self):
        at = [(100, 100, -10), (500, 300, -10)]
        values = moho.gravity(mesh=BOX, densities=truth(), stations=at, components="gz,gzz")
        arguments = {"stations": at, "components": "gz,gzz", "mesh": BOX, "beta": 1.0}
        found = moho.invert_gravity(values, errors=(0.02, 3.0), **arguments)
        expected = moho.invert_gravity(values, errors=[[0.02, 0.02], [3.0, 3.0]], **arguments)
        np.testing.assert_array_equal(found.model, expected.model)
        np.testing.assert_allclose(found.residuals * [[0.02], [3.0]], values - found.field)

    def test_errors_of_stations_are_those_of_one_component(self):
        arguments = {"stations": stations(), "mesh": BOX, "beta": 1.0, "iterations": 3}
        errors = np.linspace(0.01, 0.05, 48)
        found = moho.invert_gravity(data("gz")[0], errors=errors, **arguments)
        np.testing.assert_allclose(found.residuals[0] * errors, (data("gz") - found.field)[0])
        with self.assertRaisesRegex(moho.InputError, "errors: the shape is 48 .allowed: one number, one for"):
            moho.invert_gravity(data(), errors=errors, components="gz,gzz", **arguments)

    def test_callbacks_see_all_minimisations_and_end_them(self):
        seen = []
        arguments = {"stations": stations(), "errors": 0.02, "mesh": BOX, "components": "gz,gzz"}
        found = moho.invert_gravity(data(), callback=seen.append, **arguments)
        self.assertEqual(tuple(seen), found.minimisations)
        self.assertGreater(len(seen), 1)
        for yes in (True, np.bool_(True)):
            ended = moho.invert_gravity(data(), callback=lambda step, yes=yes: yes, **arguments)
            self.assertEqual(ended.minimisations, (seen[0],))

    def test_progress_ends_it(self):
        x, y = np.meshgrid(np.arange(40) * 25.0, np.arange(40) * 25.0)
        at = np.column_stack([x.ravel(), y.ravel(), np.full(1600, -3.0)])
        invert = partial(
            moho.invert_gravity,
            np.ones(1600) + 0.01 * x.ravel(),
            stations=at,
            errors=1e-3,
            mesh=(30, 30, 20, 0, 1000, 0, 1000, 0, 500),
            operator="direct",
        )
        support.expect_progress_to_end(self, invert)

    def test_a_tolerance_without_multipoles_is_said(self):
        arguments = {"stations": stations(), "errors": 0.02, "mesh": BOX, "beta": 1.0, "iterations": 1}
        with self.assertWarnsRegex(UserWarning, "^tolerance has no effect on the operator lattice$"):
            moho.invert_gravity(data("gz"), tolerance=1e-5, **arguments)

    def test_refuses_in_words(self):
        arguments = {"stations": stations(), "errors": 0.02, "mesh": BOX, "components": "gz,gzz"}

        def refused(text, **change):
            with self.assertRaisesRegex(moho.InputError, text) as caught:
                moho.invert_gravity(**{"data": data(), **arguments, **change})
            for word in ("--", "moho::", "Kokkos"):
                self.assertNotIn(word, str(caught.exception))

        refused("data: the shape is", data=data()[:1])
        refused("errors: one is -1.0", errors=-1.0)
        refused("errors: the shape is", errors=np.ones(3))
        refused("the cells are not given once", mesh=None)
        refused("mask: its shape is", mask=np.ones((2, 2)))
        refused("mask: it has values that are no numbers", mask=np.full((4, 6, 8), np.nan))
        refused("mask: it has values that are no numbers", mask=np.full((4, 6, 8), "no"))
        refused("topography: it is no lattice", topography=np.zeros((4, 4)))
        refused("bounds is", bounds=(400, 0))
        refused("trend: 'gx' is not in the data", trend={"gx": 1})
        refused("operator is 'lattice'", operator="lattice", mask=np.arange(192).reshape(4, 6, 8))
        refused("tolerance is 0.1 .allowed: an error from 1e-10 to 0.01", operator="fmm", tolerance=0.1)
        refused("operator is 'tree' .allowed: automatic, direct, lattice, fmm", operator="tree")
        refused("start: its shape is", start=np.ones(3))


if __name__ == "__main__":
    unittest.main()
