# SPDX-License-Identifier: BSD-3-Clause
"""Rays and traveltimes around a fast salt body, and the matrix of tomography.

    python rays.py [--small]

With matplotlib it draws the rays into rays.png.
"""

import importlib.util
import sys

import moho
import numpy as np

# %% A velocity that increases with depth, with an ellipse of salt of 4500 m/s
small = "--small" in sys.argv
nx, nz, spacing = (81, 51, 50.0) if small else (401, 251, 10.0)
x, z = np.meshgrid(np.arange(nx) * spacing, np.arange(nz) * spacing, indexing="ij")
velocity = 1600.0 + 0.7 * z  # m/s
velocity[((x - 2200) / 700) ** 2 + ((z - 1300) / 450) ** 2 < 1] = 4500.0

# %% Rays from two sources at the surface to receivers at depth
sources = [(300.0, 0.0), (3600.0, 0.0)]
depths = np.full(25, 2300.0)
receivers = np.column_stack([np.linspace(200, 3800, 25), depths])
rays = moho.trace_rays(velocity, spacing=spacing, sources=sources, receivers=receivers)
print(f"traveltimes from {rays.traveltimes.min():.3f} to {rays.traveltimes.max():.3f} s")
path = rays.path(0, 24)
print(f"the ray to the last receiver has {len(path)} vertices and comes up to {path[1:, 1].min():.0f} m")

# %% The matrix of tomography: its product with the slowness is the traveltime
values, columns, first, shape = rays.matrix_parts()
slowness = 1 / velocity.ravel()
times = np.add.reduceat(values * slowness[columns], first[:-1])
print(f"matrix of {shape[0]} x {shape[1]} with {len(values)} entries")
print(f"it gives the traveltimes to {np.abs(times - rays.traveltimes.ravel()).max():.1e} s")

# %% The rays over the velocity
if importlib.util.find_spec("matplotlib"):
    import matplotlib

    matplotlib.use("Agg")
    import moho.plot

    figure = moho.plot.rays(rays, velocity, spacing=spacing, sources=sources, receivers=receivers)
    figure.savefig("rays.png", dpi=100)
