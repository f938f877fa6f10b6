# SPDX-License-Identifier: BSD-3-Clause
# ctest: cost 5
"""magnetic_field(): the bits of the program, a dipole, superposition, messages."""

import sys
import unittest
from functools import partial

sys.dont_write_bytecode = True
import moho
import numpy as np
import support

FIELD = (48000, 63, 2)
NAMES = ["total", "bx", "by", "bz"]


def prisms(count=20, seed=1):
    """Prisms below z = 50 m with susceptibilities."""
    random = np.random.default_rng(seed)
    lower = random.uniform([0, 0, 50], [900, 900, 500], (count, 3))
    sides = np.stack([lower, lower + random.uniform(5, 100, (count, 3))], axis=2).reshape(count, 6)
    return np.column_stack([sides, random.uniform(0, 0.05, count)])


def stations(count=40, seed=2):
    return np.random.default_rng(seed).uniform([-500, -500, -100], [1500, 1500, 0], (count, 3))


def lattice():
    """Stations above a mesh of 100 m x 100 m, on its lattice."""
    x, y = np.meshgrid(np.arange(7) * 100.0 - 120, np.arange(6) * 100.0 - 70)
    return np.column_stack([x.ravel(), y.ravel(), np.full(x.size, -20.0)])


class Results(unittest.TestCase):
    def expect_bits_of_the_program(self, files, options, names, at=None, **arguments):
        at = stations() if at is None else at
        options = ["--magnetic", "--field", ",".join(map(str, FIELD)), *options]
        found = support.expect_bits_of_model_gravity(
            self, moho.magnetic_field, files, options, names, at, field=FIELD, **arguments
        )
        self.assertGreater(np.abs(found).max(), 0.1)
        return found

    def test_have_the_bits_of_the_program(self):
        rows = prisms()
        rest = np.random.default_rng(5).uniform(-2, 2, (len(rows), 3))
        self.expect_bits_of_the_program({"prisms": rows}, [], NAMES, prisms=rows)
        self.expect_bits_of_the_program(
            {"prisms": rows, "remanence": rest},
            ["--precision", "float", "--strategy", "by_stations", "--far-tolerance", 1e-4],
            ["bz", "total"],
            prisms=rows,
            remanence=rest,
            precision="single",
            strategy="by_stations",
            far_tolerance=1e-4,
        )
        self.expect_bits_of_the_program(
            {"prisms": rows}, ["--remanence", "2,-40,10"], NAMES, prisms=rows, remanence=(2, -40, 10)
        )

    def test_of_a_mesh_have_the_bits_of_the_program(self):
        random = np.random.default_rng(3)
        susceptibilities = random.uniform(0, 0.02, (3, 4, 5))
        susceptibilities[0, 1] = 0.0
        given = {"mesh": (5, 4, 3, 0, 500, 0, 400, 50, 350), "susceptibilities": susceptibilities}
        words = ["--mesh", "5,4,3,0,500,0,400,50,350"]
        files = {"susceptibilities": susceptibilities}
        uniform = ["--remanence", "2,-40,10"]
        at = lattice()
        direct = self.expect_bits_of_the_program(
            files, [*words, *uniform], NAMES, at=at, remanence=(2, -40, 10), **given
        )
        found = self.expect_bits_of_the_program(
            files,
            [*words, *uniform, "--strategy", "lattice"],
            NAMES,
            at=at,
            remanence=(2, -40, 10),
            strategy="lattice",
            **given,
        )
        self.assertGreater(np.abs(found - direct).max(), 0.0)
        np.testing.assert_allclose(found, direct, rtol=0.0, atol=1e-11 * np.abs(direct).max())
        rest = random.uniform(-1, 1, (3, 4, 5, 3))
        self.expect_bits_of_the_program(
            {**files, "remanence": rest.reshape(-1, 3)}, words, ["by"], remanence=rest, **given
        )

    def test_of_a_small_prism_far_away_are_those_of_a_dipole(self):
        cube = [-1, 1, -1, 1, -1, 1, 0.02]
        at = np.array([[300.0, 0, -400], [0, 500, 0]])
        inclination, declination = np.radians(FIELD[1:])
        along = np.array(
            [
                np.cos(inclination) * np.cos(declination),
                np.cos(inclination) * np.sin(declination),
                np.sin(inclination),
            ]
        )
        moment = 8.0 * 0.02 * FIELD[0] * 1e-9 / (4e-7 * np.pi) * along
        r = np.linalg.norm(at, axis=1)[:, None]
        dipole = 1e9 * 1e-7 * (3.0 * at * (at @ moment)[:, None] / r**5 - moment / r**3)
        found = moho.magnetic_field(cube, stations=at, field=FIELD, components="bx,by,bz,total")
        scale = np.abs(dipole).max()
        np.testing.assert_allclose(found[:3].T, dipole, rtol=0.0, atol=1e-4 * scale)
        np.testing.assert_allclose(found[3], dipole @ along, rtol=0.0, atol=1e-4 * scale)

    def test_without_magnetisation_are_zero(self):
        rows = prisms(3)
        rows[:, 6] = 0.0
        self.assertEqual(moho.magnetic_field(rows, stations=(0, 0, 0), field=FIELD).tolist(), [[0.0]])

    def test_report_progress_and_end_with_what_it_raises(self):
        seen = []
        given = {"stations": stations(2000), "field": FIELD}
        moho.magnetic_field(prisms(2000), progress=lambda fraction, text: seen.append(fraction), **given)
        self.assertEqual(seen, sorted(seen))
        support.expect_progress_to_end(self, partial(moho.magnetic_field, prisms(20000), **given))


class Messages(unittest.TestCase):
    def refused(self, *words, kind=moho.InputError, **change):
        arguments = {"prisms": prisms(3), "stations": (0, 0, 0), "field": FIELD} | change
        with self.assertRaises(kind) as caught:
            moho.magnetic_field(**arguments)
        text = str(caught.exception)
        for word in words:
            self.assertIn(word, text)
        for word in ("moho::", "Kokkos::", "--", "\n"):
            self.assertNotIn(word, text)

    def test_name_the_argument_and_what_is_allowed(self):
        wrong = prisms(3)
        wrong[1, 6] = -1.5
        self.refused("susceptibilit", "-1.5", prisms=wrong)
        wrong = prisms(3)
        wrong[2, 4:6] = wrong[2, 5:3:-1]
        self.refused("prism", prisms=wrong)
        self.refused("field: the intensity is 0 nT (allowed: more than 0", field=(0, 60, 0))
        self.refused("field: the inclination is 95 (allowed: -90 to 90", field=(50000, 95, 0))
        self.refused("field: the intensity is nan", field=(np.nan, 60, 0))
        self.refused("field", "is not three numbers", field=(50000, 60))
        self.refused("remanence: the inclination is 100 (allowed: -90 to 90", remanence=(1, 100, 0))
        self.refused("remanence", "3 x 3", remanence=np.zeros((2, 3)))
        self.refused("remanence", "nan", remanence=np.full((3, 3), np.nan))
        self.refused("gz", "total", components="total,gz")
        self.refused("strategy", "lattice", strategy="fmm")
        self.refused("lattice is for regular meshes in double precision", strategy="lattice")
        self.refused("prisms, or mesh and susceptibilities", prisms=None)
        self.refused("stations", "n x 3", stations=(0, 0))
        self.refused("station", "inside", stations=prisms(3)[0, [0, 2, 4]] + 1.0)
        self.refused("overlap", prisms=[prisms(1)[0]] * 2, check_overlaps=True)
        box = (1, 2, 3, 0, 1, 0, 1, 0, 1)
        self.refused("3 x 2 x 1", "susceptibility", prisms=None, mesh=box, susceptibilities=[1.0])
        self.refused("memory", kind=MemoryError, memory=1)


if __name__ == "__main__":
    unittest.main()
