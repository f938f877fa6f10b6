# SPDX-License-Identifier: BSD-3-Clause
# ctest: cost 5
"""Arguments of xarray: coordinates, order of dimensions, units, results; libraries of results."""

import pickle
import sys
import unittest

sys.dont_write_bytecode = True
try:
    import xarray
except ImportError:
    print("skipped: xarray is not installed")
    sys.exit(77)
import moho
import numpy as np
import support


def labelled(values, dims=("x", "z"), spacing=(10.0, 5.0), origin=(1000.0, 200.0), **attrs):
    coords = {
        axis: (axis, at + step * np.arange(count), {"units": "m"})
        for axis, count, step, at in zip(dims, values.shape, spacing, origin)
    }
    return xarray.DataArray(values, coords, dims, attrs=attrs)


class Fields(unittest.TestCase):
    def test_have_their_geometry(self):
        vp = support.gradient(41, 31, dtype=np.float64)
        times = moho.first_arrivals(labelled(vp, units="m/s"), sources=(1200, 200))
        expected = moho.first_arrivals(vp, spacing=(10, 5), origin=(1000, 200), sources=(1200, 200))
        self.assertEqual((times.dims, times.attrs["units"]), (("x", "z"), "s"))
        self.assertEqual(times.values.tobytes(), expected.tobytes())
        np.testing.assert_array_equal(times.coords["x"], 1000 + 10 * np.arange(41))
        each = moho.first_arrivals(labelled(vp), sources=[(1200, 200), (1000, 300)], each=True)
        self.assertEqual(each.dims, ("source", "x", "z"))

    def test_may_have_another_order(self):
        vp = support.rough(21, 31)
        turned = labelled(vp).transpose("z", "x")
        rays = moho.trace_rays(turned, sources=(1000, 200), receivers=(1200, 350))
        expected = moho.trace_rays(
            vp, spacing=(10, 5), origin=(1000, 200), sources=(1000, 200), receivers=(1200, 350)
        )
        self.assertEqual(rays.times.values.tobytes(), expected.times.tobytes())
        self.assertEqual(rays.traveltimes.tobytes(), expected.traveltimes.tobytes())
        self.assertEqual((rays.times.dims, rays.times.name), (("source", "x", "z"), "traveltime"))
        self.assertEqual(rays.times.attrs["units"], "s")
        np.testing.assert_array_equal(rays.times.coords["z"], 200 + 5 * np.arange(31))
        self.assertIsInstance(expected.times, np.ndarray)
        copied = pickle.loads(pickle.dumps(rays))
        self.assertTrue(copied.times.identical(rays.times))
        self.assertEqual(rays.matrix_parts()[3], (1, vp.size))

    def test_serve_shots_and_migration(self):
        vp = np.full((41, 31), 2000, np.float32)
        model = labelled(vp, spacing=(10.0, 10.0), origin=(0.0, 0.0))
        line = [(50, 20), (350, 20)]
        waves = {"wavelet": "ricker:15", "time": 0.2, "interval": 0.002}
        gather = moho.Shots(model, density=0.5 * model, **waves)((200, 20), line)
        expected = moho.Shots(vp, density=0.5 * vp, spacing=10, **waves)((200, 20), line)
        self.assertEqual(gather.traces.tobytes(), expected.traces.tobytes())
        shown = gather.to_xarray()
        self.assertEqual((shown.dims, shown.shape), (("receiver", "time"), gather.traces.shape))
        np.testing.assert_array_equal(shown.coords["receiver_x"], [50, 350])
        migration = moho.Migration(model, [gather], wavelet="ricker:15")
        migration.add(gather)
        image = migration.image()
        self.assertEqual((image.dims, image.name), (("x", "z"), "image"))

    def test_are_refused_in_words(self):
        vp = support.gradient(21, 11)

        def refused(text, model, **more):
            with self.assertRaisesRegex(moho.InputError, text):
                moho.first_arrivals(model, sources=(1000, 200), **more)

        refused("spacing is missing", vp)
        refused("spacing or origin were given", labelled(vp), spacing=10)
        words = labelled(vp).assign_coords(x=[f"node {k}" for k in range(vp.shape[0])])
        refused("coordinates are no numbers", words)
        refused("units are 'km/s'", labelled(vp, units="km/s"))
        refused("dimensions are", labelled(vp).rename(x="distance"))
        refused("no coordinates along z", labelled(vp).drop_vars("z"))
        uneven = labelled(vp).assign_coords(x=np.arange(21.0) ** 2)
        refused("equal steps", uneven)
        kilometres = labelled(vp)
        kilometres.coords["x"].attrs["units"] = "km"
        refused("velocity.x: its units are 'km'", kilometres)
        epsilon = labelled(np.full_like(vp, 0.1), spacing=(10.0, 4.0))
        refused(
            r"epsilon.z: coordinates are 200 to 240 m \(allowed: 200 to 250 m, the nodes of velocity.z\)",
            labelled(vp),
            epsilon=epsilon,
        )

    def test_fields_of_other_nodes_are_refused(self):
        vp = support.gradient(41, 31)
        rho = labelled(np.full_like(vp, 2000.0), origin=(1010.0, 200.0))
        waves = {"wavelet": "ricker:15", "time": 0.1}
        text = "density.x: coordinates are 1010 to 1410 m .allowed: 1000 to 1400 m, the nodes of vp.x"
        with self.assertRaisesRegex(moho.InputError, text):
            moho.Shots(labelled(vp), density=rho, **waves)
        rho = labelled(np.full_like(vp, 2000.0)).transpose("z", "x")
        self.assertEqual(moho.Shots(labelled(vp), density=rho, **waves).medium, "variable_density")
        # the nodes of an array without coordinates are those of spacing and origin
        place = {"spacing": (10, 5), "origin": (1000, 200)}
        self.assertEqual(moho.Shots(vp, density=rho, **place, **waves).medium, "variable_density")
        text = "density.x: coordinates are 1000 to 1400 m .allowed: 0 to 400 m, the nodes of vp.x"
        with self.assertRaisesRegex(moho.InputError, text):
            moho.Shots(vp, density=rho, spacing=(10, 5), **waves)
        epsilon = labelled(np.full_like(vp, 0.1), spacing=(10.0, 4.0))
        with self.assertRaisesRegex(moho.InputError, "epsilon.z: coordinates are 200 to 320 m"):
            moho.first_arrivals(vp, epsilon=epsilon, sources=(1000, 200), **place)


if __name__ == "__main__":
    unittest.main()
