# SPDX-License-Identifier: BSD-3-Clause
# ctest: cost 5
"""gravity(): the bits of the program, a mesh against its prisms, messages."""

import sys
import unittest

sys.dont_write_bytecode = True
import moho
import numpy as np
import support

ALL = "potential,gx,gy,gz,gxx,gyy,gzz,gxy,gxz,gyz".split(",")


def prisms(count=40, seed=1):
    """Prisms below z = 50 m."""
    random = np.random.default_rng(seed)
    lower = random.uniform([0, 0, 50], [900, 900, 500], (count, 3))
    upper = lower + random.uniform(5, 100, (count, 3))
    sides = np.stack([lower, upper], axis=2).reshape(count, 6)
    return np.column_stack([sides, random.uniform(-500, 500, count)])


def stations(count=60, seed=2):
    return np.random.default_rng(seed).uniform([-500, -500, -100], [1500, 1500, 0], (count, 3))


class Results(unittest.TestCase):
    def expect_bits_of_the_program(self, files, options, names, at=None, **arguments):
        at = stations() if at is None else at
        return support.expect_bits_of_model_gravity(
            self, moho.gravity, files, options, names, at, **arguments
        )

    def test_by_transforms_have_the_bits_of_the_program(self):
        densities = np.random.default_rng(3).uniform(0, 300, (3, 4, 5))
        given = {"mesh": (5, 4, 3, 0, 500, 0, 400, 50, 350), "densities": densities}
        x, y = np.meshgrid(np.arange(8) * 100.0 - 120, np.arange(6) * 100.0 - 70)
        at = np.column_stack([x.ravel(), y.ravel(), np.full(48, -20.0)])
        words = ["--mesh", "5,4,3,0,500,0,400,50,350", "--strategy", "lattice"]
        found = self.expect_bits_of_the_program(
            {"densities": densities}, words, ["gz", "gxz"], at=at, strategy="lattice", **given
        )
        direct = moho.gravity(stations=at, components="gz,gxz", strategy="tiles", **given)
        self.assertGreater(np.abs(found - direct).max(), 0.0)
        np.testing.assert_allclose(found, direct, rtol=0.0, atol=1e-11 * np.abs(direct).max())

    def test_by_multipoles_have_the_bits_of_the_program(self):
        rows, at = prisms(4000), stations(3000)
        direct = moho.gravity(rows, stations=at, components="gz,gzz", strategy="tiles")
        for words, given in (
            (["--strategy", "fmm", "--tolerance", 1e-4], {"strategy": "fmm", "tolerance": 1e-4}),
            (["--strategy", "fmm"], {"strategy": "fmm"}),
        ):
            found = self.expect_bits_of_the_program(
                {"prisms": rows}, words, ["gz", "gzz"], at=at, prisms=rows, **given
            )
            errors = np.abs(found - direct).max(axis=1) / np.abs(direct).max(axis=1)
            self.assertGreater(errors.max(), 0.0)
            self.assertLess(errors.max(), given.get("tolerance", 1e-9))

    def test_automatic_strategies_are_those_of_the_program(self):
        densities = np.ones((20, 60, 60)) * 100.0
        densities[:, ::2] = 0.0
        box = (60, 60, 20, 0, 1200, 0, 1200, 50, 450)
        rows, at = prisms(12000), stations(9000)
        differences = []
        for files, words, given in (
            ({"prisms": rows}, [], {"prisms": rows}),
            (
                {"densities": densities},
                ["--mesh", ",".join(map(str, box))],
                {"mesh": box, "densities": densities},
            ),
        ):
            found = self.expect_bits_of_the_program(files, words, ["gz"], at=at, **given)
            some = moho.gravity(stations=at[:50], strategy="tiles", **given)
            differences.append(np.abs(found[:, :50] - some).max() / np.abs(some).max())
        self.assertGreater(differences[0], 1e-15, "automatic took direct sums")
        self.assertLess(max(differences), 1e-9)

    def test_have_the_bits_of_the_program(self):
        rows = prisms()
        self.expect_bits_of_the_program({"prisms": rows}, [], ALL, prisms=rows)
        self.expect_bits_of_the_program(
            {"prisms": rows}, ["--precision", "float"], ["gz", "gxz"], prisms=rows, precision="single"
        )
        self.expect_bits_of_the_program(
            {"prisms": rows},
            ["--constant", 2013, "--far-tolerance", 1e-4, "--strategy", "by_prisms"],
            ["gz"],
            prisms=rows,
            constant=6.673e-11,
            far_tolerance=1e-4,
            strategy="by_prisms",
        )

    def test_of_a_mesh_have_the_bits_of_the_program_and_are_those_of_its_prisms(self):
        densities = np.random.default_rng(3).uniform(0, 300, (3, 4, 5))
        box = (5, 4, 3, 0, 500, 0, 400, 50, 350)
        self.expect_bits_of_the_program(
            {"densities": densities},
            ["--mesh", ",".join(map(str, box))],
            ["gz", "gzz"],
            mesh=box,
            densities=densities,
        )
        rows = [
            (100 * i, 100 * i + 100, 100 * j, 100 * j + 100, 50 + 100 * k, 150 + 100 * k, densities[k, j, i])
            for k in range(3)
            for j in range(4)
            for i in range(5)
        ]
        at = stations()
        one = moho.gravity(mesh=box, densities=densities, stations=at, components="all")
        other = moho.gravity(rows, stations=at, components="all")
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12 * np.abs(other).max())

    def test_satisfy_the_laws_of_the_field(self):
        rows, at = prisms(), stations()
        gxx, gyy, gzz = moho.gravity(rows, stations=at, components="gxx,gyy,gzz")
        self.assertLess(np.abs(gxx + gyy + gzz).max(), 1e-9 * np.abs(gzz).max())
        # far away a prism is a point mass; 1 m/s2 is 1e5 mGal
        far = moho.gravity([-1, 1, -1, 1, -1, 1, 1000.0], stations=(0, 0, -1000), components=["gz"])
        self.assertAlmostEqual(far[0, 0] / (6.6743e-11 * 8000.0 / 1e6 * 1e5), 1.0, places=6)

    def test_without_masses_are_zero(self):
        at = stations(5)
        self.assertEqual(
            moho.gravity(
                mesh=(2, 2, 2, 0, 1, 0, 1, 0, 1), densities=np.zeros((2, 2, 2)), stations=at
            ).tolist(),
            [[0.0] * 5],
        )


class Interrupts(unittest.TestCase):
    def test_end_a_product_of_the_fast_multipole_method(self):
        random = np.random.default_rng(1)
        rows = np.empty((200000, 7))
        rows[:, 0:6:2] = random.uniform(0.0, 1e4, (len(rows), 3))
        rows[:, 1:6:2] = rows[:, 0:6:2] + random.uniform(1.0, 30.0, (len(rows), 3))
        rows[:, 6] = 500.0
        at = np.column_stack([random.uniform(0.0, 1e4, (20000, 2)), np.full(20000, -50.0)])
        support.expect_interrupt(
            self, lambda: moho.gravity(rows, stations=at, components="all", strategy="fmm"), within=1.0
        )

    def test_end_sums_by_prisms(self):
        rows = np.tile((0.0, 1e4, 0.0, 1e4, 0.0, 1e3, 500.0), (20000, 1))
        at = np.column_stack([np.linspace(0.0, 1e4, 20000)] * 2 + [np.full(20000, -50.0)])
        support.expect_interrupt(
            self, lambda: moho.gravity(rows, stations=at, components="all", strategy="by_prisms"), after=0.5
        )

    def test_end_a_product_on_a_lattice(self):
        x = np.arange(200) * 50.0 + 25.0
        mesh = (200, 200, 30, 0, 1e4, 0, 1e4, 0, 5e3)
        given = {"stations": [(a, b, -10.0) for b in x for a in x], "components": "all"}
        given |= {"mesh": mesh, "densities": np.full((30, 200, 200), 300.0), "strategy": "lattice"}
        support.expect_interrupt(self, lambda: moho.gravity(**given), within=1.0)


class Messages(unittest.TestCase):
    def refused(self, *words, kind=moho.InputError, **change):
        arguments = {"prisms": prisms(3), "stations": (0, 0, 0)} | change
        with self.assertRaises(kind) as caught:
            moho.gravity(**arguments)
        text = str(caught.exception)
        for word in words:
            self.assertIn(word, text)
        for word in ("moho::", "Kokkos::", "--", "\n"):
            self.assertNotIn(word, text)

    def test_name_the_argument_and_what_is_allowed(self):
        wrong = prisms(3)
        wrong[1, 0] = np.inf
        self.refused("prism", prisms=wrong)
        wrong = prisms(3)
        wrong[2, 4:6] = wrong[2, 5:3:-1]
        self.refused("prism", prisms=wrong)
        self.refused("prisms", "n x 7", prisms=np.zeros((3, 6)))
        self.refused("stations", "n x 3", stations=(0, 0))
        self.refused("station", stations=(0, 0, np.nan))
        self.refused("gzzz", components="gz,gzzz")
        self.refused("components", components=[])
        self.refused("strategy", "tiles", strategy="fast")
        self.refused("precision", "double, single", precision="half")
        self.refused("far_tolerance", far_tolerance=-1)
        self.refused("prisms, or mesh and densities", prisms=None)
        self.refused("prisms, or mesh and densities", mesh=(1, 1, 1, 0, 1, 0, 1, 0, 1))
        self.refused("mesh", "nine numbers", prisms=None, mesh=(1, 2), densities=[1.0])
        self.refused("densities", "3 x 2 x 1", prisms=None, mesh=(1, 2, 3, 0, 1, 0, 1, 0, 1), densities=[1.0])
        self.refused("overlap", prisms=[prisms(1)[0]] * 2, check_overlaps=True)
        self.refused("by_corners", strategy="by_corners")
        self.refused("lattice is for regular meshes", strategy="lattice")
        self.refused("fmm works in double precision", strategy="fmm", precision="single")
        self.refused("tolerance was given with strategy tiles", strategy="tiles", tolerance=1e-6)
        self.refused("tolerance is 0.1 (allowed: an error from 1e-10 to 0.01", strategy="fmm", tolerance=0.1)
        self.refused("prism", prisms=wrong, strategy="fmm")
        self.refused("station", stations=(0, 0, np.nan), strategy="fmm")
        self.refused("overlap", prisms=[prisms(1)[0]] * 2, check_overlaps=True, strategy="fmm")
        mesh = {"prisms": None, "mesh": (1, 1, 2, 0, 1, 0, 1, 0, 1), "densities": np.ones((2, 1, 1))}
        self.refused("lattice", stations=[(0, 0, -1), (0.4, 0, -1)], strategy="lattice", **mesh)


if __name__ == "__main__":
    unittest.main()
