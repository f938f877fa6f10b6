# SPDX-License-Identifier: BSD-3-Clause
"""Gravity with the conventions of harmonica: easting, northing and upward, densities per prism.

    python gravity_conventions.py [--small]

harmonica gives prisms as west, east, south, north, bottom, top with z up, and results as positive downward
acceleration in mGal. moho has x north, y east and z down. Where harmonica is installed both are compared.
"""

import importlib.util
import sys

import moho
import numpy as np


# %% Conversions of prisms and points
def prisms_of(prisms, densities):
    """Rows of moho from those of harmonica: x is northing, y is easting, z is minus upward."""
    west, east, south, north, bottom, top = np.transpose(prisms)
    return np.column_stack([south, north, west, east, -top, -bottom, densities])


def stations_of(easting, northing, upward):
    """Rows x, y, z of moho."""
    return np.column_stack([northing, easting, -np.asarray(upward)])


# %% Prisms of a basin, in the terms of harmonica
small = "--small" in sys.argv
edges = np.linspace(-3000, 3000, 9 if small else 25)
west, south = np.meshgrid(edges[:-1], edges[:-1])
size = edges[1] - edges[0]
depth = 800 * np.exp(-(((west + size / 2) / 1500) ** 2) - ((south + size / 2) / 1000) ** 2)
prisms = np.column_stack(
    [*(a.ravel() for a in (west, west + size, south, south + size, -depth, np.zeros_like(depth)))]
)
densities = np.full(len(prisms), -400.0)  # kg/m3
line = np.linspace(-2500, 2500, 21)
easting, northing = (a.ravel() for a in np.meshgrid(line, line))
upward = np.full_like(easting, 10.0)

# %% g_z of harmonica is gz of moho; g_zz of harmonica is that of the upward axis
rows, at = prisms_of(prisms, densities), stations_of(easting, northing, upward)
gz, gzz, gy = moho.gravity(rows, stations=at, components="gz,gzz,gy")
print(f"gz {gz.min():.3f} to {gz.max():.3f} mGal, gzz {gzz.min():.2f} to {gzz.max():.2f} Eotvos")
print(f"g_e, the acceleration towards the east, is gy: {gy.min():.3f} to {gy.max():.3f} mGal")

# %% Checks: the symmetry of the basin, and the plate of the same mass far away
middle = np.argmin(gz)
print(f"the minimum is at easting {easting[middle]:.0f} m, northing {northing[middle]:.0f} m")
mass = (densities * size**2 * depth.ravel()).sum()
far = stations_of([0.0], [0.0], [60000.0])
ratio = moho.gravity(rows, stations=far)[0, 0] / (6.6743e-11 * mass / 60000.0**2 * 1e5)
print(f"60 km above, gz is {ratio:.3f} times that of the point mass")

# %% harmonica itself
if importlib.util.find_spec("harmonica"):
    import harmonica

    other = harmonica.prism_gravity((easting, northing, upward), prisms, densities, field="g_z")
    print(f"largest difference from harmonica {np.abs(other - gz).max():.1e} mGal")
else:
    print("harmonica is not installed: it is not compared")

# %% A map of gz, with north up
if importlib.util.find_spec("matplotlib"):
    import matplotlib

    matplotlib.use("Agg")
    import moho.plot

    figure = moho.plot.gravity([gz, gzz], components="gz,gzz", stations=at)
    figure.savefig("gravity_conventions.png", dpi=100)
